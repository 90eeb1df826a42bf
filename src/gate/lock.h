/* lock.h - patchbay.lock: what was approved of the definitions of servers. Readable JSON, sorted,
 * one member on a line, made to be kept with the config it stands beside:
 *
 *     {
 *       "patchbay_lock": 1,
 *       "servers": {
 *         "NAME": {
 *           "instructions": { "approved_at": "2026-01-31T12:00:00Z", "cid": "…" },
 *           "prompts": { "PROMPT": { … } },
 *           "tools": { "TOOL": { …, "held": "…" } }
 *         }
 *       }
 *     }
 *
 * A cid is lower-case hex of SHA-512. "held": one that differs from what was approved and waits for
 * a person, so that the end of a program does not let it in. Reading and writing files is blocking:
 * not on the loop. */
#pragma once
#include "hub/hub/hub.h"

struct lock_pin {
    const char *server;
    enum vet_kind kind;
    struct span name; /* of instructions "" */
    uint8_t approved[SHA512_BYTES];
    int64_t approved_at; /* wall clock ms, whole seconds */
    bool held;
    uint8_t held_back[SHA512_BYTES];
    /* In a change: */
    bool first; /* it counts only if nothing was approved there */
    bool gone;  /* it is taken out */
};

/* Sorted by server, kind and name. */
struct lock {
    struct arena arena;
    struct lock_pin *v;
    size_t n;
};
void lock_done(struct lock *l);
#define AUTO_LOCK __attribute__((cleanup(lock_done)))

/* What a file says; one that is not there says nothing. `out` is empty before, and on failure
 * afterwards. Errors name the file and what to do: -PB_E_INVALID what is wrong in it and where, or
 * that it is of a newer Patchbay; -PB_E_LIMIT past PINS_MAX. */
MUST_CHECK int lock_read(struct lock *out, const char *path, struct pb_error *err);
/* Puts changes into what the file says now; several programs may do so at once. What cannot be read
 * is not written over, nor is a file that nobody may write. */
MUST_CHECK int lock_change(const char *path, const struct lock_pin *changes, size_t n,
                           struct pb_error *err);

void lock_cid(const uint8_t digest[static SHA512_BYTES], char out[static 2 * SHA512_BYTES + 1]);
