/* control_records.c - what was recorded of calls: lists, one call, bytes, exports, forgetting. */
#include "control_impl.h"
#include "gate/gate.h"
#include "mcp/rpc/rpc.h"

#define TIME_MAX_S 1e12

enum { UUID_PART_MIN = 6, CID_PART_MIN = 12 };

/* False: refused and answered. */
static bool read_query(struct request *r, struct control_query *out, struct arena *a)
{
    static const struct json_field fields[] = {
#define X(member, help) { #member, JSON_FIELD_CSTR, offsetof(struct control_query, q.member), 0 },
        CALL_FILTERS(X)
#undef X
            { "since", JSON_FIELD_DOUBLE, offsetof(struct control_query, since_s), 0 },
        { "until", JSON_FIELD_DOUBLE, offsetof(struct control_query, until_s), 0 },
        { "before", JSON_FIELD_UINT, offsetof(struct control_query, q.before), 0 },
        { "limit", JSON_FIELD_UINT, offsetof(struct control_query, limit), 0 },
        { "follow", JSON_FIELD_BOOL, offsetof(struct control_query, follow), 0 },
        { "format", JSON_FIELD_STRING, offsetof(struct control_query, format), 0 },
        { "id", JSON_FIELD_CSTR, offsetof(struct control_query, id), 0 },
        { 0 },
    };
    struct pb_error err;

    *out = (struct control_query){ 0 };
    if (json_fields(r->params, fields, out, a, &err) < 0) {
        request_fail(r, RPC_INVALID_PARAMS, SPAN(""), "%s", err.msg);
        return false;
    }
    if (!(out->since_s >= 0 && out->since_s < TIME_MAX_S && out->until_s >= 0 &&
          out->until_s < TIME_MAX_S)) {
        request_fail(r, RPC_INVALID_PARAMS, SPAN(""), "since, until: expected seconds since 1970");
        return false;
    }
    out->q.since_us = (int64_t)(out->since_s * 1e6);
    out->q.until_us = (int64_t)(out->until_s * 1e6);
    out->q.limit = out->limit > STORE_PAGE_MAX ? STORE_PAGE_MAX : (unsigned)out->limit;
    return true;
}

struct store *control_need_store(struct hosts *s, struct request *r)
{
    struct store *store = gate_store(hosts_gate(s));
    struct pb_error err;

    if (store)
        return store;
    fail(&err, PB_E_NOT_FOUND, "calls are not recorded here: it was started with --no-record");
    control_refuse(r, &err);
    return NULL;
}

void control_write_records(struct json_out *o, const char *key, const struct call_page *p)
{
    json_begin_array(o, key);
    for (size_t i = 0; i < p->n; i++) {
        json_begin_object(o, NULL);
        call_record_members(o, &p->v[i]);
        json_end(o);
    }
    json_end(o);
}

/* ---- a question to the store --------------------------------------------------------------- */

/* Somebody waits for the store's answer. */
struct store_asker {
    struct request *r;
    struct hosts *hosts;
    struct store *store;
    struct store_read *read;
    struct export_read *export;
    struct arena arena;
    char *wanted; /* of what there may be several: the beginning of it */
    bool gone;    /* and the store cannot be told so */
};

static void asker_free(struct store_asker *a)
{
    arena_done(&a->arena);
    free(a);
}

static void on_asker_gone(struct request *r, enum cancel_reason why)
{
    struct store_asker *a = r->work;

    (void)why;
    a->gone = true;
    if (a->read)
        store_cancel(a->read);
    else if (a->export)
        export_cancel(a->export);
    else
        return; /* what was begun tells when it is over */
    asker_free(a);
}

/* NULL: answered. */
static struct store_asker *asker_new(struct hosts *s, struct request *r)
{
    struct store *store = control_need_store(s, r);
    struct store_asker *a;

    if (!store)
        return NULL;
    a = NEW(struct store_asker);
    a->r = r;
    a->hosts = s;
    a->store = store;
    r->work = a;
    r->cancel = on_asker_gone;
    return a;
}

/* It is answered now. */
static struct request *asker_end(struct store_asker *a)
{
    struct request *r = a->r;

    if (a->gone)
        r = NULL;
    if (r) {
        r->work = NULL;
        r->cancel = NULL;
    }
    asker_free(a);
    return r;
}

