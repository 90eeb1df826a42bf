#include "face/host/host.h"
#include "face/host/host_impl.h"
#include "face/host_rig.h"
#include "hub/hub/hub.h"
#include "hub/link/link.h"
#include "mcp/serve/serve.h"

TEST(lists_are_whole_sorted_and_the_same_in_both_eras)
{
    struct hub_rig rig;
    struct fake_server *f;
    struct face_client c;

    rig_init(&rig, &(struct host_options){ .expose = HOST_CATALOG | HOST_EXTERNAL });
    f = rig_server(&rig, "zeta");
    fake_tool(f, "b", FAKE_TEXT);
    fake_tool(f, "a", FAKE_TEXT);
    fake_prompt(f, "greet", "hello");
    f = rig_server(&rig, "alpha");
    fake_tool(f, "z", FAKE_TEXT);
    fake_resource(f, "file:///one", "1");
    fake_template(f, "file:///{name}");
    rig_start(&rig);
    TWO_ERAS(era)
    {
        face_open(&rig, &c, NULL, era);
        for (int i = 0; i < 2; i++)
            CHECK_STR(face_tools(&c),
                      "external_list_servers external_list_tools external_call_tool "
                      "external_list_resources external_read_resource external_list_prompts "
                      "external_get_prompt alpha__z zeta__a zeta__b");
        CHECK_STR(face_names(face_get(&c, "resources/list", "{}"), "resources", "uri"),
                  "file:///one");
        CHECK_STR(face_names(face_get(&c, "resources/templates/list", "{}"), "resourceTemplates",
                             "uriTemplate"),
                  "file:///{name}");
        CHECK_STR(face_names(face_get(&c, "prompts/list", "{\"cursor\":\"\"}"), "prompts", "name"),
                  "zeta__greet");
        CHECK_HAS(face_refused(&c, "tools/list", "{\"cursor\":\"x\"}"), "Invalid cursor");
        face_close(&c);
    }
    rig_done(&rig);
}

TEST(lists_say_what_their_era_wants_and_no_more)
{
    struct hub_rig rig;
    struct face_client c;

    rig_init(&rig, NULL);
    rig_start(&rig);
    face_open(&rig, &c, NULL, PB_ERA_LEGACY);
    CHECK_STR(face_get(&c, "tools/list", "{}"), "{\"tools\":[]}");
    face_close(&c);
    face_open(&rig, &c, NULL, PB_ERA_MODERN);
    CHECK_STR(face_get(&c, "tools/list", "{}"),
              "{\"resultType\":\"complete\",\"_meta\":{\"io.modelcontextprotocol/serverInfo\":"
              "{\"name\":\"Patchbay\",\"version\":\"" PB_VERSION "\"}},\"tools\":[],"
              "\"ttlMs\":0,\"cacheScope\":\"public\"}");
    face_close(&c);
    rig_done(&rig);
}

static char seen_params[4096];

static void keep_params(struct fake_server *f, struct fake_tool *t, struct request *r)
{
    (void)f, (void)t;
    snprintf(seen_params, sizeof seen_params, "%.*s", SPAN_ARG(json_text(r->params)));
    fake_reply_text(r, SPAN("done"));
}

TEST(a_call_reaches_its_server_under_its_own_name_with_the_bytes_it_was_given)
{
    static const struct {
        const char *params, *want;
    } cases[] = {
        { "{\"name\":\"alpha__keep\",\"arguments\":{\"n\": 1.0, \"big\":12345678901234567890}}",
          "{\"name\":\"keep\",\"arguments\":{\"n\": 1.0, \"big\":12345678901234567890}" },
        { "{\"name\":\"alpha__keep\"}", "{\"name\":\"keep\",\"arguments\":{}" },
        { "{\"arguments\":null,\"name\":\"alpha/keep\"}", "{\"name\":\"keep\",\"arguments\":{}" },
        { "{\"extra\":[1],\"name\":\"alpha.keep\",\"task\":{\"ttl\":1}}",
          "{\"name\":\"keep\",\"arguments\":{},\"extra\":[1]" },
    };
    struct hub_rig rig;
    struct face_client c;

    rig_init(&rig, NULL);
    fake_tool(rig_server(&rig, "alpha"), "keep", FAKE_RUN)->run = keep_params;
    rig_start(&rig);
    TWO_ERAS(era)
    {
        face_open(&rig, &c, NULL, era);
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
            seen_params[0] = '\0';
            CHECK_STR(face_text(face_get(&c, "tools/call", cases[i].params)), "done");
            seen_params[strlen(cases[i].want)] = '\0'; /* what follows is the client's _meta */
            CHECK_STR(seen_params, cases[i].want);
        }
        face_close(&c);
    }
    rig_done(&rig);
}

