/* When servers are tried again, asked after their health, and put to rest. */
#include "hub/hub/hub.h"
#include "hub/hub_rig.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"
#include "mcp/client/client.h"
#include "mcp/wire/wire.h"

/* S0-79 S0-82 S0-169 S4-18 */
TEST(a_server_that_fails_twice_is_connected_at_the_third_attempt)
{
    struct hub_rig r;
    struct fake_server *f;

    hub_rig_init(&r);
    r.opts.reconnect.base_ms = 10;
    hub_rig_start(&r);
    f = hub_rig_server(&r, "a");
    f->connect_fails = 2;
    f->connect_text = "refused";
    hub_rig_begin(&r, "a", (struct rig_spec){ 0 });
    fakes_settle(&r.fakes);
    for (int i = 0; i < 200 && hub_rig_state(&r, "a") != LINK_CONNECTED; i++)
        hub_rig_pass(&r, 10);
    CHECK_INT(hub_rig_state(&r, "a"), LINK_CONNECTED);
    CHECK_INT(f->connects, 3);
    CHECK_STR(fakes_states(&r.fakes, "a"),
              "idle>connecting connecting>error error>reconnecting reconnecting>connecting "
              "connecting>error error>reconnecting reconnecting>connecting connecting>connected");
    hub_rig_done(&r);
}

/* S4-124 S4-125 S4-18 S4-20 S0-82 S0-83 */
TEST(waits_of_1_2_4_8_and_16_seconds_come_before_giving_up)
{
    static const uint64_t waits[] = { 1000, 2000, 4000, 8000, 16000 };
    struct hub_rig r;
    struct fake_server *f;
    struct link_status st;

    hub_rig_init(&r);
    hub_rig_start(&r);
    f = hub_rig_up(&r, "a", (struct rig_spec){ .transport = SPEC_HTTP });
    f->connect = FAKE_CONNECT_FAIL;
    f->connect_text = "refused";
    fake_break(f, "the line is cut");
    for (unsigned i = 0; i < 5; i++) {
        HUB_RIG_REACHES(&r, "a", LINK_RECONNECTING);
        link_status(hub_link(r.hub, "a"), &st);
        CHECK_INT(st.attempt, i + 1);
        CHECK_INT(st.max_attempts, 5);
        CHECK_INT(st.next_retry_at, loop_wall(r.fakes.loop) + (int64_t)waits[i]);
        CHECK_INT(f->connects, 1 + i);
        loop_advance(r.fakes.loop, waits[i] - 1);
        CHECK_INT(f->connects, 1 + i);
        loop_advance(r.fakes.loop, 1);
        CHECK_INT(f->connects, 2 + i);
    }
    HUB_RIG_REACHES(&r, "a", LINK_FAILED);
    CHECK_STR(link_state_name(LINK_FAILED), "failed");
    CHECK_INT(hub_rig_tools(&r, "a"), 0);
    hub_rig_pass(&r, 3600000);
    CHECK_INT(f->connects, 6);
    CHECK_INT(hub_rig_state(&r, "a"), LINK_FAILED);
    hub_rig_done(&r);
}

/* S4-123 S4-131 */
TEST(a_loss_shows_as_disconnected_before_it_is_answered)
{
    struct hub_rig r;
    struct fake_server *f;

    hub_rig_init(&r);
    hub_rig_start(&r);
    f = hub_rig_up(&r, "a", (struct rig_spec){ .transport = SPEC_HTTP });
    fakes_forget_events(&r.fakes);
    fake_break(f, "the line is cut");
    fakes_settle(&r.fakes);
    CHECK_INT(hub_rig_tools(&r, "a"), 1); /* it is only away for a moment */
    loop_advance(r.fakes.loop, 1000);
    HUB_RIG_REACHES(&r, "a", LINK_CONNECTED);
    CHECK_STR(fakes_states(&r.fakes, "a"),
              "connected>disconnected disconnected>reconnecting reconnecting>connecting "
              "connecting>connected");
    CHECK_INT(f->connects, 2);
    hub_rig_done(&r);
}

