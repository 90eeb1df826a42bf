/* event.h - facts that come up: every change of a server, every call, every log line, in the order
 * in which they happened. Everything in an event is borrowed until the receiver returns. */
#pragma once
#include "hub/spec/spec.h"

enum link_state {
    LINK_DISABLED,
    LINK_IDLE,
    LINK_CONNECTING,
    LINK_AUTHENTICATING,
    LINK_CONNECTED,
    LINK_RECONNECTING,
    LINK_DISCONNECTED,
    LINK_ERROR,  /* the last attempt failed */
    LINK_FAILED, /* gave up */
    LINK_COUNT,
};
const char *link_state_name(enum link_state s); /* "disabled", "idle", ... */

enum auth_step { AUTH_STARTING, AUTH_OPENING_BROWSER, AUTH_WAITING, AUTH_EXCHANGING };
const char *auth_step_text(enum auth_step s); /* S0-29 */

/* A state with what belongs to it. Fields that mean nothing in a state are zero. */
struct link_status {
    enum link_state state;
    enum auth_step auth;
    const char *auth_url;
    const char *message;            /* error, failed, and disconnected by itself; else NULL */
    unsigned retries;               /* error, failed: attempts that went before */
    unsigned attempt, max_attempts; /* reconnecting */
    int64_t next_retry_at;          /* reconnecting: wall clock ms; 0: at once */
    size_t tools;                   /* connected */
};
static inline bool link_is_connected(enum link_state s) { return s == LINK_CONNECTED; }
static inline bool link_is_failed(enum link_state s) { return s == LINK_ERROR || s == LINK_FAILED; }
/* An attempt is under way, or comes by itself. */
static inline bool link_is_coming(enum link_state s)
{
    return s == LINK_CONNECTING || s == LINK_AUTHENTICATING || s == LINK_RECONNECTING;
}
/* connected, error, failed, disconnected. S0-26 */
static inline bool link_is_terminal(enum link_state s)
{
    return s == LINK_CONNECTED || s == LINK_DISCONNECTED || link_is_failed(s);
}

enum log_source { LOG_OF_LINK, LOG_OF_STDERR, LOG_OF_SERVER /* notifications/message */ };

struct log_entry {
    char id[UUID_CHARS + 1];
    int64_t at;    /* wall clock ms */
    uint64_t turn; /* which line of this program it is, of whatever server: many share a ms */
    enum pb_log_level level;
    enum log_source source;
    const char *text; /* one line, without control characters */
};

enum call_cancel { CALL_BY_USER, CALL_TIMED_OUT, CALL_DISCONNECTED, CALL_SHUTDOWN };
const char *call_cancel_name(enum call_cancel why); /* "userRequested", "timeout", ... S0-46 */

enum hub_event_kind {
    EVENT_SERVER_ADDED, /* or its spec changed */
    EVENT_SERVER_REMOVED,
    EVENT_STATE,
    EVENT_LOG,
    EVENT_CATALOG, /* what the server offers has changed */
    EVENT_PIN,     /* what of it is not what was approved has changed */
    EVENT_CALL_STARTED,
    EVENT_CALL_PROGRESS,
    EVENT_CALL_COMPLETED,
    EVENT_CALL_CANCELLED,
    EVENT_KINDS,
};
static inline bool hub_event_is_call(enum hub_event_kind k) { return k >= EVENT_CALL_STARTED; }
const char *hub_event_name(enum hub_event_kind k); /* "serverAdded", "serverStateChanged", ... */

struct hub_event {
    enum hub_event_kind kind;
    const char *server; /* its name */
    const struct spec *spec;
    int64_t at; /* wall clock ms */
    union {
        struct {
            struct link_status from, to;
        } state;
        const struct log_entry *log;
        struct {
            size_t held, changed; /* held back; changed and let through */
            const char *message;  /* for people; NULL: all is as it was approved */
        } pin;
        struct {
            const char *id;   /* UUID */
            struct span tool; /* its own name; of a resource the URI */
            const char *method;
            const char *client;     /* who asked, for people; "" when that is not known */
            double ms;              /* completed, cancelled: how long it took */
            bool success;           /* completed */
            enum call_cancel why;   /* cancelled */
            uint64_t limit_ms;      /* cancelled by timeout: which it was */
            double progress, total; /* progress; total 0: not known */
            struct span message;
        } call;
    };
};

typedef void hub_event_fn(void *ctx, const struct hub_event *e);
/* The members of a state in the open object; `message`: why it is as it is, may be NULL. */
void link_status_put(struct json_out *o, const struct link_status *s, const char *message);
/* An entry of this server's log. */
void log_entry_put(struct json_out *o, const char *key, const char *server,
                   const struct log_entry *e);
/* As one JSON object: for event streams, the log and tests. */
void hub_event_write(struct buf *out, const struct hub_event *e);
