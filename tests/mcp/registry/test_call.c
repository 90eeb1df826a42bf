#include "mcp/serve/serve.h"
#include "mcp/talk.h"
#include <pthread.h>
#include <stdatomic.h>

#define CALL(name, arguments) "\"name\":\"" name "\",\"arguments\":" arguments

/* A legacy session with one tool. */
static void start(struct talk *t, const char *revision, const struct pb_tool *tool,
                  const struct pb_server_options *opts)
{
    struct pb_error err;

    talk_open(t, PEER_MEMORY, opts);
    if (pb_server_add_tool(t->server, tool, &err) < 0)
        TAP_FAIL("%s", err.msg);
    talk_shake(t, revision, "{}");
}

static int echo(struct pb_call *call, void *ctx)
{
    (void)ctx;
    return pb_reply_text(call, "%s", pb_arg_string(call, "text"));
}

static const struct pb_param text_param[] = { { "text", PB_STRING, "what to say" }, { 0 } };

/* S2-25 S2-27 S2-86 */
TEST(a_tool_answers_with_its_text)
{
    struct talk t;

    for (unsigned flags = 0; flags <= PB_ON_LOOP; flags += PB_ON_LOOP) {
        start(&t, "2025-11-25",
              &(struct pb_tool){ "echo", .params = text_param, .run = echo, .flags = flags }, NULL);
        CHECK_STR(talk_ask(&t, LEGACY("tools/call", CALL("echo", "{\"text\":\"a \\\"b\\\"\\n\"}"))),
                  RESULT "{\"content\":[{\"type\":\"text\",\"text\":\"a \\\"b\\\"\\n\"}]}}");
        talk_close(&t);
    }
}

TEST(modern_answers_say_that_they_are_complete)
{
    struct talk t;

    talk_open(&t, PEER_MEMORY, NULL);
    CHECK_INT(pb_server_add_tool(
                  t.server, &(struct pb_tool){ "echo", .params = text_param, .run = echo }, NULL),
              0);
    CHECK_STR(talk_ask(&t, MODERN("tools/call", CALL("echo", "{\"text\":\"x\"}") ",")),
              MODERN_RESULT ",\"content\":[{\"type\":\"text\",\"text\":\"x\"}]}}");
    talk_close(&t);
}

static int all_args(struct pb_call *call, void *ctx)
{
    (void)ctx;
    CHECK(pb_arg_string(call, "s") == pb_arg_string(call, "s"));
    CHECK(!pb_arg_has(call, "absent") && pb_arg_has(call, "i"));
    CHECK(!pb_arg_string(call, "absent") && !pb_arg_string(call, "i"));
    CHECK(!pb_arg_json(call, "absent"));
    CHECK_INT(pb_arg_int(call, "absent"), 0);
    CHECK_STR(pb_call_name(call), "args");
    CHECK_STR(pb_call_protocol(call), "2025-06-18");
    CHECK_STR(pb_call_client_info(call), "{\"name\":\"c\",\"version\":\"1\"}");
    CHECK_STR(pb_call_client_capabilities(call), "{}");
    CHECK(!pb_call_uri(call));
    return pb_reply_text(call, "%s %lld %g %d %s %s", pb_arg_string(call, "s"),
                         (long long)pb_arg_int(call, "i"), pb_arg_double(call, "d"),
                         pb_arg_bool(call, "b"), pb_arg_json(call, "a"), pb_arg_json(call, NULL));
}

