/* arguments_write.c - what words mean, by the tool's schema. They are sorted into a tree of slots,
 * one for each key; then each slot is written as what the schema wants of it, and the whole is
 * checked. */
#include "arguments.h"
#include "wanted.h"

enum { GIVEN_CHARS = 60 }; /* of a value that is quoted in an error */

struct given {
    struct given *next;
    const struct argument *argument;
};

struct argument_slot {
    struct argument_slot *next, *children, *last_child;
    struct span key;
    struct json place; /* the schema of it; JSON_NONE: nobody says */
    struct given *given, *last_given;
    struct span raw; /* what an object said; `given` and children go over it */
};

struct fitting {
    const struct schema *schema;
    struct wanted_from from; /* the same schema */
    struct arena *arena;
    struct pb_error *err;
    struct argument_slot root;
    struct map slots; /* by the slot they lie in, and their key */
};

/* ---- the tree ------------------------------------------------------------------------------- */

static void write_name(struct buf *out, const struct argument_slot *in, struct span key)
{
    buf_add(out, &in, sizeof in);
    buf_add_span(out, key);
}

static struct argument_slot *slot_find(const struct fitting *f, const struct argument_slot *in,
                                       struct span key)
{
    AUTO_BUF struct buf name = { 0 };

    write_name(&name, in, key);
    return map_get(&f->slots, buf_span(&name));
}

static struct argument_slot *slot_get(struct fitting *f, struct argument_slot *in, struct span key)
{
    struct argument_slot *s = slot_find(f, in, key);
    AUTO_BUF struct buf name = { 0 };

    if (s)
        return s;
    s = arena_alloc(f->arena, sizeof *s);
    s->key = key;
    s->place = wanted_member(f->from, in->place, key);
    if (in->last_child)
        in->last_child->next = s;
    else
        in->children = s;
    in->last_child = s;
    write_name(&name, in, key);
    map_put(&f->slots, buf_span(&name), s);
    return s;
}

/* Members of an object as slots of their own, over those that are there. */
static void slot_spread(struct fitting *f, struct argument_slot *in, struct span object)
{
    static const struct json_opts opts = { .keep_depth = 1 };
    AUTO_JSON struct json_doc doc = { 0 };

    if (json_parse(&doc, object, &opts, NULL) < 0 || !json_is(json_root(&doc), JSON_OBJECT))
        return;
    JSON_FOREACH(m, json_root(&doc)) {
        struct span key = json_key_str(m, f->arena);
        struct argument_slot *s = slot_get(f, in, span_make(arena_dup(f->arena, key), key.n));

        s->raw = json_text(m);
    }
}

static void add_near(void *ctx, struct span key, struct json place)
{
    struct near *near = ctx;

    (void)place;
    near_keep(near, key, near_unlike(near, key));
}

/* A key that is not named is refused if the schema has only such, or if it is almost one of them:
 * then it was mistyped. */
static int check_known(struct fitting *f, const struct argument_slot *in, struct span key,
                       bool typed)
{
    bool closed = wanted_is_closed(f->from, in->place);
    AUTO_BUF struct buf text = { 0 };
    struct near near;

    if (!f->schema || (!closed && !typed) ||
        !json_is(wanted_member(f->from, in->place, key), JSON_NONE) ||
        !json_is(wanted_word(f->from, in->place, "patternProperties"), JSON_NONE))
        return 0;
    near_init(&near, key);
    wanted_members(f->from, in->place, add_near, &near, f->arena);
    if (!closed && !(typed && near.n))
        return 0;
    buf_printf(&text, "there is no argument '%.*s'", SPAN_ARG(key));
    near_write(&near, &text);
    return fail(f->err, PB_E_INVALID, "%s", buf_cstr(&text));
}

