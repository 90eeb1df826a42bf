/* wire_memory.c - messages to a server of this process. */
#include "mcp/rpc/rpc.h"
#include "wire.h"

struct memory_wire {
    struct wire wire;
    struct memory_end *end;
    bool over;
};

static struct memory_wire *of(struct wire *w) { return CONTAINER_OF(w, struct memory_wire, wire); }

static void on_message(void *ctx, struct span message)
{
    struct memory_wire *m = ctx;
    AUTO(blob) struct blob *bytes = NULL;

    if (message.n > m->wire.opts->max_message_bytes) {
        size_t head = message.n < REQUEST_ID_PEEK ? message.n : REQUEST_ID_PEEK;

        m->wire.events->oversize(m->wire.ctx, span_make(message.p, head), message.n);
        return;
    }
    bytes = blob_new(message);
    m->wire.events->message(m->wire.ctx, bytes, 0, 0);
}

static void on_closed(void *ctx)
{
    struct memory_wire *m = ctx;
    struct wire_fault fault = { 0 };

    m->over = true;
    fail(&fault.err, PB_E_CLOSED, "the server has ended the connection");
    m->wire.events->closed(m->wire.ctx, &fault);
}

static int memory_wire_send(struct wire *w, const struct wire_out *m, struct pb_error *err)
{
    if (of(w)->over)
        return fail(err, PB_E_CLOSED, "the server has ended the connection");
    memory_send(of(w)->end, &m->text, 1);
    return 0;
}

static void memory_wire_close(struct wire *w, loop_fn *fn, void *ctx)
{
    struct memory_wire *m = of(w);

    memory_close(m->end);
    loop_free_later(w->loop, m, free);
    if (fn)
        loop_defer(w->loop, fn, ctx);
}

static const struct wire_ops memory_ops = {
    .kind = WIRE_MEMORY,
    .send = memory_wire_send,
    .close = memory_wire_close,
};

int wire_memory_open(struct wire **out, struct pb_loop *l, const struct pb_client_options *opts,
                     const struct wire_events *events, void *ctx, struct pb_error *err)
{
    static const struct memory_events memory_events = { on_message, on_closed };
    struct memory_wire *m = NEW(struct memory_wire);
    int rc;

    m->wire = (struct wire){ &memory_ops, events, ctx, l, opts, true };
    rc = memory_connect(opts->server, &m->end, &memory_events, m, err);
    if (rc < 0) {
        free(m);
        return rc;
    }
    *out = &m->wire;
    return 0;
}
