#include "external_impl.h"
#include "hub/catalog/catalog.h"
#include "hub/hub/hub.h"
#include "hub/link/link.h"
#include "mcp/serve/serve.h"
#include <stdio.h>

#define NO_PARAMS "{\"type\":\"object\",\"properties\":{}}"
#define ONE_SERVER                                                                          \
    "{\"type\":\"object\",\"properties\":{\"server\":{\"type\":\"string\",\"description\":" \
    "\"Only of this server\"}}}"
#define NAMED(what, description)                                                              \
    "{\"type\":\"object\",\"properties\":{\"" what "\":{\"type\":\"string\",\"description\":" \
    "\"" description "\"},\"arguments\":{\"type\":\"object\",\"description\":\"What it is "   \
    "given\"}},\"required\":[\"" what "\"]}"
#define A_RESOURCE                                                                          \
    "{\"type\":\"object\",\"properties\":{\"server\":{\"type\":\"string\",\"description\":" \
    "\"Name of the server\"},\"uri\":{\"type\":\"string\",\"description\":\"As "            \
    "external_list_resources tells it\"}},\"required\":[\"server\",\"uri\"]}"

enum needs { NEEDS_SERVER = 1, NEEDS_NAMED = 2, NEEDS_BOTH = 3 };

/* In the order in which they are shown. `named` is the parameter that says which one. */
/* clang-format off */
static const struct external_tool {
    const char *name, *named;
    unsigned needs;
    bool read_only;
    void (*run)(struct external *x);
    const char *description, *schema;
} tools[] = {
    { "external_list_servers",   NULL,     0,            true,  external_list_servers,
      "List the external MCP servers: their status, and how many tools they have",
      NO_PARAMS },
    { "external_list_tools",     NULL,     0,            true,  external_list_tools,
      "List the tools of the external MCP servers, or of one of them",
      ONE_SERVER },
    { "external_call_tool",      "tool",   NEEDS_NAMED,  false, external_call_tool,
      "Call a tool of an external MCP server",
      NAMED("tool", "server/tool, as external_list_tools tells it") },
    { "external_list_resources", NULL,     0,            true,  external_list_resources,
      "List the resources of the external MCP servers, or of one of them",
      ONE_SERVER },
    { "external_read_resource",  "uri",    NEEDS_BOTH,   true,  external_read_resource,
      "Read a resource of an external MCP server",
      A_RESOURCE },
    { "external_list_prompts",   NULL,     0,            true,  external_list_prompts,
      "List the prompts of the external MCP servers, or of one of them",
      ONE_SERVER },
    { "external_get_prompt",     "prompt", NEEDS_NAMED,  true,  external_get_prompt,
      "Get a prompt of an external MCP server",
      NAMED("prompt", "server/prompt, as external_list_prompts tells it") },
};
/* clang-format on */

void external_define(struct catalog *c, unsigned group)
{
    AUTO_BUF struct buf text = { 0 };

    for (size_t i = 0; i < ARRAY_LEN(tools); i++) {
        struct json_out o = json_out(&text);

        text.n = 0;
        json_begin_object(&o, NULL);
        json_put_str(&o, "name", tools[i].name);
        json_put_str(&o, "description", tools[i].description);
        json_put_raw(&o, "inputSchema", span_of(tools[i].schema));
        json_begin_object(&o, "annotations");
        json_put_bool(&o, "readOnlyHint", tools[i].read_only);
        json_end(&o);
        json_end(&o);
        catalog_add_builtin(c, LIST_TOOLS, group, buf_span(&text));
    }
}

/* ---- answers ------------------------------------------------------------------------------ */

void external_reply(struct request *r, struct span json, bool is_error)
{
    AUTO_BUF struct buf out = { 0 };
    struct json_out o = json_out(&out);

    json_begin_object(&o, NULL);
    json_begin_array(&o, "content");
    json_begin_object(&o, NULL);
    json_put_str(&o, "type", "text");
    json_put_span(&o, "text", json);
    json_end(&o);
    json_end(&o);
    if (is_error)
        json_put_bool(&o, "isError", true);
    json_end(&o);
    request_reply(r, buf_span(&out));
}

void external_fail(struct request *r, const char *code, const char *key, struct span value,
                   const char *message)
{
    AUTO_BUF struct buf out = { 0 };
    struct json_out o = json_out(&out);

    json_begin_object(&o, NULL);
    json_put_str(&o, "error", code);
    if (key)
        json_put_span(&o, key, value);
    json_put_str_opt(&o, "message", message);
    json_end(&o);
    external_reply(r, buf_span(&out), true);
}

/* ---- reading the arguments ---------------------------------------------------------------- */

/* A string that is optional, unless `needed`. False: it is something else, and that was said. */
static bool read_string(struct external *x, struct json given, const char *key, bool needed,
                        struct span *out)
{
    struct json v = json_get(given, key);
    char why[MCP_ERROR_TEXT_MAX];

    if (json_is(v, JSON_STRING)) {
        *out = json_str(v, x->arena);
        return true;
    }
    if (!needed && (json_is(v, JSON_NONE) || json_is(v, JSON_NULL)))
        return true;
    snprintf(why, sizeof why, "%s: expected a string, got %s", key, json_type_name(v));
    external_fail(x->r, "invalid_arguments", NULL, SPAN(""), why);
    return false;
}

static bool read_given(struct external *x, const struct external_tool *t, struct json given)
{
    struct json inner = json_get(given, "arguments");

    if (!read_string(x, given, "server", t->needs & NEEDS_SERVER, &x->server) ||
        (t->named && !read_string(x, given, t->named, t->needs & NEEDS_NAMED, &x->named)))
        return false;
    if (json_is(inner, JSON_OBJECT))
        x->arguments = inner;
    else if (!json_is(inner, JSON_NONE) && !json_is(inner, JSON_NULL)) {
        external_fail(x->r, "invalid_arguments", NULL, SPAN(""), "arguments: expected an object");
        return false;
    }
    return true;
}

static const struct external_tool *find_tool(struct span name)
{
    for (size_t i = 0; i < ARRAY_LEN(tools); i++)
        if (span_is(name, tools[i].name))
            return &tools[i];
    return NULL;
}

/* A server that the scope hides is as good as none. */
static bool has_server(const struct external *x)
{
    const char *name;

    if (!x->server.p)
        return true;
    if (memchr(x->server.p, '\0', x->server.n) || span_is(x->server, SPEC_OWN) ||
        (x->scope.server && !span_is(x->server, x->scope.server)))
        return false;
    name = arena_dup(x->arena, x->server);
    return hub_link(x->hub, name) && scope_shows_server(hub_catalog(x->hub), &x->scope, name);
}

bool external_call(struct gate *gate, const struct external_caller *by, struct request *r,
                   struct span name, struct json arguments)
{
    const struct external_tool *t = find_tool(name);
    struct external x = { .gate = gate,
                          .hub = gate ? gate_hub(gate) : NULL,
                          .scope = *by->scope,
                          .by = by,
                          .r = r,
                          .arena = &r->message->arena };

    if (!t)
        return false;
    x.scope.builtins = 0;
    /* What these tools reach is not the catalog that the endpoint shows, but what it would. */
    x.scope.no_external = false;
    if (!gate)
        external_fail(r, "no_client_manager", NULL, SPAN(""),
                      "There is no hub behind this server, so there are no external servers");
    else if (read_given(&x, t, arguments)) {
        if (has_server(&x))
            t->run(&x);
        else
            external_fail(r, "server_not_found", "server", x.server, NULL);
    }
    return true;
}
