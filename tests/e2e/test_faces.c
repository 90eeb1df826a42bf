/* What the whole program promises to whoever puts servers behind it: every kind of thing is used
 * from every side, nothing else is started, nothing of the program's own changes, and all ends with
 * it. */
#include "rest_http.h"
#include <libgen.h>

static const char *source_dir(void)
{
    const char *dir = getenv("SOURCE_DIR");

    CHECK(dir != NULL);
    return dir;
}

/* ---- a client on stdio ---- */

/* The answer to the request with this id, in `out`; what else is said meanwhile is passed over. */
static void hear(struct program *p, int id)
{
    for (;;) {
        AUTO_FREE char *line = program_hear(p);

        CHECK(line != NULL);
        snprintf(out, sizeof out, "%s", line);
        if (*member("id") && strtol(member("id"), NULL, 10) == id)
            return;
    }
}

static void ask(struct program *p, int id, const char *method, const char *params)
{
    AUTO_BUF struct buf line = { 0 };

    buf_printf(&line, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"%s\",\"params\":%s}\n", id,
               method, params);
    program_say(p, buf_cstr(&line));
    hear(p, id);
}

static void greet(struct program *p)
{
    ask(p, 1, "initialize",
        "{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},\"clientInfo\":{\"name\":\"t\","
        "\"version\":\"1\"}}");
    CHECK_STR(member("result.protocolVersion"), "2025-06-18");
    program_say(p, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
}

/* S4-1 */
TEST(tools_resources_and_prompts_of_a_server_are_used_through_rest_and_through_mcp)
{
    struct program p;

    rig_begin();
    rig_config("\"conf\":" CONFORMANCE);
    start(NULL);
    BECOMES("conf", "connected");

    CHECK_INT(http("GET", "/api/mcp-tools", ""), 200);
    CHECK_HAS(out, "conf/test_simple_text");
    CHECK_INT(http("POST", "/api/mcp-tools/call", "{\"tool\":\"conf/test_simple_text\"}"), 200);
    CHECK_STR(member("result.content.0.text"), "This is a simple text response for testing.");
    CHECK_INT(http("GET", "/api/mcp-resources", ""), 200);
    CHECK_HAS(out, "test://static-text");
    CHECK_INT(http("POST", "/api/mcp-resources/read",
                   "{\"server\":\"conf\",\"uri\":\"test://static-text\"}"),
              200);
    CHECK_STR(member("content"), "This is the content of the static text resource.");
    CHECK_INT(http("GET", "/api/mcp-prompts", ""), 200);
    CHECK_HAS(out, "test_simple_prompt");
    CHECK_INT(http("POST", "/api/mcp-prompts/get", "{\"prompt\":\"conf/test_simple_prompt\"}"),
              200);
    CHECK_STR(member("result.messages.0.content.text"), "This is a simple prompt for testing.");

    program_start(&p, WORDS("patchbay", "mcp"), NULL);
    greet(&p);
    ask(&p, 2, "tools/list", "{}");
    CHECK_HAS(out, "\"conf__test_simple_text\"");
    ask(&p, 3, "tools/call", "{\"name\":\"conf__test_simple_text\",\"arguments\":{}}");
    CHECK_STR(member("result.content.0.text"), "This is a simple text response for testing.");
    ask(&p, 4, "resources/list", "{}");
    CHECK_HAS(out, "\"test://static-text\"");
    ask(&p, 5, "resources/read", "{\"uri\":\"test://static-text\"}");
    CHECK_STR(member("result.contents.0.text"), "This is the content of the static text resource.");
    ask(&p, 6, "prompts/list", "{}");
    CHECK_HAS(out, "\"conf__test_simple_prompt\"");
    ask(&p, 7, "prompts/get", "{\"name\":\"conf__test_simple_prompt\"}");
    CHECK_STR(member("result.messages.0.content.text"), "This is a simple prompt for testing.");
    program_close_input(&p);
    CHECK_INT(program_end(&p, RIG_END_MS), 0);
    rig_end();
}

/* S4-42 */
TEST(a_resource_read_through_rest_is_its_content_and_its_type)
{
    static const struct {
        const char *uri, *content, *mime_type;
    } cases[] = {
        { "test://static-text", "This is the content of the static text resource.", "text/plain" },
        { "test://static-binary", "iVBORw0KGgo", "image/png" }, /* bytes as base64 */
        { "test://template/7/data", "7", "application/json" },
    };
    char body[200];

    rig_begin();
    rig_config("\"conf\":" CONFORMANCE ",\"ex\":" EXAMPLE);
    start(NULL);
    BECOMES("conf", "connected");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        snprintf(body, sizeof body, "{\"server\":\"conf\",\"uri\":\"%s\"}", cases[i].uri);
        CHECK_INT(http("POST", "/api/mcp-resources/read", body), 200);
        CHECK_HAS(member("content"), cases[i].content);
        CHECK_STR(member("mime_type"), cases[i].mime_type);
    }
    rig_end();
}

