#include "endpoint_impl.h"
#include "exchange.h"
#include "io/http/http.h"
#include "mcp/rpc/rpc.h"
#include "mcp/serve/serve.h"

struct accepts {
    bool json, sse;
};

void endpoint_refuse(struct http_request *r, int status, const char *headers, struct span id,
                     int code, const char *why)
{
    AUTO_BUF struct buf body = { 0 }, all = { 0 };
    struct span part;

    rpc_write_error(&body, id, code, span_of(why), SPAN(""));
    part = buf_span(&body);
    buf_str(&all, "Content-Type: application/json\r\n");
    if (headers)
        buf_str(&all, headers);
    http_reply(r, status, buf_cstr(&all), &part, 1);
}

static void refuse(struct http_request *r, int status, int code, const char *why)
{
    endpoint_refuse(r, status, NULL, SPAN(""), code, why);
}

/* The next item of a list like "a, b;q=0.5", without what follows its semicolon. */
static struct span next_item(struct span *list)
{
    const char *comma = list->n ? memchr(list->p, ',', list->n) : NULL;
    struct span item = span_make(list->p, comma ? (size_t)(comma - list->p) : list->n);
    const char *semicolon = item.n ? memchr(item.p, ';', item.n) : NULL;

    *list = span_from(*list, item.n + (comma != NULL));
    if (semicolon)
        item.n = (size_t)(semicolon - item.p);
    return span_trim(item);
}

static void accept_list(struct accepts *a, struct span list)
{
    while (list.n) {
        struct span item = next_item(&list);
        bool any = span_is(item, "*/*");

        a->json |=
            any || span_is_nocase(item, "application/json") || span_is(item, "application/*");
        a->sse |= any || span_is_nocase(item, "text/event-stream") || span_is(item, "text/*");
    }
}

static struct accepts accepted(const struct http_request *r)
{
    struct accepts a = { false, false };
    const struct http_field *fields;
    size_t n, count;
    struct span list = http_header(r, "Accept", &count);

    if (count == 0)
        return (struct accepts){ true, true };
    if (count == 1) {
        accept_list(&a, list);
        return a;
    }
    n = http_fields(r, &fields);
    for (size_t i = 0; i < n; i++)
        if (span_is_nocase(fields[i].name, "Accept"))
            accept_list(&a, fields[i].value);
    return a;
}

/* "application/json", perhaps with charset=utf-8: what a browser may not send to us without
 * asking first. */
static bool is_json(const struct http_request *r)
{
    size_t count;
    struct span type = http_header(r, "Content-Type", &count);
    const char *semicolon = type.n ? memchr(type.p, ';', type.n) : NULL;
    struct span name = span_make(type.p, semicolon ? (size_t)(semicolon - type.p) : type.n);
    struct span rest = span_from(type, name.n);

    if (count != 1 || !span_is_nocase(span_trim(name), "application/json"))
        return false;
    if (!rest.n)
        return true;
    rest = span_trim(span_from(rest, 1));
    return !rest.n || span_is_nocase(rest, "charset=utf-8") ||
           span_is_nocase(rest, "charset=\"utf-8\"");
}

static struct span header_fact(void *ctx, const char *name) { return http_header(ctx, name, NULL); }

static struct http_facts facts_of(struct http_request *r)
{
    return (struct http_facts){
        .version = http_header(r, "MCP-Protocol-Version", NULL),
        .method = http_header(r, "Mcp-Method", NULL),
        .name = http_header(r, "Mcp-Name", NULL),
        .header = header_fact,
        .ctx = r,
    };
}

bool endpoint_takes_body(const struct http_request *r) { return span_is(http_method(r), "POST"); }

/* Of two, one reader takes the first and another the last. */
static bool refuse_repeated(struct http_request *r, struct span id)
{
    struct span name = http_repeated(r, "mcp-");
    AUTO_BUF struct buf why = { 0 };

    if (!name.p)
        return false;
    if (name.n > MCP_NAME_SHOWN_MAX)
        name.n = MCP_NAME_SHOWN_MAX;
    buf_printf(&why, "Header mismatch: %.*s comes more than once", SPAN_ARG(name));
    endpoint_refuse(r, 400, NULL, id, RPC_HEADER_MISMATCH, buf_cstr(&why));
    return true;
}

