#include "example.h"
#include "arguments.h"
#include <math.h>

enum {
    EXAMPLE_DEPTH = 7, /* lists and objects in each other */
    EXAMPLE_ITEMS = 8, /* of a list, and bytes of a text, that must have more: no example */
    EXAMPLE_TEXT = 64,
    EXAMPLE_WORDS = 32,
};

/* ---- values --------------------------------------------------------------------------------- */

static bool number_of(struct json place, const char *keyword, double *out)
{
    return json_double(json_get(place, keyword), out, NULL) == 0;
}

/* Within its bounds, 1 if that is, on a multiple if one is wanted. */
static void write_number(struct buf *out, struct json place, bool whole)
{
    struct json_out o = json_out(out);
    double v = 1, bound, step = whole ? 1 : 0.5;

    if (number_of(place, "minimum", &bound) && v < bound)
        v = whole ? ceil(bound) : bound;
    if (number_of(place, "exclusiveMinimum", &bound) && v <= bound)
        v = whole ? floor(bound) + 1 : bound + step;
    if (number_of(place, "maximum", &bound) && v > bound)
        v = whole ? floor(bound) : bound;
    if (number_of(place, "exclusiveMaximum", &bound) && v >= bound)
        v = whole ? ceil(bound) - 1 : bound - step;
    if (number_of(place, "multipleOf", &bound) && bound > 0)
        v = ceil(v / bound) * bound;
    json_put_double(&o, NULL, v);
}

static void write_string(struct buf *out, struct json place)
{
    /* clang-format off */
    static const struct {
        const char *format, *text;
    } rows[] = {
        { "date",         "2026-01-31" },
        { "date-time",    "2026-01-31T12:00:00Z" },
        { "duration",     "PT1H" },
        { "email",        "somebody@example.org" },
        { "hostname",     "example.org" },
        { "ipv4",         "192.0.2.1" },
        { "ipv6",         "2001:db8::1" },
        { "time",         "12:00:00Z" },
        { "uri",          "https://example.org/" },
        { "url",          "https://example.org/" },
        { "uri-reference", "/path" },
        { "uuid",         "00000000-0000-4000-8000-000000000000" },
    };
    /* clang-format on */
    const char *text = "text";
    AUTO_BUF struct buf long_enough = { 0 };
    uint64_t least = 0, most = EXAMPLE_TEXT;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (json_str_is(json_get(place, "format"), rows[i].format))
            text = rows[i].text;
    if (json_uint(json_get(place, "minLength"), &least, NULL) < 0 || least > EXAMPLE_TEXT)
        least = 0; /* the check will tell */
    if (json_uint(json_get(place, "maxLength"), &most, NULL) < 0)
        most = EXAMPLE_TEXT;
    buf_str(&long_enough, text);
    while (long_enough.n < least)
        buf_byte(&long_enough, 'x');
    if (long_enough.n > most)
        long_enough.n = (size_t)most;
    json_quote(out, buf_span(&long_enough));
}

static void write_guess(struct buf *out, struct wanted_from from, struct json place, int depth);

static void write_items(struct buf *out, struct wanted_from from, struct json place, int depth)
{
    struct json_out o = json_out(out);
    uint64_t n = 1;

    if (json_uint(json_get(place, "minItems"), &n, NULL) < 0)
        n = 1;
    json_begin_array(&o, NULL);
    for (uint64_t i = 0; i < n && i < EXAMPLE_ITEMS && !wanted_is_over(from); i++) {
        AUTO_BUF struct buf item = { 0 };

        write_guess(&item, from, wanted_item(from, place, i), depth + 1);
        json_put_raw(&o, NULL, buf_span(&item));
    }
    json_end(&o);
}

struct guessing {
    struct wanted_from from;
    struct json place;
    struct json_out *o;
    int depth;
};

static void write_member(void *ctx, struct span key, struct json place)
{
    struct guessing *g = ctx;
    AUTO_BUF struct buf value = { 0 };

    if (wanted_is_over(g->from) || !wanted_requires(g->from, g->place, key))
        return;
    write_guess(&value, g->from, place, g->depth + 1);
    json_put_raw_key(g->o, key, buf_span(&value));
}

static void write_object(struct buf *out, struct wanted_from from, struct json place, int depth)
{
    AUTO_ARENA struct arena a = { 0 };
    struct json_out o = json_out(out);
    struct guessing g = { from, place, &o, depth };

    json_begin_object(&o, NULL);
    wanted_members(from, place, write_member, &g, &a);
    json_end(&o);
}

static void write_kind(struct buf *out, struct wanted_from from, const struct wanted_one *w,
                       int depth)
{
    switch (w->kind) {
    case WANTED_CONST:
        buf_add_span(out, json_text(json_get(w->place, "const")));
        break;
    case WANTED_ENUM:
        buf_add_span(out, json_text(json_first(json_get(w->place, "enum"))));
        break;
    case WANTED_NULL:
        buf_str(out, "null");
        break;
    case WANTED_BOOLEAN:
        buf_str(out, "true");
        break;
    case WANTED_INTEGER:
    case WANTED_NUMBER:
        write_number(out, w->place, w->kind == WANTED_INTEGER);
        break;
    case WANTED_ARRAY:
        write_items(out, from, w->place, depth);
        break;
    case WANTED_OBJECT:
        write_object(out, from, w->place, depth);
        break;
    case WANTED_STRING:
    case WANTED_ANY:
        write_string(out, w->place);
        break;
    }
}

