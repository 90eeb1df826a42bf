/* question.c - requests of ours to a legacy client: in the middle of one of its own, or without
 * any. */
#include "mcp/rpc/rpc.h"
#include "peer_impl.h"
#include <stdio.h>

struct peer_question {
    struct list in_peer, in_request;
    struct peer *peer;
    struct request *request; /* NULL: it belongs to none */
    uint64_t id, limit_ms;
    request_answer_fn *fn; /* one of the two */
    peer_answer_fn *peer_fn;
    void *ctx;
    struct timer timer;
};

/* Ends it. What is told afterwards, to the client or to whoever asked, may close anything: nobody
 * finds it any more. */
static struct peer_question take(struct peer_question *q)
{
    struct peer_question was = *q;

    timer_stop(&q->timer);
    list_remove(&q->in_peer);
    list_remove(&q->in_request);
    q->peer->n_questions--;
    free(q);
    return was;
}

static void tell_asker(const struct peer_question *was, struct span result, const struct pb_error *err)
{
    if (was->fn)
        was->fn(was->request, was->ctx, result, err);
    else if (was->peer_fn)
        was->peer_fn(was->peer, was->ctx, result, err);
}

static void question_end(struct peer_question *q, struct span result, const struct pb_error *err)
{
    struct peer_question was = take(q);

    tell_asker(&was, result, err);
}

static void tell_cancelled(const struct peer_question *q, const char *reason)
{
    AUTO_BUF struct buf params = { 0 };
    struct json_out o = json_out(&params);

    if (q->peer->closed)
        return;
    json_begin_object(&o, NULL);
    json_put_uint(&o, "requestId", q->id);
    json_put_str(&o, "reason", reason);
    json_end(&o);
    peer_notify(q->peer, q->request, "notifications/cancelled", buf_span(&params));
}

static void on_timeout(void *ctx)
{
    struct peer_question was = take(ctx);
    struct pb_error err;

    fail(&err, PB_E_TIMEOUT, "the client did not answer within %llu s",
         (unsigned long long)was.limit_ms / 1000);
    tell_cancelled(&was, "timeout");
    if (!was.request || !was.request->over)
        tell_asker(&was, SPAN(""), &err);
}

/* Takes what is set in `like`. */
static int ask(struct peer *p, const struct peer_question *like, const char *method, struct span params,
               struct pb_error *err)
{
    struct buf *out = &p->server->out;
    struct peer_question *q;
    struct span whole;

    if (p->n_questions >= MCP_QUESTIONS_MAX)
        return fail(err, PB_E_LIMIT, "%s: %d questions to this client are open already", method,
                    MCP_QUESTIONS_MAX);
    q = NEW(struct peer_question);
    *q = *like;
    q->peer = p;
    q->id = ++p->last_question;
    list_append(&p->questions, &q->in_peer);
    list_init(&q->in_request);
    if (q->request)
        list_append(&q->request->questions, &q->in_request);
    p->n_questions++;
    timer_init(&q->timer, p->server->loop, on_timeout, q);
    timer_start(&q->timer, q->limit_ms);

    out->n = 0;
    buf_printf(out, "{\"jsonrpc\":\"2.0\",\"id\":%llu,\"method\":\"%s\"", (unsigned long long)q->id,
               method);
    if (params.n) {
        buf_str(out, ",\"params\":");
        buf_add_span(out, params);
    }
    buf_byte(out, '}');
    whole = buf_span(out);
    p->ops->send(p->transport, q->request, SEND_QUESTION, &whole, 1);
    return 0;
}

int request_question(struct request *r, const char *method, struct span params,
                     request_answer_fn *fn, void *ctx, struct pb_error *err)
{
    struct peer_question like = { .request = r, .limit_ms = MCP_ASK_MS, .fn = fn, .ctx = ctx };

    if (r->env.era != ERA_LEGACY)
        return fail(err, PB_E_UNSUPPORTED, "%s: modern clients are not asked by request", method);
    if (r->over)
        return fail(err, PB_E_CLOSED, "%s: the request has ended", method);
    return ask(r->peer, &like, method, params, err);
}

int peer_question(struct peer *p, const char *method, struct span params, uint64_t timeout_ms,
                  peer_answer_fn *fn, void *ctx, struct pb_error *err)
{
    struct peer_question like = { .limit_ms = timeout_ms, .peer_fn = fn, .ctx = ctx };

    if (p->era != ERA_LEGACY || !p->initialized)
        return fail(err, PB_E_UNSUPPORTED,
                    "%s: only legacy clients that have shaken hands can be "
                    "asked by request",
                    method);
    if (p->closed)
        return fail(err, PB_E_CLOSED, "%s: the client has left", method);
    return ask(p, &like, method, params, err);
}

/* Ours are whole numbers; a string that spells the same digits is not our id. */
static struct peer_question *question_find(const struct peer *p, struct span id)
{
    struct list *pos, *safe;
    char text[24];

    LIST_FOREACH(pos, safe, &p->questions) {
        struct peer_question *q = CONTAINER_OF(pos, struct peer_question, in_peer);

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
    struct peer_question *q = question_find(p, m->rpc.id);
    AUTO_ARENA struct arena arena = { 0 };
    struct pb_error err;

    if (!q) {
        log_debug("an answer to no open question was dropped");
    } else if (m->rpc.kind == RPC_ERROR) {
        read_error(&err, m->rpc.error, &arena);
        question_end(q, SPAN(""), &err);
    } else {
        question_end(q, json_text(m->rpc.result), NULL);
    }
}

static void withdraw(struct peer_question *q, const char *reason)
{
    struct peer_question was = take(q);

    tell_cancelled(&was, reason);
}

void request_withdraw(struct request *r, const void *ctx, const char *reason)
{
    struct list *pos, *safe;

    LIST_FOREACH(pos, safe, &r->questions) {
        struct peer_question *q = CONTAINER_OF(pos, struct peer_question, in_request);

        if (q->ctx == ctx) {
            withdraw(q, reason);
            return;
        }
    }
}

void peer_withdraw(struct peer *p, const void *ctx, const char *reason)
{
    struct list *pos, *safe;

    LIST_FOREACH(pos, safe, &p->questions) {
        struct peer_question *q = CONTAINER_OF(pos, struct peer_question, in_peer);

        if (!q->request && q->ctx == ctx) {
            withdraw(q, reason);
            return;
        }
    }
}

void questions_drop(struct request *r)
{
    while (!list_empty(&r->questions))
        withdraw(CONTAINER_OF(r->questions.next, struct peer_question, in_request),
                 "the request has ended");
}

void questions_close(struct peer *p)
{
    struct pb_error err;

    fail(&err, PB_E_CLOSED, "the client has left");
    while (!list_empty(&p->questions))
        question_end(CONTAINER_OF(p->questions.next, struct peer_question, in_peer), SPAN(""), &err);
}
