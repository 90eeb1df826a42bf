#include "io/http/http.h"
#include "mcp/rpc/rpc.h"
#include "wire_http.h"

static void on_timer(void *ctx);

struct wire_exchange *exchange_new(struct http_wire *w, enum exchange_kind kind)
{
    struct wire_exchange *x = NEW(struct wire_exchange);

    x->w = w;
    x->kind = kind;
    timer_init(&x->timer, w->wire.loop, on_timer, x);
    list_append(&w->exchanges, &x->link);
    return x;
}

static void exchange_free(void *p)
{
    struct wire_exchange *x = p;

    sse_reader_done(&x->sse);
    buf_done(&x->text);
    buf_done(&x->last_id);
    buf_done(&x->challenge);
    buf_done(&x->detail);
    free(x);
}

void exchange_end(struct wire_exchange *x)
{
    if (x->dead)
        return;
    x->dead = true;
    timer_stop(&x->timer);
    list_remove(&x->link);
    if (x->call)
        http_call_cancel(TAKE(x->call));
    loop_free_later(x->w->wire.loop, x, exchange_free);
}

static void exchange_fail(struct wire_exchange *x, struct wire_fault *fault)
{
    struct wire *w = &x->w->wire;
    uint64_t id = x->id;
    bool tell = id && !x->answered && (x->kind == EX_REQUEST || x->kind == EX_MESSAGE);

    fault->status = x->status;
    if (x->challenge.n)
        fault->challenge = buf_span(&x->challenge);
    exchange_end(x);
    if (tell)
        w->events->failed(w->ctx, id, fault);
}

static void fail_with(struct wire_exchange *x, enum pb_code code, const char *text)
{
    struct wire_fault fault = { 0 };

    fail(&fault.err, code, "%s", text);
    exchange_fail(x, &fault);
}

/* ---- the body ---- */

static void on_event(void *ctx, const struct sse_event *e)
{
    struct wire_exchange *x = ctx;
    struct wire *w = &x->w->wire;
    AUTO(blob) struct blob *bytes = NULL;
    struct wire_fault fault = { .speaks_old_sse = true };

    if (x->dead)
        return;
    x->heard = true;
    x->tries = 0;
    if (e->has_id) {
        x->last_id.n = 0;
        buf_add_span(&x->last_id, e->id);
    }
    if (span_is(e->type, "endpoint") && x->initialize) {
        fail(&fault.err, PB_E_UNSUPPORTED, "the server speaks HTTP+SSE");
        exchange_fail(x, &fault);
        return;
    }
    if (!e->data.n || !span_is(e->type, "message"))
        return;
    bytes = blob_new(e->data);
    w->events->message(w->ctx, bytes, x->id, x->status);
}

static bool is_type(struct span value, const char *type)
{
    size_t n = 0;

    while (n < value.n && value.p[n] != ';')
        n++;
    return span_is_nocase(span_trim(span_make(value.p, n)), type);
}

static void read_session(struct wire_exchange *x)
{
    struct span id = http_call_header(x->call, "Mcp-Session-Id");

    for (size_t i = 0; i < id.n; i++)
        if (id.p[i] < 0x21 || id.p[i] > 0x7e)
            return;
    if (!id.n || id.n > MCP_SESSION_ID_MAX)
        return;
    free(x->w->session);
    x->w->session = mem_dupn(id.p, id.n);
}

static void on_head(void *ctx, int status)
{
    struct wire_exchange *x = ctx;
    struct span type = http_call_header(x->call, "Content-Type");

    x->status = status;
    x->body = BODY_NONE;
    x->detail.n = 0;
    buf_add_span(&x->detail, status < 300 ? type : http_call_header(x->call, "Location"));
    if (status >= 300) {
        x->body = BODY_ERROR;
        if (status == 401 || status == 403)
            buf_add_span(&x->challenge, http_call_header(x->call, "WWW-Authenticate"));
        return;
    }
    if (x->initialize && !x->modern && !x->resuming)
        read_session(x);
    if (x->kind == EX_MESSAGE || x->kind == EX_GOODBYE)
        return;
    if (is_type(type, "text/event-stream")) {
        x->body = BODY_STREAM;
        sse_reader_done(&x->sse);
        sse_reader_init(&x->sse, x->w->wire.loop, &x->call, x->w->wire.opts->max_message_bytes,
                        on_event, x);
        x->heard = false;
        x->began = loop_now(x->w->wire.loop);
    } else if (x->kind == EX_REQUEST && is_type(type, "application/json")) {
        x->body = BODY_JSON;
    }
}

