/* rest_ask.c - requests that a server answers: S4-39, S4-40, S4-42, S4-43, and prompts (C63). */
#include "face/control/control.h"
#include "face/external/external.h"
#include "hub/catalog/catalog.h"
#include "hub/hub/hub.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"
#include "hub/view/view.h"
#include "io/http/http.h"
#include "mcp/client/client.h"
#include "mcp/rpc/rpc.h"
#include "rest_impl.h"
#include <ctype.h>
#include <stdio.h>

struct rest_ask;

/* What the three kinds of them differ in. */
struct rest_ask_kind {
    enum list_kind list;
    const char *method, *key; /* of the body: "tool" */
    const char *missing;      /* the code when there is no such thing */
    void (*answer)(struct rest_ask *a, const struct client_reply *reply);
};

struct rest_ask {
    const struct rest_ask_kind *kind;
    struct gate *gate;
    struct http_request *r; /* NULL: gone */
    uint64_t id, limit_ms;
    char *server, *named;
};

static void ask_free(struct rest_ask *a)
{
    free(a->server);
    free(a->named);
    free(a);
}

/* ---- failures ---- */

static void fail_named(const struct rest_ask *a, const char *message, struct span rpc)
{
    rest_fail(a->r, &(struct rest_failure){ 404, a->kind->missing, a->kind->key, span_of(a->named),
                                            .message = message, .rpc = rpc });
}

/* C61 */
static void fail_timeout(const struct rest_ask *a)
{
    AUTO_BUF struct buf text = { 0 };

    buf_str(&text, "timeout after ");
    duration_text(&text, a->limit_ms);
    rest_fail(a->r, &(struct rest_failure){ 504, "call_failed", "server", span_of(a->server),
                                            .code = "call_timeout", .message = buf_cstr(&text),
                                            .next = "raise timeout_s of the server or the call" });
}

/* Servers do not agree on the code that says that there is no such thing. A tool that there is may
 * say about its arguments what it likes. */
static bool says_missing(const struct rest_ask *a, const struct pb_error *err)
{
    return a->kind->list != LIST_TOOLS && err->code == PB_E_REMOTE &&
           (err->sys == RPC_RESOURCE_NOT_FOUND || err->sys == RPC_INVALID_PARAMS ||
            err->sys == RPC_METHOD_NOT_FOUND);
}

static void fail_ask(const struct rest_ask *a, const struct pb_error *err, struct span rpc)
{
    enum fault fault = fault_of(err);

    if (fault == FAULT_TIMEOUT || err->code == PB_E_TIMEOUT)
        fail_timeout(a);
    else if (says_missing(a, err))
        fail_named(a, err->msg, rpc);
    else if (fault == FAULT_CONNECT || fault == FAULT_NOT_CONNECTED)
        rest_fail(a->r,
                  &(struct rest_failure){ 503, "server_not_connected", "server", span_of(a->server),
                                          .message = err->msg, .advice = advice_of_fault(fault) });
    else if (fault != FAULT_NONE && fault != FAULT_CALL)
        rest_fail_hub(a->r, err, "server", a->server);
    else
        rest_fail(a->r,
                  &(struct rest_failure){ 502, "call_failed", "server", span_of(a->server),
                                          .code = err->code == PB_E_AUTH ? "auth_required" : NULL,
                                          .message = err->msg, .rpc = rpc });
}

/* ---- how it is asked ---- */

