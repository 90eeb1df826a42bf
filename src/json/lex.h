/* lex.h - the words of JSON: white space, strings, numbers, literals. Each function takes the
 * place where its word begins and gives the place behind it, or NULL when the text is refused.
 * They are inline because they are the inner loop of the reader. */
#pragma once
#include "base/base.h"
#include "scan.h"

struct lex {
    const uint8_t *end;
    const uint8_t *at; /* where the text was refused */
    const char *why;
    enum pb_code code;
};

/* Notes the refusal and gives NULL. */
const uint8_t *lex_refuse(struct lex *l, const uint8_t *at, const char *why);
/* Chooses the text for a byte at which no value can begin. */
const uint8_t *lex_refuse_value(struct lex *l, const uint8_t *at);
/* The byte behind a backslash and what follows it. */
const uint8_t *lex_escape(struct lex *l, const uint8_t *slash);

/* NUL stands for the end: no word begins with it. */
static inline uint8_t lex_peek(const uint8_t *p, const uint8_t *end) { return p < end ? *p : 0; }

static inline const uint8_t *lex_space(const uint8_t *p, const uint8_t *end)
{
    while (p < end && *p <= ' ' && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t'))
        p++;
    return p;
}

/* p is behind the opening quote; the result is behind the closing one. */
static inline const uint8_t *lex_string(struct lex *l, const uint8_t *p, uint32_t *escaped,
                                        uint32_t flag)
{
    const uint8_t *end = l->end, *open = p - 1;
    size_t n;

    for (;;) {
        p = scan_plain(p, end);
        if (p == end)
            return lex_refuse(l, open, "a string that does not end");
        if (*p == '"')
            return p + 1;
        if (*p == '\\') {
            *escaped |= flag;
            p = lex_escape(l, p);
            if (!p)
                return NULL;
        } else if (*p < 0x20) {
            return lex_refuse(l, p, "a control character in a string; write it as an escape");
        } else {
            n = utf8_length(p, end);
            if (!n)
                return lex_refuse(l, p, "not UTF-8");
            p += n;
        }
    }
}

static inline bool lex_is_digit(uint8_t c) { return (uint8_t)(c - '0') < 10; }

static inline const uint8_t *lex_digits(struct lex *l, const uint8_t *p)
{
    const uint8_t *end = l->end;

    if (!lex_is_digit(lex_peek(p, end)))
        return lex_refuse(l, p, "expected a digit");
    do
        p++;
    while (p < end && lex_is_digit(*p));
    return p;
}

static inline const uint8_t *lex_number(struct lex *l, const uint8_t *p)
{
    const uint8_t *end = l->end;
    uint8_t c;

    p += *p == '-';
    if (lex_peek(p, end) == '0') {
        p++;
        if (lex_is_digit(lex_peek(p, end)))
            return lex_refuse(l, p, "a number may not begin with 0");
    } else {
        p = lex_digits(l, p);
        if (!p)
            return NULL;
    }
    c = lex_peek(p, end);
    if (c == '.') {
        p = lex_digits(l, p + 1);
        if (!p)
            return NULL;
        c = lex_peek(p, end);
    }
    if ((c | 0x20) == 'e') {
        c = lex_peek(++p, end);
        p += c == '+' || c == '-';
        p = lex_digits(l, p);
    }
    return p;
}

static inline const uint8_t *lex_literal(struct lex *l, const uint8_t *p, const char *word,
                                         size_t n)
{
    if ((size_t)(l->end - p) < n || memcmp(p, word, n) != 0)
        return lex_refuse_value(l, p);
    return p + n;
}
