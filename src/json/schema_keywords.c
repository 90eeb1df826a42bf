#include "schema_parts.h"

/* ---- Values of keywords ------------------------------------------------------------------ */

static int expected(struct compiler *c, struct json v, const char *what)
{
    return refuse(c, v, "expected %s, got %s", what, json_type_phrase(v));
}

static const struct {
    const char *name;
    uint32_t bits;
} type_names[] = {
    { "array", TYPE(ARRAY) },    { "boolean", TYPE(TRUE) | TYPE(FALSE) },
    { "integer", TYPE_INTEGER }, { "null", TYPE(NULL) },
    { "number", TYPE(NUMBER) },  { "object", TYPE(OBJECT) },
    { "string", TYPE(STRING) },
};

static int add_type(struct compiler *c, struct kw *k, struct json v)
{
    for (size_t i = 0; i < ARRAY_LEN(type_names); i++)
        if (json_str_is(v, type_names[i].name)) {
            k->types |= type_names[i].bits;
            return 0;
        }
    return refuse(c, v, "expected the name of a type, such as \"string\"");
}

static int compile_type(struct compiler *c, struct kw *k, struct json v, struct json in)
{
    (void)in;
    if (!json_is(v, JSON_ARRAY))
        return add_type(c, k, v);
    JSON_FOREACH(item, v)
        if (add_type(c, k, item) < 0)
            return -PB_E_INVALID;
    return 0;
}

static int compile_const(struct compiler *c, struct kw *k, struct json v, struct json in)
{
    (void)c;
    (void)in;
    k->value = v;
    return 0;
}

static int compile_enum(struct compiler *c, struct kw *k, struct json v, struct json in)
{
    (void)in;
    k->value = v;
    return json_is(v, JSON_ARRAY) ? 0 : expected(c, v, "an array");
}

static int compile_number(struct compiler *c, struct kw *k, struct json v, struct json in)
{
    (void)in;
    k->value = v;
    return json_is(v, JSON_NUMBER) ? 0 : expected(c, v, "a number");
}

/* Draft 4 wrote a boolean beside the bound. */
static int compile_exclusive(struct compiler *c, struct kw *k, struct json v, struct json in)
{
    bool least = json_key_is(v, "exclusiveMinimum");

    if (!c->now->resource->legacy || json_is(v, JSON_NUMBER))
        return compile_number(c, k, v, in);
    if (!json_is(v, JSON_TRUE) && !json_is(v, JSON_FALSE))
        return expected(c, v, "a number or a boolean");
    k->value = json_get(in, least ? "minimum" : "maximum");
    if (json_is(v, JSON_FALSE) || !json_is(k->value, JSON_NUMBER))
        k->row = NULL;
    return 0;
}

static int compile_multiple(struct compiler *c, struct kw *k, struct json v, struct json in)
{
    int rc = compile_number(c, k, v, in);

    if (rc < 0)
        return rc;
    if (number_cmp(json_text(v), SPAN("0")) <= 0)
        return refuse(c, v, "expected a number above 0");
    if (decimal_of(json_text(v)).n > MULTIPLE_DIGITS_MAX)
        return refuse(c, v, "expected at most %d digits", MULTIPLE_DIGITS_MAX);
    return 0;
}

static int read_count(struct compiler *c, struct json v, uint64_t *out)
{
    if (!json_is(v, JSON_NUMBER) || !number_is_whole(json_text(v)) ||
        number_cmp(json_text(v), SPAN("0")) < 0)
        return refuse(c, v, "expected a whole number, 0 or more");
    if (json_uint(v, out, NULL) < 0)
        *out = UINT64_MAX;
    return 0;
}

static int compile_count(struct compiler *c, struct kw *k, struct json v, struct json in)
{
    (void)in;
    return read_count(c, v, &k->count);
}

