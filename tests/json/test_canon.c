#include "tap.h"
#include "json/json.h"
#include "json/number.h"

static struct json read_text(struct json_doc *doc, const char *text)
{
    struct pb_error err;

    if (json_parse(doc, span_of(text), NULL, &err) < 0)
        TAP_FAIL("%s: %s", text, err.msg);
    return json_root(doc);
}

TEST(equality_is_that_of_json_schema)
{
    static const struct {
        const char *a, *b;
        bool want;
    } cases[] = {
        { "null", "null", true },
        { "true", "true", true },
        { "true", "false", false },
        { "0", "false", false },
        { "null", "0", false },
        { "1", "1.0", true },
        { "1", "10e-1", true },
        { "100", "1e2", true },
        { "0", "-0", true },
        { "0.0", "0e7", true },
        { "1", "-1", false },
        { "12", "21", false },
        { "1.05", "1.5", false },
        { "0.001", "1e-3", true },
        { "9007199254740993", "9007199254740992", false },
        { "1e400", "10e399", true },
        { "1e400", "1e401", false },
        { "1e99999999999999999999", "1e99999999999999999999", true },
        { "1e99999999999999999999", "1e-99999999999999999999", false },
        { "\"a\"", "\"\\u0061\"", true },
        { "\"a\"", "\"b\"", false },
        { "\"\\ud800\"", "\"\\ud801\"", false },
        { "\"\\ud800\"", "\"\xef\xbf\xbd\"", false },
        { "\"\\ud83d\\ude00\"", "\"\xf0\x9f\x98\x80\"", true },
        { "\"1\"", "1", false },
        { "[]", "[]", true },
        { "[]", "{}", false },
        { "[1,2]", "[1.0,2e0]", true },
        { "[1,2]", "[2,1]", false },
        { "[1]", "[1,1]", false },
        { "{\"a\":1,\"b\":2}", "{\"b\":2.0,\"a\":1}", true },
        { "{\"a\":1,\"b\":2}", "{\"b\":1,\"a\":2}", false },
        { "{\"a\":1}", "{\"b\":1}", false },
        { "{\"a\":1}", "{\"a\":1,\"b\":1}", false },
        { "{\"a\":{\"x\":[1,{}],\"y\":0}}", "{ \"\\u0061\" : {\"y\":0,\"x\":[1,{}]}}", true },
        { "{\"a\":1,\"a\":1}", "{\"a\":1,\"b\":1}", false },
        { "{\"a\":1,\"b\":1}", "{\"a\":1,\"a\":1}", false },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_JSON struct json_doc a = { 0 };
        AUTO_JSON struct json_doc b = { 0 };
        struct json x = read_text(&a, cases[i].a), y = read_text(&b, cases[i].b);

        if (json_equal(x, y) != cases[i].want || json_equal(y, x) != cases[i].want)
            TAP_FAIL("%s and %s", cases[i].a, cases[i].b);
        CHECK(json_equal(x, x));
    }
}

TEST(numbers_are_ordered_exactly)
{
    /* ascending */
    static const char *const numbers[] = {
        "-1e99999999999999999999",
        "-1e400",
        "-100.5",
        "-100",
        "-99.99",
        "-1e-9",
        "0",
        "1e-400",
        "0.1",
        "0.10000000000000000000000000000000001",
        "0.5",
        "1",
        "1.5",
        "9.99",
        "10",
        "9007199254740992",
        "9007199254740993",
        "18446744073709551615",
        "18446744073709551616",
        "1e20",
        "123456789012345678901234567890",
        "123456789012345678901234567891",
        "1e400",
        "1e99999999999999999999",
    };

    for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
        for (size_t k = 0; k < ARRAY_LEN(numbers); k++) {
            int order = number_cmp(span_of(numbers[i]), span_of(numbers[k]));

            if ((order < 0) != (i < k) || (order > 0) != (i > k))
                TAP_FAIL("%s against %s gives %d", numbers[i], numbers[k], order);
        }
}

TEST(whole_numbers_are_known_by_value_not_by_spelling)
{
    static const char *const whole[] = { "0", "-0", "0.0", "1.0", "1e2", "1.5e1", "10e-1", "-7" };
    static const char *const broken[] = { "0.1", "1e-1", "1.5", "15e-1", "-0.5e0", "1.05e1" };

    for (size_t i = 0; i < ARRAY_LEN(whole); i++)
        CHECK(number_is_whole(span_of(whole[i])));
    for (size_t i = 0; i < ARRAY_LEN(broken); i++)
        CHECK(!number_is_whole(span_of(broken[i])));
}

TEST(the_canonical_form_has_one_spelling)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        { " [ 1.0 , 1e2,-0 ] ", "[1.0,1e2,-0]" },
        { "{ }", "{}" },
        { "[ ]", "[]" },
        { "{\"b\":1,\"a\":{\"d\":[{\"f\":0,\"e\":0}],\"c\":2}}",
          "{\"a\":{\"c\":2,\"d\":[{\"e\":0,\"f\":0}]},\"b\":1}" },
        { "\"\\u0061\\/\\u00e4\\u000a\\u001F\\b\\\"\\\\\"", "\"a/\xc3\xa4\\n\\u001f\\b\\\"\\\\\"" },
        { "\"\\uD83D\\uDE00\\ud800,\\uDFFF\"", "\"\xf0\x9f\x98\x80\\ud800,\\udfff\"" },
        { "\"\\u007f\"", "\"\x7f\"" },
        /* by decoded bytes: U+FF5E comes before U+1F600, though its UTF-16 unit is larger */
        { "{\"\\ud83d\\ude00\":1,\"\\uff5e\":2,\"\":3,\"\\u0000\":4,\"aa\":5,\"a\":6}",
          "{\"\":3,\"\\u0000\":4,\"a\":6,\"aa\":5,\"\xef\xbd\x9e\":2,\"\xf0\x9f\x98\x80\":1}" },
        { "{\"\\u0061\":true,\"A\":null}", "{\"A\":null,\"a\":true}" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_JSON struct json_doc doc = { 0 };
        AUTO_BUF struct buf once = { 0 };
        AUTO_BUF struct buf twice = { 0 };

        json_canonical(&once, read_text(&doc, cases[i].text));
        CHECK_STR(buf_cstr(&once), cases[i].want);
        json_canonical(&twice, read_text(&doc, buf_cstr(&once)));
        CHECK_STR(buf_cstr(&twice), cases[i].want);
    }
}

TEST(the_order_of_a_hundred_thousand_keys_does_not_matter)
{
    enum { KEYS = 100000 };
    AUTO_BUF struct buf up = { 0 };
    AUTO_BUF struct buf down = { 0 };
    AUTO_JSON struct json_doc a = { 0 };
    AUTO_JSON struct json_doc b = { 0 };
    AUTO_BUF struct buf x = { 0 };

    for (int i = 0; i < KEYS; i++) {
        buf_printf(&up, "%c\"k%d\":[%d]", i ? ',' : '{', i, i);
        buf_printf(&down, "%c\"\\u006b%d\":[%d.0]", i ? ',' : '{', KEYS - 1 - i, KEYS - 1 - i);
    }
    buf_byte(&up, '}');
    buf_byte(&down, '}');
    CHECK(json_equal(read_text(&a, buf_cstr(&up)), read_text(&b, buf_cstr(&down))));
    json_canonical(&x, json_root(&a));
    CHECK_INT(x.n, up.n);
    down.p[down.n - 3] = '1'; /* the last member, "k0":[0.1] */
    CHECK(!json_equal(json_root(&a), read_text(&b, buf_cstr(&down))));
}
