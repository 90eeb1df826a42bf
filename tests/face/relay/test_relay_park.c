#include "face/relay/relay.h"
#include "face/relay/relay_impl.h"
#include "face/relay_rig.h"
#include "hub/hub/hub.h"
#include "mcp/client/client.h"
#include "mcp/rpc/rpc.h"
#include "mcp/serve/peer_impl.h"
#include "mcp/serve/serve.h"

#define ACCEPT "{\"action\":\"accept\"}"

/* A modern client whose call is parked at a legacy server that asked "q1". */
static void open_parked(struct hub_rig *rig, struct down *d, enum peer_kind kind)
{
    struct fake_server *f;

    rig_init(rig, NULL);
    f = fakes_add(&rig->fakes, "alpha");
    f->era = PB_ERA_LEGACY;
    fake_tool(f, "ask", FAKE_ASK)->params = "{\"message\":\"m\"}";
    fake_tool(f, "other", FAKE_ASK)->params = "{\"message\":\"m\"}";
    rig_connect(rig, f);
    down_open(d, rig, kind, ERA_MODERN, ASKS_ALL);
    down_call(d, 1, "alpha__ask", "\"arguments\":{\"a\":1,\"b\":[2]},");
    CHECK_HAS(down_next(d), "input_required");
    CHECK_INT(rig_relays(rig)->parked.n, 1);
}

/* Sends `tool` with these arguments and this state and all answers; what comes back at once. */
static const char *retry(struct down *d, int id, const char *tool, const char *arguments,
                         const char *state)
{
    AUTO_BUF struct buf more = { 0 };
    size_t had = d->n;

    buf_printf(&more, "\"arguments\":%s,%s\"inputResponses\":{\"q1\":" ACCEPT ",\"q\":" ACCEPT "},",
               arguments, state);
    down_call(d, id, tool, buf_cstr(&more));
    FAKES_UNTIL(d->fakes, d->n > had);
    return down_last(d);
}

#define ARGS "{\"a\":1,\"b\":[2]}"
#define INVALID \
    "\"error\":{\"code\":-32602,\"message\":\"requestState is not valid for this request\"}"
#define EXPIRED \
    "\"error\":{\"code\":-32602,\"message\":\"The call that waited for these answers has expired"

TEST(a_parked_call_goes_on_when_its_client_comes_back)
{
    struct hub_rig rig;
    struct down d;
    char state[2048];

    open_parked(&rig, &d, PEER_STATELESS);
    snprintf(state, sizeof state, "%s", down_state(&d));
    CHECK_HAS(retry(&d, 2, "alpha__ask", "{\"b\" : [2], \"a\":1}", state), "accept");
    CHECK_HAS(down_last(&d), "\"id\":2");
    CHECK_HAS(down_last(&d), "\"resultType\":\"complete\"");
    CHECK_INT(rig_relays(&rig)->parked.n, 0);
    CHECK_INT(rig.fakes.servers[0]->calls, 1); /* it was not called a second time */
    down_close(&d);
    rig_done(&rig);
}

TEST(a_state_is_good_for_one_use)
{
    struct hub_rig rig;
    struct down d;
    char state[2048];

    open_parked(&rig, &d, PEER_STATELESS);
    snprintf(state, sizeof state, "%s", down_state(&d));
    CHECK_HAS(retry(&d, 2, "alpha__ask", ARGS, state), "accept");
    CHECK_HAS(retry(&d, 3, "alpha__ask", ARGS, state), EXPIRED);
    CHECK_HAS(down_last(&d), "call again");
    CHECK_HAS(down_last(&d), "\"data\":{\"error\":\"call_expired\"}");
    CHECK_INT(rig.fakes.servers[0]->calls, 1);
    down_close(&d);
    rig_done(&rig);
}

TEST(a_state_is_refused_when_it_was_changed_in_any_byte)
{
    struct hub_rig rig;
    struct down d;
    char state[2048], bad[2048];
    size_t n;

    open_parked(&rig, &d, PEER_STATELESS);
    snprintf(state, sizeof state, "%s", down_state(&d));
    n = strlen(state);
    for (size_t i = strlen("\"requestState\":\""); i < n - 2; i++) {
        memcpy(bad, state, n + 1);
        bad[i] = bad[i] == 'A' ? 'B' : 'A';
        CHECK_HAS(retry(&d, (int)i, "alpha__ask", ARGS, bad), INVALID);
    }
    CHECK_INT(rig_relays(&rig)->parked.n, 1);
    CHECK_HAS(retry(&d, 9999, "alpha__ask", ARGS, state), "accept"); /* none of it did harm */
    down_close(&d);
    rig_done(&rig);
}

