/* The daemon as a person starts and ends it. */
#include "cli_rig.h"

static bool has_ended(void)
{
    siginfo_t info = { 0 };

    CHECK(waitid(P_PID, (id_t)rig_daemon_program.pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0);
    return info.si_pid == rig_daemon_program.pid;
}

TEST(stop_has_ended_the_daemon_when_it_ends)
{
    static const struct {
        const char *words[4];
        bool json;
    } ways[] = { { { "stop" }, false },
                 { { "status", "--stop" }, false },
                 { { "stop", "--json" }, true } };

    rig_begin();
    CHECK_INT(RUN("stop"), 4);
    CHECK_HAS(err, "patchbay: no daemon listens on '");
    CHECK_HAS(err, "'patchbay serve' starts one\n");
    /* A server that takes as long as it may. */
    rig_config("\"ex\":" EXAMPLE ",\"deaf\":" MOB("noterm"));
    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        char says[64], pid[16];

        rig_daemon(NULL);
        WAIT_FOR(strcmp(server_is("deaf", "state"), "connected") == 0);
        snprintf(pid, sizeof pid, "%d", rig_daemon_program.pid);
        snprintf(says, sizeof says, "The daemon has ended (pid %s)\n", pid);
        CHECK_INT(run_with(NULL, ways[i].words), 0);
        CHECK(has_ended());
        CHECK_STR(err, "");
        if (ways[i].json) {
            CHECK_STR(member("stopped"), "true");
            CHECK_STR(member("pid"), pid);
        } else {
            CHECK_STR(out, says);
        }
        CHECK_INT(daemon_ended(), 0);
        CHECK_INT(access(in_home("run/patchbay.sock"), F_OK), -1);
    }
    rig_end();
}

/* ---- terminals ---- */

/* Reads the terminal until this stands on it. */
static void see(int master, const char *text)
{
    size_t n = 0;

    out[0] = '\0';
    while (!strstr(out, text)) {
        struct pollfd fd = { .fd = master, .events = POLLIN };
        ssize_t got;

        if (poll(&fd, 1, RIG_END_MS) != 1)
            TAP_FAIL("\"%s\" never stood on the terminal: %s", text, out);
        got = read(master, out + n, sizeof out - 1 - n);
        if (got <= 0)
            TAP_FAIL("the terminal is gone: %s", out);
        n += (size_t)got;
        out[n] = '\0';
    }
}

/* Whoever runs the tests may have been told to ignore it (nohup), and so would what we start. */
TEST(a_daemon_ends_with_its_terminal)
{
    struct sigaction usual = { .sa_handler = SIG_DFL };
    int master;

    rig_begin();
    rig_config("\"ex\":" EXAMPLE);
    CHECK(sigaction(SIGHUP, &usual, NULL) == 0);
    rig_daemon_program.pid = terminal_start(&master, WORDS("serve", "--port", "0", "--no-token"));
    see(master, "/config.json");
    CHECK_INT(RUN("status"), 0);
    close(master);
    CHECK_INT(daemon_ended(), 0);
    CHECK_INT(RUN("status"), 4);
    rig_end();
}

TEST(a_daemon_that_was_told_to_ignore_the_end_of_its_terminal_does)
{
    struct sigaction ignore = { .sa_handler = SIG_IGN }, was;
    int master;

    rig_begin();
    rig_config("");
    CHECK(sigaction(SIGHUP, &ignore, &was) == 0);
    rig_daemon_program.pid = terminal_start(&master, WORDS("serve", "--port", "0", "--no-token"));
    CHECK(sigaction(SIGHUP, &was, NULL) == 0);
    see(master, "/config.json");
    close(master);
    for (int i = 0; i < 3; i++)
        CHECK_INT(RUN("status"), 0);
    CHECK_INT(RUN("stop"), 0);
    CHECK_INT(daemon_ended(), 0);
    rig_end();
}

/* ---- in the background ---- */

static pid_t left_behind;

/* A test that fails leaves nobody behind. */
static void end_left_behind(void)
{
    if (left_behind > 0)
        kill(left_behind, SIGKILL);
}

