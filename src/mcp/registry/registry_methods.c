#include "call.h"
#include "mcp/rpc/rpc.h"
#include "mcp/serve/serve.h"
#include "tasks.h"

/* A string member that must be there; otherwise the request is answered. The span lies in the
 * message or in the arena. */
static bool need_string(struct request *r, const char *key, struct span *out, struct arena *a)
{
    struct json v = json_get(r->params, key);

    if (json_is(v, JSON_STRING)) {
        *out = json_str(v, a);
        return true;
    }
    request_fail(r, RPC_INVALID_PARAMS, SPAN(""), "%s: expected a string, got %s", key,
                 json_type_name(v));
    return false;
}

static int shown_chars(struct span s)
{
    return s.n > MCP_NAME_SHOWN_MAX ? MCP_NAME_SHOWN_MAX : (int)s.n;
}

/* False: refused. The flags say whether the tool runs as a task from its start. */
static bool task_rules(struct pb_call *c, bool *as_task)
{
    unsigned flags = c->item->flags;
    bool able = c->rev->era == ERA_MODERN && c->env.has_tasks;

    *as_task = able && (flags & (PB_TASK_ALLOWED | PB_TASK_REQUIRED)) && !(flags & PB_TASK_LATER);
    if (able || !(flags & PB_TASK_REQUIRED))
        return true;
    if (c->rev->era == ERA_MODERN)
        call_refuse(c, RPC_MISSING_CAPABILITY,
                    SPAN("{\"requiredCapabilities\":{\"extensions\":{\"" EXT_TASKS "\":{}}}}"),
                    "Missing required client capability");
    else
        call_refuse(c, RPC_METHOD_NOT_FOUND, SPAN(""),
                    "Tool '%s' runs as a task only, which this protocol revision cannot do",
                    c->item->name);
    return false;
}

static void tools_call(struct registry *reg, struct request *r)
{
    AUTO_ARENA struct arena a = { 0 };
    struct span name;
    struct item *tool;
    struct pb_call *c;
    bool as_task;

    if (!need_string(r, "name", &name, &a))
        return;
    tool = registry_find(reg, ITEM_TOOL, name);
    if (!tool) {
        request_fail(r, RPC_INVALID_PARAMS, SPAN(""), "Unknown tool: %.*s", shown_chars(name),
                     name.p);
        return;
    }
    c = call_new(reg, r, tool, CALL_TOOL);
    if (!task_rules(c, &as_task) || !call_set_arguments(c, json_get(r->params, "arguments")) ||
        !ask_begin(c, name))
        return;
    if (as_task && !task_begin(c)) {
        call_over(c);
        return;
    }
    call_start(c);
}

static void no_resource(struct request *r, struct span uri)
{
    AUTO_BUF struct buf data = { 0 };
    struct json_out o = json_out(&data);

    json_begin_object(&o, NULL);
    json_put_span(&o, "uri", uri);
    json_end(&o);
    request_fail(r, r->env.era == ERA_MODERN ? RPC_INVALID_PARAMS : RPC_RESOURCE_NOT_FOUND,
                 buf_span(&data), "Resource not found");
}

static void resources_read(struct registry *reg, struct request *r)
{
    AUTO_ARENA struct arena a = { 0 };
    AUTO_BUF struct buf variables = { 0 };
    struct span uri;
    struct item *i;
    struct pb_call *c;

    if (!need_string(r, "uri", &uri, &a))
        return;
    i = registry_find(reg, ITEM_RESOURCE, uri);
    if (!i)
        i = registry_match(reg, uri, &variables);
    if (!i) {
        no_resource(r, uri);
        return;
    }
    c = call_new(reg, r, i, CALL_RESOURCE);
    c->uri = (struct span){ arena_dup(&c->arena, uri), uri.n };
    if (variables.n) {
        c->args_text = variables;
        variables = (struct buf){ 0 };
        call_set_written(c);
    }
    if (ask_begin(c, uri))
        call_start(c);
}

/* Prompts take strings only. */
static bool prompt_arguments(struct pb_call *c, struct json arguments)
{
    if (json_is(arguments, JSON_NULL))
        arguments = (struct json){ 0 };
    if (!json_is(arguments, JSON_NONE) && !json_is(arguments, JSON_OBJECT)) {
        call_refuse(c, RPC_INVALID_PARAMS, SPAN(""), "arguments: expected an object, got %s",
                    json_type_name(arguments));
        return false;
    }
    JSON_FOREACH(v, arguments) {
        struct span key = json_key(v);

        if (json_is(v, JSON_STRING))
            continue;
        call_refuse(c, RPC_INVALID_PARAMS, SPAN(""), "arguments.%.*s: expected a string, got %s",
                    shown_chars(key), key.p, json_type_name(v));
        return false;
    }
    for (size_t k = 0; k < c->item->n_args; k++) {
        const struct pb_prompt_arg *arg = &c->item->args[k];

        if (!arg->required || json_is(json_get(arguments, arg->name), JSON_STRING))
            continue;
        call_refuse(c, RPC_INVALID_PARAMS, SPAN(""), "Missing required argument '%s'", arg->name);
        return false;
    }
    c->args = arguments;
    return true;
}

