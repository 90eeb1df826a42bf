/* fetch.c - one call by its uuid, one object by its cid, and numbers of all. */
#include "read.h"
#include <sys/stat.h>

int state_read(struct conn *c, struct store_state *out, struct pb_error *err)
{
    sqlite3_stmt *st = db_statement(c, SQL_STATE, err);
    int rc = st ? db_row(c, st, err) : -PB_E_SYSTEM;

    if (rc <= 0)
        return rc < 0 ? rc : fail(err, PB_E_INVALID, "'%s' is damaged", c->path);
    *out = (struct store_state){ row_int(c, st, 0), row_int(c, st, 1), row_int(c, st, 2),
                                 row_int(c, st, 3), row_int(c, st, 4), row_int(c, st, 5),
                                 row_int(c, st, 6) };
    db_end(c, st);
    return 0;
}

/* ---- a call ---- */

struct sought {
    struct page_maker m;
    const uint8_t *uuid;
};

static int is_it(void *ctx, const struct call_row *row, struct pb_error *err)
{
    struct sought *s = ctx;
    int rc;

    if (memcmp(row->uuid, s->uuid, UUID_BYTES) != 0)
        return 0;
    rc = page_add(&s->m, row, err);
    return rc < 0 ? rc : 1;
}

/* 1: found. */
static int look_through(struct sought *s, int64_t from, int64_t to, struct pb_error *err)
{
    return rows_each_newest(s->m.c, from, to, is_it, s, err);
}

static int look_in_group(struct sought *s, int64_t group, struct pb_error *err)
{
    uint64_t key = place_key_uuid(PLACE_UUID, s->uuid);
    struct blocks b;
    int rc = blocks_of_places(s->m.c, group, &key, 1, &b, err);

    for (int i = GROUP_BLOCKS - 1; i >= 0 && rc == 0; i--)
        if (b.bits[i / 64] >> i % 64 & 1) {
            int64_t first = group * GROUP_CALLS + (int64_t)i * BLOCK_CALLS;

            rc = look_through(s, first, first + BLOCK_CALLS - 1, err);
        }
    return rc;
}

static int get(struct store_read *r, struct conn *c, struct pb_error *err)
{
    struct sought s = { { .c = c, .page = &r->page }, r->uuid };
    struct store_state now;
    sqlite3_stmt *st;
    int rc = state_read(c, &now, err);

    if (rc < 0)
        return rc;
    r->page.total = (uint64_t)now.calls;
    rc = look_through(&s, now.indexed * GROUP_CALLS, now.last_no, err);
    st = rc == 0 ? db_statement(c, SQL_GROUPS, err) : NULL;
    if (st) {
        bind_int(c, st, 1, now.indexed);
        while ((rc = db_row(c, st, err)) > 0) {
            rc = look_in_group(&s, row_int(c, st, 0), err);
            if (rc)
                break;
        }
        db_end(c, st);
    }
    page_done(&s.m);
    return rc < 0 ? rc : 0;
}

static int nothing(struct store_read *r, struct conn *c, struct pb_error *err)
{
    struct store_state now;
    int rc = state_read(c, &now, err);

    if (rc == 0)
        r->page.total = (uint64_t)now.calls;
    return rc;
}

struct store_read *store_get(struct store *s, const char *uuid, call_page_fn *fn, void *ctx)
{
    uint8_t bytes[UUID_BYTES] = { 0 };
    bool valid = uuid_read(span_of(uuid), bytes);
    struct store_read *r = read_new(s, valid ? get : nothing, READ_PAGE);

    if (!r)
        return NULL;
    memcpy(r->uuid, bytes, sizeof bytes);
    r->fn.page = fn;
    r->ctx = ctx;
    return r;
}

/* ---- an object ---- */

static int no_cid(struct store_read *r, struct conn *c, struct pb_error *err)
{
    (void)r;
    (void)c;
    return fail(err, PB_E_NOT_FOUND, "that is no cid: it has %d digits, 0-9 and a-f", CID_CHARS);
}

static int object(struct store_read *r, struct conn *c, struct pb_error *err)
{
    char name[CID_CHARS + 1];
    int64_t id;
    int rc = object_find(c, r->cid, &id, err);

    if (rc < 0)
        return rc;
    if (id)
        return object_read(c, id, &r->bytes, err);
    cid_write(r->cid, name);
    return fail(err, PB_E_NOT_FOUND, "there is no object %s", name);
}

struct store_read *store_object(struct store *s, const char *cid, object_fn *fn, void *ctx)
{
    bool valid = cid_is(span_of(cid));
    struct store_read *r = read_new(s, valid ? object : no_cid, READ_OBJECT);

    if (!r)
        return NULL;
    if (valid)
        cid_read(cid, r->cid);
    r->fn.object = fn;
    r->ctx = ctx;
    return r;
}

/* ---- numbers ---- */

static int take_time(void *ctx, const struct call_row *row, struct pb_error *err)
{
    (void)err;
    *(int64_t *)ctx = row->v[CALL_QUEUED];
    return 1;
}

static int stats(struct store_read *r, struct conn *c, struct pb_error *err)
{
    struct store_state now;
    int64_t pages = 0, first = 0;
    int rc = state_read(c, &now, err);

    if (rc == 0)
        rc = db_number(c, SQL_PAGES, &pages, err);
    if (rc == 0)
        rc = db_number(c, SQL_BLOCK_FIRST, &first, err);
    if (rc == 0)
        rc = rows_each(c, first * BLOCK_CALLS, (first + 1) * BLOCK_CALLS - 1, take_time,
                       &r->stats.oldest_us, err);
    r->stats.calls = (uint64_t)now.calls;
    r->stats.objects = (uint64_t)now.objects;
    r->stats.object_bytes = (uint64_t)now.object_bytes;
    r->stats.bytes = (uint64_t)pages * 4096;
    r->stats.path = r->s->path;
    return rc < 0 ? rc : 0;
}

struct store_read *store_stats(struct store *s, store_stats_fn *fn, void *ctx)
{
    struct store_read *r = read_new(s, stats, READ_STATS);

    if (!r)
        return NULL;
    r->fn.stats = fn;
    r->ctx = ctx;
    return r;
}
