/* Calls over a link: answers, events, time limits, cancellation, the death of a server. */
#include "hub/link/link.h"
#include "hub/link_rig.h"
#include "hub/spec/spec.h"
#include "mcp/client/client.h"
#include "mcp/serve/serve.h"

/* S0-39 S0-163 S4-96 */
TEST(a_call_without_a_connection_fails_with_the_name_of_the_server)
{
    struct link_rig rig;
    struct fake_reply a;

    link_rig_init(&rig);
    link_rig_make(&rig);
    link_rig_call(&rig, &a, "echo");
    CHECK_INT(a.err.code, PB_E_CLOSED);
    CHECK_INT(fault_of(&a.err), FAULT_NOT_CONNECTED);
    CHECK_STR(fault_name(&a.err), "server_not_connected");
    CHECK_STR(a.err.msg, "Server 'alpha' is not connected (state: idle)");
    CHECK_INT(rig.fakes.n_events, 0);
    link_rig_done(&rig);
}

TEST(a_call_that_cannot_even_be_sent_says_why_and_where)
{
    struct link_rig rig;
    struct fake_reply a;

    link_rig_init(&rig);
    link_rig_start(&rig);
    link_rig_call_with(&rig, &a, "echo", &(struct call_spec){ .params = SPAN("[]") });
    CHECK_INT(a.err.code, PB_E_INVALID);
    CHECK_STR(a.err.msg, "Server 'alpha': params: expected an object, got an array");
    link_rig_done(&rig);
}

/* S0-40 S0-41 S0-42 S0-56 S0-164 */
TEST(a_call_is_told_when_it_starts_and_when_it_is_completed)
{
    static const enum pb_era eras[] = { PB_ERA_LEGACY, PB_ERA_MODERN };

    for (size_t i = 0; i < ARRAY_LEN(eras); i++) {
        struct link_rig rig;
        struct fake_reply a;
        const char *id, *started, *completed;
        struct link_facts facts;

        link_rig_init(&rig);
        rig.f->era = eras[i];
        fake_tool(rig.f, "echo", FAKE_ECHO);
        link_rig_start(&rig);
        fakes_forget_events(&rig.fakes);
        link_rig_call(&rig, &a, "echo");
        CHECK_INT(rig.fakes.n_events, 1); /* before it is even on its way */
        CHECK_INT(rig.f->calls, 0);
        FAKES_UNTIL(&rig.fakes, a.count);
        CHECK_HAS(a.result, "\"content\":[{\"type\":\"text\",\"text\":\"{\\\"a\\\":1}\"}]");
        CHECK_INT(rig.fakes.n_events, 2);
        started = fakes_json(&rig.fakes, EVENT_CALL_STARTED, "alpha", "\"tool\":\"echo\"");
        completed = fakes_json(&rig.fakes, EVENT_CALL_COMPLETED, "alpha", "\"success\":true");
        id = strstr(started, "\"request_id\":\"");
        CHECK(id);
        CHECK(strncmp(id, strstr(completed, "\"request_id\":\""), 14 + UUID_CHARS) == 0);
        CHECK_INT(id[14 + 14], '4'); /* a version 4 UUID */
        link_facts(rig.link, &facts);
        CHECK_INT(facts.calls, 1);
        CHECK_INT(facts.failures, 0);
        CHECK_INT(facts.in_flight, 0);
        fake_reply_done(&a);
        link_rig_done(&rig);
    }
}

/* S0-40 */
TEST(every_call_has_an_id_of_its_own)
{
    enum { N = 300 };
    struct link_rig rig;
    struct fake_reply a[N];
    struct map seen = { 0 };

    link_rig_init(&rig);
    fake_tool(rig.f, "text", FAKE_TEXT);
    link_rig_start(&rig);
    for (int i = 0; i < N; i++)
        link_rig_call(&rig, &a[i], "text");
    for (int i = 0; i < N; i++) {
        FAKES_UNTIL(&rig.fakes, a[i].count);
        fake_reply_done(&a[i]);
    }
    for (size_t i = 0; i < rig.fakes.n_events; i++) {
        const struct fake_event *e = &rig.fakes.events[i];

        if (e->kind == EVENT_CALL_STARTED)
            CHECK(!map_put(&seen, span_make(strstr(e->json, "\"request_id\":\"") + 14, UUID_CHARS),
                           e->json));
    }
    CHECK_INT(seen.n, N);
    map_done(&seen);
    link_rig_done(&rig);
}

