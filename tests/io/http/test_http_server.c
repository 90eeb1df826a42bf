#include "http_rig.h"
#include "io/http/http.h"
#include "temp_dir.h"
#include <sys/stat.h>
#include <sys/un.h>

TEST(a_post_is_answered_and_the_connection_stays)
{
    struct rig rig = { 0 };
    struct peer p;

    rig_open(&rig);
    peer_open(&p, &rig);
    for (int i = 0; i < 3; i++) {
        peer_forget(&p);
        peer_say(&p, "POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello");
        peer_hear(&p, "hello");
        CHECK_STR(buf_cstr(&p.in), "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n"
                                   "Content-Type: text/plain\r\n\r\nhello");
    }
    CHECK_INT(http_server_connections(rig.server), 1);
    peer_close(&p);
    rig_close(&rig);
}

static void check_parts(void *ctx, struct http_request *r)
{
    const struct http_field *fields;
    size_t count;
    struct blob *body;

    (void)ctx;
    CHECK_SPAN(http_method(r), "POST");
    CHECK_SPAN(http_target(r), "/a%20b/c?x=1&y=%41+b");
    CHECK_SPAN(http_path(r), "/a%20b/c");
    CHECK_SPAN(http_query(r), "x=1&y=%41+b");
    CHECK_SPAN(http_header(r, "hOST", &count), "h:1");
    CHECK_INT(count, 1);
    CHECK_SPAN(http_header(r, "Accept", &count), "a, b");
    CHECK_INT(count, 2);
    CHECK_SPAN(http_header(r, "Empty", NULL), "");
    CHECK(http_header(r, "Empty", NULL).p != NULL);
    CHECK(http_header(r, "Absent", &count).p == NULL);
    CHECK_INT(count, 0);
    CHECK_INT(http_fields(r, &fields), 6);
    CHECK_SPAN(fields[1].name, "Accept");
    CHECK_SPAN(fields[1].value, "a, b");
    CHECK_SPAN(fields[4].name, "Empty");
    CHECK_SPAN(fields[4].value, "");
    CHECK_SPAN(http_body(r), "{\"a\":1}");
    body = http_take_body(r);
    CHECK_SPAN(blob_span(body), "{\"a\":1}");
    CHECK_INT(http_body(r).n, 0);
    blob_unref(body);
    http_reply(r, 202, NULL, NULL, 0);
}

TEST(a_request_is_the_same_wherever_its_bytes_are_cut)
{
    static const char text[] =
        "\r\nPOST /a%20b/c?x=1&y=%41+b HTTP/1.1\r\nHost: h:1\r\nAccept:  a, b \t\r\nAccept: c\r\n"
        "Content-Type: application/json\r\nEmpty:\r\n";
    static const char *const bodies[] = {
        "Content-Length: 7\r\n\r\n{\"a\":1}",
        "Transfer-Encoding: chunked\r\n\r\n3;x=y\r\n{\"a\r\n04\r\n\":1}\r\n0\r\nT: v\r\n\r\n",
    };
    struct rig rig = { .opts = { .handler = check_parts } };
    AUTO_BUF struct buf all = { 0 };

    rig_open(&rig);
    for (size_t b = 0; b < ARRAY_LEN(bodies); b++) {
        size_t n;

        all.n = 0;
        buf_str(&all, text);
        buf_str(&all, bodies[b]);
        n = all.n;
        for (size_t cut = 0; cut <= n; cut++) {
            struct peer p;

            peer_open(&p, &rig);
            if (cut == n) { /* byte by byte */
                for (size_t i = 0; i < n; i++) {
                    peer_send(&p, span_make(all.p + i, 1));
                    rig_turns(&rig, 2);
                }
            } else {
                peer_send(&p, span_make(all.p, cut));
                rig_turns(&rig, 3);
                peer_send(&p, span_make(all.p + cut, n - cut));
            }
            peer_hear(&p, "\r\n\r\n");
            CHECK_STR(buf_cstr(&p.in), "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n");
            peer_close(&p);
        }
    }
    rig_close(&rig);
}

static int status_for(struct rig *rig, struct span text, bool *closed)
{
    struct peer p;
    int status;

    peer_open(&p, rig);
    peer_send(&p, text);
    for (int i = 0; i < 10 && !p.eof; i++)
        peer_turn(&p);
    *closed = p.eof;
    status = peer_status(&p);
    if (status >= 400) {
        /* One sentence for a person, in plain text, and whole. */
        CHECK(peer_has(&p, "Content-Type: text/plain; charset=utf-8\r\nConnection: close\r\n"));
        CHECK(peer_has(&p, ".\n"));
    }
    peer_close(&p);
    return status;
}

