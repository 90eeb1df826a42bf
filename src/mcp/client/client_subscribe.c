/* client_subscribe.c - which resources are watched, in both eras: by request in the legacy one, by
 * the listen stream in the modern one. */
#include "client_impl.h"

static void forget(struct client *c, struct span uri)
{
    struct subscription *s = map_del(&c->listen.uris, uri);

    if (!s)
        return;
    free(s->waiting);
    free(s);
}

static int write_uri(struct buf *out, struct span uri, struct pb_error *err)
{
    struct json_out o = json_out(out);

    if (!uri.n || uri.n > MCP_URI_BYTES_MAX || !utf8_valid(uri))
        return fail(err, PB_E_INVALID, "this is no URI to subscribe to");
    json_begin_object(&o, NULL);
    json_put_span(&o, "uri", uri);
    json_end(&o);
    return 0;
}

/* A legacy answer, and which URI it was about. */
struct asked {
    struct client *c;
    char *uri;
    bool on;
    client_reply_fn *fn;
    void *ctx;
};

static void on_legacy_answer(void *ctx, const struct client_reply *reply)
{
    AUTO_FREE struct asked *a = ctx;
    AUTO_FREE char *uri = a->uri;

    if (a->on && !reply->err && !map_get(&a->c->listen.uris, span_of(uri)))
        map_put(&a->c->listen.uris, span_of(uri), NEW(struct subscription));
    else if (!a->on)
        forget(a->c, span_of(uri));
    if (a->fn)
        a->fn(a->ctx, reply);
}

static int ask_legacy(struct client *c, bool on, struct span uri, client_reply_fn *fn, void *ctx,
                      struct pb_error *err)
{
    AUTO_BUF struct buf params = { 0 };
    struct client_request_spec spec = {
        .method = on ? "resources/subscribe" : "resources/unsubscribe",
        .reply = on_legacy_answer,
    };
    struct asked *a;
    int rc = write_uri(&params, uri, err);

    if (rc < 0)
        return rc;
    if (on && c->listen.uris.n >= MCP_SUBSCRIPTIONS_MAX && !map_get(&c->listen.uris, uri))
        return fail(err, PB_E_LIMIT, "%d resources are watched already", MCP_SUBSCRIPTIONS_MAX);
    a = NEW(struct asked);
    *a = (struct asked){ c, mem_dupn(uri.p, uri.n), on, fn, ctx };
    spec.params = buf_span(&params);
    spec.ctx = a;
    rc = client_request(c, &spec, NULL, err);
    if (rc < 0) {
        free(a->uri);
        free(a);
    }
    return rc;
}

static int check_ready(const struct client *c, struct pb_error *err)
{
    if (c->closing || !client_in(c, CL_READY))
        return fail(err, PB_E_CLOSED, "there is no connection to subscribe on");
    return 0;
}

int client_subscribe(struct client *c, struct span uri, client_reply_fn *fn, void *ctx,
                     struct pb_error *err)
{
    struct client_request_spec spec = { .method = "resources/subscribe", .reply = fn, .ctx = ctx };
    AUTO_BUF struct buf unused = { 0 };
    struct subscription *s;

    if (!client_modern(c))
        return ask_legacy(c, true, uri, fn, ctx, err);
    if (check_ready(c, err) < 0)
        return -(int)PB_E_CLOSED;
    if (write_uri(&unused, uri, err) < 0)
        return -(int)PB_E_INVALID;
    s = map_get(&c->listen.uris, uri);
    if (!s && c->listen.uris.n >= MCP_SUBSCRIPTIONS_MAX)
        return fail(err, PB_E_LIMIT, "%d resources are watched already", MCP_SUBSCRIPTIONS_MAX);
    if (!s) {
        s = NEW(struct subscription);
        map_put(&c->listen.uris, uri, s);
    }
    s->waiting = mem_resize(s->waiting, (s->n_waiting + 1) * sizeof *s->waiting);
    s->waiting[s->n_waiting++] = client_call_silent(c, &spec);
    s->sent = false;
    c->listen.off = false;
    client_listen_open(c);
    return 0;
}

/* Ends at the end of the turn: an unsubscription, and subscriptions that it made moot. */
struct ending {
    struct client *c;
    uint64_t call;
    struct subscription *moot; /* NULL: none */
};

static void end_silent(void *ctx)
{
    AUTO_FREE struct ending *e = ctx;
    AUTO_FREE struct subscription *moot = e->moot;
    struct client *c = e->c;
    struct client_call *call;
    struct pb_error err;

    if (moot) {
        fail(&err, PB_E_CANCELLED, "the resource is not watched any more");
        client_listen_tell(c, moot, &err);
    }
    call = client_call_find(c, e->call);
    if (call)
        client_call_finish(call, &(struct client_reply){ .result = SPAN("{}") });
    client_unref(c);
}

int client_unsubscribe(struct client *c, struct span uri, client_reply_fn *fn, void *ctx,
                       struct pb_error *err)
{
    struct client_request_spec spec = { .method = "resources/unsubscribe",
                                        .reply = fn,
                                        .ctx = ctx };
    struct ending *e;

    if (!client_modern(c))
        return ask_legacy(c, false, uri, fn, ctx, err);
    if (check_ready(c, err) < 0)
        return -(int)PB_E_CLOSED;
    e = NEW(struct ending);
    *e = (struct ending){ c, client_call_silent(c, &spec), map_del(&c->listen.uris, uri) };
    if (e->moot)
        client_listen_open(c);
    client_ref(c);
    loop_defer(c->loop, end_silent, e);
    return 0;
}

void client_watch_task(struct client *c, struct span id, bool on)
{
    bool watched = map_get(&c->listen.tasks, id) != NULL;

    if (watched == on || !client_modern(c) || check_ready(c, NULL) < 0)
        return;
    if (on && c->listen.tasks.n >= MCP_SUBSCRIPTIONS_MAX) {
        log_debug("%d tasks are watched already; one more is not", MCP_SUBSCRIPTIONS_MAX);
        return;
    }
    if (on)
        map_put(&c->listen.tasks, id, c);
    else
        map_del(&c->listen.tasks, id);
    c->listen.off = c->listen.off && !on;
    client_listen_open(c);
}

static void subscribe_anew(struct client *c)
{
    struct map_slot *slot;
    struct pb_error err;

    MAP_FOREACH(slot, &c->listen.uris)
        if (ask_legacy(c, true, span_make(slot->key, slot->key_n), NULL, NULL, &err) < 0)
            log_warn("a subscription could not be renewed: %s", err.msg);
}

void client_subscribe_again(struct client *c)
{
    if (client_modern(c))
        client_listen_open(c);
    else
        subscribe_anew(c);
}
