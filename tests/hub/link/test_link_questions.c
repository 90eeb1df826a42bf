/* Questions of a server while it works: whom they reach, who may answer, what is refused. */
#include "hub/link/link.h"
#include "hub/link_rig.h"
#include "hub/spec/spec.h"
#include "mcp/client/client.h"
#include "mcp/serve/serve.h"

#define ALL_CAPS "{\"elicitation\":{\"form\":{},\"url\":{}},\"sampling\":{},\"roots\":{}}"

/* One caller that can be asked. */
struct person {
    struct fake_reply reply;
    struct link_question *q;
    char asked[256];
    int n_asked, n_withdrawn;
    bool cannot; /* be asked that */
};

static bool on_asked(void *ctx, struct link_question *q, struct span method, struct span params)
{
    struct person *p = ctx;

    if (p->cannot)
        return false;
    p->q = q;
    p->n_asked++;
    snprintf(p->asked, sizeof p->asked, "%.*s %.*s", SPAN_ARG(method), SPAN_ARG(params));
    return true;
}

static void on_taken_back(void *ctx, const struct link_question *q)
{
    struct person *p = ctx;

    CHECK(p->q == q);
    p->q = NULL;
    p->n_withdrawn++;
}

static void on_answered(void *ctx, const struct client_reply *reply)
{
    struct person *p = ctx;

    fake_on_reply(&p->reply, reply);
}

static uint64_t person_call(struct link_rig *rig, struct person *p, const char *tool,
                            const char *caller, const char *caps)
{
    AUTO_BUF struct buf params = { 0 };
    struct call_spec s = link_rig_spec(NULL, tool, &params);
    struct pb_error err;
    uint64_t id;

    *p = (struct person){ 0 };
    s.caller = caller;
    s.caps = caps;
    s.question = caps ? on_asked : NULL;
    s.withdrawn = on_taken_back;
    s.reply = on_answered;
    s.ctx = p;
    if (link_call(rig->link, &s, &id, &err) < 0)
        TAP_FAIL("%s", err.msg);
    return id;
}

static void legacy_rig(struct link_rig *rig)
{
    link_rig_init(rig);
    rig->f->era = PB_ERA_LEGACY;
    fake_tool(rig->f, "ask", FAKE_ASK)->params = "{\"message\":\"ok?\",\"requestedSchema\":{}}";
    fake_tool(rig->f, "slow", FAKE_HANG);
    fake_tool(rig->f, "sample", FAKE_ASK)->method = "sampling/createMessage";
    fake_tool(rig->f, "roots", FAKE_ASK)->method = "roots/list";
    link_rig_start(rig);
}

TEST(the_question_of_the_only_call_goes_to_its_caller_and_the_answer_back)
{
    struct link_rig rig;
    struct person p;

    legacy_rig(&rig);
    person_call(&rig, &p, "ask", "x", ALL_CAPS);
    FAKES_UNTIL(&rig.fakes, p.n_asked);
    CHECK_STR(p.asked, "elicitation/create {\"message\":\"ok?\",\"requestedSchema\":{}}");
    link_answer(p.q, SPAN("{\"action\":\"accept\"}"));
    FAKES_UNTIL(&rig.fakes, p.reply.count);
    CHECK_STR(rig.f->last_answer, "{\"action\":\"accept\"}");
    fake_reply_done(&p.reply);

    person_call(&rig, &p, "ask", "x", ALL_CAPS);
    FAKES_UNTIL(&rig.fakes, p.n_asked);
    link_refuse(p.q, -1, "nobody is here");
    FAKES_UNTIL(&rig.fakes, p.reply.count);
    CHECK_STR(rig.f->last_answer, "refused: -1 nobody is here");
    fake_reply_done(&p.reply);
    link_rig_done(&rig);
}

TEST(of_several_calls_of_one_caller_the_newest_is_asked)
{
    struct link_rig rig;
    struct person old, new;

    legacy_rig(&rig);
    person_call(&rig, &old, "slow", "x", ALL_CAPS);
    person_call(&rig, &new, "ask", "x", ALL_CAPS);
    FAKES_UNTIL(&rig.fakes, new.n_asked);
    CHECK_INT(old.n_asked, 0);
    link_answer(new.q, SPAN("{}"));
    FAKES_UNTIL(&rig.fakes, new.reply.count);
    fake_reply_done(&new.reply);
    link_rig_done(&rig);
}

