/* Calls as people watch them: who asked, which id, how far, how it ended; and what passes by as a
 * toast. */
#include "face/host/host.h"
#include "face/rest_rig.h"
#include "hub/hub/hub.h"
#include "hub/link/link.h"
#include "mcp/serve/serve.h"

#define UUID_A "0aF1e2d3-0000-4000-8000-00000000000a"
#define UUID_B "0aF1e2d3-0000-4000-8000-00000000000b"

/* ---- helpers ---- */

static void listen_to(struct rest_rig *w, struct line *s, const char *path)
{
    AUTO_BUF struct buf request = { 0 };

    buf_printf(&request, "GET %s", path);
    line_open(w, s);
    line_ask(s, buf_cstr(&request), NULL, REST_TOKEN, "");
    line_until(s, "retry: 1000\n");
    line_until(s, "\n\n");
}

/* Sends a call that does not end by itself, and waits until its server has it. */
static void begin_call(struct rest_rig *w, struct line *s, struct fake_server *f,
                       const char *headers, const char *body)
{
    AUTO_BUF struct buf all = { 0 };
    size_t before = f->n_held;

    buf_printf(&all, "%s%s%s", REST_TOKEN, REST_JSON, headers);
    line_open(w, s);
    line_ask(s, "POST /api/mcp-tools/call", NULL, buf_cstr(&all), body);
    for (int i = 0; f->n_held == before; i++) {
        CHECK(i < 5000);
        line_turn(s);
    }
}

static size_t count(const char *text, const char *part)
{
    size_t n = 0;

    for (; (text = strstr(text, part)); text++)
        n++;
    return n;
}

/* ---- MCP over HTTP, as a client of either era writes it ---- */

#define ACCEPT "Accept: application/json, text/event-stream\r\n"
#define LEGACY REST_TOKEN REST_JSON ACCEPT "MCP-Protocol-Version: 2025-11-25\r\n"
#define MODERN(tool)                                                                             \
    REST_TOKEN REST_JSON ACCEPT "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n" \
                                "Mcp-Name: " tool "\r\n"
#define TOOLS_CALL(tool, meta)                                                             \
    "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"" tool \
    "\"" meta "}}"

/* One request that is answered; with a session when there is one. */
static void mcp_post(struct rest_rig *w, const char *headers, const char *session, const char *body)
{
    AUTO_BUF struct buf all = { 0 };
    struct line s;

    buf_str(&all, headers);
    if (*session)
        buf_printf(&all, "Mcp-Session-Id: %s\r\n", session);
    line_open(w, &s);
    line_ask(&s, "POST /mcp", NULL, buf_cstr(&all), body);
    line_until(&s, strstr(body, "\"id\"") ? "\"jsonrpc\"" : "HTTP/1.1 202");
    snprintf(rest_head, sizeof rest_head, "%s", buf_cstr(&s.in));
    line_close(&s);
}

/* A legacy client that says this about itself calls a tool. */
static void legacy_call(struct rest_rig *w, const char *info, const char *call)
{
    AUTO_BUF struct buf hello = { 0 };
    char session[128];
    const char *at;

    buf_printf(&hello,
               "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{"
               "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":%s}}",
               info);
    mcp_post(w, LEGACY, "", buf_cstr(&hello));
    at = strstr(rest_head, "Mcp-Session-Id: ");
    CHECK(at != NULL);
    snprintf(session, sizeof session, "%.*s", (int)strcspn(at + 16, "\r"), at + 16);
    mcp_post(w, LEGACY, session, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
    mcp_post(w, LEGACY, session, call);
}

static void modern_call(struct rest_rig *w, const char *info)
{
    AUTO_BUF struct buf body = { 0 };

    buf_printf(&body,
               "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":"
               "\"alpha__echo\",\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":"
               "\"2026-07-28\",\"io.modelcontextprotocol/clientCapabilities\":{},"
               "\"io.modelcontextprotocol/clientInfo\":%s}}}",
               info);
    mcp_post(w, MODERN("alpha__echo"), "", buf_cstr(&body));
}

#define SIXTY_FOUR "1234567890123456789012345678901234567890123456789012345678901234"

