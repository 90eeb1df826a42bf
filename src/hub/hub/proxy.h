/* proxy.h - a tool as an agent holds it: a server's name and a tool's name, and whom to ask. It is
 * bound to no connection, so it never goes stale. S0-111..S0-120. */
#pragma once
#include "hub/catalog/catalog.h"
#include "hub/link/link.h"

struct hub;

/* Whom a proxy asks: hub_call() and hub_cancel(), or a double in tests. */
struct proxy_caller {
    int (*call)(void *ctx, const struct call_spec *spec, uint64_t *id, struct pb_error *err);
    bool (*cancel)(void *ctx, uint64_t id, enum call_cancel why);
    void *ctx;
    struct pb_loop *loop; /* results that are known at once are told from here */
};
struct proxy_caller proxy_caller_of(struct hub *h);

enum proxy_outcome {
    PROXY_SUCCESS, /* text */
    PROXY_RETRY,   /* text is advice for the model */
    PROXY_CANCELLED,
    PROXY_BAD_ARGUMENTS, /* "Invalid JSON arguments" */
    PROXY_DISCONNECTED,  /* text is the server's name */
    PROXY_FAILED,        /* text */
};
struct proxy_result {
    enum proxy_outcome outcome;
    struct span text; /* borrowed */
};
typedef void proxy_fn(void *ctx, const struct proxy_result *r);

struct proxy {
    struct proxy_caller caller;
    char *server, *name, *description, *definition;
    unsigned max_retries; /* 1 */
};
void proxy_free(struct proxy *p);
/* `arguments`: JSON text; "" and "{}" mean none. fn once, never inside. *id for proxy_cancel(); 0
 * when there is nothing to cancel; id may be NULL. The proxy may be freed before fn runs. A tool
 * that says of itself that it failed is PROXY_FAILED with what it said. */
void proxy_call(struct proxy *p, const char *arguments, uint64_t timeout_ms, proxy_fn *fn,
                void *ctx, uint64_t *id);
void proxy_cancel(struct proxy *p, uint64_t id);
/* One proxy for each tool of a server that the scope shows, in the catalog's order. The caller
 * frees both. */
size_t proxies_of(const struct catalog *c, const struct scope *s, const struct proxy_caller *caller,
                  struct proxy ***out);