static void asker_refuse(struct store_asker *a, const struct pb_error *err)
{
    struct pb_error why = *err;
    struct request *r = asker_end(a);

    if (r)
        control_refuse(r, &why);
}

static void asker_closed(struct store_asker *a)
{
    struct pb_error err;

    fail(&err, PB_E_CLOSED, "patchbay is stopping");
    asker_refuse(a, &err);
}

static void asker_reply(struct store_asker *a, struct buf *b)
{
    struct request *r = asker_end(a);

    if (r)
        request_reply(r, buf_span(b));
}

/* b has the bytes itself, unless they are many. */
static void asker_reply_bytes(struct store_asker *a, struct span bytes, struct buf *b)
{
    struct hosts *hosts = a->hosts;
    struct request *r;

    if (!control_is_long(bytes)) {
        asker_reply(a, b);
        return;
    }
    r = asker_end(a);
    if (r)
        control_reply_pieces(hosts, r, bytes, b);
}

/* ---- the list ------------------------------------------------------------------------------ */

static void on_page(void *ctx, const struct call_page *p, const struct pb_error *err)
{
    AUTO_BUF struct buf b = { 0 };
    struct json_out o = json_out(&b);
    struct store_asker *a = ctx;

    a->read = NULL;
    if (err) {
        asker_refuse(a, err);
        return;
    }
    json_begin_object(&o, NULL);
    control_write_records(&o, "calls", p);
    if (p->next)
        json_put_uint(&o, "next", p->next);
    json_put_uint(&o, "total", p->total);
    json_end(&o);
    asker_reply(a, &b);
}

void control_records(struct hosts *s, struct request *r)
{
    AUTO_ARENA struct arena arena = { 0 };
    struct control_query q;
    struct store_asker *a;

    if (!read_query(r, &q, &arena))
        return;
    if (q.follow) {
        control_follow_records(s, r, &q);
        return;
    }
    a = asker_new(s, r);
    if (!a)
        return;
    a->read = store_find(a->store, &q.q, on_page, a);
    if (!a->read)
        asker_closed(a);
}

/* ---- one call ------------------------------------------------------------------------------ */

static void reply_record(struct store_asker *a, const struct call_record *c)
{
    AUTO_BUF struct buf b = { 0 };
    struct json_out o = json_out(&b);

    json_begin_object(&o, NULL);
    call_record_members(&o, c);
    json_end(&o);
    asker_reply(a, &b);
}

static void refuse_unknown(struct store_asker *a, const char *where)
{
    struct pb_error err;

    fail(&err, PB_E_NOT_FOUND, "there is no recorded call '%s'%s; 'patchbay calls' shows them",
         a->wanted, where);
    asker_refuse(a, &err);
}

static bool begins(const char *text, const char *with)
{
    return text && strncmp(text, with, strlen(with)) == 0;
}

static void refuse_ambiguous(struct store_asker *a, const char *one, const char *other)
{
    struct pb_error err;

    fail(&err, PB_E_INVALID, "'%.40s' may be %.40s or %.40s: give more of it", a->wanted, one,
         other);
    asker_refuse(a, &err);
}

static void on_recent(void *ctx, const struct call_page *p, const struct pb_error *err)
{
    struct store_asker *a = ctx;
    const struct call_record *found = NULL;

    a->read = NULL;
    if (err) {
        asker_refuse(a, err);
        return;
    }
    for (size_t i = 0; i < p->n; i++) {
        if (!begins(p->v[i].r.uuid, a->wanted))
            continue;
        if (found) {
            refuse_ambiguous(a, found->r.uuid, p->v[i].r.uuid);
            return;
        }
        found = &p->v[i];
    }
    if (found)
        reply_record(a, found);
    else
        refuse_unknown(a, " among the newest");
}

static void find_by_part(struct store_asker *a, size_t min, call_page_fn *fn)
{
    struct pb_error err;

    if (strlen(a->wanted) < min) {
        fail(&err, PB_E_NOT_FOUND,
             "there is no recorded call '%s'; give %zu characters of its id, "
             "or its number",
             a->wanted, min);
        asker_refuse(a, &err);
        return;
    }
    a->read = store_find(a->store, &(struct call_query){ .limit = STORE_PAGE_MAX }, fn, a);
    if (!a->read)
        asker_closed(a);
}

