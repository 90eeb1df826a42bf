#include "call.h"
#include "mcp/rpc/rpc.h"
#include "mcp/serve/serve.h"

void put_json_line(struct buf *out, struct span json)
{
    while (json.n) {
        size_t n = 0;

        while (n < json.n && json.p[n] != '\n' && json.p[n] != '\r')
            n++;
        buf_add(out, json.p, n);
        json = span_from(json, n < json.n ? n + 1 : n);
    }
}

static const char *noun(const struct pb_call *c)
{
    static const char *const nouns[] = {
        [CALL_TOOL] = "Tool",
        [CALL_RESOURCE] = "Resource",
        [CALL_PROMPT] = "Prompt",
        [CALL_COMPLETE] = "Completion",
    };

    return nouns[c->kind];
}

static void forget_reply(struct pb_call *c)
{
    c->out.n = c->structured.n = 0;
    c->blocks = 0;
    c->has_text = false;
}

void call_fail_rpc(struct pb_call *c, int code, struct span text, struct span data)
{
    forget_reply(c);
    c->failed = true;
    c->outcome = OUTCOME_ERROR;
    c->code = code;
    c->text.n = c->data.n = 0;
    buf_add_span(&c->text, text);
    buf_add_span(&c->data, data);
}

void call_fail_text(struct pb_call *c, struct span text)
{
    if (c->kind != CALL_TOOL || c->errors_as_rpc) {
        call_fail_rpc(c, RPC_INTERNAL_ERROR, text, SPAN(""));
        return;
    }
    forget_reply(c);
    c->failed = true;
    c->outcome = OUTCOME_RESULT;
    reply_text(c, text);
    buf_str(&c->out, "],\"isError\":true}");
}

void call_misused(struct pb_call *c, const char *what)
{
    AUTO_BUF struct buf text = { 0 };

    log_error("%s '%s': %s", noun(c), c->item->name, what);
    buf_printf(&text, "%s '%s' failed", noun(c), c->item->name);
    call_fail_text(c, buf_span(&text));
}

static void fail_unsupported(struct pb_call *c)
{
    AUTO_BUF struct buf data = { 0 }, text = { 0 };

    if (c->rev->era == ERA_MODERN) {
        buf_str(&data, "{\"requiredCapabilities\":");
        buf_add_span(&data, buf_span(&c->missing));
        buf_byte(&data, '}');
        call_fail_rpc(c, RPC_MISSING_CAPABILITY, SPAN("Missing required client capability"),
                      buf_span(&data));
        return;
    }
    buf_printf(&text, "%s '%s' needs a client with the capability ", noun(c), c->item->name);
    buf_add_span(&text, buf_span(&c->missing));
    call_fail_text(c, buf_span(&text));
}

static void fail_status(struct pb_call *c, int status)
{
    AUTO_BUF struct buf text = { 0 };

    if (status == -PB_E_UNSUPPORTED && c->missing.n) {
        fail_unsupported(c);
        return;
    }
    if (status == -PB_E_INPUT) {
        call_misused(c, "returned PB_E_INPUT without having asked anything");
        return;
    }
    buf_printf(&text, "%s '%s' failed", noun(c), c->item->name);
    call_fail_text(c, buf_span(&text));
}

/* A structured result must be what the tool promised. */
static bool check_output(struct pb_call *c)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_BUF struct buf text = { 0 };
    struct pb_error err;

    if (!c->item->output)
        return true;
    if (!c->structured.n)
        fail(&err, PB_E_INVALID, "there is no structured result");
    else if (json_parse(&doc, buf_span(&c->structured), NULL, &err) == 0 &&
             schema_check(c->item->output, json_root(&doc), &err) == 0)
        return true;
    buf_printf(&text, "%s '%s' gave a result that breaks its output schema: %s", noun(c),
               c->item->name, err.msg);
    call_fail_text(c, buf_span(&text));
    return false;
}

static void end_tool(struct pb_call *c)
{
    bool object = c->structured_type == JSON_OBJECT;

    if (!check_output(c))
        return;
    if (c->structured.n && !c->has_text)
        reply_text(c, buf_span(&c->structured));
    buf_byte(&c->out, ']');
    if (c->structured.n && c->rev->structured && (object || c->rev->era == ERA_MODERN)) {
        buf_str(&c->out, ",\"structuredContent\":");
        buf_add_span(&c->out, buf_span(&c->structured));
    }
    buf_byte(&c->out, '}');
}

static void end_resource(struct pb_call *c)
{
    if (c->rev->era == ERA_MODERN)
        buf_printf(&c->out, "],\"ttlMs\":%lld,\"cacheScope\":\"%s\"}", (long long)c->cache_ttl_ms,
                   c->cache_scope);
    else
        buf_str(&c->out, "]}");
}

static void end_prompt(struct pb_call *c) { buf_str(&c->out, "]}"); }

static void end_completion(struct pb_call *c)
{
    buf_printf(&c->out, "],\"total\":%zu,\"hasMore\":%s}}", c->blocks,
               c->blocks > MCP_COMPLETIONS_MAX ? "true" : "false");
}

void call_write_outcome(struct pb_call *c, int status)
{
    static void (*const ends[])(struct pb_call *) = {
        [CALL_TOOL] = end_tool,
        [CALL_RESOURCE] = end_resource,
        [CALL_PROMPT] = end_prompt,
        [CALL_COMPLETE] = end_completion,
    };

    if (c->failed)
        return;
    if (status == -PB_E_INPUT && (c->asked || c->state_set)) {
        c->outcome = OUTCOME_ASK;
    } else if (status != 0) {
        fail_status(c, status);
    } else {
        c->outcome = OUTCOME_RESULT;
        reply_begin(c);
        ends[c->kind](c);
    }
}

/* `out` begins with a comma, for the modern envelope that stands before it. */
void call_answer(struct pb_call *c)
{
    struct request *r = c->request;
    struct span parts[2];

    c->request = NULL;
    r->work = NULL;
    r->cancel = NULL;
    r->expire = NULL;
    if (c->outcome == OUTCOME_ERROR) {
        request_fail(r, c->code, buf_span(&c->data), "%s", buf_cstr(&c->text));
        return;
    }
    parts[0] = request_result_begin(r);
    parts[1] = span_from(buf_span(&c->out), parts[0].n == 1);
    request_reply_parts(r, parts, ARRAY_LEN(parts));
}

int pb_fail(struct pb_call *call, const char *fmt, ...)
{
    AUTO_BUF struct buf text = { 0 };
    va_list ap;

    va_start(ap, fmt);
    put_vprintf(&text, fmt, ap);
    va_end(ap);
    call_fail_text(call, buf_span(&text));
    return -PB_E_INVALID;
}

int pb_fail_rpc(struct pb_call *call, int code, const char *message, const char *data)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_BUF struct buf line = { 0 };

    if (data && json_parse(&doc, span_of(data), NULL, NULL) == 0)
        put_json_line(&line, json_text(json_root(&doc)));
    else if (data)
        log_error("%s '%s': the data of an error is not JSON", noun(call), call->item->name);
    call_fail_rpc(call, code, span_of(message ? message : "Internal error"), buf_span(&line));
    return -PB_E_INVALID;
}
