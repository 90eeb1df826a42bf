/* front.h - what every HTTP listener has in front of its routes: a guard, and one bound on what is
 * kept for all its streams. And its end: nobody new, then the answers, then the connections. */
#pragma once
#include "guard.h"
#include "io/http/http.h"
#include "stream.h"

struct front_options {
    struct http_server_options http; /* refusal NULL: JSON-RPC errors */
    struct guard_options guard;      /* host and port are those of http */
    /* Refuses to listen for others than this machine without a token, and says this to do; NULL:
     * only warns of it. */
    const char *must_guard;
};

struct front {
    struct pb_loop *loop;
    struct http_server *http;
    struct guard *guard;
    struct carrier_streams streams;

    struct timer look; /* at the connections that are left */
    uint64_t until;
    loop_fn *fn; /* what is next; NULL: nothing is waited for */
    void *ctx;
};

/* On failure nothing is left of it. */
MUST_CHECK int front_open(struct front *f, struct pb_loop *l, const struct front_options *o,
                          struct pb_error *err);
/* Nobody new; those who are being answered leave when they are. */
void front_drain(struct front *f);
/* fn, not from in here, when all have left, or MCP_FLUSH_MS are over. front_close() calls it off.
 */
void front_flush(struct front *f, loop_fn *fn, void *ctx);
/* Cuts off whoever is left; fn when f may be freed. What used its streams is gone before. */
void front_close(struct front *f, loop_fn *fn, void *ctx);

/* The body of an answer that the HTTP server gives by itself. */
void front_write_refusal(struct buf *out, struct span path, int status, const char *why);
