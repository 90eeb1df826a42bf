/* map.h - a hash table from bytes to pointers. Keys are copied in; values are the caller's.
 * A zeroed struct map is empty and valid. Iteration order is insertion order until something
 * is deleted. Hashes are keyed per process, so that a peer cannot choose collisions. */
#pragma once
#include "span.h"
#include <stdint.h>

struct map_slot {
    char *key; /* NULL: free or deleted */
    size_t key_n;
    uint64_t hash;
    void *value;
};

struct map {
    struct map_slot *slots; /* dense, in order of insertion */
    uint32_t *index;        /* open addressing into slots; 0 = empty, else slot + 1 */
    size_t n, used, cap;    /* live, filled, allocated slots; the index is twice as large */
};

void *map_get(const struct map *m, struct span key);
/* Returns the value that was there before, or NULL. */
void *map_put(struct map *m, struct span key, void *value);
void *map_del(struct map *m, struct span key);
void map_done(struct map *m);
/* The next filled slot at or after *at, or NULL; moves *at past it. Deleting the slot just
 * returned is allowed; adding while iterating is not. */
struct map_slot *map_next(const struct map *m, size_t *at);

#define MAP_FOREACH(slot, m) \
    for (size_t slot##_at = 0; ((slot) = map_next((m), &slot##_at)) != NULL;)

/* Integer keys. */
static inline struct span map_u64(const uint64_t *key)
{
    return (struct span){ (const char *)key, sizeof *key };
}
