/* pins.h - what was approved of the tools, prompts and instructions of servers, and what has
 * changed since. What is seen for the first time is approved; from then on it is held against that,
 * whenever its server says it (hub_vet). What differs is held back, or only told, as the setting
 * says:
 *
 *     auto   held back if it changed while its server ran, or if no person wrote the server into
 * the config (spec_is_foreign()); otherwise told hold   always held back warn   always told only
 *     off    not looked at
 *
 * What was once held back stays so until it is approved or is again what was approved, whatever is
 * restarted. Approvals are kept in a lock (lock.h). Loop thread. */
#pragma once
#include "diff.h"
#include "lock.h"
#include "store/store.h"

struct gate;
struct pins;

enum definition_changes { CHANGES_AUTO, CHANGES_HOLD, CHANGES_WARN, CHANGES_OFF };
enum definition_changes definition_changes_of(const char *word); /* of the settings' words */

enum pin_state { PIN_APPROVED, PIN_HELD, PIN_CHANGED };
const char *pin_state_name(enum pin_state s); /* "approved", "held", "changed" */

struct pins_options {
    const char *path;                /* of the lock; NULL: nothing is kept */
    const struct lock *lock;         /* what it says; borrowed */
    const struct pb_error *lock_err; /* why it cannot be read; NULL: it was */
    enum definition_changes changes;
};

void pins_tune(struct pins *p, enum definition_changes changes);
/* The lock may have changed. */
void pins_reread(struct pins *p);

/* Which of them. */
struct pin_choice {
    const char *server;  /* NULL: of all */
    int kind;            /* enum vet_kind; -1: of every */
    struct span name;    /* p NULL: each */
    const char *cid;     /* only if it is this now; NULL: whatever it is. With a name */
    const char *version; /* only if all that has changed of the server is this; NULL: whatever */
};
/* Lets in what differs, all that is chosen or nothing. -PB_E_NOT_FOUND there is no such thing,
 * -PB_E_INVALID it is not `cid` or `version` (any more), or its server has not said it since the
 * program runs.
 * *done: how many were let in. */
MUST_CHECK int pins_approve(struct pins *p, const struct pin_choice *c, size_t n, size_t *done,
                            struct pb_error *err);
/* Forgets what this server (NULL: each) does not list any more. */
void pins_prune(struct pins *p, const char *server);
/* fn once, when all until now is in the lock, or cannot be: then err says why. At once when there
 * is nothing to do. */
typedef void pins_synced_fn(void *ctx, const struct pb_error *err);
void pins_sync(struct pins *p, pins_synced_fn *fn, void *ctx);

/* p NULL: there are none. The members of an object: "pins", those that are not approved first, each
 * of these with its "diff" or why it has none, "diff_missing": its server has not said it since the
 * program runs ("unsaid"), or there is too much of it all ("room"): then it has one when it is
 * asked for by its name alone. And how many there are of each state; "version", of what has changed
 * of all these; "lock", and what is wrong with it. */
void pins_put(struct pins *p, struct json_out *o, const struct pin_choice *c);
