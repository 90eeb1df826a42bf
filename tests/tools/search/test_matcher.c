#include "tap.h"
#include "tools/search/search_impl.h"

/* The lines with a match, counted from 1: "1,3". */
static const char *lines_with(const char *query, bool regex, const char *text)
{
    static char out[256];
    struct matcher_wants w = { .query = span_of(query), .regex = regex };
    struct matcher_run run = { 0 };
    struct span rest = span_of(text), line, hit;
    struct pb_error err = { 0 };
    struct matcher m;
    size_t at = 0;

    if (matcher_init(&m, &w, &err) < 0)
        TAP_FAIL("%s", err.msg);
    *out = '\0';
    while (rest.n && matcher_next(&m, &run, rest, &line, &hit) > 0) {
        size_t number = 1 + count_lines(span_make(text, (size_t)(line.p - text)));
        const char *end = line.p + line.n;

        CHECK(hit.p >= line.p && hit.p + (m.line_feeds ? 0 : hit.n) <= end);
        at += (size_t)snprintf(out + at, sizeof out - at, "%s%zu", at ? "," : "", number);
        if (!*end)
            break;
        rest = span_of(end + 1);
    }
    regex_run_done(&run.regex);
    matcher_done(&m);
    return out;
}

/* S3-68 */
TEST(a_text_is_found_whatever_its_case_unless_it_has_upper_case_itself)
{
    CHECK_STR(lines_with("foo", false, "foo\nFOO\nbar\nxFoox"), "1,2,4");
    CHECK_STR(lines_with("Foo", false, "foo\nFOO\nbar\nxFoox"), "4");
    CHECK_STR(lines_with("a.c", false, "abc\na.c\n"), "2");
    CHECK_STR(lines_with("\xc3\xa9t\xc3\xa9", false, "\xc3\x89t\xc3\xa9\n\xc3\xa9t\xc3\xa9\n"),
              "2");
    CHECK_STR(lines_with("b\nc", false, "a\nb\nc\nb\nc"), "2,4");
}

/* S3-68 */
TEST(an_expression_is_matched_line_by_line)
{
    CHECK_STR(lines_with("^b.d$", true, "abd\nbcd\nbcde\nbxd\r\n"), "2,4");
    CHECK_STR(lines_with("fo+\\s*bar", true, "foo\nbar\nfoo bar\nfobar"), "3,4");
    CHECK_STR(lines_with("[a-c]\\s*[x-z]", true, "a\nx\nb z\nc\ny"), "3");
    CHECK_STR(lines_with("[a-c]\\s+", true, "a\nx\nb z\nc\ny"), "3");
    CHECK_STR(lines_with("one|two|three", true, "x\nthree\none\ntwo one\n\nONE\n"), "2,3,4,6");
    CHECK_STR(lines_with("[ab](?!\\s*[xy])", true, "a\nx\na x\n"), "1");
    CHECK_STR(lines_with("x*", true, "\n\na\n"), "1,2,3");
    CHECK_STR(lines_with("\\S\\d", true, "a1\nB2\n c"), "1,2");
    CHECK_STR(lines_with("^$", true, "a\n\nb\n\r\n"), "2,4");
}

/* Each way to search must find the same as matching each line alone. */
TEST(all_ways_to_search_find_the_same)
{
    static const char *const queries[] = { "a+b",   "ab|bc|ca", "[ab]\\s*c", "(a|b)+c",
                                           "^a.*c", "a\\s",     "[^a]b",     "abc?",
                                           "b{2}",  ".b.",      "\\bab",     "c$" };
    unsigned seed = 7;

    for (int round = 0; round < 300; round++) {
        char text[400];
        size_t n = (size_t)rand_r(&seed) % (sizeof text - 1);

        for (size_t i = 0; i < n; i++)
            text[i] = "aabbcc \n"[rand_r(&seed) % 8];
        text[n] = '\0';
        for (size_t q = 0; q < ARRAY_LEN(queries); q++) {
            struct matcher_wants w = { .query = span_of(queries[q]),
                                       .regex = true,
                                       .sensitive = true };
            struct matcher_run run = { 0 };
            struct span rest = span_make(text, n), line, hit, plain_hit;
            struct matcher m;
            const char *expect = text;

            CHECK_INT(matcher_init(&m, &w, NULL), 0);
            for (;;) {
                int rc = rest.n ? matcher_next(&m, &run, rest, &line, &hit) : 0;
                const char *want = NULL;

                while (!want && expect < text + n) {
                    const char *lf = memchr(expect, '\n', (size_t)(text + n - expect));
                    size_t len = (size_t)((lf ? lf : text + n) - expect);

                    if (regex_find(m.regex, span_make(expect, len), &run.regex, &plain_hit) > 0)
                        want = expect;
                    expect += len + 1;
                }
                if ((rc > 0) != (want != NULL) || (want && want != line.p))
                    TAP_FAIL("%s in %s", queries[q], text);
                if (!want || expect > text + n)
                    break;
                rest = span_make(expect, (size_t)(text + n - expect));
            }
            regex_run_done(&run.regex);
            matcher_done(&m);
        }
    }
}

TEST(a_query_that_cannot_be_searched_for_is_told)
{
    AUTO_BUF struct buf large = { 0 };
    struct matcher_wants w = { .query = SPAN("a\\nb"), .regex = true };
    struct pb_error err;
    struct matcher m;

    CHECK_INT(matcher_init(&m, &w, &err), -PB_E_INVALID);
    CHECK_HAS(err.msg, "line by line");
    w.query = SPAN("a(");
    CHECK_INT(matcher_init(&m, &w, &err), -PB_E_INVALID);
    CHECK_HAS(err.msg, "at character 2");
    w = (struct matcher_wants){ .query = SPAN("") };
    CHECK_INT(matcher_init(&m, &w, &err), -PB_E_INVALID);
    while (large.n < SEARCH_QUERY_MAX)
        buf_byte(&large, 'x');
    w.query = buf_span(&large);
    CHECK_INT(matcher_init(&m, &w, &err), 0);
    matcher_done(&m);
    buf_byte(&large, 'x');
    w.query = buf_span(&large);
    CHECK_INT(matcher_init(&m, &w, &err), -PB_E_LIMIT);
}
