/* test_batch.c - JSON-RPC arrays: who may send them, how large, what is inside, what comes back. */
#include "mcp/server_rig.h"

#define PING(id) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"ping\"}"
#define PONG(id) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":{}}"
#define NOTE     "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}"

static struct rig rig;

static void begin(const char *version)
{
    rig_stdio(&rig, NULL);
    rig_send(&rig,
             arena_printf(&rig.arena,
                          "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"
                          "\"protocolVersion\":\"%s\",\"capabilities\":{},\"clientInfo\":{"
                          "\"name\":\"rig\",\"version\":\"1\"}}}\n",
                          version));
    CHECK_HAS(rig_line(&rig), version);
}

TEST(only_one_revision_has_batches)
{
    static const struct {
        const char *version;
        bool ok;
    } cases[] = {
        { "2024-11-05", false },
        { "2025-03-26", true },
        { "2025-06-18", false },
        { "2025-11-25", false },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *line;

        begin(cases[i].version);
        rig_send(&rig, "[" PING("1") "]\n");
        line = rig_line(&rig);
        if (cases[i].ok)
            CHECK_STR(line, "[" PONG("1") "]");
        else
            CHECK_HAS(line, "{\"jsonrpc\":\"2.0\",\"id\":\"\",\"error\":{\"code\":-32600");
        rig_no_line(&rig);
        rig_close(&rig);
    }
}

TEST(before_the_handshake_there_are_no_batches)
{
    rig_stdio(&rig, NULL);
    rig_send(&rig, "[" PING("1") "]\n");
    CHECK_HAS(rig_line(&rig), "-32600");
    rig_close(&rig);
}

TEST(answers_come_as_one_array_and_notifications_without_any)
{
    static const struct {
        const char *batch, *want; /* NULL: nothing */
    } cases[] = {
        { "[" PING("1") "," PING("\"two\"") "]", "[" PONG("1") "," PONG("\"two\"") "]" },
        { "[" NOTE "," PING("1") "," NOTE "]", "[" PONG("1") "]" },
        { "[" NOTE "]", NULL },
        { "[ " NOTE " , " NOTE " ]", NULL },
        { "[{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{}}]", NULL },
        { "[" PING("1") ",[" PING("2") "]]",
          "[" PONG("1") ",{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,"
                        "\"message\":\"a batch must not hold a batch\"}}]" },
        { "[1]", "[{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,"
                 "\"message\":\"a message must be an object\"}}]" },
        { "[{\"jsonrpc\":\"2.0\",\"id\":5}]",
          "[{\"jsonrpc\":\"2.0\",\"id\":5,\"error\":{\"code\":-32600,"
          "\"message\":\"a message needs a method, a result or an error\"}}]" },
        { "[{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"initialize\"}]",
          "[{\"jsonrpc\":\"2.0\",\"id\":5,\"error\":{\"code\":-32600,"
          "\"message\":\"initialize must not be part of a batch\"}}]" },
    };

    begin("2025-03-26");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        rig_send(&rig, arena_printf(&rig.arena, "%s\n", cases[i].batch));
        if (cases[i].want)
            CHECK_STR(rig_line(&rig), cases[i].want);
        rig_no_line(&rig);
    }
    rig_close(&rig);
}

TEST(a_batch_is_between_one_and_a_hundred_messages)
{
    static const struct {
        int n;
        bool ok;
    } cases[] = {
        { 0, false },
        { 1, true },
        { RPC_BATCH_MAX, true },
        { RPC_BATCH_MAX + 1, false },
        { 100 * RPC_BATCH_MAX, false },
    };

    begin("2025-03-26");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_BUF struct buf text = { 0 };
        const char *line;

        buf_byte(&text, '[');
        for (int n = 0; n < cases[i].n; n++)
            buf_printf(&text, "%s" PING("%d"), n ? "," : "", n);
        buf_str(&text, "]\n");
        rig_send_bytes(&rig, text.p, text.n);
        line = rig_line(&rig);
        if (cases[i].ok)
            CHECK_INT(strlen(line), strlen("[]") + (size_t)cases[i].n * strlen(PONG("0,")) - 1 +
                                        (cases[i].n > 10 ? (size_t)cases[i].n - 10 : 0));
        else
            CHECK_HAS(line, "\"error\":{\"code\":-32600");
        rig_no_line(&rig);
    }
    rig_close(&rig);
}

