/* wire_socket.c - messages as lines on a connected descriptor, such as a unix socket. It is closed
 * with the wire, or at once when there comes no wire of it: whoever brought it has given it away.
 */
#include "wire.h"
#include <errno.h>
#include <fcntl.h>

struct socket_wire {
    struct wire wire;
    struct stream *in, *out; /* two descriptors of one socket: the loop wants one for each */
    struct lines lines;
    int lines_in_turn;
    unsigned closing;
    bool over, leaving, resuming;
    char *ended; /* why nothing more comes; what came may not be handled yet. NULL: it may come */
    bool held; /* not read for now */
    loop_fn *closed;
    void *closed_ctx;
};

static struct socket_wire *of(struct wire *w) { return CONTAINER_OF(w, struct socket_wire, wire); }

static void free_wire(void *p)
{
    struct socket_wire *s = p;

    lines_done(&s->lines);
    free(s->ended);
    free(s);
}

static void unref(void *ctx)
{
    struct socket_wire *s = ctx;

    if (--s->closing)
        return;
    if (s->closed)
        s->closed(s->closed_ctx);
    loop_free_later(s->wire.loop, s, free_wire);
}

static void tell_end(struct socket_wire *s)
{
    struct wire_fault fault = { 0 };

    s->over = true;
    fail(&fault.err, PB_E_CLOSED, "%s", s->ended);
    s->wire.events->closed(s->wire.ctx, &fault);
}

static void resume(void *ctx)
{
    struct socket_wire *s = ctx;

    s->resuming = false;
    if (s->leaving) {
        unref(s);
        return;
    }
    if (s->held)
        return;
    s->lines_in_turn = 0;
    lines_resume(&s->lines);
    if (s->leaving || s->over || s->held || lines_stopped(&s->lines))
        return;
    if (s->ended)
        tell_end(s);
    else
        stream_read(s->in, true);
}

static void resume_later(struct socket_wire *s)
{
    if (s->resuming)
        return;
    s->resuming = true;
    if (!s->ended)
        stream_read(s->in, false);
    loop_defer(s->wire.loop, resume, s);
}

static void socket_hold(struct wire *w, bool on)
{
    struct socket_wire *s = of(w);

    if (s->held == on || s->leaving || s->over || s->ended)
        return;
    s->held = on;
    if (on)
        stream_read(s->in, false);
    else
        resume_later(s);
}

/* One chatty server must not starve the rest. */
static bool go_on(struct socket_wire *s)
{
    if (s->leaving || s->over || s->held)
        return false;
    if (++s->lines_in_turn < LOOP_LINES_PER_TURN)
        return true;
    resume_later(s);
    return false;
}

static bool on_line(void *ctx, struct span line)
{
    struct socket_wire *s = ctx;
    AUTO(blob) struct blob *bytes = NULL;

    if (s->leaving || s->over)
        return false;
    bytes = lines_keep(&s->lines, line);
    s->wire.events->message(s->wire.ctx, bytes, 0, 0);
    return go_on(s);
}

static bool on_oversize(void *ctx, struct span head, uint64_t total)
{
    struct socket_wire *s = ctx;

    if (s->leaving || s->over)
        return false;
    s->wire.events->oversize(s->wire.ctx, head, total);
    return go_on(s);
}

static void on_data(void *ctx, struct span bytes)
{
    struct socket_wire *s = ctx;

    if (s->leaving)
        return;
    s->lines_in_turn = 0;
    lines_feed(&s->lines, bytes);
}

static void end(struct socket_wire *s, const char *why)
{
    if (s->over || s->leaving || s->ended)
        return;
    s->ended = mem_dup(why);
    if (s->held)
        resume_later(s);
    s->held = false; /* what is left is no more than was read */
    if (!s->resuming)
        tell_end(s); /* else when what is left has been handed on */
}

static void on_eof(void *ctx) { end(ctx, "the server has ended the connection"); }

static void on_error(void *ctx, const struct pb_error *err) { end(ctx, err->msg); }

static int socket_send(struct wire *w, const struct wire_out *m, struct pb_error *err)
{
    struct socket_wire *s = of(w);
    size_t queued = stream_queued(s->out);

    if (s->over || s->leaving)
        return fail(err, PB_E_CLOSED, "the server has ended the connection");
    if (wire_queue_full(queued, m))
        return fail(err, PB_E_BUSY, "the server does not read; %zu bytes are waiting", queued);
    return wire_write_line(s->out, m->text, err);
}

static void on_flushed(void *ctx, bool flushed)
{
    struct socket_wire *s = ctx;

    (void)flushed;
    stream_close(s->out, unref, s);
}

static void socket_close(struct wire *w, loop_fn *fn, void *ctx)
{
    struct socket_wire *s = of(w);

    s->closed = fn;
    s->closed_ctx = ctx;
    s->leaving = true;
    s->closing = 2 + s->resuming;
    stream_close(s->in, unref, s);
    if (s->over)
        stream_close(s->out, unref, s);
    else
        stream_shutdown(s->out, MCP_GOODBYE_MS, on_flushed, s);
}

static const struct wire_ops socket_ops = {
    .kind = WIRE_STDIO,
    .send = socket_send,
    .hold = socket_hold,
    .close = socket_close,
};

int wire_socket_open(struct wire **out, struct pb_loop *l, const struct pb_client_options *opts,
                     const struct wire_events *events, void *ctx, struct pb_error *err)
{
    static const struct lines_events line_events = { on_line, on_oversize };
    static const struct stream_events in_events = { .data = on_data,
                                                    .eof = on_eof,
                                                    .error = on_error };
    static const struct stream_events out_events = { 0 };
    int twin = fcntl(opts->fd, F_DUPFD_CLOEXEC, 3);
    struct socket_wire *s;

    if (twin < 0) {
        fail_sys(err, errno, "descriptor %d", opts->fd);
        close(opts->fd);
        return -PB_E_SYSTEM;
    }
    s = NEW(struct socket_wire);
    s->wire = (struct wire){ &socket_ops, events, ctx, l, opts, true };
    if (stream_open(&s->in, l, opts->fd, false, &in_events, s, err) < 0) {
        close(opts->fd);
        close(twin);
        free(s);
        return fail_in(err, "descriptor %d", opts->fd);
    }
    if (stream_open(&s->out, l, twin, false, &out_events, s, err) < 0) {
        close(twin);
        stream_close(s->in, NULL, NULL);
        loop_free_later(l, s, free);
        return fail_in(err, "descriptor %d", opts->fd);
    }
    lines_init(&s->lines, opts->max_message_bytes, &line_events, s);
    stream_read(s->in, true);
    *out = &s->wire;
    return 0;
}
