/* sm.h - a checked state variable. A table says which moves exist. sm_move() is for moves that
 * our own code promises: a wrong one aborts. sm_try() is for moves that the world asks for: a
 * wrong one changes nothing. */
#pragma once
#include "macros.h"
#include <assert.h>
#include <stdbool.h>

#define SM_BIT(s) (UINT32_C(1) << (s))

struct sm_state {
    const char *name;
    uint32_t to;               /* SM_BIT()s of the states reachable from here */
    void (*enter)(void *self); /* runs after the move; may be NULL */
};

struct sm {
    const struct sm_state *table;
    unsigned now;
};

static inline bool sm_try(struct sm *m, void *self, unsigned next)
{
    if (!(m->table[m->now].to & SM_BIT(next)))
        return false;
    m->now = next;
    if (m->table[next].enter)
        m->table[next].enter(self);
    return true;
}

static inline void sm_move(struct sm *m, void *self, unsigned next)
{
    bool moved = sm_try(m, self, next);

    assert(moved && "transition not in the table");
    (void)moved;
}

static inline const char *sm_name(const struct sm *m) { return m->table[m->now].name; }
