#include "cpu_time.h"
#include "io/io.h"
#include "manual_clock.h"
#include "tap.h"
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>

/* What ran, in order. */
struct trail {
    struct pb_loop *loop;
    struct buf text;
    int count;
};

struct step {
    struct trail *trail;
    const char *name;
    struct timer timer;
};

static void on_step(void *ctx)
{
    struct step *s = ctx;

    buf_printf(&s->trail->text, "%s@%llu ", s->name,
               (unsigned long long)loop_now(s->trail->loop) - 1000);
}

static void count(void *ctx) { ((struct trail *)ctx)->count++; }

static void stop(void *ctx) { loop_stop(((struct trail *)ctx)->loop); }

TEST(timers_fire_in_the_order_of_their_deadlines)
{
    struct manual_clock clock;
    struct trail t = { 0 };
    struct step a = { &t, "a", { 0 } }, b = { &t, "b", { 0 } }, c = { &t, "c", { 0 } },
                d = { &t, "d", { 0 } };
    struct step *const all[] = { &a, &b, &c, &d };
    const uint64_t ms[] = { 300, 100, 200, 100 };

    manual_clock_init(&clock);
    t.loop = loop_new(&clock.clock);
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        timer_init(&all[i]->timer, t.loop, on_step, all[i]);
        timer_start(&all[i]->timer, ms[i]);
    }
    loop_advance(t.loop, 99);
    CHECK_INT(t.text.n, 0);
    loop_advance(t.loop, 1);
    CHECK_STR(buf_cstr(&t.text), "b@100 d@100 ");
    CHECK(!timer_running(&b.timer));
    CHECK(timer_running(&a.timer));
    loop_advance(t.loop, 1000);
    CHECK_STR(buf_cstr(&t.text), "b@100 d@100 c@200 a@300 ");
    CHECK_INT(loop_now(t.loop), 1000 + 1100);
    loop_free(t.loop);
    buf_done(&t.text);
}

TEST(a_timer_can_be_moved_and_stopped)
{
    struct manual_clock clock;
    struct trail t = { 0 };
    struct step a = { &t, "a", { 0 } }, b = { &t, "b", { 0 } };

    manual_clock_init(&clock);
    t.loop = loop_new(&clock.clock);
    timer_init(&a.timer, t.loop, on_step, &a);
    timer_init(&b.timer, t.loop, on_step, &b);
    timer_stop(&a.timer); /* never started */
    timer_start(&a.timer, 10);
    timer_start(&b.timer, 20);
    timer_start(&a.timer, 50);
    timer_start(&b.timer, 5);
    loop_advance(t.loop, 30);
    CHECK_STR(buf_cstr(&t.text), "b@5 ");
    timer_stop(&a.timer);
    timer_stop(&a.timer);
    loop_advance(t.loop, 100);
    CHECK_STR(buf_cstr(&t.text), "b@5 ");
    loop_free(t.loop);
    buf_done(&t.text);
}

/* A plain list, searched, is the model of the heap. */
TEST(ten_thousand_random_starts_and_stops_keep_the_order)
{
    enum { N = 300 };
    static struct step steps[N];
    uint64_t due[N] = { 0 };
    struct manual_clock clock;
    struct trail t = { 0 };
    unsigned seed = 7;

    manual_clock_init(&clock);
    t.loop = loop_new(&clock.clock);
    for (int i = 0; i < N; i++)
        timer_init(&steps[i].timer, t.loop, count, &t);
    for (int i = 0; i < 10000; i++) {
        int k = rand_r(&seed) % N;
        uint64_t ms = (uint64_t)(rand_r(&seed) % 1000);

        if (rand_r(&seed) % 4 == 0) {
            timer_stop(&steps[k].timer);
            due[k] = 0;
        } else {
            timer_start(&steps[k].timer, ms);
            due[k] = loop_now(t.loop) + ms;
        }
        if (i % 50 == 0) {
            loop_advance(t.loop, 20);
            for (int j = 0; j < N; j++) {
                if (due[j] && due[j] <= loop_now(t.loop))
                    due[j] = 0;
            }
        }
        for (int j = 0; i % 500 == 0 && j < N; j++)
            CHECK_INT(timer_running(&steps[j].timer), due[j] != 0);
    }
    loop_advance(t.loop, 2000);
    for (int i = 0; i < N; i++)
        CHECK(!timer_running(&steps[i].timer));
    loop_free(t.loop);
}

