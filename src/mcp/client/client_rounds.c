/* client_rounds.c - requests that take several rounds (modern era): the server answers
 * input_required, we gather answers and send the same request again with them. What the server
 * gave as requestState goes back as the bytes it was. */
#include "client_impl.h"

struct round_entry {
    char *key;    /* as written, without quotes */
    char *answer; /* JSON; NULL while awaited */
};

struct rounds {
    struct round_entry *entries;
    size_t n, answered;
    char *state; /* JSON string as written; NULL: none was given */
    bool asking; /* while questions are being put: answers may come already */
};

static void give_up(struct client_call *call, const struct pb_error *why)
{
    client_call_fail(call, why, 0);
}

void client_rounds_free(struct client_call *call)
{
    struct rounds *r = TAKE(call->rounds);

    if (!r)
        return;
    for (size_t i = 0; i < r->n; i++) {
        free(r->entries[i].key);
        free(r->entries[i].answer);
    }
    free(r->entries);
    free(r->state);
    free(r);
}

static int check_round(const struct client_call *call, struct json requests, struct json state,
                       struct pb_error *err)
{
    if (call->rounds_done > MCP_CLIENT_ROUNDS_MAX)
        return fail(err, PB_E_LIMIT, "%s: the server asks for more than %d rounds", call->method,
                    MCP_CLIENT_ROUNDS_MAX);
    if (!json_is(requests, JSON_OBJECT) && !json_is(requests, JSON_NONE))
        return fail(err, PB_E_INVALID, "%s: inputRequests is no object", call->method);
    if (!json_is(state, JSON_STRING) && !json_is(state, JSON_NONE))
        return fail(err, PB_E_INVALID, "%s: requestState is no string", call->method);
    if (json_len(requests) == 0 && json_is(state, JSON_NONE))
        return fail(err, PB_E_INVALID, "%s: the server wants input but does not say what",
                    call->method);
    if (json_len(requests) > MCP_QUESTIONS_MAX)
        return fail(err, PB_E_LIMIT, "%s: the server asks more than %d questions at once",
                    call->method, MCP_QUESTIONS_MAX);
    return 0;
}

static struct rounds *rounds_new(struct json requests, struct json state)
{
    struct rounds *r = NEW(struct rounds);
    struct span text = json_text(state);
    size_t i = 0;

    r->n = json_len(requests);
    r->entries = mem_zero((r->n + 1) * sizeof *r->entries);
    r->state = text.n ? mem_dupn(text.p, text.n) : NULL;
    JSON_FOREACH(entry, requests)
        r->entries[i++].key = mem_dupn(json_key(entry).p, json_key(entry).n);
    return r;
}

/* Puts the questions; answers may come from inside, and may even end the call. */
static void ask_all(struct client_call *call, struct json requests)
{
    struct client *c = call->c;
    uint64_t id = call->id;
    struct pb_error err;

    call->rounds->asking = true;
    JSON_FOREACH(entry, requests) {
        if (!client_questions_ask(call, json_key(entry), entry, &err)) {
            give_up(call, &err);
            return;
        }
        if (client_call_find(c, id) != call)
            return;
    }
    call->rounds->asking = false;
    if (call->rounds->answered == call->rounds->n)
        client_call_resend(call);
}

void client_rounds_begin(struct client_call *call, struct span result)
{
    static const struct json_opts opts = { .keep_depth = 4, .unique_depth = 3 };
    AUTO_JSON struct json_doc doc = { 0 };
    struct json requests, state;
    struct pb_error err;

    call->rounds_done++;
    if (json_parse(&doc, result, &opts, &err) < 0) {
        give_up(call, &err);
        return;
    }
    requests = json_get(json_root(&doc), "inputRequests");
    state = json_get(json_root(&doc), "requestState");
    if (check_round(call, requests, state, &err) < 0) {
        give_up(call, &err);
        return;
    }
    client_rounds_free(call);
    call->rounds = rounds_new(requests, state);
    if (call->rounds->n == 0) {
        client_call_move(call, CALL_PAUSING);
        timer_start(&call->timer, MCP_ROUND_PAUSE_MS);
        return;
    }
    client_call_move(call, CALL_ASKING);
    timer_start(&call->timer, MCP_ASK_MS);
    ask_all(call, requests);
}

void client_rounds_answer(struct client_call *call, struct span key, struct span result)
{
    struct rounds *r = call->rounds;

    for (size_t i = 0; r && i < r->n; i++) {
        struct round_entry *e = &r->entries[i];

        if (e->answer || !span_is(key, e->key))
            continue;
        e->answer = mem_dupn(result.p, result.n);
        r->answered++;
        break;
    }
    if (r && !r->asking && r->answered == r->n) {
        call->started = loop_now(call->c->loop); /* the time people took is not the server's */
        client_call_resend(call);
    }
}

void client_rounds_write(const struct client_call *call, struct buf *out)
{
    const struct rounds *r = call->rounds;

    if (!r)
        return;
    if (r->n) {
        buf_str(out, "\"inputResponses\":{");
        for (size_t i = 0; i < r->n; i++)
            buf_printf(out, "%s\"%s\":%s", i ? "," : "", r->entries[i].key, r->entries[i].answer);
        buf_byte(out, '}');
    }
    if (r->state)
        buf_printf(out, "%s\"requestState\":%s", r->n ? "," : "", r->state);
}
