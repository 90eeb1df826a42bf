#include "io/io.h"
#include "tap.h"
#include <pthread.h>
#include <stdatomic.h>

struct visit {
    struct pb_loop *loop;
    struct waiter *waiter; /* kept to be answered later */
    pthread_t ran_on;
    bool was_on_loop;
    int input;
    atomic_int begun;
};

static atomic_int freed;

static void free_answer(void *p)
{
    atomic_fetch_add(&freed, 1);
    free(p);
}

static int *new_answer(int value)
{
    int *p = NEW(int);

    *p = value;
    return p;
}

static void answer_at_once(struct waiter *w, void *ctx)
{
    struct visit *v = ctx;

    v->ran_on = pthread_self();
    v->was_on_loop = loop_on_thread(v->loop);
    waiter_done(w, NULL, new_answer(v->input * 2), free_answer);
}

static void answer_never(struct waiter *w, void *ctx)
{
    struct visit *v = ctx;

    v->waiter = w;
    atomic_store(&v->begun, 1);
}

static void answer_with_error(struct waiter *w, void *ctx)
{
    struct pb_error err;

    (void)ctx;
    fail(&err, PB_E_REMOTE, "the tool said no");
    waiter_done(w, &err, new_answer(1), free_answer);
}

static struct pb_loop *started(void)
{
    struct pb_loop *l = loop_new(NULL);
    struct pb_error err;

    if (loop_start(l, &err) < 0)
        TAP_FAIL("%s", err.msg);
    return l;
}

/* S4-65 S4-68 S4-69 */
TEST(a_started_loop_has_a_thread_of_its_own_that_a_stop_ends)
{
    struct pb_loop *l = loop_new(NULL);
    struct pb_error err;

    CHECK(loop_on_thread(l));
    CHECK_INT(loop_start(l, &err), 0);
    CHECK_INT(loop_start(l, &err), 0);
    CHECK(!loop_on_thread(l));
    loop_stop(l);
    loop_stop(l);
    loop_shut(l);
    loop_shut(l);
    CHECK(loop_on_thread(l));
    CHECK_INT(loop_start(l, &err), -PB_E_CLOSED);
    loop_free(l);

    loop_free(started()); /* joins by itself */
}

/* S4-199 S4-200 */
TEST(what_is_handed_over_runs_on_the_loop_and_its_result_comes_back)
{
    struct pb_loop *l = started();
    struct visit v = { .loop = l, .input = 21 };
    void *out = NULL;
    struct pb_error err;

    CHECK_INT(loop_wait(l, answer_at_once, &v, 0, &out, &err), 0);
    CHECK(v.was_on_loop);
    CHECK(!pthread_equal(v.ran_on, pthread_self()));
    CHECK_INT(*(int *)out, 42);
    free(out);
    CHECK_INT(loop_wait(l, answer_at_once, &v, 10000, NULL, NULL), 0); /* result not wanted */
    CHECK_INT(freed, 1);
    loop_free(l);
}

static void answer_now(void *ctx)
{
    struct visit *v = ctx;

    waiter_done(v->waiter, NULL, new_answer(7), free_answer);
}

static void answer_in_a_while(struct waiter *w, void *ctx)
{
    struct visit *v = ctx;

    v->waiter = w;
    loop_after(v->loop, 5, answer_now, v);
}

TEST(the_answer_may_come_later)
{
    struct pb_loop *l = started();
    struct visit v = { .loop = l };
    void *out = NULL;

    CHECK_INT(loop_wait(l, answer_in_a_while, &v, 0, &out, NULL), 0);
    CHECK_INT(*(int *)out, 7);
    free(out);
    loop_free(l);
}

/* S4-201 */
TEST(an_error_comes_back_to_the_thread_that_waits)
{
    struct pb_loop *l = started();
    void *out = NULL;
    struct pb_error err;

    CHECK_INT(loop_wait(l, answer_with_error, NULL, 0, &out, &err), -PB_E_REMOTE);
    CHECK_STR(err.msg, "the tool said no");
    CHECK(!out);
    CHECK_INT(freed, 1);
    loop_free(l);
}