TEST(a_state_belongs_to_one_client_and_one_request)
{
    struct hub_rig rig;
    struct down d, other, same_name;
    char state[2048];

    open_parked(&rig, &d, PEER_STDIO);
    snprintf(state, sizeof state, "%s", down_state(&d));
    down_open(&other, &rig, PEER_STATELESS, ERA_MODERN, ASKS_ALL);
    down_open(&same_name, &rig, PEER_STDIO, ERA_MODERN, ASKS_ALL);
    CHECK_HAS(retry(&other, 2, "alpha__ask", ARGS, state), INVALID);
    CHECK_HAS(retry(&same_name, 2, "alpha__ask", ARGS, state), INVALID);
    CHECK_HAS(retry(&d, 2, "alpha__other", ARGS, state), INVALID);
    CHECK_HAS(retry(&d, 3, "alpha__ask", "{\"a\":2,\"b\":[2]}", state), INVALID);
    CHECK_HAS(retry(&d, 4, "alpha__ask", "{}", state), INVALID);
    CHECK_HAS(retry(&d, 5, "alpha__ask", ARGS, "\"requestState\":7,"), INVALID);
    CHECK_HAS(retry(&d, 6, "alpha__ask", ARGS, "\"requestState\":\"\","), INVALID);
    CHECK_INT(rig.fakes.servers[0]->calls, 1);
    CHECK_HAS(retry(&d, 7, "alpha__ask", ARGS, state), "accept");
    down_close(&d);
    down_close(&other);
    down_close(&same_name);
    rig_done(&rig);
}

TEST(stateless_clients_are_told_apart_by_principal_and_name)
{
    struct hub_rig rig;
    struct down d, other, named;
    char state[2048];

    open_parked(&rig, &d, PEER_STATELESS);
    snprintf(state, sizeof state, "%s", down_state(&d));
    down_open(&other, &rig, PEER_STATELESS, ERA_MODERN, ASKS_ALL);
    peer_set_principal(other.peer, "mallory");
    down_open(&named, &rig, PEER_STATELESS, ERA_MODERN, ASKS_ALL);
    named.name = "another";
    CHECK_HAS(retry(&other, 2, "alpha__ask", ARGS, state), INVALID);
    CHECK_HAS(retry(&named, 2, "alpha__ask", ARGS, state), INVALID);
    CHECK_HAS(retry(&d, 2, "alpha__ask", ARGS, state), "accept");
    down_close(&d);
    down_close(&other);
    down_close(&named);
    rig_done(&rig);
}

TEST(a_state_of_another_set_is_refused)
{
    struct hub_rig a, b;
    struct down da, db;
    char state[2048];

    open_parked(&a, &da, PEER_STATELESS);
    open_parked(&b, &db, PEER_STATELESS);
    snprintf(state, sizeof state, "%s", down_state(&da));
    CHECK_HAS(retry(&db, 2, "alpha__ask", ARGS, state), INVALID);
    down_close(&da);
    down_close(&db);
    rig_done(&a);
    rig_done(&b);
}

/* Asks as a server would that waits for as long as it takes; request_question() gives up by itself.
 */
static void ask_patiently(struct request *r)
{
    struct span text = SPAN("{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"method\":\"roots/list\"}");

    r->peer->ops->send(r->peer->transport, r, SEND_QUESTION, &text, 1);
}

TEST(nobody_comes_back_and_the_server_is_told_after_ten_minutes)
{
    struct hub_rig rig;
    struct down d;
    struct fake_server *f;
    char state[2048];

    rig_init(&rig, NULL);
    rig_tool(&rig, "alpha", PB_ERA_LEGACY, "hang", FAKE_HANG);
    f = rig.fakes.servers[0];
    down_open(&d, &rig, PEER_STATELESS, ERA_MODERN, ASKS_ALL);
    down_call(&d, 1, "alpha__hang", "\"arguments\":" ARGS ",");
    FAKES_UNTIL(&rig.fakes, f->n_held == 1);
    ask_patiently(fake_held(f, 0));
    down_next(&d);
    snprintf(state, sizeof state, "%s", down_state(&d));
    loop_advance(rig.fakes.loop, MCP_ASK_MS - 1);
    CHECK_INT(rig_relays(&rig)->parked.n, 1);
    CHECK_INT(f->n_held, 1);
    loop_advance(rig.fakes.loop, 1);
    FAKES_UNTIL(&rig.fakes, f->n_held == 0);
    CHECK_INT(rig_relays(&rig)->parked.n, 0);
    CHECK_INT(f->cancellations, 1);
    CHECK_HAS(retry(&d, 2, "alpha__hang", ARGS, state), EXPIRED);
    rig.fakes.clock.wall += MCP_STATE_MS;
    CHECK_HAS(retry(&d, 3, "alpha__hang", ARGS, state), INVALID);
    CHECK_INT(f->calls, 1);
    down_close(&d);
    rig_done(&rig);
}

