#include "client_public.h"

/* One request of the public API while it is on its way. */
struct op {
    struct pb_client *client;
    struct waiter *waiter; /* somebody waits ... */
    pb_result_fn *fn;      /* ... or is called back */
    void *ctx;
    pb_progress_fn *on_progress;
    void *progress_ctx;
};

/* What a thread wants the loop to begin; on its stack while it waits. */
struct wish {
    struct pb_client *client;
    const char *method;
    struct span params;
    struct pb_request_options opts;
    const char *text; /* the list, or the URI */
    pb_result_fn *fn; /* pb_client_send() */
    void *ctx;
    uint64_t id;
    int (*begin)(struct wish *wish, struct op *op, struct pb_error *err);
};

static void on_progress(void *ctx, struct span params)
{
    struct op *op = ctx;
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena arena = { 0 };
    double progress = 0, total = 0;

    if (!op->on_progress ||
        json_parse(&doc, params, &(struct json_opts){ .keep_depth = 1 }, NULL) < 0)
        return;
    if (json_double(json_get(json_root(&doc), "progress"), &progress, NULL) < 0)
        return;
    if (json_double(json_get(json_root(&doc), "total"), &total, NULL) < 0)
        total = 0;
    op->on_progress(op->progress_ctx, progress, total,
                    json_cstr(json_get(json_root(&doc), "message"), &arena));
}

static void free_result(void *p) { pb_result_free(p); }

static void on_reply(void *ctx, const struct client_reply *reply)
{
    AUTO_FREE struct op *op = ctx;
    struct pb_result *result = NULL;

    if (reply->err && op->client->core)
        client_public_refused(op->client, reply->err);
    if (!reply->err)
        result = result_new(reply->result);
    if (op->waiter) {
        waiter_done(op->waiter, reply->err, result, free_result);
        return;
    }
    op->fn(op->ctx, result, reply->err);
    pb_result_free(result);
}

static struct op *op_new(const struct wish *wish, struct waiter *waiter)
{
    struct op *op = NEW(struct op);

    op->client = wish->client;
    op->waiter = waiter;
    op->fn = wish->fn;
    op->ctx = wish->ctx;
    op->on_progress = wish->opts.on_progress;
    op->progress_ctx = wish->opts.ctx;
    return op;
}

/* On the loop. */
static int begin_wish(struct wish *wish, struct waiter *waiter, struct pb_error *err)
{
    struct op *op = op_new(wish, waiter);
    int rc = wish->client->core ? wish->begin(wish, op, err)
                                : fail(err, PB_E_CLOSED, "the client was freed");

    if (rc < 0)
        free(op);
    return rc;
}

static void grant(struct waiter *w, void *ctx)
{
    struct pb_error err;

    if (begin_wish(ctx, w, &err) < 0)
        waiter_done(w, &err, NULL, NULL);
}

/* Waits for the answer; out may be NULL. */
static int wish_and_wait(struct wish *wish, struct pb_result **out, struct pb_error *err)
{
    void *result = NULL;
    int rc = loop_wait(wish->client->loop, grant, wish, 0, &result, err);

    if (rc < 0)
        return rc;
    if (out)
        *out = result;
    else
        pb_result_free(result);
    return 0;
}

/* ---- requests ---- */

/* Those of a program that was compiled with an older header end earlier. Without a size they are
 * those of the first. */
static struct pb_request_options whole_options(const struct pb_request_options *given)
{
    struct pb_request_options o = { 0 };
    size_t first = offsetof(struct pb_request_options, on_sent);

    if (given && given->size)
        memcpy(&o, given, given->size < sizeof o ? given->size : sizeof o);
    else if (given)
        memcpy(&o, given, first);
    return o;
}

static int begin_request(struct wish *wish, struct op *op, struct pb_error *err)
{
    const struct pb_request_options *o = &wish->opts;
    struct client_request_spec spec = {
        .method = wish->method,
        .params = wish->params,
        .reply = on_reply,
        .ctx = op,
        .timeout_ms = o->timeout_ms,
        .wants_progress = o->on_progress != NULL,
        .progress = on_progress,
        .wants_log = o->wants_log,
        .log_level = o->log_level,
    };
    int rc = client_request(wish->client->core, &spec, &wish->id, err);

    if (rc == 0 && o->on_sent)
        o->on_sent(o->ctx, wish->id);
    return rc;
}

int pb_client_request(struct pb_client *client, const char *method, const char *params,
                      const struct pb_request_options *opts, struct pb_result **out,
                      struct pb_error *err)
{
    struct wish wish = {
        .client = client,
        .method = method,
        .params = span_of(params),
        .opts = whole_options(opts),
        .begin = begin_request,
    };

    return wish_and_wait(&wish, out, err);
}

/* {"<key>":"<name>","arguments":<arguments>} */
static void name_params(struct buf *out, const char *key, const char *name, const char *arguments)
{
    struct json_out o = json_out(out);

    json_begin_object(&o, NULL);
    json_put_str(&o, key, name);
    if (arguments)
        json_put_raw(&o, "arguments", span_of(arguments));
    json_end(&o);
}

