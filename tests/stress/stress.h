/* stress.h - the stress program: the real hub between dozens of servers and dozens of clients that
 * do everything at any moment, all of it random from one seed.
 *
 *     SEED=7 SECONDS=600 SERVERS=40 CLIENTS=40 test_stress
 *
 * One thread, one poll (net.c). Who is who: `hub.c` the daemon, `servers.c` what it is configured
 * with, `client*.c` who asks, `disturb.c` what happens to all of them, `laws.c` what must hold. */
#pragma once
#include "base/base.h"
#include "json/json.h"
#include <stdio.h>

/* ---- laws (laws.c) ---- */

/* clang-format off */
enum law {
    LAW_ONCE,      /* each request is answered once, and in time */
    LAW_RIGHT,     /* by the server that was meant, about the call that was made */
    LAW_SERVED,    /* a call that nothing disturbs succeeds */
    LAW_PRIVATE,   /* nobody sees what belongs to another client's call */
    LAW_ANSWERS,   /* an answer reaches the question that it was given to, once */
    LAW_ALIVE,     /* the hub answers throughout, and ends well */
    LAW_NO_CALLS,  /* no call is left when nobody waits for one */
    LAW_MEMORY,    /* memory and descriptors are as before */
    LAW_SPEED,     /* no callback of the loop holds the others up */
    LAW_CLEAN,     /* no finding of a sanitizer */
    LAW_ORPHANS,   /* no process is left */
    LAW_COUNT,
};
/* clang-format on */

/* Shared by the process that runs the storm and those that judge it. */
struct verdict {
    unsigned broken[LAW_COUNT];
    bool finished;
};
extern struct verdict *verdict;
void broken(enum law law, const char *fmt, ...) PRINTF(2, 3);
/* The same, unless the hub turns out to be dead: then that is the reason. */
void suspected(enum law law, const char *fmt, ...) PRINTF(2, 3);

struct figures {
    uint64_t calls, results, errors, cancels, questions, answers, rounds, progress, logs, drops,
        resumes, sessions, kills, stops, edits, switches, accepted, late;
};
extern struct figures figures;

/* ---- chance and time ---- */

struct options {
    uint64_t seed;
    unsigned seconds, servers, clients, cycle_s;
    bool sanitized;
};
extern struct options options;

void chance_begin(uint64_t seed);
uint64_t chance(void);
static inline unsigned among(unsigned n) { return (unsigned)(chance() % n); }
static inline bool one_in(unsigned n) { return among(n) == 0; }

uint64_t now(void); /* ms */
/* Times are longer where every instruction is watched. */
uint64_t patiently(uint64_t ms);

/* ---- canaries: cny:CLIENT.LIFE.CALL.HASH ---- */

enum { CANARY_MAX = 96 };
void canary_make(char out[static CANARY_MAX], unsigned client, unsigned life, unsigned call);
/* Is every canary in this text one of these lives of the client? Else says which is not, in `out`.
 */
bool canaries_are(struct span text, unsigned client, unsigned from, unsigned to,
                  char out[static CANARY_MAX]);
bool canary_find(struct span text, char out[static CANARY_MAX]);

/* ---- connections (net.c) ---- */

struct chan_events {
    void (*heard)(void *ctx); /* chan.rx has grown */
    void (*ended)(void *ctx); /* the other side is gone; freed after this */
};

struct chan {
    struct list link;
    int in, out; /* the same for a socket */
    struct buf rx, tx;
    uint64_t deaf_until; /* does not read before */
    bool dead;
    const struct chan_events *events;
    void *ctx;
    void (*free_ctx)(void *ctx); /* at the end of the turn in which it was closed; may be NULL */
};

/* Takes the descriptors. */
struct chan *chan_new(int in, int out, const struct chan_events *events, void *ctx);
/* NULL: nobody listens there. */
struct chan *chan_dial(int port, const struct chan_events *events, void *ctx);
void chan_say(struct chan *c, struct span bytes);
/* No callback comes after this. */
void chan_close(struct chan *c);
/* Waits for something to happen, at most so long, and lets it happen. */
void net_turn(int ms);
/* Everybody hangs up; nobody is told. */
void net_hang_up(void);
void net_done(void);
/* Runs fn(ctx) once, later. Those of a ctx can be forgotten together. */
void later(uint64_t ms, void (*fn)(void *ctx), void *ctx);
void later_forget(const void *ctx);

/* ---- HTTP (web.c): one exchange on one connection ---- */

struct web_head {
    int status;
    struct span session; /* Mcp-Session-Id */
    bool streams;
};

struct web_events {
    void (*head)(void *ctx, const struct web_head *h);          /* may be NULL */
    void (*event)(void *ctx, struct span id, struct span data); /* of a stream */
    void (*done)(void *ctx, int status, struct span body);      /* 0: it broke off; freed after */
};

struct web_order {
    const char *method, *path, *headers; /* headers with their line ends; may be NULL */
    struct span body;
    const char *token;               /* NULL: the right one */
    const struct web_events *events; /* NULL: nobody wants to know */
    void *ctx;
    bool half; /* only a part of it is sent */
};
struct web *web_send(const struct web_order *o);
/* Hangs up; nobody is told. */
void web_drop(struct web *w);
struct chan *web_chan(struct web *w);
/* Waits for the answer, turning the world meanwhile; the body in `out`. 0: none came. */
int web_wait(const struct web_order *o, struct buf *out, uint64_t ms);

/* ---- the hub (hub.c) ---- */

struct hub_process {
    pid_t pid;
    int port;
    char dir[64], home[80], mark[96];
};
extern struct hub_process hub;
#define HUB_TOKEN "stress-token"

void hub_begin(void); /* makes the directories */
void hub_start(void);
bool hub_is_alive(void);
/* SIGTERM; gives the exit status, or -signal. */
int hub_stop(void);
void hub_end(void); /* removes the directories */
long hub_rss_kb(void);
int hub_descriptors(void);
/* Words of a sanitizer in what it wrote to stderr, and callbacks that took long. */
void hub_read_stderr(void);
const char *hub_built(const char *name);
/* A child of ours that knows the mark, with pipes; its pid. */
pid_t hub_spawn(const char *const *argv, int in, int out, int err);

/* ---- servers (servers.c) ---- */

struct server {
    char name[32];
    const struct server_role *role;
    int port;
    pid_t pid;        /* of one that we run ourselves */
    unsigned version; /* changes with its entry */
    bool absent;
};

struct server_role {
    const char *transport, *era, *kind;
    bool calm;                     /* nothing happens to it: whoever calls it is served */
    bool per_client, shared, lazy; /* shared: the config insists on one for all */
};

extern struct server *servers;
void servers_begin(void);
enum config { CONFIG_PLAIN, CONFIG_AIRY /* other white space */, CONFIG_OFF /* all disabled */ };
void servers_write_config(enum config how);
/* How many processes of theirs there are that the hub has started. */
int servers_running(void);
/* Those that we run and that have ended are started again. */
void servers_revive(void);
void servers_end(void);
/* A process of a server that may be harmed; 0: there is none. */
pid_t servers_victim(void);
/* What they have to say about the hub. */
void servers_read_violations(void);

/* ---- disturbances (disturb.c) ---- */

void disturb_something(void);
/* Everybody who was stopped goes on. */
void disturb_no_more(void);
