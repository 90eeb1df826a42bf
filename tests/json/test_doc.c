#include "cpu_time.h"
#include "tap.h"
#include "json/json.h"
#include <pthread.h>
#include <time.h>

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
        { "\xef\xbc\x91", "line 1, column 1: expected a value" },
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

static const struct json_opts every_way[] = {
    { 0, 0 }, { 1, 0 }, { 2, 0 }, { 0, JSON_ALL }, { 1, JSON_ALL }, { 1, 1 }, { 2, 3 }, { 3, 2 },
};

/* The same verdict in every way of reading, on a copy whose end the sanitizer guards. */
static int verdict(struct span text)
{
    AUTO_FREE char *copy = mem_alloc(text.n);
    AUTO_JSON struct json_doc doc = { 0 };
    int first = 0;

    if (text.n)
        memcpy(copy, text.p, text.n);
    for (size_t i = 0; i < ARRAY_LEN(every_way); i++) {
        int rc = json_parse(&doc, span_make(copy, text.n), &every_way[i], NULL);

        if (i == 0)
            first = rc;
        else if (rc != first)
            TAP_FAIL("way %zu gives %d, the first gave %d: %.*s", i, rc, first, SPAN_ARG(text));
    }
    return first;
}

static void nest(struct buf *b, const char *open, size_t n, const char *inside, const char *close)
{
    b->n = 0;
    for (size_t i = 0; i < n; i++)
        buf_str(b, open);
    buf_str(b, inside);
    for (size_t i = 0; i < n; i++)
        buf_str(b, close);
}

static void *check_depths(void *arg)
{
    static const struct {
        const char *open, *inside, *close;
    } kinds[] = { { "[", "", "]" }, { "{\"k\":", "1", "}" }, { "[{\"k\":[", "", "]}]" } };
    static const size_t levels[] = { 1, 1, 3 };
    AUTO_BUF struct buf b = { 0 };

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        size_t fits = JSON_DEPTH_MAX / levels[i];

        nest(&b, kinds[i].open, fits, kinds[i].inside, kinds[i].close);
        CHECK_INT(verdict(buf_span(&b)), 0);
        nest(&b, kinds[i].open, fits + 1, kinds[i].inside, kinds[i].close);
        CHECK_INT(verdict(buf_span(&b)), -PB_E_LIMIT);
        nest(&b, kinds[i].open, 100000, "", "");
        CHECK_INT(verdict(buf_span(&b)), -PB_E_LIMIT);
    }
    return arg;
}

TEST(depth_128_is_accepted_and_129_refused_on_a_small_stack)
{
    pthread_attr_t attr;
    pthread_t thread;

    CHECK_INT(pthread_attr_init(&attr), 0);
    CHECK_INT(pthread_attr_setstacksize(&attr, 96 * 1024), 0);
    CHECK_INT(pthread_create(&thread, &attr, check_depths, NULL), 0);
    CHECK_INT(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attr);
}

/* `n` of `item`, with commas between them. */
static void repeat(struct buf *b, const char *open, size_t n, const char *item, const char *close)
{
    b->n = 0;
    buf_str(b, open);
    for (size_t i = 0; i < n; i++) {
        if (i)
            buf_byte(b, ',');
        buf_str(b, item);
    }
    buf_str(b, close);
}