static pid_t printed_pid(void)
{
    const char *at = strstr(out, "  pid      ");

    CHECK(at != NULL);
    left_behind = (pid_t)strtol(at + strlen("  pid      "), NULL, 10);
    atexit(end_left_behind);
    return left_behind;
}

TEST(serve_goes_on_in_the_background_when_it_listens)
{
    char says[512];
    pid_t pid;

    rig_begin();
    rig_config("\"ex\":" EXAMPLE);
    CHECK_INT(run_on_terminal(WORDS("serve", "--background", "--port", "0")), 0);
    pid = printed_pid();
    CHECK_HAS(out, "patchbay 0.1.0: 1 server\r\n  MCP      http://127.0.0.1:");
    snprintf(says, sizeof says, "  log      %s\r\n", in_home("daemon.log"));
    CHECK_HAS(out, says);
    CHECK(getsid(pid) == pid); /* a session of its own */
    CHECK_HAS(file_text("daemon.log"), "  MCP      http://127.0.0.1:");
    CHECK_INT(RUN("status", "--json"), 0); /* at once, and after its terminal */
    CHECK_INT(strtol(member("pid"), NULL, 10), pid);
    CHECK_INT(RUN("call", "ex.echo", "text=hi"), 0);
    rig_config("\"ex\":" EXAMPLE ",\"two\":" EXAMPLE);
    CHECK_INT(kill(pid, SIGHUP), 0); /* means: read again */
    WAIT_FOR(RUN("tools", "two") == 0);

    CHECK_INT(RUN("serve", "--background", "--port", "0"), 4); /* there is one */
    CHECK_STR(out, "");
    CHECK_HAS(err, "patchbay: another patchbay is running and listens on '");
    snprintf(says, sizeof says, "patchbay: it does not run in the background; see %s\n",
             in_home("daemon.log"));
    CHECK_HAS(err, says);
    CHECK_INT(RUN("stop"), 0);
    CHECK_INT(RUN("status"), 4);
    left_behind = 0;
    rig_end();
}

TEST(what_keeps_it_from_the_background_is_told_with_its_exit_code)
{
    rig_begin();
    write_file(in_home("config.json"), "{ no");
    CHECK_INT(RUN("serve", "--background", "--port", "0"), 1);
    CHECK_STR(out, "");
    CHECK_HAS(err, "config.json: line 1, column 3: ");
    CHECK_HAS(err, "patchbay: it does not run in the background; see ");
    CHECK_INT(RUN("status"), 4);
    rig_end();
}

/* ---- restart ---- */

static const char *token_answer(const char *token)
{
    static char head[64];
    char request[256];
    int port = (int)strtol(member("url") + strlen("http://127.0.0.1:"), NULL, 10);
    int fd = loopback_dial(port);
    ssize_t n;

    snprintf(request, sizeof request,
             "GET /api/status HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\n"
             "Connection: close\r\n\r\n",
             port, token);
    CHECK_INT(write(fd, request, strlen(request)), strlen(request));
    n = read(fd, head, sizeof head - 1);
    head[n > 0 ? n : 0] = '\0';
    head[strcspn(head, "\r")] = '\0';
    close(fd);
    return head;
}

