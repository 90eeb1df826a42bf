/* fake_server.h - servers that do what a test says, behind real clients: each is a pb_server in
 * this process, reached over a wire that can fail, hang, speak on stderr and break. Everything
 * lives on one loop whose clock stands still unless moved.
 *
 *     struct fakes fakes;
 *     struct fake_server *f;
 *
 *     fakes_init(&fakes);
 *     f = fakes_add(&fakes, "alpha");
 *     fake_tool(f, "echo", FAKE_ECHO);
 *     fake_tool(f, "slow", FAKE_DELAY)->ms = 500;
 *     f->connect = FAKE_CONNECT_DELAY, f->connect_ms = 100;
 *
 * hub_options.open = fake_open, .open_ctx = &fakes (link_options alike), listener.event =
 * fake_on_event with ctx &fakes. FAKES_UNTIL(&fakes, cond) turns the loop; loop_advance() moves
 * time. fakes_done() after the hub or the links have been closed. */
#pragma once
#include "hub/link.h"
#include "mcp/client_impl.h"
#include "mcp/memory.h"
#include "tap.h"

enum {
    FAKE_SERVERS_MAX = 256,
    FAKE_ITEMS_MAX = 64,
    FAKE_HELD_MAX = 4096,
    FAKE_EVENTS_MAX = 65536,
    FAKE_TURNS_MAX = 100000,
};

enum fake_connect {
    FAKE_CONNECT_OK,
    FAKE_CONNECT_FAIL,  /* the opener itself fails with connect_text */
    FAKE_CONNECT_HANG,  /* never gets anywhere */
    FAKE_CONNECT_DELAY, /* connect_ms, then as FAKE_CONNECT_OK */
    FAKE_CONNECT_DIE,   /* ends at the first message, saying connect_text on stderr */
};

enum fake_tool_kind {
    FAKE_TEXT,  /* answers `text` */
    FAKE_ECHO,  /* answers its arguments */
    FAKE_RAW,   /* answers the result `text`, which is JSON */
    FAKE_ERROR, /* JSON-RPC error `code`, `text` */
    FAKE_HANG,  /* never answers; see fake_held() */
    FAKE_DELAY, /* answers `text` after `ms` */
    FAKE_ASK,   /* asks `method` with `params`, answers what it was told */
    FAKE_TALK,  /* progress 1 of 2 and a log message, then `text` */
    FAKE_CRASH, /* the server dies instead of answering */
    FAKE_RUN,   /* runs `run` */
};

struct fake_server;

struct fake_tool {
    const char *name, *description, *schema; /* schema: JSON */
    enum fake_tool_kind kind;
    const char *text;
    int code;
    uint64_t ms;
    const char *method, *params;
    void (*run)(struct fake_server *f, struct fake_tool *t, struct request *r);
    size_t calls;
};

/* A resource (template: `uri` holds braces) or a prompt. */
struct fake_item {
    const char *name, *text;
};

/* A call that has no answer yet. */
struct fake_held {
    struct fake_server *f;
    struct request *r; /* NULL: over */
    struct fake_tool *tool;
    struct timer timer;
};

struct fake_server {
    struct fakes *fakes;
    const char *name;
    struct pb_server *server;
    enum pb_era era; /* PB_ERA_AUTO: what the spec says */

    enum fake_connect connect;
    const char *connect_text;
    uint64_t connect_ms;
    unsigned connect_fails; /* so many attempts fail with connect_text before `connect` counts */
    enum fake_connect (*custom)(struct fake_server *f); /* decides instead; may be NULL */

    struct fake_tool tools[FAKE_ITEMS_MAX];
    struct fake_item resources[FAKE_ITEMS_MAX], templates[FAKE_ITEMS_MAX], prompts[FAKE_ITEMS_MAX];
    size_t n_tools, n_resources, n_templates, n_prompts;
    bool fail_list[LIST_KINDS], hang_list[LIST_KINDS], no_logging;

