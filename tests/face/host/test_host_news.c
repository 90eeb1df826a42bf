#include "face/host/host.h"
#include "face/host_rig.h"
#include "hub/hub/hub.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"
#include "mcp/client/client.h"
#include "mcp/serve/serve.h"

TEST(a_change_of_a_list_is_told_to_the_clients_that_see_it)
{
    TWO_ERAS(era)
    {
        struct hub_rig rig;
        struct fake_server *f;
        struct face_client all, alpha, beta;

        rig_init(&rig, NULL);
        f = rig_server(&rig, "alpha");
        fake_tool(f, "one", FAKE_TEXT);
        fake_resource(f, "file:///r", "r");
        fake_prompt(f, "p", "p");
        rig_server(&rig, "beta");
        rig_start(&rig);
        face_open(&rig, &all, NULL, era);
        face_open(&rig, &alpha, &(struct host_scope){ .server = "alpha" }, era);
        face_open(&rig, &beta, &(struct host_scope){ .server = "beta" }, era);
        fakes_settle(&rig.fakes);
        all.notes[0] = alpha.notes[0] = beta.notes[0] = '\0';

        fake_tool(f, "two", FAKE_TEXT);
        server_list_changed(f->server, "tools");
        fakes_settle(&rig.fakes);
        CHECK_HAS(all.notes, "notifications/tools/list_changed");
        CHECK_HAS(alpha.notes, "notifications/tools/list_changed");
        CHECK(!strstr(all.notes, "resources/list_changed"));
        CHECK_STR(beta.notes, "");
        CHECK_STR(face_tools(&all), "alpha__one alpha__two");
        CHECK_STR(face_tools(&alpha), "one two");

        all.notes[0] = '\0';
        fake_resource(f, "file:///s", "s");
        fake_prompt(f, "q", "q");
        server_list_changed(f->server, "resources");
        server_list_changed(f->server, "prompts");
        fakes_settle(&rig.fakes);
        CHECK_HAS(all.notes, "notifications/resources/list_changed");
        CHECK_HAS(all.notes, "notifications/prompts/list_changed");
        CHECK(!strstr(all.notes, "tools/list_changed"));
        face_close(&all);
        face_close(&alpha);
        face_close(&beta);
        rig_done(&rig);
    }
}

static void subscribe(struct face_client *c, const char *uri, bool on)
{
    struct pb_error err;
    struct fake_reply done = { 0 };

    CHECK_INT(on ? client_subscribe(c->client, span_of(uri), fake_on_reply, &done, &err)
                 : client_unsubscribe(c->client, span_of(uri), fake_on_reply, &done, &err),
              0);
    FAKES_UNTIL(c->fakes, done.count);
    if (done.err.code)
        TAP_FAIL("%s", done.err.msg);
    fake_reply_done(&done);
    fakes_settle(c->fakes);
}

TEST(updates_of_a_resource_reach_its_subscribers_under_the_uri_they_know)
{
    TWO_ERAS(era)
    {
        struct hub_rig rig;
        struct fake_server *alpha, *beta;
        struct face_client a, b, one;

        rig_init(&rig, NULL);
        alpha = rig_server(&rig, "alpha");
        fake_resource(alpha, "file:///both", "1");
        beta = rig_server(&rig, "beta");
        fake_resource(beta, "file:///both", "2");
        rig_start(&rig);
        face_open(&rig, &a, NULL, era);
        face_open(&rig, &b, NULL, era);
        face_open(&rig, &one, &(struct host_scope){ .server = "beta" }, era);
        subscribe(&a, "file:///both", true);
        subscribe(&b, "patchbay://beta/file:///both", true);
        subscribe(&one, "file:///both", true);
        CHECK_INT(alpha->watched, 1);
        CHECK_INT(beta->watched, 1); /* two hosts, one subscription */
        a.notes[0] = b.notes[0] = one.notes[0] = '\0';

        server_resource_updated(beta->server, SPAN("file:///both"));
        fakes_settle(&rig.fakes);
        CHECK_STR(a.notes, "");
        CHECK_HAS(b.notes, "notifications/resources/updated");
        CHECK_HAS(b.notes, "\"uri\":\"patchbay://beta/file:///both\"");
        CHECK_HAS(one.notes, "\"uri\":\"file:///both\"");
        server_resource_updated(alpha->server, SPAN("file:///both"));
        fakes_settle(&rig.fakes);
        CHECK_HAS(a.notes, "\"uri\":\"file:///both\"");

        subscribe(&b, "patchbay://beta/file:///both", false);
        CHECK_INT(beta->unwatched, 0);
        face_close(&one); /* leaving ends it as well */
        CHECK_INT(beta->unwatched, 1);
        face_close(&b);
        face_close(&a);
        CHECK_INT(alpha->unwatched, 1);
        rig_done(&rig);
    }
}

