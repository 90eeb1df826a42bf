/* host_kit.h - a real server with a few tools on a loop whose clock stands still, for the tests of
 * transports. The test turns the loop itself: what happens, happens when it says so. */
#pragma once
/* No test uses all of it. */
#pragma GCC diagnostic ignored "-Wunused-function"
#include "base/base.h"
#include "io/io.h"
#include "patchbay.h"
#include "tap.h"
#include "json/json.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>

enum { KIT_TURNS_MAX = 20000, KIT_LOG_MAX = 65536 };

struct kit {
    struct manual_clock clock;
    struct pb_loop *loop;
    struct pb_server *server;
    struct pb_call *held;  /* the last call of the tool `later` */
    int to, from;          /* stdio: our ends */
    int in, out;           /* stdio: the server's ends */
    struct buf got;        /* stdio: read and not yet looked at */
    struct arena arena;    /* what the kit hands out lives until the test ends */
    char log[KIT_LOG_MAX]; /* every line that was logged */
    size_t log_n;
};

/* ---- tools -------------------------------------------------------------------------------- */

static int kit_echo(struct pb_call *call, void *ctx)
{
    return (void)ctx, pb_reply_text(call, "%s", pb_arg_string(call, "text"));
}

/* The test answers it: kit_finish(). */
static int kit_later(struct pb_call *call, void *ctx)
{
    struct kit *k = ctx;

    k->held = call;
    pb_call_defer(call);
    return 0;
}

/* Waits on a worker until it is cancelled. */
static atomic_int kit_waiting, kit_woken;
static int kit_wait(struct pb_call *call, void *ctx)
{
    (void)ctx;
    atomic_fetch_add(&kit_waiting, 1);
    while (!pb_call_wait(call, 60000))
        continue;
    atomic_fetch_add(&kit_woken, 1);
    return pb_fail(call, "cancelled");
}

static int kit_steps(struct pb_call *call, void *ctx)
{
    (void)ctx;
    pb_call_progress(call, 1, 2, NULL);
    pb_call_progress(call, 2, 2, NULL);
    return pb_reply_text(call, "done");
}

static int kit_big(struct pb_call *call, void *ctx)
{
    size_t n = (size_t)pb_arg_int(call, "n");
    AUTO_FREE char *text = mem_alloc(n + 1);

    (void)ctx;
    memset(text, pb_arg_string(call, "letter")[0], n);
    return pb_reply_bytes(call, text, n);
}

static int kit_ask(struct pb_call *call, void *ctx)
{
    static const char schema[] =
        "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"}}}";
    const char *answer;
    int rc = pb_ask_form(call, "who", "Who is it?", schema, &answer);

    (void)ctx;
    return rc < 0 ? rc : pb_reply_text(call, "answer %s", answer);
}

static int kit_lines(struct pb_call *call, void *ctx)
{
    return (void)ctx, pb_reply_structured(call, "{\n  \"a\": [\n    1,\r\n    2\n  ]\n}");
}

static void kit_add_tools(struct kit *k)
{
    static const struct pb_param text[] = { { "text", PB_STRING, "comes back" }, { 0 } };
    static const struct pb_param size[] = {
        { "n", PB_INT, "bytes" },
        { "letter", PB_STRING, "what it is made of", .fallback = "\"x\"" },
        { 0 },
    };
    const struct pb_tool tools[] = {
        { "echo", .params = text, .flags = PB_ON_LOOP, .run = kit_echo },
        { "later", .flags = PB_ON_LOOP, .run = kit_later, .ctx = k },
        { "wait", .run = kit_wait },
        { "steps", .flags = PB_ON_LOOP, .run = kit_steps },
        { "big", .params = size, .flags = PB_ON_LOOP, .run = kit_big },
        { "big_on_worker", .params = size, .run = kit_big },
        { "ask", .flags = PB_ON_LOOP, .run = kit_ask },
        { "lines", .flags = PB_ON_LOOP, .run = kit_lines },
    };

    for (size_t i = 0; i < ARRAY_LEN(tools); i++)
        CHECK_INT(pb_server_add_tool(k->server, &tools[i], NULL), 0);
}

/* ---- the server --------------------------------------------------------------------------- */

static void kit_log(void *ctx, enum pb_log_level level, const char *line)
{
    struct kit *k = ctx;
    int n = snprintf(k->log + k->log_n, sizeof k->log - k->log_n, "%d %s\n", level, line);

    if (n > 0 && (size_t)n < sizeof k->log - k->log_n)
        k->log_n += (size_t)n;
}

static void kit_open(struct kit *k, const struct pb_server_options *options)
{
    struct pb_server_options o = PB_SERVER_OPTIONS_INIT;

    memset(k, 0, sizeof *k);
    if (options)
        o = *options;
    manual_clock_init(&k->clock);
    k->loop = loop_new(&k->clock.clock);
    k->to = k->from = k->in = k->out = -1;
    o.loop = k->loop;
    k->server = pb_server_new(&o);
    kit_add_tools(k);
    pb_log_to(kit_log, k, PB_LOG_INFO);
}

