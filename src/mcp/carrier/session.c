#include "session.h"
#include "mcp/serve/serve.h"

static void arm(struct sessions *t)
{
    const struct session *oldest = CONTAINER_OF(t->by_use.next, struct session, by_use);
    uint64_t now = loop_now(t->loop), due;

    if (list_empty(&t->by_use) || timer_running(&t->expiry))
        return;
    due = oldest->used_at + MCP_SESSION_IDLE_MS;
    timer_start_weak(&t->expiry, due > now ? due - now : 1); /* late: others had their turn first */
}

static void touch(struct session *s)
{
    s->used_at = loop_now(s->table->loop);
    list_remove(&s->by_use);
    list_append(&s->table->by_use, &s->by_use);
    seat_touch(&s->seat);
}

static bool is_resting(const struct session *s)
{
    struct list *pos, *safe;

    if (peer_in_flight(s->peer))
        return false;
    LIST_FOREACH(pos, safe, &s->streams)
        if (carrier_stream_attached(carrier_stream_of(pos)))
            return false;
    return true;
}

static void expire(void *ctx)
{
    struct sessions *t = ctx;
    uint64_t now = loop_now(t->loop);

    for (int i = 0; i < MCP_SESSIONS_PER_TURN && !list_empty(&t->by_use); i++) {
        struct session *s = CONTAINER_OF(t->by_use.next, struct session, by_use);

        if (s->used_at + MCP_SESSION_IDLE_MS > now)
            break;
        if (is_resting(s))
            session_end(s);
        else
            touch(s);
    }
    arm(t);
}

void sessions_init(struct sessions *t, struct pb_loop *l, struct seats *seats)
{
    *t = (struct sessions){ .loop = l, .seats = seats };
    list_init(&t->by_use);
    timer_init(&t->expiry, l, expire, t);
}

void sessions_done(struct sessions *t)
{
    while (!list_empty(&t->by_use))
        session_end(CONTAINER_OF(t->by_use.next, struct session, by_use));
    timer_stop(&t->expiry);
    map_done(&t->by_id);
}

static struct session *session_of(const struct seat *seat)
{
    return CONTAINER_OF(seat, struct session, seat);
}

static bool seat_rests(const struct seat *seat) { return is_resting(session_of(seat)); }

static void seat_end(struct seat *seat) { session_end(session_of(seat)); }

struct session *session_new(struct sessions *t, void *endpoint, const char *principal)
{
    static const struct seat_ops ops = { seat_rests, seat_end };
    struct session *s = NEW(struct session);

    if (!seat_take(&s->seat, t->seats, principal, &ops)) {
        free(s);
        return NULL;
    }
    s->table = t;
    s->endpoint = endpoint;
    s->principal = principal;
    list_init(&s->by_use);
    list_init(&s->streams);
    id_new(s->id);
    map_put(&t->by_id, span_of(s->id), s);
    touch(s);
    arm(t);
    return s;
}

struct session *session_find(struct sessions *t, struct span id, const char *principal)
{
    struct session *s = id.n == ID_CHARS ? map_get(&t->by_id, id) : NULL;

    if (!s || strcmp(s->principal, principal) != 0)
        return NULL;
    touch(s);
    return s;
}

void session_end(struct session *s)
{
    if (s->ended)
        return;
    s->ended = true;
    map_del(&s->table->by_id, span_of(s->id));
    list_remove(&s->by_use);
    seat_leave(&s->seat);
    s->own = NULL;
    if (s->peer)
        peer_close(s->peer);
    while (!list_empty(&s->streams))
        carrier_stream_free(carrier_stream_of(s->streams.next));
    loop_free_later(s->table->loop, s, free);
}

struct carrier_stream *session_stream(const struct session *s, uint32_t no)
{
    struct list *pos, *safe;

    LIST_FOREACH(pos, safe, &s->streams)
        if (carrier_stream_no(carrier_stream_of(pos)) == no)
            return carrier_stream_of(pos);
    return NULL;
}
