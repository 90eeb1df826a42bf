/* client_modern.c - no session: every request says all about itself, and to hang up is to cancel.
 */
#include "client.h"

static void on_event(void *ctx, struct span id, struct span data)
{
    struct call *call = ctx;

    (void)id;
    if (data.n)
        client_heard(call->c, call, data);
}

static void on_done(void *ctx, int status, struct span body)
{
    struct call *call = ctx;

    call->web = NULL;
    if (call->lingers)
        call_free(call);
    else if (body.n && body.p[0] == '{')
        client_heard(call->c, call, body);
    else if (!call->abandoned)
        suspected(LAW_ONCE, "modern client %u: the answer to %s ended without it (status %d)",
                  call->c->no, call->canary, status);
}

static void modern_say(struct client *c, struct call *call, struct span message)
{
    static const struct web_events events = { .event = on_event, .done = on_done };
    char headers[600], name[200] = "";

    if (!call)
        return;
    if (call->server && strcmp(call->method, "resources/read") == 0)
        snprintf(name, sizeof name, "Mcp-Name: stress://%s/%s\r\n", call->server->name,
                 call->canary);
    else if (call->server)
        snprintf(name, sizeof name, "Mcp-Name: %s__%s\r\n", call->server->name, call->tool);
    snprintf(headers, sizeof headers,
             "Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: %s\r\n"
             "Mcp-Method: %s\r\n%s",
             c->kind->version, call->method, name);
    if (call->web) /* a stream that brought input_required and has not ended yet */
        web_drop(TAKE(call->web));
    call->web = web_send(&(struct web_order){ .method = "POST",
                                              .path = "/mcp",
                                              .headers = headers,
                                              .body = message,
                                              .events = &events,
                                              .ctx = call });
}

/* ---- listening ---- */

static void on_news(void *ctx, struct span id, struct span data)
{
    (void)id;
    if (data.n)
        client_heard(ctx, NULL, data);
}

static void on_news_done(void *ctx, int status, struct span body)
{
    struct client *c = ctx;

    (void)status;
    (void)body;
    c->stream = NULL;
}

static void listen_to_lists(struct client *c)
{
    static const struct web_events events = { .event = on_news, .done = on_news_done };
    AUTO_BUF struct buf b = { 0 };

    buf_printf(
        &b,
        "{\"jsonrpc\":\"2.0\",\"id\":\"x-listen\",\"method\":\"subscriptions/listen\","
        "\"params\":{\"notifications\":{\"toolsListChanged\":true,\"promptsListChanged\":true,"
        "\"resourceSubscriptions\":[\"stress://%s/about\"]},\"_meta\":{"
        "\"io.modelcontextprotocol/protocolVersion\":\"%s\","
        "\"io.modelcontextprotocol/clientCapabilities\":{}}}}",
        servers[among(options.servers)].name, c->kind->version);
    c->stream = web_send(&(struct web_order){
        .method = "POST",
        .path = "/mcp",
        .headers = "Accept: application/json, text/event-stream\r\n"
                   "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: subscriptions/listen\r\n",
        .body = buf_span(&b),
        .events = &events,
        .ctx = c,
    });
}

/* ---- its life ---- */

static void modern_open(struct client *c) { client_ready(c); }

static void modern_leave(struct client *c, bool rude)
{
    (void)rude;
    if (c->stream)
        web_drop(TAKE(c->stream));
}

static void modern_mishap(struct client *c)
{
    struct call *call = &c->calls[among(CALLS_MAX)];

    if (one_in(3)) {
        if (c->stream)
            web_drop(TAKE(c->stream));
        else
            listen_to_lists(c);
        return;
    }
    if (!call->used || !call->web)
        return;
    if (one_in(2)) {
        figures.drops++;
        call_abandon(call);
    } else {
        web_chan(call->web)->deaf_until = now() + among(2500);
    }
}

const struct client_kind kind_modern = {
    .name = "modern",
    .modern = true,
    .version = "2026-07-28",
    .open = modern_open,
    .say = modern_say,
    .leave = modern_leave,
    .mishap = modern_mishap,
};
