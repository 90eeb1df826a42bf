/* finder.h - finds known words, whole or in pieces, in other texts. Made for few hits in much text:
 * of a text only every third byte or so is looked at. Immutable once made: any thread. */
#pragma once
#include "hits.h"
#include "wordlist.h"

struct finder;

/* The words, not the struct around them, outlive the finder. */
struct finder *finder_new(const struct wordlist *w);
void finder_free(struct finder *f);
/* Must strings in strings be decoded, lest something be missed? */
bool finder_wants_decoded(const struct finder *f);
/* Adds what is found, in order and without overlaps. */
void finder_find(const struct finder *f, struct span text, struct hits *out);
/* The text was longer: where a word begins that ends behind it, at least REDACT_MIN bytes before
 * its end; else the text's end. */
size_t finder_find_cut(const struct finder *f, struct span text);
