#include "arena.h"
#include "mem.h"
#include "spare.h"
#include <stdalign.h>
#include <stdarg.h>
#include <stdio.h>

/* The first block is small: most arenas hold a few strings. Those after it double. */
enum { BLOCK_FIRST = 480, BLOCK_MOST = 4000 };

struct arena_block {
    struct arena_block *next;
    size_t used, cap;
    alignas(max_align_t) char data[];
};

static size_t round_up(size_t n)
{
    size_t a = alignof(max_align_t);

    return (n + a - 1) / a * a;
}

void *arena_alloc(struct arena *a, size_t n)
{
    struct arena_block *b = a->head;
    char *p;

    n = round_up(n ? n : 1);
    if (!b || b->cap - b->used < n) {
        size_t cap = b ? b->cap * 2 : BLOCK_FIRST;

        if (cap > BLOCK_MOST)
            cap = BLOCK_MOST;
        if (cap < n)
            cap = n;
        b = spare_take(sizeof *b + cap);
        b->cap = cap;
        b->used = 0;
        b->next = a->head;
        a->head = b;
    }
    p = b->data + b->used;
    b->used += n;
    return memset(p, 0, n);
}

char *arena_dup(struct arena *a, struct span s)
{
    char *p = arena_alloc(a, s.n + 1);

    if (s.n)
        memcpy(p, s.p, s.n);
    return p;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
    va_list ap;
    char *p;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    p = arena_alloc(a, (size_t)(n < 0 ? 0 : n) + 1);
    if (n > 0) {
        va_start(ap, fmt);
        vsnprintf(p, (size_t)n + 1, fmt, ap);
        va_end(ap);
    }
    return p;
}

static void drop(struct arena_block *b)
{
    while (b) {
        struct arena_block *next = b->next;

        spare_give(b, sizeof *b + b->cap);
        b = next;
    }
}

void arena_reset(struct arena *a)
{
    if (!a->head)
        return;
    drop(a->head->next);
    a->head->next = NULL;
    a->head->used = 0;
    if (a->head->cap > BLOCK_MOST)
        arena_done(a);
}

void arena_drop(struct arena *a)
{
    drop(a->head);
    a->head = NULL;
}
