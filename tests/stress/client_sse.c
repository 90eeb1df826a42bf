/* client_sse.c - the first revision: one stream brings everything, posts go elsewhere. */
#include "client.h"

static void sse_say(struct client *c, struct call *call, struct span message)
{
    (void)call;
    web_send(&(struct web_order){ .method = "POST", .path = c->session, .body = message });
}

static void on_event(void *ctx, struct span id, struct span data)
{
    struct client *c = ctx;
    AUTO_BUF struct buf b = { 0 };

    (void)id;
    if (c->session[0] == '\0') {
        snprintf(c->session, sizeof c->session, "%.*s", SPAN_ARG(data));
        client_put_hello(c, &b);
        sse_say(c, NULL, buf_span(&b));
        return;
    }
    if (c->state == CLIENT_OPENING) {
        sse_say(c, NULL, SPAN("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"));
        client_ready(c);
    }
    client_heard(c, NULL, data);
}

static void on_done(void *ctx, int status, struct span body)
{
    struct client *c = ctx;

    (void)status;
    (void)body;
    c->stream = NULL;
    client_lost(c, "its stream has ended");
}

static void sse_open(struct client *c)
{
    static const struct web_events events = { .event = on_event, .done = on_done };

    c->stream = web_send(&(struct web_order){
        .method = "GET",
        .path = "/sse",
        .headers = "Accept: text/event-stream\r\n",
        .events = &events,
        .ctx = c,
    });
}

static void sse_leave(struct client *c, bool rude)
{
    (void)rude;
    if (c->stream)
        web_drop(TAKE(c->stream));
}

static void sse_mishap(struct client *c)
{
    if (c->stream)
        web_chan(c->stream)->deaf_until = now() + among(2500);
}

const struct client_kind kind_sse = {
    .name = "sse",
    .version = "2024-11-05",
    .open = sse_open,
    .say = sse_say,
    .leave = sse_leave,
    .mishap = sse_mishap,
};
