#include "span.h"
#ifdef __SSE2__
#    include <emmintrin.h>
#endif

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c; }

/* Not strncasecmp(): in a Turkish locale "I" and "i" are different letters to it. */
bool span_eq_nocase(struct span a, struct span b)
{
    size_t i = 0;

    while (i < a.n && i < b.n && lower(a.p[i]) == lower(b.p[i]))
        i++;
    return i == a.n && i == b.n;
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

struct span span_trim(struct span a)
{
    while (a.n && is_blank(a.p[0]))
        a = span_from(a, 1);
    while (a.n && is_blank(a.p[a.n - 1]))
        a.n--;
    return a;
}

int span_cmp(struct span a, struct span b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int c = n ? memcmp(a.p, b.p, n) : 0;

    if (c)
        return c;
    return a.n < b.n ? -1 : a.n > b.n;
}

#ifdef __SSE2__
enum { STRIDE = 16 };

/* Is it at one of the sixteen places from p on? Its first and its last byte must be right. */
static bool is_at(const char *p, struct span what)
{
    const __m128i first = _mm_set1_epi8(what.p[0]), last = _mm_set1_epi8(what.p[what.n - 1]);
    const __m128i a = _mm_loadu_si128((const void *)p);
    const __m128i b = _mm_loadu_si128((const void *)(p + what.n - 1));
    unsigned hits = (unsigned)_mm_movemask_epi8(
        _mm_and_si128(_mm_cmpeq_epi8(a, first), _mm_cmpeq_epi8(b, last)));

    for (; hits; hits &= hits - 1)
        if (memcmp(p + __builtin_ctz(hits), what.p, what.n) == 0)
            return true;
    return false;
}
#endif

#ifdef __SSE2__
/* Of the sixteen bytes at p, those that end a line, one bit each. */
static unsigned line_ends(const char *p)
{
    const __m128i v = _mm_loadu_si128((const void *)p);

    return (unsigned)_mm_movemask_epi8(_mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('\n')),
                                                    _mm_cmpeq_epi8(v, _mm_set1_epi8('\r'))));
}
#endif

/* Of a long text piece by piece: the second look finds in the cache what the first one brought
 * there, and a text that is full of the one is not searched to its end for the other at each of
 * them. */
static const char *line_end_of_long(struct span *s)
{
    enum { PIECE = 1024 };

    for (; s->n >= PIECE; *s = span_from(*s, PIECE)) {
        const char *lf = memchr(s->p, '\n', PIECE);
        const char *cr = memchr(s->p, '\r', lf ? (size_t)(lf - s->p) : PIECE);

        if (cr || lf)
            return cr ? cr : lf;
    }
    return NULL;
}

const char *span_line_end(struct span s)
{
    const char *found = line_end_of_long(&s);
    size_t at = 0;

    if (found)
        return found;
#ifdef __SSE2__
    for (; at + STRIDE <= s.n; at += STRIDE) {
        unsigned hits = line_ends(s.p + at);

        if (hits)
            return s.p + at + __builtin_ctz(hits);
    }
    if (at && at < s.n) { /* what is left, and a bit of what is known to have none */
        unsigned hits = line_ends(s.p + s.n - STRIDE);

        return hits ? s.p + s.n - STRIDE + __builtin_ctz(hits) : NULL;
    }
#endif
    for (; at < s.n; at++)
        if (s.p[at] == '\n' || s.p[at] == '\r')
            return s.p + at;
    return NULL;
}

bool span_has(struct span s, struct span what)
{
    if (!what.n)
        return true;
    if (s.n < what.n)
        return false;
#ifdef __SSE2__
    if (s.n >= what.n - 1 + STRIDE) {
        size_t last = s.n - (what.n - 1) - STRIDE, at = 0;

        for (; at < last; at += STRIDE)
            if (is_at(s.p + at, what))
                return true;
        return is_at(s.p + last, what);
    }
#endif
    return memmem(s.p, s.n, what.p, what.n);
}
