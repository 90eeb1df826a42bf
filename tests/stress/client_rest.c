/* client_rest.c - scripts and pages: calls by REST, the listener of /api/events, and looking at
 * everything there is to see. */
#include "client.h"

static void on_done(void *ctx, int status, struct span body)
{
    struct call *call = ctx;

    call->web = NULL;
    if (status == 0 && !call->abandoned)
        suspected(LAW_ONCE, "rest client %u: no answer to %s", call->c->no, call->canary);
    call_judge(call, body, status != 200);
}

static void rest_say(struct client *c, struct call *call, struct span message)
{
    static const struct web_events events = { .done = on_done };
    AUTO_BUF struct buf b = { 0 };
    struct json_out o = json_out(&b);

    (void)message;
    if (!call)
        return;
    if (!call->server) {
        call->server = &servers[0];
        snprintf(call->tool, sizeof call->tool, "echo");
    }
    call->method = "tools/call";
    if (strcmp(call->tool, "greet") == 0)
        snprintf(call->tool, sizeof call->tool, "slow");
    call->harmed = call->tool[0] == 'a' || call->tool[0] == 'w'; /* a script cannot be asked */
    json_begin_object(&o, NULL);
    json_put_fmt(&o, "tool", "%s/%s", call->server->name, call->tool);
    json_begin_object(&o, "arguments");
    json_put_str(&o, "canary", call->canary);
    json_put_str(&o, "to", call->server->name);
    json_end(&o);
    json_end(&o);
    call->web = web_send(&(struct web_order){ .method = "POST",
                                              .path = "/api/mcp-tools/call",
                                              .body = buf_span(&b),
                                              .events = &events,
                                              .ctx = call });
    (void)c;
}

/* ---- the page ---- */

static void on_event(void *ctx, struct span id, struct span data)
{
    struct client *c = ctx;

    (void)data;
    if (id.n && id.n < sizeof c->event)
        snprintf(c->event, sizeof c->event, "%.*s", SPAN_ARG(id));
}

static void on_events_done(void *ctx, int status, struct span body)
{
    struct client *c = ctx;

    (void)status;
    (void)body;
    c->stream = NULL;
}

static void listen_to_events(struct client *c)
{
    static const struct web_events events = { .event = on_event, .done = on_events_done };
    char headers[200] = "";

    if (c->event[0])
        snprintf(headers, sizeof headers, "Last-Event-ID: %s\r\n", c->event);
    c->stream = web_send(&(struct web_order){
        .method = "GET", .path = "/api/events", .headers = headers, .events = &events, .ctx = c });
}

static void rest_open(struct client *c)
{
    client_ready(c);
    listen_to_events(c);
}

static void rest_leave(struct client *c, bool rude)
{
    (void)rude;
    if (c->stream)
        web_drop(TAKE(c->stream));
}

static void rest_mishap(struct client *c)
{
    static const char *const pages[] = { "/api/servers",       "/api/tools",       "/api/calls",
                                         "/api/logs?lines=50", "/api/status",      "/metrics",
                                         "/api/alerts",        "/api/mcp-clients", "/api/resources",
                                         "/openapi.json" };

    if (one_in(4) && c->stream)
        web_drop(TAKE(c->stream));
    else if (!c->stream)
        listen_to_events(c);
    else if (one_in(3))
        web_chan(c->stream)->deaf_until = now() + among(2500);
    else
        web_send(&(struct web_order){ .method = "GET", .path = pages[among(ARRAY_LEN(pages))] });
}

const struct client_kind kind_rest = {
    .name = "rest",
    .version = "",
    .open = rest_open,
    .say = rest_say,
    .leave = rest_leave,
    .mishap = rest_mishap,
};
