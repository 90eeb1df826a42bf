/* S4's part of REST: shapes, codes and statuses, over fake servers and a real socket. */
#include "face/host/host.h"
#include "face/listen/listen.h"
#include "face/rest/rest.h"
#include "face/rest_rig.h"
#include "hub/hub/hub.h"
#include "hub/link/link.h"

/* ---- lists ---- */

/* S4-163 S4-165 */
TEST(without_servers_there_is_nothing_to_list)
{
    struct rest_rig rig;

    rest_init(&rig, NULL);
    CHECK_INT(GET(&rig, "/api/mcp-clients"), 200);
    CHECK_STR(rest_body, "{\"clients\":{}}\n");
    CHECK_INT(GET(&rig, "/api/mcp-tools"), 200);
    CHECK_STR(rest_body, "{\"tools\":[]}\n");
    CHECK_INT(GET(&rig, "/api/mcp-resources"), 200);
    CHECK_STR(rest_body, "{\"resources\":[]}\n");
    CHECK_INT(GET(&rig, "/api/mcp-prompts"), 200);
    CHECK_STR(rest_body, "{\"prompts\":[]}\n");
    rest_done(&rig);
}

/* S4-37 S4-164 */
TEST(clients_tell_the_status_of_each_server)
{
    struct rest_rig rig;
    struct fake_server *bad;

    rest_init(&rig, NULL);
    rig.hub.fakes.clock.wall = 1700000000000;
    fake_tool(rig_server(&rig.hub, "alpha"), "echo", FAKE_ECHO);
    bad = rig_server(&rig.hub, "beta");
    bad->connect = FAKE_CONNECT_FAIL;
    bad->connect_text = "Connection refused";
    rig_spec_of(&rig.hub, "beta")->auto_reconnect = false;
    rest_start(&rig);
    CHECK_INT(GET(&rig, "/api/mcp-clients"), 200);
    CHECK_STR(got("clients.alpha"), "{\"status\":\"connected\",\"transport\":\"stdio\",\"tools\":["
                                    "\"alpha/echo\"],\"connected_at\":1700000000}");
    CHECK_STR(got("clients.beta.status"), "error");
    CHECK_STR(got("clients.beta.tools"), "[]");
    CHECK_HAS(got("clients.beta.error"), "Connection refused");
    CHECK_HAS(rest_head, "Content-Type: application/json\r\n");
    CHECK_HAS(rest_head, "Cache-Control: no-store\r\n");
    CHECK_HAS(rest_head, "X-Content-Type-Options: nosniff\r\n");
    rest_done(&rig);
}

/* S4-38 S4-166 */
TEST(tools_of_connected_servers_have_their_schema)
{
    struct rest_rig rig;
    struct fake_tool *t;

    rest_init(&rig, NULL);
    t = fake_tool(rig_server(&rig.hub, "alpha"), "read", FAKE_ECHO);
    t->description = "Reads \"it\"";
    t->schema = "{\"type\":\"object\",\"properties\":{\"n\":{\"maximum\":1.50}}}";
    fake_tool(rig_server(&rig.hub, "beta"), "write", FAKE_ECHO);
    rest_start(&rig);
    CHECK_INT(GET(&rig, "/api/mcp-tools"), 200);
    CHECK_STR(got("tools.0"),
              "{\"name\":\"alpha/read\",\"server\":\"alpha\",\"original_name\":\"read\","
              "\"description\":\"Reads \\\"it\\\"\",\"input_schema\":{\"type\":\"object\","
              "\"properties\":{\"n\":{\"maximum\":1.50}}}}");
    CHECK_STR(got("tools.1.name"), "beta/write");
    CHECK_STR(got("tools.2"), "");
    CHECK_INT(GET(&rig, "/api/mcp-tools?server=beta"), 200);
    CHECK_STR(got("tools.0.name"), "beta/write");
    CHECK_STR(got("tools.1"), "");
    rest_done(&rig);
}

