/* test_client_modern.c - the modern era over HTTP: headers, rounds of questions, listening. */
#include "io/http/http.h"
#include "mcp/client/client.h"
#include "mcp/client/client_impl.h"
#include "mcp/client_rig.h"
#include "mcp/registry/registry.h"
#include "mcp/rpc/rpc.h"

static void open_modern(struct site *s, bool manual,
                        void (*answer)(struct web *, struct http_request *, const char *,
                                       const char *),
                        struct pb_client_options *more)
{
    site_open(s, manual, answer, more);
    CHECK_INT(client_era(s->r.client), ERA_MODERN);
}

static void settle(struct rig *r)
{
    for (int i = 0; i < 50; i++)
        loop_turn(r->loop, false);
}

static void log_header(struct web *w, struct http_request *r, const char *name)
{
    struct span v = http_header(r, name, NULL);
    char line[256];

    snprintf(line, sizeof line, " %.*s", v.p ? (int)v.n : 1, v.p ? v.p : "-");
    web_log(w, line);
}

/* ---- headers ---- */

#define TOOLS                                                                               \
    "{\"resultType\":\"complete\",\"ttlMs\":0,\"cacheScope\":\"private\",\"tools\":["       \
    "{\"name\":\"deploy\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"region\":" \
    "{\"type\":\"string\",\"x-mcp-header\":\"Region\"}}}},"                                 \
    "{\"name\":\"broken\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"n\":"      \
    "{\"type\":\"number\",\"x-mcp-header\":\"N\"}}}},"                                      \
    "{\"name\":\"plain\",\"inputSchema\":{\"type\":\"object\"},\"x\":1.0}],\"extra\":[1.0]}"

static void answer_tools(struct web *w, struct http_request *r, const char *method, const char *id)
{
    log_header(w, r, "MCP-Protocol-Version");
    log_header(w, r, "Mcp-Method");
    log_header(w, r, "Mcp-Name");
    log_header(w, r, "Mcp-Param-Region");
    log_header(w, r, "Mcp-Session-Id");
    web_log(w, "\n");
    if (web_modern(r, method, id))
        return;
    if (strcmp(method, "tools/list") == 0)
        web_result(r, id, TOOLS, "Mcp-Session-Id: legacy-habit\r\n");
    else if (strncmp(method, "notifications/", 14) == 0)
        web_reply(r, 202, NULL, "");
    else
        web_result(r, id, "{\"resultType\":\"complete\"}", NULL);
}

TEST(every_request_says_in_headers_what_its_body_says)
{
    struct site s = { 0 };
    struct pb_error err;

    open_modern(&s, false, answer_tools, NULL);
    RIG_RESULT(&s.r, "resources/read", "{\"uri\":\"file:///\\u00e9\"}",
               "{\"resultType\":\"complete\"}");
    RIG_RESULT(&s.r, "prompts/get", "{\"name\":\"p\"}", "{\"resultType\":\"complete\"}");
    RIG_RESULT(&s.r, "tasks/get", "{\"taskId\":\"t1\"}", "{\"resultType\":\"complete\"}");
    RIG_RESULT(&s.r, "completion/complete", "{}", "{\"resultType\":\"complete\"}");
    CHECK_INT(client_notify(s.r.client, "notifications/mine", SPAN(""), &err), 0);
    RIG_UNTIL(&s.r, strstr(s.w.log, "notifications/mine"));
    /* clang-format off */
    CHECK_STR(s.w.log,
        "POST server/discover\n 2026-07-28 server/discover - - -\n"
        "POST resources/read\n 2026-07-28 resources/read =?base64?ZmlsZTovLy/DqQ==?= - -\n"
        "POST prompts/get\n 2026-07-28 prompts/get p - -\n"
        "POST tasks/get\n 2026-07-28 tasks/get t1 - -\n"
        "POST completion/complete\n 2026-07-28 completion/complete - - -\n"
        "POST notifications/mine\n 2026-07-28 notifications/mine - - -\n");
    /* clang-format on */
    site_done(&s);
}

static void call_tool(struct rig *r, const char *params)
{
    RIG_RESULT(r, "tools/call", params, "{\"resultType\":\"complete\"}");
}