TEST(restart_starts_the_daemon_again_as_it_was_started)
{
    static const struct {
        const char *words[4], *token, *variable;
    } ways[] = { { { "--token", "of-an-option" }, "of-an-option", NULL },
                 { { NULL }, "of-the-environment", "of-the-environment" } };

    rig_begin();
    CHECK_INT(RUN("restart"), 4);
    CHECK_HAS(err, "patchbay: no daemon listens on '");
    rig_config("\"ex\":" EXAMPLE);
    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        char says[64], started[32], pid[16];

        if (ways[i].variable)
            setenv("PATCHBAY_TOKEN", ways[i].variable, 1);
        rig_daemon(ways[i].words);
        unsetenv("PATCHBAY_TOKEN");
        CHECK_INT(RUN("status", "--json"), 0);
        snprintf(started, sizeof started, "%s", member("started_at"));
        snprintf(pid, sizeof pid, "%s", member("pid"));
        snprintf(says, sizeof says, "The daemon has started again (pid %s)\n", pid);
        CHECK_INT(RUN("restart"), 0);
        CHECK_STR(out, says);
        CHECK_STR(err, "");
        CHECK_INT(RUN("status", "--json"), 0);
        CHECK(strcmp(member("started_at"), started) != 0);
        CHECK_STR(member("pid"), pid);
        CHECK_STR(token_answer(ways[i].token), "HTTP/1.1 200 OK");
        CHECK_INT(RUN("status", "--json"), 0);
        CHECK_STR(token_answer("another"), "HTTP/1.1 401 Unauthorized");
        CHECK_INT(RUN("call", "ex.echo", "text=hi"), 0);
        CHECK_INT(RUN("restart", "--json"), 0);
        CHECK_STR(member("restarted"), "true");
        CHECK_STR(member("pid"), pid);
        CHECK_INT(RUN("stop"), 0);
        CHECK_INT(daemon_ended(), 0);
    }
    rig_end();
}

TEST(a_daemon_in_the_background_stays_there_when_it_is_started_again)
{
    pid_t pid;

    rig_begin();
    rig_config("");
    CHECK_INT(run_on_terminal(WORDS("serve", "-b", "--port", "0")), 0);
    pid = printed_pid();
    CHECK_INT(RUN("restart"), 0);
    CHECK_INT(RUN("status", "--json"), 0);
    CHECK_INT(strtol(member("pid"), NULL, 10), pid);
    CHECK_INT(RUN("stop"), 0);
    left_behind = 0;
    rig_end();
}

TEST(a_daemon_that_cannot_start_again_is_told)
{
    rig_begin();
    rig_config("");
    rig_daemon(NULL);
    write_file(in_home("config.json"), "{ no");
    CHECK_INT(RUN("restart"), 4);
    CHECK_STR(out, "");
    CHECK_HAS(err, " has ended and does not start again; what it said about that is where it was "
                   "started, or in daemon.log\n");
    CHECK_HAS(file_text("daemon.err"), "config.json: line 1, column 3: ");
    CHECK_INT(daemon_ended(), 1);
    rig_end();
}

/* ---- the service ---- */

static bool systemd_runs(void) { return access("/run/systemd/system", F_OK) == 0; }

#define NEXT_OF(text, first, second) \
    CHECK_HAS(text, "Next:\n  systemctl --user " first "\n  systemctl --user " second "\n")

TEST(the_service_is_the_unit_of_the_package_for_this_program)
{
    char says[512], line[512];
    const char *unit = "xdg/systemd/user/patchbay.service";

    rig_begin();
    setenv("XDG_CONFIG_HOME", in_home("xdg"), 1);
    CHECK_INT(RUN("service", "status"), 0);
    CHECK_HAS(out, "is       not installed: 'patchbay service install' writes it\n");
    CHECK_INT(RUN("service", "uninstall"), 1);
    snprintf(says, sizeof says, "patchbay: there is no '%s'\n", in_home(unit));
    CHECK_STR(err, says);

    CHECK_INT(RUN("service", "install"), 0);
    snprintf(says, sizeof says, "Wrote %s\n", in_home(unit));
    CHECK_STR(out, says);
    NEXT_OF(err, "daemon-reload", "enable --now patchbay");
    CHECK((strstr(err, "patchbay: systemd does not run here") == NULL) == systemd_runs());
    snprintf(line, sizeof line,
             "[Service]\nEnvironment=\"PATCHBAY_HOME=%s\"\nExecStart=\"%s\" serve\nRestart=", home,
             built("patchbay"));
    CHECK_HAS(file_text(unit), line);
    CHECK(strstr(file_text(unit), "@bindir@") == NULL);
    CHECK_INT(temp_mode(in_home(unit)), 0644);
    CHECK_INT(RUN("service", "status", "--json"), 0);
    CHECK_STR(member("installed"), "true");
    CHECK_STR(member("current"), "true");
    CHECK_STR(member("enabled"), "false");
    CHECK_STR(member("systemd"), systemd_runs() ? "true" : "false");
    CHECK_INT(RUN("service", "install"), 0);
    CHECK_HAS(out, "Already there: ");

    CHECK_INT(mkdir(in_home("xdg/systemd/user/default.target.wants"), 0700), 0);
    CHECK_INT(symlink("../patchbay.service",
                      in_home("xdg/systemd/user/default.target.wants/patchbay.service")),
              0);
    CHECK_INT(RUN("service", "status"), 0);
    CHECK_HAS(out, "is       what this program writes\nstarts   with your session\n");
    CHECK_INT(RUN("service", "uninstall"), 0);
    snprintf(says, sizeof says, "Removed %s\n", in_home(unit));
    CHECK_STR(out, says);
    NEXT_OF(err, "stop patchbay", "daemon-reload");
    CHECK_INT(access(in_home(unit), F_OK), -1);
    CHECK_INT(RUN("service", "status", "--json"), 0);
    CHECK_STR(member("enabled"), "false");
    rig_end();
}