TEST(meta_of_a_client_goes_along_but_for_what_concerns_our_hop)
{
    struct hub_rig rig;
    struct face_client c;

    rig_init(&rig, NULL);
    fake_tool(rig_server(&rig, "alpha"), "keep", FAKE_RUN)->run = keep_params;
    rig_start(&rig);
    face_open(&rig, &c, NULL, PB_ERA_LEGACY);
    CHECK_STR(face_text(face_get(&c, "tools/call",
                                 "{\"name\":\"alpha__keep\",\"_meta\":{\"traceparent\":\"00-a\","
                                 "\"io.modelcontextprotocol/related-task\":{\"taskId\":\"x\"}}}")),
              "done");
    CHECK_HAS(seen_params, "\"traceparent\":\"00-a\"");
    CHECK(!strstr(seen_params, "related-task"));
    face_close(&c);
    rig_done(&rig);
}

TEST(arguments_that_are_no_object_or_name_a_key_twice_are_refused)
{
    static const struct {
        const char *params, *want;
    } cases[] = {
        { "{\"name\":\"alpha__echo\",\"arguments\":[1]}",
          "arguments: expected an object, got array" },
        { "{\"name\":\"alpha__echo\",\"arguments\":\"{}\"}",
          "arguments: expected an object, got string" },
        { "{\"name\":\"alpha__echo\",\"arguments\":{\"a\":{\"b\":1,\"b\":2}}}", "-32600" },
        { "{\"name\":7}", "name: expected a string, got number" },
        { "{}", "name: expected a string, got nothing" },
    };
    struct hub_rig rig;
    struct fake_server *f;
    struct face_client c;

    rig_init(&rig, NULL);
    f = rig_server(&rig, "alpha");
    fake_tool(f, "echo", FAKE_ECHO);
    rig_start(&rig);
    face_open(&rig, &c, NULL, PB_ERA_LEGACY);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        CHECK_HAS(face_refused(&c, "tools/call", cases[i].params), cases[i].want);
    CHECK_INT(f->calls, 0);
    face_close(&c);
    rig_done(&rig);
}

TEST(disabled_and_filtered_tools_do_not_exist)
{
    static const char *const off[] = { "delete*", NULL };
    struct hub_rig rig;
    struct fake_server *f;
    struct face_client c;

    rig_init(&rig, NULL);
    f = rig_server(&rig, "alpha");
    fake_tool(f, "delete_all", FAKE_TEXT);
    fake_tool(f, "read", FAKE_TEXT);
    fake_tool(f, "write", FAKE_TEXT);
    rig_spec_of(&rig, "alpha")->disabled_tools = off;
    rig_start(&rig);
    rig_modes(&rig, "{\"reading\":{\"filter\":{\"tools\":[\"read\",\"delete_all\"]}}}");
    TWO_ERAS(era)
    {
        face_open(&rig, &c, NULL, era);
        CHECK_STR(face_tools(&c), "alpha__read alpha__write");
        CHECK_HAS(face_refused(&c, "tools/call", "{\"name\":\"alpha__delete_all\"}"),
                  "\"code\":-32602");
        CHECK_HAS(face_refused(&c, "tools/call", "{\"name\":\"alpha/delete_all\"}"),
                  "Unknown tool: alpha/delete_all");
        face_close(&c);
        face_open(&rig, &c, &(struct host_scope){ .mode = "reading" }, era);
        CHECK_STR(face_tools(&c), "alpha__read");
        CHECK_STR(face_call(&c, "alpha__read", "{}"), "mock");
        CHECK_HAS(face_refused(&c, "tools/call", "{\"name\":\"alpha__write\"}"),
                  "Unknown tool: alpha__write");
        CHECK_HAS(face_refused(&c, "tools/call", "{\"name\":\"alpha__delete_all\"}"),
                  "Unknown tool: alpha__delete_all");
        face_close(&c);
    }
    CHECK_INT(f->calls, 2);
    rig_done(&rig);
}

