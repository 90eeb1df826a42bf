/* fake_types.h - what fake servers are made of, and turning their loop. See fake_server.h. */
#pragma once
#include "hub/link/link.h"
#include "mcp/client/client_impl.h"
#include "mcp/rpc/memory.h"
#include "mcp/serve/serve.h"
#include "tap.h"

enum {
    FAKE_SERVERS_MAX = 256,
    FAKE_ITEMS_MAX = 64,
    FAKE_HELD_MAX = 4096,
    FAKE_EVENTS_MAX = 65536,
    FAKE_TURNS_MAX = 100000,
};

enum fake_connect {
    FAKE_CONNECT_OK,
    FAKE_CONNECT_FAIL,  /* the opener itself fails with connect_text */
    FAKE_CONNECT_HANG,  /* never gets anywhere */
    FAKE_CONNECT_DELAY, /* connect_ms, then connect_then */
    FAKE_CONNECT_DIE,   /* ends at the first message, saying connect_text on stderr */
};

enum fake_tool_kind {
    FAKE_TEXT,  /* answers `text` */
    FAKE_ECHO,  /* answers its arguments */
    FAKE_RAW,   /* answers the result `text`, which is JSON */
    FAKE_ERROR, /* JSON-RPC error `code`, `text` */
    FAKE_HANG,  /* never answers; see fake_held() */
    FAKE_DELAY, /* answers `text` after `ms` */
    FAKE_ASK,   /* asks `method` with `params`, answers what it was told */
    FAKE_TALK,  /* progress 1 of 2 and a log message, then `text` */
    FAKE_CRASH, /* the server dies instead of answering */
    FAKE_RUN,   /* runs `run` */
};

struct fake_server;

struct fake_tool {
    const char *name, *description, *schema; /* schema: JSON */
    enum fake_tool_kind kind;
    const char *text;
    int code;
    uint64_t ms;
    const char *method, *params;
    void (*run)(struct fake_server *f, struct fake_tool *t, struct request *r);
    size_t calls;
};

/* A resource (template: `uri` holds braces) or a prompt. */
struct fake_item {
    const char *name, *text;
};

/* A call that has no answer yet. */
struct fake_held {
    struct fake_server *f;
    struct request *r; /* NULL: over */
    struct fake_tool *tool;
    struct timer timer;
};

struct fake_server {
    struct fakes *fakes;
    const char *name;
    struct pb_server *server;
    enum pb_era era; /* PB_ERA_AUTO: what the spec says */

    enum fake_connect connect;
    const char *connect_text;
    uint64_t connect_ms;
    enum fake_connect connect_then; /* OK unless said */
    unsigned connect_fails; /* so many attempts fail with connect_text before `connect` counts */
    enum fake_connect (*custom)(struct fake_server *f); /* decides instead; may be NULL */

    struct fake_tool tools[FAKE_ITEMS_MAX];
    struct fake_item resources[FAKE_ITEMS_MAX], templates[FAKE_ITEMS_MAX], prompts[FAKE_ITEMS_MAX];
    size_t n_tools, n_resources, n_templates, n_prompts;
    bool fail_list[LIST_KINDS], hang_list[LIST_KINDS], no_logging;
    bool asks_roots;   /* after the handshake and when they have changed */
    uint64_t roots_ms; /* and how long it waits for them; 0: long */
    bool has_tasks;    /* announces the extension */
    /* Answers methods that it would not know; false: it does not either. May be NULL. */
    bool (*other)(struct fake_server *f, struct request *r);

    /* What happened. */
    size_t connects, closes, calls, cancellations, lists[LIST_KINDS];
    size_t watched, unwatched, roots_changed;
    size_t tasks_watched, tasks_unwatched;
    size_t n_roots;
    char roots[1024];       /* the newest answer to it */
    struct buf history;     /* "tool arguments\n" of every tools/call */
    char last_args[1024];   /* of the newest tools/call */
    char last_caller[128];  /* of the newest connect */
    char last_answer[1024]; /* to the newest question */

    struct list wires;
    struct buf words; /* said on stderr */
    struct fake_held *held[FAKE_HELD_MAX];
    size_t n_held;
    void *user;
};

struct fake_event {
    enum hub_event_kind kind;
    char *server;
    char *text; /* "idle>connecting", the log line, the tool's name */
    char *json;
};

struct fakes {
    struct manual_clock clock;
    struct pb_loop *loop;
    struct fake_server *servers[FAKE_SERVERS_MAX];
    size_t n;
    struct fake_server *fallback; /* of specs whose name no server has; NULL: the test fails */
    const char *open_error;       /* the opener itself fails with this; NULL: it does not */
    struct buf opened;            /* "name\n" of every spec that was opened */
    struct fake_event *events;
    size_t n_events;
};

/* ---- the loop ---- */

/* Turns until the condition holds: nothing here needs real time to pass. */
#define FAKES_UNTIL(fakes, cond)                           \
    do {                                                   \
        for (int turn_ = 0; !(cond); turn_++) {            \
            if (turn_ == FAKE_TURNS_MAX)                   \
                TAP_FAIL("it never came to this: " #cond); \
            loop_turn((fakes)->loop, false);               \
        }                                                  \
    } while (0)
/* The same where processes or sockets have to do something first. */
#define FAKES_WAIT(fakes, cond)             \
    do {                                    \
        while (!(cond))                     \
            loop_turn((fakes)->loop, true); \
    } while (0)

/* Until nothing more happens by itself. */
static inline void fakes_settle(struct fakes *s)
{
    for (int i = 0; i < 50; i++)
        loop_turn(s->loop, false);
}
