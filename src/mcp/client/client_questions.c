/* client_questions.c - what a server asks of us: by request in the legacy era, by entries of an
 * input_required result in the modern one. For whoever answers there is no difference. */
#include "client_impl.h"
#include "mcp/rpc/rpc.h"

struct client_question {
    struct list link;
    struct client *c;
    struct client_call *call; /* modern: whose rounds want it; NULL: legacy */
    uint64_t call_id;
    char *key;    /* modern: the entry; legacy: the id of the request; as written */
    size_t bytes; /* of its params */
    bool moot;    /* nobody waits for the answer any more */
};

static bool is_declared(const struct client *c, enum question_kind kind)
{
    return c->answers & 1U << kind;
}

static struct client_question *question_new(struct client *c, struct client_call *call,
                                            uint64_t call_id, struct span key, size_t bytes)
{
    struct client_question *q = NEW(struct client_question);

    q->c = c;
    q->call = call;
    q->call_id = call_id;
    q->key = mem_dupn(key.p, key.n);
    q->bytes = bytes;
    list_append(&c->questions, &q->link);
    c->n_questions++;
    c->question_bytes += bytes;
    return q;
}

static void question_free(struct client_question *q)
{
    q->c->n_questions--;
    q->c->question_bytes -= q->bytes;
    list_remove(&q->link);
    free(q->key);
    free(q);
}

/* Off the list first: what the owner does may end the client and with it all its questions. */
static void question_withdraw(struct client_question *q)
{
    struct client *c = q->c;

    q->moot = true;
    if (!c->events.withdrawn || c->closing)
        return;
    list_remove(&q->link);
    client_ref(c);
    c->events.withdrawn(c->ctx, q);
    question_free(q);
    client_unref(c);
}

static void send_error(struct client *c, struct span id, int code, const char *message)
{
    AUTO_BUF struct buf text = { 0 };

    rpc_write_error(&text, id, code, span_of(message), SPAN(""));
    client_send_text(c, buf_span(&text));
}

static void send_result(struct client *c, struct span id, struct span result)
{
    AUTO_BUF struct buf text = { 0 };

    rpc_write_result_head(&text, id);
    buf_add_span(&text, result);
    buf_add_span(&text, RPC_RESULT_TAIL);
    client_send_text(c, buf_span(&text));
}

/* Whoever answers keeps what was asked until then: there is a bound in number and in sum. */
static bool has_room(const struct client *c, struct json params)
{
    return c->n_questions < MCP_QUESTIONS_MAX &&
           c->question_bytes + json_text(params).n <= MCP_QUESTIONS_BYTES_MAX;
}

void client_questions_receive(struct client *c, const struct rpc *rpc, uint64_t call_id)
{
    enum question_kind kind = question_kind_of(rpc->method, rpc->params);

    if (client_modern(c)) {
        log_warn("a modern server sent a request, ignoring it");
    } else if (span_is(rpc->method, "ping")) {
        send_result(c, rpc->id, SPAN("{}"));
    } else if (!(c->answers & question_kinds_of(rpc->method)) || !client_is_open(c)) {
        send_error(c, rpc->id, RPC_METHOD_NOT_FOUND, "Method not found");
    } else if (!is_declared(c, kind)) {
        send_error(c, rpc->id, RPC_INVALID_PARAMS, "This mode of elicitation was not declared");
    } else if (!has_room(c, rpc->params)) {
        send_error(c, rpc->id, RPC_INTERNAL_ERROR,
                   "Too many questions are open, or too large ones");
    } else {
        struct span params = json_text(rpc->params);

        c->events.question(c->ctx, question_new(c, NULL, call_id, rpc->id, params.n), call_id,
                           rpc->method, params);
    }
}

bool client_questions_ask(struct client_call *call, struct span key, struct json entry,
                          struct pb_error *err)
{
    struct client *c = call->c;
    AUTO_ARENA struct arena arena = { 0 };
    struct span method = json_str(json_get(entry, "method"), &arena);
    struct json params = json_get(entry, "params");

