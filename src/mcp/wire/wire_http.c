/* wire_http.c - Streamable HTTP, both eras: every message is a POST; answers come as JSON or as a
 * stream of their own. Sessions, the server's own stream and resumption are the legacy era's. */
#include "wire_http.h"
#include "io/http/http.h"
#include "mcp/rpc/rpc.h"

static struct http_wire *of(struct wire *w) { return CONTAINER_OF(w, struct http_wire, wire); }

/* Whole or not at all: what is cut could be half of a secret, which nobody would recognise. */
static struct span shown(struct span detail)
{
    return detail.n <= MCP_HTTP_DETAIL_MAX ? detail : SPAN("");
}

void wire_http_fault(struct wire_fault *out, int status, struct span detail)
{
    const char *text = http_status_text(status);

    detail = shown(detail);

    out->status = status;
    if (status == 401 || status == 403) {
        fail(&out->err, PB_E_AUTH, "HTTP %d: the server wants authorization", status);
        out->err.sys = status;
    } else if (status / 100 == 3) {
        fail(&out->err, PB_E_INVALID,
             "HTTP %d: the server redirects to %.*s, which is not followed", status,
             SPAN_ARG(detail.n ? detail : SPAN("elsewhere")));
    } else if (status / 100 == 2) {
        fail(&out->err, PB_E_INVALID, "HTTP %d%s%.*s is no answer to a request", status,
             detail.n ? " with " : "", SPAN_ARG(detail));
    } else {
        fail(&out->err, status >= 500 ? PB_E_CLOSED : PB_E_INVALID, "HTTP %d%s%s", status,
             text ? " " : "", text ? text : "");
    }
    text_make_printable(out->err.msg);
}

static struct wire_exchange *find(struct http_wire *w, uint64_t id)
{
    struct list *pos, *safe;

    LIST_FOREACH(pos, safe, &w->exchanges) {
        struct wire_exchange *x = CONTAINER_OF(pos, struct wire_exchange, link);

        if (x->id == id)
            return x;
    }
    return NULL;
}

static int http_send(struct wire *wire, const struct wire_out *m, struct pb_error *err)
{
    struct http_wire *w = of(wire);
    struct wire_exchange *x = exchange_new(w, m->request ? EX_REQUEST : EX_MESSAGE);
    int rc = exchange_send(x, m, err);

    if (rc < 0)
        exchange_end(x);
    return rc;
}

static void http_hold_answer(struct wire *wire, uint64_t id, bool on)
{
    struct wire_exchange *x = find(of(wire), id);

    if (!x || x->held == on)
        return;
    x->held = on;
    if (!on && x->call)
        http_call_resume(x->call);
}

/* A stream that has given its answer is about to end; cutting it off would cost the connection. */
static void http_drop(struct wire *wire, uint64_t id, enum wire_drop why)
{
    struct wire_exchange *x = find(of(wire), id);

    if (!x)
        return;
    if (why == WIRE_ABANDONED || !x->call) {
        exchange_end(x);
        return;
    }
    http_hold_answer(wire, id, false);
    x->answered = true;
    timer_start(&x->timer, MCP_STREAM_LINGER_MS);
}

static void http_agreed(struct wire *wire, const struct revision *rev)
{
    of(wire)->rev = rev->era == ERA_LEGACY ? rev : NULL;
}

static void http_listen(struct wire *wire)
{
    struct wire_exchange *x = exchange_new(of(wire), EX_STREAM);
    struct pb_error err;

    if (exchange_send(x, NULL, &err) < 0) {
        log_debug("the server's own stream was not opened: %s", err.msg);
        exchange_end(x);
    }
}

static void end_streams(struct http_wire *w)
{
    struct list *pos, *safe;

    LIST_FOREACH(pos, safe, &w->exchanges) {
        struct wire_exchange *x = CONTAINER_OF(pos, struct wire_exchange, link);

        if (x->kind == EX_STREAM)
            exchange_end(x);
    }
}

static void http_reset(struct wire *wire)
{
    struct http_wire *w = of(wire);

    end_streams(w);
    free(TAKE(w->session));
    w->rev = NULL;
}

/* ---- the end ---- */

static void on_closed(void *ctx)
{
    struct http_wire *w = ctx;
    loop_fn *fn = w->closed;
    void *fn_ctx = w->closed_ctx;

    free(w->session);
    free(w);
    if (fn)
        fn(fn_ctx);
}

void http_wire_idle(struct http_wire *w)
{
    if (w->closing && w->http && list_empty(&w->exchanges))
        http_client_close(TAKE(w->http), on_closed, w);
}

static void http_close(struct wire *wire, loop_fn *fn, void *ctx)
{
    struct http_wire *w = of(wire);
    struct wire_exchange *goodbye;

    w->closed = fn;
    w->closed_ctx = ctx;
    while (!list_empty(&w->exchanges))
        exchange_end(CONTAINER_OF(w->exchanges.next, struct wire_exchange, link));
    if (w->session) {
        goodbye = exchange_new(w, EX_GOODBYE);
        if (exchange_send(goodbye, NULL, NULL) < 0)
            exchange_end(goodbye);
    }
    w->closing = true;
    http_wire_idle(w);
}

static const struct wire_ops http_ops = {
    .kind = WIRE_HTTP,
    .acks = true,
    .send = http_send,
    .drop = http_drop,
    .agreed = http_agreed,
    .listen = http_listen,
    .hold_answer = http_hold_answer,
    .reset = http_reset,
    .close = http_close,
};

int wire_http_open(struct wire **out, struct pb_loop *l, const struct pb_client_options *opts,
                   const struct wire_events *events, void *ctx, struct pb_error *err)
{
    struct http_wire *w = NEW(struct http_wire);

    (void)err;
    w->wire = (struct wire){ &http_ops, events, ctx, l, opts, true };
    w->http = http_client_new(l);
    list_init(&w->exchanges);
    *out = &w->wire;
    return 0;
}
