#include "temp_dir.h"
#include "json/json.h"
#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <signal.h>

static struct json read_text(struct json_doc *doc, const char *text)
{
    struct pb_error err;

    if (json_parse(doc, span_of(text), NULL, &err) < 0)
        TAP_FAIL("%s: %s", text, err.msg);
    return json_root(doc);
}

TEST(strings_decode_to_their_characters)
{
    static const struct {
        const char *text;
        struct span want;
    } cases[] = {
        { "\"\"", SPAN_CONST("") },
        { "\"plain \xc3\xa4\"", SPAN_CONST("plain \xc3\xa4") },
        { "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", SPAN_CONST("\"\\/\b\f\n\r\t") },
        { "\"a\\u0000b\"", SPAN_CONST("a\0b") },
        { "\"\\u00e4\\u20AC\"", SPAN_CONST("\xc3\xa4\xe2\x82\xac") },
        { "\"\\uD83D\\uDE00!\"", SPAN_CONST("\xf0\x9f\x98\x80!") },
        { "\"\\udbff\\udfff\"", SPAN_CONST("\xf4\x8f\xbf\xbf") },
        { "\"\\ud800\"", SPAN_CONST("\xef\xbf\xbd") },
        { "\"\\udc00x\"", SPAN_CONST("\xef\xbf\xbdx") },
        { "\"\\ud800\\n\"", SPAN_CONST("\xef\xbf\xbd\n") },
        { "\"\\ud800\\u0041\"", SPAN_CONST("\xef\xbf\xbd"
                                           "A") },
        { "\"\\ud83d\\ud83d\\ude00\"", SPAN_CONST("\xef\xbf\xbd\xf0\x9f\x98\x80") },
        { "\"\\ude00\\ud83d\"", SPAN_CONST("\xef\xbf\xbd\xef\xbf\xbd") },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_JSON struct json_doc doc = { 0 };
        AUTO_ARENA struct arena a = { 0 };
        struct span s = json_str(read_text(&doc, cases[i].text), &a);

        if (!span_eq(s, cases[i].want))
            TAP_FAIL("%s decodes to '%.*s'", cases[i].text, SPAN_ARG(s));
    }
}

TEST(a_string_without_escapes_is_a_range_of_the_text)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena a = { 0 };
    const char *text = "[\"abc\"]";
    struct span s = json_str(json_item(read_text(&doc, text), 0), &a);

    CHECK(s.p == text + 2);
    CHECK(a.head == NULL);
}

TEST(a_c_string_is_terminated_and_holds_no_nul)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena a = { 0 };
    struct json v = read_text(&doc, "[\"\",\"a\\tb\",\"a\\u0000b\",1]");

    CHECK_STR(json_cstr(json_item(v, 0), &a), "");
    CHECK_STR(json_cstr(json_item(v, 1), &a), "a\tb");
    CHECK(json_cstr(json_item(v, 2), &a) == NULL);
    CHECK(json_cstr(json_item(v, 3), &a) == NULL);
    CHECK_INT(json_str(json_item(v, 3), &a).n, 0);
}

TEST(strings_and_keys_are_compared_after_unescaping)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena a = { 0 };
    struct json v = read_text(&doc, "{\"\\u006eame\":\"\\u0041\\\\\",\"x\":\"A\",\"\\u00e4\":3,"
                                    "\"a\\u0000\":4,\"\":5,\"\\ud800\":6}");

    CHECK(json_str_is(json_get(v, "name"), "A\\"));
    CHECK(!json_str_is(json_get(v, "name"), "A"));
    CHECK(!json_str_is(json_get(v, "name"), "A\\\\"));
    CHECK(!json_str_is(json_get(v, "name"), ""));
    CHECK(json_str_is(json_get(v, "x"), "A"));
    CHECK(!json_str_is(json_get(v, "x"), "AA"));
    CHECK(!json_str_is(v, "A"));
    CHECK_SPAN(json_key(json_get(v, "name")), "\\u006eame");
    CHECK_SPAN(json_key_str(json_get(v, "name"), &a), "name");
    CHECK(json_key_is(json_first(v), "name"));
    CHECK(!json_key_is(json_first(v), "nam"));
    CHECK(!json_key_is(json_first(v), "names"));
    CHECK_SPAN(json_text(json_get(v, "\xc3\xa4")), "3");
    CHECK_SPAN(json_text(json_get_span(v, SPAN("a\0"))), "4");
    CHECK_INT(json_type(json_get(v, "a")), JSON_NONE);
    CHECK_SPAN(json_text(json_get(v, "")), "5");
    CHECK_SPAN(json_text(json_get(v, "\xef\xbf\xbd")), "6");
    CHECK_INT(json_key(v).n, 0);
    CHECK(!json_key_is(v, ""));
}

