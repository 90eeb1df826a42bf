#include "sse.h"
#include "io/http/http.h"
#include "mcp/rpc/rpc.h"
#include "mcp/serve/serve.h"
#include "missed.h"

struct sse_carrier {
    struct pb_server *server;
    struct pb_loop *loop;
    struct carrier_streams *streams;
    char *messages_path;
    struct map clients; /* by session id */
    bool draining;
    loop_fn *idle_fn;
    void *idle_ctx;
};

struct sse_client {
    struct seat seat;
    struct sse_carrier *carrier;
    struct peer *peer;
    struct carrier_stream *stream;
    const char *principal;
    struct list held; /* requests that wait until it has read */
    size_t batched;   /* bytes of answers to batches that are not over */
    bool steer_due, ended;
    char id[ID_CHARS + 1];
};

struct held {
    struct list at;
    struct sse_client *client;
    struct http_request *http;
    struct message *message;
};

static void check_idle(struct sse_carrier *h)
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
        carrier_stream_send(c->stream, SEND_RESPONSE, &text, 1);
    batch_free(b);
}

static void steer_later(struct sse_client *c);

static void answer(struct sse_client *c, const struct request *about, const struct span *parts,
                   size_t n)
{
    size_t waiting = carrier_stream_unread(c->stream) + c->batched;
    struct batch *b = about ? about->exchange : NULL;
    AUTO_BUF struct buf refusal = { 0 };
    struct span instead = missed_answer(&refusal, about, spans_size(parts, n), waiting);

    if (instead.p) {
        parts = &instead;
        n = 1;
    }
    if (b)
        batch_add(b, about->id, parts, n);
    else
        carrier_stream_send(c->stream, SEND_RESPONSE, parts, n);
}

static void on_send(void *transport, struct request *about, enum send_kind kind,
                    const struct span *parts, size_t n)
{
    struct sse_client *c = transport;

    if (kind == SEND_RESPONSE)
        answer(c, about, parts, n);
    else
        carrier_stream_send(c->stream, kind, parts, n);
    if (carrier_stream_full(c->stream) != peer_congested(c->peer))
        steer_later(c);
}

static void on_finished(void *transport, struct request *about)
{
    struct sse_client *c = transport;
    struct batch *b = about->exchange;

    if (b && batch_ended(b))
        answer_batch(c, b);
    check_idle(c->carrier);
}

static const struct peer_ops sse_peer_ops = { .send = on_send, .finished = on_finished };

/* ---- a client that does not keep up ---- */

static void receive(struct sse_client *c, struct http_request *r, struct message *take_message)
{
    struct batch *b = NULL;

    http_reply(r, 202, NULL, NULL, 0);
    if (take_message->rpc.kind == RPC_BATCH)
        b = batch_begin(c->peer, take_message, &c->batched);
    else
        peer_receive(c->peer, take_message, NULL, NULL);
    if (b)
        answer_batch(c, b);
}

static void held_free(struct held *h)
{
    list_remove(&h->at);
    message_free(h->message);
    free(h);
}

static void on_held_gone(void *ctx) { held_free(ctx); }

/* What it asks for makes more to read; all else may help. */
static bool must_wait(const struct sse_client *c, const struct message *m)
{
    return (m->rpc.kind == RPC_REQUEST || m->rpc.kind == RPC_BATCH) &&
           (carrier_stream_full(c->stream) || !list_empty(&c->held));
}

/* Not answered, it keeps its connection: so there are never many. */
static void hold(struct sse_client *c, struct http_request *r, struct message *take_message)
{
    struct held *h = NEW(struct held);

    *h = (struct held){ .client = c, .http = r, .message = take_message };
    list_append(&c->held, &h->at);
    http_on_gone(r, on_held_gone, h);
}

static void release(struct held *h)
{
    struct sse_client *c = h->client;
    struct http_request *r = h->http;
    struct message *m = TAKE(h->message);

    held_free(h);
    receive(c, r, m);
}

static void refuse_held(struct sse_client *c, int status, int code, const char *why)
{
    while (!list_empty(&c->held)) {
        struct held *h = CONTAINER_OF(c->held.next, struct held, at);

        endpoint_refuse(h->http, status, NULL, h->message->rpc.id, code, why);
        held_free(h);
    }
}

