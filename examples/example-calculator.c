/* example-calculator.c - arithmetic, by recursive descent:
 *
 *     sum     = product { ("+" | "-") product }
 *     product = power { ("*" | "/" | "%") power }
 *     power   = { "+" | "-" } atom [ "^" power ]
 *     atom    = number | "(" sum ")" | name [ "(" sum { "," sum } ")" ]        */
#include "example.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 64, ARGS_MAX = 2 };

struct parser {
    const char *start, *at;
    int depth;
    char why[128]; /* empty: no error so far */
};

static double min2(double a, double b) { return fmin(a, b); }
static double max2(double a, double b) { return fmax(a, b); }

static const struct {
    const char *name;
    double (*one)(double);
    double (*two)(double, double);
    double value; /* a constant, if there is no function */
} names[] = {
    { "abs", fabs, NULL, 0 },    { "acos", acos, NULL, 0 },   { "asin", asin, NULL, 0 },
    { "atan", atan, NULL, 0 },   { "ceil", ceil, NULL, 0 },   { "cos", cos, NULL, 0 },
    { "e", NULL, NULL, M_E },    { "exp", exp, NULL, 0 },     { "floor", floor, NULL, 0 },
    { "ln", log, NULL, 0 },      { "log", log10, NULL, 0 },   { "max", NULL, max2, 0 },
    { "min", NULL, min2, 0 },    { "pi", NULL, NULL, M_PI },  { "pow", NULL, pow, 0 },
    { "round", round, NULL, 0 }, { "sin", sin, NULL, 0 },     { "sqrt", sqrt, NULL, 0 },
    { "tan", tan, NULL, 0 },     { "trunc", trunc, NULL, 0 },
};

static double sum(struct parser *p);

static double fail_at(struct parser *p, const char *what)
{
    if (!p->why[0])
        snprintf(p->why, sizeof p->why, "%s at position %zu", what, (size_t)(p->at - p->start) + 1);
    return 0;
}

static char peek(struct parser *p)
{
    while (isspace((unsigned char)*p->at))
        p->at++;
    return *p->at;
}

static bool take(struct parser *p, char c)
{
    if (p->why[0] || peek(p) != c)
        return false;
    p->at++;
    return true;
}

static double number(struct parser *p)
{
    char *end;
    double v;

    /* strtod() alone would take "inf" and "0x10". */
    if (p->at[0] == '0' && (p->at[1] == 'x' || p->at[1] == 'X'))
        return fail_at(p, "hexadecimal numbers are not known");
    v = strtod(p->at, &end);
    if (end == p->at)
        return fail_at(p, "expected a number");
    p->at = end;
    return v;
}

static double call_function(struct parser *p, size_t which)
{
    double args[ARGS_MAX] = { 0 };
    int n = 0, want = names[which].one ? 1 : 2;

    if (!take(p, '('))
        return fail_at(p, "expected '(' after the name of a function");
    do {
        if (n == want)
            return fail_at(p, "too many arguments");
        args[n++] = sum(p);
    } while (take(p, ','));
    if (!take(p, ')'))
        return fail_at(p, "expected ')'");
    if (n < want)
        return fail_at(p, "too few arguments");
    return names[which].one ? names[which].one(args[0]) : names[which].two(args[0], args[1]);
}

static double name(struct parser *p)
{
    size_t n = strspn(p->at, "abcdefghijklmnopqrstuvwxyz");

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strlen(names[i].name) != n || strncmp(names[i].name, p->at, n) != 0)
            continue;
        p->at += n;
        return names[i].one || names[i].two ? call_function(p, i) : names[i].value;
    }
    return fail_at(p, "unknown name");
}

static double atom(struct parser *p)
{
    double v;

    if (take(p, '(')) {
        v = sum(p);
        if (!take(p, ')'))
            return fail_at(p, "expected ')'");
        return v;
    }
    return islower((unsigned char)peek(p)) ? name(p) : number(p);
}

static double power(struct parser *p)
{
    double v;

    if (p->why[0])
        return 0;
    if (++p->depth > DEPTH_MAX)
        return fail_at(p, "nested too deep");
    if (take(p, '-')) {
        v = -power(p);
    } else if (take(p, '+')) {
        v = power(p);
    } else if (isdigit((unsigned char)peek(p)) || (peek(p) && strchr(".(", peek(p))) ||
               islower((unsigned char)peek(p))) {
        v = atom(p);
        if (take(p, '^'))
            v = pow(v, power(p));
    } else {
        v = fail_at(p, *p->at ? "expected a number" : "the expression ends too early");
    }
    p->depth--;
    return v;
}

static double product(struct parser *p)
{
    double v = power(p), by;

    for (;;) {
        char op = p->why[0] ? '\0' : peek(p);

        if (op != '*' && op != '/' && op != '%')
            return v;
        p->at++;
        by = power(p);
        if (op != '*' && by == 0 && !p->why[0])
            return fail_at(p, "division by zero");
        v = op == '*' ? v * by : op == '/' ? v / by : fmod(v, by);
    }
}

static double sum(struct parser *p)
{
    double v = product(p);

    for (;;) {
        if (take(p, '+'))
            v += product(p);
        else if (take(p, '-'))
            v -= product(p);
        else
            return v;
    }
}

/* As few digits as say the same number. */
static void print_number(char *out, size_t n, double v)
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(out, n, "%.*g", digits, v == 0 ? 0.0 : v);
        if (strtod(out, NULL) == v)
            return;
    }
}

static int calculate(struct pb_call *call, void *ctx)
{
    const char *text = pb_arg_string(call, "expression");
    struct parser p = { .start = text, .at = text };
    double v = sum(&p);
    char out[40], json[64];

    (void)ctx;
    if (!p.why[0] && peek(&p))
        fail_at(&p, "expected an operator");
    if (!p.why[0] && !isfinite(v))
        return pb_fail(call, "the result is not a finite number");
    if (p.why[0])
        return pb_fail(call, "%s", p.why);
    print_number(out, sizeof out, v);
    snprintf(json, sizeof json, "{\"result\":%s}", out);
    pb_reply_text(call, "%s", out);
    return pb_reply_structured(call, json);
}

static const struct pb_param params[] = {
    { "expression", PB_STRING, "for example 2*(3+4)^2, sqrt(2), max(1, pi)" },
    { 0 },
};

const struct pb_tool calculator_tool = {
    .name = "calculator",
    .title = "Calculator",
    .description = "Evaluates an arithmetic expression with + - * / % ^, parentheses, functions",
    .params = params,
    .flags = PB_READ_ONLY | PB_IDEMPOTENT | PB_CLOSED_WORLD | PB_ON_LOOP,
    .run = calculate,
};
