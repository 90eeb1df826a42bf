/* hub_listen.c - what links tell, noted down by the hub and handed to whoever listens. */
#include "hub/catalog/catalog.h"
#include "hub/link/link.h"
#include "hub_impl.h"

struct hub_subscription {
    struct list at;
    struct hub *hub;
    struct hub_listener to;
    bool left;
};

static struct hub_subscription *sub_of(struct list *pos)
{
    return CONTAINER_OF(pos, struct hub_subscription, at);
}

struct hub_subscription *hub_listen(struct hub *h, const struct hub_listener *l)
{
    struct hub_subscription *s = NEW(struct hub_subscription);

    hub_owned(h);
    s->hub = h;
    s->to = *l;
    list_append(&h->listeners, &s->at);
    h->hearers += l->event != NULL;
    h->call_hearers += l->event && !l->no_calls;
    return s;
}

static void forget(struct hub_subscription *s)
{
    list_remove(&s->at);
    free(s);
}

void hub_unlisten(struct hub_subscription *s)
{
    if (s->left)
        return;
    s->hub->hearers -= s->to.event != NULL;
    s->hub->call_hearers -= s->to.event && !s->to.no_calls;
    s->left = true;
    if (!s->hub->telling)
        forget(s);
}

void hub_drop_listeners(struct hub *h)
{
    struct list *pos, *safe;

    LIST_FOREACH(pos, safe, &h->listeners)
        forget(sub_of(pos));
}

/* Listeners may leave while others are told; their memory goes when nobody is being told. */
static void told(struct hub *h)
{
    struct list *pos, *safe;

    if (--h->telling)
        return;
    LIST_FOREACH(pos, safe, &h->listeners)
        if (sub_of(pos)->left)
            forget(sub_of(pos));
}

/* Each listener that is still there, one after the other. */
static struct hub_subscription *next_of(struct hub *h, struct hub_subscription *s)
{
    struct list *pos = s ? s->at.next : h->listeners.next;

    while (pos != &h->listeners && sub_of(pos)->left)
        pos = pos->next;
    return pos == &h->listeners ? NULL : sub_of(pos);
}

static void hub_tell(struct hub *h, const struct hub_event *e)
{
    struct hub_subscription *s;

    if (!h->hearers)
        return;
    h->telling++;
    for (s = next_of(h, NULL); s; s = next_of(h, s))
        if (s->to.event && !(s->to.no_calls && hub_event_is_call(e->kind)))
            s->to.event(s->to.ctx, e);
    told(h);
}

void hub_tell_pins(struct hub *h, const char *server, size_t held, size_t changed,
                   const char *message)
{
    struct member *m = hub_find(h, server);
    struct hub_event e = { .kind = EVENT_PIN, .at = loop_wall(h->loop) };

    if (!m || h->closing)
        return;
    e.server = m->name;
    e.spec = link_spec(m->link);
    e.pin.held = held;
    e.pin.changed = changed;
    e.pin.message = message;
    hub_tell(h, &e);
}

void hub_tell_member(struct member *m, enum hub_event_kind kind)
{
    struct hub_event e = {
        .kind = kind,
        .server = m->name,
        .spec = link_spec(m->link),
        .at = loop_wall(m->hub->loop),
    };

    hub_tell(m->hub, &e);
}

void member_on_event(void *ctx, const struct hub_event *e)
{
    struct member *m = ctx;

    if (e->kind == EVENT_STATE) {
        if (e->state.to.state == LINK_CONNECTED)
            member_move(m, MEMBER_UP);
        member_touch(m);
    }
    if (member_is_own(m) && !hub_event_is_call(e->kind))
        return;
    hub_tell(m->hub, e);
}

static void tell_left_out(struct member *m, enum list_kind kind)
{
    size_t n = catalog_left_out(m->hub->catalog, m->name, kind);

    if (n)
        link_log(m->link, PB_LOG_WARNING,
                 "%zu of its %s are left out: one server may list %zu of them, in %d bytes", n,
                 list_kind_name(kind), catalog_most(kind), CATALOG_SERVER_BYTES_MAX);
}

void member_on_listed(void *ctx, struct link *l, enum list_kind kind, struct span array)
{
    struct member *m = ctx;
    struct digests *weighed = link_digests(l, kind), none = { 0 };
    struct pb_error err;
    bool changed = false;

    if (l != m->link || member_is(m, MEMBER_LEAVING) || member_is_own(m))
        return;
    if (catalog_set(m->hub->catalog, link_spec(l), kind, array.n ? array : SPAN("[]"), &changed,
                    &err) < 0)
        link_log(l, PB_LOG_WARNING, "The list of %s cannot be used: %s", list_kind_name(kind),
                 err.msg);
    else
        changed |= member_vet(m, kind, weighed ? weighed : &none, link_state(l) == LINK_CONNECTED);
    if (m->remembered_at) { /* and is true again: the disk is to say since when */
        m->remembered_at = 0;
        m->cache_dirty = true;
        member_touch(m);
    }
    if (changed) {
        tell_left_out(m, kind);
        if (kind == LIST_TOOLS && !m->hub->vet.look)
            member_note_tools(m);
        m->cache_dirty = true;
        hub_lists_changed(m->hub, m->name, 1U << kind);
        member_touch(m);
    }
}