TEST(a_server_that_is_away_is_named_with_the_reason_and_the_cure)
{
    struct hub_rig rig;
    struct face_client c;
    struct pb_error err;
    const char *text;

    rig_init(&rig, NULL);
    fake_tool(rig_server(&rig, "alpha"), "echo", FAKE_ECHO);
    rig_start(&rig);
    TWO_ERAS(era)
    {
        face_open(&rig, &c, NULL, era);
        CHECK_STR(face_call(&c, "alpha__echo", "{}"), "{}");
        CHECK_INT(hub_disconnect(rig.hub, "alpha", &err), 0);
        fakes_settle(&rig.fakes);
        text = face_refused(&c, "tools/call", "{\"name\":\"alpha__echo\"}");
        CHECK_HAS(text, "\"code\":-32000");
        CHECK_HAS(text, "Server 'alpha' is not connected");
        CHECK_HAS(text, "'patchbay reconnect alpha' tries again");
        CHECK_HAS(text, "\"data\":{\"error\":\"server_not_connected\",\"server\":\"alpha\"}");
        CHECK_HAS(face_refused(&c, "prompts/get", "{\"name\":\"alpha/x\"}"), "not connected");
        CHECK_INT(hub_enable(rig.hub, "alpha", false, &err), 0);
        CHECK_HAS(face_refused(&c, "tools/call", "{\"name\":\"alpha/echo\"}"),
                  "'patchbay enable alpha' switches it on");
        CHECK_INT(hub_enable(rig.hub, "alpha", true, &err), 0);
        fakes_settle(&rig.fakes);
        CHECK_STR(face_call(&c, "alpha__echo", "{\"again\":true}"), "{\"again\":true}");
        face_close(&c);
    }
    rig_done(&rig);
}

TEST(resources_are_read_from_the_server_that_has_them)
{
    struct hub_rig rig;
    struct fake_server *f;
    struct face_client c;

    rig_init(&rig, NULL);
    f = rig_server(&rig, "alpha");
    fake_resource(f, "file:///both", "of alpha");
    f = rig_server(&rig, "beta");
    fake_resource(f, "file:///both", "of beta");
    fake_resource(f, "file:///only", "beta's own");
    rig_start(&rig);
    TWO_ERAS(era)
    {
        face_open(&rig, &c, NULL, era);
        CHECK_STR(face_names(face_get(&c, "resources/list", "{}"), "resources", "uri"),
                  "file:///both patchbay://beta/file:///both file:///only");
        CHECK_HAS(face_get(&c, "resources/read", "{\"uri\":\"file:///both\"}"), "of alpha");
        CHECK_HAS(face_get(&c, "resources/read", "{\"uri\":\"patchbay://beta/file:///both\"}"),
                  "of beta");
        CHECK_HAS(face_get(&c, "resources/read", "{\"uri\":\"patchbay://alpha/file:///both\"}"),
                  "of alpha");
        CHECK_HAS(face_get(&c, "resources/read", "{\"uri\":\"file:///only\"}"), "beta's own");
        CHECK_HAS(face_refused(&c, "resources/read", "{\"uri\":\"file:///none\"}"),
                  era == PB_ERA_MODERN ? "-32602" : "-32002");
        CHECK_HAS(face_refused(&c, "resources/read", "{}"), "uri: expected a string");
        face_close(&c);
        face_open(&rig, &c, &(struct host_scope){ .server = "beta" }, era);
        CHECK_HAS(face_get(&c, "resources/read", "{\"uri\":\"file:///both\"}"), "of beta");
        face_close(&c);
    }
    rig_done(&rig);
}

