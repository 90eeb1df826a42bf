/* client_impl.h - what the files of the client share. Not for others: they use client.h.
 *
 *   client.c             the session: opening, what is known of the server, the end
 *   probe.c              which era the server is of
 *   handshake.c          the legacy way to begin
 *   client_calls.c       requests in flight: ids, deadlines, sending again
 *   client_params.c      the params of a request as they go out
 *   client_tools.c       the headers of modern requests, and what they know of tools
 *   client_receive.c     what the server sends, sorted
 *   client_rounds.c      requests that take several rounds
 *   client_questions.c   what the server asks of us
 *   client_list.c        all pages of a list as one; the ping
 *   client_subscribe.c   which resources and tasks are watched
 *   client_listen.c      the listen stream of the modern era
 *   result.c             pb_result_* of patchbay.h */
#pragma once
#include "client.h"
#include "mcp/rpc/rpc.h"
#include "mcp/wire/wire.h"

/* opening -> probing -> ready <-> reshaking
 *    ^  |       |         |           |
 *    |  +----> shaking ---+           |
 *    +----------+  (another process, another transport)
 * any -> dead: nothing more happens until client_close() */
enum client_state {
    CL_OPENING,   /* the wire is being opened */
    CL_PROBING,   /* server/discover is on its way */
    CL_SHAKING,   /* initialize or its notification is */
    CL_READY,     /* opened */
    CL_RESHAKING, /* the session was lost; requests wait for a new one */
    CL_DEAD,
    CL_COUNT
};

/* new --> sent <--> waiting, asking, pausing, refreshing
 *   |
 *   +---> waiting, silent
 * The end is none of them: a call that has ended is gone. */
enum call_state {
    CALL_NEW,
    CALL_SENT,
    CALL_WAITING,    /* for a new session */
    CALL_ASKING,     /* somebody answers the questions of input_required */
    CALL_PAUSING,    /* before a round without questions */
    CALL_REFRESHING, /* the tool list is read again, because headers were refused */
    CALL_SILENT,     /* has no message: waits for something else than an answer of its own */
    CALL_COUNT
};

struct rounds; /* client_rounds.c */

struct client_call {
    struct list at; /* in client.calls */
    size_t size;    /* with the strings behind it */
    struct client *c;
    uint64_t id;      /* what client_request() gave out */
    uint64_t wire_id; /* of the message in flight: each round and retry has a new one; 0: none */
    struct sm sm;     /* enum call_state */
    struct client_request_spec spec; /* its strings are copies, behind this struct */
    const char *method, *caps;
    /* NULL: none, or they will not be needed after the first sending; until then spec.params are
     * those of the caller. */
    struct blob *params;
    struct timer timer;
    uint64_t started, timeout_ms;
    unsigned rounds_done;
    struct rounds *rounds;
    struct blob *refused; /* the -32020 that made us read the tool list again */
    bool shaking;         /* part of the handshake: may be sent before the client is ready */
    bool endless;         /* subscriptions/listen */
    bool resent, refreshed;
    bool held; /* nobody takes its answer now */
    char strings[];
};

/* How it is tried to open a session: each way once.
 *
 *   as told --> named version --+--> new process
 *      |                        |
 *      +------------------------+--> old sse       */
enum opening_way {
    WAY_AS_TOLD,       /* by the options; the probe claims our newest version */
    WAY_NAMED_VERSION, /* the probe claims a version that the server has named */
    WAY_NEW_PROCESS,   /* the first one ended when it was probed; this one gets initialize */
    WAY_OLD_SSE,       /* initialize was refused, too: as a server of the first revision */
    WAY_COUNT
};

struct opening { /* probe.c, handshake.c */
    struct sm way;
    struct timer limit, patience;
    uint64_t call;         /* client_call.id of the request in flight */
    uint64_t probe_id;     /* the probe's on the wire; 0: there was none */
    uint64_t hello;        /* of notifications/initialized, until it is delivered; 0: none */
    const char *version;   /* modern version to claim */
    struct blob *late;     /* a discover answer that came after we had gone on */
    struct pb_error first; /* why Streamable HTTP failed, while HTTP+SSE is tried */
    char *stray;           /* the first line of a process that is no message; NULL: none */
};

struct listen_stream; /* one subscriptions/listen */

/* A resource that is watched. */
struct subscription {
    bool sent;         /* named in the stream that is being opened, or is open */
    uint64_t *waiting; /* silent calls */
    size_t n_waiting;
};

