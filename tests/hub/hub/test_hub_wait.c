/* The hub for threads, against real processes and a real HTTP server. */
#include "hub/hub/hub.h"
#include "hub/spec/spec.h"
#include "hub_wait_rig.h"

/* ---- beginning and end ---- */

static void note_thread(struct waiter *w, void *ctx)
{
    *(pthread_t *)ctx = pthread_self();
    waiter_done(w, NULL, NULL, NULL);
}

/* S4-65 S4-70 S4-71 S4-110 */
TEST(a_hub_starts_on_a_thread_of_its_own_with_nothing_in_it)
{
    struct hub_thread *t = hub_begin();
    AUTO_FREE char *servers = servers_of(t), *tools = NULL, *resources = NULL;
    pthread_t thread;

    CHECK_INT(loop_wait(hub_thread_loop(t), note_thread, &thread, 0, NULL, NULL), 0);
    CHECK(!pthread_equal(thread, pthread_self()));
    CHECK_STR(servers, "{}");
    CHECK_INT(hub_wait_tools(t, NULL, &tools, NULL), 0);
    CHECK_STR(tools, "[]");
    CHECK_INT(hub_wait_resources(t, NULL, &resources, NULL), 0);
    CHECK_STR(resources, "[]");
    hub_thread_free(t);
}

/* S4-68 S4-69 */
TEST(shutdown_ends_the_thread_and_may_be_said_twice)
{
    struct hub_thread *t = hub_begin();
    struct pb_error err;
    char *json;

    join_well(t, example("ex"));
    hub_thread_shutdown(t);
    hub_thread_shutdown(t);
    CHECK_INT(hub_wait_servers(t, &json, &err), -PB_E_CLOSED);
    CHECK_INT(hub_wait_disconnect(t, "ex", &err), -PB_E_CLOSED);
    hub_thread_free(t);
    hub_thread_free(NULL);
}

/* ---- processes ---- */

/* S4-77 S4-78 S4-87 S4-12 */
TEST(a_real_process_is_connected_and_its_tools_are_there_with_its_name)
{
    struct hub_thread *t = hub_begin();

    join_well(t, example("ex"));
    check_status(t, "ex",
                 "connected\",\"transport\":\"stdio\",\"tools\":[\"ex/calculator\",\"ex/"
                 "datetime\",\"ex/echo\",\"ex/string\"],\"connected_at\":1");
    check_tools(t, "\"name\":\"ex/echo\",\"server\":\"ex\",\"original_name\":\"echo\"", true);
    CHECK_CALL(t, "ex/echo", "{\"text\":\"hello\"}", "\"text\":\"hello\"");
    hub_thread_free(t);
}

/* S1-59 */
TEST(a_process_gets_the_command_and_the_variables_of_its_spec)
{
    struct hub_thread *t = hub_begin();
    static const char *const env[] = { "API_KEY=k-17", NULL };
    struct spec *s =
        script("keyed", "*tools/list*) ok '{\"tools\":[{\"name\":\"key\"}]}';; *tools/call*) ok "
                        "\"{\\\"content\\\":[{\\\"type\\\":\\\"text\\\",\\\"text\\\":"
                        "\\\"$API_KEY\\\"}]}\";;");

    s->env = env;
    join_well(t, s);
    CHECK_CALL(t, "keyed/key", NULL, "k-17");
    hub_thread_free(t);
}

/* S4-79 S4-80 S4-234 S4-20 S1-65 */
TEST(a_command_that_is_not_there_or_ends_at_once_or_refuses_us_gives_an_error)
{
    struct hub_thread *t = hub_begin();
    static const char *const words[] = { "-c", "echo out of paper >&2; exit 3", NULL };
    AUTO_FREE char *json = NULL;
    struct pb_error err;

    CHECK_INT(join(t, spec_stdio("none", "/nonexistent/server", NULL, NULL), &err), -PB_E_CLOSED);
    CHECK_INT(fault_of(&err), FAULT_CONNECT);
    CHECK_HAS(err.msg, "Failed to spawn");
    CHECK_INT(join(t, spec_stdio("ends", "sh", words, NULL), &err), -PB_E_CLOSED);
    CHECK_INT(fault_of(&err), FAULT_CONNECT);
    CHECK_HAS(err.msg, "out of paper");
    CHECK_INT(join(t, shell("refuses", "while read -r l; do no -32603 'not today'; done"), &err),
              -PB_E_CLOSED);
    CHECK_INT(fault_of(&err), FAULT_CONNECT);
    check_status(t, "none", "error");
    check_status(t, "ends", "error");
    check_status(t, "refuses", "error");
    json = servers_of(t);
    CHECK_HAS(json, "\"error\":\"");
    CHECK_NO_CALL(t, "none/x", NULL, FAULT_NOT_CONNECTED);
    hub_thread_free(t);
}

