#include "io/http/http.h"
#include "mcp/client/client.h"
#include "mcp/client_rig.h"
#include "mcp/registry/registry.h"
#include "mcp/rpc/rpc.h"

#define LOOP(cases) "while read -r l; do " cases "; done\n"

/* Opens a script and closes it again; what was found is left in the rig. */
static void probe_script(struct rig *r, const char *body, struct pb_client_options *more)
{
    struct rig_script s;
    struct pb_client_options o = rig_script(&s, body);

    rig_init(r, false);
    if (more) {
        o.era = more->era;
        o.protocol = more->protocol;
        o.connect_ms = more->connect_ms;
    }
    rig_open(r, &o);
    free(s.text);
}

static void expect(struct rig *r, const char *revision)
{
    if (r->open_err.code)
        TAP_FAIL("open: %s", r->open_err.msg);
    CHECK_STR(client_revision(r->client)->date, revision);
}

TEST(a_server_that_describes_itself_is_modern)
{
    struct rig r;

    probe_script(&r, LOOP("modern"), NULL);
    expect(&r, "2026-07-28");
    CHECK_INT(client_era(r.client), ERA_MODERN);
    CHECK_SPAN(client_server_info(r.client), "{\"name\":\"sh\",\"version\":\"2\"}");
    CHECK_SPAN(client_capabilities(r.client), "{\"tools\":{\"listChanged\":true}}");
    CHECK_SPAN(client_instructions(r.client), "\"do\"");
    CHECK(client_pid(r.client) > 0);
    rig_done(&r);
}

TEST(any_error_at_all_means_legacy)
{
    static const int codes[] = { -32601, -32602, -32600, -32700, -32603, -32000,
                                 -32001, -32020, -32021, -32022, 0,      42 };

    for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
        struct rig r;
        char body[512];

        snprintf(body, sizeof body,
                 LOOP("case $l in *server/discover*) no %d what;; *) legacy;; esac"), codes[i]);
        probe_script(&r, body, NULL);
        expect(&r, "2025-11-25");
        CHECK_INT(client_era(r.client), ERA_LEGACY);
        CHECK_SPAN(client_server_info(r.client), "{\"name\":\"sh\",\"version\":\"1\"}");
        rig_done(&r);
    }
}

TEST(a_server_that_dies_of_the_probe_is_started_again_and_greeted_the_old_way)
{
    struct rig r;

    probe_script(&r,
                 "read -r l; case $l in *'\"initialize\"'*) ;; *) exit 3;; esac\n"
                 "hello\n" LOOP("legacy"),
                 NULL);
    expect(&r, "2025-11-25");
    rig_done(&r);
}

TEST(a_server_that_is_killed_by_the_probe_is_started_again)
{
    struct rig r;

    probe_script(&r,
                 "read -r l; case $l in *'\"initialize\"'*) ;; *) kill -SEGV $$;; esac\n"
                 "hello\n" LOOP("legacy"),
                 NULL);
    expect(&r, "2025-11-25");
    rig_done(&r);
}

TEST(a_server_that_ignores_the_probe_is_greeted_the_old_way_in_time)
{
    struct rig_script s;
    struct pb_client_options o =
        rig_script(&s, "echo up >&2\n" LOOP("case $l in *server/discover*) ;; *) legacy;; esac"));
    struct rig r;

    rig_init(&r, true);
    rig_start(&r, &o);
    RIG_UNTIL(&r, r.words[0]);
    loop_advance(r.loop, MCP_PROBE_MS - 1);
    CHECK(!r.opened);
    loop_advance(r.loop, 1);
    RIG_UNTIL(&r, r.opened);
    expect(&r, "2025-11-25");
    rig_done(&r);
    free(s.text);
}

