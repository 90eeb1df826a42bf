/* What a server offers: lists at the start, changes, resources that are watched. */
#include "hub/link/link.h"
#include "hub/link_rig.h"
#include "mcp/rpc/rpc.h"
#include "mcp/serve/serve.h"

TEST(what_is_declared_is_listed_and_what_is_not_is_empty)
{
    struct link_rig rig;

    link_rig_init(&rig);
    fake_tool(rig.f, "t", FAKE_TEXT);
    fake_resource(rig.f, "test://a", "a");
    fake_template(rig.f, "test://{x}");
    link_rig_start(&rig);
    CHECK_STR(rig.lists[LIST_TOOLS], "[{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\"}}]");
    CHECK_STR(rig.lists[LIST_RESOURCES], "[{\"uri\":\"test://a\",\"name\":\"test://a\"}]");
    CHECK_STR(rig.lists[LIST_TEMPLATES],
              "[{\"uriTemplate\":\"test://{x}\",\"name\":\"test://{x}\"}]");
    CHECK_STR(rig.lists[LIST_PROMPTS], "");
    CHECK_INT(rig.f->lists[LIST_PROMPTS], 0); /* never asked for */
    CHECK_STR(list_kind_name(LIST_TOOLS), "tools");
    CHECK_STR(list_kind_name(LIST_RESOURCES), "resources");
    CHECK_STR(list_kind_name(LIST_TEMPLATES), "resourceTemplates");
    CHECK_STR(list_kind_name(LIST_PROMPTS), "prompts");
    link_rig_done(&rig);
}

/* S0-5 */
TEST(a_list_that_changes_is_read_again)
{
    static const enum pb_era eras[] = { PB_ERA_LEGACY, PB_ERA_MODERN };

    for (size_t i = 0; i < ARRAY_LEN(eras); i++) {
        struct link_rig rig;
        struct link_status s;

        link_rig_init(&rig);
        rig.f->era = eras[i];
        fake_tool(rig.f, "one", FAKE_TEXT);
        fake_resource(rig.f, "test://a", "a");
        link_rig_start(&rig);
        fakes_settle(&rig.fakes);
        fake_tool(rig.f, "two", FAKE_TEXT);
        server_list_changed(rig.f->server, "tools");
        FAKES_UNTIL(&rig.fakes, rig.listed[LIST_TOOLS] == 2);
        CHECK_HAS(rig.lists[LIST_TOOLS], "\"two\"");
        link_status(rig.link, &s);
        CHECK_INT(s.tools, 2);
        fake_resource(rig.f, "test://b", "b");
        server_list_changed(rig.f->server, "resources");
        FAKES_UNTIL(&rig.fakes, rig.listed[LIST_RESOURCES] == 2);
        fakes_settle(&rig.fakes);
        CHECK_INT(rig.f->lists[LIST_TEMPLATES], 2); /* the same notification speaks of both */
        CHECK_INT(rig.listed[LIST_TEMPLATES], 1);   /* but these did not change */
        link_rig_done(&rig);
    }
}

/* S4-56 */
TEST(changes_are_not_followed_when_that_is_not_wanted)
{
    struct link_rig rig;

    link_rig_init(&rig);
    rig.opts.refresh_on_change = false;
    fake_tool(rig.f, "one", FAKE_TEXT);
    link_rig_start(&rig);
    fakes_settle(&rig.fakes);
    server_list_changed(rig.f->server, "tools");
    fakes_settle(&rig.fakes);
    CHECK_INT(rig.f->lists[LIST_TOOLS], 1);
    link_refresh(rig.link, LIST_TOOLS); /* but on demand */
    FAKES_UNTIL(&rig.fakes, rig.f->lists[LIST_TOOLS] == 2);
    fakes_settle(&rig.fakes);
    CHECK_INT(rig.listed[LIST_TOOLS], 1); /* nothing new */
    link_rig_done(&rig);
}

TEST(a_flood_of_changes_causes_one_reading_and_one_more)
{
    struct link_rig rig;

    link_rig_init(&rig);
    rig.f->era = PB_ERA_LEGACY;
    fake_tool(rig.f, "one", FAKE_TEXT);
    link_rig_start(&rig);
    rig.f->hang_list[LIST_TOOLS] = true;
    for (int i = 0; i < 100; i++) {
        server_list_changed(rig.f->server, "tools");
        fakes_settle(&rig.fakes);
    }
    CHECK_INT(rig.f->lists[LIST_TOOLS], 2); /* the first, and one that is not answered */
    rig.f->hang_list[LIST_TOOLS] = false;
    CHECK_INT(rig.f->n_held, 1);
    request_fail(fake_held(rig.f, 0), RPC_INTERNAL_ERROR, SPAN(""), "later");
    fake_held_free(rig.f->held[0]);
    fakes_settle(&rig.fakes);
    CHECK_INT(rig.f->lists[LIST_TOOLS], 3);
    CHECK_INT(fakes_count(&rig.fakes, EVENT_LOG, NULL, "tools/list failed: later"), 1);
    CHECK_INT(link_state(rig.link), LINK_CONNECTED); /* what was known still counts */
    link_rig_done(&rig);
}

