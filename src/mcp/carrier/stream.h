/* stream.h - an SSE stream to a client: events, and for legacy sessions the memory of them.
 *
 * A stream is attached to a connection, or waits for one: a legacy client that lost its connection
 * comes back with the id of the last event it saw, and gets what came after it. The events of a
 * resumable stream are numbered from 1; an event id is "<stream>-<event>", both in hex. What is
 * kept is bounded (MCP_REPLAY_*), for a stream and for all of them together: recall.h says
 * what goes first. Streams of the modern era have no ids and keep nothing.
 *
 * A reader that falls behind misses progress and logs, and hears how many: missed.h. If it
 * does not read at all the HTTP server cuts it off. */
#pragma once
#include "io/http/http.h"
#include "mcp/serve/serve.h"
#include "recall.h"
#include "seats.h"

struct carrier_stream;

/* What all streams of one listener share: one timer for the comments that keep connections open,
 * one bound for all that is kept, and one for the sessions that they belong to. */
struct carrier_streams {
    struct pb_loop *loop;
    struct list attached;
    size_t n_attached, beats_left; /* of this round of comments */
    struct list finished;          /* ended and kept for resumption, oldest first */
    size_t n_finished;
    struct recalls kept;
    size_t batched; /* bytes of answers that wait for the rest of their batch */
    struct seats seats;
    struct timer keepalive;
};

void carrier_streams_init(struct carrier_streams *set, struct pb_loop *l);
/* All sessions have ended by then. */
void carrier_streams_done(struct carrier_streams *set);

/* `no` names a resumable stream among those of its session; 0: not resumable. */
struct carrier_stream *carrier_stream_new(struct carrier_streams *set, uint32_t no);
/* Ends the connection if there is one; frees at once. */
void carrier_stream_free(struct carrier_stream *s);

/* Begins the response on r and makes it the stream's connection; another one is ended. `headers`:
 * more header lines, or NULL. `gone` runs when the client goes away or is cut off, never inside
 * another call here; the stream is detached then. */
void carrier_stream_attach(struct carrier_stream *s, struct http_request *r, const char *headers,
                           loop_fn *gone, void *ctx);
bool carrier_stream_attached(const struct carrier_stream *s);
/* Bytes that its client has not taken; past STREAM_QUEUE_HIGH it is full, and fn runs when it is
 * not any more. */
size_t carrier_stream_unread(const struct carrier_stream *s);
bool carrier_stream_full(const struct carrier_stream *s);
void carrier_stream_on_room(struct carrier_stream *s, loop_fn *fn, void *ctx);
/* Ends the connection but not the stream. */
void carrier_stream_detach(struct carrier_stream *s);

/* An event without data, whose id is that of the last one written: where to resume when nothing
 * comes after it. retry_ms 0: none. */
void carrier_stream_prime(struct carrier_stream *s, uint64_t retry_ms);
void carrier_stream_send(struct carrier_stream *s, enum send_kind kind, const struct span *parts,
                         size_t n);
/* An event of another type; never kept. */
void carrier_stream_event(struct carrier_stream *s, const char *type, struct span data);
/* Is everything kept, but for progress and logs, that came after event `after`; and was there such
 * an event? */
bool carrier_stream_keeps(const struct carrier_stream *s, uint64_t after);
/* Sends what was kept after it. */
void carrier_stream_replay(struct carrier_stream *s, uint64_t after);
/* The number of the last event that was written to a connection. */
uint64_t carrier_stream_seen(const struct carrier_stream *s);

/* No more messages; its connection ends, and whoever sent on it forgets it. A resumable stream is
 * kept for a client that missed the end, until others need its place; it stays in its owner's list
 * while it is kept. Others are freed. */
void carrier_stream_end(struct carrier_stream *s);
bool carrier_stream_ended(const struct carrier_stream *s);

uint32_t carrier_stream_no(const struct carrier_stream *s);
/* Both numbers of an event id; false when it is none of ours. */
bool carrier_stream_parse_id(struct span id, uint32_t *stream, uint64_t *event);
/* The link by which its owner finds it. */
struct list *carrier_stream_link(struct carrier_stream *s);
struct carrier_stream *carrier_stream_of(struct list *link);
