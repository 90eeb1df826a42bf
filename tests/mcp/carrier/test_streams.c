/* test_streams.c - answers that become streams: on which, with what on them, how a client that
 * lost its connection goes on, and what is not waited for. */
#include "mcp/registry/registry.h"
#include "mcp/rpc/rpc.h"
#include "web_rig.h"

static struct rig rig;
static struct web w;

static void begin(void)
{
    rig_http(&rig, NULL);
    w = web_open(&rig);
}

static void end(void)
{
    web_close(&w);
    rig_close(&rig);
}

static const char *lines(const char *a, const char *b)
{
    return arena_printf(&rig.arena, "%s%s", a, b);
}

/* ---- streams ------------------------------------------------------------------------------ */

TEST(an_answer_is_json_unless_something_comes_before_it)
{
    const char *session;
    struct answer a;

    begin();
    session = web_session(&w, "2025-06-18");
    a = web_post(&w, session, RIG_CALL("1", "echo", "{\"text\":\"hi\"}"));
    CHECK_STR(a.body, RIG_TEXT_RESULT("1", "hi"));
    a = web_post(&w, session, WEB_CALL("2", "steps"));
    CHECK_INT(a.status, 200);
    CHECK(!a.body);
    CHECK_STR(web_header(&w, a.head, "Content-Type"), "text/event-stream");
    CHECK_STR(web_header(&w, a.head, "X-Accel-Buffering"), "no");
    CHECK_HAS(web_header(&w, a.head, "Cache-Control"), "no-cache");
    CHECK_STR(web_event(&w), "event: message\nid: 1-1\ndata: {\"jsonrpc\":\"2.0\",\"method\":"
                             "\"notifications/progress\",\"params\":{\"progressToken\":1,"
                             "\"progress\":1,\"total\":2}}");
    CHECK_HAS(web_event(&w), "\"progress\":2");
    CHECK_HAS(web_event(&w), "data: " RIG_TEXT_RESULT("2", "done"));
    CHECK(!web_event(&w));
    end();
}

TEST(the_newest_legacy_revision_is_told_where_to_resume)
{
    const char *session;

    begin();
    session = web_session(&w, "2025-11-25");
    CHECK(!web_post(&w, session, WEB_CALL("2", "steps")).body);
    CHECK_STR(web_event(&w), "id: 1-0\ndata:");
    CHECK_HAS(web_event(&w), "id: 1-1\ndata: ");
    end();
}

TEST(a_client_that_takes_no_streams_gets_the_answer_alone)
{
    const char *session;
    struct answer a;

    begin();
    session = web_session(&w, "2025-11-25");
    web_request(&w, "POST", "/mcp",
                lines(session, "Content-Type: application/json\r\nAccept: application/json\r\n"),
                WEB_CALL("2", "steps"));
    a = web_answer(&w);
    CHECK_STR(a.body, RIG_TEXT_RESULT("2", "done"));
    end();
}

TEST(a_client_that_takes_only_streams_gets_one)
{
    const char *session;
    struct answer a;

    begin();
    session = web_session(&w, "2025-06-18");
    web_request(&w, "POST", "/mcp",
                lines(session, "Content-Type: application/json\r\nAccept: text/event-stream\r\n"),
                WEB_PING);
    a = web_answer(&w);
    CHECK_INT(a.status, 200);
    CHECK(!a.body);
    CHECK_HAS(web_event(&w), "\"result\":{}");
    CHECK(!web_event(&w));
    end();
}

TEST(a_question_travels_on_the_stream_of_its_call_and_its_answer_is_posted)
{
    const char *session, *event;
    struct web other;

    begin();
    other = web_open(&rig);
    session = web_session(&w, "2025-06-18");
    CHECK(!web_post(&w, session, WEB_CALL("5", "ask")).body);
    event = web_event(&w);
    CHECK_HAS(event, "\"method\":\"elicitation/create\"");
    CHECK_HAS(event, "\"id\":1");
    CHECK_INT(web_post(&other, session,
                       "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"action\":\"accept\","
                       "\"content\":{\"name\":\"me\"}}}")
                  .status,
              202);
    CHECK_HAS(web_event(&w), "answer {\\\"action\\\":\\\"accept\\\"");
    CHECK(!web_event(&w));
    web_close(&other);
    end();
}

