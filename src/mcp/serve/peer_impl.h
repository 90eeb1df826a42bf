/* peer_impl.h - the peer's own layout, and what its files offer each other.
 *
 *   peer.c            one client: what it sends, sorted and dispatched
 *   peer_ids.c        its requests in flight, by id
 *   peer_legacy.c     the legacy era: a handshake, then what the session remembers
 *   peer_modern.c     the modern era: each request judged by what it says of itself
 *   envelope.c        what a request says of its client
 *   request.c         one request: progress, logs, its time limit, failing
 *   request_reply.c   results, and errors of others, as its answer
 *   question.c        requests of ours to a legacy client
 *   batch.c           several messages in one, of the revision that had it */
#pragma once
#include "mcp/rpc/rpc.h"
#include "server_impl.h"

/* One bucket list per this many; only the peer of all modern HTTP requests has them. */
enum { PEER_BUCKETS = 1024 };

struct peer {
    struct list in_server;
    struct pb_server *server;
    enum peer_kind kind;
    uint64_t serial;
    const struct peer_ops *ops;
    void *transport;
    bool closed, congested;

    enum era era;     /* ERA_UNKNOWN until a message decides */
    bool initialized; /* the handshake was answered */
    /* What the handshake said: every legacy request starts from it. */
    struct envelope session;
    enum pb_log_level log_level;
    struct arena strings;
    const char *principal;

    struct list requests;
    size_t in_flight;
    struct list *buckets;   /* requests by exchange, or NULL */
    struct request **by_id; /* NULL until there is one */
    size_t n_buckets, n_ids;
    struct list questions;
    size_t n_questions;
    uint64_t last_question;
    struct map subscriptions; /* URIs; the values mean nothing */
};

/* One method that the peer answers itself. */
struct method {
    struct span name;
    void (*run)(struct request *r);
};
const struct method *method_find(const struct method *table, size_t n, struct span name);

/* peer_legacy.c, peer_modern.c: answer r, or hand it to the provider. */
void legacy_request(struct request *r);
void modern_request(struct request *r, const struct http_facts *facts);
/* Does the message say anything that only modern clients say? */
bool modern_claimed(const struct message *m);
/* The provider's turn; "method not found" if it does not want it. */
void peer_dispatch(struct request *r);

/* peer_ids.c */
/* `id` as written. NULL: it is not in use. */
struct request *ids_find(const struct peer *p, struct span id);
/* False: its id is in use. */
MUST_CHECK bool ids_add(struct request *r);
/* Nothing happens if it was not added. */
void ids_remove(struct request *r);

/* envelope.c */
void envelope_set_caps(struct envelope *env, struct json caps);
/* What people call a client with this clientInfo, appended. */
void envelope_label(struct buf *out, struct json info);
/* Reads params._meta.progressToken; says what is wrong with it, or NULL. */
const char *envelope_set_token(struct envelope *env, struct json params);

/* request.c. `take_message` may be NULL. */
struct request *request_new(struct peer *p, struct message *take_message, void *exchange);
/* Nobody waits for r any more. Answers first if `why` wants that; then `cancel` is told. */
void request_cancel(struct request *r, enum cancel_reason why);
/* Where the answer is written; empty. */
struct buf *request_begin_answer(struct request *r);
/* Sends the answer, one whole message: the request is over. */
void request_respond(struct request *r, const struct span *parts, size_t n);
/* Not one of the requests in flight from here on: a stream. */
void request_uncount(struct request *r);
/* A request_fail() whose HTTP status is not the usual one of its code. */
void request_refuse(struct request *r, int http_status, int code, struct span data, const char *fmt,
                    ...) PRINTF(5, 6);
/* A notification to the client at large, or as part of `about`. */
void peer_notify(struct peer *p, struct request *about, const char *method, struct span params);

/* question.c */
void questions_answered(struct peer *p, const struct message *m);
/* The request is over: its questions are too, and the client is told if it can be. */
void questions_drop(struct request *r);
/* The client has left, and its requests have ended: what it was asked besides is over. */
void questions_close(struct peer *p);

/* subscriptions.c */
void subscriptions_watch(struct pb_server *s, struct span uri);
void subscriptions_unwatch(struct pb_server *s, struct span uri);
void subscribe_method(struct request *r);
void unsubscribe_method(struct request *r);
void subscriptions_forget(struct peer *p);
