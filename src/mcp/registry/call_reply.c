#include "call.h"
#include <stdarg.h>
#include <stdio.h>

enum { REPLY_FIRST_BYTES = 256 };

void put_vprintf(struct buf *out, const char *fmt, va_list ap)
{
    va_list again;
    int n;

    va_copy(again, ap);
    n = vsnprintf(buf_reserve(out, REPLY_FIRST_BYTES), REPLY_FIRST_BYTES, fmt, ap);
    if (n >= REPLY_FIRST_BYTES)
        n = vsnprintf(buf_reserve(out, (size_t)n + 1), (size_t)n + 1, fmt, again);
    va_end(again);
    if (n > 0)
        out->n += (size_t)n;
}

void reply_begin(struct pb_call *c)
{
    if (c->out.n)
        return;
    buf_reserve(&c->out, REPLY_FIRST_BYTES);
    switch (c->kind) {
    case CALL_TOOL:
        buf_str(&c->out, ",\"content\":[");
        break;
    case CALL_RESOURCE:
        buf_str(&c->out, ",\"contents\":[");
        break;
    case CALL_PROMPT:
        if (c->item->description) {
            buf_str(&c->out, ",\"description\":");
            json_quote(&c->out, span_of(c->item->description));
        }
        buf_str(&c->out, ",\"messages\":[");
        break;
    case CALL_COMPLETE:
        buf_str(&c->out, ",\"completion\":{\"values\":[");
        break;
    }
}

/* Up to where a content block may be written. Prompts are made of messages: what comes without a
 * role is the user's. */
static void begin_block(struct pb_call *c, const char *role)
{
    reply_begin(c);
    if (c->blocks++)
        buf_byte(&c->out, ',');
    if (c->kind == CALL_PROMPT) {
        buf_str(&c->out, role[0] == 'a' ? "{\"role\":\"assistant\"" : "{\"role\":\"user\"");
        buf_str(&c->out, ",\"content\":");
    }
}

static void end_block(struct pb_call *c)
{
    if (c->kind == CALL_PROMPT)
        buf_byte(&c->out, '}');
}

static void put_uri(struct pb_call *c, struct span uri, const char *mime_type)
{
    buf_str(&c->out, "{\"uri\":");
    json_quote(&c->out, uri);
    if (mime_type) {
        buf_str(&c->out, ",\"mimeType\":");
        json_quote(&c->out, span_of(mime_type));
    }
}

static void put_text_block(struct pb_call *c, const char *role, struct span text)
{
    begin_block(c, role);
    if (c->kind == CALL_RESOURCE) {
        put_uri(c, c->uri, c->item->mime_type);
        buf_str(&c->out, ",\"text\":");
    } else {
        buf_str(&c->out, "{\"type\":\"text\",\"text\":");
    }
    json_quote(&c->out, text);
    buf_byte(&c->out, '}');
    end_block(c);
    c->has_text = true;
}

void reply_text(struct pb_call *c, struct span text) { put_text_block(c, "user", text); }

/* Completions are words, nothing else; and what was replied after a failure is of no interest. */
static bool refused(struct pb_call *c)
{
    if (c->failed)
        return true;
    if (c->kind == CALL_COMPLETE)
        call_misused(c, "a completion replies with pb_complete_add()");
    return c->failed;
}

int pb_reply_bytes(struct pb_call *call, const char *text, size_t n)
{
    if (!refused(call))
        reply_text(call, span_make(text, n));
    return 0;
}

int pb_reply_text(struct pb_call *call, const char *fmt, ...)
{
    AUTO_BUF struct buf text = { 0 };
    va_list ap;

    if (refused(call))
        return 0;
    va_start(ap, fmt);
    if (strcmp(fmt, "%s") == 0) {
        reply_text(call, span_of(va_arg(ap, const char *))); /* saves a copy of a large text */
    } else {
        put_vprintf(&text, fmt, ap);
        reply_text(call, buf_span(&text));
    }
    va_end(ap);
    return 0;
}

static void put_media(struct pb_call *c, const char *type, const void *data, size_t n,
                      const char *mime_type)
{
    begin_block(c, "user");
    if (c->kind == CALL_RESOURCE) {
        put_uri(c, c->uri, mime_type);
        buf_str(&c->out, ",\"blob\":\"");
        base64_encode(&c->out, span_make(data, n));
        buf_str(&c->out, "\"}");
    } else {
        buf_printf(&c->out, "{\"type\":\"%s\",\"data\":\"", type);
        base64_encode(&c->out, span_make(data, n));
        buf_str(&c->out, "\",\"mimeType\":");
        json_quote(&c->out, span_of(mime_type ? mime_type : "application/octet-stream"));
        buf_byte(&c->out, '}');
    }
    end_block(c);
}

int pb_reply_image(struct pb_call *call, const void *data, size_t n, const char *mime_type)
{
    if (!refused(call))
        put_media(call, "image", data, n, mime_type);
    return 0;
}

