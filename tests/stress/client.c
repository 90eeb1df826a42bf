/* client.c - the lives of the clients: coming, asking, being asked, leaving. */
#include "client.h"
#include <signal.h>

enum { LIFE_MS = 20000, AWAY_MS = 1500, OPEN_MS = 60000 };

static struct client *clients;

/* clang-format off */
static const struct client_kind *const kinds[] = {
    &kind_http, &kind_modern, &kind_stdio, &kind_http_new, &kind_modern, &kind_stdio_modern,
    &kind_sse, &kind_rest,
};
/* clang-format on */

void clients_begin(void)
{
    clients = mem_zero(options.clients * sizeof *clients);
    for (unsigned i = 0; i < options.clients; i++) {
        clients[i].no = i;
        clients[i].kind = kinds[i % ARRAY_LEN(kinds)];
    }
}

const char *client_capabilities(const struct client *c)
{
    return c->asked_for_forms ? "{\"elicitation\":{},\"sampling\":{},\"roots\":{}}" : "{}";
}

void client_put_hello(struct client *c, struct buf *out)
{
    buf_printf(
        out,
        "{\"jsonrpc\":\"2.0\",\"id\":\"hello\",\"method\":\"initialize\",\"params\":{"
        "\"protocolVersion\":\"%s\",\"capabilities\":%s,\"clientInfo\":{\"name\":\"stress-%u-"
        "%u\",\"version\":\"1\"}}}",
        c->kind->version, client_capabilities(c), c->no, c->life);
}

/* ---- coming and going ---- */

static void come(struct client *c)
{
    c->life++;
    c->n_calls = c->n_past = 0;
    c->session[0] = c->event[0] = '\0';
    c->asked_for_forms = c->kind != &kind_rest && !one_in(5);
    c->state = CLIENT_OPENING;
    c->until = now() + patiently(OPEN_MS);
    figures.sessions++;
    c->kind->open(c);
}

void client_ready(struct client *c)
{
    c->state = CLIENT_READY;
    c->until = now() + 500 + among(LIFE_MS);
}

static void forget_calls(struct client *c)
{
    for (int i = 0; i < CALLS_MAX; i++)
        if (c->calls[i].used)
            call_free(&c->calls[i]);
}

static void go(struct client *c, bool rude)
{
    if (c->state == CLIENT_AWAY)
        return;
    c->state = CLIENT_AWAY;
    forget_calls(c);
    c->kind->leave(c, rude);
    c->until = now() + among(AWAY_MS);
}

void client_go(struct client *c) { go(c, true); }

/* While the hub lives nobody is thrown out. */
void client_lost(struct client *c, const char *why)
{
    if (c->state == CLIENT_AWAY)
        return;
    suspected(LAW_ALIVE, "%s client %u was thrown out: %s", c->kind->name, c->no, why);
    go(c, true);
}

/* ---- hearing ---- */

static void check_privacy(struct client *c, struct span text)
{
    char canary[CANARY_MAX];
    /* One without a session is the same for the hub in all its lives: same name, same token. */
    unsigned from = c->kind->modern ? 1 : c->life;

    if (!canaries_are(text, c->no, from, c->life, canary))
        broken(LAW_PRIVATE, "%s client %u in its life %u was shown %s: %.*s", c->kind->name, c->no,
               c->life, canary, (int)(text.n < 300 ? text.n : 300), text.p);
}

static struct past *past_of(struct client *c, struct span id)
{
    char want[64];

    for (unsigned i = 0; i < PAST_MAX && i < c->n_past; i++) {
        snprintf(want, sizeof want, "\"%u-%u-%u-", c->no, c->life, c->past[i].no);
        if (span_starts(id, want))
            return &c->past[i];
    }
    return NULL;
}

/* An answer to what is no longer waited for. */
static void heard_late(struct client *c, struct span id, struct span text)
{
    struct past *past = past_of(c, id);

    if (span_starts(id, "\"x-"))
        return;
    if (!past || past->answered)
        broken(LAW_ONCE, "%s client %u got %s answer to %.*s: %.*s", c->kind->name, c->no,
               past ? "a second" : "an unasked", SPAN_ARG(id), (int)(text.n < 300 ? text.n : 300),
               text.p);
    else
        past->answered = true;
}

/* Modern: the call goes on with another request. */
static bool asks_for_input(struct call *call, struct json message)
{
    struct json result = json_get(message, "result"), requests = json_get(result, "inputRequests");
    struct json state = json_get(result, "requestState");
    AUTO_BUF struct buf more = { 0 }, out = { 0 };
    struct client *c = call->c;

    if (!json_str_is(json_get(result, "resultType"), "input_required"))
        return false;
    figures.rounds++;
    call->round++;
    buf_str(&more, ",\"inputResponses\":{");
    JSON_FOREACH(r, requests) {
        AUTO_ARENA struct arena a = { 0 };

        figures.questions++;
        buf_printf(&more, "%s\"%.*s\":", more.p[more.n - 1] == '{' ? "" : ",",
                   SPAN_ARG(json_key(r)));
        question_answer(c, json_str(json_get(r, "method"), &a), json_text(r), &more);
    }
    buf_byte(&more, '}');
    if (!json_is(state, JSON_NONE)) {
        buf_str(&more, ",\"requestState\":");
        buf_add_span(&more, json_text(state));
    }
    call_put(call, &out, buf_cstr(&more));
    c->kind->say(c, call, buf_span(&out));
    return true;
}

