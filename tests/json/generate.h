/* generate.h - random JSON texts from a seed: the same seed gives the same text. */
#pragma once
#include "base/base.h"

struct gen {
    uint64_t state; /* not 0 */
    struct buf *out;
    bool odd; /* also what other parsers refuse: lone surrogates, huge numbers */
};

static inline uint32_t gen_below(struct gen *g, uint32_t n)
{
    g->state ^= g->state << 13;
    g->state ^= g->state >> 7;
    g->state ^= g->state << 17;
    return (uint32_t)(g->state >> 33) % n;
}

static inline void gen_pick(struct gen *g, const char *const *list, size_t n)
{
    buf_str(g->out, list[gen_below(g, (uint32_t)n)]);
}

static inline void gen_space(struct gen *g)
{
    static const char *const kinds[] = { " ", "\n", "\t", "\r\n", "    ", "\n\n        " };

    if (gen_below(g, 8) == 0)
        gen_pick(g, kinds, ARRAY_LEN(kinds));
}

static inline void gen_number(struct gen *g)
{
    static const char *const plain[] = { "0",
                                         "-0",
                                         "7",
                                         "-12",
                                         "3.25",
                                         "1e2",
                                         "1E-2",
                                         "1e+10",
                                         "0.0e0",
                                         "-1.5e3",
                                         "0.1",
                                         "100",
                                         "1e-20",
                                         "9007199254740993",
                                         "-9223372036854775808" };
    static const char *const odd[] = { "1E400", "18446744073709551616", "-1e999",
                                       "123456789012345678901234567890", "0.4e00669999999999" };

    uint32_t whole = gen_below(g, 100000), part = gen_below(g, 1000);

    if (g->odd && gen_below(g, 4) == 0)
        gen_pick(g, odd, ARRAY_LEN(odd));
    else if (gen_below(g, 2))
        gen_pick(g, plain, ARRAY_LEN(plain));
    else
        buf_printf(g->out, "%d.%u", (int)whole - 50000, part);
}

static inline void gen_chars(struct gen *g)
{
    static const char *const parts[] = {
        "a",
        "key",
        "plain text that is longer than sixteen bytes",
        " ",
        "/",
        "0",
        "'",
        "\\n",
        "\\\"",
        "\\\\",
        "\\/",
        "\\b\\f\\r\\t",
        "\\u0041",
        "\\u00e4",
        "\\u20AC",
        "\\uD83D\\uDE00",
        "\xc3\xa4",
        "\xe2\x82\xac",
        "\xe4\xb8\xad\xe6\x96\x87",
        "\xf0\x9f\x98\x80",
        "\x7f",
        "{",
        "]",
        ",",
        ":",
    };
    static const char *const odd[] = { "\\ud800", "\\uDFFF", "\\u0000", "\\ud83d\\ud83d" };

    for (uint32_t n = gen_below(g, 5); n > 0; n--) {
        if (g->odd && gen_below(g, 8) == 0)
            gen_pick(g, odd, ARRAY_LEN(odd));
        else
            gen_pick(g, parts, ARRAY_LEN(parts));
    }
}

static inline void gen_string(struct gen *g)
{
    buf_byte(g->out, '"');
    gen_chars(g);
    buf_byte(g->out, '"');
}

static inline void gen_value(struct gen *g, int depth);

static inline void gen_container(struct gen *g, int depth, bool object)
{
    uint32_t n = gen_below(g, 10) == 0 ? gen_below(g, 40) : gen_below(g, 5);

    buf_byte(g->out, object ? '{' : '[');
    for (uint32_t i = 0; i < n; i++) {
        gen_space(g);
        if (object) {
            buf_byte(g->out, '"');
            gen_chars(g);
            buf_printf(g->out, "#%u\"", i); /* no key twice */
            gen_space(g);
            buf_byte(g->out, ':');
            gen_space(g);
        }
        gen_value(g, depth - 1);
        gen_space(g);
        if (i + 1 < n)
            buf_byte(g->out, ',');
    }
    gen_space(g);
    buf_byte(g->out, object ? '}' : ']');
}

static inline void gen_value(struct gen *g, int depth)
{
    static const char *const words[] = { "true", "false", "null" };
    uint32_t kind = gen_below(g, depth > 0 ? 8 : 4);

    if (kind == 0)
        gen_pick(g, words, ARRAY_LEN(words));
    else if (kind == 1)
        gen_number(g);
    else if (kind <= 3)
        gen_string(g);
    else
        gen_container(g, depth, kind < 7);
}

static inline void gen_text(struct gen *g)
{
    int depth = 1 + (int)gen_below(g, 6);

    gen_space(g);
    gen_container(g, depth, gen_below(g, 4) > 0);
    gen_space(g);
}

/* Changes, drops, doubles or inserts a few bytes. */
static inline void gen_mutate(struct gen *g, struct buf *b)
{
    static const char bytes[] = "{}[]\",:\\ntfue0123456789.-+ \x01\x80\xc3\xe2\xf0\xff\n/'";

    for (uint32_t n = 1 + gen_below(g, 3); n > 0 && b->n > 1; n--) {
        size_t at = gen_below(g, (uint32_t)b->n);
        char c = bytes[gen_below(g, sizeof bytes)]; /* the NUL as well */

        switch (gen_below(g, 4)) {
        case 0:
            b->p[at] = c;
            break;
        case 1:
            memmove(b->p + at, b->p + at + 1, --b->n - at);
            break;
        case 2:
            buf_byte(b, 0);
            memmove(b->p + at + 1, b->p + at, b->n - 1 - at);
            b->p[at] = c;
            break;
        default:
            b->n = at + 1;
        }
    }
}