/* S4-202 */
TEST(a_wait_that_takes_too_long_ends_and_its_late_result_is_freed)
{
    struct pb_loop *l = started();
    struct visit *v = NEW(struct visit);
    struct pb_error err;
    void *out = NULL;

    v->loop = l;
    CHECK_INT(loop_wait(l, answer_never, v, 1000, &out, &err), -PB_E_TIMEOUT);
    CHECK_STR(err.msg, "no answer within 1000 ms");
    CHECK(!out);
    CHECK_INT(atomic_load(&v->begun), 1);
    CHECK_INT(loop_post(l, answer_now, v, &err), 0);
    loop_free(l);
    CHECK_INT(freed, 1);
    free(v);
}

struct gate {
    pthread_mutex_t mu;
    pthread_cond_t cond;
    bool open, blocked;
};

static void block_loop(void *ctx)
{
    struct gate *g = ctx;

    pthread_mutex_lock(&g->mu);
    g->blocked = true;
    pthread_cond_broadcast(&g->cond);
    while (!g->open)
        pthread_cond_wait(&g->cond, &g->mu);
    pthread_mutex_unlock(&g->mu);
}

static void open_gate(struct gate *g)
{
    pthread_mutex_lock(&g->mu);
    g->open = true;
    pthread_cond_broadcast(&g->cond);
    pthread_mutex_unlock(&g->mu);
}

static void await_blocked(struct gate *g)
{
    pthread_mutex_lock(&g->mu);
    while (!g->blocked)
        pthread_cond_wait(&g->cond, &g->mu);
    pthread_mutex_unlock(&g->mu);
}

#define GATE_INIT                                                     \
    {                                                                 \
        PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, false \
    }

TEST(what_has_not_begun_when_the_time_is_over_does_not_begin)
{
    struct pb_loop *l = started();
    struct gate gate = GATE_INIT;
    struct visit v = { .loop = l };
    struct pb_error err;

    CHECK_INT(loop_post(l, block_loop, &gate, &err), 0);
    await_blocked(&gate);
    CHECK_INT(loop_wait(l, answer_never, &v, 5, NULL, &err), -PB_E_TIMEOUT);
    open_gate(&gate);
    loop_free(l);
    CHECK_INT(atomic_load(&v.begun), 0);
}

struct slow {
    struct gate gate;
    bool finished;
};

static void slow_fn(struct waiter *w, void *ctx)
{
    struct slow *s = ctx;

    waiter_done(w, NULL, NULL, NULL);
    block_loop(&s->gate);
    s->finished = true; /* ctx must still be there */
}

static void *open_later(void *ctx)
{
    struct gate *g = ctx;

    await_blocked(g);
    open_gate(g);
    return NULL;
}

TEST(a_wait_does_not_end_while_its_function_still_uses_its_argument)
{
    struct pb_loop *l = started();
    struct slow s = { GATE_INIT, false };
    pthread_t opener;

    pthread_create(&opener, NULL, open_later, &s.gate);
    CHECK_INT(loop_wait(l, slow_fn, &s, 0, NULL, NULL), 0);
    CHECK(s.finished);
    pthread_join(opener, NULL);
    loop_free(l);
}

static void *call_often(void *ctx)
{
    struct visit *v = ctx;
    long wrong = 0;

    for (int i = 0; i < 200; i++) {
        struct visit own = { .loop = v->loop, .input = v->input * 1000 + i };
        void *out = NULL;

        if (loop_wait(v->loop, i % 3 ? answer_at_once : answer_in_a_while, &own, 0, &out, NULL) < 0)
            wrong++;
        else if (*(int *)out != (i % 3 ? own.input * 2 : 7))
            wrong++;
        free(out);
    }
    return (void *)wrong;
}

