#include "export.h"
#include "patchbay.h"
#include <inttypes.h>

enum { TRACE_CHARS = 32, SPAN_CHARS = 16, NANO = 1000 };

static const char *const format_names[] = {
    [EXPORT_JSONL] = "jsonl", [EXPORT_HAR] = "har", [EXPORT_OTLP] = "otlp"
};
_Static_assert(ARRAY_LEN(format_names) == EXPORT_FORMATS, "every format has a name");

const char *export_format_name(enum export_format f) { return format_names[f]; }

bool export_format_parse(struct span word, enum export_format *out)
{
    for (unsigned i = 0; i < EXPORT_FORMATS; i++)
        if (span_is(word, format_names[i])) {
            *out = (enum export_format)i;
            return true;
        }
    return false;
}

static const char *text_or(const char *text, const char *other)
{
    return text && *text ? text : other;
}

static bool is_json(struct span text)
{
    AUTO_JSON struct json_doc doc = { 0 };

    return json_parse(&doc, text, &(struct json_opts){ .keep_depth = 1 }, NULL) == 0;
}

/* As JSON on one line; what is none, as a string. */
static void put_bytes(struct json_out *o, const char *key, struct span bytes)
{
    AUTO_BUF struct buf line = { 0 };

    if (!bytes.p)
        return;
    if (!is_json(bytes)) {
        json_put_span(o, key, bytes);
        return;
    }
    buf_add_span(&line, bytes);
    buf_flatten(&line, 0);
    json_put_raw(o, key, buf_span(&line));
}

/* ---- a line each ---- */

static void write_line(struct buf *out, const struct call_record *c, const struct export_bytes *b)
{
    struct json_out o = json_out(out);

    json_begin_object(&o, NULL);
    call_record_members(&o, c);
    put_bytes(&o, "arguments", b->arguments);
    put_bytes(&o, "result", b->result);
    json_end(&o);
    buf_byte(out, '\n');
}

/* ---- HAR ---- */

/* What a server of HTTP would have answered. */
/* clang-format off */
static const struct {
    const char *status;
    int code;
} http_codes[] = {
    { "success", 200 },   { "input_required", 200 }, { "task", 202 },    { "error", 500 },
    { "failed", 502 },    { "timeout", 504 },        { "cancelled", 499 }, { "denied", 403 },
    { "expired", 408 },
};
/* clang-format on */

static int http_code(const char *status)
{
    for (size_t i = 0; status && i < ARRAY_LEN(http_codes); i++)
        if (strcmp(status, http_codes[i].status) == 0)
            return http_codes[i].code;
    return 0;
}

static void put_ms(struct json_out *o, const char *key, int64_t us)
{
    json_put_scaled(o, key, us > 0 ? us : 0, 3);
}

static void put_escaped(struct buf *out, const char *text)
{
    for (const unsigned char *p = (const unsigned char *)text; *p; p++)
        if ((*p | 0x20) >= 'a' && (*p | 0x20) <= 'z')
            buf_byte(out, (char)*p);
        else if ((*p >= '0' && *p <= '9') || strchr("-_.~", *p))
            buf_byte(out, (char)*p);
        else
            buf_printf(out, "%%%02X", *p);
}

static void put_url(struct json_out *o, const struct record *r)
{
    AUTO_BUF struct buf url = { 0 };

    buf_str(&url, "mcp://");
    put_escaped(&url, text_or(r->server, "patchbay"));
    buf_byte(&url, '/');
    put_escaped(&url, text_or(r->tool, ""));
    json_put_span(o, "url", buf_span(&url));
}

/* The name under which each method asks for its thing. */
static const char *subject_key(const char *method)
{
    return method && strcmp(method, "resources/read") == 0 ? "uri" : "name";
}

static void write_rpc(struct buf *out, const struct record *r, struct span arguments)
{
    struct json_out o = json_out(out);

    json_begin_object(&o, NULL);
    json_put_str(&o, "method", text_or(r->method, "tools/call"));
    json_begin_object(&o, "params");
    json_put_str_opt(&o, subject_key(r->method), r->tool);
    put_bytes(&o, "arguments", arguments);
    json_end(&o);
    json_end(&o);
}

static void put_none(struct json_out *o, const char *key)
{
    json_begin_array(o, key);
    json_end(o);
}

static void put_header(struct json_out *o, const char *name, const char *value)
{
    if (!value)
        return;
    json_begin_object(o, NULL);
    json_put_str(o, "name", name);
    json_put_str(o, "value", value);
    json_end(o);
}

static void put_request(struct json_out *o, const struct call_record *c, struct span arguments)
{
    AUTO_BUF struct buf rpc = { 0 };

    write_rpc(&rpc, &c->r, arguments);
    json_begin_object(o, "request");
    json_put_str(o, "method", "POST");
    put_url(o, &c->r);
    json_put_str(o, "httpVersion", "MCP");
    put_none(o, "cookies");
    json_begin_array(o, "headers");
    put_header(o, "Mcp-Method", c->r.method);
    put_header(o, "User-Agent", c->r.caller);
    put_header(o, "traceparent", c->r.trace);
    json_end(o);
    put_none(o, "queryString");
    json_begin_object(o, "postData");
    json_put_str(o, "mimeType", "application/json");
    json_put_span(o, "text", buf_span(&rpc));
    json_end(o);
    json_put_int(o, "headersSize", -1);
    json_put_uint(o, "bodySize", rpc.n);
    json_end(o);
}

