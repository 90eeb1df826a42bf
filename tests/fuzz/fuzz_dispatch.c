/* fuzz_dispatch.c - whole conversations with a real server of a few tools. The first byte chooses
 * what kind of client it is and how the server is set up; the rest is one message per line, or,
 * behind a '#', something that happens around the messages. Whatever comes: what is sent is JSON
 * on one line, nothing is answered twice, and a request that is over is not spoken of. */
#include "base/base.h"
#include "io/io.h"
#include "manual_clock.h"
#include "mcp/rpc/rpc.h"
#include "mcp/serve/serve.h"
#include "patchbay.h"
#include "json/json.h"
#include <stdint.h>

enum { DEFERRED_MAX = 64 };

#define MUST(cond)   \
    do {             \
        if (!(cond)) \
            abort(); \
    } while (0)

struct world {
    struct pb_server *server;
    struct peer *peer;
    size_t asked, answered, open;
    struct pb_call *deferred[DEFERRED_MAX];
    size_t n_deferred;
    struct span version, method, name, param;
    bool facts, spoiled; /* spoiled: the server is no longer as it was made */
    uintptr_t exchange;
    struct pb_loop *loop;
};

/* ---- the transport ------------------------------------------------------------------------ */

static void on_send(void *transport, struct request *about, enum send_kind kind,
                    const struct span *parts, size_t n)
{
    struct world *w = transport;
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_BUF struct buf text = { 0 };

    for (size_t i = 0; i < n; i++)
        buf_add_span(&text, parts[i]);
    MUST(json_parse(&doc, buf_span(&text), NULL, NULL) == 0);
    MUST(json_is(json_root(&doc), JSON_OBJECT));
    MUST(!memchr(text.p, '\n', text.n));
    MUST(!about || !about->over);
    if (kind == SEND_RESPONSE) {
        MUST(about);
        MUST(json_is(json_get(json_root(&doc), "result"), JSON_NONE) !=
             json_is(json_get(json_root(&doc), "error"), JSON_NONE));
        MUST(about->http_status >= 200 && about->http_status < 500);
        MUST(++w->answered <= w->asked);
    }
}

static void on_finished(void *transport, struct request *about)
{
    struct world *w = transport;

    MUST(about->over && w->open);
    w->open--;
}

static const struct peer_ops ops = { .send = on_send, .finished = on_finished };

/* ---- the tools ---------------------------------------------------------------------------- */

static int echo(struct pb_call *call, void *ctx)
{
    (void)ctx;
    return pb_reply_text(call, "%s", pb_arg_json(call, NULL));
}

static int talk(struct pb_call *call, void *ctx)
{
    (void)ctx;
    pb_call_progress(call, 1, 2, "half");
    pb_call_log(call, PB_LOG_WARNING, "talk", "{\"said\":true}");
    return pb_reply_structured(call, "{\"done\":[1,2.50]}");
}

static int refuse(struct pb_call *call, void *ctx)
{
    (void)ctx;
    return pb_fail(call, "no: %s", pb_call_name(call));
}

static int later(struct pb_call *call, void *ctx)
{
    struct world *w = *(struct world **)ctx;

    if (w->n_deferred == DEFERRED_MAX)
        return pb_fail(call, "enough");
    pb_call_defer(call);
    w->deferred[w->n_deferred++] = call;
    return 0;
}

static int ask(struct pb_call *call, void *ctx)
{
    const char *form, *roots;
    int rc;

    (void)ctx;
    rc = pb_ask_form(call, "name", "Who?",
                     "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"string\"}}}", &form);
    if (rc < 0)
        return rc;
    rc = pb_ask_roots(call, "roots", &roots);
    return rc < 0 ? rc : pb_reply_text(call, "%s %s", form, roots);
}

static int read_resource(struct pb_call *call, void *ctx)
{
    (void)ctx;
    return pb_reply_resource(call, pb_call_uri(call), "text/plain", "text");
}

static int get_prompt(struct pb_call *call, void *ctx)
{
    (void)ctx;
    return pb_reply_message(call, "user",
                            pb_arg_string(call, "who") ? pb_arg_string(call, "who") : "");
}

static const struct pb_param echo_params[] = {
    { .name = "text", .type = PB_STRING, .flags = PB_OPTIONAL, .header = "Text" },
    { .name = "n", .type = PB_INT, .fallback = "3" },
    { 0 },
};

static struct world *now; /* the conversation that handlers belong to */

static void furnish(struct pb_server *server)
{
    static const struct pb_prompt_arg args[] = { { "who", NULL, false }, { 0 } };
    const struct pb_tool tools[] = {
        { .name = "echo", .params = echo_params, .flags = PB_ON_LOOP, .run = echo },
        { .name = "talk", .flags = PB_ON_LOOP, .run = talk },
        { .name = "refuse", .flags = PB_ON_LOOP, .run = refuse },
        { .name = "later", .flags = PB_ON_LOOP | PB_TASK_ALLOWED, .run = later, .ctx = &now },
        { .name = "ask", .flags = PB_ON_LOOP, .run = ask },
    };
    const struct pb_resource resource = {
        .uri = "test://a", .name = "a", .flags = PB_ON_LOOP, .read = read_resource
    };
    const struct pb_resource template = {
        .uri = "test://t/{id}", .name = "t", .flags = PB_ON_LOOP, .read = read_resource
    };
    const struct pb_prompt prompt = {
        .name = "p", .args = args, .flags = PB_ON_LOOP, .get = get_prompt
    };

    for (size_t i = 0; i < ARRAY_LEN(tools); i++)
        MUST(pb_server_add_tool(server, &tools[i], NULL) == 0);
    MUST(pb_server_add_resource(server, &resource, NULL) == 0);
    MUST(pb_server_add_template(server, &template, NULL) == 0);
    MUST(pb_server_add_prompt(server, &prompt, NULL) == 0);
}

