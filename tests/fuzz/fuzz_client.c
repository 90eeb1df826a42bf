/* fuzz_client.c - whatever a server may send to a client, on a wire that does as the input says.
 * The first byte chooses the kind of wire and the era; then one line each: a message, in which `$`
 * stands for the id of the newest request; or, behind a '#', something that happens. Whatever
 * comes: what we send is JSON on one line with ids that rise, every request gets exactly one
 * answer, and never inside the call that made it. */
#include "manual_clock.h"
#include "mcp/client/client.h"
#include "mcp/client/client_impl.h"
#include "mcp/wire/wire.h"
#include <stdint.h>

enum { ASKED_MAX = 256 };

#define MUST(cond)   \
    do {             \
        if (!(cond)) \
            abort(); \
    } while (0)

struct pipe {
    struct wire wire;
    struct wire_ops ops;
    uint64_t newest;
    bool over;
};

struct world {
    struct pb_loop *loop;
    struct client *client;
    struct pipe *pipe; /* the newest one */
    unsigned mode;
    size_t requests, replies;
    bool asking;
    uint64_t last_id, call;
    struct client_question *asked[ASKED_MAX];
    size_t n_asked;
    struct pb_client_options opts;
};

static struct world *world;

/* ---- the wire ---- */

static int pipe_send(struct wire *w, const struct wire_out *m, struct pb_error *err)
{
    struct pipe *p = CONTAINER_OF(w, struct pipe, wire);
    AUTO_JSON struct json_doc doc = { 0 };
    uint64_t id;

    MUST(json_parse(&doc, m->text, &(struct json_opts){ .unique_depth = 2 }, err) == 0);
    MUST(!memchr(m->text.p, '\n', m->text.n));
    if (m->request) {
        MUST(json_uint(json_get(json_root(&doc), "id"), &id, NULL) == 0);
        MUST(id == m->id && id > world->last_id);
        world->last_id = p->newest = id;
    }
    return p->over ? fail(err, PB_E_CLOSED, "over") : 0;
}

static void pipe_close(struct wire *w, loop_fn *fn, void *ctx)
{
    struct pipe *p = CONTAINER_OF(w, struct pipe, wire);

    if (world->pipe == p)
        world->pipe = NULL;
    loop_free_later(w->loop, p, free);
    if (fn)
        loop_defer(w->loop, fn, ctx);
}

static int pipe_open(struct wire **out, struct pb_loop *l, const struct pb_client_options *opts,
                     const struct wire_events *events, void *ctx, struct pb_error *err)
{
    static const enum wire_kind kinds[] = { WIRE_STDIO, WIRE_HTTP, WIRE_SSE, WIRE_MEMORY };
    struct pipe *p = NEW(struct pipe);

    (void)err;
    p->ops =
        (struct wire_ops){ .kind = kinds[world->mode % 4], .send = pipe_send, .close = pipe_close };
    p->ops.acks = p->ops.kind == WIRE_HTTP;
    p->wire = (struct wire){ &p->ops, events, ctx, l, opts, true };
    world->pipe = p;
    *out = &p->wire;
    return 0;
}

/* ---- the owner ---- */

static void on_question(void *ctx, struct client_question *q, uint64_t call_id, struct span method,
                        struct span params)
{
    struct world *w = ctx;

    (void)call_id, (void)method, (void)params;
    MUST(w->n_asked < ASKED_MAX);
    w->asked[w->n_asked++] = q;
}

static void on_notification(void *ctx, struct span method, struct span params)
{
    AUTO_JSON struct json_doc doc = { 0 };

    (void)ctx;
    MUST(utf8_valid(method));
    MUST(!params.n || json_parse(&doc, params, NULL, NULL) == 0);
}

static void on_reply(void *ctx, const struct client_reply *reply)
{
    struct world *w = ctx;
    AUTO_JSON struct json_doc doc = { 0 };

    MUST(!w->asking);
    w->replies++;
    MUST(!!reply->err == !reply->result.n);
    if (!reply->err)
        MUST(json_parse(&doc, reply->result, NULL, NULL) == 0);
}

static void count(struct world *w, int rc) { w->requests += rc == 0; }

static void request(struct world *w, const char *method, const char *params)
{
    struct client_request_spec spec = { .method = method,
                                        .params = span_of(params),
                                        .wants_progress = true,
                                        .reply = on_reply,
                                        .ctx = w };

    count(w, client_request(w->client, &spec, &w->call, NULL));
}

