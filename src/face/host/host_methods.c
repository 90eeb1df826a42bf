/* host_methods.c - the methods: a name is looked up in the catalog, the params are rewritten for
 * the server that it belongs to, and the relay does the rest. */
#include "face/external/external.h"
#include "face/relay/relay.h"
#include "host_impl.h"
#include "hub/catalog/catalog.h"
#include "hub/hub/hub.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"
#include "hub/view/view.h"
#include "mcp/rpc/rpc.h"
#include "mcp/serve/serve.h"

static int shown(struct span s) { return s.n > MCP_NAME_SHOWN_MAX ? MCP_NAME_SHOWN_MAX : (int)s.n; }

/* A string member that must be there; otherwise the request is answered. */
static bool need_string(struct request *r, struct json object, const char *key, struct span *out)
{
    struct json v = json_get(object, key);

    if (json_is(v, JSON_STRING)) {
        *out = json_str(v, &r->message->arena);
        return true;
    }
    request_fail(r, RPC_INVALID_PARAMS, SPAN(""), "%s: expected a string, got %s", key,
                 json_type_name(v));
    return false;
}

/* False: it is there and no object, and the request is answered. null counts as absent. */
static bool read_arguments(struct request *r, struct json *out)
{
    *out = json_get(r->params, "arguments");
    if (json_is(*out, JSON_NULL))
        *out = (struct json){ 0 };
    if (json_is(*out, JSON_NONE) || json_is(*out, JSON_OBJECT))
        return true;
    request_fail(r, RPC_INVALID_PARAMS, SPAN(""), "arguments: expected an object, got %s",
                 json_type_name(*out));
    return false;
}

/* ---- servers that cannot be asked --------------------------------------------------------- */

static void fail_server(struct request *r, const char *error, const char *server, const char *text)
{
    AUTO_BUF struct buf data = { 0 };
    struct json_out o = json_out(&data);

    json_begin_object(&o, NULL);
    json_put_str(&o, "error", error);
    json_put_str(&o, "server", server);
    json_end(&o);
    request_fail(r, RPC_SERVER_ERROR, buf_span(&data), "%s", text);
}

/* What is to be said about a server that is not connected, and what can be done about it. */
static void describe_absence(struct buf *out, const char *server, const struct link_status *status)
{
    enum advice advice = advice_of_state(status->state);

    if (status->state == LINK_DISABLED)
        buf_printf(out, "Server '%s' is disabled", server);
    else if (advice == ADVICE_WAIT)
        buf_printf(out, "Server '%s' is not connected yet (%s)", server,
                   link_state_name(status->state));
    else
        buf_printf(out, "Server '%s' is not connected%s%s", server, status->message ? ": " : "",
                   status->message ? status->message : "");
    advice_text(out, advice, server);
}

/* True: the server is away, and r was told so. */
static bool fail_absent(struct host *h, struct request *r, const struct link *l)
{
    AUTO_BUF struct buf text = { 0 };
    struct link_status status = { 0 };
    bool idle;

    link_status(l, &status);
    idle = status.state == LINK_IDLE &&
           catalog_count(h->set->catalog, link_name(l), LIST_TOOLS) > 0; /* it is known */
    if (status.state == LINK_CONNECTED || idle)
        return false;
    describe_absence(&text, link_name(l), &status);
    fail_server(r, status.state == LINK_DISABLED ? "server_disabled" : "server_not_connected",
                link_name(l), buf_cstr(&text));
    return true;
}

/* A mode that would not show this tool does not tell of its server. */
static bool may_know(const void *ctx, const struct item_name *i)
{
    const struct host *h = ctx;
    const struct filter *f = h->scope.filter;

    return hub_link_named(h->set->hub, i->server) &&
           (!f || filter_matches(f, &(struct filter_subject){ i->server, i->own }));
}

/* A name that nobody has may be one of a server that is away: its tools went with it. */
static const struct link *server_named(struct host *h, struct span name)
{
    struct item_name i;

    if (!h->set->hub || h->scope.no_external)
        return NULL;
    if (h->server_name)
        return hub_link(h->set->hub, h->server_name);
    return item_split(&i, name, may_know, h) ? hub_link_named(h->set->hub, i.server) : NULL;
}

static void fail_unknown(struct host *h, struct request *r, const char *what, struct span name,
                         const struct pb_error *why)
{
    const struct link *l = server_named(h, name);
    AUTO_BUF struct buf data = { 0 };
    struct json_out o = json_out(&data);

    if (l && (host_wait(h, r, link_name(l)) || fail_absent(h, r, l)))
        return;
    json_begin_object(&o, NULL);
    json_put_fmt(&o, "error", "%s_not_found", what);
    json_put_span(&o, what, name);
    json_put_str(&o, "message", why->msg);
    json_end(&o);
    request_fail(r, RPC_INVALID_PARAMS, buf_span(&data), "Unknown %s: %.*s", what, shown(name),
                 name.p);
}

