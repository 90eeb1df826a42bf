/* math.c - math_operations, and calculator, which is the first of its operations alone. */
#include "plain_impl.h"

static int answer(struct tool_call *c, struct math_value v)
{
    AUTO_BUF struct buf text = { 0 }, json = { 0 };

    math_print(&text, v);
    buf_printf(&json, "{\"result\":%s}", buf_cstr(&text));
    pb_reply_bytes(c->call, text.p, text.n);
    return pb_reply_structured(c->call, buf_cstr(&json));
}

static int calculate(struct tool_call *c)
{
    struct math_value v;
    struct pb_error err;

    if (math_evaluate(span_of(pb_arg_string(c->call, "expression")), &v, &err) < 0)
        return pb_fail(c->call, "The expression cannot be calculated: %s", err.msg);
    return answer(c, v);
}

static int convert(struct tool_call *c)
{
    AUTO_BUF struct buf known = { 0 };
    const char *from = pb_arg_string(c->call, "from"), *to = pb_arg_string(c->call, "to");
    struct pb_error err;
    double v;
    int rc = math_convert(pb_arg_double(c->call, "value"), from, to, &v, &err);

    if (rc == -(int)PB_E_NOT_FOUND) {
        math_list_units(&known);
        return pb_fail(c->call, "%s. Units are:\n%s", err.msg, buf_cstr(&known));
    }
    if (rc < 0)
        return pb_fail(c->call, "%s", err.msg);
    return answer(c, math_real(v));
}

static int formula(struct tool_call *c)
{
    static const char none[] = "{}";
    AUTO_BUF struct buf text = { 0 }, json = { 0 }, known = { 0 };
    AUTO_JSON struct json_doc doc = { 0 };
    const char *parameters = pb_arg_json(c->call, "parameters");
    struct json_out o = json_out(&json);
    struct pb_error err;
    int rc = json_parse(&doc, span_of(parameters ? parameters : none),
                        &(struct json_opts){ .unique_depth = 1 }, &err);

    if (rc < 0)
        return pb_fail(c->call, "parameters: %s", err.msg);
    json_begin_object(&o, NULL);
    rc = math_run_formula(pb_arg_string(c->call, "name"), json_root(&doc), &text, &o, &err);
    if (rc < 0) {
        math_list_formulas(&known);
        return pb_fail(c->call, "%s. Formulas are: %s", err.msg, buf_cstr(&known));
    }
    json_end(&o);
    pb_reply_bytes(c->call, text.p, text.n);
    return pb_reply_structured(c->call, buf_cstr(&json));
}

/* ---- rows ---- */

static const struct pb_param expression_params[] = {
    { .name = "expression",
      .type = PB_STRING,
      .description =
          "Such as (2+3)*4^2 or sqrt(2)/round(pi, 2): + - * / % ^, parentheses, sqrt abs "
          "min max round floor ceil sin cos tan log ln exp pow, pi, e; angles in radians" },
    { 0 },
};
static const struct pb_param convert_params[] = {
    { .name = "value", .type = PB_DOUBLE, .description = "How many" },
    { .name = "from", .type = PB_STRING, .description = "Their unit, such as km or celsius" },
    { .name = "to", .type = PB_STRING, .description = "The unit that is wanted" },
    { 0 },
};
static const struct pb_param formula_params[] = {
    { .name = "name",
      .type = PB_STRING,
      .description = "Such as circle_area; a name that is not known gets the list of all" },
    { .name = "parameters",
      .type = PB_OBJECT,
      .flags = PB_OPTIONAL,
      .description = "A number for each parameter of the formula" },
    { 0 },
};

enum { PLAIN = PB_READ_ONLY | PB_CLOSED_WORLD };

static const struct tool_operation math_rows[] = {
    { .name = "calculate",
      .help = "the value of an expression; whole numbers stay exact up to 38 digits",
      .params = expression_params,
      .flags = PLAIN,
      .run = calculate,
      .display = "Calculating",
      .display_param = "expression" },
    { .name = "convert",
      .help =
          "a value in another unit: length, mass, time, temperature, area, volume, speed, data, "
          "pressure, energy, power, angle",
      .params = convert_params,
      .flags = PLAIN,
      .run = convert,
      .display = "Converting" },
    { .name = "formula",
      .help = "a formula by its name",
      .params = formula_params,
      .flags = PLAIN,
      .run = formula,
      .display = "Calculating",
      .display_param = "name" },
    { 0 },
};

const struct tool math_tool = {
    .name = "math_operations",
    .title = "Mathematics",
    .help = "Calculates instead of guessing: expressions, units, formulas.",
    .icon = "function",
    .group = TOOLS_PLAIN,
    .operations = math_rows,
};

static const struct tool_operation calculator_rows[] = {
    { .params = expression_params,
      .flags = PLAIN,
      .run = calculate,
      .display = "Calculating",
      .display_param = "expression" },
    { 0 },
};

const struct tool calculator_tool = {
    .name = "calculator",
    .title = "Calculator",
    .help = "The value of an expression.",
    .icon = "plus.forwardslash.minus",
    .group = TOOLS_PLAIN,
    .operations = calculator_rows,
};
