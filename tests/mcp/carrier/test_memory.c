/* test_memory.c - a client and a server in one process. */
#include "mcp/rpc/memory.h"
#include "mcp/rpc/rpc.h"
#include "mcp/serve/serve.h"
#include "mcp/server_rig.h"

static struct rig rig;
static struct memory_end *end;
static struct buf heard;
static int closed;

static void on_message(void *ctx, struct span message)
{
    (void)ctx;
    buf_add_span(&heard, message);
    buf_byte(&heard, '\n');
}

static void on_closed(void *ctx)
{
    (void)ctx;
    closed++;
}

static const struct memory_events events = { on_message, on_closed };

static void say(const char *text)
{
    struct span parts[] = { span_make(text, 3), span_make(text + 3, strlen(text) - 3) };

    memory_send(end, parts, ARRAY_LEN(parts));
}

static void begin(void)
{
    rig_open(&rig, NULL);
    CHECK_INT(memory_connect(rig.server, &end, &events, NULL, NULL), 0);
}

static void done(void)
{
    rig_close(&rig);
    buf_done(&heard);
}

TEST(messages_arrive_later_whole_and_in_order)
{
    begin();
    for (int i = 0; i < 200; i++)
        say(arena_printf(&rig.arena, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"ping\"}", i));
    CHECK_INT(heard.n, 0);
    rig_settle(&rig);
    for (int i = 0; i < 200; i++) {
        const char *want =
            arena_printf(&rig.arena, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{}}\n", i);

        CHECK(heard.n >= strlen(want) && !memcmp(heard.p, want, strlen(want)));
        buf_consume(&heard, strlen(want));
    }
    CHECK_INT(heard.n, 0);
    memory_close(end);
    done();
}

TEST(both_eras_work_in_memory)
{
    begin();
    say("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server/discover\",\"params\":{\"_meta\":{"
        "\"" META_VERSION "\":\"2026-07-28\",\"" META_CLIENT_CAPS "\":{}}}}");
    rig_settle(&rig);
    CHECK_HAS(buf_cstr(&heard), "\"supportedVersions\"");
    memory_close(end);
    buf_consume(&heard, heard.n);
    CHECK_INT(memory_connect(rig.server, &end, &events, NULL, NULL), 0);
    say(RIG_INITIALIZE("2025-11-25"));
    say(RIG_CALL("1", "later", "{}"));
    rig_settle(&rig);
    CHECK_HAS(buf_cstr(&heard), "\"protocolVersion\":\"2025-11-25\"");
    rig_finish(&rig, "hello");
    rig_settle(&rig);
    CHECK_HAS(buf_cstr(&heard), RIG_TEXT_RESULT("1", "hello"));
    memory_close(end);
    done();
}

/* S2-91 */
TEST(a_client_that_leaves_cancels_its_calls_and_the_server_goes_on)
{
    begin();
    say(RIG_CALL("1", "later", "{}"));
    rig_settle(&rig);
    CHECK(rig.held);
    memory_close(end);
    CHECK(pb_call_cancelled(rig.held));
    rig_finish(&rig, "too late");
    rig_settle(&rig);
    CHECK_INT(heard.n, 0);
    CHECK_INT(closed, 0);
    CHECK_STR(server_state(rig.server), "ready");
    CHECK_INT(memory_connect(rig.server, &end, &events, NULL, NULL), 0);
    say("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}");
    rig_settle(&rig);
    CHECK_STR(buf_cstr(&heard), "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n");
    memory_close(end);
    done();
}

TEST(a_server_that_stops_answers_first_and_tells_the_client)
{
    begin();
    say(RIG_CALL("1", "later", "{}"));
    rig_settle(&rig);
    pb_server_stop(rig.server);
    RIG_UNTIL(&rig, heard.n > 0);
    CHECK_HAS(buf_cstr(&heard), "Request cancelled");
    rig_finish(&rig, "too late");
    RIG_UNTIL(&rig, closed == 1);
    say("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}"); /* into the void */
    rig_settle(&rig);
    memory_close(end);
    done();
}

TEST(a_server_that_is_freed_tells_the_client)
{
    begin();
    say("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}");
    pb_server_free(rig.server);
    rig_settle(&rig);
    CHECK_INT(closed, 1);
    memory_close(end);
    loop_free(rig.loop);
    buf_done(&heard);
    arena_done(&rig.arena);
}

/* A side that sends without end is cut off, not stored without end. */
TEST(a_queue_that_overflows_ends_the_connection)
{
    begin();
    for (int i = 0; i <= MCP_MEMORY_QUEUE_MAX; i++)
        say("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}");
    rig_settle(&rig);
    CHECK_INT(closed, 1);
    CHECK_HAS(rig.log, "does not keep up");
    memory_close(end);
    done();
}

TEST(a_queue_that_is_just_full_is_not_too_full)
{
    begin();
    for (int i = 1; i < MCP_MEMORY_QUEUE_MAX; i++)
        say("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}");
    say("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}");
    RIG_UNTIL(&rig, heard.n > 0);
    CHECK_INT(closed, 0);
    memory_close(end);
    done();
}

static void on_message_close(void *ctx, struct span message)
{
    (void)ctx;
    (void)message;
    memory_close(end);
}

TEST(a_client_may_leave_from_inside_its_callback)
{
    static const struct memory_events leaving = { on_message_close, on_closed };

    rig_open(&rig, NULL);
    CHECK_INT(memory_connect(rig.server, &end, &leaving, NULL, NULL), 0);
    say("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}");
    say("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}");
    rig_settle(&rig);
    CHECK_INT(closed, 0);
    done();
}
