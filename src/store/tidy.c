/* tidy.c - what is too old, too many or too large goes, the oldest first; and what somebody wants
 * to be forgotten. A step is one small transaction, so that it holds up neither those who write nor
 * those who read. Objects go with their last reference (objects_settle()). */
#include "store_impl.h"
#include <stdio.h>

enum { PAGE_BYTES = 4096, LOOK_BYTES = 16777216 /* written before the file's size is looked at */ };

/* Which calls are to go: by number and by when they were queued. */
struct doomed {
    int64_t from, to, until_us;
    size_t most;
};

struct dropped {
    int64_t first, last;
    size_t n;
};

/* What goes with it: objects are looked at where they are new, so that much is noticed. */
static int refer_less(struct writer *w, const struct call_row *row, struct pb_error *err)
{
    for (size_t i = 0; i < RECORD_OBJECTS; i++) {
        int64_t id = row->v[CALL_ARGUMENTS + i];
        sqlite3_stmt *st;
        int rc;

        if (!id)
            continue;
        object_refer(w, i, id, -1);
        if (!(row->changed >> (CALL_ARGUMENTS + i) & 1))
            continue;
        st = db_statement(&w->c, SQL_OBJECT_CID, err);
        if (!st)
            return -PB_E_SYSTEM;
        bind_int(&w->c, st, 1, id);
        rc = db_row(&w->c, st, err);
        if (rc < 0)
            return rc;
        w->bytes += rc ? (size_t)row_int(&w->c, st, 1) : 0;
        db_end(&w->c, st);
    }
    return 0;
}

static bool is_doomed(const struct writer *w, const struct doomed *d, const struct dropped *out,
                      const struct call_row *row)
{
    return row->no >= d->from && row->no <= d->to && row->v[CALL_QUEUED] <= d->until_us &&
           out->n < d->most && w->bytes < STORE_COMMIT_BYTES;
}

/* What is left of a block. */
static int write_rest(struct writer *w, struct block *left, struct pb_error *err)
{
    sqlite3_stmt *st = db_statement(&w->c, left->n ? SQL_BLOCK_SET : SQL_BLOCK_DROP, err);

    if (!st)
        return -PB_E_SYSTEM;
    if (left->id == w->tail.id)
        calls_forget_tail(w);
    bind_int(&w->c, st, 1, left->id);
    if (left->n)
        bind_blob(&w->c, st, 2, buf_span(&left->data));
    return db_run(&w->c, st, err);
}

/* Notes what goes, and puts what stays into `left`. */
static int sift(struct writer *w, const struct doomed *d, const struct call_row *rows, size_t n,
                struct block *left, struct dropped *out, struct pb_error *err)
{
    int rc = 0;

    for (size_t i = 0; i < n && rc == 0; i++) {
        if (!is_doomed(w, d, out, &rows[i])) {
            block_add(left, &rows[i]);
            continue;
        }
        rc = refer_less(w, &rows[i], err);
        out->first = out->n ? out->first : rows[i].no;
        out->last = rows[i].no;
        out->n++;
        w->now.calls--;
    }
    return rc;
}

/* 1: enough. */
static int drop_in_block(struct writer *w, const struct doomed *d, sqlite3_stmt *st,
                         struct dropped *out, struct pb_error *err)
{
    struct call_row rows[BLOCK_CALLS];
    struct block left = { .id = -1 };
    size_t n, before = out->n;
    int64_t id = row_int(&w->c, st, 0);
    int rc = block_open(&w->c, id, row_bytes(&w->c, st, 1), rows, &n, err);

    block_start(&left, id);
    if (rc == 0)
        rc = sift(w, d, rows, n, &left, out, err);
    if (rc == 0 && out->n > before)
        rc = write_rest(w, &left, err);
    block_done(&left);
    return rc < 0 ? rc : out->n == d->most || w->bytes >= STORE_COMMIT_BYTES;
}

/* Some of them: as many as the transaction may hold. */
static int drop_some(struct writer *w, const struct doomed *d, struct dropped *out,
                     struct pb_error *err)
{
    struct doomed some = *d;
    int rc = 0;