TEST(news_come_on_the_one_stream_that_a_session_may_open)
{
    const char *session;
    struct web s, second;
    struct answer a;

    begin();
    s = web_open(&rig);
    second = web_open(&rig);
    session = web_session(&w, "2025-11-25");
    web_own_stream(&s, session);
    CHECK_STR(web_event(&s), "id: 1-0\ndata:");
    web_request(&second, "GET", "/mcp", lines(session, "Accept: text/event-stream\r\n"), NULL);
    a = web_answer(&second);
    CHECK_INT(a.status, 409);
    CHECK_INT(pb_server_remove_tool(rig.server, "lines", NULL), 0);
    CHECK_STR(web_event(&s), "event: message\nid: 1-1\ndata: {\"jsonrpc\":\"2.0\",\"method\":"
                             "\"notifications/tools/list_changed\"}");
    web_close(&s);
    /* What happened in between is there for the one who comes back. */
    CHECK_INT(pb_server_remove_tool(rig.server, "big", NULL), 0);
    rig_settle(&rig);
    web_close(&second);
    second = web_open(&rig);
    web_own_stream(&second, session);
    CHECK_STR(web_event(&second), "id: 1-1\ndata:");
    CHECK_HAS(web_event(&second), "id: 1-2\ndata: ");
    web_no_event(&second);
    web_close(&second);
    end();
}

TEST(all_open_streams_are_kept_alive_by_comments)
{
    const char *session;
    struct web s;

    begin();
    s = web_open(&rig);
    session = web_session(&w, "2025-06-18");
    web_own_stream(&s, session);
    loop_advance(rig.loop, SSE_KEEPALIVE_MS - 1);
    web_no_event(&s);
    loop_advance(rig.loop, 1);
    CHECK_STR(web_event(&s), ":");
    loop_advance(rig.loop, SSE_KEEPALIVE_MS);
    CHECK_STR(web_event(&s), ":");
    web_close(&s);
    end();
}

TEST(many_open_streams_are_kept_alive_a_part_each_turn)
{
    enum { MANY = MCP_BEATS_PER_TURN + 20 };
    struct web all[MANY];
    size_t heard = 0;

    begin();
    for (int i = 0; i < MANY; i++) {
        all[i] = web_open(&rig);
        web_own_stream(&all[i], web_session(&w, "2025-06-18"));
    }
    loop_advance(rig.loop, SSE_KEEPALIVE_MS);
    for (int i = 0; i < MANY; i++) {
        web_receive(&all[i]);
        heard += all[i].in.n > 0;
    }
    CHECK_INT(heard, MCP_BEATS_PER_TURN);
    loop_advance(rig.loop, MCP_BEATS_REST_MS);
    for (int i = 0; i < MANY; i++) {
        CHECK_STR(web_event(&all[i]), ":");
        web_close(&all[i]);
    }
    end();
}

static struct answer resume(struct web *s, const char *session, const char *id)
{
    web_request(s, "GET", "/mcp",
                arena_printf(&rig.arena, "%sAccept: text/event-stream\r\nLast-Event-ID: %s\r\n",
                             session, id),
                NULL);
    return web_answer(s);
}

