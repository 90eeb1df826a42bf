/* relay_park.c - calls of modern clients to legacy servers that asked something. The server waits
 * for its answer, so the call cannot end; the client must be answered, so its request cannot go on.
 * The call stays here under a ticket that only its client has, signed and good for one use. */
#include "face/caller/caller.h"
#include "hub/catalog/catalog.h"
#include "hub/hub/hub.h"
#include "hub/link/link.h"
#include "mcp/client/client.h"
#include "mcp/rpc/rpc.h"
#include "mcp/serve/serve.h"
#include "relay_impl.h"

/* An answer that came while nobody was there to take it. */
struct kept_reply {
    struct client_reply reply;
    struct pb_error err;
    size_t bytes; /* counted while the call is parked */
};

static bool may_keep(const struct relay *c, size_t bytes)
{
    return c->parker->kept_bytes + bytes <= RELAY_KEPT_EACH &&
           c->set->kept_bytes + bytes <= RELAY_KEPT_MAX;
}

static void refuse_reply(const struct relay *c, struct kept_reply *k)
{
    fail(&k->err, PB_E_LIMIT,
         "Server '%s' answered with %zu bytes while it waited for answers of its client; that is "
         "more than can be kept: call again",
         c->server, k->bytes);
    k->reply = (struct client_reply){ .err = &k->err };
    k->bytes = 0;
}

void relay_keep_reply(struct relay *c, const struct client_reply *reply)
{
    struct kept_reply *k = NEW(struct kept_reply);

    k->reply = *reply;
    k->reply.members = (struct json){ 0 }; /* they do not last; see deliver_kept() */
    k->bytes = reply->message ? blob_span(reply->message).n : 0;
    if (reply->err) {
        k->err = *reply->err;
        k->reply.err = &k->err;
    }
    if (!may_keep(c, k->bytes))
        refuse_reply(c, k);
    if (k->reply.message)
        blob_ref(k->reply.message);
    c->parker->kept_bytes += k->bytes;
    c->set->kept_bytes += k->bytes;
    c->kept = k;
}

void relay_drop_kept(struct relay *c)
{
    struct kept_reply *k = TAKE(c->kept);

    if (!k)
        return;
    if (k->reply.message)
        blob_unref(k->reply.message);
    free(k);
}

/* The client is not going to be asked. */
static void refuse_all(struct relay *c, const char *why)
{
    relay_hold(c);
    while (!list_empty(&c->asks))
        ask_refused(CONTAINER_OF(c->asks.next, struct relay_ask, in_relay), RPC_INTERNAL_ERROR,
                    why);
    relay_release(c);
}

static void write_asks(struct json_out *o, const struct relay *c)
{
    struct list *pos, *safe;

    json_begin_object(o, "inputRequests");
    LIST_FOREACH(pos, safe, &c->asks) {
        const struct relay_ask *a = CONTAINER_OF(pos, struct relay_ask, in_relay);

        json_begin_object(o, a->key);
        json_put_str(o, "method", question_method(a->kind));
        json_put_raw(o, "params", a->params ? span_of(a->params) : SPAN("{}"));
        json_end(o);
    }
    json_end(o);
}

/* False: it has too many parked calls already, or all together have. */
static bool has_place(const struct relay *c, struct span caller)
{
    const struct parker *p = map_get(&c->set->parkers, caller);

    return c->set->parked.n < RELAY_PARKED_MAX && (!p || p->calls < RELAY_PARKED_CALLER_MAX);
}

static void enter(struct relay *c, struct span caller)
{
    struct map *parkers = &c->set->parkers;
    struct parker *p = map_get(parkers, caller);

    if (!p) {
        p = mem_zero(sizeof *p + caller.n + 1);
        memcpy(p->caller, caller.p, caller.n);
        map_put(parkers, span_of(p->caller), p);
    }
    p->calls++;
    c->parker = p;
    map_put(&c->set->parked, span_of(c->ticket), c);
}

/* Answers the request with what is still to be answered. */
static void park(struct relay *c)
{
    AUTO_BUF struct buf result = { 0 }, state = { 0 }, caller = { 0 };
    struct json_out o = json_out(&result);
    struct request *r = c->request;
    struct pb_error err;

    caller_key(r, &caller);
    if (!has_place(c, buf_span(&caller))) {
        refuse_all(c, "Too many calls wait for their clients to answer");
        return;
    }
    if (c->rounds == MCP_ASK_ROUNDS_MAX) {
        refuse_all(c, "The client was asked too often in this call");
        return;
    }
    id_new(c->ticket);
    if (relay_seal(&state, c->set, r, &(struct relay_state){ .ticket = span_of(c->ticket) },
                   ++c->rounds, &err) < 0) {
        refuse_all(c, err.msg);
        return;
    }
    json_begin_object(&o, NULL);
    json_put_str(&o, "resultType", "input_required");
    write_asks(&o, c);
    json_put_span(&o, "requestState", buf_span(&state));
    json_end(&o);

    sm_move(&c->where, c, RELAY_PARKED);
    enter(c, buf_span(&caller));
    timer_start(&c->timer, c->patience_ms ? c->patience_ms : MCP_ASK_MS);
    gate_hold(c->set->gate, c->id, false); /* nobody is slow to read what nobody waits for */
    c->request = NULL;
    r->work = NULL;
    r->cancel = NULL;
    request_reply(r, buf_span(&result));
}

