/* The hub for threads, against real processes and a real HTTP server. */
#include "hub/hub.h"
#include "mcp/client_rig.h"
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>

enum { THREADS = 8, ROUNDS = 25, BIG = 6 * 1024 * 1024 };

/* ---- a server of this process, reached over HTTP or HTTP+SSE ---- */

struct home {
    struct pb_server *server;
    pthread_t thread;
    char mcp[64], sse[64];
    sem_t slow_began;
};

static int run_echo(struct pb_call *call, void *ctx)
{
    (void)ctx;
    return pb_reply_text(call, "%s", pb_arg_json(call, NULL));
}

static int run_many(struct pb_call *call, void *ctx)
{
    (void)ctx;
    pb_reply_text(call, "one");
    pb_reply_image(call, "PNG", 3, "image/png");
    return pb_reply_text(call, "three");
}

static int run_broken(struct pb_call *call, void *ctx)
{
    (void)ctx;
    return pb_fail_rpc(call, -32050, "it broke", "{\"part\":7}");
}

static int run_sad(struct pb_call *call, void *ctx)
{
    (void)ctx;
    return pb_fail(call, "no such city");
}

static int run_slow(struct pb_call *call, void *ctx)
{
    struct home *h = ctx;

    sem_post(&h->slow_began);
    pb_call_wait(call, 50000);
    return pb_reply_text(call, "at last");
}

static int run_big(struct pb_call *call, void *ctx)
{
    AUTO_FREE char *text = mem_alloc(BIG);

    (void)ctx;
    memset(text, 'z', BIG);
    return pb_reply_bytes(call, text, BIG);
}

static int read_note(struct pb_call *call, void *ctx)
{
    (void)ctx;
    return pb_reply_resource(call, pb_call_uri(call), "text/plain", "remember the milk");
}

static void *home_main(void *ctx)
{
    pb_server_run(((struct home *)ctx)->server, NULL);
    return NULL;
}

static void home_start(struct home *h)
{
    const char *any = "{\"type\":\"object\"}";
    const struct pb_tool tools[] = {
        { .name = "echo", .description = "Gives back", .input_schema = any, .run = run_echo },
        { .name = "many", .run = run_many },
        { .name = "broken", .run = run_broken },
        { .name = "sad", .run = run_sad },
        { .name = "slow", .run = run_slow, .ctx = h },
        { .name = "big", .run = run_big },
    };
    const struct pb_resource note = {
        .uri = "note://1",
        .name = "note",
        .mime_type = "text/plain",
        .read = read_note,
    };
    struct pb_http_options http = PB_HTTP_OPTIONS_INIT;
    struct pb_error err;

    *h = (struct home){ .server = pb_server_new(NULL) };
    sem_init(&h->slow_began, 0, 0);
    for (size_t i = 0; i < ARRAY_LEN(tools); i++)
        if (pb_server_add_tool(h->server, &tools[i], &err) < 0)
            TAP_FAIL("%s", err.msg);
    CHECK_INT(pb_server_add_resource(h->server, &note, &err), 0);
    CHECK_INT(pb_server_http(h->server, &http, &err), 0);
    snprintf(h->mcp, sizeof h->mcp, "http://127.0.0.1:%d/mcp", pb_server_port(h->server));
    snprintf(h->sse, sizeof h->sse, "http://127.0.0.1:%d/sse", pb_server_port(h->server));
    CHECK_INT(pthread_create(&h->thread, NULL, home_main, h), 0);
}

static void home_stop(struct home *h)
{
    pb_server_stop(h->server);
    pthread_join(h->thread, NULL);
    pb_server_free(h->server);
    sem_destroy(&h->slow_began);
}

/* ---- a hub, and what to connect it to ---- */

static struct hub_thread *hub_begin(void)
{
    struct hub_options o = HUB_OPTIONS_INIT;
    struct hub_thread *t;
    struct pb_error err;

    o.retry_initial = false;
    if (hub_thread_start(&t, &o, &err) < 0)
        TAP_FAIL("%s", err.msg);
    return t;
}

static int join(struct hub_thread *t, struct spec *s, struct pb_error *err)
{
    int rc = hub_wait_connect(t, s, err);

    spec_unref(s);
    return rc;
}

static void join_well(struct hub_thread *t, struct spec *s)
{
    struct pb_error err;

    if (join(t, s, &err) < 0)
        TAP_FAIL("%s", err.msg);
}

static struct spec *example(const char *name)
{
    const char *path = getenv("EXAMPLE_SERVER");

    return spec_stdio(name, path ? path : "./patchbay-example-server", NULL, NULL);
}

/* A shell script with the functions of rig_sh. */
static struct spec *shell(const char *name, const char *body)
{
    AUTO_BUF struct buf b = { 0 };
    const char *args[] = { "-c", NULL, NULL };

