/* test_sse.c - HTTP+SSE: a stream that says where to post, and everything else on it. */
#include "mcp/registry/registry.h"
#include "web_rig.h"

static struct rig rig;
static struct web s, w; /* the stream; the posts */
static const char *messages;

/* Opens the stream and learns where messages go. */
static void begin_with(const struct pb_http_options *o, const char *path, const char *headers)
{
    struct answer a;
    const char *event;

    rig_http(&rig, o);
    s = web_open(&rig);
    w = web_open(&rig);
    web_request(&s, "GET", path, headers, NULL);
    a = web_answer(&s);
    CHECK_INT(a.status, 200);
    CHECK_STR(web_header(&s, a.head, "Content-Type"), "text/event-stream");
    event = web_event(&s);
    CHECK(!strncmp(event, "event: endpoint\ndata: ", 22));
    messages = event + 22;
}

static void begin(void) { begin_with(NULL, "/sse", "Accept: text/event-stream\r\n"); }

static void end(void)
{
    web_close(&s);
    web_close(&w);
    rig_close(&rig);
}

static int post(const char *body)
{
    web_request(&w, "POST", messages, "Content-Type: application/json\r\n", body);
    return web_answer(&w).status;
}

/* S2-3 S2-98 */
TEST(everything_that_the_server_says_comes_on_the_stream)
{
    begin();
    CHECK(!strncmp(messages, "/messages?sessionId=", 20));
    CHECK_INT(strlen(messages), 20 + ID_CHARS);
    CHECK_INT(post(RIG_INITIALIZE("2024-11-05")), 202);
    CHECK_HAS(web_event(&s), "event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{"
                             "\"protocolVersion\":\"2024-11-05\"");
    CHECK_INT(post("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"), 202);
    CHECK_INT(post(WEB_CALL("1", "steps")), 202);
    CHECK_HAS(web_event(&s), "\"progress\":1");
    CHECK_HAS(web_event(&s), "\"progress\":2");
    CHECK_HAS(web_event(&s), RIG_TEXT_RESULT("1", "done"));
    CHECK_INT(pb_server_remove_tool(rig.server, "big", NULL), 0);
    CHECK_HAS(web_event(&s), "notifications/tools/list_changed");
    end();
}

TEST(questions_and_answers_take_the_same_ways)
{
    begin();
    CHECK_INT(post(RIG_INITIALIZE("2025-06-18")), 202);
    web_event(&s);
    CHECK_INT(post(WEB_CALL("5", "ask")), 202);
    CHECK_HAS(web_event(&s), "elicitation/create");
    CHECK_INT(post("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"action\":\"cancel\"}}"), 202);
    CHECK_HAS(web_event(&s), "cancel");
    end();
}

TEST(messages_that_cannot_be_taken_are_refused)
{
    static const struct {
        const char *path, *type, *body;
        int status;
    } cases[] = {
        { "/messages", "application/json", WEB_PING, 400 },
        { "/messages?sessionId=0123456789abcdef0123456789abcdef", "application/json", WEB_PING,
          404 },
        { "/messages?sessionId=", "application/json", WEB_PING, 404 },
        { NULL, "text/plain", WEB_PING, 415 },
        { NULL, "application/json", "{", 400 },
        { NULL, "application/json\r\nMcp-Name: a\r\nMcp-Name: a", WEB_PING, 400 },
        { NULL, "application/json", WEB_PING, 202 },
    };

    begin();
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct answer a;

        web_request(&w, "POST", cases[i].path ? cases[i].path : messages,
                    arena_printf(&rig.arena, "Content-Type: %s\r\n", cases[i].type), cases[i].body);
        a = web_answer(&w);
        if (a.status != cases[i].status)
            TAP_FAIL("case %zu: %d", i, a.status);
    }
    CHECK_HAS(web_event(&s), "\"result\":{}");
    web_no_event(&s);
    web_request(&w, "GET", messages, "", NULL);
    CHECK_INT(web_answer(&w).status, 405);
    web_request(&w, "POST", "/sse", "", "");
    CHECK_INT(web_answer(&w).status, 405);
    end();
}

TEST(the_session_ends_with_its_stream)
{
    begin();
    CHECK_INT(post(WEB_CALL("1", "later")), 202);
    RIG_UNTIL(&rig, rig.held);
    close(s.fd);
    RIG_UNTIL(&rig, pb_call_cancelled(rig.held));
    CHECK_INT(post(WEB_PING), 404);
    rig_finish(&rig, "too late");
    s.fd = -1;
    end();
}

TEST(streams_do_not_see_each_other)
{
    struct web other;
    const char *theirs;

    begin();
    other = web_open(&rig);
    web_request(&other, "GET", "/sse", "", NULL);
    CHECK_INT(web_answer(&other).status, 200);
    theirs = web_event(&other);
    CHECK(strcmp(theirs + 22, messages) != 0);
    CHECK_INT(post(RIG_CALL("1", "echo", "{\"text\":\"mine\"}")), 202);
    CHECK_HAS(web_event(&s), "mine");
    web_no_event(&other);
    web_close(&other);
    end();
}

TEST(the_token_and_the_place_beside_another_path_count)
{
    struct pb_http_options o = PB_HTTP_OPTIONS_INIT;

    o.token = "t";
    o.path = "/a/b";
    begin_with(&o, "/a/sse", "Authorization: Bearer t\r\n");
    CHECK(!strncmp(messages, "/a/messages?sessionId=", 22));
    CHECK_INT(post(WEB_PING), 401);
    web_request(&w, "POST", messages,
                "Content-Type: application/json\r\nAuthorization: Bearer t\r\n", WEB_PING);
    CHECK_INT(web_answer(&w).status, 202);
    CHECK_HAS(web_event(&s), "\"result\":{}");
    end();
}

