/* Every verb that works on the configured servers, with a daemon and without: what it prints,
 * where, and its exit code are the same. */
#include "cli_rig.h"

/* With the daemon and on its own. */
#define BOTH_WAYS(config)                                                                      \
    for (int way_ = 0; way_ < 2 && (rig_begin(), rig_config(config), true); way_++, rig_end()) \
        if (way_ == 0 ? (rig_daemon(NULL), true) : true)

#define TWO_SERVERS "\"ex\":" EXAMPLE ",\"conf\":" CONFORMANCE
#define SOME_TROUBLE                                                                       \
    "\"ex\":" EXAMPLE ",\"gone\":{\"command\":\"/no/such/program\"},\"off\":{\"command\":" \
    "\"cat\",\"enabled\":false}"

TEST(list_tells_how_each_server_is_and_why_one_is_not_well)
{
    BOTH_WAYS(SOME_TROUBLE)
    {
        WAIT_FOR(strcmp(server_is("ex", "state"), "connected") == 0);
        CHECK_INT(RUN("list"), 0);
        CHECK_HAS(out, "NAME  STATE         TOOLS  WHAT\n");
        CHECK_HAS(out, "ex    connected     4      ");
        CHECK_HAS(out,
                  "gone  error                there is no program '/no/such/program', or not the "
                  "interpreter that its first line names (try: correct \"command\" at ");
        CHECK_HAS(out, "off   disabled             cat\n");
        CHECK_HAS(out, "\n1 connected, 1 failed, 1 disabled\n");
        CHECK_INT(RUN("list", "--json"), 0);
        CHECK_STR(member_of("servers", "ex", "state"), "connected");
        CHECK_HAS(member_of("servers", "gone", "next_step"), "correct \"command\" at /");
        CHECK_STR(member_of("servers", "off", "state"), "disabled");
    }
}

TEST(a_new_home_says_what_to_do_first)
{
    rig_begin();
    CHECK_INT(RUN("list"), 0);
    CHECK_STR(out, "No servers yet. Add one: patchbay add NAME -- COMMAND, or patchbay add URL\n");
    CHECK_INT(RUN("list", "--json"), 0);
    CHECK_STR(member("servers"), "[]");
    CHECK_INT(RUN("tools", "ex"), 1);
    CHECK_STR(err, "patchbay: there is no server 'ex', nor any other; 'patchbay add' adds one\n");
    rig_end();
}

TEST(tools_of_the_others_are_listed_when_one_server_fails)
{
    BOTH_WAYS(SOME_TROUBLE)
    {
        CHECK_INT(RUN("tools"), 0);
        CHECK_HAS(out, "ex.calculator  Evaluates an arithmetic expression");
        CHECK_HAS(out, "ex.echo        Returns the text that it is given\n");
        CHECK_HAS(err, "patchbay: Cannot connect to server 'gone': Failed to spawn "
                       "/no/such/program: No such file or directory (try: correct \"command\" at ");
        CHECK_INT(RUN("tools", "--json"), 0);
        CHECK_STR(member_of("tools", "ex/echo", "wire"), "ex__echo");
        CHECK_STR(member_of("tools", "ex/echo", "definition.name"), "echo");
        CHECK_STR(member("failed.0.server"), "gone");
        CHECK_STR(member("failed.0.error"), "server_not_connected");
        CHECK_STR(member("failed.1"), "");
    }
}

TEST(tools_of_one_server)
{
    BOTH_WAYS(SOME_TROUBLE)
    {
        CHECK_INT(RUN("tools", "ex"), 0);
        CHECK_STR(err, "");
        CHECK_HAS(out, "ex.echo");
        CHECK_INT(RUN("tools", "gone"), 4);
        CHECK_STR(out, "");
        CHECK_HAS(err, "Failed to spawn /no/such/program");
        CHECK_INT(RUN("tools", "off"), 4);
        CHECK_STR(err, "patchbay: off: Disabled (try: patchbay enable off)\n");
        CHECK_INT(RUN("tools", "exx"), 1);
        CHECK_STR(err, "patchbay: there is no server 'exx'; did you mean 'ex'?\n");
    }
}

