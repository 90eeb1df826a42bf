/* manual_clock.h - a clock that stands still until it is moved. */
#pragma once
#include "base/base.h"

static inline uint64_t manual_now(struct clock *c) { return ((struct manual_clock *)c)->now; }

static inline int64_t manual_wall(struct clock *c) { return ((struct manual_clock *)c)->wall; }

static inline void manual_clock_init(struct manual_clock *m)
{
    m->clock = (struct clock){ manual_now, manual_wall, 1 };
    m->now = 1000;
    m->wall = INT64_C(1785240000000);
}