    /* What happened. */
    size_t connects, closes, calls, cancellations, lists[LIST_KINDS];
    size_t watched, unwatched, roots_changed;
    char last_args[1024];   /* of the newest tools/call */
    char last_caller[128];  /* of the newest connect */
    char last_answer[1024]; /* to the newest question */

    struct list wires;
    struct buf words; /* said on stderr */
    struct fake_held *held[FAKE_HELD_MAX];
    size_t n_held;
    void *user;
};

struct fake_event {
    enum hub_event_kind kind;
    char *server;
    char *text; /* "idle>connecting", the log line, the tool's name */
    char *json;
};

struct fakes {
    struct manual_clock clock;
    struct pb_loop *loop;
    struct fake_server *servers[FAKE_SERVERS_MAX];
    size_t n;
    struct fake_event *events;
    size_t n_events;
};

/* ---- the loop ---- */

/* Turns until the condition holds: nothing here needs real time to pass. */
#define FAKES_UNTIL(fakes, cond)                           \
    do {                                                   \
        for (int turn_ = 0; !(cond); turn_++) {            \
            if (turn_ == FAKE_TURNS_MAX)                   \
                TAP_FAIL("it never came to this: " #cond); \
            loop_turn((fakes)->loop, false);               \
        }                                                  \
    } while (0)
/* The same where processes or sockets have to do something first. */
#define FAKES_WAIT(fakes, cond)             \
    do {                                    \
        while (!(cond))                     \
            loop_turn((fakes)->loop, true); \
    } while (0)

/* Until nothing more happens by itself. */
static inline void fakes_settle(struct fakes *s)
{
    for (int i = 0; i < 50; i++)
        loop_turn(s->loop, false);
}

/* ---- the wire ---- */

struct fake_wire {
    struct wire wire;
    struct list link;
    struct fake_server *f;
    struct memory_end *end; /* NULL: not there yet, or not any more */
    enum fake_connect how;
    struct timer timer;
    bool over;
};

static inline struct fake_wire *fake_wire_of(struct wire *w)
{
    return CONTAINER_OF(w, struct fake_wire, wire);
}

static inline void fake_wire_message(void *ctx, struct span message)
{
    struct fake_wire *w = ctx;
    struct blob *bytes = blob_new(message);

    w->wire.events->message(w->wire.ctx, bytes, 0, 0);
    blob_unref(bytes);
}

/* The process is gone. */
static inline void fake_wire_break(struct fake_wire *w, const char *why)
{
    struct wire_fault fault = { 0 };

    if (w->over)
        return;
    w->over = true;
    timer_stop(&w->timer);
    if (w->end)
        memory_close(TAKE(w->end));
    fail(&fault.err, PB_E_CLOSED, "%s", why);
    w->wire.events->closed(w->wire.ctx, &fault);
}

static inline void fake_wire_closed(void *ctx) { fake_wire_break(ctx, "the server has ended"); }

static inline int fake_wire_dial(struct fake_wire *w, struct pb_error *err)
{
    static const struct memory_events events = { fake_wire_message, fake_wire_closed };

    return memory_connect(w->f->server, &w->end, &events, w, err);
}

static inline void fake_say_on(struct fake_wire *w, const char *line)
{
    w->wire.events->stderr_line(w->wire.ctx, span_of(line));
}

static inline void fake_keep_words(struct fake_server *f, const char *line)
{
    if (f->words.n)
        buf_byte(&f->words, '\n');
    buf_str(&f->words, line);
}

static inline void fake_wire_timer(void *ctx)
{
    struct fake_wire *w = ctx;
    struct pb_error err;

    if (w->how == FAKE_CONNECT_DIE) {
        fake_keep_words(w->f, w->f->connect_text);
        fake_say_on(w, w->f->connect_text);
        fake_wire_break(w, "the server exited with status 1");
        return;
    }
    CHECK_INT(fake_wire_dial(w, &err), 0);
    w->wire.ready = true;
    w->wire.events->opened(w->wire.ctx);
}

static inline int fake_wire_send(struct wire *wire, const struct wire_out *m, struct pb_error *err)
{
    struct fake_wire *w = fake_wire_of(wire);

    if (w->over)
        return fail(err, PB_E_CLOSED, "the server has ended");
    if (w->how == FAKE_CONNECT_DIE)
        timer_start(&w->timer, 0);
    else
        memory_send(w->end, &m->text, 1);
    return 0;
}

static inline void fake_wire_close(struct wire *wire, loop_fn *fn, void *ctx)
{
    struct fake_wire *w = fake_wire_of(wire);

    timer_stop(&w->timer);
    if (w->end)
        memory_close(TAKE(w->end));
    w->f->closes++;
    list_remove(&w->link);
    loop_free_later(wire->loop, w, free);
    if (fn)
        loop_defer(wire->loop, fn, ctx);
}

static inline pid_t fake_wire_pid(const struct wire *wire)
{
    (void)wire;
    return 4242;
}

static inline void fake_wire_words(const struct wire *wire, struct buf *out)
{
    buf_add_span(out, buf_span(&fake_wire_of((struct wire *)(uintptr_t)wire)->f->words));
}

static const struct wire_ops fake_wire_ops = {
    .kind = WIRE_MEMORY,
    .send = fake_wire_send,
    .close = fake_wire_close,
    .pid = fake_wire_pid,
    .last_words = fake_wire_words,
};

static inline enum fake_connect fake_behaviour(struct fake_server *f)
{
    if (f->connect_fails) {
        f->connect_fails--;
        return FAKE_CONNECT_FAIL;
    }
    return f->custom ? f->custom(f) : f->connect;
}

static inline int fake_wire_open(struct wire **out, struct pb_loop *l,
                                 const struct pb_client_options *opts,
                                 const struct wire_events *events, void *ctx, struct pb_error *err)
{
    struct fake_server *f = opts->ctx;
    enum fake_connect how = fake_behaviour(f);
    struct fake_wire *w;

    if (how == FAKE_CONNECT_FAIL)
        return fail(err, PB_E_CLOSED, "%s",
                    f->connect_text ? f->connect_text : "connection refused");
    w = NEW(struct fake_wire);
    w->wire = (struct wire){ &fake_wire_ops, events, ctx, l, opts, true };
    w->f = f;
    w->how = how;
    timer_init(&w->timer, l, fake_wire_timer, w);
    list_append(&f->wires, &w->link);
    if (how == FAKE_CONNECT_OK)
        CHECK_INT(fake_wire_dial(w, err), 0);
    if (how == FAKE_CONNECT_HANG || how == FAKE_CONNECT_DELAY)
        w->wire.ready = false;
    if (how == FAKE_CONNECT_DELAY)
        timer_start(&w->timer, f->connect_ms);
    *out = &w->wire;
    return 0;
}

/* ---- what the server answers ---- */

static inline void fake_reply_text(struct request *r, struct span text)
{
    AUTO_BUF struct buf b = { 0 };

    buf_str(&b, "{\"content\":[{\"type\":\"text\",\"text\":");
    json_quote(&b, text);
    buf_str(&b, "}]}");
    request_reply(r, buf_span(&b));
}

static inline void fake_held_free(struct fake_held *h)
{
    struct fake_server *f = h->f;

    timer_stop(&h->timer);
    for (size_t i = 0; i < f->n_held; i++)
        if (f->held[i] == h) {
            memmove(&f->held[i], &f->held[i + 1], (f->n_held - i - 1) * sizeof f->held[0]);
            f->n_held--;
            break;
        }
    free(h);
}

static inline void fake_cancelled(struct request *r, enum cancel_reason why)
{
    struct fake_held *h = r->work;

    if (why == CANCEL_BY_CLIENT)
        h->f->cancellations++;
    r->cancel = NULL;
    fake_held_free(h);
}

static inline void fake_delay_over(void *ctx)
{
    struct fake_held *h = ctx;

    h->r->cancel = NULL;
    fake_reply_text(h->r, span_of(h->tool->text));
    fake_held_free(h);
}

static inline struct fake_held *fake_hold(struct fake_server *f, struct fake_tool *t,
                                          struct request *r)
{
    struct fake_held *h = NEW(struct fake_held);

    CHECK(f->n_held < FAKE_HELD_MAX);
    *h = (struct fake_held){ .f = f, .r = r, .tool = t };
    timer_init(&h->timer, f->fakes->loop, fake_delay_over, h);
    r->work = h;
    r->cancel = fake_cancelled;
    f->held[f->n_held++] = h;
    return h;
}

/* The i-th call that hangs, oldest first: for request_progress(), request_log(),
 * request_question(). */
static inline struct request *fake_held(struct fake_server *f, size_t i)
{
    CHECK(i < f->n_held);
    return f->held[i]->r;
}

/* Answers the i-th call that hangs. */
static inline void fake_release(struct fake_server *f, size_t i, const char *text)
{
    struct fake_held *h;

    CHECK(i < f->n_held);
    h = f->held[i];
    h->r->cancel = NULL;
    fake_reply_text(h->r, span_of(text));
    fake_held_free(h);
}

static inline void fake_told(struct request *r, void *ctx, struct span result,
                             const struct pb_error *err)
{
    struct fake_held *h = ctx;
    struct fake_server *f = h->f;

    if (err)
        snprintf(f->last_answer, sizeof f->last_answer, "refused: %d %s", err->sys, err->msg);
    else
        snprintf(f->last_answer, sizeof f->last_answer, "%.*s", SPAN_ARG(result));
    r->cancel = NULL;
    fake_held_free(h);
    fake_reply_text(r, span_of(f->last_answer));
}

static inline void fake_ask_modern(struct fake_server *f, struct fake_tool *t, struct request *r)
{
    struct json answers = json_get(r->params, "inputResponses");
    AUTO_BUF struct buf b = { 0 };

    if (json_is(answers, JSON_OBJECT)) {
        snprintf(f->last_answer, sizeof f->last_answer, "%.*s", SPAN_ARG(json_text(answers)));
        fake_reply_text(r, span_of(f->last_answer));
        return;
    }
    buf_printf(&b,
               "{\"resultType\":\"input_required\",\"inputRequests\":{\"q\":{\"method\":\"%s\","
               "\"params\":%s}},\"requestState\":\"state of %s\"}",
               t->method, t->params ? t->params : "{}", t->name);
    request_reply(r, buf_span(&b));
}

static inline void fake_ask(struct fake_server *f, struct fake_tool *t, struct request *r)
{
    struct fake_held *h;
    struct pb_error err;

    if (r->env.era == ERA_MODERN) {
        fake_ask_modern(f, t, r);
        return;
    }
    h = fake_hold(f, t, r);
    if (request_question(r, t->method, span_of(t->params ? t->params : "{}"), fake_told, h, &err) <
        0)
        fake_told(r, h, SPAN(""), &err);
}

static inline void fake_break(struct fake_server *f, const char *why);
static inline void fake_crash(void *ctx) { fake_break(ctx, "the server was killed by signal 9"); }

static inline void fake_run_tool(struct fake_server *f, struct fake_tool *t, struct request *r)
{
    struct span args = json_text(json_get(r->params, "arguments"));

    f->calls++;
    t->calls++;
    snprintf(f->last_args, sizeof f->last_args, "%.*s", SPAN_ARG(args));
    switch (t->kind) {
    case FAKE_TEXT:
        fake_reply_text(r, span_of(t->text));
        break;
    case FAKE_ECHO:
        fake_reply_text(r, args);
        break;
    case FAKE_RAW:
        request_reply(r, span_of(t->text));
        break;
    case FAKE_ERROR:
        request_fail(r, t->code, SPAN(""), "%s", t->text);
        break;
    case FAKE_HANG:
        fake_hold(f, t, r);
        break;
    case FAKE_DELAY:
        timer_start(&fake_hold(f, t, r)->timer, t->ms);
        break;
    case FAKE_ASK:
        fake_ask(f, t, r);
        break;
    case FAKE_TALK:
        request_progress(r, 1, 2, "half");
        request_log(r, PB_LOG_WARNING, "tool", SPAN("\"careful\""));
        fake_reply_text(r, span_of(t->text));
        break;
    case FAKE_CRASH:
        fake_hold(f, t, r);
        loop_defer(f->fakes->loop, fake_crash, f);
        break;
    case FAKE_RUN:
        t->run(f, t, r);
        break;
    }
}

static inline void fake_tools_call(struct fake_server *f, struct request *r)
{
    for (size_t i = 0; i < f->n_tools; i++)
        if (json_str_is(json_get(r->params, "name"), f->tools[i].name)) {
            fake_run_tool(f, &f->tools[i], r);
            return;
        }
    request_fail(r, RPC_INVALID_PARAMS, SPAN(""), "Unknown tool");
}

static inline void fake_list_tools(struct fake_server *f, struct json_out *o)
{
    for (size_t i = 0; i < f->n_tools; i++) {
        const struct fake_tool *t = &f->tools[i];

        json_begin_object(o, NULL);
        json_put_str(o, "name", t->name);
        json_put_str_opt(o, "description", t->description);
        json_put_raw(o, "inputSchema", span_of(t->schema ? t->schema : "{\"type\":\"object\"}"));
        json_end(o);
    }
}

static inline void fake_list_items(struct json_out *o, const struct fake_item *items, size_t n,
                                   const char *key)
{
    for (size_t i = 0; i < n; i++) {
        json_begin_object(o, NULL);
        if (key)
            json_put_str(o, key, items[i].name);
        json_put_str(o, "name", items[i].name);
        json_end(o);
    }
}

static inline void fake_list(struct fake_server *f, struct request *r, enum list_kind kind)
{
    static const char *const keys[] = { "tools", "resources", "resourceTemplates", "prompts" };
    AUTO_BUF struct buf b = { 0 };
    struct json_out o = json_out(&b);

    f->lists[kind]++;
    if (f->hang_list[kind]) {
        fake_hold(f, NULL, r);
        return;
    }
    if (f->fail_list[kind]) {
        request_fail(r, RPC_INTERNAL_ERROR, SPAN(""), "no list today");
        return;
    }
    json_begin_object(&o, NULL);
    json_begin_array(&o, keys[kind]);
    if (kind == LIST_TOOLS)
        fake_list_tools(f, &o);
    else if (kind == LIST_RESOURCES)
        fake_list_items(&o, f->resources, f->n_resources, "uri");
    else if (kind == LIST_TEMPLATES)
        fake_list_items(&o, f->templates, f->n_templates, "uriTemplate");
    else
        fake_list_items(&o, f->prompts, f->n_prompts, NULL);
    json_end(&o);
    json_end(&o);
    request_reply(r, buf_span(&b));
}

static inline const struct fake_item *fake_find_item(const struct fake_item *items, size_t n,
                                                     struct json name)
{
    for (size_t i = 0; i < n; i++)
        if (json_str_is(name, items[i].name))
            return &items[i];
    return NULL;
}

static inline void fake_read(struct fake_server *f, struct request *r)
{
    const struct fake_item *item =
        fake_find_item(f->resources, f->n_resources, json_get(r->params, "uri"));
    AUTO_BUF struct buf b = { 0 };
    struct json_out o = json_out(&b);

    if (!item) {
        request_fail(r, -32002, SPAN(""), "Resource not found");
        return;
    }
    json_begin_object(&o, NULL);
    json_begin_array(&o, "contents");
    json_begin_object(&o, NULL);
    json_put_str(&o, "uri", item->name);
    json_put_str(&o, "text", item->text);
    json_end(&o);
    json_end(&o);
    json_end(&o);
    request_reply(r, buf_span(&b));
}

static inline void fake_get_prompt(struct fake_server *f, struct request *r)
{
    const struct fake_item *item =
        fake_find_item(f->prompts, f->n_prompts, json_get(r->params, "name"));
    AUTO_BUF struct buf b = { 0 };

    if (!item) {
        request_fail(r, RPC_INVALID_PARAMS, SPAN(""), "Unknown prompt");
        return;
    }
    buf_str(&b, "{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":");
    json_quote(&b, span_of(item->text));
    buf_str(&b, "}}]}");
    request_reply(r, buf_span(&b));
}

static inline bool fake_handle(void *ctx, struct request *r)
{
    static const struct {
        const char *method;
        enum list_kind kind;
    } lists[] = {
        { "tools/list", LIST_TOOLS },
        { "resources/list", LIST_RESOURCES },
        { "resources/templates/list", LIST_TEMPLATES },
        { "prompts/list", LIST_PROMPTS },
    };
    struct fake_server *f = ctx;

    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        if (span_is(r->method, lists[i].method)) {
            fake_list(f, r, lists[i].kind);
            return true;
        }
    if (span_is(r->method, "tools/call"))
        fake_tools_call(f, r);
    else if (span_is(r->method, "resources/read"))
        fake_read(f, r);
    else if (span_is(r->method, "prompts/get"))
        fake_get_prompt(f, r);
    else if (span_is(r->method, "completion/complete"))
        request_reply(r, SPAN("{\"completion\":{\"values\":[\"one\",\"two\"]}}"));
    else
        return false;
    return true;
}

static inline void fake_capabilities(void *ctx, struct json_out *o, const struct envelope *env)
{
    struct fake_server *f = ctx;

    (void)env;
    json_put_raw(o, "tools", SPAN("{\"listChanged\":true}"));
    if (f->n_resources || f->n_templates)
        json_put_raw(o, "resources", SPAN("{\"listChanged\":true,\"subscribe\":true}"));
    if (f->n_prompts)
        json_put_raw(o, "prompts", SPAN("{\"listChanged\":true}"));
    if (!f->no_logging)
        json_put_raw(o, "logging", SPAN("{}"));
}

static inline bool fake_subscribable(void *ctx, struct span uri)
{
    (void)ctx, (void)uri;
    return true;
}

static inline void fake_watch(void *ctx, struct span uri, bool on)
{
    struct fake_server *f = ctx;

    (void)uri;
    if (on)
        f->watched++;
    else
        f->unwatched++;
}

static inline void fake_notified(void *ctx, struct peer *p, const struct rpc *message)
{
    struct fake_server *f = ctx;

    (void)p;
    if (span_is(message->method, "notifications/roots/list_changed"))
        f->roots_changed++;
}

static inline struct span fake_tool_schema(void *ctx, struct span tool)
{
    (void)ctx, (void)tool;
    return SPAN("");
}

static const struct provider fake_provider = {
    .capabilities = fake_capabilities,
    .handle = fake_handle,
    .tool_schema = fake_tool_schema,
    .subscribable = fake_subscribable,
    .watch = fake_watch,
    .notified = fake_notified,
};

/* ---- making and breaking ---- */

static inline void fakes_init(struct fakes *s)
{
    *s = (struct fakes){ 0 };
    manual_clock_init(&s->clock);
    s->loop = loop_new(&s->clock.clock);
    s->events = mem_zero(FAKE_EVENTS_MAX * sizeof *s->events);
}

static inline struct fake_server *fakes_add(struct fakes *s, const char *name)
{
    struct pb_server_options o = PB_SERVER_OPTIONS_INIT;
    struct fake_server *f = NEW(struct fake_server);

    CHECK(s->n < FAKE_SERVERS_MAX);
    o.loop = s->loop;
    o.name = name;
    f->fakes = s;
    f->name = name;
    list_init(&f->wires);
    f->server = pb_server_new(&o);
    server_set_provider(f->server, &fake_provider, f);
    s->servers[s->n++] = f;
    return f;
}

static inline struct fake_tool *fake_tool(struct fake_server *f, const char *name,
                                          enum fake_tool_kind kind)
{
    struct fake_tool *t = &f->tools[f->n_tools++];

    CHECK(f->n_tools <= FAKE_ITEMS_MAX);
    *t = (struct fake_tool){ .name = name, .kind = kind, .text = "mock", .code = -32000 };
    t->method = "elicitation/create";
    return t;
}

static inline void fake_resource(struct fake_server *f, const char *uri, const char *text)
{
    f->resources[f->n_resources++] = (struct fake_item){ uri, text };
}

static inline void fake_template(struct fake_server *f, const char *uri)
{
    f->templates[f->n_templates++] = (struct fake_item){ uri, "" };
}

static inline void fake_prompt(struct fake_server *f, const char *name, const char *text)
{
    f->prompts[f->n_prompts++] = (struct fake_item){ name, text };
}

static inline struct fake_server *fakes_find(struct fakes *s, const char *name)
{
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->servers[i]->name, name) == 0)
            return s->servers[i];
    TAP_FAIL("there is no fake server '%s'", name);
    return NULL;
}

