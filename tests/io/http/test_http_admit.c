/* How many may come; and what is decided when a head is there and its body is not: who may send
 * one, how much of it, and how much all of them together. */
#include "http_rig.h"
#include "io/http/http.h"
#include "io/http/http_conn.h"
#include <sys/resource.h>

enum { LIMIT = 1000 };

/* "/no" is answered at once, "/few" may bring LIMIT bytes, all else what the server allows. */
struct doorman {
    struct rig rig;
    int asked;
};

static bool admit(void *ctx, struct http_request *r, size_t *max_body)
{
    struct doorman *d = CONTAINER_OF(ctx, struct doorman, rig);
    const struct span no = SPAN("no");

    d->asked++;
    CHECK_INT(http_body(r).n, 0);
    if (span_is(http_path(r), "/no")) {
        http_reply(r, 401, "A: b\r\n", &no, 1);
        return false;
    }
    if (span_is(http_path(r), "/few"))
        *max_body = LIMIT;
    return true;
}

static void door_open(struct doorman *d)
{
    d->rig.opts.admit = admit;
    rig_open(&d->rig);
}

static void say_head(struct peer *p, const char *target, size_t length)
{
    AUTO_BUF struct buf text = { 0 };

    buf_printf(&text, "POST %s HTTP/1.1\r\n" H "Content-Length: %zu\r\n\r\n", target, length);
    peer_send(p, buf_span(&text));
}

static void say_bytes(struct peer *p, size_t n)
{
    AUTO_BUF struct buf x = { 0 };

    memset(buf_reserve(&x, n), 'x', n);
    x.n = n;
    peer_send(p, buf_span(&x));
}

TEST(who_is_refused_by_the_head_is_told_before_its_body_and_the_rest_is_no_request)
{
    static const char *const heads[] = {
        "POST /no HTTP/1.1\r\n" H "Content-Length: 100\r\n\r\n",
        "POST /no HTTP/1.1\r\n" H "Content-Length: 100\r\n\r\nGET / HTTP/1.1\r\n" H "\r\n",
        "POST /no HTTP/1.1\r\n" H "Content-Length: 100\r\nExpect: 100-continue\r\n\r\n",
        "POST /no HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\n\r\n",
        "POST /no HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET / HTTP/1.1\r\n" H
        "\r\n",
        "POST /no HTTP/1.0\r\n" H "Content-Length: 100\r\nConnection: keep-alive\r\n\r\n",
    };

    for (size_t i = 0; i < ARRAY_LEN(heads); i++) {
        struct doorman d = { 0 };
        struct peer p;

        door_open(&d);
        peer_open(&p, &d.rig);
        peer_say(&p, heads[i]);
        peer_end(&p);
        CHECK_STR(buf_cstr(&p.in),
                  "HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\nConnection: close\r\n"
                  "A: b\r\n\r\nno");
        CHECK_INT(d.asked, 1);
        peer_say(&p, "GET / HTTP/1.1\r\n" H "\r\n");
        rig_turns(&d.rig, 5);
        CHECK_INT(d.rig.n_requests, 0);
        CHECK_INT(http_server_connections(d.rig.server), 1); /* it still reads */
        loop_advance(d.rig.loop, HTTP_LINGER_MS);
        CHECK_INT(http_server_connections(d.rig.server), 0);
        peer_close(&p);
        rig_close(&d.rig);
    }
}

/* So many bytes are sent that they would not all fit into the socket: they are read, and not kept.
 */
TEST(what_a_refused_client_still_sends_is_not_kept)
{
    enum { LARGE = 8 << 20 };
    struct doorman d = { 0 };
    struct peer p;

    door_open(&d);
    peer_open(&p, &d.rig);
    say_head(&p, "/no", LARGE);
    say_bytes(&p, LARGE);
    peer_end(&p);
    CHECK_INT(peer_status(&p), 401);
    CHECK_INT(d.rig.server->bodies->bytes, 0);
    peer_close(&p);
    rig_close(&d.rig);
}

