/* Every route of the real program, asked once: what it answers is what /openapi.json says that it
 * answers, with nothing left out and nothing beside it. Also when a server says what no server
 * should. */
#include "registry_rig.h"

#define SCRIPTED "{\"command\":\"$BUILD/tests/e2e/script_server\",\"args\":[\"$HOME/script\"]}"
#define CALL_ID  "0c9f1a2e-0000-4000-8000-000000000001"
/* The version of no changes: SHA-256 of nothing. */
#define NOTHING_CHANGED "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

static struct map answered; /* routes that have answered well, by the text of their operation */

static int ask(const char *method, const char *path, const char *body)
{
    char request[512];
    int status = http(method, path, body);

    snprintf(request, sizeof request, "%s %s", method, path);
    if (status == 200 || status == 201)
        map_put(&answered, json_text(shape_operation(request)), &answered);
    return status;
}

static void expect(int status, const char *method, const char *path, const char *body)
{
    int is = ask(method, path, body);

    if (is != status)
        TAP_FAIL("%s %s: %d %s", method, path, is, out);
}

/* Of a POST whose answer nobody reads yet. */
static int ask_later(const char *path, const char *body)
{
    AUTO_BUF struct buf request = { 0 };
    const char *host = strstr(file_text("daemon.err"), "127.0.0.1:");
    int fd = daemon_dial();

    buf_printf(&request,
               "POST %s HTTP/1.1\r\nHost: %.*s\r\nAuthorization: Bearer secret\r\n"
               "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
               path, (int)strcspn(host, "/"), host, strlen(body), body);
    CHECK_INT(send(fd, request.p, request.n, MSG_NOSIGNAL), request.n);
    return fd;
}

static const struct {
    int status;
    const char *method, *path, *body;
} steps[] = {
    { 200, "GET", "/openapi.json", "" },
    { 200, "GET", "/api/status", "" },
    { 200, "GET", "/api/servers", "" },
    { 200, "GET", "/api/servers/ex", "" },
    { 200, "GET", "/api/servers/ex/logs", "" },
    { 200, "GET", "/api/logs", "" },
    { 200, "GET", "/api/tools?limit=1", "" },
    { 200, "GET", "/api/resources?limit=1", "" },
    { 200, "GET", "/api/prompts?limit=1", "" },
    { 200, "GET", "/api/mcp-clients", "" },
    { 200, "GET", "/api/mcp-tools", "" },
    { 200, "GET", "/api/mcp-resources", "" },
    { 200, "GET", "/api/mcp-prompts", "" },
    { 200, "POST", "/api/mcp-tools/call",
      "{\"tool\":\"ex/echo\",\"arguments\":{\"text\":\"hi\"}}" },
    { 200, "GET", "/api/calls", "" },
    { 200, "GET", "/api/store", "" },
    { 200, "DELETE", "/api/calls?before=1", "" },
    { 200, "GET", "/api/questions", "" },
    { 201, "POST", "/api/grants", "{\"conversation\":\"c\",\"operation\":\"ex/echo\"}" },
    { 200, "PUT", "/api/auto-approve", "{\"conversation\":\"c\",\"on\":true}" },
    { 200, "GET", "/api/grants", "" },
    { 200, "DELETE", "/api/grants", "" },
    { 200, "GET", "/api/policy", "" },
    { 200, "POST", "/api/policy/dry-run", "{\"policy\":{\"rules\":[{\"action\":\"deny\"}]}}" },
    { 200, "POST", "/api/explain", "{\"tool\":\"ex/echo\"}" },
    { 200, "GET", "/api/alerts", "" },
    { 200, "DELETE", "/api/alerts", "" },
    { 200, "GET", "/api/pins", "" },
    { 200, "GET", "/api/pins?server=ex", "" },
    { 404, "GET", "/api/pins?server=nobody", "" },
    { 200, "POST", "/api/pins/approve", "{\"server\":\"ex\",\"version\":\"" NOTHING_CHANGED "\"}" },
    { 400, "POST", "/api/pins/approve", "{\"server\":\"ex\"}" },
    { 409, "POST", "/api/pins/approve", "{\"server\":\"ex\",\"version\":\"x\"}" },
    { 404, "POST", "/api/pins/approve", "{\"server\":\"nobody\",\"version\":\"x\"}" },
    { 200, "GET", "/api/modes", "" },
    { 200, "POST", "/api/modes/match", "{\"filter\":\"all\"}" },
    { 200, "PUT", "/api/modes/few", "{\"name\":\"A few\",\"icon\":\"star\",\"filter\":\"all\"}" },
    { 200, "GET", "/api/tools?mode=few", "" },
    { 200, "DELETE", "/api/modes/few", "" },
    { 200, "GET", "/api/settings", "" },
    { 200, "PATCH", "/api/settings", "{\"health_s\":7,\"server_name\":\"x\"}" },
    { 200, "GET", "/api/status", "" },
    { 200, "POST", "/api/reload", "" },
    { 200, "POST", "/api/reconnect-failed", "" },
    { 200, "POST", "/api/servers/parse", "{\"text\":\"npx -y pkg\"}" },
    { 200, "POST", "/api/servers/test",
      "{\"entry\":{\"command\":\"$BUILD/patchbay-example-server\"}}" },
    { 200, "POST", "/api/servers/test", "{\"entry\":{\"command\":\"/nosuch/program\"}}" },
    { 200, "POST", "/api/servers?dry_run", "{\"text\":\"npx -y pkg\"}" },
    { 201, "POST", "/api/servers",
      "{\"name\":\"two\",\"entry\":{\"command\":\"$BUILD/patchbay-example-server\"}}" },
    { 200, "PUT", "/api/servers/two",
      "{\"command\":\"$BUILD/patchbay-example-server\",\"timeout_s\":5}" },
    { 200, "POST", "/api/servers/two/disable", "" },
    { 200, "POST", "/api/servers/two/enable", "" },
    { 200, "POST", "/api/servers/two/connect", "" },
    { 200, "PUT", "/api/servers/two/tools/echo", "{\"enabled\":false}" },
    { 200, "GET", "/api/tools?server=two", "" },
    { 200, "POST", "/api/servers/two/disconnect", "" },
    { 200, "POST", "/api/servers/two/reconnect", "" },
    { 200, "POST", "/api/servers/two/ping", "" },
    { 200, "POST", "/api/servers/two/restart", "" },
    { 200, "DELETE", "/api/servers/two", "" },
    { 200, "POST", "/api/mcp-clients/connect",
      "{\"name\":\"late\",\"command\":\"$BUILD/patchbay-example-server\"}" },
    { 200, "POST", "/api/mcp-clients/late/disconnect", "" },
    { 200, "POST", "/api/mcp-clients/late/reconnect", "" },
    { 200, "GET", "/api/mcp-clients", "" },
};