/* One line on stderr of every connection. */
static inline void fake_stderr(struct fake_server *f, const char *line)
{
    struct list *pos, *safe;

    fake_keep_words(f, line);
    LIST_FOREACH(pos, safe, &f->wires)
        fake_say_on(CONTAINER_OF(pos, struct fake_wire, link), line);
}

/* The server dies: every connection breaks, calls that hang are never answered. */
static inline void fake_break(struct fake_server *f, const char *why)
{
    for (bool found = true; found;) {
        struct list *pos, *safe;

        found = false;
        LIST_FOREACH(pos, safe, &f->wires) {
            struct fake_wire *w = CONTAINER_OF(pos, struct fake_wire, link);

            if (w->over)
                continue;
            found = true;
            fake_wire_break(w, why); /* may close it, and others */
            break;
        }
    }
}

static inline void fakes_forget_events(struct fakes *s)
{
    while (s->n_events) {
        struct fake_event *e = &s->events[--s->n_events];

        free(e->server);
        free(e->text);
        free(e->json);
    }
}

static inline void fakes_done(struct fakes *s)
{
    fakes_settle(s);
    for (size_t i = 0; i < s->n; i++) {
        struct fake_server *f = s->servers[i];

        pb_server_free(f->server);
        CHECK_INT(f->n_held, 0);
        buf_done(&f->words);
        free(f);
    }
    loop_free(s->loop);
    fakes_forget_events(s);
    free(s->events);
}