static void put_response(struct json_out *o, const struct call_record *c, struct span result)
{
    json_begin_object(o, "response");
    json_put_int(o, "status", http_code(c->r.status));
    json_put_str(o, "statusText", text_or(c->r.status, ""));
    json_put_str(o, "httpVersion", "MCP");
    put_none(o, "cookies");
    put_none(o, "headers");
    json_begin_object(o, "content");
    json_put_uint(o, "size", c->result_bytes);
    json_put_str(o, "mimeType", "application/json");
    if (result.p)
        json_put_span(o, "text", result);
    else
        json_put_str_opt(o, "comment", c->r.note);
    json_end(o);
    json_put_str(o, "redirectURL", "");
    json_put_int(o, "headersSize", -1);
    json_put_uint(o, "bodySize", c->result_bytes);
    json_end(o);
}

static void put_timings(struct json_out *o, const struct record *r)
{
    int64_t began = r->started_us ? r->started_us : r->ended_us;

    json_begin_object(o, "timings");
    put_ms(o, "blocked", began - r->queued_us);
    json_put_int(o, "dns", -1);
    json_put_int(o, "connect", -1);
    json_put_int(o, "send", 0);
    put_ms(o, "wait", r->ended_us - began);
    json_put_int(o, "receive", 0);
    json_put_int(o, "ssl", -1);
    json_end(o);
}

static void write_entry(struct buf *out, const struct call_record *c, const struct export_bytes *b)
{
    struct json_out o = json_out(out);
    char when[CLOCK_ISO_CHARS + 1];

    clock_iso(c->r.queued_us / 1000, when);
    json_begin_object(&o, NULL);
    json_put_str(&o, "startedDateTime", when);
    put_ms(&o, "time", c->r.ended_us - c->r.queued_us);
    put_request(&o, c, b->arguments);
    put_response(&o, c, b->result);
    json_begin_object(&o, "cache");
    json_end(&o);
    put_timings(&o, &c->r);
    json_begin_object(&o, "_patchbay");
    call_record_members(&o, c);
    json_end(&o);
    json_end(&o);
}

/* ---- OTLP ---- */

static bool is_hex(const char *p, size_t n)
{
    bool some = false;

    for (size_t i = 0; i < n; i++) {
        if (!((p[i] >= '0' && p[i] <= '9') || (p[i] >= 'a' && p[i] <= 'f')))
            return false;
        some |= p[i] != '0';
    }
    return some;
}

/* "00-TRACE-PARENT-01"; what is none of W3C's is none. */
static bool trace_read(const char *text, char trace[static TRACE_CHARS + 1],
                       char parent[static SPAN_CHARS + 1])
{
    enum { TRACE_AT = 3, PARENT_AT = TRACE_AT + TRACE_CHARS + 1, ALL = PARENT_AT + SPAN_CHARS + 3 };

    if (!text || strlen(text) < ALL || text[TRACE_AT - 1] != '-' || text[PARENT_AT - 1] != '-' ||
        text[PARENT_AT + SPAN_CHARS] != '-' || !is_hex(text + TRACE_AT, TRACE_CHARS) ||
        !is_hex(text + PARENT_AT, SPAN_CHARS))
        return false;
    memcpy(trace, text + TRACE_AT, TRACE_CHARS);
    memcpy(parent, text + PARENT_AT, SPAN_CHARS);
    trace[TRACE_CHARS] = parent[SPAN_CHARS] = '\0';
    return true;
}

/* The 32 digits of a uuid; its last 16 name the span: they are never all zero. */
static void trace_of_uuid(const char *uuid, char trace[static TRACE_CHARS + 1])
{
    size_t n = 0;

    for (; uuid && *uuid && n < TRACE_CHARS; uuid++)
        if (*uuid != '-')
            trace[n++] = *uuid;
    while (n < TRACE_CHARS)
        trace[n++] = '0';
    trace[TRACE_CHARS] = '\0';
}

static void put_attribute(struct json_out *o, const char *key, const char *value)
{
    if (!value || !*value)
        return;
    json_begin_object(o, NULL);
    json_put_str(o, "key", key);
    json_begin_object(o, "value");
    json_put_str(o, "stringValue", value);
    json_end(o);
    json_end(o);
}

static void put_attribute_bytes(struct json_out *o, const char *key, struct span bytes)
{
    if (!bytes.p)
        return;
    json_begin_object(o, NULL);
    json_put_str(o, "key", key);
    json_begin_object(o, "value");
    json_put_span(o, "stringValue", bytes);
    json_end(o);
    json_end(o);
}