/* The ways to write a tool's name and its arguments. */
TEST(calls_take_arguments_in_every_form)
{
    static const struct {
        const char *words[6], *input, *says;
    } cases[] = {
        { { "ex.echo", "text=hello world" }, NULL, "hello world\n" },
        { { "ex/echo", "text=1" }, NULL, "1\n" },
        { { "ex:echo", "text=2" }, NULL, "2\n" },
        { { "ex__echo", "text=3" }, NULL, "3\n" },
        { { "ex.echo", "text=@$HOME/note" }, NULL, "from a file\n" },
        { { "ex.echo", "{\"text\":\"an object\"}" }, NULL, "an object\n" },
        { { "ex.echo", "@$HOME/args.json" }, NULL, "file of arguments\n" },
        { { "ex.echo", "-" }, "{\"text\":\"from stdin\"}", "from stdin\n" },
        { { "ex.echo", "text=@-" }, "words", "words\n" },
        { { "ex.string", "operation=substring", "input=abcdef", "start:=2" }, NULL, "cdef\n" },
        { { "ex.string", "operation=substring", "input=abcdef", "start:=@$HOME/two" },
          NULL,
          "cdef\n" },
        { { "ex.calculator", "expression=6*7" }, NULL, "42\n" },
    };

    BOTH_WAYS("\"ex\":" EXAMPLE)
    {
        write_file(in_home("note"), "from a file");
        write_file(in_home("two"), "2\n");
        write_file(in_home("args.json"), "{\"text\": \"file of arguments\"}\n");
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
            char filled[6][256];
            const char *words[8] = { "call" };

            for (int k = 0; k < 6 && cases[i].words[k]; k++) {
                const char *w = cases[i].words[k], *at = strstr(w, "$HOME");

                snprintf(filled[k], sizeof filled[k], "%.*s%s%s", at ? (int)(at - w) : 200, w,
                         at ? home : "", at ? at + 5 : "");
                words[k + 1] = filled[k];
            }
            if (run_with(cases[i].input, words) != 0)
                TAP_FAIL("%s %s: %s", words[1], words[2], err);
            CHECK_STR(out, cases[i].says);
            CHECK_STR(err, "");
        }
    }
}

TEST(a_call_is_printed_for_people_or_as_the_server_sent_it)
{
    BOTH_WAYS("\"conf\":" CONFORMANCE)
    {
        CHECK_INT(RUN("call", "conf.test_multiple_content_types"), 0);
        CHECK_HAS(out, "[Image: image/png, ");
        CHECK_INT(RUN("call", "conf.test_multiple_content_types", "--json"), 0);
        CHECK_STR(member("content.1.type"), "image");
        CHECK(strlen(member("content.1.data")) > 20);
    }
}

TEST(progress_is_shown_on_stderr_line_by_line)
{
    BOTH_WAYS("\"mob\":" MOB("talkative"))
    {
        CHECK_INT(RUN("call", "mob.who", "n:=7"), 0);
        CHECK_STR(out, "mob 7\n");
        CHECK_STR(err, " 50% 1/2 step 1\n100% 2/2 step 2\n");
    }
}

TEST(what_went_wrong_with_a_call_is_in_the_exit_code)
{
    BOTH_WAYS(SOME_TROUBLE ",\"conf\":" CONFORMANCE)
    {
        CHECK_INT(RUN("call", "conf.test_error_handling"), 5);
        CHECK_HAS(out, "This tool intentionally returns an error");
        CHECK_STR(err, "");
        CHECK_INT(RUN("call", "conf.test_error_handling", "--json"), 5);
        CHECK_STR(member("isError"), "true");
        CHECK_INT(RUN("call", "ex.calculator", "expression=1/0"), 5);
        CHECK_HAS(err, "division by zero");
        CHECK_INT(RUN("call", "ex.ecko", "text=1"), 1);
        CHECK_STR(err, "patchbay: there is no tool 'ex.ecko'; did you mean 'ex.echo'?\n");
        CHECK_INT(RUN("call", "exx.echo", "text=1"), 1);
        CHECK_STR(err, "patchbay: there is no server 'exx'; did you mean 'ex'?\n");
        CHECK_INT(RUN("call", "nothing.like.it"), 1);
        CHECK_STR(err, "patchbay: there is no server 'nothing'; 'patchbay list' shows those there "
                       "are\n");
        CHECK_INT(RUN("call", "gone.x"), 4);
        CHECK_HAS(err, "Failed to spawn /no/such/program");
        CHECK_INT(RUN("call", "off.x"), 4);
        CHECK_STR(err,
                  "patchbay: server 'off' is disabled; 'patchbay enable off' switches it on\n");
        CHECK_STR(out, "");
    }
}

TEST(a_call_that_takes_too_long_is_given_up)
{
    BOTH_WAYS("\"slow\":{\"command\":\"$BUILD/tests/e2e/mob_server\",\"args\":[\"stuck\",\"mob\"],"
              "\"timeout\":1}")
    {
        CHECK_INT(RUN("call", "slow.who", "--timeout", "50ms"), 4);
        CHECK_HAS(err, "patchbay: ");
        CHECK_STR(out, "");
        CHECK_INT(RUN("call", "slow.who"), 4);
        CHECK_HAS(err, "patchbay: Tool 'who' on server 'slow' timed out after 1s");
        CHECK_STR(out, "");
    }
}