static const struct {
    int status;
    struct span text;
} malformed[] = {
    /* clang-format off */
    /* Host */
    { 400, SPAN_CONST("GET / HTTP/1.1\r\n\r\n") },
    { 400, SPAN_CONST("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n") },
    { 400, SPAN_CONST("GET / HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n") },
    /* how long the body is */
    { 400, SPAN_CONST("POST / HTTP/1.1\r\n" H "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n") },
    { 400, SPAN_CONST("POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n") },
    { 400, SPAN_CONST("POST / HTTP/1.1\r\n" H "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello") },
    { 400, SPAN_CONST("POST / HTTP/1.1\r\n" H "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello") },
    { 400, SPAN_CONST("POST / HTTP/1.1\r\n" H "Content-Length: 5,5\r\n\r\nhello") },
    { 400, SPAN_CONST("POST / HTTP/1.1\r\n" H "Content-Length: +5\r\n\r\nhello") },
    { 400, SPAN_CONST("POST / HTTP/1.1\r\n" H "Content-Length: -1\r\n\r\nhello") },
    { 400, SPAN_CONST("POST / HTTP/1.1\r\n" H "Content-Length: 0x5\r\n\r\nhello") },
    { 400, SPAN_CONST("POST / HTTP/1.1\r\n" H "Content-Length:\r\n\r\nhello") },
    { 400, SPAN_CONST("POST / HTTP/1.1\r\n" H "Content-Length: 5 5\r\n\r\nhello") },
    { 400, SPAN_CONST("POST / HTTP/1.1\r\n" H "Content-Length: 99999999999999999999999999\r\n\r\nhello") },
    { 413, SPAN_CONST("POST / HTTP/1.1\r\n" H "Content-Length: 9223372036854775808\r\n\r\nhello") },
    { 413, SPAN_CONST("POST / HTTP/1.1\r\n" H "Content-Length: 18446744073709551615\r\n\r\nhello") },
    /* transfer codings */
    { 400, SPAN_CONST("POST / HTTP/1.1\r\n" H "Transfer-Encoding: gzip\r\n\r\n") },
    { 400, SPAN_CONST("POST / HTTP/1.1\r\n" H "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n") },
    { 400, SPAN_CONST("POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n") },
    { 400, SPAN_CONST("POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n") },
    { 400, SPAN_CONST("POST / HTTP/1.1\r\n" H "Transfer-Encoding: identity\r\n\r\n") },
    { 400, SPAN_CONST("POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked;q=1\r\n\r\n0\r\n\r\n") },
    { 400, SPAN_CONST("POST / HTTP/1.1\r\n" H "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n") },
    { 400, SPAN_CONST("POST / HTTP/1.1\r\n" H "Transfer-Encoding:\r\n\r\n0\r\n\r\n") },
    { 400, SPAN_CONST("POST / HTTP/1.0\r\n" H "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n") },
    { 400, SPAN_CONST("POST / HTTP/1.1\r\n" H "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n") },
    { 400, SPAN_CONST("POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\n\r\n5\nhello\n0\n\n") },
    { 400, SPAN_CONST("POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\n\r\n5\r\nhelloXX0\r\n\r\n") },
    { 400, SPAN_CONST("POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\n\r\nx\r\n") },
    { 400, SPAN_CONST("POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\n\r\n-1\r\n") },
    { 400, SPAN_CONST("POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\n\r\n0x5\r\nhello\r\n0\r\n\r\n") },
    { 400, SPAN_CONST("POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\n\r\n5 \r\nhello\r\n0\r\n\r\n") },
    { 400, SPAN_CONST("POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\n\r\n5;a\nhello\r\n0\r\n\r\n") },
    { 400, SPAN_CONST("POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\n\r\n0\r\nT: a\nb: c\r\n\r\n") },
    { 400, SPAN_CONST("POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\n") },
    /* lines */
    { 400, SPAN_CONST("GET / HTTP/1.1\nHost: a\n\n") },
    { 400, SPAN_CONST("GET / HTTP/1.1\r\nHost: a\n\r\n") },
    { 400, SPAN_CONST("GET / HTTP/1.1\r\nHost: a\r\n\n") },
    { 400, SPAN_CONST("GET / HTTP/1.1\r\nHost: a\r\nX: 1\nY: 2\r\n\r\n") },
    { 400, SPAN_CONST("GET / HTTP/1.1\r\nHost: a\r\nX: 1\r\n folded\r\n\r\n") },
    { 400, SPAN_CONST("GET / HTTP/1.1\r\nHost: a\r\nX: 1\r\n\tfolded\r\n\r\n") },
    { 400, SPAN_CONST("GET / HTTP/1.1\r\n Host: a\r\n\r\n") },
    { 400, SPAN_CONST("GET / HTTP/1.1\r\nHost: a\rX: 1\r\n\r\n") },
    { 400, SPAN_CONST("GET / HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n") },
    { 400, SPAN_CONST("GET / HTTP/1.1\r\nHost: a\r\nX\0: b\r\n\r\n") },
    { 400, SPAN_CONST("GET / HTTP/1.1\r\nHost: a\r\nX: \x01\r\n\r\n") },
    { 400, SPAN_CONST("GET / HTTP/1.1\r\nHost: a\r\nX: \x7f\r\n\r\n") },
    { 400, SPAN_CONST("GET / HTTP/1.1\r\nHost: a\r\n: x\r\n\r\n") },
    { 400, SPAN_CONST("GET / HTTP/1.1\r\nHost: a\r\nX y: x\r\n\r\n") },
    { 400, SPAN_CONST("GET / HTTP/1.1\r\nHost: a\r\nX : x\r\n\r\n") },
    { 400, SPAN_CONST("GET / HTTP/1.1\r\nHost: a\r\nnocolon\r\n\r\n") },
    { 400, SPAN_CONST("GET / HTTP/1.1\r\nHost: a\r\n\"q\": x\r\n\r\n") },
    /* what there can be only one of */
    { 400, SPAN_CONST("GET / HTTP/1.1\r\n" H "Origin: http://a\r\nOrigin: http://a\r\n\r\n") },
    { 400, SPAN_CONST("GET / HTTP/1.1\r\n" H "Authorization: a\r\nX: y\r\nauthorization: b\r\n\r\n") },
    { 400, SPAN_CONST("GET / HTTP/1.1\r\n" H "Last-Event-ID: 1\r\nLast-Event-ID:\r\n\r\n") },
    { 400, SPAN_CONST("POST / HTTP/1.1\r\n" H "Content-Length: 1\r\nContent-Type: a/b\r\nCONTENT-TYPE: a/c\r\n\r\nx") },
    { 400, SPAN_CONST("\r\n\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n") },
    /* the request line */
    { 400, SPAN_CONST("GET  / HTTP/1.1\r\nHost: a\r\n\r\n") },
    { 400, SPAN_CONST("GET /  HTTP/1.1\r\nHost: a\r\n\r\n") },
    { 400, SPAN_CONST("GET / x HTTP/1.1\r\nHost: a\r\n\r\n") },
    { 400, SPAN_CONST("GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n") },
    { 400, SPAN_CONST("GET /\x80 HTTP/1.1\r\nHost: a\r\n\r\n") },
    { 400, SPAN_CONST("GET /a\0b HTTP/1.1\r\nHost: a\r\n\r\n") },
    { 400, SPAN_CONST("GET x HTTP/1.1\r\nHost: a\r\n\r\n") },
    { 400, SPAN_CONST("get / HTTP/1.1\r\nHost: a\r\n\r\n") },
    { 400, SPAN_CONST("BREW / HTTP/1.1\r\nHost: a\r\n\r\n") },
    /* protocols */
    { 505, SPAN_CONST("GET / HTTP/2.0\r\nHost: a\r\n\r\n") },
    { 505, SPAN_CONST("GET / HTTP/0.9\r\nHost: a\r\n\r\n") },
    { 505, SPAN_CONST("GET / HTTP/1.2\r\nHost: a\r\n\r\n") },
    { 505, SPAN_CONST("GET /\r\n\r\n") },
    { 505, SPAN_CONST("GET / RTSP/1.0\r\nHost: a\r\n\r\n") },
    { 505, SPAN_CONST("SOURCE / ICE/1.0\r\nHost: a\r\n\r\n") },
    { 400, SPAN_CONST("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") },
    { 400, SPAN_CONST("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03") },
    { 400, SPAN_CONST("SSH-2.0-OpenSSH_9.2p1\r\n") },
    { 400, SPAN_CONST("\xff\xfe\xfd\xfc\x00\x01\x02\x03") },
    { 400, SPAN_CONST("{\"jsonrpc\":\"2.0\"}\n") },
    /* upgrades and expectations */
    { 400, SPAN_CONST("CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n") },
    { 400, SPAN_CONST("GET / HTTP/1.1\r\n" H "Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n") },
    { 400, SPAN_CONST("GET / HTTP/1.1\r\n" H "Connection: Upgrade\r\nUpgrade: h2c, websocket\r\n\r\n") },
    { 417, SPAN_CONST("POST / HTTP/1.1\r\n" H "Expect: 200-ok\r\nContent-Length: 1\r\n\r\nx") },
    { 417, SPAN_CONST("POST / HTTP/1.1\r\n" H "Expect: 100-continue\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\nx") },
    /* clang-format on */
};

