/* table.h - things by number, for numbers that count up and that we give out ourselves, and for
 * hashes: such a number is its own hash. Putting in and taking out allocates nothing, unless the
 * table grows. A zeroed struct table is empty and valid. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct table_slot {
    uint64_t no; /* 0: free */
    void *value;
};

struct table {
    struct table_slot *slots;
    size_t n, cap;
};

void *table_get(const struct table *t, uint64_t no);
/* `no` must not be 0, nor in the table yet. */
void table_put(struct table *t, uint64_t no, void *value);
/* Returns the value, or NULL when it was not there. */
void *table_del(struct table *t, uint64_t no);
/* Any of them; NULL: it is empty. */
void *table_any(const struct table *t);
void table_done(struct table *t);
