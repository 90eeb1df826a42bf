/* What a peer can do to the real program over its pipes, and the exact answer to each: a line of
 * 100 MB, a reader that stalls, a peer that dies, a stdout that is closed, bad UTF-8, a batch, a
 * duplicate key, an answer to nothing, a second answer. Memory stays bounded throughout. */
#include "face/rest/rest.h"
#include "mcp/carrier/carrier.h"
#include "patchbay.h"
#include "tap.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>

enum { MB = 1000000, PEAK_KB_MAX = 40 * 1024, WAIT_MS = 20000, EXIT_MS = 5000 };

struct program {
    pid_t pid;
    int in, out;
};

static void start(struct program *p, const char *name, const char *arg)
{
    const char *dir = getenv("BUILD_DIR");
    char path[4096];
    int a[2], b[2];

    CHECK(dir != NULL);
    snprintf(path, sizeof path, "%s/%s", dir, name);
    CHECK(pipe2(a, O_CLOEXEC) == 0 && pipe2(b, O_CLOEXEC) == 0);
    sigaction(SIGPIPE, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL);
    p->pid = fork();
    if (p->pid == 0) {
        sigaction(SIGPIPE, &(struct sigaction){ .sa_handler = SIG_DFL }, NULL);
        dup2(a[0], 0);
        dup2(b[1], 1);
        if (!freopen("/dev/null", "w", stderr))
            _exit(126);
        execl(path, path, arg, (char *)NULL);
        _exit(127);
    }
    close(a[0]);
    close(b[1]);
    p->in = a[1];
    p->out = b[0];
}

static void write_all(int fd, const char *p, size_t n)
{
    while (n) {
        ssize_t w = write(fd, p, n);

        CHECK(w > 0);
        p += w;
        n -= (size_t)w;
    }
}

static void say(struct program *p, const char *text) { write_all(p->in, text, strlen(text)); }

/* The next line, without its newline. */
static const char *hear(struct program *p)
{
    static char line[65536];
    size_t n = 0;

    for (;;) {
        struct pollfd f = { .fd = p->out, .events = POLLIN };

        if (poll(&f, 1, WAIT_MS) != 1 || read(p->out, line + n, 1) != 1)
            TAP_FAIL("no answer; so far \"%.*s\"", (int)n, line);
        if (line[n] == '\n')
            break;
        CHECK(++n < sizeof line);
    }
    line[n] = '\0';
    return line;
}

static long peak_kb(const struct program *p)
{
    char path[64], line[256];
    long kb = -1;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%d/status", p->pid);
    f = fopen(path, "re");
    CHECK(f != NULL);
    while (fgets(line, sizeof line, f))
        if (strncmp(line, "VmHWM:", 6) == 0)
            kb = strtol(line + 6, NULL, 10);
    fclose(f);
    return kb;
}

/* Sanitizers keep freed memory and shadows of it: only the plain build is held to the bound. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

static void check_peak(const struct program *p)
{
    long kb = peak_kb(p);

    CHECK(kb > 0);
    if (!SANITIZED && kb > PEAK_KB_MAX)
        TAP_FAIL("the program's memory peaked at %ld KB; the bound is %d KB", kb, PEAK_KB_MAX);
}

static int ended_within(struct program *p, int ms)
{
    struct pollfd end = { .fd = (int)syscall(SYS_pidfd_open, p->pid, 0), .events = POLLIN };
    int status;

    TAP_SKIP_UNDER_VALGRIND("has no descriptors of processes");
    CHECK(end.fd >= 0);
    if (poll(&end, 1, ms) != 1) {
        kill(p->pid, SIGKILL);
        TAP_FAIL("still there %d ms after its peer is gone", ms);
    }
    close(end.fd);
    CHECK_INT(waitpid(p->pid, &status, 0), p->pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Ends within the time a shutdown may take; gives the exit status. */
static int ended(struct program *p) { return ended_within(p, EXIT_MS); }

static void still_works(struct program *p)
{
    say(p, "{\"jsonrpc\":\"2.0\",\"id\":\"alive\",\"method\":\"ping\"}\n");
    CHECK_STR(hear(p), "{\"jsonrpc\":\"2.0\",\"id\":\"alive\",\"result\":{}}");
}

static void finish(struct program *p)
{
    still_works(p);
    check_peak(p);
    close(p->in);
    CHECK_INT(ended(p), 0);
    close(p->out);
}

static void send_100_mb(struct program *p)
{
    static char block[MB];

    memset(block, 'x', sizeof block);
    for (int i = 0; i < 100; i++)
        write_all(p->in, block, sizeof block);
}

/* S2-50 S2-63 S2-64 S2-67 */
TEST(a_line_of_100_mb_with_an_id)
{
    struct program p;

    start(&p, "patchbay-example-server", NULL);
    say(&p, "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\",\"params\":{\"x\":\"");
    send_100_mb(&p);
    say(&p, "\"}}\n");
    CHECK_STR(hear(&p), "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":-32600,"
                        "\"message\":\"Request too large\"}}");
    finish(&p);
}

