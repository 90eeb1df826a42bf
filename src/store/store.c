#include "read.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>

struct sync {
    struct list link;
    uint64_t seq;
    store_done_fn *fn;
    void *ctx;
};

/* ---- one program at a time ---- */

static int locked_by(const char *dir, int fd, struct pb_error *err)
{
    char pid[16] = "";
    ssize_t n = pread(fd, pid, sizeof pid - 1, 0);

    pid[n > 0 ? (size_t)n : 0] = '\0';
    pid[strspn(pid, "0123456789")] = '\0';
    return fail(err, PB_E_BUSY,
                "another Patchbay (pid %s) records into '%s'; stop it, or start this one with "
                "--no-record",
                *pid ? pid : "unknown", dir);
}

static int lock_directory(struct store *s, struct pb_error *err)
{
    AUTO_BUF struct buf path = { 0 };
    char pid[16];
    int n;

    buf_printf(&path, "%s/lock", s->dir);
    s->lock = open(buf_cstr(&path), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (s->lock < 0)
        return fail_sys(err, errno, "open '%s'", path.p);
    if (flock(s->lock, LOCK_EX | LOCK_NB) < 0)
        return errno == EWOULDBLOCK ? locked_by(s->dir, s->lock, err)
                                    : fail_sys(err, errno, "lock '%s'", path.p);
    n = snprintf(pid, sizeof pid, "%d\n", (int)getpid());
    /* For the message above only: a full disk may refuse it. */
    if (ftruncate(s->lock, 0) < 0 || pwrite(s->lock, pid, (size_t)n, 0) < 0)
        log_debug("the pid could not be written into '%s'", path.p);
    return 0;
}

/* ---- opening ---- */

static void ask_to_tidy(struct store *s)
{
    pthread_mutex_lock(&s->mu);
    s->tidy_now = true;
    s->now_us = loop_wall(s->loop) * 1000;
    writer_wake(s);
    pthread_mutex_unlock(&s->mu);
}

static void on_tidy(void *ctx)
{
    struct store *s = ctx;

    ask_to_tidy(s);
    timer_start_weak(&s->tidy, STORE_TIDY_MS);
}

static void init(struct store *s, const struct store_options *o)
{
    pthread_condattr_t attr;
    struct buf path = { 0 };

    s->o = *o;
    s->loop = o->loop;
    s->dir = mem_dup(o->dir);
    s->o.dir = s->dir;
    if (!s->o.object_bytes || s->o.object_bytes > STORE_OBJECT_MAX)
        s->o.object_bytes = STORE_OBJECT_MAX;
    buf_printf(&path, "%s/records.db", s->dir);
    s->path = buf_take(&path);
    s->lock = -1;
    s->keep = (struct keep){ o->keep_ms, o->keep_calls, o->keep_bytes };
    list_init(&s->reads);
    list_init(&s->syncs);
    timer_init(&s->tidy, s->loop, on_tidy, s);
    timer_init(&s->idle, s->loop, readers_close, s);
    pthread_mutex_init(&s->mu, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&s->more, &attr);
    pthread_condattr_destroy(&attr);
    s->w.s = s;
    s->w.tail.id = -1;
    objects_forget(&s->w);
}

static void store_free(struct store *s)
{
    if (s->lock >= 0)
        close(s->lock);
    pthread_mutex_destroy(&s->mu);
    pthread_cond_destroy(&s->more);
    free(s->waiting);
    free(s->spare);
    free(s->dir);
    free(s->path);
    free(s);
}

/* *any: there are records. From then on what is the writing thread's is not looked at. */
static int start(struct store *s, bool *any, struct pb_error *err)
{
    int rc = file_make_directories(s->dir, err);

    if (rc == 0)
        rc = lock_directory(s, err);
    if (rc == 0)
        rc = db_open(&s->w.c, s->path, true, err);
    if (rc == 0) {
        rc = state_read(&s->w.c, &s->w.now, err);
        if (rc == 0)
            rc = db_number(&s->w.c, SQL_WORDS, &s->w.now.words, err);
        s->w.due.words_new = s->w.now.words; /* nobody knows any more */
        s->w.committed = s->w.now;
        *any = s->w.now.calls;
        if (rc == 0) {
            int sys = pthread_create(&s->thread, NULL, writer_main, &s->w);

            rc = sys ? fail_sys(err, sys, "start a thread that writes records") : 0;
        }
        if (rc < 0)
            db_close(&s->w.c);
    }
    return rc;
}

int store_open(struct store **out, const struct store_options *o, struct pb_error *err)
{
    struct store *s = NEW(struct store);
    bool any = false;
    int rc;

    init(s, o);
    rc = start(s, &any, err);
    if (rc < 0) {
        store_free(s);
        return rc;
    }
    libs_rest();
    ask_to_tidy(s);
    if (any)
        timer_start_weak(&s->tidy, STORE_TIDY_MS);
    *out = s;
    return 0;
}

void store_tune(struct store *s, const struct store_options *o)
{
    pthread_mutex_lock(&s->mu);
    s->keep = (struct keep){ o->keep_ms, o->keep_calls, o->keep_bytes };
    pthread_mutex_unlock(&s->mu);
    ask_to_tidy(s);
}

/* ---- news of the writing thread ---- */

static void on_news(void *ctx);

void store_tell(struct store *s)
{
    if (!s->posted)
        s->posted = loop_post(s->loop, on_news, s, NULL) == 0;
}

struct heard {
    uint64_t done;
    bool news, failed, ended, room;
    struct pb_error failure;
    struct forget *forgotten;
};

static struct heard hear(struct store *s)
{
    struct heard h;

    pthread_mutex_lock(&s->mu);
    s->posted = false;
    h = (struct heard){ .done = s->done, .news = s->news, .failed = s->failed };
    h.ended = s->ended;
    h.failure = s->failure;
    h.forgotten = TAKE(s->forgotten);
    /* While nothing can be written nobody is to wait: what does not fit is lost, and counted. */
    h.room = s->full &&
             (s->failed || (s->queued < STORE_QUEUE_BYTES / 2 && s->held < STORE_HELD_BYTES / 2));
    s->full = s->full && !h.room;
    s->news = false;
    pthread_mutex_unlock(&s->mu);
    return h;
}

static void end_syncs(struct store *s, const struct heard *h)
{
    struct list ready, *at, *safe;

    list_init(&ready);
    LIST_FOREACH(at, safe, &s->syncs) {
        struct sync *y = CONTAINER_OF(at, struct sync, link);

        if (y->seq <= h->done || h->failed || h->ended) {
            list_remove(at);
            list_append(&ready, at);
        }
    }
    while (!list_empty(&ready)) {
        struct sync *y = CONTAINER_OF(ready.next, struct sync, link);

        list_remove(&y->link);
        loop_release(s->loop);
        y->fn(y->ctx, y->seq <= h->done ? NULL : &h->failure);
        free(y);
    }
}

static void end_forgets(struct store *s, struct forget *f)
{
    while (f) {
        struct forget *next = f->next;

        loop_release(s->loop);
        if (f->fn)
            f->fn(f->ctx, f->err.code ? &f->err : NULL);
        free(f);
        f = next;
    }
}

static void finish(struct store *s)
{
    struct pb_loop *loop = s->loop;
    loop_fn *fn = s->closed;
    void *ctx = s->closed_ctx;

    pthread_join(s->thread, NULL);
    store_free(s);
    loop_release(loop);
    loop_closing_end(loop);
    if (fn)
        fn(ctx);
}

static void on_news(void *ctx)
{
    struct store *s = ctx;
    struct heard h = hear(s);

    if (h.news && s->o.changed && !s->closing)
        s->o.changed(s->o.ctx, h.failed ? &h.failure : NULL);
    if (h.room && s->o.drained && !s->closing)
        s->o.drained(s->o.ctx);
    end_syncs(s, &h);
    end_forgets(s, h.forgotten);
    reads_start(s);
    if (h.ended)
        finish(s);
}

/* ---- waiting ---- */

/* With mu held. */
static void count_watchers(struct store *s)
{
    struct list *at, *safe;

    s->watchers = 0;
    LIST_FOREACH(at, safe, &s->syncs)
        s->watchers++;
    s->watchers += s->reads_n;
}

void store_hurry(struct store *s)
{
    pthread_mutex_lock(&s->mu);
    count_watchers(s);
    s->hurry = true;
    writer_wake(s);
    if (s->done >= s->puts || s->failed)
        store_tell(s);
    pthread_mutex_unlock(&s->mu);
}

struct refused {
    store_done_fn *fn;
    void *ctx;
};

static void on_refused(void *ctx)
{
    struct refused *r = ctx;
    struct pb_error err;

    fail(&err, PB_E_CLOSED, "the store is closed");
    r->fn(r->ctx, &err);
    free(r);
}

bool store_refuses(struct store *s, store_done_fn *fn, void *ctx)
{
    if (s->closing && fn) {
        struct refused *r = NEW(struct refused);

        *r = (struct refused){ fn, ctx };
        loop_defer(s->loop, on_refused, r);
    }
    return s->closing;
}

void store_sync(struct store *s, store_done_fn *fn, void *ctx)
{
    struct sync *y;

    if (store_refuses(s, fn, ctx))
        return;
    y = NEW(struct sync);
    *y = (struct sync){ .seq = s->puts, .fn = fn, .ctx = ctx };
    list_append(&s->syncs, &y->link);
    loop_hold(s->loop);
    store_hurry(s);
}

void store_count(struct store *s, struct store_stats *out)
{
    pthread_mutex_lock(&s->mu);
    out->waiting = s->queued + s->held;
    out->lost = s->lost + s->gone;
    pthread_mutex_unlock(&s->mu);
}

/* ---- closing ---- */

void store_end_writer(struct store *s)
{
    pthread_mutex_lock(&s->mu);
    s->end = true;
    pthread_cond_signal(&s->more);
    pthread_mutex_unlock(&s->mu);
}

static void on_close(void *ctx)
{
    struct store *s = ctx;
    struct pb_error err;

    fail(&err, PB_E_CLOSED, "the store is closed");
    reads_end(s, &err);
}

void store_close(struct store *s, loop_fn *fn, void *ctx)
{
    assert(!s->closing && "a store is closed once");
    s->closing = true;
    s->closed = fn;
    s->closed_ctx = ctx;
    timer_stop(&s->tidy);
    timer_stop(&s->idle);
    loop_hold(s->loop);
    loop_closing_begin(s->loop);
    loop_defer(s->loop, on_close, s);
}
