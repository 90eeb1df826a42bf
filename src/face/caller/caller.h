/* caller.h - who asks: the names under which a client is known behind the faces.
 *
 *   caller.c   the names under which clients are known
 *   tokens.c   the tokens that open the door, and which parts each opens */
#pragma once
#include "mcp/serve/serve.h"
#include "tokens.h"

/* As call_spec.caller wants it: one key per stdio client, session or attached program; of stateless
 * clients one per principal and client name. */
void caller_key(const struct request *r, struct buf *out);
/* The same for a peer that is one client. */
void caller_peer_key(const struct peer *p, struct buf *out);
/* The number of the peer that has this key; 0: it is no such key. */
uint64_t caller_serial(const char *key);
/* Where it comes from, as call_spec.origin wants it: the principal of a stateless client. Borrowed
 * from the peer. */
const char *caller_origin(const struct request *r);
