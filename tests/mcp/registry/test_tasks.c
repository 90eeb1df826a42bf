#include "mcp/rpc/rpc.h"
#include "mcp/serve/serve.h"
#include "mcp/talk.h"
#include <stdatomic.h>

#define TASKS_CAPS  "{\"elicitation\":{},\"extensions\":{\"" EXT_TASKS "\":{}}}"
#define NAME_SCHEMA "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"}}}"
#define MISSING                                                                                \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32021,\"message\":\"Missing required " \
    "client capability\",\"data\":{\"requiredCapabilities\":{\"extensions\":{"                 \
    "\"io.modelcontextprotocol/tasks\":{}}}}}}"

struct gate {
    atomic_int entered, open, cancelled;
};

static int gated(struct pb_call *call, void *ctx)
{
    struct gate *g = ctx;

    atomic_fetch_add(&g->entered, 1);
    while (!atomic_load(&g->open) && !pb_call_cancelled(call))
        pb_call_wait(call, 1);
    if (pb_call_cancelled(call))
        atomic_fetch_add(&g->cancelled, 1);
    return pb_reply_text(call, "done with %s", pb_arg_string(call, "x"));
}

static int simple(struct pb_call *call, void *ctx)
{
    const char *how = ctx;

    pb_call_progress(call, 1, 2, "half way");
    if (how && strcmp(how, "fail") == 0)
        return pb_fail(call, "it broke");
    if (how && strcmp(how, "rpc") == 0)
        return pb_fail_rpc(call, -32050, "worse", "{\"k\":1}");
    return pb_reply_text(call, "ok");
}

static void add(struct talk *t, pb_handler *run, void *ctx, unsigned flags)
{
    struct pb_error err;
    struct pb_tool tool = { "t", .run = run, .ctx = ctx, .flags = flags,
                            .input_schema = "{\"type\":\"object\"}" };

    if (pb_server_add_tool(t->server, &tool, &err) < 0)
        TAP_FAIL("%s", err.msg);
}

static const char *const call_t =
    MODERN_CAPS(TASKS_CAPS, "tools/call", "\"name\":\"t\",\"arguments\":{\"x\":\"a\"},");

/* The id of the task that the last answer made. */
static const char *task_id(struct talk *t)
{
    static char id[64];
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena a = { 0 };
    struct json v;

    CHECK_INT(json_parse(&doc, span_of(t->sent[t->n - 1]), NULL, NULL), 0);
    v = json_get(json_get(json_root(&doc), "result"), "taskId");
    if (!json_is(v, JSON_STRING))
        TAP_FAIL("no task: %s", t->sent[t->n - 1]);
    snprintf(id, sizeof id, "%s", json_cstr(v, &a));
    return id;
}

static const char *about(struct talk *t, const char *method, const char *id, const char *more)
{
    AUTO_BUF struct buf text = { 0 };

    buf_printf(&text,
               "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\",\"params\":{\"taskId\":\"%s\",%s"
               "\"_meta\":{\"" META_VERSION "\":\"2026-07-28\",\"" META_CLIENT_CAPS "\":" TASKS_CAPS
               "}}}",
               method, id, more);
    return talk_ask(t, buf_cstr(&text));
}

static const char *get(struct talk *t, const char *id) { return about(t, "tasks/get", id, ""); }

/* tasks/get until the status is this one. */
static const char *get_until(struct talk *t, const char *id, const char *status)
{
    AUTO_BUF struct buf want = { 0 };

    buf_printf(&want, "\"status\":\"%s\"", status);
    while (!strstr(get(t, id), buf_cstr(&want))) {
        loop_turn(t->loop, false);
        sched_yield();
    }
    return t->sent[0];
}

static void until(struct talk *t, atomic_int *flag)
{
    while (!atomic_load(flag)) {
        loop_turn(t->loop, false);
        sched_yield();
    }
}

#define TASK_TAIL                                                                                \
    "\"createdAt\":\"1970-01-01T00:00:00.000Z\",\"lastUpdatedAt\":\"1970-01-01T00:00:00.000Z\"," \
    "\"ttlMs\":3600000,\"pollIntervalMs\":500"

