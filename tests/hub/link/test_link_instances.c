/* Own processes for callers of a per_client server. */
#include "hub/link/link.h"
#include "hub/link_kit.h"
#include "hub/spec/spec.h"
#include "mcp/client/client.h"
#include "mcp/wire/wire.h"

static void per_client(struct link_kit *k)
{
    kit_init(k);
    k->spec->instance = SPEC_PER_CLIENT;
    fake_tool(k->f, "text", FAKE_TEXT);
    fake_tool(k->f, "slow", FAKE_HANG);
    kit_start(k);
}

static void call_as(struct link_kit *k, struct fake_reply *a, const char *tool, const char *caller)
{
    kit_call_with(k, a, tool, &(struct call_spec){ .caller = caller });
}

static size_t instances(struct link_kit *k)
{
    struct link_facts facts;

    link_facts(k->link, &facts);
    return facts.instances;
}

TEST(each_caller_gets_its_own_client_at_its_first_call)
{
    struct link_kit k;
    struct fake_reply a;

    per_client(&k);
    CHECK_INT(k.f->connects, 1); /* the shared one, for the lists */
    call_as(&k, &a, "text", "x");
    CHECK_STR(k.f->last_caller, "x");
    FAKES_UNTIL(&k.fakes, a.count);
    CHECK_HAS(a.result, "mock");
    fake_reply_done(&a);
    CHECK_INT(k.f->connects, 2);
    CHECK_INT(k.f->lists[LIST_TOOLS], 1);
    call_as(&k, &a, "text", "x"); /* the same again */
    FAKES_UNTIL(&k.fakes, a.count);
    fake_reply_done(&a);
    CHECK_INT(k.f->connects, 2);
    call_as(&k, &a, "text", "y");
    FAKES_UNTIL(&k.fakes, a.count);
    fake_reply_done(&a);
    CHECK_INT(k.f->connects, 3);
    CHECK_INT(instances(&k), 2);
    call_as(&k, &a, "text", ""); /* nobody in particular: the shared one */
    FAKES_UNTIL(&k.fakes, a.count);
    fake_reply_done(&a);
    CHECK_INT(k.f->connects, 3);
    CHECK_STR(fakes_states(&k.fakes, "alpha"), "idle>connecting connecting>connected");
    kit_done(&k);
}

TEST(a_shared_server_has_one_client_for_all)
{
    struct link_kit k;
    struct fake_reply a;

    kit_init(&k);
    fake_tool(k.f, "text", FAKE_TEXT);
    kit_start(&k);
    call_as(&k, &a, "text", "x");
    FAKES_UNTIL(&k.fakes, a.count);
    fake_reply_done(&a);
    CHECK_INT(k.f->connects, 1);
    CHECK_INT(instances(&k), 0);
    kit_done(&k);
}

TEST(an_instance_ends_when_its_caller_leaves)
{
    struct link_kit k;
    struct fake_reply a, b;

    per_client(&k);
    call_as(&k, &a, "slow", "x");
    call_as(&k, &b, "slow", "y");
    FAKES_UNTIL(&k.fakes, k.f->n_held == 2);
    link_caller_left(k.link, "x");
    CHECK_INT(a.count, 1);
    CHECK_INT(fault_of(&a.err), FAULT_CANCELLED);
    CHECK_INT(b.count, 0);
    FAKES_UNTIL(&k.fakes, k.f->closes == 1);
    CHECK_INT(instances(&k), 1);
    link_caller_left(k.link, "x");
    link_caller_left(k.link, "nobody");
    CHECK_INT(instances(&k), 1);
    kit_done(&k);
    CHECK_INT(b.count, 1);
}

