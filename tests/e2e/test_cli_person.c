/* What only a person does: press Ctrl-C, look at a terminal. */
#include "cli_rig.h"

/* ---- Ctrl-C ---- */

/* The id of the one tools/call in a witness's file. */
static void call_id(const char *file, char id[static 32])
{
    const char *line = file_text(file), *call = strstr(line, "\"method\":\"tools/call\""), *at;

    CHECK(call != NULL);
    while (call > line && call[-1] != '\n')
        call--;
    at = strstr(call, "\"id\":");
    CHECK(at != NULL);
    snprintf(id, 32, "%.*s", (int)strcspn(at + 5, ",}"), at + 5);
}

static void check_cancelled(const char *file)
{
    char id[32], want[64];

    call_id(file, id);
    snprintf(want, sizeof want, "\"requestId\":%s", id);
    WAIT_FOR(strstr(file_text(file), "\"notifications/cancelled\""));
    CHECK_HAS(strstr(file_text(file), "\"notifications/cancelled\""), want);
}

static void interrupt_call(const char *const *args, int signo)
{
    struct started s;

    start_with(&s, NULL, args);
    WAIT_FOR(strstr(file_text("heard"), "\"tools/call\""));
    kill(s.pid, signo);
    CHECK_INT(started_end(&s), 130);
    CHECK_STR(err, "patchbay: tools/call was cancelled\n");
    CHECK_STR(out, "");
    check_cancelled("heard");
    unlink(in_home("heard"));
}

/* Through the daemon, on its own, and directly: the server hears of it each time. */
TEST(ctrl_c_cancels_the_call_on_the_server)
{
    rig_begin();
    rig_config("\"wit\":" WITNESS("stuck", "heard"));
    interrupt_call(WORDS("call", "wit.who"), SIGINT);
    interrupt_call(WORDS("call", "wit.who"), SIGTERM);
    interrupt_call(
        WORDS("call", "who", "--", built("tests/e2e/mob_server"), "stuck", in_home("heard")),
        SIGINT);
    rig_daemon(NULL);
    interrupt_call(WORDS("call", "wit.who"), SIGINT);
    CHECK_STR(server_is("wit", "state"), "connected");
    CHECK_STR(server_is("wit", "in_flight"), "0");
    rig_end();
}

/* A server that never answers its handshake. */
TEST(ctrl_c_is_heeded_while_a_server_starts)
{
    static const struct {
        const char *words[8];
    } cases[] = { { { "call", "wit.who" } },
                  { { "read", "test://x" } },
                  { { "list" } },
                  { { "tools", "wit" } } };

    rig_begin();
    rig_config("\"wit\":" WITNESS("silent", "heard"));
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        uint64_t from;
        struct started s;
        int status;

        start_with(&s, NULL, cases[i].words);
        WAIT_FOR(strstr(file_text("heard"), "\n"));
        from = now_ms();
        kill(s.pid, SIGINT);
        status = started_end(&s);
        CHECK(status == 130 || status == -SIGINT);
        CHECK(now_ms() - from < 2000);
        no_process_left(rig_mark, RIG_END_MS);
        unlink(in_home("heard"));
    }
    rig_end();
}

/* As a shell script that runs something in the background wants it. */
TEST(an_interrupt_that_was_ignored_stays_ignored)
{
    struct started s;

    rig_begin();
    rig_config("\"ex\":" EXAMPLE ",\"conf\":" CONFORMANCE);
    sigaction(SIGINT, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL);
    start_with(&s, NULL, WORDS("call", "conf.slow_compute", "seconds:=0.3"));
    for (int i = 0; i < 20; i++) {
        kill(s.pid, SIGINT);
        poll(NULL, 0, 5);
    }
    CHECK_INT(started_end(&s), 0);
    CHECK_STR(out, "Computed for 0.3 seconds\n");
    rig_end();
}

TEST(logs_are_followed_until_ctrl_c)
{
    struct started s;

    rig_begin();
    rig_config("\"ex\":" EXAMPLE ",\"mob\":" MOB("honest"));
    rig_daemon(NULL);
    WAIT_FOR(strcmp(server_is("ex", "state"), "connected") == 0);
    start_with(&s, NULL, WORDS("logs", "ex", "-f", "-n", "1"));
    WAIT_FOR(strstr(so_far(s.o), "ex: State: connecting → connected\n"));
    CHECK(!strstr(so_far(s.o), "disconnected"));
    CHECK_INT(RUN("disconnect", "mob"), 0);
    CHECK_INT(RUN("disconnect", "ex"), 0);
    WAIT_FOR(strstr(so_far(s.o), "ex: State: connected → disconnected\n"));
    kill(s.pid, SIGINT);
    CHECK_INT(started_end(&s), 130);
    CHECK_STR(err, "");
    CHECK(!strstr(out, "mob"));
    rig_end();
}

