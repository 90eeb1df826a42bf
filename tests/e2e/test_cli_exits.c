/* The same trouble has the same exit code and the same words in every verb, with a daemon and
 * without. */
#include "cli_rig.h"

#define TROUBLE                                                                                 \
    "\"ex\":" EXAMPLE ",\"conf\":" CONFORMANCE ",\"stuck\":" MOB("stuck") ",\"mute\":" MOB(     \
        "silent") ",\"gone\":{\"command\":\"/no/such/program\"},\"off\":{\"command\":\"cat\","  \
                  "\"enabled\":false},\"hid\":{\"command\":\"$BUILD/patchbay-example-server\"," \
                  "\"disabledTools\":[\"echo\"]}"

enum way { BOTH, WITH, WITHOUT }; /* a daemon */

/* "$REFUSED": a URL where nobody listens; "$SHUT": one that wants a login. */
struct exit_row {
    const char *words[8];
    int code;
    const char *says; /* on standard error; "": nothing at all */
    enum way way;
};

static char refused_url[64], shut_url[64];
static int refused_fd;

/* ---- a server that wants a login ---- */

static void answer_401(int listening)
{
    static const char answer[] = "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer\r\n"
                                 "Content-Length: 0\r\nConnection: close\r\n\r\n";

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    unsetenv("CLI_MARK");
    for (;;) {
        char heard[8192];
        int fd = accept(listening, NULL, NULL);

        if (fd < 0)
            _exit(0);
        if (read(fd, heard, sizeof heard) > 0 && write(fd, answer, sizeof answer - 1) < 0)
            _exit(0);
        shutdown(fd, SHUT_WR);
        close(fd);
    }
}

static pid_t shut_pid;

static void places_begin(void)
{
    int port, fd = loopback_bind(&port);

    CHECK(listen(fd, 64) == 0);
    fflush(stdout);
    shut_pid = fork();
    if (shut_pid == 0)
        answer_401(fd);
    close(fd);
    snprintf(shut_url, sizeof shut_url, "http://127.0.0.1:%d/mcp", port);
    refused_fd = loopback_bind(&port);
    snprintf(refused_url, sizeof refused_url, "http://127.0.0.1:%d/mcp", port);
}

static void places_end(void)
{
    kill(shut_pid, SIGKILL);
    waitpid(shut_pid, NULL, 0);
    close(refused_fd);
}

static const char *filled(const char *word)
{
    return strcmp(word, "$REFUSED") == 0 ? refused_url
           : strcmp(word, "$SHUT") == 0  ? shut_url
           : strcmp(word, "$MOB") == 0   ? built("tests/e2e/mob_server")
           : strcmp(word, "$EX") == 0    ? built("patchbay-example-server")
                                         : word;
}

static void walk(const struct exit_row *rows, size_t n, enum way now)
{
    for (size_t i = 0; i < n; i++) {
        const char *words[ARRAY_LEN(rows[i].words) + 1] = { 0 };
        AUTO_BUF struct buf line = { 0 };
        int code;

        for (size_t w = 0; w < ARRAY_LEN(rows[i].words) && rows[i].words[w]; w++) {
            words[w] = filled(rows[i].words[w]);
            buf_printf(&line, " %s", rows[i].words[w]);
        }
        if (rows[i].way != BOTH && rows[i].way != now)
            continue;
        code = run_with(NULL, words);
        if (code != rows[i].code)
            TAP_FAIL("patchbay%s (%s a daemon): %d, expected %d; %s", buf_cstr(&line),
                     now == WITH ? "with" : "without", code, rows[i].code, err);
        if (*rows[i].says ? !strstr(err, rows[i].says) : *err)
            TAP_FAIL("patchbay%s (%s a daemon) says \"%s\", expected \"%s\"", buf_cstr(&line),
                     now == WITH ? "with" : "without", err, rows[i].says);
    }
}

/* In a home with all kinds of servers, twice. */
#define WALK(rows)                                   \
    for (int way_ = WITH; way_ <= WITHOUT; way_++) { \
        begin_trouble(way_);                         \
        walk(rows, ARRAY_LEN(rows), (enum way)way_); \
        places_end();                                \
        rig_end();                                   \
    }

