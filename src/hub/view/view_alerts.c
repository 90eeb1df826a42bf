/* view_alerts.c - what a person should look at, and the short words that pass by. */
#include "hub/link/link.h"
#include "view_impl.h"

enum { FIRST_ROOM = 8 };

static const char *const kind_names[] = {
    [ALERT_CONNECTION_FAILED] = "connectionFailed",
    [ALERT_AUTH_EXPIRED] = "authExpired",
    [ALERT_DISCONNECTED] = "disconnected",
    [ALERT_AUTH_REQUIRED] = "authRequired",
};

const char *alert_kind_name(enum alert_kind k) { return kind_names[k]; }

static void take_out(struct view *v, size_t i)
{
    struct view_alert *a = v->alerts[i];

    memmove(v->alerts + i, v->alerts + i + 1, (v->n_alerts - i - 1) * sizeof(struct view_alert *));
    v->n_alerts--;
    free(a->server);
    free(a->message);
    free(a);
}

/* Five attempts that fail alike are one thing to look at. */
static void take_out_same(struct view *v, const char *server, enum alert_kind kind,
                          const char *message)
{
    for (size_t i = v->n_alerts; i-- > 0;) {
        const struct view_alert *a = v->alerts[i];

        if (a->kind == kind && strcmp(a->server, server) == 0 && strcmp(a->message, message) == 0)
            take_out(v, i);
    }
}

void view_add_alert(struct view *v, const char *server, enum alert_kind kind, const char *message,
                    int64_t at)
{
    struct view_alert *a = NEW(struct view_alert);

    *a = (struct view_alert){
        .server = mem_dup(server), .kind = kind, .message = mem_dup(message), .at = at
    };
    id_uuid(a->id);
    take_out_same(v, a->server, kind, a->message);
    if (v->n_alerts == VIEW_ALERTS_MAX)
        take_out(v, 0);
    if (v->n_alerts == v->room_alerts) {
        v->room_alerts = v->room_alerts ? v->room_alerts * 2 : FIRST_ROOM;
        v->alerts = mem_resize(v->alerts, v->room_alerts * sizeof(struct view_alert *));
    }
    v->alerts[v->n_alerts++] = a;
}

void view_drop_alerts(struct view *v, const char *server)
{
    for (size_t i = v->n_alerts; i-- > 0;) {
        if (strcmp(v->alerts[i]->server, server) == 0)
            take_out(v, i);
    }
}

bool view_dismiss(struct view *v, const char *alert_id)
{
    for (size_t i = 0; i < v->n_alerts; i++) {
        if (strcmp(v->alerts[i]->id, alert_id) == 0) {
            take_out(v, i);
            return true;
        }
    }
    return false;
}

void view_dismiss_all(struct view *v)
{
    while (v->n_alerts)
        take_out(v, v->n_alerts - 1);
}

size_t view_alerts(const struct view *v, const struct view_alert *const **out)
{
    struct view_array *a = &v->answers->alerts;

    a->n = 0;
    for (size_t i = 0; i < v->n_alerts; i++)
        view_array_add(a, v->alerts[i]);
    *out = (const struct view_alert *const *)a->v;
    return a->n;
}

/* ---- toasts ---- */

/* Lost, and on the way back: told once, not again before each attempt. */
static bool is_loss(enum link_state from, enum link_state to)
{
    return to == LINK_RECONNECTING && (from == LINK_CONNECTED || from == LINK_DISCONNECTED);
}

/* By itself, and it stays away. */
static bool is_end(const struct hub_event *e)
{
    return e->state.to.state == LINK_DISCONNECTED && e->state.to.message && e->spec &&
           !e->spec->auto_reconnect;
}

bool view_toast(const struct hub_event *e, const char *display_name, struct buf *text,
                struct toast *out)
{
    enum link_state from = e->state.from.state, to = e->state.to.state;

    if (e->kind != EVENT_STATE || from == to)
        return false;
    if (is_loss(from, to)) {
        buf_printf(text, "%s MCP disconnected. Reconnecting...", display_name);
        *out = (struct toast){ .level = TOAST_WARNING, .spinner = true };
    } else if (to == LINK_CONNECTED) {
        buf_printf(text, "%s MCP connected.", display_name);
        *out = (struct toast){ .level = TOAST_SUCCESS, .dismisses_itself = true };
    } else if (is_end(e)) {
        buf_printf(text, "%s MCP disconnected.", display_name);
        *out = (struct toast){ .level = TOAST_ERROR };
    } else if (to == LINK_FAILED) {
        buf_printf(text, "%s MCP failed to restart. Check settings.", display_name);
        *out = (struct toast){ .level = TOAST_ERROR };
    } else {
        return false;
    }
    return true;
}
