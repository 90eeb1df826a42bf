/* What servers ask when nobody calls: the roots of the one client that has some. */
#include "face/ask_rig.h"
#include "face/host/host.h"
#include "hub/hub/hub.h"
#include "hub/spec/spec.h"
#include "mcp/client/client.h"
#include "mcp/rpc/memory.h"

#define NO_ROOTS   "{\"roots\":[]}"
#define ROOTS(uri) "{\"roots\":[{\"uri\":\"file:///" uri "\",\"x\":1.0}]}"

/* A legacy server that asks for roots. */
static struct fake_server *curious(struct hub_rig *rig, const char *name)
{
    struct fake_server *f = rig_server(rig, name);

    f->era = PB_ERA_LEGACY;
    f->asks_roots = true;
    fake_tool(f, "echo", FAKE_ECHO);
    return f;
}

static void roots_changed(struct asked_client *a)
{
    CHECK_INT(client_notify(a->c.client, "notifications/roots/list_changed", SPAN(""), NULL), 0);
    fakes_settle(a->c.fakes);
}

TEST(a_server_learns_the_roots_of_the_client_that_has_some)
{
    struct hub_rig rig;
    struct fake_server *f;
    struct asked_client a;
    struct face_client plain, modern;

    rig_init(&rig, NULL);
    f = curious(&rig, "alpha");
    rig_start(&rig);
    CHECK_INT(f->n_roots, 1);
    CHECK_STR(f->roots, NO_ROOTS); /* nobody was there */
    face_open(&rig, &plain, NULL, PB_ERA_LEGACY);
    face_open(&rig, &modern, NULL, PB_ERA_MODERN);
    CHECK_INT(f->n_roots, 1);
    asked_open(&rig, &a, NULL, ROOTS("a"));
    CHECK_INT(f->roots_changed, 1);
    CHECK_INT(f->n_roots, 2);
    CHECK_STR(f->roots, ROOTS("a"));
    CHECK_STR(a.method, "roots/list");

    a.answer = ROOTS("b");
    roots_changed(&a);
    CHECK_INT(f->n_roots, 3);
    CHECK_STR(f->roots, ROOTS("b"));

    face_close(&a.c);
    CHECK_INT(f->n_roots, 4);
    CHECK_STR(f->roots, NO_ROOTS);
    face_close(&plain);
    face_close(&modern);
    CHECK_INT(f->n_roots, 4);
    rig_done(&rig);
}

TEST(a_server_that_comes_later_asks_the_client_that_is_there)
{
    struct hub_rig rig;
    struct fake_server *f;
    struct asked_client a;

    rig_init(&rig, NULL);
    asked_open(&rig, &a, NULL, ROOTS("a"));
    f = curious(&rig, "alpha");
    rig_start(&rig);
    CHECK_INT(f->n_roots, 1);
    CHECK_STR(f->roots, ROOTS("a"));
    face_close(&a.c);
    rig_done(&rig);
}

TEST(of_two_clients_with_roots_neither_is_asked)
{
    struct hub_rig rig;
    struct fake_server *f;
    struct asked_client a, b, c;

    rig_init(&rig, NULL);
    f = curious(&rig, "alpha");
    rig_start(&rig);
    asked_open(&rig, &a, NULL, ROOTS("a"));
    asked_open(&rig, &b, NULL, ROOTS("b"));
    CHECK_INT(f->n_roots, 3);
    CHECK_STR(f->roots, NO_ROOTS);
    asked_open(&rig, &c, NULL, ROOTS("c"));
    CHECK_INT(f->n_roots, 3); /* it makes no difference, so nobody is told */
    CHECK_INT(b.n_asked, 0);
    CHECK_INT(c.n_asked, 0);
    face_close(&c.c);
    CHECK_INT(f->n_roots, 3);
    face_close(&a.c);
    CHECK_INT(f->n_roots, 4);
    CHECK_STR(f->roots, ROOTS("b"));
    face_close(&b.c);
    CHECK_STR(f->roots, NO_ROOTS);
    rig_done(&rig);
}

TEST(a_client_is_asked_by_servers_that_it_sees)
{
    struct hub_rig rig;
    struct fake_server *alpha, *beta;
    struct asked_client a;

    rig_init(&rig, NULL);
    alpha = curious(&rig, "alpha");
    beta = curious(&rig, "beta");
    rig_start(&rig);
    asked_open(&rig, &a, &(struct host_scope){ .server = "beta" }, ROOTS("b"));
    CHECK_INT(alpha->n_roots, 1);
    CHECK_STR(alpha->roots, NO_ROOTS);
    CHECK_INT(beta->n_roots, 2);
    CHECK_STR(beta->roots, ROOTS("b"));
    roots_changed(&a);
    CHECK_INT(alpha->n_roots, 1);
    CHECK_INT(beta->n_roots, 3);
    face_close(&a.c);
    rig_done(&rig);
}

#define CHANGED "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/roots/list_changed\"}"

