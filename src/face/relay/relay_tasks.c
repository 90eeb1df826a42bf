/* relay_tasks.c - tasks of modern servers for modern clients: a call that was answered with the id
 * of one, and what is said about it later. The id that a client gets is ours (task_id.h), and what
 * it asks with it goes to the server that has the task, under that one's own id. */
#include "face/caller/caller.h"
#include "hub/catalog/catalog.h"
#include "hub/hub/hub.h"
#include "hub/link/link.h"
#include "mcp/rpc/rpc.h"
#include "mcp/serve/serve.h"
#include "relay_impl.h"

bool relay_is_about_task(const struct relay *c)
{
    return span_starts(span_of(c->method), "tasks/");
}

bool relay_may_be_task(const struct relay *c)
{
    const struct link *l = hub_link(c->set->hub, c->server);

    return c->request->env.has_tasks && strcmp(c->method, "tools/call") == 0 && l &&
           link_era(l) == ERA_MODERN;
}

bool relay_read_task(const struct relays *s, const struct request *r, struct span id,
                     struct task_name *out, struct arena *arena)
{
    AUTO_BUF struct buf caller = { 0 };

    caller_key(r, &caller);
    return task_id_read(out, id, s->task_key, buf_cstr(&caller), arena);
}

bool relay_find_task(const struct relays *s, const struct request *r, const struct scope *scope,
                     struct span id, struct task_name *out, struct arena *arena)
{
    const char *server;

    if (!relay_read_task(s, r, id, out, arena))
        return false;
    server = arena_dup(arena, out->server);
    return hub_link(s->hub, server) && scope_shows_server(hub_catalog(s->hub), scope, server);
}

/* ---- what a server says of a task --------------------------------------------------------- */

/* Our id of a task that this call became, as a JSON string. */
static int name_task(const struct relay *c, struct span own, struct buf *out, struct pb_error *err)
{
    AUTO_BUF struct buf caller = { 0 };
    struct task_name name = { span_of(c->server), own };
    int rc;

    caller_key(c->request, &caller);
    buf_byte(out, '"');
    rc = task_id_write(out, c->set->task_key, buf_cstr(&caller), &name, err);
    buf_byte(out, '"');
    return rc;
}

/* A task may ask, as a call may: by a result that the client acts on. */
static int check_asked(const struct relay *c, struct json task, struct pb_error *err)
{
    AUTO_JSON struct json_doc doc = { 0 };
    struct json asked;

    return relay_read_asked(c, json_get(task, "inputRequests"), &doc, &asked, err);
}

/* The client's own word for it when it asked for this very task. */
static int read_id(const struct relay *c, struct json root, struct buf *id, struct pb_error *err)
{
    AUTO_ARENA struct arena arena = { 0 };
    struct json own = json_get(root, "taskId");

    if (!json_is(own, JSON_STRING))
        return fail(err, PB_E_INVALID, "taskId is no string");
    if (!relay_is_about_task(c))
        return name_task(c, json_str(own, &arena), id, err);
    if (!span_eq(json_str(own, &arena), c->subject))
        return fail(err, PB_E_INVALID, "it is another task than was asked for");
    buf_add_span(id, json_text(json_get(c->request->params, "taskId")));
    return 0;
}

void relay_pass_task(struct relay *c, struct json result)
{
    AUTO_BUF struct buf id = { 0 };
    struct pb_error err, why;
    int rc = read_id(c, result, &id, &err);

    if (rc == 0)
        rc = check_asked(c, result, &err);
    if (rc == 0) {
        relay_reply_task(c, result, buf_span(&id));
        return;
    }
    fail(&why, err.code, "Server '%s' tells of a task what cannot be passed on: %s", c->server,
         err.msg);
    relay_reply_fault(c, &why);
}

unsigned relay_asks(const struct request *r) { return asks_possible(&r->env); }

bool relay_tell_task(struct relays *s, const struct task_view *v, struct span task, struct buf *out)
{
    static const struct json_opts opts = { .keep_depth = 1, .unique_depth = 1 };
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_BUF struct buf id = { 0 };
    struct relay c = { .set = s, .scope = v->scope, .server = v->server, .can = v->asks };
    struct pb_error err;
    int rc = json_parse(&doc, task, &opts, &err);

    if (rc == 0)
        rc = check_asked(&c, json_root(&doc), &err);
    if (rc < 0) {
        log_debug("server %s tells of a task what is not passed on: %s", v->server, err.msg);
        return false;
    }
    json_quote(&id, v->id);
    relay_write_task(&c, out, json_root(&doc), buf_span(&id));
    return true;
}
