/* needle.c - a literal text in many bytes. Two of its bytes that are rare in most texts are looked
 * for at once, sixteen or thirty-two places at a time; only where both are right the rest is
 * compared. */
#include "search_impl.h"
#ifdef __SSE2__
#    include <immintrin.h>
#endif

/* From frequent to rare, in source and prose; what is not in it is rarer still. */
static const char frequent[] =
    " etaoinsrlcdupmhgfbyvkw_x0\n.,-()1=;T:/*S\t\"'AECRqjINPLDO2zM>FB3<4568U79{}HVGW[]#&+YKXJ!Q\\Z|$%@?~^`";

static size_t frequency(unsigned char c)
{
    const char *at = c ? strchr(frequent, c) : NULL;

    return at ? (size_t)(at - frequent) : sizeof frequent;
}

static bool is_letter(char c) { return c >= 'a' && c <= 'z'; }

struct needle needle_of(struct span text, bool nocase)
{
    struct needle n = { .text = text, .nocase = nocase };

    for (size_t i = 1; i < text.n; i++)
        if (frequency((unsigned char)text.p[i]) > frequency((unsigned char)text.p[n.a]))
            n.a = i;
    n.b = n.a ? 0 : text.n - 1;
    for (size_t i = 0; i < text.n; i++)
        if (i != n.a && frequency((unsigned char)text.p[i]) > frequency((unsigned char)text.p[n.b]))
            n.b = i;
    if (n.a > n.b) {
        size_t a = n.a;

        n.a = n.b;
        n.b = a;
    }
    return n;
}

static bool is_here(const struct needle *n, const char *p)
{
    if (!n->nocase)
        return memcmp(p, n->text.p, n->text.n) == 0;
    for (size_t i = 0; i < n->text.n; i++)
        if ((p[i] | (is_letter(n->text.p[i]) ? 0x20 : 0)) != n->text.p[i])
            return false;
    return true;
}

static const char *find_slowly(const struct needle *n, const char *p, const char *last)
{
    for (; p <= last; p++)
        if (is_here(n, p))
            return p;
    return NULL;
}

#ifdef __SSE2__
/* The byte of the needle, and what makes an upper case letter a lower case one. */
static char bit_of(const struct needle *n, size_t at)
{
    return n->nocase && is_letter(n->text.p[at]) ? 0x20 : 0;
}

__attribute__((target("avx2"))) static const char *find_avx2(const struct needle *n, const char *p,
                                                             const char *last)
{
    const __m256i a = _mm256_set1_epi8(n->text.p[n->a]), b = _mm256_set1_epi8(n->text.p[n->b]);
    const __m256i low_a = _mm256_set1_epi8(bit_of(n, n->a));
    const __m256i low_b = _mm256_set1_epi8(bit_of(n, n->b));

    for (; p + 31 <= last; p += 32) {
        const __m256i x = _mm256_or_si256(_mm256_loadu_si256((const void *)(p + n->a)), low_a);
        const __m256i y = _mm256_or_si256(_mm256_loadu_si256((const void *)(p + n->b)), low_b);
        unsigned hits = (unsigned)_mm256_movemask_epi8(
            _mm256_and_si256(_mm256_cmpeq_epi8(x, a), _mm256_cmpeq_epi8(y, b)));

        for (; hits; hits &= hits - 1)
            if (is_here(n, p + __builtin_ctz(hits)))
                return p + __builtin_ctz(hits);
    }
    return find_slowly(n, p, last);
}

static const char *find_sse2(const struct needle *n, const char *p, const char *last)
{
    const __m128i a = _mm_set1_epi8(n->text.p[n->a]), b = _mm_set1_epi8(n->text.p[n->b]);
    const __m128i low_a = _mm_set1_epi8(bit_of(n, n->a)), low_b = _mm_set1_epi8(bit_of(n, n->b));

    for (; p + 15 <= last; p += 16) {
        const __m128i x = _mm_or_si128(_mm_loadu_si128((const void *)(p + n->a)), low_a);
        const __m128i y = _mm_or_si128(_mm_loadu_si128((const void *)(p + n->b)), low_b);
        unsigned hits =
            (unsigned)_mm_movemask_epi8(_mm_and_si128(_mm_cmpeq_epi8(x, a), _mm_cmpeq_epi8(y, b)));

        for (; hits; hits &= hits - 1)
            if (is_here(n, p + __builtin_ctz(hits)))
                return p + __builtin_ctz(hits);
    }
    return find_slowly(n, p, last);
}
#endif

const char *needle_find(const struct needle *n, struct span in)
{
    if (in.n < n->text.n)
        return NULL;
#ifdef __SSE2__
    return __builtin_cpu_supports("avx2") ? find_avx2(n, in.p, span_end(in) - n->text.n)
                                          : find_sse2(n, in.p, span_end(in) - n->text.n);
#else
    if (!n->nocase)
        return memmem(in.p, in.n, n->text.p, n->text.n);
    return find_slowly(n, in.p, span_end(in) - n->text.n);
#endif
}

/* Counted in a byte for each of eight places, as often as it can hold. */
size_t count_lines(struct span text)
{
    size_t n = 0, i = 0;

    for (; i + 8 <= text.n;) {
        uint64_t sum = 0;

        for (int k = 0; k < 255 && i + 8 <= text.n; k++, i += 8) {
            uint64_t w, x;

            memcpy(&w, text.p + i, 8);
            x = w ^ 0x0a0a0a0a0a0a0a0aull;
            /* the high bit of each byte that is 0, exactly */
            x = ~(((x & 0x7f7f7f7f7f7f7f7full) + 0x7f7f7f7f7f7f7f7full) | x |
                  0x7f7f7f7f7f7f7f7full);
            sum += x >> 7;
        }
        for (int k = 0; k < 64; k += 8)
            n += sum >> k & 0xff;
    }
    for (; i < text.n; i++)
        n += text.p[i] == '\n';
    return n;
}
