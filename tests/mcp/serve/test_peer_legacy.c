#include "fake_host.h"
#include "mcp/rpc/rpc.h"
#include "mcp/serve/peer_impl.h"
#include "mcp/serve/serve.h"
#include "mcp/serve/server_impl.h"

#define RPC(rest) "{\"jsonrpc\":\"2.0\"," rest "}"
#define INIT_WITH(version) \
    RPC("\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"" version "\"}")
#define CALL(id, tool) \
    RPC("\"id\":" id ",\"method\":\"tools/call\",\"params\":{\"name\":\"" tool "\"}")

/* S2-16 S2-17 S2-18 S2-20 S2-21 S2-84 */
TEST(initialize_answers_with_version_capabilities_and_server)
{
    struct pb_server_options opts = PB_SERVER_OPTIONS_INIT;
    struct fake f;

    opts.name = "SwiftAgents MCP Server";
    opts.version = "1.0.0";
    fake_start(&f, PEER_STDIO, &opts);
    f.caps = "\"tools\":{}";
    FAKE_ANSWERS(&f,
                 RPC("\"id\":\"1\",\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
                     "\"2024-11-05\",\"clientInfo\":{\"name\":\"test\",\"version\":\"1\"}}"),
                 RPC("\"id\":\"1\",\"result\":{\"protocolVersion\":\"2024-11-05\","
                     "\"capabilities\":{\"tools\":{}},\"serverInfo\":{\"name\":\"SwiftAgents MCP "
                     "Server\",\"version\":\"1.0.0\"}}"));
    CHECK_STR(peer_revision(f.peer)->date, "2024-11-05");
    fake_end(&f);
}

/* S2-16 S2-17: what a client says that names no version */
TEST(initialize_without_a_version_speaks_the_oldest)
{
    static const char *const says[] = {
        RPC("\"id\":1,\"method\":\"initialize\",\"params\":{}"),
        RPC("\"id\":1,\"method\":\"initialize\",\"params\":null"),
        RPC("\"id\":1,\"method\":\"initialize\""),
    };

    for (size_t i = 0; i < ARRAY_LEN(says); i++) {
        struct fake f;

        fake_start(&f, PEER_MEMORY, NULL);
        FAKE_ANSWERS_WITH(&f, says[i], "\"protocolVersion\":\"2024-11-05\"");
        fake_end(&f);
    }
}

TEST(versions_are_echoed_if_known_and_of_the_era)
{
    static const struct {
        const char *say, *want;
    } cases[] = {
        { INIT_WITH("2024-11-05"), "\"protocolVersion\":\"2024-11-05\"" },
        { INIT_WITH("2025-03-26"), "\"protocolVersion\":\"2025-03-26\"" },
        { INIT_WITH("2025-06-18"), "\"protocolVersion\":\"2025-06-18\"" },
        { INIT_WITH("2025-11-25"), "\"protocolVersion\":\"2025-11-25\"" },
        { INIT_WITH("2026-07-28"), "\"protocolVersion\":\"2025-11-25\"" },
        { INIT_WITH("2023-01-01"), "\"protocolVersion\":\"2025-11-25\"" },
        { INIT_WITH(""), "\"protocolVersion\":\"2025-11-25\"" },
        { RPC("\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":3}"),
          "\"code\":-32602,\"message\":\"Invalid params: protocolVersion" },
        { RPC("\"id\":0,\"method\":\"initialize\",\"params\":{\"capabilities\":[]}"),
          "\"code\":-32602,\"message\":\"Invalid params: capabilities" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct fake f;

        fake_start(&f, PEER_SESSION, NULL);
        FAKE_ANSWERS_WITH(&f, cases[i].say, cases[i].want);
        fake_end(&f);
    }
}

TEST(server_info_has_what_the_revision_knows)
{
    static const struct {
        const char *say, *has, *lacks;
    } cases[] = {
        { INIT_WITH("2025-03-26"), "{\"name\":\"n\",\"version\":\"v\"}", "title" },
        { INIT_WITH("2025-06-18"), "\"title\":\"t\"}", "websiteUrl" },
        { INIT_WITH("2025-11-25"),
          "\"description\":\"d\",\"websiteUrl\":\"https://w\",\"icons\":[{\"src\":\"s\"}]}",
          "resultType" },
    };
    struct pb_server_options opts = PB_SERVER_OPTIONS_INIT;

    opts.name = "n", opts.version = "v", opts.title = "t", opts.description = "d";
    opts.website = "https://w", opts.icons = "[{\"src\":\"s\"}]", opts.instructions = "be \"kind\"";
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct fake f;

        fake_start(&f, PEER_STDIO, &opts);
        fake_say(&f, cases[i].say);
        CHECK_HAS(fake_heard(&f), cases[i].has);
        CHECK_HAS(fake_heard(&f), "\"instructions\":\"be \\\"kind\\\"\"");
        CHECK(!strstr(fake_heard(&f), cases[i].lacks));
        fake_end(&f);
    }
}

