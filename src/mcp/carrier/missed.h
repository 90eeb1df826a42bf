/* missed.h - progress and log messages that a client missed because it did not keep up.
 *
 * Past the mark at which a producer should stop (STREAM_QUEUE_HIGH) what only tells of how things
 * go is not sent. The client hears how much that was as soon as it has room again, if it hears
 * warnings at all; questions and changes are always sent. So are answers, unless more waits for the
 * client than can be kept (STREAM_QUEUE_HARD): then an error comes in the place of the answer. */
#pragma once
#include "mcp/serve/serve.h"

struct missed {
    uint64_t n;
    bool owed; /* the client is to be told */
};

/* True: this message is not to be sent, and counted. `full`: the client is behind. */
bool missed_drop(struct missed *m, enum send_kind kind, bool full);
/* Appends what the client is to be told, one whole message; nothing when it is not. */
void missed_tell(struct missed *m, struct buf *out);

/* An answer of n bytes for a client that `waiting` bytes wait for already: what goes out instead if
 * it cannot be kept, written to `room`; p == NULL: nothing does. */
struct span missed_answer(struct buf *room, const struct request *about, size_t n, size_t waiting);
