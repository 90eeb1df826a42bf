/* link_claim.c - for whom the server may be working: who has calls in flight, and who had some that
 * were given up without an answer. A server that was told to drop a call may go on and ask about it
 * all the same. */
#include "link_impl.h"

/* A call that was given up. */
struct ghost {
    struct claim claim;
    uint64_t wire_id; /* under which its answer may still come; 0: not known */
    uint64_t until;   /* loop time */
    char caller[];
};

static struct claim *claim_of(const struct list *pos)
{
    return CONTAINER_OF((struct list *)(uintptr_t)pos, struct claim, at);
}

static struct ghost *ghost_of(struct list *pos)
{
    return CONTAINER_OF(claim_of(pos), struct ghost, claim);
}

/* ---- callers that stand in line ---- */

void crowd_init(struct crowd *w) { list_init(&w->claims); }

static size_t differ(const struct crowd *w, const struct list *a, const struct list *b)
{
    return a != &w->claims && b != &w->claims &&
           strcmp(claim_of(a)->caller, claim_of(b)->caller) != 0;
}

void crowd_add(struct crowd *w, struct claim *c, const char *caller)
{
    c->caller = caller;
    list_append(&w->claims, &c->at);
    w->changes += differ(w, c->at.prev, &c->at);
    w->n++;
}

void crowd_remove(struct crowd *w, struct claim *c)
{
    const struct list *before = c->at.prev, *after = c->at.next;

    w->changes -= differ(w, before, &c->at) + differ(w, &c->at, after);
    list_remove(&c->at);
    w->changes += differ(w, before, after);
    w->n--;
}

bool crowd_is_only(const struct crowd *w, const char *caller)
{
    return !w->n || (!w->changes && strcmp(claim_of(w->claims.next)->caller, caller) == 0);
}

/* ---- calls that were given up ---- */

static void ghost_free(struct channel *ch, struct ghost *g)
{
    crowd_remove(&ch->ghosts, &g->claim);
    free(g);
}

static void drop_old(struct channel *ch)
{
    while (ch->ghosts.n && ghost_of(ch->ghosts.claims.next)->until <= loop_now(ch->l->loop))
        ghost_free(ch, ghost_of(ch->ghosts.claims.next));
}

/* As long as the call could have lived on. They are kept in the order in which they end: one that
 * came later does not end before others. */
static uint64_t until(const struct link_call *c)
{
    const struct channel *ch = c->ch;
    uint64_t ms = c->limit_ms > LINK_GHOST_MS ? c->limit_ms : LINK_GHOST_MS,
             end = loop_now(c->l->loop) + ms,
             last = ch->ghosts.n ? ghost_of(ch->ghosts.claims.prev)->until : 0;

    return end > last ? end : last;
}

void claims_haunt(const struct link_call *c)
{
    struct channel *ch = c->ch;
    size_t n = strlen(c->spec.caller) + 1;
    struct ghost *g;

    /* An instance works for one caller, and a modern server asks in its answers only. */
    if (ch->caller || !ch->legacy || ch->leaving)
        return;
    drop_old(ch);
    g = mem_alloc(sizeof *g + n);
    g->wire_id = c->owed;
    g->until = until(c);
    memcpy(g->caller, c->spec.caller, n);
    if (ch->ghosts.n == LINK_GHOSTS_MAX) {
        struct ghost *oldest = ghost_of(ch->ghosts.claims.next);

        ch->doubt_until = oldest->until; /* who it was is forgotten, not that there was somebody */
        ghost_free(ch, oldest);
    }
    crowd_add(&ch->ghosts, &g->claim, g->caller);
}

void claims_answered(struct channel *ch, uint64_t wire_id)
{
    struct list *pos, *safe;

    LIST_FOREACH(pos, safe, &ch->ghosts.claims)
        if (ghost_of(pos)->wire_id == wire_id) {
            ghost_free(ch, ghost_of(pos));
            return;
        }
}

void claims_clear(struct channel *ch)
{
    while (ch->ghosts.n)
        ghost_free(ch, ghost_of(ch->ghosts.claims.next));
    ch->doubt_until = 0;
}

/* ---- whose it is ---- */

/* The newest one; those that are on their way out are not asked any more. */
static struct link_call *newest(const struct channel *ch)
{
    const struct list *head = &ch->working.claims;

    for (const struct list *pos = head->prev; pos != head; pos = pos->prev) {
        struct link_call *c = CONTAINER_OF(claim_of(pos), struct link_call, claim);

        if (!c->cancelling)
            return c;
    }
    return NULL;
}

enum whose claims_whose(struct channel *ch, struct link_call **out)
{
    *out = NULL;
    drop_old(ch);
    if (!ch->working.n && !ch->ghosts.n && ch->doubt_until <= loop_now(ch->l->loop))
        return OF_NOBODY;
    if (ch->working.changes || ch->ghosts.changes || ch->doubt_until > loop_now(ch->l->loop))
        return OF_MANY;
    if (ch->working.n && ch->ghosts.n &&
        !crowd_is_only(&ch->working, claim_of(ch->ghosts.claims.next)->caller))
        return OF_MANY;
    *out = newest(ch);
    return *out ? OF_ONE : OF_GONE;
}
