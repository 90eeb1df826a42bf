/* memory.h - a client and a server in one process, without a descriptor between them.
 *
 * Both live on the server's loop, and everything here is for its thread. What one side sends, the
 * other gets in order, never inside the call that sent it. A queue is bounded (MCP_MEMORY_*): a
 * side that sends more than the other can take ends the connection. */
#pragma once
#include "base/base.h"

struct pb_server;
struct memory_end; /* the client's end */

struct memory_events {
    void (*message)(void *ctx, struct span message); /* borrowed until it returns */
    void (*closed)(void *ctx); /* by the server, or because a queue was full; last event */
};

/* -PB_E_CLOSED when the server is stopping. */
MUST_CHECK int memory_connect(struct pb_server *s, struct memory_end **out_client_end,
                              const struct memory_events *events, void *ctx, struct pb_error *err);
/* One message in parts; copied. */
void memory_send(struct memory_end *e, const struct span *parts, size_t n);
/* Ends the connection if it is still there, and frees; no event follows. Exactly once, also after
 * `closed`. */
void memory_close(struct memory_end *e);
