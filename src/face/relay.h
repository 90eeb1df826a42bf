/* relay.h - one request of a client, answered by a server behind the hub, across the eras.
 *
 *                     server legacy                        server modern
 *  client legacy      its question is asked of the         its input_required is asked of the
 * client client, on the stream of the call    as questions, then the server is asked again client
 * modern      the call is parked; the client gets  passed on; requestState is wrapped with the
 *                     input_required with a signed state;  server's name
 *                     its retry goes on with that call
 *
 * Arguments and results pass as the bytes they were; only ids, progress tokens, requestState and
 * URIs are ours. A client that goes away cancels what it asked for; a parked call that nobody comes
 * back for is cancelled after MCP_ASK_MS. */
#pragma once
#include "hub/hub.h"

struct relays;

struct relays *relays_new(struct hub *hub);
/* Parked calls are cancelled. */
void relays_free(struct relays *s);

struct relay_order {
    const struct scope *scope; /* how URIs are written for this client; outlives the call */
    const char *server;
    const char *method;
    struct span params;  /* for the server: its own names; without protocol _meta; copied */
    struct span subject; /* tool, prompt or URI; copied */
    uint64_t timeout_ms; /* 0: the server's */
};
/* Answers r, later. */
void relay_start(struct relays *s, struct request *r, const struct relay_order *o);
/* True: r brings back a requestState (and answers): it has been taken, or refused when the state is
 * not ours, late, another client's or another request's. False: it has none. */
bool relay_resume(struct relays *s, struct request *r, const struct scope *scope);
size_t relays_parked(const struct relays *s);
