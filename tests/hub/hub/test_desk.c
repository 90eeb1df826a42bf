/* The desk: what is passed on to the hub, and what comes of what the hub tells. */
#include "fake_hub.h"
#include "hub/hub/hub.h"
#include "hub/hub_rig.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"
#include "hub/view/view.h"
#include "mcp/serve/serve.h"

struct desk_rig {
    struct fake_hub hub;
    struct desk *desk;
    size_t changes;
};

static void on_change(void *ctx, const struct hub_event *e)
{
    struct desk_rig *r = ctx;

    (void)e;
    r->changes++;
}

/* With the servers "alpha" and "beta", started. */
static void begin(struct desk_rig *r)
{
    struct desk_hub hub;
    struct spec *specs[2] = { fixture_spec("alpha"), fixture_spec("beta") };

    *r = (struct desk_rig){ 0 };
    hub = fake_hub_init(&r->hub);
    r->hub.tools = FIXTURE_TOOLS;
    r->desk = desk_new(&hub);
    desk_on_change(r->desk, on_change, r);
    desk_set_specs(r->desk, specs, 2);
    spec_unref(specs[0]);
    spec_unref(specs[1]);
    desk_start_all(r->desk, NULL, NULL);
    CHECK_STR(r->hub.log, "start alpha\nstart beta\n");
    r->hub.log[0] = '\0';
}

static void end(struct desk_rig *r)
{
    desk_close(r->desk, NULL, NULL);
    fake_hub_done(&r->hub);
}

/* Everything that is seen, as text; the caller frees it. */
static char *picture(struct desk *d)
{
    struct buf b = { 0 };
    struct json_out o = json_out(&b);

    view_write(&o, NULL, desk_view(d));
    return buf_take(&b);
}

/* S0-14 S0-92 */
TEST(actions_are_passed_on_and_change_nothing_that_is_seen)
{
    struct desk_rig r;
    AUTO_FREE char *before = NULL;

    begin(&r);
    fake_hub_force(&r.hub, "alpha", (struct link_status){ .state = LINK_CONNECTED, .tools = 1 });
    before = picture(r.desk);
    for (int i = 0; i < 5; i++) {
        AUTO_FREE char *after = NULL;
        const char *want[] = { "reconnect alpha\n", "cancel_connect beta\n", "disconnect alpha\n",
                               "stop_all\n", "cancel_call 1234\n" };

        r.changes = 0;
        r.hub.log[0] = '\0';
        if (i == 0)
            CHECK_INT(desk_reconnect(r.desk, "alpha", NULL), 0);
        else if (i == 1)
            CHECK_INT(desk_cancel_connect(r.desk, "beta", NULL), 0);
        else if (i == 2)
            CHECK_INT(desk_disconnect(r.desk, "alpha", NULL), 0);
        else if (i == 3)
            desk_stop_all(r.desk);
        else
            CHECK(desk_cancel_call(r.desk, "1234"));
        after = picture(r.desk);
        CHECK_STR(r.hub.log, want[i]);
        CHECK_STR(after, before);
        CHECK_INT(r.changes, 0);
    }
    /* What the hub tells does change it. */
    fake_hub_force(&r.hub, "alpha", (struct link_status){ .state = LINK_DISCONNECTED });
    CHECK_INT(r.changes, 1);
    CHECK_INT(view_server(desk_view(r.desk), "alpha")->status.state, LINK_DISCONNECTED);
    end(&r);
}

TEST(a_refusal_of_the_hub_reaches_the_person)
{
    struct desk_rig r;
    struct pb_error err;

    begin(&r);
    fault_fail(&r.hub.error, FAULT_NO_SERVER, "there is no server 'gamma'");
    CHECK_INT(desk_reconnect(r.desk, "gamma", &err), -PB_E_NOT_FOUND);
    CHECK_STR(err.msg, "there is no server 'gamma'");
    CHECK_INT(fault_of(&err), FAULT_NO_SERVER);
    end(&r);
}

/* S0-93 */
TEST(reconnecting_failed_ones_asks_for_each_that_is_seen_as_failed)
{
    struct desk_rig r;

    begin(&r);
    CHECK_INT(desk_reconnect_failed(r.desk), 0);
    CHECK_STR(r.hub.log, "");
    fake_hub_force(&r.hub, "alpha", (struct link_status){ .state = LINK_CONNECTED });
    fake_hub_force(&r.hub, "beta", (struct link_status){ .state = LINK_FAILED, .message = "no" });
    CHECK_INT(desk_reconnect_failed(r.desk), 1);
    CHECK_STR(r.hub.log, "reconnect beta\n");
    r.hub.log[0] = '\0';
    fake_hub_force(&r.hub, "alpha", (struct link_status){ .state = LINK_ERROR, .message = "no" });
    CHECK_INT(desk_reconnect_failed(r.desk), 2);
    CHECK_STR(r.hub.log, "reconnect alpha\nreconnect beta\n");
    end(&r);
}

