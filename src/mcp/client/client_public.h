/* client_public.h - what the files behind pb_client_* share.
 *
 *   client_public.c            opening, freeing, what is known about the server
 *   client_public_calls.c      requests, waiting or not
 *   client_public_questions.c  questions, which may be answered from any thread */
#pragma once
#include "client.h"
#include <pthread.h>

/* What outlives a client: other threads may hold on to it through questions and cancellations that
 * are on their way. */
struct client_gate {
    pthread_mutex_t lock;
    unsigned refs;            /* lock */
    struct pb_loop *loop;     /* lock; NULL: posts lead nowhere any more */
    struct pb_client *client; /* the loop's thread only; NULL once it is being freed */
};

struct pb_client {
    struct client *core; /* NULL once it is being closed */
    struct pb_loop *loop;
    bool own_loop;
    struct client_gate *gate;
    struct list questions; /* struct pb_question, not answered yet */

    pb_question_fn *on_question;
    pb_notification_fn *on_notification;
    pb_closed_fn *on_closed;
    pb_log_fn *on_stderr;
    pb_challenge_fn *on_challenge;
    void *ctx;

    struct waiter *waiter; /* of pb_client_open() */
    pb_opened_fn *opened;  /* of pb_client_start() */
    void *opened_ctx;

    char *protocol, *server;            /* fixed when it was opened */
    char *challenge, *challenge_before; /* gate->lock; the one before may still be read */
};

struct client_gate *client_gate_new(struct pb_loop *l, struct pb_client *client);
void client_gate_ref(struct client_gate *g);
void client_gate_unref(struct client_gate *g);
/* Runs fn on the loop; false when there is no loop any more. [any thread] */
bool client_gate_post(struct client_gate *g, loop_fn *fn, void *ctx);

/* The event of the core. */
void client_public_question(void *ctx, struct client_question *q, uint64_t call_id,
                            struct span method, struct span params);
/* On the loop: what is still open leads nowhere from now on. */
void client_public_forget_questions(struct pb_client *client);
/* On the loop, when something failed: keeps and tells the challenge of a refusal. */
void client_public_refused(struct pb_client *client, const struct pb_error *err);

struct pb_result {
    char *json; /* terminated */
    size_t n;
};

struct pb_result *result_new(struct span json);
