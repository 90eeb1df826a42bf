/* Clients that leave, and clients that make us wait. */
#include "http_rig.h"
#include "io/http/http.h"
#include "io/http/http_conn.h"

/* ---- Clients that leave ------------------------------------------------------------------ */

TEST(a_client_that_leaves_is_noticed_at_once_while_its_request_waits)
{
    static const struct {
        const char *text;
        bool reset;
    } cases[] = {
        { "GET /later HTTP/1.1\r\n" H "\r\n", false },
        { "GET /later HTTP/1.1\r\n" H "\r\n", true },
        { "GET /later HTTP/1.1\r\n" H "\r\nGET /next HTTP/1.1\r\n" H "\r\n", false },
        { "GET /stream HTTP/1.1\r\n" H "\r\n", false },
        { "GET /stream HTTP/1.1\r\n" H "\r\n", true },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct rig rig = { 0 };
        struct peer p;

        rig_open(&rig);
        peer_open(&p, &rig);
        peer_say(&p, cases[i].text);
        rig_until_kept(&rig, 1);
        rig_turns(&rig, 3);
        CHECK_INT(rig.n_gone, 0);
        if (cases[i].reset)
            setsockopt(p.fd, SOL_SOCKET, SO_LINGER, &(struct linger){ 1, 0 },
                       sizeof(struct linger));
        peer_close(&p);
        rig_turns(&rig, 2);
        CHECK_INT(rig.n_gone, 1);
        CHECK_INT(http_server_connections(rig.server), 0);
        CHECK_INT(rig.n_requests, 1);
        rig_close(&rig);
        CHECK_INT(rig.n_gone, 1);
    }
}

/* As long as its last bytes fit into the socket's buffer: behind bytes that do not, TCP itself
 * delivers no end. */
TEST(a_client_that_leaves_is_noticed_though_its_unread_bytes_are_in_the_way)
{
    struct rig rig = { 0 };
    struct peer p;
    char x[HTTP_PIPELINE_BYTES_MAX / 4];

    memset(x, 'x', sizeof x);
    rig_open(&rig);
    peer_open(&p, &rig);
    peer_say(&p, "GET /later HTTP/1.1\r\n" H "\r\n");
    rig_until_kept(&rig, 1);
    for (int i = 0; i < 5; i++) {
        peer_send(&p, span_make(x, sizeof x));
        rig_turns(&rig, 2);
    }
    /* It was made to stop, and no more than the bound is kept. */
    CHECK_INT(rig.kept[0]->conn->held.n, HTTP_PIPELINE_BYTES_MAX);
    CHECK(rig.kept[0]->conn->paused);
    CHECK_INT(rig.n_gone, 0);
    peer_close(&p);
    rig_turns(&rig, 2);
    CHECK_INT(rig.n_gone, 1);
    rig_close(&rig);
}

TEST(reading_goes_on_after_a_client_sent_too_far_ahead)
{
    enum { COUNT = 5000 };
    struct rig rig = { 0 };
    AUTO_BUF struct buf text = { 0 };
    struct peer p;
    size_t at = 0;

    rig_open(&rig);
    peer_open(&p, &rig);
    buf_str(&text, "GET /later HTTP/1.1\r\n" H "\r\n");
    for (int i = 0; i < COUNT; i++)
        buf_printf(&text, "POST /%d HTTP/1.1\r\n" H "Content-Length: 5\r\n\r\n%05d", i, i);
    for (int idle = 0; at < text.n && idle < 5; idle++) {
        ssize_t n = send(p.fd, text.p + at, text.n - at, MSG_DONTWAIT);

        if (n > 0) {
            at += (size_t)n;
            idle = 0;
        }
        rig_turns(&rig, 2);
    }
    rig_until_kept(&rig, 1);
    rig_turns(&rig, 5);
    CHECK(rig.kept[0]->conn->paused);
    answer(rig.kept[0], "first");
    peer_send(&p, span_make(text.p + at, text.n - at));
    peer_hear(&p, "04999");
    CHECK_INT(rig.n_requests, COUNT + 1);
    CHECK_INT(rig.n_gone, 0);
    peer_close(&p);
    rig_close(&rig);
}