static void hear_nothing(void *ctx, struct span message) { (void)ctx, (void)message; }
static void on_cut(void *ctx) { (void)ctx; }

TEST(a_client_that_has_no_roots_changes_none)
{
    static const struct memory_events events = { hear_nothing, on_cut };
    struct hub_rig rig;
    struct fake_server *f;
    struct face_client plain, modern;
    struct memory_end *stranger;
    struct pb_error err;

    rig_init(&rig, NULL);
    f = curious(&rig, "alpha");
    rig_start(&rig);
    face_open(&rig, &plain, NULL, PB_ERA_LEGACY);
    face_open(&rig, &modern, NULL, PB_ERA_MODERN);
    CHECK_INT(memory_connect(host_server(rig_host(&rig, NULL)), &stranger, &events, NULL, &err), 0);
    memory_send(stranger, (struct span[]){ SPAN(CHANGED) }, 1); /* has not even said hello */
    CHECK_INT(client_notify(plain.client, "notifications/roots/list_changed", SPAN(""), &err), 0);
    CHECK_INT(client_notify(modern.client, "notifications/roots/list_changed", SPAN(""), &err), 0);
    fakes_settle(&rig.fakes);
    CHECK_INT(f->roots_changed, 0);
    memory_close(stranger);
    face_close(&plain);
    face_close(&modern);
    rig_done(&rig);
}

TEST(what_changes_for_one_client_is_not_told_to_the_instances_of_others)
{
    struct hub_rig rig;
    struct fake_server *f;
    struct asked_client a, b;
    size_t told, asked;

    rig_init(&rig, NULL);
    f = curious(&rig, "alpha");
    rig_spec_of(&rig, "alpha")->instance = SPEC_PER_CLIENT;
    rig_start(&rig);
    asked_open(&rig, &a, NULL, ROOTS("a"));
    asked_open(&rig, &b, NULL, ROOTS("b"));
    CHECK_STR(face_call(&a.c, "alpha__echo", "{}"), "{}");
    CHECK_STR(face_call(&b.c, "alpha__echo", "{}"), "{}");
    fakes_settle(&rig.fakes);
    told = f->roots_changed;
    asked = b.n_asked;
    roots_changed(&a);
    CHECK_INT(f->roots_changed, told + 2); /* the shared one and its own */
    CHECK_INT(b.n_asked, asked);
    face_close(&b.c);
    face_close(&a.c);
    rig_done(&rig);
}

TEST(roots_that_change_often_in_one_turn_have_changed_once)
{
    struct hub_rig rig;
    struct fake_server *f;
    struct asked_client a;

    rig_init(&rig, NULL);
    f = curious(&rig, "alpha");
    rig_start(&rig);
    asked_open(&rig, &a, NULL, ROOTS("a"));
    f->roots_changed = 0;
    for (int i = 0; i < 10; i++)
        CHECK_INT(client_notify(a.c.client, "notifications/roots/list_changed", SPAN(""), NULL), 0);
    fakes_settle(&rig.fakes);
    CHECK_INT(f->roots_changed, 1);
    roots_changed(&a); /* in another turn */
    CHECK_INT(f->roots_changed, 2);
    face_close(&a.c);
    rig_done(&rig);
}

TEST(a_server_always_gets_a_list_whatever_the_client_does)
{
    static const char *const answers[] = { "", "{}", "{\"roots\":null}", "[]", "7" };
    struct hub_rig rig;
    struct fake_server *f;
    struct asked_client a;

    rig_init(&rig, NULL);
    f = curious(&rig, "alpha");
    rig_start(&rig);
    for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
        f->roots[0] = '\0';
        asked_open(&rig, &a, NULL, answers[i]);
        CHECK_INT(a.n_asked, 1);
        CHECK_STR(f->roots, NO_ROOTS);
        face_close(&a.c);
    }
    rig_done(&rig);
}

TEST(a_client_that_does_not_say_its_roots_is_not_waited_for_long)
{
    struct hub_rig rig;
    struct fake_server *f;
    struct asked_client a;

    rig_init(&rig, NULL);
    f = curious(&rig, "alpha");
    rig_start(&rig);
    asked_open(&rig, &a, NULL, NULL);
    CHECK_INT(f->n_roots, 1);
    loop_advance(rig.fakes.loop, HOST_ROOTS_MS - 1);
    fakes_settle(&rig.fakes);
    CHECK_INT(f->n_roots, 1);
    loop_advance(rig.fakes.loop, 1);
    fakes_settle(&rig.fakes);
    CHECK_INT(f->n_roots, 2);
    CHECK_STR(f->roots, NO_ROOTS);
    face_close(&a.c);
    rig_done(&rig);
}