TEST(a_call_over_mcp_carries_the_words_of_its_client_about_itself)
{
    static const struct {
        const char *info, *want;
    } cases[] = {
        { "{\"name\":\"claude-code\",\"title\":\"Claude Code\",\"version\":\"2.1\"}",
          "Claude Code 2.1" },
        { "{\"name\":\"cursor\",\"version\":\"0.9\"}", "cursor 0.9" },
        { "{\"name\":\"bare\"}", "bare" },
        { "{\"name\":7,\"version\":\"1\"}", "" },
        { "{}", "" },
        /* What people are shown must not be able to play tricks on them. */
        { "{\"name\":\"a\\u001b[2J\\u202eb\",\"version\":\"1\\n2\"}", "a?[2J???b 1?2" },
        /* The bound, one past it and far past it; characters stay whole. */
        { "{\"name\":\"" SIXTY_FOUR "\",\"version\":\"1\"}", SIXTY_FOUR },
        { "{\"name\":\"" SIXTY_FOUR "5\"}", SIXTY_FOUR },
        { "{\"name\":\"" SIXTY_FOUR SIXTY_FOUR SIXTY_FOUR "\"}", SIXTY_FOUR },
        { "{\"name\":\"n\",\"version\":\"" SIXTY_FOUR "\"}",
          "n 12345678901234567890123456789012345678901234567890123456789012" },
        { "{\"name\":\"x123456789012345678901234567890123456789012345678901234567890ä€\"}",
          "x123456789012345678901234567890123456789012345678901234567890ä" },
    };
    struct rest_rig rig;

    rest_init(&rig, NULL);
    fake_tool(rig_server(&rig.hub, "alpha"), "echo", FAKE_ECHO);
    rest_start(&rig);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        legacy_call(&rig, cases[i].info, TOOLS_CALL("alpha__echo", ""));
        modern_call(&rig, cases[i].info);
        CHECK_INT(GET(&rig, "/api/calls?limit=2"), 200);
        CHECK_STR(got("recent.0.caller"), cases[i].want);
        CHECK_STR(got("recent.1.caller"), cases[i].want);
        CHECK_STR(got("recent.1.status"), "success");
    }
    rest_done(&rig);
}

TEST(the_command_line_is_told_apart_and_so_is_what_the_external_tools_ask)
{
    static const struct host_scope control = { .control = true },
                                   external = { .expose = HOST_EXTERNAL };
    struct face_client c;
    struct rest_rig rig;

    rest_init(&rig, NULL);
    fake_tool(rig_server(&rig.hub, "alpha"), "echo", FAKE_ECHO);
    rest_start(&rig);
    TWO_ERAS(era)
    {
        face_open(&rig.hub, &c, &control, era);
        face_call(&c, "alpha__echo", "{}");
        face_close(&c);
        CHECK_INT(GET(&rig, "/api/calls"), 200);
        CHECK_STR(got("recent.0.caller"), "command line");
        face_open(&rig.hub, &c, &external, era);
        face_call(&c, "external_call_tool", "{\"tool\":\"alpha/echo\"}");
        face_close(&c);
        CHECK_INT(GET(&rig, "/api/calls"), 200);
        CHECK_HAS(got("recent.0.caller"), pb_version());
        CHECK(strncmp(got("recent.0.caller"), "command line", 12) != 0);
    }
    rest_done(&rig);
}

TEST(a_call_over_rest_is_of_rest_unless_it_says_more)
{
    static const struct {
        const char *header, *want;
    } cases[] = {
        { "", "REST" },
        { "X-Patchbay-Client: console\r\n", "console" },
        { "x-patchbay-client: my script/1.0_b-2\r\n", "my script/1.0_b-2" },
        { "X-Patchbay-Client: <b>\r\n", "REST" },
        { "X-Patchbay-Client: \xc3\xa4\r\n", "REST" },
        { "X-Patchbay-Client:\r\n", "REST" },
        { "X-Patchbay-Client: " SIXTY_FOUR "\r\n", SIXTY_FOUR },
        { "X-Patchbay-Client: " SIXTY_FOUR "5\r\n", "REST" },
    };
    struct rest_rig rig;

    rest_init(&rig, NULL);
    fake_tool(rig_server(&rig.hub, "alpha"), "echo", FAKE_ECHO);
    rest_start(&rig);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_BUF struct buf headers = { 0 };

        buf_printf(&headers, "%s%s%s", REST_TOKEN, REST_JSON, cases[i].header);
        CHECK_INT(rest_ask(&rig, "POST /api/mcp-tools/call", NULL, buf_cstr(&headers),
                           "{\"tool\":\"alpha/echo\"}"),
                  200);
        CHECK_INT(GET(&rig, "/api/calls"), 200);
        CHECK_STR(got("recent.0.caller"), cases[i].want);
    }
    rest_done(&rig);
}