/* ---- relaying ----------------------------------------------------------------------------- */

struct target {
    const char *method, *server;
    struct span subject;
    const struct own_param *own;
};

static void relay(struct host *h, struct request *r, const struct scope *scope,
                  const struct target *t)
{
    struct hosts *s = h->set;
    struct buf params = s->params; /* taken out: what runs below may relay another one */
    struct relay_order o = { .scope = scope,
                             .mode = h->mode,
                             .face = host_face(h),
                             .directory = h->directory,
                             .server = t->server,
                             .method = t->method,
                             .subject = t->subject };

    if (relay_resume(s->relays, r, &o))
        return;
    s->params = (struct buf){ 0 };
    params.n = 0;
    o.plain = relay_params(&params, r->params, t->own);
    o.params = buf_span(&params);
    relay_start(s->relays, r, &o);
    if (s->params.p || params.cap > MCP_OUT_KEEP)
        buf_done(&params);
    else
        s->params = params;
}

static void tools_call(struct host *h, struct request *r, const struct scope *scope)
{
    struct span name;
    struct json arguments;
    const struct entry *e;
    struct pb_error err = { 0 };
    const struct external_caller by = { scope, h->mode, host_face(h) };

    if (!need_string(r, r->params, "name", &name) || !read_arguments(r, &arguments))
        return;
    e = catalog_find_any(h->set->catalog, scope, LIST_TOOLS, name, &err);
    if (!e || (!e->server && !external_call(h->set->gate, &by, r, e->name, arguments))) {
        fail_unknown(h, r, "tool", name, &err);
        return;
    }
    if (!e->server)
        return;
    relay(h, r, scope,
          &(struct target){
              "tools/call", e->server, e->name,
              (struct own_param[]){
                  { "name", e->name, .text = true, .given = true },
                  { "arguments", json_is(arguments, JSON_NONE) ? SPAN("{}") : json_text(arguments),
                    .given = !json_is(arguments, JSON_NONE) },
                  { 0 },
              } });
}

static void prompts_get(struct host *h, struct request *r, const struct scope *scope)
{
    struct span name;
    struct json arguments;
    const struct entry *e;
    struct pb_error err = { 0 };

    if (!need_string(r, r->params, "name", &name) || !read_arguments(r, &arguments))
        return;
    e = catalog_find_any(h->set->catalog, scope, LIST_PROMPTS, name, &err);
    if (!e || !e->server) {
        fail_unknown(h, r, "prompt", name, &err);
        return;
    }
    relay(h, r, scope,
          &(struct target){
              "prompts/get", e->server, e->name,
              (struct own_param[]){ { "name", e->name, .text = true, .given = true }, { 0 } } });
}

static struct uri_route route(struct host *h, const struct scope *scope, struct span uri,
                              struct arena *a)
{
    if (uri.n > MCP_URI_BYTES_MAX)
        return (struct uri_route){ 0 };
    return catalog_route(h->set->catalog, scope, uri, a);
}

static void resources_read(struct host *h, struct request *r, const struct scope *scope)
{
    struct span uri;
    struct uri_route to;

    if (!need_string(r, r->params, "uri", &uri))
        return;
    to = route(h, scope, uri, &r->message->arena);
    if (!to.server && host_wait_any(h, r))
        return;
    if (!to.server) {
        AUTO_BUF struct buf data = { 0 };
        struct json_out o = json_out(&data);

        json_begin_object(&o, NULL);
        json_put_span(&o, "uri", uri);
        json_end(&o);
        request_fail(r, r->env.era == ERA_MODERN ? RPC_INVALID_PARAMS : RPC_RESOURCE_NOT_FOUND,
                     buf_span(&data), "Resource not found");
        return;
    }
    relay(h, r, scope,
          &(struct target){
              "resources/read", to.server, to.uri,
              (struct own_param[]){ { "uri", to.uri, .text = true, .given = true }, { 0 } } });
}

/* ---- completion --------------------------------------------------------------------------- */

static const struct entry *find_template(struct host *h, const struct scope *scope, struct span uri)
{
    const struct entry *const *all;
    size_t n = catalog_all(h->set->catalog, LIST_TEMPLATES, &all);

    for (size_t i = 0; i < n; i++)
        if (span_eq(scope->server ? all[i]->name : all[i]->wire, uri) &&
            scope_shows(h->set->catalog, scope, all[i]))
            return all[i];
    return NULL;
}

/* The prompt, template or resource that a word is completed for. */
struct reference {
    const char *server, *key; /* key: the member of `ref` that names it */
    struct span own;
};

/* False: nobody has it yet, and r waits for who may have it, or has been told so. */
static bool need_reference(struct host *h, struct request *r, const struct reference *ref,
                           struct span name)
{
    bool prompt = strcmp(ref->key, "name") == 0;
    const struct link *l = prompt && !ref->server ? server_named(h, name) : NULL;

