/* gate_impl.h - the layout of the gate.
 *
 *   gate.c          life, settings, whom to tell
 *   gate_call.c     orders under way
 *   gate_own.c      orders for tools of our own
 *   gate_hold.c     orders that wait for an answer
 *   gate_record.c   what is recorded of them
 *   gate_wait.c     orders whose server is yet to come up
 *   steps.c         the table of steps
 *   explain.c       where a call would stop, and why
 *   grants.c        permissions for a while
 *   questions.c     what people are asked
 *   webhook.c       and programs of theirs
 *   otlp.c          calls as spans for a collector
 *   export.c        recorded calls for other programs
 *   export_page.c   some of them at a time, with their bytes
 *   pins*.c         what was approved of servers: see pins_impl.h */
#pragma once
#include "gate.h"
#include "hub/catalog/catalog.h"
#include "hub/hub/hub.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"

/* What is known of a tool, until lists or rules change. */
struct tool_look {
    bool concerned; /* some rule may apply to it */
    unsigned annotations;
    enum record_detail detail;
    struct blob *definition; /* NULL: none is known */
};

struct gate {
    struct hub *hub;
    struct pb_loop *loop;
    struct store *store; /* NULL: nothing is recorded */
    enum record_detail detail;
    bool go_on;
    uint64_t ask_ms;
    struct policy *policy; /* never NULL */
    struct grants *grants;
    struct own_tools own;  /* read NULL: there are none */
    struct pins *pins;     /* NULL: nothing is held against anything */
    struct map looks;      /* "face method server\ntool" -> struct tool_look */
    struct tool_look *odd; /* the last of those whose names are too long to be kept */
    struct hub_subscription *news;

    struct list held;
    size_t held_bytes, n_held;
    uint64_t last_held;
    struct table by_id;     /* struct held_order, also while they are executed */
    struct map by_question; /* id -> struct held_order */
    struct timer beat;
    bool walking; /* what may go on is about to, at the end of this turn */
    bool granted; /* and some that wait may have been permitted */

    struct gate_listener listeners[GATE_LISTENERS_MAX];
    size_t n_listeners;
    bool down; /* the store cannot write: */
    struct pb_error why_down;
    bool closing, freed;
    bool (*redact)(void *ctx, struct buf *text, struct json_out *where);
    void *redact_ctx;
};

/* An order under way whose end somebody here has to hear of: it is recorded, or it was held. */
struct run {
    struct gate *g;
    size_t size;             /* with the strings behind it */
    struct held_order *held; /* NULL: it did not have to wait */
    enum order_face face;
    enum record_detail detail;
    const char *method, *server, *client, *key, *conversation, *parent, *trace;
    const char *tool;               /* or what else it is of; "": nothing */
    const char *rule, *answered_by; /* NULL: nobody was asked */
    char uuid[UUID_CHARS + 1];      /* "": the call gets one */
    bool told;                      /* whoever held it tells its caller */
    struct span arguments;
    struct blob *arguments_blob; /* what they lie in; NULL: behind the struct */
    struct blob *definition;
    int64_t queued_ms; /* wall clock */
    double began;
};

enum held_for {
    HELD_ANSWER, /* a person decides */
    HELD_ROOM,   /* the store has too much to write */
    HELD_READY,  /* it may go on, at the end of this turn */
    HELD_OVER,   /* executed: its id still leads to the call */
};

/* An order that could not go on at once, with everything that it needs to. */
struct held_order {
    struct list at; /* in gate.held, until it is executed */
    struct gate *g;
    uint64_t id;
    uint64_t sent; /* the hub's id of the call, when it is HELD_OVER */
    enum held_for why;
    struct order order; /* its strings are ours */
    struct arena arena;
    struct blob *params;
    char uuid[UUID_CHARS + 1];
    struct timer timer;
    bool congested; /* gate_hold() */
    double beats;

    struct question q;
    uint64_t ask_ms;
    int64_t queued_ms; /* wall clock */
    bool fresh;        /* the question is to be put, at the end of this turn */
    bool asked;        /* it is open, */
    bool asked_caller; /* and order.ask has taken it */
    bool approved, denied;
    const char *denied_why;            /* or NULL */
    char digest[SHA256_BYTES * 2 + 1]; /* what was asked about */
    const char *answered_by;
};

/* ---- steps.c ---- */

enum step_says { STEP_PASS, STEP_STOP, STEP_ASK };

