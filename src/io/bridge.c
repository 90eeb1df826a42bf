/* bridge.c - a thread waits for something that happens on the loop. The waiter belongs to the
 * waiting thread until it gives up; from then on to the loop, which frees it when the answer
 * comes, or with the loop. */
#include "loop_impl.h"
#include <assert.h>
#include <errno.h>
#include <time.h>

struct waiter {
    struct list link; /* in the loop's waiters */
    struct pb_loop *loop;
    waiter_fn *fn;
    void *ctx;
    pthread_cond_t wake;
    bool begun, in_fn, done, closed;
    bool gone; /* nobody waits any more */
    struct pb_error err;
    void *result;
    void (*free_fn)(void *);
};

static struct waiter *waiter_new(struct pb_loop *l, waiter_fn *fn, void *ctx)
{
    struct waiter *w = NEW(struct waiter);
    pthread_condattr_t attr;

    w->loop = l;
    w->fn = fn;
    w->ctx = ctx;
    list_init(&w->link);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&w->wake, &attr);
    pthread_condattr_destroy(&attr);
    return w;
}

static void waiter_free(struct waiter *w)
{
    list_remove(&w->link);
    pthread_cond_destroy(&w->wake);
    free(w);
}

/* On the loop. */
static void begin(void *ctx)
{
    struct waiter *w = ctx;
    pthread_mutex_t *mu = &w->loop->mu;

    pthread_mutex_lock(mu);
    if (w->gone) {
        waiter_free(w);
        pthread_mutex_unlock(mu);
        return;
    }
    /* A thread that was told the loop is shut may not have woken yet; its ctx must stay alone. */
    if (w->closed) {
        w->begun = true;
        w->done = true;
        pthread_mutex_unlock(mu);
        return;
    }
    w->begun = w->in_fn = true;
    pthread_mutex_unlock(mu);
    w->fn(w, w->ctx);
    pthread_mutex_lock(mu);
    w->in_fn = false;
    pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(mu);
}

void waiter_done(struct waiter *w, const struct pb_error *err, void *result,
                 void (*free_fn)(void *))
{
    pthread_mutex_t *mu = &w->loop->mu;

    pthread_mutex_lock(mu);
    assert(!w->done && "a waiter is answered once");
    if (w->gone) {
        waiter_free(w);
        pthread_mutex_unlock(mu);
        if (result && free_fn)
            free_fn(result);
        return;
    }
    if (err)
        w->err = *err;
    w->result = result;
    w->free_fn = free_fn;
    w->done = true;
    pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(mu);
}

static struct timespec deadline_in(uint64_t ms)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    ts.tv_sec += (time_t)(ms / 1000);
    ts.tv_nsec += (long)(ms % 1000) * 1000000;
    if (ts.tv_nsec >= 1000000000) {
        ts.tv_sec++;
        ts.tv_nsec -= 1000000000;
    }
    return ts;
}

/* With the lock held. Leaves when there is an answer, the loop is shut, or the time is over, but
 * never while fn runs: it may be using ctx. */
static void wait_for(struct waiter *w, uint64_t timeout_ms)
{
    struct timespec until = deadline_in(timeout_ms);
    bool late = false;

    while (w->in_fn || (!w->done && !w->closed && !late)) {
        if (timeout_ms == 0 || late)
            pthread_cond_wait(&w->wake, &w->loop->mu);
        else
            late = pthread_cond_timedwait(&w->wake, &w->loop->mu, &until) == ETIMEDOUT;
    }
}

/* With the lock held. */
static void leave(struct pb_loop *l)
{
    l->waiting--;
    pthread_cond_signal(&l->left);
}

static bool is_shut(struct pb_loop *l)
{
    bool shut;

    pthread_mutex_lock(&l->mu);
    shut = l->shut;
    pthread_mutex_unlock(&l->mu);
    return shut;
}

int loop_wait(struct pb_loop *l, waiter_fn *fn, void *ctx, uint64_t timeout_ms, void **out,
              struct pb_error *err)
{
    struct waiter *w;
    void *drop = NULL;
    void (*free_fn)(void *) = NULL;
    int rc;

    if (is_shut(l))
        return fail(err, PB_E_CLOSED, "the loop has been shut");
    if (loop_on_thread(l))
        return fail(err, PB_E_INVALID, "the loop's own thread cannot wait for its loop");
    w = waiter_new(l, fn, ctx);
    pthread_mutex_lock(&l->mu);
    list_append(&l->waiters, &w->link);
    l->waiting++;
    pthread_mutex_unlock(&l->mu);
    rc = loop_post(l, begin, w, err);
    pthread_mutex_lock(&l->mu);
    if (rc < 0) {
        waiter_free(w);
        leave(l);
        pthread_mutex_unlock(&l->mu);
        return rc;
    }
    wait_for(w, timeout_ms);
    if (w->done && !w->closed) {
        rc = w->err.code ? fail_copy(err, &w->err) : 0;
        free_fn = w->free_fn;
        if (rc == 0 && out)
            *out = w->result;
        else
            drop = w->result;
        waiter_free(w);
    } else {
        rc = w->closed ? fail(err, PB_E_CLOSED, "the loop has been shut")
                       : fail(err, PB_E_TIMEOUT, "no answer within %llu ms",
                              (unsigned long long)timeout_ms);
        w->gone = true;
        if (w->done) {
            drop = w->result;
            free_fn = w->free_fn;
            waiter_free(w);
        }
    }
    leave(l);
    pthread_mutex_unlock(&l->mu);
    if (drop && free_fn)
        free_fn(drop);
    return rc;
}

void bridge_shut(struct pb_loop *l)
{
    struct list *pos, *safe;

    LIST_FOREACH(pos, safe, &l->waiters) {
        struct waiter *w = CONTAINER_OF(pos, struct waiter, link);

        if (w->done)
            continue;
        w->closed = true;
        pthread_cond_signal(&w->wake);
    }
}

void bridge_free(struct pb_loop *l)
{
    struct list *pos, *safe;

    pthread_mutex_lock(&l->mu);
    while (l->waiting)
        pthread_cond_wait(&l->left, &l->mu);
    LIST_FOREACH(pos, safe, &l->waiters)
        waiter_free(CONTAINER_OF(pos, struct waiter, link));
    pthread_mutex_unlock(&l->mu);
}