int pb_reply_audio(struct pb_call *call, const void *data, size_t n, const char *mime_type)
{
    AUTO_BUF struct buf text = { 0 };

    if (refused(call))
        return 0;
    if (call->kind != CALL_RESOURCE && strcmp(call->rev->date, "2025-03-26") < 0) {
        buf_printf(&text, "[Audio: %s, %zu bytes]", mime_type ? mime_type : "?", n);
        reply_text(call, buf_span(&text));
        return 0;
    }
    put_media(call, "audio", data, n, mime_type);
    return 0;
}

static void begin_resource(struct pb_call *c, const char *uri, const char *mime_type)
{
    begin_block(c, "user");
    if (c->kind != CALL_RESOURCE)
        buf_str(&c->out, "{\"type\":\"resource\",\"resource\":");
    put_uri(c, uri ? span_of(uri) : c->uri, mime_type ? mime_type : c->item->mime_type);
}

static void end_resource(struct pb_call *c)
{
    buf_str(&c->out, c->kind == CALL_RESOURCE ? "}" : "}}");
    end_block(c);
}

int pb_reply_resource(struct pb_call *call, const char *uri, const char *mime_type,
                      const char *text)
{
    if (refused(call))
        return 0;
    begin_resource(call, uri, mime_type);
    buf_str(&call->out, ",\"text\":");
    json_quote(&call->out, span_of(text));
    end_resource(call);
    return 0;
}

int pb_reply_resource_blob(struct pb_call *call, const char *uri, const char *mime_type,
                           const void *data, size_t n)
{
    if (refused(call))
        return 0;
    begin_resource(call, uri, mime_type);
    buf_str(&call->out, ",\"blob\":\"");
    base64_encode(&call->out, span_make(data, n));
    buf_byte(&call->out, '"');
    end_resource(call);
    return 0;
}

/* Revisions before resource links get words. */
static bool put_link_as_text(struct pb_call *c, struct json block, const char *role)
{
    AUTO_ARENA struct arena a = { 0 };
    AUTO_BUF struct buf text = { 0 };

    if (c->rev->structured || !json_str_is(json_get(block, "type"), "resource_link"))
        return false;
    buf_str(&text, "[Resource: ");
    buf_add_span(&text, json_str(json_get(block, "uri"), &a));
    buf_byte(&text, ']');
    put_text_block(c, role, buf_span(&text));
    return true;
}

static void put_content(struct pb_call *c, const char *role, const char *json)
{
    static const struct json_opts shallow = { .keep_depth = 1, .unique_depth = 1 };
    AUTO_JSON struct json_doc doc = { 0 };
    struct json block;

    if (json_parse(&doc, span_of(json), &shallow, NULL) < 0 ||
        !json_is(json_root(&doc), JSON_OBJECT)) {
        call_misused(c, "replied with content that is not a JSON object");
        return;
    }
    block = json_root(&doc);
    if (put_link_as_text(c, block, role))
        return;
    begin_block(c, role);
    put_json_line(&c->out, json_text(block));
    end_block(c);
    c->has_text |= json_str_is(json_get(block, "type"), "text");
}

int pb_reply_content(struct pb_call *call, const char *json)
{
    if (!refused(call))
        put_content(call, "user", json);
    return 0;
}

int pb_reply_structured(struct pb_call *call, const char *json)
{
    static const struct json_opts shallow = { .keep_depth = 1, .unique_depth = JSON_ALL };
    AUTO_JSON struct json_doc doc = { 0 };

    if (refused(call))
        return 0;
    if (call->kind != CALL_TOOL) {
        call_misused(call, "only tools have structured results");
    } else if (json_parse(&doc, span_of(json), &shallow, NULL) < 0) {
        call_misused(call, "replied with a structured result that is not JSON");
    } else {
        call->structured.n = 0;
        call->structured_type = json_type(json_root(&doc));
        put_json_line(&call->structured, json_text(json_root(&doc)));
    }
    return 0;
}

static bool role_wrong(struct pb_call *c, const char *role)
{
    if (refused(c))
        return true;
    if (c->kind != CALL_PROMPT)
        call_misused(c, "only prompts reply with messages");
    else if (!role || (strcmp(role, "user") != 0 && strcmp(role, "assistant") != 0))
        call_misused(c, "a message's role is \"user\" or \"assistant\"");
    return c->failed;
}

int pb_reply_message(struct pb_call *call, const char *role, const char *text)
{
    if (!role_wrong(call, role))
        put_text_block(call, role, span_of(text));
    return 0;
}

int pb_reply_message_content(struct pb_call *call, const char *role, const char *json)
{
    if (!role_wrong(call, role))
        put_content(call, role, json);
    return 0;
}

int pb_complete_add(struct pb_call *call, const char *suggestion)
{
    if (call->failed)
        return 0;
    if (call->kind != CALL_COMPLETE) {
        call_misused(call, "only completions have suggestions");
        return 0;
    }
    reply_begin(call);
    if (call->blocks < MCP_COMPLETIONS_MAX) {
        if (call->blocks)
            buf_byte(&call->out, ',');
        json_quote(&call->out, span_of(suggestion));
    }
    call->blocks++;
    return 0;
}
