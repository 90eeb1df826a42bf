/* test_client_listen.c - staying told of changes, in both eras. */
#include "io/http/http.h"
#include "mcp/client/client.h"
#include "mcp/client/client_impl.h"
#include "mcp/client_rig.h"
#include "mcp/registry/registry.h"
#include "mcp/rpc/rpc.h"

struct news {
    struct rig r;
    struct web w;
    const char *caps; /* of the server */
    int listens, subscribes;
    struct http_request *stream[16]; /* in the order they were opened */
    char id[16][32];
    char filter[16][512];
    char caps_of_last[512]; /* what the client said it can do, with the newest */
    const char *honoured;   /* NULL: all that was asked for; "off": the method is not known */
    bool silent;            /* does not acknowledge */
    bool legacy;
    bool end_at_once;
    bool refuse_tasks;
};

static void acknowledge(struct news *n, int i)
{
    AUTO_BUF struct buf b = { 0 };

    buf_printf(&b,
               "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/acknowledged\","
               "\"params\":{\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":%s},"
               "\"notifications\":%s}}",
               n->id[i], n->honoured ? n->honoured : n->filter[i]);
    web_event(n->stream[i], buf_cstr(&b));
}

static void answer_listen(struct news *n, struct http_request *r, const char *id)
{
    AUTO_JSON struct json_doc doc = { 0 };
    struct json filter;
    int i = n->listens++;

    if (n->honoured && strcmp(n->honoured, "off") == 0) {
        web_error(r, 404, id, -32601, NULL);
        return;
    }
    CHECK_INT(json_parse(&doc, http_body(r), NULL, NULL), 0);
    filter = json_get(json_get(json_root(&doc), "params"), "notifications");
    snprintf(n->caps_of_last, sizeof n->caps_of_last, "%.*s",
             SPAN_ARG(json_text(json_get(json_get(json_get(json_root(&doc), "params"), "_meta"),
                                         META_CLIENT_CAPS))));
    if (n->refuse_tasks && !json_is(json_get(filter, "taskIds"), JSON_NONE)) {
        web_error(r, 400, id, -32602, NULL);
        return;
    }
    snprintf(n->id[i], sizeof n->id[i], "%s", id);
    snprintf(n->filter[i], sizeof n->filter[i], "%.*s", SPAN_ARG(json_text(filter)));
    n->stream[i] = r;
    web_stream(&n->w, r);
    if (!n->silent)
        acknowledge(n, i);
    if (n->end_at_once)
        http_end(r);
}

static void answer_news(struct web *w, struct http_request *r, const char *method, const char *id)
{
    struct news *n = w->ctx;
    char text[512];

    if (strcmp(method, "server/discover") == 0 && !n->legacy) {
        snprintf(text, sizeof text,
                 "{\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":%s,\"ttlMs\":0,"
                 "\"cacheScope\":\"private\"}",
                 n->caps);
        web_result(r, id, text, NULL);
    } else if (strcmp(method, "subscriptions/listen") == 0) {
        answer_listen(n, r, id);
    } else if (strncmp(method, "resources/", 10) == 0) {
        n->subscribes++;
        web_result(r, id, "{}", NULL);
    } else {
        web_legacy(r, method, id);
    }
}

#define ALL_LISTS                                                                          \
    "{\"tools\":{\"listChanged\":true},\"prompts\":{\"listChanged\":true},\"resources\":{" \
    "\"listChanged\":true,\"subscribe\":true}}"

static void news_open(struct news *n, bool manual)
{
    struct pb_client_options o = PB_CLIENT_OPTIONS_INIT;

    rig_init(&n->r, manual);
    n->w = (struct web){ .ctx = n };
    if (!n->caps)
        n->caps = ALL_LISTS;
    web_start(&n->w, &n->r, answer_news);
    o.url = n->w.url;
    rig_open_well(&n->r, &o);
}

static void news_done(struct news *n)
{
    client_close(TAKE(n->r.client), NULL, NULL);
    RIG_UNTIL(&n->r, !http_server_connections(n->w.server));
    web_stop(&n->w);
    rig_done(&n->r);
}

static void settle(struct rig *r)
{
    for (int i = 0; i < 50; i++)
        loop_turn(r->loop, false);
}

