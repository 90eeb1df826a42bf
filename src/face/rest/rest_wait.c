/* rest_wait.c - requests that are answered when a server is connected, or has failed to be. */
#include "hub/hub/hub.h"
#include "io/http/http.h"
#include "rest_impl.h"

static void on_gone(void *ctx)
{
    struct rest_wait *w = ctx;

    w->r = NULL;
}

static void over(void *ctx, const struct pb_error *err)
{
    struct rest_wait *w = ctx;

    if (w->r)
        w->then(w, err);
    free(w->server);
    free(w);
}

void rest_wait_connected(struct rest_call *c, const char *server,
                         void (*then)(struct rest_wait *w, const struct pb_error *err))
{
    struct rest_wait *w = NEW(struct rest_wait);
    struct pb_error err;

    *w = (struct rest_wait){ c->hub, c->r, mem_dup(server), then };
    http_on_gone(c->r, on_gone, w);
    if (hub_when_connected(c->hub, server, over, w, &err) < 0)
        over(w, &err);
}