TEST(prompts_and_completions_go_to_the_server_that_has_them)
{
    struct hub_rig rig;
    struct fake_server *f;
    struct face_client c;

    rig_init(&rig, NULL);
    f = rig_server(&rig, "alpha");
    fake_prompt(f, "greet", "hello");
    fake_template(f, "file:///{name}");
    rig_start(&rig);
    TWO_ERAS(era)
    {
        face_open(&rig, &c, NULL, era);
        CHECK_HAS(face_get(&c, "prompts/get", "{\"name\":\"alpha__greet\"}"), "hello");
        CHECK_HAS(face_refused(&c, "prompts/get", "{\"name\":\"alpha__other\"}"),
                  "Unknown prompt: alpha__other");
        /* The fake does not say that it completes anything. */
        CHECK_HAS(face_get(&c, "completion/complete",
                           "{\"ref\":{\"type\":\"ref/prompt\",\"name\":\"alpha__greet\"},"
                           "\"argument\":{\"name\":\"who\",\"value\":\"o\"}}"),
                  "{\"values\":[],\"total\":0,\"hasMore\":false}");
        CHECK_HAS(face_get(&c, "completion/complete",
                           "{\"ref\":{\"type\":\"ref/resource\",\"uri\":\"file:///{name}\"},"
                           "\"argument\":{\"name\":\"name\",\"value\":\"o\"}}"),
                  "\"values\":[]");
        CHECK_HAS(face_refused(&c, "completion/complete",
                               "{\"ref\":{\"type\":\"ref/prompt\",\"name\":\"nobody__x\"},"
                               "\"argument\":{\"name\":\"n\",\"value\":\"\"}}"),
                  "Unknown reference: nobody__x");
        CHECK_HAS(face_refused(&c, "completion/complete", "{\"ref\":{\"type\":\"ref/tool\"}}"),
                  "ref.type: expected");
        face_close(&c);
    }
    rig_done(&rig);
}

TEST(ten_thousand_tools_are_one_page_that_is_written_once)
{
    enum { TOOLS = 10000 };
    struct hub_rig rig;
    struct face_client c;
    AUTO_BUF struct buf array = { 0 };
    uint64_t blocks;
    const char *p;
    size_t n = 0;

    buf_byte(&array, '[');
    for (int i = 0; i < TOOLS; i++)
        buf_printf(&array,
                   "%s{\"name\":\"tool%05d\",\"description\":\"One of many\","
                   "\"inputSchema\":{\"type\":\"object\"}}",
                   i ? "," : "", i);
    buf_byte(&array, ']');
    rig_init(&rig, NULL);
    rig_server(&rig, "alpha");
    rig_start(&rig);
    rig_list(&rig, "alpha", LIST_TOOLS, buf_cstr(&array));
    face_open(&rig, &c, NULL, PB_ERA_MODERN);
    face_get(&c, "tools/list", "{}");
    blocks = mem_count();
    p = face_get(&c, "tools/list", "{}");
    blocks = mem_count() - blocks;
    CHECK(!strstr(p, "nextCursor"));
    while ((p = strstr(p, "\"name\":\"alpha__tool")) != NULL)
        p++, n++;
    CHECK_INT(n, TOOLS);
    if (blocks > 100)
        TAP_FAIL("%llu blocks for a list that was there already", (unsigned long long)blocks);
    face_close(&c);
    rig_done(&rig);
}

/* ---- completions that a server makes ---- */

static char seen_ref[1024];

static bool handle_complete(void *ctx, struct request *r)
{
    if (!span_is(r->method, "completion/complete"))
        return fake_handle(ctx, r);
    snprintf(seen_ref, sizeof seen_ref, "%.*s %.*s",
             SPAN_ARG(json_text(json_get(r->params, "ref"))),
             SPAN_ARG(json_text(json_get(r->params, "argument"))));
    request_reply(r, SPAN("{\"completion\":{\"values\":[\"one\"],\"total\":1.0}}"));
    return true;
}

static void complete_too(void *ctx, struct json_out *o, const struct envelope *env)
{
    fake_capabilities(ctx, o, env);
    json_put_raw(o, "completions", SPAN("{}"));
}

