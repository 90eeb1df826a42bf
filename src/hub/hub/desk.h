/* desk.h - where a person sits: a view kept in step with a hub, and the actions. An action is only
 * passed on; what it leads to is seen when the hub tells of it. So a desk never shows what a person
 * wished for, but what is. S0-85..S0-97. Loop thread. */
#pragma once
#include "hub/link/link.h"
#include "hub/spec/spec.h"
#include "hub/view/view.h"
#include "proxy.h"

struct desk;
struct hub;
struct hub_options;
struct start_result;

/* What a desk needs of a hub: the real one, or a double in tests. On the loop thread, all of it. */
struct desk_hub {
    void (*start_all)(void *ctx, struct spec *const *specs, size_t n);
    void (*when_settled)(void *ctx, void (*fn)(void *ctx, const struct start_result *r),
                         void *fn_ctx);
    int (*reconnect)(void *ctx, const char *server, struct pb_error *err);
    int (*cancel_connect)(void *ctx, const char *server, struct pb_error *err);
    int (*disconnect)(void *ctx, const char *server, struct pb_error *err);
    void (*stop_all)(void *ctx);
    bool (*cancel_call)(void *ctx, const char *uuid);
    /* The servers that are there already: an event for each of its adding and its state. */
    void (*replay)(void *ctx, hub_event_fn *fn, void *fn_ctx);
    /* The tools of a server, an array's text; unreference it. NULL: it has none. */
    struct blob *(*tools)(void *ctx, const char *server);
    void *(*listen)(void *ctx, hub_event_fn *fn, void *fn_ctx);
    void (*unlisten)(void *ctx, void *subscription);
    struct proxy_caller caller;
    void *ctx;
};
struct desk_hub desk_hub_of(struct hub *h);

/* Listens from now on, and begins with the servers that the hub has. */
struct desk *desk_new(const struct desk_hub *hub);
/* With a hub of its own, made from these options. */
struct desk *desk_open(const struct hub_options *opts);
/* Listens no more, closes a hub of its own, frees; then fn (may be NULL). */
void desk_close(struct desk *d, loop_fn *fn, void *ctx);
/* After each event that changed anything. One listener; NULL: none. */
void desk_on_change(struct desk *d, void (*fn)(void *ctx, const struct hub_event *e), void *ctx);

/* Borrowed; alerts may be dismissed in it. */
struct view *desk_view(struct desk *d);
/* What desk_start_all() starts; references are taken. */
void desk_set_specs(struct desk *d, struct spec *const *specs, size_t n);
/* They are seen as idle before anything happens to them: S0-91. fn (may be NULL) when each has come
 * up or not. */
void desk_start_all(struct desk *d, void (*fn)(void *ctx, const struct start_result *r), void *ctx);
/* FAULT_NO_SERVER. */
MUST_CHECK int desk_reconnect(struct desk *d, const char *server, struct pb_error *err);
MUST_CHECK int desk_cancel_connect(struct desk *d, const char *server, struct pb_error *err);
MUST_CHECK int desk_disconnect(struct desk *d, const char *server, struct pb_error *err);
/* Every server that is seen as failed. Returns how many. */
size_t desk_reconnect_failed(struct desk *d);
void desk_stop_all(struct desk *d);
bool desk_cancel_call(struct desk *d, const char *uuid);
/* proxies_of() its view. */
size_t desk_tools(struct desk *d, const struct filter *f, struct proxy ***out);
