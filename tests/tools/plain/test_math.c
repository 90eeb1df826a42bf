/* Expressions, units and formulas. */
#include "tap.h"
#include "tools/plain/plain_impl.h"
#include "json/json.h"

/* Its value as people read it, or what is wrong with it. Good until the next call. */
static const char *value_of(struct span text)
{
    static char shown[512];
    AUTO_BUF struct buf out = { 0 };
    struct math_value v;
    struct pb_error err;

    if (math_evaluate(text, &v, &err) < 0)
        buf_printf(&out, "%s", err.msg);
    else
        math_print(&out, v);
    snprintf(shown, sizeof shown, "%s", buf_cstr(&out));
    return shown;
}

struct pair {
    const char *expression, *value;
};

static void check_all(const struct pair *pairs, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(value_of(span_of(pairs[i].expression)), pairs[i].value) != 0)
            TAP_FAIL("%s is %s, expected %s", pairs[i].expression,
                     value_of(span_of(pairs[i].expression)), pairs[i].value);
}

TEST(expressions_have_the_value_that_people_expect)
{
    static const struct pair pairs[] = {
        { "2+3*4", "14" },
        { "(2+3)*4", "20" },
        { "10-4-3", "3" },
        { "100/10/5", "2" },
        { "7/2", "3.5" },
        { "-7%3", "-1" },
        { "5.5%2", "1.5" },
        { "2^3^2", "512" },
        { "2**10", "1024" },
        { "-2^2", "-4" },
        { "2^-1", "0.5" },
        { "--3+-+2", "1" },
        { "0.1+0.2", "0.3" },
        { ".5+1.", "1.5" },
        { "1.5e3+1E-1", "1500.1" },
        { " 007\n+\t1 ", "8" },
        { "2*pi", "6.28318530717959" },
        { "e", "2.71828182845905" },
        { "sqrt(16)", "4" },
        { "sqrt(2)", "1.4142135623731" },
        { "abs(-3)+ABS(2.5)", "5.5" },
        { "min(3,1,2)*max(1,5.5)", "5.5" },
        { "round(2.5)+round(-2.5)", "0" },
        { "round(0.49999999999999994)", "0" },
        { "round(pi,4)", "3.1416" },
        { "floor(-1.5)", "-2" },
        { "ceil(-1.5)", "-1" },
        { "floor(1e300)", "1e+300" },
        { "sin(0)+cos(0)", "1" },
        { "tan(0)", "0" },
        { "log(1000)", "3" },
        { "log(8,2)", "3" },
        { "ln(exp(2))", "2" },
        { "pow(2,0.5)^2", "2" },
    };

    check_all(pairs, ARRAY_LEN(pairs));
}

TEST(whole_numbers_stay_exact)
{
    static const struct pair pairs[] = {
        { "9007199254740993+0", "9007199254740993" },
        { "2^100", "1267650600228229401496703205376" },
        { "2^126+(2^126-1)", "170141183460469231731687303715884105727" },
        { "2^127", "1.70141183460469e+38" }, /* one more than is exact */
        { "-(2^126)-(2^126)", "-170141183460469231731687303715884105728" },
        { "(-(2^126)-(2^126))%-1", "0" },
        { "(-(2^126)-(2^126))/-1", "1.70141183460469e+38" },
        { "3*(10^20)/3", "100000000000000000000" },
        { "(-3)^3", "-27" },
        { "max(9007199254740993,9007199254740992)", "9007199254740993" },
    };

    check_all(pairs, ARRAY_LEN(pairs));
}

TEST(what_cannot_be_calculated_is_told_with_its_place)
{
    static const struct pair pairs[] = {
        { "", "character 1: expected a number, a name or '(', but the expression ends here" },
        { "2+", "character 3: expected a number, a name or '(', but the expression ends here" },
        { "2 3", "character 3: expected an operator, got '3'" },
        { "(1+2",
          "character 5: expected ')' for the '(' at character 1, but the expression ends here" },
        { "1+2)", "character 4: expected an operator, got ')'" },
        { "2*\x01", "character 3: expected a number, a name or '(', got a character that means "
                    "nothing here" },
        { "1+1/0", "character 4: division by zero" },
        { "1%0", "character 2: division by zero" },
        { "0^-1", "character 2: zero to a negative power is a division by zero" },
        { "(-8)^0.5", "character 5: a negative number to a power that is no whole number" },
        { "1+sqrt(-1)", "character 3: the square root of a negative number" },
        { "ln(0)", "character 1: the logarithm of a number that is not above zero" },
        { "log(2,1)", "character 1: the base of a logarithm cannot be 1" },
        { "10^400", "character 3: the result is too large to be calculated" },
        { "exp(1000)", "character 1: the result is too large to be calculated" },
        { "1e999", "character 1: this number cannot be calculated with" },
        { "sqrt(1,2)", "character 1: sqrt takes 1 argument, not 2" },
        { "round()", "character 1: round takes 1 to 2 arguments, not 0" },
        { "max(1,)", "character 7: expected a number, a name or '(', got ')'" },
        { "round(1.5,99)", "character 1: round to 0 to 15 places" },
        { "sin", "character 1: the function sin wants its arguments in parentheses" },
        { "1+foo", "character 3: 'foo' is not known. There are: abs, ceil, cos, exp, floor, ln, "
                   "log, max, min, pow, round, sin, sqrt, tan, e, pi" },
    };

    check_all(pairs, ARRAY_LEN(pairs));
    CHECK_STR(value_of(SPAN("1+1\0^2")), "character 4: a NUL means nothing here");
}