static void begin_trouble(int way)
{
    AUTO_BUF struct buf config = { 0 };

    rig_begin();
    places_begin();
    buf_printf(&config, TROUBLE ",\"shut\":{\"url\":\"%s\"},\"far\":{\"url\":\"%s\"}", shut_url,
               refused_url);
    write_filled("config.json", "{\"settings\":{\"connect_s\":2},\"mcpServers\":{",
                 buf_cstr(&config), "}}");
    if (way != WITH)
        return;
    rig_daemon(NULL);
    WAIT_FOR(strcmp(server_is("ex", "state"), "connected") == 0);
    WAIT_FOR(strcmp(server_is("hid", "state"), "connected") == 0);
    WAIT_FOR(strcmp(server_is("shut", "state"), "error") == 0);
}

/* ---- the command line is wrong: 1 ---- */

TEST(a_wrong_command_line_is_1_and_tells_the_usage)
{
    static const struct exit_row rows[] = {
        { { "lst" }, 1, "patchbay: there is no verb 'lst'; did you mean 'list'?\nusage: " },
        { { "help", "lst" }, 1, "there is no verb 'lst'" },
        { { "call" }, 1, "'call' needs more\nusage: patchbay call " },
        { { "token" }, 1, "'token' needs more\nusage: patchbay token " },
        { { "service", "start" }, 1, "'start' is none of install, status and uninstall\nusage: " },
        { { "token", "make" }, 1, "'make' is none of add, list and rm\nusage: " },
        { { "serve", "--port", "x" }, 1, "--port is a number up to 65535, not 'x'\nusage: " },
        { { "call", "ex.echo", "--timeout", "x" }, 1, "--timeout is a number of seconds" },
        { { "list", "--timeout", "x" }, 1, "--timeout is a number of seconds" },
        { { "doctor", "--timeout", "x" }, 1, "--timeout is a number of seconds" },
        { { "logs", "-n", "x" }, 1, "--lines is a number, not 'x'\nusage: " },
        { { "completion", "tcsh" }, 1, "no completion for 'tcsh': bash, zsh or fish\nusage: " },
        { { "mcp", "--server", "a", "--mode", "b" }, 1, "two different things: give one\nusage: " },
        { { "mcp", "--expose", "x" }, 1, "'x'" },
        { { "serve", "--expose", "x" }, 1, "'x'" },
        { { "calls", "all" }, 1, "'all' is none of show, export and rm\nusage: " },
        { { "calls", "--since", "x" }, 1, "--since is a time back such as 10m or 2h, a date" },
        { { "calls", "rm" }, 1, "nobody can be asked whether to delete them: add --yes\nusage: " },
        { { "calls", "export", "--format", "x" }, 1, "--format is jsonl, har or otlp, not 'x'" },
        { { "object" }, 1, "'object' needs more\nusage: patchbay object " },
        { { "answer", "x", "y" }, 1, "'y' is none of approve, grant and deny\nusage: " },
        { { "grants", "x" }, 1, "'x' is none of add, auto and rm\nusage: " },
        { { "policy", "x" }, 1, "'x' is none of add, check and rm\nusage: " },
        { { "policy", "add", "x" }, 1, "'x' is none of ask, deny and allow\nusage: " },
    };

    WALK(rows)
}

/* Every verb there is, from its own table. */
TEST(an_unknown_option_and_too_many_words_are_1_in_every_verb)
{
    rig_begin();
    CHECK_INT(RUN("help", "--json"), 0);
    {
        AUTO_FREE char *help = mem_dup(out);
        char path[64], name[64], says[128];

        for (int i = 0;; i++) {
            snprintf(path, sizeof path, "verbs.%d.name", i);
            snprintf(name, sizeof name, "%s", json_member(help, path));
            if (!*name) {
                CHECK(i > 30);
                break;
            }
            CHECK_INT(RUN(name, "--nonsense"), 1);
            CHECK_HAS(err, "patchbay: unknown option '--nonsense'");
            snprintf(says, sizeof says, "\nusage: patchbay %s", name);
            CHECK_HAS(err, says);
            CHECK_STR(out, "");
            CHECK_INT(RUN(name, "--quiet=1"), 1);
            CHECK_HAS(err, "patchbay: --quiet takes no value\nusage: ");
        }
    }
    rig_end();
}

/* ---- it names nothing: 1 ---- */

