#include "base/base.h"
#include "tap.h"

TEST(spans_compare_by_their_bytes)
{
    struct span none = { 0 };

    CHECK(span_eq(none, SPAN("")));
    CHECK(span_eq(SPAN("a\0b"), SPAN("a\0b")));
    CHECK(!span_eq(SPAN("a\0b"), SPAN("a\0c")));
    CHECK(!span_eq(SPAN("a"), SPAN("ab")));
    CHECK(span_is(SPAN("abc"), "abc"));
    CHECK(!span_is(SPAN("abc"), "ab"));
    CHECK(span_is(none, ""));
    CHECK_INT(span_of(NULL).n, 0);
    CHECK(span_cmp(SPAN("a"), SPAN("b")) < 0);
    CHECK(span_cmp(SPAN("a"), SPAN("ab")) < 0);
    CHECK(span_cmp(SPAN("b"), SPAN("ab")) > 0);
    CHECK(span_cmp(SPAN("\x7f"), SPAN("\x80")) < 0);
    CHECK_INT(span_cmp(none, SPAN("")), 0);
}

TEST(what_a_span_has_is_found_wherever_it_is)
{
    char text[80];
    struct span none = { 0 };

    CHECK(span_has(none, SPAN("")));
    CHECK(span_has(SPAN("abc"), SPAN("")));
    CHECK(!span_has(none, SPAN("a")));
    CHECK(!span_has(SPAN("ab"), SPAN("abc")));
    for (size_t size = 1; size <= sizeof text; size++)
        for (size_t n = 1; n <= 20 && n <= size; n++)
            for (size_t at = 0; at + n <= size; at++) {
                struct span what = span_make("axxxxxxxxxxxxxxxxxxb" + (n == 1 ? 0 : 20 - n), n);

                memset(text, 'x', sizeof text);
                CHECK(what.p[0] == 'x' || !span_has(span_make(text, size), what));
                memcpy(text + at, what.p, n);
                CHECK(span_has(span_make(text, size), what));
                text[at + n - 1] ^= 1;
                CHECK(!span_has(span_make(text, size), what));
            }
    CHECK(span_has(SPAN("\"resourc\"resource\" and more than sixteen"), SPAN("\"resource\"")));
}

TEST(spans_are_cut)
{
    struct span none = { 0 };

    CHECK(span_starts(SPAN("abc"), "ab"));
    CHECK(span_starts(SPAN("abc"), ""));
    CHECK(!span_starts(SPAN("a"), "ab"));
    CHECK(span_starts(none, ""));
    CHECK_SPAN(span_from(SPAN("abc"), 1), "bc");
    CHECK_INT(span_from(none, 0).n, 0);
    CHECK(span_end(none) == NULL);
    CHECK_INT(span_end(SPAN("abc"))[-1], 'c');
}

TEST(white_space_is_trimmed_at_both_ends)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        { "", "" },           { " \t\r\n ", "" },   { "a", "a" },
        { "  a b\t", "a b" }, { "\r\nx\r\n", "x" }, { "\va\f", "\va\f" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        CHECK_SPAN(span_trim(span_of(cases[i].text)), cases[i].want);
    CHECK_INT(span_trim((struct span){ 0 }).n, 0);
}

TEST(ascii_case_is_ignored_and_nothing_else)
{
    CHECK(span_is_nocase(SPAN("Content-ID"), "content-id"));
    CHECK(span_is_nocase(SPAN("content-id"), "CONTENT-ID"));
    CHECK(span_is_nocase((struct span){ 0 }, ""));
    CHECK(!span_is_nocase(SPAN("a"), "ab"));
    CHECK(!span_is_nocase(SPAN("ab"), "a"));
    CHECK(!span_is_nocase(SPAN("a\0"), "a"));
    CHECK(!span_is_nocase(SPAN("["), "{"));
    CHECK(!span_is_nocase(SPAN("@"), "`"));
    CHECK(!span_is_nocase(SPAN("\xc3\x84"), "\xc3\xa4"));
}

TEST(the_end_of_a_line_is_found_wherever_it_is)
{
    char text[200];
    struct span none = { 0 };

    CHECK(!span_line_end(none));
    memset(text, 'x', sizeof text);
    for (size_t n = 0; n <= sizeof text; n++)
        CHECK(!span_line_end(span_make(text, n)));
    for (size_t i = 0; i < sizeof text; i++) {
        text[i] = i % 2 ? '\r' : '\n';
        CHECK(span_line_end(span_make(text, sizeof text)) == text + i);
        CHECK(!span_line_end(span_make(text, i)));
        text[i] = (char)(i % 2 ? '\v' : '\f');
    }
}