static int put_leaf(struct fitting *f, struct argument_slot *in, struct span key,
                    const struct argument *arg)
{
    struct argument_slot *s;
    struct given *g;

    if (check_known(f, in, key, true) < 0)
        return -PB_E_INVALID;
    s = slot_get(f, in, key);
    if (s->children)
        return fail(f->err, PB_E_INVALID, "'%.*s' is given as a whole and in parts", SPAN_ARG(key));
    if (s->given && !wanted_takes(f->from, s->place, WANTED_ARRAY))
        return fail(f->err, PB_E_INVALID, "'%.*s' is given twice, but is no list",
                    SPAN_ARG(arg->key));
    g = arena_alloc(f->arena, sizeof *g);
    g->argument = arg;
    if (s->last_given)
        s->last_given->next = g;
    else
        s->given = g;
    s->last_given = g;
    return 0;
}

/* May a dot after this key lead into it? */
static bool is_container(const struct fitting *f, struct json place)
{
    return !json_is(place, JSON_NONE) && (wanted_takes(f->from, place, WANTED_OBJECT) ||
                                          wanted_takes(f->from, place, WANTED_ANY));
}

/* How much of the key names a container; 0: the key is one of `in`, dots and all. The longest that
 * the schema names; in an object of which it names nothing each dot is a step. */
static size_t first_step(const struct fitting *f, const struct argument_slot *in, struct span key,
                         bool free)
{
    const char *dot = key.n ? memchr(key.p, '.', key.n) : NULL;

    if (!dot || !json_is(wanted_member(f->from, in->place, key), JSON_NONE))
        return 0;
    for (size_t n = key.n - 1; n > 0; n--)
        if (key.p[n] == '.' &&
            is_container(f, wanted_member(f->from, in->place, span_make(key.p, n))))
            return n;
    return free && dot > key.p ? (size_t)(dot - key.p) : 0;
}

static int put_argument(struct fitting *f, const struct argument *arg)
{
    struct argument_slot *in = &f->root;
    struct span key = arg->key;
    size_t n;

    for (int dots = 0; dots < ARGUMENT_DOTS_MAX; dots++) {
        struct argument_slot *s;

        n = first_step(f, in, key, dots > 0);
        if (!n || n + 1 == key.n)
            break;
        s = slot_get(f, in, span_make(key.p, n));
        if (s->given)
            return fail(f->err, PB_E_INVALID, "'%.*s' is given as a whole and in parts",
                        SPAN_ARG(s->key));
        slot_spread(f, s, s->raw);
        s->raw = (struct span){ 0 };
        in = s;
        key = span_from(key, n + 1);
    }
    return put_leaf(f, in, key, arg);
}

/* ---- what the schema wants ------------------------------------------------------------------ */

static bool is_choice(struct json value, struct span text, const struct json_doc *doc)
{
    return json_is(value, JSON_STRING) ? json_str_is_span(value, text)
                                       : doc->n && json_equal(value, json_root(doc));
}

/* The text as one kind of value; empty: it is none. `doc`: the text taped, if it is JSON. */
static struct span as_kind(const struct wanted_one *w, struct span text, const struct json_doc *doc)
{
    static const unsigned types[] = {
        [WANTED_NULL] = 1U << JSON_NULL,      [WANTED_BOOLEAN] = 1U << JSON_TRUE | 1U << JSON_FALSE,
        [WANTED_INTEGER] = 1U << JSON_NUMBER, [WANTED_NUMBER] = 1U << JSON_NUMBER,
        [WANTED_ARRAY] = 1U << JSON_ARRAY,    [WANTED_OBJECT] = 1U << JSON_OBJECT,
    };
    struct json value = json_get(w->place, "const");

    if (w->kind == WANTED_CONST)
        return is_choice(value, text, doc) ? json_text(value) : SPAN("");
    if (w->kind == WANTED_ENUM) {
        JSON_FOREACH(v, json_get(w->place, "enum"))
            if (is_choice(v, text, doc))
                return json_text(v);
        return SPAN("");
    }
    if (w->kind < ARRAY_LEN(types) && doc->n && types[w->kind] >> json_type(json_root(doc)) & 1)
        return json_text(json_root(doc));
    return SPAN("");
}

static bool fits(const struct schema *schema, struct json place, struct span json)
{
    AUTO_JSON struct json_doc doc = { 0 };

    return json_parse(&doc, json, NULL, NULL) == 0 &&
           (!schema || schema_check_at(schema, place, json_root(&doc), NULL) == 0);
}

