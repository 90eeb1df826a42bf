#include "headers.h"
#include <inttypes.h>

#define MARK_HEAD "=?base64?"
#define MARK_TAIL "?="

static const int64_t safe_integer = (INT64_C(1) << 53) - 1;

static bool has_marks(struct span s)
{
    size_t marks = sizeof MARK_HEAD - 1 + sizeof MARK_TAIL - 1;

    return s.n >= marks && span_starts(s, MARK_HEAD) &&
           memcmp(s.p + s.n - (sizeof MARK_TAIL - 1), MARK_TAIL, sizeof MARK_TAIL - 1) == 0;
}

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

static bool goes_plain(struct span s)
{
    if (s.n && (is_blank(s.p[0]) || is_blank(s.p[s.n - 1])))
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] < 0x20 || s.p[i] > 0x7e)
            return false;
    return !has_marks(s);
}

void header_encode(struct buf *out, struct span value)
{
    if (goes_plain(value)) {
        buf_add_span(out, value);
        return;
    }
    buf_str(out, MARK_HEAD);
    base64_encode(out, value);
    buf_str(out, MARK_TAIL);
}

bool header_decode(struct span text, struct span *out, struct arena *arena)
{
    AUTO_BUF struct buf bytes = { 0 };

    if (!has_marks(text)) {
        *out = text;
        return true;
    }
    text = span_from(text, sizeof MARK_HEAD - 1);
    text.n -= sizeof MARK_TAIL - 1;
    if (!base64_decode(&bytes, text) || !utf8_valid(buf_span(&bytes)))
        return false;
    *out = span_make(arena_dup(arena, buf_span(&bytes)), bytes.n);
    return true;
}

/* JSON_NONE also for null: both mean that there is no header. */
static struct json value_at(const struct header_param *p, struct json arguments)
{
    struct json v = arguments;

    for (size_t i = 0; i < p->depth; i++) {
        if (!json_is(v, JSON_OBJECT))
            return (struct json){ 0 };
        v = json_get_span(v, p->path[i]);
    }
    if (json_is(v, JSON_NULL))
        return (struct json){ 0 };
    return v;
}

/* The value as the header spells it, before encoding. p == NULL: it has none. */
static int spell(const struct header_param *p, struct json v, struct arena *arena, struct span *out,
                 struct pb_error *err)
{
    int64_t n;

    *out = (struct span){ 0 };
    if (json_is(v, JSON_STRING)) {
        *out = json_str(v, arena);
    } else if (json_is(v, JSON_TRUE) || json_is(v, JSON_FALSE)) {
        *out = json_text(v);
    } else if (json_is(v, JSON_NUMBER)) {
        if (json_int(v, &n, NULL) < 0) {
            *out = json_text(v); /* no integer: the server refuses the argument itself */
        } else if (n > safe_integer || n < -safe_integer) {
            return fail(err, PB_E_INVALID, "Mcp-Param-%.*s: %" PRId64 " is outside +-(2^53-1)",
                        SPAN_ARG(p->header), n);
        } else {
            const char *text = arena_printf(arena, "%" PRId64, n);

            *out = span_of(text);
        }
    }
    return 0;
}

int header_params_write(const struct header_params *p, struct json arguments, struct arena *arena,
                        void (*emit)(void *ctx, const char *line), void *ctx, struct pb_error *err)
{
    for (size_t i = 0; i < p->n; i++) {
        AUTO_BUF struct buf value = { 0 };
        struct span plain;

        if (spell(&p->items[i], value_at(&p->items[i], arguments), arena, &plain, err) < 0)
            return -(int)PB_E_INVALID;
        if (!plain.p)
            continue;
        header_encode(&value, plain);
        emit(ctx, arena_printf(arena, "Mcp-Param-%.*s: %s", SPAN_ARG(p->items[i].header),
                               buf_cstr(&value)));
    }
    return 0;
}

static bool same_number(struct span a, struct json b)
{
    AUTO_JSON struct json_doc doc = { 0 };

    return json_parse(&doc, a, NULL, NULL) == 0 && json_is(json_root(&doc), JSON_NUMBER) &&
           json_equal(json_root(&doc), b);
}

static bool says_the_same(struct span decoded, struct json v, struct arena *arena)
{
    if (json_is(v, JSON_STRING))
        return span_eq(decoded, json_str(v, arena));
    if (json_is(v, JSON_NUMBER))
        return same_number(decoded, v);
    return span_eq(decoded, json_text(v));
}

static int check_one(const struct header_param *p, struct json arguments, struct span sent,
                     struct arena *arena, struct pb_error *err)
{
    struct json v = value_at(p, arguments);
    struct span decoded;

    if (json_is(v, JSON_OBJECT) || json_is(v, JSON_ARRAY))
        return 0; /* it has no spelling; the schema refuses it in words of its own */
    if (json_is(v, JSON_NONE))
        return sent.p ? fail(err, PB_E_INVALID,
                             "header Mcp-Param-%.*s is there but its argument is not",
                             SPAN_ARG(p->header))
                      : 0;
    if (!sent.p)
        return fail(err, PB_E_INVALID, "header Mcp-Param-%.*s is missing", SPAN_ARG(p->header));
    if (!header_decode(span_trim(sent), &decoded, arena))
        return fail(err, PB_E_INVALID, "header Mcp-Param-%.*s is not canonical base64 of UTF-8",
                    SPAN_ARG(p->header));
    if (!says_the_same(decoded, v, arena))
        return fail(err, PB_E_INVALID, "header Mcp-Param-%.*s differs from its argument",
                    SPAN_ARG(p->header));
    return 0;
}

int header_params_check(const struct header_params *p, struct json arguments,
                        struct span (*header)(void *ctx, const char *name), void *ctx,
                        struct pb_error *err)
{
    AUTO_ARENA struct arena arena = { 0 };

    for (size_t i = 0; i < p->n; i++) {
        const char *name = arena_printf(&arena, "Mcp-Param-%.*s", SPAN_ARG(p->items[i].header));
        int rc = check_one(&p->items[i], arguments, header(ctx, name), &arena, err);

        if (rc < 0)
            return rc;
    }
    return 0;
}
