/* scan.h - finding the bytes of a string that need a look. Sixteen at a time where SSE2 is (all
 * x86-64), eight at a time elsewhere; the reader and the writer spend most of their time here. */
#pragma once
#include "base/base.h"
#ifdef __SSE2__
#    include <emmintrin.h>
#endif

/* Quotes, backslashes, control bytes and everything that is not ASCII. */
static inline bool scan_is_special(uint8_t c)
{
    return c < 0x20 || c >= 0x80 || c == '"' || c == '\\';
}

#ifdef __SSE2__
enum { SCAN_STEP = 16 };

/* One bit for each special byte of the 16 at p. */
static inline uint32_t scan_block(const uint8_t *p)
{
    __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
    /* signed: bytes from 0x80 on are negative, so they count as below 0x20 */
    __m128i low = _mm_cmplt_epi8(v, _mm_set1_epi8(0x20));
    __m128i quote = _mm_cmpeq_epi8(v, _mm_set1_epi8('"'));
    __m128i slash = _mm_cmpeq_epi8(v, _mm_set1_epi8('\\'));

    return (uint32_t)_mm_movemask_epi8(_mm_or_si128(low, _mm_or_si128(quote, slash)));
}

static inline const uint8_t *scan_first(const uint8_t *p, uint32_t bits)
{
    return p + __builtin_ctz(bits);
}
#else
enum { SCAN_STEP = 8 };

#    define SCAN_ONES  UINT64_C(0x0101010101010101)
#    define SCAN_HIGHS UINT64_C(0x8080808080808080)

static inline uint64_t scan_zero_bytes(uint64_t v) { return (v - SCAN_ONES) & ~v & SCAN_HIGHS; }

/* Not zero if one of the 8 bytes at p is special. */
static inline uint64_t scan_block(const uint8_t *p)
{
    uint64_t v;

    memcpy(&v, p, sizeof v);
    return (v & SCAN_HIGHS) | ((v - SCAN_ONES * 0x20) & ~v & SCAN_HIGHS) |
           scan_zero_bytes(v ^ SCAN_ONES * '"') | scan_zero_bytes(v ^ SCAN_ONES * '\\');
}

/* Borrows make the bits after the first match unreliable, and the byte order is the machine's:
 * the place is found byte by byte. */
static inline const uint8_t *scan_first(const uint8_t *p, uint64_t bits)
{
    (void)bits;
    while (!scan_is_special(*p))
        p++;
    return p;
}
#endif

/* The same for less than a step. */
static inline const uint8_t *scan_rest(const uint8_t *p, const uint8_t *end)
{
    uint8_t last[SCAN_STEP];
    __typeof__(scan_block(p)) bits;

    if (p == end)
        return end;
    memset(last, ' ', sizeof last);
    memcpy(last, p, (size_t)(end - p));
    bits = scan_block(last);
    return bits ? p + (scan_first(last, bits) - last) : end;
}

/* The first special byte at or after p, or end. */
static inline const uint8_t *scan_plain(const uint8_t *p, const uint8_t *end)
{
    __typeof__(scan_block(p)) bits;

    if (end - p < SCAN_STEP)
        return scan_rest(p, end);
    for (; end - p >= SCAN_STEP; p += SCAN_STEP) {
        bits = scan_block(p);
        if (bits)
            return scan_first(p, bits);
    }
    /* what is left, and a bit of what is known to be plain */
    bits = scan_block(end - SCAN_STEP);
    return bits ? scan_first(end - SCAN_STEP, bits) : end;
}

/* Is there a valid sequence of two, three or four bytes, its first four bytes in w, the first one
 * lowest? The masks hold the lead and continuation marks; what is then left of the first two
 * bytes tells overlong forms, surrogates and values past U+10FFFF. */
static inline bool scan_is_two(uint32_t w) { return (w & 0xC0E0) == 0x80C0 && (w & 0x1E); }

static inline bool scan_is_three(uint32_t w)
{
    uint32_t rest = w & 0x200F;

    return (w & 0xC0C0F0) == 0x8080E0 && rest != 0 && rest != 0x200D;
}

static inline bool scan_is_four(uint32_t w)
{
    uint32_t rest = w & 0x3007;

    return (w & 0xC0C0C0F8) == 0x808080F0 && rest != 0 && (!(rest & 4) || !(rest & 0x3003));
}

static inline uint32_t scan_load(const uint8_t *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* From a byte that is not ASCII to the next one that is, or to the end, or to one where the text
 * is not UTF-8. Sequences of one script come in runs: looking for the next special byte after
 * each of them would cost more than the sequence. */
static inline const uint8_t *scan_utf8(const uint8_t *p, const uint8_t *end)
{
    size_t n;

    while (end - p >= 4) {
        const uint8_t *from = p;

        for (; end - p >= 4 && scan_is_three(scan_load(p)); p += 3)
            ;
        for (; end - p >= 4 && scan_is_two(scan_load(p)); p += 2)
            ;
        for (; end - p >= 4 && scan_is_four(scan_load(p)); p += 4)
            ;
        if (p == from)
            return p;
    }
    for (; p < end && *p >= 0x80 && (n = utf8_length(p, end)) > 0; p += n)
        ;
    return p;
}