TEST(what_there_is_not_is_1)
{
#define NO_SERVER "patchbay: there is no server 'exx'; did you mean 'ex'?\n"
#define NO_TOOL   "patchbay: there is no tool 'ex.ecko'; did you mean 'ex.echo'?\n"
    static const struct exit_row rows[] = {
        { { "tools", "exx" }, 1, NO_SERVER, BOTH },
        { { "prompts", "exx" }, 1, NO_SERVER, BOTH },
        { { "resources", "exx" }, 1, NO_SERVER, BOTH },
        { { "call", "exx.echo" }, 1, NO_SERVER, BOTH },
        { { "describe", "exx.echo" }, 1, NO_SERVER, BOTH },
        { { "tools", "exx.echo" }, 1, NO_SERVER, BOTH },
        { { "prompt", "exx.p" }, 1, NO_SERVER, BOTH },
        { { "prompts", "exx.p" }, 1, NO_SERVER, BOTH },
        { { "read", "exx", "test://a" }, 1, NO_SERVER, BOTH },
        { { "doctor", "exx" }, 1, NO_SERVER, BOTH },
        { { "mode", "few", "--filter", "exx" }, 1, NO_SERVER, BOTH },
        { { "connect", "exx" }, 1, NO_SERVER, WITH },
        { { "disconnect", "exx" }, 1, NO_SERVER, WITH },
        { { "reconnect", "exx" }, 1, NO_SERVER, WITH },
        { { "ping", "exx" }, 1, NO_SERVER, WITH },
        { { "cancel", "exx" }, 1, NO_SERVER, WITH },
        { { "logs", "exx" }, 1, NO_SERVER, WITH },
        { { "logs", "ex", "exx" }, 1, NO_SERVER, WITH },
        { { "mcp", "--server", "exx" }, 1, "there is no server 'exx'", BOTH },
        { { "mcp", "--mode", "exx" }, 1, "there is no mode 'exx'", BOTH },
        { { "get", "exx" }, 1, "patchbay: there is no server 'exx' in ", BOTH },
        { { "remove", "exx" }, 1, "patchbay: there is no server 'exx' in ", BOTH },
        { { "enable", "exx" }, 1, "patchbay: there is no server 'exx' in ", BOTH },
        { { "disable", "exx" }, 1, "patchbay: there is no server 'exx' in ", BOTH },
        { { "call", "ex.ecko" }, 1, NO_TOOL, BOTH },
        { { "describe", "ex.ecko" }, 1, NO_TOOL, BOTH },
        { { "tools", "ex.ecko" }, 1, NO_TOOL, BOTH },
        { { "disable", "ex.ecko" }, 1, NO_TOOL, BOTH },
        { { "enable", "ex.ecko" }, 1, NO_TOOL, BOTH },
        { { "call", "ecko", "--", "$EX" }, 1, "patchbay: the server lists no tool 'ecko'", BOTH },
        { { "describe", "ecko", "--", "$EX" },
          1,
          "patchbay: the server lists no tool 'ecko'",
          BOTH },
        { { "prompt", "conf.nope" }, 1, "patchbay: there is no prompt 'conf.nope'", BOTH },
        { { "prompts", "conf.nope" }, 1, "patchbay: there is no prompt 'conf.nope'", BOTH },
        { { "read", "test://nope" }, 1, "patchbay: test://nope: Resource not found", BOTH },
        { { "read", "conf", "test://nope" }, 1, "patchbay: test://nope: Resource not found", BOTH },
        { { "mode", "nope" }, 1, "patchbay: there is no mode 'nope'", BOTH },
        { { "mode", "rm", "nope" }, 1, "patchbay: there is no mode 'nope'", BOTH },
        { { "tools", "--mode", "nope" }, 1, "patchbay: there is no mode 'nope'", BOTH },
        { { "token", "rm", "nope" }, 1, "patchbay: there is no token 'nope'", BOTH },
        { { "calls", "show", "7" }, 1, "patchbay: there is no recorded call '7'", BOTH },
        { { "object", "abcdefabcdef" }, 1, "patchbay: there is no object 'abcdefabcdef'", WITHOUT },
        { { "object", "abcdefabcdef" }, 1, "begins with 'abcdefabcdef'; give the whole cid", WITH },
        { { "answer", "nope", "deny" }, 1, "patchbay: there is no question 'nope'", WITH },
        { { "grants", "rm", "nope" }, 1, "patchbay: there is no grant 'nope'", WITH },
        { { "policy", "rm", "nope" }, 1, "patchbay: there is no rule 'nope'", BOTH },
        { { "policy", "check", "nope" }, 1, "patchbay: open 'nope': No such file", BOTH },
        { { "explain", "ex.echo", "--mode", "nope" }, 1, "patchbay: there is no mode", BOTH },
        { { "list", "--config", "nope" }, 1, "patchbay: nope: there is no such config", BOTH },
        { { "tools", "--config", "nope" }, 1, "patchbay: nope: there is no such config", BOTH },
        { { "doctor", "--config", "nope" }, 1, "patchbay: nope: there is no such config", BOTH },
        { { "serve", "--config", "nope" }, 1, "patchbay: nope: there is no such config", BOTH },
        { { "mcp", "--config", "nope" }, 1, "patchbay: nope: there is no such config", BOTH },
        { { "call", "ex.echo", "text=@nope" }, 1, "open 'nope': No such file", BOTH },
        /* a tool that is switched off is not there for whoever calls */
        { { "call", "hid.echo", "text=1" }, 1, "patchbay: the tool 'hid.echo' is disabled", BOTH },
        { { "describe", "hid.echo" }, 1, "patchbay: the tool 'hid.echo' is disabled", BOTH },
        { { "tools", "hid.echo" }, 1, "patchbay: the tool 'hid.echo' is disabled", BOTH },
    };

    WALK(rows)
}