static void on_numbered(void *ctx, const struct call_page *p, const struct pb_error *err)
{
    struct store_asker *a = ctx;

    a->read = NULL;
    if (err)
        asker_refuse(a, err);
    else if (p->n && p->v[0].no == strtoull(a->wanted, NULL, 10))
        reply_record(a, &p->v[0]);
    else if (strlen(a->wanted) >= UUID_PART_MIN)
        find_by_part(a, UUID_PART_MIN, on_recent);
    else
        refuse_unknown(a, "");
}

static void on_known(void *ctx, const struct call_page *p, const struct pb_error *err)
{
    struct store_asker *a = ctx;

    a->read = NULL;
    if (err)
        asker_refuse(a, err);
    else if (p->n)
        reply_record(a, &p->v[0]);
    else
        refuse_unknown(a, "");
}

/* A number is digits, and so may be the beginning of an id: the number comes first. */
static bool is_number(const char *text)
{
    return *text && strspn(text, "0123456789") == strlen(text) && strlen(text) < 19;
}

static struct store_asker *asker_of(struct hosts *s, struct request *r)
{
    AUTO_ARENA struct arena arena = { 0 };
    struct control_query q;
    struct store_asker *a;

    if (!read_query(r, &q, &arena))
        return NULL;
    if (!q.id || !*q.id) {
        request_fail(r, RPC_INVALID_PARAMS, SPAN(""), "id: expected what is wanted");
        return NULL;
    }
    a = asker_new(s, r);
    if (a)
        a->wanted = arena_dup(&a->arena, span_of(q.id));
    return a;
}

void control_record(struct hosts *s, struct request *r)
{
    struct store_asker *a = asker_of(s, r);

    if (!a)
        return;
    if (is_number(a->wanted))
        a->read = store_find(
            a->store,
            &(struct call_query){ .before = strtoull(a->wanted, NULL, 10) + 1, .limit = 1 },
            on_numbered, a);
    else if (strlen(a->wanted) == UUID_CHARS)
        a->read = store_get(a->store, a->wanted, on_known, a);
    else {
        find_by_part(a, UUID_PART_MIN, on_recent);
        return;
    }
    if (!a->read)
        asker_closed(a);
}

/* ---- bytes --------------------------------------------------------------------------------- */

static void on_object(void *ctx, struct span bytes, const struct pb_error *err)
{
    AUTO_BUF struct buf b = { 0 };
    struct json_out o = json_out(&b);
    struct store_asker *a = ctx;

    a->read = NULL;
    if (err) {
        asker_refuse(a, err);
        return;
    }
    json_begin_object(&o, NULL);
    json_put_str(&o, "cid", a->wanted);
    json_put_uint(&o, "bytes", bytes.n);
    if (!control_is_long(bytes))
        control_put_bytes(&o, bytes);
    json_end(&o);
    asker_reply_bytes(a, bytes, &b);
}

static void fetch_object(struct store_asker *a)
{
    a->read = store_object(a->store, a->wanted, on_object, a);
    if (!a->read)
        asker_closed(a);
}

/* Names the cid if it begins so. False: another one does, too, and that was told. */
static bool take_cid(struct store_asker *a, const char *cid, const char **found)
{
    if (!begins(cid, a->wanted) || (*found && strcmp(*found, cid) == 0))
        return true;
    if (*found) {
        refuse_ambiguous(a, *found, cid);
        return false;
    }
    *found = cid;
    return true;
}

static void on_recent_cids(void *ctx, const struct call_page *p, const struct pb_error *err)
{
    struct store_asker *a = ctx;
    const char *found = NULL;
    struct pb_error none;

    a->read = NULL;
    if (err) {
        asker_refuse(a, err);
        return;
    }
    for (size_t i = 0; i < p->n; i++)
        if (!take_cid(a, p->v[i].arguments_cid, &found) ||
            !take_cid(a, p->v[i].result_cid, &found) ||
            !take_cid(a, p->v[i].definition_cid, &found))
            return;
    if (!found) {
        fail(&none, PB_E_NOT_FOUND,
             "no object of the newest calls begins with '%s'; give the whole cid", a->wanted);
        asker_refuse(a, &none);
        return;
    }
    a->wanted = arena_dup(&a->arena, span_of(found));
    fetch_object(a);
}

