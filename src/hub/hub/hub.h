/* hub.h - the door of the room `hub`: the owner of all links. It starts and stops them, tries
 * again, asks after their health, routes calls, and keeps the catalog. Loop thread, but for
 * hub_thread.h. */
#pragma once
#include "hub/catalog/catalog.h"
#include "hub/config/config.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"
#include "hub_thread.h"
#include "mcp/client/client.h"
#include "proxy.h"

struct hub;

enum retry_kind { RETRY_NONE, RETRY_AT_ONCE, RETRY_BACKOFF };
struct retry_policy {
    enum retry_kind kind;
    unsigned max;
    uint64_t base_ms; /* backoff: base, twice, four times ... */
    bool jitter;      /* up to half of the delay less; off by default */
};

struct hub_options {
    struct pb_loop *loop;
    uint64_t call_ms;              /* 30 s */
    uint64_t connect_ms;           /* 10 s; the daemon says 30 s */
    uint64_t oauth_ms;             /* 120 s */
    uint64_t health_ms;            /* 30 s; 0: no health checks */
    struct retry_policy reconnect; /* backoff, 5, 1 s */
    uint64_t max_servers;          /* 0: HUB_SERVERS_MAX */
    unsigned restart_max;          /* crashes of a child that had been connected: 3 */
    bool retry_initial;            /* also when the first connection fails; true in the library */
    bool on_demand;                /* every server waits for its first call */
    bool refresh_on_change;
    const char *secrets_dir; /* keys of servers are kept here; NULL: nowhere */
    struct vault *vault;     /* learns the secrets of all servers; outlives the hub; may be NULL */
    const char *cache_dir;   /* catalogues and eras are kept here; NULL: nowhere */
    const char *marker;      /* put into the environment of children, "NAME=value"; may be NULL */
    const char *inherit_env; /* for servers that say nothing, inherit.h; NULL: "all" */
    link_open_fn *open;      /* NULL: the real one */
    void *open_ctx;
};
#define HUB_OPTIONS_INIT                                                                         \
    {                                                                                            \
        .call_ms = 30000, .connect_ms = 10000, .oauth_ms = 120000, .health_ms = 30000,           \
        .reconnect = { RETRY_BACKOFF, 5, 1000, false }, .restart_max = 3, .retry_initial = true, \
        .refresh_on_change = true,                                                               \
    }

struct hub *hub_new(const struct hub_options *opts);
/* Takes over what can change while it runs: times, attempts, refresh_on_change, max_servers and
 * inherit_env. What is under way keeps what it began with. */
void hub_tune(struct hub *h, const struct hub_options *o);
/* Pending calls end as CALL_SHUTDOWN; every process is stopped; fn when none is left. Within 10 s.
 */
void hub_close(struct hub *h, loop_fn *fn, void *ctx);

/* Adds a server in state idle (disabled if the spec says so), with what the cache knows of its
 * tools when it is lazy. FAULT_DUPLICATE, FAULT_NAME. */
MUST_CHECK int hub_add(struct hub *h, struct spec *spec, struct pb_error *err);
/* Stops it and forgets it. */
MUST_CHECK int hub_remove(struct hub *h, const char *name, struct pb_error *err);
/* hub_add() and, unless lazy or on_demand, hub_connect(), for each; in parallel, without waiting.
 */
void hub_start_all(struct hub *h, struct spec *const *specs, size_t n);
/* Makes the hub's servers those of the config: starts, stops and restarts exactly those that
 * changed. Servers with runtime_only are left alone. */
struct hub_changes {
    size_t added, removed, restarted, updated;
};
struct hub_changes hub_apply(struct hub *h, const struct config *c);
/* How a start of all servers has ended. */
struct start_result {
    const char *const *connected; /* NULL-ended */
    const char *const *failed;    /* names, NULL-ended, with ... */
    const char *const *messages;  /* ... why */
    bool all_succeeded;
};
/* May waiting a moment bring tools that are not listed yet? Of all servers (name NULL): one is
 * being started for the first time. Of one: it is being started, or connected again. */
bool hub_expects(const struct hub *h, const char *name);
/* fn once every server has settled: it is connected, disabled, failed or idle. S0-67, S0-68 */
void hub_when_settled(struct hub *h, void (*fn)(void *ctx, const struct start_result *r),
                      void *ctx);

