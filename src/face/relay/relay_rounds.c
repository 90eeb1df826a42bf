/* relay_rounds.c - a modern server wants input: a modern client gets what it said, with a state of
 * ours around the server's; a legacy client is asked question by question, and then the server is
 * asked again with the answers. */
#include "mcp/rpc/rpc.h"
#include "mcp/serve/serve.h"
#include "relay_impl.h"

struct required {
    struct json requests, state;
};

static int check_asked(const struct relay *c, struct json requests, struct pb_error *err)
{
    AUTO_ARENA struct arena arena = { 0 };

    JSON_FOREACH(entry, requests) {
        struct span method = json_str(json_get(entry, "method"), &arena);
        struct json params = json_get(entry, "params");
        const char *refusal = ask_refusal(c, question_kind_of(method, params), params);

        if (refusal)
            return fail(err, PB_E_UNSUPPORTED, "Server '%s' asks for what it may not: %s",
                        c->server, refusal);
    }
    return 0;
}

int relay_read_asked(const struct relay *c, struct json requests, struct json_doc *doc,
                     struct json *out, struct pb_error *err)
{
    static const struct json_opts opts = { .keep_depth = 3, .unique_depth = 3 };
    int rc;

    *out = requests;
    if (json_is(requests, JSON_NONE))
        return 0;
    if (!json_is(requests, JSON_OBJECT))
        return fail(err, PB_E_INVALID, "Server '%s': inputRequests is no object", c->server);
    rc = json_parse(doc, json_text(requests), &opts, err);
    if (rc < 0)
        return rc;
    *out = json_root(doc);
    if (json_len(*out) > MCP_QUESTIONS_MAX)
        return fail(err, PB_E_LIMIT, "Server '%s' asks more than %d questions at once", c->server,
                    MCP_QUESTIONS_MAX);
    return check_asked(c, *out, err);
}

static int read_required(const struct relay *c, struct json result, struct json_doc *doc,
                         struct required *out, struct pb_error *err)
{
    int rc = relay_read_asked(c, json_get(result, "inputRequests"), doc, &out->requests, err);

    if (rc < 0)
        return rc;
    out->state = json_get(result, "requestState");
    if (!json_is(out->state, JSON_STRING) && !json_is(out->state, JSON_NONE))
        return fail(err, PB_E_INVALID, "Server '%s': requestState is no string", c->server);
    if (json_len(out->requests) == 0 && json_is(out->state, JSON_NONE))
        return fail(err, PB_E_INVALID, "Server '%s' wants input but does not say what", c->server);
    return 0;
}

static void give_up(struct relay *c, const struct pb_error *err)
{
    relay_reply_fault(c, err);
    relay_end(c);
}

/* ---- modern clients ----------------------------------------------------------------------- */

/* Its bytes as they are, but for requestState; ours is always there, so that the retry comes back
 * to the same server. */
static int pass_on(struct relay *c, struct json result, const struct required *q,
                   struct pb_error *err)
{
    AUTO_BUF struct buf sealed = { 0 };
    struct span text = json_text(result);
    struct relay_state st = {
        .server = span_of(c->server),
        .subject = c->subject,
        .upstream = json_text(q->state),
    };
    struct edit edit = { .at = text.n - 1 };
    int rc;

    if (st.upstream.n)
        edit = (struct edit){ (size_t)(st.upstream.p - text.p), st.upstream.n, SPAN("") };
    else
        buf_str(&sealed, ",\"requestState\":");
    buf_byte(&sealed, '"');
    rc = relay_seal(&sealed, c->set, c->request, &st, 1, err);
    if (rc < 0)
        return rc;
    buf_byte(&sealed, '"');
    edit.put = buf_span(&sealed);
    request_reply_edited(c->request, result, &edit, 1);
    relay_end(c);
    return 0;
}

/* ---- legacy clients ----------------------------------------------------------------------- */

static void put_answers(struct buf *out, const struct relay *c)
{
    struct list *pos, *safe;
    const char *comma = "\"inputResponses\":{";

    LIST_FOREACH(pos, safe, &c->asks) {
        const struct relay_ask *a = CONTAINER_OF(pos, struct relay_ask, in_relay);

        buf_printf(out, "%s\"%s\":%s", comma, a->key, a->answer);
        comma = ",";
    }
    buf_str(out, c->n_asks ? "}" : "");
    if (c->upstream)
        buf_printf(out, "%s\"requestState\":%s", c->n_asks ? "," : "", c->upstream);
}

