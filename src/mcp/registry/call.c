#include "call.h"
#include "mcp/rpc/rpc.h"
#include "mcp/serve/serve.h"
#include "tasks.h"
#include <stdarg.h>
#include <stdio.h>

static void call_free(struct pb_call *c)
{
    call_events_drop(c);
    ask_forget(c);
    json_doc_done(&c->own_args);
    buf_done(&c->args_text);
    buf_done(&c->out);
    buf_done(&c->structured);
    buf_done(&c->text);
    buf_done(&c->data);
    buf_done(&c->missing);
    message_free(c->message);
    item_unref(c->item);
    registry_unref(c->reg);
    pthread_cond_destroy(&c->wake);
    pthread_mutex_destroy(&c->lock);
    arena_done(&c->arena);
    free(c);
}

void call_unref(struct pb_call *c)
{
    if (atomic_fetch_sub(&c->refs, 1) == 1)
        call_free(c);
}

static void init_wake(struct pb_call *c)
{
    pthread_condattr_t attr;

    pthread_mutex_init(&c->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC); /* pb_call_wait() measures a duration */
    pthread_cond_init(&c->wake, &attr);
    pthread_condattr_destroy(&attr);
}

uint64_t call_time_limit(const struct pb_call *c)
{
    uint32_t ms = c->item->timeout_ms;

    if (ms == UINT32_MAX)
        return 0;
    if (ms)
        return ms;
    ms = c->reg->server ? server_options(c->reg->server)->tool_timeout_ms : 0;
    return ms ? ms : MCP_TOOL_MS;
}

void call_over(struct pb_call *c)
{
    if (c->where == CALL_OVER)
        return;
    c->where = CALL_OVER;
    c->request = NULL;
    timer_stop(&c->deadline);
    list_remove(&c->in_registry);
    call_unref(c);
}

void call_cancel(struct pb_call *c)
{
    pthread_mutex_lock(&c->lock);
    atomic_store(&c->cancelled, true);
    pthread_cond_broadcast(&c->wake);
    pthread_mutex_unlock(&c->lock);
    if (c->where == CALL_PARKED)
        call_over(c);
}

/* The request ended and is freed with the turn; the arguments lie in its message. */
static void take_message(struct pb_call *c)
{
    struct request *r = c->request;

    r->work = NULL;
    r->cancel = NULL;
    r->expire = NULL;
    c->message = TAKE(r->message);
    c->request = NULL;
}

void call_detach(struct pb_call *c) { take_message(c); }

void call_orphan(struct pb_call *c)
{
    bool nobody;

    if (c->request)
        call_detach(c);
    pthread_mutex_lock(&c->lock);
    c->orphan = true;
    /* between the handler's return and pb_call_finish() nothing but that will come back */
    nobody = c->deferred && c->returned && !c->finished;
    pthread_mutex_unlock(&c->lock);
    if (nobody) {
        timer_stop(&c->deadline);
        list_remove(&c->in_registry);
    }
    call_cancel(c);
}

static void on_cancel(struct request *r, enum cancel_reason why)
{
    struct pb_call *c = r->work;

    (void)why;
    if (!c)
        return;
    take_message(c);
    call_cancel(c);
}

static void timeout_text(const struct pb_call *c, struct buf *out)
{
    static const char *const what[] = {
        [CALL_TOOL] = "Tool",
        [CALL_RESOURCE] = "Resource",
        [CALL_PROMPT] = "Prompt",
        [CALL_COMPLETE] = "Completion of",
    };

    buf_printf(out, "%s '%s' timed out after %g s", what[c->kind], c->item->name,
               (double)call_time_limit(c) / 1000);
}

/* In the words of the error style; the handler still runs, so nothing of its own is touched. */
static void on_expire(struct request *r)
{
    struct pb_call *c = r->work;
    AUTO_BUF struct buf text = { 0 }, result = { 0 };
    struct span parts[2];

    if (!c)
        return;
    timeout_text(c, &text);
    if (c->kind != CALL_TOOL || c->errors_as_rpc) {
        request_fail(r, RPC_INTERNAL_ERROR, SPAN(""), "%s", buf_cstr(&text));
        return;
    }
    buf_str(&result, ",\"content\":[{\"type\":\"text\",\"text\":");
    json_quote(&result, buf_span(&text));
    buf_str(&result, "}],\"isError\":true}");
    parts[0] = request_result_begin(r);
    parts[1] = span_from(buf_span(&result), parts[0].n == 1);
    request_reply_parts(r, parts, ARRAY_LEN(parts));
}

static void on_task_deadline(void *ctx)
{
    struct pb_call *c = ctx;
    AUTO_BUF struct buf text = { 0 };

    timeout_text(c, &text);
    task_expired(c, buf_span(&text));
}

struct pb_call *call_new(struct registry *reg, struct request *r, struct item *take_item,
                         enum call_kind kind)
{
    const struct pb_server_options *opts = server_options(reg->server);
    struct pb_call *c = NEW(struct pb_call);

    atomic_store(&c->refs, 1);
    c->reg = registry_ref(reg);
    c->item = take_item;
    c->kind = kind;
    c->request = r;
    c->rev = r->env.revision;
    c->env = r->env;
    c->meta = json_text(json_get(r->params, "_meta"));
    c->errors_as_rpc = opts->error_style == PB_ERRORS_AS_RPC;
    c->cache_ttl_ms = opts->cache_ttl_ms;
    c->cache_scope = request_cache_scope(r);
    list_init(&c->events);
    list_append(&reg->calls, &c->in_registry);
    timer_init(&c->deadline, reg->loop, on_task_deadline, c);
    init_wake(c);
    r->work = c;
    r->cancel = on_cancel;
    r->expire = on_expire;
    return c;
}

void call_keep_facts(struct pb_call *c)
{
    if (c->detached)
        return;
    c->env.client_info.p = arena_dup(&c->arena, c->env.client_info);
    c->env.client_caps.p = arena_dup(&c->arena, c->env.client_caps);
    c->detached = true;
}

void call_refuse(struct pb_call *c, int code, struct span data, const char *fmt, ...)
{
    char text[MCP_ERROR_TEXT_MAX];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    call_fail_rpc(c, code, span_of(text), data);
    call_answer(c);
    call_over(c);
}
