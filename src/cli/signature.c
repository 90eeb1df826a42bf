#include "signature.h"

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

/* ---- types ---------------------------------------------------------------------------------- */

/* The alternatives of one type, each told once, however often schemas with different bounds say
 * it. */
struct typing {
    struct buf *out;
    struct wanted_from from;
    int depth;
    struct map told;
};

static void add_once(struct typing *t, struct span type)
{
    bool first = !t->told.n;

    if (map_put(&t->told, type, t))
        return;
    buf_str(t->out, first ? "" : " | ");
    buf_add_span(t->out, type);
}

static void add_value(struct typing *t, struct json value)
{
    AUTO_BUF struct buf text = { 0 };

    add_printable(&text, json_text(value), TYPE_VALUE_CHARS);
    add_once(t, buf_span(&text));
}

static void add_choices(struct typing *t, struct json values)
{
    size_t n = 0;

    JSON_FOREACH(v, values) {
        if (n++ == SIGNATURE_CHOICES) {
            add_once(t, SPAN("…"));
            return;
        }
        add_value(t, v);
    }
}

static void write_type(struct buf *out, struct wanted_from from, struct json place, int depth);

/* A list whose items each have a schema of their own. */
static void write_tuple(struct buf *out, struct wanted_from from, struct json first, int depth)
{
    size_t n = 0;

    buf_byte(out, '[');
    JSON_FOREACH(item, first) {
        buf_str(out, n ? ", " : "");
        if (n++ == SIGNATURE_CHOICES) {
            buf_str(out, "…");
            break;
        }
        write_type(out, from, item, depth + 1);
    }
    buf_byte(out, ']');
}

static void write_list(struct buf *out, struct wanted_from from, struct json place, int depth)
{
    struct json item = wanted_item(from, place, 0);
    struct json first = wanted_word(from, place, "prefixItems");
    AUTO_BUF struct buf type = { 0 };

    if (json_is(item, JSON_NONE) || depth == TYPE_DEPTH) {
        buf_str(out, "array");
        return;
    }
    if (json_is(first, JSON_ARRAY)) {
        write_tuple(out, from, first, depth);
        return;
    }
    write_type(&type, from, item, depth + 1);
    buf_printf(out, memmem(type.p, type.n, " | ", 3) ? "(%s)[]" : "%s[]", buf_cstr(&type));
}

static void add_kind(struct typing *t, const struct wanted_one *w)
{
    static const char *const names[] = {
        [WANTED_ANY] = "any",         [WANTED_NULL] = "null",     [WANTED_BOOLEAN] = "boolean",
        [WANTED_INTEGER] = "integer", [WANTED_NUMBER] = "number", [WANTED_STRING] = "string",
        [WANTED_OBJECT] = "object",
    };
    AUTO_BUF struct buf list = { 0 };

    if (w->kind == WANTED_CONST) {
        add_value(t, json_get(w->place, "const"));
    } else if (w->kind == WANTED_ENUM) {
        add_choices(t, json_get(w->place, "enum"));
    } else if (w->kind == WANTED_ARRAY) {
        write_list(&list, t->from, w->place, t->depth);
        add_once(t, buf_span(&list));
    } else {
        add_once(t, span_of(names[w->kind]));
    }
}

static void write_type(struct buf *out, struct wanted_from from, struct json place, int depth)
{
    struct typing t = { .out = out, .from = from, .depth = depth };
    struct wanted w;

    wanted_of(&w, from, place);
    for (size_t i = 0; i < w.n && !wanted_is_over(from); i++)
        add_kind(&t, &w.list[i]);
    if (w.more || wanted_is_over(from))
        add_once(&t, SPAN("…"));
    map_done(&t.told);
}

void signature_type(struct buf *out, struct wanted_from from, struct json place)
{
    write_type(out, from, place, 0);
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

void signature_bounds(struct buf *out, struct wanted_from from, struct json place)
{
    struct wanted w;

    wanted_of(&w, from, place);
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
    struct wanted_from from;
    struct json place;
    bool required; /* those come first, as they do in a call */
    size_t n;
};

static void add_parameter(void *ctx, struct span key, struct json place)
{
    struct signing *s = ctx;
    struct json value = wanted_word(s->from, place, "default");

    if (wanted_is_over(s->from))
        return;
    if (wanted_requires(s->from, s->place, key) != s->required)
        return;
    buf_str(s->out, s->n++ ? ", " : "");
    add_printable(s->out, key, TYPE_VALUE_CHARS);
    buf_str(s->out, s->required ? ": " : "?: ");
    write_type(s->out, s->from, place, 0);
    if (json_is(value, JSON_NONE))
        return;
    buf_str(s->out, " = ");
    add_printable(s->out, json_text(value), TYPE_VALUE_CHARS);
}

void signature_write(struct buf *out, const char *tool, struct wanted_from from, struct json place)
{
    AUTO_ARENA struct arena a = { 0 };
    struct signing s = { .out = out, .from = from, .place = place, .required = true };

    add_printable(out, span_of(tool), SIZE_MAX);
    buf_byte(out, '(');
    wanted_members(from, place, add_parameter, &s, &a);
    s.required = false;
    wanted_members(from, place, add_parameter, &s, &a);
    if (wanted_is_over(from))
        buf_str(out, s.n ? ", …" : "…");
    buf_byte(out, ')');
}
