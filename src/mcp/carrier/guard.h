/* guard.h - who may talk to an HTTP listener: asked first, on every route.
 *
 * In this order: Host (a page that re-binds its name to 127.0.0.1 still sends its own name), Origin
 * (a page elsewhere may reach us, but says where it comes from), then the bearer token. All three
 * compare exactly; there is no wildcard and no CORS header, ever. */
#pragma once
#include "io/http/http.h"
#include "io/io.h"

struct guard;

struct guard_options {
    const char *host;            /* the address listened on; NULL: 127.0.0.1 */
    int port;                    /* the port that was bound */
    const char *token;           /* NULL: none wanted */
    const char *allowed_hosts;   /* comma separated; without a port: with none or the bound one */
    const char *allowed_origins; /* comma separated, as browsers write them */
};

struct guard *guard_new(const struct guard_options *opts);
void guard_free(struct guard *g);
/* Who everybody is that comes in. */
const char *guard_principal(const struct guard *g);

struct guard_verdict {
    int status;            /* 0: come in; else what to answer */
    const char *why;       /* a text for the answer */
    const char *headers;   /* more header lines for the answer, or NULL */
    const char *principal; /* who it is: equal for equal credentials; "" without a token */
    bool wrong_token;      /* one was given: a guess, or an old one */
};

struct guard_verdict guard_check(const struct guard *g, const struct http_request *r);

/* The three rules by themselves. p == NULL means that the header is absent. */
bool guard_host_ok(const struct guard *g, struct span host);
bool guard_origin_ok(const struct guard *g, struct span origin);
bool guard_token_ok(const struct guard *g, struct span authorization);
