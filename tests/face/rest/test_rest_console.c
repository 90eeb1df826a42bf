/* What a console and scripts need beside S4's routes. What changes config.json is tested with the
 * real program. */
#include "face/rest_rig.h"
#include "hub/hub/hub.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"
#include <time.h>

TEST(servers_tell_how_they_are_and_how_they_are_reached)
{
    static const char *const args[] = { "--token", "hush", NULL };
    static const char *const env[] = { "KEY=hush", NULL };
    struct rest_rig rig;

    rest_init(&rig, NULL);
    fake_tool(fakes_add(&rig.hub.fakes, "alpha"), "echo", FAKE_ECHO);
    rig.hub.specs[rig.hub.n_specs++] = spec_stdio("alpha", "fake", args, env);
    rest_start(&rig);
    CHECK_INT(GET(&rig, "/api/servers"), 200);
    CHECK_STR(got("servers.0.name"), "alpha");
    CHECK_STR(got("servers.0.state"), "connected");
    CHECK_STR(got("servers.0.status"), "Connected");
    CHECK_STR(got("servers.0.tools"), "1");
    CHECK_STR(got("servers.0.color"), "green");
    CHECK_STR(got("servers.0.badge"), "{\"text\":\"Connected\",\"color\":\"green\"}");
    CHECK_STR(got("servers.0.actions"), "[\"Disconnect\",\"View Logs\"]");
    CHECK_INT(GET(&rig, "/api/servers/alpha"), 200);
    CHECK_STR(got("spec.env"), "{\"KEY\":\"***\"}");
    CHECK(!strstr(rest_body, "hush"));
    CHECK_INT(GET(&rig, "/api/servers/nosuch"), 404);
    CHECK_STR(got("error"), "server_not_found");
    CHECK_INT(GET(&rig, "/api/status"), 200);
    CHECK_STR(got("version"), pb_version());
    CHECK_STR(got("servers"), "{\"total\":1,\"connected\":1}");
    rest_done(&rig);
}

/* A server as it is seen now. */
static void check_row(struct rest_rig *rig, const char *name, const char *state, const char *status,
                      const char *color, const char *tools)
{
    char request[64];

    snprintf(request, sizeof request, "GET /api/servers/%s", name);
    CHECK_INT(rest_send(rig, request, ""), 200);
    CHECK_STR(got("name"), name);
    CHECK_STR(got("state"), state);
    CHECK_HAS(got("status"), status);
    CHECK_STR(got("color"), color);
    if (tools) /* what a server had that is away is remembered */
        CHECK_STR(got("tools"), tools);
}

/* S0-3 S0-85 S0-86 S0-98 S0-99 S0-101 S0-102 S0-106 S0-107 S0-109 S0-140 S0-141 S0-171 */
TEST(a_person_sees_how_each_server_fares_and_what_it_has)
{
    struct rest_rig rig;
    struct fake_server *good, *f;

    rest_init(&rig, NULL);
    fake_tool(good = rig_server(&rig.hub, "good"), "search", FAKE_ECHO)->description = "Finds";
    f = rig_server(&rig.hub, "bad");
    f->connect = FAKE_CONNECT_FAIL;
    f->connect_text = "Connection refused";
    rig_spec_of(&rig.hub, "bad")->auto_reconnect = false;
    rig_server(&rig.hub, "slow")->connect = FAKE_CONNECT_HANG;
    rest_start(&rig);
    check_row(&rig, "good", "connected", "Connected", "green", "1");
    check_row(&rig, "bad", "error", "Connection refused", "red", "0");
    CHECK_HAS(got("message"), "Connection refused");
    check_row(&rig, "slow", "connecting", "Connecting...", "yellow", "0");
    CHECK_INT(GET(&rig, "/api/status"), 200);
    CHECK_STR(got("servers"), "{\"total\":3,\"connecting\":1,\"connected\":1,\"error\":1}");
    CHECK_INT(GET(&rig, "/api/alerts"), 200);
    CHECK_STR(got("alerts.0.server"), "bad");
    CHECK_STR(got("alerts.1"), "");
    CHECK_INT(GET(&rig, "/api/mcp-tools"), 200);
    CHECK_STR(got("tools.0.name"), "good/search");
    CHECK_STR(got("tools.0.server"), "good");
    CHECK_STR(got("tools.0.description"), "Finds");
    CHECK_STR(got("tools.1"), "");

    CHECK_INT(POST(&rig, "/api/servers/slow/cancel", ""), 200);
    check_row(&rig, "slow", "idle", "Not started", "gray", "0");
    fake_break(good, "gone");
    fakes_settle(&rig.hub.fakes);
    check_row(&rig, "good", "reconnecting", "Reconnecting (1/5)...", "yellow", NULL);
    CHECK_STR(got("attempt"), "1");
    CHECK_STR(got("max_attempts"), "5");
    loop_advance(rig.hub.fakes.loop, 1000);
    fakes_settle(&rig.hub.fakes);
    check_row(&rig, "good", "connected", "Connected", "green", "1");
    CHECK_INT(POST(&rig, "/api/servers/good/disconnect", ""), 200);
    check_row(&rig, "good", "disconnected", "Disconnected", "gray", NULL);
    CHECK_INT(GET(&rig, "/api/mcp-tools"), 200);
    CHECK_STR(got("tools"), "[]");
    rest_done(&rig);
}