TEST(a_batch_is_one_message_there_and_back)
{
    begin();
    CHECK_INT(post(RIG_INITIALIZE("2025-03-26")), 202);
    web_event(&s);
    CHECK_INT(post("[" WEB_PING "," WEB_CALL("2", "later") "]"), 202);
    web_no_event(&s);
    rig_finish(&rig, "both");
    CHECK_STR(
        web_event(&s),
        "event: message\ndata: [{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}," RIG_TEXT_RESULT(
            "2", "both") "]");
    end();
}

/* More than a stream may hold; they are sent one behind the other. */
enum { LARGE = 40 };

static void post_later(int id)
{
    web_request(&w, "POST", messages, "Content-Type: application/json\r\n",
                arena_printf(&rig.arena, RIG_CALL("%d", "big", "{\"n\":1000000}"), id));
}

static void begin_large(void)
{
    begin();
    CHECK_INT(post(RIG_INITIALIZE("2024-11-05")), 202);
    CHECK_HAS(web_event(&s), "\"id\":0");
    for (int i = 1; i <= LARGE; i++)
        post_later(i);
    rig_settle(&rig);
}

TEST(a_client_that_reads_slowly_has_its_requests_held_and_gets_all_answers)
{
    begin_large();
    web_receive(&w);
    CHECK(!w.over);
    for (int i = 1; i <= LARGE; i++) {
        const char *event = web_event(&s);

        CHECK(event);
        CHECK_HAS(event, arena_printf(&rig.arena, "\"id\":%d,", i));
        CHECK_INT(web_answer(&w).status, 202);
    }
    CHECK_INT(post(WEB_CALL("99", "steps")), 202);
    CHECK_HAS(web_event(&s), "\"progress\":1");
    end();
}

TEST(a_client_that_reads_nothing_at_all_is_cut_off_and_what_was_held_is_refused)
{
    int accepted = 0;

    begin_large();
    loop_advance(rig.loop, HTTP_WRITE_STALL_MS - 1);
    rig_settle(&rig);
    web_receive(&w);
    CHECK(!memmem(w.in.p, w.in.n, " 404", 4));
    loop_advance(rig.loop, 1);
    rig_settle(&rig);
    for (int i = 0; i < LARGE; i++) {
        int status = web_answer(&w).status;

        CHECK(status == 202 || status == 404);
        accepted += status == 202;
    }
    CHECK(accepted && accepted < LARGE / 2);
    end();
}

TEST(what_is_held_for_a_client_that_gave_up_is_not_run)
{
    begin_large();
    web_close(&w);
    w = web_open(&rig);
    web_request(&w, "POST", messages, "Content-Type: application/json\r\n", WEB_PING);
    for (int i = 1;; i++) {
        const char *event = web_event(&s);

        CHECK(event && i < LARGE / 2);
        if (!strstr(event, "xxxx"))
            break;
    }
    CHECK_INT(web_answer(&w).status, 202);
    end();
}

/* There is room again, and the same event tells that nobody is there any more. How much is left of
 * the answer then depends on the sizes of the kernel's buffers. */
static void leave_with(size_t left)
{
    enum { BIG = 8000000 };
    static char bytes[65536];
    size_t got = 0;

    begin();
    CHECK_INT(post(RIG_INITIALIZE("2024-11-05")), 202);
    CHECK_HAS(web_event(&s), "\"id\":0");
    CHECK_INT(post(arena_printf(&rig.arena, RIG_CALL("1", "big", "{\"n\":%d}"), BIG)), 202);
    while (got < BIG - left) {
        ssize_t n = recv(s.fd, bytes, sizeof bytes, 0);

        if (n > 0)
            got += (size_t)n;
        else
            rig_turn(&rig);
    }
    shutdown(s.fd, SHUT_WR);
    rig_settle(&rig);
    CHECK_INT(post(WEB_PING), 404);
    end();
}

TEST(a_client_that_leaves_as_there_is_room_again_is_freed_once)
{
    for (size_t left = 1000000; left < 8000000; left += 1000000)
        leave_with(left);
}

TEST(comments_keep_the_stream_open)
{
    begin();
    loop_advance(rig.loop, SSE_KEEPALIVE_MS);
    CHECK_STR(web_event(&s), ":");
    end();
}

TEST(stopping_answers_and_ends_the_stream)
{
    begin();
    CHECK_INT(post(WEB_CALL("1", "later")), 202);
    RIG_UNTIL(&rig, rig.held);
    pb_server_stop(rig.server);
    CHECK_HAS(web_event(&s), "Request cancelled");
    rig_finish(&rig, "too late");
    CHECK(!web_event(&s));
    end();
}

/* Its request had begun when the server began to stop. */
TEST(who_comes_while_the_server_stops_is_refused)
{
    static const char *const lines[] = { "GET /sse", "POST /messages?sessionId=x" };

    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        const char *host;
        struct answer a;

        begin();
        web_send_bytes(&w, lines[i], strlen(lines[i]));
        rig_settle(&rig);
        pb_server_stop(rig.server);
        CHECK(!web_event(&s));
        rig_settle(&rig);
        web_send_bytes(&w, " HTTP/1.1\r\n", 11);
        host = arena_printf(&rig.arena, "Host: 127.0.0.1:%d\r\n\r\n", pb_server_port(rig.server));
        web_send_bytes(&w, host, strlen(host));
        a = web_answer(&w);
        CHECK_INT(a.status, 503);
        CHECK_HAS(a.body, "The server is stopping");
        end();
    }
}
