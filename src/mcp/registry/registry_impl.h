/* registry_impl.h - the registry's own layout, for the files that answer with it.
 *
 * Registering may happen on any thread at any time, so the shelves are behind a lock that is held
 * for a lookup or a pointer swap. What leaves a shelf stays until the loop's next turn: what the
 * loop found there is good until it returns.
 *
 *   registry.c           what the program registered: adding, removing, finding
 *   registry_list.c      lists, page by page
 *   registry_methods.c   the methods that are answered with it
 *   item.c               one tool, resource, template or prompt, copied and checked
 *   item_write.c         an item as JSON, as a revision shows it
 *   call.c               one call: who keeps it, its end
 *   call_args.c          what a handler may ask of its call
 *   call_run.c           a handler runs, on the loop or on a worker
 *   call_events.c        progress and logs of a handler, on their way to the loop
 *   call_reply.c         what a handler answers
 *   call_outcome.c       from what a handler did to the answer
 *   ask.c                what a handler asks of the client
 *   ask_round.c          questions out and answers back, in each era
 *   tasks.c              calls that outlive their request */
#pragma once
#include "item.h"
#include "mcp/rpc/rpc.h"
#include "mcp/serve/serve.h"
#include "registry.h"
#include <pthread.h>

enum { REVISIONS_MAX = 8 };

/* The items of one list as one revision shows them, each followed by a comma: a page is a range
 * of it. Dropped whenever the list changes. */
struct shown {
    struct shown *next; /* of the dropped ones */
    struct buf text;
    size_t n;
    size_t *start; /* n + 1 offsets */
    uint64_t *seq; /* n */
};

struct shelf {
    struct map by_key;
    struct item **items; /* in order of registration */
    size_t n, cap;
    bool used; /* ever: what was announced once stays announced */
    struct shown *shown[REVISIONS_MAX];
};

struct registry {
    atomic_uint refs;
    struct pb_server *server; /* NULL once it is gone; loop thread */
    struct pb_loop *loop;
    uint8_t key[STATE_KEY_BYTES];
    struct tasks *tasks;
    struct list calls; /* in progress; loop thread */
    size_t running;    /* handlers that have not returned; loop thread */

    pthread_mutex_t lock;
    struct shelf shelves[ITEM_COUNT];
    uint64_t next_seq;
    size_t completers, task_tools; /* ever registered */
    struct item *dead;             /* left a shelf */
    struct shown *dropped;
    bool posted; /* a callback that frees them is on its way */
};

struct registry *registry_ref(struct registry *reg);
void registry_unref(struct registry *reg);

/* The item with this key, referenced, or NULL. */
struct item *registry_find(struct registry *reg, enum item_kind kind, struct span key);
/* The first template, in order of registration, that fits; its variables are appended to `args`. */
struct item *registry_match(struct registry *reg, struct span uri, struct buf *args);
/* Is this kind of thing offered at all? */
bool registry_offers(struct registry *reg, enum item_kind kind);

/* registry_list.c: the four lists. */
void list_reply(struct registry *reg, struct request *r, enum item_kind kind);
void shown_free(struct shown *s);
