#include "fake_host.h"
#include "mcp/rpc/rpc.h"
#include "mcp/serve/peer_impl.h"
#include "mcp/serve/serve.h"

#define RPC(rest) "{\"jsonrpc\":\"2.0\"," rest "}"
#define META(rest) \
    "\"_meta\":{\"" META_VERSION "\":\"2026-07-28\",\"" META_CLIENT_CAPS "\":{}" rest "}"
#define ASK(method) RPC("\"id\":1,\"method\":\"" method "\",\"params\":{" META("") "}")
#define CALL(name) \
    RPC("\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"" name "\"," META("") "}")
#define SERVER_INFO  "\"" META_SERVER_INFO "\":{\"name\":\"n\",\"version\":\"v\"}"
#define RESULT(rest) RPC("\"id\":1,\"result\":{" rest "}")

static void start(struct fake *f, enum peer_kind kind)
{
    struct pb_server_options opts = PB_SERVER_OPTIONS_INIT;

    opts.name = "n";
    opts.version = "v";
    opts.instructions = "hello";
    opts.cache_ttl_ms = 300;
    fake_start(f, kind, &opts);
}

/* ---- results ------------------------------------------------------------------------------ */

TEST(results_get_their_type_and_the_server_spliced_in)
{
    static const struct {
        const char *result, *want;
    } cases[] = {
        { "{}", "\"resultType\":\"complete\",\"_meta\":{" SERVER_INFO "}" },
        { "{ }", "\"resultType\":\"complete\",\"_meta\":{" SERVER_INFO "} " },
        { "{\"a\":1.0}", "\"resultType\":\"complete\",\"_meta\":{" SERVER_INFO "},\"a\":1.0" },
        { "{\"resultType\":\"task\",\"b\":[]}",
          "\"_meta\":{" SERVER_INFO "},\"resultType\":\"task\",\"b\":[]" },
        { "{\"a\":{\"resultType\":1,\"_meta\":2}}",
          "\"resultType\":\"complete\",\"_meta\":{" SERVER_INFO
          "},\"a\":{\"resultType\":1,\"_meta\":2}" },
        { "{\"a\":1,\"_meta\":{\"x\":2},\"b\":3}",
          "\"resultType\":\"complete\",\"a\":1,\"_meta\":{" SERVER_INFO ",\"x\":2},\"b\":3" },
        { "{\"_meta\":{ }}", "\"resultType\":\"complete\",\"_meta\":{" SERVER_INFO " }" },
        { "{\"_meta\":{\"" META_SERVER_INFO "\":7}}",
          "\"resultType\":\"complete\",\"_meta\":{\"" META_SERVER_INFO "\":7}" },
        { "{\"resultType\":\"x\",\"_meta\":{}}",
          "\"resultType\":\"x\",\"_meta\":{" SERVER_INFO "}" },
    };
    struct fake f;

    start(&f, PEER_STATELESS);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_BUF struct buf say = { 0 }, want = { 0 };

        buf_printf(
            &say,
            RPC("\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"raw\",\"arguments\":"
                "%s," META("") "}"),
            cases[i].result);
        buf_printf(&want, RESULT("%s"), cases[i].want);
        FAKE_ANSWERS(&f, buf_cstr(&say), buf_cstr(&want));
        CHECK_INT(f.sent[0].http_status, 200);
    }
    fake_end(&f);
}

/* S2-52 */
TEST(a_result_that_is_no_object_is_an_internal_error_without_details)
{
    struct fake f;

    start(&f, PEER_STATELESS);
    FAKE_ANSWERS(
        &f,
        RPC("\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"raw\",\"arguments\":"
            "[1]," META("") "}"),
        RPC("\"id\":1,\"error\":{\"code\":-32603,\"message\":\"Internal error\"}"));
    fake_end(&f);
}

TEST(discover_tells_versions_capabilities_and_cache_hints)
{
    struct fake f;

    start(&f, PEER_STATELESS);
    f.caps = "\"tools\":{}";
    FAKE_ANSWERS(&f, ASK("server/discover"),
                 RESULT("\"resultType\":\"complete\",\"_meta\":{" SERVER_INFO
                        "},\"supportedVersions\":[\"2026-07-28\",\"2025-11-25\",\"2025-06-18\","
                        "\"2025-03-26\",\"2024-11-05\"],\"capabilities\":{\"tools\":{}},"
                        "\"instructions\":\"hello\",\"ttlMs\":300,\"cacheScope\":\"public\""));
    peer_set_principal(f.peer, "alice");
    CHECK_STR(peer_principal(f.peer), "alice");
    FAKE_ANSWERS_WITH(&f, ASK("server/discover"), "\"cacheScope\":\"private\"");
    fake_end(&f);
}