static void start_again(void *ctx)
{
    struct step *s = ctx;

    s->trail->count++;
    timer_start(&s->timer, 0);
}

TEST(a_timer_that_starts_itself_at_once_lets_others_run)
{
    struct trail t = { .loop = loop_new(NULL) };
    struct step a = { &t, "a", { 0 } };
    struct timer end;

    timer_init(&a.timer, t.loop, start_again, &a);
    timer_init(&end, t.loop, stop, &t);
    timer_start(&a.timer, 0);
    timer_start(&end, 5);
    loop_run(t.loop);
    CHECK(t.count >= 1);
    timer_stop(&a.timer);
    loop_free(t.loop);
}

TEST(real_timers_are_never_early)
{
    struct trail t = { .loop = loop_new(NULL) };
    uint64_t before = clock_real()->now_ms(clock_real()), after;
    struct timer timer;

    timer_init(&timer, t.loop, count, &t);
    timer_start(&timer, 30);
    loop_run(t.loop); /* ends because nothing is left */
    after = clock_real()->now_ms(clock_real());
    CHECK_INT(t.count, 1);
    CHECK(after - before >= 30);
    loop_free(t.loop);
}

TEST(a_weak_timer_does_not_keep_the_loop_alive)
{
    struct trail t = { .loop = loop_new(NULL) };
    struct timer weak, strong;

    timer_init(&weak, t.loop, count, &t);
    timer_init(&strong, t.loop, count, &t);
    timer_start_weak(&weak, 1000000);
    loop_run(t.loop);
    CHECK_INT(t.count, 0);
    timer_start(&strong, 1);
    timer_start(&weak, 1000000);
    timer_start_weak(&weak, 1000000);
    loop_run(t.loop);
    CHECK_INT(t.count, 1);
    timer_stop(&weak);
    loop_free(t.loop);
}

static void start_weak(void *ctx)
{
    struct step *s = ctx;

    timer_start_weak(&s->timer, 1);
}

TEST(what_a_timer_begins_is_not_slept_on)
{
    /* The timer is due before the loop polls for the first time. */
    for (int i = 0; i < 20; i++) {
        struct trail t = { .loop = loop_new(NULL) };
        struct step next = { &t, "next", { 0 } };

        timer_init(&next.timer, t.loop, stop, &t);
        loop_after(t.loop, 0, start_weak, &next);
        loop_hold(t.loop);
        loop_run(t.loop);
        loop_release(t.loop);
        loop_free(t.loop);
    }
}

TEST(an_idle_loop_does_not_wake_up)
{
    struct trail t = { .loop = loop_new(NULL) };
    struct timer end, idle;
    struct rusage before, after;

    timer_init(&end, t.loop, stop, &t);
    timer_init(&idle, t.loop, count, &t);
    timer_start(&idle, 5);
    timer_stop(&idle);
    timer_start(&end, 300);
    getrusage(RUSAGE_THREAD, &before);
    loop_run(t.loop);
    getrusage(RUSAGE_THREAD, &after);
    CHECK(after.ru_nvcsw - before.ru_nvcsw <= 3);
    loop_free(t.loop);
}

TEST(posts_run_in_order_and_not_inside_the_call)
{
    struct trail t = { .loop = loop_new(NULL) };
    struct step a = { &t, "a", { 0 } }, b = { &t, "b", { 0 } };
    struct pb_error err;

    for (int i = 0; i < 100; i++) {
        CHECK_INT(loop_post(t.loop, on_step, &a, &err), 0);
        CHECK_INT(loop_post(t.loop, on_step, &b, &err), 0);
    }
    CHECK_INT(t.text.n, 0);
    loop_run(t.loop);
    buf_cstr(&t.text);
    for (int i = 0; i < 100; i++) {
        CHECK(t.text.p[0] == 'a');
        buf_consume(&t.text, (size_t)(strchr(t.text.p, ' ') - t.text.p) + 1);
        CHECK(t.text.p[0] == 'b');
        buf_consume(&t.text, (size_t)(strchr(t.text.p, ' ') - t.text.p) + 1);
    }
    CHECK_INT(t.text.n, 0);
    loop_free(t.loop);
    buf_done(&t.text);
}