int pb_client_call(struct pb_client *client, const char *tool, const char *arguments,
                   const struct pb_request_options *opts, struct pb_result **out,
                   struct pb_error *err)
{
    AUTO_BUF struct buf params = { 0 };

    name_params(&params, "name", tool, arguments ? arguments : "{}");
    return pb_client_request(client, "tools/call", buf_cstr(&params), opts, out, err);
}

int pb_client_read(struct pb_client *client, const char *uri, struct pb_result **out,
                   struct pb_error *err)
{
    AUTO_BUF struct buf params = { 0 };

    name_params(&params, "uri", uri, NULL);
    return pb_client_request(client, "resources/read", buf_cstr(&params), NULL, out, err);
}

int pb_client_prompt(struct pb_client *client, const char *name, const char *arguments,
                     struct pb_result **out, struct pb_error *err)
{
    AUTO_BUF struct buf params = { 0 };

    name_params(&params, "name", name, arguments);
    return pb_client_request(client, "prompts/get", buf_cstr(&params), NULL, out, err);
}

static int begin_list(struct wish *wish, struct op *op, struct pb_error *err)
{
    return client_list(wish->client->core, wish->text, 0, on_reply, op, err);
}

int pb_client_list(struct pb_client *client, const char *what, struct pb_result **out,
                   struct pb_error *err)
{
    struct wish wish = { .client = client, .text = what, .begin = begin_list };

    return wish_and_wait(&wish, out, err);
}

static int begin_ping(struct wish *wish, struct op *op, struct pb_error *err)
{
    return client_ping(wish->client->core, 0, on_reply, op, err);
}

int pb_client_ping(struct pb_client *client, struct pb_error *err)
{
    struct wish wish = { .client = client, .begin = begin_ping };

    return wish_and_wait(&wish, NULL, err);
}

static int begin_subscribe(struct wish *wish, struct op *op, struct pb_error *err)
{
    return client_subscribe(wish->client->core, span_of(wish->text), on_reply, op, err);
}

int pb_client_subscribe(struct pb_client *client, const char *uri, struct pb_error *err)
{
    struct wish wish = { .client = client, .text = uri, .begin = begin_subscribe };

    return wish_and_wait(&wish, NULL, err);
}

static int begin_unsubscribe(struct wish *wish, struct op *op, struct pb_error *err)
{
    return client_unsubscribe(wish->client->core, span_of(wish->text), on_reply, op, err);
}

int pb_client_unsubscribe(struct pb_client *client, const char *uri, struct pb_error *err)
{
    struct wish wish = { .client = client, .text = uri, .begin = begin_unsubscribe };

    return wish_and_wait(&wish, NULL, err);
}

/* ---- without waiting for an answer ---- */

static void grant_send(struct waiter *w, void *ctx)
{
    struct pb_error err;
    int rc = begin_wish(ctx, NULL, &err);

    waiter_done(w, rc < 0 ? &err : NULL, NULL, NULL);
}

int pb_client_send(struct pb_client *client, const char *method, const char *params,
                   const struct pb_request_options *opts, pb_result_fn *fn, void *ctx,
                   uint64_t *out_id, struct pb_error *err)
{
    struct wish wish = {
        .client = client,
        .method = method,
        .params = span_of(params),
        .opts = whole_options(opts),
        .fn = fn,
        .ctx = ctx,
        .begin = begin_request,
    };
    int rc;

    if (!fn)
        return fail(err, PB_E_INVALID, "pb_client_send() needs a function to call");
    if (loop_on_thread(client->loop))
        rc = begin_wish(&wish, NULL, err);
    else
        rc = loop_wait(client->loop, grant_send, &wish, 0, NULL, err);
    if (rc == 0 && out_id)
        *out_id = wish.id;
    return rc;
}

static int notify(struct wish *wish, struct pb_error *err)
{
    if (!wish->client->core)
        return fail(err, PB_E_CLOSED, "the client was freed");
    return client_notify(wish->client->core, wish->method, wish->params, err);
}

static void grant_notify(struct waiter *w, void *ctx)
{
    struct pb_error err;
    int rc = notify(ctx, &err);

    waiter_done(w, rc < 0 ? &err : NULL, NULL, NULL);
}

int pb_client_notify(struct pb_client *client, const char *method, const char *params,
                     struct pb_error *err)
{
    struct wish wish = { .client = client, .method = method, .params = span_of(params) };

    if (loop_on_thread(client->loop))
        return notify(&wish, err);
    return loop_wait(client->loop, grant_notify, &wish, 0, NULL, err);
}

struct cancellation {
    struct client_gate *gate;
    uint64_t id;
};

static void cancel_now(void *ctx)
{
    AUTO_FREE struct cancellation *x = ctx;
    struct pb_client *client = x->gate->client;

    if (client && client->core)
        client_cancel(client->core, x->id, "cancelled by the caller");
    client_gate_unref(x->gate);
}

void pb_client_cancel(struct pb_client *client, uint64_t id)
{
    struct cancellation *x = NEW(struct cancellation);

    x->gate = client->gate;
    x->id = id;
    client_gate_ref(x->gate);
    if (client_gate_post(x->gate, cancel_now, x))
        return;
    client_gate_unref(x->gate);
    free(x);
}
