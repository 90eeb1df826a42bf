/* math_expression.c - an expression to its value, in one walk from left to right.
 *
 *     sum     = product { ("+" | "-") product }
 *     product = signed { ("*" | "/" | "%") signed }
 *     signed  = { "+" | "-" } power
 *     power   = atom [ ("^" | "**") signed ]          from the right: 2^3^2 is 2^9, -2^2 is -4
 *     atom    = number | constant | function "(" sum { "," sum } ")" | "(" sum ")" */
#include "plain_impl.h"
#include <ctype.h>
#include <locale.h>
#include <stdio.h>

struct parser {
    struct span text;
    size_t at;
    int depth;
    struct pb_error *err;
};

static int parse_sum(struct parser *p, struct math_value *out);
static int parse_signed(struct parser *p, struct math_value *out);

/* ---- errors: each says where ---- */

static int fail_at(const struct parser *p, size_t at, const char *what)
{
    return fail(p->err, PB_E_INVALID, "character %zu: %s", at + 1, what);
}

static int fail_calculation(const struct parser *p, size_t at)
{
    return fail_in(p->err, "character %zu", at + 1);
}

static void skip_space(struct parser *p)
{
    while (p->at < p->text.n && strchr(" \t\r\n", p->text.p[p->at]))
        p->at++;
}

/* The next character that means something; 0 at the end. */
static char next(struct parser *p)
{
    skip_space(p);
    return (char)(p->at < p->text.n ? p->text.p[p->at] : '\0');
}

static int fail_expected(struct parser *p, const char *expected)
{
    char got = next(p), what[160];

    if (!got)
        snprintf(what, sizeof what, "expected %s, but the expression ends here", expected);
    else if (isprint((unsigned char)got))
        snprintf(what, sizeof what, "expected %s, got '%c'", expected, got);
    else
        snprintf(what, sizeof what, "expected %s, got a character that means nothing here",
                 expected);
    return fail_at(p, p->at, what);
}

/* ---- atoms ---- */

static size_t digits_at(const struct parser *p, size_t at)
{
    size_t n = 0;

    while (at + n < p->text.n && isdigit((unsigned char)p->text.p[at + n]))
        n++;
    return n;
}

/* The end of a number that begins here. An "e" belongs to it only with digits behind it. */
static size_t number_end(const struct parser *p, bool *whole)
{
    size_t at = p->at + digits_at(p, p->at), exponent;

    *whole = true;
    if (at < p->text.n && p->text.p[at] == '.') {
        *whole = false;
        at += 1 + digits_at(p, at + 1);
    }
    if (at < p->text.n && (p->text.p[at] | 0x20) == 'e') {
        exponent = at + 1;
        if (exponent < p->text.n && strchr("+-", p->text.p[exponent]))
            exponent++;
        if (digits_at(p, exponent)) {
            *whole = false;
            at = exponent + digits_at(p, exponent);
        }
    }
    return at;
}

static bool read_whole(struct span digits, int128 *out)
{
    *out = 0;
    for (size_t i = 0; i < digits.n; i++)
        if (__builtin_mul_overflow(*out, 10, out) ||
            __builtin_add_overflow(*out, digits.p[i] - '0', out))
            return false;
    return true;
}

/* JSON wants a digit on both sides of the point, people do not. */
static int read_real(const struct parser *p, struct span text, double *out)
{
    AUTO_BUF struct buf number = { 0 };
    AUTO_JSON struct json_doc doc = { 0 };
    size_t zeros = 0;

    while (zeros + 1 < text.n && text.p[zeros] == '0' && isdigit((unsigned char)text.p[zeros + 1]))
        zeros++;
    for (size_t i = zeros; i < text.n; i++) {
        bool point = text.p[i] == '.';

        if (point && i == zeros)
            buf_byte(&number, '0');
        buf_byte(&number, text.p[i]);
        if (point && (i + 1 == text.n || !isdigit((unsigned char)text.p[i + 1])))
            buf_byte(&number, '0');
    }
    if (json_parse(&doc, buf_span(&number), NULL, NULL) < 0 ||
        json_double(json_root(&doc), out, NULL) < 0)
        return fail_at(p, p->at, "this number cannot be calculated with");
    return 0;
}

static int parse_number(struct parser *p, struct math_value *out)
{
    bool whole;
    size_t end = number_end(p, &whole);
    struct span text = span_make(p->text.p + p->at, end - p->at);
    double real = 0;
    int128 v;

    if (span_is(text, "."))
        return fail_expected(p, "a number");
    if (whole && read_whole(text, &v)) {
        *out = math_whole(v);
    } else {
        if (read_real(p, text, &real) < 0)
            return -(int)p->err->code;
        *out = math_real(real);
    }
    p->at = end;
    return 0;
}

static struct span read_name(struct parser *p)
{
    size_t from = p->at;

    while (p->at < p->text.n &&
           (isalnum((unsigned char)p->text.p[p->at]) || p->text.p[p->at] == '_'))
        p->at++;
    return span_make(p->text.p + from, p->at - from);
}

static int call_function(struct parser *p, const struct math_function *f, size_t at,
                         struct math_value *out)
{
    struct math_value v[MATH_ARGUMENTS_MAX];
    char what[120];
    size_t n = 0;