static void tell(struct news *n, int i, const char *method, const char *more)
{
    AUTO_BUF struct buf b = { 0 };

    buf_printf(&b,
               "{\"jsonrpc\":\"2.0\",\"method\":\"%s\",\"params\":{%s\"_meta\":{"
               "\"io.modelcontextprotocol/subscriptionId\":%s}}}",
               method, more, n->id[i]);
    web_event(n->stream[i], buf_cstr(&b));
}

static void subscribe(struct news *n, const char *uri, struct answer *a)
{
    struct pb_error err;

    *a = (struct answer){ 0 };
    if (client_subscribe(n->r.client, span_of(uri), answer_reply, a, &err) < 0)
        TAP_FAIL("subscribe: %s", err.msg);
    a->armed = true;
}

TEST(what_the_server_can_tell_is_listened_to_and_passed_on_without_a_tag)
{
    struct news n = { 0 };

    news_open(&n, false);
    RIG_UNTIL(&n.r, n.listens == 1);
    CHECK_STR(n.filter[0], "{\"promptsListChanged\":true,\"resourcesListChanged\":true,"
                           "\"toolsListChanged\":true}");
    tell(&n, 0, "notifications/tools/list_changed", "");
    tell(&n, 0, "notifications/resources/updated", "\"uri\":\"a:1\",");
    web_event(n.stream[0],
              "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\",\"params\":{\"_meta\":"
              "{\"io.modelcontextprotocol/subscriptionId\":7,\"kept\":1.0},\"a\":[1]}}");
    RIG_UNTIL(&n.r, strstr(n.r.notes, "notifications/x"));
    CHECK_STR(n.r.notes, "notifications/tools/list_changed {}\n"
                         "notifications/resources/updated {\"uri\":\"a:1\"}\n"
                         "notifications/x {\"_meta\":{\"kept\":1.0},\"a\":[1]}\n");
    news_done(&n);
}

TEST(a_server_with_nothing_to_tell_is_not_listened_to)
{
    struct news n = { .caps = "{\"tools\":{}}" };

    news_open(&n, false);
    settle(&n.r);
    CHECK_INT(n.listens, 0);
    news_done(&n);
}

TEST(a_broken_stream_is_opened_again_ever_more_slowly)
{
    struct news n = { .end_at_once = true };
    static const int waits[] = { 1000, 2000, 4000, 8000, 16000, 30000, 30000 };

    news_open(&n, true);
    RIG_UNTIL(&n.r, n.listens == 1);
    for (size_t i = 0; i < ARRAY_LEN(waits); i++) {
        settle(&n.r);
        loop_advance(n.r.loop, (uint64_t)waits[i] - 1);
        settle(&n.r);
        CHECK_INT(n.listens, 1 + (int)i);
        loop_advance(n.r.loop, 1);
        RIG_UNTIL(&n.r, n.listens == 2 + (int)i);
    }
    news_done(&n);
}

TEST(a_subscription_opens_a_stream_with_the_whole_set_and_closes_the_old_one)
{
    struct news n = { 0 };
    struct answer a, b;

    news_open(&n, false);
    RIG_UNTIL(&n.r, n.listens == 1);
    subscribe(&n, "file:///a", &a);
    RIG_UNTIL(&n.r, a.count);
    CHECK_STR(a.result, "{}");
    CHECK_HAS(n.filter[1], "\"resourceSubscriptions\":[\"file:///a\"]");
    CHECK_HAS(n.filter[1], "\"toolsListChanged\":true");
    RIG_UNTIL(&n.r, n.w.gone == 1);
    subscribe(&n, "file:///b", &b);
    RIG_UNTIL(&n.r, b.count);
    CHECK_HAS(n.filter[2], "[\"file:///a\",\"file:///b\"]");
    tell(&n, 2, "notifications/resources/updated", "\"uri\":\"file:///b\",");
    RIG_UNTIL(&n.r, n.r.notes[0]);
    answer_done(&a);
    answer_done(&b);
    CHECK_INT(client_unsubscribe(n.r.client, SPAN("file:///a"), answer_reply, &a, NULL), 0);
    CHECK_INT(a.count, 0);
    RIG_UNTIL(&n.r, a.count && n.listens == 4);
    CHECK_HAS(n.filter[3], "\"resourceSubscriptions\":[\"file:///b\"]");
    answer_done(&a);
    news_done(&n);
}

