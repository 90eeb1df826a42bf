/* The hub over HTTP: who is let in, what is found where, and how it ends. */
#include "face/listen/listen.h"
#include "face/listen/serve.h"
#include "face/rest/rest.h"
#include "face/rest_rig.h"
#include "hub/hub/hub.h"

#define TOKEN REST_TOKEN
#define MODERN                                                                                   \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                     \
    "\"io.modelcontextprotocol/clientCapabilities\":{},\"io.modelcontextprotocol/clientInfo\":{" \
    "\"name\":\"t\",\"version\":\"1\"}}"
#define MODERN_HEADERS                                                                   \
    TOKEN "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/list\r\nContent-Type: " \
          "application/json\r\nAccept: application/json, text/event-stream\r\n"
#define LIST "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{" MODERN "}}"

static void serve_init(struct rest_rig *w, const struct serve_options *opts)
{
    rest_init(w, opts);
    fake_tool(rig_server(&w->hub, "alpha"), "echo", FAKE_ECHO);
    fake_tool(rig_server(&w->hub, "beta"), "hang", FAKE_HANG);
    rest_start(w);
    rig_modes(&w->hub,
              "{\"few\":{\"filter\":{\"servers\":[\"alpha\"]}},\"a b\":{\"filter\":\"none\"},"
              "\"sse\":{\"filter\":{\"servers\":[\"beta\"]}}}");
}

/* The status; `text` (may be NULL) gets the whole answer, head and all. For answers that have an
 * end. */
static int ask(struct rest_rig *w, const char *line, const char *host, const char *headers,
               const char *body, const char **text)
{
    static char answer[65536];
    struct line s;
    char all[1024];

    line_open(w, &s);
    snprintf(all, sizeof all, "%sConnection: close\r\n", headers);
    line_ask(&s, line, host, all, body);
    line_until(&s, "\r\n\r\n");
    while (!s.over)
        line_turn(&s);
    snprintf(answer, sizeof answer, "%s", buf_cstr(&s.in));
    line_close(&s);
    if (text)
        *text = answer;
    return (int)strtol(answer + 9, NULL, 10);
}

/* ---- who is let in ---- */

static const char *const routes[] = {
    "GET /mcp",
    "POST /mcp",
    "DELETE /mcp",
    "POST /mcp/alpha",
    "GET /sse",
    "POST /mcp/mode/few",
    "GET /mcp/sse",
    "POST /messages",
    "GET /mcp/alpha/sse",
    "POST /mcp/messages",
    "POST /mcp/mode/few/messages",
    "GET /nothing",
    "POST /mcp/none",
    "GET /api/mcp-clients",
    "POST /api/mcp-tools/call",
    "GET /api/events",
    "GET /metrics",
    "POST /api/none",
    "OPTIONS /mcp",
};

/* In this order, on every route there is and is not: the name, the page, the token. */
TEST(every_route_asks_for_host_origin_and_token_first)
{
    static const struct {
        const char *host, *headers;
        int status;
    } cases[] = {
        { "evil.example", TOKEN, 403 },
        { "127.0.0.1:1", TOKEN, 403 },
        { "", TOKEN, 403 },
        { NULL, TOKEN "Origin: http://evil.example\r\n", 403 },
        { NULL, TOKEN "Origin: null\r\n", 403 },
        { "evil.example", "", 403 },
        { NULL, "Origin: http://evil.example\r\n", 403 },
        { NULL, "", 401 },
        { NULL, "Authorization: Bearer wrong\r\n", 401 },
        { NULL, "Authorization: Bearer secret2\r\n", 401 },
        { NULL, "Authorization: Basic secret\r\n", 401 },
        { NULL, "Authorization: Bearer \r\n", 401 },
    };
    struct rest_rig w;
    const char *text;

    serve_init(&w, NULL);
    for (size_t r = 0; r < ARRAY_LEN(routes); r++) {
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
            int status = ask(&w, routes[r], cases[i].host, cases[i].headers, "", &text);

            if (status != cases[i].status)
                TAP_FAIL("%s with %s %s is %d", routes[r], cases[i].host, cases[i].headers, status);
            CHECK(!strstr(text, "Access-Control-"));
            CHECK(!strstr(text, "secret"));
        }
        loop_advance(w.hub.fakes.loop, 1000); /* who guesses has to wait */
    }
    rest_done(&w);
}

/* Nobody is let in by the length of what he would say. The head is all that is sent: the answer
 * cannot have waited for the body. */
