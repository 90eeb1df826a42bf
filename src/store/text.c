/* text.c - the words of objects, for people who search: decoded strings, keys and numbers of what
 * is JSON, else the bytes if they are text. Indexed by SQLite's FTS5, once per object, when nothing
 * more urgent is to be done. Its table keeps no texts: to take an object out, the same text is made
 * of it again. */
#include "store_impl.h"

static void add_text(struct buf *out, struct span text)
{
    if (text.n > STORE_TEXT_BLANKS && !memchr(text.p, ' ', text.n) && !memchr(text.p, '\n', text.n))
        return; /* a picture, say */
    buf_add_span(out, text);
    buf_byte(out, ' ');
}

static void add_value(struct buf *out, struct json v, struct arena *arena)
{
    if (out->n >= STORE_TEXT_MAX)
        return;
    switch (json_type(v)) {
    case JSON_STRING:
        add_text(out, json_str(v, arena));
        break;
    case JSON_NUMBER:
        add_text(out, json_text(v));
        break;
    case JSON_OBJECT:
        JSON_FOREACH(member, v) {
            add_text(out, json_key_str(member, arena));
            add_value(out, member, arena);
        }
        break;
    case JSON_ARRAY:
        JSON_FOREACH(item, v)
            add_value(out, item, arena);
        break;
    default:
        break;
    }
}

void text_of(struct span bytes, struct buf *out)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena arena = { 0 };

    out->n = 0;
    if (json_parse(&doc, bytes, NULL, NULL) == 0)
        add_value(out, json_root(&doc), &arena);
    else if (utf8_valid(bytes))
        buf_add_span(out, utf8_cut(bytes, STORE_TEXT_MAX));
    if (out->n > STORE_TEXT_MAX)
        out->n = utf8_cut(buf_span(out), STORE_TEXT_MAX).n;
}

static int run_text(struct writer *w, enum sql which, int64_t object, struct span text,
                    struct pb_error *err)
{
    sqlite3_stmt *st = db_statement(&w->c, which, err);

    if (!st)
        return -PB_E_SYSTEM;
    bind_int(&w->c, st, 1, object);
    bind_text(&w->c, st, 2, text);
    return db_run(&w->c, st, err);
}

/* An object that cannot be read has no words; what is wrong with it is told to who asks for it. */
static int change_text(struct writer *w, enum sql which, int64_t object, struct pb_error *err)
{
    AUTO_BUF struct buf bytes = { 0 }, text = { 0 };
    int rc = 0;

    if (object_read(&w->c, object, &bytes, NULL) == 0) {
        text_of(buf_span(&bytes), &text);
        w->bytes += text.n;
        if (text.n)
            rc = run_text(w, which, object, buf_span(&text), err);
    }
    return rc;
}

int text_drop(struct writer *w, int64_t object, struct pb_error *err)
{
    return object <= w->now.text_done ? change_text(w, SQL_TEXT_DROP, object, err) : 0;
}

int text_index(struct writer *w, struct pb_error *err)
{
    int64_t ids[STORE_INDEX_OBJECTS];
    sqlite3_stmt *st = db_statement(&w->c, SQL_OBJECTS_FROM, err);
    size_t n = 0;
    int rc;

    if (!st)
        return -PB_E_SYSTEM;
    bind_int(&w->c, st, 1, w->now.text_done);
    bind_int(&w->c, st, 2, STORE_INDEX_OBJECTS);
    while ((rc = db_row(&w->c, st, err)) > 0)
        ids[n++] = row_int(&w->c, st, 0);
    for (size_t i = 0; i < n && rc == 0 && w->bytes < STORE_INDEX_BYTES; i++) {
        rc = change_text(w, SQL_TEXT_ADD, ids[i], err);
        if (rc == 0)
            w->now.text_done = ids[i];
    }
    if (rc == 0 && !n)
        w->now.text_done = w->now.last_object; /* those at the end are gone */
    return rc;
}
