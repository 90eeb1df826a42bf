/* Where a test may put something of its own: the clock, the opener that makes a client of a spec,
 * and the wire below that client. Links and the hub have no doubles: everything below them can be
 * replaced, so they are always the real ones. */
#include "hub/hub_rig.h"

struct settled {
    int count;
    bool all;
};

static void on_settled(void *ctx, const struct start_result *r)
{
    struct settled *s = ctx;

    s->count++;
    s->all = r->all_succeeded;
}

static void count_connected(void *ctx, struct link *l)
{
    *(size_t *)ctx += link_is_connected(link_state(l));
}

/* Two servers that are started together, and waited for. */
static struct fake_server *start_two(struct hub_rig *r)
{
    struct settled told = { 0 };
    struct fake_server *f;
    struct spec *specs[2];

    hub_rig_init(r);
    hub_rig_start(r);
    f = hub_rig_server(r, "a");
    fake_tool(f, "hang", FAKE_HANG);
    hub_rig_server(r, "b");
    for (int i = 0; i < 2; i++)
        specs[i] = rig_spec(i ? "b" : "a", &(struct rig_spec){ 0 });
    hub_start_all(r->hub, specs, 2);
    hub_when_settled(r->hub, on_settled, &told);
    FAKES_UNTIL(&r->fakes, told.count);
    CHECK(told.all);
    for (int i = 0; i < 2; i++)
        spec_unref(specs[i]);
    return f;
}

/* S0-150 */
TEST(the_opener_is_asked_for_a_client_and_the_wire_hears_list_call_cancellation_and_end)
{
    struct hub_rig r;
    struct fake_server *f = start_two(&r);
    struct fake_reply a = { 0 };
    struct pb_error err;
    uint64_t id;

    CHECK_STR(buf_cstr(&r.fakes.opened), "a\nb\n"); /* one client for each spec */
    CHECK_INT(f->lists[LIST_TOOLS], 1);
    CHECK_INT(hub_rig_call(&r, "a", "echo", &a, NULL, &err), 0);
    FAKES_UNTIL(&r.fakes, a.count);
    CHECK_STR(buf_cstr(&f->history), "echo {\"n\":1}\n");
    fake_reply_done(&a);
    CHECK_INT(hub_rig_call(&r, "a", "hang", &a, &id, &err), 0);
    fakes_settle(&r.fakes);
    CHECK(hub_cancel(r.hub, id, CALL_BY_USER));
    fakes_settle(&r.fakes);
    CHECK_INT(f->cancellations, 1);
    CHECK_INT(a.err.code, PB_E_CANCELLED);
    fake_reply_done(&a);
    CHECK_INT(f->closes, 0);
    CHECK_INT(hub_disconnect(r.hub, "a", &err), 0);
    fakes_settle(&r.fakes);
    CHECK_INT(f->closes, 1);
    hub_rig_done(&r);
}

/* S0-150 */
TEST(link_and_hub_over_such_a_wire_do_all_that_they_do_over_a_real_one)
{
    struct hub_rig r;
    struct fake_server *f = start_two(&r);
    struct link *l = hub_link(r.hub, "a");
    struct pb_error err;
    size_t up = 0;

    CHECK_STR(link_name(l), "a");
    CHECK_STR(link_spec(l)->command, "fake");
    hub_each(r.hub, count_connected, &up);
    CHECK_INT(up, 2);
    fakes_forget_events(&r.fakes);
    CHECK_INT(hub_disconnect(r.hub, "a", &err), 0);
    CHECK_INT(hub_reconnect(r.hub, "a", &err), 0);
    HUB_RIG_REACHES(&r, "a", LINK_CONNECTED);
    f->connect = FAKE_CONNECT_HANG;
    CHECK_INT(hub_disconnect(r.hub, "a", &err), 0);
    CHECK_INT(hub_connect(r.hub, "a", &err), 0);
    HUB_RIG_REACHES(&r, "a", LINK_CONNECTING);
    CHECK_INT(hub_cancel_connect(r.hub, "a", &err), 0);
    CHECK_STR(fakes_states(&r.fakes, "a"),
              "connected>disconnected disconnected>connecting connecting>connected "
              "connected>disconnected disconnected>connecting connecting>idle");
    fakes_disconnect(&r.fakes, r.hub);
    fakes_settle(&r.fakes);
    up = 0;
    hub_each(r.hub, count_connected, &up);
    CHECK_INT(up, 0);
    hub_rig_done(&r);
}

/* S0-150 */
TEST(time_passes_for_the_hub_when_the_test_says_so_and_only_then)
{
    struct hub_rig r;
    struct fake_server *f;
    struct link_status st;

    hub_rig_init(&r);
    hub_rig_start(&r);
    f = hub_rig_server(&r, "a");
    f->connect_fails = 1;
    hub_rig_begin(&r, "a", (struct rig_spec){ 0 });
    HUB_RIG_REACHES(&r, "a", LINK_RECONNECTING);
    link_status(hub_link(r.hub, "a"), &st);
    CHECK_INT(st.next_retry_at - loop_wall(r.fakes.loop), 1000);
    for (int i = 0; i < 1000; i++)
        loop_turn(r.fakes.loop, false);
    CHECK_INT(hub_rig_state(&r, "a"), LINK_RECONNECTING);
    loop_advance(r.fakes.loop, 999);
    fakes_settle(&r.fakes);
    CHECK_INT(hub_rig_state(&r, "a"), LINK_RECONNECTING);
    loop_advance(r.fakes.loop, 1);
    HUB_RIG_REACHES(&r, "a", LINK_CONNECTED);
    hub_rig_done(&r);
}
