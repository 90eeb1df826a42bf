/* hub_impl.h - what the files of the hub share. Not for others: they use hub.h.
 *
 * What a link tells is only noted down; at the end of the turn member_review() looks at each server
 * that something happened to and compares what is with what is wanted. So no decision is made in
 * the middle of a link's own work, and several things of one turn are answered once.
 *
 *   hub.c           the servers: adding, asking for, switching off, removing; the end
 *   hub_apply.c     many at once: starting, and taking over a config
 *   member.c        one server of the hub: what is wanted of it
 *   hub_retry.c     when a server is tried, and when no more
 *   hub_settle.c    waiting until a server has come up or not
 *   hub_own.c       the tools of this program itself
 *   hub_health.c    asking whether they live; stopping lazy ones
 *   hub_call.c      the way of a call to its server
 *   hub_listen.c    what links tell, handed to whoever listens
 *   hub_cache.c     what a server listed last time, on disk
 *   hub_changes.c   a tool that is not what it was
 *   hub_vet.c       what is held back of what servers say
 *   hub_text.c      servers, tools and resources as JSON
 *   hub_thread.c    a hub on a thread of its own
 *   proxy.c         a tool of some server as an agent sees it */
#pragma once
#include "hub.h"
#include "hub/catalog/catalog.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"
#include <assert.h>

/* What is wanted of a server. What it does is said by its link.
 *
 *            call            connects          lost
 *   unwanted -------> woken ----------> up -----------> missed
 *     |                 ^              ^ |               ^ |
 *     | by hand         | failed       | | ping failed   | |
 *     |                 |              | v               | |
 *     +-------------> asked -----------+ sick -----------+ |
 *                                      ^                   |
 *                                      +---- connects -----+
 *
 *   up, sick -> given up: its process has ended too often
 *   any -> asked by hand; any -> unwanted, when nobody wants it any more; any -> leaving */
enum member_state {
    MEMBER_UNWANTED, /* should not be connected: how its link ends is left as it is */
    MEMBER_GIVEN_UP, /* the same, after its process has ended too often */
    MEMBER_ASKED,    /* somebody asked for it; the attempt is under way or about to be */
    MEMBER_WOKEN,    /* it is tried by ourselves, and has not been up since it was asked for */
    MEMBER_UP,
    MEMBER_SICK,   /* up, but it does not answer pings: member_review() disconnects it */
    MEMBER_MISSED, /* had been up; it is tried by ourselves */
    MEMBER_LEAVING,
    MEMBER_COUNT
};

struct cache_job; /* hub_cache.c */

/* One server of the hub. */
struct member {
    struct list at;   /* in hub.members, or in hub.leaving until its processes are gone */
    struct list todo; /* in hub.todo when member_review() is to look at it */
    struct hub *hub;
    struct link *link;
    char *name;
    uint64_t no;        /* never given twice; the upper part of the ids of its calls */
    struct timer retry; /* before the next attempt */

    struct sm state;        /* enum member_state; member_move() */
    struct cache_job *load; /* reads what the disk knows of it; it starts after that. NULL: none */
    struct cache_job *save; /* writes its lists; NULL: none */
    bool cache_dirty;       /* its lists differ from what is on the disk */
    bool tasks_kept;        /* the disk says that it has tasks */
    int64_t remembered_at;  /* wall clock: its lists are what the disk knew; 0: they are its own */
    unsigned closing;       /* links of it that are not gone yet */
    unsigned reconnects, restarts;
    size_t subscriptions;
    uint64_t up_since, used_at;         /* loop time */
    uint64_t pinged_at;                 /* of the ping that is on its way; 0: none is */
    enum pb_era hint;                   /* what it spoke last time */
    struct list waiting;                /* calls that wait for it */
    struct list waits;                  /* hub_when_connected() */
    struct table tools_seen;            /* hash of a name -> hash of what it was */
    struct digests digests[LIST_KINDS]; /* of what is in the catalog, when somebody looks at it */
};

struct hub {
    struct hub_options opts; /* its strings are ours */
    struct hub_vet vet;      /* look NULL: nobody */
    char id[ID_CHARS + 1];   /* see circle.h */
    struct link_options link_opts;
    struct claims *claims; /* of all servers */
    struct pb_loop *loop;
    struct catalog *catalog;
    struct mode_set *modes;
    struct list members, leaving, todo;
    struct member *own;     /* in no list; NULL: none */
    struct hub_own own_end; /* what it leads to; close NULL: nothing, or it has been told */
    struct map by_name;
    struct member *found; /* the one that was looked for last; NULL: none */
    struct table by_no;
    uint64_t last_no;

    struct list listeners;
    size_t hearers;      /* listeners that want events */
    size_t call_hearers; /* those that want to hear of calls, too */
    unsigned telling;    /* how deep in fan-outs we are */
    struct map changed;  /* server -> bits of list_kinds that listeners have not been told of */

