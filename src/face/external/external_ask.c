/* external_ask.c - the external_* tools that ask a server: S4-50, S4-52 and their kin. */
#include "external_impl.h"
#include "face/caller/caller.h"
#include "gate/gate.h"
#include "hub/catalog/catalog.h"
#include "hub/hub/hub.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"
#include "hub/view/view.h"
#include "mcp/client/client.h"
#include "mcp/rpc/rpc.h"
#include "mcp/serve/serve.h"
#include <assert.h>

struct external_ask {
    struct gate *gate;
    struct request *r; /* NULL: nobody wants the answer any more */
    uint64_t id, limit_ms;
    char *server, *named;
    size_t named_n;
    /* Turns the result, an object, into the text that is answered. False: there is nothing in it.
     */
    bool (*write)(struct json_out *o, struct json result, bool *is_error);
    const char *key, *missing; /* what `named` is, and the code when the server has no such thing */
};

static void ask_free(struct external_ask *a)
{
    free(a->server);
    free(a->named);
    free(a);
}

/* ---- what cannot be asked ----------------------------------------------------------------- */

/* Its tools went with it, unless it is idle. True: that has been said. */
static bool fail_absent(struct external *x, const struct link *l)
{
    struct link_status status = { 0 };

    link_status(l, &status);
    if (status.state == LINK_CONNECTED || status.state == LINK_IDLE)
        return false;
    external_fail(x->r, "server_not_connected", "server", span_of(link_name(l)),
                  status.message ? status.message : link_state_name(status.state));
    return true;
}

/* Of a server that is away no tools are known: what was asked for decides. */
static bool may_know(const void *ctx, const struct item_name *i)
{
    const struct external *x = ctx;
    const struct link *l = hub_link_named(x->hub, i->server);

    return l && (scope_shows_server(hub_catalog(x->hub), &x->scope, link_name(l)) ||
                 filter_matches(x->scope.filter, &(struct filter_subject){ i->server, i->own }));
}

/* What was meant to be a server's name, when there is none of it; empty: nothing was. */
static struct span meant_server(struct span named)
{
    struct span part = item_server_part(named);

    return part.n < named.n ? part : SPAN("");
}

static void fail_missing(struct external *x, const char *key, const char *missing,
                         const struct pb_error *why)
{
    struct span server = x->server.p ? x->server : span_of(x->scope.server);
    struct item_name i = { server, x->named };
    bool known = server.p ? may_know(x, &i) : item_split(&i, x->named, may_know, x);

    if (!server.p)
        server = meant_server(x->named);
    if (known && fail_absent(x, hub_link_named(x->hub, i.server)))
        return;
    if (!known && server.n)
        external_fail(x->r, "server_not_found", "server", server, NULL);
    else
        external_fail(x->r, missing, key, x->named, why->msg);
}

/* ---- asking ------------------------------------------------------------------------------- */

static void fail_timeout(struct external_ask *a)
{
    AUTO_BUF struct buf text = { 0 };

    buf_str(&text, "timeout after ");
    duration_text(&text, a->limit_ms);
    external_fail(a->r, "call_failed", "code", SPAN("call_timeout"), buf_cstr(&text));
}

/* Which of the codes says that there is no such thing: servers do not agree. */
static bool says_missing(const struct external_ask *a, const struct pb_error *err)
{
    return a->missing && err->code == PB_E_REMOTE &&
           (err->sys == RPC_RESOURCE_NOT_FOUND || err->sys == RPC_INVALID_PARAMS ||
            err->sys == RPC_METHOD_NOT_FOUND);
}

static void answer_error(struct external_ask *a, const struct pb_error *err)
{
    enum fault fault = fault_of(err);

    if (fault == FAULT_TIMEOUT || err->code == PB_E_TIMEOUT)
        fail_timeout(a);
    else if (fault == FAULT_NOT_CONNECTED || fault == FAULT_DISABLED || fault == FAULT_CONNECT)
        external_fail(a->r, "server_not_connected", "server", span_of(a->server), err->msg);
    else if (says_missing(a, err))
        external_fail(a->r, a->missing, a->key, span_make(a->named, a->named_n), err->msg);
    else if (fault == FAULT_CALL || fault == FAULT_NONE)
        external_fail(a->r, "call_failed", NULL, SPAN(""), err->msg);
    else
        external_fail(a->r, "call_failed", "code", span_of(fault_name(err)), err->msg);
}

