/* lines.h - newline-delimited messages out of chunks, with a bound that holds while buffering.
 *
 * A complete line inside a chunk is handed on without a copy. Lines are trimmed of white space at
 * both ends; empty ones are skipped. A line longer than the limit is never stored: its first
 * REQUEST_ID_PEEK bytes are kept, the rest is counted and dropped up to its newline, and then
 * `oversize` is called once. The limit counts the line with its newline. */
#pragma once
#include "base/base.h"

struct lines_events {
    /* Return false to stop: the rest stays buffered for lines_resume(). */
    bool (*line)(void *ctx, struct span line); /* borrowed until it returns */
    bool (*oversize)(void *ctx, struct span head, uint64_t total);
};

struct lines {
    struct buf held; /* an unfinished line, or lines not handed on yet */
    size_t start;    /* bytes of `held` handed on already */
    struct buf *own; /* while a line is handed on that has a buffer of its own: that */
    size_t limit;
    uint64_t skipping; /* size so far of a line that is too long; 0: none */
    const struct lines_events *events;
    void *ctx;
    bool stopped, ended, done;
};

void lines_init(struct lines *l, size_t limit, const struct lines_events *events, void *ctx);
/* Also from inside a handler: then it is the last one that runs. */
void lines_done(struct lines *l);
void lines_feed(struct lines *l, struct span chunk);
/* Where the next chunk of a long line is best read to, or NULL: anywhere. What lies there when it
 * is fed is not copied. Good until the next call. */
char *lines_room(struct lines *l, size_t *n);
/* For a handler: its line to keep. A long one that came in several chunks is not copied but takes
 * its buffer along, and the line it was given is then that of the blob. */
struct blob *lines_keep(struct lines *l, struct span line);
/* Goes on after a handler returned false. */
void lines_resume(struct lines *l);
bool lines_stopped(const struct lines *l);
/* End of input: a last line without newline is handed on like any other. */
void lines_end(struct lines *l);