TEST(too_many_posts_are_refused)
{
    struct trail t = { .loop = loop_new(NULL) };
    struct pb_error err;

    for (int i = 0; i < LOOP_POSTS_MAX; i++)
        CHECK_INT(loop_post(t.loop, count, &t, &err), 0);
    CHECK_INT(loop_post(t.loop, count, &t, &err), -PB_E_BUSY);
    for (int i = 0; i < 1000; i++)
        CHECK_INT(loop_post(t.loop, count, &t, NULL), -PB_E_BUSY);
    loop_turn(t.loop, false);
    CHECK_INT(t.count, LOOP_POSTS_MAX);
    CHECK_INT(loop_post(t.loop, count, &t, &err), 0);
    loop_free(t.loop);
    CHECK_INT(t.count, LOOP_POSTS_MAX + 1); /* what was taken is run */
}

struct nest {
    struct trail *trail;
    int depth;
};

static void defer_again(void *ctx)
{
    struct nest *n = ctx;

    n->trail->count++;
    if (--n->depth)
        loop_defer(n->trail->loop, defer_again, n);
}

TEST(deferred_calls_run_at_the_end_of_the_turn_and_new_ones_in_the_next)
{
    struct trail t = { .loop = loop_new(NULL) };
    struct nest n = { &t, 3 };

    loop_defer(t.loop, defer_again, &n);
    CHECK_INT(t.count, 0);
    for (int i = 1; i <= 3; i++) {
        CHECK_INT(loop_turn(t.loop, true), i < 3);
        CHECK_INT(t.count, i);
    }
    loop_free(t.loop);
}

struct grave {
    struct trail *trail;
    struct grave *next;
};

static void bury(void *p)
{
    struct grave *g = p;

    g->trail->count++;
    if (g->next)
        loop_free_later(g->trail->loop, g->next, bury);
    free(g);
}

static struct grave *new_grave(struct trail *t, struct grave *next)
{
    struct grave *g = NEW(struct grave);

    *g = (struct grave){ t, next };
    return g;
}

static void use_and_free(void *ctx)
{
    struct grave *g = ctx;
    struct trail *t = g->trail;

    loop_free_later(t->loop, g, bury);
    CHECK_INT(t->count, 0);
    CHECK(g->trail == t); /* still there */
}

TEST(objects_are_freed_after_the_deferred_calls_of_the_turn)
{
    struct trail t = { .loop = loop_new(NULL) };

    loop_defer(t.loop, use_and_free, new_grave(&t, new_grave(&t, NULL)));
    loop_turn(t.loop, false);
    CHECK_INT(t.count, 2);
    loop_free_later(t.loop, new_grave(&t, NULL), bury);
    loop_free(t.loop);
    CHECK_INT(t.count, 3);
}

TEST(a_stop_before_the_run_counts_and_a_loop_can_run_again)
{
    struct trail t = { .loop = loop_new(NULL) };

    loop_hold(t.loop);
    loop_stop(t.loop);
    loop_run(t.loop);
    CHECK_INT(loop_post(t.loop, stop, &t, NULL), 0);
    loop_run(t.loop);
    loop_release(t.loop);
    loop_run(t.loop);
    loop_free(t.loop);
}

static void hold_release(void *ctx) { loop_release(((struct trail *)ctx)->loop); }

TEST(holds_are_counted)
{
    struct trail t = { .loop = loop_new(NULL) };
    struct timer a, b;

    loop_hold(t.loop);
    loop_hold(t.loop);
    timer_init(&a, t.loop, hold_release, &t);
    timer_init(&b, t.loop, hold_release, &t);
    timer_start_weak(&a, 1);
    timer_start_weak(&b, 2);
    loop_run(t.loop);
    CHECK(!timer_running(&b));
    loop_free(t.loop);
}

static void on_usr1(int signo) { (void)signo; }

static struct pb_loop *stopped_by_signal;

static void stop_in_handler(int signo)
{
    (void)signo;
    loop_stop(stopped_by_signal);
}

static void raise_usr1(void *ctx)
{
    (void)ctx;
    raise(SIGUSR1);
}