    buf_str(&b, rig_sh);
    buf_str(&b, body);
    args[1] = buf_cstr(&b);
    return spec_stdio(name, "sh", args, NULL);
}

/* `cases` answers what comes after the handshake. */
static struct spec *script(const char *name, const char *cases)
{
    AUTO_BUF struct buf b = { 0 };

    buf_printf(&b, "while read -r l; do legacy || case $l in %s esac; done", cases);
    return shell(name, buf_cstr(&b));
}

static char *servers_of(struct hub_thread *t)
{
    char *json = NULL;

    CHECK_INT(hub_wait_servers(t, &json, NULL), 0);
    return json;
}

/* The status that list_servers shows. */
static void check_status(struct hub_thread *t, const char *name, const char *want)
{
    AUTO_FREE char *json = servers_of(t);
    AUTO_BUF struct buf b = { 0 };

    buf_printf(&b, "\"%s\":{\"status\":\"%s", name, want);
    CHECK_HAS(json, buf_cstr(&b));
}

static void check_tools(struct hub_thread *t, const char *part, bool there)
{
    AUTO_FREE char *json = NULL;

    CHECK_INT(hub_wait_tools(t, NULL, &json, NULL), 0);
    if (!strstr(json, part) == there)
        TAP_FAIL("%s: %s %s", json, there ? "lacks" : "has", part);
}

#define CHECK_CALL(t, id, arguments, part)                        \
    do {                                                          \
        AUTO_FREE char *result_ = NULL;                           \
        struct pb_error err_;                                     \
        if (hub_wait_call(t, id, arguments, &result_, &err_) < 0) \
            TAP_FAIL("%s: %s", id, err_.msg);                     \
        CHECK_HAS(result_, part);                                 \
    } while (0)
#define CHECK_NO_CALL(t, id, arguments, fault)                       \
    do {                                                             \
        char *result_ = NULL;                                        \
        struct pb_error err_ = { 0 };                                \
        CHECK(hub_wait_call(t, id, arguments, &result_, &err_) < 0); \
        CHECK_INT(fault_of(&err_), fault);                           \
    } while (0)

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

/* S4-77 S4-78 S4-87 S1-59 S4-12 */
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

struct ask_pid {
    struct hub_thread *t;
    const char *name;
    pid_t pid;
};

static void look_at_pid(struct waiter *w, void *ctx)
{
    struct ask_pid *a = ctx;
    struct link_facts facts;

    link_facts(hub_link(hub_thread_hub(a->t), a->name), &facts);
    a->pid = facts.pid;
    waiter_done(w, NULL, NULL, NULL);
}

static pid_t pid_of(struct hub_thread *t, const char *name)
{
    struct ask_pid a = { t, name, 0 };

    CHECK_INT(loop_wait(hub_thread_loop(t), look_at_pid, &a, 0, NULL, NULL), 0);
    return a.pid;
}

/* Until something is as it should be, which takes as long as it takes. */
#define UNTIL(cond)                                                    \
    do {                                                               \
        while (!(cond))                                                \
            nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL); \
    } while (0)

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

/* S4-83 S4-84 S4-86 S4-230 */
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

