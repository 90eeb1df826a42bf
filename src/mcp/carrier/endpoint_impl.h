/* endpoint_impl.h - the layout of an endpoint, for endpoint.c and exchange.c.
 *
 *   http.c       one HTTP listener of a server: guard and routes
 *   front.c      an HTTP listener before its routes, and its end
 *   guard.c      Host, Origin, token
 *   endpoint.c   Streamable HTTP at one path
 *   exchange.c   one POST with requests, until all are answered
 *   session.c    legacy sessions, by id
 *   seats.c      the places for sessions at one listener
 *   stream.c     an SSE stream to a client
 *   recall.c     what is kept of streams for clients that come back
 *   missed.c     what a slow client was not sent, and that it hears of it
 *   sse.c        HTTP+SSE of the first revision
 *   stdio.c      a client on a pair of descriptors
 *   memory.c     a client of this process */
#pragma once
#include "endpoint.h"
#include "mcp/serve/serve.h"
#include "session.h"

struct endpoint {
    struct pb_server *server;
    struct pb_loop *loop;
    struct sessions sessions;
    struct carrier_streams *streams;
    struct peer *modern; /* of all modern requests */
    struct list exchanges;
    bool json_only, draining;
    loop_fn *idle_fn;
    void *idle_ctx;
};
