#include "base/base.h"
#include "tap.h"
#include <pthread.h>

struct seen {
    int lines;
    enum pb_log_level level;
    char last[2048];
};

static void note(void *ctx, enum pb_log_level level, const char *line)
{
    struct seen *s = ctx;

    s->lines++;
    s->level = level;
    snprintf(s->last, sizeof s->last, "%s", line);
}

TEST(nothing_is_logged_until_someone_listens_and_after_they_stop)
{
    struct seen s = { 0 };

    log_error("to nobody");
    pb_log_to(note, &s, PB_LOG_INFO);
    log_debug("too low");
    CHECK_INT(s.lines, 0);
    log_info("count %d", 3);
    CHECK_INT(s.lines, 1);
    CHECK_INT(s.level, PB_LOG_INFO);
    CHECK_STR(s.last, "count 3");
    log_line(PB_LOG_EMERGENCY, "high");
    CHECK_INT(s.lines, 2);
    pb_log_to(NULL, NULL, PB_LOG_DEBUG);
    log_line(PB_LOG_EMERGENCY, "gone");
    CHECK_INT(s.lines, 2);
}

TEST(a_line_cannot_move_the_cursor_of_who_reads_it)
{
    struct seen s = { 0 };

    pb_log_to(note, &s, PB_LOG_DEBUG);
    log_info("%s", "a\nb\033[2Jc");
    CHECK_STR(s.last, "a?b?[2Jc");
}

TEST(long_lines_are_cut)
{
    struct seen s = { 0 };
    char text[4000];

    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    pb_log_to(note, &s, PB_LOG_DEBUG);
    log_info("%s", text);
    CHECK_INT(strlen(s.last), 1023);
}

static void *many(void *arg)
{
    for (int i = 0; i < 1000; i++)
        log_info("line %d", i);
    return arg;
}

TEST(lines_of_several_threads_come_one_at_a_time)
{
    struct seen s = { 0 };
    pthread_t threads[4];

    pb_log_to(note, &s, PB_LOG_DEBUG);
    for (size_t i = 0; i < ARRAY_LEN(threads); i++)
        CHECK_INT(pthread_create(&threads[i], NULL, many, NULL), 0);
    for (size_t i = 0; i < ARRAY_LEN(threads); i++)
        pthread_join(threads[i], NULL);
    CHECK_INT(s.lines, 4000);
}
