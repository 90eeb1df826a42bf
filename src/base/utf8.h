/* utf8.h - strict UTF-8 (no overlong forms, no surrogates, nothing past U+10FFFF). */
#pragma once
#include "buf.h"
#include <stdint.h>

/* The length of the valid sequence at p (1..4), or 0. */
size_t utf8_length(const uint8_t *p, const uint8_t *end);
bool utf8_valid(struct span s);
/* The start of valid text: at most `max` bytes, and no half character at its end. */
struct span utf8_cut(struct span s, size_t max);
/* Appends code point c; a surrogate or a value out of range becomes U+FFFD. */
void utf8_append(struct buf *out, uint32_t c);
/* The bytes of a character at the start of `s` that is not seen but changes what is: it turns the
 * direction of text around (U+061C, U+202A to U+202E, U+2066 to U+2069, U+200E, U+200F), has no
 * width (U+180E, U+200B to U+200D, U+2060 to U+2065, U+FEFF, U+FFF9 to U+FFFB, and the tags U+E0000
 * to U+E007F, in which whole sentences can be hidden) or ends a line (U+2028, U+2029). 0: none. */
size_t text_hidden(struct span s);
/* Replaces control bytes (terminal escapes too) and hidden characters in place by '?'. */
void text_make_printable(char *s);
