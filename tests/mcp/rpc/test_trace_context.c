#include "mcp/rpc/rpc.h"
#include "tap.h"

#define GOOD "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

TEST(only_what_the_standard_knows_is_a_trace)
{
    static const struct {
        const char *text;
        bool good;
    } cases[] = {
        { GOOD, true },
        { "", false },
        { "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0", false },
        { "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more", false },
        { "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more", true },
        { "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01x", false },
        { "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", false },
        { "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01", false },
        { "00-00000000000000000000000000000000-00f067aa0ba902b7-01", false },
        { "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01", false },
        { "00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", false },
    };
    AUTO_BUF struct buf endless = { 0 };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        if (trace_valid(span_of(cases[i].text)) != cases[i].good)
            TAP_FAIL("\"%s\" is %sa trace", cases[i].text, cases[i].good ? "" : "not ");
    buf_printf(&endless, "01%s-", GOOD + 2);
    while (endless.n < 1000)
        buf_byte(&endless, 'x');
    CHECK(!trace_valid(buf_span(&endless)));
}

TEST(a_trace_is_put_beside_what_params_say)
{
    static const struct {
        const char *params, *want;
    } cases[] = {
        { "", "{\"_meta\":{\"traceparent\":\"" GOOD "\"}}" },
        { "{\"name\":\"x\"}", "{\"name\":\"x\",\"_meta\":{\"traceparent\":\"" GOOD "\"}}" },
        { "{\"_meta\":{\"a\":1,\"traceparent\":\"old\"},\"n\":2}",
          "{\"n\":2,\"_meta\":{\"a\":1,\"traceparent\":\"" GOOD "\"}}" },
        { "{\"_meta\":null}", "{\"_meta\":{\"traceparent\":\"" GOOD "\"}}" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_BUF struct buf out = { 0 };
        AUTO_JSON struct json_doc doc = { 0 };
        AUTO_ARENA struct arena a = { 0 };

        trace_put(&out, span_of(cases[i].params), SPAN(GOOD));
        CHECK_STR(buf_cstr(&out), cases[i].want);
        CHECK_INT(json_parse(&doc, buf_span(&out), NULL, NULL), 0);
        CHECK(span_is(trace_of_params(json_root(&doc), &a), GOOD));
    }
}