TEST(absent_values_answer_every_question)
{
    AUTO_ARENA struct arena a = { 0 };
    struct json none = { 0 };
    struct json_doc doc = { 0 };
    int64_t i;

    CHECK_INT(json_type(json_root(&doc)), JSON_NONE);
    CHECK_STR(json_type_name(none), "nothing");
    CHECK_INT(json_text(none).n, 0);
    CHECK_INT(json_type(json_get(none, "a")), JSON_NONE);
    CHECK_INT(json_type(json_item(none, 0)), JSON_NONE);
    CHECK_INT(json_type(json_first(none)), JSON_NONE);
    CHECK_INT(json_type(json_next(none)), JSON_NONE);
    CHECK_INT(json_len(none), 0);
    CHECK_INT(json_key(none).n, 0);
    CHECK_INT(json_str(none, &a).n, 0);
    CHECK(json_cstr(none, &a) == NULL);
    CHECK(json_bool(none, true));
    CHECK(!json_bool(none, false));
    CHECK(!json_str_is(none, ""));
    CHECK_INT(json_int(none, &i, NULL), -PB_E_INVALID);
}

TEST(types_have_names)
{
    static const struct {
        const char *text, *name, *phrase;
    } cases[] = {
        { "null", "null", "null" },          { "true", "boolean", "a boolean" },
        { "false", "boolean", "a boolean" }, { "1", "number", "a number" },
        { "\"\"", "string", "a string" },    { "[]", "array", "an array" },
        { "{}", "object", "an object" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_JSON struct json_doc doc = { 0 };
        struct json v = read_text(&doc, cases[i].text);

        CHECK_STR(json_type_name(v), cases[i].name);
        CHECK_STR(json_type_phrase(v), cases[i].phrase);
    }
}

TEST(items_are_found_by_number_in_flat_and_in_nested_arrays)
{
    AUTO_JSON struct json_doc doc = { 0 };
    struct json v = read_text(&doc, "[[0,1,2,\"three\"],[[0],{\"a\":[1]},2,[]],{\"k\":1},[]]");
    struct json flat = json_item(v, 0), nested = json_item(v, 1);

    CHECK_INT(json_len(v), 4);
    CHECK_SPAN(json_text(json_item(flat, 0)), "0");
    CHECK_SPAN(json_text(json_item(flat, 3)), "\"three\"");
    CHECK_INT(json_type(json_item(flat, 4)), JSON_NONE);
    CHECK_SPAN(json_text(json_item(nested, 1)), "{\"a\":[1]}");
    CHECK_SPAN(json_text(json_item(nested, 2)), "2");
    CHECK_SPAN(json_text(json_item(nested, 3)), "[]");
    CHECK_INT(json_type(json_item(nested, 4)), JSON_NONE);
    CHECK_INT(json_type(json_item(json_item(v, 2), 0)), JSON_NONE);
    CHECK_INT(json_type(json_item(json_item(v, 3), 0)), JSON_NONE);
    CHECK_INT(json_type(json_item(v, SIZE_MAX)), JSON_NONE);
}

TEST(walking_meets_every_child_once_and_in_order)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_BUF struct buf seen = { 0 };
    struct json v = read_text(&doc, "{\"a\":1,\"b\":{\"x\":[1,{}],\"y\":2},\"c\":[],\"d\":\"z\"}");

    JSON_FOREACH(m, v) {
        buf_add_span(&seen, json_key(m));
        buf_byte(&seen, '=');
        buf_add_span(&seen, json_text(m));
        buf_byte(&seen, ';');
    }
    CHECK_STR(buf_cstr(&seen), "a=1;b={\"x\":[1,{}],\"y\":2};c=[];d=\"z\";");
}

