#include "http_conn.h"
#include <assert.h>
#include <errno.h>
#include <sys/socket.h>

/* idle -> (head -> (body ->)) answer -> (flush ->) idle
 *   |       |        |          |         |
 *   +-------+--------+----------+---------+--> linger -> closed, and from everywhere to closed
 *
 * A request that arrives whole skips head and body. In `answer` the handler has the request; in
 * `flush` its answer waits for the client to read. `linger`: the last answer is sent and our side
 * shut; what still comes is read and dropped, because closing a socket that has unread bytes makes
 * the kernel reset it, and the client may lose the answer. */
static void enter_idle(void *self);
static void enter_head(void *self) { conn_wait(self, HTTP_WAIT_HEAD); }
static void enter_body(void *self) { conn_wait(self, HTTP_WAIT_BODY); }
static void enter_answer(void *self) { conn_wait(self, HTTP_WAIT_NONE); }
static void enter_linger(void *self);

/* clang-format off */
#define TO(s) SM_BIT(CONN_##s)
static const struct sm_state states[] = {
    [CONN_IDLE]   = { "idle",   TO(HEAD) | TO(BODY) | TO(ANSWER) | TO(FLUSH) | TO(LINGER) | TO(CLOSED), enter_idle },
    [CONN_HEAD]   = { "head",   TO(BODY) | TO(ANSWER) | TO(FLUSH) | TO(LINGER) | TO(CLOSED),            enter_head },
    [CONN_BODY]   = { "body",   TO(ANSWER) | TO(FLUSH) | TO(LINGER) | TO(CLOSED),                       enter_body },
    [CONN_ANSWER] = { "answer", TO(IDLE) | TO(FLUSH) | TO(LINGER) | TO(CLOSED),                         enter_answer },
    [CONN_FLUSH]  = { "flush",  TO(IDLE) | TO(LINGER) | TO(CLOSED),                                     NULL },
    [CONN_LINGER] = { "linger", TO(CLOSED),                                                             enter_linger },
    [CONN_CLOSED] = { "closed", 0,                                                                      NULL },
};
/* clang-format on */
_Static_assert(ARRAY_LEN(states) == CONN_COUNT, "every state has a row");

static void enter_idle(void *self)
{
    struct http_conn *c = self;

    conn_wait(c, c->fresh ? HTTP_WAIT_HEAD : HTTP_WAIT_IDLE);
}

static void enter_linger(void *self)
{
    struct http_conn *c = self;

    shutdown(c->fd, SHUT_WR);
    buf_done(&c->held);
    c->paused = false;
    conn_poll(c);
    conn_wait(c, HTTP_WAIT_LINGER);
}

static void conn_move(struct http_conn *c, enum http_conn_state next)
{
    sm_move(&c->state, c, next);
}

static bool takes_requests(const struct http_conn *c) { return c->state.now <= CONN_BODY; }

static void release(struct http_conn *c)
{
    struct http_server *s = c->server;

    if (c->later || !c->freeable)
        return;
    buf_done(&c->held);
    buf_done(&c->out);
    free(c);
    s->handles--;
    server_release(s);
}

static void on_closed(uv_handle_t *h)
{
    struct http_conn *c = h->data;

    c->freeable = true;
    release(c);
}

void conn_close(struct http_conn *c)
{
    struct http_server *s = c->server;
    struct http_request *r = c->req;
    bool asked = c->state.now == CONN_ANSWER;

    if (c->state.now == CONN_CLOSED)
        return;
    conn_move(c, CONN_CLOSED);
    list_remove(&c->link);
    uv_poll_stop(&c->poll);
    uv_close((uv_handle_t *)&c->poll, on_closed);
    close(c->fd);
    s->unread -= c->counted;
    if (--s->connections == 0)
        wait_none_left(s);
    c->req = NULL;
    if (r && asked)
        http_request_lost(r);
    else if (r)
        http_request_free(r);
}

void conn_expired(struct http_conn *c)
{
    switch ((enum http_wait)c->wait) {
    case HTTP_WAIT_HEAD:
    case HTTP_WAIT_BODY:
        if (c->state.now == CONN_IDLE)
            conn_close(c); /* never said anything */
        else
            conn_refuse(c, 408, "The request did not come in time.");
        break;
    case HTTP_WAIT_STALL:
        if (c->progressed)
            conn_wait(c, HTTP_WAIT_STALL);
        else
            conn_close(c);
        c->progressed = false;
        break;
    default:
        conn_close(c);
    }
}

static void finish(struct http_conn *c)
{
    if (c->eof)
        conn_close(c);
    else
        conn_move(c, CONN_LINGER);
}