TEST(handlers_see_normalised_arguments)
{
    static const struct pb_param params[] = {
        { "s", PB_STRING },
        { "i", PB_INT },
        { "d", PB_DOUBLE },
        { "b", PB_BOOL },
        { "a", PB_ANY },
        { "absent", PB_STRING, .flags = PB_OPTIONAL },
        { 0 },
    };
    struct talk t;

    for (unsigned flags = 0; flags <= PB_ON_LOOP; flags += PB_ON_LOOP) {
        start(&t, "2025-06-18",
              &(struct pb_tool){ "args", .params = params, .run = all_args, .flags = flags }, NULL);
        CHECK_STR(talk_ask(&t, LEGACY("tools/call",
                                      CALL("args", "{\"s\":\"\\u00e9\",\"i\":\"7\",\"d\":2,\"b\":"
                                                   "\"true\",\"a\":[1]}"))),
                  RESULT "{\"content\":[{\"type\":\"text\",\"text\":\"\xc3\xa9 7 2 1 [1] "
                         "{\\\"s\\\":\\\"\\\\u00e9\\\",\\\"i\\\":7,\\\"d\\\":2,\\\"b\\\":true,"
                         "\\\"a\\\":[1]}\"}]}}");
        talk_close(&t);
    }
}

static int never(struct pb_call *call, void *ctx)
{
    (void)call, (void)ctx;
    TAP_FAIL("the handler ran");
}

/* S2-32 S2-87 */
TEST(bad_arguments_are_told_in_the_style_that_was_chosen)
{
    struct pb_server_options rpc = PB_SERVER_OPTIONS_INIT;
    struct pb_tool typed = { "t", .params = text_param, .run = never };
    struct pb_tool raw = { "t", .run = never,
                           .input_schema = "{\"type\":\"object\",\"required\":[\"k\"],"
                                           "\"properties\":{\"k\":{\"type\":\"integer\"}}}" };
    struct talk t;

    rpc.error_style = PB_ERRORS_AS_RPC;
    start(&t, "2025-11-25", &typed, &rpc);
    CHECK_STR(talk_ask(&t, LEGACY("tools/call", CALL("t", "{}"))),
              FAILED("-32602", "Invalid arguments for tool 't': missing required argument 'text'"));
    CHECK_STR(talk_ask(&t, LEGACY("tools/call", CALL("t", "[]"))),
              FAILED("-32602", "arguments: expected an object, got array"));
    talk_close(&t);
    start(&t, "2025-11-25", &typed, NULL);
    CHECK_STR(talk_ask(&t, LEGACY("tools/call", "\"name\":\"t\"")),
              RESULT "{\"content\":[{\"type\":\"text\",\"text\":\"Invalid arguments for tool 't': "
                     "missing required argument 'text'\"}],\"isError\":true}}");
    talk_close(&t);
    start(&t, "2025-11-25", &raw, &rpc);
    CHECK_HAS(talk_ask(&t, LEGACY("tools/call", CALL("t", "{\"k\":\"x\"}"))),
              "{\"code\":-32602,\"message\":\"Invalid arguments for tool 't': /k: ");
    CHECK_HAS(talk_ask(&t, LEGACY("tools/call", "\"name\":\"t\"")), "-32602");
    talk_close(&t);
}

/* S2-87 */
TEST(unknown_tools_and_missing_names_are_invalid_params)
{
    struct talk t;

    start(&t, "2025-11-25", &(struct pb_tool){ "t", .run = never }, NULL);
    CHECK_STR(talk_ask(&t, LEGACY("tools/call", CALL("nope", "{}"))),
              FAILED("-32602", "Unknown tool: nope"));
    CHECK_STR(talk_ask(&t, LEGACY("tools/call", "")),
              FAILED("-32602", "name: expected a string, got nothing"));
    CHECK_STR(talk_ask(&t, LEGACY("tools/call", "\"name\":7")),
              FAILED("-32602", "name: expected a string, got number"));
    talk_close(&t);
}

static int fails(struct pb_call *call, void *ctx)
{
    const char *how = ctx;

    pb_reply_text(call, "this is dropped");
    if (strcmp(how, "words") == 0)
        return pb_fail(call, "no such city: %s", "Atlantis");
    if (strcmp(how, "rpc") == 0)
        return pb_fail_rpc(call, -32050, "custom", "{\n\"k\": 1}");
    if (strcmp(how, "bad data") == 0)
        return pb_fail_rpc(call, -32050, "custom", "{");
    if (strcmp(how, "not json") == 0)
        return pb_reply_content(call, "{\"type\":");
    if (strcmp(how, "input") == 0)
        return -PB_E_INPUT;
    return -PB_E_SYSTEM;
}

