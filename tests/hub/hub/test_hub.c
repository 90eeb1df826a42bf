#include "hub/hub/hub.h"
#include "hub/hub_rig.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"

/* S0-59 S0-60 S0-61 S0-62 S0-63 */
TEST(the_defaults_are_30_10_120_and_30_seconds_and_five_doubled_waits)
{
    struct hub_options o = HUB_OPTIONS_INIT;

    CHECK_INT(o.call_ms, 30000);
    CHECK_INT(o.connect_ms, 10000);
    CHECK_INT(o.oauth_ms, 120000);
    CHECK_INT(o.health_ms, 30000);
    CHECK_INT(o.reconnect.kind, RETRY_BACKOFF);
    CHECK_INT(o.reconnect.max, 5);
    CHECK_INT(o.reconnect.base_ms, 1000);
    CHECK(!o.reconnect.jitter);
    CHECK_INT(o.restart_max, 3);
    CHECK(o.retry_initial);
}

/* S0-66 S0-166 S0-65 */
TEST(starting_all_makes_a_link_for_every_spec_and_waits_for_none)
{
    struct hub_rig r;
    struct spec *specs[3];
    static const char *const names[] = { "alpha", "beta", "gamma" };

    hub_rig_init(&r);
    hub_rig_start(&r);
    for (size_t i = 0; i < 3; i++) {
        hub_rig_server(&r, names[i])->connect = FAKE_CONNECT_HANG;
        specs[i] = rig_spec(names[i], &(struct rig_spec){ 0 });
    }
    hub_start_all(r.hub, specs, 3);
    CHECK_INT(hub_count(r.hub), 3);
    for (size_t i = 0; i < 3; i++) {
        CHECK_STR(link_name(hub_link(r.hub, names[i])), names[i]);
        CHECK_INT(hub_rig_state(&r, names[i]), LINK_CONNECTING);
        CHECK_INT(fakes_find(&r.fakes, names[i])->connects, 1);
        spec_unref(specs[i]);
    }
    CHECK(!hub_link(r.hub, "delta"));
    hub_rig_done(&r);
}

struct told {
    int count;
    char connected[256], failed[1024];
    bool all;
};

static void on_settled(void *ctx, const struct start_result *s)
{
    struct told *t = ctx;
    size_t n = 0;

    t->count++;
    t->all = s->all_succeeded;
    t->connected[0] = t->failed[0] = '\0';
    for (size_t i = 0; s->connected[i]; i++)
        n += (size_t)snprintf(t->connected + n, sizeof t->connected - n, "%s ", s->connected[i]);
    n = 0;
    for (size_t i = 0; s->failed[i]; i++)
        n += (size_t)snprintf(t->failed + n, sizeof t->failed - n, "%s: %s; ", s->failed[i],
                              s->messages[i]);
}

/* S0-67 S0-68 S0-167 */
TEST(who_waits_for_all_waits_for_the_slowest)
{
    struct hub_rig r;
    struct told told = { 0 };
    struct fake_server *slow;

    hub_rig_init(&r);
    hub_rig_start(&r);
    hub_rig_server(&r, "fast");
    slow = hub_rig_server(&r, "slow");
    slow->connect = FAKE_CONNECT_DELAY;
    slow->connect_ms = 100;
    hub_rig_begin(&r, "fast", (struct rig_spec){ 0 });
    hub_rig_begin(&r, "slow", (struct rig_spec){ 0 });
    hub_when_settled(r.hub, on_settled, &told);
    CHECK_INT(told.count, 0);
    loop_advance(r.fakes.loop, 80);
    fakes_settle(&r.fakes);
    CHECK_INT(hub_rig_state(&r, "fast"), LINK_CONNECTED);
    CHECK_INT(told.count, 0);
    loop_advance(r.fakes.loop, 20);
    FAKES_UNTIL(&r.fakes, told.count);
    CHECK_STR(told.connected, "fast slow ");
    CHECK(told.all);
    fakes_settle(&r.fakes);
    CHECK_INT(told.count, 1);
    hub_rig_done(&r);
}

