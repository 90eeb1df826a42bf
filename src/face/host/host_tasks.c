/* host_tasks.c - what clients ask about tasks, looked up and relayed to the server that has it; and
 * what servers tell of tasks by themselves, for those who listen. */
#include "face/caller/caller.h"
#include "face/relay/relay.h"
#include "host_impl.h"
#include "hub/catalog/catalog.h"
#include "hub/hub/hub.h"
#include "hub/link/link.h"
#include "mcp/rpc/rpc.h"
#include "mcp/serve/serve.h"

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
    relay_params(&params, r->params, (struct own_param[]){ { "taskId", task.own, true }, { 0 } });
    relay_start(h->set->relays, r,
                &(struct relay_order){ .scope = scope,
                                       .mode = h->mode,
                                       .face = host_face(h),
                                       .directory = h->directory,
                                       .server = arena_dup(arena, task.server),
                                       .method = arena_dup(arena, r->method),
                                       .params = buf_span(&params),
                                       .subject = task.own });
}

/* ---- whether there are any ---------------------------------------------------------------- */

struct task_search {
    struct host *h;
    const struct scope *scope;
    bool found;
};

static void look_at(void *ctx, struct link *l)
{
    struct task_search *s = ctx;

    s->found |= link_has_tasks(l) && scope_shows_server(s->h->set->catalog, s->scope, link_name(l));
}

bool host_has_tasks(struct host *h)
{
    struct task_search s = { .h = h, .scope = host_view(h, NULL) };

    if (s.scope && h->set->hub)
        hub_each(h->set->hub, look_at, &s);
    return s.found;
}

/* ---- being told of them ------------------------------------------------------------------- */

/* A task that a client of this host listens for. */
struct task_watch {
    struct task_watch *next; /* of the same task of the same server */
    struct host *h;
    char *id, *caller; /* id: what the client calls it */
    unsigned asks;     /* what it can be asked, on all its streams */
    size_t streams;
};

bool host_has_task(void *ctx, const struct request *r, struct span id)
{
    AUTO_ARENA struct arena arena = { 0 };
    struct host *h = ctx;
    const struct scope *scope = host_view(h, NULL);
    struct task_name name;

    return scope && h->set->hub && relay_find_task(h->set->relays, r, scope, id, &name, &arena);
}

static void origin_key(struct buf *out, const char *server, struct span own)
{
    buf_printf(out, "%s\n", server); /* no server's name has a line end */
    buf_add_span(out, own);
}

/* Where the pointer to it is, or would be: at the end of the chain. */
static struct task_watch **place_of(struct task_watch **first, const struct host *h, struct span id)
{
    while (*first && ((*first)->h != h || !span_is(id, (*first)->id)))
        first = &(*first)->next;
    return first;
}

static void watch_begin(struct host *h, const struct request *r, const struct task_name *name,
                        const char *server, struct span id)
{
    AUTO_BUF struct buf key = { 0 }, caller = { 0 };
    struct task_watch *first, *w;

    origin_key(&key, server, name->own);
    first = map_get(&h->set->tasks, buf_span(&key));
    w = *place_of(&first, h, id);
    if (w) {
        w->asks &= relay_asks(r);
        w->streams++;
        return;
    }
    caller_key(r, &caller);
    w = NEW(struct task_watch);
    *w = (struct task_watch){ .h = h, .asks = relay_asks(r), .streams = 1 };
    w->id = mem_dupn(id.p, id.n);
    w->caller = mem_dup(buf_cstr(&caller));
    w->next = map_put(&h->set->tasks, buf_span(&key), w);
    hub_watch_task(h->set->hub, server, w->caller, name->own, true);
}

/* The client may have listened at another host, too. */
static bool still_watched(const struct task_watch *first, const char *caller)
{
    while (first && strcmp(first->caller, caller) != 0)
        first = first->next;
    return first != NULL;
}

static void watch_end(struct host *h, const struct task_name *name, const char *server,
                      struct span id)
{
    AUTO_BUF struct buf key = { 0 };
    struct task_watch *first, *w, **at;

    origin_key(&key, server, name->own);
    first = map_get(&h->set->tasks, buf_span(&key));
    at = place_of(&first, h, id);
    w = *at;
    if (!w || --w->streams)
        return;
    *at = w->next;
    if (first)
        map_put(&h->set->tasks, buf_span(&key), first);
    else
        map_del(&h->set->tasks, buf_span(&key));
    if (!still_watched(first, w->caller))
        hub_watch_task(h->set->hub, server, w->caller, name->own, false);
    free(w->id);
    free(w->caller);
    free(w);
}

void host_watch_task(void *ctx, const struct request *r, struct span id, bool on)
{
    AUTO_ARENA struct arena arena = { 0 };
    struct host *h = ctx;
    struct task_name name;
    const char *server;

    if (!relay_read_task(h->set->relays, r, id, &name, &arena))
        return;
    server = arena_dup(&arena, name.server);
    if (on)
        watch_begin(h, r, &name, server, id);
    else
        watch_end(h, &name, server, id);
}

static void tell(const struct task_watch *w, const char *server, struct span params)
{
    const struct scope *scope = host_hears(w->h, server) ? host_view(w->h, NULL) : NULL;
    struct task_view view = { scope, server, span_of(w->id), w->asks };
    AUTO_BUF struct buf out = { 0 };

    if (scope && relay_tell_task(w->h->set->relays, &view, params, &out))
        listen_task_changed(w->h->server, view.id, buf_span(&out));
}

/* Of an instance of its own only its caller is told: others may count their tasks alike. */
void hosts_task_changed(void *ctx, const char *server, const char *caller, struct span params)
{
    static const struct json_opts shallow = { .keep_depth = 1, .unique_depth = 1 };
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena arena = { 0 };
    AUTO_BUF struct buf key = { 0 };
    struct hosts *s = ctx;
    struct task_watch *next;

    if (json_parse(&doc, params, &shallow, NULL) < 0 || !json_is(json_root(&doc), JSON_OBJECT))
        return;
    origin_key(&key, server, json_str(json_get(json_root(&doc), "taskId"), &arena));
    for (struct task_watch *w = map_get(&s->tasks, buf_span(&key)); w; w = next) {
        next = w->next;
        if (!*caller || strcmp(w->caller, caller) == 0)
            tell(w, server, params);
    }
}
