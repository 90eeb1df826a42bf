/* rest_reply.c - answers, and what each failure means in HTTP (C64). */
#include "face/control/control.h"
#include "hub/hub/hub.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"
#include "hub/view/view.h"
#include "io/http/http.h"
#include "rest_impl.h"
#include <stdarg.h>
#include <stdio.h>

#define PLAIN_HEADERS                                               \
    "Content-Type: application/json\r\nCache-Control: no-store\r\n" \
    "X-Content-Type-Options: nosniff\r\n"

void rest_reply(struct http_request *r, int status, const struct buf *json)
{
    const struct span parts[] = { buf_span(json), SPAN("\n") };

    http_reply(r, status, PLAIN_HEADERS, parts, ARRAY_LEN(parts));
}

void rest_reply_ok(struct http_request *r)
{
    AUTO_BUF struct buf body = { 0 };

    buf_str(&body, "{\"status\":\"ok\"}");
    rest_reply(r, 200, &body);
}

/* clang-format off */
/* What to do about it; %s is what the failure is about. */
static const struct {
    const char *error, *next;
} remedies[] = {
    { "call_not_found",       "GET /api/calls lists the calls" },
    { "config_not_taken",     "correct the file; it is read again as soon as it changes" },
    { "config_not_written",   "see that the home directory can be written and that the disk is not full" },
    { "definition_held",      "GET /api/pins?server=%s shows what changed; POST /api/pins/approve lets it in" },
    { "duplicate_call",       "choose another id, or POST /api/calls/%s/cancel first" },
    { "duplicate_name",       "POST /api/mcp-clients/%s/reconnect connects the one there is; DELETE /api/servers/%s forgets it" },
    { "forbidden",            "see --allowed-hosts and --allowed-origins" },
    { "grant_not_found",      "GET /api/grants lists what is allowed" },
    { "mode_not_found",       "GET /api/modes lists the modes" },
    { "no_client_manager",    "start the program with a hub: patchbay serve" },
    { "not_recording",        "start the program without --no-record, and see the setting 'record'" },
    { "not_found",            "GET /openapi.json lists what there is" },
    { "object_not_found",     "records that are too old, or too many, go with what they name: see the settings record_days and record_mb" },
    { "policy_changed",       "GET /api/policy, and change those" },
    { "pin_changed",          "GET /api/pins?server=%s shows what it is now" },
    { "pin_not_found",        "GET /api/pins lists what is known" },
    { "prompt_not_found",     "GET /api/mcp-prompts lists the prompts" },
    { "question_not_found",   "GET /api/questions lists those that are open" },
    { "resource_not_found",   "GET /api/mcp-resources lists the resources" },
    { "server_not_found",     "GET /api/mcp-clients lists the servers" },
    { "too_many_wrong_tokens", "wait a second; the token is in the file 'token' of the home directory" },
    { "tool_not_found",       "GET /api/mcp-tools lists the tools" },
    { "unauthorized",         "send \"Authorization: Bearer TOKEN\"; the token is in the file 'token' of the home directory" },
};
/* clang-format on */

static void put_next(struct json_out *o, const struct rest_failure *f)
{
    const char *next = f->next ? f->next : advice_rest(f->advice), *at;
    AUTO_BUF struct buf text = { 0 };

    for (size_t i = 0; !next && i < ARRAY_LEN(remedies); i++)
        if (strcmp(remedies[i].error, f->error) == 0)
            next = remedies[i].next;
    if (!next)
        return;
    for (; (at = strstr(next, "%s")); next = at + 2) {
        buf_add(&text, next, (size_t)(at - next));
        buf_add_span(&text, f->value);
    }
    buf_str(&text, next);
    json_put_span(o, "next", buf_span(&text));
}