/* S2-14 S2-23: tools/list with params null, without a previous initialize */
TEST(requests_before_initialize_are_answered)
{
    struct fake f;

    fake_start(&f, PEER_STDIO, NULL);
    FAKE_ANSWERS(&f, RPC("\"id\":\"a\",\"method\":\"tools/list\",\"params\":null"),
                 RPC("\"id\":\"a\",\"result\":{\"tools\":[]}"));
    CHECK_INT(f.peer->era, ERA_LEGACY);
    CHECK(!peer_revision(f.peer));
    fake_end(&f);
}

/* S2-7 */
TEST(a_strict_server_wants_the_handshake_first)
{
    struct pb_server_options opts = PB_SERVER_OPTIONS_INIT;
    struct fake f;

    opts.strict = true;
    fake_start(&f, PEER_STDIO, &opts);
    FAKE_ANSWERS(&f, RPC("\"id\":1,\"method\":\"tools/list\""),
                 RPC("\"id\":1,\"error\":{\"code\":-32600,\"message\":\"initialize first\"}"));
    FAKE_ANSWERS(&f, RPC("\"id\":2,\"method\":\"ping\""), RPC("\"id\":2,\"result\":{}"));
    FAKE_ANSWERS_WITH(&f, INIT_WITH("2025-11-25"), "\"result\"");
    FAKE_ANSWERS(&f, RPC("\"id\":3,\"method\":\"tools/list\""),
                 RPC("\"id\":3,\"result\":{\"tools\":[]}"));
    fake_end(&f);
}

TEST(a_second_initialize_is_refused)
{
    struct fake f;

    fake_start(&f, PEER_SESSION, NULL);
    fake_say(&f, INIT_WITH("2025-06-18"));
    FAKE_ANSWERS_WITH(&f, INIT_WITH("2024-11-05"), "\"code\":-32600");
    CHECK_STR(peer_revision(f.peer)->date, "2025-06-18");
    fake_end(&f);
}

/* S2-6 S2-20 S2-30 S2-33 S2-87 S2-32 S2-9 */
TEST(every_request_is_answered_once_and_with_its_own_id)
{
    static const struct {
        const char *say, *want;
    } cases[] = {
        { RPC("\"id\":1,\"method\":\"ping\""), RPC("\"id\":1,\"result\":{}") },
        { RPC("\"id\":-7,\"method\":\"ping\""), RPC("\"id\":-7,\"result\":{}") },
        { RPC("\"id\":9007199254740993,\"method\":\"ping\""),
          RPC("\"id\":9007199254740993,\"result\":{}") },
        { RPC("\"id\":\"\",\"method\":\"ping\""), RPC("\"id\":\"\",\"result\":{}") },
        { RPC("\"id\":\"a\\u0062\",\"method\":\"p\\u0069ng\""),
          RPC("\"id\":\"a\\u0062\",\"result\":{}") },
        { RPC("\"id\":1,\"method\":\"nothing/such\""),
          RPC("\"id\":1,\"error\":{\"code\":-32601,\"message\":\"Method not found: "
              "nothing/such\"}") },
        { RPC("\"id\":1,\"method\":\"server/discover\""),
          RPC("\"id\":1,\"error\":{\"code\":-32601,\"message\":\"Method not found: "
              "server/discover\"}") },
        { RPC("\"id\":1,\"method\":\"tools/list\",\"params\":[]"),
          RPC("\"id\":1,\"error\":{\"code\":-32602,\"message\":\"Invalid params: params must be an "
              "object\"}") },
        { RPC("\"id\":1,\"method\":\"tools/list\",\"params\":{\"_meta\":{\"progressToken\":{}}}"),
          RPC("\"id\":1,\"error\":{\"code\":-32602,\"message\":\"Invalid params: progressToken must "
              "be a string or a number\"}") },
        { CALL("1", "none"),
          RPC("\"id\":1,\"error\":{\"code\":-32602,\"message\":\"Unknown tool\"}") },
    };
    struct fake f;

    fake_start(&f, PEER_STDIO, NULL);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        FAKE_ANSWERS(&f, cases[i].say, cases[i].want);
    CHECK_INT(f.n_finished, ARRAY_LEN(cases));
    CHECK_INT(peer_in_flight(f.peer), 0);
    fake_end(&f);
}