/* S4-41 S4-171 */
TEST(resources_and_prompts_of_all_servers_are_put_together)
{
    struct rest_rig rig;
    struct fake_server *f;

    rest_init(&rig, NULL);
    f = rig_server(&rig.hub, "alpha");
    fake_resource(f, "file:///a", "text of a");
    fake_prompt(f, "hello", "Hello");
    fake_resource(rig_server(&rig.hub, "beta"), "file:///b", "text of b");
    rest_start(&rig);
    CHECK_INT(GET(&rig, "/api/mcp-resources"), 200);
    CHECK_STR(got("resources.0.uri"), "file:///a");
    CHECK_STR(got("resources.0.server"), "alpha");
    CHECK(*got("resources.0.name") && *got("resources.0.description") &&
          *got("resources.0.mime_type"));
    CHECK_STR(got("resources.1.uri"), "file:///b");
    CHECK_STR(got("resources.2"), "");
    CHECK_INT(GET(&rig, "/api/mcp-prompts"), 200);
    CHECK_STR(got("prompts.0.name"), "alpha/hello");
    CHECK_STR(got("prompts.0.original_name"), "hello");
    rest_done(&rig);
}

/* ---- calls ---- */

/* S4-39 S4-167 */
TEST(a_call_reaches_the_right_server_and_its_result_comes_back)
{
    struct rest_rig rig;
    struct fake_server *alpha, *beta;

    rest_init(&rig, NULL);
    fake_tool(alpha = rig_server(&rig.hub, "alpha"), "echo", FAKE_ECHO);
    fake_tool(beta = rig_server(&rig.hub, "beta"), "echo", FAKE_ECHO);
    rest_start(&rig);
    CHECK_INT(POST(&rig, "/api/mcp-tools/call",
                   "{\"tool\":\"beta/echo\",\"arguments\":{\"n\": 12345678901234567890}}"),
              200);
    CHECK_STR(got("result"), "{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"n\\\": "
                             "12345678901234567890}\"}]}");
    CHECK_INT(alpha->calls, 0);
    CHECK_INT(beta->calls, 1);
    CHECK_INT(POST(&rig, "/api/mcp-tools/call", "{\"tool\":\"alpha__echo\"}"), 200);
    CHECK_STR(alpha->last_args, "{}");
    rest_done(&rig);
}

TEST(a_result_keeps_all_but_what_belongs_to_the_protocol)
{
    struct rest_rig rig;
    struct fake_tool *t;

    rest_init(&rig, NULL);
    t = fake_tool(rig_server(&rig.hub, "alpha"), "raw", FAKE_RAW);
    t->text = "{\"content\":[],\"isError\":true,\"structuredContent\":{\"x\":1.0},"
              "\"_meta\":{\"mine\":1,\"io.modelcontextprotocol/x\":2},\"more\":[{}]}";
    rest_start(&rig);
    CHECK_INT(POST(&rig, "/api/mcp-tools/call", "{\"tool\":\"alpha/raw\"}"), 200);
    CHECK_STR(got("result.isError"), "true");
    CHECK_STR(got("result.structuredContent"), "{\"x\":1.0}");
    CHECK_STR(got("result.more"), "[{}]");
    CHECK_STR(got("result._meta"), "{\"mine\":1}");
    CHECK_STR(got("result.resultType"), "");
    rest_done(&rig);
}