struct client_listen {                /* client_listen.c */
    struct map uris;                  /* subscribed; values are struct subscription */
    struct map tasks;                 /* watched; the values mean nothing */
    struct listen_stream *now, *next; /* acknowledged; being opened */
    struct timer again;
    struct pb_error refusal; /* why a stream could not even be asked for */
    unsigned tries;
    bool off;   /* the server has nothing to listen to */
    bool stale; /* the set changed while a stream was being opened */
};

struct client {
    unsigned refs;
    struct pb_loop *loop;
    struct arena arena; /* of the options */
    struct pb_client_options opts;
    struct client_events events;
    void *ctx;
    struct sm sm;
    bool closing;
    loop_fn *closed;
    void *closed_ctx;

    wire_open_fn *open_wire; /* NULL: what the options ask for */
    struct wire *wire;
    const struct revision *rev;
    char *info, *caps, *legacy_caps; /* ours, JSON; info lies in the arena */
    unsigned answers;                /* kinds of questions that we declared, and somebody answers */
    struct buf server_info, server_caps, instructions;
    char *challenge;
    struct pb_error why; /* of CL_DEAD */

    uint64_t heard_at; /* see client_heard_at() */
    uint64_t next_id;
    struct list calls;    /* in the order in which they were sent, more or less */
    struct table by_id;   /* the same ones */
    struct table on_wire; /* by wire_id */
    size_t n_held, n_endless;
    struct buf out; /* where messages are put together */
    struct list questions;
    size_t n_questions, question_bytes;
    struct opening opening;
    struct client_listen listen;
    struct map tools; /* name -> struct header_params, of tools that mirror arguments */
    struct json_doc doc;
    size_t garbage;
};

extern const struct wire_events client_wire_events;

static inline bool client_modern(const struct client *c)
{
    return c->rev && c->rev->era == ERA_MODERN;
}
static inline bool client_over_http(const struct client *c)
{
    return c->wire && c->wire->ops->kind == WIRE_HTTP;
}
static inline bool client_in(const struct client *c, enum client_state s) { return c->sm.now == s; }
/* Its owner has been told so and not been told of its end. */
static inline bool client_is_open(const struct client *c)
{
    return client_in(c, CL_READY) || client_in(c, CL_RESHAKING);
}

/* client.c */
/* client_open() on a transport that the caller brings: for tests of what goes wrong on wires. */
MUST_CHECK int client_open_on(struct client **out, struct pb_loop *l, wire_open_fn *open_wire,
                              const struct pb_client_options *opts,
                              const struct client_events *events, void *ctx, struct pb_error *err);
void client_ref(struct client *c);
void client_unref(struct client *c);
void client_move(struct client *c, enum client_state next);
/* The connection is over: everything pending fails with `why`, then `opened` or `closed`. */
void client_die(struct client *c, const struct pb_error *why);
/* Closes the wire in the background. */
void client_drop_wire(struct client *c);

/* client_calls.c */
enum call_flags { CALL_IS_SHAKING = 1, CALL_IS_ENDLESS = 2 };
MUST_CHECK int client_call_new(struct client *c, const struct client_request_spec *spec,
                               unsigned flags, uint64_t *out_id, struct pb_error *err);
/* A call without a message: found, timed and cancelled like any other, ended by whoever made it. */
uint64_t client_call_silent(struct client *c, const struct client_request_spec *spec);
static inline bool client_call_is(const struct client_call *call, enum call_state s)
{
    return call->sm.now == s;
}
void client_call_move(struct client_call *call, enum call_state next);
struct client_call *client_call_find(struct client *c, uint64_t id);
struct client_call *client_call_on_wire(struct client *c, uint64_t wire_id);
/* Sends it again, with a new id on the wire; what was on the wire before is forgotten. The call
 * ends if it cannot be sent. */
void client_call_resend(struct client_call *call);
/* Takes it off the wire, without telling the server. */
void client_call_unwire(struct client_call *call, enum wire_drop why);
/* Ends the call with one reply; it is gone afterwards. */
void client_call_finish(struct client_call *call, const struct client_reply *reply);
void client_call_fail(struct client_call *call, const struct pb_error *err, int http_status);
/* An answer came, and it is `text` inside `bytes`. */
void client_call_answered(struct client_call *call, const struct rpc *rpc, struct blob *bytes,
                          int status);
void client_calls_fail_all(struct client *c, const struct pb_error *err);
/* Time goes on: progress came, or somebody is being asked. */
void client_call_extend(struct client_call *call);
/* Sends those that waited for a session. */
void client_calls_resume(struct client *c);

/* client_params.c */
/* -PB_E_INVALID unless `params` is empty or an object's text. */
MUST_CHECK int client_call_params_check(struct span params, struct pb_error *err);
/* The whole message of a call as it goes out now. */
void client_call_compose(struct buf *out, const struct client_call *call);
/* A notification's params without the subscription tag of the modern era; `out` holds them if they
 * had to be written anew. */