TEST(logs_are_shown_as_text_or_json)
{
    rig_begin();
    rig_config("\"noisy\":" MOB("stderr") ",\"ex\":" EXAMPLE);
    rig_daemon(NULL);
    WAIT_FOR(strcmp(server_is("noisy", "state"), "connected") == 0);
    CHECK_INT(RUN("logs", "noisy", "-n", "3"), 0);
    CHECK(strchr(strchr(strchr(out, '\n') + 1, '\n') + 1, '\n') == out + strlen(out) - 1);
    CHECK_INT(RUN("logs", "noisy"), 0);
    CHECK_HAS(out, "info    noisy | mob ");
    CHECK_INT(RUN("logs", "--json", "-n1"), 0);
    for (char *line = out, *end; *line; line = end + 1) {
        AUTO_JSON struct json_doc doc = { 0 };

        end = strchr(line, '\n');
        CHECK_INT(json_parse(&doc, span_make(line, (size_t)(end - line)), NULL, NULL), 0);
        CHECK(json_is(json_get(json_root(&doc), "message"), JSON_STRING));
    }
    CHECK_INT(RUN("logs", "exx"), 1);
    CHECK_STR(err, "patchbay: there is no server 'exx'; did you mean 'ex'?\n");
    rig_end();
}

/* ---- the terminal ---- */

TEST(colours_appear_on_a_terminal_only)
{
    rig_begin();
    rig_config("\"ex\":" EXAMPLE ",\"gone\":{\"command\":\"/no/such/program\"}");
    CHECK_INT(run_on_terminal(WORDS("list")), 0);
    CHECK_HAS(out, "\033[32mex\033[0m");
    CHECK_HAS(out, "\033[31mgone\033[0m");
    CHECK_INT(run_on_terminal(WORDS("tools", "ex")), 0);
    CHECK_HAS(out, "\033[1mex.echo\033[0m");
    CHECK_INT(run_on_terminal(WORDS("doctor", "ex")), 0);
    CHECK_HAS(out, "\033[32mok  \033[0m");
    CHECK_INT(RUN("list"), 0);
    CHECK(!strchr(out, '\033'));
    setenv("NO_COLOR", "1", 1);
    CHECK_INT(run_on_terminal(WORDS("list")), 0);
    CHECK(!strchr(out, '\033'));
    CHECK_HAS(out, "gone");
    rig_end();
}

/* What a server writes must not move the cursor or paint the screen of a person; a file gets the
 * bytes as they are. */
TEST(a_server_cannot_write_escapes_to_the_terminal)
{
    rig_begin();
    rig_config("\"ex\":" EXAMPLE);
    CHECK_INT(run_on_terminal(WORDS("call", "ex.echo", "text=a\033[31mb\nc")), 0);
    CHECK(!strchr(out, '\033'));
    CHECK_HAS(out, "c");
    CHECK_INT(RUN("call", "ex.echo", "text=a\033[31mb\nc"), 0);
    CHECK_STR(out, "a\033[31mb\nc\n");
    rig_end();
}

TEST(progress_is_one_line_on_a_terminal)
{
    rig_begin();
    rig_config("\"mob\":" MOB("talkative"));
    CHECK_INT(run_on_terminal(WORDS("call", "mob.who", "n:=1")), 0);
    CHECK_HAS(out, "\r\033[K100% 2/2 step 2");
    CHECK_HAS(out, "\r\033[Kmob 1");
    rig_end();
}

/* ---- questions ---- */

