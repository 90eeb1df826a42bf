/* The stderr of a child: its lines, their bounds, and how many there may be. */
#include "child_rig.h"

TEST(a_flood_on_stderr_neither_blocks_the_child_nor_grows)
{
    AUTO_BUF struct buf words = { 0 };
    struct story s;

    run_script(&s, "yes 'a line that is written again and again' | head -c 33554432 >&2; echo done",
               NULL, false);
    CHECK_SPAN(buf_span(&s.out), "done\n");
    CHECK_INT(s.err_lines, CHILD_STDERR_BURST + 1);
    CHECK_SPAN(buf_span(&s.last), "858371 lines were skipped: more than 500 a second");
    child_last_words(s.child, &words);
    CHECK(words.n < CHILD_STDERR_KEEP * 64);
    CHECK_HAS(buf_cstr(&words), "a line that is written again");
    end(&s);
}

TEST(stderr_lines_are_cut_at_the_bound_and_the_last_ones_are_kept)
{
    AUTO_BUF struct buf words = { 0 };
    struct story s;
    size_t n = 0;

    run_script(
        &s,
        "for n in 8191 8192 8193 900000; do head -c $n /dev/zero | tr '\\0' x; echo; done >&2;"
        "i=0; while [ $i -lt 25 ]; do i=$((i+1)); printf \"line $i\\r\\n\"; done >&2; printf end >&2",
        NULL, false);
    CHECK_INT(s.err_lines, 4 + 25 + 1);
    CHECK_INT(s.longest, CHILD_STDERR_LINE_MAX);
    child_last_words(s.child, &words);
    buf_cstr(&words);
    for (const char *p = words.p; (p = strchr(p, '\n')) != NULL; p++)
        n++;
    CHECK_INT(n + 1, CHILD_STDERR_KEEP);
    CHECK(!strncmp(words.p, "line 7\nline 8\n", 14));
    CHECK_STR(words.p + words.n - 11, "line 25\nend");
    end(&s);
}

TEST(stderr_is_handed_on_in_turns)
{
    enum { LINES = 1000 };
    AUTO_BUF struct buf words = { 0 };
    struct story s;
    size_t before;

    begin_script(&s, "yes x | head -n 999 >&2; printf last >&2");
    do {
        before = s.err_lines;
        loop_turn(s.loop, !before);
        /* When it is read, and when the turn ends: others are heard in between. */
        CHECK(s.err_lines - before <= 2 * CHILD_STDERR_PER_TURN);
    } while (!s.exits);
    CHECK_INT(s.err_lines, LINES);
    CHECK_SPAN(buf_span(&s.last), "last");
    child_last_words(s.child, &words);
    CHECK(words.n == 2 * (CHILD_STDERR_KEEP - 1) + 4);
    end(&s);
}

/* So many at once, so many in a second; the rest is counted, and that is told in one line. */
TEST(stderr_has_a_rate)
{
    struct story s;

    begin_script(&s, "exec yes x >&2");
    TURN_UNTIL(&s, s.err_lines == CHILD_STDERR_BURST);
    for (int i = 0; i < 1000; i++)
        loop_turn(s.loop, false);
    CHECK_INT(s.err_lines, CHILD_STDERR_BURST);
    for (size_t i = 1; i <= 3; i++) {
        s.last.n = 0;
        loop_advance(s.loop, 1000);
        TURN_UNTIL(&s, s.err_lines == CHILD_STDERR_BURST + i * (CHILD_STDERR_PER_S + 1));
        CHECK_INT(s.skips, i);
        for (int turn = 0; turn < 100; turn++)
            loop_turn(s.loop, false);
        CHECK_INT(s.err_lines, CHILD_STDERR_BURST + i * (CHILD_STDERR_PER_S + 1));
    }
    end(&s);
}

TEST(a_child_may_be_closed_while_its_stderr_waits_for_a_turn)
{
    for (int turns = 0; turns < 6; turns++) {
        struct story s;

        begin_script(&s, "yes x | head -n 30000 >&2; sleep 100");
        TURN_UNTIL(&s, s.err_lines);
        for (int i = 0; i < turns; i++)
            loop_turn(s.loop, false);
        s.closed_at = s.err_lines;
        end(&s);
        CHECK_INT(s.err_lines, s.closed_at);
    }
}
