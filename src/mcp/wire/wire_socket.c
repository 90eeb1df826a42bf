/* wire_socket.c - messages as lines on a connected descriptor, such as a unix socket. It is closed
 * with the wire, or at once when there comes no wire of it: whoever brought it has given it away.
 */
#include "wire_line.h"
#include <errno.h>
#include <fcntl.h>

struct socket_wire {
    struct wire wire;
    struct line_in lines;
    struct stream *in, *out; /* two descriptors of one socket: the loop wants one for each */
    unsigned closing;
    char *why; /* nothing more comes; NULL: it may come */
    loop_fn *closed;
    void *closed_ctx;
};

static struct socket_wire *of(struct wire *w) { return CONTAINER_OF(w, struct socket_wire, wire); }

static void free_wire(void *p)
{
    struct socket_wire *s = p;

    free(s->why);
    free(s);
}

static void on_gone(void *ctx)
{
    struct socket_wire *s = ctx;

    if (s->closed)
        s->closed(s->closed_ctx);
    loop_free_later(s->wire.loop, s, free_wire);
}

static void unref(void *ctx)
{
    struct socket_wire *s = ctx;

    if (!--s->closing)
        line_in_done(&s->lines, on_gone, s);
}

static void tell_end(struct wire *w)
{
    struct socket_wire *s = of(w);
    struct wire_fault fault = { 0 };

    s->lines.shut = true;
    fail(&fault.err, PB_E_CLOSED, "%s", s->why);
    s->wire.events->closed(s->wire.ctx, &fault);
}

static void socket_hold(struct wire *w, bool on) { line_in_hold(&of(w)->lines, on); }

static void on_data(void *ctx, struct span bytes)
{
    struct socket_wire *s = ctx;

    line_in_feed(&s->lines, bytes);
}

static char *on_room(void *ctx, size_t *n)
{
    struct socket_wire *s = ctx;

    return line_in_room(&s->lines, n);
}

static void end(struct socket_wire *s, const char *why)
{
    if (s->why)
        return;
    s->why = mem_dup(why);
    line_in_end(&s->lines);
}

static void on_eof(void *ctx) { end(ctx, "the server has ended the connection"); }

static void on_error(void *ctx, const struct pb_error *err) { end(ctx, err->msg); }

static int socket_send(struct wire *w, const struct wire_out *m, struct pb_error *err)
{
    struct socket_wire *s = of(w);
    size_t queued = stream_queued(s->out);

    if (s->lines.shut)
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
    s->closing = 2;
    stream_close(s->in, unref, s);
    if (s->lines.shut)
        stream_close(s->out, unref, s);
    else
        stream_shutdown(s->out, MCP_GOODBYE_MS, on_flushed, s);
    s->lines.shut = true;
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
    static const struct stream_events in_events = {
        .data = on_data, .room = on_room, .eof = on_eof, .error = on_error
    };
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
    line_in_init(&s->lines, &s->wire, tell_end);
    s->lines.from = s->in;
    stream_read(s->in, true);
    *out = &s->wire;
    return 0;
}
