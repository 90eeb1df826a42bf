#include "store_impl.h"

bool cid_is(struct span text)
{
    if (text.n != CID_CHARS)
        return false;
    for (size_t i = 0; i < text.n; i++)
        if (!((text.p[i] >= '0' && text.p[i] <= '9') || (text.p[i] >= 'a' && text.p[i] <= 'f')))
            return false;
    return true;
}

void cid_write(const uint8_t *digest, char out[static CID_CHARS + 1])
{
    for (size_t i = 0; i < SHA512_BYTES; i++) {
        out[2 * i] = "0123456789abcdef"[digest[i] >> 4];
        out[2 * i + 1] = "0123456789abcdef"[digest[i] & 15];
    }
    out[CID_CHARS] = '\0';
}

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

void cid_read(const char *cid, uint8_t out[static SHA512_BYTES])
{
    for (size_t i = 0; i < SHA512_BYTES; i++)
        out[i] = (uint8_t)(digit(cid[2 * i]) << 4 | digit(cid[2 * i + 1]));
}

bool uuid_read(struct span text, uint8_t out[static UUID_BYTES])
{
    size_t n = 0;

    if (text.n != UUID_CHARS)
        return false;
    for (size_t i = 0; i < UUID_CHARS;) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;

        if (dash && text.p[i++] != '-')
            return false;
        if (digit(text.p[i]) < 0 || digit(text.p[i + 1]) < 0)
            return false;
        out[n++] = (uint8_t)(digit(text.p[i]) << 4 | digit(text.p[i + 1]));
        i += 2;
    }
    return true;
}

void uuid_write(const uint8_t in[static UUID_BYTES], char out[static UUID_CHARS + 1])
{
    for (size_t i = 0; i < UUID_BYTES; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *out++ = '-';
        *out++ = "0123456789abcdef"[in[i] >> 4];
        *out++ = "0123456789abcdef"[in[i] & 15];
    }
    *out = '\0';
}