/* ---- ids and progress ---- */

/* S0-40 S0-44 S0-45 */
TEST(a_call_with_an_id_can_be_followed_and_cancelled)
{
    struct rest_rig rig;
    struct fake_server *f;
    struct line events, call;
    char big[1024];

    rest_init(&rig, NULL);
    fake_tool(f = rig_server(&rig.hub, "alpha"), "hang", FAKE_HANG);
    rest_start(&rig);
    listen_to(&rig, &events, "/api/events");
    begin_call(&rig, &call, f, "X-Patchbay-Client: console\r\n",
               "{\"tool\":\"alpha/hang\",\"id\":\"" UUID_A "\"}");
    line_until(&events, "\"type\":\"toolCallStarted\"");
    line_until(&events, "\"request_id\":\"" UUID_A "\",\"tool\":\"hang\",\"method\":\"tools/call\","
                        "\"client\":\"console\"}");
    CHECK_INT(GET(&rig, "/api/calls"), 200);
    CHECK_STR(got("calls.0.id"), UUID_A);
    CHECK_STR(got("calls.0.client"), "console");
    CHECK_STR(got("calls.0.progress"), "");
    CHECK_STR(got("calls.0.total"), "");
    CHECK_STR(got("calls.0.message"), "");
    request_progress(fake_held(f, 0), 0, 10, NULL);
    line_until(&events, "\"progress\":0,\"total\":10}");
    CHECK_INT(GET(&rig, "/api/calls"), 200);
    CHECK_STR(got("calls.0.progress"), "0");
    CHECK_STR(got("calls.0.total"), "10");
    CHECK_STR(got("calls.0.message"), "");
    request_progress(fake_held(f, 0), 3, 10, "reading");
    line_until(&events, "\"progress\":3,\"total\":10,\"message\":\"reading\"}");
    CHECK_INT(GET(&rig, "/api/calls"), 200);
    CHECK_STR(got("calls.0.progress"), "3");
    CHECK_STR(got("calls.0.message"), "reading");
    /* The bound of what is kept of it. */
    memset(big, 'x', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    request_progress(fake_held(f, 0), 4, 10, big);
    line_until(&events, "\"progress\":4");
    CHECK_INT(GET(&rig, "/api/calls"), 200);
    CHECK_INT(strlen(got("calls.0.message")), LINK_PROGRESS_TEXT_MAX);

    CHECK_INT(POST(&rig, "/api/calls/" UUID_A "/cancel", ""), 200);
    CHECK_INT(line_answer(&call), 502);
    CHECK_STR(got("code"), "call_cancelled");
    line_until(&events, "\"client\":\"console\",\"duration\":0,\"reason\":\"userRequested\"}");
    CHECK_INT(f->cancellations, 1);
    CHECK_INT(POST(&rig, "/api/calls/" UUID_A "/cancel", ""), 404);
    line_close(&call);
    line_close(&events);
    rest_done(&rig);
}

TEST(without_an_id_no_progress_is_asked_for)
{
    struct rest_rig rig;
    struct fake_server *f;
    struct line call;

    rest_init(&rig, NULL);
    fake_tool(f = rig_server(&rig.hub, "alpha"), "hang", FAKE_HANG);
    rest_start(&rig);
    begin_call(&rig, &call, f, "", "{\"tool\":\"alpha/hang\"}");
    CHECK_INT(fake_held(f, 0)->env.progress_token.n, 0);
    CHECK_INT(GET(&rig, "/api/calls"), 200);
    CHECK_INT(strlen(got("calls.0.id")), UUID_CHARS);
    line_close(&call);
    rest_done(&rig);
}

/* S0-40 */
TEST(an_id_is_a_uuid_and_taken_once_at_a_time)
{
    static const char *const bad[] = {
        "",
        "1",
        "0aF1e2d3-0000-4000-8000-00000000000",
        "0aF1e2d3-0000-4000-8000-00000000000aa",
        "0aF1e2d3-0000-4000-8000-00000000000g",
        "0aF1e2d3-0000-4000-80000-0000000000a",
        "0aF1e2d3 0000-4000-8000-00000000000a",
    };
    static const struct {
        const char *path, *rest;
    } routes[] = {
        { "POST /api/mcp-tools/call", "\"tool\":\"alpha/echo\"" },
        { "POST /api/mcp-prompts/get", "\"prompt\":\"alpha/greet\"" },
        { "POST /api/mcp-resources/read", "\"server\":\"alpha\",\"uri\":\"test://one\"" },
    };
    AUTO_BUF struct buf body = { 0 };
    struct rest_rig rig;
    struct fake_server *f;
    struct line call;

    rest_init(&rig, NULL);
    f = rig_server(&rig.hub, "alpha");
    fake_tool(f, "hang", FAKE_HANG);
    fake_tool(f, "echo", FAKE_ECHO);
    fake_prompt(f, "greet", "hello");
    fake_resource(f, "test://one", "1");
    rest_start(&rig);
    begin_call(&rig, &call, f, "", "{\"tool\":\"alpha/hang\",\"id\":\"" UUID_A "\"}");
    for (size_t i = 0; i < ARRAY_LEN(routes); i++) {
        for (size_t k = 0; k < ARRAY_LEN(bad); k++) {
            body.n = 0;
            buf_printf(&body, "{%s,\"id\":\"%s\"}", routes[i].rest, bad[k]);
            CHECK_INT(rest_send(&rig, routes[i].path, buf_cstr(&body)), 400);
            CHECK_STR(got("error"), "invalid_request");
            CHECK_HAS(got("message"), "id: expected a UUID");
        }
        body.n = 0;
        buf_printf(&body, "{%s,\"id\":\"%s\"}", routes[i].rest, UUID_A);
        CHECK_INT(rest_send(&rig, routes[i].path, buf_cstr(&body)), 409);
        CHECK_STR(got("error"), "duplicate_call");
        CHECK_STR(got("id"), UUID_A);
        CHECK_HAS(got("next"), "/api/calls/" UUID_A "/cancel");
        body.n = 0;
        buf_printf(&body, "{%s,\"id\":\"%s\"}", routes[i].rest, UUID_B);
        CHECK_INT(rest_send(&rig, routes[i].path, buf_cstr(&body)), 200);
        CHECK_INT(GET(&rig, "/api/calls"), 200);
        CHECK_STR(got("recent.0.id"), UUID_B); /* it has ended: the id may be used again */
    }
    fake_release(f, 0, "done");
    CHECK_INT(line_answer(&call), 200);
    line_close(&call);
    rest_done(&rig);
}

TEST(a_call_that_waits_for_its_server_has_its_id_too)
{
    struct rest_rig rig;
    struct fake_server *f;
    struct line call;

    rest_init(&rig, NULL);
    f = rig_server(&rig.hub, "alpha");
    fake_tool(f, "echo", FAKE_ECHO);
    f->connect = FAKE_CONNECT_HANG;
    rest_start(&rig);
    line_call(&rig, &call, "{\"tool\":\"alpha/echo\",\"id\":\"" UUID_A "\"}");
    fakes_settle(&rig.hub.fakes);
    CHECK_INT(POST(&rig, "/api/mcp-tools/call", "{\"tool\":\"alpha/echo\",\"id\":\"" UUID_A "\"}"),
              409);
    CHECK_INT(POST(&rig, "/api/calls/" UUID_B "/cancel", ""), 404);
    CHECK_INT(POST(&rig, "/api/calls/" UUID_A "/cancel", ""), 200);
    CHECK_INT(line_answer(&call), 502);
    CHECK_STR(got("code"), "call_cancelled");
    CHECK_INT(f->calls, 0);
    line_close(&call);
    rest_done(&rig);
}

/* ---- how calls ended ---- */

/* S0-42 S0-46 */
TEST(calls_that_have_ended_are_listed_newest_first)
{
    struct rest_rig rig;
    struct fake_server *f;
    struct line call;

    rest_init(&rig, NULL);
    f = rig_server(&rig.hub, "alpha");
    fake_tool(f, "echo", FAKE_ECHO);
    fake_tool(f, "hang", FAKE_HANG);
    fake_tool(f, "bad", FAKE_ERROR);
    rest_start(&rig);
    CHECK_INT(GET(&rig, "/api/calls"), 200);
    CHECK_STR(rest_body, "{\"calls\":[],\"recent\":[],\"total\":0,\"recorded\":false}\n");
    CHECK_INT(POST(&rig, "/api/mcp-tools/call", "{\"tool\":\"alpha/echo\"}"), 200);
    CHECK_INT(POST(&rig, "/api/mcp-tools/call", "{\"tool\":\"alpha/bad\"}"), 502);
    begin_call(&rig, &call, f, "", "{\"tool\":\"alpha/hang\",\"timeout_s\":0.5}");
    loop_advance(rig.hub.fakes.loop, 500);
    CHECK_INT(line_answer(&call), 504);
    line_close(&call);
    begin_call(&rig, &call, f, "", "{\"tool\":\"alpha/hang\"}");
    loop_advance(rig.hub.fakes.loop, 250);
    line_close(&call); /* who asked is gone */
    begin_call(&rig, &call, f, "", "{\"tool\":\"alpha/hang\"}");
    fake_break(f, "gone");
    CHECK_INT(line_answer(&call), 503);
    line_close(&call);
    CHECK_INT(GET(&rig, "/api/calls"), 200);
    CHECK_STR(got("recent.0.status"), "failed");
    CHECK_STR(got("recent.0.note"), "serverDisconnected");
    CHECK_STR(got("recent.1.status"), "cancelled");
    CHECK_STR(got("recent.1.note"), "userRequested");
    CHECK_STR(got("recent.1.duration"), "0.25");
    CHECK_STR(got("recent.2.status"), "timeout");
    CHECK_STR(got("recent.2.duration"), "0.5");
    CHECK_STR(got("recent.3.tool"), "bad");
    CHECK_STR(got("recent.3.status"), "error");
    CHECK_STR(got("recent.3.note"), "");
    CHECK_STR(got("recent.4.server"), "alpha");
    CHECK_STR(got("recent.4.method"), "tools/call");
    CHECK_STR(got("recent.4.tool"), "echo");
    CHECK_STR(got("recent.4.name"), "alpha/echo");
    CHECK_STR(got("recent.4.caller"), "REST");
    CHECK_STR(got("recent.4.status"), "success");
    CHECK_STR(got("recent.5"), "");
    CHECK_STR(got("total"), "5");
    CHECK_STR(got("next"), "");
    CHECK_STR(got("recorded"), "false");
    /* It began before it ended. */
    CHECK(strtod(got("recent.2.queued_at"), NULL) + 0.5 <=
          strtod(got("recent.1.queued_at"), NULL) + 1e-6);
    CHECK_INT(GET(&rig, "/api/calls?limit=2"), 200);
    CHECK_STR(got("recent.1.note"), "userRequested");
    CHECK_STR(got("next"), "4");
    CHECK_STR(got("recent.2"), "");
    CHECK_INT(GET(&rig, "/api/calls?limit=0"), 200);
    CHECK_STR(got("recent"), "[]");
    CHECK_INT(GET(&rig, "/api/calls?limit=x"), 400);
    rest_done(&rig);
}

static void start_call(struct rest_rig *w, struct span params, const char *subject,
                       struct fake_reply *a)
{
    struct pb_error err;
    uint64_t id;

    CHECK_INT(hub_call(w->hub.hub,
                       &(struct call_spec){ .server = "alpha",
                                            .method = "tools/call",
                                            .params = params,
                                            .subject = span_of(subject),
                                            .reply = fake_on_reply,
                                            .ctx = a },
                       &id, &err),
              0);
}

static void call_once(struct rest_rig *w, const char *subject)
{
    struct fake_reply a = { 0 };

    start_call(w, SPAN("{\"name\":\"echo\"}"), subject, &a);
    FAKES_UNTIL(&w->hub.fakes, a.count);
    fake_reply_done(&a);
}

TEST(so_many_calls_under_way_are_listed_and_all_are_counted)
{
    struct rest_rig rig;
    struct fake_reply a = { 0 };

    rest_init(&rig, NULL);
    fake_tool(rig_server(&rig.hub, "alpha"), "hang", FAKE_HANG);
    rest_start(&rig);
    for (int i = 0; i < CONTROL_CALLS_MAX + 1; i++)
        start_call(&rig, SPAN("{\"name\":\"hang\"}"), "hang", &a);
    CHECK_INT(GET(&rig, "/api/calls"), 200);
    CHECK_INT(count(rest_body, "\"subject\":\"hang\""), CONTROL_CALLS_MAX);
    CHECK_INT(GET(&rig, "/api/status"), 200);
    CHECK_STR(got("in_flight"), "1001");
    rest_done(&rig);
    fake_reply_done(&a);
}

TEST(so_many_calls_are_kept_and_not_one_more)
{
    static const int at[] = { 1,
                              15,
                              16,
                              17,
                              REST_RECENT_MAX - 1,
                              REST_RECENT_MAX,
                              REST_RECENT_MAX + 1,
                              REST_RECENT_MAX * 2 + 7 };
    struct rest_rig rig;
    int made = 0;

    rest_init(&rig, NULL);
    fake_tool(rig_server(&rig.hub, "alpha"), "echo", FAKE_ECHO);
    rest_start(&rig);
    for (size_t i = 0; i < ARRAY_LEN(at); i++) {
        int kept = at[i] < REST_RECENT_MAX ? at[i] : REST_RECENT_MAX;
        char want[32], last[32];

        while (made < at[i]) {
            char subject[32];

            snprintf(subject, sizeof subject, "call %d", made++);
            call_once(&rig, subject);
        }
        CHECK_INT(GET(&rig, "/api/calls?limit=1000"), 200);
        CHECK_INT(count(rest_body, "\"status\":"), kept);
        snprintf(want, sizeof want, "call %d", made - 1);
        CHECK_STR(got("recent.0.tool"), want);
        snprintf(want, sizeof want, "call %d", made - kept);
        snprintf(last, sizeof last, "recent.%d.tool", kept - 1);
        CHECK_STR(got(last), want);
    }
    rest_done(&rig);
}

TEST(a_long_subject_is_cut_and_says_so)
{
    static const size_t lengths[] = { REST_SUBJECT_MAX, REST_SUBJECT_MAX + 1,
                                      REST_SUBJECT_MAX * 100 };
    struct rest_rig rig;

    rest_init(&rig, NULL);
    fake_tool(rig_server(&rig.hub, "alpha"), "echo", FAKE_ECHO);
    rest_start(&rig);
    for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
        AUTO_FREE char *subject = mem_zero(lengths[i] + 1);

        memset(subject, 's', lengths[i]);
        call_once(&rig, subject);
        CHECK_INT(GET(&rig, "/api/calls"), 200);
        CHECK_INT(strlen(got("recent.0.tool")), REST_SUBJECT_MAX);
        CHECK_INT(strstr(got("recent.0.tool"), "s…") != NULL, i > 0);
        CHECK_STR(got("recent.0.caller"), ""); /* nobody said who asks */
    }
    rest_done(&rig);
}

