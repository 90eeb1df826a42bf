/* test_session.c - the table of sessions at its bounds, and what streams remember. */
#include "mcp/carrier/carrier.h"
#include "mcp/carrier/session.h"
#include "mcp/rpc/rpc.h"
#include "mcp/serve/serve.h"
#include "mcp/server_rig.h"

static struct rig rig;
static struct seats seats;
static struct sessions table, other; /* two paths of one listener */

static void ignore_send(void *t, struct request *r, enum send_kind kind, const struct span *p,
                        size_t n)
{
    (void)t, (void)r, (void)kind, (void)p, (void)n;
}

static void ignore_finished(void *t, struct request *r) { (void)t, (void)r; }

static const struct peer_ops silent = { .send = ignore_send, .finished = ignore_finished };

static struct session *open_at(struct sessions *t, const char *principal)
{
    struct session *s = session_new(t, NULL, principal);

    if (s)
        s->peer = peer_new(rig.server, PEER_SESSION, &silent, s);
    return s;
}

static struct session *open_session(void) { return open_at(&table, "me"); }

static void begin(void)
{
    rig_open(&rig, NULL);
    sessions_init(&table, rig.loop, &seats);
    sessions_init(&other, rig.loop, &seats);
}

static void end(void)
{
    sessions_done(&table);
    sessions_done(&other);
    seats_done(&seats);
    rig_settle(&rig);
    rig_close(&rig);
}

TEST(a_session_is_there_for_its_owner_only)
{
    struct session *s;
    char id[ID_CHARS + 1];

    begin();
    s = open_session();
    memcpy(id, s->id, sizeof id);
    CHECK(session_find(&table, span_of(id), "me") == s);
    CHECK(!session_find(&table, span_of(id), "you"));
    CHECK(!session_find(&table, span_of(id), ""));
    CHECK(!session_find(&table, span_make(id, ID_CHARS - 1), "me"));
    CHECK(!session_find(&table, SPAN(""), "me"));
    session_end(s);
    session_end(s); /* twice is once */
    CHECK(!session_find(&table, span_of(id), "me"));
    end();
}

TEST(when_the_table_is_full_the_longest_rest_makes_room)
{
    struct session *first, *second;
    char gone[ID_CHARS + 1];

    begin();
    first = open_session();
    second = open_session();
    for (int i = 2; i < MCP_SESSIONS_MAX; i++)
        CHECK(open_session());
    CHECK_INT(table.by_id.n, MCP_SESSIONS_MAX);
    CHECK(session_find(&table, span_of(first->id), "me")); /* used again: not the one */
    memcpy(gone, second->id, sizeof gone);
    CHECK(open_session());
    CHECK_INT(table.by_id.n, MCP_SESSIONS_MAX);
    CHECK(!session_find(&table, span_of(gone), "me"));
    CHECK(session_find(&table, span_of(first->id), "me"));
    end();
}

static size_t all_sessions(void) { return table.by_id.n + other.by_id.n; }

static void fill_up(void)
{
    while (all_sessions() < MCP_SESSIONS_MAX)
        CHECK(open_session());
}

TEST(the_bound_holds_for_all_paths_of_a_listener_and_who_has_most_makes_room)
{
    struct session *mine, *yours;
    char gone[ID_CHARS + 1];

    begin();
    yours = open_at(&other, "you"); /* rests longest of all, and is the only one */
    mine = open_at(&other, "me");   /* of one owner, wherever they are */
    memcpy(gone, mine->id, sizeof gone);
    fill_up();
    CHECK(open_at(&other, "you"));
    CHECK_INT(all_sessions(), MCP_SESSIONS_MAX);
    CHECK(session_find(&other, span_of(yours->id), "you") == yours);
    CHECK(!session_find(&other, span_of(gone), "me"));
    CHECK(open_at(&table, "a third"));
    CHECK_INT(all_sessions(), MCP_SESSIONS_MAX);
    CHECK(open_session());
    CHECK_INT(all_sessions(), MCP_SESSIONS_MAX);
    CHECK_INT(other.by_id.n, 2);
    end();
}

