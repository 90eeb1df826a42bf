/* read.c - questions. Each waits until what was put before it is written, then for one of the
 * connections that read; a worker answers it. */
#include "read.h"
#include <time.h>

enum { PROGRESS_STEPS = 1000 };

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void read_free(struct store_read *r)
{
    arena_done(&r->page.arena);
    arena_done(&r->asked);
    buf_done(&r->bytes);
    free(r);
}

/* fn may do anything with the store but what it is called by. */
static void deliver(struct store_read *r, const struct pb_error *err)
{
    if (atomic_load(&r->cancelled))
        return;
    if (!err && r->kind == READ_STATS)
        store_count(r->s, &r->stats);
    switch (r->kind) {
    case READ_PAGE:
        r->fn.page(r->ctx, err ? NULL : &r->page, err);
        break;
    case READ_OBJECT:
        r->fn.object(r->ctx, err ? (struct span){ 0 } : buf_span(&r->bytes), err);
        break;
    case READ_STATS:
        r->fn.stats(r->ctx, err ? NULL : &r->stats, err);
        break;
    }
}

static void read_end(struct store_read *r, const struct pb_error *err)
{
    struct store *s = r->s;

    list_remove(&r->link);
    s->reads_n--;
    loop_release(s->loop);
    deliver(r, err);
    read_free(r);
}

/* ---- on a worker ---- */

static int is_over(void *ctx)
{
    struct store_read *r = ctx;

    return atomic_load(&r->cancelled) || now_ms() > r->until;
}

static int answer(struct store_read *r, struct pb_error *err)
{
    struct conn *c = &r->reader->c;
    int rc;

    if (!r->reader->open) {
        rc = db_open(c, r->s->path, false, err);
        if (rc < 0)
            return rc;
        r->reader->open = true;
    }
    r->until = now_ms() + STORE_READ_MS;
    c->lib->progress(c->db, PROGRESS_STEPS, is_over, r);
    /* All statements of an answer see the same. */
    rc = db_exec(c, "BEGIN", err);
    if (rc == 0) {
        rc = r->work(r, c, err);
        c->lib->progress(c->db, 0, NULL, NULL);
        if (db_exec(c, "COMMIT", NULL) < 0)
            (void)!db_exec(c, "ROLLBACK", NULL);
    }
    c->lib->progress(c->db, 0, NULL, NULL);
    return rc;
}

static void on_worker(void *ctx)
{
    struct store_read *r = ctx;

    r->rc = answer(r, &r->err);
}

/* ---- on the loop ---- */

/* When nobody asks any more and no worker is at it, the writing thread may end. */
static void end_if_idle(struct store *s)
{
    if (!s->closing || s->jobs)
        return;
    for (size_t i = 0; i < STORE_READERS; i++)
        if (s->readers[i].open) {
            readers_close(s);
            return;
        }
    store_end_writer(s);
}

static void on_answered(void *ctx)
{
    struct store_read *r = ctx;
    struct store *s = r->s;

    s->jobs--;
    r->reader->busy = false;
    if (r->rc == 0 && s->closing && !atomic_load(&r->cancelled))
        r->rc = fail(&r->err, PB_E_CLOSED, "the store is closed");
    read_end(r, r->rc < 0 ? &r->err : NULL);
    if (s->closing) {
        end_if_idle(s);
        return;
    }
    timer_start_weak(&s->idle, STORE_READER_IDLE_MS);
    reads_start(s);
}

static struct store_reader *free_reader(struct store *s)
{
    for (size_t i = 0; i < STORE_READERS; i++)
        if (!s->readers[i].busy)
            return &s->readers[i];
    return NULL;
}

/* Of the writing thread. */
struct progress {
    uint64_t done, texts;
    bool failed;
};

/* What was put before it is written, and its words are indexed if it asks for words. While nothing
 * can be written it is answered from what there is. */
static bool is_ready(const struct store_read *r, const struct progress *p)
{
    return p->failed || (p->done >= r->seq && p->texts >= r->text_turn);
}