static void prompts_get(struct registry *reg, struct request *r)
{
    AUTO_ARENA struct arena a = { 0 };
    struct span name;
    struct item *prompt;
    struct pb_call *c;

    if (!need_string(r, "name", &name, &a))
        return;
    prompt = registry_find(reg, ITEM_PROMPT, name);
    if (!prompt) {
        request_fail(r, RPC_INVALID_PARAMS, SPAN(""), "Unknown prompt: %.*s", shown_chars(name),
                     name.p);
        return;
    }
    c = call_new(reg, r, prompt, CALL_PROMPT);
    if (prompt_arguments(c, json_get(r->params, "arguments")) && ask_begin(c, name))
        call_start(c);
}

struct complete_params {
    struct json ref, argument, context;
    struct span type, name, uri;
    struct span for_name, value;
};

static const struct json_field complete_fields[] = {
    { "ref", JSON_FIELD_OBJECT, offsetof(struct complete_params, ref), JSON_REQUIRED },
    { "argument", JSON_FIELD_OBJECT, offsetof(struct complete_params, argument), JSON_REQUIRED },
    { "context", JSON_FIELD_OBJECT, offsetof(struct complete_params, context), 0 },
    { 0 },
};
static const struct json_field ref_fields[] = {
    { "type", JSON_FIELD_STRING, offsetof(struct complete_params, type), JSON_REQUIRED },
    { "name", JSON_FIELD_STRING, offsetof(struct complete_params, name), 0 },
    { "uri", JSON_FIELD_STRING, offsetof(struct complete_params, uri), 0 },
    { 0 },
};
static const struct json_field argument_fields[] = {
    { "name", JSON_FIELD_STRING, offsetof(struct complete_params, for_name), JSON_REQUIRED },
    { "value", JSON_FIELD_STRING, offsetof(struct complete_params, value), JSON_REQUIRED },
    { 0 },
};

static bool read_complete(struct request *r, struct complete_params *p, struct arena *a)
{
    struct pb_error err;

    if (json_fields(r->params, complete_fields, p, a, &err) == 0 &&
        json_fields(p->ref, ref_fields, p, a, &err) == 0 &&
        json_fields(p->argument, argument_fields, p, a, &err) == 0)
        return true;
    request_fail(r, RPC_INVALID_PARAMS, SPAN(""), "%s", err.msg);
    return false;
}

/* What is completed: a prompt, a template by its text, or the template that a URI fits. */
static struct item *find_ref(struct registry *reg, const struct complete_params *p)
{
    AUTO_BUF struct buf ignored = { 0 };
    struct item *i;

    if (span_is(p->type, "ref/prompt"))
        return registry_find(reg, ITEM_PROMPT, p->name);
    if (!span_is(p->type, "ref/resource"))
        return NULL;
    i = registry_find(reg, ITEM_TEMPLATE, p->uri);
    if (!i)
        i = registry_find(reg, ITEM_RESOURCE, p->uri);
    return i ? i : registry_match(reg, p->uri, &ignored);
}

static const char *words(struct pb_call *c, struct span s, struct span *out)
{
    *out = (struct span){ arena_dup(&c->arena, s), s.n };
    return out->p;
}

static void complete(struct registry *reg, struct request *r)
{
    AUTO_ARENA struct arena a = { 0 };
    struct complete_params p = { 0 };
    struct json known;
    struct pb_call *c;
    struct item *i;

    if (!read_complete(r, &p, &a))
        return;
    i = find_ref(reg, &p);
    if (!i) {
        request_fail(r, RPC_INVALID_PARAMS, SPAN(""), "Unknown reference: %.*s",
                     shown_chars(p.name.n ? p.name : p.uri), p.name.n ? p.name.p : p.uri.p);
        return;
    }
    if (!i->complete) {
        item_unref(i);
        request_reply(r, SPAN("{\"completion\":{\"values\":[],\"total\":0,\"hasMore\":false}}"));
        return;
    }
    c = call_new(reg, r, i, CALL_COMPLETE);
    known = json_get(p.context, "arguments");
    if (json_is(known, JSON_OBJECT))
        c->args = known;
    words(c, p.for_name, &c->typed_for);
    words(c, p.value, &c->typed);
    call_start(c);
}

static void tools_list(struct registry *reg, struct request *r) { list_reply(reg, r, ITEM_TOOL); }

static void resources_list(struct registry *reg, struct request *r)
{
    list_reply(reg, r, ITEM_RESOURCE);
}

