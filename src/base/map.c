#include "map.h"
#include "hash.h"
#include "mem.h"

enum { MAP_MIN = 8 };

static size_t index_size(const struct map *m) { return m->cap * 2; }

static void index_insert(struct map *m, uint32_t slot)
{
    size_t mask = index_size(m) - 1;
    size_t i = m->slots[slot].hash & mask;

    while (m->index[i])
        i = (i + 1) & mask;
    m->index[i] = slot + 1;
}

/* Makes room for one more slot: squeezes out the deleted ones, and doubles when that is not
 * enough. The index is rebuilt, which is also what removes its tombstones. */
static void rebuild(struct map *m)
{
    size_t cap = m->cap ? m->cap : MAP_MIN;
    size_t live = 0;

    if (m->n * 4 >= cap * 3)
        cap *= 2;
    for (size_t i = 0; i < m->used; i++)
        if (m->slots[i].key)
            m->slots[live++] = m->slots[i];
    m->used = live;
    m->slots = mem_resize(m->slots, cap * sizeof *m->slots);
    free(m->index);
    m->cap = cap;
    m->index = mem_zero(index_size(m) * sizeof *m->index);
    for (size_t i = 0; i < live; i++)
        index_insert(m, (uint32_t)i);
}

static struct map_slot *find(const struct map *m, struct span key, uint64_t hash)
{
    size_t mask, i;

    if (!m->cap)
        return NULL;
    mask = index_size(m) - 1;
    for (i = hash & mask; m->index[i]; i = (i + 1) & mask) {
        struct map_slot *s = &m->slots[m->index[i] - 1];

        if (s->key && s->hash == hash && span_eq(span_make(s->key, s->key_n), key))
            return s;
    }
    return NULL;
}

void *map_get(const struct map *m, struct span key)
{
    struct map_slot *s = m->n ? find(m, key, hash_keyed(key)) : NULL;

    return s ? s->value : NULL;
}

void *map_put(struct map *m, struct span key, void *value)
{
    uint64_t hash = hash_keyed(key);
    struct map_slot *s = find(m, key, hash);

    if (s) {
        void *old = s->value;

        s->value = value;
        return old;
    }
    if (m->used == m->cap)
        rebuild(m);
    m->slots[m->used] = (struct map_slot){ mem_dupn(key.p, key.n), key.n, hash, value };
    index_insert(m, (uint32_t)m->used++);
    m->n++;
    return NULL;
}

void *map_del(struct map *m, struct span key)
{
    struct map_slot *s = m->n ? find(m, key, hash_keyed(key)) : NULL;
    void *old;

    if (!s)
        return NULL;
    old = s->value;
    free(s->key);
    s->key = NULL; /* the index entry stays as a tombstone until the next rebuild */
    m->n--;
    return old;
}

void map_done(struct map *m)
{
    for (size_t i = 0; i < m->used; i++)
        free(m->slots[i].key);
    free(m->slots);
    free(m->index);
    *m = (struct map){ 0 };
}

struct map_slot *map_next(const struct map *m, size_t *at)
{
    while (*at < m->used) {
        struct map_slot *s = &m->slots[(*at)++];

        if (s->key)
            return s;
    }
    return NULL;
}