TEST(as_many_children_as_a_tape_takes_are_counted)
{
    size_t n = JSON_NODES_MAX - 1;
    AUTO_BUF struct buf b = { 0 };
    AUTO_JSON struct json_doc doc = { 0 };

    buf_reserve(&b, 2 * n + 2);
    buf_byte(&b, '[');
    for (size_t i = 0; i < n; i++)
        buf_add(&b, i + 1 < n ? "1," : "2]", 2);
    CHECK_INT(json_parse(&doc, buf_span(&b), NULL, NULL), 0);
    CHECK_INT(json_len(json_root(&doc)), n);
    CHECK_SPAN(json_text(json_item(json_root(&doc), n - 1)), "2");
    CHECK_INT(json_type(json_item(json_root(&doc), n)), JSON_NONE);
}

static void look_inside_opaque(int how)
{
    AUTO_JSON struct json_doc doc = { 0 };
    struct json_opts opts = { .keep_depth = 1 };
    struct json v;

    if (json_parse(&doc, SPAN("[{\"a\":1}]"), &opts, NULL) < 0)
        _exit(0);
    v = json_item(json_root(&doc), 0);
    if (how == 0)
        json_get(v, "a");
    else if (how == 1)
        json_first(v);
    else
        (void)json_len(v);
}

TEST(looking_into_a_value_that_was_not_taped_aborts)
{
    for (int how = 0; how < 3; how++) {
        int status;
        pid_t pid;

        fflush(stdout);
        pid = fork();
        if (pid == 0) {
            dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
            look_inside_opaque(how);
            _exit(0);
        }
        CHECK_INT(waitpid(pid, &status, 0), pid);
        CHECK(WIFSIGNALED(status));
        CHECK_INT(WTERMSIG(status), SIGABRT);
    }
}

/* Numbers ------------------------------------------------------------------------------------ */

TEST(signed_numbers_are_exact_or_an_error)
{
    static const struct {
        const char *text;
        int rc;
        int64_t want;
    } cases[] = {
        { "0", 0, 0 },
        { "-0", 0, 0 },
        { "-0.0e5", 0, 0 },
        { "0e99999999999999999999999", 0, 0 },
        { "7", 0, 7 },
        { "-7", 0, -7 },
        { "3.0", 0, 3 },
        { "3e2", 0, 300 },
        { "3.25e2", 0, 325 },
        { "1.0E+3", 0, 1000 },
        { "100e-2", 0, 1 },
        { "1200.00e-2", 0, 12 },
        { "9007199254740993", 0, INT64_C(9007199254740993) },
        { "9223372036854775807", 0, INT64_MAX },
        { "-9223372036854775808", 0, INT64_MIN },
        { "9.223372036854775807e18", 0, INT64_MAX },
        { "92233720368547758070e-1", 0, INT64_MAX },
        { "9223372036854775808", -PB_E_LIMIT, 0 },
        { "-9223372036854775809", -PB_E_LIMIT, 0 },
        { "18446744073709551616", -PB_E_LIMIT, 0 },
        { "1e19", -PB_E_LIMIT, 0 },
        { "1e400", -PB_E_LIMIT, 0 },
        { "1e99999999999999999999999", -PB_E_LIMIT, 0 },
        { "-1e99999999999999999999999", -PB_E_LIMIT, 0 },
        { "123456789012345678901234567890", -PB_E_LIMIT, 0 },
        { "3.5", -PB_E_INVALID, 0 },
        { "-0.1", -PB_E_INVALID, 0 },
        { "1e-1", -PB_E_INVALID, 0 },
        { "1e-99999999999999999999999", -PB_E_INVALID, 0 },
        { "9007199254740993.5", -PB_E_INVALID, 0 },
        { "\"3\"", -PB_E_INVALID, 0 },
        { "null", -PB_E_INVALID, 0 },
        { "true", -PB_E_INVALID, 0 },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_JSON struct json_doc doc = { 0 };
        int64_t got = 0;
        int rc = json_int(read_text(&doc, cases[i].text), &got, NULL);

        if (rc != cases[i].rc || got != cases[i].want)
            TAP_FAIL("%s gives %d, %lld", cases[i].text, rc, (long long)got);
    }
}