/* S0-92 S0-143 */
TEST(a_server_is_stopped_and_started_by_its_name)
{
    static const struct {
        const char *action;
        int status;
        const char *state;
    } steps[] = {
        { "disconnect", 200, "disconnected" }, { "reconnect", 200, "connected" },
        { "restart", 200, "connected" },       { "cancel", 409, "" },
        { "disable", 200, "disabled" },        { "connect", 503, "" },
        { "enable", 200, "connecting" },       { "connect", 200, "connected" },
    };
    struct rest_rig rig;
    struct fake_server *f;

    rest_init(&rig, NULL);
    fake_tool(f = rig_server(&rig.hub, "alpha"), "echo", FAKE_ECHO);
    rest_start(&rig);
    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        char request[128];

        snprintf(request, sizeof request, "POST /api/servers/alpha/%s", steps[i].action);
        if (rest_send(&rig, request, "") != steps[i].status)
            TAP_FAIL("%s: %s%s", request, rest_head, rest_body);
        if (strcmp(got("state"), steps[i].state) != 0)
            TAP_FAIL("%s: %s", request, rest_body);
        if (steps[i].status == 503)
            CHECK_STR(got("next"), "POST /api/servers/alpha/enable switches it on");
    }
    CHECK_INT(f->connects, 4); /* at first, by reconnect, restart and enable */
    rest_done(&rig);
}

/* S4-129 S4-130 */
TEST(a_ping_is_answered_by_a_connected_server_only)
{
    struct rest_rig rig;
    struct fake_server *f;

    rest_init(&rig, NULL);
    fake_tool(f = rig_server(&rig.hub, "alpha"), "echo", FAKE_ECHO);
    rest_start(&rig);
    CHECK_INT(rest_send(&rig, "POST /api/servers/alpha/ping", ""), 200);
    CHECK_STR(got("status"), "ok");
    CHECK_STR(got("name"), "alpha");
    CHECK_INT(rest_send(&rig, "POST /api/servers/nosuch/ping", ""), 404);
    CHECK_INT(rest_send(&rig, "POST /api/servers/alpha/disconnect", ""), 200);
    CHECK_INT(rest_send(&rig, "POST /api/servers/alpha/ping", ""), 503);
    CHECK_STR(got("error"), "server_not_connected");
    CHECK_INT(rest_send(&rig, "POST /api/servers/alpha/connect", ""), 200);
    fake_break(f, "gone");
    CHECK_INT(rest_send(&rig, "POST /api/servers/alpha/ping", ""), 503);
    CHECK_STR(got("error"), "server_not_connected");
    rest_done(&rig);
}

/* S0-144 */
TEST(an_attempt_to_connect_can_be_cancelled)
{
    struct rest_rig rig;
    struct fake_server *f;
    struct line s;

    rest_init(&rig, NULL);
    f = rig_server(&rig.hub, "alpha");
    f->connect = FAKE_CONNECT_HANG;
    rest_start(&rig);
    line_open(&rig, &s);
    line_ask(&s, "POST /api/servers/alpha/connect", NULL, REST_TOKEN, "");
    while (f->connects < 2)
        line_turn(&s);
    CHECK_INT(POST(&rig, "/api/servers/alpha/cancel", ""), 200);
    CHECK_STR(got("state"), "idle");
    CHECK_INT(line_answer(&s), 502);
    CHECK_STR(got("error"), "connect_failed");
    line_close(&s);
    rest_done(&rig);
}

