#include "face/relay/relay.h"
#include "face/relay/relay_impl.h"
#include "face/relay_rig.h"
#include "mcp/client/client.h"
#include "mcp/rpc/rpc.h"
#include "mcp/serve/serve.h"

static const enum era client_eras[] = { ERA_LEGACY, ERA_MODERN };
static const enum pb_era server_eras[] = { PB_ERA_LEGACY, PB_ERA_MODERN };

static const char *era_name(enum era e) { return e == ERA_LEGACY ? "legacy" : "modern"; }

/* ---- questions ---------------------------------------------------------------------------- */

/* clang-format off */
static const struct {
    const char *method, *params, *answer;
} kinds[] = {
    { "elicitation/create", "{\"message\":\"Name?\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{}}}", "{\"action\":\"accept\",\"content\":{\"n\":1.0}}" },
    { "elicitation/create", "{\"mode\":\"form\",\"message\":\"Name?\",\"requestedSchema\":{}}",                    "{\"action\":\"decline\"}" },
    { "elicitation/create", "{\"mode\":\"form\",\"message\":\"Name?\",\"requestedSchema\":{}}",                    "{\"action\":\"cancel\"}" },
    { "elicitation/create", "{\"mode\":\"url\",\"message\":\"Go\",\"url\":\"https://a/\",\"elicitationId\":\"e\"}", "{\"action\":\"accept\"}" },
    { "sampling/createMessage", "{\"messages\":[],\"maxTokens\":1.0}",                                             "{\"role\":\"assistant\",\"content\":{\"type\":\"text\",\"text\":\"x\"},\"model\":\"m\"}" },
    { "sampling/createMessage", "{\"messages\":[],\"maxTokens\":9,\"tools\":[]}",                                  "{\"role\":\"assistant\",\"content\":[],\"model\":\"m\"}" },
    { "roots/list", "{}",                                                                                          "{\"roots\":[{\"uri\":\"file:///r\"}]}" },
};
/* clang-format on */

TEST(questions_reach_the_client_and_answers_the_server_in_every_combination)
{
    for (size_t s = 0; s < ARRAY_LEN(server_eras); s++)
        for (size_t c = 0; c < ARRAY_LEN(client_eras); c++)
            for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
                struct hub_rig rig;
                struct down d;
                struct fake_tool *t;
                struct fake_server *f;
                char asked[512];

                rig_init(&rig, NULL);
                t = rig_tool(&rig, "alpha", server_eras[s], "ask", FAKE_ASK);
                f = rig.fakes.servers[0];
                t->method = kinds[i].method;
                t->params = kinds[i].params;
                down_open(&d, &rig, PEER_STDIO, client_eras[c], ASKS_ALL);
                CHECK_HAS(down_converse(&d, "alpha__ask", kinds[i].answer), "\"text\":");
                snprintf(asked, sizeof asked, "%s %s\n", kinds[i].method, kinds[i].params);
                CHECK_STR(d.asked, asked);
                if (!strstr(f->last_answer, kinds[i].answer))
                    TAP_FAIL("%s client, row %zu: the server got %s", era_name(client_eras[c]), i,
                             f->last_answer);
                CHECK(!strstr(down_last(&d), "isError"));
                CHECK_INT(rig_relays(&rig)->parked.n, 0);
                down_close(&d);
                rig_done(&rig);
            }
}

TEST(legacy_clients_get_an_id_with_a_url_that_a_modern_server_wants_opened)
{
    struct hub_rig rig;
    struct down d;
    struct fake_tool *t;

    rig_init(&rig, NULL);
    t = rig_tool(&rig, "alpha", PB_ERA_MODERN, "ask", FAKE_ASK);
    t->params = "{\"mode\":\"url\",\"message\":\"Go\",\"url\":\"https://a/\"}";
    down_open(&d, &rig, PEER_STDIO, ERA_LEGACY, ASKS_ALL);
    down_converse(&d, "alpha__ask", "{\"action\":\"accept\"}");
    CHECK_HAS(d.asked, "elicitation/create {\"elicitationId\":\"");
    CHECK_HAS(d.asked, "\",\"mode\":\"url\",\"message\":\"Go\",\"url\":\"https://a/\"}");
    down_close(&d);
    rig_done(&rig);
}

/* Asks `rounds` times, `width` questions each; then answers with all it was told. */
struct quiz {
    unsigned rounds, width, told, round;
    struct fake_server *f;
    struct fake_tool *t;
    bool no_state; /* modern: only questions */
    char states[512];
};