TEST(a_lost_connection_is_not_a_cancellation_and_the_answer_can_be_fetched)
{
    const char *session;
    struct web s;
    struct answer a;

    begin();
    session = web_session(&w, "2025-11-25");
    s = web_open(&rig);
    web_request(&s, "POST", "/mcp", lines(WEB_POST, session), WEB_CALL("3", "later"));
    RIG_UNTIL(&rig, rig.held);
    pb_call_progress(rig.held, 1, 3, NULL);
    a = web_answer(&s);
    CHECK_INT(a.status, 200);
    CHECK_STR(web_event(&s), "id: 1-0\ndata:");
    CHECK_HAS(web_event(&s), "id: 1-1\n");
    web_close(&s);
    CHECK(!pb_call_cancelled(rig.held));
    pb_call_progress(rig.held, 2, 3, NULL);
    s = web_open(&rig);
    CHECK_INT(resume(&s, session, "1-1").status, 200);
    CHECK_HAS(web_event(&s), "id: 1-2\n");
    web_no_event(&s);
    rig_finish(&rig, "at last");
    CHECK_HAS(web_event(&s), RIG_TEXT_RESULT("3", "at last"));
    CHECK(!web_event(&s));
    web_close(&s);
    /* And once more, from the start, though it is over. */
    s = web_open(&rig);
    CHECK_INT(resume(&s, session, "1-0").status, 200);
    CHECK_HAS(web_event(&s), "id: 1-1\n");
    CHECK_HAS(web_event(&s), "id: 1-2\n");
    CHECK_HAS(web_event(&s), "at last");
    CHECK(!web_event(&s));
    web_close(&s);
    end();
}

TEST(an_answer_that_nobody_can_fetch_is_dropped_without_harm)
{
    const char *session;
    struct web s;

    begin();
    session = web_session(&w, "2025-11-25");
    s = web_open(&rig);
    web_request(&s, "POST", "/mcp", lines(WEB_POST, session), WEB_CALL("3", "later"));
    RIG_UNTIL(&rig, rig.held);
    web_close(&s);
    CHECK(!pb_call_cancelled(rig.held));
    rig_finish(&rig, "to nobody");
    rig_settle(&rig);
    CHECK_INT(web_post(&w, session, WEB_PING).status, 200);
    end();
}

static const char *hundred_kilobytes(void)
{
    static char data[100003];

    memset(data, 'x', 100002);
    data[0] = data[100001] = '"';
    return data;
}

/* Of a line "N log and progress messages were dropped"; 0: it is another. */
static size_t told_missed(const char *event)
{
    static const char head[] = "\"level\":\"warning\",\"logger\":\"patchbay\",\"data\":\"";
    const char *at = strstr(event, head);

    return at && strstr(at, " log and progress messages were dropped")
               ? strtoul(at + sizeof head - 1, NULL, 10)
               : 0;
}

TEST(a_reader_that_falls_behind_misses_logs_hears_how_many_and_goes_on)
{
    enum { LINES = 600 };
    const char *session, *event;
    size_t events = 0, missed = 0;
    struct web s;

    begin();
    s = web_open(&rig);
    session = web_session(&w, "2025-11-25");
    web_own_stream(&s, session);
    CHECK_STR(web_event(&s), "id: 1-0\ndata:");
    /* It does not read while 60 MB come. */
    for (int i = 0; i < LINES; i++) {
        pb_server_log(rig.server, PB_LOG_ERROR, "test", hundred_kilobytes());
        rig_turn(&rig);
        if (i == LINES / 2)
            CHECK_INT(pb_server_remove_tool(rig.server, "lines", NULL), 0);
    }
    while (!missed) {
        event = web_event(&s);
        CHECK(event);
        missed = told_missed(event);
        if (strstr(event, "tools/list_changed"))
            missed = 0; /* and what was missed before it was told there */
        events += strstr(event, "xxxx") != NULL;
    }
    CHECK(events * 100000 < 8388608); /* the high mark, and what sockets hold */
    while (events + missed < LINES) {
        event = web_event(&s);
        CHECK(event);
        missed += told_missed(event);
        events += strstr(event, "xxxx") != NULL;
    }
    CHECK_INT(events + missed, LINES);
    pb_server_log(rig.server, PB_LOG_ERROR, "test", "\"again\"");
    CHECK_HAS(web_event(&s), "again");
    web_close(&s);
    end();
}