TEST(arguments_are_mirrored_once_the_list_is_known)
{
    struct site s = { 0 };
    struct answer a;

    open_modern(&s, false, answer_tools, NULL);
    rig_request(&s.r, &a, "tools/list", NULL);
    answer_done(&a);
    s.w.log[0] = 0;
    call_tool(&s.r, "{\"name\":\"deploy\",\"arguments\":{\"region\":\"us west\"}}");
    call_tool(&s.r, "{\"name\":\"deploy\",\"arguments\":{\"region\":null}}");
    call_tool(&s.r, "{\"name\":\"deploy\"}");
    call_tool(&s.r, "{\"name\":\"plain\",\"arguments\":{\"region\":\"x\"}}");
    CHECK_STR(s.w.log, "POST tools/call\n 2026-07-28 tools/call deploy us west -\n"
                       "POST tools/call\n 2026-07-28 tools/call deploy - -\n"
                       "POST tools/call\n 2026-07-28 tools/call deploy - -\n"
                       "POST tools/call\n 2026-07-28 tools/call plain - -\n");
    site_done(&s);
}

TEST(a_tool_with_unusable_annotations_is_left_out_and_nothing_else_changes)
{
    struct site s = { 0 };
    struct answer a;

    open_modern(&s, false, answer_tools, NULL);
    rig_request(&s.r, &a, "tools/list", NULL);
    CHECK_STR(a.result,
              "{\"resultType\":\"complete\",\"ttlMs\":0,\"cacheScope\":\"private\",\"tools\":["
              "{\"name\":\"deploy\",\"inputSchema\":{\"type\":\"object\",\"properties\":{"
              "\"region\":{\"type\":\"string\",\"x-mcp-header\":\"Region\"}}}},"
              "{\"name\":\"plain\",\"inputSchema\":{\"type\":\"object\"},\"x\":1.0}],"
              "\"extra\":[1.0]}");
    answer_done(&a);
    site_done(&s);
}

struct picky {
    int lists, calls;
    bool never; /* refuses whatever comes */
    bool no_list;
    bool says_nothing; /* to who asks for the list */
};

static void answer_picky(struct web *w, struct http_request *r, const char *method, const char *id)
{
    struct picky *p = w->ctx;

    if (web_modern(r, method, id))
        return;
    if (strcmp(method, "tools/list") == 0 && p->says_nothing) {
        p->lists++;
        w->held = r;
    } else if (strcmp(method, "tools/list") == 0 && ++p->lists && p->no_list)
        web_reply(r, 500, NULL, "");
    else if (strcmp(method, "tools/list") == 0)
        web_result(r, id, TOOLS, NULL);
    else if (++p->calls && (p->never || !http_header(r, "Mcp-Param-Region", NULL).p))
        web_error(r, 400, id, -32020, "{\"header\":\"Mcp-Param-Region\"}");
    else
        web_result(r, id, "{\"resultType\":\"complete\"}", NULL);
}

TEST(refused_headers_make_us_read_the_list_and_try_once_more)
{
    static const struct {
        struct picky p;
        int lists, calls;
        enum pb_code code;
    } cases[] = {
        { { 0 }, 1, 2, PB_OK },
        { { .never = true }, 1, 2, PB_E_REMOTE },
        { { .no_list = true }, 1, 1, PB_E_REMOTE },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct picky p = cases[i].p;
        struct site s = { .w.ctx = &p };
        struct answer a;

        open_modern(&s, false, answer_picky, NULL);
        rig_request(&s.r, &a, "tools/call",
                    "{\"name\":\"deploy\",\"arguments\":{\"region\":\"x\"}}");
        CHECK_INT(a.err.code, cases[i].code);
        CHECK_INT(p.lists, cases[i].lists);
        CHECK_INT(p.calls, cases[i].calls);
        if (cases[i].code) {
            CHECK_INT(a.err.sys, -32020);
            CHECK_HAS(a.error, "\"header\":\"Mcp-Param-Region\"");
        }
        answer_done(&a);
        site_done(&s);
    }
}

