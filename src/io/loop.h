/* loop.h - one thread, one loop: callbacks, timers, worker pool, and the bridge for others.
 *
 * Everything above `base` belongs to the thread that runs its loop. Other threads reach it only
 * through loop_post() and loop_wait(). A callback never runs inside the call that registered it.
 * Time is that of the clock handed in; with a manual clock, timers fire only in
 * loop_advance(). A callback that takes longer than LOOP_SLOW_MS is logged as a warning, and one
 * that takes longer than LOOP_BUSY_MS is counted. */
#pragma once
#include "base/base.h"

struct pb_loop;
typedef void loop_fn(void *ctx);

/* clock NULL: the real one. */
struct pb_loop *loop_new(struct clock *clock);
/* Stops a thread started by loop_start(), runs the loop until every closing handle is closed,
 * frees what was left to be freed. Posts after this fail. */
void loop_free(struct pb_loop *l);
AUTO_DEFINE(pb_loop, loop_free)

/* Runs until loop_stop() or until nothing keeps the loop alive (open handles, running timers,
 * holds, work, posts). A stop before the run counts. May be run again. */
void loop_run(struct pb_loop *l);
/* One turn: waits for something to happen if `wait`, and something can. Returns whether anything
 * still keeps the loop alive. */
bool loop_turn(struct pb_loop *l, bool wait);
/* [any thread, and signal handlers] */
void loop_stop(struct pb_loop *l);
/* Runs the loop on a thread of its own until loop_stop(); loop_free() joins it. Twice is a no-op.
 * The loop stays alive without work. */
MUST_CHECK int loop_start(struct pb_loop *l, struct pb_error *err);
/* Ends the loop for other threads: stops and joins the thread of loop_start() if there is one, runs
 * what was posted, and wakes every loop_wait(). Posts fail from now on. The caller owns the loop
 * afterwards and may close what lives on it. Twice is fine; not on the loop's own thread. */
void loop_shut(struct pb_loop *l);
bool loop_on_thread(const struct pb_loop *l); /* is the caller the loop's thread? */

uint64_t loop_now(const struct pb_loop *l);     /* ms on the loop's clock */
double loop_now_exact(const struct pb_loop *l); /* the same, with what lies between */
int64_t loop_wall(struct pb_loop *l);           /* ms since 1970 */
/* Manual clock only: moves time on and fires due timers in the order of their deadlines, turning
 * the loop between them. */
void loop_advance(struct pb_loop *l, uint64_t ms);

/* Callbacks that held up all others, since the loop was made. Loop thread only. */
struct loop_stats {
    uint64_t busy; /* took longer than LOOP_BUSY_MS */
    uint64_t slow; /* of these, longer than LOOP_SLOW_MS */
    /* Of the busy ones those that worked so long themselves. The others waited: for the processor,
     * or for memory. */
    uint64_t worked;
    double longest_ms;
    const char *longest; /* what kind of callback that was; NULL: there was none */
};
struct loop_stats loop_stats(const struct pb_loop *l);
/* Has the callback that runs worked for LOOP_SLOW_MS? Then it had better stop, if others choose how
 * much it has to do. Cheap enough to be asked at every step. */
bool loop_is_slow(const struct pb_loop *l);

/* Keep the loop alive without a handle. Counted. */
void loop_hold(struct pb_loop *l);
void loop_release(struct pb_loop *l);

/* Runs fn on the loop, in order of posting. -PB_E_CLOSED after loop_free() began or when the loop
 * has been shut, -PB_E_BUSY past LOOP_POSTS_MAX. [any thread] */
MUST_CHECK int loop_post(struct pb_loop *l, loop_fn *fn, void *ctx, struct pb_error *err);
/* Runs fn at the end of this turn. Loop thread only; cannot fail. */
void loop_defer(struct pb_loop *l, loop_fn *fn, void *ctx);
/* free_fn(p) at the end of this turn: for objects whose callers are still on the stack. */
void loop_free_later(struct pb_loop *l, void *p, void (*free_fn)(void *));

/* The bridge: a thread waits for something that happens on the loop. fn runs on the loop with a
 * waiter; exactly one waiter_done() must follow, then or later, on the loop. loop_wait() returns
 * what waiter_done() was given, or -PB_E_TIMEOUT; -PB_E_CLOSED when the loop is or gets shut. `ctx`
 * is only used while loop_wait() has not returned and fn runs; after a timeout a fn that has not
 * begun is not begun. `result` passed to waiter_done() goes to *out; if nobody waits any more it is
 * freed with free_fn. Not on the loop's own thread (-PB_E_INVALID: it would wait for itself).
 * timeout_ms 0: no limit. [any thread but the loop's] */
struct waiter;
typedef void waiter_fn(struct waiter *w, void *ctx);
MUST_CHECK int loop_wait(struct pb_loop *l, waiter_fn *fn, void *ctx, uint64_t timeout_ms,
                         void **out, struct pb_error *err);
void waiter_done(struct waiter *w, const struct pb_error *err, void *result,
                 void (*free_fn)(void *));

/* Blocking work: `work` runs on a worker thread, then `done` on the loop. -PB_E_BUSY past
 * LOOP_WORK_MAX. The pool starts its threads when first used. */
MUST_CHECK int loop_work(struct pb_loop *l, loop_fn *work, loop_fn *done, void *ctx,
                         struct pb_error *err);

/* A timer is embedded in what it belongs to. timer_stop() before that is freed. */
struct timer {
    struct pb_loop *loop;
    loop_fn *fn;
    void *ctx;
    uint64_t due;
    uint64_t seq;
    size_t slot; /* place in the loop's heap + 1; 0: not running */
    bool strong;
};
void timer_init(struct timer *t, struct pb_loop *l, loop_fn *fn, void *ctx);
/* Fires once, `ms` from now; starting again moves it. A running timer keeps the loop alive
 * unless timer_start_weak() was used. */
void timer_start(struct timer *t, uint64_t ms);
void timer_start_weak(struct timer *t, uint64_t ms);
void timer_stop(struct timer *t);
bool timer_running(const struct timer *t);
/* Runs fn once, `ms` from now, without a timer to keep; dropped by loop_free(). */
void loop_after(struct pb_loop *l, uint64_t ms, loop_fn *fn, void *ctx);

/* Runs fn on the loop when one of these signals arrives, until loop_free(). */
MUST_CHECK int loop_on_signal(struct pb_loop *l, int signo, loop_fn *fn, void *ctx,
                              struct pb_error *err);
/* Ends what loop_on_signal() began with the same fn and ctx, before loop_free() does. */
void loop_off_signal(struct pb_loop *l, loop_fn *fn, void *ctx);

/* Something that closes by and by has begun to: loop_free() waits for as many ends as begins. */
void loop_closing_begin(struct pb_loop *l);
void loop_closing_end(struct pb_loop *l);

/* For this room only: the uv_loop_t. */
void *loop_uv(struct pb_loop *l);
