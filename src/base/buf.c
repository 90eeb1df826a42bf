#include "buf.h"
#include "mem.h"
#include "spare.h"
#include <stdarg.h>
#include <stdio.h>

enum { BUF_MIN = 256 };

char *buf_grow(struct buf *b, size_t more)
{
    size_t need = b->n + more;
    size_t cap = b->cap ? b->cap : BUF_MIN;

    while (cap < need)
        cap += cap / 2 + BUF_MIN;
    b->p = b->p ? mem_resize(b->p, cap) : spare_take(cap);
    b->cap = cap;
    return b->p + b->n;
}

/* What somebody else made the block of may be smaller than what is kept for its size, unless that
 * is its size. */
void buf_drop(struct buf *b)
{
    if (b->cap % SPARE_STEP == 0)
        spare_give(b->p, b->cap);
    else
        free(b->p);
}

void buf_vprintf(struct buf *b, const char *fmt, va_list args)
{
    va_list ap;
    size_t room = 128;
    int n;

    for (;;) {
        char *at = buf_reserve(b, room);

        va_copy(ap, args);
        n = vsnprintf(at, room, fmt, ap);
        va_end(ap);
        if (n < 0)
            return;
        if ((size_t)n < room)
            break;
        room = (size_t)n + 1;
    }
    b->n += (size_t)n;
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    buf_vprintf(b, fmt, ap);
    va_end(ap);
}

void buf_uint(struct buf *b, uint64_t v)
{
    char digits[20];
    size_t at = sizeof digits;

    do
        digits[--at] = (char)('0' + v % 10);
    while (v /= 10);
    buf_add(b, digits + at, sizeof digits - at);
}

void buf_consume(struct buf *b, size_t n)
{
    if (n < b->n)
        memmove(b->p, b->p + n, b->n - n);
    b->n -= n < b->n ? n : b->n;
}

void buf_flatten(struct buf *b, size_t from)
{
    const char *first = span_line_end(span_from(buf_span(b), from));

    if (!first)
        return;
    for (char *p = b->p + (first - b->p); p < b->p + b->n; p++)
        if (*p == '\n' || *p == '\r')
            *p = ' ';
}

void buf_shrink(struct buf *b, size_t keep)
{
    if (b->n == 0 && b->cap > keep)
        buf_done(b);
}

const char *buf_cstr(struct buf *b)
{
    *buf_reserve(b, 1) = '\0';
    return b->p;
}

char *buf_take(struct buf *b)
{
    char *p;

    buf_cstr(b);
    p = b->p;
    *b = (struct buf){ 0 };
    return p;
}