/* S4-229 */
TEST(a_slash_at_the_end_of_an_sse_url_does_no_harm)
{
    struct hub_thread *t = hub_begin();
    struct home h;
    char url[80];

    home_start(&h);
    snprintf(url, sizeof url, "%s/", h.sse);
    join_well(t, spec_sse("web", url));
    CHECK_CALL(t, "web/echo", NULL, "{}");
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

/* ---- many threads ---- */

struct worker {
    struct hub_thread *t;
    const char *server;
    int no, bad;
    pthread_t thread;
};

static void *call_often(void *ctx)
{
    struct worker *w = ctx;

    for (int i = 0; i < ROUNDS; i++) {
        AUTO_FREE char *result = NULL;
        char id[64], arguments[64], want[64];

        snprintf(id, sizeof id, "%s/echo", w->server);
        snprintf(arguments, sizeof arguments, "{\"text\":\"%d-%d\"}", w->no, i);
        snprintf(want, sizeof want, "%d-%d", w->no, i);
        w->bad += hub_wait_call(w->t, id, arguments, &result, NULL) < 0 || !strstr(result, want);
    }
    return NULL;
}

static void start_workers(struct worker *w, struct hub_thread *t, const char *const servers[2],
                          void *(*run)(void *))
{
    for (int i = 0; i < THREADS; i++) {
        w[i] = (struct worker){ .t = t, .server = servers[i % 2], .no = i };
        CHECK_INT(pthread_create(&w[i].thread, NULL, run, &w[i]), 0);
    }
}

static int join_workers(struct worker *w)
{
    int bad = 0;

    for (int i = 0; i < THREADS; i++) {
        pthread_join(w[i].thread, NULL);
        bad += w[i].bad;
    }
    return bad;
}

/* S4-117 S4-118 S4-119 S4-4 S4-5 */
TEST(many_threads_call_one_server_and_two_while_a_third_is_connected)
{
    struct hub_thread *t = hub_begin();
    struct worker same[THREADS], both[THREADS];

    join_well(t, example("a"));
    join_well(t, example("b"));
    start_workers(same, t, (const char *const[]){ "a", "a" }, call_often);
    start_workers(both, t, (const char *const[]){ "a", "b" }, call_often);
    join_well(t, example("c"));
    CHECK_CALL(t, "c/echo", "{\"text\":\"c\"}", "\"c\"");
    CHECK_INT(join_workers(same), 0);
    CHECK_INT(join_workers(both), 0);
    hub_thread_free(t);
}

static void *up_and_down(void *ctx)
{
    struct worker *w = ctx;
    struct pb_error err;

    for (int i = 0; i < 5; i++) {
        if (w->no % 2)
            w->bad += hub_wait_disconnect(w->t, "a", &err) < 0;
        else if (hub_wait_reconnect(w->t, "a", &err) < 0) /* another may have ended it */
            w->bad += fault_of(&err) != FAULT_NOT_CONNECTED && fault_of(&err) != FAULT_CONNECT;
    }
    return NULL;
}

/* S4-227 */
TEST(many_threads_connect_and_disconnect_one_server)
{
    struct hub_thread *t = hub_begin();
    struct worker w[THREADS];
    struct pb_error err;

    join_well(t, example("a"));
    start_workers(w, t, (const char *const[]){ "a", "a" }, up_and_down);
    CHECK_INT(join_workers(w), 0);
    CHECK_INT(hub_wait_reconnect(t, "a", &err), 0);
    CHECK_CALL(t, "a/echo", "{\"text\":\"still\"}", "still");
    hub_thread_free(t);
}

static void *reconnect_once(void *ctx)
{
    struct worker *w = ctx;
    struct pb_error err;

    w->bad = hub_wait_reconnect(w->t, w->server, &err) < 0;
    return NULL;
}

/* S0-170 */
TEST(threads_that_reconnect_one_server_at_once_share_the_attempt)
{
    struct hub_thread *t = hub_begin();
    struct worker w[THREADS];
    char count[] = "/tmp/patchbay-count-XXXXXX";
    AUTO_BUF struct buf cases = { 0 };
    struct pb_error err;
    int fd = mkstemp(count);
    char text[256];
    ssize_t n;

    buf_printf(&cases, "*tools/list*) echo x >> %s; ok '{\"tools\":[]}';;", count);
    join_well(t, script("a", buf_cstr(&cases)));
    CHECK_INT(hub_wait_disconnect(t, "a", &err), 0);
    start_workers(w, t, (const char *const[]){ "a", "a" }, reconnect_once);
    CHECK_INT(join_workers(w), 0);
    n = read(fd, text, sizeof text);
    CHECK_INT(n, 2 * 2); /* "x\n" of the first connection and of the one reconnect */
    close(fd);
    unlink(count);
    hub_thread_free(t);
}

/* ---- calls that run when something ends ---- */

static void *call_slow(void *ctx)
{
    struct worker *w = ctx;
    struct pb_error err = { 0 };
    char *result;

    w->bad = hub_wait_call(w->t, "fs/slow", NULL, &result, &err);
    w->no = fault_of(&err);
    return NULL;
}

/* S4-120 */
TEST(disconnecting_in_the_middle_of_a_call_ends_it_with_an_error)
{
    struct hub_thread *t = hub_begin();
    struct worker w = { .t = t };
    struct home h;
    struct pb_error err;

    home_start(&h);
    join_well(t, spec_http("fs", h.mcp));
    CHECK_INT(pthread_create(&w.thread, NULL, call_slow, &w), 0);
    sem_wait(&h.slow_began);
    CHECK_INT(hub_wait_disconnect(t, "fs", &err), 0);
    pthread_join(w.thread, NULL);
    CHECK_INT(w.bad, -PB_E_CLOSED);
    CHECK_INT(w.no, FAULT_NOT_CONNECTED);
    hub_thread_free(t);
    home_stop(&h);
}

/* S4-232 */
TEST(a_shutdown_does_not_wait_for_a_call_that_runs)
{
    struct hub_thread *t = hub_begin();
    struct worker w = { .t = t };
    struct home h;

    home_start(&h);
    join_well(t, spec_http("fs", h.mcp));
    CHECK_INT(pthread_create(&w.thread, NULL, call_slow, &w), 0);
    sem_wait(&h.slow_began);
    hub_thread_shutdown(t);
    pthread_join(w.thread, NULL);
    CHECK_INT(w.bad, -PB_E_CLOSED);
    hub_thread_free(t);
    home_stop(&h);
}
