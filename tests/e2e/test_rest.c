/* REST of the real program, over a real socket, with real servers: what is called, what is kept in
 * config.json and what is not. */
#include "rest_http.h"

#define CALL(tool, arguments) \
    http("POST", "/api/mcp-tools/call", "{\"tool\":\"" tool "\",\"arguments\":" arguments "}")

/* S4-209 */
TEST(a_tool_is_called_through_rest)
{
    rig_begin();
    rig_config("\"ex\":" EXAMPLE ",\"mob\":" MOB("talkative"));
    start(NULL);
    CHECK_INT(CALL("ex/calculator", "{\"expression\":\"6*7\"}"), 200);
    CHECK_STR(member("result.content.0.text"), "42");
    CHECK_INT(CALL("ex/echo", "{\"text\":\"\\u00fc \\\"quoted\\\"\"}"), 200);
    CHECK_STR(member("result.content.0.text"), "ü \"quoted\"");
    CHECK_INT(CALL("mob/who", "{\"n\":7}"), 200);
    CHECK_STR(member("result.content.0.text"), "mob 7");
    CHECK_INT(CALL("ex/nosuch", "{}"), 404);
    CHECK_INT(CALL("nosuch/x", "{}"), 404);
    rig_end();
}

/* S4-211 S4-212 S4-235 S4-236 */
TEST(a_server_connected_at_run_time_is_not_kept)
{
    AUTO_FREE char *before = NULL;

    rig_begin();
    rig_config("\"ex\":" EXAMPLE);
    before = mem_dup(file_text("config.json"));
    start(NULL);
    BECOMES("ex", "connected");
    CHECK_INT(http("POST", "/api/mcp-clients/connect",
                   "{\"name\":\"late\",\"command\":\"$BUILD/patchbay-example-server\",\"args\":[],"
                   "\"transport\":\"stdio\"}"),
              200);
    CHECK_STR(member("status"), "ok");
    CHECK_STR(member("name"), "late");
    CHECK_STR(member("tools.2"), "late/echo");
    CHECK_INT(CALL("late/echo", "{\"text\":\"hi\"}"), 200);
    CHECK_STR(member("result.content.0.text"), "hi");
    /* A change of the config leaves it alone. */
    CHECK_INT(http("POST", "/api/reload", ""), 200);
    CHECK_STR(state_of("late"), "connected");
    CHECK_STR(file_text("config.json"), before);
    CHECK_INT(http("POST", "/api/mcp-clients/late/disconnect", ""), 200);
    CHECK_INT(http("GET", "/api/mcp-tools", ""), 200);
    CHECK(!strstr(out, "late/") && strstr(out, "ex/echo"));
    CHECK_INT(CALL("late/echo", "{\"text\":\"hi\"}"), 503);
    CHECK_STR(member("error"), "server_not_connected");
    CHECK_INT(http("POST", "/api/mcp-clients/late/reconnect", ""), 200);
    CHECK_INT(CALL("late/echo", "{\"text\":\"hi\"}"), 200);
    CHECK_STR(file_text("config.json"), before);

    CHECK_INT(daemon_stop(SIGTERM), 0);
    start(NULL);
    BECOMES("ex", "connected");
    CHECK_INT(http("GET", "/api/mcp-clients", ""), 200);
    CHECK_STR(member("clients.ex.status"), "connected");
    CHECK_STR(member("clients.late"), "");
    rig_end();
}