TEST(a_body_that_came_with_its_head_is_the_handlers_matter)
{
    struct doorman d = { 0 };
    struct peer p;

    door_open(&d);
    peer_open(&p, &d.rig);
    peer_say(&p, "POST /no HTTP/1.1\r\n" H "Content-Length: 5\r\n\r\nhello");
    peer_hear(&p, "hello");
    peer_forget(&p);
    peer_say(&p, "GET /no HTTP/1.1\r\n" H "\r\n");
    peer_hear(&p, "200 OK");
    CHECK_INT(d.asked, 0);
    CHECK_INT(d.rig.n_requests, 2);
    peer_close(&p);
    rig_close(&d.rig);
}

TEST(one_is_asked_once_and_then_told_to_continue)
{
    struct doorman d = { 0 };
    struct peer p;

    door_open(&d);
    peer_open(&p, &d.rig);
    peer_say(&p, "POST / HTTP/1.1\r\n" H "Expect: 100-continue\r\nContent-Length: 5\r\n\r\n");
    peer_hear(&p, "HTTP/1.1 100 Continue\r\n\r\n");
    CHECK_INT(d.asked, 1);
    for (int i = 0; i < 5; i++) {
        peer_say(&p, &"h\0e\0l\0l\0o"[i * 2]);
        rig_turns(&d.rig, 2);
    }
    peer_hear(&p, "hello");
    CHECK_INT(d.asked, 1);
    peer_forget(&p);
    peer_say(&p, "POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\n\r\n");
    rig_turns(&d.rig, 2);
    peer_say(&p, "5\r\nagain\r\n0\r\n\r\n");
    peer_hear(&p, "again");
    CHECK_INT(d.asked, 2);
    peer_close(&p);
    rig_close(&d.rig);
}

TEST(a_request_may_bring_what_it_was_allowed_and_no_more)
{
    static const struct {
        size_t n;
        bool chunked, ok;
    } cases[] = {
        { LIMIT, false, true },
        { LIMIT + 1, false, false },
        { LIMIT, true, true },
        { LIMIT + 1, true, false },
        { 1 << 20, false, false },
        { 1 << 20, true, false },
        { (size_t)1 << 40, false, false },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct doorman d = { 0 };
        struct peer p;

        door_open(&d);
        peer_open(&p, &d.rig);
        if (cases[i].chunked) {
            AUTO_BUF struct buf size = { 0 };

            peer_say(&p, "POST /few HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\n\r\n");
            rig_turns(&d.rig, 2);
            buf_printf(&size, "%zx\r\n", cases[i].n);
            peer_send(&p, buf_span(&size));
            say_bytes(&p, cases[i].n);
            peer_say(&p, "\r\n0\r\n\r\n");
        } else {
            say_head(&p, "/few", cases[i].n);
            rig_turns(&d.rig, 2);
            if (cases[i].ok)
                say_bytes(&p, cases[i].n);
        }
        peer_hear(&p, "\r\n\r\n");
        CHECK_INT(peer_status(&p), cases[i].ok ? 200 : 413);
        CHECK_INT(d.rig.n_requests, cases[i].ok);
        peer_close(&p);
        rig_close(&d.rig);
    }
}

enum { SUM = 4 << 20, LARGE = 3 << 20 };

static void until_bodies(struct rig *rig, size_t n)
{
    for (int i = 0; i < RIG_TURNS && rig->server->bodies->bytes < n; i++)
        loop_turn(rig->loop, false);
    CHECK(rig->server->bodies->bytes >= n);
}

/* The first has its place; the second is told to come again; a small one is always served. */
TEST(all_bodies_together_have_a_bound)
{
    struct rig rig = { .opts = { .max_bodies = SUM } };
    struct peer first, second, small;

    rig_open(&rig);
    peer_open(&first, &rig);
    peer_open(&second, &rig);
    peer_open(&small, &rig);
    say_head(&first, "/later", LARGE);
    say_bytes(&first, LARGE - 1);
    until_bodies(&rig, LARGE - 1);
    say_head(&second, "/", LARGE);
    say_bytes(&second, LARGE);
    peer_hear(&second, "503 Service Unavailable");
    CHECK(peer_has(&second, "\r\nRetry-After: 1\r\n"));
    say_head(&small, "/", HTTP_BODY_SMALL);
    rig_turns(&rig, 2);
    say_bytes(&small, HTTP_BODY_SMALL);
    peer_hear(&small, "200 OK");
    say_bytes(&first, 1);
    rig_until_kept(&rig, 1);
    /* It counts for as long as it is there: until it is answered. */
    CHECK(rig.server->bodies->bytes >= LARGE);
    http_reply(rig.kept[0], 200, NULL, NULL, 0);
    CHECK_INT(rig.server->bodies->bytes, 0);
    peer_close(&second);
    peer_open(&second, &rig);
    say_head(&second, "/", LARGE);
    say_bytes(&second, LARGE);
    peer_hear(&second, "200 OK");
    peer_close(&first);
    peer_close(&second);
    peer_close(&small);
    rig_close(&rig);
}

