/* server_rig.h - a real server with a few tools on a loop whose clock stands still, for the tests
 * of transports. The test turns the loop itself: what happens, happens when it says so. */
#pragma once
/* No test uses all of it. */
#pragma GCC diagnostic ignored "-Wunused-function"
#include "base/base.h"
#include "io/io.h"
#include "manual_clock.h"
#include "patchbay.h"
#include "tap.h"
#include "json/json.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>

enum { RIG_TURNS_MAX = 20000, RIG_LOG_MAX = 65536 };

struct rig {
    struct manual_clock clock;
    struct pb_loop *loop;
    struct pb_server *server;
    struct pb_call *held;  /* the last call of the tool `later` */
    int to, from;          /* stdio: our ends */
    int in, out;           /* stdio: the server's ends */
    struct buf got;        /* stdio: read and not yet looked at */
    struct arena arena;    /* what the rig hands out lives until the test ends */
    char log[RIG_LOG_MAX]; /* every line that was logged */
    size_t log_n;
};

/* ---- tools -------------------------------------------------------------------------------- */

static int rig_echo(struct pb_call *call, void *ctx)
{
    return (void)ctx, pb_reply_text(call, "%s", pb_arg_string(call, "text"));
}

/* The test answers it: rig_finish(). */
static int rig_later(struct pb_call *call, void *ctx)
{
    struct rig *rig = ctx;

    rig->held = call;
    pb_call_defer(call);
    return 0;
}

/* Waits on a worker until it is cancelled. */
static atomic_int rig_waiting, rig_woken;
static int rig_wait(struct pb_call *call, void *ctx)
{
    (void)ctx;
    atomic_fetch_add(&rig_waiting, 1);
    while (!pb_call_wait(call, 60000))
        continue;
    atomic_fetch_add(&rig_woken, 1);
    return pb_fail(call, "cancelled");
}

static int rig_steps(struct pb_call *call, void *ctx)
{
    (void)ctx;
    pb_call_progress(call, 1, 2, NULL);
    pb_call_progress(call, 2, 2, NULL);
    return pb_reply_text(call, "done");
}

static int rig_big(struct pb_call *call, void *ctx)
{
    size_t n = (size_t)pb_arg_int(call, "n");
    AUTO_FREE char *text = mem_alloc(n + 1);

    (void)ctx;
    memset(text, pb_arg_string(call, "letter")[0], n);
    return pb_reply_bytes(call, text, n);
}

static int rig_ask(struct pb_call *call, void *ctx)
{
    static const char schema[] =
        "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"}}}";
    const char *answer;
    int rc = pb_ask_form(call, "who", "Who is it?", schema, &answer);

    (void)ctx;
    return rc < 0 ? rc : pb_reply_text(call, "answer %s", answer);
}

static int rig_lines(struct pb_call *call, void *ctx)
{
    return (void)ctx, pb_reply_structured(call, "{\n  \"a\": [\n    1,\r\n    2\n  ]\n}");
}

static void rig_add_tools(struct rig *rig)
{
    static const struct pb_param text[] = { { "text", PB_STRING, "comes back" }, { 0 } };
    static const struct pb_param size[] = {
        { "n", PB_INT, "bytes" },
        { "letter", PB_STRING, "what it is made of", .fallback = "\"x\"" },
        { 0 },
    };
    const struct pb_tool tools[] = {
        { "echo", .params = text, .flags = PB_ON_LOOP, .run = rig_echo },
        { "later", .flags = PB_ON_LOOP, .run = rig_later, .ctx = rig },
        { "wait", .run = rig_wait },
        { "steps", .flags = PB_ON_LOOP, .run = rig_steps },
        { "big", .params = size, .flags = PB_ON_LOOP, .run = rig_big },
        { "big_on_worker", .params = size, .run = rig_big },
        { "ask", .flags = PB_ON_LOOP, .run = rig_ask },
        { "lines", .flags = PB_ON_LOOP, .run = rig_lines },
    };

    for (size_t i = 0; i < ARRAY_LEN(tools); i++)
        CHECK_INT(pb_server_add_tool(rig->server, &tools[i], NULL), 0);
}

/* ---- the server --------------------------------------------------------------------------- */

static void rig_log(void *ctx, enum pb_log_level level, const char *line)
{
    struct rig *rig = ctx;
    int n = snprintf(rig->log + rig->log_n, sizeof rig->log - rig->log_n, "%d %s\n", level, line);

    if (n > 0 && (size_t)n < sizeof rig->log - rig->log_n)
        rig->log_n += (size_t)n;
}

static void rig_open(struct rig *rig, const struct pb_server_options *options)
{
    struct pb_server_options o = PB_SERVER_OPTIONS_INIT;

    memset(rig, 0, sizeof *rig);
    if (options)
        o = *options;
    manual_clock_init(&rig->clock);
    rig->loop = loop_new(&rig->clock.clock);
    rig->to = rig->from = rig->in = rig->out = -1;
    o.loop = rig->loop;
    rig->server = pb_server_new(&o);
    rig_add_tools(rig);
    pb_log_to(rig_log, rig, PB_LOG_INFO);
}

static void rig_turn(struct rig *rig) { loop_turn(rig->loop, false); }

