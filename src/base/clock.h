/* clock.h - time as a thing that can be handed in. Whatever waits, waits on the clock of its
 * loop; tests hand in a clock that they advance by hand. */
#pragma once
#include <stdint.h>

struct clock {
    uint64_t (*now_ms)(struct clock *c); /* never goes back */
    int64_t (*wall_ms)(struct clock *c); /* since 1970, UTC */
    int manual;                          /* moves only when told: nothing may sleep on it */
};

/* The one real clock: CLOCK_MONOTONIC and CLOCK_REALTIME. */
struct clock *clock_real(void);

/* "2026-07-28T12:00:00.123Z", terminated. */
enum { CLOCK_ISO_CHARS = 24 };
void clock_iso(int64_t wall_ms, char out[static CLOCK_ISO_CHARS + 1]);

/* Stands still until it is moved, by loop_advance(). Tests make one. */
struct manual_clock {
    struct clock clock;
    uint64_t now;
    int64_t wall;
};
