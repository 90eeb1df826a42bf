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

static const char *text_in(struct page_maker *m, const struct call_row *row, enum row_text i)
{
    return row->text[i].p ? arena_dup(&m->page->arena, row->text[i]) : NULL;
}

static const char *uuid_of(struct page_maker *m, const uint8_t *uuid)
{
    char *text = arena_alloc(&m->page->arena, UUID_CHARS + 1);

    uuid_write(uuid, text);
    return text;
}

static int object_of(struct page_maker *m, int64_t id, const char **cid, uint64_t *size,
                     struct pb_error *err)
{
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

static void fill(struct page_maker *m, const struct call_row *row, struct call_record *out)
{
    struct span parent = row->text[CALL_PARENT];

    out->no = (uint64_t)row->no;
    out->r.queued_us = row->v[CALL_QUEUED];
    out->r.started_us = row->v[CALL_STARTED];
    out->r.ended_us = row->v[CALL_ENDED];
    out->r.detail = row->v[CALL_DETAIL] == RECORD_ALL ? RECORD_ALL : RECORD_META;
    out->r.uuid = uuid_of(m, row->uuid);
    out->r.parent = parent.n == UUID_BYTES ? uuid_of(m, (const uint8_t *)parent.p) : NULL;
    out->r.pid = row->v[CALL_PID];
    out->r.process_us = row->v[CALL_PROCESS];
    out->r.note = text_in(m, row, CALL_NOTE);
    out->r.question = text_in(m, row, CALL_QUESTION);
    out->r.trace = text_in(m, row, CALL_TRACE);
    out->redacted = text_in(m, row, CALL_REDACTED);
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

int page_add(struct page_maker *m, const struct call_row *row, struct pb_error *err)
{
    struct call_record *out = next_record(m);
    const int64_t *v = row->v;
    uint64_t unused;
    int rc = 0;

    fill(m, row, out);
    for (size_t i = 0; i < TEXT_WORDS && rc == 0; i++)
        if (v[CALL_SOURCE + i])
            rc = word_text(m, v[CALL_SOURCE + i], record_text(&out->r, i), err);
    if (rc == 0)
        rc = object_of(m, v[CALL_ARGUMENTS], &out->arguments_cid, &out->arguments_bytes, err);
    if (rc == 0)
        rc = object_of(m, v[CALL_RESULT], &out->result_cid, &out->result_bytes, err);
    if (rc == 0)
        rc = object_of(m, v[CALL_DEFINITION], &out->definition_cid, &unused, err);
    m->page->n += rc == 0;
    return rc;
}

void page_done(struct page_maker *m) { map_done(&m->words); }
