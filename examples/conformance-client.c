/* conformance-client - what the official conformance suite drives: it starts us once per scenario
 * with the URL of a mock server as the last argument, and watches what we send.
 *
 * MCP_CONFORMANCE_SCENARIO          which one
 * MCP_CONFORMANCE_PROTOCOL_VERSION  the revision to speak
 * MCP_CONFORMANCE_CONTEXT           JSON with what the scenario wants to be done, sometimes */
#include "json/json.h"
#include <patchbay.h>
#include <stdio.h>

struct run {
    struct pb_client *client;
    struct json context;
    struct json tools; /* what tools/list gave */
    struct arena arena;
};

static bool call(struct run *r, const char *tool, const char *arguments)
{
    struct pb_result *result = NULL;
    struct pb_error err;

    if (pb_client_call(r->client, tool, arguments, NULL, &result, &err) < 0) {
        fprintf(stderr, "%s: %s\n", tool, err.msg);
        return false;
    }
    pb_result_free(result);
    return true;
}

/* ---- questions ---- */

/* What a person would type who agrees with everything: the default, or something of the type. */
static void fill_in(struct json_out *o, struct json property, struct arena *arena)
{
    const char *key = arena_dup(arena, json_key_str(property, arena));
    struct json type = json_get(property, "type");
    struct json preset = json_get(property, "default");

    if (!json_is(preset, JSON_NONE))
        json_put_raw(o, key, json_text(preset));
    else if (json_str_is(type, "boolean"))
        json_put_bool(o, key, true);
    else if (json_str_is(type, "integer") || json_str_is(type, "number"))
        json_put_int(o, key, 1);
    else if (json_str_is(type, "string"))
        json_put_str(o, key, "yes");
}

static void accept_form(struct buf *out, const char *params)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena arena = { 0 };
    struct json_out o = json_out(out);
    struct json schema;

    if (json_parse(&doc, span_of(params), NULL, NULL) < 0)
        return;
    schema = json_get(json_root(&doc), "requestedSchema");
    json_begin_object(&o, NULL);
    json_put_str(&o, "action", "accept");
    json_begin_object(&o, "content");
    JSON_FOREACH(property, json_get(schema, "properties"))
        fill_in(&o, property, &arena);
    json_end(&o);
    json_end(&o);
}

static void on_question(void *ctx, struct pb_question *q, const char *method, const char *params)
{
    AUTO_BUF struct buf answer = { 0 };

    (void)ctx;
    if (strcmp(method, "elicitation/create") == 0)
        accept_form(&answer, params);
    else if (strcmp(method, "roots/list") == 0)
        buf_str(&answer, "{\"roots\":[{\"uri\":\"file:///tmp\"}]}");
    else
        buf_str(&answer, "{\"role\":\"assistant\",\"model\":\"none\",\"content\":"
                         "{\"type\":\"text\",\"text\":\"Paris\"}}");
    pb_question_answer(q, buf_cstr(&answer));
}

/* ---- scenarios ---- */

static bool only_list(struct run *r)
{
    (void)r;
    return true; /* that has been done */
}

static bool add_numbers(struct run *r) { return call(r, "add_numbers", "{\"a\":5,\"b\":3}"); }

static bool ask_with_defaults(struct run *r)
{
    return call(r, "test_client_elicitation_defaults", "{}");
}

static bool reconnect(struct run *r) { return call(r, "test_reconnection", "{}"); }

/* Every tool that is left in the list: those with unusable header annotations are not. */
static bool call_all(struct run *r)
{
    bool good = true;

    JSON_FOREACH(tool, r->tools) {
        const char *name = json_cstr(json_get(tool, "name"), &r->arena);

        good = name && call(r, name, "{\"region\":\"us-west1\"}") && good;
    }
    return good;
}

static bool call_as_told(struct run *r)
{
    bool good = true;

    JSON_FOREACH(one, json_get(r->context, "toolCalls")) {
        const char *name = json_cstr(json_get(one, "name"), &r->arena);
        const char *arguments = arena_dup(&r->arena, json_text(json_get(one, "arguments")));

        good = name && call(r, name, arguments) && good;
    }
    return good;
}

