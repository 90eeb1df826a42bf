/* Own processes for callers of a per_client server. */
#include "hub/link/link.h"
#include "hub/link_rig.h"
#include "hub/spec/spec.h"
#include "mcp/client/client.h"
#include "mcp/wire/wire.h"

static void per_client(struct link_rig *rig)
{
    link_rig_init(rig);
    rig->spec->instance = SPEC_PER_CLIENT;
    fake_tool(rig->f, "text", FAKE_TEXT);
    fake_tool(rig->f, "slow", FAKE_HANG);
    link_rig_start(rig);
}

static void call_as(struct link_rig *rig, struct fake_reply *a, const char *tool,
                    const char *caller)
{
    link_rig_call_with(rig, a, tool, &(struct call_spec){ .caller = caller });
}

static size_t instances(struct link_rig *rig)
{
    struct link_facts facts;

    link_facts(rig->link, &facts);
    return facts.instances;
}

TEST(each_caller_gets_its_own_client_at_its_first_call)
{
    struct link_rig rig;
    struct fake_reply a;

    per_client(&rig);
    CHECK_INT(rig.f->connects, 1); /* the shared one, for the lists */
    call_as(&rig, &a, "text", "x");
    CHECK_STR(rig.f->last_caller, "x");
    FAKES_UNTIL(&rig.fakes, a.count);
    CHECK_HAS(a.result, "mock");
    fake_reply_done(&a);
    CHECK_INT(rig.f->connects, 2);
    CHECK_INT(rig.f->lists[LIST_TOOLS], 1);
    call_as(&rig, &a, "text", "x"); /* the same again */
    FAKES_UNTIL(&rig.fakes, a.count);
    fake_reply_done(&a);
    CHECK_INT(rig.f->connects, 2);
    call_as(&rig, &a, "text", "y");
    FAKES_UNTIL(&rig.fakes, a.count);
    fake_reply_done(&a);
    CHECK_INT(rig.f->connects, 3);
    CHECK_INT(instances(&rig), 2);
    call_as(&rig, &a, "text", ""); /* nobody in particular: the shared one */
    FAKES_UNTIL(&rig.fakes, a.count);
    fake_reply_done(&a);
    CHECK_INT(rig.f->connects, 3);
    CHECK_STR(fakes_states(&rig.fakes, "alpha"), "idle>connecting connecting>connected");
    link_rig_done(&rig);
}

TEST(a_shared_server_has_one_client_for_all)
{
    struct link_rig rig;
    struct fake_reply a;

    link_rig_init(&rig);
    fake_tool(rig.f, "text", FAKE_TEXT);
    link_rig_start(&rig);
    call_as(&rig, &a, "text", "x");
    FAKES_UNTIL(&rig.fakes, a.count);
    fake_reply_done(&a);
    CHECK_INT(rig.f->connects, 1);
    CHECK_INT(instances(&rig), 0);
    link_rig_done(&rig);
}

TEST(an_instance_ends_when_its_caller_leaves)
{
    struct link_rig rig;
    struct fake_reply a, b;

    per_client(&rig);
    call_as(&rig, &a, "slow", "x");
    call_as(&rig, &b, "slow", "y");
    FAKES_UNTIL(&rig.fakes, rig.f->n_held == 2);
    link_caller_left(rig.link, "x");
    CHECK_INT(a.count, 1);
    CHECK_INT(fault_of(&a.err), FAULT_CANCELLED);
    CHECK_INT(b.count, 0);
    FAKES_UNTIL(&rig.fakes, rig.f->closes == 1);
    CHECK_INT(instances(&rig), 1);
    link_caller_left(rig.link, "x");
    link_caller_left(rig.link, "nobody");
    CHECK_INT(instances(&rig), 1);
    link_rig_done(&rig);
    CHECK_INT(b.count, 1);
}

TEST(an_instance_that_is_not_used_for_long_ends)
{
    static const struct {
        uint64_t idle_ms, want;
    } cases[] = { { 0, SPEC_IDLE_MS }, { 5000, 5000 } };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct link_rig rig;
        struct fake_reply a;

        per_client(&rig);
        rig.spec->idle_ms = cases[i].idle_ms;
        call_as(&rig, &a, "text", "x");
        FAKES_UNTIL(&rig.fakes, a.count);
        fake_reply_done(&a);
        loop_advance(rig.fakes.loop, cases[i].want - 1);
        CHECK_INT(instances(&rig), 1);
        call_as(&rig, &a, "text", "x"); /* moves it on */
        FAKES_UNTIL(&rig.fakes, a.count);
        fake_reply_done(&a);
        loop_advance(rig.fakes.loop, cases[i].want - 1);
        CHECK_INT(instances(&rig), 1);
        loop_advance(rig.fakes.loop, 1);
        CHECK_INT(instances(&rig), 0);
        CHECK_INT(link_state(rig.link), LINK_CONNECTED);
        link_rig_done(&rig);
    }
}