/* S4-168 */
TEST(a_call_must_be_well_formed)
{
    static const struct {
        const char *body, *message;
    } cases[] = {
        { "{}", "tool: expected a string, got nothing" },
        { "{\"arguments\":{}}", "tool: expected a string, got nothing" },
        { "{\"tool\":null}", "tool: expected a string, got nothing" },
        { "{\"tool\":7}", "tool: expected a string, got a number" },
        { "{\"tool\":\"alpha/echo\",\"arguments\":[]}",
          "arguments: expected an object, got an array" },
        { "{\"tool\":\"alpha/echo\",\"argument\":{}}",
          "/api/mcp-tools/call takes no member 'argument'; did you mean 'arguments'?" },
        { "{\"tool\":\"alpha/echo\",\"tool\":\"alpha/echo\"}", "the body is no JSON: " },
        { "{\"tool\":\"alpha/echo\",\"arguments\":{\"a\":{\"x\":1,\"x\":2}}}",
          "the body is no JSON: " },
        { "{\"tool\":", "the body is no JSON: " },
        { "[]", "the body: expected an object, got an array" },
        { "{\"tool\":\"alpha/echo\",\"timeout_s\":0}", "timeout_s: expected seconds from 0.001" },
        { "{\"tool\":\"alpha/echo\",\"timeout_s\":1e300}",
          "timeout_s: expected seconds from 0.001" },
    };
    struct rest_rig rig;
    struct fake_server *f;

    rest_init(&rig, NULL);
    fake_tool(f = rig_server(&rig.hub, "alpha"), "echo", FAKE_ECHO);
    rest_start(&rig);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        CHECK_INT(POST(&rig, "/api/mcp-tools/call", cases[i].body), 400);
        CHECK_STR(got("error"), "invalid_request");
        CHECK_HAS(got("message"), cases[i].message);
    }
    CHECK_INT(POST(&rig, "/api/mcp-tools/call", ""), 400);
    CHECK_INT(f->calls, 0);
    rest_done(&rig);
}

/* S4-40 S4-169 */
TEST(a_call_to_a_server_that_is_not_connected_says_so)
{
    struct rest_rig rig;

    rest_init(&rig, NULL);
    fake_tool(rig_server(&rig.hub, "alpha"), "echo", FAKE_ECHO);
    rest_start(&rig);
    CHECK_INT(POST(&rig, "/api/mcp-clients/alpha/disconnect", ""), 200);
    CHECK_INT(POST(&rig, "/api/mcp-tools/call", "{\"tool\":\"alpha/echo\"}"), 503);
    CHECK_STR(got("error"), "server_not_connected");
    CHECK_STR(got("server"), "alpha");
    CHECK_STR(got("next"), "see GET /api/servers/alpha/logs, or POST "
                           "/api/mcp-clients/alpha/reconnect");
    rest_done(&rig);
}

/* S4-40 S4-170 */
TEST(a_call_to_an_unknown_tool_says_so)
{
    static const struct {
        const char *tool, *error;
    } cases[] = {
        { "alpha/nosuch", "tool_not_found" },
        { "nosuch/echo", "server_not_found" },
        { "echo", "tool_not_found" },
        { "external_list_servers", "tool_not_found" },
        { "", "tool_not_found" },
    };
    struct rest_rig rig;

    rest_init(&rig, NULL);
    fake_tool(rig_server(&rig.hub, "alpha"), "echo", FAKE_ECHO);
    rest_start(&rig);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char body[128];

        snprintf(body, sizeof body, "{\"tool\":\"%s\"}", cases[i].tool);
        CHECK_INT(POST(&rig, "/api/mcp-tools/call", body), 404);
        CHECK_STR(got("error"), cases[i].error);
        CHECK_STR(got("tool"), cases[i].tool);
        CHECK(*got("message") && *got("next"));
    }
    rest_done(&rig);
}

/* S4-40 */
TEST(a_call_that_takes_too_long_is_a_gateway_timeout)
{
    struct rest_rig rig;
    struct fake_server *f;
    struct line s;

    rest_init(&rig, NULL);
    fake_tool(f = rig_server(&rig.hub, "alpha"), "hang", FAKE_HANG);
    rest_start(&rig);
    line_hang(&rig, &s, f, "{\"tool\":\"alpha/hang\"}");
    loop_advance(rig.hub.fakes.loop, 30001);
    CHECK_INT(line_answer(&s), 504);
    CHECK_STR(got("error"), "call_failed");
    CHECK_STR(got("code"), "call_timeout");
    CHECK_STR(got("message"), "timeout after 30s");
    line_close(&s);

    line_hang(&rig, &s, f, "{\"tool\":\"alpha/hang\",\"timeout_s\":0.5}");
    loop_advance(rig.hub.fakes.loop, 501);
    CHECK_INT(line_answer(&s), 504);
    CHECK_STR(got("message"), "timeout after 500ms");
    line_close(&s);
    rest_done(&rig);
}

