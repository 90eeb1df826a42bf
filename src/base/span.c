#include "span.h"
#ifdef __SSE2__
#    include <emmintrin.h>
#endif

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c; }

/* Not strncasecmp(): in a Turkish locale "I" and "i" are different letters to it. */
bool span_is_nocase(struct span a, const char *s)
{
    size_t i = 0;

    while (i < a.n && s[i] && (a.p[i] == s[i] || lower(a.p[i]) == lower(s[i])))
        i++;
    return i == a.n && !s[i];
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

/* Looks at sixteen places at once: both the first and the last byte must be right. Returns where it
 * stopped; *found tells why. */
static size_t find_wide(struct span s, struct span what, bool *found)
{
    const __m128i first = _mm_set1_epi8(what.p[0]), last = _mm_set1_epi8(what.p[what.n - 1]);
    size_t at = 0;

    for (; at + what.n - 1 + STRIDE <= s.n; at += STRIDE) {
        const __m128i a = _mm_loadu_si128((const void *)(s.p + at));
        const __m128i b = _mm_loadu_si128((const void *)(s.p + at + what.n - 1));
        unsigned hits = (unsigned)_mm_movemask_epi8(
            _mm_and_si128(_mm_cmpeq_epi8(a, first), _mm_cmpeq_epi8(b, last)));

        for (; hits; hits &= hits - 1) {
            size_t i = at + (size_t)__builtin_ctz(hits);

            if (memcmp(s.p + i, what.p, what.n) == 0) {
                *found = true;
                return i;
            }
        }
    }
    return at;
}
#endif

/* Piece by piece: the second look finds in the cache what the first one brought there, and a text
 * that is full of the one is not searched to its end for the other at each of them. */
const char *span_line_end(struct span s)
{
    enum { PIECE = 1024 };

    while (s.n) {
        size_t n = s.n < PIECE ? s.n : PIECE;
        const char *lf = memchr(s.p, '\n', n);
        const char *cr = memchr(s.p, '\r', lf ? (size_t)(lf - s.p) : n);

        if (cr || lf)
            return cr ? cr : lf;
        s = span_from(s, n);
    }
    return NULL;
}

bool span_has(struct span s, struct span what)
{
    size_t at = 0;
    bool found = false;

    if (!what.n)
        return true;
    if (s.n < what.n)
        return false;
#ifdef __SSE2__
    at = find_wide(s, what, &found);
#endif
    return found || memmem(s.p + at, s.n - at, what.p, what.n);
}