TEST(what_was_not_shown_of_a_server_stays_when_the_rest_is_changed)
{
    char body[PATH_MAX];

    rig_begin();
    rig_config("\"srv\":{\"command\":\"cat\",\"args\":[\"--token\",\"hush\",\"${HOME}/x\"],"
               "\"start\":\"lazy\"},"
               "\"far\":{\"url\":\"http://127.0.0.1:1/mcp?api_key=hush\",\"start\":\"lazy\"}");
    start(NULL);
    CHECK_INT(http("GET", "/api/servers/srv", ""), 200);
    CHECK_STR(member("spec.args.1"), "***");
    CHECK(!strstr(member("spec.args.2"), "${HOME}"));
    snprintf(body, sizeof body,
             "{\"command\":\"cat\",\"args\":[\"--token\",\"***\",\"%s\",\"new\"],"
             "\"start\":\"lazy\"}",
             member("spec.args.2"));
    CHECK_INT(http("PUT", "/api/servers/srv", body), 200);
    CHECK_HAS(file_text("config.json"), "\"args\":[\"--token\",\"hush\",\"${HOME}/x\",\"new\"]");
    CHECK_INT(http("GET", "/api/servers/far", ""), 200);
    CHECK_STR(member("spec.url"), "http://127.0.0.1:1/mcp?api_key=***");
    CHECK_INT(http("PUT", "/api/servers/far",
                   "{\"url\":\"http://127.0.0.1:1/mcp?api_key=***\",\"timeout_s\":5,"
                   "\"start\":\"lazy\"}"),
              200);
    CHECK_HAS(file_text("config.json"), "\"url\":\"http://127.0.0.1:1/mcp?api_key=hush\"");

    /* Where nothing was hidden, nothing is known. */
    CHECK_INT(http("PUT", "/api/servers/srv", "{\"command\":\"cat\",\"args\":[\"***\"]}"), 409);
    CHECK_INT(http("PUT", "/api/servers/far", "{\"url\":\"http://127.0.0.2:1/?api_key=***\"}"),
              409);
    CHECK(!strstr(file_text("config.json"), "***"));
    rig_end();
}

TEST(a_server_is_added_configured_switched_and_removed_in_config_json)
{
    rig_begin();
    rig_config("\"ex\":" EXAMPLE);
    start(NULL);
    CHECK_INT(http("POST", "/api/servers",
                   "{\"name\":\"two\",\"entry\":{\"command\":\"$BUILD/patchbay-example-server\","
                   "\"env\":{\"KEY\":\"hush\",\"DIR\":\"${HOME}/x\"}}}"),
              201);
    CHECK_STR(member("name"), "two");
    CHECK_STR(member("spec.env.KEY"), "***");
    CHECK_HAS(file_text("config.json"), "\"KEY\":\"hush\",\"DIR\":\"${HOME}/x\"");
    BECOMES("two", "connected");
    CHECK_INT(CALL("two/echo", "{\"text\":\"hi\"}"), 200);
    CHECK_INT(http("POST", "/api/servers", "{\"name\":\"two\",\"entry\":{\"command\":\"cat\"}}"),
              409);
    CHECK_STR(member("error"), "duplicate_name");

    /* Whoever edits what was shown does not lose what was not. */
    CHECK_INT(http("PUT", "/api/servers/two",
                   "{\"command\":\"$BUILD/patchbay-example-server\",\"timeout_s\":5,"
                   "\"env\":{\"KEY\":\"***\",\"DIR\":\"***\",\"NEW\":\"1\"}}"),
              200);
    CHECK_HAS(file_text("config.json"),
              "\"env\":{\"KEY\":\"hush\",\"DIR\":\"${HOME}/x\",\"NEW\":\"1\"}");
    CHECK_HAS(file_text("config.json"), "\"timeout_s\":5");
    CHECK_INT(http("PUT", "/api/servers/two", "{\"command\":\"x\",\"args\":[\"--key\",\"***\"]}"),
              409);
    CHECK_INT(http("PUT", "/api/servers/two", "{\"command\":\"x\",\"env\":{\"OTHER\":\"***\"}}"),
              409);
    CHECK_INT(http("PUT", "/api/servers/two", "{}"), 400);
    CHECK_INT(http("PUT", "/api/servers/nosuch", "{\"command\":\"x\"}"), 404);
    CHECK(!strstr(file_text("config.json"), "***"));
    BECOMES("two", "connected");

    CHECK_INT(http("POST", "/api/servers/two/disable", ""), 200);
    CHECK_STR(member("state"), "disabled");
    CHECK_HAS(file_text("config.json"), "\"enabled\":false");
    CHECK_INT(http("POST", "/api/servers/two/enable", ""), 200);
    BECOMES("two", "connected");
    CHECK_INT(http("PUT", "/api/servers/two/tools/echo", "{\"enabled\":false}"), 200);
    CHECK_HAS(file_text("config.json"), "\"disabledTools\":[\"echo\"]");
    CHECK_INT(CALL("two/echo", "{\"text\":\"hi\"}"), 404);
    CHECK_INT(http("PUT", "/api/servers/two/tools/echo", "{\"enabled\":true}"), 200);
    CHECK_INT(CALL("two/echo", "{\"text\":\"hi\"}"), 200);

    CHECK_INT(http("DELETE", "/api/servers/two", ""), 200);
    CHECK_STR(state_of("two"), "");
    CHECK(!strstr(file_text("config.json"), "two") && strstr(file_text("config.json"), "ex"));
    CHECK_INT(http("DELETE", "/api/servers/two", ""), 404);
    rig_end();
}

