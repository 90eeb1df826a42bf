/* words.h - the stderr of a child as lines: each cut at CHILD_STDERR_LINE_MAX, the last
 * CHILD_STDERR_KEEP remembered. A zeroed struct words is valid. */
#pragma once
#include "base/base.h"

typedef void words_fn(void *ctx, struct span line);

struct words {
    struct buf line; /* not complete yet */
    bool cut;        /* the rest of it is dropped */
    struct buf kept[CHILD_STDERR_KEEP];
    size_t count; /* lines ever; the newest is kept[(count - 1) % CHILD_STDERR_KEEP] */
};

/* Returns how many of the bytes it has used: those of `max_lines` lines, or all. */
size_t words_feed(struct words *w, struct span bytes, size_t max_lines, words_fn *fn, void *ctx);
/* A last line without a newline is a line. */
void words_end(struct words *w, words_fn *fn, void *ctx);
void words_join(const struct words *w, struct buf *out);
void words_done(struct words *w);
