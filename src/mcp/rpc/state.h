/* state.h - requestState: what a call must remember from one round of questions to the next, given
 * to the client to carry, and not trusted when it comes back.
 *
 * It is base64url(payload) "." base64url(HMAC-SHA256(payload)); the key is drawn per process. The
 * payload names the request it belongs to (method, name, arguments), its owner, its round and its
 * end; one that is changed, late, of another owner or of another request is refused. */
#pragma once
#include "json/json.h"

enum { STATE_KEY_BYTES = 32 };

struct state {
    struct span answers; /* a JSON object: question to answer, so far */
    struct span user;    /* the handler's own, JSON; empty: none */
    unsigned round;      /* of the questions that go out with it, from 1 */
};

/* What it is bound to. */
struct state_bond {
    const uint8_t *key; /* STATE_KEY_BYTES */
    const char *principal;
    uint8_t request[SHA256_BYTES];
};

/* Digest of the request: the same method, name (or URI) and arguments give the same, however they
 * are spelled. `arguments` may be JSON_NONE; absent and {} are the same. */
void state_digest(uint8_t out[static SHA256_BYTES], struct span method, struct span name,
                  struct json arguments);

/* Appends the text. -PB_E_LIMIT past MCP_STATE_BYTES_MAX. `now_ms` is wall clock time. */
MUST_CHECK int state_seal(struct buf *out, const struct state *s, const struct state_bond *bond,
                          int64_t now_ms, struct pb_error *err);
/* The spans of *out lie in the arena. -PB_E_INVALID, always with the same text: what was wrong with
 * it is nothing that a client needs to know. */
MUST_CHECK int state_open(struct state *out, struct span text, const struct state_bond *bond,
                          int64_t now_ms, struct arena *arena, struct pb_error *err);
