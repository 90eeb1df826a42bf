#include "fake_host.h"
#include "mcp/rpc/rpc.h"
#include "mcp/serve/listen.h"
#include "mcp/serve/serve.h"

#define RPC(rest) "{\"jsonrpc\":\"2.0\"," rest "}"
#define META                                                             \
    "\"_meta\":{\"" META_VERSION "\":\"2026-07-28\",\"" META_CLIENT_CAPS \
    "\":{\"extensions\":{\"" EXT_TASKS "\":{}}}}"
#define LISTEN(id, filter)                                                                        \
    RPC("\"id\":" id ",\"method\":\"subscriptions/listen\",\"params\":{\"notifications\":" filter \
        "," META "}")
#define TAG(id)            "\"_meta\":{\"" META_SUBSCRIPTION_ID "\":" id "}"
#define NOTE(method, rest) RPC("\"method\":\"notifications/" method "\",\"params\":{" rest "}")
#define ACK(id, filter)    NOTE("subscriptions/acknowledged", TAG(id) ",\"notifications\":" filter)

static void turn(struct fake *f)
{
    fake_forget(f);
    loop_turn(f->loop, false);
}

TEST(a_stream_is_acknowledged_first_with_what_is_honoured)
{
    static const struct {
        const char *filter, *honoured;
    } cases[] = {
        { "{\"toolsListChanged\":true}", "{\"toolsListChanged\":true}" },
        { "{\"toolsListChanged\":true,\"promptsListChanged\":true}",
          "{\"toolsListChanged\":true}" },
        { "{\"resourcesListChanged\":true,\"toolsListChanged\":false}",
          "{\"resourcesListChanged\":true}" },
        { "{\"resourceSubscriptions\":[\"test://a\",\"x://b\",\"test://a\"]}",
          "{\"resourceSubscriptions\":[\"test://a\"]}" },
        { "{\"taskIds\":[\"t\"],\"other\":7}", "{\"taskIds\":[\"t\"]}" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_BUF struct buf say = { 0 }, want = { 0 };
        struct fake f;

        fake_start(&f, PEER_STATELESS, NULL);
        buf_printf(&say, LISTEN("\"s\"", "%s"), cases[i].filter);
        buf_printf(&want, ACK("\"s\"", "%s"), cases[i].honoured);
        FAKE_ANSWERS(&f, buf_cstr(&say), buf_cstr(&want));
        CHECK_INT(f.sent[0].kind, SEND_NOTIFICATION);
        CHECK(f.sent[0].about);
        CHECK_INT(f.n_finished, 0);
        CHECK_INT(peer_in_flight(f.peer), 0); /* a stream, not a call */
        fake_end(&f);
        CHECK_INT(f.n_watched, 0);
    }
}

TEST(a_stream_with_nothing_to_tell_ends_at_once)
{
    struct fake f;

    fake_start(&f, PEER_STATELESS, NULL);
    fake_say(&f, LISTEN("3", "{\"promptsListChanged\":true}"));
    CHECK_INT(f.n_sent, 2);
    CHECK_STR(f.sent[0].text, ACK("3", "{}"));
    CHECK_HAS(f.sent[1].text,
              "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"resultType\":\"complete\","
              "\"_meta\":{");
    CHECK_HAS(f.sent[1].text, "\"" META_SUBSCRIPTION_ID "\":3}}}");
    CHECK_INT(f.sent[1].kind, SEND_RESPONSE);
    CHECK_INT(f.n_finished, 1);
    fake_end(&f);
}

TEST(bad_filters_are_refused_in_band)
{
    static const char *const filters[] = {
        "7",
        "{\"toolsListChanged\":1}",
        "{\"resourceSubscriptions\":\"test://a\"}",
        "{\"resourceSubscriptions\":[7]}",
        "{\"taskIds\":{}}",
    };
    struct fake f;

    fake_start(&f, PEER_STATELESS, NULL);
    for (size_t i = 0; i < ARRAY_LEN(filters); i++) {
        AUTO_BUF struct buf say = { 0 };

        buf_printf(&say, LISTEN("1", "%s"), filters[i]);
        FAKE_ANSWERS_WITH(&f, buf_cstr(&say), "\"code\":-32602");
        CHECK_INT(f.sent[0].http_status, 200);
    }
    FAKE_ANSWERS_WITH(&f, RPC("\"id\":1,\"method\":\"subscriptions/listen\",\"params\":{" META "}"),
                      "\"code\":-32602");
    fake_end(&f);
}

TEST(changes_are_told_to_those_who_asked_with_their_own_tag)
{
    struct fake f;

    fake_start(&f, PEER_STATELESS, NULL);
    fake_say(&f, LISTEN("1", "{\"toolsListChanged\":true}"));
    fake_say(&f, LISTEN("\"1\"", "{\"resourcesListChanged\":true,\"resourceSubscriptions\":["
                                 "\"test://a\"]}"));
    CHECK_INT(f.n_watched, 1);

    server_list_changed(f.server, "tools");
    server_list_changed(f.server, "tools");
    server_list_changed(f.server, "prompts");
    turn(&f);
    CHECK_STR(fake_heard(&f), NOTE("tools/list_changed", TAG("1")));
    CHECK(f.sent[0].about);

    server_list_changed(f.server, "resources");
    turn(&f);
    CHECK_STR(fake_heard(&f), NOTE("resources/list_changed", TAG("\"1\"")));

    pb_server_resource_updated(f.server, "test://b");
    pb_server_resource_updated(f.server, "test://a");
    turn(&f);
    CHECK_STR(fake_heard(&f), NOTE("resources/updated", TAG("\"1\"") ",\"uri\":\"test://a\""));
    fake_end(&f);
}

TEST(tasks_are_told_whole_to_those_who_asked)
{
    struct fake f;

    fake_start(&f, PEER_STATELESS, NULL);
    fake_say(&f, LISTEN("1", "{\"taskIds\":[\"t\",\"u\"]}"));
    fake_forget(&f);
    listen_task_changed(f.server, SPAN("other"), SPAN("{}"));
    CHECK_INT(f.n_sent, 0);
    listen_task_changed(
        f.server, SPAN("t"),
        SPAN("{\"taskId\":\"t\",\"status\":\"completed\",\"result\":{\"a\":[1.0]}}"));
    CHECK_STR(fake_heard(&f), NOTE("tasks", TAG("1") ",\"taskId\":\"t\",\"status\":\"completed\","
                                                     "\"result\":{\"a\":[1.0]}"));
    fake_end(&f);
}

TEST(task_ids_are_honoured_only_if_they_are_the_clients_own)
{
    struct fake f;

    fake_start(&f, PEER_STATELESS, NULL);
    fake_say(&f, LISTEN("1", "{\"taskIds\":[\"t\",\"unknown\"]}"));
    CHECK_STR(f.sent[0].text, ACK("1", "{\"taskIds\":[\"t\"]}"));
    fake_forget(&f);
    peer_set_principal(f.peer, "mallory");
    fake_say(&f, LISTEN("2", "{\"taskIds\":[\"t\"]}"));
    CHECK_STR(f.sent[0].text, ACK("2", "{}"));
    fake_end(&f);
}

TEST(task_ids_are_honoured_only_with_the_extension)
{
    struct fake f;

    fake_start(&f, PEER_STATELESS, NULL);
    fake_say(&f, RPC("\"id\":1,\"method\":\"subscriptions/listen\",\"params\":{\"notifications\":{"
                     "\"taskIds\":[\"t\"]},\"_meta\":" FAKE_META "}"));
    CHECK_STR(f.sent[0].text, ACK("1", "{}"));
    fake_end(&f);
}

TEST(a_lost_client_ends_its_stream)
{
    struct fake f;
    int exchange[8];

    fake_start(&f, PEER_STATELESS, NULL);
    fake_say_http(&f, LISTEN("1", "{\"resourceSubscriptions\":[\"test://a\"]}"), NULL, exchange);
    fake_say(&f, LISTEN("1", "{\"resourceSubscriptions\":[\"test://a\"]}"));
    CHECK_INT(f.n_watched, 1);
    peer_exchange_gone(f.peer, exchange);
    CHECK_INT(f.n_watched, 1);
    CHECK_INT(f.n_finished, 1);
    pb_server_resource_updated(f.server, "test://a");
    turn(&f);
    CHECK_INT(f.n_sent, 1);
    fake_end(&f);
}

TEST(on_stdio_a_stream_is_cancelled_without_an_answer)
{
    struct fake f;

    fake_start(&f, PEER_STDIO, NULL);
    fake_say(&f, LISTEN("1", "{\"toolsListChanged\":true}"));
    FAKE_SILENT(&f, RPC("\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}"));
    CHECK_INT(f.n_finished, 1);
    server_list_changed(f.server, "tools");
    turn(&f);
    CHECK_INT(f.n_sent, 0);
    /* The id is free again. */
    FAKE_ANSWERS(&f, LISTEN("1", "{\"toolsListChanged\":true}"),
                 ACK("1", "{\"toolsListChanged\":true}"));
    FAKE_ANSWERS_WITH(&f, LISTEN("1", "{\"toolsListChanged\":true}"), "\"code\":-32600");
    fake_end(&f);
}

TEST(streams_are_bounded)
{
    static struct fake f;

    fake_start(&f, PEER_STATELESS, NULL);
    for (int i = 0; i < MCP_LISTEN_MAX; i++)
        FAKE_ANSWERS_WITH(&f, LISTEN("1", "{\"toolsListChanged\":true}"), "acknowledged");
    FAKE_ANSWERS_WITH(&f, LISTEN("1", "{\"toolsListChanged\":true}"), "\"code\":-32603");
    CHECK_INT(f.sent[0].http_status, 200);
    fake_forget(&f);
    CHECK_INT(peer_cancel_all(f.peer), 0);
    CHECK_INT(f.n_sent, MCP_LISTEN_MAX);
    CHECK_HAS(f.sent[0].text, "\"resultType\":\"complete\"");
    FAKE_ANSWERS_WITH(&f, LISTEN("1", "{\"toolsListChanged\":true}"), "acknowledged");
    fake_end(&f);
}

TEST(the_names_in_one_filter_are_bounded)
{
    AUTO_BUF struct buf say = { 0 };
    struct fake f;

    buf_str(&say,
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"subscriptions/listen\",\"params\":{" META
            ",\"notifications\":{\"resourceSubscriptions\":[\"test://\"");
    for (int i = 0; i < MCP_SUBSCRIPTIONS_MAX; i++)
        buf_printf(&say, ",\"test://%d\"", i);
    buf_str(&say, "]}}}");
    fake_start(&f, PEER_STATELESS, NULL);
    FAKE_ANSWERS_WITH(&f, buf_cstr(&say), "\"code\":-32602");
    CHECK_INT(f.n_watched, 0);
    fake_end(&f);
}