TEST(an_instance_with_a_call_under_way_is_not_idle)
{
    struct link_rig rig;
    struct fake_reply a;

    per_client(&rig);
    rig.spec->idle_ms = 1000;
    call_as(&rig, &a, "slow", "x");
    FAKES_UNTIL(&rig.fakes, rig.f->n_held == 1);
    loop_advance(rig.fakes.loop, 20000);
    CHECK_INT(instances(&rig), 1);
    CHECK_INT(a.count, 0);
    link_rig_done(&rig);
}

TEST(an_instance_that_cannot_be_had_fails_its_calls_and_nothing_else)
{
    static const enum fake_connect how[] = { FAKE_CONNECT_FAIL, FAKE_CONNECT_DIE,
                                             FAKE_CONNECT_HANG };
    static const char *const want[] = {
        "Cannot connect to server 'alpha': no more of them",
        "exited with status 1; stderr: no more of them",
        "Server 'alpha' is not connected: handshake: no answer within 10s",
    };

    for (size_t i = 0; i < ARRAY_LEN(how); i++) {
        struct link_rig rig;
        struct fake_reply a, b;

        per_client(&rig);
        rig.f->connect = how[i];
        rig.f->connect_text = "no more of them";
        call_as(&rig, &a, "text", "x");
        call_as(&rig, &b, "text", "x");
        loop_advance(rig.fakes.loop, 10000);
        CHECK_INT(a.count, 1);
        CHECK_INT(b.count, 1);
        CHECK_HAS(a.err.msg, want[i]);
        CHECK_INT(instances(&rig), 0);
        CHECK_INT(link_state(rig.link), LINK_CONNECTED);
        link_rig_done(&rig);
    }
}

/* Breaks the newest connection only. */
static void break_last(struct fake_server *f)
{
    fake_wire_break(CONTAINER_OF(f->wires.prev, struct fake_wire, link), "the server crashed");
}

TEST(an_instance_that_dies_takes_only_its_own_calls)
{
    struct link_rig rig;
    struct fake_reply a, b;

    per_client(&rig);
    call_as(&rig, &a, "slow", "x");
    call_as(&rig, &b, "slow", "y");
    FAKES_UNTIL(&rig.fakes, rig.f->n_held == 2);
    break_last(rig.f);
    CHECK_INT(a.count, 0);
    CHECK_INT(b.count, 1);
    CHECK_INT(fault_of(&b.err), FAULT_NOT_CONNECTED);
    CHECK_HAS(b.err.msg, "the server crashed");
    CHECK_INT(link_state(rig.link), LINK_CONNECTED);
    CHECK_INT(instances(&rig), 1);
    call_as(&rig, &b, "text", "y"); /* gets a new one */
    FAKES_UNTIL(&rig.fakes, b.count);
    CHECK_HAS(b.result, "mock");
    fake_reply_done(&b);
    link_rig_done(&rig);
}

TEST(disconnecting_ends_all_instances)
{
    struct link_rig rig;
    struct fake_reply a, b;

    per_client(&rig);
    call_as(&rig, &a, "slow", "x");
    call_as(&rig, &b, "slow", "y");
    link_disconnect(rig.link);
    CHECK_INT(a.count + b.count, 2);
    CHECK_INT(instances(&rig), 0);
    CHECK(!link_is_clear(rig.link));
    FAKES_UNTIL(&rig.fakes, link_is_clear(rig.link));
    CHECK_INT(rig.f->closes, 3);
    link_rig_done(&rig);
}

static int send_nowhere(struct wire *wire, const struct wire_out *m, struct pb_error *err)
{
    (void)wire, (void)m, (void)err;
    return 0;
}

