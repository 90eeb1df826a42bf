/* client_receive.c - what a server sends, sorted. Results are not looked into further than their
 * first level, so that a large one costs one scan. */
#include "client_impl.h"
#include "mcp/rpc/rpc.h"
#include "mcp/wire/wire.h"

static const struct json_opts envelope_opts = { .keep_depth = 2, .unique_depth = 2 };
static const struct json_opts batch_opts = { .keep_depth = 1 };

void client_send_text(struct client *c, struct span text)
{
    struct wire_out out = { .text = text };
    struct pb_error err;

    if (!c->wire || c->closing)
        return;
    if (c->wire->ops->send(c->wire, &out, &err) < 0)
        log_debug("an answer to the server was not sent: %s", err.msg);
}

int client_notify(struct client *c, const char *method, struct span params, struct pb_error *err)
{
    AUTO_BUF struct buf text = { 0 };
    AUTO_HEADERS struct header_list headers = { 0 };
    struct wire_out out = { .method = method };
    int rc = client_call_params_check(params, err);

    if (rc < 0)
        return rc;
    if (c->closing || !c->wire || client_in(c, CL_DEAD))
        return fail(err, PB_E_CLOSED, "%s: there is no connection", method);
    rpc_write_request(&text, SPAN(""), method, params);
    out.text = buf_span(&text);
    out.modern = client_modern(c);
    if (out.modern) {
        header_list_put(&headers, "MCP-Protocol-Version", c->rev->date);
        header_list_put(&headers, "Mcp-Method", method);
        out.headers = headers.lines;
    }
    return c->wire->ops->send(c->wire, &out, err);
}

/* ---- notifications ---- */

static void on_progress(struct client *c, const struct rpc *rpc, uint64_t about)
{
    struct client_call *call;
    uint64_t token;

    (void)about;
    if (json_uint(json_get(rpc->params, "progressToken"), &token, NULL) < 0)
        return;
    call = client_call_on_wire(c, token);
    if (!call || !call->spec.wants_progress)
        return;
    client_call_extend(call);
    if (call->spec.progress)
        call->spec.progress(call->spec.ctx, json_text(rpc->params));
}

static void pass_on(struct client *c, const struct rpc *rpc)
{
    AUTO_BUF struct buf untagged = { 0 };
    struct span params = json_text(rpc->params);

    if (!c->events.notification || c->closing || !client_is_open(c))
        return;
    if (client_modern(c) && json_is(rpc->params, JSON_OBJECT))
        params = client_untag(rpc->params, &untagged);
    c->events.notification(c->ctx, rpc->method, params);
}

static void on_log(struct client *c, const struct rpc *rpc, uint64_t about)
{
    struct client_call *call = client_call_on_wire(c, about);

    if (call && call->spec.log)
        call->spec.log(call->spec.ctx, json_text(rpc->params));
    else
        pass_on(c, rpc);
}

static void on_cancelled(struct client *c, const struct rpc *rpc, uint64_t about)
{
    (void)about;
    if (client_modern(c))
        client_listen_cancelled(c, rpc->params);
    else
        client_questions_cancelled(c, rpc->params);
}

static void on_acknowledged(struct client *c, const struct rpc *rpc, uint64_t about)
{
    (void)about;
    client_listen_acknowledged(c, rpc->params);
}

/* Those that are used up here; all others are the owner's. */
/* clang-format off */
static const struct {
    const char *method;
    void (*run)(struct client *c, const struct rpc *rpc, uint64_t about);
} notifications[] = {
    { "notifications/cancelled",                  on_cancelled },
    { "notifications/message",                    on_log },
    { "notifications/progress",                   on_progress },
    { "notifications/subscriptions/acknowledged", on_acknowledged },
};
/* clang-format on */

static void receive_notification(struct client *c, const struct rpc *rpc, uint64_t about)
{
    for (size_t i = 0; i < ARRAY_LEN(notifications); i++)
        if (span_is(rpc->method, notifications[i].method)) {
            notifications[i].run(c, rpc, about);
            return;
        }
    pass_on(c, rpc);
}

/* ---- answers ---- */

static bool id_of(struct span text, uint64_t *out)
{
    uint64_t v = 0;

    if (!text.n || text.n > 19)
        return false;
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] < '0' || text.p[i] > '9')
            return false;
        v = v * 10 + (uint64_t)(text.p[i] - '0');
    }
    *out = v;
    return true;
}

/* An error without an id is about a message that the server could not read: the one whose stream it
 * came on, or the only one there is. */
static uint64_t guess_id(struct client *c, uint64_t about)
{
    const struct client_call *only = c->on_wire.n == 1 ? table_any(&c->on_wire) : NULL;

    if (about)
        return about;
    return only ? only->wire_id : 0;
}

/* The call that an answer names, if it is one. Ids of ours are numbers, which some servers give
 * back as strings: that is malformed, but meant. */
static struct client_call *call_named(struct client *c, struct span id_text)
{
    uint64_t id;

    if (id_text.n > 2 && id_text.p[0] == '"')
        id_text = span_make(id_text.p + 1, id_text.n - 2);
    return id_of(id_text, &id) ? client_call_on_wire(c, id) : NULL;
}

/* Its caller need not wait for another answer. What an HTTP server says when it refuses is told by
 * its status. False when it names no call. */
static bool malformed(struct client *c, struct span id_text, enum pb_code code, const char *what,
                      const char *why, int status)
{
    struct client_call *call = status < 300 ? call_named(c, id_text) : NULL;
    struct pb_error err;

    if (!call)
        return false;
    fail(&err, code, "%s: the answer %s: %s", call->method, what, why);
    client_call_fail(call, &err, status);
    return true;
}