/* With a clock that stands still, patience cannot be what made them go on. */
TEST(replies_that_are_no_json_rpc_are_legacy_at_once)
{
    static const char *const replies[] = {
        "echo '{\"error\":\"unknown method\"}'",
        "echo '{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"x\"}}'",
        "echo '{\"jsonrpc\":\"2.0\",\"id\":\"\",\"error\":{\"code\":-32700,\"message\":\"x\"}}'",
        "echo '{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32700,\"message\":\"x\"}}'",
        "echo '[]'",
        "ok '{\"hello\":\"world\"}'",
        "ok '7'",
    };

    for (size_t i = 0; i < ARRAY_LEN(replies); i++) {
        struct rig_script s;
        struct pb_client_options o;
        struct rig r;
        char body[512];

        snprintf(body, sizeof body, LOOP("case $l in *server/discover*) %s;; *) legacy;; esac"),
                 replies[i]);
        o = rig_script(&s, body);
        rig_init(&r, true);
        rig_open(&r, &o);
        expect(&r, "2025-11-25");
        rig_done(&r);
        free(s.text);
    }
}

TEST(banners_before_the_answer_are_skipped)
{
    struct rig r;

    probe_script(
        &r, "echo 'Starting server...'; printf '\\033[1mhi\\033[0m\\n\\n'\n" LOOP("modern"), NULL);
    expect(&r, "2026-07-28");
    rig_done(&r);
}

TEST(a_refused_version_is_tried_once_more_if_the_server_names_it)
{
    static const struct {
        const char *supported, *revision;
    } cases[] = {
        { "2026-07-28", "2026-07-28" }, /* the second time it is accepted */
        { "2025-11-25", "2025-11-25" },
        { "2099-01-01", "2025-11-25" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct rig r;
        char body[1024];

        snprintf(
            body, sizeof body,
            "n=0\n" LOOP(
                "case $l in *server/discover*) n=$((n+1)); if [ $n = 1 ]; then id; printf "
                "'{\"jsonrpc\":\"2.0\",\"id\":%%s,\"error\":{\"code\":-32022,\"message\":\"v\","
                "\"data\":{\"supported\":[\"%s\"],\"requested\":\"x\"}}}\\n' $x; "
                "else modern; fi;; *) legacy;; esac"),
            cases[i].supported);
        probe_script(&r, body, NULL);
        expect(&r, cases[i].revision);
        rig_done(&r);
    }
}

TEST(a_server_that_refuses_every_version_it_names_is_greeted_the_old_way)
{
    struct rig r;

    probe_script(
        &r,
        LOOP("case $l in *server/discover*) id; printf "
             "'{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":-32022,\"message\":\"v\","
             "\"data\":{\"supported\":[\"2026-07-28\"]}}}\\n' $x;; *) legacy;; esac"),
        NULL);
    expect(&r, "2025-11-25");
    rig_done(&r);
}

TEST(a_server_of_unknown_versions_only_is_an_error)
{
    struct rig r;

    probe_script(&r, LOOP("ok '{\"supportedVersions\":[\"2099-01-01\"],\"capabilities\":{}}'"),
                 NULL);
    CHECK_INT(r.open_err.code, PB_E_UNSUPPORTED);
    CHECK_HAS(r.open_err.msg, "handshake");
    rig_done(&r);
}

TEST(a_discovery_that_offers_only_legacy_versions_leads_to_the_handshake)
{
    struct rig r;

    probe_script(&r,
                 LOOP("case $l in *server/discover*) ok "
                      "'{\"supportedVersions\":[\"2025-11-25\"],\"capabilities\":{}}';; *) "
                      "legacy;; esac"),
                 NULL);
    expect(&r, "2025-11-25");
    rig_done(&r);
}

/* It reads the probe and initialize at once when it is up, answers the first, refuses the other. */
TEST(a_modern_server_that_is_slow_to_start_is_recognised_by_its_late_answer)
{
    struct rig_script s;
    struct pb_client_options o =
        rig_script(&s, "echo up >&2; read -r probe; read -r l; first=$l; l=$probe; modern\n"
                       "l=$first; no -32601 gone\n" LOOP("ok '{\"tools\":[]}'"));
    struct rig r;

    rig_init(&r, true);
    rig_start(&r, &o);
    RIG_UNTIL(&r, r.words[0]);
    loop_advance(r.loop, MCP_PROBE_MS);
    RIG_UNTIL(&r, r.opened);
    expect(&r, "2026-07-28");
    RIG_RESULT(&r, "tools/list", NULL, "{\"tools\":[]}");
    rig_done(&r);
    free(s.text);
}

TEST(every_legacy_revision_is_accepted_and_no_other)
{
    static const struct {
        const char *version;
        bool known;
    } cases[] = { { "2024-11-05", true }, { "2025-03-26", true },  { "2025-06-18", true },
                  { "2025-11-25", true }, { "2026-07-28", false }, { "2099-01-01", false },
                  { "1.0", false } };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct rig r;
        char body[512];

        snprintf(body, sizeof body,
                 LOOP("case $l in *'\"initialize\"'*) ok "
                      "'{\"protocolVersion\":\"%s\",\"capabilities\":{}}';; *) legacy;; esac"),
                 cases[i].version);
        probe_script(&r, body, NULL);
        if (cases[i].known) {
            expect(&r, cases[i].version);
        } else {
            CHECK_INT(r.open_err.code, PB_E_UNSUPPORTED);
            CHECK_HAS(r.open_err.msg, cases[i].version);
        }
        rig_done(&r);
    }
}

