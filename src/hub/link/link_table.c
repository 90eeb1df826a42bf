/* link_table.c - the calls of a link that have not ended: in order, by id and by uuid. */
#include "link_impl.h"
#include <endian.h>

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
    if (c->named)
        map_put(&l->named, span_of(c->uuid), c);
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
    if (c->named && map_get(&l->named, span_of(c->uuid)) == c)
        map_del(&l->named, span_of(c->uuid));
}

struct link_call *link_call_find(const struct link *l, uint64_t id)
{
    struct link_call *c = l->n_buckets ? *bucket(l, id) : NULL;

    while (c && c->id != id)
        c = c->next;
    return c;
}

/* ---- by uuid ---- */

/* 128 random bits once, then counting: no system call for each call and each line. The two bits
 * of the variant and the four of the version are put in their places. */
void link_uuid(const struct link *l, uint64_t no, char out[static UUID_CHARS + 1])
{
    uint64_t low = l->uuid[1] + no;
    uint64_t high = (l->uuid[0] & ~UINT64_C(0xf000)) | UINT64_C(0x4000);

    low = (low & ~(UINT64_C(3) << 62)) | (UINT64_C(2) << 62);
    uuid_write((const uint8_t *)(const uint64_t[]){ htobe64(high), htobe64(low) }, out);
}

/* The other way round, for one that looks like ours. */
static uint64_t number_of(const struct link *l, const char *uuid)
{
    uint64_t low = strtoull(uuid + 19, NULL, 16) << 48 | strtoull(uuid + 24, NULL, 16);

    return (low - l->uuid[1]) & ~(UINT64_C(3) << 62);
}

const char *link_call_uuid(struct link_call *c)
{
    if (!c->uuid[0])
        link_uuid(c->l, 2 * c->id + 1, c->uuid);
    return c->uuid;
}

struct link_call *link_call_of_uuid(const struct link *l, const char *uuid)
{
    struct link_call *c = map_get(&l->named, span_of(uuid));

    if (c || strlen(uuid) != UUID_CHARS)
        return c;
    c = link_call_find(l, number_of(l, uuid) / 2);
    return c && strcmp(link_call_uuid(c), uuid) == 0 ? c : NULL;
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
    spare_give(c, c->size);
}
