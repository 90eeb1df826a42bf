/* What the tests of the hub are made of does what it says: a double that cannot fail proves
 * nothing. */
#include "fixtures.h"
#include "hub/hub/hub.h"
#include "hub/hub_rig.h"
#include "hub/link/link.h"
#include "hub/link_rig.h"
#include "hub/spec/spec.h"
#include "manual_clock.h"
#include <time.h>

/* ---- clocks ---- */

struct sleeper {
    struct timer timer;
    char name;
    struct sleepers *all;
};

struct sleepers {
    struct pb_loop *loop;
    struct sleeper each[8];
    size_t n;
    char woken[16];
};

static void on_wake(void *ctx)
{
    struct sleeper *s = ctx;

    s->all->woken[strlen(s->all->woken)] = s->name;
}

static void put_to_sleep(struct sleepers *all, char name, uint64_t ms)
{
    struct sleeper *s = &all->each[all->n++];

    s->name = name;
    s->all = all;
    timer_init(&s->timer, all->loop, on_wake, s);
    timer_start(&s->timer, ms);
}

static void cancel_all(struct sleepers *all)
{
    for (size_t i = 0; i < all->n; i++)
        timer_stop(&all->each[i].timer);
}

/* S0-152 */
TEST(sleepers_on_a_clock_moved_by_hand_wake_in_the_order_of_their_deadlines)
{
    struct manual_clock clock;
    struct sleepers s = { 0 };
    uint64_t began;

    manual_clock_init(&clock);
    s.loop = loop_new(&clock.clock);
    began = loop_now(s.loop);
    put_to_sleep(&s, 'c', 3000);
    put_to_sleep(&s, 'a', 1000);
    put_to_sleep(&s, 'd', 86400000);
    put_to_sleep(&s, 'b', 2000);
    for (int i = 0; i < 1000; i++)
        loop_turn(s.loop, false); /* no time passes by itself */
    CHECK_STR(s.woken, "");
    loop_advance(s.loop, 999);
    CHECK_STR(s.woken, "");
    loop_advance(s.loop, 1); /* by so much */
    CHECK_STR(s.woken, "a");
    loop_advance(s.loop, began + 5000 - loop_now(s.loop)); /* to a time */
    CHECK_INT(loop_now(s.loop) - began, 5000);
    CHECK_STR(s.woken, "abc");
    cancel_all(&s);
    loop_advance(s.loop, 100000000);
    CHECK_STR(s.woken, "abc");
    loop_free(s.loop);
}

/* S0-152 */
TEST(a_sleeper_on_the_real_clock_really_sleeps)
{
    struct sleepers s = { .loop = loop_new(NULL) };
    struct timespec from, to;
    double ms;

    clock_gettime(CLOCK_MONOTONIC, &from);
    put_to_sleep(&s, 'b', 60);
    put_to_sleep(&s, 'a', 30);
    while (strlen(s.woken) < 2)
        loop_turn(s.loop, true);
    clock_gettime(CLOCK_MONOTONIC, &to);
    ms = (double)(to.tv_sec - from.tv_sec) * 1e3 + (double)(to.tv_nsec - from.tv_nsec) / 1e6;
    CHECK_STR(s.woken, "ab");
    CHECK(ms >= 59);
    loop_free(s.loop);
}

/* ---- a fake behind a real client ---- */