/* S0-93 */
TEST(all_that_failed_are_tried_again_at_once)
{
    struct rest_rig rig;
    struct fake_server *good, *f;

    rest_init(&rig, NULL);
    good = rig_server(&rig.hub, "good");
    f = rig_server(&rig.hub, "bad");
    f->connect = FAKE_CONNECT_FAIL;
    f->connect_text = "no";
    rig_spec_of(&rig.hub, "bad")->auto_reconnect = false;
    rest_start(&rig);
    f->connect = FAKE_CONNECT_OK;
    CHECK_INT(POST(&rig, "/api/reconnect-failed", ""), 200);
    FAKES_UNTIL(&rig.hub.fakes, link_state(rig_link(&rig.hub, "bad")) == LINK_CONNECTED);
    CHECK_INT(f->connects, 2);
    CHECK_INT(good->connects, 1);
    rest_done(&rig);
}

TEST(logs_come_by_number_and_by_time)
{
    struct rest_rig rig;
    struct link *l;

    rest_init(&rig, NULL);
    rig_server(&rig.hub, "alpha");
    rig_server(&rig.hub, "beta");
    rest_start(&rig);
    l = rig_link(&rig.hub, "alpha");
    rig.hub.fakes.clock.wall = 1800000000000;
    link_log(l, PB_LOG_INFO, "first");
    rig.hub.fakes.clock.wall = 1800000000500;
    link_log(l, PB_LOG_WARNING, "second");
    CHECK_INT(GET(&rig, "/api/servers/alpha/logs?lines=2"), 200);
    CHECK_STR(got("entries.0.message"), "first");
    CHECK_STR(got("entries.1.message"), "second");
    CHECK_STR(got("entries.1.level"), "warning");
    CHECK_STR(got("entries.2"), "");
    CHECK_INT(GET(&rig, "/api/servers/alpha/logs?since=1800000000.0"), 200);
    CHECK_STR(got("entries.0.message"), "second");
    CHECK_STR(got("entries.1"), "");
    CHECK_INT(GET(&rig, "/api/servers/alpha/logs?lines=0"), 200);
    CHECK_STR(got("entries"), "[]");
    CHECK_INT(GET(&rig, "/api/servers/alpha/logs?lines=18446744073709551615"), 200);
    CHECK(*got("entries.3.message"));
    CHECK_INT(GET(&rig, "/api/logs?lines=1"), 200);
    CHECK_STR(got("entries.0.server"), "beta"); /* by time */
    CHECK_STR(got("entries.1.server"), "alpha");
    CHECK_STR(got("entries.2"), "");
    rest_done(&rig);
}