/* ---- processes ---- */

/* Counts the children of a process whose program has this name; NULL: all of them. */
static int children(pid_t pid, const char *program)
{
    DIR *proc = opendir("/proc");
    int n = 0;

    CHECK(proc != NULL);
    for (struct dirent *e; (e = readdir(proc));) {
        char path[300], stat[512], exe[PATH_MAX] = "";
        AUTO_CLOSE int fd = -1;
        const char *after;
        ssize_t got;

        snprintf(path, sizeof path, "/proc/%s/stat", e->d_name);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        got = fd >= 0 && *e->d_name > '0' ? read(fd, stat, sizeof stat - 1) : 0;
        stat[got > 0 ? got : 0] = '\0';
        after = strrchr(stat, ')'); /* pid (name) state parent */
        if (!after || strtol(after + 4, NULL, 10) != pid)
            continue;
        snprintf(path, sizeof path, "/proc/%s/exe", e->d_name);
        if (readlink(path, exe, sizeof exe - 1) > 0)
            n += !program || strcmp(basename(exe), program) == 0;
    }
    closedir(proc);
    return n;
}

/* S4-2: decision 6 adds the warden, which is the program itself a second time. */
TEST(only_servers_that_are_programs_run_beside_the_daemon_and_its_warden)
{
    char config[512], port[16];
    struct program far;

    rig_begin();
    snprintf(port, sizeof port, "%d", loopback_free_port());
    program_start(&far, WORDS("hello-server", port), NULL);
    WAIT_FOR(loopback_listens((int)strtol(port, NULL, 10)));
    start(NULL);
    CHECK_INT(children(rig_daemon_program.pid, NULL), 1);
    CHECK_INT(children(rig_daemon_program.pid, "patchbay"), 1);
    snprintf(config, sizeof config,
             "\"a\":" EXAMPLE ",\"b\":" EXAMPLE ",\"far\":{\"url\":\"http://127.0.0.1:%s/mcp\"}",
             port);
    rig_config(config);
    CHECK_INT(http("POST", "/api/reload", ""), 200);
    BECOMES("a", "connected");
    BECOMES("b", "connected");
    BECOMES("far", "connected");
    CHECK_INT(http("POST", "/api/mcp-tools/call",
                   "{\"tool\":\"far/greet\",\"arguments\":{\"name\":\"you\"}}"),
              200);
    CHECK_STR(member("result.content.0.text"), "Hello, you!");
    CHECK_INT(children(rig_daemon_program.pid, "patchbay-example-server"), 2);
    CHECK_INT(children(rig_daemon_program.pid, NULL), 3);
    kill(far.pid, SIGTERM);
    CHECK_INT(program_end(&far, RIG_END_MS), 0);
    rig_end();
}

/* S4-64 */
TEST(the_hub_adds_no_library_to_those_of_the_server_and_is_in_the_manual)
{
    static const char *const known[] = { "libnettle.", "libpcre2-8.", "libuv.",    "libm.",
                                         "libc.",      "libasan.",    "libubsan.", "libtsan." };
    const char *name = out;
    int n = 0;

    rig_begin();
    CHECK_INT(run_other(WORDS("readelf", "-d", built("patchbay")), NULL), 0);
    while ((name = strstr(name, "Shared library: ["))) {
        bool found = false;

        name += strlen("Shared library: [");
        for (size_t i = 0; i < ARRAY_LEN(known); i++)
            found = found || strncmp(name, known[i], strlen(known[i])) == 0;
        if (!found)
            TAP_FAIL("%.*s is not among the dependencies", (int)strcspn(name, "]"), name);
        n++;
    }
    CHECK(n > 0);
    CHECK_INT(RUN("man"), 0);
    CHECK_HAS(out, "\\-\\-mcp\\-clients\\fR");
    CHECK_HAS(out, "\\-\\-mcp\\-clients\\-config");
    CHECK_HAS(out, "\\-\\-mcp\\-client\\fR");
    rig_end();
}

