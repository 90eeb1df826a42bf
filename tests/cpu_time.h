/* cpu_time.h - how long this thread has worked, however busy the machine is. */
#pragma once
#include <time.h>

static inline double cpu_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}
