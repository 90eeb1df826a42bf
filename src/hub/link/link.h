/* link.h - the live connection to one server: its state machine, its client, its pending calls and
 * its log. A link does what it is told; when to try again is the hub's business. Loop thread.
 *
 *     disabled <-> idle -> connecting -> [authenticating] -> connected
 *                            |   ^                              |
 *                          error |                       disconnected
 *                            +-> reconnecting <-----------------+        error -> failed
 *
 * The table in link_state.c is the truth. A transition that it does not know is refused: logged,
 * and nothing changes. Every one made is logged ("State: idle → connecting") and is an event. */
#pragma once
#include "circle.h"
#include "digests.h"
#include "event.h"
#include "hub/spec/spec.h"
#include "log_ring.h"
#include "mcp/client/client.h"
#include "mcp/rpc/rpc.h"

struct link;
struct link_question;
struct vault;

enum list_kind { LIST_TOOLS, LIST_RESOURCES, LIST_TEMPLATES, LIST_PROMPTS, LIST_KINDS };
const char *list_kind_name(enum list_kind k); /* "tools", "resources", "resourceTemplates", ... */

/* Makes the client of a link. Tests put in-memory servers here. `caller` is "" for the shared
 * client, else the key of the caller whose own instance it is to be. */
typedef int link_open_fn(void *ctx, struct client **out, struct pb_loop *loop,
                         const struct spec *spec, const char *caller,
                         const struct client_events *events, void *events_ctx,
                         struct pb_error *err);
/* The real one: from the spec; ctx is a struct link_options. */
link_open_fn link_open_client;

struct link_options {
    struct pb_loop *loop;
    link_open_fn *open; /* NULL: link_open_client */
    void *open_ctx;
    uint64_t connect_ms;     /* spawn or dial, handshake and lists together */
    uint64_t call_ms;        /* for calls and specs that say nothing */
    const char *marker;      /* put into the environment of children, "NAME=value"; may be NULL */
    const char *inherit_env; /* for specs that say nothing; NULL: "all" */
    const struct claims *claims; /* outlives the link; may be NULL */
    bool refresh_on_change;      /* list_changed makes it list again */
    const char *secrets;         /* the directory of keys; may be NULL */
    struct vault *vault;         /* learns them, before the server can say them; outlives the link;
                                    may be NULL */
    const char *hub;             /* our id: a server that names it leads back to us; may be NULL */

    hub_event_fn *event;
    const size_t
        *call_hearers; /* while it is 0 nobody wants events of calls; NULL: somebody does */
    /* What the server lists, one array's text, before the state becomes connected and again after
     * changes. Empty: the server does not have such a list. */
    void (*listed)(void *ctx, struct link *l, enum list_kind kind, struct span array);
    void (*resource_updated)(void *ctx, struct link *l, struct span uri);
    /* A log message of the server that belongs to no call in particular; `caller` is whose own
     * instance said it, or "". */
    void (*message)(void *ctx, struct link *l, const char *caller, struct span params);
    /* A question that belongs to no call that can answer it: roots/list after the handshake.
     * True: taken, and link_answer() or link_refuse() follows. May be NULL. */
    bool (*question)(void *ctx, struct link *l, struct link_question *q, struct span method,
                     struct span params);
    /* Nobody wants to know that one any more: q must not be answered, and is gone when this
     * returns. NULL: it waits for its answer, which goes nowhere. */
    void (*withdrawn)(void *ctx, struct link *l, const struct link_question *q);
    /* Somebody has done, in a browser, what a server had asked for by URL: the params of
     * notifications/elicitation/complete. May be NULL. */
    void (*elicited)(void *ctx, struct link *l, struct span params);
    /* link_facts.apart has become true: worth being remembered. May be NULL. */
    void (*learned)(void *ctx, struct link *l);
    /* The params of notifications/tasks; `caller` as above. May be NULL. */
    void (*task_changed)(void *ctx, struct link *l, const char *caller, struct span params);
    /* Lists are weighed before they are handed on: link_digests(). */
    bool weigh;
    /* It has said in its handshake who it is; what of it clients may be told is up to link_mute().
     * May be NULL. */
    void (*greeted)(void *ctx, struct link *l);
    /* Nothing is left of the last connection: link_is_clear() has become true. May be NULL. */
    void (*cleared)(void *ctx, struct link *l);
    void *ctx;
};

