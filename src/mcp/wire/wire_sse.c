/* wire_sse.c - HTTP+SSE of the first revision: one GET whose stream brings everything, and POSTs to
 * the address that the stream names first. The address must be of the same origin: the POSTs carry
 * the user's headers. */
#include "io/http/http.h"
#include "mcp/rpc/rpc.h"
#include "wire.h"

struct sse_wire {
    struct wire wire;
    struct http_client *http;
    struct http_call *stream;
    struct sse_reader sse;
    char *endpoint; /* NULL until told */
    const struct revision *rev;
    struct list posts;
    int status;
    bool streams; /* the response is an event stream */
    bool over, closing;
    bool held; /* the stream is not read for now */
    struct buf challenge;
    loop_fn *closed;
    void *closed_ctx;
};

struct post {
    struct list link;
    struct sse_wire *w;
    struct http_call *call;
    uint64_t id;
    bool request;
    int status;
    struct buf challenge;
};

static struct sse_wire *of(struct wire *w) { return CONTAINER_OF(w, struct sse_wire, wire); }

static void end_stream(struct sse_wire *w)
{
    if (w->stream)
        http_call_cancel(TAKE(w->stream));
}

static void lost(struct sse_wire *w, struct wire_fault *fault)
{
    if (w->over || w->closing)
        return;
    w->over = true;
    end_stream(w);
    fault->status = w->status;
    if (w->challenge.n)
        fault->challenge = buf_span(&w->challenge);
    w->wire.events->closed(w->wire.ctx, fault);
}

/* ---- the stream ---- */

static void on_endpoint(struct sse_wire *w, struct span ref)
{
    AUTO_BUF struct buf url = { 0 };
    struct span base = span_of(w->wire.opts->url);
    struct wire_fault fault = { 0 };

    if (w->endpoint)
        return; /* the first one counts */
    if (url_resolve(&url, base, ref, &fault.err) < 0) {
        lost(w, &fault);
        return;
    }
    if (!url_same_origin(base, buf_span(&url))) {
        fail(&fault.err, PB_E_INVALID, "the server names an endpoint of another origin");
        lost(w, &fault);
        return;
    }
    w->endpoint = buf_take(&url);
    w->wire.ready = true;
    w->wire.events->opened(w->wire.ctx);
}

static void on_event(void *ctx, const struct sse_event *e)
{
    struct sse_wire *w = ctx;
    AUTO(blob) struct blob *bytes = NULL;

    if (w->over || w->closing)
        return;
    if (span_is(e->type, "endpoint")) {
        on_endpoint(w, e->data);
    } else if (span_is(e->type, "message") && e->data.n && w->endpoint) {
        bytes = blob_new(e->data);
        w->wire.events->message(w->wire.ctx, bytes, 0, 0);
    }
}

static void on_head(void *ctx, int status)
{
    struct sse_wire *w = ctx;
    struct span type = http_call_header(w->stream, "Content-Type");

    w->status = status;
    w->streams =
        status == 200 && type.n >= 17 && span_is_nocase(span_make(type.p, 17), "text/event-stream");
    if (status == 401 || status == 403)
        buf_add_span(&w->challenge, http_call_header(w->stream, "WWW-Authenticate"));
}

static size_t on_data(void *ctx, struct span bytes)
{
    struct sse_wire *w = ctx;
    struct wire_fault fault = { 0 };
    size_t taken = bytes.n;

    if (w->held)
        return 0; /* until http_call_resume() */
    if (w->streams && !w->over && !w->closing &&
        sse_reader_take(&w->sse, bytes, &taken, &fault.err) < 0)
        lost(w, &fault);
    return taken;
}

static void on_done(void *ctx, const struct pb_error *err)
{
    struct sse_wire *w = ctx;
    struct wire_fault fault = { 0 };

    w->stream = NULL;
    if (err)
        fault.err = *err;
    else if (w->streams)
        fail(&fault.err, PB_E_CLOSED, "the server has ended its stream");
    else
        wire_http_fault(&fault, w->status, SPAN(""));
    lost(w, &fault);
}

/* ---- posting ---- */

static void post_free(struct post *p)
{
    list_remove(&p->link);
    if (p->call)
        http_call_cancel(p->call);
    buf_done(&p->challenge);
    free(p);
}

static void on_post_head(void *ctx, int status)
{
    struct post *p = ctx;

    p->status = status;
    if (status == 401 || status == 403)
        buf_add_span(&p->challenge, http_call_header(p->call, "WWW-Authenticate"));
}

