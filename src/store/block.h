/* block.h - up to BLOCK_CALLS calls are one row of the file: each says only in what it differs from
 * the one before it. Bytes in, rows out; no file is touched here. */
#pragma once
#include "schema.h"

/* A call in numbers, and what has none. */
struct call_row {
    int64_t no;
    uint32_t changed; /* when it is read: bit COLUMN is set if it differs from the row before */
    uint8_t uuid[UUID_BYTES];
    int64_t v[CALL_NUMBERS];      /* 0: none */
    struct span text[CALL_TEXTS]; /* p NULL: none */
};

/* One that grows. A zeroed one with id -1 is of no block. */
struct block {
    int64_t id; /* of its calls the number is at least id * BLOCK_CALLS */
    size_t n;
    struct buf data;
    struct call_row last; /* but for its texts, which are here in the data: */
    size_t text_at[CALL_TEXTS];
};

void block_start(struct block *b, int64_t id);
void block_add(struct block *b, const struct call_row *row);
void block_done(struct block *b);

/* All rows of a block, in order; their texts lie in the data. -PB_E_INVALID: it is damaged. */
MUST_CHECK int block_read(struct span data, int64_t id, struct call_row rows[static BLOCK_CALLS],
                          size_t *n);
/* Goes on with a block that was written earlier. */
MUST_CHECK int block_resume(struct block *b, int64_t id, struct span data);
