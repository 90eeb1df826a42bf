/* host_tasks.c - what clients ask about tasks: looked up, and relayed to the server that has it. */
#include "host_impl.h"
#include "task_id.h"

static void missing_capability(struct request *r)
{
    request_fail(r, RPC_MISSING_CAPABILITY,
                 SPAN("{\"requiredCapabilities\":{\"extensions\":{\"" EXT_TASKS "\":{}}}}"),
                 "Missing required client capability");
}

void host_task(struct host *h, struct request *r, const struct scope *scope)
{
    struct arena *arena = &r->message->arena;
    struct json id = json_get(r->params, "taskId");
    AUTO_BUF struct buf params = { 0 };
    struct task_name task;

    if (!r->env.has_tasks) {
        missing_capability(r);
        return;
    }
    if (!json_is(id, JSON_STRING)) {
        request_fail(r, RPC_INVALID_PARAMS, SPAN(""), "taskId: expected a string, got %s",
                     json_type_name(id));
        return;
    }
    if (!h->set->hub ||
        !relay_find_task(h->set->relays, r, scope, json_str(id, arena), &task, arena)) {
        request_fail(r, RPC_INVALID_PARAMS, SPAN(""), "Task not found");
        return;
    }
    host_params(&params, r->params, (struct own_param[]){ { "taskId", task.own, true }, { 0 } });
    relay_start(h->set->relays, r,
                &(struct relay_order){ .scope = scope,
                                       .server = arena_dup(arena, task.server),
                                       .method = arena_dup(arena, r->method),
                                       .params = buf_span(&params),
                                       .subject = task.own });
}

/* ---- whether there are any ---------------------------------------------------------------- */

struct search {
    struct host *h;
    const struct scope *scope;
    bool found;
};

static void look_at(void *ctx, struct link *l)
{
    struct search *s = ctx;

    s->found |= link_has_tasks(l) && scope_shows_server(s->h->set->catalog, s->scope, link_name(l));
}

bool host_has_tasks(struct host *h)
{
    struct search s = { .h = h, .scope = host_view(h, NULL) };

    if (s.scope && h->set->hub)
        hub_each(h->set->hub, look_at, &s);
    return s.found;
}