/* S4-126 S0-80 */
TEST(nothing_is_attempted_without_auto_reconnect_or_with_no_policy)
{
    static const struct {
        bool no_reconnect, no_policy, first;
        enum link_state want;
    } cases[] = {
        { true, false, false, LINK_DISCONNECTED },
        { false, true, false, LINK_DISCONNECTED },
        { true, false, true, LINK_ERROR },
        { false, true, true, LINK_ERROR },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct hub_rig r;
        struct fake_server *f;

        hub_rig_init(&r);
        if (cases[i].no_policy)
            r.opts.reconnect.kind = RETRY_NONE;
        hub_rig_start(&r);
        f = hub_rig_server(&r, "a");
        f->connect = cases[i].first ? FAKE_CONNECT_FAIL : FAKE_CONNECT_OK;
        f->connect_text = "refused";
        hub_rig_begin(&r, "a", (struct rig_spec){ .no_reconnect = cases[i].no_reconnect });
        fakes_settle(&r.fakes);
        fake_break(f, "gone");
        hub_rig_pass(&r, 1000000);
        CHECK_INT(f->connects, 1);
        CHECK_INT(hub_rig_state(&r, "a"), cases[i].want);
        CHECK_INT(hub_rig_tools(&r, "a"), 0);
        hub_rig_done(&r);
    }
}

/* S0-64 S0-81 S0-83 */
TEST(at_once_means_without_waiting_and_no_more_often_than_allowed)
{
    struct hub_rig r;
    struct fake_server *f;
    const struct fake_event *e;

    hub_rig_init(&r);
    r.opts.reconnect = (struct retry_policy){ .kind = RETRY_AT_ONCE, .max = 3 };
    hub_rig_start(&r);
    f = hub_rig_server(&r, "a");
    f->connect = FAKE_CONNECT_FAIL;
    f->connect_text = "refused";
    hub_rig_begin(&r, "a", (struct rig_spec){ 0 });
    HUB_RIG_REACHES(&r, "a", LINK_FAILED);
    CHECK_INT(f->connects, 4);
    e = fakes_event(&r.fakes, EVENT_STATE, "a", "error>reconnecting");
    CHECK(e && !strstr(e->json, "next_retry_at"));
    CHECK_INT(hub_rig_counters(&r, "a").reconnects, 3);
    hub_rig_done(&r);
}

TEST(the_daemon_does_not_repeat_a_first_connection_but_a_lost_one)
{
    struct hub_rig r;
    struct fake_server *f;
    struct pb_error err;

    hub_rig_init(&r);
    r.opts.retry_initial = false;
    hub_rig_start(&r);
    f = hub_rig_server(&r, "a");
    f->connect_fails = 1;
    f->connect_text = "refused";
    hub_rig_begin(&r, "a", (struct rig_spec){ .transport = SPEC_HTTP });
    HUB_RIG_REACHES(&r, "a", LINK_ERROR);
    hub_rig_pass(&r, 100000);
    CHECK_INT(f->connects, 1);
    CHECK_INT(hub_reconnect(r.hub, "a", &err), 0);
    HUB_RIG_REACHES(&r, "a", LINK_CONNECTED);
    f->connect = FAKE_CONNECT_FAIL;
    fakes_settle(&r.fakes);
    fake_break(f, "gone");
    HUB_RIG_REACHES(&r, "a", LINK_RECONNECTING);
    hub_rig_pass(&r, 100000);
    CHECK_INT(hub_rig_state(&r, "a"), LINK_FAILED);
    CHECK_INT(f->connects, 2 + 5);
    /* Asked for by hand and refused: that is a first connection again. */
    CHECK_INT(hub_reconnect(r.hub, "a", &err), 0);
    HUB_RIG_REACHES(&r, "a", LINK_ERROR);
    hub_rig_pass(&r, 100000);
    CHECK_INT(hub_rig_state(&r, "a"), LINK_ERROR);
    hub_rig_done(&r);
}

