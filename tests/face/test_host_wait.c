#include "hub_rig.h"

TEST(a_list_waits_for_servers_that_are_about_to_be_there_but_not_for_ever)
{
    enum { WAIT_MS = 5000 };
    struct hub_rig rig;
    struct fake_server *f;
    struct face_client c;
    struct fake_reply *a, *b;

    rig_init(&rig, &(struct host_options){ .list_wait_ms = WAIT_MS });
    f = rig_server(&rig, "alpha");
    fake_tool(f, "one", FAKE_TEXT);
    f->connect = FAKE_CONNECT_DELAY;
    f->connect_ms = 1000;
    f = rig_server(&rig, "beta");
    fake_tool(f, "two", FAKE_TEXT);
    f->connect = FAKE_CONNECT_HANG;
    rig_start(&rig);
    face_open(&rig, &c, NULL, PB_ERA_LEGACY);
    a = face_send(&c, "tools/list", "{}");
    fakes_settle(&rig.fakes);
    loop_advance(rig.fakes.loop, WAIT_MS - 1);
    fakes_settle(&rig.fakes);
    CHECK_INT(a->count, 0);
    loop_advance(rig.fakes.loop, 1);
    fakes_settle(&rig.fakes);
    CHECK_INT(a->count, 1);
    CHECK_STR(face_names(a->result, "tools", "name"), "alpha__one");
    face_close(&c);

    /* A scope of one server waits for that one, and as long as it takes. */
    face_open(&rig, &c, &(struct host_scope){ .server = "alpha" }, PB_ERA_MODERN);
    CHECK_STR(face_tools(&c), "one");
    face_close(&c);
    face_open(&rig, &c, &(struct host_scope){ .server = "beta" }, PB_ERA_MODERN);
    a = face_send(&c, "tools/list", "{}");
    b = face_send(&c, "prompts/list", "{}");
    fakes_settle(&rig.fakes);
    CHECK_INT(a->count + b->count, 0);
    hub_stop_all(rig.hub);
    fakes_settle(&rig.fakes);
    CHECK_INT(a->count, 1);
    CHECK_INT(b->count, 1);
    a = face_send(&c, "tools/list", "{}");
    FAKES_UNTIL(&rig.fakes, a->count);
    face_close(&c);
    rig_done(&rig);
}

TEST(a_client_may_leave_while_its_list_waits)
{
    struct hub_rig rig;
    struct face_client c;

    rig_init(&rig, &(struct host_options){ .list_wait_ms = 5000 });
    rig_server(&rig, "alpha")->connect = FAKE_CONNECT_HANG;
    rig_start(&rig);
    face_open(&rig, &c, NULL, PB_ERA_LEGACY);
    face_send(&c, "tools/list", "{}");
    fakes_settle(&rig.fakes);
    face_close(&c);
    face_open(&rig, &c, NULL, PB_ERA_LEGACY);
    face_send(&c, "tools/list", "{}");
    fakes_settle(&rig.fakes);
    client_close(TAKE(c.client), NULL, NULL); /* and the hosts end in the same turn */
    rig_done(&rig);
    fake_reply_done(&c.answers[0]);
}

TEST(a_call_waits_for_the_server_that_its_name_begins_with)
{
    struct hub_rig rig;
    struct fake_server *f;
    struct face_client c;
    struct fake_reply *good, *bad, *other;

    rig_init(&rig, &(struct host_options){ .list_wait_ms = 5000 });
    f = rig_server(&rig, "alpha");
    fake_tool(f, "echo", FAKE_ECHO);
    fake_prompt(f, "greet", "hello");
    f->connect = FAKE_CONNECT_DELAY;
    f->connect_ms = 1000;
    rig_server(&rig, "beta")->connect = FAKE_CONNECT_HANG;
    rig_start(&rig);
    face_open(&rig, &c, NULL, PB_ERA_MODERN);
    good = face_send(&c, "tools/call", "{\"name\":\"alpha__echo\",\"arguments\":{\"n\":1}}");
    bad = face_send(&c, "tools/call", "{\"name\":\"alpha__none\"}");
    other = face_send(&c, "tools/call", "{\"name\":\"beta__echo\"}");
    CHECK_HAS(face_refused(&c, "tools/call", "{\"name\":\"nobody__echo\"}"), "Unknown tool");
    CHECK_INT(good->count + bad->count + other->count, 0);
    loop_advance(rig.fakes.loop, 1000);
    fakes_settle(&rig.fakes);
    CHECK_STR(face_text(good->result), "{\"n\":1}");
    CHECK_HAS(bad->error, "Unknown tool: alpha__none");
    CHECK_INT(other->count, 0);
    loop_advance(rig.fakes.loop, 4000);
    fakes_settle(&rig.fakes);
    CHECK_HAS(other->error, "Server 'beta' is not connected yet (connecting)");
    face_close(&c);
    rig_done(&rig);
}

TEST(hosts_may_end_while_requests_wait)
{
    struct hub_rig rig;
    struct face_client c;
    struct fake_reply *a;

    rig_init(&rig, &(struct host_options){ .list_wait_ms = 5000 });
    rig_server(&rig, "alpha")->connect = FAKE_CONNECT_HANG;
    rig_start(&rig);
    face_open(&rig, &c, NULL, PB_ERA_LEGACY);
    a = face_send(&c, "tools/list", "{}");
    fakes_settle(&rig.fakes);
    hosts_close(rig.hosts, rig_on_hosts_closed, &rig);
    hub_stop_all(rig.hub); /* news for those that wait, in the turn in which they end */
    FAKES_UNTIL(&rig.fakes, rig.hosts_closed);
    CHECK_INT(a->count, 1);
    face_close(&c);
    hub_close(rig.hub, rig_on_hub_closed, &rig);
    FAKES_UNTIL(&rig.fakes, rig.hub_closed);
    fakes_done(&rig.fakes);
}