TEST(a_body_is_not_waited_for_before_the_guard_has_agreed)
{
    static const char *const posts[] = { "POST /mcp", "POST /mcp/alpha", "POST /messages",
                                         "POST /api/mcp-tools/call", "POST /nothing" };
    static const char *const lengths[] = { "Content-Length: 10000000\r\n",
                                           "Transfer-Encoding: chunked\r\n" };
    static const struct {
        const char *host, *headers;
        int status;
    } cases[] = {
        { "evil.example", TOKEN, 403 },
        { NULL, TOKEN "Origin: http://evil.example\r\n", 403 },
        { NULL, "", 401 },
        { NULL, "Authorization: Bearer wrong\r\n", 401 },
    };
    struct line s;
    struct rest_rig w;

    serve_init(&w, NULL);
    for (size_t i = 0; i < ARRAY_LEN(posts) * ARRAY_LEN(lengths) * ARRAY_LEN(cases); i++) {
        size_t c = i % ARRAY_LEN(cases), l = i / ARRAY_LEN(cases) % ARRAY_LEN(lengths);
        char head[256];

        snprintf(head, sizeof head, "%sExpect: 100-continue\r\n%s", cases[c].headers, lengths[l]);
        line_open(&w, &s);
        line_head(&s, posts[i / ARRAY_LEN(cases) / ARRAY_LEN(lengths)], cases[c].host, head);
        line_until(&s, "\r\n\r\n");
        CHECK_INT(strtol(buf_cstr(&s.in) + 9, NULL, 10), cases[c].status);
        CHECK(strstr(buf_cstr(&s.in), "\r\nConnection: close\r\n"));
        CHECK(!strstr(buf_cstr(&s.in), "100 Continue"));
        line_close(&s);
    }
    rest_done(&w);
}

/* What needs no token takes no body either, or it would be the way around. */
TEST(what_is_sent_to_where_nothing_is_taken_is_small)
{
    static const char *const places[] = { "GET /health",    "POST /health",    "POST /",
                                          "POST /docs",     "GET /api/status", "GET /mcp",
                                          "DELETE /mcp",    "POST /api/none",  "POST /nothing",
                                          "GET /api/events" };
    struct line s;
    struct rest_rig w;

    serve_init(&w, NULL);
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        char head[256];

        snprintf(head, sizeof head, TOKEN "Content-Length: %d\r\n", HTTP_STRAY_BODY_MAX + 1);
        line_open(&w, &s);
        line_head(&s, places[i], NULL, head);
        line_until(&s, "\r\n\r\n");
        if (strtol(buf_cstr(&s.in) + 9, NULL, 10) != 413)
            TAP_FAIL("%s with a body is answered %s", places[i], buf_cstr(&s.in));
        line_close(&s);
    }
    /* At the bound it is read and forgotten. */
    line_open(&w, &s);
    {
        AUTO_BUF struct buf body = { 0 };
        char head[256];

        while (body.n < HTTP_STRAY_BODY_MAX)
            buf_byte(&body, 'x');
        snprintf(head, sizeof head, "Content-Length: %d\r\n", HTTP_STRAY_BODY_MAX);
        line_head(&s, "GET /health", NULL, head);
        fakes_settle(&w.hub.fakes);
        CHECK_INT(send(s.fd, body.p, body.n, MSG_NOSIGNAL), body.n);
    }
    line_until(&s, "\"ok\"");
    line_close(&s);
    rest_done(&w);
}

TEST(health_is_told_without_a_token_but_not_to_pages)
{
    struct rest_rig w;
    const char *text;

    serve_init(&w, NULL);
    CHECK_INT(ask(&w, "GET /health", NULL, "", "", &text), 200);
    CHECK_HAS(text, "{\"status\":\"ok\"}\n");
    CHECK_HAS(text, "Cache-Control: no-store\r\n");
    CHECK_INT(ask(&w, "GET /health", NULL, "Authorization: Bearer wrong\r\n", "", NULL), 200);
    CHECK_INT(ask(&w, "GET /health", "evil.example", "", "", NULL), 403);
    CHECK_INT(ask(&w, "GET /health", NULL, "Origin: http://evil.example\r\n", "", NULL), 403);
    CHECK_INT(ask(&w, "GET /healthy", NULL, "", "", NULL), 401);
    rest_done(&w);
}

TEST(without_a_token_everybody_on_this_machine_is_let_in_but_no_page)
{
    struct rest_rig w;

    serve_init(&w, &(struct serve_options){ 0 });
    CHECK_INT(ask(&w, "POST /mcp", NULL, MODERN_HEADERS, LIST, NULL), 200);
    CHECK_INT(ask(&w, "POST /mcp", "evil.example", MODERN_HEADERS, LIST, NULL), 403);
    CHECK_INT(
        ask(&w, "POST /mcp", NULL, MODERN_HEADERS "Origin: http://evil.example\r\n", LIST, NULL),
        403);
    rest_done(&w);
}