/* Whoever is asked may keep what a server says until there is an answer. */
TEST(a_question_too_large_to_be_kept_is_refused)
{
    static const size_t beside = sizeof "{\"message\":\"\",\"requestedSchema\":{}}" - 1;

    for (int past = 0; past < 2; past++) {
        size_t many = MCP_QUESTIONS_BYTES_MAX - beside + (size_t)past;
        AUTO_BUF struct buf text = { 0 };
        struct link_rig rig;
        struct person p;

        legacy_rig(&rig);
        person_call(&rig, &p, "slow", "x", ALL_CAPS);
        FAKES_UNTIL(&rig.fakes, rig.f->n_held == 1);
        buf_str(&text, "{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"elicitation/create\","
                       "\"params\":{\"message\":\"");
        memset(buf_reserve(&text, many), 'm', many);
        text.n += many;
        buf_str(&text, "\",\"requestedSchema\":{}}}");
        fake_say_raw(rig.f, buf_cstr(&text));
        fakes_settle(&rig.fakes);
        CHECK_INT(p.n_asked, past ? 0 : 1);
        fake_release(rig.f, 0, "done");
        FAKES_UNTIL(&rig.fakes, p.reply.count);
        fake_reply_done(&p.reply);
        link_rig_done(&rig);
    }
}

/* Nothing says whose question it is, so that the newest is asked; if that one is answered first, it
 * was not the one that asked. */
TEST(a_question_outlives_the_call_that_it_was_taken_for)
{
    struct link_rig rig;
    struct person asks, newer;

    legacy_rig(&rig);
    person_call(&rig, &asks, "ask", "x", ALL_CAPS);
    person_call(&rig, &newer, "slow", "x", ALL_CAPS);
    FAKES_UNTIL(&rig.fakes, newer.n_asked && rig.f->n_held == 2);
    fake_release(rig.f, 1, "done");
    FAKES_UNTIL(&rig.fakes, newer.reply.count);
    CHECK_INT(asks.n_asked, 1);
    CHECK_STR(asks.asked, newer.asked);
    link_answer(asks.q, SPAN("{\"action\":\"accept\"}"));
    FAKES_UNTIL(&rig.fakes, asks.reply.count);
    CHECK_STR(rig.f->last_answer, "{\"action\":\"accept\"}");
    fake_reply_done(&newer.reply);
    fake_reply_done(&asks.reply);
    link_rig_done(&rig);
}

static bool is_apart(const struct link_rig *rig)
{
    struct link_facts facts;

    link_facts(rig->link, &facts);
    return facts.apart;
}

/* x and y call one after the other, before either is answered. */
static void both_ask(struct link_rig *rig, struct person *x, struct person *y)
{
    person_call(rig, x, "slow", "x", ALL_CAPS);
    person_call(rig, y, "ask", "y", ALL_CAPS);
    FAKES_UNTIL(&rig->fakes, y->reply.count);
    CHECK_INT(x->n_asked + y->n_asked, 0);
    fake_reply_done(&y->reply);
}

TEST(a_server_that_asked_in_doubt_works_for_each_caller_apart_from_then_on)
{
    struct link_rig rig;
    struct person x, y, z;

    legacy_rig(&rig);
    CHECK(!is_apart(&rig));
    both_ask(&rig, &x, &y);
    CHECK_STR(
        rig.f->last_answer,
        "refused: -32601 elicitation/create: calls of several clients are under way and it is "
        "not known whose question this is; with its next call each client has an instance of "
        "its own");
    CHECK(is_apart(&rig));
    CHECK_INT(rig.f->connects, 1);
    CHECK_STR(link_log_at(rig.link, link_log_count(rig.link) - 1)->text,
              "It asked while calls of several clients were under way: from now on each client has "
              "an instance of its own");
    person_call(&rig, &y, "ask", "y", ALL_CAPS); /* while x still works on the shared one */
    person_call(&rig, &z, "ask", "z", ALL_CAPS);
    FAKES_UNTIL(&rig.fakes, y.n_asked && z.n_asked);
    CHECK_INT(rig.f->connects, 3);
    link_answer(y.q, SPAN("{}"));
    link_answer(z.q, SPAN("{}"));
    FAKES_UNTIL(&rig.fakes, y.reply.count && z.reply.count);
    CHECK_INT(x.n_asked, 0);
    fake_reply_done(&y.reply);
    fake_reply_done(&z.reply);
    link_rig_done(&rig);
}

