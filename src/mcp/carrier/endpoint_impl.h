/* endpoint_impl.h - the layout of an endpoint, for endpoint.c and exchange.c. */
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
