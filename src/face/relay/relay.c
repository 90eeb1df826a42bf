#include "face/caller/caller.h"
#include "hub/hub/hub.h"
#include "hub/link/link.h"
#include "mcp/client/client.h"
#include "mcp/rpc/rpc.h"
#include "mcp/serve/serve.h"
#include "relay_impl.h"

/* clang-format off */
#define TO(s) SM_BIT(RELAY_##s)
static const struct sm_state places[] = {
    [RELAY_RUNNING] = { "running", TO(ASKING) | TO(PARKED) | TO(PAUSING) | TO(OVER), NULL },
    [RELAY_ASKING]  = { "asking",  TO(RUNNING) | TO(OVER),                           NULL },
    [RELAY_PARKED]  = { "parked",  TO(RUNNING) | TO(OVER),                           NULL },
    [RELAY_PAUSING] = { "pausing", TO(RUNNING) | TO(OVER),                           NULL },
    [RELAY_OVER]    = { "over",    0,                                                NULL },
};
/* clang-format on */
_Static_assert(ARRAY_LEN(places) == RELAY_COUNT, "every state has a row");

/* ---- life --------------------------------------------------------------------------------- */

static void on_timer(void *ctx);

static struct relay *relay_new(struct relays *s, const struct relay_order *o)
{
    size_t server_n = strlen(o->server) + 1, method_n = strlen(o->method) + 1;
    size_t size = sizeof(struct relay) + server_n + method_n + o->subject.n;
    struct relay *c = spare_take(size);
    char *tail = (char *)(c + 1);

    *c = (struct relay){ .size = size };

    memcpy(tail, o->server, server_n);
    memcpy(tail + server_n, o->method, method_n);
    if (o->subject.n)
        memcpy(tail + server_n + method_n, o->subject.p, o->subject.n);
    c->set = s;
    c->where = (struct sm){ places, RELAY_RUNNING };
    c->scope = o->scope;
    c->mode = o->mode;
    c->directory = o->directory;
    c->face = o->face;
    c->server = tail;
    c->method = tail + server_n;
    c->subject = span_make(tail + server_n + method_n, o->subject.n);
    list_init(&c->asks);
    list_append(&s->relays, &c->in_set);
    timer_init(&c->timer, hub_loop(s->hub), on_timer, c);
    return c;
}

static void relay_free(struct relay *c)
{
    if (c->holds) {
        c->dead = true;
        return;
    }
    timer_stop(&c->timer);
    list_remove(&c->in_set);
    asks_drop(c);
    relay_drop_kept(c);
    free(c->upstream);
    if (c->params)
        blob_unref(c->params);
    spare_give(c, c->size);
}

void relay_hold(struct relay *c) { c->holds++; }

void relay_release(struct relay *c)
{
    if (--c->holds == 0 && c->dead)
        relay_free(c);
}

void relay_end(struct relay *c)
{
    if (c->where.now != RELAY_OVER)
        sm_move(&c->where, c, RELAY_OVER);
    if (c->request) {
        c->request->cancel = NULL;
        c->request->work = NULL;
        c->request = NULL;
    }
    relay_free(c);
}

/* Nobody wants the answer: tells the server if it works on it. */
static void relay_abandon(struct relay *c, enum call_cancel why)
{
    struct relays *s = c->set;

    if (c->where.now == RELAY_PARKED)
        relay_unpark(c);
    sm_move(&c->where, c, RELAY_OVER);
    timer_stop(&c->timer);
    c->request = NULL;
    if (c->id && s)
        gate_cancel(s->gate, c->id, why); /* the reply ends it: inside this, or it is on its way */
    else
        relay_free(c);
}

/* ---- the client --------------------------------------------------------------------------- */

