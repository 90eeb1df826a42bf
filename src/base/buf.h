/* buf.h - owned bytes that grow. A zeroed struct buf is empty and valid; p may be NULL then.
 * The bytes are not terminated unless buf_cstr() was asked for. */
#pragma once
#include "macros.h"
#include "span.h"
#include <stdarg.h>
#include <stdlib.h>

struct buf {
    char *p;
    size_t n, cap;
};

#define AUTO_BUF __attribute__((cleanup(buf_done)))

void buf_drop(struct buf *b); /* gives its memory back; for buf_done() */
/* Inline, because most of those that a function has for the rare case stay empty. */
static inline void buf_done(struct buf *b)
{
    if (b->p)
        buf_drop(b);
    *b = (struct buf){ 0 };
}
/* The same bytes for another owner; b is empty then. */
static inline struct buf buf_move(struct buf *b)
{
    struct buf moved = *b;

    *b = (struct buf){ 0 };
    return moved;
}
/* buf_reserve() when there is no room yet. */
char *buf_grow(struct buf *b, size_t more);
void buf_printf(struct buf *b, const char *fmt, ...) PRINTF(2, 3);
void buf_vprintf(struct buf *b, const char *fmt, va_list ap) PRINTF(2, 0);
/* A number in decimal digits: a small part of what buf_printf() costs. */
void buf_uint(struct buf *b, uint64_t v);
/* Drops the first n bytes. */
void buf_consume(struct buf *b, size_t n);
/* Makes one line of the bytes from `from` on: each CR and LF becomes a space. In JSON they can only
 * be white space between tokens, and some readers end a line at either. */
void buf_flatten(struct buf *b, size_t from);
/* Gives memory back when the buffer is empty and larger than `keep`. */
void buf_shrink(struct buf *b, size_t keep);
/* Terminates (the NUL is not counted) and returns the bytes, still owned by b. */
const char *buf_cstr(struct buf *b);
/* Terminates, hands the bytes to the caller, and leaves b empty. */
char *buf_take(struct buf *b);

/* Room for `more` bytes behind n; returns where they start. */
static inline char *buf_reserve(struct buf *b, size_t more)
{
    return b->p && more <= b->cap - b->n ? b->p + b->n : buf_grow(b, more);
}

/* Inline, as are those below: a message is put together from many short parts, and of a literal
 * the length is known when it is compiled. */
static inline void buf_add(struct buf *b, const void *p, size_t n)
{
    if (!n)
        return;
    memcpy(buf_reserve(b, n), p, n);
    b->n += n;
}

static inline void buf_add_span(struct buf *b, struct span s) { buf_add(b, s.p, s.n); }

static inline void buf_str(struct buf *b, const char *s) { buf_add(b, s, strlen(s)); }

static inline void buf_byte(struct buf *b, char c)
{
    *buf_reserve(b, 1) = c;
    b->n++;
}

static inline struct span buf_span(const struct buf *b) { return (struct span){ b->p, b->n }; }