static void on_turn_end(void *ctx)
{
    struct relay *c = ctx;

    c->parking = false;
    if (!c->dead && c->where.now == RELAY_RUNNING && c->n_asks)
        park(c);
    relay_release(c);
}

void relay_park_soon(struct relay *c)
{
    if (c->parking)
        return;
    c->parking = true;
    relay_hold(c);
    loop_defer(hub_loop(c->set->hub), on_turn_end, c);
}

void relay_unpark(struct relay *c)
{
    struct relays *s = c->set;
    struct parker *p = TAKE(c->parker);
    size_t bytes = c->kept ? c->kept->bytes : 0;

    map_del(&s->parked, span_of(c->ticket));
    timer_stop(&c->timer);
    p->kept_bytes -= bytes;
    s->kept_bytes -= bytes;
    if (--p->calls == 0) {
        map_del(&s->parkers, span_of(p->caller));
        free(p);
    }
}

/* ---- coming back -------------------------------------------------------------------------- */

static bool answers_are_objects(const struct relay *c, struct json inputs)
{
    struct list *pos, *safe;

    LIST_FOREACH(pos, safe, &c->asks) {
        struct json answer = json_get(inputs, CONTAINER_OF(pos, struct relay_ask, in_relay)->key);

        if (!json_is(answer, JSON_NONE) && !json_is(answer, JSON_OBJECT))
            return false;
    }
    return true;
}

static struct relay_ask *find_answered(const struct relay *c, struct json inputs)
{
    struct list *pos, *safe;

    LIST_FOREACH(pos, safe, &c->asks) {
        struct relay_ask *a = CONTAINER_OF(pos, struct relay_ask, in_relay);

        if (json_is(json_get(inputs, a->key), JSON_OBJECT))
            return a;
    }
    return NULL;
}

/* Hands the answers to the server. Each may be what the call ends with: it is looked for anew. */
static void give_answers(struct relay *c, struct json inputs)
{
    struct relay_ask *a;

    while (!c->dead && (a = find_answered(c, inputs)) != NULL)
        ask_answered(a, json_text(json_get(inputs, a->key)));
}

static void go_on(struct relay *c, struct json inputs)
{
    relay_hold(c);
    give_answers(c, inputs);
    if (!c->dead && c->n_asks)
        park(c); /* the rest is asked again */
    relay_release(c);
}

static void deliver_kept(struct relay *c)
{
    static const struct json_opts shallow = { .keep_depth = 1 };
    AUTO_JSON struct json_doc doc = { 0 };
    struct kept_reply *k = c->kept;

    if (!k->reply.err && json_parse(&doc, k->reply.result, &shallow, &k->err) < 0)
        k->reply.err = &k->err;
    k->reply.members = json_root(&doc);
    relay_hold(c);
    relay_deliver(c, &k->reply);
    relay_release(c);
}

void relay_resume_parked(struct relays *s, struct request *r, const struct scope *scope,
                         struct span ticket)
{
    struct json inputs = json_get(r->params, "inputResponses");
    struct relay *c = map_get(&s->parked, ticket);

    if (!c) {
        request_fail(r, RPC_INVALID_PARAMS, SPAN("{\"error\":\"call_expired\"}"),
                     "The call that waited for these answers has expired, or went on with others "
                     "already: call again, without requestState");
        return;
    }
    if (c->origin != r->server || c->scope != scope) {
        request_fail(r, RPC_INVALID_PARAMS, SPAN(""), "requestState is not valid for this request");
        return;
    }
    if (!answers_are_objects(c, inputs)) {
        request_fail(r, RPC_INVALID_PARAMS, SPAN(""),
                     "inputResponses: every answer must be an object");
        return;
    }
    relay_unpark(c);
    sm_move(&c->where, c, RELAY_RUNNING);
    relay_attach(c, r);
    if (c->id && peer_congested(r->peer))
        gate_hold(s->gate, c->id, true);
    if (c->kept)
        deliver_kept(c);
    else
        go_on(c, inputs);
}
