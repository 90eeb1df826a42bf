/* relay_params.c - a client's params for the server that is to answer: its own names, and nothing
 * of what belongs to the hop between the client and us. */
#include "mcp/rpc/rpc.h"
#include "relay.h"

/* Keys of _meta that speak about this hop; the client of the other one writes its own. */
static bool is_protocol_meta(struct json member)
{
    static const char *const keys[] = { META_VERSION,     META_CLIENT_CAPS,  META_CLIENT_INFO,
                                        META_SERVER_INFO, META_LOG_LEVEL,    META_SUBSCRIPTION_ID,
                                        "progressToken",  META_RELATED_TASK, RELAY_META_DIRECTORY };

    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (json_key_is(member, keys[i]))
            return true;
    return false;
}

/* The state of rounds is the relay's; answers that nobody asked for yet are the server's to take or
 * leave. `task` asks a legacy server for a handle that nobody could redeem: we do not announce the
 * tasks of that era, and who does not must answer such a request as if it had not asked for one. */
static bool is_ours(struct json member)
{
    static const char *const keys[] = { "_meta", "requestState", "task" };

    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (json_key_is(member, keys[i]))
            return true;
    return false;
}

static void put_member(struct buf *out, bool *filled, struct span key, struct span value)
{
    if (*filled)
        buf_byte(out, ',');
    *filled = true;
    buf_byte(out, '"');
    buf_add_span(out, key); /* as it was written, escapes and all */
    buf_str(out, "\":");
    buf_add_span(out, value);
}

/* True: there was something to put. */
static bool put_meta(struct buf *out, bool *filled, struct json meta)
{
    AUTO_BUF struct buf rest = { 0 };
    bool any = false;

    JSON_FOREACH(member, meta)
        if (!is_protocol_meta(member))
            put_member(&rest, &any, json_key(member), json_text(member));
    if (!any)
        return false;
    buf_byte(&rest, '}');
    put_member(out, filled, SPAN("_meta"), SPAN("{"));
    buf_add_span(out, buf_span(&rest));
    return true;
}

static const struct own_param *own_of(const struct own_param *own, struct json member)
{
    for (; own->key; own++)
        if (json_key_is(member, own->key))
            return own;
    return NULL;
}

/* Is each member that the client gave one of these? No key is there twice. */
static bool is_covered(struct json params, const struct own_param *own)
{
    size_t given = 0;

    for (; own->key; own++)
        given += own->given;
    return given == json_len(params);
}

bool relay_params(struct buf *out, struct json params, const struct own_param *own)
{
    bool filled = false, meta;

    /* Enough for nearly all: what the client said, with another name. */
    buf_reserve(out, json_text(params).n + HUB_NAME_MAX);
    buf_byte(out, '{');
    for (const struct own_param *o = own; o->key; o++) {
        put_member(out, &filled, span_of(o->key), o->text ? SPAN("") : o->value);
        if (o->text)
            json_quote(out, o->value);
    }
    if (is_covered(params, own)) { /* mostly */
        buf_byte(out, '}');
        return true;
    }
    JSON_FOREACH(member, params)
        if (!own_of(own, member) && !is_ours(member))
            put_member(out, &filled, json_key(member), json_text(member));
    meta = put_meta(out, &filled, json_get(params, "_meta"));
    buf_byte(out, '}');
    return !meta;
}