/* S2-65 S2-67 */
TEST(a_line_of_100_mb_without_an_id)
{
    struct program p;

    start(&p, "patchbay-example-server", NULL);
    send_100_mb(&p);
    say(&p, "\n");
    CHECK_STR(hear(&p), "{\"jsonrpc\":\"2.0\",\"id\":\"\",\"error\":{\"code\":-32700,"
                        "\"message\":\"Request exceeds 10MB limit\"}}");
    finish(&p);
}

/* One after the other until the program takes no more, because nobody reads its answers. */
static int write_until_full(struct program *p, const char *request, size_t n)
{
    int flags = fcntl(p->in, F_GETFL), written = 0;
    size_t at = 0;

    fcntl(p->in, F_SETFL, flags | O_NONBLOCK);
    for (;;) {
        ssize_t w = write(p->in, request + at, n - at);

        if (w < 0) {
            struct pollfd f = { .fd = p->in, .events = POLLOUT };

            CHECK_INT(errno, EAGAIN);
            if (poll(&f, 1, 500) == 0)
                break; /* it has stopped reading */
            continue;
        }
        at += (size_t)w;
        if (at == n) {
            at = 0;
            CHECK(++written < 20000);
        }
    }
    fcntl(p->in, F_SETFL, flags);
    if (at)
        TAP_FAIL("%d whole requests and %zu bytes", written, at);
    return written;
}

TEST(a_reader_that_stalls_stops_only_itself)
{
    enum { TEXT = 4096 - 128 };
    static char request[4097];
    struct program p;
    int written, answers = 0;

    start(&p, "patchbay-example-server", NULL);
    /* exactly a pipe's atomic size, so that a full pipe never holds a part of one */
    snprintf(request, sizeof request,
             "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":"
             "\"echo\",\"arguments\":{\"text\":\"%0*d\"}}}",
             TEXT, 0);
    memset(request + strlen(request), ' ', sizeof request - 1 - strlen(request));
    request[4095] = '\n';
    written = write_until_full(&p, request, 4096);
    CHECK(written > 0);
    check_peak(&p);
    for (; answers < written; answers++)
        CHECK_HAS(hear(&p), "\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"0000");
    finish(&p);
}

/* S2-69 S2-72 S2-74 S2-75 */
TEST(a_peer_that_dies_is_not_waited_for)
{
    struct program p;

    start(&p, "patchbay-example-server", NULL);
    still_works(&p);
    close(p.in);
    close(p.out);
    CHECK_INT(ended(&p), 0);
}

/* S2-72 S2-75 */
TEST(a_closed_stdout_is_no_crash)
{
    struct program p;

    start(&p, "patchbay-example-server", NULL);
    still_works(&p);
    close(p.out);
    for (int i = 0; i < 100; i++)
        if (write(p.in, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n", 42) < 0)
            break;
    close(p.in);
    CHECK_INT(ended(&p), 0);
}

struct exchange {
    const char *say, *hear; /* hear NULL: nothing comes */
};

static void check_exchanges(const struct exchange *e, size_t n)
{
    struct program p;

    start(&p, "patchbay-example-server", NULL);
    for (size_t i = 0; i < n; i++) {
        say(&p, e[i].say);
        if (e[i].hear)
            CHECK_STR(hear(&p), e[i].hear);
        still_works(&p);
    }
    finish(&p);
}

/* S2-35 S2-60 S2-61 */
TEST(bad_utf_8_is_a_parse_error)
{
    static const struct exchange exchanges[] = {
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}\n",
          "{\"jsonrpc\":\"2.0\",\"id\":\"\",\"error\":{\"code\":-32700,\"message\":"
          "\"Parse error: invalid UTF-8\"}}" },
        { "\xed\xa0\x80\n", "{\"jsonrpc\":\"2.0\",\"id\":\"\",\"error\":{\"code\":-32700,"
                            "\"message\":\"Parse error: invalid UTF-8\"}}" },
    };

    check_exchanges(exchanges, 2);
}

TEST(a_batch_is_answered_by_the_revision_that_has_them)
{
    static const struct exchange exchanges[] = {
        { "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]\n",
          "{\"jsonrpc\":\"2.0\",\"id\":\"\",\"error\":{\"code\":-32600,\"message\":\"Invalid "
          "request: batches are not part of this protocol revision\"}}" },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{"
          "\"protocolVersion\":\"2025-03-26\",\"capabilities\":{},\"clientInfo\":{\"name\":\"t\","
          "\"version\":\"1\"}}}\n",
          "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":\"2025-03-26\","
          "\"capabilities\":{\"tools\":{\"listChanged\":true},\"logging\":{}},\"serverInfo\":{"
          "\"name\":\"Patchbay Example Server\",\"version\":\"" PB_VERSION "\"}}}" },
        { "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"},"
          "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"},"
          "{\"jsonrpc\":\"2.0\",\"id\":\"b\",\"method\":\"ping\"}]\n",
          "[{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}},"
          "{\"jsonrpc\":\"2.0\",\"id\":\"b\",\"result\":{}}]" },
        { "[]\n", "{\"jsonrpc\":\"2.0\",\"id\":\"\",\"error\":{\"code\":-32600,\"message\":"
                  "\"Invalid request: a batch must not be empty\"}}" },
    };

    check_exchanges(exchanges, 4);
}