TEST(a_tape_takes_a_million_entries_and_no_more)
{
    static const struct json_opts shallow = { .keep_depth = 1 },
                                  strict = { .keep_depth = 1, .unique_depth = 2 };
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_BUF struct buf b = { 0 };
    struct pb_error err;

    repeat(&b, "[", JSON_NODES_MAX - 1, "0", "]"); /* and the array itself */
    CHECK_INT(json_parse(&doc, buf_span(&b), NULL, &err), 0);
    CHECK_INT(json_len(json_root(&doc)), JSON_NODES_MAX - 1);
    repeat(&b, "[", JSON_NODES_MAX, "0", "]");
    CHECK_INT(json_parse(&doc, buf_span(&b), NULL, &err), -PB_E_LIMIT);
    CHECK_HAS(err.msg, "more than 1000000 values and keys");
    CHECK_INT(doc.n, 0);
    repeat(&b, "[", 3 * JSON_NODES_MAX, "0", "]");
    CHECK_INT(json_parse(&doc, buf_span(&b), NULL, &err), -PB_E_LIMIT);
    CHECK(doc.cap < 2 * JSON_NODES_MAX);
    repeat(&b, "[", JSON_NODES_MAX / 2, "{\"\":0}", "]");
    CHECK_INT(json_parse(&doc, buf_span(&b), NULL, &err), -PB_E_LIMIT);
    /* What is not taped does not count, unless it is many keys that are compared. */
    repeat(&b, "[[", 2 * JSON_NODES_MAX, "0", "]]");
    CHECK_INT(json_parse(&doc, buf_span(&b), &shallow, &err), 0);
    repeat(&b, "[{", JSON_NODES_MAX + 1, "\"\":0", "}]");
    CHECK_INT(json_parse(&doc, buf_span(&b), &shallow, &err), 0);
    CHECK_INT(json_parse(&doc, buf_span(&b), &strict, &err), -PB_E_LIMIT);
}

TEST(numbers_keep_their_spelling)
{
    static const char *const numbers[] = {
        "0",
        "-0",
        "1.0",
        "1e2",
        "1E+2",
        "1e-2",
        "-0.0e0",
        "9007199254740993",
        "18446744073709551615",
        "12345678901234567890",
        "123456789012345678901234567890",
        "1E400",
        "0.1",
        "-1.5E-400",
        "100000000000000000000000000000000000000000000000000000000000000000",
    };

    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        AUTO_JSON struct json_doc doc = { 0 };
        AUTO_FREE char *text = mem_alloc(256);

        CHECK_INT(parse(&doc, numbers[i], NULL), 0);
        CHECK_SPAN(json_text(json_root(&doc)), numbers[i]);
        snprintf(text, 256, "[ %s , %s]", numbers[i], numbers[i]);
        CHECK_INT(parse(&doc, text, NULL), 0);
        CHECK_SPAN(json_text(json_item(json_root(&doc), 0)), numbers[i]);
        CHECK_SPAN(json_text(json_item(json_root(&doc), 1)), numbers[i]);
    }
}

TEST(what_only_looks_like_a_number_is_refused)
{
    static const char *const texts[] = {
        "+1",        "01",    "-01", "00",  ".5",    "5.",  "-.5", "1e",           "1e+",
        "1E-",       "1.e1",  "--1", "1-",  "0x1",   "1_0", "1,",  "NaN",          "Infinity",
        "-Infinity", "1e1.5", "-",   "- 1", "1.2.3", "0e",  "1f",  "\xef\xbc\x91",
    };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        AUTO_BUF struct buf b = { 0 };

        CHECK_INT(verdict(span_of(texts[i])), -PB_E_INVALID);
        buf_printf(&b, "[[%s]]", texts[i]);
        CHECK_INT(verdict(buf_span(&b)), -PB_E_INVALID);
    }
}

/* Puts `middle` behind 0 to 40 plain characters, so that it meets every step of the scan, with
 * and without text behind it. */
static void check_in_strings(struct span middle, int want)
{
    static const char pad[] = "ghijklmnopqrstuvwxyz GHIJKLMNOPQRSTUVWXYZ.,;:-";

    for (size_t before = 0; before <= 40; before++) {
        for (size_t after = 0; after <= 20; after += 20) {
            AUTO_BUF struct buf b = { 0 };

            buf_str(&b, "[[\"");
            buf_add(&b, pad, before);
            buf_add_span(&b, middle);
            buf_add(&b, pad, after);
            buf_str(&b, "\"]]");
            if (verdict(buf_span(&b)) != want)
                TAP_FAIL("verdict of %.*s is not %d", SPAN_ARG(buf_span(&b)), want);
        }
    }
}

