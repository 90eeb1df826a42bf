#include "params_impl.h"
#include <stdio.h>

/* What a refusal says was wanted, by type. */
/* clang-format off */
static const char *const wanted[] = {
    [PB_STRING] = "a string",
    [PB_INT]    = "an integer",
    [PB_DOUBLE] = "a number",
    [PB_BOOL]   = "a boolean",
    [PB_ARRAY]  = "an array",
    [PB_OBJECT] = "an object",
    [PB_ONE_OF] = "one of its options",
    [PB_ANY]    = "a value",
};
static const char *const found[] = {
    [JSON_NONE]   = "nothing",
    [JSON_NULL]   = "null",
    [JSON_FALSE]  = "a boolean",
    [JSON_TRUE]   = "a boolean",
    [JSON_NUMBER] = "a number",
    [JSON_STRING] = "a string",
    [JSON_ARRAY]  = "an array",
    [JSON_OBJECT] = "an object",
};
/* clang-format on */

static int refuse(const struct argument_place *at, struct pb_error *err, const char *why)
{
    char path[PLACE_CHARS];

    place_print(at, path);
    return fail(err, PB_E_INVALID, "%s: %s", path, why);
}

static int refuse_type(const struct param *p, struct json v, const struct argument_place *at,
                       struct pb_error *err)
{
    char why[64];

    snprintf(why, sizeof why, "expected %s, got %s", wanted[p->type], found[json_type(v)]);
    return refuse(at, err, why);
}

/* A C handler sees terminated strings: one with a NUL inside would be judged whole by others and
 * seen cut by it. */
static bool holds_nul(struct json string)
{
    AUTO_ARENA struct arena a = { 0 };
    struct span text = json_text(string), s;

    if (!memchr(text.p, '\\', text.n) || !memmem(text.p, text.n, "\\u0000", 6))
        return false;
    s = json_str(string, &a);
    return s.n && memchr(s.p, '\0', s.n);
}

static bool is_option(const struct param *p, struct json v)
{
    for (size_t i = 0; i < p->n_options; i++)
        if (json_str_is(v, p->options[i]))
            return true;
    return false;
}

/* An integer as our own writer would put it: no point, no exponent, in range. */
static bool plain_int(struct json v)
{
    struct span text = json_text(v);
    int64_t ignored;

    if (!json_is(v, JSON_NUMBER) || json_int(v, &ignored, NULL) < 0)
        return false;
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] == '.' || (text.p[i] | 0x20) == 'e')
            return false;
    return true;
}

static bool conforms(const struct param *p, struct json v);

static bool object_conforms(const struct param *p, struct json v, bool closed)
{
    size_t known = 0;

    if (p->open)
        return true;
    if (closed && json_len(v) > p->n_of)
        return false;
    for (size_t i = 0; i < p->n_of; i++) {
        struct json member = json_get_span(v, p->of[i].key);

        if (json_is(member, JSON_NONE)) {
            if (!p->of[i].optional || p->of[i].fallback.n)
                return false;
            continue;
        }
        known++;
        if (!conforms(&p->of[i], member))
            return false;
    }
    return !closed || known == json_len(v);
}

static bool array_conforms(const struct param *p, struct json v)
{
    if (!p->open)
        JSON_FOREACH(item, v)
            if (!conforms(p->of, item))
                return false;
    return true;
}

static bool conforms(const struct param *p, struct json v)
{
    enum json_type t = json_type(v);
    double ignored;

    switch (p->type) {
    case PB_STRING:
        return t == JSON_STRING && !holds_nul(v);
    case PB_INT:
        return plain_int(v);
    case PB_DOUBLE:
        return t == JSON_NUMBER && json_double(v, &ignored, NULL) == 0;
    case PB_BOOL:
        return t == JSON_TRUE || t == JSON_FALSE;
    case PB_ARRAY:
        return t == JSON_ARRAY && array_conforms(p, v);
    case PB_OBJECT:
        return t == JSON_OBJECT && object_conforms(p, v, false);
    case PB_ONE_OF:
        return t == JSON_STRING && is_option(p, v);
    case PB_ANY:
        return true;
    }
    return false;
}

bool params_conform(const struct params *p, struct json arguments)
{
    if (json_is(arguments, JSON_NONE))
        return false;
    return object_conforms(&p->root, arguments, true);
}

/* The number that a string spells, as JSON spells it; JSON_NONE if it spells none. */
static struct json number_in(struct json_doc *doc, struct json v, struct arena *a)
{
    struct json n;

    if (!json_is(v, JSON_STRING))
        return v;
    if (json_parse(doc, json_str(v, a), NULL, NULL) < 0)
        return (struct json){ 0 };
    n = json_root(doc);
    return json_is(n, JSON_NUMBER) ? n : (struct json){ 0 };
}

static int write_number(const struct param *p, struct json v, struct buf *out,
                        const struct argument_place *at, struct pb_error *err)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena a = { 0 };
    struct json n = number_in(&doc, v, &a);
    struct pb_error why;
    int64_t whole;
    double d;

    if (!json_is(n, JSON_NUMBER))
        return refuse_type(p, v, at, err);
    if (p->type == PB_INT) {
        if (json_int(n, &whole, &why) < 0)
            return refuse(at, err,
                          why.code == PB_E_LIMIT ? "the number does not fit into 64 bits"
                                                 : "expected a whole number of 64 bits");
        buf_printf(out, "%lld", (long long)whole);
        return 0;
    }
    if (json_double(n, &d, &why) < 0)
        return refuse(at, err, "the number is too large");
    buf_add_span(out, json_text(n));
    return 0;
}