/* Keeps a reference of its own to the spec. State idle, or disabled if the spec says so. */
struct link *link_new(const struct link_options *opts, struct spec *spec);
/* Ends everything as link_disconnect() does, pending calls with `why`; frees; fn (may be NULL) when
 * the processes are gone. */
void link_close(struct link *l, enum call_cancel why, loop_fn *fn, void *ctx);

/* From idle, disconnected, error, failed or reconnecting; else "Cannot connect from state: X" is
 * logged and -PB_E_BUSY returned. `retries`: attempts that went before, told when this one fails.
 * Failure of the attempt is an event (state error), not a return value. */
int link_connect(struct link *l, unsigned retries, struct pb_error *err);
/* Ends a running attempt: idle. */
void link_cancel_connect(struct link *l);
/* From every state; ends in disconnected (C20), pending calls fail as CALL_DISCONNECTED. The client
 * closes in the background: link_is_clear() tells when nothing is left of it. */
void link_disconnect(struct link *l);
/* A stopped lazy server: like link_disconnect(), but ends in idle. */
void link_go_idle(struct link *l);
void link_mark_reconnecting(struct link *l, unsigned attempt, unsigned max, int64_t next_retry_at);
void link_give_up(struct link *l); /* error, disconnected -> failed */
void link_set_enabled(struct link *l, bool on);
/* Takes over a spec that needs no new connection (spec_same_link()); keeps its own reference. */
void link_set_spec(struct link *l, struct spec *spec);
/* Takes over connect_ms, call_ms, refresh_on_change and inherit_env, for what begins from now on.
 */
void link_tune(struct link *l, const struct link_options *o);
bool link_is_clear(const struct link *l);

/* A question of the server while it works on a call. */
struct link_question;
void link_answer(struct link_question *q, struct span result);
void link_refuse(struct link_question *q, int code, const char *message);
/* Whose own instance asks; "" when it is the one that all share. Borrowed from the question. */
const char *link_question_caller(const struct link_question *q);

/* How a call has ended, for who keeps account of it. Borrowed. */
struct call_end {
    const struct client_reply *reply;
    const char *uuid;   /* NULL: it never came to its server */
    int64_t started_at; /* wall clock ms: when its server's link took it; 0: never */
    pid_t pid;          /* of the process that worked on it; 0: none */
    int64_t process_at; /* wall clock ms: when that was connected */
};
typedef void call_ended_fn(void *ctx, const struct call_end *e);

struct call_spec {
    const char *server;  /* for hub_call(); link_call() ignores it */
    const char *method;  /* "tools/call", "resources/read", "prompts/get", "completion/complete" */
    struct span params;  /* JSON object, names as the server knows them; copied */
    bool plain;          /* of the params: see client_request_spec */
    struct span subject; /* tool name or URI, for events, logs and messages; copied */
    uint64_t timeout_ms; /* 0: the spec's */
    /* Who asks: calls with the same key come from the same client. Decides the instance of a
     * per_client server, and who may be asked. "" is nobody in particular. Copied. */
    const char *caller;
    /* For callers that may use another key with each call, and of whose end nobody is told: where
     * they come from. All of one origin share a few instances; for a new one, that which has been
     * idle longest is closed. NULL: hub_caller_left() will tell of this caller's end. Copied. */
    const char *origin;
    /* The same for people: "Claude Code 2.1", "console". May be NULL. Copied, at most
     * MCP_CLIENT_LABEL_MAX bytes of it. */
    const char *client;
    const char *uuid; /* the id of the call, UUID_CHARS; NULL: it gets one. Copied */
    bool wants_progress, wants_log;
    enum pb_log_level log_level;
    bool raw_rounds;  /* input_required results are given to `reply` as they are */
    const char *caps; /* JSON of what the caller can be asked, for modern servers; NULL: nothing.
                       * Copied */

