#include "schema_parts.h"
#include <stdio.h>

/* ---- Declaring: $id and anchors ---------------------------------------------------------- */

static bool is_legacy(struct json schema_uri)
{
    static const char *const drafts[] = { "draft-03", "draft-04", "draft-06", "draft-07",
                                          "draft/2019-09" };
    struct span uri = json_text(schema_uri);

    for (size_t i = 0; i < ARRAY_LEN(drafts); i++)
        if (uri.n && memmem(uri.p, uri.n, drafts[i], strlen(drafts[i])))
            return true;
    return false;
}

/* The same schema may be pasted into several places, with its $id. */
static bool same_schema(struct compiler *c, const struct sub *a, const struct sub *b)
{
    return json_equal((struct json){ &c->s->doc, a->at }, (struct json){ &c->s->doc, b->at });
}

/* Each $id and anchor is kept with all that is before it, which the text has only once. */
static int spend_uri(struct compiler *c, struct json v, size_t n)
{
    c->uri_bytes += n;
    if (n <= JSON_SCHEMA_URI_MAX && c->uri_bytes <= JSON_SCHEMA_BYTES_MAX)
        return 0;
    refuse(c, v, "the address is too long, or all of them are");
    if (c->err)
        c->err->code = PB_E_LIMIT;
    return -PB_E_LIMIT;
}

static int declare_resource(struct compiler *c, struct sub *s, struct json id, struct json schema)
{
    struct span base = s->resource ? s->resource->uri : (struct span){ 0 };
    struct resource *r = arena_alloc(&c->s->arena, sizeof *r), *was;

    uri_resolve(&c->scratch, base, json_str(id, &c->s->arena));
    if (spend_uri(c, id, c->scratch.n) < 0)
        return -PB_E_LIMIT;
    r->uri = span_make(arena_dup(&c->s->arena, buf_span(&c->scratch)), c->scratch.n);
    r->root = s;
    r->legacy =
        json_is(schema, JSON_STRING) ? is_legacy(schema) : s->resource && s->resource->legacy;
    r->next = c->s->resources;
    c->s->resources = r;
    s->resource = r;
    was = map_get(&c->uris, r->uri);
    if (!was)
        map_put(&c->uris, r->uri, r);
    else if (!same_schema(c, was->root, s))
        return refuse(c, id, "two different schemas have the $id '%.*s'", SPAN_ARG(r->uri));
    return 0;
}

/* The name of an anchor in c->anchors, valid until the next. */
static struct span anchor_key(struct compiler *c, const struct resource *r, struct span name)
{
    c->scratch.n = 0;
    buf_add_span(&c->scratch, r->uri);
    buf_byte(&c->scratch, '#');
    buf_add_span(&c->scratch, name);
    return buf_span(&c->scratch);
}

static int declare_anchor(struct compiler *c, struct sub *s, struct json anchor, struct span name,
                          bool dynamic)
{
    struct resource *r = s->resource;
    struct sub *was;

    assert(r);
    if (!name.n || memchr(name.p, '#', name.n))
        return refuse(c, anchor, "expected a name made of letters, digits, '-', '_', ':' or '.'");
    if (spend_uri(c, anchor, r->uri.n + name.n) < 0)
        return -PB_E_LIMIT;
    was = map_put(&c->anchors, anchor_key(c, r, name), s);
    if (was && was != s && !same_schema(c, was, s))
        return refuse(c, anchor, "two different schemas have the anchor '%.*s'", SPAN_ARG(name));
    if (dynamic)
        map_put(&r->dynamic, name, s);
    return 0;
}

static int declare_id(struct compiler *c, struct sub *s, struct json v, bool root)
{
    struct json schema = json_get(v, "$schema"), id = json_get(v, "$id");
    struct span text;

    if (root ? is_legacy(schema) : s->resource->legacy)
        id = json_is(id, JSON_NONE) && json_is(json_get(v, "id"), JSON_STRING) ? json_get(v, "id")
                                                                               : id;
    if (!json_is(id, JSON_NONE) && !json_is(id, JSON_STRING))
        return refuse(c, id, "expected a string");
    text = json_str(id, &c->s->arena);
    /* until draft 7 a plain name was declared so; some tools write "#/properties/x", which
     * says nothing */
    if (text.n && text.p[0] == '#') {
        int rc = root ? declare_resource(c, s, (struct json){ 0 }, schema) : 0;

        if (rc < 0)
            return rc;
        return text.n > 1 && text.p[1] != '/' ? declare_anchor(c, s, id, span_from(text, 1), false)
                                              : 0;
    }
    if (root || text.n)
        return declare_resource(c, s, id, schema);
    return 0;
}

int ref_declare(struct compiler *c, struct sub *s, struct json v)
{
    static const char *const names[] = { "$anchor", "$dynamicAnchor" };
    int rc = declare_id(c, s, v, !s->resource);

    for (size_t i = 0; i < ARRAY_LEN(names) && rc == 0; i++) {
        struct json anchor = json_get(v, names[i]);

        if (json_is(anchor, JSON_NONE))
            continue;
        if (!json_is(anchor, JSON_STRING))
            return refuse(c, anchor, "expected a string");
        rc = declare_anchor(c, s, anchor, json_str(anchor, &c->s->arena), i == 1);
    }
    return rc;
}

/* ---- Following --------------------------------------------------------------------------- */