/* S4-81 S4-121 S4-16 S4-17 S4-237 S4-96 */
TEST(disconnect_ends_the_process_and_reconnect_starts_it_from_what_was_kept)
{
    struct hub_thread *t = hub_begin();
    struct pb_error err;
    pid_t pid;

    join_well(t, example("ex"));
    pid = pid_of(t, "ex");
    CHECK(pid > 0);
    CHECK_INT(hub_wait_disconnect(t, "ex", &err), 0);
    check_status(t, "ex", "disconnected\",\"transport\":\"stdio\",\"tools\":[]}");
    UNTIL(kill(pid, 0) < 0);
    check_tools(t, "ex/echo", false);
    CHECK_NO_CALL(t, "ex/echo", "{}", FAULT_NOT_CONNECTED);
    CHECK_INT(hub_wait_disconnect(t, "ex", &err), 0);
    CHECK_INT(hub_wait_reconnect(t, "ex", &err), 0);
    check_status(t, "ex", "connected");
    CHECK(pid_of(t, "ex") != pid);
    CHECK_CALL(t, "ex/echo", "{\"text\":\"again\"}", "again");
    CHECK_INT(hub_wait_reconnect(t, "ex", &err), 0);
    hub_thread_free(t);
}

/* S4-82 S4-127 S4-76 */
TEST(names_that_are_not_there_or_there_already_are_errors)
{
    struct hub_thread *t = hub_begin();
    struct pb_error err;
    char *json;

    CHECK_INT(hub_wait_disconnect(t, "nosuch", &err), -PB_E_NOT_FOUND);
    CHECK_INT(fault_of(&err), FAULT_NO_SERVER);
    CHECK_INT(hub_wait_reconnect(t, "nosuch", &err), -PB_E_NOT_FOUND);
    CHECK_INT(hub_wait_ping(t, "nosuch", &err), -PB_E_NOT_FOUND);
    CHECK_INT(hub_wait_tools(t, "nosuch", &json, &err), -PB_E_NOT_FOUND);
    join_well(t, example("ex"));
    CHECK_INT(join(t, example("ex"), &err), -PB_E_INVALID);
    CHECK_INT(fault_of(&err), FAULT_DUPLICATE);
    check_status(t, "ex", "connected");
    hub_thread_free(t);
}

/* S4-228 S4-131 */
TEST(a_process_that_was_killed_shows_and_calls_fail)
{
    struct hub_thread *t = hub_begin();
    struct spec *s = example("ex");
    bool gone = false;

    s->auto_reconnect = false;
    join_well(t, s);
    CHECK_INT(kill(pid_of(t, "ex"), SIGKILL), 0);
    while (!gone) {
        AUTO_FREE char *json = servers_of(t);

        gone = strstr(json, "\"ex\":{\"status\":\"disconnected\"") != NULL;
    }
    CHECK_NO_CALL(t, "ex/echo", "{\"text\":\"x\"}", FAULT_NOT_CONNECTED);
    hub_thread_free(t);
}

/* S4-233 S4-19 */
TEST(a_server_that_never_answers_is_given_up_when_the_time_for_connecting_is_over)
{
    struct hub_options o = HUB_OPTIONS_INIT;
    struct hub_thread *t;
    struct pb_error err;

    o.connect_ms = 300; /* the daemon says 30000 */
    o.retry_initial = false;
    CHECK_INT(hub_thread_start(&t, &o, &err), 0);
    CHECK_INT(join(t, spec_stdio("mute", "cat", NULL, NULL), &err), -PB_E_CLOSED);
    CHECK_INT(fault_of(&err), FAULT_CONNECT);
    CHECK_HAS(err.msg, "within 0.3s");
    check_status(t, "mute", "error");
    hub_thread_free(t);
}