/* A rule may give people more time than a server has. */
TEST(a_client_that_is_asked_by_a_rule_has_the_time_that_the_rule_gives)
{
    AUTO_JSON struct json_doc doc = { 0 }, asked = { 0 };
    AUTO(policy) struct policy *p = NULL;
    struct fake_server *f;
    struct pb_error err;
    struct hub_rig rig;
    struct down d;
    struct json result;

    rig_init(&rig, NULL);
    rig_tool(&rig, "alpha", PB_ERA_LEGACY, "t", FAKE_TEXT);
    f = rig.fakes.servers[0];
    CHECK_INT(
        json_parse(&doc, SPAN("{\"rules\":[{\"action\":\"ask\",\"ask_s\":1800}]}"), NULL, &err), 0);
    CHECK_INT(policy_parse(&p, json_root(&doc), &err), 0);
    gate_set_policy(rig.gate, p);
    down_open(&d, &rig, PEER_STATELESS, ERA_MODERN, ASKS_ALL);
    down_call(&d, 1, "alpha__t", "");
    CHECK_HAS(down_next(&d), "input_required");
    CHECK_INT(json_parse(&asked, span_of(down_last(&d)), NULL, &err), 0);
    result = json_get(json_root(&asked), "result");
    loop_advance(rig.fakes.loop, 1800000 - 1000);
    CHECK_INT(rig_relays(&rig)->parked.n, 1);
    down_retry(&d, 2, "alpha__t", result,
               "{\"action\":\"accept\",\"content\":{\"decision\":\"approve\"}}");
    FAKES_UNTIL(&rig.fakes, f->calls == 1);
    CHECK_INT(rig_relays(&rig)->parked.n, 0);
    down_close(&d);
    rig_done(&rig);
}

/* ---- more than one question --------------------------------------------------------------- */

struct two {
    unsigned told;
    char answers[256];
};

static void two_told(struct request *r, void *ctx, struct span result, const struct pb_error *err)
{
    struct fake_held *h = ctx;
    struct two *t = h->f->user;
    size_t n = strlen(t->answers);

    CHECK(!err);
    snprintf(t->answers + n, sizeof t->answers - n, "%.*s;", SPAN_ARG(result));
    if (++t->told < 2)
        return;
    r->cancel = NULL;
    fake_held_free(h);
    fake_reply_text(r, SPAN("both"));
}

static void two_run(struct fake_server *f, struct fake_tool *t, struct request *r)
{
    struct fake_held *h = fake_hold(f, t, r);
    struct pb_error err;

    for (int i = 0; i < 2; i++)
        CHECK_INT(request_question(r, "roots/list", SPAN("{}"), two_told, h, &err), 0);
}

static void open_two(struct hub_rig *rig, struct down *d, struct two *t)
{
    *t = (struct two){ 0 };
    rig_init(rig, NULL);
    rig_tool(rig, "alpha", PB_ERA_LEGACY, "two", FAKE_RUN)->run = two_run;
    rig->fakes.servers[0]->user = t;
    down_open(d, rig, PEER_STATELESS, ERA_MODERN, ASKS_ALL);
    down_call(d, 1, "alpha__two", "");
    CHECK_HAS(down_next(d), "\"q2\":{\"method\":\"roots/list\"");
    CHECK_HAS(down_last(d), "\"q1\":{\"method\":\"roots/list\"");
}

static const char *retry_with(struct down *d, int id, const char *answers)
{
    AUTO_BUF struct buf more = { 0 };
    size_t had = d->n;

    buf_printf(&more, "%s\"inputResponses\":%s,", down_state(d), answers);
    down_call(d, id, "alpha__two", buf_cstr(&more));
    FAKES_UNTIL(d->fakes, d->n > had);
    return down_last(d);
}

