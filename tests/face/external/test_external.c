#include "face/host/host.h"
#include "face/host_rig.h"
#include "hub/hub/hub.h"
#include "hub/link/link.h"
#include "mcp/serve/serve.h"

static void init(struct hub_rig *rig)
{
    rig_init(rig, &(struct host_options){ .expose = HOST_EXTERNAL });
}

/* S4-196 S4-197 */
TEST(all_proxy_tools_are_registered_and_named_external)
{
    static const char *const five[] = { "external_list_servers", "external_list_tools",
                                        "external_call_tool", "external_list_resources",
                                        "external_read_resource" };
    struct hub_rig rig;
    struct face_client c;
    const char *names;

    init(&rig);
    fake_tool(rig_server(&rig, "alpha"), "hidden", FAKE_TEXT);
    rig_start(&rig);
    face_open(&rig, &c, NULL, PB_ERA_LEGACY);
    names = face_tools(&c);
    for (size_t i = 0; i < ARRAY_LEN(five); i++)
        CHECK_HAS(names, five[i]);
    for (const char *p = names; p; p = strchr(p, ' ')) {
        p += *p == ' ';
        CHECK(strncmp(p, "external_", 9) == 0);
    }
    face_close(&c);
    rig_done(&rig);
}

/* S4-182 */
TEST(without_connections_there_are_no_servers)
{
    struct hub_rig rig;
    struct face_client c;

    init(&rig);
    rig_start(&rig);
    face_open(&rig, &c, NULL, PB_ERA_LEGACY);
    CHECK_STR(face_call(&c, "external_list_servers", "{}"), "{\"servers\":{}}");
    CHECK_STR(face_call(&c, "external_list_tools", "{}"), "{\"tools\":[]}");
    CHECK_STR(face_call(&c, "external_list_resources", "{}"), "{\"resources\":[]}");
    CHECK_STR(face_call(&c, "external_list_prompts", "{}"), "{\"prompts\":[]}");
    face_close(&c);
    rig_done(&rig);
}

/* S4-48 S4-183 */
TEST(servers_are_listed_with_their_status_and_tool_count_or_error)
{
    struct hub_rig rig;
    struct fake_server *f;
    struct face_client c;
    struct pb_error err;

    init(&rig);
    f = rig_server(&rig, "files");
    fake_tool(f, "read", FAKE_TEXT);
    fake_tool(f, "write", FAKE_TEXT);
    f = rig_server(&rig, "broken");
    f->connect = FAKE_CONNECT_FAIL;
    f->connect_text = "no such program";
    rig_spec_of(&rig, "broken")->auto_reconnect = false;
    rig_server(&rig, "off");
    rig_start(&rig);
    CHECK_INT(hub_disconnect(rig.hub, "off", &err), 0);
    for (int i = 0; i < 10; i++) {
        loop_advance(rig.fakes.loop, 20000);
        fakes_settle(&rig.fakes);
    }
    face_open(&rig, &c, NULL, PB_ERA_LEGACY);
    CHECK_HAS(face_call(&c, "external_list_servers", "{}"),
              "{\"servers\":{\"files\":{\"status\":\"connected\",\"tool_count\":2},\"broken\":{"
              "\"status\":\"");
    CHECK_HAS(face_call(&c, "external_list_servers", "{}"), "no such program");
    CHECK_HAS(face_call(&c, "external_list_servers", "{}"),
              "\"off\":{\"status\":\"disconnected\",\"tool_count\":0}");
    face_close(&c);
    rig_done(&rig);
}

static void two_servers(struct hub_rig *rig)
{
    struct fake_server *f;

    init(rig);
    f = rig_server(rig, "files");
    fake_tool(f, "read", FAKE_ECHO)->description = "Reads \"one\"";
    fake_tool(f, "write", FAKE_TEXT);
    fake_resource(f, "file:///tmp", "listing");
    f = rig_server(rig, "db");
    fake_tool(f, "query", FAKE_TEXT)->text = "rows";
    fake_resource(f, "db://t", "table");
    fake_prompt(f, "ask", "SELECT what?");
    rig_start(rig);
}