/* The first kind that fits, strings last, because any text is one. When nothing fits, what comes
 * nearest, so that the error is about that. Nothing is written if only a list is wanted, whose
 * schema is given then. */
static struct json write_wanted(const struct schema *schema, const struct wanted *w,
                                struct span text, struct buf *out)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_BUF struct buf quoted = { 0 };
    struct span nearest = { 0 };
    struct json array = { 0 };
    bool string = false;

    if (json_parse(&doc, text, NULL, NULL) < 0)
        doc.n = 0;
    json_quote(&quoted, text);
    for (size_t i = 0; i < w->n; i++) {
        struct span value = as_kind(&w->list[i], text, &doc);

        if (value.n && fits(schema, w->list[i].place, value)) {
            buf_add_span(out, value);
            return (struct json){ 0 };
        }
        nearest = nearest.n ? nearest : value;
        if (w->list[i].kind == WANTED_ARRAY && json_is(array, JSON_NONE))
            array = w->list[i].place;
        string |= w->list[i].kind == WANTED_STRING;
    }
    if (!json_is(array, JSON_NONE) && !string && !nearest.n)
        return array;
    buf_add_span(out, nearest.n && !string ? nearest : buf_span(&quoted));
    return (struct json){ 0 };
}

/* The same for a schema that may say nothing. */
static struct json write_fitting(const struct schema *schema, struct json place, struct span text,
                                 struct buf *out)
{
    struct wanted w = { 0 };

    if (!json_is(place, JSON_NONE))
        wanted_of(&w, (struct wanted_from){ .schema = schema }, place);
    if (w.n && w.list[0].kind != WANTED_ANY)
        return write_wanted(schema, &w, text, out);
    json_quote(out, text);
    return (struct json){ 0 };
}

/* Where only a list is wanted it is one of this text alone; a schema may want that of each item
 * again, without end. */
void arguments_fit(const struct schema *schema, struct json place, struct span text,
                   struct buf *out)
{
    size_t lists = 0;

    for (;; lists++) {
        struct json array = { 0 };

        if (lists == ARGUMENT_LISTS_MAX)
            json_quote(out, text);
        else
            array = write_fitting(schema, place, text, out);
        if (json_is(array, JSON_NONE))
            break;
        buf_byte(out, '[');
        place = wanted_item((struct wanted_from){ .schema = schema }, array, 0);
    }
    while (lists--)
        buf_byte(out, ']');
}

static bool says_nothing(const struct schema *schema, struct json place)
{
    return json_is(place, JSON_NONE) ||
           wanted_takes((struct wanted_from){ .schema = schema }, place, WANTED_ANY);
}

static void write_value(const struct schema *schema, struct json place, const struct argument *arg,
                        struct buf *out)
{
    AUTO_JSON struct json_doc doc = { 0 };
    bool json =
        arg->kind == ARGUMENT_JSON || (arg->kind == ARGUMENT_WORD && says_nothing(schema, place) &&
                                       json_parse(&doc, arg->text, NULL, NULL) == 0);

    if (json)
        buf_add_span(out, arg->text);
    else
        arguments_fit(schema, place, arg->text, out);
}

/* ---- writing -------------------------------------------------------------------------------- */

static void write_slot(const struct fitting *f, const struct argument_slot *s, struct buf *out);

static void write_list(const struct fitting *f, const struct argument_slot *s, struct buf *out)
{
    struct json_out o = json_out(out);
    size_t i = 0;

    json_begin_array(&o, NULL);
    for (const struct given *g = s->given; g; g = g->next) {
        AUTO_BUF struct buf item = { 0 };

        write_value(f->schema, wanted_item(f->from, s->place, i++), g->argument, &item);
        json_put_raw(&o, NULL, buf_span(&item));
    }
    json_end(&o);
}

/* What must be there and is not, but has a value that is meant then. */
static void write_defaults(const struct fitting *f, const struct argument_slot *s,
                           struct json_out *o)
{
    JSON_FOREACH(name, wanted_word(f->from, s->place, "required")) {
        struct span key = json_str(name, f->arena);
        struct json value = wanted_word(f->from, wanted_member(f->from, s->place, key), "default");

        if (!slot_find(f, s, key) && !json_is(value, JSON_NONE))
            json_put_raw_key(o, key, json_text(value));
    }
}

