/* daemon_log.c - warnings of the program, for whoever reads its standard error. What others do can
 * cause them, and nobody may read them: they are bounded, and what cannot be written at once is
 * left out rather than waited for. */
#include "daemon.h"
#include "mcp/rpc/rpc.h"
#include "talk.h"
#include <poll.h>
#include <stdarg.h>

static struct {
    uint64_t paid_until; /* ms: each line costs DAEMON_LOG_MS of the time that passes */
    unsigned long left_out;
} log_state; /* the log has one sink, which runs under its lock */

static bool can_write(void)
{
    struct pollfd p = { .fd = STDERR_FILENO, .events = POLLOUT };

    return poll(&p, 1, 0) == 1 && (p.revents & POLLOUT);
}

static bool has_turn(uint64_t now)
{
    if (log_state.paid_until < now)
        log_state.paid_until = now;
    if (log_state.paid_until - now > (uint64_t)(DAEMON_LOG_BURST - 1) * DAEMON_LOG_MS)
        return false;
    log_state.paid_until += DAEMON_LOG_MS;
    return true;
}

static void say(void *ctx, enum pb_log_level level, const char *line)
{
    struct clock *clock = clock_real();

    (void)ctx;
    if (!can_write() || !has_turn(clock->now_ms(clock))) {
        log_state.left_out++;
        return;
    }
    if (log_state.left_out)
        talk_note("%lu lines were left out here", log_state.left_out);
    log_state.left_out = 0;
    if (level < PB_LOG_ERROR)
        talk_warn("%s", line);
    else
        talk_fail(FAILURE_UNREACHABLE, "%s: %s", log_level_name(level), line);
}

/* Is there room for one more line? On the loop's thread alone. */
static bool may_say(void)
{
    static unsigned long unsaid;

    if (!can_write()) {
        unsaid++;
        return false;
    }
    if (unsaid)
        talk_note("%lu lines were left out here", unsaid);
    unsaid = 0;
    return true;
}

void daemon_say(const char *format, ...)
{
    AUTO_BUF struct buf line = { 0 };
    va_list args;

    va_start(args, format);
    buf_vprintf(&line, format, args);
    va_end(args);
    if (may_say())
        talk_note("%s", buf_cstr(&line));
}

void daemon_complain(const char *format, ...)
{
    AUTO_BUF struct buf line = { 0 };
    va_list args;

    va_start(args, format);
    buf_vprintf(&line, format, args);
    va_end(args);
    if (may_say())
        talk_fail(FAILURE_INVALID, "%s", buf_cstr(&line));
}

void daemon_log_start(void) { pb_log_to(say, NULL, PB_LOG_WARNING); }