static void quiz_legacy(struct quiz *q, struct request *r);

static void quiz_end(struct request *r, const char *text)
{
    r->cancel = NULL;
    fake_held_free(r->work);
    fake_reply_text(r, span_of(text));
}

static void quiz_told(struct request *r, void *ctx, struct span result, const struct pb_error *err)
{
    struct quiz *q = ctx;

    if (err) {
        quiz_end(r, err->msg);
        return;
    }
    CHECK_SPAN(result, "{\"action\":\"accept\"}");
    if (++q->told % q->width == 0)
        quiz_legacy(q, r);
}

static void quiz_legacy(struct quiz *q, struct request *r)
{
    struct pb_error err;

    if (q->round++ == q->rounds) {
        quiz_end(r, "all told");
        return;
    }
    for (unsigned i = 0; i < q->width; i++)
        CHECK_INT(request_question(r, "elicitation/create", SPAN("{\"message\":\"m\"}"), quiz_told,
                                   q, &err),
                  0);
}

static void quiz_modern(struct quiz *q, struct request *r)
{
    struct json state = json_get(r->params, "requestState");
    AUTO_BUF struct buf b = { 0 };

    if (q->round > 0) {
        CHECK_INT(json_len(json_get(r->params, "inputResponses")), q->width);
        JSON_FOREACH(answer, json_get(r->params, "inputResponses"))
            CHECK_SPAN(json_text(answer), "{\"action\":\"accept\"}");
        snprintf(q->states + strlen(q->states), sizeof q->states - strlen(q->states), "%.*s ",
                 SPAN_ARG(json_text(state)));
    }
    if (q->round++ == q->rounds) {
        fake_reply_text(r, SPAN("all told"));
        return;
    }
    buf_str(&b, "{\"inputRequests\":{");
    for (unsigned i = 0; i < q->width; i++)
        buf_printf(&b,
                   "%s\"k\\u0041%u\":{\"method\":\"elicitation/create\",\"params\":{\"message\":"
                   "\"m\"}}",
                   i ? "," : "", i);
    buf_str(&b, "},");
    if (!q->no_state)
        buf_printf(&b, "\"requestState\":\"s\\u0041%u\",", q->round);
    buf_str(&b, "\"resultType\":\"input_required\"}");
    request_reply(r, buf_span(&b));
}

static void quiz_run(struct fake_server *f, struct fake_tool *t, struct request *r)
{
    struct quiz *q = f->user;

    q->f = f;
    if (r->env.era == ERA_MODERN) {
        quiz_modern(q, r);
    } else {
        fake_hold(f, t, r);
        quiz_legacy(q, r);
    }
}

static void quiz_open(struct hub_rig *rig, struct quiz *q, enum pb_era era)
{
    rig_init(rig, NULL);
    rig_tool(rig, "alpha", era, "quiz", FAKE_RUN)->run = quiz_run;
    rig->fakes.servers[0]->user = q;
}

TEST(several_questions_and_several_rounds_are_no_different)
{
    static const struct {
        unsigned rounds, width;
        bool no_state;
    } rows[] = { { 1, 3, false }, { 3, 1, false }, { 8, 2, false }, { 2, 2, true } };

    for (size_t s = 0; s < ARRAY_LEN(server_eras); s++)
        for (size_t c = 0; c < ARRAY_LEN(client_eras); c++)
            for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct quiz q = { .rounds = rows[i].rounds,
                                  .width = rows[i].width,
                                  .no_state = rows[i].no_state };
                struct hub_rig rig;
                struct down d;

                quiz_open(&rig, &q, server_eras[s]);
                down_open(&d, &rig, PEER_STDIO, client_eras[c], ASKS_ALL);
                CHECK_HAS(down_converse(&d, "alpha__quiz", "{\"action\":\"accept\"}"), "all told");
                CHECK_INT(q.round, q.rounds + 1);
                if (server_eras[s] == PB_ERA_MODERN && !q.no_state)
                    CHECK(strstr(q.states, "\"s\\u0041" /* its own words came back */) == q.states);
                if (server_eras[s] == PB_ERA_MODERN && q.no_state)
                    CHECK(!strstr(q.states, "\""));
                down_close(&d);
                rig_done(&rig);
            }
}

