/* lex.h - the words of JSON: white space, strings, numbers, literals. Each function takes the
 * place where its word begins and gives the place behind it, or NULL when the text is refused.
 * What most words need is inline, because it is the inner loop of the reader; the rest is not. */
#pragma once
#include "base/base.h"
#include "scan.h"

struct lex {
    const uint8_t *end;
    const uint8_t *at; /* where the text was refused */
    const char *why;
    enum pb_code code;
};

/* For the parts of one loop: a compiler that calls them instead costs a quarter of the speed. */
#define HOT      inline __attribute__((always_inline))
#define OFTEN(x) __builtin_expect(!!(x), 1)
#define RARE(x)  __builtin_expect(!!(x), 0)

/* Notes the refusal and gives NULL. */
const uint8_t *lex_refuse(struct lex *l, const uint8_t *at, const char *why);
/* The same for a byte at which no value can begin, for what is not a key, for what stands where
 * a comma or `close` should be, for a container at depth JSON_DEPTH_MAX, and for a value past
 * JSON_NODES_MAX. */
const uint8_t *lex_refuse_value(struct lex *l, const uint8_t *at);
const uint8_t *lex_refuse_key(struct lex *l, const uint8_t *at);
const uint8_t *lex_refuse_after(struct lex *l, const uint8_t *at, uint8_t close);
const uint8_t *lex_refuse_deep(struct lex *l, const uint8_t *at);
const uint8_t *lex_refuse_many(struct lex *l, const uint8_t *at);

/* The rest of the string that began at `open`, from p on. */
const uint8_t *lex_string_rest(struct lex *l, const uint8_t *open, const uint8_t *p, bool *escaped);

/* NUL stands for the end: no word begins with it. */
static HOT uint8_t lex_peek(const uint8_t *p, const uint8_t *end)
{
    return OFTEN(p < end) ? *p : 0;
}

/* The first byte at or after *p that is not white space; *p moves there. */
static HOT uint8_t lex_next(const uint8_t **p, const uint8_t *end)
{
    uint8_t c = lex_peek(*p, end);

    while (RARE(c <= ' ') && (c == ' ' || c == '\n' || c == '\r' || c == '\t'))
        c = lex_peek(++*p, end);
    return c;
}

/* From the opening quote to behind the closing one. */
static HOT const uint8_t *lex_string(struct lex *l, const uint8_t *open, bool *escaped)
{
    const uint8_t *p = open + 1;

    *escaped = false;
    if (OFTEN(l->end - p >= SCAN_STEP)) {
        __typeof__(scan_block(p)) bits = scan_block(p);

        if (OFTEN(bits)) {
            p = scan_first(p, bits);
            if (OFTEN(*p == '"'))
                return p + 1;
        } else {
            p += SCAN_STEP;
        }
    }
    return lex_string_rest(l, open, p, escaped);
}

static HOT bool lex_is_digit(uint8_t c) { return (uint8_t)(c - '0') < 10; }

static HOT const uint8_t *lex_digits(struct lex *l, const uint8_t *p)
{
    if (RARE(!lex_is_digit(lex_peek(p, l->end))))
        return lex_refuse(l, p, "expected a digit");
    do
        p++;
    while (lex_is_digit(lex_peek(p, l->end)));
    return p;
}

static HOT const uint8_t *lex_number(struct lex *l, const uint8_t *p)
{
    uint8_t c;

    p += *p == '-';
    if (lex_peek(p, l->end) == '0') {
        p++;
        if (RARE(lex_is_digit(lex_peek(p, l->end))))
            return lex_refuse(l, p, "a number may not begin with 0");
    } else if (!(p = lex_digits(l, p))) {
        return NULL;
    }
    if (lex_peek(p, l->end) == '.' && !(p = lex_digits(l, p + 1)))
        return NULL;
    if (RARE((lex_peek(p, l->end) | 0x20) == 'e')) {
        c = lex_peek(++p, l->end);
        p = lex_digits(l, p + (c == '+' || c == '-'));
    }
    return p;
}

static HOT const uint8_t *lex_literal(struct lex *l, const uint8_t *p, const char *word, size_t n)
{
    if (RARE((size_t)(l->end - p) < n || memcmp(p, word, n) != 0))
        return lex_refuse_value(l, p);
    return p + n;
}

/* A key and its colon; *name is the place behind the key. */
static HOT const uint8_t *lex_key(struct lex *l, const uint8_t *p, const uint8_t **name,
                                  bool *escaped)
{
    p = lex_string(l, p, escaped);
    *name = p;
    if (RARE(!p))
        return NULL;
    if (RARE(lex_next(&p, l->end) != ':'))
        return lex_refuse(l, p, "expected ':' after a key");
    return p + 1;
}