TEST(an_instance_that_is_not_used_for_long_ends)
{
    static const struct {
        uint64_t idle_ms, want;
    } cases[] = { { 0, SPEC_IDLE_MS }, { 5000, 5000 } };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct link_kit k;
        struct fake_reply a;

        per_client(&k);
        k.spec->idle_ms = cases[i].idle_ms;
        call_as(&k, &a, "text", "x");
        FAKES_UNTIL(&k.fakes, a.count);
        fake_reply_done(&a);
        loop_advance(k.fakes.loop, cases[i].want - 1);
        CHECK_INT(instances(&k), 1);
        call_as(&k, &a, "text", "x"); /* moves it on */
        FAKES_UNTIL(&k.fakes, a.count);
        fake_reply_done(&a);
        loop_advance(k.fakes.loop, cases[i].want - 1);
        CHECK_INT(instances(&k), 1);
        loop_advance(k.fakes.loop, 1);
        CHECK_INT(instances(&k), 0);
        CHECK_INT(link_state(k.link), LINK_CONNECTED);
        kit_done(&k);
    }
}

TEST(an_instance_with_a_call_under_way_is_not_idle)
{
    struct link_kit k;
    struct fake_reply a;

    per_client(&k);
    k.spec->idle_ms = 1000;
    call_as(&k, &a, "slow", "x");
    FAKES_UNTIL(&k.fakes, k.f->n_held == 1);
    loop_advance(k.fakes.loop, 20000);
    CHECK_INT(instances(&k), 1);
    CHECK_INT(a.count, 0);
    kit_done(&k);
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
        struct link_kit k;
        struct fake_reply a, b;

        per_client(&k);
        k.f->connect = how[i];
        k.f->connect_text = "no more of them";
        call_as(&k, &a, "text", "x");
        call_as(&k, &b, "text", "x");
        loop_advance(k.fakes.loop, 10000);
        CHECK_INT(a.count, 1);
        CHECK_INT(b.count, 1);
        CHECK_HAS(a.err.msg, want[i]);
        CHECK_INT(instances(&k), 0);
        CHECK_INT(link_state(k.link), LINK_CONNECTED);
        kit_done(&k);
    }
}

/* Breaks the newest connection only. */
static void break_last(struct fake_server *f)
{
    fake_wire_break(CONTAINER_OF(f->wires.prev, struct fake_wire, link), "the server crashed");
}

TEST(an_instance_that_dies_takes_only_its_own_calls)
{
    struct link_kit k;
    struct fake_reply a, b;

    per_client(&k);
    call_as(&k, &a, "slow", "x");
    call_as(&k, &b, "slow", "y");
    FAKES_UNTIL(&k.fakes, k.f->n_held == 2);
    break_last(k.f);
    CHECK_INT(a.count, 0);
    CHECK_INT(b.count, 1);
    CHECK_INT(fault_of(&b.err), FAULT_NOT_CONNECTED);
    CHECK_HAS(b.err.msg, "the server crashed");
    CHECK_INT(link_state(k.link), LINK_CONNECTED);
    CHECK_INT(instances(&k), 1);
    call_as(&k, &b, "text", "y"); /* gets a new one */
    FAKES_UNTIL(&k.fakes, b.count);
    CHECK_HAS(b.result, "mock");
    fake_reply_done(&b);
    kit_done(&k);
}

TEST(disconnecting_ends_all_instances)
{
    struct link_kit k;
    struct fake_reply a, b;

    per_client(&k);
    call_as(&k, &a, "slow", "x");
    call_as(&k, &b, "slow", "y");
    link_disconnect(k.link);
    CHECK_INT(a.count + b.count, 2);
    CHECK_INT(instances(&k), 0);
    CHECK(!link_settled(k.link));
    FAKES_UNTIL(&k.fakes, link_settled(k.link));
    CHECK_INT(k.f->closes, 3);
    kit_done(&k);
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
    struct link_kit k;
    struct fake_reply a, b;

    per_client(&k);
    call_as(&k, &a, "text", "x");
    FAKES_UNTIL(&k.fakes, a.count);
    fake_reply_done(&a);
    w = CONTAINER_OF(k.f->wires.prev, struct fake_wire, link);
    deaf = *w->wire.ops;
    deaf.send = send_nowhere;
    w->wire.ops = &deaf;
    call_as(&k, &a, "slow", "x");
    loop_advance(k.fakes.loop, 29000);
    call_as(&k, &b, "slow", "x");
    loop_advance(k.fakes.loop, 1000);
    CHECK_INT(fault_of(&a.err), FAULT_TIMEOUT);
    loop_advance(k.fakes.loop, 9999);
    CHECK_INT(instances(&k), 1);
    CHECK_INT(b.count, 0);
    loop_advance(k.fakes.loop, 1);
    CHECK_INT(instances(&k), 0);
    CHECK_INT(fault_of(&b.err), FAULT_NOT_CONNECTED);
    CHECK_INT(link_state(k.link), LINK_CONNECTED);
    kit_done(&k);
}