TEST(every_kind_of_bad_utf_8_is_refused_wherever_it_stands)
{
    static const struct span bad[] = {
        SPAN_CONST("\x80"), /* a continuation byte alone */
        SPAN_CONST("\xbf"),
        SPAN_CONST("\xc3"),  /* cut off */
        SPAN_CONST("\xc3("), /* not continued */
        SPAN_CONST("\xe2\x82"),
        SPAN_CONST("\xe2(\xac"),
        SPAN_CONST("\xe2\x82("),
        SPAN_CONST("\xf0\x9f\x98"),
        SPAN_CONST("\xf0\x9f(\x80"),
        SPAN_CONST("\xf0\x9f\x98("),
        SPAN_CONST("\xc0\x80"), /* overlong */
        SPAN_CONST("\xc1\xbf"),
        SPAN_CONST("\xe0\x80\x80"),
        SPAN_CONST("\xe0\x9f\xbf"),
        SPAN_CONST("\xf0\x80\x80\x80"),
        SPAN_CONST("\xf0\x8f\xbf\xbf"),
        SPAN_CONST("\xed\xa0\x80"), /* surrogates */
        SPAN_CONST("\xed\xbf\xbf"),
        SPAN_CONST("\xf4\x90\x80\x80"), /* past U+10FFFF */
        SPAN_CONST("\xf5\x80\x80\x80"),
        SPAN_CONST("\xf8\x88\x80\x80\x80"),
        SPAN_CONST("\xfe"),
        SPAN_CONST("\xff"),
        SPAN_CONST("\xc3\xa4\xc3"), /* good, then bad */
    };
    static const struct span good[] = {
        SPAN_CONST("\xc2\x80"),         SPAN_CONST("\xdf\xbf"),         SPAN_CONST("\xe0\xa0\x80"),
        SPAN_CONST("\xed\x9f\xbf"),     SPAN_CONST("\xee\x80\x80"),     SPAN_CONST("\xef\xbf\xbf"),
        SPAN_CONST("\xf0\x90\x80\x80"), SPAN_CONST("\xf4\x8f\xbf\xbf"), SPAN_CONST("\x7f"),
    };

    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        check_in_strings(bad[i], -PB_E_INVALID);
    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        check_in_strings(good[i], 0);
    CHECK_INT(verdict(SPAN("[\xc3\xa4]")), -PB_E_INVALID);
}

TEST(control_characters_and_unknown_escapes_are_refused_wherever_they_stand)
{
    static const char *const bad[] = {
        "\\x",     "\\a",  "\\'",        "\\ ",           "\\0",     "\\U0041",
        "\\u",     "\\u1", "\\u12",      "\\u123",        "\\u12G4", "\\u 123",
        "\\u+123", "\\\n", "\\\xc3\xa4", "\\u00\xc3\xa4",
    };
    static const char *const good[] = {
        "\\\"",
        "\\\\",
        "\\/",
        "\\b\\f\\n\\r\\t",
        "\\u0000",
        "\\uD834\\udd1e",
        "\\ud800",
        "\\udc00",
        "\\udc00\\ud800",
        "\\ud800\\n",
        "\\uDBFF\\u0041",
        "\\ud83d\\ud83d\\ude00",
    };

    for (char c = 0; c < 0x20; c++)
        check_in_strings(span_make(&c, 1), -PB_E_INVALID);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        check_in_strings(span_of(bad[i]), -PB_E_INVALID);
    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        check_in_strings(span_of(good[i]), 0);
}

TEST(white_space_is_four_characters_and_no_more)
{
    static const struct span bad[] = {
        SPAN_CONST("\f"),       SPAN_CONST("\v"),           SPAN_CONST("\0"),
        SPAN_CONST("\xc2\xa0"), SPAN_CONST("\xe2\x80\xa8"), SPAN_CONST("\xef\xbb\xbf"),
        SPAN_CONST("\x1f"),     SPAN_CONST("\x7f"),
    };

    CHECK_INT(verdict(SPAN("\t\r\n { \"a\"\t:\r1\n, \"b\" : [ 1 , [ ] , { } ] } \t\r\n")), 0);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        for (int place = 0; place < 6; place++) {
            static const char *const parts[] = { "", "[", "1", ",", "2", "]", "" };
            AUTO_BUF struct buf b = { 0 };

            for (int k = 0; k < 6; k++) {
                if (k == place)
                    buf_add_span(&b, bad[i]);
                buf_str(&b, parts[k + 1]);
            }
            CHECK_INT(verdict(buf_span(&b)), -PB_E_INVALID);
        }
    }
}

