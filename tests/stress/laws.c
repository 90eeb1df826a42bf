/* laws.c - what must hold, and how often it did not. */
#include "stress.h"
#include <stdarg.h>

enum { SHOWN_MAX = 20, TEXT_MAX = 2000, CONFIRM_MS = 4000 };

struct verdict *verdict;
struct figures figures;

static const char *const names[LAW_COUNT] = { "once",    "right server", "served",        "private",
                                              "answers", "alive",        "no calls left", "memory",
                                              "speed",   "clean",        "orphans" };

static void say(enum law law, char *text)
{
    if (verdict->broken[law]++ >= SHOWN_MAX)
        return;
    for (char *p = text; *p; p++)
        if (*p == '\n')
            *p = ' ';
    printf("# BROKEN %s, seed %llu: %s\n", names[law], (unsigned long long)options.seed, text);
    fflush(stdout);
}

void broken(enum law law, const char *fmt, ...)
{
    char text[TEXT_MAX];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    say(law, text);
}

struct suspicion {
    enum law law;
    char text[TEXT_MAX];
};

static void confirm(void *ctx)
{
    struct suspicion *s = ctx;

    if (hub_is_alive())
        say(s->law, s->text);
    free(s);
}

void suspected(enum law law, const char *fmt, ...)
{
    struct suspicion *s = NEW(struct suspicion);
    va_list ap;

    s->law = law;
    va_start(ap, fmt);
    vsnprintf(s->text, sizeof s->text, fmt, ap);
    va_end(ap);
    later(CONFIRM_MS, confirm, s); /* a sanitizer takes its time to report */
}