/* S0-95 */
TEST(tools_come_page_by_page_and_can_be_searched)
{
    struct rest_rig rig;
    struct fake_server *f;

    rest_init(&rig, NULL);
    f = rig_server(&rig.hub, "alpha");
    fake_tool(f, "read", FAKE_ECHO)->description = "Looks into a FILE";
    fake_tool(f, "write", FAKE_ECHO);
    fake_resource(f, "file:///a", "a");
    fake_template(f, "file:///{x}");
    fake_prompt(f, "hello", "Hello");
    fake_tool(rig_server(&rig.hub, "beta"), "rename_file", FAKE_ECHO);
    f = rig_server(&rig.hub, "bad");
    f->connect = FAKE_CONNECT_FAIL;
    f->connect_text = "no";
    rig_spec_of(&rig.hub, "bad")->auto_reconnect = false;
    rest_start(&rig);
    rig_modes(&rig.hub, "{\"few\":{\"filter\":{\"tools\":[\"write\"]}}}");
    CHECK_INT(GET(&rig, "/api/tools"), 200);
    CHECK_STR(got("total"), "3");
    CHECK_STR(got("tools.0.name"), "alpha/read");
    CHECK_STR(got("tools.0.wire"), "alpha__read");
    CHECK_STR(got("tools.0.definition.name"), "read");
    CHECK_STR(got("next_offset"), "");
    CHECK_STR(got("failed.0.server"), "bad");
    CHECK_INT(GET(&rig, "/api/tools?limit=2"), 200);
    CHECK_STR(got("tools.1.name"), "alpha/write");
    CHECK_STR(got("tools.2"), "");
    CHECK_STR(got("next_offset"), "2");
    CHECK_INT(GET(&rig, "/api/tools?limit=2&offset=2"), 200);
    CHECK_STR(got("tools.0.name"), "beta/rename_file");
    CHECK_STR(got("next_offset"), "");
    CHECK_INT(GET(&rig, "/api/tools?offset=18446744073709551615&limit=1000"), 200);
    CHECK_STR(got("tools"), "[]");
    CHECK_STR(got("total"), "3");
    CHECK_INT(GET(&rig, "/api/tools?q=file"), 200);
    CHECK_STR(got("tools.0.name"), "alpha/read");
    CHECK_STR(got("tools.1.name"), "beta/rename_file");
    CHECK_STR(got("total"), "2");
    CHECK_INT(GET(&rig, "/api/tools?q=into+a%20f"), 200);
    CHECK_STR(got("total"), "1");
    CHECK_INT(GET(&rig, "/api/tools?mode=few"), 200);
    CHECK_STR(got("tools.0.name"), "alpha/write");
    CHECK_STR(got("total"), "1");
    CHECK_INT(GET(&rig, "/api/tools?server=beta"), 200);
    CHECK_STR(got("total"), "1");
    CHECK_INT(GET(&rig, "/api/tools?mode=nosuch"), 404);
    CHECK_STR(got("error"), "mode_not_found");
    CHECK_INT(GET(&rig, "/api/tools?server=nosuch"), 404);
    CHECK_INT(GET(&rig, "/api/resources"), 200);
    CHECK_STR(got("resources.0.uri"), "file:///a");
    CHECK_STR(got("total"), "1");
    CHECK_STR(got("resourceTemplates.0.uriTemplate"), "file:///{x}");
    CHECK_STR(got("total_templates"), "1");
    CHECK_INT(GET(&rig, "/api/prompts"), 200);
    CHECK_STR(got("prompts.0.name"), "alpha/hello");
    CHECK_INT(GET(&rig, "/api/modes"), 200);
    CHECK_STR(got("modes.0.id"), "full");
    CHECK_STR(got("modes.1.id"), "few");
    rest_done(&rig);
}

TEST(a_mode_shows_what_else_a_server_has_when_it_shows_a_tool_of_it)
{
    static const char *const off[] = { "hidden", NULL };
    struct rest_rig rig;
    struct fake_server *f;

    rest_init(&rig, NULL);
    f = rig_server(&rig.hub, "alpha");
    fake_tool(f, "write", FAKE_ECHO);
    fake_tool(f, "hidden", FAKE_ECHO);
    rig_spec_of(&rig.hub, "alpha")->disabled_tools = off;
    fake_resource(f, "file:///a", "a");
    fake_template(f, "file:///{x}");
    fake_prompt(f, "hello", "Hello");
    f = rig_server(&rig.hub, "beta");
    fake_tool(f, "read", FAKE_ECHO);
    fake_resource(f, "file:///write", "b");
    fake_template(f, "test://{x}");
    fake_prompt(f, "write", "Hello");
    rest_start(&rig);
    rig_modes(&rig.hub, "{\"few\":{\"filter\":{\"tools\":[\"write\",\"hidden\"]}}}");
    CHECK_INT(GET(&rig, "/api/tools?mode=few"), 200);
    CHECK_STR(got("total"), "2");
    CHECK_STR(got("tools.0.name"), "alpha/hidden");
    CHECK_STR(got("tools.0.enabled"), "false");
    CHECK_INT(GET(&rig, "/api/resources?mode=few"), 200);
    CHECK_STR(got("total"), "1");
    CHECK_STR(got("resources.0.uri"), "file:///a");
    CHECK_STR(got("total_templates"), "1");
    CHECK_STR(got("resourceTemplates.0.uriTemplate"), "file:///{x}");
    CHECK_INT(GET(&rig, "/api/prompts?mode=few"), 200);
    CHECK_STR(got("total"), "1");
    CHECK_STR(got("prompts.0.name"), "alpha/hello");
    rest_done(&rig);
}