TEST(resources_are_listed_and_read)
{
    BOTH_WAYS(TWO_SERVERS)
    {
        CHECK_INT(RUN("resources"), 0);
        CHECK_HAS(out, "test://static-text         conf  text/plain        Static text\n");
        CHECK_HAS(out, "test://template/{id}/data  conf  application/json  Data by id\n");
        CHECK_INT(RUN("resources", "ex"), 0);
        CHECK_STR(out, "");
        CHECK_INT(RUN("resources", "conf", "--json"), 0);
        CHECK_STR(member("resources.0.server"), "conf");
        CHECK_STR(member("resourceTemplates.0.uriTemplate"), "test://template/{id}/data");
        CHECK_INT(RUN("read", "test://static-text"), 0);
        CHECK_STR(out, "This is the content of the static text resource.\n");
        CHECK_INT(RUN("read", "test://template/17/data"), 0);
        CHECK_HAS(out, "17");
        CHECK_INT(RUN("read", "test://static-text", "--json"), 0);
        CHECK_STR(member("contents.0.uri"), "test://static-text");
        CHECK_INT(RUN("read", "test://nothing"), 1);
        CHECK_HAS(err, "patchbay: test://nothing: Resource not found");
        CHECK_INT(RUN("read", "conff", "test://static-text"), 1);
        CHECK_STR(err, "patchbay: there is no server 'conff'; did you mean 'conf'?\n");
    }
}

TEST(bytes_of_a_resource_are_written_as_they_are)
{
    BOTH_WAYS("\"conf\":" CONFORMANCE)
    {
        CHECK_INT(RUN("read", "test://static-binary"), 0);
        CHECK(memcmp(out, "\x89PNG\r\n\x1a\n", 8) == 0);
        CHECK_INT(run_on_terminal(WORDS("read", "test://static-binary")), 0);
        CHECK_HAS(out, "bytes of image/png, not shown on a terminal; redirect them");
    }
}

TEST(two_servers_with_the_same_uri_are_told_apart_by_name)
{
    BOTH_WAYS("\"one\":" CONFORMANCE ",\"two\":" CONFORMANCE)
    {
        CHECK_INT(RUN("resources"), 0);
        /* who was there first has it as it is */
        const char *first = strstr(out, "patchbay://one/test://static-text") ? "two" : "one";
        const char *other = strcmp(first, "one") == 0 ? "two" : "one";
        char wrapped[64];

        snprintf(wrapped, sizeof wrapped, "patchbay://%s/test://static-text", other);
        CHECK_HAS(out, wrapped);
        CHECK_INT(RUN("read", other, "test://static-text", "--json"), 0);
        /* alone there is no other server that it could be mistaken for */
        CHECK_STR(member("contents.0.uri"), way_ == 0 ? wrapped : "test://static-text");
        CHECK_INT(RUN("read", first, "test://static-text", "--json"), 0);
        CHECK_STR(member("contents.0.uri"), "test://static-text");
    }
}

TEST(prompts_are_listed_and_filled_in)
{
    BOTH_WAYS(TWO_SERVERS)
    {
        CHECK_INT(RUN("prompts"), 0);
        CHECK_HAS(out, "conf.test_simple_prompt");
        CHECK_INT(RUN("prompts", "conf", "--json"), 0);
        CHECK_HAS(out, "\"conf__test_simple_prompt\"");
        CHECK_INT(RUN("prompt", "conf.test_simple_prompt"), 0);
        CHECK_STR(out, "user: This is a simple prompt for testing.\n");
        CHECK_INT(RUN("prompt", "conf.test_prompt_with_arguments", "arg1=1", "arg2=two"), 0);
        CHECK_HAS(out, "arg1='1', arg2='two'");
        CHECK_INT(RUN("prompt", "conf.test_simple_prompt", "--json"), 0);
        CHECK_STR(member("messages.0.role"), "user");
        CHECK_INT(RUN("prompt", "conf.test_simple_promt"), 1);
        CHECK_HAS(err, "did you mean 'conf.test_simple_prompt'?");
    }
}