/* S2-30 S2-31 S2-37 S2-52 S2-90 */
TEST(failures_are_results_or_errors_and_say_only_what_the_handler_said)
{
    static const struct {
        const char *how, *as_result, *as_error;
    } cases[] = {
        { "words", "no such city: Atlantis", "-32603,\"message\":\"no such city: Atlantis\"" },
        { "plain", "Tool 't' failed", "-32603,\"message\":\"Tool 't' failed\"" },
        { "not json", "Tool 't' failed", "-32603,\"message\":\"Tool 't' failed\"" },
        { "input", "Tool 't' failed", "-32603,\"message\":\"Tool 't' failed\"" },
        { "rpc", NULL, "-32050,\"message\":\"custom\",\"data\":{\"k\": 1}" },
        { "bad data", NULL, "-32050,\"message\":\"custom\"" },
    };
    struct pb_server_options rpc = PB_SERVER_OPTIONS_INIT;

    rpc.error_style = PB_ERRORS_AS_RPC;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        for (int style = 0; style < 2; style++) {
            struct pb_tool tool = { "t", .run = fails, .ctx = (void *)cases[i].how };
            AUTO_BUF struct buf want = { 0 };
            struct talk t;

            start(&t, "2025-11-25", &tool, style ? &rpc : NULL);
            if (style || !cases[i].as_result)
                buf_printf(&want, "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":%s}}",
                           cases[i].as_error);
            else
                buf_printf(&want,
                           RESULT "{\"content\":[{\"type\":\"text\",\"text\":\"%s\"}],"
                                  "\"isError\":true}}",
                           cases[i].as_result);
            for (int twice = 0; twice < 2; twice++) /* the server goes on */
                CHECK_STR(talk_ask(&t, LEGACY("tools/call", CALL("t", "{}"))), buf_cstr(&want));
            talk_close(&t);
        }
    }
}

static int every_content(struct pb_call *call, void *ctx)
{
    (void)ctx;
    pb_reply_bytes(call, "a\0b", 3);
    pb_reply_image(call, "\x01\x02", 2, "image/png");
    pb_reply_audio(call, "\x03", 1, "audio/wav");
    pb_reply_resource(call, "test://r", "text/plain", "body");
    pb_reply_resource_blob(call, "test://b", NULL, "\xff", 1);
    return pb_reply_content(call,
                            "{\"type\":\"resource_link\",\n\"uri\":\"test://l\",\"name\":\"l\"}");
}

#define FIRST_BLOCKS                              \
    "{\"type\":\"text\",\"text\":\"a\\u0000b\"}," \
    "{\"type\":\"image\",\"data\":\"AQI=\",\"mimeType\":\"image/png\"},"
#define RESOURCE_BLOCKS                                                                       \
    "{\"type\":\"resource\",\"resource\":{\"uri\":\"test://r\",\"mimeType\":\"text/plain\","  \
    "\"text\":\"body\"}},{\"type\":\"resource\",\"resource\":{\"uri\":\"test://b\",\"blob\":" \
    "\"/w==\"}},"