/* Else its caller would be given the same dead process for every call. */
TEST(an_instance_that_hangs_is_given_up_when_a_call_ran_out_of_time)
{
    struct wire_ops deaf;
    struct fake_wire *w;
    struct link_rig rig;
    struct fake_reply a, b;

    per_client(&rig);
    call_as(&rig, &a, "text", "x");
    FAKES_UNTIL(&rig.fakes, a.count);
    fake_reply_done(&a);
    w = CONTAINER_OF(rig.f->wires.prev, struct fake_wire, link);
    deaf = *w->wire.ops;
    deaf.send = send_nowhere;
    w->wire.ops = &deaf;
    call_as(&rig, &a, "slow", "x");
    loop_advance(rig.fakes.loop, 29000);
    call_as(&rig, &b, "slow", "x");
    loop_advance(rig.fakes.loop, 1000);
    CHECK_INT(fault_of(&a.err), FAULT_TIMEOUT);
    loop_advance(rig.fakes.loop, 9999);
    CHECK_INT(instances(&rig), 1);
    CHECK_INT(b.count, 0);
    loop_advance(rig.fakes.loop, 1);
    CHECK_INT(instances(&rig), 0);
    CHECK_INT(fault_of(&b.err), FAULT_NOT_CONNECTED);
    CHECK_INT(link_state(rig.link), LINK_CONNECTED);
    link_rig_done(&rig);
}

/* The timer of a channel that is freed while it runs is fired, or spun on, later. */
TEST(an_instance_that_is_dropped_at_work_leaves_no_timer_behind)
{
    enum { BY_LEAVING, BY_DISCONNECT, BY_DISABLE, BY_REST, BY_LOSS, BY_CLOSE, WAYS };

    for (int way = 0; way < WAYS; way++) {
        struct link_rig rig;
        struct fake_reply a, b;

        per_client(&rig);
        call_as(&rig, &a, "slow", "x");
        call_as(&rig, &b, "slow", "x");
        FAKES_UNTIL(&rig.fakes, rig.f->n_held == 2);
        if (way == BY_LEAVING)
            link_caller_left(rig.link, "x");
        else if (way == BY_DISCONNECT)
            link_disconnect(rig.link);
        else if (way == BY_DISABLE)
            link_set_enabled(rig.link, false);
        else if (way == BY_REST)
            link_go_idle(rig.link);
        else if (way == BY_LOSS)
            fake_break(rig.f, "gone");
        else
            link_close(TAKE(rig.link), CALL_SHUTDOWN, link_rig_gone, &rig);
        CHECK_INT(a.count + b.count, 2);
        fakes_settle(&rig.fakes);
        loop_advance(rig.fakes.loop, 2 * SPEC_IDLE_MS);
        link_rig_done(&rig);
    }
}

TEST(max_calls_counts_for_each_instance)
{
    struct link_rig rig;
    struct fake_reply a, b, c;

    per_client(&rig);
    rig.spec->max_calls = 1;
    call_as(&rig, &a, "slow", "x");
    call_as(&rig, &b, "slow", "x");
    call_as(&rig, &c, "slow", "y");
    fakes_settle(&rig.fakes);
    CHECK_INT(rig.f->n_held, 2);
    fake_release(rig.f, 0, "go on");
    FAKES_UNTIL(&rig.fakes, a.count && rig.f->calls == 3);
    fake_reply_done(&a);
    link_rig_done(&rig);
}

TEST(there_are_only_so_many_instances)
{
    struct link_rig rig;
    struct fake_reply a[LINK_INSTANCES_MAX + 1];
    char caller[16];

    per_client(&rig);
    for (int i = 0; i <= LINK_INSTANCES_MAX; i++) {
        snprintf(caller, sizeof caller, "c%d", i);
        call_as(&rig, &a[i], "text", caller);
    }
    CHECK_INT(instances(&rig), LINK_INSTANCES_MAX);
    CHECK_INT(fault_of(&a[LINK_INSTANCES_MAX].err), FAULT_BUSY);
    CHECK_STR(a[LINK_INSTANCES_MAX].err.msg,
              "Server 'alpha' runs 256 own instances of its callers already");
    for (int i = 0; i < LINK_INSTANCES_MAX; i++) {
        FAKES_UNTIL(&rig.fakes, a[i].count);
        fake_reply_done(&a[i]);
    }
    link_rig_done(&rig);
}

static void call_from(struct link_rig *rig, struct fake_reply *a, const char *tool, int name,
                      const char *origin)
{
    char caller[16];

    snprintf(caller, sizeof caller, "%s%d", origin, name);
    link_rig_call_with(rig, a, tool, &(struct call_spec){ .caller = caller, .origin = origin });
}