static void on_cancel(struct request *r, enum cancel_reason why)
{
    static const enum call_cancel reasons[] = {
        [CANCEL_BY_CLIENT] = CALL_BY_USER,
        [CANCEL_TIMEOUT] = CALL_TIMED_OUT,
        [CANCEL_GONE] = CALL_BY_USER,
        [CANCEL_SHUTDOWN] = CALL_SHUTDOWN,
    };
    struct relay *c = r->work;

    r->work = NULL;
    relay_abandon(c, reasons[why]);
}

void relay_attach(struct relay *c, struct request *r)
{
    c->request = r;
    c->origin = r->server;
    c->peer = peer_kind(r->peer) == PEER_STATELESS ? NULL : r->peer;
    c->can = asks_possible(&r->env);
    r->work = c;
    r->cancel = on_cancel;
}

/* A number that does not rise is not sent on: a server that is asked a second time counts anew,
 * while for the client it is still the same request. */
static bool rises(struct request *r, struct json progress)
{
    double now;

    if (json_double(progress, &now, NULL) < 0 || (r->progressed && now <= r->progress))
        return false;
    r->progressed = true;
    r->progress = now;
    return true;
}

/* The server's own words but for the token, which is the client's. */
static void on_progress(void *ctx, struct span params)
{
    static const struct json_opts shallow = { .keep_depth = 1 };
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_BUF struct buf out = { 0 };
    struct relay *c = ctx;
    struct request *r = c->request;
    struct span token;

    if (!r || !r->env.progress_token.n || json_parse(&doc, params, &shallow, NULL) < 0)
        return;
    token = json_text(json_get(json_root(&doc), "progressToken"));
    if (!token.n || !rises(r, json_get(json_root(&doc), "progress")))
        return;
    buf_add(&out, params.p, (size_t)(token.p - params.p));
    buf_add_span(&out, r->env.progress_token);
    buf_add(&out, span_end(token), (size_t)(span_end(params) - span_end(token)));
    request_notify(r, "notifications/progress", buf_span(&out));
}

static void on_log(void *ctx, struct span params)
{
    static const struct json_opts shallow = { .keep_depth = 1 };
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena arena = { 0 };
    struct relay *c = ctx;
    enum pb_log_level level;
    struct json root;

    if (!c->request || json_parse(&doc, params, &shallow, NULL) < 0)
        return;
    root = json_root(&doc);
    if (log_level_parse(json_str(json_get(root, "level"), &arena), &level))
        request_log(c->request, level, json_cstr(json_get(root, "logger"), &arena),
                    json_text(json_get(root, "data")));
}

/* ---- the server --------------------------------------------------------------------------- */

enum result_kind { RESULT_COMPLETE, RESULT_INPUT, RESULT_TASK, RESULT_UNKNOWN };

/* A modern client would act on what a result says it is, so that it must be what this server may
 * say: a legacy server has nothing to ask for in a result. */
static enum result_kind kind_of(const struct relay *c, struct json result)
{
    struct json type = json_get(result, "resultType");

    if (json_is(type, JSON_NONE) || json_str_is(type, "complete") ||
        (c->request->env.era == ERA_LEGACY && !c->maybe_modern))
        return RESULT_COMPLETE;
    if (json_str_is(type, "task") && relay_may_be_task(c))
        return RESULT_TASK;
    if (json_str_is(type, "input_required") && c->maybe_modern && !relay_is_about_task(c))
        return RESULT_INPUT;
    return RESULT_UNKNOWN;
}

void relay_deliver(struct relay *c, const struct client_reply *reply)
{
    enum result_kind kind = reply->err ? RESULT_COMPLETE : kind_of(c, reply->members);
    struct pb_error err;

    if (kind == RESULT_INPUT) {
        relay_input_required(c, reply->members);
        return;
    }
    if (reply->err) {
        relay_reply_error(c, reply);
    } else if (kind == RESULT_UNKNOWN) {
        fail(&err, PB_E_INVALID, "Server '%s' answered with a kind of result that it may not",
             c->server);
        relay_reply_fault(c, &err);
    } else if (kind == RESULT_TASK || strcmp(c->method, "tasks/get") == 0) {
        relay_pass_task(c, reply->members);
    } else {
        relay_reply_result(c, reply->members);
    }
    relay_end(c);
}

