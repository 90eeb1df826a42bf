/* tally.h - a sum of bytes that are in use. Whoever adds to it keeps it alive, so that what is let
 * go of late can still be taken off. Any thread may take off and let go. */
#pragma once
#include <stdatomic.h>
#include <stddef.h>

struct tally {
    _Atomic unsigned refs;
    _Atomic size_t bytes;
};

struct tally *tally_new(void);
struct tally *tally_ref(struct tally *t);
void tally_unref(struct tally *t);