static void heard_answer(struct client *c, struct json message, struct span text)
{
    struct span id = json_text(json_get(message, "id"));
    struct call *call = call_find(c, id);

    if (call && call->lingers)
        broken(LAW_ONCE, "%s client %u got a second answer to %s: %.*s", c->kind->name, c->no,
               call->canary, (int)(text.n < 300 ? text.n : 300), text.p);
    else if (call && !(c->kind->modern && asks_for_input(call, message)))
        call_answered(call, message, text);
    else if (!call)
        heard_late(c, id, text);
}

void client_heard(struct client *c, struct call *call, struct span text)
{
    AUTO_JSON struct json_doc doc = { 0 };
    struct json root, id, method;
    struct pb_error err;

    (void)call;
    if (json_parse(&doc, text, NULL, &err) < 0) {
        broken(LAW_RIGHT, "%s client %u: no JSON, %s: %.*s", c->kind->name, c->no, err.msg,
               (int)(text.n < 300 ? text.n : 300), text.p);
        return;
    }
    root = json_root(&doc);
    id = json_get(root, "id");
    method = json_get(root, "method");
    check_privacy(c, text);
    if (json_str_is(id, "hello"))
        return;
    if (json_is(method, JSON_NONE))
        heard_answer(c, root, text);
    else if (!json_is(id, JSON_NONE))
        question_heard(c, root, text);
    else if (json_str_is(method, "notifications/progress"))
        figures.progress++;
    else
        figures.logs++;
}

/* ---- acting ---- */

static void ask(struct client *c)
{
    AUTO_BUF struct buf out = { 0 };
    struct call *call = call_new(c);

    if (!call)
        return;
    call_put(call, &out, NULL);
    c->kind->say(c, call, buf_span(&out));
}

static void cancel(struct client *c, unsigned no, int round)
{
    AUTO_BUF struct buf b = { 0 };

    for (int i = 0; i < CALLS_MAX; i++)
        if (c->calls[i].used && c->calls[i].no == no)
            c->calls[i].abandoned = true;

    if (c->kind == &kind_modern || c->kind == &kind_rest)
        return; /* their way to cancel is to hang up */
    buf_printf(&b,
               "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
               "\"requestId\":\"%u-%u-%u-%d\",\"reason\":\"stress\"",
               c->no, c->life, no, round);
    if (c->kind->modern)
        buf_printf(&b,
                   ",\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"%s\","
                   "\"io.modelcontextprotocol/clientCapabilities\":{}}",
                   c->kind->version);
    buf_str(&b, "}}");
    c->kind->say(c, NULL, buf_span(&b));
    figures.cancels++;
}

/* One that is under way, one that was, one that will be. */
static void cancel_something(struct client *c)
{
    struct call *call = &c->calls[among(CALLS_MAX)];

    if (!call->used) {
        cancel(c, c->n_calls + among(2), 0);
        if (c->n_calls)
            cancel(c, 1 + among(c->n_calls), 0);
        return;
    }
    cancel(c, call->no, call->round);
    if (call->used && call->web && (c->kind == &kind_modern || c->kind == &kind_rest)) {
        figures.cancels++;
        call_abandon(call);
    }
}

static void live(struct client *c)
{
    unsigned dice = among(100);

    calls_watch(c);
    if (now() > c->until)
        go(c, one_in(3));
    else if (dice < 30)
        ask(c);
    else if (dice < 33)
        cancel_something(c);
    else if (dice < 39 && c->kind->mishap)
        c->kind->mishap(c);
}

void clients_act(void)
{
    for (unsigned i = 0; i < options.clients; i++) {
        struct client *c = &clients[i];

        if (c->state == CLIENT_READY)
            live(c);
        else if (c->state == CLIENT_AWAY && now() > c->until)
            come(c);
        else if (c->state == CLIENT_OPENING && now() > c->until)
            client_lost(c, "the handshake was not answered");
    }
}

unsigned clients_waiting(void)
{
    unsigned n = 0;

    for (unsigned i = 0; i < options.clients; i++)
        for (int k = 0; k < CALLS_MAX; k++)
            n += clients[i].calls[k].used && !clients[i].calls[k].abandoned &&
                 !clients[i].calls[k].lingers;
    return n;
}

bool clients_settled(void)
{
    for (unsigned i = 0; i < options.clients; i++)
        calls_watch(&clients[i]);
    return clients_waiting() == 0;
}

void clients_leave(void)
{
    for (unsigned i = 0; i < options.clients; i++)
        go(&clients[i], one_in(4));
}

void clients_end(void)
{
    free(clients);
    clients = NULL;
}
