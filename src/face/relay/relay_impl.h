/* relay_impl.h - the layout of a relayed call, for relay*.c.
 *
 *     running <-> asking   questions are with a legacy client
 *     running <-> parked   the questions went out as a result: a modern client has to come back
 *     running <-> pausing  a modern server only wants to be asked again, a little later
 *     each of them -> over nobody wants the answer; the server's, if it owes one, is awaited
 *
 * A legacy server's call goes on while its questions are out (`id`), and its clock stands still; a
 * modern server's has ended with them, and the next round is another call.
 *
 *   relay.c          one call: begun, answered, given up
 *   relay_params.c   a client's params for the server
 *   relay_result.c   a server's result for the client
 *   relay_error.c    how a call that failed is told
 *   relay_ask.c      questions of legacy servers on their way
 *   relay_gate.c     questions of the gate
 *   relay_rounds.c   a modern server wants input
 *   relay_park.c     calls that wait for a modern client to come back
 *   relay_resume.c   a client comes back
 *   relay_state.c    what it brings, sealed and opened
 *   relay_elicit.c   URLs that clients were asked to open
 *   relay_tasks.c    tasks of modern servers
 *   task_id.c        the id of a task as clients see it */
#pragma once
#include "gate/gate.h"
#include "hub/catalog/catalog.h"
#include "hub/hub/hub.h"
#include "hub/link/link.h"
#include "mcp/client/client.h"
#include "mcp/rpc/rpc.h"
#include "mcp/serve/serve.h"
#include "relay.h"
#include "task_id.h"

enum relay_where {
    RELAY_RUNNING,
    RELAY_ASKING,
    RELAY_PARKED,
    RELAY_PAUSING,
    RELAY_OVER,
    RELAY_COUNT
};

/* A question that is not answered yet; or, of an input_required, one that was put. */
struct relay_ask {
    struct list in_relay;
    struct relay *relay;
    enum question_kind kind;
    struct link_question *question; /* of a legacy server; NULL: an entry of input_required, or */
    char *gate_question;            /* the gate's, by its id */
    char *key;                      /* its key in inputRequests, as written */
    bool open;                      /* request_question() has it for its ctx */
    char *params;                   /* JSON; for a client that is asked later; may be NULL */
    size_t params_n;                /* counted in relays.ask_bytes */
    char *answer;                   /* JSON; NULL while awaited */
};

struct relay {
    struct list in_set;
    struct relays *set; /* NULL: gone */
    size_t size;        /* with what lies behind it */
    struct sm where;
    struct request *request;        /* who waits for the answer; NULL: parked or over */
    const struct pb_server *origin; /* where its client came in */
    const struct peer *peer;        /* who ends a parked call by leaving; NULL: nobody */
    const struct scope *scope;
    const char *mode, *directory;
    enum order_face face;
    const char *server, *method; /* these and the subject lie behind the struct */
    struct span subject;
    uint64_t id;         /* of the gate's order; 0: none is under way */
    struct blob *params; /* kept for further rounds of a legacy client; may be NULL */
    char *upstream;      /* the server's requestState, a JSON string; NULL: none */
    struct list asks;
    unsigned n_asks, rounds, last_key;
    unsigned can;      /* kinds that it can be asked */
    bool maybe_modern; /* the server, until it has answered: only such a one may answer with
                          input_required */
    unsigned holds;
    bool dead;                 /* to be freed when nothing holds it */
    bool parking;              /* to be parked at the end of this turn */
    char ticket[ID_CHARS + 1]; /* the name of a parked call */
    struct parker *parker;     /* who it is parked for; NULL: it is not */
    struct kept_reply *kept;   /* came while it was parked */
    uint64_t patience_ms;      /* how long it may be parked; 0: MCP_ASK_MS */
    struct timer timer;
};

/* A client that has parked calls. */
struct parker {
    size_t calls, kept_bytes;
    char caller[];
};

/* What a call says about its client. Kept from call to call: the memory, and the capabilities of a
 * client that asks again. */
struct relay_words {
    uint64_t serial;   /* the peer that these are of; 0: one of many clients */
    struct span label; /* compared, never read: its client may be gone */
    struct buf caller, client;
    struct buf caps, caps_of; /* those of a client that declared caps_of */
    unsigned can;             /* and can be asked this */
    bool tasks;               /* and can follow tasks */
};

struct relays {
    struct gate *gate;
    struct hub *hub; /* the gate's */
    struct list relays;
    struct map parked;   /* ticket -> struct relay */
    struct map parkers;  /* caller -> struct parker */
    size_t kept_bytes;   /* of all of them */
    size_t ask_bytes;    /* questions that wait for modern clients */
    struct list elicits; /* URLs that clients were asked to open */
    struct map by_elicit;
    struct relay_words words;
    uint8_t key[STATE_KEY_BYTES], task_key[TASK_KEY_BYTES];
};

/* relay.c */
/* While held, a relay that ends is still there, `dead`. The last release frees it. */
void relay_hold(struct relay *c);
void relay_release(struct relay *c);
/* It has been answered, or nobody cares: forgets the request and frees. */
void relay_end(struct relay *c);
/* From now on r waits for the answer. */
void relay_attach(struct relay *c, struct request *r);
/* Asks the server. On failure the client has been told, and the relay is over. */
void relay_call(struct relay *c, struct span params, bool plain);
/* What the server answered, to a request that waits; with its members, unless it is an error. */
void relay_deliver(struct relay *c, const struct client_reply *reply);