static int compile_unique(struct compiler *c, struct kw *k, struct json v, struct json in)
{
    (void)in;
    if (json_is(v, JSON_FALSE))
        k->row = NULL;
    return json_is(v, JSON_TRUE) || json_is(v, JSON_FALSE) ? 0 : expected(c, v, "a boolean");
}

/* Each text once, however often the schema has it. */
static int get_pattern(struct compiler *c, struct json v, struct span text,
                       const struct pattern **out)
{
    struct pattern *p = map_get(&c->s->patterns, text);
    struct pb_error why;

    int rc;

    if (!p) {
        rc = pattern_new(&p, text, &c->pattern_bytes, &why);
        if (rc == -PB_E_LIMIT)
            return fail(c->err, PB_E_LIMIT, "the patterns of the schema take more than %d bytes",
                        JSON_PATTERN_BYTES_MAX);
        if (rc < 0)
            return refuse(c, v, "%s", why.msg);
        map_put(&c->s->patterns, text, p);
    }
    *out = p;
    return 0;
}

static int compile_pattern(struct compiler *c, struct kw *k, struct json v, struct json in)
{
    (void)in;
    if (!json_is(v, JSON_STRING))
        return expected(c, v, "a string");
    return get_pattern(c, v, json_str(v, &c->s->arena), &k->pattern);
}

/* ---- Lists of names ---------------------------------------------------------------------- */

static void *make_list(struct compiler *c, struct json v, size_t size)
{
    return arena_alloc(&c->s->arena, json_len(v) * size);
}

static struct names names_of_keys(struct compiler *c, struct json object)
{
    struct names names = { .list = make_list(c, object, sizeof *names.list) };

    JSON_FOREACH(m, object) {
        names.list[names.n] = (struct name){ json_key_str(m, &c->s->arena), names.n };
        names.n++;
    }
    names_sort(&names);
    return names;
}

static int names_of_strings(struct compiler *c, struct json array, struct names *out)
{
    struct names names = { 0 };

    if (!json_is(array, JSON_ARRAY))
        return expected(c, array, "an array of strings");
    names.list = make_list(c, array, sizeof *names.list);
    JSON_FOREACH(v, array) {
        if (!json_is(v, JSON_STRING))
            return expected(c, v, "a string");
        names.list[names.n] = (struct name){ json_str(v, &c->s->arena), names.n };
        names.n++;
    }
    names_sort(&names);
    *out = names;
    return 0;
}

static int compile_required(struct compiler *c, struct kw *k, struct json v, struct json in)
{
    int rc = names_of_strings(c, v, &k->names);

    (void)in;
    if (!k->names.n)
        k->row = NULL;
    return rc;
}

static int compile_depends(struct compiler *c, struct kw *k, struct json v, struct json in)
{
    struct depends *d = arena_alloc(&c->s->arena, sizeof *d);
    bool schemas = k->row->shape == SHAPE_MAP;
    uint32_t i = 0;

    (void)in;
    if (!json_is(v, JSON_OBJECT))
        return expected(c, v, "an object");
    d->triggers = names_of_keys(c, v);
    d->subs = make_list(c, v, sizeof(struct sub *));
    d->required = make_list(c, v, sizeof *d->required);
    JSON_FOREACH(m, v) {
        bool list = !schemas && (json_is(m, JSON_ARRAY) || k->row->shape == SHAPE_NONE);

        if (list && names_of_strings(c, m, &d->required[i]) < 0)
            return -PB_E_INVALID;
        d->subs[i++] = list ? NULL : schema_sub(c, m);
    }
    k->depends = d;
    return 0;
}

/* ---- Schemas ----------------------------------------------------------------------------- */

static int compile_one(struct compiler *c, struct kw *k, struct json v, struct json in)
{
    (void)in;
    k->sub = schema_sub(c, v);
    return 0;
}

static struct sub_list list_of(struct compiler *c, struct json v)
{
    struct sub_list l = { .list = make_list(c, v, sizeof(struct sub *)) };