/* The opener; ctx is struct fakes. */
static inline int fake_open(void *ctx, struct client **out, struct pb_loop *loop,
                            const struct spec *spec, const char *caller,
                            const struct client_events *events, void *events_ctx,
                            struct pb_error *err)
{
    struct fake_server *f = fakes_find(ctx, spec->name);
    struct pb_client_options o = PB_CLIENT_OPTIONS_INIT;

    f->connects++;
    snprintf(f->last_caller, sizeof f->last_caller, "%s", caller);
    o.server = f->server;
    o.ctx = f;
    o.era = f->era ? f->era : spec->era;
    o.connect_ms = UINT32_MAX; /* the link's limit is the one that counts */
    o.can_elicit = o.can_elicit_url = o.can_sample = o.can_list_roots = true;
    return client_open_on(out, loop, fake_wire_open, &o, events, events_ctx, err);
}

/* ---- events ---- */

static inline char *fake_event_text(const struct hub_event *e)
{
    struct buf b = { 0 };

    if (e->kind == EVENT_STATE)
        buf_printf(&b, "%s>%s", link_state_name(e->state.from.state),
                   link_state_name(e->state.to.state));
    else if (e->kind == EVENT_LOG)
        buf_str(&b, e->log->text);
    else if (e->kind >= EVENT_CALL_STARTED)
        buf_add_span(&b, e->call.tool);
    return buf_take(&b);
}

