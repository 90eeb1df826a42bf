/* named.c - in text that may be prose, code, a log, a config or JSON as it is written. A name and a
 * colon are no proof there: "token: string", "password = read()", "Password: it must be ...". */
#include "named.h"
#include "hub/spec/spec.h"

enum {
    NAME_MAX_CHARS = 64,
    LITERAL_MIN = 4, /* 'a' = "b" is code */
    HARD_MIN = 6,    /* a word with a digit that may be a password */
};

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
static bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
static bool is_quote(char c) { return c == '"' || c == '\'' || c == '`'; }
static bool is_blank(char c) { return c == ' ' || c == '\t'; }

static bool is_name_char(char c)
{
    return is_digit(c) || is_lower(c) || is_upper(c) || c == '_' || c == '-' || c == '.';
}

/* "${API_KEY}", "$API_KEY", "{{token}}", "<your password>" */
static bool is_placeholder(struct span value)
{
    size_t upper = 1;

    if (span_starts(value, "${") || span_starts(value, "{{") || span_starts(value, "%("))
        return true;
    if (value.n && value.p[0] == '<' && value.p[value.n - 1] == '>')
        return true;
    while (upper < value.n && (is_upper(value.p[upper]) || value.p[upper] == '_'))
        upper++;
    return value.n && value.p[0] == '$' && upper == value.n;
}

bool named_is_hidden(struct span value)
{
    size_t stars = 0;

    while (stars < value.n && value.p[stars] == '*')
        stars++;
    return stars == value.n || is_placeholder(value);
}

/* ---- the name ---- */

struct name_found {
    struct span name;
    size_t from; /* where it begins */
    bool quoted;
};

/* Where the name before a sign ends, without quotes. */
static size_t name_end(struct span text, size_t at, bool *quoted)
{
    size_t end = at;

    while (end && is_blank(text.p[end - 1]))
        end--;
    *quoted = end && is_quote(text.p[end - 1]);
    end -= *quoted;
    while (*quoted && end && text.p[end - 1] == '\\')
        end--;
    return end;
}

static bool find_name(struct name_found *out, struct span text, size_t at)
{
    size_t end = name_end(text, at, &out->quoted), from;

    if (!name_may_claim(span_make(text.p, end)))
        return false;
    from = end;
    while (from && end - from < NAME_MAX_CHARS && is_name_char(text.p[from - 1]))
        from--;
    if (!out->quoted && from && from < end && text.p[from - 1] == '\\')
        from++; /* in JSON as it is written: the letter of "\n" */
    out->from = from;
    out->name = span_make(text.p + from, end - from);
    return from < end;
}

/* ---- the value ---- */

enum value_kind { VALUE_NONE, VALUE_LITERAL, VALUE_NUMBER, VALUE_WORD, VALUE_CONTAINER };

struct value_found {
    enum value_kind kind;
    size_t from, end;
};

/* The closing quote of a string; strings in strings have backslashes before both. */
static size_t literal_end(struct span text, size_t from, char quote, bool nested)
{
    size_t i = from;

    for (; i < text.n; i++) {
        if (text.p[i] == '\\' && nested && i + 1 < text.n && text.p[i + 1] == quote)
            return i;
        if (text.p[i] == '\\')
            i++;
        else if (text.p[i] == quote || (text.p[i] == '\n' && quote != '`'))
            return i;
    }
    return text.n;
}

static size_t word_end(struct span text, size_t from)
{
    while (from < text.n && (unsigned char)text.p[from] > ' ' &&
           !strchr("\"'`,;&)}]<>\\|(", text.p[from]))
        from++;
    return from;
}

/* Where it begins, its quote included; `nested`: that is one of a string in a string. */
static size_t value_start(struct span text, size_t at, bool lines, bool *nested)
{
    while (at < text.n &&
           (is_blank(text.p[at]) || (lines && (text.p[at] == '\n' || text.p[at] == '\r'))))
        at++;
    *nested = false;
    while (at + 1 < text.n && text.p[at] == '\\' &&
           (text.p[at + 1] == '\\' || is_quote(text.p[at + 1]))) {
        *nested = true;
        at++;
    }
    return at;
}

static struct value_found find_value(struct span text, size_t at, bool lines)
{
    bool nested;
    struct value_found v = { .from = value_start(text, at, lines, &nested) };
    char c;

    v.end = v.from;
    c = v.from < text.n ? text.p[v.from] : '\0';
    if (is_quote(c)) {
        v.kind = VALUE_LITERAL;
        v.end = literal_end(text, ++v.from, c, nested);
    } else if (c == '{' || c == '[') {
        v.kind = VALUE_CONTAINER;
    } else {
        v.end = word_end(text, v.from);
        v.kind = v.end == v.from ? VALUE_NONE : is_digit(c) || c == '-' ? VALUE_NUMBER : VALUE_WORD;
    }
    return v;
}