TEST(what_was_not_answered_is_asked_again)
{
    struct hub_rig rig;
    struct down d;
    struct two t;

    open_two(&rig, &d, &t);
    CHECK_HAS(retry_with(&d, 2, "{\"q2\":{\"roots\":[2]},\"zz\":{}}"), "input_required");
    CHECK(!strstr(down_last(&d), "\"q2\""));
    CHECK_HAS(down_last(&d), "\"q1\":{\"method\":\"roots/list\"");
    fakes_settle(&rig.fakes);
    CHECK_STR(t.answers, "{\"roots\":[2]};");
    CHECK_HAS(retry_with(&d, 3, "{}"), "\"q1\":{\"method\":\"roots/list\"");
    CHECK_HAS(retry_with(&d, 4, "{\"q2\":{\"roots\":[3]},\"q1\":{\"roots\":[1]}}"), "both");
    CHECK_STR(t.answers, "{\"roots\":[2]};{\"roots\":[1]};");
    down_close(&d);
    rig_done(&rig);
}

TEST(a_retry_without_any_answers_asks_again)
{
    struct hub_rig rig;
    struct down d;
    struct two t;

    open_two(&rig, &d, &t);
    down_call(&d, 2, "alpha__two", down_state(&d));
    FAKES_UNTIL(&rig.fakes, d.n == 2);
    CHECK_HAS(down_last(&d), "input_required");
    CHECK_HAS(retry_with(&d, 4, "{\"q2\":{\"roots\":[]},\"q1\":{\"roots\":[]}}"), "both");
    down_close(&d);
    rig_done(&rig);
}

TEST(answers_that_are_none_are_refused_and_cost_nothing)
{
    static const char *const bad[] = { "{\"q1\":1}", "{\"q1\":null}",
                                       "[]",         "\"x\"",
                                       "7",          "{\"q2\":{\"roots\":[]},\"q1\":\"x\"}" };
    struct hub_rig rig;
    struct down d;
    struct two t;
    char state[2048];

    open_two(&rig, &d, &t);
    snprintf(state, sizeof state, "%s", down_state(&d));
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        AUTO_BUF struct buf more = { 0 };

        buf_printf(&more, "%s\"inputResponses\":%s,", state, bad[i]);
        down_call(&d, (int)i + 10, "alpha__two", buf_cstr(&more));
        CHECK_HAS(down_last(&d), "\"error\":{\"code\":-32602,\"message\":\"inputResponses: ");
    }
    CHECK_INT(t.told, 0);
    CHECK_INT(rig_relays(&rig)->parked.n, 1);
    down_forget(&d);
    {
        AUTO_BUF struct buf more = { 0 };

        buf_printf(&more, "%s\"inputResponses\":{\"q1\":{\"roots\":[]},\"q2\":{\"roots\":[]}},",
                   state);
        down_call(&d, 2, "alpha__two", buf_cstr(&more));
        CHECK_HAS(down_next(&d), "both");
    }
    down_close(&d);
    rig_done(&rig);
}

TEST(a_question_that_comes_later_is_asked_with_the_retry)
{
    struct hub_rig rig;
    struct down d;
    struct fake_server *f;
    struct two t = { 0 };
    struct pb_error err;

    rig_init(&rig, NULL);
    rig_tool(&rig, "alpha", PB_ERA_LEGACY, "two", FAKE_HANG);
    f = rig.fakes.servers[0];
    f->user = &t;
    down_open(&d, &rig, PEER_STATELESS, ERA_MODERN, ASKS_ALL);
    down_call(&d, 1, "alpha__two", "");
    FAKES_UNTIL(&rig.fakes, f->n_held == 1);
    CHECK_INT(
        request_question(fake_held(f, 0), "roots/list", SPAN("{}"), two_told, f->held[0], &err), 0);
    CHECK_HAS(down_next(&d), "\"q1\"");
    CHECK_INT(
        request_question(fake_held(f, 0), "roots/list", SPAN("{}"), two_told, f->held[0], &err), 0);
    fakes_settle(&rig.fakes);
    CHECK_INT(d.n, 1);
    CHECK_HAS(retry_with(&d, 2, "{\"q1\":{\"roots\":[1]}}"), "\"q2\"");
    CHECK_HAS(retry_with(&d, 3, "{\"q2\":{\"roots\":[2]}}"), "both");
    CHECK_STR(t.answers, "{\"roots\":[1]};{\"roots\":[2]};");
    down_close(&d);
    rig_done(&rig);
}