TEST(further_names_and_origins_are_let_in_when_they_are_listed)
{
    struct rest_rig w;

    serve_init(&w, &(struct serve_options){ .token = "secret",
                                            .allowed_hosts = "hub.example",
                                            .allowed_origins = "https://page.example" });
    CHECK_INT(ask(&w, "POST /mcp", "hub.example", MODERN_HEADERS, LIST, NULL), 200);
    CHECK_INT(
        ask(&w, "POST /mcp", NULL, MODERN_HEADERS "Origin: https://page.example\r\n", LIST, NULL),
        200);
    CHECK_INT(ask(&w, "POST /mcp", "other.example", MODERN_HEADERS, LIST, NULL), 403);
    rest_done(&w);
}

TEST(what_would_protect_nothing_is_not_started)
{
    static const struct {
        struct serve_options o;
        const char *says;
    } cases[] = {
        { { .token = "" }, "an empty token protects nothing; leave it out or set one" },
        { { .host = "0.0.0.0" },
          "listening on 0.0.0.0 without a token would let everybody who reaches it call every "
          "tool; set one with --token" },
        { { .host = "::" },
          "listening on :: without a token would let everybody who reaches it call every tool; set "
          "one with --token" },
    };
    struct serve *serve = NULL;
    struct hub_rig rig;
    struct pb_error err;

    rig_init(&rig, NULL);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        CHECK_INT(serve_start(&serve, rig.hosts, &cases[i].o, &err), -PB_E_INVALID);
        CHECK_STR(err.msg, cases[i].says);
        CHECK(!serve);
    }
    rig_done(&rig);
}

TEST(a_port_that_is_taken_is_an_error)
{
    struct serve *second = NULL;
    struct rest_rig w;
    struct pb_error err;

    serve_init(&w, NULL);
    CHECK_INT(serve_start(&second, w.hub.hosts,
                          &(struct serve_options){ .port = serve_port(w.serve) }, &err),
              -PB_E_SYSTEM);
    CHECK(!second);
    rest_done(&w);
}

/* ---- what is found where ---- */

TEST(each_place_shows_what_it_is_for)
{
    static const struct {
        const char *path, *has, *lacks;
    } cases[] = {
        { "POST /mcp", "\"alpha__echo\"", "\"echo\"" },
        { "POST /mcp", "\"beta__hang\"", "\"external_" },
        { "POST /mcp/alpha", "\"name\":\"echo\"", "hang" },
        { "POST /mcp/beta", "\"name\":\"hang\"", "echo" },
        { "POST /mcp/%61lpha", "\"name\":\"echo\"", "hang" },
        { "POST /mcp/mode/few", "\"alpha__echo\"", "beta" },
        { "POST /mcp/mode/full", "\"beta__hang\"", "\"echo\"" },
        { "POST /mcp/mode/a%20b", "\"tools\":[]", "alpha" },
        { "POST /mcp/mode/%73se", "\"beta__hang\"", "alpha" },
        { "POST /mcp?x=1", "\"alpha__echo\"", "\"echo\"" },
    };
    struct rest_rig w;
    const char *text;

    serve_init(&w, NULL);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        CHECK_INT(ask(&w, cases[i].path, NULL, MODERN_HEADERS, LIST, &text), 200);
        CHECK_HAS(text, cases[i].has);
        CHECK(!strstr(text, cases[i].lacks));
    }
    rest_done(&w);
}

TEST(what_is_not_there_is_told_in_a_sentence)
{
    static const struct {
        const char *path, *says;
    } cases[] = {
        { "POST /nosuch", "Not Found: MCP is at /mcp, /mcp/<server> and /mcp/mode/<mode>" },
        { "POST /mcpx", "Not Found: MCP is at" },
        { "POST /mcp/", "Not Found: MCP is at" },
        { "POST /mcp/alpha/", "Not Found: MCP is at" },
        { "POST /mcp/alpha/x", "Not Found: MCP is at" },
        { "POST /mcp/mode/", "Not Found: MCP is at" },
        { "POST /mcp/mode/%zz", "Not Found: MCP is at" },
        { "POST /mcp/mode/%00", "Not Found: MCP is at" },
        { "POST /mcp/%00", "Not Found: MCP is at" },
        { "POST /mcp/gamma", "there is no server 'gamma'" },
        { "GET /mcp/gamma/sse", "there is no server 'gamma'" },
        { "POST /mcp/mode/many", "many" },
    };
    struct rest_rig w;
    const char *text;

    serve_init(&w, NULL);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        int status = ask(&w, cases[i].path, NULL, MODERN_HEADERS, LIST, &text);

        if (status != 404)
            TAP_FAIL("%s is %d", cases[i].path, status);
        CHECK_HAS(text, "{\"jsonrpc\":\"2.0\",\"id\":");
        CHECK_HAS(text, cases[i].says);
    }
    rest_done(&w);
}

