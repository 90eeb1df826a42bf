/* http.c - one HTTP listener of a server: the guard in front of every route, Streamable HTTP
 * at the path that was asked for, HTTP+SSE beside it. */
#include "io/http/http.h"
#include "endpoint.h"
#include "guard.h"
#include "mcp/rpc/rpc.h"
#include "mcp/serve/serve.h"
#include "sse.h"

enum { FLUSH_LOOK_MS = 10 }; /* how often a drain looks whether the last connection is closed */

struct http_carrier {
    struct pb_server *server;
    struct pb_loop *loop;
    struct http_server *http;
    struct guard *guard;
    struct carrier_streams streams;
    struct endpoint *endpoint;
    struct sse_carrier *sse;
    char *path, *sse_path, *messages_path;

    unsigned busy; /* parts that still answer */
    uint64_t flush_until;
    struct timer flush;
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
    struct guard_verdict v = guard_check(h->guard, r);
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
    struct guard_verdict v = guard_check(h->guard, r);
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

static void finish_drain(struct http_carrier *h)
{
    loop_fn *fn = TAKE(h->drained_fn);

    if (fn)
        fn(h->drained_ctx);
}

static void look_at_connections(void *ctx)
{
    struct http_carrier *h = ctx;

    if (http_server_connections(h->http) == 0 || loop_now(h->loop) >= h->flush_until)
        finish_drain(h);
    else
        timer_start(&h->flush, FLUSH_LOOK_MS);
}

/* A part has answered everything; when all have, what is left are bytes on their way. */
static void on_part_idle(void *ctx)
{
    struct http_carrier *h = ctx;

    if (!h->drained_fn || --h->busy)
        return;
    sse_carrier_free(TAKE(h->sse));
    h->flush_until = loop_now(h->loop) + MCP_FLUSH_MS;
    timer_start(&h->flush, 0);
}

static void drain(void *carrier, loop_fn *fn, void *ctx)
{
    struct http_carrier *h = carrier;

    h->drained_fn = fn;
    h->drained_ctx = ctx;
    h->busy = 2;
    http_server_drain(h->http);
    endpoint_drain(h->endpoint, on_part_idle, h);
    sse_carrier_drain(h->sse, on_part_idle, h);
}

static void free_carrier(void *p)
{
    struct http_carrier *h = p;

    guard_free(h->guard);
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
    loop_free_later(h->loop, h, free_carrier);
}

static void close_carrier(void *carrier, loop_fn *fn, void *ctx)
{
    struct http_carrier *h = carrier;

    h->closed_fn = fn;
    h->closed_ctx = ctx;
    h->drained_fn = NULL;
    timer_stop(&h->flush);
    if (h->sse)
        sse_carrier_free(TAKE(h->sse));
    endpoint_free(TAKE(h->endpoint));
    carrier_streams_done(&h->streams);
    http_server_close(TAKE(h->http), on_closed, h);
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
    if (o->token && !o->token[0])
        return fail(err, PB_E_INVALID, "an empty token protects nothing; leave it out or set one");
    return 0;
}

static bool is_loopback(const char *host)
{
    return !host || !strncmp(host, "127.", 4) || !strcmp(host, "::1");
}

/* What the HTTP server refuses by itself: bad heads, bodies over the limit, too many connections.
 */
static void write_refusal(struct buf *out, struct span path, int status, const char *why)
{
    int code = status == 400 ? RPC_INVALID_REQUEST : RPC_SERVER_ERROR;

    (void)path;
    rpc_write_error(out, SPAN(""), code, span_of(why), SPAN(""));
}

static int listen_on(struct http_carrier *h, const struct pb_http_options *o, struct pb_error *err)
{
    struct http_server_options http = { .host = o->host,
                                        .port = o->port,
                                        .max_body = server_max_request(h->server),
                                        .handler = handle,
                                        .admit = admit,
                                        .refusal = write_refusal,
                                        .ctx = h };
    struct guard_options guard = { .host = o->host,
                                   .token = o->token,
                                   .allowed_hosts = o->allowed_hosts,
                                   .allowed_origins = o->allowed_origins };

    if (http_server_new(&h->http, h->loop, &http, err) < 0)
        return -PB_E_SYSTEM;
    guard.port = http_server_port(h->http);
    h->guard = guard_new(&guard);
    if (!o->token && !is_loopback(o->host))
        log_warn("listening on %s without a token: everybody who reaches it may call tools",
                 o->host);
    return 0;
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
    h->loop = server_loop(server);
    h->path = mem_dup(o.path ? o.path : "/mcp");
    h->sse_path = sibling(h->path, "sse");
    h->messages_path = sibling(h->path, "messages");
    timer_init(&h->flush, h->loop, look_at_connections, h);
    rc = listen_on(h, &o, err);
    if (rc < 0) {
        free_carrier(h);
        return rc;
    }
    carrier_streams_init(&h->streams, h->loop);
    h->endpoint = endpoint_new(server, &h->streams, guard_principal(h->guard), o.json_only);
    h->sse = sse_carrier_new(server, &h->streams, h->messages_path);
    server_add_carrier(server, &http_carrier_ops, h);
    server_set_port(server, http_server_port(h->http));
    return 0;
}

int pb_server_port(const struct pb_server *server) { return server_port(server); }
