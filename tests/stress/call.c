/* call.c - one request: what it says, and what may be said in answer. */
#include "client.h"

enum { WAIT_MS = 60000 };

static const char *const tools[] = { "echo", "echo",     "echo",     "slow",     "chat", "ask",
                                     "ask",  "ask_more", "ask_both", "withdraw", "big" };

static const struct server *any_server(void)
{
    const struct server *s = &servers[among(options.servers)];

    return one_in(3) ? &servers[among(options.servers) % 5] : s; /* some are liked by many */
}

/* Most ask a tool. What needs no server is asked of the hub itself. */
static void choose(struct call *call)
{
    static const char *const own[] = { "tools/list", "resources/list", "prompts/list",
                                       "resources/templates/list" };
    unsigned dice = among(20);

    call->server = dice ? any_server() : NULL;
    call->method = dice == 0   ? own[among(4)]
                   : dice == 1 ? "resources/read"
                   : dice == 2 ? "prompts/get"
                               : "tools/call";
    snprintf(call->tool, sizeof call->tool, "%s",
             dice == 2 ? "greet" : tools[among(ARRAY_LEN(tools))]);
    if (strcmp(call->tool, "big") == 0 && !one_in(4))
        snprintf(call->tool, sizeof call->tool, "echo");
    /* Who cannot be asked gets an error from a tool that asks; the first revision has no forms. */
    call->harmed = strcmp(call->method, "tools/call") == 0 &&
                   (!call->c->asked_for_forms || call->c->kind == &kind_sse) &&
                   (call->tool[0] == 'a' || call->tool[0] == 'w');
}

struct call *call_new(struct client *c)
{
    for (int i = 0; i < CALLS_MAX; i++) {
        struct call *call = &c->calls[i];

        if (call->used)
            continue;
        *call = (struct call){ .used = true, .c = c, .no = ++c->n_calls, .began = now() };
        choose(call);
        canary_make(call->canary, c->no, c->life, call->no);
        figures.calls++;
        return call;
    }
    return NULL;
}

void call_free(struct call *call)
{
    struct client *c = call->c;

    if (call->web)
        web_drop(call->web);
    c->past[c->n_past++ % PAST_MAX] = (struct past){ call->no, call->over };
    *call = (struct call){ 0 };
}

/* An id is CLIENT-LIFE-CALL-ROUND. */
struct call *call_find(struct client *c, struct span id)
{
    char want[64];

    for (int i = 0; i < CALLS_MAX; i++) {
        struct call *call = &c->calls[i];

        snprintf(want, sizeof want, "\"%u-%u-%u-%d\"", c->no, c->life, call->no, call->round);
        if (call->used && span_is(id, want))
            return call;
    }
    return NULL;
}

static void put_meta(const struct call *call, struct json_out *o)
{
    const struct client *c = call->c;

    json_begin_object(o, "_meta");
    json_put_fmt(o, "progressToken", "p%u-%u-%u", c->no, c->life, call->no);
    if (c->kind->modern) {
        json_put_str(o, "io.modelcontextprotocol/protocolVersion", c->kind->version);
        json_put_raw(o, "io.modelcontextprotocol/clientCapabilities",
                     span_of(client_capabilities(c)));
        json_begin_object(o, "io.modelcontextprotocol/clientInfo");
        json_put_fmt(o, "name", "stress-%u", c->no); /* who it is: it has nothing else */
        json_put_str(o, "version", "1");
        json_end(o);
        json_put_str(o, "io.modelcontextprotocol/logLevel", "info");
    }
    json_end(o);
}

static void put_subject(const struct call *call, struct json_out *o)
{
    if (strcmp(call->method, "resources/read") == 0) {
        json_put_fmt(o, "uri", "stress://%s/%s", call->server->name, call->canary);
        return;
    }
    json_put_fmt(o, "name", "%s__%s", call->server->name, call->tool);
    json_begin_object(o, "arguments");
    json_put_str(o, "canary", call->canary);
    json_put_str(o, "to", call->server->name);
    json_end(o);
}

