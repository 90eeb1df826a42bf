/* fuzz_expression.c - expressions, times and rules of time zones that anybody may have written.
 * A value is finite, is shown as a number, and in parentheses it is the same. */
#include "tools/plain/plain_impl.h"
#include "json/json.h"

static void show(struct buf *out, struct span text)
{
    struct math_value v;
    struct pb_error err;

    if (math_evaluate(text, &v, &err) < 0)
        return;
    if (!__builtin_isfinite(math_double(v)))
        __builtin_trap();
    math_print(out, v);
}

static void calculate(struct span text)
{
    AUTO_BUF struct buf value = { 0 }, again = { 0 }, wrapped = { 0 };
    AUTO_JSON struct json_doc doc = { 0 };

    show(&value, text);
    if (!value.n)
        return;
    if (json_parse(&doc, buf_span(&value), NULL, NULL) < 0)
        __builtin_trap();
    buf_printf(&wrapped, "(%.*s)", SPAN_ARG(text));
    show(&again, buf_span(&wrapped));
    if (again.n && !span_eq(buf_span(&value), buf_span(&again)))
        __builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct span text = span_make((const char *)data, size);
    AUTO_BUF struct buf out = { 0 };
    struct moment m;
    struct pb_error err;
    int offset_s;

    if (size)
        calculate(text);
    if (moment_parse(text, &m, &err) == 0)
        moment_print(&out, &m);
    zone_rule(text, 1763300000, &offset_s);
    if (zone_offset(text, 1763300000, &offset_s, &err) == 0 &&
        (offset_s < -700000 || offset_s > 700000))
        __builtin_trap();
    return 0;
}