TEST(an_answer_to_a_client_that_left_is_dropped_if_its_handler_did_not_ask_to_be_told)
{
    struct rig rig = { 0 };
    struct peer p;

    rig_open(&rig);
    peer_open(&p, &rig);
    peer_say(&p, "GET /deaf HTTP/1.1\r\n" H "\r\n");
    rig_until_kept(&rig, 1);
    peer_close(&p);
    rig_turns(&rig, 3);
    peer_open(&p, &rig);
    peer_say(&p, "GET /deaf HTTP/1.1\r\n" H "\r\n");
    rig_until_kept(&rig, 2);
    peer_close(&p);
    rig_turns(&rig, 3);
    CHECK_SPAN(http_path(rig.kept[0]), "/deaf"); /* still good */
    http_reply(rig.kept[0], 200, NULL, NULL, 0);
    http_begin(rig.kept[1], 200, NULL);
    CHECK(!write_text(rig.kept[1], "x"));
    CHECK(!http_full(rig.kept[1]));
    http_end(rig.kept[1]);
    rig_close(&rig);
}

TEST(who_asks_to_be_told_too_late_is_told_all_the_same)
{
    struct rig rig = { 0 };
    struct peer p;

    rig_open(&rig);
    for (int round = 0; round < 2; round++) {
        peer_open(&p, &rig);
        peer_say(&p, "GET /deaf HTTP/1.1\r\n" H "\r\n");
        rig_until_kept(&rig, round + 1);
        peer_close(&p);
        rig_turns(&rig, 3);
        http_on_gone(rig.kept[round], rig_gone, &rig);
        CHECK_INT(rig.n_gone, 0);
        if (round == 1)
            http_reply(rig.kept[round], 200, NULL, NULL, 0); /* answered before it could be told */
        rig_turns(&rig, 2);
        CHECK_INT(rig.n_gone, round == 0);
        rig.n_gone = 0;
    }
    rig_close(&rig);
}

static void reply_in_gone(void *ctx) { http_reply(ctx, 200, NULL, NULL, 0); }

TEST(answering_from_the_gone_callback_does_no_harm)
{
    struct rig rig = { 0 };
    struct peer p;

    rig_open(&rig);
    peer_open(&p, &rig);
    peer_say(&p, "GET /deaf HTTP/1.1\r\n" H "\r\n");
    rig_until_kept(&rig, 1);
    http_on_gone(rig.kept[0], reply_in_gone, rig.kept[0]);
    peer_close(&p);
    rig_turns(&rig, 3);
    CHECK_INT(http_server_connections(rig.server), 0);
    rig_close(&rig);
}

/* A client that shuts its sending side gets the answers to what came whole before it, if they are
 * made at once; one that has to wait is cancelled. */
TEST(the_end_of_input_cancels_what_waits_and_lets_finish_what_is_answered)
{
    enum { COUNT = 500 };
    struct rig rig = { 0 };
    AUTO_BUF struct buf text = { 0 };
    struct peer p;

    rig_open(&rig);
    peer_open(&p, &rig);
    for (int i = 0; i < COUNT; i++)
        buf_printf(&text, "POST / HTTP/1.1\r\n" H "Content-Length: 4\r\n\r\n%04d", i);
    peer_send(&p, buf_span(&text));
    shutdown(p.fd, SHUT_WR);
    peer_end(&p);
    CHECK(peer_has(&p, "0499"));
    CHECK_INT(rig.n_requests, COUNT);
    peer_close(&p);

    peer_open(&p, &rig);
    peer_say(&p, "POST /x HTTP/1.1\r\n" H "Content-Length: 2\r\n\r\nhiGET /later HTTP/1.1\r\n" H
                 "\r\n");
    shutdown(p.fd, SHUT_WR);
    peer_end(&p);
    CHECK(peer_has(&p, "hi"));
    CHECK_INT(rig.n_gone, 1);
    peer_close(&p);

    peer_open(&p, &rig);
    peer_say(&p, "POST /x HTTP/1.1\r\n" H "Content-Length: 2\r\n\r\nh"); /* not whole */
    shutdown(p.fd, SHUT_WR);
    peer_end(&p);
    CHECK_INT(p.in.n, 0);
    peer_close(&p);
    rig_close(&rig);
}

TEST(a_large_answer_reaches_a_client_that_shut_its_sending_side)
{
    enum { SIZE = 8000000 };
    struct rig rig = { 0 };
    AUTO_BUF struct buf text = { 0 };
    struct peer p;

    rig_open(&rig);
    peer_open(&p, &rig);
    buf_printf(&text, "POST / HTTP/1.1\r\n" H "Content-Length: %d\r\n\r\n", SIZE);
    peer_send(&p, buf_span(&text));
    text.n = 0;
    memset(buf_reserve(&text, SIZE), 'x', SIZE);
    text.n = SIZE;
    peer_send(&p, buf_span(&text));
    shutdown(p.fd, SHUT_WR);
    rig_turns(&rig, 200);
    peer_end(&p);
    CHECK(p.in.n > SIZE);
    peer_close(&p);
    rig_close(&rig);
}

