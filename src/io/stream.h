/* stream.h - bytes in and out of a descriptor: pipe, socket, terminal or plain file.
 *
 * Writing: what the descriptor takes at once is written at once, the rest is queued (copied); from
 * the second write of a turn on, small ones are put together and leave at its end. Past
 * STREAM_QUEUE_HIGH queued bytes `stream_full()` is true and the producer should stop until the
 * `drain` event; past the stream's hard limit stream_write() fails with -PB_E_LIMIT and writes
 * nothing. SIGPIPE never happens; a reader that went away is an `error` event with PB_E_CLOSED (and
 * the stream_write() that noticed it, and all later ones, return the same). Only a stream that is
 * reading, or has bytes queued, keeps the loop alive.
 * Reading starts with stream_read(); each turn hands on at most what one read gave. */
#pragma once
#include "loop.h"

struct stream;

struct stream_events {
    void (*data)(void *ctx, struct span bytes);           /* borrowed until it returns */
    void (*eof)(void *ctx);                               /* no more data; writing may go on */
    void (*error)(void *ctx, const struct pb_error *err); /* reading or writing is over */
    void (*drain)(void *ctx); /* the queue fell below the high mark again */
    /* Where to read to, and how much at most; NULL: into the loop's own buffer. */
    char *(*room)(void *ctx, size_t *n);
};

/* Takes the descriptor: it is closed with the stream unless `keep_fd`. On failure it is still the
 * caller's. Works for every kind that stdin or stdout can be; files are read and written on the
 * worker pool. Events may be NULL one by one. A descriptor that must be kept gets its blocking mode
 * back when the stream closes. */
MUST_CHECK int stream_open(struct stream **out, struct pb_loop *l, int fd, bool keep_fd,
                           const struct stream_events *events, void *ctx, struct pb_error *err);
void stream_read(struct stream *s, bool on);
MUST_CHECK int stream_write(struct stream *s, const struct span *parts, size_t n,
                            struct pb_error *err);
size_t stream_queued(const struct stream *s);
bool stream_full(const struct stream *s);
void stream_set_hard_limit(struct stream *s, size_t bytes);
/* Everything queued is written, then the writing side is closed (kept fds are only flushed), then
 * fn runs; also when it failed or `timeout_ms` passed (0: no limit): `flushed` tells. */
typedef void stream_flushed_fn(void *ctx, bool flushed);
void stream_shutdown(struct stream *s, uint64_t timeout_ms, stream_flushed_fn *fn, void *ctx);
/* Drops what is queued; no event follows. s is freed later; fn (may be NULL) runs after. */
void stream_close(struct stream *s, loop_fn *fn, void *ctx);
