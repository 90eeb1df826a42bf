/* test_http.c - Streamable HTTP: what is refused and how, sessions, batches, the modern era
 * beside them, and the end. */
#include "mcp/registry/registry.h"
#include "mcp/serve/serve.h"
#include "web_rig.h"
#include <malloc.h>

static struct rig rig;
static struct web w;

static void begin(void)
{
    rig_http(&rig, NULL);
    w = web_open(&rig);
}

static void end(void)
{
    web_close(&w);
    rig_close(&rig);
}

static const char *lines(const char *a, const char *b)
{
    return arena_printf(&rig.arena, "%s%s", a, b);
}

/* ---- refusals ----------------------------------------------------------------------------- */

TEST(a_post_that_cannot_be_a_message_is_refused_with_a_reason)
{
    static const struct {
        const char *headers, *body;
        int status;
        const char *has;
    } cases[] = {
        { "Content-Type: text/plain\r\n", WEB_PING, 415, "-32000" },
        { "Content-Type: application/json; charset=utf-16\r\n", WEB_PING, 415, "-32000" },
        { "Content-Type: application/jsonx\r\n", WEB_PING, 415, "-32000" },
        { "Content-Type: multipart/form-data\r\n", WEB_PING, 415, "-32000" },
        { "", WEB_PING, 415, "-32000" },
        { "Content-Type: application/json\r\nAccept: text/html\r\n", WEB_PING, 406, "-32000" },
        { "Content-Type: application/json\r\n", "{", 400, "-32700" },
        { "Content-Type: application/json\r\n", "", 400, "-32700" },
        { "Content-Type: application/json\r\n", "{\"a\":\"\xff\"}", 400, "invalid UTF-8" },
        { "Content-Type: application/json\r\n", "7", 400, "-32600" },
        { "Content-Type: application/json\r\n", "{\"jsonrpc\":\"1.0\",\"id\":9,\"method\":\"x\"}",
          400, "\"id\":9,\"error\":{\"code\":-32600" },
        { "Content-Type: application/json\r\n",
          "{\"jsonrpc\":\"2.0\",\"id\":9,\"id\":8,\"method\":\"x\"}", 400, "-32600" },
        { "Content-Type: application/json\r\n", WEB_PING, 400,
          "Mcp-Session-Id header is required" },
        { "Content-Type: application/json\r\nMcp-Session-Id: nope\r\n", WEB_PING, 404,
          "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32001,\"message\":\"Session not "
          "found\"}}" },
        { "Content-Type: application/json; charset=UTF-8\r\n", WEB_PING, 400, "Session" },
        { "Content-Type: Application/JSON\r\nAccept: */*\r\n", WEB_PING, 400, "Session" },
        /* closes the connection: the last */
        { "Content-Type: application/json\r\nContent-Type: text/plain\r\n", WEB_PING, 400,
          "more than one Content-Type" },
    };

    begin();
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct answer a;

        web_request(&w, "POST", "/mcp", cases[i].headers, cases[i].body);
        a = web_answer(&w);
        if (a.status != cases[i].status || !strstr(a.body, cases[i].has))
            TAP_FAIL("case %zu: %d %s", i, a.status, a.body);
        CHECK_STR(web_header(&w, a.head, "Content-Type"), "application/json");
    }
    end();
}

TEST(other_methods_and_paths_are_refused)
{
    static const struct {
        const char *method, *path;
        int status;
        const char *allow;
    } cases[] = {
        { "PUT", "/mcp", 405, "GET, POST, DELETE" },
        { "OPTIONS", "/mcp", 405, "GET, POST, DELETE" },
        { "PATCH", "/mcp", 405, "GET, POST, DELETE" },
        { "POST", "/", 404, NULL },
        { "POST", "/mcp/", 404, NULL },
        { "POST", "//mcp", 404, NULL },
        { "POST", "/MCP", 404, NULL },
        { "GET", "/mcp/..;/mcp", 404, NULL },
        { "GET", "/%6dcp", 404, NULL },
        { "GET", "/mcp", 406, NULL },
        { "DELETE", "/mcp", 400, NULL },
    };

    begin();
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct answer a;
        const char *allow;

        web_request(&w, cases[i].method, cases[i].path,
                    "Accept: application/json\r\nX-HTTP-Method-Override: POST\r\n", "");
        a = web_answer(&w);
        allow = web_header(&w, a.head, "Allow");
        if (a.status != cases[i].status || (cases[i].allow && strcmp(allow, cases[i].allow) != 0))
            TAP_FAIL("%s %s: %d", cases[i].method, cases[i].path, a.status);
    }
    end();
}