TEST(content_newer_than_the_revision_becomes_text)
{
    static const struct {
        const char *revision, *audio, *link;
    } cases[] = {
        { "2024-11-05", "{\"type\":\"text\",\"text\":\"[Audio: audio/wav, 1 bytes]\"},",
          "{\"type\":\"text\",\"text\":\"[Resource: test://l]\"}" },
        { "2025-03-26", "{\"type\":\"audio\",\"data\":\"Aw==\",\"mimeType\":\"audio/wav\"},",
          "{\"type\":\"text\",\"text\":\"[Resource: test://l]\"}" },
        { "2025-06-18", "{\"type\":\"audio\",\"data\":\"Aw==\",\"mimeType\":\"audio/wav\"},",
          "{\"type\":\"resource_link\",\"uri\":\"test://l\",\"name\":\"l\"}" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_BUF struct buf want = { 0 };
        struct talk t;

        start(&t, cases[i].revision, &(struct pb_tool){ "t", .run = every_content }, NULL);
        buf_printf(&want, RESULT "{\"content\":[" FIRST_BLOCKS "%s" RESOURCE_BLOCKS "%s]}}",
                   cases[i].audio, cases[i].link);
        CHECK_STR(talk_ask(&t, LEGACY("tools/call", CALL("t", "{}"))), buf_cstr(&want));
        talk_close(&t);
    }
}

static int structured(struct pb_call *call, void *ctx) { return pb_reply_structured(call, ctx); }

static int structured_and_text(struct pb_call *call, void *ctx)
{
    pb_reply_text(call, "said");
    return pb_reply_structured(call, ctx);
}

TEST(structured_results_come_with_text_and_only_where_they_are_known)
{
    static const struct {
        const char *revision, *json;
        pb_handler *run;
        const char *want;
    } cases[] = {
        { "2025-06-18", "{\"k\":\n1}", structured,
          "{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"k\\\":1}\"}],\"structuredContent\":{"
          "\"k\":1}}" },
        { "2025-06-18", "{\"k\":1}", structured_and_text,
          "{\"content\":[{\"type\":\"text\",\"text\":\"said\"}],\"structuredContent\":{\"k\":1}}" },
        { "2025-06-18", "[1]", structured, "{\"content\":[{\"type\":\"text\",\"text\":\"[1]\"}]}" },
        { "2025-03-26", "{\"k\":1}", structured,
          "{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"k\\\":1}\"}]}" },
    };
    struct talk t;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_BUF struct buf want = { 0 };
        struct pb_tool tool = { "t", .run = cases[i].run, .ctx = (void *)cases[i].json };

        start(&t, cases[i].revision, &tool, NULL);
        buf_printf(&want, RESULT "%s}", cases[i].want);
        CHECK_STR(talk_ask(&t, LEGACY("tools/call", CALL("t", "{}"))), buf_cstr(&want));
        talk_close(&t);
    }
    talk_open(&t, PEER_MEMORY, NULL);
    CHECK_INT(pb_server_add_tool(t.server,
                                 &(struct pb_tool){ "t", .run = structured, .ctx = (void *)"[1]" },
                                 NULL),
              0);
    CHECK_STR(talk_ask(&t, MODERN("tools/call", CALL("t", "{}") ",")),
              MODERN_RESULT ",\"content\":[{\"type\":\"text\",\"text\":\"[1]\"}],"
                            "\"structuredContent\":[1]}}");
    talk_close(&t);
}

static int nothing(struct pb_call *call, void *ctx)
{
    (void)call, (void)ctx;
    return 0;
}

TEST(structured_results_are_held_to_the_output_schema)
{
    struct pb_tool tool = { "t", .run = structured, .ctx = (void *)"{\"n\":\"x\"}",
                            .output_schema = "{\"type\":\"object\",\"required\":[\"n\"],"
                                             "\"properties\":{\"n\":{\"type\":\"integer\"}}}" };
    struct pb_server_options rpc = PB_SERVER_OPTIONS_INIT;
    struct talk t;

    rpc.error_style = PB_ERRORS_AS_RPC;
    start(&t, "2025-11-25", &tool, NULL);
    CHECK_HAS(talk_ask(&t, LEGACY("tools/call", CALL("t", "{}"))),
              "Tool 't' gave a result that breaks its output schema: /n: ");
    CHECK_HAS(t.sent[0], "\"isError\":true");
    talk_close(&t);
    start(&t, "2025-11-25", &tool, &rpc);
    CHECK_HAS(talk_ask(&t, LEGACY("tools/call", CALL("t", "{}"))), "\"code\":-32603");
    talk_close(&t);
    tool.ctx = (void *)"{\"n\":3}";
    start(&t, "2025-11-25", &tool, NULL);
    CHECK_HAS(talk_ask(&t, LEGACY("tools/call", CALL("t", "{}"))),
              "\"structuredContent\":{\"n\":3}}}");
    talk_close(&t);
    tool.run = nothing;
    start(&t, "2025-11-25", &tool, NULL);
    CHECK_HAS(talk_ask(&t, LEGACY("tools/call", CALL("t", "{}"))), "there is no structured result");
    talk_close(&t);
}

