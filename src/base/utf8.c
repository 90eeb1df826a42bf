#include "utf8.h"

size_t utf8_length(const uint8_t *p, const uint8_t *end)
{
    size_t left = (size_t)(end - p);
    uint8_t a = p[0];

    if (a < 0x80)
        return 1;
    if (a < 0xC2 || a > 0xF4 || left < 2 || (p[1] & 0xC0) != 0x80)
        return 0;
    if (a < 0xE0)
        return 2;
    if (left < 3 || (p[2] & 0xC0) != 0x80)
        return 0;
    if (a < 0xF0) {
        bool overlong = a == 0xE0 && p[1] < 0xA0;
        bool surrogate = a == 0xED && p[1] > 0x9F;

        return overlong || surrogate ? 0 : 3;
    }
    if (left < 4 || (p[3] & 0xC0) != 0x80)
        return 0;
    if ((a == 0xF0 && p[1] < 0x90) || (a == 0xF4 && p[1] > 0x8F))
        return 0;
    return 4;
}

bool utf8_valid(struct span s)
{
    const uint8_t *p = (const uint8_t *)s.p, *end = (const uint8_t *)span_end(s);

    while (p < end) {
        uint64_t word;
        size_t n;

        if (end - p >= 8) { /* most text is ASCII, eight bytes at a time */
            memcpy(&word, p, 8);
            if (!(word & 0x8080808080808080ull)) {
                p += 8;
                continue;
            }
        }
        n = utf8_length(p, end);
        if (!n)
            return false;
        p += n;
    }
    return true;
}

struct span utf8_cut(struct span s, size_t max)
{
    if (s.n <= max)
        return s;
    while (max && ((unsigned char)s.p[max] & 0xC0) == 0x80)
        max--;
    return span_make(s.p, max);
}

void utf8_append(struct buf *out, uint32_t c)
{
    if (c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF))
        c = 0xFFFD;
    if (c < 0x80) {
        buf_byte(out, (char)c);
    } else if (c < 0x800) {
        buf_byte(out, (char)(0xC0 | c >> 6));
        buf_byte(out, (char)(0x80 | (c & 63)));
    } else if (c < 0x10000) {
        buf_byte(out, (char)(0xE0 | c >> 12));
        buf_byte(out, (char)(0x80 | (c >> 6 & 63)));
        buf_byte(out, (char)(0x80 | (c & 63)));
    } else {
        buf_byte(out, (char)(0xF0 | c >> 18));
        buf_byte(out, (char)(0x80 | (c >> 12 & 63)));
        buf_byte(out, (char)(0x80 | (c >> 6 & 63)));
        buf_byte(out, (char)(0x80 | (c & 63)));
    }
}

size_t text_hidden(struct span s)
{
    static const struct {
        uint8_t n, first[4], last[4];
    } rows[] = {
        { 2, { 0xD8, 0x9C }, { 0xD8, 0x9C } },
        { 3, { 0xE1, 0xA0, 0x8E }, { 0xE1, 0xA0, 0x8E } },
        { 3, { 0xE2, 0x80, 0x8B }, { 0xE2, 0x80, 0x8F } },
        { 3, { 0xE2, 0x80, 0xA8 }, { 0xE2, 0x80, 0xAE } },
        { 3, { 0xE2, 0x81, 0xA0 }, { 0xE2, 0x81, 0xA9 } },
        { 3, { 0xEF, 0xBB, 0xBF }, { 0xEF, 0xBB, 0xBF } },
        { 3, { 0xEF, 0xBF, 0xB9 }, { 0xEF, 0xBF, 0xBB } },
        { 4, { 0xF3, 0xA0, 0x80, 0x80 }, { 0xF3, 0xA0, 0x81, 0xBF } },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (s.n >= rows[i].n && memcmp(s.p, rows[i].first, rows[i].n) >= 0 &&
            memcmp(s.p, rows[i].last, rows[i].n) <= 0)
            return rows[i].n;
    return 0;
}

void text_make_printable(char *s)
{
    for (; *s; s++) {
        unsigned char c = (unsigned char)s[0], next = (unsigned char)s[1];
        size_t hidden = c >= 0xD8 ? text_hidden(span_make(s, strnlen(s, 4))) : 0;

        if (c < 0x20 || c == 0x7f) {
            *s = '?';
        } else if (c == 0xC2 && next >= 0x80 && next < 0xA0) {
            s[0] = s[1] = '?'; /* U+0080 to U+009F: U+009B begins an escape sequence too */
            s++;
        } else if (hidden) {
            memset(s, '?', hidden);
            s += hidden - 1;
        }
    }
}