/* S0-68 S0-7 */
TEST(one_that_fails_is_told_with_its_reason_and_harms_no_other)
{
    struct hub_rig r;
    struct told told = { 0 };
    struct fake_reply a = { 0 };
    struct fake_server *bad;
    struct pb_error err;

    hub_rig_init(&r);
    r.opts.retry_initial = false;
    hub_rig_start(&r);
    hub_rig_server(&r, "good");
    bad = hub_rig_server(&r, "bad");
    bad->connect = FAKE_CONNECT_FAIL;
    bad->connect_text = "Connection refused";
    hub_rig_begin(&r, "bad", (struct rig_spec){ 0 });
    hub_rig_begin(&r, "good", (struct rig_spec){ 0 });
    hub_rig_server(&r, "lazy");
    hub_rig_add(&r, "lazy", (struct rig_spec){ .disabled = true });
    hub_when_settled(r.hub, on_settled, &told);
    FAKES_UNTIL(&r.fakes, told.count);
    CHECK_STR(told.connected, "good ");
    CHECK_HAS(told.failed, "bad: ");
    CHECK_HAS(told.failed, "Connection refused");
    CHECK(!told.all);
    CHECK_INT(hub_rig_call(&r, "good", "echo", &a, NULL, &err), 0);
    FAKES_UNTIL(&r.fakes, a.count);
    CHECK_HAS(a.result, "\\\"n\\\":1");
    fake_reply_done(&a);
    hub_rig_done(&r);
}

/* S0-69 S4-82 S4-127 */
TEST(a_name_that_nobody_has_is_an_error_everywhere)
{
    struct hub_rig r;
    struct pb_error err;
    int (*const fns[])(struct hub *, const char *, struct pb_error *) = {
        hub_connect, hub_disconnect, hub_reconnect, hub_restart, hub_cancel_connect, hub_remove,
    };

    hub_rig_init(&r);
    hub_rig_start(&r);
    for (size_t i = 0; i < ARRAY_LEN(fns); i++) {
        CHECK_INT(fns[i](r.hub, "nosuch", &err), -PB_E_NOT_FOUND);
        CHECK_INT(fault_of(&err), FAULT_NO_SERVER);
        CHECK_STR(err.msg, "there is no server 'nosuch'");
    }
    CHECK_INT(hub_enable(r.hub, "nosuch", true, &err), -PB_E_NOT_FOUND);
    CHECK_INT(hub_when_connected(r.hub, "nosuch", NULL, NULL, &err), -PB_E_NOT_FOUND);
    hub_rig_done(&r);
}

/* S0-69 */
TEST(connect_ends_an_attempt_that_runs_and_begins_another)
{
    struct hub_rig r;
    struct fake_server *f;
    struct pb_error err;

    hub_rig_init(&r);
    hub_rig_start(&r);
    f = hub_rig_server(&r, "a");
    f->connect = FAKE_CONNECT_HANG;
    hub_rig_begin(&r, "a", (struct rig_spec){ 0 });
    fakes_settle(&r.fakes);
    CHECK_INT(f->connects, 1);
    f->connect = FAKE_CONNECT_OK;
    CHECK_INT(hub_connect(r.hub, "a", &err), 0);
    HUB_RIG_REACHES(&r, "a", LINK_CONNECTED);
    CHECK_INT(f->connects, 2);
    CHECK_STR(fakes_states(&r.fakes, "a"),
              "idle>connecting connecting>idle idle>connecting connecting>connected");
    CHECK_INT(hub_connect(r.hub, "a", &err), 0);
    fakes_settle(&r.fakes);
    CHECK_INT(f->connects, 2);
    hub_rig_done(&r);
}

/* S0-70 S4-238 */
TEST(reconnect_cuts_a_wait_short_and_leaves_a_connected_server_alone)
{
    struct hub_rig r;
    struct fake_server *f;
    struct pb_error err;

    hub_rig_init(&r);
    hub_rig_start(&r);
    f = hub_rig_server(&r, "a");
    f->connect_fails = 1;
    hub_rig_begin(&r, "a", (struct rig_spec){ 0 });
    HUB_RIG_REACHES(&r, "a", LINK_RECONNECTING);
    CHECK_INT(hub_reconnect(r.hub, "a", &err), 0);
    HUB_RIG_REACHES(&r, "a", LINK_CONNECTED);
    CHECK_INT(f->connects, 2);
    CHECK_INT(hub_reconnect(r.hub, "a", &err), 0);
    fakes_settle(&r.fakes);
    CHECK_INT(f->connects, 2);
    CHECK_INT(hub_rig_state(&r, "a"), LINK_CONNECTED);
    CHECK_INT(hub_rig_tools(&r, "a"), 1);
    hub_rig_done(&r);
}