TEST(a_text_names_a_server_as_patchbay_add_does)
{
    rig_begin();
    start(NULL); /* there is no config.json yet */
    CHECK_INT(http("POST", "/api/servers",
                   "{\"text\":\"$BUILD/patchbay-example-server\","
                   "\"name\":\"ex\"}"),
              201);
    BECOMES("ex", "connected");
    CHECK_INT(RUN("list", "--json"), 0);
    CHECK_STR(member_of("servers", "ex", "state"), "connected");
    CHECK_INT(http("POST", "/api/servers",
                   "{\"text\":\"$BUILD/patchbay-example-server\","
                   "\"name\":\"ex\",\"force\":true}"),
              201);
    rig_end();
}

/* C18 */
TEST(files_that_are_not_ours_are_left_alone)
{
    AUTO_FREE char *before = NULL;

    rig_begin();
    write_filled("mcp_clients.json", "{\"servers\":{\"s4\":{\"transport\":\"stdio\",\"command\":\"",
                 "$BUILD/patchbay-example-server", "\"}}}");
    before = mem_dup(file_text("mcp_clients.json"));
    start(WORDS("--mcp-clients"));
    BECOMES("s4", "connected");
    CHECK_INT(http("DELETE", "/api/servers/s4", ""), 409);
    CHECK_STR(member("error"), "defined_elsewhere");
    CHECK_HAS(member("message"), "mcp_clients.json:1");
    CHECK_INT(http("PUT", "/api/servers/s4", "{\"command\":\"x\"}"), 409);
    CHECK_INT(http("PUT", "/api/servers/s4/tools/echo", "{\"enabled\":false}"), 409);
    CHECK_INT(http("POST", "/api/servers/s4/disable", ""), 200);
    CHECK_STR(member("state"), "disabled");
    CHECK_INT(http("POST", "/api/servers/s4/enable", ""), 200);
    BECOMES("s4", "connected");
    CHECK_STR(file_text("mcp_clients.json"), before);
    rig_end();
}

TEST(a_hub_with_a_config_of_its_own_saves_nothing_at_home)
{
    rig_begin();
    write_servers("other.json", "\"ex\":" EXAMPLE);
    start(WORDS("--config", in_home("other.json")));
    CHECK_INT(http("POST", "/api/servers", "{\"text\":\"https://example.com/mcp\"}"), 409);
    CHECK_STR(member("error"), "config_not_read");
    CHECK_STR(file_text("config.json"), "");
    CHECK_INT(http("GET", "/api/settings", ""), 200);
    CHECK_STR(member_of("settings", "timeout_s", "value"), "30");
    rig_end();
}

TEST(modes_and_settings_are_kept_in_config_json)
{
    rig_begin();
    rig_config("\"ex\":" EXAMPLE);
    start(NULL);
    BECOMES("ex", "connected");
    CHECK_INT(
        http("PUT", "/api/modes/few", "{\"name\":\"A few\",\"filter\":{\"tools\":[\"echo\"]}}"),
        200);
    CHECK_STR(member("name"), "A few");
    CHECK_INT(http("GET", "/api/tools?mode=few", ""), 200);
    CHECK_STR(member("total"), "1");
    CHECK_HAS(file_text("config.json"), "\"few\"");
    CHECK_INT(http("PUT", "/api/modes/few", "{\"filter\":{\"nosuch\":1}}"), 400);
    CHECK_INT(http("DELETE", "/api/modes/few", ""), 200);
    CHECK_INT(http("DELETE", "/api/modes/few", ""), 404);
    CHECK_INT(http("DELETE", "/api/modes/full", ""), 409);
    CHECK(!strstr(file_text("config.json"), "few"));

    CHECK_INT(http("PATCH", "/api/settings", "{\"timeout_s\":12.5,\"health_s\":7}"), 200);
    CHECK_STR(member_of("settings", "timeout_s", "value"), "12.5");
    CHECK_STR(member_of("settings", "health_s", "value"), "7");
    CHECK_INT(http("PATCH", "/api/settings", "{\"health_s\":null}"), 200);
    CHECK_STR(member_of("settings", "health_s", "value"), "30");
    CHECK_HAS(file_text("config.json"), "\"settings\":{\"timeout_s\":12.5}");
    CHECK_INT(http("PATCH", "/api/settings", "{\"timeout_s\":\"soon\"}"), 400);
    CHECK_INT(http("PATCH", "/api/settings", "{\"nosuch\":1}"), 400);
    CHECK_INT(http("PATCH", "/api/settings", "{\"nosuch\":null}"), 400);
    CHECK_INT(http("PATCH", "/api/settings", ""), 400);
    CHECK_HAS(file_text("config.json"), "\"settings\":{\"timeout_s\":12.5}");
    rig_end();
}