static struct span value_span(struct span text, const struct value_found *v)
{
    return span_make(text.p + v->from, v->end - v->from);
}

static bool has_digit(struct span s)
{
    for (size_t i = 0; i < s.n; i++)
        if (is_digit(s.p[i]))
            return true;
    return false;
}

static bool is_plain_word(struct span s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!is_lower(s.p[i]) && !is_upper(s.p[i]))
            return false;
    return true;
}

/* ---- text that is not JSON ---- */

/* What stands for a type or for nothing in code and configs. */
static bool is_code_word(struct span s)
{
    static const char *const words[] = { "any",       "auto",  "bool",   "boolean", "bytes",
                                         "char",      "false", "int",    "integer", "no",
                                         "none",      "null",  "number", "object",  "optional",
                                         "required",  "self",  "str",    "string",  "true",
                                         "undefined", "yes" };

    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (span_is_nocase(s, words[i]))
            return true;
    return false;
}

/* A line of a config: nothing before the name but what lists have. */
static bool begins_line(struct span text, size_t at)
{
    while (at && (is_blank(text.p[at - 1]) || text.p[at - 1] == '-'))
        at--;
    return !at || text.p[at - 1] == '\n' ||
           (at > 1 && text.p[at - 1] == 'n' && text.p[at - 2] == '\\');
}

static bool ends_line(struct span text, size_t at)
{
    while (at < text.n && is_blank(text.p[at]))
        at++;
    return at == text.n || text.p[at] == '\n' || text.p[at] == '\r' || text.p[at] == '\\' ||
           is_quote(text.p[at]);
}

static bool is_all_upper(struct span name)
{
    for (size_t i = 0; i < name.n; i++)
        if (is_lower(name.p[i]))
            return false;
    return true;
}

/* "API_KEY=x", "?token=x", "--password=x": nobody writes that but to say it. */
static bool is_assigned(struct span text, const struct name_found *n, size_t at)
{
    char before = n->from ? text.p[n->from - 1] : '\0';

    if (text.p[at] != '=' || at + 1 >= text.n || is_blank(text.p[at + 1]))
        return false;
    return before == '?' || before == '&' || span_starts(n->name, "--") || is_all_upper(n->name);
}

static bool is_header(struct span name)
{
    static const char *const names[] = { "authorization", "cookie", "proxy-authorization",
                                         "set-cookie" };

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (span_is_nocase(name, names[i]))
            return true;
    return false;
}

/* Where the value of a header ends. Its mark is the last byte that words do not have: headers may
 * stand in headers, and what was read of one line is not read again. */
static size_t header_end(struct span text, size_t from, struct scanned *s)
{
    size_t end = from;

    if (scanned_has(s, from))
        return s->end;
    *s = (struct scanned){ .from = from };
    for (; end < text.n && (unsigned char)text.p[end] >= ' ' && !is_quote(text.p[end]) &&
           text.p[end] != '\\';
         end++)
        if (is_digit(text.p[end]) || text.p[end] == '=')
            s->mark = end + 1;
    s->end = end;
    return end;
}

/* The rest of its line, but for "Bearer ". */
static void hide_header(struct span text, size_t from, struct hits *out)
{
    static const char *const schemes[] = { "Basic ", "Bearer ", "Digest ", "Token " };
    size_t end = header_end(text, from, &out->header);
    struct span value = span_make(text.p + from, end - from);
    bool known = false;

    for (size_t i = 0; i < ARRAY_LEN(schemes) && !known; i++) {
        size_t n = strlen(schemes[i]);

        known = value.n > n && span_is_nocase(span_make(value.p, n), schemes[i]);
        from += known ? n : 0;
    }
    value = span_make(text.p + from, end - from);
    if (!named_is_hidden(value) && (known || out->header.mark > from))
        hits_add(out, from, end, HIT_NAME);
}

/* A word after "name: " or "name = ", where most are no secrets. */
static bool is_hard_word(struct span text, size_t at, const struct name_found *n,
                         const struct value_found *v)
{
    struct span value = value_span(text, v);
    bool called = v->end < text.n && text.p[v->end] == '(';

    if (called || is_code_word(value))
        return false;
    if (has_digit(value) && value.n >= HARD_MIN)
        return true;
    if (text.p[at] == '=' && v->from > at + 1)
        return false; /* "token = other": code has spaces there, configs seldom */
    return begins_line(text, n->from) && ends_line(text, v->end) && value.n >= LITERAL_MIN &&
           (!is_plain_word(value) || !is_upper(value.p[0])) && !memchr(value.p, '.', value.n);
}

static bool is_loose_secret(struct span text, size_t at, const struct name_found *n,
                            const struct value_found *v)
{
    struct span value = value_span(text, v);

    if (v->kind == VALUE_CONTAINER || v->kind == VALUE_NONE)
        return false;
    if (v->kind == VALUE_LITERAL)
        return value.n >= LITERAL_MIN && !memchr(value.p, ' ', value.n);
    if (is_assigned(text, n, at))
        return !is_code_word(value);
    return v->kind == VALUE_WORD ? is_hard_word(text, at, n, v)
                                 : value.n >= HARD_MIN && begins_line(text, n->from);
}

