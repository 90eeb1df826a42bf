#include "ask.h"
#include "mcp/rpc/rpc.h"
#include "tasks.h"

struct ask_type {
    const char *what, *method;
    const char *capability; /* as ClientCapabilities spell it */
    enum verdict (*check)(struct json answer, struct span schema, struct pb_error *err);
};

static enum verdict check_action(struct json answer, struct pb_error *err)
{
    struct json action = json_get(answer, "action");

    if (json_str_is(action, "accept") || json_str_is(action, "decline") ||
        json_str_is(action, "cancel"))
        return ANSWER_GOOD;
    fail(err, PB_E_INVALID, "action: expected \"accept\", \"decline\" or \"cancel\"");
    return ANSWER_MALFORMED;
}

static enum verdict check_url(struct json answer, struct span schema, struct pb_error *err)
{
    (void)schema;
    return check_action(answer, err);
}

static enum verdict check_form(struct json answer, struct span schema, struct pb_error *err)
{
    struct json content = json_get(answer, "content");
    AUTO(schema) struct schema *s = NULL;

    if (check_action(answer, err) != ANSWER_GOOD)
        return ANSWER_MALFORMED;
    if (!json_str_is(json_get(answer, "action"), "accept"))
        return ANSWER_GOOD;
    if (!json_is(content, JSON_OBJECT)) {
        fail(err, PB_E_INVALID, "content: expected an object, got %s", json_type_name(content));
        return json_is(content, JSON_NONE) ? ANSWER_WRONG : ANSWER_MALFORMED;
    }
    /* A schema that we do not understand may be one that the client does. */
    if (schema_compile(&s, schema, NULL) < 0 || schema_check(s, content, err) == 0)
        return ANSWER_GOOD;
    return ANSWER_WRONG;
}

static enum verdict check_message(struct json answer, struct span schema, struct pb_error *err)
{
    struct json content = json_get(answer, "content");

    (void)schema;
    if (json_is(content, JSON_OBJECT) || json_is(content, JSON_ARRAY))
        return ANSWER_GOOD;
    fail(err, PB_E_INVALID, "content: expected a content block, got %s", json_type_name(content));
    return ANSWER_MALFORMED;
}

static enum verdict check_roots(struct json answer, struct span schema, struct pb_error *err)
{
    struct json roots = json_get(answer, "roots");

    (void)schema;
    if (json_is(roots, JSON_ARRAY))
        return ANSWER_GOOD;
    fail(err, PB_E_INVALID, "roots: expected an array, got %s", json_type_name(roots));
    return ANSWER_MALFORMED;
}

enum { ASK_FORM, ASK_URL, ASK_MODEL, ASK_MODEL_TOOLS, ASK_ROOTS };

/* clang-format off */
static const struct ask_type types[] = {
    [ASK_FORM]        = { "elicitation",     "elicitation/create",     "{\"elicitation\":{}}",           check_form },
    [ASK_URL]         = { "elicitation.url", "elicitation/create",     "{\"elicitation\":{\"url\":{}}}", check_url },
    [ASK_MODEL]       = { "sampling",        "sampling/createMessage", "{\"sampling\":{}}",              check_message },
    [ASK_MODEL_TOOLS] = { "sampling.tools",  "sampling/createMessage", "{\"sampling\":{\"tools\":{}}}",  check_message },
    [ASK_ROOTS]       = { "roots",           "roots/list",             "{\"roots\":{}}",                 check_roots },
};
/* clang-format on */

static bool can_ask(const struct pb_call *c, size_t type)
{
    bool modern = c->rev->era == ERA_MODERN;

    if (c->kind == CALL_COMPLETE)
        return false;
    switch (type) {
    case ASK_FORM:
        return c->env.can_elicit && (modern || c->rev->elicitation);
    case ASK_URL:
        return c->env.can_elicit_url && (modern || c->rev->url_elicitation);
    case ASK_MODEL:
        return c->env.can_sample;
    case ASK_MODEL_TOOLS:
        return c->env.can_sample_tools && (modern || c->rev->priming);
    default:
        return c->env.can_list_roots;
    }
}

