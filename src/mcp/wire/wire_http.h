/* wire_http.h - what the two files of the Streamable HTTP wire share.
 *
 *   wire_http.c       the wire: sending, sessions, the end
 *   wire_exchange.c   one exchange: its response, as JSON or as a stream, and resuming that */
#pragma once
#include "io/http/http.h"
#include "mcp/rpc/rpc.h"
#include "wire.h"

struct http_wire {
    struct wire wire;
    struct http_client *http;
    char *session;              /* Mcp-Session-Id; NULL: none */
    const struct revision *rev; /* of the legacy handshake; NULL before it, and if modern */
    struct list exchanges;
    bool closing;
    loop_fn *closed;
    void *closed_ctx;
};

enum exchange_kind {
    EX_MESSAGE, /* POST of something that is no request */
    EX_REQUEST, /* POST of a request: answered with JSON or by a stream */
    EX_STREAM,  /* GET: what the server says by itself */
    EX_GOODBYE, /* DELETE of the session */
};

enum exchange_body { BODY_NONE, BODY_JSON, BODY_STREAM, BODY_ERROR };

struct wire_exchange {
    struct list link;
    struct http_wire *w;
    struct http_call *call; /* NULL while waiting to resume */
    enum exchange_kind kind;
    uint64_t id;
    bool initialize, modern;
    bool in_session; /* was sent with a session id */
    bool resuming;   /* the GET after a stream that ended too early */
    bool answered;   /* the client has what it wanted: only the end of the stream is awaited */
    bool held;       /* its body is not read for now */
    bool dead;

    int status;
    enum exchange_body body;
    struct buf text;
    struct sse_reader sse;
    struct buf challenge;
    struct buf detail;  /* for wire_http_fault() */
    struct buf last_id; /* of an event; empty: cannot be resumed */
    uint64_t retry_ms, began;
    unsigned tries;
    bool heard; /* an event came on this connection */
    struct timer timer;
};

struct wire_exchange *exchange_new(struct http_wire *w, enum exchange_kind kind);
/* Sends it; `m` is NULL for GET and DELETE. */
MUST_CHECK int exchange_send(struct wire_exchange *x, const struct wire_out *m,
                             struct pb_error *err);
/* No event follows; freed at the end of the turn. */
void exchange_end(struct wire_exchange *x);
/* The last exchange of a closing wire has ended. */
void http_wire_idle(struct http_wire *w);
