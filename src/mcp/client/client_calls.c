#include "client_impl.h"
#include "mcp/rpc/rpc.h"
#include "mcp/wire/wire.h"
#include <inttypes.h>

/* clang-format off */
#define TO(s) SM_BIT(CALL_##s)
static const struct sm_state states[CALL_COUNT] = {
    [CALL_NEW]        = { "new",        TO(SENT) | TO(WAITING) | TO(SILENT),                              NULL },
    [CALL_SENT]       = { "sent",       TO(SENT) | TO(WAITING) | TO(ASKING) | TO(PAUSING) | TO(REFRESHING), NULL },
    [CALL_WAITING]    = { "waiting",    TO(SENT),                                                         NULL },
    [CALL_ASKING]     = { "asking",     TO(SENT),                                                         NULL },
    [CALL_PAUSING]    = { "pausing",    TO(SENT),                                                         NULL },
    [CALL_REFRESHING] = { "refreshing", TO(SENT),                                                         NULL },
    [CALL_SILENT]     = { "silent",     0,                                                                NULL },
};
#undef TO
/* clang-format on */

void client_call_move(struct client_call *call, enum call_state next)
{
    sm_move(&call->sm, call, next);
}

struct client_call *client_call_find(struct client *c, uint64_t id)
{
    return table_get(&c->by_id, id);
}

struct client_call *client_call_on_wire(struct client *c, uint64_t wire_id)
{
    return table_get(&c->on_wire, wire_id);
}

void client_call_unwire(struct client_call *call, enum wire_drop why)
{
    struct client *c = call->c;
    uint64_t id = call->wire_id;

    if (!id)
        return;
    call->wire_id = 0;
    table_del(&c->on_wire, id);
    if (c->wire && c->wire->ops->drop)
        c->wire->ops->drop(c->wire, id, why);
}

/* ---- holding ---- */

bool client_is_held(const struct client *c)
{
    return c->n_held && c->n_held == c->by_id.n - c->n_endless;
}

/* After each change of what it looks at. */
static void steer(struct client *c)
{
    if (c->wire && c->wire->ops->hold)
        c->wire->ops->hold(c->wire, client_is_held(c));
}

static void hold_answer(const struct client_call *call)
{
    struct wire *w = call->c->wire;

    if (w && w->ops->hold_answer && call->wire_id)
        w->ops->hold_answer(w, call->wire_id, call->held);
}

void client_hold(struct client *c, uint64_t id, bool on)
{
    struct client_call *call = client_call_find(c, id);

    if (!call || call->held == on)
        return;
    call->held = on;
    c->n_held += on ? 1 : (size_t)-1;
    hold_answer(call);
    steer(c);
}

static void call_free(struct client_call *call)
{
    timer_stop(&call->timer);
    client_rounds_free(call);
    if (call->params)
        blob_unref(call->params);
    if (call->refused)
        blob_unref(call->refused);
    spare_give(call, call->size);
}

void client_call_finish(struct client_call *call, const struct client_reply *reply)
{
    struct client *c = call->c;
    client_reply_fn *fn = call->spec.reply;
    void *ctx = call->spec.ctx;

    client_call_unwire(call, WIRE_ABANDONED);
    client_questions_forget(c, call);
    table_del(&c->by_id, call->id);
    list_remove(&call->at);
    c->n_held -= call->held;
    c->n_endless -= call->endless;
    steer(c);
    call_free(call);
    if (fn)
        fn(ctx, reply);
}

void client_call_fail(struct client_call *call, const struct pb_error *err, int http_status)
{
    struct pb_error copy = *err; /* it may lie in what the reply frees */
    struct client_reply reply = { .err = &copy, .http_status = http_status };

    client_call_finish(call, &reply);
}

void client_calls_fail_all(struct client *c, const struct pb_error *err)
{
    /* A reply may add or end others, so that each step looks anew. New ones are refused by now. */
    while (!list_empty(&c->calls))
        client_call_fail(CONTAINER_OF(c->calls.next, struct client_call, at), err, 0);
}

/* ---- time ---- */

static uint64_t spent(const struct client_call *call)
{
    return loop_now(call->c->loop) - call->started;
}

