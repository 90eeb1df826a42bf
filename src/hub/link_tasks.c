/* link_tasks.c - tasks that clients want to hear of. A server is asked to tell of one on the client
 * that the calls of its caller go to. */
#include "link_impl.h"

static struct channel *channel_of(struct link *l, const char *caller)
{
    return instances_wanted(l) && *caller ? instance_find(l, caller) : &l->shared;
}

/* Which channel an entry of link.tasks is for, and which task it is; callers have no line ends. */
static struct channel *read_key(struct link *l, const struct map_slot *slot, struct span *id)
{
    const char *end = memchr(slot->key, '\n', slot->key_n);
    AUTO_FREE char *caller = mem_dupn(slot->key, (size_t)(end - slot->key));

    *id = span_from(span_make(slot->key, slot->key_n), (size_t)(end - slot->key) + 1);
    return channel_of(l, caller);
}

void tasks_restore(struct channel *ch)
{
    struct map_slot *slot;
    struct span id;

    MAP_FOREACH(slot, &ch->l->tasks)
        if (read_key(ch->l, slot, &id) == ch)
            client_watch_task(ch->client, id, true);
}

bool tasks_watched(const struct channel *ch)
{
    struct map_slot *slot;
    struct span id;

    MAP_FOREACH(slot, &ch->l->tasks)
        if (read_key(ch->l, slot, &id) == ch)
            return true;
    return false;
}

/* By this caller, or by another one of the same process. */
static bool still_watched(struct channel *ch, struct span id)
{
    struct map_slot *slot;
    struct span other;

    MAP_FOREACH(slot, &ch->l->tasks)
        if (read_key(ch->l, slot, &other) == ch && span_eq(id, other))
            return true;
    return false;
}

void link_watch_task(struct link *l, const char *caller, struct span id, bool on)
{
    struct channel *ch = channel_of(l, caller);
    AUTO_BUF struct buf key = { 0 };

    buf_printf(&key, "%s\n", caller);
    buf_add_span(&key, id);
    if (!on)
        map_del(&l->tasks, buf_span(&key));
    else if (l->tasks.n < MCP_SUBSCRIPTIONS_MAX)
        map_put(&l->tasks, buf_span(&key), l);
    else
        link_log(l, PB_LOG_WARNING, "%d tasks are watched already; one more is not",
                 MCP_SUBSCRIPTIONS_MAX);
    if (!ch || !ch->client || !ch->ready)
        return;
    client_watch_task(ch->client, id, still_watched(ch, id));
    if (ch->caller)
        instance_rest(ch);
}

bool link_watches_tasks(const struct link *l) { return l->tasks.n > 0; }
