/* client.h - a client session as the hub uses it: raw, asynchronous, on the loop. pb_client_* of
 * patchbay.h are a thin coat over this.
 *
 * The session finds the era (probe, then handshake), keeps requests in flight, applies time limits
 * and cancellation, answers or passes on questions, follows streams and resumes them. Answers
 * arrive as the bytes they were: `result` is a range of the received message. */
#pragma once
#include "io/io.h"
#include "mcp/rpc/rpc.h"

struct client;
struct client_call; /* one request in flight */

struct client_reply {
    struct span result; /* JSON text as received; empty on error */
    /* The same as it was read, so that nobody has to read it again: an object's members, none of
     * them twice, but not what is in them. While this reply is told and no longer. JSON_NONE on
     * error, and for what was put together by the client. */
    struct json members;
    struct span error;          /* the JSON-RPC error object as received; empty if there was none */
    struct blob *message;       /* what the spans above lie in; reference it to keep them */
    const struct pb_error *err; /* NULL when there is a result */
    int http_status;            /* 0: not over HTTP, or no answer at all */
    enum era era;               /* of the server that gave this result; ERA_UNKNOWN: none did */
};

/* Exactly once per request, on the loop, never inside client_request(). May run inside
 * client_cancel() and client_close(). */
typedef void client_reply_fn(void *ctx, const struct client_reply *reply);

/* The caller keeps the time itself, and cancels. */
#define CLIENT_NO_LIMIT UINT64_MAX

struct client_request_spec {
    const char *method;
    struct span params; /* a JSON object's text without protocol _meta, or empty */
    /* The caller knows that params is an object, from brace to brace, with no key twice and none of
     * "_meta", "requestState" and "inputResponses": it is sent without being read again. */
    bool plain;
    uint64_t timeout_ms; /* 0: the client's; or CLIENT_NO_LIMIT */
    bool wants_progress;
    void (*progress)(void *ctx, struct span params); /* raw params of notifications/progress */
    void (*log)(void *ctx, struct span params);      /* modern: messages on this request's stream */
    bool wants_log;
    enum pb_log_level log_level;
    /* Who answers questions of this request; NULL: the client's own. raw_rounds: input_required
     * results are given to `reply` as they are instead of being answered here (the hub relays). */
    bool raw_rounds;
    const char
        *caps; /* modern: JSON text of client capabilities for this request; NULL: the client's */
    client_reply_fn *reply;
    void *ctx;
};

MUST_CHECK int client_request(struct client *c, const struct client_request_spec *spec,
                              uint64_t *out_id, struct pb_error *err);
/* Returns the id under which the server may answer all the same (`stray`); 0: there is no such
 * request, or it was not on its way. */
uint64_t client_cancel(struct client *c, uint64_t id, const char *reason);
/* Whoever waits for the answer to this request cannot take it now. While that is so for every
 * request under way, the server is not read from, where the transport can do that: it waits. */
void client_hold(struct client *c, uint64_t id, bool on);
bool client_is_held(const struct client *c);
/* The ctx of a request under way that will be told by this function; NULL: there is none. */
void *client_request_ctx(struct client *c, uint64_t id, client_reply_fn *reply);
MUST_CHECK int client_notify(struct client *c, const char *method, struct span params,
                             struct pb_error *err);

/* All pages of "tools", "resources", "resourceTemplates" or "prompts" as one array's text in
 * reply->result (reply->message is NULL: copy it). A cursor that comes back, too many pages or
 * items are an error: a part is never passed off as the whole. The time limit is per page. */
MUST_CHECK int client_list(struct client *c, const char *what, uint64_t timeout_ms,
                           client_reply_fn *fn, void *ctx, struct pb_error *err);
/* Both eras; the answer "no such method" proves life as well. */
MUST_CHECK int client_ping(struct client *c, uint64_t timeout_ms, client_reply_fn *fn, void *ctx,
                           struct pb_error *err);
/* Changes of the resource arrive as events. Kept through new sessions and broken streams. */
MUST_CHECK int client_subscribe(struct client *c, struct span uri, client_reply_fn *fn, void *ctx,
                                struct pb_error *err);
MUST_CHECK int client_unsubscribe(struct client *c, struct span uri, client_reply_fn *fn, void *ctx,
                                  struct pb_error *err);

/* Changes of the task arrive as events, if this server tells of them; modern only. Nobody is told
 * when it does not: whoever wants to be sure asks. Not kept through new sessions. */
void client_watch_task(struct client *c, struct span id, bool on);

/* A question from a legacy server, or one entry of input_required. */
struct client_question;
struct client_events {
    void (*opened)(void *ctx, const struct pb_error *err); /* once; NULL = ready */
    /* Answer with client_answer()/client_refuse(), once, any time while the client lives.
     * `call_id` is the request it belongs to when that is known, else 0. */
    void (*question)(void *ctx, struct client_question *q, uint64_t call_id, struct span method,
                     struct span params);
    /* The server does not want to know it any more: q must not be answered, and is gone when this
     * returns. NULL: such a question waits for its answer, which goes nowhere. */
    void (*withdrawn)(void *ctx, const struct client_question *q);
    /* An answer came to a request that is not under way any more; see client_cancel(). */
    void (*stray)(void *ctx, uint64_t wire_id);
    void (*notification)(void *ctx, struct span method, struct span params);
    void (*stderr_line)(void *ctx, struct span line);
    void (*closed)(void *ctx, const struct pb_error *why); /* by itself; last event */
};
void client_answer(struct client_question *q, struct span result);
void client_refuse(struct client_question *q, int code, const char *message);

/* opts as in patchbay.h; everything is copied; opts->on_* are not used here. */
MUST_CHECK int client_open(struct client **out, struct pb_loop *l,
                           const struct pb_client_options *opts, const struct client_events *events,
                           void *ctx, struct pb_error *err);
/* Pending requests end with PB_E_CANCELLED, inside this call; then no event; questions that were
 * not answered must not be answered any more; fn (may be NULL) when all is closed. */
void client_close(struct client *c, loop_fn *fn, void *ctx);

enum era client_era(const struct client *c);
const struct revision *client_revision(const struct client *c);
struct span client_server_info(const struct client *c);  /* JSON; "{}" if unknown */
struct span client_capabilities(const struct client *c); /* of the server; JSON */
struct span client_instructions(const struct client *c); /* JSON string or empty */
const char *client_challenge(const struct client *c);
pid_t client_pid(const struct client *c); /* 0 unless stdio */
/* Loop time of the last message of the server, whatever it was; 0: none yet. */
uint64_t client_heard_at(const struct client *c);
/* Last lines of a stdio server's stderr. */
void client_last_words(const struct client *c, struct buf *out);