static void ask_for_texts(struct store_read *r)
{
    struct store *s = r->s;

    pthread_mutex_lock(&s->mu);
    r->text_turn = ++s->text_asked;
    writer_wake(s);
    pthread_mutex_unlock(&s->mu);
}

static void begin(struct store_read *r, struct store_reader *with)
{
    struct pb_error err;

    r->reader = with;
    if (loop_work(r->s->loop, on_worker, on_answered, r, &err) < 0) {
        read_end(r, &err);
        return;
    }
    with->busy = r->running = true;
    r->s->jobs++;
}

/* True: one of them began, or could not, and then its callback may have changed the list. */
static bool start_one(struct store *s, const struct progress *p)
{
    struct store_reader *with = free_reader(s);
    struct list *at, *safe;

    LIST_FOREACH(at, safe, &s->reads) {
        struct store_read *r = CONTAINER_OF(at, struct store_read, link);

        if (!with || r->running || !is_ready(r, p))
            continue;
        if (!r->wants_text || p->failed) {
            begin(r, with);
            return true;
        }
        r->wants_text = false;
        ask_for_texts(r);
    }
    return false;
}

void reads_start(struct store *s)
{
    struct progress p;

    pthread_mutex_lock(&s->mu);
    p = (struct progress){ .done = s->done, .texts = s->text_ready, .failed = s->failed };
    pthread_mutex_unlock(&s->mu);
    while (!s->closing && start_one(s, &p))
        continue;
}

void reads_end(struct store *s, const struct pb_error *err)
{
    struct list *at, *safe;

    /* A callback may cancel others. */
    for (bool again = true; again;) {
        again = false;
        LIST_FOREACH(at, safe, &s->reads) {
            struct store_read *r = CONTAINER_OF(at, struct store_read, link);

            if (r->running)
                continue;
            read_end(r, err);
            again = true;
            break;
        }
    }
    end_if_idle(s);
}

static void on_refused(void *ctx)
{
    struct store_read *r = ctx;

    if (!list_empty(&r->link))
        read_end(r, &r->err);
}

struct store_read *read_new(struct store *s, read_work_fn *work, enum read_kind kind)
{
    struct store_read *r;

    if (s->closing)
        return NULL;
    r = NEW(struct store_read);
    r->s = s;
    r->kind = kind;
    r->work = work;
    r->seq = s->puts;
    list_append(&s->reads, &r->link);
    s->reads_n++;
    loop_hold(s->loop);
    if (s->reads_n > STORE_READS_MAX) {
        fail(&r->err, PB_E_BUSY, "%d questions about records wait already", STORE_READS_MAX);
        r->running = true; /* nobody else may begin it */
        loop_defer(s->loop, on_refused, r);
        return r;
    }
    store_hurry(s);
    return r;
}

void store_cancel(struct store_read *r)
{
    atomic_store(&r->cancelled, true);
    if (!r->running) {
        list_remove(&r->link);
        r->s->reads_n--;
        loop_release(r->s->loop);
        read_free(r);
    }
}

/* ---- connections that nobody needs ---- */

struct closing_reader {
    struct store *s;
    struct store_reader *reader;
};

static void close_on_worker(void *ctx) { db_close(&((struct closing_reader *)ctx)->reader->c); }

static void on_reader_closed(void *ctx)
{
    struct closing_reader *job = ctx;
    struct store *s = job->s;

    job->reader->open = job->reader->busy = false;
    free(job);
    s->jobs--;
    end_if_idle(s);
    reads_start(s);
}

void readers_close(void *ctx)
{
    struct store *s = ctx;

    for (size_t i = 0; i < STORE_READERS; i++) {
        struct closing_reader *job;

        if (!s->readers[i].open || s->readers[i].busy)
            continue;
        job = NEW(struct closing_reader);
        *job = (struct closing_reader){ s, &s->readers[i] };
        if (loop_work(s->loop, close_on_worker, on_reader_closed, job, NULL) < 0) {
            free(job);
            timer_start_weak(&s->idle, STORE_READER_IDLE_MS);
            continue;
        }
        s->readers[i].busy = true;
        s->jobs++;
    }
}
