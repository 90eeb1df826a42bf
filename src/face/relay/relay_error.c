/* relay_error.c - how a call that failed is told. What the server said is passed on, with the codes
 * of the client's era; what went wrong on the way there is told in our own words. */
#include "hub/spec/spec.h"
#include "mcp/client/client.h"
#include "mcp/rpc/rpc.h"
#include "mcp/serve/serve.h"
#include "relay_impl.h"
#include <stdio.h>

/* ---- our own ------------------------------------------------------------------------------ */

static void write_fault(struct buf *out, const struct pb_error *err, const char *server)
{
    struct json_out o = json_out(out);

    json_begin_object(&o, NULL);
    json_put_str(&o, "error", fault_name(err));
    json_put_str(&o, "message", err->msg);
    json_put_str_opt(&o, "server", server);
    json_end(&o);
}

static void reply_tool_error(struct relay *c, struct span text)
{
    AUTO_BUF struct buf out = { 0 };

    buf_str(&out, "{\"content\":[{\"type\":\"text\",\"text\":");
    json_quote(&out, text);
    buf_str(&out, "}],\"isError\":true}");
    request_reply(c->request, buf_span(&out));
}

void relay_reply_fault(struct relay *c, const struct pb_error *err)
{
    AUTO_BUF struct buf text = { 0 };

    if (strcmp(c->method, "tools/call") == 0) { /* a model can read it there */
        write_fault(&text, err, NULL);
        reply_tool_error(c, buf_span(&text));
    } else {
        write_fault(&text, err, c->server);
        request_fail(c->request, RPC_SERVER_ERROR, buf_span(&text), "%s", err->msg);
    }
}

/* ---- the server's ------------------------------------------------------------------------- */

/* Codes that would mean something else if we said them. */
static int translate(const struct relay *c, int code, struct json data)
{
    bool reading = strcmp(c->method, "resources/read") == 0;
    bool modern = c->request->env.era == ERA_MODERN;

    switch (code) {
    case RPC_HEADER_MISMATCH: /* they speak of the hop between the server and us */
    case RPC_UNSUPPORTED_VERSION:
        return RPC_INTERNAL_ERROR;
    case RPC_RESOURCE_NOT_FOUND: /* gone from the modern era, and some servers use it otherwise */
        return !modern ? code : reading ? RPC_INVALID_PARAMS : RPC_INTERNAL_ERROR;
    case RPC_URL_ELICITATION_REQUIRED:
        return modern ? RPC_INTERNAL_ERROR : code;
    case RPC_INVALID_PARAMS: /* a modern "not found" names the URI */
        return !modern && reading && !json_is(json_get(data, "uri"), JSON_NONE)
                   ? RPC_RESOURCE_NOT_FOUND
                   : code;
    default:
        return code;
    }
}

static bool pass_on(struct relay *c, struct span error)
{
    static const struct json_opts opts = { .keep_depth = 2 };
    AUTO_JSON struct json_doc doc = { 0 };
    struct json root, code;
    struct span text, parts[3];
    char number[16];
    int64_t was;
    int now;

    if (json_parse(&doc, error, &opts, NULL) < 0)
        return false;
    root = json_root(&doc);
    code = json_get(root, "code");
    if (!json_is(json_get(root, "message"), JSON_STRING) || json_int(code, &was, NULL) < 0 ||
        was < INT32_MIN || was > INT32_MAX)
        return false;
    now = translate(c, (int)was, json_get(root, "data"));
    text = json_text(code);
    parts[0] = span_make(error.p, (size_t)(text.p - error.p));
    parts[1] = text;
    parts[2] = span_make(span_end(text), (size_t)(span_end(error) - span_end(text)));
    if (now != was) {
        snprintf(number, sizeof number, "%d", now);
        parts[1] = span_of(number);
    }
    if (now == RPC_URL_ELICITATION_REQUIRED)
        relay_note_urls(c, error);
    request_pass_error(c->request, now, parts, ARRAY_LEN(parts));
    return true;
}

void relay_reply_error(struct relay *c, const struct client_reply *reply)
{
    if (!reply->error.n || !pass_on(c, reply->error))
        relay_reply_fault(c, reply->err);
}
