/* view.h - the picture a person sees, folded from events. Pure: no I/O, no clock, no hub; what goes
 * in is events, what comes out is state. S0-85..S0-110, S1-120..S1-129. */
#pragma once
#include "texts.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"

struct view;

struct view_server {
    char *id, *display_name;
    struct link_status status; /* its strings are the view's */
    size_t tool_count;
    char *last_error; /* or NULL */
    bool enabled;
    struct log_ring *logs;
};

struct view_tool {
    char *id;                                       /* "server.name" */
    char *server, *name, *description, *definition; /* definition: the tool's JSON */
};

struct view_call {
    char *id, *server, *tool;
    int64_t started_at;
    double progress, total;
};

enum alert_kind {
    ALERT_CONNECTION_FAILED,
    ALERT_AUTH_EXPIRED,
    ALERT_DISCONNECTED,
    ALERT_AUTH_REQUIRED,
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
/* Idle, without tools and logs (S0-91); one that is there takes the new names. */
void view_add_server(struct view *v, const struct spec *spec);
/* One event. Unknown servers are ignored (S0-103). Returns whether anything changed. */
bool view_apply(struct view *v, const struct hub_event *e);
/* The tools of a server, one array's text, instead of those it had: S0-99. May come before the
 * event that says "connected". */
void view_set_tools(struct view *v, const char *server, struct span array);
/* A failure adds one by itself (S0-100), and so does a loss that nobody will repair. One that says
 * the same as another about the same server takes its place. They end when the server is connected,
 * or is not wanted any more. Past VIEW_ALERTS_MAX the oldest go. */
void view_add_alert(struct view *v, const char *server, enum alert_kind kind, const char *message,
                    int64_t at);

/* What these give is borrowed until the next change, and arrays also until the same is asked
 * again. */
const struct view_server *view_server(const struct view *v, const char *id);
size_t view_servers(const struct view *v, const struct view_server *const **out);
/* Tools that a filter lets through (NULL: all), sorted by id. */
size_t view_tools(const struct view *v, const struct filter *f,
                  const struct view_tool *const **out);
size_t view_calls(const struct view *v, const struct view_call *const **out);
size_t view_alerts(const struct view *v, const struct view_alert *const **out);
bool view_dismiss(struct view *v, const char *alert_id);
void view_dismiss_all(struct view *v);
bool view_has_failures(const struct view *v);
size_t view_failed(const struct view *v, const char *const **ids);
size_t view_connected_count(const struct view *v);
size_t view_total_count(const struct view *v);

/* What a toast says about this change of state; false: nothing. */
bool view_toast(const struct hub_event *e, const char *display_name, struct buf *text,
                struct toast *out);
/* Everything as JSON: {"servers":[…],"tools":[…],"calls":[…],"alerts":[…]}. */
void view_write(struct json_out *o, const char *key, const struct view *v);
