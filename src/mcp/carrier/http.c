/* http.c - one HTTP listener of a server: the guard in front of every route, Streamable HTTP
 * at the path that was asked for, HTTP+SSE beside it. */
#include "io/http/http.h"
#include "endpoint.h"
#include "front.h"
#include "mcp/rpc/rpc.h"
#include "mcp/serve/serve.h"
#include "sse.h"

struct http_carrier {
    struct pb_server *server;
    struct front front;
    struct endpoint *endpoint;
    struct sse_carrier *sse;
    char *path, *sse_path, *messages_path;

    unsigned busy; /* parts that still answer */
    loop_fn *drained_fn, *closed_fn;
    void *drained_ctx, *closed_ctx;
};

static void refuse(struct http_request *r, const struct guard_verdict *v)
{
    endpoint_refuse(r, v->status, v->headers, SPAN(""), RPC_SERVER_ERROR, v->why);
}

/* Nobody sends us a body before the guard has seen who it is. */
static bool admit(void *ctx, struct http_request *r, size_t *max_body)
{
    struct http_carrier *h = ctx;
    struct guard_verdict v = guard_check(h->front.guard, r);
    struct span path = http_path(r);

    if (v.status) {
        refuse(r, &v);
        return false;
    }
    if (!endpoint_takes_body(r) || !(span_is(path, h->path) || span_is(path, h->messages_path)))
        *max_body = HTTP_STRAY_BODY_MAX;
    return true;
}

static void handle(void *ctx, struct http_request *r)
{
    struct http_carrier *h = ctx;
    struct guard_verdict v = guard_check(h->front.guard, r);
    struct span path = http_path(r);

    if (v.status)
        refuse(r, &v);
    else if (span_is(path, h->path))
        endpoint_handle(h->endpoint, r, v.principal);
    else if (!h->sse && (span_is(path, h->sse_path) || span_is(path, h->messages_path)))
        endpoint_refuse(r, 503, NULL, SPAN(""), RPC_SERVER_ERROR, "The server is stopping");
    else if (span_is(path, h->sse_path))
        sse_carrier_open(h->sse, r, v.principal);
    else if (span_is(path, h->messages_path))
        sse_carrier_post(h->sse, r, v.principal);
    else
        endpoint_refuse(r, 404, NULL, SPAN(""), RPC_SERVER_ERROR, "Not Found");
}

static void on_flushed(void *ctx)
{
    struct http_carrier *h = ctx;
    loop_fn *fn = TAKE(h->drained_fn);

    if (fn)
        fn(h->drained_ctx);
}

/* A part has answered everything; when all have, what is left are bytes on their way. */
static void on_part_idle(void *ctx)
{
    struct http_carrier *h = ctx;

    if (!h->drained_fn || --h->busy)
        return;
    sse_carrier_free(TAKE(h->sse));
    front_flush(&h->front, on_flushed, h);
}

static void drain(void *carrier, loop_fn *fn, void *ctx)
{
    struct http_carrier *h = carrier;

    h->drained_fn = fn;
    h->drained_ctx = ctx;
    h->busy = 2;
    front_drain(&h->front);
    endpoint_drain(h->endpoint, on_part_idle, h);
    sse_carrier_drain(h->sse, on_part_idle, h);
}

static void free_carrier(void *p)
{
    struct http_carrier *h = p;

    free(h->path);
    free(h->sse_path);
    free(h->messages_path);
    free(h);
}

static void on_closed(void *ctx)
{
    struct http_carrier *h = ctx;

    if (h->closed_fn)
        h->closed_fn(h->closed_ctx);
    loop_free_later(h->front.loop, h, free_carrier);
}

static void close_carrier(void *carrier, loop_fn *fn, void *ctx)
{
    struct http_carrier *h = carrier;

    h->closed_fn = fn;
    h->closed_ctx = ctx;
    h->drained_fn = NULL;
    if (h->sse)
        sse_carrier_free(TAKE(h->sse));
    endpoint_free(TAKE(h->endpoint));
    front_close(&h->front, on_closed, h);
}

static const struct carrier_ops http_carrier_ops = { .drain = drain, .close = close_carrier };

/* "/a/mcp" and "sse" make "/a/sse". */
static char *sibling(const char *path, const char *name)
{
    AUTO_BUF struct buf b = { 0 };

    buf_add(&b, path, (size_t)(strrchr(path, '/') - path) + 1);
    buf_str(&b, name);
    return buf_take(&b);
}

static int check_options(const struct pb_http_options *o, struct pb_error *err)
{
    if (o->path && (o->path[0] != '/' || strpbrk(o->path, "?# ")))
        return fail(err, PB_E_INVALID, "the path '%s' must begin with '/', without a query",
                    o->path);
    return 0;
}

static int listen_on(struct http_carrier *h, const struct pb_http_options *o, struct pb_error *err)
{
    struct front_options front = { .http = { .host = o->host,
                                             .port = o->port,
                                             .max_body = server_max_request(h->server),
                                             .handler = handle,
                                             .admit = admit,
                                             .ctx = h },
                                   .guard = { .token = o->token,
                                              .allowed_hosts = o->allowed_hosts,
                                              .allowed_origins = o->allowed_origins } };

    return front_open(&h->front, server_loop(h->server), &front, err);
}

int pb_server_http(struct pb_server *server, const struct pb_http_options *opts,
                   struct pb_error *err)
{
    struct pb_http_options o = PB_HTTP_OPTIONS_INIT;
    struct http_carrier *h;
    int rc;

    if (opts) /* a program built against an older header has a shorter struct */
        memcpy(&o, opts, opts->size < sizeof o ? opts->size : sizeof o);
    rc = check_options(&o, err);
    if (rc < 0)
        return rc;
    h = NEW(struct http_carrier);
    h->server = server;
    h->path = mem_dup(o.path ? o.path : "/mcp");
    h->sse_path = sibling(h->path, "sse");
    h->messages_path = sibling(h->path, "messages");
    rc = listen_on(h, &o, err);
    if (rc < 0) {
        free_carrier(h);
        return rc;
    }
    h->endpoint =
        endpoint_new(server, &h->front.streams, guard_principal(h->front.guard), o.json_only);
    h->sse = sse_carrier_new(server, &h->front.streams, h->messages_path);
    server_add_carrier(server, &http_carrier_ops, h);
    server_set_port(server, http_server_port(h->front.http));
    return 0;
}

int pb_server_port(const struct pb_server *server) { return server_port(server); }