static void each_step(void)
{
    for (size_t i = 0; i < ARRAY_LEN(steps); i++)
        expect(steps[i].status, steps[i].method, steps[i].path, steps[i].body);
}

/* A call that was recorded, with its bytes; a grant that is taken back; rules under which somebody
 * is asked. */
static void look_at_records(void)
{
    char path[256];
    int fd;

    expect(200, "GET", "/api/calls?limit=1", "");
    snprintf(path, sizeof path, "/api/objects/%s", member("recent.0.arguments_cid"));
    expect(200, "GET", path, "");
    expect(200, "GET", "/api/calls?limit=1", "");
    snprintf(path, sizeof path, "/api/calls/%s", member("recent.0.id"));
    expect(200, "GET", path, "");
    expect(201, "POST", "/api/grants", "{\"conversation\":\"c\",\"operation\":\"a/b\"}");
    snprintf(path, sizeof path, "/api/grants/%s", member("id"));
    expect(200, "DELETE", path, "");
    expect(200, "PUT", "/api/policy", "{\"rules\":[{\"action\":\"ask\",\"tool\":\"echo\"}]}");
    fd = ask_later("/api/mcp-tools/call", "{\"tool\":\"ex/echo\",\"arguments\":{\"text\":\"\"}}");
    WAIT_FOR(ask("GET", "/api/questions", "") == 200 && *member("questions.0.id"));
    snprintf(path, sizeof path, "/api/questions/%s/answer", member("questions.0.id"));
    expect(200, "POST", path, "{\"choice\":\"deny\"}");
    expect(200, "PUT", "/api/policy", "{\"rules\":[]}");
    close(fd);
}

/* A resource and a prompt of a server that has some. */
static void read_and_get(void)
{
    BECOMES("odd", "connected");
    expect(200, "POST", "/api/mcp-resources/read", "{\"server\":\"odd\",\"uri\":\"x:1\"}");
    expect(200, "POST", "/api/mcp-prompts/get", "{\"prompt\":\"odd/p\"}");
}

static void dismiss_one_alert(void)
{
    char path[128];

    WAIT_FOR(ask("GET", "/api/alerts", "") == 200 && *member("alerts.0.id"));
    snprintf(path, sizeof path, "/api/alerts/%s", member("alerts.0.id"));
    expect(200, "DELETE", path, "");
}

static void look_into_a_registry(void)
{
    char settings[200];
    struct mock m;

    mock_start(&m, GITHUB);
    snprintf(settings, sizeof settings,
             "{\"registry_url\":\"http://127.0.0.1:%d\",\"smithery_url\":\"http://127.0.0.1:%d\"}",
             m.port, m.port);
    expect(200, "PATCH", "/api/settings", settings);
    expect(200, "POST", "/api/registry/search", "{\"search\":\"x\"}");
    expect(200, "POST", "/api/registry/server", "{\"name\":\"x\"}");
    mock_stop(&m);
}