    if (!is_declared(c, question_kind_of(method, params))) {
        fail(err, PB_E_UNSUPPORTED, "%s: the server asks for '%.*s', which was not declared",
             call->method, (int)(method.n < 40 ? method.n : 40), method.p);
        return false;
    }
    if (!has_room(c, params)) {
        fail(err, PB_E_LIMIT, "%s: more than %d questions are open, or more than %d bytes of them",
             call->method, MCP_QUESTIONS_MAX, MCP_QUESTIONS_BYTES_MAX);
        return false;
    }
    c->events.question(c->ctx, question_new(c, call, call->id, key, json_text(params).n), call->id,
                       method, json_text(params));
    return true;
}

static bool is_object(struct span text)
{
    AUTO_JSON struct json_doc doc = { 0 };

    return json_parse(&doc, text, &(struct json_opts){ .keep_depth = 1 }, NULL) == 0 &&
           json_is(json_root(&doc), JSON_OBJECT);
}

void client_answer(struct client_question *q, struct span result)
{
    struct client *c = q->c;

    if (!is_object(result)) {
        client_refuse(q, RPC_INTERNAL_ERROR, "The answer is no JSON object");
        return;
    }
    client_ref(c);
    if (!q->moot && q->call)
        client_rounds_answer(q->call, span_of(q->key), result);
    else if (!q->moot)
        send_result(c, span_of(q->key), result);
    question_free(q);
    client_unref(c);
}

void client_refuse(struct client_question *q, int code, const char *message)
{
    struct client *c = q->c;
    struct client_call *call = q->moot ? NULL : q->call;
    struct pb_error err;

    client_ref(c);
    if (!q->moot && !call)
        send_error(c, span_of(q->key), code, message);
    question_free(q);
    if (call) {
        fail(&err, PB_E_CANCELLED, "%s: a question of the server was refused: %s", call->method,
             message);
        client_call_fail(call, &err, 0);
    }
    client_unref(c);
}

void client_questions_cancelled(struct client *c, struct json params)
{
    struct span id = json_text(json_get(params, "requestId"));
    struct list *pos, *safe;

    LIST_FOREACH(pos, safe, &c->questions) {
        struct client_question *q = CONTAINER_OF(pos, struct client_question, link);

        if (!q->call && span_eq(span_of(q->key), id)) {
            question_withdraw(q);
            return;
        }
    }
}

/* Each step looks anew: the owner may do what it likes. */
void client_questions_withdraw_all(struct client *c)
{
    while (c->events.withdrawn && !c->closing && !list_empty(&c->questions))
        question_withdraw(CONTAINER_OF(c->questions.next, struct client_question, link));
}

bool client_questions_open_for(struct client *c, uint64_t call_id)
{
    const struct client_call *call = client_call_find(c, call_id);
    struct list *pos, *safe;

    if (call && strcmp(call->method, "ping") == 0)
        return false; /* nobody has to be asked before it can be answered */
    LIST_FOREACH(pos, safe, &c->questions) {
        const struct client_question *q = CONTAINER_OF(pos, struct client_question, link);

        /* Over stdio nothing says whose question it is, so that it may be this one's. */
        if (!q->moot && (q->call_id == call_id || q->call_id == 0))
            return true;
    }
    return false;
}

void client_questions_forget(struct client *c, const struct client_call *call)
{
    struct list *pos, *safe;

    LIST_FOREACH(pos, safe, &c->questions) {
        struct client_question *q = CONTAINER_OF(pos, struct client_question, link);

        if (!call || q->call == call || q->call_id == call->id) {
            q->moot = true;
            q->call = NULL;
        }
    }
}

void client_questions_free(struct client *c)
{
    struct list *pos, *safe;

    LIST_FOREACH(pos, safe, &c->questions)
        question_free(CONTAINER_OF(pos, struct client_question, link));
}
