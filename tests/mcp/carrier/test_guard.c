/* test_guard.c - who may come in: Host, Origin, token; by the rules, and at every door. */
#include "mcp/carrier/carrier.h"
#include "mcp/carrier/guard.h"
#include "mcp/registry/registry.h"
#include "web_rig.h"

/* Every row is a name that has been used to get past such a check. */
TEST(only_the_exact_names_of_this_listener_are_hosts)
{
    static const struct {
        const char *host;
        bool ok;
    } cases[] = {
        { "localhost:8080", true },
        { "127.0.0.1:8080", true },
        { "[::1]:8080", true },
        { "mcp.example.com", true },
        { "mcp.example.com:8080", true },
        { "other.example.com:9", true },
        { "other.example.com", false },
        { "localhost", false },
        { "localhost:80", false },
        { "localhost:8081", false },
        { "LOCALHOST:8080", false },
        { "localhost.:8080", false },
        { "localhost.evil:8080", false },
        { "localhost:8080.evil", false },
        { "127.0.0.1.evil:8080", false },
        { "127.1:8080", false },
        { "127.0.0.2:8080", false },
        { "0x7f000001:8080", false },
        { "[::ffff:127.0.0.1]:8080", false },
        { "::1:8080", false },
        { "evil:8080", false },
        { "user@localhost:8080", false },
        { "localhost:8080 ", false },
        { "", false },
    };
    const struct guard_options o = { .port = 8080,
                                     .allowed_hosts = "mcp.example.com, other.example.com:9," };
    struct guard *g = guard_new(&o);

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        if (guard_host_ok(g, span_of(cases[i].host)) != cases[i].ok)
            TAP_FAIL("Host '%s' should %sbe served", cases[i].host, cases[i].ok ? "" : "not ");
    CHECK(!guard_host_ok(g, span_make(NULL, 0)));
    guard_free(g);
}

TEST(the_default_port_and_the_listen_address_count)
{
    const struct guard_options o = { .host = "192.168.1.5", .port = 80 };
    const struct guard_options six = { .host = "fe80::1", .port = 81 };
    const struct guard_options all = { .host = "0.0.0.0", .port = 81 };
    struct guard *g = guard_new(&o);

    CHECK(guard_host_ok(g, SPAN("localhost")));
    CHECK(guard_host_ok(g, SPAN("192.168.1.5")));
    CHECK(guard_host_ok(g, SPAN("192.168.1.5:80")));
    CHECK(guard_origin_ok(g, SPAN("http://localhost")));
    guard_free(g);
    g = guard_new(&six);
    CHECK(guard_host_ok(g, SPAN("[fe80::1]:81")));
    CHECK(!guard_host_ok(g, SPAN("[fe80::1]")));
    guard_free(g);
    g = guard_new(&all);
    CHECK(!guard_host_ok(g, SPAN("0.0.0.0:81")));
    guard_free(g);
}

TEST(only_our_own_pages_and_listed_ones_are_origins)
{
    static const struct {
        const char *origin;
        bool ok;
    } cases[] = {
        { "http://localhost:8080", true },
        { "http://127.0.0.1:8080", true },
        { "http://[::1]:8080", true },
        { "https://app.example.com", true },
        { "https://app.example.com:443", false },
        { "http://app.example.com", false },
        { "https://localhost:8080", false },
        { "http://localhost", false },
        { "http://localhost:8081", false },
        { "http://LOCALHOST:8080", false },
        { "http://localhost:8080/", false },
        { "http://localhost.evil:8080", false },
        { "http://user@localhost:8080", false },
        { "http://evil", false },
        { "null", false },
        { "", false },
    };
    const struct guard_options o = { .port = 8080, .allowed_origins = "https://app.example.com" };
    struct guard *g = guard_new(&o);

    CHECK(guard_origin_ok(g, span_make(NULL, 0))); /* not a browser */
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        if (guard_origin_ok(g, span_of(cases[i].origin)) != cases[i].ok)
            TAP_FAIL("Origin '%s' should %sbe allowed", cases[i].origin, cases[i].ok ? "" : "not ");
    guard_free(g);
}