/* ---- what happens meanwhile --------------------------------------------------------------- */

TEST(an_answer_that_came_meanwhile_is_kept_for_the_client)
{
    static const bool dies[] = { false, true };

    for (size_t i = 0; i < ARRAY_LEN(dies); i++) {
        struct hub_rig rig;
        struct down d;
        struct fake_server *f;
        struct two t = { 0 };
        struct pb_error err;

        rig_init(&rig, NULL);
        rig_tool(&rig, "alpha", PB_ERA_LEGACY, "two", FAKE_HANG);
        f = rig.fakes.servers[0];
        f->user = &t;
        down_open(&d, &rig, PEER_STATELESS, ERA_MODERN, ASKS_ALL);
        down_call(&d, 1, "alpha__two", "");
        FAKES_UNTIL(&rig.fakes, f->n_held == 1);
        CHECK_INT(
            request_question(fake_held(f, 0), "roots/list", SPAN("{}"), two_told, f->held[0], &err),
            0);
        CHECK_HAS(down_next(&d), "\"q1\"");
        if (dies[i])
            fake_break(f, "killed");
        else
            fake_release(f, 0, "did without");
        fakes_settle(&rig.fakes);
        CHECK_INT(d.n, 1);
        CHECK_INT(rig_relays(&rig)->parked.n, 1);
        CHECK_HAS(retry_with(&d, 2, "{\"q1\":{\"roots\":[]}}"),
                  dies[i] ? "server_not_connected" : "did without");
        CHECK_INT(rig_relays(&rig)->parked.n, 0);
        down_close(&d);
        rig_done(&rig);
    }
}

TEST(progress_goes_to_the_request_that_waits_now)
{
    struct hub_rig rig;
    struct down d;
    struct fake_server *f;
    struct two t = { .told = 0 };
    struct pb_error err;
    AUTO_BUF struct buf more = { 0 };

    rig_init(&rig, NULL);
    rig_tool(&rig, "alpha", PB_ERA_LEGACY, "two", FAKE_HANG);
    f = rig.fakes.servers[0];
    f->user = &t;
    down_open(&d, &rig, PEER_STATELESS, ERA_MODERN, ASKS_ALL);
    down_request(&d, 1, "tools/call", "\"name\":\"alpha__two\",", "\"progressToken\":\"one\",");
    FAKES_UNTIL(&rig.fakes, f->n_held == 1);
    request_progress(fake_held(f, 0), 1, 0, NULL);
    CHECK_HAS(down_next(&d), "\"progressToken\":\"one\",\"progress\":1}");
    CHECK_INT(
        request_question(fake_held(f, 0), "roots/list", SPAN("{}"), two_told, f->held[0], &err), 0);
    down_next(&d);
    request_progress(fake_held(f, 0), 2, 0, NULL); /* to nobody */
    fakes_settle(&rig.fakes);
    CHECK_INT(d.n, 2);
    buf_printf(&more, "\"name\":\"alpha__two\",%s\"inputResponses\":{\"q1\":{\"roots\":[]}},",
               down_state(&d));
    down_request(&d, 2, "tools/call", buf_cstr(&more), "\"progressToken\":\"two\",");
    FAKES_UNTIL(&rig.fakes, t.told == 1);
    request_progress(fake_held(f, 0), 3, 0, NULL);
    CHECK_HAS(down_next(&d), "\"progressToken\":\"two\",\"progress\":3}");
    fake_release(f, 0, "end");
    CHECK_HAS(down_next(&d), "end");
    down_close(&d);
    rig_done(&rig);
}