TEST(a_handler_that_says_nothing_gives_no_content)
{
    struct talk t;

    start(&t, "2025-11-25", &(struct pb_tool){ "t", .run = nothing }, NULL);
    CHECK_STR(talk_ask(&t, LEGACY("tools/call", CALL("t", "{}"))), RESULT "{\"content\":[]}}");
    talk_close(&t);
}

/* ---- while it runs ------------------------------------------------------------------------ */

static int chatty(struct pb_call *call, void *ctx)
{
    (void)ctx;
    pb_call_progress(call, 0, 100, NULL);
    pb_call_log(call, PB_LOG_INFO, "log", "{\n\"k\":1}");
    pb_call_progress(call, 50, 100, "half");
    pb_call_log(call, PB_LOG_INFO, NULL, "not json");
    pb_call_progress(call, 100, 100, NULL);
    return pb_reply_text(call, "done");
}

TEST(progress_and_log_arrive_in_order_and_before_the_answer)
{
    static const char *const want[] = {
        "\"progress\":0,\"total\":100}",       "\"logger\":\"log\",\"data\":{\"k\":1}}",
        "\"total\":100,\"message\":\"half\"}", "\"data\":\"not json\"}",
        "\"progress\":100,\"total\":100}",     "\"text\":\"done\"",
    };
    struct talk t;

    for (unsigned flags = 0; flags <= PB_ON_LOOP; flags += PB_ON_LOOP) {
        start(&t, "2025-11-25", &(struct pb_tool){ "t", .run = chatty, .flags = flags }, NULL);
        for (int round = 0; round < 50; round++) {
            talk_forget(&t);
            talk_say(&t,
                     LEGACY("tools/call", CALL("t", "{}") ",\"_meta\":{\"progressToken\":\"p\"}"));
            talk_wait(&t, ARRAY_LEN(want));
            for (size_t i = 0; i < ARRAY_LEN(want); i++)
                CHECK_HAS(t.sent[i], want[i]);
            CHECK_INT(t.n, ARRAY_LEN(want));
        }
        talk_close(&t);
    }
}

TEST(nobody_is_told_of_progress_who_did_not_ask)
{
    struct talk t;

    talk_open(&t, PEER_MEMORY, NULL);
    CHECK_INT(pb_server_add_tool(t.server, &(struct pb_tool){ "t", .run = chatty }, NULL), 0);
    CHECK_HAS(talk_ask(&t, MODERN("tools/call", CALL("t", "{}") ",")), "done");
    talk_close(&t);
}

static int flooding(struct pb_call *call, void *ctx)
{
    atomic_int *done = ctx;

    for (int i = 1; i <= 10 * MCP_CALL_EVENTS_MAX; i++)
        pb_call_progress(call, i, 0, NULL);
    pb_reply_text(call, "done");
    atomic_store(done, 1);
    return 0;
}

