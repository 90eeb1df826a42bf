/* The way of calls to their servers, and what happens to those that have to wait. */
#include "cpu_time.h"
#include "hub/hub/hub.h"
#include "hub/hub_rig.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"
#include "mcp/client/client.h"

/* S0-74 S4-97 */
TEST(a_call_to_an_unknown_server_says_so)
{
    struct hub_rig r;
    struct fake_reply a = { 0 };
    struct pb_error err;

    hub_rig_init(&r);
    hub_rig_start(&r);
    CHECK_INT(hub_rig_call(&r, "nosuch", "tool", &a, NULL, &err), -PB_E_NOT_FOUND);
    CHECK_INT(fault_of(&err), FAULT_NO_SERVER);
    CHECK_STR(fault_name(&err), "server_not_found");
    CHECK_INT(a.count, 0);
    hub_rig_done(&r);
}

/* S0-75 S0-168 */
TEST(a_tool_that_hangs_fails_with_the_time_that_it_had)
{
    static const struct {
        uint64_t call_ms, spec_ms, own_ms;
        const char *want;
    } cases[] = {
        { 30000, 100, 0, "Tool 'hang' on server 'a' timed out after 0.1s" },
        { 30000, 100, 2000, "Tool 'hang' on server 'a' timed out after 2s" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct hub_rig r;
        struct fake_server *f;
        struct fake_reply a = { 0 };
        struct pb_error err;
        uint64_t id, limit = cases[i].own_ms ? cases[i].own_ms : cases[i].spec_ms;

        hub_rig_init(&r);
        r.opts.call_ms = cases[i].call_ms;
        hub_rig_start(&r);
        f = hub_rig_up(&r, "a", (struct rig_spec){ .timeout_ms = cases[i].spec_ms });
        fake_tool(f, "hang", FAKE_HANG);
        CHECK_INT(hub_call(r.hub,
                           &(struct call_spec){ .server = "a",
                                                .method = "tools/call",
                                                .params = SPAN("{\"name\":\"hang\"}"),
                                                .subject = SPAN("hang"),
                                                .caller = "",
                                                .timeout_ms = cases[i].own_ms,
                                                .reply = fake_on_reply,
                                                .ctx = &a },
                           &id, &err),
                  0);
        fakes_settle(&r.fakes);
        loop_advance(r.fakes.loop, limit - 1);
        CHECK_INT(a.count, 0);
        loop_advance(r.fakes.loop, 1);
        CHECK_INT(a.count, 1);
        CHECK_INT(a.err.code, PB_E_TIMEOUT);
        CHECK_INT(fault_of(&a.err), FAULT_TIMEOUT);
        CHECK_STR(a.err.msg, cases[i].want);
        fakes_settle(&r.fakes);
        CHECK_INT(f->cancellations, 1); /* the loser of the race is told */
        hub_rig_done(&r);
    }
}

/* S0-76 */
TEST(a_call_can_be_cancelled_by_its_uuid_wherever_it_runs)
{
    struct hub_rig r;
    struct fake_reply a = { 0 };
    struct pb_error err;
    const struct fake_event *e;
    char uuid[UUID_CHARS + 1];
    const char *at;

    hub_rig_init(&r);
    hub_rig_start(&r);
    hub_rig_up(&r, "a", (struct rig_spec){ 0 });
    fake_tool(hub_rig_up(&r, "b", (struct rig_spec){ 0 }), "hang", FAKE_HANG);
    CHECK_INT(hub_rig_call(&r, "b", "hang", &a, NULL, &err), 0);
    fakes_settle(&r.fakes);
    e = fakes_event(&r.fakes, EVENT_CALL_STARTED, "b", NULL);
    at = e ? strstr(e->json, "\"request_id\":\"") : NULL;
    CHECK(at != NULL);
    snprintf(uuid, sizeof uuid, "%s", at + strlen("\"request_id\":\""));
    CHECK(!hub_cancel_uuid(r.hub, "00000000-0000-4000-8000-000000000000", CALL_BY_USER));
    CHECK(hub_cancel_uuid(r.hub, uuid, CALL_BY_USER));
    FAKES_UNTIL(&r.fakes, a.count);
    CHECK_INT(fault_of(&a.err), FAULT_CANCELLED);
    CHECK(!hub_cancel_uuid(r.hub, uuid, CALL_BY_USER));
    hub_rig_done(&r);
}

/* S0-176 */
TEST(a_hundred_calls_of_two_tools_at_once_all_succeed)
{
    struct hub_rig r;
    struct fake_server *f;
    struct fake_reply a[100] = { 0 };
    struct pb_error err;
    uint64_t ids[100];

    hub_rig_init(&r);
    hub_rig_start(&r);
    f = hub_rig_up(&r, "a", (struct rig_spec){ 0 });
    fake_tool(f, "one", FAKE_DELAY)->ms = 5;
    fake_tool(f, "two", FAKE_DELAY)->ms = 5;
    for (size_t i = 0; i < 100; i++) {
        CHECK_INT(hub_rig_call(&r, "a", i % 2 ? "one" : "two", &a[i], &ids[i], &err), 0);
        CHECK(i == 0 || ids[i] != ids[i - 1]);
    }
    fakes_settle(&r.fakes);
    CHECK_INT(f->n_held, 100);
    loop_advance(r.fakes.loop, 5);
    for (size_t i = 0; i < 100; i++) {
        FAKES_UNTIL(&r.fakes, a[i].count);
        CHECK(a[i].result != NULL);
        fake_reply_done(&a[i]);
    }
    hub_rig_done(&r);
}

/* S1-119 */
TEST(the_first_call_wakes_a_server_that_rests_and_gets_its_answer)
{
    struct hub_rig r;
    struct fake_server *f;
    struct fake_reply a = { 0 }, b = { 0 };
    struct pb_error err;
    uint64_t id;

    hub_rig_init(&r);
    hub_rig_start(&r);
    f = hub_rig_server(&r, "a");
    hub_rig_add(&r, "a", (struct rig_spec){ .lazy = true, .idle_ms = 100 });
    HUB_RIG_REACHES(&r, "a", LINK_CONNECTED);
    fakes_settle(&r.fakes);
    loop_advance(r.fakes.loop, 100);
    CHECK_INT(hub_rig_state(&r, "a"), LINK_IDLE);
    fakes_settle(&r.fakes);
    CHECK_INT(f->connects, 1);
    CHECK_INT(hub_rig_call(&r, "a", "echo", &a, &id, &err), 0);
    CHECK_INT(hub_rig_call(&r, "a", "echo", &b, NULL, &err), 0);
    CHECK_INT(a.count, 0);
    FAKES_UNTIL(&r.fakes, (loop_advance(r.fakes.loop, 1), a.count && b.count));
    CHECK_HAS(a.result, "\\\"n\\\":1");
    CHECK(b.result != NULL);
    CHECK_INT(f->connects, 2); /* one process for both */
    CHECK(!hub_cancel(r.hub, id, CALL_BY_USER));
    fake_reply_done(&a);
    fake_reply_done(&b);
    hub_rig_done(&r);
}

TEST(a_call_waits_for_a_server_that_is_on_its_way_with_its_clock_running)
{
    struct hub_rig r;
    struct fake_server *f;
    struct fake_reply a = { 0 }, late = { 0 };
    struct pb_error err;

    hub_rig_init(&r);
    hub_rig_start(&r);
    f = hub_rig_server(&r, "a");
    fake_tool(f, "hang", FAKE_HANG);
    f->connect = FAKE_CONNECT_DELAY;
    f->connect_ms = 4000;
    hub_rig_begin(&r, "a", (struct rig_spec){ .timeout_ms = 5000 });
    CHECK_INT(hub_rig_call(&r, "a", "echo", &a, NULL, &err), 0);
    CHECK_INT(hub_rig_call(&r, "a", "hang", &late, NULL, &err), 0);
    hub_rig_pass(&r, 4000);
    FAKES_UNTIL(&r.fakes, a.count);
    CHECK(a.result != NULL);
    CHECK_INT(late.count, 0);
    loop_advance(r.fakes.loop, 999);
    CHECK_INT(late.count, 0);
    loop_advance(r.fakes.loop, 1);
    CHECK_INT(late.count, 1);
    CHECK_STR(late.err.msg, "Tool 'hang' on server 'a' timed out after 5s");
    CHECK_INT(fault_of(&late.err), FAULT_TIMEOUT);
    fake_reply_done(&a);
    hub_rig_done(&r);
}

TEST(what_waits_can_time_out_and_be_cancelled)
{
    struct hub_rig r;
    struct fake_server *f;
    struct fake_reply out = { 0 }, gone = { 0 };
    struct pb_error err;
    uint64_t id;

    hub_rig_init(&r);
    r.opts.connect_ms = 60000;
    hub_rig_start(&r);
    f = hub_rig_server(&r, "a");
    f->connect = FAKE_CONNECT_DELAY;
    f->connect_ms = 10000;
    hub_rig_begin(&r, "a", (struct rig_spec){ .timeout_ms = 3000 });
    CHECK_INT(hub_rig_call(&r, "a", "echo", &out, NULL, &err), 0);
    CHECK_INT(hub_rig_call(&r, "a", "echo", &gone, &id, &err), 0);
    CHECK(hub_cancel(r.hub, id, CALL_BY_USER));
    CHECK_INT(gone.count, 1);
    CHECK_INT(fault_of(&gone.err), FAULT_CANCELLED);
    CHECK(!hub_cancel(r.hub, id, CALL_BY_USER));
    hub_rig_pass(&r, 3000);
    CHECK_INT(out.count, 1);
    CHECK_STR(out.err.msg, "Tool 'echo' on server 'a' timed out after 3s");
    hub_rig_pass(&r, 7000);
    CHECK_INT(f->calls, 0);
    hub_rig_done(&r);
}

TEST(those_who_wait_are_told_when_the_server_does_not_come)
{
    static const struct {
        int (*end)(struct hub *, const char *, struct pb_error *);
        enum fault want;
    } cases[] = {
        { hub_disconnect, FAULT_NOT_CONNECTED },
        { hub_cancel_connect, FAULT_NOT_CONNECTED },
        { hub_remove, FAULT_NO_SERVER },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct hub_rig r;
        struct fake_reply a = { 0 };
        struct pb_error err;

        hub_rig_init(&r);
        hub_rig_start(&r);
        hub_rig_server(&r, "a")->connect = FAKE_CONNECT_HANG;
        hub_rig_begin(&r, "a", (struct rig_spec){ 0 });
        CHECK_INT(hub_rig_call(&r, "a", "echo", &a, NULL, &err), 0);
        fakes_settle(&r.fakes);
        CHECK_INT(a.count, 0);
        CHECK_INT(cases[i].end(r.hub, "a", &err), 0);
        FAKES_UNTIL(&r.fakes, a.count);
        CHECK_INT(fault_of(&a.err), cases[i].want);
        hub_rig_done(&r);
    }
}

TEST(a_lazy_server_that_failed_once_is_tried_again_by_the_next_call)
{
    struct hub_rig r;
    struct fake_server *f;
    struct fake_reply a = { 0 };
    struct pb_error err;

    hub_rig_init(&r);
    r.opts.retry_initial = false;
    hub_rig_start(&r);
    f = hub_rig_server(&r, "a");
    f->connect_fails = 1;
    f->connect_text = "no network";
    hub_rig_add(&r, "a", (struct rig_spec){ .lazy = true });
    CHECK_INT(hub_rig_call(&r, "a", "echo", &a, NULL, &err), 0);
    FAKES_UNTIL(&r.fakes, a.count);
    CHECK_INT(fault_of(&a.err), FAULT_NOT_CONNECTED);
    CHECK_HAS(a.err.msg, "no network");
    CHECK_INT(hub_rig_state(&r, "a"), LINK_ERROR);
    CHECK_INT(hub_rig_call(&r, "a", "echo", &a, NULL, &err), 0);
    FAKES_UNTIL(&r.fakes, (loop_advance(r.fakes.loop, 1), a.count == 2));
    CHECK(a.result != NULL);
    fake_reply_done(&a);
    hub_rig_done(&r);
}

/* S4-96 S4-120 */
TEST(disconnecting_ends_the_calls_that_run)
{
    struct hub_rig r;
    struct fake_reply a = { 0 };
    struct pb_error err;

    hub_rig_init(&r);
    hub_rig_start(&r);
    fake_tool(hub_rig_up(&r, "a", (struct rig_spec){ 0 }), "hang", FAKE_HANG);
    CHECK_INT(hub_rig_call(&r, "a", "hang", &a, NULL, &err), 0);
    fakes_settle(&r.fakes);
    CHECK_INT(hub_disconnect(r.hub, "a", &err), 0);
    FAKES_UNTIL(&r.fakes, a.count);
    CHECK_INT(fault_of(&a.err), FAULT_NOT_CONNECTED);
    CHECK_INT(fakes_count(&r.fakes, EVENT_CALL_CANCELLED, "a", "serverDisconnected"), 1);
    CHECK_INT(hub_rig_call(&r, "a", "hang", &a, NULL, &err), -PB_E_CLOSED);
    CHECK_INT(fault_of(&err), FAULT_NOT_CONNECTED);
    hub_rig_done(&r);
}

TEST(only_so_many_calls_wait)
{
    struct hub_rig r;
    static struct fake_reply a;
    struct pb_error err;

    hub_rig_init(&r);
    hub_rig_start(&r);
    hub_rig_server(&r, "a")->connect = FAKE_CONNECT_HANG;
    hub_rig_begin(&r, "a", (struct rig_spec){ 0 });
    for (int i = 0; i < HUB_WAITING_MAX; i++)
        CHECK_INT(hub_rig_call(&r, "a", "echo", &a, NULL, &err), 0);
    CHECK_INT(hub_rig_call(&r, "a", "echo", &a, NULL, &err), -PB_E_LIMIT);
    CHECK_INT(fault_of(&err), FAULT_BUSY);
    CHECK_INT(hub_cancel_connect(r.hub, "a", &err), 0);
    FAKES_UNTIL(&r.fakes, a.count == HUB_WAITING_MAX);
    hub_rig_done(&r);
    CHECK_INT(a.count, HUB_WAITING_MAX);
}

TEST(calls_of_a_caller_that_left_wait_no_more)
{
    struct hub_rig r;
    struct fake_reply a = { 0 }, b = { 0 };
    struct pb_error err;
    uint64_t id;
    struct call_spec spec = { .server = "a",
                              .method = "tools/call",
                              .params = SPAN("{\"name\":\"echo\"}"),
                              .subject = SPAN("echo"),
                              .reply = fake_on_reply };

    hub_rig_init(&r);
    hub_rig_start(&r);
    hub_rig_server(&r, "a")->connect = FAKE_CONNECT_HANG;
    hub_rig_begin(&r, "a", (struct rig_spec){ 0 });
    spec.caller = "left";
    spec.ctx = &a;
    CHECK_INT(hub_call(r.hub, &spec, &id, &err), 0);
    spec.caller = "stays";
    spec.ctx = &b;
    CHECK_INT(hub_call(r.hub, &spec, &id, &err), 0);
    hub_caller_left(r.hub, "left");
    CHECK_INT(a.count, 1);
    CHECK_INT(fault_of(&a.err), FAULT_CANCELLED);
    CHECK_INT(b.count, 0);
    hub_rig_done(&r);
    CHECK_INT(b.count, 1);
}

TEST(progress_log_and_questions_of_a_call_that_waited_reach_its_caller)
{
    struct hub_rig r;
    struct fake_server *f;
    struct fake_reply a = { 0 };
    struct pb_error err;
    uint64_t id;

    hub_rig_init(&r);
    hub_rig_start(&r);
    f = hub_rig_server(&r, "a");
    f->era = PB_ERA_MODERN;
    fake_tool(f, "talk", FAKE_TALK);
    hub_rig_begin(&r, "a", (struct rig_spec){ 0 });
    CHECK_INT(hub_call(r.hub,
                       &(struct call_spec){ .server = "a",
                                            .method = "tools/call",
                                            .params = SPAN("{\"name\":\"talk\"}"),
                                            .subject = SPAN("talk"),
                                            .caller = "",
                                            .wants_progress = true,
                                            .wants_log = true,
                                            .progress = fake_on_progress,
                                            .log = fake_on_log,
                                            .reply = fake_on_reply,
                                            .ctx = &a },
                       &id, &err),
              0);
    CHECK_INT(hub_rig_state(&r, "a"), LINK_CONNECTING);
    FAKES_UNTIL(&r.fakes, a.count);
    CHECK(a.result != NULL);
    CHECK_INT(a.progressed, 1);
    CHECK_INT(a.logged, 1);
    fake_reply_done(&a);
    hub_rig_done(&r);
}

/* S4-132 S4-133 */
TEST(a_server_that_wants_to_sample_is_refused_and_goes_on_working)
{
    struct hub_rig r;
    struct fake_server *f;
    struct fake_tool *t;
    struct fake_reply a = { 0 };
    struct pb_error err;

    hub_rig_init(&r);
    hub_rig_start(&r);
    f = hub_rig_server(&r, "a");
    f->era = PB_ERA_LEGACY;
    t = fake_tool(f, "sample", FAKE_ASK);
    t->method = "sampling/createMessage";
    t->params = "{\"messages\":[],\"maxTokens\":1}";
    hub_rig_begin(&r, "a", (struct rig_spec){ 0 });
    HUB_RIG_REACHES(&r, "a", LINK_CONNECTED);
    CHECK_INT(hub_rig_call(&r, "a", "sample", &a, NULL, &err), 0);
    FAKES_UNTIL(&r.fakes, a.count == 1);
    CHECK_HAS(f->last_answer, "refused");
    CHECK_INT(hub_rig_call(&r, "a", "echo", &a, NULL, &err), 0);
    FAKES_UNTIL(&r.fakes, a.count == 2);
    CHECK(a.result != NULL);
    CHECK_INT(hub_rig_state(&r, "a"), LINK_CONNECTED);
    fake_reply_done(&a);
    hub_rig_done(&r);
}

/* Of whatever kind it is, and whatever is in its name. */
TEST(what_waits_says_what_it_is_when_it_is_ended)
{
    static const struct {
        const char *method, *name, *want;
    } cases[] = {
        { "tools/call", "x", "Tool 'x' on server 'a'" },
        { "resources/read", "file:///x", "Resource 'file:///x' on server 'a'" },
        { "prompts/get", "greet", "Prompt 'greet' on server 'a'" },
        { "completion/complete", "greet", "Completion of 'greet' on server 'a'" },
        { "resources/read", "x:\x1b[2J\r\n\u202e", "Resource 'x:?[2J\?\?\?\?\?' on server 'a'" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct fake_reply late = { 0 }, gone = { 0 };
        AUTO_BUF struct buf want = { 0 };
        struct call_spec call = { .server = "a",
                                  .method = cases[i].method,
                                  .params = SPAN("{}"),
                                  .subject = span_of(cases[i].name),
                                  .caller = "",
                                  .reply = fake_on_reply };
        struct hub_rig r;
        struct pb_error err;
        uint64_t id;

        hub_rig_init(&r);
        r.opts.connect_ms = 60000;
        hub_rig_start(&r);
        hub_rig_server(&r, "a")->connect = FAKE_CONNECT_HANG;
        hub_rig_begin(&r, "a", (struct rig_spec){ .timeout_ms = 3000 });
        call.ctx = &late;
        CHECK_INT(hub_call(r.hub, &call, &id, &err), 0);
        call.ctx = &gone;
        CHECK_INT(hub_call(r.hub, &call, &id, &err), 0);
        CHECK(hub_cancel(r.hub, id, CALL_BY_USER));
        buf_printf(&want, "%s was cancelled", cases[i].want);
        CHECK_STR(gone.err.msg, buf_cstr(&want));
        hub_rig_pass(&r, 3000);
        want.n = 0;
        buf_printf(&want, "%s timed out after 3s", cases[i].want);
        CHECK_STR(late.err.msg, buf_cstr(&want));
        hub_rig_done(&r);
    }
}

/* HUB_WAITING_MAX */
TEST(a_call_that_waits_is_found_by_its_uuid_as_fast_among_thousands)
{
    static struct fake_reply replies[HUB_WAITING_MAX];
    struct hub_rig r;
    struct pb_error err;
    char uuid[UUID_CHARS + 1];
    double few = 0, many = 0, from;
    uint64_t id;

    hub_rig_init(&r);
    hub_rig_server(&r, "a")->hang_list[LIST_TOOLS] = true;
    hub_rig_start(&r);
    hub_rig_begin(&r, "a", (struct rig_spec){ 0 });
    for (int i = 0; i < HUB_WAITING_MAX; i++) {
        snprintf(uuid, sizeof uuid, "00000000-1111-4222-8333-%012x", (unsigned)i);
        CHECK_INT(hub_call(r.hub,
                           &(struct call_spec){ .server = "a",
                                                .method = "tools/call",
                                                .params = SPAN("{}"),
                                                .uuid = uuid,
                                                .caller = "",
                                                .reply = fake_on_reply,
                                                .ctx = &replies[i] },
                           &id, &err),
                  0);
        if (i != 0 && i != HUB_WAITING_MAX - 1)
            continue;
        from = cpu_ms();
        for (int n = 0; n < 1000; n++)
            CHECK(hub_has_call(r.hub, uuid) && !hub_has_call(r.hub, "none"));
        many = cpu_ms() - from;
        if (i == 0)
            few = many;
    }
    if (many > 20 * few + 10)
        TAP_FAIL("%.2f ms instead of %.2f ms", many, few);
    CHECK(hub_cancel_uuid(r.hub, uuid, CALL_BY_USER));
    CHECK(!hub_has_call(r.hub, uuid) && !hub_cancel_uuid(r.hub, uuid, CALL_BY_USER));
    CHECK_INT(replies[HUB_WAITING_MAX - 1].count, 1);
    hub_rig_done(&r);
    for (int i = 0; i < HUB_WAITING_MAX; i++)
        CHECK_INT(replies[i].count, 1);
}

/* A listener that cannot wait. */
struct hasty {
    struct hub *hub;
    uint64_t id;      /* 0: it uses the uuid */
    bool holds;       /* instead of cancelling */
    bool found, seen; /* seen: the event came */
};

static void hasty_event(void *ctx, const struct hub_event *e)
{
    struct hasty *h = ctx;

    if (e->kind != EVENT_CALL_STARTED || h->seen)
        return;
    h->seen = true;
    if (h->holds)
        hub_hold(h->hub, h->id, true);
    else
        h->found = h->id ? hub_cancel(h->hub, h->id, CALL_BY_USER)
                         : hub_cancel_uuid(h->hub, e->call.id, CALL_BY_USER);
}

/* One call that waits for its server, which comes up now. */
static struct fake_server *hasty_call(struct hub_rig *r, struct hasty *h, struct fake_reply *a,
                                      bool by_id)
{
    static const char uuid[] = "00000000-1111-4222-8333-444444444444";
    struct fake_server *f;
    struct pb_error err;
    uint64_t id;

    hub_rig_init(r);
    f = hub_rig_server(r, "a");
    fake_tool(f, "hang", FAKE_HANG);
    hub_rig_start(r);
    hub_rig_begin(r, "a", (struct rig_spec){ 0 });
    h->hub = r->hub;
    hub_listen(r->hub, &(struct hub_listener){ .event = hasty_event, .ctx = h });
    CHECK_INT(hub_call(r->hub,
                       &(struct call_spec){ .server = "a",
                                            .method = "tools/call",
                                            .params = SPAN("{\"name\":\"hang\"}"),
                                            .timeout_ms = 1000,
                                            .uuid = uuid,
                                            .caller = "",
                                            .reply = fake_on_reply,
                                            .ctx = a },
                       &id, &err),
              0);
    h->id = by_id ? id : 0;
    FAKES_UNTIL(&r->fakes, h->seen);
    fakes_settle(&r->fakes);
    return f;
}

TEST(a_call_that_waited_can_be_cancelled_by_whoever_hears_that_it_starts)
{
    for (int by_id = 0; by_id < 2; by_id++) {
        struct hub_rig r;
        struct hasty h = { 0 };
        struct fake_reply a = { 0 };

        hasty_call(&r, &h, &a, by_id);
        CHECK(h.found);
        CHECK_INT(a.count, 1);
        CHECK_INT(fault_of(&a.err), FAULT_CANCELLED);
        CHECK_INT(fakes_count(&r.fakes, EVENT_CALL_CANCELLED, "a", NULL), 1);
        hub_rig_done(&r);
        CHECK_INT(a.count, 1);
    }
}

TEST(a_call_that_waited_can_be_held_by_whoever_hears_that_it_starts)
{
    struct hub_rig r;
    struct hasty h = { .holds = true };
    struct fake_reply a = { 0 };

    hasty_call(&r, &h, &a, true);
    hub_rig_pass(&r, 5000);
    CHECK_INT(a.count, 0); /* its time stands still */
    hub_hold(r.hub, h.id, false);
    hub_rig_pass(&r, 1000);
    CHECK_INT(a.count, 1);
    CHECK_INT(fault_of(&a.err), FAULT_TIMEOUT);
    hub_rig_done(&r);
}

/* The client of the only connection that there is to it. */
static const struct client *client_of(const struct fake_server *f)
{
    CHECK(!list_empty(&f->wires));
    return CONTAINER_OF(f->wires.next, struct fake_wire, link)->wire.ctx;
}

/* Whoever called does not read: the server keeps its answer, also when it had to come up first. */
TEST(a_call_that_is_held_while_it_waits_is_held_when_it_is_sent)
{
    static const struct {
        bool first, then, held; /* what is said of it, and what is true when it is sent */
    } rows[] = { { true, true, true }, { true, false, false }, { false, true, true } };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct hub_rig r;
        struct fake_server *f;
        struct fake_reply a = { 0 };
        struct pb_error err;
        uint64_t id;

        hub_rig_init(&r);
        f = hub_rig_server(&r, "a");
        fake_tool(f, "hang", FAKE_HANG);
        hub_rig_start(&r);
        hub_rig_begin(&r, "a", (struct rig_spec){ 0 });
        CHECK_INT(hub_rig_call(&r, "a", "hang", &a, &id, &err), 0);
        hub_hold(r.hub, id, rows[i].first);
        hub_hold(r.hub, id, rows[i].then);
        FAKES_UNTIL(&r.fakes, f->n_held == 1);
        CHECK_INT(client_is_held(client_of(f)), rows[i].held);
        hub_hold(r.hub, id, !rows[i].held);
        CHECK_INT(client_is_held(client_of(f)), !rows[i].held);
        hub_rig_done(&r);
    }
}
