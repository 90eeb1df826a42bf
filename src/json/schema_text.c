#include "schema_parts.h"
#include <inttypes.h>
#include <stdio.h>

enum {
    PATH_CHARS = 100, /* of a path; its end is what tells most */
    TOKEN_CHARS = 40, /* of one step of a path, or a name */
    VALUE_CHARS = 60, /* of a value or pattern of the schema */
    LIST_CHARS = 120, /* of the values of an enum */
};

/* ---- Bounded text ------------------------------------------------------------------------ */

void text_addv(struct text *t, const char *fmt, va_list ap)
{
    int n = vsnprintf(t->p + t->n, t->cap - t->n, fmt, ap);

    t->n += n < 0 ? 0 : (size_t)n;
    t->n = t->n < t->cap ? t->n : t->cap - 1;
}

void text_add(struct text *t, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    text_addv(t, fmt, ap);
    va_end(ap);
}

/* The longest start of s that has at most `max` bytes and ends with a whole character. */
static struct span cut_at(struct span s, size_t max)
{
    if (s.n > max) {
        s.n = max;
        while (s.n && ((unsigned char)s.p[s.n] & 0xc0) == 0x80)
            s.n--;
    }
    return s;
}

static void text_cut(struct text *t, struct span s, size_t max)
{
    struct span head = cut_at(s, max);

    text_add(t, "%.*s%s", SPAN_ARG(head), head.n < s.n ? "..." : "");
}

void text_end(struct text *t)
{
    struct span whole = { t->p, t->n };

    if (t->n == t->cap - 1) {
        t->n = cut_at(whole, t->cap - 4).n;
        t->p[t->n] = '\0';
        text_add(t, "...");
    }
    text_make_printable(t->p);
}

/* ---- Paths ------------------------------------------------------------------------------- */

struct step {
    struct json v;
    size_t index;
};

/* The steps from root down to v, which may be a key; returns their number. */
static size_t find_steps(struct json root, struct json v, struct step steps[JSON_DEPTH_MAX])
{
    struct json at = root;
    size_t n = 0;

    while (at.at != v.at && n < JSON_DEPTH_MAX) {
        struct step s = { json_first(at), 0 };

        while (!json_is(s.v, JSON_NONE) && node_of(s.v)->next <= v.at) {
            s.v = json_next(s.v);
            s.index++;
        }
        if (json_is(s.v, JSON_NONE) || s.v.at > v.at) /* v is a key of this object */
            break;
        steps[n++] = s;
        at = s.v;
    }
    return n;
}

static void add_step(struct text *t, const struct step *s)
{
    struct span key = cut_at(json_key(s->v), TOKEN_CHARS);

    if (!(node_of(s->v)->info & NODE_KEYED)) {
        text_add(t, "/%zu", s->index);
        return;
    }
    text_add(t, "/");
    for (size_t i = 0; i < key.n; i++) {
        char c = key.p[i];

        if (c == '~' || c == '/')
            text_add(t, "~%d", c == '/');
        else
            text_add(t, "%c", c);
    }
    if (key.n < json_key(s->v).n)
        text_add(t, "...");
}

static size_t step_length(const struct step *s)
{
    char one[TOKEN_CHARS * 2 + 8];
    struct text t = { one, 0, sizeof one };

    add_step(&t, s);
    return t.n;
}

void text_path(struct text *t, struct json root, struct json v, const char *name)
{
    struct step steps[JSON_DEPTH_MAX];
    size_t n = find_steps(root, v, steps), from = n, length = 0;

    while (from > 0 && (length += step_length(&steps[from - 1])) <= PATH_CHARS)
        from--;
    if (n == 0)
        text_add(t, "%s", name);
    if (from > 0)
        text_add(t, "...");
    for (; from < n; from++)
        add_step(t, &steps[from]);
    if (node_of(v)->info & NODE_NAME) {
        text_add(t, ": property name \"");
        text_cut(t, node_inside(v.doc, node_of(v)), TOKEN_CHARS);
        text_add(t, "\"");
    }
}

/* ---- What each keyword says -------------------------------------------------------------- */

void say_false(struct text *t, const struct failure *f)
{
    (void)f;
    text_add(t, "not allowed here");
}

void say_type(struct text *t, const struct failure *f)
{
    static const struct {
        uint32_t bits;
        const char *phrase;
    } types[] = {
        { TYPE_INTEGER, "an integer" }, { TYPE(NUMBER), "a number" }, { TYPE(STRING), "a string" },
        { TYPE(TRUE), "a boolean" },    { TYPE(ARRAY), "an array" },  { TYPE(OBJECT), "an object" },
        { TYPE(NULL), "null" },
    };
    uint32_t left = f->k->types & ~TYPE(FALSE);

    text_add(t, "expected ");
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        if (!(left & types[i].bits))
            continue;
        text_add(t, "%s", types[i].phrase);
        left &= ~types[i].bits;
        text_add(t, "%s", !left ? "" : left & (left - 1) ? ", " : " or ");
    }
    if (f->got == JSON_NUMBER)
        text_add(t, ", got %s", f->k->types & TYPE_INTEGER ? "a fraction" : "a number");
    else
        text_add(t, ", got %s", json_type_phrase(f->where));
}

void say_const(struct text *t, const struct failure *f)
{
    text_add(t, "expected ");
    text_cut(t, json_text(f->k->value), VALUE_CHARS);
}

void say_enum(struct text *t, const struct failure *f)
{
    size_t start = t->n;

    text_add(t, "expected one of ");
    JSON_FOREACH(item, f->k->value) {
        if (t->n - start > LIST_CHARS) {
            text_add(t, "...");
            break;
        }
        text_cut(t, json_text(item), VALUE_CHARS);
        text_add(t, "%s", json_is(json_next(item), JSON_NONE) ? "" : ", ");
    }
}

