#include "client_public.h"
#include <assert.h>

enum { CLOSE_WAIT_MS = 1000 }; /* for a loop that somebody else should be running */

static void client_dispose(struct pb_client *client)
{
    free(client->protocol);
    free(client->server);
    free(client->challenge);
    free(client->challenge_before);
    free(client);
}

static void shut_gate(struct pb_client *client)
{
    struct client_gate *g = TAKE(client->gate);

    pthread_mutex_lock(&g->lock);
    g->loop = NULL;
    pthread_mutex_unlock(&g->lock);
    client_gate_unref(g);
}

/* ---- events of the core ---- */

static void on_notification(void *ctx, struct span method, struct span params)
{
    struct pb_client *client = ctx;
    AUTO_FREE char *method_text = mem_dupn(method.p, method.n);
    AUTO_FREE char *params_text = params.n ? mem_dupn(params.p, params.n) : mem_dup("{}");

    client->on_notification(client->ctx, method_text, params_text);
}

static void on_stderr_line(void *ctx, struct span line)
{
    struct pb_client *client = ctx;
    AUTO_FREE char *text = mem_dupn(line.p, line.n);

    client->on_stderr(client->ctx, PB_LOG_INFO, text);
}

static void on_closed(void *ctx, const struct pb_error *why)
{
    struct pb_client *client = ctx;

    client->on_closed(client->ctx, why);
}

static void keep_facts(struct pb_client *client)
{
    struct client *c = client->core;
    struct buf b = { 0 };
    struct json_out o = json_out(&b);

    client->protocol = mem_dup(client_revision(c)->date);
    json_begin_object(&o, NULL);
    json_put_raw(&o, "serverInfo", client_server_info(c));
    json_put_raw(&o, "capabilities", client_capabilities(c));
    json_put_raw(&o, "instructions", client_instructions(c));
    json_put_str(&o, "protocolVersion", client->protocol);
    json_end(&o);
    client->server = buf_take(&b);
}

/* A client that nobody got, or got an error instead of. On the loop. */
static void discard(void *p)
{
    struct pb_client *client = p;
    struct client *core = TAKE(client->core);

    client->gate->client = NULL;
    client_public_forget_questions(client);
    client_close(core, NULL, NULL);
    shut_gate(client);
    client_dispose(client);
}

void client_public_refused(struct pb_client *client, const struct pb_error *err)
{
    const char *now;

    if (err->code != PB_E_AUTH)
        return;
    now = client_challenge(client->core);
    pthread_mutex_lock(&client->gate->lock);
    if (now && (!client->challenge || strcmp(now, client->challenge) != 0)) {
        free(client->challenge_before);
        client->challenge_before = client->challenge;
        client->challenge = mem_dup(now);
    }
    pthread_mutex_unlock(&client->gate->lock);
    if (client->on_challenge)
        client->on_challenge(client->ctx, err->sys, now);
}

static void on_opened(void *ctx, const struct pb_error *err)
{
    struct pb_client *client = ctx;
    struct waiter *waiter = TAKE(client->waiter);
    pb_opened_fn *opened = TAKE(client->opened);

    if (err)
        client_public_refused(client, err);
    else
        keep_facts(client);
    if (waiter)
        waiter_done(waiter, err, err ? NULL : client, discard);
    else
        opened(client->opened_ctx, err ? NULL : client, err);
    if (err)
        discard(client);
}

/* ---- opening ---- */

static struct pb_client *client_new(const struct pb_client_options *o, struct pb_loop *l)
{
    struct pb_client *client = NEW(struct pb_client);

    client->loop = l;
    client->gate = client_gate_new(l, client);
    list_init(&client->questions);
    client->on_question = o->on_question;
    client->on_notification = o->on_notification;
    client->on_closed = o->on_closed;
    client->on_stderr = o->on_stderr;
    client->on_challenge = o->on_challenge;
    client->ctx = o->ctx;
    return client;
}

static int open_core(struct pb_client *client, const struct pb_client_options *o,
                     struct pb_error *err)
{
    const struct client_events events = {
        .opened = on_opened,
        .question = client->on_question ? client_public_question : NULL,
        .notification = client->on_notification ? on_notification : NULL,
        .stderr_line = client->on_stderr ? on_stderr_line : NULL,
        .closed = client->on_closed ? on_closed : NULL,
    };

    return client_open(&client->core, client->loop, o, &events, client, err);
}

struct opening_job {
    struct pb_client *client;
    const struct pb_client_options *opts;
    bool begun;
};

static void begin_open(struct waiter *w, void *ctx)
{
    struct opening_job *job = ctx;
    struct pb_client *client = job->client;
    struct pb_error err;

    job->begun = true;
    client->waiter = w;
    if (open_core(client, job->opts, &err) == 0)
        return;
    waiter_done(w, &err, NULL, NULL);
    client->gate->client = NULL;
    shut_gate(client);
    client_dispose(client);
}

static int check_options(const struct pb_client_options *o, struct pb_error *err)
{
    if (!o || !o->size)
        return fail(err, PB_E_INVALID, "the options must begin as PB_CLIENT_OPTIONS_INIT");
    return 0;
}

/* Options of an older header are shorter: what they lack is zero. */
static struct pb_client_options whole_options(const struct pb_client_options *given)
{
    struct pb_client_options o = { 0 };

