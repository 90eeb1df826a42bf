#include "mcp/rpc/rpc.h"
#include "peer_impl.h"

/* Of the process, not of the server: the hub tells the clients of many servers apart by it. */
static atomic_ulong last_serial;

struct peer *peer_new(struct pb_server *server, enum peer_kind kind, const struct peer_ops *ops,
                      void *transport)
{
    struct peer *p = NEW(struct peer);

    p->server = server;
    p->kind = kind;
    p->serial = atomic_fetch_add(&last_serial, 1) + 1;
    p->ops = ops;
    p->transport = transport;
    p->principal = "";
    p->log_level = PB_LOG_INFO;
    p->session = (struct envelope){ .era = ERA_LEGACY,
                                    .revision = revision_find(SPAN(MCP_NEWEST_LEGACY)),
                                    .client_info = SPAN("{}"),
                                    .client_caps = SPAN("{}"),
                                    .wants_log = true };
    if (kind == PEER_SESSION)
        p->era = ERA_LEGACY;
    list_init(&p->requests);
    list_init(&p->questions);
    if (list_empty(&server->peers))
        inbox_forget_lists(&server->inbox);
    list_append(&server->peers, &p->in_server);
    map_put(&server->by_serial, map_u64(&p->serial), p);
    if (kind == PEER_STATELESS) {
        p->era = ERA_MODERN;
        p->buckets = mem_alloc(PEER_BUCKETS * sizeof *p->buckets);
        for (size_t i = 0; i < PEER_BUCKETS; i++)
            list_init(&p->buckets[i]);
    }
    return p;
}

static void peer_free(void *ctx)
{
    struct peer *p = ctx;

    map_done(&p->subscriptions);
    arena_done(&p->strings);
    free(p->buckets);
    free(p->by_id);
    free(p);
}

void peer_close(struct peer *p)
{
    if (!p || p->closed)
        return;
    p->closed = true; /* nothing is sent from here on */
    while (!list_empty(&p->requests))
        request_cancel(CONTAINER_OF(p->requests.next, struct request, in_peer), CANCEL_GONE);
    questions_close(p);
    subscriptions_forget(p);
    if (p->server->provider->left)
        p->server->provider->left(p->server->provider_ctx, p);
    list_remove(&p->in_server);
    map_del(&p->server->by_serial, map_u64(&p->serial));
    loop_free_later(p->server->loop, p, peer_free);
}

/* Of so few, most of which differ in length, looking at each is faster than halving. */
const struct method *method_find(const struct method *table, size_t n, struct span name)
{
    for (size_t i = 0; i < n; i++)
        if (span_eq(table[i].name, name))
            return &table[i];
    return NULL;
}

void peer_dispatch(struct request *r)
{
    struct pb_server *s = r->server;
    struct span shown = r->method;

    if (s->provider->handle(s->provider_ctx, r))
        return;
    if (shown.n > MCP_NAME_SHOWN_MAX)
        shown.n = MCP_NAME_SHOWN_MAX;
    request_fail(r, RPC_METHOD_NOT_FOUND, SPAN(""), "Method not found: %.*s", SPAN_ARG(shown));
}

/* Refuses what may not even be looked at. */
static bool admit(struct request *r)
{
    struct peer *p = r->peer;

    if (!server_heard(r->server)) {
        request_fail(r, RPC_SERVER_ERROR, SPAN(""), "The server is stopping");
        return false;
    }
    if (p->kind == PEER_STATELESS)
        return true; /* many clients: each its own ids, each its own connection, which are bounded
                      */
    if (p->in_flight > MCP_INFLIGHT_MAX) {
        request_fail(r, RPC_SERVER_ERROR, SPAN(""), "Too many requests in flight; the limit is %d",
                     MCP_INFLIGHT_MAX);
        return false;
    }
    if (!ids_add(r)) {
        request_fail(r, RPC_INVALID_REQUEST, SPAN(""), "The id is in use by a request in flight");
        return false;
    }
    return true;
}

static void take_trace(struct request *r, const struct http_facts *facts)
{
    struct span t = facts && facts->header ? facts->header(facts->ctx, "traceparent") : SPAN("");

    if (t.n && trace_valid(t))
        r->env.trace = span_make(arena_dup(&r->message->arena, t), t.n);
}

static void on_request(struct peer *p, struct message *m, const struct http_facts *facts,
                       void *exchange)
{
    enum era era = p->era;
    struct request *r = request_new(p, m, exchange);

    /* On stdio and in memory the first message that can decide the era does. */
    if (era == ERA_UNKNOWN)
        era = modern_claimed(m) ? ERA_MODERN : ERA_LEGACY;
    r->env.era = era;
    if (!admit(r))
        return;
    take_trace(r, facts);
    if (!json_is(m->rpc.params, JSON_NONE) && !json_is(m->rpc.params, JSON_OBJECT))
        request_refuse(r, era == ERA_MODERN ? 400 : 200, RPC_INVALID_PARAMS, SPAN(""),
                       "Invalid params: params must be an object");
    else if (era == ERA_MODERN)
        modern_request(r, facts);
    else
        legacy_request(r);
}

static void on_invalid(struct peer *p, struct message *m, const struct http_facts *facts,
                       void *exchange)
{
    struct request *r = request_new(p, m, exchange);
    bool parse = m->rpc.code == RPC_PARSE_ERROR;

    (void)facts;
    request_refuse(r, 400, m->rpc.code, SPAN(""), "%s: %s",
                   parse ? "Parse error" : "Invalid request", m->rpc.why);
}