static bool echo_schema(struct run *r)
{
    AUTO_BUF struct buf arguments = { 0 };

    JSON_FOREACH(tool, r->tools) {
        if (!json_str_is(json_get(tool, "name"), "json_schema_2020_12_tool"))
            continue;
        buf_str(&arguments, "{\"schema\":");
        buf_add_span(&arguments, json_text(json_get(tool, "inputSchema")));
        buf_byte(&arguments, '}');
    }
    return call(r, "json_schema_echo", buf_cstr(&arguments));
}

/* Reads or gets the first of a list. */
static bool use_first(struct run *r, const char *what, const char *key)
{
    AUTO_JSON struct json_doc doc = { 0 };
    struct pb_result *list = NULL, *result = NULL;
    struct pb_error err = { 0 };
    const char *name;
    int rc = pb_client_list(r->client, what, &list, &err);

    if (rc == 0)
        rc = json_parse(&doc, span_of(pb_result_json(list, NULL)), NULL, &err);
    name = rc == 0 ? json_cstr(json_get(json_item(json_root(&doc), 0), key), &r->arena) : NULL;
    if (name && strcmp(what, "resources") == 0)
        rc = pb_client_read(r->client, name, &result, &err);
    else if (name)
        rc = pb_client_prompt(r->client, name, NULL, &result, &err);
    if (rc < 0)
        fprintf(stderr, "%s: %s\n", what, err.msg);
    pb_result_free(list);
    pb_result_free(result);
    return rc == 0;
}

static bool use_everything(struct run *r)
{
    bool good = call_all(r);

    good = use_first(r, "resources", "uri") && good;
    return use_first(r, "prompts", "name") && good;
}

/* clang-format off */
static const struct {
    const char *name;
    bool (*run)(struct run *r);
} scenarios[] = {
    { "elicitation-sep1034-client-defaults", ask_with_defaults },
    { "http-custom-headers",                 call_as_told },
    { "http-invalid-tool-headers",           call_all },
    { "http-standard-headers",               use_everything },
    { "initialize",                          only_list },
    { "json-schema-2020-12-preservation",    echo_schema },
    { "json-schema-ref-no-deref",            only_list },
    { "request-metadata",                    only_list },
    { "sep-2322-client-request-state",       call_all },
    { "sse-retry",                           reconnect },
    { "tools_call",                          add_numbers },
};
/* clang-format on */

static bool play(struct run *r, const char *scenario)
{
    AUTO_JSON struct json_doc doc = { 0 };
    struct pb_result *tools = NULL;
    struct pb_error err;
    bool good = true;

    if (pb_client_list(r->client, "tools", &tools, &err) < 0) {
        fprintf(stderr, "tools: %s\n", err.msg);
        return false;
    }
    if (json_parse(&doc, span_of(pb_result_json(tools, NULL)), NULL, &err) == 0)
        r->tools = json_root(&doc);
    for (size_t i = 0; i < ARRAY_LEN(scenarios); i++)
        if (strcmp(scenario, scenarios[i].name) == 0)
            good = scenarios[i].run(r);
    pb_result_free(tools);
    return good;
}

int main(int argc, char **argv)
{
    const char *scenario = getenv("MCP_CONFORMANCE_SCENARIO");
    const char *context = getenv("MCP_CONFORMANCE_CONTEXT");
    struct pb_client_options opts = PB_CLIENT_OPTIONS_INIT;
    AUTO_JSON struct json_doc doc = { 0 };
    struct run r = { 0 };
    struct pb_error err;
    bool good;

    opts.url = argc > 1 ? argv[argc - 1] : NULL;
    opts.protocol = getenv("MCP_CONFORMANCE_PROTOCOL_VERSION");
    opts.name = "conformance-client";
    opts.on_question = on_question;
    opts.can_elicit = opts.can_sample = opts.can_list_roots = true;
    if (context && json_parse(&doc, span_of(context), NULL, &err) == 0)
        r.context = json_root(&doc);
    if (pb_client_open(&r.client, &opts, &err) < 0) {
        fprintf(stderr, "%s\n", err.msg);
        return 1;
    }
    good = play(&r, scenario ? scenario : "initialize");
    pb_client_free(r.client);
    arena_done(&r.arena);
    return good ? 0 : 1;
}