/* S0-70 */
TEST(reconnect_ends_an_attempt_that_we_made_by_ourselves)
{
    struct hub_rig r;
    struct fake_server *f;
    struct pb_error err;

    hub_rig_init(&r);
    hub_rig_start(&r);
    f = hub_rig_up(&r, "a", (struct rig_spec){ .transport = SPEC_HTTP });
    f->connect = FAKE_CONNECT_HANG;
    fake_break(f, "gone");
    HUB_RIG_REACHES(&r, "a", LINK_RECONNECTING);
    loop_advance(r.fakes.loop, 1000);
    CHECK_INT(hub_rig_state(&r, "a"), LINK_CONNECTING);
    f->connect = FAKE_CONNECT_OK;
    CHECK_INT(hub_reconnect(r.hub, "a", &err), 0);
    HUB_RIG_REACHES(&r, "a", LINK_CONNECTED);
    CHECK_INT(f->connects, 3);
    hub_rig_done(&r);
}

/* S0-71 S0-72 */
TEST(disconnect_and_cancel_end_an_attempt_each_in_its_own_state)
{
    static const struct {
        int (*end)(struct hub *, const char *, struct pb_error *);
        bool waits; /* between two attempts */
        enum link_state want;
    } cases[] = {
        { hub_disconnect, false, LINK_DISCONNECTED },
        { hub_cancel_connect, false, LINK_IDLE },
        { hub_disconnect, true, LINK_DISCONNECTED },
        { hub_cancel_connect, true, LINK_IDLE },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct hub_rig r;
        struct fake_server *f;
        struct pb_error err;
        size_t connects;

        hub_rig_init(&r);
        hub_rig_start(&r);
        f = hub_rig_server(&r, "a");
        f->connect = cases[i].waits ? FAKE_CONNECT_FAIL : FAKE_CONNECT_HANG;
        f->connect_text = "no";
        hub_rig_begin(&r, "a", (struct rig_spec){ 0 });
        HUB_RIG_REACHES(&r, "a", cases[i].waits ? LINK_RECONNECTING : LINK_CONNECTING);
        connects = f->connects;
        CHECK_INT(cases[i].end(r.hub, "a", &err), 0);
        CHECK_INT(hub_rig_state(&r, "a"), cases[i].want);
        hub_rig_pass(&r, 100000);
        CHECK_INT(hub_rig_state(&r, "a"), cases[i].want);
        CHECK_INT(f->connects, connects);
        hub_rig_done(&r);
    }
}

/* S0-73 S4-237 */
TEST(stopping_all_disconnects_every_server_and_asks_none_after_its_health)
{
    struct hub_rig r;
    struct fake_server *a, *b;
    struct pb_error err;

    hub_rig_init(&r);
    hub_rig_start(&r);
    a = hub_rig_up(&r, "a", (struct rig_spec){ 0 });
    b = hub_rig_server(&r, "b");
    b->connect = FAKE_CONNECT_HANG;
    hub_rig_begin(&r, "b", (struct rig_spec){ 0 });
    fakes_disconnect(&r.fakes, r.hub);
    CHECK_INT(hub_rig_state(&r, "a"), LINK_DISCONNECTED);
    CHECK_INT(hub_rig_state(&r, "b"), LINK_DISCONNECTED);
    hub_rig_pass(&r, 1000000);
    CHECK_INT(a->connects, 1);
    CHECK_INT(b->connects, 1);
    CHECK_INT(a->closes, 1);
    CHECK_INT(hub_disconnect(r.hub, "a", &err), 0);
    CHECK_INT(hub_rig_state(&r, "a"), LINK_DISCONNECTED);
    hub_rig_done(&r);
}

