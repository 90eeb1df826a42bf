/* client_params.c - the params of a request as they go out: what the caller gave, byte for byte,
 * and what the protocol wants to be said beside it. */
#include "client_impl.h"
#include "mcp/rpc/rpc.h"

/* What goes around the params of most messages: one allocation is enough then. */
enum { COMPOSE_ROOM = 512 };

int client_call_params_check(struct span params, struct pb_error *err)
{
    static const struct json_opts opts = { .keep_depth = 1, .unique_depth = 1 };
    AUTO_JSON struct json_doc doc = { 0 };

    if (!params.n)
        return 0;
    if (json_parse(&doc, params, &opts, err) < 0)
        return err ? fail_in(err, "params") : -(int)PB_E_INVALID;
    if (!json_is(json_root(&doc), JSON_OBJECT))
        return fail(err, PB_E_INVALID, "params: expected an object, got %s",
                    json_type_phrase(json_root(&doc)));
    return 0;
}

/* Keys of _meta that are ours to say. A progress token of the caller's could be the number of
 * another call. */
static bool is_ours(struct json member)
{
    static const char *const keys[] = { META_VERSION, META_CLIENT_CAPS, META_CLIENT_INFO,
                                        META_LOG_LEVEL, "progressToken" };

    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (json_key_is(member, keys[i]))
            return true;
    return false;
}

static void put_member(struct json_out *o, struct json member)
{
    AUTO_ARENA struct arena arena = { 0 };

    json_put_raw_key(o, json_key_str(member, &arena), json_text(member));
}

static void put_modern_meta(struct json_out *o, const struct client_call *call)
{
    const struct client *c = call->c;

    json_put_str(o, META_VERSION, c->rev->date);
    json_put_raw(o, META_CLIENT_CAPS, span_of(call->caps ? call->caps : c->caps));
    json_put_raw(o, META_CLIENT_INFO, span_of(c->info));
    if (call->spec.wants_log)
        json_put_str(o, META_LOG_LEVEL, log_level_name(call->spec.log_level));
}

static void write_meta(struct buf *out, const struct client_call *call, struct json given)
{
    bool modern = client_modern(call->c);
    struct json_out o = json_out(out);

    json_begin_object(&o, NULL);
    JSON_FOREACH(member, given)
        if (!is_ours(member))
            put_member(&o, member);
    if (modern)
        put_modern_meta(&o, call);
    if (call->spec.wants_progress)
        json_put_uint(&o, "progressToken", call->wire_id);
    json_end(&o);
}

static bool is_replaced(struct json member, bool rounds)
{
    return json_key_is(member, "_meta") || (rounds && (json_key_is(member, "inputResponses") ||
                                                       json_key_is(member, "requestState")));
}

/* The caller's members without those that are written anew. When none has to go, which is nearly
 * always, the bytes between the braces are copied at once. */
static void put_given(struct buf *out, struct json root, bool rounds)
{
    struct span text = json_text(root);
    bool clean = true, first = true;

    JSON_FOREACH(member, root)
        clean = clean && !is_replaced(member, rounds);
    if (clean) {
        buf_add(out, text.p + 1, text.n - 2);
        return;
    }
    JSON_FOREACH(member, root) {
        if (is_replaced(member, rounds))
            continue;
        if (!first)
            buf_byte(out, ',');
        first = false;
        buf_byte(out, '"');
        buf_add_span(out, json_key(member));
        buf_str(out, "\":");
        buf_add_span(out, json_text(member));
    }
}

static void put_more(struct buf *out, size_t start, struct span members)
{
    if (!members.n)
        return;
    if (span_trim(span_make(out->p + start, out->n - start)).n)
        buf_byte(out, ',');
    buf_add_span(out, members);
}

static struct span given_params(const struct client_call *call)
{
    return call->params ? blob_span(call->params) : call->spec.params;
}

/* "_meta":{...} if there is anything to say in it. */
static void add_meta(struct buf *out, size_t start, const struct client_call *call,
                     struct json given)
{
    AUTO_BUF struct buf meta = { 0 };

    if (!json_is(given, JSON_OBJECT))
        given = (struct json){ 0 };
    if (!client_modern(call->c) && !call->spec.wants_progress && json_is(given, JSON_NONE))
        return;
    buf_str(&meta, "\"_meta\":");
    write_meta(&meta, call, given);
    put_more(out, start, buf_span(&meta));
}

static void write_params(struct buf *out, const struct client_call *call)
{
    static const struct json_opts opts = { .keep_depth = 2 };
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_BUF struct buf rounds = { 0 };
    struct span text = given_params(call);
    struct json root = { 0 };
    size_t begin = out->n, start;

    buf_str(out, ",\"params\":{");
    start = out->n;
    if (call->spec.plain && text.n)
        buf_add(out, text.p + 1, text.n - 2);
    else if (text.n && json_parse(&doc, text, &opts, NULL) == 0)
        root = json_root(&doc);
    client_rounds_write(call, &rounds);
    if (json_is(root, JSON_OBJECT))
        put_given(out, root, rounds.n > 0);
    put_more(out, start, buf_span(&rounds));
    add_meta(out, start, call, json_get(root, "_meta"));
    if (out->n == start && !text.n)
        out->n = begin;
    else
        buf_byte(out, '}');
}

void client_call_compose(struct buf *out, const struct client_call *call)
{
    buf_reserve(out, given_params(call).n + COMPOSE_ROOM);
    buf_str(out, "{\"jsonrpc\":\"2.0\",\"id\":");
    buf_uint(out, call->wire_id);
    buf_str(out, ",\"method\":");
    json_quote(out, span_of(call->method));
    write_params(out, call);
    buf_byte(out, '}');
}

static bool has_tag(struct span meta)
{
    AUTO_JSON struct json_doc doc = { 0 };

    return json_parse(&doc, meta, &(struct json_opts){ .keep_depth = 1 }, NULL) == 0 &&
           !json_is(json_get(json_root(&doc), META_SUBSCRIPTION_ID), JSON_NONE);
}

static void put_meta_untagged(struct json_out *o, struct span meta)
{
    AUTO_JSON struct json_doc doc = { 0 };

    if (json_parse(&doc, meta, &(struct json_opts){ .keep_depth = 1 }, NULL) < 0 ||
        json_len(json_root(&doc)) < 2)
        return;
    json_begin_object(o, "_meta");
    JSON_FOREACH(member, json_root(&doc))
        if (!json_key_is(member, META_SUBSCRIPTION_ID))
            put_member(o, member);
    json_end(o);
}

struct span client_untag(struct json params, struct buf *out)
{
    struct json meta = json_get(params, "_meta");
    struct json_out o = json_out(out);

    if (!json_is(meta, JSON_OBJECT) || !has_tag(json_text(meta)))
        return json_text(params);
    json_begin_object(&o, NULL);
    JSON_FOREACH(member, params) {
        if (json_key_is(member, "_meta"))
            put_meta_untagged(&o, json_text(meta));
        else
            put_member(&o, member);
    }
    json_end(&o);
    return buf_span(out);
}