bool pb_call_can_ask(struct pb_call *call, const char *what)
{
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (strcmp(types[i].what, what) == 0)
            return can_ask(call, i);
    return false;
}

static const struct answer *answer_find(const struct pb_call *c, struct span key)
{
    for (const struct answer *a = c->answers; a; a = a->next)
        if (span_eq(a->key, key))
            return a;
    return NULL;
}

static const char *answer_keep(struct pb_call *c, struct span key, struct span text)
{
    struct answer *a = arena_alloc(&c->arena, sizeof *a);

    a->key = (struct span){ arena_dup(&c->arena, key), key.n };
    a->text = (struct span){ arena_dup(&c->arena, text), text.n };
    a->next = c->answers;
    c->answers = a;
    return a->text.p;
}

static enum verdict judge(const struct ask_type *type, struct span schema, struct json answer,
                          struct pb_error *err)
{
    if (json_is(answer, JSON_OBJECT))
        return type->check(answer, schema, err);
    fail(err, PB_E_INVALID, "expected an object, got %s", json_type_name(answer));
    return ANSWER_MALFORMED;
}

enum verdict ask_accept(struct pb_call *c, struct ask *a, struct json answer, struct pb_error *err)
{
    enum verdict v = judge(a->type, a->schema, answer, err);

    if (v == ANSWER_GOOD) {
        answer_keep(c, span_of(a->key), json_text(answer));
        a->answered = true;
    } else {
        fail_in(err, "inputResponses.%.60s", a->key);
    }
    return v;
}

void ask_forget(struct pb_call *c)
{
    c->asked = NULL;
    c->asked_end = &c->asked;
    c->n_asked = 0;
}

static int record(struct pb_call *c, struct ask *a)
{
    for (const struct ask *b = c->asked; b; b = b->next)
        if (strcmp(b->key, a->key) == 0)
            return -PB_E_INPUT;
    if (c->n_asked == MCP_QUESTIONS_MAX) {
        call_misused(c, "asked too many questions at once");
        return -PB_E_LIMIT;
    }
    *c->asked_end = a;
    c->asked_end = &a->next;
    c->n_asked++;
    return -PB_E_INPUT;
}

static int ask(struct pb_call *c, size_t type, const char *key, struct span params,
               struct span schema, const char **answer)
{
    struct ask *a = arena_alloc(&c->arena, sizeof *a);
    const struct answer *known = answer_find(c, span_of(key));
    struct json given = json_get(c->inputs, key);
    struct pb_error err;

    if (known) {
        *answer = known->text.p;
        return 0;
    }
    if (!can_ask(c, type)) {
        c->missing.n = 0;
        if (c->kind != CALL_COMPLETE)
            buf_str(&c->missing, types[type].capability);
        return -PB_E_UNSUPPORTED;
    }
    *a = (struct ask){ .call = c, .type = &types[type], .params = params, .schema = schema };
    a->key = arena_dup(&c->arena, span_of(key));
    if (!json_is(given, JSON_NONE)) {
        switch (ask_accept(c, a, given, &err)) {
        case ANSWER_GOOD:
            *answer = c->answers->text.p;
            return 0;
        case ANSWER_MALFORMED:
            call_fail_rpc(c, RPC_INVALID_PARAMS, span_of(err.msg), SPAN(""));
            return -PB_E_INVALID;
        case ANSWER_WRONG:
            break;
        }
    }
    return record(c, a);
}

/* JSON of the program as one line in the arena; empty if it is no object. */
static struct span object_line(struct pb_call *c, const char *json, struct json_doc *doc)
{
    AUTO_BUF struct buf line = { 0 };
    struct json_opts opts = { .keep_depth = 1, .unique_depth = JSON_ALL };

    if (!json || json_parse(doc, span_of(json), &opts, NULL) < 0 ||
        !json_is(json_root(doc), JSON_OBJECT))
        return SPAN("");
    put_json_line(&line, json_text(json_root(doc)));
    return (struct span){ arena_dup(&c->arena, buf_span(&line)), line.n };
}