    struct map waiting; /* id -> struct waiting_call: those that wait and those that did */
    size_t n_waiting;
    struct map named; /* uuid -> struct waiting_call: those that wait and whose caller chose one */
    uint64_t last_waiting;

    struct timer health, idle;
    struct list waits;      /* hub_when_settled() */
    size_t jobs;            /* work on other threads, begun or not */
    struct list cache_jobs; /* those that wait for others of them */
    size_t cache_running;
    struct timer cache_retry; /* no worker was free for any of them */
    bool deferred;            /* we look at what happened at the end of this turn */

    bool closing;
    struct timer limit;
    struct list closers;
};

/* A hub belongs to the thread of its loop; others use hub_thread.h. At every way in. */
static inline void hub_owned(const struct hub *h)
{
    assert(loop_on_thread(h->loop) && "a hub is used on the thread of its loop");
}

/* hub.c */
struct member *hub_find(const struct hub *h, const char *name);
struct member *hub_find_or_fail(const struct hub *h, const char *name, struct pb_error *err);
/* Those there are now, for walks in which one may go: each is looked up when its turn comes. The
 * caller frees *out. */
size_t hub_numbers(const struct hub *h, uint64_t **out);
struct member *hub_by_no(const struct hub *h, uint64_t no);
bool member_is_lazy(const struct member *m);
/* Its lists are in the catalog, from the disk or from itself. */
bool member_is_listed(const struct member *m);
void member_touch(struct member *m); /* something happened to it */
void hub_touch(struct hub *h);
/* Its tools are gone, unless it is only idle. */
void member_forget_lists(struct member *m);
/* Ends the link and makes a new one of this spec, which starts when the old one is gone. */
void member_replace(struct member *m, struct spec *spec);
void hub_maybe_end(struct hub *h);

/* member.c */
void member_state_init(struct member *m);
/* A move that the table does not have aborts. */
void member_move(struct member *m, enum member_state to);
bool member_is(const struct member *m, enum member_state s);
/* It should be connected: a failure or loss is answered by the policy. */
bool member_is_wanted(const struct member *m);
/* Has been connected since somebody asked for it. */
bool member_was_up(const struct member *m);
/* Stops trying, without touching the link. */
void member_unwant(struct member *m);

/* A server that nobody has told of yet, idle. */
struct member *member_new(struct hub *h, struct spec *spec);

/* hub_own.c */
bool member_is_own(const struct member *m);
/* True: the end of all waits for its end. */
bool hub_end_own(struct hub *h);
link_open_fn own_open;

/* hub_retry.c */
/* By hand: the counters start anew. */
void member_start(struct member *m);
/* A call or a missing list wants it. */
void member_wake(struct member *m);
void member_review(struct member *m);
void member_on_retry(void *ctx);
link_open_fn member_open;

/* hub_health.c */
void hub_health_init(struct hub *h);
void hub_health_wake(struct hub *h); /* a server came up */
void hub_idle_wake(struct hub *h);

/* hub_call.c */
/* Sends what waits, or ends it if the server does not come. */
void member_send_waiting(struct member *m);
void member_end_calls(struct member *m, const struct pb_error *err);
/* Why it cannot be used now. Returns the code. */
int member_fault(const struct member *m, struct pb_error *err);

/* hub_cache.c */
/* Reads what is known of it. */
void member_load(struct member *m);
void member_save(struct member *m);
loop_fn hub_cache_start; /* work that waits for its turn; ctx is the hub */

/* hub_changes.c: its tools in the catalog are new. */
void member_note_tools(struct member *m);

/* hub_vet.c */
/* A list in the catalog is new, or may be; the digests are taken over, and empty afterwards.
 * Returns whether other things are shown than before. */
bool member_vet(struct member *m, enum list_kind kind, struct digests *d, bool running);
void member_on_greeted(void *ctx, struct link *l);
void member_digests_done(struct member *m);

/* hub_settle.c */
void member_tell_waits(struct member *m);
void member_end_waits(struct member *m, const struct pb_error *err);
void hub_tell_waits(struct hub *h);

/* hub_listen.c: what links tell; ctx is the member. */
void member_on_event(void *ctx, const struct hub_event *e);
void member_on_listed(void *ctx, struct link *l, enum list_kind kind, struct span array);
void member_on_resource(void *ctx, struct link *l, struct span uri);
void member_on_task(void *ctx, struct link *l, const char *caller, struct span params);
void member_on_message(void *ctx, struct link *l, const char *caller, struct span params);
bool member_on_question(void *ctx, struct link *l, struct link_question *q, struct span method,
                        struct span params);
void member_on_withdrawn(void *ctx, struct link *l, const struct link_question *q);
void member_on_elicited(void *ctx, struct link *l, struct span params);
void member_on_learned(void *ctx, struct link *l);
void member_on_clear(void *ctx, struct link *l);
void hub_tell_member(struct member *m, enum hub_event_kind kind);
void hub_lists_changed(struct hub *h, const char *server, unsigned kinds);
void hub_tell_changes(struct hub *h);
void hub_drop_listeners(struct hub *h);