static bool is_trouble(const char *status) { return http_code(status) >= 400; }

static const char *error_type(const struct record *r)
{
    return !is_trouble(r->status)            ? NULL
           : strcmp(r->status, "error") == 0 ? "tool_error"
                                             : r->status;
}

/* After the conventions for MCP and for calls of tools by models. */
static void put_attributes(struct json_out *o, const struct record *r, const struct export_bytes *b)
{
    bool tool = r->method && strcmp(r->method, "tools/call") == 0;
    bool prompt = r->method && strcmp(r->method, "prompts/get") == 0;

    json_begin_array(o, "attributes");
    put_attribute(o, "mcp.method.name", r->method);
    put_attribute(o, "gen_ai.operation.name", tool ? "execute_tool" : NULL);
    put_attribute(o,
                  tool     ? "gen_ai.tool.name"
                  : prompt ? "gen_ai.prompt.name"
                           : "mcp.resource.uri",
                  r->tool);
    put_attribute_bytes(o, "gen_ai.tool.call.arguments", tool ? b->arguments : (struct span){ 0 });
    put_attribute_bytes(o, "gen_ai.tool.call.result", tool ? b->result : (struct span){ 0 });
    put_attribute(o, "mcp.session.id", r->conversation ? NULL : r->run);
    put_attribute(o, "gen_ai.conversation.id", r->conversation);
    put_attribute(o, "error.type", error_type(r));
    put_attribute(o, "patchbay.call.id", r->uuid);
    put_attribute(o, "patchbay.server", r->server);
    put_attribute(o, "patchbay.caller", r->caller);
    put_attribute(o, "patchbay.face", r->face);
    put_attribute(o, "patchbay.status", r->status);
    put_attribute(o, "patchbay.rule", r->rule);
    put_attribute(o, "patchbay.answered_by", r->answered_by);
    put_attribute(o, "patchbay.parent.id", r->parent);
    json_end(o);
}

static void put_nano(struct json_out *o, const char *key, int64_t us)
{
    json_put_fmt(o, key, "%" PRId64, us > 0 ? us * NANO : 0);
}

static void write_span(struct buf *out, const struct call_record *c, const struct export_bytes *b)
{
    char trace[TRACE_CHARS + 1], own[TRACE_CHARS + 1], parent[SPAN_CHARS + 1];
    struct json_out o = json_out(out);
    const struct record *r = &c->r;
    bool given = trace_read(r->trace, trace, parent);

    trace_of_uuid(r->uuid, own);
    json_begin_object(&o, NULL);
    json_put_str(&o, "traceId", given ? trace : own);
    json_put_str(&o, "spanId", own + TRACE_CHARS - SPAN_CHARS);
    json_put_str_opt(&o, "parentSpanId", given ? parent : NULL);
    json_put_fmt(&o, "name", "%s %s", text_or(r->method, "tools/call"), text_or(r->tool, ""));
    json_put_int(&o, "kind", 3); /* a client's */
    put_nano(&o, "startTimeUnixNano", r->queued_us);
    put_nano(&o, "endTimeUnixNano", r->ended_us ? r->ended_us : r->queued_us);
    put_attributes(&o, r, b);
    json_begin_object(&o, "status");
    json_put_int(&o, "code", is_trouble(r->status) ? 2 : 0);
    if (is_trouble(r->status))
        json_put_str_opt(&o, "message", r->note);
    json_end(&o);
    json_end(&o);
}

/* ---- the whole ---- */

const char *export_between(enum export_format f) { return f == EXPORT_JSONL ? "" : ","; }

void export_begin(struct buf *out, enum export_format f)
{
    if (f == EXPORT_HAR)
        buf_printf(out,
                   "{\"log\":{\"version\":\"1.2\",\"creator\":{\"name\":\"Patchbay\","
                   "\"version\":\"%s\"},\"pages\":[],\"entries\":[",
                   pb_version());
    else if (f == EXPORT_OTLP)
        buf_printf(out,
                   "{\"resourceSpans\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\","
                   "\"value\":{\"stringValue\":\"patchbay\"}},{\"key\":\"service.version\","
                   "\"value\":{\"stringValue\":\"%s\"}}]},\"scopeSpans\":[{\"scope\":{\"name\":"
                   "\"patchbay\",\"version\":\"%s\"},\"spans\":[",
                   pb_version(), pb_version());
}

void export_end(struct buf *out, enum export_format f)
{
    static const char *const ends[] = {
        [EXPORT_JSONL] = "", [EXPORT_HAR] = "]}}\n", [EXPORT_OTLP] = "]}]}]}\n"
    };

    buf_str(out, ends[f]);
}

void export_call(struct buf *out, enum export_format f, const struct call_record *c,
                 const struct export_bytes *bytes)
{
    static void (*const write[])(struct buf *, const struct call_record *,
                                 const struct export_bytes *) = {
        [EXPORT_JSONL] = write_line, [EXPORT_HAR] = write_entry, [EXPORT_OTLP] = write_span
    };

    write[f](out, c, bytes);
}
