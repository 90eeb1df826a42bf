/* signals.c - signals as callbacks on the loop. */
#include "loop_impl.h"

struct signal_watch {
    struct list link;
    uv_signal_t uv;
    struct pb_loop *loop;
    loop_fn *fn;
    void *ctx;
};

static void on_signal(uv_signal_t *uv, int signo)
{
    struct signal_watch *w = uv->data;

    (void)signo;
    loop_mark(w->loop, "signal");
    w->fn(w->ctx);
}

static void free_watch(uv_handle_t *h) { free(h->data); }

int loop_on_signal(struct pb_loop *l, int signo, loop_fn *fn, void *ctx, struct pb_error *err)
{
    struct signal_watch *w = NEW(struct signal_watch);
    int rc;

    *w = (struct signal_watch){ .loop = l, .fn = fn, .ctx = ctx };
    w->uv.data = w;
    rc = uv_signal_init(&l->uv, &w->uv);
    if (rc < 0) {
        free(w);
        return fail_sys(err, -rc, "watch for signal %d", signo);
    }
    rc = uv_signal_start(&w->uv, on_signal, signo);
    if (rc < 0) {
        uv_close((uv_handle_t *)&w->uv, free_watch);
        return fail_sys(err, -rc, "watch for signal %d", signo);
    }
    uv_unref((uv_handle_t *)&w->uv);
    list_append(&l->signals, &w->link);
    return 0;
}

static void on_watch_closed(uv_handle_t *h)
{
    struct signal_watch *w = h->data;

    loop_closing_end(w->loop);
    free(w);
}

void loop_off_signal(struct pb_loop *l, loop_fn *fn, void *ctx)
{
    struct list *pos, *safe;

    LIST_FOREACH(pos, safe, &l->signals) {
        struct signal_watch *w = CONTAINER_OF(pos, struct signal_watch, link);

        if (w->fn != fn || w->ctx != ctx)
            continue;
        list_remove(pos);
        loop_closing_begin(l);
        uv_close((uv_handle_t *)&w->uv, on_watch_closed);
    }
}

void signals_free(struct pb_loop *l)
{
    struct list *pos, *safe;

    LIST_FOREACH(pos, safe, &l->signals) {
        struct signal_watch *w = CONTAINER_OF(pos, struct signal_watch, link);

        list_remove(pos);
        uv_close((uv_handle_t *)&w->uv, free_watch);
    }
}