TEST(malformed_and_smuggling_requests_are_refused_and_the_connection_closed)
{
    struct rig rig = { 0 };

    rig_open(&rig);
    for (size_t i = 0; i < ARRAY_LEN(malformed); i++) {
        bool closed;
        int status = status_for(&rig, malformed[i].text, &closed);

        if (status != malformed[i].status || !closed)
            TAP_FAIL("case %zu: status %d%s for %.80s", i, status, closed ? "" : ", not closed",
                     malformed[i].text.p);
    }
    CHECK_INT(rig.n_requests, 0);
    rig_close(&rig);
}

TEST(unusual_but_legal_requests_are_served)
{
    static const char *const cases[] = {
        "GET / HTTP/1.0\r\n\r\n",
        "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
        "GET http://a/b?c HTTP/1.1\r\n" H "\r\n",
        "OPTIONS * HTTP/1.1\r\n" H "\r\n",
        "TRACE / HTTP/1.1\r\n" H "\r\n",
        "GET //mcp HTTP/1.1\r\n" H "\r\n",
        "GET /mcp/..;/api/%2e%2e/%00 HTTP/1.1\r\n" H "\r\n",
        "GET / HTTP/1.1\r\nHost:\r\n\r\n",
        "GET / HTTP/1.1\r\n" H "X: \xc3\xa4\t1\r\n\r\n",
        "GET / HTTP/1.1\r\n" H "X:\r\nY:    \r\n\r\n",
        "POST / HTTP/1.1\r\n" H "Content-Length: 0\r\n\r\n",
        "POST / HTTP/1.1\r\n" H "Content-Length: 00005\r\n\r\nhello",
        "POST / HTTP/1.1\r\n" H "Transfer-Encoding: Chunked\r\n\r\n0\r\n\r\n",
        "GET / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
        "GET / HTTP/1.1\r\n" H "Upgrade: websocket\r\n\r\n",
        "GET / HTTP/1.1\r\n" H "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
        "HTTP2-Settings: AAMAAABk\r\n\r\n",
        "POST / HTTP/1.1\r\n" H "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
        "HTTP2-Settings: AAMAAABk\r\nContent-Length: 5\r\n\r\nhello",
        "POST / HTTP/1.1\r\n" H "Connection: Upgrade\r\nUpgrade: h2c\r\n"
        "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\n" H "Expect: 100-Continue\r\nContent-Length: 1\r\n\r\nx",
        "POST / HTTP/1.0\r\n" H "Expect: 200-ok\r\nContent-Length: 1\r\n\r\nx",
    };
    struct rig rig = { 0 };

    rig_open(&rig);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        bool closed;
        int status = status_for(&rig, span_of(cases[i]), &closed);

        if (status != 200 || closed != (i == 0 || i == 19))
            TAP_FAIL("case %zu: status %d%s for %s", i, status, closed ? ", closed" : "", cases[i]);
    }
    CHECK_INT(rig.n_requests, ARRAY_LEN(cases));
    rig_close(&rig);
}

