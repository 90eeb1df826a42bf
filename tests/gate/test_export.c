/* Recorded calls as other programs read them. */
#include "gate/gate.h"
#include "json_member.h"

#define UUID  "b1b1b4e2-55a1-4862-9f9d-1989c26888bc"
#define TRACE "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

static struct call_record record(void)
{
    return (struct call_record){ .no = 7,
                                 .r = { .uuid = UUID,
                                        .source = "mcp_client",
                                        .face = "mcp_server",
                                        .method = "tools/call",
                                        .caller = "Cursor 1.0",
                                        .run = "peer 3",
                                        .server = "demo",
                                        .tool = "echo",
                                        .status = "success",
                                        .queued_us = 1794998638910123,
                                        .started_us = 1794998638920123,
                                        .ended_us = 1794998638950623 },
                                 .arguments_cid = "aa",
                                 .result_cid = "bb",
                                 .arguments_bytes = 14,
                                 .result_bytes = 20 };
}

static const struct export_bytes bytes = { SPAN_CONST("{\"text\":\"hi\"}"),
                                           SPAN_CONST("{\"content\":[]}") };

static const char *written(enum export_format f, const struct call_record *c,
                           const struct export_bytes *b)
{
    static char text[65536];
    AUTO_BUF struct buf out = { 0 };

    export_call(&out, f, c, b);
    snprintf(text, sizeof text, "%s", buf_cstr(&out));
    return text;
}

/* All of it, as a program gets it. */
static const char *whole(enum export_format f, size_t n)
{
    static char text[262144];
    AUTO_BUF struct buf out = { 0 };
    struct call_record c = record();

    export_begin(&out, f);
    for (size_t i = 0; i < n; i++) {
        if (i)
            buf_str(&out, export_between(f));
        export_call(&out, f, &c, &bytes);
    }
    export_end(&out, f);
    snprintf(text, sizeof text, "%s", buf_cstr(&out));
    return text;
}

TEST(formats_have_names)
{
    enum export_format f = EXPORT_FORMATS;

    for (unsigned i = 0; i < EXPORT_FORMATS; i++) {
        CHECK(export_format_parse(span_of(export_format_name((enum export_format)i)), &f));
        CHECK_INT(f, i);
    }
    CHECK(!export_format_parse(SPAN("xml"), &f));
    CHECK(!export_format_parse(SPAN(""), &f));
}

TEST(a_line_holds_the_record_and_its_bytes_as_json)
{
    struct call_record c = record();
    const char *line = written(EXPORT_JSONL, &c, &bytes);

    CHECK_STR(json_member(line, "id"), UUID);
    CHECK_STR(json_member(line, "no"), "7");
    CHECK_STR(json_member(line, "status"), "success");
    CHECK_STR(json_member(line, "arguments.text"), "hi");
    CHECK_STR(json_member(line, "result.content"), "[]");
    CHECK_STR(json_member(line, "queued_at"), "1794998638.910123");
    CHECK(strchr(line, '\n') == line + strlen(line) - 1);
}

/* A line stays one, and what is no JSON does not break the line. */
TEST(bytes_that_are_spread_over_lines_or_no_json_or_gone_make_one_line_all_the_same)
{
    static const struct export_bytes spread = { SPAN_CONST("{\n  \"a\": 1\r\n}"),
                                                SPAN_CONST("no \"JSON\"\nat all") };
    struct call_record c = record();
    const char *line = written(EXPORT_JSONL, &c, &spread);

    CHECK_STR(json_member(line, "arguments.a"), "1");
    CHECK_STR(json_member(line, "result"), "no \"JSON\"\nat all");
    CHECK(strchr(line, '\n') == line + strlen(line) - 1);

    line = written(EXPORT_JSONL, &c, &(struct export_bytes){ 0 });
    CHECK_STR(json_member(line, "arguments"), "");
    CHECK_STR(json_member(line, "arguments_cid"), "aa");
    line = written(EXPORT_JSONL, &c, &(struct export_bytes){ .arguments = SPAN("\xff\xfe") });
    CHECK_STR(json_member(line, "arguments"), "\xef\xbf\xbd\xef\xbf\xbd");
}