TEST(a_completion_names_its_prompt_or_template_as_the_server_knows_it)
{
    static const struct {
        const char *ref, *want;
    } cases[] = {
        { "{\"type\":\"ref/prompt\",\"name\":\"beta__greet\",\"title\":\"T\"}",
          "{\"name\":\"greet\",\"type\":\"ref/prompt\",\"title\":\"T\"}" },
        { "{\"type\":\"ref/resource\",\"uri\":\"file:///{name}\"}",
          "{\"uri\":\"file:///{name}\",\"type\":\"ref/resource\"}" },
        { "{\"type\":\"ref/resource\",\"uri\":\"file:///fits\"}",
          "{\"uri\":\"file:///fits\",\"type\":\"ref/resource\"}" },
        { "{\"type\":\"ref/resource\",\"uri\":\"patchbay://beta/db://{t}\"}",
          "{\"uri\":\"db://{t}\",\"type\":\"ref/resource\"}" },
    };
    struct provider own = fake_provider;
    struct hub_rig rig;
    struct fake_server *f;
    struct face_client c;

    own.handle = handle_complete;
    own.capabilities = complete_too;
    rig_init(&rig, NULL);
    fake_template(rig_server(&rig, "alpha"), "db://{t}");
    f = rig_server(&rig, "beta");
    fake_prompt(f, "greet", "hello");
    fake_template(f, "file:///{name}");
    fake_template(f, "db://{t}");
    server_set_provider(f->server, &own, f);
    rig_start(&rig);
    TWO_ERAS(era)
    {
        face_open(&rig, &c, NULL, era);
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
            AUTO_BUF struct buf params = { 0 }, want = { 0 };

            buf_printf(&params, "{\"ref\":%s,\"argument\":{\"name\":\"n\",\"value\":\"o\"}}",
                       cases[i].ref);
            buf_printf(&want, "%s {\"name\":\"n\",\"value\":\"o\"}", cases[i].want);
            CHECK_HAS(face_get(&c, "completion/complete", buf_cstr(&params)),
                      "{\"values\":[\"one\"],\"total\":1.0}");
            CHECK_STR(seen_ref, buf_cstr(&want));
        }
        face_close(&c);
    }
    rig_done(&rig);
}

TEST(a_call_waits_for_a_server_that_is_coming_back)
{
    struct hub_rig rig;
    struct fake_server *f;
    struct face_client c;
    struct fake_reply *a;

    rig_init(&rig, NULL);
    f = rig_server(&rig, "alpha");
    fake_tool(f, "echo", FAKE_ECHO);
    rig_start(&rig);
    TWO_ERAS(era)
    {
        face_open(&rig, &c, NULL, era);
        fake_break(f, "it was killed");
        fakes_settle(&rig.fakes);
        CHECK_STR(face_tools(&c), "alpha__echo");
        a = face_send(&c, "tools/call", "{\"name\":\"alpha__echo\",\"arguments\":{\"n\":1}}");
        fakes_settle(&rig.fakes);
        CHECK_INT(a->count, 0);
        loop_advance(rig.fakes.loop, 16000);
        fakes_settle(&rig.fakes);
        CHECK_INT(a->count, 1);
        CHECK_STR(face_text(a->result), "{\"n\":1}");
        face_close(&c);
    }
    rig_done(&rig);
}

TEST(the_schema_of_a_tool_is_known_for_the_rules_about_headers)
{
    struct hub_rig rig;
    struct host *all, *one;

    rig_init(&rig, NULL);
    rig_server(&rig, "alpha");
    rig_start(&rig);
    rig_list(&rig, "alpha", LIST_TOOLS,
             "[{\"name\":\"t\",\"inputSchema\":{\"x-mcp-header\":\"X\"}},{\"name\":\"u\"}]");
    all = rig_host(&rig, NULL);
    one = rig_host(&rig, &(struct host_scope){ .server = "alpha" });
    CHECK_SPAN(host_tool_schema(all, SPAN("alpha__t")), "{\"x-mcp-header\":\"X\"}");
    CHECK_SPAN(host_tool_schema(all, SPAN("t")), "");
    CHECK_SPAN(host_tool_schema(one, SPAN("t")), "{\"x-mcp-header\":\"X\"}");
    CHECK_SPAN(host_tool_schema(one, SPAN("u")), "");
    CHECK_SPAN(host_tool_schema(all, SPAN("nobody__t")), "");
    rig_done(&rig);
}
