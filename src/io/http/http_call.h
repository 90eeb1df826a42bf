/* http_call.h - what the files of the HTTP client share. Not for others: they use http_client.h.
 *
 *   http_client.c    the pool: libcurl's sockets and timer on our loop, and what has to wait for a
 *                    moment when libcurl is not on the stack
 *   http_call.c      one call: its response, its deadlines, its end
 *   http_setup.c     from a request to the options of a transfer
 *   http_origin.c    URLs: what is allowed, where a redirect leads
 *   curl_api.c       libcurl, loaded when it is first needed */
#pragma once
#include "curl_api.h"
#include "http_client.h"
#include "io/loop_impl.h"

struct http_client {
    struct pb_loop *loop;
    const struct curl_api *api; /* with `multi`: NULL until the first request */
    CURLM *multi;
    uv_timer_t timer; /* libcurl's own times are real ones, whatever the loop's clock is */
    struct list calls;
    struct list todo; /* calls to be started, resumed or ended: libcurl forbids it in callbacks */
    size_t n_calls;
    size_t handles; /* whose memory libuv or the loop still holds */
    bool later, run_now, closing;
    bool stalled; /* a connecting socket went away: calls may wait for nothing */
    loop_fn *closed;
    void *closed_ctx;
};

enum http_call_state {
    CALL_NEW,
    CALL_CONNECT,
    CALL_SENT,
    CALL_BODY,
    CALL_PAUSED,
    CALL_REDIRECT, /* the response is dropped; another request follows */
    CALL_DONE,
    CALL_COUNT,
};

struct http_call {
    struct list link, work; /* in client->calls, client->todo */
    struct http_client *client;
    struct http_client_events events;
    void *ctx;
    struct sm state;
    CURL *easy;
    struct curl_slist *headers;
    char *url, *method, *origin; /* origin: to name it in errors; a URL may hold secrets */
    struct buf body;
    bool has_body;
    uint64_t connect_ms, head_ms, idle_ms, total_ms; /* 0: none */
    uint64_t started, last_byte;
    struct timer timer; /* for the earliest of them */
    struct buf head;    /* lines of the last response */
    size_t head_bytes;  /* of all heads and trailers of this request */
    size_t dropped;     /* of the body of a redirect */
    size_t taken;       /* of the bytes that libcurl will bring again after a pause */
    struct arena joined;
    char *redirect; /* where to */
    int status, redirects;
    bool resumed;        /* wants to go on */
    bool cancelled;      /* no more events */
    struct pb_error err; /* set: why we ended it */
    char curl_text[CURL_ERROR_SIZE];
};

/* http_client.c */
/* Deals with this call when libcurl is not on the stack. */
void client_later(struct http_call *call);

/* http_call.c */
void call_init(struct http_call *call);
/* What client_later() was for; may free the call. */
void call_go_on(struct http_call *call);
/* Has libcurl look at it soon, if it is still connecting. */
void call_push(struct http_call *call);
/* libcurl is done with it; may free the call. */
void call_ended(struct http_call *call, CURLcode code);
void call_free(struct http_call *call);
size_t call_on_header(char *text, size_t size, size_t n, void *ctx);
size_t call_on_body(char *text, size_t size, size_t n, void *ctx);
int call_on_connected(void *ctx, char *their_ip, char *our_ip, int their_port, int our_port);

/* http_setup.c */
MUST_CHECK int call_take_request(struct http_call *call, const struct http_client_request *req,
                                 struct pb_error *err);
MUST_CHECK int call_setup(struct http_call *call);

/* http_origin.c */
/* "https://host:8443"; -PB_E_INVALID for what is no http or https URL. The caller frees. */
MUST_CHECK int origin_of(const struct curl_api *api, const char *url, char **out,
                         struct pb_error *err);
bool origin_is_loopback(const char *origin);
/* The absolute URL, for the caller to free; NULL when it leads elsewhere or nowhere. */
char *origin_redirect(const struct curl_api *api, const char *url, struct span location);
