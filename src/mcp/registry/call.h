/* call.h - one request while a handler answers it: struct pb_call from the inside.
 *
 * A call belongs to the loop, but for the time that its handler runs: then everything below the
 * line belongs to the handler's thread. What both touch is atomic or behind `lock`. Three things
 * keep a call: being in progress, a worker that holds it, and events on their way to the loop.
 *
 *     running --> asking (questions are out) --> running ...
 *        |           |
 *        +-----------+--> over
 *
 * The request may end before the handler does: it was cancelled, timed out, or became a task.
 * Then the call takes the message with it, because the arguments lie in there. */
#pragma once
#include "mcp/rpc/rpc.h"
#include "mcp/serve/serve.h"
#include "registry_impl.h"
#include <stdarg.h>

enum call_kind { CALL_TOOL, CALL_RESOURCE, CALL_PROMPT, CALL_COMPLETE };
enum call_where { CALL_RUNNING, CALL_PARKED, CALL_OVER };

enum outcome_kind {
    OUTCOME_RESULT, /* `out` is the result object */
    OUTCOME_ERROR,  /* code, text, data */
    OUTCOME_ASK,    /* `asked` has questions, or there is a state to keep */
};

/* A question that was put, or is to be put in this round. */
struct ask {
    struct ask *next;
    struct pb_call *call;
    const struct ask_type *type;
    const char *key;
    struct span params, schema; /* JSON; schema: of a form */
    bool answered;              /* tasks may be answered bit by bit */
};

enum verdict {
    ANSWER_GOOD,
    ANSWER_WRONG,     /* well-formed, but not what was asked for: ask again */
    ANSWER_MALFORMED, /* no answer at all */
};

struct answer {
    struct answer *next;
    struct span key;
    struct span text; /* terminated */
};

/* A decoded argument, kept so that asking twice gives the same pointer. */
struct arg_text {
    struct arg_text *next;
    uint32_t at;
    bool raw;
    const char *text;
};

struct call_event;

struct pb_call {
    struct list in_registry;
    struct registry *reg;
    struct item *item;
    atomic_uint refs;
    enum call_kind kind;

    /* The loop's. */
    struct request *request; /* NULL: nobody waits for the answer */
    struct message *message; /* taken from the request when it ended first */
    struct task *task;       /* NULL: none, or it is gone */
    struct timer deadline;   /* of a task */
    enum call_where where;
    unsigned waiting, rounds; /* answers outstanding; rounds so far */

    atomic_bool cancelled;
    atomic_bool as_task; /* it is one, or will be as soon as the loop comes to it */
    bool completed;      /* the loop's: the outcome of this run was taken */

    /* Under the lock, with `wake` told of `cancelled`. */
    bool deferred, returned, finished, concluded;
    bool orphan; /* the loop may be gone */
    int status;
    bool posted;
    struct list events;
    size_t n_events;
    pthread_mutex_t lock;
    pthread_cond_t wake;

    /* ---- the handler's ---- */
    struct arena arena;
    const struct revision *rev;
    struct envelope env;
    struct json args;
    struct json_doc own_args; /* where `args` had to be written anew */
    struct buf args_text;
    struct span uri; /* resources */
    struct arg_text *texts;
    struct span typed, typed_for; /* completion: the word so far, and for which argument */
    bool detached;                /* what the handler may ask of `env` was copied */
    bool on_loop;                 /* the handler runs there */
    bool errors_as_rpc;
    bool has_text, failed, state_set;
    int64_t cache_ttl_ms;
    const char *cache_scope;

    struct buf out; /* the result object, as far as it is written */
    size_t blocks;
    struct buf structured;
    enum json_type structured_type;

    enum outcome_kind outcome;
    int code;
    struct buf text, data;

    struct span meta;   /* params._meta, JSON; empty: none */
    struct json inputs; /* params.inputResponses */
    struct ask *asked, **asked_end;
    size_t n_asked;
    struct answer *answers;
    struct span state;  /* pb_call_state() */
    struct buf missing; /* the capability that a question would have needed */
};

/* call.c. r is answered by the call from here on. */
struct pb_call *call_new(struct registry *reg, struct request *r, struct item *take_item,
                         enum call_kind kind);
void call_unref(struct pb_call *c);
/* Ends a call whose handler does not run (any more): answers with an error. */
void call_refuse(struct pb_call *c, int code, struct span data, const char *fmt, ...) PRINTF(4, 5);
/* The answer is there, or has become pointless: the call is over. */
void call_over(struct pb_call *c);
/* Nobody wants the answer. The handler, if it runs, is told. */
void call_cancel(struct pb_call *c);
/* Detaches the call from its request, which has been answered. */
void call_detach(struct pb_call *c);
/* The server goes. A handler that deferred its answer may finish much later. */
void call_orphan(struct pb_call *c);
/* Copies what lies in the client's session, which may end while the handler runs. */
void call_keep_facts(struct pb_call *c);

/* Of one run; 0: none. */
uint64_t call_time_limit(const struct pb_call *c);

/* call_run.c. Runs the handler, now or on a worker. */
void call_start(struct pb_call *c);
/* The handler has an outcome, or said something on its way: goes on with it. Loop thread. */
void call_look(struct pb_call *c);

/* call_args.c. False: the call was refused. */
bool call_set_arguments(struct pb_call *c, struct json arguments);
/* Takes the arguments from args_text, which was written by us. */
void call_set_written(struct pb_call *c);

/* call_outcome.c: writes the outcome from what was replied. On the handler's thread. */
void call_write_outcome(struct pb_call *c, int status);
/* The outcome "it failed", in words, as the kind of call and the error style want it. */
void call_fail_text(struct pb_call *c, struct span text);
void call_fail_rpc(struct pb_call *c, int code, struct span text, struct span data);
/* Sends the outcome as the answer to the request. Loop thread. */
void call_answer(struct pb_call *c);
/* Appends JSON that a program wrote: a message is one line. */
void put_json_line(struct buf *out, struct span json);
/* The result's members up to the first block, if that is still to come. */
void reply_begin(struct pb_call *c);
/* A block {"type":"text"}, or what stands for it in this kind of call. */
void reply_text(struct pb_call *c, struct span text);
void put_vprintf(struct buf *out, const char *fmt, va_list ap) PRINTF(2, 0);
/* What the program did wrong, for its log; the client learns that it failed. */
void call_misused(struct pb_call *c, const char *what);

/* call_events.c: what goes from the handler to the loop while it runs. */
void call_events_drain(struct pb_call *c);
void call_events_drop(struct pb_call *c);
/* The loop should look at the call; false if there is no loop any more. [any thread] */
bool call_poke(struct pb_call *c);

/* ask.c. Reads inputResponses and requestState; false: the call was refused. */
bool ask_begin(struct pb_call *c, struct span name);
/* The handler wants answers: asks the client. */
void ask_round(struct pb_call *c);
/* Looks at an answer, and keeps it if it is good. */
enum verdict ask_accept(struct pb_call *c, struct ask *a, struct json answer, struct pb_error *err);
/* The object of what is still to be answered: key to {"method","params"}. */
void ask_write(const struct pb_call *c, struct json_out *o, const char *key);
void ask_forget(struct pb_call *c);