static void on_post_done(void *ctx, const struct pb_error *err)
{
    struct post *p = ctx;
    struct wire *w = &p->w->wire;
    AUTO_BUF struct buf challenge = p->challenge;
    struct wire_fault fault = { .challenge = buf_span(&challenge) };
    uint64_t id = p->id;
    bool request = p->request, good = !err && p->status / 100 == 2;

    if (err)
        fault.err = *err;
    else if (!good)
        wire_http_fault(&fault, p->status, SPAN(""));
    p->call = NULL;
    p->challenge = (struct buf){ 0 };
    post_free(p);
    if (!id)
        return;
    if (!good)
        w->events->failed(w->ctx, id, &fault);
    else if (!request)
        w->events->delivered(w->ctx, id);
}

static void put_headers(struct sse_wire *w, struct header_list *h, bool post)
{
    header_list_add_users(h, w->wire.opts->headers);
    header_list_add(h, post ? "Content-Type: application/json" : "Accept: text/event-stream");
    if (w->rev && w->rev->version_header)
        header_list_put(h, "MCP-Protocol-Version", w->rev->date);
}

static int sse_send(struct wire *wire, const struct wire_out *m, struct pb_error *err)
{
    static const struct http_client_events events = { on_post_head, NULL, on_post_done };
    struct sse_wire *w = of(wire);
    AUTO_HEADERS struct header_list headers = { 0 };
    struct http_client_request req = {
        .method = "POST",
        .url = w->endpoint,
        .body = m->text,
        .has_body = true,
        .connect_ms = wire->opts->connect_ms,
        .total_ms = wire->opts->timeout_ms,
    };
    struct post *p;
    int rc;

    if (w->over || !w->endpoint)
        return fail(err, PB_E_CLOSED, "the server's stream is not open");
    p = NEW(struct post);
    p->w = w;
    p->id = m->id;
    p->request = m->request;
    list_append(&w->posts, &p->link);
    put_headers(w, &headers, true);
    req.headers = headers.lines;
    rc = http_client_send(w->http, &p->call, &req, &events, p, err);
    if (rc < 0) {
        p->call = NULL;
        post_free(p);
    }
    return rc;
}

/* The answer comes on the other stream: the POST only has to have arrived. */
static void sse_agreed(struct wire *wire, const struct revision *rev) { of(wire)->rev = rev; }

static void sse_hold(struct wire *wire, bool on)
{
    struct sse_wire *w = of(wire);

    if (w->held == on || !w->stream)
        return;
    w->held = on;
    if (!on)
        http_call_resume(w->stream);
}

/* ---- life ---- */

static void on_closed(void *ctx)
{
    struct sse_wire *w = ctx;
    loop_fn *fn = w->closed;
    void *fn_ctx = w->closed_ctx;

    sse_reader_done(&w->sse);
    buf_done(&w->challenge);
    free(w->endpoint);
    free(w);
    if (fn)
        fn(fn_ctx);
}

static void sse_close(struct wire *wire, loop_fn *fn, void *ctx)
{
    struct sse_wire *w = of(wire);
    struct list *pos, *safe;

    w->closed = fn;
    w->closed_ctx = ctx;
    w->closing = true;
    end_stream(w);
    LIST_FOREACH(pos, safe, &w->posts)
        post_free(CONTAINER_OF(pos, struct post, link));
    http_client_close(w->http, on_closed, w);
}

static const struct wire_ops sse_ops = {
    .kind = WIRE_SSE,
    .acks = true,
    .send = sse_send,
    .agreed = sse_agreed,
    .hold = sse_hold,
    .close = sse_close,
};

int wire_sse_open(struct wire **out, struct pb_loop *l, const struct pb_client_options *opts,
                  const struct wire_events *events, void *ctx, struct pb_error *err)
{
    static const struct http_client_events stream_events = { on_head, on_data, on_done };
    AUTO_HEADERS struct header_list headers = { 0 };
    struct sse_wire *w = NEW(struct sse_wire);
    struct http_client_request req = { .method = "GET",
                                       .url = opts->url,
                                       .connect_ms = opts->connect_ms };
    int rc;

    w->wire = (struct wire){ &sse_ops, events, ctx, l, opts, false };
    w->http = http_client_new(l);
    list_init(&w->posts);
    sse_reader_init(&w->sse, l, &w->stream, opts->max_message_bytes, on_event, w);
    put_headers(w, &headers, false);
    req.headers = headers.lines;
    rc = http_client_send(w->http, &w->stream, &req, &stream_events, w, err);
    if (rc < 0) {
        sse_close(&w->wire, NULL, NULL);
        return rc;
    }
    *out = &w->wire;
    return 0;
}