TEST(arguments_that_are_wrong_are_1)
{
    static const struct exit_row rows[] = {
        { { "call", "ex.echo", "tixt=1" }, 1, "patchbay: ex.echo: ", BOTH },
        { { "call", "ex.echo" }, 1, "\n  ex.echo(text: string)", BOTH },
        { { "call", "ex.echo", "{" }, 1, "patchbay: the arguments: ", BOTH },
        { { "prompt", "conf.test_prompt_with_arguments" },
          1,
          "patchbay: conf.test_prompt_with_arguments: ",
          BOTH },
        { { "add", "x", "-t", "nope", "--", "cat" }, 1, "nope", BOTH },
        { { "token", "add", "x", "--may", "nope" }, 1, "--may says what it may do", BOTH },
        { { "explain", "ex.echo", "tixt=1" }, 1, "patchbay: ex.echo: ", BOTH },
        { { "policy", "add", "ask", "--face", "x" }, 1, "patchbay: face: expected ", BOTH },
    };

    WALK(rows)
}

/* ---- it cannot be reached: 3 and 4 ---- */

TEST(a_server_that_cannot_be_reached_is_4_and_one_that_wants_a_login_3)
{
#define GONE "Failed to spawn /no/such/program"
#define OFF  "patchbay: server 'off' is disabled; 'patchbay enable off' switches it on\n"
    static const struct exit_row rows[] = {
        { { "tools", "gone" }, 4, GONE, BOTH },
        { { "prompts", "gone" }, 4, GONE, BOTH },
        { { "resources", "gone" }, 4, GONE, BOTH },
        { { "call", "gone.x" }, 4, GONE, BOTH },
        { { "describe", "gone.x" }, 4, GONE, BOTH },
        { { "tools", "gone.x" }, 4, GONE, BOTH },
        { { "prompt", "gone.x" }, 4, GONE, BOTH },
        { { "prompts", "gone.x" }, 4, GONE, BOTH },
        { { "read", "gone", "a:b" }, 4, GONE, BOTH },
        { { "connect", "gone" }, 4, GONE, WITH },
        { { "reconnect", "gone" }, 4, GONE, WITH },
        { { "ping", "gone" }, 4, "patchbay: ", WITH },
        { { "doctor", "gone" }, 4, "", BOTH },
        { { "tools", "--", "/no/such/program" }, 4, GONE, BOTH },
        { { "call", "x", "--", "/no/such/program" }, 4, GONE, BOTH },
        { { "read", "x", "--", "/no/such/program" }, 4, GONE, BOTH },
        { { "prompt", "x", "--", "/no/such/program" }, 4, GONE, BOTH },
        { { "resources", "--", "/no/such/program" }, 4, GONE, BOTH },

        { { "tools", "off" }, 4, "patchbay: off: Disabled (try: patchbay enable off)\n", BOTH },
        { { "prompts", "off" }, 4, "patchbay: off: Disabled (try: patchbay enable off)\n", BOTH },
        { { "resources", "off" }, 4, "patchbay: off: Disabled (try: patchbay enable off)\n", BOTH },
        { { "read", "off", "a:b" },
          4,
          "patchbay: off: Disabled (try: patchbay enable off)\n",
          BOTH },
        { { "call", "off.x" }, 4, OFF, BOTH },
        { { "describe", "off.x" }, 4, OFF, BOTH },
        { { "prompt", "off.x" }, 4, OFF, BOTH },
        { { "connect", "off" }, 4, "patchbay: server 'off' is disabled", WITH },
        { { "reconnect", "off" }, 4, "patchbay: server 'off' is disabled", WITH },
        { { "reconnect", "--force", "off" }, 4, "patchbay: server 'off' is disabled", WITH },
        { { "ping", "off" }, 4, "patchbay: ", WITH },

        { { "tools", "far" }, 4, "far", BOTH },
        { { "call", "far.x" }, 4, "far", BOTH },
        { { "connect", "far" }, 4, "far", WITH },
        { { "tools", "$REFUSED" }, 4, "patchbay: ", BOTH },
        { { "resources", "$REFUSED" }, 4, "patchbay: ", BOTH },
        { { "prompts", "$REFUSED" }, 4, "patchbay: ", BOTH },
        { { "call", "x", "--url", "$REFUSED" }, 4, "patchbay: ", BOTH },
        { { "read", "x", "--url", "$REFUSED" }, 4, "patchbay: ", BOTH },
        { { "prompt", "x", "--url", "$REFUSED" }, 4, "patchbay: ", BOTH },

        { { "tools", "shut" }, 3, "401", BOTH },
        { { "prompts", "shut" }, 3, "401", BOTH },
        { { "resources", "shut" }, 3, "401", BOTH },
        { { "call", "shut.x" }, 3, "401", BOTH },
        { { "describe", "shut.x" }, 3, "401", BOTH },
        { { "prompt", "shut.x" }, 3, "401", BOTH },
        { { "read", "shut", "a:b" }, 3, "401", BOTH },
        { { "connect", "shut" }, 3, "401", WITH },
        { { "reconnect", "shut" }, 3, "401", WITH },
        { { "doctor", "shut" }, 3, "", BOTH },
        { { "doctor", "shut", "gone" }, 4, "", BOTH },
        { { "tools", "$SHUT" }, 3, "wants: Bearer", BOTH },
        { { "call", "x", "--url", "$SHUT" }, 3, "401", BOTH },
        { { "read", "x", "--url", "$SHUT" }, 3, "401", BOTH },
        { { "prompt", "x", "--url", "$SHUT" }, 3, "401", BOTH },
        { { "resources", "$SHUT" }, 3, "401", BOTH },

        /* of all servers together: the others are what counts */
        { { "list", "--timeout", "3" }, 0, "", BOTH },
        { { "list", "--timeout", "3", "--exit-code" }, 4, "", BOTH },
        { { "disable", "gone.x" }, 0, "not checked whether gone has a tool 'x'", BOTH },

        { { "call", "stuck.who", "--timeout", "300ms" }, 4, "the call is cancelled", BOTH },
        { { "call", "who", "--timeout", "300ms", "--", "$MOB", "silent", "m" },
          4,
          "did not answer within 300 ms",
          BOTH },
    };

    WALK(rows)
}