/* S0-77 S4-37 S4-38 */
TEST(the_snapshot_has_every_server_with_its_state_and_the_tools_of_connected_ones)
{
    struct hub_rig r;
    AUTO_BUF struct buf b = { 0 };
    struct json_out o = json_out(&b);
    struct fake_tool *t;
    struct pb_error err;

    hub_rig_init(&r);
    hub_rig_start(&r);
    t = fake_tool(hub_rig_up(&r, "a", (struct rig_spec){ 0 }), "find", FAKE_TEXT);
    t->description = "Finds things";
    t->schema = "{\"type\":\"object\",\"properties\":{\"q\":{\"type\":\"string\"}}}";
    CHECK_INT(hub_restart(r.hub, "a", &err), 0);
    HUB_RIG_REACHES(&r, "a", LINK_CONNECTED);
    hub_rig_up(&r, "b", (struct rig_spec){ .transport = SPEC_SSE });
    CHECK_INT(hub_disconnect(r.hub, "b", &err), 0);
    json_begin_object(&o, NULL);
    hub_write_servers(&o, "servers", r.hub);
    hub_write_tools(&o, "tools", r.hub, "a");
    hub_write_tools(&o, "none", r.hub, "b");
    json_end(&o);
    CHECK_HAS(buf_cstr(&b), "{\"servers\":{\"a\":{\"status\":\"connected\",\"transport\":\"stdio\","
                            "\"tools\":[\"a/echo\",\"a/find\"],\"connected_at\":");
    CHECK_HAS(buf_cstr(&b),
              "\"b\":{\"status\":\"disconnected\",\"transport\":\"sse\",\"tools\":[]}");
    CHECK_HAS(buf_cstr(&b),
              "{\"name\":\"a/find\",\"server\":\"a\",\"original_name\":\"find\",\"description\":"
              "\"Finds things\",\"input_schema\":{\"type\":\"object\",\"properties\":{\"q\":{"
              "\"type\":\"string\"}}}}");
    CHECK_HAS(buf_cstr(&b), "\"none\":[]");
    hub_rig_done(&r);
}

/* S0-78 */
TEST(what_happens_on_a_link_is_told_to_every_listener_until_it_leaves)
{
    struct hub_rig r;
    struct fakes second;
    struct hub_listener l = { .event = fake_on_event, .ctx = &second };
    struct hub_subscription *s;
    struct fake_reply a = { 0 };
    struct pb_error err;
    size_t before;
    uint64_t id;

    hub_rig_init(&r);
    fakes_init(&second);
    hub_rig_start(&r);
    s = hub_listen(r.hub, &l);
    fake_tool(hub_rig_up(&r, "a", (struct rig_spec){ 0 }), "hang", FAKE_HANG);
    CHECK_INT(hub_rig_call(&r, "a", "echo", &a, NULL, &err), 0);
    FAKES_UNTIL(&r.fakes, a.count == 1);
    CHECK_INT(hub_rig_call(&r, "a", "hang", &a, &id, &err), 0);
    CHECK(hub_cancel(r.hub, id, CALL_BY_USER));
    FAKES_UNTIL(&r.fakes, a.count == 2);
    CHECK_INT(fault_of(&a.err), FAULT_CANCELLED);
    for (const struct fakes *f = &r.fakes; f; f = f == &r.fakes ? &second : NULL) {
        CHECK_INT(f->events[0].kind, EVENT_SERVER_ADDED);
        CHECK_STR(fakes_states(f, "a"), "idle>connecting connecting>connected");
        CHECK(fakes_count(f, EVENT_LOG, "a", "State: idle") > 0);
        CHECK_INT(fakes_count(f, EVENT_CALL_STARTED, "a", NULL), 2);
        CHECK_INT(fakes_count(f, EVENT_CALL_COMPLETED, "a", "echo"), 1);
        CHECK_INT(fakes_count(f, EVENT_CALL_CANCELLED, "a", "userRequested"), 1);
    }
    hub_unlisten(s);
    before = second.n_events;
    CHECK_INT(hub_remove(r.hub, "a", &err), 0);
    CHECK_INT(fakes_count(&r.fakes, EVENT_SERVER_REMOVED, "a", NULL), 1);
    CHECK_INT(second.n_events, before);
    fake_reply_done(&a);
    hub_rig_done(&r);
    fakes_done(&second);
}

