#include "mcp/rpc/rpc.h"
#include "mcp/rpc/uri_template.h"
#include "tap.h"

static const char *match(const char *template, const char *uri)
{
    static struct buf out;
    AUTO(uri_template) struct uri_template *t = NULL;
    size_t steps = MCP_TEMPLATE_STEPS_MAX;
    struct pb_error err;

    out.n = 0;
    if (uri_template_new(&t, span_of(template), &err) < 0)
        TAP_FAIL("%s: %s", template, err.msg);
    if (!uri_template_match(t, span_of(uri), &steps, &out)) {
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

/* What one match costs; *fits may be NULL. */
static size_t cost_of(const char *template, struct span uri, bool *fits)
{
    AUTO(uri_template) struct uri_template *t = NULL;
    AUTO_BUF struct buf out = { 0 };
    size_t steps = MCP_TEMPLATE_STEPS_MAX;
    bool answer;

    CHECK_INT(uri_template_new(&t, span_of(template), NULL), 0);
    answer = uri_template_match(t, uri, &steps, &out);
    if (fits)
        *fits = answer;
    return MCP_TEMPLATE_STEPS_MAX - steps;
}

static void many(struct buf *out, const char *first, char c, size_t n)
{
    buf_str(out, first);
    memset(buf_reserve(out, n), c, n);
    out->n += n;
}

TEST(uris_longer_than_the_bound_match_nothing)
{
    AUTO_BUF struct buf uri = { 0 };
    bool fits;

    many(&uri, "", 'a', MCP_URI_BYTES_MAX + 1);
    cost_of("{a}", span_make(uri.p, MCP_URI_BYTES_MAX), &fits);
    CHECK(fits);
    CHECK_INT(cost_of("{a}", buf_span(&uri), &fits), 1);
    CHECK(!fits);
}

/* Matching by regular expression has taken minutes here (CVE-2026-0621). */
TEST(hostile_uris_are_answered_in_linear_time)
{
    static const char *const templates[] = {
        "x:{/id*}",
        "x:{/a*}{/b*}{/c*}{/d*}end/",
        "x:{+a}/{+b}/{+c}/{+d}end/",
        "x:{a}{b}{c}{d}{e}end/",
    };
    AUTO_BUF struct buf uri = { 0 };

    many(&uri, "x:", '/', 50000);
    for (size_t i = 0; i < ARRAY_LEN(templates); i++) {
        size_t half = cost_of(templates[i], span_make(uri.p, uri.n / 2), NULL);
        size_t whole = cost_of(templates[i], buf_span(&uri), NULL);

        CHECK(whole <= 2 * half + 100);
        CHECK(whole <= 10 * uri.n);
    }
}

TEST(what_no_template_of_this_beginning_or_end_can_be_costs_one_step)
{
    static const char *const templates[] = { "y:{+a}", "x:{+a}b", "x:{a}{b}{c}{d}", "x:aaab" };

    for (size_t i = 0; i < ARRAY_LEN(templates); i++)
        CHECK_INT(cost_of(templates[i], i == 2 ? SPAN("x:aaa") : SPAN("x:aaaa"), NULL), 1);
}

TEST(a_match_takes_no_more_steps_than_it_is_given)
{
    AUTO(uri_template) struct uri_template *t = NULL;
    AUTO_BUF struct buf out = { 0 };
    size_t cost = cost_of("x:{a}-{b}", SPAN("x:1-2"), NULL), steps = cost;

    CHECK_INT(uri_template_new(&t, SPAN("x:{a}-{b}"), NULL), 0);
    CHECK(uri_template_match(t, SPAN("x:1-2"), &steps, &out));
    CHECK_INT(steps, 0);
    out.n = 0;
    for (size_t fewer = 0; fewer < cost; fewer++) {
        steps = fewer;
        CHECK(!uri_template_match(t, SPAN("x:1-2"), &steps, &out));
        CHECK_INT(steps, 0);
        CHECK_INT(out.n, 0);
    }
}

/* Half of the URI is compared at each of its places: such a template never fits. */
TEST(a_template_made_to_cost_ends_at_the_bound)
{
    AUTO_BUF struct buf template = { 0 }, uri = { 0 };
    bool fits;

    many(&template, "{+a}", 'x', MCP_URI_BYTES_MAX / 2);
    buf_str(&template, "{+b}");
    many(&uri, "", 'x', MCP_URI_BYTES_MAX);
    CHECK_INT(cost_of(buf_cstr(&template), buf_span(&uri), &fits), MCP_TEMPLATE_STEPS_MAX);
    CHECK(!fits);
}
