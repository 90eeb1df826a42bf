/* find.c - which calls. What comes after the last full group is looked through, newest first; then
 * group by group those blocks in which, as the index says, everything asked for occurs. */
#include "read.h"

struct call_filter {
    int64_t word[TEXT_WORDS]; /* 0: any */
    bool by_parent, by_object;
    uint8_t parent[UUID_BYTES];
    uint64_t parent_key;
    int64_t since, until;
    int64_t *objects; /* in order */
    uint64_t *object_keys;
    size_t objects_n;
};

struct call_finder {
    struct store_read *r;
    struct conn *c;
    struct call_filter filter;
    struct page_maker maker;
    size_t limit, seen;
    uint64_t next;
    bool full; /* enough was found, or looked at */
};

/* ---- what is asked for ---- */

static const struct {
    enum call_column column;
    size_t at;
} filters[] = {
    { CALL_SERVER, offsetof(struct call_query, server) },
    { CALL_TOOL, offsetof(struct call_query, tool) },
    { CALL_CALLER, offsetof(struct call_query, caller) },
    { CALL_STATUS, offsetof(struct call_query, status) },
    { CALL_SOURCE, offsetof(struct call_query, source) },
    { CALL_FACE, offsetof(struct call_query, face) },
    { CALL_RUN, offsetof(struct call_query, run) },
    { CALL_CONVERSATION, offsetof(struct call_query, conversation) },
};

static const char *asked(const struct call_query *q, size_t i)
{
    return *(const char *const *)(const void *)((const char *)q + filters[i].at);
}

static int word_id(struct conn *c, const char *text, int64_t *id, struct pb_error *err)
{
    sqlite3_stmt *st = db_statement(c, SQL_WORD_ID, err);
    int rc;

    if (!st)
        return -PB_E_SYSTEM;
    bind_text(c, st, 1, span_of(text));
    rc = db_row(c, st, err);
    *id = rc > 0 ? row_int(c, st, 0) : 0;
    if (rc > 0)
        db_end(c, st);
    return rc < 0 ? rc : 0;
}

/* 1: nothing can be found, as no call has such a word. */
static int filter_words(struct call_finder *f, struct pb_error *err)
{
    const struct call_query *q = &f->r->query;

    for (size_t i = 0; i < ARRAY_LEN(filters); i++) {
        int64_t *id = &f->filter.word[filters[i].column - CALL_SOURCE];
        int rc = asked(q, i) ? word_id(f->c, asked(q, i), id, err) : 0;

        if (rc < 0)
            return rc;
        if (asked(q, i) && !*id)
            return 1;
    }
    if (q->parent) {
        if (!uuid_read(span_of(q->parent), f->filter.parent))
            return 1;
        f->filter.by_parent = true;
        f->filter.parent_key = place_key_uuid(PLACE_PARENT, f->filter.parent);
    }
    return 0;
}