TEST(subscriptions_made_at_once_share_the_next_stream)
{
    struct news n = { .caps = "{\"resources\":{\"subscribe\":true}}" };
    struct answer a[5];
    char uri[16];

    news_open(&n, false);
    for (int i = 0; i < 5; i++) {
        snprintf(uri, sizeof uri, "u:%d", i);
        subscribe(&n, uri, &a[i]);
    }
    for (int i = 0; i < 5; i++) {
        RIG_UNTIL(&n.r, a[i].count);
        CHECK_INT(a[i].err.code, PB_OK);
        answer_done(&a[i]);
    }
    CHECK_INT(n.listens, 2);
    CHECK_HAS(n.filter[1], "[\"u:0\",\"u:1\",\"u:2\",\"u:3\",\"u:4\"]");
    news_done(&n);
}

TEST(tasks_are_watched_on_the_same_stream)
{
    struct news n = { 0 };

    news_open(&n, true);
    RIG_UNTIL(&n.r, n.listens == 1);
    settle(&n.r);
    client_watch_task(n.r.client, SPAN("t 1"), true);
    client_watch_task(n.r.client, SPAN("t 1"), true);
    RIG_UNTIL(&n.r, n.listens == 2);
    CHECK_HAS(n.filter[1], "\"toolsListChanged\":true");
    CHECK_HAS(n.filter[1], "\"taskIds\":[\"t 1\"]");
    CHECK_HAS(n.caps_of_last, EXT_TASKS);
    settle(&n.r);
    tell(&n, 1, "notifications/tasks", "\"taskId\":\"t 1\",");
    RIG_UNTIL(&n.r, strstr(n.r.notes, "notifications/tasks"));
    CHECK_HAS(n.r.notes, "notifications/tasks {\"taskId\":\"t 1\"}");
    client_watch_task(n.r.client, SPAN("t 1"), false);
    RIG_UNTIL(&n.r, n.listens == 3);
    CHECK(!strstr(n.filter[2], "taskIds"));
    CHECK(!strstr(n.caps_of_last, EXT_TASKS));
    news_done(&n);
}

TEST(a_server_that_does_not_tell_of_tasks_still_tells_of_its_lists)
{
    struct news n = { .refuse_tasks = true };

    news_open(&n, true);
    RIG_UNTIL(&n.r, n.listens == 1);
    settle(&n.r);
    client_watch_task(n.r.client, SPAN("t 1"), true);
    RIG_UNTIL(&n.r, n.listens == 2);
    settle(&n.r);
    loop_advance(n.r.loop, 60000);
    RIG_UNTIL(&n.r, n.listens == 3);
    CHECK_HAS(n.filter[2], "\"toolsListChanged\":true");
    CHECK(!strstr(n.filter[2], "taskIds"));
    news_done(&n);
}

/* MCP_SUBSCRIPTIONS_MAX */
TEST(so_many_tasks_of_one_server_are_watched_and_no_more)
{
    struct news n = { .silent = true };

    news_open(&n, true);
    RIG_UNTIL(&n.r, n.listens == 1);
    for (unsigned i = 0; i < MCP_SUBSCRIPTIONS_MAX + 10; i++) {
        char id[32];

        snprintf(id, sizeof id, "t%u", i);
        client_watch_task(n.r.client, span_of(id), true);
    }
    CHECK_INT(n.r.client->listen.tasks.n, MCP_SUBSCRIPTIONS_MAX);
    news_done(&n);
}

TEST(a_resource_that_is_not_honoured_is_not_subscribed)
{
    struct news n = { .honoured = "{\"toolsListChanged\":true}" };
    struct answer a;

    news_open(&n, false);
    subscribe(&n, "file:///a", &a);
    RIG_UNTIL(&n.r, a.count);
    CHECK_INT(a.err.code, PB_E_UNSUPPORTED);
    CHECK_HAS(a.err.msg, "file:///a");
    news_done(&n);
}

/* More than can have been asked for is not looked at. */
TEST(of_what_a_server_honours_as_much_is_believed_as_can_be_subscribed)
{
    for (int more = 0; more < 2; more++) {
        AUTO_BUF struct buf honoured = { 0 };
        struct news n = { 0 };
        struct answer a;

        buf_str(&honoured, "{\"resourceSubscriptions\":[");
        for (int i = 1; i < MCP_SUBSCRIPTIONS_MAX + more; i++)
            buf_str(&honoured, "\"x\",");
        buf_str(&honoured, "\"file:\\/\\/\\/a\"]}");
        n.honoured = buf_cstr(&honoured);
        news_open(&n, false);
        subscribe(&n, "file:///a", &a);
        RIG_UNTIL(&n.r, a.count);
        CHECK_INT(a.err.code, more ? PB_E_UNSUPPORTED : PB_OK);
        answer_done(&a);
        news_done(&n);
    }
}