/* C1: it changes with every reading, and says so at once. */
TEST(a_list_that_never_stops_changing_is_read_once_a_second)
{
    static char words[64][8];
    struct link_rig rig;
    size_t before;

    link_rig_init(&rig);
    rig.f->era = PB_ERA_LEGACY;
    fake_tool(rig.f, "one", FAKE_TEXT);
    link_rig_start(&rig);
    fakes_settle(&rig.fakes);
    before = rig.f->lists[LIST_TOOLS];
    for (int i = 0; i < 50; i++) {
        snprintf(words[i], sizeof words[i], "%d", i);
        rig.f->tools[0].description = words[i];
        server_list_changed(rig.f->server, "tools");
        fakes_settle(&rig.fakes);
    }
    CHECK_INT(rig.f->lists[LIST_TOOLS], before + LINK_REFRESH_BURST);
    loop_advance(rig.fakes.loop, LINK_REFRESH_MS - 1);
    fakes_settle(&rig.fakes);
    CHECK_INT(rig.f->lists[LIST_TOOLS], before + LINK_REFRESH_BURST);
    loop_advance(rig.fakes.loop, 1);
    fakes_settle(&rig.fakes);
    CHECK_INT(rig.f->lists[LIST_TOOLS], before + LINK_REFRESH_BURST + 1);
    CHECK_HAS(rig.lists[LIST_TOOLS], "\"description\":\"49\""); /* nothing is missed */
    loop_advance(rig.fakes.loop, 60000); /* and nothing is read without need */
    fakes_settle(&rig.fakes);
    CHECK_INT(rig.f->lists[LIST_TOOLS], before + LINK_REFRESH_BURST + 1);
    link_rig_done(&rig);
}

TEST(lists_are_read_anew_after_a_reconnect)
{
    struct link_rig rig;

    link_rig_init(&rig);
    fake_tool(rig.f, "one", FAKE_TEXT);
    link_rig_start(&rig);
    fake_break(rig.f, "gone");
    fake_tool(rig.f, "two", FAKE_TEXT);
    link_rig_connect(&rig);
    CHECK_INT(rig.listed[LIST_TOOLS], 2);
    CHECK_HAS(rig.lists[LIST_TOOLS], "\"two\"");
    link_rig_done(&rig);
}

TEST(subscriptions_are_counted_and_kept_through_reconnects)
{
    static const enum pb_era eras[] = { PB_ERA_LEGACY, PB_ERA_MODERN };

    for (size_t i = 0; i < ARRAY_LEN(eras); i++) {
        struct link_rig rig;

        link_rig_init(&rig);
        rig.f->era = eras[i];
        fake_resource(rig.f, "test://a", "a");
        link_rig_make(&rig);
        link_subscribe(rig.link, SPAN("test://a"), true); /* before there is a connection */
        link_rig_connect(&rig);
        FAKES_UNTIL(&rig.fakes, rig.f->watched == 1);
        link_subscribe(rig.link, SPAN("test://a"), true);
        fakes_settle(&rig.fakes);
        CHECK_INT(rig.f->watched, 1);
        server_resource_updated(rig.f->server, SPAN("test://a"));
        FAKES_UNTIL(&rig.fakes, rig.n_updated == 1);
        CHECK_STR(rig.updated, "test://a");

        fake_break(rig.f, "gone");
        link_rig_connect(&rig);
        FAKES_UNTIL(&rig.fakes, rig.f->watched == 2);
        link_subscribe(rig.link, SPAN("test://a"), false);
        fakes_settle(&rig.fakes);
        server_resource_updated(rig.f->server, SPAN("test://a"));
        FAKES_UNTIL(&rig.fakes, rig.n_updated == 2);
        link_subscribe(rig.link, SPAN("test://a"), false);
        FAKES_UNTIL(&rig.fakes, rig.f->unwatched == 2); /* once by the break */
        link_subscribe(rig.link, SPAN("test://a"), false);
        server_resource_updated(rig.f->server, SPAN("test://a"));
        fakes_settle(&rig.fakes);
        CHECK_INT(rig.n_updated, 2);
        link_rig_done(&rig);
    }
}

TEST(so_many_resources_may_be_watched)
{
    struct link_rig rig;
    char uri[32];

    link_rig_init(&rig);
    link_rig_make(&rig);
    for (int i = 0; i < MCP_SUBSCRIPTIONS_MAX; i++) {
        snprintf(uri, sizeof uri, "test://%d", i);
        link_subscribe(rig.link, span_of(uri), true);
    }
    CHECK_INT(link_log_count(rig.link), 0);
    link_subscribe(rig.link, SPAN("test://0"), true); /* known: fine */
    link_subscribe(rig.link, SPAN("test://more"), true);
    CHECK_INT(link_log_count(rig.link), 1);
    CHECK_HAS(link_log_at(rig.link, 0)->text, "1024 resources are watched already");
    link_rig_done(&rig);
}

/* Each fits a tape; all together do not. */
TEST(a_list_of_many_values_is_weighed_item_by_item)
{
    enum { VALUES = 400000, ITEMS = 3 };
    AUTO_BUF struct buf list = { 0 };
    struct digests d = { 0 };

    for (int i = 0; i < ITEMS; i++) {
        buf_printf(&list, "%c{\"name\":\"t%d\",\"x\":[0", i ? ',' : '[', i);
        for (int k = 1; k < VALUES; k++)
            buf_str(&list, ",0");
        buf_str(&list, "]}");
    }
    buf_byte(&list, ']');
    digests_of(&d, buf_span(&list));
    CHECK_INT(d.n, ITEMS);
    CHECK(memcmp(d.v[0], d.v[1], SHA512_BYTES) != 0);
    CHECK_HAS(digests_text(&d, 2).p, "\"name\":\"t2\"");
    digests_done(&d);
}
