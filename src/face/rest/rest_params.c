/* rest_params.c - what a request says, checked against what its route takes. */
#include "face/caller/caller.h"
#include "io/http/http.h"
#include "rest_impl.h"
#include <ctype.h>
#include <errno.h>
#include <math.h>

/* Of a time, in seconds: microseconds of it are counted. */
#define TIME_MAX 1e12

static struct rest_value *place(struct rest_call *c, struct span name, enum rest_place in,
                                const struct rest_param **out)
{
    const struct rest_param *p = c->route->params;

    for (size_t i = 0; p && p[i].name; i++) {
        if (p[i].in == in && span_is(name, p[i].name)) {
            *out = &p[i];
            return &c->values[i];
        }
    }
    return NULL;
}

const struct rest_value *rest_value(const struct rest_call *c, const char *name)
{
    static const struct rest_value none;
    const struct rest_param *p = c->route->params;

    for (size_t i = 0; p && p[i].name; i++)
        if (strcmp(p[i].name, name) == 0)
            return &c->values[i];
    return &none;
}

const char *rest_text(const struct rest_call *c, const char *name)
{
    return rest_value(c, name)->text;
}

uint64_t rest_count(const struct rest_call *c, const char *name, uint64_t fallback)
{
    const struct rest_value *v = rest_value(c, name);

    return v->given ? v->count : fallback;
}

bool rest_yes(const struct rest_call *c, const char *name) { return rest_value(c, name)->yes; }

bool rest_time(struct rest_call *c, const char *name, int64_t *us)
{
    const struct rest_value *v = rest_value(c, name);

    *us = 0;
    if (!v->given)
        return true;
    if (!(v->number >= 0 && v->number < TIME_MAX)) {
        rest_refuse(c->r, "%s: expected seconds since 1970, got %.*s", name, MCP_NAME_SHOWN_MAX,
                    v->text);
        return false;
    }
    *us = (int64_t)(v->number * 1e6);
    if (!*us) /* 0 says that there is none */
        *us = 1;
    return true;
}

/* A page or script may say what it is; what is no such label is no reason to refuse the request. */
const char *rest_client(struct rest_call *c, const char *fallback)
{
    struct span label = http_header(c->r, "X-Patchbay-Client", NULL);

    if (!label.n || label.n > MCP_CLIENT_LABEL_MAX)
        return fallback;
    for (size_t i = 0; i < label.n; i++)
        if (!isalnum((unsigned char)label.p[i]) && !memchr(" ._/-", label.p[i], 5))
            return fallback;
    return arena_dup(&c->arena, label);
}

/* "there is no 'argument' here; did you mean 'arguments'?" */
static bool refuse_unknown(struct rest_call *c, struct span name, enum rest_place in)
{
    const char *names[REST_PARAMS_MAX + 1] = { 0 };
    const struct rest_param *p = c->route->params;
    AUTO_BUF struct buf like = { 0 };
    size_t n = 0;

    if (name.n > MCP_NAME_SHOWN_MAX)
        name.n = MCP_NAME_SHOWN_MAX;
    for (size_t i = 0; p && p[i].name; i++)
        if (p[i].in == in)
            names[n++] = p[i].name;
    near_write_of(&like, name, names);
    rest_refuse(c->r, "%s takes no %s '%.*s'%s", c->route->path,
                in == REST_QUERY ? "query parameter" : "member", SPAN_ARG(name), buf_cstr(&like));
    return false;
}

/* ---- the path ---- */

static struct span next_part(struct span *rest)
{
    const char *slash = rest->n ? memchr(rest->p, '/', rest->n) : NULL;
    struct span part = span_make(rest->p, slash ? (size_t)(slash - rest->p) : rest->n);

    *rest = slash ? span_from(*rest, part.n + 1) : span_make(rest->p + part.n, 0);
    return part;
}

static bool read_path(struct rest_call *c)
{
    struct span want = span_of(c->route->path), have = http_path(c->r);

    while (want.n) {
        struct span name = next_part(&want), part = next_part(&have);
        AUTO_BUF struct buf text = { 0 };
        const struct rest_param *p = NULL;
        struct rest_value *v;

        if (!name.n || name.p[0] != '{')
            continue;
        v = place(c, span_make(name.p + 1, name.n - 2), REST_PATH, &p);
        if (!http_decode(&text, part) || !utf8_valid(buf_span(&text))) {
            rest_refuse(c->r, "the path is not well written");
            return false;
        }
        v->given = true;
        v->text = arena_dup(&c->arena, buf_span(&text));
    }
    return true;
}

/* ---- the query ---- */

static bool is_yes(const char *text)
{
    return !*text || strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
}

static bool is_no(const char *text) { return strcmp(text, "false") == 0 || strcmp(text, "0") == 0; }

static const char *take_text(const struct rest_param *p, struct rest_value *v)
{
    char *end = NULL;

    switch (p->type) {
    case REST_COUNT:
        errno = 0;
        v->count = strtoull(v->text, &end, 10);
        return *v->text < '0' || *v->text > '9' || *end || errno ? "a whole number" : NULL;
    case REST_NUMBER:
        v->number = strtod(v->text, &end);
        return end == v->text || *end || !isfinite(v->number) ? "a number" : NULL;
    case REST_BOOL:
        v->yes = is_yes(v->text);
        return v->yes || is_no(v->text) ? NULL : "true or false";
    default:
        return NULL;
    }
}