/* A head of exactly n bytes. */
static void make_head(struct buf *out, size_t n)
{
    out->n = 0;
    buf_str(out, "GET / HTTP/1.1\r\n" H "X: ");
    while (out->n < n - 4)
        buf_byte(out, 'x');
    buf_str(out, "\r\n\r\n");
}

TEST(heads_have_a_bound)
{
    static const struct {
        size_t size;
        int status;
    } sizes[] = {
        { HTTP_HEAD_BYTES_MAX - 1, 200 },
        { HTTP_HEAD_BYTES_MAX, 200 },
        { HTTP_HEAD_BYTES_MAX + 1, 431 },
        { HTTP_HEAD_BYTES_MAX * 4, 431 },
        { 1048576, 431 },
    };
    AUTO_BUF struct buf text = { 0 };
    struct rig rig = { 0 };
    bool closed;

    rig_open(&rig);
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        make_head(&text, sizes[i].size);
        CHECK_INT(status_for(&rig, buf_span(&text), &closed), sizes[i].status);
        CHECK_INT(closed, sizes[i].status != 200);
    }
    text.n = 0;
    buf_str(&text, "GET /");
    while (text.n < 65536)
        buf_byte(&text, 'x');
    CHECK_INT(status_for(&rig, buf_span(&text), &closed), 414);
    for (int n = HTTP_FIELDS_MAX - 2; n <= 1000; n += n < HTTP_FIELDS_MAX + 1 ? 1 : 899) {
        text.n = 0;
        buf_str(&text, "GET / HTTP/1.1\r\n" H);
        for (int i = 1; i < n; i++)
            buf_str(&text, "X: y\r\n");
        buf_str(&text, "\r\n");
        CHECK_INT(status_for(&rig, buf_span(&text), &closed), n > HTTP_FIELDS_MAX ? 431 : 200);
    }
    rig_close(&rig);
}