static bool is_uuid(const char *s)
{
    static const char shape[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";

    for (size_t i = 0; i < sizeof shape; i++)
        if (shape[i] == 'x' ? !isxdigit((unsigned char)s[i]) : s[i] != shape[i])
            return false;
    return true;
}

/* False: what was given cannot be done, and that was answered. */
static bool check_ask(struct rest_call *c)
{
    const struct rest_value *limit = rest_value(c, "timeout_s");
    const char *id = rest_text(c, "id");

    if (limit->given && !(limit->number >= 0.001 && limit->number <= SPEC_SECONDS_MAX))
        rest_refuse(c->r, "timeout_s: expected seconds from 0.001 to %d", SPEC_SECONDS_MAX);
    else if (id && !is_uuid(id))
        rest_refuse(c->r, "id: expected a UUID");
    else if (id && gate_has_call(c->rest->gate, id))
        rest_fail(c->r, &(struct rest_failure){ 409, "duplicate_call", "id", span_of(id),
                                                .message = "A call with this id is running" });
    else
        return true;
    return false;
}

/* ---- asking ---- */

static void on_reply(void *ctx, const struct client_reply *reply)
{
    struct rest_ask *a = ctx;

    if (a->r && reply->err)
        fail_ask(a, reply->err, reply->error);
    else if (a->r)
        a->kind->answer(a, reply);
    ask_free(a);
}

static void on_gone(void *ctx)
{
    struct rest_ask *a = ctx;

    a->r = NULL;
    gate_cancel(a->gate, a->id, CALL_BY_USER);
}

void rest_conversation(const struct rest_call *c, char out[static REST_RUN_CHARS + 1])
{
    snprintf(out, REST_RUN_CHARS + 1, "rest-%.8s", c->principal ? c->principal : "");
}

static void ask(struct rest_call *c, const struct rest_ask_kind *kind, const char *server,
                struct span named, struct span params)
{
    const struct link *l = hub_link(c->hub, server);
    const struct rest_value *limit = rest_value(c, "timeout_s");
    const char *id = rest_text(c, "id");
    struct span trace = http_header(c->r, "traceparent", NULL);
    char conversation[REST_RUN_CHARS + 1];
    struct pb_error err;
    struct rest_ask *a;

    if (!check_ask(c))
        return;
    rest_conversation(c, conversation);
    a = NEW(struct rest_ask);
    *a = (struct rest_ask){ .kind = kind,
                            .gate = c->rest->gate,
                            .r = c->r,
                            .limit_ms =
                                limit->given ? (uint64_t)(limit->number * 1000) : link_call_ms(l),
                            .server = mem_dup(server),
                            .named = mem_dupn(named.p, named.n) };
    if (gate_call(a->gate,
                  &(struct order){ .call = { .server = a->server,
                                             .method = kind->method,
                                             .params = params,
                                             .subject = named,
                                             .timeout_ms = limit->given ? a->limit_ms : 0,
                                             .caller = "",
                                             .client = rest_client(c, "REST"),
                                             .uuid = id,
                                             .wants_progress = id != NULL, /* it will be looked
                                                                              for */
                                             .reply = on_reply,
                                             .ctx = a },
                                   .face = FACE_REST,
                                   .conversation = conversation,
                                   .trace = trace_valid(trace) ? trace : SPAN(""),
                                   .arguments = json_text(rest_value(c, "arguments")->json) },
                  &a->id, &err) < 0) {
        fail_ask(a, &err, SPAN(""));
        ask_free(a);
        return;
    }
    http_on_gone(c->r, on_gone, a);
}

/* ---- who is asked ---- */

/* Of a server that is on its way, or that is idle and has never been asked, it is not known what it
 * has: the call waits for it, and the server decides. */
static bool may_come(const struct hub *h, const struct link *l, enum list_kind kind)
{
    enum link_state s = link_state(l);

    return link_is_coming(s) ||
           (s == LINK_IDLE && !catalog_count(hub_catalog(h), link_name(l), kind));
}

static void fail_absent(struct rest_call *c, const struct link *l)
{
    struct link_status status;

    link_status(l, &status);
    rest_fail(c->r, &(struct rest_failure){
                        503, "server_not_connected", "server", span_of(link_name(l)),
                        .message = status.message ? status.message : link_state_name(status.state),
                        .advice = advice_of_state(status.state) });
}

/* There is no such tool or prompt: why? NULL, or its server, which may still have it. */
static const struct link *explain_missing(struct rest_call *c, const struct rest_ask_kind *kind,
                                          const char *item, const struct pb_error *why,
                                          struct span *own)
{
    const struct link *l = hub_link_of(c->hub, item, own);

    if (l && may_come(c->hub, l, kind->list))
        return l;
    if (l && link_state(l) != LINK_CONNECTED && link_state(l) != LINK_IDLE)
        fail_absent(c, l);
    else if (fault_of(why) == FAULT_NO_SERVER)
        rest_fail(c->r, &(struct rest_failure){ 404, "server_not_found", kind->key, span_of(item),
                                                .message = why->msg });
    else
        rest_fail(c->r, &(struct rest_failure){ 404, kind->missing, kind->key, span_of(item),
                                                .message = why->msg });
    return NULL;
}

static void ask_named(struct rest_call *c, const struct rest_ask_kind *kind)
{
    const struct rest_value *arguments = rest_value(c, "arguments");
    const char *item = rest_text(c, kind->key);
    const struct link *l = NULL;
    AUTO_BUF struct buf params = { 0 };
    struct json_out o = json_out(&params);
    struct scope scope = { .builtins = HOST_BUILTIN };
    struct pb_error err = { 0 };
    const struct entry *e =
        catalog_find_any(hub_catalog(c->hub), &scope, kind->list, span_of(item), &err);
    struct span name = { 0 };

    if (e)
        name = e->name;
    else if (!(l = explain_missing(c, kind, item, &err, &name)))
        return;
    json_begin_object(&o, NULL);
    json_put_span(&o, "name", name);
    if (arguments->given)
        json_put_raw(&o, "arguments", json_text(arguments->json));
    else if (kind->list == LIST_TOOLS)
        json_put_raw(&o, "arguments", SPAN("{}"));
    json_end(&o);
    ask(c, kind, e ? e->server : link_name(l), name, buf_span(&params));
}

/* ---- what is asked ---- */

/* What belongs to the protocol between us and the server says nothing to others. */
static void put_meta(struct json_out *o, struct span meta)
{
    static const struct json_opts shallow = { .keep_depth = 1 };
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena a = { 0 };
    AUTO_BUF struct buf text = { 0 };
    struct json_out inner = json_out(&text);
    bool any = false;

    if (json_parse(&doc, meta, &shallow, NULL) < 0)
        return;
    json_begin_object(&inner, NULL);
    JSON_FOREACH(member, json_root(&doc)) {
        struct span key = json_key_str(member, &a);

        if (span_starts(key, "io.modelcontextprotocol/"))
            continue;
        json_put_raw_key(&inner, key, json_text(member));
        any = true;
    }
    json_end(&inner);
    if (any)
        json_put_raw(o, "_meta", buf_span(&text));
}

/* Everything else is passed on as it was written. */
static void answer_result(struct rest_ask *a, const struct client_reply *reply)
{
    AUTO_ARENA struct arena arena = { 0 };
    AUTO_BUF struct buf body = { 0 };
    struct json_out o = json_out(&body);

    json_begin_object(&o, NULL);
    json_begin_object(&o, "result");
    JSON_FOREACH(member, reply->members) {
        if (json_key_is(member, "_meta") && json_is(member, JSON_OBJECT))
            put_meta(&o, json_text(member));
        else if (!json_key_is(member, "resultType"))
            json_put_raw_key(&o, json_key_str(member, &arena), json_text(member));
    }
    json_end(&o);
    json_end(&o);
    rest_reply(a->r, 200, &body);
}

static void answer_resource(struct rest_ask *a, const struct client_reply *reply)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_BUF struct buf body = { 0 };
    struct json_out o = json_out(&body);
    bool is_error = false;

    if (json_parse(&doc, reply->result, NULL, NULL) < 0 || !json_is(json_root(&doc), JSON_OBJECT) ||
        !external_write_resource(&o, json_root(&doc), &is_error))
        fail_named(a, "The server's answer has no content", SPAN(""));
    else
        rest_reply(a->r, 200, &body);
}

void rest_mcp_tools_call(struct rest_call *c)
{
    static const struct rest_ask_kind kind = { LIST_TOOLS, "tools/call", "tool", "tool_not_found",
                                               answer_result };

    ask_named(c, &kind);
}

void rest_mcp_prompts_get(struct rest_call *c)
{
    static const struct rest_ask_kind kind = { LIST_PROMPTS, "prompts/get", "prompt",
                                               "prompt_not_found", answer_result };

    ask_named(c, &kind);
}

void rest_mcp_resources_read(struct rest_call *c)
{
    static const struct rest_ask_kind kind = { LIST_RESOURCES, "resources/read", "uri",
                                               "resource_not_found", answer_resource };
    const char *server = rest_text(c, "server"), *uri = rest_text(c, "uri");
    AUTO_BUF struct buf params = { 0 };
    struct json_out o = json_out(&params);

    if (!hub_link(c->hub, server)) {
        rest_fail(c->r, &(struct rest_failure){ 404, "server_not_found", "server", span_of(server),
                                                .message = "There is no server of this name" });
        return;
    }
    json_begin_object(&o, NULL);
    json_put_str(&o, "uri", uri);
    json_end(&o);
    ask(c, &kind, server, span_of(uri), buf_span(&params));
}