static void write_object(const struct fitting *f, const struct argument_slot *s, struct buf *out)
{
    struct json_out o = json_out(out);

    json_begin_object(&o, NULL);
    for (const struct argument_slot *c = s->children; c; c = c->next) {
        AUTO_BUF struct buf value = { 0 };

        write_slot(f, c, &value);
        json_put_raw_key(&o, c->key, buf_span(&value));
    }
    write_defaults(f, s, &o);
    json_end(&o);
}

/* Recursion ends at ARGUMENT_DOTS_MAX. */
static void write_slot(const struct fitting *f, const struct argument_slot *s, struct buf *out)
{
    if (s->children || s == &f->root)
        write_object(f, s, out);
    else if (s->given && s->given->next)
        write_list(f, s, out);
    else if (s->given)
        write_value(f->schema, s->place, s->given->argument, out);
    else
        buf_add_span(out, s->raw.n ? s->raw : SPAN("{}"));
}

/* ---- checking ------------------------------------------------------------------------------- */

static int check_missing(struct fitting *f)
{
    AUTO_BUF struct buf names = { 0 };
    size_t n = 0;

    JSON_FOREACH(name, wanted_word(f->from, f->root.place, "required")) {
        struct span key = json_str(name, f->arena);
        struct json place = wanted_member(f->from, f->root.place, key);

        if (slot_find(f, &f->root, key) ||
            !json_is(wanted_word(f->from, place, "default"), JSON_NONE))
            continue;
        buf_printf(&names, "%s'%.*s'", n++ ? ", " : "", SPAN_ARG(key));
    }
    if (!n)
        return 0;
    return fail(f->err, PB_E_INVALID, "%s %s missing", buf_cstr(&names), n == 1 ? "is" : "are");
}

static int check_objects(struct fitting *f)
{
    for (const struct argument_slot *s = f->root.children; s; s = s->next)
        if (check_known(f, &f->root, s->key, false) < 0)
            return -PB_E_INVALID;
    return 0;
}

/* ---- telling what is wrong ------------------------------------------------------------------ */

/* A value that is looked at, with what was given for it and what is wanted of it. */
struct told {
    struct json value, place;
    const struct argument_slot *slot; /* NULL: it lies within what was given */
    bool secret;
};

/* Is any of it from a file? Recursion ends at ARGUMENT_DOTS_MAX. */
static bool is_from_file(const struct argument_slot *s)
{
    for (const struct given *g = s->given; g; g = g->next)
        if (g->argument->from_file)
            return true;
    for (const struct argument_slot *c = s->children; c; c = c->next)
        if (is_from_file(c))
            return true;
    return false;
}

/* Is it, or anything in it, to be seen by nobody? What is too much to look through may be. */
static bool has_secret(struct wanted_from from, struct json place, struct json value)
{
    AUTO_ARENA struct arena a = { 0 };
    size_t i = 0;

    if (json_is(place, JSON_NONE))
        return false;
    if (wanted_is_secret(from, place) || wanted_is_over(from))
        return true;
    JSON_FOREACH(v, value) {
        struct json within = json_is(value, JSON_OBJECT)
                                 ? wanted_member(from, place, json_key_str(v, &a))
                                 : wanted_item(from, place, i++);

        if (has_secret(from, within, v))
            return true;
    }
    return false;
}

/* One step of a path such as schema_check() tells. */
static void read_step(struct span token, struct buf *key)
{
    key->n = 0;
    for (size_t k = 0; k < token.n; k++) {
        if (token.p[k] == '~' && k + 1 < token.n)
            buf_byte(key, "~/"[token.p[++k] == '1']);
        else
            buf_byte(key, token.p[k]);
    }
}

static size_t index_of(struct span digits)
{
    size_t i = 0;

    for (size_t k = 0; k < digits.n; k++)
        i = digits.p[k] >= '0' && digits.p[k] <= '9' ? 10 * i + (size_t)(digits.p[k] - '0')
                                                     : SIZE_MAX / 16;
    return i;
}