TEST(bodies_have_a_bound_that_counts_what_comes_not_what_is_said)
{
    enum { MAX = 20000 };
    struct rig rig = { .opts = { .max_body = MAX } };
    AUTO_BUF struct buf text = { 0 };
    bool closed;

    rig_open(&rig);
    for (int n = MAX - 1; n <= MAX + 1; n++) {
        text.n = 0;
        buf_printf(&text, "POST / HTTP/1.1\r\n" H "Content-Length: %d\r\n\r\n", n);
        for (int i = 0; i < n; i++)
            buf_byte(&text, 'x');
        CHECK_INT(status_for(&rig, buf_span(&text), &closed), n > MAX ? 413 : 200);
        text.n = 0;
        buf_str(&text, "POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\n\r\n");
        for (int left = n; left; left -= left < 777 ? left : 777) {
            int size = left < 777 ? left : 777;

            buf_printf(&text, "%x\r\n%*s\r\n", size, size, "");
        }
        buf_str(&text, "0\r\n\r\n");
        CHECK_INT(status_for(&rig, buf_span(&text), &closed), n > MAX ? 413 : 200);
    }
    /* 413 comes before the body is sent. */
    CHECK_INT(
        status_for(&rig, SPAN("POST / HTTP/1.1\r\n" H "Content-Length: 20001\r\n\r\n"), &closed),
        413);
    CHECK_INT(status_for(&rig,
                         SPAN("POST / HTTP/1.1\r\n" H "Expect: 100-continue\r\n"
                              "Content-Length: 20001\r\n\r\n"),
                         &closed),
              413);
    rig_close(&rig);
}

TEST(what_surrounds_chunks_has_a_bound)
{
    static const struct {
        const char *begin, *again;
        int status;
    } cases[] = {
        { "5;", "aaaaaaaaaaaaaaaa", 431 },
        { "0\r\nT: ", "aaaaaaaaaaaaaaaa", 431 },
        { "0\r\n", "T: aaaaaaaaaaaaa\r\n", 431 },
        { "", "1;xxxxxxxxxxxxxx=y\r\nz\r\n", 431 },
    };
    struct rig rig = { 0 };
    AUTO_BUF struct buf text = { 0 };
    bool closed;

    rig_open(&rig);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        text.n = 0;
        buf_str(&text, "POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\n\r\n");
        buf_str(&text, cases[i].begin);
        for (int n = 0; n < HTTP_HEAD_BYTES_MAX / 8; n++)
            buf_str(&text, cases[i].again);
        CHECK_INT(status_for(&rig, buf_span(&text), &closed), cases[i].status);
    }
    rig_close(&rig);
}

TEST(a_large_body_arrives_whole)
{
    enum { SIZE = REQUEST_BYTES_MAX };
    struct rig rig = { 0 };
    struct peer p;
    AUTO_BUF struct buf body = { 0 };

    rig_open(&rig);
    peer_open(&p, &rig);
    for (size_t i = 0; i < SIZE; i++)
        buf_byte(&body, (char)('a' + i % 26));
    for (int round = 0; round < 2; round++) {
        AUTO_BUF struct buf head = { 0 };

        peer_forget(&p);
        buf_printf(&head, "POST / HTTP/1.1\r\n" H "Content-Length: %d\r\n\r\n", SIZE);
        peer_send(&p, buf_span(&head));
        peer_send(&p, buf_span(&body));
        peer_hear(&p, "\r\n\r\n");
        while (p.in.n < SIZE)
            peer_turn(&p);
        CHECK(!memcmp(p.in.p + p.in.n - SIZE, body.p, SIZE));
    }
    peer_close(&p);
    rig_close(&rig);
}

