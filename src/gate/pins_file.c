/* pins_file.c - the lock. What was approved is put into it a moment later, on a worker, which reads
 * what is there first: others may have changed it. */
#include "pins_impl.h"
#include <poll.h>
#include <stdatomic.h>

enum { CLOSE_STEP_MS = 5 };

struct lock_job {
    struct pins *p; /* NULL: gone */
    struct arena arena;
    char *path;
    struct lock_pin *changes; /* NULL: it is only read */
    size_t n;
    uint64_t upto; /* all edits up to this one are among them */
    struct lock lock;
    struct pb_error err;
    int rc;
    unsigned refs; /* loop thread */
    struct lock_job
        *after; /* the last one comes after the one that was under way; NULL: none was */
    atomic_bool worked;
};

struct sync_wait {
    struct list at;
    uint64_t upto;
    pins_synced_fn *fn;
    void *ctx;
};

static void begin(struct pins *p, bool write);

static bool any_dirty(const struct pins *p)
{
    struct map_slot *server, *slot;

    MAP_FOREACH(server, &p->servers)
        MAP_FOREACH(slot, &((struct pin_server *)server->value)->pins)
            if (((struct pin *)slot->value)->dirty)
                return true;
    return false;
}

void pin_touch(struct pin *pin)
{
    struct pins *p = pin->pins;

    if (!p->path || p->closed)
        return;
    pin->dirty = ++p->edits;
    if (!timer_running(&p->write))
        timer_start_weak(&p->write, PIN_WRITE_MS);
}

/* Told once, and kept for who asks. */
static void keep_problem(struct pins *p, const struct pb_error *err)
{
    if (err && strcmp(err->msg, p->problem.msg) != 0)
        log_warn("what is approved is not kept: %s", err->msg);
    else if (!err && p->problem.code)
        log_info("what is approved is kept again, in '%s'", p->path);
    p->problem = err ? *err : (struct pb_error){ 0 };
}

/* ---- a job ---- */

static void add_change(struct lock_job *j, const struct pin *pin)
{
    struct lock_pin *c = &j->changes[j->n++];

    *c = (struct lock_pin){ .server = arena_dup(&j->arena, span_of(pin->server)),
                            .kind = pin->kind,
                            .name = span_make(arena_dup(&j->arena, pin->name), pin->name.n),
                            .approved_at = pin->approved_at,
                            .held = pin->state == PIN_HELD,
                            .first = pin->first,
                            .gone = pin->gone };
    memcpy(c->approved, pin->approved, SHA512_BYTES);
    memcpy(c->held_back, pin->seen, SHA512_BYTES);
}

static void collect(struct lock_job *j, const struct pins *p)
{
    struct map_slot *server, *slot;

    j->changes = mem_alloc((p->n + 1) * sizeof *j->changes);
    MAP_FOREACH(server, &p->servers)
        MAP_FOREACH(slot, &((struct pin_server *)server->value)->pins)
            if (((struct pin *)slot->value)->dirty)
                add_change(j, slot->value);
    j->upto = p->edits;
}

static struct lock_job *job_new(struct pins *p, bool write)
{
    struct lock_job *j = NEW(struct lock_job);

    j->refs = 1;
    j->p = p;
    j->path = mem_dup(p->path);
    if (write)
        collect(j, p);
    return j;
}

static void job_unref(struct lock_job *j)
{
    if (!j || --j->refs)
        return;
    job_unref(j->after);
    lock_done(&j->lock);
    arena_done(&j->arena);
    free(j->changes);
    free(j->path);
    free(j);
}

/* On a worker. */
static void work(void *ctx)
{
    struct lock_job *j = ctx;

    while (j->after && !atomic_load(&j->after->worked)) /* it would write what was before */
        poll(NULL, 0, CLOSE_STEP_MS);
    j->rc = j->changes ? lock_change(j->path, j->changes, j->n, &j->err)
                       : lock_read(&j->lock, j->path, &j->err);
    atomic_store(&j->worked, true);
}

/* What the lock knows now; what it has forgotten is gone. */
static void settle(struct pins *p, uint64_t upto)
{
    struct map_slot *server, *slot;

    MAP_FOREACH(server, &p->servers) {
        struct pin_server *s = server->value;

        MAP_FOREACH(slot, &s->pins) {
            struct pin *pin = slot->value;

            if (!pin->dirty || pin->dirty > upto)
                continue;
            pin->dirty = 0;
            pin->first = false;
            if (pin->gone) {
                map_del(&s->pins, span_make(slot->key, slot->key_n));
                pin_free(pin);
            }
        }
    }
}