/* S4-49 S4-184 S4-185 */
TEST(tools_are_listed_of_all_servers_or_of_one)
{
    struct hub_rig rig;
    struct face_client c;

    two_servers(&rig);
    rig_list(&rig, "db", LIST_TOOLS, "[{\"name\":\"query\"}]");
    rig_list(&rig, "files", LIST_TOOLS,
             "[{\"name\":\"write\",\"description\":\"W\"},{\"name\":\"read\",\"description\":"
             "\"Reads \\\"one\\\"\"}]");
    face_open(&rig, &c, NULL, PB_ERA_LEGACY);
    CHECK_STR(face_call(&c, "external_list_tools", "{}"),
              "{\"tools\":[{\"name\":\"db/query\",\"server\":\"db\",\"description\":\"\"},"
              "{\"name\":\"files/read\",\"server\":\"files\",\"description\":\"Reads "
              "\\\"one\\\"\"},"
              "{\"name\":\"files/write\",\"server\":\"files\",\"description\":\"W\"}]}");
    CHECK_STR(face_call(&c, "external_list_tools", "{\"server\":\"db\"}"),
              "{\"tools\":[{\"name\":\"db/query\",\"server\":\"db\",\"description\":\"\"}]}");
    CHECK_STR(face_call(&c, "external_list_tools", "{\"server\":\"nosuch\"}"),
              "error: {\"error\":\"server_not_found\",\"server\":\"nosuch\"}");
    face_close(&c);
    rig_done(&rig);
}

/* S4-50 S4-186 */
TEST(a_call_is_passed_on_and_its_result_comes_back)
{
    struct hub_rig rig;
    struct face_client c;

    two_servers(&rig);
    for (int era = PB_ERA_LEGACY; era <= PB_ERA_MODERN; era++) {
        face_open(&rig, &c, NULL, (enum pb_era)era);
        CHECK_STR(face_call(&c, "external_call_tool",
                            "{\"tool\":\"files/read\",\"arguments\":{\"path\":\"/tmp/1.0\"}}"),
                  "{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"path\\\":\\\"/tmp/1.0\\\"}\"}]"
                  "}");
        CHECK_STR(face_call(&c, "external_call_tool", "{\"tool\":\"db.query\"}"),
                  "{\"content\":[{\"type\":\"text\",\"text\":\"rows\"}]}");
        CHECK_STR(face_call(&c, "external_call_tool", "{\"tool\":\"files__read\"}"),
                  "{\"content\":[{\"type\":\"text\",\"text\":\"{}\"}]}");
        CHECK_STR(face_call(&c, "external_call_tool", "{\"server\":\"db\",\"tool\":\"query\"}"),
                  "{\"content\":[{\"type\":\"text\",\"text\":\"rows\"}]}");
        face_close(&c);
    }
    rig_done(&rig);
}

TEST(a_tool_that_failed_is_still_its_result_and_marked)
{
    struct hub_rig rig;
    struct fake_server *f;
    struct face_client c;

    init(&rig);
    f = rig_server(&rig, "s");
    fake_tool(f, "bad", FAKE_RAW)->text =
        "{\"content\":[{\"type\":\"text\",\"text\":\"no\"}],\"isError\":true,"
        "\"structuredContent\":{\"n\":1.0}}";
    fake_tool(f, "worse", FAKE_ERROR)->text = "it broke";
    rig_start(&rig);
    face_open(&rig, &c, NULL, PB_ERA_LEGACY);
    CHECK_STR(face_call(&c, "external_call_tool", "{\"tool\":\"s/bad\"}"),
              "error: {\"content\":[{\"type\":\"text\",\"text\":\"no\"}],\"isError\":true,"
              "\"structuredContent\":{\"n\":1.0}}");
    CHECK_HAS(face_call(&c, "external_call_tool", "{\"tool\":\"s/worse\"}"),
              "error: {\"error\":\"call_failed\",\"message\":\"");
    CHECK_HAS(face_call(&c, "external_call_tool", "{\"tool\":\"s/worse\"}"), "it broke");
    face_close(&c);
    rig_done(&rig);
}

