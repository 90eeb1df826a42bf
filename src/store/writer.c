/* writer.c - the thread that writes. It takes all that waits, writes it in few transactions, and
 * does what else is due when nothing waits. It sleeps without waking up while there is nothing to
 * do. */
#include "store_impl.h"
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

enum { NICE = 5 };

enum writer_task { TASK_WRITE, TASK_TEXTS, TASK_LATER, TASK_END };

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* With mu held. */
static void wait_until(struct store *s, int64_t ms)
{
    struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

    pthread_cond_timedwait(&s->more, &s->mu, &t);
}

/* ---- transactions ---- */

static int run(struct writer *w, enum sql which, struct pb_error *err)
{
    sqlite3_stmt *st = db_statement(&w->c, which, err);

    return st ? db_run(&w->c, st, err) : -PB_E_SYSTEM;
}

int writer_begin(struct writer *w, struct pb_error *err)
{
    w->rows = w->bytes = 0;
    return run(w, SQL_BEGIN, err);
}

static int write_state(struct writer *w, struct pb_error *err)
{
    sqlite3_stmt *st = db_statement(&w->c, SQL_STATE_SET, err);
    const struct store_state *n = &w->now;

    if (!st)
        return -PB_E_SYSTEM;
    bind_int(&w->c, st, 1, n->last_no);
    bind_int(&w->c, st, 2, n->calls);
    bind_int(&w->c, st, 3, n->objects);
    bind_int(&w->c, st, 4, n->object_bytes);
    bind_int(&w->c, st, 5, n->last_object);
    bind_int(&w->c, st, 6, n->indexed);
    bind_int(&w->c, st, 7, n->text_done);
    return db_run(&w->c, st, err);
}

int writer_commit(struct writer *w, struct pb_error *err)
{
    int rc = calls_settle(w, err);

    if (rc == 0)
        rc = objects_settle(w, err);
    if (rc == 0)
        rc = write_state(w, err);
    if (rc == 0)
        rc = run(w, SQL_COMMIT, err);
    if (rc == 0)
        w->committed = w->now;
    return rc;
}

/* What was learnt meanwhile may be of rows that are not there any more. */
void writer_rollback(struct writer *w)
{
    if (!w->c.lib->autocommit(w->c.db))
        (void)!run(w, SQL_ROLLBACK, NULL);
    w->now = w->committed;
    words_forget(w);
    objects_forget(w);
    calls_forget(w);
    calls_forget_tail(w);
}

/* ---- a batch ---- */

/* False: the store is to end, and there is no time left to try again. */
static bool wait_to_retry(struct writer *w, const struct pb_error *err)
{
    struct store *s = w->s;
    int64_t until = now_ms() + STORE_RETRY_MS;
    bool go_on;

    pthread_mutex_lock(&s->mu);
    if (!s->failed) {
        s->failed = s->news = true;
        s->failure = *err;
        store_tell(s);
    }
    while (!s->end && now_ms() < until)
        wait_until(s, until);
    go_on = !s->end;
    pthread_mutex_unlock(&s->mu);
    return go_on;
}

static void write_batch(struct writer *w)
{
    struct pb_error err;

    while (w->batch)
        if (batch_write(w, &err) < 0 && !wait_to_retry(w, &err))
            batch_lose(w);
    tidy_check(w);
    calls_forget(w); /* its texts lay in the batch */
}

/* ---- what can wait ---- */

typedef int step_fn(struct writer *w, struct pb_error *err);

/* One transaction of it. What fails here is tried again later; records are not lost by it. */
static void do_step(struct writer *w, step_fn *step)
{
    struct chores before = w->due;
    struct pb_error err;
    int rc = writer_begin(w, &err);

    if (rc == 0)
        rc = step(w, &err);
    if (rc == 0)
        rc = writer_commit(w, &err);
    if (rc == 0) {
        tidy_done(w);
        return;
    }
    writer_rollback(w);
    w->due = before;
    log_warn("records: %s", err.msg);
    w->rest_until = now_ms() + STORE_REST_MS;
}

static bool rests(const struct writer *w) { return w->rest_until && now_ms() < w->rest_until; }

static bool piles_up(const struct writer *w)
{
    return w->due.tidying || w->due.vacuuming || w->due.checkpoint || w->due.sweep_from ||
           w->forgets || group_is_due(w);
}

static bool later_is_due(const struct writer *w) { return piles_up(w) || text_is_due(w); }

/* What was given back leaves the file when what was written last is put in its place. */
static void do_checkpoint(struct writer *w)
{
    w->due.checkpoint = false;
    (void)!db_exec(&w->c, "PRAGMA wal_checkpoint(PASSIVE)", NULL);
}