/* An unfinished request begins its wait only here, so one that came whole never waits. */
static void begin_wait(struct http_conn *c)
{
    if (!c->req || !takes_requests(c))
        return;
    if (c->req->in.phase == HTTP1_BODY && c->state.now != CONN_BODY)
        conn_move(c, CONN_BODY);
    else if (c->req->in.phase == HTTP1_HEAD && c->state.now == CONN_IDLE)
        conn_move(c, CONN_HEAD);
}

/* To where the queue being empty allows to go after an answer. */
static void next_request(struct http_conn *c)
{
    if (c->close_after) {
        finish(c);
        return;
    }
    conn_move(c, CONN_IDLE);
    begin_wait(c);
    if (c->held.n || c->eof)
        conn_later(c);
}

void conn_answered(struct http_conn *c)
{
    c->fresh = false;
    c->full = false;
    if (c->close_after)
        conn_flush(c);
    if (c->broken)
        conn_close(c);
    else if (c->blocked)
        conn_move(c, CONN_FLUSH);
    else
        next_request(c);
}

void conn_flushed(struct http_conn *c)
{
    if (c->state.now == CONN_FLUSH)
        next_request(c);
    else if (c->state.now == CONN_ANSWER)
        conn_wait(c, HTTP_WAIT_NONE);
}

/* Answers kept to be sent together. Until they are, no further request is taken. */
static void send_kept(struct http_conn *c)
{
    conn_flush(c);
    if (c->blocked && c->state.now == CONN_IDLE)
        conn_move(c, CONN_FLUSH);
}

static void hand_over(struct http_conn *c)
{
    struct http_server *s = c->server;

    c->close_after = !c->req->in.keep_alive || s->draining;
    conn_move(c, CONN_ANSWER);
    s->handler(s->ctx, c->req);
}

/* The head is complete and the body is not here. */
static void ask_admission(struct http_conn *c)
{
    struct http_server *s = c->server;
    struct http1 *h = &c->req->in;
    size_t max_body = h->max_body;
    bool close_after = c->close_after;

    c->close_after = true; /* if it is answered now */
    if (!s->admit(s->ctx, c->req, &max_body)) {
        assert(!c->req && "who does not admit a request answers it");
        return;
    }
    c->close_after = close_after;
    c->req->admitted = true;
    http1_limit_body(h, max_body);
}

/* Counts what has come; refuses it if all bodies together have become too much. */
static bool weighs_too_much(struct http_conn *c)
{
    http_request_weigh(c->req);
    if (c->req->in.body.n <= HTTP_BODY_SMALL || c->server->bodies->bytes <= c->server->max_bodies)
        return false;
    conn_refuse(c, 503, "Too many large requests are on their way; try again later.");
    return true;
}

/* More of a body came, or is to come; `rest` follows what was read of it. */
static void take_body(struct http_conn *c, struct span rest)
{
    struct http_request *r = c->req;
    bool here = !r->in.chunked && r->in.left <= rest.n;

    if (!r->admitted && !here && c->server->admit)
        ask_admission(c);
    if (!c->req || weighs_too_much(c))
        return;
    if (r->in.phase == HTTP1_BAD) {
        conn_refuse(c, r->in.status, r->in.why);
        return;
    }
    if (r->in.expects && !rest.n && !r->in.body.n)
        conn_continue(c);
    r->in.expects = false;
}

/* One step of reading a request; returns the bytes used. */
static size_t step(struct http_conn *c, struct span in)
{
    struct http1 *h;
    size_t used;

    if (!c->req)
        c->req = http_request_new(c);
    h = &c->req->in;
    used = http1_feed(h, in);
    c->more = used < in.n;
    switch ((enum http1_phase)h->phase) {
    case HTTP1_BAD:
        conn_refuse(c, h->status, h->why);
        break;
    case HTTP1_DONE:
        if (!weighs_too_much(c))
            hand_over(c);
        break;
    case HTTP1_BODY:
        take_body(c, span_from(in, used));
        break;
    case HTTP1_HEAD:
        break;
    }
    return used;
}

static size_t feed(struct http_conn *c, struct span in)
{
    size_t used = 0;
    int steps = HTTP_REQUESTS_PER_TURN * 2; /* a head and a body each */

    while (used < in.n && takes_requests(c) && !c->broken && steps-- > 0)
        used += step(c, span_from(in, used));
    c->more = false;
    if (takes_requests(c) && c->out.n)
        send_kept(c);
    begin_wait(c);
    return used;
}

static void pause_if_ahead(struct http_conn *c)
{
    bool paused = c->held.n >= HTTP_PIPELINE_BYTES_MAX;

    if (c->paused == paused)
        return;
    c->paused = paused;
    conn_poll(c);
}

static void hold(struct http_conn *c, struct span rest)
{
    if (c->state.now >= CONN_LINGER || c->close_after)
        return; /* whatever comes after the last request is no request */
    buf_add_span(&c->held, rest);
    pause_if_ahead(c);
    if (c->held.n && takes_requests(c))
        conn_later(c);
}

