#include "client_impl.h"
#include "header_list.h"
#include <inttypes.h>

struct client_call *client_call_find(struct client *c, uint64_t id)
{
    return map_get(&c->calls, map_u64(&id));
}

struct client_call *client_call_on_wire(struct client *c, uint64_t wire_id)
{
    return wire_id ? map_get(&c->on_wire, map_u64(&wire_id)) : NULL;
}

void client_call_unwire(struct client_call *call, enum wire_drop why)
{
    struct client *c = call->c;
    uint64_t id = call->wire_id;

    if (!id)
        return;
    call->wire_id = 0;
    map_del(&c->on_wire, map_u64(&id));
    if (c->wire && c->wire->ops->drop)
        c->wire->ops->drop(c->wire, id, why);
}

static void call_free(struct client_call *call)
{
    timer_stop(&call->timer);
    client_rounds_free(call);
    if (call->params)
        blob_unref(call->params);
    if (call->refused)
        blob_unref(call->refused);
    free(call->method);
    free(call->caps);
    free(call);
}

void client_call_finish(struct client_call *call, const struct client_reply *reply)
{
    struct client *c = call->c;
    client_reply_fn *fn = call->spec.reply;
    void *ctx = call->spec.ctx;

    client_call_unwire(call, WIRE_ABANDONED);
    client_questions_forget(c, call);
    map_del(&c->calls, map_u64(&call->id));
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
    while (c->calls.n) {
        size_t at = 0;
        struct map_slot *slot = map_next(&c->calls, &at);

        client_call_fail(slot->value, err, 0);
    }
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

void client_call_extend(struct client_call *call)
{
    if (!call->endless && call->state == CALL_SENT)
        timer_start(&call->timer, time_left(call));
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
         call->state == CALL_ASKING ? (uint64_t)MCP_ASK_MS : spent(call));
    tell_cancelled(call, "timed out");
    client_call_fail(call, &err, 0);
}

static void on_timer(void *ctx)
{
    struct client_call *call = ctx;

    if (call->state == CALL_PAUSING)
        client_call_resend(call);
    else if (call->state == CALL_SENT && client_questions_open_for(call->c, call->id) &&
             time_left(call) > 0)
        timer_start(&call->timer, time_left(call)); /* a person is thinking, not the server */
    else
        timed_out(call);
}

/* ---- sending ---- */

int client_call_send(struct client_call *call, struct pb_error *err)
{
    struct client *c = call->c;
    AUTO_HEADERS struct header_list headers = { 0 };
    AUTO_BUF struct buf text = { 0 };
    struct wire_out out = { .method = call->method, .request = true };
    int rc;

    if (!c->wire)
        return fail(err, PB_E_CLOSED, "%s: there is no connection", call->method);
    client_call_unwire(call, WIRE_ABANDONED);
    call->wire_id = ++c->next_id;
    call->state = CALL_SENT;
    map_put(&c->on_wire, map_u64(&call->wire_id), call);
    client_call_compose(&text, call);
    out.id = call->wire_id;
    out.text = buf_span(&text);
    out.modern = client_modern(c);
    if (out.modern && client_over_http(c)) {
        rc = client_tools_headers(call, &headers, err);
        if (rc < 0)
            return rc;
        out.headers = headers.lines;
    }
    rc = c->wire->ops->send(c->wire, &out, err);
    if (rc == 0 && !call->endless)
        timer_start(&call->timer, time_left(call));
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
        struct map_slot *slot;

        found = false;
        MAP_FOREACH(slot, &c->calls) {
            struct client_call *call = slot->value;

            if (call->state != CALL_WAITING)
                continue;
            found = true;
            client_call_resend(call); /* may end calls: look from the start */
            break;
        }
    }
}

static struct client_call *make_call(struct client *c, const struct client_request_spec *spec,
                                     unsigned flags)
{
    struct client_call *call = NEW(struct client_call);

    call->c = c;
    call->id = ++c->next_id;
    call->spec = *spec;
    call->method = mem_dup(spec->method);
    call->caps = mem_dup_opt(spec->caps);
    call->spec.method = call->method;
    call->spec.caps = call->caps;
    call->params = spec->params.n ? blob_new(spec->params) : NULL;
    call->timeout_ms = spec->timeout_ms ? spec->timeout_ms : c->opts.timeout_ms;
    call->started = loop_now(c->loop);
    call->shaking = flags & CALL_IS_SHAKING;
    call->endless = flags & CALL_IS_ENDLESS;
    timer_init(&call->timer, c->loop, on_timer, call);
    return call;
}

int client_call_new(struct client *c, const struct client_request_spec *spec, unsigned flags,
                    uint64_t *out_id, struct pb_error *err)
{
    struct client_call *call;
    int rc = client_call_params_check(spec->params, err);

    if (rc < 0)
        return rc;
    if (c->calls.n >= MCP_CLIENT_CALLS_MAX)
        return fail(err, PB_E_BUSY, "%s: %d requests are waiting for answers already", spec->method,
                    MCP_CLIENT_CALLS_MAX);
    call = make_call(c, spec, flags);
    map_put(&c->calls, map_u64(&call->id), call);
    if (client_in(c, CL_RESHAKING) && !call->shaking) {
        call->state = CALL_WAITING;
        timer_start(&call->timer, call->timeout_ms);
        rc = 0;
    } else {
        rc = client_call_send(call, err);
    }
    if (rc < 0) {
        call->spec.reply = NULL; /* it is told by the return value */
        client_call_finish(call, NULL);
        return rc;
    }
    if (out_id)
        *out_id = call->id;
    return 0;
}

uint64_t client_call_park(struct client *c, const struct client_request_spec *spec)
{
    struct client_call *call = make_call(c, spec, 0);

    map_put(&c->calls, map_u64(&call->id), call);
    call->state = CALL_PARKED;
    timer_start(&call->timer, call->timeout_ms);
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
    if (!client_in(c, CL_READY) && !client_in(c, CL_RESHAKING))
        return fail(err, PB_E_BUSY, "%s: the handshake is not over yet", method);
    return 0;
}

int client_request(struct client *c, const struct client_request_spec *spec, uint64_t *out_id,
                   struct pb_error *err)
{
    int rc = check_usable(c, spec->method, err);

    return rc < 0 ? rc : client_call_new(c, spec, 0, out_id, err);
}

void client_cancel(struct client *c, uint64_t id, const char *reason)
{
    struct client_call *call = client_call_find(c, id);
    struct pb_error err;

    if (!call)
        return;
    fail(&err, PB_E_CANCELLED, "%s was cancelled", call->method);
    tell_cancelled(call, reason);
    client_call_fail(call, &err, 0);
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
    if (client_modern(c) && client_over_http(c) && strcmp(call->method, "tools/list") == 0)
        rewritten = client_tools_learn(c, call, &reply.result);
    reply.message = rewritten ? rewritten : bytes;
    client_call_finish(call, &reply);
}