/* HAR 1.2: what each object must have. */
TEST(an_entry_has_all_that_har_wants)
{
    static const char *const wanted[] = {
        "startedDateTime",
        "time",
        "request.method",
        "request.url",
        "request.httpVersion",
        "request.cookies",
        "request.headers",
        "request.queryString",
        "request.headersSize",
        "request.bodySize",
        "request.postData.mimeType",
        "request.postData.text",
        "response.status",
        "response.statusText",
        "response.httpVersion",
        "response.cookies",
        "response.headers",
        "response.content.size",
        "response.content.mimeType",
        "response.headersSize",
        "response.bodySize",
        "cache",
        "timings.send",
        "timings.wait",
        "timings.receive",
    };
    struct call_record c = record();
    const char *entry = written(EXPORT_HAR, &c, &bytes);

    for (size_t i = 0; i < ARRAY_LEN(wanted); i++)
        if (!*json_member(entry, wanted[i]))
            TAP_FAIL("%s is missing", wanted[i]);
    CHECK_HAS(entry, "\"redirectURL\":\"\"");
    CHECK_STR(json_member(entry, "startedDateTime"), "2026-11-18T10:43:58.910Z");
    CHECK_STR(json_member(entry, "time"), "40.5");
    CHECK_STR(json_member(entry, "timings.blocked"), "10");
    CHECK_STR(json_member(entry, "timings.wait"), "30.5");
    CHECK_STR(json_member(entry, "request.url"), "mcp://demo/echo");
    CHECK_STR(json_member(json_member(entry, "request.postData.text"), "params.arguments.text"),
              "hi");
    CHECK_STR(json_member(entry, "response.status"), "200");
    CHECK_STR(json_member(entry, "response.content.text"), "{\"content\":[]}");
    CHECK_STR(json_member(entry, "_patchbay.id"), UUID);
}

TEST(what_came_of_a_call_is_a_status_of_http)
{
    static const struct {
        const char *status, *code;
    } rows[] = { { "success", "200" }, { "error", "500" },     { "failed", "502" },
                 { "timeout", "504" }, { "cancelled", "499" }, { "denied", "403" },
                 { "expired", "408" }, { "task", "202" },      { "input_required", "200" },
                 { "other", "0" } };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct call_record c = record();

        c.r.status = rows[i].status;
        CHECK_STR(json_member(written(EXPORT_HAR, &c, &bytes), "response.status"), rows[i].code);
    }
}

/* Never executed, of a built-in, by nobody: still an entry. Names are no part of the URL. */
TEST(an_entry_of_little_is_one)
{
    struct call_record c = { .r = { .tool = "a b/ü", .queued_us = 5000000 } };
    const char *entry = written(EXPORT_HAR, &c, &(struct export_bytes){ 0 });

    CHECK_STR(json_member(entry, "request.url"), "mcp://patchbay/a%20b%2F%C3%BC");
    CHECK_STR(json_member(entry, "time"), "0");
    CHECK_STR(json_member(entry, "timings.blocked"), "0");
    CHECK_STR(json_member(entry, "response.status"), "0");
}

static const char *attribute(const char *span, const char *key)
{
    char path[64];

    for (int i = 0;; i++) {
        snprintf(path, sizeof path, "attributes.%d.key", i);
        if (!*json_member(span, path))
            return "";
        if (strcmp(json_member(span, path), key) == 0) {
            snprintf(path, sizeof path, "attributes.%d.value.stringValue", i);
            return json_member(span, path);
        }
    }
}

