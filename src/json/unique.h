/* unique.h - does an object name a key twice? */
#pragma once
#include "tape.h"

enum unique_layout {
    UNIQUE_TAPED, /* keys and values alternate on the tape */
    UNIQUE_KEYS,  /* keys only, one after the other */
};

/* `first` is the entry of the first of n keys. Returns the entry of the first key that was there
 * before, or 0 (entry 0 is the root and never a key). Keys are the same if they decode to the
 * same bytes. Time is bounded: large objects go through a keyed hash. */
uint32_t unique_check(const struct json_doc *doc, uint32_t first, uint32_t n,
                      enum unique_layout layout);