static void receive_answer(struct client *c, const struct rpc *rpc, struct blob *bytes,
                           uint64_t about, int status)
{
    struct client_call *call;
    uint64_t id = 0;

    if (!id_of(rpc->id, &id) && rpc->kind == RPC_ERROR && (!rpc->id.n || span_is(rpc->id, "\"\"")))
        id = guess_id(c, about);
    call = client_call_on_wire(c, id);
    if (call) {
        client_call_answered(call, rpc, bytes, status);
        return;
    }
    client_opening_late(c, rpc, bytes);
    if (malformed(c, rpc->id, PB_E_INVALID, "is malformed",
                  "its id is a string, but a number was sent", status))
        return;
    if (id && c->events.stray)
        c->events.stray(c->ctx, id);
    log_debug("an answer that nobody waits for was dropped");
}

/* ---- sorting ---- */

static void garbage(struct client *c, struct span line, bool is_json)
{
    struct pb_error err;

    c->garbage++;
    client_opening_stray(c, line);
    if (is_json)
        client_opening_unreadable(c);
    if (!c->wire || c->wire->ops->kind != WIRE_STDIO || c->garbage <= MCP_GARBAGE_LINES_MAX)
        return;
    fail(&err, PB_E_INVALID, "the server wrote more than %d lines that are no messages",
         MCP_GARBAGE_LINES_MAX);
    if (client_is_open(c))
        client_die(c, &err);
    else
        client_opening_failed(c, &err);
}

static void receive_invalid(struct client *c, struct span line, const struct rpc *rpc,
                            uint64_t about, int status)
{
    struct span id = rpc->answers ? rpc->id : SPAN("");

    if (!malformed(c, id, PB_E_INVALID, "is malformed", rpc->why, status) && !about)
        garbage(c, line, true);
}

static void receive_one(struct client *c, struct blob *bytes, const struct rpc *rpc, uint64_t about,
                        int status)
{
    struct client_call *call = client_call_on_wire(c, about);

    switch (rpc->kind) {
    case RPC_REQUEST:
        client_questions_receive(c, rpc, call ? call->id : 0);
        break;
    case RPC_NOTIFICATION:
        receive_notification(c, rpc, about);
        break;
    case RPC_RESPONSE:
    case RPC_ERROR:
        receive_answer(c, rpc, bytes, about, status);
        break;
    case RPC_INVALID:
        receive_invalid(c, blob_span(bytes), rpc, about, status);
        break;
    case RPC_BATCH: /* within a batch */
        garbage(c, blob_span(bytes), true);
        break;
    }
}

/* What cannot be read, but whom it answers. */
static void unreadable(struct client *c, struct span text, const struct pb_error *why,
                       uint64_t about, int status)
{
    size_t head = text.n < REQUEST_ID_PEEK ? text.n : REQUEST_ID_PEEK;
    bool limit = why->code == PB_E_LIMIT;

    if (!malformed(c, rpc_answer_peek(span_make(text.p, head)), why->code,
                   limit ? "cannot be read" : "is no valid JSON", why->msg, status) &&
        !about)
        garbage(c, text, false);
}

/* Servers of 2025-03-26 may put several messages into one array. */
static void receive_batch(struct client *c, struct blob *bytes, struct json_doc *batch,
                          uint64_t about, int status)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena arena = { 0 };

    if ((c->rev && !c->rev->batch) || json_len(json_root(batch)) > RPC_BATCH_MAX) {
        garbage(c, blob_span(bytes), true);
        return;
    }
    JSON_FOREACH(element, json_root(batch)) {
        struct pb_error err;
        struct rpc rpc;

        if (c->closing)
            return;
        if (json_parse(&doc, json_text(element), &envelope_opts, &err) < 0) {
            unreadable(c, json_text(element), &err, about, status);
            continue;
        }
        rpc_read(&rpc, json_root(&doc), &arena);
        receive_one(c, bytes, &rpc, about, status);
    }
}

void client_receive(struct client *c, struct blob *bytes, uint64_t about, int status)
{
    AUTO_ARENA struct arena arena = { 0 };
    struct json_doc doc = c->doc; /* taken out: what runs below may bring the next message */
    struct span text = blob_span(bytes), trimmed = span_trim(text);
    bool batch = trimmed.n && trimmed.p[0] == '[';
    struct pb_error err;
    struct rpc rpc;

    c->doc = (struct json_doc){ 0 };
    if (c->closing || client_in(c, CL_DEAD)) {
        json_doc_done(&doc);
        return;
    }
    if (json_parse(&doc, text, batch ? &batch_opts : &envelope_opts, &err) < 0) {
        unreadable(c, text, &err, about, status);
    } else {
        rpc_read(&rpc, json_root(&doc), &arena);
        if (rpc.kind == RPC_BATCH)
            receive_batch(c, bytes, &doc, about, status);
        else
            receive_one(c, bytes, &rpc, about, status);
    }
    json_doc_done(&c->doc);
    json_doc_trim(&doc, MCP_TAPE_KEEP);
    c->doc = doc;
}

void client_oversize(struct client *c, struct span head, uint64_t total)
{
    struct client_call *call = call_named(c, rpc_answer_peek(head));
    struct pb_error err;

    if (!call) {
        garbage(c, head, false);
        return;
    }
    fail(&err, PB_E_LIMIT, "%s: the answer has %llu bytes; the limit is %zu", call->method,
         (unsigned long long)total, c->opts.max_message_bytes);
    client_call_fail(call, &err, 0);
}
