/* Many calls over one link: those that wait in line, and how many there may be. */
#include "hub/link/link.h"
#include "hub/link_kit.h"
#include "hub/spec/spec.h"

TEST(past_max_calls_calls_wait_in_line)
{
    struct link_kit k;
    struct fake_reply a[5];
    struct link_facts facts;

    kit_init(&k);
    k.spec->max_calls = 2;
    fake_tool(k.f, "slow", FAKE_HANG);
    kit_start(&k);
    for (int i = 0; i < 5; i++)
        kit_call(&k, &a[i], "slow");
    fakes_settle(&k.fakes);
    CHECK_INT(k.f->n_held, 2);
    link_facts(k.link, &facts);
    CHECK_INT(facts.in_flight, 2);
    CHECK_INT(facts.queued, 3);
    CHECK_INT(fakes_count(&k.fakes, EVENT_CALL_STARTED, NULL, NULL), 5);
    CHECK(link_cancel(k.link, 4, CALL_BY_USER)); /* one that waits: the server never sees it */
    CHECK_INT(a[3].count, 1);
    fake_release(k.f, 0, "first");
    FAKES_UNTIL(&k.fakes, a[0].count);
    FAKES_UNTIL(&k.fakes, k.f->n_held == 2);
    CHECK_INT(k.f->calls, 3);
    fake_release(k.f, 0, "second");
    fake_release(k.f, 0, "third");
    FAKES_UNTIL(&k.fakes, a[1].count && a[2].count);
    FAKES_UNTIL(&k.fakes, k.f->n_held == 1);
    fake_release(k.f, 0, "last");
    FAKES_UNTIL(&k.fakes, a[4].count);
    CHECK_HAS(a[4].result, "last");
    CHECK_INT(k.f->calls, 4);
    CHECK_INT(k.f->cancellations, 0);
    for (int i = 0; i < 5; i++)
        fake_reply_done(&a[i]);
    kit_done(&k);
}

TEST(the_time_of_calls_that_wait_runs)
{
    struct link_kit k;
    struct fake_reply a, b;

    kit_init(&k);
    k.spec->max_calls = 1;
    fake_tool(k.f, "slow", FAKE_HANG);
    kit_start(&k);
    kit_call_with(&k, &a, "slow", &(struct call_spec){ .timeout_ms = 60000 });
    kit_call(&k, &b, "slow");
    loop_advance(k.fakes.loop, 30000);
    CHECK_INT(a.count, 0);
    CHECK_INT(b.count, 1);
    CHECK_INT(fault_of(&b.err), FAULT_TIMEOUT);
    CHECK_INT(k.f->calls, 1);
    kit_done(&k);
}

TEST(the_line_has_an_end)
{
    struct link_kit k;
    struct fake_reply a, one_more;
    struct pb_error err;
    AUTO_BUF struct buf params = { 0 };
    struct call_spec s;

    kit_init(&k);
    k.spec->max_calls = 1;
    k.opts.event = NULL;
    fake_tool(k.f, "slow", FAKE_HANG);
    kit_link(&k);
    kit_connect(&k);
    a = (struct fake_reply){ 0 };
    s = kit_spec(&a, "slow", &params);
    for (int i = 0; i < LINK_QUEUE_MAX + 1; i++)
        CHECK_INT(link_call(k.link, &s, NULL, &err), 0);
    kit_call(&k, &one_more, "slow");
    CHECK_INT(one_more.err.code, PB_E_LIMIT);
    CHECK_INT(fault_of(&one_more.err), FAULT_BUSY);
    CHECK_HAS(one_more.err.msg, "10000 calls wait for server 'alpha' already");
    fake_break(k.f, "gone"); /* all at once, and without deep recursion */
    CHECK_INT(a.count, LINK_QUEUE_MAX + 1);
    CHECK_INT(fault_of(&a.err), FAULT_NOT_CONNECTED);
    kit_done(&k);
}

TEST(so_many_calls_may_be_under_way_and_not_one_more)
{
    struct link_kit k;
    struct fake_reply a = { 0 }, one_more;
    struct pb_error err;
    AUTO_BUF struct buf params = { 0 };
    struct call_spec s = kit_spec(&a, "slow", &params);

    kit_init(&k);
    k.opts.event = NULL;
    fake_tool(k.f, "slow", FAKE_HANG);
    kit_link(&k);
    kit_connect(&k);
    for (int i = 0; i < LINK_CALLS_MAX; i++)
        CHECK_INT(link_call(k.link, &s, NULL, &err), 0);
    kit_call(&k, &one_more, "slow");
    CHECK_INT(fault_of(&one_more.err), FAULT_BUSY);
    CHECK_HAS(one_more.err.msg, "Server 'alpha' works on 9000 calls already");
    link_disconnect(k.link); /* the server has not even read them */
    CHECK_INT(a.count, LINK_CALLS_MAX);
    kit_done(&k);
}

/* S0-176 */
TEST(a_hundred_calls_at_once_all_succeed)
{
    enum { N = 100 };
    struct link_kit k;
    struct fake_reply a[N];

    kit_init(&k);
    fake_tool(k.f, "one", FAKE_DELAY)->ms = 5;
    fake_tool(k.f, "two", FAKE_DELAY)->ms = 5;
    kit_start(&k);
    for (int i = 0; i < N; i++)
        kit_call(&k, &a[i], i % 2 ? "one" : "two");
    fakes_settle(&k.fakes);
    loop_advance(k.fakes.loop, 5);
    for (int i = 0; i < N; i++) {
        FAKES_UNTIL(&k.fakes, a[i].count);
        CHECK_HAS(a[i].result, "mock");
        fake_reply_done(&a[i]);
    }
    kit_done(&k);
}
