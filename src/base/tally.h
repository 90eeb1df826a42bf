/* tally.h - a sum of bytes that are in use. Whoever adds to it keeps it alive, so that what is let
 * go of late can still be taken off. Not atomic: it belongs to one thread. */
#pragma once
#include <stddef.h>

struct tally {
    unsigned refs;
    size_t bytes;
};

struct tally *tally_new(void);
struct tally *tally_ref(struct tally *t);
void tally_unref(struct tally *t);