/* ---- refusals ----------------------------------------------------------------------------- */

TEST(methods_that_the_era_removed_are_not_found)
{
    static const char *const methods[] = {
        "initialize",          "logging/setLevel",      "ping",
        "resources/subscribe", "resources/unsubscribe", "unknown/method",
    };
    struct fake f;

    start(&f, PEER_STATELESS);
    for (size_t i = 0; i < ARRAY_LEN(methods); i++) {
        AUTO_BUF struct buf say = { 0 };

        buf_printf(&say, RPC("\"id\":1,\"method\":\"%s\",\"params\":{" META("") "}"), methods[i]);
        FAKE_ANSWERS_WITH(&f, buf_cstr(&say), "\"id\":1,\"error\":{\"code\":-32601,");
        CHECK_INT(f.sent[0].http_status, 404);
    }
    fake_end(&f);
}

TEST(a_malformed_envelope_is_refused_and_named)
{
    static const struct {
        const char *params, *want;
    } cases[] = {
        { "", "_meta needs " META_VERSION " (a string) and " META_CLIENT_CAPS " (an object)" },
        { ",\"params\":null", "_meta needs " META_VERSION " (a string) and " META_CLIENT_CAPS },
        { ",\"params\":[]", "params must be an object" },
        { ",\"params\":{}", "_meta needs " META_VERSION " (a string) and " META_CLIENT_CAPS },
        { ",\"params\":{\"_meta\":7}", "_meta needs " META_VERSION " (a string) and " },
        { ",\"params\":{\"_meta\":{\"" META_VERSION "\":\"2026-07-28\"}}",
          "_meta needs " META_CLIENT_CAPS " (an object)\"" },
        { ",\"params\":{\"_meta\":{\"" META_CLIENT_CAPS "\":{}}}",
          "_meta needs " META_VERSION " (a string)\"" },
        { ",\"params\":{\"_meta\":{\"" META_CLIENT_CAPS "\":[],\"" META_VERSION "\":7}}",
          "_meta needs " META_VERSION " (a string) and " META_CLIENT_CAPS " (an object)" },
        { ",\"params\":{" META(",\"" META_CLIENT_INFO "\":3") "}", META_CLIENT_INFO },
        { ",\"params\":{" META(",\"" META_LOG_LEVEL "\":\"loud\"") "}", META_LOG_LEVEL },
        { ",\"params\":{" META(",\"" META_LOG_LEVEL "\":null") "}", META_LOG_LEVEL },
        { ",\"params\":{" META(",\"progressToken\":[]") "}", "progressToken" },
    };
    struct fake f;

    start(&f, PEER_STATELESS);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_BUF struct buf say = { 0 };

        buf_printf(&say, RPC("\"id\":1,\"method\":\"tools/list\"%s"), cases[i].params);
        FAKE_ANSWERS_WITH(&f, buf_cstr(&say), "\"id\":1,\"error\":{\"code\":-32602,");
        CHECK_HAS(fake_heard(&f), cases[i].want);
        CHECK_INT(f.sent[0].http_status, 400);
    }
    fake_end(&f);
}

TEST(unsupported_versions_are_told_what_is_supported)
{
    static const char *const versions[] = { "v999.0.0", "2027-01-01", "2025-11-25", "" };
    struct fake f;

    start(&f, PEER_STATELESS);
    for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
        AUTO_BUF struct buf say = { 0 }, want = { 0 };

        buf_printf(
            &say,
            RPC("\"id\":\"x\",\"method\":\"tools/list\",\"params\":{\"_meta\":{\"" META_VERSION
                "\":\"%s\",\"" META_CLIENT_CAPS "\":{}}}"),
            versions[i]);
        buf_printf(
            &want,
            RPC("\"id\":\"x\",\"error\":{\"code\":-32022,\"message\":\"Unsupported protocol "
                "version\",\"data\":{\"supported\":[\"2026-07-28\",\"2025-11-25\",\"2025-06-18\","
                "\"2025-03-26\",\"2024-11-05\"],\"requested\":\"%s\"}}"),
            versions[i]);
        FAKE_ANSWERS(&f, buf_cstr(&say), buf_cstr(&want));
        CHECK_INT(f.sent[0].http_status, 400);
    }
    fake_end(&f);
}