#define STUCK         "{\"command\":\"$BUILD/tests/e2e/mob_server\",\"args\":[\"stuck\",\"mob\"]"
#define STUCK_SERVERS "\"mcpServers\":{\"a\":" STUCK "},\"b\":" STUCK ",\"timeout_s\":0.1}}}"

/* Of a tool that never answers. */
static const char *limit_of(const char *tool)
{
    CHECK_INT(RUN("call", tool), 4);
    return err;
}

TEST(settings_that_can_change_at_once_do)
{
    rig_begin();
    write_filled("config.json", "{\"settings\":{\"timeout_s\":0.2},", STUCK_SERVERS, "");
    start(NULL);
    BECOMES("a", "connected");
    BECOMES("b", "connected");
    CHECK_HAS(limit_of("a.who"), "timed out after 0.2s");
    CHECK_HAS(limit_of("b.who"), "timed out after 0.1s"); /* it has its own */

    CHECK_INT(http("PATCH", "/api/settings", "{\"timeout_s\":0.3}"), 200);
    CHECK_STR(member("takes_effect"), "at once");
    CHECK_STR(member_of("settings", "timeout_s", "applies"), "at_once");
    CHECK_HAS(limit_of("a.who"), "timed out after 0.3s");
    CHECK_HAS(limit_of("b.who"), "timed out after 0.1s");
    CHECK_STR(state_of("a"), "connected");
    CHECK_INT(http("POST", "/api/mcp-tools/call", "{\"tool\":\"a/who\",\"arguments\":{}}"), 504);
    CHECK_HAS(out, "timeout after 300ms");
    CHECK_INT(RUN("status", "--json"), 0);
    CHECK_STR(member("restart_for"), "[]");
    rig_end();
}

TEST(settings_that_need_a_restart_say_so)
{
    rig_begin();
    rig_config("\"ex\":" EXAMPLE);
    start(NULL);
    CHECK_INT(http("PATCH", "/api/settings", "{\"server_name\":\"Other\",\"health_s\":9}"), 200);
    CHECK_STR(member("takes_effect"), "at the next start");
    CHECK_STR(member_of("settings", "server_name", "applies"), "restart");
    CHECK_STR(member_of("settings", "server_name", "pending"), "true");
    CHECK_STR(member_of("settings", "health_s", "pending"), "false");
    CHECK_HAS(file_text("daemon.err"),
              "patchbay: settings.server_name has changed; it takes effect "
              "when patchbay is started again\n");
    CHECK(!strstr(file_text("daemon.err"), "settings.health_s"));
    CHECK_INT(http("GET", "/api/status", ""), 200);
    CHECK_STR(member("restart_for"), "[\"server_name\"]");
    CHECK_INT(RUN("status"), 0);
    CHECK_HAS(out, "restart  needed for settings server_name\n");

    /* Put back, it is as it was started. */
    CHECK_INT(http("PATCH", "/api/settings", "{\"server_name\":null}"), 200);
    CHECK_STR(member("takes_effect"), "at once");
    CHECK_STR(member_of("settings", "server_name", "pending"), "false");
    CHECK_HAS(file_text("daemon.err"), "settings.server_name is again what patchbay was started");
    CHECK_INT(http("GET", "/api/status", ""), 200);
    CHECK_STR(member("restart_for"), "[]");
    rig_end();
}