TEST(one_resource_under_two_uris_is_told_under_both)
{
    struct hub_rig rig;
    struct fake_server *f;
    struct face_client c;

    rig_init(&rig, NULL);
    f = rig_server(&rig, "alpha");
    fake_resource(f, "file:///x", "1");
    rig_start(&rig);
    face_open(&rig, &c, NULL, PB_ERA_LEGACY);
    subscribe(&c, "file:///x", true);
    subscribe(&c, "patchbay://alpha/file:///x", true);
    server_resource_updated(f->server, SPAN("file:///x"));
    fakes_settle(&rig.fakes);
    CHECK_HAS(c.notes, "{\"uri\":\"file:///x\"}");
    CHECK_HAS(c.notes, "{\"uri\":\"patchbay://alpha/file:///x\"}");

    subscribe(&c, "file:///x", false);
    c.notes[0] = '\0';
    server_resource_updated(f->server, SPAN("file:///x"));
    fakes_settle(&rig.fakes);
    CHECK_STR(c.notes,
              "notifications/resources/updated {\"uri\":\"patchbay://alpha/file:///x\"}\n");
    face_close(&c);
    rig_done(&rig);
}

TEST(what_nobody_has_cannot_be_subscribed_to)
{
    struct hub_rig rig;
    struct face_client c;

    rig_init(&rig, NULL);
    rig_server(&rig, "alpha");
    rig_start(&rig);
    face_open(&rig, &c, NULL, PB_ERA_LEGACY);
    CHECK_HAS(face_refused(&c, "resources/subscribe", "{\"uri\":\"file:///none\"}"), "-32002");
    face_close(&c);
    rig_done(&rig);
}

TEST(a_subscription_outlives_the_server_that_it_is_with)
{
    struct hub_rig rig;
    struct fake_server *f;
    struct face_client c;
    struct spec *again;
    struct pb_error err;

    rig_init(&rig, NULL);
    f = rig_server(&rig, "alpha");
    fake_resource(f, "file:///x", "1");
    rig_start(&rig);
    face_open(&rig, &c, NULL, PB_ERA_LEGACY);
    subscribe(&c, "file:///x", true);
    CHECK_INT(hub_remove(rig.hub, "alpha", &err), 0);
    fakes_settle(&rig.fakes);
    again = spec_stdio("alpha", "fake", NULL, NULL);
    hub_start_all(rig.hub, &again, 1);
    spec_unref(again);
    fakes_settle(&rig.fakes);
    CHECK_INT(f->watched, 2);
    c.notes[0] = '\0';
    server_resource_updated(f->server, SPAN("file:///x"));
    fakes_settle(&rig.fakes);
    CHECK_STR(c.notes, "notifications/resources/updated {\"uri\":\"file:///x\"}\n");
    face_close(&c);
    CHECK_INT(f->unwatched, 2);
    rig_done(&rig);
}

TEST(log_messages_name_their_server_and_heed_the_level)
{
    struct hub_rig rig;
    struct fake_server *f;
    struct face_client all, one;

    rig_init(&rig, NULL);
    f = rig_server(&rig, "alpha");
    f->era = PB_ERA_LEGACY; /* modern servers talk about requests only */
    rig_start(&rig);
    face_open(&rig, &all, NULL, PB_ERA_LEGACY);
    face_open(&rig, &one, &(struct host_scope){ .server = "alpha" }, PB_ERA_LEGACY);
    face_get(&one, "logging/setLevel", "{\"level\":\"error\"}");
    all.notes[0] = one.notes[0] = '\0';
    pb_server_log(f->server, PB_LOG_WARNING, "db", "{\"n\":1.0}");
    pb_server_log(f->server, PB_LOG_ERROR, NULL, "\"late\"");
    fakes_settle(&rig.fakes);
    CHECK_STR(all.notes,
              "notifications/message {\"level\":\"warning\",\"logger\":\"alpha/db\",\"data\":"
              "{\"n\":1.0}}\n"
              "notifications/message {\"level\":\"error\",\"logger\":\"alpha\",\"data\":"
              "\"late\"}\n");
    CHECK_STR(one.notes, "notifications/message {\"level\":\"error\",\"data\":\"late\"}\n");
    face_close(&all);
    face_close(&one);
    rig_done(&rig);
}