TEST(the_servers_own_error_is_passed_on)
{
    struct rest_rig rig;
    struct fake_tool *t;

    rest_init(&rig, NULL);
    t = fake_tool(rig_server(&rig.hub, "alpha"), "bad", FAKE_ERROR);
    t->code = -32602;
    t->text = "no such column";
    rest_start(&rig);
    CHECK_INT(POST(&rig, "/api/mcp-tools/call", "{\"tool\":\"alpha/bad\"}"), 502);
    CHECK_STR(got("error"), "call_failed");
    CHECK_STR(got("server"), "alpha");
    CHECK_HAS(got("message"), "no such column");
    CHECK_STR(got("rpc.code"), "-32602");
    rest_done(&rig);
}

TEST(a_client_that_goes_away_cancels_its_call)
{
    struct rest_rig rig;
    struct fake_server *f;
    struct line s;

    rest_init(&rig, NULL);
    fake_tool(f = rig_server(&rig.hub, "alpha"), "hang", FAKE_HANG);
    rest_start(&rig);
    line_hang(&rig, &s, f, "{\"tool\":\"alpha/hang\"}");
    line_close(&s);
    FAKES_UNTIL(&rig.hub.fakes, f->cancellations == 1);
    rest_done(&rig);
}

/* S0-87 S0-105 S0-145 */
TEST(calls_under_way_are_listed_and_can_be_cancelled)
{
    struct rest_rig rig;
    struct fake_server *f;
    struct line s;
    char path[128];

    rest_init(&rig, NULL);
    fake_tool(f = rig_server(&rig.hub, "alpha"), "hang", FAKE_HANG);
    rest_start(&rig);
    line_hang(&rig, &s, f, "{\"tool\":\"alpha/hang\"}");
    CHECK_INT(GET(&rig, "/api/calls"), 200);
    CHECK_STR(got("calls.0.server"), "alpha");
    CHECK_STR(got("calls.0.subject"), "hang");
    snprintf(path, sizeof path, "POST /api/calls/%s/cancel", got("calls.0.id"));
    CHECK_INT(rest_send(&rig, path, ""), 200);
    CHECK_INT(rest_send(&rig, path, ""), 404);
    CHECK_STR(got("error"), "call_not_found");
    CHECK_INT(GET(&rig, "/api/calls"), 200);
    CHECK_STR(got("calls"), "[]");
    CHECK_INT(line_answer(&s), 502);
    CHECK_STR(got("code"), "call_cancelled");
    line_close(&s);
    rest_done(&rig);
}

TEST(a_call_waits_for_a_server_that_is_on_its_way)
{
    struct rest_rig rig;
    struct fake_server *f;
    struct line s;

    rest_init(&rig, NULL);
    fake_tool(f = rig_server(&rig.hub, "alpha"), "echo", FAKE_ECHO);
    f->connect = FAKE_CONNECT_DELAY;
    f->connect_ms = 500;
    rest_start(&rig);
    line_call(&rig, &s, "{\"tool\":\"alpha/echo\"}");
    for (int i = 0; i < 20; i++)
        line_turn(&s);
    CHECK_INT(s.in.n, 0);
    loop_advance(rig.hub.fakes.loop, 500);
    CHECK_INT(line_answer(&s), 200);
    line_close(&s);
    rest_done(&rig);
}

/* ---- resources and prompts ---- */

/* S4-42 S4-172 */
TEST(a_resource_is_read_from_the_right_server)
{
    struct rest_rig rig;

    rest_init(&rig, NULL);
    fake_resource(rig_server(&rig.hub, "alpha"), "file:///x", "of alpha");
    fake_resource(rig_server(&rig.hub, "beta"), "file:///x", "of beta");
    rest_start(&rig);
    CHECK_INT(POST(&rig, "/api/mcp-resources/read", "{\"server\":\"beta\",\"uri\":\"file:///x\"}"),
              200);
    CHECK_STR(got("content"), "of beta");
    CHECK(*got("mime_type"));
    rest_done(&rig);
}

