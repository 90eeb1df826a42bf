#include "id.h"
#include "mem.h"
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/random.h>

void id_random(void *p, size_t n)
{
    char *at = p;

    while (n) {
        ssize_t got = getrandom(at, n, 0);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            fprintf(stderr, "patchbay: the kernel gives no random bytes\n");
            abort();
        }
        at += got;
        n -= (size_t)got;
    }
}

static void hex(char *out, const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        out[2 * i] = "0123456789abcdef"[p[i] >> 4];
        out[2 * i + 1] = "0123456789abcdef"[p[i] & 15];
    }
    out[2 * n] = '\0';
}

void id_new(char out[static ID_CHARS + 1])
{
    uint8_t r[ID_CHARS / 2];

    id_random(r, sizeof r);
    hex(out, r, sizeof r);
}

void id_uuid(char out[static UUID_CHARS + 1])
{
    uint8_t r[UUID_BYTES];

    id_random(r, sizeof r);
    r[6] = (uint8_t)((r[6] & 0x0f) | 0x40);
    r[8] = (uint8_t)((r[8] & 0x3f) | 0x80);
    uuid_write(r, out);
}

/* Where the digits of each byte stand. Every call has a uuid, so these two are fast. */
static const uint8_t uuid_at[UUID_BYTES] = { 0,  2,  4,  6,  9,  11, 14, 16,
                                             19, 21, 24, 26, 28, 30, 32, 34 };
static const uint8_t dash_at[] = { 8, 13, 18, 23 };

void uuid_write(const uint8_t in[static UUID_BYTES], char out[static UUID_CHARS + 1])
{
    for (size_t i = 0; i < UUID_BYTES; i++) {
        out[uuid_at[i]] = "0123456789abcdef"[in[i] >> 4];
        out[uuid_at[i] + 1] = "0123456789abcdef"[in[i] & 15];
    }
    for (size_t i = 0; i < sizeof dash_at; i++)
        out[dash_at[i]] = '-';
    out[UUID_CHARS] = '\0';
}

/* What a digit means, and 16; 0: it is none. */
static const uint8_t digits[256] = {
    ['0'] = 16, ['1'] = 17, ['2'] = 18, ['3'] = 19, ['4'] = 20, ['5'] = 21, ['6'] = 22, ['7'] = 23,
    ['8'] = 24, ['9'] = 25, ['a'] = 26, ['b'] = 27, ['c'] = 28, ['d'] = 29, ['e'] = 30, ['f'] = 31,
    ['A'] = 26, ['B'] = 27, ['C'] = 28, ['D'] = 29, ['E'] = 30, ['F'] = 31,
};

bool uuid_read(struct span text, uint8_t out[static UUID_BYTES])
{
    const uint8_t *p = (const uint8_t *)text.p;
    unsigned good = 16;

    if (text.n != UUID_CHARS)
        return false;
    for (size_t i = 0; i < UUID_BYTES; i++) {
        unsigned high = digits[p[uuid_at[i]]], low = digits[p[uuid_at[i] + 1]];

        good &= high & low;
        out[i] = (uint8_t)(high << 4 | (low & 15));
    }
    for (size_t i = 0; i < sizeof dash_at; i++)
        good &= p[dash_at[i]] == '-' ? 16 : 0;
    return good;
}

static const char STD[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static const char URL[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static void encode(struct buf *out, struct span data, const char *alphabet, bool pad)
{
    const uint8_t *p = (const uint8_t *)data.p;
    char *to = buf_reserve(out, (data.n + 2) / 3 * 4);
    char *at = to;
    size_t i = 0, rest = data.n % 3;

    for (; i + 3 <= data.n; i += 3) {
        uint32_t v = (uint32_t)p[i] << 16 | (uint32_t)p[i + 1] << 8 | p[i + 2];

        *at++ = alphabet[v >> 18];
        *at++ = alphabet[v >> 12 & 63];
        *at++ = alphabet[v >> 6 & 63];
        *at++ = alphabet[v & 63];
    }
    if (rest) {
        uint32_t v = (uint32_t)p[i] << 16 | (rest == 2 ? (uint32_t)p[i + 1] << 8 : 0);

        *at++ = alphabet[v >> 18];
        *at++ = alphabet[v >> 12 & 63];
        if (rest == 2)
            *at++ = alphabet[v >> 6 & 63];
        for (size_t k = rest; pad && k < 3; k++)
            *at++ = '=';
    }
    out->n += (size_t)(at - to);
}

static int digit(char c, const char *alphabet)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    if (c == alphabet[62])
        return 62;
    return c == alphabet[63] ? 63 : -1;
}

static bool decode(struct buf *out, struct span text, const char *alphabet)
{
    char *at = buf_reserve(out, text.n / 4 * 3 + 3);
    char *from = at;
    uint32_t v = 0;
    int bits = 0;

    if (text.n % 4 == 1)
        return false;
    for (size_t i = 0; i < text.n; i++) {
        int d = digit(text.p[i], alphabet);

        if (d < 0)
            return false;
        v = v << 6 | (uint32_t)d;
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            *at++ = (char)(v >> bits);
            v &= (1u << bits) - 1;
        }
    }
    if (v)
        return false; /* bits that no encoder would have left there */
    out->n += (size_t)(at - from);
    return true;
}

void base64_encode(struct buf *out, struct span data) { encode(out, data, STD, true); }

bool base64_decode(struct buf *out, struct span text)
{
    if (text.n % 4)
        return false;
    for (int pad = 0; pad < 2 && text.n && text.p[text.n - 1] == '='; pad++)
        text.n--;
    return decode(out, text, STD);
}

void base64url_encode(struct buf *out, struct span data) { encode(out, data, URL, false); }

bool base64url_decode(struct buf *out, struct span text) { return decode(out, text, URL); }
