/* fuzz_params - any JSON as the arguments of a tool with every type of parameter. What
 * params_normalise() makes is JSON, conforms, and is what it would make of itself; what conforms is
 * accepted. */
#include "mcp/registry/params.h"
#include "mcp/registry/registry.h"

#define MUST(cond)   \
    do {             \
        if (!(cond)) \
            abort(); \
    } while (0)

static const char *const options[] = { "a", "b\"c", NULL };
static const struct pb_param number[] = { { NULL, PB_INT } };
static const struct pb_param row[] = { { NULL, PB_ARRAY, .of = number } };
static const struct pb_param inner[] = {
    { "s", PB_STRING },
    { "rows", PB_ARRAY, .of = row, .flags = PB_OPTIONAL },
    { "k", PB_DOUBLE, .fallback = "\"1.50\"" },
    { 0 },
};
static const struct pb_param all[] = {
    { "s", PB_STRING, .flags = PB_OPTIONAL },
    { "i", PB_INT, .fallback = "3.0" },
    { "d", PB_DOUBLE, .flags = PB_OPTIONAL },
    { "b", PB_BOOL, .flags = PB_OPTIONAL },
    { "o", PB_OBJECT, .of = inner, .flags = PB_OPTIONAL },
    { "free", PB_OBJECT, .flags = PB_OPTIONAL },
    { "list", PB_ARRAY, .flags = PB_OPTIONAL },
    { "one", PB_ONE_OF, .options = options, .flags = PB_OPTIONAL },
    { "any", PB_ANY, .flags = PB_OPTIONAL },
    { 0 },
};

static void check_arguments(const struct params *p, struct span text)
{
    AUTO_JSON struct json_doc doc = { 0 }, again = { 0 };
    AUTO_BUF struct buf out = { 0 }, twice = { 0 };
    struct json_opts strict = { .unique_depth = JSON_ALL };
    struct pb_error err = { 0 };

    if (json_parse(&doc, text, &strict, NULL) < 0 || !json_is(json_root(&doc), JSON_OBJECT))
        return;
    if (params_normalise(p, json_root(&doc), &out, &err) < 0) {
        MUST(err.code == PB_E_INVALID && err.msg[0]);
        MUST(!params_conform(p, json_root(&doc)));
        return;
    }
    MUST(json_parse(&again, buf_span(&out), &strict, NULL) == 0);
    MUST(params_conform(p, json_root(&again)));
    MUST(params_normalise(p, json_root(&again), &twice, NULL) == 0);
    MUST(span_eq(buf_span(&out), buf_span(&twice)));
    if (params_conform(p, json_root(&doc)))
        MUST(json_equal(json_root(&doc), json_root(&again)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct params *p;
    struct span text = { (const char *)data, size };

    if (!p)
        MUST(params_new(&p, all, NULL) == 0);
    check_arguments(p, text);
    return 0;
}