/* FAULT_NO_SERVER. A manual connect or reconnect sets both counters to 0; `connect` cancels a
 * running attempt and starts a new one; `reconnect` of a connected server does nothing (S4-238). */
MUST_CHECK int hub_connect(struct hub *h, const char *name, struct pb_error *err);
MUST_CHECK int hub_disconnect(struct hub *h, const char *name, struct pb_error *err);
MUST_CHECK int hub_reconnect(struct hub *h, const char *name, struct pb_error *err);
/* Stop it if it runs and start it again. */
MUST_CHECK int hub_restart(struct hub *h, const char *name, struct pb_error *err);
MUST_CHECK int hub_cancel_connect(struct hub *h, const char *name, struct pb_error *err);
MUST_CHECK int hub_enable(struct hub *h, const char *name, bool on, struct pb_error *err);
void hub_reconnect_failed(struct hub *h);
/* fn when the running attempt of this server has ended, or at once when there is none; err NULL
 * when it is connected. */
MUST_CHECK int hub_when_connected(struct hub *h, const char *name,
                                  void (*fn)(void *ctx, const struct pb_error *err), void *ctx,
                                  struct pb_error *err);

/* To spec->server. A server that is idle, connects or reconnects is waited for, within the call's
 * time. *out_id identifies the call until its reply. */
MUST_CHECK int hub_call(struct hub *h, const struct call_spec *spec, uint64_t *out_id,
                        struct pb_error *err);
/* Of the server that works on this call; ERA_UNKNOWN while it is being waited for. */
enum era hub_call_era(const struct hub *h, uint64_t id);
bool hub_cancel(struct hub *h, uint64_t id, enum call_cancel why);
bool hub_cancel_uuid(struct hub *h, const char *uuid, enum call_cancel why);
/* Does a call run, or wait, that has this id? */
bool hub_has_call(const struct hub *h, const char *uuid);
/* See link_hold(); one that waits for its server is held when it is sent. */
void hub_hold(struct hub *h, uint64_t id, bool held);
void hub_caller_left(struct hub *h, const char *caller);
void hub_subscribe_resource(struct hub *h, const char *server, struct span uri, bool on);
/* The same for the task that this caller's call has become; not counted. */
void hub_watch_task(struct hub *h, const char *server, const char *caller, struct span id, bool on);

/* ---- who looks at what servers say before anybody else does ---- */

enum vet_kind { VET_TOOL, VET_PROMPT, VET_INSTRUCTIONS, VET_KINDS };
const char *vet_kind_name(enum vet_kind k); /* "tool", "prompt", "instructions" */

/* One thing that a server said. */
struct vet_item {
    enum vet_kind kind;
    struct span name;      /* its own; of instructions "" */
    struct span text;      /* as it was written; of instructions the text itself */
    struct span canonical; /* what the digest is of; empty: it is not at hand */
    struct span was;       /* what stood there before, as it was written; empty: not known */
    const uint8_t *digest; /* SHA512_BYTES */
};
struct hub_vet {
    /* All of one list, or the instructions, are about to be looked at. */
    void (*begin)(void *ctx, const char *server, enum vet_kind kind);
    /* Is it to be held back? Then it is in no list. `running`: the server says so while it goes on,
     * not because it was started or connected anew. Does nothing to the hub. */
    bool (*look)(void *ctx, const struct spec *spec, const struct vet_item *i, bool running);
    /* Why a call of what is held back is not made. */
    void (*explain)(void *ctx, const char *server, enum vet_kind kind, struct span name,
                    struct pb_error *err);
    void *ctx;
};
/* Before the first server is added; NULL: nobody looks any more, and nothing changes by that. */
void hub_set_vet(struct hub *h, const struct hub_vet *v);
/* It looks again at all that this server (NULL: each) has said; lists change at the end of the
 * turn. */
void hub_vet_again(struct hub *h, const char *server);
/* Is this tool or prompt held back? Then err (may be NULL) says why. */
bool hub_holds(const struct hub *h, const char *server, enum vet_kind kind, struct span name,
               struct pb_error *err);
/* The same of what this call is about, by call->server; of other methods nothing is. */
bool hub_holds_call(const struct hub *h, const struct call_spec *call, struct pb_error *err);
/* Tells listeners: EVENT_PIN. message NULL: all is as it was approved. */
void hub_tell_pins(struct hub *h, const char *server, size_t held, size_t changed,
                   const char *message);