    void (*progress)(void *ctx, struct span params); /* raw params; may be NULL */
    void (*log)(void *ctx, struct span params);      /* may be NULL */
    /* A legacy server asks. True: it is taken, and must be answered or refused once, before the
     * call ends or never. False: the caller cannot be asked that. NULL: nothing at all. */
    bool (*question)(void *ctx, struct link_question *q, struct span method, struct span params);
    /* The server does not want to know it any more: q must not be answered, and is gone when this
     * returns. Wherever `question` is. */
    void (*withdrawn)(void *ctx, const struct link_question *q);
    /* Exactly once, never inside link_call(). The call has ended: when this returns its questions
     * are gone and must not be answered any more. */
    client_reply_fn *reply;
    void *ctx;
    /* Right before `reply`, of every call that was begun. May be NULL. */
    call_ended_fn *ended;
    void *ended_ctx;
    /* With ended_ctx: asked when it has waited for its server, before that hears of it. False: it
     * is not to be made any more, err says why. Must not end this call or any other. May be NULL.
     */
    bool (*still)(void *ended_ctx, struct pb_error *err);
};

/* What is said of a call that was ended so: "Tool 'x' on server 'y' timed out after 30s". Of its
 * name at most MCP_NAME_SHOWN_MAX bytes, and what is no text in it is not shown. */
void call_fail(struct pb_error *err, enum call_cancel why, const struct call_spec *call,
               const char *server, uint64_t limit_ms);
/* "30s", "1.5s", "100ms" is "0.1s". */
void link_duration(uint64_t ms, char out[static 32]);

/* -PB_E_CLOSED with FAULT_NOT_CONNECTED, -PB_E_LIMIT with FAULT_BUSY. Errors in `reply`:
 * FAULT_TIMEOUT
 * ("Tool 'x' on server 'y' timed out after 30s"), FAULT_CANCELLED, FAULT_NOT_CONNECTED when the
 * server went away (with its last stderr lines), PB_E_REMOTE. Past spec->max_calls calls wait in
 * line, at most LINK_QUEUE_MAX; their time runs. */
MUST_CHECK int link_call(struct link *l, const struct call_spec *spec, uint64_t *out_id,
                         struct pb_error *err);
/* The reply follows, inside this: FAULT_CANCELLED, FAULT_TIMEOUT, or for CALL_DISCONNECTED
 * FAULT_NOT_CONNECTED. False: there is no such call. Tells the server (S0-45). The clock of a call
 * stops while a question of the server is open, for at most MCP_ASK_MS: a person thinks, not the
 * server. Ids count up from 1. */
bool link_cancel(struct link *l, uint64_t id, enum call_cancel why);
bool link_cancel_uuid(struct link *l, const char *uuid, enum call_cancel why);
bool link_has_call(const struct link *l, const char *uuid);
/* Who called cannot take the answer now: its clock stops, too, and the server waits when all who
 * called it are like that. */
void link_hold(struct link *l, uint64_t id, bool held);
/* The client with this key is gone: its instance of a per_client server is stopped. */
void link_caller_left(struct link *l, const char *caller);

MUST_CHECK int link_ping(struct link *l, uint64_t timeout_ms, client_reply_fn *fn, void *ctx,
                         struct pb_error *err);
/* Loop time of the last message of the shared client; 0: none. */
uint64_t link_heard_at(const struct link *l);
/* That a ping was not answered means nothing: a server that does one thing at a time cannot answer
 * while it works. That holds until the oldest of its calls has run out of time in silence. */
bool link_may_be_busy(const struct link *l);
/* Lists again; `listed` follows for what changed. */
void link_refresh(struct link *l, enum list_kind kind);
/* Asks a connected server for all its lists again; fn once when it has said them, has failed to, or
 * is gone. False, and fn does not run: it is not connected, or will not be asked now. */