TEST(statuses_follow_the_codes)
{
    struct fake f;

    start(&f, PEER_STATELESS);
    FAKE_ANSWERS_WITH(&f, CALL("none"), "\"code\":-32602");
    CHECK_INT(f.sent[0].http_status, 200);
    FAKE_ANSWERS_WITH(
        &f, CALL("sample"),
        "\"code\":-32021,\"message\":\"needs sampling\",\"data\":{\"requiredCapabilities\":"
        "{\"sampling\":{}}}");
    CHECK_INT(f.sent[0].http_status, 400);
    FAKE_ANSWERS_WITH(&f, "{", "\"id\":null,\"error\":{\"code\":-32700");
    CHECK_INT(f.sent[0].http_status, 400);
    FAKE_ANSWERS_WITH(&f, "[]", "\"id\":null,\"error\":{\"code\":-32600");
    CHECK_INT(f.sent[0].http_status, 400);
    fake_end(&f);
}

/* ---- HTTP headers ------------------------------------------------------------------------- */

struct facts {
    const char *version, *method, *name, *param;
};

static struct span one_header(void *ctx, const char *name)
{
    const struct facts *f = ctx;

    if (strcmp(name, "Mcp-Param-Region") == 0 && f->param)
        return span_of(f->param);
    return (struct span){ 0 };
}

static const char *heard_with(struct fake *f, const char *say, struct facts facts)
{
    struct http_facts h = { .version = span_of(facts.version),
                            .method = span_of(facts.method),
                            .name = span_of(facts.name),
                            .header = one_header,
                            .ctx = &facts };

    fake_forget(f);
    fake_say_http(f, say, &h, NULL);
    return fake_heard(f);
}

TEST(headers_must_say_what_the_body_says)
{
    static const char v[] = "2026-07-28", call[] = "tools/call";
    static const struct {
        const char *say;
        struct facts facts;
        const char *want;
        int status;
    } cases[] = {
        { CALL("echo"), { v, call, "echo", NULL }, "\"result\"", 200 },
        { CALL("echo"), { v, call, "=?base64?ZWNobw==?=", NULL }, "\"result\"", 200 },
        { CALL("echo"), { NULL, call, "echo", NULL }, "-32020", 400 },
        { CALL("echo"), { "2025-11-25", call, "echo", NULL }, "-32020", 400 },
        { CALL("echo"), { v, NULL, "echo", NULL }, "Mcp-Method is missing", 400 },
        { CALL("echo"), { v, "tools/list", "echo", NULL }, "Mcp-Method differs", 400 },
        { CALL("echo"), { v, call, NULL, NULL }, "Mcp-Name is missing", 400 },
        { CALL("echo"), { v, call, "Echo", NULL }, "Mcp-Name differs", 400 },
        { CALL("echo"), { v, call, "=?base64?ZWNobw?=", NULL }, "Mcp-Name is not decodable", 400 },
        { ASK("tools/list"), { v, "tools/list", NULL, NULL }, "\"result\"", 200 },
        { ASK("tools/call"), { v, call, NULL, NULL }, "-32602", 200 }, /* no name to repeat */
        { ASK("nothing"), { v, "nothing", NULL, NULL }, "-32601", 404 },
        /* The order: envelope, version header, version, the other headers, the method. */
        { RPC("\"id\":1,\"method\":\"x\""), { NULL, NULL, NULL, NULL }, "-32602", 400 },
        { RPC("\"id\":1,\"method\":\"x\",\"params\":{\"_meta\":{\"" META_VERSION
              "\":\"v999.0.0\",\"" META_CLIENT_CAPS "\":{}}}"),
          { v, NULL, NULL, NULL },
          "-32020",
          400 },
        { RPC("\"id\":1,\"method\":\"x\",\"params\":{\"_meta\":{\"" META_VERSION
              "\":\"v999.0.0\",\"" META_CLIENT_CAPS "\":{}}}"),
          { "v999.0.0", NULL, NULL, NULL },
          "-32022",
          400 },
        { ASK("x"), { v, NULL, NULL, NULL }, "-32020", 400 },
        { RPC("\"id\":1,\"method\":\"resources/read\",\"params\":{\"uri\":\"a\"," META("") "}"),
          { v, "resources/read", "b", NULL },
          "-32020",
          400 },
        { RPC("\"id\":1,\"method\":\"tasks/get\",\"params\":{\"taskId\":\"t\"," META("") "}"),
          { v, "tasks/get", "t", NULL },
          "\"result\"",
          200 },
    };
    struct fake f;

    start(&f, PEER_STATELESS);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        CHECK_HAS(heard_with(&f, cases[i].say, cases[i].facts), cases[i].want);
        CHECK_INT(f.sent[0].http_status, cases[i].status);
    }
    fake_end(&f);
}