static struct pb_call *work(struct session *s)
{
    const struct span say[] = { SPAN(RIG_INITIALIZE("2025-06-18")),
                                SPAN(RIG_CALL("1", "later", "{}")) };

    for (size_t i = 0; i < ARRAY_LEN(say); i++)
        peer_receive(s->peer, message_new(blob_new(say[i])), NULL, NULL);
    CHECK_INT(peer_in_flight(s->peer), 1);
    return rig.held;
}

TEST(who_has_most_and_is_busy_locks_out_itself_and_nobody_else)
{
    enum { LOOKED_AT = 16, BUSY = 3 * LOOKED_AT };
    struct session *busy[BUSY];
    struct pb_call *calls[BUSY];

    begin();
    for (int i = 0; i < BUSY; i++) {
        busy[i] = open_session();
        calls[i] = work(busy[i]);
    }
    fill_up();
    CHECK(!open_session());
    CHECK_INT(all_sessions(), MCP_SESSIONS_MAX);
    CHECK(open_at(&other, "you"));
    CHECK(busy[2 * LOOKED_AT]->ended);
    CHECK_INT(all_sessions(), MCP_SESSIONS_MAX);
    CHECK(open_session()); /* behind them some rest */
    CHECK(open_session());
    CHECK_INT(all_sessions(), MCP_SESSIONS_MAX);
    for (int i = 0; i < BUSY; i++) {
        rig.held = calls[i];
        rig_finish(&rig, "late");
    }
    end();
}

TEST(ten_thousand_ids_have_nothing_in_common)
{
    struct map seen = { 0 };
    size_t bits[ID_CHARS * 4] = { 0 };

    begin();
    for (int i = 0; i < 10000; i++) {
        struct session *s = open_session();

        CHECK(!map_put(&seen, span_of(s->id), s));
        for (int c = 0; c < ID_CHARS; c++) {
            long digit = strtol((char[]){ s->id[c], '\0' }, NULL, 16);

            for (int b = 0; b < 4; b++)
                bits[c * 4 + b] += (size_t)(digit >> b & 1);
        }
    }
    /* Each of the 128 bits is set in half of them: 5000, with a deviation of 50. */
    for (size_t i = 0; i < ARRAY_LEN(bits); i++)
        CHECK(bits[i] > 4600 && bits[i] < 5400);
    map_done(&seen);
    end();
}

TEST(idle_sessions_end_in_the_order_of_their_rest)
{
    struct session *a, *b;

    begin();
    a = open_session();
    loop_advance(rig.loop, 1000);
    b = open_session();
    loop_advance(rig.loop, MCP_SESSION_IDLE_MS - 1001);
    CHECK_INT(table.by_id.n, 2);
    loop_advance(rig.loop, 1);
    CHECK_INT(table.by_id.n, 1);
    CHECK(session_find(&table, span_of(b->id), "me") == b);
    loop_advance(rig.loop, MCP_SESSION_IDLE_MS);
    CHECK_INT(table.by_id.n, 0);
    (void)a;
    end();
}

TEST(many_that_end_at_once_do_so_a_few_each_turn)
{
    enum { MANY = 2 * MCP_SESSIONS_PER_TURN + 1 };

    begin();
    for (int i = 0; i < MANY; i++)
        open_session();
    loop_advance(rig.loop, MCP_SESSION_IDLE_MS);
    CHECK_INT(table.by_id.n, MANY - MCP_SESSIONS_PER_TURN);
    loop_advance(rig.loop, 1);
    CHECK_INT(table.by_id.n, MANY - 2 * MCP_SESSIONS_PER_TURN);
    loop_advance(rig.loop, 1);
    CHECK_INT(table.by_id.n, 0);
    end();
}

/* ---- streams ------------------------------------------------------------------------------ */

static struct carrier_streams set;

static void send_kind(struct carrier_stream *s, enum send_kind kind, size_t n)
{
    AUTO_FREE char *text = mem_alloc(n);
    struct span part = span_make(text, n);

    memset(text, 'x', n);
    carrier_stream_send(s, kind, &part, 1);
}

static void send_bytes(struct carrier_stream *s, size_t n) { send_kind(s, SEND_NOTIFICATION, n); }