/* S2-24 S2-34 S2-35 S2-60 S2-61 S2-88 */
TEST(what_is_no_message_is_answered_with_an_empty_id)
{
    static const struct {
        const char *say, *want;
    } cases[] = {
        { "{\"jsonrpc\":", "\"id\":\"\",\"error\":{\"code\":-32700,\"message\":\"Parse error: " },
        { "nonsense", "\"id\":\"\",\"error\":{\"code\":-32700,\"message\":\"Parse error: " },
        { "{\"a\":\"\xff\"}",
          "\"id\":\"\",\"error\":{\"code\":-32700,\"message\":\"Parse error: invalid UTF-8\"}" },
        { "[]", "\"id\":\"\",\"error\":{\"code\":-32600," },
        { "3", "\"id\":\"\",\"error\":{\"code\":-32600," },
        { "{}", "\"id\":\"\",\"error\":{\"code\":-32600," },
        { "{\"jsonrpc\":\"1.0\",\"id\":5,\"method\":\"ping\"}",
          "\"id\":5,\"error\":{\"code\":-32600," },
        { "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}",
          "\"id\":\"\",\"error\":{\"code\":-32600," },
        { "{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}",
          "\"id\":\"\",\"error\":{\"code\":-32600," },
        { "{\"jsonrpc\":\"2.0\",\"id\":6,\"method\":4}", "\"id\":6,\"error\":{\"code\":-32600," },
        { "{\"jsonrpc\":\"2.0\",\"id\":6,\"method\":\"ping\",\"params\":4}",
          "\"id\":6,\"error\":{\"code\":-32600," },
        { "{\"jsonrpc\":\"2.0\",\"id\":6,\"method\":\"ping\",\"params\":{\"a\":1,\"a\":2}}",
          "\"id\":6,\"error\":{\"code\":-32600,\"message\":\"Invalid request: an object names a key "
          "twice\"" },
        { "{\"jsonrpc\":\"2.0\",\"id\":6,\"id\":7,\"method\":\"ping\"}",
          "\"id\":\"\",\"error\":{\"code\":-32600," },
    };
    struct fake f;

    fake_start(&f, PEER_STDIO, NULL);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        FAKE_ANSWERS_WITH(&f, cases[i].say, cases[i].want);
    CHECK_INT(f.peer->era, ERA_UNKNOWN); /* none of these says who is there */
    fake_end(&f);
}

/* S2-36: null where it is asked for, and over HTTP */
TEST(unreadable_ids_are_null_by_option_and_over_http)
{
    struct pb_server_options opts = PB_SERVER_OPTIONS_INIT;
    struct fake f;

    opts.parse_error_id_null = true;
    fake_start(&f, PEER_STDIO, &opts);
    FAKE_ANSWERS_WITH(&f, "{", "\"id\":null,\"error\":{\"code\":-32700");
    fake_end(&f);
    fake_start(&f, PEER_SESSION, NULL);
    FAKE_ANSWERS_WITH(&f, "{", "\"id\":null,\"error\":{\"code\":-32700");
    CHECK_INT(f.sent[0].http_status, 400);
    fake_end(&f);
}

/* S2-63 S2-64 S2-65 S2-67 */
TEST(oversize_requests_are_answered_with_their_id_if_it_is_in_the_head)
{
    static const struct {
        const char *head, *want;
    } cases[] = {
        { "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"tools/call\",\"params\":{\"a\":\"aaaa",
          RPC("\"id\":\"x\",\"error\":{\"code\":-32600,\"message\":\"Request too large\"}") },
        { "{\"method\":\"m\",\"params\":{\"id\":9,\"b\":[]},\"id\":42 ,",
          RPC("\"id\":42,\"error\":{\"code\":-32600,\"message\":\"Request too large\"}") },
        { "{\"method\":\"m\",\"params\":{\"id\":9,\"a\":\"\\\"id\\\":7",
          RPC("\"id\":\"\",\"error\":{\"code\":-32700,\"message\":\"Request exceeds 10MB limit\"}") },
        { "{\"id\":12", /* the number may go on */
          RPC("\"id\":\"\",\"error\":{\"code\":-32700,\"message\":\"Request exceeds 10MB limit\"}") },
        { "", RPC("\"id\":\"\",\"error\":{\"code\":-32700,\"message\":\"Request exceeds 10MB "
                  "limit\"}") },
    };
    struct fake f;

    fake_start(&f, PEER_STDIO, NULL);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        fake_forget(&f);
        peer_receive_oversize(f.peer, span_of(cases[i].head), 20 << 20, NULL);
        CHECK_STR(fake_heard(&f), cases[i].want);
        CHECK_INT(f.sent[0].http_status, 413);
    }
    fake_end(&f);
}

