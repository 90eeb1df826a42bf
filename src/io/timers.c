/* timers.c - the loop's timers: a binary heap over the loop's own clock. libuv only gets the
 * earliest deadline, and only just before it polls: a timer that is started and stopped within a
 * turn costs nothing but the heap. */
#include "loop_impl.h"
#include <assert.h>

enum { HEAP_MIN = 64 };

static bool sooner(const struct timer *a, const struct timer *b)
{
    return a->due != b->due ? a->due < b->due : a->seq < b->seq;
}

static void place(struct pb_loop *l, size_t i, struct timer *t)
{
    l->heap[i] = t;
    t->slot = i + 1;
}

static void sift_up(struct pb_loop *l, size_t i, struct timer *t)
{
    while (i > 0 && sooner(t, l->heap[(i - 1) / 2])) {
        place(l, i, l->heap[(i - 1) / 2]);
        i = (i - 1) / 2;
    }
    place(l, i, t);
}

static void sift_down(struct pb_loop *l, size_t i, struct timer *t)
{
    for (;;) {
        size_t kid = 2 * i + 1;

        if (kid >= l->heap_n)
            break;
        if (kid + 1 < l->heap_n && sooner(l->heap[kid + 1], l->heap[kid]))
            kid++;
        if (!sooner(l->heap[kid], t))
            break;
        place(l, i, l->heap[kid]);
        i = kid;
    }
    place(l, i, t);
}

static void sift(struct pb_loop *l, size_t i, struct timer *t)
{
    if (i > 0 && sooner(t, l->heap[(i - 1) / 2]))
        sift_up(l, i, t);
    else
        sift_down(l, i, t);
}

static void set_strong(struct timer *t, bool strong)
{
    struct pb_loop *l = t->loop;

    if (t->strong == strong)
        return;
    t->strong = strong;
    if (strong)
        l->strong++;
    else
        l->strong--;
    loop_keep(l);
}

void timer_init(struct timer *t, struct pb_loop *l, loop_fn *fn, void *ctx)
{
    *t = (struct timer){ .loop = l, .fn = fn, .ctx = ctx };
}

static void start(struct timer *t, uint64_t ms, bool strong)
{
    struct pb_loop *l = t->loop;
    uint64_t now = loop_now(l);

    t->due = ms < UINT64_MAX - now ? now + ms : UINT64_MAX;
    t->seq = ++l->timer_seq;
    set_strong(t, strong);
    if (t->slot) {
        sift(l, t->slot - 1, t);
        return;
    }
    if (l->heap_n == l->heap_cap) {
        l->heap_cap = l->heap_cap ? l->heap_cap * 2 : HEAP_MIN;
        l->heap = mem_resize(l->heap, l->heap_cap * sizeof(struct timer *));
    }
    l->heap_n++;
    sift_up(l, l->heap_n - 1, t);
}

void timer_start(struct timer *t, uint64_t ms) { start(t, ms, true); }

void timer_start_weak(struct timer *t, uint64_t ms) { start(t, ms, false); }

void timer_stop(struct timer *t)
{
    struct pb_loop *l = t->loop;
    size_t i = t->slot;
    struct timer *last;

    if (!i)
        return;
    t->slot = 0;
    set_strong(t, false);
    last = l->heap[--l->heap_n];
    if (last != t)
        sift(l, i - 1, last);
}

bool timer_running(const struct timer *t) { return t->slot != 0; }

static void timers_fire(struct pb_loop *l)
{
    uint64_t now, last = l->timer_seq;

    loop_mark(l, "timer");
    now = loop_now(l);
    /* Those started by a callback wait for the next turn, or 0 ms again and again would keep all
     * others out. */
    while (l->heap_n && l->heap[0]->due <= now && l->heap[0]->seq <= last) {
        struct timer *t = l->heap[0];

        timer_stop(t);
        loop_mark(l, "timer");
        t->fn(t->ctx);
    }
}

/* We did not get to run for a while: the answer that a timer waits for may have come meanwhile. */
static bool is_late(const struct pb_loop *l)
{
    return l->heap_n && loop_now(l) > l->heap[0]->due + LOOP_SLOW_MS;
}

static void on_tick(uv_timer_t *t)
{
    struct pb_loop *l = t->data;

    if (!l->heard_first && is_late(l)) {
        l->heard_first = true;
        uv_timer_start(t, on_tick, 1, 0); /* behind the next poll; 0 would be now, again */
        return;
    }
    l->heard_first = false;
    l->armed = 0;
    /* libuv runs timers before it polls, too: it must not sleep on what they may have begun. */
    uv_stop(&l->uv);
    timers_fire(l);
}

void timers_arm(struct pb_loop *l)
{
    uint64_t due = l->heap_n && !l->clock->manual ? l->heap[0]->due : 0;
    uint64_t now;
    uv_handle_t *tick = (uv_handle_t *)&l->tick;

    if (due != l->armed) {
        l->armed = due;
        if (due) {
            now = loop_now(l);
            uv_update_time(&l->uv);
            uv_timer_start(&l->tick, on_tick, due > now ? due - now : 0, 0);
        } else {
            uv_timer_stop(&l->tick);
        }
    }
    if (l->strong && !uv_has_ref(tick))
        uv_ref(tick);
    else if (!l->strong && uv_has_ref(tick))
        uv_unref(tick);
}

void loop_advance(struct pb_loop *l, uint64_t ms)
{
    struct manual_clock *m = CONTAINER_OF(l->clock, struct manual_clock, clock);
    uint64_t end = m->now + ms;

    assert(l->clock->manual && "the real clock moves by itself");
    loop_turn(l, false);
    while (l->heap_n && l->heap[0]->due <= end) {
        uint64_t due = l->heap[0]->due, step = due > m->now ? due - m->now : 0;

        m->now += step;
        m->wall += (int64_t)step;
        timers_fire(l);
        loop_turn(l, false);
    }
    m->wall += (int64_t)(end - m->now);
    m->now = end;
    loop_turn(l, false);
}

struct once {
    struct list link;
    struct timer timer;
    loop_fn *fn;
    void *ctx;
};

static void run_once(void *ctx)
{
    struct once *o = ctx;
    loop_fn *fn = o->fn;
    void *fn_ctx = o->ctx;

    list_remove(&o->link);
    free(o);
    fn(fn_ctx);
}

void loop_after(struct pb_loop *l, uint64_t ms, loop_fn *fn, void *ctx)
{
    struct once *o = NEW(struct once);

    o->fn = fn;
    o->ctx = ctx;
    timer_init(&o->timer, l, run_once, o);
    list_append(&l->once, &o->link);
    timer_start(&o->timer, ms);
}

void timers_free(struct pb_loop *l)
{
    struct list *pos, *safe;

    LIST_FOREACH(pos, safe, &l->once)
        free(CONTAINER_OF(pos, struct once, link));
    free(l->heap);
}