struct leaver {
    struct hub_subscription *self, *other;
    int told;
};

static void leave_all(void *ctx, const struct hub_event *e)
{
    struct leaver *l = ctx;

    (void)e;
    l->told++;
    if (l->other)
        hub_unlisten(TAKE(l->other));
    if (l->self)
        hub_unlisten(TAKE(l->self));
}

static void count_event(void *ctx, const struct hub_event *e)
{
    (void)e;
    ++*(int *)ctx;
}

TEST(a_listener_may_leave_and_take_another_along_while_it_is_told)
{
    struct hub_rig r;
    struct leaver l = { 0 };
    int other = 0, last = 0;

    hub_rig_init(&r);
    hub_rig_start(&r);
    l.self = hub_listen(r.hub, &(struct hub_listener){ .event = leave_all, .ctx = &l });
    l.other = hub_listen(r.hub, &(struct hub_listener){ .event = count_event, .ctx = &other });
    hub_listen(r.hub, &(struct hub_listener){ .event = count_event, .ctx = &last });
    hub_rig_up(&r, "a", (struct rig_spec){ 0 });
    CHECK_INT(l.told, 1);
    CHECK_INT(other, 0);
    CHECK(last > 2);
    hub_rig_done(&r);
}

/* S4-16 S4-17 S4-12 */
TEST(disconnect_takes_the_tools_away_and_keeps_the_config_for_reconnect)
{
    struct hub_rig r;
    struct fake_server *f;
    struct fake_reply a = { 0 };
    struct pb_error err;

    hub_rig_init(&r);
    hub_rig_start(&r);
    f = hub_rig_up(&r, "a", (struct rig_spec){ .arg = "kept" });
    CHECK_STR(r.changes, "tools@a ");
    CHECK_INT(hub_disconnect(r.hub, "a", &err), 0);
    CHECK_INT(hub_rig_state(&r, "a"), LINK_DISCONNECTED);
    CHECK_INT(hub_rig_tools(&r, "a"), 0);
    fakes_settle(&r.fakes);
    CHECK_INT(f->closes, 1);
    CHECK_HAS(r.changes + strlen("tools@a "), "tools@a ");
    CHECK_STR(link_spec(hub_link(r.hub, "a"))->args[0], "kept");
    CHECK_INT(hub_rig_call(&r, "a", "echo", &a, NULL, &err), -PB_E_CLOSED);
    CHECK_INT(fault_of(&err), FAULT_NOT_CONNECTED);
    CHECK_STR(err.msg, "server 'a' is not connected (disconnected)");
    fake_tool(f, "more", FAKE_TEXT);
    CHECK_INT(hub_reconnect(r.hub, "a", &err), 0);
    HUB_RIG_REACHES(&r, "a", LINK_CONNECTED);
    CHECK_INT(hub_rig_tools(&r, "a"), 2);
    hub_rig_done(&r);
}

/* S4-76 S4-14 */
TEST(a_name_is_taken_once_and_must_be_a_good_one)
{
    struct hub_rig r;
    struct pb_error err;
    AUTO(spec) struct spec *good = spec_stdio("fs", "x", NULL, NULL);
    AUTO(spec) struct spec *bad = spec_stdio("a/b", "x", NULL, NULL);

    hub_rig_init(&r);
    hub_rig_start(&r);
    hub_rig_server(&r, "fs");
    CHECK_INT(hub_add(r.hub, good, &err), 0);
    CHECK_INT(hub_add(r.hub, good, &err), -PB_E_INVALID);
    CHECK_INT(fault_of(&err), FAULT_DUPLICATE);
    CHECK_STR(fault_name(&err), "duplicate_name");
    CHECK_INT(hub_add(r.hub, bad, &err), -PB_E_INVALID);
    CHECK_INT(fault_of(&err), FAULT_NAME);
    CHECK_INT(hub_count(r.hub), 1);
    hub_rig_done(&r);
}

