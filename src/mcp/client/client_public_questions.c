#include "client_public.h"

struct client_gate *client_gate_new(struct pb_loop *l, struct pb_client *client)
{
    struct client_gate *g = NEW(struct client_gate);

    pthread_mutex_init(&g->lock, NULL);
    g->refs = 1;
    g->loop = l;
    g->client = client;
    return g;
}

void client_gate_ref(struct client_gate *g)
{
    pthread_mutex_lock(&g->lock);
    g->refs++;
    pthread_mutex_unlock(&g->lock);
}

void client_gate_unref(struct client_gate *g)
{
    bool last;

    pthread_mutex_lock(&g->lock);
    last = --g->refs == 0;
    pthread_mutex_unlock(&g->lock);
    if (!last)
        return;
    pthread_mutex_destroy(&g->lock);
    free(g);
}

bool client_gate_post(struct client_gate *g, loop_fn *fn, void *ctx)
{
    bool posted;

    pthread_mutex_lock(&g->lock);
    posted = g->loop && loop_post(g->loop, fn, ctx, NULL) == 0;
    pthread_mutex_unlock(&g->lock);
    return posted;
}

struct pb_question {
    struct list link;             /* in the client's questions; the loop's thread only */
    struct client_question *core; /* NULL: nobody waits any more; the loop's thread only */
    struct client_gate *gate;
    /* the answer, once it is given */
    char *result, *message;
    int code;
};

static void question_free(struct pb_question *q)
{
    client_gate_unref(q->gate);
    free(q->result);
    free(q->message);
    free(q);
}

static void answer_now(void *ctx)
{
    struct pb_question *q = ctx;
    struct client_question *core = TAKE(q->core);

    list_remove(&q->link);
    if (core && q->result)
        client_answer(core, span_of(q->result));
    else if (core)
        client_refuse(core, q->code, q->message);
    question_free(q);
}

void pb_question_answer(struct pb_question *question, const char *result)
{
    question->result = mem_dup(result);
    if (!client_gate_post(question->gate, answer_now, question))
        question_free(question);
}

void pb_question_refuse(struct pb_question *question, int code, const char *message)
{
    question->code = code;
    question->message = mem_dup(message ? message : "Refused");
    if (!client_gate_post(question->gate, answer_now, question))
        question_free(question);
}

void client_public_question(void *ctx, struct client_question *core, uint64_t call_id,
                            struct span method, struct span params)
{
    struct pb_client *client = ctx;
    struct pb_question *q = NEW(struct pb_question);
    AUTO_FREE char *method_text = mem_dupn(method.p, method.n);
    AUTO_FREE char *params_text = params.n ? mem_dupn(params.p, params.n) : mem_dup("{}");

    (void)call_id;
    q->core = core;
    q->gate = client->gate;
    client_gate_ref(q->gate);
    list_append(&client->questions, &q->link);
    client->on_question(client->ctx, q, method_text, params_text);
}

void client_public_forget_questions(struct pb_client *client)
{
    while (!list_empty(&client->questions)) {
        struct pb_question *q = CONTAINER_OF(client->questions.next, struct pb_question, link);

        q->core = NULL;
        list_remove(&q->link);
    }
}