TEST(whoever_leaves_while_roots_are_asked_for_hurts_nobody)
{
    struct hub_rig rig;
    struct fake_server *f;
    struct asked_client a;
    struct pb_error err;

    rig_init(&rig, NULL);
    f = curious(&rig, "alpha");
    rig_start(&rig);
    asked_open(&rig, &a, NULL, NULL);
    face_close(&a.c); /* the client: the server has its answer at once, and again when told */
    CHECK_INT(f->n_roots, 3);
    CHECK_STR(f->roots, NO_ROOTS);

    asked_open(&rig, &a, NULL, NULL);
    CHECK_INT(a.n_asked, 1);
    CHECK_INT(hub_remove(rig.hub, "alpha", &err), 0); /* the server: nobody wants to know it */
    fakes_settle(&rig.fakes);
    CHECK_INT(a.n_withdrawn, 1);
    face_close(&a.c);
    rig_done(&rig);
}

TEST(roots_that_nobody_wants_to_know_any_more_are_taken_back_from_the_client)
{
    for (int dies = 0; dies < 2; dies++) {
        struct hub_rig rig;
        struct fake_server *f;
        struct asked_client a;

        rig_init(&rig, NULL);
        f = curious(&rig, "alpha");
        f->roots_ms = HOST_ROOTS_MS / 2;
        rig_start(&rig);
        asked_open(&rig, &a, NULL, NULL);
        CHECK_INT(a.n_asked, 1);
        CHECK_INT(a.n_withdrawn, 0);
        if (dies)
            fake_break(f, "the server was killed by signal 9");
        else
            loop_advance(rig.fakes.loop, HOST_ROOTS_MS / 2); /* the server waits no longer */
        fakes_settle(&rig.fakes);
        CHECK_INT(a.n_withdrawn, 1);
        loop_advance(rig.fakes.loop, HOST_ROOTS_MS); /* nothing is left of it */
        fakes_settle(&rig.fakes);
        face_close(&a.c);
        rig_done(&rig);
    }
}

/* MCP_QUESTIONS_MAX: each was taken back, so that there is room for one more. */
TEST(questions_that_were_taken_back_do_not_fill_the_places_of_a_client)
{
    struct hub_rig rig;
    struct fake_server *f;
    struct asked_client a;

    rig_init(&rig, NULL);
    f = curious(&rig, "alpha");
    f->roots_ms = 1;
    rig_start(&rig);
    asked_open(&rig, &a, NULL, NULL);
    for (size_t i = 1; i < MCP_QUESTIONS_MAX + 2; i++) {
        loop_advance(rig.fakes.loop, 1);
        fakes_settle(&rig.fakes);
        CHECK_INT(a.n_withdrawn, 1);
        a.n_asked = a.n_withdrawn = 0;
        roots_changed(&a);
        CHECK_INT(a.n_asked, 1);
    }
    face_close(&a.c);
    rig_done(&rig);
}

TEST(an_instance_of_its_own_gets_the_roots_of_its_client)
{
    struct hub_rig rig;
    struct fake_server *f;
    struct asked_client a, b;
    struct face_client plain;

    rig_init(&rig, NULL);
    f = curious(&rig, "alpha");
    rig_spec_of(&rig, "alpha")->instance = SPEC_PER_CLIENT;
    rig_start(&rig);
    asked_open(&rig, &a, NULL, ROOTS("a"));
    asked_open(&rig, &b, NULL, ROOTS("b"));
    face_open(&rig, &plain, NULL, PB_ERA_LEGACY);
    CHECK_STR(face_call(&a.c, "alpha__echo", "{}"), "{}");
    fakes_settle(&rig.fakes);
    CHECK_STR(f->roots, ROOTS("a"));
    CHECK_STR(face_call(&b.c, "alpha__echo", "{}"), "{}");
    fakes_settle(&rig.fakes);
    CHECK_STR(f->roots, ROOTS("b"));
    CHECK_STR(face_call(&plain, "alpha__echo", "{}"), "{}");
    fakes_settle(&rig.fakes);
    CHECK_STR(f->roots, NO_ROOTS);
    face_close(&plain);
    face_close(&b.c);
    face_close(&a.c);
    rig_done(&rig);
}

TEST(a_server_that_goes_while_the_hosts_close_leaves_no_question_behind)
{
    struct hub_rig rig;
    struct asked_client a;
    struct pb_error err;

    rig_init(&rig, NULL);
    curious(&rig, "alpha");
    fake_tool(rig_server(&rig, "beta"), "slow", FAKE_HANG);
    rig_start(&rig);
    asked_open(&rig, &a, NULL, NULL);
    CHECK_INT(a.n_asked, 1);
    face_send(&a.c, "tools/call", "{\"name\":\"beta__slow\",\"arguments\":{}}");
    fakes_settle(&rig.fakes);
    hosts_close(rig.hosts, rig_on_hosts_closed, &rig); /* waits for the call */
    CHECK(!rig.hosts_closed);
    CHECK_INT(hub_remove(rig.hub, "alpha", &err), 0);
    fakes_settle(&rig.fakes);
    CHECK_INT(a.n_withdrawn, 1);
    face_close(&a.c);
    FAKES_UNTIL(&rig.fakes, rig.hosts_closed);
    rig_done(&rig);
}
