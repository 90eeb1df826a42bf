/* near.h - what somebody probably meant by a name that does not exist.
 *
 * A name is like a word when few letters are added, left out, changed or exchanged with their
 * neighbour: one, and one more for each five of the word; or when the word is only how it begins.
 * Case does not count. Looking at a name takes a step for each of its bytes, so that a miss can
 * look at very many; of what is longer than NEAR_CHARS_MAX only so much is compared. */
#pragma once
#include "buf.h"
#include "limits.h"
#include <stdint.h>

struct near {
    uint64_t of[256]; /* per byte, where it stands in the word */
    struct span word;
    struct span names[NEAR_NAMES_MAX]; /* the nearest so far; of equals those that came first */
    size_t unlike[NEAR_NAMES_MAX];
    size_t n;
};

/* The word, and every name that is kept, is borrowed. */
void near_init(struct near *near, struct span word);
/* How much it differs; SIZE_MAX: nobody meant it. */
size_t near_unlike(const struct near *near, struct span name);
/* Offers a name that differs so much, unless there are nearer ones. */
void near_keep(struct near *near, struct span name, size_t unlike);
/* Appends "; did you mean 'a', 'b' or 'c'?", or nothing. Returns whether there were any. */
bool near_write(const struct near *near, struct buf *out);
/* All at once: which of these (NULL-ended)? */
bool near_write_of(struct buf *out, struct span word, const char *const *names);
