/* The sockets beneath the HTTP client: libcurl opens and closes them, our loop polls them. This
 * program stands between libuv and the kernel, and between libcurl and the resolver. */
#include "http_client_rig.h"
#include <dlfcn.h>
#include <netdb.h>
#include <sys/epoll.h>
#include <sys/syscall.h>

static int foreign; /* epoll_ctl() on numbers that were closed: another thread may have had them */
static int connecting; /* sockets */

__attribute__((visibility("default"))) int epoll_ctl(int ep, int op, int fd,
                                                     struct epoll_event *event)
{
    int r = (int)syscall(SYS_epoll_ctl, ep, op, fd, event);

    if (r < 0 && errno == EBADF)
        foreign++;
    if (!r && op == EPOLL_CTL_ADD && event->events & EPOLLOUT)
        connecting++;
    return r;
}

/* "two.test" has two addresses, both of this machine. */
__attribute__((visibility("default"))) int getaddrinfo(const char *node, const char *service,
                                                       const struct addrinfo *hints,
                                                       struct addrinfo **out)
{
    int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **) =
        dlsym(RTLD_NEXT, "getaddrinfo");
    struct addrinfo *second, only = { 0 };
    int rc;

    if (!node || strcmp(node, "two.test"))
        return real(node, service, hints, out);
    if (hints)
        only = *hints;
    only.ai_family = AF_INET;
    rc = real("127.0.0.1", service, &only, out);
    if (!rc)
        rc = real("127.0.0.2", service, &only, &second);
    if (!rc)
        (*out)->ai_next = second;
    return rc;
}

TEST(a_number_that_was_closed_is_never_polled)
{
    struct client_rig c = { 0 };
    struct result r = { 0 };
    struct full f;
    char url[64];

    full_open(&f);
    client_rig_open(&c);
    snprintf(url, sizeof url, "http://127.0.0.1:%d", f.port);
    client_get(&c, &r, url, "/");
    for (int i = 0; i < 100; i++)
        loop_turn(c.rig.loop, false);
    CHECK_INT(r.done, 0);
    foreign = 0;
    loop_advance(c.rig.loop, HTTP_CONNECT_MS);
    CHECK_INT(r.done, 1);
    CHECK_INT(r.err.code, PB_E_TIMEOUT);
    CHECK_INT(foreign, 0);
    client_rig_close(&c);
    full_close(&f);
}

/* ---- A name with two addresses, of which the first is of no use ---------------------------- */

static void two_open(struct client_rig *c, struct full *first, struct raw *second)
{
    /* Or a question would go out to a real resolver. */
    CHECK(dlsym(RTLD_DEFAULT, "getaddrinfo") == (void *)getaddrinfo);
    foreign = connecting = 0;
    full_open(first);
    raw_open_at(second, INADDR_LOOPBACK + 1, first->port);
    raw_add(second,
            (struct raw_script){ .first = SPAN("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok") });
    client_rig_open(c);
}

static void two_get(struct client_rig *c, struct result *r, const struct full *first,
                    uint64_t connect_ms)
{
    char url[64];

    snprintf(url, sizeof url, "http://two.test:%d", first->port);
    client_send(c, r, &(struct http_client_request){ .url = url, .connect_ms = connect_ms });
}

TEST(an_address_that_refuses_late_is_followed_by_the_next)
{
    struct raw second = { 0 };
    struct client_rig c = { 0 };
    struct result r = { 0 };
    struct full first;

    two_open(&c, &first, &second);
    two_get(&c, &r, &first, 0);
    while (!connecting)
        loop_turn(c.rig.loop, false);
    full_close(&first);
    client_until(&c, &r.done);
    CHECK_INT(r.status, 200);
    CHECK_SPAN(buf_span(&r.body), "ok");
    CHECK_INT(foreign, 0);
    result_free(&r);
    client_rig_close(&c);
    raw_close(&second);
    buf_done(&second.seen);
}

TEST(an_address_that_says_nothing_leaves_time_for_the_next)
{
    struct raw second = { 0 };
    struct client_rig c = { 0 };
    struct result r = { 0 };
    struct full first;

    two_open(&c, &first, &second);
    two_get(&c, &r, &first, 400);
    client_until(&c, &r.done);
    CHECK_INT(r.status, 200);
    CHECK_INT(foreign, 0);
    result_free(&r);
    client_rig_close(&c);
    raw_close(&second);
    buf_done(&second.seen);
    full_close(&first);
}