/* However it ends, what it took is given back, once. */
TEST(a_body_that_was_taken_over_counts_until_it_is_let_go_of)
{
    struct rig rig = { .opts = { .max_bodies = SUM } };
    struct peer first, second;
    struct blob *taken[2];

    rig_open(&rig);
    peer_open(&first, &rig);
    peer_open(&second, &rig);
    say_head(&first, "/later", LARGE);
    say_bytes(&first, LARGE);
    rig_until_kept(&rig, 1);
    taken[0] = http_take_body(rig.kept[0]);
    CHECK_INT(taken[0]->n, LARGE);
    http_reply(rig.kept[0], 202, NULL, NULL, 0);
    peer_hear(&first, "202 Accepted");
    say_head(&second, "/", LARGE);
    say_bytes(&second, LARGE);
    peer_hear(&second, "503 Service Unavailable");
    peer_close(&second);
    blob_unref(blob_ref(taken[0])); /* somebody else's end is not its own */
    CHECK(rig.server->bodies->bytes >= LARGE);
    blob_unref(taken[0]);
    CHECK_INT(rig.server->bodies->bytes, 0);

    /* Its client may be gone by then, or the whole server. */
    peer_open(&second, &rig);
    say_head(&second, "/deaf", LARGE);
    say_bytes(&second, LARGE);
    rig_until_kept(&rig, 2);
    peer_close(&second);
    rig_turns(&rig, 5);
    CHECK(rig.server->bodies->bytes >= LARGE);
    taken[1] = http_take_body(rig.kept[1]);
    http_reply(rig.kept[1], 202, NULL, NULL, 0);
    CHECK(rig.server->bodies->bytes >= LARGE);
    peer_close(&first);
    rig_close(&rig);
    CHECK_INT(taken[1]->n, LARGE);
    blob_unref(taken[1]);
}

TEST(no_body_is_counted_that_is_not_there_any_more)
{
    enum { TAKEN, GONE, DEAF, UNFINISHED, LATE, TOO_LARGE, CASES };

    for (int i = 0; i < CASES; i++) {
        struct rig rig = { .opts = { .max_body = LARGE } };
        struct peer p;

        rig_open(&rig);
        peer_open(&p, &rig);
        if (i == TOO_LARGE) {
            peer_say(&p, "POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\n\r\n400000\r\n");
            say_bytes(&p, LARGE + 1);
            peer_hear(&p, "413");
        } else {
            bool whole = i < UNFINISHED;

            say_head(&p, i == DEAF ? "/deaf" : "/later", LARGE);
            say_bytes(&p, whole ? LARGE : LARGE - 1);
            until_bodies(&rig, LARGE - 1);
            if (whole)
                rig_until_kept(&rig, 1);
        }
        if (i == TAKEN) {
            blob_unref(http_take_body(rig.kept[0]));
            CHECK_INT(rig.server->bodies->bytes, 0);
        }
        if (i == LATE)
            loop_advance(rig.loop, HTTP_BODY_MS);
        peer_close(&p);
        rig_until_connections(&rig, 0);
        if (i == DEAF) {
            CHECK(rig.server->bodies->bytes >= LARGE); /* the handler may still look at it */
            http_reply(rig.kept[0], 200, NULL, NULL, 0);
        }
        CHECK_INT(rig.server->bodies->bytes, 0);
        rig_close(&rig);
    }
}

/* ---- connections ---- */