/* S0-153 */
TEST(a_fake_answers_fails_delays_and_hangs_as_it_is_told)
{
    struct link_rig rig;
    struct fake_reply a = { 0 };
    uint64_t id;

    link_rig_init(&rig);
    fake_tool(rig.f, "plain", FAKE_TEXT);
    fake_tool(rig.f, "own", FAKE_TEXT)->text = "its own";
    fake_tool(rig.f, "bad", FAKE_ERROR)->text = "it broke";
    fake_tool(rig.f, "slow", FAKE_DELAY)->ms = 500;
    fake_tool(rig.f, "never", FAKE_HANG);
    link_rig_make(&rig);
    link_rig_connect(&rig);
    CHECK_INT(rig.f->lists[LIST_TOOLS], 1);
    link_rig_ask(&rig, &a, "plain");
    CHECK_HAS(a.result, "\"text\":\"mock\"");
    fake_reply_done(&a);
    link_rig_ask(&rig, &a, "own");
    CHECK_HAS(a.result, "\"text\":\"its own\"");
    fake_reply_done(&a);
    link_rig_ask(&rig, &a, "bad");
    CHECK_INT(a.err.code, PB_E_REMOTE);
    CHECK_HAS(a.err.msg, "it broke");
    fake_reply_done(&a);

    link_rig_call(&rig, &a, "slow");
    fakes_settle(&rig.fakes);
    loop_advance(rig.fakes.loop, 499);
    fakes_settle(&rig.fakes);
    CHECK_INT(a.count, 0);
    loop_advance(rig.fakes.loop, 1);
    fakes_settle(&rig.fakes);
    CHECK_INT(a.count, 1);
    fake_reply_done(&a);

    id = link_rig_call(&rig, &a, "never");
    fakes_settle(&rig.fakes);
    loop_advance(rig.fakes.loop, 20000);
    fakes_settle(&rig.fakes);
    CHECK_INT(a.count, 0);
    CHECK(link_cancel(rig.link, id, CALL_BY_USER));
    fakes_settle(&rig.fakes);
    CHECK_INT(rig.f->cancellations, 1);
    CHECK_STR(buf_cstr(&rig.f->history),
              "plain {\"a\":1}\nown {\"a\":1}\nbad {\"a\":1}\nslow {\"a\":1}\nnever {\"a\":1}\n");
    CHECK_INT(rig.f->calls, 5);
    fake_reply_done(&a);

    CHECK_INT(rig.f->closes, 0);
    link_disconnect(rig.link);
    fakes_settle(&rig.fakes);
    CHECK_INT(rig.f->closes, 1);
    fake_reset(rig.f);
    CHECK_INT(rig.f->closes + rig.f->calls + rig.f->cancellations + rig.f->lists[LIST_TOOLS], 0);
    CHECK_STR(buf_cstr(&rig.f->history), "");
    link_rig_done(&rig);
}

/* S0-154 */
TEST(an_opener_hands_out_the_fake_of_that_name_or_another_or_fails)
{
    struct hub_rig r;

    hub_rig_init(&r);
    r.opts.retry_initial = false;
    hub_rig_start(&r);
    hub_rig_server(&r, "alpha");
    r.fakes.fallback = hub_rig_server(&r, "any");
    hub_rig_begin(&r, "alpha", (struct rig_spec){ 0 });
    hub_rig_begin(&r, "beta", (struct rig_spec){ 0 });
    hub_rig_begin(&r, "gamma", (struct rig_spec){ 0 });
    fakes_settle(&r.fakes);
    CHECK_INT(fakes_find(&r.fakes, "alpha")->connects, 1);
    CHECK_INT(r.fakes.fallback->connects, 2);
    CHECK_STR(buf_cstr(&r.fakes.opened), "alpha\nbeta\ngamma\n");
    r.fakes.open_error = "no more of them";
    hub_rig_begin(&r, "delta", (struct rig_spec){ 0 });
    fakes_settle(&r.fakes);
    CHECK_INT(hub_rig_state(&r, "delta"), LINK_ERROR);
    CHECK_HAS(link_last_error(hub_link(r.hub, "delta"))->msg, "no more of them");
    CHECK_INT(r.fakes.fallback->connects, 2);
    hub_rig_done(&r);
}

static enum fake_connect by_turns(struct fake_server *f)
{
    return f->connects % 2 ? FAKE_CONNECT_FAIL : FAKE_CONNECT_OK;
}

/* S0-155 */
TEST(a_link_to_a_fake_comes_up_fails_hangs_and_comes_late)
{
    static const struct {
        enum fake_connect how, then;
        enum fake_connect (*custom)(struct fake_server *f);
        enum link_state at_once, later;
    } cases[] = {
        { FAKE_CONNECT_OK, 0, NULL, LINK_CONNECTED, LINK_CONNECTED },
        { FAKE_CONNECT_FAIL, 0, NULL, LINK_ERROR, LINK_ERROR },
        { FAKE_CONNECT_DIE, 0, NULL, LINK_CONNECTING, LINK_ERROR },
        { FAKE_CONNECT_HANG, 0, NULL, LINK_CONNECTING, LINK_CONNECTING },
        { FAKE_CONNECT_DELAY, FAKE_CONNECT_OK, NULL, LINK_CONNECTING, LINK_CONNECTED },
        { FAKE_CONNECT_DELAY, FAKE_CONNECT_FAIL, NULL, LINK_CONNECTING, LINK_ERROR },
        { FAKE_CONNECT_DELAY, FAKE_CONNECT_HANG, NULL, LINK_CONNECTING, LINK_CONNECTING },
        { FAKE_CONNECT_OK, 0, by_turns, LINK_ERROR, LINK_ERROR },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct link_rig rig;

        link_rig_init(&rig);
        fake_tool(rig.f, "one", FAKE_TEXT);
        fake_tool(rig.f, "two", FAKE_TEXT);
        rig.f->connect = cases[i].how;
        rig.f->connect_then = cases[i].then;
        rig.f->custom = cases[i].custom;
        rig.f->connect_text = "because";
        rig.f->connect_ms = 200;
        link_rig_make(&rig);
        CHECK_INT(link_connect(rig.link, 0, NULL), 0);
        fakes_settle(&rig.fakes);
        CHECK_INT(link_state(rig.link), cases[i].at_once);
        loop_advance(rig.fakes.loop, 200);
        fakes_settle(&rig.fakes);
        CHECK_INT(link_state(rig.link), cases[i].later);
        CHECK_INT(rig.f->connects, 1);
        if (cases[i].later == LINK_ERROR)
            CHECK_HAS(link_rig_message_of_state(&rig), "because");
        if (cases[i].later == LINK_CONNECTED)
            CHECK_HAS(rig.lists[LIST_TOOLS], "\"name\":\"two\"");
        link_rig_done(&rig);
    }
}

