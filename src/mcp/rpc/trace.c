#include "trace.h"

enum {
    VERSION_AT = 0,
    TRACE_AT = 3,
    SPAN_AT = 36,
    FLAGS_AT = 53,
    TRACE_CHARS = 55,
    TRACE_CHARS_MAX = 256, /* of a version that nobody knows yet */
};

static bool is_hex(struct span s, size_t at, size_t n)
{
    for (size_t i = at; i < at + n; i++)
        if (!(s.p[i] >= '0' && s.p[i] <= '9') && !(s.p[i] >= 'a' && s.p[i] <= 'f'))
            return false;
    return true;
}

static bool is_zero(struct span s, size_t at, size_t n)
{
    for (size_t i = at; i < at + n; i++)
        if (s.p[i] != '0')
            return false;
    return true;
}

bool trace_valid(struct span t)
{
    if (t.n < TRACE_CHARS || t.n > TRACE_CHARS_MAX || t.p[TRACE_AT - 1] != '-' ||
        t.p[SPAN_AT - 1] != '-' || t.p[FLAGS_AT - 1] != '-' || !is_hex(t, VERSION_AT, 2) ||
        !is_hex(t, TRACE_AT, 32) || !is_hex(t, SPAN_AT, 16) || !is_hex(t, FLAGS_AT, 2))
        return false;
    if (t.p[0] == 'f' && t.p[1] == 'f')
        return false;
    if (t.n > TRACE_CHARS && (is_zero(t, VERSION_AT, 2) || t.p[TRACE_CHARS] != '-'))
        return false;
    return !is_zero(t, TRACE_AT, 32) && !is_zero(t, SPAN_AT, 16);
}

struct span trace_of_params(struct json params, struct arena *a)
{
    struct json meta =
        json_is(params, JSON_OBJECT) ? json_get(params, "_meta") : (struct json){ 0 };
    struct json text =
        json_is(meta, JSON_OBJECT) ? json_get(meta, "traceparent") : (struct json){ 0 };
    struct span t = json_is(text, JSON_STRING) ? json_str(text, a) : SPAN("");

    return trace_valid(t) ? t : SPAN("");
}

static void put_others(struct json_out *o, struct json object, const char *without)
{
    AUTO_ARENA struct arena a = { 0 };

    JSON_FOREACH(m, object)
        if (!json_key_is(m, without))
            json_put_raw_key(o, json_key_str(m, &a), json_text(m));
}

void trace_put(struct buf *out, struct span params, struct span traceparent)
{
    AUTO_JSON struct json_doc doc = { 0 };
    struct json_out o = json_out(out);
    struct json root = { 0 }, meta;

    if (params.n && json_parse(&doc, params, &(struct json_opts){ .keep_depth = 2 }, NULL) == 0)
        root = json_root(&doc);
    meta = json_is(root, JSON_OBJECT) ? json_get(root, "_meta") : (struct json){ 0 };
    json_begin_object(&o, NULL);
    if (json_is(root, JSON_OBJECT))
        put_others(&o, root, "_meta");
    json_begin_object(&o, "_meta");
    if (json_is(meta, JSON_OBJECT))
        put_others(&o, meta, "traceparent");
    json_put_span(&o, "traceparent", traceparent);
    json_end(&o);
    json_end(&o);
}
