/* recall.h - what is kept of streams for clients that come back.
 *
 * Each event has a rank: when room is needed, what tells of how things go is forgotten first, then
 * other news, and answers last. A client that comes back after progress and logs were forgotten
 * gets what is left; one that would miss more than that is refused. All streams of one listener
 * share a sum (MCP_REPLAY_TOTAL_MAX), which whoever adds keeps: recalls_room(). */
#pragma once
#include "io/io.h"
#include "mcp/serve/serve.h"

enum recall_rank { RANK_CHATTER, RANK_NEWS, RANK_ANSWER, RANK_COUNT };

/* Of all streams together: who has events of which rank; [1] those with a client. */
struct recalls {
    struct list holders[RANK_COUNT][2];
    size_t bytes;
};

struct recall_event {
    struct list link, in_rank;
    uint64_t no;
    size_t n;
    char text[]; /* as it was written */
};

struct recall {
    struct recalls *all;
    bool here; /* its client is */
    struct list events;
    struct {
        struct list events, held; /* held: in recalls.holders, while there are any */
    } ranks[RANK_COUNT];
    size_t n, bytes; /* answers are not counted: they are few, and bounded by the sum */
    uint64_t lost;   /* the newest that was forgotten and is no chatter */
};

enum recall_rank recall_rank(enum send_kind kind);

void recalls_init(struct recalls *all);
/* Forgets one event of this rank, of clients that are away first. False: there is none. */
bool recalls_forget(struct recalls *all, enum recall_rank rank);
/* Is there room for an event of n bytes? */
bool recalls_room(const struct recalls *all, size_t n);

void recall_init(struct recall *r, struct recalls *all);
void recall_done(struct recall *r);
void recall_set_here(struct recall *r, bool here);
/* Copies the event, and forgets others of this stream if there are too many. */
void recall_add(struct recall *r, uint64_t no, enum recall_rank rank, struct span frame);
/* It could not be kept. */
void recall_skip(struct recall *r, uint64_t no, enum recall_rank rank);