    p->at++; /* "(" */
    while (next(p) != ')' || n) {
        if (n == MATH_ARGUMENTS_MAX)
            return fail_at(p, p->at, "too many arguments");
        if (parse_sum(p, &v[n++]) < 0)
            return -(int)p->err->code;
        if (next(p) != ',')
            break;
        p->at++;
    }
    if (next(p) != ')')
        return fail_expected(p, "',' or ')'");
    p->at++;
    if (n < f->least || n > f->most) {
        if (f->least == f->most)
            snprintf(what, sizeof what, "%s takes %zu %s, not %zu", f->name, f->least,
                     f->least == 1 ? "argument" : "arguments", n);
        else
            snprintf(what, sizeof what, "%s takes %zu to %zu arguments, not %zu", f->name, f->least,
                     f->most, n);
        return fail_at(p, at, what);
    }
    return f->run(v, n, out, p->err) < 0 ? fail_calculation(p, at) : 0;
}

static int parse_name(struct parser *p, struct math_value *out)
{
    size_t at = p->at;
    struct span name = read_name(p);
    const struct math_function *f = math_function(name);
    AUTO_BUF struct buf what = { 0 };

    if (f && next(p) == '(')
        return call_function(p, f, at, out);
    if (!f && math_constant(name, out))
        return 0;
    if (f)
        buf_printf(&what, "the function %s wants its arguments in parentheses", f->name);
    else {
        buf_printf(&what, "'%.*s' is not known. There are: ", name.n > 40 ? 40 : (int)name.n,
                   name.p);
        math_list_names(&what);
    }
    return fail_at(p, at, buf_cstr(&what));
}

static int parse_group(struct parser *p, struct math_value *out)
{
    size_t at = p->at++;
    char what[64];

    if (parse_sum(p, out) < 0)
        return -(int)p->err->code;
    if (next(p) != ')') {
        snprintf(what, sizeof what, "')' for the '(' at character %zu", at + 1);
        return fail_expected(p, what);
    }
    p->at++;
    return 0;
}

static int parse_atom(struct parser *p, struct math_value *out)
{
    unsigned char c = (unsigned char)next(p);

    if (isdigit(c) || c == '.')
        return parse_number(p, out);
    if (isalpha(c))
        return parse_name(p, out);
    if (c == '(')
        return parse_group(p, out);
    return fail_expected(p, "a number, a name or '('");
}

/* ---- operators ---- */

static int parse_power(struct parser *p, struct math_value *out)
{
    struct math_value exponent;
    size_t at;

    if (parse_atom(p, out) < 0)
        return -(int)p->err->code;
    if (next(p) != '^' && !(next(p) == '*' && p->at + 1 < p->text.n && p->text.p[p->at + 1] == '*'))
        return 0;
    at = p->at;
    p->at += p->text.p[p->at] == '^' ? 1 : 2;
    if (parse_signed(p, &exponent) < 0)
        return -(int)p->err->code;
    return math_power(*out, exponent, out, p->err) < 0 ? fail_calculation(p, at) : 0;
}

/* All that is within something else comes through here: the one place where depth is counted. */
static int parse_signed(struct parser *p, struct math_value *out)
{
    bool negative = false;

    if (++p->depth > MATH_DEPTH_MAX)
        return fail_at(p, p->at, "too much within each other");
    for (char c = next(p); c == '-' || c == '+'; c = next(p)) {
        negative ^= c == '-';
        p->at++;
    }
    if (parse_power(p, out) < 0)
        return -(int)p->err->code;
    p->depth--;
    return negative ? math_subtract(math_whole(0), *out, out, p->err) : 0;
}

struct math_operator {
    char sign; /* 0 ends them */
    math_two_fn *fn;
};
static const struct math_operator products[] = {
    { '*', math_multiply }, { '/', math_divide }, { '%', math_remainder }, { 0 }
};
static const struct math_operator sums[] = { { '+', math_add }, { '-', math_subtract }, { 0 } };

static const struct math_operator *operator_at(struct parser *p, const struct math_operator *any)
{
    while (any->sign && any->sign != next(p))
        any++;
    return any->sign ? any : NULL;
}

/* One side after the other, from the left. */
static int parse_row(struct parser *p, struct math_value *out, const struct math_operator *any,
                     int (*side)(struct parser *p, struct math_value *out))
{
    const struct math_operator *found;

    if (side(p, out) < 0)
        return -(int)p->err->code;
    while ((found = operator_at(p, any)) != NULL) {
        struct math_value right = { 0 };
        size_t at = p->at++;

        if (side(p, &right) < 0)
            return -(int)p->err->code;
        if (found->fn(*out, right, out, p->err) < 0)
            return fail_calculation(p, at);
    }
    return 0;
}

static int parse_product(struct parser *p, struct math_value *out)
{
    return parse_row(p, out, products, parse_signed);
}

static int parse_sum(struct parser *p, struct math_value *out)
{
    return parse_row(p, out, sums, parse_product);
}

int math_evaluate(struct span text, struct math_value *out, struct pb_error *err)
{
    struct parser p = { .text = text, .err = err };
    const char *nul = text.n ? memchr(text.p, '\0', text.n) : NULL;

    if (text.n > MATH_TEXT_MAX)
        return fail(err, PB_E_LIMIT, "the expression is longer than %d bytes", MATH_TEXT_MAX);
    if (nul) /* to all else here it is the end */
        return fail_at(&p, (size_t)(nul - text.p), "a NUL means nothing here");
    *out = math_whole(0);
    if (parse_sum(&p, out) < 0)
        return -(int)p.err->code;
    return next(&p) ? fail_expected(&p, "an operator") : 0;
}
