/* relay_elicit.c - URLs that servers asked clients to open. When that is done, which may be long
 * after the call, the server says so with the id of what it asked for; that is for the client that
 * was asked, and for no other. Legacy only: the modern era has no such notification. */
#include "mcp/rpc/rpc.h"
#include "mcp/serve/serve.h"
#include "relay_impl.h"

struct elicit {
    struct list at; /* in relays.elicits, oldest first */
    struct peer *peer;
    size_t n;
    char key[]; /* "server\nid" */
};

static void key_of(struct buf *out, const char *server, struct span id)
{
    buf_printf(out, "%s\n", server); /* no server's name has a line end */
    buf_add_span(out, id);
}

static void forget(struct relays *s, struct elicit *e)
{
    map_del(&s->by_elicit, span_make(e->key, e->n));
    list_remove(&e->at);
    free(e);
}

static void note(struct relay *c, struct json id)
{
    AUTO_ARENA struct arena a = { 0 };
    AUTO_BUF struct buf key = { 0 };
    struct span text = json_str(id, &a);
    struct relays *s = c->set;
    struct elicit *e;

    if (!text.n || text.n > RELAY_ELICIT_ID_MAX)
        return;
    key_of(&key, c->server, text);
    e = map_get(&s->by_elicit, buf_span(&key));
    if (e)
        forget(s, e);
    if (s->by_elicit.n >= RELAY_ELICITS_MAX)
        forget(s, CONTAINER_OF(s->elicits.next, struct elicit, at));
    e = mem_zero(sizeof *e + key.n);
    e->peer = c->request->peer;
    e->n = key.n;
    memcpy(e->key, key.p, key.n);
    map_put(&s->by_elicit, span_make(e->key, e->n), e);
    list_append(&s->elicits, &e->at);
}

void relay_note_url(struct relay *c, struct span params)
{
    AUTO_JSON struct json_doc doc = { 0 };

    if (json_parse(&doc, params, &(struct json_opts){ .keep_depth = 1 }, NULL) == 0)
        note(c, json_get(json_root(&doc), "elicitationId"));
}

void relay_note_urls(struct relay *c, struct span error)
{
    AUTO_JSON struct json_doc doc = { 0 };
    struct json list;

    if (c->request->env.era != ERA_LEGACY || json_parse(&doc, error, NULL, NULL) < 0)
        return;
    list = json_get(json_get(json_root(&doc), "data"), "elicitations");
    if (!json_is(list, JSON_ARRAY))
        return;
    JSON_FOREACH(item, list)
        note(c, json_get(item, "elicitationId"));
}

void relays_elicited(struct relays *s, const char *server, struct span params)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena a = { 0 };
    AUTO_BUF struct buf key = { 0 };
    struct peer *p;
    struct elicit *e;

    if (json_parse(&doc, params, &(struct json_opts){ .keep_depth = 1 }, NULL) < 0)
        return;
    key_of(&key, server, json_str(json_get(json_root(&doc), "elicitationId"), &a));
    e = map_get(&s->by_elicit, buf_span(&key));
    if (!e)
        return;
    p = e->peer;
    forget(s, e);
    peer_tell(p, "notifications/elicitation/complete", params);
}

void relays_forget_urls(struct relays *s, const struct peer *p)
{
    struct list *pos, *safe;

    LIST_FOREACH(pos, safe, &s->elicits) {
        struct elicit *e = CONTAINER_OF(pos, struct elicit, at);

        if (!p || e->peer == p)
            forget(s, e);
    }
}