static void on_batch(struct peer *p, struct message *m, const struct http_facts *facts,
                     void *exchange)
{
    struct request *r = request_new(p, m, exchange);

    (void)facts;
    request_refuse(r, 400, RPC_INVALID_REQUEST, SPAN(""),
                   "Invalid request: this revision of the protocol has no batches");
}

static void cancelled(struct peer *p, struct json params)
{
    struct request *r;

    /* Over modern HTTP a client cancels by going away; ids of different clients are the same. */
    if (p->kind == PEER_STATELESS)
        return;
    r = ids_find(p, json_text(json_get(params, "requestId")));
    if (!r) {
        log_debug("a cancellation of no request in flight was ignored");
        return;
    }
    request_cancel(r, CANCEL_BY_CLIENT);
}

static void on_notification(struct peer *p, struct message *m, const struct http_facts *facts,
                            void *exchange)
{
    AUTO(message) struct message *keep = m;
    struct pb_server *s = p->server;

    (void)facts, (void)exchange;
    if (span_is(m->rpc.method, "notifications/cancelled")) {
        cancelled(p, m->rpc.params);
        return;
    }
    /* A cancellation says nothing about the era (a probe may be cancelled); anything else does. */
    if (p->era == ERA_UNKNOWN)
        p->era = modern_claimed(m) ? ERA_UNKNOWN : ERA_LEGACY;
    if (s->provider->notified)
        s->provider->notified(s->provider_ctx, p, &keep->rpc);
}

static void on_answer(struct peer *p, struct message *m, const struct http_facts *facts,
                      void *exchange)
{
    AUTO(message) struct message *keep = m;

    (void)facts, (void)exchange;
    if (p->era == ERA_UNKNOWN)
        p->era = ERA_LEGACY;
    questions_answered(p, keep);
}

void peer_receive(struct peer *p, struct message *take_message, const struct http_facts *facts,
                  void *exchange)
{
    static void (*const by_kind[])(struct peer *, struct message *, const struct http_facts *,
                                   void *) = {
        [RPC_INVALID] = on_invalid,
        [RPC_REQUEST] = on_request,
        [RPC_NOTIFICATION] = on_notification,
        [RPC_RESPONSE] = on_answer,
        [RPC_ERROR] = on_answer,
        [RPC_BATCH] = on_batch,
    };

    if (p->closed) {
        message_free(take_message);
        return;
    }
    by_kind[take_message->rpc.kind](p, take_message, facts, exchange);
}

void peer_receive_oversize(struct peer *p, struct span head, uint64_t total, void *exchange)
{
    enum { MB = 1048576 };
    size_t limit = server_max_request(p->server);
    struct request *r;

    if (p->closed)
        return;
    log_warn("Request exceeded size limit: %lluMB", (unsigned long long)(total / MB));
    r = request_new(p, NULL, exchange);
    r->id = rpc_id_peek(head);
    if (r->id.n)
        request_refuse(r, 413, RPC_INVALID_REQUEST, SPAN(""), "Request too large");
    else if (limit % MB == 0)
        request_refuse(r, 413, RPC_PARSE_ERROR, SPAN(""), "Request exceeds %zuMB limit",
                       limit / MB);
    else
        request_refuse(r, 413, RPC_PARSE_ERROR, SPAN(""), "Request exceeds %zu byte limit", limit);
}

static struct request *find_exchange(struct peer *p, const void *exchange)
{
    struct list *head =
        p->buckets ? &p->buckets[(uintptr_t)exchange / 16 % PEER_BUCKETS] : &p->requests;
    struct list *pos, *safe;

    LIST_FOREACH(pos, safe, head) {
        struct request *r = p->buckets ? CONTAINER_OF(pos, struct request, in_bucket)
                                       : CONTAINER_OF(pos, struct request, in_peer);

        if (r->exchange == exchange)
            return r;
    }
    return NULL;
}

void peer_exchange_gone(struct peer *p, void *exchange)
{
    struct request *r;

    /* Looked for anew each time: cancelling one may end another. */
    while (exchange && (r = find_exchange(p, exchange)) != NULL) {
        if (r->env.era == ERA_MODERN)
            request_cancel(r, CANCEL_GONE);
        else
            r->exchange = NULL;
    }
}

size_t peer_cancel_all(struct peer *p)
{
    size_t n = p->in_flight;

    while (!list_empty(&p->requests))
        request_cancel(CONTAINER_OF(p->requests.next, struct request, in_peer), CANCEL_SHUTDOWN);
    return n;
}

void peer_set_congested(struct peer *p, bool on)
{
    const struct provider *provider = p->server->provider;

    if (p->closed || p->congested == on)
        return;
    p->congested = on;
    if (provider->congested)
        provider->congested(p->server->provider_ctx, p, on);
}

bool peer_congested(const struct peer *p) { return p->congested; }

size_t peer_in_flight(const struct peer *p) { return p->in_flight; }

enum peer_kind peer_kind(const struct peer *p) { return p->kind; }

uint64_t peer_serial(const struct peer *p) { return p->serial; }

const struct revision *peer_revision(const struct peer *p)
{
    return p->initialized ? p->session.revision : NULL;
}

const struct envelope *peer_session(const struct peer *p)
{
    return p->era == ERA_LEGACY && p->initialized ? &p->session : NULL;
}

void peer_tell(struct peer *p, const char *method, struct span params)
{
    if (peer_session(p) && !p->closed)
        peer_notify(p, NULL, method, params);
}

void peer_set_principal(struct peer *p, const char *principal)
{
    p->principal = arena_dup(&p->strings, span_of(principal));
}

const char *peer_principal(const struct peer *p) { return p->principal; }
