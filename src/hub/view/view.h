/* view.h - what a person should look at, folded from events, and the short words that pass by.
 * Pure: no I/O, no clock, no hub. S0-88, S0-97, S0-100, S0-103, S0-110, S1-127..S1-129.
 *
 *   view.c     events to alerts
 *   toasts.c   events to toasts
 *   remedy.c   why a server does not come up, and what to do about it
 *   texts.c    the words for states, badges, menus, questions */
#pragma once
#include "hub/link/link.h"
#include "hub/spec/spec.h"
#include "remedy.h"
#include "texts.h"

struct view;

enum alert_kind {
    ALERT_CONNECTION_FAILED,
    ALERT_AUTH_EXPIRED,
    ALERT_DISCONNECTED,
    ALERT_AUTH_REQUIRED,
    ALERT_DEFINITION_CHANGED, /* ends when all is as it was approved */
};
const char *alert_kind_name(enum alert_kind k); /* "connectionFailed", ... */
enum toast_level { TOAST_SUCCESS, TOAST_WARNING, TOAST_ERROR };

struct view_alert {
    char id[UUID_CHARS + 1];
    char *server;
    enum alert_kind kind;
    char *message;
    int64_t at;
};

/* S1-127..129. `text` in the buffer of view_toast(). */
struct toast {
    enum toast_level level;
    bool spinner, dismisses_itself;
};

struct view *view_new(void);
void view_free(struct view *v);
AUTO_DEFINE(view, view_free)
/* One event. What happens to servers that were not added is ignored. A failure adds an alert, and
 * so does a loss that nobody will repair. One that says the same as another about the same server
 * takes its place. They end when the server is connected, is not wanted any more, or is removed;
 * that definitions have changed ends when they are approved, or again what they were.
 * Past VIEW_ALERTS_MAX the oldest go. Returns whether there are other alerts than before. */
bool view_apply(struct view *v, const struct hub_event *e);
/* The oldest first; borrowed until the next change. */
size_t view_alerts(const struct view *v, const struct view_alert *const **out);
bool view_dismiss(struct view *v, const char *alert_id);
void view_dismiss_all(struct view *v);

/* What a toast says about this change of state; false: nothing. */
bool view_toast(const struct hub_event *e, const char *display_name, struct buf *text,
                struct toast *out);