/* The timer of a channel that is freed while it runs is fired, or spun on, later. */
TEST(an_instance_that_is_dropped_at_work_leaves_no_timer_behind)
{
    enum { BY_LEAVING, BY_DISCONNECT, BY_DISABLE, BY_REST, BY_LOSS, BY_CLOSE, WAYS };

    for (int way = 0; way < WAYS; way++) {
        struct link_kit k;
        struct fake_reply a, b;

        per_client(&k);
        call_as(&k, &a, "slow", "x");
        call_as(&k, &b, "slow", "x");
        FAKES_UNTIL(&k.fakes, k.f->n_held == 2);
        if (way == BY_LEAVING)
            link_caller_left(k.link, "x");
        else if (way == BY_DISCONNECT)
            link_disconnect(k.link);
        else if (way == BY_DISABLE)
            link_set_enabled(k.link, false);
        else if (way == BY_REST)
            link_rest(k.link);
        else if (way == BY_LOSS)
            fake_break(k.f, "gone");
        else
            link_close(TAKE(k.link), CALL_SHUTDOWN, kit_gone, &k);
        CHECK_INT(a.count + b.count, 2);
        fakes_settle(&k.fakes);
        loop_advance(k.fakes.loop, 2 * SPEC_IDLE_MS);
        kit_done(&k);
    }
}

TEST(max_calls_counts_for_each_instance)
{
    struct link_kit k;
    struct fake_reply a, b, c;

    per_client(&k);
    k.spec->max_calls = 1;
    call_as(&k, &a, "slow", "x");
    call_as(&k, &b, "slow", "x");
    call_as(&k, &c, "slow", "y");
    fakes_settle(&k.fakes);
    CHECK_INT(k.f->n_held, 2);
    fake_release(k.f, 0, "go on");
    FAKES_UNTIL(&k.fakes, a.count && k.f->calls == 3);
    fake_reply_done(&a);
    kit_done(&k);
}

TEST(there_are_only_so_many_instances)
{
    struct link_kit k;
    struct fake_reply a[LINK_INSTANCES_MAX + 1];
    char caller[16];

    per_client(&k);
    for (int i = 0; i <= LINK_INSTANCES_MAX; i++) {
        snprintf(caller, sizeof caller, "c%d", i);
        call_as(&k, &a[i], "text", caller);
    }
    CHECK_INT(instances(&k), LINK_INSTANCES_MAX);
    CHECK_INT(fault_of(&a[LINK_INSTANCES_MAX].err), FAULT_BUSY);
    CHECK_STR(a[LINK_INSTANCES_MAX].err.msg,
              "Server 'alpha' runs 256 own instances of its callers already");
    for (int i = 0; i < LINK_INSTANCES_MAX; i++) {
        FAKES_UNTIL(&k.fakes, a[i].count);
        fake_reply_done(&a[i]);
    }
    kit_done(&k);
}

static void call_from(struct link_kit *k, struct fake_reply *a, const char *tool, int name,
                      const char *origin)
{
    char caller[16];

    snprintf(caller, sizeof caller, "%s%d", origin, name);
    kit_call_with(k, a, tool, &(struct call_spec){ .caller = caller, .origin = origin });
}

