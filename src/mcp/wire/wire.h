/* wire.h - the seam between a client session and what carries its messages.
 *
 * A wire knows bytes, processes, sockets and HTTP; the client knows JSON-RPC. The client numbers
 * its requests. A wire says to which of them a message belongs, when it can know: over HTTP each
 * request has an answer stream of its own. All on the loop's thread. No event runs inside a call of
 * the client.
 *
 *   wire_stdio.c    to a child process
 *   wire_socket.c   over a connected descriptor
 *   wire_sse.c      HTTP+SSE of the first revision
 *   wire_memory.c   to a server of this process */
#pragma once
#include "io/io.h"
#include "mcp/rpc/rpc.h"

struct wire;

enum wire_kind { WIRE_STDIO, WIRE_MEMORY, WIRE_HTTP, WIRE_SSE };

struct wire_out {
    uint64_t id;                /* ours; 0: nobody wants to hear what becomes of it */
    const char *method;         /* NULL: an answer to a question */
    bool request;               /* a message with this id is awaited */
    bool modern;                /* a broken stream is not resumed */
    struct span text;           /* one whole message; borrowed */
    const char *const *headers; /* HTTP: more lines, ended by NULL; may be NULL */
};

struct wire_fault {
    struct pb_error err;
    int status;          /* of HTTP; 0: there was no answer at all */
    bool session_lost;   /* the server has forgotten our session; it did not execute the message */
    bool speaks_old_sse; /* it answered like a server of HTTP+SSE */
    struct span challenge; /* WWW-Authenticate; p == NULL when absent */
};

struct wire_events {
    /* Only for wires that were not `ready` when they were opened. */
    void (*opened)(void *ctx);
    /* `about`: the request on whose stream it came, else 0. status: of HTTP, else 0. */
    void (*message)(void *ctx, struct blob *bytes, uint64_t about, int status);
    /* One message too large to be kept, its first bytes and its size. */
    void (*oversize)(void *ctx, struct span head, uint64_t total);
    /* Message `id` got through (wires with `acks`, messages that are no requests). */
    void (*delivered)(void *ctx, uint64_t id);
    /* There will be no answer to request `id`, or message `id` did not get through. */
    void (*failed)(void *ctx, uint64_t id, const struct wire_fault *fault);
    void (*stderr_line)(void *ctx, struct span line);
    /* All is over, by itself. Last event; the wire still has to be closed. */
    void (*closed)(void *ctx, const struct wire_fault *fault);
};

enum wire_drop { WIRE_ANSWERED, WIRE_ABANDONED };

struct wire_ops {
    enum wire_kind kind;
    bool acks; /* tells by `delivered` when a notification has arrived */
    /* -PB_E_BUSY when the other side does not read and the queue is full. */
    int (*send)(struct wire *w, const struct wire_out *m, struct pb_error *err);
    /* Request `id` is over for the client. May be NULL; so may the following. */
    void (*drop)(struct wire *w, uint64_t id, enum wire_drop why);
    /* The legacy handshake gave this revision. */
    void (*agreed)(struct wire *w, const struct revision *rev);
    /* Open the stream for what the server says by itself. */
    void (*listen)(struct wire *w);
    /* Nothing is read from the server while it is held: who waits for its answers cannot take
     * them. The same again changes nothing. */
    void (*hold)(struct wire *w, bool on);
    /* The same for the answer to request `id` alone, where each has a way of its own. */
    void (*hold_answer)(struct wire *w, uint64_t id, bool on);
    /* Forget session and revision: a new handshake follows. */
    void (*reset)(struct wire *w);
    pid_t (*pid)(const struct wire *w);
    void (*last_words)(const struct wire *w, struct buf *out);
    /* No event follows; frees; fn runs when all is closed. */
    void (*close)(struct wire *w, loop_fn *fn, void *ctx);
};

/* The head of every wire. */
struct wire {
    const struct wire_ops *ops;
    const struct wire_events *events;
    void *ctx;
    struct pb_loop *loop;
    const struct pb_client_options *opts; /* the client's copy; lives longer than the wire */
    bool ready;                           /* messages may be sent */
};

/* All strings of opts stay the caller's and must outlive the wire. */
typedef int wire_open_fn(struct wire **out, struct pb_loop *l, const struct pb_client_options *opts,
                         const struct wire_events *events, void *ctx, struct pb_error *err);
wire_open_fn wire_stdio_open, wire_memory_open, wire_socket_open, wire_http_open, wire_sse_open;

/* Is it too much for a server that has not read `queued` bytes yet? */
bool wire_queue_full(size_t queued, const struct wire_out *m);

/* What a refusing HTTP status means, as a fault. `detail`: where a redirect leads, or the type of an
 * answer that is none; empty: not known. */
void wire_http_fault(struct wire_fault *out, int status, struct span detail);
