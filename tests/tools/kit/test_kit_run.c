/* How calls of our own tools run: one after the other or beside each other, cancelled, and at the
 * end of it all; and what clients are shown of the tools. */
#include "kit_rig.h"
#include <poll.h>

static uint64_t cancel_id;

/* As face_send(), with the id by which it is cancelled. */
static void hold_into(struct face_client *c, struct fake_reply *a, const char *tool,
                      const char *name)
{
    AUTO_BUF struct buf params = { 0 };
    struct client_request_spec spec = { .method = "tools/call",
                                        .wants_progress = true,
                                        .progress = fake_on_progress,
                                        .reply = fake_on_reply,
                                        .ctx = a };
    struct pb_error err;

    buf_printf(&params, "{\"name\":\"%s\",\"arguments\":{\"name\":\"%s\"}}", tool, name);
    spec.params = buf_span(&params);
    CHECK_INT(client_request(c->client, &spec, &cancel_id, &err), 0);
}

static struct fake_reply *hold(struct face_client *c, const char *tool, const char *name)
{
    struct fake_reply *a = &c->answers[c->n++];

    hold_into(c, a, tool, name);
    return a;
}

static void begins(struct hub_rig *rig, const char *name)
{
    while (!holds_has(holds.begun, name)) {
        loop_turn(rig->fakes.loop, false);
        poll(NULL, 0, 1);
    }
}

/* All that can happen without anybody being let go has happened. */
static void nothing_more_begins(struct hub_rig *rig, const char *begun)
{
    fakes_settle(&rig->fakes);
    pthread_mutex_lock(&holds.mu);
    CHECK_STR(holds.begun, begun);
    pthread_mutex_unlock(&holds.mu);
}

TEST(serial_calls_run_one_after_the_other_in_a_conversation_and_beside_those_of_others)
{
    /* S3-21 */
    struct hub_rig rig;
    struct face_client a, b;
    struct fake_reply *first, *second, *third, *other, *open;

    kit_rig_open(&rig, &a);
    face_open(&rig, &b, &with_tools, PB_ERA_LEGACY);
    first = hold(&a, "slow_ones.hold", "a1");
    begins(&rig, "a1");
    second = hold(&a, "slow_ones", "a2");
    CHECK_HAS(kit_text(&a, second), "Missing required parameter: operation");
    second = hold(&a, "hold", "a2");
    third = hold(&a, "slow_ones.hold", "a3");
    nothing_more_begins(&rig, "a1 ");
    other = hold(&b, "slow_ones.hold", "b1");
    begins(&rig, "b1");
    open = hold(&a, "hold_free", "a4"); /* not serial */
    begins(&rig, "a4");
    nothing_more_begins(&rig, "a1 b1 a4 ");
    holds_put(holds.let_go, "a1");
    CHECK_STR(kit_text(&a, first), "a1");
    begins(&rig, "a2");
    nothing_more_begins(&rig, "a1 b1 a4 a2 ");
    holds_put(holds.let_go, "a2");
    CHECK_STR(kit_text(&a, second), "a2");
    begins(&rig, "a3");
    holds_put(holds.let_go, "a3 b1 a4");
    CHECK_STR(kit_text(&a, third), "a3");
    CHECK_STR(kit_text(&b, other), "b1");
    CHECK_STR(kit_text(&a, open), "a4");
    face_close(&a);
    face_close(&b);
    rig_done(&rig);
}

TEST(a_call_that_is_cancelled_while_it_waits_never_begins)
{
    struct hub_rig rig;
    struct face_client c;
    struct fake_reply *first, *third;

    kit_rig_open(&rig, &c);
    first = hold(&c, "slow_ones.hold", "one");
    begins(&rig, "one");
    hold(&c, "slow_ones.hold", "two");
    fakes_settle(&rig.fakes);
    client_cancel(c.client, cancel_id, "changed my mind");
    third = hold(&c, "slow_ones.hold", "three");
    fakes_settle(&rig.fakes);
    holds_put(holds.let_go, "one three");
    CHECK_STR(kit_text(&c, first), "one");
    CHECK_STR(kit_text(&c, third), "three");
    nothing_more_begins(&rig, "one three ");
    face_close(&c);
    rig_done(&rig);
}

TEST(a_call_that_runs_hears_that_it_is_cancelled)
{
    struct hub_rig rig;
    struct face_client c;
    struct fake_reply *second;

    kit_rig_open(&rig, &c);
    hold(&c, "slow_ones.hold", "one");
    begins(&rig, "one");
    client_cancel(c.client, cancel_id, "changed my mind");
    second = hold(&c, "slow_ones.hold", "two");
    begins(&rig, "two"); /* so the first has ended */
    holds_put(holds.let_go, "two");
    CHECK_STR(kit_text(&c, second), "two");
    face_close(&c);
    rig_done(&rig);
}

TEST(so_many_calls_wait_for_each_other_and_no_more)
{
    enum { ALL = 1 + KIT_LANE_MAX };
    AUTO_FREE struct fake_reply *all = mem_zero(ALL * sizeof *all);
    struct hub_rig rig;
    struct face_client c;
    struct fake_reply *more;

    kit_rig_open(&rig, &c);
    hold_into(&c, &all[0], "slow_ones.hold", "x");
    begins(&rig, "x");
    for (size_t i = 1; i < ALL; i++)
        hold_into(&c, &all[i], "slow_ones.hold", "x");
    more = hold(&c, "slow_ones.hold", "x");
    CHECK_STR(kit_text(&c, more),
              "error: 256 calls of slow_ones wait already in this conversation");
    holds_put(holds.let_go, "x");
    for (size_t i = 0; i < ALL; i++) {
        CHECK_STR(kit_text(&c, &all[i]), "x");
        fake_reply_done(&all[i]);
    }
    face_close(&c);
    rig_done(&rig);
}

