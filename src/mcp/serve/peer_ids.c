/* peer_ids.c - the requests of one client that are in flight, by their ids: one that is in use must
 * not be used again, and a cancellation names one. The index is small while there are few, and goes
 * with the last of many: an idle session costs next to nothing. */
#include "peer_impl.h"

enum { BUCKETS_MIN = 16 };

static bool is_escaped(struct span id)
{
    return id.n && id.p[0] == '"' && memchr(id.p, '\\', id.n);
}

/* A string's characters between quotes, without escapes. */
static struct span decoded(struct span id, struct buf *out)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena arena = { 0 };

    if (json_parse(&doc, id, NULL, NULL) < 0)
        return id;
    buf_byte(out, '"');
    buf_add_span(out, json_str(json_root(&doc), &arena));
    buf_byte(out, '"');
    return buf_span(out);
}

/* The same string may be spelled in two ways; numbers only in one. */
static bool same_id(struct span a, struct span b)
{
    AUTO_BUF struct buf x = { 0 }, y = { 0 };

    if (span_eq(a, b))
        return true;
    if (!is_escaped(a) && !is_escaped(b))
        return false;
    return span_eq(is_escaped(a) ? decoded(a, &x) : a, is_escaped(b) ? decoded(b, &y) : b);
}

static uint64_t hash_id(struct span id)
{
    AUTO_BUF struct buf plain = { 0 };

    return hash_keyed(is_escaped(id) ? decoded(id, &plain) : id);
}

static struct request *find(const struct peer *p, struct span id, uint64_t hash)
{
    struct request *r = p->n_buckets ? p->by_id[hash & (p->n_buckets - 1)] : NULL;

    while (r && (r->id_hash != hash || !same_id(r->id, id)))
        r = r->next_of_id;
    return r;
}

struct request *ids_find(const struct peer *p, struct span id)
{
    return id.n && p->n_ids ? find(p, id, hash_id(id)) : NULL;
}

static void enter(struct peer *p, struct request *r)
{
    struct request **at = &p->by_id[r->id_hash & (p->n_buckets - 1)];

    r->next_of_id = *at;
    *at = r;
}

static void grow(struct peer *p)
{
    p->n_buckets = p->n_buckets ? p->n_buckets * 2 : BUCKETS_MIN;
    free(p->by_id);
    p->by_id = mem_zero(p->n_buckets * sizeof *p->by_id);
    for (struct list *pos = p->requests.next; pos != &p->requests; pos = pos->next) {
        struct request *r = CONTAINER_OF(pos, struct request, in_peer);

        if (r->has_id)
            enter(p, r);
    }
}

bool ids_add(struct request *r)
{
    struct peer *p = r->peer;

    r->id_hash = hash_id(r->id);
    if (find(p, r->id, r->id_hash))
        return false;
    if (p->n_ids == p->n_buckets)
        grow(p);
    enter(p, r);
    r->has_id = true;
    p->n_ids++;
    return true;
}

void ids_remove(struct request *r)
{
    struct peer *p = r->peer;
    struct request **at;

    if (!r->has_id)
        return;
    at = &p->by_id[r->id_hash & (p->n_buckets - 1)];
    while (*at != r)
        at = &(*at)->next_of_id;
    *at = r->next_of_id;
    r->has_id = false;
    if (--p->n_ids == 0 && p->n_buckets > BUCKETS_MIN) {
        free(TAKE(p->by_id));
        p->n_buckets = 0;
    }
}