/* Up to the timeout from now, but not past what all extensions together may give. */
static uint64_t time_left(const struct client_call *call)
{
    uint64_t total = call->timeout_ms > MCP_CALL_TOTAL_MS ? call->timeout_ms : MCP_CALL_TOTAL_MS;
    uint64_t left = spent(call) < total ? total - spent(call) : 0;

    return left < call->timeout_ms ? left : call->timeout_ms;
}

/* Its time begins, or begins anew. */
static void start_clock(struct client_call *call)
{
    if (call->timeout_ms != CLIENT_NO_LIMIT && !call->endless)
        timer_start(&call->timer, time_left(call));
}

void client_call_extend(struct client_call *call)
{
    if (client_call_is(call, CALL_SENT))
        start_clock(call);
}

/* Over modern HTTP the closed stream is the cancellation; the handshake has none. */
static void tell_cancelled(struct client_call *call, const char *reason)
{
    struct client *c = call->c;
    AUTO_BUF struct buf b = { 0 };
    struct json_out o = json_out(&b);
    struct pb_error err;

    if (!call->wire_id || call->shaking || (client_modern(c) && client_over_http(c)))
        return;
    json_begin_object(&o, NULL);
    json_put_uint(&o, "requestId", call->wire_id);
    json_put_str_opt(&o, "reason", reason);
    json_end(&o);
    if (client_notify(c, "notifications/cancelled", buf_span(&b), &err) < 0)
        log_debug("cancelling %s: %s, ignoring", call->method, err.msg);
}

static void timed_out(struct client_call *call)
{
    struct pb_error err;

    fail(&err, PB_E_TIMEOUT, "%s: no answer within %" PRIu64 " ms", call->method,
         client_call_is(call, CALL_ASKING) ? (uint64_t)MCP_ASK_MS : spent(call));
    tell_cancelled(call, "timed out");
    client_call_fail(call, &err, 0);
}

static void sent_too_long(struct client_call *call)
{
    if (client_questions_open_for(call->c, call->id) && time_left(call) > 0)
        timer_start(&call->timer, time_left(call)); /* a person is thinking, not the server */
    else
        timed_out(call);
}

static void on_timer(void *ctx)
{
    static void (*const when[CALL_COUNT])(struct client_call *) = {
        [CALL_SENT] = sent_too_long,   [CALL_WAITING] = timed_out,
        [CALL_ASKING] = timed_out,     [CALL_PAUSING] = client_call_resend,
        [CALL_REFRESHING] = timed_out, [CALL_SILENT] = timed_out,
    };
    struct client_call *call = ctx;

    when[call->sm.now](call);
}

/* ---- sending ---- */

/* The memory of a small message serves the next one. */
static void keep_buffer(struct client *c, struct buf *text)
{
    if (c->out.p || text->cap > MCP_OUT_KEEP)
        return;
    text->n = 0;
    c->out = *text;
    *text = (struct buf){ 0 };
}

/* With a new id on the wire; what was on the wire before is forgotten. */
MUST_CHECK static int client_call_send(struct client_call *call, struct pb_error *err)
{
    struct client *c = call->c;
    AUTO_HEADERS struct header_list headers = { 0 };
    AUTO_BUF struct buf text = { 0 };
    struct wire_out out = { .method = call->method, .request = true };
    int rc = 0;

    if (!c->wire)
        return fail(err, PB_E_CLOSED, "%s: there is no connection", call->method);
    client_call_unwire(call, WIRE_ABANDONED);
    call->wire_id = ++c->next_id;
    client_call_move(call, CALL_SENT);
    table_put(&c->on_wire, call->wire_id, call);
    text = c->out; /* taken out: what runs below may send something else */
    c->out = (struct buf){ 0 };
    client_call_compose(&text, call);
    out.id = call->wire_id;
    out.text = buf_span(&text);
    out.modern = client_modern(c);
    if (out.modern && client_over_http(c)) {
        rc = client_tools_headers(call, &headers, err);
        out.headers = headers.lines;
    }
    if (rc == 0)
        rc = c->wire->ops->send(c->wire, &out, err);
    if (rc == 0)
        start_clock(call);
    if (rc == 0 && call->held)
        hold_answer(call);
    keep_buffer(c, &text);
    return rc;
}

