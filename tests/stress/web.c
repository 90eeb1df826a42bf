/* web.c - HTTP as a client: a request, and its answer as a body or as a stream of events. Written
 * for this program alone, so that it shares no mistake with the hub. */
#include "stress.h"

enum body { BODY_HEAD, BODY_LENGTH, BODY_CHUNKS, BODY_REST };

struct web {
    struct chan *chan;
    const struct web_events *events;
    void *ctx;
    enum body body;
    struct web_head head;
    size_t left;      /* of a known length */
    struct buf plain; /* without chunks */
    bool over;
};

static void web_free(void *ctx)
{
    struct web *w = ctx;

    buf_done(&w->plain);
    free(w);
}

static void finish(struct web *w, int status)
{
    if (w->over)
        return;
    w->over = true;
    chan_close(w->chan);
    if (w->events && w->events->done)
        w->events->done(w->ctx, status, buf_span(&w->plain));
}

/* ---- events ---- */

/* One block of lines: the last id and all data. */
static void take_event(struct web *w, struct span block)
{
    AUTO_BUF struct buf data = { 0 };
    struct span id = { 0 };

    while (block.n) {
        const char *end = memchr(block.p, '\n', block.n);
        struct span line = span_make(block.p, end ? (size_t)(end - block.p) : block.n);

        block = span_from(block, line.n + (end != NULL));
        line = span_trim(line);
        if (span_starts(line, "id:"))
            id = span_trim(span_from(line, 3));
        else if (span_starts(line, "data:"))
            buf_add_span(&data, span_trim(span_from(line, 5)));
    }
    if (w->events && w->events->event && (data.n || id.n))
        w->events->event(w->ctx, id, buf_span(&data));
}

static void take_events(struct web *w)
{
    char *end;

    while (!w->over && w->plain.n && (end = memmem(w->plain.p, w->plain.n, "\n\n", 2))) {
        AUTO_BUF struct buf block = { 0 };
        size_t n = (size_t)(end - w->plain.p) + 2;

        buf_add(&block, w->plain.p, n);
        buf_consume(&w->plain, n);
        take_event(w, buf_span(&block));
    }
}

/* ---- the answer ---- */

static struct span header(struct span head, const char *name)
{
    size_t n = strlen(name);

    while (head.n) {
        const char *end = memchr(head.p, '\n', head.n);
        struct span line = span_make(head.p, end ? (size_t)(end - head.p) : head.n);

        head = span_from(head, line.n + (end != NULL));
        if (line.n > n && strncasecmp(line.p, name, n) == 0 && line.p[n] == ':')
            return span_trim(span_from(line, n + 1));
    }
    return (struct span){ 0 };
}

static bool take_head(struct web *w)
{
    struct buf *rx = &w->chan->rx;
    const char *end = rx->n ? memmem(rx->p, rx->n, "\r\n\r\n", 4) : NULL;
    AUTO_BUF struct buf text = { 0 };
    struct span head, length;

    if (!end)
        return false;
    buf_add(&text, rx->p, (size_t)(end - rx->p) + 2);
    buf_cstr(&text);
    buf_consume(rx, text.n + 2);
    head = buf_span(&text);
    length = header(head, "Content-Length");
    w->head.status = text.n > 9 ? (int)strtol(text.p + 9, NULL, 10) : 0;
    w->head.streams = span_starts(header(head, "Content-Type"), "text/event-stream");
    w->head.session = header(head, "Mcp-Session-Id");
    w->left = length.p ? strtoul(length.p, NULL, 10) : 0;
    w->body = length.p                                         ? BODY_LENGTH
              : header(head, "Transfer-Encoding").n            ? BODY_CHUNKS
              : w->head.status == 204 || w->head.status == 304 ? BODY_LENGTH
                                                               : BODY_REST;
    if (w->events && w->events->head)
        w->events->head(w->ctx, &w->head);
    return true;
}

/* True: the last one was there. */
static bool take_chunks(struct web *w)
{
    struct buf *rx = &w->chan->rx;
    char *end;

    while (rx->n && (end = memmem(rx->p, rx->n, "\r\n", 2))) {
        size_t line = (size_t)(end - rx->p) + 2, n = strtoul(rx->p, NULL, 16);

        if (rx->n < line + n + 2)
            return false;
        buf_add(&w->plain, rx->p + line, n);
        buf_consume(rx, line + n + 2);
        if (n == 0)
            return true;
    }
    return false;
}

static void on_heard(void *ctx)
{
    struct web *w = ctx;
    struct buf *rx = &w->chan->rx;
    bool last = false;

    if (w->over || (w->body == BODY_HEAD && !take_head(w)) || w->over)
        return;
    if (w->body == BODY_CHUNKS) {
        last = take_chunks(w);
    } else {
        buf_add_span(&w->plain, buf_span(rx));
        last = w->body == BODY_LENGTH && w->plain.n >= w->left;
        rx->n = 0;
    }
    if (w->head.streams)
        take_events(w);
    if (last)
        finish(w, w->head.status);
}

static void on_ended(void *ctx)
{
    struct web *w = ctx;

    finish(w, w->body == BODY_REST ? w->head.status : 0);
}

static const struct chan_events chan_events = { on_heard, on_ended };

struct web *web_send(const struct web_order *o)
{
    struct web *w = NEW(struct web);
    AUTO_BUF struct buf b = { 0 };

    w->events = o->events;
    w->ctx = o->ctx;
    w->chan = chan_dial(hub.port, &chan_events, w);
    if (!w->chan) {
        web_free(w);
        return NULL;
    }
    w->chan->free_ctx = web_free;
    buf_printf(&b, "%s %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\n%s",
               o->method, o->path, hub.port, o->token ? o->token : HUB_TOKEN,
               o->headers ? o->headers : "");
    if (strcmp(o->method, "GET") != 0)
        buf_printf(&b, "Content-Type: application/json\r\nContent-Length: %zu\r\n", o->body.n);
    buf_str(&b, "\r\n");
    buf_add_span(&b, o->body);
    if (o->half)
        b.n = 1 + among((unsigned)b.n - 1);
    chan_say(w->chan, buf_span(&b));
    return w;
}

void web_drop(struct web *w)
{
    w->over = true;
    chan_close(w->chan);
}

struct chan *web_chan(struct web *w) { return w->chan; }

/* ---- waiting for one ---- */

struct wait {
    bool done;
    int status;
    struct buf *out;
};

static void on_waited(void *ctx, int status, struct span body)
{
    struct wait *w = ctx;

    w->done = true;
    w->status = status;
    if (w->out) {
        w->out->n = 0;
        buf_add_span(w->out, body);
    }
}

int web_wait(const struct web_order *o, struct buf *out, uint64_t ms)
{
    static const struct web_events events = { .done = on_waited };
    struct wait wait = { .out = out };
    struct web_order mine = *o;
    uint64_t until = now() + ms;
    struct web *w;

    mine.events = &events;
    mine.ctx = &wait;
    w = web_send(&mine);
    while (w && !wait.done && now() < until)
        net_turn(20);
    if (w && !wait.done)
        web_drop(w);
    return wait.status;
}