TEST(a_stream_remembers_so_many_events_and_no_more)
{
    struct carrier_stream *s;

    begin();
    carrier_streams_init(&set, rig.loop);
    s = carrier_stream_new(&set, 1);
    CHECK(carrier_stream_keeps(s, 0));
    CHECK(!carrier_stream_keeps(s, 1));
    for (int i = 0; i < MCP_REPLAY_EVENTS_MAX; i++)
        send_bytes(s, 10);
    CHECK(carrier_stream_keeps(s, 0));
    send_bytes(s, 10);
    CHECK(!carrier_stream_keeps(s, 0));
    CHECK(carrier_stream_keeps(s, 1));
    CHECK(carrier_stream_keeps(s, MCP_REPLAY_EVENTS_MAX + 1));
    CHECK(!carrier_stream_keeps(s, MCP_REPLAY_EVENTS_MAX + 2));
    carrier_stream_free(s);
    CHECK_INT(set.kept.bytes, 0);
    carrier_streams_done(&set);
    end();
}

TEST(a_stream_remembers_so_many_bytes_and_the_last_event_in_any_case)
{
    struct carrier_stream *s;

    begin();
    carrier_streams_init(&set, rig.loop);
    s = carrier_stream_new(&set, 1);
    send_bytes(s, MCP_REPLAY_BYTES_MAX / 2);
    CHECK(carrier_stream_keeps(s, 0));
    send_bytes(s, MCP_REPLAY_BYTES_MAX / 2);
    CHECK(!carrier_stream_keeps(s, 0));
    CHECK(carrier_stream_keeps(s, 1));
    send_bytes(s, 4 * MCP_REPLAY_BYTES_MAX); /* one large message must be fetchable */
    CHECK(!carrier_stream_keeps(s, 1));
    CHECK(carrier_stream_keeps(s, 2));
    carrier_stream_free(s);
    carrier_streams_done(&set);
    end();
}

TEST(progress_is_forgotten_before_anything_else_and_leaves_no_gap_that_matters)
{
    struct carrier_stream *s;

    begin();
    carrier_streams_init(&set, rig.loop);
    s = carrier_stream_new(&set, 1);
    send_bytes(s, 10); /* event 1: a question, say */
    for (int i = 0; i < 2 * MCP_REPLAY_EVENTS_MAX; i++)
        send_kind(s, i % 2 ? SEND_CHATTER : SEND_MURMUR, 10);
    CHECK(carrier_stream_keeps(s, 0));
    for (int i = 0; i < MCP_REPLAY_EVENTS_MAX - 1; i++)
        send_bytes(s, 10);
    CHECK(carrier_stream_keeps(s, 0)); /* all progress is gone by now */
    send_kind(s, SEND_RESPONSE, 10);
    send_kind(s, SEND_RESPONSE, 2 * MCP_REPLAY_BYTES_MAX);
    CHECK(carrier_stream_keeps(s, 0)); /* answers take nobody's place */
    send_bytes(s, 10);
    CHECK(!carrier_stream_keeps(s, 0));
    CHECK(carrier_stream_keeps(s, 1));
    carrier_stream_free(s);
    CHECK_INT(set.kept.bytes, 0);
    carrier_streams_done(&set);
    end();
}

