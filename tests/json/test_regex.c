#include "tap.h"
#include "json/json.h"

static int find(const char *text, unsigned flags, struct span subject, struct span *hit)
{
    AUTO(regex) struct regex *r = NULL;
    struct regex_run run = { 0 };
    struct pb_error err = { 0 };
    int rc;

    if (regex_new(&r, span_of(text), flags, &err) < 0)
        TAP_FAIL("%s: %s", text, err.msg);
    rc = regex_find(r, subject, &run, hit);
    regex_run_done(&run);
    return rc;
}

TEST(a_match_tells_where_it_is)
{
    struct span hit;

    CHECK_INT(find("b+", 0, SPAN("aabbbc"), &hit), 1);
    CHECK_SPAN(hit, "bbb");
    CHECK_INT(find("x", 0, SPAN("aabbbc"), &hit), 0);
    CHECK_INT(find("B+", REGEX_NOCASE, SPAN("aabbbc"), &hit), 1);
    CHECK_INT(find("a.c", REGEX_LITERAL, SPAN("abc"), &hit), 0);
    CHECK_INT(find("a.c", REGEX_LITERAL, SPAN("xa.c"), &hit), 1);
    CHECK_INT(find("^b$", 0, SPAN("a\nb\nc"), &hit), 1);
    CHECK_INT(find("x", 0, (struct span){ 0 }, &hit), 0);
}

TEST(a_character_is_a_code_point_and_in_what_is_not_utf8_a_byte)
{
    struct span hit;

    CHECK_INT(find("^caf.$", 0, SPAN("caf\xc3\xa9"), &hit), 1);
    CHECK_INT(find("^caf.$", 0, SPAN("caf\xe9"), &hit), 1);
    CHECK_INT(find("CAF\xc3\x89", REGEX_NOCASE, SPAN("caf\xc3\xa9"), &hit), 1);
    CHECK_INT(find("[\xc3\xa9]", 0, SPAN("caf\xe9"), &hit), 0);
}

TEST(what_is_wrong_is_told_with_its_place)
{
    static const char *const bad[] = { "(a", "[z-a]", "a{2,1}", "\\" };
    AUTO_BUF struct buf large = { 0 };
    struct regex *r = NULL;
    struct pb_error err;

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        CHECK_INT(regex_new(&r, span_of(bad[i]), 0, &err), -PB_E_INVALID);
        CHECK_HAS(err.msg, "at character");
    }
    while (large.n < REGEX_BYTES_MAX)
        buf_byte(&large, 'x');
    CHECK_INT(regex_new(&r, buf_span(&large), 0, &err), 0);
    regex_free(r);
    buf_byte(&large, 'x');
    CHECK_INT(regex_new(&r, buf_span(&large), 0, &err), -PB_E_LIMIT);
}

TEST(an_expression_that_never_ends_is_stopped)
{
    AUTO_BUF struct buf text = { 0 };
    struct span hit;

    for (int i = 0; i < 40; i++)
        buf_byte(&text, 'a');
    CHECK_INT(find("^(a+)+([bc])$", 0, buf_span(&text), &hit), -PB_E_LIMIT);
}

static const char *required(const char *text, unsigned flags)
{
    static char out[256];
    AUTO(regex) struct regex *r = NULL;
    struct span parts[REGEX_REQUIRED_MAX];
    size_t n, at = 0;
    bool nocase;

    CHECK_INT(regex_new(&r, span_of(text), flags, NULL), 0);
    n = regex_required(r, parts, &nocase);
    CHECK(nocase == (flags == REGEX_NOCASE));
    *out = '\0';
    for (size_t i = 0; i < n; i++)
        at +=
            (size_t)snprintf(out + at, sizeof out - at, "%s%.*s", i ? "|" : "", SPAN_ARG(parts[i]));
    return out;
}

TEST(what_every_match_has_is_known_or_nothing_is)
{
    CHECK_STR(required("foo\\d+barbaz", 0), "barbaz");
    CHECK_STR(required("foox?", 0), "foo");
    CHECK_STR(required("foo(bar)?x", 0), "foo");
    CHECK_STR(required("(foo|bar)qu", 0), "qu");
    CHECK_STR(required("foo|bar+|(x)baz", REGEX_NOCASE), "foo|bar|baz");
    CHECK_STR(required("foo|b", 0), "");
    CHECK_STR(required("foo|", 0), "");
    CHECK_STR(required("ab{0}cd", 0), "cd");
    CHECK_STR(required("a[bc]d*", 0), "");
    CHECK_STR(required("[]x]hello[^]y]", 0), "hello");
    CHECK_STR(required("[[:alpha:]]hello", 0), "");
    CHECK_STR(required("[\\]]hello", 0), "hello");
    CHECK_STR(required("(?i)hello", 0), "");
    CHECK_STR(required("(?x) a b c", 0), "");
    CHECK_STR(required("\\Qa.b\\E", 0), "");
    CHECK_STR(required("\\.\\*ab", 0), ".*ab");
    CHECK_STR(required("caf\xc3\xa9zz", 0), "caf");
    CHECK_STR(required("ca\xc3\xa9?", 0), "ca");
    CHECK_STR(required("(?=look)behind(?!ahead)", 0), "behind");
    CHECK_STR(required("a{2}bc", 0), "bc");
    CHECK_STR(required("(((deep|er)))", 0), "");
}

static bool together(const char *text)
{
    AUTO(regex) struct regex *r = NULL;

    CHECK_INT(regex_new(&r, span_of(text), 0, NULL), 0);
    return regex_takes_lines(r);
}

TEST(what_sees_beyond_its_line_is_run_on_lines_alone)
{
    static const char *const alone[] = { "a$",       "\\Ab", "a(?!b)", "(?<=a)b", "a++b", "a*+b",
                                         "a{1,2}+b", "\\zx", "(a)\\1", "(?>a+)",  "a\\K" };

    CHECK(together("a+[^b]\\s*(c|d)e?"));
    CHECK(together("^abc.*"));
    CHECK(together("a+?b\\+c"));
    for (size_t i = 0; i < ARRAY_LEN(alone); i++)
        if (together(alone[i]))
            TAP_FAIL("%s", alone[i]);
}