/* ---- lists that would hold up the loop ---- */

/* Lists `n` tools of one server, each with a name of its own and `more` after it. */
static void list_many(struct rest_rig *rig, const char *server, size_t n, const char *more)
{
    AUTO_BUF struct buf array = { 0 };

    for (size_t i = 0; i < n; i++)
        buf_printf(&array, "%s{\"name\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa%zu\"%s}",
                   i ? "," : "[", i, more);
    buf_str(&array, "]");
    rig_list(&rig->hub, server, LIST_TOOLS, buf_cstr(&array));
}

TEST(a_mode_whose_pattern_takes_too_long_is_refused)
{
    struct rest_rig rig;

    rest_init(&rig, NULL);
    rig_server(&rig.hub, "alpha");
    rest_start(&rig);
    list_many(&rig, "alpha", 2000, "");
    rig_modes(&rig.hub, "{\"slow\":{\"filter\":{\"pattern\":\"^(a|a|b)*$\"}}}");
    CHECK_INT(GET(&rig, "/api/tools?limit=1"), 200);
    CHECK_STR(got("total"), "2000");
    CHECK_INT(POST(&rig, "/api/modes/match", "{\"filter\":{\"pattern\":\"^(a|a|b)*$\"}}"), 400);
    CHECK_HAS(got("message"), "takes too long");
    CHECK_INT(GET(&rig, "/api/tools?mode=slow&limit=1"), 400);
    CHECK_STR(got("error"), "invalid_request");
    CHECK_HAS(got("message"), "takes too long");
    CHECK_INT(GET(&rig, "/api/tools?limit=1"), 200);
    rest_done(&rig);
}

TEST(a_search_that_takes_too_long_is_refused)
{
    static const char *const servers[] = { "a", "b", "c", "d", "e", "f",
                                           "g", "h", "i", "j", "k", "l" };
    AUTO_BUF struct buf dense = { 0 };
    struct rest_rig rig;

    rest_init(&rig, NULL);
    for (size_t i = 0; i < ARRAY_LEN(servers); i++)
        rig_server(&rig.hub, servers[i]);
    rest_start(&rig);
    buf_str(&dense, ",\"x\":[[]");
    for (size_t i = 0; i < 1300; i++)
        buf_str(&dense, ",[[0]]");
    buf_str(&dense, "]");
    for (size_t i = 0; i < ARRAY_LEN(servers); i++)
        list_many(&rig, servers[i], 2000, buf_cstr(&dense));
    CHECK_INT(GET(&rig, "/api/tools?q=nosuch"), 400);
    CHECK_HAS(got("message"), "takes too long");
    CHECK_INT(GET(&rig, "/api/tools?q=nosuch&server=nosuch"), 404);
    CHECK_INT(GET(&rig, "/api/tools?limit=1"), 200);
    CHECK_STR(got("total"), "24000");
    rest_done(&rig);
}

/* Looking for it everywhere anew would take minutes. */
TEST(long_words_are_searched_for_in_long_descriptions)
{
    enum { LONG = 8 << 20, WORDS = 8000 };
    AUTO_BUF struct buf more = { 0 }, request = { 0 };
    struct rest_rig rig;

    rest_init(&rig, NULL);
    rig_server(&rig.hub, "alpha");
    rest_start(&rig);
    buf_str(&more, ",\"description\":\"");
    memset(buf_reserve(&more, LONG), 'a', LONG);
    more.n += LONG;
    buf_byte(&more, '"');
    list_many(&rig, "alpha", 1, buf_cstr(&more));
    buf_str(&request, "GET /api/tools?q=");
    memset(buf_reserve(&request, WORDS), 'A', WORDS);
    request.n += WORDS;
    buf_byte(&request, 'b');
    CHECK_INT(rest_send(&rig, buf_cstr(&request), ""), 200);
    CHECK_STR(got("total"), "0");
    CHECK(loop_stats(rig.hub.fakes.loop).longest_ms < 10000);
    rest_done(&rig);
}