static void rig_close(struct rig *rig)
{
    int fds[] = { rig->to, rig->from, rig->in, rig->out };

    pb_server_free(rig->server);
    loop_free(rig->loop);
    pb_log_to(NULL, NULL, PB_LOG_INFO);
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        if (fds[i] >= 0)
            close(fds[i]);
    buf_done(&rig->got);
    arena_done(&rig->arena);
}

/* Answers the call of `later`. */
static void rig_finish(struct rig *rig, const char *text)
{
    struct pb_call *call = rig->held;

    CHECK(call);
    rig->held = NULL;
    pb_reply_text(call, "%s", text);
    pb_call_finish(call, 0);
}

/* Turns the loop until it has nothing to do for the moment. */
static void rig_settle(struct rig *rig)
{
    for (int i = 0; i < 20; i++)
        rig_turn(rig);
}

/* For a worker or a descriptor: gives others a moment, without deciding anything by time. */
static void rig_breathe(struct rig *rig, int fd)
{
    struct pollfd p = { .fd = fd, .events = POLLIN };

    rig_turn(rig);
    poll(&p, fd >= 0, 1);
}

#define RIG_UNTIL(rig, cond)                               \
    do {                                                   \
        int turns_ = 0;                                    \
        while (!(cond)) {                                  \
            if (++turns_ > RIG_TURNS_MAX)                  \
                TAP_FAIL("%s did not become true", #cond); \
            rig_breathe((rig), -1);                        \
        }                                                  \
    } while (0)

/* ---- stdio -------------------------------------------------------------------------------- */

static void rig_stdio(struct rig *rig, const struct pb_server_options *options)
{
    int in[2], out[2];
    struct pb_error err;

    rig_open(rig, options);
    CHECK_INT(pipe2(in, O_CLOEXEC), 0);
    CHECK_INT(pipe2(out, O_CLOEXEC), 0);
    rig->to = in[1];
    rig->from = out[0];
    CHECK_INT(fcntl(rig->to, F_SETFL, O_NONBLOCK), 0);
    CHECK_INT(fcntl(rig->from, F_SETFL, O_NONBLOCK), 0);
    if (pb_server_stdio(rig->server, in[0], out[1], &err) < 0)
        TAP_FAIL("%s", err.msg);
    rig->in = in[0]; /* the descriptors stay ours */
    rig->out = out[1];
}

static void rig_read(struct rig *rig)
{
    for (;;) {
        char *room = buf_reserve(&rig->got, 65536);
        ssize_t n = rig->from < 0 ? 0 : read(rig->from, room, 65536);

        if (n <= 0)
            return;
        rig->got.n += (size_t)n;
    }
}

/* Writes it all, turning the loop and reading answers while the pipe is full. */
static void rig_send_bytes(struct rig *rig, const char *p, size_t n)
{
    for (int stuck = 0; n;) {
        ssize_t done = write(rig->to, p, n);

        if (done > 0) {
            p += done;
            n -= (size_t)done;
            stuck = 0;
            continue;
        }
        CHECK(done < 0 && errno == EAGAIN);
        CHECK(++stuck < RIG_TURNS_MAX);
        rig_turn(rig);
        rig_read(rig);
    }
}

static void rig_send(struct rig *rig, const char *text) { rig_send_bytes(rig, text, strlen(text)); }

static void rig_end_input(struct rig *rig)
{
    close(rig->to);
    rig->to = -1;
}

/* The next line of the output, without its end; NULL if there is none yet. */
static const char *rig_line_now(struct rig *rig)
{
    char *end = rig->got.n ? memchr(rig->got.p, '\n', rig->got.n) : NULL;
    const char *line;

    if (!end) {
        rig_read(rig);
        end = rig->got.n ? memchr(rig->got.p, '\n', rig->got.n) : NULL;
    }
    if (!end)
        return NULL;
    line = arena_dup(&rig->arena, span_make(rig->got.p, (size_t)(end - rig->got.p)));
    buf_consume(&rig->got, (size_t)(end - rig->got.p) + 1);
    return line;
}

static const char *rig_line(struct rig *rig)
{
    const char *line = rig_line_now(rig);

    for (int i = 0; !line; i++) {
        if (i > RIG_TURNS_MAX)
            TAP_FAIL("no line came");
        rig_turn(rig);
        line = rig_line_now(rig);
        if (!line && i > 50)
            rig_breathe(rig, rig->from);
    }
    return line;
}

/* Nothing more comes, however often the loop turns. */
static void rig_no_line(struct rig *rig)
{
    rig_settle(rig);
    CHECK(!rig_line_now(rig));
}

#define RIG_CALL(id, tool, args)                                                                \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"tools/call\",\"params\":{\"name\":\"" tool \
    "\",\"arguments\":" args "}}\n"
#define RIG_INITIALIZE(version)                                                                  \
    "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"                       \
    "\"protocolVersion\":\"" version "\",\"capabilities\":{\"elicitation\":{}},\"clientInfo\":{" \
    "\"name\":\"rig\",\"version\":\"1\"}}}\n"
#define RIG_TEXT_RESULT(id, text)     \
    "{\"jsonrpc\":\"2.0\",\"id\":" id \
    ",\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"" text "\"}]}}"