static void cancel_a_call(void)
{
    int fd;

    BECOMES("stuck", "connected");
    fd = ask_later("/api/mcp-tools/call", "{\"tool\":\"stuck/who\",\"id\":\"" CALL_ID "\"}");
    WAIT_FOR(ask("GET", "/api/calls", "") == 200 && *member("calls.0.id"));
    expect(200, "POST", "/api/calls/" CALL_ID "/cancel", "");
    WAIT_FOR(ask("GET", "/api/calls", "") == 200 && !*member("calls.0.id"));
    CHECK_STR(member("recent.0.status"), "cancelled");
    close(fd);
}

static void cancel_an_attempt(void)
{
    int fd;

    expect(201, "POST", "/api/servers",
           "{\"name\":\"slow\",\"entry\":{\"command\":\"/bin/sleep\",\"args\":[\"1000\"],"
           "\"start\":\"lazy\"}}");
    fd = ask_later("/api/servers/slow/connect", "");
    BECOMES("slow", "connecting");
    expect(200, "POST", "/api/servers/slow/cancel", "");
    close(fd);
}

static void write_script(const char *hello, const char *read)
{
    mkdir(in_home("script"), 0700);
    write_file(in_home("script/initialize"), hello);
    write_file(in_home("script/tools_list"), "{\"tools\":[]}");
    write_file(in_home("script/resources_list"),
               "{\"resources\":[{\"uri\":\"x:1\",\"name\":\"One\",\"description\":7}]}");
    write_file(in_home("script/resources_templates_list"),
               "{\"resourceTemplates\":[{\"uriTemplate\":\"x:{n}\",\"name\":\"Any\"}]}");
    write_file(in_home("script/prompts_list"),
               "{\"prompts\":[{\"name\":\"p\",\"description\":[],\"arguments\":{}}]}");
    write_file(in_home("script/prompts_get"), "{\"messages\":[],\"description\":7}");
    write_file(in_home("script/resources_read"), read);
}

#define HELLO(members)                                                                     \
    "{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"tools\":{},\"resources\":{}," \
    "\"prompts\":{}}," members "}"

TEST(every_route_answers_what_it_describes)
{
    size_t n = 0;

    rig_begin();
    write_script(HELLO("\"serverInfo\":{\"name\":\"odd\",\"version\":\"1\"}"),
                 "{\"contents\":[{\"uri\":\"x:1\",\"blob\":\"aGk=\"},{\"uri\":\"x:1\"}]}");
    rig_config("\"ex\":" EXAMPLE ",\"odd\":" SCRIPTED ",\"stuck\":" MOB(
        "stuck") ",\"bad\":{\"command\":\"/nosuch/program\",\"auto_reconnect\":false}");
    start(NULL);
    BECOMES("ex", "connected");
    dismiss_one_alert();
    each_step();
    look_at_records();
    read_and_get();
    look_into_a_registry();
    cancel_a_call();
    cancel_an_attempt();
    JSON_FOREACH(path, SHAPE_AT("paths")) {
        JSON_FOREACH(operation, path) {
            if (!json_is(shape_of_answer(operation, 200), JSON_OBJECT) &&
                !json_is(shape_of_answer(operation, 201), JSON_OBJECT))
                continue; /* a page, a stream, a text */
            if (!map_get(&answered, json_text(operation)))
                TAP_FAIL("nobody has asked %.*s",
                         SPAN_ARG(json_text(json_get(operation, "operationId"))));
            n++;
        }
    }
    CHECK(n > 40);
    rig_end();
}

TEST(what_a_server_says_wrongly_of_itself_is_not_passed_on)
{
    rig_begin();
    write_script(HELLO("\"serverInfo\":\"me\",\"instructions\":{\"do\":\"this\"}"),
                 "{\"contents\":[{\"uri\":\"x:1\",\"text\":{\"a\":1}},null,{\"uri\":\"x:2\"}]}");
    rig_config("\"odd\":" SCRIPTED);
    start(NULL);
    BECOMES("odd", "connected");
    CHECK_STR(member("server_info"), "");
    CHECK_STR(member("instructions"), "");
    CHECK(*member("capabilities"));
    CHECK_INT(http("POST", "/api/mcp-resources/read", "{\"server\":\"odd\",\"uri\":\"x:1\"}"), 200);
    CHECK_STR(member("content"), "null");
    CHECK_STR(member("contents.1"), "{\"uri\":\"x:2\"}");
    CHECK_INT(http("GET", "/api/mcp-resources", ""), 200);
    CHECK_STR(member("resources.0.description"), "null");
    CHECK_INT(http("GET", "/api/mcp-prompts", ""), 200);
    CHECK_STR(member("prompts.0.arguments"), "[]");
    rig_end();
}
