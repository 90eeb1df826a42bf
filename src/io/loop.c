#include "loop_impl.h"
#include <assert.h>
#include <fcntl.h>

enum {
    CALLS_MIN = 16,
    CALLS_KEEP = 1024,  /* entries kept allocated between turns */
    CLOSING_TURNS = 64, /* a chain of closings that is longer is a leak */
};

static void calls_add(struct calls *c, loop_fn *fn, void *ctx)
{
    if (c->n == c->cap) {
        c->cap = c->cap ? c->cap * 2 : CALLS_MIN;
        c->v = mem_resize(c->v, c->cap * sizeof *c->v);
    }
    c->v[c->n++] = (struct call){ fn, ctx };
}

static void calls_done(struct calls *c)
{
    free(c->v);
    *c = (struct calls){ 0 };
}

static void calls_clear(struct calls *c)
{
    c->n = 0;
    if (c->cap > CALLS_KEEP)
        calls_done(c);
}

static void swap_calls(struct calls *a, struct calls *b)
{
    struct calls t = *a;

    *a = *b;
    *b = t;
}

static void on_wake(uv_async_t *a) { (void)a; }

/* libuv aborts when it is to close 0, 1 or 2, which it may be given in a program that was started
 * without them; and a stray print must not go into somebody's socket. */
static void fill_stdio(void)
{
    for (int fd = 0; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) < 0)
            return;
    }
}

struct pb_loop *loop_new(struct clock *clock)
{
    struct pb_loop *l = NEW(struct pb_loop);
    int rc;

    fill_stdio();
    rc = uv_loop_init(&l->uv);
    assert(rc == 0 && "no descriptors left for a loop");
    rc = uv_async_init(&l->uv, &l->wake, on_wake);
    assert(rc == 0);
    (void)rc;
    uv_timer_init(&l->uv, &l->tick);
    l->wake.data = l->tick.data = l->uv.data = l;
    uv_unref((uv_handle_t *)&l->wake);
    uv_unref((uv_handle_t *)&l->tick);
    l->clock = clock ? clock : clock_real();
    atomic_init(&l->owner, pthread_self());
    list_init(&l->signals);
    list_init(&l->once);
    list_init(&l->kept);
    list_init(&l->corked);
    list_init(&l->waiters);
    pthread_mutex_init(&l->mu, NULL);
    pthread_cond_init(&l->left, NULL);
    return l;
}

void loop_keep(struct pb_loop *l)
{
    bool want = l->holds || l->works || (l->in_run && l->clock->manual && l->strong);

    if (want == l->wake_ref)
        return;
    l->wake_ref = want;
    if (want)
        uv_ref((uv_handle_t *)&l->wake);
    else
        uv_unref((uv_handle_t *)&l->wake);
}

static bool alive(struct pb_loop *l)
{
    return uv_loop_alive(&l->uv) || l->deferred.n || l->frees.n || l->holds || l->works ||
           l->closings || l->strong || atomic_load(&l->posted);
}

/* Once in LOOP_REPORT_MS for each mark: what goes wrong again and again must not fill the log. */
static bool may_report(struct pb_loop *l)
{
    uint64_t now = l->clock->now_ms(l->clock);

    for (size_t i = 0; i < MARKS_MAX; i++) {
        struct reported *r = &l->reported[i];

        if (r->mark && strcmp(r->mark, l->mark) != 0)
            continue;
        if (r->mark && now < r->again)
            return false;
        *r = (struct reported){ l->mark, now + LOOP_REPORT_MS };
        return true;
    }
    return false;
}

/* What this thread has worked: time in which others had the processor does not count. */
static uint64_t worked_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000 * NS_PER_MS + (uint64_t)t.tv_nsec;
}

void loop_note_work(struct pb_loop *l, uint64_t now)
{
    l->noted_at = now;
    l->noted_work = worked_ns();
}

void loop_held_up(struct pb_loop *l, uint64_t ns)
{
    struct loop_stats *s = &l->stats;
    double ms = (double)ns / NS_PER_MS;
    uint64_t work = worked_ns() - l->noted_work;

    s->busy++;
    s->worked += work > (uint64_t)LOOP_BUSY_MS * NS_PER_MS;
    if (ms > s->longest_ms) {
        s->longest_ms = ms;
        s->longest = l->mark;
    }
    s->slow += ns > (uint64_t)LOOP_SLOW_MS * NS_PER_MS;
    if (ns <= (uint64_t)LOOP_SLOW_MS * NS_PER_MS && work <= (uint64_t)LOOP_BUSY_MS * NS_PER_MS)
        return;
    if (may_report(l))
        log_warn("the loop was held up for %.0f ms (%.0f ms of work) by: %s", ms,
                 (double)work / NS_PER_MS, l->mark);
}