void call_put(const struct call *call, struct buf *out, const char *more)
{
    struct json_out o = json_out(out);

    json_begin_object(&o, NULL);
    json_put_str(&o, "jsonrpc", "2.0");
    json_put_fmt(&o, "id", "%u-%u-%u-%d", call->c->no, call->c->life, call->no, call->round);
    json_put_str(&o, "method", call->method);
    json_begin_object(&o, "params");
    put_meta(call, &o);
    if (call->server)
        put_subject(call, &o);
    if (more)
        buf_str(out, more);
    json_end(&o);
    json_end(&o);
}

/* ---- judging ---- */

static bool must_succeed(const struct call *call)
{
    return call->server && call->server->role->calm && !call->harmed && !call->abandoned;
}

/* Does it tell, or is it known, whose question it is? */
static bool is_attributable(const struct server_role *r)
{
    return r->per_client || strcmp(r->era, "modern") == 0 || strcmp(r->transport, "http") == 0;
}

static void judge_result(const struct call *call, struct span text)
{
    char srv[64], canary[CANARY_MAX];

    snprintf(srv, sizeof srv, "srv:%s how:", call->server->name);
    if (!span_has(text, span_of(srv)))
        broken(LAW_RIGHT, "%s was for %s but got %.*s", call->canary, call->server->name,
               (int)(text.n < 300 ? text.n : 300), text.p);
    if (!canary_find(text, canary) || strcmp(canary, call->canary) != 0)
        broken(LAW_RIGHT, "%s got the result of %s", call->canary, canary);
    if (strcmp(call->tool, "big") == 0 && strcmp(call->method, "tools/call") == 0 &&
        span_has(text, SPAN("how:big")) && !span_has(text, SPAN(" end\"")))
        broken(LAW_RIGHT, "%s was cut short", call->canary);
    if (must_succeed(call) && is_attributable(call->server->role) &&
        span_has(text, SPAN("how:refused")))
        broken(LAW_SERVED, "%s: a question of %s was refused", call->canary, call->server->name);
    figures.accepted += span_has(text, SPAN("how:accept"));
}

void call_judge(struct call *call, struct span text, bool is_error)
{
    bool by_server = span_has(text, SPAN(" srv:"));

    call->over = true;
    if (!call->server && !is_error) {
        figures.results++;
    } else if (call->server && by_server && !is_error) {
        figures.results++;
        judge_result(call, text);
    } else {
        figures.errors++;
        if (must_succeed(call))
            suspected(LAW_SERVED, "%s, %s of %s after %llu ms: %.*s", call->canary, call->tool,
                      call->server->name, (unsigned long long)(now() - call->began),
                      (int)(text.n < 400 ? text.n : 400), text.p);
    }
    if (call->web)
        call->lingers = true;
    else
        call_free(call);
}

void call_answered(struct call *call, struct json message, struct span text)
{
    struct json error = json_get(message, "error");

    call_judge(call, text, !json_is(error, JSON_NONE));
}

/* ---- waiting ---- */

void call_abandon(struct call *call)
{
    call->abandoned = true;
    if (call->web)
        web_drop(TAKE(call->web));
}

void calls_watch(struct client *c)
{
    for (int i = 0; i < CALLS_MAX; i++) {
        struct call *call = &c->calls[i];
        uint64_t limit = patiently(WAIT_MS);

        if (!call->used || now() - call->began < (call->abandoned ? limit / 6 : limit))
            continue;
        if (!call->abandoned && !call->lingers)
            broken(LAW_ONCE, "%s client %u: %s %s of %s was never answered (%s)", c->kind->name,
                   c->no, call->canary, call->tool, call->server ? call->server->name : "the hub",
                   call->method);
        call_free(call);
    }
}
