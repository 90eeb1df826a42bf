/* spec_tails.h - a set of how words end, by their last three characters: a quick no for most that
 * are none of them. Not for what is decided on: case does not count, and other signs share a place
 * with letters. */
#pragma once
#include "base/base.h"

enum { TAIL_CHARS = 3, TAIL_BITS = 15 }; /* five bits of each */

struct tails {
    uint64_t bits[(1 << TAIL_BITS) / 64];
};

static inline unsigned tail_of(const char *end)
{
    return (unsigned)(end[-3] & 31) << 10 | (unsigned)(end[-2] & 31) << 5 |
           (unsigned)(end[-1] & 31);
}

static inline void tails_add(struct tails *t, struct span word)
{
    unsigned tail = tail_of(word.p + word.n);

    t->bits[tail / 64] |= UINT64_C(1) << tail % 64;
}

/* There are TAIL_CHARS bytes before `end`. */
static inline bool tails_have(const struct tails *t, const char *end)
{
    unsigned tail = tail_of(end);

    return t->bits[tail / 64] >> tail % 64 & 1;
}