/* S4-43 S4-243 S4-244 */
TEST(a_resource_that_cannot_be_read_says_why)
{
    static const struct {
        const char *body;
        int status;
        const char *error, *key, *value;
    } cases[] = {
        { "{\"uri\":\"file:///x\"}", 400, "invalid_request", "message",
          "server: expected a string, got nothing" },
        { "{\"server\":\"alpha\"}", 400, "invalid_request", "message",
          "uri: expected a string, got nothing" },
        { "{\"server\":\"alpha\",\"uri\":\"file:///nosuch\"}", 404, "resource_not_found", "uri",
          "file:///nosuch" },
        { "{\"server\":\"off\",\"uri\":\"file:///x\"}", 503, "server_not_connected", "server",
          "off" },
        { "{\"server\":\"nosuch\",\"uri\":\"file:///x\"}", 404, "server_not_found", "server",
          "nosuch" },
    };
    struct rest_rig rig;

    rest_init(&rig, NULL);
    fake_resource(rig_server(&rig.hub, "alpha"), "file:///x", "of alpha");
    fake_resource(rig_server(&rig.hub, "off"), "file:///x", "of off");
    rest_start(&rig);
    CHECK_INT(POST(&rig, "/api/mcp-clients/off/disconnect", ""), 200);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        CHECK_INT(POST(&rig, "/api/mcp-resources/read", cases[i].body), cases[i].status);
        CHECK_STR(got("error"), cases[i].error);
        CHECK_STR(got(cases[i].key), cases[i].value);
    }
    rest_done(&rig);
}

TEST(a_prompt_is_got_by_its_name)
{
    struct rest_rig rig;

    rest_init(&rig, NULL);
    fake_prompt(rig_server(&rig.hub, "alpha"), "hello", "Hello");
    rest_start(&rig);
    CHECK_INT(POST(&rig, "/api/mcp-prompts/get", "{\"prompt\":\"alpha/hello\"}"), 200);
    CHECK_HAS(got("result.messages"), "Hello");
    CHECK_INT(POST(&rig, "/api/mcp-prompts/get", "{\"prompt\":\"alpha/nosuch\"}"), 404);
    CHECK_STR(got("error"), "prompt_not_found");
    CHECK_STR(got("prompt"), "alpha/nosuch");
    rest_done(&rig);
}

/* ---- connecting ---- */

/* S4-44 S4-173 */
TEST(connect_adds_a_server_and_its_tools_can_be_called)
{
    struct rest_rig rig;

    rest_init(&rig, NULL);
    fake_tool(fakes_add(&rig.hub.fakes, "late"), "echo", FAKE_ECHO);
    CHECK_INT(POST(&rig, "/api/mcp-clients/connect",
                   "{\"name\":\"late\",\"command\":\"npx\",\"args\":[\"-y\",\"x\"],"
                   "\"transport\":\"stdio\",\"timeout_s\":7}"),
              200);
    CHECK_STR(rest_body, "{\"status\":\"ok\",\"name\":\"late\",\"tools\":[\"late/echo\"]}\n");
    CHECK(link_spec(rig_link(&rig.hub, "late"))->runtime_only);
    CHECK_INT(link_spec(rig_link(&rig.hub, "late"))->timeout_ms, 7000);
    CHECK_INT(POST(&rig, "/api/mcp-tools/call", "{\"tool\":\"late/echo\",\"arguments\":{}}"), 200);
    rest_done(&rig);
}

/* S4-45 S4-174 */
TEST(connect_refuses_a_name_that_is_kept)
{
    struct rest_rig rig;

    rest_init(&rig, NULL);
    fake_tool(rig_server(&rig.hub, "alpha"), "echo", FAKE_ECHO);
    rest_start(&rig);
    for (int i = 0; i < 2; i++) {
        CHECK_INT(POST(&rig, "/api/mcp-clients/connect", EX("alpha")), 409);
        CHECK_STR(got("error"), "duplicate_name");
        CHECK_STR(got("name"), "alpha");
        /* C62: also when it is not connected. */
        CHECK_INT(POST(&rig, "/api/mcp-clients/alpha/disconnect", ""), 200);
    }
    rest_done(&rig);
}

