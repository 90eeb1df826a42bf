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
    uint8_t r[16];
    char h[33];

    id_random(r, sizeof r);
    r[6] = (uint8_t)((r[6] & 0x0f) | 0x40);
    r[8] = (uint8_t)((r[8] & 0x3f) | 0x80);
    hex(h, r, sizeof r);
    snprintf(out, UUID_CHARS + 1, "%.8s-%.4s-%.4s-%.4s-%.12s", h, h + 8, h + 12, h + 16, h + 20);
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
