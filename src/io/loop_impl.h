/* loop_impl.h - what the files of the loop share. Not for others: they use loop.h.
 *
 *   loop.c          turns, calls for the next turn, calls from other threads, the end
 *   timers.c        timers, a heap over the loop's own clock
 *   work.c          the worker pool
 *   bridge.c        a thread waits for something that happens on the loop
 *   signals.c       signals as callbacks
 *   public_loop.c   pb_loop_* of patchbay.h */
#pragma once
#include "loop.h"
#include <pthread.h>
#include <stdatomic.h>
#include <uv.h>

enum {
    NS_PER_MS = 1000000,
    MARKS_MAX = 16, /* different ones that are reported; there are fewer */
};

/* A mark that was reported, and when it may be again. */
struct reported {
    const char *mark;
    uint64_t again; /* loop time */
};

struct call {
    loop_fn *fn;
    void *ctx;
};

/* Calls in the order they came; two of them take turns, so that a turn allocates nothing. */
struct calls {
    struct call *v;
    size_t n, cap;
};

struct job {
    struct list link;
    loop_fn *work, *done;
    void *ctx;
    bool owned; /* made by loop_work(): freed after done */
};

struct pool; /* work.c */

struct pb_loop {
    uv_loop_t uv;
    uv_async_t wake; /* only wakes the poll; what is to be done is found by looking */
    uv_timer_t tick; /* armed for the earliest deadline of the heap */
    struct clock *clock;
    _Atomic(pthread_t) owner;
    atomic_bool stop;

    struct timer **heap; /* [0] is due first */
    size_t heap_n, heap_cap, strong;
    uint64_t timer_seq, armed; /* armed: what `tick` waits for; 0: nothing */
    bool heard_first;          /* the timers are late: what has come in is read before they fire */

    struct calls deferred, deferred_spare, frees;
    size_t holds, closings;
    uint64_t turn; /* number of the current or last turn */
    bool in_turn, in_run, wake_ref;
    const char *mark;              /* the callback that runs, for the slow report */
    uint64_t mark_at;              /* ns */
    uint64_t noted_at, noted_work; /* what this thread had worked then; ns */
    struct loop_stats stats;
    struct reported reported[MARKS_MAX];
    int64_t wall; /* as it was in ... */
    uint64_t wall_turn;

    struct list signals, once, kept, corked;
    char *read_buf; /* one for all streams: an idle connection costs no buffer */
    size_t read_cap, read_used;

    pthread_mutex_t mu; /* guards everything below */
    struct calls posts, posts_spare;
    atomic_size_t posted; /* posts.n, to look at without the lock */
    bool shut;
    struct list waiters;
    size_t waiting; /* threads inside loop_wait() */
    pthread_cond_t left;

    pthread_t thread;
    bool started;
    struct pool *pool; /* NULL until first used */
    size_t works;      /* jobs not done yet */
};

/* The callback of the mark took so long. */
void loop_held_up(struct pb_loop *l, uint64_t ns);

/* What this thread has worked so far. A call into the kernel: once in a millisecond is enough. */
void loop_note_work(struct pb_loop *l, uint64_t now);

/* From here on, up to the next mark, the loop's time is spent on `what`, a literal; NULL: on
 * nothing. */
static inline void loop_mark(struct pb_loop *l, const char *what)
{
    uint64_t now = uv_hrtime();

    if (l->mark && now - l->mark_at > (uint64_t)LOOP_BUSY_MS * NS_PER_MS)
        loop_held_up(l, now - l->mark_at);
    if (what && now - l->noted_at > NS_PER_MS)
        loop_note_work(l, now);
    l->mark = what;
    l->mark_at = now;
}

/* Makes the wake handle count for uv_run() exactly when something without a handle is awaited. */
void loop_keep(struct pb_loop *l);
/* Room for one read of n bytes; good until the callback that asked returns. */
char *loop_read_buffer(struct pb_loop *l, size_t n);

void timers_arm(struct pb_loop *l);
void timers_free(struct pb_loop *l);

void signals_free(struct pb_loop *l);

/* A job that its owner embeds: no bound is asked, as its owner has at most a few. */
void work_push(struct pb_loop *l, struct job *j);
void work_collect(struct pb_loop *l);
bool work_ready(const struct pb_loop *l);
void work_free(struct pb_loop *l);

/* Wakes every thread in loop_wait() with PB_E_CLOSED. With l->mu held. */
void bridge_shut(struct pb_loop *l);
void bridge_free(struct pb_loop *l);

/* Writes what streams put together during the turn. */
void stream_flush_corked(struct pb_loop *l);