TEST(questions_of_one_turn_are_put_together_for_a_modern_client)
{
    struct quiz q = { .rounds = 1, .width = 3 };
    struct hub_rig rig;
    struct down d;

    quiz_open(&rig, &q, PB_ERA_LEGACY);
    down_open(&d, &rig, PEER_STDIO, ERA_MODERN, ASKS_ALL);
    down_call(&d, 1, "alpha__quiz", "");
    CHECK_HAS(down_next(&d), "\"inputRequests\":{\"q1\":{\"method\":\"elicitation/create\","
                             "\"params\":{\"message\":\"m\"}},\"q2\":{");
    CHECK_HAS(down_last(&d), "\"q3\":{");
    down_close(&d);
    rig_done(&rig);
}

TEST(a_modern_server_may_ask_a_legacy_client_eight_times)
{
    static const struct {
        unsigned rounds;
        const char *has;
    } rows[] = { { RELAY_ROUNDS_MAX, "all told" },
                 { RELAY_ROUNDS_MAX + 1, "asked for input more than 8 times" },
                 { 100, "asked for input more than 8 times" } };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct quiz q = { .rounds = rows[i].rounds, .width = 1 };
        struct hub_rig rig;
        struct down d;

        quiz_open(&rig, &q, PB_ERA_MODERN);
        down_open(&d, &rig, PEER_STDIO, ERA_LEGACY, ASKS_ALL);
        CHECK_HAS(down_converse(&d, "alpha__quiz", "{\"action\":\"accept\"}"), rows[i].has);
        CHECK_INT(!!strstr(down_last(&d), "\"isError\":true"), i > 0);
        down_close(&d);
        rig_done(&rig);
    }
}

TEST(a_legacy_server_may_ask_a_modern_client_sixteen_times)
{
    static const struct {
        unsigned rounds;
        const char *has;
    } rows[] = { { MCP_ASK_ROUNDS_MAX, "all told" },
                 { MCP_ASK_ROUNDS_MAX + 1, "The client was asked too often" },
                 { 100, "The client was asked too often" } };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct quiz q = { .rounds = rows[i].rounds, .width = 1 };
        struct hub_rig rig;
        struct down d;

        quiz_open(&rig, &q, PB_ERA_LEGACY);
        down_open(&d, &rig, PEER_STDIO, ERA_MODERN, ASKS_ALL);
        CHECK_HAS(down_converse(&d, "alpha__quiz", "{\"action\":\"accept\"}"), rows[i].has);
        CHECK_INT(rig_relays(&rig)->parked.n, 0);
        down_close(&d);
        rig_done(&rig);
    }
}

TEST(a_client_that_cannot_be_asked_is_not_asked)
{
    static const struct {
        const char *method, *params, *caps;
        const char *told; /* a legacy server that asks so */
    } rows[] = {
        { "elicitation/create", "{\"message\":\"m\"}", "{\"roots\":{}}", "refused: -32601" },
        { "elicitation/create", "{\"mode\":\"url\",\"message\":\"m\",\"url\":\"u\"}",
          "{\"elicitation\":{}}", "refused: -32602" },
        { "elicitation/create", "{\"message\":\"m\"}", "{\"elicitation\":{\"url\":{}}}",
          "refused: -32602" },
        { "sampling/createMessage", "{\"messages\":[]}", "{\"elicitation\":{}}",
          "refused: -32601" },
        { "sampling/createMessage", "{\"messages\":[],\"tools\":[]}", "{\"sampling\":{}}",
          "refused: -32602" },
        { "roots/list", "{}", "{\"elicitation\":{}}", "{\"roots\":[]}" },
    };

    for (size_t c = 0; c < ARRAY_LEN(client_eras); c++)
        for (size_t s = 0; s < ARRAY_LEN(server_eras); s++)
            for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct hub_rig rig;
                struct down d;
                struct fake_tool *t;

                rig_init(&rig, NULL);
                t = rig_tool(&rig, "alpha", server_eras[s], "ask", FAKE_ASK);
                t->method = rows[i].method;
                t->params = rows[i].params;
                down_open(&d, &rig, PEER_STDIO, client_eras[c], rows[i].caps);
                down_converse(&d, "alpha__ask", "{}");
                CHECK_STR(d.asked, "");
                if (server_eras[s] == PB_ERA_LEGACY) {
                    CHECK_HAS(rig.fakes.servers[0]->last_answer, rows[i].told);
                } else {
                    CHECK_HAS(down_last(&d), "The client does not support");
                    CHECK_HAS(down_last(&d), "\"isError\":true");
                }
                down_close(&d);
                rig_done(&rig);
            }
}

