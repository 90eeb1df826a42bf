#include "tap.h"
#include "tools/search/search_impl.h"

static bool matches(const char *pattern, const char *path, enum pathglob_kind kind)
{
    AUTO(pathglob) struct pathglob *g = NULL;
    struct pb_error err;

    if (pathglob_new(&g, span_of(pattern), kind, &err) < 0)
        TAP_FAIL("%s: %s", pattern, err.msg);
    return pathglob_match(g, span_of(path), NULL);
}

/* S3-67 */
TEST(a_pattern_for_paths_matches_as_people_expect)
{
    static const struct {
        const char *pattern, *path;
        bool want;
    } cases[] = {
        { "a.c", "a.c", true },
        { "a.c", "src/deep/a.c", true },
        { "a.c", "A.c", false },
        { "*.c", "src/a.c", true },
        { "*.c", "src/a.cc", false },
        { "*", ".hidden", true },
        { "a?c", "abc", true },
        { "a?c",
          "a\xc3\xa9"
          "c",
          true },
        { "a?c", "a/c", false },
        { "[a-c]x", "bx", true },
        { "[!a-c]x", "bx", false },
        { "[^a-c]x", "dx", true },
        { "[\xc3\xa0-\xc3\xbf]", "\xc3\xa9", true },
        { "[]a]", "]", true },
        { "[[:digit:]]", "7", true },
        { "[[:digit:]]", "x", false },
        { "\\*", "*", true },
        { "\\*", "x", false },
        { "src/*.c", "src/a.c", true },
        { "src/*.c", "src/b/a.c", false },
        { "src/*.c", "x/src/a.c", false },
        { "./src/*.c", "src/a.c", true },
        { "/a.c", "a.c", true },
        { "/a.c", "src/a.c", false },
        { "src/**/*.c", "src/a.c", true },
        { "src/**/*.c", "src/x/y/a.c", true },
        { "src/**/*.c", "srcx/a.c", false },
        { "**/a.c", "a.c", true },
        { "**/a.c", "x/a.c", true },
        { "**/x/a.c", "y/z/x/a.c", true },
        { "**/x/a.c", "y/zx/a.c", false },
        { "src/**", "src/x/y", true },
        { "src/**", "src", false },
        { "src/", "src/x/y", true },
        { "src/", "lib/src", false },
        { "a**c", "abbc", true },
        { "x/a**c", "x/ab/bc", false },
        { "*.{c,h}", "a.h", true },
        { "*.{c,h}", "a.o", false },
        { "{src,lib}/**/*.{c,{h,hh}}", "lib/x/a.hh", true },
        { "{src,lib}/**/*.{c,{h,hh}}", "bin/x/a.hh", false },
        { "a{,b}c", "ac", true },
        { "a{,b}c", "abc", true },
        { "a\\{b", "a{b", true },
        { "[{]b", "{b", true },
        { "\xff*",
          "\xff"
          "a",
          true },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        if (matches(cases[i].pattern, cases[i].path, PATHGLOB_PEOPLE) != cases[i].want)
            TAP_FAIL("%s and %s", cases[i].pattern, cases[i].path);
}

TEST(a_pattern_that_is_wrong_is_told)
{
    static const struct {
        const char *pattern, *why;
    } cases[] = {
        { "", "empty" }, { "[a", "[" }, { "{a,b", "{" }, { "a\\", "\\" }, { "[[:nonsense:]]", "[" },
    };
    struct pathglob *g = NULL;
    struct pb_error err;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        CHECK_INT(pathglob_new(&g, span_of(cases[i].pattern), PATHGLOB_PEOPLE, &err),
                  -PB_E_INVALID);
        CHECK_HAS(err.msg, cases[i].why);
    }
}

static int made_of(size_t bytes, const char *piece)
{
    AUTO(pathglob) struct pathglob *g = NULL;
    AUTO_BUF struct buf b = { 0 };

    while (b.n + strlen(piece) <= bytes)
        buf_str(&b, piece);
    return pathglob_new(&g, buf_span(&b), PATHGLOB_PEOPLE, NULL);
}

TEST(patterns_have_bounds)
{
    CHECK_INT(made_of(SEARCH_GLOB_MAX, "x"), 0);
    CHECK_INT(made_of(SEARCH_GLOB_MAX + 1, "x"), -PB_E_LIMIT);
    CHECK_INT(made_of(8 * strlen("{a,b}"), "{a,b}"), 0); /* 256 alternatives */
    CHECK_INT(made_of(9 * strlen("{a,b}"), "{a,b}"), -PB_E_LIMIT);
    CHECK_INT(made_of(SEARCH_GLOB_MAX, "{a,b}"), -PB_E_LIMIT);
}

TEST(no_pattern_takes_more_steps_than_its_length_times_that_of_the_path)
{
    static const char *const worst[] = { "*a", "a*", "**/", "*?", "a/**/" };
    AUTO_BUF struct buf path = { 0 };

    while (path.n < 4000)
        buf_str(&path, "aa/");
    path.n--;
    for (size_t i = 0; i < ARRAY_LEN(worst); i++) {
        AUTO(pathglob) struct pathglob *g = NULL;
        AUTO_BUF struct buf b = { 0 };
        uint64_t steps = 0;

        while (b.n + strlen(worst[i]) < SEARCH_GLOB_MAX)
            buf_str(&b, worst[i]);
        buf_byte(&b, 'b');
        CHECK_INT(pathglob_new(&g, buf_span(&b), PATHGLOB_PEOPLE, NULL), 0);
        CHECK(!pathglob_match(g, buf_span(&path), &steps));
        CHECK(steps <= (SEARCH_GLOB_MAX + 1) * path.n);
    }
}