/* The list that was read on behalf of a call has a limit, though the call has none. */
TEST(a_list_that_does_not_come_ends_although_the_call_has_no_limit)
{
    struct picky p = { .says_nothing = true };
    struct site s = { .w.ctx = &p };
    struct answer a;

    open_modern(&s, true, answer_picky, NULL);
    rig_send_spec(&s.r, &a,
                  (struct client_request_spec){
                      .method = "tools/call",
                      .params = SPAN("{\"name\":\"deploy\",\"arguments\":{\"region\":\"x\"}}"),
                      .timeout_ms = CLIENT_NO_LIMIT });
    RIG_UNTIL(&s.r, p.lists);
    loop_advance(s.r.loop, 60000);
    RIG_UNTIL(&s.r, a.count);
    CHECK_INT(a.err.sys, -32020);
    answer_done(&a);
    web_reply(s.w.held, 500, NULL, "");
    site_done(&s);
}

/* ---- what every request says about itself ---- */

static void answer_echo(struct web *w, struct http_request *r, const char *method, const char *id)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_BUF struct buf b = { 0 };

    (void)w;
    if (web_modern(r, method, id))
        return;
    CHECK_INT(json_parse(&doc, http_body(r), &(struct json_opts){ .unique_depth = JSON_ALL }, NULL),
              0);
    buf_str(&b, "{\"params\":");
    buf_add_span(&b, json_text(json_get(json_root(&doc), "params")));
    buf_byte(&b, '}');
    web_result(r, id, buf_cstr(&b), NULL);
}

#define META_BASIC                                                                      \
    "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                       \
    "\"io.modelcontextprotocol/clientCapabilities\":{\"sampling\":{},\"elicitation\":{" \
    "\"form\":{}}},\"io.modelcontextprotocol/clientInfo\":{\"name\":\"n\",\"version\":\"v\"}"

TEST(the_envelope_is_added_and_the_rest_stays_as_it_was_written)
{
    static const struct {
        struct client_request_spec spec;
        const char *params;
    } cases[] = {
        { { .method = "x" }, "{\"_meta\":{" META_BASIC "}}" },
        { { .method = "x", .params = SPAN_CONST("{}") }, "{\"_meta\":{" META_BASIC "}}" },
        { { .method = "x", .params = SPAN_CONST(" { } ") }, "{ \"_meta\":{" META_BASIC "}}" },
        { { .method = "x", .params = SPAN_CONST("{ \"a\" : 1.0, \"b\":\"\\u0041\" }") },
          "{ \"a\" : 1.0, \"b\":\"\\u0041\" ,\"_meta\":{" META_BASIC "}}" },
        { { .method = "x",
            .params =
                SPAN_CONST("{\"_meta\":{\"traceparent\":\"t\",\"progressToken\":5,"
                           "\"io.modelcontextprotocol/protocolVersion\":\"evil\"},\"a\":1}") },
          "{\"a\":1,\"_meta\":{\"traceparent\":\"t\"," META_BASIC "}}" },
        { { .method = "x",
            .caps = "{\"roots\":{}}",
            .wants_log = true,
            .log_level = PB_LOG_WARNING },
          "{\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
          "\"io.modelcontextprotocol/clientCapabilities\":{\"roots\":{}},"
          "\"io.modelcontextprotocol/clientInfo\":{\"name\":\"n\",\"version\":\"v\"},"
          "\"io.modelcontextprotocol/logLevel\":\"warning\"}}" },
    };
    struct pb_client_options o = PB_CLIENT_OPTIONS_INIT;
    struct site s = { 0 };

    o.name = "n";
    o.version = "v";
    o.can_sample = o.can_elicit = true;
    open_modern(&s, false, answer_echo, &o);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_BUF struct buf want = { 0 };
        struct answer a;

        rig_send_spec(&s.r, &a, cases[i].spec);
        RIG_UNTIL(&s.r, a.count);
        buf_printf(&want, "{\"params\":%s}", cases[i].params);
        CHECK_STR(a.result, buf_cstr(&want));
        answer_done(&a);
    }
    site_done(&s);
}

