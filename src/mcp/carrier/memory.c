#include "mcp/rpc/rpc.h"
#include "mcp/serve/serve.h"
#include "missed.h"

struct letter {
    struct list link;
    struct blob *bytes;
};

/* Letters on their way in one direction. */
struct memory_post {
    struct list letters;
    size_t n, bytes;
    bool due; /* the deferred call that delivers is under way */
};

struct memory_end {
    struct pb_server *server;
    struct pb_loop *loop;
    struct peer *peer; /* NULL: the connection has ended */
    struct memory_events events;
    void *ctx;
    struct memory_post in, out; /* as the server sees it */
    struct missed missed;
    bool client_gone, closed_due;
    unsigned refs; /* the client, the server, and deferred calls */
    struct timer grace;
    loop_fn *drained_fn;
    void *drained_ctx;
};

static void end_unref(struct memory_end *e)
{
    if (--e->refs == 0)
        loop_free_later(e->loop, e, free); /* somebody up the stack may still look at it */
}

static void post_clear(struct memory_post *p)
{
    struct list *pos, *safe;

    LIST_FOREACH(pos, safe, &p->letters) {
        struct letter *l = CONTAINER_OF(pos, struct letter, link);

        blob_unref(l->bytes);
        free(l);
    }
    list_init(&p->letters);
    p->n = p->bytes = 0;
}

static struct blob *post_take(struct memory_post *p)
{
    struct letter *l = CONTAINER_OF(p->letters.next, struct letter, link);
    struct blob *bytes = l->bytes;

    list_remove(&l->link);
    p->n--;
    p->bytes -= bytes->n;
    free(l);
    return bytes;
}

/* False when there is no room. */
static bool post_put(struct memory_post *p, const struct span *parts, size_t n)
{
    struct buf text = { 0 };
    struct letter *l;
    size_t size = spans_size(parts, n);

    if (p->n >= MCP_MEMORY_QUEUE_MAX || size > MCP_MEMORY_BYTES_MAX - p->bytes)
        return false;
    buf_reserve(&text, size + 1);
    for (size_t i = 0; i < n; i++)
        buf_add_span(&text, parts[i]);
    l = NEW(struct letter);
    l->bytes = blob_take_buf(&text);
    list_append(&p->letters, &l->link);
    p->n++;
    p->bytes += size;
    return true;
}

static void report_closed(void *ctx)
{
    struct memory_end *e = ctx;

    e->closed_due = false;
    if (!e->client_gone && e->events.closed)
        e->events.closed(e->ctx);
    end_unref(e);
}

/* Ends the connection from the server's side; the client is told unless it was the one. */
static void hang_up(struct memory_end *e)
{
    struct peer *p = TAKE(e->peer);
    loop_fn *fn = e->drained_fn;

    if (!p)
        return;
    timer_stop(&e->grace);
    peer_close(p);
    post_clear(&e->in);
    post_clear(&e->out);
    e->drained_fn = NULL;
    if (fn)
        fn(e->drained_ctx);
    if (!e->client_gone && !e->closed_due) {
        e->closed_due = true;
        e->refs++;
        loop_defer(e->loop, report_closed, e);
    }
}

static void leave_server(struct memory_end *e)
{
    if (!e->peer)
        return;
    e->drained_fn = NULL; /* the server knows */
    server_forget_carrier(e->server, e);
    hang_up(e);
    end_unref(e); /* the server's reference */
}

static void answer_batch(struct memory_end *e, struct batch *b);

static void take_in(struct memory_end *e, struct blob *take_bytes)
{
    struct message *m = message_new(take_bytes);
    struct batch *b = NULL;

    if (m->rpc.kind == RPC_BATCH)
        b = batch_begin(e->peer, m, NULL);
    else
        peer_receive(e->peer, m, NULL, NULL);
    if (b)
        answer_batch(e, b);
}

static void schedule(struct memory_end *e, struct memory_post *p, loop_fn *fn)
{
    if (p->due)
        return;
    p->due = true;
    e->refs++;
    loop_defer(e->loop, fn, e);
}

static void deliver_in(void *ctx)
{
    struct memory_end *e = ctx;

    e->in.due = false;
    for (int i = 0; i < LOOP_LINES_PER_TURN && e->peer && e->in.n; i++)
        take_in(e, post_take(&e->in));
    if (e->peer && e->in.n)
        schedule(e, &e->in, deliver_in);
    end_unref(e);
}

static void check_drained(struct memory_end *e)
{
    loop_fn *fn = e->drained_fn;

    if (!fn || e->out.n || (e->peer && peer_in_flight(e->peer)))
        return;
    e->drained_fn = NULL;
    timer_stop(&e->grace);
    fn(e->drained_ctx);
}

/* Far below the bounds, where the connection ends. */
static bool is_behind(const struct memory_end *e)
{
    return e->out.bytes > STREAM_QUEUE_HIGH || e->out.n > MCP_MEMORY_QUEUE_MAX / 2;
}