TEST(unsigned_numbers_are_exact_or_an_error)
{
    static const struct {
        const char *text;
        int rc;
        uint64_t want;
    } cases[] = {
        { "0", 0, 0 },
        { "-0", 0, 0 },
        { "-0.0", 0, 0 },
        { "18446744073709551615", 0, UINT64_MAX },
        { "1844674407370955161.5e1", 0, UINT64_MAX },
        { "18446744073709551616", -PB_E_LIMIT, 0 },
        { "18446744073709551620", -PB_E_LIMIT, 0 },
        { "-1", -PB_E_LIMIT, 0 },
        { "0.5", -PB_E_INVALID, 0 },
        { "[]", -PB_E_INVALID, 0 },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_JSON struct json_doc doc = { 0 };
        uint64_t got = 0;
        int rc = json_uint(read_text(&doc, cases[i].text), &got, NULL);

        if (rc != cases[i].rc || got != cases[i].want)
            TAP_FAIL("%s gives %d, %llu", cases[i].text, rc, (unsigned long long)got);
    }
}

TEST(doubles_are_the_nearest_or_an_error)
{
    static const struct {
        const char *text;
        int rc;
        double want;
    } cases[] = {
        { "0.1", 0, 0.1 },
        { "-0", 0, -0.0 },
        { "1e2", 0, 100 },
        { "9007199254740993", 0, 9007199254740992.0 },
        { "1.7976931348623157e308", 0, 1.7976931348623157e308 },
        { "5e-324", 0, 5e-324 },
        { "1e-400", 0, 0 },
        { "1E400", -PB_E_LIMIT, 0 },
        { "-1e309", -PB_E_LIMIT, 0 },
        { "\"1\"", -PB_E_INVALID, 0 },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_JSON struct json_doc doc = { 0 };
        double got = 0;
        int rc = json_double(read_text(&doc, cases[i].text), &got, NULL);

        if (rc != cases[i].rc || memcmp(&got, &cases[i].want, sizeof got) != 0)
            TAP_FAIL("%s gives %d, %.17g", cases[i].text, rc, got);
    }
}

TEST(number_errors_say_what_was_found)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        { "3.5", "3.5 is not a whole number" },
        { "1e19", "1e19 is outside -2^63..2^63-1" },
        { "\"3\"", "expected a number, got a string" },
        { "1111111111222222222233333333334444444444555555555566666",
          "1111111111222222222233333333334444444444 is outside -2^63..2^63-1" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_JSON struct json_doc doc = { 0 };
        struct pb_error err = { 0 };
        int64_t v = 42;

        CHECK(json_int(read_text(&doc, cases[i].text), &v, &err) < 0);
        CHECK_STR(err.msg, cases[i].want);
        CHECK_INT(v, 42);
    }
}

/* Makes a locale whose decimal point is a comma, in `dir`; false if this machine cannot. */
static bool make_comma_locale(const char *dir)
{
    AUTO_BUF struct buf source = { 0 };
    AUTO_BUF struct buf target = { 0 };
    int status;
    FILE *f;
    pid_t pid;

    buf_printf(&source, "%s/comma.def", dir);
    buf_printf(&target, "%s/xx_XX", dir);
    f = fopen(buf_cstr(&source), "w");
    if (!f)
        return false;
    fputs("LC_NUMERIC\ndecimal_point \",\"\nthousands_sep \"\"\ngrouping -1\nEND LC_NUMERIC\n", f);
    fclose(f);
    pid = fork();
    if (pid == 0) {
        dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
        execlp("localedef", "localedef", "-c", "-i", buf_cstr(&source), buf_cstr(&target), NULL);
        _exit(127);
    }
    waitpid(pid, &status, 0);
    setenv("LOCPATH", dir, 1);
    return setlocale(LC_NUMERIC, "xx_XX") != NULL;
}

TEST(a_locale_with_a_decimal_comma_changes_nothing)
{
    char text[16];
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_BUF struct buf b = { 0 };
    struct json_out o = json_out(&b);
    double d = 0;
    bool comma;

    comma = make_comma_locale(temp_root());
    if (!comma) {
        printf("# localedef makes no locale here: only the C locale was tried\n");
        return;
    }
    snprintf(text, sizeof text, "%.1f", 1.5);
    CHECK_STR(text, "1,5"); /* the locale is in force */
    CHECK_INT(json_double(read_text(&doc, "1.5"), &d, NULL), 0);
    CHECK(d == 1.5);
    json_put_double(&o, NULL, 2.5);
    CHECK_STR(buf_cstr(&b), "2.5");
    snprintf(text, sizeof text, "%.1f", 1.5);
    CHECK_STR(text, "1,5"); /* and still is */
}