TEST(a_server_that_does_not_know_the_method_is_not_asked_again)
{
    struct news n = { .honoured = "off" };
    struct answer a;

    news_open(&n, true);
    RIG_UNTIL(&n.r, n.listens == 1);
    settle(&n.r);
    loop_advance(n.r.loop, 600000);
    settle(&n.r);
    CHECK_INT(n.listens, 1);
    subscribe(&n, "a:1", &a);
    RIG_UNTIL(&n.r, a.count);
    CHECK_INT(a.err.code, PB_E_UNSUPPORTED);
    news_done(&n);
}

TEST(a_subscription_that_is_never_acknowledged_ends_in_time)
{
    struct news n = { .silent = true };
    struct answer a;

    news_open(&n, true);
    subscribe(&n, "a:1", &a);
    RIG_UNTIL(&n.r, n.listens);
    settle(&n.r);
    loop_advance(n.r.loop, MCP_CALL_MS);
    CHECK_INT(a.count, 1);
    CHECK_INT(a.err.code, PB_E_TIMEOUT);
    news_done(&n);
}

TEST(an_acknowledgement_of_another_stream_is_not_believed)
{
    struct news n = { .silent = true };
    struct answer a;

    news_open(&n, false);
    subscribe(&n, "a:1", &a);
    RIG_UNTIL(&n.r, n.listens);
    web_event(n.stream[0],
              "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/acknowledged\","
              "\"params\":{\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":9999},"
              "\"notifications\":{\"resourceSubscriptions\":[\"a:1\"]}}}");
    settle(&n.r);
    CHECK_INT(a.count, 0);
    acknowledge(&n, 0); /* the list changes; what was asked later opens another */
    RIG_UNTIL(&n.r, n.listens == 2);
    acknowledge(&n, 1);
    RIG_UNTIL(&n.r, a.count);
    CHECK_INT(a.err.code, PB_OK);
    answer_done(&a);
    news_done(&n);
}

TEST(closing_the_client_ends_a_subscription_that_waits)
{
    struct news n = { .silent = true };
    struct answer a;

    news_open(&n, false);
    subscribe(&n, "a:1", &a);
    RIG_UNTIL(&n.r, n.listens);
    news_done(&n);
    CHECK_INT(a.count, 1);
    CHECK_INT(a.err.code, PB_E_CANCELLED);
}

TEST(things_that_are_no_uri_are_refused)
{
    struct news n = { 0 };
    struct answer a = { 0 };
    AUTO_FREE char *huge = mem_zero(MCP_URI_BYTES_MAX + 2);

    news_open(&n, false);
    memset(huge, 'a', MCP_URI_BYTES_MAX + 1);
    CHECK_INT(client_subscribe(n.r.client, SPAN(""), answer_reply, &a, NULL), -PB_E_INVALID);
    CHECK_INT(client_subscribe(n.r.client, SPAN("\xff"), answer_reply, &a, NULL), -PB_E_INVALID);
    CHECK_INT(client_subscribe(n.r.client, span_of(huge), answer_reply, &a, NULL), -PB_E_INVALID);
    CHECK_INT(a.count, 0);
    news_done(&n);
}

TEST(a_legacy_server_is_asked_by_request)
{
    struct news n = { .legacy = true };
    struct answer a;

    news_open(&n, false);
    subscribe(&n, "file:///a", &a);
    RIG_UNTIL(&n.r, a.count);
    CHECK_INT(a.err.code, PB_OK);
    answer_done(&a);
    CHECK_HAS(n.w.log, "POST resources/subscribe\n");
    CHECK_INT(client_unsubscribe(n.r.client, SPAN("file:///a"), answer_reply, &a, NULL), 0);
    RIG_UNTIL(&n.r, a.count);
    CHECK_HAS(n.w.log, "POST resources/unsubscribe\n");
    CHECK_INT(n.listens, 0);
    answer_done(&a);
    news_done(&n);
}