TEST(a_thousand_pipelined_requests_are_answered_in_order)
{
    enum { COUNT = 1000 };
    struct rig rig = { 0 };
    AUTO_BUF struct buf text = { 0 }, want = { 0 };
    struct peer p;

    rig_open(&rig);
    peer_open(&p, &rig);
    for (int i = 0; i < COUNT; i++) {
        if (i % 2)
            buf_printf(&text, "POST /%d HTTP/1.1\r\n" H "Content-Length: 4\r\n\r\n%04d", i, i);
        else
            buf_printf(&text,
                       "POST /%d HTTP/1.1\r\n" H
                       "Transfer-Encoding: chunked\r\n\r\n4\r\n%04d\r\n0\r\n\r\n",
                       i, i);
        buf_printf(&want,
                   "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Type: text/plain\r\n"
                   "\r\n%04d",
                   i);
    }
    peer_send(&p, buf_span(&text));
    peer_hear(&p, "0999");
    CHECK_STR(buf_cstr(&p.in), buf_cstr(&want));
    CHECK_INT(rig.n_requests, COUNT);
    peer_close(&p);
    rig_close(&rig);
}

TEST(a_request_behind_a_waiting_one_waits_too)
{
    struct rig rig = { 0 };
    struct peer p;

    rig_open(&rig);
    peer_open(&p, &rig);
    peer_say(&p, "GET /later?1 HTTP/1.1\r\n" H "\r\nGET /later?2 HTTP/1.1\r\n" H "\r\n");
    peer_say(&p, "POST /3 HTTP/1.1\r\n" H "Content-Length: 5\r\n\r\nthree");
    rig_until_kept(&rig, 1);
    rig_turns(&rig, 10);
    CHECK_INT(rig.n_requests, 1);
    http_reply(rig.kept[0], 200, NULL, &SPAN("one"), 1);
    CHECK_INT(rig.n_requests, 1); /* never from inside http_reply() */
    rig_until_kept(&rig, 2);
    CHECK_INT(rig.n_requests, 2);
    http_reply(rig.kept[1], 200, NULL, &SPAN("two"), 1);
    peer_hear(&p, "three");
    CHECK(strstr(buf_cstr(&p.in), "one") < strstr(buf_cstr(&p.in), "two"));
    CHECK_INT(rig.n_gone, 0);
    peer_close(&p);
    rig_close(&rig);
}

TEST(nothing_after_connection_close_is_a_request)
{
    static const char *const cases[] = {
        "GET /1 HTTP/1.1\r\n" H "Connection: close\r\n\r\nGET /2 HTTP/1.1\r\n" H "\r\n",
        "GET /1 HTTP/1.0\r\n\r\nGET /2 HTTP/1.1\r\n" H "\r\n",
        "GET /later HTTP/1.1\r\n" H "Connection: close\r\n\r\nGET /2 HTTP/1.1\r\n" H "\r\n",
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct rig rig = { 0 };
        struct peer p;

        rig_open(&rig);
        peer_open(&p, &rig);
        peer_say(&p, cases[i]);
        if (i == 2) {
            rig_until_kept(&rig, 1);
            peer_say(&p, "GET /3 HTTP/1.1\r\n" H "\r\n");
            rig_turns(&rig, 5);
            http_reply(rig.kept[0], 200, NULL, NULL, 0);
        }
        peer_end(&p);
        CHECK_INT(rig.n_requests, 1);
        CHECK_INT(peer_status(&p), 200);
        CHECK(peer_has(&p, "Connection: close\r\n"));
        peer_close(&p);
        rig_close(&rig);
    }
}

TEST(an_expectation_is_met_once_and_only_when_the_body_is_not_there)
{
    struct rig rig = { 0 };
    struct peer p;

    rig_open(&rig);
    peer_open(&p, &rig);
    peer_say(&p, "POST / HTTP/1.1\r\n" H "Expect: 100-continue\r\nContent-Length: 5\r\n\r\n");
    peer_hear(&p, "HTTP/1.1 100 Continue\r\n\r\n");
    peer_say(&p, "he");
    rig_turns(&rig, 3);
    peer_say(&p, "llo");
    peer_hear(&p, "hello");
    CHECK_INT(peer_status(&p), 200);
    peer_forget(&p);
    peer_say(&p, "POST / HTTP/1.1\r\n" H "Expect: 100-continue\r\nContent-Length: 5\r\n\r\nhello");
    peer_hear(&p, "hello");
    CHECK(!peer_has(&p, "100 Continue"));
    peer_close(&p);
    rig_close(&rig);
}