static void tell_syncs(struct pins *p, uint64_t upto, const struct pb_error *err)
{
    struct list now = LIST_INIT(now), *pos, *safe;

    LIST_FOREACH(pos, safe, &p->syncs)
        if (CONTAINER_OF(pos, struct sync_wait, at)->upto <= upto) {
            list_remove(pos);
            list_append(&now, pos);
        }
    while (!list_empty(&now)) {
        struct sync_wait *w = CONTAINER_OF(now.next, struct sync_wait, at);

        list_remove(&w->at);
        w->fn(w->ctx, err);
        free(w);
    }
}

static void after_write(struct pins *p, const struct lock_job *j)
{
    const struct pb_error *err = j->rc < 0 ? &j->err : NULL;

    keep_problem(p, err);
    if (!err)
        settle(p, j->upto);
    else if (!timer_running(&p->write))
        timer_start_weak(&p->write, PIN_RETRY_MS);
    tell_syncs(p, j->upto, err);
}

static void after_read(struct pins *p, struct lock_job *j)
{
    keep_problem(p, j->rc < 0 ? &j->err : NULL);
    if (j->rc == 0)
        pins_take(p, &j->lock);
}

static void over(void *ctx)
{
    struct lock_job *j = ctx;
    struct pins *p = j->p;

    if (p) {
        p->job = NULL;
        if (j->changes)
            after_write(p, j);
        else
            after_read(p, j);
        pins_taken(p);
    } else if (j->rc < 0 && j->changes) {
        log_warn("what is approved is not kept: %s", j->err.msg);
    }
    job_unref(j);
}

void pins_taken(struct pins *p)
{
    if (p->reread)
        begin(p, false);
    else if (!list_empty(&p->syncs))
        begin(p, true);
}

static void begin(struct pins *p, bool write)
{
    if (p->job || p->taking || p->closed)
        return;
    p->job = job_new(p, write);
    if (!write)
        p->reread = false;
    if (loop_work(p->loop, work, over, p->job, NULL) == 0)
        return;
    job_unref(TAKE(p->job)); /* no worker is free: later */
    p->reread |= !write;
    timer_start_weak(&p->write, PIN_WRITE_MS);
}

static void on_write(void *ctx)
{
    struct pins *p = ctx;

    if (p->job || p->taking) /* it is told again when that is over */
        timer_start_weak(&p->write, PIN_WRITE_MS);
    else if (p->reread)
        begin(p, false);
    else if (any_dirty(p))
        begin(p, true);
}

/* ---- from outside ---- */

void pins_reread(struct pins *p)
{
    if (!p->path || p->closed)
        return;
    p->reread = true;
    begin(p, false);
}

void pins_sync(struct pins *p, pins_synced_fn *fn, void *ctx)
{
    struct sync_wait *w;

    if (!p->path || p->closed || !any_dirty(p)) {
        fn(ctx, NULL);
        return;
    }
    w = NEW(struct sync_wait);
    *w = (struct sync_wait){ .upto = p->edits, .fn = fn, .ctx = ctx };
    list_append(&p->syncs, &w->at);
    begin(p, true);
}

void pins_file_init(struct pins *p, const struct pins_options *o)
{
    p->path = mem_dup_opt(o->path);
    list_init(&p->syncs);
    timer_init(&p->write, p->loop, on_write, p);
    if (o->lock_err)
        keep_problem(p, o->lock_err);
}

/* The program ends: what is not in the lock yet gets there, by a worker, after the one that may be
 * at it. Who closes the loop waits for them. */
void pins_file_close(struct pins *p)
{
    static const struct pb_error ends = { PB_E_CLOSED, 0, "patchbay is stopping" };

    timer_stop(&p->write);
    if (p->job)
        p->job->p = NULL;
    if (p->path && any_dirty(p)) {
        struct lock_job *j = job_new(p, true);

        j->p = NULL;
        if (p->job) {
            j->after = p->job;
            p->job->refs++;
        }
        if (loop_work(p->loop, work, over, j, NULL) < 0) { /* no worker is free: nor is one at it */
            work(j);
            over(j);
        }
    }
    p->job = NULL;
    tell_syncs(p, UINT64_MAX, &ends);
}
