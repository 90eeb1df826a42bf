/* host_ask.c - what servers ask without a call of anybody: the roots, right after the handshake and
 * whenever they are told that those have changed. There is one list of roots per server process,
 * so it is asked of a client only when it is clear of which: the one whose own instance asks, or
 * the only one that has roots and sees the server. Else the answer is the empty list, which is
 * true of everybody. */
#include "face/caller/caller.h"
#include "host_impl.h"
#include "hub/hub/hub.h"
#include "hub/link/link.h"
#include "mcp/serve/serve.h"

/* ---- who has roots ------------------------------------------------------------------------ */

struct rooted {
    struct host *h;
    const char *caller; /* "": anybody */
    struct peer *one;   /* the last one found */
    size_t n;
};

static void look_at(void *ctx, struct peer *p)
{
    AUTO_BUF struct buf key = { 0 };
    const struct envelope *session = peer_session(p);
    struct rooted *found = ctx;

    if (!session || !session->can_list_roots)
        return;
    caller_peer_key(p, &key);
    if (found->caller[0] && strcmp(buf_cstr(&key), found->caller) != 0)
        return;
    found->one = p;
    found->n++;
}

static struct rooted find_rooted(struct hosts *s, const char *server, const char *caller)
{
    struct rooted found = { .caller = caller };
    struct list *pos, *safe;

    LIST_FOREACH(pos, safe, &s->hosts) {
        struct host *h = CONTAINER_OF(pos, struct host, in_set);

        if (host_hears(h, server))
            server_each_peer(h->server, look_at, &found);
    }
    return found;
}

/* ---- asking it ---------------------------------------------------------------------------- */

static bool is_roots(struct span result)
{
    AUTO_JSON struct json_doc doc = { 0 };

    return json_parse(&doc, result, &(struct json_opts){ .keep_depth = 1 }, NULL) == 0 &&
           json_is(json_root(&doc), JSON_OBJECT) &&
           json_is(json_get(json_root(&doc), "roots"), JSON_ARRAY);
}

/* A question that a client has. */
struct host_question {
    struct hosts *set;
    struct peer *peer;
    struct link_question *q;
};

static struct span asked_key(const struct link_question *const *q)
{
    return span_make((const char *)q, sizeof *q);
}

static struct link_question *asked_free(struct host_question *a)
{
    struct link_question *q = a->q;

    map_del(&a->set->asked, asked_key(&(const struct link_question *){ q }));
    free(a);
    return q;
}

static void on_answer(struct peer *p, void *ctx, struct span result, const struct pb_error *err)
{
    (void)p;
    if (err)
        log_debug("roots: %s", err->msg);
    link_answer(asked_free(ctx), !err && is_roots(result) ? result : SPAN("{\"roots\":[]}"));
}

static int ask(struct hosts *s, struct peer *p, struct link_question *q, struct pb_error *err)
{
    struct host_question *a = NEW(struct host_question);
    int rc;

    *a = (struct host_question){ s, p, q };
    map_put(&s->asked, asked_key(&(const struct link_question *){ q }), a);
    rc = peer_question(p, "roots/list", SPAN(""), HOST_ROOTS_MS, on_answer, a, err);
    if (rc < 0)
        asked_free(a);
    return rc;
}

void hosts_stop_asking(struct hosts *s)
{
    size_t at = 0;
    const struct map_slot *slot;

    while ((slot = map_next(&s->asked, &at))) {
        struct host_question *a = slot->value;

        peer_withdraw(a->peer, a, "the program ends");
        link_answer(asked_free(a), SPAN("{\"roots\":[]}"));
        at = 0; /* from the beginning: the answer may have ended others, too */
    }
}

void hosts_withdrawn(void *ctx, const struct link_question *q)
{
    struct hosts *s = ctx;
    struct host_question *a = map_get(&s->asked, asked_key(&q));

    if (!a)
        return;
    peer_withdraw(a->peer, a, "the server does not want to know it any more");
    asked_free(a);
}

bool hosts_question(void *ctx, const char *server, struct link_question *q, struct span method,
                    struct span params)
{
    struct hosts *s = ctx;
    struct rooted found;
    struct pb_error err;

    (void)params;
    if (s->closing || !span_is(method, "roots/list"))
        return false;
    found = find_rooted(s, server, link_question_caller(q));
    if (found.n != 1)
        return false;
    if (ask(s, found.one, q, &err) < 0) {
        log_debug("roots: %s", err.msg);
        return false;
    }
    return true;
}

/* ---- when that changes -------------------------------------------------------------------- */

struct move {
    struct host *h;
    size_t most; /* how many may have roots now so that the answer is another than before */
};

static void tell_link(void *ctx, struct link *l)
{
    const struct move *m = ctx;

    if (host_hears(m->h, link_name(l)) && find_rooted(m->h->set, link_name(l), "").n <= m->most)
        link_roots_changed(l, "");
}

static bool has_roots(const struct host *h, const struct peer *p)
{
    const struct envelope *session = peer_session(p);

    return session && session->can_list_roots && h->set->hub && !h->set->closing;
}

/* Of one there is an answer, of none and of two there is not. */
void host_roots_moved(struct host *h, const struct peer *p, bool came)
{
    if (has_roots(h, p))
        hub_each(h->set->hub, tell_link, &(struct move){ h, came ? 2 : 1 });
}

/* ---- when a client says so ---------------------------------------------------------------- */

struct roots_change {
    struct host *h;
    const char *caller;
};

static void tell_change(void *ctx, struct link *l)
{
    const struct roots_change *c = ctx;

    if (host_hears(c->h, link_name(l)))
        link_roots_changed(l, c->caller);
}

static void on_turn_end(void *ctx)
{
    struct hosts *s = ctx;
    struct map moved = s->moved;
    struct map_slot *slot;

    s->moved = (struct map){ 0 };
    MAP_FOREACH(slot, &moved) {
        struct host *h = slot->value;
        uint64_t serial;
        const struct peer *p;
        AUTO_BUF struct buf key = { 0 };

        if (s->closing) /* and h may be gone */
            break;
        memcpy(&serial, slot->key, sizeof serial);
        p = server_peer(h->server, serial);
        if (!p)
            continue;
        caller_peer_key(p, &key);
        hub_each(s->hub, tell_change, &(struct roots_change){ h, buf_cstr(&key) });
    }
    map_done(&moved);
    hosts_release(s);
}

void host_roots_changed(struct host *h, const struct peer *p)
{
    struct hosts *s = h->set;
    uint64_t serial = peer_serial(p);

    if (!has_roots(h, p))
        return;
    if (!s->moved.n) {
        s->open++;
        loop_defer(s->loop, on_turn_end, s);
    }
    map_put(&s->moved, map_u64(&serial), h);
}