#define SAYS(level, data)                                                                      \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"" level \
    "\",\"logger\":\"db\",\"data\":\"" data "\"}}"

TEST(what_the_own_instance_of_a_client_logs_is_told_to_that_client_alone)
{
    TWO_ERAS(era)
    {
        struct hub_rig rig;
        struct fake_server *f;
        struct face_client a, b, one;

        rig_init(&rig, NULL);
        f = rig_server(&rig, "alpha");
        f->era = PB_ERA_LEGACY;
        fake_tool(f, "echo", FAKE_ECHO);
        rig_spec_of(&rig, "alpha")->instance = SPEC_PER_CLIENT;
        rig_start(&rig);
        face_open(&rig, &a, NULL, era);
        face_open(&rig, &b, NULL, PB_ERA_LEGACY);
        face_open(&rig, &one, &(struct host_scope){ .server = "alpha" }, PB_ERA_LEGACY);
        CHECK_STR(face_call(&one, "echo", "{}"), "{}");
        CHECK_STR(face_call(&a, "alpha__echo", "{\"secret\":1}"), "{\"secret\":1}");
        a.notes[0] = b.notes[0] = one.notes[0] = '\0';
        fake_say_raw(f, SAYS("warning", "of a")); /* by the newest connection */
        fake_say_raw(f, SAYS("debug", "not wanted"));
        fakes_settle(&rig.fakes);
        CHECK_STR(a.notes, era == PB_ERA_MODERN
                               ? "" /* hears of its requests only */
                               : "notifications/message {\"level\":\"warning\",\"logger\":"
                                 "\"alpha/db\",\"data\":\"of a\"}\n");
        CHECK_STR(b.notes, "");
        CHECK_STR(one.notes, "");
        face_close(&a);
        face_close(&b);
        face_close(&one);
        rig_done(&rig);
    }
}

TEST(many_clients_of_both_eras_get_their_own_answers)
{
    enum { CLIENTS = 60, CALLS = 5 };
    struct hub_rig rig;
    struct fake_server *f;
    struct face_client *c = mem_zero(CLIENTS * sizeof *c);

    rig_init(&rig, NULL);
    f = rig_server(&rig, "alpha");
    fake_tool(f, "echo", FAKE_ECHO);
    fake_tool(rig_server(&rig, "beta"), "echo", FAKE_ECHO);
    rig_start(&rig);
    for (int i = 0; i < CLIENTS; i++)
        face_open(&rig, &c[i], NULL, rig_eras[i % 2]);
    for (int k = 0; k < CALLS; k++)
        for (int i = 0; i < CLIENTS; i++) {
            char params[128];

            snprintf(params, sizeof params,
                     "{\"name\":\"%s__echo\",\"arguments\":{\"client\":%d,\"call\":%d}}",
                     (i + k) % 3 ? "alpha" : "beta", i, k);
            face_send(&c[i], "tools/call", params);
        }
    fakes_settle(&rig.fakes);
    for (int i = 0; i < CLIENTS; i++)
        for (int k = 0; k < CALLS; k++) {
            char want[64];

            CHECK_INT(c[i].answers[k].count, 1);
            CHECK(c[i].answers[k].result != NULL);
            snprintf(want, sizeof want, "{\"client\":%d,\"call\":%d}", i, k);
            CHECK_STR(face_text(c[i].answers[k].result), want);
        }
    for (int i = 0; i < CLIENTS; i++)
        face_close(&c[i]);
    free(c);
    rig_done(&rig);
}

TEST(a_client_that_leaves_cancels_what_it_asked_for)
{
    TWO_ERAS(era)
    {
        struct hub_rig rig;
        struct fake_server *f;
        struct face_client stays, leaves;

        rig_init(&rig, NULL);
        f = rig_server(&rig, "alpha");
        fake_tool(f, "hang", FAKE_HANG);
        rig_start(&rig);
        face_open(&rig, &stays, NULL, era);
        face_open(&rig, &leaves, NULL, era);
        face_send(&stays, "tools/call", "{\"name\":\"alpha__hang\"}");
        face_send(&leaves, "tools/call", "{\"name\":\"alpha__hang\"}");
        fakes_settle(&rig.fakes);
        CHECK_INT(f->n_held, 2);
        face_close(&leaves);
        CHECK_INT(f->cancellations, 1);
        CHECK_INT(f->n_held, 1);
        fake_release(f, 0, "late");
        fakes_settle(&rig.fakes);
        CHECK_STR(face_text(stays.answers[0].result), "late");
        face_close(&stays);
        rig_done(&rig);
    }
}

