/* http_out.c - writing on a connection. What the socket takes at once is never copied; what is
 * written piece by piece within one turn is sent as one; the rest waits in one buffer. Not with
 * uv_write(), which may raise SIGPIPE in a program that is not ours. */
#include "http_conn.h"
#include <errno.h>
#include <sys/socket.h>
#include <sys/uio.h>

enum { PARTS_MAX = 32 };

/* Who has taken nothing for the longest goes first: the first of its list is about that one. */
static void shed(void *ctx)
{
    struct http_server *s = ctx;
    struct http_conn *c;

    s->shedding = false;
    while (s->unread > s->max_unread && (c = wait_first(s, HTTP_WAIT_STALL))) {
        log_info("too much is unread; the client that has waited longest is cut off");
        conn_close(c);
    }
    s->handles--;
    server_release(s);
}

/* Counts what it has yet to take. */
static void weigh(struct http_conn *c)
{
    struct http_server *s = c->server;

    s->unread += conn_queued(c) - c->counted;
    c->counted = conn_queued(c);
    if (s->unread <= s->max_unread || s->shedding)
        return;
    s->shedding = true;
    s->handles++;
    loop_defer(s->loop, shed, s);
}

static void broken(struct http_conn *c)
{
    c->broken = true;
    buf_done(&c->out);
    c->out_at = 0;
    weigh(c);
    conn_later(c);
}

static ssize_t try_send(struct http_conn *c, struct iovec *parts, int n)
{
    struct msghdr m = { .msg_iov = parts, .msg_iovlen = (size_t)n };
    ssize_t sent;

    do {
        sent = sendmsg(c->fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
    } while (sent < 0 && errno == EINTR);
    return sent < 0 && (errno == EAGAIN || errno == ENOBUFS) ? 0 : sent;
}

static void block(struct http_conn *c)
{
    c->full = c->full || conn_queued(c) > STREAM_QUEUE_HIGH;
    if (c->blocked)
        return;
    c->blocked = true;
    c->progressed = false;
    conn_poll(c);
    conn_wait(c, HTTP_WAIT_STALL);
}

void conn_flush(struct http_conn *c)
{
    struct iovec part;
    ssize_t sent;

    if (!conn_queued(c) || c->broken)
        return;
    part = (struct iovec){ c->out.p + c->out_at, conn_queued(c) };
    sent = try_send(c, &part, 1);
    if (sent < 0) {
        broken(c);
        return;
    }
    c->progressed = c->progressed || sent > 0;
    c->out_at += (size_t)sent;
    weigh(c);
    if (conn_queued(c)) {
        block(c);
        return;
    }
    buf_done(&c->out);
    c->out_at = 0;
}

void conn_writable(struct http_conn *c)
{
    struct http_request *r = c->req;

    conn_flush(c);
    if (c->broken) {
        conn_close(c);
        return;
    }
    if (!conn_queued(c)) {
        c->blocked = false;
        conn_poll(c);
        conn_flushed(c);
    }
    if (c->full && conn_queued(c) <= STREAM_QUEUE_HIGH) {
        c->full = false;
        if (r && r == c->req && r->drain)
            r->drain(r->drain_ctx);
    }
}

/* What was sent already of a large buffer is dropped before the buffer grows. */
static void keep(struct http_conn *c, const struct iovec *parts, int n, size_t sent)
{
    if (c->out_at > c->out.n / 2) {
        buf_consume(&c->out, c->out_at);
        c->out_at = 0;
    }
    for (int i = 0; i < n; i++) {
        size_t skip = sent < parts[i].iov_len ? sent : parts[i].iov_len;

        sent -= skip;
        buf_add(&c->out, (char *)parts[i].iov_base + skip, parts[i].iov_len - skip);
    }
}

/* The kept bytes and these in one system call. */
static void send_now(struct http_conn *c, struct iovec *v, int n, size_t total)
{
    ssize_t sent;

    v[0] = (struct iovec){ c->out.p, c->out.n };
    sent = try_send(c, v, n);
    if (sent < 0) {
        broken(c);
        return;
    }
    if ((size_t)sent == total) {
        buf_done(&c->out);
        weigh(c);
        return;
    }
    if ((size_t)sent < c->out.n) {
        c->out_at = (size_t)sent;
        keep(c, v + 1, n - 1, 0);
    } else {
        size_t rest = (size_t)sent - c->out.n;

        buf_done(&c->out);
        keep(c, v + 1, n - 1, rest);
    }
    weigh(c);
    block(c);
}

void conn_write(struct http_conn *c, const struct span *parts, size_t n, bool cork)
{
    struct iovec v[PARTS_MAX + 1];
    size_t total = conn_queued(c), more = spans_size(parts, n);
    int used = 1;

    if (c->broken)
        return;
    if (more > STREAM_QUEUE_HARD) {
        broken(c);
        return;
    }
    total += more;
    if (n > PARTS_MAX || c->blocked || (cork && total <= HTTP_CORK_BYTES)) {
        for (size_t i = 0; i < n; i++) {
            struct iovec one = { (void *)(uintptr_t)parts[i].p, parts[i].n };

            keep(c, &one, 1, 0);
        }
        weigh(c);
        if (c->blocked)
            block(c);
        else if (cork && total <= HTTP_CORK_BYTES)
            conn_later(c);
        else
            conn_flush(c);
        return;
    }
    for (size_t i = 0; i < n; i++)
        if (parts[i].n)
            v[used++] = (struct iovec){ (void *)(uintptr_t)parts[i].p, parts[i].n };
    send_now(c, v, used, total);
}