/* S1-117 */
TEST(a_process_that_does_not_want_to_end_is_killed_within_ten_seconds)
{
    struct hub_thread *t = hub_begin();
    struct timespec a, b;
    pid_t pid;

    join_well(t, script("stubborn", "*tools/list*) trap '' TERM HUP; ok '{\"tools\":[]}'; "
                                    "while :; do sleep 1; done;;"));
    pid = pid_of(t, "stubborn");
    clock_gettime(CLOCK_MONOTONIC, &a);
    hub_thread_shutdown(t);
    clock_gettime(CLOCK_MONOTONIC, &b);
    CHECK(b.tv_sec - a.tv_sec < 10);
    CHECK(kill(pid, 0) < 0);
    hub_thread_free(t);
}

/* ---- HTTP+SSE ---- */

/* S4-83 S4-84 S4-86 */
TEST(a_server_behind_sse_is_connected_called_and_disconnected)
{
    struct hub_thread *t = hub_begin();
    struct home h;
    struct pb_error err;

    home_start(&h);
    join_well(t, spec_sse("web", h.sse));
    check_status(t, "web", "connected\",\"transport\":\"sse\"");
    check_tools(t, "\"name\":\"web/echo\"", true);
    CHECK_CALL(t, "web/echo", "{\"a\":1}", "a");
    CHECK_INT(hub_wait_disconnect(t, "web", &err), 0);
    check_status(t, "web", "disconnected");
    check_tools(t, "web/", false);
    CHECK_INT(hub_wait_reconnect(t, "web", &err), 0);
    CHECK_CALL(t, "web/echo", "{\"a\":1}", "a");
    hub_thread_free(t);
    home_stop(&h);
}

/* S4-85 */
TEST(a_url_that_nobody_listens_at_gives_an_error)
{
    struct hub_thread *t = hub_begin();
    struct pb_error err;

    CHECK_INT(join(t, spec_sse("web", "http://127.0.0.1:1/sse"), &err), -PB_E_CLOSED);
    CHECK_INT(fault_of(&err), FAULT_CONNECT);
    check_status(t, "web", "error");
    hub_thread_free(t);
}

/* ---- tools ---- */

/* S4-88 S4-89 S4-90 S4-91 S4-92 S4-118 */
TEST(tools_of_the_same_name_on_two_servers_stay_apart)
{
    struct hub_thread *t = hub_begin();
    struct home h;

    home_start(&h);
    join_well(t, spec_http("server_a", h.mcp));
    join_well(t, example("server_b"));
    check_tools(t,
                "{\"name\":\"server_a/echo\",\"server\":\"server_a\",\"original_name\":\"echo\","
                "\"description\":\"Gives back\",\"input_schema\":{\"type\":\"object\"}}",
                true);
    check_tools(t, "\"name\":\"server_b/echo\",\"server\":\"server_b\"", true);
    CHECK_CALL(t, "server_a/echo", "{\"text\":\"x\"}", "{\\\"text\\\":\\\"x\\\"}");
    CHECK_CALL(t, "server_b/echo", "{\"text\":\"x\"}", "\"text\":\"x\"");
    hub_thread_free(t);
    home_stop(&h);
}

/* S4-93 S4-94 S4-95 S4-102 S4-103 S4-226 S4-225 */
TEST(arguments_go_and_results_come_as_they_are)
{
    struct hub_thread *t = hub_begin();
    struct home h;

    home_start(&h);
    join_well(t, spec_http("fs", h.mcp));
    CHECK_CALL(t, "fs/echo", "{\"a\":[1.0,20000000000000000001,\"\\u00e9\"]}",
               "{\\\"a\\\":[1.0,20000000000000000001,\\\"\\\\u00e9\\\"]}");
    CHECK_CALL(t, "fs/echo", "{\"städte\":\"Zürich 東京 🙂\"}",
               "{\\\"städte\\\":\\\"Zürich 東京 🙂\\\"}");
    CHECK_CALL(t, "fs/echo", "{}", "\"text\":\"{}\"");
    CHECK_CALL(t, "fs/echo", NULL, "\"text\":\"{}\"");
    CHECK_CALL(t, "fs/many", NULL,
               "[{\"type\":\"text\",\"text\":\"one\"},{\"type\":\"image\",\"data\":\"UE5H\","
               "\"mimeType\":\"image/png\"},{\"type\":\"text\",\"text\":\"three\"}]");
    CHECK_CALL(t, "fs/sad", NULL, "\"isError\":true");
    CHECK_CALL(t, "fs/sad", NULL, "no such city");
    hub_thread_free(t);
    home_stop(&h);
}