TEST(modes_are_saved_listed_and_shown)
{
    BOTH_WAYS(TWO_SERVERS)
    {
        CHECK_INT(RUN("mode"), 0);
        CHECK_STR(out, "full  Full Access  \"all\"\n");
        CHECK_INT(RUN("mode", "few", "--filter", "ex", "--name", "Only a few"), 0);
        CHECK_HAS(err, "saved mode 'few' in ");
        CHECK_HAS(file_text("config.json"), "{\"servers\":[\"ex\"]}");
        CHECK_HAS(file_text("config.json"), "conformance-server"); /* the rest is still there */
        WAIT_FOR(RUN("mode") == 0 && strstr(out, "few   Only a few   {\"servers\":[\"ex\"]}\n"));
        CHECK_INT(RUN("mode", "few"), 0);
        CHECK_STR(out, "ex.calculator\nex.datetime\nex.echo\nex.string\n");
        CHECK_INT(RUN("tools", "--mode", "few"), 0);
        CHECK(strstr(out, "ex.echo") && !strstr(out, "conf."));
        CHECK_INT(RUN("mode", "--json"), 0);
        CHECK_STR(member("modes.1.id"), "few");
        CHECK_INT(RUN("mode", "fewer"), 1);
        CHECK_STR(err, "patchbay: there is no mode 'fewer'; 'patchbay mode' shows them\n");
        CHECK_INT(RUN("mode", "bad", "--filter", "{\"nonsense\":1}"), 1);
        CHECK_INT(RUN("mode", "--filter", "ex"), 1);
        CHECK_HAS(err, "which mode? give its name");
    }
}

/* A file that is broken is told with its line, and is no server's fault. */
TEST(a_broken_config_is_told_with_file_and_line)
{
    static const char *const verbs[] = { "list", "tools", "doctor", "resources", "mode", "serve" };
    char where[300];

    rig_begin();
    write_file(in_home("config.json"), "{\n  \"mcpServers\": {\n    \"a\": oops\n  }\n}\n");
    snprintf(where, sizeof where, "patchbay: %s: line 3, column 10: ", in_home("config.json"));
    for (size_t i = 0; i < ARRAY_LEN(verbs); i++) {
        CHECK_INT(RUN(verbs[i]), 1);
        CHECK_HAS(err, where);
        CHECK_STR(out, "");
    }
    CHECK_INT(RUN("list", "--config", "nowhere.json"), 1);
    CHECK_HAS(err, "nowhere.json");
    rig_end();
}

/* S4-148 S4-149 S4-153 S4-162 */
TEST(servers_come_from_files_and_flags_that_are_named)
{
    rig_begin();
    rig_config("\"ex\":" EXAMPLE);
    write_servers("other.json", "\"conf\":" CONFORMANCE);
    write_filled("mcp_clients.json", "{\"servers\":{\"mob\":{\"transport\":\"stdio\",",
                 "\"command\":\"$BUILD/tests/e2e/mob_server\",\"args\":[\"honest\",\"m\"]", "}}}");
    CHECK_INT(RUN("list"), 0);
    CHECK(strstr(out, "ex ") && !strstr(out, "mob") && !strstr(out, "conf"));
    CHECK_INT(RUN("list", "--mcp-clients"), 0);
    CHECK_HAS(out, "ex    connected");
    CHECK_HAS(out, "mob   connected");
    CHECK_INT(RUN("list", "--config", "other.json"), 0);
    CHECK(strstr(out, "conf  connected") && !strstr(out, "ex "));
    CHECK_INT(RUN("list", "--mcp-clients-config", "other.json"), 0);
    CHECK(strstr(out, "conf  connected") && strstr(out, "ex    connected"));
    {
        char one[300], two[300];

        snprintf(one, sizeof one, "one:%s", built("patchbay-example-server"));
        snprintf(two, sizeof two, "two:%s honest m", built("tests/e2e/mob_server"));
        CHECK_INT(RUN("list", "--mcp-client", one, "--mcp-client", two), 0);
        CHECK_HAS(out, "one   connected     4");
        CHECK_HAS(out, "two   connected     1");
    }
    CHECK_INT(RUN("list", "--mcp-clients-config", "nowhere.json"), 1);
    CHECK_HAS(err, "nowhere.json");
    CHECK_INT(RUN("list", "--mcp-client", "noname"), 1);
    CHECK_STR(out, "");
    rig_end();
}

/* What a server of the same name says is not asked of one that is not meant. */
TEST(without_a_daemon_only_the_server_that_is_meant_is_started)
{
    rig_begin();
    rig_config("\"wit\":" WITNESS("honest", "heard") ",\"ex\":" EXAMPLE);
    CHECK_INT(RUN("call", "ex.echo", "text=1"), 0);
    CHECK_INT(RUN("tools", "ex"), 0);
    CHECK_INT(RUN("mode"), 0);
    CHECK_STR(file_text("heard"), "");
    CHECK_INT(RUN("call", "wit.who"), 0);
    CHECK_HAS(file_text("heard"), "\"tools/call\"");
    rig_end();
}