/* It says nothing for a minute, so that it starts as long as anybody looks. */
TEST(a_server_that_is_still_starting_is_4)
{
    static const struct exit_row rows[] = {
        { { "call", "mute.who", "--timeout", "300ms" }, 4, "is still starting after", BOTH },
    };

    for (int way = WITH; way <= WITHOUT; way++) {
        rig_begin();
        write_filled("config.json", "{\"settings\":{\"connect_s\":60},\"mcpServers\":{",
                     "\"mute\":" MOB("silent"), "}}");
        if (way == WITH)
            rig_daemon(NULL);
        walk(rows, ARRAY_LEN(rows), (enum way)way);
        rig_end();
    }
}

TEST(without_a_daemon_what_needs_one_is_4)
{
    static const char *const verbs[] = { "status",     "stop",      "restart", "console", "connect",
                                         "disconnect", "reconnect", "ping",    "cancel",  "logs" };
    static const char *const lines[][4] = {
        { "questions" }, { "questions", "-f" },       { "answer", "x", "deny" },
        { "grants" },    { "grants", "rm", "--all" }, { "grants", "add", "cli", "ex/echo" }
    };

    rig_begin();
    rig_config("\"ex\":" EXAMPLE);
    for (size_t i = 0; i < ARRAY_LEN(verbs); i++) {
        const char *server = i < 4 ? NULL : "ex";

        CHECK_INT(run_with(NULL, (const char *const[]){ verbs[i], server, NULL }), 4);
        CHECK_HAS(err, "patchbay: no daemon listens on ");
        CHECK_HAS(err, "; 'patchbay serve' starts one\n");
        CHECK_STR(out, "");
    }
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        const char *words[ARRAY_LEN(lines[i]) + 1] = { 0 };

        memcpy(words, lines[i], sizeof lines[i]);
        CHECK_INT(run_with(NULL, words), 4);
        CHECK_HAS(err, "patchbay: no daemon listens on ");
        CHECK_STR(out, "");
    }
    CHECK_INT(RUN("calls", "-f"), 4);
    CHECK_HAS(err, "patchbay: no daemon that records calls is running; 'patchbay serve' starts");
    CHECK_INT(RUN("status", "--stop"), 4);
    rig_end();
}

