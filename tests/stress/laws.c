/* laws.c - what must hold, and how often it did not. */
#include "stress.h"
#include <stdarg.h>

enum { SHOWN_MAX = 20 };

struct verdict *verdict;
struct figures figures;

static const char *const names[LAW_COUNT] = { "once",  "right server", "served", "private",
                                              "answers", "alive",      "no calls left", "memory",
                                              "speed", "clean",        "orphans" };

void broken(enum law law, const char *fmt, ...)
{
    char text[2000];
    va_list ap;

    if (verdict->broken[law]++ >= SHOWN_MAX)
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    for (char *p = text; *p; p++)
        if (*p == '\n')
            *p = ' ';
    printf("# BROKEN %s, seed %llu: %s\n", names[law], (unsigned long long)options.seed, text);
    fflush(stdout);
}