struct seen_calls {
    size_t n;
    char text[256];
    struct call_view last;
    char uuid[UUID_CHARS + 1];
};

static void see_call(void *ctx, const struct call_view *c)
{
    struct seen_calls *s = ctx;
    size_t n = strlen(s->text);

    s->n++;
    s->last = *c;
    snprintf(s->uuid, sizeof s->uuid, "%s", c->uuid);
    snprintf(s->text + n, sizeof s->text - n, "%.*s by %s;", SPAN_ARG(c->subject), c->caller);
}

/* S0-40 */
TEST(calls_under_way_are_in_a_table_until_they_end)
{
    struct link_rig rig;
    struct fake_reply a, b;
    struct seen_calls seen = { 0 };
    struct link_facts facts;

    link_rig_init(&rig);
    fake_tool(rig.f, "one", FAKE_HANG);
    fake_tool(rig.f, "two", FAKE_HANG);
    link_rig_start(&rig);
    link_rig_call_with(&rig, &a, "one", &(struct call_spec){ .caller = "x" });
    link_rig_call_with(&rig, &b, "two", &(struct call_spec){ .caller = "y" });
    link_each_call(rig.link, see_call, &seen);
    CHECK_STR(seen.text, "one by x;two by y;");
    CHECK_STR(seen.last.method, "tools/call");
    CHECK_INT(seen.last.started_at, loop_wall(rig.fakes.loop));
    link_facts(rig.link, &facts);
    CHECK_INT(facts.in_flight, 2);
    FAKES_UNTIL(&rig.fakes, rig.f->n_held == 2);
    fake_release(rig.f, 0, "done");
    FAKES_UNTIL(&rig.fakes, a.count);
    seen = (struct seen_calls){ 0 };
    link_each_call(rig.link, see_call, &seen);
    CHECK_STR(seen.text, "two by y;");
    CHECK(link_cancel(rig.link, seen.last.id, CALL_BY_USER));
    seen = (struct seen_calls){ 0 };
    link_each_call(rig.link, see_call, &seen);
    CHECK_INT(seen.n, 0);
    fake_reply_done(&a);
    fake_reply_done(&b);
    link_rig_done(&rig);
}

TEST(a_tool_that_says_that_it_failed_is_told_as_a_failure)
{
    static const struct {
        const char *result;
        bool success;
    } cases[] = {
        { "{\"content\":[],\"isError\":true}", false },
        { "{\"content\":[],\"isError\":false}", true },
        { "{\"content\":[{\"type\":\"text\",\"text\":\"\\\"isError\\\":true\"}]}", true },
        { "{\"content\":[],\"structuredContent\":{\"isError\":true}}", true },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct link_rig rig;
        struct fake_reply a;
        struct link_facts facts;

        link_rig_init(&rig);
        fake_tool(rig.f, "some", FAKE_RAW)->text = cases[i].result;
        link_rig_start(&rig);
        link_rig_ask(&rig, &a, "some");
        CHECK_INT(a.err.code, 0);
        CHECK_INT(fakes_count(&rig.fakes, EVENT_CALL_COMPLETED, "alpha",
                              cases[i].success ? "\"success\":true" : "\"success\":false"),
                  1);
        link_facts(rig.link, &facts);
        CHECK_INT(facts.failures, !cases[i].success);
        fake_reply_done(&a);
        link_rig_done(&rig);
    }
}

/* S0-42 S1-103 S4-101 */
TEST(an_error_of_the_server_is_passed_on_as_it_is)
{
    struct link_rig rig;
    struct fake_reply a;
    struct link_facts facts;

    link_rig_init(&rig);
    fake_tool(rig.f, "bad", FAKE_ERROR)->text = "Tool execution failed";
    link_rig_start(&rig);
    link_rig_ask(&rig, &a, "bad");
    CHECK_INT(a.err.code, PB_E_REMOTE);
    CHECK_INT(a.err.sys, -32000);
    CHECK_STR(a.err.msg, "Tool execution failed");
    CHECK_HAS(a.error, "\"code\":-32000");
    CHECK_STR(fault_name(&a.err), "call_failed");
    CHECK_INT(fakes_count(&rig.fakes, EVENT_CALL_COMPLETED, "alpha", "\"success\":false"), 1);
    link_facts(rig.link, &facts);
    CHECK_INT(facts.failures, 1);
    fake_reply_done(&a);
    link_rig_done(&rig);
}