    memcpy(&o, given, given->size < sizeof o ? given->size : sizeof o);
    o.size = sizeof o;
    return o;
}

static int open_own(struct pb_client **out, const struct pb_client_options *o, struct pb_error *err)
{
    struct pb_loop *l = loop_new(NULL);
    struct pb_client *client = client_new(o, l);
    struct opening_job job = { .client = client, .opts = o };
    int rc = loop_start(l, err);

    if (rc < 0) {
        shut_gate(client);
        client_dispose(client);
    } else {
        client->own_loop = true;
        rc = loop_wait(l, begin_open, &job, 0, (void **)out, err);
    }
    if (rc < 0)
        loop_free(l);
    return rc;
}

int pb_client_open(struct pb_client **out, const struct pb_client_options *opts,
                   struct pb_error *err)
{
    struct pb_client_options o;
    struct opening_job job = { .opts = &o };
    struct pb_loop *l;
    uint64_t limit;
    int rc = check_options(opts, err);

    if (rc < 0)
        return rc;
    o = whole_options(opts);
    l = o.server ? pb_server_loop(o.server) : o.loop;
    if (!l)
        return open_own(out, &o, err);
    if (loop_on_thread(l))
        return fail(err, PB_E_INVALID,
                    "pb_client_open() waits: on the loop's thread use pb_client_start()");
    job.client = client_new(&o, l);
    limit = (uint64_t)(o.connect_ms ? o.connect_ms : MCP_CONNECT_MS) + CLOSE_WAIT_MS;
    rc = loop_wait(l, begin_open, &job, limit, (void **)out, err);
    if (rc < 0 && !job.begun) { /* nobody runs that loop */
        shut_gate(job.client);
        client_dispose(job.client);
    }
    return rc;
}

int pb_client_start(const struct pb_client_options *opts, pb_opened_fn *fn, void *ctx,
                    struct pb_error *err)
{
    struct pb_client_options o;
    struct pb_client *client;
    struct pb_loop *l;
    int rc = check_options(opts, err);

    if (rc < 0)
        return rc;
    o = whole_options(opts);
    l = o.server ? pb_server_loop(o.server) : o.loop;
    if (!l)
        return fail(err, PB_E_INVALID, "pb_client_start() needs a loop, or a server that has one");
    client = client_new(&o, l);
    client->opened = fn;
    client->opened_ctx = ctx;
    rc = open_core(client, &o, err);
    if (rc < 0) {
        shut_gate(client);
        client_dispose(client);
    }
    return rc;
}

/* ---- freeing ---- */

/* On the loop: no callback of the user's runs after this. */
static void begin_close(struct pb_client *client, loop_fn *fn, void *ctx)
{
    struct client *core = TAKE(client->core);

    client->gate->client = NULL;
    client_public_forget_questions(client);
    client_close(core, fn, ctx);
}

static void closed_now(void *ctx) { waiter_done(ctx, NULL, NULL, NULL); }

static void close_and_wait(struct waiter *w, void *ctx) { begin_close(ctx, closed_now, w); }

static void *free_own_loop(void *ctx)
{
    struct pb_client *client = ctx;

    loop_free(client->loop);
    client_dispose(client);
    return NULL;
}

/* From a callback, on the client's own thread: somebody else has to wait for that thread. */
static void free_from_inside(struct pb_client *client)
{
    pthread_t thread;

    begin_close(client, NULL, NULL);
    shut_gate(client);
    if (pthread_create(&thread, NULL, free_own_loop, client) == 0)
        pthread_detach(thread);
}

static void dispose_later(void *ctx)
{
    shut_gate(ctx);
    client_dispose(ctx);
}

static void close_here(void *ctx) { begin_close(ctx, dispose_later, ctx); }

static void close_in_background(struct waiter *w, void *ctx)
{
    close_here(ctx);
    waiter_done(w, NULL, NULL, NULL);
}

static void free_on_foreign_loop(struct pb_client *client)
{
    struct pb_loop *l = client->loop;
    struct pb_error err;

    if (loop_on_thread(l)) {
        close_here(client);
        return;
    }
    /* Waits until it has begun, so that callbacks are over when we return. */
    if (loop_wait(l, close_in_background, client, CLOSE_WAIT_MS, NULL, &err) ==
            -(int)PB_E_TIMEOUT &&
        loop_post(l, close_here, client, &err) < 0)
        log_warn("a client was not closed: %s", err.msg);
}

void pb_client_free(struct pb_client *client)
{
    if (!client)
        return;
    if (!client->own_loop) {
        free_on_foreign_loop(client);
    } else if (loop_on_thread(client->loop)) {
        free_from_inside(client);
    } else {
        if (loop_wait(client->loop, close_and_wait, client, 0, NULL, NULL) < 0)
            log_warn("a client's loop ended before its client");
        shut_gate(client);
        free_own_loop(client);
    }
}

/* ---- facts ---- */

const char *pb_client_protocol(const struct pb_client *client) { return client->protocol; }

const char *pb_client_server(const struct pb_client *client) { return client->server; }

const char *pb_client_challenge(const struct pb_client *client)
{
    const char *challenge;

    pthread_mutex_lock(&client->gate->lock);
    challenge = client->challenge;
    pthread_mutex_unlock(&client->gate->lock);
    return challenge;
}
