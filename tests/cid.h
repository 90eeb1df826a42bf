/* cid.h - what bytes are called in the store, said once more by the tests. */
#pragma once
#include "base/base.h"
#include <stdio.h>

static inline void cid_of(struct span bytes, char *out)
{
    uint8_t digest[SHA512_BYTES];

    sha512(bytes, digest);
    for (size_t i = 0; i < SHA512_BYTES; i++)
        snprintf(out + 2 * i, 3, "%02x", digest[i]);
}