/* S4-94 S4-95 S4-102 S4-103 */
TEST(arguments_and_results_pass_as_the_bytes_they_were)
{
    static const char result[] = "{\"content\":[{\"type\":\"text\",\"text\":\"one\"},{\"type\":"
                                 "\"text\",\"text\":\"two\"}],\"x\":[1.0, 20000000000000000001]}";
    static const char *const args[] = { "{}", "{\"b\":1.0,\"a\":[ 12345678901234567890 ]}" };
    struct link_rig rig;
    struct fake_reply a;

    link_rig_init(&rig);
    rig.f->era = PB_ERA_LEGACY;
    fake_tool(rig.f, "raw", FAKE_RAW)->text = result;
    link_rig_start(&rig);
    for (size_t i = 0; i < ARRAY_LEN(args); i++) {
        AUTO_BUF struct buf params = { 0 };

        buf_printf(&params, "{\"name\":\"raw\",\"arguments\":%s}", args[i]);
        link_rig_call_with(&rig, &a, "raw", &(struct call_spec){ .params = buf_span(&params) });
        FAKES_UNTIL(&rig.fakes, a.count);
        CHECK_STR(a.result, result);
        CHECK_STR(rig.f->last_args, args[i]);
        fake_reply_done(&a);
    }
    link_rig_done(&rig);
}

TEST(params_that_are_no_object_are_refused_at_once)
{
    struct link_rig rig;
    struct fake_reply a;

    link_rig_init(&rig);
    link_rig_start(&rig);
    link_rig_call_with(&rig, &a, "x", &(struct call_spec){ .params = SPAN("[1]") });
    CHECK_INT(a.err.code, PB_E_INVALID);
    CHECK_INT(fakes_count(&rig.fakes, EVENT_CALL_STARTED, NULL, NULL), 1);
    CHECK_INT(fakes_count(&rig.fakes, EVENT_CALL_COMPLETED, NULL, "\"success\":false"), 1);
    link_rig_done(&rig);
}

/* ---- time ---- */

/* S0-75 S1-102 S4-100 */
TEST(a_call_that_hangs_is_cut_off_and_the_server_is_told)
{
    struct link_rig rig;
    struct fake_reply a;

    link_rig_init(&rig);
    fake_tool(rig.f, "slow", FAKE_HANG);
    link_rig_start(&rig);
    link_rig_call(&rig, &a, "slow");
    loop_advance(rig.fakes.loop, 29999);
    CHECK_INT(a.count, 0);
    loop_advance(rig.fakes.loop, 1);
    CHECK_INT(a.count, 1);
    CHECK_INT(a.err.code, PB_E_TIMEOUT);
    CHECK_INT(fault_of(&a.err), FAULT_TIMEOUT);
    CHECK_STR(a.err.msg, "Tool 'slow' on server 'alpha' timed out after 30s");
    FAKES_UNTIL(&rig.fakes, rig.f->cancellations == 1);
    CHECK_INT(fakes_count(&rig.fakes, EVENT_CALL_CANCELLED, "alpha",
                          "\"reason\":\"timeout\",\"timeout\":30"),
              1);
    CHECK_INT(fakes_count(&rig.fakes, EVENT_CALL_COMPLETED, NULL, NULL), 0);
    CHECK_INT(link_state(rig.link), LINK_CONNECTED);
    link_rig_done(&rig);
}

