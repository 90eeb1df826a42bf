/* What a server offers: lists at the start, changes, resources that are watched. */
#include "hub/link/link.h"
#include "hub/link_kit.h"
#include "mcp/rpc/rpc.h"
#include "mcp/serve/serve.h"

TEST(what_is_declared_is_listed_and_what_is_not_is_empty)
{
    struct link_kit k;

    kit_init(&k);
    fake_tool(k.f, "t", FAKE_TEXT);
    fake_resource(k.f, "test://a", "a");
    fake_template(k.f, "test://{x}");
    kit_start(&k);
    CHECK_STR(k.lists[LIST_TOOLS], "[{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\"}}]");
    CHECK_STR(k.lists[LIST_RESOURCES], "[{\"uri\":\"test://a\",\"name\":\"test://a\"}]");
    CHECK_STR(k.lists[LIST_TEMPLATES],
              "[{\"uriTemplate\":\"test://{x}\",\"name\":\"test://{x}\"}]");
    CHECK_STR(k.lists[LIST_PROMPTS], "");
    CHECK_INT(k.f->lists[LIST_PROMPTS], 0); /* never asked for */
    CHECK_STR(list_kind_name(LIST_TOOLS), "tools");
    CHECK_STR(list_kind_name(LIST_RESOURCES), "resources");
    CHECK_STR(list_kind_name(LIST_TEMPLATES), "resourceTemplates");
    CHECK_STR(list_kind_name(LIST_PROMPTS), "prompts");
    kit_done(&k);
}

/* S0-5 */
TEST(a_list_that_changes_is_read_again)
{
    static const enum pb_era eras[] = { PB_ERA_LEGACY, PB_ERA_MODERN };

    for (size_t i = 0; i < ARRAY_LEN(eras); i++) {
        struct link_kit k;
        struct link_status s;

        kit_init(&k);
        k.f->era = eras[i];
        fake_tool(k.f, "one", FAKE_TEXT);
        fake_resource(k.f, "test://a", "a");
        kit_start(&k);
        fakes_settle(&k.fakes);
        fake_tool(k.f, "two", FAKE_TEXT);
        server_list_changed(k.f->server, "tools");
        FAKES_UNTIL(&k.fakes, k.listed[LIST_TOOLS] == 2);
        CHECK_HAS(k.lists[LIST_TOOLS], "\"two\"");
        link_status(k.link, &s);
        CHECK_INT(s.tools, 2);
        fake_resource(k.f, "test://b", "b");
        server_list_changed(k.f->server, "resources");
        FAKES_UNTIL(&k.fakes, k.listed[LIST_RESOURCES] == 2);
        fakes_settle(&k.fakes);
        CHECK_INT(k.f->lists[LIST_TEMPLATES], 2); /* the same notification speaks of both */
        CHECK_INT(k.listed[LIST_TEMPLATES], 1);   /* but these did not change */
        kit_done(&k);
    }
}

/* S4-56 */
TEST(changes_are_not_followed_when_that_is_not_wanted)
{
    struct link_kit k;

    kit_init(&k);
    k.opts.refresh_on_change = false;
    fake_tool(k.f, "one", FAKE_TEXT);
    kit_start(&k);
    fakes_settle(&k.fakes);
    server_list_changed(k.f->server, "tools");
    fakes_settle(&k.fakes);
    CHECK_INT(k.f->lists[LIST_TOOLS], 1);
    link_refresh(k.link, LIST_TOOLS); /* but on demand */
    FAKES_UNTIL(&k.fakes, k.f->lists[LIST_TOOLS] == 2);
    fakes_settle(&k.fakes);
    CHECK_INT(k.listed[LIST_TOOLS], 1); /* nothing new */
    kit_done(&k);
}

TEST(a_flood_of_changes_causes_one_reading_and_one_more)
{
    struct link_kit k;

    kit_init(&k);
    k.f->era = PB_ERA_LEGACY;
    fake_tool(k.f, "one", FAKE_TEXT);
    kit_start(&k);
    k.f->hang_list[LIST_TOOLS] = true;
    for (int i = 0; i < 100; i++) {
        server_list_changed(k.f->server, "tools");
        fakes_settle(&k.fakes);
    }
    CHECK_INT(k.f->lists[LIST_TOOLS], 2); /* the first, and one that is not answered */
    k.f->hang_list[LIST_TOOLS] = false;
    CHECK_INT(k.f->n_held, 1);
    request_fail(fake_held(k.f, 0), RPC_INTERNAL_ERROR, SPAN(""), "later");
    fake_held_free(k.f->held[0]);
    fakes_settle(&k.fakes);
    CHECK_INT(k.f->lists[LIST_TOOLS], 3);
    CHECK_INT(fakes_count(&k.fakes, EVENT_LOG, NULL, "tools/list failed: later"), 1);
    CHECK_INT(link_state(k.link), LINK_CONNECTED); /* what was known still counts */
    kit_done(&k);
}