/* S1-60 S1-67 S1-68 S1-69 S1-62 S1-92 */
TEST(only_enabled_servers_start_and_disabling_one_stops_it)
{
    struct hub_rig r;
    struct fake_server *f[3];
    struct fake_reply a = { 0 };
    struct told told = { 0 };
    struct pb_error err;

    hub_rig_init(&r);
    hub_rig_start(&r);
    f[0] = hub_rig_server(&r, "a");
    f[1] = hub_rig_server(&r, "b");
    f[2] = hub_rig_server(&r, "c");
    hub_rig_begin(&r, "a", (struct rig_spec){ 0 });
    hub_rig_begin(&r, "b", (struct rig_spec){ .disabled = true });
    hub_rig_begin(&r, "c", (struct rig_spec){ 0 });
    hub_when_settled(r.hub, on_settled, &told);
    FAKES_UNTIL(&r.fakes, told.count);
    CHECK_STR(told.connected, "a c ");
    CHECK_INT(f[1]->connects, 0);
    CHECK_INT(hub_rig_state(&r, "b"), LINK_DISABLED);
    CHECK_INT(hub_connect(r.hub, "b", &err), -PB_E_CLOSED);
    CHECK_INT(fault_of(&err), FAULT_DISABLED);
    CHECK_INT(hub_rig_call(&r, "b", "echo", &a, NULL, &err), -PB_E_CLOSED);
    CHECK_INT(fault_of(&err), FAULT_DISABLED);

    CHECK_INT(hub_enable(r.hub, "a", false, &err), 0);
    CHECK_INT(hub_rig_state(&r, "a"), LINK_DISABLED);
    CHECK_INT(hub_rig_tools(&r, "a"), 0);
    fakes_settle(&r.fakes);
    CHECK_INT(f[0]->closes, 1);
    CHECK_INT(hub_enable(r.hub, "b", true, &err), 0);
    HUB_RIG_REACHES(&r, "b", LINK_CONNECTED);
    fakes_disconnect(&r.fakes, r.hub);
    told.count = 0;
    hub_when_settled(r.hub, on_settled, &told);
    FAKES_UNTIL(&r.fakes, told.count);
    CHECK_STR(told.connected, "");
    hub_rig_done(&r);
}

/* S1-51 S1-61 */
TEST(what_is_known_of_a_running_server_is_when_it_came_was_used_and_restarted)
{
    struct hub_rig r;
    struct link_facts facts;
    struct fake_reply a = { 0 };
    struct pb_error err;

    hub_rig_init(&r);
    r.fakes.clock.wall = 5000;
    hub_rig_start(&r);
    hub_rig_up(&r, "a", (struct rig_spec){ .arg = "x" });
    link_facts(hub_link(r.hub, "a"), &facts);
    CHECK_INT(facts.connected_at, 5000);
    loop_advance(r.fakes.loop, 700);
    CHECK_INT(hub_rig_call(&r, "a", "echo", &a, NULL, &err), 0);
    FAKES_UNTIL(&r.fakes, a.count);
    link_facts(hub_link(r.hub, "a"), &facts);
    CHECK_INT(facts.last_used_at, 5700);
    CHECK_INT(facts.calls, 1);
    CHECK_STR(link_spec(hub_link(r.hub, "a"))->args[0], "x");
    CHECK_INT(hub_rig_counters(&r, "a").restarts, 0);
    fake_reply_done(&a);
    hub_rig_done(&r);
}

/* S1-93 */
TEST(the_catalog_holds_the_tools_of_all_servers_together)
{
    struct hub_rig r;

    hub_rig_init(&r);
    hub_rig_start(&r);
    fake_tool(hub_rig_server(&r, "a"), "read", FAKE_TEXT);
    fake_tool(hub_rig_server(&r, "b"), "read", FAKE_TEXT);
    hub_rig_begin(&r, "a", (struct rig_spec){ 0 });
    hub_rig_begin(&r, "b", (struct rig_spec){ 0 });
    HUB_RIG_REACHES(&r, "a", LINK_CONNECTED);
    HUB_RIG_REACHES(&r, "b", LINK_CONNECTED);
    CHECK_INT(hub_rig_tools(&r, NULL), 4);
    CHECK_INT(hub_rig_tools(&r, "a"), 2);
    hub_rig_done(&r);
}