TEST(the_limit_is_that_of_the_call_then_of_the_spec_then_of_the_options)
{
    static const struct {
        uint64_t call, spec, opts, want;
        const char *text;
    } cases[] = {
        { 100, 2000, 3000, 100, "after 0.1s" },
        { 0, 2000, 3000, 2000, "after 2s" },
        { 0, 0, 1500, 1500, "after 1.5s" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct link_rig rig;
        struct fake_reply a;

        link_rig_init(&rig);
        fake_tool(rig.f, "slow", FAKE_HANG);
        rig.spec->timeout_ms = cases[i].spec;
        rig.opts.call_ms = cases[i].opts;
        link_rig_start(&rig);
        link_rig_call_with(&rig, &a, "slow", &(struct call_spec){ .timeout_ms = cases[i].call });
        loop_advance(rig.fakes.loop, cases[i].want - 1);
        CHECK_INT(a.count, 0);
        loop_advance(rig.fakes.loop, 1);
        CHECK_INT(a.count, 1);
        CHECK_HAS(a.err.msg, cases[i].text);
        link_rig_done(&rig);
    }
}

TEST(what_timed_out_is_named_by_its_kind)
{
    static const struct {
        const char *method, *text;
    } cases[] = {
        { "tools/call", "Tool 'slow' on server 'alpha' timed out after 30s" },
        { "prompts/get", "Prompt 'slow' on server 'alpha' timed out after 30s" },
        { "resources/read", "Resource 'slow' on server 'alpha' timed out after 30s" },
    };
    struct link_rig rig;
    struct fake_reply a;

    link_rig_init(&rig);
    link_rig_start(&rig);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        link_rig_call_with(&rig, &a, "slow", &(struct call_spec){ .method = cases[i].method });
        loop_defer(rig.fakes.loop, fake_crash, rig.f); /* silence is easiest had from the dead */
        CHECK(link_cancel(rig.link, i + 1, CALL_TIMED_OUT));
        CHECK_STR(a.err.msg, cases[i].text);
        CHECK_INT(fault_of(&a.err), FAULT_TIMEOUT);
        fakes_settle(&rig.fakes);
        link_rig_connect(&rig);
    }
    link_rig_done(&rig);
}

TEST(progress_extends_the_limit_but_not_for_ever)
{
    struct link_rig rig;
    struct fake_reply a;
    uint64_t waited = 0;

    link_rig_init(&rig);
    fake_tool(rig.f, "slow", FAKE_HANG);
    link_rig_start(&rig);
    link_rig_call_with(&rig, &a, "slow",
                       &(struct call_spec){ .wants_progress = true, .progress = fake_on_progress });
    FAKES_UNTIL(&rig.fakes, rig.f->n_held == 1);
    while (!a.count && waited < 2 * MCP_CALL_TOTAL_MS) {
        if (rig.f->n_held)
            request_progress(fake_held(rig.f, 0), (double)waited + 1, 0, "on it");
        loop_advance(rig.fakes.loop, 20000);
        waited += 20000;
    }
    CHECK_INT(waited, MCP_CALL_TOTAL_MS);
    CHECK_INT(fault_of(&a.err), FAULT_TIMEOUT);
    CHECK_HAS(a.err.msg, "timed out after 600s");
    CHECK_INT(a.progressed, 30);
    CHECK_HAS(a.progress, "\"message\":\"on it\"");
    CHECK_INT(fakes_count(&rig.fakes, EVENT_CALL_PROGRESS, "alpha", "\"message\":\"on it\""), 30);
    link_rig_done(&rig);
}

TEST(the_clock_of_a_held_call_stands_still_up_to_a_bound)
{
    struct link_rig rig;
    struct fake_reply a, b;
    uint64_t id;

    link_rig_init(&rig);
    fake_tool(rig.f, "slow", FAKE_HANG);
    link_rig_start(&rig);
    id = link_rig_call(&rig, &a, "slow");
    loop_advance(rig.fakes.loop, 20000);
    link_hold(rig.link, id, true);
    link_hold(rig.link, id, true); /* twice is once */
    loop_advance(rig.fakes.loop, MCP_ASK_MS - 1);
    CHECK_INT(a.count, 0);
    link_hold(rig.link, id, false);
    loop_advance(rig.fakes.loop, 9999);
    CHECK_INT(a.count, 0);
    loop_advance(rig.fakes.loop, 1);
    CHECK_INT(fault_of(&a.err), FAULT_TIMEOUT);
    CHECK_HAS(a.err.msg, "timed out after 30s");

    id = link_rig_call(&rig, &b, "slow");
    link_hold(rig.link, id, true);
    loop_advance(rig.fakes.loop, MCP_ASK_MS);
    CHECK_INT(fault_of(&b.err), FAULT_TIMEOUT);
    CHECK_HAS(b.err.msg, "timed out after 600s");
    link_hold(rig.link, id, false); /* it is over: ignored */
    link_rig_done(&rig);
}

