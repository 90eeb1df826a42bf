/* http_client.h - HTTP requests out, by libcurl on our loop.
 *
 * libcurl is loaded when the first request is made: a program that talks to nobody over HTTP does
 * not pay for it. TLS is verified, always. No cookies, no .netrc, no redirects to other origins
 * (a redirect to the same origin is followed for GET and for POST 307/308); proxies by the usual
 * environment variables, never for loopback. Compressed answers are not asked for, and refused.
 * SSL_CERT_FILE and SSL_CERT_DIR name other certificate authorities than the system's. The times
 * run on the loop's clock. Errors: PB_E_CLOSED nobody there, or gone in the middle; PB_E_INVALID
 * not HTTP, or TLS that does not verify; PB_E_LIMIT a head over HTTP_REPLY_HEAD_MAX; PB_E_TIMEOUT.
 * Texts name the origin, never the whole URL. */
#pragma once
#include "io/io.h"

struct http_client; /* a pool of connections; one per loop is enough */
struct http_call;

struct http_client_request {
    const char *method;         /* NULL: GET, or POST when there is a body */
    const char *url;            /* http or https */
    const char *const *headers; /* "Name: value"; ended by NULL; may be NULL. CR, LF refused */
    struct span body;           /* copied */
    bool has_body;
    uint64_t connect_ms; /* 0: HTTP_CONNECT_MS */
    uint64_t head_ms;    /* from sending until the response head; 0: none */
    uint64_t idle_ms;    /* without any byte of the body, unless paused; 0: none */
    uint64_t total_ms;   /* from sending until the end; 0: none */
};

struct http_client_events {
    /* The response head is complete. Header lookup with http_call_header() from here on. */
    void (*head)(void *ctx, int status);
    /* Body bytes as they come. Returns how many it took: with fewer than all of them the call is
     * paused until http_call_resume(); then the others come again. */
    size_t (*data)(void *ctx, struct span bytes);
    /* The end; err NULL when the response came whole. Last event; the call is freed after it. */
    void (*done)(void *ctx, const struct pb_error *err);
};

struct http_client *http_client_new(struct pb_loop *l);
/* Aborts all calls without events, frees; fn (may be NULL) runs after. */
void http_client_close(struct http_client *c, loop_fn *fn, void *ctx);

/* -PB_E_INVALID for a bad URL, scheme or header; -PB_E_UNSUPPORTED with what to install if libcurl
 * cannot be loaded; -PB_E_BUSY past HTTP_CALLS_MAX. Events never run inside this call. */
MUST_CHECK int http_client_send(struct http_client *c, struct http_call **out,
                                const struct http_client_request *req,
                                const struct http_client_events *events, void *ctx,
                                struct pb_error *err);
/* No event follows; the call is freed. */
void http_call_cancel(struct http_call *call);
void http_call_resume(struct http_call *call);
/* Last response's header, any case; p == NULL when absent; several are joined by ", ". */
struct span http_call_header(const struct http_call *call, const char *name);