TEST(callers_that_name_themselves_share_a_few_instances)
{
    enum { MAX = LINK_ORIGIN_MAX };
    struct link_rig rig;
    struct fake_reply a, busy[MAX];

    per_client(&rig);
    for (int i = 0; i < 5 * MAX; i++) { /* a new name each time */
        call_from(&rig, &a, "text", i, "o");
        FAKES_UNTIL(&rig.fakes, a.count);
        CHECK_HAS(a.result, "mock");
        fake_reply_done(&a);
        CHECK_INT(instances(&rig), i < MAX ? i + 1 : MAX);
    }
    rig.f->connects = 0; /* the oldest that rests makes room, not the one that was used last */
    call_from(&rig, &a, "text", 4 * MAX, "o");
    FAKES_UNTIL(&rig.fakes, a.count);
    fake_reply_done(&a);
    CHECK_INT(rig.f->connects, 0);
    call_from(&rig, &a, "text", 1000, "o");
    FAKES_UNTIL(&rig.fakes, a.count);
    fake_reply_done(&a);
    call_from(&rig, &a, "text", 4 * MAX, "o");
    FAKES_UNTIL(&rig.fakes, a.count);
    fake_reply_done(&a);
    CHECK_INT(rig.f->connects, 1);

    for (int i = 0; i < MAX; i++) /* those at work stay */
        call_from(&rig, &busy[i], "slow", 2000 + i, "o");
    FAKES_UNTIL(&rig.fakes, rig.f->n_held == MAX);
    call_from(&rig, &a, "text", 3000, "o");
    CHECK_INT(fault_of(&a.err), FAULT_BUSY);
    CHECK_STR(a.err.msg, "Server 'alpha' works in 16 own instances for clients from there already");
    call_from(&rig, &a, "text", 1, "p"); /* from elsewhere */
    FAKES_UNTIL(&rig.fakes, a.count);
    CHECK_HAS(a.result, "mock");
    fake_reply_done(&a);
    link_rig_done(&rig);
}

TEST(questions_of_an_instance_reach_its_caller_though_others_call_too)
{
    struct link_rig rig;
    struct fake_reply a, b;

    per_client(&rig);
    rig.f->era = PB_ERA_LEGACY;
    fake_tool(rig.f, "sample", FAKE_ASK)->method = "sampling/createMessage";
    call_as(&rig, &a, "slow", "x");
    call_as(&rig, &b, "sample", "y");
    FAKES_UNTIL(&rig.fakes, b.count);
    /* Not "calls of several clients": it is y's, who cannot be asked. */
    CHECK_STR(rig.f->last_answer, "refused: -32601 sampling/createMessage: not implemented");
    fake_reply_done(&b);
    link_rig_done(&rig);
}

static struct link_rig *leaver;

static void leave_on_reply(void *ctx, const struct client_reply *reply)
{
    (void)ctx, (void)reply;
    link_caller_left(leaver->link, "x");
    link_close(TAKE(leaver->link), CALL_SHUTDOWN, link_rig_gone, leaver);
}

TEST(a_reply_may_close_the_link_while_an_instance_is_dropped)
{
    struct link_rig rig;
    AUTO_BUF struct buf params = { 0 };
    struct call_spec s = link_rig_spec(NULL, "slow", &params);
    struct fake_reply a, b;
    struct pb_error err;

    per_client(&rig);
    leaver = &rig;
    s.caller = "x";
    s.reply = leave_on_reply;
    CHECK_INT(link_call(rig.link, &s, NULL, &err), 0);
    call_as(&rig, &a, "slow", "x");
    call_as(&rig, &b, "slow", "y");
    fakes_settle(&rig.fakes);
    link_caller_left(rig.link, "x");
    CHECK(!rig.link);
    CHECK_INT(a.count, 1);
    CHECK_INT(b.count, 1);
    FAKES_UNTIL(&rig.fakes, rig.gone);
    link_rig_done(&rig);
}

/* Blocks of memory that a hundred calls of "x" take. */
static uint64_t cost_of_calls(struct link_rig *rig)
{
    struct fake_reply a;
    uint64_t before = mem_count();

    for (int i = 0; i < 100; i++) {
        call_as(rig, &a, "text", "x");
        FAKES_UNTIL(&rig->fakes, a.count);
        fake_reply_done(&a);
    }
    return mem_count() - before;
}