/* ---- cancellation ---- */

/* S0-43 S0-44 S0-45 */
TEST(cancelling_logs_tells_the_server_and_ends_the_call)
{
    static const enum pb_era eras[] = { PB_ERA_LEGACY, PB_ERA_MODERN };

    for (size_t i = 0; i < ARRAY_LEN(eras); i++) {
        struct link_rig rig;
        struct fake_reply a;
        uint64_t id;

        link_rig_init(&rig);
        rig.f->era = eras[i];
        fake_tool(rig.f, "slow", FAKE_HANG);
        link_rig_start(&rig);
        id = link_rig_call(&rig, &a, "slow");
        FAKES_UNTIL(&rig.fakes, rig.f->n_held == 1);
        CHECK(!link_cancel(rig.link, id + 1, CALL_BY_USER)); /* unknown: nothing happens */
        CHECK(!link_cancel_uuid(rig.link, "", CALL_BY_USER));
        CHECK_INT(a.count, 0);
        CHECK(link_cancel(rig.link, id, CALL_BY_USER));
        CHECK_INT(a.count, 1);
        CHECK_INT(a.err.code, PB_E_CANCELLED);
        CHECK_INT(fault_of(&a.err), FAULT_CANCELLED);
        CHECK_STR(a.err.msg, "Tool 'slow' on server 'alpha' was cancelled");
        FAKES_UNTIL(&rig.fakes, rig.f->cancellations == 1);
        CHECK_INT(fakes_count(&rig.fakes, EVENT_LOG, "alpha", "Cancelling tool call: slow"), 1);
        CHECK_HAS(fakes_json(&rig.fakes, EVENT_LOG, "alpha", "Cancelling"), "\"level\":\"info\"");
        CHECK_INT(
            fakes_count(&rig.fakes, EVENT_CALL_CANCELLED, "alpha", "\"reason\":\"userRequested\""),
            1);
        CHECK(!link_cancel(rig.link, id, CALL_BY_USER));
        CHECK_INT(a.count, 1);
        link_rig_done(&rig);
    }
}

/* S0-44 */
TEST(a_call_can_be_cancelled_by_its_uuid)
{
    struct link_rig rig;
    struct fake_reply a, b;
    struct seen_calls seen = { 0 };

    link_rig_init(&rig);
    fake_tool(rig.f, "slow", FAKE_HANG);
    link_rig_start(&rig);
    link_rig_call(&rig, &a, "slow");
    link_rig_call(&rig, &b, "slow");
    link_each_call(rig.link, see_call, &seen);
    CHECK(link_cancel_uuid(rig.link, seen.uuid, CALL_BY_USER));
    CHECK_INT(a.count, 0);
    CHECK_INT(b.count, 1);
    CHECK(!link_cancel_uuid(rig.link, seen.uuid, CALL_BY_USER));
    link_rig_done(&rig); /* the other ends with the link */
    CHECK_INT(a.count, 1);
    CHECK_INT(fault_of(&a.err), FAULT_CANCELLED);
}

/* S0-46 */
TEST(disconnecting_and_closing_end_calls_with_their_reasons)
{
    struct link_rig rig;
    struct fake_reply a, b;

    link_rig_init(&rig);
    fake_tool(rig.f, "slow", FAKE_HANG);
    link_rig_start(&rig);
    link_rig_call(&rig, &a, "slow");
    link_disconnect(rig.link);
    CHECK_INT(a.count, 1);
    CHECK_INT(fault_of(&a.err), FAULT_NOT_CONNECTED);
    CHECK_STR(a.err.msg, "Tool 'slow' did not end: server 'alpha' was disconnected");
    CHECK_INT(
        fakes_count(&rig.fakes, EVENT_CALL_CANCELLED, "alpha", "\"reason\":\"serverDisconnected\""),
        1);
    link_rig_connect(&rig);
    link_rig_call(&rig, &b, "slow");
    link_close(TAKE(rig.link), CALL_SHUTDOWN, link_rig_gone, &rig);
    CHECK_INT(b.count, 1);
    CHECK_INT(fault_of(&b.err), FAULT_CANCELLED);
    CHECK_INT(fakes_count(&rig.fakes, EVENT_CALL_CANCELLED, "alpha", "\"reason\":\"appShutdown\""),
              1);
    FAKES_UNTIL(&rig.fakes, rig.gone);
    link_rig_done(&rig);
}

