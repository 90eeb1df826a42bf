/* chars.h - the characters of a string as written between its quotes. The text must have been
 * checked. */
#pragma once
#include "base/base.h"

struct chars {
    const uint8_t *p, *end;
};

static inline struct chars chars_of(struct span inside)
{
    return (struct chars){ (const uint8_t *)inside.p, (const uint8_t *)span_end(inside) };
}

enum { CHARS_END = -1 };

/* The next code point, or CHARS_END. An escaped lone surrogate comes as what it is, 0xD800 to
 * 0xDFFF. */
int32_t chars_next(struct chars *c);

/* Appends the decoded bytes; a lone surrogate becomes U+FFFD. */
void chars_decode(struct buf *out, struct span inside);

/* Does it decode to these bytes? */
bool chars_equal(struct span inside, struct span bytes);

/* Do both decode to the same bytes? */
bool chars_same(struct span inside_a, struct span inside_b);

/* Order by decoded bytes, which for UTF-8 is the order of code points. <0, 0, >0. Lone
 * surrogates differ from each other and from U+FFFD. */
int chars_cmp(struct span inside_a, struct span inside_b);