/* S4-45 */
TEST(a_server_that_cannot_be_connected_stays_in_state_error)
{
    struct rest_rig rig;
    struct fake_server *f;

    rest_init(&rig, NULL);
    f = fakes_add(&rig.hub.fakes, "late");
    fake_tool(f, "echo", FAKE_ECHO);
    f->connect = FAKE_CONNECT_FAIL;
    f->connect_text = "no such file";
    CHECK_INT(POST(&rig, "/api/mcp-clients/connect",
                   "{\"name\":\"late\",\"command\":\"x\",\"auto_reconnect\":false}"),
              502);
    CHECK_STR(got("error"), "connect_failed");
    CHECK_STR(got("name"), "late");
    CHECK_HAS(got("message"), "no such file");
    CHECK_INT(GET(&rig, "/api/mcp-clients"), 200);
    CHECK_STR(got("clients.late.status"), "error");
    f->connect = FAKE_CONNECT_OK;
    CHECK_INT(POST(&rig, "/api/mcp-clients/late/reconnect", ""), 200);
    CHECK_INT(rest_send(&rig, "DELETE /api/servers/late", ""), 200);
    CHECK_INT(GET(&rig, "/api/mcp-clients"), 200);
    CHECK_STR(rest_body, "{\"clients\":{}}\n");
    rest_done(&rig);
}

TEST(connect_refuses_what_makes_no_server)
{
    static const char *const bodies[] = {
        "{}",
        "{\"name\":\"x\"}",
        "{\"name\":\"a/b\",\"command\":\"x\"}",
        "{\"name\":\"\",\"command\":\"x\"}",
        "{\"name\":\"x\",\"command\":\"x\",\"transport\":\"carrier-pigeon\"}",
        "{\"name\":\"x\",\"transport\":\"sse\"}",
        "{\"name\":\"x\",\"command\":\"x\",\"args\":\"no list\"}",
    };
    struct rest_rig rig;

    rest_init(&rig, NULL);
    for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
        CHECK_INT(POST(&rig, "/api/mcp-clients/connect", bodies[i]), 400);
        CHECK(*got("error") && *got("message"));
    }
    CHECK_INT(hub_count(rig.hub.hub), 0);
    rest_done(&rig);
}

/* S4-46 S4-175 */
TEST(disconnect_takes_the_tools_away_and_keeps_the_server)
{
    struct rest_rig rig;

    rest_init(&rig, NULL);
    fake_tool(rig_server(&rig.hub, "alpha"), "echo", FAKE_ECHO);
    rest_start(&rig);
    CHECK_INT(POST(&rig, "/api/mcp-clients/alpha/disconnect", ""), 200);
    CHECK_STR(rest_body, "{\"status\":\"ok\",\"name\":\"alpha\"}\n");
    CHECK_INT(GET(&rig, "/api/mcp-tools"), 200);
    CHECK_STR(rest_body, "{\"tools\":[]}\n");
    CHECK_INT(GET(&rig, "/api/mcp-clients"), 200);
    CHECK_STR(got("clients.alpha"),
              "{\"status\":\"disconnected\",\"transport\":\"stdio\",\"tools\":[]}");
    /* C20: also when there is nothing to disconnect. */
    CHECK_INT(POST(&rig, "/api/mcp-clients/alpha/disconnect", ""), 200);
    rest_done(&rig);
}

