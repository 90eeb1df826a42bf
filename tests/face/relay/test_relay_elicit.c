/* "Done" after a URL was opened: it reaches the client that was asked to open it. */
#include "face/ask_rig.h"
#include "mcp/client/client.h"
#include "mcp/rpc/rpc.h"
#include "mcp/serve/serve.h"

#define URL(id) \
    "{\"mode\":\"url\",\"elicitationId\":\"" id "\",\"url\":\"https://a.test/\",\"message\":\"m\"}"

static struct fake_server *asking(struct hub_rig *rig)
{
    struct fake_server *f = rig_server(rig, "alpha");

    f->era = PB_ERA_LEGACY;
    fake_tool(f, "one", FAKE_ASK)->params = URL("e-1");
    fake_tool(f, "two", FAKE_ASK)->params = URL("e-2");
    return f;
}

static void say_done_to(void *ctx, struct peer *p)
{
    AUTO_BUF struct buf params = { 0 };

    buf_printf(&params, "{\"elicitationId\":\"%s\",\"x\":1.0}", (const char *)ctx);
    peer_tell(p, "notifications/elicitation/complete", buf_span(&params));
}

static void say_done(struct hub_rig *rig, struct fake_server *f, char *id)
{
    server_each_peer(f->server, say_done_to, id);
    fakes_settle(&rig->fakes);
}

TEST(done_is_told_to_the_client_that_was_asked_and_once)
{
    struct hub_rig rig;
    struct fake_server *f;
    struct asked_client a, b;

    rig_init(&rig, NULL);
    f = asking(&rig);
    rig_start(&rig);
    asked_open(&rig, &a, NULL, "{\"action\":\"accept\"}");
    asked_open(&rig, &b, NULL, "{\"action\":\"accept\"}");
    face_call(&a.c, "alpha__one", "{}");
    face_call(&b.c, "alpha__two", "{}");
    CHECK_HAS(a.params, "\"elicitationId\":\"e-1\"");
    a.c.notes[0] = b.c.notes[0] = '\0';

    say_done(&rig, f, (char[]){ "e-1" });
    CHECK_STR(a.c.notes,
              "notifications/elicitation/complete {\"elicitationId\":\"e-1\",\"x\":1.0}\n");
    CHECK_STR(b.c.notes, "");
    say_done(&rig, f, (char[]){ "e-1" }); /* a second time, and one that nobody was asked */
    say_done(&rig, f, (char[]){ "e-9" });
    CHECK_STR(b.c.notes, "");
    say_done(&rig, f, (char[]){ "e-2" });
    CHECK_STR(b.c.notes,
              "notifications/elicitation/complete {\"elicitationId\":\"e-2\",\"x\":1.0}\n");
    CHECK_STR(a.c.notes,
              "notifications/elicitation/complete {\"elicitationId\":\"e-1\",\"x\":1.0}\n");
    face_close(&a.c);
    face_close(&b.c);
    rig_done(&rig);
}

TEST(done_while_the_call_still_runs_is_told_too)
{
    struct hub_rig rig;
    struct fake_server *f;
    struct asked_client a;

    rig_init(&rig, NULL);
    f = asking(&rig);
    rig_start(&rig);
    asked_open(&rig, &a, NULL, NULL);
    face_send(&a.c, "tools/call", "{\"name\":\"alpha__one\"}");
    fakes_settle(&rig.fakes);
    CHECK_INT(a.n_asked, 1);
    say_done(&rig, f, (char[]){ "e-1" });
    CHECK_HAS(a.c.notes, "notifications/elicitation/complete {\"elicitationId\":\"e-1\"");
    client_answer(a.kept[0], SPAN("{\"action\":\"accept\"}"));
    fakes_settle(&rig.fakes);
    CHECK_STR(face_text(a.c.answers[0].result), "{\"action\":\"accept\"}");
    face_close(&a.c);
    rig_done(&rig);
}

static void demand(struct fake_server *f, struct fake_tool *t, struct request *r)
{
    (void)f, (void)t;
    request_fail(r, RPC_URL_ELICITATION_REQUIRED,
                 SPAN("{\"elicitations\":[" URL("e-3") ",7," URL("e-4") "]}"), "open these first");
}

TEST(urls_that_an_error_names_are_known_as_well)
{
    struct hub_rig rig;
    struct fake_server *f;
    struct asked_client a, b;

    rig_init(&rig, NULL);
    f = asking(&rig);
    fake_tool(f, "demand", FAKE_RUN)->run = demand;
    rig_start(&rig);
    asked_open(&rig, &a, NULL, "");
    asked_open(&rig, &b, NULL, "");
    CHECK_HAS(face_refused(&a.c, "tools/call", "{\"name\":\"alpha__demand\"}"), "-32042");
    say_done(&rig, f, (char[]){ "e-4" });
    say_done(&rig, f, (char[]){ "e-3" });
    CHECK_HAS(a.c.notes, "\"e-4\"");
    CHECK_HAS(a.c.notes, "\"e-3\"");
    CHECK(!strstr(b.c.notes, "elicitation"));
    face_close(&a.c);
    face_close(&b.c);
    rig_done(&rig);
}

TEST(a_client_that_has_left_is_not_told)
{
    struct hub_rig rig;
    struct fake_server *f;
    struct asked_client a, b;

    rig_init(&rig, NULL);
    f = asking(&rig);
    rig_start(&rig);
    asked_open(&rig, &a, NULL, "{\"action\":\"accept\"}");
    asked_open(&rig, &b, NULL, "{\"action\":\"accept\"}");
    face_call(&a.c, "alpha__one", "{}");
    face_close(&a.c);
    say_done(&rig, f, (char[]){ "e-1" });
    CHECK(!strstr(b.c.notes, "elicitation"));
    face_close(&b.c);
    rig_done(&rig);
}

static void demand_many(struct fake_server *f, struct fake_tool *t, struct request *r)
{
    AUTO_BUF struct buf data = { 0 };

    (void)f, (void)t;
    buf_str(&data, "{\"elicitations\":[");
    for (int i = 0; i <= RELAY_ELICITS_MAX; i++)
        buf_printf(&data, "%s{\"elicitationId\":\"n-%d\"}", i ? "," : "", i);
    buf_str(&data, "]}");
    request_fail(r, RPC_URL_ELICITATION_REQUIRED, buf_span(&data), "many");
}

TEST(urls_are_remembered_up_to_a_limit_the_newest_ones)
{
    struct hub_rig rig;
    struct fake_server *f;
    struct asked_client a;

    rig_init(&rig, NULL);
    f = asking(&rig);
    fake_tool(f, "many", FAKE_RUN)->run = demand_many;
    rig_start(&rig);
    asked_open(&rig, &a, NULL, "");
    face_refused(&a.c, "tools/call", "{\"name\":\"alpha__many\"}");
    say_done(&rig, f, (char[]){ "n-0" });
    CHECK(!strstr(a.c.notes, "n-0"));
    say_done(&rig, f, (char[]){ "n-1" });
    CHECK_HAS(a.c.notes, "\"n-1\"");
    say_done(&rig, f, (char[]){ "n-1024" });
    CHECK_HAS(a.c.notes, "\"n-1024\"");
    face_close(&a.c);
    rig_done(&rig);
}