TEST(a_port_that_is_taken_is_4)
{
    char port[16];

    rig_begin();
    rig_config("\"ex\":" EXAMPLE);
    rig_daemon(NULL);
    snprintf(port, sizeof port, "%d", daemon_port());
    CHECK_INT(RUN("serve", "--no-socket", "--port", port), 4);
    CHECK_HAS(err, port);
    CHECK_INT(RUN("serve", "--port", "0"), 4); /* the socket is taken, too */
    CHECK_HAS(err, "patchbay.sock");
    CHECK_INT(RUN("serve", "--no-socket", "--background", "--port", port), 4);
    CHECK_HAS(err, port);
    rig_end();
}

/* ---- it ran: 5, 0 and 130 ---- */

TEST(a_tool_that_fails_is_5)
{
    static const struct exit_row rows[] = {
        { { "call", "ex.calculator", "expression=1/0" }, 5, "division by zero", BOTH },
        { { "call", "conf.test_error_handling" }, 5, "", BOTH },
        { { "call", "conf.test_error_handling", "--json" }, 5, "", BOTH },
        { { "call", "conf.test_elicitation", "message=Who?" }, 5, "needs a terminal", BOTH },
        { { "call", "calculator", "expression=1/0", "--", "$EX" }, 5, "division by zero", BOTH },
    };

    WALK(rows)
}

TEST(what_went_well_is_0_and_says_nothing)
{
    static const struct exit_row rows[] = {
        { { "call", "ex.echo", "text=1" }, 0, "", BOTH },
        { { "describe", "ex.echo", "--refresh" }, 0, "", BOTH },
        { { "read", "test://static-text", "-q" }, 0, "", WITHOUT },
        { { "prompt", "conf.test_simple_prompt" }, 0, "", BOTH },
        { { "get", "ex" }, 0, "", BOTH },
        { { "doctor", "ex" }, 0, "", BOTH },
        { { "mode" }, 0, "", BOTH },
        { { "help" }, 0, "", BOTH },
        { { "help", "call" }, 0, "", BOTH },
        { { "call", "--help" }, 0, "", BOTH },
        { { "version" }, 0, "", BOTH },
        { { "--version" }, 0, "", BOTH },
        { { "man" }, 0, "", BOTH },
        { { "completion", "bash" }, 0, "", BOTH },
        { { "token", "list" }, 0, "", BOTH },
        { { "service", "status" }, 0, "", BOTH },
        { { "calls", "-q" }, 0, "", BOTH },
        { { "policy" }, 0, "", BOTH },
        { { "explain", "ex.echo" }, 0, "", BOTH },
        { { "explain", "ex.ecko" }, 0, "", BOTH }, /* that is the answer */
        { { "questions" }, 0, "", WITH },
        { { "grants" }, 0, "", WITH },
        { { "status" }, 0, "", WITH },
        { { "logs", "ex" }, 0, "", WITH },
        { { "logs", "gone" }, 0, "", WITH },
        { { "ping", "ex" }, 0, "", WITH },
        { { "disconnect", "off" }, 0, "", WITH },
        { { "disconnect", "ex" }, 0, "", WITH },
        { { "reconnect", "ex" }, 0, "", WITH },
        { { "console" }, 0, "", WITH },
        { { "call", "echo", "text=1", "--", "$EX" }, 0, "", BOTH },
    };

    WALK(rows)
}

