#include "child_err.h"
#include <inttypes.h>
#include <stdio.h>

enum { SECOND_MS = 1000, SKIPPED_CHARS = 80 };

static void tell_skipped(struct child_err *e)
{
    char text[SKIPPED_CHARS];
    int n;

    if (!e->skipped)
        return;
    n = snprintf(text, sizeof text, "%" PRIu64 " line%s skipped: more than %d a second", e->skipped,
                 e->skipped == 1 ? " was" : "s were", CHILD_STDERR_PER_S);
    e->skipped = 0;
    e->line(e->ctx, span_make(text, (size_t)n));
}

static void on_second(void *ctx)
{
    struct child_err *e = ctx;

    e->credit += CHILD_STDERR_PER_S;
    if (e->credit < CHILD_STDERR_BURST)
        timer_start_weak(&e->second, SECOND_MS);
    else
        e->credit = CHILD_STDERR_BURST;
    tell_skipped(e);
}

static void on_line(void *ctx, struct span line)
{
    struct child_err *e = ctx;

    if (e->over || !e->credit) {
        e->skipped++;
        return;
    }
    if (!timer_running(&e->second))
        timer_start_weak(&e->second, SECOND_MS);
    e->credit--;
    e->line(e->ctx, line);
}

static void go_on(void *ctx);

/* What does not fit into this turn stays, and no more is read until it is gone. */
static size_t take(struct child_err *e, struct span bytes)
{
    size_t used = words_feed(&e->words, bytes, CHILD_STDERR_PER_TURN, on_line, e);

    if (used < bytes.n && !e->over) {
        e->waits = true;
        loop_defer(e->loop, go_on, e);
    }
    return used;
}

static void go_on(void *ctx)
{
    struct child_err *e = ctx;

    e->waits = false;
    if (e->over)
        return;
    e->rest_at += take(e, span_from(buf_span(&e->rest), e->rest_at));
    if (e->waits || e->over)
        return;
    buf_done(&e->rest);
    e->rest_at = 0;
    stream_read(e->stream, true);
}

static void on_data(void *ctx, struct span bytes)
{
    struct child_err *e = ctx;

    if (e->over)
        return;
    bytes = span_from(bytes, take(e, bytes));
    if (!e->waits)
        return;
    buf_add_span(&e->rest, bytes);
    stream_read(e->stream, false);
}

static void on_eof(void *ctx) { child_err_finish(ctx); }

static void on_error(void *ctx, const struct pb_error *err)
{
    (void)err;
    child_err_finish(ctx);
}

void child_err_init(struct child_err *e, struct pb_loop *l, words_fn *line, loop_fn *ended,
                    void *ctx)
{
    *e = (struct child_err){
        .loop = l, .credit = CHILD_STDERR_BURST, .line = line, .ended = ended, .ctx = ctx
    };
    timer_init(&e->second, l, on_second, e);
}

int child_err_open(struct child_err *e, int fd, struct pb_error *err)
{
    static const struct stream_events events = { .data = on_data,
                                                 .eof = on_eof,
                                                 .error = on_error };

    return stream_open(&e->stream, e->loop, fd, false, &events, e, err);
}

/* There is no next turn: more than one turn's lines are not handed on now. */
void child_err_finish(struct child_err *e)
{
    if (e->over)
        return;
    if (e->credit > CHILD_STDERR_PER_TURN)
        e->credit = CHILD_STDERR_PER_TURN;
    words_feed(&e->words, span_from(buf_span(&e->rest), e->rest_at), SIZE_MAX, on_line, e);
    words_end(&e->words, on_line, e);
    if (!e->over)
        tell_skipped(e);
    if (e->over)
        return;
    child_err_hush(e);
    e->ended(e->ctx);
}

void child_err_hush(struct child_err *e)
{
    e->over = true;
    timer_stop(&e->second);
}

void child_err_done(struct child_err *e)
{
    words_done(&e->words);
    buf_done(&e->rest);
}