/* Tools of this program itself are behind the same door as those of servers: calls to SPEC_OWN go
 * to `server`, which lives on the hub's loop. It is in no list of servers, and events tell of its
 * calls only; what it has is in the catalog by catalog_add_own(). */
struct hub_own {
    struct pb_server *server;
    /* The hub closes, and has ended all calls: fn when nothing of it is left. */
    void (*close)(void *ctx, loop_fn *fn, void *fn_ctx);
    void *ctx;
};
/* At most once, before the first call. */
void hub_add_own(struct hub *h, const struct hub_own *own);
struct link *hub_own(const struct hub *h); /* NULL: there is none */

struct pb_loop *hub_loop(const struct hub *h);
/* That of the options; NULL: there is none. */
struct vault *hub_vault(const struct hub *h);
/* How the hub connects to servers, for links that are not its own: without an opener and without
 * anybody who is told. Borrowed. */
void hub_link_options(const struct hub *h, struct link_options *out);
/* {"name":{"status",…}}, [{name,server,original_name,description,input_schema}] and
 * [{uri,server,name,description,mime_type}]: the shapes of S4-37, S4-38, S4-41. */
void hub_write_servers(struct json_out *o, const char *key, const struct hub *h);
void hub_write_tools(struct json_out *o, const char *key, const struct hub *h, const char *server);
void hub_write_resources(struct json_out *o, const char *key, const struct hub *h,
                         const char *server);
/* Puts an array of the hubs that can be reached: this one, and those behind it. Of one server: only
 * those behind that. See circle.h. */
void hub_write_reach(const struct hub *h, const char *server, struct json_out *o, const char *key);
struct catalog *hub_catalog(const struct hub *h);
const struct mode_set *hub_modes(const struct hub *h);
/* Takes a reference of its own. */
void hub_set_modes(struct hub *h, struct mode_set *modes);
size_t hub_count(const struct hub *h);
struct link *hub_link(const struct hub *h, const char *name); /* NULL: none */
struct link *hub_link_named(const struct hub *h, struct span name);
/* The server that "server.tool" is of, by item_split(), and the tool; NULL: none. */
struct link *hub_link_of(const struct hub *h, const char *item, struct span *own);
/* In the order in which they were added. */
void hub_each(const struct hub *h, void (*fn)(void *ctx, struct link *l), void *ctx);
/* How often it came back: S1-114, S1-115. */
struct hub_counters {
    unsigned reconnects, restarts;
    bool permanent_error;
};
void hub_counters(const struct hub *h, const char *name, struct hub_counters *out);
/* Wall clock: its lists are not what it says, but what it said then; 0: they are what it says. */
int64_t hub_remembered_at(const struct hub *h, const char *name);
/* S1-112: stops lazy servers unused for longer than their idle_ms; runs by itself, too. */
size_t hub_cleanup_idle(struct hub *h);

/* Listeners are told in the order in which they came; one may leave, not close the hub, from
 * inside. All but `event` are for hosts; any may be NULL.
 * `list_changed` comes at the end of the turn, once for each kind and server; with the server ""
 * it is the modes that changed. */
struct hub_listener {
    hub_event_fn *event;
    bool no_calls; /* `event` is not told of calls: telling costs each of them a little */
    void (*list_changed)(void *ctx, enum list_kind kind, const char *server);
    void (*resource_updated)(void *ctx, const char *server, struct span uri);
    /* A log message of the instance of this caller; "": of the one for all. */
    void (*message)(void *ctx, const char *server, const char *caller, struct span params);
    /* A question without a call; the first who says true has it. */
    bool (*question)(void *ctx, const char *server, struct link_question *q, struct span method,
                     struct span params);
    /* Nobody wants to know it any more; told to all, and gone when they have been told. Whoever
     * takes questions has this. */
    void (*withdrawn)(void *ctx, const struct link_question *q);
    /* Params of notifications/tasks; the caller as above. */
    void (*task_changed)(void *ctx, const char *server, const char *caller, struct span params);
    /* Params of notifications/elicitation/complete. */
    void (*elicited)(void *ctx, const char *server, struct span params);
    void *ctx;
};
struct hub_subscription;
struct hub_subscription *hub_listen(struct hub *h, const struct hub_listener *l);
void hub_unlisten(struct hub_subscription *s);