/* 60 MB of log in a burst, and a client that reads a bit each turn: the answer is delivered. */
static void slow_call(const char *session, const char *headers, const char *call, bool tells)
{
    enum { LINES = 600, TAKES = 20000 };
    char taken[TAKES];
    size_t events = 0, missed = 0;
    const char *event;
    struct web s = web_open(&rig);

    web_request(&s, "POST", "/mcp", lines(headers, session), call);
    RIG_UNTIL(&rig, rig.held);
    for (int i = 0; i < LINES; i++) {
        ssize_t n;

        pb_call_log(rig.held, PB_LOG_ERROR, "test", hundred_kilobytes());
        pb_call_progress(rig.held, i + 1, LINES, NULL);
        rig_turn(&rig);
        n = recv(s.fd, taken, sizeof taken, 0);
        if (n > 0)
            buf_add(&s.in, taken, (size_t)n);
    }
    rig_finish(&rig, "at last");
    CHECK_INT(web_answer(&s).status, 200);
    for (;;) {
        event = web_event(&s);
        CHECK(event);
        if (strstr(event, "at last"))
            break;
        missed += told_missed(event);
        events += strstr(event, "xxxx") || strstr(event, "notifications/progress");
    }
    CHECK(events < LINES);
    CHECK_INT(missed, tells ? 2 * LINES - events : 0);
    CHECK(!web_event(&s));
    web_close(&s);
}

TEST(a_client_that_reads_slowly_gets_its_answer)
{
    begin();
    slow_call(web_session(&w, "2025-06-18"), WEB_POST, WEB_CALL("3", "later"), true);
    end();
}

TEST(a_modern_client_that_reads_slowly_gets_its_answer)
{
#define MODERN_CALL(level)                                                                    \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"later\"," \
    "\"arguments\":{},\"_meta\":{\"" META_VERSION "\":\"2026-07-28\",\"" META_CLIENT_CAPS     \
    "\":{},\"progressToken\":1,\"" META_LOG_LEVEL "\":\"" level "\"}}}"
    begin();
    slow_call("", WEB_POST WEB_MODERN_CALL_HEADERS("later"), MODERN_CALL("info"), true);
    /* One that wants no warnings is not told. */
    slow_call("", WEB_POST WEB_MODERN_CALL_HEADERS("later"), MODERN_CALL("error"), false);
    end();
}

TEST(ids_of_other_sessions_and_forgotten_events_are_refused)
{
    static const char *const bad[] = { "1-9",
                                       "9-0",
                                       "x",
                                       "1",
                                       "-",
                                       "1-",
                                       "-1",
                                       "1-g",
                                       "1-1-1",
                                       "100000000000000001-1",
                                       "1-11111111111111111" };
    const char *mine, *theirs;
    struct web s;

    begin();
    mine = web_session(&w, "2025-11-25");
    theirs = web_session(&w, "2025-11-25");
    CHECK(!web_post(&w, mine, WEB_CALL("2", "steps")).body);
    while (web_event(&w))
        continue;
    web_close(&w);
    w = web_open(&rig);
    s = web_open(&rig);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        if (resume(&s, mine, bad[i]).status != 400)
            TAP_FAIL("Last-Event-ID: %s", bad[i]);
    CHECK_INT(resume(&s, theirs, "1-0").status, 400);
    CHECK_INT(resume(&s, mine, "1-2").status, 200);
    CHECK_HAS(web_event(&s), "done");
    web_close(&s);
    end();
}

TEST(progress_that_nobody_read_does_not_cost_the_answer)
{
    const char *session, *event;
    struct web s;
    int events = 0;

    begin();
    session = web_session(&w, "2025-11-25");
    s = web_open(&rig);
    web_request(&s, "POST", "/mcp", lines(WEB_POST, session), WEB_CALL("3", "later"));
    RIG_UNTIL(&rig, rig.held);
    pb_call_progress(rig.held, 1, 0, NULL);
    rig_settle(&rig);
    web_close(&s);
    for (int i = 2; i <= MCP_REPLAY_EVENTS_MAX + 44; i++)
        pb_call_progress(rig.held, i, 0, NULL);
    rig_finish(&rig, "not lost");
    rig_settle(&rig);
    s = web_open(&rig);
    CHECK_INT(resume(&s, session, "1-0").status, 200);
    while ((event = web_event(&s)) && !strstr(event, "not lost"))
        events += strstr(event, "notifications/progress") != NULL;
    CHECK(event);
    CHECK_INT(events, MCP_REPLAY_EVENTS_MAX);
    CHECK(!web_event(&s));
    web_close(&s);
    end();
}