TEST(no_beginning_of_a_text_is_accepted_in_its_place)
{
    static const char text[] =
        "{\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"a\\n"
        "\\u00e4\xc3\xa4\xf0\x9f\x98\x80 and some more characters\"}],"
        "\"n\":[-1.5e+10,true,false,null,[],{}]}}";

    for (size_t n = 0; n < sizeof text - 1; n++)
        if (verdict(span_make(text, n)) != -PB_E_INVALID)
            TAP_FAIL("accepted: %.*s", (int)n, text);
    CHECK_INT(verdict(span_make(text, sizeof text - 1)), 0);
}

TEST(structure_that_does_not_fit_is_refused)
{
    static const char *const texts[] = {
        "",
        " ",
        "[",
        "]",
        "{",
        "}",
        "[}",
        "{]",
        "[1",
        "[1,",
        "[,1]",
        "[1,,2]",
        "[1,]",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{,}",
        "{\"a\":1,,\"b\":2}",
        "{\"a\":1]",
        "[1}",
        "{1:2}",
        "{\"a\"::1}",
        "{\"a\",1}",
        "{[]:1}",
        "{null:1}",
        "[1]]",
        "[1][2]",
        "1 2",
        "{}{}",
        "\"a\"\"b\"",
        "tru",
        "truE",
        "True",
        "nulll",
        "truefalse",
        "[tru]",
        "[nul",
        "fals",
        "undefined",
        "[1:2]",
        "[\"a\":1]",
        "/**/1",
        "1/**/",
        "#1",
        "'a'",
        "a",
        "\\u0031",
        "[\"a",
        "\"",
        "\"\\",
        "\"\\\"",
        "\"\\u",
        "(1)",
        "<1>",
        "{\"a\":1 \"b\":2}",
        "[1 2]",
        "[[1]",
        "[[1],",
        "{\"a\":{\"b\":1}",
    };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (verdict(span_of(texts[i])) != -PB_E_INVALID)
            TAP_FAIL("accepted: %s", texts[i]);
}

/* Duplicate keys --------------------------------------------------------------------------- */

static int parse_unique(const char *text, int keep, int unique, struct pb_error *err)
{
    AUTO_JSON struct json_doc doc = { 0 };
    struct json_opts opts = { keep, unique };

    return json_parse(&doc, span_of(text), &opts, err);
}

TEST(duplicate_keys_are_refused_at_depths_below_unique_depth_and_only_there)
{
    static const struct {
        const char *text;
        int depth; /* of the object with the duplicate */
    } cases[] = {
        { "{\"a\":1,\"a\":2}", 0 },
        { "{\"x\":{\"a\":1,\"b\":[],\"a\":2}}", 1 },
        { "[{\"a\":1},{\"a\":1,\"a\":2}]", 1 },
        { "{\"x\":[{\"y\":{}},{\"a\":1,\"b\":{\"c\":1},\"a\":2}]}", 2 },
        { "{\"x\":[[{\"a\":{\"q\":{}},\"b\":2,\"a\":[]}]]}", 3 },
        { "{\"a\":{\"a\":{\"a\":{\"a\":1,\"a\":1}}}}", 3 },
        { "[{\"q\":{\"a\":1}},{\"q\":{\"a\":1}},[[{\"z\":0,\"z\":0}]]]", 3 },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        for (int keep = 0; keep <= 5; keep++) {
            for (int unique = 0; unique <= 5; unique++) {
                int want = unique > cases[i].depth ? -PB_E_INVALID : 0;

                if (parse_unique(cases[i].text, keep, unique, NULL) != want)
                    TAP_FAIL("keep %d, unique %d: %s", keep, unique, cases[i].text);
            }
            CHECK_INT(parse_unique(cases[i].text, keep, JSON_ALL, NULL), -PB_E_INVALID);
        }
    }
}

