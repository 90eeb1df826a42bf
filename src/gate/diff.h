/* diff.h - what has changed in a text, word by word. Pure. */
#pragma once
#include "json/json.h"

enum diff_op { DIFF_SAME, DIFF_DEL, DIFF_ADD };

/* A piece: of the old text (same, del) or of the new one (add). Borrowed from them. */
struct diff_segment {
    enum diff_op op;
    struct span text;
};
struct diff {
    struct diff_segment *v;
    size_t n;
};
/* All of "same" and "del" in order is the old text, all of "same" and "add" the new one. Takes what
 * it costs from *steps; where they, PIN_DIFF_WORDS_MAX or PIN_DIFF_EDITS_MAX do not suffice, all
 * from the first difference to the last is one piece. `out` is to be ended by diff_done(). */
void diff_words(struct diff *out, struct span old, struct span fresh, size_t *steps);
void diff_done(struct diff *d);
/* [{"op","text"},…], PIN_DIFF_BYTES_MAX of it: of a longer one the end is left out. Returns whether
 * it is all of it. */
bool diff_write(struct json_out *o, const char *key, const struct diff *d);

/* Appends JSON for people: a member on each line. What is no JSON as it is. */
void diff_pretty(struct buf *out, struct span text);
