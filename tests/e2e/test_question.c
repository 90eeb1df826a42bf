/* What a server asks in the middle of a call, at a terminal and without one. */
#include "script_rig.h"

#define TOOL "{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\"}}"

static void begin_asking(const char *params)
{
    script_begin(TOOL, "");
    write_file(in_home("said/asks"), params);
    rig_daemon(NULL);
    WAIT_FOR(strcmp(server_is("s", "state"), "connected") == 0);
}

/* What the server was told: the result or error of its question. */
static const char *told(const char *key)
{
    const char *at = strstr(file_text("said/heard"), "\"id\":\"question\"");
    static char text[4096];

    CHECK(at != NULL);
    while (at > file_text("said/heard") && at[-1] != '\n')
        at--;
    snprintf(text, sizeof text, "%s", json_member(at, key));
    write_file(in_home("said/heard"), "");
    return text;
}

#define FORM(properties, required)                                                                    \
    "{\"message\":\"What now?\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{" properties \
    "},\"required\":[" required "]}}"

TEST(a_question_names_the_server_and_shows_what_is_wanted)
{
    static const struct talk turns[] = { { "name> ", "joe\n" }, { "age [30]> ", "\n" },
                                         { "level> ", "2\n" },  { "old> ", "Three\n" },
                                         { "sure> ", "yes\n" }, { "when> ", "\n" },
                                         { NULL, NULL } };

    begin_asking(FORM("\"name\":{\"type\":\"string\",\"title\":\"Your name\",\"description\":"
                      "\"As you like\",\"minLength\":2,\"maxLength\":9},"
                      "\"age\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":120,\"default\":30},"
                      "\"level\":{\"type\":\"string\",\"oneOf\":[{\"const\":\"lo\",\"title\":"
                      "\"Low\"},{\"const\":\"hi\",\"title\":\"High\"}]},"
                      "\"old\":{\"type\":\"string\",\"enum\":[\"a\",\"b\",\"c\"],\"enumNames\":["
                      "\"One\",\"Two\",\"Three\"]},"
                      "\"sure\":{\"type\":\"boolean\"},"
                      "\"when\":{\"type\":\"string\",\"format\":\"date\"}",
                      "\"name\""));
    CHECK_INT(talk_on_terminal(turns, WORDS("call", "s.t")), 0);
    CHECK_HAS(out, "\r\nServer 's' asks: What now?\r\n"
                   "  (Enter takes what is in brackets, or leaves out what is not required; Ctrl-D "
                   "declines)\r\n"
                   "  name (Your name): string, 2 to 9 characters, required - As you like\r\n"
                   "  name> joe\r\n"
                   "  age: integer, 1 to 120\r\n"
                   "  age [30]> \r\n"
                   "  level: one of these, by number or name\r\n"
                   "    1) lo - Low\r\n"
                   "    2) hi - High\r\n"
                   "  level> 2\r\n"
                   "  old: one of these, by number or name\r\n"
                   "    1) a - One\r\n"
                   "    2) b - Two\r\n"
                   "    3) c - Three\r\n"
                   "  old> Three\r\n"
                   "  sure: boolean, yes or no\r\n"
                   "  sure> yes\r\n"
                   "  when: string, format \"date\"\r\n"
                   "  when> \r\n"
                   "done\r\n");
    CHECK_STR(told("result"), "{\"action\":\"accept\",\"content\":{\"name\":\"joe\",\"age\":30,"
                              "\"level\":\"hi\",\"old\":\"c\",\"sure\":true}}");
    rig_end();
}