/* S4-187 S4-188 */
TEST(unknown_servers_and_tools_are_told_apart)
{
    static const struct {
        const char *arguments, *want;
    } cases[] = {
        { "{\"tool\":\"nosuch/read\"}",
          "error: {\"error\":\"server_not_found\",\"server\":\"nosuch\"}" },
        { "{\"tool\":\"files/nosuch\"}",
          "error: {\"error\":\"tool_not_found\",\"tool\":\"files/nosuch\"" },
        { "{\"tool\":\"nosuch\"}", "error: {\"error\":\"tool_not_found\",\"tool\":\"nosuch\"" },
        { "{\"tool\":\"files/read\",\"arguments\":[]}", "error: {\"error\":\"invalid_arguments\"" },
        { "{\"tool\":7}", "error: {\"error\":\"invalid_arguments\",\"message\":\"tool: expected a "
                          "string, got number\"}" },
        { "{}", "error: {\"error\":\"invalid_arguments\"" },
        { "{\"tool\":\"external_list_tools\"}", "error: {\"error\":\"tool_not_found\"" },
        { "{\"tool\":\"read\",\"server\":\"db\"}", "error: {\"error\":\"tool_not_found\"" },
    };
    struct hub_rig rig;
    struct face_client c;

    two_servers(&rig);
    face_open(&rig, &c, NULL, PB_ERA_LEGACY);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        CHECK_HAS(face_call(&c, "external_call_tool", cases[i].arguments), cases[i].want);
    face_close(&c);
    rig_done(&rig);
}

TEST(a_server_that_is_not_connected_is_told_apart_from_an_unknown_one)
{
    struct hub_rig rig;
    struct face_client c;
    struct pb_error err;

    two_servers(&rig);
    face_open(&rig, &c, NULL, PB_ERA_LEGACY);
    CHECK_INT(hub_disconnect(rig.hub, "db", &err), 0);
    fakes_settle(&rig.fakes);
    CHECK_HAS(face_call(&c, "external_call_tool", "{\"tool\":\"db/query\"}"),
              "error: {\"error\":\"server_not_connected\",\"server\":\"db\"");
    CHECK_HAS(face_call(&c, "external_read_resource", "{\"server\":\"db\",\"uri\":\"db://t\"}"),
              "error: {\"error\":\"server_not_connected\",\"server\":\"db\"");
    CHECK_HAS(face_call(&c, "external_get_prompt", "{\"prompt\":\"db/ask\"}"),
              "error: {\"error\":\"server_not_connected\",\"server\":\"db\"");
    face_close(&c);
    rig_done(&rig);
}

/* S4-189 */
TEST(a_call_that_takes_too_long_is_an_error)
{
    struct hub_rig rig;
    struct fake_server *f;
    struct face_client c;
    struct fake_reply *a;

    init(&rig);
    f = rig_server(&rig, "slow");
    fake_tool(f, "hang", FAKE_HANG);
    rig_start(&rig);
    face_open(&rig, &c, NULL, PB_ERA_LEGACY);
    a = face_send(&c, "tools/call",
                  "{\"name\":\"external_call_tool\",\"arguments\":{\"tool\":\"slow/hang\"}}");
    fakes_settle(&rig.fakes);
    loop_advance(rig.fakes.loop, 29999);
    fakes_settle(&rig.fakes);
    CHECK_INT(a->count, 0);
    loop_advance(rig.fakes.loop, 1);
    fakes_settle(&rig.fakes);
    CHECK_INT(a->count, 1);
    CHECK_STR(face_text(a->result),
              "error: {\"error\":\"call_failed\",\"code\":\"call_timeout\",\"message\":\"timeout "
              "after 30s\"}");
    face_close(&c);
    rig_done(&rig);
}

