/* Many calls over one link: those that wait in line, and how many there may be. */
#include "hub/link/link.h"
#include "hub/link_rig.h"
#include "hub/spec/spec.h"

TEST(past_max_calls_calls_wait_in_line)
{
    struct link_rig rig;
    struct fake_reply a[5];
    struct link_facts facts;

    link_rig_init(&rig);
    rig.spec->max_calls = 2;
    fake_tool(rig.f, "slow", FAKE_HANG);
    link_rig_start(&rig);
    for (int i = 0; i < 5; i++)
        link_rig_call(&rig, &a[i], "slow");
    fakes_settle(&rig.fakes);
    CHECK_INT(rig.f->n_held, 2);
    link_facts(rig.link, &facts);
    CHECK_INT(facts.in_flight, 2);
    CHECK_INT(facts.queued, 3);
    CHECK_INT(fakes_count(&rig.fakes, EVENT_CALL_STARTED, NULL, NULL), 5);
    CHECK(link_cancel(rig.link, 4, CALL_BY_USER)); /* one that waits: the server never sees it */
    CHECK_INT(a[3].count, 1);
    fake_release(rig.f, 0, "first");
    FAKES_UNTIL(&rig.fakes, a[0].count);
    FAKES_UNTIL(&rig.fakes, rig.f->n_held == 2);
    CHECK_INT(rig.f->calls, 3);
    fake_release(rig.f, 0, "second");
    fake_release(rig.f, 0, "third");
    FAKES_UNTIL(&rig.fakes, a[1].count && a[2].count);
    FAKES_UNTIL(&rig.fakes, rig.f->n_held == 1);
    fake_release(rig.f, 0, "last");
    FAKES_UNTIL(&rig.fakes, a[4].count);
    CHECK_HAS(a[4].result, "last");
    CHECK_INT(rig.f->calls, 4);
    CHECK_INT(rig.f->cancellations, 0);
    for (int i = 0; i < 5; i++)
        fake_reply_done(&a[i]);
    link_rig_done(&rig);
}

TEST(the_time_of_calls_that_wait_runs)
{
    struct link_rig rig;
    struct fake_reply a, b;

    link_rig_init(&rig);
    rig.spec->max_calls = 1;
    fake_tool(rig.f, "slow", FAKE_HANG);
    link_rig_start(&rig);
    link_rig_call_with(&rig, &a, "slow", &(struct call_spec){ .timeout_ms = 60000 });
    link_rig_call(&rig, &b, "slow");
    loop_advance(rig.fakes.loop, 30000);
    CHECK_INT(a.count, 0);
    CHECK_INT(b.count, 1);
    CHECK_INT(fault_of(&b.err), FAULT_TIMEOUT);
    CHECK_INT(rig.f->calls, 1);
    link_rig_done(&rig);
}

TEST(the_line_has_an_end)
{
    struct link_rig rig;
    struct fake_reply a, one_more;
    struct pb_error err;
    AUTO_BUF struct buf params = { 0 };
    struct call_spec s;

    link_rig_init(&rig);
    rig.spec->max_calls = 1;
    rig.opts.event = NULL;
    fake_tool(rig.f, "slow", FAKE_HANG);
    link_rig_make(&rig);
    link_rig_connect(&rig);
    a = (struct fake_reply){ 0 };
    s = link_rig_spec(&a, "slow", &params);
    for (int i = 0; i < LINK_QUEUE_MAX + 1; i++)
        CHECK_INT(link_call(rig.link, &s, NULL, &err), 0);
    link_rig_call(&rig, &one_more, "slow");
    CHECK_INT(one_more.err.code, PB_E_LIMIT);
    CHECK_INT(fault_of(&one_more.err), FAULT_BUSY);
    CHECK_HAS(one_more.err.msg, "10000 calls wait for server 'alpha' already");
    fake_break(rig.f, "gone"); /* all at once, and without deep recursion */
    CHECK_INT(a.count, LINK_QUEUE_MAX + 1);
    CHECK_INT(fault_of(&a.err), FAULT_NOT_CONNECTED);
    link_rig_done(&rig);
}

TEST(so_many_calls_may_be_under_way_and_not_one_more)
{
    struct link_rig rig;
    struct fake_reply a = { 0 }, one_more;
    struct pb_error err;
    AUTO_BUF struct buf params = { 0 };
    struct call_spec s = link_rig_spec(&a, "slow", &params);

    link_rig_init(&rig);
    rig.opts.event = NULL;
    fake_tool(rig.f, "slow", FAKE_HANG);
    link_rig_make(&rig);
    link_rig_connect(&rig);
    for (int i = 0; i < LINK_CALLS_MAX; i++)
        CHECK_INT(link_call(rig.link, &s, NULL, &err), 0);
    link_rig_call(&rig, &one_more, "slow");
    CHECK_INT(fault_of(&one_more.err), FAULT_BUSY);
    CHECK_HAS(one_more.err.msg, "Server 'alpha' works on 9000 calls already");
    link_disconnect(rig.link); /* the server has not even read them */
    CHECK_INT(a.count, LINK_CALLS_MAX);
    link_rig_done(&rig);
}

/* S0-176 */
TEST(a_hundred_calls_at_once_all_succeed)
{
    enum { N = 100 };
    struct link_rig rig;
    struct fake_reply a[N];

    link_rig_init(&rig);
    fake_tool(rig.f, "one", FAKE_DELAY)->ms = 5;
    fake_tool(rig.f, "two", FAKE_DELAY)->ms = 5;
    link_rig_start(&rig);
    for (int i = 0; i < N; i++)
        link_rig_call(&rig, &a[i], i % 2 ? "one" : "two");
    fakes_settle(&rig.fakes);
    loop_advance(rig.fakes.loop, 5);
    for (int i = 0; i < N; i++) {
        FAKES_UNTIL(&rig.fakes, a[i].count);
        CHECK_HAS(a[i].result, "mock");
        fake_reply_done(&a[i]);
    }
    link_rig_done(&rig);
}
