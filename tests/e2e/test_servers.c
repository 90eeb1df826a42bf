/* Servers of every kind behind the real daemon, as REST connects, lists, calls and ends them. */
#include "home_server.h"
#include "rest_http.h"

enum { THREADS = 8, ROUNDS = 25 };

/* ---- asking ---- */

static char path_of[256];

static int on_server(const char *name, const char *what)
{
    snprintf(path_of, sizeof path_of, "/api/mcp-clients/%s/%s", name, what);
    return http("POST", path_of, "");
}

/* Connects a server of this entry's members; the status. */
static int join(const char *name, const char *members)
{
    AUTO_BUF struct buf body = { 0 };

    buf_printf(&body, "{\"name\":\"%s\",%s}", name, members);
    return http("POST", "/api/mcp-clients/connect", buf_cstr(&body));
}

static void join_well(const char *name, const char *members)
{
    if (join(name, members) != 200)
        TAP_FAIL("%s", out);
}

static void join_url(const char *name, const char *transport, const char *url, const char *more)
{
    AUTO_BUF struct buf b = { 0 };

    buf_printf(&b, "\"transport\":\"%s\",\"url\":\"%s\"%s", transport, url, more);
    join_well(name, buf_cstr(&b));
}

#define EXAMPLE_MEMBERS "\"command\":\"$BUILD/patchbay-example-server\""

/* A server that is a shell script; "l" is the line that it has read. */
static int join_shell(const char *name, const char *body, const char *more)
{
    static const char head[] =
        "ok() { printf '{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\\n' \"$(id)\" \"$1\"; }\n"
        "id() { printf '%s' \"$l\" | sed -n 's/.*\"id\":\\([^,}]*\\).*/\\1/p'; }\n"
        "no() { printf '{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":%s,\"message\":\"%s\"}}\\n'"
        " \"$(id)\" \"$1\" \"$2\"; }\n";
    AUTO_BUF struct buf script = { 0 }, members = { 0 };

    buf_printf(&script, "%s%s", head, body);
    buf_str(&members, "\"command\":\"sh\",\"args\":[\"-c\",");
    json_quote(&members, buf_span(&script));
    buf_printf(&members, "]%s", more);
    return join(name, buf_cstr(&members));
}

/* One of the legacy era: `cases` answers what comes after the handshake. */
static int join_script(const char *name, const char *cases, const char *more)
{
    AUTO_BUF struct buf body = { 0 };

    buf_printf(&body,
               "while read -r l; do case $l in\n"
               "*server/discover*) no -32601 none;;\n"
               "*'\"initialize\"'*) ok '{\"protocolVersion\":\"2025-06-18\","
               "\"capabilities\":{\"tools\":{}},"
               "\"serverInfo\":{\"name\":\"s\",\"version\":\"1\"}}';;\n"
               "%s\nesac; done",
               cases);
    return join_shell(name, buf_cstr(&body), more);
}

static int call(const char *id, const char *arguments)
{
    AUTO_BUF struct buf body = { 0 };

    buf_printf(&body, "{\"tool\":\"%s\"", id);
    if (arguments)
        buf_printf(&body, ",\"arguments\":%s", arguments);
    buf_str(&body, "}");
    return http("POST", "/api/mcp-tools/call", buf_cstr(&body));
}

#define CHECK_CALL(id, arguments, part)  \
    do {                                 \
        if (call(id, arguments) != 200)  \
            TAP_FAIL("%s: %s", id, out); \
        CHECK_HAS(out, part);            \
    } while (0)
#define CHECK_NO_CALL(id, arguments, status, code) \
    do {                                           \
        CHECK_INT(call(id, arguments), status);    \
        CHECK_STR(member("error"), code);          \
    } while (0)

static const char *status_of(const char *name)
{
    snprintf(path_of, sizeof path_of, "clients.%s.status", name);
    CHECK_INT(http("GET", "/api/mcp-clients", ""), 200);
    return member(path_of);
}

static bool has_tool(const char *part)
{
    CHECK_INT(http("GET", "/api/mcp-tools", ""), 200);
    return strstr(out, part) != NULL;
}