/* S4-97 S4-98 S4-99 S4-101 */
TEST(each_wrong_name_has_its_own_error_and_the_servers_error_is_handed_on)
{
    struct hub_thread *t = hub_begin();
    struct home h;
    struct pb_error err;
    char *result;

    home_start(&h);
    join_well(t, spec_http("fs", h.mcp));
    CHECK_NO_CALL(t, "nosuch/tool", NULL, FAULT_NO_SERVER);
    CHECK_NO_CALL(t, "fs/nosuch", NULL, FAULT_NO_TOOL);
    CHECK_INT(hub_wait_call(t, "echo", NULL, &result, &err), -PB_E_INVALID);
    CHECK_HAS(err.msg, "server/tool");
    CHECK_INT(hub_wait_call(t, "fs/echo", "[1]", &result, &err), -PB_E_INVALID);
    CHECK_INT(hub_wait_call(t, "fs/echo", "{\"a\":1,\"a\":2}", &result, &err), -PB_E_INVALID);
    CHECK_INT(hub_wait_call(t, "fs/broken", NULL, &result, &err), -PB_E_REMOTE);
    CHECK_INT(err.sys, -32050);
    CHECK_HAS(err.msg, "it broke");
    CHECK_STR(fault_name(&err), "call_failed");
    CHECK_CALL(t, "fs/echo", NULL, "{}"); /* and nothing is broken by it */
    hub_thread_free(t);
    home_stop(&h);
}

/* S4-100 S4-15 */
TEST(a_call_waits_no_longer_than_the_servers_timeout)
{
    struct hub_thread *t = hub_begin();
    struct home h;
    struct spec *s;
    struct pb_error err;
    char *result;

    home_start(&h);
    s = spec_http("fs", h.mcp);
    s->timeout_ms = 150;
    join_well(t, s);
    CHECK_INT(hub_wait_call(t, "fs/slow", NULL, &result, &err), -PB_E_TIMEOUT);
    CHECK_INT(fault_of(&err), FAULT_TIMEOUT);
    CHECK_STR(fault_name(&err), "call_timeout");
    CHECK_STR(err.msg, "Tool 'slow' on server 'fs' timed out after 0.15s");
    CHECK_CALL(t, "fs/echo", NULL, "{}");
    hub_thread_free(t);
    home_stop(&h);
}

/* S4-220 S4-221 */
TEST(megabytes_go_both_ways_whole)
{
    struct hub_thread *t = hub_begin();
    struct home h;
    AUTO_BUF struct buf arguments = { 0 };
    AUTO_FREE char *result = NULL, *back = NULL;
    const char *at;
    struct pb_error err;

    home_start(&h);
    join_well(t, spec_http("fs", h.mcp));
    join_well(t, example("ex"));
    buf_str(&arguments, "{\"text\":\"");
    memset(buf_reserve(&arguments, BIG), 'a', BIG);
    arguments.n += BIG;
    buf_str(&arguments, "end\"}");
    CHECK_INT(hub_wait_call(t, "ex/echo", buf_cstr(&arguments), &back, &err), 0);
    at = strstr(back, "\"text\":\"aaa");
    CHECK(at != NULL);
    CHECK_INT(strspn(at + strlen("\"text\":\""), "a"), BIG);
    CHECK_HAS(back + strlen(back) - 200, "aend\"");
    CHECK_INT(hub_wait_call(t, "fs/big", NULL, &result, &err), 0);
    at = strstr(result, "zzz");
    CHECK(at != NULL);
    CHECK_INT(strspn(at, "z"), BIG);
    hub_thread_free(t);
    home_stop(&h);
}