struct answer {
    int status;
    const char *headers;
};

static void answer_as_told(void *ctx, struct http_request *r)
{
    const struct answer *a = ctx;
    struct span parts[100];

    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        parts[i] = i % 2 ? SPAN("ab") : SPAN("");
    http_reply(r, a->status, a->headers, parts, ARRAY_LEN(parts));
}

TEST(answers_have_the_head_and_body_that_their_status_and_method_ask_for)
{
    static const struct {
        const char *method;
        struct answer answer;
        const char *head;
        bool body;
    } cases[] = {
        { "GET",
          { 200, "A: b\r\n" },
          "HTTP/1.1 200 OK\r\nContent-Length: 100\r\nA: b\r\n\r\n",
          true },
        { "HEAD", { 200, NULL }, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n", false },
        { "GET", { 204, "A: b\r\n" }, "HTTP/1.1 204 No Content\r\nA: b\r\n\r\n", false },
        { "GET", { 304, NULL }, "HTTP/1.1 304 Not Modified\r\n\r\n", false },
        { "GET", { 404, "" }, "HTTP/1.1 404 Not Found\r\nContent-Length: 100\r\n\r\n", true },
        { "GET", { 799, NULL }, "HTTP/1.1 799 Unknown\r\nContent-Length: 100\r\n\r\n", true },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct answer a = cases[i].answer;
        struct rig rig = { .opts = { .handler = answer_as_told, .ctx = &a } };
        AUTO_BUF struct buf text = { 0 };
        struct peer p;

        rig_open(&rig);
        peer_open(&p, &rig);
        buf_printf(&text, "%s / HTTP/1.1\r\n" H "\r\n", cases[i].method);
        peer_send(&p, buf_span(&text));
        peer_hear(&p, cases[i].head);
        rig_turns(&rig, 2);
        peer_turn(&p);
        CHECK_INT(p.in.n, strlen(cases[i].head) + (cases[i].body ? 100 : 0));
        peer_close(&p);
        rig_close(&rig);
    }
}

static void refuse_in_json(struct buf *out, struct span path, int status, const char *why)
{
    buf_printf(out, "{\"path\":\"%.*s\",\"status\":%d,\"why\":\"%s\"}", SPAN_ARG(path), status,
               why);
}

TEST(refusals_may_be_written_in_the_language_of_the_layer_above)
{
    struct rig rig = { .opts = { .refusal = refuse_in_json } };
    struct peer p;

    rig_open(&rig);
    peer_open(&p, &rig);
    peer_say(&p, "GET / HTTP/1.1\r\n\r\n");
    peer_end(&p);
    CHECK_STR(
        buf_cstr(&p.in),
        "HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nConnection: close\r\n"
        "Content-Length: 60\r\n\r\n{\"path\":\"/\",\"status\":400,\"why\":\"The Host field is "
        "missing.\"}");
    peer_close(&p);
    rig_close(&rig);
}

TEST(listening_errors_say_what_and_where)
{
    static const struct {
        struct http_server_options opts;
        const char *want;
    } cases[] = {
        { { .host = "localhost" },
          "'localhost' is not an IP address; use one, like 127.0.0.1 or ::1" },
        { { .port = 65536 }, "port 65536 is outside 0..65535" },
        { { .port = -1 }, "port -1 is outside 0..65535" },
        { { .host = "192.0.2.1", .port = 1 }, "listen on 192.0.2.1 port 1" },
        { { .unix_path = "/nonexistent/x" }, "bind to '/nonexistent/x'" },
    };
    struct pb_loop *l = loop_new(NULL);
    struct http_server *s = NULL, *other;
    struct http_server_options opts = { .handler = rig_handle };
    struct pb_error err;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        CHECK(http_server_new(&s, l, &cases[i].opts, &err) < 0);
        CHECK_HAS(err.msg, cases[i].want);
        CHECK(s == NULL);
    }
    CHECK_INT(http_server_new(&s, l, &opts, &err), 0);
    opts.port = http_server_port(s);
    CHECK(opts.port > 0);
    CHECK_INT(http_server_new(&other, l, &opts, &err), -PB_E_SYSTEM);
    CHECK_INT(err.sys, EADDRINUSE);
    http_server_close(s, NULL, NULL);
    loop_free(l);
}

static void check_peer(void *ctx, struct http_request *r)
{
    (void)ctx;
    http_reply(r, 204, NULL, NULL, 0);
}

