#include "buf.h"
#include "mem.h"
#include <stdarg.h>
#include <stdio.h>

enum { BUF_MIN = 256 };

void buf_done(struct buf *b)
{
    free(b->p);
    *b = (struct buf){ 0 };
}

char *buf_reserve(struct buf *b, size_t more)
{
    size_t need = b->n + more;

    if (need > b->cap || !b->p) {
        size_t cap = b->cap ? b->cap : BUF_MIN;

        while (cap < need)
            cap += cap / 2 + BUF_MIN;
        b->p = mem_resize(b->p, cap);
        b->cap = cap;
    }
    return b->p + b->n;
}

void buf_add(struct buf *b, const void *p, size_t n)
{
    if (!n)
        return;
    memcpy(buf_reserve(b, n), p, n);
    b->n += n;
}

void buf_add_span(struct buf *b, struct span s) { buf_add(b, s.p, s.n); }

void buf_str(struct buf *b, const char *s) { buf_add(b, s, strlen(s)); }

void buf_byte(struct buf *b, char c)
{
    *buf_reserve(b, 1) = c;
    b->n++;
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
    va_list ap;
    size_t room = 128;
    int n;

    for (;;) {
        char *at = buf_reserve(b, room);

        va_start(ap, fmt);
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

void buf_consume(struct buf *b, size_t n)
{
    if (n < b->n)
        memmove(b->p, b->p + n, b->n - n);
    b->n -= n < b->n ? n : b->n;
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