struct span client_untag(struct json params, struct buf *out);

/* client_receive.c */
void client_receive(struct client *c, struct blob *bytes, uint64_t about, int status);
void client_oversize(struct client *c, struct span head, uint64_t total);
/* Sends an answer to a server's question. */
void client_send_text(struct client *c, struct span text);

/* handshake.c */
/* Greets the legacy way, after a probe that led to nothing. */
void client_opening_shake(struct client *c);
MUST_CHECK int client_opening_greet(struct client *c, struct pb_error *err);
/* The session is gone: shake hands again. */
void client_opening_again(struct client *c);
void client_opening_delivered(struct client *c, uint64_t id);

/* probe.c */
void client_opening_failed(struct client *c, const struct pb_error *why);
void client_opening_done(struct client *c);
/* Another process, or another transport. */
void client_opening_reopen(struct client *c, enum opening_way way);
/* A slow modern server whose answer to the probe came after we had gone on. */
bool client_opening_was_modern(struct client *c);
/* Keeps what the server says of itself. -PB_E_LIMIT: its capabilities are longer than
 * MCP_HELLO_BYTES_MAX. Of a longer info the names are kept, of longer instructions the beginning.
 */
MUST_CHECK int client_opening_keep(struct client *c, struct json capabilities, struct json info,
                                   struct json instructions, struct pb_error *err);
MUST_CHECK int client_opening_begin(struct client *c, struct pb_error *err);
/* The wire is ready for the first message. */
MUST_CHECK int client_opening_wire_ready(struct client *c, struct pb_error *err);
/* The wire broke while opening; true when something else is being tried. */
bool client_opening_wire_lost(struct client *c, const struct wire_fault *fault);
/* A line that is no message: the first is quoted if nothing comes of the opening. */
void client_opening_stray(struct client *c, struct span line);
/* Something came that is JSON but no JSON-RPC: old servers answer a probe like that. */
void client_opening_unreadable(struct client *c);
/* An answer that nobody waits for any more: it may be that of a probe we gave up on. */
void client_opening_late(struct client *c, const struct rpc *rpc, struct blob *bytes);
void client_opening_stop(struct client *c);

/* client_questions.c */
/* A request of a legacy server. */
void client_questions_receive(struct client *c, const struct rpc *rpc, uint64_t about);
/* notifications/cancelled of a server. */
void client_questions_cancelled(struct client *c, struct json params);
/* The session that they belong to is gone. */
void client_questions_withdraw_all(struct client *c);
/* One entry of input_required; false when it cannot be asked (*err says why). */
bool client_questions_ask(struct client_call *call, struct span key, struct json entry,
                          struct pb_error *err);
bool client_questions_open_for(struct client *c, uint64_t call_id);
/* Those of one call, or all (call NULL), will not be sent anywhere. */
void client_questions_forget(struct client *c, const struct client_call *call);
void client_questions_free(struct client *c);

/* client_rounds.c */
/* Takes an input_required result in hand; may end the call. */
void client_rounds_begin(struct client_call *call, struct span result);
/* One answer; the last one sends the request again. */
void client_rounds_answer(struct client_call *call, struct span key, struct span result);
/* Members to be added to params; empty when there are none. */
void client_rounds_write(const struct client_call *call, struct buf *out);
void client_rounds_free(struct client_call *call);

/* client_tools.c */
/* Header lines of the modern era for this call. `list` is a struct header_list. */
struct header_list;
MUST_CHECK int client_tools_headers(const struct client_call *call, struct header_list *list,
                                    struct pb_error *err);
/* Learns the annotations of a page of tools/list; a tool with unusable ones is taken out. Returns a
 * new message when the result had to be written anew, else NULL; *result is moved into it. */
struct blob *client_tools_learn(struct client *c, const struct client_call *call,
                                struct span *result);
/* The server refused our headers: reads the list again, then sends the call again. */
bool client_tools_refresh(struct client_call *call, struct blob *refusal);
void client_tools_free(struct client *c);

/* client_listen.c */
void client_listen_init(struct client *c);
/* With what is wanted now; the old stream ends when the new one is acknowledged. */
void client_listen_open(struct client *c);
/* Ends the calls that wait for this subscription. */
void client_listen_tell(struct client *c, struct subscription *s, const struct pb_error *err);
void client_listen_acknowledged(struct client *c, struct json params);
void client_listen_cancelled(struct client *c, struct json params);
void client_listen_free(struct client *c);

/* client_subscribe.c */
/* After each handshake. */
void client_subscribe_again(struct client *c);