static pid_t pid_of(const char *name)
{
    snprintf(path_of, sizeof path_of, "/api/servers/%s", name);
    CHECK_INT(http("GET", path_of, ""), 200);
    return (pid_t)strtol(member("pid"), NULL, 10);
}

static void begin(void)
{
    rig_begin();
    start(NULL);
}

/* ---- beginning and end ---- */

/* S4-70 S4-71 S4-110 */
TEST(a_daemon_without_servers_has_nothing)
{
    begin();
    CHECK_INT(http("GET", "/api/mcp-clients", ""), 200);
    CHECK_STR(out, "{\"clients\":{}}\n");
    CHECK_INT(http("GET", "/api/mcp-tools", ""), 200);
    CHECK_STR(member("tools"), "[]");
    CHECK_INT(http("GET", "/api/mcp-resources", ""), 200);
    CHECK_STR(member("resources"), "[]");
    rig_end();
}

/* S1-117 */
TEST(a_process_that_does_not_want_to_end_is_killed_within_ten_seconds)
{
    uint64_t began;
    pid_t pid;

    begin();
    CHECK_INT(join_script("stubborn",
                          "*tools/list*) trap '' TERM HUP; ok '{\"tools\":[]}'; "
                          "while :; do sleep 1; done;;",
                          ""),
              200);
    pid = pid_of("stubborn");
    CHECK(pid > 0);
    began = now_ms();
    CHECK_INT(daemon_stop(SIGTERM), 0);
    CHECK(now_ms() - began < 10000);
    CHECK(kill(pid, 0) < 0);
    rig_end();
}

/* ---- processes ---- */

/* S4-77 S4-78 S4-87 S4-12 */
TEST(a_real_process_is_connected_and_its_tools_are_there_with_its_name)
{
    begin();
    join_well("ex", EXAMPLE_MEMBERS);
    CHECK_INT(http("GET", "/api/mcp-clients", ""), 200);
    CHECK_STR(member("clients.ex.status"), "connected");
    CHECK_STR(member("clients.ex.transport"), "stdio");
    CHECK_STR(member("clients.ex.tools"),
              "[\"ex/calculator\",\"ex/datetime\",\"ex/echo\",\"ex/string\"]");
    CHECK(has_tool("\"name\":\"ex/echo\",\"server\":\"ex\",\"original_name\":\"echo\""));
    CHECK_CALL("ex/echo", "{\"text\":\"hello\"}", "\"text\":\"hello\"");
    rig_end();
}

/* S1-59 */
TEST(a_process_gets_the_command_and_the_variables_of_its_spec)
{
    begin();
    CHECK_INT(join_script("keyed",
                          "*tools/list*) ok '{\"tools\":[{\"name\":\"key\"}]}';;\n"
                          "*tools/call*) ok \"{\\\"content\\\":[{\\\"type\\\":\\\"text\\\","
                          "\\\"text\\\":\\\"$API_KEY\\\"}]}\";;",
                          ",\"env\":{\"API_KEY\":\"k-17\"}"),
              200);
    CHECK_CALL("keyed/key", NULL, "k-17");
    rig_end();
}

/* S4-79 S4-80 S4-234 S4-20 S1-65 */
TEST(a_command_that_is_not_there_or_ends_at_once_or_refuses_us_gives_an_error)
{
    begin();
    CHECK_INT(join("none", "\"command\":\"/nonexistent/server\""), 502);
    CHECK_STR(member("error"), "connect_failed");
    CHECK_HAS(member("message"), "Failed to spawn");
    CHECK_INT(
        join("ends", "\"command\":\"sh\",\"args\":[\"-c\",\"echo out of paper >&2; exit 3\"]"),
        502);
    CHECK_HAS(member("message"), "out of paper");
    CHECK_INT(join_shell("refuses", "while read -r l; do no -32603 'not today'; done", ""), 502);
    CHECK_HAS(member("message"), "not today");
    CHECK_STR(status_of("none"), "error");
    CHECK_STR(status_of("ends"), "error");
    CHECK_STR(status_of("refuses"), "error");
    CHECK(*member("clients.none.error"));
    CHECK_NO_CALL("none/x", NULL, 503, "server_not_connected");
    rig_end();
}