TEST(an_answer_that_does_not_fit_is_asked_for_again_with_the_reason)
{
    static const struct talk turns[] = {
        { "name> ", "\n" },
        { "That will not do: it must be answered; Ctrl-D declines", "x\n" },
        { "That will not do: expected at least 2 characters, got 1", "joe\n" },
        { "age> ", "many\n" },
        { "That will not do: expected an integer, got a string", "200\n" },
        { "That will not do: expected at most 120", "1.5\n" },
        { "That will not do: expected an integer, got a fraction", "20\n" },
        { "level> ", "3\n" },
        { "That will not do: expected one of \"lo\", \"hi\"", "0\n" },
        { "That will not do: expected one of \"lo\", \"hi\"", "lo\n" },
        { "sure> ", "perhaps\n" },
        { "That will not do: expected a boolean, got a string", "No\n" },
        { "when> ", "tomorrow\n" },
        { "That will not do: expected a date such as 2026-01-31", "2026-02-01\n" },
        { "mail> ", "joe\n" },
        { "That will not do: expected an address such as somebody@example.org",
          "joe@example.org\n" },
        { NULL, NULL },
    };

    begin_asking(FORM("\"name\":{\"type\":\"string\",\"minLength\":2},"
                      "\"age\":{\"type\":\"integer\",\"maximum\":120},"
                      "\"level\":{\"type\":\"string\",\"enum\":[\"lo\",\"hi\"]},"
                      "\"sure\":{\"type\":\"boolean\"},"
                      "\"when\":{\"type\":\"string\",\"format\":\"date\"},"
                      "\"mail\":{\"type\":\"string\",\"format\":\"email\"}",
                      "\"name\""));
    CHECK_INT(talk_on_terminal(turns, WORDS("call", "s.t")), 0);
    CHECK_STR(told("result.content"),
              "{\"name\":\"joe\",\"age\":20,\"level\":\"lo\",\"sure\":false,\"when\":"
              "\"2026-02-01\",\"mail\":\"joe@example.org\"}");
    rig_end();
}

TEST(several_can_be_chosen)
{
    static const struct talk turns[] = {
        { "few> ", "1, 2, 3\n" },
        { "That will not do: expected at most 2 items, got 3", "1,c\n" },
        { "titled> ", "High\n" },
        { "json> ", "[\"b\"]\n" },
        { "words> ", "x, 7\n" },
        { "numbers> ", "1,2\n" },
        { "given [[\"a\"]]> ", "\n" },
        { NULL, NULL },
    };

    begin_asking(FORM(
        "\"few\":{\"type\":\"array\",\"maxItems\":2,\"items\":{\"type\":\"string\",\"enum\":["
        "\"a\",\"b\",\"c\"]}},"
        "\"titled\":{\"type\":\"array\",\"items\":{\"anyOf\":[{\"const\":\"lo\",\"title\":\"Low\"},"
        "{\"const\":\"hi\",\"title\":\"High\"}]}},"
        "\"json\":{\"type\":\"array\",\"items\":{\"type\":\"string\",\"enum\":[\"a\",\"b\"]}},"
        "\"words\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
        "\"numbers\":{\"type\":\"array\",\"items\":{\"type\":\"integer\"}},"
        "\"given\":{\"type\":\"array\",\"items\":{\"enum\":[\"a\"]},\"default\":[\"a\"]}",
        ""));
    CHECK_INT(talk_on_terminal(turns, WORDS("call", "s.t")), 0);
    CHECK_HAS(out,
              "  few: any of these, by number or name, with commas between, at most 2 items\r\n"
              "    1) a\r\n");
    CHECK_STR(told("result.content"),
              "{\"few\":[\"a\",\"c\"],\"titled\":[\"hi\"],\"json\":[\"b\"],\"words\":[\"x\",\"7\"],"
              "\"numbers\":[1,2],\"given\":[\"a\"]}");
    rig_end();
}

/* A value that is a number, too, is what is meant. */
TEST(a_choice_is_first_its_value_then_its_number)
{
    static const struct talk turns[] = {
        { "n> ", "2\n" }, { "m> ", "30\n" }, { "k> ", "2\n" }, { NULL, NULL }
    };

    begin_asking(FORM("\"n\":{\"type\":\"string\",\"enum\":[\"2\",\"1\"]},"
                      "\"m\":{\"type\":\"integer\",\"enum\":[10,20,30]},"
                      "\"k\":{\"type\":\"integer\",\"enum\":[10,20,30]}",
                      ""));
    CHECK_INT(talk_on_terminal(turns, WORDS("call", "s.t")), 0);
    CHECK_STR(told("result.content"), "{\"n\":\"2\",\"m\":30,\"k\":20}");
    rig_end();
}