/* C1: it changes with every reading, and says so at once. */
TEST(a_list_that_never_stops_changing_is_read_once_a_second)
{
    static char words[64][8];
    struct link_kit k;
    size_t before;

    kit_init(&k);
    k.f->era = PB_ERA_LEGACY;
    fake_tool(k.f, "one", FAKE_TEXT);
    kit_start(&k);
    fakes_settle(&k.fakes);
    before = k.f->lists[LIST_TOOLS];
    for (int i = 0; i < 50; i++) {
        snprintf(words[i], sizeof words[i], "%d", i);
        k.f->tools[0].description = words[i];
        server_list_changed(k.f->server, "tools");
        fakes_settle(&k.fakes);
    }
    CHECK_INT(k.f->lists[LIST_TOOLS], before + LINK_REFRESH_BURST);
    loop_advance(k.fakes.loop, LINK_REFRESH_MS - 1);
    fakes_settle(&k.fakes);
    CHECK_INT(k.f->lists[LIST_TOOLS], before + LINK_REFRESH_BURST);
    loop_advance(k.fakes.loop, 1);
    fakes_settle(&k.fakes);
    CHECK_INT(k.f->lists[LIST_TOOLS], before + LINK_REFRESH_BURST + 1);
    CHECK_HAS(k.lists[LIST_TOOLS], "\"description\":\"49\""); /* nothing is missed */
    loop_advance(k.fakes.loop, 60000);                        /* and nothing is read without need */
    fakes_settle(&k.fakes);
    CHECK_INT(k.f->lists[LIST_TOOLS], before + LINK_REFRESH_BURST + 1);
    kit_done(&k);
}

TEST(lists_are_read_anew_after_a_reconnect)
{
    struct link_kit k;

    kit_init(&k);
    fake_tool(k.f, "one", FAKE_TEXT);
    kit_start(&k);
    fake_break(k.f, "gone");
    fake_tool(k.f, "two", FAKE_TEXT);
    kit_connect(&k);
    CHECK_INT(k.listed[LIST_TOOLS], 2);
    CHECK_HAS(k.lists[LIST_TOOLS], "\"two\"");
    kit_done(&k);
}

TEST(subscriptions_are_counted_and_kept_through_reconnects)
{
    static const enum pb_era eras[] = { PB_ERA_LEGACY, PB_ERA_MODERN };

    for (size_t i = 0; i < ARRAY_LEN(eras); i++) {
        struct link_kit k;

        kit_init(&k);
        k.f->era = eras[i];
        fake_resource(k.f, "test://a", "a");
        kit_link(&k);
        link_subscribe(k.link, SPAN("test://a"), true); /* before there is a connection */
        kit_connect(&k);
        FAKES_UNTIL(&k.fakes, k.f->watched == 1);
        link_subscribe(k.link, SPAN("test://a"), true);
        fakes_settle(&k.fakes);
        CHECK_INT(k.f->watched, 1);
        server_resource_updated(k.f->server, SPAN("test://a"));
        FAKES_UNTIL(&k.fakes, k.n_updated == 1);
        CHECK_STR(k.updated, "test://a");

        fake_break(k.f, "gone");
        kit_connect(&k);
        FAKES_UNTIL(&k.fakes, k.f->watched == 2);
        link_subscribe(k.link, SPAN("test://a"), false);
        fakes_settle(&k.fakes);
        server_resource_updated(k.f->server, SPAN("test://a"));
        FAKES_UNTIL(&k.fakes, k.n_updated == 2);
        link_subscribe(k.link, SPAN("test://a"), false);
        FAKES_UNTIL(&k.fakes, k.f->unwatched == 2); /* once by the break */
        link_subscribe(k.link, SPAN("test://a"), false);
        server_resource_updated(k.f->server, SPAN("test://a"));
        fakes_settle(&k.fakes);
        CHECK_INT(k.n_updated, 2);
        kit_done(&k);
    }
}

TEST(so_many_resources_may_be_watched)
{
    struct link_kit k;
    char uri[32];

    kit_init(&k);
    kit_link(&k);
    for (int i = 0; i < MCP_SUBSCRIPTIONS_MAX; i++) {
        snprintf(uri, sizeof uri, "test://%d", i);
        link_subscribe(k.link, span_of(uri), true);
    }
    CHECK_INT(link_log_count(k.link), 0);
    link_subscribe(k.link, SPAN("test://0"), true); /* known: fine */
    link_subscribe(k.link, SPAN("test://more"), true);
    CHECK_INT(link_log_count(k.link), 1);
    CHECK_HAS(link_log_at(k.link, 0)->text, "1024 resources are watched already");
    kit_done(&k);
}