static int write_bool(const struct param *p, struct json v, struct buf *out,
                      const struct argument_place *at, struct pb_error *err)
{
    bool yes = json_is(v, JSON_TRUE) || json_str_is(v, "true");

    if (!yes && !json_is(v, JSON_FALSE) && !json_str_is(v, "false"))
        return refuse_type(p, v, at, err);
    buf_str(out, yes ? "true" : "false");
    return 0;
}

static int write_string(const struct param *p, struct json v, struct buf *out,
                        const struct argument_place *at, struct pb_error *err)
{
    if (!json_is(v, JSON_STRING))
        return refuse_type(p, v, at, err);
    if (holds_nul(v))
        return refuse(at, err, "a string with a NUL character is not accepted");
    buf_add_span(out, json_text(v));
    return 0;
}

static int write_option(const struct param *p, struct json v, struct buf *out,
                        const struct argument_place *at, struct pb_error *err)
{
    AUTO_BUF struct buf why = { 0 };

    if (is_option(p, v)) {
        buf_add_span(out, json_text(v));
        return 0;
    }
    buf_str(&why, "expected one of");
    for (size_t i = 0; i < p->n_options && why.n < sizeof err->msg; i++)
        buf_printf(&why, "%s '%s'", i ? "," : "", p->options[i]);
    return refuse(at, err, buf_cstr(&why));
}

static int write_array(const struct param *p, struct json v, struct buf *out,
                       const struct argument_place *at, struct pb_error *err)
{
    struct argument_place here = { at, NULL, 0 };

    if (!json_is(v, JSON_ARRAY))
        return refuse_type(p, v, at, err);
    if (p->open) {
        buf_add_span(out, json_text(v));
        return 0;
    }
    buf_byte(out, '[');
    JSON_FOREACH(item, v) {
        if (here.index)
            buf_byte(out, ',');
        if (param_write(p->of, item, out, &here, err) < 0)
            return -(int)err->code;
        here.index++;
    }
    buf_byte(out, ']');
    return 0;
}

static const struct param *property(const struct param *p, struct json member)
{
    for (size_t i = 0; i < p->n_of; i++)
        if (json_key_is(member, p->of[i].name))
            return &p->of[i];
    return NULL;
}

static int refuse_unknown(const struct param *p, struct json member, struct pb_error *err)
{
    AUTO_ARENA struct arena a = { 0 };
    AUTO_BUF struct buf meant = { 0 };
    struct span key = json_key_str(member, &a);
    struct near near;

    near_init(&near, key);
    for (size_t i = 0; i < p->n_of; i++)
        near_keep(&near, p->of[i].key, near_unlike(&near, p->of[i].key));
    near_write(&near, &meant);
    key = utf8_cut(key, MCP_NAME_SHOWN_MAX);
    return fail(err, PB_E_INVALID, "unknown argument '%.*s'%s", SPAN_ARG(key), buf_cstr(&meant));
}

static int write_member(const struct param *p, struct json v, struct buf *out, bool *first,
                        const struct argument_place *at, struct pb_error *err)
{
    struct argument_place here = { at, p->name, 0 };

    if (p->optional && json_is(v, JSON_NULL) && p->type != PB_ANY)
        v = (struct json){ 0 };
    if (json_is(v, JSON_NONE)) {
        if (!p->optional)
            return at ? refuse(&here, err, "is required")
                      : fail(err, PB_E_INVALID, "missing required argument '%s'", p->name);
        if (!p->fallback.n)
            return 0;
    }
    if (!*first)
        buf_byte(out, ',');
    *first = false;
    json_quote(out, p->key);
    buf_byte(out, ':');
    if (!json_is(v, JSON_NONE))
        return param_write(p, v, out, &here, err);
    buf_add_span(out, p->fallback);
    return 0;
}

static void write_extra(struct json member, struct buf *out, bool *first)
{
    if (!*first)
        buf_byte(out, ',');
    *first = false;
    buf_byte(out, '"');
    buf_add_span(out, json_key(member));
    buf_str(out, "\":");
    buf_add_span(out, json_text(member));
}

static int write_object(const struct param *p, struct json v, struct buf *out,
                        const struct argument_place *at, bool closed, struct pb_error *err)
{
    bool first = true;

    if (p->open) {
        buf_add_span(out, json_text(v));
        return 0;
    }
    if (closed)
        JSON_FOREACH(member, v)
            if (!property(p, member))
                return refuse_unknown(p, member, err);
    buf_byte(out, '{');
    for (size_t i = 0; i < p->n_of; i++)
        if (write_member(&p->of[i], json_get_span(v, p->of[i].key), out, &first, at, err) < 0)
            return -(int)err->code;
    if (!closed)
        JSON_FOREACH(member, v)
            if (!property(p, member))
                write_extra(member, out, &first);
    buf_byte(out, '}');
    return 0;
}

int param_write(const struct param *p, struct json v, struct buf *out,
                const struct argument_place *at, struct pb_error *err)
{
    switch (p->type) {
    case PB_STRING:
        return write_string(p, v, out, at, err);
    case PB_INT:
    case PB_DOUBLE:
        return write_number(p, v, out, at, err);
    case PB_BOOL:
        return write_bool(p, v, out, at, err);
    case PB_ARRAY:
        return write_array(p, v, out, at, err);
    case PB_ONE_OF:
        return write_option(p, v, out, at, err);
    case PB_OBJECT:
        if (!json_is(v, JSON_OBJECT))
            return refuse_type(p, v, at, err);
        return write_object(p, v, out, at, false, err);
    case PB_ANY:
        break;
    }
    buf_add_span(out, json_text(v));
    return 0;
}

int params_normalise(const struct params *p, struct json arguments, struct buf *out,
                     struct pb_error *err)
{
    struct pb_error why;

    if (write_object(&p->root, arguments, out, NULL, true, &why) < 0)
        return fail_copy(err, &why);
    return 0;
}
