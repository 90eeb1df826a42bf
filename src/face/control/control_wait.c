/* control_wait.c - requests that wait for servers: a person wants to see what a server has, not
 * that it is not there yet. */
#include "control_impl.h"
#include "face/host/host.h"
#include "hub/catalog/catalog.h"
#include "hub/hub/hub.h"
#include "hub/link/link.h"
#include "mcp/serve/serve.h"

static void on_cancel(struct request *r, enum cancel_reason why)
{
    struct control_wait *w = r->work;

    (void)why;
    w->r = NULL;
}

struct control_wait *control_wait_new(struct hosts *s, struct request *r, control_then_fn *then)
{
    struct control_wait *w = NEW(struct control_wait);

    w->hosts = s;
    w->r = r;
    w->then = then;
    if (!control_read_params(r, &w->params, &w->arena)) {
        arena_done(&w->arena);
        free(w);
        return NULL;
    }
    r->work = w;
    r->cancel = on_cancel;
    return w;
}

void control_wait_end(struct control_wait *w)
{
    if (w->r) {
        w->r->work = NULL;
        w->r->cancel = NULL;
    }
    arena_done(&w->arena);
    free(w);
}

void control_wait_over(struct control_wait *w)
{
    struct request *r = w->r;

    if (r) {
        r->cancel = NULL;
        w->then(w->hosts, r, &w->params);
    }
    control_wait_end(w);
}

static void on_settled(void *ctx, const struct start_result *result)
{
    (void)result;
    control_wait_over(ctx);
}

void control_wait_settled(struct control_wait *w)
{
    hub_when_settled(hosts_hub(w->hosts), on_settled, w);
}

/* A server that is idle and of which nothing is known is started; any that is idle, if what it said
 * once will not do. */
static void wake(struct hub *h, struct link *l, bool refresh)
{
    bool unknown = true;

    if (link_state(l) != LINK_IDLE)
        return;
    for (int k = 0; k < LIST_KINDS; k++)
        unknown &= !catalog_count(hub_catalog(h), link_name(l), (enum list_kind)k);
    if ((unknown || refresh) && hub_connect(h, link_name(l), NULL) < 0)
        log_debug("control: '%s' does not start", link_name(l));
}

/* That it failed is for `then` to tell. */
static void on_connected(void *ctx, const struct pb_error *err)
{
    struct control_wait *w = ctx;

    (void)err;
    if (--w->pending == 0)
        control_wait_over(w);
}

static void on_relisted(void *ctx) { on_connected(ctx, NULL); }

static void await(void *ctx, struct link *l)
{
    struct control_wait *w = ctx;
    struct hub *hub = hosts_hub(w->hosts);

    if (w->params.refresh && link_refresh_all(l, on_relisted, w)) {
        w->pending++;
        return;
    }
    wake(hub, l, w->params.refresh);
    w->pending += hub_when_connected(hub, link_name(l), on_connected, w, NULL) == 0;
}

void control_when_known(struct hosts *s, struct request *r, control_then_fn *then)
{
    struct control_wait *w = control_wait_new(s, r, then);

    if (w)
        control_wait_known(w);
}

void control_wait_known(struct control_wait *w)
{
    struct hosts *s = w->hosts;
    struct request *r = w->r;
    struct link *l;

    if (w->params.mode && !mode_find(hub_modes(hosts_hub(s)), span_of(w->params.mode))) {
        control_wait_over(w); /* nobody is waited for only to say so */
        return;
    }
    if (w->params.server) {
        l = control_need_server(s, r, w->params.server);
        if (!l) {
            control_wait_end(w);
            return;
        }
        await(w, l);
    } else {
        hub_each(hosts_hub(s), await, w);
    }
    if (!w->pending)
        control_wait_over(w);
}
