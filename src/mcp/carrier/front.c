#include "front.h"
#include "mcp/rpc/rpc.h"

enum { LOOK_MS = 10 };

void front_write_refusal(struct buf *out, struct span path, int status, const char *why)
{
    int code = status == 400 ? RPC_INVALID_REQUEST : RPC_SERVER_ERROR;

    (void)path;
    rpc_write_error(out, SPAN(""), code, span_of(why), SPAN(""));
}

static bool is_loopback(const char *host)
{
    return !host || !strncmp(host, "127.", 4) || !strcmp(host, "::1");
}

static int check(const struct front_options *o, struct pb_error *err)
{
    const char *token = o->guard.token, *host = o->http.host;

    if (token && !token[0])
        return fail(err, PB_E_INVALID, "an empty token protects nothing; leave it out or set one");
    if (!token && o->must_guard && !is_loopback(host))
        return fail(err, PB_E_INVALID,
                    "listening on %s without a token would let everybody who reaches it call every "
                    "tool; %s",
                    host, o->must_guard);
    return 0;
}

static void on_look(void *ctx)
{
    struct front *f = ctx;
    loop_fn *fn;

    if (http_server_connections(f->http) > 0 && loop_now(f->loop) < f->until) {
        timer_start(&f->look, LOOK_MS);
        return;
    }
    fn = TAKE(f->fn);
    fn(f->ctx);
}

int front_open(struct front *f, struct pb_loop *l, const struct front_options *o,
               struct pb_error *err)
{
    struct http_server_options http = o->http;
    struct guard_options guard = o->guard;
    int rc = check(o, err);

    *f = (struct front){ .loop = l };
    if (!http.refusal)
        http.refusal = front_write_refusal;
    if (rc == 0)
        rc = http_server_new(&f->http, l, &http, err);
    if (rc < 0)
        return rc;
    if (!guard.token && !is_loopback(http.host))
        log_warn("listening on %s without a token: everybody who reaches it may call tools",
                 http.host);
    guard.host = http.host;
    guard.port = http_server_port(f->http);
    f->guard = guard_new(&guard);
    carrier_streams_init(&f->streams, l);
    timer_init(&f->look, l, on_look, f);
    return 0;
}

void front_drain(struct front *f) { http_server_drain(f->http); }

void front_flush(struct front *f, loop_fn *fn, void *ctx)
{
    f->fn = fn;
    f->ctx = ctx;
    f->until = loop_now(f->loop) + MCP_FLUSH_MS;
    timer_start(&f->look, 0);
}

static void free_guard(void *p) { guard_free(p); }

/* What ended in this turn may still say whose it was. */
static void on_closed(void *ctx)
{
    struct front *f = ctx;

    loop_free_later(f->loop, TAKE(f->guard), free_guard);
    f->fn(f->ctx);
}

void front_close(struct front *f, loop_fn *fn, void *ctx)
{
    timer_stop(&f->look);
    f->fn = fn;
    f->ctx = ctx;
    carrier_streams_done(&f->streams);
    http_server_close(TAKE(f->http), on_closed, f);
}