TEST(params_that_are_no_object_are_refused_before_they_are_sent)
{
    static const char *const bad[] = {
        "[]", "7", "{", "{}x", "{\"a\":1,\"a\":2}", "null", "{\"a\":\"\xff\"}"
    };
    struct site s = { 0 };

    open_modern(&s, false, answer_echo, NULL);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct answer a;

        rig_send(&s.r, &a, "tools/call", bad[i]);
        CHECK_INT(a.err.code, PB_E_INVALID);
        CHECK_HAS(a.err.msg, "params");
    }
    CHECK_INT(s.r.client->by_id.n, 0);
    site_done(&s);
}

/* ---- kinds of results ---- */

static void answer_kind(struct web *w, struct http_request *r, const char *method, const char *id)
{
    if (!web_modern(r, method, id))
        web_result(r, id, w->ctx, NULL);
}

TEST(a_result_of_an_unknown_kind_is_invalid_and_one_of_no_kind_is_complete)
{
    static const struct {
        const char *result, *method, *caps;
        enum pb_code code;
    } cases[] = {
        { "{\"content\":[]}", "tools/call", NULL, PB_OK },
        { "{\"resultType\":\"complete\"}", "tools/call", NULL, PB_OK },
        { "{\"resultType\":\"incomplete\"}", "tools/call", NULL, PB_E_INVALID },
        { "{\"resultType\":7}", "tools/call", NULL, PB_E_INVALID },
        { "{\"resultType\":null}", "tools/call", NULL, PB_E_INVALID },
        { "{\"resultType\":\"task\",\"taskId\":\"t\"}", "tools/call", NULL, PB_E_INVALID },
        { "{\"resultType\":\"task\",\"taskId\":\"t\"}", "tools/call",
          "{\"extensions\":{\"io.modelcontextprotocol/tasks\":{}}}", PB_OK },
        { "{\"resultType\":\"input_required\",\"requestState\":\"s\"}", "tools/list", NULL,
          PB_E_INVALID },
        { "{\"resultType\":\"input_required\"}", "tools/call", NULL, PB_E_INVALID },
        { "{\"resultType\":\"input_required\",\"inputRequests\":[]}", "tools/call", NULL,
          PB_E_INVALID },
        { "{\"resultType\":\"input_required\",\"requestState\":7}", "tools/call", NULL,
          PB_E_INVALID },
        { "{\"resultType\":\"input_required\",\"inputRequests\":{\"a\":{\"method\":"
          "\"sampling/createMessage\",\"params\":{}}}}",
          "tools/call", NULL, PB_E_UNSUPPORTED }, /* not declared */
        { "{\"resultType\":\"input_required\",\"inputRequests\":{\"a\":{\"method\":"
          "\"elicitation/create\",\"params\":{\"mode\":\"url\"}}}}",
          "tools/call", NULL, PB_E_UNSUPPORTED }, /* only forms were */
        { "{\"resultType\":\"input_required\",\"inputRequests\":{\"a\":{\"method\":"
          "\"shell/run\"}}}",
          "tools/call", NULL, PB_E_UNSUPPORTED },
    };
    struct pb_client_options o = PB_CLIENT_OPTIONS_INIT;

    o.can_elicit = true;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct site s = { .w.ctx = (void *)(uintptr_t)cases[i].result };
        struct answer a;

        open_modern(&s, false, answer_kind, &o);
        rig_send_spec(&s.r, &a,
                      (struct client_request_spec){ .method = cases[i].method,
                                                    .params = SPAN("{\"name\":\"x\"}"),
                                                    .caps = cases[i].caps });
        RIG_UNTIL(&s.r, a.count);
        if (a.err.code != cases[i].code)
            TAP_FAIL("case %zu: %d: %s", i, a.err.code, a.err.msg);
        CHECK_INT(s.r.n_asked, 0);
        answer_done(&a);
        site_done(&s);
    }
}

/* ---- rounds ---- */

#define ASK(key, message) \
    "\"" key "\":{\"method\":\"elicitation/create\",\"params\":{\"message\":\"" message "\"}}"