struct loop_stats loop_stats(const struct pb_loop *l) { return l->stats; }

/* The second question is a call into the kernel. */
bool loop_is_slow(const struct pb_loop *l)
{
    const uint64_t slow = (uint64_t)LOOP_SLOW_MS * NS_PER_MS;

    return uv_hrtime() - l->mark_at > slow && worked_ns() - l->noted_work > slow;
}

static void run_posts(struct pb_loop *l)
{
    struct calls batch;

    pthread_mutex_lock(&l->mu);
    swap_calls(&l->posts, &l->posts_spare);
    atomic_store(&l->posted, 0);
    batch = l->posts_spare;
    l->posts_spare = (struct calls){ 0 };
    pthread_mutex_unlock(&l->mu);
    for (size_t i = 0; i < batch.n; i++) {
        loop_mark(l, "post");
        batch.v[i].fn(batch.v[i].ctx);
    }
    calls_clear(&batch);
    pthread_mutex_lock(&l->mu);
    swap_calls(&l->posts_spare, &batch);
    pthread_mutex_unlock(&l->mu);
    calls_done(&batch);
}

static void run_deferred(struct pb_loop *l)
{
    struct calls batch = l->deferred;

    l->deferred = l->deferred_spare;
    l->deferred_spare = (struct calls){ 0 };
    for (size_t i = 0; i < batch.n; i++) {
        loop_mark(l, "deferred call");
        batch.v[i].fn(batch.v[i].ctx);
    }
    calls_clear(&batch);
    swap_calls(&l->deferred_spare, &batch);
    calls_done(&batch);
}

static void run_frees(struct pb_loop *l)
{
    loop_mark(l, "frees");
    /* A free may ask for another one; they end, as each ends an object. */
    for (size_t i = 0; i < l->frees.n; i++) {
        struct call c = l->frees.v[i];

        c.fn(c.ctx);
    }
    calls_clear(&l->frees);
}

static void end_turn(struct pb_loop *l)
{
    if (atomic_load(&l->posted))
        run_posts(l);
    if (work_ready(l))
        work_collect(l);
    if (l->deferred.n)
        run_deferred(l);
    if (!list_empty(&l->corked))
        stream_flush_corked(l);
    if (l->frees.n)
        run_frees(l);
    if (l->read_cap > STREAM_READ_BYTES && l->read_used <= STREAM_READ_BYTES) {
        free(TAKE(l->read_buf)); /* the burst is over */
        l->read_cap = 0;
    }
    loop_mark(l, NULL);
}

bool loop_turn(struct pb_loop *l, bool wait)
{
    assert(!l->in_turn && "a callback must not turn the loop it runs on");
    atomic_store(&l->owner, pthread_self());
    l->in_turn = true;
    l->turn++;
    timers_arm(l);
    if (l->deferred.n || l->frees.n || !list_empty(&l->corked) || atomic_load(&l->posted) ||
        work_ready(l) || atomic_load(&l->stop))
        wait = false;
    uv_run(&l->uv, wait ? UV_RUN_ONCE : UV_RUN_NOWAIT);
    end_turn(l);
    l->in_turn = false;
    return alive(l);
}

void loop_run(struct pb_loop *l)
{
    l->in_run = true;
    loop_keep(l);
    while (!atomic_load(&l->stop) && loop_turn(l, true))
        continue;
    atomic_store(&l->stop, false);
    l->in_run = false;
    loop_keep(l);
}

void loop_stop(struct pb_loop *l)
{
    atomic_store(&l->stop, true);
    uv_async_send(&l->wake);
}

/* No posts from now on; those that were taken still run. */
static void close_door(struct pb_loop *l)
{
    pthread_mutex_lock(&l->mu);
    l->shut = true;
    bridge_shut(l);
    pthread_mutex_unlock(&l->mu);
    while (atomic_load(&l->posted))
        loop_turn(l, false);
}

static void *thread_main(void *ctx)
{
    struct pb_loop *l = ctx;

    loop_run(l);
    close_door(l);
    return NULL;
}

int loop_start(struct pb_loop *l, struct pb_error *err)
{
    int rc;

    if (l->started)
        return 0;
    if (l->shut)
        return fail(err, PB_E_CLOSED, "the loop has been shut");
    loop_hold(l);
    rc = pthread_create(&l->thread, NULL, thread_main, l);
    if (rc) {
        loop_release(l);
        return fail_sys(err, rc, "start a thread for the loop");
    }
    l->started = true;
    atomic_store(&l->owner, l->thread);
    return 0;
}

void loop_shut(struct pb_loop *l)
{
    if (l->started) {
        assert(!loop_on_thread(l) && "a thread cannot wait for its own end");
        loop_stop(l);
        pthread_join(l->thread, NULL);
        l->started = false;
        atomic_store(&l->owner, pthread_self());
        loop_release(l);
    }
    if (!l->shut)
        close_door(l);
}

