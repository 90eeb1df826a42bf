#include "tasks.h"
#include "mcp/rpc/rpc.h"
#include "mcp/serve/serve.h"

/*    working <--> input_required
 *       |              |
 *       +--> completed, failed, cancelled <--+            */
enum status { TASK_WORKING, TASK_INPUT, TASK_COMPLETED, TASK_FAILED, TASK_CANCELLED, TASK_COUNT };

#define TO(s) SM_BIT(TASK_##s)
#define ENDS  (TO(COMPLETED) | TO(FAILED) | TO(CANCELLED))
/* clang-format off */
static const struct sm_state statuses[] = {
    [TASK_WORKING]   = { "working",        TO(INPUT) | ENDS,   NULL },
    [TASK_INPUT]     = { "input_required", TO(WORKING) | ENDS, NULL },
    [TASK_COMPLETED] = { "completed",      0,                  NULL },
    [TASK_FAILED]    = { "failed",         0,                  NULL },
    [TASK_CANCELLED] = { "cancelled",      0,                  NULL },
};
/* clang-format on */
_Static_assert(ARRAY_LEN(statuses) == TASK_COUNT, "every status has a row");

struct task {
    struct list link;
    struct tasks *tasks;
    char id[UUID_CHARS + 1];
    char *principal;
    struct sm status;
    int64_t created_ms, updated_ms; /* wall clock */
    uint64_t ttl_ms;
    struct timer expiry;
    struct pb_call *call; /* NULL once it ended */
    char *message;
    struct buf outcome; /* the result, or the error object */
};

struct tasks {
    struct registry *reg;
    struct map by_id;
    struct list order; /* oldest first */
    size_t n, bytes;
};

struct tasks *tasks_new(struct registry *reg)
{
    struct tasks *t = NEW(struct tasks);

    t->reg = reg;
    list_init(&t->order);
    return t;
}

static bool is_over(const struct task *t) { return statuses[t->status.now].to == 0; }

static void task_free(struct task *t)
{
    timer_stop(&t->expiry);
    if (t->call)
        t->call->task = NULL;
    map_del(&t->tasks->by_id, span_of(t->id));
    list_remove(&t->link);
    t->tasks->n--;
    t->tasks->bytes -= t->outcome.n;
    buf_done(&t->outcome);
    free(t->principal);
    free(t->message);
    free(t);
}

void tasks_free(struct tasks *t)
{
    struct list *pos, *safe;

    if (!t)
        return;
    LIST_FOREACH(pos, safe, &t->order)
        task_free(CONTAINER_OF(pos, struct task, link));
    map_done(&t->by_id);
    free(t);
}

/* Drops ended tasks, the oldest first, until there is room for `more` and for all their results. */
static void make_room(struct tasks *all, size_t more, const struct task *but)
{
    struct list *pos, *safe;

    LIST_FOREACH(pos, safe, &all->order) {
        struct task *t = CONTAINER_OF(pos, struct task, link);

        if (all->n + more <= MCP_TASKS_MAX && all->bytes <= MCP_TASKS_BYTES_MAX)
            return;
        if (t != but && is_over(t))
            task_free(t);
    }
}

static void write_task(const struct task *t, struct json_out *o)
{
    char iso[CLOCK_ISO_CHARS + 1];

    json_put_str(o, "taskId", t->id);
    json_put_str(o, "status", sm_name(&t->status));
    json_put_str_opt(o, "statusMessage", t->message);
    clock_iso(t->created_ms, iso);
    json_put_str(o, "createdAt", iso);
    clock_iso(t->updated_ms, iso);
    json_put_str(o, "lastUpdatedAt", iso);
    json_put_uint(o, "ttlMs", t->ttl_ms);
    json_put_int(o, "pollIntervalMs", MCP_TASK_POLL_MS);
}

/* What tasks/get and notifications/tasks say. */
static void write_detail(const struct task *t, struct buf *out)
{
    struct json_out o = json_out(out);

    json_begin_object(&o, NULL);
    write_task(t, &o);
    if (t->status.now == TASK_INPUT && t->call)
        ask_write(t->call, &o, "inputRequests");
    if (t->status.now == TASK_COMPLETED)
        json_put_raw(&o, "result", buf_span(&t->outcome));
    if (t->status.now == TASK_FAILED)
        json_put_raw(&o, "error", buf_span(&t->outcome));
    json_end(&o);
}