/* S0-90 */
TEST(a_desk_listens_from_its_beginning_to_its_end)
{
    struct fake_hub f;
    struct desk_hub hub = fake_hub_init(&f);
    struct desk *d;

    CHECK(!f.fn);
    d = desk_new(&hub);
    CHECK(f.fn != NULL);
    desk_close(d, NULL, NULL);
    CHECK(!f.fn);
    fake_hub_done(&f);
}

struct ending {
    bool over;
};

static void on_end(void *ctx) { ((struct ending *)ctx)->over = true; }

/* S0-90 */
TEST(a_desk_has_a_hub_of_its_own_or_shares_one)
{
    struct hub_rig r;
    struct desk_hub shared;
    struct desk *own, *other;
    struct spec *s;
    struct ending ending = { 0 };

    hub_rig_init(&r);
    hub_rig_start(&r);
    fake_tool(fakes_add(&r.fakes, "mine"), "echo", FAKE_ECHO);
    hub_rig_up(&r, "theirs", (struct rig_spec){ 0 });

    own = desk_open(&r.opts);
    s = fixture_spec("mine");
    desk_set_specs(own, &s, 1);
    spec_unref(s);
    desk_start_all(own, NULL, NULL);
    fakes_settle(&r.fakes);
    CHECK_INT(view_connected_count(desk_view(own)), 1);
    CHECK(!hub_link(r.hub, "mine")); /* it is not in the other hub */

    shared = desk_hub_of(r.hub);
    other = desk_new(&shared); /* comes late, and sees what is there */
    CHECK_INT(view_total_count(desk_view(other)), 1);
    CHECK_INT(view_connected_count(desk_view(other)), 1);
    CHECK_INT(view_server(desk_view(other), "theirs")->tool_count, 1);

    desk_close(other, NULL, NULL);
    CHECK_INT(hub_rig_state(&r, "theirs"), LINK_CONNECTED); /* it was not its own */
    CHECK_INT(fakes_find(&r.fakes, "mine")->closes, 0);
    desk_close(own, on_end, &ending);
    FAKES_UNTIL(&r.fakes, ending.over);
    CHECK_INT(fakes_find(&r.fakes, "mine")->closes, 1);
    hub_rig_done(&r);
}

static void on_started(void *ctx, const struct start_result *r)
{
    struct buf *out = ctx;

    for (size_t i = 0; r->connected[i]; i++)
        buf_printf(out, "%s ", r->connected[i]);
    for (size_t i = 0; r->failed[i]; i++)
        buf_printf(out, "%s: %s ", r->failed[i], r->messages[i]);
    buf_str(out, r->all_succeeded ? "all" : "some");
}

TEST(servers_are_seen_as_idle_before_they_start_and_the_outcome_is_told)
{
    struct hub_rig r;
    struct desk *d;
    struct spec *specs[2] = { fixture_spec("good"), fixture_spec("bad") };
    AUTO_BUF struct buf out = { 0 };

    hub_rig_init(&r);
    r.opts.retry_initial = false;
    hub_rig_server(&r, "good");
    hub_rig_server(&r, "bad")->connect = FAKE_CONNECT_FAIL;
    d = desk_open(&r.opts);
    desk_set_specs(d, specs, 2);
    spec_unref(specs[0]);
    spec_unref(specs[1]);
    CHECK_INT(view_total_count(desk_view(d)), 0);
    desk_start_all(d, on_started, &out);
    CHECK_INT(view_total_count(desk_view(d)), 2);
    CHECK_INT(view_server(desk_view(d), "good")->tool_count, 0);
    FAKES_UNTIL(&r.fakes, out.n);
    CHECK_STR(buf_cstr(&out), "good bad: Cannot connect to server 'bad': connection refused some");
    desk_close(d, hub_rig_closed, &r);
    FAKES_UNTIL(&r.fakes, r.closed);
    hub_rig_done(&r);
}

TEST(tools_follow_the_server_also_when_it_comes_back_with_the_same)
{
    struct hub_rig r;
    struct desk_hub hub;
    struct desk *d;
    struct fake_server *f;
    struct pb_error err;
    const struct view_tool *const *tools;

    hub_rig_init(&r);
    hub_rig_start(&r);
    f = hub_rig_up(&r, "a", (struct rig_spec){ 0 });
    hub = desk_hub_of(r.hub);
    d = desk_new(&hub);
    CHECK_INT(view_tools(desk_view(d), NULL, &tools), 1);
    CHECK_INT(hub_restart(r.hub, "a", &err), 0);
    CHECK_INT(view_tools(desk_view(d), NULL, &tools), 0);
    HUB_RIG_REACHES(&r, "a", LINK_CONNECTED);
    CHECK_INT(view_tools(desk_view(d), NULL, &tools), 1);
    fake_tool(f, "more", FAKE_TEXT);
    server_list_changed(f->server, "tools");
    fakes_settle(&r.fakes);
    CHECK_INT(view_tools(desk_view(d), NULL, &tools), 2);
    CHECK_STR(tools[1]->id, "a.more");
    desk_close(d, NULL, NULL);
    hub_rig_done(&r);
}