TEST(a_server_that_is_to_stay_shared_lets_its_callers_take_turns)
{
    struct link_rig rig;
    struct person x, y, z;

    link_rig_init(&rig);
    rig.f->era = PB_ERA_LEGACY;
    rig.spec->instance = SPEC_ALWAYS_SHARED;
    fake_tool(rig.f, "ask", FAKE_ASK);
    fake_tool(rig.f, "slow", FAKE_HANG);
    link_rig_start(&rig);
    both_ask(&rig, &x, &y);
    CHECK_HAS(rig.f->last_answer, "from now on the calls of one client are made at a time");
    person_call(&rig, &y, "ask", "y", ALL_CAPS);
    person_call(&rig, &z, "ask", "z", ALL_CAPS);
    fakes_settle(&rig.fakes);
    CHECK_INT(rig.f->calls, 2); /* x is at work */
    fake_release(rig.f, 0, "done");
    FAKES_UNTIL(&rig.fakes, x.reply.count && y.n_asked);
    fakes_settle(&rig.fakes);
    CHECK_INT(z.n_asked, 0);
    link_answer(y.q, SPAN("{}"));
    FAKES_UNTIL(&rig.fakes, z.n_asked);
    link_answer(z.q, SPAN("{}"));
    FAKES_UNTIL(&rig.fakes, y.reply.count && z.reply.count);
    CHECK_INT(rig.f->connects, 1);
    fake_reply_done(&x.reply);
    fake_reply_done(&y.reply);
    fake_reply_done(&z.reply);
    link_rig_done(&rig);
}

/* Many servers look at the roots now and then, and none of them needs to know whose they are. */
TEST(roots_are_no_reason_to_keep_callers_apart)
{
    struct link_rig rig;
    struct person x, y;

    legacy_rig(&rig);
    person_call(&rig, &x, "slow", "x", ALL_CAPS);
    person_call(&rig, &y, "roots", "y", ALL_CAPS);
    FAKES_UNTIL(&rig.fakes, y.reply.count);
    CHECK_STR(rig.f->last_answer, "{\"roots\":[]}");
    CHECK(!is_apart(&rig));
    fake_reply_done(&y.reply);
    link_rig_done(&rig);
}

/* What the server is told: "refused: code text", or the answer. */
static void told(struct request *r, void *ctx, struct span result, const struct pb_error *err)
{
    struct fake_server *f = ctx;

    (void)r;
    if (err)
        snprintf(f->last_answer, sizeof f->last_answer, "refused: %d %s", err->sys, err->msg);
    else
        snprintf(f->last_answer, sizeof f->last_answer, "%.*s", SPAN_ARG(result));
}

/* The server asks while it works on the i-th call that hangs; over stdio nobody can tell. */
static void ask_about(struct link_rig *rig, size_t i)
{
    struct pb_error err;

    rig->f->last_answer[0] = '\0';
    CHECK_INT(request_question(fake_held(rig->f, i), "elicitation/create",
                               SPAN("{\"message\":\"secret of x\"}"), told, rig->f, &err),
              0);
    fakes_settle(&rig->fakes);
}

/* The same by a server that asks about a call which it was told to drop. */
static void ask_on(struct link_rig *rig)
{
    fake_say_raw(rig->f, "{\"jsonrpc\":\"2.0\",\"id\":\"ghost\",\"method\":\"elicitation/create\","
                         "\"params\":{\"message\":\"secret of x\"}}");
    fakes_settle(&rig->fakes);
}

TEST(a_call_that_is_being_asked_may_ask_again_and_nobody_else_is_shown_it)
{
    struct link_rig rig;
    struct person x, y;

    legacy_rig(&rig);
    person_call(&rig, &x, "slow", "x", ALL_CAPS);
    fakes_settle(&rig.fakes);
    ask_about(&rig, 0);
    CHECK_INT(x.n_asked, 1);
    person_call(&rig, &y, "slow", "y", ALL_CAPS);
    fakes_settle(&rig.fakes);
    ask_about(&rig, 0);
    CHECK_INT(y.n_asked, 0);
    CHECK_INT(x.n_asked, 1);
    CHECK_HAS(rig.f->last_answer, "refused: -32601 elicitation/create: calls of several clients");
    loop_advance(rig.fakes.loop, 30000); /* no question is open for it: its time has run */
    CHECK_INT(fault_of(&y.reply.err), FAULT_TIMEOUT);
    CHECK_INT(x.reply.count, 0);
    link_rig_done(&rig);
}

