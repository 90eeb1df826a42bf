/* rest.h - the hub for programs and pages that would rather send JSON than speak MCP: everything
 * under /api, and /openapi.json, /docs and /metrics.
 *
 * One table says which routes there are, what each takes and what it answers. The router, the
 * OpenAPI document and the page at /docs are made from it. A failure is {"error":CODE,…} with a
 * "message" for people and, where something can be done, what is "next". */
#pragma once
#include "face/caller/caller.h"
#include "face/host/host.h"
#include "io/http/http.h"
#include "mcp/carrier/carrier.h"

struct rest;

struct rest_options {
    struct hosts *hosts; /* must live longer; without a hub what needs one is answered 503 */
    const struct http_server *http; /* whose connections are counted; may be NULL */
};

struct rest *rest_new(const struct rest_options *o);
/* Is it for us to answer at this path? */
bool rest_owns(struct span path);
/* What a token must be allowed for this. */
enum token_may rest_needs(struct span method, struct span path);
/* Is what is there for everybody who passes Host and Origin? */
bool rest_is_public(struct span path);
/* Is there a route that takes a body from this request? */
bool rest_takes_body(const struct http_request *r);
/* Answers r, now or later. `v` is what the guard said: a refusal is told in our own shape. */
void rest_handle(struct rest *s, struct http_request *r, const struct guard_verdict *v);
/* What the facts of the set tell of the config is not what it was: listeners hear of it. */
void rest_config_changed(struct rest *s);
/* Ends the streams of events of those who may not have one any more; see guard_verdict.principal.
 */
void rest_end_streams(struct rest *s, bool (*may)(void *ctx, const char *principal), void *ctx);
/* Ends the streams of events, which would never end by themselves, and trials of servers. */
void rest_drain(struct rest *s);
/* {"error":…} for what the HTTP server refuses by itself. */
void rest_write_refusal(struct buf *out, int status, const char *why);
/* When no request is left that it has not answered. */
void rest_free(struct rest *s);

/* ---- the table ---- */

enum rest_place { REST_PATH, REST_QUERY, REST_BODY };
enum rest_type {
    REST_STRING,
    REST_COUNT,
    REST_NUMBER,
    REST_BOOL,
    REST_OBJECT, /* with whatever members */
    REST_ANY,
    REST_SCALAR, /* a string, number, boolean or null */
    REST_SHAPE,  /* an object that is described */
};

struct rest_param {
    const char *name;
    enum rest_place in;
    enum rest_type type;
    bool required;
    const char *help;
};

/* ---- what they answer: rest_shapes.c ---- */

enum rest_how {
    REST_OPTIONAL = 1, /* may be left out */
    REST_NULLABLE = 2,
    REST_LIST = 4, /* an array of them */
    REST_MAP =
        8, /* an object with one for each of its keys, which are the words if there are any */
};

struct rest_field {
    const char *name;
    enum rest_type type;
    unsigned how;
    const struct rest_shape *shape;  /* REST_SHAPE */
    const char *(*word)(unsigned i); /* what a string may be, by number, then NULL */
    const char *help;                /* may be NULL */
};

struct rest_shape {
    const char *name;
    const struct rest_shape *base;          /* whose fields it has, too; or NULL */
    const char *tag;                        /* what the member "type" says; NULL: there is none */
    const struct rest_field *fields;        /* ended by name NULL; NULL: none */
    const struct rest_shape *const *one_of; /* instead of all that: one of these, then NULL */
    bool foreign;                           /* made by others: it may have any members */
    const char *help;
};
/* Examples of answers: examples.json, made into C by tools/examples. Ended by NULL. */
struct rest_example {
    const char *shape, *json;
};
extern const struct rest_example rest_examples[];

/* Those that are not found from a route: of failures, and of the data of an event. */
extern const struct rest_shape rest_failure_shape, rest_event_shape;

enum rest_flags {
    REST_NEEDS_HUB = 1,
    REST_OPEN_BODY = 2, /* the body may have members that are not named here */
    REST_STREAM = 4,    /* never ends by itself */
    REST_PUBLIC = 8,    /* the same for everybody, nothing of this machine: wants no token */
    REST_READ = 16,     /* changes nothing: a token that may read will do */
    REST_BYTES = 32,    /* answers with bytes that others wrote: JSON, or none */
};

/* Which failures an answer may be, beside those of the guard and of the body's form. */
enum rest_errors {
    REST_404 = 1,
    REST_409 = 2,
    REST_502 = 4,
    REST_503 = 8,
    REST_504 = 16,
    REST_500 = 32, /* a file could not be read or written */
    REST_410 = 64,
};

struct rest_call;

struct rest_route {
    const char *method, *path;
    void (*run)(struct rest_call *c);
    const struct rest_param *params; /* ended by name NULL; NULL: none */
    unsigned flags, errors;
    int status; /* when all is well; 0: 200 */
    const struct rest_shape *answer;
    const struct rest_shape *plan; /* what a dry run answers, with 200; NULL: there is none */
    const char *type;              /* its media type, when it has no shape */
    const char *help;
};
/* Sorted by path, then method; ended by method NULL. */
extern const struct rest_route rest_routes[];