static void do_later(struct writer *w)
{
    if (w->due.checkpoint)
        do_checkpoint(w);
    else if (group_is_due(w))
        do_step(w, group_index);
    else if (piles_up(w))
        do_step(w, tidy_step);
    else
        do_step(w, text_index);
}

/* Those who search wait for the words of what was put. When there are calls to be written, too, it
 * is done in turns with them. */
static void do_texts(struct writer *w, uint64_t asked)
{
    int64_t now = now_ms(), until = now + STORE_INDEX_TURN_MS;

    if (!w->texts_for) {
        w->texts_for = asked;
        w->texts_until = now + STORE_INDEX_MS;
    }
    while (text_is_due(w) && !rests(w) && now < until && now < w->texts_until) {
        do_step(w, text_index);
        now = now_ms();
    }
    if (text_is_due(w) && !rests(w) && now < w->texts_until)
        return;
    pthread_mutex_lock(&w->s->mu);
    w->s->text_ready = w->texts_for;
    store_tell(w->s);
    pthread_mutex_unlock(&w->s->mu);
    w->texts_for = 0;
}

/* ---- what to do next ---- */

/* With mu held, as the next two. */
static void take_orders(struct writer *w)
{
    struct store *s = w->s;

    if (s->tidy_now) {
        w->keep = s->keep;
        w->tidy_us = s->now_us;
        w->due.tidying = true;
        w->rest_until = 0;
    }
    s->tidy_now = false;
}

/* A moment more, so that much is written at once; unless somebody waits for it. */
static void gather(struct store *s)
{
    int64_t until = now_ms() + STORE_GATHER_MS;

    s->mood = WRITER_GATHERS;
    while (!s->hurry && !s->end && s->waiting == s->filling && !s->held && now_ms() < until)
        wait_until(s, until);
    s->mood = WRITER_WORKS;
}

static enum writer_task choose(struct writer *w)
{
    struct store *s = w->s;

    for (;;) {
        bool texts = s->text_asked != s->text_ready;

        take_orders(w);
        if (s->waiting && !(texts && w->wrote))
            return TASK_WRITE;
        if (!s->waiting)
            s->hurry = false;
        if (texts)
            return TASK_TEXTS;
        if (s->end)
            return TASK_END;
        if (later_is_due(w) && !rests(w))
            return TASK_LATER;
        s->mood = WRITER_SLEEPS;
        if (later_is_due(w))
            wait_until(s, w->rest_until);
        else
            pthread_cond_wait(&s->more, &s->mu);
        s->mood = WRITER_WORKS;
    }
}

static void take_batch(struct writer *w)
{
    gather(w->s);
    w->batch = w->chunk = chunks_take(w->s);
    w->begun = w->at = 0;
    w->s->hurry = false;
}

static void end(struct writer *w)
{
    struct store *s = w->s;

    db_close(&w->c);
    if (w->zstd)
        w->c.lib->zstd_free(w->zstd);
    words_forget(w);
    objects_forget(w);
    free(w->refs);
    buf_done(&w->scratch);
    buf_done(&w->packed);
    buf_done(&w->places);
    buf_done(&w->redacted);
    buf_done(&w->note);
    buf_done(&w->question);
    block_done(&w->tail);
    for (size_t i = 0; i < RECORD_OBJECTS; i++)
        free(w->places_of[i]);
    pthread_mutex_lock(&s->mu);
    while (w->forgets) {
        struct forget *f = w->forgets;

        w->forgets = f->next;
        fail(&f->err, PB_E_CLOSED, "the store was closed");
        f->next = s->forgotten;
        s->forgotten = f;
    }
    s->ended = true;
    store_tell(s);
    pthread_mutex_unlock(&s->mu);
}

/* Calls come first. */
static void step_back(void) { setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), NICE); }

/* They are the program's to take. One would end it: a file that may grow no further (SIGXFSZ),
 * which is a disk that is full. */
static void leave_signals(void)
{
    sigset_t all;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
}

void *writer_main(void *ctx)
{
    struct writer *w = ctx;
    enum writer_task task;
    uint64_t asked;

    leave_signals();
    step_back();
    do {
        pthread_mutex_lock(&w->s->mu);
        task = choose(w);
        if (task == TASK_WRITE)
            take_batch(w);
        asked = w->s->text_asked;
        pthread_mutex_unlock(&w->s->mu);
        w->wrote = task == TASK_WRITE;
        if (task == TASK_WRITE)
            write_batch(w);
        else if (task == TASK_TEXTS)
            do_texts(w, asked);
        /* Between two batches only what would pile up. */
        if (task == TASK_LATER || (task == TASK_WRITE && piles_up(w) && !rests(w)))
            do_later(w);
    } while (task != TASK_END);
    end(w);
    return NULL;
}