static int by_id(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static int by_key(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* What FTS5 cannot read is the asker's mistake, not the file's. */
static int text_fail(struct call_finder *f, struct pb_error *err)
{
    int code = f->c->lib->errcode(f->c->db);

    if ((code & 0xff) != SQLITE_ERROR)
        return db_fail(f->c, err);
    return fail(err, PB_E_INVALID, "cannot search for '%.100s': %s", f->r->query.text,
                f->c->lib->errmsg(f->c->db));
}

static int match(struct call_finder *f, struct pb_error *err)
{
    sqlite3_stmt *st = db_statement(f->c, SQL_TEXT_FIND, err);
    int code;

    if (!st)
        return -PB_E_SYSTEM;
    bind_text(f->c, st, 1, span_of(f->r->query.text));
    bind_int(f->c, st, 2, STORE_MATCHES_MAX);
    while ((code = f->c->lib->step(st)) == SQLITE_ROW)
        f->filter.objects[f->filter.objects_n++] = row_int(f->c, st, 0);
    if (code == SQLITE_DONE)
        code = 0;
    else
        code = text_fail(f, err);
    db_end(f->c, st);
    return code;
}

static int filter_text(struct call_finder *f, struct pb_error *err)
{
    struct call_filter *l = &f->filter;
    int rc;

    l->by_object = true;
    l->objects = arena_alloc(&f->r->asked, STORE_MATCHES_MAX * sizeof *l->objects);
    l->object_keys = arena_alloc(&f->r->asked, STORE_MATCHES_MAX * sizeof *l->object_keys);
    rc = match(f, err);
    if (rc < 0)
        return rc;
    qsort(l->objects, l->objects_n, sizeof *l->objects, by_id);
    for (size_t i = 0; i < l->objects_n; i++)
        l->object_keys[i] = place_key(PLACE_OBJECT, (uint64_t)l->objects[i], 0);
    qsort(l->object_keys, l->objects_n, sizeof *l->object_keys, by_key);
    return l->objects_n ? 0 : 1;
}

static int filter_make(struct call_finder *f, struct pb_error *err)
{
    const struct call_query *q = &f->r->query;
    int rc = filter_words(f, err);

    f->filter.since = q->since_us ? q->since_us : INT64_MIN;
    f->filter.until = q->until_us ? q->until_us : INT64_MAX;
    return rc == 0 && q->text ? filter_text(f, err) : rc;
}

/* ---- looking through rows ---- */

static bool has_object(const struct call_filter *l, int64_t id)
{
    return id && bsearch(&id, l->objects, l->objects_n, sizeof id, by_id);
}

static bool row_fits(const struct call_filter *l, const struct call_row *row)
{
    for (size_t i = 0; i < ARRAY_LEN(filters); i++) {
        int64_t want = l->word[filters[i].column - CALL_SOURCE];

        if (want && row->v[filters[i].column] != want)
            return false;
    }
    if (row->v[CALL_QUEUED] < l->since || row->v[CALL_QUEUED] > l->until)
        return false;
    if (l->by_object && !has_object(l, row->v[CALL_ARGUMENTS]) &&
        !has_object(l, row->v[CALL_RESULT]))
        return false;
    return !l->by_parent ||
           span_eq(row->text[CALL_PARENT], span_make((const char *)l->parent, UUID_BYTES));
}

static int look_at(void *ctx, const struct call_row *row, struct pb_error *err)
{
    struct call_finder *f = ctx;
    int rc = row_fits(&f->filter, row) ? page_add(&f->maker, row, err) : 0;

    f->seen++;
    f->full = f->r->page.n == f->limit || f->seen >= STORE_SCAN_MAX;
    if (f->full)
        f->next = (uint64_t)row->no;
    return rc < 0 ? rc : f->full;
}

static int scan(struct call_finder *f, int64_t from, int64_t to, struct pb_error *err)
{
    int rc = rows_each_newest(f->c, from, to, look_at, f, err);

    return rc < 0 ? rc : 0;
}

/* ---- groups ---- */

static void meet(struct blocks *b, const struct blocks *with)
{
    for (size_t i = 0; i < ARRAY_LEN(b->bits); i++)
        b->bits[i] &= with->bits[i];
}

static bool none(const struct blocks *b)
{
    uint64_t any = 0;

    for (size_t i = 0; i < ARRAY_LEN(b->bits); i++)
        any |= b->bits[i];
    return !any;
}

/* What it costs to ask the index of a group for objects, in rows that are looked at instead: it has
 * them in GROUP_PLACES rows, which are long. */
static size_t places_cost(size_t objects)
{
    return 2 * (objects < GROUP_PLACES ? objects : GROUP_PLACES) + objects / 8;
}

static int blocks_that_fit(struct call_finder *f, int64_t group, struct blocks *b,
                           struct pb_error *err)
{
    const struct call_filter *l = &f->filter;
    struct blocks some;
    int rc = 0;

    memset(b, 0xff, sizeof *b);
    for (size_t i = 0; i < TEXT_WORDS && rc == 0 && !none(b); i++)
        if (l->word[i]) {
            rc = blocks_of_word(f->c, group, word_key(l->word[i], i), &some, err);
            meet(b, &some);
        }
    if (rc == 0 && l->by_parent && !none(b)) {
        rc = blocks_of_places(f->c, group, &l->parent_key, 1, &some, err);
        meet(b, &some);
    }
    if (rc == 0 && l->by_object && !none(b)) {
        rc = blocks_of_places(f->c, group, l->object_keys, l->objects_n, &some, err);
        f->seen += places_cost(l->objects_n);
        meet(b, &some);
    }
    return rc;
}

static bool has_block(const struct blocks *b, int block)
{
    return b->bits[block / 64] >> block % 64 & 1;
}

/* Neighbours are read at once, from the last on. */
static int scan_blocks(struct call_finder *f, int64_t group, const struct blocks *b, int64_t last,
                       struct pb_error *err)
{
    int64_t first = group * GROUP_CALLS;
    int rc = 0;

    for (int hi = GROUP_BLOCKS - 1, lo; hi >= 0 && rc == 0 && !f->full; hi = lo - 1) {
        int64_t to = first + (int64_t)(hi + 1) * BLOCK_CALLS - 1;

        lo = hi;
        if (!has_block(b, hi))
            continue;
        while (lo > 0 && has_block(b, lo - 1))
            lo--;
        if (first + (int64_t)lo * BLOCK_CALLS <= last)
            rc = scan(f, first + (int64_t)lo * BLOCK_CALLS, to < last ? to : last, err);
    }
    return rc;
}

static int scan_group(struct call_finder *f, int64_t group, int64_t last, struct pb_error *err)
{
    struct blocks b;
    int rc = blocks_that_fit(f, group, &b, err);

    f->seen++;
    if (rc == 0)
        rc = scan_blocks(f, group, &b, last, err);
    if (rc == 0 && !f->full && f->seen >= STORE_SCAN_MAX) {
        f->full = true;
        f->next = (uint64_t)(group * GROUP_CALLS);
    }
    return rc;
}

static int scan_groups(struct call_finder *f, int64_t last, struct pb_error *err)
{
    sqlite3_stmt *st = db_statement(f->c, SQL_GROUPS, err);
    int rc = 0;

    if (!st)
        return -PB_E_SYSTEM;
    bind_int(f->c, st, 1, last / GROUP_CALLS);
    while (!f->full && (rc = db_row(f->c, st, err)) > 0) {
        int64_t group = row_int(f->c, st, 0);

        if (row_int(f->c, st, 1) > f->filter.until || row_int(f->c, st, 2) < f->filter.since)
            continue;
        rc = scan_group(f, group, last, err);
        if (rc < 0)
            break;
    }
    db_end(f->c, st);
    return rc < 0 ? rc : 0;
}

static int find(struct store_read *r, struct conn *c, struct pb_error *err)
{
    struct call_finder f = { .r = r, .c = c, .maker = { .c = c, .page = &r->page } };
    struct store_state now;
    int64_t last, indexed;
    int rc = state_read(c, &now, err);

    if (rc < 0)
        return rc;
    r->page.total = (uint64_t)now.calls;
    f.limit = r->query.limit;
    last = r->query.before && r->query.before <= (uint64_t)now.last_no
               ? (int64_t)r->query.before - 1
               : now.last_no;
    indexed = now.indexed * GROUP_CALLS;
    rc = filter_make(&f, err);
    if (rc == 0 && last >= indexed)
        rc = scan(&f, indexed, last, err);
    if (rc == 0 && !f.full && indexed)
        rc = scan_groups(&f, last < indexed ? last : indexed - 1, err);
    r->page.next = f.full && f.next > 1 ? f.next : 0;
    page_done(&f.maker);
    return rc < 0 ? rc : 0;
}

static const char *kept(struct arena *a, const char *s)
{
    return s ? arena_dup(a, span_of(s)) : NULL;
}

static void copy_query(struct store_read *r, const struct call_query *q)
{
    r->query = *q;
    for (size_t i = 0; i < ARRAY_LEN(filters); i++)
        *(const char **)(void *)((char *)&r->query + filters[i].at) = kept(&r->asked, asked(q, i));
    r->query.parent = kept(&r->asked, q->parent);
    r->query.text = q->text && *q->text ? kept(&r->asked, q->text) : NULL;
    if (!r->query.limit)
        r->query.limit = STORE_PAGE_USUAL;
    if (r->query.limit > STORE_PAGE_MAX)
        r->query.limit = STORE_PAGE_MAX;
}

static int too_long(struct store_read *r, struct conn *c, struct pb_error *err)
{
    (void)r;
    (void)c;
    return fail(err, PB_E_INVALID, "cannot search for more than %d bytes", STORE_QUERY_MAX);
}

struct store_read *store_find(struct store *s, const struct call_query *q, call_page_fn *fn,
                              void *ctx)
{
    bool long_text = q->text && strlen(q->text) > STORE_QUERY_MAX;
    struct store_read *r = read_new(s, long_text ? too_long : find, READ_PAGE);

    if (!r)
        return NULL;
    r->fn.page = fn;
    r->ctx = ctx;
    if (!long_text)
        copy_query(r, q);
    r->wants_text = r->query.text;
    return r;
}