/* S0-97 */
TEST(alerts_stay_until_they_are_dismissed)
{
    struct rest_rig rig;
    char request[128];

    rest_init(&rig, NULL);
    for (int i = 0; i < 2; i++) {
        struct fake_server *f = rig_server(&rig.hub, i ? "beta" : "alpha");

        f->connect = FAKE_CONNECT_FAIL;
        f->connect_text = "Connection refused";
        rig_spec_of(&rig.hub, i ? "beta" : "alpha")->auto_reconnect = false;
    }
    rest_start(&rig);
    CHECK_INT(GET(&rig, "/api/alerts"), 200);
    CHECK_STR(got("alerts.0.server"), "alpha");
    CHECK_STR(got("alerts.0.kind"), "connectionFailed");
    CHECK_HAS(got("alerts.0.message"), "Connection refused");
    CHECK(*got("alerts.0.timestamp") && *got("alerts.1.id"));
    snprintf(request, sizeof request, "DELETE /api/alerts/%s", got("alerts.0.id"));
    CHECK_INT(rest_send(&rig, request, ""), 200);
    CHECK_INT(rest_send(&rig, request, ""), 404);
    CHECK_STR(got("error"), "alert_not_found");
    CHECK_INT(GET(&rig, "/api/alerts"), 200);
    CHECK_STR(got("alerts.0.server"), "beta");
    CHECK_STR(got("alerts.1"), "");
    CHECK_INT(rest_send(&rig, "DELETE /api/alerts", ""), 200);
    CHECK_INT(GET(&rig, "/api/alerts"), 200);
    CHECK_STR(rest_body, "{\"alerts\":[]}\n");
    rest_done(&rig);
}

TEST(without_config_files_nothing_pretends_to_be_saved)
{
    static const struct {
        const char *request, *body;
    } cases[] = {
        { "POST /api/servers", "{\"text\":\"https://example.com/mcp\"}" },
        { "PUT /api/modes/m", "{\"filter\":\"all\"}" },
        { "PATCH /api/settings", "{\"timeout_s\":1}" },
        { "GET /api/settings", "" },
        { "POST /api/reload", "" },
        { "PUT /api/servers/alpha", "{\"command\":\"x\"}" },
        { "DELETE /api/servers/alpha", "" },
        { "PUT /api/servers/alpha/tools/echo", "{\"enabled\":false}" },
    };
    struct rest_rig rig;

    rest_init(&rig, NULL);
    fake_tool(rig_server(&rig.hub, "alpha"), "echo", FAKE_ECHO);
    rest_start(&rig);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        if (rest_send(&rig, cases[i].request, cases[i].body) != 409)
            TAP_FAIL("%s: %s%s", cases[i].request, rest_head, rest_body);
    }
    rest_done(&rig);
}

TEST(a_dry_run_says_what_would_be_added)
{
    struct rest_rig rig;

    rest_init(&rig, NULL);
    CHECK_INT(POST(&rig, "/api/servers?dry_run", "{\"text\":\"npx -y @github/mcp-server\"}"), 200);
    CHECK_STR(got("dry_run"), "true");
    CHECK_STR(got("name"), "github-mcp-server");
    CHECK_STR(got("entry"), "{\"command\":\"npx\",\"args\":[\"-y\",\"@github/mcp-server\"]}");
    CHECK_INT(POST(&rig, "/api/servers?dry_run=true",
                   "{\"name\":\"x\",\"entry\":{\"url\":\"https://h/mcp\",\"headers\":{\"A\":"
                   "\"hush\"}}}"),
              200);
    CHECK_STR(got("transport"), "http");
    CHECK(!strstr(rest_body, "hush"));
    CHECK_INT(POST(&rig, "/api/servers?dry_run", "{\"text\":\"   \"}"), 400);
    CHECK_INT(POST(&rig, "/api/servers?dry_run", "{}"), 400);
    CHECK_INT(POST(&rig, "/api/servers?dry_run", "{\"text\":\"x\",\"entry\":{}}"), 400);
    CHECK_INT(POST(&rig, "/api/servers?dry_run", "{\"entry\":{\"command\":\"x\"}}"), 400);
    CHECK_INT(hub_count(rig.hub.hub), 0);
    rest_done(&rig);
}