/* ---- what happens ------------------------------------------------------------------------- */

static struct span one_header(void *ctx, const char *name)
{
    struct world *w = ctx;

    return strncmp(name, "Mcp-Param-", 10) == 0 ? w->param : (struct span){ 0 };
}

static void finish_calls(struct world *w)
{
    while (w->n_deferred) {
        struct pb_call *call = w->deferred[--w->n_deferred];

        pb_reply_text(call, "late");
        pb_call_finish(call, 0);
    }
}

static void happen(struct world *w, struct span line)
{
    struct span rest = line.n > 2 ? span_trim(span_from(line, 2)) : (struct span){ 0 };

    switch (line.n > 1 ? line.p[1] : 0) {
    case 'v':
        w->facts = true, w->version = rest;
        break;
    case 'm':
        w->facts = true, w->method = rest;
        break;
    case 'n':
        w->facts = true, w->name = rest;
        break;
    case 'p':
        w->facts = true, w->param = rest;
        break;
    case 'x':
        w->facts = false;
        break;
    case 't':
        loop_advance(w->loop, rest.n ? (uint64_t)rest.p[0] * 1000 : 1);
        break;
    case 'g':
        peer_exchange_gone(w->peer, (void *)w->exchange);
        break;
    case 'c':
        peer_cancel_all(w->peer);
        break;
    case 'f':
        finish_calls(w);
        break;
    case 'l':
        server_list_changed(w->server, "tools");
        break;
    case 'u':
        pb_server_resource_updated(w->server, "test://a");
        break;
    case 'w':
        pb_server_log(w->server, PB_LOG_ERROR, NULL, "1");
        break;
    case 'r':
        (void)pb_server_remove_tool(w->server, "echo", NULL);
        w->spoiled = true;
        break;
    case 's':
        peer_set_principal(w->peer, "somebody");
        break;
    case 'o':
        w->asked++;
        w->open++;
        peer_receive_oversize(w->peer, rest, 20 << 20, NULL);
        break;
    default:
        break;
    }
}

static void receive(struct world *w, struct span line)
{
    struct http_facts facts = { w->version, w->method, w->name, one_header, w };
    struct message *m = message_new(blob_new(line));
    bool answered =
        m->rpc.kind == RPC_REQUEST || m->rpc.kind == RPC_INVALID || m->rpc.kind == RPC_BATCH;

    w->asked += answered;
    w->open += answered;
    w->exchange += 16;
    peer_receive(w->peer, m, w->facts ? &facts : NULL, (void *)w->exchange);
}

static void converse(struct world *w, struct span text)
{
    while (text.n) {
        const char *nl = memchr(text.p, '\n', text.n);
        size_t n = nl ? (size_t)(nl - text.p) : text.n;
        struct span line = { text.p, n };

        if (n && line.p[0] == '#')
            happen(w, line);
        else if (n)
            receive(w, line);
        loop_turn(w->loop, false);
        text = span_from(text, n + (nl != NULL));
    }
}

/* ---- servers, one per set-up: making one costs more than most conversations ---------------- */

enum { SETUPS = 16, CONVERSATIONS = 128 };

static struct pb_loop *loop;

static struct setup {
    struct pb_server *server;
    int conversations;
} setups[SETUPS];

static void close_server(struct setup *s)
{
    pb_server_free(s->server);
    s->server = NULL;
    while (loop_turn(loop, false))
        continue;
}

static void close_all(void)
{
    for (size_t i = 0; i < SETUPS; i++)
        if (setups[i].server)
            close_server(&setups[i]);
    loop_free(loop);
}

static struct setup *open_server(unsigned bits)
{
    struct setup *s = &setups[bits];
    struct pb_server_options opts = PB_SERVER_OPTIONS_INIT;

    if (s->server)
        return s;
    opts.loop = loop;
    opts.strict = bits & 1;
    opts.parse_error_id_null = bits >> 1 & 1;
    opts.error_style = bits >> 2 & 1 ? PB_ERRORS_AS_RPC : PB_ERRORS_AS_RESULTS;
    opts.page_items = bits >> 3 & 1;
    s->server = pb_server_new(&opts);
    s->conversations = 0;
    furnish(s->server);
    return s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static struct manual_clock clock;
    struct world w = { 0 };
    struct setup *s;

    if (n == 0)
        return 0;
    if (!loop) {
        manual_clock_init(&clock);
        loop = loop_new(&clock.clock);
        atexit(close_all);
    }
    s = open_server(data[0] >> 2 & (SETUPS - 1));
    w.loop = loop;
    w.server = s->server;
    now = &w;
    w.peer = peer_new(w.server, (enum peer_kind)(data[0] & 3), &ops, &w);
    converse(&w, span_make((const char *)data + 1, n - 1));

    peer_close(w.peer);
    MUST(w.open == 0);
    finish_calls(&w);
    loop_turn(loop, false);
    if (w.spoiled || ++s->conversations == CONVERSATIONS)
        close_server(s);
    return 0;
}