TEST(each_client_has_its_own_instance_of_a_server_that_is_per_client)
{
    struct hub_rig rig;
    struct fake_server *f;
    struct face_client a, b;
    char first[sizeof f->last_caller];
    size_t shared, closes;

    rig_init(&rig, NULL);
    f = rig_server(&rig, "alpha");
    fake_tool(f, "echo", FAKE_ECHO);
    rig_spec_of(&rig, "alpha")->instance = SPEC_PER_CLIENT;
    rig_start(&rig);
    shared = f->connects;
    face_open(&rig, &a, NULL, PB_ERA_LEGACY);
    face_open(&rig, &b, NULL, PB_ERA_MODERN);
    CHECK_STR(face_call(&a, "alpha__echo", "{\"a\":1}"), "{\"a\":1}");
    CHECK_INT(f->connects, shared + 1);
    snprintf(first, sizeof first, "%s", f->last_caller);
    CHECK_STR(face_call(&b, "alpha__echo", "{\"b\":1}"), "{\"b\":1}");
    CHECK_INT(f->connects, shared + 2);
    CHECK(strcmp(first, f->last_caller) != 0);
    CHECK_STR(face_call(&a, "alpha__echo", "{\"a\":2}"), "{\"a\":2}");
    CHECK_INT(f->connects, shared + 2);
    closes = f->closes;
    face_close(&a);
    CHECK_INT(f->closes, closes + 1);
    face_close(&b);
    CHECK_INT(f->closes, closes + 2);
    rig_done(&rig);
}

TEST(hosts_end_with_their_clients_connected_and_calls_under_way)
{
    struct hub_rig rig;
    struct fake_server *f;
    struct face_client c;
    struct fake_reply *a;
    struct host *h;
    struct pb_error err;

    rig_init(&rig, NULL);
    f = rig_server(&rig, "alpha");
    fake_tool(f, "hang", FAKE_HANG);
    rig_start(&rig);
    face_open(&rig, &c, NULL, PB_ERA_LEGACY);
    a = face_send(&c, "tools/call", "{\"name\":\"alpha__hang\"}");
    fakes_settle(&rig.fakes);
    hosts_close(rig.hosts, rig_on_hosts_closed, &rig);
    CHECK_INT(hosts_get(rig.hosts, &(struct host_scope){ 0 }, &h, &err), -PB_E_CLOSED);
    FAKES_UNTIL(&rig.fakes, rig.hosts_closed);
    CHECK_INT(a->count, 1);
    CHECK_INT(f->n_held, 0);
    face_close(&c);
    rig_done(&rig);
}

/* Each has fifteen literals and fits nothing that has no "b": see CATALOG_STEPS_MAX. */
static void costly_templates(struct buf *b)
{
    for (int i = 0; i < CATALOG_TEMPLATES_MAX - 1; i++) {
        buf_printf(b, "%s{\"uriTemplate\":\"x:", i ? "," : "[");
        for (int k = 0; k < 14; k++)
            buf_printf(b, "{+v%d_%d}a", i, k);
        buf_str(b, "{+w}ba{z}\"}");
    }
    buf_str(b, ",{\"uriTemplate\":\"z:{v}\"}]");
}

/* A stream about many URIs, which each could cost as much as one lookup may. */
TEST(what_a_stream_costs_to_be_opened_is_bounded_for_all_of_its_resources)
{
    AUTO_BUF struct buf list = { 0 }, params = { 0 };
    struct hub_rig rig;
    struct face_client c;
    struct fake_server *f;

    costly_templates(&list);
    for (int many = 0; many < 2; many++) {
        rig_init(&rig, NULL);
        f = rig_server(&rig, "alpha");
        fake_resource(f, "y:1", "so that it can tell of changes");
        rig_start(&rig);
        rig_list(&rig, "alpha", LIST_TEMPLATES, buf_cstr(&list));
        face_open(&rig, &c, NULL, PB_ERA_MODERN);
        params.n = 0;
        buf_str(&params, "{\"notifications\":{\"resourceSubscriptions\":[");
        for (int i = 0; i < 4 * many; i++)
            buf_printf(&params, "\"x:%d%01000d\",", i, 0);
        buf_str(&params, "\"z:1\"]}}");
        face_send(&c, "subscriptions/listen", buf_cstr(&params));
        fakes_settle(&rig.fakes);
        CHECK_INT(f->watched, many ? 0 : 1);
        face_close(&c);
        rig_done(&rig);
    }
}
