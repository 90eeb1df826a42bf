#include "listen.h"
#include "mcp/rpc/rpc.h"
#include "peer_impl.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

/* Of the specification's error table; what is not in it travels as 200. */
static const struct {
    int code, http_status;
} modern_statuses[] = {
    { RPC_PARSE_ERROR, 400 },     { RPC_INVALID_REQUEST, 400 },    { RPC_METHOD_NOT_FOUND, 404 },
    { RPC_HEADER_MISMATCH, 400 }, { RPC_MISSING_CAPABILITY, 400 }, { RPC_UNSUPPORTED_VERSION, 400 },
};

static void on_deadline(void *ctx) { request_cancel(ctx, CANCEL_TIMEOUT); }

struct request *request_new(struct peer *p, struct message *take_message, void *exchange)
{
    struct pb_server *s = p->server;
    struct request *r = spare_take(sizeof *r);

    *r = (struct request){ 0 };
    r->peer = p;
    r->server = s;
    r->message = take_message;
    r->exchange = exchange;
    r->http_status = 200;
    if (take_message) {
        r->id = take_message->rpc.id;
        r->method = take_message->rpc.method;
        if (json_is(take_message->rpc.params, JSON_OBJECT))
            r->params = take_message->rpc.params;
    }
    list_init(&r->questions);
    list_init(&r->in_bucket);
    timer_init(&r->deadline, s->loop, on_deadline, r);
    list_append(&p->requests, &r->in_peer);
    if (p->buckets)
        list_append(&p->buckets[(uintptr_t)exchange / 16 % PEER_BUCKETS], &r->in_bucket);
    p->in_flight++;
    s->in_flight++;
    return r;
}

static void request_free(void *ctx)
{
    struct request *r = ctx;

    message_free(r->message);
    spare_give(r, sizeof *r);
}

void request_uncount(struct request *r)
{
    r->listens = true;
    r->peer->in_flight--;
    r->server->in_flight--;
}

static void finish(struct request *r)
{
    struct peer *p = r->peer;

    r->over = true;
    timer_stop(&r->deadline);
    ids_remove(r);
    list_remove(&r->in_peer);
    list_remove(&r->in_bucket);
    if (r->listens) {
        listen_forget(r);
    } else {
        p->in_flight--;
        r->server->in_flight--;
    }
    p->ops->finished(p->transport, r);
    loop_free_later(r->server->loop, r, request_free);
}

/* Questions end first: after the answer its stream may be closed, and what tells of their end is
 * written to the same place. */
struct buf *request_begin_answer(struct request *r)
{
    struct buf *out = &r->server->out;

    questions_drop(r);
    out->n = 0;
    return out;
}

void request_respond(struct request *r, const struct span *parts, size_t n)
{
    r->answered = true;
    r->peer->ops->send(r->peer->transport, r, SEND_RESPONSE, parts, n);
    finish(r);
}

static int status_of(const struct request *r, int code)
{
    if (r->env.era != ERA_MODERN)
        return r->http_status;
    for (size_t i = 0; i < ARRAY_LEN(modern_statuses); i++)
        if (modern_statuses[i].code == code)
            return modern_statuses[i].http_status;
    return 200;
}

/* JSON-RPC wants null where the id could not be read. On stdio we say "" instead unless told
 * otherwise: clients that type ids as strings choke on null, and both are equally unmatchable. */
static struct span error_id(const struct request *r)
{
    bool http = r->peer->kind == PEER_SESSION || r->peer->kind == PEER_STATELESS;

    if (r->id.n || http || r->server->opts.parse_error_id_null)
        return r->id;
    return SPAN("\"\"");
}

static void PRINTF(4, 0)
    fail_text(struct request *r, int code, struct span data, const char *fmt, va_list ap)
{
    struct buf *out = request_begin_answer(r);
    char text[MCP_ERROR_TEXT_MAX];
    struct span whole;

    vsnprintf(text, sizeof text, fmt, ap);
    rpc_write_error(out, error_id(r), code, span_of(text), data);
    whole = buf_span(out);
    request_respond(r, &whole, 1);
}

void request_fail(struct request *r, int code, struct span data, const char *fmt, ...)
{
    va_list ap;

    if (r->over)
        return;
    r->http_status = status_of(r, code);
    va_start(ap, fmt);
    fail_text(r, code, data, fmt, ap);
    va_end(ap);
}

void request_refuse(struct request *r, int http_status, int code, struct span data, const char *fmt,
                    ...)
{
    va_list ap;

    if (r->over)
        return;
    r->http_status = http_status;
    va_start(ap, fmt);
    fail_text(r, code, data, fmt, ap);
    va_end(ap);
}