/* One order on its way. */
struct order_walk {
    struct gate *g;
    const struct order *order;
    const struct tool_look *look;
    const char *approved; /* the digest that a person has said yes to; NULL: none */
    bool anew;            /* time has passed since its name was looked up; or it never was */
    bool granted;         /* a permission lets it through */
    struct policy_verdict verdict;
    struct buf reason;                 /* what the verdict's may point to; order_walk_done() */
    char digest[SHA256_BYTES * 2 + 1]; /* of what is asked about, when a step asks */
    struct pb_error err;               /* why, when one stops it */
    const char *step;                  /* the one that did either */
};
enum step_says steps_walk(struct order_walk *w);
void order_walk_done(struct order_walk *w);
#define AUTO_WALK __attribute__((cleanup(order_walk_done)))
/* Each step by itself, for who wants to know; false: there are no more. Its name is NULL where it
 * means nothing to this order. */
bool step_at(size_t i, struct order_walk *w, const char **name, enum step_says *says);
const struct tool_look *gate_look(struct gate *g, const struct order *o);
void gate_forget_looks(struct gate *g);
/* Whom grants are for: the conversation, else the caller. */
const char *order_run(const struct order *o);
/* What is permitted for a while, whatever its arguments are, by one of those who may. */
bool order_granted(struct gate *g, const struct order *o, unsigned by);
/* One that counts once is used up by the order that it lets through. */
void order_use_grant(struct gate *g, const struct order *o);
void order_operation(struct buf *out, const struct order *o);

/* gate.c */
void gate_tell(struct gate *g, const struct question *q, bool over);
void gate_tell_recorded(struct gate *g);

/* ---- gate_call.c ---- */

/* All steps have let it pass. `held` NULL: it did not have to wait. */
MUST_CHECK int gate_execute(struct gate *g, const struct order_walk *w, struct held_order *held,
                            uint64_t *out_id, struct pb_error *err);
/* Nothing can be done for anybody now, or what would be done could not be recorded. */
bool gate_must_stop(const struct gate *g, const struct order *o, const struct tool_look *look,
                    struct pb_error *err);

/* ---- gate_own.c ---- */

bool order_is_own(const struct order *o);
/* What an order means to the tool that it is for. */
struct own_order {
    struct order order;
    struct buf name, arguments;
};
/* Returns o, or the order in `out`, which owns what differs. */
const struct order *own_read(const struct gate *g, const struct order *o, struct own_order *out);
void own_order_done(struct own_order *o);
/* It is for a person to decide: `why` says what and for which reason. S3-145, S3-153 */
bool own_needs_permission(const struct gate *g, const struct order *o, struct buf *why);
/* The params of the call. */
void own_params(struct buf *out, const struct order *o, const char *uuid);

/* ---- gate_wait.c ---- */

/* hub_call(). What has to wait for its server is decided again if the rules change meanwhile. */
MUST_CHECK int gate_send(struct gate *g, const struct order_walk *w, const struct call_spec *spec,
                         uint64_t *out_id, struct pb_error *err);

/* ---- gate_hold.c ---- */

MUST_CHECK int gate_hold_back(struct gate *g, const struct order *o, const struct order_walk *w,
                              enum held_for why, uint64_t *out_id, struct pb_error *err);
struct held_order *held_find(const struct gate *g, uint64_t id);
bool held_is_id(uint64_t id);
/* Its caller gets this reply, inside; and it is gone. */
void held_fail(struct held_order *h, const struct pb_error *err, const char *status);
void held_free(struct held_order *h);
void held_end_all(struct gate *g);
void held_drop_caller(struct gate *g, const char *caller);
struct held_order *held_of_uuid(const struct gate *g, const char *uuid);
void gate_hold_init(struct gate *g);
/* Those that wait for room. */
void held_go_on(struct gate *g);
/* Something is permitted that was not: what waits for that is not asked any more. */
void held_more_granted(void *g);

/* ---- gate_record.c ---- */

bool gate_records(const struct gate *g, const struct tool_look *look);
/* `rule` (may be NULL) is the one that decided. */
struct run *run_new(struct gate *g, const struct order *o, const struct tool_look *look,
                    const char *rule, const char *answered_by);
/* call_spec.ended */
void run_ended(void *ctx, const struct call_end *e);
/* One that was never executed. */
void gate_record_stop(struct gate *g, const struct order *o, const struct tool_look *look,
                      const struct held_order *h, const char *rule, const char *status,
                      const struct pb_error *why);