TEST(a_call_of_an_instance_costs_the_same_however_many_tasks_are_watched)
{
    struct link_rig rig;
    uint64_t few, many;

    per_client(&rig);
    rig.opts.event = NULL;
    cost_of_calls(&rig); /* warms up */
    few = cost_of_calls(&rig);
    for (int i = 0; i < MCP_SUBSCRIPTIONS_MAX; i++) {
        char id[32];

        snprintf(id, sizeof id, "t%d", i);
        link_watch_task(rig.link, "y", span_of(id), true);
    }
    many = cost_of_calls(&rig);
    if (many > few + few / 10)
        TAP_FAIL("%llu blocks instead of %llu", (unsigned long long)many, (unsigned long long)few);
    link_rig_done(&rig);
}

/* It lives as long as its caller wants to hear of one, and rests when it does not any more. */
TEST(an_instance_whose_caller_watches_a_task_does_not_stop_for_idleness)
{
    struct link_rig rig;
    struct fake_reply a;

    per_client(&rig);
    link_watch_task(rig.link, "x", SPAN("t1"), true);
    link_watch_task(rig.link, "x", SPAN("t1"), true); /* said twice, watched once */
    link_watch_task(rig.link, "x", SPAN("t2"), true);
    for (int i = 0; i < 2; i++) {
        call_as(&rig, &a, "text", i ? "y" : "x");
        FAKES_UNTIL(&rig.fakes, a.count);
        fake_reply_done(&a);
    }
    loop_advance(rig.fakes.loop, SPEC_IDLE_MS);
    fakes_settle(&rig.fakes);
    CHECK_INT(instances(&rig), 1); /* y's is gone */
    link_watch_task(rig.link, "x", SPAN("t1"), false);
    link_watch_task(rig.link, "x", SPAN("t1"), false);
    loop_advance(rig.fakes.loop, SPEC_IDLE_MS);
    fakes_settle(&rig.fakes);
    CHECK_INT(instances(&rig), 1);
    link_watch_task(rig.link, "x", SPAN("t2"), false);
    loop_advance(rig.fakes.loop, SPEC_IDLE_MS);
    fakes_settle(&rig.fakes);
    CHECK_INT(instances(&rig), 0);
    link_rig_done(&rig);
}

static void note_task(void *ctx, struct link *l, const char *caller, struct span params)
{
    struct link_rig *rig = ctx;

    (void)l;
    rig->n_messages++;
    snprintf(rig->message, sizeof rig->message, "%s: %.*s", caller, SPAN_ARG(params));
}

/* The server says it on its nth connection. */
static void say_task(struct link_rig *rig, size_t nth)
{
    AUTO(blob)
    struct blob *said = blob_new(SPAN(
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tasks\",\"params\":{\"taskId\":\"1\"}}"));
    struct list *pos = rig->f->wires.next;

    while (nth--)
        pos = pos->next;
    CHECK(pos != &rig->f->wires);
    client_receive(CONTAINER_OF(pos, struct fake_wire, link)->wire.ctx, said, 0, 0);
}

/* Each process counts its tasks from 1: the shared one's are none of those that callers have. */
TEST(what_the_shared_process_says_of_tasks_is_told_to_nobody_who_has_a_process_of_his_own)
{
    static const enum spec_instance kinds[] = { SPEC_SHARED, SPEC_PER_CLIENT };

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        bool own = kinds[i] == SPEC_PER_CLIENT;
        struct link_rig rig;
        struct fake_reply a;

        link_rig_init(&rig);
        rig.spec->instance = kinds[i];
        rig.opts.task_changed = note_task;
        fake_tool(rig.f, "text", FAKE_TEXT);
        link_rig_start(&rig);
        call_as(&rig, &a, "text", "x");
        FAKES_UNTIL(&rig.fakes, a.count);
        fake_reply_done(&a);
        link_watch_task(rig.link, "x", SPAN("1"), true);
        say_task(&rig, 0);
        CHECK_INT(rig.n_messages, !own);
        if (own)
            say_task(&rig, 1);
        CHECK_INT(rig.n_messages, 1);
        CHECK_STR(rig.message, own ? "x: {\"taskId\":\"1\"}" : ": {\"taskId\":\"1\"}");
        link_rig_done(&rig);
    }
}
