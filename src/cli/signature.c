#include "signature.h"
#include "wanted.h"

enum {
    TYPE_DEPTH = 4, /* lists of lists */
    TYPE_VALUE_CHARS = 40,
};

static void add_printable(struct buf *out, struct span text, size_t max)
{
    struct span head = utf8_cut(text, max);
    AUTO_FREE char *copy = mem_dupn(head.p, head.n);

    text_make_printable(copy);
    buf_str(out, copy);
    if (head.n < text.n)
        buf_str(out, "…");
}

static void add_choices(struct buf *out, struct json values)
{
    size_t n = 0;

    JSON_FOREACH(v, values) {
        buf_str(out, n ? " | " : "");
        if (n++ == SIGNATURE_CHOICES) {
            buf_str(out, "…");
            return;
        }
        add_printable(out, json_text(v), TYPE_VALUE_CHARS);
    }
}

static void write_type(struct buf *out, const struct schema *schema, struct json place, int depth);

/* A list whose items each have a schema of their own. */
static void add_tuple(struct buf *out, const struct schema *schema, struct json first, int depth)
{
    size_t n = 0;

    buf_byte(out, '[');
    JSON_FOREACH(item, first) {
        buf_str(out, n ? ", " : "");
        if (n++ == SIGNATURE_CHOICES) {
            buf_str(out, "…");
            break;
        }
        write_type(out, schema, item, depth + 1);
    }
    buf_byte(out, ']');
}

static void add_list(struct buf *out, const struct schema *schema, struct json place, int depth)
{
    struct json item = wanted_item(schema, place, 0);
    struct json first = wanted_word(schema, place, "prefixItems");
    AUTO_BUF struct buf type = { 0 };

    if (json_is(item, JSON_NONE) || depth == TYPE_DEPTH) {
        buf_str(out, "array");
        return;
    }
    if (json_is(first, JSON_ARRAY)) {
        add_tuple(out, schema, first, depth);
        return;
    }
    write_type(&type, schema, item, depth + 1);
    buf_printf(out, memmem(type.p, type.n, " | ", 3) ? "(%s)[]" : "%s[]", buf_cstr(&type));
}

static void add_kind(struct buf *out, const struct schema *schema, const struct wanted_one *w,
                     int depth)
{
    static const char *const names[] = {
        [WANTED_ANY] = "any",         [WANTED_NULL] = "null",     [WANTED_BOOLEAN] = "boolean",
        [WANTED_INTEGER] = "integer", [WANTED_NUMBER] = "number", [WANTED_STRING] = "string",
        [WANTED_OBJECT] = "object",
    };

    if (w->kind == WANTED_CONST)
        add_printable(out, json_text(json_get(w->place, "const")), TYPE_VALUE_CHARS);
    else if (w->kind == WANTED_ENUM)
        add_choices(out, json_get(w->place, "enum"));
    else if (w->kind == WANTED_ARRAY)
        add_list(out, schema, w->place, depth);
    else
        buf_str(out, names[w->kind]);
}

/* The same kind twice, as alternatives with different bounds are, is told once. */
static void write_type(struct buf *out, const struct schema *schema, struct json place, int depth)
{
    AUTO_BUF struct buf one = { 0 };
    struct wanted w;
    size_t start = out->n;

    wanted_of(&w, schema, place);
    for (size_t i = 0; i < w.n; i++) {
        one.n = 0;
        add_kind(&one, schema, &w.list[i], depth);
        if (span_has(span_make(out->p + start, out->n - start), buf_span(&one)))
            continue;
        buf_str(out, out->n > start ? " | " : "");
        buf_add_span(out, buf_span(&one));
    }
    buf_str(out, w.more ? " | …" : "");
}

void signature_type(struct buf *out, const struct schema *schema, struct json place)
{
    write_type(out, schema, place, 0);
}

/* ---- bounds --------------------------------------------------------------------------------- */

static void add_range(struct buf *out, struct json low, struct json high, const char *unit)
{
    if (!json_is(low, JSON_NONE) && !json_is(high, JSON_NONE))
        buf_printf(out, ", %.*s to %.*s%s", SPAN_ARG(json_text(low)), SPAN_ARG(json_text(high)),
                   unit);
    else if (!json_is(low, JSON_NONE))
        buf_printf(out, ", at least %.*s%s", SPAN_ARG(json_text(low)), unit);
    else if (!json_is(high, JSON_NONE))
        buf_printf(out, ", at most %.*s%s", SPAN_ARG(json_text(high)), unit);
}

static void add_word(struct buf *out, const char *before, struct json word)
{
    if (!json_is(word, JSON_NONE))
        buf_printf(out, ", %s%.*s", before, SPAN_ARG(json_text(word)));
}

void signature_bounds(struct buf *out, const struct schema *schema, struct json place)
{
    struct wanted w;

    wanted_of(&w, schema, place);
    for (size_t i = 0; i < w.n; i++) {
        struct json p = w.list[i].place;
        struct json format = json_get(p, "format");

        add_range(out, json_get(p, "minimum"), json_get(p, "maximum"), "");
        add_word(out, "more than ", json_get(p, "exclusiveMinimum"));
        add_word(out, "less than ", json_get(p, "exclusiveMaximum"));
        add_word(out, "a multiple of ", json_get(p, "multipleOf"));
        add_range(out, json_get(p, "minLength"), json_get(p, "maxLength"), " characters");
        add_range(out, json_get(p, "minItems"), json_get(p, "maxItems"), " items");
        add_word(out, "matches ", json_get(p, "pattern"));
        if (json_is(format, JSON_STRING))
            add_word(out, "format ", format);
    }
}

/* ---- the line ------------------------------------------------------------------------------- */

struct signing {
    struct buf *out;
    const struct schema *schema;
    struct json place;
    bool required; /* those come first, as they do in a call */
    size_t n;
};

static void add_parameter(void *ctx, struct span key, struct json place)
{
    struct signing *s = ctx;
    struct json value = wanted_word(s->schema, place, "default");

    if (wanted_requires(s->schema, s->place, key) != s->required)
        return;
    buf_str(s->out, s->n++ ? ", " : "");
    add_printable(s->out, key, TYPE_VALUE_CHARS);
    buf_str(s->out, s->required ? ": " : "?: ");
    write_type(s->out, s->schema, place, 0);
    if (json_is(value, JSON_NONE))
        return;
    buf_str(s->out, " = ");
    add_printable(s->out, json_text(value), TYPE_VALUE_CHARS);
}

void signature_write(struct buf *out, const char *tool, const struct schema *schema,
                     struct json place)
{
    AUTO_ARENA struct arena a = { 0 };
    struct signing s = { .out = out, .schema = schema, .place = place, .required = true };

    add_printable(out, span_of(tool), SIZE_MAX);
    buf_byte(out, '(');
    wanted_members(schema, place, add_parameter, &s, &a);
    s.required = false;
    wanted_members(schema, place, add_parameter, &s, &a);
    buf_byte(out, ')');
}
