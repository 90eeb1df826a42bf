#include "hub_impl.h"
#include <pthread.h>

struct hub_thread {
    struct pb_loop *loop;
    struct hub *hub; /* the loop's; NULL once it is closed */
    pthread_mutex_t lock;
    bool shut;
};

int hub_thread_start(struct hub_thread **out, const struct hub_options *opts, struct pb_error *err)
{
    struct hub_thread *t = NEW(struct hub_thread);
    struct hub_options o = *opts;
    int rc;

    assert(!opts->loop);
    o.loop = t->loop = loop_new(NULL);
    t->hub = hub_new(&o);
    pthread_mutex_init(&t->lock, NULL);
    rc = loop_start(t->loop, err);
    if (rc < 0) {
        hub_thread_free(t);
        return rc;
    }
    *out = t;
    return 0;
}

static void closed(void *ctx) { waiter_done(ctx, NULL, NULL, NULL); }

static void close_it(struct waiter *w, void *ctx)
{
    struct hub_thread *t = ctx;

    hub_close(TAKE(t->hub), closed, w);
}

void hub_thread_shutdown(struct hub_thread *t)
{
    struct pb_error err;

    pthread_mutex_lock(&t->lock);
    if (!t->shut) {
        if (loop_wait(t->loop, close_it, t, 0, NULL, &err) < 0)
            log_debug("the hub is closed by its owner: %s", err.msg);
        loop_shut(t->loop);
        if (t->hub) /* its thread never ran */
            hub_close(TAKE(t->hub), NULL, NULL);
        t->shut = true;
    }
    pthread_mutex_unlock(&t->lock);
}

void hub_thread_free(struct hub_thread *t)
{
    if (!t)
        return;
    hub_thread_shutdown(t);
    loop_free(t->loop);
    pthread_mutex_destroy(&t->lock);
    free(t);
}

struct pb_loop *hub_thread_loop(struct hub_thread *t) { return t->loop; }

struct hub *hub_thread_hub(struct hub_thread *t) { return t->hub; }