/* S4-128 S4-239 */
TEST(a_reconnect_by_hand_sets_the_counters_back)
{
    struct hub_rig r;
    struct fake_server *f;
    struct pb_error err;

    hub_rig_init(&r);
    hub_rig_start(&r);
    f = hub_rig_server(&r, "a");
    f->connect = FAKE_CONNECT_FAIL;
    f->connect_text = "refused";
    hub_rig_begin(&r, "a", (struct rig_spec){ 0 });
    hub_rig_pass(&r, 60000);
    CHECK_INT(hub_rig_state(&r, "a"), LINK_FAILED);
    CHECK_INT(hub_rig_counters(&r, "a").reconnects, 5);
    CHECK_INT(hub_reconnect(r.hub, "a", &err), 0);
    CHECK_INT(hub_rig_counters(&r, "a").reconnects, 0);
    HUB_RIG_REACHES(&r, "a", LINK_RECONNECTING); /* the whole row of attempts is there again */
    CHECK_INT(hub_rig_counters(&r, "a").reconnects, 1);
    f->connect = FAKE_CONNECT_OK;
    CHECK_INT(hub_reconnect(r.hub, "a", &err), 0);
    HUB_RIG_REACHES(&r, "a", LINK_CONNECTED);
    CHECK_INT(hub_rig_counters(&r, "a").reconnects, 0);
    CHECK_INT(hub_rig_tools(&r, "a"), 1);
    hub_rig_done(&r);
}

/* S0-170 */
TEST(twenty_reconnects_of_one_failed_server_make_one_attempt)
{
    struct hub_rig r;
    struct fake_server *f;
    struct pb_error err;
    size_t before;

    hub_rig_init(&r);
    r.opts.reconnect.max = 0;
    hub_rig_start(&r);
    f = hub_rig_server(&r, "a");
    f->connect_fails = 1;
    f->connect_text = "refused";
    hub_rig_begin(&r, "a", (struct rig_spec){ 0 });
    HUB_RIG_REACHES(&r, "a", LINK_FAILED);
    before = f->connects;
    for (int i = 0; i < 20; i++) {
        CHECK_INT(hub_reconnect(r.hub, "a", &err), 0);
        if (i % 7 == 6)
            loop_turn(r.fakes.loop, false);
    }
    HUB_RIG_REACHES(&r, "a", LINK_CONNECTED);
    CHECK_INT(f->connects - before, 1);
    hub_rig_done(&r);
}

static void break_and_return(struct hub_rig *r, struct fake_server *f, size_t crash)
{
    fake_break(f, "the server was killed by signal 9");
    HUB_RIG_REACHES(r, "a", LINK_RECONNECTING);
    CHECK_INT(hub_rig_counters(r, "a").restarts, crash);
    loop_advance(r->fakes.loop, UINT64_C(1000) << (crash - 1));
    HUB_RIG_REACHES(r, "a", LINK_CONNECTED);
    fakes_settle(&r->fakes);
}

/* S1-113 S1-115 */
TEST(the_fourth_crash_of_a_process_is_a_permanent_error)
{
    struct hub_rig r;
    struct fake_server *f;
    struct pb_error err;

    hub_rig_init(&r);
    hub_rig_start(&r);
    f = hub_rig_up(&r, "a", (struct rig_spec){ 0 });
    for (size_t i = 1; i <= 3; i++)
        break_and_return(&r, f, i);
    CHECK(!hub_rig_counters(&r, "a").permanent_error);
    fake_break(f, "the server was killed by signal 9");
    HUB_RIG_REACHES(&r, "a", LINK_FAILED);
    CHECK_INT(hub_rig_counters(&r, "a").restarts, 3);
    CHECK(hub_rig_counters(&r, "a").permanent_error);
    hub_rig_pass(&r, 1000000);
    CHECK_INT(f->connects, 4);
    CHECK_INT(hub_reconnect(r.hub, "a", &err), 0);
    HUB_RIG_REACHES(&r, "a", LINK_CONNECTED);
    CHECK_INT(hub_rig_counters(&r, "a").restarts, 0);
    CHECK(!hub_rig_counters(&r, "a").permanent_error);
    hub_rig_done(&r);
}

/* S1-116 */
TEST(how_many_restarts_are_allowed_can_be_said)
{
    struct hub_rig r;
    struct fake_server *f;

    hub_rig_init(&r);
    r.opts.restart_max = 1;
    hub_rig_start(&r);
    f = hub_rig_up(&r, "a", (struct rig_spec){ 0 });
    break_and_return(&r, f, 1);
    fake_break(f, "the server was killed by signal 9");
    HUB_RIG_REACHES(&r, "a", LINK_FAILED);
    CHECK_INT(hub_rig_counters(&r, "a").restarts, 1);
    CHECK(hub_rig_counters(&r, "a").permanent_error);
    hub_rig_done(&r);
}