struct again {
    struct link_rig *rig;
    int replies, refused;
};

static void call_again(void *ctx, const struct client_reply *reply)
{
    struct again *g = ctx;
    AUTO_BUF struct buf params = { 0 };
    struct call_spec s = link_rig_spec(NULL, "slow", &params);
    struct pb_error err;

    CHECK(reply->err);
    g->replies++;
    s.reply = call_again;
    s.ctx = g;
    if (link_call(g->rig->link, &s, NULL, &err) < 0) {
        CHECK_INT(fault_of(&err), FAULT_NOT_CONNECTED);
        g->refused++;
    }
}

TEST(a_reply_that_calls_again_while_the_link_ends_is_refused)
{
    struct link_rig rig;
    struct again g = { &rig, 0, 0 };

    link_rig_init(&rig);
    fake_tool(rig.f, "slow", FAKE_HANG);
    link_rig_start(&rig);
    for (int round = 0; round < 2; round++) {
        g.replies = g.refused = 0;
        for (int i = 0; i < 3; i++) {
            AUTO_BUF struct buf params = { 0 };
            struct call_spec s = link_rig_spec(NULL, "slow", &params);
            struct pb_error err;

            s.reply = call_again;
            s.ctx = &g;
            CHECK_INT(link_call(rig.link, &s, NULL, &err), 0);
        }
        if (round == 0)
            fake_break(rig.f, "gone");
        else
            link_disconnect(rig.link);
        CHECK_INT(g.replies, 3);
        CHECK_INT(g.refused, 3);
        link_rig_connect(&rig);
    }
    link_rig_done(&rig);
}

/* ---- death ---- */

TEST(when_the_server_dies_all_its_calls_fail_at_once_with_its_last_words)
{
    struct link_rig rig;
    struct fake_reply a, b, c;

    link_rig_init(&rig);
    rig.spec->max_calls = 2;
    fake_tool(rig.f, "slow", FAKE_HANG);
    link_rig_start(&rig);
    link_rig_call(&rig, &a, "slow");
    link_rig_call(&rig, &b, "slow");
    link_rig_call(&rig, &c, "slow"); /* waits */
    fakes_settle(&rig.fakes);
    fake_stderr(rig.f, "Traceback: boom");
    fakes_forget_events(&rig.fakes);
    fake_break(rig.f, "the server exited with status 3");
    CHECK_INT(a.count, 1);
    CHECK_INT(b.count, 1);
    CHECK_INT(c.count, 1);
    CHECK_INT(fault_of(&a.err), FAULT_NOT_CONNECTED);
    CHECK_STR(a.err.msg,
              "Server 'alpha' is not connected: the server exited with status 3; stderr: "
              "Traceback: boom");
    CHECK_STR(c.err.msg, a.err.msg);
    CHECK_INT(
        fakes_count(&rig.fakes, EVENT_CALL_CANCELLED, "alpha", "\"reason\":\"serverDisconnected\""),
        3);
    /* First the calls, then the state. */
    CHECK_INT(rig.fakes.events[0].kind, EVENT_CALL_CANCELLED);
    CHECK_INT(link_state(rig.link), LINK_DISCONNECTED);
    link_rig_done(&rig);
}

TEST(a_tool_that_kills_its_server_is_told_so)
{
    struct link_rig rig;
    struct fake_reply a;

    link_rig_init(&rig);
    fake_tool(rig.f, "crash", FAKE_CRASH);
    link_rig_start(&rig);
    link_rig_ask(&rig, &a, "crash");
    CHECK_INT(fault_of(&a.err), FAULT_NOT_CONNECTED);
    CHECK_HAS(a.err.msg, "killed by signal 9");
    CHECK_INT(link_state(rig.link), LINK_DISCONNECTED);
    link_rig_done(&rig);
}

/* ---- facts ---- */