static void keep_text(struct wire_exchange *x, struct span bytes)
{
    size_t limit =
        x->body == BODY_ERROR ? (size_t)HTTP_ERROR_BODY_MAX : x->w->wire.opts->max_message_bytes;
    struct wire_fault fault = { 0 };

    if (bytes.n <= limit && x->text.n <= limit - bytes.n) {
        buf_add_span(&x->text, bytes);
    } else if (x->body == BODY_ERROR) {
        x->text.n = 0; /* too much to be a JSON-RPC error: the status has to do */
        x->body = BODY_NONE;
    } else {
        fail(&fault.err, PB_E_LIMIT, "the answer is larger than the limit of %zu bytes", limit);
        exchange_fail(x, &fault);
    }
}

static size_t on_data(void *ctx, struct span bytes)
{
    struct wire_exchange *x = ctx;
    struct wire_fault fault = { 0 };
    size_t taken = bytes.n;

    if (x->dead)
        return taken;
    if (x->held)
        return 0; /* it stays with the server until http_call_resume() */
    if (x->body == BODY_JSON || x->body == BODY_ERROR) {
        keep_text(x, bytes);
    } else if (x->body == BODY_STREAM && sse_reader_take(&x->sse, bytes, &taken, &fault.err) < 0 &&
               !x->dead) {
        exchange_fail(x, &fault);
        return taken;
    }
    if (!x->dead && x->body == BODY_STREAM && x->sse.parser.retry_ms)
        x->retry_ms = x->sse.parser.retry_ms;
    return taken;
}

/* ---- the end ---- */

/* Hands the body on; the request is over if it held its answer. */
static void deliver_text(struct wire_exchange *x)
{
    struct wire *w = &x->w->wire;
    AUTO(blob) struct blob *bytes = NULL;

    if (!x->text.n)
        return;
    bytes = blob_take_buf(&x->text);
    w->events->message(w->ctx, bytes, x->id, x->status);
}

static void refused(struct wire_exchange *x)
{
    struct wire_fault fault = { 0 };

    if (x->in_session && x->status == 404 && !x->resuming) {
        fail(&fault.err, PB_E_CLOSED, "HTTP 404: the server has ended the session");
        fault.session_lost = x->kind == EX_REQUEST;
    } else {
        wire_http_fault(&fault, x->status, buf_span(&x->detail));
        if (fault.err.code != PB_E_AUTH && x->kind == EX_REQUEST)
            deliver_text(x);
    }
    if (!x->dead && !x->answered)
        exchange_fail(x, &fault);
    else
        exchange_end(x);
}

/* What the server said about it, or a second; longer and longer when it keeps failing. Nobody waits
 * for the server's own stream, so that no server can make us open it over and over. */
static void resume_later(struct wire_exchange *x)
{
    uint64_t wait = x->retry_ms ? x->retry_ms : MCP_RESUME_MS;

    if (x->kind == EX_STREAM && wait < MCP_RESUME_MS)
        wait = MCP_RESUME_MS;
    for (unsigned i = 0; i < x->tries && wait < MCP_RESUME_MAX_MS; i++)
        wait *= 2;
    timer_start(&x->timer, wait);
}

/* The stream is over, and the answer was not on it. */
static void cut_short(struct wire_exchange *x, const struct pb_error *why)
{
    bool can = x->last_id.n > 0 && !x->modern;
    struct wire_fault fault = { 0 };

    if (can && x->tries < MCP_RECONNECTS_MAX) {
        resume_later(x);
        return;
    }
    fail(&fault.err, PB_E_CLOSED, "the server's stream ended before its answer%s%s",
         why ? ": " : "", why ? why->msg : "");
    exchange_fail(x, &fault);
}

static void request_done(struct wire_exchange *x, const struct pb_error *err)
{
    struct wire_fault fault = { 0 };

    if (x->body == BODY_STREAM || (x->resuming && err)) {
        cut_short(x, err);
    } else if (err) {
        fault.err = *err;
        exchange_fail(x, &fault);
    } else if (x->body == BODY_JSON) {
        deliver_text(x);
        if (!x->dead && !x->answered)
            fail_with(x, PB_E_INVALID, "the server's response holds no answer to the request");
        else
            exchange_end(x);
    } else if (x->status >= 300 && x->resuming) {
        if (x->status < 500)
            x->last_id.n = 0; /* it does not resume streams, or not this one */
        cut_short(x, NULL);
    } else if (x->status >= 300) {
        refused(x);
    } else {
        wire_http_fault(&fault, x->status, buf_span(&x->detail));
        exchange_fail(x, &fault);
    }
}