TEST(a_connection_that_lasts_is_forgiven_what_was_before)
{
    struct hub_rig r;
    struct fake_server *f;

    hub_rig_init(&r);
    r.opts.health_ms = 0;
    hub_rig_start(&r);
    f = hub_rig_up(&r, "a", (struct rig_spec){ 0 });
    for (size_t i = 1; i <= 3; i++)
        break_and_return(&r, f, i);
    loop_advance(r.fakes.loop, HUB_STEADY_MS - 100);
    CHECK_INT(hub_rig_counters(&r, "a").restarts, 3);
    loop_advance(r.fakes.loop, 100);
    break_and_return(&r, f, 1);
    hub_rig_done(&r);
}

TEST(a_connection_that_is_lost_again_soon_goes_on_counting)
{
    struct hub_rig r;
    struct fake_server *f;

    hub_rig_init(&r);
    hub_rig_start(&r);
    f = hub_rig_up(&r, "a", (struct rig_spec){ .transport = SPEC_HTTP });
    for (unsigned i = 0; i < 5; i++) {
        fake_break(f, "gone");
        HUB_RIG_REACHES(&r, "a", LINK_RECONNECTING);
        CHECK_INT(hub_rig_counters(&r, "a").reconnects, i + 1);
        loop_advance(r.fakes.loop, UINT64_C(1000) << i);
        HUB_RIG_REACHES(&r, "a", LINK_CONNECTED);
        fakes_settle(&r.fakes);
        if (i == 2) { /* long enough to count as a success */
            loop_advance(r.fakes.loop, HUB_PROVEN_MS);
            fake_break(f, "gone");
            HUB_RIG_REACHES(&r, "a", LINK_RECONNECTING);
            CHECK_INT(hub_rig_counters(&r, "a").reconnects, 1);
            break;
        }
    }
    hub_rig_done(&r);
}

TEST(jitter_only_shortens_a_wait_and_by_half_at_most)
{
    int64_t least = INT64_MAX, most = 0;

    for (int i = 0; i < 30; i++) {
        struct hub_rig r;
        struct link_status st;
        int64_t ms;

        hub_rig_init(&r);
        r.opts.reconnect.jitter = true;
        hub_rig_start(&r);
        hub_rig_server(&r, "a")->connect_fails = 1;
        hub_rig_begin(&r, "a", (struct rig_spec){ 0 });
        HUB_RIG_REACHES(&r, "a", LINK_RECONNECTING);
        link_status(hub_link(r.hub, "a"), &st);
        ms = st.next_retry_at - loop_wall(r.fakes.loop);
        least = ms < least ? ms : least;
        most = ms > most ? ms : most;
        hub_rig_done(&r);
    }
    CHECK(least >= 500 && most <= 1000);
    CHECK(least != most);
}

/* S4-19 S4-233 */
TEST(thirty_seconds_for_connecting_and_not_one_more)
{
    struct hub_rig r;
    struct link_status st;

    hub_rig_init(&r);
    r.opts.connect_ms = 30000;
    r.opts.retry_initial = false;
    hub_rig_start(&r);
    hub_rig_server(&r, "a")->connect = FAKE_CONNECT_HANG;
    hub_rig_begin(&r, "a", (struct rig_spec){ 0 });
    hub_rig_pass(&r, 29999);
    CHECK_INT(hub_rig_state(&r, "a"), LINK_CONNECTING);
    hub_rig_pass(&r, 1);
    CHECK_INT(hub_rig_state(&r, "a"), LINK_ERROR);
    link_status(hub_link(r.hub, "a"), &st);
    CHECK_HAS(st.message, "no answer within 30s");
    hub_rig_done(&r);
}

