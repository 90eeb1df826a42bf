/* host_impl.h - the layout of a set of hosts, for host*.c.
 *
 *   host.c           the hosts: one for each scope that somebody asked for
 *   host_hello.c     what a client is told at first
 *   host_methods.c   the methods
 *   host_lists.c     the four lists
 *   host_wait.c      requests that came before their servers
 *   host_tasks.c     what clients ask about tasks
 *   host_news.c      what servers tell, passed on
 *   host_ask.c       what servers ask without a call */
#pragma once
#include "face/relay/relay.h"
#include "host.h"
#include "hub/catalog/catalog.h"
#include "hub/hub/hub.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"
#include "mcp/rpc/rpc.h"
#include "mcp/serve/serve.h"

struct hosts {
    struct pb_loop *loop;
    struct gate *gate;       /* NULL: there is no hub */
    struct hub *hub;         /* NULL: there is none */
    struct catalog *catalog; /* the hub's */
    struct catalog *own;     /* instead, without a hub */
    struct relays *relays;   /* NULL without a hub */
    struct hub_subscription *news;
    char *name, *version;
    unsigned expose;
    size_t max_request_bytes;
    uint64_t list_wait_ms;
    uint64_t steps_at; /* loop time; in this turn */
    size_t steps;      /* are left to find out whose the URIs are that clients subscribe to */

    struct buf params; /* of the last request that was relayed: its memory serves the next */

    struct list hosts;
    struct map by_scope;
    struct host *found; /* the last one that was asked for: mostly it is asked for again */
    struct map tasks; /* "server\nid" -> the first struct task_watch of it */
    struct map
        asked; /* address of a struct link_question -> the struct host_question of its client */
    struct map moved; /* number of a client whose roots have changed in this turn -> its host */
    size_t open;      /* hosts whose servers have not ended, and what is due at the end of a turn */
    bool closing;
    loop_fn *closed_fn;
    void *closed_ctx;

    control_fn *control;
    void *kept;
    void (*kept_free)(void *p);
};

struct host {
    struct list in_set;
    struct hosts *set;
    struct pb_server *server;
    char *server_name, *mode; /* at most one of them */
    char *directory;          /* of who sees built-in tools; or NULL */
    unsigned expose;
    bool control;
    /* What its clients see. Relays hold on to it, so it stays where it is; `filter` belongs to
     * `modes`, which are those of the last request. */
    struct scope scope;
    struct mode_set *modes;

    struct map watches;   /* outward URI -> struct watch */
    struct map by_origin; /* "server\nURI" -> the first watch of it */
    struct list waiting;  /* requests that wait for servers */
    struct list due;      /* those that are handled again, some in each turn */
    struct timer wait;
    bool impatient; /* what is being handled has waited already */
    bool check_due, closing;
    bool waits_stale; /* something happened that those who wait may have waited for */
};

static inline enum order_face host_face(const struct host *h)
{
    return h->control ? FACE_CLI : FACE_MCP;
}
/* Brings h->scope up to date. NULL: what the host shows is not there any more, and r (may be NULL)
 * has been told so. */
const struct scope *host_view(struct host *h, struct request *r);

/* host_hello.c: what a client is told at first. */
void host_capabilities(void *ctx, struct json_out *o, const struct envelope *env);
void host_instructions(void *ctx, struct buf *out);
/* Takes over the title of the one server that it shows. */
void host_retitle(struct host *h);

/* host_lists.c */
void host_list(struct host *h, struct request *r, enum list_kind kind);

/* host_tasks.c: tasks/get, tasks/update and tasks/cancel. */
void host_task(struct host *h, struct request *r, const struct scope *scope);
/* Can any server that it shows answer with a task? */
bool host_has_tasks(struct host *h);
bool host_has_task(void *ctx, const struct request *r, struct span id);
void host_watch_task(void *ctx, const struct request *r, struct span id, bool on);
/* hub_listener.task_changed */
void hosts_task_changed(void *ctx, const char *server, const char *caller, struct span params);

/* host_wait.c. True: r is handled again when this server (NULL: every one that the host shows) is
 * there, or has failed to come, or the time for it is over. */
bool host_wait(struct host *h, struct request *r, const char *server);
/* provider.wait: what nobody has may be of a server that is about to be there. Handled again each
 * time that one has come. */
bool host_wait_any(void *ctx, struct request *r);
/* A server changed its state. */
void host_waits_check(struct host *h);
void host_waits_over(void *host);
/* Nobody wants them any more. */
void host_waits_drop(struct host *h);
/* host.c */
void host_free(struct host *h);
/* One of those that hosts.open counts is over. */
void hosts_release(struct hosts *s);

/* host_methods.c */
bool host_handle(void *ctx, struct request *r);
struct span host_tool_schema(void *ctx, struct span tool);

/* host_news.c: what the hub tells, and who wants to hear it. */
void hosts_hear(struct hosts *s);
bool host_subscribable(void *ctx, struct span uri);
void host_watch(void *ctx, struct span uri, bool on);
void host_notified(void *ctx, struct peer *p, const struct rpc *message);
void host_left(void *ctx, struct peer *p);
void host_congested(void *ctx, struct peer *p, bool on);
void host_watches_done(struct host *h);

/* What a server says is for those who see it. */
bool host_hears(struct host *h, const char *server);

/* host_ask.c: hub_listener.question and .withdrawn, and when another may answer it: this client
 * came or left. */
bool hosts_question(void *ctx, const char *server, struct link_question *q, struct span method,
                    struct span params);
void hosts_withdrawn(void *ctx, const struct link_question *q);
/* Before nobody tells of withdrawn ones any more. */
void hosts_stop_asking(struct hosts *s);
void host_roots_moved(struct host *h, const struct peer *p, bool came);
/* It says that its roots have changed. */
void host_roots_changed(struct host *h, const struct peer *p);