/* Round 1 asks two things and gives a state, round 2 asks one and gives none, round 3 is done. */
static void answer_rounds(struct web *w, struct http_request *r, const char *method, const char *id)
{
    AUTO_JSON struct json_doc doc = { 0 };
    struct json params;
    AUTO_BUF struct buf line = { 0 };
    int *round = w->ctx;

    if (web_modern(r, method, id))
        return;
    CHECK_INT(json_parse(&doc, http_body(r), NULL, NULL), 0);
    params = json_get(json_root(&doc), "params");
    buf_printf(&line, "%.*s|%.*s|%.*s\n", SPAN_ARG(json_text(json_get(params, "arguments"))),
               SPAN_ARG(json_text(json_get(params, "inputResponses"))),
               SPAN_ARG(json_text(json_get(params, "requestState"))));
    web_log(w, buf_cstr(&line));
    switch (++*round) {
    case 1:
        web_result(r, id,
                   "{\"resultType\":\"input_required\",\"inputRequests\":{" ASK("a", "1") "," ASK(
                       "b", "2") "},\"requestState\":\"\\u0041 \\\"x\\\" \xc3\xa9\"}",
                   NULL);
        break;
    case 2:
        web_result(r, id,
                   "{\"resultType\":\"input_required\",\"inputRequests\":{" ASK("c", "3") "}}",
                   NULL);
        break;
    default:
        web_result(r, id, "{\"resultType\":\"complete\",\"content\":[]}", NULL);
    }
}

TEST(questions_of_a_request_are_answered_in_rounds_with_the_state_as_it_was)
{
    struct pb_client_options o = PB_CLIENT_OPTIONS_INIT;
    int round = 0;
    struct site s = { .w.ctx = &round };
    struct answer a;

    o.can_elicit = true;
    open_modern(&s, false, answer_rounds, &o);
    s.w.log[0] = 0;
    rig_send(&s.r, &a, "tools/call", "{\"name\":\"x\",\"arguments\":{\"n\":1.0}}");
    RIG_UNTIL(&s.r, s.r.n_asked == 2);
    CHECK_STR(s.r.asked[0], "1 elicitation/create {\"message\":\"1\"}");
    client_answer(s.r.questions[1], SPAN("{\"action\":\"decline\"}"));
    CHECK_INT(round, 1);
    client_answer(s.r.questions[0], SPAN("{\"action\":\"accept\",\"content\":{\"v\":2.50}}"));
    RIG_UNTIL(&s.r, s.r.n_asked == 3);
    client_answer(s.r.questions[2], SPAN("{\"action\":\"cancel\"}"));
    RIG_UNTIL(&s.r, a.count);
    CHECK_STR(a.result, "{\"resultType\":\"complete\",\"content\":[]}");
    /* clang-format off */
    CHECK_STR(s.w.log,
        "POST tools/call\n{\"n\":1.0}||\n"
        "POST tools/call\n{\"n\":1.0}|{\"a\":{\"action\":\"accept\",\"content\":{\"v\":2.50}},\"b\":{\"action\":\"decline\"}}|\"\\u0041 \\\"x\\\" \xc3\xa9\"\n"
        "POST tools/call\n{\"n\":1.0}|{\"c\":{\"action\":\"cancel\"}}|\n");
    /* clang-format on */
    answer_done(&a);
    site_done(&s);
}

/* Calls a tool of such a server, which asks two questions at once. */
static uint64_t open_asked(struct site *s, struct answer *a, bool manual)
{
    struct pb_client_options o = PB_CLIENT_OPTIONS_INIT;
    uint64_t id;

    o.can_elicit = true;
    open_modern(s, manual, answer_rounds, &o);
    id = rig_send(&s->r, a, "tools/call", "{\"name\":\"x\"}");
    RIG_UNTIL(&s->r, s->r.n_asked == 2);
    return id;
}

TEST(a_refused_question_ends_its_request_and_no_other)
{
    int round = 0;
    struct site s = { .w.ctx = &round };
    struct answer a;

    open_asked(&s, &a, false);
    client_refuse(s.r.questions[0], -1, "no person here");
    CHECK_INT(a.err.code, PB_E_CANCELLED);
    CHECK_HAS(a.err.msg, "no person here");
    client_answer(s.r.questions[1], SPAN("{\"action\":\"accept\"}")); /* to nobody */
    settle(&s.r);
    CHECK_INT(round, 1);
    site_done(&s);
}