static void answer_one(struct world *w, bool refuse)
{
    struct client_question *q;

    if (!w->n_asked)
        return;
    q = w->asked[--w->n_asked];
    if (refuse)
        client_refuse(q, -1, "no");
    else
        client_answer(q, SPAN("{\"action\":\"accept\"}"));
}

/* ---- what happens ---- */

static void happen(struct world *w, char what)
{
    struct wire_fault fault = { .status = 404, .session_lost = what == 'l' };
    struct pipe *p = w->pipe;
    struct pb_error err;

    fail(&fault.err, PB_E_CLOSED, "as the input says");
    w->asking = strchr("ctsup", what) != NULL;
    switch (what) {
    case 'c':
        request(w, "tools/call", "{\"name\":\"x\",\"arguments\":{\"a\":\"b\"}}");
        break;
    case 't':
        count(w, client_list(w->client, "tools", 0, on_reply, w, &err));
        break;
    case 's':
        count(w, client_subscribe(w->client, SPAN("a:1"), on_reply, w, &err));
        break;
    case 'u':
        count(w, client_unsubscribe(w->client, SPAN("a:1"), on_reply, w, &err));
        break;
    case 'p':
        count(w, client_ping(w->client, 0, on_reply, w, &err));
        break;
    case 'x':
        client_cancel(w->client, w->call, "why");
        break;
    case 'a':
        answer_one(w, false);
        break;
    case 'r':
        answer_one(w, true);
        break;
    case '1':
        loop_advance(w->loop, 1000);
        break;
    case '9':
        loop_advance(w->loop, 60000);
        break;
    case 'd':
        if (p && !p->over) {
            p->over = true;
            p->wire.events->closed(p->wire.ctx, &fault);
        }
        break;
    case 'f':
    case 'l':
        if (p && !p->over)
            p->wire.events->failed(p->wire.ctx, p->newest, &fault);
        break;
    case 'o':
        if (p && !p->over)
            p->wire.events->oversize(p->wire.ctx, SPAN("{\"id\":5,\"x\":"), 1000000);
        break;
    case 'i':
        if (p && !p->over)
            p->wire.events->delivered(p->wire.ctx, w->client->opening.hello);
        break;
    default:
        break;
    }
    w->asking = false;
}

static void message(struct world *w, struct span line)
{
    AUTO_BUF struct buf text = { 0 };
    AUTO(blob) struct blob *bytes = NULL;
    struct pipe *p = w->pipe;

    if (!p || p->over || !line.n)
        return;
    for (size_t i = 0; i < line.n; i++) {
        if (line.p[i] == '$')
            buf_printf(&text, "%llu", (unsigned long long)p->newest);
        else
            buf_byte(&text, line.p[i]);
    }
    bytes = blob_new(buf_span(&text));
    p->wire.events->message(p->wire.ctx, bytes, p->ops.kind == WIRE_HTTP ? p->newest : 0, 200);
}

static void play(struct world *w, struct span script)
{
    while (script.n) {
        const char *nl = memchr(script.p, '\n', script.n);
        struct span line = { script.p, nl ? (size_t)(nl - script.p) : script.n };

        script = span_from(script, line.n + (nl != NULL));
        if (line.n == 2 && line.p[0] == '#')
            happen(w, line.p[1]);
        else
            message(w, line);
        loop_turn(w->loop, false);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static struct manual_clock clock;
    static struct pb_loop *loop;
    static const struct client_events events = { .question = on_question,
                                                 .notification = on_notification };
    struct world w = { .opts = PB_CLIENT_OPTIONS_INIT };

    if (!n)
        return 0;
    if (!loop) {
        manual_clock_init(&clock);
        loop = loop_new(&clock.clock);
    }
    world = &w;
    w.loop = loop;
    w.mode = data[0];
    w.opts.command = "fuzz";
    w.opts.era = (enum pb_era)(data[0] / 4 % 3);
    w.opts.can_elicit = w.opts.can_sample = data[0] & 64;
    if (client_open_on(&w.client, loop, pipe_open, &w.opts, &events, &w, NULL) < 0)
        return 0;
    play(&w, span_make((const char *)data + 1, n - 1));
    client_close(w.client, NULL, NULL);
    MUST(w.requests == w.replies);
    for (int i = 0; i < 4; i++)
        loop_turn(loop, false);
    MUST(!w.pipe);
    return 0;
}