TEST(an_era_that_was_asked_for_is_not_probed)
{
    struct pb_client_options legacy = { .era = PB_ERA_LEGACY };
    struct pb_client_options dated = { .protocol = "2025-06-18" };
    struct rig r;

    /* Both would end the process. */
    probe_script(&r, LOOP("case $l in *server/discover*) exit 1;; *) legacy;; esac"), &legacy);
    expect(&r, "2025-11-25");
    rig_done(&r);
    probe_script(
        &r,
        LOOP("case $l in *server/discover*) exit 1;; *2025-06-18*) ok "
             "'{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{}}';; *) legacy;; esac"),
        &dated);
    expect(&r, "2025-06-18");
    rig_done(&r);
}

TEST(a_revision_that_was_insisted_on_and_not_given_is_an_error)
{
    struct pb_client_options dated = { .protocol = "2025-06-18" };
    struct rig r;

    probe_script(&r, LOOP("legacy"), &dated);
    CHECK_INT(r.open_err.code, PB_E_UNSUPPORTED);
    CHECK_HAS(r.open_err.msg, "2025-06-18");
    rig_done(&r);
}

TEST(a_modern_server_that_cannot_describe_itself_is_believed_if_we_insist)
{
    struct pb_client_options modern = { .era = PB_ERA_MODERN };
    struct rig r;

    probe_script(&r,
                 LOOP("case $l in *server/discover*) no -32601 x;; *'\"initialize\"'*) exit 1;; "
                      "*) ok '{\"tools\":[]}';; esac"),
                 &modern);
    expect(&r, "2026-07-28");
    RIG_RESULT(&r, "tools/list", NULL, "{\"tools\":[]}");
    rig_done(&r);
}

TEST(a_server_that_answers_nothing_is_given_up_with_its_last_words)
{
    struct rig_script s;
    struct pb_client_options o = rig_script(&s, "echo 'cannot find my config' >&2\n" LOOP(":"));
    struct rig r;

    rig_init(&r, true);
    rig_start(&r, &o);
    RIG_UNTIL(&r, r.words[0]);
    loop_advance(r.loop, MCP_CONNECT_MS - 1);
    CHECK(!r.opened);
    loop_advance(r.loop, 1);
    RIG_UNTIL(&r, r.opened);
    CHECK_INT(r.open_err.code, PB_E_TIMEOUT);
    CHECK_HAS(r.open_err.msg, "handshake: the server did not answer within 10000 ms");
    CHECK_HAS(r.open_err.msg, "cannot find my config");
    rig_done(&r);
    free(s.text);
}

