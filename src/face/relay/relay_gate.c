/* relay_gate.c - the gate wants to know whether a call may be made, and the client that made it can
 * be asked: as a question on the stream of its call, or with input_required. Others may answer
 * before it does. */
#include "gate/gate.h"
#include "mcp/rpc/rpc.h"
#include "mcp/serve/serve.h"
#include "relay_impl.h"

static void write_form(struct buf *out, const struct question *q)
{
    struct json_out o = json_out(out);

    json_begin_object(&o, NULL);
    json_begin_object(&o, "_meta");
    json_put_str(&o, RELAY_META_QUESTION, q->id);
    json_end(&o);
    json_put_fmt(&o, "message", "%s\n\nArguments: %s", q->text, q->arguments);
    json_begin_object(&o, "requestedSchema");
    json_put_str(&o, "type", "object");
    json_begin_object(&o, "properties");
    json_begin_object(&o, "decision");
    json_put_str(&o, "type", "string");
    json_put_str(&o, "title", "Decision");
    json_put_str(&o, "description",
                 "approve: this call; grant: this tool for the next minutes; deny: no");
    json_begin_array(&o, "enum");
    for (unsigned i = 0; i < CHOICE_COUNT; i++)
        json_put_str(&o, NULL, question_choice_name((enum question_choice)i));
    json_end(&o);
    json_end(&o);
    json_end(&o);
    json_begin_array(&o, "required");
    json_put_str(&o, NULL, "decision");
    json_end(&o);
    json_end(&o);
    json_end(&o);
}

static void on_answer(struct request *r, void *ctx, struct span result, const struct pb_error *err)
{
    struct relay_ask *a = ctx;
    struct relay *c = a->relay;

    (void)r;
    a->open = false;
    relay_hold(c);
    if (err)
        ask_refused(a, 0, err->msg);
    else
        ask_answered(a, result);
    relay_go_on(c);
    relay_release(c);
}

static bool ask_legacy(struct relay *c, struct relay_ask *a, struct span params)
{
    struct pb_error err;

    if (ask_put(a, params, on_answer, &err) < 0) {
        ask_free(a);
        return false;
    }
    if (c->where.now == RELAY_RUNNING)
        sm_move(&c->where, c, RELAY_ASKING);
    return true;
}

/* A rule may give people more time than servers get; what the client comes back with is good for
 * MCP_STATE_MS. */
static void be_patient(struct relay *c, const struct question *q)
{
    uint64_t wait = q->expires_at > q->asked_at ? (uint64_t)(q->expires_at - q->asked_at) : 0;

    wait = wait < MCP_STATE_MS ? wait : MCP_STATE_MS;
    c->patience_ms = wait > MCP_ASK_MS ? wait : MCP_ASK_MS;
}

bool relay_on_gate_question(void *ctx, const struct question *q)
{
    AUTO_BUF struct buf params = { 0 };
    struct relay *c = ctx;
    struct relay_ask *a;
    bool taken = true;

    if (!c->request || c->where.now == RELAY_OVER || c->n_asks >= MCP_QUESTIONS_MAX)
        return false;
    write_form(&params, q);
    if (!asks_have_room(c, buf_span(&params)))
        return false;
    relay_hold(c);
    if (c->request->env.era == ERA_LEGACY) {
        a = ask_new(c, QUESTION_FORM);
        a->gate_question = mem_dup(q->id);
        taken = ask_legacy(c, a, buf_span(&params));
    } else {
        be_patient(c, q);
        ask_keep(c, QUESTION_FORM, buf_span(&params))->gate_question = mem_dup(q->id);
    }
    relay_release(c);
    return taken;
}

void relay_on_gate_over(void *ctx, const struct question *q)
{
    struct relay *c = ctx;
    struct list *pos, *safe;

    relay_hold(c); /* telling the client may end its request */
    LIST_FOREACH(pos, safe, &c->asks) {
        struct relay_ask *a = CONTAINER_OF(pos, struct relay_ask, in_relay);

        if (a->gate_question && strcmp(a->gate_question, q->id) == 0) {
            ask_free(a);
            relay_go_on(c);
            break;
        }
    }
    relay_release(c);
}

/* Who closes the form without an answer has not said no: others may still be asked. */
void relay_answer_gate(struct relay *c, const char *id, struct span answer)
{
    AUTO_JSON struct json_doc doc = { 0 };
    struct question_answer a = { .by = ASK_CLIENT, .choice = CHOICE_COUNT };
    struct json action, decision;
    struct pb_error err;

    if (json_parse(&doc, answer, NULL, NULL) < 0)
        return;
    action = json_get(json_root(&doc), "action");
    decision = json_get(json_get(json_root(&doc), "content"), "decision");
    if (json_str_is(action, "decline"))
        a.choice = CHOICE_DENY;
    for (unsigned i = 0; json_str_is(action, "accept") && i < CHOICE_COUNT; i++)
        if (json_str_is(decision, question_choice_name((enum question_choice)i)))
            a.choice = (enum question_choice)i;
    if (a.choice != CHOICE_COUNT && c->set && gate_answer(c->set->gate, id, &a, &err) < 0)
        log_debug("an answer of a client came to nothing: %s", err.msg);
}