TEST(callers_that_name_themselves_share_a_few_instances)
{
    enum { MAX = LINK_ORIGIN_MAX };
    struct link_kit k;
    struct fake_reply a, busy[MAX];

    per_client(&k);
    for (int i = 0; i < 5 * MAX; i++) { /* a new name each time */
        call_from(&k, &a, "text", i, "o");
        FAKES_UNTIL(&k.fakes, a.count);
        CHECK_HAS(a.result, "mock");
        fake_reply_done(&a);
        CHECK_INT(instances(&k), i < MAX ? i + 1 : MAX);
    }
    k.f->connects = 0; /* the oldest that rests makes room, not the one that was used last */
    call_from(&k, &a, "text", 4 * MAX, "o");
    FAKES_UNTIL(&k.fakes, a.count);
    fake_reply_done(&a);
    CHECK_INT(k.f->connects, 0);
    call_from(&k, &a, "text", 1000, "o");
    FAKES_UNTIL(&k.fakes, a.count);
    fake_reply_done(&a);
    call_from(&k, &a, "text", 4 * MAX, "o");
    FAKES_UNTIL(&k.fakes, a.count);
    fake_reply_done(&a);
    CHECK_INT(k.f->connects, 1);

    for (int i = 0; i < MAX; i++) /* those at work stay */
        call_from(&k, &busy[i], "slow", 2000 + i, "o");
    FAKES_UNTIL(&k.fakes, k.f->n_held == MAX);
    call_from(&k, &a, "text", 3000, "o");
    CHECK_INT(fault_of(&a.err), FAULT_BUSY);
    CHECK_STR(a.err.msg, "Server 'alpha' works in 16 own instances for clients from there already");
    call_from(&k, &a, "text", 1, "p"); /* from elsewhere */
    FAKES_UNTIL(&k.fakes, a.count);
    CHECK_HAS(a.result, "mock");
    fake_reply_done(&a);
    kit_done(&k);
}

TEST(questions_of_an_instance_reach_its_caller_though_others_call_too)
{
    struct link_kit k;
    struct fake_reply a, b;

    per_client(&k);
    k.f->era = PB_ERA_LEGACY;
    fake_tool(k.f, "sample", FAKE_ASK)->method = "sampling/createMessage";
    call_as(&k, &a, "slow", "x");
    call_as(&k, &b, "sample", "y");
    FAKES_UNTIL(&k.fakes, b.count);
    /* Not "calls of several clients": it is y's, who cannot be asked. */
    CHECK_STR(k.f->last_answer, "refused: -32601 sampling/createMessage: not implemented");
    fake_reply_done(&b);
    kit_done(&k);
}

static struct link_kit *leaver;

static void leave_on_reply(void *ctx, const struct client_reply *reply)
{
    (void)ctx, (void)reply;
    link_caller_left(leaver->link, "x");
    link_close(TAKE(leaver->link), CALL_SHUTDOWN, kit_gone, leaver);
}

TEST(a_reply_may_close_the_link_while_an_instance_is_dropped)
{
    struct link_kit k;
    AUTO_BUF struct buf params = { 0 };
    struct call_spec s = kit_spec(NULL, "slow", &params);
    struct fake_reply a, b;
    struct pb_error err;

    per_client(&k);
    leaver = &k;
    s.caller = "x";
    s.reply = leave_on_reply;
    CHECK_INT(link_call(k.link, &s, NULL, &err), 0);
    call_as(&k, &a, "slow", "x");
    call_as(&k, &b, "slow", "y");
    fakes_settle(&k.fakes);
    link_caller_left(k.link, "x");
    CHECK(!k.link);
    CHECK_INT(a.count, 1);
    CHECK_INT(b.count, 1);
    FAKES_UNTIL(&k.fakes, k.gone);
    kit_done(&k);
}

/* Blocks of memory that a hundred calls of "x" take. */
static uint64_t cost_of_calls(struct link_kit *k)
{
    struct fake_reply a;
    uint64_t before = mem_count();

    for (int i = 0; i < 100; i++) {
        call_as(k, &a, "text", "x");
        FAKES_UNTIL(&k->fakes, a.count);
        fake_reply_done(&a);
    }
    return mem_count() - before;
}