TEST(an_answer_that_is_no_object_counts_as_a_refusal)
{
    int round = 0;
    struct site s = { .w.ctx = &round };
    struct answer a;

    open_asked(&s, &a, false);
    client_answer(s.r.questions[0], SPAN("{\"a\":1},\"requestState\":\"evil\""));
    CHECK_INT(a.err.code, PB_E_CANCELLED);
    client_refuse(s.r.questions[1], -1, "late");
    site_done(&s);
}

TEST(a_request_that_ends_while_somebody_thinks_leaves_questions_that_lead_nowhere)
{
    int round = 0;
    struct site s = { .w.ctx = &round };
    struct answer a;
    uint64_t id;

    id = open_asked(&s, &a, true);
    loop_advance(s.r.loop, MCP_CALL_MS * 2); /* people may take longer than servers */
    CHECK_INT(a.count, 0);
    client_cancel(s.r.client, id, NULL);
    CHECK_INT(a.err.code, PB_E_CANCELLED);
    client_answer(s.r.questions[0], SPAN("{}"));
    client_answer(s.r.questions[1], SPAN("{}"));
    settle(&s.r);
    CHECK_INT(round, 1);
    site_done(&s);
}

TEST(nobody_answering_at_all_ends_the_request_as_well)
{
    int round = 0;
    struct site s = { .w.ctx = &round };
    struct answer a;

    open_asked(&s, &a, true);
    loop_advance(s.r.loop, MCP_ASK_MS - 1);
    CHECK_INT(a.count, 0);
    loop_advance(s.r.loop, 1);
    CHECK_INT(a.err.code, PB_E_TIMEOUT);
    site_done(&s);
}

TEST(whoever_relays_rounds_gets_them_raw)
{
    struct pb_client_options o = PB_CLIENT_OPTIONS_INIT;
    int round = 0;
    struct site s = { .w.ctx = &round };
    struct answer a;

    o.can_elicit = true;
    open_modern(&s, false, answer_rounds, &o);
    s.w.log[0] = 0;
    rig_send_spec(&s.r, &a,
                  (struct client_request_spec){ .method = "tools/call", .raw_rounds = true });
    RIG_UNTIL(&s.r, a.count);
    CHECK_HAS(a.result, "\"input_required\"");
    CHECK_INT(s.r.n_asked, 0);
    answer_done(&a);
    rig_send_spec(&s.r, &a,
                  (struct client_request_spec){
                      .method = "tools/call",
                      .params = SPAN("{\"inputResponses\":{\"a\":{}},\"requestState\":\"s\"}"),
                      .raw_rounds = true });
    RIG_UNTIL(&s.r, a.count);
    CHECK_HAS(s.w.log, "|{\"a\":{}}|\"s\"\n");
    answer_done(&a);
    site_done(&s);
}

static void answer_state_only(struct web *w, struct http_request *r, const char *method,
                              const char *id)
{
    int *left = w->ctx;

    if (web_modern(r, method, id))
        return;
    if ((*left)-- > 0)
        web_result(r, id, "{\"resultType\":\"input_required\",\"requestState\":\"s\"}", NULL);
    else
        web_result(r, id, "{\"resultType\":\"complete\"}", NULL);
}

TEST(a_state_without_questions_is_sent_back_after_a_pause)
{
    int left = 1;
    struct site s = { .w.ctx = &left };
    struct answer a;

    open_modern(&s, true, answer_state_only, NULL);
    rig_send(&s.r, &a, "tools/call", "{\"name\":\"x\"}");
    RIG_UNTIL(&s.r, left == 0);
    settle(&s.r);
    loop_advance(s.r.loop, MCP_ROUND_PAUSE_MS - 1);
    settle(&s.r);
    CHECK_INT(left, 0);
    loop_advance(s.r.loop, 1);
    RIG_UNTIL(&s.r, a.count);
    CHECK_STR(a.result, "{\"resultType\":\"complete\"}");
    answer_done(&a);
    site_done(&s);
}

