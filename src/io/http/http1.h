/* http1.h - one HTTP/1.x request out of bytes cut anywhere; hides llhttp.
 *
 * llhttp does the grammar. On top of it this refuses what llhttp lets pass and what has been used
 * to smuggle one request inside another, or has no place here: folded lines, a line end without CR,
 * an empty field name, more than one space in the request line, other protocols and versions,
 * transfer codings but "chunked", Content-Length beside Transfer-Encoding, no Host, two of what
 * there can be only one of (Host, Origin, Authorization, Content-Type, Last-Event-ID), upgrades
 * (but h2c is ignored, as RFC 9110 7.8 allows: such clients go on in HTTP/1.1), fragments.
 * A refusal is a status and a sentence; the connection must not be used after it. */
#pragma once
#include "base/base.h"
#include <llhttp.h>

enum http1_phase { HTTP1_HEAD, HTTP1_BODY, HTTP1_DONE, HTTP1_BAD };

/* Places in `head`; HTTP_HEAD_BYTES_MAX fits. */
struct http1_field {
    uint16_t name, name_n, value, value_n;
};

struct http1 {
    llhttp_t parser;
    struct buf head, body;
    struct http1_field *fields;
    uint16_t n_fields, fields_cap;
    uint16_t target, target_n;
    uint16_t line_n; /* bytes of the unfinished line of the head */
    uint8_t phase;   /* enum http1_phase */
    uint8_t blank;   /* CR and LF dropped before the request line */
    bool head_seen, name_open, keep_alive, chunked, expects;
    uint16_t status; /* of a refusal */
    const char *why; /* of a refusal: one sentence */
    size_t max_body;
    uint64_t left;  /* of a body with a length; of a chunk when chunked */
    uint64_t extra; /* bytes of chunk extensions and trailers so far */
    uint64_t names; /* of the fields that are there, a bit each: see name_bit() */
    uint64_t twice; /* of them, those that more than one has */
};

void http1_init(struct http1 *h, size_t max_body);
void http1_done(struct http1 *h);
/* Takes bytes of this request and no more; returns how many. Comes back when the phase changes,
 * too: call it until the phase is HTTP1_DONE or HTTP1_BAD, or all bytes are taken. */
size_t http1_feed(struct http1 *h, struct span in);
/* Lowers the bound of the body, which is still to come. A length past it is refused. */
void http1_limit_body(struct http1 *h, size_t max_body);
/* Where the next bytes of a body with a length are best read to (they must be fed at once), or an
 * empty place. Saves copying them; never more than have been seen to come. */
char *http1_body_room(struct http1 *h, size_t *room);

struct span http1_method(const struct http1 *h);
struct span http1_target(const struct http1 *h);
struct span http1_name(const struct http1 *h, size_t i);
struct span http1_value(const struct http1 *h, size_t i);
/* The first field of this name, any case; p == NULL when absent. *count (may be NULL): how many. */
struct span http1_find(const struct http1 *h, struct span name, size_t *count);
bool http1_is_head(const struct http1 *h); /* the method is HEAD */
bool http1_is_10(const struct http1 *h);   /* HTTP/1.0 */