TEST(a_retry_may_be_cancelled_like_any_request)
{
    struct hub_rig rig;
    struct down d;
    struct fake_server *f;
    struct two t = { 0 };
    struct pb_error err;

    rig_init(&rig, NULL);
    rig_tool(&rig, "alpha", PB_ERA_LEGACY, "two", FAKE_HANG);
    f = rig.fakes.servers[0];
    f->user = &t;
    down_open(&d, &rig, PEER_STATELESS, ERA_MODERN, ASKS_ALL);
    down_call(&d, 1, "alpha__two", "");
    FAKES_UNTIL(&rig.fakes, f->n_held == 1);
    CHECK_INT(
        request_question(fake_held(f, 0), "roots/list", SPAN("{}"), two_told, f->held[0], &err), 0);
    down_next(&d);
    {
        AUTO_BUF struct buf more = { 0 };

        buf_printf(&more, "%s\"inputResponses\":{\"q1\":{\"roots\":[]}},", down_state(&d));
        down_call(&d, 2, "alpha__two", buf_cstr(&more));
    }
    FAKES_UNTIL(&rig.fakes, t.told == 1);
    peer_exchange_gone(d.peer, &d);
    FAKES_UNTIL(&rig.fakes, f->n_held == 0);
    CHECK_INT(f->cancellations, 1);
    down_close(&d);
    rig_done(&rig);
}

/* One server of ours may have MCP_QUESTIONS_MAX open, so that it takes many to get to the limit. */

/* ---- states that pass through ------------------------------------------------------------- */

static void open_passed(struct hub_rig *rig, struct down *d, enum fake_tool_kind kind)
{
    struct fake_server *a, *b;

    rig_init(rig, NULL);
    a = fakes_add(&rig->fakes, "alpha");
    b = fakes_add(&rig->fakes, "beta");
    a->era = b->era = PB_ERA_MODERN;
    fake_tool(a, "ask", kind)->params = "{\"message\":\"m\"}";
    fake_tool(a, "other", FAKE_ECHO);
    fake_tool(b, "ask", FAKE_ECHO);
    rig_connect(rig, a);
    rig_connect(rig, b);
    down_open(d, rig, PEER_STATELESS, ERA_MODERN, ASKS_ALL);
    down_call(d, 1, "alpha__ask", "\"arguments\":" ARGS ",");
    CHECK_HAS(down_next(d), "input_required");
    CHECK_INT(rig_relays(rig)->parked.n, 0);
}

TEST(a_state_that_passes_through_leads_back_to_its_server_only)
{
    struct hub_rig rig;
    struct down d, other;
    char state[2048];
    struct pb_error err;

    open_passed(&rig, &d, FAKE_ASK);
    CHECK(!strstr(down_last(&d), "state of ask"));
    snprintf(state, sizeof state, "%s", down_state(&d));
    down_open(&other, &rig, PEER_STDIO, ERA_MODERN, ASKS_ALL);
    CHECK_HAS(retry(&other, 2, "alpha__ask", ARGS, state), INVALID);
    CHECK_HAS(retry(&d, 2, "beta__ask", ARGS, state), INVALID);
    CHECK_HAS(retry(&d, 3, "alpha__other", ARGS, state), INVALID);
    CHECK_HAS(retry(&d, 4, "alpha__ask", "{}", state), INVALID);
    CHECK_INT(rig.fakes.servers[0]->calls, 1);
    CHECK_INT(rig.fakes.servers[1]->calls, 0);
    CHECK_HAS(retry(&d, 5, "alpha__ask", ARGS, state), "accept");
    CHECK_HAS(retry(&d, 6, "alpha__ask", ARGS, state), "accept"); /* the server judges replays */
    rig.fakes.clock.wall += MCP_STATE_MS;
    CHECK_HAS(retry(&d, 7, "alpha__ask", ARGS, state), INVALID);
    down_close(&d);
    down_close(&other);
    CHECK_INT(hub_remove(rig.hub, "beta", &err), 0);
    rig_done(&rig);
}

/* What the server sees of the second round. */
struct seen {
    char params[1024];
};

static void see_run(struct fake_server *f, struct fake_tool *t, struct request *r)
{
    struct seen *s = f->user;

    (void)t;
    snprintf(s->params, sizeof s->params, "%.*s", SPAN_ARG(json_text(r->params)));
    if (json_is(json_get(r->params, "requestState"), JSON_NONE) &&
        json_is(json_get(r->params, "inputResponses"), JSON_NONE))
        request_reply(r, span_of(t->text));
    else
        fake_reply_text(r, SPAN("seen"));
}

