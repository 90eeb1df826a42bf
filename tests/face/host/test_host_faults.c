/* Servers that fail, seen by a client: it gets clear words about them, and the rest goes on. */
#include "face/host_rig.h"

/* S4-7 */
TEST(a_server_that_fails_disturbs_nobody_and_calls_to_it_say_why)
{
    TWO_ERAS(era)
    {
        struct hub_rig rig;
        struct fake_server *dead, *weak, *mute;
        struct face_client c;
        struct fake_reply *a;

        rig_init(&rig, NULL);
        fake_tool(rig_server(&rig, "good"), "echo", FAKE_ECHO);
        dead = rig_server(&rig, "dead"); /* never comes */
        dead->connect = FAKE_CONNECT_FAIL;
        dead->connect_text = "nobody listens there";
        weak = rig_server(&rig, "weak"); /* dies while it is being used */
        fake_tool(weak, "crash", FAKE_CRASH);
        mute = rig_server(&rig, "mute"); /* never answers */
        fake_tool(mute, "hang", FAKE_HANG);
        rig_start(&rig);
        face_open(&rig, &c, NULL, era);
        CHECK_STR(face_tools(&c), "good__echo mute__hang weak__crash");

        CHECK_HAS(face_call(&c, "weak__crash", "{}"), "error: ");
        CHECK_STR(face_call(&c, "good__echo", "{\"n\":1}"), "{\"n\":1}");
        a = face_send(&c, "tools/call", "{\"name\":\"mute__hang\"}");
        fakes_settle(&rig.fakes);
        CHECK_STR(face_call(&c, "good__echo", "{\"n\":2}"), "{\"n\":2}");
        loop_advance(rig.fakes.loop, 30000);
        fakes_settle(&rig.fakes);
        CHECK_INT(a->count, 1);
        CHECK_HAS(face_text(a->result), "call_timeout");
        CHECK_HAS(face_text(a->result), "Tool 'hang' on server 'mute' timed out after 30s");
        CHECK_STR(face_call(&c, "good__echo", "{\"n\":3}"), "{\"n\":3}");
        face_close(&c);
        rig_done(&rig);
    }
}

/* S4-7 */
TEST(a_call_to_a_server_that_is_away_names_it_and_what_happened)
{
    struct hub_rig rig;
    struct fake_server *f;
    struct face_client c;

    rig_init(&rig, NULL);
    f = rig_server(&rig, "alpha");
    fake_tool(f, "echo", FAKE_ECHO);
    fake_tool(f, "crash", FAKE_CRASH);
    fake_tool(rig_server(&rig, "good"), "echo", FAKE_ECHO);
    rig_spec_of(&rig, "alpha")->auto_reconnect = false;
    rig_start(&rig);
    face_open(&rig, &c, NULL, PB_ERA_LEGACY);
    fake_stderr(f, "cannot open the database");
    CHECK_HAS(face_call(&c, "alpha__crash", "{}"), "cannot open the database");
    fakes_settle(&rig.fakes);
    CHECK_HAS(face_ask(&c, "tools/call", "{\"name\":\"alpha__echo\"}")->result
                  ? face_text(c.answers[c.n - 1].result)
                  : c.answers[c.n - 1].err.msg,
              "alpha");
    CHECK_STR(face_call(&c, "good__echo", "{}"), "{}");
    CHECK_STR(face_tools(&c), "good__echo");
    face_close(&c);
    rig_done(&rig);
}
