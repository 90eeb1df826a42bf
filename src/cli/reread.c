#include "reread.h"

/*   idle --> reads --> is stale
 *     ^         |          |
 *     +---------+----------+  */
enum {
    REREAD_IDLE,
    REREAD_READS,
    REREAD_IS_STALE, /* reads, but something has changed since it began */
};

/* clang-format off */
#define TO(s) SM_BIT(REREAD_##s)
static const struct sm_state states[] = {
    [REREAD_IDLE]    = { "idle",     TO(READS),                NULL },
    [REREAD_READS]    = { "reads",    TO(IS_STALE) | TO(IDLE), NULL },
    [REREAD_IS_STALE] = { "is stale", TO(IS_STALE) | TO(IDLE), NULL },
};
#undef TO
/* clang-format on */

void reread_init(struct reread *r, struct pb_loop *loop, loop_fn *read, loop_fn *taken, void *ctx)
{
    *r = (struct reread){ { states, REREAD_IDLE }, loop, read, taken, ctx };
}

int reread_start(struct reread *r, struct pb_error *err)
{
    int rc = 0;

    if (reread_runs(r))
        sm_move(&r->state, r, REREAD_IS_STALE);
    else if ((rc = loop_work(r->loop, r->read, r->taken, r->ctx, err)) == 0)
        sm_move(&r->state, r, REREAD_READS);
    return rc;
}

bool reread_runs(const struct reread *r) { return r->state.now != REREAD_IDLE; }

bool reread_over(struct reread *r)
{
    bool stale = r->state.now == REREAD_IS_STALE;

    sm_move(&r->state, r, REREAD_IDLE);
    return stale;
}
