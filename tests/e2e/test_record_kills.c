/* The daemon is killed while calls are made and recorded, again and again: what it has shown of
 * them is there afterwards, the file is whole, and a call that waited for an answer was not made.
 * RECORD_KILLS says how often (10 without it), SEED which moments. */
#include "rest_http.h"
#include "script_rig.h"

enum { LOADERS = 3, SHOWN_MAX = 4096, PAGE = 1000 };

static struct program far;
static pid_t loaders[LOADERS], waiter;
static char shown[SHOWN_MAX][UUID_CHARS + 1];
static size_t n_shown;

/* ---- those who call ---- */

static int dial(int port)
{
    int fd = loopback_dial(port);

    return fd;
}

static bool send_call(int fd, int port, const char *tool, const char *arguments)
{
    AUTO_BUF struct buf request = { 0 }, body = { 0 };

    buf_printf(&body, "{\"tool\":\"%s\",\"arguments\":%s}", tool, arguments);
    buf_printf(&request,
               "POST /api/mcp-tools/call HTTP/1.1\r\nHost: localhost:%d\r\n"
               "Authorization: Bearer secret\r\nContent-Type: application/json\r\n"
               "Content-Length: %zu\r\n\r\n%s",
               port, body.n, buf_cstr(&body));
    return send(fd, request.p, request.n, MSG_NOSIGNAL) == (ssize_t)request.n;
}

/* Until the daemon is gone. */
static void load(int port, unsigned me)
{
    int fd = dial(port);
    char answer[4096], arguments[64];

    for (unsigned i = 0;; i++) {
        snprintf(arguments, sizeof arguments, "{\"name\":\"%u-%u\"}", me, i);
        if (!send_call(fd, port, "far/greet", arguments) || recv(fd, answer, sizeof answer, 0) <= 0)
            _exit(0);
    }
}

static pid_t in_background(void (*fn)(int, unsigned), int port, unsigned me)
{
    pid_t pid;

    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        fn(port, me);
        _exit(0);
    }
    return pid;
}

/* It is asked about, and nobody answers. */
static void wait_for_answer(int port, unsigned me)
{
    int fd = dial(port);
    char answer[4096];

    (void)me;
    if (send_call(fd, port, "s/t", "{\"never\":1}") && recv(fd, answer, sizeof answer, 0) > 0)
        _exit(1);
}

static void begin_load(void)
{
    int port = daemon_port();

    for (unsigned i = 0; i < LOADERS; i++)
        loaders[i] = in_background(load, port, i);
    waiter = in_background(wait_for_answer, port, 0);
}

static void end_load(void)
{
    int status;

    for (unsigned i = 0; i < LOADERS; i++) {
        kill(loaders[i], SIGKILL);
        waitpid(loaders[i], NULL, 0);
    }
    kill(waiter, SIGKILL);
    CHECK(waitpid(waiter, &status, 0) == waiter);
    if (WIFEXITED(status) && WEXITSTATUS(status))
        TAP_FAIL("a call that nobody allowed was answered");
}

/* ---- what is shown ---- */

static void note_shown(void)
{
    const char *at = out;

    CHECK_INT(http_plain("GET", "/api/calls?limit=50", ""), 200);
    at = strstr(out, "\"recent\":[");
    CHECK(at != NULL);
    while (n_shown < SHOWN_MAX && (at = strstr(at, "{\"id\":\""))) {
        at += strlen("{\"id\":\"");
        snprintf(shown[n_shown++], UUID_CHARS + 1, "%.*s", UUID_CHARS, at);
    }
}

/* All of them, page by page: those that were shown last are the newest. */
static void check_all_there(void)
{
    static bool found[SHOWN_MAX];
    size_t missing = n_shown;
    char path[128], next[32] = "";

    memset(found, 0, sizeof found);
    while (missing) {
        snprintf(path, sizeof path, "/api/calls?limit=%d%s%s", PAGE, *next ? "&before=" : "", next);
        CHECK_INT(http_plain("GET", path, ""), 200);
        for (size_t i = 0; i < n_shown; i++)
            if (!found[i] && strstr(out, shown[i])) {
                found[i] = true;
                missing--;
            }
        snprintf(next, sizeof next, "%s", member("next"));
        if (!*next)
            break;
    }
    if (missing)
        TAP_FAIL("%zu of %zu records that were shown are gone", missing, n_shown);
    n_shown = 0;
}

static void check_file(void)
{
    static const char look[] = "import sqlite3,sys;c=sqlite3.connect(sys.argv[1]);"
                               "print(c.execute('PRAGMA integrity_check').fetchone()[0])";

    CHECK_INT(run_other(WORDS("python3", "-c", look, in_home("records/records.db")), NULL), 0);
    CHECK_STR(out, "ok\n");
}

static void write_all(void)
{
    AUTO_BUF struct buf config = { 0 };
    char port[16];

    snprintf(port, sizeof port, "%d", loopback_free_port());
    program_start(&far, WORDS("hello-server", port), NULL);
    WAIT_FOR(loopback_listens((int)strtol(port, NULL, 10)));
    buf_printf(
        &config,
        "\"far\":{\"url\":\"http://127.0.0.1:%s/mcp\"},"
        "\"s\":{\"command\":\"$BUILD/tests/e2e/script_server\",\"args\":[\"$HOME/said\"],"
        "\"start\":\"lazy\"}},\"policy\":{\"rules\":[{\"action\":\"ask\",\"server\":\"s\"}]}}",
        port);
    write_filled("config.json", "{\"mcpServers\":{", buf_cstr(&config), "");
}

TEST(what_was_shown_survives_kills_and_what_waited_is_not_made)
{
    const char *often = getenv("RECORD_KILLS"), *seed = getenv("SEED");
    unsigned cycles = often ? (unsigned)strtoul(often, NULL, 10) : 10;
    unsigned random = seed ? (unsigned)strtoul(seed, NULL, 10) : 1;

    script_begin("{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\"}}", "");
    write_all();
    start(NULL);
    BECOMES("far", "connected");
    RUN("tools", "s"); /* from now on its list is known without it */
    CHECK_INT(daemon_stop(SIGTERM), 0);
    write_file(in_home("said/heard"), "");
    for (unsigned i = 0; i < cycles; i++) {
        start(NULL);
        check_all_there();
        begin_load();
        random = random * 1103515245 + 12345;
        for (unsigned looks = 1 + (random >> 16) % 4; looks; looks--)
            note_shown();
        poll(NULL, 0, (int)((random >> 20) % 30));
        CHECK_INT(daemon_stop(SIGKILL), -SIGKILL);
        end_load();
        if (i % 100 == 99)
            check_file();
    }
    start(NULL);
    check_all_there();
    CHECK_INT(http_plain("GET", "/api/questions", ""), 200);
    CHECK_STR(member("questions.0.id"), "");
    CHECK_INT(daemon_stop(SIGTERM), 0);
    check_file();
    CHECK_STR(file_text("said/heard"), "");
    kill(far.pid, SIGTERM);
    CHECK_INT(program_end(&far, RIG_END_MS), 0);
    rig_end();
}
