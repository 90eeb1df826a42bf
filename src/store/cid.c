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

static int digit(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }

void cid_read(const char *cid, uint8_t out[static SHA512_BYTES])
{
    for (size_t i = 0; i < SHA512_BYTES; i++)
        out[i] = (uint8_t)(digit(cid[2 * i]) << 4 | digit(cid[2 * i + 1]));
}