static int refuse(void *ctx, struct client **out, struct pb_loop *loop, const struct spec *spec,
                  const char *caller, const struct client_events *events, void *events_ctx,
                  struct pb_error *err)
{
    (void)out, (void)loop, (void)spec, (void)caller, (void)events, (void)events_ctx;
    ++*(int *)ctx;
    return fail(err, PB_E_AUTH, "HTTP 401");
}

TEST(who_is_not_let_in_does_not_knock_again)
{
    struct hub_rig r;
    int knocks = 0;

    hub_rig_init(&r);
    r.opts.open = refuse;
    r.opts.open_ctx = &knocks;
    hub_rig_start(&r);
    hub_rig_begin(&r, "a", (struct rig_spec){ 0 });
    hub_rig_pass(&r, 100000);
    CHECK_INT(knocks, 1);
    CHECK_INT(hub_rig_state(&r, "a"), LINK_ERROR);
    hub_rig_done(&r);
}

/* ---- health ---- */

static size_t sent;

static int count_and_send(struct wire *wire, const struct wire_out *m, struct pb_error *err)
{
    sent++;
    return fake_wire_send(wire, m, err);
}

/* A server that has stopped to read: what is sent to it gets nowhere. */
static int send_nowhere(struct wire *wire, const struct wire_out *m, struct pb_error *err)
{
    (void)wire, (void)m, (void)err;
    return 0;
}

static void send_by(struct fake_server *f,
                    int (*send)(struct wire *, const struct wire_out *, struct pb_error *))
{
    static struct wire_ops ops;
    struct list *pos, *safe;

    LIST_FOREACH(pos, safe, &f->wires) {
        struct fake_wire *w = CONTAINER_OF(pos, struct fake_wire, link);

        ops = *w->wire.ops;
        ops.send = send;
        w->wire.ops = &ops;
    }
}

static void deafen(struct fake_server *f) { send_by(f, send_nowhere); }

/* S0-84 S4-129 S4-241 */
TEST(every_connected_server_is_pinged_at_each_interval_and_nothing_changes_when_it_answers)
{
    struct hub_rig r;
    struct fake_server *f;

    hub_rig_init(&r);
    hub_rig_start(&r);
    f = hub_rig_up(&r, "a", (struct rig_spec){ .transport = SPEC_HTTP });
    fakes_forget_events(&r.fakes);
    send_by(f, count_and_send);
    for (size_t i = 1; i <= 10; i++) {
        hub_rig_pass(&r, 30000);
        CHECK_INT(sent, i); /* one ping each, and nothing else */
    }
    CHECK_INT(hub_rig_state(&r, "a"), LINK_CONNECTED);
    CHECK_STR(fakes_states(&r.fakes, "a"), "");
    CHECK_INT(f->connects, 1);
    CHECK_INT(f->lists[LIST_TOOLS], 1);
    hub_rig_done(&r);
}

/* S0-84 S4-241 S4-131 */
TEST(a_ping_without_answer_is_a_loss)
{
    struct hub_rig r;
    struct fake_server *f;

    hub_rig_init(&r);
    hub_rig_start(&r);
    f = hub_rig_up(&r, "a", (struct rig_spec){ .transport = SPEC_HTTP });
    deafen(f);
    fakes_forget_events(&r.fakes);
    loop_advance(r.fakes.loop, 30000 + 9999);
    CHECK_INT(hub_rig_state(&r, "a"), LINK_CONNECTED);
    loop_advance(r.fakes.loop, 1);
    HUB_RIG_REACHES(&r, "a", LINK_RECONNECTING);
    CHECK(fakes_count(&r.fakes, EVENT_LOG, "a", "Health check failed") == 1);
    loop_advance(r.fakes.loop, 1000);
    HUB_RIG_REACHES(&r, "a", LINK_CONNECTED);
    CHECK_STR(fakes_states(&r.fakes, "a"),
              "connected>disconnected disconnected>reconnecting reconnecting>connecting "
              "connecting>connected");
    hub_rig_done(&r);
}

