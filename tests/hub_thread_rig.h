/* hub_thread_rig.h - a hub on a thread of its own, asked by threads that wait. */
#pragma once
/* No test uses all of it. */
#pragma GCC diagnostic ignored "-Wunused-function"
#include "base/base.h"
#include "hub/catalog/catalog.h"
#include "hub/hub/hub.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"
#include "io/io.h"
#include "mcp/client/client.h"
#include "tap.h"
#include "json/json.h"

/* What a thread wants of the hub, on that thread's stack. */
struct hub_wish {
    struct hub_thread *t;
    struct spec *spec;
    const char *server, *tool, *arguments;
    void (*write)(struct json_out *o, const char *key, const struct hub *h, const char *server);
};

static inline struct hub_thread *hub_begin(void)
{
    struct hub_options o = HUB_OPTIONS_INIT;
    struct hub_thread *t;
    struct pb_error err;

    o.retry_initial = false;
    if (hub_thread_start(&t, &o, &err) < 0)
        TAP_FAIL("%s", err.msg);
    return t;
}

static inline void wish_connected(void *ctx, const struct pb_error *err)
{
    waiter_done(ctx, err, NULL, NULL);
}

static inline void wish_connect(struct waiter *w, void *ctx)
{
    const struct hub_wish *x = ctx;
    struct hub *h = hub_thread_hub(x->t);
    struct pb_error err;

    if (hub_add(h, x->spec, &err) < 0 || hub_connect(h, x->spec->name, &err) < 0 ||
        hub_when_connected(h, x->spec->name, wish_connected, w, &err) < 0)
        waiter_done(w, &err, NULL, NULL);
}

/* Adds, connects and waits for the outcome. */
static inline int hub_wait_connect(struct hub_thread *t, struct spec *spec, struct pb_error *err)
{
    return loop_wait(hub_thread_loop(t), wish_connect, &(struct hub_wish){ t, spec }, 0, NULL, err);
}

static inline void wish_disconnect(struct waiter *w, void *ctx)
{
    const struct hub_wish *x = ctx;
    struct pb_error err;

    waiter_done(w, hub_disconnect(hub_thread_hub(x->t), x->server, &err) < 0 ? &err : NULL, NULL,
                NULL);
}

static inline int hub_wait_disconnect(struct hub_thread *t, const char *name, struct pb_error *err)
{
    return loop_wait(hub_thread_loop(t), wish_disconnect,
                     &(struct hub_wish){ .t = t, .server = name }, 0, NULL, err);
}

static inline void wish_answered(void *ctx, const struct client_reply *reply)
{
    waiter_done(ctx, reply->err, reply->err ? NULL : mem_dupn(reply->result.p, reply->result.n),
                free);
}

static inline void wish_call(struct waiter *w, void *ctx)
{
    const struct hub_wish *x = ctx;
    AUTO_BUF struct buf params = { 0 };
    struct json_out o = json_out(&params);
    struct call_spec spec = { .server = x->server,
                              .method = "tools/call",
                              .subject = span_of(x->tool),
                              .caller = "",
                              .reply = wish_answered,
                              .ctx = w };
    struct pb_error err;
    uint64_t id;

    json_begin_object(&o, NULL);
    json_put_str(&o, "name", x->tool);
    json_put_raw(&o, "arguments", span_of(x->arguments));
    json_end(&o);
    spec.params = buf_span(&params);
    if (hub_call(hub_thread_hub(x->t), &spec, &id, &err) < 0)
        waiter_done(w, &err, NULL, NULL);
}

/* *result is the result's JSON, owned by the caller. */
static inline int hub_wait_call(struct hub_thread *t, const char *server, const char *tool,
                                const char *arguments, char **result, struct pb_error *err)
{
    struct hub_wish x = { .t = t, .server = server, .tool = tool, .arguments = arguments };
    void *text = NULL;
    int rc = loop_wait(hub_thread_loop(t), wish_call, &x, 0, &text, err);

    *result = text;
    return rc;
}

static inline void wish_write(struct waiter *w, void *ctx)
{
    const struct hub_wish *x = ctx;
    struct buf text = { 0 };
    struct json_out o = json_out(&text);

    if (x->write)
        x->write(&o, NULL, hub_thread_hub(x->t), x->server);
    else
        hub_write_servers(&o, NULL, hub_thread_hub(x->t));
    waiter_done(w, NULL, buf_take(&text), free);
}

static inline char *hub_wait_text(struct hub_wish x)
{
    void *text = NULL;

    CHECK_INT(loop_wait(hub_thread_loop(x.t), wish_write, &x, 0, &text, NULL), 0);
    return text;
}

/* Owned by the caller. */
static inline char *hub_wait_servers(struct hub_thread *t)
{
    return hub_wait_text((struct hub_wish){ .t = t });
}

static inline char *hub_wait_tools(struct hub_thread *t, const char *server)
{
    return hub_wait_text((struct hub_wish){ .t = t, .server = server, .write = hub_write_tools });
}
