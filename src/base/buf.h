/* buf.h - owned bytes that grow. A zeroed struct buf is empty and valid; p may be NULL then.
 * The bytes are not terminated unless buf_cstr() was asked for. */
#pragma once
#include "macros.h"
#include "span.h"

struct buf {
    char *p;
    size_t n, cap;
};

#define AUTO_BUF __attribute__((cleanup(buf_done)))

void buf_done(struct buf *b);
/* Room for `more` bytes behind n; returns where they start. */
char *buf_reserve(struct buf *b, size_t more);
void buf_add(struct buf *b, const void *p, size_t n);
void buf_add_span(struct buf *b, struct span s);
void buf_str(struct buf *b, const char *s);
void buf_byte(struct buf *b, char c);
void buf_printf(struct buf *b, const char *fmt, ...) PRINTF(2, 3);
/* Drops the first n bytes. */
void buf_consume(struct buf *b, size_t n);
/* Gives memory back when the buffer is empty and larger than `keep`. */
void buf_shrink(struct buf *b, size_t keep);
/* Terminates (the NUL is not counted) and returns the bytes, still owned by b. */
const char *buf_cstr(struct buf *b);
/* Terminates, hands the bytes to the caller, and leaves b empty. */
char *buf_take(struct buf *b);

static inline struct span buf_span(const struct buf *b) { return (struct span){ b->p, b->n }; }
