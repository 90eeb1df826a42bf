/* subscriptions.c - who wants to hear of a resource: legacy clients by resources/subscribe, modern
 * ones by their listen streams. The provider is told of the first and the last. */
#include "listen.h"
#include "mcp/rpc/rpc.h"
#include "peer_impl.h"

void subscriptions_watch(struct pb_server *s, struct span uri)
{
    uintptr_t n = (uintptr_t)map_get(&s->watched, uri);

    map_put(&s->watched, uri, (void *)(n + 1));
    if (n == 0 && s->provider->watch)
        s->provider->watch(s->provider_ctx, uri, true);
}

void subscriptions_unwatch(struct pb_server *s, struct span uri)
{
    uintptr_t n = (uintptr_t)map_get(&s->watched, uri);

    if (n > 1) {
        map_put(&s->watched, uri, (void *)(n - 1));
        return;
    }
    map_del(&s->watched, uri);
    if (s->provider->watch)
        s->provider->watch(s->provider_ctx, uri, false);
}

/* The URI of the params, or an error sent. */
static bool read_uri(struct request *r, struct span *uri)
{
    struct json v = json_get(r->params, "uri");

    if (!r->server->provider->subscribable) {
        request_fail(r, RPC_METHOD_NOT_FOUND, SPAN(""), "Method not found: %.*s",
                     SPAN_ARG(r->method));
        return false;
    }
    if (!json_is(v, JSON_STRING)) {
        request_fail(r, RPC_INVALID_PARAMS, SPAN(""), "Invalid params: uri must be a string");
        return false;
    }
    *uri = json_str(v, &r->message->arena);
    return true;
}

static void not_found(struct request *r)
{
    AUTO_BUF struct buf data = { 0 };
    struct json_out o = json_out(&data);

    json_begin_object(&o, NULL);
    json_put_raw(&o, "uri", json_text(json_get(r->params, "uri")));
    json_end(&o);
    request_fail(r, RPC_RESOURCE_NOT_FOUND, buf_span(&data), "Resource not found");
}

void subscribe_method(struct request *r)
{
    struct pb_server *s = r->server;
    struct map *mine = &r->peer->subscriptions;
    struct span uri;

    if (!read_uri(r, &uri))
        return;
    if (!map_get(mine, uri)) {
        if (!s->provider->subscribable(s->provider_ctx, uri)) {
            if (!s->provider->wait || !s->provider->wait(s->provider_ctx, r))
                not_found(r);
            return;
        }
        if (mine->n >= MCP_SUBSCRIPTIONS_MAX) {
            request_fail(r, RPC_SERVER_ERROR, SPAN(""), "Too many subscriptions; the limit is %d",
                         MCP_SUBSCRIPTIONS_MAX);
            return;
        }
        map_put(mine, uri, r->peer);
        subscriptions_watch(s, uri);
    }
    request_reply(r, SPAN("{}"));
}

void request_again(struct request *r)
{
    if (r->env.era == ERA_LEGACY)
        subscribe_method(r);
    else
        listen_open(r);
}

void unsubscribe_method(struct request *r)
{
    struct span uri;

    if (!read_uri(r, &uri))
        return;
    if (map_del(&r->peer->subscriptions, uri))
        subscriptions_unwatch(r->server, uri);
    request_reply(r, SPAN("{}"));
}

void subscriptions_forget(struct peer *p)
{
    struct map_slot *slot;

    MAP_FOREACH(slot, &p->subscriptions)
        subscriptions_unwatch(p->server, span_make(slot->key, slot->key_n));
    map_done(&p->subscriptions);
}
