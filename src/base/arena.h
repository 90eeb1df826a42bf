/* arena.h - everything that one message or one parse allocates, freed at once. A zeroed struct
 * arena is valid. Not for bytes whose number a peer chooses without a limit. */
#pragma once
#include "macros.h"
#include "span.h"

struct arena_block;
struct arena {
    struct arena_block *head;
};

#define AUTO_ARENA __attribute__((cleanup(arena_done)))

/* Aligned for any type; zeroed; never NULL. */
void *arena_alloc(struct arena *a, size_t n) __attribute__((returns_nonnull));
/* A terminated copy. */
char *arena_dup(struct arena *a, struct span s) __attribute__((returns_nonnull));
char *arena_printf(struct arena *a, const char *fmt, ...) PRINTF(2, 3)
    __attribute__((returns_nonnull));
/* Forgets everything; keeps one block for the next use. */
void arena_reset(struct arena *a);
void arena_drop(struct arena *a); /* arena_done() of one that is not empty */
static inline void arena_done(struct arena *a)
{
    if (a->head)
        arena_drop(a);
}
