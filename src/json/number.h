/* number.h - numbers as text: compared and converted without rounding. All of these take the text
 * of a checked JSON number. */
#pragma once
#include "base/base.h"

/* The digits, read as a whole number, times ten to the power of `exponent`. */
struct decimal {
    bool negative;
    struct span digits; /* from the first to the last that is not 0; may hold the point */
    size_t n;           /* digits without the point; 0 for zero */
    int64_t exponent;
    bool huge; /* the exponent as written is past DECIMAL_EXPONENT_MAX, and cut there */
};

#define DECIMAL_EXPONENT_MAX INT64_C(100000000000000000)

struct decimal decimal_of(struct span number);

/* <0, 0, >0. Exact: 1, 1.0 and 10e-1 are the same. Two numbers whose exponents are both past
 * DECIMAL_EXPONENT_MAX are the same only if they are written alike. */
int number_cmp(struct span a, struct span b);
/* 3, 3.0 and 3e2 are; 3.5 is not. */
bool number_is_whole(struct span number);

enum { NUMBER_CHARS = 32 };
/* The shortest text that reads back as v, which must be finite. Terminated. */
void number_print(char out[static NUMBER_CHARS], double v);