TEST(a_server_that_ends_at_once_says_why)
{
    struct rig r;

    probe_script(&r, "echo 'no such module' >&2; exit 7\n", NULL);
    CHECK_INT(r.open_err.code, PB_E_CLOSED);
    CHECK_HAS(r.open_err.msg, "handshake: the server exited with status 7");
    CHECK_HAS(r.open_err.msg, "no such module");
    rig_done(&r);
}

/* S1-13 */
TEST(a_command_that_cannot_be_started_is_named)
{
    struct pb_client_options o = PB_CLIENT_OPTIONS_INIT;
    struct rig r;

    o.command = "/nonexistent/server";
    rig_init(&r, false);
    rig_open(&r, &o);
    CHECK_INT(r.open_err.code, PB_E_SYSTEM);
    CHECK_STR(r.open_err.msg, "Failed to spawn /nonexistent/server: No such file or directory");
    rig_done(&r);
}

TEST(options_that_cannot_work_are_refused_before_anything_is_started)
{
    static const struct pb_client_options bad[] = {
        { .size = sizeof bad[0] },
        { .size = sizeof bad[0], .command = "sh", .url = "http://127.0.0.1/" },
        { .size = sizeof bad[0], .command = "sh", .protocol = "2099-01-01" },
        { .size = sizeof bad[0], .command = "sh", .protocol = "2025-11-25", .era = PB_ERA_MODERN },
        { .size = sizeof bad[0], .command = "sh", .protocol = "2026-07-28", .era = PB_ERA_LEGACY },
        { .size = sizeof bad[0],
          .url = "http://127.0.0.1/",
          .transport = PB_TRANSPORT_SSE,
          .era = PB_ERA_MODERN },
    };

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct rig r;

        rig_init(&r, false);
        rig_open(&r, &bad[i]);
        CHECK_INT(r.open_err.code, PB_E_INVALID);
        CHECK(!r.client);
        rig_done(&r);
    }
}

/* ---- HTTP ---- */

struct verdict {
    int status;
    const char *type, *body; /* of the answer to server/discover; %s is the id */
};

static void answer_verdict(struct web *w, struct http_request *r, const char *method,
                           const char *id)
{
    const struct verdict *v = w->ctx;
    AUTO_BUF struct buf body = { 0 };

    if (strcmp(method, "server/discover") != 0) {
        if (!web_legacy(r, method, id))
            web_result(r, id, "{\"tools\":[]}", NULL);
        return;
    }
    for (const char *p = v->body; *p; p++) {
        if (p[0] == '$')
            buf_str(&body, id);
        else
            buf_byte(&body, *p);
    }
    web_reply(r, v->status, v->type, buf_cstr(&body));
}

static void probe_web(struct rig *r, struct web *w, const struct verdict *v)
{
    struct pb_client_options o;

    rig_init(r, false);
    *w = (struct web){ .ctx = (void *)(uintptr_t)v };
    web_start(w, r, answer_verdict);
    o = web_options(w);
    rig_open(r, &o);
}

static void probe_done(struct rig *r, struct web *w)
{
    web_stop(w);
    rig_done(r);
}

#define RPC_ERR(code) \
    "{\"jsonrpc\":\"2.0\",\"id\":$,\"error\":{\"code\":" code ",\"message\":\"m\"}}"