bool loop_on_thread(const struct pb_loop *l)
{
    return pthread_equal(atomic_load(&l->owner), pthread_self());
}

/* Inside a callback time stands still: it is asked for several times for each call that passes, and
 * each look at the clock costs more than what is done with it. */
static bool stands_still(const struct pb_loop *l) { return l->mark && !l->clock->manual; }

uint64_t loop_now(const struct pb_loop *l)
{
    return stands_still(l) ? l->mark_at / NS_PER_MS : l->clock->now_ms(l->clock);
}

double loop_now_exact(const struct pb_loop *l)
{
    if (l->clock->manual)
        return (double)l->clock->now_ms(l->clock);
    return (double)(stands_still(l) ? l->mark_at : uv_hrtime()) / NS_PER_MS;
}

int64_t loop_wall(struct pb_loop *l)
{
    if (!stands_still(l))
        return l->clock->wall_ms(l->clock);
    if (l->wall_turn != l->turn) {
        l->wall = l->clock->wall_ms(l->clock);
        l->wall_turn = l->turn;
    }
    return l->wall;
}

void *loop_uv(struct pb_loop *l) { return &l->uv; }

void loop_hold(struct pb_loop *l)
{
    l->holds++;
    loop_keep(l);
}

void loop_release(struct pb_loop *l)
{
    assert(l->holds);
    l->holds--;
    loop_keep(l);
}

void loop_closing_begin(struct pb_loop *l) { l->closings++; }

void loop_closing_end(struct pb_loop *l)
{
    assert(l->closings);
    l->closings--;
}

int loop_post(struct pb_loop *l, loop_fn *fn, void *ctx, struct pb_error *err)
{
    bool shut, full, first = false;

    pthread_mutex_lock(&l->mu);
    shut = l->shut;
    full = l->posts.n >= LOOP_POSTS_MAX;
    if (!shut && !full) {
        first = l->posts.n == 0;
        calls_add(&l->posts, fn, ctx);
        atomic_store(&l->posted, l->posts.n);
        /* Under the lock: once it is released, the loop may run fn and be freed. */
        if (first && !loop_on_thread(l))
            uv_async_send(&l->wake);
    }
    pthread_mutex_unlock(&l->mu);
    if (shut)
        return fail(err, PB_E_CLOSED, "the loop has been shut");
    if (full)
        return fail(err, PB_E_BUSY, "%d callbacks wait for the loop already", LOOP_POSTS_MAX);
    return 0;
}

void loop_defer(struct pb_loop *l, loop_fn *fn, void *ctx) { calls_add(&l->deferred, fn, ctx); }

void loop_free_later(struct pb_loop *l, void *p, void (*free_fn)(void *))
{
    calls_add(&l->frees, free_fn, p);
}

char *loop_read_buffer(struct pb_loop *l, size_t n)
{
    if (n > l->read_cap) {
        free(l->read_buf);
        l->read_buf = mem_alloc(n);
        l->read_cap = n;
    }
    l->read_used = n;
    return l->read_buf;
}

/* What is being closed may wait for a timer: a child that ignores SIGTERM, say. A clock that
 * stands still is moved on, as nobody else can do it any more. */
static void finish_closings(struct pb_loop *l)
{
    while (l->closings || l->works) {
        if (l->clock->manual && l->heap_n) {
            uint64_t due = l->heap[0]->due, now = loop_now(l);

            loop_advance(l, due > now ? due - now : 0);
        } else {
            loop_hold(l);
            loop_turn(l, true);
            loop_release(l);
        }
    }
}

void loop_free(struct pb_loop *l)
{
    int rc;

    if (!l)
        return;
    loop_shut(l);
    atomic_store(&l->stop, false);
    finish_closings(l);
    for (int i = 0; i < CLOSING_TURNS && alive(l); i++)
        loop_turn(l, false);
    bridge_free(l);
    work_free(l);
    signals_free(l);
    uv_close((uv_handle_t *)&l->wake, NULL);
    uv_close((uv_handle_t *)&l->tick, NULL);
    uv_run(&l->uv, UV_RUN_NOWAIT);
    rc = uv_loop_close(&l->uv);
    assert(rc == 0 && "something that lives on the loop was not closed before it");
    (void)rc;
    assert(list_empty(&l->kept));
    calls_done(&l->deferred);
    calls_done(&l->deferred_spare);
    calls_done(&l->frees);
    calls_done(&l->posts);
    calls_done(&l->posts_spare);
    timers_free(l);
    free(l->read_buf);
    pthread_mutex_destroy(&l->mu);
    pthread_cond_destroy(&l->left);
    free(l);
}