static void send_out(struct memory_end *e, const struct span *parts, size_t n);

static void tell_missed(struct memory_end *e)
{
    AUTO_BUF struct buf text = { 0 };
    struct span whole;

    missed_tell(&e->missed, &text);
    whole = buf_span(&text);
    if (whole.n)
        send_out(e, &whole, 1);
}

static void deliver_out(void *ctx)
{
    struct memory_end *e = ctx;

    e->out.due = false;
    for (int i = 0; i < LOOP_LINES_PER_TURN && !e->client_gone && e->out.n; i++) {
        AUTO(blob) struct blob *bytes = post_take(&e->out);

        e->events.message(e->ctx, blob_span(bytes));
    }
    if (e->missed.n && !is_behind(e))
        tell_missed(e);
    if (e->out.n)
        schedule(e, &e->out, deliver_out);
    check_drained(e);
    end_unref(e);
}

static void overflow(void *ctx)
{
    struct memory_end *e = ctx;

    log_warn("an in-memory client or server does not keep up; the connection ends");
    leave_server(e);
    end_unref(e);
}

/* May be inside the peer, or inside the client's call. */
static void overflow_later(struct memory_end *e)
{
    e->refs++;
    loop_defer(e->loop, overflow, e);
}

static void send_out(struct memory_end *e, const struct span *parts, size_t n)
{
    if (!e->peer || e->client_gone)
        return;
    if (post_put(&e->out, parts, n))
        schedule(e, &e->out, deliver_out);
    else
        overflow_later(e);
}

static void answer_batch(struct memory_end *e, struct batch *b)
{
    struct span text = batch_finish(b);

    if (text.n)
        send_out(e, &text, 1);
    batch_free(b);
}

static void on_send(void *transport, struct request *about, enum send_kind kind,
                    const struct span *parts, size_t n)
{
    struct memory_end *e = transport;
    struct batch *b = about ? about->exchange : NULL;

    if (b && kind == SEND_RESPONSE)
        batch_add(b, about->id, parts, n);
    else if (!missed_drop(&e->missed, kind, is_behind(e)))
        send_out(e, parts, n);
}

static void on_finished(void *transport, struct request *about)
{
    struct memory_end *e = transport;
    struct batch *b = about->exchange;

    if (b && batch_ended(b))
        answer_batch(e, b);
    if (e->drained_fn)
        schedule(e, &e->out, deliver_out); /* looks whether that was the last */
}

static const struct peer_ops memory_peer_ops = { .send = on_send, .finished = on_finished };

static void on_grace_over(void *ctx)
{
    struct memory_end *e = ctx;
    loop_fn *fn = e->drained_fn;

    e->drained_fn = NULL;
    if (fn)
        fn(e->drained_ctx);
}

static void drain(void *carrier, loop_fn *fn, void *ctx)
{
    struct memory_end *e = carrier;

    post_clear(&e->in);
    e->drained_fn = fn;
    e->drained_ctx = ctx;
    schedule(e, &e->out, deliver_out);
    timer_start(&e->grace, MCP_STOP_MS);
}

struct closing {
    struct memory_end *end;
    loop_fn *fn;
    void *ctx;
};

static void report_carrier_closed(void *ctx)
{
    struct closing *c = ctx;

    if (c->fn)
        c->fn(c->ctx);
    end_unref(c->end);
    free(c);
}

static void close_carrier(void *carrier, loop_fn *fn, void *ctx)
{
    struct memory_end *e = carrier;
    struct closing *c = NEW(struct closing);

    *c = (struct closing){ e, fn, ctx };
    hang_up(e);
    loop_defer(e->loop, report_carrier_closed, c); /* gives up the server's reference */
}

static const struct carrier_ops memory_carrier_ops = { .drain = drain, .close = close_carrier };

int memory_connect(struct pb_server *s, struct memory_end **out_client_end,
                   const struct memory_events *events, void *ctx, struct pb_error *err)
{
    struct memory_end *e;

    if (!strcmp(server_state(s), "closing"))
        return fail(err, PB_E_CLOSED, "the server is stopping");
    e = NEW(struct memory_end);
    *e = (struct memory_end){ .server = s, .loop = server_loop(s), .events = *events, .ctx = ctx };
    e->refs = 2;
    list_init(&e->in.letters);
    list_init(&e->out.letters);
    timer_init(&e->grace, e->loop, on_grace_over, e);
    e->peer = peer_new(s, PEER_MEMORY, &memory_peer_ops, e);
    server_add_carrier(s, &memory_carrier_ops, e);
    *out_client_end = e;
    return 0;
}

void memory_send(struct memory_end *e, const struct span *parts, size_t n)
{
    if (!e->peer || e->drained_fn)
        return;
    if (post_put(&e->in, parts, n))
        schedule(e, &e->in, deliver_in);
    else
        overflow_later(e);
}

void memory_close(struct memory_end *e)
{
    e->client_gone = true;
    leave_server(e);
    end_unref(e);
}
