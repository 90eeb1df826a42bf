/* link_table.c - the calls of a link that have not ended: in order, and by id. */
#include "link_impl.h"

enum { BUCKETS_MIN = 64 };

static struct link_call **bucket(const struct link *l, uint64_t id)
{
    return &l->buckets[id & (l->n_buckets - 1)];
}

static void grow(struct link *l)
{
    size_t n = l->n_buckets ? l->n_buckets * 2 : BUCKETS_MIN;

    free(l->buckets);
    l->buckets = mem_zero(n * sizeof(struct link_call *));
    l->n_buckets = n;
    for (struct list *pos = l->calls.next; pos != &l->calls; pos = pos->next) {
        struct link_call *c = CONTAINER_OF(pos, struct link_call, at);

        c->next = *bucket(l, c->id);
        *bucket(l, c->id) = c;
    }
}

void link_call_enlist(struct link_call *c)
{
    struct link *l = c->l;

    if (l->n_calls >= l->n_buckets)
        grow(l);
    c->next = *bucket(l, c->id);
    *bucket(l, c->id) = c;
    list_append(&l->calls, &c->at);
    l->n_calls++;
}

void link_call_delist(struct link_call *c)
{
    struct link *l = c->l;
    struct link_call **at = bucket(l, c->id);

    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    list_remove(&c->at);
    l->n_calls--;
}

struct link_call *link_call_find(const struct link *l, uint64_t id)
{
    struct link_call *c = l->n_buckets ? *bucket(l, id) : NULL;

    while (c && c->id != id)
        c = c->next;
    return c;
}

const char *link_call_uuid(struct link_call *c)
{
    if (!c->uuid[0])
        link_uuid(c->l, c->uuid);
    return c->uuid;
}

struct link_call *link_call_of_uuid(const struct link *l, const char *uuid)
{
    for (struct list *pos = l->calls.next; pos != &l->calls; pos = pos->next) {
        struct link_call *c = CONTAINER_OF(pos, struct link_call, at);

        if (strcmp(link_call_uuid(c), uuid) == 0)
            return c;
    }
    return NULL;
}

bool link_has_call(const struct link *l, const char *uuid) { return link_call_of_uuid(l, uuid); }

void link_each_call(const struct link *l, void (*fn)(void *ctx, const struct call_view *c),
                    void *ctx)
{
    struct list *pos, *safe;

    LIST_FOREACH(pos, safe, &l->calls) {
        struct link_call *c = CONTAINER_OF(pos, struct link_call, at);
        struct call_view v = {
            .id = c->id,
            .uuid = link_call_uuid(c),
            .subject = c->spec.subject,
            .method = c->spec.method,
            .caller = c->spec.caller,
            .client = c->spec.client,
            .started_at = c->started_at,
            .progressed = c->progressed,
            .progress = c->progress,
            .total = c->total,
            .message = c->message,
        };

        fn(ctx, &v);
    }
}

void link_call_free(struct link_call *c)
{
    assert(!timer_running(&c->timer) && "a call that has ended arms nothing");
    questions_free(c);
    if (c->params)
        blob_unref(c->params);
    free(c->message);
    free(c);
}