static void say_bound(struct text *t, const char *what, const struct failure *f)
{
    text_add(t, "expected %s ", what);
    text_cut(t, json_text(f->k->value), VALUE_CHARS);
}

void say_minimum(struct text *t, const struct failure *f) { say_bound(t, "at least", f); }

void say_maximum(struct text *t, const struct failure *f) { say_bound(t, "at most", f); }

void say_exclusive_minimum(struct text *t, const struct failure *f)
{
    say_bound(t, "more than", f);
}

void say_exclusive_maximum(struct text *t, const struct failure *f)
{
    say_bound(t, "less than", f);
}

void say_multiple_of(struct text *t, const struct failure *f) { say_bound(t, "a multiple of", f); }

static void say_size(struct text *t, const struct failure *f, const char *how, const char *one,
                     const char *many)
{
    text_add(t, "expected %s %" PRIu64 " %s, got %" PRIu64, how, f->k->count,
             f->k->count == 1 ? one : many, f->got);
}

void say_min_length(struct text *t, const struct failure *f)
{
    say_size(t, f, "at least", "character", "characters");
}

void say_max_length(struct text *t, const struct failure *f)
{
    say_size(t, f, "at most", "character", "characters");
}

void say_min_items(struct text *t, const struct failure *f)
{
    say_size(t, f, "at least", "item", "items");
}

void say_max_items(struct text *t, const struct failure *f)
{
    say_size(t, f, "at most", "item", "items");
}

void say_min_properties(struct text *t, const struct failure *f)
{
    say_size(t, f, "at least", "property", "properties");
}

void say_max_properties(struct text *t, const struct failure *f)
{
    say_size(t, f, "at most", "property", "properties");
}

void say_pattern(struct text *t, const struct failure *f)
{
    text_add(t, "does not match the pattern ");
    text_cut(t, pattern_text(f->k->pattern), VALUE_CHARS);
}

void say_required(struct text *t, const struct failure *f)
{
    text_add(t, "required property \"");
    text_cut(t, f->k->names.list[f->got].key, TOKEN_CHARS);
    text_add(t, "\" is missing");
}

void say_dependent(struct text *t, const struct failure *f)
{
    const struct name *trigger = &f->k->depends->triggers.list[f->got];

    text_add(t, "property \"");
    text_cut(t, f->k->depends->required[trigger->order].list[f->also].key, TOKEN_CHARS);
    text_add(t, "\" is required beside \"");
    text_cut(t, trigger->key, TOKEN_CHARS);
    text_add(t, "\"");
}

void say_members(struct text *t, const struct failure *f)
{
    (void)f;
    text_add(t, "unknown property");
}

void say_elements(struct text *t, const struct failure *f)
{
    (void)f;
    text_add(t, "one item too many");
}

void say_unique_items(struct text *t, const struct failure *f)
{
    text_add(t, "items %" PRIu64 " and %" PRIu64 " are equal", f->got, f->also);
}

void say_contains(struct text *t, const struct failure *f)
{
    const struct contains *x = f->k->contains;
    bool few = f->got < x->min;
    uint64_t n = few ? x->min : x->max;

    text_add(t, "expected at %s %" PRIu64 " %s as `contains` says, got %" PRIu64,
             few ? "least" : "most", n, n == 1 ? "item" : "items", f->got);
}

void say_any_of(struct text *t, const struct failure *f)
{
    text_add(t, "matches none of the %" PRIu32 " alternatives of %s", f->k->subs.n,
             f->k->row->name);
}

void say_one_of(struct text *t, const struct failure *f)
{
    if (f->got == 0)
        say_any_of(t, f);
    else
        text_add(t, "matches alternatives %" PRIu64 " and %" PRIu64 " of oneOf, expected only one",
                 f->got, f->also);
}

void say_not(struct text *t, const struct failure *f)
{
    (void)f;
    text_add(t, "matches what `not` excludes");
}

/* ---- The whole message ------------------------------------------------------------------- */

static void tell_failure(struct text *t, struct json root, const struct failure *f)
{
    text_path(t, root, f->where, "value");
    text_add(t, ": ");
    f->k->row->say(t, f);
}

static void tell_limit(struct text *t, struct json root, const struct check *c)
{
    text_path(t, root, c->limit_at, "value");
    if (c->limit == CHECK_DEPTH)
        text_add(t, ": the schema leads more than %d schemas deep", JSON_SCHEMA_DEPTH_MAX);
    else if (c->limit == CHECK_STEPS)
        text_add(t, ": checking took more than %d steps", JSON_SCHEMA_STEPS_MAX);
    else
        text_add(t, ": matching a pattern took more than %d steps", JSON_PATTERN_STEPS_MAX);
}

int check_tell(const struct check *c, struct json root, struct pb_error *err)
{
    enum pb_code code = c->limit ? PB_E_LIMIT : PB_E_INVALID;
    char msg[sizeof err->msg];
    struct text t = { msg, 0, sizeof msg };
    enum rank rank;

    if (!err)
        return -(int)code;
    if (c->limit) {
        tell_limit(&t, root, c);
    } else {
        tell_failure(&t, root, &c->why);
        rank = c->why.k->row->rank;
        if ((rank == RANK_ANY_OF || rank == RANK_ONE_OF) && c->why.got == 0) {
            text_add(&t, " (first: ");
            tell_failure(&t, root, &c->first);
            text_add(&t, ")");
        }
    }
    text_end(&t);
    return fail(err, code, "%s", msg);
}