TEST(ipv6_is_served)
{
    struct rig rig = { .opts = { .host = "::1", .handler = check_peer } };
    struct sockaddr_in6 to = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
    struct peer p = { .rig = &rig, .fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0) };

    if (bind(p.fd, (struct sockaddr *)&to, sizeof to) < 0)
        return; /* a machine without it */
    rig_open(&rig);
    to.sin6_port = htons((uint16_t)http_server_port(rig.server));
    CHECK_INT(connect(p.fd, (struct sockaddr *)&to, sizeof to), 0);
    peer_say(&p, "GET / HTTP/1.1\r\n" H "\r\n");
    peer_hear(&p, "HTTP/1.1 204 No Content\r\n\r\n");
    peer_close(&p);
    rig_close(&rig);
}

static int dial_unix(const char *path)
{
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    memcpy(to.sun_path, path, strlen(path));
    CHECK_INT(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    return fd;
}

TEST(a_unix_socket_is_for_its_owner_only_and_is_removed)
{
    const char *path = temp_path("s");
    char longer[300];
    struct rig rig = { 0 };
    struct http_server *second;
    struct pb_error err;
    struct stat st;
    struct peer p = { .rig = &rig };
    int stale;

    /* Left behind by a process that was killed. */
    stale = socket(AF_UNIX, SOCK_STREAM, 0);
    {
        struct sockaddr_un at = { .sun_family = AF_UNIX };

        memcpy(at.sun_path, path, strlen(path));
        CHECK_INT(bind(stale, (struct sockaddr *)&at, sizeof at), 0);
        close(stale);
    }
    rig.opts.unix_path = path;
    rig_open(&rig);
    CHECK_INT(stat(path, &st), 0);
    CHECK_INT(st.st_mode & 0777, 0600);
    p.fd = dial_unix(path);
    peer_say(&p, "POST / HTTP/1.1\r\n" H "Content-Length: 2\r\n\r\nhi");
    peer_hear(&p, "hi");
    /* One that is alive is not taken away from its owner. */
    CHECK_INT(http_server_new(&second, rig.loop, &rig.opts, &err), -PB_E_SYSTEM);
    CHECK_INT(err.sys, EADDRINUSE);
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    CHECK_INT(http_server_new(&second, rig.loop,
                              &(struct http_server_options){ .unix_path = longer }, &err),
              -PB_E_INVALID);
    CHECK_HAS(err.msg, "the path of a socket is longer than 107 bytes");
    peer_close(&p);
    rig_close(&rig);
    CHECK(stat(path, &st) < 0);
}

TEST(status_texts_decoding_and_queries)
{
    AUTO_ARENA struct arena arena = { 0 };
    AUTO_BUF struct buf out = { 0 };
    struct span q = SPAN("a=1&b=%41%20c+d&e&f=&a=2&%62x=y&bad=%zz&n=%00&=v");

    CHECK_STR(http_status_text(200), "OK");
    CHECK_STR(http_status_text(100), "Continue");
    CHECK_STR(http_status_text(404), "Not Found");
    CHECK_STR(http_status_text(507), "Insufficient Storage");
    CHECK_STR(http_status_text(299), "Unknown");
    CHECK(http_decode(&out, SPAN("a%2Fb%c3%A4+")));
    CHECK_STR(buf_cstr(&out), "a/b\xc3\xa4+");
    CHECK(!http_decode(&out, SPAN("x%")));
    CHECK(!http_decode(&out, SPAN("x%4")));
    CHECK(!http_decode(&out, SPAN("x%4g")));
    CHECK(!http_decode(&out, SPAN("x%00")));
    CHECK(!http_decode(&out, SPAN("x\0y")));
    CHECK_STR(buf_cstr(&out), "a/b\xc3\xa4+");
    CHECK_SPAN(http_query_get(q, "a", &arena), "1");
    CHECK_SPAN(http_query_get(q, "b", &arena), "A c d");
    CHECK_SPAN(http_query_get(q, "bx", &arena), "y");
    CHECK_SPAN(http_query_get(q, "e", &arena), "");
    CHECK(http_query_get(q, "e", &arena).p != NULL);
    CHECK_SPAN(http_query_get(q, "f", &arena), "");
    CHECK(http_query_get(q, "bad", &arena).p == NULL);
    CHECK(http_query_get(q, "n", &arena).p == NULL);
    CHECK(http_query_get(q, "z", &arena).p == NULL);
    CHECK(http_query_get((struct span){ 0 }, "z", &arena).p == NULL);
}