struct message *endpoint_read(struct http_request *r)
{
    struct message *m;

    if (!is_json(r)) {
        refuse(r, 415, RPC_SERVER_ERROR,
               "Unsupported Media Type: Content-Type must be application/json");
        return NULL;
    }
    m = message_new(http_take_body(r));
    if (m->rpc.kind == RPC_INVALID)
        endpoint_refuse(r, 400, NULL, m->rpc.id, m->rpc.code, m->rpc.why);
    else if (!refuse_repeated(r, m->rpc.id))
        return m;
    message_free(m);
    return NULL;
}

/* The session that the request names; NULL after the refusal was sent. */
static struct session *named_session(struct endpoint *e, struct http_request *r,
                                     const char *principal)
{
    struct span id = http_header(r, "Mcp-Session-Id", NULL);
    struct span version = http_header(r, "MCP-Protocol-Version", NULL);
    const struct revision *rev = revision_find(version);
    struct session *s;

    if (!id.p) {
        refuse(r, 400, RPC_SERVER_ERROR, "Bad Request: Mcp-Session-Id header is required");
        return NULL;
    }
    s = session_find(&e->sessions, id, principal);
    if (!s) {
        refuse(r, 404, RPC_SESSION_NOT_FOUND, "Session not found");
        return NULL;
    }
    if (version.p && (!rev || rev->era != ERA_LEGACY)) {
        refuse(r, 400, RPC_SERVER_ERROR, "Bad Request: Unsupported protocol version");
        return NULL;
    }
    return s;
}

static bool is_response(const struct message *m)
{
    return m->rpc.kind == RPC_RESPONSE || m->rpc.kind == RPC_ERROR;
}

static void accept_silently(struct http_request *r, struct peer *p, struct message *take_message,
                            const struct http_facts *facts)
{
    peer_receive(p, take_message, facts, NULL);
    http_reply(r, 202, NULL, NULL, 0);
}

static void post_modern(struct endpoint *e, struct http_request *r, struct message *take_message,
                        struct accepts a)
{
    AUTO(message) struct message *m = take_message;
    struct http_facts facts = facts_of(r);
    struct exchange_spec spec = { .takes_json = a.json, .takes_sse = a.sse };

    if (is_response(m)) {
        refuse(r, 400, RPC_INVALID_REQUEST, "Invalid request: responses are not part of this era");
    } else if (m->rpc.kind == RPC_NOTIFICATION) {
        accept_silently(r, e->modern, TAKE(m), &facts);
    } else if (!a.sse && span_is(m->rpc.method, "subscriptions/listen")) {
        endpoint_refuse(r, 406, NULL, m->rpc.id, RPC_SERVER_ERROR,
                        "Not Acceptable: this is answered by text/event-stream");
    } else {
        exchange_start(e, r, &spec, TAKE(m), &facts);
    }
}

static void post_initialize(struct endpoint *e, struct http_request *r,
                            struct message *take_message, struct accepts a, const char *principal)
{
    AUTO(message) struct message *m = take_message;
    struct exchange_spec spec = { .opens_session = true, .takes_json = a.json, .takes_sse = a.sse };
    struct session *s;

    if (http_header(r, "Mcp-Session-Id", NULL).p) {
        s = named_session(e, r, principal);
        if (s)
            endpoint_refuse(r, 400, NULL, m->rpc.id, RPC_INVALID_REQUEST,
                            "Invalid request: the session is initialized already");
        return;
    }
    s = session_new(&e->sessions, e, principal);
    if (!s) {
        endpoint_refuse(r, 503, "Retry-After: 60\r\n", m->rpc.id, RPC_SERVER_ERROR,
                        "Too many sessions are open");
        return;
    }
    s->peer = peer_new(e->server, PEER_SESSION, &session_peer_ops, s);
    peer_set_principal(s->peer, principal);
    spec.session = s;
    exchange_start(e, r, &spec, TAKE(m), NULL);
}