TEST(what_http_servers_answer_to_the_probe_tells_their_era)
{
    static const struct {
        struct verdict v;
        const char *revision;
    } cases[] = {
        { { 200, WEB_JSON, "{\"jsonrpc\":\"2.0\",\"id\":$,\"result\":" WEB_DISCOVERED "}" },
          "2026-07-28" },
        { { 200, WEB_SSE,
            ": hello\n\nevent: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":$,\"result\":" WEB_DISCOVERED
            "}\n\n" },
          "2026-07-28" },
        { { 400, "Content-Type: text/plain\r\n", "Bad Request" }, "2025-11-25" },
        { { 400, WEB_JSON, RPC_ERR("-32000") }, "2025-11-25" },
        { { 400, WEB_JSON,
            "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32000,\"message\":\"m\"}}" },
          "2025-11-25" },
        { { 404, WEB_JSON, RPC_ERR("-32601") }, "2025-11-25" },
        { { 404, NULL, "" }, "2025-11-25" },
        { { 405, NULL, "" }, "2025-11-25" },
        { { 406, WEB_JSON, "{}" }, "2025-11-25" },
        { { 415, NULL, "" }, "2025-11-25" },
        { { 200, WEB_JSON, RPC_ERR("-32601") }, "2025-11-25" },
        { { 200, WEB_JSON, "not json" }, "2025-11-25" },
        { { 200, "Content-Type: text/html\r\n", "<html>" }, "2025-11-25" },
        { { 202, NULL, "" }, "2025-11-25" },
        { { 200, WEB_JSON, "{\"jsonrpc\":\"2.0\",\"id\":$,\"result\":{}}" }, "2025-11-25" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct rig r;
        struct web w;

        probe_web(&r, &w, &cases[i].v);
        expect(&r, cases[i].revision);
        RIG_RESULT(&r, "tools/list", NULL, "{\"tools\":[]}");
        probe_done(&r, &w);
    }
}

TEST(who_wants_authorization_is_asked_nothing_more)
{
    static const struct {
        struct verdict v;
        const char *challenge;
    } cases[] = {
        { { 401, "WWW-Authenticate: Bearer resource_metadata=\"http://x/y\"\r\n", "" },
          "Bearer resource_metadata=\"http://x/y\"" },
        { { 403, "WWW-Authenticate: Bearer error=\"insufficient_scope\"\r\n" WEB_JSON,
            RPC_ERR("-32601") },
          "Bearer error=\"insufficient_scope\"" },
        { { 401, NULL, "" }, NULL },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct rig r;
        struct web w;

        probe_web(&r, &w, &cases[i].v);
        CHECK_INT(r.open_err.code, PB_E_AUTH);
        CHECK_INT(r.open_err.sys, cases[i].v.status);
        if (cases[i].challenge)
            CHECK_STR(client_challenge(r.client), cases[i].challenge);
        else
            CHECK(!client_challenge(r.client));
        CHECK_STR(w.log, "POST server/discover\n");
        probe_done(&r, &w);
    }
}

TEST(a_server_in_trouble_is_an_error_and_not_an_old_one)
{
    static const struct verdict troubles[] = {
        { 500, NULL, "" },
        { 503, WEB_JSON, RPC_ERR("-32601") },
        { 302, "Location: http://127.0.0.2:9/elsewhere\r\n", "" },
        { 307, "Location: http://127.0.0.2:9/elsewhere\r\n", "" },
    };

    for (size_t i = 0; i < ARRAY_LEN(troubles); i++) {
        struct rig r;
        struct web w;

        probe_web(&r, &w, &troubles[i]);
        CHECK(r.open_err.code != PB_OK);
        CHECK_STR(w.log, "POST server/discover\n");
        probe_done(&r, &w);
    }
}

TEST(nobody_listening_is_an_error)
{
    struct pb_client_options o;
    struct web w = { 0 };
    struct rig r;

    rig_init(&r, false);
    web_start(&w, &r, NULL);
    o = web_options(&w);
    web_stop(&w); /* the port is free again */
    loop_turn(r.loop, false);
    rig_open(&r, &o);
    CHECK_INT(r.open_err.code, PB_E_CLOSED);
    CHECK_HAS(r.open_err.msg, "handshake: http://127.0.0.1:");
    rig_done(&r);
}

/* ---- HTTP+SSE ---- */

struct old_sse {
    int refusal; /* what POST to the SSE address gets */
    const char *endpoint;
    bool streams_posts; /* answers a POST like a GET */
    struct http_request *stream;
};

static void answer_old_sse(struct web *w, struct http_request *r, const char *method,
                           const char *id)
{
    struct old_sse *s = w->ctx;
    AUTO_BUF struct buf b = { 0 };

    if (span_is(http_path(r), "/messages")) {
        web_reply(r, 202, NULL, "Accepted");
        if (strcmp(method, "initialize") == 0)
            buf_printf(&b, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}", id, WEB_WELCOME);
        else if (strcmp(method, "tools/list") == 0)
            buf_printf(&b, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"tools\":[]}}", id);
        if (b.n)
            web_event(s->stream, buf_cstr(&b));
        return;
    }
    if (!span_is(http_method(r), "GET") && !s->streams_posts) {
        web_reply(r, s->refusal, NULL, "");
        return;
    }
    buf_printf(&b, "event: endpoint\ndata: %s\n\n", s->endpoint);
    web_stream(w, r);
    web_write(r, buf_cstr(&b));
    if (span_is(http_method(r), "GET"))
        s->stream = r;
}

static void open_old_sse(struct rig *r, struct web *w, struct old_sse *s, enum pb_transport t)
{
    struct pb_client_options o;

    rig_init(r, false);
    *w = (struct web){ .ctx = s };
    web_start(w, r, answer_old_sse);
    o = web_options(w);
    o.transport = t;
    rig_open(r, &o);
}

TEST(a_server_that_refuses_both_kinds_of_post_is_tried_as_http_with_sse)
{
    static const int refusals[] = { 400, 404, 405 };

    for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
        struct old_sse s = { refusals[i], "/messages?sessionId=1", false, NULL };
        struct rig r;
        struct web w;

        open_old_sse(&r, &w, &s, PB_TRANSPORT_AUTO);
        expect(&r, "2025-11-25");
        RIG_RESULT(&r, "tools/list", NULL, "{\"tools\":[]}");
        CHECK_STR(w.log, "POST server/discover\nPOST initialize\nGET\nPOST initialize\n"
                         "POST notifications/initialized\nPOST tools/list\n");
        probe_done(&r, &w);
    }
}