/* What the server itself gives as an example or default, or else something of the first kind. What
 * lies too deep is nothing: whether that will do the check tells. */
static void write_guess(struct buf *out, struct wanted_from from, struct json place, int depth)
{
    struct json example = json_first(wanted_word(from, place, "examples"));
    struct json value = wanted_word(from, place, "default");
    struct wanted w;

    if (depth > EXAMPLE_DEPTH || wanted_is_over(from)) {
        buf_str(out, "null");
    } else if (!json_is(example, JSON_NONE) || !json_is(value, JSON_NONE)) {
        buf_add_span(out, json_text(json_is(example, JSON_NONE) ? value : example));
    } else {
        wanted_of(&w, from, place);
        write_kind(out, from, &w.list[0], depth);
    }
    wanted_told(from, out->n);
}

/* ---- words ---------------------------------------------------------------------------------- */

static bool is_plain(struct span s, const char *also)
{
    for (size_t i = 0; i < s.n; i++)
        if (!((s.p[i] | 0x20) >= 'a' && (s.p[i] | 0x20) <= 'z') &&
            !(s.p[i] >= '0' && s.p[i] <= '9') && !strchr(also, s.p[i]))
            return false;
    return s.n && memchr(s.p, '\0', s.n) == NULL;
}

void example_word(struct buf *out, struct span word)
{
    if (is_plain(word, "-_./:=@%+,")) {
        buf_add_span(out, word);
        return;
    }
    buf_byte(out, '\'');
    for (size_t i = 0; i < word.n; i++)
        if (word.p[i] == '\'')
            buf_str(out, "'\\''");
        else
            buf_byte(out, word.p[i]);
    buf_byte(out, '\'');
}

/* As a person would write it; what could be read as something else as JSON. */
static char *member_word(struct json member, struct arena *a)
{
    struct span key = json_key_str(member, a), text = json_str(member, a);
    AUTO_JSON struct json_doc doc = { 0 };
    bool plain = json_is(member, JSON_STRING)
                     ? text.n && text.p[0] != '@' && json_parse(&doc, text, NULL, NULL) < 0
                     : !json_is(member, JSON_ARRAY) && !json_is(member, JSON_OBJECT);

    if (!plain || !json_is(member, JSON_STRING))
        text = json_text(member);
    return arena_printf(a, "%.*s%s%.*s", SPAN_ARG(key), plain ? "=" : ":=", SPAN_ARG(text));
}

static int words_of(struct json object, char *words[static EXAMPLE_WORDS], struct arena *a)
{
    bool plain = json_len(object) <= EXAMPLE_WORDS;
    int n = 0;

    JSON_FOREACH(m, object)
        plain &= is_plain(json_key_str(m, a), "-_") && json_key_str(m, a).p[0] != '-';
    if (!plain) {
        words[n++] = arena_dup(a, json_text(object));
        return n;
    }
    JSON_FOREACH(m, object)
        words[n++] = member_word(m, a);
    return n;
}

/* Read again as the verb "call" would, by the same schema: does it come out as it was meant? */
static bool works(const struct definition *d, char *const *words, int n, struct json meant)
{
    AUTO_ARGUMENTS struct arguments read = { 0 };
    AUTO_BUF struct buf json = { 0 };
    AUTO_JSON struct json_doc doc = { 0 };

    return arguments_read(&read, words, n, false, NULL) == 0 &&
           arguments_write(&read, d->schema, &json, NULL) == 0 &&
           json_parse(&doc, buf_span(&json), NULL, NULL) == 0 && json_equal(meant, json_root(&doc));
}

/* What a terminal would show as something else cannot be pasted. */
static bool is_visible(struct span line)
{
    AUTO_FREE char *copy = mem_dupn(line.p, line.n);

    text_make_printable(copy);
    return memcmp(copy, line.p, line.n) == 0;
}

bool example_write(struct buf *out, const struct definition *d, const struct example_call *call)
{
    struct wanted_from from = { d->schema, call->left };
    AUTO_ARENA struct arena a = { 0 };
    AUTO_BUF struct buf json = { 0 };
    AUTO_JSON struct json_doc doc = { 0 };
    char *words[EXAMPLE_WORDS];
    int n;

    write_object(&json, from, d->input, 0);
    if (wanted_is_over(from) || json_parse(&doc, buf_span(&json), NULL, NULL) < 0)
        return false;
    n = words_of(json_root(&doc), words, &a);
    if (!works(d, words, n, json_root(&doc)))
        return false;
    buf_str(out, "patchbay call ");
    example_word(out, span_of(call->tool));
    for (int i = 0; i < n; i++) {
        buf_byte(out, ' ');
        example_word(out, span_of(words[i]));
    }
    buf_str(out, call->after);
    return is_visible(buf_span(out));
}
