#include "face/host/host.h"
#include "face/host_rig.h"
#include "hub/hub/hub.h"
#include "mcp/client/client.h"

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
    fakes_disconnect(&rig.fakes, rig.hub);
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
    fakes_disconnect(&rig.fakes,
                     rig.hub); /* news for those that wait, in the turn in which they end */
    FAKES_UNTIL(&rig.fakes, rig.hosts_closed);
    CHECK_INT(a->count, 1);
    face_close(&c);
    rig_done(&rig);
}

/* alpha comes after a second; nothing is known of it before that. */
static void begin_late(struct hub_rig *rig, struct face_client *c, enum pb_era era)
{
    struct fake_server *f;

    rig_init(rig, &(struct host_options){ .list_wait_ms = 5000 });
    f = rig_server(rig, "alpha");
    fake_resource(f, "file:///x", "here");
    fake_template(f, "t:{v}");
    fake_prompt(f, "greet", "hello");
    f->connect = FAKE_CONNECT_DELAY;
    f->connect_ms = 1000;
    rig_server(rig, "beta")->connect = FAKE_CONNECT_HANG;
    rig_start(rig);
    face_open(rig, c, NULL, era);
}

TEST(whatever_is_looked_up_waits_for_servers_that_are_about_to_be_there)
{
    static const struct {
        enum pb_era era;
        const char *method, *params, *want;
    } cases[] = {
        { PB_ERA_MODERN, "resources/read", "{\"uri\":\"file:///x\"}", "\"text\":\"here\"" },
        { PB_ERA_LEGACY, "resources/read", "{\"uri\":\"patchbay://alpha/file:///x\"}", "here" },
        { PB_ERA_LEGACY, "prompts/get", "{\"name\":\"alpha__greet\"}", "hello" },
        { PB_ERA_LEGACY, "completion/complete",
          "{\"ref\":{\"type\":\"ref/prompt\",\"name\":\"alpha__greet\"},\"argument\":{\"name\":\"n\","
          "\"value\":\"\"}}",
          "\"completion\"" },
        { PB_ERA_MODERN, "completion/complete",
          "{\"ref\":{\"type\":\"ref/resource\",\"uri\":\"t:{v}\"},\"argument\":{\"name\":\"v\","
          "\"value\":\"\"}}",
          "\"completion\"" },
        { PB_ERA_LEGACY, "resources/subscribe", "{\"uri\":\"file:///x\"}", "{}" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct hub_rig rig;
        struct face_client c;
        struct fake_reply *a;

        begin_late(&rig, &c, cases[i].era);
        a = face_send(&c, cases[i].method, cases[i].params);
        fakes_settle(&rig.fakes);
        CHECK_INT(a->count, 0);
        loop_advance(rig.fakes.loop, 1000); /* beta is still awaited, but not needed */
        FAKES_UNTIL(&rig.fakes, a->count);
        CHECK_HAS(a->result, cases[i].want);
        face_close(&c);
        rig_done(&rig);
    }
}

TEST(what_nobody_has_is_refused_when_the_time_for_it_is_over)
{
    static const struct {
        const char *method, *params, *want;
    } cases[] = {
        { "resources/read", "{\"uri\":\"file:///none\"}", "Resource not found" },
        { "resources/subscribe", "{\"uri\":\"file:///none\"}", "Resource not found" },
        { "completion/complete",
          "{\"ref\":{\"type\":\"ref/resource\",\"uri\":\"n:{v}\"},\"argument\":{\"name\":\"v\","
          "\"value\":\"\"}}",
          "Unknown reference" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct hub_rig rig;
        struct face_client c;
        struct fake_reply *a;

        begin_late(&rig, &c, PB_ERA_LEGACY);
        a = face_send(&c, cases[i].method, cases[i].params);
        fakes_settle(&rig.fakes);
        loop_advance(rig.fakes.loop, 4999);
        fakes_settle(&rig.fakes);
        CHECK_INT(a->count, 0);
        loop_advance(rig.fakes.loop, 1);
        FAKES_UNTIL(&rig.fakes, a->count);
        CHECK_HAS(a->error, cases[i].want);
        /* and from then on at once, as the last that is expected does not come */
        fakes_disconnect(&rig.fakes, rig.hub);
        fakes_settle(&rig.fakes);
        CHECK_HAS(face_refused(&c, cases[i].method, cases[i].params), cases[i].want);
        face_close(&c);
        rig_done(&rig);
    }
}

TEST(a_listen_stream_waits_for_the_resources_that_it_is_about)
{
    struct hub_rig rig;
    struct face_client c;
    struct fake_server *f;

    begin_late(&rig, &c, PB_ERA_MODERN);
    f = rig.fakes.servers[0];
    face_send(&c, "subscriptions/listen",
              "{\"notifications\":{\"resourceSubscriptions\":[\"file:///x\"]}}");
    fakes_settle(&rig.fakes);
    loop_advance(rig.fakes.loop, 1000);
    FAKES_UNTIL(&rig.fakes, f->watched);
    CHECK_INT(f->watched, 1);
    face_close(&c);
    rig_done(&rig);
}

TEST(a_call_waits_for_a_server_whose_name_could_be_read_in_two_ways)
{
    struct hub_rig rig;
    struct fake_server *f;
    struct face_client c;
    struct fake_reply *a;

    rig_init(&rig, &(struct host_options){ .list_wait_ms = 5000 });
    f = rig_server(&rig, "a__b");
    fake_tool(f, "c", FAKE_TEXT);
    f->connect = FAKE_CONNECT_DELAY;
    f->connect_ms = 1000;
    rig_start(&rig);
    face_open(&rig, &c, NULL, PB_ERA_MODERN);
    a = face_send(&c, "tools/call", "{\"name\":\"a__b__c_e6f83604\"}");
    fakes_settle(&rig.fakes);
    CHECK_INT(a->count, 0);
    loop_advance(rig.fakes.loop, 1000);
    FAKES_UNTIL(&rig.fakes, a->count);
    CHECK_STR(face_text(a->result), "mock");
    face_close(&c);
    rig_done(&rig);
}

static size_t count_answers(struct fake_reply *const *a, size_t n)
{
    size_t answers = 0;

    for (size_t i = 0; i < n; i++)
        answers += (size_t)a[i]->count;
    return answers;
}

/* News that help none of them: each is looked at once, and all of them end when their time does. */
TEST(many_that_wait_on_are_not_looked_at_again_and_again)
{
    enum { MANY = 3 * HOST_WAITS_PER_TURN + 1, TURNS = 20 };
    struct fake_reply *a[MANY];
    struct fake_server *beta;
    struct hub_rig rig;
    struct face_client c;

    rig_init(&rig, &(struct host_options){ .list_wait_ms = 5000 });
    rig_server(&rig, "alpha")->connect = FAKE_CONNECT_HANG;
    beta = rig_server(&rig, "beta");
    beta->connect = FAKE_CONNECT_DELAY;
    beta->connect_ms = 1000;
    rig_start(&rig);
    face_open(&rig, &c, NULL, PB_ERA_LEGACY);
    for (size_t i = 0; i < MANY; i++)
        a[i] = face_send(&c, "resources/read", "{\"uri\":\"x:y\"}");
    fakes_settle(&rig.fakes);
    loop_advance(rig.fakes.loop, 1000);
    fakes_settle(&rig.fakes);
    CHECK_INT((int)count_answers(a, MANY), 0);
    loop_advance(rig.fakes.loop, 4000);
    for (int i = 0; i < TURNS; i++)
        loop_turn(rig.fakes.loop, false);
    CHECK_INT((int)count_answers(a, MANY), MANY);
    face_close(&c);
    rig_done(&rig);
}

TEST(many_that_waited_are_handled_some_in_each_turn)
{
    enum { MANY = 3 * HOST_WAITS_PER_TURN + 1 };
    struct fake_reply *a[MANY];
    struct hub_rig rig;
    struct face_client c;
    size_t done;

    rig_init(&rig, &(struct host_options){ .list_wait_ms = 5000 });
    rig_server(&rig, "alpha")->connect = FAKE_CONNECT_HANG;
    rig_start(&rig);
    face_open(&rig, &c, NULL, PB_ERA_LEGACY);
    for (size_t i = 0; i < MANY; i++)
        a[i] = face_send(&c, "resources/read", "{\"uri\":\"x:y\"}");
    fakes_settle(&rig.fakes);
    loop_advance(rig.fakes.loop, 5000); /* some turns */
    done = count_answers(a, MANY);
    CHECK(done < MANY);
    while (done < MANY) {
        size_t before = done;

        loop_turn(rig.fakes.loop, false);
        done = count_answers(a, MANY);
        CHECK(done - before <= HOST_WAITS_PER_TURN);
    }
    face_close(&c);
    rig_done(&rig);
}