static void post_batch(struct endpoint *e, struct http_request *r, struct session *s,
                       struct message *take_message, struct accepts a)
{
    AUTO(message) struct message *m = take_message;
    const char *why = batch_refusal(m, peer_revision(s->peer));
    struct exchange_spec spec = { s, false, a.json, a.sse, true };

    if (why)
        refuse(r, 400, RPC_INVALID_REQUEST, why);
    else
        exchange_start(e, r, &spec, TAKE(m), NULL);
}

static void post_legacy(struct endpoint *e, struct http_request *r, struct message *take_message,
                        struct accepts a, const char *principal)
{
    AUTO(message) struct message *m = take_message;
    struct http_facts facts = { .header = header_fact, .ctx = r };
    struct session *s;
    struct exchange_spec spec;

    if (m->rpc.kind == RPC_REQUEST && span_is(m->rpc.method, "initialize")) {
        post_initialize(e, r, TAKE(m), a, principal);
        return;
    }
    s = named_session(e, r, principal);
    if (!s)
        return;
    spec = (struct exchange_spec){ s, false, a.json, a.sse, false };
    if (m->rpc.kind == RPC_BATCH)
        post_batch(e, r, s, TAKE(m), a);
    else if (m->rpc.kind == RPC_REQUEST)
        exchange_start(e, r, &spec, TAKE(m), &facts);
    else
        accept_silently(r, s->peer, TAKE(m), NULL);
}

static bool has_modern_element(const struct message *batch)
{
    JSON_FOREACH(element, json_root(&batch->doc)) {
        struct json meta = json_get(json_get(element, "params"), "_meta");

        if (json_is(json_get(meta, META_VERSION), JSON_STRING))
            return true;
    }
    return false;
}

/* The body decides the era; a header that says modern when the body does not is an error that the
 * modern peer explains. */
static void post(struct endpoint *e, struct http_request *r, const char *principal)
{
    struct accepts a = accepted(r);
    bool header_modern = version_claims_modern(http_header(r, "MCP-Protocol-Version", NULL));
    AUTO(message) struct message *m = NULL;

    if (!a.json && !a.sse) {
        refuse(r, 406, RPC_SERVER_ERROR,
               "Not Acceptable: Accept must allow application/json or text/event-stream");
        return;
    }
    m = endpoint_read(r);
    if (!m)
        return;
    if (m->rpc.kind == RPC_BATCH && (header_modern || has_modern_element(m))) {
        refuse(r, 400, RPC_INVALID_REQUEST, "Invalid request: this era has no batches");
    } else if (header_modern && !m->claims_modern && span_is(m->rpc.method, "initialize")) {
        endpoint_refuse(r, 400, NULL, m->rpc.id, RPC_HEADER_MISMATCH,
                        "Header mismatch: MCP-Protocol-Version is of the era without initialize");
    } else if (m->claims_modern || header_modern) {
        post_modern(e, r, TAKE(m), a);
    } else {
        post_legacy(e, r, TAKE(m), a, principal);
    }
}

/* Goes on with a stream whose connection was lost, or ended by us. An id that we did not give, or
 * whose events are forgotten, is refused: a gap would not be noticed. */
static void resume(struct http_request *r, struct session *s, struct span last_event_id)
{
    uint32_t no;
    uint64_t after;
    struct carrier_stream *stream = NULL;

    if (carrier_stream_parse_id(last_event_id, &no, &after))
        stream = session_stream(s, no);
    if (!stream || !carrier_stream_keeps(stream, after)) {
        refuse(r, 400, RPC_SERVER_ERROR, "Bad Request: no stream can be resumed from this event");
        return;
    }
    carrier_stream_attach(stream, r, NULL, NULL, NULL);
    carrier_stream_replay(stream, after);
    if (carrier_stream_ended(stream))
        carrier_stream_end(stream);
}