TEST(a_client_is_asked_what_it_declared)
{
    static const struct {
        const char *method, *params, *caps;
    } rows[] = {
        { "elicitation/create", "{\"message\":\"m\"}", "{\"elicitation\":{}}" }, /* forms */
        { "elicitation/create", "{\"mode\":\"form\",\"message\":\"m\"}",
          "{\"elicitation\":{\"form\":{}}}" },
        { "elicitation/create", "{\"mode\":\"url\",\"message\":\"m\",\"url\":\"http://u/\"}",
          "{\"elicitation\":{\"url\":{}}}" },
        { "sampling/createMessage", "{\"messages\":[]}", "{\"sampling\":{}}" },
        { "sampling/createMessage", "{\"messages\":[],\"tools\":[]}",
          "{\"sampling\":{\"tools\":{}}}" },
        { "roots/list", "{}", "{\"roots\":{}}" },
    };

    for (size_t c = 0; c < ARRAY_LEN(client_eras); c++)
        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
            struct hub_rig rig;
            struct down d;
            struct fake_tool *t;

            rig_init(&rig, NULL);
            t = rig_tool(&rig, "alpha", PB_ERA_LEGACY, "ask", FAKE_ASK);
            t->method = rows[i].method;
            t->params = rows[i].params;
            down_open(&d, &rig, PEER_STDIO, client_eras[c], rows[i].caps);
            down_converse(&d, "alpha__ask", "{}");
            CHECK_HAS(d.asked, rows[i].method);
            CHECK_STR(rig.fakes.servers[0]->last_answer, "{}");
            down_close(&d);
            rig_done(&rig);
        }
}

TEST(a_refusal_of_the_client_is_told_to_the_server)
{
    struct hub_rig rig;
    struct down d;

    rig_init(&rig, NULL);
    rig_tool(&rig, "alpha", PB_ERA_LEGACY, "ask", FAKE_ASK)->params = "{\"message\":\"m\"}";
    down_open(&d, &rig, PEER_STDIO, ERA_LEGACY, ASKS_ALL);
    down_call(&d, 1, "alpha__ask", "");
    down_next(&d);
    down_answer(&d, "\"error\":{\"code\":-1,\"message\":\"User rejected\"}");
    CHECK_HAS(down_next(&d), "refused: -1 User rejected");
    down_close(&d);
    rig_done(&rig);
}

TEST(a_refusal_of_a_legacy_client_ends_the_call_of_a_modern_server)
{
    struct hub_rig rig;
    struct down d;

    rig_init(&rig, NULL);
    rig_tool(&rig, "alpha", PB_ERA_MODERN, "ask", FAKE_ASK)->params = "{\"message\":\"m\"}";
    down_open(&d, &rig, PEER_STDIO, ERA_LEGACY, ASKS_ALL);
    down_call(&d, 1, "alpha__ask", "");
    down_next(&d);
    down_answer(&d, "\"error\":{\"code\":-1,\"message\":\"User rejected\"}");
    FAKES_UNTIL(&rig.fakes, d.n == 2);
    CHECK_HAS(down_last(&d), "did not answer the question 'q': User rejected");
    CHECK_HAS(down_last(&d), "\"isError\":true");
    down_close(&d);
    rig_done(&rig);
}

/* ---- a server that only wants to be asked again ------------------------------------------- */

static void poll_run(struct fake_server *f, struct fake_tool *t, struct request *r)
{
    (void)f;
    if (t->calls == 1) {
        request_reply(r, SPAN("{\"resultType\":\"input_required\",\"requestState\":\"p\"}"));
        return;
    }
    CHECK(json_is(json_get(r->params, "inputResponses"), JSON_NONE) ||
          json_len(json_get(r->params, "inputResponses")) == 0);
    CHECK(json_str_is(json_get(r->params, "requestState"), "p"));
    fake_reply_text(r, SPAN("now"));
}