TEST(a_unit_of_somebody_else_is_left_alone)
{
    const char *unit = "xdg/systemd/user/patchbay.service";
    static const char *const deeds[] = { "install", "uninstall" };
    char says[512];

    rig_begin();
    setenv("XDG_CONFIG_HOME", in_home("xdg"), 1);
    CHECK_INT(RUN("service", "install"), 0);
    write_file(in_home(unit), "[Service]\nExecStart=/bin/true\n");
    snprintf(says, sizeof says, "patchbay: '%s' is not what Patchbay wrote; move it away first\n",
             in_home(unit));
    for (size_t i = 0; i < ARRAY_LEN(deeds); i++) {
        CHECK_INT(RUN("service", deeds[i]), 1);
        CHECK_STR(err, says);
        CHECK_STR(file_text(unit), "[Service]\nExecStart=/bin/true\n");
    }
    CHECK_INT(RUN("service", "enable"), 1);
    CHECK_HAS(err, "patchbay: 'enable' is none of install, status and uninstall\n");
    rig_end();
}

/* ---- its address in the place of a server's name ---- */

TEST(a_url_stands_for_a_server)
{
    char url[64];

    rig_begin();
    rig_config("\"ex\":" EXAMPLE ",\"conf\":" CONFORMANCE);
    rig_daemon(WORDS("--no-token"));
    CHECK_INT(RUN("tools"), 0); /* all are up */
    snprintf(url, sizeof url, "http://127.0.0.1:%d/mcp", daemon_port());
    CHECK_INT(RUN("tools", url), 0);
    CHECK_HAS(out, "ex__echo ");
    CHECK_INT(RUN("tools", url, "ex__echo"), 0);
    CHECK_HAS(out, "ex__echo(text: string)");
    CHECK_INT(RUN("tools", "ex__echo", "--url", url), 0);
    CHECK_HAS(out, "ex__echo(text: string)");
    CHECK_INT(RUN("prompts", url), 0);
    CHECK_HAS(out, "conf__test_simple_prompt");
    CHECK_INT(RUN("resources", url), 0);
    CHECK_HAS(out, "test://static-text");
    CHECK_INT(RUN("read", "test://static-text", "--url", url), 0);
    CHECK_STR(out, "This is the content of the static text resource.\n");
    CHECK_INT(RUN("prompt", "conf__test_simple_prompt", "--url", url), 0);
    CHECK_STR(out, "user: This is a simple prompt for testing.\n");
    CHECK_INT(RUN("tools", "ex", "conf"), 1);
    CHECK_HAS(err, "patchbay: 'tools' takes no more than 1 argument; what is 'conf'?\n");
    CHECK_INT(RUN("tools", "http://127.0.0.1:1/mcp"), 4);
    CHECK_HAS(err, "patchbay: ");
    rig_end();
}