static void templates_list(struct registry *reg, struct request *r)
{
    list_reply(reg, r, ITEM_TEMPLATE);
}

static void prompts_list(struct registry *reg, struct request *r)
{
    list_reply(reg, r, ITEM_PROMPT);
}

static bool has_tools(struct registry *reg)
{
    (void)reg;
    return true; /* an empty list is one too, and may fill */
}

static bool has_resources(struct registry *reg) { return registry_offers(reg, ITEM_RESOURCE); }
static bool has_prompts(struct registry *reg) { return registry_offers(reg, ITEM_PROMPT); }

static bool has_completers(struct registry *reg)
{
    bool any;

    pthread_mutex_lock(&reg->lock);
    any = reg->completers > 0;
    pthread_mutex_unlock(&reg->lock);
    return any;
}

static bool has_tasks(struct registry *reg)
{
    bool any;

    pthread_mutex_lock(&reg->lock);
    any = reg->task_tools > 0;
    pthread_mutex_unlock(&reg->lock);
    return any;
}

struct method_row {
    const char *name;
    void (*run)(struct registry *reg, struct request *r);
    bool (*offered)(struct registry *reg); /* what is not announced does not exist */
    bool modern_only;
};

/* Sorted by name, which the search relies on. */
/* clang-format off */
static const struct method_row methods[] = {
    { "completion/complete",      complete,       has_completers, false },
    { "prompts/get",              prompts_get,    has_prompts,    false },
    { "prompts/list",             prompts_list,   has_prompts,    false },
    { "resources/list",           resources_list, has_resources,  false },
    { "resources/read",           resources_read, has_resources,  false },
    { "resources/templates/list", templates_list, has_resources,  false },
    { "tasks/cancel",             tasks_cancel,   has_tasks,      true },
    { "tasks/get",                tasks_get,      has_tasks,      true },
    { "tasks/update",             tasks_update,   has_tasks,      true },
    { "tools/call",               tools_call,     has_tools,      false },
    { "tools/list",               tools_list,     has_tools,      false },
};
/* clang-format on */

static bool registry_handle(void *ctx, struct request *r)
{
    struct registry *reg = ctx;
    size_t low = 0, high = ARRAY_LEN(methods);

    while (low < high) {
        size_t mid = low + (high - low) / 2;
        const struct method_row *m = &methods[mid];
        int order = span_cmp(r->method, span_of(m->name));

        if (order == 0) {
            if ((m->modern_only && r->env.era != ERA_MODERN) || !m->offered(reg))
                return false;
            m->run(reg, r);
            return true;
        }
        if (order < 0)
            high = mid;
        else
            low = mid + 1;
    }
    return false;
}

static void list_capability(struct json_out *o, const char *key, bool subscribe)
{
    json_begin_object(o, key);
    if (subscribe)
        json_put_bool(o, "subscribe", true);
    json_put_bool(o, "listChanged", true);
    json_end(o);
}

static void capabilities(void *ctx, struct json_out *o, const struct envelope *env)
{
    struct registry *reg = ctx;

    list_capability(o, "tools", false);
    if (has_resources(reg))
        list_capability(o, "resources", true);
    if (has_prompts(reg))
        list_capability(o, "prompts", false);
    if (has_completers(reg) && strcmp(env->revision->date, "2025-03-26") >= 0) {
        json_begin_object(o, "completions");
        json_end(o);
    }
    json_begin_object(o, "logging");
    json_end(o);
    if (env->era == ERA_MODERN && has_tasks(reg)) {
        json_begin_object(o, "extensions");
        json_begin_object(o, EXT_TASKS);
        json_end(o);
        json_end(o);
    }
}

static struct span tool_schema(void *ctx, struct span tool)
{
    struct item *i = registry_find(ctx, ITEM_TOOL, tool);
    struct span text = i ? i->input_schema : SPAN("");

    item_unref(i); /* a shelf, or the dead of this turn, still hold it */
    return text;
}

static bool subscribable(void *ctx, struct span uri)
{
    AUTO_BUF struct buf ignored = { 0 };
    AUTO(item) struct item *i = registry_find(ctx, ITEM_RESOURCE, uri);

    if (!i)
        i = registry_match(ctx, uri, &ignored);
    return i != NULL;
}

static bool has_task(void *ctx, const struct request *r, struct span task_id)
{
    return tasks_has(ctx, r->peer, task_id);
}

static size_t running(void *ctx)
{
    const struct registry *reg = ctx;

    return reg->running;
}

static void stop(void *ctx) { tasks_stop(ctx); }

static void done(void *ctx) { registry_free(ctx); }

const struct provider registry_provider = {
    .capabilities = capabilities,
    .handle = registry_handle,
    .tool_schema = tool_schema,
    .subscribable = subscribable,
    .has_task = has_task,
    .running = running,
    .stop = stop,
    .done = done,
};
