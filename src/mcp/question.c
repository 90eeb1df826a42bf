/* question.c - requests of ours to a legacy client, in the middle of one of its own. */
#include "peer_impl.h"
#include <stdio.h>

struct question {
    struct list in_peer, in_request;
    struct request *request;
    uint64_t id;
    request_answer_fn *fn;
    void *ctx;
    struct timer timer;
};

static void question_free(struct question *q)
{
    timer_stop(&q->timer);
    list_remove(&q->in_peer);
    list_remove(&q->in_request);
    q->request->peer->n_questions--;
    free(q);
}

static void tell_cancelled(const struct question *q, const char *reason)
{
    AUTO_BUF struct buf params = { 0 };
    struct json_out o = json_out(&params);

    if (q->request->peer->closed)
        return;
    json_begin_object(&o, NULL);
    json_put_uint(&o, "requestId", q->id);
    json_put_str(&o, "reason", reason);
    json_end(&o);
    peer_notify(q->request->peer, q->request, "notifications/cancelled", buf_span(&params));
}

static void on_timeout(void *ctx)
{
    struct question *q = ctx;
    struct request *r = q->request;
    request_answer_fn *fn = q->fn;
    void *fn_ctx = q->ctx;
    struct pb_error err;

    fail(&err, PB_E_TIMEOUT, "the client did not answer within %d s", MCP_ASK_MS / 1000);
    tell_cancelled(q, "timeout");
    question_free(q);
    fn(r, fn_ctx, SPAN(""), &err);
}

int request_question(struct request *r, const char *method, struct span params,
                     request_answer_fn *fn, void *ctx, struct pb_error *err)
{
    struct peer *p = r->peer;
    struct buf *out = &r->server->out;
    struct question *q;
    struct span whole;

    if (r->env.era != ERA_LEGACY)
        return fail(err, PB_E_UNSUPPORTED, "%s: modern clients are not asked by request", method);
    if (r->over)
        return fail(err, PB_E_CLOSED, "%s: the request has ended", method);
    if (p->n_questions >= MCP_QUESTIONS_MAX)
        return fail(err, PB_E_LIMIT, "%s: %d questions to this client are open already", method,
                    MCP_QUESTIONS_MAX);
    q = NEW(struct question);
    *q = (struct question){ .request = r, .id = ++p->last_question, .fn = fn, .ctx = ctx };
    list_append(&p->questions, &q->in_peer);
    list_append(&r->questions, &q->in_request);
    p->n_questions++;
    timer_init(&q->timer, r->server->loop, on_timeout, q);
    timer_start(&q->timer, MCP_ASK_MS);

    out->n = 0;
    buf_printf(out, "{\"jsonrpc\":\"2.0\",\"id\":%llu,\"method\":\"%s\"", (unsigned long long)q->id,
               method);
    if (params.n) {
        buf_str(out, ",\"params\":");
        buf_add_span(out, params);
    }
    buf_byte(out, '}');
    whole = buf_span(out);
    p->ops->send(p->transport, r, SEND_QUESTION, &whole, 1);
    return 0;
}

/* Ours are whole numbers; a string that spells the same digits is not our id. */
static struct question *question_find(const struct peer *p, struct span id)
{
    struct list *pos, *safe;
    char text[24];

    LIST_FOREACH(pos, safe, &p->questions) {
        struct question *q = CONTAINER_OF(pos, struct question, in_peer);

        snprintf(text, sizeof text, "%llu", (unsigned long long)q->id);
        if (span_is(id, text))
            return q;
    }
    return NULL;
}

static void read_error(struct pb_error *err, struct json error, struct arena *arena)
{
    struct span message = json_str(json_get(error, "message"), arena);
    int64_t code = 0;

    if (json_int(json_get(error, "code"), &code, NULL) < 0 || code < INT32_MIN || code > INT32_MAX)
        code = RPC_INTERNAL_ERROR;
    if (!message.n)
        message = SPAN("the client answered with an error");
    fail(err, PB_E_REMOTE, "%.*s", SPAN_ARG(message));
    err->sys = (int)code;
}

void questions_answered(struct peer *p, const struct message *m)
{
    struct question *q = question_find(p, m->rpc.id);
    AUTO_ARENA struct arena arena = { 0 };
    struct request *r;
    request_answer_fn *fn;
    struct pb_error err;
    void *ctx;

    if (!q) {
        p->stray_answers++;
        log_debug("an answer to no open question was dropped");
        return;
    }
    r = q->request;
    fn = q->fn;
    ctx = q->ctx;
    question_free(q);
    if (m->rpc.kind == RPC_ERROR) {
        read_error(&err, m->rpc.error, &arena);
        fn(r, ctx, SPAN(""), &err);
    } else {
        fn(r, ctx, json_text(m->rpc.result), NULL);
    }
}

void questions_drop(struct request *r)
{
    while (!list_empty(&r->questions)) {
        struct question *q = CONTAINER_OF(r->questions.next, struct question, in_request);

        tell_cancelled(q, "the request has ended");
        question_free(q);
    }
}
