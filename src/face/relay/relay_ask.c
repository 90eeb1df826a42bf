/* relay_ask.c - what a server may ask of a client, and a legacy server's questions on their way. */
#include "hub/link/link.h"
#include "mcp/rpc/rpc.h"
#include "mcp/serve/serve.h"
#include "relay_impl.h"

/* What is said of it when the client cannot be asked that. */
static const char *const cannot[QUESTION_KINDS] = {
    [QUESTION_FORM] = "The client does not support elicitation",
    [QUESTION_URL] = "The client does not support elicitation in URL mode",
    [QUESTION_MODEL] = "The client does not support sampling",
    [QUESTION_MODEL_TOOLS] = "The client does not support tools in sampling",
    [QUESTION_ROOTS] = "The client does not support roots",
};

unsigned asks_possible(const struct envelope *env)
{
    const bool can[] = {
        [QUESTION_FORM] = env->can_elicit,      [QUESTION_URL] = env->can_elicit_url,
        [QUESTION_MODEL] = env->can_sample,     [QUESTION_MODEL_TOOLS] = env->can_sample_tools,
        [QUESTION_ROOTS] = env->can_list_roots,
    };
    unsigned bits = 0;

    for (size_t i = 0; i < ARRAY_LEN(can); i++)
        bits |= can[i] ? 1U << i : 0;
    return bits;
}

/* What a legacy client says of tasks is not what a modern server would understand by it. */
static void put_extensions(struct json_out *o, struct json extensions, bool tasks,
                           struct arena *arena)
{
    json_begin_object(o, "extensions");
    JSON_FOREACH(member, extensions)
        if (tasks || !json_key_is(member, EXT_TASKS))
            json_put_raw_key(o, json_key_str(member, arena), json_text(member));
    json_end(o);
}

void asks_caps(struct buf *out, const struct envelope *env)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena arena = { 0 };
    struct json_out o = json_out(out);

    json_begin_object(&o, NULL);
    if (json_parse(&doc, env->client_caps, NULL, NULL) == 0)
        JSON_FOREACH(member, json_root(&doc)) {
            bool leave_out =
                json_key_is(member, "tasks") ||
                (json_key_is(member, "elicitation") && !env->can_elicit && !env->can_elicit_url) ||
                (json_key_is(member, "sampling") && !env->can_sample) ||
                (json_key_is(member, "roots") && !env->can_list_roots);

            if (json_key_is(member, "extensions") && json_is(member, JSON_OBJECT))
                put_extensions(&o, member, env->has_tasks, &arena);
            else if (!leave_out)
                json_put_raw_key(&o, json_key_str(member, &arena), json_text(member));
        }
    json_end(&o);
}

/* A client opens it in a browser: "javascript:", "file:" and what else a program may start are
 * nothing that a server has to send anybody to. */
static bool is_web_url(struct json url)
{
    static const char *const schemes[] = { "http://", "https://" };
    AUTO_ARENA struct arena arena = { 0 };
    struct span text = json_str(url, &arena);
    bool known = false;

    for (size_t i = 0; i < ARRAY_LEN(schemes); i++) {
        size_t n = strlen(schemes[i]);

        known |= text.n > n && span_is_nocase(span_make(text.p, n), schemes[i]);
    }
    for (size_t i = 0; i < text.n; i++)
        known &= (unsigned char)text.p[i] > 0x20 && text.p[i] != 0x7f;
    return known;
}

static bool can_be_asked(const struct relay *c, enum question_kind kind)
{
    return c->can & 1U << kind;
}

const char *ask_refusal(const struct relay *c, enum question_kind kind, struct json params)
{
    if (kind == QUESTION_KINDS)
        return "This is nothing that a client can be asked";
    if (!can_be_asked(c, kind))
        return cannot[kind];
    if (kind == QUESTION_URL && !is_web_url(json_get(params, "url")))
        return "The URL to be opened is none of http or https";
    return NULL;
}

struct relay_ask *ask_new(struct relay *c, enum question_kind kind)
{
    struct relay_ask *a = NEW(struct relay_ask);

    a->relay = c;
    a->kind = kind;
    list_append(&c->asks, &a->in_relay);
    c->n_asks++;
    return a;
}

int ask_put(struct relay_ask *a, struct span params, request_answer_fn *fn, struct pb_error *err)
{
    int rc = request_question(a->relay->request, question_method(a->kind), params, fn, a, err);

    a->open = rc == 0;
    return rc;
}

/* A request that has ended has taken its questions with it. */
void ask_free(struct relay_ask *a)
{
    struct request *r = a->relay->request;

    list_remove(&a->in_relay);
    a->relay->n_asks--;
    if (a->relay->set)
        a->relay->set->ask_bytes -= a->params_n;
    if (a->open && r)
        request_withdraw(r, a, "the server does not want to know it any more");
    free(a->key);
    free(a->params);
    free(a->answer);
    free(a->gate_question);
    free(a);
}