    JSON_FOREACH(item, v)
        l.list[l.n++] = schema_sub(c, item);
    return l;
}

static int compile_list(struct compiler *c, struct kw *k, struct json v, struct json in)
{
    (void)in;
    k->subs = list_of(c, v);
    return 0;
}

static int compile_ref(struct compiler *c, struct kw *k, struct json v, struct json in)
{
    struct sub *sub = NULL;
    int rc;

    (void)in;
    if (k->row->rank == RANK_RECURSIVE_REF && !c->now->resource->legacy) {
        k->row = NULL;
        return 0;
    }
    rc = ref_resolve(c, v, &sub, NULL);
    k->sub = sub;
    return rc;
}

static int compile_dynamic_ref(struct compiler *c, struct kw *k, struct json v, struct json in)
{
    int rc = ref_resolve(c, v, &k->dynamic.sub, &k->dynamic.name);

    (void)in;
    c->s->dynamic |= k->dynamic.name.n > 0;
    return rc;
}

static int add_patterns(struct compiler *c, struct members *m, struct json v)
{
    m->patterns = make_list(c, v, sizeof(struct pattern *));
    m->pattern_subs = make_list(c, v, sizeof(struct sub *));
    JSON_FOREACH(member, v) {
        struct span text = json_key_str(member, &c->s->arena);
        int rc = get_pattern(c, member, text, &m->patterns[m->n_patterns]);

        if (rc < 0)
            return rc;
        m->pattern_subs[m->n_patterns++] = schema_sub(c, member);
    }
    return 0;
}

static const struct keyword *keyword_named(const char *name); /* below the table */

/* properties, patternProperties and additionalProperties are one kw: the third depends on the
 * others, and one look at each member suffices. */
static int compile_members(struct compiler *c, struct kw *k, struct json v, struct json in)
{
    struct members *m = arena_alloc(&c->s->arena, sizeof *m);
    struct json properties = json_get(in, "properties");

    (void)v;
    m->names = names_of_keys(c, properties);
    m->subs = list_of(c, properties).list;
    m->rest = schema_sub(c, json_get(in, "additionalProperties"));
    k->row = keyword_named("properties");
    k->members = m;
    return add_patterns(c, m, json_get(in, "patternProperties"));
}

static int compile_elements(struct compiler *c, struct kw *k, struct json v, struct json in)
{
    struct elements *e = arena_alloc(&c->s->arena, sizeof *e);
    struct json items = json_get(in, "items");
    bool old = json_is(items, JSON_ARRAY);

    (void)v;
    e->first = list_of(c, old ? items : json_get(in, "prefixItems"));
    e->rest = schema_sub(c, old ? json_get(in, "additionalItems") : items);
    k->row = keyword_named("items");
    k->elements = e;
    return 0;
}

static int compile_contains(struct compiler *c, struct kw *k, struct json v, struct json in)
{
    struct contains *x = arena_alloc(&c->s->arena, sizeof *x);
    struct json min = json_get(in, "minContains"), max = json_get(in, "maxContains");

    *x = (struct contains){ schema_sub(c, v), 1, UINT64_MAX };
    k->contains = x;
    if (!json_is(min, JSON_NONE) && read_count(c, min, &x->min) < 0)
        return -PB_E_INVALID;
    if (!json_is(max, JSON_NONE) && read_count(c, max, &x->max) < 0)
        return -PB_E_INVALID;
    return 0;
}

static int compile_if(struct compiler *c, struct kw *k, struct json v, struct json in)
{
    struct condition *x = arena_alloc(&c->s->arena, sizeof *x);

    x->test = schema_sub(c, v);
    x->yes = schema_sub(c, json_get(in, "then"));
    x->no = schema_sub(c, json_get(in, "else"));
    k->condition = x;
    return 0;
}

/* ---- The table --------------------------------------------------------------------------- */