TEST(a_signal_handler_can_stop_the_loop)
{
    struct sigaction sa = { .sa_handler = stop_in_handler };
    struct timer t;

    stopped_by_signal = loop_new(NULL);
    sigaction(SIGUSR1, &sa, NULL);
    loop_hold(stopped_by_signal);
    timer_init(&t, stopped_by_signal, raise_usr1, NULL);
    timer_start(&t, 1);
    loop_run(stopped_by_signal);
    loop_release(stopped_by_signal);
    loop_free(stopped_by_signal);
}

TEST(watched_signals_run_on_the_loop_until_it_is_freed)
{
    struct trail t = { .loop = loop_new(NULL) };
    struct sigaction sa = { .sa_handler = on_usr1 }, now;
    struct pb_error err;
    struct timer again;

    sigaction(SIGUSR1, &sa, NULL);
    CHECK_INT(loop_on_signal(t.loop, SIGUSR1, count, &t, &err), 0);
    CHECK_INT(loop_on_signal(t.loop, SIGUSR1, stop, &t, &err), 0);
    CHECK_INT(loop_on_signal(t.loop, SIGKILL, count, &t, &err), -PB_E_SYSTEM);
    loop_run(t.loop); /* does not keep it alive */
    timer_init(&again, t.loop, raise_usr1, NULL);
    timer_start(&again, 1);
    loop_hold(t.loop);
    loop_run(t.loop);
    CHECK_INT(t.count, 1);
    loop_release(t.loop);
    loop_free(t.loop);
    sigaction(SIGUSR1, NULL, &now);
    CHECK(now.sa_handler == SIG_DFL);
}

struct work {
    struct trail *trail;
    pthread_t thread;
    pthread_barrier_t *meet;
    bool done;
};

static void do_work(void *ctx)
{
    struct work *w = ctx;

    w->thread = pthread_self();
    if (w->meet)
        pthread_barrier_wait(w->meet);
}

static void work_done(void *ctx)
{
    struct work *w = ctx;

    CHECK(!pthread_equal(w->thread, pthread_self()));
    w->done = true;
    w->trail->count++;
}

static int count_threads(void)
{
    char text[4096];
    FILE *f = fopen("/proc/self/status", "r");
    size_t n = fread(text, 1, sizeof text - 1, f);

    text[n] = '\0';
    fclose(f);
    return (int)strtol(strstr(text, "Threads:") + 8, NULL, 10);
}

TEST(work_runs_on_threads_that_start_when_they_are_needed)
{
    int before = count_threads();
    struct trail t = { .loop = loop_new(NULL) };
    struct work first = { .trail = &t }, second = { .trail = &t }, all[LOOP_WORK_THREADS];
    pthread_barrier_t meet;

    loop_turn(t.loop, false);
    CHECK_INT(count_threads(), before);
    CHECK_INT(loop_work(t.loop, do_work, work_done, &first, NULL), 0);
    CHECK(!first.done);
    loop_run(t.loop);
    CHECK(first.done);
    CHECK_INT(loop_work(t.loop, do_work, work_done, &second, NULL), 0);
    loop_run(t.loop);
    CHECK(second.done);

    /* all of them at once, or the barrier would wait for ever */
    pthread_barrier_init(&meet, NULL, LOOP_WORK_THREADS);
    for (int i = 0; i < LOOP_WORK_THREADS; i++) {
        all[i] = (struct work){ .trail = &t, .meet = &meet };
        CHECK_INT(loop_work(t.loop, do_work, work_done, &all[i], NULL), 0);
    }
    loop_run(t.loop);
    CHECK_INT(t.count, 2 + LOOP_WORK_THREADS);
    for (int i = 0; i < LOOP_WORK_THREADS; i++) {
        for (int j = 0; j < i; j++)
            CHECK(!pthread_equal(all[i].thread, all[j].thread));
    }
    loop_free(t.loop);
    pthread_barrier_destroy(&meet);
}

