/* hash.h - digests, and the keyed hash of our tables. */
#pragma once
#include "span.h"
#include <stdint.h>

enum { SHA256_BYTES = 32, SHA512_BYTES = 64 };

void sha256(struct span data, uint8_t out[static SHA256_BYTES]);
/* The same in lower-case hex digits, terminated. */
void sha256_hex(struct span data, char out[static 2 * SHA256_BYTES + 1]);
void sha512(struct span data, uint8_t out[static SHA512_BYTES]);
void hmac_sha256(struct span key, struct span data, uint8_t out[static SHA256_BYTES]);
/* Takes the same time wherever the first difference is. */
bool bytes_equal_const_time(const void *a, const void *b, size_t n);
/* SipHash-1-3 with a key drawn once per process. */
uint64_t hash_keyed(struct span data);