/* S4-64 */
TEST(servers_are_pinged_while_the_daemon_runs_and_closed_when_it_ends)
{
    rig_begin();
    write_filled("config.json", "{\"settings\":{\"health_s\":0.05},\"mcpServers\":{",
                 "\"one\":" WITNESS("honest", "one") ",\"two\":" WITNESS("honest", "two"), "}}");
    start(NULL);
    WAIT_FOR(strstr(file_text("one"), "\"ping\""));
    WAIT_FOR(strstr(file_text("two"), "\"ping\""));
    CHECK_STR(state_of("one"), "connected");
    CHECK_INT(children(rig_daemon_program.pid, "mob_server"), 2);
    CHECK_INT(daemon_stop(SIGTERM), 0);
    no_process_left(rig_mark, 0);
    rig_end();
}

/* S1-114: decision 17 says why a crash is not found by the ping that comes after it, but at once.
 */
TEST(a_server_that_answers_its_ping_is_healthy_and_one_that_crashes_is_restarted)
{
    rig_begin();
    write_filled("config.json",
                 "{\"settings\":{\"health_s\":0.05,\"reconnect_base_s\":0.001},\"mcpServers\":{",
                 "\"wit\":" WITNESS("honest", "heard"), "}}");
    start(NULL);
    WAIT_FOR(strstr(file_text("heard"), "\"ping\""));
    CHECK_INT(http("GET", "/api/servers/wit", ""), 200);
    CHECK_STR(member("state"), "connected");
    CHECK_STR(member("badge.text"), "Connected");
    CHECK_STR(member("restarts"), "0");
    kill((pid_t)strtol(member("pid"), NULL, 10), SIGKILL);
    WAIT_FOR(strtol(server_is("wit", "restarts"), NULL, 10) >= 1 &&
             strcmp(server_is("wit", "state"), "connected") == 0);
    CHECK_INT(unlink(in_home("heard")), 0);
    WAIT_FOR(strstr(file_text("heard"), "\"ping\"")); /* and is asked again */
    rig_end();
}

/* S4-233: what the daemon gives its links; that thirty seconds are no second more or less is shown
 * with a clock moved by hand, in the tests of the hub. */
TEST(an_attempt_that_takes_longer_than_connect_s_is_an_error_and_that_is_thirty_seconds)
{
    rig_begin();
    rig_config("\"mute\":" WITNESS("silent", "heard"));
    start(NULL);
    CHECK_INT(http("GET", "/api/settings", ""), 200);
    CHECK_STR(member_of("settings", "connect_s", "value"), "30");
    WAIT_FOR(strstr(file_text("heard"), "\"id\""));
    CHECK_STR(state_of("mute"), "connecting");
    CHECK_INT(http("PATCH", "/api/settings", "{\"connect_s\":0.2}"), 200);
    CHECK_INT(http("POST", "/api/servers/mute/restart", ""), 502);
    CHECK_STR(state_of("mute"), "error");
    CHECK_HAS(member("message"), "no answer within 0.2s");
    rig_end();
}

/* ---- what is the program's own ---- */

struct own {
    char *openapi, *page, *script, *tools, *greeting;
};

static char *got_by_http(const char *path)
{
    CHECK_INT(http_plain("GET", path, ""), 200);
    return mem_dup(out);
}

static void own_read(struct own *o)
{
    struct program p;

    o->openapi = got_by_http("/openapi.json");
    o->page = got_by_http("/");
    o->script = got_by_http("/console.js");
    program_start(&p, WORDS("patchbay", "mcp", "--expose", "external"), NULL);
    greet(&p);
    o->greeting = mem_dup(out);
    ask(&p, 2, "tools/list", "{}");
    o->tools = mem_dup(out);
    program_close_input(&p);
    CHECK_INT(program_end(&p, RIG_END_MS), 0);
}

static void own_done(struct own *o)
{
    free(o->openapi);
    free(o->page);
    free(o->script);
    free(o->tools);
    free(o->greeting);
}