/* x was asked when it was alone; its call is answered, and y's is the only one that is left. */
TEST(a_question_that_its_call_left_open_is_not_shown_to_whoever_calls_now)
{
    struct link_rig rig;
    struct person x, y;

    legacy_rig(&rig);
    person_call(&rig, &x, "slow", "x", ALL_CAPS);
    fakes_settle(&rig.fakes);
    ask_on(&rig);
    CHECK_INT(x.n_asked, 1);
    person_call(&rig, &y, "slow", "y", ALL_CAPS);
    FAKES_UNTIL(&rig.fakes, rig.f->n_held == 2);
    fake_answer_raw(rig.f, 0, "{\"content\":[]}");
    FAKES_UNTIL(&rig.fakes, x.reply.count);
    fakes_settle(&rig.fakes);
    CHECK_INT(y.n_asked, 0);
    fake_reply_done(&x.reply);
    link_rig_done(&rig);
}

TEST(the_question_of_a_cancelled_call_is_shown_to_nobody)
{
    static const enum call_cancel ways[] = { CALL_BY_USER, CALL_TIMED_OUT };

    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        struct link_rig rig;
        struct person x, y;
        uint64_t id;

        legacy_rig(&rig);
        id = person_call(&rig, &x, "slow", "x", ALL_CAPS);
        person_call(&rig, &y, "slow", "y", ALL_CAPS);
        fakes_settle(&rig.fakes);
        CHECK(link_cancel(rig.link, id, ways[i]));
        fakes_settle(&rig.fakes);
        ask_on(&rig);
        CHECK_INT(y.n_asked, 0);
        CHECK_INT(x.n_asked, 0);
        link_rig_done(&rig);
    }
}

/* x has given up a call that the server does not let go of; how long is y not asked? */
TEST(a_cancelled_call_counts_until_it_is_answered_or_long_over)
{
    enum { BY_ANSWER, BY_TIME, BY_CONNECTION, NOT, WAYS };

    for (int way = 0; way < WAYS; way++) {
        AUTO_BUF struct buf late = { 0 };
        struct link_rig rig;
        struct person x, y;
        uint64_t id;

        legacy_rig(&rig);
        id = person_call(&rig, &x, "slow", "x", ALL_CAPS);
        fakes_settle(&rig.fakes);
        buf_printf(&late, "{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"result\":{}}",
                   SPAN_ARG(fake_held(rig.f, 0)->id));
        CHECK(link_cancel(rig.link, id, CALL_BY_USER));
        if (way == BY_ANSWER) {
            fake_say_raw(rig.f, buf_cstr(&late));
        } else if (way == BY_TIME) {
            loop_advance(rig.fakes.loop, LINK_GHOST_MS);
        } else if (way == BY_CONNECTION) {
            link_disconnect(rig.link);
            FAKES_UNTIL(&rig.fakes, link_is_clear(rig.link));
            link_rig_connect(&rig);
        } else {
            loop_advance(rig.fakes.loop, LINK_GHOST_MS - 1);
        }
        person_call(&rig, &y, "slow", "y", ALL_CAPS);
        fakes_settle(&rig.fakes);
        ask_on(&rig);
        CHECK_INT(y.n_asked, way == NOT ? 0 : 1);
        link_rig_done(&rig);
    }
}

/* A call may be given a year; whoever gives it up early leaves it to the server for as long. */
TEST(a_cancelled_call_counts_as_long_as_it_could_have_lived)
{
    enum { LIMIT_MS = 6 * LINK_GHOST_MS };

    for (int way = 0; way < 3; way++) {
        struct link_rig rig;
        struct person x, y;

        legacy_rig(&rig);
        rig.spec->timeout_ms = LIMIT_MS;
        CHECK(link_cancel(rig.link, person_call(&rig, &x, "slow", "x", ALL_CAPS), CALL_BY_USER));
        rig.spec->timeout_ms =
            SPEC_TIMEOUT_MS; /* a later one with less time is not dropped first */
        if (way == 2)
            CHECK(
                link_cancel(rig.link, person_call(&rig, &x, "slow", "x", ALL_CAPS), CALL_BY_USER));
        loop_advance(rig.fakes.loop, way ? LIMIT_MS - 1 : LIMIT_MS);
        person_call(&rig, &y, "slow", "y", ALL_CAPS);
        fakes_settle(&rig.fakes);
        ask_on(&rig);
        CHECK_INT(y.n_asked, way ? 0 : 1);
        link_rig_done(&rig);
    }
}