void client_call_resend(struct client_call *call)
{
    struct pb_error err;

    if (client_call_send(call, &err) < 0)
        client_call_fail(call, &err, 0);
}

void client_calls_resume(struct client *c)
{
    for (bool found = true; found && client_in(c, CL_READY);) {
        found = false;
        for (struct list *pos = c->calls.next; pos != &c->calls; pos = pos->next) {
            struct client_call *call = CONTAINER_OF(pos, struct client_call, at);

            if (!client_call_is(call, CALL_WAITING))
                continue;
            found = true;
            list_remove(&call->at); /* behind those that still wait */
            list_append(&c->calls, &call->at);
            client_call_resend(call); /* may end calls: look from the start */
            break;
        }
    }
}

/* Rounds, new sessions and refused headers send a request again. */
static bool may_be_resent(const struct client *c, const struct client_request_spec *spec)
{
    return !spec->raw_rounds || !c->wire || c->wire->ops->kind != WIRE_STDIO;
}

static void keep_params(struct client_call *call)
{
    if (!call->params && call->spec.params.n)
        call->params = blob_new(call->spec.params);
}

static struct client_call *make_call(struct client *c, const struct client_request_spec *spec,
                                     unsigned flags)
{
    size_t method_n = strlen(spec->method) + 1, caps_n = spec->caps ? strlen(spec->caps) + 1 : 0;
    size_t size = sizeof(struct client_call) + method_n + caps_n;
    struct client_call *call = spare_take(size);

    memset(call, 0, sizeof *call);
    call->size = size;
    call->c = c;
    call->sm = (struct sm){ states, CALL_NEW };
    call->id = ++c->next_id;
    call->spec = *spec;
    call->method = call->spec.method = memcpy(call->strings, spec->method, method_n);
    if (caps_n)
        call->caps = call->spec.caps = memcpy(call->strings + method_n, spec->caps, caps_n);
    if (may_be_resent(c, spec))
        keep_params(call);
    call->timeout_ms = spec->timeout_ms ? spec->timeout_ms : c->opts.timeout_ms;
    call->started = loop_now(c->loop);
    call->shaking = flags & CALL_IS_SHAKING;
    call->endless = flags & CALL_IS_ENDLESS;
    timer_init(&call->timer, c->loop, on_timer, call);
    table_put(&c->by_id, call->id, call);
    list_append(&c->calls, &call->at);
    c->n_endless += call->endless;
    steer(c);
    return call;
}

int client_call_new(struct client *c, const struct client_request_spec *spec, unsigned flags,
                    uint64_t *out_id, struct pb_error *err)
{
    struct client_call *call;
    int rc = spec->plain ? 0 : client_call_params_check(spec->params, err);

    if (rc < 0)
        return rc;
    if (c->by_id.n >= MCP_CLIENT_CALLS_MAX)
        return fail(err, PB_E_BUSY, "%s: %d requests are waiting for answers already", spec->method,
                    MCP_CLIENT_CALLS_MAX);
    call = make_call(c, spec, flags);
    if (client_in(c, CL_RESHAKING) && !call->shaking) {
        client_call_move(call, CALL_WAITING);
        keep_params(call);
        start_clock(call);
        rc = 0;
    } else {
        rc = client_call_send(call, err);
    }
    call->spec.params = (struct span){ 0 };
    if (rc < 0) {
        call->spec.reply = NULL; /* it is told by the return value */
        client_call_finish(call, NULL);
        return rc;
    }
    if (out_id)
        *out_id = call->id;
    return 0;
}

uint64_t client_call_silent(struct client *c, const struct client_request_spec *spec)
{
    struct client_call *call = make_call(c, spec, 0);

    call->spec.params = (struct span){ 0 };
    client_call_move(call, CALL_SILENT);
    start_clock(call);
    return call->id;
}

static int check_usable(const struct client *c, const char *method, struct pb_error *err)
{
    if (c->closing)
        return fail(err, PB_E_CLOSED, "%s: the client was closed", method);
    if (client_in(c, CL_DEAD)) {
        fail_copy(err, &c->why);
        return err ? fail_in(err, "%s", method) : -(int)c->why.code;
    }
    if (!client_is_open(c))
        return fail(err, PB_E_BUSY, "%s: the handshake is not over yet", method);
    return 0;
}

