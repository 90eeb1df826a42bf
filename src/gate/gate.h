/* gate.h - the door of the room `gate`: the one way of a call, whoever asks and whatever answers.
 * An order walks the steps of one table (steps.c): each lets it pass, stops it, or has a question
 * asked; then it is executed, and what came of it is recorded. Loop thread.
 *
 * A call to which no rule can apply costs a look at its tool and the record. What has waited for an
 * answer is decided again before it is executed: an approval counts for the order it was asked
 * about, as the tool and the rules were then. */
#pragma once
#include "export.h"
#include "grants.h"
#include "hub/hub/hub.h"
#include "otlp.h"
#include "pins.h"
#include "policy.h"
#include "questions.h"
#include "store/store.h"
#include "webhook.h"

struct gate;

/* Through what an order came in. */
enum order_face { FACE_MCP, FACE_REST, FACE_CLI, FACE_AGENT, FACE_COUNT };
const char *order_face_name(enum order_face f); /* "mcp_server", "rest", "cli", "agent" */

/* Everything is borrowed until gate_call() returns, but for what call_spec says, and the scope. */
struct order {
    struct call_spec call; /* what is asked of whom, and who is told how it goes */
    enum order_face face;
    const struct scope *scope;   /* what the caller may see; outlives the order; NULL: everything */
    const char *mode;            /* its name, where the scope has one; or NULL */
    struct span arguments;       /* as they came, JSON; empty: none */
    struct blob *arguments_blob; /* what they lie in; NULL: they are copied */
    const char *conversation;    /* NULL: what belongs together is what the same caller asks */
    const char *directory;       /* where relative paths begin; NULL: not said */
    const char *parent;          /* the uuid of the call that this one continues; or NULL */
    struct span trace;           /* traceparent; empty: none */
    bool trace_told;             /* the params have it already */
    /* The caller can be asked itself. True: it is being asked, and gate_answer() may follow.
     * Always followed by ask_over, when nobody needs to answer any more. NULL: it cannot be. */
    bool (*ask)(void *ctx, const struct question *q);
    void (*ask_over)(void *ctx, const struct question *q);
};

struct gate_options {
    struct hub *hub;
    struct store *store;             /* NULL: nothing is recorded */
    enum record_detail detail;       /* of servers that say nothing about it */
    bool go_on;                      /* when a call cannot be recorded, it is made all the same */
    uint64_t ask_ms;                 /* how long a question waits; 0: GATE_ASK_MS */
    const struct pins_options *pins; /* borrowed; NULL: whatever servers say is let through */
    /* As store_options.redact: for what people are shown with a question. May be NULL. */
    bool (*redact)(void *ctx, struct buf *text, struct json_out *where);
    void *redact_ctx;
};
struct gate *gate_new(const struct gate_options *o);
/* Before the hub is closed: orders that wait end as CALL_SHUTDOWN and are not executed, and no more
 * are taken. */
void gate_close(struct gate *g);
/* After the hub has closed, and before the store is: what was under way has been recorded. NULL is
 * fine. */
void gate_free(struct gate *g);
/* Calls are recorded there from now on. Before the first of them. */
void gate_set_store(struct gate *g, struct store *s);
struct hub *gate_hub(const struct gate *g);
struct store *gate_store(const struct gate *g);
/* NULL: nothing is held against anything. */
struct pins *gate_pins(const struct gate *g);
/* Takes over detail, go_on, ask_ms and pins->changes. */
void gate_tune(struct gate *g, const struct gate_options *o);
/* The store says that it cannot write, or can again: store_options.changed. */
void gate_store_changed(struct gate *g, const struct pb_error *err);
/* There is room in it again: store_options.drained. */
void gate_store_drained(struct gate *g);

/* As hub_call(), with the same replies and these faults besides: FAULT_DENIED a rule or a person
 * does not want it, FAULT_UNRECORDED it could not be recorded, FAULT_HELD what it is of is not what
 * was approved. An order that waits for an answer
 * has time for that: its clock begins when it is executed. */