/* S4-81 S4-121 S4-16 S4-17 S4-237 S4-96 */
TEST(disconnect_ends_the_process_and_reconnect_starts_it_from_what_was_kept)
{
    pid_t pid;

    begin();
    join_well("ex", EXAMPLE_MEMBERS);
    pid = pid_of("ex");
    CHECK(pid > 0);
    CHECK_INT(on_server("ex", "disconnect"), 200);
    CHECK_STR(status_of("ex"), "disconnected");
    CHECK_STR(member("clients.ex.tools"), "[]");
    WAIT_FOR(kill(pid, 0) < 0);
    CHECK(!has_tool("ex/echo"));
    CHECK_NO_CALL("ex/echo", "{}", 503, "server_not_connected");
    CHECK_INT(on_server("ex", "disconnect"), 200);
    CHECK_INT(on_server("ex", "reconnect"), 200);
    CHECK_STR(status_of("ex"), "connected");
    CHECK(pid_of("ex") != pid);
    CHECK_CALL("ex/echo", "{\"text\":\"again\"}", "again");
    CHECK_INT(on_server("ex", "reconnect"), 200);
    rig_end();
}

/* S4-82 S4-127 S4-76 */
TEST(names_that_are_not_there_or_there_already_are_errors)
{
    begin();
    CHECK_INT(on_server("nosuch", "disconnect"), 404);
    CHECK_STR(member("error"), "server_not_found");
    CHECK_INT(on_server("nosuch", "reconnect"), 404);
    CHECK_STR(member("error"), "server_not_found");
    join_well("ex", EXAMPLE_MEMBERS);
    CHECK_INT(join("ex", EXAMPLE_MEMBERS), 409);
    CHECK_STR(member("error"), "duplicate_name");
    CHECK_STR(status_of("ex"), "connected");
    rig_end();
}

/* S4-228 S4-131 */
TEST(a_process_that_was_killed_shows_and_calls_fail)
{
    begin();
    join_well("ex", EXAMPLE_MEMBERS ",\"auto_reconnect\":false");
    CHECK_INT(kill(pid_of("ex"), SIGKILL), 0);
    WAIT_FOR(strcmp(status_of("ex"), "disconnected") == 0);
    CHECK_NO_CALL("ex/echo", "{\"text\":\"x\"}", 503, "server_not_connected");
    rig_end();
}

/* S4-233 S4-19 */
TEST(a_server_that_never_answers_is_given_up_when_the_time_for_connecting_is_over)
{
    rig_begin();
    write_file(in_home("config.json"), "{\"settings\":{\"connect_s\":0.3}}");
    start(NULL);
    CHECK_INT(join("mute", "\"command\":\"cat\""), 502);
    CHECK_STR(member("error"), "connect_failed");
    CHECK_HAS(member("message"), "within 0.3s");
    CHECK_STR(status_of("mute"), "error");
    rig_end();
}

/* ---- HTTP+SSE ---- */

/* S4-83 S4-84 S4-86 */
TEST(a_server_behind_sse_is_connected_called_and_disconnected)
{
    struct home h;

    home_start(&h);
    begin();
    join_url("web", "sse", h.sse, "");
    CHECK_STR(status_of("web"), "connected");
    CHECK_STR(member("clients.web.transport"), "sse");
    CHECK(has_tool("\"name\":\"web/echo\""));
    CHECK_CALL("web/echo", "{\"a\":1}", "a");
    CHECK_INT(on_server("web", "disconnect"), 200);
    CHECK_STR(status_of("web"), "disconnected");
    CHECK(!has_tool("web/"));
    CHECK_INT(on_server("web", "reconnect"), 200);
    CHECK_CALL("web/echo", "{\"a\":1}", "a");
    rig_end();
    home_stop(&h);
}

/* S4-85 */
TEST(a_url_that_nobody_listens_at_gives_an_error)
{
    begin();
    CHECK_INT(join("web", "\"transport\":\"sse\",\"url\":\"http://127.0.0.1:1/sse\""), 502);
    CHECK_STR(member("error"), "connect_failed");
    CHECK_STR(status_of("web"), "error");
    rig_end();
}

/* ---- tools ---- */

