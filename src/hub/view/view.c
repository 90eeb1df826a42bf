#include "hub/link/link.h"
#include "hub/spec/spec.h"
#include "view_impl.h"

enum { FIRST_ROOM = 16 };

/* ---- servers ---- */

struct server *view_find(const struct view *v, const char *id)
{
    return id ? map_get(&v->by_id, span_of(id)) : NULL;
}

static void replace(char **place, const char *text)
{
    char *copy = mem_dup_opt(text); /* it may be what is replaced */

    free(*place);
    *place = copy;
}

static void set_status(struct server *s, const struct link_status *to)
{
    char *url = mem_dup_opt(to->auth_url), *message = mem_dup_opt(to->message);

    free((char *)s->shown.status.auth_url);
    free((char *)s->shown.status.message);
    s->shown.status = *to;
    s->shown.status.auth_url = url;
    s->shown.status.message = message;
}

static void free_server(struct server *s)
{
    set_status(s, &(struct link_status){ 0 });
    free(s->shown.id);
    free(s->shown.display_name);
    free(s->shown.last_error);
    log_ring_free(s->shown.logs);
    free(s);
}

static struct server *new_server(struct view *v, const struct spec *spec)
{
    struct server *s = NEW(struct server);

    s->shown.id = mem_dup(spec->name);
    s->shown.status.state = spec->enabled ? LINK_IDLE : LINK_DISABLED;
    s->shown.logs = log_ring_new();
    if (v->n_servers == v->room_servers) {
        v->room_servers = v->room_servers ? v->room_servers * 2 : FIRST_ROOM;
        v->servers = mem_resize(v->servers, v->room_servers * sizeof(struct server *));
    }
    v->servers[v->n_servers++] = s;
    map_put(&v->by_id, span_of(spec->name), s);
    return s;
}

void view_add_server(struct view *v, const struct spec *spec)
{
    struct server *s = view_find(v, spec->name);

    if (!s)
        s = new_server(v, spec);
    replace(&s->shown.display_name, spec->display_name ? spec->display_name : spec->name);
    s->shown.enabled = spec->enabled;
}

static bool on_added(struct view *v, const struct hub_event *e)
{
    const struct server *s = view_find(v, e->server);
    bool same;

    if (!e->spec)
        return false;
    same = s && s->shown.enabled == e->spec->enabled &&
           strcmp(s->shown.display_name, e->spec->display_name) == 0;
    view_add_server(v, e->spec);
    return !same;
}

static bool on_removed(struct view *v, const struct hub_event *e)
{
    struct server *s = view_find(v, e->server);
    size_t i = 0;

    if (!s)
        return false;
    view_drop_tools(v, s);
    view_drop_calls(v, e->server);
    view_drop_alerts(v, e->server);
    while (v->servers[i] != s)
        i++;
    memmove(v->servers + i, v->servers + i + 1, (v->n_servers - i - 1) * sizeof(struct server *));
    v->n_servers--;
    map_del(&v->by_id, span_of(e->server));
    free_server(s);
    return true;
}

/* ---- what happens to them ---- */

static void fold_failure(struct view *v, struct server *s, const struct hub_event *e)
{
    const char *message = e->state.to.message ? e->state.to.message : "";

    replace(&s->shown.last_error, message);
    view_drop_tools(v, s);
    view_add_alert(v, s->shown.id, ALERT_CONNECTION_FAILED, message, e->at);
}

static void fold_loss(struct view *v, struct server *s, const struct hub_event *e)
{
    const char *message = e->state.to.message; /* NULL: somebody wanted it */

    view_drop_tools(v, s);
    if (!message) {
        view_drop_alerts(v, s->shown.id);
        return;
    }
    replace(&s->shown.last_error, message);
    if (e->spec && !e->spec->auto_reconnect)
        view_add_alert(v, s->shown.id, ALERT_DISCONNECTED, message, e->at);
}

static void fold_connected(struct view *v, struct server *s, const struct hub_event *e)
{
    view_drop_alerts(v, s->shown.id);
    s->shown.tool_count = e->state.to.tools;
}

static void fold_disabled(struct view *v, struct server *s, const struct hub_event *e)
{
    (void)e;
    view_drop_tools(v, s);
    view_drop_alerts(v, s->shown.id);
}

/* Nobody wants it to be there. */
static void fold_idle(struct view *v, struct server *s, const struct hub_event *e)
{
    (void)e;
    view_drop_alerts(v, s->shown.id);
}

typedef void fold_fn(struct view *v, struct server *s, const struct hub_event *e);

/* What a state does beside being shown. A lazy server that is idle keeps its tools: they can be
 * called. */
static fold_fn *const folds[LINK_COUNT] = {
    [LINK_DISABLED] = fold_disabled, [LINK_IDLE] = fold_idle,     [LINK_CONNECTED] = fold_connected,
    [LINK_DISCONNECTED] = fold_loss, [LINK_ERROR] = fold_failure, [LINK_FAILED] = fold_failure,
};

static bool on_state(struct view *v, const struct hub_event *e)
{
    struct server *s = view_find(v, e->server);
    const struct link_status *to = &e->state.to;

    if (!s || link_status_equal(&s->shown.status, to))
        return false;
    set_status(s, to);
    s->shown.enabled = to->state != LINK_DISABLED;
    if (folds[to->state])
        folds[to->state](v, s, e);
    return true;
}

static bool on_log(struct view *v, const struct hub_event *e)
{
    const struct server *s = view_find(v, e->server);

    if (!s || !e->log)
        return false;
    log_ring_add(s->shown.logs, e->log);
    return true;
}

/* Tools are not in events: whoever folds them calls view_set_tools(). */
static bool on_catalog(struct view *v, const struct hub_event *e)
{
    (void)v;
    (void)e;
    return false;
}

/* clang-format off */
static bool (*const on_event[EVENT_KINDS])(struct view *v, const struct hub_event *e) = {
    [EVENT_SERVER_ADDED]   = on_added,
    [EVENT_SERVER_REMOVED] = on_removed,
    [EVENT_STATE]          = on_state,
    [EVENT_LOG]            = on_log,
    [EVENT_CATALOG]        = on_catalog,
    [EVENT_CALL_STARTED]   = view_call_started,
    [EVENT_CALL_PROGRESS]  = view_call_progress,
    [EVENT_CALL_COMPLETED] = view_call_ended,
    [EVENT_CALL_CANCELLED] = view_call_ended,
};
/* clang-format on */

bool view_apply(struct view *v, const struct hub_event *e) { return on_event[e->kind](v, e); }

/* ---- the whole ---- */

struct view *view_new(void)
{
    struct view *v = NEW(struct view);

    v->answers = NEW(struct view_answers);
    list_init(&v->calls);
    return v;
}

void view_free(struct view *v)
{
    struct view_array *const arrays[] = {
        &v->answers->servers, &v->answers->tools,  &v->answers->some_tools,
        &v->answers->calls,   &v->answers->alerts, &v->answers->failed,
    };

    for (size_t i = 0; i < v->n_servers; i++) {
        view_drop_tools(v, v->servers[i]);
        view_drop_calls(v, v->servers[i]->shown.id);
        free_server(v->servers[i]);
    }
    view_dismiss_all(v);
    free(v->alerts);
    free(v->servers);
    map_done(&v->by_id);
    map_done(&v->calls_by_id);
    for (size_t i = 0; i < ARRAY_LEN(arrays); i++)
        free(arrays[i]->v);
    free(v->answers);
    free(v);
}