/* ---- Deadlines --------------------------------------------------------------------------- */

TEST(every_wait_for_a_client_ends)
{
    static const struct {
        const char *text;
        uint64_t ms;
        int status; /* 0: closed without a word */
    } cases[] = {
        { "", HTTP_HEAD_MS, 0 },
        { "\r\n", HTTP_HEAD_MS, 408 },
        { "G", HTTP_HEAD_MS, 408 },
        { "GET / HTTP/1.1\r\nHost: a\r\n", HTTP_HEAD_MS, 408 },
        { "POST / HTTP/1.1\r\n" H "Content-Length: 5\r\n\r\nhell", HTTP_BODY_MS, 408 },
        { "POST / HTTP/1.1\r\n" H "Content-Length: 5\r\n\r\n", HTTP_BODY_MS, 408 },
        { "POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\n\r\n5", HTTP_BODY_MS, 408 },
        { "POST / HTTP/1.1\r\n" H "Expect: 100-continue\r\nContent-Length: 5\r\n\r\n", HTTP_BODY_MS,
          408 },
        { "GET / HTTP/1.1\r\n" H "\r\n", HTTP_IDLE_MS, 200 },
        { "GET / HTTP/1.1\r\n" H "\r\nG", HTTP_HEAD_MS, 408 },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct rig rig = { 0 };
        struct peer p;

        rig_open(&rig);
        peer_open(&p, &rig);
        peer_say(&p, cases[i].text);
        for (int k = 0; k < 5; k++)
            peer_turn(&p);
        loop_advance(rig.loop, cases[i].ms - 1);
        peer_turn(&p);
        CHECK(!p.eof);
        loop_advance(rig.loop, 1);
        peer_end(&p);
        CHECK_INT(peer_status(&p), cases[i].status);
        CHECK_INT(rig.n_requests, cases[i].status == 200 || i == 9);
        /* Our side is shut; the socket stays for what the client may still send, for a while. */
        if (cases[i].status == 408) {
            CHECK_INT(http_server_connections(rig.server), 1);
            loop_advance(rig.loop, HTTP_LINGER_MS);
        }
        rig_turns(&rig, 2);
        CHECK_INT(http_server_connections(rig.server), 0);
        peer_close(&p);
        rig_close(&rig);
    }
}

TEST(a_dripping_client_gains_no_time)
{
    struct rig rig = { 0 };
    struct peer p;
    int bytes = 0;

    rig_open(&rig);
    peer_open(&p, &rig);
    peer_say(&p, "GET / HTTP/1.1\r\nHost: a\r\nX: ");
    rig_turns(&rig, 3);
    while (!p.eof && bytes < 1000) {
        peer_say(&p, "x");
        bytes++;
        loop_advance(rig.loop, 1000);
        peer_turn(&p);
    }
    CHECK_INT(peer_status(&p), 408);
    CHECK(bytes <= HTTP_HEAD_MS / 1000 + 1);
    peer_close(&p);
    rig_close(&rig);
}

TEST(a_waiting_request_and_an_open_stream_have_no_deadline)
{
    struct rig rig = { 0 };
    struct peer p, q;

    rig_open(&rig);
    peer_open(&p, &rig);
    peer_open(&q, &rig);
    peer_say(&p, "GET /later HTTP/1.1\r\n" H "\r\n");
    rig_until_kept(&rig, 1);
    peer_say(&q, "GET /stream HTTP/1.1\r\n" H "\r\n");
    rig_until_kept(&rig, 2);
    peer_hear(&q, "\r\n\r\n");
    loop_advance(rig.loop, 24 * 3600 * 1000);
    CHECK_INT(rig.n_gone, 0);
    answer(rig.kept[0], "after a day");
    CHECK(write_text(rig.kept[1], "tick"));
    peer_hear(&p, "after a day");
    peer_hear(&q, "4\r\ntick\r\n");
    http_end(rig.kept[1]);
    peer_hear(&q, "0\r\n\r\n");
    peer_close(&p);
    peer_close(&q);
    rig_close(&rig);
}