/* S4-88 S4-89 S4-90 S4-91 S4-92 */
TEST(tools_of_the_same_name_on_two_servers_stay_apart)
{
    struct home h;

    home_start(&h);
    begin();
    join_url("server_a", "http", h.mcp, "");
    join_well("server_b", EXAMPLE_MEMBERS);
    CHECK(has_tool("{\"name\":\"server_a/echo\",\"server\":\"server_a\",\"original_name\":\"echo\","
                   "\"description\":\"Gives back\",\"input_schema\":{\"type\":\"object\"}}"));
    CHECK(has_tool("\"name\":\"server_b/echo\",\"server\":\"server_b\""));
    CHECK_CALL("server_a/echo", "{\"text\":\"x\"}", "{\\\"text\\\":\\\"x\\\"}");
    CHECK_CALL("server_b/echo", "{\"text\":\"x\"}", "\"text\":\"x\"");
    rig_end();
    home_stop(&h);
}

/* S4-93 S4-94 S4-95 S4-102 S4-103 S4-226 S4-225 */
TEST(arguments_go_and_results_come_as_they_are)
{
    struct home h;

    home_start(&h);
    begin();
    join_url("fs", "http", h.mcp, "");
    CHECK_CALL("fs/echo", "{\"a\":[1.0,20000000000000000001,\"\\u00e9\"]}",
               "{\\\"a\\\":[1.0,20000000000000000001,\\\"\\\\u00e9\\\"]}");
    CHECK_CALL("fs/echo", "{\"städte\":\"Zürich 東京 🙂\"}",
               "{\\\"städte\\\":\\\"Zürich 東京 🙂\\\"}");
    CHECK_CALL("fs/echo", "{}", "\"text\":\"{}\"");
    CHECK_CALL("fs/echo", NULL, "\"text\":\"{}\"");
    CHECK_CALL("fs/many", NULL,
               "[{\"type\":\"text\",\"text\":\"one\"},{\"type\":\"image\",\"data\":\"UE5H\","
               "\"mimeType\":\"image/png\"},{\"type\":\"text\",\"text\":\"three\"}]");
    CHECK_CALL("fs/sad", NULL, "\"isError\":true");
    CHECK_CALL("fs/sad", NULL, "no such city");
    rig_end();
    home_stop(&h);
}

/* S4-97 S4-98 S4-99 S4-101 */
TEST(each_wrong_name_has_its_own_error_and_the_servers_error_is_handed_on)
{
    struct home h;

    home_start(&h);
    begin();
    join_url("fs", "http", h.mcp, "");
    CHECK_NO_CALL("nosuch/tool", NULL, 404, "server_not_found");
    CHECK_NO_CALL("fs/nosuch", NULL, 404, "tool_not_found");
    CHECK_INT(call("echo", NULL) / 100, 4);
    CHECK_INT(call("fs/echo", "[1]"), 400);
    CHECK_NO_CALL("fs/broken", NULL, 502, "call_failed");
    CHECK_HAS(out, "it broke");
    CHECK_HAS(out, "-32050");
    CHECK_CALL("fs/echo", NULL, "{}"); /* and nothing is broken by it */
    rig_end();
    home_stop(&h);
}

/* S4-100 S4-15 */
TEST(a_call_waits_no_longer_than_the_servers_timeout)
{
    struct home h;

    home_start(&h);
    begin();
    join_url("fs", "http", h.mcp, ",\"timeout_s\":0.15");
    CHECK_NO_CALL("fs/slow", NULL, 504, "call_failed");
    CHECK_STR(member("code"), "call_timeout");
    CHECK_STR(member("message"), "timeout after 150ms");
    CHECK_CALL("fs/echo", NULL, "{}");
    rig_end();
    home_stop(&h);
}

