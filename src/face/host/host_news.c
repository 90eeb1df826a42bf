/* host_news.c - what servers tell by themselves, passed on to those clients that see them; and
 * what clients tell, passed on to the hub. */
#include "face/caller/caller.h"
#include "face/relay/relay.h"
#include "host_impl.h"
#include "hub/catalog/catalog.h"
#include "hub/hub/hub.h"
#include "hub/link/link.h"
#include "mcp/rpc/rpc.h"
#include "mcp/serve/serve.h"

/* A resource that clients of this host want to hear of. */
struct watched_resource {
    struct watched_resource *next; /* of the same resource, under another URI */
    struct span uri;               /* outward */
    char *server;
    struct span own; /* as the server knows it */
    bool lost;       /* the server was removed, and the subscription with it */
    char bytes[];
};

static void origin_key(struct buf *out, const char *server, struct span uri)
{
    buf_printf(out, "%s\n", server); /* no server's name has a line end */
    buf_add_span(out, uri);
}

static struct uri_route route(struct host *h, struct span uri, struct arena *a, size_t *steps)
{
    const struct scope *scope = host_view(h, NULL);

    if (!scope || scope->no_external || uri.n > MCP_URI_BYTES_MAX)
        return (struct uri_route){ 0 };
    return catalog_route_within(h->set->catalog, scope, uri, a, steps);
}

/* Whether the server can tell of changes is not asked: it may come to, and a client that hears
 * nothing is not worse off than one that was refused. A stream may be about a thousand URIs: those
 * of one turn share the steps of one lookup. */
bool host_subscribable(void *ctx, struct span uri)
{
    AUTO_ARENA struct arena a = { 0 };
    struct host *h = ctx;
    struct hosts *s = h->set;

    if (s->steps_at != loop_now(s->loop)) {
        s->steps_at = loop_now(s->loop);
        s->steps = CATALOG_STEPS_MAX;
    }
    return route(h, uri, &a, &s->steps).server != NULL;
}

static struct watched_resource *watch_new(struct span uri, const char *server, struct span own)
{
    size_t n = strlen(server) + 1;
    struct watched_resource *w = mem_zero(sizeof *w + uri.n + own.n + n);

    memcpy(w->bytes, server, n);
    memcpy(w->bytes + n, uri.p, uri.n);
    memcpy(w->bytes + n + uri.n, own.p, own.n);
    w->server = w->bytes;
    w->uri = span_make(w->bytes + n, uri.n);
    w->own = span_make(w->bytes + n + uri.n, own.n);
    return w;
}

static void watch_begin(struct host *h, struct span uri)
{
    AUTO_ARENA struct arena a = { 0 };
    AUTO_BUF struct buf key = { 0 };
    size_t steps = CATALOG_STEPS_MAX; /* host_subscribable() has found it with less */
    struct uri_route to = route(h, uri, &a, &steps);
    struct watched_resource *w;

    if (!to.server)
        return;
    w = watch_new(uri, to.server, to.uri);
    origin_key(&key, w->server, w->own);
    w->next = map_put(&h->by_origin, buf_span(&key), w);
    map_put(&h->watches, uri, w);
    hub_subscribe_resource(h->set->hub, w->server, w->own, true);
}

static void watch_end(struct host *h, struct span uri)
{
    AUTO_BUF struct buf key = { 0 };
    struct watched_resource *w = map_del(&h->watches, uri), *first;

    if (!w)
        return;
    origin_key(&key, w->server, w->own);
    first = map_get(&h->by_origin, buf_span(&key));
    if (first == w && !w->next) {
        map_del(&h->by_origin, buf_span(&key));
    } else if (first == w) {
        map_put(&h->by_origin, buf_span(&key), w->next);
    } else {
        while (first->next != w)
            first = first->next;
        first->next = w->next;
    }
    if (!w->lost)
        hub_subscribe_resource(h->set->hub, w->server, w->own, false);
    free(w);
}

void host_watch(void *ctx, struct span uri, bool on)
{
    if (on)
        watch_begin(ctx, uri);
    else
        watch_end(ctx, uri);
}

void host_watches_done(struct host *h)
{
    struct map_slot *slot;

    MAP_FOREACH(slot, &h->watches)
        free(slot->value);
    map_done(&h->watches);
    map_done(&h->by_origin);
}

/* A link that goes takes its subscriptions along; one that comes under its name gets them anew. */
static void watches_moved(struct host *h, const char *server, bool removed)
{
    struct map_slot *slot;

    MAP_FOREACH(slot, &h->watches) {
        struct watched_resource *w = slot->value;

        if (w->lost == removed || strcmp(w->server, server) != 0)
            continue;
        w->lost = removed;
        if (!removed)
            hub_subscribe_resource(h->set->hub, w->server, w->own, true);
    }
}

/* ---- from the hub ------------------------------------------------------------------------- */

static bool touches(const struct host *h, const char *server)
{
    if (!server[0]) /* not a server, but the modes */
        return h->mode != NULL;
    return (h->expose & HOST_CATALOG) && (!h->server_name || !strcmp(h->server_name, server));
}

#define HOSTS_FOREACH(pos, safe, set) LIST_FOREACH(pos, safe, &(set)->hosts)
#define HOST_AT(pos)                  CONTAINER_OF(pos, struct host, in_set)