/* ---- metrics ---- */

/* Every line is a comment or "name{labels} number", and every family is told once, in one piece. */
static void check_format(const char *text)
{
    struct map seen = { 0 };
    char family[128] = "";

    while (*text) {
        const char *end = strchr(text, '\n');
        AUTO_FREE char *line = mem_dupn(text, (size_t)(end - text));
        char *number;

        text = end + 1;
        if (strncmp(line, "# HELP ", 7) == 0) {
            snprintf(family, sizeof family, "%.*s", (int)strcspn(line + 7, " "), line + 7);
            CHECK(!map_put(&seen, span_of(family), &seen));
            continue;
        }
        if (*line == '#')
            continue;
        CHECK(strncmp(line, family, strlen(family)) == 0);
        number = strrchr(line, ' ');
        CHECK(number != NULL);
        CHECK(strtod(number + 1, &number) >= 0 && !*number);
    }
    map_done(&seen);
}

TEST(metrics_count_calls_and_how_long_they_took)
{
    struct rest_rig rig;
    struct fake_server *f;
    struct line s;

    rest_init(&rig, NULL);
    f = rig_server(&rig.hub, "alpha");
    fake_tool(f, "echo", FAKE_ECHO);
    fake_tool(f, "bad", FAKE_ERROR);
    fake_tool(f, "slow", FAKE_DELAY)->ms = 200;
    fake_tool(f, "hang", FAKE_HANG);
    rest_start(&rig);
    CHECK_INT(POST(&rig, "/api/mcp-tools/call", "{\"tool\":\"alpha/echo\"}"), 200);
    CHECK_INT(POST(&rig, "/api/mcp-tools/call", "{\"tool\":\"alpha/bad\"}"), 502);
    line_hang(&rig, &s, f, "{\"tool\":\"alpha/slow\"}");
    CHECK_INT(GET(&rig, "/metrics"), 200);
    CHECK_HAS(rest_body, "patchbay_calls_in_flight{server=\"alpha\"} 1\n");
    loop_advance(rig.hub.fakes.loop, 200);
    CHECK_INT(line_answer(&s), 200);
    line_close(&s);
    line_hang(&rig, &s, f, "{\"tool\":\"alpha/hang\",\"timeout_s\":60}");
    loop_advance(rig.hub.fakes.loop, 60000);
    CHECK_INT(line_answer(&s), 504);
    line_close(&s);
    CHECK_INT(GET(&rig, "/metrics"), 200);
    CHECK_HAS(rest_head, "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n");
    check_format(rest_body);
    CHECK_HAS(rest_body, "patchbay_build_info{version=\"");
    CHECK_HAS(rest_body, "patchbay_servers{state=\"connected\"} 1\n");
    CHECK_HAS(rest_body, "patchbay_server_up{server=\"alpha\"} 1\n");
    CHECK_HAS(rest_body, "patchbay_tools{server=\"alpha\"} 4\n");
    CHECK_HAS(rest_body, "patchbay_calls_in_flight{server=\"alpha\"} 0\n");
    CHECK_HAS(rest_body, "patchbay_calls_total{server=\"alpha\",outcome=\"ok\"} 2\n");
    CHECK_HAS(rest_body, "patchbay_calls_total{server=\"alpha\",outcome=\"failed\"} 1\n");
    CHECK_HAS(rest_body, "patchbay_calls_total{server=\"alpha\",outcome=\"timeout\"} 1\n");
    CHECK_HAS(rest_body, "patchbay_call_duration_seconds_bucket{server=\"alpha\",le=\"0.1\"} 2\n");
    CHECK_HAS(rest_body, "patchbay_call_duration_seconds_bucket{server=\"alpha\",le=\"0.25\"} 3\n");
    CHECK_HAS(rest_body, "patchbay_call_duration_seconds_bucket{server=\"alpha\",le=\"30\"} 3\n");
    CHECK_HAS(rest_body, "patchbay_call_duration_seconds_bucket{server=\"alpha\",le=\"+Inf\"} 4\n");
    CHECK_HAS(rest_body, "patchbay_call_duration_seconds_count{server=\"alpha\"} 4\n");
    CHECK_HAS(rest_body, "patchbay_call_duration_seconds_sum{server=\"alpha\"} 60.2\n");
    CHECK_HAS(rest_body, "patchbay_connects_total{server=\"alpha\"} 1\n");
    CHECK_HAS(rest_body, "process_resident_memory_bytes ");
    CHECK_HAS(rest_body, "patchbay_allocations_total ");
    fake_break(f, "gone");
    FAKES_UNTIL(&rig.hub.fakes, link_state(rig_link(&rig.hub, "alpha")) != LINK_CONNECTED);
    CHECK_INT(GET(&rig, "/metrics"), 200);
    CHECK_HAS(rest_body, "patchbay_connections_lost_total{server=\"alpha\"} 1\n");
    CHECK_HAS(rest_body, "patchbay_reconnects_total{server=\"alpha\"} 1\n");
    CHECK_INT(POST(&rig, "/api/mcp-clients/alpha/disconnect", ""), 200);
    rest_done(&rig);
}

