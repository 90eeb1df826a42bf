/* unique.h - does an object name a key twice? */
#pragma once
#include "tape.h"

enum unique_layout {
    UNIQUE_TAPED, /* keys and values alternate on the tape */
    UNIQUE_KEYS,  /* keys only, one after the other */
};

/* One bit out of 64 for a key as it is written, between its quotes: keys with different bits are
 * different. Escapes hide what a key is, so one that has any may be each of them. */
static inline uint64_t unique_bit(struct span key, bool escaped)
{
    uint16_t first = 0, last = 0; /* two bytes each; a single one comes with a quote */

    if (escaped)
        return UINT64_MAX;
    if (key.n) {
        memcpy(&first, key.p, sizeof first);
        memcpy(&last, key.p + key.n - sizeof last, sizeof last);
    }
    return UINT64_C(1) << (((first | (uint64_t)last << 16 | (uint64_t)key.n << 32) *
                            UINT64_C(0x9E3779B97F4A7C15)) >>
                           58);
}

/* `first` is the entry of the first of n keys. Returns the entry of the first key that was there
 * before, or 0 (entry 0 is the root and never a key). Keys are the same if they decode to the
 * same bytes. Time is bounded: large objects go through a keyed hash. */
uint32_t unique_check(const struct json_doc *doc, uint32_t first, uint32_t n,
                      enum unique_layout layout);