static void answer_result(struct external_ask *a, struct span result)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_BUF struct buf out = { 0 };
    struct json_out o = json_out(&out);
    bool is_error = false;

    if (json_parse(&doc, result, NULL, NULL) < 0 || !json_is(json_root(&doc), JSON_OBJECT))
        external_fail(a->r, "call_failed", NULL, SPAN(""), "the server's result is no object");
    else if (a->write(&o, json_root(&doc), &is_error))
        external_reply(a->r, buf_span(&out), is_error);
    else
        external_fail(a->r, a->missing, a->key, span_make(a->named, a->named_n), NULL);
}

static void on_reply(void *ctx, const struct client_reply *reply)
{
    struct external_ask *a = ctx;

    if (a->r) {
        a->r->cancel = NULL;
        a->r->work = NULL;
        if (reply->err)
            answer_error(a, reply->err);
        else
            answer_result(a, reply->result);
    }
    ask_free(a);
}

static void on_progress(void *ctx, struct span params)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena arena = { 0 };
    struct external_ask *a = ctx;
    double progress, total = 0;

    if (!a->r || json_parse(&doc, params, NULL, NULL) < 0 ||
        json_double(json_get(json_root(&doc), "progress"), &progress, NULL) < 0)
        return;
    if (json_double(json_get(json_root(&doc), "total"), &total, NULL) < 0)
        total = 0;
    request_progress(a->r, progress, total,
                     json_cstr(json_get(json_root(&doc), "message"), &arena));
}

static void on_cancel(struct request *r, enum cancel_reason why)
{
    struct external_ask *a = r->work;

    a->r = NULL;
    gate_cancel(a->gate, a->id, why == CANCEL_SHUTDOWN ? CALL_SHUTDOWN : CALL_BY_USER);
}

/* `take_a` has what the answer is made of. */
static void ask(struct external *x, struct external_ask *take_a, const struct link *l,
                const char *method, struct span params)
{
    AUTO_BUF struct buf caller = { 0 }, client = { 0 };
    struct external_ask *a = take_a;
    struct span trace = trace_of_params(x->r->params, &x->r->message->arena);
    struct pb_error err;

    a->gate = x->gate;
    a->r = x->r;
    a->server = mem_dup(link_name(l));
    a->limit_ms = link_call_ms(l);
    caller_key(x->r, &caller);
    request_client(x->r, &client);
    if (gate_call(x->gate,
                  &(struct order){ .call = { .server = a->server,
                                             .method = method,
                                             .params = params,
                                             .subject = span_make(a->named, a->named_n),
                                             .caller = buf_cstr(&caller),
                                             .origin = caller_origin(x->r),
                                             .client = buf_cstr(&client),
                                             .wants_progress = x->r->env.progress_token.n > 0,
                                             .progress = on_progress,
                                             .reply = on_reply,
                                             .ctx = a },
                                   .face = x->by->face,
                                   .mode = x->by->mode,
                                   .conversation = x->by->face == FACE_CLI ? "cli" : NULL,
                                   .trace = trace.n ? trace : x->r->env.trace,
                                   .arguments = json_text(x->arguments),
                                   .arguments_blob = x->r->message->bytes },
                  &a->id, &err) < 0) {
        answer_error(a, &err);
        ask_free(a);
        return;
    }
    x->r->work = a;
    x->r->cancel = on_cancel;
}

static struct external_ask *ask_new(struct span named)
{
    struct external_ask *a = NEW(struct external_ask);

    a->named = mem_dupn(named.p, named.n);
    a->named_n = named.n;
    return a;
}

/* ---- what is asked ------------------------------------------------------------------------ */

/* The members of a result but for those that belong to the protocol between us and the server. */
static void put_result(struct json_out *o, struct json result)
{
    AUTO_ARENA struct arena a = { 0 };

    json_begin_object(o, NULL);
    JSON_FOREACH(member, result)
        if (!json_key_is(member, "_meta") && !json_key_is(member, "resultType"))
            json_put_raw_key(o, json_key_str(member, &a), json_text(member));
    json_end(o);
}