TEST(a_client_that_cancels_or_leaves_cancels_the_external_call)
{
    struct hub_rig rig;
    struct fake_server *f;
    struct face_client c;

    init(&rig);
    f = rig_server(&rig, "slow");
    fake_tool(f, "hang", FAKE_HANG);
    rig_start(&rig);
    face_open(&rig, &c, NULL, PB_ERA_LEGACY);
    face_send(&c, "tools/call",
              "{\"name\":\"external_call_tool\",\"arguments\":{\"tool\":\"slow/hang\"}}");
    fakes_settle(&rig.fakes);
    CHECK_INT(f->n_held, 1);
    face_close(&c);
    CHECK_INT(f->cancellations, 1);
    CHECK_INT(f->n_held, 0);
    rig_done(&rig);
}

TEST(progress_of_an_external_call_is_passed_on)
{
    struct hub_rig rig;
    struct face_client c;
    struct fake_reply *a;

    init(&rig);
    fake_tool(rig_server(&rig, "s"), "talk", FAKE_TALK);
    rig_start(&rig);
    face_open(&rig, &c, NULL, PB_ERA_LEGACY);
    a = face_ask(&c, "tools/call",
                 "{\"name\":\"external_call_tool\",\"arguments\":{\"tool\":\"s/talk\"}}");
    CHECK_INT(a->progressed, 1);
    CHECK_HAS(a->progress, "\"progress\":1,\"total\":2,\"message\":\"half\"");
    face_close(&c);
    rig_done(&rig);
}

/* S4-190 */
TEST(without_a_client_manager_every_tool_says_so)
{
    static const struct {
        const char *tool, *arguments;
    } cases[] = {
        { "external_call_tool", "{\"tool\":\"a/b\"}" },
        { "external_list_servers", "{}" },
        { "external_list_tools", "{}" },
        { "external_read_resource", "{\"server\":\"a\",\"uri\":\"b\"}" },
    };
    struct fakes fakes;
    struct hosts *hosts;
    struct host *h = NULL;
    struct face_client c;
    struct pb_error err;
    struct hub_rig done = { 0 };

    fakes_init(&fakes);
    hosts = hosts_new(fakes.loop, &(struct host_options){ .expose = HOST_EXTERNAL });
    CHECK_INT(hosts_get(hosts, &(struct host_scope){ 0 }, &h, &err), 0);
    face_connect(&fakes, &c, h, PB_ERA_LEGACY);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        CHECK_HAS(face_call(&c, cases[i].tool, cases[i].arguments),
                  "error: {\"error\":\"no_client_manager\"");
    face_close(&c);
    hosts_close(hosts, rig_on_hosts_closed, &done);
    FAKES_UNTIL(&fakes, done.hosts_closed);
    fakes_done(&fakes);
}

/* S4-51 S4-191 S4-192 */
TEST(resources_are_listed_of_all_servers_or_of_one)
{
    struct hub_rig rig;
    struct face_client c;

    two_servers(&rig);
    rig_list(&rig, "files", LIST_RESOURCES,
             "[{\"uri\":\"file:///tmp\",\"name\":\"Tmp Directory\",\"description\":\"Files\","
             "\"mimeType\":\"application/json\"}]");
    rig_list(&rig, "db", LIST_RESOURCES, "[{\"uri\":\"db://t\",\"name\":\"t\"}]");
    face_open(&rig, &c, NULL, PB_ERA_LEGACY);
    CHECK_STR(face_call(&c, "external_list_resources", "{}"),
              "{\"resources\":[{\"uri\":\"db://t\",\"server\":\"db\",\"name\":\"t\","
              "\"description\":\"\",\"mime_type\":null},"
              "{\"uri\":\"file:///tmp\",\"server\":\"files\",\"name\":\"Tmp Directory\","
              "\"description\":\"Files\",\"mime_type\":\"application/json\"}]}");
    CHECK_STR(face_call(&c, "external_list_resources", "{\"server\":\"files\"}"),
              "{\"resources\":[{\"uri\":\"file:///tmp\",\"server\":\"files\",\"name\":\"Tmp "
              "Directory\",\"description\":\"Files\",\"mime_type\":\"application/json\"}]}");
    face_close(&c);
    rig_done(&rig);
}