TEST(a_call_that_was_answered_with_nonsense_is_over)
{
    struct link_rig rig;
    struct person x, y;

    legacy_rig(&rig);
    person_call(&rig, &x, "slow", "x", ALL_CAPS);
    FAKES_UNTIL(&rig.fakes, rig.f->n_held == 1);
    fake_answer_raw(rig.f, 0, "{},\"error\":{\"code\":1,\"message\":\"both\"}");
    FAKES_UNTIL(&rig.fakes, x.reply.count);
    person_call(&rig, &y, "ask", "y", ALL_CAPS);
    FAKES_UNTIL(&rig.fakes, y.n_asked);
    link_answer(y.q, SPAN("{}"));
    FAKES_UNTIL(&rig.fakes, y.reply.count);
    CHECK(!is_apart(&rig));
    fake_reply_done(&x.reply);
    fake_reply_done(&y.reply);
    link_rig_done(&rig);
}

TEST(ones_own_cancelled_call_is_no_reason_not_to_be_asked)
{
    struct link_rig rig;
    struct person p;

    legacy_rig(&rig);
    CHECK(link_cancel(rig.link, person_call(&rig, &p, "slow", "x", ALL_CAPS), CALL_BY_USER));
    ask_on(&rig); /* nobody is there to be asked */
    CHECK_INT(p.n_asked, 0);
    person_call(&rig, &p, "slow", "x", ALL_CAPS);
    fakes_settle(&rig.fakes);
    ask_on(&rig);
    CHECK_INT(p.n_asked, 1);
    link_rig_done(&rig);
}

TEST(of_more_cancelled_calls_than_are_kept_it_stays_in_doubt_whose_they_were)
{
    static const size_t more[] = { LINK_GHOSTS_MAX - 1, LINK_GHOSTS_MAX, 4 * LINK_GHOSTS_MAX };

    for (size_t i = 0; i < ARRAY_LEN(more); i++) {
        struct link_rig rig;
        struct person p;

        legacy_rig(&rig);
        CHECK(link_cancel(rig.link, person_call(&rig, &p, "slow", "x", ALL_CAPS), CALL_BY_USER));
        loop_advance(rig.fakes.loop, 1000);
        for (size_t n = 0; n < more[i]; n++)
            CHECK(
                link_cancel(rig.link, person_call(&rig, &p, "slow", "y", ALL_CAPS), CALL_BY_USER));
        person_call(&rig, &p, "slow", "y", ALL_CAPS);
        fakes_settle(&rig.fakes);
        ask_on(&rig);
        CHECK_INT(p.n_asked, 0);
        /* x is long over */
        loop_advance(rig.fakes.loop, LINK_GHOST_MS);
        person_call(&rig, &p, "slow", "y", ALL_CAPS);
        fakes_settle(&rig.fakes);
        ask_on(&rig);
        CHECK_INT(p.n_asked, 1);
        link_rig_done(&rig);
    }
}

/* ---- questions that the server takes back ---- */

static void take_back(struct link_rig *rig)
{
    fake_say_raw(rig->f, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
                         "\"params\":{\"requestId\":\"ghost\"}}");
    fakes_settle(&rig->fakes);
}

TEST(a_question_that_is_taken_back_lets_the_clock_run_and_leaves_its_place)
{
    struct link_rig rig;
    struct person p;

    legacy_rig(&rig);
    person_call(&rig, &p, "slow", "x", ALL_CAPS);
    fakes_settle(&rig.fakes);
    for (int i = 1; i <= MCP_QUESTIONS_MAX + 1; i++) {
        ask_on(&rig);
        CHECK_INT(p.n_asked, i);
        loop_advance(rig.fakes.loop, 60000);
        take_back(&rig);
        CHECK_INT(p.n_withdrawn, i);
    }
    take_back(&rig); /* there is none */
    loop_advance(rig.fakes.loop, 29999);
    CHECK_INT(p.reply.count, 0);
    loop_advance(rig.fakes.loop, 1);
    CHECK_INT(fault_of(&p.reply.err), FAULT_TIMEOUT);
    link_rig_done(&rig);
}