TEST(a_server_that_is_removed_is_not_found_any_more)
{
    struct rest_rig w;
    const char *text;

    serve_init(&w, NULL);
    CHECK_INT(ask(&w, "POST /mcp/alpha", NULL, MODERN_HEADERS, LIST, NULL), 200);
    CHECK_INT(hub_remove(w.hub.hub, "alpha", NULL), 0);
    fakes_settle(&w.hub.fakes);
    CHECK_INT(ask(&w, "POST /mcp/alpha", NULL, MODERN_HEADERS, LIST, &text), 404);
    CHECK_HAS(text, "there is no server 'alpha'");
    rest_done(&w);
}

/* The transport of 2024: a stream that names where to post, and answers that come on the stream. */
TEST(old_clients_speak_http_with_sse)
{
    static const struct {
        const char *open, *endpoint, *has;
    } cases[] = {
        { "GET /sse", "/mcp/messages", "alpha__echo" },
        { "GET /mcp/sse", "/mcp/messages", "alpha__echo" },
        { "GET /mcp/alpha/sse", "/mcp/alpha/messages", "\"name\":\"echo\"" },
        { "GET /mcp/mode/few/sse", "/mcp/mode/few/messages", "alpha__echo" },
    };
    static const char *const said[] = {
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
        "\"2024-11-05\",\"capabilities\":{},\"clientInfo\":{\"name\":\"t\",\"version\":\"1\"}}}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}",
    };
    struct line stream;
    struct rest_rig w;

    serve_init(&w, NULL);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char post[300], want[200];
        const char *at;

        line_open(&w, &stream);
        line_ask(&stream, cases[i].open, NULL, TOKEN "Accept: text/event-stream\r\n", "");
        snprintf(want, sizeof want, "event: endpoint\ndata: %s?", cases[i].endpoint);
        line_until(&stream, want);
        line_until(&stream, "\n\n");
        at = strstr(buf_cstr(&stream.in), "data: ") + 6;
        snprintf(post, sizeof post, "POST %.*s", (int)strcspn(at, "\n"), at);
        for (size_t k = 0; k < ARRAY_LEN(said); k++)
            CHECK_INT(
                ask(&w, post, NULL, TOKEN "Content-Type: application/json\r\n", said[k], NULL),
                202);
        line_until(&stream, "\"id\":1,\"result\"");
        line_until(&stream, cases[i].has);
        CHECK_INT(ask(&w, post, NULL, "", said[2], NULL), 401); /* the name alone is no key */
        line_close(&stream);
    }
    rest_done(&w);
}

/* ---- the end ---- */

/* The server whose tool hangs, once it has been called. */
static struct fake_server *held(struct rest_rig *w)
{
    for (size_t i = 0; i < w->hub.fakes.n; i++)
        if (w->hub.fakes.servers[i]->n_held)
            return w->hub.fakes.servers[i];
    return NULL;
}

#define CALL                                                                                 \
    "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"tools/call\",\"params\":{\"name\":\"hang\"," \
    "\"arguments\":{}," MODERN "}}"
#define CALL_HEADERS                                                                         \
    TOKEN "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: hang\r\n" \
          "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"

TEST(a_close_lets_what_is_being_answered_be_answered)
{
    struct line s;
    struct fake_server *f;
    struct rest_rig w;

    serve_init(&w, NULL);
    line_open(&w, &s);
    line_ask(&s, "POST /mcp/beta", NULL, CALL_HEADERS, CALL);
    for (int i = 0; i < 5000 && !held(&w); i++)
        line_turn(&s);
    f = held(&w);
    CHECK(f != NULL);
    serve_close(w.serve, rest_on_closed, &w);
    for (int i = 0; i < 50; i++)
        line_turn(&s);
    CHECK(!w.closed);
    fake_release(f, 0, "in time");
    line_until(&s, "in time");
    for (int i = 0; i < 1000 && !w.closed; i++) {
        line_turn(&s);
        loop_advance(w.hub.fakes.loop, 10);
    }
    CHECK(w.closed);
    line_close(&s);
    rig_done(&w.hub);
}

TEST(a_close_does_not_wait_for_ever)
{
    struct line s;
    struct rest_rig w;

    serve_init(&w, NULL);
    line_open(&w, &s);
    line_ask(&s, "POST /mcp/beta", NULL, CALL_HEADERS, CALL);
    for (int i = 0; i < 5000 && !held(&w); i++)
        line_turn(&s);
    serve_close(w.serve, rest_on_closed, &w);
    fakes_settle(&w.hub.fakes);
    loop_advance(w.hub.fakes.loop, MCP_FLUSH_MS - 20);
    fakes_settle(&w.hub.fakes);
    CHECK(!w.closed);
    for (int i = 0; i < 10 && !w.closed; i++) {
        loop_advance(w.hub.fakes.loop, 10);
        fakes_settle(&w.hub.fakes);
    }
    CHECK(w.closed);
    line_close(&s);
    rig_done(&w.hub);
}