static void step_into(const struct fitting *f, struct told *t, struct span key)
{
    bool object = json_is(t->value, JSON_OBJECT);

    t->secret |= wanted_is_secret(f->from, t->place);
    t->secret |= t->slot && t->slot->given && is_from_file(t->slot);
    t->slot = t->slot ? slot_find(f, t->slot, key) : NULL;
    t->place = object ? wanted_member(f->from, t->place, key)
                      : wanted_item(f->from, t->place, index_of(key));
    t->value = object ? json_get_span(t->value, key) : json_item(t->value, index_of(key));
}

static bool may_be_shown(const struct fitting *f, const struct told *t)
{
    int left = TELL_STEPS_MAX;

    return !t->secret && !(t->slot && is_from_file(t->slot)) &&
           !has_secret((struct wanted_from){ f->schema, &left }, t->place, t->value);
}

/* "/a/b: expected …" as "'a.b' is 7: expected …". What cannot be understood stays as it is. */
static int tell_value(struct fitting *f, struct json value, const struct pb_error *why)
{
    struct told t = { .value = value, .place = f->root.place, .slot = &f->root };
    struct span text = span_of(why->msg), rest = text, shown;
    AUTO_BUF struct buf name = { 0 };
    AUTO_BUF struct buf key = { 0 };
    bool cut;

    while (rest.n && rest.p[0] == '/' && !json_is(t.value, JSON_NONE)) {
        size_t n = 1;

        while (n < rest.n && rest.p[n] != '/' && rest.p[n] != ':')
            n++;
        read_step(span_make(rest.p + 1, n - 1), &key);
        step_into(f, &t, buf_span(&key));
        buf_printf(&name, "%s%.*s", name.n ? "." : "", SPAN_ARG(buf_span(&key)));
        rest = span_from(rest, n);
    }
    if (!span_starts(rest, ": ") || json_is(t.value, JSON_NONE))
        return fail(f->err, PB_E_INVALID, "%s", why->msg);
    shown = may_be_shown(f, &t) ? json_text(t.value) : SPAN("***");
    cut = utf8_cut(shown, GIVEN_CHARS).n < shown.n;
    shown = utf8_cut(shown, GIVEN_CHARS);
    return fail(f->err, PB_E_INVALID, "'%.*s' is %.*s%s%.*s", SPAN_ARG(buf_span(&name)),
                SPAN_ARG(shown), cut ? "…" : "", SPAN_ARG(rest));
}

/* A schema that takes too long to check is the server's to check. */
static int check_whole(struct fitting *f, struct span json)
{
    AUTO_JSON struct json_doc doc = { 0 };
    struct pb_error why;
    int rc = json_parse(&doc, json, NULL, f->err);

    if (rc < 0)
        return rc;
    rc = schema_check(f->schema, json_root(&doc), &why);
    return rc == -(int)PB_E_INVALID ? tell_value(f, json_root(&doc), &why) : 0;
}

static int sort_arguments(struct fitting *f, const struct arguments *a)
{
    int rc = 0;

    for (const struct argument *arg = a->first; arg; arg = arg->next)
        if (arg->kind == ARGUMENT_OBJECT)
            slot_spread(f, &f->root, arg->text);
    if (f->schema)
        rc = check_objects(f);
    for (const struct argument *arg = a->first; arg && rc == 0; arg = arg->next)
        if (arg->kind != ARGUMENT_OBJECT)
            rc = put_argument(f, arg);
    if (f->schema && rc == 0)
        rc = check_missing(f);
    return rc;
}

int arguments_write(struct arguments *a, const struct schema *schema, struct buf *out,
                    struct pb_error *err)
{
    struct fitting f = {
        .schema = schema, .from = { .schema = schema }, .arena = &a->arena, .err = err
    };
    int rc;

    if (schema)
        f.root.place = schema_root(schema);
    rc = sort_arguments(&f, a);
    if (rc == 0) {
        write_slot(&f, &f.root, out);
        rc = schema ? check_whole(&f, buf_span(out)) : 0;
    }
    map_done(&f.slots);
    return rc;
}