TEST(annotated_arguments_must_be_mirrored)
{
    static const char v[] = "2026-07-28", call[] = "tools/call";
    static const char say[] = RPC(
        "\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\",\"arguments\":{\"region\":"
        "\"eu\"}," META("") "}");
    struct fake f;

    start(&f, PEER_STATELESS);
    f.schema = SPAN("{\"type\":\"object\",\"properties\":{\"region\":{\"type\":\"string\","
                    "\"x-mcp-header\":\"Region\"}}}");
    CHECK_HAS(heard_with(&f, say, (struct facts){ v, call, "echo", "eu" }), "\"result\"");
    CHECK_HAS(heard_with(&f, say, (struct facts){ v, call, "echo", NULL }), "-32020");
    CHECK_INT(f.sent[0].http_status, 400);
    CHECK_HAS(heard_with(&f, say, (struct facts){ v, call, "echo", "us" }), "-32020");
    CHECK_HAS(heard_with(&f, CALL("echo"), (struct facts){ v, call, "echo", NULL }), "\"result\"");
    f.schema = SPAN("{\"type\":\"object\",\"properties\":{\"region\":{\"type\":\"string\"}}}");
    CHECK_HAS(heard_with(&f, say, (struct facts){ v, call, "echo", NULL }), "\"result\"");
    fake_end(&f);
}

/* ---- the envelope ------------------------------------------------------------------------- */

TEST(each_request_is_judged_by_its_own_envelope)
{
    struct fake f;
    const struct envelope *env;

    start(&f, PEER_STATELESS);
    fake_say(&f,
             RPC("\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"hold\",\"_meta\":{"
                 "\"" META_VERSION "\":\"2026-07-28\",\"" META_CLIENT_INFO "\":{\"name\":\"c\"},"
                 "\"" META_CLIENT_CAPS "\":{\"sampling\":{\"tools\":{}},\"elicitation\":{},"
                 "\"roots\":{},\"extensions\":{\"" EXT_TASKS "\":{}}},"
                 "\"" META_LOG_LEVEL "\":\"notice\",\"progressToken\":1.50}}"));
    fake_say(&f, CALL("hold"));
    env = &f.held[0]->env;
    CHECK(env->can_sample && env->can_sample_tools && env->can_elicit && !env->can_elicit_url);
    CHECK(env->can_list_roots && env->has_tasks && env->wants_log);
    CHECK_INT(env->log_level, PB_LOG_NOTICE);
    CHECK_INT(env->era, ERA_MODERN);
    CHECK_SPAN(env->progress_token, "1.50");
    CHECK_SPAN(env->client_info, "{\"name\":\"c\"}");
    env = &f.held[1]->env; /* the same id: another client */
    CHECK(!env->can_sample && !env->can_elicit && !env->has_tasks && !env->wants_log);
    CHECK_SPAN(env->client_info, "{}");
    CHECK_SPAN(env->client_caps, "{}");
    fake_end(&f);
}

TEST(log_messages_are_sent_only_if_the_request_asked)
{
    struct fake f;

    start(&f, PEER_STATELESS);
    FAKE_ANSWERS_WITH(&f, CALL("talk"), "\"result\"");
    fake_forget(&f);
    fake_say(&f, RPC("\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"talk\"," META(
                     ",\"" META_LOG_LEVEL "\":\"debug\"") "}"));
    CHECK_INT(f.n_sent, 3);
    CHECK_HAS(f.sent[0].text, "\"data\":\"quiet\"");
    CHECK(f.sent[0].about);
    fake_forget(&f);
    pb_server_log(f.server, PB_LOG_ERROR, NULL, "1"); /* belongs to no request */
    loop_turn(f.loop, false);
    CHECK_INT(f.n_sent, 0);
    fake_end(&f);
}