void rest_fail(struct http_request *r, const struct rest_failure *f)
{
    AUTO_BUF struct buf body = { 0 };
    AUTO_BUF struct buf headers = { 0 };
    struct json_out o = json_out(&body);
    struct span line;

    json_begin_object(&o, NULL);
    json_put_str(&o, "error", f->error);
    json_put_str_opt(&o, "code", f->code);
    if (f->key)
        json_put_span(&o, f->key, f->value);
    json_put_str_opt(&o, "message", f->message);
    put_next(&o, f);
    json_put_raw(&o, "rpc", f->rpc);
    json_end(&o);
    buf_str(&headers, PLAIN_HEADERS);
    if (f->headers)
        buf_str(&headers, f->headers);
    buf_byte(&body, '\n');
    line = buf_span(&body);
    http_reply(r, f->status, buf_cstr(&headers), &line, 1);
}

void rest_write_refusal(struct buf *out, int status, const char *why)
{
    struct json_out o = json_out(out);

    json_begin_object(&o, NULL);
    json_put_str(&o, "error",
                 status == 413   ? "too_large"
                 : status == 503 ? "too_many_requests"
                                 : "invalid_request");
    json_put_str(&o, "message", why);
    json_end(&o);
    buf_byte(out, '\n');
}

void rest_refuse(struct http_request *r, const char *fmt, ...)
{
    char text[MCP_ERROR_TEXT_MAX];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    rest_fail(r, &(struct rest_failure){ 400, "invalid_request", .message = text });
}

/* ---- failures of the hub ---- */

/* clang-format off */
static const struct {
    int status;
    const char *error; /* NULL: its own name */
} meanings[FAULT_COUNT] = {
    [FAULT_NO_SERVER]     = { 404, NULL },
    [FAULT_NOT_CONNECTED] = { 503, NULL },
    [FAULT_NO_TOOL]       = { 404, NULL },
    [FAULT_NO_RESOURCE]   = { 404, NULL },
    [FAULT_NO_PROMPT]     = { 404, NULL },
    [FAULT_TIMEOUT]       = { 504, "call_failed" },
    [FAULT_CANCELLED]     = { 502, "call_failed" },
    [FAULT_CALL]          = { 502, NULL },
    [FAULT_CONNECT]       = { 502, NULL },
    [FAULT_DUPLICATE]     = { 409, NULL },
    [FAULT_NAME]          = { 400, NULL },
    [FAULT_DISABLED]      = { 503, "server_not_connected" },
    [FAULT_BUSY]          = { 503, "call_failed" },
    [FAULT_DENIED]        = { 403, NULL },
    [FAULT_UNRECORDED]    = { 503, "call_failed" },
    [FAULT_HELD]          = { 409, NULL },
};
/* clang-format on */

/* Of errors that are no faults. */
static int status_of(enum pb_code code)
{
    switch (code) {
    case PB_E_INVALID:
        return 400;
    case PB_E_NOT_FOUND:
        return 404;
    case PB_E_LIMIT:
    case PB_E_BUSY:
        return 503;
    case PB_E_TIMEOUT:
        return 504;
    default:
        return 502;
    }
}

void rest_fail_hub(struct http_request *r, const struct pb_error *err, const char *key,
                   const char *value)
{
    enum fault fault = fault_of(err);
    const char *name = fault_name(err), *error = fault ? meanings[fault].error : NULL;
    struct rest_failure f = { .status = fault ? meanings[fault].status : status_of(err->code),
                              .error = error ? error : name,
                              .code = error && strcmp(error, name) != 0 ? name : NULL,
                              .key = key,
                              .value = span_of(value),
                              .message = err->msg,
                              .advice = advice_of_fault(fault) };

    if (err->code == PB_E_INVALID && !fault)
        f.error = "invalid_request";
    rest_fail(r, &f);
}

struct link *rest_link(struct rest_call *c)
{
    const char *name = rest_text(c, "name");
    struct link *l = hub_link(c->hub, name);

    if (!l)
        rest_fail(c->r, &(struct rest_failure){ 404, "server_not_found", "name", span_of(name),
                                                .message = "There is no server of this name" });
    return l;
}

void rest_reply_server(struct http_request *r, int status, const struct hub *h, struct link *l)
{
    AUTO_BUF struct buf body = { 0 };
    struct json_out o = json_out(&body);

    control_write_server(&o, NULL, h, l, true);
    rest_reply(r, status, &body);
}
