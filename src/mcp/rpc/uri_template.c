#include "uri_template.h"

enum part_kind { PART_LITERAL, PART_VALUE, PART_RESERVED, PART_SEGMENT, PART_SEGMENTS, PART_QUERY };

/* What a value may hold depends on it. */
enum char_kind { CHAR_PLAIN, CHAR_SLASH, CHAR_QUESTION, CHAR_HASH, CHAR_KINDS };

struct part {
    enum part_kind kind;
    struct span text; /* literal, or name; PART_QUERY: one of its names */
};

struct uri_template {
    size_t n; /* matched in order; query names follow */
    size_t n_query;
    size_t least; /* bytes of the shortest URI that fits */
    /* Bits of parts by what they are, and by the kind of character that their value may hold. */
    uint64_t literals, values, segments;
    uint64_t takes[CHAR_KINDS];
    struct part parts[]; /* and the text that they are of */
};

/* A template that is being read. */
struct template_reading {
    struct part parts[MCP_TEMPLATE_PARTS_MAX];
    size_t n, n_query;
};

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '-';
}

static int add_part(struct template_reading *t, enum part_kind kind, struct span text,
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
static int add_expression(struct template_reading *t, struct span inside, struct pb_error *err)
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

static int parse(struct template_reading *t, struct span text, struct pb_error *err)
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

static int check_names(const struct template_reading *t, struct pb_error *err)
{
    for (size_t i = 0; i < t->n + t->n_query; i++)
        for (size_t k = 0; k < i; k++)
            if (t->parts[i].kind != PART_LITERAL && t->parts[k].kind != PART_LITERAL &&
                span_eq(t->parts[i].text, t->parts[k].text))
                return fail(err, PB_E_INVALID, "URI template variable '%.*s' is there twice",
                            SPAN_ARG(t->parts[i].text));
    return 0;
}

static bool takes(const struct uri_template *t, enum part_kind kind, enum char_kind c)
{
    if (c == CHAR_QUESTION)
        return kind == PART_RESERVED && !t->n_query;
    if (kind == PART_RESERVED)
        return true;
    return c != CHAR_HASH && (c != CHAR_SLASH || kind == PART_SEGMENTS);
}

/* So that matching need not look at one part after the other. */
static void prepare(struct uri_template *t)
{
    for (size_t k = 0; k < t->n; k++) {
        const struct part *part = &t->parts[k];
        uint64_t bit = UINT64_C(1) << k;
        bool segment = part->kind == PART_SEGMENT || part->kind == PART_SEGMENTS;

        if (part->kind == PART_LITERAL) {
            t->literals |= bit;
            t->least += part->text.n;
            continue;
        }
        t->least += segment ? 2 : 1;
        *(segment ? &t->segments : &t->values) |= bit;
        for (int c = 0; c < CHAR_KINDS; c++)
            if (takes(t, part->kind, (enum char_kind)c))
                t->takes[c] |= bit;
    }
}

int uri_template_new(struct uri_template **out, struct span text, struct pb_error *err)
{
    struct template_reading r = { .n = 0 };
    struct uri_template *t;
    struct pb_error why;
    size_t bytes;
    char *own;

    if (text.n > MCP_URI_BYTES_MAX)
        return fail(err, PB_E_LIMIT, "a URI template has at most %d bytes", MCP_URI_BYTES_MAX);
    if (parse(&r, text, &why) < 0 || check_names(&r, &why) < 0)
        return fail_copy(err, &why);
    bytes = sizeof *t + (r.n + r.n_query) * sizeof r.parts[0];
    t = mem_zero(bytes + text.n);
    own = (char *)t + bytes;
    if (text.n)
        memcpy(own, text.p, text.n);
    t->n = r.n;
    t->n_query = r.n_query;
    for (size_t i = 0; i < r.n + r.n_query; i++) {
        t->parts[i] = r.parts[i];
        t->parts[i].text.p = own + (r.parts[i].text.p - text.p);
    }
    prepare(t);
    *out = t;
    return 0;
}

void uri_template_free(struct uri_template *t) { free(t); }

/* ---- matching ---- */

static bool spend(size_t *steps, size_t n)
{
    if (*steps < n) {
        *steps = 0;
        return false;
    }
    *steps -= n;
    return true;
}

static enum char_kind kind_of(char c)
{
    return c == '/' ? CHAR_SLASH : c == '?' ? CHAR_QUESTION : c == '#' ? CHAR_HASH : CHAR_PLAIN;
}

enum {
    COMPARED_PER_STEP = 16, /* bytes of a literal */
    FEW_BYTES = 512,        /* of a URI that needs no memory */
};

/* The literals that stand at i with what can follow behind them. False: out of steps. */
static bool literals_at(const struct uri_template *t, struct span uri, size_t i,
                        const uint64_t *can, uint64_t *row, size_t *steps)
{
    for (uint64_t left = t->literals; left; left &= left - 1) {
        unsigned k = (unsigned)__builtin_ctzll(left);
        struct span text = t->parts[k].text;

        if (uri.n - i < text.n || uri.p[i] != text.p[0] || !(can[i + text.n] >> (k + 1) & 1))
            continue;
        if (!spend(steps, text.n / COMPARED_PER_STEP))
            return false;
        if (memcmp(uri.p + i, text.p, text.n) == 0)
            *row |= UINT64_C(1) << k;
    }
    return true;
}

/* can[i]: from which parts on can the text from i on be matched? A bit for each, and one for the
 * end. Filled from the right, all parts of a place at once. False: out of steps. */
static bool fill(const struct uri_template *t, struct span uri, uint64_t *can, size_t *steps)
{
    uint64_t end = UINT64_C(1) << t->n, more = 0; /* a value that begins at i + 1 would do */

    if (!spend(steps, (uri.n + 1) * (1 + (size_t)__builtin_popcountll(t->literals))))
        return false;
    can[uri.n] = end;
    for (size_t i = uri.n; i-- > 0;) {
        enum char_kind c = kind_of(uri.p[i]);
        uint64_t row = c == CHAR_SLASH ? more & t->segments : 0;

        more = t->takes[c] & (can[i + 1] >> 1 | more);
        row |= more & t->values;
        if (c == CHAR_QUESTION && t->n_query)
            row |= end;
        if (!literals_at(t, uri, i, can, &row, steps))
            return false;
        can[i] = row;
    }
    return true;
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

/* The longest value of part k at `at` after which the rest still fits. */
static size_t value_end(const struct uri_template *t, size_t k, struct span uri, size_t at,
                        const uint64_t *can)
{
    size_t best = at;

    for (size_t i = at; i < uri.n && t->takes[kind_of(uri.p[i])] >> k & 1; i++)
        if (can[i + 1] >> (k + 1) & 1)
            best = i + 1;
    return best;
}

static bool put_values(const struct uri_template *t, struct span uri, const uint64_t *can,
                       size_t *steps, struct json_out *o)
{
    size_t at = 0, end;

    for (size_t k = 0; k < t->n; k++) {
        const struct part *part = &t->parts[k];

        if (part->kind == PART_LITERAL) {
            at += part->text.n;
            continue;
        }
        at += t->segments >> k & 1;
        if (!spend(steps, uri.n - at))
            return false;
        end = value_end(t, k, uri, at, can);
        if (!put_value(o, part->text, span_make(uri.p + at, end - at)))
            return false;
        at = end;
    }
    return at == uri.n ||
           (spend(steps, (uri.n - at) * t->n_query) && put_query(t, span_from(uri, at + 1), o));
}

/* What most templates differ in, for the price of one step. */
static bool may_fit(const struct uri_template *t, struct span uri)
{
    struct span first = t->n ? t->parts[0].text : SPAN("");
    struct span last = t->n ? t->parts[t->n - 1].text : SPAN("");

    if (uri.n < t->least || uri.n > MCP_URI_BYTES_MAX)
        return false;
    if ((t->literals & 1) && memcmp(uri.p, first.p, first.n) != 0)
        return false;
    return t->n_query || !t->n || t->parts[t->n - 1].kind != PART_LITERAL ||
           memcmp(span_end(uri) - last.n, last.p, last.n) == 0;
}

bool uri_template_match(const struct uri_template *t, struct span uri, size_t *steps,
                        struct buf *out)
{
    uint64_t few[FEW_BYTES + 1];
    AUTO_FREE uint64_t *many = NULL;
    uint64_t *can = few;
    struct json_out o = json_out(out);
    size_t was = out->n;

    if (!spend(steps, 1) || !may_fit(t, uri))
        return false;
    if (uri.n > FEW_BYTES)
        can = many = mem_alloc((uri.n + 1) * sizeof *can);
    if (!fill(t, uri, can, steps) || !(can[0] & 1))
        return false;
    json_begin_object(&o, NULL);
    if (!put_values(t, uri, can, steps, &o)) {
        out->n = was;
        return false;
    }
    json_end(&o);
    return true;
}