static void on_reply(void *ctx, const struct client_reply *reply)
{
    struct relay *c = ctx;

    relay_hold(c); /* telling the client may end its request */
    c->id = 0;
    asks_drop(c); /* what a legacy server asked, it does not want to know any more */
    if (reply->era == ERA_LEGACY)
        c->maybe_modern = false;
    switch (c->where.now) {
    case RELAY_OVER:
        relay_free(c);
        break;
    case RELAY_PARKED:
        relay_keep_reply(c, reply);
        break;
    case RELAY_ASKING:
        sm_move(&c->where, c, RELAY_RUNNING);
        relay_deliver(c, reply);
        break;
    default:
        relay_deliver(c, reply);
    }
    relay_release(c);
}

static void words_done(struct relay_words *w)
{
    buf_done(&w->caller);
    buf_done(&w->client);
    buf_done(&w->caps);
    buf_done(&w->caps_of);
}

/* Of a session nothing changes from call to call. Who has no label names itself with each. */
static void name_client(struct relay_words *w, const struct request *r)
{
    uint64_t serial = peer_kind(r->peer) == PEER_STATELESS ? 0 : peer_serial(r->peer);

    if (serial && serial == w->serial && r->env.label.n && r->env.label.p == w->label.p &&
        r->env.label.n == w->label.n)
        return;
    w->serial = serial;
    w->label = r->env.label;
    w->caller.n = w->client.n = 0;
    caller_key(r, &w->caller);
    buf_cstr(&w->caller);
    request_client(r, &w->client);
    buf_cstr(&w->client);
}

/* Taken out of the set, because a call may lead to another one; words_back() is the end of it. */
static struct relay_words words_of(struct relays *s, const struct request *r, unsigned can)
{
    struct relay_words w = s->words;

    s->words = (struct relay_words){ 0 };
    name_client(&w, r);
    if (w.caps.n && w.can == can && w.tasks == r->env.has_tasks &&
        span_eq(buf_span(&w.caps_of), r->env.client_caps))
        return w;
    w.can = can;
    w.tasks = r->env.has_tasks;
    w.caps.n = w.caps_of.n = 0;
    buf_add_span(&w.caps_of, r->env.client_caps);
    asks_caps(&w.caps, &r->env);
    buf_cstr(&w.caps);
    return w;
}

static void words_back(struct relays *s, struct relay_words *w)
{
    if (s->words.caller.p || w->caps_of.cap > MCP_OUT_KEEP)
        words_done(w);
    else
        s->words = *w;
}

void relay_call(struct relay *c, struct span params, bool plain)
{
    const struct request *r = c->request;
    struct relays *s = c->set;
    struct relay_words words = words_of(s, r, c->can);
    struct call_spec spec = {
        .server = c->server,
        .method = c->method,
        .params = params,
        .plain = plain,
        .subject = c->subject,
        .caller = words.caller.p,
        .origin = caller_origin(r),
        .client = words.client.p,
        .caps = words.caps.p,
        .wants_progress = r->env.progress_token.n > 0,
        .wants_log = r->env.wants_log,
        .log_level = r->env.log_level,
        .raw_rounds = true,
        .progress = on_progress,
        .log = on_log,
        .question = c->can ? relay_on_question : NULL,
        .withdrawn = relay_on_withdrawn,
        .reply = on_reply,
        .ctx = c,
    };
    struct json arguments = json_get(r->params, "arguments");
    struct span trace = trace_of_params(r->params, &r->message->arena);
    struct json directory = c->face == FACE_CLI
                                ? json_get(json_get(r->params, "_meta"), RELAY_META_DIRECTORY)
                                : (struct json){ 0 };
    struct pb_error err;
    int rc;

    rc = gate_call(
        s->gate,
        &(struct order){ .call = spec,
                         .face = c->face,
                         .scope = c->scope,
                         .mode = c->mode,
                         .conversation = c->face == FACE_CLI ? RELAY_CLI_CONVERSATION : NULL,
                         .directory =
                             c->directory ? c->directory : json_cstr(directory, &r->message->arena),
                         .arguments = json_text(arguments),
                         .arguments_blob = r->message->bytes,
                         .trace = trace.n ? trace : r->env.trace,
                         .trace_told = trace.n > 0,
                         .ask = c->can & 1U << QUESTION_FORM ? relay_on_gate_question : NULL,
                         .ask_over = relay_on_gate_over },
        &c->id, &err);
    words_back(s, &words);
    if (rc < 0) {
        c->id = 0;
        relay_reply_fault(c, &err);
        relay_end(c);
    } else if (peer_congested(r->peer)) {
        gate_hold(s->gate, c->id, true);
    }
}

