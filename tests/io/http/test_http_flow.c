/* Readers that are slow, streams, many connections, and the end of a server. */
#include "http_rig.h"
#include "io/http/http.h"
#include "io/http/http_conn.h"
#include <malloc.h>
#include <sys/resource.h>

/* ---- Readers that are slow --------------------------------------------------------------- */

/* Or the kernel would take megabytes. Not much smaller: it would wait for its own timers then. */
static void small_buffers(const struct http_request *r, struct peer *p)
{
    int size = 100000;

    setsockopt(p->fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    setsockopt(r->conn->fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
}

TEST(a_large_answer_waits_for_a_slow_reader_and_arrives_whole)
{
    enum { SIZE = 10 * 1024 * 1024 };
    struct rig rig = { 0 };
    AUTO_FREE char *big = mem_alloc(SIZE);
    struct span parts[2] = { { big, SIZE / 3 }, { big + SIZE / 3, SIZE - SIZE / 3 } };
    struct peer p;
    size_t got = 0;

    for (size_t i = 0; i < SIZE; i++)
        big[i] = (char)(i * 2654435761u >> 13);
    rig_open(&rig);
    peer_open(&p, &rig);
    peer_say(&p, "GET /later HTTP/1.1\r\n" H "\r\n");
    rig_until_kept(&rig, 1);
    small_buffers(rig.kept[0], &p);
    http_reply(rig.kept[0], 200, NULL, parts, 2);
    /* Slow, but never still for as long as the limit. */
    while (got < SIZE) {
        peer_turn(&p);
        got = p.in.n;
        if (got < SIZE / 2)
            loop_advance(rig.loop, HTTP_WRITE_STALL_MS / 2);
    }
    peer_hear(&p, "Content-Length: 10485760\r\n\r\n");
    CHECK(!memcmp(strstr(buf_cstr(&p.in), "\r\n\r\n") + 4, big, SIZE));
    /* And the connection serves on. */
    peer_forget(&p);
    peer_say(&p, "GET / HTTP/1.1\r\n" H "\r\n");
    peer_hear(&p, "HTTP/1.1 200 OK");
    peer_close(&p);
    rig_close(&rig);
}

TEST(a_reader_that_takes_nothing_is_cut_off)
{
    enum { SIZE = 10 * 1024 * 1024 };

    for (int stream = 0; stream < 2; stream++) {
        struct rig rig = { 0 };
        AUTO_FREE char *big = mem_zero(SIZE);
        struct span part = { big, SIZE };
        struct peer p;

        rig_open(&rig);
        peer_open(&p, &rig);
        peer_say(&p,
                 stream ? "GET /stream HTTP/1.1\r\n" H "\r\n" : "GET /later HTTP/1.1\r\n" H "\r\n");
        rig_until_kept(&rig, 1);
        small_buffers(rig.kept[0], &p);
        if (stream)
            CHECK(http_write(rig.kept[0], &part, 1));
        else
            http_reply(rig.kept[0], 200, NULL, &part, 1);
        rig_turns(&rig, 50);
        loop_advance(rig.loop, HTTP_WRITE_STALL_MS - 1);
        CHECK_INT(http_server_connections(rig.server), 1);
        loop_advance(rig.loop, HTTP_WRITE_STALL_MS + 1);
        CHECK_INT(http_server_connections(rig.server), 0);
        CHECK_INT(rig.n_gone, stream); /* an answer that was complete is nobody's loss any more */
        peer_close(&p);
        rig_close(&rig);
    }
}

TEST(a_stream_says_when_to_stop_and_when_to_go_on)
{
    struct rig rig = { 0 };
    AUTO_FREE char *event = mem_zero(50000);
    struct span part = { event, 50000 };
    struct peer p;
    size_t written = 0;

    rig_open(&rig);
    peer_open(&p, &rig);
    peer_say(&p, "GET /stream HTTP/1.1\r\n" H "\r\n");
    rig_until_kept(&rig, 1);
    small_buffers(rig.kept[0], &p);
    while (!http_full(rig.kept[0])) {
        CHECK(http_write(rig.kept[0], &part, 1));
        rig_turns(&rig, 1);
        written += part.n;
        CHECK(written < 100000000);
    }
    CHECK_INT(rig.n_drained, 0);
    for (int round = 1; round <= 3; round++) {
        while (rig.n_drained < round)
            peer_turn(&p);
        CHECK(!http_full(rig.kept[0]));
        while (!http_full(rig.kept[0])) {
            CHECK(http_write(rig.kept[0], &part, 1));
            rig_turns(&rig, 1);
            written += part.n;
        }
    }
    http_end(rig.kept[0]);
    peer_hear(&p, "0\r\n\r\n");
    CHECK(p.in.n > written);
    CHECK_INT(rig.n_gone, 0);
    peer_close(&p);
    rig_close(&rig);
}

TEST(a_stream_that_was_read_to_its_last_byte_may_be_silent_for_ever)
{
    enum { SIZE = 5000000 };
    struct rig rig = { 0 };
    AUTO_FREE char *big = mem_zero(SIZE);
    struct span part = { big, SIZE };
    struct peer p;

    rig_open(&rig);
    peer_open(&p, &rig);
    peer_say(&p, "GET /stream HTTP/1.1\r\n" H "\r\n");
    rig_until_kept(&rig, 1);
    small_buffers(rig.kept[0], &p);
    CHECK(http_write(rig.kept[0], &part, 1));
    CHECK_INT(rig.kept[0]->conn->wait, HTTP_WAIT_STALL);
    while (p.in.n < SIZE)
        peer_turn(&p);
    CHECK_INT(rig.n_drained, 1);
    loop_advance(rig.loop, 10 * HTTP_WRITE_STALL_MS);
    CHECK_INT(rig.n_gone, 0);
    CHECK(write_text(rig.kept[0], "still here"));
    peer_hear(&p, "still here");
    peer_close(&p);
    rig_close(&rig);
}

TEST(pipelined_answers_wait_for_their_reader_in_order)
{
    enum { COUNT = 400, SIZE = 20000 };
    static const char head[] =
        "HTTP/1.1 200 OK\r\nContent-Length: 20000\r\nContent-Type: text/plain\r\n\r\n";
    struct rig rig = { 0 };
    AUTO_BUF struct buf text = { 0 };
    struct peer p;
    const char *at;

    rig_open(&rig);
    peer_open(&p, &rig);
    peer_say(&p, "GET /later HTTP/1.1\r\n" H "\r\n");
    rig_until_kept(&rig, 1);
    small_buffers(rig.kept[0], &p);
    answer(rig.kept[0], "begin");
    for (int i = 0; i < COUNT; i++)
        buf_printf(&text, "POST / HTTP/1.1\r\n" H "Content-Length: %d\r\n\r\n%0*d", SIZE, SIZE, i);
    for (size_t sent = 0; sent < text.n;) {
        ssize_t n = send(p.fd, text.p + sent, text.n - sent, MSG_DONTWAIT);

        if (n > 0)
            sent += (size_t)n;
        if (rig.n_requests < COUNT / 2)
            peer_turn(&p);
        else
            rig_turns(&rig, 1); /* it stops reading, and is stopped */
        if (n < 0 && rig.n_requests >= COUNT / 2)
            peer_turn(&p);
    }
    for (int i = 0; i < RIG_TURNS && p.in.n < (size_t)COUNT * (SIZE + strlen(head)); i++)
        peer_turn(&p);
    at = buf_cstr(&p.in);
    for (int i = 0; i < COUNT; i++) {
        char want[16];

        snprintf(want, sizeof want, "%08d", i);
        at = strstr(at, "Content-Length: 20000");
        CHECK(at != NULL);
        at = strstr(at, "\r\n\r\n") + 4 + SIZE - 8;
        CHECK(!strncmp(at, want, 8));
    }
    peer_close(&p);
    rig_close(&rig);
}

TEST(small_pipelined_answers_wait_for_their_reader_too)
{
    enum { COUNT = 30000 };
    struct rig rig = { 0 };
    AUTO_BUF struct buf text = { 0 };
    struct peer p;
    size_t sent = 0;
    int still = 0;

    rig_open(&rig);
    peer_open(&p, &rig);
    peer_say(&p, "GET /later HTTP/1.1\r\n" H "\r\n");
    rig_until_kept(&rig, 1);
    small_buffers(rig.kept[0], &p);
    answer(rig.kept[0], "begin");
    for (int i = 0; i < COUNT; i++)
        buf_printf(&text, "POST / HTTP/1.1\r\n" H "Content-Length: 5\r\n\r\n%05d", i);
    while (sent < text.n && still < 20) {
        ssize_t n = send(p.fd, text.p + sent, text.n - sent, MSG_DONTWAIT);

        still = n > 0 ? 0 : still + 1;
        sent += n > 0 ? (size_t)n : 0;
        rig_turns(&rig, 5);
    }
    CHECK(rig.n_requests < COUNT); /* the answers nobody reads hold up the requests */
    while (sent < text.n) {
        ssize_t n = send(p.fd, text.p + sent, text.n - sent, MSG_DONTWAIT);

        sent += n > 0 ? (size_t)n : 0;
        peer_turn(&p);
    }
    peer_hear(&p, "29999");
    CHECK_INT(rig.n_requests, COUNT + 1);
    peer_close(&p);
    rig_close(&rig);
}

TEST(an_answer_of_any_number_of_parts_is_written_and_one_past_the_hard_limit_is_not)
{
    enum { COUNT = 400, MIB = 1048576 };
    struct rig rig = { 0 };
    AUTO_FREE char *mib = mem_zero(MIB);
    static struct span parts[COUNT];
    struct peer p;

    rig_open(&rig);
    peer_open(&p, &rig);
    peer_say(&p, "GET /stream HTTP/1.1\r\n" H "\r\n");
    rig_until_kept(&rig, 1);
    for (int i = 0; i < COUNT; i++)
        parts[i] = SPAN("abc");
    CHECK(http_write(rig.kept[0], parts, 30));
    CHECK(http_write(rig.kept[0], parts, COUNT));
    peer_hear(&p, "4b0\r\nabcabc");
    peer_hear(&p, "abc\r\n");
    for (int i = 0; i < COUNT; i++)
        parts[i] = span_make(mib, MIB);
    CHECK(!http_write(rig.kept[0], parts, COUNT));
    rig_turns(&rig, 1);
    CHECK_INT(rig.n_gone, 1);
    peer_close(&p);
    rig_close(&rig);
}

TEST(an_answer_to_a_client_that_was_reset_unnoticed_does_no_harm)
{
    struct rig rig = { 0 };

    rig_open(&rig);
    for (int stream = 0; stream < 2; stream++) {
        struct peer p;

        peer_open(&p, &rig);
        peer_say(&p,
                 stream ? "GET /stream HTTP/1.1\r\n" H "\r\n" : "GET /later HTTP/1.1\r\n" H "\r\n");
        rig_until_kept(&rig, stream + 1);
        setsockopt(p.fd, SOL_SOCKET, SO_LINGER, &(struct linger){ 1, 0 }, sizeof(struct linger));
        peer_close(&p);
        if (stream)
            http_end(rig.kept[1]);
        else
            answer(rig.kept[0], "too late");
        rig_until_connections(&rig, 0);
        CHECK_INT(rig.n_gone, 0);
    }
    rig_close(&rig);
}

TEST(a_stream_whose_producer_does_not_stop_is_cut_off_at_the_bound)
{
    struct rig rig = { 0 };
    enum { BOUND = (STREAM_QUEUE_HARD + STREAM_QUEUE_NOTES) / 1000000 };
    AUTO_FREE char *event = mem_zero(1000000);
    struct span part = { event, 1000000 };
    struct peer p;
    int written = 0;

    rig_open(&rig);
    peer_open(&p, &rig);
    peer_say(&p, "GET /stream HTTP/1.1\r\n" H "\r\n");
    rig_until_kept(&rig, 1);
    small_buffers(rig.kept[0], &p);
    while (http_write(rig.kept[0], &part, 1))
        CHECK(++written < BOUND + 50);
    CHECK(written >= BOUND);
    CHECK(!http_write(rig.kept[0], &part, 1)); /* may be asked again ... */
    CHECK_INT(rig.n_gone, 0);
    rig_turns(&rig, 1);
    CHECK_INT(rig.n_gone, 1); /* ... until this */
    CHECK_INT(http_server_connections(rig.server), 0);
    peer_close(&p);
    rig_close(&rig);
}

/* Of the small ones; the default action of SIGPIPE would end this process. */
TEST(writing_to_a_client_that_just_left_raises_no_signal)
{
    struct rig rig = { 0 };
    struct peer p;
    bool ok = true;

    rig_open(&rig);
    peer_open(&p, &rig);
    peer_say(&p, "GET /stream HTTP/1.1\r\n" H "\r\n");
    rig_until_kept(&rig, 1);
    peer_hear(&p, "\r\n\r\n");
    /* With bytes unread the close is a reset. */
    write_text(rig.kept[0], "unread");
    conn_flush(rig.kept[0]->conn);
    peer_close(&p);
    for (int i = 0; i < 5 && ok; i++) {
        ok = write_text(rig.kept[0], "x");
        if (ok)
            conn_flush(rig.kept[0]->conn);
    }
    CHECK(!ok);
    CHECK_INT(rig.n_gone, 0);
    rig_turns(&rig, 1);
    CHECK_INT(rig.n_gone, 1);
    rig_close(&rig);
}

/* ---- Streams ----------------------------------------------------------------------------- */

TEST(a_stream_is_chunked_for_11_and_ends_with_the_connection_for_10)
{
    static const struct {
        const char *request, *want;
    } cases[] = {
        { "GET /stream HTTP/1.1\r\n" H "\r\n",
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: text/event-stream\r\n\r\n"
          "3\r\none\r\n9\r\ntwo three\r\n0\r\n\r\n" },
        { "GET /stream HTTP/1.1\r\n" H "Connection: close\r\n\r\n",
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n"
          "Content-Type: text/event-stream\r\n\r\n3\r\none\r\n9\r\ntwo three\r\n0\r\n\r\n" },
        { "GET /stream HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
          "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/event-stream\r\n\r\n"
          "onetwo three" },
        { "HEAD /stream HTTP/1.1\r\n" H "Connection: close\r\n\r\n",
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n"
          "Content-Type: text/event-stream\r\n\r\n" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct rig rig = { 0 };
        struct span two[] = { SPAN_CONST("two"), SPAN_CONST(""), SPAN_CONST(" three") };
        struct peer p;

        rig_open(&rig);
        peer_open(&p, &rig);
        peer_say(&p, cases[i].request);
        rig_until_kept(&rig, 1);
        CHECK(write_text(rig.kept[0], "one"));
        CHECK(write_text(rig.kept[0], "")); /* would end the stream, if it were written */
        CHECK(http_write(rig.kept[0], two, 3));
        http_end(rig.kept[0]);
        if (i) {
            peer_end(&p);
        } else {
            for (int k = 0; k < 5; k++)
                peer_turn(&p);
            CHECK(!p.eof);
        }
        CHECK_STR(buf_cstr(&p.in), cases[i].want);
        peer_close(&p);
        rig_close(&rig);
    }
}

TEST(what_a_stream_writes_in_one_turn_is_sent_at_its_end)
{
    struct rig rig = { 0 };
    AUTO_FREE char *big = mem_zero(HTTP_CORK_BYTES);
    struct span part = { big, HTTP_CORK_BYTES };
    struct peer p;

    rig_open(&rig);
    peer_open(&p, &rig);
    peer_say(&p, "GET /stream HTTP/1.1\r\n" H "\r\n");
    rig_until_kept(&rig, 1);
    peer_hear(&p, "\r\n\r\n");
    peer_forget(&p);
    write_text(rig.kept[0], "a");
    write_text(rig.kept[0], "b");
    CHECK(recv(p.fd, big, 10, MSG_DONTWAIT) < 0);
    peer_turn(&p);
    CHECK_STR(buf_cstr(&p.in), "1\r\na\r\n1\r\nb\r\n");
    peer_forget(&p);
    write_text(rig.kept[0], "c");
    http_write(rig.kept[0], &part, 1); /* a large one takes the small one with it, at once */
    CHECK(recv(p.fd, buf_reserve(&p.in, 65536), 65536, MSG_DONTWAIT) > HTTP_CORK_BYTES);
    CHECK(!memcmp(p.in.p, "1\r\nc\r\n4000\r\n", 12));
    peer_close(&p);
    rig_close(&rig);
}

/* ---- Many, and the end ------------------------------------------------------------------- */

TEST(an_idle_connection_is_small_and_so_is_one_with_an_open_stream)
{
    struct rig rig = { 0 };
    struct peer p, q;
    const struct http_request *r;
    const struct http_conn *c;
    size_t size;
    int yes;
    socklen_t len = sizeof yes;

    rig_open(&rig);
    peer_open(&p, &rig);
    peer_open(&q, &rig);
    peer_say(&p, "POST / HTTP/1.1\r\n" H "Content-Length: 1\r\n\r\nx");
    peer_hear(&p, "\r\n\r\nx");
    peer_say(&q, "GET /stream HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nAccept: text/event-stream\r\n"
                 "MCP-Protocol-Version: 2025-11-25\r\nUser-Agent: something/1.0 (linux)\r\n"
                 "Mcp-Session-Id: 0123456789abcdef0123456789abcdef\r\nAccept-Language: *\r\n"
                 "Authorization: Bearer 0123456789abcdef0123456789abcdef\r\n"
                 "Sec-Fetch-Mode: cors\r\nAccept-Encoding: gzip, deflate\r\n\r\n");
    rig_until_kept(&rig, 1);
    peer_hear(&q, "\r\n\r\n");
    write_text(rig.kept[0], "data: x\n\n");
    peer_hear(&q, "data: x");
    r = rig.kept[0];
    c = r->conn;
    size = malloc_usable_size((void *)(uintptr_t)c) + malloc_usable_size((void *)(uintptr_t)r) +
           malloc_usable_size(r->in.head.p) + malloc_usable_size(r->in.fields) +
           malloc_usable_size(r->in.body.p) + malloc_usable_size(c->out.p) +
           malloc_usable_size(c->held.p);
    CHECK(size <= 2048);
    CHECK_INT(getsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &yes, &len), 0);
    CHECK(yes);
    CHECK_INT(getsockopt(c->fd, SOL_SOCKET, SO_KEEPALIVE, &yes, &len), 0);
    CHECK(yes);
    CHECK_INT(getsockopt(c->fd, IPPROTO_TCP, TCP_KEEPIDLE, &yes, &len), 0);
    CHECK_INT(yes, HTTP_PROBE_S);
    c = CONTAINER_OF(rig.server->waits[HTTP_WAIT_IDLE].next, struct http_conn, link);
    CHECK(!c->req && !c->held.p && !c->out.p);
    CHECK(malloc_usable_size((void *)(uintptr_t)c) <= 512);
    peer_close(&p);
    peer_close(&q);
    rig_close(&rig);
}

/* Each may leave a large answer unread; all of them together may not. The one that has taken
 * nothing for the longest pays. */
TEST(what_nobody_reads_has_a_bound_in_sum)
{
    enum { LARGE = REQUEST_BYTES_MAX, SUM = 12 << 20 };
    struct rig rig = { .opts = { .max_unread = SUM } };
    AUTO_BUF struct buf request = { 0 };
    struct peer p[3];

    buf_printf(&request, "POST / HTTP/1.1\r\n" H "Content-Length: %d\r\n\r\n", LARGE);
    memset(buf_reserve(&request, LARGE), 'x', LARGE);
    request.n += LARGE;
    rig_open(&rig);
    for (int i = 0; i < 3; i++) {
        peer_open(&p[i], &rig);
        setsockopt(p[i].fd, SOL_SOCKET, SO_RCVBUF, &(int){ 65536 }, sizeof(int));
        peer_send(&p[i], buf_span(&request));
        for (int turn = 0; turn < RIG_TURNS && rig.n_requests <= i; turn++)
            loop_turn(rig.loop, false);
        loop_advance(rig.loop, 1000);
        CHECK(rig.server->unread <= SUM);
    }
    CHECK_INT(http_server_connections(rig.server), 1);
    while (p[2].in.n < LARGE && !p[2].eof)
        peer_turn(&p[2]);
    CHECK(p[2].in.n > LARGE);
    CHECK_INT(rig.server->unread, 0);
    for (int i = 0; i < 3; i++)
        peer_close(&p[i]);
    rig_until_connections(&rig, 0);
    rig_close(&rig);
}

TEST(an_honest_client_is_served_among_many_that_drip)
{
    enum { COUNT = 500 };
    static struct peer slow[COUNT];
    struct rig rig = { 0 };
    struct peer p;
    int cut = 0;

    rig_open(&rig);
    for (int i = 0; i < COUNT; i++) {
        peer_open(&slow[i], &rig);
        peer_say(&slow[i], "GET / HTTP/1.1\r\nX: ");
        rig_turns(&rig, 1);
    }
    peer_open(&p, &rig);
    for (int second = 0; second < 12; second++) {
        for (int i = 0; i < COUNT; i++)
            if (!slow[i].eof)
                peer_say(&slow[i], "x");
        peer_forget(&p);
        peer_say(&p, "POST / HTTP/1.1\r\n" H "Content-Length: 2\r\n\r\nok");
        peer_hear(&p, "ok");
        loop_advance(rig.loop, 1000);
    }
    for (int i = 0; i < COUNT; i++) {
        peer_end(&slow[i]);
        cut += peer_status(&slow[i]) == 408;
        peer_close(&slow[i]);
    }
    CHECK_INT(cut, COUNT);
    peer_close(&p);
    rig_close(&rig);
}

TEST(the_server_survives_running_out_of_descriptors)
{
    struct rig rig = { 0 };
    struct rlimit was, few;
    struct peer p, q;
    int fds[64], n = 0;

    TAP_SKIP_UNDER_VALGRIND("keeps descriptors for itself");
    rig_open(&rig);
    peer_open(&p, &rig);
    peer_say(&p, "GET / HTTP/1.1\r\n" H "\r\n");
    peer_hear(&p, "HTTP/1.1 200 OK");
    peer_open(&q, &rig);
    peer_say(&q, "GET / HTTP/1.1\r\n" H "\r\n");
    getrlimit(RLIMIT_NOFILE, &was);
    few = was;
    few.rlim_cur = 40;
    setrlimit(RLIMIT_NOFILE, &few);
    while (n < 64 && (fds[n] = dup(0)) >= 0)
        n++;
    rig_turns(&rig, 10);
    CHECK_INT(http_server_connections(rig.server), 1);
    peer_forget(&p);
    peer_say(&p, "GET / HTTP/1.1\r\n" H "\r\n");
    peer_hear(&p, "HTTP/1.1 200 OK"); /* others go on meanwhile */
    while (n)
        close(fds[--n]);
    rig_turns(&rig, 10);
    CHECK_INT(http_server_connections(rig.server), 1);
    loop_advance(rig.loop, HTTP_ACCEPT_RETRY_MS);
    peer_hear(&q, "HTTP/1.1 200 OK");
    setrlimit(RLIMIT_NOFILE, &was);
    peer_close(&p);
    peer_close(&q);
    rig_close(&rig);
}

TEST(draining_lets_answers_finish_and_takes_nothing_new)
{
    struct rig rig = { 0 };
    struct peer idle, later, reading;

    rig_open(&rig);
    peer_open(&idle, &rig);
    peer_open(&later, &rig);
    peer_open(&reading, &rig);
    peer_say(&idle, "GET / HTTP/1.1\r\n" H "\r\n");
    peer_hear(&idle, "HTTP/1.1 200 OK");
    peer_say(&later, "GET /later HTTP/1.1\r\n" H "\r\n");
    rig_until_kept(&rig, 1);
    peer_say(&reading, "POST / HTTP/1.1\r\n" H "Content-Length: 2\r\n\r\nh");
    rig_turns(&rig, 3);
    http_server_drain(rig.server);
    peer_end(&idle);
    CHECK(!loopback_listens(http_server_port(rig.server)));
    answer(rig.kept[0], "done");
    peer_hear(&later, "Connection: close\r\n\r\ndone");
    peer_end(&later);
    peer_say(&reading, "i");
    peer_hear(&reading, "hi");
    peer_end(&reading);
    CHECK(peer_has(&reading, "Connection: close\r\n"));
    peer_close(&idle);
    peer_close(&later);
    peer_close(&reading);
    rig_until_connections(&rig, 0);
    rig_close(&rig);
}

TEST(draining_closes_after_an_answer_that_is_being_read)
{
    enum { SIZE = 5000000 };
    struct rig rig = { 0 };
    AUTO_FREE char *big = mem_zero(SIZE);
    struct span part = { big, SIZE };
    struct peer p;

    rig_open(&rig);
    peer_open(&p, &rig);
    peer_say(&p, "GET /later HTTP/1.1\r\n" H "\r\n");
    rig_until_kept(&rig, 1);
    small_buffers(rig.kept[0], &p);
    http_reply(rig.kept[0], 200, NULL, &part, 1);
    http_server_drain(rig.server);
    peer_end(&p);
    CHECK(p.in.n > SIZE);
    peer_close(&p);
    rig_close(&rig);
}

TEST(closing_tells_every_waiting_handler_and_then_is_done)
{
    struct rig rig = { 0 };
    struct peer p[3];

    rig_open(&rig);
    for (int i = 0; i < 3; i++) {
        peer_open(&p[i], &rig);
        peer_say(&p[i],
                 i == 1 ? "GET /stream HTTP/1.1\r\n" H "\r\n" : "GET /later HTTP/1.1\r\n" H "\r\n");
        rig_until_kept(&rig, i + 1);
    }
    http_server_close(rig.server, rig_closed, &rig);
    CHECK_INT(rig.n_gone, 3);
    CHECK_INT(rig.closed, 0);
    rig_turns(&rig, 3);
    CHECK_INT(rig.closed, 1);
    for (int i = 0; i < 3; i++)
        peer_close(&p[i]);
    loop_free(rig.loop);
    buf_done(&rig.log);
}

static void close_in_handler(void *ctx, struct http_request *r)
{
    struct rig *rig = ctx;

    rig->n_requests++;
    if (span_is(http_path(r), "/first"))
        http_reply(r, 200, NULL, NULL, 0);
    else
        http_on_gone(r, rig_gone, rig);
    http_server_close(rig->server, rig_closed, rig);
}

TEST(a_handler_may_close_the_server)
{
    static const char *const paths[] = { "/first", "/never" };

    for (int i = 0; i < 2; i++) {
        struct rig rig = { .opts = { .handler = close_in_handler } };
        AUTO_BUF struct buf text = { 0 };
        struct peer p;

        rig.opts.ctx = &rig;
        rig_open(&rig);
        peer_open(&p, &rig);
        for (int k = 0; k < 3; k++)
            buf_printf(&text, "GET %s HTTP/1.1\r\n" H "\r\n", paths[i]);
        peer_send(&p, buf_span(&text));
        peer_end(&p);
        rig_turns(&rig, 5);
        CHECK_INT(rig.n_requests, 1);
        CHECK_INT(rig.n_gone, i);
        CHECK_INT(rig.closed, 1);
        peer_close(&p);
        loop_free(rig.loop);
    }
}