static void feed_held(struct http_conn *c)
{
    struct buf held = c->held;
    size_t used;

    c->held = (struct buf){ 0 };
    used = feed(c, buf_span(&held));
    if (c->state.now < CONN_LINGER && !c->close_after) {
        buf_consume(&held, used);
        c->held = held;
        buf_shrink(&c->held, 0);
        pause_if_ahead(c);
        if (c->held.n && takes_requests(c))
            conn_later(c);
    } else {
        buf_done(&held);
    }
}

static void go_on(void *ctx)
{
    struct http_conn *c = ctx;

    c->later = false;
    if (c->state.now == CONN_CLOSED) {
        release(c);
        return;
    }
    send_kept(c);
    if (c->broken) {
        conn_close(c);
        return;
    }
    if (c->held.n && takes_requests(c))
        feed_held(c);
    if (c->eof && (c->state.now == CONN_ANSWER || (takes_requests(c) && !c->held.n)))
        conn_close(c);
}

void conn_later(struct http_conn *c)
{
    if (c->later)
        return;
    c->later = true;
    loop_defer(c->server->loop, go_on, c);
}

/* Where to read to: an idle connection has no buffer of its own. */
static char *read_place(struct http_conn *c, size_t *room)
{
    char *place = NULL;

    *room = 0;
    if (c->state.now == CONN_BODY)
        place = http1_body_room(&c->req->in, room);
    if (*room)
        return place;
    *room = STREAM_READ_BYTES;
    if (c->held.n || c->state.now == CONN_ANSWER || c->state.now == CONN_FLUSH)
        *room = HTTP_PIPELINE_BYTES_MAX - c->held.n;
    return loop_read_buffer(c->server->loop, *room);
}

/* The end of what the client sends is taken for the end of the client: a connection that was shut
 * on one side only looks the same as one whose program has died, and a call that nobody waits for
 * should be cancelled. An answer that is complete is still sent, and so are the answers to whole
 * requests that came before the end. */
static void ended(struct http_conn *c)
{
    if (c->state.now == CONN_ANSWER || c->state.now == CONN_LINGER) {
        conn_close(c);
        return;
    }
    c->eof = true;
    conn_poll(c);
    if (c->state.now == CONN_FLUSH)
        c->close_after = c->close_after || !c->held.n;
    else if (c->held.n || c->out.n)
        conn_later(c);
    else
        conn_close(c);
}

static void on_bytes(struct http_conn *c, struct span in)
{
    size_t used = 0;

    if (c->state.now == CONN_LINGER)
        return;
    if (!c->held.n)
        used = feed(c, in);
    if (used < in.n)
        hold(c, span_from(in, used));
}

static void on_readable(struct http_conn *c)
{
    size_t room;
    char *place = read_place(c, &room);
    ssize_t n = recv(c->fd, place, room, 0);

    if (n > 0)
        on_bytes(c, span_make(place, (size_t)n));
    else if (n == 0)
        ended(c);
    else if (errno != EAGAIN && errno != EINTR)
        conn_close(c);
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
    struct http_conn *c = poll->data;

    loop_mark(c->server->loop, "HTTP connection");
    if (status < 0) {
        conn_close(c);
        return;
    }
    if (events & UV_WRITABLE)
        conn_writable(c);
    if ((events & UV_READABLE) && (c->events & UV_READABLE) && c->state.now != CONN_CLOSED)
        on_readable(c);
    else if ((events & UV_DISCONNECT) && c->state.now == CONN_ANSWER)
        conn_close(c);
}

void conn_poll(struct http_conn *c)
{
    int events = c->blocked ? UV_WRITABLE : 0;

    if (!c->paused && !c->eof)
        events |= UV_READABLE;
    else if (c->state.now == CONN_ANSWER && !c->eof)
        events |= UV_DISCONNECT; /* unread bytes must not hide that the client has left */
    if (events == c->events || c->state.now == CONN_CLOSED)
        return;
    c->events = events;
    if (events)
        uv_poll_start(&c->poll, events, on_poll);
    else
        uv_poll_stop(&c->poll);
}

void conn_open(struct http_server *s, int fd)
{
    struct http_conn *c = NEW(struct http_conn);
    bool room = s->connections < s->max_connections;

    c->server = s;
    c->fd = fd;
    c->state = (struct sm){ states, CONN_IDLE };
    c->fresh = true;
    list_init(&c->link);
    if (uv_poll_init(loop_uv(s->loop), &c->poll, fd) < 0) {
        close(fd);
        free(c);
        return;
    }
    c->poll.data = c;
    s->handles++;
    s->connections++;
    enter_idle(c);
    conn_poll(c);
    if (s->connections > s->max_connections + s->max_refusals)
        conn_close(c);
    else if (!room)
        conn_refuse(c, 503, "Too many connections; try again later.");
}
