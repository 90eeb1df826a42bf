#include "schema.h"
#include "schema_parts.h"
#include <stdarg.h>
#include <stdio.h>

int refuse(struct compiler *c, struct json v, const char *fmt, ...)
{
    char msg[sizeof c->err->msg];
    struct text t = { msg, 0, sizeof msg };
    va_list ap;

    if (!c->err)
        return -PB_E_INVALID;
    text_path(&t, json_root(&c->s->doc), v, "schema");
    text_add(&t, ": ");
    va_start(ap, fmt);
    text_addv(&t, fmt, ap);
    va_end(ap);
    text_end(&t);
    return fail(c->err, PB_E_INVALID, "%s", msg);
}

/* ---- Finding the schemas in the text ----------------------------------------------------- */

struct sub *schema_sub(struct compiler *c, struct json v)
{
    return json_is(v, JSON_NONE) ? NULL : c->by_node[v.at];
}

static int walk_children(struct compiler *c, struct json v, struct resource *in, bool mixed)
{
    JSON_FOREACH(child, v) {
        int rc = mixed && json_is(child, JSON_ARRAY) ? 0 : schema_walk(c, child, in);

        if (rc < 0)
            return rc;
    }
    return 0;
}

static int walk_keyword(struct compiler *c, const struct keyword *row, struct json v,
                        struct resource *in)
{
    enum json_type t = json_type(v);

    switch (row->shape) {
    case SHAPE_ONE_OR_LIST:
        if (t == JSON_ARRAY && in->legacy)
            return walk_children(c, v, in, false);
        if (t == JSON_ARRAY)
            return refuse(c, v,
                          "expected a schema, got an array; since 2020-12 that is prefixItems");
        return schema_walk(c, v, in);
    case SHAPE_OLD:
        return in->legacy ? schema_walk(c, v, in) : 0;
    case SHAPE_ONE:
        return schema_walk(c, v, in);
    case SHAPE_LIST:
        if (t != JSON_ARRAY || !json_len(v))
            return refuse(c, v, "expected an array with at least one schema");
        return walk_children(c, v, in, false);
    case SHAPE_MAP:
    case SHAPE_MIXED_MAP:
        if (t != JSON_OBJECT)
            return refuse(c, v, "expected an object of schemas, got %s", json_type_phrase(v));
        return walk_children(c, v, in, row->shape == SHAPE_MIXED_MAP);
    default:
        return 0;
    }
}

static struct sub *add_sub(struct compiler *c, struct json v, struct resource *in)
{
    struct sub *s = arena_alloc(&c->s->arena, sizeof *s);

    s->at = v.at;
    s->resource = in;
    if (c->n_subs == c->cap) {
        c->cap = c->cap ? c->cap * 2 : 64;
        c->subs = mem_resize(c->subs, c->cap * sizeof(struct sub *));
    }
    c->subs[c->n_subs++] = s;
    c->by_node[v.at] = s;
    return s;
}

/* Recursion ends with the depth of the text, which is at most JSON_DEPTH_MAX. */
int schema_walk(struct compiler *c, struct json v, struct resource *in)
{
    enum json_type t = json_type(v);
    struct sub *s;
    int rc;

    if (c->by_node[v.at])
        return 0;
    if (t != JSON_OBJECT && t != JSON_TRUE && t != JSON_FALSE)
        return refuse(c, v, "expected a schema (an object or a boolean), got %s",
                      json_type_phrase(v));
    if (c->n_subs == JSON_SCHEMA_SUBS_MAX)
        return fail(c->err, PB_E_LIMIT, "the schema holds more than %d schemas",
                    JSON_SCHEMA_SUBS_MAX);
    s = add_sub(c, v, in);
    rc = ref_declare(c, s, v);
    for (struct json m = json_first(v); rc == 0 && !json_is(m, JSON_NONE); m = json_next(m)) {
        const struct keyword *row = keyword_find(m);

        rc = row ? walk_keyword(c, row, m, s->resource) : 0;
    }
    return rc;
}

/* ---- Compiling --------------------------------------------------------------------------- */

static int by_rank(const void *a, const void *b)
{
    unsigned x = ((const struct kw *)a)->row->rank, y = ((const struct kw *)b)->row->rank;

    return (x > y) - (x < y);
}

static void set_keywords(struct compiler *c, struct sub *s, struct kw *kws, uint32_t n)
{
    struct kw *copy = arena_alloc(&c->s->arena, n * sizeof *copy);

    memcpy(copy, kws, n * sizeof *copy);
    qsort(copy, n, sizeof *copy, by_rank);
    s->kws = copy;
    s->n = n;
    for (uint32_t i = 0; i < n; i++)
        s->tracks |= copy[i].row->rank >= RANK_UNEVALUATED;
    if (n == 1 && copy[0].row->rank == RANK_REF)
        s->alias = copy[0].sub;
}

static bool has_rank(const struct kw *kws, uint32_t n, enum rank rank)
{
    for (uint32_t i = 0; i < n; i++)
        if (kws[i].row->rank == rank)
            return true;
    return false;
}

