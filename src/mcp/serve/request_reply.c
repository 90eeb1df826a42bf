/* request_reply.c - results, and errors of others, as the answer to a request. What is passed on is
 * sent from where it lies; only what an answer of ours needs beside it is written. */
#include "mcp/rpc/rpc.h"
#include "peer_impl.h"

/* Parts of an answer that fit without allocating: head, result, tail and some more. */
enum { PARTS_INLINE = 16 };

void request_reply_parts(struct request *r, const struct span *parts, size_t n)
{
    struct span inline_parts[PARTS_INLINE], *all = inline_parts;
    struct buf *out;

    if (r->over)
        return;
    if (n + 2 > PARTS_INLINE)
        all = mem_alloc((n + 2) * sizeof *all);
    out = request_begin_answer(r);
    rpc_write_result_head(out, r->id);
    all[0] = buf_span(out);
    memcpy(all + 1, parts, n * sizeof *parts);
    all[n + 1] = RPC_RESULT_TAIL;
    request_respond(r, all, n + 2);
    if (all != inline_parts)
        free(all);
}

static bool has_member(struct json_doc *doc, struct span object, const char *key)
{
    static const struct json_opts shallow = { .keep_depth = 1 };

    return json_parse(doc, object, &shallow, NULL) == 0 &&
           !json_is(json_get(json_root(doc), key), JSON_NONE);
}

/* Is there anything between the braces? */
static bool is_filled(struct span object)
{
    return span_trim(span_make(object.p + 1, object.n - 2)).n > 0;
}

static void put_server_info(struct buf *out, const struct request *r)
{
    buf_str(out, "\"" META_SERVER_INFO "\":");
    buf_add_span(out, server_info(r->server, r->env.revision));
}

/* Sends {head, result with its edits, tail}. */
static void respond_edited(struct request *r, struct span head, struct span result,
                           const struct edit *edits, size_t n)
{
    struct span inline_parts[PARTS_INLINE], *parts = inline_parts;
    size_t at = 0, used = 0;

    if (2 * n + 3 > PARTS_INLINE)
        parts = mem_alloc((2 * n + 3) * sizeof *parts);
    parts[used++] = head;
    for (size_t i = 0; i < n; i++) {
        parts[used++] = span_make(result.p + at, edits[i].at - at);
        parts[used++] = edits[i].put;
        at = edits[i].at + edits[i].cut;
    }
    parts[used++] = span_from(result, at);
    parts[used++] = RPC_RESULT_TAIL;
    request_respond(r, parts, used);
    if (parts != inline_parts)
        free(parts);
}

/* What a modern answer needs in front of the result's own members (the first edit) and inside its
 * _meta (the second). Both are written to the server's buffer, behind the head. */
static struct span modern_edits(struct request *r, struct json object, struct edit own[2])
{
    struct pb_server *s = r->server;
    bool typed = !json_is(json_get(object, "resultType"), JSON_NONE);
    struct span result = json_text(object), meta = json_text(json_get(object, "_meta"));
    struct buf *out = request_begin_answer(r);
    size_t first, second;

    rpc_write_result_head(out, r->id);
    first = out->n;
    buf_byte(out, '{');
    if (!typed) /* always followed by something: our _meta, or the one that is there */
        buf_str(out, "\"resultType\":\"complete\",");
    if (!meta.n) {
        buf_str(out, "\"_meta\":{");
        put_server_info(out, r);
        buf_str(out, is_filled(result) ? "}," : "}");
    }
    second = out->n;
    own[1].at = 1;
    if (meta.n && meta.p[0] == '{' && !has_member(&s->doc, meta, META_SERVER_INFO)) {
        own[1].at = (size_t)(meta.p - result.p) + 1;
        put_server_info(out, r);
        if (is_filled(meta))
            buf_byte(out, ',');
    }
    own[0] = (struct edit){ 0, 1, span_make(out->p + first, second - first) };
    own[1].put = span_make(out->p + second, out->n - second);
    return span_make(out->p, first);
}

static void reply_modern(struct request *r, struct json object, const struct edit *edits, size_t n)
{
    struct edit inline_edits[PARTS_INLINE], *all = inline_edits, own[2] = { 0 };
    struct span head, result = json_text(object);
    size_t before = 0;

    head = modern_edits(r, object, own);
    if (n + 2 > PARTS_INLINE)
        all = mem_alloc((n + 2) * sizeof *all);
    while (before < n && edits[before].at < own[1].at)
        before++;
    all[0] = own[0];
    if (before)
        memcpy(all + 1, edits, before * sizeof *all);
    all[before + 1] = own[1];
    if (n > before)
        memcpy(all + before + 2, edits + before, (n - before) * sizeof *all);
    respond_edited(r, head, result, all, n + 2);
    if (all != inline_edits)
        free(all);
}

static void reply_legacy(struct request *r, struct span result, const struct edit *edits, size_t n)
{
    struct buf *out = request_begin_answer(r);

    rpc_write_result_head(out, r->id);
    respond_edited(r, buf_span(out), result, edits, n);
}

void request_reply_edited(struct request *r, struct json result, const struct edit *edits, size_t n)
{
    if (r->over)
        return;
    if (r->env.era == ERA_MODERN)
        reply_modern(r, result, edits, n);
    else
        reply_legacy(r, json_text(result), edits, n);
}

/* Only the top level is taped, so a large result costs one scan. */
void request_reply(struct request *r, struct span result)
{
    static const struct json_opts shallow = { .keep_depth = 1 };
    struct json_doc *doc = &r->server->doc;

    if (r->over)
        return;
    if (r->env.era != ERA_MODERN) {
        reply_legacy(r, result, NULL, 0);
    } else if (json_parse(doc, result, &shallow, NULL) < 0 ||
               !json_is(json_root(doc), JSON_OBJECT)) {
        log_error("%.*s: the provider's result is not a JSON object", SPAN_ARG(r->method));
        request_fail(r, RPC_INTERNAL_ERROR, SPAN(""), "Internal error");
    } else {
        reply_modern(r, json_root(doc), NULL, 0);
    }
}

struct span request_result_begin(const struct request *r)
{
    return r->env.era == ERA_MODERN ? buf_span(&r->server->result_begin) : SPAN("{");
}

const char *request_cache_scope(const struct request *r)
{
    return r->peer->principal[0] ? "private" : "public";
}

void request_pass_error(struct request *r, int code, const struct span *parts, size_t n)
{
    struct span inline_parts[PARTS_INLINE], *all = inline_parts;
    struct buf *out;

    if (r->over)
        return;
    if (n + 2 > PARTS_INLINE)
        all = mem_alloc((n + 2) * sizeof *all);
    if (r->env.era == ERA_MODERN && code == RPC_MISSING_CAPABILITY)
        r->http_status = 400;
    out = request_begin_answer(r);
    buf_str(out, "{\"jsonrpc\":\"2.0\",\"id\":");
    buf_add_span(out, r->id);
    buf_str(out, ",\"error\":");
    all[0] = buf_span(out);
    memcpy(all + 1, parts, n * sizeof *parts);
    all[n + 1] = SPAN("}");
    request_respond(r, all, n + 2);
    if (all != inline_parts)
        free(all);
}