static void message_done(struct wire_exchange *x, const struct pb_error *err)
{
    struct wire *w = &x->w->wire;
    struct wire_fault fault = { 0 };
    uint64_t id = x->id;

    if (err) {
        fault.err = *err;
        exchange_fail(x, &fault);
    } else if (x->status >= 300) {
        refused(x);
    } else {
        exchange_end(x);
        if (id)
            w->events->delivered(w->ctx, id);
    }
}

static void give_up_stream(struct wire_exchange *x)
{
    log_warn("the server's own stream broke %d times, giving it up", MCP_RECONNECTS_MAX);
    exchange_end(x);
}

/* 405 and the like: it has no such stream, which is its right. */
static void stream_done(struct wire_exchange *x, const struct pb_error *err)
{
    bool steady =
        x->body == BODY_STREAM && loop_now(x->w->wire.loop) - x->began >= MCP_STREAM_STEADY_MS;

    if (steady)
        x->tries = 0;
    if ((x->status >= 300 && x->status < 500) ||
        (x->status < 300 && !err && x->body != BODY_STREAM))
        exchange_end(x);
    else if (x->tries < MCP_RECONNECTS_MAX)
        resume_later(x);
    else
        give_up_stream(x);
}

static void on_done(void *ctx, const struct pb_error *err)
{
    struct wire_exchange *x = ctx;
    struct http_wire *w = x->w;

    if (x->dead)
        return;
    x->call = NULL; /* it is freed after this */
    if (x->answered || x->kind == EX_GOODBYE)
        exchange_end(x);
    else if (x->kind == EX_STREAM)
        stream_done(x, err);
    else if (x->kind == EX_MESSAGE)
        message_done(x, err);
    else
        request_done(x, err);
    http_wire_idle(w);
}

/* ---- sending ---- */

static void put_headers(struct wire_exchange *x, struct header_list *h, const struct wire_out *m)
{
    struct http_wire *w = x->w;

    header_list_add_users(h, w->wire.opts->headers);
    if (m) {
        header_list_add(h, "Content-Type: application/json");
        header_list_add(h, "Accept: application/json, text/event-stream");
        header_list_add_all(h, m->headers);
    } else if (x->kind != EX_GOODBYE) {
        header_list_add(h, "Accept: text/event-stream");
    }
    if (w->session && !x->modern) {
        header_list_put(h, "Mcp-Session-Id", w->session);
        x->in_session = true;
    }
    if (w->rev && w->rev->version_header && !x->modern)
        header_list_put(h, "MCP-Protocol-Version", w->rev->date);
    if (!m && x->last_id.n)
        header_list_put(h, "Last-Event-ID", buf_cstr(&x->last_id));
}

int exchange_send(struct wire_exchange *x, const struct wire_out *m, struct pb_error *err)
{
    static const struct http_client_events events = { on_head, on_data, on_done };
    AUTO_HEADERS struct header_list headers = { 0 };
    const struct pb_client_options *o = x->w->wire.opts;
    struct http_client_request req = { .method = "GET", .url = o->url };

    if (m) {
        req.method = "POST";
        req.body = m->text;
        req.has_body = true;
        x->id = m->id;
        x->modern = m->modern;
        /* The probe too, since an old server may answer it as it answers everything. */
        x->initialize = m->method && (strcmp(m->method, "initialize") == 0 ||
                                      strcmp(m->method, "server/discover") == 0);
    }
    if (x->kind == EX_GOODBYE) {
        req.method = "DELETE";
        req.total_ms = MCP_GOODBYE_MS;
    } else if (x->kind == EX_MESSAGE) {
        req.total_ms = o->timeout_ms; /* of requests the client keeps the time */
    }
    put_headers(x, &headers, m);
    req.headers = headers.lines;
    req.connect_ms = o->connect_ms;
    x->status = 0;
    x->body = BODY_NONE;
    return http_client_send(x->w->http, &x->call, &req, &events, x, err);
}

/* ---- resuming ---- */

static void on_timer(void *ctx)
{
    struct wire_exchange *x = ctx;
    struct wire_fault fault = { 0 };

    if (x->answered) {
        exchange_end(x); /* the stream does not end by itself */
        return;
    }
    x->resuming = true;
    x->tries++;
    if (exchange_send(x, NULL, &fault.err) < 0)
        exchange_fail(x, &fault);
}
