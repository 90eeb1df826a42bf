/* client_http.c - a legacy session over Streamable HTTP: posts, a stream of its own, connections
 * that are lost and streams that are resumed. */
#include "client.h"

enum { RESUME_MS = 600, SESSIONS_LEFT_MAX = 256 };

static void keep_event(char to[static 128], struct span id)
{
    if (id.n && id.n < 128)
        snprintf(to, 128, "%.*s", SPAN_ARG(id));
}

static const char *headers_of(const struct client *c, const char *last_event)
{
    static char text[512];
    size_t n;

    n = (size_t)snprintf(
        text, sizeof text,
        "Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: %s\r\n",
        c->kind->version);
    if (c->session[0])
        n += (size_t)snprintf(text + n, sizeof text - n, "Mcp-Session-Id: %s\r\n", c->session);
    if (last_event)
        snprintf(text + n, sizeof text - n, "Last-Event-ID: %s\r\n", last_event);
    return text;
}

/* ---- the stream of the session ---- */

static void open_stream(struct client *c);

static void on_stream_event(void *ctx, struct span id, struct span data)
{
    struct client *c = ctx;

    keep_event(c->event, id);
    if (data.n)
        client_heard(c, NULL, data);
}

static void on_stream_done(void *ctx, int status, struct span body)
{
    struct client *c = ctx;

    (void)body;
    c->stream = NULL;
    if (c->state == CLIENT_READY && status >= 400 && !c->event[0])
        client_lost(c, "its stream was refused");
    else if (status >= 400)
        c->event[0] = '\0'; /* too much has been missed: it begins anew */
}

static void open_stream(struct client *c)
{
    static const struct web_events events = { .event = on_stream_event, .done = on_stream_done };

    c->stream = web_send(&(struct web_order){
        .method = "GET",
        .path = "/mcp",
        .headers = headers_of(c, c->event[0] ? c->event : NULL),
        .events = &events,
        .ctx = c,
    });
}

/* ---- requests ---- */

static void on_event(void *ctx, struct span id, struct span data)
{
    struct call *call = ctx;

    keep_event(call->event, id);
    if (data.n)
        client_heard(call->c, call, data);
}

static void on_done(void *ctx, int status, struct span body)
{
    struct call *call = ctx;
    struct client *c = call->c;

    call->web = NULL;
    if (call->lingers)
        call_free(call);
    else if (status == 200 && body.n && body.p[0] == '{')
        client_heard(c, call, body);
    else if (status >= 400)
        call_judge(call, body, true);
    else if (!call->abandoned)
        suspected(LAW_ONCE, "http client %u: the answer to %s ended without it (status %d, %.*s)",
                  c->no, call->canary, status, SPAN_ARG(body));
}

static const struct web_events call_events = { .event = on_event, .done = on_done };

static void http_say(struct client *c, struct call *call, struct span message)
{
    struct web *w = web_send(&(struct web_order){
        .method = "POST",
        .path = "/mcp",
        .headers = headers_of(c, NULL),
        .body = message,
        .events = call ? &call_events : NULL,
        .ctx = call,
    });

    if (call)
        call->web = w;
}

/* ---- losing the connection ---- */

struct lost {
    struct client *c;
    unsigned life, no;
};

/* The events that were missed come now. */
static void resume(void *ctx)
{
    struct lost *l = ctx;
    struct client *c = l->c;

    for (int i = 0; c->life == l->life && c->state == CLIENT_READY && i < CALLS_MAX; i++) {
        struct call *call = &c->calls[i];

        if (!call->used || call->no != l->no || call->web)
            continue;
        figures.resumes++;
        call->web = web_send(&(struct web_order){
            .method = "GET",
            .path = "/mcp",
            .headers = headers_of(c, call->event),
            .events = &call_events,
            .ctx = call,
        });
    }
    free(l);
}

static void lose(struct client *c, struct call *call)
{
    struct lost *l;

    figures.drops++;
    web_drop(TAKE(call->web));
    if (!call->event[0] || one_in(4)) { /* nothing to go on from, or no wish to */
        call->abandoned = true;
        return;
    }
    l = NEW(struct lost);
    *l = (struct lost){ c, c->life, call->no };
    later(among(RESUME_MS), resume, l);
}

/* Rather one whose stream has begun. */
static struct call *some_call(struct client *c)
{
    for (int i = 0; i < CALLS_MAX; i++)
        if (c->calls[i].used && c->calls[i].web && c->calls[i].event[0])
            return &c->calls[i];
    return &c->calls[among(CALLS_MAX)];
}

static void http_mishap(struct client *c)
{
    struct call *call = some_call(c);
    unsigned dice = among(6);

    if (dice >= 3 && call->used && call->web)
        lose(c, call);
    else if (dice == 1 && call->used && call->web)
        web_chan(call->web)->deaf_until = now() + among(2500);
    else if (dice == 2 && c->stream)
        web_drop(TAKE(c->stream));
    else if (dice == 2)
        open_stream(c);
    else
        web_send(&(struct web_order){ .method = "POST",
                                      .path = "/mcp",
                                      .headers = headers_of(c, NULL),
                                      .body = SPAN("{\"jsonrpc\":\"2.0\",\"id\":\"x-1\",\"method\":"
                                                   "\"ping\"}"),
                                      .half = true });
}

/* ---- the session ---- */

static void on_hello_head(void *ctx, const struct web_head *h)
{
    struct client *c = ctx;

    if (h->session.n && h->session.n < sizeof c->session)
        snprintf(c->session, sizeof c->session, "%.*s", SPAN_ARG(h->session));
}

static void on_hello(void *ctx, int status, struct span body)
{
    struct client *c = ctx;

    c->stream = NULL;
    if (c->state != CLIENT_OPENING)
        return;
    if (status != 200 || !c->session[0]) {
        char why[400];

        snprintf(why, sizeof why, "it was given no session but %d, %.*s", status,
                 (int)(body.n < 300 ? body.n : 300), body.p ? body.p : "");
        client_lost(c, why);
        return;
    }
    http_say(c, NULL, SPAN("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"));
    client_ready(c);
    open_stream(c);
}

static void http_open(struct client *c)
{
    static const struct web_events events = { .head = on_hello_head, .done = on_hello };
    AUTO_BUF struct buf b = { 0 };

    client_put_hello(c, &b);
    c->stream = web_send(&(struct web_order){ .method = "POST",
                                              .path = "/mcp",
                                              .headers = headers_of(c, NULL),
                                              .body = buf_span(&b),
                                              .events = &events,
                                              .ctx = c });
}

static void end_session(void *ctx)
{
    char *headers = ctx;

    web_send(&(struct web_order){ .method = "DELETE", .path = "/mcp", .headers = headers });
    free(headers);
}

/* A rude one says goodbye all the same, but only after a while: nothing must be kept for ever. */
static void http_leave(struct client *c, bool rude)
{
    if (c->stream)
        web_drop(TAKE(c->stream));
    if (c->session[0])
        later(rude ? 1500 : 0, end_session, mem_dup(headers_of(c, NULL)));
}

const struct client_kind kind_http = {
    .name = "http",
    .version = "2025-06-18",
    .open = http_open,
    .say = http_say,
    .leave = http_leave,
    .mishap = http_mishap,
};
const struct client_kind kind_http_new = {
    .name = "new http",
    .version = "2025-11-25",
    .open = http_open,
    .say = http_say,
    .leave = http_leave,
    .mishap = http_mishap,
};