TEST(a_body_over_the_limit_is_refused_before_it_is_read)
{
    struct answer a;
    char head[256];

    begin();
    snprintf(head, sizeof head,
             "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Type: application/json\r\n"
             "Content-Length: %d\r\n\r\n",
             pb_server_port(rig.server), REQUEST_BYTES_MAX + 1);
    web_send_bytes(&w, head, strlen(head));
    a = web_answer(&w);
    CHECK_INT(a.status, 413);
    CHECK_HAS(a.body, "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32000");
    end();
}

TEST(a_body_of_the_limit_is_taken)
{
    AUTO_FREE char *body = mem_alloc(REQUEST_BYTES_MAX + 1);
    static const char start[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"x\":\"";
    struct answer a;
    const char *session;

    begin();
    session = web_session(&w, "2025-11-25");
    memset(body, 'x', REQUEST_BYTES_MAX);
    memcpy(body, start, sizeof start - 1);
    memcpy(body + REQUEST_BYTES_MAX - 2, "\"}", 3);
    a = web_post(&w, session, body);
    CHECK_INT(a.status, 200);
    end();
}

TEST(a_client_may_vanish_at_every_byte_of_its_request)
{
    AUTO_BUF struct buf text = { 0 };
    static const char body[] = RIG_INITIALIZE("2025-11-25");

    begin();
    buf_printf(&text,
               "POST /mcp HTTP/1.1\r\nHost: localhost:%d\r\n" WEB_POST
               "Content-Length: %zu\r\n\r\n%s",
               pb_server_port(rig.server), sizeof body - 1, body);
    for (size_t n = 0; n <= text.n; n++) {
        struct web s = web_open(&rig);

        web_send_bytes(&s, text.p, n);
        web_close(&s);
    }
    CHECK_INT(web_post(&w, "", WEB_PING).status, 400); /* alive, and in its right mind */
    end();
}

TEST(requests_sent_ahead_are_answered_in_their_order)
{
    const char *session;

    begin();
    session = web_session(&w, "2025-11-25");
    for (int i = 0; i < 200; i++)
        web_request(
            &w, "POST", "/mcp", lines(WEB_POST, session),
            arena_printf(&rig.arena, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"ping\"}", i));
    for (int i = 0; i < 200; i++)
        CHECK_STR(web_answer(&w).body,
                  arena_printf(&rig.arena, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{}}", i));
    end();
}

/* ---- sessions ----------------------------------------------------------------------------- */

/* S2-98 */
TEST(a_session_is_opened_used_and_ended)
{
    const char *session;
    struct answer a;

    begin();
    session = web_session(&w, "2025-11-25");
    CHECK_INT(strlen(session), strlen("Mcp-Session-Id: ") + ID_CHARS + 2);
    a = web_post(&w, session, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
    CHECK_INT(a.status, 202);
    CHECK_STR(a.body, "");
    a = web_post(&w, session, WEB_PING);
    CHECK_INT(a.status, 200);
    CHECK_STR(web_header(&w, a.head, "Content-Type"), "application/json");
    CHECK_STR(a.body, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
    CHECK(!web_header(&w, a.head, "Mcp-Session-Id"));
    web_request(&w, "DELETE", "/mcp", session, NULL);
    CHECK_INT(web_answer(&w).status, 204);
    CHECK_INT(web_post(&w, session, WEB_PING).status, 404);
    web_request(&w, "DELETE", "/mcp", session, NULL);
    CHECK_INT(web_answer(&w).status, 404);
    end();
}

TEST(the_version_header_is_checked_within_a_session)
{
    static const struct {
        const char *header;
        int status;
    } cases[] = {
        { "MCP-Protocol-Version: 2025-11-25\r\n", 200 },
        { "MCP-Protocol-Version: 2025-06-18\r\n", 200 },
        { "", 200 },
        { "MCP-Protocol-Version: 1999-01-01\r\n", 400 },
        { "MCP-Protocol-Version: banana\r\n", 400 },
        { "MCP-Protocol-Version: 2025-11-25\r\nMCP-Protocol-Version: 2025-11-25\r\n", 400 },
        /* A modern version without a modern body: told what is missing. */
        { "MCP-Protocol-Version: 2026-07-28\r\n", 400 },
    };
    const char *session;

    begin();
    session = web_session(&w, "2025-11-25");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        if (web_post(&w, lines(session, cases[i].header), WEB_PING).status != cases[i].status)
            TAP_FAIL("%s", cases[i].header);
    end();
}

TEST(a_second_initialize_is_refused)
{
    const char *session;
    struct answer a;

    begin();
    session = web_session(&w, "2025-11-25");
    a = web_post(&w, session, RIG_INITIALIZE("2025-11-25"));
    CHECK_INT(a.status, 400);
    CHECK_HAS(a.body, "-32600");
    a = web_post(&w, "MCP-Protocol-Version: 2026-07-28\r\n", RIG_INITIALIZE("2025-11-25"));
    CHECK_INT(a.status, 400);
    CHECK_HAS(a.body, "-32020");
    end();
}

TEST(a_handshake_that_fails_leaves_no_session)
{
    struct answer a;

    begin();
    a = web_post(&w, "",
                 "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"
                 "\"protocolVersion\":7}}");
    CHECK_HAS(a.body, "\"error\"");
    CHECK(!web_header(&w, a.head, "Mcp-Session-Id"));
    end();
}

TEST(two_clients_with_the_same_ids_get_their_own_answers)
{
    struct web other;
    const char *a, *b;

    begin();
    other = web_open(&rig);
    a = web_session(&w, "2025-11-25");
    b = web_session(&other, "2025-11-25");
    CHECK(strcmp(a, b) != 0);
    for (int i = 0; i < 200; i++) {
        char one[256], two[256];

        snprintf(one, sizeof one, RIG_CALL("%d", "echo", "{\"text\":\"first\"}"), i);
        snprintf(two, sizeof two, RIG_CALL("%d", "echo", "{\"text\":\"second\"}"), i);
        web_request(&w, "POST", "/mcp", lines(WEB_POST, a), one);
        web_request(&other, "POST", "/mcp", lines(WEB_POST, b), two);
        CHECK_HAS(web_answer(&other).body, "\"text\":\"second\"");
        CHECK_HAS(web_answer(&w).body, "\"text\":\"first\"");
    }
    web_close(&other);
    end();
}

TEST(a_session_that_nobody_uses_ends_after_an_hour)
{
    const char *session, *kept;
    struct web held;

    begin();
    session = web_session(&w, "2025-11-25");
    held = web_open(&rig);
    kept = web_session(&held, "2025-11-25");
    web_request(&held, "GET", "/mcp", lines(kept, "Accept: text/event-stream\r\n"), NULL);
    CHECK_INT(web_answer(&held).status, 200);
    loop_advance(rig.loop, MCP_SESSION_IDLE_MS - 1);
    web_close(&w); /* idle connections were closed meanwhile */
    w = web_open(&rig);
    CHECK_INT(web_post(&w, session, WEB_PING).status, 200);
    loop_advance(rig.loop, MCP_SESSION_IDLE_MS - 1);
    web_close(&w);
    w = web_open(&rig);
    CHECK_INT(web_post(&w, session, WEB_PING).status, 200);
    loop_advance(rig.loop, MCP_SESSION_IDLE_MS + 1);
    web_close(&w);
    w = web_open(&rig);
    CHECK_INT(web_post(&w, session, WEB_PING).status, 404);
    /* One that has its stream open is in use. */
    CHECK_INT(web_post(&w, kept, WEB_PING).status, 200);
    web_close(&held);
    end();
}

TEST(sessions_belong_to_the_token_that_opened_them)
{
    /* One listener has one token; two listeners of a server do not share sessions. */
    struct pb_http_options o = PB_HTTP_OPTIONS_INIT;
    const char *session;
    struct web other;

    begin();
    session = web_session(&w, "2025-11-25");
    o.token = "t";
    CHECK_INT(pb_server_http(rig.server, &o, NULL), 0);
    other = web_open(&rig); /* the newest listener */
    CHECK_INT(web_post(&other, lines(session, "Authorization: Bearer t\r\n"), WEB_PING).status,
              404);
    CHECK_INT(web_post(&other, session, WEB_PING).status, 401);
    web_close(&other);
    end();
}

/* ---- batches ------------------------------------------------------------------------------ */

#define PING(id) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"ping\"}"
#define NOTE     "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}"

TEST(batches_are_for_the_one_revision_that_has_them)
{
    const char *session;
    struct answer a;

    begin();
    session = web_session(&w, "2025-03-26");
    a = web_post(&w, session, "[" PING("1") "," NOTE "," PING("\"b\"") ",7]");
    CHECK_INT(a.status, 200);
    CHECK_STR(a.body, "[{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}},{\"jsonrpc\":\"2.0\",\"id\":"
                      "\"b\",\"result\":{}},{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":"
                      "-32600,\"message\":\"a message must be an object\"}}]");
    CHECK_INT(web_post(&w, session, "[" NOTE "," NOTE "]").status, 202);
    a = web_post(&w, session, "[]");
    CHECK_INT(a.status, 400);
    CHECK_HAS(a.body, "-32600");
    session = web_session(&w, "2025-06-18");
    a = web_post(&w, session, "[" PING("1") "]");
    CHECK_INT(a.status, 400);
    CHECK_HAS(a.body, "-32600");
    end();
}

TEST(a_batch_that_has_something_to_tell_becomes_a_stream)
{
    const char *session;

    begin();
    session = web_session(&w, "2025-03-26");
    CHECK(!web_post(&w, session, "[" PING("1") "," WEB_CALL("2", "steps") "]").body);
    CHECK_HAS(web_event(&w), "data: [{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}]");
    CHECK_HAS(web_event(&w), "\"progress\":1");
    CHECK_HAS(web_event(&w), "\"progress\":2");
    CHECK_HAS(web_event(&w), "done");
    CHECK(!web_event(&w));
    end();
}

/* Each holds an answer that waits for a tool which does not end. */
TEST(the_answers_that_wait_for_their_batches_have_a_bound_together)
{
    enum { BIG = 60000000, FIT = RPC_BATCHES_ANSWERS_MAX / BIG };
    struct web posts[FIT + 1];
    struct pb_call *calls[FIT + 1];
    const char *session;

    begin();
    session = web_session(&w, "2025-03-26");
    for (int i = 0; i <= FIT; i++) {
        posts[i] = web_open(&rig);
        web_request(&posts[i], "POST", "/mcp", arena_printf(&rig.arena, WEB_POST "%s", session),
                    arena_printf(&rig.arena,
                                 "[" RIG_CALL("%d", "later", "{}") "," RIG_CALL("%d", "big",
                                                                                "{\"n\":%d}") "]",
                                 2 * i + 1, 2 * i + 2, BIG));
        RIG_UNTIL(&rig, rig.held);
        rig_settle(&rig);
        calls[i] = TAKE(rig.held);
    }
    for (int i = 0; i <= FIT; i++) {
        struct answer a;

        rig.held = calls[i];
        rig_finish(&rig, "late");
        a = web_answer(&posts[i]);
        CHECK_INT(a.status, 200);
        CHECK_INT(strlen(a.body) > BIG, i < FIT);
        if (i == FIT)
            CHECK_HAS(a.body, "Too many answers wait for the rest of their batches");
        web_close(&posts[i]);
    }
    CHECK_INT(
        strlen(web_post(&w, session,
                        arena_printf(&rig.arena, "[" RIG_CALL("2", "big", "{\"n\":%d}") "]", BIG))
                   .body) > BIG,
        1);
    end();
}

TEST(a_batch_with_anything_modern_in_it_is_refused)
{
    const char *session;
    struct answer a;

    begin();
    session = web_session(&w, "2025-03-26");
    a = web_post(&w, session, "[" PING("1") "," WEB_MODERN("2", "tools/list", "") "]");
    CHECK_INT(a.status, 400);
    CHECK_HAS(a.body, "-32600");
    a = web_post(&w, lines(session, "MCP-Protocol-Version: 2026-07-28\r\n"), "[" PING("1") "]");
    CHECK_INT(a.status, 400);
    CHECK_HAS(a.body, "-32600");
    end();
}

/* ---- the modern era ----------------------------------------------------------------------- */

TEST(a_modern_request_needs_no_session)
{
    struct answer a;

    begin();
    a = web_post(&w, WEB_MODERN_HEADERS("tools/list"), WEB_MODERN("1", "tools/list", ""));
    CHECK_INT(a.status, 200);
    CHECK_HAS(a.body, "\"resultType\":\"complete\"");
    CHECK(!web_header(&w, a.head, "Mcp-Session-Id"));
    /* The headers must say what the body says. */
    a = web_post(&w, WEB_MODERN_HEADERS("tools/call"), WEB_MODERN("\"x\"", "tools/list", ""));
    CHECK_INT(a.status, 400);
    CHECK_HAS(a.body, "\"id\":\"x\",\"error\":{\"code\":-32020");
    a = web_post(&w, WEB_MODERN_HEADERS("ping"), WEB_MODERN("1", "ping", ""));
    CHECK_INT(a.status, 404);
    CHECK_HAS(a.body, "-32601");
    a = web_post(&w, WEB_MODERN_HEADERS("tools/list"), PING("4"));
    CHECK_INT(a.status, 400);
    CHECK_HAS(a.body, "-32602");
    a = web_post(&w, WEB_MODERN_HEADERS("x"), "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
    CHECK_INT(a.status, 400);
    CHECK_HAS(a.body, "-32600");
    CHECK_INT(web_post(&w, WEB_MODERN_HEADERS("x"), NOTE).status, 202);
    end();
}

/* Of two, one reader takes the first and another the last. */
TEST(a_header_of_the_protocol_that_comes_twice_is_refused)
{
    static const struct {
        const char *headers;
        const char *name;
    } cases[] = {
        { WEB_MODERN_CALL_HEADERS("fast") "Mcp-Name: echo\r\n", "Mcp-Name" },
        { WEB_MODERN_CALL_HEADERS("fast") "mcp-name: other\r\n", "Mcp-Name" },
        { WEB_MODERN_CALL_HEADERS("fast") "Mcp-Method: tools/call\r\n", "Mcp-Method" },
        { WEB_MODERN_CALL_HEADERS("fast") "MCP-Protocol-Version: 2026-07-28\r\n",
          "MCP-Protocol-Version" },
        { WEB_MODERN_CALL_HEADERS("fast") "Mcp-Param-X: 1\r\nAccept: */*\r\nMcp-Param-X: 1\r\n",
          "Mcp-Param-X" },
        { WEB_MODERN_CALL_HEADERS("fast") "Mcp-Session-Id: 1\r\nMcp-Session-Id: 1\r\n",
          "Mcp-Session-Id" },
    };
    struct answer a;

    begin();
    a = web_post(&w, WEB_MODERN_CALL_HEADERS("fast"), WEB_MODERN_CALL("fast"));
    CHECK_INT(a.status, 200);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        a = web_post(&w, cases[i].headers, WEB_MODERN_CALL("fast"));
        if (a.status != 400 || !strstr(a.body, cases[i].name))
            TAP_FAIL("%s is answered %d", cases[i].headers, a.status);
        CHECK_HAS(a.body, "comes more than once");
        CHECK_HAS(a.body, "\"id\":1");
    }
    web_request(&w, "GET", "/mcp", "Mcp-Session-Id: a\r\nMcp-Session-Id: b\r\n", NULL);
    CHECK_INT(web_answer(&w).status, 400);
    web_request(&w, "DELETE", "/mcp", "Mcp-Session-Id: a\r\nMcp-Session-Id: b\r\n", NULL);
    CHECK_INT(web_answer(&w).status, 400);
    end();
}

TEST(a_modern_stream_has_no_ids)
{
    begin();
    CHECK(!web_post(&w, WEB_MODERN_CALL_HEADERS("steps"), WEB_MODERN_CALL("steps")).body);
    CHECK_STR(web_event(&w), "event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":"
                             "\"notifications/progress\",\"params\":{\"progressToken\":\"p\","
                             "\"progress\":1,\"total\":2}}");
    CHECK_HAS(web_event(&w), "\"progress\":2");
    CHECK_HAS(web_event(&w), "\"result\":{");
    CHECK(!web_event(&w));
    end();
}

TEST(a_modern_client_cancels_by_going_away)
{
    struct web s;

    begin();
    s = web_open(&rig);
    web_request(&s, "POST", "/mcp", lines(WEB_POST, WEB_MODERN_CALL_HEADERS("later")),
                WEB_MODERN_CALL("later"));
    RIG_UNTIL(&rig, rig.held);
    CHECK(!pb_call_cancelled(rig.held));
    web_close(&s);
    CHECK(pb_call_cancelled(rig.held));
    rig_finish(&rig, "too late");
    /* And also when it is a stream already. */
    s = web_open(&rig);
    web_request(&s, "POST", "/mcp", lines(WEB_POST, WEB_MODERN_CALL_HEADERS("later")),
                WEB_MODERN_CALL("later"));
    RIG_UNTIL(&rig, rig.held);
    pb_call_progress(rig.held, 1, 0, NULL);
    CHECK_INT(web_answer(&s).status, 200);
    web_close(&s);
    CHECK(pb_call_cancelled(rig.held));
    rig_finish(&rig, "too late");
    end();
}

TEST(get_and_delete_mean_nothing_to_modern_clients)
{
    struct answer a;

    begin();
    web_request(&w, "GET", "/mcp",
                "Accept: text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n", NULL);
    a = web_answer(&w);
    CHECK_INT(a.status, 405);
    CHECK_STR(web_header(&w, a.head, "Allow"), "POST");
    web_request(&w, "DELETE", "/mcp", "MCP-Protocol-Version: 2026-07-28\r\n", NULL);
    CHECK_INT(web_answer(&w).status, 405);
    end();
}

TEST(a_modern_client_listens_on_the_stream_of_its_request)
{
    struct web s;
    static const char listen[] = WEB_MODERN("\"sub\"", "subscriptions/listen",
                                            "\"notifications\":{\"toolsListChanged\":true},");

    begin();
    s = web_open(&rig);
    CHECK(!web_post(&s, WEB_MODERN_HEADERS("subscriptions/listen"), listen).body);
    CHECK_HAS(web_event(&s), "notifications/subscriptions/acknowledged");
    CHECK_INT(pb_server_remove_tool(rig.server, "big", NULL), 0);
    CHECK_HAS(web_event(&s), "notifications/tools/list_changed");
    loop_advance(rig.loop, SSE_KEEPALIVE_MS);
    CHECK_STR(web_event(&s), ":");
    web_close(&s);
    web_close(&w); /* it had been silent for too long */
    w = web_open(&rig);
    web_request(&w, "POST", "/mcp",
                "Content-Type: application/json\r\nAccept: application/json\r\n" WEB_MODERN_HEADERS(
                    "subscriptions/listen"),
                listen);
    CHECK_INT(web_answer(&w).status, 406);
    end();
}

/* ---- beside stdio ------------------------------------------------------------------------- */

TEST(the_end_of_stdio_leaves_http_alone)
{
    int in[2], out[2];

    begin();
    CHECK_INT(pipe2(in, O_CLOEXEC), 0);
    CHECK_INT(pipe2(out, O_CLOEXEC), 0);
    CHECK_INT(pb_server_stdio(rig.server, in[0], out[1], NULL), 0);
    close(in[1]);
    rig_settle(&rig);
    CHECK_HAS(rig.log, "Client disconnected (EOF)");
    CHECK_INT(web_post(&w, web_session(&w, "2025-11-25"), WEB_PING).status, 200);
    end();
    close(in[0]);
    close(out[0]);
    close(out[1]);
}

/* ---- the end ------------------------------------------------------------------------------ */

TEST(stopping_answers_what_runs_and_ends_the_streams)
{
    const char *session;
    struct web s, call, listener;

    begin();
    s = web_open(&rig);
    call = web_open(&rig);
    listener = web_open(&rig);
    session = web_session(&w, "2025-06-18");
    web_own_stream(&s, session);
    CHECK(!web_post(&listener, WEB_MODERN_HEADERS("subscriptions/listen"),
                    WEB_MODERN("9", "subscriptions/listen",
                               "\"notifications\":{\"toolsListChanged\":true},"))
               .body);
    CHECK_HAS(web_event(&listener), "acknowledged");
    web_request(&call, "POST", "/mcp", lines(WEB_POST, session), WEB_CALL("3", "later"));
    RIG_UNTIL(&rig, rig.held);
    pb_server_stop(rig.server);
    CHECK_HAS(web_answer(&call).body, "Request cancelled");
    CHECK(!web_event(&s));
    CHECK_HAS(web_event(&listener), "\"id\":9,\"result\"");
    CHECK(!web_event(&listener));
    rig_finish(&rig, "too late");
    web_close(&s);
    web_close(&call);
    web_close(&listener);
    web_close(&w);
    for (int i = 0; i < 100 && strcmp(server_state(rig.server), "closed") != 0; i++)
        loop_advance(rig.loop, 10);
    CHECK_STR(server_state(rig.server), "closed");
    CHECK(rig.clock.now < MCP_STOP_MS);
    rig_close(&rig);
}

TEST(a_server_can_be_freed_in_the_middle_of_everything)
{
    const char *session;
    struct web s, call, modern;

    begin();
    s = web_open(&rig);
    call = web_open(&rig);
    modern = web_open(&rig);
    session = web_session(&w, "2025-11-25");
    web_own_stream(&s, session);
    web_request(&call, "POST", "/mcp", lines(WEB_POST, session), WEB_CALL("3", "wait"));
    web_request(&modern, "POST", "/mcp", lines(WEB_POST, WEB_MODERN_CALL_HEADERS("wait")),
                WEB_MODERN_CALL("wait"));
    RIG_UNTIL(&rig, atomic_load(&rig_waiting) == 2);
    pb_server_free(rig.server);
    loop_free(rig.loop);
    CHECK_INT(atomic_load(&rig_woken), 2);
    pb_log_to(NULL, NULL, PB_LOG_INFO);
    close(s.fd);
    close(call.fd);
    close(modern.fd);
    close(w.fd);
    buf_done(&s.in);
    buf_done(&s.body);
    buf_done(&w.in);
    buf_done(&call.in);
    buf_done(&modern.in);
    arena_done(&rig.arena);
}

/* The price of a session that rests. Memory is counted as the allocator hands it out. */
TEST(an_idle_session_costs_little)
{
    enum { SESSIONS = 1000, BYTES_EACH = 2048 };
    size_t before, after;

    begin();
    web_session(&w, "2025-11-25");
    before = mallinfo2().uordblks;
    for (int i = 0; i < SESSIONS; i++) {
        web_session(&w, "2025-11-25");
        arena_reset(&rig.arena);
    }
    after = mallinfo2().uordblks;
    if (after - before > (size_t)SESSIONS * BYTES_EACH)
        TAP_FAIL("%zu bytes each", (after - before) / SESSIONS);
    end();
}

/* An id of so many bytes, with its quotes. */
static const char *long_id(size_t n)
{
    AUTO_BUF struct buf id = { 0 };

    buf_byte(&id, '"');
    while (id.n < n - 1)
        buf_byte(&id, 'i');
    buf_byte(&id, '"');
    return arena_dup(&rig.arena, buf_span(&id));
}

TEST(ids_are_carried_up_to_the_bound_and_longer_ones_refused_for_their_length)
{
    static const size_t sizes[] = { RPC_ID_BYTES_MAX, RPC_ID_BYTES_MAX + 1,
                                    RPC_ID_BYTES_MAX * 100 };
    const char *session;

    begin();
    session = web_session(&w, "2025-06-18");
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        const char *id = long_id(sizes[i]);
        const char *modern = arena_printf(&rig.arena, WEB_MODERN("%s", "tools/list", ""), id);
        const char *legacy =
            arena_printf(&rig.arena, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"ping\"}", id);
        const char *carried =
            arena_printf(&rig.arena, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":", id);
        struct answer answers[] = { web_post(&w, WEB_MODERN_HEADERS("tools/list"), modern),
                                    web_post(&w, session, legacy) };

        for (size_t j = 0; j < ARRAY_LEN(answers); j++) {
            bool fits = sizes[i] <= RPC_ID_BYTES_MAX;

            CHECK_INT(answers[j].status, fits ? 200 : 400);
            CHECK_HAS(answers[j].body, fits ? carried : "id is longer than 4096 bytes");
            CHECK(fits || strlen(answers[j].body) < 500);
        }
    }
    end();
}
