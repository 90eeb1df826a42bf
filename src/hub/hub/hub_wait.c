/* hub_wait.c - the hub for threads. Each function is one errand: a struct on the waiting thread's
 * stack that is read on the loop at once, and an answer that is the waiter's alone. */
#include "hub/catalog/catalog.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"
#include "hub_impl.h"
#include "mcp/client/client.h"
#include "mcp/rpc/rpc.h"
#include <assert.h>
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

/* ---- errands ---- */

struct errand {
    struct hub_thread *t;
    const char *server, *text, *arguments;
    struct spec *spec;
    void (*write)(struct json_out *o, const char *key, const struct hub *h, const char *server);
};

/* What was begun and is answered later: lives on the loop. */
struct pending {
    struct hub_thread *t;
    struct waiter *w;
    bool reads;
};

static struct pending *pending_new(const struct errand *e, struct waiter *w)
{
    struct pending *p = NEW(struct pending);

    p->t = e->t;
    p->w = w;
    return p;
}

static void answer(struct waiter *w, const struct pb_error *err)
{
    waiter_done(w, err, NULL, NULL);
}

static void pending_end(struct pending *p, const struct pb_error *err, char *result)
{
    struct pb_error shut;

    /* Whoever waits learns that all is over, not how each thing ended. */
    if (err && !p->t->hub) {
        fail(&shut, PB_E_CLOSED, "the hub has been shut down");
        err = &shut;
    }
    waiter_done(p->w, err, result, free);
    free(p);
}

/* False: the waiter has been told. */
static bool hub_is_there(const struct errand *e, struct waiter *w)
{
    struct pb_error err;

    if (e->t->hub)
        return true;
    fail(&err, PB_E_CLOSED, "the hub has been shut down");
    answer(w, &err);
    return false;
}

static int run(struct hub_thread *t, waiter_fn *fn, struct errand *e, char **result,
               struct pb_error *err)
{
    void *text = NULL;
    int rc;

    e->t = t;
    rc = loop_wait(t->loop, fn, e, 0, &text, err);
    if (rc == 0 && result)
        *result = text;
    return rc;
}

/* ---- connecting ---- */

static void on_connected(void *ctx, const struct pb_error *err) { pending_end(ctx, err, NULL); }

static void await_connection(const struct errand *e, struct waiter *w, const char *server)
{
    struct pending *p = pending_new(e, w);
    struct pb_error err;

    if (hub_when_connected(e->t->hub, server, on_connected, p, &err) < 0)
        pending_end(p, &err, NULL);
}

static void do_connect(struct waiter *w, void *ctx)
{
    struct errand *e = ctx;
    struct pb_error err;

    if (!hub_is_there(e, w))
        return;
    if (hub_add(e->t->hub, e->spec, &err) < 0 || hub_connect(e->t->hub, e->spec->name, &err) < 0)
        answer(w, &err);
    else
        await_connection(e, w, e->spec->name);
}

int hub_wait_connect(struct hub_thread *t, struct spec *spec, struct pb_error *err)
{
    return run(t, do_connect, &(struct errand){ .spec = spec }, NULL, err);
}

static void do_disconnect(struct waiter *w, void *ctx)
{
    struct errand *e = ctx;
    struct pb_error err;

    if (hub_is_there(e, w))
        answer(w, hub_disconnect(e->t->hub, e->server, &err) < 0 ? &err : NULL);
}

int hub_wait_disconnect(struct hub_thread *t, const char *name, struct pb_error *err)
{
    return run(t, do_disconnect, &(struct errand){ .server = name }, NULL, err);
}

static void do_reconnect(struct waiter *w, void *ctx)
{
    struct errand *e = ctx;
    struct pb_error err;

    if (!hub_is_there(e, w))
        return;
    if (hub_reconnect(e->t->hub, e->server, &err) < 0)
        answer(w, &err);
    else
        await_connection(e, w, e->server);
}

int hub_wait_reconnect(struct hub_thread *t, const char *name, struct pb_error *err)
{
    return run(t, do_reconnect, &(struct errand){ .server = name }, NULL, err);
}

/* ---- asking ---- */

static void on_reply(void *ctx, const struct client_reply *reply)
{
    struct pending *p = ctx;
    struct pb_error none;

    /* Our params are good: what the server finds wrong with them is the URI. */
    if (p->reads && reply->err && reply->err->code == PB_E_REMOTE &&
        (reply->err->sys == RPC_RESOURCE_NOT_FOUND || reply->err->sys == RPC_INVALID_PARAMS)) {
        fault_fail(&none, FAULT_NO_RESOURCE, "%s", reply->err->msg);
        pending_end(p, &none, NULL);
        return;
    }
    pending_end(p, reply->err, reply->err ? NULL : mem_dupn(reply->result.p, reply->result.n));
}

static void do_ping(struct waiter *w, void *ctx)
{
    struct errand *e = ctx;
    struct pending *p;
    struct pb_error err;

    if (!hub_is_there(e, w))
        return;
    p = pending_new(e, w);
    if (hub_ping(e->t->hub, e->server, on_reply, p, &err) < 0)
        pending_end(p, &err, NULL);
}

int hub_wait_ping(struct hub_thread *t, const char *name, struct pb_error *err)
{
    AUTO_FREE char *result = NULL;

    return run(t, do_ping, &(struct errand){ .server = name }, &result, err);
}