TEST(a_server_that_works_is_not_taken_for_dead)
{
    struct hub_rig r;
    struct fake_server *f;
    struct fake_reply a = { 0 }, b = { 0 };
    struct pb_error err;

    hub_rig_init(&r);
    hub_rig_start(&r);
    f = hub_rig_server(&r, "a");
    fake_tool(f, "hang", FAKE_HANG);
    hub_rig_begin(&r, "a", (struct rig_spec){ .timeout_ms = 120000 });
    HUB_RIG_REACHES(&r, "a", LINK_CONNECTED);
    CHECK_INT(hub_rig_call(&r, "a", "hang", &a, NULL, &err), 0);
    CHECK_INT(
        link_call(hub_link(r.hub, "a"),
                  &(struct call_spec){ .method = "tools/call",
                                       .params = SPAN("{\"name\":\"hang\"}"),
                                       .timeout_ms = 10000, /* and has to wait for the first */
                                       .reply = fake_on_reply,
                                       .ctx = &b },
                  NULL, &err),
        0);
    fakes_settle(&r.fakes);
    deafen(f);
    hub_rig_pass(&r, 100000);
    CHECK_INT(hub_rig_state(&r, "a"), LINK_CONNECTED);
    CHECK_INT(a.count, 0);
    CHECK_INT(b.count, 1);
    loop_advance(r.fakes.loop, 20000);
    FAKES_UNTIL(&r.fakes, a.count);
    CHECK_INT(fault_of(&a.err), FAULT_TIMEOUT);
    hub_rig_pass(&r, 60000);
    CHECK(hub_rig_state(&r, "a") != LINK_CONNECTED || f->connects > 1);
    fake_reply_done(&a);
    hub_rig_done(&r);
}

/* A call every ten seconds, and each has thirty: there is always one under way. */
static void keep_calling(struct hub_rig *r, struct fake_reply *a, size_t n)
{
    struct pb_error err;

    for (size_t i = 0; i < n; i++) {
        if (hub_rig_call(r, "a", "hang", &a[i], NULL, &err) < 0)
            a[i].count = 1;
        hub_rig_pass(r, 10000);
    }
}

TEST(a_server_that_hangs_is_found_out_though_it_is_always_called)
{
    struct hub_rig r;
    struct fake_server *f;
    struct fake_reply a[10] = { { 0 } };

    hub_rig_init(&r);
    hub_rig_start(&r);
    f = hub_rig_server(&r, "a");
    fake_tool(f, "hang", FAKE_HANG);
    hub_rig_begin(&r, "a", (struct rig_spec){ 0 });
    HUB_RIG_REACHES(&r, "a", LINK_CONNECTED);
    deafen(f);
    keep_calling(&r, a, ARRAY_LEN(a));
    CHECK_INT(fakes_count(&r.fakes, EVENT_LOG, "a", "Health check failed"), 1);
    CHECK_INT(f->connects, 2); /* and the new one answers pings while its calls hang */
    hub_rig_done(&r);
}