TEST(only_the_right_bearer_token_opens)
{
    static const struct {
        const char *header;
        bool ok;
    } cases[] = {
        { "Bearer secret", true },
        { "bearer secret", true },
        { "BEARER  secret", true },
        { "Bearer Secret", false },
        { "Bearer secret2", false },
        { "Bearer secre", false },
        { "Bearer", false },
        { "Bearer ", false },
        { "Basic secret", false },
        { "secret", false },
        { "", false },
        { "Bearer secret secret", false },
    };
    const struct guard_options o = { .port = 1, .token = "secret" };
    struct guard *g = guard_new(&o);

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        if (guard_token_ok(g, span_of(cases[i].header)) != cases[i].ok)
            TAP_FAIL("Authorization '%s'", cases[i].header);
    CHECK(guard_principal(g)[0]);
    CHECK(!strstr(guard_principal(g), "secret"));
    guard_free(g);
}

/* ---- at the doors ------------------------------------------------------------------------- */

static int status_of(struct rig *rig, const char *request)
{
    struct web w = web_open(rig);
    struct answer a;

    web_send_bytes(&w, request, strlen(request));
    a = web_head(&w);
    CHECK(!web_header(&w, a.head, "Access-Control-Allow-Origin"));
    web_close(&w);
    return a.status;
}

TEST(every_route_asks_the_guard_first)
{
    static const char *const routes[] = { "POST /mcp",
                                          "GET /mcp",
                                          "DELETE /mcp",
                                          "OPTIONS /mcp",
                                          "GET /sse",
                                          "POST /sse",
                                          "POST /messages?sessionId=1",
                                          "GET /nothing",
                                          "HEAD /mcp" };
    static const char *const foreign[] = {
        "Host: evil.example:%d\r\n",
        "Host: localhost.evil:%d\r\n",
        "Host: 127.0.0.1:%d\r\nOrigin: http://evil.example\r\n",
        "Host: 127.0.0.1:%d\r\nOrigin: null\r\n",
        "Host: 127.0.0.1:%d\r\nOrigin: http://localhost:1\r\n",
        "Host: 127.0.0.1:%d\r\nX-Forwarded-Host: localhost\r\nOrigin: https://evil\r\n",
    };
    struct rig rig;

    rig_http(&rig, NULL);
    for (size_t i = 0; i < ARRAY_LEN(routes); i++)
        for (size_t j = 0; j < ARRAY_LEN(foreign); j++) {
            AUTO_BUF struct buf text = { 0 };
            const char *port = strstr(foreign[j], "%d");

            buf_printf(&text, "%s HTTP/1.1\r\n%.*s%d%sContent-Length: 0\r\n\r\n", routes[i],
                       (int)(port - foreign[j]), foreign[j], pb_server_port(rig.server), port + 2);
            if (status_of(&rig, buf_cstr(&text)) != 403)
                TAP_FAIL("%s with %s", routes[i], foreign[j]);
        }
    rig_close(&rig);
}

TEST(a_target_that_names_another_host_is_refused)
{
    struct rig rig;
    char text[256];

    rig_http(&rig, NULL);
    snprintf(text, sizeof text, "GET http://evil/mcp HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n",
             pb_server_port(rig.server));
    CHECK_INT(status_of(&rig, text), 403);
    rig_close(&rig);
}

TEST(our_own_pages_may_call)
{
    struct rig rig;
    struct web w;
    struct answer a;

    rig_http(&rig, NULL);
    w = web_open(&rig);
    a = web_post(
        &w, arena_printf(&rig.arena, "Origin: http://localhost:%d\r\n", pb_server_port(rig.server)),
        WEB_PING);
    CHECK_INT(a.status, 400); /* past the guard: it lacks a session */
    CHECK(!strstr(a.head, "Access-Control"));
    web_close(&w);
    rig_close(&rig);
}

