/* id.h - random bytes from the kernel, and ids made of them; base64 both ways. */
#pragma once
#include "buf.h"
#include <stdint.h>

enum { ID_CHARS = 32, UUID_CHARS = 36, UUID_BYTES = 16 };

/* Aborts if the kernel has no randomness to give. */
void id_random(void *p, size_t n);
/* 128 random bits as 32 lower-case hex digits, terminated. */
void id_new(char out[static ID_CHARS + 1]);
/* A version 4 UUID, terminated. */
void id_uuid(char out[static UUID_CHARS + 1]);
/* False: it is none, and out is undefined. */
bool uuid_read(struct span text, uint8_t out[static UUID_BYTES]);
void uuid_write(const uint8_t in[static UUID_BYTES], char out[static UUID_CHARS + 1]);

/* Standard alphabet with padding. */
void base64_encode(struct buf *out, struct span data);
/* Canonical only: right alphabet, right padding, no stray bits. False leaves out as it was. */
bool base64_decode(struct buf *out, struct span text);
/* URL alphabet without padding. */
void base64url_encode(struct buf *out, struct span data);
bool base64url_decode(struct buf *out, struct span text);