/* ---- JSON as it is written, and what others make of it ---- */

static bool is_strict_secret(enum name_claim claim, const struct value_found *v, bool one)
{
    switch (v->kind) {
    case VALUE_LITERAL:
        return true;
    case VALUE_NUMBER:
        return claim == NAME_SECRET;
    case VALUE_CONTAINER:
        return one; /* what is in it is found by whoever reads it as JSON */
    default:
        return false;
    }
}

/* {"name":"API_KEY","value":"x"}: `at` is behind "value". */
static bool is_pair(struct span text, const struct name_found *n, struct name_found *other)
{
    size_t i = n->from;

    if (!n->quoted || !span_is(n->name, "value"))
        return false;
    while (i && strchr("\\\" \t\r\n", text.p[i - 1]))
        i--;
    if (!i || text.p[i - 1] != ',')
        return false;
    i--;
    while (i && strchr(" \t\r\n", text.p[i - 1]))
        i--;
    return find_name(other, text, i) && other->quoted;
}

/* {"value":"x","secret":true,"name":"API_KEY"}: whether both are of one object is found by whoever
 * reads it as JSON. Here it is enough that the text has both. */
static bool may_have_pair(struct span text, size_t at, struct hits *out)
{
    static const struct span words[] = { SPAN("name"), SPAN("key"), SPAN("value") };
    bool quoted;
    size_t end = name_end(text, at, &quoted);

    for (size_t i = 0; i < ARRAY_LEN(words) && quoted; i++) {
        struct span w = words[i];
        struct value_found v;

        if (end <= w.n || text.p[end - w.n - 1] != '"' || memcmp(text.p + end - w.n, w.p, w.n) != 0)
            continue;
        if (text.p[end - 1] == 'e' && w.n == 5) {
            out->pair_value = true;
            break;
        }
        v = find_value(text, at + 1, true);
        out->pair_name |=
            v.kind == VALUE_LITERAL && name_claims(value_span(text, &v)) == NAME_SECRET;
        break;
    }
    return out->pair_name && out->pair_value;
}

bool named_is_directory(struct span name, struct span value)
{
    return name.n >= 3 && span_is_nocase(span_make(name.p + name.n - 3, 3), "pwd") && value.n &&
           (strchr("/~.", value.p[0]) || (value.n > 1 && value.p[1] == ':'));
}

void named_value(struct span text, size_t at, struct hits *out)
{
    struct name_found n, other;
    struct value_found v;
    enum name_claim claim;
    struct span value;

    if (out->one && text.p[at] == ':' && may_have_pair(text, at, out)) {
        hits_add(out, at, at + 1, HIT_NAME);
        return;
    }
    if (!find_name(&n, text, at))
        return;
    if (is_pair(text, &n, &other))
        n.name = other.name;
    claim = name_claims(n.name);
    if (claim == NAME_PLAIN)
        return;
    if (!n.quoted && text.p[at] == ':' && is_header(n.name)) {
        size_t from = value_start(text, at + 1, false, &n.quoted);

        hide_header(text, from + (from < text.n && is_quote(text.p[from])), out);
        return;
    }
    v = find_value(text, at + 1, n.quoted);
    value = value_span(text, &v);
    hits_spend(out, value.n);
    if ((v.kind != VALUE_CONTAINER && (!value.n || named_is_hidden(value))) ||
        named_is_directory(n.name, value))
        return;
    if (claim == NAME_DOUBTFUL ? v.kind != VALUE_CONTAINER && mask_looks_like_key(value)
        : n.quoted             ? is_strict_secret(claim, &v, out->one)
                               : is_loose_secret(text, at, &n, &v))
        hits_add(out, v.from, v.end > v.from ? v.end : v.from + 1, HIT_NAME);
}

void named_option(struct span text, size_t at, struct hits *out)
{
    size_t end = at;
    struct value_found v;
    struct span value;

    while (end < text.n && end - at < NAME_MAX_CHARS && is_name_char(text.p[end]))
        end++;
    if (end + 1 >= text.n || !is_blank(text.p[end]) ||
        name_claims(span_make(text.p + at, end - at)) != NAME_SECRET)
        return;
    v = find_value(text, end, false);
    value = value_span(text, &v);
    hits_spend(out, value.n);
    if (v.kind == VALUE_NONE || v.kind == VALUE_CONTAINER || named_is_hidden(value) ||
        value.p[0] == '-')
        return;
    /* "use --password to say it" */
    if (is_plain_word(value) && !ends_line(text, v.end) &&
        !span_starts(span_from(text, v.end), " -"))
        return;
    hits_add(out, v.from, v.end, HIT_NAME);
}