TEST(ctrl_d_declines)
{
    static const struct talk turns[] = { { "a> ", "x\n" }, { "b> ", "\x04" }, { NULL, NULL } };

    begin_asking(FORM("\"a\":{\"type\":\"string\"},\"b\":{\"type\":\"string\"}", ""));
    CHECK_INT(talk_on_terminal(turns, WORDS("call", "s.t")), 0);
    CHECK_STR(told("result"), "{\"action\":\"decline\"}");
    rig_end();
}

/* Neither while it is typed nor as a default; and Ctrl-C leaves the terminal as it was. */
TEST(a_secret_is_never_seen)
{
    static const struct talk turns[] = { { "pass> ", "hunter2\n" },
                                         { "given [***]> ", "\n" },
                                         { "after> ", "seen\n" },
                                         { NULL, NULL } };
    static const struct talk interrupted[] = { { "pass> ", "hun\x03" }, { NULL, NULL } };
    struct termios mode = { 0 };

    begin_asking(FORM("\"pass\":{\"type\":\"string\",\"format\":\"password\"},"
                      "\"given\":{\"type\":\"string\",\"writeOnly\":true,\"default\":\"letmein\"},"
                      "\"after\":{\"type\":\"string\"}",
                      ""));
    CHECK_INT(talk_on_terminal(turns, WORDS("call", "s.t")), 0);
    CHECK(!strstr(out, "hunter2"));
    CHECK(!strstr(out, "letmein"));
    CHECK_HAS(out, "after> seen\r\n");
    CHECK_STR(told("result.content"),
              "{\"pass\":\"hunter2\",\"given\":\"letmein\",\"after\":\"seen\"}");
    rig_left_as = &mode;
    CHECK_INT(talk_on_terminal(interrupted, WORDS("call", "s.t")), 130);
    CHECK(mode.c_lflag & ECHO);
    rig_end();
}

TEST(an_address_is_shown_with_its_host_apart_and_nothing_is_opened_unasked)
{
    static const struct {
        const char *url, *type, *shows, *action;
    } cases[] = {
        { "https://example.org/login?next=https://bank.example/", "y\n",
          "  It wants you to open a page.\r\n  host:     example.org\r\n  address:  "
          "https://example.org/login?next=https://bank.example/\r\n  Will you open it? [y/N] ",
          "accept" },
        { "https://example.org/", "\n", "  host:     example.org\r\n", "decline" },
        { "https://example.org/", "no\n", "  host:     example.org\r\n", "decline" },
        { "https://bank.example@evil.example:8443/x", "n\n",
          "  host:     evil.example:8443\r\n  address:  https://bank.example@evil.example:8443/x\r\n"
          "  careful:  what stands before '@' in it is not the host\r\n",
          "decline" },
        { "https://xn--bnk-rlaa.example/", "n\n",
          "  careful:  the host has letters that can look like others\r\n", "decline" },
        { "HTTPS://www.XN--BNK-rlaa.example/", "n\n",
          "  careful:  the host has letters that can look like others\r\n", "decline" },
        { "http://example.org/", "n\n",
          "  careful:  what you type there is not encrypted on its way\r\n", "decline" },
    };

    begin_asking("{}");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct talk turns[] = { { "[y/N] ", cases[i].type }, { NULL, NULL } };
        char asks[512];

        snprintf(asks, sizeof asks,
                 "{\"mode\":\"url\",\"elicitationId\":\"e\",\"message\":\"Log in\",\"url\":\"%s\"}",
                 cases[i].url);
        write_file(in_home("said/asks"), asks);
        CHECK_INT(talk_on_terminal(turns, WORDS("call", "s.t")), 0);
        CHECK_HAS(out, "Server 's' asks: Log in\r\n");
        CHECK_HAS(out, cases[i].shows);
        CHECK_STR(told("result.action"), cases[i].action);
    }
    rig_end();
}

