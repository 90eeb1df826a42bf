/* exchange.h - one POST with requests, until all of them are answered.
 *
 * What form the answer has is decided as late as possible: if the first thing to be sent is the
 * answer itself, it is plain JSON; if a notification or a question comes before it, it becomes a
 * stream. A legacy stream outlives its connection, a modern one is cancelled with it. */
#pragma once
#include "endpoint_impl.h"
#include "io/http/http.h"
#include "mcp/rpc/rpc.h"
#include "mcp/serve/serve.h"

struct exchange;

struct exchange_spec {
    struct session *session; /* NULL: modern */
    bool opens_session;      /* this is initialize: the answer names the session, or it ends */
    bool takes_json, takes_sse;
    bool is_batch;
};

/* Hands the message to the peer; r is answered from there. */
void exchange_start(struct endpoint *e, struct http_request *r, const struct exchange_spec *spec,
                    struct message *take_message, const struct http_facts *facts);

extern const struct peer_ops session_peer_ops; /* transport: struct session */
extern const struct peer_ops modern_peer_ops;  /* transport: struct endpoint */
