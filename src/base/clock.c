#include "clock.h"
#include <stdio.h>
#include <time.h>

static int64_t read_ms(clockid_t id)
{
    struct timespec ts;

    clock_gettime(id, &ts);
    return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static uint64_t real_now(struct clock *c)
{
    (void)c;
    return (uint64_t)read_ms(CLOCK_MONOTONIC);
}

static int64_t real_wall(struct clock *c)
{
    (void)c;
    return read_ms(CLOCK_REALTIME);
}

struct clock *clock_real(void)
{
    static struct clock real = { real_now, real_wall, 0 };

    return &real;
}

/* The years 0000 to 9999; what lies outside has no place in 24 characters. */
#define ISO_FIRST_MS INT64_C(-62167219200000)
#define ISO_LAST_MS  INT64_C(253402300799999)

void clock_iso(int64_t wall_ms, char out[static CLOCK_ISO_CHARS + 1])
{
    time_t s;
    int ms;
    struct tm tm;
    char day[72]; /* what the compiler thinks six numbers may need */

    if (wall_ms < ISO_FIRST_MS)
        wall_ms = ISO_FIRST_MS;
    if (wall_ms > ISO_LAST_MS)
        wall_ms = ISO_LAST_MS;
    s = (time_t)(wall_ms / 1000);
    ms = (int)(wall_ms % 1000);
    if (ms < 0) {
        ms += 1000;
        s--;
    }
    gmtime_r(&s, &tm);
    snprintf(day, sizeof day, "%04d-%02d-%02dT%02d:%02d:%02d", tm.tm_year + 1900, tm.tm_mon + 1,
             tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
    snprintf(out, CLOCK_ISO_CHARS + 1, "%.19s.%03dZ", day, ms);
}