static bool write_tool(struct json_out *o, struct json result, bool *is_error)
{
    *is_error = json_bool(json_get(result, "isError"), false);
    put_result(o, result);
    return true;
}

static bool write_prompt(struct json_out *o, struct json result, bool *is_error)
{
    (void)is_error;
    put_result(o, result);
    return true;
}

/* What is no object says nothing. */
static void put_contents(struct json_out *o, struct json contents)
{
    json_begin_array(o, "contents");
    JSON_FOREACH(one, contents)
        if (json_is(one, JSON_OBJECT))
            json_put_raw(o, NULL, json_text(one));
    json_end(o);
}

/* The first content; all of them beside it when there are more. */
bool external_write_resource(struct json_out *o, struct json result, bool *is_error)
{
    struct json contents = json_get(result, "contents"), first = json_item(contents, 0);
    struct json text = json_get(first, "text"), blob = json_get(first, "blob");
    struct json mime = json_get(first, "mimeType");
    bool binary = !json_is(text, JSON_STRING) && json_is(blob, JSON_STRING);

    (void)is_error;
    if (!json_is(first, JSON_OBJECT))
        return false;
    json_begin_object(o, NULL);
    json_put_raw(o, "content",
                 binary                       ? json_text(blob)
                 : json_is(text, JSON_STRING) ? json_text(text)
                                              : SPAN("null"));
    json_put_raw(o, "mime_type", json_is(mime, JSON_STRING) ? json_text(mime) : SPAN("null"));
    if (binary)
        json_put_str(o, "encoding", "base64");
    if (json_len(contents) > 1)
        put_contents(o, contents);
    json_end(o);
    return true;
}

/* A tool or prompt by its name, with arguments. `otherwise`: what they are when there are none. */
static void ask_named(struct external *x, enum list_kind kind, const char *method,
                      struct span otherwise, const struct external_ask *how)
{
    AUTO_BUF struct buf params = { 0 };
    struct json_out o = json_out(&params);
    struct scope scope = x->scope;
    const struct entry *e;
    const struct link *l;
    struct pb_error err = { 0 };
    struct external_ask *a;

    if (x->server.p)
        scope.server = arena_dup(x->arena, x->server);
    e = catalog_find_any(hub_catalog(x->hub), &scope, kind, x->named, &err);
    l = e && e->server ? hub_link(x->hub, e->server) : NULL;
    if (!l) {
        fail_missing(x, how->key, how->missing, &err);
        return;
    }
    json_begin_object(&o, NULL);
    json_put_span(&o, "name", e->name);
    json_put_raw(&o, "arguments",
                 json_is(x->arguments, JSON_NONE) ? otherwise : json_text(x->arguments));
    json_end(&o);
    a = ask_new(e->name);
    a->write = how->write;
    a->key = how->key;
    ask(x, a, l, method, buf_span(&params));
}

void external_call_tool(struct external *x)
{
    ask_named(
        x, LIST_TOOLS, "tools/call", SPAN("{}"),
        &(struct external_ask){ .write = write_tool, .key = "tool", .missing = "tool_not_found" });
}

void external_get_prompt(struct external *x)
{
    ask_named(x, LIST_PROMPTS, "prompts/get", SPAN(""),
              &(struct external_ask){
                  .write = write_prompt, .key = "prompt", .missing = "prompt_not_found" });
}

void external_read_resource(struct external *x)
{
    const struct link *l = hub_link(x->hub, arena_dup(x->arena, x->server));
    AUTO_BUF struct buf params = { 0 };
    struct json_out o = json_out(&params);
    struct external_ask *a;

    assert(l && "external_call() has looked");
    json_begin_object(&o, NULL);
    json_put_span(&o, "uri", x->named);
    json_end(&o);
    a = ask_new(x->named);
    a->write = external_write_resource;
    a->key = "uri";
    a->missing = "resource_not_found";
    ask(x, a, l, "resources/read", buf_span(&params));
}