/* As forms write it: '+' is a space. */
static bool decode(struct rest_call *c, struct span s, struct span *out)
{
    char *copy = arena_dup(&c->arena, s);
    AUTO_BUF struct buf text = { 0 };

    for (size_t i = 0; i < s.n; i++)
        if (copy[i] == '+')
            copy[i] = ' ';
    if (!http_decode(&text, span_make(copy, s.n)) || !utf8_valid(buf_span(&text)))
        return false;
    *out = span_make(arena_dup(&c->arena, buf_span(&text)), text.n);
    return true;
}

static bool read_pair(struct rest_call *c, struct span pair)
{
    const char *equals = memchr(pair.p, '=', pair.n);
    size_t n = equals ? (size_t)(equals - pair.p) : pair.n;
    const struct rest_param *p = NULL;
    struct span name, value;
    struct rest_value *v;
    const char *wants;

    if (!decode(c, span_make(pair.p, n), &name) ||
        !decode(c, span_from(pair, equals ? n + 1 : n), &value)) {
        rest_refuse(c->r, "the query is not well written");
        return false;
    }
    v = place(c, name, REST_QUERY, &p);
    if (!v)
        return refuse_unknown(c, name, REST_QUERY);
    if (v->given) {
        rest_refuse(c->r, "%s is given twice", p->name);
        return false;
    }
    v->given = true;
    v->text = value.p;
    wants = take_text(p, v);
    if (wants)
        rest_refuse(c->r, "%s: expected %s, got '%.*s'", p->name, wants, MCP_NAME_SHOWN_MAX,
                    value.p);
    return !wants;
}

static bool read_query(struct rest_call *c)
{
    struct span rest = http_query(c->r);

    while (rest.n) {
        const char *amp = memchr(rest.p, '&', rest.n);
        size_t n = amp ? (size_t)(amp - rest.p) : rest.n;

        if (n && !read_pair(c, span_make(rest.p, n)))
            return false;
        rest = span_from(rest, amp ? n + 1 : n);
    }
    return true;
}

/* ---- the body ---- */

/* Only a page of our own origin can send this type without asking first. */
static bool type_is_json(const struct http_request *r)
{
    size_t count;
    struct span type = http_header(r, "Content-Type", &count);
    const char *semicolon = type.n ? memchr(type.p, ';', type.n) : NULL;

    if (semicolon)
        type.n = (size_t)(semicolon - type.p);
    return count == 1 && span_is_nocase(span_trim(type), "application/json");
}

static const char *take_member(struct rest_call *c, const struct rest_param *p,
                               struct rest_value *v)
{
    switch (p->type) {
    case REST_STRING:
        v->text = json_cstr(v->json, &c->arena);
        return v->text ? NULL : "a string";
    case REST_COUNT:
        return json_uint(v->json, &v->count, NULL) < 0 ? "a whole number" : NULL;
    case REST_NUMBER:
        return json_double(v->json, &v->number, NULL) < 0 ? "a number" : NULL;
    case REST_BOOL:
        v->yes = json_bool(v->json, false);
        return json_is(v->json, JSON_TRUE) || json_is(v->json, JSON_FALSE) ? NULL : "true or false";
    case REST_OBJECT:
        return json_is(v->json, JSON_OBJECT) ? NULL : "an object";
    default:
        return NULL;
    }
}

static bool read_member(struct rest_call *c, struct json member)
{
    struct span key = json_key_str(member, &c->arena);
    const struct rest_param *p = NULL;
    struct rest_value *v = place(c, key, REST_BODY, &p);
    const char *wants;

    if (!v)
        return c->route->flags & REST_OPEN_BODY || refuse_unknown(c, key, REST_BODY);
    if (json_is(member, JSON_NULL))
        return true;
    v->given = true;
    v->json = member;
    wants = take_member(c, p, v);
    if (wants)
        rest_refuse(c->r, "%s: expected %s, got %s", p->name, wants, json_type_phrase(member));
    return !wants;
}

static bool read_body(struct rest_call *c)
{
    static const struct json_opts opts = { .keep_depth = 1, .unique_depth = JSON_ALL };
    struct span body = http_body(c->r);
    struct pb_error err;

    if (!body.n)
        return true;
    if (!type_is_json(c->r)) {
        rest_fail(c->r,
                  &(struct rest_failure){ 415, "unsupported_media_type",
                                          .message = "A body must be JSON, and say so",
                                          .next = "send \"Content-Type: application/json\"" });
        return false;
    }
    if (json_parse(&c->doc, body, &opts, &err) < 0) {
        rest_refuse(c->r, "the body is no JSON: %s", err.msg);
        return false;
    }
    if (!json_is(json_root(&c->doc), JSON_OBJECT)) {
        rest_refuse(c->r, "the body: expected an object, got %s",
                    json_type_phrase(json_root(&c->doc)));
        return false;
    }
    JSON_FOREACH(member, json_root(&c->doc))
        if (!read_member(c, member))
            return false;
    return true;
}

static bool has_required(struct rest_call *c)
{
    const struct rest_param *p = c->route->params;

    for (size_t i = 0; p && p[i].name; i++) {
        if (!p[i].required || c->values[i].given)
            continue;
        rest_refuse(c->r, "%s: expected %s, got nothing", p[i].name,
                    p[i].type == REST_STRING   ? "a string"
                    : p[i].type == REST_OBJECT ? "an object"
                                               : "a value");
        return false;
    }
    return true;
}

bool rest_read(struct rest_call *c)
{
    return read_path(c) && read_query(c) && read_body(c) && has_required(c);
}