TEST(modern_clients_are_never_asked_by_request)
{
    struct fake f;

    start(&f, PEER_STATELESS);
    FAKE_ANSWERS_WITH(&f, CALL("ask"), "unsupported");
    fake_end(&f);
}

TEST(a_lost_exchange_cancels_a_modern_request)
{
    struct fake f;
    int a[8], b[8];

    start(&f, PEER_STATELESS);
    fake_say_http(&f, CALL("hold"), NULL, a);
    fake_say_http(&f, CALL("hold"), NULL, b);
    peer_exchange_gone(f.peer, a);
    CHECK_INT(f.n_cancelled, 1);
    CHECK_INT(f.why, CANCEL_GONE);
    CHECK_INT(f.n_finished, 1);
    CHECK_INT(f.n_sent, 0);
    CHECK(!f.held[0] && f.held[1]);
    peer_exchange_gone(f.peer, a);
    CHECK_INT(f.n_cancelled, 1);
    fake_end(&f);
}

TEST(cancelled_notifications_mean_nothing_over_modern_http)
{
    struct fake f;

    start(&f, PEER_STATELESS);
    fake_say(&f, CALL("hold"));
    FAKE_SILENT(&f, RPC("\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}"));
    CHECK_INT(f.n_cancelled, 0);
    fake_end(&f);
}

TEST(cancelled_notifications_cancel_on_stdio)
{
    struct fake f;

    start(&f, PEER_STDIO);
    fake_say(&f, CALL("hold"));
    FAKE_SILENT(&f, RPC("\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}"));
    CHECK_INT(f.n_cancelled, 1);
    fake_end(&f);
}

/* ---- the era of a connection -------------------------------------------------------------- */

#define INIT \
    RPC("\"id\":5,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\"}")

TEST(the_first_message_decides_the_era)
{
    static const struct {
        const char *say;
        enum era want;
    } cases[] = {
        { ASK("tools/list"), ERA_MODERN },
        { ASK("no/such/method"), ERA_MODERN },
        { ASK("initialize"), ERA_MODERN },
        { INIT, ERA_LEGACY },
        { RPC("\"id\":1,\"method\":\"tools/list\""), ERA_LEGACY },
        { RPC("\"method\":\"notifications/initialized\""), ERA_LEGACY },
        { RPC("\"id\":1,\"result\":{}"), ERA_LEGACY },
        /* A probe, a cancelled probe, malformed claims and unknown versions decide nothing. */
        { ASK("server/discover"), ERA_UNKNOWN },
        { RPC("\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}"), ERA_UNKNOWN },
        { RPC("\"id\":1,\"method\":\"tools/list\",\"params\":{\"_meta\":{\"" META_VERSION "\":7}}"),
          ERA_UNKNOWN },
        { RPC("\"id\":1,\"method\":\"tools/list\",\"params\":{\"_meta\":{\"" META_VERSION
              "\":\"2026-07-28\"}}"),
          ERA_UNKNOWN },
        { RPC("\"id\":1,\"method\":\"tools/list\",\"params\":{\"_meta\":{\"" META_VERSION
              "\":\"2030-01-01\",\"" META_CLIENT_CAPS "\":{}}}"),
          ERA_UNKNOWN },
        { "{", ERA_UNKNOWN },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct fake f;

        start(&f, i % 2 ? PEER_STDIO : PEER_MEMORY);
        fake_say(&f, cases[i].say);
        CHECK_INT(f.peer->era, cases[i].want);
        fake_end(&f);
    }
}