TEST(a_server_that_only_gives_a_state_is_asked_again)
{
    for (size_t c = 0; c < ARRAY_LEN(client_eras); c++) {
        struct hub_rig rig;
        struct down d;
        struct fake_tool *t;

        rig_init(&rig, NULL);
        t = rig_tool(&rig, "alpha", PB_ERA_MODERN, "poll", FAKE_RUN);
        t->run = poll_run;
        down_open(&d, &rig, PEER_STDIO, client_eras[c], "{}");
        if (client_eras[c] == ERA_MODERN) {
            CHECK_HAS(down_converse(&d, "alpha__poll", "{}"), "now");
        } else {
            down_call(&d, 1, "alpha__poll", "");
            FAKES_UNTIL(&rig.fakes, t->calls == 1);
            fakes_settle(&rig.fakes);
            CHECK_INT(t->calls, 1);
            loop_advance(rig.fakes.loop, MCP_ROUND_PAUSE_MS);
            FAKES_UNTIL(&rig.fakes, d.n == 1);
            CHECK_HAS(down_last(&d), "now");
        }
        down_close(&d);
        rig_done(&rig);
    }
}

TEST(input_that_makes_no_sense_is_an_error_of_the_server)
{
    static const struct {
        const char *result, *has;
    } rows[] = {
        { "{\"resultType\":\"input_required\"}", "wants input but does not say what" },
        { "{\"resultType\":\"input_required\",\"inputRequests\":{}}",
          "wants input but does not say what" },
        { "{\"resultType\":\"input_required\",\"inputRequests\":[]}",
          "inputRequests is no object" },
        { "{\"resultType\":\"input_required\",\"requestState\":7}", "requestState is no string" },
        { "{\"resultType\":\"input_required\",\"inputRequests\":{\"a\":{\"method\":\"x\"}}}",
          "nothing that a client can be asked" },
        { "{\"resultType\":\"input_required\",\"inputRequests\":{\"a\":1}}",
          "nothing that a client can be asked" },
    };

    for (size_t c = 0; c < ARRAY_LEN(client_eras); c++)
        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
            struct hub_rig rig;
            struct down d;

            rig_init(&rig, NULL);
            rig_tool(&rig, "alpha", PB_ERA_MODERN, "bad", FAKE_RAW)->text = rows[i].result;
            down_open(&d, &rig, PEER_STDIO, client_eras[c], ASKS_ALL);
            down_call(&d, 1, "alpha__bad", "");
            CHECK_HAS(down_next(&d), rows[i].has);
            CHECK_HAS(down_last(&d), "\"isError\":true");
            down_close(&d);
            rig_done(&rig);
        }
}

/* ---- a real client ------------------------------------------------------------------------ */

struct real {
    bool opened;
    int questions;
};

static void real_opened(void *ctx, const struct pb_error *err)
{
    struct real *r = ctx;

    CHECK(!err);
    r->opened = true;
}

static void real_question(void *ctx, struct client_question *q, uint64_t call_id,
                          struct span method, struct span params)
{
    struct real *r = ctx;

    (void)call_id, (void)params;
    CHECK_SPAN(method, "elicitation/create");
    r->questions++;
    client_answer(q, SPAN("{\"action\":\"accept\"}"));
}

TEST(our_own_client_is_asked_and_answers_in_every_combination)
{
    static const struct client_events events = { .opened = real_opened, .question = real_question };

    for (size_t s = 0; s < ARRAY_LEN(server_eras); s++)
        for (size_t c = 0; c < ARRAY_LEN(server_eras); c++) {
            struct pb_client_options o = PB_CLIENT_OPTIONS_INIT;
            struct quiz q = { .rounds = 3, .width = 2 };
            struct client_request_spec call = { .method = "tools/call",
                                                .params = SPAN("{\"name\":\"alpha__quiz\"}"),
                                                .reply = fake_on_reply };
            struct fake_reply got = { 0 };
            struct real real = { 0 };
            struct client *client;
            struct pb_error err;
            struct hub_rig rig;

            quiz_open(&rig, &q, server_eras[s]);
            o.server = host_server(rig_host(&rig, NULL));
            o.era = server_eras[c];
            o.can_elicit = true;
            call.ctx = &got;
            CHECK_INT(client_open(&client, rig.fakes.loop, &o, &events, &real, &err), 0);
            FAKES_UNTIL(&rig.fakes, real.opened);
            CHECK_INT(client_request(client, &call, NULL, &err), 0);
            FAKES_UNTIL(&rig.fakes, got.count == 1);
            CHECK_HAS(got.result, "all told");
            CHECK_INT(real.questions, 6);
            fake_reply_done(&got);
            client_close(client, NULL, NULL);
            fakes_settle(&rig.fakes);
            rig_done(&rig);
        }
}

