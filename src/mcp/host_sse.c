#include "host_sse.h"
#include "batch.h"

struct sse_host {
    struct pb_server *server;
    struct pb_loop *loop;
    struct host_streams *streams;
    char *messages_path;
    struct map clients; /* by session id */
    bool draining;
    loop_fn *idle_fn;
    void *idle_ctx;
};

struct sse_client {
    struct seat seat;
    struct sse_host *host;
    struct peer *peer;
    struct host_stream *stream;
    const char *principal;
    char id[ID_CHARS + 1];
};

static void check_idle(struct sse_host *h)
{
    struct map_slot *slot;
    loop_fn *fn = h->idle_fn;

    if (!fn)
        return;
    MAP_FOREACH(slot, &h->clients)
        if (peer_in_flight(((struct sse_client *)slot->value)->peer))
            return;
    h->idle_fn = NULL;
    loop_defer(h->loop, fn, h->idle_ctx);
}

static void answer_batch(struct sse_client *c, struct batch *b)
{
    struct span text = batch_finish(b);

    if (text.n)
        host_stream_send(c->stream, SEND_RESPONSE, &text, 1);
    batch_free(b);
}

static void on_send(void *transport, struct request *about, enum send_kind kind,
                    const struct span *parts, size_t n)
{
    struct sse_client *c = transport;
    struct batch *b = about ? about->exchange : NULL;

    if (b && kind == SEND_RESPONSE)
        batch_add(b, parts, n);
    else
        host_stream_send(c->stream, kind, parts, n);
}

static void on_finished(void *transport, struct request *about)
{
    struct sse_client *c = transport;
    struct batch *b = about->exchange;

    if (b && batch_ended(b))
        answer_batch(c, b);
    check_idle(c->host);
}

static const struct peer_ops sse_peer_ops = { .send = on_send, .finished = on_finished };

static void client_end(struct sse_client *c)
{
    struct sse_host *h = c->host;

    map_del(&h->clients, span_of(c->id));
    seat_leave(&c->seat);
    peer_close(c->peer);
    host_stream_free(c->stream);
    loop_free_later(h->loop, c, free);
    check_idle(h);
}

static void on_gone(void *ctx) { client_end(ctx); }

static void seat_end(struct seat *seat) { client_end(CONTAINER_OF(seat, struct sse_client, seat)); }

/* NULL: no more are let in. */
static struct sse_client *client_new(struct sse_host *h, const char *principal)
{
    static const struct seat_ops ops = { .end = seat_end };
    struct sse_client *c = NEW(struct sse_client);

    if (h->draining || !seat_take(&c->seat, &h->streams->seats, principal, &ops)) {
        free(c);
        return NULL;
    }
    c->host = h;
    c->principal = principal;
    id_new(c->id);
    c->peer = peer_new(h->server, PEER_SESSION, &sse_peer_ops, c);
    peer_set_principal(c->peer, principal);
    c->stream = host_stream_new(h->streams, 0);
    map_put(&h->clients, span_of(c->id), c);
    return c;
}

void sse_host_open(struct sse_host *h, struct http_request *r, const char *principal)
{
    struct sse_client *c;
    AUTO_BUF struct buf uri = { 0 };

    if (!span_is(http_method(r), "GET")) {
        endpoint_refuse(r, 405, "Allow: GET\r\n", SPAN(""), RPC_SERVER_ERROR, "Method Not Allowed");
        return;
    }
    c = client_new(h, principal);
    if (!c) {
        endpoint_refuse(r, 503, "Retry-After: 60\r\n", SPAN(""), RPC_SERVER_ERROR,
                        "No more streams can be opened");
        return;
    }
    host_stream_attach(c->stream, r, NULL, on_gone, c);
    buf_printf(&uri, "%s?sessionId=%s", h->messages_path, c->id);
    host_stream_event(c->stream, "endpoint", buf_span(&uri));
}

/* NULL after a refusal. */
static struct sse_client *named_client(struct sse_host *h, struct http_request *r,
                                       const char *principal)
{
    AUTO_ARENA struct arena arena = { 0 };
    struct span id = http_query_get(http_query(r), "sessionId", &arena);
    struct sse_client *c = id.p ? map_get(&h->clients, id) : NULL;

    if (!id.p) {
        endpoint_refuse(r, 400, NULL, SPAN(""), RPC_SERVER_ERROR,
                        "Bad Request: sessionId is missing");
        return NULL;
    }
    if (!c || strcmp(c->principal, principal) != 0) {
        endpoint_refuse(r, 404, NULL, SPAN(""), RPC_SESSION_NOT_FOUND, "Session not found");
        return NULL;
    }
    return c;
}

void sse_host_post(struct sse_host *h, struct http_request *r, const char *principal)
{
    struct sse_client *c;
    struct message *m;
    struct batch *b = NULL;

    if (!span_is(http_method(r), "POST")) {
        endpoint_refuse(r, 405, "Allow: POST\r\n", SPAN(""), RPC_SERVER_ERROR,
                        "Method Not Allowed");
        return;
    }
    c = named_client(h, r, principal);
    if (!c)
        return;
    seat_touch(&c->seat);
    m = endpoint_read(r);
    if (!m)
        return;
    http_reply(r, 202, NULL, NULL, 0);
    if (m->rpc.kind == RPC_BATCH)
        b = batch_begin(c->peer, m);
    else
        peer_receive(c->peer, m, NULL, NULL);
    if (b)
        answer_batch(c, b);
}

struct sse_host *sse_host_new(struct pb_server *server, struct host_streams *streams,
                              const char *messages_path)
{
    struct sse_host *h = NEW(struct sse_host);

    h->server = server;
    h->loop = server_loop(server);
    h->streams = streams;
    h->messages_path = mem_dup(messages_path);
    return h;
}

void sse_host_drain(struct sse_host *h, loop_fn *fn, void *ctx)
{
    h->draining = true;
    h->idle_fn = fn;
    h->idle_ctx = ctx;
    check_idle(h);
}

static void free_host(void *p)
{
    struct sse_host *h = p;

    map_done(&h->clients);
    free(h->messages_path);
    free(h);
}

void sse_host_free(struct sse_host *h)
{
    struct map_slot *slot;

    h->idle_fn = NULL;
    MAP_FOREACH(slot, &h->clients)
        client_end(slot->value);
    loop_free_later(h->loop, h, free_host);
}