TEST(a_server_that_answers_a_post_with_its_old_stream_is_understood)
{
    struct old_sse s = { 0, "/messages", true, NULL };
    struct rig r;
    struct web w;

    open_old_sse(&r, &w, &s, PB_TRANSPORT_AUTO);
    expect(&r, "2025-11-25");
    probe_done(&r, &w);
}

TEST(a_transport_that_was_asked_for_is_the_only_one_tried)
{
    struct old_sse s = { 404, "/messages", false, NULL };
    struct rig r;
    struct web w;

    open_old_sse(&r, &w, &s, PB_TRANSPORT_HTTP);
    CHECK_INT(r.open_err.code, PB_E_INVALID);
    CHECK_STR(r.open_err.msg, "handshake: HTTP 404 Not Found");
    CHECK_STR(w.log, "POST server/discover\nPOST initialize\n");
    probe_done(&r, &w);

    open_old_sse(&r, &w, &s, PB_TRANSPORT_SSE);
    expect(&r, "2025-11-25");
    CHECK_STR(w.log, "GET\nPOST initialize\nPOST notifications/initialized\n");
    probe_done(&r, &w);
}

TEST(an_endpoint_of_another_origin_is_refused)
{
    static const char *const evil[] = {
        "http://127.0.0.1:1/messages", "http://evil.example/messages", "//evil.example/messages",
        "https://127.0.0.1/messages",  "file:///etc/passwd",           "http://user@127.0.0.1/m",
        "javascript:alert(1)",
    };

    for (size_t i = 0; i < ARRAY_LEN(evil); i++) {
        struct old_sse s = { 404, evil[i], false, NULL };
        struct rig r;
        struct web w;

        open_old_sse(&r, &w, &s, PB_TRANSPORT_SSE);
        CHECK_INT(r.open_err.code, PB_E_INVALID);
        CHECK_STR(w.log, "GET\n");
        probe_done(&r, &w);
    }
}