TEST(keys_are_compared_after_unescaping)
{
    static const struct {
        const char *text;
        int want;
    } cases[] = {
        { "{\"a\":1,\"\\u0061\":2}", -PB_E_INVALID },
        { "{\"\\u0061\":1,\"a\":2}", -PB_E_INVALID },
        { "{\"\\u00e4\":1,\"\xc3\xa4\":2}", -PB_E_INVALID },
        { "{\"\\uD83D\\uDE00\":1,\"\xf0\x9f\x98\x80\":2}", -PB_E_INVALID },
        { "{\"\\/\":1,\"/\":2}", -PB_E_INVALID },
        { "{\"\\n\":1,\"\\u000A\":2}", -PB_E_INVALID },
        { "{\"\":1,\"\":2}", -PB_E_INVALID },
        /* both read as U+FFFD by us and by others, so neither may hide behind the other */
        { "{\"\\ud800\":1,\"\\udfff\":2}", -PB_E_INVALID },
        { "{\"\\ud800\":1,\"\xef\xbf\xbd\":2}", -PB_E_INVALID },
        { "{\"a\":1,\"A\":2,\"\\u0062\":3,\"ab\":4,\"\":5}", 0 },
        { "{\"\\\\u0061\":1,\"a\":2}", 0 },
        { "{\"a\\u0000\":1,\"a\":2}", 0 },
        { "{\"\xc3\xa4\":1,\"a\xcc\x88\":2}", 0 },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        for (int keep = 0; keep < 3; keep++)
            for (int wrap = 0; wrap < 2; wrap++) {
                AUTO_BUF struct buf b = { 0 };

                buf_printf(&b, wrap ? "[[%s]]" : "%s", cases[i].text);
                if (parse_unique(buf_cstr(&b), keep, JSON_ALL, NULL) != cases[i].want)
                    TAP_FAIL("keep %d: %s", keep, buf_cstr(&b));
            }
}

TEST(a_duplicate_key_is_named_by_its_place)
{
    struct pb_error err;

    CHECK_INT(parse_unique("{\"x\":{\"a\":1,\n  \"a\":2}}", 1, 2, &err), -PB_E_INVALID);
    CHECK_STR(err.msg, "line 2, column 3: a key that this object already has");
    CHECK_INT(parse_unique("{\"a\":1,\"b\":2,\"a\":2}", 0, 1, &err), -PB_E_INVALID);
    CHECK_STR(err.msg, "line 1, column 14: a key that this object already has");
}

TEST(the_one_duplicate_is_found_in_objects_of_every_size)
{
    for (int n = 1; n < 70; n++) {
        for (int first = 0; first < n; first += 7) {
            AUTO_BUF struct buf b = { 0 };
            int keep = 1 + n % 2;

            buf_str(&b, "[{");
            for (int i = 0; i < n; i++)
                buf_printf(&b, "\"key%d\":{\"in\":[%d]},", i, i);
            buf_printf(&b, "\"\\u006bey%d\":0}]", first);
            if (parse_unique(buf_cstr(&b), keep, JSON_ALL, NULL) != -PB_E_INVALID)
                TAP_FAIL("missed: %s", buf_cstr(&b));
            b.p[b.n - 6] = 'x';
            CHECK_INT(parse_unique(buf_cstr(&b), keep, JSON_ALL, NULL), 0);
        }
    }
}

TEST(four_megabytes_of_keys_are_compared_in_bounded_time)
{
    for (int f = 0; f < 2; f++) {
        AUTO_BUF struct buf b = { 0 };
        AUTO_JSON struct json_doc doc = { 0 };
        double before;

        buf_str(&b, "{");
        for (size_t i = 0; b.n < 4 * 1024 * 1024; i++)
            buf_printf(&b, f ? "\"\\u0061%zu\":0," : "\"a%zu\":0,", i);
        buf_str(&b, "\"z\":0}");
        for (int keep = 0; keep < 2; keep++) {
            AUTO_BUF struct buf wrapped = { 0 };
            struct json_opts opts = { keep, JSON_ALL };

            buf_printf(&wrapped, keep ? "[" : " ");
            buf_add_span(&wrapped, buf_span(&b));
            buf_printf(&wrapped, keep ? "]" : " ");
            before = cpu_ms();
            CHECK_INT(json_parse(&doc, buf_span(&wrapped), &opts, NULL), 0);
            CHECK(cpu_ms() - before < 3000); /* measured 50; sanitizers take longer */
        }
    }
}

/* The tape ----------------------------------------------------------------------------------- */

TEST(a_large_result_costs_a_handful_of_tape_entries)
{
    AUTO_BUF struct buf b = { 0 };
    AUTO_JSON struct json_doc doc = { 0 };
    struct json_opts opts = { .keep_depth = 1 };

    buf_str(&b, "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"content\":[");
    for (int i = 0; i < 10000; i++)
        buf_printf(&b, "{\"type\":\"text\",\"text\":\"item %d\"},", i);
    buf_str(&b, "null]}}");
    CHECK_INT(json_parse(&doc, buf_span(&b), &opts, NULL), 0);
    CHECK_INT(doc.n, 7);
    CHECK(json_text(json_get(json_root(&doc), "result")).n > 100000);
    opts.unique_depth = JSON_ALL; /* keys are kept only while their object is open */
    CHECK_INT(json_parse(&doc, buf_span(&b), &opts, NULL), 0);
    CHECK_INT(doc.n, 7);
    CHECK(doc.cap <= 64);
}

TEST(a_doc_is_reused_without_new_memory_and_trimmed_on_demand)
{
    AUTO_BUF struct buf b = { 0 };
    AUTO_JSON struct json_doc doc = { 0 };
    uint64_t blocks;

    buf_str(&b, "[0");
    for (int i = 0; i < 5000; i++)
        buf_str(&b, ",1");
    buf_str(&b, "]");
    CHECK_INT(json_parse(&doc, buf_span(&b), NULL, NULL), 0);
    blocks = mem_count();
    for (int i = 0; i < 3; i++)
        CHECK_INT(json_parse(&doc, buf_span(&b), NULL, NULL), 0);
    CHECK_INT(mem_count(), blocks);
    CHECK_INT(json_len(json_root(&doc)), 5001);

    json_doc_trim(&doc, 1 << 20);
    CHECK_INT(json_type(json_root(&doc)), JSON_NONE);
    CHECK(doc.cap >= 5001);
    json_doc_trim(&doc, 1024);
    CHECK_INT(doc.cap, 0);
    CHECK_INT(parse(&doc, "[1]", NULL), 0);
    CHECK_INT(json_len(json_root(&doc)), 1);
    CHECK_INT(parse(&doc, "[1", NULL), -PB_E_INVALID);
    CHECK_INT(json_type(json_root(&doc)), JSON_NONE);
}

TEST(a_text_of_4_gib_is_refused_before_it_is_read)
{
    AUTO_JSON struct json_doc doc = { 0 };
    struct pb_error err;

    CHECK_INT(json_parse(&doc, span_make("1", (size_t)UINT32_MAX + 1), NULL, &err), -PB_E_LIMIT);
    CHECK_STR(err.msg, "a text of 4294967296 bytes; the limit is 4294967295");
    CHECK_INT(json_parse(&doc, span_make("1", SIZE_MAX / 2), NULL, &err), -PB_E_LIMIT);
}

TEST(an_empty_text_may_be_null)
{
    AUTO_JSON struct json_doc doc = { 0 };
    struct pb_error err;

    CHECK_INT(json_parse(&doc, (struct span){ 0 }, NULL, &err), -PB_E_INVALID);
    CHECK_STR(err.msg, "line 1, column 1: expected a value, but the text ends");
}

TEST(positions_count_characters_from_one)
{
    static const struct {
        size_t offset;
        unsigned line, column;
    } cases[] = { { 0, 1, 1 }, { 1, 1, 2 }, { 3, 1, 3 }, { 5, 2, 1 }, { 6, 2, 2 }, { 99, 2, 3 } };
    struct span text = SPAN("a\xc3\xa4"
                            "b\nxy");
    unsigned line, column;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        json_position(text, cases[i].offset, &line, &column);
        CHECK_INT(line, cases[i].line);
        CHECK_INT(column, cases[i].column);
    }
}
