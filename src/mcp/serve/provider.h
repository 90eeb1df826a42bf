/* provider.h - what answers behind a server. pb_server_new() comes with the registry of C
 * functions; the hub puts its catalog here instead. The peer answers initialize, ping,
 * server/discover, logging/setLevel, resources/(un)subscribe and subscriptions/listen by
 * itself with what the provider says here; all other methods go to `handle`. */
#pragma once
#include "mcp/rpc/rpc.h"
#include "request.h"

struct provider {
    /* Writes the members of `capabilities`, without the braces. */
    void (*capabilities)(void *ctx, struct json_out *o, const struct envelope *env);
    /* Appends the instructions of initialize and server/discover, plain text; nothing: there are
     * none. NULL: those of the server's options. */
    void (*instructions)(void *ctx, struct buf *out);
    /* Answers r, at once or later. False: there is no such method. */
    bool (*handle)(void *ctx, struct request *r);
    /* The input schema of a tool, for the header rules; empty when there is no such tool. */
    struct span (*tool_schema)(void *ctx, struct span tool);
    /* Is there such a resource to subscribe to? NULL: subscribing is not offered. */
    bool (*subscribable)(void *ctx, struct span uri);
    /* r wants to subscribe to one that is not there. True: it may come yet, and the provider keeps
     * r and gives it to request_again() later, unless it is cancelled. NULL: never. */
    bool (*wait)(void *ctx, struct request *r);
    /* Is there such a task, and is it this client's? NULL: tasks are not offered. */
    bool (*has_task)(void *ctx, const struct request *r, struct span task_id);
    /* This request, a listen stream, wants to be told of it from now on, or not any more:
     * listen_task_changed(). May be NULL. */
    void (*watch_task)(void *ctx, const struct request *r, struct span task_id, bool on);
    /* The first subscriber came, or the last one left. May be NULL. */
    void (*watch)(void *ctx, struct span uri, bool on);
    /* A notification of a client that the peer did not use up itself; "initialized" is told, too.
     * May be NULL. */
    void (*notified)(void *ctx, struct peer *p, const struct rpc *message);
    /* This client does not read, and what waits for it is past the mark: what it called for should
     * not come in; or (`on` false) it may again. Not from inside a call of the provider. May be
     * NULL. */
    void (*congested)(void *ctx, struct peer *p, bool on);
    /* This client is gone for good: its session ended or its connection closed. May be NULL. */
    void (*left)(void *ctx, struct peer *p);
    /* How many handlers still run, also ones whose request has ended: a stop gives them
     * MCP_STOP_MS. Call server_drained() when it falls to 0. May be NULL. */
    size_t (*running)(void *ctx);
    /* The server stops: what still runs without a request is to end. May be NULL. */
    void (*stop)(void *ctx);
    /* The server ends, or has another provider from now on. May be NULL. */
    void (*done)(void *ctx);
};