/* 200 sessions whose client is gone, and a server that logs on. */
TEST(what_is_kept_for_all_streams_is_bounded_and_answers_outlive_logs)
{
    enum { STREAMS = 200, LINES = 60, LINE = 14000 };
    struct carrier_stream *all[STREAMS];

    begin();
    carrier_streams_init(&set, rig.loop);
    for (uint32_t i = 0; i < STREAMS; i++)
        all[i] = carrier_stream_new(&set, i + 1);
    for (int line = 0; line < LINES; line++)
        for (int i = 0; i < STREAMS; i++) {
            if (line == LINES / 2)
                send_kind(all[i], SEND_RESPONSE, 1000);
            send_kind(all[i], SEND_CHATTER, LINE);
            CHECK(set.kept.bytes <= MCP_REPLAY_TOTAL_MAX);
        }
    for (int i = 0; i < STREAMS; i++)
        CHECK(carrier_stream_keeps(all[i], 0));
    /* What cannot be forgotten without a gap goes when there is nothing else. */
    for (int n = 0; n < 100; n++)
        for (int i = 0; i < STREAMS; i++) {
            send_bytes(all[i], LINE);
            CHECK(set.kept.bytes <= MCP_REPLAY_TOTAL_MAX);
        }
    CHECK(!carrier_stream_keeps(all[0], 0));
    for (int n = 0; n < 2; n++)
        for (int i = 0; i < STREAMS; i++) {
            send_kind(all[i], SEND_RESPONSE, MCP_REPLAY_TOTAL_MAX / 20);
            CHECK(set.kept.bytes <= MCP_REPLAY_TOTAL_MAX);
        }
    send_kind(all[0], SEND_RESPONSE, MCP_REPLAY_TOTAL_MAX + 1);
    CHECK(set.kept.bytes > 0 && set.kept.bytes <= MCP_REPLAY_TOTAL_MAX);
    for (int i = 0; i < STREAMS; i++)
        carrier_stream_free(all[i]);
    CHECK_INT(set.kept.bytes, 0);
    carrier_streams_done(&set);
    end();
}

TEST(streams_that_ended_are_kept_while_there_is_room)
{
    struct list owner = LIST_INIT(owner);
    size_t kept = 0;

    begin();
    carrier_streams_init(&set, rig.loop);
    for (uint32_t i = 1; i <= MCP_REPLAY_STREAMS_MAX + 1; i++) {
        struct carrier_stream *s = carrier_stream_new(&set, i);

        list_append(&owner, carrier_stream_link(s));
        send_bytes(s, 100);
        carrier_stream_end(s);
        CHECK(carrier_stream_ended(s));
    }
    for (struct list *l = owner.next; l != &owner; l = l->next)
        kept++;
    CHECK_INT(kept, MCP_REPLAY_STREAMS_MAX);
    CHECK_INT(carrier_stream_no(carrier_stream_of(owner.next)), 2); /* the oldest went */
    while (!list_empty(&owner))
        carrier_stream_free(carrier_stream_of(owner.next));
    CHECK_INT(set.n_finished, 0);
    CHECK_INT(set.kept.bytes, 0);
    carrier_streams_done(&set);
    end();
}

TEST(ended_streams_make_room_when_all_together_are_too_large)
{
    struct list owner = LIST_INIT(owner);
    size_t each = MCP_REPLAY_BYTES_MAX - 1000, n = MCP_REPLAY_TOTAL_MAX / MCP_REPLAY_BYTES_MAX;

    begin();
    carrier_streams_init(&set, rig.loop);
    for (uint32_t i = 1; i <= n + 3; i++) {
        struct carrier_stream *s = carrier_stream_new(&set, i);

        list_append(&owner, carrier_stream_link(s));
        send_kind(s, SEND_RESPONSE, each);
        carrier_stream_end(s);
        CHECK(set.kept.bytes <= MCP_REPLAY_TOTAL_MAX);
    }
    CHECK(set.n_finished >= n - 1 && set.n_finished <= n + 1);
    while (!list_empty(&owner))
        carrier_stream_free(carrier_stream_of(owner.next));
    carrier_streams_done(&set);
    end();
}

TEST(event_ids_are_read_as_they_were_written)
{
    static const struct {
        const char *id;
        bool ok;
        uint32_t stream;
        uint64_t event;
    } cases[] = {
        { "1-0", true, 1, 0 },
        { "ffffffff-ffffffffffffffff", true, UINT32_MAX, UINT64_MAX },
        { "1ffffffff-0", false, 0, 0 },
        { "1-10000000000000000", false, 0, 0 },
        { "A-1", false, 0, 0 },
        { "1-1 ", false, 0, 0 },
        { "1", false, 0, 0 },
        { "-", false, 0, 0 },
        { "", false, 0, 0 },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        uint32_t stream = 0;
        uint64_t event = 0;

        if (carrier_stream_parse_id(span_of(cases[i].id), &stream, &event) != cases[i].ok)
            TAP_FAIL("'%s'", cases[i].id);
        if (cases[i].ok)
            CHECK(stream == cases[i].stream && event == cases[i].event);
    }
}
