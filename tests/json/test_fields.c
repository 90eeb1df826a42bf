#include "tap.h"
#include "json/json.h"

struct everything {
    struct span string;
    char *cstr;
    int64_t i;
    uint64_t u;
    double d;
    bool b;
    struct json object, array, any;
};

/* clang-format off */
static const struct json_field fields[] = {
    { "string", JSON_FIELD_STRING, offsetof(struct everything, string), JSON_REQUIRED },
    { "cstr",   JSON_FIELD_CSTR,   offsetof(struct everything, cstr),   0 },
    { "i",      JSON_FIELD_INT,    offsetof(struct everything, i),      0 },
    { "u",      JSON_FIELD_UINT,   offsetof(struct everything, u),      0 },
    { "d",      JSON_FIELD_DOUBLE, offsetof(struct everything, d),      0 },
    { "b",      JSON_FIELD_BOOL,   offsetof(struct everything, b),      0 },
    { "object", JSON_FIELD_OBJECT, offsetof(struct everything, object), 0 },
    { "array",  JSON_FIELD_ARRAY,  offsetof(struct everything, array),  0 },
    { "any",    JSON_FIELD_ANY,    offsetof(struct everything, any),    0 },
    { 0 },
};
/* clang-format on */

static int fill(const char *text, struct everything *e, struct arena *a, struct json_doc *doc,
                struct pb_error *err)
{
    CHECK_INT(json_parse(doc, span_of(text), NULL, NULL), 0);
    return json_fields(json_root(doc), fields, e, a, err);
}

TEST(each_kind_of_member_goes_to_its_place)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena a = { 0 };
    struct everything e = { 0 };

    CHECK_INT(fill("{\"unknown\":[],\"any\":\"x\",\"array\":[1],\"object\":{},\"b\":true,"
                   "\"d\":1.5,\"u\":18446744073709551615,\"i\":-3e2,\"cstr\":\"a\\tb\","
                   "\"\\u0073tring\":\"a\\u0000b\"}",
                   &e, &a, &doc, NULL),
              0);
    CHECK(span_eq(e.string, SPAN("a\0b")));
    CHECK_STR(e.cstr, "a\tb");
    CHECK_INT(e.i, -300);
    CHECK(e.u == UINT64_MAX);
    CHECK(e.d == 1.5);
    CHECK(e.b);
    CHECK_SPAN(json_text(e.object), "{}");
    CHECK_SPAN(json_text(e.array), "[1]");
    CHECK_SPAN(json_text(e.any), "\"x\"");
}

TEST(absent_and_null_members_leave_their_place_as_it_was)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena a = { 0 };
    struct everything e = { .i = 7, .b = true, .d = 2.5 };

    CHECK_INT(fill("{\"string\":\"\",\"i\":null,\"any\":null,\"d\":null}", &e, &a, &doc, NULL), 0);
    CHECK_INT(e.i, 7);
    CHECK(e.b);
    CHECK(e.d == 2.5);
    CHECK_INT(json_type(e.any), JSON_NONE);
}

TEST(errors_name_the_member_and_what_was_expected)
{
    static const struct {
        const char *text;
        int rc;
        const char *want;
    } cases[] = {
        { "{}", -PB_E_INVALID, "string: missing; expected a string" },
        { "null", -PB_E_INVALID, "string: missing; expected a string" },
        { "{\"string\":null}", -PB_E_INVALID, "string: missing; expected a string" },
        { "{\"string\":1}", -PB_E_INVALID, "string: expected a string, got a number" },
        { "{\"string\":\"\",\"cstr\":[]}", -PB_E_INVALID, "cstr: expected a string, got an array" },
        { "{\"string\":\"\",\"cstr\":\"\\u0000\"}", -PB_E_INVALID,
          "cstr: a NUL character is not allowed here" },
        { "{\"string\":\"\",\"i\":\"1\"}", -PB_E_INVALID,
          "i: expected a whole number, got a string" },
        { "{\"string\":\"\",\"i\":1.5}", -PB_E_INVALID, "i: 1.5 is not a whole number" },
        { "{\"string\":\"\",\"i\":1e30}", -PB_E_LIMIT, "i: 1e30 is outside -2^63..2^63-1" },
        { "{\"string\":\"\",\"u\":-1}", -PB_E_LIMIT, "u: -1 is outside 0..2^64-1" },
        { "{\"string\":\"\",\"d\":1e999}", -PB_E_LIMIT,
          "d: 1e999 is outside the range of a double" },
        { "{\"string\":\"\",\"b\":0}", -PB_E_INVALID, "b: expected a boolean, got a number" },
        { "{\"string\":\"\",\"object\":[]}", -PB_E_INVALID,
          "object: expected an object, got an array" },
        { "{\"string\":\"\",\"array\":{}}", -PB_E_INVALID,
          "array: expected an array, got an object" },
        { "[]", -PB_E_INVALID, "expected an object, got an array" },
        { "\"x\"", -PB_E_INVALID, "expected an object, got a string" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_JSON struct json_doc doc = { 0 };
        AUTO_ARENA struct arena a = { 0 };
        struct everything e = { 0 };
        struct pb_error err = { 0 };

        CHECK_INT(fill(cases[i].text, &e, &a, &doc, &err), cases[i].rc);
        CHECK_STR(err.msg, cases[i].want);
        CHECK_INT(fill(cases[i].text, &e, &a, &doc, NULL), cases[i].rc);
    }
}

TEST(an_absent_object_counts_as_empty)
{
    static const struct json_field optional[] = {
        { "i", JSON_FIELD_INT, offsetof(struct everything, i), 0 },
        { 0 },
    };
    struct everything e = { .i = 4 };

    CHECK_INT(json_fields((struct json){ 0 }, optional, &e, NULL, NULL), 0);
    CHECK_INT(e.i, 4);
}
