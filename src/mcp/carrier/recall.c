#include "recall.h"
#include "mcp/serve/serve.h"

enum recall_rank recall_rank(enum send_kind kind)
{
    if (kind == SEND_RESPONSE)
        return RANK_ANSWER;
    return send_may_drop(kind) ? RANK_CHATTER : RANK_NEWS;
}

static size_t weight(const struct recall_event *e) { return sizeof *e + e->n; }

static void hold(struct recall *r, enum recall_rank rank)
{
    list_remove(&r->ranks[rank].held);
    if (!list_empty(&r->ranks[rank].events))
        list_append(&r->all->holders[rank][r->here], &r->ranks[rank].held);
}

/* The oldest of the rank. */
static bool forget(struct recall *r, enum recall_rank rank)
{
    struct list *first = r->ranks[rank].events.next;
    struct recall_event *e = CONTAINER_OF(first, struct recall_event, in_rank);

    if (list_empty(&r->ranks[rank].events))
        return false;
    list_remove(&e->link);
    list_remove(&e->in_rank);
    if (list_empty(&r->ranks[rank].events))
        list_remove(&r->ranks[rank].held);
    if (rank != RANK_ANSWER) {
        r->n--;
        r->bytes -= weight(e);
    }
    r->all->bytes -= weight(e);
    recall_skip(r, e->no, rank);
    free(e);
    return true;
}

void recalls_init(struct recalls *all)
{
    all->bytes = 0;
    for (int i = 0; i < RANK_COUNT; i++) {
        list_init(&all->holders[i][0]);
        list_init(&all->holders[i][1]);
    }
}

bool recalls_forget(struct recalls *all, enum recall_rank rank)
{
    for (int here = 0; here < 2; here++) {
        struct list *first = all->holders[rank][here].next;

        if (!list_empty(&all->holders[rank][here]))
            return forget(CONTAINER_OF(first, struct recall, ranks[rank].held), rank);
    }
    return false;
}

bool recalls_room(const struct recalls *all, size_t n)
{
    return n <= MCP_REPLAY_TOTAL_MAX && all->bytes <= MCP_REPLAY_TOTAL_MAX - n;
}

void recall_init(struct recall *r, struct recalls *all)
{
    *r = (struct recall){ .all = all };
    list_init(&r->events);
    for (int i = 0; i < RANK_COUNT; i++) {
        list_init(&r->ranks[i].events);
        list_init(&r->ranks[i].held);
    }
}

void recall_done(struct recall *r)
{
    for (int i = 0; i < RANK_COUNT; i++)
        while (forget(r, (enum recall_rank)i))
            continue;
}

void recall_set_here(struct recall *r, bool here)
{
    r->here = here;
    for (int i = 0; i < RANK_COUNT; i++)
        hold(r, (enum recall_rank)i);
}

void recall_add(struct recall *r, uint64_t no, enum recall_rank rank, struct span frame)
{
    struct recall_event *e = mem_alloc(sizeof *e + frame.n);
    bool first = list_empty(&r->ranks[rank].events);

    e->no = no;
    e->n = frame.n;
    memcpy(e->text, frame.p, frame.n);
    list_append(&r->events, &e->link);
    list_append(&r->ranks[rank].events, &e->in_rank);
    if (first)
        hold(r, rank);
    r->all->bytes += weight(e);
    if (rank == RANK_ANSWER)
        return;
    r->n++;
    r->bytes += weight(e);
    while (r->n > MCP_REPLAY_EVENTS_MAX || (r->n > 1 && r->bytes > MCP_REPLAY_BYTES_MAX))
        if (!forget(r, RANK_CHATTER))
            forget(r, RANK_NEWS);
}

void recall_skip(struct recall *r, uint64_t no, enum recall_rank rank)
{
    if (rank != RANK_CHATTER && no > r->lost)
        r->lost = no;
}
