/* rest_store.c - the store: how much it holds, and the bytes that records name. */
#include "io/http/http.h"
#include "rest_impl.h"
#include "store/store.h"
#include <stdio.h>

/* ---- numbers ---- */

static void on_stats(void *ctx, const struct store_stats *st, const struct pb_error *err)
{
    struct rest_read *w = ctx;
    AUTO_BUF struct buf body = { 0 };
    struct json_out o = json_out(&body);

    w->read = NULL;
    if (err) {
        rest_read_fail(w, err);
        return;
    }
    json_begin_object(&o, NULL);
    json_put_bool(&o, "recording", true);
    json_put_str(&o, "path", st->path);
    json_put_uint(&o, "calls", st->calls);
    json_put_uint(&o, "objects", st->objects);
    json_put_uint(&o, "bytes", st->bytes);
    json_put_uint(&o, "object_bytes", st->object_bytes);
    json_put_uint(&o, "waiting", st->waiting);
    json_put_uint(&o, "lost", st->lost);
    if (st->oldest_us)
        json_put_scaled(&o, "oldest_at", st->oldest_us, 6);
    json_end(&o);
    rest_reply(w->r, 200, &body);
    rest_read_end(w);
}

void rest_store(struct rest_call *c)
{
    AUTO_BUF struct buf body = { 0 };
    struct rest_read *w;

    if (!rest_store_of(c)) {
        buf_str(&body, "{\"recording\":false}");
        rest_reply(c->r, 200, &body);
        return;
    }
    w = rest_read_new(c, sizeof *w, NULL);
    if (w)
        rest_read_begin(w, store_stats(w->store, on_stats, w));
}

/* ---- bytes ---- */

struct object_read {
    struct rest_read read;
    char cid[CID_CHARS + 1];
    struct buf bytes; /* of a large one */
    bool is_json;
};

static void object_done(struct rest_read *w)
{
    buf_done(&CONTAINER_OF(w, struct object_read, read)->bytes);
}

static bool is_json(struct span bytes)
{
    static const struct json_opts flat = { .keep_depth = 1 };
    AUTO_JSON struct json_doc doc = { 0 };

    return json_parse(&doc, bytes, &flat, NULL) == 0;
}

static void check(struct rest_read *w)
{
    struct object_read *o = CONTAINER_OF(w, struct object_read, read);

    o->is_json = is_json(buf_span(&o->bytes));
}

/* A browser saves it: it was written by others, and is not to be taken for a page of ours. */
static void reply(struct object_read *o, struct span bytes)
{
    char headers[256];

    snprintf(headers, sizeof headers,
             "Content-Type: application/%s\r\nCache-Control: no-store\r\n"
             "X-Content-Type-Options: nosniff\r\nContent-Security-Policy: sandbox\r\n"
             "Content-Disposition: attachment; filename=\"%.16s.%s\"\r\n",
             o->is_json ? "json" : "octet-stream", o->cid, o->is_json ? "json" : "bin");
    http_reply(o->read.r, 200, headers, &bytes, 1);
    rest_read_end(&o->read);
}

static void checked(struct rest_read *w)
{
    struct object_read *o = CONTAINER_OF(w, struct object_read, read);

    reply(o, buf_span(&o->bytes));
}

static void fail_object(struct object_read *o, const struct pb_error *err)
{
    struct http_request *r = o->read.r;
    bool missing = err->code == PB_E_NOT_FOUND;

    if (!missing && err->code != PB_E_LIMIT) {
        rest_read_fail(&o->read, err);
        return;
    }
    rest_read_end(&o->read);
    rest_fail(r, &(struct rest_failure){ missing ? 404 : 410,
                                         missing ? "object_not_found" : "object_not_kept",
                                         .message = err->msg });
}

static void on_object(void *ctx, struct span bytes, const struct pb_error *err)
{
    struct object_read *o = ctx;

    o->read.read = NULL;
    if (err) {
        fail_object(o, err);
    } else if (bytes.n > REST_CHECK_MAX) {
        buf_add_span(&o->bytes, bytes);
        rest_read_work(&o->read, check, checked);
    } else {
        o->is_json = is_json(bytes);
        reply(o, bytes);
    }
}

void rest_object(struct rest_call *c)
{
    const char *cid = rest_text(c, "cid");
    struct object_read *o;

    if (!cid_is(span_of(cid))) {
        rest_refuse(c->r, "cid: expected %d digits, 0-9 and a-f", CID_CHARS);
        return;
    }
    if (!rest_store_of(c)) {
        rest_fail(c->r, &(struct rest_failure){ 404, "object_not_found",
                                                .message = "Nothing is recorded here" });
        return;
    }
    o = rest_read_new(c, sizeof *o, object_done);
    if (!o)
        return;
    memcpy(o->cid, cid, CID_CHARS);
    rest_read_begin(&o->read, store_object(o->read.store, o->cid, on_object, o));
}
