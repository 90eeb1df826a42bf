/* A whole connection to the HTTP server, over a pair of sockets: arbitrary bytes cut at random, a
 * doorman who refuses some heads and allows others little, handlers that answer at once, later or
 * never, and an end at any time. Whatever comes: a body is no larger than it may be, each request
 * ends, and nothing is left. The first two bytes choose the cuts. */
#include "io/http/http.h"
#include "io/http/http_conn.h"
#include "manual_clock.h"
#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <sys/socket.h>

enum { BODY_MAX = 600, FEW = 5, KEPT = 4, TURNS = 200 };

static struct pb_loop *loop;
static struct http_server *server;
static struct http_request *kept[KEPT];
static size_t n_kept, under_way;

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/* What happens to a request: the last byte of its target tells. */
static unsigned fate(const struct http_request *r)
{
    struct span t = http_target(r);

    return (unsigned char)t.p[t.n - 1] % 5u;
}

static bool admit(void *ctx, struct http_request *r, size_t *max_body)
{
    (void)ctx;
    assert(!http_body(r).n && *max_body == BODY_MAX);
    if (fate(r) == 1) {
        http_reply(r, 401, NULL, NULL, 0);
        return false;
    }
    if (fate(r) == 2)
        *max_body = FEW;
    return true;
}

static void on_gone(void *ctx)
{
    struct http_request **place = ctx;

    *place = NULL;
}

static void handle(void *ctx, struct http_request *r)
{
    struct span body = http_body(r);

    (void)ctx;
    assert(body.n <= BODY_MAX);
    if (fate(r) == 3 && n_kept < KEPT) {
        kept[n_kept] = r;
        http_count(r, &under_way);
        http_on_gone(r, on_gone, &kept[n_kept]);
        n_kept++;
        return;
    }
    if (fate(r) == 4) {
        blob_unref(http_take_body(r));
        body = SPAN("taken");
    }
    http_reply(r, 200, NULL, &body, 1);
}

static void setup(void)
{
    static struct manual_clock clock;
    struct http_server_options o = { .handler = handle, .admit = admit, .max_body = BODY_MAX };
    struct pb_error err;
    int rc;

    manual_clock_init(&clock);
    loop = loop_new(&clock.clock);
    rc = http_server_new(&server, loop, &o, &err);
    assert(rc == 0);
    (void)rc;
}

static void send_some(int fd, struct span *in, uint32_t *seed)
{
    size_t n = 1 + next_random(seed) % (next_random(seed) % 4 ? 50 : 3000);
    ssize_t sent = send(fd, in->p, n < in->n ? n : in->n, MSG_DONTWAIT | MSG_NOSIGNAL);

    if (sent > 0)
        *in = span_from(*in, (size_t)sent);
    else if (sent < 0 && errno != EAGAIN)
        in->n = 0;
}

static void drain(int fd)
{
    char text[65536];

    while (recv(fd, text, sizeof text, MSG_DONTWAIT) > 0)
        continue;
}

static void answer_one(uint32_t *seed)
{
    struct http_request *r = n_kept ? kept[next_random(seed) % n_kept] : NULL;

    if (!r)
        return;
    for (size_t i = 0; i < n_kept; i++)
        if (kept[i] == r)
            kept[i] = NULL;
    http_reply(r, 200, NULL, NULL, 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct span in;
    uint32_t seed;
    int ends[2];

    if (n < 2)
        return 0;
    if (!loop)
        setup();
    seed = 1u + data[0] + 256u * data[1];
    in = span_make((const char *)data + 2, n - 2);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) < 0)
        return 0;
    n_kept = 0;
    conn_open(server, ends[0]);
    for (int i = 0; i < TURNS && in.n; i++) {
        send_some(ends[1], &in, &seed);
        loop_turn(loop, false);
        if (next_random(&seed) % 4 == 0)
            answer_one(&seed);
    }
    drain(ends[1]);
    close(ends[1]);
    for (int i = 0; i < TURNS && http_server_connections(server); i++)
        loop_turn(loop, false);
    assert(http_server_connections(server) == 0 && server->bodies->bytes == 0 && under_way == 0);
    return 0;
}
