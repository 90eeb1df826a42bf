#include "toml.h"
#include "toml_table.h"
#include "json/json.h"

struct toml_reader {
    const char *p, *end;
    unsigned line;
    struct toml_text text;
    struct toml_table *here; /* that lines of "key = value" belong to */
    struct pb_error *err;
};

static int read_value(struct toml_reader *r, struct buf *out, unsigned depth);

/* ---- places ---- */

static int wrong(struct toml_reader *r, const char *what)
{
    return fail(r->err, PB_E_INVALID, "line %u: %s", r->line, what);
}

/* What toml_table.c refused, with the line. */
static int wrong_here(struct toml_reader *r, int rc)
{
    return rc < 0 ? fail_in(r->err, "line %u", r->line) : 0;
}

static bool at_end(const struct toml_reader *r) { return r->p == r->end; }
static char next(const struct toml_reader *r) { return at_end(r) ? '\0' : *r->p; }

static bool starts(const struct toml_reader *r, const char *word)
{
    return span_starts(span_make(r->p, (size_t)(r->end - r->p)), word);
}

static void skip_blanks(struct toml_reader *r)
{
    while (!at_end(r) && (*r->p == ' ' || *r->p == '\t'))
        r->p++;
}

static bool is_line_end(const struct toml_reader *r)
{
    return at_end(r) || *r->p == '\n' || starts(r, "\r\n");
}

static void skip_comment(struct toml_reader *r)
{
    if (next(r) == '#' && !at_end(r))
        while (!is_line_end(r))
            r->p++;
}

/* Blanks, comments and ends of lines: between tables, and inside of arrays. */
static void skip_lines(struct toml_reader *r)
{
    for (;;) {
        skip_blanks(r);
        skip_comment(r);
        if (at_end(r) || !is_line_end(r))
            return;
        r->p += *r->p == '\r' ? 2 : 1;
        r->line++;
    }
}

static int need_line_end(struct toml_reader *r)
{
    skip_blanks(r);
    skip_comment(r);
    return is_line_end(r) ? 0 : wrong(r, "expected the end of the line");
}