/* For answers of which the rig does not keep all, and for those that never come. */
static void raw_call(struct buf *answer, const char *id, struct span text)
{
    AUTO_BUF struct buf body = { 0 }, request = { 0 };
    AUTO_CLOSE int fd = daemon_dial();
    struct span rest;
    ssize_t n;

    buf_printf(&body, "{\"tool\":\"%s\"", id);
    if (text.n) {
        buf_str(&body, ",\"arguments\":{\"text\":\"");
        buf_add_span(&body, text);
        buf_str(&body, "\"}");
    }
    buf_str(&body, "}");
    buf_printf(&request,
               "POST /api/mcp-tools/call HTTP/1.1\r\nHost: localhost:%d\r\n"
               "Authorization: Bearer secret\r\nConnection: close\r\n"
               "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n",
               daemon_port(), body.n);
    buf_add_span(&request, buf_span(&body));
    for (rest = buf_span(&request); rest.n; rest = span_from(rest, (size_t)n)) {
        n = send(fd, rest.p, rest.n, MSG_NOSIGNAL);
        CHECK(n > 0);
    }
    while ((n = recv(fd, buf_reserve(answer, 65536), 65536, 0)) > 0)
        answer->n += (size_t)n;
}

/* S4-220 S4-221 */
TEST(megabytes_go_both_ways_whole)
{
    AUTO_BUF struct buf text = { 0 }, back = { 0 }, result = { 0 };
    const char *at;
    struct home h;

    home_start(&h);
    begin();
    join_url("fs", "http", h.mcp, "");
    join_well("ex", EXAMPLE_MEMBERS);
    memset(buf_reserve(&text, BIG), 'a', BIG);
    text.n += BIG;
    buf_str(&text, "end");
    raw_call(&back, "ex/echo", buf_span(&text));
    at = strstr(buf_cstr(&back), "\"text\":\"aaa");
    if (!at)
        TAP_FAIL("%.300s", buf_cstr(&back));
    CHECK_INT(strspn(at + strlen("\"text\":\""), "a"), BIG);
    CHECK_HAS(at + BIG, "aend\"");
    raw_call(&result, "fs/big", SPAN(""));
    at = strstr(buf_cstr(&result), "zzz");
    CHECK(at != NULL);
    CHECK_INT(strspn(at, "z"), BIG);
    rig_end();
    home_stop(&h);
}

/* S4-218 S4-223 S4-224 S4-222 */
TEST(strange_servers_work_without_tools_without_schemas_and_with_any_name)
{
    begin();
    CHECK_INT(join_script("empty", "*tools/list*) ok '{\"tools\":[]}';;", ""), 200);
    CHECK_STR(status_of("empty"), "connected");
    CHECK_STR(member("clients.empty.tools"), "[]");
    CHECK_NO_CALL("empty/x", NULL, 404, "tool_not_found");

    CHECK_INT(join_script("odd",
                          "*tools/list*) ok '{\"tools\":[{\"name\":\"bare\"},{\"name\":"
                          "\"größe_計算\",\"inputSchema\":{\"type\":\"object\"}}]}';;\n"
                          "*'\"größe_計算\"'*) ok '{\"content\":[{\"type\":\"text\",\"text\":"
                          "\"大\"}]}';;\n*'\"bare\"'*'{}'*) ok '{\"content\":[{\"type\":"
                          "\"text\",\"text\":\"fine\"}]}';;",
                          ""),
              200);
    CHECK(has_tool("\"name\":\"odd/bare\",\"server\":\"odd\",\"original_name\":\"bare\","
                   "\"description\":\"\",\"input_schema\":{}"));
    CHECK_CALL("odd/bare", "{}", "fine");
    CHECK(has_tool("\"name\":\"odd/größe_計算\""));
    CHECK_CALL("odd/größe_計算", "{}", "大");

    join_well("breakpoint", EXAMPLE_MEMBERS);
    CHECK(has_tool("\"name\":\"breakpoint/echo\""));
    CHECK_CALL("breakpoint/echo", "{\"text\":\"b\"}", "\"b\"");
    rig_end();
}

/* S4-122 S4-219 */
TEST(a_reconnect_brings_the_tools_of_now)
{
    const struct pb_tool extra = { .name = "extra", .run = run_many };
    struct pb_error e;
    struct home h;

    home_start(&h);
    begin();
    join_url("fs", "http", h.mcp, "");
    CHECK(!has_tool("fs/extra"));
    CHECK_INT(on_server("fs", "disconnect"), 200);
    CHECK_INT(pb_server_add_tool(h.server, &extra, &e), 0);
    CHECK_INT(on_server("fs", "reconnect"), 200);
    CHECK(has_tool("fs/extra"));
    CHECK_CALL("fs/extra", NULL, "three");
    rig_end();
    home_stop(&h);
}

