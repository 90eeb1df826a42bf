/* rows.c - calls out of their blocks, one by one. */
#include "store_impl.h"

int block_open(struct conn *c, int64_t id, struct span data, struct call_row *rows, size_t *n,
               struct pb_error *err)
{
    return block_read(data, id, rows, n) == 0
               ? 0
               : fail(err, PB_E_INVALID, "'%s' is damaged: calls cannot be unpacked", c->path);
}

struct row_walk {
    int64_t from, to;
    bool newest_first;
    row_fn *fn;
    void *ctx;
};

static int walk_block(struct conn *c, const struct row_walk *w, sqlite3_stmt *st,
                      struct pb_error *err)
{
    struct call_row rows[BLOCK_CALLS];
    size_t n;
    int rc = block_open(c, row_int(c, st, 0), row_bytes(c, st, 1), rows, &n, err);

    for (size_t i = 0; i < n && rc == 0; i++) {
        const struct call_row *row = &rows[w->newest_first ? n - 1 - i : i];

        if (row->no >= w->from && row->no <= w->to)
            rc = w->fn(w->ctx, row, err);
    }
    return rc;
}

static int walk(struct conn *c, const struct row_walk *w, struct pb_error *err)
{
    sqlite3_stmt *st = db_statement(c, w->newest_first ? SQL_BLOCKS_DOWN : SQL_BLOCKS, err);
    int rc;

    if (!st)
        return -PB_E_SYSTEM;
    bind_int(c, st, 1, w->from / BLOCK_CALLS);
    bind_int(c, st, 2, w->to / BLOCK_CALLS);
    while ((rc = db_row(c, st, err)) > 0) {
        rc = walk_block(c, w, st, err);
        if (rc)
            break;
    }
    db_end(c, st);
    return rc;
}

int rows_each(struct conn *c, int64_t from, int64_t to, row_fn *fn, void *ctx, struct pb_error *err)
{
    return walk(c, &(struct row_walk){ from, to, false, fn, ctx }, err);
}

int rows_each_newest(struct conn *c, int64_t from, int64_t to, row_fn *fn, void *ctx,
                     struct pb_error *err)
{
    return walk(c, &(struct row_walk){ from, to, true, fn, ctx }, err);
}