MUST_CHECK int gate_call(struct gate *g, const struct order *o, uint64_t *out_id,
                         struct pb_error *err);
/* See hub.h. An order that waits is one that is under way. */
bool gate_cancel(struct gate *g, uint64_t id, enum call_cancel why);
bool gate_cancel_uuid(struct gate *g, const char *uuid, enum call_cancel why);
bool gate_has_call(const struct gate *g, const char *uuid);
void gate_hold(struct gate *g, uint64_t id, bool held);
enum era gate_call_era(const struct gate *g, uint64_t id);
void gate_caller_left(struct gate *g, const char *caller);

/* ---- tools of our own, behind SPEC_OWN ---- */

/* What must be known of them before a call: what it means by the name and arguments that it came
 * with. `name` is the operation's ("file_operations.read_file"), `arguments` has one spelling for
 * each, so that what rules look at is what is executed. What means nothing is left empty: the tool
 * itself says so. */
struct own_wish {
    struct span tool, arguments;
    const char *directory; /* NULL: none was said */
};
struct own_tools {
    void (*read)(void *ctx, const struct own_wish *w, struct buf *name, struct buf *rewritten);
    /* Would it touch what a program may touch only when a person has allowed it? Then `reason` says
     * what: "Path '/etc/hosts' is outside working directory." Of what `read` has made of it. */
    bool (*reaches)(void *ctx, const struct own_wish *w, struct buf *reason);
    void *ctx;
};
void gate_set_own(struct gate *g, const struct own_tools *own);
/* Their calls have in _meta who asks: {"id","face","client","conversation","directory","person"}.
 * What the caller has written there is dropped. */
#define GATE_META_CALL "patchbay/call"

/* ---- rules ---- */

/* Takes a reference. Questions that the new rules would not ask are still asked: what was held back
 * once is let go by a person only. NULL: none. */
void gate_set_policy(struct gate *g, struct policy *p);
const struct policy *gate_policy(const struct gate *g);
struct grants *gate_grants(const struct gate *g);

/* Where a call would stop. The steps in order, each with what it says, as JSON: {"steps":[…],
 * "outcome":"allow"|"ask"|"deny"|…,"reason":…}. */
struct gate_dry {
    const char *server; /* NULL: a built-in */
    struct span tool;
    enum order_face face;
    const char *client, *mode;
    const char *conversation;  /* whose grants count; NULL: nobody's */
    const struct scope *scope; /* NULL: everything */
    struct span arguments;     /* empty: {} */
};
void gate_explain(struct gate *g, const struct gate_dry *d, struct json_out *o, const char *key);

/* ---- questions ---- */

/* Those that wait, oldest first. */
void gate_each_question(const struct gate *g, void (*fn)(void *ctx, const struct question *q),
                        void *ctx);
const struct question *gate_question(const struct gate *g, const char *id);
/* Once: -PB_E_NOT_FOUND there is no such question (any more), -PB_E_INVALID no such choice or who
 * answers may not. `by` is kept in the record: "console", "cli", "rest", "client". The order goes
 * on at the end of this turn. */
MUST_CHECK int gate_answer(struct gate *g, const char *id, const struct question_answer *a,
                           struct pb_error *err);
/* Told of each question that is put, and of each that is over; and that another call was recorded,
 * which store_find() shows. Either may be NULL. A listener may end its own listening meanwhile. At
 * most GATE_LISTENERS_MAX. */
/* Who is told must neither answer, cancel nor end what it is told of before it returns. */
struct gate_listener {
    void (*question)(void *ctx, const struct question *q, bool over);
    void (*recorded)(void *ctx);
    void *ctx;
};
/* False: as many as there may be listen already. Asked by who is not alone. */
bool gate_can_listen(const struct gate *g);
void gate_listen(struct gate *g, const struct gate_listener *l);
void gate_unlisten(struct gate *g, const void *ctx);