static const char *contents;

/* Reads are answered as the test says, everything else as fakes do. */
static bool handle_read(void *ctx, struct request *r)
{
    if (!span_is(r->method, "resources/read") || !contents)
        return fake_handle(ctx, r);
    request_reply(r, span_of(contents));
    return true;
}

/* S4-52 S4-193 S4-194 S4-195 */
TEST(a_resource_is_read_from_the_server_that_is_named)
{
    static const struct {
        const char *contents, *arguments, *want;
    } cases[] = {
        { NULL, "{\"server\":\"files\",\"uri\":\"file:///tmp\"}",
          "{\"content\":\"listing\",\"mime_type\":null}" },
        { "{\"contents\":[{\"uri\":\"x:y\",\"mimeType\":\"application/json\",\"text\":\"{}\"}]}",
          "{\"server\":\"files\",\"uri\":\"x:y\"}",
          "{\"content\":\"{}\",\"mime_type\":\"application/json\"}" },
        { "{\"contents\":[{\"uri\":\"x:y\",\"mimeType\":\"image/png\",\"blob\":\"AAAA\"}]}",
          "{\"server\":\"files\",\"uri\":\"x:y\"}",
          "{\"content\":\"AAAA\",\"mime_type\":\"image/png\",\"encoding\":\"base64\"}" },
        { "{\"contents\":[{\"uri\":\"x:1\",\"text\":\"a\"},{\"uri\":\"x:2\",\"text\":\"b\"}]}",
          "{\"server\":\"files\",\"uri\":\"x:\"}",
          "{\"content\":\"a\",\"mime_type\":null,\"contents\":[{\"uri\":\"x:1\",\"text\":\"a\"},"
          "{\"uri\":\"x:2\",\"text\":\"b\"}]}" },
        { NULL, "{\"server\":\"files\",\"uri\":\"file:///none\"}",
          "error: {\"error\":\"resource_not_found\",\"uri\":\"file:///none\"" },
        { "{\"contents\":[]}", "{\"server\":\"files\",\"uri\":\"file:///none\"}",
          "error: {\"error\":\"resource_not_found\",\"uri\":\"file:///none\"}" },
        { NULL, "{\"server\":\"nosuch\",\"uri\":\"file:///tmp\"}",
          "error: {\"error\":\"server_not_found\",\"server\":\"nosuch\"}" },
        { NULL, "{\"uri\":\"file:///tmp\"}", "error: {\"error\":\"invalid_arguments\"" },
        { NULL, "{\"server\":\"files\"}", "error: {\"error\":\"invalid_arguments\"" },
    };
    struct provider own = fake_provider;
    struct hub_rig rig;
    struct face_client c;

    own.handle = handle_read;
    two_servers(&rig);
    server_set_provider(fakes_find(&rig.fakes, "files")->server, &own,
                        fakes_find(&rig.fakes, "files"));
    face_open(&rig, &c, NULL, PB_ERA_LEGACY);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        contents = cases[i].contents;
        CHECK_HAS(face_call(&c, "external_read_resource", cases[i].arguments), cases[i].want);
    }
    face_close(&c);
    rig_done(&rig);
}