/* ---- toasts ---- */

/* S1-127 S1-128 S1-129 */
TEST(what_happens_to_a_server_passes_by_as_a_toast)
{
    struct rest_rig rig;
    struct fake_server *f;
    struct line all, some;

    rest_init(&rig, NULL);
    f = rig_server(&rig.hub, "github");
    fake_tool(f, "echo", FAKE_ECHO);
    rig_spec_of(&rig.hub, "github")->display_name = "GitHub";
    listen_to(&rig, &all, "/api/events");
    listen_to(&rig, &some, "/api/events?server=github&types=toast");
    rest_start(&rig);
    line_until(&all, "event: toast\n");
    line_until(&all, "\"text\":\"GitHub MCP connected.\",\"level\":\"success\",\"spinner\":false,"
                     "\"dismisses\":true}");
    CHECK(strstr(buf_cstr(&all.in), "\"to\":{\"state\":\"connected\"") <
          strstr(buf_cstr(&all.in), "event: toast"));
    CHECK_HAS(buf_cstr(&all.in), "data: {\"type\":\"toast\",\"server\":\"github\",\"at\":");
    f->connect = FAKE_CONNECT_FAIL;
    f->connect_text = "no";
    fake_break(f, "gone");
    line_until(&all, "\"text\":\"GitHub MCP disconnected. Reconnecting...\",\"level\":\"warning\","
                     "\"spinner\":true,\"dismisses\":false}");
    for (int i = 0; link_state(rig_link(&rig.hub, "github")) != LINK_FAILED; i++) {
        CHECK(i < 1000);
        loop_advance(rig.hub.fakes.loop, 1000);
        fakes_settle(&rig.hub.fakes);
    }
    line_until(&all, "\"text\":\"GitHub MCP failed to restart. Check settings.\","
                     "\"level\":\"error\",\"spinner\":false,\"dismisses\":false}");
    line_until(&some, "failed to restart");
    CHECK_INT(count(buf_cstr(&some.in), "event: toast\n"), 3); /* not one for each attempt */
    CHECK(!strstr(buf_cstr(&some.in), "serverStateChanged"));
    line_close(&all);
    line_close(&some);
    /* Who wants something else gets none. */
    f->connect = FAKE_CONNECT_OK;
    listen_to(&rig, &some, "/api/events?types=serverStateChanged");
    CHECK_INT(POST(&rig, "/api/servers/github/reconnect", ""), 200);
    line_until(&some, "\"to\":{\"state\":\"connected\"");
    CHECK(!strstr(buf_cstr(&some.in), "toast"));
    line_close(&some);
    rest_done(&rig);
}