/* S1-71 */
TEST(calls_move_last_used_forward_and_latency_is_an_average)
{
    struct link_rig rig;
    struct fake_reply a;
    struct link_facts facts;
    int64_t before;

    link_rig_init(&rig);
    fake_tool(rig.f, "slow", FAKE_DELAY)->ms = 100;
    link_rig_start(&rig);
    link_facts(rig.link, &facts);
    CHECK_INT(facts.last_used_at, 0);
    rig.fakes.clock.wall += 5000;
    link_rig_call(&rig, &a, "slow");
    link_facts(rig.link, &facts);
    before = facts.last_used_at;
    CHECK_INT(before, loop_wall(rig.fakes.loop));
    fakes_settle(&rig.fakes);
    loop_advance(rig.fakes.loop, 100);
    FAKES_UNTIL(&rig.fakes, a.count);
    fake_reply_done(&a);
    link_facts(rig.link, &facts);
    CHECK(facts.last_used_at > before);
    CHECK_INT((int)facts.latency_ms, 100);
    CHECK_HAS(fakes_json(&rig.fakes, EVENT_CALL_COMPLETED, NULL, NULL), "\"duration\":0.1,");

    rig.f->tools[0].ms = 600;
    link_rig_call(&rig, &a, "slow");
    fakes_settle(&rig.fakes);
    loop_advance(rig.fakes.loop, 600);
    FAKES_UNTIL(&rig.fakes, a.count);
    fake_reply_done(&a);
    link_facts(rig.link, &facts);
    CHECK_INT((int)facts.latency_ms, 200); /* a fifth of the way */
    link_rig_done(&rig);
}

TEST(pings_are_answered_in_both_eras_and_refused_without_a_connection)
{
    static const enum pb_era eras[] = { PB_ERA_LEGACY, PB_ERA_MODERN };

    for (size_t i = 0; i < ARRAY_LEN(eras); i++) {
        struct link_rig rig;
        struct fake_reply a = { 0 };
        struct pb_error err;

        link_rig_init(&rig);
        rig.f->era = eras[i];
        link_rig_start(&rig);
        CHECK_INT(link_ping(rig.link, 1000, fake_on_reply, &a, &err), 0);
        FAKES_UNTIL(&rig.fakes, a.count);
        CHECK(a.result);
        link_disconnect(rig.link);
        CHECK_INT(link_ping(rig.link, 1000, fake_on_reply, &a, &err), -PB_E_CLOSED);
        CHECK_INT(fault_of(&err), FAULT_NOT_CONNECTED);
        CHECK_STR(err.msg, "Server 'alpha' is not connected");
        fake_reply_done(&a);
        link_rig_done(&rig);
    }
}

TEST(a_call_costs_few_allocations_of_the_links_own)
{
    enum { N = 1000, OWN = 1 };
    struct link_rig rig;
    struct fake_reply a = { 0 };
    struct pb_error err;
    AUTO_BUF struct buf params = { 0 };
    struct call_spec s = link_rig_spec(&a, "text", &params);
    uint64_t before, link_cost, client_cost;

    link_rig_init(&rig);
    rig.opts.event = NULL;
    fake_tool(rig.f, "text", FAKE_TEXT);
    link_rig_make(&rig);
    link_rig_connect(&rig);
    for (int i = 0; i < 2; i++) { /* the first time warms up */
        before = mem_count();
        for (int n = 0; n < N; n++) {
            CHECK_INT(link_call(rig.link, &s, NULL, &err), 0);
            FAKES_UNTIL(&rig.fakes, a.count == n + 1);
        }
        link_cost = mem_count() - before;
        a.count = 0;
    }
    for (int i = 0; i < 2; i++) {
        struct client_request_spec r = {
            .method = "tools/call",
            .params = s.params,
            .caps = "{}",
            .reply = fake_on_reply,
            .ctx = &a,
        };
        struct list *pos = rig.f->wires.next;
        struct fake_wire *w = CONTAINER_OF(pos, struct fake_wire, link);
        struct client *c = w->wire.ctx;

        before = mem_count();
        for (int n = 0; n < N; n++) {
            CHECK_INT(client_request(c, &r, NULL, &err), 0);
            FAKES_UNTIL(&rig.fakes, a.count == n + 1);
        }
        client_cost = mem_count() - before;
        a.count = 0;
    }
    CHECK(link_cost <= client_cost + (uint64_t)N * OWN);
    fake_reply_done(&a);
    link_rig_done(&rig);
}