void request_cancel(struct request *r, enum cancel_reason why)
{
    if (r->over)
        return;
    if (why == CANCEL_TIMEOUT && r->expire)
        r->expire(r);
    r->cancelled = true;
    if (!r->over) {
        if (why == CANCEL_TIMEOUT) {
            request_fail(r, RPC_INTERNAL_ERROR, SPAN(""), "Request timed out after %g s",
                         (double)r->deadline_ms / 1000);
        } else if (why != CANCEL_SHUTDOWN) {
            questions_drop(r);
            finish(r);
        } else if (r->listens) {
            listen_end(r);
        } else {
            request_fail(r, RPC_INTERNAL_ERROR, SPAN(""), "Request cancelled");
        }
    }
    if (r->cancel)
        r->cancel(r, why);
}

void request_set_deadline(struct request *r, uint64_t ms)
{
    if (r->over)
        return;
    r->deadline_ms = ms;
    if (ms)
        timer_start(&r->deadline, ms);
    else
        timer_stop(&r->deadline);
}

/* Does the client hear of something of this level, as part of `about` or (NULL) besides? */
static bool hears(const struct peer *p, const struct request *about, enum pb_log_level level)
{
    const struct envelope *env = about ? &about->env : &p->session;
    bool legacy = env->era == ERA_LEGACY; /* a session may have changed its level since */

    return env->wants_log && level >= (legacy ? p->log_level : env->log_level);
}

/* What may be left out; whoever hears warnings is told how much that was. */
static enum send_kind chatter_for(const struct peer *p, const struct request *about)
{
    return hears(p, about, PB_LOG_WARNING) ? SEND_CHATTER : SEND_MURMUR;
}

static enum send_kind kind_of(const struct peer *p, const struct request *about, const char *method)
{
    if (strcmp(method, "notifications/progress") != 0 &&
        strcmp(method, "notifications/message") != 0)
        return SEND_NOTIFICATION;
    return chatter_for(p, about);
}

static void send_note(struct peer *p, struct request *about, enum send_kind kind,
                      const char *method, struct span params)
{
    struct buf *out = &p->server->out;
    struct span parts[3];

    out->n = 0;
    buf_str(out, "{\"jsonrpc\":\"2.0\",\"method\":\"");
    buf_str(out, method);
    buf_str(out, params.n ? "\",\"params\":" : "\"");
    parts[0] = buf_span(out);
    parts[1] = params;
    parts[2] = SPAN("}");
    p->ops->send(p->transport, about, kind, parts, ARRAY_LEN(parts));
}

void peer_notify(struct peer *p, struct request *about, const char *method, struct span params)
{
    send_note(p, about, kind_of(p, about, method), method, params);
}

void request_notify(struct request *r, const char *method, struct span params)
{
    if (!r->over)
        peer_notify(r->peer, r, method, params);
}

void request_mention(struct request *r, const char *method, struct span params)
{
    if (!r->over)
        send_note(r->peer, r, chatter_for(r->peer, r), method, params);
}

void request_close_stream(struct request *r, uint64_t retry_ms)
{
    const struct peer_ops *ops = r->peer->ops;

    if (!r->over && ops->poll_later && r->env.era == ERA_LEGACY && r->env.revision->priming)
        ops->poll_later(r->peer->transport, r, retry_ms);
}

void request_progress(struct request *r, double progress, double total, const char *message)
{
    AUTO_BUF struct buf params = { 0 };
    struct json_out o = json_out(&params);

    if (r->over || !r->env.progress_token.n || !isfinite(progress) || !isfinite(total))
        return;
    if (r->progressed && progress <= r->progress)
        return;
    r->progressed = true;
    r->progress = progress;
    json_begin_object(&o, NULL);
    json_put_raw(&o, "progressToken", r->env.progress_token);
    json_put_double(&o, "progress", progress);
    if (total != 0)
        json_put_double(&o, "total", total);
    if (span_cmp(span_of(r->env.revision->date), SPAN(MCP_OLDEST_LEGACY)) > 0)
        json_put_str_opt(&o, "message", message); /* not in the first revision */
    json_end(&o);
    request_notify(r, "notifications/progress", buf_span(&params));
}

/* As part of `about`, or (NULL) besides. */
static void tell_log(struct peer *p, struct request *about, enum pb_log_level level,
                     const char *logger, struct span data)
{
    AUTO_BUF struct buf params = { 0 };
    struct json_out o = json_out(&params);
    const char *name = log_level_name(level);

    if (!name || !hears(p, about, level))
        return;
    json_begin_object(&o, NULL);
    json_put_str(&o, "level", name);
    json_put_str_opt(&o, "logger", logger);
    json_put_raw(&o, "data", data.n ? data : SPAN("null"));
    json_end(&o);
    peer_notify(p, about, "notifications/message", buf_span(&params));
}

void request_log(struct request *r, enum pb_log_level level, const char *logger, struct span data)
{
    if (!r->over)
        tell_log(r->peer, r, level, logger, data);
}

void peer_log(struct peer *p, enum pb_log_level level, const char *logger, struct span data)
{
    if (peer_session(p) && !p->closed)
        tell_log(p, NULL, level, logger, data);
}
