#include "mcp/uri_template.h"
#include "tap.h"
#include <time.h>

static const char *match(const char *template, const char *uri)
{
    static struct buf out;
    AUTO(uri_template) struct uri_template *t = NULL;
    struct pb_error err;

    out.n = 0;
    if (uri_template_new(&t, span_of(template), &err) < 0)
        TAP_FAIL("%s: %s", template, err.msg);
    if (!uri_template_match(t, span_of(uri), &out)) {
        CHECK_INT(out.n, 0);
        return "no";
    }
    return buf_cstr(&out);
}

TEST(templates_give_the_values_of_their_variables)
{
    static const struct {
        const char *template, *uri, *want;
    } cases[] = {
        { "test://template/{id}/data", "test://template/123/data", "{\"id\":\"123\"}" },
        { "test://template/{id}/data", "test://template//data", "no" },
        { "test://template/{id}/data", "test://template/1/2/data", "no" },
        { "test://template/{id}/data", "test://template/123/dat", "no" },
        { "test://template/{id}/data", "test://template/123/data/", "no" },
        { "x:{a}-{b}", "x:1-2-3", "{\"a\":\"1-2\",\"b\":\"3\"}" },
        { "x:{a}{b}", "x:123", "{\"a\":\"12\",\"b\":\"3\"}" },
        { "x:{a}{b}", "x:1", "no" },
        { "x:{+path}", "x:a/b?c#d", "{\"path\":\"a/b?c#d\"}" },
        { "x:{+p}-{y}", "x:a-b/c-d", "{\"p\":\"a-b/c\",\"y\":\"d\"}" },
        { "x:{+p}-{y}", "x:a-b/c", "no" },
        { "x:{a}?q", "x:1?q", "{\"a\":\"1\"}" },
        { "file://{/dir,name}", "file:///etc/passwd", "{\"dir\":\"etc\",\"name\":\"passwd\"}" },
        { "file://{/dir,name}", "file:///etc", "no" },
        { "file://{/path*}", "file:///a/b/c", "{\"path\":\"a/b/c\"}" },
        { "file://{/path*}/end", "file:///a/end/end", "{\"path\":\"a/end\"}" },
        { "s:{q}{?a,b}", "s:x", "{\"q\":\"x\"}" },
        { "s:{q}{?a,b}", "s:x?", "{\"q\":\"x\"}" },
        { "s:{q}{?a,b}", "s:x?b=2&a=1", "{\"q\":\"x\",\"b\":\"2\",\"a\":\"1\"}" },
        { "s:{q}{?a,b}", "s:x?other=2&a&", "{\"q\":\"x\",\"a\":\"\"}" },
        { "s:{q}{?a,b}", "s:x?a=1&a=2", "no" },
        { "s:{+q}{?a}", "s:x/y?a=1", "{\"q\":\"x/y\",\"a\":\"1\"}" },
        { "{a}", "abc", "{\"a\":\"abc\"}" },
        { "literal", "literal", "{}" },
        { "literal", "litera", "no" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        CHECK_STR(match(cases[i].template, cases[i].uri), cases[i].want);
}

TEST(values_are_percent_decoded_and_must_be_text)
{
    CHECK_STR(match("x:{a}", "x:a%20%C3%A9%2F%22"), "{\"a\":\"a \xc3\xa9/\\\"\"}");
    CHECK_STR(match("x:{a}", "x:%c3%a9"), "{\"a\":\"\xc3\xa9\"}");
    CHECK_STR(match("x:{a}", "x:%"), "no");
    CHECK_STR(match("x:{a}", "x:%2"), "no");
    CHECK_STR(match("x:{a}", "x:%zz"), "no");
    CHECK_STR(match("x:{a}", "x:%00"), "no");
    CHECK_STR(match("x:{a}", "x:%ff"), "no");
    CHECK_STR(match("x:{a}", "x:%c0%af"), "no");
    CHECK_STR(match("x:{?a}", "x:?a=%ff"), "no");
}

TEST(templates_that_are_not_understood_are_refused)
{
    static const char *const cases[] = {
        "{",     "}",      "x{y",    "x}y",     "{}",     "{a}{", "{#a}",   "{.a}",
        "{;a}",  "{&a}",   "{a:3}",  "{a,b}",   "{+a,b}", "{a*}", "{?a}/x", "{?a}{b}",
        "{a b}", "{a}{a}", "{/a,a}", "{a}{?a}", "{a}{/}", "{=a}",
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct uri_template *t = NULL;
        struct pb_error err = { 0 };

        if (uri_template_new(&t, span_of(cases[i]), &err) != -PB_E_INVALID)
            TAP_FAIL("'%s' was taken", cases[i]);
        CHECK(err.msg[0]);
    }
}

TEST(a_template_knows_its_variables)
{
    AUTO(uri_template) struct uri_template *t = NULL;

    CHECK_INT(uri_template_new(&t, SPAN("x:{a}{/b}{?c,d}"), NULL), 0);
    CHECK(uri_template_has(t, SPAN("a")) && uri_template_has(t, SPAN("b")));
    CHECK(uri_template_has(t, SPAN("c")) && uri_template_has(t, SPAN("d")));
    CHECK(!uri_template_has(t, SPAN("x:")) && !uri_template_has(t, SPAN("")));
}

static void parts(struct buf *out, size_t n)
{
    out->n = 0;
    for (size_t i = 0; i < n; i++)
        buf_printf(out, i % 2 ? "/" : "{v%zu}", i);
}

TEST(parts_and_bytes_are_bounded)
{
    AUTO_BUF struct buf text = { 0 };
    AUTO(uri_template) struct uri_template *t = NULL;
    struct uri_template *none = NULL;
    struct pb_error err;

    parts(&text, MCP_TEMPLATE_PARTS_MAX);
    CHECK_INT(uri_template_new(&t, buf_span(&text), &err), 0);
    parts(&text, MCP_TEMPLATE_PARTS_MAX + 1);
    CHECK_INT(uri_template_new(&none, buf_span(&text), &err), -PB_E_LIMIT);
    parts(&text, MCP_TEMPLATE_PARTS_MAX * 10);
    CHECK_INT(uri_template_new(&none, buf_span(&text), &err), -PB_E_LIMIT);
    memset(buf_reserve(&text, MCP_URI_BYTES_MAX + 1), 'a', MCP_URI_BYTES_MAX + 1);
    CHECK_INT(uri_template_new(&none, span_make(text.p + text.n, MCP_URI_BYTES_MAX + 1), &err),
              -PB_E_LIMIT);
}

TEST(uris_longer_than_the_bound_match_nothing)
{
    AUTO(uri_template) struct uri_template *t = NULL;
    AUTO_BUF struct buf uri = { 0 }, out = { 0 };

    CHECK_INT(uri_template_new(&t, SPAN("{a}"), NULL), 0);
    memset(buf_reserve(&uri, MCP_URI_BYTES_MAX + 1), 'a', MCP_URI_BYTES_MAX + 1);
    CHECK(uri_template_match(t, span_make(uri.p, MCP_URI_BYTES_MAX), &out));
    CHECK(!uri_template_match(t, span_make(uri.p, MCP_URI_BYTES_MAX + 1), &out));
}

/* Matching by regular expression has taken minutes here (CVE-2026-0621). */
TEST(hostile_uris_are_answered_in_linear_time)
{
    static const char *const templates[] = {
        "x:{/id*}",
        "x:{/a*}{/b*}{/c*}{/d*}end",
        "x:{+a}/{+b}/{+c}/{+d}end",
        "x:{a}{b}{c}{d}{e}end",
    };
    AUTO_BUF struct buf uri = { 0 };
    struct timespec from, to;

    buf_str(&uri, "x:");
    for (size_t i = 0; i < 50000; i++)
        buf_byte(&uri, '/');
    for (size_t i = 0; i < ARRAY_LEN(templates); i++) {
        AUTO(uri_template) struct uri_template *t = NULL;
        AUTO_BUF struct buf out = { 0 };

        CHECK_INT(uri_template_new(&t, span_of(templates[i]), NULL), 0);
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
        uri_template_match(t, buf_span(&uri), &out);
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
        CHECK((to.tv_sec - from.tv_sec) * 1000 + (to.tv_nsec - from.tv_nsec) / 1000000 < 50);
    }
}