static void begin_call(const struct errand *e, struct waiter *w, const struct call_spec *call)
{
    struct pending *p = pending_new(e, w);
    struct call_spec spec = *call;
    struct pb_error err;
    uint64_t id;

    p->reads = !strcmp(call->method, "resources/read");
    spec.reply = on_reply;
    spec.ctx = p;
    if (hub_call(e->t->hub, &spec, &id, &err) < 0)
        pending_end(p, &err, NULL);
}

/* The tool as its server knows it. What a server lists is known when it is connected, or from
 * before; else the server decides. */
static int find_tool(struct hub *h, const char *server, struct span tool, struct span *out,
                     struct pb_error *err)
{
    struct member *m = hub_find_or_fail(h, server, err);
    struct scope scope = { .server = server };
    const struct entry *e;

    if (!m)
        return -PB_E_NOT_FOUND;
    *out = tool;
    if (link_state(m->link) != LINK_CONNECTED && !member_is_listed(m))
        return 0;
    e = catalog_find(h->catalog, &scope, LIST_TOOLS, tool, err);
    if (!e)
        return -PB_E_NOT_FOUND;
    *out = e->name;
    return 0;
}

static void do_call(struct waiter *w, void *ctx)
{
    struct errand *e = ctx;
    const char *slash = strchr(e->text, '/');
    AUTO_FREE char *server = mem_dupn(e->text, (size_t)(slash - e->text));
    AUTO_BUF struct buf params = { 0 };
    struct json_out o = json_out(&params);
    struct pb_error err;
    struct span tool;

    if (!hub_is_there(e, w))
        return;
    if (find_tool(e->t->hub, server, span_of(slash + 1), &tool, &err) < 0) {
        answer(w, &err);
        return;
    }
    json_begin_object(&o, NULL);
    json_put_span(&o, "name", tool);
    json_put_raw(&o, "arguments", e->arguments ? span_of(e->arguments) : SPAN("{}"));
    json_end(&o);
    begin_call(e, w,
               &(struct call_spec){
                   .server = server,
                   .method = "tools/call",
                   .params = buf_span(&params),
                   .subject = tool,
                   .caller = "",
               });
}

int hub_wait_call(struct hub_thread *t, const char *id, const char *arguments, char **result,
                  struct pb_error *err)
{
    AUTO_JSON struct json_doc doc = { 0 };
    static const struct json_opts opts = { .keep_depth = 1, .unique_depth = JSON_ALL };

    if (!strchr(id, '/'))
        return fail(err, PB_E_INVALID, "'%.*s' does not name a tool: it is written \"server/tool\"",
                    MCP_NAME_SHOWN_MAX, id);
    if (arguments) {
        if (json_parse(&doc, span_of(arguments), &opts, err) < 0)
            return fail_in(err, "arguments");
        if (!json_is(json_root(&doc), JSON_OBJECT))
            return fail(err, PB_E_INVALID, "arguments: expected an object, found %s",
                        json_type_phrase(json_root(&doc)));
    }
    return run(t, do_call, &(struct errand){ .text = id, .arguments = arguments }, result, err);
}

static void do_read(struct waiter *w, void *ctx)
{
    struct errand *e = ctx;
    AUTO_BUF struct buf params = { 0 };
    struct json_out o = json_out(&params);

    if (!hub_is_there(e, w))
        return;
    json_begin_object(&o, NULL);
    json_put_str(&o, "uri", e->text);
    json_end(&o);
    begin_call(e, w,
               &(struct call_spec){
                   .server = e->server,
                   .method = "resources/read",
                   .params = buf_span(&params),
                   .subject = span_of(e->text),
                   .caller = "",
               });
}

int hub_wait_read(struct hub_thread *t, const char *server, const char *uri, char **result,
                  struct pb_error *err)
{
    return run(t, do_read, &(struct errand){ .server = server, .text = uri }, result, err);
}

/* ---- looking ---- */

static void do_write(struct waiter *w, void *ctx)
{
    struct errand *e = ctx;
    struct buf text = { 0 };
    struct json_out o = json_out(&text);
    struct pb_error err;

    if (!hub_is_there(e, w))
        return;
    if (e->server && !hub_find_or_fail(e->t->hub, e->server, &err)) {
        answer(w, &err);
        return;
    }
    e->write(&o, NULL, e->t->hub, e->server);
    waiter_done(w, NULL, buf_take(&text), free);
}

static void write_servers(struct json_out *o, const char *key, const struct hub *h,
                          const char *server)
{
    (void)server;
    hub_write_servers(o, key, h);
}

int hub_wait_servers(struct hub_thread *t, char **json, struct pb_error *err)
{
    return run(t, do_write, &(struct errand){ .write = write_servers }, json, err);
}

int hub_wait_tools(struct hub_thread *t, const char *server, char **json, struct pb_error *err)
{
    return run(t, do_write, &(struct errand){ .write = hub_write_tools, .server = server }, json,
               err);
}

int hub_wait_resources(struct hub_thread *t, const char *server, char **json, struct pb_error *err)
{
    return run(t, do_write, &(struct errand){ .write = hub_write_resources, .server = server },
               json, err);
}
