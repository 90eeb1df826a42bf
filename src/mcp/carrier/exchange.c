#include "exchange.h"
#include "io/http/http.h"
#include "mcp/rpc/rpc.h"
#include "mcp/serve/serve.h"
#include <stdio.h>

#define JSON_HEADERS "Content-Type: application/json\r\n"

struct exchange {
    struct list link; /* in endpoint->exchanges */
    struct endpoint *endpoint;
    struct exchange_spec spec;
    struct http_request *http;     /* until it is answered, or the stream has it */
    struct carrier_stream *stream; /* NULL while undecided */
    struct batch batch;            /* counts a single request, too */
};

static struct peer *peer_of(const struct exchange *x)
{
    return x->spec.session ? x->spec.session->peer : x->endpoint->modern;
}

/* The handshake went well, so the session is there to stay. */
static bool is_opened(const struct exchange *x)
{
    return x->spec.opens_session && peer_revision(x->spec.session->peer);
}

static const char *headers_of(const struct exchange *x, char *room, size_t n)
{
    if (!is_opened(x))
        return JSON_HEADERS;
    snprintf(room, n, JSON_HEADERS "Mcp-Session-Id: %s\r\n", x->spec.session->id);
    return room;
}

static void exchange_free(struct exchange *x)
{
    struct endpoint *e = x->endpoint;
    struct session *s = x->spec.session;

    list_remove(&x->link);
    if (x->spec.opens_session && !s->ended && !peer_revision(s->peer))
        session_end(s); /* the handshake was refused */
    batch_done(&x->batch);
    spare_give(x, sizeof *x);
    if (e->draining && list_empty(&e->exchanges) && e->idle_fn) {
        loop_defer(e->loop, e->idle_fn, e->idle_ctx);
        e->idle_fn = NULL;
    }
}

/* Nobody hears the answer: modern requests are cancelled, legacy ones run on without us. */
static void on_gone(void *ctx)
{
    struct exchange *x = ctx;

    x->http = NULL;
    x->batch.open++; /* stay while the peer tells us what it cancels */
    peer_exchange_gone(peer_of(x), x);
    carrier_stream_free(x->stream);
    exchange_free(x);
}

static void reply(struct exchange *x, int status, const struct span *parts, size_t n)
{
    char room[128];
    struct http_request *r = TAKE(x->http);

    http_reply(r, status, headers_of(x, room, sizeof room), parts, n);
}

/* The connection becomes a stream; what a batch collected so far is its first event. */
static void open_stream(struct exchange *x, bool prime)
{
    struct endpoint *e = x->endpoint;
    struct session *s = x->spec.session;
    const struct revision *rev = s ? peer_revision(s->peer) : NULL;
    char room[64];
    struct span collected;

    x->stream = carrier_stream_new(e->streams, s ? ++s->n_streams : 0);
    if (s)
        list_append(&s->streams, carrier_stream_link(x->stream));
    snprintf(room, sizeof room, "Mcp-Session-Id: %s\r\n", s ? s->id : "");
    /* A legacy stream waits for its client to come back; there is nothing to be told. */
    carrier_stream_attach(x->stream, TAKE(x->http), is_opened(x) ? room : NULL, s ? NULL : on_gone,
                          x);
    if (prime && rev && rev->priming)
        carrier_stream_prime(x->stream, 0);
    collected = batch_finish(&x->batch);
    if (collected.n)
        carrier_stream_send(x->stream, SEND_RESPONSE, &collected, 1);
    batch_done(&x->batch);
}

static void answer(struct exchange *x, const struct request *about, const struct span *parts,
                   size_t n)
{
    if (!x->stream && x->http && x->spec.is_batch) {
        batch_add(&x->batch, about->id, parts, n);
        return;
    }
    if (!x->stream && x->http && x->spec.takes_json) {
        reply(x, about->http_status, parts, n);
        return;
    }
    if (!x->stream && x->http)
        open_stream(x, false);
    if (x->stream)
        carrier_stream_send(x->stream, SEND_RESPONSE, parts, n);
}

