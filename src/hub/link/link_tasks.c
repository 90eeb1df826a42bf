/* link_tasks.c - tasks that clients want to hear of. A server is asked to tell of one on the client
 * that the calls of its caller go to. */
#include "link_impl.h"
#include "mcp/client/client.h"

static struct channel *channel_of(struct link *l, const char *caller)
{
    return instances_wanted(l) && *caller ? instance_find(l, caller) : &l->shared;
}

/* Is it the channel of this caller? */
static bool is_of(const struct channel *ch, struct span caller)
{
    return instances_wanted(ch->l) && caller.n ? ch->caller && span_is(caller, ch->caller)
                                               : !ch->caller;
}

void tasks_restore(struct channel *ch)
{
    struct map_slot *slot;

    MAP_FOREACH(slot, &ch->l->tasks.keys) {
        struct span key = span_make(slot->key, slot->key_n);
        const char *end = memchr(key.p, '\n', key.n); /* callers have no line ends */
        size_t n = (size_t)(end - key.p);

        if (is_of(ch, span_make(key.p, n)))
            client_watch_task(ch->client, span_from(key, n + 1), true);
    }
}

bool tasks_watched(const struct channel *ch)
{
    return instances_wanted(ch->l) && map_get(&ch->l->tasks.callers, span_of(ch->caller));
}

/* By this caller, or by another one of the same process. */
static bool still_watched(const struct channel *ch, struct span key, struct span id)
{
    const struct watched_tasks *w = &ch->l->tasks;
    bool apart = instances_wanted(ch->l);

    return map_get(apart ? &w->keys : &w->ids, apart ? key : id) != NULL;
}

static void count(struct map *m, struct span of, bool more)
{
    uintptr_t n = (uintptr_t)map_get(m, of) + (more ? 1 : (uintptr_t)-1);

    if (n)
        map_put(m, of, (void *)n);
    else
        map_del(m, of);
}

/* False: there are too many. */
static bool note(struct link *l, const char *caller, struct span id, struct span key, bool on)
{
    struct watched_tasks *w = &l->tasks;

    if (on == (map_get(&w->keys, key) != NULL))
        return true;
    if (on && w->keys.n >= MCP_SUBSCRIPTIONS_MAX)
        return false;
    if (on)
        map_put(&w->keys, key, l);
    else
        map_del(&w->keys, key);
    count(&w->callers, span_of(caller), on);
    count(&w->ids, id, on);
    return true;
}

void link_watch_task(struct link *l, const char *caller, struct span id, bool on)
{
    struct channel *ch = channel_of(l, caller);
    AUTO_BUF struct buf key = { 0 };

    buf_printf(&key, "%s\n", caller);
    buf_add_span(&key, id);
    if (!note(l, caller, id, buf_span(&key), on))
        link_log(l, PB_LOG_WARNING, "%d tasks are watched already; one more is not",
                 MCP_SUBSCRIPTIONS_MAX);
    if (!ch || !ch->client || !ch->ready)
        return;
    client_watch_task(ch->client, id, still_watched(ch, buf_span(&key), id));
    if (ch->caller)
        instance_idle(ch);
}

bool link_watches_tasks(const struct link *l) { return l->tasks.keys.n > 0; }

void tasks_done(struct link *l)
{
    map_done(&l->tasks.keys);
    map_done(&l->tasks.callers);
    map_done(&l->tasks.ids);
}