static void keep_line(void *ctx, enum pb_log_level level, const char *line)
{
    (void)level;
    snprintf(ctx, 200, "%s", line);
}

/* S2-66 */
TEST(oversize_requests_are_logged_with_their_size)
{
    char line[200] = "";
    struct fake f;

    fake_start(&f, PEER_STDIO, NULL);
    pb_log_to(keep_line, line, PB_LOG_DEBUG);
    peer_receive_oversize(f.peer, SPAN(""), 25165824, NULL);
    pb_log_to(NULL, NULL, PB_LOG_DEBUG);
    CHECK_HAS(line, "Request exceeded size limit: 24MB");
    fake_end(&f);
}

/* S2-26 S2-89 */
TEST(a_cancelled_request_is_not_answered)
{
    struct fake f;

    fake_start(&f, PEER_STDIO, NULL);
    FAKE_SILENT(&f, CALL("\"a\"", "hold"));
    CHECK_INT(peer_in_flight(f.peer), 1);
    /* Other ids, other types, nothing at all: ignored. */
    FAKE_SILENT(&f, RPC("\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":\"b\"}"));
    FAKE_SILENT(&f, RPC("\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":null}"));
    FAKE_SILENT(&f, RPC("\"method\":\"notifications/cancelled\""));
    CHECK_INT(f.n_cancelled, 0);
    FAKE_SILENT(&f, RPC("\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":"
                        "\"\\u0061\",\"reason\":\"bored\"}"));
    CHECK_INT(f.n_cancelled, 1);
    CHECK_INT(f.why, CANCEL_BY_CLIENT);
    CHECK_INT(f.n_finished, 1);
    CHECK_INT(peer_in_flight(f.peer), 0);
    FAKE_SILENT(&f, RPC("\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":\"a\"}"));
    CHECK_INT(f.n_cancelled, 1);
    /* The id may be used again. */
    FAKE_ANSWERS(&f, CALL("\"a\"", "echo"), RPC("\"id\":\"a\",\"result\":{\"content\":[]}"));
    fake_end(&f);
}

TEST(an_id_in_use_is_refused_without_harm_to_the_first)
{
    struct fake f;

    fake_start(&f, PEER_STDIO, NULL);
    FAKE_SILENT(&f, CALL("1", "hold"));
    FAKE_ANSWERS_WITH(&f, CALL("1", "echo"), "\"id\":1,\"error\":{\"code\":-32600");
    FAKE_ANSWERS_WITH(&f, CALL("\"1\"", "echo"), "\"result\"");
    fake_forget(&f);
    request_reply(f.held[0], SPAN("{}"));
    CHECK_STR(fake_heard(&f), RPC("\"id\":1,\"result\":{}"));
    fake_end(&f);
}

TEST(requests_in_flight_are_bounded)
{
    struct fake f;
    char say[128];

    fake_start(&f, PEER_STDIO, NULL);
    for (int i = 0; i < MCP_INFLIGHT_MAX; i++) {
        snprintf(say, sizeof say, CALL("%d", "hold"), i);
        FAKE_SILENT(&f, say);
    }
    FAKE_ANSWERS_WITH(&f, CALL("\"one more\"", "hold"), "\"code\":-32000");
    FAKE_ANSWERS_WITH(&f, CALL("\"far more\"", "hold"), "\"code\":-32000");
    CHECK_INT(peer_in_flight(f.peer), MCP_INFLIGHT_MAX);
    CHECK_INT(f.server->in_flight, MCP_INFLIGHT_MAX);
    fake_forget(&f);
    request_reply(f.held[7], SPAN("{}"));
    FAKE_SILENT(&f, CALL("\"again\"", "hold"));
    CHECK_INT(peer_cancel_all(f.peer), MCP_INFLIGHT_MAX);
    fake_end(&f);
}

/* S2-28 S2-70 */
TEST(cancelling_all_answers_each_with_an_internal_error)
{
    struct fake f;

    fake_start(&f, PEER_STDIO, NULL);
    fake_say(&f, CALL("1", "hold"));
    fake_say(&f, CALL("2", "hold"));
    CHECK_INT(peer_cancel_all(f.peer), 2);
    CHECK_INT(f.n_sent, 2);
    CHECK_STR(f.sent[0].text,
              RPC("\"id\":1,\"error\":{\"code\":-32603,\"message\":\"Request cancelled\"}"));
    CHECK_STR(f.sent[1].text,
              RPC("\"id\":2,\"error\":{\"code\":-32603,\"message\":\"Request cancelled\"}"));
    CHECK_INT(f.n_cancelled, 2);
    CHECK_INT(f.why, CANCEL_SHUTDOWN);
    CHECK_INT(peer_cancel_all(f.peer), 0);
    fake_end(&f);
}

TEST(a_deadline_answers_and_cancels)
{
    struct fake f;

    fake_start(&f, PEER_STDIO, NULL);
    fake_say(&f, CALL("1", "slow"));
    loop_advance(f.loop, 249);
    CHECK_INT(f.n_sent, 0);
    loop_advance(f.loop, 1);
    CHECK_STR(fake_heard(&f), RPC("\"id\":1,\"error\":{\"code\":-32603,\"message\":\"Request timed "
                                  "out after 0.25 s\"}"));
    CHECK_INT(f.n_cancelled, 1);
    CHECK_INT(f.why, CANCEL_TIMEOUT);
    fake_forget(&f);
    fake_say(&f, CALL("2", "slow-own-words"));
    loop_advance(f.loop, 60000);
    CHECK_STR(fake_heard(&f), RPC("\"id\":2,\"result\":{\"content\":[],\"isError\":true}"));
    CHECK_INT(f.n_cancelled, 2);
    fake_end(&f);
}

TEST(a_closed_peer_cancels_and_says_nothing_more)
{
    struct fake f;

    fake_start(&f, PEER_SESSION, NULL);
    fake_say(&f, INIT_WITH("2025-11-25"));
    fake_say(&f,
             RPC("\"id\":1,\"method\":\"resources/subscribe\",\"params\":{\"uri\":\"test://a\"}"));
    fake_say(&f, CALL("2", "ask"));
    CHECK_INT(f.n_watched, 1);
    fake_forget(&f);
    peer_close(f.peer);
    CHECK_INT(f.n_cancelled, 1);
    CHECK_INT(f.why, CANCEL_GONE);
    CHECK_INT(f.n_watched, 0);
    CHECK_INT(f.n_finished, 3);
    CHECK_INT(f.n_answers, 0);
    fake_say(&f, RPC("\"id\":3,\"method\":\"ping\""));
    CHECK_INT(f.n_sent, 0);
    pb_server_free(f.server);
    loop_free(f.loop);
}

TEST(a_peer_may_be_closed_from_inside)
{
    struct fake f;

    /* by a handler, */
    fake_start(&f, PEER_STDIO, NULL);
    fake_say(&f, CALL("1", "hold"));
    fake_say(&f, CALL("2", "close"));
    CHECK_INT(f.n_sent, 0);
    CHECK_INT(f.n_finished, 2);
    fake_end(&f);

    /* while one is cancelled, */
    fake_start(&f, PEER_STDIO, NULL);
    fake_say(&f, CALL("1", "hold"));
    fake_say(&f, CALL("2", "ask"));
    fake_forget(&f);
    f.closes = true;
    FAKE_SILENT(&f, RPC("\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}"));
    CHECK_INT(f.n_cancelled, 2);
    fake_end(&f);

    /* and while all are. */
    fake_start(&f, PEER_STDIO, NULL);
    fake_say(&f, CALL("1", "hold"));
    fake_say(&f, CALL("2", "hold"));
    f.closes = true;
    peer_cancel_all(f.peer);
    CHECK_INT(f.n_cancelled, 2);
    CHECK_INT(f.n_sent, 1);
    fake_end(&f);
}

TEST(a_lost_exchange_does_not_stop_a_legacy_request)
{
    struct fake f;
    int exchange[8];

    fake_start(&f, PEER_SESSION, NULL);
    fake_say_http(&f, CALL("1", "hold"), NULL, exchange);
    peer_exchange_gone(f.peer, exchange);
    CHECK_INT(f.n_cancelled, 0);
    request_reply(f.held[0], SPAN("{}"));
    CHECK_STR(fake_heard(&f), RPC("\"id\":1,\"result\":{}"));
    CHECK(!f.sent[0].exchange);
    fake_end(&f);
}

/* S2-100 */
TEST(progress_rises_and_goes_only_to_those_who_asked)
{
    struct fake f;

    fake_start(&f, PEER_STDIO, NULL);
    fake_say(&f, RPC("\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"talk\",\"_meta\":{"
                     "\"progressToken\":\"t\\n\"}}"));
    CHECK_INT(f.n_sent, 4);
    CHECK_STR(f.sent[0].text,
              RPC("\"method\":\"notifications/progress\",\"params\":{\"progressToken\":\"t\\n\","
                  "\"progress\":1,\"total\":10,\"message\":\"one\"}"));
    CHECK_STR(f.sent[1].text, RPC("\"method\":\"notifications/progress\",\"params\":{"
                                  "\"progressToken\":\"t\\n\",\"progress\":5}"));
    CHECK_STR(f.sent[2].text, RPC("\"method\":\"notifications/message\",\"params\":{\"level\":"
                                  "\"warning\",\"logger\":\"tool\",\"data\":{\"a\":1}}"));
    CHECK(f.sent[0].about && f.sent[2].about);
    CHECK_INT(f.sent[0].kind, SEND_CHATTER);
    fake_forget(&f);
    fake_say(&f, CALL("2", "talk"));
    CHECK_INT(f.n_sent, 2);
    fake_end(&f);
}

TEST(the_first_revision_has_no_progress_message)
{
    struct fake f;

    fake_start(&f, PEER_STDIO, NULL);
    fake_say(&f, INIT_WITH("2024-11-05"));
    fake_forget(&f);
    fake_say(&f, RPC("\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"talk\",\"_meta\":{"
                     "\"progressToken\":7}}"));
    CHECK_STR(f.sent[0].text, RPC("\"method\":\"notifications/progress\",\"params\":{"
                                  "\"progressToken\":7,\"progress\":1,\"total\":10}"));
    fake_end(&f);
}

/* S2-100 */
TEST(a_session_sets_the_level_of_its_log)
{
    struct fake f;

    fake_start(&f, PEER_STDIO, NULL);
    fake_say(&f, INIT_WITH("2025-11-25"));
    FAKE_ANSWERS_WITH(&f,
                      RPC("\"id\":1,\"method\":\"logging/setLevel\",\"params\":{\"level\":"
                          "\"loud\"}"),
                      "\"code\":-32602");
    FAKE_ANSWERS_WITH(&f, RPC("\"id\":1,\"method\":\"logging/setLevel\""), "\"code\":-32602");
    FAKE_ANSWERS(&f,
                 RPC("\"id\":1,\"method\":\"logging/setLevel\",\"params\":{\"level\":"
                     "\"error\"}"),
                 RPC("\"id\":1,\"result\":{}"));
    FAKE_ANSWERS_WITH(&f, CALL("2", "talk"), "\"result\"");
    fake_forget(&f);
    pb_server_log(f.server, PB_LOG_WARNING, NULL, "1");
    pb_server_log(f.server, PB_LOG_ERROR, "main", "{\"x\":[]}");
    loop_turn(f.loop, false);
    CHECK_STR(fake_heard(&f), RPC("\"method\":\"notifications/message\",\"params\":{\"level\":"
                                  "\"error\",\"logger\":\"main\",\"data\":{\"x\":[]}}"));
    CHECK(!f.sent[0].about);
    fake_end(&f);
}

TEST(many_log_messages_for_all_clients_are_told_a_part_each_turn)
{
    struct fake f;

    fake_start(&f, PEER_STDIO, NULL);
    fake_say(&f, INIT_WITH("2025-11-25"));
    fake_forget(&f);
    for (int i = 0; i < MCP_TELLS_PER_TURN; i++)
        pb_server_log(f.server, PB_LOG_ERROR, NULL, "1");
    loop_turn(f.loop, false);
    CHECK(f.n_sent > 0 && f.n_sent < MCP_TELLS_PER_TURN);
    pb_server_log(f.server, PB_LOG_ERROR, NULL, "\"the last\"");
    for (int i = 0; i < 4; i++)
        loop_turn(f.loop, false);
    CHECK_INT(f.n_sent, MCP_TELLS_PER_TURN + 1);
    CHECK_HAS(f.sent[MCP_TELLS_PER_TURN].text, "the last");
    fake_end(&f);
}

TEST(many_clients_are_told_of_one_change_a_part_each_turn)
{
    enum { PEERS = MCP_TELLS_PER_TURN / 2 + 100 };
    struct peer **others = mem_alloc(PEERS * sizeof *others);
    struct fake f;
    size_t first;

    fake_start(&f, PEER_STDIO, NULL);
    for (int i = 0; i < PEERS; i++) {
        others[i] = peer_new(f.server, PEER_SESSION, &fake_peer_ops, &f);
        peer_receive(others[i], message_new(blob_new(SPAN(INIT_WITH("2025-11-25")))), NULL, NULL);
        fake_forget(&f);
    }
    server_list_changed(f.server, "tools");
    server_list_changed(f.server, "prompts");
    loop_turn(f.loop, false);
    CHECK(f.n_sent > MCP_TELLS_PER_TURN / 2 && f.n_sent <= MCP_TELLS_PER_TURN);
    first = f.n_sent;
    fake_forget(&f);
    peer_close(others[0]); /* who was told and leaves is not missed */
    for (int i = 0; i < 4; i++)
        loop_turn(f.loop, false);
    CHECK_INT(f.n_sent, 2 * PEERS - first);
    for (int i = 1; i < PEERS; i++)
        peer_close(others[i]);
    free(others);
    fake_end(&f);
}

TEST(what_waits_to_be_told_to_all_clients_is_bounded_in_bytes)
{
    enum { MUCH = MCP_TELL_BYTES_MAX / 2 - 1000 };
    AUTO_FREE char *data = mem_alloc(MUCH + 1);
    struct fake f;

    memset(data, 'x', MUCH);
    data[0] = data[MUCH - 1] = '"';
    data[MUCH] = '\0';
    fake_start(&f, PEER_STDIO, NULL);
    fake_say(&f, INIT_WITH("2025-11-25"));
    fake_forget(&f);
    for (int i = 0; i < 5; i++)
        pb_server_log(f.server, PB_LOG_ERROR, NULL, data);
    loop_turn(f.loop, false);
    CHECK_INT(f.n_sent, 2);
    pb_server_log(f.server, PB_LOG_ERROR, NULL, "1");
    loop_turn(f.loop, false);
    CHECK_INT(f.n_sent, 3);
    fake_end(&f);
}

TEST(subscriptions_are_told_of_updates_until_they_end)
{
    struct fake f;

    fake_start(&f, PEER_STDIO, NULL);
    fake_say(&f, INIT_WITH("2025-11-25"));
    FAKE_ANSWERS(
        &f, RPC("\"id\":1,\"method\":\"resources/subscribe\",\"params\":{\"uri\":\"x://a\"}"),
        RPC("\"id\":1,\"error\":{\"code\":-32002,\"message\":\"Resource not found\",\"data\":"
            "{\"uri\":\"x://a\"}}"));
    FAKE_ANSWERS_WITH(&f, RPC("\"id\":1,\"method\":\"resources/subscribe\",\"params\":{}"),
                      "\"code\":-32602");
    for (int i = 0; i < 2; i++) /* twice is once */
        FAKE_ANSWERS(&f,
                     RPC("\"id\":1,\"method\":\"resources/subscribe\",\"params\":{\"uri\":"
                         "\"test://a\"}"),
                     RPC("\"id\":1,\"result\":{}"));
    CHECK_INT(f.n_watched, 1);
    fake_forget(&f);
    pb_server_resource_updated(f.server, "test://b");
    pb_server_resource_updated(f.server, "test://a");
    loop_turn(f.loop, false);
    CHECK_STR(fake_heard(&f), RPC("\"method\":\"notifications/resources/updated\",\"params\":{"
                                  "\"uri\":\"test://a\"}"));
    FAKE_ANSWERS(&f,
                 RPC("\"id\":1,\"method\":\"resources/unsubscribe\",\"params\":{\"uri\":"
                     "\"test://a\"}"),
                 RPC("\"id\":1,\"result\":{}"));
    CHECK_INT(f.n_watched, 0);
    fake_forget(&f);
    pb_server_resource_updated(f.server, "test://a");
    loop_turn(f.loop, false);
    CHECK_INT(f.n_sent, 0);
    fake_end(&f);
}

TEST(subscriptions_of_one_client_are_bounded)
{
    struct fake f;
    char say[160];

    fake_start(&f, PEER_STDIO, NULL);
    for (int i = 0; i <= MCP_SUBSCRIPTIONS_MAX; i++) {
        snprintf(
            say, sizeof say,
            RPC("\"id\":1,\"method\":\"resources/subscribe\",\"params\":{\"uri\":\"test://%d\"}"),
            i);
        FAKE_ANSWERS_WITH(&f, say, i < MCP_SUBSCRIPTIONS_MAX ? "\"result\":{}" : "\"code\":-32000");
    }
    CHECK_INT(f.n_watched, MCP_SUBSCRIPTIONS_MAX);
    fake_end(&f);
}

TEST(list_changes_within_a_turn_are_told_once_to_sessions_that_shook_hands)
{
    struct fake f;

    fake_start(&f, PEER_STDIO, NULL);
    fake_say(&f, RPC("\"id\":1,\"method\":\"ping\""));
    fake_forget(&f);
    server_list_changed(f.server, "tools");
    loop_turn(f.loop, false);
    CHECK_INT(f.n_sent, 0);
    fake_say(&f, INIT_WITH("2025-11-25"));
    fake_forget(&f);
    for (int i = 0; i < 5; i++)
        server_list_changed(f.server, "tools");
    server_list_changed(f.server, "prompts");
    server_list_changed(f.server, "resources");
    loop_turn(f.loop, false);
    CHECK_INT(f.n_sent, 3);
    CHECK_STR(f.sent[0].text, RPC("\"method\":\"notifications/tools/list_changed\""));
    CHECK_STR(f.sent[1].text, RPC("\"method\":\"notifications/prompts/list_changed\""));
    CHECK_STR(f.sent[2].text, RPC("\"method\":\"notifications/resources/list_changed\""));
    fake_end(&f);
}

TEST(other_notifications_go_to_the_provider)
{
    struct fake f;

    fake_start(&f, PEER_STDIO, NULL);
    FAKE_SILENT(&f, RPC("\"method\":\"notifications/initialized\""));
    CHECK_INT(f.n_notified, 1);
    FAKE_SILENT(&f, RPC("\"method\":\"notifications/roots/list_changed\""));
    FAKE_SILENT(&f, RPC("\"method\":\"notifications/progress\",\"params\":{}"));
    FAKE_SILENT(&f, RPC("\"method\":\"whatever\""));
    CHECK_INT(f.n_notified, 4);
    fake_end(&f);
}

TEST(capabilities_of_the_session_are_those_its_revision_knows)
{
    static const struct {
        const char *version, *caps;
        bool elicit, url, sample, sample_tools, roots;
    } cases[] = {
        { "2025-11-25", "{}", false, false, false, false, false },
        { "2025-11-25", "{\"elicitation\":{}}", true, false, false, false, false },
        { "2025-11-25", "{\"elicitation\":{\"url\":{}}}", false, true, false, false, false },
        { "2025-11-25", "{\"elicitation\":{\"url\":{},\"form\":{}}}", true, true, false, false,
          false },
        { "2025-06-18", "{\"elicitation\":{\"url\":{},\"form\":{}}}", true, false, false, false,
          false },
        { "2025-03-26", "{\"elicitation\":{},\"roots\":{}}", false, false, false, false, true },
        { "2025-11-25", "{\"sampling\":{\"tools\":{}}}", false, false, true, true, false },
        { "2025-06-18", "{\"sampling\":{\"tools\":{}}}", false, false, true, false, false },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct fake f;
        char say[256];

        fake_start(&f, PEER_STDIO, NULL);
        snprintf(say, sizeof say,
                 RPC("\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"%s\","
                     "\"capabilities\":%s,\"clientInfo\":{\"name\":\"c\"}}"),
                 cases[i].version, cases[i].caps);
        fake_say(&f, say);
        fake_say(&f, CALL("1", "hold"));
        CHECK_INT(f.held[0]->env.can_elicit, cases[i].elicit);
        CHECK_INT(f.held[0]->env.can_elicit_url, cases[i].url);
        CHECK_INT(f.held[0]->env.can_sample, cases[i].sample);
        CHECK_INT(f.held[0]->env.can_sample_tools, cases[i].sample_tools);
        CHECK_INT(f.held[0]->env.can_list_roots, cases[i].roots);
        CHECK_SPAN(f.held[0]->env.client_info, "{\"name\":\"c\"}");
        CHECK_SPAN(f.held[0]->env.client_caps, cases[i].caps);
        fake_end(&f);
    }
}
