#include "log.h"
#include "utf8.h"
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

enum { LINE_MAX_BYTES = 1024 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    pb_log_fn *fn;
    void *ctx;
} sink;

/* The lowest level that anyone wants. Read without the lock: most lines are for nobody. */
enum { NOTHING = PB_LOG_EMERGENCY + 1 };
static atomic_int threshold = NOTHING;

static void to_stderr(void *ctx, enum pb_log_level level, const char *line)
{
    static const char *const names[] = { "debug", "info",     "notice", "warning",
                                         "error", "critical", "alert",  "emergency" };
    struct timespec ts;
    struct tm tm;
    char when[32];

    (void)ctx;
    clock_gettime(CLOCK_REALTIME, &ts);
    gmtime_r(&ts.tv_sec, &tm);
    strftime(when, sizeof when, "%H:%M:%S", &tm);
    /* A hub's stderr holds the lines of many programs: these are ours. */
    fprintf(stderr, "%s.%03ld patchbay %s: %s\n", when, ts.tv_nsec / 1000000, names[level], line);
}

void pb_log_to(pb_log_fn *fn, void *ctx, enum pb_log_level level)
{
    pthread_mutex_lock(&lock);
    sink.fn = fn == PB_LOG_STDERR ? to_stderr : fn;
    sink.ctx = ctx;
    atomic_store(&threshold, fn ? (int)level : NOTHING);
    pthread_mutex_unlock(&lock);
}

void log_line(enum pb_log_level level, const char *fmt, ...)
{
    char line[LINE_MAX_BYTES];
    va_list ap;

    if ((int)level < atomic_load_explicit(&threshold, memory_order_relaxed))
        return;
    va_start(ap, fmt);
    vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    text_make_printable(line); /* a peer's name must not move the reader's cursor */
    pthread_mutex_lock(&lock);
    if (sink.fn && (int)level >= atomic_load(&threshold))
        sink.fn(sink.ctx, level, line);
    pthread_mutex_unlock(&lock);
}
