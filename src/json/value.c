#include "chars.h"
#include "tape.h"

static const struct json nothing;

struct json json_root(const struct json_doc *doc)
{
    return doc->n ? (struct json){ doc, 0 } : nothing;
}

const char *json_type_name(struct json v)
{
    static const char *const names[] = {
        [JSON_NONE] = "nothing", [JSON_NULL] = "null",     [JSON_FALSE] = "boolean",
        [JSON_TRUE] = "boolean", [JSON_NUMBER] = "number", [JSON_STRING] = "string",
        [JSON_ARRAY] = "array",  [JSON_OBJECT] = "object",
    };

    return names[json_type(v)];
}

const char *json_type_phrase(struct json v)
{
    static const char *const names[] = {
        [JSON_NONE] = "nothing",   [JSON_NULL] = "null",        [JSON_FALSE] = "a boolean",
        [JSON_TRUE] = "a boolean", [JSON_NUMBER] = "a number",  [JSON_STRING] = "a string",
        [JSON_ARRAY] = "an array", [JSON_OBJECT] = "an object",
    };

    return names[json_type(v)];
}

static bool is_container(struct json v)
{
    return json_type(v) == JSON_ARRAY || json_type(v) == JSON_OBJECT;
}

static uint32_t child_count(struct json container)
{
    uint32_t info = node_of(container)->info;

    assert(!(info & NODE_OPAQUE) && "parse json_text() to look inside");
    return info >> NODE_COUNT_SHIFT;
}

struct json json_first(struct json container)
{
    bool object = json_is(container, JSON_OBJECT);

    if (!is_container(container) || !child_count(container))
        return nothing;
    return (struct json){ container.doc, container.at + 1 + object };
}

struct json json_next(struct json child)
{
    const struct json_node *n;

    if (!child.doc)
        return nothing;
    n = node_of(child);
    if (n->info & NODE_LAST)
        return nothing;
    return (struct json){ child.doc, n->next + ((n->info & NODE_KEYED) != 0) };
}

size_t json_len(struct json v) { return is_container(v) ? child_count(v) : 0; }

struct json json_item(struct json array, size_t i)
{
    size_t n = json_is(array, JSON_ARRAY) ? json_len(array) : 0;
    struct json v;

    if (i >= n)
        return nothing;
    if (node_of(array)->next - array.at - 1 == n) /* no item has anything inside */
        return (struct json){ array.doc, array.at + 1 + (uint32_t)i };
    v = json_first(array);
    while (i--)
        v = json_next(v);
    return v;
}

static const struct json_node *key_node(struct json member)
{
    bool keyed = member.doc && node_of(member)->info & NODE_KEYED;

    return keyed ? node_of(member) - 1 : NULL;
}

static bool string_is(const struct json_doc *doc, const struct json_node *n, struct span s)
{
    struct span inside = node_inside(doc, n);

    return n->info & NODE_ESCAPED ? chars_equal(inside, s) : span_eq(inside, s);
}

static struct span string_text(const struct json_doc *doc, const struct json_node *n,
                               struct arena *arena)
{
    struct span inside = node_inside(doc, n);
    struct buf b;

    if (!(n->info & NODE_ESCAPED))
        return inside;
    /* decoding never makes a string longer: the shortest escape, \n, gives one byte for two,
     * and \uXXXX at most three for six */
    b = (struct buf){ .p = arena_alloc(arena, inside.n), .cap = inside.n };
    chars_decode(&b, inside);
    return buf_span(&b);
}

/* Straight over the tape: this is done several times for each message. */
struct json json_get_span(struct json object, struct span key)
{
    const struct json_node *nodes, *k;
    uint32_t at;

    if (!json_is(object, JSON_OBJECT) || !child_count(object))
        return nothing;
    nodes = object.doc->nodes;
    for (at = object.at + 1;; at = nodes[at + 1].next) {
        k = &nodes[at];
        if ((k->end - k->start - 2 == key.n || k->info & NODE_ESCAPED) &&
            string_is(object.doc, k, key))
            return (struct json){ object.doc, at + 1 };
        if (nodes[at + 1].info & NODE_LAST)
            return nothing;
    }
}

static size_t which_key(const struct json_doc *doc, const struct json_node *k, json_which_fn *which)
{
    AUTO_BUF struct buf plain = { 0 };

    if (!(k->info & NODE_ESCAPED))
        return which(node_inside(doc, k));
    chars_decode(&plain, node_inside(doc, k));
    return which(buf_span(&plain));
}

void json_get_all(struct json object, json_which_fn *which, size_t n, struct json *out)
{
    const struct json_node *nodes;

    for (size_t i = 0; i < n; i++)
        out[i] = nothing;
    if (!json_is(object, JSON_OBJECT) || !child_count(object))
        return;
    nodes = object.doc->nodes;
    for (uint32_t at = object.at + 1;; at = nodes[at + 1].next) {
        size_t i = which_key(object.doc, &nodes[at], which);

        if (i < n && !out[i].doc)
            out[i] = (struct json){ object.doc, at + 1 };
        if (nodes[at + 1].info & NODE_LAST)
            return;
    }
}

struct span json_key(struct json member)
{
    const struct json_node *n = key_node(member);

    return n ? node_inside(member.doc, n) : (struct span){ 0 };
}

struct span json_key_str(struct json member, struct arena *arena)
{
    const struct json_node *n = key_node(member);

    return n ? string_text(member.doc, n, arena) : (struct span){ 0 };
}

bool json_key_is_span(struct json member, struct span key)
{
    const struct json_node *n = key_node(member);

    return n && string_is(member.doc, n, key);
}

struct span json_str(struct json string, struct arena *arena)
{
    if (!json_is(string, JSON_STRING))
        return (struct span){ 0 };
    return string_text(string.doc, node_of(string), arena);
}

char *json_cstr(struct json string, struct arena *arena)
{
    struct span s = json_str(string, arena);

    if (!json_is(string, JSON_STRING) || (s.n && memchr(s.p, '\0', s.n)))
        return NULL;
    return arena_dup(arena, s);
}

bool json_str_is_span(struct json v, struct span s)
{
    return json_is(v, JSON_STRING) && string_is(v.doc, node_of(v), s);
}

bool json_bool(struct json v, bool fallback)
{
    enum json_type t = json_type(v);

    return t == JSON_TRUE || (t != JSON_FALSE && fallback);
}