TEST(a_task_is_made_worked_on_and_completed)
{
    struct gate g = { 0 };
    AUTO_BUF struct buf want = { 0 };
    char id[64];
    struct talk t;

    talk_open(&t, PEER_MEMORY, NULL);
    t.clock.wall = 0;
    add(&t, gated, &g, PB_TASK_ALLOWED);
    talk_ask(&t, call_t);
    snprintf(id, sizeof id, "%s", task_id(&t));
    CHECK_INT(strlen(id), UUID_CHARS);
    CHECK_HAS(t.sent[0], "\"resultType\":\"task\",\"taskId\":\"");
    CHECK_HAS(t.sent[0], "\"status\":\"working\"," TASK_TAIL "}");
    CHECK(!strstr(t.sent[0], "requestState"));
    buf_printf(&want, MODERN_RESULT ",\"taskId\":\"%s\",\"status\":\"working\"," TASK_TAIL "}}",
               id);
    CHECK_STR(get(&t, id), buf_cstr(&want));
    atomic_store(&g.open, 1);
    CHECK_HAS(get_until(&t, id, "completed"), TASK_TAIL
              ",\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"done with a\"}]}}}");
    talk_close(&t);
}

TEST(a_failed_tool_completes_and_a_failed_request_fails)
{
    static const struct {
        const char *how, *status, *want;
    } cases[] = {
        { "fail", "completed",
          "\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"it broke\"}],\"isError\":true}" },
        { "rpc", "failed", "\"error\":{\"code\":-32050,\"message\":\"worse\",\"data\":{\"k\":1}}" },
        { "ok", "completed", "\"statusMessage\":\"half way\"" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        for (unsigned flags = 0; flags <= PB_ON_LOOP; flags += PB_ON_LOOP) {
            char id[64];
            struct talk t;

            talk_open(&t, PEER_MEMORY, NULL);
            add(&t, simple, (void *)cases[i].how, PB_TASK_REQUIRED | flags);
            talk_ask(&t, call_t);
            snprintf(id, sizeof id, "%s", task_id(&t));
            CHECK_HAS(get_until(&t, id, cases[i].status), cases[i].want);
            talk_close(&t);
        }
    }
}

TEST(clients_without_the_extension_get_no_tasks)
{
    struct talk t;

    talk_open(&t, PEER_STATELESS, NULL);
    add(&t, simple, NULL, PB_TASK_ALLOWED);
    CHECK_HAS(talk_ask(&t, MODERN("tools/call", "\"name\":\"t\",")), "\"text\":\"ok\"");
    CHECK_STR(talk_ask(&t, MODERN("tasks/get", "\"taskId\":\"x\",")), MISSING);
    CHECK_INT(t.http_status, 400);
    CHECK_STR(talk_ask(&t, MODERN("tasks/update", "\"taskId\":\"x\",\"inputResponses\":{},")),
              MISSING);
    CHECK_STR(talk_ask(&t, MODERN("tasks/cancel", "\"taskId\":\"x\",")), MISSING);
    add(&t, simple, NULL, PB_TASK_REQUIRED);
    CHECK_STR(talk_ask(&t, MODERN("tools/call", "\"name\":\"t\",")), MISSING);
    talk_close(&t);
    talk_open(&t, PEER_MEMORY, NULL);
    add(&t, simple, NULL, PB_TASK_REQUIRED);
    talk_shake(&t, "2025-11-25", "{}");
    CHECK_HAS(talk_ask(&t, LEGACY("tools/call", "\"name\":\"t\"")), "\"code\":-32601");
    CHECK_HAS(talk_ask(&t, LEGACY("tasks/get", "\"taskId\":\"x\"")), "\"code\":-32601");
    talk_close(&t);
}

TEST(cancelling_ends_a_task_and_may_be_said_again)
{
    struct gate g = { 0 };
    char id[64];
    struct talk t;

    talk_open(&t, PEER_MEMORY, NULL);
    add(&t, gated, &g, PB_TASK_ALLOWED);
    talk_ask(&t, call_t);
    snprintf(id, sizeof id, "%s", task_id(&t));
    until(&t, &g.entered);
    CHECK_STR(about(&t, "tasks/cancel", id, ""), MODERN_RESULT "}}");
    CHECK_HAS(get(&t, id), "\"status\":\"cancelled\"");
    until(&t, &g.cancelled);
    while (loop_turn(t.loop, false))
        ;
    CHECK_HAS(get(&t, id), "\"status\":\"cancelled\"");
    CHECK(!strstr(t.sent[0], "\"result\":{\"content\""));
    CHECK_STR(about(&t, "tasks/cancel", id, ""), MODERN_RESULT "}}");
    talk_close(&t);
}

TEST(unknown_tasks_are_invalid_params_and_so_are_those_of_others)
{
    struct gate g = { 0 };
    char id[64];
    struct talk t;

    talk_open(&t, PEER_MEMORY, NULL);
    add(&t, gated, &g, PB_TASK_ALLOWED);
    peer_set_principal(t.peer, "ann");
    talk_ask(&t, call_t);
    snprintf(id, sizeof id, "%s", task_id(&t));
    peer_set_principal(t.peer, "bob");
    CHECK_STR(get(&t, id), FAILED("-32602", "Task not found"));
    CHECK_STR(about(&t, "tasks/cancel", id, ""), FAILED("-32602", "Task not found"));
    CHECK_STR(about(&t, "tasks/update", id, "\"inputResponses\":{},"),
              FAILED("-32602", "Task not found"));
    CHECK_INT(atomic_load(&g.cancelled), 0);
    peer_set_principal(t.peer, "ann");
    CHECK_HAS(get(&t, id), "\"status\":\"working\"");
    CHECK_STR(get(&t, "none"), FAILED("-32602", "Task not found"));
    CHECK_STR(talk_ask(&t, MODERN_CAPS(TASKS_CAPS, "tasks/get", "")),
              FAILED("-32602", "taskId: expected a string, got nothing"));
    CHECK_HAS(talk_ask(&t, MODERN_CAPS(TASKS_CAPS, "tasks/list", "")), "-32601");
    CHECK_HAS(talk_ask(&t, MODERN_CAPS(TASKS_CAPS, "tasks/result", "\"taskId\":\"x\",")), "-32601");
    talk_close(&t);
}

/* ---- questions ---------------------------------------------------------------------------- */

static int two_questions(struct pb_call *call, void *ctx)
{
    const char *a, *b;
    int rc = pb_ask_form(call, "a", "A?", NAME_SCHEMA, &a);

    (void)ctx;
    rc |= pb_ask_form(call, "b", "B?", NAME_SCHEMA, &b);
    return rc < 0 ? -PB_E_INPUT : pb_reply_text(call, "%s %s", a, b);
}

#define ANSWER(key) "\"" key "\":{\"action\":\"accept\",\"content\":{\"name\":\"of-" key "\"}}"

TEST(a_task_asks_and_is_answered_bit_by_bit)
{
    char id[64];
    struct talk t;

    talk_open(&t, PEER_MEMORY, NULL);
    add(&t, two_questions, NULL, PB_TASK_ALLOWED);
    talk_ask(&t, call_t);
    snprintf(id, sizeof id, "%s", task_id(&t));
    CHECK_HAS(get_until(&t, id, "input_required"),
              "\"inputRequests\":{\"a\":{\"method\":\"elicitation/create\",\"params\":{\"message\":"
              "\"A?\",\"requestedSchema\":" NAME_SCHEMA "}},\"b\":{");
    CHECK_HAS(about(&t, "tasks/update", id, "\"inputResponses\":{\"a\":7},"),
              "inputResponses.a: expected an object");
    CHECK_STR(about(&t, "tasks/update", id, "\"inputResponses\":{\"zzz\":{}," ANSWER("a") "},"),
              MODERN_RESULT "}}");
    CHECK_HAS(get(&t, id), "\"status\":\"input_required\"");
    CHECK_HAS(t.sent[0], "\"inputRequests\":{\"b\":{");
    CHECK_HAS(about(&t, "tasks/update", id,
                    "\"inputResponses\":{\"b\":{\"action\":\"accept\",\"content\":{\"name\":1}}},"),
              "\"resultType\":\"complete\"");
    CHECK_HAS(get(&t, id), "\"inputRequests\":{\"b\":{");
    CHECK_STR(about(&t, "tasks/update", id, "\"inputResponses\":{" ANSWER("b") "},"),
              MODERN_RESULT "}}");
    CHECK_HAS(get_until(&t, id, "completed"), "of-a");
    CHECK_HAS(t.sent[0], "of-b");
    CHECK_STR(about(&t, "tasks/update", id, "\"inputResponses\":{" ANSWER("b") "},"),
              MODERN_RESULT "}}");
    CHECK_HAS(about(&t, "tasks/update", id, ""), "inputResponses: expected an object, got nothing");
    talk_close(&t);
}

TEST(a_task_that_waits_for_answers_can_be_cancelled)
{
    char id[64];
    struct talk t;

    talk_open(&t, PEER_MEMORY, NULL);
    add(&t, two_questions, NULL, PB_TASK_ALLOWED);
    talk_ask(&t, call_t);
    snprintf(id, sizeof id, "%s", task_id(&t));
    get_until(&t, id, "input_required");
    about(&t, "tasks/cancel", id, "");
    CHECK_HAS(get(&t, id), "\"status\":\"cancelled\"");
    CHECK(!strstr(t.sent[0], "inputRequests"));
    talk_close(&t);
}

static int ask_then_work(struct pb_call *call, void *ctx)
{
    struct gate *g = ctx;
    const char *answer;
    int rc = pb_ask_form(call, "user_name", "Name?", NAME_SCHEMA, &answer);

    if (rc < 0)
        return rc;
    pb_call_task(call);
    pb_call_task(call); /* once is enough */
    while (g && !atomic_load(&g->open) && !pb_call_cancelled(call))
        pb_call_wait(call, 1);
    return pb_reply_text(call, "worked for %s", answer);
}

/* Questions before the task are answered before there is one. */
TEST(a_tool_may_ask_first_and_become_a_task_then)
{
    for (unsigned flags = 0; flags <= PB_ON_LOOP; flags += PB_ON_LOOP) {
        struct gate g = { .open = flags != 0 };
        AUTO_BUF struct buf again = { 0 };
        AUTO_JSON struct json_doc doc = { 0 };
        char id[64];
        struct talk t;

        talk_open(&t, PEER_MEMORY, NULL);
        add(&t, ask_then_work, &g, PB_TASK_REQUIRED | PB_TASK_LATER | flags);
        CHECK_HAS(talk_ask(&t, call_t), "\"resultType\":\"input_required\"");
        CHECK(!strstr(t.sent[0], "taskId"));
        CHECK_INT(json_parse(&doc, span_of(t.sent[0]), NULL, NULL), 0);
        buf_str(&again,
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":"
                "\"t\",\"arguments\":{\"x\":\"a\"},\"inputResponses\":{"
                "\"user_name\":{\"action\":\"accept\",\"content\":{\"name\":\"Alice\"}}},"
                "\"requestState\":");
        buf_add_span(&again,
                     json_text(json_get(json_get(json_root(&doc), "result"), "requestState")));
        buf_str(&again, ",\"_meta\":{\"" META_VERSION "\":\"2026-07-28\",\"" META_CLIENT_CAPS
                        "\":" TASKS_CAPS "}}}");
        CHECK_HAS(talk_ask(&t, buf_cstr(&again)), "\"resultType\":\"task\"");
        CHECK(!strstr(t.sent[0], "requestState"));
        snprintf(id, sizeof id, "%s", task_id(&t));
        atomic_store(&g.open, 1);
        CHECK_HAS(get_until(&t, id, "completed"), "Alice");
        talk_close(&t);
    }
}

/* ---- time and numbers --------------------------------------------------------------------- */

TEST(an_ended_task_stays_for_its_time_and_a_forgotten_one_is_cancelled)
{
    struct gate g = { 0 };
    char id[64];
    struct talk t;

    talk_open(&t, PEER_MEMORY, NULL);
    add(&t, gated, &g, PB_TASK_ALLOWED);
    talk_ask(&t, call_t);
    snprintf(id, sizeof id, "%s", task_id(&t));
    until(&t, &g.entered);
    t.clock.wall += 1000;
    loop_advance(t.loop, 1000);
    atomic_store(&g.open, 1);
    get_until(&t, id, "completed");
    CHECK_HAS(t.sent[0], "\"ttlMs\":360"); /* from its making, so it grew */
    loop_advance(t.loop, MCP_TASK_KEEP_MS - 1);
    CHECK_HAS(get(&t, id), "completed");
    loop_advance(t.loop, 1);
    CHECK_STR(get(&t, id), FAILED("-32602", "Task not found"));
    atomic_store(&g.open, 0);
    atomic_store(&g.entered, 0);
    talk_ask(&t, call_t);
    snprintf(id, sizeof id, "%s", task_id(&t));
    until(&t, &g.entered);
    loop_advance(t.loop, MCP_TASK_KEEP_MS);
    CHECK_STR(get(&t, id), FAILED("-32602", "Task not found"));
    until(&t, &g.cancelled);
    talk_close(&t);
}

TEST(the_time_limit_of_a_tool_holds_in_a_task_if_it_is_its_own)
{
    for (int style = 0; style < 2; style++) {
        struct pb_server_options opts = PB_SERVER_OPTIONS_INIT;
        struct gate g = { 0 };
        struct pb_tool tool = { "t",
                                .run = gated,
                                .ctx = &g,
                                .flags = PB_TASK_ALLOWED,
                                .timeout_ms = 90000,
                                .input_schema = "{\"type\":\"object\"}" };
        char id[64];
        struct talk t;

        opts.error_style = style ? PB_ERRORS_AS_RPC : PB_ERRORS_AS_RESULTS;
        talk_open(&t, PEER_MEMORY, &opts);
        CHECK_INT(pb_server_add_tool(t.server, &tool, NULL), 0);
        talk_ask(&t, call_t);
        snprintf(id, sizeof id, "%s", task_id(&t));
        until(&t, &g.entered);
        loop_advance(t.loop, 89999);
        CHECK_HAS(get(&t, id), "working");
        loop_advance(t.loop, 1);
        CHECK_HAS(get(&t, id), "Tool 't' timed out after 90 s");
        CHECK_HAS(t.sent[0], style ? "\"status\":\"failed\"" : "\"isError\":true");
        until(&t, &g.cancelled);
        talk_close(&t);
    }
}

/* The bound and one past it: ended tasks make room, running ones do not. */
TEST(the_number_of_tasks_is_bounded)
{
    struct talk t;
    char first[64], second[64];

    talk_open(&t, PEER_MEMORY, NULL);
    add(&t, two_questions, NULL, PB_TASK_ALLOWED | PB_ON_LOOP);
    talk_ask(&t, call_t);
    snprintf(first, sizeof first, "%s", task_id(&t));
    for (int i = 1; i < MCP_TASKS_MAX; i++)
        talk_ask(&t, call_t);
    snprintf(second, sizeof second, "%s", task_id(&t));
    CHECK_STR(talk_ask(&t, call_t), FAILED("-32603", "Too many tasks are running"));
    about(&t, "tasks/cancel", second, "");
    CHECK_HAS(talk_ask(&t, call_t), "\"resultType\":\"task\"");
    CHECK_STR(get(&t, second), FAILED("-32602", "Task not found"));
    CHECK_HAS(get(&t, first), "input_required");
    talk_close(&t);
}

static int large(struct pb_call *call, void *ctx)
{
    AUTO_BUF struct buf text = { 0 };
    const size_t *n = ctx;

    memset(buf_reserve(&text, *n), 'x', *n);
    return pb_reply_bytes(call, text.p, *n);
}

/* Below the bound, past it, and one that is past it alone: the newest is never dropped. */
TEST(the_size_of_kept_results_is_bounded)
{
    size_t n = MCP_TASKS_BYTES_MAX / 4;
    char ids[5][64];
    struct talk t;

    talk_open(&t, PEER_MEMORY, NULL);
    add(&t, large, &n, PB_TASK_ALLOWED | PB_ON_LOOP);
    for (size_t i = 0; i < 4; i++) {
        CHECK_HAS(talk_ask(&t, call_t), "\"resultType\":\"task\"");
        snprintf(ids[i], sizeof ids[i], "%s", task_id(&t));
        n = i == 1 ? n - 1000 : n; /* braces and brackets need room too */
    }
    CHECK_HAS(get(&t, ids[0]), "completed");
    CHECK_HAS(get(&t, ids[3]), "completed");
    talk_ask(&t, call_t);
    snprintf(ids[4], sizeof ids[4], "%s", task_id(&t));
    CHECK_STR(get(&t, ids[0]), FAILED("-32602", "Task not found"));
    CHECK_HAS(get(&t, ids[1]), "completed");
    CHECK_HAS(get(&t, ids[4]), "completed");
    n = MCP_TASKS_BYTES_MAX + 1;
    talk_ask(&t, call_t);
    snprintf(ids[0], sizeof ids[0], "%s", task_id(&t));
    CHECK_HAS(get(&t, ids[0]), "completed");
    CHECK_STR(get(&t, ids[4]), FAILED("-32602", "Task not found"));
    talk_close(&t);
}

/* A server on its own, real loop: nothing but the stop ends the task, and freeing waits for it. */
TEST(tasks_end_with_their_server)
{
    static const struct peer_ops ops = { .send = talk_send, .finished = talk_finished };
    struct pb_server *server = pb_server_new(NULL);
    struct gate g = { 0 };
    struct talk t = { .server = server, .loop = pb_server_loop(server) };

    add(&t, gated, &g, PB_TASK_ALLOWED);
    t.peer = peer_new(server, PEER_MEMORY, &ops, &t);
    talk_ask(&t, call_t);
    task_id(&t);
    until(&t, &g.entered);
    peer_close(t.peer);
    CHECK_INT(atomic_load(&g.cancelled), 0);
    pb_server_free(server);
    CHECK_INT(atomic_load(&g.cancelled), 1);
    talk_forget(&t);
}

/* ---- telling ------------------------------------------------------------------------------ */

TEST(listeners_hear_every_change_of_their_tasks)
{
    AUTO_BUF struct buf listen = { 0 };
    struct gate g = { 0 };
    char id[64];
    struct talk t;

    talk_open(&t, PEER_MEMORY, NULL);
    add(&t, gated, &g, PB_TASK_ALLOWED);
    talk_ask(&t, call_t);
    snprintf(id, sizeof id, "%s", task_id(&t));
    buf_printf(&listen,
               "{\"jsonrpc\":\"2.0\",\"id\":\"L\",\"method\":\"subscriptions/listen\",\"params\":{"
               "\"notifications\":{\"taskIds\":[\"%s\"]},\"_meta\":{\"" META_VERSION
               "\":\"2026-07-28\",\"" META_CLIENT_CAPS "\":" TASKS_CAPS "}}}",
               id);
    talk_forget(&t);
    talk_say(&t, buf_cstr(&listen));
    CHECK_HAS(talk_wait(&t, 1), "acknowledged");
    CHECK_HAS(t.sent[0], id);
    atomic_store(&g.open, 1);
    CHECK_HAS(talk_wait(&t, 2), "\"method\":\"notifications/tasks\"");
    CHECK_HAS(t.sent[1], "\"status\":\"completed\"");
    CHECK_HAS(t.sent[1], "done with a");
    CHECK_HAS(t.sent[1], "\"" META_SUBSCRIPTION_ID "\":\"L\"");
    talk_close(&t);
}