TEST(the_array_waits_for_its_slowest_call_but_others_do_not)
{
    begin("2025-03-26");
    rig_send(&rig, "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":"
                   "\"later\"}}," PING("2") "]\n");
    rig_send(&rig, PING("3") "\n");
    CHECK_STR(rig_line(&rig), PONG("3"));
    rig_no_line(&rig);
    rig_finish(&rig, "slow");
    CHECK_STR(rig_line(&rig), "[" PONG("2") "," RIG_TEXT_RESULT("1", "slow") "]");
    rig_close(&rig);
}

TEST(a_cancelled_call_leaves_the_array)
{
    begin("2025-03-26");
    rig_send(&rig, "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":"
                   "\"later\"}}," PING("2") "]\n");
    RIG_UNTIL(&rig, rig.held);
    rig_send(&rig, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
                   "\"requestId\":1}}\n");
    CHECK_STR(rig_line(&rig), "[" PONG("2") "]");
    rig_finish(&rig, "too late");
    rig_no_line(&rig);
    rig_close(&rig);
}

TEST(a_batch_at_the_end_of_input_is_answered)
{
    begin("2025-03-26");
    rig_send(&rig, "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":"
                   "\"later\"}}," PING("2") "]");
    rig_end_input(&rig);
    RIG_UNTIL(&rig, rig.held);
    rig_settle(&rig);
    loop_advance(rig.loop, MCP_EOF_GRACE_MS);
    CHECK_STR(rig_line(&rig), "[" PONG("2") ",{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":"
                                            "-32603,\"message\":\"Request cancelled\"}}]");
    rig_finish(&rig, "too late");
    rig_close(&rig);
}

#define BIG_CALL                                                                            \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"big\"," \
    "\"arguments\":{\"n\":%zu}}}"
#define TOO_LARGE                                                                                  \
    "{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":-32000,\"message\":\"The answers to this " \
    "batch are too large together; ask again, without a batch\"}}"

TEST(the_answers_to_a_batch_have_a_bound_together)
{
    size_t fits = RPC_BATCH_ANSWERS_MAX - strlen(RIG_TEXT_RESULT("1", ""));
    const char *line;

    begin("2025-03-26");
    rig_send(&rig, arena_printf(&rig.arena, "[" BIG_CALL "]\n", fits));
    line = rig_line(&rig);
    CHECK_INT(strlen(line), RPC_BATCH_ANSWERS_MAX + 2);
    CHECK_HAS(line, "xxx\"}]}}]");

    rig_send(&rig, arena_printf(&rig.arena, "[" BIG_CALL "," PING("2") "]\n", fits + 1));
    line = rig_line(&rig);
    CHECK_STR(line, arena_printf(&rig.arena, "[" TOO_LARGE "," PONG("2") "]", "1"));

    rig_send(&rig, arena_printf(&rig.arena, "[" BIG_CALL "," PING("2") "," PING("3") "]\n", fits));
    line = rig_line(&rig);
    CHECK(strlen(line) > RPC_BATCH_ANSWERS_MAX);
    CHECK_HAS(line + RPC_BATCH_ANSWERS_MAX,
              arena_printf(&rig.arena, "," TOO_LARGE "," TOO_LARGE "]", "2", "3"));
    rig_send(&rig, "[" PING("4") "]\n");
    CHECK_STR(rig_line(&rig), "[" PONG("4") "]");
    rig_close(&rig);
}