static void on_list_changed(void *ctx, enum list_kind kind, const char *server)
{
    /* clang-format off */
    static const char *const lists[] = {
        [LIST_TOOLS]     = "tools",
        [LIST_RESOURCES] = "resources",
        [LIST_TEMPLATES] = "resources",
        [LIST_PROMPTS]   = "prompts",
    };
    /* clang-format on */
    struct hosts *s = ctx;
    struct list *pos, *safe;

    HOSTS_FOREACH(pos, safe, s)
    {
        if (touches(HOST_AT(pos), server))
            server_list_changed(HOST_AT(pos)->server, lists[kind]);
    }
}

static void on_resource_updated(void *ctx, const char *server, struct span uri)
{
    AUTO_BUF struct buf key = { 0 };
    struct hosts *s = ctx;
    struct list *pos, *safe;

    origin_key(&key, server, uri);
    HOSTS_FOREACH(pos, safe, s)
    {
        struct host *h = HOST_AT(pos);

        for (struct watched_resource *w = map_get(&h->by_origin, buf_span(&key)); w; w = w->next)
            server_resource_updated(h->server, w->uri);
    }
}

struct log_message {
    enum pb_log_level level;
    const char *logger;
    struct json data;
    uint64_t only; /* for this client, as its own instance said it; 0: for all */
};

bool host_hears(struct host *h, const char *server)
{
    const struct scope *scope = touches(h, server) ? host_view(h, NULL) : NULL;

    return scope && scope_shows_server(h->set->catalog, scope, server);
}

static void tell_log(struct host *h, const char *server, const struct log_message *m)
{
    AUTO_BUF struct buf logger = { 0 }, data = { 0 };
    struct peer *one = m->only ? server_peer(h->server, m->only) : NULL;
    const char *name;

    if (m->only && !one)
        return;

    /* Among many servers the logger says who speaks. */
    if (!h->server_name)
        buf_str(&logger, server);
    if (m->logger)
        buf_printf(&logger, "%s%s", logger.n ? "/" : "", m->logger);
    name = logger.n ? buf_cstr(&logger) : NULL;
    buf_add_span(&data, json_text(m->data));
    if (one)
        peer_log(one, m->level, name, buf_span(&data));
    else
        pb_server_log(h->server, m->level, name, buf_cstr(&data));
}

/* Of an instance of its own only its caller is told: it may say what that one sent. One that keeps
 * no session hears of its requests only. */
static void on_message(void *ctx, const char *server, const char *caller, struct span params)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena a = { 0 };
    struct hosts *s = ctx;
    struct list *pos, *safe;
    struct log_message m = { .only = caller_serial(caller) };

    if (*caller && !m.only)
        return;
    if (json_parse(&doc, params, &(struct json_opts){ .keep_depth = 1 }, NULL) < 0 ||
        !json_is(json_root(&doc), JSON_OBJECT))
        return;
    m.data = json_get(json_root(&doc), "data");
    m.logger = json_cstr(json_get(json_root(&doc), "logger"), &a);
    if (!log_level_parse(json_str(json_get(json_root(&doc), "level"), &a), &m.level))
        return;
    HOSTS_FOREACH(pos, safe, s)
    {
        if (host_hears(HOST_AT(pos), server))
            tell_log(HOST_AT(pos), server, &m);
    }
}

static void on_event(void *ctx, const struct hub_event *e)
{
    struct hosts *s = ctx;
    struct list *pos, *safe;

    if (e->kind != EVENT_STATE && e->kind != EVENT_SERVER_ADDED && e->kind != EVENT_SERVER_REMOVED)
        return;
    HOSTS_FOREACH(pos, safe, s)
    {
        struct host *h = HOST_AT(pos);

        if (e->kind != EVENT_STATE)
            watches_moved(h, e->server, e->kind == EVENT_SERVER_REMOVED);
        if (h->server_name && !strcmp(h->server_name, e->server))
            host_retitle(h);
        host_waits_check(h);
    }
}

static void on_elicited(void *ctx, const char *server, struct span params)
{
    struct hosts *s = ctx;

    relays_elicited(s->relays, server, params);
}

void hosts_hear(struct hosts *s)
{
    s->news = hub_listen(s->hub, &(struct hub_listener){ .event = on_event,
                                                         .no_calls = true,
                                                         .list_changed = on_list_changed,
                                                         .resource_updated = on_resource_updated,
                                                         .message = on_message,
                                                         .question = hosts_question,
                                                         .withdrawn = hosts_withdrawn,
                                                         .elicited = on_elicited,
                                                         .task_changed = hosts_task_changed,
                                                         .ctx = s });
}

/* ---- from clients ------------------------------------------------------------------------- */

void host_notified(void *ctx, struct peer *p, const struct rpc *message)
{
    struct host *h = ctx;

    if (span_is(message->method, "notifications/roots/list_changed"))
        host_roots_changed(h, p);
    else if (span_is(message->method, "notifications/initialized"))
        host_roots_moved(h, p, true);
}

void host_congested(void *ctx, struct peer *p, bool on)
{
    struct host *h = ctx;

    if (h->set->hub)
        relays_congested(h->set->relays, p, on);
}

void host_left(void *ctx, struct peer *p)
{
    AUTO_BUF struct buf key = { 0 };
    struct host *h = ctx;

    if (!h->set->hub || peer_kind(p) == PEER_STATELESS)
        return;
    relays_left(h->set->relays, p);
    host_roots_moved(h, p, false);
    caller_peer_key(p, &key);
    gate_caller_left(h->set->gate, buf_cstr(&key));
}
