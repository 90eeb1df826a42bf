#include "tap.h"
#include "json/json.h"
#include <fcntl.h>
#include <math.h>
#include <signal.h>

TEST(commas_and_colons_put_themselves)
{
    AUTO_BUF struct buf b = { 0 };
    struct json_out o = json_out(&b);

    json_begin_object(&o, NULL);
    json_put_str(&o, "jsonrpc", "2.0");
    json_put_raw(&o, "id", SPAN("18446744073709551616"));
    json_begin_array(&o, "items");
    json_put_int(&o, NULL, INT64_MIN);
    json_put_uint(&o, NULL, UINT64_MAX);
    json_begin_object(&o, NULL);
    json_end(&o);
    json_begin_array(&o, NULL);
    json_end(&o);
    json_put_bool(&o, NULL, true);
    json_put_bool(&o, NULL, false);
    json_put_null(&o, NULL);
    json_put_fmt(&o, NULL, "%d \"%s\"", 5, "x");
    json_end(&o);
    json_put_str_opt(&o, "absent", NULL);
    json_put_str_opt(&o, "there", "");
    json_put_raw(&o, "empty", (struct span){ 0 });
    json_put_raw_key(&o, SPAN("k\n\"\0"), SPAN("[ 1 ]"));
    json_put_raw_key(&o, SPAN("none"), (struct span){ 0 });
    json_end(&o);
    CHECK_INT(o.depth, 0);
    CHECK_STR(buf_cstr(&b),
              "{\"jsonrpc\":\"2.0\",\"id\":18446744073709551616,\"items\":[-9223372036854775808,"
              "18446744073709551615,{},[],true,false,null,\"5 \\\"x\\\"\"],\"there\":\"\","
              "\"k\\n\\\"\\u0000\":[ 1 ]}");
}

TEST(an_omitted_first_member_leaves_no_comma)
{
    AUTO_BUF struct buf b = { 0 };
    struct json_out o = json_out(&b);

    json_begin_object(&o, NULL);
    json_put_str_opt(&o, "a", NULL);
    json_put_raw(&o, "b", (struct span){ 0 });
    json_put_null(&o, "c");
    json_end(&o);
    CHECK_STR(buf_cstr(&b), "{\"c\":null}");
}

TEST(containers_nest_to_the_depth_that_is_read_and_beyond)
{
    AUTO_BUF struct buf b = { 0 };
    AUTO_JSON struct json_doc doc = { 0 };
    struct json_out o = json_out(&b);

    for (int i = 0; i < JSON_DEPTH_MAX; i++) {
        if (i % 3)
            json_begin_array(&o, i % 3 == 1 ? "k" : NULL);
        else
            json_begin_object(&o, NULL);
    }
    for (int i = 0; i < JSON_DEPTH_MAX; i++)
        json_end(&o);
    CHECK_INT(json_parse(&doc, buf_span(&b), NULL, NULL), 0);
    b.n = 0;
    for (int i = 0; i < 192; i++)
        json_begin_array(&o, NULL);
    for (int i = 0; i < 192; i++)
        json_end(&o);
    CHECK_INT(b.n, 384);
}