TEST(rounds_are_bounded)
{
    static const struct {
        int rounds;
        enum pb_code code;
    } cases[] = {
        { MCP_CLIENT_ROUNDS_MAX, PB_OK },
        { MCP_CLIENT_ROUNDS_MAX + 1, PB_E_LIMIT },
        { 1000000, PB_E_LIMIT },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        int left = cases[i].rounds;
        struct site s = { .w.ctx = &left };
        struct answer a;

        open_modern(&s, true, answer_state_only, NULL);
        rig_send(&s.r, &a, "tools/call", "{\"name\":\"x\"}");
        for (int n = 0; n < 10000 && !a.count; n++) {
            loop_turn(s.r.loop, false);
            loop_advance(s.r.loop, 1);
        }
        CHECK_INT(a.err.code, cases[i].code);
        answer_done(&a);
        site_done(&s);
    }
}

/* ---- streams ---- */

static void answer_modern_stream(struct web *w, struct http_request *r, const char *method,
                                 const char *id)
{
    char text[256];

    if (web_modern(r, method, id))
        return;
    web_stream(w, r);
    w->held = r;
    web_write(r, "id: e1\nretry: 100\ndata:\n\n"); /* which the modern era does not have */
    web_event(r, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":"
                 "{\"level\":\"info\",\"data\":1.0}}");
    web_event(r, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"sampling/createMessage\"}");
    snprintf(text, sizeof text,
             "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":"
             "{\"progressToken\":%s,\"progress\":0.5}}",
             id);
    web_event(r, text);
}

TEST(logs_and_progress_of_a_request_reach_whoever_made_it)
{
    struct pb_client_options o = PB_CLIENT_OPTIONS_INIT;
    struct site s = { 0 };
    struct answer a;

    o.can_sample = true;
    open_modern(&s, false, answer_modern_stream, &o);
    rig_send_spec(&s.r, &a,
                  (struct client_request_spec){ .method = "tools/call",
                                                .wants_progress = true,
                                                .progress = answer_progress,
                                                .log = answer_log,
                                                .wants_log = true,
                                                .log_level = PB_LOG_INFO });
    RIG_UNTIL(&s.r, a.progressed);
    CHECK_STR(a.log, "{\"level\":\"info\",\"data\":1.0}\n");
    CHECK_STR(s.r.notes, "");
    CHECK_INT(s.r.n_asked, 0); /* modern servers do not ask by request */
    http_end(s.w.held);
    RIG_UNTIL(&s.r, a.count);
    CHECK_INT(a.err.code, PB_E_CLOSED);
    CHECK_INT(s.w.n, 2); /* neither resumed nor sent again */
    site_done(&s);
}

TEST(the_closed_stream_is_the_cancellation)
{
    struct site s = { 0 };
    struct answer a;
    uint64_t id;

    open_modern(&s, false, answer_modern_stream, NULL);
    id = rig_send(&s.r, &a, "tools/call", "{\"name\":\"x\"}");
    RIG_UNTIL(&s.r, s.w.held);
    client_cancel(s.r.client, id, "user");
    RIG_UNTIL(&s.r, s.w.gone == 1);
    settle(&s.r);
    CHECK_STR(s.w.log, "POST server/discover\nPOST tools/call\n");
    site_done(&s);
}

TEST(progress_keeps_a_request_alive_but_not_for_ever)
{
    struct site s = { 0 };
    struct answer a;
    char text[256];
    uint64_t id;

    open_modern(&s, true, answer_modern_stream, NULL);
    id = rig_send_spec(&s.r, &a,
                       (struct client_request_spec){ .method = "tools/call",
                                                     .wants_progress = true,
                                                     .progress = answer_progress });
    RIG_UNTIL(&s.r, a.progressed);
    snprintf(text, sizeof text,
             "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":"
             "{\"progressToken\":%llu,\"progress\":1}}",
             (unsigned long long)id + 1);
    for (uint64_t spent = 0; spent + 20000 < MCP_CALL_TOTAL_MS; spent += 20000) {
        int before = a.progressed;

        loop_advance(s.r.loop, 20000);
        CHECK_INT(a.count, 0);
        web_event(s.w.held, text);
        RIG_UNTIL(&s.r, a.progressed > before);
    }
    loop_advance(s.r.loop, 20000);
    CHECK_INT(a.count, 1);
    CHECK_INT(a.err.code, PB_E_TIMEOUT);
    RIG_UNTIL(&s.r, s.w.gone == 1);
    site_done(&s);
}