    if (ref->server)
        return true;
    if (prompt ? l && host_wait(h, r, link_name(l)) : host_wait_any(h, r))
        return false;
    request_fail(r, RPC_INVALID_PARAMS, SPAN(""), "Unknown reference: %.*s", shown(name), name.p);
    return false;
}

static bool find_reference(struct host *h, struct request *r, const struct scope *scope,
                           struct reference *out)
{
    struct json ref = json_get(r->params, "ref");
    bool prompt = json_str_is(json_get(ref, "type"), "ref/prompt");
    const struct entry *e;
    struct uri_route to;
    struct span name;

    if (!prompt && !json_str_is(json_get(ref, "type"), "ref/resource")) {
        request_fail(r, RPC_INVALID_PARAMS, SPAN(""),
                     "ref.type: expected \"ref/prompt\" or \"ref/resource\"");
        return false;
    }
    out->key = prompt ? "name" : "uri";
    if (!need_string(r, ref, out->key, &name))
        return false;
    e = prompt ? catalog_find(h->set->catalog, scope, LIST_PROMPTS, name, NULL)
               : find_template(h, scope, name);
    if (e) {
        *out = (struct reference){ e->server, out->key, e->name };
    } else if (!prompt) {
        to = route(h, scope, name, &r->message->arena);
        *out = (struct reference){ to.server, out->key, to.uri };
    }
    return need_reference(h, r, out, name);
}

static void complete(struct host *h, struct request *r, const struct scope *scope)
{
    struct reference ref = { 0 };
    AUTO_BUF struct buf own = { 0 };
    struct link *l;

    if (!find_reference(h, r, scope, &ref))
        return;
    l = hub_link(h->set->hub, ref.server);
    if (l && link_state(l) == LINK_CONNECTED && !link_has(l, "completions")) {
        request_reply(r, SPAN("{\"completion\":{\"values\":[],\"total\":0,\"hasMore\":false}}"));
        return;
    }
    relay_params(&own, json_get(r->params, "ref"),
                 (struct own_param[]){ { ref.key, ref.own, true }, { 0 } });
    relay(h, r, scope,
          &(struct target){ "completion/complete", ref.server, ref.own,
                            (struct own_param[]){ { "ref", buf_span(&own), false }, { 0 } } });
}

/* ---- the table ---------------------------------------------------------------------------- */

static void tools_list(struct host *h, struct request *r, const struct scope *scope)
{
    (void)scope;
    host_list(h, r, LIST_TOOLS);
}

static void resources_list(struct host *h, struct request *r, const struct scope *scope)
{
    (void)scope;
    host_list(h, r, LIST_RESOURCES);
}

static void templates_list(struct host *h, struct request *r, const struct scope *scope)
{
    (void)scope;
    host_list(h, r, LIST_TEMPLATES);
}

static void prompts_list(struct host *h, struct request *r, const struct scope *scope)
{
    (void)scope;
    host_list(h, r, LIST_PROMPTS);
}

/* clang-format off */
static const struct host_method {
    struct span name;
    void (*run)(struct host *h, struct request *r, const struct scope *scope);
    bool modern; /* only in this era, as we have it */
} methods[] = {
    { SPAN_CONST("completion/complete"),      complete,       false },
    { SPAN_CONST("prompts/get"),              prompts_get,    false },
    { SPAN_CONST("prompts/list"),             prompts_list,   false },
    { SPAN_CONST("resources/list"),           resources_list, false },
    { SPAN_CONST("resources/read"),           resources_read, false },
    { SPAN_CONST("resources/templates/list"), templates_list, false },
    { SPAN_CONST("tasks/cancel"),             host_task,      true },
    { SPAN_CONST("tasks/get"),                host_task,      true },
    { SPAN_CONST("tasks/update"),             host_task,      true },
    { SPAN_CONST("tools/call"),               tools_call,     false },
    { SPAN_CONST("tools/list"),               tools_list,     false },
};
/* clang-format on */

/* Of so few, most of which differ in length, looking at each is faster than halving. */
static const struct host_method *method_named(struct span name)
{
    for (size_t i = 0; i < ARRAY_LEN(methods); i++)
        if (span_eq(methods[i].name, name))
            return &methods[i];
    return NULL;
}

bool host_handle(void *ctx, struct request *r)
{
    struct host *h = ctx;
    const struct host_method *m;
    const struct scope *scope;

    if (h->control && h->set->control && h->set->control(h->set, r))
        return true;
    if (h->control)
        r->env.label = SPAN("command line");
    m = method_named(r->method);
    if (!m || (m->modern && r->env.era != ERA_MODERN))
        return false;
    scope = host_view(h, r);
    if (scope)
        m->run(h, r, scope);
    return true;
}

struct span host_tool_schema(void *ctx, struct span tool)
{
    struct host *h = ctx;
    const struct scope *scope = host_view(h, NULL);
    const struct entry *e =
        scope ? catalog_find(h->set->catalog, scope, LIST_TOOLS, tool, NULL) : NULL;

    return e ? entry_schema(e) : SPAN("");
}