/* The words of a server stay words. */
TEST(a_question_cannot_paint_the_screen)
{
    static const struct talk turns[] = { { "> ", "1\n" }, { NULL, NULL } };

    begin_asking("{\"message\":\"\\u001b[2Jpay\\nServer 'bank' asks: PIN?\",\"requestedSchema\":{"
                 "\"type\":\"object\",\"properties\":{\"a\\u001b\":{\"type\":\"string\",\"title\":"
                 "\"\\u001b[1m\",\"enum\":[\"x\\u001b[0m\\ny\"]}}}}");
    CHECK_INT(talk_on_terminal(turns, WORDS("call", "s.t")), 0);
    CHECK(!strchr(out, '\033'));
    CHECK(!strstr(out, "\nServer 'bank'"));
    rig_end();
}

TEST(without_a_terminal_it_is_told_which_server_asked_what)
{
    begin_asking(FORM("\"name\":{\"type\":\"string\"},\"age\":{\"type\":\"integer\"}", "\"name\""));
    for (int daemon = 1; daemon >= 0; daemon--) {
        CHECK_INT(RUN("call", "s.t"), 5);
        CHECK_STR(err, "patchbay: server 's' asks: What now? (name: string, age?: integer): that "
                       "needs a terminal, and there is none here\n");
        CHECK_STR(out, "nobody told me\n");
        CHECK_HAS(told("error.message"), "there is no terminal to ask at");
        if (daemon)
            CHECK_INT(daemon_stop(SIGTERM), 0);
    }
    write_file(in_home("said/asks"), "{\"mode\":\"url\",\"elicitationId\":\"e\",\"message\":\"Log "
                                     "in\",\"url\":\"https://example.org/x\"}");
    CHECK_INT(RUN("call", "s.t"), 5);
    CHECK_STR(err, "patchbay: server 's' asks: Log in to open https://example.org/x: that needs a "
                   "terminal, and there is none here\n");
    rig_end();
}

/* A person is no model. */
TEST(what_only_a_model_can_answer_is_refused_with_the_reason)
{
    static const struct talk nothing[] = { { NULL, NULL } };

    begin_asking("{\"messages\":[],\"maxTokens\":1}");
    write_file(in_home("said/asks_method"), "sampling/createMessage");
    CHECK_INT(talk_on_terminal(nothing, WORDS("call", "s.t")), 5);
    CHECK_STR(told("error.message"),
              "sampling/createMessage: the client that made this call did not declare it");
    rig_end();
}

TEST(a_server_that_is_named_here_and_now_can_ask_too)
{
    static const struct talk turns[] = { { "name> ", "joe\n" }, { NULL, NULL } };

    begin_asking(FORM("\"name\":{\"type\":\"string\"}", ""));
    CHECK_INT(talk_on_terminal(turns, WORDS("call", "t", "--", built("tests/e2e/script_server"),
                                            in_home("said"))),
              0);
    CHECK_HAS(out, "The server asks: What now?\r\n");
    CHECK_STR(told("result.content"), "{\"name\":\"joe\"}");
    rig_end();
}

/* A word is put into lists until the check can tell what is wrong. */
TEST(a_form_with_a_list_of_itself_can_be_answered)
{
    static const struct talk turns[] = { { "a> ", "x\n" },
                                         { "That will not do: ", "[[]]\n" },
                                         { NULL, NULL } };

    begin_asking(
        "{\"message\":\"?\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{\"a\":"
        "{\"$ref\":\"#/$defs/l\"}},\"$defs\":{\"l\":{\"type\":\"array\",\"items\":{\"$ref\":"
        "\"#/$defs/l\"}}}}}");
    CHECK_INT(talk_on_terminal(turns, WORDS("call", "s.t")), 0);
    CHECK_STR(told("result.content"), "{\"a\":[[]]}");
    rig_end();
}

