#include "uri_template.h"

enum part_kind { PART_LITERAL, PART_VALUE, PART_RESERVED, PART_SEGMENT, PART_SEGMENTS, PART_QUERY };

struct part {
    enum part_kind kind;
    struct span text; /* literal, or name; PART_QUERY: one of its names */
};

struct uri_template {
    struct arena arena;
    struct part parts[MCP_TEMPLATE_PARTS_MAX];
    size_t n; /* matched in order; query names follow */
    size_t n_query;
};

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '-';
}

static int add_part(struct uri_template *t, enum part_kind kind, struct span text,
                    struct pb_error *err)
{
    if (t->n + t->n_query == MCP_TEMPLATE_PARTS_MAX)
        return fail(err, PB_E_LIMIT, "a URI template has at most %d parts", MCP_TEMPLATE_PARTS_MAX);
    t->parts[t->n + t->n_query] = (struct part){ kind, text };
    if (kind == PART_QUERY)
        t->n_query++;
    else
        t->n++;
    return 0;
}

static int check_name(struct span name, struct pb_error *err)
{
    if (name.n == 0)
        return fail(err, PB_E_INVALID, "a URI template variable without a name");
    if (name.p[0] == '.') /* an operator that we do not know */
        return fail(err, PB_E_INVALID, "{.x} in a URI template is not understood");
    for (size_t i = 0; i < name.n; i++)
        if (!is_name_char(name.p[i]))
            return fail(err, PB_E_INVALID, "URI template variable '%.*s' is not understood",
                        SPAN_ARG(name));
    return 0;
}

/* What stands between the braces. */
static int add_expression(struct uri_template *t, struct span inside, struct pb_error *err)
{
    enum part_kind kind = PART_VALUE;
    const char *comma;

    if (inside.n && (inside.p[0] == '+' || inside.p[0] == '/' || inside.p[0] == '?')) {
        kind = inside.p[0] == '+' ? PART_RESERVED : inside.p[0] == '/' ? PART_SEGMENT : PART_QUERY;
        inside = span_from(inside, 1);
    }
    do {
        struct span name = inside;
        enum part_kind this = kind;

        comma = memchr(inside.p, ',', inside.n);
        if (comma) {
            name.n = (size_t)(comma - inside.p);
            inside = span_from(inside, name.n + 1);
            if (kind != PART_SEGMENT && kind != PART_QUERY)
                return fail(err, PB_E_INVALID, "{x,y} in a URI template is not understood");
        }
        if (name.n && name.p[name.n - 1] == '*' && kind == PART_SEGMENT) {
            this = PART_SEGMENTS;
            name.n--;
        }
        if (check_name(name, err) < 0 || add_part(t, this, name, err) < 0)
            return -(int)err->code;
    } while (comma);
    return 0;
}

static int parse(struct uri_template *t, struct span text, struct pb_error *err)
{
    while (text.n) {
        const char *open = memchr(text.p, '{', text.n), *close;
        size_t literal = open ? (size_t)(open - text.p) : text.n;

        if (t->n_query)
            return fail(err, PB_E_INVALID, "{?...} must end a URI template");
        if (memchr(text.p, '}', literal))
            return fail(err, PB_E_INVALID, "'}' without '{' in a URI template");
        if (literal && add_part(t, PART_LITERAL, span_make(text.p, literal), err) < 0)
            return -(int)err->code;
        text = span_from(text, literal);
        if (!open)
            break;
        close = memchr(text.p, '}', text.n);
        if (!close)
            return fail(err, PB_E_INVALID, "'{' without '}' in a URI template");
        if (add_expression(t, span_make(text.p + 1, (size_t)(close - text.p) - 1), err) < 0)
            return -(int)err->code;
        text = span_from(text, (size_t)(close - text.p) + 1);
    }
    return 0;
}

static int check_names(const struct uri_template *t, struct pb_error *err)
{
    for (size_t i = 0; i < t->n + t->n_query; i++)
        for (size_t k = 0; k < i; k++)
            if (t->parts[i].kind != PART_LITERAL && t->parts[k].kind != PART_LITERAL &&
                span_eq(t->parts[i].text, t->parts[k].text))
                return fail(err, PB_E_INVALID, "URI template variable '%.*s' is there twice",
                            SPAN_ARG(t->parts[i].text));
    return 0;
}

int uri_template_new(struct uri_template **out, struct span text, struct pb_error *err)
{
    AUTO(uri_template) struct uri_template *t = NULL;
    struct pb_error why;

    if (text.n > MCP_URI_BYTES_MAX)
        return fail(err, PB_E_LIMIT, "a URI template has at most %d bytes", MCP_URI_BYTES_MAX);
    t = NEW(struct uri_template);
    text.p = arena_dup(&t->arena, text);
    if (parse(t, text, &why) < 0 || check_names(t, &why) < 0)
        return fail_copy(err, &why);
    *out = TAKE(t);
    return 0;
}

void uri_template_free(struct uri_template *t)
{
    if (!t)
        return;
    arena_done(&t->arena);
    free(t);
}

bool uri_template_has(const struct uri_template *t, struct span name)
{
    for (size_t i = 0; i < t->n + t->n_query; i++)
        if (t->parts[i].kind != PART_LITERAL && span_eq(t->parts[i].text, name))
            return true;
    return false;
}