/* S4-6 */
TEST(servers_change_nothing_of_the_programs_own_tools_routes_and_page)
{
    struct own without = { 0 }, with = { 0 };

    rig_begin();
    start(NULL);
    own_read(&without);
    rig_config("\"ex\":" EXAMPLE ",\"conf\":" CONFORMANCE
               ",\"bad\":{\"command\":\"/no/such/program\"}");
    CHECK_INT(http_plain("POST", "/api/reload", ""), 200);
    BECOMES("ex", "connected");
    BECOMES("conf", "connected");
    BECOMES("bad", "error");
    own_read(&with);
    CHECK_HAS(without.tools, "external_call_tool");
    CHECK_STR(with.openapi, without.openapi);
    CHECK_STR(with.page, without.page);
    CHECK_STR(with.script, without.script);
    CHECK_STR(with.greeting, without.greeting);
    CHECK_STR(with.tools, without.tools);
    own_done(&without);
    own_done(&with);
    rig_end();
}

/* ---- a desktop client's file ---- */

/* The first block of JSON in a page that begins with this; $BUILD's programs are found by PATH. */
static void write_block(const char *page, const char *begins, const char *name)
{
    char path[PATH_MAX], *at, *end;

    snprintf(path, sizeof path, "%s/%s", source_dir(), page);
    slurp(open(path, O_RDONLY | O_CLOEXEC), out);
    at = strstr(out, begins);
    end = at ? strstr(at, "```") : NULL;
    if (!end)
        TAP_FAIL("%s shows no '%s'", page, begins);
    *end = '\0';
    write_file(in_home(name), at);
    memmove(out, at, strlen(at) + 1);
}

/* S2-13 */
TEST(what_the_readme_gives_to_a_desktop_client_starts_the_program_with_its_tools)
{
    char path[PATH_MAX * 2];

    rig_begin();
    snprintf(path, sizeof path, "%s:%s", getenv("BUILD_DIR"), getenv("PATH"));
    setenv("PATH", path, 1);
    rig_config("\"ex\":" EXAMPLE);
    write_block("README.md", "{ \"mcpServers\": {", "claude_desktop_config.json");
    CHECK_STR(member("mcpServers.patchbay.args.1"), ""); /* started as it says, by a client */
    CHECK_INT(RUN("call", "ex__echo", "text=from afar", "--", member("mcpServers.patchbay.command"),
                  member("mcpServers.patchbay.args.0")),
              0);
    CHECK_STR(out, "from afar\n");

    write_filled("claude_desktop_config.json", "{\"mcpServers\":{\"swiftagents-tools\":",
                 "{\"command\":\"patchbay-example-server\",\"args\":[]}", "}}");
    CHECK_INT(RUN("tools", "--config", in_home("claude_desktop_config.json")), 0);
    CHECK_HAS(out, "swiftagents-tools.datetime");
    CHECK_INT(RUN("call", "swiftagents-tools.calculator", "expression=6*7", "--config",
                  in_home("claude_desktop_config.json")),
              0);
    CHECK_STR(out, "42\n");
    rig_end();
}

/* ---- what can be set ---- */

/* S0-89: by decision 17 keys are kept in files, and the home directory says where. */
TEST(servers_the_place_of_keys_and_the_configuration_are_set_from_outside)
{
    char elsewhere[300];
    struct stat st;

    rig_begin();
    snprintf(elsewhere, sizeof elsewhere, "%s", in_home("elsewhere"));
    setenv("PATCHBAY_HOME", elsewhere, 1);
    start(NULL);
    CHECK_INT(http("POST", "/api/servers",
                   "{\"name\":\"keyed\",\"entry\":{\"command\":\"sh\",\"args\":[\"-c\","
                   "\"test \\\"$KEY\\\" = hush && exec $BUILD/patchbay-example-server\"],"
                   "\"auth_type\":\"api_key\",\"env_vars\":[{\"name\":\"KEY\"}]},"
                   "\"secrets\":{\"KEY\":\"hush\"}}"),
              201);
    BECOMES("keyed", "connected"); /* it has its key */
    CHECK_INT(stat(in_home("elsewhere/secrets"), &st), 0);
    CHECK_INT(st.st_mode & 0777, 0700);
    CHECK_INT(access(in_home("secrets"), F_OK), -1);
    CHECK_INT(http("PATCH", "/api/settings", "{\"timeout_s\":12.5,\"connect_s\":9}"), 200);
    CHECK_STR(member_of("settings", "timeout_s", "value"), "12.5");
    CHECK_INT(daemon_stop(SIGTERM), 0);

    start(NULL); /* all three are there again */
    BECOMES("keyed", "connected");
    CHECK_INT(http("GET", "/api/settings", ""), 200);
    CHECK_STR(member_of("settings", "connect_s", "value"), "9");
    rig_end();
}

