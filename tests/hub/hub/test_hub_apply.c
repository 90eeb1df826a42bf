/* A config that changed: exactly what changed is started, stopped and restarted. */
#include "hub/catalog/catalog.h"
#include "hub/config/config.h"
#include "hub/config_rig.h"
#include "hub/hub/hub.h"
#include "hub/hub_rig.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"

static void put(struct config *c, const char *name, struct rig_spec want)
{
    map_put(&c->specs, span_of(name), rig_spec(name, &want));
}

static struct hub_changes apply(struct hub_rig *r, struct config *c)
{
    struct hub_changes done = hub_apply(r->hub, c);

    config_free(c);
    fakes_settle(&r->fakes);
    return done;
}

static void check_changes(struct hub_changes c, size_t added, size_t removed, size_t restarted,
                          size_t updated)
{
    CHECK_INT(c.added, added);
    CHECK_INT(c.removed, removed);
    CHECK_INT(c.restarted, restarted);
    CHECK_INT(c.updated, updated);
}

TEST(only_what_changed_is_touched)
{
    struct hub_rig r;
    struct fake_server *same, *gone, *other, *fresh;
    struct config *c = config_new();

    hub_rig_init(&r);
    hub_rig_start(&r);
    same = hub_rig_server(&r, "same");
    gone = hub_rig_server(&r, "gone");
    other = hub_rig_server(&r, "other");
    fresh = hub_rig_server(&r, "fresh");
    put(c, "same", (struct rig_spec){ .arg = "1" });
    put(c, "gone", (struct rig_spec){ 0 });
    put(c, "other", (struct rig_spec){ .arg = "old" });
    check_changes(apply(&r, c), 3, 0, 0, 0);
    CHECK_INT(hub_rig_state(&r, "same"), LINK_CONNECTED);
    CHECK_INT(hub_rig_tools(&r, NULL), 3);

    c = config_new();
    r.changes[0] = '\0';
    put(c, "fresh", (struct rig_spec){ 0 });
    put(c, "other", (struct rig_spec){ .arg = "new" });
    put(c, "same", (struct rig_spec){ .arg = "1" });
    check_changes(apply(&r, c), 1, 1, 1, 0);
    CHECK_INT(same->connects, 1);
    CHECK_INT(same->closes, 0);
    CHECK_INT(gone->closes, 1);
    CHECK_INT(other->connects, 2);
    CHECK_INT(other->closes, 1);
    CHECK_INT(fresh->connects, 1);
    CHECK(!hub_link(r.hub, "gone"));
    CHECK_STR(link_spec(hub_link(r.hub, "other"))->args[0], "new");
    CHECK_INT(hub_rig_state(&r, "other"), LINK_CONNECTED);
    CHECK_INT(hub_rig_tools(&r, NULL), 3);
    CHECK_HAS(r.changes, "tools@gone ");
    CHECK_HAS(r.changes, "tools@other ");
    CHECK_HAS(r.changes, "tools@fresh ");
    CHECK(!strstr(r.changes, "@same"));
    CHECK_INT(fakes_count(&r.fakes, EVENT_SERVER_REMOVED, "gone", NULL), 1);

    c = config_new();
    put(c, "fresh", (struct rig_spec){ 0 });
    put(c, "other", (struct rig_spec){ .arg = "new" });
    put(c, "same", (struct rig_spec){ .arg = "1" });
    check_changes(apply(&r, c), 0, 0, 0, 0);
    hub_rig_done(&r);
}

TEST(what_needs_no_new_connection_gets_none)
{
    static const char *const off[] = { "echo", NULL };
    struct hub_rig r;
    struct fake_server *f;
    struct config *c = config_new();

    hub_rig_init(&r);
    hub_rig_start(&r);
    f = hub_rig_server(&r, "a");
    put(c, "a", (struct rig_spec){ 0 });
    apply(&r, c);
    c = config_new();
    r.changes[0] = '\0';
    put(c, "a", (struct rig_spec){ .disabled_tools = off, .timeout_ms = 1234 });
    check_changes(apply(&r, c), 0, 0, 0, 1);
    CHECK_INT(f->connects, 1);
    CHECK_INT(link_spec(hub_link(r.hub, "a"))->timeout_ms, 1234);
    CHECK_HAS(r.changes, "tools@a ");
    CHECK(
        !catalog_find(hub_catalog(r.hub), &(struct scope){ 0 }, LIST_TOOLS, SPAN("a/echo"), NULL));
    hub_rig_done(&r);
}