static void kit_turn(struct kit *k) { loop_turn(k->loop, false); }

static void kit_close(struct kit *k)
{
    int fds[] = { k->to, k->from, k->in, k->out };

    pb_server_free(k->server);
    loop_free(k->loop);
    pb_log_to(NULL, NULL, PB_LOG_INFO);
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        if (fds[i] >= 0)
            close(fds[i]);
    buf_done(&k->got);
    arena_done(&k->arena);
}

/* Answers the call of `later`. */
static void kit_finish(struct kit *k, const char *text)
{
    struct pb_call *call = k->held;

    CHECK(call);
    k->held = NULL;
    pb_reply_text(call, "%s", text);
    pb_call_finish(call, 0);
}

/* Turns the loop until it has nothing to do for the moment. */
static void kit_settle(struct kit *k)
{
    for (int i = 0; i < 20; i++)
        kit_turn(k);
}

/* For a worker or a descriptor: gives others a moment, without deciding anything by time. */
static void kit_breathe(struct kit *k, int fd)
{
    struct pollfd p = { .fd = fd, .events = POLLIN };

    kit_turn(k);
    poll(&p, fd >= 0, 1);
}

#define KIT_UNTIL(k, cond)                                 \
    do {                                                   \
        int turns_ = 0;                                    \
        while (!(cond)) {                                  \
            if (++turns_ > KIT_TURNS_MAX)                  \
                TAP_FAIL("%s did not become true", #cond); \
            kit_breathe((k), -1);                          \
        }                                                  \
    } while (0)

/* ---- stdio -------------------------------------------------------------------------------- */

static void kit_stdio(struct kit *k, const struct pb_server_options *options)
{
    int in[2], out[2];
    struct pb_error err;

    kit_open(k, options);
    CHECK_INT(pipe2(in, O_CLOEXEC), 0);
    CHECK_INT(pipe2(out, O_CLOEXEC), 0);
    k->to = in[1];
    k->from = out[0];
    CHECK_INT(fcntl(k->to, F_SETFL, O_NONBLOCK), 0);
    CHECK_INT(fcntl(k->from, F_SETFL, O_NONBLOCK), 0);
    if (pb_server_stdio(k->server, in[0], out[1], &err) < 0)
        TAP_FAIL("%s", err.msg);
    k->in = in[0]; /* the descriptors stay ours */
    k->out = out[1];
}

static void kit_read(struct kit *k)
{
    for (;;) {
        char *room = buf_reserve(&k->got, 65536);
        ssize_t n = k->from < 0 ? 0 : read(k->from, room, 65536);

        if (n <= 0)
            return;
        k->got.n += (size_t)n;
    }
}

/* Writes it all, turning the loop and reading answers while the pipe is full. */
static void kit_send_bytes(struct kit *k, const char *p, size_t n)
{
    for (int stuck = 0; n;) {
        ssize_t done = write(k->to, p, n);

        if (done > 0) {
            p += done;
            n -= (size_t)done;
            stuck = 0;
            continue;
        }
        CHECK(done < 0 && errno == EAGAIN);
        CHECK(++stuck < KIT_TURNS_MAX);
        kit_turn(k);
        kit_read(k);
    }
}

static void kit_send(struct kit *k, const char *text) { kit_send_bytes(k, text, strlen(text)); }

static void kit_end_input(struct kit *k)
{
    close(k->to);
    k->to = -1;
}

/* The next line of the output, without its end; NULL if there is none yet. */
static const char *kit_line_now(struct kit *k)
{
    char *end = k->got.n ? memchr(k->got.p, '\n', k->got.n) : NULL;
    const char *line;

    if (!end) {
        kit_read(k);
        end = k->got.n ? memchr(k->got.p, '\n', k->got.n) : NULL;
    }
    if (!end)
        return NULL;
    line = arena_dup(&k->arena, span_make(k->got.p, (size_t)(end - k->got.p)));
    buf_consume(&k->got, (size_t)(end - k->got.p) + 1);
    return line;
}

static const char *kit_line(struct kit *k)
{
    const char *line = kit_line_now(k);

    for (int i = 0; !line; i++) {
        if (i > KIT_TURNS_MAX)
            TAP_FAIL("no line came");
        kit_turn(k);
        line = kit_line_now(k);
        if (!line && i > 50)
            kit_breathe(k, k->from);
    }
    return line;
}

/* Nothing more comes, however often the loop turns. */
static void kit_no_line(struct kit *k)
{
    kit_settle(k);
    CHECK(!kit_line_now(k));
}

#define KIT_CALL(id, tool, args)                                                                \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"tools/call\",\"params\":{\"name\":\"" tool \
    "\",\"arguments\":" args "}}\n"
#define KIT_INITIALIZE(version)                                                                  \
    "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"                       \
    "\"protocolVersion\":\"" version "\",\"capabilities\":{\"elicitation\":{}},\"clientInfo\":{" \
    "\"name\":\"kit\",\"version\":\"1\"}}}\n"
#define KIT_TEXT_RESULT(id, text)     \
    "{\"jsonrpc\":\"2.0\",\"id\":" id \
    ",\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"" text "\"}]}}"
