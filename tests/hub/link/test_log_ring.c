#include "base/base.h"
#include "hub/link/link.h"
#include "hub/link/log_ring.h"
#include "io/io.h"
#include "patchbay.h"
#include "tap.h"
#include "json/json.h"

static const struct log_entry *add(struct log_ring *r, const char *text)
{
    struct log_entry e = { .at = 1, .level = PB_LOG_INFO, .text = text };

    return log_ring_add(r, &e);
}

TEST(a_new_log_is_empty)
{
    struct log_ring *r = log_ring_new();

    CHECK_INT(log_ring_count(r), 0);
    CHECK(!log_ring_at(r, 0));
    log_ring_free(r);
    log_ring_free(NULL);
}

/* S0-53 */
TEST(an_entry_has_an_id_a_time_a_level_and_a_text)
{
    struct log_ring *r = log_ring_new();
    struct log_entry e = {
        .at = 1234, .level = PB_LOG_ERROR, .source = LOG_OF_STDERR, .text = "oh no"
    };
    const struct log_entry *got = log_ring_add(r, &e);

    CHECK_INT(strlen(got->id), UUID_CHARS);
    CHECK_INT(got->at, 1234);
    CHECK_INT(got->level, PB_LOG_ERROR);
    CHECK_INT(got->source, LOG_OF_STDERR);
    CHECK_STR(got->text, "oh no");
    CHECK(got == log_ring_at(r, 0));
    log_ring_free(r);
}

TEST(an_entry_that_has_an_id_keeps_it)
{
    struct log_ring *r = log_ring_new();
    struct log_entry e = { .id = "8f14e45f-ceea-467f-9a4b-000000000000", .text = "x" };

    CHECK_STR(log_ring_add(r, &e)->id, "8f14e45f-ceea-467f-9a4b-000000000000");
    log_ring_free(r);
}

/* S0-52 */
TEST(the_oldest_of_more_than_a_thousand_entries_are_dropped)
{
    static const size_t counts[] = { LINK_LOG_MAX, LINK_LOG_MAX + 1, 10 * LINK_LOG_MAX + 7 };

    for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
        struct log_ring *r = log_ring_new();
        size_t dropped = counts[i] - LINK_LOG_MAX;

        for (size_t k = 0; k < counts[i]; k++) {
            char text[32];

            snprintf(text, sizeof text, "line %zu", k);
            CHECK_STR(add(r, text)->text, text);
        }
        CHECK_INT(log_ring_count(r), LINK_LOG_MAX);
        for (size_t k = 0; k < LINK_LOG_MAX; k++) {
            char want[32];

            snprintf(want, sizeof want, "line %zu", k + dropped);
            CHECK_STR(log_ring_at(r, k)->text, want);
        }
        CHECK(!log_ring_at(r, LINK_LOG_MAX));
        log_ring_free(r);
    }
}

TEST(a_long_line_is_cut_between_characters)
{
    static const struct {
        size_t ascii, want;
    } cases[] = {
        { LINK_LOG_LINE_MAX - 2, LINK_LOG_LINE_MAX }, /* the last character just fits */
        { LINK_LOG_LINE_MAX - 1, LINK_LOG_LINE_MAX - 1 },
        { LINK_LOG_LINE_MAX, LINK_LOG_LINE_MAX },
        { 3 * LINK_LOG_LINE_MAX, LINK_LOG_LINE_MAX },
    };
    struct log_ring *r = log_ring_new();

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_BUF struct buf b = { 0 };

        memset(buf_reserve(&b, cases[i].ascii), 'a', cases[i].ascii);
        b.n = cases[i].ascii;
        buf_str(&b, "é");
        CHECK_INT(strlen(add(r, buf_cstr(&b))->text), cases[i].want);
    }
    log_ring_free(r);
}

TEST(control_characters_do_not_reach_whoever_reads_the_log)
{
    struct log_ring *r = log_ring_new();

    CHECK_STR(add(r, "a\033[31mb\nc")->text, "a?[31mb?c");
    CHECK_STR(add(r, NULL)->text, "");
    log_ring_free(r);
}