/* S4-218 S4-223 S4-224 S4-222 */
TEST(strange_servers_work_without_tools_without_schemas_and_with_any_name)
{
    struct hub_thread *t = hub_begin();

    join_well(t, script("empty", "*tools/list*) ok '{\"tools\":[]}';;"));
    check_status(t, "empty", "connected\",\"transport\":\"stdio\",\"tools\":[],");
    CHECK_NO_CALL(t, "empty/x", NULL, FAULT_NO_TOOL);

    join_well(t, script("odd", "*tools/list*) ok '{\"tools\":[{\"name\":\"bare\"},{\"name\":"
                               "\"größe_計算\",\"inputSchema\":{\"type\":\"object\"}}]}';; "
                               "*'\"größe_計算\"'*) ok '{\"content\":[{\"type\":\"text\",\"text\":"
                               "\"大\"}]}';; *'\"bare\"'*'{}'*) ok '{\"content\":[{\"type\":"
                               "\"text\",\"text\":\"fine\"}]}';;"));
    check_tools(t,
                "\"name\":\"odd/bare\",\"server\":\"odd\",\"original_name\":\"bare\","
                "\"description\":\"\",\"input_schema\":{}",
                true);
    CHECK_CALL(t, "odd/bare", "{}", "fine");
    check_tools(t, "\"name\":\"odd/größe_計算\"", true);
    CHECK_CALL(t, "odd/größe_計算", "{}", "大");

    join_well(t, example("breakpoint"));
    check_tools(t, "\"name\":\"breakpoint/echo\"", true);
    CHECK_CALL(t, "breakpoint/echo", "{\"text\":\"b\"}", "\"b\"");
    hub_thread_free(t);
}

/* S4-122 S4-219 */
TEST(a_reconnect_brings_the_tools_of_now)
{
    struct hub_thread *t = hub_begin();
    struct home h;
    const struct pb_tool extra = { .name = "extra", .run = run_many };
    struct pb_error err;

    home_start(&h);
    join_well(t, spec_http("fs", h.mcp));
    check_tools(t, "fs/extra", false);
    CHECK_INT(hub_wait_disconnect(t, "fs", &err), 0);
    CHECK_INT(pb_server_add_tool(h.server, &extra, &err), 0);
    CHECK_INT(hub_wait_reconnect(t, "fs", &err), 0);
    check_tools(t, "fs/extra", true);
    CHECK_CALL(t, "fs/extra", NULL, "three");
    hub_thread_free(t);
    home_stop(&h);
}

/* ---- resources ---- */

/* S4-111 S4-112 S4-113 S4-114 S4-115 S4-116 S4-41 */
TEST(resources_are_listed_per_server_and_read)
{
    struct hub_thread *t = hub_begin();
    struct home h;
    AUTO_FREE char *all = NULL, *one = NULL, *none = NULL, *text = NULL;
    struct pb_error err;
    char *result;

    home_start(&h);
    join_well(t, spec_http("notes", h.mcp));
    join_well(t, spec_sse("more", h.sse));
    join_well(t, example("ex"));
    CHECK_INT(hub_wait_resources(t, NULL, &all, &err), 0);
    CHECK_HAS(all, "{\"uri\":\"note://1\",\"server\":\"notes\",\"name\":\"note\",\"description\":"
                   "null,\"mime_type\":\"text/plain\"}");
    CHECK_HAS(all, "\"server\":\"more\"");
    CHECK_INT(hub_wait_resources(t, "more", &one, &err), 0);
    CHECK(!strstr(one, "\"server\":\"notes\"") && strstr(one, "\"server\":\"more\""));
    CHECK_INT(hub_wait_resources(t, "ex", &none, &err), 0);
    CHECK_STR(none, "[]");
    CHECK_INT(hub_wait_read(t, "notes", "note://1", &text, &err), 0);
    CHECK_HAS(text, "remember the milk");
    CHECK(hub_wait_read(t, "notes", "note://2", &result, &err) < 0);
    CHECK_INT(fault_of(&err), FAULT_NO_RESOURCE);
    CHECK_INT(hub_wait_disconnect(t, "notes", &err), 0);
    CHECK_INT(hub_wait_read(t, "notes", "note://1", &result, &err), -PB_E_CLOSED);
    CHECK_INT(fault_of(&err), FAULT_NOT_CONNECTED);
    hub_thread_free(t);
    home_stop(&h);
}

/* S4-129 S4-130 */
TEST(a_ping_waits_for_its_answer)
{
    struct hub_thread *t = hub_begin();
    struct pb_error err;

    join_well(t, example("ex"));
    CHECK_INT(hub_wait_ping(t, "ex", &err), 0);
    CHECK_INT(hub_wait_disconnect(t, "ex", &err), 0);
    CHECK_INT(hub_wait_ping(t, "ex", &err), -PB_E_CLOSED);
    CHECK_INT(fault_of(&err), FAULT_NOT_CONNECTED);
    hub_thread_free(t);
}
