/* calls.c - a record to a row. What is bound to the statement stays bound, and most of a record is
 * what the one before was: only what differs is bound anew. */
#include "store_impl.h"

struct new_row {
    struct writer *w;
    sqlite3_stmt *st;
};

static void put_int(const struct new_row *r, enum call_column column, int64_t v)
{
    if (r->w->bound[column] == v)
        return;
    r->w->bound[column] = v;
    bind_int(&r->w->c, r->st, column + 1, v);
}

static void put_null(const struct new_row *r, enum call_column column)
{
    if (r->w->bound[column] == BOUND_NULL)
        return;
    r->w->bound[column] = BOUND_NULL;
    bind_null(&r->w->c, r->st, column + 1);
}

static void put_opt(const struct new_row *r, enum call_column column, int64_t v, int64_t from)
{
    if (v)
        put_int(r, column, v - from);
    else
        put_null(r, column);
}

static void put_text(const struct new_row *r, enum call_column column, struct span s)
{
    if (!s.p) {
        put_null(r, column);
        return;
    }
    r->w->bound[column] = BOUND_OTHER;
    bind_text(&r->w->c, r->st, column + 1, s);
}

static void put_uuid(const struct new_row *r, enum call_column column, const uint8_t *uuid)
{
    if (!uuid) {
        put_null(r, column);
        return;
    }
    r->w->bound[column] = BOUND_OTHER;
    bind_blob(&r->w->c, r->st, column + 1, span_make((const char *)uuid, UUID_BYTES));
}

/* The texts and bytes of an entry, where they lie in it. */
struct parts {
    struct span text[TEXT_COUNT], object[RECORD_OBJECTS];
};

static void open_entry(const struct put_entry *e, struct parts *p)
{
    const char *at = (const char *)(e + 1);

    for (size_t i = 0; i < TEXT_COUNT; i++) {
        p->text[i] = e->text[i] ? span_make(at, e->text[i] - 1u) : (struct span){ 0 };
        at += e->text[i];
    }
    for (size_t i = 0; i < RECORD_OBJECTS; i++) {
        const struct entry_object *o = &e->object[i];

        p->object[i] = (struct span){ 0 };
        if (!o->there)
            continue;
        p->object[i] = span_make(o->blob ? o->p : at, o->n);
        at += o->blob ? 0 : o->n;
    }
}

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

static int put_objects(const struct new_row *r, const struct parts *p, struct pb_error *err)
{
    static const char *const names[RECORD_OBJECTS] = { "arguments", "result", "definition" };

    r->w->redacted.n = 0;
    for (size_t i = 0; i < RECORD_OBJECTS; i++) {
        struct object_put o;
        int rc;

        if (!p->object[i].p) {
            put_null(r, (enum call_column)(CALL_ARGUMENTS + i));
            continue;
        }
        rc = object_put(r->w, p->object[i], &o, err);
        if (rc < 0)
            return rc;
        object_refer(r->w, i, o.id, 1);
        put_int(r, (enum call_column)(CALL_ARGUMENTS + i), o.id);
        if (o.places)
            note_places(r->w, names[i], o.places);
    }
    return 0;
}

static int put_words(const struct new_row *r, const struct parts *p, struct pb_error *err)
{
    for (size_t i = 0; i < TEXT_WORDS; i++) {
        enum call_column column = (enum call_column)(CALL_SOURCE + i);
        int64_t id;
        int rc;

        if (!p->text[i].p) {
            put_null(r, column);
            continue;
        }
        rc = word_put(r->w, i, p->text[i], &id, err);
        if (rc < 0)
            return rc;
        put_int(r, column, id);
    }
    return 0;
}

static struct span without_secrets(struct writer *w, struct span text, struct buf *room)
{
    if (!text.p || !w->s->o.redact)
        return text;
    buf_add_span(room, text);
    return w->s->o.redact(w->s->o.redact_ctx, room, NULL) ? buf_span(room) : text;
}

static int put_rest(const struct new_row *r, const struct put_entry *e, const struct parts *p,
                    struct pb_error *err)
{
    AUTO_BUF struct buf note = { 0 }, question = { 0 }, places = { 0 };
    uint8_t uuid[UUID_BYTES], parent[UUID_BYTES];

    if (!uuid_read(p->text[TEXT_UUID], uuid))
        id_random(uuid, sizeof uuid);
    put_int(r, CALL_QUEUED, e->queued_us);
    put_opt(r, CALL_STARTED, e->started_us, e->queued_us);
    put_opt(r, CALL_ENDED, e->ended_us, e->queued_us);
    put_int(r, CALL_DETAIL, e->detail);
    put_opt(r, CALL_PID, e->pid, 0);
    put_opt(r, CALL_PROCESS, e->process_us, 0);
    put_uuid(r, CALL_UUID, uuid);
    put_uuid(r, CALL_PARENT, uuid_read(p->text[TEXT_PARENT], parent) ? parent : NULL);
    put_text(r, CALL_NOTE, without_secrets(r->w, p->text[TEXT_NOTE], &note));
    put_text(r, CALL_QUESTION, without_secrets(r->w, p->text[TEXT_QUESTION], &question));
    put_text(r, CALL_TRACE, p->text[TEXT_TRACE]);
    if (r->w->redacted.n)
        buf_printf(&places, "[%.*s]", SPAN_ARG(buf_span(&r->w->redacted)));
    put_text(r, CALL_REDACTED, buf_span(&places));
    return db_run(&r->w->c, r->st, err);
}

int call_put(struct writer *w, const struct put_entry *e, struct pb_error *err)
{
    struct new_row r = { w, db_statement(&w->c, SQL_CALL_NEW, err) };
    struct parts p;
    int rc;

    if (!r.st)
        return -PB_E_SYSTEM;
    open_entry(e, &p);
    rc = put_words(&r, &p, err);
    if (rc == 0)
        rc = put_objects(&r, &p, err);
    if (rc == 0) {
        put_int(&r, CALL_NO, w->now.last_no + 1);
        rc = put_rest(&r, e, &p, err);
    }
    if (rc == 0) {
        w->now.last_no++;
        w->now.calls++;
    }
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
    struct parts p;
    int64_t was;
    int rc;

    open_entry(e, &p);
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
