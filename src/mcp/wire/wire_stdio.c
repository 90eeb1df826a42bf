/* wire_stdio.c - messages as lines to and from a child process. */
#include "wire_line.h"
#include <stdio.h>

struct stdio_wire {
    struct wire wire;
    struct child *child;
    struct line_in lines;
    bool leaving; /* closing: its input has ended, and it may end by itself */
    struct timer patience;
    loop_fn *closed;
    void *closed_ctx;
};

static struct stdio_wire *of(struct wire *w) { return CONTAINER_OF(w, struct stdio_wire, wire); }

static void end_child(struct stdio_wire *s);

/* ---- reading ---- */

static void stdio_hold(struct wire *w, bool on) { line_in_hold(&of(w)->lines, on); }

static void on_data(void *ctx, struct span bytes)
{
    struct stdio_wire *s = ctx;

    line_in_feed(&s->lines, bytes);
}

static char *on_room(void *ctx, size_t *n)
{
    struct stdio_wire *s = ctx;

    return line_in_room(&s->lines, n);
}

static void on_err_line(void *ctx, struct span line)
{
    struct stdio_wire *s = ctx;

    if (!s->leaving)
        s->wire.events->stderr_line(s->wire.ctx, line);
}

/* The end of a server explains itself best by what it wrote last. */
static void tell_end(struct wire *w)
{
    struct stdio_wire *s = of(w);
    AUTO_BUF struct buf words = { 0 };
    struct wire_fault fault = { 0 };
    char how[80];

    lines_end(&s->lines.lines);
    if (s->lines.shut)
        return;
    s->lines.shut = true;
    timer_stop(&s->patience);
    child_describe(s->child, how, sizeof how);
    child_last_words(s->child, &words);
    fail(&fault.err, PB_E_CLOSED, "the server %s%s%s", how, words.n ? "; stderr: " : "",
         words.n ? buf_cstr(&words) : "");
    text_make_printable(fault.err.msg);
    s->wire.events->closed(s->wire.ctx, &fault);
}

static void on_exited(void *ctx, int status, int signal)
{
    struct stdio_wire *s = ctx;

    (void)status;
    (void)signal;
    timer_stop(&s->patience);
    if (s->leaving)
        end_child(s);
    else
        line_in_end(&s->lines);
}

/* ---- writing ---- */

static int stdio_send(struct wire *w, const struct wire_out *m, struct pb_error *err)
{
    struct stdio_wire *s = of(w);
    struct stream *in = child_in(s->child);
    size_t queued = stream_queued(in);
    int rc;

    if (s->lines.shut)
        return fail(err, PB_E_CLOSED, "the server has ended");
    if (wire_queue_full(queued, m))
        return fail(err, PB_E_BUSY, "the server does not read its input; %zu bytes are waiting",
                    queued);
    rc = wire_write_line(in, m->text, err);
    if (rc != -(int)PB_E_CLOSED)
        return rc;
    /* It has ended, most likely, and how it did tells more: that is about to be known. */
    if (!timer_running(&s->patience))
        timer_start(&s->patience, MCP_STDIN_CLOSED_MS);
    return 0;
}

/* ---- life ---- */

static void on_gone(void *ctx)
{
    struct stdio_wire *s = ctx;
    loop_fn *fn = s->closed;
    void *fn_ctx = s->closed_ctx;

    free(s);
    if (fn)
        fn(fn_ctx);
}

static void on_child_closed(void *ctx)
{
    struct stdio_wire *s = ctx;

    line_in_done(&s->lines, on_gone, s);
}

/* The whole stop takes no longer than one grace time. */
static void end_child(struct stdio_wire *s)
{
    timer_stop(&s->patience);
    child_stop(s->child, CHILD_STOP_MS - MCP_STDIN_CLOSED_MS);
    child_close(TAKE(s->child), on_child_closed, s);
}

/* Closing: it did not heed the end of its input. Else: it closed its input, but did not end. */
static void on_patience_over(void *ctx)
{
    struct stdio_wire *s = ctx;
    struct wire_fault fault = { 0 };

    if (s->leaving) {
        end_child(s);
        return;
    }
    if (s->lines.shut)
        return;
    s->lines.shut = true;
    fail(&fault.err, PB_E_CLOSED, "the server has closed its input");
    s->wire.events->closed(s->wire.ctx, &fault);
}

/* First only the end of input, as the protocol wants it: a server that heeds it can put its house
 * in order, which SIGTERM would not let it. */
static void stdio_close(struct wire *w, loop_fn *fn, void *ctx)
{
    struct stdio_wire *s = of(w);
    bool ended = s->lines.shut || s->lines.ended;

    s->closed = fn;
    s->closed_ctx = ctx;
    s->leaving = s->lines.shut = true;
    if (ended) {
        end_child(s);
        return;
    }
    stream_read(child_out(s->child), true); /* a full pipe must not keep it from ending */
    stream_shutdown(child_in(s->child), MCP_STDIN_CLOSED_MS, NULL, NULL);
    timer_start(&s->patience, MCP_STDIN_CLOSED_MS);
}

static pid_t stdio_pid(const struct wire *w)
{
    const struct stdio_wire *s = CONTAINER_OF((struct wire *)(uintptr_t)w, struct stdio_wire, wire);

    return child_pid(s->child);
}

static void stdio_last_words(const struct wire *w, struct buf *out)
{
    const struct stdio_wire *s = CONTAINER_OF((struct wire *)(uintptr_t)w, struct stdio_wire, wire);

    child_last_words(s->child, out);
}

static const struct wire_ops stdio_ops = {
    .kind = WIRE_STDIO,
    .send = stdio_send,
    .hold = stdio_hold,
    .pid = stdio_pid,
    .last_words = stdio_last_words,
    .close = stdio_close,
};

int wire_stdio_open(struct wire **out, struct pb_loop *l, const struct pb_client_options *opts,
                    const struct wire_events *events, void *ctx, struct pb_error *err)
{
    static const struct child_events child_events = {
        .out = { .data = on_data, .room = on_room },
        .err_line = on_err_line,
        .exited = on_exited,
    };
    const struct child_spec spec = { .command = opts->command,
                                     .args = opts->args,
                                     .env = opts->env,
                                     .cwd = opts->cwd,
                                     .clean_env = opts->clean_env };
    struct stdio_wire *s = NEW(struct stdio_wire);
    int rc;

    s->wire = (struct wire){ &stdio_ops, events, ctx, l, opts, true };
    timer_init(&s->patience, l, on_patience_over, s);
    line_in_init(&s->lines, &s->wire, tell_end);
    rc = child_spawn(&s->child, l, &spec, &child_events, s, err);
    if (rc < 0) {
        free(s);
        return rc;
    }
    s->lines.from = child_out(s->child);
    *out = &s->wire;
    return 0;
}