/* Calls run out of time, but something comes of it now and then: it is slow, not dead. */
TEST(a_server_that_says_something_is_not_taken_for_dead)
{
    struct hub_rig r;
    struct fake_server *f;
    struct fake_reply a[20] = { { 0 } };

    hub_rig_init(&r);
    hub_rig_start(&r);
    f = hub_rig_server(&r, "a");
    fake_tool(f, "hang", FAKE_HANG);
    hub_rig_begin(&r, "a", (struct rig_spec){ 0 });
    HUB_RIG_REACHES(&r, "a", LINK_CONNECTED);
    deafen(f);
    for (size_t i = 0; i < ARRAY_LEN(a); i++) {
        keep_calling(&r, &a[i], 1);
        fake_say_raw(f, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{"
                        "\"level\":\"info\",\"data\":\"x\"}}");
    }
    CHECK_INT(f->connects, 1);
    hub_rig_done(&r);
}

/* S0-63 */
TEST(health_checks_can_be_off)
{
    struct hub_rig r;
    struct fake_server *f;

    hub_rig_init(&r);
    r.opts.health_ms = 0;
    hub_rig_start(&r);
    f = hub_rig_up(&r, "a", (struct rig_spec){ 0 });
    deafen(f);
    hub_rig_pass(&r, 3600000);
    CHECK_INT(hub_rig_state(&r, "a"), LINK_CONNECTED);
    hub_rig_done(&r);
}

/* ---- rest ---- */

/* S1-112 S1-116 S1-118 */
TEST(a_lazy_server_that_nobody_uses_is_stopped_and_keeps_its_tools)
{
    struct hub_rig r;
    struct fake_server *f;

    hub_rig_init(&r);
    hub_rig_start(&r);
    f = hub_rig_server(&r, "a");
    hub_rig_begin(&r, "a", (struct rig_spec){ .lazy = true, .idle_ms = 100 });
    HUB_RIG_REACHES(&r, "a", LINK_CONNECTED); /* once, to learn what it has */
    fakes_settle(&r.fakes);
    CHECK_INT(hub_cleanup_idle(r.hub), 0);
    loop_advance(r.fakes.loop, 99);
    CHECK_INT(hub_cleanup_idle(r.hub), 0);
    loop_advance(r.fakes.loop, 1);
    HUB_RIG_REACHES(&r, "a", LINK_IDLE);
    fakes_settle(&r.fakes);
    CHECK_INT(f->closes, 1);
    CHECK_INT(hub_rig_tools(&r, "a"), 1);
    hub_rig_pass(&r, 1000000);
    CHECK_INT(f->connects, 1);
    hub_rig_done(&r);
}

/* S1-112 */
TEST(half_an_hour_is_the_time_unless_something_else_is_said_and_eager_servers_stay)
{
    struct hub_rig r;
    AUTO(spec) struct spec *plain = spec_stdio("x", "y", NULL, NULL);

    CHECK_INT(plain->idle_ms, 1800000);
    hub_rig_init(&r);
    hub_rig_start(&r);
    hub_rig_up(&r, "eager", (struct rig_spec){ 0 });
    hub_rig_server(&r, "lazy");
    hub_rig_add(&r, "lazy", (struct rig_spec){ .lazy = true });
    HUB_RIG_REACHES(&r, "lazy", LINK_CONNECTED);
    fakes_settle(&r.fakes);
    hub_rig_pass(&r, 1800000 - 1);
    CHECK_INT(hub_rig_state(&r, "lazy"), LINK_CONNECTED);
    loop_advance(r.fakes.loop, 1);
    CHECK_INT(hub_rig_state(&r, "lazy"), LINK_IDLE);
    CHECK_INT(hub_rig_state(&r, "eager"), LINK_CONNECTED);
    hub_rig_done(&r);
}

TEST(a_lazy_server_at_work_is_not_stopped)
{
    struct hub_rig r;
    struct fake_server *f;
    struct fake_reply a = { 0 };
    struct pb_error err;

    hub_rig_init(&r);
    hub_rig_start(&r);
    f = hub_rig_server(&r, "a");
    fake_tool(f, "slow", FAKE_DELAY)->ms = 5000;
    hub_rig_add(&r, "a", (struct rig_spec){ .lazy = true, .idle_ms = 1000 });
    HUB_RIG_REACHES(&r, "a", LINK_CONNECTED);
    CHECK_INT(hub_rig_call(&r, "a", "slow", &a, NULL, &err), 0);
    fakes_settle(&r.fakes);
    loop_advance(r.fakes.loop, 4999);
    CHECK_INT(hub_rig_state(&r, "a"), LINK_CONNECTED);
    loop_advance(r.fakes.loop, 1);
    FAKES_UNTIL(&r.fakes, a.count);
    CHECK(a.result != NULL);
    loop_advance(r.fakes.loop, 999);
    CHECK_INT(hub_rig_state(&r, "a"), LINK_CONNECTED);
    loop_advance(r.fakes.loop, 1001);
    CHECK_INT(hub_rig_state(&r, "a"), LINK_IDLE);

    hub_subscribe_resource(r.hub, "a", SPAN("test://x"), true);
    HUB_RIG_REACHES(&r, "a", LINK_CONNECTED); /* changes are told by a server that runs */
    loop_advance(r.fakes.loop, 5000);
    CHECK_INT(hub_rig_state(&r, "a"), LINK_CONNECTED);
    hub_subscribe_resource(r.hub, "a", SPAN("test://x"), false);
    loop_advance(r.fakes.loop, 2000);
    CHECK_INT(hub_rig_state(&r, "a"), LINK_IDLE);
    fake_reply_done(&a);
    hub_rig_done(&r);
}