TEST(what_a_server_asks_is_asked_at_the_terminal)
{
    rig_begin();
    rig_config("\"conf\":" CONFORMANCE);
    for (int daemon = 0; daemon < 2; daemon++) {
        if (daemon)
            rig_daemon(NULL);
        CHECK_INT(type_on_terminal("joe\njoe@example.org\n",
                                   WORDS("call", "conf.test_elicitation", "message=Who?")),
                  0);
        CHECK_HAS(out, "Server 'conf' asks: Who?");
        CHECK_HAS(out, "action=accept, content={\"username\":\"joe\",\"email\":"
                       "\"joe@example.org\"}");
        CHECK_INT(
            type_on_terminal("joe\n", WORDS("call", "conf.test_input_required_result_elicitation")),
            0);
        CHECK_HAS(out, "Hello, joe!");
        /* what must be answered is asked for again; Ctrl-D declines */
        CHECK_INT(
            type_on_terminal("\n\x04", WORDS("call", "conf.test_elicitation", "message=Who?")), 0);
        CHECK_HAS(out, "  That will not do: it must be answered; Ctrl-D declines\r\n  username> ");
        CHECK_HAS(out, "action=decline");
        /* nothing typed is the default */
        CHECK_INT(type_on_terminal("\n7\n\n\nno\n",
                                   WORDS("call", "conf.test_elicitation_sep1034_defaults")),
                  0);
        CHECK_HAS(out, "    3) pending\r\n  status [active]> ");
        CHECK_HAS(out, "content={\"name\":\"John Doe\",\"age\":7,\"score\":95.5,\"status\":"
                       "\"active\",\"verified\":false}");
        CHECK_INT(type_on_terminal("option1\nvalue1\nopt2\noption1, option3\n[\"value3\"]\n",
                                   WORDS("call", "conf.test_elicitation_sep1330_enums")),
                  0);
        CHECK_HAS(out, "    3) value3 - Third Option\r\n  titledSingle> ");
        CHECK_HAS(out, "\"untitledMulti\":[\"option1\",\"option3\"],\"titledMulti\":[\"value3\"]");
    }
    rig_end();
}

TEST(without_a_terminal_nobody_can_be_asked)
{
    rig_begin();
    rig_config("\"conf\":" CONFORMANCE);
    CHECK_INT(RUN("call", "conf.test_elicitation", "message=Who?"), 5);
    CHECK_HAS(err,
              "patchbay: server 'conf' asks: Who? (username: string, email: string): that needs "
              "a terminal, and there is none here\n");
    rig_end();
}

/* ---- logins ---- */

/* Our own daemon asks for a token: to others it is a server that wants a login. */
TEST(a_server_that_wants_a_login_is_exit_code_3)
{
    char url[300], text[600], token[100];
    const char *daemon_url;

    rig_begin();
    rig_config("\"ex\":" EXAMPLE);
    rig_daemon(NULL);
    CHECK_INT(RUN("status", "--json"), 0);
    daemon_url = member("url");
    snprintf(url, sizeof url, "%s/mcp/ex", daemon_url);
    snprintf(text, sizeof text, "{\"mcpServers\":{\"shut\":{\"type\":\"http\",\"url\":\"%s\"}}}",
             url);
    write_file(in_home("shut.json"), text);
    CHECK_INT(RUN("call", "shut.echo", "text=1", "--config", "shut.json"), 3);
    CHECK_HAS(err, "401");
    CHECK_STR(out, "");
    CHECK_INT(RUN("tools", "shut", "--config", "shut.json"), 3);
    CHECK_INT(RUN("tools", "--config", "shut.json"), 0); /* the others are what counts */
    CHECK_HAS(err, "shut");
    CHECK_INT(RUN("tools", "--url", url), 3);
    CHECK_HAS(err, "the server answers 401 and wants: Bearer");
    CHECK_INT(RUN("doctor", "--config", "shut.json"), 3);
    CHECK_HAS(
        out, "  FAIL connect   it wants a login\n"
             "                 HTTP 401: the server wants authorization\n"
             "       next:     put an \"Authorization\" header into \"headers\" at shut.json:1; it "
             "says: Bearer");
    snprintf(token, sizeof token, "Authorization: Bearer %s", file_text("token"));
    CHECK_INT(RUN("call", "echo", "text=let in", "--url", url, "-H", token), 0);
    CHECK_STR(out, "let in\n");
    snprintf(text, sizeof text, "\"ex\":" EXAMPLE ",\"shut\":{\"type\":\"http\",\"url\":\"%s\"}",
             url);
    rig_config(text); /* the daemon as a client of itself */
    WAIT_FOR(strcmp(server_is("shut", "state"), "error") == 0);
    CHECK_INT(RUN("call", "shut.echo", "text=1"), 3);
    CHECK_INT(RUN("connect", "shut"), 3);
    CHECK_INT(RUN("tools", "shut"), 3);
    CHECK_HAS(err, "401");
    rig_end();
}
