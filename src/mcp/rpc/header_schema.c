/* header_schema.c - finding the x-mcp-header annotations of an input schema. An annotation counts
 * only where `properties` alone lead to it: below items, oneOf, $defs and the like a value has no
 * fixed place in the arguments, so that no intermediary could tell which one the header means. */
#include "headers.h"

/* What lies below a keyword. Whatever is not in the table is taken for a schema, so that an
 * annotation cannot hide under a keyword that we do not know. */
enum below { BELOW_SCHEMAS, BELOW_NAMED, BELOW_DATA };

/* clang-format off */
static const struct {
    const char *keyword;
    enum below below;
} keywords[] = {
    { "$defs",             BELOW_NAMED },
    { "const",             BELOW_DATA },
    { "default",           BELOW_DATA },
    { "definitions",       BELOW_NAMED },
    { "dependencies",      BELOW_NAMED },
    { "dependentRequired", BELOW_DATA },
    { "dependentSchemas",  BELOW_NAMED },
    { "enum",              BELOW_DATA },
    { "examples",          BELOW_DATA },
    { "patternProperties", BELOW_NAMED },
    { "required",          BELOW_DATA },
};
/* clang-format on */

/* The way from the root of the arguments to the schema being looked at. */
struct argument_step {
    const struct argument_step *up;
    struct span key;
    size_t depth;
};

struct walk {
    struct header_params *out;
    size_t cap;
    struct pb_error *err;
};

static enum below below_of(struct json member)
{
    for (size_t i = 0; i < ARRAY_LEN(keywords); i++)
        if (json_key_is(member, keywords[i].keyword))
            return keywords[i].below;
    return BELOW_SCHEMAS;
}

/* Not isalnum(): what is a letter must not depend on the locale of the program. */
static bool is_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static int lower(char c) { return c >= 'A' && c <= 'Z' ? c | 0x20 : c; }

static bool is_token(struct span s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!is_alnum(s.p[i]) && (!s.p[i] || !strchr("!#$%&'*+-.^_`|~", s.p[i])))
            return false;
    return s.n > 0;
}

static bool same_nocase(struct span a, struct span b)
{
    if (a.n != b.n)
        return false;
    for (size_t i = 0; i < a.n; i++)
        if (lower(a.p[i]) != lower(b.p[i]))
            return false;
    return true;
}

static bool type_of(struct json schema, enum json_type *out)
{
    static const struct {
        const char *name;
        enum json_type type;
    } types[] = { { "string", JSON_STRING }, { "integer", JSON_NUMBER }, { "boolean", JSON_TRUE } };
    struct json v = json_get(schema, "type");

    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (json_str_is(v, types[i].name)) {
            *out = types[i].type;
            return true;
        }
    return false;
}

static const struct span *path_of(const struct argument_step *at, struct arena *arena)
{
    struct span *path = arena_alloc(arena, at->depth * sizeof *path);

    for (; at->depth; at = at->up)
        path[at->depth - 1] = at->key;
    return path;
}

static int annotate(struct walk *w, struct json schema, struct json mark,
                    const struct argument_step *at)
{
    struct header_params *out = w->out;
    struct header_param p = { 0 };
    struct span name = json_str(mark, &out->arena);
    struct span where = at && at->depth ? at->key : SPAN("schema");

    if (!json_is(mark, JSON_STRING) || !is_token(name))
        return fail(w->err, PB_E_INVALID, "%.*s: x-mcp-header is no header name", SPAN_ARG(where));
    if (!at || !at->depth)
        return fail(w->err, PB_E_INVALID, "x-mcp-header %.*s is not on a plain property",
                    SPAN_ARG(name));
    if (!type_of(schema, &p.type))
        return fail(w->err, PB_E_INVALID,
                    "%.*s: x-mcp-header needs the type string, integer or boolean",
                    SPAN_ARG(where));
    for (size_t i = 0; i < out->n; i++)
        if (same_nocase(out->items[i].header, name))
            return fail(w->err, PB_E_INVALID, "x-mcp-header %.*s is there twice", SPAN_ARG(name));
    if (out->n == w->cap) {
        w->cap = w->cap ? w->cap * 2 : 8;
        out->items = mem_resize(out->items, w->cap * sizeof *out->items);
    }
    p.header = span_make(arena_dup(&out->arena, name), name.n);
    p.path = path_of(at, &out->arena);
    p.depth = at->depth;
    out->items[out->n++] = p;
    return 0;
}

/* `at` NULL: this schema has no fixed place in the arguments. The depth of the recursion is that
 * of the text, which the parser has bounded. */
static int visit(struct walk *w, struct json v, const struct argument_step *at);

static int visit_all(struct walk *w, struct json container)
{
    JSON_FOREACH(child, container) {
        int rc = visit(w, child, NULL);

        if (rc < 0)
            return rc;
    }
    return 0;
}

static int visit_properties(struct walk *w, struct json properties, const struct argument_step *at)
{
    JSON_FOREACH(child, properties) {
        struct span key = json_key_str(child, &w->out->arena);
        struct argument_step next = { at, span_make(arena_dup(&w->out->arena, key), key.n),
                                      at ? at->depth + 1 : 0 };
        int rc = visit(w, child, at ? &next : NULL);

        if (rc < 0)
            return rc;
    }
    return 0;
}

static int visit_keyword(struct walk *w, struct json schema, struct json member,
                         const struct argument_step *at)
{
    if (json_key_is(member, "x-mcp-header"))
        return annotate(w, schema, member, at);
    if (json_key_is(member, "properties") && json_is(member, JSON_OBJECT))
        return visit_properties(w, member, at);
    switch (below_of(member)) {
    case BELOW_DATA:
        return 0;
    case BELOW_NAMED:
        return json_is(member, JSON_OBJECT) ? visit_all(w, member) : 0;
    case BELOW_SCHEMAS:
        break;
    }
    return visit(w, member, NULL);
}

static int visit(struct walk *w, struct json v, const struct argument_step *at)
{
    if (json_is(v, JSON_ARRAY))
        return visit_all(w, v);
    if (!json_is(v, JSON_OBJECT))
        return 0;
    JSON_FOREACH(member, v) {
        int rc = visit_keyword(w, v, member, at);

        if (rc < 0)
            return rc;
    }
    return 0;
}

int header_params_read(struct header_params *out, struct span schema, struct pb_error *err)
{
    AUTO_JSON struct json_doc doc = { 0 };
    struct header_params found = { 0 };
    struct walk w = { .out = &found, .err = err };
    struct argument_step root = { 0 };
    int rc;

    if (schema.n > JSON_SCHEMA_BYTES_MAX)
        return fail(err, PB_E_LIMIT, "the input schema is larger than %d bytes",
                    JSON_SCHEMA_BYTES_MAX);
    rc = json_parse(&doc, schema, &(struct json_opts){ .unique_depth = JSON_ALL }, err);
    if (rc == 0)
        rc = visit(&w, json_root(&doc), &root);
    if (rc < 0) {
        header_params_done(&found);
        return rc;
    }
    *out = found;
    return 0;
}

void header_params_done(struct header_params *p)
{
    free(p->items);
    arena_done(&p->arena);
    *p = (struct header_params){ 0 };
}