void member_on_resource(void *ctx, struct link *l, struct span uri)
{
    struct member *m = ctx;
    struct hub_subscription *s;

    (void)l;
    m->hub->telling++;
    for (s = next_of(m->hub, NULL); s; s = next_of(m->hub, s))
        if (s->to.resource_updated)
            s->to.resource_updated(s->to.ctx, m->name, uri);
    told(m->hub);
}

void member_on_task(void *ctx, struct link *l, const char *caller, struct span params)
{
    struct member *m = ctx;
    struct hub_subscription *s;

    (void)l;
    m->hub->telling++;
    for (s = next_of(m->hub, NULL); s; s = next_of(m->hub, s))
        if (s->to.task_changed)
            s->to.task_changed(s->to.ctx, m->name, caller, params);
    told(m->hub);
}

void member_on_message(void *ctx, struct link *l, const char *caller, struct span params)
{
    struct member *m = ctx;
    struct hub_subscription *s;

    (void)l;
    m->hub->telling++;
    for (s = next_of(m->hub, NULL); s; s = next_of(m->hub, s))
        if (s->to.message)
            s->to.message(s->to.ctx, m->name, caller, params);
    told(m->hub);
}

bool member_on_question(void *ctx, struct link *l, struct link_question *q, struct span method,
                        struct span params)
{
    struct member *m = ctx;
    struct hub_subscription *s;
    bool taken = false;

    (void)l;
    m->hub->telling++;
    for (s = next_of(m->hub, NULL); s && !taken; s = next_of(m->hub, s))
        taken = s->to.question && s->to.question(s->to.ctx, m->name, q, method, params);
    told(m->hub);
    return taken;
}

void member_on_withdrawn(void *ctx, struct link *l, const struct link_question *q)
{
    struct member *m = ctx;
    struct hub_subscription *s;

    (void)l;
    m->hub->telling++;
    for (s = next_of(m->hub, NULL); s; s = next_of(m->hub, s))
        if (s->to.withdrawn)
            s->to.withdrawn(s->to.ctx, q);
    told(m->hub);
}

void member_on_elicited(void *ctx, struct link *l, struct span params)
{
    struct member *m = ctx;
    struct hub_subscription *s;

    (void)l;
    m->hub->telling++;
    for (s = next_of(m->hub, NULL); s; s = next_of(m->hub, s))
        if (s->to.elicited)
            s->to.elicited(s->to.ctx, m->name, params);
    told(m->hub);
}

void member_on_learned(void *ctx, struct link *l)
{
    struct member *m = ctx;

    if (l != m->link || member_is(m, MEMBER_LEAVING))
        return;
    m->cache_dirty = true;
    member_touch(m);
}

void member_on_clear(void *ctx, struct link *l)
{
    struct member *m = ctx;

    (void)l;
    member_touch(m); /* an attempt may have waited for it */
}

void hub_lists_changed(struct hub *h, const char *server, unsigned kinds)
{
    struct span key = span_of(server);
    uintptr_t before = (uintptr_t)map_get(&h->changed, key);

    if (h->closing)
        return;
    map_put(&h->changed, key, (void *)(before | kinds));
    hub_touch(h);
}

static void tell_change(struct hub *h, enum list_kind kind, const char *server)
{
    struct hub_subscription *s;

    h->telling++;
    for (s = next_of(h, NULL); s; s = next_of(h, s))
        if (s->to.list_changed)
            s->to.list_changed(s->to.ctx, kind, server);
    told(h);
}

void hub_tell_changes(struct hub *h)
{
    struct map changed = h->changed;
    struct map_slot *slot;

    /* What is changed while we tell is told in the next turn. */
    h->changed = (struct map){ 0 };
    MAP_FOREACH(slot, &changed) {
        AUTO_FREE char *server = mem_dupn(slot->key, slot->key_n);
        struct member *m = hub_find(h, server);

        if (m)
            hub_tell_member(m, EVENT_CATALOG);
        for (unsigned kind = 0; kind < LIST_KINDS; kind++)
            if ((uintptr_t)slot->value & (1U << kind))
                tell_change(h, (enum list_kind)kind, server);
    }
    map_done(&changed);
}
