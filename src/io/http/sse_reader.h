/* sse_reader.h - the events of a response, as the HTTP client brings it. So many are handed on in a
 * turn (SSE_EVENTS_PER_TURN, SSE_LINES_PER_TURN); then the call is paused, and others get theirs.
 */
#pragma once
#include "http_client.h"
#include "sse.h"

struct sse_turn;

/* A zeroed one may be ended, too. */
struct sse_reader {
    struct sse_parser parser;
    struct sse_turn *turn;
    struct http_call **call;
};

/* `call` is where its owner keeps the call whose response it is; NULL there when it is over. */
void sse_reader_init(struct sse_reader *r, struct pb_loop *l, struct http_call **call, size_t limit,
                     void (*event)(void *ctx, const struct sse_event *e), void *ctx);
/* Not from inside an event. */
void sse_reader_done(struct sse_reader *r);
/* For the call's data event, which returns *taken. Errors as sse_feed_some(). */
MUST_CHECK int sse_reader_take(struct sse_reader *r, struct span bytes, size_t *taken,
                               struct pb_error *err);
