/* test_wire_socket.c - both ends of a connected socket: a server with many guests, and clients. */
#include "mcp/client/client.h"
#include "mcp/client_rig.h"
#include "mcp/registry/registry.h"
#include "mcp/serve/serve.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>

/* In place of the C library's: the loop's how-manieth new descriptor cannot be watched; 0: none. */
static int refused_add;

__attribute__((visibility("default"))) int epoll_ctl(int epfd, int op, int fd,
                                                     struct epoll_event *event)
{
    if (op == EPOLL_CTL_ADD && refused_add && --refused_add == 0) {
        errno = ENOSPC;
        return -1;
    }
    return (int)syscall(SYS_epoll_ctl, epfd, op, fd, event);
}

static int echo(struct pb_call *call, void *ctx)
{
    (void)ctx;
    pb_reply_text(call, "%s", pb_arg_json(call, "x"));
    return 0;
}

static struct pb_server *server_on(struct pb_loop *loop)
{
    struct pb_server_options o = PB_SERVER_OPTIONS_INIT;
    static const struct pb_param params[] = { { "x", PB_ANY, "what", 0 }, { 0 } };
    struct pb_tool tool = { .name = "echo", .run = echo, .flags = PB_ON_LOOP, .params = params };
    struct pb_server *s;

    o.loop = loop;
    s = pb_server_new(&o);
    CHECK_INT(pb_server_add_tool(s, &tool, NULL), 0);
    return s;
}

static struct pb_client_options guest(struct pb_server *s)
{
    struct pb_client_options o = PB_CLIENT_OPTIONS_INIT;
    int ends[2];

    CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    CHECK_INT(server_take_socket(s, ends[0], NULL), 0);
    o.fd = ends[1];
    return o;
}

TEST(a_connected_socket_carries_a_session_in_both_eras)
{
    static const enum pb_era eras[] = { PB_ERA_LEGACY, PB_ERA_MODERN };

    for (size_t i = 0; i < ARRAY_LEN(eras); i++) {
        struct pb_client_options o;
        struct pb_server *s;
        struct answer a;
        struct rig r;

        rig_init(&r, false);
        s = server_on(r.loop);
        o = guest(s);
        o.era = eras[i];
        rig_open_well(&r, &o);
        rig_request(&r, &a, "tools/call", "{\"name\":\"echo\",\"arguments\":{\"x\":1.0}}");
        CHECK_HAS(a.result, "\"1.0\"");
        answer_done(&a);
        pb_server_free(s);
        RIG_UNTIL(&r, r.closed);
        CHECK_HAS(r.why.msg, "ended");
        rig_done(&r);
    }
}

TEST(line_ends_between_the_tokens_of_a_message_do_not_end_its_line)
{
    struct pb_client_options o;
    struct pb_server *s;
    struct answer a;
    struct rig r;

    rig_init(&r, false);
    s = server_on(r.loop);
    o = guest(s);
    rig_open_well(&r, &o);
    rig_request(
        &r, &a, "tools/call",
        "{\n\"name\":\"echo\",\"arguments\":\n{\"x\":\n{\"id\":7,\"method\":\"ping\"}\n}}\n");
    CHECK_HAS(a.result, "{\\\"id\\\":7,\\\"method\\\":\\\"ping\\\"}");
    answer_done(&a);
    client_close(TAKE(r.client), NULL, NULL);
    pb_server_free(s);
    rig_done(&r);
}

TEST(a_guest_that_leaves_ends_neither_the_server_nor_other_guests)
{
    struct pb_client_options one, two;
    struct pb_server *s;
    struct rig r, other;

    rig_init(&r, false);
    s = server_on(r.loop);
    one = guest(s);
    one.era = PB_ERA_LEGACY; /* the other one has no ping */
    two = guest(s);
    rig_open_well(&r, &one);
    other = (struct rig){ .loop = r.loop };
    rig_open_well(&other, &two);
    client_close(TAKE(other.client), NULL, NULL);
    RIG_RESULT(&r, "ping", NULL, "{}");
    CHECK_STR(server_state(s), "ready");
    client_close(TAKE(r.client), NULL, NULL);
    for (int i = 0; i < 10; i++)
        loop_turn(r.loop, false);
    CHECK_STR(server_state(s), "ready");
    pb_server_free(s);
    rig_done(&r);
}

TEST(a_descriptor_that_is_none_is_refused_by_name)
{
    struct pb_client_options o = PB_CLIENT_OPTIONS_INIT;
    struct client_events events = { 0 };
    struct client *c;
    struct pb_error err;
    struct rig r;

    rig_init(&r, false);
    o.fd = 987;
    CHECK(client_open(&c, r.loop, &o, &events, NULL, &err) < 0);
    CHECK_HAS(err.msg, "descriptor 987");
    rig_done(&r);
}

static int descriptors(void)
{
    int n = 0;

    for (int fd = 0; fd < 1024; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

/* A socket is two streams: whichever of them cannot be opened, nothing is closed that is not ours,
 * and nothing stays open that is. */
TEST(a_socket_that_cannot_be_served_is_still_its_owners)
{
    struct pb_server *s;
    struct pb_error err;
    struct rig r;
    int ends[2], before;

    rig_init(&r, false);
    s = server_on(r.loop);
    CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    before = descriptors();
    for (int which = 1; which <= 2; which++) {
        refused_add = which;
        CHECK_INT(server_take_socket(s, ends[0], &err), -PB_E_SYSTEM);
        CHECK_HAS(err.msg, "socket");
        for (int i = 0; i < 5; i++)
            loop_turn(r.loop, false);
        CHECK(fcntl(ends[0], F_GETFD) >= 0);
        CHECK_INT(descriptors(), before);
    }
    close(ends[0]);
    close(ends[1]);
    pb_server_free(s);
    rig_done(&r);
}

TEST(a_socket_that_was_given_to_a_client_is_closed_also_when_it_cannot_be_used)
{
    struct pb_client_options o = PB_CLIENT_OPTIONS_INIT;
    struct client_events events = { 0 };
    struct client *c;
    struct pb_error err;
    struct rig r;
    int ends[2], before;

    rig_init(&r, false);
    before = descriptors();
    for (int which = 1; which <= 2; which++) {
        CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
        o.fd = ends[0];
        refused_add = which;
        CHECK(client_open(&c, r.loop, &o, &events, NULL, &err) < 0);
        for (int i = 0; i < 5; i++)
            loop_turn(r.loop, false);
        close(ends[1]);
        CHECK_INT(descriptors(), before);
    }
    rig_done(&r);
}

/* A server that ends at the first message it does not know is started again, and spoken to as old
 * ones want it. A socket cannot be: its number may be another's by then. */
TEST(a_socket_that_ends_during_the_probe_is_not_used_again)
{
    struct pb_client_options o = PB_CLIENT_OPTIONS_INIT;
    struct rig r;
    int ends[2];

    rig_init(&r, false);
    CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    o.fd = ends[0];
    shutdown(ends[1], SHUT_WR);
    rig_open(&r, &o);
    CHECK_INT(r.open_err.code, PB_E_CLOSED);
    CHECK_HAS(r.open_err.msg, "has ended the connection");
    close(ends[1]);
    rig_done(&r);
}
