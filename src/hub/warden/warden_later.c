/* warden_later.c - sweeping for single servers, one look at all processes for many of them. */
#include "warden_impl.h"
#include <pthread.h>

/* Of all loops: what is looked at, every process, is the same for all. */
static struct {
    pthread_mutex_t lock;
    char **marks;
    size_t n, room;
    bool busy; /* somebody sweeps, or is about to */
} queue = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* What has come together so far; empty when there is none, and then nobody sweeps any more. */
static struct marks take(void)
{
    struct marks m;

    pthread_mutex_lock(&queue.lock);
    m = (struct marks){ (const char *const *)queue.marks, queue.n };
    queue.marks = NULL;
    queue.n = queue.room = 0;
    queue.busy = m.n > 0;
    pthread_mutex_unlock(&queue.lock);
    return m;
}

static void sweep_queue(void *ctx)
{
    struct marks m;

    (void)ctx;
    for (m = take(); m.n; m = take()) {
        warden_sweep_marks(&m, WARDEN_STOP_MS);
        for (size_t i = 0; i < m.n; i++)
            free((char *)m.v[i]);
        free((char **)m.v);
    }
}

static void swept(void *ctx) { (void)ctx; }

void warden_sweep_later(struct pb_loop *l, const char *mark)
{
    bool first;

    pthread_mutex_lock(&queue.lock);
    if (queue.n == queue.room) {
        queue.room = queue.room ? queue.room * 2 : 4;
        queue.marks = mem_resize(queue.marks, queue.room * sizeof(char *));
    }
    queue.marks[queue.n++] = mem_dup(mark);
    first = !queue.busy;
    queue.busy = true;
    pthread_mutex_unlock(&queue.lock);
    if (!first || loop_work(l, sweep_queue, swept, NULL, NULL) == 0)
        return;
    /* No worker takes it: it stays in line for the next who asks. */
    pthread_mutex_lock(&queue.lock);
    queue.busy = false;
    pthread_mutex_unlock(&queue.lock);
}