/* S4-203 */
TEST(many_threads_at_once_get_their_own_results)
{
    enum { THREADS = 8 };
    struct pb_loop *l = started();
    struct visit v[THREADS];
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++) {
        v[i] = (struct visit){ .loop = l, .input = i };
        pthread_create(&threads[i], NULL, call_often, &v[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        void *wrong;

        pthread_join(threads[i], &wrong);
        CHECK_INT((long)wrong, 0);
    }
    loop_free(l);
}

/* S4-204 */
TEST(after_a_shutdown_nothing_is_taken)
{
    struct pb_loop *l = started();
    struct visit v = { .loop = l };
    struct pb_error err;

    loop_shut(l);
    CHECK_INT(loop_post(l, answer_now, &v, &err), -PB_E_CLOSED);
    CHECK_STR(err.msg, "the loop has been shut");
    CHECK_INT(loop_wait(l, answer_never, &v, 0, NULL, &err), -PB_E_CLOSED);
    CHECK_STR(err.msg, "the loop has been shut");
    CHECK_INT(atomic_load(&v.begun), 0);
    loop_free(l);
}

struct outside {
    struct pb_loop *loop;
    int rc;
};

static void *wait_outside(void *ctx)
{
    struct outside *o = ctx;
    struct visit v = { .loop = o->loop };

    o->rc = loop_wait(o->loop, answer_never, &v, 0, NULL, NULL);
    return NULL;
}

/* S4-204 */
TEST(a_shutdown_wakes_the_threads_that_wait)
{
    struct pb_loop *l = started();
    struct outside o[4];
    pthread_t threads[4];

    for (int i = 0; i < 4; i++) {
        o[i] = (struct outside){ l, 0 };
        pthread_create(&threads[i], NULL, wait_outside, &o[i]);
    }
    loop_shut(l); /* some wait already, some come too late: closed for all */
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        CHECK_INT(o[i].rc, -PB_E_CLOSED);
    }
    loop_free(l);
}

static void wait_on_loop(void *ctx)
{
    struct visit *v = ctx;

    v->input = loop_wait(v->loop, answer_never, v, 0, NULL, NULL);
    loop_stop(v->loop);
}

TEST(the_loop_cannot_wait_for_itself)
{
    struct pb_loop *l = loop_new(NULL);
    struct visit v = { .loop = l };

    loop_hold(l);
    CHECK_INT(loop_post(l, wait_on_loop, &v, NULL), 0);
    loop_run(l);
    CHECK_INT(v.input, -PB_E_INVALID);
    loop_release(l);
    loop_free(l);
}

static void bump(void *ctx) { ++*(int *)ctx; }

static void *post_often(void *ctx)
{
    struct visit *v = ctx;

    for (int i = 0; i < 2000; i++) {
        while (loop_post(v->loop, bump, &v->input, NULL) == -PB_E_BUSY)
            continue;
    }
    return NULL;
}

TEST(posts_from_many_threads_all_run)
{
    struct pb_loop *l = started();
    struct visit v[4];
    pthread_t threads[4];

    for (int i = 0; i < 4; i++) {
        v[i] = (struct visit){ .loop = l };
        pthread_create(&threads[i], NULL, post_often, &v[i]);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    loop_free(l);
    for (int i = 0; i < 4; i++)
        CHECK_INT(v[i].input, 2000);
}

static void *stop_loop(void *ctx)
{
    loop_stop(ctx);
    return NULL;
}

TEST(another_thread_can_stop_a_loop_that_has_nothing_to_do)
{
    for (int i = 0; i < 50; i++) {
        struct pb_loop *l = loop_new(NULL);
        pthread_t thread;

        loop_hold(l);
        pthread_create(&thread, NULL, stop_loop, l);
        loop_run(l);
        pthread_join(thread, NULL);
        loop_release(l);
        loop_free(l);
    }
}

static void *run_loop(void *ctx)
{
    loop_run(ctx);
    return NULL;
}

TEST(a_post_just_before_another_thread_runs_the_loop_is_not_missed)
{
    for (int i = 0; i < 200; i++) {
        struct pb_loop *l = loop_new(NULL);
        pthread_t thread;
        int n = 0;

        loop_hold(l);
        pthread_create(&thread, NULL, run_loop, l);
        CHECK_INT(loop_post(l, bump, &n, NULL), 0);
        CHECK_INT(loop_post(l, (loop_fn *)loop_stop, l, NULL), 0);
        pthread_join(thread, NULL);
        CHECK_INT(n, 1);
        loop_release(l);
        loop_free(l);
    }
}
