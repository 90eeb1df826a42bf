/* batch.h - a JSON-RPC array as 2025-03-26 had it: split into messages, answered by one array.
 *
 * A transport embeds a struct batch in what it passes as `exchange` (or passes the batch), so that
 * it finds it again when the answers come. The batch is open while batch_receive() runs and while a
 * request of it runs. */
#pragma once
#include "mcp/rpc/rpc.h"
#include "peer.h"

struct batch {
    struct buf text; /* "[answer,answer" so far */
    size_t open;     /* requests that have not ended, and batch_receive() itself */
    size_t *sum;     /* counts the text, too; may be NULL ... */
    size_t counted;  /* ... of which so much was */
};

/* Why the array is refused as a whole, as words for -32600; NULL when it is fine. `r` is what the
 * session speaks; NULL when that is not agreed yet. */
const char *batch_refusal(const struct message *m, const struct revision *r);

/* Hands the elements to the peer in their order and frees the message. Elements that are no
 * messages, and `initialize`, which has no place in a batch, are answered here. Returns what
 * batch_ended() would. */
bool batch_receive(struct batch *b, struct peer *p, struct message *take_message,
                   const struct http_facts *facts, void *exchange);
/* Keeps one answer, to the request of this id; past RPC_BATCH_ANSWERS_MAX, or
 * past RPC_BATCHES_ANSWERS_MAX in *sum, an error instead. */
void batch_add(struct batch *b, struct span id, const struct span *parts, size_t n);
/* One request has ended; call it for each peer_ops.finished. True when it was the last: then
 * batch_finish(). */
bool batch_ended(struct batch *b);
/* The whole array; empty when nothing was to be answered. Borrowed until batch_done(). */
struct span batch_finish(struct batch *b);
void batch_done(struct batch *b);

/* For transports that have no exchanges: the batch itself is the exchange of its requests. A
 * refused one is answered by the peer. Returns the batch if it is over already, else NULL; either
 * way it ends with batch_finish() and batch_free(), now or when batch_ended() is true. *sum (which
 * must live so long; or NULL) is what all batches that are not over hold. */
struct batch *batch_begin(struct peer *p, struct message *take_message, size_t *sum);
void batch_free(struct batch *b);