TEST(a_probe_may_be_followed_by_either_era)
{
    struct fake f;

    start(&f, PEER_STDIO);
    FAKE_ANSWERS_WITH(&f, ASK("server/discover"), "supportedVersions");
    FAKE_ANSWERS_WITH(&f, INIT, "\"protocolVersion\":\"2025-11-25\"");
    CHECK_INT(f.peer->era, ERA_LEGACY);
    /* For good: a claim means nothing any more. */
    FAKE_ANSWERS(&f, ASK("tools/list"), RPC("\"id\":1,\"result\":{\"tools\":[]}"));
    FAKE_ANSWERS_WITH(&f, ASK("server/discover"), "-32601");
    fake_end(&f);

    start(&f, PEER_STDIO);
    FAKE_ANSWERS_WITH(&f, ASK("server/discover"), "supportedVersions");
    FAKE_ANSWERS_WITH(&f, ASK("tools/list"), "resultType");
    FAKE_ANSWERS(
        &f, INIT,
        RPC("\"id\":5,\"error\":{\"code\":-32022,\"message\":\"Unsupported protocol version\","
            "\"data\":{\"supported\":[\"2026-07-28\"],\"requested\":\"2025-11-25\"}}"));
    FAKE_ANSWERS_WITH(&f, RPC("\"id\":1,\"method\":\"tools/list\""), "-32602");
    CHECK_INT(f.peer->era, ERA_MODERN);
    CHECK(!peer_revision(f.peer));
    fake_end(&f);
}

TEST(a_session_stays_legacy)
{
    struct fake f;

    start(&f, PEER_SESSION);
    FAKE_ANSWERS(&f, ASK("tools/list"), RPC("\"id\":1,\"result\":{\"tools\":[]}"));
    FAKE_ANSWERS_WITH(&f, ASK("server/discover"), "-32601");
    fake_end(&f);
}

/* ---- bounds ------------------------------------------------------------------------------- */

TEST(progress_tokens_are_bounded)
{
    static const size_t sizes[] = { RPC_TOKEN_BYTES_MAX, RPC_TOKEN_BYTES_MAX + 1,
                                    RPC_TOKEN_BYTES_MAX * 100 };
    struct fake f;

    start(&f, PEER_STATELESS);
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        AUTO_BUF struct buf say = { 0 };

        buf_str(
            &say,
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{\"_meta\":{\"" META_VERSION
            "\":\"2026-07-28\",\"" META_CLIENT_CAPS "\":{},\"progressToken\":\"");
        for (size_t n = 2; n < sizes[i]; n++) /* the quotes count */
            buf_byte(&say, 't');
        buf_str(&say, "\"}}}");
        FAKE_ANSWERS_WITH(&f, buf_cstr(&say), i ? "\"code\":-32602" : "\"result\"");
        if (i)
            CHECK_HAS(fake_heard(&f), "progressToken is longer than 4096 bytes");
    }
    fake_end(&f);
}

TEST(ids_are_carried_up_to_the_bound_and_longer_ones_refused_for_their_length)
{
    static const size_t sizes[] = { 2000, RPC_ID_BYTES_MAX, RPC_ID_BYTES_MAX + 1,
                                    RPC_ID_BYTES_MAX * 100 };
    static const enum peer_kind kinds[] = { PEER_STATELESS, PEER_SESSION, PEER_STDIO };

    for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
        struct fake f;

        start(&f, kinds[k]);
        for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
            AUTO_BUF struct buf say = { 0 }, id = { 0 };
            bool fits = sizes[i] <= RPC_ID_BYTES_MAX;

            buf_byte(&id, '"');
            while (id.n < sizes[i] - 1)
                buf_byte(&id, 'i');
            buf_byte(&id, '"');
            buf_printf(
                &say,
                "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"tools/list\",\"params\":{\"_meta\":" FAKE_META
                "}}",
                buf_cstr(&id));
            FAKE_ANSWERS_WITH(&f, buf_cstr(&say),
                              fits ? buf_cstr(&id) : "id is longer than 4096 bytes");
            if (!fits)
                CHECK_HAS(fake_heard(&f), kinds[k] == PEER_STDIO ? "\"id\":\"\"" : "\"id\":null");
        }
        fake_end(&f);
    }
}

TEST(long_names_are_shown_in_part)
{
    AUTO_BUF struct buf say = { 0 };
    struct fake f;

    start(&f, PEER_SESSION);
    buf_str(&say, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"");
    for (int i = 0; i < 5000; i++)
        buf_str(&say, "\xc3\xa4"); /* cut in the middle of a character, too */
    buf_str(&say, "\"}");
    FAKE_ANSWERS_WITH(&f, buf_cstr(&say), "Method not found: \xc3\xa4");
    CHECK(strlen(fake_heard(&f)) < MCP_ERROR_TEXT_MAX);
    fake_end(&f);
}
