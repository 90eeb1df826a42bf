#include "table.h"
#include "mem.h"
#include <assert.h>

enum { TABLE_MIN = 16 };

static size_t home(const struct table *t, uint64_t no) { return (size_t)no & (t->cap - 1); }

static size_t find(const struct table *t, uint64_t no)
{
    size_t i = home(t, no);

    while (t->slots[i].no && t->slots[i].no != no)
        i = (i + 1) & (t->cap - 1);
    return i;
}

void *table_get(const struct table *t, uint64_t no)
{
    return t->n && no ? t->slots[find(t, no)].value : NULL;
}

/* At most half full: chains stay short, and a search always meets a free slot. */
static void grow(struct table *t)
{
    struct table old = *t;

    t->cap = old.cap ? old.cap * 2 : TABLE_MIN;
    t->slots = mem_zero(t->cap * sizeof *t->slots);
    for (size_t i = 0; i < old.cap; i++)
        if (old.slots[i].no)
            t->slots[find(t, old.slots[i].no)] = old.slots[i];
    free(old.slots);
}

void table_put(struct table *t, uint64_t no, void *value)
{
    size_t i;

    if (2 * (t->n + 1) > t->cap)
        grow(t);
    i = find(t, no);
    assert(no && !t->slots[i].no && "a number is given out once");
    t->slots[i] = (struct table_slot){ no, value };
    t->n++;
}

void *table_del(struct table *t, uint64_t no)
{
    size_t mask = t->cap - 1, hole, i;
    void *value;

    if (!t->n || !no)
        return NULL;
    hole = find(t, no);
    value = t->slots[hole].value;
    if (!t->slots[hole].no)
        return NULL;
    /* Those behind it that had to step aside move up, as a search ends at a free slot. */
    for (i = (hole + 1) & mask; t->slots[i].no; i = (i + 1) & mask) {
        size_t want = home(t, t->slots[i].no);

        if (((i - want) & mask) < ((i - hole) & mask))
            continue;
        t->slots[hole] = t->slots[i];
        hole = i;
    }
    t->slots[hole] = (struct table_slot){ 0 };
    t->n--;
    return value;
}

void *table_any(const struct table *t)
{
    for (size_t i = 0; t->n && i < t->cap; i++)
        if (t->slots[i].no)
            return t->slots[i].value;
    return NULL;
}

void table_done(struct table *t)
{
    free(t->slots);
    *t = (struct table){ 0 };
}