TEST(a_call_of_an_instance_costs_the_same_however_many_tasks_are_watched)
{
    struct link_kit k;
    uint64_t few, many;

    per_client(&k);
    k.opts.event = NULL;
    cost_of_calls(&k); /* warms up */
    few = cost_of_calls(&k);
    for (int i = 0; i < MCP_SUBSCRIPTIONS_MAX; i++) {
        char id[32];

        snprintf(id, sizeof id, "t%d", i);
        link_watch_task(k.link, "y", span_of(id), true);
    }
    many = cost_of_calls(&k);
    if (many > few + few / 10)
        TAP_FAIL("%llu blocks instead of %llu", (unsigned long long)many, (unsigned long long)few);
    kit_done(&k);
}

/* It lives as long as its caller wants to hear of one, and rests when it does not any more. */
TEST(an_instance_whose_caller_watches_a_task_does_not_stop_for_idleness)
{
    struct link_kit k;
    struct fake_reply a;

    per_client(&k);
    link_watch_task(k.link, "x", SPAN("t1"), true);
    link_watch_task(k.link, "x", SPAN("t1"), true); /* said twice, watched once */
    link_watch_task(k.link, "x", SPAN("t2"), true);
    for (int i = 0; i < 2; i++) {
        call_as(&k, &a, "text", i ? "y" : "x");
        FAKES_UNTIL(&k.fakes, a.count);
        fake_reply_done(&a);
    }
    loop_advance(k.fakes.loop, SPEC_IDLE_MS);
    fakes_settle(&k.fakes);
    CHECK_INT(instances(&k), 1); /* y's is gone */
    link_watch_task(k.link, "x", SPAN("t1"), false);
    link_watch_task(k.link, "x", SPAN("t1"), false);
    loop_advance(k.fakes.loop, SPEC_IDLE_MS);
    fakes_settle(&k.fakes);
    CHECK_INT(instances(&k), 1);
    link_watch_task(k.link, "x", SPAN("t2"), false);
    loop_advance(k.fakes.loop, SPEC_IDLE_MS);
    fakes_settle(&k.fakes);
    CHECK_INT(instances(&k), 0);
    kit_done(&k);
}

static void note_task(void *ctx, struct link *l, const char *caller, struct span params)
{
    struct link_kit *k = ctx;

    (void)l;
    k->n_messages++;
    snprintf(k->message, sizeof k->message, "%s: %.*s", caller, SPAN_ARG(params));
}

/* The server says it on its nth connection. */
static void say_task(struct link_kit *k, size_t nth)
{
    AUTO(blob)
    struct blob *said = blob_new(SPAN(
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tasks\",\"params\":{\"taskId\":\"1\"}}"));
    struct list *pos = k->f->wires.next;

    while (nth--)
        pos = pos->next;
    CHECK(pos != &k->f->wires);
    client_receive(CONTAINER_OF(pos, struct fake_wire, link)->wire.ctx, said, 0, 0);
}

/* Each process counts its tasks from 1: the shared one's are none of those that callers have. */
TEST(what_the_shared_process_says_of_tasks_is_told_to_nobody_who_has_a_process_of_his_own)
{
    static const enum spec_instance kinds[] = { SPEC_SHARED, SPEC_PER_CLIENT };

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        bool own = kinds[i] == SPEC_PER_CLIENT;
        struct link_kit k;
        struct fake_reply a;

        kit_init(&k);
        k.spec->instance = kinds[i];
        k.opts.task_changed = note_task;
        fake_tool(k.f, "text", FAKE_TEXT);
        kit_start(&k);
        call_as(&k, &a, "text", "x");
        FAKES_UNTIL(&k.fakes, a.count);
        fake_reply_done(&a);
        link_watch_task(k.link, "x", SPAN("1"), true);
        say_task(&k, 0);
        CHECK_INT(k.n_messages, !own);
        if (own)
            say_task(&k, 1);
        CHECK_INT(k.n_messages, 1);
        CHECK_STR(k.message, own ? "x: {\"taskId\":\"1\"}" : ": {\"taskId\":\"1\"}");
        kit_done(&k);
    }
}
