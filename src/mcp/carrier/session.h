/* session.h - the legacy sessions of one HTTP endpoint, by id.
 *
 * A session is a peer with a name that its client repeats. Ids are 128 random bits. A session
 * belongs to whoever opened it: for anybody else it does not exist. One that nobody uses for
 * MCP_SESSION_IDLE_MS ends; how many there may be is a matter of the whole listener: seats.h.
 * An idle session is this struct, its peer and an entry of a table; streams are made when needed.
 */
#pragma once
#include "mcp/serve/serve.h"
#include "stream.h"

struct sessions {
    struct pb_loop *loop;
    struct seats *seats; /* of the listener */
    struct map by_id;
    struct list by_use; /* the one that rested longest first */
    struct timer expiry;
};

struct session {
    struct list by_use;
    struct seat seat;
    struct sessions *table;
    void *endpoint;
    struct peer *peer;
    const char *principal;
    uint64_t used_at;
    struct list streams;        /* those that can be resumed */
    struct carrier_stream *own; /* for what belongs to no request; NULL before the first GET */
    uint32_t n_streams;         /* ever made */
    bool ended;
    char id[ID_CHARS + 1];
};

/* `seats` must outlive it. */
void sessions_init(struct sessions *t, struct pb_loop *l, struct seats *seats);
/* Ends all of them. */
void sessions_done(struct sessions *t);

/* NULL when there is no room. The caller gives it a peer at once. `principal` stays the caller's.
 */
struct session *session_new(struct sessions *t, void *endpoint, const char *principal);
/* And counts as a use. NULL: there is none, or it is not this principal's. */
struct session *session_find(struct sessions *t, struct span id, const char *principal);
/* Its requests are cancelled, its streams end; freed at the end of the turn. */
void session_end(struct session *s);
/* A stream of this session by its number; NULL when it is not kept. */
struct carrier_stream *session_stream(const struct session *s, uint32_t no);
