/* peer.h - a client as our server sees it.
 *
 * One peer per stdio process, per in-memory pair, per legacy HTTP session; and one, of kind
 * PEER_STATELESS, for all modern HTTP requests of one listener. The peer does the protocol: it
 * decides the era, shakes hands, checks envelopes, keeps requests in flight and questions open.
 * A transport only carries: it hands messages in with peer_receive() and sends what `send` gives
 * it. Both are on the loop's thread. */
#pragma once
#include "mcp/rpc/rpc.h"

struct envelope;
struct pb_server;
struct peer;
struct request;

enum peer_kind {
    PEER_STDIO,
    PEER_MEMORY,
    PEER_SESSION,   /* legacy HTTP, Streamable or SSE: one session id */
    PEER_STATELESS, /* modern HTTP */
};

enum send_kind {
    SEND_RESPONSE,     /* the one answer to `about`; about->http_status is set (200 unless said) */
    SEND_NOTIFICATION, /* belongs to `about` (such as a listen stream), or to nobody: NULL */
    SEND_QUESTION,     /* legacy: a request of ours; travels with `about`, or unsolicited: NULL */
    /* Progress or log, otherwise like a notification: dropped when the client does not keep up, and
     * it hears how many were; the second, when it wants no warnings, is dropped without a word. */
    SEND_CHATTER,
    SEND_MURMUR,
};

static inline bool send_may_drop(enum send_kind kind)
{
    return kind == SEND_CHATTER || kind == SEND_MURMUR;
}

struct peer_ops {
    /* One whole message in parts; borrowed until it returns. Must not call back into the peer.
     * `about` NULL: whatever stream the client has open for such things; if it has none it is kept
     * or dropped as the transport sees fit. */
    void (*send)(void *transport, struct request *about, enum send_kind kind,
                 const struct span *parts, size_t n);
    /* `about` will never be mentioned again: its answer was sent, or it was cancelled and needs
     * none. The transport ends what it kept for it (about->exchange). */
    void (*finished)(void *transport, struct request *about);
    /* The client may let go of its connection and come back for the answer in retry_ms. May be
     * NULL; transports on which that means nothing ignore it. */
    void (*poll_later)(void *transport, struct request *about, uint64_t retry_ms);
};

/* What HTTP said about a message; NULL on other transports. Modern requests are checked against
 * it in the order of the specification. */
struct http_facts {
    struct span version; /* MCP-Protocol-Version; p == NULL when absent; so with the others */
    struct span method;  /* Mcp-Method */
    struct span name;    /* Mcp-Name */
    /* Any other header, for Mcp-Param-*; p == NULL when absent. */
    struct span (*header)(void *ctx, const char *name);
    void *ctx;
};

struct peer *peer_new(struct pb_server *server, enum peer_kind kind, const struct peer_ops *ops,
                      void *transport);
/* Cancels what is in flight (without answers), drops questions, forgets subscriptions, frees at
 * the end of the turn. `finished` is called for each; `send` never again. */
void peer_close(struct peer *p);

/* Takes the message. Requests get exactly one SEND_RESPONSE, at once or later, unless the client
 * cancels; `exchange` is kept in request->exchange for the transport. Notifications and answers
 * to questions get nothing. Invalid messages are answered with an error at once. Batches must have
 * been split before. */
void peer_receive(struct peer *p, struct message *take_message, const struct http_facts *facts,
                  void *exchange);

/* The client sent more than the limit. `head` are its first bytes; answered as S2-63..67 say. */
void peer_receive_oversize(struct peer *p, struct span head, uint64_t total, void *exchange);

/* The client of this exchange went away: modern requests are cancelled (`finished` is called with
 * the exchange still set), legacy ones run on (the answer may be fetched by resumption) and their
 * exchange becomes NULL. */
void peer_exchange_gone(struct peer *p, void *exchange);

/* End of input on stdio: every running call is cancelled and answered with -32603 "Request
 * cancelled". Returns how many. */
size_t peer_cancel_all(struct peer *p);

/* Its transport cannot get rid of what was sent, or can again. Not inside `send`. */
void peer_set_congested(struct peer *p, bool on);
bool peer_congested(const struct peer *p);

enum peer_kind peer_kind(const struct peer *p);
/* No other peer of this process has or had this number. */
uint64_t peer_serial(const struct peer *p);
size_t peer_in_flight(const struct peer *p);
/* The negotiated revision; NULL before the handshake and for modern peers. */
const struct revision *peer_revision(const struct peer *p);
/* What a legacy client said about itself in the handshake; NULL before that and for modern peers.
 */
const struct envelope *peer_session(const struct peer *p);
/* A question to a legacy client that belongs to none of its requests; it goes where the client
 * listens for such things, and if it listens nowhere it is never answered. fn runs once, later,
 * with the answer (a JSON value's text, borrowed until fn returns) or an error: PB_E_REMOTE,
 * PB_E_TIMEOUT, PB_E_CLOSED when the client leaves. -PB_E_UNSUPPORTED: modern, or no handshake yet;
 * -PB_E_LIMIT: MCP_QUESTIONS_MAX are open. */
typedef void peer_answer_fn(struct peer *p, void *ctx, struct span result,
                            const struct pb_error *err);
MUST_CHECK int peer_question(struct peer *p, const char *method, struct span params,
                             uint64_t timeout_ms, peer_answer_fn *fn, void *ctx,
                             struct pb_error *err);
/* The same as request_withdraw(), for these. */
void peer_withdraw(struct peer *p, const void *ctx, const char *reason);
/* A notification that belongs to no request, to a legacy client; others are not told. */
void peer_tell(struct peer *p, const char *method, struct span params);
/* A log message that belongs to no request, likewise, if the client wants to hear of its level.
 * `logger` may be NULL; `data` is JSON. */
void peer_log(struct peer *p, enum pb_log_level level, const char *logger, struct span data);
/* The owner that a transport authenticated, for things that must not cross clients (tasks,
 * requestState). Copied; "" by default. */
void peer_set_principal(struct peer *p, const char *principal);
const char *peer_principal(const struct peer *p);