static int compile_sub(struct compiler *c, struct sub *s)
{
    struct json v = { &c->s->doc, s->at };
    struct kw kws[RANK_COUNT];
    uint32_t n = 0;

    c->now = s;
    if (json_is(v, JSON_FALSE)) {
        s->kws = &keyword_false;
        s->n = 1;
    }
    JSON_FOREACH(member, v) {
        const struct keyword *row = keyword_find(member);
        struct kw k = { .row = row };
        int rc;

        /* several names may make one kw: properties and additionalProperties */
        if (!row || !row->compile || has_rank(kws, n, row->rank))
            continue;
        rc = row->compile(c, &k, member, v);
        if (rc < 0)
            return rc;
        if (k.row)
            kws[n++] = k;
    }
    if (n)
        set_keywords(c, s, kws, n);
    return 0;
}

/* A chain of references, each alone in its schema, becomes one step; a circle stays one. */
static void shorten_aliases(struct compiler *c)
{
    for (size_t i = 0; i < c->n_subs; i++) {
        const struct sub *end = c->subs[i]->alias;

        for (int hops = 0; end && end->alias && hops < JSON_SCHEMA_DEPTH_MAX; hops++)
            end = end->alias;
        c->subs[i]->alias = end;
    }
}

static int compile_all(struct compiler *c)
{
    int rc = schema_walk(c, json_root(&c->s->doc), NULL);

    /* a reference into a place that is no schema by itself makes the list grow */
    for (size_t i = 0; i < c->n_subs && rc == 0; i++)
        rc = compile_sub(c, c->subs[i]);
    shorten_aliases(c);
    return rc;
}

static int by_place(const void *a, const void *b)
{
    uint32_t x = (*(struct sub *const *)a)->at, y = (*(struct sub *const *)b)->at;

    return (x > y) - (x < y);
}

static void keep_subs(struct compiler *c)
{
    if (c->n_subs)
        qsort(c->subs, c->n_subs, sizeof(struct sub *), by_place);
    c->s->subs = c->subs;
    c->s->n_subs = c->n_subs;
}

int schema_compile(struct schema **out, struct span text, struct pb_error *err)
{
    static const struct json_opts opts = { .unique_depth = JSON_ALL };
    AUTO(schema) struct schema *s = NULL;
    struct compiler c = { .err = err };
    int rc;

    if (text.n > JSON_SCHEMA_BYTES_MAX)
        return fail(err, PB_E_LIMIT, "the schema has %zu bytes; the limit is %d", text.n,
                    JSON_SCHEMA_BYTES_MAX);
    s = NEW(struct schema);
    s->text = mem_dupn(text.p, text.n);
    rc = json_parse(&s->doc, span_make(s->text, text.n), &opts, err);
    if (rc < 0) {
        fail_in(err, "schema");
        return rc;
    }
    c.s = s;
    c.by_node = mem_zero(s->doc.n * sizeof(struct sub *));
    rc = compile_all(&c);
    s->root = c.by_node[0];
    keep_subs(&c);
    free(c.by_node);
    map_done(&c.uris);
    map_done(&c.anchors);
    map_done(&c.indexed);
    buf_done(&c.scratch);
    if (rc < 0)
        return rc;
    *out = TAKE(s);
    return 0;
}

void schema_free(struct schema *s)
{
    struct map_slot *slot;

    if (!s)
        return;
    for (struct resource *r = s->resources; r; r = r->next)
        map_done(&r->dynamic);
    MAP_FOREACH(slot, &s->patterns)
        pattern_free(slot->value);
    map_done(&s->patterns);
    arena_done(&s->arena);
    json_doc_done(&s->doc);
    free(s->subs);
    free(s->text);
    free(s);
}

/* ---- Checking, and reading what it says --------------------------------------------------- */

static const struct sub *sub_at(const struct schema *s, struct json place)
{
    const struct sub wanted = { .at = place.at }, *key = &wanted;
    struct sub *const *found;

    if (place.doc != &s->doc)
        return NULL;
    found = bsearch(&key, s->subs, s->n_subs, sizeof(struct sub *), by_place);
    return found ? *found : NULL;
}

struct json schema_root(const struct schema *s) { return json_root(&s->doc); }

struct json schema_follow(const struct schema *s, struct json place)
{
    const struct sub *sub = sub_at(s, place);

    for (uint32_t i = 0; sub && i < sub->n; i++)
        if (sub->kws[i].row->rank == RANK_REF)
            return (struct json){ &s->doc, sub->kws[i].sub->at };
    return (struct json){ 0 };
}

static int check_with(const struct schema *s, const struct sub *sub, struct json value,
                      struct pb_error *err)
{
    struct check c = { .s = s, .steps = JSON_SCHEMA_STEPS_MAX };
    int rc;

    if (json_is(value, JSON_NONE))
        return fail(err, PB_E_INVALID, "value: expected a value, got nothing");
    rc = check_apply(&c, NULL, sub, value, NULL);
    if (rc < 0)
        rc = check_tell(&c, value, err);
    pattern_run_done(&c.run);
    arena_done(&c.arena);
    return rc;
}

int schema_check(const struct schema *s, struct json value, struct pb_error *err)
{
    return check_with(s, s->root, value, err);
}

int schema_check_at(const struct schema *s, struct json place, struct json value,
                    struct pb_error *err)
{
    const struct sub *sub = sub_at(s, place);

    if (!sub)
        return fail(err, PB_E_INVALID, "schema: there is none at this place");
    return check_with(s, sub, value, err);
}
