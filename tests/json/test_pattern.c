#include "tap.h"
#include "json/json.h"

static int search(const char *text, const char *subject)
{
    AUTO(pattern) struct pattern *p = NULL;
    struct pattern_run run = { 0 };
    int rc;

    CHECK_INT(pattern_new(&p, span_of(text), NULL, NULL), 0);
    CHECK_SPAN(pattern_text(p), text);
    rc = pattern_search(p, span_of(subject), &run);
    pattern_run_done(&run);
    return rc;
}

TEST(a_pattern_is_searched_for_and_not_anchored)
{
    static const struct {
        const char *pattern, *subject;
        int want;
    } cases[] = {
        { "read", "unread_file", 1 },
        { "^read", "unread_file", 0 },
        { "^read", "read_file", 1 },
        { "file$", "read_file", 1 },
        { "file$", "read_file\n", 0 },
        { "", "read_file", 1 },
        { "Read", "read", 0 },
        { "^.$", "\xe2\x82\xac", 1 },
        { "\\u20ac", "5\xe2\x82\xac", 1 },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        CHECK_INT(search(cases[i].pattern, cases[i].subject), cases[i].want);
}

TEST(a_bad_pattern_is_refused_with_the_place)
{
    static const char *const bad[] = { "(", "[a", "a**", "\\", "(?<n>a" };

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct pattern *p = NULL;
        struct pb_error err;

        CHECK_INT(pattern_new(&p, span_of(bad[i]), NULL, &err), -PB_E_INVALID);
        CHECK_HAS(err.msg, "not a usable pattern: ");
        CHECK_HAS(err.msg, "near character ");
        CHECK(!p);
    }
}

TEST(a_search_that_takes_too_many_steps_is_a_limit)
{
    CHECK_INT(search("^(a+)+$", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"),
              -PB_E_LIMIT);
}

TEST(compiled_patterns_are_bounded_together)
{
    size_t bytes = 0;
    AUTO(pattern) struct pattern *a = NULL, *b = NULL;
    struct pb_error err;

    CHECK_INT(pattern_new(&a, SPAN("(abc){10}"), &bytes, NULL), 0);
    CHECK(bytes > 0);
    bytes = JSON_PATTERN_BYTES_MAX;
    CHECK_INT(pattern_new(&b, SPAN("x"), &bytes, &err), -PB_E_LIMIT);
    CHECK_HAS(err.msg, "4194304 bytes");
}
