#include "hub.h"
#include "hub/catalog/catalog.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"
#include "hub/view/view.h"

struct desk {
    struct desk_hub hub;
    struct hub *own; /* or NULL */
    struct view *view;
    void *subscription;
    struct spec **specs;
    size_t n_specs;
    void (*changed)(void *ctx, const struct hub_event *e);
    void *changed_ctx;
};

/* ---- a real hub ---- */

static void start_all(void *ctx, struct spec *const *specs, size_t n)
{
    hub_start_all(ctx, specs, n);
}

static void when_settled(void *ctx, void (*fn)(void *ctx, const struct start_result *r),
                         void *fn_ctx)
{
    hub_when_settled(ctx, fn, fn_ctx);
}

static int reconnect(void *ctx, const char *server, struct pb_error *err)
{
    return hub_reconnect(ctx, server, err);
}

static int cancel_connect(void *ctx, const char *server, struct pb_error *err)
{
    return hub_cancel_connect(ctx, server, err);
}

static int disconnect(void *ctx, const char *server, struct pb_error *err)
{
    return hub_disconnect(ctx, server, err);
}

static void stop_all(void *ctx) { hub_stop_all(ctx); }

static bool cancel_call(void *ctx, const char *uuid)
{
    return hub_cancel_uuid(ctx, uuid, CALL_BY_USER);
}

static struct blob *tools(void *ctx, const char *server)
{
    return catalog_render(hub_catalog(ctx), &(struct scope){ .server = server }, LIST_TOOLS);
}

static void *listen(void *ctx, hub_event_fn *fn, void *fn_ctx)
{
    return hub_listen(ctx, &(struct hub_listener){ .event = fn, .ctx = fn_ctx });
}

static void unlisten(void *ctx, void *subscription)
{
    (void)ctx;
    hub_unlisten(subscription);
}

struct replay {
    int64_t now;
    hub_event_fn *fn;
    void *ctx;
};

static void replay_link(void *ctx, struct link *l)
{
    const struct replay *to = ctx;
    struct hub_event e = {
        .kind = EVENT_SERVER_ADDED,
        .server = link_name(l),
        .spec = link_spec(l),
        .at = to->now,
    };

    to->fn(to->ctx, &e);
    e.kind = EVENT_STATE;
    e.state.from = (struct link_status){ .state = LINK_IDLE };
    link_status(l, &e.state.to);
    to->fn(to->ctx, &e);
}

static void replay(void *ctx, hub_event_fn *fn, void *fn_ctx)
{
    hub_each(ctx, replay_link, &(struct replay){ loop_wall(hub_loop(ctx)), fn, fn_ctx });
}

struct desk_hub desk_hub_of(struct hub *h)
{
    return (struct desk_hub){
        .start_all = start_all,
        .when_settled = when_settled,
        .reconnect = reconnect,
        .cancel_connect = cancel_connect,
        .disconnect = disconnect,
        .stop_all = stop_all,
        .cancel_call = cancel_call,
        .replay = replay,
        .tools = tools,
        .listen = listen,
        .unlisten = unlisten,
        .caller = proxy_caller_of(h),
        .ctx = h,
    };
}

/* ---- what the hub tells ---- */

static void take_tools(struct desk *d, const char *server)
{
    struct blob *array = d->hub.tools(d->hub.ctx, server);

    view_set_tools(d->view, server, array ? blob_span(array) : SPAN("[]"));
    if (array)
        blob_unref(array);
}

static void on_event(void *ctx, const struct hub_event *e)
{
    struct desk *d = ctx;
    bool changed;

    /* Tools are in no event. A server that comes back with the same ones tells of no change, but
     * the view has dropped them when it left. */
    if (e->kind == EVENT_CATALOG || (e->kind == EVENT_STATE && e->state.to.state == LINK_CONNECTED))
        take_tools(d, e->server);
    changed = view_apply(d->view, e) || e->kind == EVENT_CATALOG;
    if (changed && d->changed)
        d->changed(d->changed_ctx, e);
}

struct desk *desk_new(const struct desk_hub *hub)
{
    struct desk *d = NEW(struct desk);

    d->hub = *hub;
    d->view = view_new();
    d->subscription = hub->listen(hub->ctx, on_event, d);
    hub->replay(hub->ctx, on_event, d);
    return d;
}

struct desk *desk_open(const struct hub_options *opts)
{
    struct hub *own = hub_new(opts);
    struct desk_hub hub = desk_hub_of(own);
    struct desk *d = desk_new(&hub);

    d->own = own;
    return d;
}

static void forget_specs(struct desk *d)
{
    while (d->n_specs)
        spec_unref(d->specs[--d->n_specs]);
    free(TAKE(d->specs));
}

void desk_close(struct desk *d, loop_fn *fn, void *ctx)
{
    struct hub *own = d->own;
    struct pb_loop *loop = d->hub.caller.loop;

    d->hub.unlisten(d->hub.ctx, d->subscription);
    forget_specs(d);
    view_free(d->view);
    free(d);
    if (own)
        hub_close(own, fn, ctx);
    else if (fn)
        loop_defer(loop, fn, ctx);
}

void desk_on_change(struct desk *d, void (*fn)(void *ctx, const struct hub_event *e), void *ctx)
{
    d->changed = fn;
    d->changed_ctx = ctx;
}

struct view *desk_view(struct desk *d) { return d->view; }

/* ---- what the person wants ---- */

void desk_set_specs(struct desk *d, struct spec *const *specs, size_t n)
{
    forget_specs(d);
    d->specs = mem_alloc((n + 1) * sizeof(struct spec *));
    for (size_t i = 0; i < n; i++)
        d->specs[d->n_specs++] = spec_ref(specs[i]);
}

void desk_start_all(struct desk *d, void (*fn)(void *ctx, const struct start_result *r), void *ctx)
{
    for (size_t i = 0; i < d->n_specs; i++)
        view_add_server(d->view, d->specs[i]);
    d->hub.start_all(d->hub.ctx, d->specs, d->n_specs);
    if (fn)
        d->hub.when_settled(d->hub.ctx, fn, ctx);
}

int desk_reconnect(struct desk *d, const char *server, struct pb_error *err)
{
    return d->hub.reconnect(d->hub.ctx, server, err);
}

int desk_cancel_connect(struct desk *d, const char *server, struct pb_error *err)
{
    return d->hub.cancel_connect(d->hub.ctx, server, err);
}

int desk_disconnect(struct desk *d, const char *server, struct pb_error *err)
{
    return d->hub.disconnect(d->hub.ctx, server, err);
}

size_t desk_reconnect_failed(struct desk *d)
{
    const char *const *borrowed;
    size_t n = view_failed(d->view, &borrowed), done = 0;
    AUTO_ARENA struct arena names = { 0 };
    AUTO_FREE const char **failed = mem_alloc((n + 1) * sizeof *failed);

    for (size_t i = 0; i < n; i++) /* events of the first one change the view */
        failed[i] = arena_dup(&names, span_of(borrowed[i]));
    for (size_t i = 0; i < n; i++)
        done += d->hub.reconnect(d->hub.ctx, failed[i], NULL) == 0;
    return done;
}

void desk_stop_all(struct desk *d) { d->hub.stop_all(d->hub.ctx); }

bool desk_cancel_call(struct desk *d, const char *uuid)
{
    return d->hub.cancel_call(d->hub.ctx, uuid);
}

size_t desk_tools(struct desk *d, const struct filter *f, struct proxy ***out)
{
    return proxies_of(d->view, f, &d->hub.caller, out);
}