void control_object(struct hosts *s, struct request *r)
{
    struct store_asker *a = asker_of(s, r);
    struct pb_error err;

    if (!a)
        return;
    if (cid_is(span_of(a->wanted))) {
        fetch_object(a);
        return;
    }
    if (strlen(a->wanted) < CID_PART_MIN ||
        strspn(a->wanted, "0123456789abcdef") != strlen(a->wanted)) {
        fail(&err, PB_E_INVALID,
             "'%.40s' is no cid: it has %d digits, 0-9 and a-f; at least the first %d are wanted",
             a->wanted, CID_CHARS, CID_PART_MIN);
        asker_refuse(a, &err);
        return;
    }
    a->read =
        store_find(a->store, &(struct call_query){ .limit = STORE_PAGE_MAX }, on_recent_cids, a);
    if (!a->read)
        asker_closed(a);
}

/* ---- all of it ----------------------------------------------------------------------------- */

static void on_exported(void *ctx, struct span text, uint64_t next, const struct pb_error *err)
{
    AUTO_BUF struct buf b = { 0 };
    struct json_out o = json_out(&b);
    struct store_asker *a = ctx;

    a->export = NULL;
    if (err) {
        asker_refuse(a, err);
        return;
    }
    json_begin_object(&o, NULL);
    if (!control_is_long(text))
        json_put_span(&o, "text", text);
    if (next)
        json_put_uint(&o, "next", next);
    json_end(&o);
    asker_reply_bytes(a, text, &b);
}

void control_export(struct hosts *s, struct request *r)
{
    AUTO_ARENA struct arena arena = { 0 };
    struct control_query q;
    enum export_format f;
    struct store_asker *a;

    if (!read_query(r, &q, &arena))
        return;
    if (!export_format_parse(q.format, &f)) {
        request_fail(r, RPC_INVALID_PARAMS, SPAN(""), "format: expected jsonl, har or otlp");
        return;
    }
    a = asker_new(s, r);
    if (!a)
        return;
    a->export = export_page(hosts_loop(s), a->store, &q.q, f, on_exported, a);
    if (!a->export)
        asker_closed(a);
}

/* ---- numbers, and forgetting --------------------------------------------------------------- */

static void on_stats(void *ctx, const struct store_stats *st, const struct pb_error *err)
{
    AUTO_BUF struct buf b = { 0 };
    struct json_out o = json_out(&b);
    struct store_asker *a = ctx;

    a->read = NULL;
    if (err) {
        asker_refuse(a, err);
        return;
    }
    json_begin_object(&o, NULL);
    json_put_bool(&o, "recording", true);
    json_put_uint(&o, "calls", st->calls);
    json_put_uint(&o, "objects", st->objects);
    json_put_uint(&o, "bytes", st->bytes);
    json_put_uint(&o, "lost", st->lost);
    json_put_str(&o, "path", st->path);
    json_end(&o);
    asker_reply(a, &b);
}

static void ask_stats(struct store_asker *a)
{
    a->read = store_stats(a->store, on_stats, a);
    if (!a->read)
        asker_closed(a);
}

void control_record_stats(struct hosts *s, struct request *r)
{
    struct store_asker *a;

    if (!gate_store(hosts_gate(s))) {
        request_reply(r, SPAN("{\"recording\":false}"));
        return;
    }
    a = asker_new(s, r);
    if (a)
        ask_stats(a);
}

/* What is left is told. Nobody may be there any more to hear it. */
static void on_forgotten(void *ctx, const struct pb_error *err)
{
    struct store_asker *a = ctx;

    if (a->gone)
        asker_free(a);
    else if (err)
        asker_refuse(a, err);
    else
        ask_stats(a);
}

void control_forget(struct hosts *s, struct request *r)
{
    AUTO_ARENA struct arena arena = { 0 };
    struct control_query q;
    struct store_asker *a;

    if (!read_query(r, &q, &arena))
        return;
    a = asker_new(s, r);
    if (a)
        store_forget(a->store, q.q.until_us, on_forgotten, a);
}
