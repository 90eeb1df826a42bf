#include "hash.h"
#include "id.h"
#include <nettle/hmac.h>
#include <nettle/memops.h>
#include <pthread.h>

void sha256(struct span data, uint8_t out[static SHA256_BYTES])
{
    struct sha256_ctx ctx;

    sha256_init(&ctx);
    sha256_update(&ctx, data.n, (const uint8_t *)data.p);
    sha256_digest(&ctx, SHA256_BYTES, out);
}

void sha256_hex(struct span data, char out[static 2 * SHA256_BYTES + 1])
{
    uint8_t sum[SHA256_BYTES];

    sha256(data, sum);
    for (size_t i = 0; i < SHA256_BYTES; i++) {
        *out++ = "0123456789abcdef"[sum[i] >> 4];
        *out++ = "0123456789abcdef"[sum[i] & 15];
    }
    *out = '\0';
}

void sha512(struct span data, uint8_t out[static SHA512_BYTES])
{
    struct sha512_ctx ctx;

    sha512_init(&ctx);
    sha512_update(&ctx, data.n, (const uint8_t *)data.p);
    sha512_digest(&ctx, SHA512_BYTES, out);
}

void hmac_sha256(struct span key, struct span data, uint8_t out[static SHA256_BYTES])
{
    struct hmac_sha256_ctx ctx;

    hmac_sha256_set_key(&ctx, key.n, (const uint8_t *)key.p);
    hmac_sha256_update(&ctx, data.n, (const uint8_t *)data.p);
    hmac_sha256_digest(&ctx, SHA256_BYTES, out);
}

bool bytes_equal_const_time(const void *a, const void *b, size_t n)
{
    return memeql_sec(a, b, n) != 0;
}

static uint64_t sip_key[2];

static void draw_sip_key(void) { id_random(sip_key, sizeof sip_key); }

#define ROTL(x, b) (((x) << (b)) | ((x) >> (64 - (b))))

static inline void sip_round(uint64_t v[4])
{
    v[0] += v[1], v[1] = ROTL(v[1], 13) ^ v[0], v[0] = ROTL(v[0], 32);
    v[2] += v[3], v[3] = ROTL(v[3], 16) ^ v[2];
    v[0] += v[3], v[3] = ROTL(v[3], 21) ^ v[0];
    v[2] += v[1], v[1] = ROTL(v[1], 17) ^ v[2], v[2] = ROTL(v[2], 32);
}

/* The up to seven bytes from `at` on, the first one lowest. */
static inline uint64_t tail(struct span data, size_t at)
{
    size_t left = data.n - at;
    uint64_t v = 0;

    if (left && at) { /* the last eight, of which the first were there before */
        memcpy(&v, data.p + data.n - sizeof v, sizeof v);
        return v >> (8 * (sizeof v - left));
    }
    for (size_t k = 0; k < left; k++)
        v |= (uint64_t)(uint8_t)data.p[k] << (8 * k);
    return v;
}

uint64_t hash_keyed(struct span data)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    uint64_t v[4], last = (uint64_t)data.n << 56, m;
    size_t i = 0;

    pthread_once(&once, draw_sip_key);
    v[0] = sip_key[0] ^ UINT64_C(0x736f6d6570736575);
    v[1] = sip_key[1] ^ UINT64_C(0x646f72616e646f6d);
    v[2] = sip_key[0] ^ UINT64_C(0x6c7967656e657261);
    v[3] = sip_key[1] ^ UINT64_C(0x7465646279746573);
    for (; i + 8 <= data.n; i += 8) {
        memcpy(&m, data.p + i, 8);
        v[3] ^= m;
        sip_round(v);
        v[0] ^= m;
    }
    last |= tail(data, i);
    v[3] ^= last;
    sip_round(v);
    v[0] ^= last;
    v[2] ^= 0xff;
    sip_round(v);
    sip_round(v);
    sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}