/* ---- questions that the server takes back ------------------------------------------------- */

static void ask_raw(struct fake_server *f, int i)
{
    AUTO_BUF struct buf text = { 0 };

    buf_printf(&text,
               "{\"jsonrpc\":\"2.0\",\"id\":\"q%d\",\"method\":\"elicitation/create\",\"params\":{"
               "\"message\":\"m%d\",\"requestedSchema\":{}}}",
               i, i);
    fake_say_raw(f, buf_cstr(&text));
}

static void take_back_raw(struct fake_server *f, int i)
{
    AUTO_BUF struct buf text = { 0 };

    buf_printf(&text,
               "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
               "\"requestId\":\"q%d\",\"reason\":\"never mind\"}}",
               i);
    fake_say_raw(f, buf_cstr(&text));
}

static struct fake_server *hang_open(struct hub_rig *rig, struct down *d, enum era client)
{
    struct fake_server *f;

    rig_init(rig, NULL);
    rig_tool(rig, "alpha", PB_ERA_LEGACY, "hang", FAKE_HANG);
    f = rig->fakes.servers[0];
    down_open(d, rig, PEER_STDIO, client, ASKS_ALL);
    down_call(d, 1, "alpha__hang", "");
    FAKES_UNTIL(&rig->fakes, f->n_held == 1);
    return f;
}

TEST(a_legacy_client_is_told_that_a_question_was_taken_back)
{
    struct hub_rig rig;
    struct down d;
    struct fake_server *f = hang_open(&rig, &d, ERA_LEGACY);

    for (int i = 0; i <= MCP_QUESTIONS_MAX; i++) { /* none of them takes a place for good */
        ask_raw(f, i);
        fakes_settle(&rig.fakes);
        CHECK_HAS(down_last(&d), "elicitation/create");
        loop_advance(rig.fakes.loop, 20000);
        take_back_raw(f, i);
        fakes_settle(&rig.fakes);
        CHECK_HAS(down_last(&d), "notifications/cancelled");
    }
    down_answer(&d, "\"result\":{\"action\":\"accept\"}"); /* too late, to nobody */
    loop_advance(rig.fakes.loop, 30000);
    fakes_settle(&rig.fakes);
    CHECK_HAS(down_last(&d), "timed out after 30s");
    down_close(&d);
    rig_done(&rig);
}

TEST(a_parked_call_forgets_a_question_that_was_taken_back)
{
    struct hub_rig rig;
    struct down d;
    struct fake_server *f = hang_open(&rig, &d, ERA_MODERN);
    AUTO_BUF struct buf more = { 0 };

    ask_raw(f, 1);
    ask_raw(f, 2);
    fakes_settle(&rig.fakes);
    CHECK_HAS(down_last(&d), "\"q2\":");
    buf_printf(&more, "%s\"inputResponses\":{\"q1\":{\"action\":\"accept\"}},", down_state(&d));
    take_back_raw(f, 2);
    down_call(&d, 2, "alpha__hang", buf_cstr(&more));
    fakes_settle(&rig.fakes);
    CHECK_INT(d.n, 1); /* nothing is left to be asked: the server works */
    loop_advance(rig.fakes.loop, 30000);
    fakes_settle(&rig.fakes);
    CHECK_HAS(down_last(&d), "timed out after 30s");
    down_close(&d);
    rig_done(&rig);
}

/* Before the client was told, and while nobody is there. */
TEST(the_clock_of_a_parked_call_goes_on_when_all_its_questions_were_taken_back)
{
    for (int parked = 0; parked < 2; parked++) {
        struct hub_rig rig;
        struct down d;
        struct fake_server *f = hang_open(&rig, &d, ERA_MODERN);

        ask_raw(f, 1);
        if (parked)
            fakes_settle(&rig.fakes);
        CHECK_INT(rig_relays(&rig)->parked.n, parked);
        take_back_raw(f, 1);
        fakes_settle(&rig.fakes);
        CHECK_INT(d.n, parked);
        loop_advance(rig.fakes.loop, 30000);
        FAKES_UNTIL(&rig.fakes, f->cancellations == 1);
        if (!parked)
            CHECK_HAS(down_last(&d), "timed out after 30s");
        down_close(&d);
        rig_done(&rig);
    }
}