TEST(nothing_wakes_an_idle_server_without_connections)
{
    struct rig rig = { 0 };
    struct peer p;

    rig_open(&rig);
    peer_open(&p, &rig);
    peer_say(&p, "GET / HTTP/1.1\r\n" H "\r\n");
    peer_hear(&p, "\r\n\r\n");
    CHECK(timer_running(&rig.server->timer));
    peer_close(&p);
    rig_until_connections(&rig, 0);
    CHECK(!timer_running(&rig.server->timer));
    rig_close(&rig);
}

TEST(a_busy_connection_does_not_move_the_timer)
{
    struct rig rig = { 0 };
    struct peer p;
    uint64_t due;

    rig_open(&rig);
    peer_open(&p, &rig);
    for (int i = 0; i < 100; i++) {
        peer_forget(&p);
        peer_say(&p, "GET / HTTP/1.1\r\n" H "\r\n");
        peer_hear(&p, "\r\n\r\n");
        if (i == 0)
            due = rig.server->timer.due;
        CHECK_INT(rig.server->timer.due, due);
        loop_advance(rig.loop, 10);
    }
    /* The old deadline passes; the connection has been used since. */
    loop_advance(rig.loop, HTTP_HEAD_MS);
    CHECK_INT(http_server_connections(rig.server), 1);
    loop_advance(rig.loop, HTTP_IDLE_MS);
    CHECK_INT(http_server_connections(rig.server), 0);
    peer_close(&p);
    rig_close(&rig);
}

TEST(after_an_error_what_the_client_still_sends_is_read_so_the_answer_is_not_lost)
{
    struct rig rig = { .opts = { .max_body = 1000 } };
    struct peer p;
    char x[65536];

    memset(x, 'x', sizeof x);
    rig_open(&rig);
    peer_open(&p, &rig);
    peer_say(&p, "POST / HTTP/1.1\r\n" H "Content-Length: 1000000\r\n\r\n");
    for (int i = 0; i < 16; i++)
        peer_send(&p, span_make(x, sizeof x));
    peer_end(&p);
    CHECK_INT(peer_status(&p), 413);
    /* The client sees the end and leaves: no need to wait any longer. */
    peer_close(&p);
    rig_until_connections(&rig, 0);
    rig_close(&rig);
}

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/* Cut at any byte, at any state, with answers coming before, after or never: nothing is leaked,
 * nothing is used after it was freed (the sanitizers see to that), every handler hears once. */
TEST(random_disconnects_leave_nothing_behind)
{
    static const char *const texts[] = {
        "GET / HTTP/1.1\r\n" H "\r\n",
        "POST /x HTTP/1.1\r\n" H "Content-Length: 10\r\n\r\n0123456789",
        "POST /x HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
        "GET /later HTTP/1.1\r\n" H "\r\n",
        "GET /stream HTTP/1.1\r\n" H "\r\nGET / HTTP/1.1\r\n" H "\r\n",
        "nonsense\r\n\r\n",
    };
    struct rig rig = { 0 };
    uint32_t seed = 7;
    int asked = 0, told = 0;

    rig_open(&rig);
    for (int round = 0; round < 3000; round++) {
        struct span text = span_of(texts[next_random(&seed) % ARRAY_LEN(texts)]);
        struct peer p;

        rig.n_kept = rig.n_gone = 0;
        peer_open(&p, &rig);
        if (next_random(&seed) % 2)
            text.n = next_random(&seed) % (text.n + 1);
        peer_send(&p, text);
        rig_turns(&rig, (int)(next_random(&seed) % 4));
        asked += rig.n_kept;
        if (rig.n_kept && next_random(&seed) % 2) {
            struct http_request *r = rig.kept[0];

            told++;
            if (r->answer == ANSWER_STREAM) {
                write_text(r, "some");
                if (next_random(&seed) % 2)
                    rig_turns(&rig, 1);
                http_end(r);
            } else {
                answer(r, "late");
            }
            rig.n_kept = 0;
        }
        if (next_random(&seed) % 3 == 0)
            setsockopt(p.fd, SOL_SOCKET, SO_LINGER, &(struct linger){ 1, 0 },
                       sizeof(struct linger));
        peer_close(&p);
        rig_turns(&rig, 3); /* it may not even have been accepted */
        rig_until_connections(&rig, 0);
        CHECK_INT(rig.n_gone, rig.n_kept);
        told += rig.n_gone;
    }
    CHECK(asked > 100 && told >= asked);
    rig_close(&rig);
}