TEST(connections_past_the_limit_are_told_so)
{
    struct rig rig = { .opts = { .max_connections = 5 } };
    struct peer p[8], more;

    rig_open(&rig);
    for (int i = 0; i < 8; i++) {
        peer_open(&p[i], &rig);
        rig_turns(&rig, 2);
    }
    for (int i = 5; i < 8; i++) {
        peer_say(&p[i], "GET / HTTP/1.1\r\n" H "\r\n");
        peer_end(&p[i]);
        CHECK_INT(peer_status(&p[i]), 503);
        peer_close(&p[i]);
    }
    rig_until_connections(&rig, 5);
    peer_close(&p[0]);
    rig_until_connections(&rig, 4);
    peer_open(&more, &rig);
    peer_say(&more, "GET / HTTP/1.1\r\n" H "\r\n");
    peer_hear(&more, "HTTP/1.1 200 OK");
    peer_close(&more);
    for (int i = 1; i < 5; i++)
        peer_close(&p[i]);
    rig_close(&rig);
}

TEST(a_flood_past_the_limit_is_bounded)
{
    enum { COUNT = HTTP_REFUSALS_MAX + 100 };
    struct rig rig = { .opts = { .max_connections = 1 } };
    static struct peer p[COUNT];
    int told = 0;

    rig_open(&rig);
    for (int i = 0; i < COUNT; i++) {
        peer_open(&p[i], &rig);
        if (i % 50 == 0)
            rig_turns(&rig, 3);
    }
    rig_turns(&rig, 20);
    CHECK(http_server_connections(rig.server) <= 1 + HTTP_REFUSALS_MAX);
    for (int i = 1; i < COUNT; i++) {
        peer_end(&p[i]);
        told += peer_status(&p[i]) == 503;
    }
    CHECK_INT(told, HTTP_REFUSALS_MAX);
    for (int i = 0; i < COUNT; i++)
        peer_close(&p[i]);
    rig_until_connections(&rig, 0);
    rig_close(&rig);
}

/* Else the last descriptors went to connections, and no server could be started any more. */
TEST(connections_leave_descriptors_to_others)
{
    static const struct {
        rlim_t files;
        int wanted;
        size_t want;
    } cases[] = {
        { 100, 0, 50 },
        { 100, 10, 10 },
        { 100, 60, 50 },
        { 2 * HTTP_FILES_RESERVE - 1, 0, HTTP_FILES_RESERVE },
        { 2 * HTTP_FILES_RESERVE + 10, 0, HTTP_FILES_RESERVE + 10 },
        { HTTP_CONNECTIONS_MAX + 100, 0, HTTP_CONNECTIONS_MAX + 100 - HTTP_FILES_RESERVE },
        { HTTP_CONNECTIONS_MAX + HTTP_FILES_RESERVE + 1, 0, HTTP_CONNECTIONS_MAX },
    };
    struct rlimit was, files;

    CHECK_INT(getrlimit(RLIMIT_NOFILE, &was), 0);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct rig rig = { .opts = { .max_connections = cases[i].wanted } };

        files = was;
        files.rlim_cur = cases[i].files;
        if (files.rlim_max < files.rlim_cur)
            continue;
        CHECK_INT(setrlimit(RLIMIT_NOFILE, &files), 0);
        rig_open(&rig);
        CHECK_INT(rig.server->max_connections, cases[i].want);
        rig_close(&rig);
    }
    CHECK_INT(setrlimit(RLIMIT_NOFILE, &was), 0);
}

/* Also those that are told to come again take descriptors. */
TEST(refusals_leave_descriptors_to_others)
{
    enum { FILES = 100, CAP = 50, COUNT = 99 };
    struct rlimit was, few;
    struct rig rig = { 0 };
    static struct peer p[COUNT];

    CHECK_INT(getrlimit(RLIMIT_NOFILE, &was), 0);
    few = was;
    few.rlim_cur = FILES;
    CHECK_INT(setrlimit(RLIMIT_NOFILE, &few), 0);
    rig_open(&rig);
    CHECK_INT(setrlimit(RLIMIT_NOFILE, &was), 0); /* the clients are ours, too */
    for (int i = 0; i < COUNT; i++) {
        peer_open(&p[i], &rig);
        rig_turns(&rig, 2);
    }
    CHECK(http_server_connections(rig.server) <= CAP + CAP / 2);
    for (int i = 0; i < COUNT; i++)
        peer_close(&p[i]);
    rig_close(&rig);
}