static const char *nested(size_t depth)
{
    AUTO_BUF struct buf text = { 0 };

    for (size_t i = 0; i < depth; i++)
        buf_byte(&text, '(');
    buf_byte(&text, '1');
    for (size_t i = 0; i < depth; i++)
        buf_byte(&text, ')');
    return value_of(buf_span(&text));
}

TEST(an_expression_is_so_deep_and_so_long_and_no_more)
{
    AUTO_BUF struct buf text = { 0 };

    CHECK_STR(nested(MATH_DEPTH_MAX - 1), "1");
    CHECK_STR(nested(MATH_DEPTH_MAX), "character 65: too much within each other");
    CHECK_HAS(nested(4000), "too much within each other");
    buf_byte(&text, '1');
    while (text.n < MATH_TEXT_MAX)
        buf_byte(&text, ' ');
    CHECK_STR(value_of(buf_span(&text)), "1");
    buf_byte(&text, ' ');
    CHECK_STR(value_of(buf_span(&text)), "the expression is longer than 8192 bytes");
    text.n = 0;
    while (text.n < 8000) /* no depth: signs and operators in a row */
        buf_str(&text, "-1*");
    buf_str(&text, "1");
    CHECK_STR(value_of(buf_span(&text)), "-1");
}

static const char *converted(double v, const char *from, const char *to)
{
    static char shown[300];
    AUTO_BUF struct buf out = { 0 };
    struct pb_error err;
    double result;

    if (math_convert(v, from, to, &result, &err) < 0)
        buf_printf(&out, "%s", err.msg);
    else
        math_print(&out, math_real(result));
    snprintf(shown, sizeof shown, "%s", buf_cstr(&out));
    return shown;
}

TEST(units_of_each_kind_are_converted)
{
    CHECK_STR(converted(1, "km", "m"), "1000");
    CHECK_STR(converted(1, "mile", "kilometers"), "1.609344");
    CHECK_STR(converted(12, "inches", "feet"), "1");
    CHECK_STR(converted(1, "lb", "g"), "453.59237");
    CHECK_STR(converted(90, "minutes", "h"), "1.5");
    CHECK_STR(converted(100, "celsius", "F"), "212");
    CHECK_STR(converted(0, "K", "C"), "-273.15");
    CHECK_STR(converted(-40, "F", "C"), "-40");
    CHECK_STR(converted(1, "ha", "m2"), "10000");
    CHECK_STR(converted(1, "gal", "l"), "3.785411784");
    CHECK_STR(converted(36, "km/h", "m/s"), "10");
    CHECK_STR(converted(1, "GiB", "MB"), "1073.741824");
    CHECK_STR(converted(8, "Mb", "MB"), "1");
    CHECK_STR(converted(1, "atm", "hPa"), "1013.25");
    CHECK_STR(converted(1, "kWh", "MJ"), "3.6");
    CHECK_STR(converted(1, "MW", "mW"), "1000000000");
    CHECK_STR(converted(180, "deg", "rad"), "3.14159265358979");
    CHECK_STR(converted(1, "KM", "m"), "1000");
    CHECK_STR(converted(1, "mw", "W"), "there is no unit 'mw'"); /* milli or mega? */
    CHECK_STR(converted(1, "km", "parsec"), "there is no unit 'parsec'");
    CHECK_STR(converted(1, "km", "kg"), "km is a unit of length and kg one of mass");
    CHECK_STR(converted(1e308, "ly", "nm"), "the result is too large to be calculated");
}

static const char *formula(const char *name, const char *parameters)
{
    static char shown[512];
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_BUF struct buf text = { 0 }, json = { 0 };
    struct json_out o = json_out(&json);
    struct pb_error err;

    CHECK_INT(json_parse(&doc, span_of(parameters), NULL, NULL), 0);
    json_begin_object(&o, NULL);
    if (math_run_formula(name, json_root(&doc), &text, &o, &err) < 0) {
        text.n = 0;
        buf_printf(&text, "%s", err.msg);
    }
    snprintf(shown, sizeof shown, "%s", buf_cstr(&text));
    return shown;
}

TEST(formulas_are_found_by_name)
{
    CHECK_STR(formula("circle_area", "{\"radius\":2}"), "area = 12.5663706143592");
    CHECK_STR(formula("pythagoras", "{\"a\":3,\"b\":\"4\"}"), "c = 5");
    CHECK_STR(formula("quadratic", "{\"a\":1,\"b\":-3,\"c\":2}"), "x1 = 2\nx2 = 1");
    CHECK_STR(formula("compound_interest",
                      "{\"principal\":1000,\"rate\":0.05,\"times_per_year\":1,\"years\":2}"),
              "amount = 1102.5\ninterest = 102.5");
    CHECK_STR(formula("bmi", "{\"weight_kg\":81,\"height_m\":1.8}"), "bmi = 25");
    CHECK_STR(formula("bmi", "{\"weight_kg\":81}"), "Missing required parameter: height_m");
    CHECK_STR(formula("bmi", "{\"weight_kg\":81,\"height_m\":1,\"age\":3}"),
              "bmi has no parameter 'age'");
    CHECK_STR(formula("pythagoras", "{\"a\":\"1)+(1\",\"b\":1}"),
              "parameter a must be a number, not a string");
    CHECK_STR(formula("quadratic", "{\"a\":1,\"b\":0,\"c\":1}"),
              "x1 = (-(0)+sqrt((0)^2-4*(1)*(1)))/(2*(1)): character 7: the square root of a "
              "negative number");
    CHECK_STR(formula("nope", "{}"), "there is no formula 'nope'");
}