int pb_ask_form(struct pb_call *call, const char *key, const char *message, const char *schema,
                const char **answer)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_BUF struct buf params = { 0 };
    struct json_out o = json_out(&params);
    struct span line = object_line(call, schema, &doc);

    if (!line.n) {
        call_misused(call, "asked with a schema that is not a JSON object");
        return -PB_E_INVALID;
    }
    json_begin_object(&o, NULL);
    json_put_str(&o, "message", message);
    json_put_raw(&o, "requestedSchema", line);
    json_end(&o);
    return ask(call, ASK_FORM, key, span_make(arena_dup(&call->arena, buf_span(&params)), params.n),
               line, answer);
}

int pb_ask_url(struct pb_call *call, const char *key, const char *message, const char *url,
               const char **answer)
{
    AUTO_BUF struct buf params = { 0 };
    struct json_out o = json_out(&params);
    char id[UUID_CHARS + 1];

    json_begin_object(&o, NULL);
    json_put_str(&o, "mode", "url");
    json_put_str(&o, "message", message);
    json_put_str(&o, "url", url);
    if (call->rev->era == ERA_LEGACY) {
        id_uuid(id);
        json_put_str(&o, "elicitationId", id);
    }
    json_end(&o);
    return ask(call, ASK_URL, key, span_make(arena_dup(&call->arena, buf_span(&params)), params.n),
               SPAN(""), answer);
}

int pb_ask_model(struct pb_call *call, const char *key, const char *params, const char **answer)
{
    AUTO_JSON struct json_doc doc = { 0 };
    struct span line = object_line(call, params, &doc);
    bool tools;

    if (!line.n) {
        call_misused(call, "asked a model with params that are not a JSON object");
        return -PB_E_INVALID;
    }
    tools = !json_is(json_get(json_root(&doc), "tools"), JSON_NONE) ||
            !json_is(json_get(json_root(&doc), "toolChoice"), JSON_NONE);
    return ask(call, tools ? ASK_MODEL_TOOLS : ASK_MODEL, key, line, SPAN(""), answer);
}

int pb_ask_roots(struct pb_call *call, const char *key, const char **answer)
{
    return ask(call, ASK_ROOTS, key, SPAN("{}"), SPAN(""), answer);
}

void pb_call_set_state(struct pb_call *call, const char *json)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_BUF struct buf line = { 0 };
    struct json_opts opts = { .keep_depth = 1, .unique_depth = JSON_ALL };

    if (json_parse(&doc, span_of(json), &opts, NULL) < 0) {
        call_misused(call, "set a state that is not JSON");
        return;
    }
    put_json_line(&line, json_text(json_root(&doc)));
    call->state = (struct span){ arena_dup(&call->arena, buf_span(&line)), line.n };
    call->state_set = true;
}

const char *pb_call_state(struct pb_call *call) { return call->state.p; }

void ask_write(const struct pb_call *c, struct json_out *o, const char *key)
{
    json_begin_object(o, key);
    for (const struct ask *a = c->asked; a; a = a->next) {
        if (a->answered)
            continue;
        json_begin_object(o, a->key);
        json_put_str(o, "method", a->type->method);
        json_put_raw(o, "params", a->params);
        json_end(o);
    }
    json_end(o);
}

const char *ask_method(const struct ask *a) { return a->type->method; }

void ask_answers(const struct pb_call *c, struct buf *out)
{
    struct json_out o = json_out(out);

    json_begin_object(&o, NULL);
    for (const struct answer *a = c->answers; a; a = a->next)
        json_put_raw_key(&o, a->key, a->text);
    json_end(&o);
}

bool ask_restore(struct pb_call *c, struct span answers)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena a = { 0 };

    if (json_parse(&doc, answers, NULL, NULL) < 0)
        return false;
    JSON_FOREACH(v, json_root(&doc))
        answer_keep(c, json_key_str(v, &a), json_text(v));
    return true;
}