/* Whatever is waited for. */
TEST(ctrl_c_is_130)
{
    static const struct {
        const char *words[5];
        bool daemon;
        const char *says;
    } cases[] = {
        { { "call", "stuck.who" }, true, "patchbay: " },
        { { "call", "stuck.who" }, false, "patchbay: " },
        { { "tools", "mute" }, false, "" },
        { { "tools", "mute" }, true, "" },
        { { "list" }, false, "" },
        { { "doctor", "mute" }, false, "" },
        { { "connect", "mute" }, true, "" },
        { { "read", "mute", "a:b" }, false, "" },
        { { "prompt", "mute.p" }, false, "" },
        { { "logs", "-f" }, true, "" },
        { { "questions", "-f" }, true, "" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct started s;
        int code;

        rig_begin();
        rig_config("\"stuck\":" WITNESS("stuck", "heard") ",\"mute\":" WITNESS("silent", "mute"));
        if (cases[i].daemon)
            rig_daemon(NULL);
        if (cases[i].daemon)
            WAIT_FOR(strstr(file_text("heard"), "tools/list"));
        start_with(&s, NULL, cases[i].words);
        if (strcmp(cases[i].words[0], "call") == 0)
            WAIT_FOR(strstr(file_text("heard"), "tools/call"));
        else if (!cases[i].daemon)
            WAIT_FOR(*file_text("mute"));
        else
            poll(NULL, 0, 300);
        kill(s.pid, SIGINT);
        code = started_end(&s);
        if (code != 130)
            TAP_FAIL("%s %s: %d, expected 130; %s", cases[i].words[0], cases[i].words[1], code,
                     err);
        if (*cases[i].says ? !strstr(err, cases[i].says) : *err)
            TAP_FAIL("%s %s says \"%s\"", cases[i].words[0], cases[i].words[1], err);
        rig_end();
    }
}

/* ---- files of one's own: 1 ---- */

TEST(a_broken_config_is_1_in_every_verb_that_reads_or_changes_it)
{
    static const char *const lines[][5] = {
        { "list" },
        { "tools" },
        { "tools", "a" },
        { "call", "a.b" },
        { "describe", "a.b" },
        { "resources" },
        { "read", "a:b" },
        { "prompts" },
        { "prompt", "a.b" },
        { "doctor" },
        { "mode" },
        { "mode", "m", "--filter", "a" },
        { "mode", "rm", "m" },
        { "policy" },
        { "policy", "add", "ask" },
        { "policy", "rm", "1" },
        { "explain", "a.b" },
        { "get", "a" },
        { "add", "b", "--", "cat" },
        { "add-json", "b", "{\"command\":\"cat\"}" },
        { "remove", "a" },
        { "enable", "a" },
        { "disable", "a" },
        { "serve" },
        { "serve", "--background" },
        { "mcp" },
    };

    rig_begin();
    write_file(in_home("config.json"), "{\n  \"mcpServers\": {\n    \"a\": oops\n  }\n}\n");
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        int code = run_with(NULL, lines[i]);

        if (code != 1 || !strstr(err, "config.json: line 3, column 10: "))
            TAP_FAIL("%s %s: %d, %s", lines[i][0], lines[i][1] ? lines[i][1] : "", code, err);
        CHECK_STR(out, "");
    }
    rig_end();
}

/* root may write everything, but not through a file that stands in the way. */
TEST(files_that_cannot_be_written_are_1)
{
    static const char *const lines[][6] = {
        { "add", "b", "--", "cat" },
        { "mode", "m", "--filter", "\"all\"" },
        { "token", "add", "t", "--may", "mcp" },
        { "serve", "--background" },
        { "serve" },
        { "service", "install" },
    };

    rig_begin();
    write_file(in_home("file"), "");
    setenv("PATCHBAY_HOME", in_home("file/home"), 1);
    setenv("XDG_CONFIG_HOME", in_home("file/config"), 1);
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        int code = run_with(NULL, lines[i]);

        if (code != 1 || !strstr(err, "/file"))
            TAP_FAIL("%s %s: %d, %s", lines[i][0], lines[i][1] ? lines[i][1] : "", code, err);
        CHECK_STR(out, "");
    }
    setenv("PATCHBAY_HOME", home, 1);
    rig_config("\"conf\":" CONFORMANCE);
    CHECK_INT(RUN("read", "test://static-binary", "--save", in_home("file/dir")), 1);
    CHECK_HAS(err, "/file");
    rig_end();
}