/* A pause has passed, or nobody came back to a parked call. */
static void on_timer(void *ctx)
{
    struct relay *c = ctx;

    if (c->where.now == RELAY_PARKED) {
        log_info("server %s: nobody came back with the answers it had asked for", c->server);
        relay_abandon(c, CALL_TIMED_OUT);
        return;
    }
    relay_ask_again(c);
}

/* ---- the set ------------------------------------------------------------------------------ */

struct relays *relays_new(struct gate *gate)
{
    struct relays *s = NEW(struct relays);

    s->gate = gate;
    s->hub = gate_hub(gate);
    list_init(&s->relays);
    list_init(&s->elicits);
    id_random(s->key, sizeof s->key);
    id_random(s->task_key, sizeof s->task_key);
    return s;
}

void relays_free(struct relays *s)
{
    if (!s)
        return;
    while (!list_empty(&s->relays)) {
        struct relay *c = CONTAINER_OF(s->relays.next, struct relay, in_set);

        list_remove(&c->in_set);
        if (c->request) {
            struct request *r = c->request;

            r->cancel = NULL;
            r->work = NULL;
            request_fail(r, RPC_INTERNAL_ERROR, SPAN(""), "Request cancelled");
        }
        relay_hold(c);
        if (c->where.now != RELAY_OVER)
            relay_abandon(c, CALL_SHUTDOWN);
        c->set = NULL; /* a reply may still come, and will find nobody */
        relay_release(c);
    }
    relays_forget_urls(s, NULL);
    map_done(&s->by_elicit);
    map_done(&s->parked);
    map_done(&s->parkers);
    words_done(&s->words);
    free(s);
}

static struct relay *parked_for(const struct relays *s, const struct peer *p)
{
    struct map_slot *slot;

    MAP_FOREACH(slot, &s->parked)
        if (((struct relay *)slot->value)->peer == p)
            return slot->value;
    return NULL;
}

void relays_congested(struct relays *s, const struct peer *p, bool on)
{
    struct list *pos, *safe;

    LIST_FOREACH(pos, safe, &s->relays) {
        struct relay *c = CONTAINER_OF(pos, struct relay, in_set);

        if (c->id && c->request && c->request->peer == p)
            gate_hold(s->gate, c->id, on);
    }
}

void relays_left(struct relays *s, const struct peer *p)
{
    struct relay *c;

    if (!s)
        return;
    relays_forget_urls(s, p);
    while ((c = parked_for(s, p))) /* what ending one ended is not known: look from the start */
        relay_abandon(c, CALL_BY_USER);
}

/* ---- starting ----------------------------------------------------------------------------- */

void relay_start(struct relays *s, struct request *r, const struct relay_order *o)
{
    struct relay *c = relay_new(s, o);

    relay_attach(c, r);
    c->maybe_modern = true;
    relay_hold(c);
    relay_call(c, o->params, o->plain);
    if (c->id && c->request && c->request->env.era == ERA_LEGACY &&
        gate_call_era(s->gate, c->id) != ERA_LEGACY)
        c->params = blob_new(o->params);
    relay_release(c);
}