TEST(a_token_is_wanted_when_one_is_set)
{
    struct pb_http_options o = PB_HTTP_OPTIONS_INIT;
    struct rig rig;
    struct web w;
    struct answer a;

    o.token = "s3cret";
    rig_http(&rig, &o);
    w = web_open(&rig);
    a = web_post(&w, "", WEB_PING);
    CHECK_INT(a.status, 401);
    CHECK_STR(web_header(&w, a.head, "WWW-Authenticate"), "Bearer");
    a = web_post(&w, "Authorization: Bearer wrong\r\n", WEB_PING);
    CHECK_INT(a.status, 401);
    CHECK_STR(web_header(&w, a.head, "WWW-Authenticate"), "Bearer error=\"invalid_token\"");
    a = web_post(&w, "Authorization: Bearer s3cret\r\nAuthorization: Bearer s3cret\r\n", WEB_PING);
    CHECK_INT(a.status, 400);
    CHECK_HAS(a.body, "There is more than one Authorization field.");
    web_close(&w);
    w = web_open(&rig);
    a = web_post(&w, "Authorization: Bearer s3cret\r\n", WEB_PING);
    CHECK_INT(a.status, 400);
    CHECK(!strstr(rig.log, "s3cret"));
    web_close(&w);
    rig_close(&rig);
}

/* The head is all that is sent. */
TEST(a_body_is_not_waited_for_before_the_guard_has_agreed)
{
    static const struct {
        const char *head;
        int status;
    } cases[] = {
        { "POST /mcp HTTP/1.1\r\nHost: evil:%d\r\nContent-Length: 10000000\r\n", 403 },
        { "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Length: 10000000\r\n", 401 },
        { "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nTransfer-Encoding: chunked\r\n", 401 },
        { "POST /messages HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nTransfer-Encoding: chunked\r\n", 401 },
        { "GET /mcp HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer t\r\n"
          "Content-Length: 10000000\r\n",
          413 },
        { "POST /none HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer t\r\n"
          "Content-Length: 10000000\r\n",
          413 },
        { "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer t\r\n"
          "Content-Length: 10000000\r\n",
          100 },
        { "POST /messages HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer t\r\n"
          "Content-Length: 10000000\r\n",
          100 },
    };
    struct pb_http_options o = PB_HTTP_OPTIONS_INIT;
    struct rig rig;

    o.token = "t";
    rig_http(&rig, &o);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_BUF struct buf text = { 0 };
        const char *port = strstr(cases[i].head, "%d");

        buf_printf(&text, "%.*s%d%sExpect: 100-continue\r\n\r\n", (int)(port - cases[i].head),
                   cases[i].head, pb_server_port(rig.server), port + 2);
        if (status_of(&rig, buf_cstr(&text)) != cases[i].status)
            TAP_FAIL("%s", buf_cstr(&text));
    }
    rig_close(&rig);
}

TEST(options_that_cannot_be_meant_are_refused)
{
    struct pb_http_options o = PB_HTTP_OPTIONS_INIT;
    struct pb_error err;
    struct rig rig;

    rig_open(&rig, NULL);
    o.token = "";
    CHECK_INT(pb_server_http(rig.server, &o, &err), -PB_E_INVALID);
    CHECK_HAS(err.msg, "empty token");
    o.token = NULL;
    o.path = "mcp";
    CHECK_INT(pb_server_http(rig.server, &o, &err), -PB_E_INVALID);
    CHECK_HAS(err.msg, "'mcp' must begin with '/'");
    o.path = NULL;
    o.host = "localhost";
    CHECK(pb_server_http(rig.server, &o, &err) < 0);
    CHECK_HAS(err.msg, "IP address");
    CHECK_INT(pb_server_port(rig.server), 0);
    rig_close(&rig);
}