TEST(a_config_that_is_broken_is_not_taken_and_not_made_worse)
{
    rig_begin();
    rig_config("\"ex\":" EXAMPLE);
    start(NULL);
    BECOMES("ex", "connected");
    write_file(in_home("config.json"), "{\"mcpServers\":{\"ex\":");
    CHECK_INT(http("POST", "/api/servers", "{\"text\":\"https://example.com/mcp\"}"), 409);
    CHECK_STR(file_text("config.json"), "{\"mcpServers\":{\"ex\":");
    CHECK_INT(http("POST", "/api/reload", ""), 409);
    CHECK_STR(member("error"), "config_not_taken");
    CHECK_HAS(member("message"), "config.json: line 1");
    CHECK_STR(state_of("ex"), "connected");
    rig_end();
}

TEST(that_the_config_is_nonsense_is_told_until_it_is_mended)
{
    AUTO_BUF struct buf heard = { 0 };
    AUTO_CLOSE int fd = -1;
    size_t at;

    rig_begin();
    rig_config("\"ex\":" EXAMPLE);
    start(NULL);
    BECOMES("ex", "connected");
    fd = listen_to_events();
    events_until(fd, &heard, 0, "retry: ");
    CHECK_INT(http("GET", "/api/status", ""), 200);
    CHECK_STR(member("config_error"), "");
    write_file(in_home("config.json"), "{\n\"mcpServers\":{\"ex\":");
    at = events_until(fd, &heard, 0, "event: configChanged\n");
    CHECK_INT(http("GET", "/api/status", ""), 200);
    CHECK_HAS(member("config_error"), "config.json: line 2, column ");
    CHECK_STR(state_of("ex"), "connected");
    rig_config("\"ex\":" EXAMPLE);
    events_until(fd, &heard, at, "event: configChanged\n");
    CHECK_INT(http("GET", "/api/status", ""), 200);
    CHECK_STR(member("config_error"), "");
    rig_end();
}

TEST(what_cannot_be_written_is_told_as_such)
{
    rig_begin();
    rig_config("\"ex\":" EXAMPLE);
    start(NULL);
    BECOMES("ex", "connected");
    write_file(in_home("secrets"), "not a directory");
    CHECK_INT(http("POST", "/api/servers",
                   "{\"name\":\"two\",\"entry\":{\"command\":\"cat\"},"
                   "\"secrets\":{\"KEY\":\"hush\"}}"),
              500);
    CHECK_STR(member("error"), "config_not_written");
    CHECK_STR(member("name"), "two");
    CHECK_HAS(member("message"), "secrets");
    CHECK_STR(state_of("two"), "");

    /* A home where nothing can be made. */
    CHECK_INT(unlink(in_home("config.json")), 0);
    CHECK_INT(symlink("/proc/self/config.json", in_home("config.json")), 0);
    CHECK_INT(http("PUT", "/api/modes/few", "{\"filter\":\"all\"}"), 500);
    CHECK_STR(member("error"), "config_not_written");
    CHECK_HAS(member("message"), "/proc/self/config.json");
    rig_end();
}

/* The daemon stops at once though somebody listens to its events and somebody waits. */
TEST(a_daemon_stops_while_clients_listen)
{
    static const char ask[] = "GET /api/events HTTP/1.1\r\nHost: %s\r\n"
                              "Authorization: Bearer secret\r\n\r\n";
    char text[65536] = "", host[64];
    uint64_t begun;
    size_t n = 0;
    int fd;

    rig_begin();
    rig_config("\"ex\":" EXAMPLE);
    start(NULL);
    fd = daemon_dial();
    snprintf(host, sizeof host, "%.*s",
             (int)strcspn(strstr(file_text("daemon.err"), "127.0.0.1:"), "/"),
             strstr(file_text("daemon.err"), "127.0.0.1:"));
    dprintf(fd, ask, host);
    while (!strstr(text, "retry: ")) {
        ssize_t got = recv(fd, text + n, sizeof text - n - 1, 0);

        CHECK(got > 0);
        n += (size_t)got;
    }
    begun = now_ms();
    kill(rig_daemon_program.pid, SIGTERM);
    while (recv(fd, text, sizeof text, 0) > 0)
        ;
    close(fd);
    CHECK_INT(daemon_ended(), 0);
    CHECK(now_ms() - begun < 5000);
    rig_end();
}