TEST(a_form_that_asks_nothing_and_wants_more_is_declined_with_the_reason)
{
    static const struct talk nothing[] = { { NULL, NULL } };
    static const struct {
        const char *schema, *why;
    } cases[] = {
        { "{\"type\":\"object\",\"properties\":{},\"required\":[\"z\"]}", "\"z\"" },
        { "{\"type\":\"object\",\"properties\":{},\"minProperties\":1}", "at least 1 " },
        { "{\"type\":\"object\",\"properties\":{},\"not\":{}}", "" },
    };

    begin_asking("{}");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char asks[512];

        snprintf(asks, sizeof asks, "{\"message\":\"?\",\"requestedSchema\":%s}", cases[i].schema);
        write_file(in_home("said/asks"), asks);
        CHECK_INT(talk_on_terminal(nothing, WORDS("call", "s.t")), 0);
        CHECK_HAS(out, "  That will not do: ");
        CHECK_HAS(out, cases[i].why);
        CHECK_HAS(out, "  The form has nothing to fill in that would help: it is declined\r\n");
        CHECK_STR(told("result"), "{\"action\":\"decline\"}");
    }
    rig_end();
}

/* A thread that waits for what is typed holds nobody up. */
TEST(the_program_can_end_while_a_question_waits_for_enter)
{
    static const struct talk turns[] = { { "a> ", "ab\x03" }, { NULL, NULL } };

    begin_asking(FORM("\"a\":{\"type\":\"string\"}", ""));
    CHECK_INT(talk_on_terminal(turns, WORDS("call", "s.t")), 130);
    CHECK_INT(talk_on_terminal(turns, WORDS("call", "t", "--", built("tests/e2e/script_server"),
                                            in_home("said"))),
              130);
    rig_end();
}

/* Also where nothing else catches the signal, or no request is waited for. */
TEST(a_signal_at_a_secret_leaves_the_terminal_as_it_was)
{
    static const struct {
        const char *verb, *at, *typed;
        int status;
    } cases[] = {
        { "tools", "tools/list", "hun\x03", 130 },
        { "tools", "tools/list", "hun\x1c", -SIGQUIT },
        { "call", "tools/list", "hun\x03", 130 },
        { "call", "tools/call", "hun\x03", 130 },
    };
    struct termios mode;

    begin_asking(FORM("\"pass\":{\"type\":\"string\",\"format\":\"password\"}", ""));
    rig_left_as = &mode;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct talk turns[] = { { "pass> ", cases[i].typed }, { NULL, NULL } };
        const char *const words[] = { cases[i].verb,   "t", "--", built("tests/e2e/script_server"),
                                      in_home("said"), NULL };

        mode = (struct termios){ 0 };
        write_file(in_home("said/asks_at"), cases[i].at);
        CHECK_INT(talk_on_terminal(turns, words), cases[i].status);
        CHECK(mode.c_lflag & ECHO);
        CHECK(!strstr(out, "hun"));
    }
    rig_end();
}

/* The time limit is the caller's, whoever is waited for. */
TEST(a_time_limit_ends_a_call_whose_question_nobody_answers)
{
    static const struct talk nothing[] = { { "name> ", "half a wo" }, { NULL, NULL } };

    begin_asking(FORM("\"name\":{\"type\":\"string\"}", ""));
    for (int daemon = 1; daemon >= 0; daemon--) {
        CHECK_INT(talk_on_terminal(nothing, WORDS("call", "s.t", "--timeout", "1")), 4);
        CHECK_HAS(out, "patchbay: s.t: the tool has not answered within 1000 ms; the call is "
                       "cancelled\r\n");
        if (daemon)
            CHECK_INT(daemon_stop(SIGTERM), 0);
    }
    CHECK_INT(talk_on_terminal(nothing, WORDS("call", "t", "--timeout", "1", "--",
                                              built("tests/e2e/script_server"), in_home("said"))),
              4);
    CHECK_HAS(out, "patchbay: t: the tool has not answered within 1000 ms");
    rig_end();
}
