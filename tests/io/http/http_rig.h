/* http_rig.h - an HTTP server on a loop with a manual clock, and raw clients that talk to it over
 * real sockets from the same thread: what was sent to a loopback socket is there at once, so a test
 * turns the loop until it sees what it waits for and never sleeps. */
#pragma once
#include "io/http/http.h"
#include "io/io.h"
#include "loopback.h"
#include "manual_clock.h"
#include <errno.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#define H "Host: a\r\n"

enum { RIG_TURNS = 20000, RIG_KEPT = 64 };

struct rig {
    struct manual_clock clock;
    struct pb_loop *loop;
    struct http_server *server;
    struct http_server_options opts;
    struct http_request *kept[RIG_KEPT]; /* requests for /later and /stream, in order */
    int n_kept, n_gone, n_drained, n_requests, closed;
    struct buf log; /* "METHOD target n\n" of every request */
};

struct peer {
    struct rig *rig;
    int fd;
    struct buf in;
    bool eof;
};

static inline void answer(struct http_request *r, const char *text)
{
    struct span body = span_of(text);

    http_reply(r, 200, NULL, &body, 1);
}

static inline bool write_text(struct http_request *r, const char *text)
{
    struct span part = span_of(text);

    return http_write(r, &part, 1);
}

static inline void rig_gone(void *ctx) { ((struct rig *)ctx)->n_gone++; }

static inline void rig_drained(void *ctx) { ((struct rig *)ctx)->n_drained++; }

static inline void rig_closed(void *ctx) { ((struct rig *)ctx)->closed++; }

/* /later waits for the test to answer, with a gone callback; /deaf waits without one; /stream is
 * begun; everything else is answered with its own body. */
static inline void rig_handle(void *ctx, struct http_request *r)
{
    struct rig *rig = ctx;
    struct span body = http_body(r);

    rig->n_requests++;
    buf_printf(&rig->log, "%.*s %.*s %zu\n", SPAN_ARG(http_method(r)), SPAN_ARG(http_target(r)),
               body.n);
    if (span_is(http_path(r), "/later") || span_is(http_path(r), "/deaf") ||
        span_is(http_path(r), "/stream")) {
        CHECK(rig->n_kept < RIG_KEPT);
        rig->kept[rig->n_kept++] = r;
        if (!span_is(http_path(r), "/deaf"))
            http_on_gone(r, rig_gone, rig);
        if (span_is(http_path(r), "/stream")) {
            http_on_drain(r, rig_drained, rig);
            http_begin(r, 200, "Content-Type: text/event-stream\r\n");
        }
        return;
    }
    http_reply(r, 200, "Content-Type: text/plain\r\n", &body, 1);
}

static inline void rig_open(struct rig *rig)
{
    struct pb_error err;

    manual_clock_init(&rig->clock);
    rig->loop = loop_new(&rig->clock.clock);
    if (!rig->opts.handler) {
        rig->opts.handler = rig_handle;
        rig->opts.ctx = rig;
    }
    if (http_server_new(&rig->server, rig->loop, &rig->opts, &err) < 0)
        TAP_FAIL("%s", err.msg);
}

static inline void rig_close(struct rig *rig)
{
    http_server_close(rig->server, rig_closed, rig);
    loop_free(rig->loop);
    CHECK_INT(rig->closed, 1);
    buf_done(&rig->log);
}

static inline void rig_turns(struct rig *rig, int n)
{
    while (n-- > 0)
        loop_turn(rig->loop, false);
}

static inline void peer_open(struct peer *p, struct rig *rig)
{
    *p = (struct peer){ .rig = rig, .fd = loopback_dial(http_server_port(rig->server)) };
    setsockopt(p->fd, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int));
}

static inline void peer_close(struct peer *p)
{
    close(p->fd);
    buf_done(&p->in);
}

static inline void peer_send(struct peer *p, struct span text)
{
    while (text.n) {
        ssize_t n = send(p->fd, text.p, text.n, MSG_DONTWAIT | MSG_NOSIGNAL);

        if (n < 0 && errno == EAGAIN)
            loop_turn(p->rig->loop, false);
        else if (n < 0)
            return; /* cut off: the test will see what came back */
        else
            text = span_from(text, (size_t)n);
    }
}

static inline void peer_say(struct peer *p, const char *text) { peer_send(p, span_of(text)); }

/* One turn, and what came until then. */
static inline void peer_turn(struct peer *p)
{
    ssize_t n = 1;

    loop_turn(p->rig->loop, false);
    while (n > 0 && !p->eof) {
        n = recv(p->fd, buf_reserve(&p->in, 65536), 65536, MSG_DONTWAIT);
        if (n > 0)
            p->in.n += (size_t)n;
        else if (n == 0 || errno != EAGAIN)
            p->eof = true;
    }
}

static inline bool peer_has(struct peer *p, const char *text)
{
    return p->in.n && memmem(p->in.p, p->in.n, text, strlen(text));
}

/* Until the text has come. */
static inline void peer_hear(struct peer *p, const char *text)
{
    for (int i = 0; i < RIG_TURNS && !peer_has(p, text) && !p->eof; i++)
        peer_turn(p);
    if (!peer_has(p, text))
        TAP_FAIL("\"%s\" did not come, but \"%.300s\"%s", text, buf_cstr(&p->in),
                 p->eof ? " and the end" : "");
}

/* Until the server closes. */
static inline void peer_end(struct peer *p)
{
    for (int i = 0; i < RIG_TURNS && !p->eof; i++)
        peer_turn(p);
    CHECK(p->eof);
}

static inline void peer_forget(struct peer *p) { p->in.n = 0; }

/* The status of the last response, or 0. A head begins where a body ended, anywhere in a line. */
static inline int peer_status(struct peer *p)
{
    const char *at = buf_cstr(&p->in);
    int status = 0;

    while ((at = strstr(at, "HTTP/1.1 "))) {
        at += strlen("HTTP/1.1 ");
        if (*at >= '1' && *at <= '9')
            status = (int)strtol(at, NULL, 10);
    }
    return status;
}

/* Until a kept request number n exists. */
static inline void rig_until_kept(struct rig *rig, int n)
{
    for (int i = 0; i < RIG_TURNS && rig->n_kept < n; i++)
        loop_turn(rig->loop, false);
    CHECK_INT(rig->n_kept, n);
}

static inline void rig_until_connections(struct rig *rig, size_t n)
{
    for (int i = 0; i < RIG_TURNS && http_server_connections(rig->server) != n; i++)
        loop_turn(rig->loop, false);
    CHECK_INT(http_server_connections(rig->server), n);
}