/* S4-47 S4-177 */
TEST(reconnect_brings_a_server_back_with_its_tools)
{
    struct rest_rig rig;
    struct fake_server *f;

    rest_init(&rig, NULL);
    fake_tool(f = rig_server(&rig.hub, "alpha"), "echo", FAKE_ECHO);
    rig_spec_of(&rig.hub, "alpha")->auto_reconnect = false;
    rest_start(&rig);
    CHECK_INT(POST(&rig, "/api/mcp-clients/alpha/disconnect", ""), 200);
    fake_tool(f, "more", FAKE_ECHO);
    CHECK_INT(POST(&rig, "/api/mcp-clients/alpha/reconnect", ""), 200);
    CHECK_STR(rest_body, "{\"status\":\"ok\",\"name\":\"alpha\",\"tools\":[\"alpha/echo\","
                         "\"alpha/more\"]}\n");
    CHECK_INT(POST(&rig, "/api/mcp-clients/alpha/disconnect", ""), 200);
    f->connect = FAKE_CONNECT_FAIL;
    f->connect_text = "gone for good";
    CHECK_INT(POST(&rig, "/api/mcp-clients/alpha/reconnect", ""), 502);
    CHECK_STR(got("error"), "connect_failed");
    CHECK_STR(got("name"), "alpha");
    CHECK_HAS(got("message"), "gone for good");
    rest_done(&rig);
}

/* S4-46 S4-47 S4-176 S4-178 */
TEST(an_unknown_server_is_not_found)
{
    struct rest_rig rig;
    static const char *const paths[] = { "POST /api/mcp-clients/nosuch/disconnect",
                                         "POST /api/mcp-clients/nosuch/reconnect" };

    rest_init(&rig, NULL);
    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        CHECK_INT(rest_send(&rig, paths[i], ""), 404);
        CHECK_STR(got("error"), "server_not_found");
        CHECK_STR(got("name"), "nosuch");
    }
    rest_done(&rig);
}

TEST(a_client_that_does_not_wait_for_connect_does_no_harm)
{
    struct rest_rig rig;
    struct fake_server *f;
    struct line s;

    rest_init(&rig, NULL);
    f = fakes_add(&rig.hub.fakes, "late");
    f->connect = FAKE_CONNECT_DELAY;
    f->connect_ms = 500;
    line_open(&rig, &s);
    line_ask(&s, "POST /api/mcp-clients/connect", NULL, REST_TOKEN REST_JSON, EX("late"));
    while (!hub_link(rig.hub.hub, "late"))
        line_turn(&s);
    line_close(&s);
    loop_advance(rig.hub.fakes.loop, 500);
    FAKES_UNTIL(&rig.hub.fakes, link_state(rig_link(&rig.hub, "late")) == LINK_CONNECTED);
    /* And one who waits when everything is closed. */
    CHECK_INT(POST(&rig, "/api/mcp-clients/late/disconnect", ""), 200);
    f->connect = FAKE_CONNECT_HANG;
    line_open(&rig, &s);
    line_ask(&s, "POST /api/mcp-clients/late/reconnect", NULL, REST_TOKEN, "");
    while (link_state(rig_link(&rig.hub, "late")) != LINK_CONNECTING)
        line_turn(&s);
    rest_close(&rig);
    close(s.fd);
    buf_done(&s.in);
    rig_done(&rig.hub);
}

/* ---- without a hub ---- */

/* S4-181 */
TEST(without_a_hub_every_route_that_needs_one_answers_503)
{
    struct rest_rig rig;
    struct host_options none = { 0 };
    struct serve_options opts = { .token = "secret" };
    struct pb_error err;
    struct serve *serve;
    size_t n = 0;

    rest_init(&rig, NULL);
    rig.bare = hosts_new(rig.hub.fakes.loop, &none);
    CHECK_INT(serve_start(&serve, rig.bare, &opts, &err), 0);
    rest_close(&rig);
    rig.serve = serve;
    rig.closed = false;
    for (const struct rest_route *t = rest_routes; t->method; t++) {
        char request[256];
        int status;

        snprintf(request, sizeof request, "%s %s", t->method, t->path);
        if (t->flags & REST_STREAM)
            continue;
        status = rest_send(&rig, request, "");
        if (strncmp(t->path, "/api/mcp-", 9) == 0)
            CHECK(t->flags & REST_NEEDS_HUB);
        if (!(t->flags & REST_NEEDS_HUB))
            continue;
        CHECK_INT(status, 503);
        CHECK_STR(got("error"), "no_client_manager");
        n++;
    }
    CHECK(n > 20);
    rest_close(&rig);
    hosts_close(rig.bare, NULL, NULL);
    rig_done(&rig.hub);
}