TEST(too_much_work_is_refused_and_what_was_taken_is_finished)
{
    struct trail t = { .loop = loop_new(NULL) };
    static struct work all[LOOP_WORK_MAX];
    struct pb_error err;

    for (int i = 0; i < LOOP_WORK_MAX; i++) {
        all[i] = (struct work){ .trail = &t };
        CHECK_INT(loop_work(t.loop, do_work, work_done, &all[i], &err), 0);
    }
    CHECK_INT(loop_work(t.loop, do_work, work_done, &all[0], &err), -PB_E_BUSY);
    CHECK_HAS(err.msg, "4096");
    loop_free(t.loop);
    CHECK_INT(t.count, LOOP_WORK_MAX);
}

struct seen_log {
    int warnings;
    char line[256];
};

static void on_log(void *ctx, enum pb_log_level level, const char *line)
{
    struct seen_log *s = ctx;

    if (level != PB_LOG_WARNING)
        return;
    s->warnings++;
    snprintf(s->line, sizeof s->line, "%s", line);
}

static void dawdle_for(long ms)
{
    struct timespec ts = { 0, ms * 1000000L };

    nanosleep(&ts, NULL);
}

static void dawdle(void *ctx)
{
    (void)ctx;
    dawdle_for(LOOP_SLOW_MS + 20);
}

static void linger(void *ctx)
{
    (void)ctx;
    dawdle_for(LOOP_BUSY_MS + 1);
}

TEST(a_slow_callback_is_reported_by_its_kind)
{
    struct trail t = { .loop = loop_new(NULL) };
    struct seen_log log = { 0 };

    pb_log_to(on_log, &log, PB_LOG_WARNING);
    loop_defer(t.loop, count, &t);
    loop_turn(t.loop, false);
    CHECK(!log.warnings || loop_stats(t.loop).slow); /* a busy machine may hold up anything */
    loop_after(t.loop, 0, dawdle, NULL);
    CHECK_INT(loop_post(t.loop, count, &t, NULL), 0);
    loop_run(t.loop);
    CHECK(log.warnings >= 1);
    CHECK_HAS(log.line, "ms of work) by: timer");
    pb_log_to(NULL, NULL, PB_LOG_DEBUG);
    loop_free(t.loop);
}

TEST(callbacks_that_hold_up_the_loop_are_counted_and_reported_now_and_then)
{
    struct manual_clock clock;
    struct trail t = { 0 };
    struct seen_log log = { 0 };
    struct loop_stats s;

    manual_clock_init(&clock);
    t.loop = loop_new(&clock.clock);
    pb_log_to(on_log, &log, PB_LOG_WARNING);
    for (int i = 0; i < 3; i++)
        loop_defer(t.loop, i == 1 ? linger : dawdle, &t);
    loop_turn(t.loop, false);
    s = loop_stats(t.loop);
    CHECK(s.busy >= 3);
    CHECK(s.slow >= 2);
    CHECK(s.longest_ms > LOOP_SLOW_MS);
    CHECK_STR(s.longest, "deferred call");
    CHECK_INT(log.warnings, 1);
    CHECK_HAS(log.line, "ms of work) by: deferred call");

    CHECK_INT(loop_post(t.loop, dawdle, &t, NULL), 0); /* another kind has its own turn */
    loop_turn(t.loop, false);
    CHECK_INT(log.warnings, 2);
    loop_advance(t.loop, LOOP_REPORT_MS - 1);
    loop_defer(t.loop, dawdle, &t);
    loop_turn(t.loop, false);
    CHECK_INT(log.warnings, 2);
    loop_advance(t.loop, 1);
    loop_defer(t.loop, dawdle, &t);
    loop_turn(t.loop, false);
    CHECK_INT(log.warnings, 3);
    pb_log_to(NULL, NULL, PB_LOG_DEBUG);
    loop_free(t.loop);
}

static void toil(void *ctx)
{
    double from = cpu_ms();

    (void)ctx;
    while (cpu_ms() - from < LOOP_BUSY_MS + 1)
        continue;
}

struct asked {
    struct pb_loop *loop;
    bool at_first, after_waiting, after_work;
};

static void ask_whether_slow(void *ctx)
{
    struct asked *a = ctx;

    a->at_first = loop_is_slow(a->loop);
    dawdle(NULL);
    a->after_waiting = loop_is_slow(a->loop);
    for (int i = 0; i <= LOOP_SLOW_MS / LOOP_BUSY_MS; i++)
        toil(NULL);
    a->after_work = loop_is_slow(a->loop);
}

