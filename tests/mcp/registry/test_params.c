#include "mcp/registry/params.h"
#include "mcp/registry/registry.h"
#include "tap.h"

static const char *schema_of(const struct pb_param *list)
{
    static struct buf text;
    AUTO(params) struct params *p = NULL;

    text.n = 0;
    CHECK_INT(params_new(&p, list, NULL), 0);
    params_schema(p, &text);
    return buf_cstr(&text);
}

#define PARAMS(...) ((const struct pb_param[]){ __VA_ARGS__, { 0 } })
#define CLOSED      ",\"additionalProperties\":false}"

/* S2-38 S2-39 S2-40 S2-41 S2-44 S2-45 S2-47 S2-49 */
TEST(each_type_has_its_schema)
{
    static const char *const options[] = { "red", "green", NULL };
    static const struct {
        struct pb_param p;
        const char *want;
    } cases[] = {
        { { "x", PB_STRING }, "{\"type\":\"string\"}" },
        { { "x", PB_INT }, "{\"type\":\"integer\"}" },
        { { "x", PB_DOUBLE }, "{\"type\":\"number\"}" },
        { { "x", PB_BOOL }, "{\"type\":\"boolean\"}" },
        { { "x", PB_ONE_OF, .options = options },
          "{\"type\":\"string\",\"enum\":[\"red\",\"green\"]}" },
        { { "x", PB_ANY }, "{}" },
        { { "x", PB_STRING, "what it is" },
          "{\"type\":\"string\",\"description\":\"what it is\"}" },
        { { "x", PB_STRING, .header = "Region" },
          "{\"type\":\"string\",\"x-mcp-header\":\"Region\"}" },
        { { "x", PB_ANY, "all" }, "{\"description\":\"all\"}" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_BUF struct buf want = { 0 };

        buf_printf(&want,
                   "{\"type\":\"object\",\"properties\":{\"x\":%s},\"required\":[\"x\"]" CLOSED,
                   cases[i].want);
        CHECK_STR(schema_of(PARAMS(cases[i].p)), buf_cstr(&want));
    }
}

/* S2-42 S2-43 */
TEST(arrays_and_objects_are_described_to_the_bottom)
{
    static const struct pb_param number[] = { { NULL, PB_DOUBLE } };
    static const struct pb_param row[] = { { NULL, PB_ARRAY, .of = number } };
    static const struct pb_param user[] = {
        { "name", PB_STRING },
        { "tags", PB_ARRAY, .of = row, .flags = PB_OPTIONAL },
        { 0 },
    };

    CHECK_STR(schema_of(PARAMS({ "user", PB_OBJECT, "who", .of = user })),
              "{\"type\":\"object\",\"properties\":{\"user\":{\"type\":\"object\",\"properties\":{"
              "\"name\":{\"type\":\"string\"},\"tags\":{\"type\":\"array\",\"items\":{\"type\":"
              "\"array\",\"items\":{\"type\":\"number\"}}}},\"required\":[\"name\"],"
              "\"description\":\"who\"}},\"required\":[\"user\"]" CLOSED);
    CHECK_STR(schema_of(PARAMS({ "x", PB_ARRAY }, { "y", PB_OBJECT })),
              "{\"type\":\"object\",\"properties\":{\"x\":{\"type\":\"array\"},\"y\":{\"type\":"
              "\"object\"}},\"required\":[\"x\",\"y\"]" CLOSED);
    CHECK_STR(schema_of(NULL), "{\"type\":\"object\",\"properties\":{},\"required\":[]" CLOSED);
}

/* S2-47 */
TEST(optional_parameters_and_those_with_a_fallback_are_not_required)
{
    CHECK_STR(
        schema_of(PARAMS({ "a", PB_INT }, { "b", PB_INT, .flags = PB_OPTIONAL },
                         { "c", PB_INT, .fallback = " 3.0 " })),
        "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\"},\"b\":{\"type\":"
        "\"integer\"},\"c\":{\"type\":\"integer\",\"default\":3}},\"required\":[\"a\"]" CLOSED);
}

static const char *const units[] = { "c", "f", NULL };
static const struct pb_param element[] = { { NULL, PB_INT } };
static const struct pb_param user[] = {
    { "name", PB_STRING },
    { "tags", PB_ARRAY, .of = element, .flags = PB_OPTIONAL },
    { 0 },
};
static const struct pb_param all[] = {
    { "s", PB_STRING, .flags = PB_OPTIONAL },
    { "i", PB_INT, .flags = PB_OPTIONAL },
    { "d", PB_DOUBLE, .flags = PB_OPTIONAL },
    { "b", PB_BOOL, .flags = PB_OPTIONAL },
    { "a", PB_ARRAY, .of = element, .flags = PB_OPTIONAL },
    { "user", PB_OBJECT, .of = user, .flags = PB_OPTIONAL },
    { "unit", PB_ONE_OF, .options = units, .flags = PB_OPTIONAL },
    { "any", PB_ANY, .flags = PB_OPTIONAL },
    { 0 },
};

struct outcome {
    int rc;
    bool as_is;
    char text[512];
};

static struct outcome apply(const struct pb_param *list, const char *arguments)
{
    AUTO(params) struct params *p = NULL;
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_BUF struct buf out = { 0 };
    struct outcome o = { 0 };
    struct pb_error err;

    CHECK_INT(params_new(&p, list, NULL), 0);
    CHECK_INT(json_parse(&doc, span_of(arguments), NULL, NULL), 0);
    o.as_is = params_conform(p, json_root(&doc));
    o.rc = params_normalise(p, json_root(&doc), &out, &err);
    snprintf(o.text, sizeof o.text, "%s", o.rc < 0 ? err.msg : buf_cstr(&out));
    return o;
}

TEST(arguments_that_fit_are_left_alone)
{
    static const char *const cases[] = {
        "{}",
        "{\"s\":\"3\",\"i\":-9223372036854775808,\"d\":1.50,\"b\":false}",
        "{\"a\":[],\"unit\":\"f\",\"any\":null}",
        "{\"user\":{\"name\":\"\\u00e9\\\\u0000\",\"tags\":[1,2]},\"any\":{\"x\":[1e400]}}",
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct outcome o = apply(all, cases[i]);

        CHECK_INT(o.rc, 0);
        CHECK(o.as_is);
        CHECK_STR(o.text, cases[i]);
    }
}

TEST(arguments_are_coerced_to_the_type_that_is_wanted)
{
    static const struct {
        const char *from, *to;
    } cases[] = {
        { "{\"i\":\"3\"}", "{\"i\":3}" },
        { "{\"i\":3.0}", "{\"i\":3}" },
        { "{\"i\":3e2}", "{\"i\":300}" },
        { "{\"i\":\"-7.0\"}", "{\"i\":-7}" },
        { "{\"i\":9223372036854775807.0}", "{\"i\":9223372036854775807}" },
        { "{\"d\":\"2.50\"}", "{\"d\":2.50}" },
        { "{\"d\":2}", "{\"d\":2}" },
        { "{\"b\":\"true\"}", "{\"b\":true}" },
        { "{\"b\":\"false\"}", "{\"b\":false}" },
        { "{\"a\":[\"1\",2.0,3]}", "{\"a\":[1,2,3]}" },
        { "{\"user\":{\"tags\":[\"1\"],\"name\":\"n\",\"more\":{\"k\":1.0}}}",
          "{\"user\":{\"name\":\"n\",\"tags\":[1],\"more\":{\"k\":1.0}}}" },
        { "{\"s\":null,\"i\":null,\"any\":null}", "{\"any\":null}" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct outcome o = apply(all, cases[i].from);

        CHECK_STR(o.text, cases[i].to);
        CHECK_INT(o.rc, 0);
        CHECK_INT(o.as_is, strcmp(cases[i].from, cases[i].to) == 0);
        CHECK(apply(all, o.text).as_is);
    }
}

TEST(fallbacks_are_filled_in)
{
    static const struct pb_param inner[] = { { "k", PB_INT, .fallback = "\"5\"" }, { 0 } };
    const struct pb_param *list =
        PARAMS({ "a", PB_STRING, .fallback = "\"x\"" },
               { "o", PB_OBJECT, .of = inner, .fallback = "{}" }, { "n", PB_INT });

    CHECK_STR(apply(list, "{\"n\":1}").text, "{\"a\":\"x\",\"o\":{\"k\":5},\"n\":1}");
    CHECK_STR(apply(list, "{\"n\":1,\"a\":null,\"o\":{\"k\":6}}").text,
              "{\"a\":\"x\",\"o\":{\"k\":6},\"n\":1}");
    CHECK_STR(apply(list, "{\"n\":1,\"a\":\"\",\"o\":{}}").text,
              "{\"a\":\"\",\"o\":{\"k\":5},\"n\":1}");
}

TEST(absent_arguments_are_an_empty_object)
{
    AUTO(params) struct params *p = NULL;
    AUTO_BUF struct buf out = { 0 };

    CHECK_INT(params_new(&p, PARAMS({ "a", PB_INT, .fallback = "1" }), NULL), 0);
    CHECK(!params_conform(p, (struct json){ 0 }));
    CHECK_INT(params_normalise(p, (struct json){ 0 }, &out, NULL), 0);
    CHECK_STR(buf_cstr(&out), "{\"a\":1}");
}

/* S2-32 */
TEST(what_does_not_fit_is_refused_with_its_path)
{
    static const struct {
        const char *arguments, *want;
    } cases[] = {
        { "{\"s\":3}", "s: expected a string, got a number" },
        { "{\"s\":\"a\\u0000b\"}", "s: a string with a NUL character is not accepted" },
        { "{\"i\":\"three\"}", "i: expected an integer, got a string" },
        { "{\"i\":\"\"}", "i: expected an integer, got a string" },
        { "{\"i\":true}", "i: expected an integer, got a boolean" },
        { "{\"i\":3.5}", "i: expected a whole number of 64 bits" },
        { "{\"b\":1}", "b: expected a boolean, got a number" },
        { "{\"b\":\"TRUE\"}", "b: expected a boolean, got a string" },
        { "{\"d\":[]}", "d: expected a number, got an array" },
        { "{\"d\":1e999}", "d: the number is too large" },
        { "{\"a\":{}}", "a: expected an array, got an object" },
        { "{\"unit\":\"k\"}", "unit: expected one of 'c', 'f'" },
        { "{\"unit\":1}", "unit: expected one of 'c', 'f'" },
        { "{\"user\":[]}", "user: expected an object, got an array" },
        { "{\"user\":{}}", "user.name: is required" },
        { "{\"user\":{\"name\":\"n\",\"tags\":[1,2,\"x\"]}}",
          "user.tags[2]: expected an integer, got a string" },
        { "{\"user\":{\"name\":null}}", "user.name: expected a string, got null" },
        { "{\"usr\":{}}", "unknown argument 'usr'; did you mean 'user'?" },
        { "{\"zzzzzz\":1}", "unknown argument 'zzzzzz'" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct outcome o = apply(all, cases[i].arguments);

        CHECK_STR(o.text, cases[i].want);
        CHECK_INT(o.rc, -PB_E_INVALID);
        CHECK(!o.as_is);
    }
    CHECK_STR(apply(PARAMS({ "city", PB_STRING }), "{}").text, "missing required argument 'city'");
}

TEST(integers_are_exact_to_the_last_of_64_bits)
{
    CHECK_INT(apply(all, "{\"i\":9223372036854775807}").rc, 0);
    CHECK_INT(apply(all, "{\"i\":9223372036854775808}").rc, -PB_E_INVALID);
    CHECK_INT(apply(all, "{\"i\":\"-9223372036854775809\"}").rc, -PB_E_INVALID);
    CHECK_INT(apply(all, "{\"i\":1e300}").rc, -PB_E_INVALID);
}

TEST(wrong_definitions_are_refused_by_name)
{
    static const char *const none[] = { NULL };
    static const struct pb_param untyped[] = { { "k", 0 }, { 0 } };
    static const struct {
        struct pb_param p[3];
        const char *want;
    } cases[] = {
        { { { "x", 0 } }, "parameter 'x': has no type" },
        { { { "x", (enum pb_type)99 } }, "parameter 'x': has no type" },
        { { { "x", PB_ONE_OF } }, "parameter 'x': PB_ONE_OF needs options" },
        { { { "x", PB_ONE_OF, .options = none } }, "parameter 'x': PB_ONE_OF needs options" },
        { { { "x", PB_INT, .fallback = "{" } }, "parameter 'x': the fallback is not JSON" },
        { { { "x", PB_INT, .fallback = "\"a\"" } },
          "fallback of a parameter: x: expected an integer, got a string" },
        { { { "x", PB_OBJECT, .of = untyped } }, "parameter 'x.k': has no type" },
        { { { "x", PB_ARRAY, .of = untyped } }, "parameter 'x[0]': has no type" },
        { { { "x", PB_INT }, { "x", PB_INT } }, "parameter 'x': is there twice" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct params *p = NULL;
        struct pb_error err;

        CHECK_INT(params_new(&p, cases[i].p, &err), -PB_E_INVALID);
        CHECK_STR(err.msg, cases[i].want);
        CHECK(!p);
    }
}

/* The bound, one past it, and a definition without end. */
TEST(nesting_is_bounded)
{
    static struct pb_param nest[MCP_PARAM_DEPTH_MAX + 2];
    static struct pb_param endless[] = { { "x", PB_ARRAY } };
    struct params *p = NULL;
    struct pb_error err;
    size_t last = MCP_PARAM_DEPTH_MAX;

    for (size_t i = 0; i < last; i++)
        nest[i] = (struct pb_param){ "x", PB_ARRAY, .of = &nest[i + 1] };
    nest[last - 1] = (struct pb_param){ "x", PB_INT };
    CHECK_INT(params_new(&p, PARAMS(nest[1]), &err), 0);
    params_free(p);
    nest[last - 1] = (struct pb_param){ "x", PB_ARRAY, .of = &nest[last] };
    nest[last] = (struct pb_param){ "x", PB_ARRAY, .of = &nest[last + 1] };
    nest[last + 1] = (struct pb_param){ "x", PB_INT };
    CHECK_INT(params_new(&p, PARAMS(nest[0]), &err), -PB_E_LIMIT);
    endless[0].of = endless;
    CHECK_INT(params_new(&p, PARAMS(endless[0]), &err), -PB_E_LIMIT);
    CHECK_STR(err.msg, "parameters are nested deeper than 50");
}

/* Everything is copied: what was passed in may change or go. */
TEST(the_definition_is_copied)
{
    char name[] = "city", description[] = "where", option[] = "c";
    const char *options[] = { option, NULL };
    struct pb_param list[] = { { name, PB_ONE_OF, description, .options = options }, { 0 } };
    AUTO(params) struct params *p = NULL;
    AUTO_BUF struct buf text = { 0 };

    CHECK_INT(params_new(&p, list, NULL), 0);
    memset(name, 'x', sizeof name - 1);
    memset(description, 'x', sizeof description - 1);
    option[0] = 'x';
    memset(list, 0, sizeof list);
    params_schema(p, &text);
    CHECK_STR(buf_cstr(&text),
              "{\"type\":\"object\",\"properties\":{\"city\":{\"type\":\"string\",\"enum\":[\"c\"],"
              "\"description\":\"where\"}},\"required\":[\"city\"]" CLOSED);
}