/* False: this exchange cannot carry anything but its answer. */
static bool tell(struct exchange *x, enum send_kind kind, const struct span *parts, size_t n)
{
    bool may = x->spec.takes_sse && !(x->spec.session && x->endpoint->json_only);

    if (!x->stream && x->http && may)
        open_stream(x, true);
    if (!x->stream)
        return false;
    carrier_stream_send(x->stream, kind, parts, n);
    return true;
}

static void session_send(void *transport, struct request *about, enum send_kind kind,
                         const struct span *parts, size_t n)
{
    struct session *s = transport;
    struct exchange *x = about ? about->exchange : NULL;

    if (x && kind == SEND_RESPONSE) {
        answer(x, about, parts, n);
        return;
    }
    if (x && tell(x, kind, parts, n))
        return;
    /* A question has another way to the client; what belongs to a request that nobody follows any
     * more, or can, has none. */
    if (s->own && (!about || kind == SEND_QUESTION))
        carrier_stream_send(s->own, kind, parts, n);
}

static void modern_send(void *transport, struct request *about, enum send_kind kind,
                        const struct span *parts, size_t n)
{
    struct exchange *x = about ? about->exchange : NULL;

    (void)transport;
    if (!x)
        return;
    if (kind == SEND_RESPONSE)
        answer(x, about, parts, n);
    else
        tell(x, kind, parts, n);
}

/* Every request of the exchange has ended. */
static void complete(struct exchange *x)
{
    struct span text;

    if (x->stream) {
        carrier_stream_end(TAKE(x->stream));
    } else if (x->http && x->spec.session && x->spec.session->ended) {
        endpoint_refuse(TAKE(x->http), 404, NULL, SPAN(""), RPC_SESSION_NOT_FOUND,
                        "Session not found");
    } else if (x->http && !x->spec.session) {
        endpoint_refuse(TAKE(x->http), 503, NULL, SPAN(""), RPC_SERVER_ERROR,
                        "Cancelled: the server is stopping, or the token was taken back");
    } else if (x->http) {
        /* Nothing to say: only notifications, or the client cancelled what it asked for. */
        text = batch_finish(&x->batch);
        if (text.n)
            reply(x, 200, &text, 1);
        else
            http_reply(TAKE(x->http), 202, NULL, NULL, 0);
    }
    exchange_free(x);
}

static void on_finished(void *transport, struct request *about)
{
    struct exchange *x = about->exchange;

    (void)transport;
    if (x && batch_ended(&x->batch))
        complete(x);
}

/* The client of a long call need not hold its connection: it comes back for the answer. */
static void session_poll_later(void *transport, struct request *about, uint64_t retry_ms)
{
    struct session *s = transport;
    struct exchange *x = about->exchange;
    const struct revision *rev = peer_revision(s->peer);

    if (!x || !rev || !rev->priming || !x->spec.takes_sse)
        return;
    if (!x->stream)
        open_stream(x, false);
    carrier_stream_prime(x->stream, retry_ms);
    carrier_stream_detach(x->stream);
}

const struct peer_ops session_peer_ops = { session_send, on_finished, session_poll_later };
const struct peer_ops modern_peer_ops = { modern_send, on_finished, NULL };

void exchange_start(struct endpoint *e, struct http_request *r, const struct exchange_spec *spec,
                    struct message *take_message, const struct http_facts *facts)
{
    struct exchange *x = spare_take(sizeof *x);
    bool over;

    *x = (struct exchange){
        .endpoint = e,
        .spec = *spec,
        .http = r,
        .batch.sum = &e->streams->batched,
    };
    list_init(&x->link);
    list_append(&e->exchanges, &x->link);
    http_on_gone(r, on_gone, x);
    if (spec->is_batch) {
        over = batch_receive(&x->batch, peer_of(x), take_message, facts, x);
    } else {
        x->batch.open = 2; /* the request, and us */
        peer_receive(peer_of(x), take_message, facts, x);
        over = batch_ended(&x->batch);
    }
    if (over)
        complete(x);
}