/* S1-62 */
TEST(a_server_that_becomes_disabled_is_stopped_and_one_that_becomes_enabled_started)
{
    struct hub_rig r;
    struct fake_server *f;
    struct config *c = config_new();

    hub_rig_init(&r);
    hub_rig_start(&r);
    f = hub_rig_server(&r, "a");
    put(c, "a", (struct rig_spec){ 0 });
    apply(&r, c);
    CHECK_INT(hub_rig_state(&r, "a"), LINK_CONNECTED);
    c = config_new();
    put(c, "a", (struct rig_spec){ .disabled = true });
    apply(&r, c);
    CHECK_INT(hub_rig_state(&r, "a"), LINK_DISABLED);
    CHECK_INT(f->closes, 1);
    CHECK_INT(hub_rig_tools(&r, "a"), 0);
    c = config_new();
    put(c, "a", (struct rig_spec){ 0 });
    apply(&r, c);
    CHECK_INT(hub_rig_state(&r, "a"), LINK_CONNECTED);
    CHECK_INT(hub_rig_tools(&r, "a"), 1);
    hub_rig_done(&r);
}

TEST(servers_that_came_by_a_face_are_left_alone)
{
    struct hub_rig r;
    struct fake_server *f;
    struct config *c = config_new();

    hub_rig_init(&r);
    hub_rig_start(&r);
    f = hub_rig_up(&r, "mine", (struct rig_spec){ .runtime_only = true });
    put(c, "mine", (struct rig_spec){ .arg = "other" });
    check_changes(apply(&r, c), 0, 0, 0, 0);
    check_changes(apply(&r, config_new()), 0, 0, 0, 0);
    CHECK_INT(hub_rig_state(&r, "mine"), LINK_CONNECTED);
    CHECK_INT(f->connects, 1);
    hub_rig_done(&r);
}

TEST(a_call_waits_for_the_new_process_and_one_that_ran_on_the_old_ends)
{
    struct hub_rig r;
    struct fake_server *f;
    struct fake_reply ran = { 0 }, waits = { 0 };
    struct config *c = config_new();
    struct pb_error err;

    hub_rig_init(&r);
    hub_rig_start(&r);
    f = hub_rig_server(&r, "a");
    fake_tool(f, "hang", FAKE_HANG);
    put(c, "a", (struct rig_spec){ 0 });
    apply(&r, c);
    CHECK_INT(hub_rig_call(&r, "a", "hang", &ran, NULL, &err), 0);
    fakes_settle(&r.fakes);
    c = config_new();
    put(c, "a", (struct rig_spec){ .arg = "new" });
    hub_apply(r.hub, c);
    config_free(c);
    CHECK_INT(ran.count, 1);
    CHECK_INT(fault_of(&ran.err), FAULT_NOT_CONNECTED);
    CHECK_INT(hub_rig_call(&r, "a", "echo", &waits, NULL, &err), 0);
    HUB_RIG_REACHES(&r, "a", LINK_CONNECTED);
    FAKES_UNTIL(&r.fakes, waits.count);
    CHECK(waits.result != NULL);
    CHECK_INT(f->connects, 2);
    fake_reply_done(&waits);
    hub_rig_done(&r);
}

TEST(the_modes_are_those_of_the_config)
{
    struct hub_rig r;
    AUTO_JSON struct json_doc doc = { 0 };
    struct config *c = config_new();
    struct pb_error err;

    hub_rig_init(&r);
    hub_rig_start(&r);
    CHECK(mode_find(hub_modes(r.hub), SPAN("full")) != NULL);
    CHECK_INT(json_parse(&doc, SPAN("{\"name\":\"Read\",\"filter\":\"all\"}"), NULL, &err), 0);
    CHECK_INT(mode_set_add(c->modes, SPAN("read"), json_root(&doc), &err), 0);
    apply(&r, c);
    CHECK(mode_find(hub_modes(r.hub), SPAN("read")) != NULL);
    CHECK_STR(r.changes, "tools@ ");
    hub_rig_done(&r);
}