/* Tells the peer how things stand, and lets requests go on when there is room. */
static void steer(void *ctx)
{
    struct sse_client *c = ctx;

    c->steer_due = false;
    if (c->ended) {
        free(c);
        return;
    }
    peer_set_congested(c->peer, carrier_stream_full(c->stream));
    for (int i = 0; i < LOOP_LINES_PER_TURN && !list_empty(&c->held); i++) {
        if (carrier_stream_full(c->stream))
            return; /* it runs again when there is room */
        release(CONTAINER_OF(c->held.next, struct held, at));
    }
    if (!list_empty(&c->held))
        steer_later(c);
}

static void steer_later(struct sse_client *c)
{
    if (c->steer_due)
        return;
    c->steer_due = true;
    loop_defer(c->carrier->loop, steer, c);
}

static void on_room(void *ctx) { steer_later(ctx); }

/* ---- one client ---- */

static void client_end(struct sse_client *c)
{
    struct sse_carrier *h = c->carrier;

    c->ended = true;
    map_del(&h->clients, span_of(c->id));
    seat_leave(&c->seat);
    refuse_held(c, 404, RPC_SESSION_NOT_FOUND, "Session not found");
    peer_close(c->peer);
    carrier_stream_free(c->stream);
    if (!c->steer_due) /* then steer() frees it */
        loop_free_later(h->loop, c, free);
    check_idle(h);
}

static void on_gone(void *ctx) { client_end(ctx); }

static void seat_end(struct seat *seat) { client_end(CONTAINER_OF(seat, struct sse_client, seat)); }

/* NULL: no more are let in. */
static struct sse_client *client_new(struct sse_carrier *h, const char *principal)
{
    static const struct seat_ops ops = { .end = seat_end };
    struct sse_client *c = NEW(struct sse_client);

    if (h->draining || !seat_take(&c->seat, &h->streams->seats, principal, &ops)) {
        free(c);
        return NULL;
    }
    c->carrier = h;
    c->principal = principal;
    list_init(&c->held);
    id_new(c->id);
    c->peer = peer_new(h->server, PEER_SESSION, &sse_peer_ops, c);
    peer_set_principal(c->peer, principal);
    c->stream = carrier_stream_new(h->streams, 0);
    carrier_stream_on_room(c->stream, on_room, c);
    map_put(&h->clients, span_of(c->id), c);
    return c;
}

void sse_carrier_open(struct sse_carrier *h, struct http_request *r, const char *principal)
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
    carrier_stream_attach(c->stream, r, NULL, on_gone, c);
    buf_printf(&uri, "%s?sessionId=%s", h->messages_path, c->id);
    carrier_stream_event(c->stream, "endpoint", buf_span(&uri));
}

/* NULL after a refusal. */
static struct sse_client *named_client(struct sse_carrier *h, struct http_request *r,
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

void sse_carrier_post(struct sse_carrier *h, struct http_request *r, const char *principal)
{
    struct sse_client *c;
    struct message *m;

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
    if (must_wait(c, m))
        hold(c, r, m);
    else
        receive(c, r, m);
}

struct sse_carrier *sse_carrier_new(struct pb_server *server, struct carrier_streams *streams,
                                    const char *messages_path)
{
    struct sse_carrier *h = NEW(struct sse_carrier);

    h->server = server;
    h->loop = server_loop(server);
    h->streams = streams;
    h->messages_path = mem_dup(messages_path);
    return h;
}

void sse_carrier_drain(struct sse_carrier *h, loop_fn *fn, void *ctx)
{
    struct map_slot *slot;

    h->draining = true;
    MAP_FOREACH(slot, &h->clients)
        refuse_held(slot->value, 503, RPC_SERVER_ERROR, "The server is stopping");
    h->idle_fn = fn;
    h->idle_ctx = ctx;
    check_idle(h);
}

static void free_carrier(void *p)
{
    struct sse_carrier *h = p;

    map_done(&h->clients);
    free(h->messages_path);
    free(h);
}

void sse_carrier_free(struct sse_carrier *h)
{
    struct map_slot *slot;

    h->idle_fn = NULL;
    MAP_FOREACH(slot, &h->clients)
        client_end(slot->value);
    loop_free_later(h->loop, h, free_carrier);
}