/* Names of servers may be the beginning of others. */
TEST(of_two_servers_that_fit_a_name_the_longer_is_meant)
{
    BOTH_WAYS("\"a\":" EXAMPLE ",\"a__b\":" MOB("honest"))
    {
        CHECK_INT(RUN("call", "a__b.who", "n:=5"), 0);
        CHECK_STR(out, "mob 5\n");
        CHECK_INT(RUN("call", "a.echo", "text=x"), 0);
        CHECK_STR(out, "x\n");
    }
}

TEST(standalone_leaves_the_daemon_alone)
{
    rig_begin();
    rig_config("\"wit\":" WITNESS("honest", "heard"));
    rig_daemon(NULL);
    WAIT_FOR(strstr(file_text("heard"), "tools/list"));
    unlink(in_home("heard"));
    CHECK_INT(RUN("call", "wit.who", "--standalone"), 0);
    CHECK_HAS(file_text("heard"), "\"initialize\""); /* by another than the daemon's */
    unlink(in_home("heard"));
    CHECK_INT(RUN("call", "wit.who"), 0);
    CHECK_HAS(file_text("heard"), "\"tools/call\"");
    CHECK(!strstr(file_text("heard"), "\"initialize\""));
    rig_end();
}

TEST(a_full_disk_is_no_success)
{
    struct started s = { .o = open("/dev/full", O_WRONLY | O_CLOEXEC), .e = memory_file(NULL) };
    int in = memory_file(NULL);

    rig_begin();
    rig_config("\"ex\":" EXAMPLE);
    fflush(stdout);
    s.pid = fork();
    if (s.pid == 0)
        become(WORDS("tools", "ex"), in, s.o, s.e);
    close(in);
    CHECK_INT(started_end(&s), 1);
    CHECK_STR(err, "patchbay: the output cannot be written\n");
    rig_end();
}

/* ---- a server that is replaced by one of the other era ---- */

#define ANSWER(text) "printf '{\"jsonrpc\":\"2.0\",\"id\":%s," text "}\\n' \"$id\";;\n"
#define SPEAK(cases, otherwise)                                           \
    "while read -r l; do\n"                                               \
    "id=$(printf %s \"$l\" | sed -n 's/.*\"id\":\\([0-9]*\\).*/\\1/p')\n" \
    "case \"$l\" in\n" cases "*'\"id\"'*) " ANSWER("\"error\":" otherwise) "esac\ndone\n"
#define TOOL "\"tools\":[{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\"}}]"
#define SAID "\"content\":[{\"type\":\"text\",\"text\":\"hi\"}]"

static const char old_server[] = SPEAK(
    "*'\"initialize\"'*) " ANSWER(
        "\"result\":{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"tools\":{}},"
        "\"serverInfo\":{\"name\":\"l\",\"version\":\"1\"}}") "*tools/list*) " ANSWER("\"result\":{" TOOL
                                                                                      "}") "*tools/call*) " ANSWER("\"result\":{" SAID
                                                                                                                   "}"),
    "{\"code\":-32601,\"message\":\"Method not found\"}");
static const char new_server[] = SPEAK(
    "*server/discover*) " ANSWER(
        "\"result\":{\"resultType\":\"complete\",\"supportedVersions\":[\"2026-07-28\"],"
        "\"capabilities\":{\"tools\":{}},\"ttlMs\":0,\"cacheScope\":\"public\"}") "*tools/list*) " ANSWER("\"result\":{\"resultType\":\"complete\"," TOOL
                                                                                                          ",\"ttlMs\":0,\"cacheScope\":\"public\"}") "*tools/call*) " ANSWER("\"result\":{\"resultType\":\"complete\"," SAID
                                                                                                                                                                             "}"),
    "{\"code\":-32600,\"message\":\"no\"}");

static void call_twice(const char *server)
{
    temp_write(in_home("server.sh"), server);
    for (int i = 0; i < 2; i++) {
        if (RUN("call", "a.t") != 0)
            TAP_FAIL("call %d: %s", i, err);
        CHECK_STR(out, "hi\n");
    }
}

/* What it spoke last time is remembered; that it speaks the other era now is found out. */
TEST(a_server_may_be_replaced_by_one_of_the_other_era)
{
    rig_begin();
    rig_config("\"a\":{\"command\":\"sh\",\"args\":[\"$HOME/server.sh\"]}");
    call_twice(new_server);
    call_twice(old_server);
    call_twice(new_server);
    rig_end();
}