TEST(answers_and_states_reach_a_modern_server_as_the_bytes_they_were)
{
    static const struct {
        const char *result, *state;
    } rows[] = {
        { "{\"resultType\":\"input_required\" , \"inputRequests\":{\"k\\u0041\":{\"method\":"
          "\"elicitation/create\",\"params\":{\"message\" : \"m\",\"z\":1.0}}},"
          "\"requestState\" : \"a\\u0041\\n\"}",
          "\"requestState\":\"a\\u0041\\n\"" },
        { "{\"resultType\":\"input_required\",\"inputRequests\":{\"k\\u0041\":{\"method\":"
          "\"elicitation/create\",\"params\":{\"message\" : \"m\",\"z\":1.0}}}}",
          NULL },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct hub_rig rig;
        struct down d;
        struct seen seen = { 0 };
        struct fake_tool *t;
        AUTO_BUF struct buf more = { 0 };

        rig_init(&rig, NULL);
        t = rig_tool(&rig, "alpha", PB_ERA_MODERN, "see", FAKE_RUN);
        t->run = see_run;
        t->text = rows[i].result;
        rig.fakes.servers[0]->user = &seen;
        down_open(&d, &rig, PEER_STATELESS, ERA_MODERN, ASKS_ALL);
        down_call(&d, 1, "alpha__see", "\"arguments\":{\"n\" : 1.0},\"unknown\":1.0,");
        CHECK_HAS(down_next(&d), "\"k\\u0041\":{\"method\":\"elicitation/create\",\"params\":{"
                                 "\"message\" : \"m\",\"z\":1.0}}");
        buf_printf(&more,
                   "\"unknown\":1.0,\"inputResponses\":{\"k\\u0041\" : {\"action\":\"accept\","
                   "\"content\":{\"n\":1.0}}},%s\"arguments\":{\"n\" : 1.0},",
                   down_state(&d));
        down_call(&d, 2, "alpha__see", buf_cstr(&more));
        CHECK_HAS(down_next(&d), "seen");
        CHECK_HAS(seen.params, "{\"name\":\"see\",");
        CHECK_HAS(seen.params, "\"inputResponses\":{\"k\\u0041\" : {\"action\":\"accept\","
                               "\"content\":{\"n\":1.0}}}");
        CHECK_HAS(seen.params, "\"arguments\":{\"n\" : 1.0}");
        CHECK_HAS(seen.params, "\"unknown\":1.0");
        if (rows[i].state)
            CHECK_HAS(seen.params, rows[i].state);
        else
            CHECK(!strstr(seen.params, "requestState"));
        down_close(&d);
        rig_done(&rig);
    }
}

TEST(a_state_that_is_too_large_to_be_passed_on_is_an_error)
{
    struct hub_rig rig;
    struct down d;
    struct buf text = { 0 };
    struct fake_tool *t;

    rig_init(&rig, NULL);
    t = rig_tool(&rig, "alpha", PB_ERA_MODERN, "big", FAKE_RAW);
    buf_str(&text, "{\"resultType\":\"input_required\",\"requestState\":\"");
    for (int i = 0; i < MCP_STATE_BYTES_MAX; i++)
        buf_byte(&text, 'x');
    buf_str(&text, "\"}");
    t->text = buf_cstr(&text);
    down_open(&d, &rig, PEER_STATELESS, ERA_MODERN, ASKS_ALL);
    down_call(&d, 1, "alpha__big", "");
    CHECK_HAS(down_next(&d), "requestState is too large");
    CHECK_HAS(down_last(&d), "\"isError\":true");
    buf_done(&text);
    down_close(&d);
    rig_done(&rig);
}

static bool ask_first(void *ctx, struct request *r)
{
    static struct fake_tool t = { .text = "{\"resultType\":\"input_required\","
                                          "\"requestState\":\"s\"}" };

    if (!span_is(r->method, "prompts/get") && !span_is(r->method, "resources/read"))
        return fake_handle(ctx, r);
    see_run(ctx, &t, r);
    return true;
}

