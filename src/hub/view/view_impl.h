/* view_impl.h - what the parts of the view know of each other.
 *
 *   view.c          events to a picture
 *   view_alerts.c   what a person should look at; toasts
 *   view_calls.c    calls under way
 *   view_tools.c    tools of all servers, and counts
 *   view_write.c    the picture as JSON
 *   texts.c         the words that people read */
#pragma once
#include "hub/link/link.h"
#include "view.h"

/* Pointers to what the view owns, made when somebody asks. */
struct view_array {
    const void **v;
    size_t n, room;
};

/* The tools of one server, and all their text in one arena: they come and go together. */
struct tool_set {
    struct arena arena;
    struct view_tool *tools;
    size_t n;
};

struct server {
    struct view_server shown; /* first: a view_server is a server */
    struct tool_set *tools;   /* NULL: none */
};

struct shown_call {
    struct view_call shown;
    struct list link;
};

/* What is made for readers; apart, because reading does not change the view. */
struct view_answers {
    struct view_array servers, tools, some_tools, calls, alerts, failed;
    bool tools_stale;
};

struct view {
    struct map by_id; /* server's name -> struct server */
    struct server **servers;
    size_t n_servers, room_servers;
    struct map calls_by_id;
    struct list calls; /* oldest first */
    struct view_alert **alerts;
    size_t n_alerts, room_alerts;
    struct view_answers *answers;
};

struct server *view_find(const struct view *v, const char *id);
void view_drop_tools(struct view *v, struct server *s);
/* Takes out what belongs to a server that is gone. */
void view_drop_calls(struct view *v, const char *server);
/* The same when what they are about is over. */
void view_drop_alerts(struct view *v, const char *server);
bool view_call_started(struct view *v, const struct hub_event *e);
bool view_call_progress(struct view *v, const struct hub_event *e);
bool view_call_ended(struct view *v, const struct hub_event *e);

void view_array_add(struct view_array *a, const void *p);