TEST(roots_that_are_taken_back_are_answered_into_nothing)
{
    struct link_rig rig;

    legacy_rig(&rig);
    rig.takes_questions = true;
    fake_say_raw(rig.f, "{\"jsonrpc\":\"2.0\",\"id\":\"ghost\",\"method\":\"roots/list\"}");
    FAKES_UNTIL(&rig.fakes, rig.n_asked == 1);
    take_back(&rig);
    link_answer(rig.questions[0], SPAN("{\"roots\":[]}"));
    link_rig_done(&rig);
}

TEST(what_a_caller_cannot_be_asked_is_refused_or_answered_without_it)
{
    static const struct {
        const char *tool, *caps, *answer;
        bool cannot;
    } cases[] = {
        { "ask", ALL_CAPS, "refused: -32601 elicitation/create: the client that made this", true },
        { "ask", ALL_CAPS, "{}", false },
        { "sample", ALL_CAPS, "refused: -32601 sampling/createMessage: the client", true },
        { "sample", ALL_CAPS, "{}", false },
        { "roots", ALL_CAPS, "{\"roots\":[]}", true },
        { "roots", ALL_CAPS, "{}", false },
        { "sample", NULL, "refused: -32601 sampling/createMessage: not implemented", true },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct link_rig rig;
        struct person p;

        legacy_rig(&rig);
        person_call(&rig, &p, cases[i].tool, "x", cases[i].caps);
        p.cannot = cases[i].cannot;
        FAKES_UNTIL(&rig.fakes, p.n_asked || p.reply.count);
        CHECK_INT(p.n_asked, !cases[i].cannot);
        if (p.n_asked)
            link_answer(p.q, SPAN("{}"));
        FAKES_UNTIL(&rig.fakes, p.reply.count);
        CHECK_HAS(rig.f->last_answer, cases[i].answer);
        fake_reply_done(&p.reply);
        link_rig_done(&rig);
    }
}

/* S4-58 S4-132 S4-133 */
TEST(sampling_is_refused_as_not_implemented_and_the_connection_goes_on)
{
    struct link_rig rig;
    struct fake_reply a;

    legacy_rig(&rig);
    link_rig_ask(&rig, &a, "sample");
    CHECK_STR(rig.f->last_answer, "refused: -32601 sampling/createMessage: not implemented");
    fake_reply_done(&a);
    fake_tool(rig.f, "text", FAKE_TEXT);
    link_rig_ask(&rig, &a, "text");
    CHECK_HAS(a.result, "mock");
    CHECK_INT(link_state(rig.link), LINK_CONNECTED);
    fake_reply_done(&a);
    link_rig_done(&rig);
}

TEST(the_clock_stands_while_a_question_is_open)
{
    struct link_rig rig;
    struct person p;

    legacy_rig(&rig);
    person_call(&rig, &p, "ask", "x", ALL_CAPS);
    FAKES_UNTIL(&rig.fakes, p.n_asked);
    loop_advance(rig.fakes.loop, MCP_ASK_MS - 1);
    CHECK_INT(p.reply.count, 0);
    loop_advance(rig.fakes.loop, 1);
    CHECK_INT(fault_of(&p.reply.err), FAULT_TIMEOUT);
    link_rig_done(&rig);
}

TEST(when_the_call_ends_its_questions_end_with_it)
{
    struct link_rig rig;
    struct person p;
    uint64_t id;

    legacy_rig(&rig);
    id = person_call(&rig, &p, "ask", "x", ALL_CAPS);
    FAKES_UNTIL(&rig.fakes, p.n_asked);
    CHECK(link_cancel(rig.link, id, CALL_BY_USER));
    FAKES_UNTIL(&rig.fakes, rig.f->cancellations == 1);
    person_call(&rig, &p, "ask", "x", ALL_CAPS); /* and one that dies with its server */
    FAKES_UNTIL(&rig.fakes, p.n_asked);
    fake_break(rig.f, "gone");
    CHECK_INT(fault_of(&p.reply.err), FAULT_NOT_CONNECTED);
    link_rig_done(&rig);
}