static void changed(struct task *t)
{
    AUTO_BUF struct buf params = { 0 };
    struct registry *reg = t->tasks->reg;

    t->updated_ms = loop_wall(reg->loop);
    if (!reg->server)
        return;
    write_detail(t, &params);
    listen_task_changed(reg->server, span_of(t->id), buf_span(&params));
}

static void let_go(struct task *t)
{
    struct pb_call *c = t->call;

    t->call = NULL;
    c->task = NULL;
    timer_stop(&c->deadline);
}

static void task_end(struct task *t, enum status status)
{
    struct tasks *all = t->tasks;
    int64_t age = loop_wall(all->reg->loop) - t->created_ms;

    sm_move(&t->status, t, status);
    t->ttl_ms = (uint64_t)(age > 0 ? age : 0) + MCP_TASK_KEEP_MS;
    timer_start_weak(&t->expiry, MCP_TASK_KEEP_MS);
    all->bytes += t->outcome.n;
    changed(t);
    make_room(all, 0, t);
}

static void on_expiry(void *ctx)
{
    struct task *t = ctx;
    struct pb_call *c = t->call;

    task_free(t);
    if (c)
        call_cancel(c);
}

static struct task *task_new(struct tasks *all, struct pb_call *c)
{
    struct task *t = NEW(struct task);
    uint32_t limit = c->item->timeout_ms == UINT32_MAX ? 0 : c->item->timeout_ms;

    t->tasks = all;
    id_uuid(t->id);
    t->principal = mem_dup(peer_principal(c->request->peer));
    t->status.table = statuses;
    t->created_ms = t->updated_ms = loop_wall(all->reg->loop);
    t->ttl_ms = (uint64_t)limit + MCP_TASK_KEEP_MS;
    timer_init(&t->expiry, all->reg->loop, on_expiry, t);
    timer_start_weak(&t->expiry, t->ttl_ms);
    t->call = c;
    c->task = t;
    if (limit)
        timer_start(&c->deadline, limit);
    map_put(&all->by_id, span_of(t->id), t);
    list_append(&all->order, &t->link);
    all->n++;
    return t;
}

bool task_begin(struct pb_call *c)
{
    struct tasks *all = c->reg->tasks;
    AUTO_BUF struct buf result = { 0 };
    struct json_out o = json_out(&result);

    make_room(all, 1, NULL);
    if (all->n >= MCP_TASKS_MAX) {
        request_fail(c->request, RPC_INTERNAL_ERROR, SPAN(""), "Too many tasks are running");
        call_detach(c);
        call_cancel(c);
        return false;
    }
    atomic_store(&c->as_task, true);
    json_begin_object(&o, NULL);
    json_put_str(&o, "resultType", "task");
    write_task(task_new(all, c), &o);
    json_end(&o);
    request_reply(c->request, buf_span(&result));
    call_detach(c);
    return true;
}

static void write_error(struct buf *out, int code, struct span text, struct span data)
{
    struct json_out o = json_out(out);

    json_begin_object(&o, NULL);
    json_put_int(&o, "code", code);
    json_put_span(&o, "message", text);
    json_put_raw(&o, "data", data);
    json_end(&o);
}

void task_concluded(struct pb_call *c)
{
    struct task *t = c->task;
    bool failed = c->outcome == OUTCOME_ERROR;

    let_go(t);
    if (failed) {
        write_error(&t->outcome, c->code, buf_span(&c->text), buf_span(&c->data));
    } else {
        buf_byte(&t->outcome, '{');
        buf_add_span(&t->outcome, span_from(buf_span(&c->out), 1));
    }
    task_end(t, failed ? TASK_FAILED : TASK_COMPLETED);
    call_over(c);
}

void task_expired(struct pb_call *c, struct span text)
{
    struct task *t = c->task;
    bool as_rpc = c->errors_as_rpc;

    if (!t)
        return;
    let_go(t);
    if (as_rpc) {
        write_error(&t->outcome, RPC_INTERNAL_ERROR, text, SPAN(""));
    } else {
        buf_str(&t->outcome, "{\"content\":[{\"type\":\"text\",\"text\":");
        json_quote(&t->outcome, text);
        buf_str(&t->outcome, "}],\"isError\":true}");
    }
    task_end(t, as_rpc ? TASK_FAILED : TASK_COMPLETED);
    call_cancel(c);
}