/* ---- waiting ---- */

static void connect_a(void *ctx)
{
    struct hub_rig *r = ctx;

    hub_rig_begin(r, "a", (struct rig_spec){ 0 });
}

static void nothing(void *ctx) { (void)ctx; }

/* S0-157 */
TEST(events_are_collected_while_something_is_done_and_waits_have_limits)
{
    struct hub_rig r;
    struct fake_server *f;
    uint64_t before;
    size_t first = 0;

    hub_rig_init(&r);
    hub_rig_start(&r);
    f = hub_rig_server(&r, "a");
    f->connect = FAKE_CONNECT_DELAY;
    f->connect_ms = 300;
    before = loop_now(r.fakes.loop);
    CHECK_INT(fakes_collect(&r.fakes, EVENT_STATE, 2, 1000, connect_a, &r, &first), 2);
    CHECK_STR(r.fakes.events[first].text, "idle>connecting");
    CHECK_INT(loop_now(r.fakes.loop) - before, 300); /* no longer than it takes */

    f->connect = FAKE_CONNECT_HANG;
    CHECK_INT(hub_disconnect(r.hub, "a", NULL), 0);
    fakes_settle(&r.fakes);
    before = loop_now(r.fakes.loop);
    CHECK_INT(hub_connect(r.hub, "a", NULL), 0);
    CHECK_INT(fakes_collect(&r.fakes, EVENT_CALL_STARTED, 1, 500, nothing, &r, &first), 0);
    CHECK_INT(loop_now(r.fakes.loop) - before, 500); /* and no longer than it may */

    f->connect = FAKE_CONNECT_OK;
    CHECK_INT(hub_connect(r.hub, "a", NULL), 0);
    FAKES_EVENTUALLY(&r.fakes, hub_rig_state(&r, "a") == LINK_CONNECTED);
    hub_rig_done(&r);
}

static void never(void)
{
    struct fakes s;

    fakes_init(&s);
    FAKES_EVENTUALLY_WITHIN(&s, 50, s.n == 1);
}

/* S0-157 */
TEST(a_wait_that_is_never_over_fails_its_test)
{
    int out = dup(STDOUT_FILENO);

    fflush(stdout);
    CHECK(freopen("/dev/null", "w", stdout) != NULL); /* what it says must not look like ours */
    CHECK_INT(tap_run(never), 0);
    fflush(stdout);
    CHECK(dup2(out, STDOUT_FILENO) >= 0);
    close(out);
}

/* ---- fixtures ---- */

/* S0-158 */
TEST(fixtures_are_what_they_are_called)
{
    static const struct {
        enum fixture_error which;
        const char *name, *msg;
    } errors[] = {
        { ERROR_REFUSED, "connect_failed", "Connection refused" },
        { ERROR_TIMEOUT, "call_timeout", "Operation timed out" },
        { ERROR_AUTH, "auth_required", "Authentication failed" },
        { ERROR_TOOL, "call_failed", "Tool failed: why" },
    };
    AUTO(spec) struct spec *s = fixture_spec("test");
    struct call_spec c = fixture_call("test", NULL, NULL);

    CHECK_INT(s->transport, SPEC_STDIO);
    CHECK_STR(s->command, "echo");
    CHECK_STR(s->args[0], "test");
    CHECK(!s->args[1]);
    CHECK(!c.caps && !c.progress && !c.question && !c.timeout_ms && !c.caller[0]);
    for (size_t i = 0; i < ARRAY_LEN(errors); i++) {
        struct pb_error err = fixture_error(errors[i].which, "why");

        CHECK_STR(fault_name(&err), errors[i].name);
        CHECK_STR(err.msg, errors[i].msg);
    }
}
