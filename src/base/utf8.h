/* utf8.h - strict UTF-8 (no overlong forms, no surrogates, nothing past U+10FFFF). */
#pragma once
#include "buf.h"
#include <stdint.h>

/* The length of the valid sequence at p (1..4), or 0. */
size_t utf8_length(const uint8_t *p, const uint8_t *end);
bool utf8_valid(struct span s);
/* Appends code point c; a surrogate or a value out of range becomes U+FFFD. */
void utf8_append(struct buf *out, uint32_t c);
/* Replaces control bytes (terminal escapes too) in place by '?'. */
void text_make_printable(char *s);
