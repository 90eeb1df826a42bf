/* http_server.h - HTTP/1.1 on one listening socket.
 *
 * Strict: llhttp in strict mode; Content-Length together with Transfer-Encoding, obs-fold, bare LF,
 * two Host, Origin, Authorization, Content-Type or Content-Length fields, unknown transfer codings
 * and upgrades are refused with 400 and the connection is closed (an upgrade to h2c is ignored, as
 * RFC 9110 allows: clients that offer it by default go on in HTTP/1.1). Bounds: limits.h HTTP_* and
 * max_body; nothing is allocated by declaration, and the bodies of all requests together hold no
 * more than HTTP_BODIES_BYTES_MAX: who would pass that with a body over HTTP_BODY_SMALL is told
 * 503. Keep-alive and pipelining (answers in order). The handler gets a complete request; `admit`
 * may look at its head before. It answers at once or later, exactly once: whole with http_reply(),
 * or as a stream with http_begin(), http_write()..., http_end().
 *
 * A client that goes away is noticed at once, also while its request waits. The end of its input is
 * taken for its end: a client that only shuts its sending side looks the same as one that died. It
 * still gets answers that are complete, and those that handlers give at once to whole requests that
 * came before; what waits is cancelled. A client that sent more than HTTP_PIPELINE_BYTES_MAX ahead
 * and then fills the kernel's buffers, too, is noticed only when its request has been answered. */
#pragma once
#include "io/io.h"

struct http_server;
/* One exchange; lives until its answer is written, or its client is gone and the handler was told.
 * A handler that did not ask to be told may answer all the same: it is dropped. */
struct http_request;

struct http_field {
    struct span name, value; /* value without white space around it */
};

typedef void http_handler(void *ctx, struct http_request *r);
/* Asked before a body is waited for: the head is there, and http_body() is not. It lowers *max_body
 * to what this request may bring, or answers r by http_reply(), at once, and returns false: then r
 * is gone, what its client sends is read over for a moment, and the connection closed. A body that
 * came together with its head has cost what it can: the handler is asked, not this. */
typedef bool http_admit(void *ctx, struct http_request *r, size_t *max_body);

struct http_server_options {
    const char *host;      /* NULL: 127.0.0.1; an address, not a name */
    int port;              /* 0: any */
    const char *unix_path; /* instead of host and port: mode 0600 */
    size_t max_body;       /* 0: REQUEST_BYTES_MAX; larger: 413 */
    size_t max_bodies;     /* 0: HTTP_BODIES_BYTES_MAX; of all requests together; larger: 503 */
    size_t max_unread;     /* 0: HTTP_UNREAD_BYTES_MAX; of all answers that wait to be read */
    int max_connections;   /* 0: HTTP_CONNECTIONS_MAX; beyond: 503 and close. Fewer when the
                            * process may not open as many files and HTTP_FILES_RESERVE more */
    http_handler *handler;
    http_admit *admit; /* NULL: all bodies are taken */
    /* Writes the JSON body of an answer that no handler gives (400, 408, 413, 431, 503 ...); NULL:
     * the sentence as plain text. `path` is empty as long as it is not known. */
    void (*refusal)(struct buf *out, struct span path, int status, const char *why);
    void *ctx;
};

MUST_CHECK int http_server_new(struct http_server **out, struct pb_loop *l,
                               const struct http_server_options *opts, struct pb_error *err);
int http_server_port(const struct http_server *s);
size_t http_server_connections(const struct http_server *s);
/* Stops listening and closes idle connections; others are closed after their answer. */
void http_server_drain(struct http_server *s);
/* Closes everything at once (gone callbacks run, inside this call), frees; fn (may be NULL) runs
 * after. */
void http_server_close(struct http_server *s, loop_fn *fn, void *ctx);

struct span http_method(const struct http_request *r);
struct span http_target(const struct http_request *r); /* as sent: path and query */
struct span http_path(const struct http_request *r);   /* without the query; not decoded */
struct span http_query(const struct http_request *r);  /* without the '?' */
struct span http_body(const struct http_request *r);
/* The body's memory for the caller to keep; http_body() is empty afterwards. It counts among the
 * bodies of the server until it is freed. */
struct blob *http_take_body(struct http_request *r);
/* By name, any case; an empty span with p == NULL when absent. *count (may be NULL): how often. */
struct span http_header_span(const struct http_request *r, struct span name, size_t *count);
/* Inline: the length of a literal is known when it is compiled. */
static inline struct span http_header(const struct http_request *r, const char *name, size_t *count)
{
    return http_header_span(r, span_of(name), count);
}
/* The name of a field that begins so, in any case, and comes more than once; p == NULL: none. */
struct span http_repeated(const struct http_request *r, const char *prefix);
size_t http_fields(const struct http_request *r, const struct http_field **out);
/* Overwrites the body, which held a secret: what was borrowed from it is gone. */
void http_wipe_body(struct http_request *r);
/* fn runs once if the client goes away before the answer is complete; after it (and after
 * http_reply()/http_end()) r must not be used. */
void http_on_gone(struct http_request *r, loop_fn *fn, void *ctx);
/* Adds one to *counter until r is over: answered, or its client is gone and the handler was told.
 * Once for a request; the counter must live so long. */
void http_count(struct http_request *r, size_t *counter);

/* `headers` is a block of complete lines "Name: value\r\n" or NULL. Content-Length, Date-less,
 * Connection and the like are added here. The parts are written at once or copied. status 204
 * and 304 have no body. HEAD gets the head only. */
void http_reply(struct http_request *r, int status, const char *headers, const struct span *body,
                size_t n);
/* A stream: chunked, or for HTTP/1.0 up to the end of the connection. What is written in one turn
 * is sent together. */
void http_begin(struct http_request *r, int status, const char *headers);
/* False when the client is gone or is cut off: it took nothing for HTTP_WRITE_STALL_MS, or the
 * producer has gone on past all marks (STREAM_QUEUE_HARD and STREAM_QUEUE_NOTES). r is good until
 * the gone callback runs, after this turn. */
bool http_write(struct http_request *r, const struct span *parts, size_t n);
size_t http_unread(const struct http_request *r);
bool http_full(const struct http_request *r); /* past the high mark: stop for now ... */
/* ... until this runs; again each time the stream was full and is not any more. */
void http_on_drain(struct http_request *r, loop_fn *fn, void *ctx);
void http_end(struct http_request *r);

/* "Not Found", ... */
const char *http_status_text(int status);
/* Percent-decodes; false on a bad escape or a NUL. */
bool http_decode(struct buf *out, struct span s);
/* The value of one query parameter, decoded into the arena; p == NULL when absent. */
struct span http_query_get(struct span query, const char *name, struct arena *arena);
