/* calls.c - a record to a row of its block. Most of a record is what the one before was: only what
 * differs is looked at. */
#include "store_impl.h"

void calls_forget(struct writer *w) { w->row_known = false; }

void calls_forget_tail(struct writer *w)
{
    w->tail_grew = false;
    w->tail.id = -1;
}

/* ---- the last block ---- */

static int tail_read(struct writer *w, int64_t id, struct pb_error *err)
{
    sqlite3_stmt *st = db_statement(&w->c, SQL_BLOCK, err);
    int rc;

    if (!st)
        return -PB_E_SYSTEM;
    bind_int(&w->c, st, 1, id);
    rc = db_row(&w->c, st, err);
    if (rc <= 0)
        return rc;
    rc = block_resume(&w->tail, id, row_bytes(&w->c, st, 0));
    db_end(&w->c, st);
    return rc < 0 ? fail(err, PB_E_INVALID, "'%s' is damaged: calls cannot be unpacked", w->c.path)
                  : 0;
}

static int tail_for(struct writer *w, int64_t no, struct pb_error *err)
{
    int64_t id = no / BLOCK_CALLS;

    if (w->tail.id == id)
        return 0;
    block_start(&w->tail, id);
    return no % BLOCK_CALLS ? tail_read(w, id, err) : 0;
}

int calls_settle(struct writer *w, struct pb_error *err)
{
    sqlite3_stmt *st;

    if (!w->tail_grew)
        return 0;
    st = db_statement(&w->c, SQL_BLOCK_SET, err);
    if (!st)
        return -PB_E_SYSTEM;
    w->tail_grew = false;
    bind_int(&w->c, st, 1, w->tail.id);
    bind_blob(&w->c, st, 2, buf_span(&w->tail.data));
    return db_run(&w->c, st, err);
}

/* ---- a record ---- */

/* {"in":"arguments",...} of each place that was found there. */
static void note_places(struct writer *w, const char *in, const char *places)
{
    AUTO_JSON struct json_doc doc = { 0 };

    if (json_parse(&doc, span_of(places), NULL, NULL) < 0)
        return;
    JSON_FOREACH(place, json_root(&doc)) {
        struct json_out o = json_out(&w->redacted);

        if (w->redacted.n)
            buf_byte(&w->redacted, ',');
        json_begin_object(&o, NULL);
        json_put_str(&o, "in", in);
        if (!json_is(place, JSON_OBJECT))
            json_put_raw(&o, "at", json_text(place));
        JSON_FOREACH(member, place)
            json_put_raw_key(&o, json_key(member), json_text(member));
        json_end(&o);
    }
}

static void keep_places(struct writer *w)
{
    static const char *const names[RECORD_OBJECTS] = { "arguments", "result", "definition" };

    w->redacted.n = 0;
    for (size_t i = 0; i < RECORD_OBJECTS; i++)
        if (w->places_of[i])
            note_places(w, names[i], w->places_of[i]);
    if (!w->redacted.n)
        return;
    w->scratch.n = 0;
    buf_printf(&w->scratch, "[%.*s]", SPAN_ARG(buf_span(&w->redacted)));
    w->redacted.n = 0;
    buf_add_span(&w->redacted, buf_span(&w->scratch));
}

static int put_objects(struct writer *w, uint32_t has, struct pb_error *err)
{
    EACH_BIT(i, (has & HAS_OBJECTS) / HAS_OBJECT(0))
    {
        struct object_put o = { 0 };
        int rc = 0;

        if (w->parts.object[i].p)
            rc = object_put(w, w->parts.object[i], &o, err);
        if (rc < 0)
            return rc;
        w->row.v[CALL_ARGUMENTS + i] = o.id;
        free(w->places_of[i]);
        w->places_of[i] = mem_dup_opt(o.places);
    }
    keep_places(w);
    w->row.text[CALL_REDACTED] = w->redacted.n ? buf_span(&w->redacted) : (struct span){ 0 };
    return 0;
}