TEST(a_handler_may_send_its_client_away_until_the_answer_is_there)
{
    const char *session;
    struct answer a;

    begin();
    session = web_session(&w, "2025-11-25");
    web_request(&w, "POST", "/mcp", lines(WEB_POST, session), WEB_CALL("3", "later"));
    RIG_UNTIL(&rig, rig.held);
    pb_call_close_stream(rig.held, 700);
    a = web_answer(&w);
    CHECK_INT(a.status, 200);
    CHECK_STR(web_event(&w), "id: 1-0\nretry: 700\ndata:");
    CHECK(!web_event(&w));
    w.over = false;
    CHECK_INT(resume(&w, session, "1-0").status, 200);
    rig_finish(&rig, "polled");
    CHECK_HAS(web_event(&w), "polled");
    CHECK(!web_event(&w));
    end();
}

TEST(sending_away_means_nothing_to_older_clients)
{
    const char *session;

    begin();
    session = web_session(&w, "2025-06-18");
    web_request(&w, "POST", "/mcp", lines(WEB_POST, session), WEB_CALL("3", "later"));
    RIG_UNTIL(&rig, rig.held);
    pb_call_close_stream(rig.held, 700);
    rig_finish(&rig, "as ever");
    CHECK_STR(web_answer(&w).body, RIG_TEXT_RESULT("3", "as ever"));
    end();
}

TEST(a_cancelled_request_ends_its_connection)
{
    const char *session;
    struct web s;

    begin();
    s = web_open(&rig);
    session = web_session(&w, "2025-11-25");
    web_request(&s, "POST", "/mcp", lines(WEB_POST, session), WEB_CALL("3", "later"));
    RIG_UNTIL(&rig, rig.held);
    CHECK_INT(web_post(&w, session,
                       "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
                       "\"requestId\":3}}")
                  .status,
              202);
    CHECK(pb_call_cancelled(rig.held));
    CHECK_INT(web_answer(&s).status, 202);
    rig_finish(&rig, "too late");
    web_close(&s);
    end();
}

TEST(ending_a_session_ends_its_calls_and_streams)
{
    const char *session;
    struct web s, call;

    begin();
    s = web_open(&rig);
    call = web_open(&rig);
    session = web_session(&w, "2025-06-18");
    web_own_stream(&s, session);
    web_request(&call, "POST", "/mcp", lines(WEB_POST, session), WEB_CALL("3", "later"));
    RIG_UNTIL(&rig, rig.held);
    web_request(&w, "DELETE", "/mcp", session, NULL);
    CHECK_INT(web_answer(&w).status, 204);
    CHECK(!web_event(&s));
    CHECK_INT(web_answer(&call).status, 404);
    CHECK(pb_call_cancelled(rig.held));
    rig_finish(&rig, "too late");
    web_close(&s);
    web_close(&call);
    end();
}

TEST(json_only_never_makes_a_stream_of_a_post)
{
    struct pb_http_options o = PB_HTTP_OPTIONS_INIT;
    const char *session;
    struct web s;

    o.json_only = true;
    rig_http(&rig, &o);
    w = web_open(&rig);
    s = web_open(&rig);
    session = web_session(&w, "2025-06-18");
    CHECK_STR(web_post(&w, session, WEB_CALL("2", "steps")).body, RIG_TEXT_RESULT("2", "done"));
    /* A question has the session's own stream. */
    web_own_stream(&s, session);
    web_request(&w, "POST", "/mcp", lines(WEB_POST, session), WEB_CALL("5", "ask"));
    CHECK_HAS(web_event(&s), "elicitation/create");
    web_close(&s);
    s = web_open(&rig);
    CHECK_INT(
        web_post(&s, session, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"action\":\"decline\"}}")
            .status,
        202);
    CHECK_HAS(web_answer(&w).body, "decline");
    web_close(&s);
    end();
}