/* May the value of such a part hold this character? */
static bool takes(const struct uri_template *t, enum part_kind kind, char c)
{
    if (c == '?')
        return kind == PART_RESERVED && !t->n_query;
    if (kind == PART_RESERVED)
        return true;
    return c != '#' && (c != '/' || kind == PART_SEGMENTS);
}

/* row[i]: the parts from this one on can match the text from i on; `next` is the same for the parts
 * behind it. Filled from the right, so that each cell is looked at once. */
static void fill_row(const struct uri_template *t, const struct part *part, struct span uri,
                     const uint8_t *next, uint8_t *row)
{
    bool more = false; /* a value that begins at i + 1 would do */

    row[uri.n] = 0;
    for (size_t i = uri.n; i-- > 0;) {
        if (part->kind == PART_LITERAL) {
            row[i] = uri.n - i >= part->text.n && next[i + part->text.n] &&
                     memcmp(uri.p + i, part->text.p, part->text.n) == 0;
            continue;
        }
        if (part->kind == PART_SEGMENT || part->kind == PART_SEGMENTS)
            row[i] = uri.p[i] == '/' && more;
        more = takes(t, part->kind, uri.p[i]) && (next[i + 1] || more);
        if (part->kind == PART_VALUE || part->kind == PART_RESERVED)
            row[i] = more;
    }
}

/* The value of a hexadecimal digit, or -1. */
static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool percent_decode(struct span s, struct buf *out)
{
    for (size_t i = 0; i < s.n; i++) {
        int high, low;

        if (s.p[i] != '%') {
            buf_byte(out, s.p[i]);
            continue;
        }
        if (s.n - i < 3)
            return false;
        high = digit(s.p[i + 1]);
        low = digit(s.p[i + 2]);
        if (high < 0 || low < 0)
            return false;
        buf_byte(out, (char)(high << 4 | low));
        i += 2;
    }
    return true;
}

static bool put_value(struct json_out *o, struct span name, struct span raw)
{
    AUTO_BUF struct buf value = { 0 }, quoted = { 0 };

    if (!percent_decode(raw, &value) || !utf8_valid(buf_span(&value)) ||
        (value.n && memchr(value.p, '\0', value.n)))
        return false;
    json_quote(&quoted, buf_span(&value));
    json_put_raw_key(o, name, buf_span(&quoted));
    return true;
}

static bool put_query(const struct uri_template *t, struct span query, struct json_out *o)
{
    bool seen[MCP_TEMPLATE_PARTS_MAX] = { 0 };

    while (query.n) {
        const char *and = memchr(query.p, '&', query.n), *is;
        struct span pair = { query.p, and? (size_t)(and-query.p) : query.n };
        struct span value = { query.p, 0 };

        query = span_from(query, pair.n + (and != NULL));
        is = pair.n ? memchr(pair.p, '=', pair.n) : NULL;
        if (is) {
            value = span_from(pair, (size_t)(is - pair.p) + 1);
            pair.n = (size_t)(is - pair.p);
        }
        for (size_t i = 0; i < t->n_query; i++) {
            if (!span_eq(t->parts[t->n + i].text, pair))
                continue;
            if (seen[i] || !put_value(o, pair, value))
                return false;
            seen[i] = true;
        }
    }
    return true;
}

/* The longest value at `at` after which the rest still fits. */
static size_t value_end(const struct uri_template *t, const struct part *part, struct span uri,
                        size_t at, const uint8_t *next)
{
    size_t best = at;

    for (size_t i = at; i < uri.n && takes(t, part->kind, uri.p[i]); i++)
        if (next[i + 1])
            best = i + 1;
    return best;
}

static bool put_values(const struct uri_template *t, struct span uri, uint8_t *const *rows,
                       struct json_out *o)
{
    size_t at = 0, end;

    for (size_t k = 0; k < t->n; k++) {
        const struct part *part = &t->parts[k];

        if (part->kind == PART_LITERAL) {
            at += part->text.n;
            continue;
        }
        at += part->kind == PART_SEGMENT || part->kind == PART_SEGMENTS;
        end = value_end(t, part, uri, at, rows[k + 1]);
        if (!put_value(o, part->text, span_make(uri.p + at, end - at)))
            return false;
        at = end;
    }
    return at == uri.n || put_query(t, span_from(uri, at + 1), o);
}

bool uri_template_match(const struct uri_template *t, struct span uri, struct buf *out)
{
    uint8_t *rows[MCP_TEMPLATE_PARTS_MAX + 1];
    AUTO_FREE uint8_t *cells = NULL;
    struct json_out o = json_out(out);
    size_t was = out->n, width = uri.n + 1;
    const struct part *first = &t->parts[0];

    if (uri.n > MCP_URI_BYTES_MAX)
        return false;
    if (t->n && first->kind == PART_LITERAL &&
        (uri.n < first->text.n || memcmp(uri.p, first->text.p, first->text.n) != 0))
        return false;
    cells = mem_alloc(width * (t->n + 1));
    for (size_t k = 0; k <= t->n; k++)
        rows[k] = cells + k * width;
    for (size_t i = 0; i < width; i++)
        rows[t->n][i] = i == uri.n || (t->n_query && uri.p[i] == '?');
    for (size_t k = t->n; k-- > 0;)
        fill_row(t, &t->parts[k], uri, rows[k + 1], rows[k]);
    if (!rows[0][0])
        return false;
    json_begin_object(&o, NULL);
    if (!put_values(t, uri, rows, &o)) {
        out->n = was;
        return false;
    }
    json_end(&o);
    return true;
}