static int put_words(struct writer *w, uint32_t has, struct pb_error *err)
{
    EACH_BIT(i, has & HAS_WORDS)
    {
        int64_t *id = &w->row.v[CALL_SOURCE + i];
        int rc = 0;

        *id = 0;
        if (w->parts.text[i].p)
            rc = word_put(w, i, w->parts.text[i], id, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static struct span without_secrets(struct writer *w, struct span text, struct buf *room)
{
    room->n = 0;
    if (!text.p || !w->s->o.redact)
        return text;
    buf_add_span(room, text);
    return w->s->o.redact(w->s->o.redact_ctx, room, NULL) ? buf_span(room) : text;
}

static void put_texts(struct writer *w, uint32_t has)
{
    const struct span *text = w->parts.text;
    struct span *to = w->row.text;

    if (has & HAS_TEXT(TEXT_NOTE))
        to[CALL_NOTE] = without_secrets(w, text[TEXT_NOTE], &w->note);
    if (has & HAS_TEXT(TEXT_QUESTION))
        to[CALL_QUESTION] = without_secrets(w, text[TEXT_QUESTION], &w->question);
    to[CALL_TRACE] = text[TEXT_TRACE];
    if (has & HAS_TEXT(TEXT_PARENT))
        to[CALL_PARENT] = uuid_read(text[TEXT_PARENT], w->parent)
                              ? span_make((const char *)w->parent, UUID_BYTES)
                              : (struct span){ 0 };
}

static void put_rest(struct writer *w, const struct put_entry *e)
{
    struct call_row *row = &w->row;

    memcpy(row->uuid, e->uuid, sizeof row->uuid);
    row->v[CALL_QUEUED] = e->queued_us;
    row->v[CALL_STARTED] = e->started_us;
    row->v[CALL_ENDED] = e->ended_us;
    row->v[CALL_DETAIL] = e->detail;
    row->v[CALL_PID] = w->parts.process.pid;
    row->v[CALL_PROCESS] = w->parts.process.process_us;
}

static int row_make(struct writer *w, const struct put_entry *e, struct pb_error *err)
{
    uint32_t has = entry_open(e, &w->parts);
    int rc = 0;

    if (!w->row_known)
        has = HAS_ALL;
    w->row_known = false;
    if (has & HAS_WORDS)
        rc = put_words(w, has, err);
    if (rc == 0 && has & HAS_OBJECTS)
        rc = put_objects(w, has, err);
    put_texts(w, has);
    put_rest(w, e);
    w->row_known = rc == 0;
    return rc;
}

int call_put(struct writer *w, const struct put_entry *e, struct pb_error *err)
{
    int64_t no = w->now.last_no + 1;
    int rc = row_make(w, e, err);

    if (rc == 0)
        rc = tail_for(w, no, err);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < RECORD_OBJECTS; i++)
        if (w->row.v[CALL_ARGUMENTS + i])
            object_refer(w, i, w->row.v[CALL_ARGUMENTS + i], 1);
    w->row.no = no;
    block_add(&w->tail, &w->row);
    w->tail_grew = true;
    if (no % BLOCK_CALLS == BLOCK_CALLS - 1)
        rc = calls_settle(w, err);
    w->now.last_no++;
    w->now.calls++;
    return rc;
}

static int pinned(struct writer *w, struct span name, int64_t *object, struct pb_error *err)
{
    sqlite3_stmt *st = db_statement(&w->c, SQL_PIN, err);
    int rc;

    if (!st)
        return -PB_E_SYSTEM;
    bind_text(&w->c, st, 1, name);
    rc = db_row(&w->c, st, err);
    *object = rc > 0 ? row_int(&w->c, st, 0) : 0;
    if (rc > 0)
        db_end(&w->c, st);
    return rc < 0 ? rc : 0;
}

int pin_put(struct writer *w, const struct put_entry *e, struct pb_error *err)
{
    struct object_put o = { 0 };
    sqlite3_stmt *st;
    struct parts p = { 0 };
    int64_t was;
    int rc;

    entry_open(e, &p);
    rc = pinned(w, p.text[TEXT_NOTE], &was, err);
    if (rc == 0 && p.object[0].p)
        rc = object_put(w, p.object[0], &o, err);
    if (rc < 0 || o.id == was)
        return rc;
    st = db_statement(&w->c, o.id ? SQL_PIN_SET : SQL_PIN_DROP, err);
    if (!st)
        return -PB_E_SYSTEM;
    bind_text(&w->c, st, 1, p.text[TEXT_NOTE]);
    if (o.id)
        bind_int(&w->c, st, 2, o.id);
    rc = db_run(&w->c, st, err);
    if (rc == 0 && was)
        object_refer(w, 0, was, -1);
    if (rc == 0 && o.id)
        object_refer(w, 0, o.id, 1);
    return rc;
}