TEST(a_callback_can_ask_whether_it_has_worked_too_long)
{
    struct asked a = { .loop = loop_new(NULL), .at_first = true };

    for (int i = 0; i < 2; i++) {
        loop_defer(a.loop, ask_whether_slow, &a);
        loop_turn(a.loop, false);
        CHECK(!a.at_first && !a.after_waiting && a.after_work);
    }
    loop_free(a.loop);
}

TEST(a_callback_that_works_long_is_told_from_one_that_waits)
{
    struct trail t = { .loop = loop_new(NULL) };
    struct seen_log log = { 0 };

    pb_log_to(on_log, &log, PB_LOG_WARNING);
    loop_defer(t.loop, linger, &t);
    loop_turn(t.loop, false);
    CHECK(!log.warnings || loop_stats(t.loop).slow);
    loop_defer(t.loop, toil, &t);
    loop_defer(t.loop, linger, &t);
    loop_turn(t.loop, false);
    CHECK(loop_stats(t.loop).busy >= 3);
    CHECK_INT(loop_stats(t.loop).worked, 1);
    CHECK_INT(log.warnings, 1);
    pb_log_to(NULL, NULL, PB_LOG_DEBUG);
    loop_free(t.loop);
}

struct heard {
    struct pb_loop *loop;
    int fd;
    struct buf order;
};

static void note_bytes(void *ctx)
{
    struct heard *h = ctx;
    char byte;

    if (read(h->fd, &byte, 1) == 1)
        buf_str(&h->order, "bytes ");
}

static void note_deadline(void *ctx)
{
    struct heard *h = ctx;

    buf_str(&h->order, "deadline ");
    loop_stop(h->loop);
}

TEST(what_came_while_the_loop_was_held_up_is_heard_before_anybody_is_late)
{
    struct heard h = { .loop = loop_new(NULL) };
    struct readable *r;
    struct pb_error err;
    struct timer deadline;
    int ends[2];

    CHECK_INT(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    h.fd = ends[0];
    CHECK_INT(readable_new(&r, h.loop, ends[0], note_bytes, &h, &err), 0);
    timer_init(&deadline, h.loop, note_deadline, &h);
    loop_turn(h.loop, false);
    timer_start(&deadline, LOOP_SLOW_MS);
    CHECK_INT(write(ends[1], "x", 1), 1);
    loop_turn(h.loop, false); /* arms the timer */
    h.order.n = 0;
    CHECK_INT(write(ends[1], "x", 1), 1);
    dawdle_for(3L * LOOP_SLOW_MS); /* when it ends the deadline has long passed */
    loop_run(h.loop);
    CHECK_STR(buf_cstr(&h.order), "bytes deadline ");
    readable_free(r);
    close(ends[0]);
    close(ends[1]);
    buf_done(&h.order);
    loop_free(h.loop);
}

TEST(the_public_loop_posts_waits_and_stops)
{
    struct pb_loop *l = pb_loop_new();
    struct trail t = { .loop = l };
    struct pb_error err;

    CHECK_INT(pb_loop_post(l, count, &t, &err), 0);
    CHECK_INT(pb_loop_after(l, 2, count, &t, &err), 0);
    CHECK_INT(pb_loop_after(l, 1, count, &t, &err), 0);
    CHECK_INT(pb_loop_after(l, 1, NULL, &t, &err), -PB_E_INVALID);
    pb_loop_run(l);
    CHECK_INT(t.count, 3);
    CHECK_INT(pb_loop_after(l, 1000000, count, &t, &err), 0);
    pb_loop_stop(l);
    pb_loop_run(l);
    CHECK_INT(t.count, 3);
    pb_loop_free(l);
    pb_loop_free(NULL);
}

TEST(a_turn_allocates_nothing)
{
    struct trail t = { .loop = loop_new(NULL) };
    struct timer timer;
    uint64_t before = 0;

    timer_init(&timer, t.loop, count, &t);
    for (int i = 0; i < 100; i++) {
        if (i == 10)
            before = mem_count();
        loop_defer(t.loop, count, &t);
        CHECK_INT(loop_post(t.loop, count, &t, NULL), 0);
        timer_start(&timer, 0);
        loop_turn(t.loop, false);
    }
    CHECK_INT(mem_count() - before, 0);
    loop_free(t.loop);
}