TEST(prompts_are_listed_and_got)
{
    struct hub_rig rig;
    struct face_client c;

    two_servers(&rig);
    face_open(&rig, &c, NULL, PB_ERA_MODERN);
    CHECK_STR(face_call(&c, "external_list_prompts", "{}"),
              "{\"prompts\":[{\"name\":\"db/ask\",\"server\":\"db\",\"description\":\"\"}]}");
    CHECK_STR(face_call(&c, "external_list_prompts", "{\"server\":\"files\"}"), "{\"prompts\":[]}");
    CHECK_STR(face_call(&c, "external_get_prompt", "{\"prompt\":\"db/ask\"}"),
              "{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"SELECT "
              "what?\"}}]}");
    CHECK_HAS(face_call(&c, "external_get_prompt", "{\"prompt\":\"db/nosuch\"}"),
              "error: {\"error\":\"prompt_not_found\",\"prompt\":\"db/nosuch\"");
    face_close(&c);
    rig_done(&rig);
}

/* S4-198 */
TEST(every_result_is_one_text_item_that_holds_json)
{
    static const struct {
        const char *tool, *arguments;
    } cases[] = {
        { "external_list_servers", "{}" },
        { "external_list_tools", "{}" },
        { "external_list_tools", "{\"server\":\"no\\u0000such\"}" },
        { "external_call_tool", "{\"tool\":\"files/read\"}" },
        { "external_call_tool", "{\"tool\":\"\"}" },
        { "external_call_tool", "{\"tool\":\"a\\\"b/c\"}" },
        { "external_list_resources", "{}" },
        { "external_read_resource", "{\"server\":\"files\",\"uri\":\"file:///tmp\"}" },
        { "external_read_resource", "{\"server\":\"files\",\"uri\":\"no\"}" },
        { "external_list_prompts", "{}" },
        { "external_get_prompt", "{\"prompt\":\"db/ask\",\"arguments\":{\"a\":\"b\"}}" },
    };
    struct hub_rig rig;
    struct face_client c;

    two_servers(&rig);
    for (int era = PB_ERA_LEGACY; era <= PB_ERA_MODERN; era++) {
        face_open(&rig, &c, NULL, (enum pb_era)era);
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
            const char *text = face_call(&c, cases[i].tool, cases[i].arguments);
            AUTO_JSON struct json_doc doc = { 0 };

            if (strncmp(text, "error: ", 7) == 0)
                text += 7;
            CHECK_INT(json_parse(&doc, span_of(text), NULL, NULL), 0);
            CHECK(json_is(json_root(&doc), JSON_OBJECT));
        }
        face_close(&c);
    }
    rig_done(&rig);
}

TEST(what_a_mode_hides_is_not_to_be_had_by_asking_either)
{
    static const struct host_scope scope = { .mode = "m", .expose = HOST_EXTERNAL };
    struct hub_rig rig;
    struct face_client c;

    two_servers(&rig);
    rig_modes(
        &rig,
        "{\"m\":{\"filter\":{\"or\":[{\"tools\":[\"read\"]},{\"pattern\":\"^external_\"}]}}}");
    face_open(&rig, &c, &scope, PB_ERA_LEGACY);
    CHECK_STR(face_call(&c, "external_list_tools", "{}"),
              "{\"tools\":[{\"name\":\"files/read\",\"server\":\"files\",\"description\":\"Reads "
              "\\\"one\\\"\"}]}");
    CHECK_HAS(face_call(&c, "external_list_servers", "{}"),
              "{\"servers\":{\"files\":{\"status\":\"connected\",\"tool_count\":1}}}");
    CHECK_HAS(face_call(&c, "external_read_resource", "{\"server\":\"db\",\"uri\":\"x://1\"}"),
              "error: {\"error\":\"server_not_found\"");
    CHECK_HAS(face_call(&c, "external_call_tool", "{\"tool\":\"files/write\"}"),
              "error: {\"error\":\"tool_not_found\"");
    CHECK_INT(fakes_find(&rig.fakes, "files")->calls, 0);
    face_close(&c);
    rig_done(&rig);
}