/* ---- the end ---- */

TEST(a_hub_that_closes_ends_what_runs_and_what_waits)
{
    struct hub_rig rig;
    struct face_client c;
    const struct fake_reply *one, *two;

    kit_rig_open(&rig, &c);
    one = hold(&c, "slow_ones.hold", "one");
    two = hold(&c, "slow_ones.hold", "two");
    begins(&rig, "one");
    hosts_close(rig.hosts, rig_on_hosts_closed, &rig);
    FAKES_WAIT(&rig.fakes, rig.hosts_closed);
    hub_close(rig.hub, hub_rig_closed, &rig);
    FAKES_WAIT(&rig.fakes, rig.closed); /* no time has to pass */
    CHECK_INT(one->count, 1);
    CHECK_INT(two->count, 1);
    nothing_more_begins(&rig, "one ");
    face_close(&c);
    rig_done(&rig);
}

TEST(a_hub_goes_on_without_a_tool_that_does_not_end)
{
    struct hub_rig rig;
    struct face_client c;

    kit_rig_open(&rig, &c);
    holds.deaf = true;
    hold(&c, "slow_ones.hold", "one");
    begins(&rig, "one");
    hosts_close(rig.hosts, rig_on_hosts_closed, &rig);
    for (int s = 0; s < 30 && !rig.hosts_closed; s++) {
        fakes_settle(&rig.fakes);
        loop_advance(rig.fakes.loop, 1000);
    }
    CHECK(rig.hosts_closed);
    hub_close(rig.hub, hub_rig_closed, &rig);
    fakes_settle(&rig.fakes);
    CHECK(!rig.closed);
    for (int ms = 0; ms < 3 * KIT_STOP_MS && !rig.closed; ms += 500) {
        loop_advance(rig.fakes.loop, 500);
        fakes_settle(&rig.fakes);
    }
    CHECK(rig.closed);
    face_close(&c);
    holds_put(holds.let_go, "one"); /* what it uses is still there */
    rig_done(&rig);
    _exit(0); /* and is not given back */
}

/* ---- what is shown ---- */

TEST(clients_see_them_only_where_they_are_exposed)
{
    /* S3-31 */
    struct hub_rig rig;
    struct face_client c;

    kit_rig_init(&rig);
    fake_tool(rig_server(&rig, "alpha"), "echo", FAKE_ECHO);
    rig_start(&rig);
    TWO_ERAS(era)
    {
        face_open(&rig, &c, NULL, era);
        CHECK_STR(face_tools(&c), "alpha__echo");
        CHECK_HAS(kit_call(&c, "who", "{}"), "Unknown tool: who");
        CHECK_HAS(kit_call(&c, "file_operations.show_file", "{}"), "Unknown tool");
        CHECK_HAS(kit_call(&c, "show_file", "{}"), "Unknown tool");
        face_close(&c);
        face_open(&rig, &c, &(struct host_scope){ .server = "alpha" }, era);
        CHECK_STR(face_tools(&c), "echo");
        CHECK_HAS(kit_call(&c, "who", "{}"), "Unknown tool: who");
        face_close(&c);
        face_open(&rig, &c, &(struct host_scope){ .expose = TOOLS_FILE }, era);
        CHECK_STR(face_tools(&c), "file_operations");
        CHECK_HAS(kit_call(&c, "hold", "{\"name\":\"x\"}"), "Unknown tool: hold");
        CHECK_HAS(kit_call(&c, "alpha__echo", "{}"), "Unknown tool: alpha__echo");
        face_close(&c);
    }
    rig_done(&rig);
}

TEST(they_come_first_and_in_the_order_of_their_table_every_time)
{
    /* S3-140, S3-142 */
    struct hub_rig rig;
    struct face_client c;

    kit_rig_init(&rig);
    fake_tool(rig_server(&rig, "alpha"), "echo", FAKE_ECHO);
    rig_start(&rig);
    face_open(&rig, &c, &with_tools, PB_ERA_MODERN);
    for (int i = 0; i < 3; i++)
        CHECK_STR(face_tools(&c), "who file_operations slow_ones level alpha__echo");
    face_close(&c);
    rig_done(&rig);
}

TEST(a_tool_is_shown_with_all_its_operations_and_their_parameters)
{
    /* S3-26 */
    struct hub_rig rig;
    struct face_client c;
    const char *list;

    kit_rig_open(&rig, &c);
    list = face_get(&c, "tools/list", "{}");
    CHECK_HAS(list, "Operations:\\n- show_file: shows a file\\n- find_text: finds a text");
    CHECK_HAS(list, "\"enum\":[\"show_file\",\"find_text\",\"common\",\"plain\"]");
    CHECK_HAS(list, "A path (show_file)");
    CHECK_HAS(list, "A pattern (find_text)");
    CHECK_HAS(list, "\"required\":[\"operation\"]");
    face_close(&c);
    rig_done(&rig);
}

TEST(a_call_says_what_it_does_when_it_begins)
{
    /* S3-160 */
    struct hub_rig rig;
    struct face_client c;
    struct fake_reply *a;

    kit_rig_open(&rig, &c);
    a = kit_send(&c, "show_file", "{\"filePath\":\"x.c\"}");
    kit_text(&c, a);
    CHECK_HAS(a->progress, "Showing: x.c");
    face_close(&c);
    rig_done(&rig);
}