TEST(prompts_and_resources_ask_as_tools_do)
{
    static const struct {
        const char *method, *first, *other, *told;
    } rows[] = {
        { "prompts/get", "\"name\":\"alpha__p\",", "\"name\":\"alpha__r\",",
          "{\"name\":\"p\",\"requestState\":\"s\"" },
        { "resources/read", "\"uri\":\"file:///p\",", "\"uri\":\"file:///r\",",
          "{\"uri\":\"file:///p\",\"requestState\":\"s\"" },
    };
    struct provider asking = fake_provider;

    asking.handle = ask_first;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_BUF struct buf again = { 0 }, other = { 0 };
        struct seen seen = { 0 };
        struct fake_server *f;
        struct hub_rig rig;
        struct down d;

        rig_init(&rig, NULL);
        f = fakes_add(&rig.fakes, "alpha");
        server_set_provider(f->server, &asking, f);
        f->era = PB_ERA_MODERN;
        f->user = &seen;
        fake_prompt(f, "p", "P");
        fake_prompt(f, "r", "R");
        fake_resource(f, "file:///p", "P");
        fake_resource(f, "file:///r", "R");
        rig_connect(&rig, f);
        down_open(&d, &rig, PEER_STATELESS, ERA_MODERN, ASKS_ALL);
        down_request(&d, 1, rows[i].method, rows[i].first, "");
        CHECK_HAS(down_next(&d), "input_required");
        buf_printf(&again, "%s%s", rows[i].first, down_state(&d));
        buf_printf(&other, "%s%s", rows[i].other, down_state(&d));
        down_request(&d, 2, rows[i].method, buf_cstr(&other), "");
        CHECK_HAS(down_last(&d), INVALID);
        down_request(&d, 3, rows[i].method, buf_cstr(&again), "");
        CHECK_HAS(down_next(&d), "seen");
        CHECK_HAS(seen.params, rows[i].told);
        down_close(&d);
        rig_done(&rig);
    }
}

/* ---- who is asked -------------------------------------------------------------------------- */

/* A question over stdio does not say whose call it is about. */
TEST(a_question_that_may_be_for_either_of_two_clients_is_for_none)
{
    struct hub_rig rig;
    struct down a, b;
    struct fake_server *f;

    rig_init(&rig, NULL);
    f = fakes_add(&rig.fakes, "alpha");
    f->era = PB_ERA_LEGACY;
    fake_tool(f, "ask", FAKE_ASK)->params = "{\"message\":\"m\"}";
    fake_tool(f, "hang", FAKE_HANG);
    rig_connect(&rig, f);
    down_open(&a, &rig, PEER_STDIO, ERA_LEGACY, ASKS_ALL);
    down_open(&b, &rig, PEER_STDIO, ERA_MODERN, ASKS_ALL);
    down_call(&a, 1, "alpha__hang", "");
    FAKES_UNTIL(&rig.fakes, f->n_held == 1);
    down_call(&b, 1, "alpha__ask", "");
    CHECK_HAS(down_next(&b), "refused: -32601");
    CHECK_INT(a.n, 0);
    fake_release(f, 0, "done");
    CHECK_HAS(down_next(&a), "done");
    down_call(&b, 2, "alpha__ask", "");
    CHECK_HAS(down_next(&b), "input_required");
    CHECK_INT(a.n, 1);
    down_close(&a);
    down_close(&b);
    rig_done(&rig);
}

static const struct client *client_of(const struct hub_rig *rig)
{
    const struct list *wires = &rig->fakes.servers[0]->wires;

    CHECK(!list_empty(wires));
    return CONTAINER_OF(wires->next, struct fake_wire, link)->wire.ctx;
}

/* A client that does not read leaves answers with the server; but while its call is parked nobody
 * waits for one, and the questions of others must not be held up by it. */
TEST(a_parked_call_is_not_held_and_is_again_when_a_client_comes_back_that_does_not_read)
{
    struct hub_rig rig;
    struct down d;
    AUTO_BUF struct buf more = { 0 };

    rig_init(&rig, NULL);
    rig_tool(&rig, "alpha", PB_ERA_LEGACY, "ask", FAKE_ASK)->params = "{\"message\":\"m\"}";
    down_open(&d, &rig, PEER_STDIO, ERA_MODERN, ASKS_ALL);
    peer_set_congested(d.peer, true);
    down_call(&d, 1, "alpha__ask", "");
    CHECK(client_is_held(client_of(&rig)));
    CHECK_HAS(down_next(&d), "input_required");
    CHECK_INT(rig_relays(&rig)->parked.n, 1);
    CHECK(!client_is_held(client_of(&rig)));

    buf_printf(&more, "%s\"inputResponses\":{\"q1\":" ACCEPT "},", down_state(&d));
    down_call(&d, 2, "alpha__ask", buf_cstr(&more));
    CHECK_INT(rig_relays(&rig)->parked.n, 0);
    CHECK(client_is_held(client_of(&rig)));
    relays_congested(rig_relays(&rig), d.peer, false);
    CHECK(!client_is_held(client_of(&rig)));
    CHECK_HAS(down_next(&d), "accept");
    down_close(&d);
    rig_done(&rig);
}
