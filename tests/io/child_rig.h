/* child_rig.h - a child process on a loop with a manual clock, and everything that it said. */
#pragma once
/* No test uses all of it. */
#pragma GCC diagnostic ignored "-Wunused-function"
#include "io/io.h"
#include "manual_clock.h"
#include "tap.h"
#include <errno.h>
#include <sys/wait.h>

/* A child and everything it said. */
struct story {
    struct pb_loop *loop;
    struct manual_clock clock;
    struct child *child;
    struct buf out, err, last; /* last: of the lines of err */
    size_t err_lines, longest, skips, closed_at;
    int eofs, exits, status, signal, errors;
    bool eof_first, closed, keep_out;
};

static void on_data(void *ctx, struct span bytes)
{
    struct story *s = ctx;

    CHECK_INT(s->exits, 0);
    buf_add_span(&s->out, bytes);
}

static void on_eof(void *ctx) { ((struct story *)ctx)->eofs++; }

static void on_error(void *ctx, const struct pb_error *err)
{
    (void)err;
    ((struct story *)ctx)->errors++;
}

static void on_err_line(void *ctx, struct span line)
{
    struct story *s = ctx;

    s->err_lines++;
    s->longest = line.n > s->longest ? line.n : s->longest;
    s->skips += line.n && memmem(line.p, line.n, "were skipped", 12);
    s->last.n = 0;
    buf_add_span(&s->last, line);
    if (s->err.n < 4096) {
        buf_add_span(&s->err, line);
        buf_byte(&s->err, '|');
    }
}

static void on_exited(void *ctx, int status, int signal)
{
    struct story *s = ctx;

    s->exits++;
    s->eof_first = s->eofs == 1;
    s->status = status;
    s->signal = signal;
}

static const struct child_events events = { .out = { on_data, on_eof, on_error, NULL },
                                            .err_line = on_err_line,
                                            .exited = on_exited };

static void on_closed(void *ctx) { ((struct story *)ctx)->closed = true; }

static void begin(struct story *s, const struct child_spec *spec)
{
    struct pb_error err;

    *s = (struct story){ 0 };
    manual_clock_init(&s->clock);
    s->loop = loop_new(&s->clock.clock);
    if (child_spawn(&s->child, s->loop, spec, &events, s, &err) < 0)
        TAP_FAIL("%s", err.msg);
}

static void begin_script(struct story *s, const char *script)
{
    begin(s, &(struct child_spec){ .command = "/bin/sh",
                                   .args = (const char *const[]){ "-c", script, NULL } });
}

#define TURN_UNTIL(s, cond)             \
    do {                                \
        while (!(cond))                 \
            loop_turn((s)->loop, true); \
    } while (0)

static void end(struct story *s)
{
    child_close(s->child, on_closed, s);
    loop_free(s->loop);
    CHECK(s->closed);
    CHECK_INT(waitpid(-1, NULL, WNOHANG), -1); /* no zombie */
    CHECK_INT(errno, ECHILD);
    buf_done(&s->out);
    buf_done(&s->err);
    buf_done(&s->last);
}

static void run(struct story *s, const struct child_spec *spec)
{
    begin(s, spec);
    TURN_UNTIL(s, s->exits);
}

static void run_script(struct story *s, const char *script, const char *const *env, bool clean)
{
    run(s, &(struct child_spec){ .command = "/bin/sh",
                                 .args = (const char *const[]){ "-c", script, NULL },
                                 .env = env,
                                 .clean_env = clean });
}
