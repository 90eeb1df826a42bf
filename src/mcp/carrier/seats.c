#include "seats.h"
#include <assert.h>

struct seat_owner {
    char *principal;
    struct list seats;
    size_t n;
};

static struct seat *seat_at(struct list *at) { return CONTAINER_OF(at, struct seat, at); }

static size_t owned(const struct seat_owner *o) { return o ? o->n : 0; }

static struct seat_owner *with_most(const struct seats *all)
{
    struct seat_owner *most = NULL;
    struct map_slot *slot;

    MAP_FOREACH(slot, &all->owners)
        if (owned(slot->value) > owned(most))
            most = slot->value;
    return most;
}

/* Only a few are looked at. Those that are busy go to the end, though nobody used them: the next
 * look gets further. */
static struct seat *find_idle(struct seat_owner *o)
{
    enum { LOOK_AT = 16 };

    for (int i = 0; i < LOOK_AT && !list_empty(&o->seats); i++) {
        struct seat *s = seat_at(o->seats.next);

        if (s->ops->idle && s->ops->idle(s))
            return s;
        seat_touch(s);
    }
    return NULL;
}

/* Its client finds out with its next request, and starts anew: that is what 404 tells it. */
static bool make_room(struct seats *all, struct seat_owner *asks)
{
    struct seat_owner *most = with_most(all);
    struct seat *s;

    if (owned(asks) == owned(most))
        most = asks;
    s = find_idle(most);
    if (!s && most != asks)
        s = seat_at(most->seats.next);
    if (!s)
        return false;
    s->ops->end(s);
    return true;
}

static struct seat_owner *owner_of(struct seats *all, const char *principal)
{
    struct seat_owner *o = map_get(&all->owners, span_of(principal));

    if (!o) {
        o = NEW(struct seat_owner);
        o->principal = mem_dup(principal);
        list_init(&o->seats);
        map_put(&all->owners, span_of(principal), o);
    }
    return o;
}

void seats_done(struct seats *all)
{
    assert(!all->n);
    map_done(&all->owners);
}

bool seat_take(struct seat *s, struct seats *all, const char *principal, const struct seat_ops *ops)
{
    if (all->n >= MCP_SESSIONS_MAX && !make_room(all, map_get(&all->owners, span_of(principal))))
        return false;
    *s = (struct seat){ .all = all, .owner = owner_of(all, principal), .ops = ops };
    list_append(&s->owner->seats, &s->at);
    s->owner->n++;
    all->n++;
    return true;
}

void seat_touch(struct seat *s)
{
    list_remove(&s->at);
    list_append(&s->owner->seats, &s->at);
}

void seat_leave(struct seat *s)
{
    struct seat_owner *o = s->owner;

    list_remove(&s->at);
    s->all->n--;
    if (--o->n)
        return;
    map_del(&s->all->owners, span_of(o->principal));
    free(o->principal);
    free(o);
}