    if (some.most > STORE_DROP_ROWS)
        some.most = STORE_DROP_ROWS;
    *out = (struct dropped){ 0 };
    for (int64_t id = d->from / BLOCK_CALLS; rc == 0 && id <= d->to / BLOCK_CALLS; id++) {
        sqlite3_stmt *st = db_statement(&w->c, SQL_BLOCKS, err);

        if (!st)
            return -PB_E_SYSTEM;
        /* Each anew: what is read may not be written meanwhile. */
        bind_int(&w->c, st, 1, id);
        bind_int(&w->c, st, 2, d->to / BLOCK_CALLS);
        rc = db_row(&w->c, st, err);
        if (rc <= 0)
            break;
        id = row_int(&w->c, st, 0);
        rc = drop_in_block(w, &some, st, out, err);
        db_end(&w->c, st);
    }
    return rc < 0 ? rc : 0;
}

/* ---- groups of which calls went ---- */

static int is_empty(struct writer *w, int64_t group, bool *empty, struct pb_error *err)
{
    sqlite3_stmt *st = db_statement(&w->c, SQL_BLOCK_ANY, err);
    int rc;

    if (!st)
        return -PB_E_SYSTEM;
    bind_int(&w->c, st, 1, group * GROUP_BLOCKS);
    bind_int(&w->c, st, 2, group * GROUP_BLOCKS + GROUP_BLOCKS - 1);
    rc = db_row(&w->c, st, err);
    *empty = rc == 0;
    db_end(&w->c, st);
    return rc < 0 ? rc : 0;
}

static int drop_empty(struct writer *w, const struct dropped *d, struct pb_error *err)
{
    int64_t group = d->first / GROUP_CALLS, last = d->last / GROUP_CALLS;
    bool released = d->n && last >= w->now.indexed;
    int rc = 0;

    for (; d->n && group <= last && group < w->now.indexed && rc == 0; group++) {
        bool empty = false;

        rc = is_empty(w, group, &empty, err);
        if (rc == 0 && empty)
            rc = group_drop(w, group, err);
        released |= empty;
    }
    if (rc == 0 && released)
        words_released(w);
    /* Nothing is left: nor are names. */
    if (rc == 0 && d->n && !w->now.calls) {
        words_forget(w);
        w->now.words = w->due.sweep_from = 0;
        rc = db_exec(&w->c, "DELETE FROM word", err);
    }
    return rc;
}

/* 1: there is a group with calls that are so old. */
static int old_group(struct writer *w, int64_t until_us, int64_t *group, struct pb_error *err)
{
    sqlite3_stmt *st = db_statement(&w->c, SQL_GROUP_OLDER, err);
    int rc;

    if (!st)
        return -PB_E_SYSTEM;
    bind_int(&w->c, st, 1, until_us);
    rc = db_row(&w->c, st, err);
    if (rc > 0)
        *group = row_int(&w->c, st, 0);
    db_end(&w->c, st);
    return rc;
}

/* All that is left of it is younger. */
static int raise_since(struct writer *w, int64_t group, int64_t since, struct pb_error *err)
{
    sqlite3_stmt *st = db_statement(&w->c, SQL_GROUP_SINCE, err);

    if (!st)
        return -PB_E_SYSTEM;
    bind_int(&w->c, st, 1, group);
    bind_int(&w->c, st, 2, since);
    return db_run(&w->c, st, err);
}

/* ---- a step ---- */

/* Up to last_no. 1: there may be more. */
static int drop_old(struct writer *w, int64_t until_us, int64_t last_no, struct pb_error *err)
{
    struct doomed d = { .until_us = until_us, .most = STORE_DROP_ROWS };
    struct dropped gone;
    int64_t group;
    int rc = old_group(w, until_us, &group, err), in_group = rc;

    if (rc < 0)
        return rc;
    d.from = (in_group ? group : w->now.indexed) * GROUP_CALLS;
    d.to = d.from + GROUP_CALLS - 1;
    if (!in_group || d.to > last_no) {
        in_group = 0; /* nothing that follows it is meant */
        d.to = last_no;
    }
    rc = drop_some(w, &d, &gone, err);
    if (rc == 0)
        rc = drop_empty(w, &gone, err);
    if (rc < 0)
        return rc;
    w->due.vacuuming = w->due.vacuuming || gone.n;
    if (gone.n == STORE_DROP_ROWS || w->bytes >= STORE_COMMIT_BYTES)
        return 1;
    if (!in_group)
        return 0;
    rc = raise_since(w, group, until_us == INT64_MAX ? until_us : until_us + 1, err);
    return rc < 0 ? rc : 1;
}

