/* sse.h - Server-Sent Events, both ways (WHATWG HTML, "event stream interpretation"). */
#pragma once
#include "base/base.h"

struct sse_event {
    struct span type; /* "message" when none was given */
    struct span data; /* lines joined by LF; may be empty: a priming event */
    struct span id;   /* the last event id seen so far, also on this stream before */
    bool has_id;      /* this event carried an id field */
};

/* Feed it chunks cut anywhere. Handles BOM, CR, LF, CRLF, comments, multi-line data, ids with NUL
 * (ignored), retry. `event` is called for each event that has data or an id. Events larger than
 * the limit, and types or ids larger than SSE_FIELD_ID_MAX: sse_feed_some() fails with -PB_E_LIMIT
 * and the parser must not be fed again. What is not finished when the stream ends is no event. The
 * bytes of a long data line are copied once; comments and unknown fields are not stored. */
struct sse_parser {
    struct buf line, data, type, id;
    size_t limit;
    size_t events;     /* handed on so far */
    uint64_t retry_ms; /* last valid `retry:` clamped to SSE_RETRY_MIN_MS..MAX_MS; 0: none yet */
    bool started, cr, has_data, has_id;
    bool data_line, skip_line;                           /* what the rest of the current line is */
    void (*event)(void *ctx, const struct sse_event *e); /* spans borrowed until it returns */
    void *ctx;
};

void sse_init(struct sse_parser *p, size_t limit,
              void (*event)(void *ctx, const struct sse_event *e), void *ctx);
void sse_done(struct sse_parser *p);
/* How much may be done: it is counted down. */
struct sse_share {
    size_t events, lines;
};
/* The same, but stops when the share is used up. *used: how many of the bytes were; all of them
 * after an error. */
MUST_CHECK int sse_feed_some(struct sse_parser *p, struct span chunk, struct sse_share *share,
                             size_t *used, struct pb_error *err);

/* Writing. Each NULL/empty part is left out; data is split at newlines. `data` comes in parts that
 * are concatenated (a JSON message never holds a newline, so nothing is copied twice). */
void sse_write(struct buf *out, const char *type, const char *id, const struct span *data,
               size_t n);
/* id and an empty data line, and retry if > 0: tells the client where to resume. */
void sse_write_priming(struct buf *out, const char *id, uint64_t retry_ms);