MUST_CHECK bool link_refresh_all(struct link *l, loop_fn *fn, void *ctx);
/* Counted: the first starts, the last ends it; kept through reconnects. */
void link_subscribe(struct link *l, struct span uri, bool on);
/* The same for the task that this caller's call has become; kept through reconnects. Not counted.
 */
void link_watch_task(struct link *l, const char *caller, struct span id, bool on);
bool link_watches_tasks(const struct link *l);
/* `to`, which is new, watches what `from` watched, as soon as it is connected; `from` no more. */
void link_move_subscriptions(struct link *to, struct link *from);
/* Tells a legacy server that roots have changed: the shared client, and the own instance of this
 * caller, if it has one ("": nobody's). At the end of the turn, and once for all that is said until
 * then. */
void link_roots_changed(struct link *l, const char *caller);

const struct spec *link_spec(const struct link *l);
const char *link_name(const struct link *l);
enum link_state link_state(const struct link *l);
void link_status(const struct link *l, struct link_status *out); /* borrowed */
/* Why the last attempt failed or the connection was lost, with its code (PB_E_AUTH, PB_E_TIMEOUT,
 * ...); NULL since it was connected again. */
const struct pb_error *link_last_error(const struct link *l);

struct link_facts {
    enum era era;
    const char *protocol;                                /* "2025-11-25"; NULL before a handshake */
    struct span server_info, capabilities, instructions; /* JSON or empty; the last known */
    struct span words; /* the instructions, decoded: what clients may be told of them */
    bool muted;        /* nothing: link_mute() */
    struct span hubs;  /* that it says are behind it: see circle_copy() */
    pid_t pid;
    size_t in_flight, queued, instances;
    uint64_t calls, failures;           /* so far */
    int64_t connected_at, last_used_at; /* wall clock ms; 0: never */
    uint64_t used_at;                   /* loop time: when a call began or ended last; 0: never */
    double latency_ms;                  /* of answers, a moving average; 0: none yet */
    double connect_took_ms;             /* the last handshake with lists */
    bool crashed; /* the last loss was the end of a child that had been connected */
    /* It has asked, without saying whom, while calls of several callers were under way. Since then
     * each caller has its own instance; or its turn, where the spec wants one for all. */
    bool apart;
};
void link_facts(const struct link *l, struct link_facts *out);
/* Clients are not told its instructions, until the other is said. */
void link_mute(struct link *l, bool on);
/* What the items of a list are, by their place in it. Only inside `listed`, which may take them and
 * leave none behind; NULL: nobody wanted them to be weighed. */
struct digests *link_digests(const struct link *l, enum list_kind kind);
/* How long a call may take that says nothing itself: what the spec says, else call_ms. */
uint64_t link_call_ms(const struct link *l);
/* What link_facts.apart said when this server ran before. */
void link_set_apart(struct link *l);
enum era link_era(const struct link *l); /* the last known */
/* Of the server: "completions", "logging", "prompts", "resources", "tools". */
bool link_has(const struct link *l, const char *capability);
/* Can it answer with a task, as the modern era has them? The last known. */
bool link_has_tasks(const struct link *l);
/* What was known of it before this program ran, until it says so itself. */
void link_recall_tasks(struct link *l, bool has);

/* The log: at most LINK_LOG_MAX entries, oldest first. */
void link_log(struct link *l, enum pb_log_level level, const char *fmt, ...) PRINTF(3, 4);
size_t link_log_count(const struct link *l);
const struct log_entry *link_log_at(const struct link *l, size_t i);
void link_last_words(const struct link *l, struct buf *out);

/* Calls under way, oldest first. */
struct call_view {
    uint64_t id;
    const char *uuid;
    struct span subject;
    const char *method, *caller, *client;
    int64_t started_at;
    /* What the server said last; none of it before `progressed`. */
    bool progressed;
    double progress, total; /* total 0: not known */
    const char *message;    /* or NULL */
};
void link_each_call(const struct link *l, void (*fn)(void *ctx, const struct call_view *c),
                    void *ctx);