static struct span percent_decode(struct arena *arena, struct span s)
{
    char *out = arena_alloc(arena, s.n + 1);
    size_t n = 0;

    for (size_t i = 0; i < s.n; i++) {
        int high = s.p[i] == '%' && i + 2 < s.n ? hex_digit(s.p[i + 1]) : -1;
        int low = high >= 0 ? hex_digit(s.p[i + 2]) : -1;

        out[n] = s.p[i];
        if (low >= 0) {
            out[n] = (char)(high << 4 | low);
            i += 2;
        }
        n++;
    }
    return span_make(out, n);
}

/* "~1" is '/', "~0" is '~'. */
static struct span token_decode(struct arena *arena, struct span s)
{
    char *out;
    size_t n = 0;

    if (!s.n || !memchr(s.p, '~', s.n))
        return s;
    out = arena_alloc(arena, s.n);
    for (size_t i = 0; i < s.n; i++) {
        bool escape = s.p[i] == '~' && i + 1 < s.n && (s.p[i + 1] == '0' || s.p[i + 1] == '1');

        out[n] = s.p[i];
        if (escape)
            out[n] = "~/"[s.p[++i] - '0'];
        n++;
    }
    return span_make(out, n);
}

static struct span index_key(struct compiler *c, uint32_t at, struct span key)
{
    c->scratch.n = 0;
    buf_add(&c->scratch, &at, sizeof at);
    buf_add_span(&c->scratch, key);
    return buf_span(&c->scratch);
}

static void index_children(struct compiler *c, struct json v)
{
    bool object = json_is(v, JSON_OBJECT);
    size_t i = 0;

    JSON_FOREACH(child, v) {
        char number[24];
        int n = snprintf(number, sizeof number, "%zu", i++);
        struct span key = object ? json_key_str(child, &c->s->arena) : span_make(number, (size_t)n);

        /* the empty key would look like the mark of get_child() */
        if (key.n)
            map_put(&c->indexed, index_key(c, v.at, key), &c->s->doc.nodes[child.at]);
    }
}

/* One step of a JSON pointer. Containers with very many children, each referred to, are the reason
 * not to look through them every time. */
static struct json get_child(struct compiler *c, struct json v, struct span token)
{
    struct json_node *found;

    if (!token.n)
        return json_get_span(v, token);
    if (!map_get(&c->indexed, index_key(c, v.at, (struct span){ 0 }))) {
        map_put(&c->indexed, buf_span(&c->scratch), c);
        index_children(c, v);
    }
    found = map_get(&c->indexed, index_key(c, v.at, token));
    return found ? (struct json){ v.doc, (uint32_t)(found - c->s->doc.nodes) } : (struct json){ 0 };
}

/* Walks a JSON pointer from the root of r; *in becomes the resource of the place reached. */
static struct json follow(struct compiler *c, struct resource *r, struct span pointer,
                          struct resource **in)
{
    struct json v = { &c->s->doc, r->root->at };

    *in = r;
    while (pointer.n && !json_is(v, JSON_NONE)) {
        const char *end = memchr(pointer.p + 1, '/', pointer.n - 1);
        size_t n = end ? (size_t)(end - pointer.p) : pointer.n;
        struct span token = token_decode(&c->s->arena, span_from(span_make(pointer.p, n), 1));

        pointer = span_from(pointer, n);
        v = get_child(c, v, token);
        if (!json_is(v, JSON_NONE) && c->by_node[v.at])
            *in = c->by_node[v.at]->resource;
    }
    return v;
}

static int follow_pointer(struct compiler *c, struct resource *r, struct span pointer,
                          struct json ref, struct sub **out)
{
    struct resource *in;
    struct json v = follow(c, r, pointer, &in);
    int rc;

    if (json_is(v, JSON_NONE))
        return refuse(c, ref, "there is nothing at %.*s", SPAN_ARG(json_text(ref)));
    rc = schema_walk(c, v, in);
    if (rc == 0)
        *out = schema_sub(c, v);
    return rc;
}

int ref_resolve(struct compiler *c, struct json ref, struct sub **out, struct span *name)
{
    struct arena *arena = &c->s->arena;
    struct span text = json_str(ref, arena), fragment = { 0 };
    struct resource *r = c->now->resource;
    const char *hash = text.n ? memchr(text.p, '#', text.n) : NULL;
    struct sub *found;

    if (!json_is(ref, JSON_STRING))
        return refuse(c, ref, "expected a string");
    if (hash) {
        fragment = span_from(text, (size_t)(hash + 1 - text.p));
        fragment = percent_decode(arena, fragment);
        text.n = (size_t)(hash - text.p);
    }
    if (text.n) {
        uri_resolve(&c->scratch, r->uri, text);
        r = map_get(&c->uris, buf_span(&c->scratch));
    }
    if (!r)
        return refuse(c, ref, "%.*s leads out of this schema; only what is inside is followed",
                      SPAN_ARG(json_text(ref)));
    if (!fragment.n || fragment.p[0] == '/')
        return follow_pointer(c, r, fragment, ref, out);
    found = map_get(&c->anchors, anchor_key(c, r, fragment));
    if (!found)
        return refuse(c, ref, "there is no anchor %.*s", SPAN_ARG(json_text(ref)));
    if (name && map_get(&r->dynamic, fragment) == found)
        *name = span_make(arena_dup(arena, fragment), fragment.n);
    *out = found;
    return 0;
}