TEST(a_span_belongs_to_the_trace_that_the_client_named)
{
    struct call_record c = record();
    const char *span;

    c.r.trace = TRACE;
    span = written(EXPORT_OTLP, &c, &bytes);
    CHECK_STR(json_member(span, "traceId"), "0af7651916cd43dd8448eb211c80319c");
    CHECK_STR(json_member(span, "parentSpanId"), "b7ad6b7169203331");
    CHECK_STR(json_member(span, "spanId"), "9f9d1989c26888bc");
    CHECK_STR(json_member(span, "startTimeUnixNano"), "1794998638910123000");
    CHECK_STR(json_member(span, "endTimeUnixNano"), "1794998638950623000");
    CHECK_STR(json_member(span, "name"), "tools/call echo");
    CHECK_STR(json_member(span, "kind"), "3");
    CHECK_STR(json_member(span, "status.code"), "0");
    CHECK_STR(attribute(span, "mcp.method.name"), "tools/call");
    CHECK_STR(attribute(span, "gen_ai.tool.name"), "echo");
    CHECK_STR(attribute(span, "gen_ai.operation.name"), "execute_tool");
    CHECK_STR(attribute(span, "gen_ai.tool.call.arguments"), "{\"text\":\"hi\"}");
    CHECK_STR(attribute(span, "mcp.session.id"), "peer 3");
    CHECK_STR(attribute(span, "error.type"), "");
    /* Numbers of 64 bits are strings in this JSON. */
    CHECK_HAS(span, "\"startTimeUnixNano\":\"");
}

TEST(a_span_without_a_trace_is_named_after_its_call)
{
    static const char *const wrong[] = {
        NULL,
        "",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
        "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
        "00-00000000000000000000000000000000-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
        "00+0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "nonsense",
    };

    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        struct call_record c = record();
        const char *span;

        c.r.trace = wrong[i];
        span = written(EXPORT_OTLP, &c, &bytes);
        CHECK_STR(json_member(span, "traceId"), "b1b1b4e255a148629f9d1989c26888bc");
        CHECK_STR(json_member(span, "spanId"), "9f9d1989c26888bc");
        CHECK_STR(json_member(span, "parentSpanId"), "");
    }
}

TEST(a_span_says_what_went_wrong)
{
    struct call_record c = record();
    const char *span;

    c.r.status = "denied";
    c.r.note = "the rule 'x' does not allow it";
    c.r.conversation = "c1";
    c.r.ended_us = 0;
    span = written(EXPORT_OTLP, &c, &(struct export_bytes){ 0 });
    CHECK_STR(json_member(span, "status.code"), "2");
    CHECK_STR(json_member(span, "status.message"), "the rule 'x' does not allow it");
    CHECK_STR(attribute(span, "error.type"), "denied");
    CHECK_STR(attribute(span, "gen_ai.conversation.id"), "c1");
    CHECK_STR(attribute(span, "mcp.session.id"), "");
    CHECK_STR(attribute(span, "gen_ai.tool.call.arguments"), "");
    CHECK_STR(json_member(span, "endTimeUnixNano"), json_member(span, "startTimeUnixNano"));
    c.r.status = "error";
    CHECK_STR(attribute(written(EXPORT_OTLP, &c, &bytes), "error.type"), "tool_error");
    c.r.method = "resources/read";
    c.r.tool = "file:///x";
    CHECK_STR(attribute(written(EXPORT_OTLP, &c, &bytes), "mcp.resource.uri"), "file:///x");
}

TEST(an_export_is_one_document_however_many_calls_it_has)
{
    for (size_t n = 0; n < 4; n++) {
        const char *har = whole(EXPORT_HAR, n), *otlp, *line;
        AUTO_JSON struct json_doc doc = { 0 };

        CHECK_INT(json_parse(&doc, span_of(har), NULL, NULL), 0);
        CHECK_INT(json_len(json_get(json_get(json_root(&doc), "log"), "entries")), n);
        CHECK_STR(json_member(har, "log.version"), "1.2");
        CHECK_STR(json_member(har, "log.creator.name"), "Patchbay");
        CHECK_STR(json_member(har, "log.pages"), "[]");
        otlp = whole(EXPORT_OTLP, n);
        CHECK_STR(json_member(otlp, "resourceSpans.0.scopeSpans.0.scope.name"), "patchbay");
        CHECK_INT(json_parse(&doc, span_of(json_member(otlp, "resourceSpans.0.scopeSpans.0.spans")),
                             NULL, NULL),
                  0);
        CHECK_INT(json_len(json_root(&doc)), n);
        line = whole(EXPORT_JSONL, n);
        for (size_t i = 0; i < n; i++)
            line = strchr(line, '\n') + 1;
        CHECK_STR(line, "");
    }
}
