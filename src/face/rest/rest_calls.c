/* rest_calls.c - calls: those under way, and what stays of those that have ended. They are read
 * from the store; where nothing is recorded, what is remembered of the last ones has the same
 * shape. */
#include "face/control/control.h"
#include "hub/hub/hub.h"
#include "io/http/http.h"
#include "rest_impl.h"
#include "store/store.h"

/* ---- a page of them ---- */

struct calls_read {
    struct rest_read read;
    bool none; /* who asks wants those under way only */
};

/* Calls are recorded now. What was recorded before can still be asked for one by one. */
static bool records_now(const struct rest_call *c)
{
    const struct settings *set = control_facts_of(c->rest->hosts)->settings;

    return rest_store_of(c) && !(set && strcmp(set->record, "none") == 0);
}

static void begin_answer(struct json_out *o, const struct hub *h)
{
    json_begin_object(o, NULL);
    control_write_calls(o, "calls", h);
}

static void end_answer(struct json_out *o, uint64_t total, bool recorded)
{
    json_put_uint(o, "total", total);
    json_put_bool(o, "recorded", recorded);
    json_end(o);
}

static void on_page(void *ctx, const struct call_page *p, const struct pb_error *err)
{
    struct calls_read *w = ctx;
    AUTO_BUF struct buf body = { 0 };
    struct json_out o = json_out(&body);

    w->read.read = NULL;
    if (err) {
        rest_read_fail(&w->read, err);
        return;
    }
    begin_answer(&o, w->read.rest->hub);
    json_begin_array(&o, "recent");
    for (size_t i = 0; !w->none && i < p->n; i++) {
        json_begin_object(&o, NULL);
        call_record_members(&o, &p->v[i]);
        json_end(&o);
    }
    json_end(&o);
    if (!w->none && p->next)
        json_put_uint(&o, "next", p->next);
    end_answer(&o, p->total, true);
    rest_reply(w->read.r, 200, &body);
    rest_read_end(&w->read);
}

/* What was asked for cannot be told of calls that are only remembered; that is answered. */
static bool wants_records(struct rest_call *c, const struct call_query *q)
{
    const char *what = q->text           ? "text"
                       : q->source       ? "source"
                       : q->face         ? "face"
                       : q->run          ? "run"
                       : q->conversation ? "conversation"
                       : q->parent       ? "parent"
                                         : NULL;
    AUTO_BUF struct buf text = { 0 };

    if (!what)
        return false;
    buf_printf(&text, "Calls are not recorded, so they cannot be asked for by '%s'", what);
    rest_fail(c->r, &(struct rest_failure){ 409, "not_recording", .message = buf_cstr(&text) });
    return true;
}

static void reply_remembered(struct rest_call *c, const struct call_query *q)
{
    AUTO_BUF struct buf body = { 0 };
    struct json_out o = json_out(&body);

    if (wants_records(c, q))
        return;
    begin_answer(&o, c->hub);
    rest_recent_write(&o, c->rest->recent, q);
    end_answer(&o, rest_recent_count(c->rest->recent), false);
    rest_reply(c->r, 200, &body);
}

/* An empty value is no filter, as a form sends it. */
static const char *filter(const struct rest_call *c, const char *name)
{
    const char *text = rest_text(c, name);

    return text && *text ? text : NULL;
}

void rest_calls(struct rest_call *c)
{
    uint64_t limit = rest_count(c, "limit", STORE_PAGE_USUAL);
    struct call_query q = {
#define X(member, help) .member = filter(c, #member),
        CALL_FILTERS(X)
#undef X
            .before = rest_count(c, "before", 0),
        .limit = limit < STORE_PAGE_MAX ? (unsigned)limit : STORE_PAGE_MAX,
    };
    struct calls_read *w;

    if (!rest_time(c, "since", &q.since_us) || !rest_time(c, "until", &q.until_us))
        return;
    if (!records_now(c)) {
        reply_remembered(c, &q);
        return;
    }
    w = rest_read_new(c, sizeof *w, NULL);
    if (!w)
        return;
    w->none = !limit;
    if (w->none)
        q.limit = 1;
    rest_read_begin(&w->read, store_find(w->read.store, &q, on_page, w));
}

/* ---- one of them ---- */

enum { OBJECTS = 3 };
static const char *const object_keys[OBJECTS] = { "arguments", "result", "definition" };

struct call_read {
    struct rest_read read;
    struct buf body;
    struct json_out o; /* into body */
    char cids[OBJECTS][CID_CHARS + 1];
    int at; /* the object that is read */
};

static void call_done(struct rest_read *w)
{
    buf_done(&CONTAINER_OF(w, struct call_read, read)->body);
}

