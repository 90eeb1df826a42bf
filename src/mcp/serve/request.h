/* request.h - one request that our server is answering: the envelope that both eras fill alike.
 *
 * Made by the peer, handed to the provider, ended by exactly one request_reply*() or by
 * cancellation. After the reply the request is gone at the end of the turn. */
#pragma once
#include "io/io.h"
#include "mcp/rpc/rpc.h"
#include "peer.h"

/* What the client told about itself: per request in the modern era, once per session before. */
struct envelope {
    enum era era;
    const struct revision *revision;
    struct span client_info, client_caps; /* JSON text; "{}" when not said */
    struct span label; /* see request_client(); empty: client_info has to be looked into */
    bool can_elicit, can_elicit_url, can_sample, can_sample_tools, can_list_roots, has_tasks;
    bool wants_log;
    enum pb_log_level log_level;
    struct span progress_token; /* as written; empty: no progress wanted */
    struct span trace;          /* the header traceparent, if it is valid; in the message's arena */
};

enum cancel_reason { CANCEL_BY_CLIENT, CANCEL_TIMEOUT, CANCEL_GONE, CANCEL_SHUTDOWN };

struct request {
    struct list in_peer; /* link in the peer's list */
    struct peer *peer;
    struct pb_server *server;
    struct message *message; /* keeps the bytes of everything below */
    struct span id, method;
    struct json params; /* object or JSON_NONE */
    struct envelope env;
    void *exchange; /* the transport's */
    int http_status;
    bool cancelled, answered;

    /* The provider's. `cancel` is called once when nobody wants the answer any more; a request
     * that is cancelled needs no reply, but one is ignored. For CANCEL_TIMEOUT and
     * CANCEL_SHUTDOWN an answer has been sent already. */
    void (*cancel)(struct request *r, enum cancel_reason why);
    /* The deadline has come: may answer in its own words (request_reply*(), request_fail()); if it
     * does not, the peer answers. `cancel` follows in both cases. May be NULL. */
    void (*expire)(struct request *r);
    void *work;
    struct timer deadline;

    /* The peer's. */
    struct list questions, in_bucket;
    uint64_t deadline_ms;
    double progress; /* the last one sent */
    bool progressed, listens, over;
    bool has_id; /* is found by its id */
    uint64_t id_hash;
    struct request *next_of_id;
};

/* How a result that the provider writes itself begins: "{" for legacy clients; for modern ones
 * {"resultType":"complete","_meta":{serverInfo}, so that what follows needs a comma first. For
 * request_reply_parts(); borrowed from the server. */
struct span request_result_begin(const struct request *r);
/* "private" for an authenticated client, else "public": what cacheScope says. */
const char *request_cache_scope(const struct request *r);

/* `result` is a JSON object's text. Modern answers get resultType "complete" and serverInfo in
 * _meta spliced in unless the object has its own resultType; _meta of the object is kept. */
void request_reply(struct request *r, struct span result);
/* The same for results made of parts, whose concatenation is one JSON object and which are sent
 * as they are: the caller has written resultType and _meta where they are wanted. */
void request_reply_parts(struct request *r, const struct span *parts, size_t n);
/* request_reply() of an object whose members have been read already, with places of it written
 * anew: each edit replaces `cut` bytes at `at` of its text by `put`. In order and not overlapping;
 * neither the first byte of the object nor the one of its _meta may be cut, and nothing may be put
 * before them. All other bytes are sent from where they are. */
struct edit {
    size_t at, cut;
    struct span put;
};
void request_reply_edited(struct request *r, struct json result, const struct edit *edits,
                          size_t n);
/* Passes on an error object that somebody else wrote, in parts. It is not about what this client
 * sent to us: it travels in band, unless it says that the client lacks a capability. */
void request_pass_error(struct request *r, int code, const struct span *parts, size_t n);
/* Modern: sets the HTTP status that belongs to the code. data is JSON or empty. */
/* One that provider.wait() has kept is answered after all. */
void request_again(struct request *r);
void request_fail(struct request *r, int code, struct span data, const char *fmt, ...) PRINTF(4, 5);

/* Appends what people call the client, "Title 1.0" (its name when it has no title), printable and
 * at most MCP_CLIENT_LABEL_MAX bytes. Nothing when it did not say. */
void request_client(const struct request *r, struct buf *out);

/* Sent only if the client asked for progress; then, if it rises. `message` may be NULL. */
void request_progress(struct request *r, double progress, double total, const char *message);
/* Sent to legacy clients at or above their level (info until they set one), to modern ones if this
 * request asked for it. `data` is JSON; `logger` may be NULL. */
void request_log(struct request *r, enum pb_log_level level, const char *logger, struct span data);
/* Any other notification that belongs to this request. */
void request_notify(struct request *r, const char *method, struct span params);
/* The same, but left out while the client does not keep up, as progress and log messages are. */
void request_mention(struct request *r, const char *method, struct span params);

/* Ends the connection that waits for the answer, not the request: a legacy HTTP client comes back
 * for it in retry_ms. Nothing happens where that is not known. */
void request_close_stream(struct request *r, uint64_t retry_ms);

/* Starts the clock: after `ms` the request is answered with an error and cancelled. Again moves
 * it; 0 stops it. */
void request_set_deadline(struct request *r, uint64_t ms);

/* A legacy question to the client, on the stream of this request. fn runs once with the answer
 * (a JSON value's text, borrowed until fn returns) or an error: PB_E_REMOTE, PB_E_TIMEOUT,
 * PB_E_CLOSED, PB_E_LIMIT; never after the request has ended. Returns -PB_E_UNSUPPORTED for modern
 * clients. */
typedef void request_answer_fn(struct request *r, void *ctx, struct span result,
                               const struct pb_error *err);
MUST_CHECK int request_question(struct request *r, const char *method, struct span params,
                                request_answer_fn *fn, void *ctx, struct pb_error *err);
/* Whoever asked this with `ctx` does not want to know it any more: the client is told, and fn does
 * not run. To be called before what ctx points to is freed; nothing happens after the answer. */
void request_withdraw(struct request *r, const void *ctx, const char *reason);
