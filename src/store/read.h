/* read.h - one question, from being asked to its answer. For the files of this room. */
#pragma once
#include "store_impl.h"

enum read_kind { READ_PAGE, READ_OBJECT, READ_STATS };

/* Runs on a worker. */
typedef int read_work_fn(struct store_read *r, struct conn *c, struct pb_error *err);

struct store_read {
    struct list link; /* in store.reads */
    struct store *s;
    enum read_kind kind;
    read_work_fn *work;
    union {
        call_page_fn *page;
        object_fn *object;
        store_stats_fn *stats;
    } fn;
    void *ctx;
    uint64_t seq, text_turn;
    bool wants_text, running;
    atomic_bool cancelled;
    struct store_reader *reader;
    int64_t until; /* the time it may take; ms */

    struct arena asked; /* what the question is made of */
    struct call_query query;
    uint8_t uuid[UUID_BYTES], cid[SHA512_BYTES];

    struct call_page page;
    struct buf bytes;
    struct store_stats stats;
    struct pb_error err;
    int rc;
};

/* NULL: the store is closing. */
struct store_read *read_new(struct store *s, read_work_fn *work, enum read_kind kind);

/* Rows to what is told of them, in the arena of the page. */
struct page_maker {
    struct conn *c;
    struct call_page *page;
    size_t cap;
    struct map words; /* by number, texts in the arena */
};
MUST_CHECK int page_add(struct page_maker *m, const struct call_row *row, struct pb_error *err);
void page_done(struct page_maker *m);
/* The numbers of the whole; the caller's connection is in a transaction. */
MUST_CHECK int state_read(struct conn *c, struct store_state *out, struct pb_error *err);