/* S0-177 */
TEST(fifty_quick_starts_and_stops_end_well)
{
    struct hub_rig r;

    hub_rig_init(&r);
    hub_rig_server(&r, "a");
    hub_rig_server(&r, "b");
    for (int i = 0; i < 50; i++) {
        hub_rig_start(&r);
        hub_rig_begin(&r, "a", (struct rig_spec){ 0 });
        hub_rig_begin(&r, "b", (struct rig_spec){ .transport = SPEC_HTTP });
        loop_advance(r.fakes.loop, (uint64_t)(i % 5));
        if (i % 3 == 1)
            fakes_disconnect(&r.fakes, r.hub);
        loop_advance(r.fakes.loop, 2);
        hub_rig_stop(&r);
    }
    fakes_done(&r.fakes);
}

static void count_fn(void *ctx) { ((struct told *)ctx)->count++; }

TEST(closing_twice_tells_both_and_ends_calls_as_shutdown)
{
    struct hub_rig r;
    struct fake_reply a = { 0 };
    struct pb_error err;
    struct told closed = { 0 };

    hub_rig_init(&r);
    hub_rig_start(&r);
    fake_tool(hub_rig_up(&r, "a", (struct rig_spec){ 0 }), "hang", FAKE_HANG);
    CHECK_INT(hub_rig_call(&r, "a", "hang", &a, NULL, &err), 0);
    fakes_settle(&r.fakes);
    hub_close(r.hub, count_fn, &closed);
    hub_close(r.hub, count_fn, &closed);
    CHECK_INT(a.count, 1);
    CHECK_INT(fault_of(&a.err), FAULT_CANCELLED);
    CHECK_INT(fakes_count(&r.fakes, EVENT_CALL_CANCELLED, "a", "appShutdown"), 1);
    FAKES_UNTIL(&r.fakes, closed.count == 2);
    fakes_done(&r.fakes);
}

struct waited {
    int count;
    struct pb_error err;
    bool ok;
};

static void on_waited(void *ctx, const struct pb_error *err)
{
    struct waited *w = ctx;

    w->count++;
    w->ok = !err;
    if (err)
        w->err = *err;
}

TEST(who_waits_for_one_server_is_told_how_its_attempt_ended)
{
    struct hub_rig r;
    struct waited w = { 0 };
    struct fake_server *f;
    struct pb_error err;

    hub_rig_init(&r);
    hub_rig_start(&r);
    f = hub_rig_server(&r, "a");
    f->connect_fails = 1;
    f->connect_text = "not yet";
    hub_rig_begin(&r, "a", (struct rig_spec){ 0 });
    CHECK_INT(hub_when_connected(r.hub, "a", on_waited, &w, &err), 0);
    CHECK_INT(w.count, 0);
    FAKES_UNTIL(&r.fakes, w.count == 1);
    CHECK_INT(fault_of(&w.err), FAULT_CONNECT);
    CHECK_HAS(w.err.msg, "not yet");
    /* Between two attempts there is nothing to wait for. */
    CHECK_INT(hub_when_connected(r.hub, "a", on_waited, &w, &err), 0);
    FAKES_UNTIL(&r.fakes, w.count == 2);
    CHECK(!w.ok);
    loop_advance(r.fakes.loop, 1000);
    CHECK_INT(hub_when_connected(r.hub, "a", on_waited, &w, &err), 0);
    FAKES_UNTIL(&r.fakes, w.count == 3);
    CHECK(w.ok);
    CHECK_INT(hub_disconnect(r.hub, "a", &err), 0);
    CHECK_INT(hub_when_connected(r.hub, "a", on_waited, &w, &err), 0);
    FAKES_UNTIL(&r.fakes, w.count == 4);
    CHECK_INT(fault_of(&w.err), FAULT_NOT_CONNECTED);
    f->connect = FAKE_CONNECT_HANG;
    CHECK_INT(hub_connect(r.hub, "a", &err), 0);
    CHECK_INT(hub_when_connected(r.hub, "a", on_waited, &w, &err), 0);
    CHECK_INT(hub_remove(r.hub, "a", &err), 0);
    CHECK_INT(w.count, 5);
    CHECK_INT(fault_of(&w.err), FAULT_NO_SERVER);
    hub_rig_done(&r);
}
