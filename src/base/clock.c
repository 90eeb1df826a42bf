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

void clock_iso(int64_t wall_ms, char out[static CLOCK_ISO_CHARS + 1])
{
    time_t s = (time_t)(wall_ms / 1000);
    int ms = (int)(wall_ms % 1000);
    struct tm tm;
    char day[24];

    if (ms < 0) {
        ms += 1000;
        s--;
    }
    gmtime_r(&s, &tm);
    strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(out, CLOCK_ISO_CHARS + 1, "%.19s.%03dZ", day, ms % 1000);
}

static uint64_t manual_now(struct clock *c) { return ((struct manual_clock *)c)->now; }

static int64_t manual_wall(struct clock *c) { return ((struct manual_clock *)c)->wall; }

void manual_clock_init(struct manual_clock *m)
{
    m->clock = (struct clock){ manual_now, manual_wall, 1 };
    m->now = 1000;
    m->wall = INT64_C(1785240000000);
}