/* ---- strings ---- */

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int read_unicode(struct toml_reader *r, struct buf *out, int digits)
{
    uint32_t c = 0;

    for (int i = 0; i < digits; i++) {
        int v = at_end(r) ? -1 : hex_value(*r->p);

        if (v < 0)
            return wrong(r, "expected a hexadecimal digit behind \\u or \\U");
        c = c << 4 | (uint32_t)v;
        r->p++;
    }
    if (!c || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
        return wrong(r, "\\u and \\U name a character that may not be in a string");
    utf8_append(out, c);
    return 0;
}

static int read_escape(struct toml_reader *r, struct buf *out)
{
    static const char from[] = "btnfr\"\\e", to[] = "\b\t\n\f\r\"\\\033";
    char c = next(r);
    const char *at = c ? strchr(from, c) : NULL;

    if (c)
        r->p++;
    if (c == 'u' || c == 'U')
        return read_unicode(r, out, c == 'u' ? 4 : 8);
    if (!at)
        return wrong(r, "an unknown escape in a string; 'single quotes' take it as it is");
    buf_byte(out, to[at - from]);
    return 0;
}

/* r is at the quote. */
static int read_string(struct toml_reader *r, struct buf *out)
{
    char quote = *r->p;

    if (starts(r, "\"\"\"") || starts(r, "'''"))
        return wrong(r, "strings of several lines are not read here; write it on one line");
    for (r->p++; !at_end(r) && *r->p != quote;) {
        unsigned char c = (unsigned char)*r->p++;

        if (c == '\\' && quote == '"') {
            int rc = read_escape(r, out);

            if (rc < 0)
                return rc;
            continue;
        }
        if ((c < ' ' && c != '\t') || c == 0x7f) {
            r->p--;
            return wrong(r, "a string is not closed on its line");
        }
        buf_byte(out, (char)c);
    }
    if (at_end(r))
        return wrong(r, "a string is not closed on its line");
    r->p++;
    return 0;
}

/* ---- keys ---- */

static bool is_bare(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
}

static int read_key(struct toml_reader *r, struct buf *out)
{
    out->n = 0;
    if (next(r) == '"' || next(r) == '\'')
        return read_string(r, out);
    while (!at_end(r) && is_bare(*r->p))
        buf_byte(out, *r->p++);
    return out->n ? 0 : wrong(r, "expected a key, such as command or \"a key\"");
}

/* "a.b.c": goes into all but the last, which is left in `last`. */
static int read_name(struct toml_reader *r, struct toml_table **in, struct buf *last,
                     enum toml_made made)
{
    int rc = read_key(r, last);

    for (;;) {
        if (rc < 0)
            return rc;
        skip_blanks(r);
        if (next(r) != '.')
            return 0;
        r->p++;
        skip_blanks(r);
        rc = wrong_here(r, toml_enter(&r->text, in, buf_span(last), made, r->err));
        if (rc == 0)
            rc = read_key(r, last);
    }
}

/* ---- values ---- */

static int read_array(struct toml_reader *r, struct buf *out, unsigned depth)
{
    bool first = true;

    buf_byte(out, '[');
    for (r->p++;; first = false) {
        int rc;

        skip_lines(r);
        if (next(r) == ']')
            break;
        if (!first)
            buf_byte(out, ',');
        rc = read_value(r, out, depth);
        if (rc < 0)
            return rc;
        skip_lines(r);
        if (next(r) == ',')
            r->p++;
        else if (next(r) != ']')
            return wrong(r, "expected ',' or ']' in an array");
    }
    r->p++;
    buf_byte(out, ']');
    return 0;
}

static int read_pair(struct toml_reader *r, struct toml_table *in)
{
    AUTO_BUF struct buf key = { 0 }, value = { 0 };
    int rc = read_name(r, &in, &key, TOML_DOTTED);

    if (rc < 0)
        return rc;
    if (next(r) != '=')
        return wrong(r, "expected '=' behind a key");
    r->p++;
    skip_blanks(r);
    rc = read_value(r, &value, in->depth);
    if (rc < 0)
        return rc;
    return wrong_here(r, toml_put(&r->text, in, buf_span(&key), buf_span(&value), r->err));
}

static int read_inline(struct toml_reader *r, struct buf *out, unsigned depth)
{
    struct toml_table *t = toml_table_new(&r->text, TOML_CLOSED, depth);
    bool first = true;

    for (r->p++;; first = false) {
        int rc;

        skip_blanks(r);
        if (first && next(r) == '}')
            break;
        rc = read_pair(r, t);
        if (rc < 0)
            return rc;
        skip_blanks(r);
        if (next(r) == '}')
            break;
        if (next(r) != ',')
            return wrong(r, "expected ',' or '}' in a table within braces");
        r->p++;
    }
    r->p++;
    toml_write(out, t);
    return 0;
}

/* As JSON has them: 1_000, +1, 1. and 0x1f are refused rather than taken for something else. */
static int read_number(struct toml_reader *r, struct buf *out)
{
    AUTO_JSON struct json_doc doc = { 0 };
    const char *from = r->p;
    struct span number;

    while (!at_end(r) && (is_bare(*r->p) || *r->p == '+' || *r->p == '.' || *r->p == ':'))
        r->p++;
    number = span_make(from, (size_t)(r->p - from));
    if (!number.n || json_parse(&doc, number, NULL, NULL) < 0 ||
        !json_is(json_root(&doc), JSON_NUMBER))
        return wrong(r, "expected a value: \"text\", 'text', a decimal number, true, false, [ … ] "
                        "or { … }");
    buf_add_span(out, number);
    return 0;
}

static bool take_word(struct toml_reader *r, struct buf *out, const char *word)
{
    size_t n = strlen(word);

    if (!starts(r, word) || (r->p + n < r->end && is_bare(r->p[n])))
        return false;
    r->p += n;
    buf_str(out, word);
    return true;
}

static int read_value(struct toml_reader *r, struct buf *out, unsigned depth)
{
    AUTO_BUF struct buf text = { 0 };
    char c = next(r);
    int rc;

    if (depth == TOML_DEPTH_MAX && (c == '[' || c == '{'))
        return fail(r->err, PB_E_LIMIT, "line %u: more than %d values in each other", r->line,
                    TOML_DEPTH_MAX);
    if (c == '[')
        return read_array(r, out, depth + 1);
    if (c == '{')
        return read_inline(r, out, depth + 1);
    if (take_word(r, out, "true") || take_word(r, out, "false"))
        return 0;
    if (c != '"' && c != '\'')
        return read_number(r, out);
    rc = read_string(r, &text);
    if (rc == 0)
        json_quote(out, buf_span(&text));
    return rc;
}

/* ---- the text ---- */

/* r is at '['. */
static int read_header(struct toml_reader *r)
{
    AUTO_BUF struct buf last = { 0 };
    struct toml_table *in = r->text.root;
    int rc;

    if (starts(r, "[["))
        return wrong(r, "lists of tables ([[…]]) are not read here; leave them out");
    r->p++;
    skip_blanks(r);
    rc = read_name(r, &in, &last, TOML_IMPLIED);
    if (rc == 0)
        rc = wrong_here(r, toml_enter(&r->text, &in, buf_span(&last), TOML_IMPLIED, r->err));
    if (rc == 0)
        rc = wrong_here(r, toml_open(in, r->err));
    if (rc < 0)
        return rc;
    if (next(r) != ']')
        return wrong(r, "expected ']' behind the name of a table");
    r->p++;
    r->here = in;
    return 0;
}

static int read_text(struct toml_reader *r)
{
    int rc = 0;

    for (skip_lines(r); rc == 0 && !at_end(r); skip_lines(r)) {
        rc = next(r) == '[' ? read_header(r) : read_pair(r, r->here);
        if (rc == 0)
            rc = need_line_end(r);
    }
    return rc;
}

int toml_to_json(struct buf *out, struct span text, struct pb_error *err)
{
    struct toml_reader r = { .p = text.p, .end = span_end(text), .line = 1, .err = err };
    struct pb_error ignored;
    int rc;

    if (!err)
        r.err = &ignored;
    if (!utf8_valid(text))
        return fail(err, PB_E_INVALID, "the text is not UTF-8");
    toml_text_init(&r.text);
    r.here = r.text.root;
    rc = read_text(&r);
    if (rc == 0)
        toml_write(out, r.text.root);
    arena_done(&r.text.arena);
    return rc;
}
