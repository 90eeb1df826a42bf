#include "call.h"
#include "mcp/rpc/rpc.h"
#include "mcp/serve/serve.h"
#include "tasks.h"
#include <time.h>

enum event_kind { EVENT_PROGRESS, EVENT_LOG, EVENT_TASK, EVENT_CLOSE };

struct call_event {
    struct list link;
    enum event_kind kind;
    double progress, total;
    enum pb_log_level level;
    uint32_t retry_ms;
    char *text; /* a progress message, a logger's name, or NULL */
    char *data; /* JSON, one line */
};

static void event_free(struct call_event *e)
{
    free(e->text);
    free(e->data);
    free(e);
}

static void happen(struct pb_call *c, const struct call_event *e)
{
    switch (e->kind) {
    case EVENT_PROGRESS:
        if (c->request)
            request_progress(c->request, e->progress, e->total, e->text);
        else if (c->task && e->text)
            task_said(c, e->text);
        break;
    case EVENT_LOG:
        if (c->request)
            request_log(c->request, e->level, e->text, span_of(e->data));
        break;
    case EVENT_TASK:
        if (c->request)
            task_begin(c);
        break;
    case EVENT_CLOSE:
        if (c->request)
            request_close_stream(c->request, e->retry_ms);
        break;
    }
}

void call_events_drain(struct pb_call *c)
{
    for (;;) {
        struct call_event *e = NULL;

        pthread_mutex_lock(&c->lock);
        if (!list_empty(&c->events)) {
            e = CONTAINER_OF(c->events.next, struct call_event, link);
            list_remove(&e->link);
            c->n_events--;
        }
        pthread_mutex_unlock(&c->lock);
        if (!e)
            return;
        happen(c, e);
        event_free(e);
    }
}

void call_events_drop(struct pb_call *c)
{
    struct list *pos, *safe;

    LIST_FOREACH(pos, safe, &c->events)
        event_free(CONTAINER_OF(pos, struct call_event, link));
    list_init(&c->events);
}

static void on_poke(void *ctx)
{
    struct pb_call *c = ctx;

    pthread_mutex_lock(&c->lock);
    c->posted = false;
    pthread_mutex_unlock(&c->lock);
    call_look(c);
    call_unref(c);
}

/* The loop is flooded. This thread is not the loop's, so it may wait a little: an answer must not
 * get lost. */
static void pause_briefly(void)
{
    struct timespec ms = { .tv_nsec = 1000000 };

    nanosleep(&ms, NULL);
}

/* With the lock held, so that the loop cannot be freed meanwhile. */
static int post(struct pb_call *c)
{
    int rc;

    if (c->posted)
        return 0;
    atomic_fetch_add(&c->refs, 1);
    rc = loop_post(c->reg->loop, on_poke, c, NULL);
    c->posted = rc == 0;
    if (rc < 0)
        atomic_fetch_sub(&c->refs, 1);
    return rc;
}

bool call_poke(struct pb_call *c)
{
    bool here = false;
    int rc;

    do {
        pthread_mutex_lock(&c->lock);
        rc = c->orphan ? -PB_E_CLOSED : 0;
        if (rc == 0) {
            here = loop_on_thread(c->reg->loop);
            rc = here ? 0 : post(c);
        }
        pthread_mutex_unlock(&c->lock);
        if (rc == -PB_E_BUSY)
            pause_briefly();
    } while (rc == -PB_E_BUSY);
    if (here)
        call_look(c);
    return rc == 0;
}

static void event_push(struct pb_call *c, struct call_event *e)
{
    bool full;

    pthread_mutex_lock(&c->lock);
    full = c->orphan || (c->n_events >= MCP_CALL_EVENTS_MAX && e->kind != EVENT_TASK);
    if (!full) {
        list_append(&c->events, &e->link);
        c->n_events++;
    }
    pthread_mutex_unlock(&c->lock);
    if (full) {
        log_debug("progress or log of a call was dropped: %d wait already", MCP_CALL_EVENTS_MAX);
        event_free(e);
        return;
    }
    call_poke(c);
}

void pb_call_progress(struct pb_call *call, double progress, double total, const char *message)
{
    struct call_event *e;

    if (!call->env.progress_token.n && !atomic_load(&call->as_task))
        return;
    e = NEW(struct call_event);
    *e = (struct call_event){
        .kind = EVENT_PROGRESS, .progress = progress, .total = total, .text = mem_dup_opt(message)
    };
    list_init(&e->link);
    event_push(call, e);
}

void pb_call_log(struct pb_call *call, enum pb_log_level level, const char *logger,
                 const char *data)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_BUF struct buf line = { 0 };
    struct call_event *e;

    if (call->rev->era == ERA_MODERN && (!call->env.wants_log || level < call->env.log_level))
        return;
    if (json_parse(&doc, span_of(data ? data : "null"), NULL, NULL) == 0)
        put_json_line(&line, json_text(json_root(&doc)));
    else
        json_quote(&line, span_of(data)); /* words, then, are better than nothing */
    e = NEW(struct call_event);
    *e = (struct call_event){
        .kind = EVENT_LOG, .level = level, .text = mem_dup_opt(logger), .data = buf_take(&line)
    };
    list_init(&e->link);
    event_push(call, e);
}

void pb_call_task(struct pb_call *call)
{
    struct call_event *e;

    if (call->kind != CALL_TOOL || !(call->item->flags & (PB_TASK_ALLOWED | PB_TASK_REQUIRED)) ||
        call->rev->era != ERA_MODERN || !call->env.has_tasks ||
        atomic_exchange(&call->as_task, true))
        return;
    e = NEW(struct call_event);
    e->kind = EVENT_TASK;
    list_init(&e->link);
    event_push(call, e);
}

void pb_call_close_stream(struct pb_call *call, uint32_t retry_ms)
{
    struct call_event *e = NEW(struct call_event);

    e->kind = EVENT_CLOSE;
    e->retry_ms = retry_ms;
    list_init(&e->link);
    event_push(call, e);
}
