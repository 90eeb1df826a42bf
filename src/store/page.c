/* page.c - rows to what is told of calls: numbers to words, objects to cids. */
#include "read.h"

static int word_text(struct page_maker *m, int64_t id, const char **out, struct pb_error *err)
{
    uint64_t key = (uint64_t)id;
    sqlite3_stmt *st;
    int rc;

    *out = map_get(&m->words, map_u64(&key));
    if (*out)
        return 0;
    st = db_statement(m->c, SQL_WORD_TEXT, err);
    if (!st)
        return -PB_E_SYSTEM;
    bind_int(m->c, st, 1, id);
    rc = db_row(m->c, st, err);
    if (rc <= 0)
        return rc < 0 ? rc
                      : fail(err, PB_E_INVALID, "'%s' is damaged: a name is missing", m->c->path);
    *out = arena_dup(&m->page->arena, row_bytes(m->c, st, 0));
    db_end(m->c, st);
    map_put(&m->words, map_u64(&key), (void *)(uintptr_t)*out);
    return 0;
}

static const char *text_of_column(struct page_maker *m, sqlite3_stmt *row, enum call_column column)
{
    struct span s = row_bytes(m->c, row, column);

    return s.p ? arena_dup(&m->page->arena, s) : NULL;
}

static const char *uuid_of_column(struct page_maker *m, sqlite3_stmt *row, enum call_column column)
{
    struct span s = row_bytes(m->c, row, column);
    char *text;

    if (s.n != UUID_BYTES)
        return NULL;
    text = arena_alloc(&m->page->arena, UUID_CHARS + 1);
    uuid_write((const uint8_t *)s.p, text);
    return text;
}

static int object_of_column(struct page_maker *m, sqlite3_stmt *row, enum call_column column,
                            const char **cid, uint64_t *size, struct pb_error *err)
{
    int64_t id = row_int(m->c, row, column);
    sqlite3_stmt *st;
    struct span digest;
    char *text;
    int rc;

    *size = 0;
    *cid = "";
    if (!id)
        return 0;
    st = db_statement(m->c, SQL_OBJECT_CID, err);
    if (!st)
        return -PB_E_SYSTEM;
    bind_int(m->c, st, 1, id);
    rc = db_row(m->c, st, err);
    if (rc <= 0)
        return rc;
    digest = row_bytes(m->c, st, 0);
    *size = (uint64_t)row_int(m->c, st, 1);
    if (digest.n == SHA512_BYTES) {
        text = arena_alloc(&m->page->arena, CID_CHARS + 1);
        cid_write((const uint8_t *)digest.p, text);
        *cid = text;
    }
    db_end(m->c, st);
    return 0;
}

static int64_t time_of(struct page_maker *m, sqlite3_stmt *row, enum call_column column)
{
    return m->c->lib->column_type(row, column) == SQLITE_NULL
               ? 0
               : row_int(m->c, row, CALL_QUEUED) + row_int(m->c, row, column);
}

static void fill(struct page_maker *m, sqlite3_stmt *row, struct call_record *out)
{
    out->no = (uint64_t)row_int(m->c, row, CALL_NO);
    out->r.queued_us = row_int(m->c, row, CALL_QUEUED);
    out->r.started_us = time_of(m, row, CALL_STARTED);
    out->r.ended_us = time_of(m, row, CALL_ENDED);
    out->r.detail = (enum record_detail)row_int(m->c, row, CALL_DETAIL);
    out->r.uuid = uuid_of_column(m, row, CALL_UUID);
    out->r.parent = uuid_of_column(m, row, CALL_PARENT);
    out->r.pid = row_int(m->c, row, CALL_PID);
    out->r.process_us = row_int(m->c, row, CALL_PROCESS);
    out->r.note = text_of_column(m, row, CALL_NOTE);
    out->r.question = text_of_column(m, row, CALL_QUESTION);
    out->r.trace = text_of_column(m, row, CALL_TRACE);
    out->redacted = text_of_column(m, row, CALL_REDACTED);
}

static struct call_record *next_record(struct page_maker *m)
{
    struct call_page *p = m->page;

    if (p->n == m->cap) {
        struct call_record *more;

        m->cap = m->cap ? m->cap * 2 : STORE_PAGE_USUAL;
        more = arena_alloc(&p->arena, m->cap * sizeof *more);
        if (p->n)
            memcpy(more, p->v, p->n * sizeof *more);
        p->v = more;
    }
    return &p->v[p->n];
}

int page_add(struct page_maker *m, sqlite3_stmt *row, struct pb_error *err)
{
    struct call_record *out = next_record(m);
    uint64_t unused;
    int rc = 0;

    fill(m, row, out);
    for (size_t i = 0; i < TEXT_WORDS && rc == 0; i++) {
        int64_t id = row_int(m->c, row, (int)(CALL_SOURCE + i));

        if (id)
            rc = word_text(m, id, record_text(&out->r, i), err);
    }
    if (rc == 0)
        rc = object_of_column(m, row, CALL_ARGUMENTS, &out->arguments_cid, &out->arguments_bytes,
                              err);
    if (rc == 0)
        rc = object_of_column(m, row, CALL_RESULT, &out->result_cid, &out->result_bytes, err);
    if (rc == 0)
        rc = object_of_column(m, row, CALL_DEFINITION, &out->definition_cid, &unused, err);
    m->page->n += rc == 0;
    return rc;
}

void page_done(struct page_maker *m) { map_done(&m->words); }
