/* math_formula.c - formulas by name. Each is an expression for every result; its parameters are put
 * in for their names, so that what calculates is what calculates anything else. */
#include "plain_impl.h"
#include <ctype.h>

enum { FORMULA_PARAMS = 4, FORMULA_RESULTS = 2 };

/* clang-format off */
static const struct formula {
    const char *name;
    const char *params[FORMULA_PARAMS + 1];
    struct { const char *name, *expression; } results[FORMULA_RESULTS + 1];
} formulas[] = {
    { "bmi",               { "weight_kg", "height_m" },      { { "bmi", "weight_kg/height_m^2" } } },
    { "circle_area",       { "radius" },                     { { "area", "pi*radius^2" } } },
    { "circle_circumference", { "radius" },                  { { "circumference", "2*pi*radius" } } },
    { "compound_interest", { "principal", "rate", "times_per_year", "years" },
      { { "amount", "principal*(1+rate/times_per_year)^(times_per_year*years)" },
        { "interest", "principal*(1+rate/times_per_year)^(times_per_year*years)-principal" } } },
    { "cylinder_volume",   { "radius", "height" },           { { "volume", "pi*radius^2*height" } } },
    { "discount",          { "price", "percent" },           { { "price", "price*(1-percent/100)" } } },
    { "distance",          { "x1", "y1", "x2", "y2" },       { { "distance", "sqrt((x2-x1)^2+(y2-y1)^2)" } } },
    { "kinetic_energy",    { "mass", "velocity" },           { { "energy", "mass*velocity^2/2" } } },
    { "loan_payment",      { "principal", "rate", "months" },
      { { "payment", "principal*(rate/12)/(1-(1+rate/12)^(-months))" } } },
    { "percent_change",    { "from", "to" },                 { { "percent", "(to-from)/abs(from)*100" } } },
    { "pythagoras",        { "a", "b" },                     { { "c", "sqrt(a^2+b^2)" } } },
    { "quadratic",         { "a", "b", "c" },
      { { "x1", "(-b+sqrt(b^2-4*a*c))/(2*a)" }, { "x2", "(-b-sqrt(b^2-4*a*c))/(2*a)" } } },
    { "rectangle_area",    { "width", "height" },            { { "area", "width*height" } } },
    { "simple_interest",   { "principal", "rate", "years" }, { { "interest", "principal*rate*years" } } },
    { "sphere_volume",     { "radius" },                     { { "volume", "4/3*pi*radius^3" } } },
    { "triangle_area",     { "base", "height" },             { { "area", "base*height/2" } } },
};
/* clang-format on */

void math_list_formulas(struct buf *out)
{
    for (size_t i = 0; i < ARRAY_LEN(formulas); i++) {
        buf_printf(out, "%s%s(", i ? ", " : "", formulas[i].name);
        for (size_t k = 0; formulas[i].params[k]; k++)
            buf_printf(out, "%s%s", k ? ", " : "", formulas[i].params[k]);
        buf_byte(out, ')');
    }
}

static const struct formula *formula_named(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(formulas); i++)
        if (strcmp(formulas[i].name, name) == 0)
            return &formulas[i];
    return NULL;
}

static bool has_param(const struct formula *f, struct span name)
{
    for (size_t i = 0; f->params[i]; i++)
        if (span_is(name, f->params[i]))
            return true;
    return false;
}

/* A number, or a text that spells one; in parentheses, as it may be negative. */
static int put_value(struct buf *out, struct json parameters, struct span name,
                     struct pb_error *err)
{
    AUTO_ARENA struct arena a = { 0 };
    AUTO_JSON struct json_doc doc = { 0 };
    struct json v = json_get_span(parameters, name);

    if (json_is(v, JSON_NONE))
        return fail(err, PB_E_INVALID, "Missing required parameter: %.*s", SPAN_ARG(name));
    if (json_is(v, JSON_STRING) && json_parse(&doc, json_str(v, &a), NULL, NULL) == 0)
        v = json_root(&doc);
    if (!json_is(v, JSON_NUMBER))
        return fail(err, PB_E_INVALID, "parameter %.*s must be a number, not %s", SPAN_ARG(name),
                    json_type_phrase(v));
    buf_byte(out, '(');
    buf_add_span(out, json_text(v));
    buf_byte(out, ')');
    return 0;
}

static int fill(struct buf *out, const struct formula *f, const char *expression,
                struct json parameters, struct pb_error *err)
{
    while (*expression) {
        struct span name = { expression, 0 };

        while (isalnum((unsigned char)expression[name.n]) || expression[name.n] == '_')
            name.n++;
        if (name.n && has_param(f, name)) {
            if (put_value(out, parameters, name, err) < 0)
                return -(int)err->code;
        } else {
            name.n += !name.n;
            buf_add_span(out, name);
        }
        expression += name.n;
    }
    return 0;
}

/* What is too much is a mistake as well: probably another formula was meant. */
static int check_names(const struct formula *f, struct json parameters, struct pb_error *err)
{
    AUTO_ARENA struct arena a = { 0 };

    JSON_FOREACH(v, parameters) {
        struct span key = json_key_str(v, &a);

        if (!has_param(f, key))
            return fail(err, PB_E_INVALID, "%s has no parameter '%.*s'", f->name,
                        (int)utf8_cut(key, 60).n, key.p);
    }
    return 0;
}

int math_run_formula(const char *name, struct json parameters, struct buf *text, struct json_out *o,
                     struct pb_error *err)
{
    const struct formula *f = formula_named(name);

    if (!f)
        return fail(err, PB_E_NOT_FOUND, "there is no formula '%.60s'", name);
    if (check_names(f, parameters, err) < 0)
        return -(int)err->code;
    for (size_t i = 0; f->results[i].name; i++) {
        AUTO_BUF struct buf expression = { 0 }, number = { 0 };
        struct math_value v;

        if (fill(&expression, f, f->results[i].expression, parameters, err) < 0)
            return -(int)err->code;
        if (math_evaluate(buf_span(&expression), &v, err) < 0)
            return fail_in(err, "%s = %s", f->results[i].name, buf_cstr(&expression));
        math_print(&number, v);
        buf_printf(text, "%s%s = %s", i ? "\n" : "", f->results[i].name, buf_cstr(&number));
        json_put_raw(o, f->results[i].name, buf_span(&number));
    }
    return 0;
}
