#include "tap.h"
#include "json/json.h"

static int parse(struct json_doc *doc, const char *text, struct pb_error *err)
{
    return json_parse(doc, span_of(text), NULL, err);
}

TEST(a_parsed_text_gives_its_values_as_they_were_written)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena a = { 0 };
    const char *text = " { \"n\" : 1.0 , \"s\":\"a\\u0062\",\"e\":[ ],\"o\":{\"x\":[1,[2],3]},"
                       "\"t\":true,\"f\":false,\"z\":null } ";
    struct json root, x;
    struct pb_error err;

    CHECK_INT(parse(&doc, text, &err), 0);
    root = json_root(&doc);
    CHECK_INT(json_type(root), JSON_OBJECT);
    CHECK_INT(json_len(root), 7);
    CHECK_SPAN(json_text(json_get(root, "n")), "1.0");
    CHECK_SPAN(json_text(json_get(root, "s")), "\"a\\u0062\"");
    CHECK_SPAN(json_str(json_get(root, "s"), &a), "ab");
    CHECK(json_str_is(json_get(root, "s"), "ab"));
    CHECK_STR(json_cstr(json_get(root, "s"), &a), "ab");
    CHECK_SPAN(json_text(json_get(root, "e")), "[ ]");
    CHECK_INT(json_len(json_get(root, "e")), 0);
    x = json_get(json_get(root, "o"), "x");
    CHECK_SPAN(json_key(x), "x");
    CHECK_INT(json_len(x), 3);
    CHECK_SPAN(json_text(json_item(x, 0)), "1");
    CHECK_SPAN(json_text(json_item(x, 1)), "[2]");
    CHECK_SPAN(json_text(json_item(x, 2)), "3");
    CHECK_INT(json_type(json_item(x, 3)), JSON_NONE);
    CHECK(json_bool(json_get(root, "t"), false));
    CHECK(!json_bool(json_get(root, "f"), true));
    CHECK(json_bool(json_get(root, "z"), true));
    CHECK_INT(json_type(json_get(root, "z")), JSON_NULL);
    CHECK_INT(json_type(json_get(root, "y")), JSON_NONE);
    CHECK_INT(json_type(json_next(root)), JSON_NONE);
}

TEST(refusals_name_the_line_the_column_and_the_reason)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        { "", "line 1, column 1: expected a value, but the text ends" },
        { "{\"a\" 1}", "line 1, column 6: expected ':' after a key" },
        { "{\"a\":1,}", "line 1, column 8: expected a key; the last member has no comma after it" },
        { "{a:1}", "line 1, column 2: expected a key in double quotes" },
        { "[1,\n2,]",
          "line 2, column 3: expected a value before ']'; the last item has no comma after it" },
        { "[1 2]", "line 1, column 4: expected ',' or ']' after an item" },
        { "{\"a\":1 \"b\"", "line 1, column 8: expected ',' or '}' after a member" },
        { "[\"\xc3\xa4\", x]", "line 1, column 7: expected a value" },
        { "[1]]", "line 1, column 4: expected nothing more after the value" },
        { "\"abc", "line 1, column 1: a string that does not end" },
        { "\"a\tb\"", "line 1, column 3: a control character in a string; write it as an escape" },
        { "\"\\x\"", "line 1, column 2: no such escape in JSON" },
        { "\"\\u12g4\"", "line 1, column 2: \\u needs four hex digits" },
        { "\"\xff\"", "line 1, column 2: not UTF-8" },
        { "01", "line 1, column 2: a number may not begin with 0" },
        { "1.", "line 1, column 3: expected a digit, but the text ends" },
        { "-", "line 1, column 2: expected a digit, but the text ends" },
        { "// no\n1", "line 1, column 1: expected a value; JSON has no comments" },
        { "'a'", "line 1, column 1: expected a value; strings need double quotes" },
        { "\xef\xbb\xbf{}",
          "line 1, column 1: expected a value; a byte order mark is not allowed" },
        { "nul", "line 1, column 1: expected a value" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_JSON struct json_doc doc = { 0 };
        struct pb_error err = { 0 };

        CHECK_INT(parse(&doc, cases[i].text, &err), -PB_E_INVALID);
        CHECK_STR(err.msg, cases[i].want);
        CHECK_INT(json_type(json_root(&doc)), JSON_NONE);
    }
}

TEST(keep_depth_records_deep_containers_as_one_value)
{
    AUTO_JSON struct json_doc doc = { 0 };
    struct json_opts opts = { .keep_depth = 2 };
    const char *text = "{\"id\":1,\"result\":{\"content\":[{\"a\":1},[]],\"n\":3}}";
    struct json result;

    CHECK_INT(json_parse(&doc, span_of(text), &opts, NULL), 0);
    result = json_get(json_root(&doc), "result");
    CHECK_SPAN(json_text(result), "{\"content\":[{\"a\":1},[]],\"n\":3}");
    CHECK_SPAN(json_text(json_get(result, "content")), "[{\"a\":1},[]]");
    CHECK_SPAN(json_text(json_get(result, "n")), "3");
}