void relay_ask_again(struct relay *c)
{
    struct span params = span_trim(blob_span(c->params));
    AUTO_BUF struct buf again = { 0 };

    /* What the client said at first stays as it is; the answers stand behind it. */
    buf_add(&again, params.p, params.n - 1);
    if (span_trim(span_make(params.p + 1, params.n - 2)).n)
        buf_byte(&again, ',');
    put_answers(&again, c);
    buf_byte(&again, '}');
    asks_drop(c);
    sm_move(&c->where, c, RELAY_RUNNING);
    relay_call(c, buf_span(&again), false);
}

static bool all_answered(const struct relay *c)
{
    struct list *pos, *safe;

    LIST_FOREACH(pos, safe, &c->asks)
        if (!CONTAINER_OF(pos, struct relay_ask, in_relay)->answer)
            return false;
    return true;
}

static void on_answer(struct request *r, void *ctx, struct span result, const struct pb_error *err)
{
    struct relay_ask *a = ctx;
    struct relay *c = a->relay;
    struct pb_error why;

    (void)r;
    a->open = false;
    if (err) {
        fail(&why, PB_E_CANCELLED, "The client did not answer the question '%.60s': %s", a->key,
             err->msg);
        give_up(c, &why);
        return;
    }
    a->answer = mem_dupn(result.p, result.n);
    if (all_answered(c))
        relay_ask_again(c);
}

/* Clients of the last legacy revision tell URLs apart by an id that modern servers do not give. */
static struct span legacy_params(enum question_kind kind, struct json params, struct buf *out)
{
    struct span text = json_text(params);
    char id[UUID_CHARS + 1];

    if (kind != QUESTION_URL || !json_is(json_get(params, "elicitationId"), JSON_NONE))
        return text;
    id_uuid(id);
    buf_printf(out, "{\"elicitationId\":\"%s\",", id); /* `mode` follows, so it is not empty */
    buf_add_span(out, span_from(text, 1));
    return buf_span(out);
}

static int ask_one(struct relay *c, struct json entry, struct pb_error *err)
{
    AUTO_ARENA struct arena arena = { 0 };
    AUTO_BUF struct buf text = { 0 };
    struct json params = json_get(entry, "params");
    struct span key = json_key(entry);
    struct span method = json_str(json_get(entry, "method"), &arena);
    enum question_kind kind = question_kind_of(method, params);
    struct relay_ask *a = ask_new(c, kind);

    a->key = mem_dupn(key.p, key.n);
    return ask_put(a, legacy_params(kind, params, &text), on_answer, err);
}

/* Answers come later, never from inside request_question(). */
static int ask_legacy(struct relay *c, const struct required *q, struct pb_error *err)
{
    struct span state = json_text(q->state);
    int rc;

    /* They were not kept if the server was legacy when it was called: nothing can be said again. */
    if (!c->params)
        return fail(err, PB_E_INVALID, "Server '%s' answered with a kind of result that it may not",
                    c->server);
    if (c->rounds++ == RELAY_ROUNDS_MAX)
        return fail(err, PB_E_LIMIT, "Server '%s' asked for input more than %d times", c->server,
                    RELAY_ROUNDS_MAX);
    free(c->upstream);
    c->upstream = state.n ? mem_dupn(state.p, state.n) : NULL;
    if (json_len(q->requests) == 0) {
        sm_move(&c->where, c, RELAY_PAUSING);
        timer_start(&c->timer, MCP_ROUND_PAUSE_MS);
        return 0;
    }
    sm_move(&c->where, c, RELAY_ASKING);
    JSON_FOREACH(entry, q->requests) {
        rc = ask_one(c, entry, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

void relay_input_required(struct relay *c, struct json result)
{
    AUTO_JSON struct json_doc doc = { 0 };
    struct required q;
    struct pb_error err;
    int rc = read_required(c, result, &doc, &q, &err);

    if (rc == 0)
        rc = c->request->env.era == ERA_MODERN ? pass_on(c, result, &q, &err)
                                               : ask_legacy(c, &q, &err);
    if (rc < 0)
        give_up(c, &err);
}