TEST(a_duplicate_key_is_refused_at_any_depth)
{
    static const struct exchange exchanges[] = {
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"ping\"}\n",
          "{\"jsonrpc\":\"2.0\",\"id\":\"\",\"error\":{\"code\":-32600,\"message\":\"Invalid "
          "request: an object names a key twice\"}}" },
        { "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\","
          "\"arguments\":{\"text\":\"a\",\"t\\u0065xt\":\"b\"}}}\n",
          "{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":{\"code\":-32600,\"message\":\"Invalid "
          "request: an object names a key twice\"}}" },
    };

    check_exchanges(exchanges, 2);
}

TEST(an_answer_to_nothing_is_dropped)
{
    static const struct exchange exchanges[] = {
        { "{\"jsonrpc\":\"2.0\",\"id\":\"nobody asked\",\"result\":{}}\n", NULL },
        { "{\"jsonrpc\":\"2.0\",\"id\":99,\"error\":{\"code\":1,\"message\":\"no\"}}\n", NULL },
    };

    check_exchanges(exchanges, 2);
}

/* A tool of the conformance server asks; the client answers twice, with different content. */
TEST(the_first_of_two_answers_counts)
{
    static const char init[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":"
                               "{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{"
                               "\"sampling\":{}},\"clientInfo\":{\"name\":\"t\",\"version\":"
                               "\"1\"}}}\n{\"jsonrpc\":\"2.0\",\"method\":"
                               "\"notifications/initialized\"}\n";
    static const char answer[] = "{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"result\":{\"role\":"
                                 "\"assistant\",\"model\":\"m\",\"content\":{\"type\":\"text\","
                                 "\"text\":\"%s\"}}}\n";
    char text[4096], id[256];
    struct program p = { 0 };
    const char *asked, *from;

    start(&p, "conformance-server", "--stdio");
    say(&p, init);
    CHECK_HAS(hear(&p), "\"id\":1,\"result\"");
    say(&p, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":"
            "\"test_sampling\",\"arguments\":{\"prompt\":\"hi\"}}}\n");
    asked = hear(&p);
    CHECK_HAS(asked, "\"method\":\"sampling/createMessage\"");
    from = strstr(asked, "\"id\":");
    CHECK(from != NULL);
    from += 5;
    snprintf(id, sizeof id, "%.*s", (int)strcspn(from, ",}"), from);
    snprintf(text, sizeof text, answer, (int)strlen(id), id, "first");
    say(&p, text);
    snprintf(text, sizeof text, answer, (int)strlen(id), id, "second");
    say(&p, text);
    CHECK_HAS(hear(&p), "\"id\":2,\"result\":{\"content\":[{\"type\":\"text\",\"text\":"
                        "\"LLM response: first\"}]");
    finish(&p);
}

/* A program of the library whose only tool never returns and never looks whether it should. */
static int never(struct pb_call *call, void *ctx)
{
    (void)call;
    (void)ctx;
    for (;;)
        pause();
    return 0;
}

static void serve_never(int in, int out)
{
    struct pb_server *server = pb_server_new(NULL);
    const struct pb_tool tool = { .name = "never", .run = never };
    struct pb_error err;

    if (pb_server_add_tool(server, &tool, &err) < 0 || pb_server_stdio(server, in, out, &err) < 0 ||
        pb_server_run(server, &err) < 0)
        _exit(1);
    pb_server_free(server);
    _exit(0); /* not exit(): what the handler holds is left behind on purpose */
}

/* S2-54 S2-92. Here the five seconds go by: the machine needs some more for the rest. */
TEST(a_handler_that_never_returns_does_not_hold_up_the_end)
{
    enum { MARGIN_MS = 3000 };
    struct program p;
    int a[2], b[2];

    CHECK(pipe2(a, O_CLOEXEC) == 0 && pipe2(b, O_CLOEXEC) == 0);
    p.pid = fork();
    if (p.pid == 0) {
        close(a[1]);
        close(b[0]);
        serve_never(a[0], b[1]);
    }
    close(a[0]);
    close(b[1]);
    p.in = a[1];
    p.out = b[0];
    say(&p, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{"
            "\"name\":\"never\"}}\n");
    still_works(&p);
    close(p.in);
    CHECK_STR(hear(&p), "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32603,"
                        "\"message\":\"Request cancelled\"}}");
    CHECK_INT(ended_within(&p, EXIT_MS + MARGIN_MS), 0);
}
