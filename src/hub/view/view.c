/* view.c - what a person should look at. */
#include "view.h"
#include "hub/link/link.h"

enum { FIRST_ROOM = 8 };

struct view {
    struct map servers; /* those that were added; the values mean nothing */
    struct view_alert **alerts;
    size_t n, room;
};

static const char *const kind_names[] = {
    [ALERT_CONNECTION_FAILED] = "connectionFailed",
    [ALERT_AUTH_EXPIRED] = "authExpired",
    [ALERT_DISCONNECTED] = "disconnected",
    [ALERT_AUTH_REQUIRED] = "authRequired",
    [ALERT_DEFINITION_CHANGED] = "definitionChanged",
};

const char *alert_kind_name(enum alert_kind k) { return kind_names[k]; }

/* ---- alerts ---- */

static void take_out(struct view *v, size_t i)
{
    struct view_alert *a = v->alerts[i];

    memmove(v->alerts + i, v->alerts + i + 1, (v->n - i - 1) * sizeof(struct view_alert *));
    v->n--;
    free(a->server);
    free(a->message);
    free(a);
}

/* Five attempts that fail alike are one thing to look at. */
static void take_out_same(struct view *v, const struct view_alert *as)
{
    for (size_t i = v->n; i-- > 0;) {
        const struct view_alert *a = v->alerts[i];

        if (a->kind == as->kind && strcmp(a->server, as->server) == 0 &&
            strcmp(a->message, as->message) == 0)
            take_out(v, i);
    }
}

static bool add_alert(struct view *v, enum alert_kind kind, const struct hub_event *e,
                      const char *message)
{
    struct view_alert *a = NEW(struct view_alert);

    *a = (struct view_alert){
        .server = mem_dup(e->server),
        .kind = kind,
        .message = mem_dup(message ? message : ""),
        .at = e->at,
    };
    id_uuid(a->id);
    take_out_same(v, a);
    if (v->n == VIEW_ALERTS_MAX)
        take_out(v, 0);
    if (v->n == v->room) {
        v->room = v->room ? v->room * 2 : FIRST_ROOM;
        v->alerts = mem_resize(v->alerts, v->room * sizeof(struct view_alert *));
    }
    v->alerts[v->n++] = a;
    return true;
}

/* Of its definitions, or of its connection. */
static bool drop_alerts(struct view *v, const char *server, bool definitions)
{
    size_t before = v->n;

    for (size_t i = v->n; i-- > 0;)
        if (strcmp(v->alerts[i]->server, server) == 0 &&
            (v->alerts[i]->kind == ALERT_DEFINITION_CHANGED) == definitions)
            take_out(v, i);
    return v->n != before;
}

bool view_dismiss(struct view *v, const char *alert_id)
{
    for (size_t i = 0; i < v->n; i++) {
        if (strcmp(v->alerts[i]->id, alert_id) == 0) {
            take_out(v, i);
            return true;
        }
    }
    return false;
}

void view_dismiss_all(struct view *v)
{
    while (v->n)
        take_out(v, v->n - 1);
}

size_t view_alerts(const struct view *v, const struct view_alert *const **out)
{
    *out = (const struct view_alert *const *)v->alerts;
    return v->n;
}

/* ---- events ---- */

static bool fold_failure(struct view *v, const struct hub_event *e)
{
    return add_alert(v, ALERT_CONNECTION_FAILED, e, e->state.to.message);
}

static bool fold_loss(struct view *v, const struct hub_event *e)
{
    if (!e->state.to.message) /* somebody wanted it */
        return drop_alerts(v, e->server, false);
    return e->spec && !e->spec->auto_reconnect &&
           add_alert(v, ALERT_DISCONNECTED, e, e->state.to.message);
}

/* All is well, or nobody wants it to be there. */
static bool fold_end(struct view *v, const struct hub_event *e)
{
    return drop_alerts(v, e->server, false);
}

/* One at a time: what is said last is all of it. */
static bool on_pin(struct view *v, const struct hub_event *e)
{
    bool any = drop_alerts(v, e->server, true);

    if (!e->pin.message || !map_get(&v->servers, span_of(e->server)))
        return any;
    return add_alert(v, ALERT_DEFINITION_CHANGED, e, e->pin.message);
}

static bool on_state(struct view *v, const struct hub_event *e)
{
    static bool (*const folds[LINK_COUNT])(struct view * v, const struct hub_event *e) = {
        [LINK_DISABLED] = fold_end,      [LINK_IDLE] = fold_end,      [LINK_CONNECTED] = fold_end,
        [LINK_DISCONNECTED] = fold_loss, [LINK_ERROR] = fold_failure, [LINK_FAILED] = fold_failure,
    };
    bool (*fold)(struct view *, const struct hub_event *) = folds[e->state.to.state];

    return fold && map_get(&v->servers, span_of(e->server)) && fold(v, e);
}

bool view_apply(struct view *v, const struct hub_event *e)
{
    bool dropped;

    switch (e->kind) {
    case EVENT_SERVER_ADDED:
        map_put(&v->servers, span_of(e->server), v);
        return false;
    case EVENT_SERVER_REMOVED:
        map_del(&v->servers, span_of(e->server));
        dropped = drop_alerts(v, e->server, true);
        return drop_alerts(v, e->server, false) || dropped;
    case EVENT_PIN:
        return on_pin(v, e);
    case EVENT_STATE:
        return on_state(v, e);
    default:
        return false;
    }
}

struct view *view_new(void) { return NEW(struct view); }

void view_free(struct view *v)
{
    view_dismiss_all(v);
    free(v->alerts);
    map_done(&v->servers);
    free(v);
}
