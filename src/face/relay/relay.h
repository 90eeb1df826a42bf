/* relay.h - one request of a client, answered by a server behind the hub, across the eras. What
 * happens when the server wants to know something of the client:
 *
 * legacy client, legacy server: its question is asked of the client, on the stream of the call.
 *
 * legacy client, modern server: its input_required is asked of the client as questions, then the
 * server is asked again with the answers; at most RELAY_ROUNDS_MAX times.
 *
 * modern client, legacy server: the call is parked. The client gets input_required with a signed
 * state, and its retry goes on with that call, once.
 *
 * modern client, modern server: passed on; requestState is wrapped together with where it belongs.
 * So are tasks: the server is told that the client can follow them, and the id of one is wrapped.
 *
 * Arguments and results pass as the bytes they were; only ids (of requests and of tasks), progress
 * tokens, requestState and URIs are ours. A client that goes away cancels what it asked for; a
 * parked call that nobody comes back for is cancelled after MCP_ASK_MS, or when the gate's question
 * about it is over if that takes longer, at most MCP_STATE_MS. What fails here rather than
 * at the server is a result with isError for tools/call, {"error":code,"message":text} as its text,
 * and an error for all other methods. */
#pragma once
#include "gate/gate.h"
#include "hub/catalog/catalog.h"
#include "hub/hub/hub.h"
#include "mcp/serve/serve.h"
#include "task_id.h"

struct relays;

struct relays *relays_new(struct gate *gate);
/* Calls are cancelled, parked ones too. NULL is fine. */
void relays_free(struct relays *s);

/* All that is asked from the command line belongs together, whichever of its programs asks: what
 * was permitted for a while to one is permitted to the next. */
#define RELAY_CLI_CONVERSATION "cli"

/* In _meta of an elicitation that is a question of the gate's: its id. A server can write that,
 * too; who can ask us about the question believes us alone. */
#define RELAY_META_QUESTION "patchbay/question"

/* In _meta of what the command line asks for: where it was started. Others are not believed, and no
 * server is told. */
#define RELAY_META_DIRECTORY "patchbay/directory"

struct relay_order {
    const struct scope *scope; /* how URIs are written for this client; outlives the call */
    const char *mode;          /* that the scope is of, or NULL; likewise */
    enum order_face face;
    const char *directory; /* where the client works, or NULL; likewise */
    const char *server;
    const char *method;
    struct span params;  /* for the server: its own names; without protocol _meta; copied */
    bool plain;          /* of the params: see client_request_spec */
    struct span subject; /* tool, prompt or URI; copied */
};
/* Answers r, later. */
void relay_start(struct relays *s, struct request *r, const struct relay_order *o);
/* True: r brings back a requestState (and answers): it has been taken, or refused when the state is
 * not ours, late, another client's or another request's. False: it has none. Of the order, what is
 * said of the client is looked at: scope, mode and face. */
bool relay_resume(struct relays *s, struct request *r, const struct relay_order *like);
/* The task that a client means by an id. False: none that it was given, or one of a server that is
 * gone or that this scope does not show. The spans lie in the arena. */
struct task_name;
bool relay_find_task(const struct relays *s, const struct request *r, const struct scope *scope,
                     struct span id, struct task_name *out, struct arena *arena);
/* The same, whether or not there is such a server. */
bool relay_read_task(const struct relays *s, const struct request *r, struct span id,
                     struct task_name *out, struct arena *arena);
/* What a server tells of a task by itself, written for the client that knows it by `id`; `asks` is
 * what that can be asked, as relay_asks() says. False: not for it. */
struct task_view {
    const struct scope *scope;
    const char *server;
    struct span id;
    unsigned asks;
};
unsigned relay_asks(const struct request *r);
bool relay_tell_task(struct relays *s, const struct task_view *v, struct span task,
                     struct buf *out);
/* This client is gone for good: calls that are parked for it are cancelled, and it is asked nothing
 * more, unless it is stateless (the peer of such clients is all of them). */
void relays_left(struct relays *s, const struct peer *p);
/* What it called for cannot be passed on now, or can again. */
void relays_congested(struct relays *s, const struct peer *p, bool on);
/* A server says that what it had asked for by URL is done: told to the client that it asked. */
void relays_elicited(struct relays *s, const char *server, struct span params);

/* The params of a request for the server that is to answer it: first these members, ended by key
 * NULL, with JSON texts for values; then what else the client said, byte for byte, but for what
 * belongs to its protocol with us. True: there is no _meta among it. */
struct own_param {
    const char *key;
    struct span value;
    bool text;  /* the value is no JSON yet, but what a string is to say */
    bool given; /* the client's params have this key */
};
bool relay_params(struct buf *out, struct json params, const struct own_param *own);
