/* member.c - what the hub wants of a server, and what follows from how its link fares. */
#include "hub/link/link.h"
#include "hub_impl.h"
#include "mcp/rpc/rpc.h"

/* An attempt that was waited for is not wanted any more, or is made at once. */
static void stop_waiting(void *self)
{
    struct member *m = self;

    timer_stop(&m->retry);
}

static void came_up(void *self)
{
    struct member *m = self;
    struct link_facts facts;

    if (member_is_own(m))
        return;
    link_facts(m->link, &facts);
    m->up_since = m->used_at = loop_now(m->hub->loop);
    m->cache_dirty |= m->tasks_kept != link_has_tasks(m->link);
    if (facts.era != ERA_UNKNOWN)
        m->hint = facts.era == ERA_LEGACY ? PB_ERA_LEGACY : PB_ERA_MODERN;
    hub_health_wake(m->hub);
    hub_idle_wake(m->hub);
}

#define TO(s) SM_BIT(MEMBER_##s)
/* Whatever is wanted of it, somebody may want it connected, or not, or gone. */
#define WISHES (TO(ASKED) | TO(UNWANTED) | TO(LEAVING))
/* clang-format off */
static const struct sm_state states[MEMBER_COUNT] = {
    [MEMBER_UNWANTED]    = { "unwanted",   TO(ASKED) | TO(WOKEN) | TO(LEAVING),        stop_waiting },
    [MEMBER_GIVEN_UP] = { "given up", TO(WOKEN) | WISHES,                         stop_waiting },
    [MEMBER_ASKED]    = { "asked",    TO(WOKEN) | TO(UP) | WISHES,                stop_waiting },
    [MEMBER_WOKEN]    = { "woken",    TO(WOKEN) | TO(UP) | WISHES,                NULL },
    [MEMBER_UP]       = { "up",       TO(SICK) | TO(MISSED) | TO(GIVEN_UP) | WISHES, came_up },
    [MEMBER_SICK]     = { "sick",     TO(MISSED) | TO(GIVEN_UP) | WISHES,         NULL },
    [MEMBER_MISSED]   = { "missed",   TO(MISSED) | TO(UP) | WISHES,               NULL },
    [MEMBER_LEAVING]  = { "leaving",  0,                                          stop_waiting },
};
/* clang-format on */

static bool is_any(const struct member *m, uint32_t set) { return set & SM_BIT(m->state.now); }

bool member_is(const struct member *m, enum member_state s) { return m->state.now == s; }

bool member_is_wanted(const struct member *m)
{
    return is_any(m, TO(ASKED) | TO(WOKEN) | TO(UP) | TO(SICK) | TO(MISSED));
}

bool member_was_up(const struct member *m) { return is_any(m, TO(UP) | TO(SICK) | TO(MISSED)); }

void member_state_init(struct member *m) { m->state = (struct sm){ states, MEMBER_UNWANTED }; }

void member_move(struct member *m, enum member_state to) { sm_move(&m->state, m, to); }

void member_unwant(struct member *m)
{
    if (member_is_wanted(m))
        member_move(m, MEMBER_UNWANTED);
}
