#include "chars.h"

enum { LONE = 0xFFFD };

static uint32_t hex4(const uint8_t *p)
{
    uint32_t v = 0;

    for (int i = 0; i < 4; i++) {
        uint8_t c = p[i];

        v = v << 4 | (uint32_t)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return v;
}

static int32_t shown(int32_t c) { return c >= 0xD800 && c <= 0xDFFF ? LONE : c; }

static int32_t unicode_escape(struct chars *c)
{
    uint32_t high = hex4(c->p), low;

    c->p += 4;
    if (high < 0xD800 || high > 0xDBFF || c->end - c->p < 6 || c->p[0] != '\\' || c->p[1] != 'u')
        return (int32_t)high;
    low = hex4(c->p + 2);
    if (low < 0xDC00 || low > 0xDFFF)
        return (int32_t)high;
    c->p += 6;
    return (int32_t)(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00));
}

static int32_t escape(struct chars *c)
{
    uint8_t kind = *c->p++;

    switch (kind) {
    case 'b':
        return '\b';
    case 'f':
        return '\f';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    case 'u':
        return unicode_escape(c);
    default:
        return kind; /* the quote, the slash, the backslash */
    }
}

int32_t chars_next(struct chars *c)
{
    uint32_t a, v;
    int more;

    if (c->p == c->end)
        return CHARS_END;
    a = *c->p++;
    if (a == '\\')
        return escape(c);
    if (a < 0x80)
        return (int32_t)a;
    more = a < 0xE0 ? 1 : a < 0xF0 ? 2 : 3;
    v = a & (0x3Fu >> more);
    while (more-- > 0)
        v = v << 6 | (*c->p++ & 0x3Fu);
    return (int32_t)v;
}

void chars_decode(struct buf *out, struct span inside)
{
    struct chars c = chars_of(inside);

    buf_reserve(out, inside.n);
    while (c.p < c.end) {
        const uint8_t *slash = memchr(c.p, '\\', (size_t)(c.end - c.p));

        buf_add(out, c.p, (size_t)((slash ? slash : c.end) - c.p));
        c.p = slash ? slash : c.end;
        if (slash)
            utf8_append(out, (uint32_t)chars_next(&c));
    }
}

bool chars_equal(struct span inside, struct span bytes)
{
    struct chars a = chars_of(inside), b = chars_of(bytes);

    /* `bytes` holds no escapes: a backslash in it is one, so it is not read by chars_next() */
    for (;;) {
        uint8_t utf8[4];
        struct buf one = { (char *)utf8, 0, sizeof utf8 };
        int32_t c = chars_next(&a);

        if (c == CHARS_END)
            return b.p == b.end;
        utf8_append(&one, (uint32_t)c);
        if ((size_t)(b.end - b.p) < one.n || memcmp(b.p, utf8, one.n) != 0)
            return false;
        b.p += one.n;
    }
}

bool chars_same(struct span inside_a, struct span inside_b)
{
    struct chars a = chars_of(inside_a), b = chars_of(inside_b);
    int32_t x, y;

    do {
        x = shown(chars_next(&a));
        y = shown(chars_next(&b));
    } while (x == y && x != CHARS_END);
    return x == y;
}

int chars_cmp(struct span inside_a, struct span inside_b)
{
    struct chars a = chars_of(inside_a), b = chars_of(inside_b);
    int32_t x, y;

    do {
        x = chars_next(&a);
        y = chars_next(&b);
    } while (x == y && x != CHARS_END);
    return (x > y) - (x < y);
}