/* S1-50 */
TEST(the_hub_holds_keys_running_servers_an_idle_time_and_a_number_of_restarts)
{
    AUTO_FREE char *first = NULL;

    rig_begin();
    write_filled("config.json",
                 "{\"settings\":{\"restart_max\":1,\"reconnect_base_s\":0.001},\"mcpServers\":{",
                 "\"rests\":{\"command\":\"$BUILD/patchbay-example-server\",\"start\":\"lazy\","
                 "\"idle_s\":0.05},\"falls\":" EXAMPLE,
                 "}}");
    start(NULL);
    BECOMES("falls", "connected");
    CHECK_INT(http("POST", "/api/servers",
                   "{\"name\":\"keyed\",\"entry\":{\"command\":\"sh\",\"args\":[\"-c\","
                   "\"test \\\"$KEY\\\" = hush && exec $BUILD/patchbay-example-server\"],"
                   "\"auth_type\":\"api_key\",\"env_vars\":[{\"name\":\"KEY\"}]},"
                   "\"secrets\":{\"KEY\":\"hush\"}}"),
              201);
    BECOMES("keyed", "connected");

    CHECK_INT(http("POST", "/api/mcp-tools/call",
                   "{\"tool\":\"rests/echo\",\"arguments\":{\"text\":\"x\"}}"),
              200);
    BECOMES("rests", "idle"); /* soon after it was used */
    CHECK_INT(http("GET", "/api/mcp-clients", ""), 200);
    CHECK_STR(member("clients.falls.status"), "connected");
    CHECK_STR(member("clients.keyed.status"), "connected");
    CHECK_STR(member("clients.rests.status"), "idle");

    first = mem_dup(server_is("falls", "pid"));
    kill((pid_t)strtol(first, NULL, 10), SIGKILL);
    WAIT_FOR(strcmp(server_is("falls", "state"), "connected") == 0 &&
             strcmp(server_is("falls", "pid"), first) != 0);
    kill((pid_t)strtol(server_is("falls", "pid"), NULL, 10), SIGKILL);
    BECOMES("falls", "failed"); /* one restart was allowed */
    CHECK_STR(state_of("keyed"), "connected");
    rig_end();
}

/* ---- a loss ---- */

/* S0-13 S0-148 */
TEST(the_loss_of_a_process_comes_up_through_link_hub_and_view_and_takes_its_tools_away)
{
    AUTO_BUF struct buf heard = { 0 };
    AUTO_CLOSE int fd = -1;
    size_t at;

    rig_begin();
    rig_config("\"lost\":{\"command\":\"$BUILD/patchbay-example-server\",\"auto_reconnect\":false},"
               "\"kept\":" EXAMPLE);
    start(NULL);
    BECOMES("lost", "connected");
    BECOMES("kept", "connected");
    CHECK_INT(http("GET", "/api/tools", ""), 200);
    CHECK_HAS(out, "\"lost/echo\"");
    fd = listen_to_events();
    events_until(fd, &heard, 0, "retry: ");
    kill((pid_t)strtol(server_is("lost", "pid"), NULL, 10), SIGKILL);
    at = events_until(fd, &heard, 0, "\"type\":\"serverStateChanged\",\"server\":\"lost\"");
    events_until(fd, &heard, at, "\"to\":{\"state\":\"disconnected\"");
    events_until(fd, &heard, 0, "\"type\":\"catalogChanged\",\"server\":\"lost\"");
    CHECK_STR(state_of("lost"), "disconnected");
    CHECK_INT(http("GET", "/api/tools", ""), 200);
    CHECK(!strstr(out, "\"lost/") && strstr(out, "\"kept/echo\""));
    CHECK_INT(http("GET", "/api/alerts", ""), 200);
    CHECK_STR(member("alerts.0.server"), "lost");

    /* And down again: what a person asks for reaches the link. */
    at = heard.n;
    CHECK_INT(http("POST", "/api/servers/lost/reconnect", ""), 200);
    at = events_until(fd, &heard, at, "\"from\":{\"state\":\"connecting\"}");
    events_until(fd, &heard, at, "\"to\":{\"state\":\"connected\",\"tools\":4}");
    CHECK_INT(http("GET", "/api/tools", ""), 200);
    CHECK_HAS(out, "\"lost/echo\"");
    rig_end();
}
