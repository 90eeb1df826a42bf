/* ask_round.c - from a handler that wants answers to the client and back: input_required with a
 * signed state for modern clients, requests of our own for legacy ones, tasks/update for tasks. */
#include "ask.h"
#include "mcp/rpc/rpc.h"
#include "mcp/serve/serve.h"
#include "tasks.h"

static void bond(const struct pb_call *c, const struct request *r, struct state_bond *out,
                 struct span name)
{
    out->key = c->reg->key;
    out->principal = peer_principal(r->peer);
    state_digest(out->request, r->method, name, json_get(r->params, "arguments"));
}

bool ask_begin(struct pb_call *c, struct span name)
{
    struct request *r = c->request;
    struct json inputs = json_get(r->params, "inputResponses");
    struct json text = json_get(r->params, "requestState");
    struct state s = { 0 };
    struct state_bond b;
    struct pb_error err;

    if (c->rev->era != ERA_MODERN)
        return true;
    if (json_is(inputs, JSON_OBJECT)) {
        c->inputs = inputs;
    } else if (!json_is(inputs, JSON_NONE) && !json_is(inputs, JSON_NULL)) {
        call_refuse(c, RPC_INVALID_PARAMS, SPAN(""), "inputResponses: expected an object, got %s",
                    json_type_name(inputs));
        return false;
    }
    if (json_is(text, JSON_NONE) || json_is(text, JSON_NULL))
        return true;
    bond(c, r, &b, name);
    if (state_open(&s, json_str(text, &c->arena), &b, loop_wall(c->reg->loop), &c->arena, &err) <
            0 ||
        !ask_restore(c, s.answers)) {
        call_refuse(c, RPC_INVALID_PARAMS, SPAN(""), "requestState is not valid for this request");
        return false;
    }
    c->rounds = s.round;
    c->state = s.user;
    return true;
}

static void give_up(struct pb_call *c, const char *why)
{
    call_fail_text(c, span_of(why));
    if (c->task) {
        task_concluded(c);
    } else {
        call_answer(c);
        call_over(c);
    }
}

static struct span round_name(const struct pb_call *c)
{
    return c->kind == CALL_RESOURCE ? c->uri : c->item->key;
}

static void reply_input_required(struct pb_call *c)
{
    AUTO_BUF struct buf result = { 0 }, answers = { 0 }, sealed = { 0 };
    struct json_out o = json_out(&result);
    struct request *r = c->request;
    struct state s = { .user = c->state, .round = c->rounds };
    struct state_bond b;
    struct pb_error err;

    ask_answers(c, &answers);
    s.answers = buf_span(&answers);
    bond(c, r, &b, round_name(c));
    if (state_seal(&sealed, &s, &b, loop_wall(c->reg->loop), &err) < 0) {
        give_up(c, err.msg);
        return;
    }
    json_begin_object(&o, NULL);
    json_put_str(&o, "resultType", "input_required");
    if (c->asked)
        ask_write(c, &o, "inputRequests");
    json_put_span(&o, "requestState", buf_span(&sealed));
    json_end(&o);
    c->request = NULL;
    r->work = NULL;
    r->cancel = NULL;
    r->expire = NULL;
    request_reply(r, buf_span(&result));
    call_over(c);
}

static void on_answer(struct request *r, void *ctx, struct span result, const struct pb_error *err)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_BUF struct buf text = { 0 };
    struct ask *a = ctx;
    struct pb_call *c = a->call;
    struct pb_error why;

    (void)r;
    if (!err) {
        if (json_parse(&doc, result, NULL, &why) == 0 &&
            ask_accept(c, a, json_root(&doc), &why) != ANSWER_MALFORMED) {
            if (--c->waiting == 0)
                call_start(c);
            return;
        }
        err = &why;
    }
    buf_printf(&text, "The client did not answer '%s': %s", a->key, err->msg);
    give_up(c, buf_cstr(&text));
}

static void ask_by_request(struct pb_call *c)
{
    struct request *r = c->request;
    struct pb_error err;

    request_set_deadline(r, 0); /* people take longer than tools; MCP_ASK_MS is theirs */
    c->where = CALL_PARKED;
    c->waiting = (unsigned)c->n_asked;
    for (struct ask *a = c->asked; a; a = a->next) {
        if (request_question(r, ask_method(a), a->params, on_answer, a, &err) < 0) {
            give_up(c, err.msg);
            return;
        }
    }
}

void ask_round(struct pb_call *c)
{
    if (c->rounds++ == MCP_ASK_ROUNDS_MAX) {
        give_up(c, "The client was asked too often");
        return;
    }
    if (!c->asked && (c->task || c->rev->era != ERA_MODERN)) {
        call_start(c); /* it only wanted to be run again, with its state */
    } else if (c->task) {
        c->where = CALL_PARKED;
        task_asks(c);
    } else if (c->rev->era == ERA_MODERN) {
        reply_input_required(c);
    } else {
        ask_by_request(c);
    }
}