static int drop_first(struct writer *w, size_t most, struct pb_error *err)
{
    struct doomed d = { .to = w->now.last_no, .until_us = INT64_MAX, .most = most };
    struct dropped gone;
    int rc;

    rc = db_number(&w->c, SQL_BLOCK_FIRST, &d.from, err);
    d.from *= BLOCK_CALLS;
    if (rc == 0)
        rc = drop_some(w, &d, &gone, err);
    if (rc == 0)
        rc = drop_empty(w, &gone, err);
    if (rc < 0)
        return rc;
    w->due.vacuuming = w->due.vacuuming || gone.n;
    return gone.n > 0;
}

/* Pages that nothing is in are given back, and do not count. */
static int used_bytes(struct writer *w, int64_t *out, struct pb_error *err)
{
    int64_t pages, unused;
    int rc = db_number(&w->c, SQL_PAGES, &pages, err);

    if (rc == 0)
        rc = db_number(&w->c, SQL_FREE_PAGES, &unused, err);
    if (rc == 0)
        *out = (pages - unused) * PAGE_BYTES;
    return rc;
}

/* 1: there may be more to do. */
static int keep_bounds(struct writer *w, struct pb_error *err)
{
    const struct keep *k = &w->keep;
    int64_t used;
    int rc;

    if (k->ms && w->tidy_us > (int64_t)k->ms * 1000) {
        rc = drop_old(w, w->tidy_us - (int64_t)k->ms * 1000 - 1, w->now.last_no, err);
        if (rc)
            return rc;
    }
    if (k->calls && w->now.calls > (int64_t)k->calls)
        return drop_first(w, (size_t)w->now.calls - k->calls, err);
    if (!k->bytes || !w->now.calls)
        return 0;
    rc = used_bytes(w, &used, err);
    return rc == 0 && used > (int64_t)k->bytes ? drop_first(w, STORE_DROP_ROWS, err) : rc;
}

static int vacuum(struct writer *w, struct pb_error *err)
{
    char sql[64];
    int64_t unused;
    int rc = db_number(&w->c, SQL_FREE_PAGES, &unused, err);

    if (rc < 0)
        return rc;
    if (!unused) {
        w->due.vacuuming = false;
        w->due.checkpoint = true;
        return 0;
    }
    snprintf(sql, sizeof sql, "PRAGMA incremental_vacuum(%d)", STORE_VACUUM_PAGES);
    return db_exec(&w->c, sql, err);
}

void tidy_done(struct writer *w)
{
    struct forget *f = w->forgets;

    if (!w->due.forgot)
        return;
    w->due.forgot = false;
    w->forgets = f->next;
    pthread_mutex_lock(&w->s->mu);
    f->next = w->s->forgotten;
    w->s->forgotten = f;
    store_tell(w->s);
    pthread_mutex_unlock(&w->s->mu);
}

static int forget_some(struct writer *w, const struct forget *f, struct pb_error *err)
{
    int64_t until = f->before_us ? f->before_us - 1 : INT64_MAX;
    int rc = drop_old(w, until, f->last_no, err);

    w->due.forgot = rc == 0;
    return rc < 0 ? rc : 0;
}

int tidy_step(struct writer *w, struct pb_error *err)
{
    int rc;

    if (w->forgets)
        return forget_some(w, w->forgets, err);
    if (w->due.sweep_from)
        return words_sweep(w, err);
    if (w->due.tidying) {
        rc = keep_bounds(w, err);
        w->due.tidying = rc > 0;
        return rc < 0 ? rc : 0;
    }
    return w->due.vacuuming ? vacuum(w, err) : 0;
}

void tidy_check(struct writer *w)
{
    const struct keep *k = &w->keep;

    if (k->calls && w->now.calls > (int64_t)(k->calls + k->calls / 16 + STORE_DROP_ROWS))
        w->due.tidying = true;
    if (k->bytes && w->written > LOOK_BYTES) {
        w->written = 0;
        w->due.tidying = true;
    }
}