TEST(a_config_that_says_the_same_in_other_bytes_changes_nothing)
{
    static const char *const texts[] = {
        "{\"mcpServers\":{\"a\":{\"command\":\"x\"}},\"modes\":{\"m\":{\"filter\":{\"tools\":[\"t\"]}}}}",
        "{ \"modes\" : {\"m\":{ \"filter\": {\"tools\" :[ \"t\" ]}}},\n \"mcpServers\":{\"a\":\t"
        "{\"command\":\"x\"}} }\n",
        "{\"mcpServers\":{\"a\":{\"command\":\"x\"}},\"modes\":{\"m\":{\"filter\":{\"tools\":[\"u\"]}}}}",
        "{\"mcpServers\":{\"a\":{\"command\":\"x\"}},\"modes\":{\"m\":{\"name\":\"M\",\"filter\":{"
        "\"tools\":[\"u\"]}}}}",
        "{\"mcpServers\":{\"a\":{\"command\":\"x\"}}}",
    };
    static const char *const changes[] = { NULL, "", "tools@ ", "tools@ ", "tools@ " };
    struct hub_rig r;

    hub_rig_init(&r);
    hub_rig_start(&r);
    r.fakes.fallback = hub_rig_server(&r, "any");
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct config *c = config_rig_parse(texts[i], NULL);

        r.changes[0] = '\0';
        fakes_forget_events(&r.fakes);
        apply(&r, c);
        fakes_settle(&r.fakes);
        if (changes[i])
            CHECK_STR(r.changes, changes[i]);
        CHECK(!changes[i] || !r.fakes.n_events);
    }
    hub_rig_done(&r);
}

TEST(subscriptions_go_over_to_the_server_that_takes_the_place_of_another)
{
    struct hub_rig r;
    struct fake_server *f;
    struct config *c = config_new();

    hub_rig_init(&r);
    hub_rig_start(&r);
    f = hub_rig_server(&r, "a");
    fake_resource(f, "file:///x", "1");
    hub_rig_begin(&r, "a", (struct rig_spec){ .arg = "one" });
    HUB_RIG_REACHES(&r, "a", LINK_CONNECTED);
    hub_subscribe_resource(r.hub, "a", SPAN("file:///x"), true);
    hub_subscribe_resource(r.hub, "a", SPAN("file:///x"), true);
    fakes_settle(&r.fakes);
    CHECK_INT(f->watched, 1);

    put(c, "a", (struct rig_spec){ .arg = "two" });
    check_changes(apply(&r, c), 0, 0, 1, 0);
    HUB_RIG_REACHES(&r, "a", LINK_CONNECTED);
    fakes_settle(&r.fakes);
    CHECK_INT(f->connects, 2);
    CHECK_INT(f->unwatched, 1); /* the old connection, by its end */
    CHECK_INT(f->watched, 2);

    /* Still counted: the last one who leaves ends it. */
    hub_subscribe_resource(r.hub, "a", SPAN("file:///x"), false);
    fakes_settle(&r.fakes);
    CHECK_INT(f->unwatched, 1);
    hub_subscribe_resource(r.hub, "a", SPAN("file:///x"), false);
    fakes_settle(&r.fakes);
    CHECK_INT(f->unwatched, 2);
    hub_rig_done(&r);
}

TEST(a_server_that_is_replaced_waits_for_the_end_of_the_old_one_and_for_no_clock)
{
    struct hub_rig r;
    struct fake_server *f;
    struct config *c = config_new();
    uint64_t before;

    hub_rig_init(&r);
    hub_rig_start(&r);
    f = hub_rig_up(&r, "a", (struct rig_spec){ .arg = "one" });
    before = loop_now(r.fakes.loop);
    put(c, "a", (struct rig_spec){ .arg = "two" });
    check_changes(apply(&r, c), 0, 0, 1, 0);
    HUB_RIG_REACHES(&r, "a", LINK_CONNECTED);
    CHECK_INT(f->closes, 1);
    CHECK_INT(f->connects, 2);
    CHECK_INT(loop_now(r.fakes.loop), before);
    hub_rig_done(&r);
}
