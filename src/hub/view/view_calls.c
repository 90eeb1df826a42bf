/* view_calls.c - the calls under way, as a person sees them: S0-105. */
#include "hub/link/link.h"
#include "view_impl.h"

static struct shown_call *find(const struct view *v, const struct hub_event *e)
{
    return e->call.id ? map_get(&v->calls_by_id, span_of(e->call.id)) : NULL;
}

static void drop(struct view *v, struct shown_call *c)
{
    map_del(&v->calls_by_id, span_of(c->shown.id));
    list_remove(&c->link);
    free(c->shown.id);
    free(c->shown.server);
    free(c->shown.tool);
    free(c);
}

bool view_call_started(struct view *v, const struct hub_event *e)
{
    struct span name = utf8_cut(e->call.tool, CATALOG_NAME_MAX); /* URIs may be longer */
    struct shown_call *c;

    if (!e->call.id || !view_find(v, e->server) || find(v, e) || v->calls_by_id.n >= VIEW_CALLS_MAX)
        return false;
    c = NEW(struct shown_call);
    c->shown = (struct view_call){
        .id = mem_dup(e->call.id),
        .server = mem_dup(e->server),
        .tool = mem_dupn(name.p ? name.p : "", name.n),
        .started_at = e->at,
    };
    map_put(&v->calls_by_id, span_of(c->shown.id), c);
    list_append(&v->calls, &c->link);
    return true;
}

bool view_call_progress(struct view *v, const struct hub_event *e)
{
    struct shown_call *c = find(v, e);

    if (!c)
        return false;
    c->shown.progress = e->call.progress;
    c->shown.total = e->call.total;
    return true;
}

bool view_call_ended(struct view *v, const struct hub_event *e)
{
    struct shown_call *c = find(v, e);

    if (!c)
        return false;
    drop(v, c);
    return true;
}

void view_drop_calls(struct view *v, const char *server)
{
    struct list *pos, *safe;

    LIST_FOREACH(pos, safe, &v->calls) {
        struct shown_call *c = CONTAINER_OF(pos, struct shown_call, link);

        if (strcmp(c->shown.server, server) == 0)
            drop(v, c);
    }
}

size_t view_calls(const struct view *v, const struct view_call *const **out)
{
    struct view_array *a = &v->answers->calls;
    struct list *pos, *safe;

    a->n = 0;
    LIST_FOREACH(pos, safe, &v->calls)
        view_array_add(a, &CONTAINER_OF(pos, struct shown_call, link)->shown);
    *out = (const struct view_call *const *)a->v;
    return a->n;
}