static void next_object(struct call_read *w);

static void on_object(void *ctx, struct span bytes, const struct pb_error *err)
{
    static const struct json_opts flat = { .keep_depth = 1 };
    struct call_read *w = ctx;
    AUTO_JSON struct json_doc doc = { 0 };

    w->read.read = NULL;
    if (err && err->code != PB_E_NOT_FOUND && err->code != PB_E_LIMIT) {
        rest_read_fail(&w->read, err);
        return;
    }
    if (!err && bytes.n <= REST_INLINE_MAX && json_parse(&doc, bytes, &flat, NULL) == 0)
        json_put_raw(&w->o, object_keys[w->at], bytes);
    w->at++;
    next_object(w);
}

static void next_object(struct call_read *w)
{
    while (w->at < OBJECTS && !*w->cids[w->at])
        w->at++;
    if (w->at < OBJECTS) {
        rest_read_begin(&w->read, store_object(w->read.store, w->cids[w->at], on_object, w));
        return;
    }
    json_end(&w->o);
    rest_reply(w->read.r, 200, &w->body);
    rest_read_end(&w->read);
}

/* What is too large is not read at all. */
static void want(struct call_read *w, int i, const char *cid, uint64_t bytes)
{
    if (cid && bytes <= REST_INLINE_MAX)
        memcpy(w->cids[i], cid, strnlen(cid, CID_CHARS));
}

static void fail_unknown(struct http_request *r, const char *id)
{
    rest_fail(r, &(struct rest_failure){ 404, "call_not_found", "id", span_of(id),
                                         .message = "No such call has ended and is still known" });
}

static void on_call(void *ctx, const struct call_page *p, const struct pb_error *err)
{
    struct call_read *w = ctx;

    w->read.read = NULL;
    if (err) {
        rest_read_fail(&w->read, err);
        return;
    }
    if (!p->n) {
        fail_unknown(w->read.r, buf_cstr(&w->body));
        rest_read_end(&w->read);
        return;
    }
    w->body.n = 0;
    w->o = json_out(&w->body);
    json_begin_object(&w->o, NULL);
    call_record_members(&w->o, &p->v[0]);
    want(w, 0, p->v[0].arguments_cid, p->v[0].arguments_bytes);
    want(w, 1, p->v[0].result_cid, p->v[0].result_bytes);
    want(w, 2, p->v[0].definition_cid, 0);
    next_object(w);
}

static void reply_remembered_call(struct rest_call *c, const char *id)
{
    AUTO_BUF struct buf body = { 0 };
    struct json_out o = json_out(&body);

    json_begin_object(&o, NULL);
    if (!rest_recent_get(&o, c->rest->recent, id)) {
        fail_unknown(c->r, id);
        return;
    }
    json_end(&o);
    rest_reply(c->r, 200, &body);
}

void rest_call(struct rest_call *c)
{
    const char *id = rest_text(c, "id");
    struct call_read *w;

    if (!rest_store_of(c)) {
        reply_remembered_call(c, id);
        return;
    }
    w = rest_read_new(c, sizeof *w, call_done);
    if (!w)
        return;
    buf_str(&w->body, id);
    rest_read_begin(&w->read, store_get(w->read.store, id, on_call, w));
}

/* ---- what is done to them ---- */

void rest_calls_cancel(struct rest_call *c)
{
    const char *id = rest_text(c, "id");

    if (gate_cancel_uuid(c->rest->gate, id, CALL_BY_USER))
        rest_reply_ok(c->r);
    else
        rest_fail(c->r, &(struct rest_failure){ 404, "call_not_found", "id", span_of(id),
                                                .message = "No such call is running",
                                                .next = "GET /api/calls lists those that are" });
}

struct forgetting {
    struct http_request *r; /* NULL: gone */
};

static void on_gone(void *ctx) { ((struct forgetting *)ctx)->r = NULL; }

static void on_forgotten(void *ctx, const struct pb_error *err)
{
    struct forgetting *f = ctx;

    if (f->r && err)
        rest_fail(f->r, &(struct rest_failure){ 500, "records_not_changed", .message = err->msg });
    else if (f->r)
        rest_reply_ok(f->r);
    free(f);
}

void rest_calls_forget(struct rest_call *c)
{
    struct store *s = rest_store_of(c);
    struct forgetting *f;
    int64_t before;

    if (!rest_time(c, "before", &before))
        return;
    if (!s) {
        rest_fail(c->r, &(struct rest_failure){ 409, "not_recording",
                                                .message = "Calls are not recorded" });
        return;
    }
    f = NEW(struct forgetting);
    f->r = c->r;
    http_on_gone(c->r, on_gone, f);
    store_forget(s, before, on_forgotten, f);
}