/* ---- resources ---- */

#define READ(server, uri) \
    http("POST", "/api/mcp-resources/read", "{\"server\":\"" server "\",\"uri\":\"" uri "\"}")

/* S4-111 S4-112 S4-113 S4-114 S4-115 S4-116 S4-41 */
TEST(resources_are_listed_per_server_and_read)
{
    struct home h;

    home_start(&h);
    begin();
    join_url("notes", "http", h.mcp, "");
    join_url("more", "sse", h.sse, "");
    join_well("ex", EXAMPLE_MEMBERS);
    CHECK_INT(http("GET", "/api/mcp-resources", ""), 200);
    CHECK_HAS(out, "{\"uri\":\"note://1\",\"server\":\"notes\",\"name\":\"note\",\"description\":"
                   "null,\"mime_type\":\"text/plain\"}");
    CHECK_HAS(out, "\"server\":\"more\"");
    CHECK_INT(http("GET", "/api/mcp-resources?server=more", ""), 200);
    CHECK(!strstr(out, "\"server\":\"notes\"") && strstr(out, "\"server\":\"more\""));
    CHECK_INT(http("GET", "/api/mcp-resources?server=ex", ""), 200);
    CHECK_STR(member("resources"), "[]");
    CHECK_INT(READ("notes", "note://1"), 200);
    CHECK_HAS(out, "remember the milk");
    CHECK_INT(READ("notes", "note://2"), 404);
    CHECK_STR(member("error"), "resource_not_found");
    CHECK_INT(on_server("notes", "disconnect"), 200);
    CHECK_INT(READ("notes", "note://1"), 503);
    CHECK_STR(member("error"), "server_not_connected");
    rig_end();
    home_stop(&h);
}

/* S4-8 */
TEST(connecting_finding_calling_reading_and_config_are_the_hubs)
{
    AUTO_BUF struct buf text = { 0 };
    struct home h;

    home_start(&h);
    rig_begin();
    buf_printf(&text, "\"home\":{\"transport\":\"http\",\"url\":\"%s\"}", h.mcp);
    rig_config(buf_cstr(&text));
    start(NULL);
    BECOMES("home", "connected"); /* at the start, from a config; the other by a call */
    join_url("guest", "http", h.mcp, "");
    CHECK(has_tool("\"home/echo\"") && has_tool("\"guest/echo\""));
    CHECK_CALL("home/echo", "{\"a\":1}", "{\\\"a\\\":1}");
    CHECK_INT(READ("home", "note://1"), 200);
    CHECK_HAS(out, "remember the milk");
    CHECK_INT(on_server("home", "disconnect"), 200);
    CHECK(!has_tool("\"home/echo\"") && has_tool("\"guest/echo\""));
    CHECK_INT(on_server("home", "reconnect"), 200);
    CHECK_CALL("home/echo", "{}", "{}");
    rig_end();
    home_stop(&h);
}

/* ---- many at once ---- */

/* A process of its own that asks; its exit status is how many answers were wrong. */
static pid_t asks(int (*run)(int no, const char *server), int no, const char *server)
{
    pid_t pid = fork();

    /* Ends as another program: what threads of ours had in hand when it was forked is nobody's
     * there, and counts as lost where memory is watched. */
    if (pid == 0) {
        const char *how = run(no, server) ? "/bin/false" : "/bin/true";

        execl(how, how, (char *)NULL);
        _exit(127);
    }
    return pid;
}

static int wrong_answers(const pid_t *pids, int n)
{
    int bad = 0, status;

    for (int i = 0; i < n; i++) {
        CHECK(waitpid(pids[i], &status, 0) == pids[i]);
        bad += WIFEXITED(status) ? WEXITSTATUS(status) : 100;
    }
    return bad;
}

static int call_often(int no, const char *server)
{
    int bad = 0;

    for (int i = 0; i < ROUNDS; i++) {
        char id[64], arguments[64], want[64];

        snprintf(id, sizeof id, "%s/echo", server);
        snprintf(arguments, sizeof arguments, "{\"text\":\"%d-%d\"}", no, i);
        snprintf(want, sizeof want, "\"%d-%d\"", no, i);
        bad += call(id, arguments) != 200 || !strstr(out, want);
    }
    return bad;
}