/* The loop does not turn meanwhile: what it cannot take is dropped, the answer never. */
TEST(a_flood_of_progress_is_bounded)
{
    atomic_int done = 0;
    struct talk t;

    start(&t, "2025-11-25", &(struct pb_tool){ "t", .run = flooding, .ctx = &done }, NULL);
    talk_say(&t, LEGACY("tools/call", CALL("t", "{}") ",\"_meta\":{\"progressToken\":\"p\"}"));
    while (!atomic_load(&done))
        sched_yield();
    talk_wait(&t, MCP_CALL_EVENTS_MAX + 1);
    CHECK_HAS(t.sent[MCP_CALL_EVENTS_MAX - 1], "\"progress\":1024}");
    CHECK_HAS(t.sent[MCP_CALL_EVENTS_MAX], "\"text\":\"done\"");
    talk_close(&t);
}

struct gate {
    atomic_int entered, cancelled, left;
};

static int until_cancelled(struct pb_call *call, void *ctx)
{
    struct gate *g = ctx;

    atomic_fetch_add(&g->entered, 1);
    while (!pb_call_wait(call, 10000))
        ;
    CHECK(pb_call_cancelled(call));
    CHECK_STR(pb_arg_string(call, "text"), "still here");
    CHECK_STR(pb_call_client_info(call), "{\"name\":\"c\",\"version\":\"1\"}");
    pb_call_progress(call, 1, 1, "too late");
    atomic_fetch_add(&g->cancelled, 1);
    return pb_reply_text(call, "too late");
}

static void until(struct talk *t, atomic_int *flag, int value)
{
    while (atomic_load(flag) < value) {
        loop_turn(t->loop, false);
        sched_yield();
    }
}

static void settle(struct talk *t)
{
    while (loop_turn(t->loop, false))
        sched_yield();
}

/* S2-8 S2-26 S2-29 S2-89 */
TEST(a_cancelled_call_is_told_so_and_its_late_answer_is_dropped)
{
    struct gate g = { 0 };
    struct pb_tool tool = { "t", .params = text_param, .run = until_cancelled, .ctx = &g };
    struct talk t;

    start(&t, "2025-11-25", &tool, NULL);
    talk_say(&t, LEGACY("tools/call", CALL("t", "{\"text\":\"still here\"}")));
    until(&t, &g.entered, 1);
    talk_say(&t, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
                 "\"requestId\":1}}");
    until(&t, &g.cancelled, 1);
    settle(&t);
    CHECK_INT(t.n, 0);
    talk_close(&t);
}

TEST(a_peer_that_goes_cancels_its_calls)
{
    struct gate g = { 0 };
    struct pb_tool tool = { "t", .params = text_param, .run = until_cancelled, .ctx = &g };
    struct talk t;

    start(&t, "2025-11-25", &tool, NULL);
    talk_say(&t, LEGACY("tools/call", CALL("t", "{\"text\":\"still here\"}")));
    until(&t, &g.entered, 1);
    peer_close(TAKE(t.peer));
    until(&t, &g.cancelled, 1);
    settle(&t);
    CHECK_INT(t.n, 0);
    talk_close(&t);
}