void ask_answered(struct relay_ask *a, struct span answer)
{
    AUTO_FREE char *gate_question = TAKE(a->gate_question);
    struct link_question *q = a->question;
    struct relay *c = a->relay;

    ask_free(a);
    if (gate_question)
        relay_answer_gate(c, gate_question, answer);
    else
        link_answer(q, answer);
}

/* A question of the gate stays: others may answer it. */
void ask_refused(struct relay_ask *a, int code, const char *why)
{
    struct link_question *q = a->question;

    ask_free(a);
    if (q)
        link_refuse(q, code, why);
}

void asks_drop(struct relay *c)
{
    while (!list_empty(&c->asks))
        ask_free(CONTAINER_OF(c->asks.next, struct relay_ask, in_relay));
}

/* ---- a legacy server asks ----------------------------------------------------------------- */

void relay_go_on(struct relay *c)
{
    if (!c->n_asks && c->where.now == RELAY_ASKING)
        sm_move(&c->where, c, RELAY_RUNNING);
}

static void on_answer(struct request *r, void *ctx, struct span result, const struct pb_error *err)
{
    struct relay_ask *a = ctx;
    struct link_question *q = a->question;
    struct relay *c = a->relay;

    (void)r;
    a->open = false;
    ask_free(a);
    relay_go_on(c);
    if (!err)
        link_answer(q, result);
    else
        link_refuse(q, err->code == PB_E_REMOTE ? err->sys : RPC_INTERNAL_ERROR, err->msg);
}

static void ask_client(struct relay *c, struct link_question *q, enum question_kind kind,
                       struct span params)
{
    struct relay_ask *a = ask_new(c, kind);
    struct pb_error err;

    a->question = q;
    if (ask_put(a, params, on_answer, &err) < 0) {
        ask_free(a);
        link_refuse(q, RPC_INTERNAL_ERROR, err.msg);
        return;
    }
    if (kind == QUESTION_URL)
        relay_note_url(c, params);
    if (c->where.now == RELAY_RUNNING)
        sm_move(&c->where, c, RELAY_ASKING);
}

struct relay_ask *ask_keep(struct relay *c, enum question_kind kind, struct span params)
{
    AUTO_BUF struct buf key = { 0 };
    struct relay_ask *a = ask_new(c, kind);

    buf_printf(&key, "q%u", ++c->last_key); /* keys are never used twice in a call */
    a->key = buf_take(&key);
    a->params = params.n ? mem_dupn(params.p, params.n) : NULL;
    a->params_n = params.n;
    c->set->ask_bytes += params.n;
    if (c->where.now == RELAY_RUNNING)
        relay_park_soon(c);
    return a;
}

bool asks_have_room(const struct relay *c, struct span params)
{
    return params.n <= RELAY_ASK_BYTES && c->set->ask_bytes + params.n <= RELAY_ASKS_BYTES;
}

static void take_question(struct relay *c, struct link_question *q, enum question_kind kind,
                          struct span params)
{
    if (c->where.now == RELAY_OVER)
        link_refuse(q, RPC_INTERNAL_ERROR, "Nobody waits for this call any more");
    else if (c->n_asks >= MCP_QUESTIONS_MAX)
        link_refuse(q, RPC_INTERNAL_ERROR, "Too many questions of this call are open");
    else if (c->request && c->request->env.era == ERA_LEGACY)
        ask_client(c, q, kind, params);
    else if (!asks_have_room(c, params))
        link_refuse(q, RPC_INTERNAL_ERROR, "This is more than can be kept until a client answers");
    else
        ask_keep(c, kind, params)->question = q;
}

/* The one place that decides whether a legacy server may ask this client; the link has decided that
 * it is this client's question. */
bool relay_on_question(void *ctx, struct link_question *q, struct span method, struct span params)
{
    static const struct json_opts shallow = { .keep_depth = 1 };
    AUTO_JSON struct json_doc doc = { 0 };
    struct relay *c = ctx;
    enum question_kind kind;
    const char *refusal;

    if (params.n && json_parse(&doc, params, &shallow, NULL) < 0) {
        link_refuse(q, RPC_INVALID_PARAMS, "The params are no JSON");
        return true;
    }
    kind = question_kind_of(method, json_root(&doc));
    if (!(c->can & question_kinds_of(method)))
        return false;
    refusal = ask_refusal(c, kind, json_root(&doc));
    if (refusal)
        link_refuse(q, RPC_INVALID_PARAMS, refusal);
    else
        take_question(c, q, kind, params);
    return true;
}

void relay_on_withdrawn(void *ctx, const struct link_question *q)
{
    struct relay *c = ctx;
    struct list *pos, *safe;

    relay_hold(c); /* telling the client may end its request */
    LIST_FOREACH(pos, safe, &c->asks) {
        struct relay_ask *a = CONTAINER_OF(pos, struct relay_ask, in_relay);

        if (a->question == q) {
            ask_free(a);
            if (c->where.now != RELAY_OVER)
                relay_go_on(c);
            break;
        }
    }
    relay_release(c);
}