void task_asks(struct pb_call *c)
{
    sm_move(&c->task->status, c->task, TASK_INPUT);
    timer_stop(&c->deadline);
    changed(c->task);
}

void task_said(struct pb_call *c, const char *message)
{
    free(c->task->message);
    c->task->message = mem_dup(message);
    changed(c->task);
}

static struct task *own_task(const struct registry *reg, const struct peer *p, struct span id)
{
    struct task *t = map_get(&reg->tasks->by_id, id);

    return t && strcmp(t->principal, peer_principal(p)) == 0 ? t : NULL;
}

bool tasks_has(const struct registry *reg, const struct peer *p, struct span id)
{
    return own_task(reg, p, id) != NULL;
}

/* The task that a request names, if it is the client's own. Otherwise the request is answered. */
static struct task *task_of(struct registry *reg, struct request *r)
{
    AUTO_ARENA struct arena a = { 0 };
    struct json id = json_get(r->params, "taskId");
    struct task *t;

    if (!r->env.has_tasks) {
        request_fail(r, RPC_MISSING_CAPABILITY,
                     SPAN("{\"requiredCapabilities\":{\"extensions\":{\"" EXT_TASKS "\":{}}}}"),
                     "Missing required client capability");
        return NULL;
    }
    if (!json_is(id, JSON_STRING)) {
        request_fail(r, RPC_INVALID_PARAMS, SPAN(""), "taskId: expected a string, got %s",
                     json_type_name(id));
        return NULL;
    }
    t = own_task(reg, r->peer, json_str(id, &a));
    if (t)
        return t;
    request_fail(r, RPC_INVALID_PARAMS, SPAN(""), "Task not found");
    return NULL;
}

void tasks_get(struct registry *reg, struct request *r)
{
    struct task *t = task_of(reg, r);
    AUTO_BUF struct buf result = { 0 };

    if (!t)
        return;
    write_detail(t, &result);
    request_reply(r, buf_span(&result));
}

/* The first malformed answer ends it with an error; what was good before it stays. */
static int take_answers(struct pb_call *c, struct json answers, struct pb_error *err)
{
    for (struct ask *a = c->asked; a; a = a->next) {
        struct json answer = json_get(answers, a->key);

        if (a->answered || json_is(answer, JSON_NONE))
            continue;
        if (ask_accept(c, a, answer, err) == ANSWER_MALFORMED)
            return -(int)err->code;
    }
    return 0;
}

static bool all_answered(const struct pb_call *c)
{
    for (const struct ask *a = c->asked; a; a = a->next)
        if (!a->answered)
            return false;
    return true;
}

void tasks_update(struct registry *reg, struct request *r)
{
    struct json answers = json_get(r->params, "inputResponses");
    struct task *t = task_of(reg, r);
    struct pb_call *c;
    struct pb_error err;

    if (!t)
        return;
    if (!json_is(answers, JSON_OBJECT)) {
        request_fail(r, RPC_INVALID_PARAMS, SPAN(""), "inputResponses: expected an object, got %s",
                     json_type_name(answers));
        return;
    }
    c = t->call;
    if (t->status.now != TASK_INPUT) {
        request_reply(r, SPAN("{}")); /* late or early answers are nobody's */
        return;
    }
    if (take_answers(c, answers, &err) < 0) {
        request_fail(r, RPC_INVALID_PARAMS, SPAN(""), "%s", err.msg);
        return;
    }
    request_reply(r, SPAN("{}"));
    if (!all_answered(c)) {
        changed(t);
        return;
    }
    sm_move(&t->status, t, TASK_WORKING);
    changed(t);
    if (c->item->timeout_ms && c->item->timeout_ms != UINT32_MAX)
        timer_start(&c->deadline, c->item->timeout_ms);
    call_start(c);
}

static void task_cancel(struct task *t)
{
    struct pb_call *c = t->call;

    let_go(t);
    task_end(t, TASK_CANCELLED);
    call_cancel(c);
}

void tasks_cancel(struct registry *reg, struct request *r)
{
    struct task *t = task_of(reg, r);

    if (!t)
        return;
    request_reply(r, SPAN("{}"));
    if (!is_over(t))
        task_cancel(t);
}

void tasks_stop(struct registry *reg)
{
    struct list *pos, *safe;

    LIST_FOREACH(pos, safe, &reg->calls) {
        struct pb_call *c = CONTAINER_OF(pos, struct pb_call, in_registry);

        if (c->task)
            task_cancel(c->task);
    }
}
