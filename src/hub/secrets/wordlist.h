/* wordlist.h - texts that must not be shown, in every way to write them, each once. */
#pragma once
#include "base/base.h"

/* Never changes once it is there, so that others may read it meanwhile. */
struct known_word {
    uint32_t n;
    uint32_t least; /* a run of so many of its bytes is hidden; n: only the whole */
    char text[];
};

/* A zeroed one with bounds is empty and valid. */
struct wordlist {
    struct known_word **v;
    size_t n, cap, bytes;
    size_t n_max, bytes_max;
    uint32_t *seen; /* open addressing into v, by text; 0: empty */
    size_t seen_n;
    bool escaped; /* one of the secrets looks different in each string around it */
    bool full;    /* past a bound: whoever asks hides everything */
};

/* Overwrites them. */
void wordlist_done(struct wordlist *w);
/* One shorter than REDACT_MIN is left out. */
void wordlist_add(struct wordlist *w, struct span text, size_t least);

/* A secret in all ways to write it (written.c). `pieces`: a run of at least half of it, and of
 * REDACT_GUESS_MIN bytes, counts; else it is looked for as a whole, and line by line. */
void wordlist_add_secret(struct wordlist *w, struct span secret, bool pieces);
