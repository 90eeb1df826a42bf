#include "wanted.h"

/* ---- steps ---------------------------------------------------------------------------------- */

bool wanted_is_over(struct wanted_from from) { return from.left && *from.left <= 0; }

void wanted_told(struct wanted_from from, size_t bytes)
{
    size_t steps = bytes / TELL_STEP_BYTES;

    if (!wanted_is_over(from) && from.left)
        *from.left = steps < (size_t)*from.left ? *from.left - (int)steps : 0;
}

/* One of a look that may take `left` of them, and of all looks; false: there is none. */
static bool step(struct wanted_from from, int *left)
{
    if (*left <= 0 || wanted_is_over(from))
        return false;
    --*left;
    if (from.left)
        --*from.left;
    return true;
}

/* ---- kinds ---------------------------------------------------------------------------------- */

static void add(struct wanted *w, struct json place, enum wanted_kind kind)
{
    if (w->n == WANTED_KINDS_MAX)
        w->more = true;
    else
        w->list[w->n++] = (struct wanted_one){ place, kind };
}

static void add_type(struct wanted *w, struct json place, struct json type)
{
    static const struct {
        const char *name;
        enum wanted_kind kind;
    } rows[] = {
        { "array", WANTED_ARRAY },   { "boolean", WANTED_BOOLEAN }, { "integer", WANTED_INTEGER },
        { "null", WANTED_NULL },     { "number", WANTED_NUMBER },   { "object", WANTED_OBJECT },
        { "string", WANTED_STRING },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (json_str_is(type, rows[i].name))
            add(w, place, rows[i].kind);
}

static bool has(struct json place, const char *keyword)
{
    return !json_is(json_get(place, keyword), JSON_NONE);
}

/* What a schema that names no type must mean. */
static void add_implied(struct wanted *w, struct json place)
{
    if (has(place, "properties") || has(place, "additionalProperties"))
        add(w, place, WANTED_OBJECT);
    else if (has(place, "items") || has(place, "prefixItems"))
        add(w, place, WANTED_ARRAY);
}

/* `left`: a schema may refer to itself in many ways at once. */
static void collect(struct wanted *w, struct wanted_from from, struct json place, int *left)
{
    static const char *const lists[] = { "anyOf", "oneOf", "allOf" };
    struct json type = json_get(place, "type");
    size_t before = w->n;

    if (!json_is(place, JSON_OBJECT) || !step(from, left))
        return;
    if (has(place, "const"))
        add(w, place, WANTED_CONST);
    else if (json_is(json_get(place, "enum"), JSON_ARRAY))
        add(w, place, WANTED_ENUM);
    else if (json_is(type, JSON_ARRAY))
        JSON_FOREACH(t, type)
            add_type(w, place, t);
    else
        add_type(w, place, type);
    for (size_t i = 0; i < ARRAY_LEN(lists) && w->n == before; i++)
        JSON_FOREACH(s, json_get(place, lists[i]))
            collect(w, from, s, left);
    if (w->n == before && from.schema)
        collect(w, from, schema_follow(from.schema, place), left);
    if (w->n == before)
        add_implied(w, place);
}

void wanted_of(struct wanted *out, struct wanted_from from, struct json place)
{
    int left = WANTED_STEPS_MAX;

    *out = (struct wanted){ 0 };
    collect(out, from, place, &left);
    if (!out->n)
        add(out, place, WANTED_ANY);
}

bool wanted_takes(struct wanted_from from, struct json place, enum wanted_kind kind)
{
    struct wanted w;

    wanted_of(&w, from, place);
    for (size_t i = 0; i < w.n; i++)
        if (w.list[i].kind == kind)
            return true;
    return false;
}

/* ---- keywords ------------------------------------------------------------------------------- */

/* Each schema that says something about the same value: itself, what it refers to, and its
 * alternatives. */
typedef bool look_fn(void *ctx, struct json place);

struct looking {
    struct wanted_from from;
    look_fn *fn;
    void *ctx;
    int left;
};

static bool look_in(struct looking *l, struct json place)
{
    static const char *const lists[] = { "allOf", "anyOf", "oneOf" };

    if (!json_is(place, JSON_OBJECT) || !step(l->from, &l->left))
        return false;
    if (l->fn(l->ctx, place))
        return true;
    if (l->from.schema && look_in(l, schema_follow(l->from.schema, place)))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        JSON_FOREACH(s, json_get(place, lists[i]))
            if (look_in(l, s))
                return true;
    return false;
}

static void look(struct wanted_from from, struct json place, look_fn *fn, void *ctx)
{
    look_in(&(struct looking){ from, fn, ctx, WANTED_STEPS_MAX }, place);
}

struct json wanted_word(struct wanted_from from, struct json place, const char *keyword)
{
    int left = WANTED_STEPS_MAX;

    while (json_is(place, JSON_OBJECT) && step(from, &left)) {
        struct json word = json_get(place, keyword);

        if (!json_is(word, JSON_NONE))
            return word;
        place = from.schema ? schema_follow(from.schema, place) : (struct json){ 0 };
    }
    return (struct json){ 0 };
}

/* ---- objects -------------------------------------------------------------------------------- */

struct member_look {
    struct span key;
    struct json found;
};

static bool look_member(void *ctx, struct json place)
{
    struct member_look *m = ctx;
    struct json properties = json_get(place, "properties");

    if (json_is(properties, JSON_OBJECT))
        m->found = json_get_span(properties, m->key);
    return !json_is(m->found, JSON_NONE);
}

struct json wanted_member(struct wanted_from from, struct json place, struct span key)
{
    struct member_look m = { .key = key };

    look(from, place, look_member, &m);
    return m.found;
}

struct members_look {
    wanted_member_fn *fn;
    void *ctx;
    struct arena *a;
    struct map seen;
};

static bool look_members(void *ctx, struct json place)
{
    struct members_look *m = ctx;
    struct json properties = json_get(place, "properties");

    if (json_is(properties, JSON_OBJECT))
        JSON_FOREACH(p, properties) {
            struct span key = json_key_str(p, m->a);

            if (!map_put(&m->seen, key, m))
                m->fn(m->ctx, key, p);
        }
    return false;
}

void wanted_members(struct wanted_from from, struct json place, wanted_member_fn *fn, void *ctx,
                    struct arena *a)
{
    struct members_look m = { .fn = fn, .ctx = ctx, .a = a };

    look(from, place, look_members, &m);
    map_done(&m.seen);
}

/* An alternative's own requirements hold only if it is the one. */
bool wanted_requires(struct wanted_from from, struct json place, struct span key)
{
    JSON_FOREACH(name, wanted_word(from, place, "required"))
        if (json_str_is_span(name, key))
            return true;
    return false;
}

static bool look_secret(void *ctx, struct json place)
{
    bool *secret = ctx;

    *secret = json_str_is(json_get(place, "format"), "password") ||
              json_is(json_get(place, "writeOnly"), JSON_TRUE);
    return *secret;
}

bool wanted_is_secret(struct wanted_from from, struct json place)
{
    bool secret = false;

    look(from, place, look_secret, &secret);
    return secret;
}

bool wanted_is_closed(struct wanted_from from, struct json place)
{
    static const char *const words[] = { "additionalProperties", "unevaluatedProperties" };

    if (!json_is(wanted_word(from, place, "patternProperties"), JSON_NONE))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (json_is(wanted_word(from, place, words[i]), JSON_FALSE))
            return true;
    return false;
}

/* ---- arrays and choices --------------------------------------------------------------------- */

struct item_look {
    size_t i;
    struct json found;
};

static bool look_item(void *ctx, struct json place)
{
    struct item_look *m = ctx;
    struct json items = json_get(place, "items"), first = json_get(place, "prefixItems");

    if (json_is(items, JSON_ARRAY)) /* in old drafts */
        first = items;
    if (json_is(first, JSON_ARRAY) && m->i < json_len(first))
        m->found = json_item(first, m->i);
    else if (json_is(items, JSON_OBJECT))
        m->found = items;
    return !json_is(m->found, JSON_NONE);
}

struct json wanted_item(struct wanted_from from, struct json place, size_t i)
{
    struct item_look m = { .i = i };

    look(from, place, look_item, &m);
    return m.found;
}

static bool all_const(struct json list)
{
    JSON_FOREACH(v, list)
        if (!json_is(v, JSON_OBJECT) || !has(v, "const"))
            return false;
    return json_is(list, JSON_ARRAY);
}

struct json wanted_choices(struct wanted_from from, struct json place)
{
    static const char *const lists[] = { "oneOf", "anyOf" };
    struct json values = wanted_word(from, place, "enum");

    if (json_is(values, JSON_ARRAY))
        return values;
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        struct json list = wanted_word(from, place, lists[i]);

        if (all_const(list))
            return list;
    }
    return (struct json){ 0 };
}