TEST(metrics_count_the_clients)
{
    struct rest_rig rig;
    struct face_client c;

    rest_init(&rig, NULL);
    CHECK_INT(GET(&rig, "/metrics"), 200);
    CHECK_HAS(rest_body, "patchbay_mcp_clients 0\n");
    face_open(&rig.hub, &c, NULL, PB_ERA_LEGACY);
    CHECK_INT(GET(&rig, "/metrics"), 200);
    CHECK_HAS(rest_body, "patchbay_mcp_clients 1\n");
    face_close(&c);
    CHECK_INT(GET(&rig, "/metrics"), 200);
    CHECK_HAS(rest_body, "patchbay_mcp_clients 0\n");
    rest_done(&rig);
}

static void hold_up(void *ctx)
{
    struct timespec ts = { 0, 2 * LOOP_SLOW_MS * 1000000L }; /* longer than anything else here */

    (void)ctx;
    nanosleep(&ts, NULL);
}

TEST(metrics_and_status_tell_what_held_up_the_loop)
{
    struct rest_rig rig;

    rest_init(&rig, NULL);
    loop_defer(rig.hub.fakes.loop, hold_up, NULL);
    CHECK_INT(GET(&rig, "/metrics"), 200);
    CHECK_INT(GET(&rig, "/metrics"), 200);
    CHECK_HAS(rest_body, "patchbay_loop_slow_callbacks_total{over=\"20ms\"} ");
    CHECK(!strstr(rest_body, "patchbay_loop_slow_callbacks_total{over=\"20ms\"} 0\n"));
    CHECK_HAS(rest_body, "patchbay_loop_slow_callbacks_total{over=\"100ms\"} ");
    CHECK(!strstr(rest_body, "patchbay_loop_slow_callbacks_total{over=\"100ms\"} 0\n"));
    CHECK_HAS(rest_body, "patchbay_loop_busy_callbacks_total{over=\"20ms\"} ");
    CHECK_HAS(rest_body, "patchbay_loop_longest_callback_seconds 0.");
    CHECK_INT(GET(&rig, "/api/status"), 200);
    CHECK_HAS(rest_body, "\"loop\":{\"over_20ms\":");
    CHECK_HAS(rest_body, "\"longest\":\"deferred call\"");
    rest_done(&rig);
}

/* A call that ends with its server is told after the server's own end. */
TEST(metrics_of_a_removed_server_are_gone)
{
    struct rest_rig rig;
    struct fake_server *f;
    struct line s;

    rest_init(&rig, NULL);
    fake_tool(f = fakes_add(&rig.hub.fakes, "late"), "hang", FAKE_HANG);
    CHECK_INT(POST(&rig, "/api/mcp-clients/connect", EX("late")), 200);
    line_hang(&rig, &s, f, "{\"tool\":\"late/hang\"}");
    CHECK_INT(GET(&rig, "/metrics"), 200);
    CHECK_HAS(rest_body, "{server=\"late\"}");
    CHECK_INT(rest_send(&rig, "DELETE /api/servers/late", ""), 200);
    CHECK_INT(line_answer(&s), 503);
    line_close(&s);
    CHECK_INT(GET(&rig, "/metrics"), 200);
    CHECK(!strstr(rest_body, "late"));
    rest_done(&rig);
}