static void open_own_stream(struct endpoint *e, struct http_request *r, struct session *s)
{
    const struct revision *rev = peer_revision(s->peer);

    if (!s->own) {
        s->own = carrier_stream_new(e->streams, ++s->n_streams);
        list_append(&s->streams, carrier_stream_link(s->own));
    }
    carrier_stream_attach(s->own, r, NULL, NULL, NULL);
    if (rev && rev->priming)
        carrier_stream_prime(s->own, 0);
    carrier_stream_replay(s->own, carrier_stream_seen(s->own));
}

/* Neither of the two has a meaning in the modern era. */
static bool refuse_modern(struct http_request *r)
{
    if (!version_claims_modern(http_header(r, "MCP-Protocol-Version", NULL)))
        return false;
    endpoint_refuse(r, 405, "Allow: POST\r\n", SPAN(""), RPC_SERVER_ERROR, "Method Not Allowed");
    return true;
}

static void get(struct endpoint *e, struct http_request *r, const char *principal)
{
    struct span last = http_header(r, "Last-Event-ID", NULL);
    struct session *s;

    if (refuse_modern(r) || refuse_repeated(r, SPAN("")))
        return;
    if (!accepted(r).sse) {
        refuse(r, 406, RPC_SERVER_ERROR, "Not Acceptable: Accept must allow text/event-stream");
        return;
    }
    s = named_session(e, r, principal);
    if (!s)
        return;
    if (e->draining)
        refuse(r, 503, RPC_SERVER_ERROR, "The server is stopping");
    else if (last.p)
        resume(r, s, last);
    else if (s->own && carrier_stream_attached(s->own))
        refuse(r, 409, RPC_SERVER_ERROR, "Conflict: this session has an open stream already");
    else
        open_own_stream(e, r, s);
}

static void delete_session(struct endpoint *e, struct http_request *r, const char *principal)
{
    struct session *s;

    if (refuse_modern(r) || refuse_repeated(r, SPAN("")))
        return;
    s = named_session(e, r, principal);
    if (!s)
        return;
    session_end(s);
    http_reply(r, 204, NULL, NULL, 0);
}

void endpoint_handle(struct endpoint *e, struct http_request *r, const char *principal)
{
    static const struct {
        const char *method;
        void (*run)(struct endpoint *e, struct http_request *r, const char *principal);
    } methods[] = { { "POST", post }, { "GET", get }, { "DELETE", delete_session } };

    for (size_t i = 0; i < ARRAY_LEN(methods); i++)
        if (span_is(http_method(r), methods[i].method)) {
            methods[i].run(e, r, principal);
            return;
        }
    endpoint_refuse(r, 405, "Allow: GET, POST, DELETE\r\n", SPAN(""), RPC_SERVER_ERROR,
                    "Method Not Allowed");
}

struct endpoint *endpoint_new(struct pb_server *server, struct carrier_streams *streams,
                              const char *principal, bool json_only)
{
    struct endpoint *e = NEW(struct endpoint);

    e->server = server;
    e->loop = server_loop(server);
    e->json_only = json_only;
    list_init(&e->exchanges);
    sessions_init(&e->sessions, e->loop, &streams->seats);
    e->streams = streams;
    e->modern = peer_new(server, PEER_STATELESS, &modern_peer_ops, e);
    peer_set_principal(e->modern, principal);
    return e;
}

void endpoint_drain(struct endpoint *e, loop_fn *fn, void *ctx)
{
    struct list *pos, *safe;

    e->draining = true;
    LIST_FOREACH(pos, safe, &e->sessions.by_use) {
        struct session *s = CONTAINER_OF(pos, struct session, by_use);

        if (s->own)
            carrier_stream_detach(s->own);
    }
    if (list_empty(&e->exchanges)) {
        loop_defer(e->loop, fn, ctx);
        return;
    }
    e->idle_fn = fn;
    e->idle_ctx = ctx;
}

void endpoint_free(struct endpoint *e)
{
    e->idle_fn = NULL;
    peer_close(e->modern);
    sessions_done(&e->sessions);
    loop_free_later(e->loop, e, free);
}