/* A hub_event_fn; ctx is struct fakes. */
static inline void fake_on_event(void *ctx, const struct hub_event *e)
{
    struct fakes *s = ctx;
    struct buf json = { 0 };

    CHECK(s->n_events < FAKE_EVENTS_MAX);
    hub_event_write(&json, e);
    s->events[s->n_events++] = (struct fake_event){
        .kind = e->kind,
        .server = mem_dup(e->server),
        .text = fake_event_text(e),
        .json = buf_take(&json),
    };
}

static inline bool fake_event_is(const struct fake_event *e, enum hub_event_kind kind,
                                 const char *server, const char *part)
{
    return e->kind == kind && (!server || strcmp(e->server, server) == 0) &&
           (!part || strstr(e->text, part) || strstr(e->json, part));
}

/* How many events of this kind; server and part (of text or JSON) may be NULL: any. */
static inline size_t fakes_count(const struct fakes *s, enum hub_event_kind kind,
                                 const char *server, const char *part)
{
    size_t n = 0;

    for (size_t i = 0; i < s->n_events; i++)
        n += fake_event_is(&s->events[i], kind, server, part);
    return n;
}

/* The newest such event, or NULL. */
static inline const struct fake_event *fakes_event(const struct fakes *s, enum hub_event_kind kind,
                                                   const char *server, const char *part)
{
    for (size_t i = s->n_events; i-- > 0;)
        if (fake_event_is(&s->events[i], kind, server, part))
            return &s->events[i];
    return NULL;
}

