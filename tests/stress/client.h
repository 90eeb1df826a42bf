/* client.h - those who ask. A client lives many lives: each is a session, a process or a name of
 * its own, and what belongs to one life must not be seen in another. */
#pragma once
#include "stress.h"

enum { CALLS_MAX = 6, PAST_MAX = 256 };

enum client_state { CLIENT_AWAY, CLIENT_OPENING, CLIENT_READY };

/* A request without its last answer. */
struct call {
    bool used;
    bool abandoned; /* cancelled, or its connection is gone: it may stay unanswered */
    bool over;      /* it has been answered */
    bool lingers;   /* though its stream has not ended yet */
    bool harmed;    /* something was done to it that may make it fail */
    unsigned no;
    const struct server *server; /* NULL: the hub itself is asked */
    const char *method;          /* "tools/call" ... */
    char tool[32];
    char canary[CANARY_MAX];
    uint64_t began;
    int round;       /* modern: input_required answers so far */
    struct web *web; /* the exchange that brings the answer; NULL: another way, or cut off */
    char event[128]; /* the last event seen on it: where to go on */
    struct client *c;
};

struct client {
    unsigned no, life, n_calls; /* n_calls: of this life */
    const struct client_kind *kind;
    enum client_state state;
    bool asked_for_forms; /* declared what it can be asked */
    char session[80];     /* HTTP; the address of the posts for SSE */
    char event[128];      /* of the session's own stream */
    struct web *stream;   /* of the session, the hub's events, or SSE */
    struct chan *pipe;    /* stdio */
    pid_t pid;
    struct call calls[CALLS_MAX];
    uint64_t until; /* this life ends by itself */
    struct past {
        unsigned no;
        bool answered; /* an abandoned one may be answered later, once */
    } past[PAST_MAX];
    unsigned n_past;
};

/* How one talks to the hub. */
struct client_kind {
    const char *name;
    bool modern;
    const char *version;
    void (*open)(struct client *c);
    /* A request; `call` NULL: a notification, or an answer. */
    void (*say)(struct client *c, struct call *call, struct span message);
    /* `rude`: without a word. */
    void (*leave)(struct client *c, bool rude);
    /* Something of its own that may happen to it; may be NULL. */
    void (*mishap)(struct client *c);
};
extern const struct client_kind kind_stdio, kind_stdio_modern, kind_http, kind_http_new,
    kind_modern, kind_sse, kind_rest;

/* ---- client.c ---- */

void clients_begin(void);
/* Everybody does what comes to his mind. */
void clients_act(void);
/* No new calls; true when none is waited for any more. */
bool clients_settled(void);
void clients_leave(void);
void clients_end(void);
unsigned clients_waiting(void);

void client_ready(struct client *c);
/* Its connection is gone, or the hub has refused it: this life is over. */
void client_lost(struct client *c, const char *why);
/* It leaves, without a word. */
void client_go(struct client *c);
/* A message of the hub. `call`: the exchange on which it came; NULL: none. */
void client_heard(struct client *c, struct call *call, struct span message);
/* The first words of a session. */
void client_put_hello(struct client *c, struct buf *out);
const char *client_capabilities(const struct client *c);

/* Those of stdio are processes; how many have not ended yet. */
unsigned clients_reap(void);

/* ---- call.c ---- */

struct call *call_new(struct client *c);
void call_free(struct call *call);
/* The one with this id. */
struct call *call_find(struct client *c, struct span id);
/* The request as it is written; `more`: members of params, with a comma behind. */
void call_put(const struct call *call, struct buf *out, const char *more);
/* An answer: a result or an error. */
void call_answered(struct call *call, struct json message, struct span text);
/* The same for a result alone. */
void call_judge(struct call *call, struct span text, bool is_error);
void call_abandon(struct call *call);
/* Says so when one waits too long. */
void calls_watch(struct client *c);

/* ---- question.c ---- */

void question_heard(struct client *c, struct json message, struct span text);
/* The result for one question, as somebody would give it; empty: none. */
void question_answer(struct client *c, struct span method, struct span text, struct buf *out);