TEST(questions_of_no_call_go_to_the_owner_or_get_the_plain_answer)
{
    struct link_rig rig;
    struct fake_reply a;

    legacy_rig(&rig);
    /* The call cannot answer, so that roots are asked of the owner. */
    rig.takes_questions = true;
    link_rig_call(&rig, &a, "roots");
    FAKES_UNTIL(&rig.fakes, rig.n_asked == 1);
    CHECK_STR(rig.asked[0], "roots/list");
    link_answer(rig.questions[0], SPAN("{\"roots\":[{\"uri\":\"file:///x\"}]}"));
    FAKES_UNTIL(&rig.fakes, a.count);
    CHECK_HAS(rig.f->last_answer, "file:///x");
    fake_reply_done(&a);

    /* A taken question may be answered when the server is long gone. */
    link_rig_call(&rig, &a, "roots");
    FAKES_UNTIL(&rig.fakes, rig.n_asked == 2);
    fake_break(rig.f, "gone");
    FAKES_UNTIL(&rig.fakes, link_is_clear(rig.link));
    link_refuse(rig.questions[1], -1, "late");
    CHECK_INT(a.count, 1);

    link_rig_connect(&rig);
    rig.takes_questions = false;
    link_rig_ask(&rig, &a, "roots");
    CHECK_STR(rig.f->last_answer, "{\"roots\":[]}");
    fake_reply_done(&a);
    link_rig_done(&rig);
}

/* In the modern era the answer of the call is the question. */
TEST(modern_questions_pass_raw_or_are_asked_of_the_caller)
{
    struct link_rig rig;
    struct person p;
    struct fake_reply a;

    link_rig_init(&rig);
    rig.f->era = PB_ERA_MODERN;
    fake_tool(rig.f, "ask", FAKE_ASK);
    link_rig_start(&rig);
    link_rig_call_with(&rig, &a, "ask",
                       &(struct call_spec){ .raw_rounds = true, .caps = ALL_CAPS });
    FAKES_UNTIL(&rig.fakes, a.count);
    CHECK_HAS(a.result, "\"resultType\":\"input_required\"");
    CHECK_HAS(a.result, "\"requestState\":\"state of ask\"");
    fake_reply_done(&a);

    person_call(&rig, &p, "ask", "x", ALL_CAPS);
    FAKES_UNTIL(&rig.fakes, p.n_asked);
    link_answer(p.q, SPAN("{\"action\":\"accept\"}"));
    FAKES_UNTIL(&rig.fakes, p.reply.count);
    CHECK_STR(rig.f->last_answer, "{\"q\":{\"action\":\"accept\"}}");
    fake_reply_done(&p.reply);
    link_rig_done(&rig);
}

static void tell_caps(struct fake_server *f, struct fake_tool *t, struct request *r)
{
    (void)f, (void)t;
    fake_reply_text(r, r->env.client_caps);
}

TEST(a_modern_server_hears_with_each_call_what_its_caller_can_be_asked)
{
    struct link_rig rig;
    struct fake_reply a;

    link_rig_init(&rig);
    rig.f->era = PB_ERA_MODERN;
    fake_tool(rig.f, "caps", FAKE_RUN)->run = tell_caps;
    link_rig_start(&rig);
    link_rig_call_with(&rig, &a, "caps", &(struct call_spec){ .caps = "{\"sampling\":{}}" });
    FAKES_UNTIL(&rig.fakes, a.count);
    CHECK_HAS(a.result, "\"text\":\"{\\\"sampling\\\":{}}\"");
    fake_reply_done(&a);
    link_rig_ask(&rig, &a, "caps");
    CHECK_HAS(a.result, "\"text\":\"{}\"");
    fake_reply_done(&a);
    link_rig_done(&rig);
}

TEST(a_legacy_server_hears_that_roots_have_changed)
{
    struct link_rig rig;

    legacy_rig(&rig);
    link_roots_changed(rig.link, "");
    link_roots_changed(rig.link, "x");
    fakes_settle(&rig.fakes);
    CHECK_INT(rig.f->roots_changed, 1);
    link_disconnect(rig.link);
    link_roots_changed(rig.link, "");
    link_rig_done(&rig);
}