/* S2-51 */
TEST(a_tool_that_takes_too_long_is_answered_for)
{
    static const struct {
        uint32_t tool_ms, server_ms, want_ms;
        const char *text;
    } cases[] = {
        { 0, 0, 60000, "Tool 't' timed out after 60 s" },
        { 0, 2500, 2500, "Tool 't' timed out after 2.5 s" },
        { 300, 2500, 300, "Tool 't' timed out after 0.3 s" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        for (int style = 0; style < 2; style++) {
            struct gate g = { 0 };
            struct pb_server_options opts = PB_SERVER_OPTIONS_INIT;
            struct pb_tool tool = { "t", .params = text_param, .run = until_cancelled, .ctx = &g,
                                    .timeout_ms = cases[i].tool_ms };
            struct talk t;

            opts.tool_timeout_ms = cases[i].server_ms;
            opts.error_style = style ? PB_ERRORS_AS_RPC : PB_ERRORS_AS_RESULTS;
            start(&t, "2025-11-25", &tool, &opts);
            talk_say(&t, LEGACY("tools/call", CALL("t", "{\"text\":\"still here\"}")));
            until(&t, &g.entered, 1);
            loop_advance(t.loop, cases[i].want_ms - 1);
            CHECK_INT(t.n, 0);
            loop_advance(t.loop, 1);
            CHECK_INT(t.n, 1);
            CHECK_HAS(t.sent[0], cases[i].text);
            CHECK_HAS(t.sent[0], style ? "\"code\":-32603" : "\"isError\":true");
            until(&t, &g.cancelled, 1);
            settle(&t);
            CHECK_INT(t.n, 1);
            talk_close(&t);
        }
    }
}

TEST(a_tool_may_have_no_time_limit)
{
    struct gate g = { 0 };
    struct pb_tool tool = { "t", .params = text_param, .run = until_cancelled, .ctx = &g,
                            .timeout_ms = UINT32_MAX };
    struct talk t;

    start(&t, "2025-11-25", &tool, NULL);
    talk_say(&t, LEGACY("tools/call", CALL("t", "{\"text\":\"still here\"}")));
    until(&t, &g.entered, 1);
    loop_advance(t.loop, 1000000000);
    CHECK_INT(t.n, 0);
    talk_close(&t);
    CHECK_INT(atomic_load(&g.cancelled), 1);
}

/* ---- answering later ---------------------------------------------------------------------- */

struct later {
    struct pb_call *call;
    pthread_t thread;
    bool early; /* finish before the handler returns */
};

static void *finish_later(void *ctx)
{
    struct later *l = ctx;

    pb_call_progress(l->call, 1, 2, "from another thread");
    pb_reply_text(l->call, "%s, later", pb_arg_string(l->call, "text"));
    pb_call_finish(l->call, 0);
    return NULL;
}

static int deferring(struct pb_call *call, void *ctx)
{
    struct later *l = ctx;

    l->call = call;
    pb_call_defer(call);
    CHECK_INT(pthread_create(&l->thread, NULL, finish_later, l), 0);
    if (l->early)
        pthread_join(l->thread, NULL);
    return 0;
}

TEST(a_deferred_call_is_answered_by_whoever_finishes_it)
{
    for (int k = 0; k < 4; k++) {
        struct later l = { .early = k & 1 };
        struct pb_tool tool = { "t", .params = text_param, .run = deferring, .ctx = &l,
                                .flags = k & 2 ? PB_ON_LOOP : 0 };
        struct talk t;

        start(&t, "2025-11-25", &tool, NULL);
        talk_say(&t, LEGACY("tools/call",
                            CALL("t", "{\"text\":\"x\"}") ",\"_meta\":{\"progressToken\":1}"));
        CHECK_HAS(talk_wait(&t, 1), "from another thread");
        CHECK_STR(talk_wait(&t, 2),
                  RESULT "{\"content\":[{\"type\":\"text\",\"text\":\"x, later\"}]}}");
        if (!l.early)
            pthread_join(l.thread, NULL);
        settle(&t);
        CHECK_INT(t.n, 2);
        talk_close(&t);
    }
}

static int keep(struct pb_call *call, void *ctx)
{
    *(struct pb_call **)ctx = call;
    pb_call_defer(call);
    return 0;
}

TEST(a_deferred_call_times_out_and_may_still_be_finished)
{
    struct pb_call *kept = NULL;
    struct pb_tool tool = { "t", .params = text_param, .run = keep, .ctx = &kept,
                            .flags = PB_ON_LOOP };
    struct talk t;

    start(&t, "2025-11-25", &tool, NULL);
    talk_say(&t, LEGACY("tools/call", CALL("t", "{\"text\":\"x\"}")));
    CHECK(kept && t.n == 0);
    loop_advance(t.loop, 60000);
    CHECK_HAS(talk_wait(&t, 1), "timed out");
    CHECK(pb_call_cancelled(kept));
    CHECK_STR(pb_arg_string(kept, "text"), "x");
    pb_reply_text(kept, "too late");
    pb_call_finish(kept, 0);
    settle(&t);
    CHECK_INT(t.n, 1);
    talk_close(&t);
}

TEST(more_workers_than_threads_are_all_answered)
{
    struct talk t;

    start(&t, "2025-11-25", &(struct pb_tool){ "t", .params = text_param, .run = echo }, NULL);
    for (int i = 0; i < 100; i++) {
        char text[160];

        snprintf(text, sizeof text,
                 "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{"
                 "\"name\":\"t\",\"arguments\":{\"text\":\"%d\"}}}",
                 i, i);
        talk_say(&t, text);
    }
    talk_wait(&t, 100);
    for (size_t i = 0; i < 100; i++) {
        AUTO_JSON struct json_doc doc = { 0 };
        struct json root, block;

        CHECK_INT(json_parse(&doc, span_of(t.sent[i]), NULL, NULL), 0);
        root = json_root(&doc);
        block = json_item(json_get(json_get(root, "result"), "content"), 0);
        CHECK_INT(json_text(json_get(root, "id")).n + 2, json_text(json_get(block, "text")).n);
        CHECK(memcmp(json_text(json_get(root, "id")).p, json_text(json_get(block, "text")).p + 1,
                     json_text(json_get(root, "id")).n) == 0);
    }
    talk_close(&t);
}

/* A pb_server_free() in the middle of things: the worker is told, and nothing is lost. */
TEST(freeing_the_server_cancels_what_runs)
{
    struct gate g = { 0 };
    struct pb_tool tool = { "t", .params = text_param, .run = until_cancelled, .ctx = &g };
    struct talk t;

    start(&t, "2025-11-25", &tool, NULL);
    talk_say(&t, LEGACY("tools/call", CALL("t", "{\"text\":\"still here\"}")));
    until(&t, &g.entered, 1);
    talk_close(&t);
    CHECK_INT(atomic_load(&g.cancelled), 1);
}

/* The program kept a call for later, and ends the server before. */
TEST(a_deferred_call_may_be_finished_after_its_server)
{
    struct pb_call *kept = NULL;
    struct pb_tool tool = { "t", .params = text_param, .run = keep, .ctx = &kept,
                            .flags = PB_ON_LOOP };
    struct talk t;

    start(&t, "2025-11-25", &tool, NULL);
    talk_say(
        &t, LEGACY("tools/call", CALL("t", "{\"text\":\"x\"}") ",\"_meta\":{\"progressToken\":1}"));
    CHECK(kept);
    talk_close(&t);
    CHECK(pb_call_cancelled(kept));
    CHECK_STR(pb_arg_string(kept, "text"), "x");
    pb_call_progress(kept, 1, 1, "to nobody");
    pb_reply_text(kept, "to nobody");
    pb_call_finish(kept, 0);
}

static int numbered(struct pb_call *call, void *ctx)
{
    (void)ctx;
    return pb_reply_text(call, "%s", pb_arg_string(call, "text"));
}

/* The cost of a call that does next to nothing, in blocks of memory. */
TEST(a_small_call_on_the_loop_allocates_little)
{
    struct talk t;
    uint64_t before, calls = 100;

    start(&t, "2025-11-25",
          &(struct pb_tool){ "t", .params = text_param, .run = numbered, .flags = PB_ON_LOOP },
          NULL);
    for (int i = 0; i < 10; i++)
        talk_ask(&t, LEGACY("tools/call", CALL("t", "{\"text\":\"x\"}")));
    before = mem_count();
    for (uint64_t i = 0; i < calls; i++)
        talk_ask(&t, LEGACY("tools/call", CALL("t", "{\"text\":\"x\"}")));
    if (mem_count() - before > 14 * calls)
        TAP_FAIL("%llu blocks per call", (unsigned long long)((mem_count() - before) / calls));
    talk_close(&t);
}
