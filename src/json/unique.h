/* unique.h - does an object name a key twice? */
#pragma once
#include "tape.h"

enum unique_layout {
    UNIQUE_TAPED, /* keys and values alternate on the tape */
    UNIQUE_KEYS,  /* keys only, one after the other */
};

/* One bit out of 64 for a key as it is written: keys with different bits are different. Escapes
 * hide what a key is, so one that has any may be each of them. */
static inline uint64_t unique_bit(struct span key, bool escaped)
{
    uint64_t ends = 0;

    if (escaped)
        return UINT64_MAX;
    if (key.n)
        ends = (uint8_t)key.p[0] | (uint64_t)(uint8_t)key.p[key.n / 2] << 8 |
               (uint64_t)(uint8_t)key.p[key.n - 1] << 16 | (uint64_t)key.n << 24;
    return UINT64_C(1) << (ends * UINT64_C(0x9E3779B97F4A7C15) >> 58);
}

/* `first` is the entry of the first of n keys. Returns the entry of the first key that was there
 * before, or 0 (entry 0 is the root and never a key). Keys are the same if they decode to the
 * same bytes. Time is bounded: large objects go through a keyed hash. */
uint32_t unique_check(const struct json_doc *doc, uint32_t first, uint32_t n,
                      enum unique_layout layout);
