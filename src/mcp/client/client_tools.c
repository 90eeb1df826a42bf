/* client_tools.c - the headers of modern HTTP requests, and what they need to know about tools:
 * which arguments a tool wants to be mirrored. */
#include "client_impl.h"
#include "mcp/rpc/rpc.h"

/* Which member of params names what a request is about. */
/* clang-format off */
static const struct {
    const char *method, *member;
} named[] = {
    { "prompts/get",    "name" },
    { "resources/read", "uri" },
    { "tasks/cancel",   "taskId" },
    { "tasks/get",      "taskId" },
    { "tasks/update",   "taskId" },
    { "tools/call",     "name" },
};
/* clang-format on */

static const char *naming_member(const char *method)
{
    for (size_t i = 0; i < ARRAY_LEN(named); i++)
        if (strcmp(method, named[i].method) == 0)
            return named[i].member;
    return NULL;
}

static void put_encoded(struct header_list *list, const char *name, struct span value)
{
    AUTO_BUF struct buf b = { 0 };

    header_encode(&b, value);
    header_list_put(list, name, buf_cstr(&b));
}

static void emit(void *ctx, const char *line) { header_list_add(ctx, line); }

int client_tools_headers(const struct client_call *call, struct header_list *list,
                         struct pb_error *err)
{
    const struct client *c = call->c;
    const char *member = naming_member(call->method);
    AUTO_JSON struct json_doc doc = { 0 };
    const struct header_params *mirrored;
    struct span name;

    header_list_put(list, "MCP-Protocol-Version", c->rev->date);
    header_list_put(list, "Mcp-Method", call->method);
    if (!member || !call->params)
        return 0;
    if (json_parse(&doc, blob_span(call->params), NULL, err) < 0)
        return -(int)PB_E_INVALID;
    if (!json_is(json_get(json_root(&doc), member), JSON_STRING))
        return 0;
    name = json_str(json_get(json_root(&doc), member), &list->arena);
    put_encoded(list, "Mcp-Name", name);
    mirrored = strcmp(call->method, "tools/call") == 0 ? map_get(&c->tools, name) : NULL;
    if (!mirrored)
        return 0;
    return header_params_write(mirrored, json_get(json_root(&doc), "arguments"), &list->arena, emit,
                               list, err);
}

static void forget(struct client *c, struct span name)
{
    struct header_params *p = map_del(&c->tools, name);

    if (!p)
        return;
    header_params_done(p);
    free(p);
}

void client_tools_free(struct client *c)
{
    struct map_slot *slot;

    MAP_FOREACH(slot, &c->tools) {
        header_params_done(slot->value);
        free(slot->value);
    }
    map_done(&c->tools);
}

/* False when the tool must not be used. */
static bool learn_one(struct client *c, struct json tool, struct arena *arena)
{
    struct span name = json_str(json_get(tool, "name"), arena);
    struct span schema = json_text(json_get(tool, "inputSchema"));
    struct header_params found = { 0 };
    struct pb_error err;

    forget(c, name);
    if (!schema.n)
        return true;
    if (header_params_read(&found, schema, &err) < 0) {
        log_warn("tool '%.*s' is left out of the list: %s", SPAN_ARG(name), err.msg);
        return false;
    }
    if (found.n) {
        struct header_params *kept = NEW(struct header_params);

        *kept = found;
        map_put(&c->tools, name, kept);
    } else {
        header_params_done(&found);
    }
    return true;
}

static void write_without(struct buf *out, struct json root, const bool *drop)
{
    struct json_out o = json_out(out);
    AUTO_ARENA struct arena arena = { 0 };
    size_t i = 0;

    json_begin_object(&o, NULL);
    JSON_FOREACH(member, root) {
        if (!json_key_is(member, "tools")) {
            json_put_raw_key(&o, json_key_str(member, &arena), json_text(member));
            continue;
        }
        json_begin_array(&o, "tools");
        JSON_FOREACH(tool, member)
            if (!drop[i++])
                json_put_raw(&o, NULL, json_text(tool));
        json_end(&o);
    }
    json_end(&o);
}

static bool is_first_page(const struct client_call *call)
{
    AUTO_JSON struct json_doc doc = { 0 };

    return !call->params || json_parse(&doc, blob_span(call->params), NULL, NULL) < 0 ||
           json_is(json_get(json_root(&doc), "cursor"), JSON_NONE);
}

struct blob *client_tools_learn(struct client *c, const struct client_call *call,
                                struct span *result)
{
    static const struct json_opts opts = { .keep_depth = 3, .unique_depth = 3 };
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena arena = { 0 };
    AUTO_FREE bool *drop = NULL;
    struct buf rewritten = { 0 };
    struct blob *blob;
    struct json tools;
    size_t i = 0, dropped = 0;

    if (json_parse(&doc, *result, &opts, NULL) < 0)
        return NULL;
    tools = json_get(json_root(&doc), "tools");
    if (!json_is(tools, JSON_ARRAY))
        return NULL;
    if (is_first_page(call))
        client_tools_free(c);
    drop = mem_zero(json_len(tools) + 1);
    JSON_FOREACH(tool, tools) {
        drop[i] = json_is(tool, JSON_OBJECT) && !learn_one(c, tool, &arena);
        dropped += drop[i++];
    }
    if (!dropped)
        return NULL;
    write_without(&rewritten, json_root(&doc), drop);
    blob = blob_take_buf(&rewritten);
    *result = blob_span(blob);
    return blob;
}

/* ---- after a refusal ---- */

struct refresh {
    struct client *c;
    uint64_t call;
};

/* The refusal as it came, when reading the list again did not help. */
static void give_refusal(struct client_call *call)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena arena = { 0 };
    AUTO(blob) struct blob *bytes = TAKE(call->refused);
    struct rpc rpc;

    if (json_parse(&doc, blob_span(bytes), &(struct json_opts){ .keep_depth = 2 }, NULL) < 0)
        return;
    rpc_read(&rpc, json_root(&doc), &arena);
    client_call_answered(call, &rpc, bytes, 400);
}

static void on_refreshed(void *ctx, const struct client_reply *reply)
{
    AUTO_FREE struct refresh *r = ctx;
    struct client_call *call = client_call_find(r->c, r->call);

    if (!call || !client_call_is(call, CALL_REFRESHING))
        return;
    if (reply->err)
        give_refusal(call);
    else
        client_call_resend(call);
}

bool client_tools_refresh(struct client_call *call, struct blob *refusal)
{
    struct client *c = call->c;
    /* Who keeps the time of the call does not know of this one. */
    uint64_t ms = call->timeout_ms == CLIENT_NO_LIMIT ? 0 : call->timeout_ms;
    struct refresh *r;
    struct pb_error err;

    if (!client_modern(c) || !client_over_http(c) || call->refreshed || c->closing ||
        strcmp(call->method, "tools/call") != 0)
        return false;
    r = NEW(struct refresh);
    *r = (struct refresh){ c, call->id };
    if (client_list(c, "tools", ms, on_refreshed, r, &err) < 0) {
        free(r);
        return false;
    }
    call->refreshed = true;
    call->refused = blob_ref(refusal);
    client_call_move(call, CALL_REFRESHING);
    return true;
}
