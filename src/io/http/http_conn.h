/* http_conn.h - what the files of the HTTP server share. Not for others: they use http_server.h.
 *
 *   http_server.c    listening, accepting, draining, closing
 *   http_conn.c      one connection: its states, reading, handing requests to the handler
 *   http_wait.c      the deadlines of all connections, with one timer
 *   http_out.c       writing and what cannot be written at once
 *   http_reply.c     answers: whole, streamed, and refusals
 *   http_request.c   what a handler may ask of a request */
#pragma once
#include "http1.h"
#include "http_server.h"
#include "io/io.h"
#include "io/loop_impl.h"

/* Each connection is in one of these lists of its server. A list has one duration, so it is in the
 * order of the deadlines without being sorted. */
enum http_wait {
    HTTP_WAIT_NONE, /* for an answer: the handler's time, not ours */
    HTTP_WAIT_HEAD,
    HTTP_WAIT_BODY,
    HTTP_WAIT_IDLE,
    HTTP_WAIT_STALL,
    HTTP_WAIT_LINGER,
    HTTP_WAIT_COUNT,
};

struct http_server {
    struct listener *listener;
    int fd; /* that it listens on */
    struct pb_loop *loop;
    http_handler *handler;
    http_admit *admit;
    void (*refusal)(struct buf *out, struct span path, int status, const char *why);
    void *ctx;
    size_t max_body, max_bodies, max_connections;
    size_t max_refusals;       /* connections past these: they are told so, more are just closed */
    struct tally *bodies;      /* memory that bodies of its requests take, until it is freed */
    size_t unread, max_unread; /* bytes that its clients have yet to take */
    size_t connections;        /* not closed yet */
    size_t handles;            /* whose memory libuv or the loop still holds */
    struct list waits[HTTP_WAIT_COUNT];
    struct timer timer; /* for the earliest deadline, or earlier */
    char *path;         /* of a Unix socket, to be removed; NULL: TCP */
    int port;
    bool draining, closing;
    bool shedding; /* too much is unread: somebody has to go at the end of the turn */
    loop_fn *closed;
    void *closed_ctx;
};

enum http_conn_state {
    CONN_IDLE,
    CONN_HEAD,
    CONN_BODY,
    CONN_ANSWER,
    CONN_FLUSH,
    CONN_LINGER,
    CONN_CLOSED,
    CONN_COUNT,
};

struct http_conn {
    uv_poll_t poll;
    int fd;
    int events;       /* what is polled for */
    struct list link; /* in server->waits */
    uint64_t due;
    struct http_server *server;
    struct http_request *req; /* being read or answered */
    struct sm state;
    struct buf held; /* sent ahead: what follows the request being answered */
    struct buf out;  /* written in this turn and not sent yet, or not taken by the socket */
    size_t out_at;   /* of it, sent already */
    size_t counted;  /* of the rest, in server->unread */
    bool blocked;    /* the socket takes no more: polled until it does */
    bool progressed; /* since the stall clock was started */
    uint8_t wait;    /* enum http_wait */
    bool fresh;      /* no request yet */
    bool paused;     /* enough was sent ahead */
    bool eof;
    bool close_after; /* this answer */
    bool broken;      /* nobody reads any more; closed at the end of the turn */
    bool full;        /* the stream passed the high mark and did not drain yet */
    bool more;        /* bytes of a next request are at hand: answers may be sent together */
    bool later;       /* conn_later() is under way: the memory must stay */
    bool freeable;    /* libuv has let go of it */
};

enum http_answer { ANSWER_NONE, ANSWER_STREAM, ANSWER_DONE };

struct http_request {
    struct http1 in;
    struct http_conn *conn; /* NULL: the client is gone */
    struct pb_loop *loop;
    struct http_field *fields; /* made when asked for */
    loop_fn *gone, *drain;
    size_t *counter;      /* it is counted here; NULL: nowhere */
    struct tally *bodies; /* of the server; outlives it */
    size_t counted;       /* of its body, in there */
    void *gone_ctx, *drain_ctx;
    uint8_t answer; /* enum http_answer */
    bool in_gone;   /* its gone callback runs, or is about to: that frees it */
    bool chunked;
    bool admitted;
};

/* http_server.c */
/* Frees a closed server when nothing holds it any more. */
void server_release(struct http_server *s);

/* http_conn.c */
void conn_open(struct http_server *s, int fd);
/* Gone callbacks run; then nothing follows. */
void conn_close(struct http_conn *c);
/* The answer is written or queued; the request is not there any more. */
void conn_answered(struct http_conn *c);
/* conn_go_on() at the end of this turn. */
void conn_later(struct http_conn *c);
/* All bytes that had to wait were sent. */
void conn_flushed(struct http_conn *c);
/* Polls for what the state asks for. */
void conn_poll(struct http_conn *c);

/* http_wait.c */
void wait_init(struct http_server *s);
void conn_wait(struct http_conn *c, enum http_wait w);
void wait_none_left(struct http_server *s);
/* The connection that has waited longest, or NULL. */
struct http_conn *wait_first(struct http_server *s, enum http_wait w);
/* What happens to the connection at its deadline; http_conn.c. */
void conn_expired(struct http_conn *c);

/* http_out.c */
/* Sends, or keeps until the end of the turn if `cork` and there is little of it. Copies what is not
 * sent at once. */
void conn_write(struct http_conn *c, const struct span *parts, size_t n, bool cork);
void conn_flush(struct http_conn *c);
/* The socket takes bytes again. */
void conn_writable(struct http_conn *c);
static inline size_t conn_queued(const struct http_conn *c) { return c->out.n - c->out_at; }

/* http_reply.c */
/* Refuses what is being read, and closes after that. */
void conn_refuse(struct http_conn *c, int status, const char *why);
void conn_continue(struct http_conn *c);

/* http_request.c */
struct http_request *http_request_new(struct http_conn *c);
void http_request_free(struct http_request *r);
/* Counts what its body takes now. */
void http_request_weigh(struct http_request *r);
/* The client is gone: tells the handler, or waits for its answer to drop it. */
void http_request_lost(struct http_request *r);