TEST(strings_are_escaped_only_where_they_must_be)
{
    static const struct {
        struct span text;
        const char *want;
    } cases[] = {
        { SPAN_CONST(""), "\"\"" },
        { { NULL, 0 }, "\"\"" },
        { SPAN_CONST("plain / \xc3\xa4 \xf0\x9f\x98\x80 \x7f"),
          "\"plain / \xc3\xa4 \xf0\x9f\x98\x80 \x7f\"" },
        { SPAN_CONST("\"\\\b\f\n\r\t"), "\"\\\"\\\\\\b\\f\\n\\r\\t\"" },
        { SPAN_CONST("\0\x01\x1f"), "\"\\u0000\\u0001\\u001f\"" },
        { SPAN_CONST("a\xff"
                     "b"),
          "\"a\xef\xbf\xbd"
          "b\"" },
        { SPAN_CONST("\xc3"), "\"\xef\xbf\xbd\"" },
        { SPAN_CONST("\xed\xa0\x80"), "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" },
        { SPAN_CONST("\xc0\xafz"), "\"\xef\xbf\xbd\xef\xbf\xbdz\"" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_BUF struct buf b = { 0 };
        AUTO_JSON struct json_doc doc = { 0 };

        json_quote(&b, cases[i].text);
        CHECK_STR(buf_cstr(&b), cases[i].want);
        CHECK_INT(json_parse(&doc, buf_span(&b), NULL, NULL), 0);
    }
}

TEST(every_byte_at_every_place_of_a_string_reads_back)
{
    for (int c = 0; c < 0x80; c++) {
        for (size_t at = 0; at < 40; at++) {
            char text[41];
            AUTO_BUF struct buf b = { 0 };
            AUTO_JSON struct json_doc doc = { 0 };
            AUTO_ARENA struct arena a = { 0 };

            memset(text, 'x', sizeof text);
            text[at] = (char)c;
            json_quote(&b, span_make(text, sizeof text));
            CHECK_INT(json_parse(&doc, buf_span(&b), NULL, NULL), 0);
            CHECK(span_eq(json_str(json_root(&doc), &a), span_make(text, sizeof text)));
        }
    }
}

TEST(doubles_are_written_in_the_shortest_form_that_reads_back)
{
    static const struct {
        double v;
        const char *want;
    } cases[] = {
        { 0, "0" },
        { -0.0, "-0" },
        { 0.1, "0.1" },
        { 100, "100" },
        { 1.0 / 3, "0.3333333333333333" },
        { 0.1 + 0.2, "0.30000000000000004" },
        { 1e21, "1e+21" },
        { 5e-324, "5e-324" },
        { 1.7976931348623157e308, "1.7976931348623157e+308" },
        { 9007199254740993.0, "9007199254740992" },
        { NAN, "null" },
        { INFINITY, "null" },
        { -INFINITY, "null" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_BUF struct buf b = { 0 };
        struct json_out o = json_out(&b);

        json_put_double(&o, NULL, cases[i].v);
        CHECK_STR(buf_cstr(&b), cases[i].want);
    }
}

TEST(scaled_numbers_are_exact_and_short)
{
    static const struct {
        int64_t v;
        unsigned places;
        const char *want;
    } cases[] = {
        { 0, 3, "0" },
        { 5, 3, "0.005" },
        { 1500, 3, "1.5" },
        { 2000, 3, "2" },
        { 1700000000123, 3, "1700000000.123" },
        { -1500, 3, "-1.5" },
        { -7, 6, "-0.000007" },
        { 42, 0, "42" },
        { INT64_MIN, 6, "-9223372036854.775808" },
        { INT64_MAX, 18, "9.223372036854775807" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_BUF struct buf b = { 0 };
        struct json_out o = json_out(&b);

        json_put_scaled(&o, NULL, cases[i].v, cases[i].places);
        CHECK_STR(buf_cstr(&b), cases[i].want);
    }
}

TEST(a_hundred_thousand_random_doubles_survive_writing_and_reading)
{
    uint64_t bits = 88172645463325252u;

    for (int i = 0; i < 100000; i++) {
        AUTO_BUF struct buf b = { 0 };
        AUTO_JSON struct json_doc doc = { 0 };
        struct json_out o = json_out(&b);
        double v, back = 0;

        bits ^= bits << 13, bits ^= bits >> 7, bits ^= bits << 17;
        memcpy(&v, &bits, sizeof v);
        if (!isfinite(v))
            continue;
        json_put_double(&o, NULL, v);
        CHECK_INT(json_parse(&doc, buf_span(&b), NULL, NULL), 0);
        CHECK_INT(json_double(json_root(&doc), &back, NULL), 0);
        CHECK(memcmp(&v, &back, sizeof v) == 0);
    }
}

static void misuse(int how)
{
    AUTO_BUF struct buf b = { 0 };
    struct json_out o = json_out(&b);

    if (how == 0)
        json_end(&o);
    if (how == 1)
        json_put_null(&o, "key");
    json_begin_object(&o, NULL);
    if (how == 2)
        json_put_null(&o, NULL);
    json_begin_array(&o, "a");
    if (how == 3)
        json_put_null(&o, "key");
    for (int i = 0; how == 4 && i < 200; i++)
        json_begin_array(&o, NULL);
}

TEST(a_wrong_order_of_calls_aborts)
{
    for (int how = 0; how < 5; how++) {
        int status;
        pid_t pid;

        fflush(stdout);
        pid = fork();
        if (pid == 0) {
            dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
            misuse(how);
            _exit(0);
        }
        CHECK_INT(waitpid(pid, &status, 0), pid);
        CHECK(WIFSIGNALED(status));
        CHECK_INT(WTERMSIG(status), SIGABRT);
    }
}
