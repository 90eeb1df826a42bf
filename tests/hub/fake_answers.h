/* fake_answers.h - what a fake server answers. */
#pragma once
#include "fake_types.h"
#include "hub/link/link.h"
#include "mcp/rpc/rpc.h"
#include "mcp/serve/serve.h"

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
    buf_printf(&f->history, "%s %.*s\n", t->name, SPAN_ARG(args));
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
        return f->other && f->other(f, r);
    return true;
}

static inline void fake_capabilities(void *ctx, struct json_out *o, const struct envelope *env)
{
    struct fake_server *f = ctx;

    json_put_raw(o, "tools", SPAN("{\"listChanged\":true}"));
    if (f->n_resources || f->n_templates)
        json_put_raw(o, "resources", SPAN("{\"listChanged\":true,\"subscribe\":true}"));
    if (f->n_prompts)
        json_put_raw(o, "prompts", SPAN("{\"listChanged\":true}"));
    if (!f->no_logging)
        json_put_raw(o, "logging", SPAN("{}"));
    if (f->has_tasks && env->era == ERA_MODERN)
        json_put_raw(o, "extensions", SPAN("{\"" EXT_TASKS "\":{}}"));
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

static inline bool fake_has_task(void *ctx, const struct request *r, struct span id)
{
    (void)r, (void)id;
    return ((struct fake_server *)ctx)->has_tasks;
}

static inline void fake_watch_task(void *ctx, const struct request *r, struct span id, bool on)
{
    struct fake_server *f = ctx;

    (void)r, (void)id;
    if (on)
        f->tasks_watched++;
    else
        f->tasks_unwatched++;
}

static inline void fake_heard_roots(struct peer *p, void *ctx, struct span result,
                                    const struct pb_error *err)
{
    struct fake_server *f = ctx;

    (void)p;
    f->n_roots++;
    if (err)
        snprintf(f->roots, sizeof f->roots, "%d %s", err->sys, err->msg);
    else
        snprintf(f->roots, sizeof f->roots, "%.*s", SPAN_ARG(result));
}

static inline void fake_notified(void *ctx, struct peer *p, const struct rpc *message)
{
    struct fake_server *f = ctx;
    bool changed = span_is(message->method, "notifications/roots/list_changed");

    f->roots_changed += changed;
    if (f->asks_roots && (changed || span_is(message->method, "notifications/initialized")))
        CHECK_INT(peer_question(p, "roots/list", SPAN(""), f->roots_ms ? f->roots_ms : MCP_ASK_MS,
                                fake_heard_roots, f, NULL),
                  0);
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
    .has_task = fake_has_task,
    .watch_task = fake_watch_task,
    .notified = fake_notified,
};
