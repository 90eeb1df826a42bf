/* work.c - the worker pool of one loop. A thread is started when a job finds none idle, up to
 * LOOP_WORK_THREADS; a program that gives no work has no threads. */
#include "loop_impl.h"
#include <assert.h>

struct pool {
    pthread_mutex_t mu;
    pthread_cond_t more;
    struct list todo, finished;
    atomic_bool ready; /* finished is not empty */
    size_t queued, idle, threads;
    pthread_t thread[LOOP_WORK_THREADS];
    bool ending;
    struct pb_loop *loop;
};

static void *worker(void *ctx)
{
    struct pool *p = ctx;

    pthread_mutex_lock(&p->mu);
    for (;;) {
        struct job *j;

        if (list_empty(&p->todo)) {
            if (p->ending)
                break;
            p->idle++;
            pthread_cond_wait(&p->more, &p->mu);
            p->idle--;
            continue;
        }
        j = CONTAINER_OF(p->todo.next, struct job, link);
        list_remove(&j->link);
        p->queued--;
        pthread_mutex_unlock(&p->mu);
        j->work(j->ctx);
        pthread_mutex_lock(&p->mu);
        list_append(&p->finished, &j->link);
        if (!atomic_exchange(&p->ready, true))
            uv_async_send(&p->loop->wake);
    }
    pthread_mutex_unlock(&p->mu);
    return NULL;
}

static struct pool *pool_of(struct pb_loop *l)
{
    if (!l->pool) {
        struct pool *p = NEW(struct pool);

        pthread_mutex_init(&p->mu, NULL);
        pthread_cond_init(&p->more, NULL);
        list_init(&p->todo);
        list_init(&p->finished);
        p->loop = l;
        l->pool = p;
    }
    return l->pool;
}

/* With p->mu held. Without any thread the job would never run: then, and only then, failing to
 * start one is the end of the program, as for memory. */
static void grow(struct pool *p)
{
    int rc = pthread_create(&p->thread[p->threads], NULL, worker, p);

    if (rc == 0)
        p->threads++;
    assert(p->threads && "no thread could be started for work");
}

void work_push(struct pb_loop *l, struct job *j)
{
    struct pool *p = pool_of(l);

    l->works++;
    loop_keep(l);
    pthread_mutex_lock(&p->mu);
    list_append(&p->todo, &j->link);
    p->queued++;
    if (p->queued > p->idle && p->threads < LOOP_WORK_THREADS)
        grow(p);
    pthread_cond_signal(&p->more);
    pthread_mutex_unlock(&p->mu);
}

bool work_ready(const struct pb_loop *l) { return l->pool && atomic_load(&l->pool->ready); }

void work_collect(struct pb_loop *l)
{
    struct pool *p = l->pool;
    struct list done;

    list_init(&done);
    pthread_mutex_lock(&p->mu);
    if (!list_empty(&p->finished)) {
        done = p->finished;
        done.next->prev = done.prev->next = &done;
        list_init(&p->finished);
    }
    atomic_store(&p->ready, false);
    pthread_mutex_unlock(&p->mu);
    while (!list_empty(&done)) {
        struct job *j = CONTAINER_OF(done.next, struct job, link);
        struct job was = *j;

        list_remove(&j->link);
        if (j->owned)
            free(j);
        l->works--;
        loop_keep(l);
        loop_mark(l, "end of work");
        was.done(was.ctx);
    }
}

int loop_work(struct pb_loop *l, loop_fn *work, loop_fn *done, void *ctx, struct pb_error *err)
{
    struct job *j;

    if (l->works >= LOOP_WORK_MAX)
        return fail(err, PB_E_BUSY, "%d jobs wait for a worker already", LOOP_WORK_MAX);
    j = NEW(struct job);
    *j = (struct job){ .work = work, .done = done, .ctx = ctx, .owned = true };
    work_push(l, j);
    return 0;
}

void work_free(struct pb_loop *l)
{
    struct pool *p = l->pool;

    if (!p)
        return;
    pthread_mutex_lock(&p->mu);
    p->ending = true;
    pthread_cond_broadcast(&p->more);
    pthread_mutex_unlock(&p->mu);
    for (size_t i = 0; i < p->threads; i++)
        pthread_join(p->thread[i], NULL);
    pthread_mutex_destroy(&p->mu);
    pthread_cond_destroy(&p->more);
    free(p);
}