#define ANY     UINT32_MAX
#define NUMBERS TYPE(NUMBER)
#define STRINGS TYPE(STRING)
#define ARRAYS  TYPE(ARRAY)
#define OBJECTS TYPE(OBJECT)

/* Sorted by name: keyword_named() bisects. Rows without compile mean something to ref_declare(),
 * to a sibling, or only hold schemas. What is not here is ignored, as the draft says. */
/* clang-format off */
static const struct keyword keywords[] = {
    { "$defs",                 SHAPE_MAP,         0,                           0,       NULL,                NULL,                          NULL },
    { "$dynamicRef",           SHAPE_NONE,        RANK_DYNAMIC_REF,            ANY,     compile_dynamic_ref, check_dynamic_ref,             NULL },
    { "$recursiveRef",         SHAPE_NONE,        RANK_RECURSIVE_REF,          ANY,     compile_ref,         check_ref,                     NULL },
    { "$ref",                  SHAPE_NONE,        RANK_REF,                    ANY,     compile_ref,         check_ref,                     NULL },
    { "additionalItems",       SHAPE_OLD,         0,                           0,       NULL,                NULL,                          NULL },
    { "additionalProperties",  SHAPE_ONE,         RANK_MEMBERS,                OBJECTS, compile_members,     check_members,                 say_members },
    { "allOf",                 SHAPE_LIST,        RANK_ALL_OF,                 ANY,     compile_list,        check_all_of,                  NULL },
    { "anyOf",                 SHAPE_LIST,        RANK_ANY_OF,                 ANY,     compile_list,        check_any_of,                  say_any_of },
    { "const",                 SHAPE_NONE,        RANK_CONST,                  ANY,     compile_const,       check_const,                   say_const },
    { "contains",              SHAPE_ONE,         RANK_CONTAINS,               ARRAYS,  compile_contains,    check_contains,                say_contains },
    { "definitions",           SHAPE_MAP,         0,                           0,       NULL,                NULL,                          NULL },
    { "dependencies",          SHAPE_MIXED_MAP,   RANK_DEPENDENCIES,           OBJECTS, compile_depends,     check_dependent,               say_dependent },
    { "dependentRequired",     SHAPE_NONE,        RANK_DEPENDENT_REQUIRED,     OBJECTS, compile_depends,     check_dependent,               say_dependent },
    { "dependentSchemas",      SHAPE_MAP,         RANK_DEPENDENT_SCHEMAS,      OBJECTS, compile_depends,     check_dependent,               say_dependent },
    { "else",                  SHAPE_ONE,         0,                           0,       NULL,                NULL,                          NULL },
    { "enum",                  SHAPE_NONE,        RANK_ENUM,                   ANY,     compile_enum,        check_enum,                    say_enum },
    { "exclusiveMaximum",      SHAPE_NONE,        RANK_EXCLUSIVE_MAXIMUM,      NUMBERS, compile_exclusive,   check_exclusive_maximum,       say_exclusive_maximum },
    { "exclusiveMinimum",      SHAPE_NONE,        RANK_EXCLUSIVE_MINIMUM,      NUMBERS, compile_exclusive,   check_exclusive_minimum,       say_exclusive_minimum },
    { "if",                    SHAPE_ONE,         RANK_IF,                     ANY,     compile_if,          check_if,                      NULL },
    { "items",                 SHAPE_ONE_OR_LIST, RANK_ELEMENTS,               ARRAYS,  compile_elements,    check_elements,                say_elements },
    { "maxItems",              SHAPE_NONE,        RANK_MAX_ITEMS,              ARRAYS,  compile_count,       check_max_items,               say_max_items },
    { "maxLength",             SHAPE_NONE,        RANK_MAX_LENGTH,             STRINGS, compile_count,       check_max_length,              say_max_length },
    { "maxProperties",         SHAPE_NONE,        RANK_MAX_PROPERTIES,         OBJECTS, compile_count,       check_max_properties,          say_max_properties },
    { "maximum",               SHAPE_NONE,        RANK_MAXIMUM,                NUMBERS, compile_number,      check_maximum,                 say_maximum },
    { "minItems",              SHAPE_NONE,        RANK_MIN_ITEMS,              ARRAYS,  compile_count,       check_min_items,               say_min_items },
    { "minLength",             SHAPE_NONE,        RANK_MIN_LENGTH,             STRINGS, compile_count,       check_min_length,              say_min_length },
    { "minProperties",         SHAPE_NONE,        RANK_MIN_PROPERTIES,         OBJECTS, compile_count,       check_min_properties,          say_min_properties },
    { "minimum",               SHAPE_NONE,        RANK_MINIMUM,                NUMBERS, compile_number,      check_minimum,                 say_minimum },
    { "multipleOf",            SHAPE_NONE,        RANK_MULTIPLE_OF,            NUMBERS, compile_multiple,    check_multiple_of,             say_multiple_of },
    { "not",                   SHAPE_ONE,         RANK_NOT,                    ANY,     compile_one,         check_not,                     say_not },
    { "oneOf",                 SHAPE_LIST,        RANK_ONE_OF,                 ANY,     compile_list,        check_one_of,                  say_one_of },
    { "pattern",               SHAPE_NONE,        RANK_PATTERN,                STRINGS, compile_pattern,     check_pattern,                 say_pattern },
    { "patternProperties",     SHAPE_MAP,         RANK_MEMBERS,                OBJECTS, compile_members,     check_members,                 say_members },
    { "prefixItems",           SHAPE_LIST,        RANK_ELEMENTS,               ARRAYS,  compile_elements,    check_elements,                say_elements },
    { "properties",            SHAPE_MAP,         RANK_MEMBERS,                OBJECTS, compile_members,     check_members,                 say_members },
    { "propertyNames",         SHAPE_ONE,         RANK_PROPERTY_NAMES,         OBJECTS, compile_one,         check_property_names,          NULL },
    { "required",              SHAPE_NONE,        RANK_REQUIRED,               OBJECTS, compile_required,    check_required,                say_required },
    { "then",                  SHAPE_ONE,         0,                           0,       NULL,                NULL,                          NULL },
    { "type",                  SHAPE_NONE,        RANK_TYPE,                   ANY,     compile_type,        check_type,                    say_type },
    { "unevaluatedItems",      SHAPE_ONE,         RANK_UNEVALUATED_ITEMS,      ARRAYS,  compile_one,         check_unevaluated_items,       say_elements },
    { "unevaluatedProperties", SHAPE_ONE,         RANK_UNEVALUATED_PROPERTIES, OBJECTS, compile_one,         check_unevaluated_properties,  say_members },
    { "uniqueItems",           SHAPE_NONE,        RANK_UNIQUE_ITEMS,           ARRAYS,  compile_unique,      check_unique_items,            say_unique_items },
};
/* clang-format on */

static const struct keyword false_row = { "false", SHAPE_NONE,  RANK_FALSE, ANY,
                                          NULL,    check_false, say_false };
const struct kw keyword_false = { .row = &false_row };

static const struct keyword *find(struct span name)
{
    size_t low = 0, high = ARRAY_LEN(keywords);

    while (low < high) {
        size_t mid = low + (high - low) / 2;
        int order = span_cmp(name, span_of(keywords[mid].name));

        if (order == 0)
            return &keywords[mid];
        if (order < 0)
            high = mid;
        else
            low = mid + 1;
    }
    return NULL;
}

static const struct keyword *keyword_named(const char *name) { return find(span_of(name)); }

const struct keyword *keyword_find(struct json member)
{
    if (!(node_of(member_name(member))->info & NODE_ESCAPED))
        return find(json_key(member));
    for (size_t i = 0; i < ARRAY_LEN(keywords); i++)
        if (json_key_is(member, keywords[i].name))
            return &keywords[i];
    return NULL;
}