/* S4-117 S4-118 S4-119 S4-4 S4-5 */
TEST(many_call_one_server_and_two_while_a_third_is_connected)
{
    pid_t pids[2 * THREADS];

    begin();
    join_well("a", EXAMPLE_MEMBERS);
    join_well("b", EXAMPLE_MEMBERS);
    for (int i = 0; i < 2 * THREADS; i++)
        pids[i] = asks(call_often, i, i >= THREADS && i % 2 ? "b" : "a");
    join_well("c", EXAMPLE_MEMBERS);
    CHECK_CALL("c/echo", "{\"text\":\"c\"}", "\"c\"");
    CHECK_INT(wrong_answers(pids, 2 * THREADS), 0);
    rig_end();
}

static int up_and_down(int no, const char *server)
{
    int bad = 0;

    for (int i = 0; i < 5; i++) {
        int status = on_server(server, no % 2 ? "disconnect" : "reconnect");

        bad += status != 200 && (no % 2 || status != 502); /* another may have ended it */
    }
    return bad;
}

/* S4-227 */
TEST(many_connect_and_disconnect_one_server)
{
    pid_t pids[THREADS];

    begin();
    join_well("a", EXAMPLE_MEMBERS);
    for (int i = 0; i < THREADS; i++)
        pids[i] = asks(up_and_down, i, "a");
    CHECK_INT(wrong_answers(pids, THREADS), 0);
    CHECK_INT(on_server("a", "reconnect"), 200);
    CHECK_CALL("a/echo", "{\"text\":\"still\"}", "still");
    rig_end();
}

static int reconnect_once(int no, const char *server)
{
    (void)no;
    return on_server(server, "reconnect") != 200;
}

/* S0-170 */
TEST(who_reconnects_one_server_at_the_same_time_shares_the_attempt)
{
    AUTO_BUF struct buf cases = { 0 };
    pid_t pids[THREADS];

    begin();
    buf_printf(&cases, "*tools/list*) echo x >> %s; ok '{\"tools\":[]}';;", in_home("count"));
    CHECK_INT(join_script("a", buf_cstr(&cases), ""), 200);
    CHECK_INT(on_server("a", "disconnect"), 200);
    for (int i = 0; i < THREADS; i++)
        pids[i] = asks(reconnect_once, i, "a");
    CHECK_INT(wrong_answers(pids, THREADS), 0);
    CHECK(strlen(file_text("count")) <= 2 * (1 + 3)); /* "x\n" of the first, and of three at most */
    rig_end();
}

/* ---- calls that run when something ends ---- */

static int call_slow(int no, const char *server)
{
    (void)no, (void)server;
    return call("fs/slow", NULL) != 503 || !strstr(out, "server_not_connected");
}

/* S4-120 */
TEST(disconnecting_in_the_middle_of_a_call_ends_it_with_an_error)
{
    struct home h;
    pid_t pid;

    home_start(&h);
    begin();
    join_url("fs", "http", h.mcp, "");
    pid = asks(call_slow, 0, "fs");
    sem_wait(&h.slow_began);
    CHECK_INT(on_server("fs", "disconnect"), 200);
    CHECK_INT(wrong_answers(&pid, 1), 0);
    rig_end();
    home_stop(&h);
}

static int call_until_the_end(int no, const char *server)
{
    AUTO_BUF struct buf answer = { 0 };

    (void)no, (void)server;
    raw_call(&answer, "fs/slow", SPAN(""));
    return strstr(buf_cstr(&answer), "at last") != NULL;
}

/* S4-232 */
TEST(a_stop_of_the_daemon_does_not_wait_for_a_call_that_runs)
{
    struct home h;
    pid_t pid;
    uint64_t began;

    home_start(&h);
    begin();
    join_url("fs", "http", h.mcp, "");
    pid = asks(call_until_the_end, 0, "fs");
    sem_wait(&h.slow_began);
    began = now_ms();
    CHECK_INT(daemon_stop(SIGTERM), 0);
    CHECK(now_ms() - began < 10000);
    CHECK_INT(wrong_answers(&pid, 1), 0);
    rig_end();
    home_stop(&h);
}