/* relay_ask.c */
unsigned asks_possible(const struct envelope *env);
/* Appends the capabilities of this client that a server may make use of through us. */
void asks_caps(struct buf *out, const struct envelope *env);
/* Why the client may not be asked this; NULL: it may. `params` may be JSON_NONE. */
const char *ask_refusal(const struct relay *c, enum question_kind kind, struct json params);
struct relay_ask *ask_new(struct relay *c, enum question_kind kind);
/* A client that is still being asked is told that nobody wants to know it any more. */
void ask_free(struct relay_ask *a);
/* Asks the client of a relay, which is a legacy one. */
MUST_CHECK int ask_put(struct relay_ask *a, struct span params, request_answer_fn *fn,
                       struct pb_error *err);
/* For a modern client: it is asked when it is answered, at the end of this turn. */
struct relay_ask *ask_keep(struct relay *c, enum question_kind kind, struct span params);
bool asks_have_room(const struct relay *c, struct span params);
/* When the last of them is gone, a relay that was asking runs again. */
void relay_go_on(struct relay *c);
void asks_drop(struct relay *c);
/* call_spec.question */
bool relay_on_question(void *ctx, struct link_question *q, struct span method, struct span params);
/* call_spec.withdrawn */
void relay_on_withdrawn(void *ctx, const struct link_question *q);

/* The server of a legacy call, or the gate, gets the answer; the ask is gone. `answer` is the
 * result of an elicitation or a sampling. */
void ask_answered(struct relay_ask *a, struct span answer);
/* One that is not going to be answered by this client. */
void ask_refused(struct relay_ask *a, int code, const char *why);

/* relay_gate.c: order.ask and order.ask_over. */
bool relay_on_gate_question(void *ctx, const struct question *q);
void relay_on_gate_over(void *ctx, const struct question *q);
/* What the client has answered to a question of the gate. */
void relay_answer_gate(struct relay *c, const char *id, struct span answer);

/* relay_elicit.c */
/* Its client is about to be asked to open a URL. */
void relay_note_url(struct relay *c, struct span params);
/* The same, by an error that says which ones first. */
void relay_note_urls(struct relay *c, struct span error);
/* p NULL: of all clients. */
void relays_forget_urls(struct relays *s, const struct peer *p);

/* relay_rounds.c */
/* Passes an input_required on to a modern client, asks a legacy one. Of a result only the members
 * have been read, here and below: see client_reply.members. */
void relay_input_required(struct relay *c, struct json result);
/* The same request again, with the answers and the server's state. */
void relay_ask_again(struct relay *c);
/* Reads inputRequests, which may be JSON_NONE, as *out of doc. A server was told what the client
 * can be asked; nothing else reaches it. */
MUST_CHECK int relay_read_asked(const struct relay *c, struct json requests, struct json_doc *doc,
                                struct json *out, struct pb_error *err);

/* relay_park.c */
/* At the end of this turn: what else the server asks until then goes along. */
void relay_park_soon(struct relay *c);
void relay_unpark(struct relay *c);
void relay_keep_reply(struct relay *c, const struct client_reply *reply);
void relay_drop_kept(struct relay *c);
/* r comes back to a parked call. */
void relay_resume_parked(struct relays *s, struct request *r, const struct scope *scope,
                         struct span ticket);

/* relay_state.c: what our requestState says. */
/* The member of its params that says what a request is about: "uri" or "name". */
const char *subject_key(const struct request *r);
struct relay_state {
    struct span ticket;          /* of a parked call; or empty, and: */
    struct span server, subject; /* who is to be asked again, and for what */
    struct span upstream;        /* the server's own requestState, a JSON string; empty: none */
};
MUST_CHECK int relay_seal(struct buf *out, const struct relays *s, const struct request *r,
                          const struct relay_state *st, unsigned round, struct pb_error *err);
/* The spans lie in the arena. */
MUST_CHECK int relay_open(struct relay_state *out, const struct relays *s, const struct request *r,
                          struct json text, struct arena *arena, struct pb_error *err);

/* relay_tasks.c */
/* May its answer be a task, to be asked for later? */
bool relay_may_be_task(const struct relay *c);
/* Is it a request about a task, rather than one that may become one? */
bool relay_is_about_task(const struct relay *c);
/* A result that tells of a task, for the client. */
void relay_pass_task(struct relay *c, struct json result);

/* relay_result.c */
void relay_reply_result(struct relay *c, struct json result);
/* A result that is a task; `id`, a JSON string, is what the client calls it. */
void relay_reply_task(struct relay *c, struct json task, struct span id);
/* The same, appended for a notification. Of the relay only the server, the scope and the set are
 * looked at. */
void relay_write_task(struct relay *c, struct buf *out, struct json task, struct span id);
/* relay_error.c: what went wrong, in words; of our own or the server's. */
void relay_reply_error(struct relay *c, const struct client_reply *reply);
void relay_reply_fault(struct relay *c, const struct pb_error *err);