int client_request(struct client *c, const struct client_request_spec *spec, uint64_t *out_id,
                   struct pb_error *err)
{
    int rc = check_usable(c, spec->method, err);

    return rc < 0 ? rc : client_call_new(c, spec, 0, out_id, err);
}

uint64_t client_cancel(struct client *c, uint64_t id, const char *reason)
{
    struct client_call *call = client_call_find(c, id);
    uint64_t wire_id = call ? call->wire_id : 0;
    struct pb_error err;

    if (!call)
        return 0;
    fail(&err, PB_E_CANCELLED, "%s was cancelled", call->method);
    tell_cancelled(call, reason);
    client_call_fail(call, &err, 0);
    return wire_id;
}

void *client_request_ctx(struct client *c, uint64_t id, client_reply_fn *reply)
{
    const struct client_call *call = client_call_find(c, id);

    return call && call->spec.reply == reply ? call->spec.ctx : NULL;
}

/* ---- answers ---- */

static void remote_error(struct json error, struct pb_error *out)
{
    AUTO_ARENA struct arena arena = { 0 };
    const char *message = json_cstr(json_get(error, "message"), &arena);
    int64_t code = 0;

    if (json_int(json_get(error, "code"), &code, NULL) < 0 || code < INT32_MIN || code > INT32_MAX)
        code = 0;
    fail(out, PB_E_REMOTE, "%s", message ? message : "the server answered with an error");
    out->sys = (int)code;
    text_make_printable(out->msg);
}

static void answered_with_error(struct client_call *call, const struct rpc *rpc, struct blob *bytes,
                                int status)
{
    struct pb_error err;
    struct client_reply reply = { .message = bytes, .err = &err, .http_status = status };

    remote_error(rpc->error, &err);
    if (err.sys == RPC_HEADER_MISMATCH && client_tools_refresh(call, bytes))
        return;
    reply.error = json_text(rpc->error);
    client_call_finish(call, &reply);
}

static bool may_ask(const struct client_call *call)
{
    static const char *const methods[] = { "tools/call", "prompts/get", "resources/read" };

    for (size_t i = 0; i < ARRAY_LEN(methods); i++)
        if (strcmp(call->method, methods[i]) == 0)
            return true;
    return false;
}

static void refuse_result(struct client_call *call, const char *why)
{
    struct pb_error err;

    fail(&err, PB_E_INVALID, "%s: %s", call->method, why);
    client_call_fail(call, &err, 0);
}

/* True when the result is to be handed on as it is; else the call has been taken care of. */
static bool complete(struct client_call *call, struct json result)
{
    struct json type = json_get(result, "resultType");

    if (!client_modern(call->c) || json_is(type, JSON_NONE) || json_str_is(type, "complete"))
        return true;
    if (json_str_is(type, "input_required") && may_ask(call)) {
        if (call->spec.raw_rounds)
            return true;
        client_rounds_begin(call, json_text(result));
        return false;
    }
    if (json_str_is(type, "task") && call->caps && strstr(call->caps, EXT_TASKS))
        return true;
    refuse_result(call, "the server answered with a kind of result that is not known");
    return false;
}

void client_call_answered(struct client_call *call, const struct rpc *rpc, struct blob *bytes,
                          int status)
{
    struct client *c = call->c;
    AUTO(blob) struct blob *rewritten = NULL;
    struct client_reply reply = { .http_status = status };

    client_call_unwire(call, WIRE_ANSWERED);
    if (rpc->kind == RPC_ERROR) {
        answered_with_error(call, rpc, bytes, status);
        return;
    }
    if (!json_is(rpc->result, JSON_OBJECT)) {
        refuse_result(call, "the result is no object");
        return;
    }
    if (!complete(call, rpc->result))
        return;
    reply.result = json_text(rpc->result);
    reply.era = c->rev ? c->rev->era : ERA_UNKNOWN;
    if (client_modern(c) && client_over_http(c) && strcmp(call->method, "tools/list") == 0)
        rewritten = client_tools_learn(c, call, &reply.result);
    if (!rewritten)
        reply.members = rpc->result;
    reply.message = rewritten ? rewritten : bytes;
    client_call_finish(call, &reply);
}