/* The JSON of the newest such event; "" when there is none. */
static inline const char *fakes_json(const struct fakes *s, enum hub_event_kind kind,
                                     const char *server, const char *part)
{
    const struct fake_event *e = fakes_event(s, kind, server, part);

    return e ? e->json : "";
}

/* "idle>connecting connecting>connected" of one server, all so far. Good until the next call. */
static inline const char *fakes_states(const struct fakes *s, const char *server)
{
    static char text[65536];
    size_t n = 0;

    text[0] = '\0';
    for (size_t i = 0; i < s->n_events && n < sizeof text; i++)
        if (fake_event_is(&s->events[i], EVENT_STATE, server, NULL))
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", n ? " " : "",
                                  s->events[i].text);
    return text;
}

/* ---- answers ---- */

struct fake_reply {
    int count;
    char *result, *error; /* NULL when there is none */
    struct pb_error err;
    int progressed, logged;
    char progress[512], log[512];
};

/* A client_reply_fn; ctx is struct fake_reply. */
static inline void fake_on_reply(void *ctx, const struct client_reply *reply)
{
    struct fake_reply *a = ctx;

    a->count++;
    free(a->result);
    free(a->error);
    a->result = a->error = NULL;
    if (reply->err)
        a->err = *reply->err;
    else
        a->result = mem_dupn(reply->result.p, reply->result.n);
    if (reply->error.n)
        a->error = mem_dupn(reply->error.p, reply->error.n);
}

static inline void fake_on_progress(void *ctx, struct span params)
{
    struct fake_reply *a = ctx;

    a->progressed++;
    snprintf(a->progress, sizeof a->progress, "%.*s", SPAN_ARG(params));
}

static inline void fake_on_log(void *ctx, struct span params)
{
    struct fake_reply *a = ctx;

    a->logged++;
    snprintf(a->log, sizeof a->log, "%.*s", SPAN_ARG(params));
}

static inline void fake_reply_done(struct fake_reply *a)
{
    free(a->result);
    free(a->error);
    *a = (struct fake_reply){ 0 };
}
