#include "stream.h"
#include "io/http/http.h"
#include "mcp/serve/serve.h"
#include "missed.h"
#include <inttypes.h>
#include <stdio.h>

enum { EVENT_ID_CHARS = 8 + 1 + 16 };

#define STREAM_HEADERS                          \
    "Content-Type: text/event-stream\r\n"       \
    "Cache-Control: no-cache, no-transform\r\n" \
    "X-Accel-Buffering: no\r\n"

struct carrier_stream {
    struct list in_owner, in_set; /* in_set: attached, or finished */
    struct carrier_streams *set;
    struct http_request *http; /* NULL: detached */
    loop_fn *gone, *room;
    void *gone_ctx, *room_ctx;
    uint32_t no;
    bool ended;

    uint64_t last, seen; /* numbers of the last event, and of the last one written */
    struct recall kept;
    struct missed missed;
};

/* The next few of a round; each goes to the end of the list. */
static void beat(void *ctx)
{
    struct carrier_streams *set = ctx;
    static const struct span comment = SPAN_CONST(":\n\n");

    if (!set->beats_left)
        set->beats_left = set->n_attached;
    for (int i = 0; i < MCP_BEATS_PER_TURN && set->beats_left && set->n_attached; i++) {
        struct carrier_stream *s = CONTAINER_OF(set->attached.next, struct carrier_stream, in_set);

        set->beats_left--;
        list_remove(&s->in_set);
        list_append(&set->attached, &s->in_set);
        if (!http_full(s->http))
            http_write(s->http, &comment, 1);
    }
    if (!set->n_attached)
        set->beats_left = 0;
    else
        timer_start_weak(&set->keepalive, set->beats_left ? MCP_BEATS_REST_MS : SSE_KEEPALIVE_MS);
}

void carrier_streams_init(struct carrier_streams *set, struct pb_loop *l)
{
    *set = (struct carrier_streams){ .loop = l };
    list_init(&set->attached);
    list_init(&set->finished);
    recalls_init(&set->kept);
    timer_init(&set->keepalive, l, beat, set);
}

void carrier_streams_done(struct carrier_streams *set)
{
    timer_stop(&set->keepalive);
    seats_done(&set->seats);
}

struct carrier_stream *carrier_stream_new(struct carrier_streams *set, uint32_t no)
{
    struct carrier_stream *s = NEW(struct carrier_stream);

    s->set = set;
    s->no = no;
    list_init(&s->in_owner);
    list_init(&s->in_set);
    recall_init(&s->kept, &set->kept);
    return s;
}

static void leave_set(struct carrier_stream *s)
{
    if (s->ended && !s->http && !list_empty(&s->in_set))
        s->set->n_finished--;
    list_remove(&s->in_set);
}

void carrier_stream_free(struct carrier_stream *s)
{
    if (!s)
        return;
    carrier_stream_detach(s);
    leave_set(s);
    list_remove(&s->in_owner);
    recall_done(&s->kept);
    free(s);
}

static bool free_oldest(struct carrier_streams *set)
{
    if (!set->n_finished)
        return false;
    carrier_stream_free(CONTAINER_OF(set->finished.next, struct carrier_stream, in_set));
    return true;
}

/* For one more event of n bytes. An answer goes with its stream, when that is the oldest of those
 * that have ended and wait for clients which may never come back. */
static bool make_room(struct carrier_streams *set, size_t n)
{
    if (n > MCP_REPLAY_TOTAL_MAX)
        return false;
    while (!recalls_room(&set->kept, n))
        if (!recalls_forget(&set->kept, RANK_CHATTER) && !free_oldest(set) &&
            !recalls_forget(&set->kept, RANK_NEWS) && !recalls_forget(&set->kept, RANK_ANSWER))
            return false;
    return true;
}

static void join_finished(struct carrier_stream *s)
{
    list_append(&s->set->finished, &s->in_set);
    if (++s->set->n_finished > MCP_REPLAY_STREAMS_MAX)
        free_oldest(s->set);
}

static void lose(struct carrier_stream *s)
{
    s->http = NULL;
    list_remove(&s->in_set);
    s->set->n_attached--;
    recall_set_here(&s->kept, false);
}

static void on_gone(void *ctx)
{
    struct carrier_stream *s = ctx;

    lose(s);
    if (s->gone)
        s->gone(s->gone_ctx);
}

static void on_room(void *ctx);

void carrier_stream_attach(struct carrier_stream *s, struct http_request *r, const char *headers,
                           loop_fn *gone, void *ctx)
{
    AUTO_BUF struct buf all = { 0 };

    carrier_stream_detach(s);
    leave_set(s);
    s->http = r;
    s->gone = gone;
    s->gone_ctx = ctx;
    buf_str(&all, STREAM_HEADERS);
    if (headers)
        buf_str(&all, headers);
    http_on_gone(r, on_gone, s);
    http_on_drain(r, on_room, s);
    http_begin(r, 200, buf_cstr(&all));
    list_append(&s->set->attached, &s->in_set);
    s->set->n_attached++;
    recall_set_here(&s->kept, true);
    if (!timer_running(&s->set->keepalive))
        timer_start_weak(&s->set->keepalive, SSE_KEEPALIVE_MS);
}

bool carrier_stream_attached(const struct carrier_stream *s) { return s->http != NULL; }

void carrier_stream_detach(struct carrier_stream *s)
{
    struct http_request *r = s->http;

    if (!r)
        return;
    lose(s);
    http_end(r);
}

static void write_frame(struct carrier_stream *s, struct span frame)
{
    if (s->http)
        http_write(s->http, &frame, 1);
}

static void event_id(char out[static EVENT_ID_CHARS + 1], uint32_t stream, uint64_t event)
{
    snprintf(out, EVENT_ID_CHARS + 1, "%" PRIx32 "-%" PRIx64, stream, event);
}

static void keep(struct carrier_stream *s, enum recall_rank rank, struct span frame)
{
    if (make_room(s->set, sizeof(struct recall_event) + frame.n))
        recall_add(&s->kept, s->last, rank, frame);
    else
        recall_skip(&s->kept, s->last, rank);
}

static void send_kept(struct carrier_stream *s, enum send_kind kind, const struct span *parts,
                      size_t n)
{
    AUTO_BUF struct buf frame = { 0 };
    char id[EVENT_ID_CHARS + 1];

    event_id(id, s->no, ++s->last);
    sse_write(&frame, "message", id, parts, n);
    keep(s, recall_rank(kind), buf_span(&frame));
    if (s->http)
        s->seen = s->last;
    write_frame(s, buf_span(&frame));
}

static void send_plain(struct carrier_stream *s, const struct span *parts, size_t n)
{
    enum { DIRECT = 14 };
    struct span all[DIRECT + 2];
    AUTO_BUF struct buf frame = { 0 };

    if (n > DIRECT) {
        sse_write(&frame, "message", NULL, parts, n);
        write_frame(s, buf_span(&frame));
        return;
    }
    all[0] = SPAN("event: message\ndata: ");
    memcpy(all + 1, parts, n * sizeof *parts);
    all[n + 1] = SPAN("\n\n");
    if (s->http)
        http_write(s->http, all, n + 2);
}

/* A message is one line, as it lies or made so: many line ends between tokens would be as many
 * lines of "data:". */
static void send_message(struct carrier_stream *s, enum send_kind kind, const struct span *parts,
                         size_t n)
{
    AUTO_BUF struct buf flat = { 0 };
    struct span whole;
    size_t i = 0;

    while (i < n && !span_line_end(parts[i]))
        i++;
    if (i < n) {
        for (i = 0; i < n; i++)
            buf_add_span(&flat, parts[i]);
        buf_flatten(&flat, 0);
        whole = buf_span(&flat);
        parts = &whole;
        n = 1;
    }
    if (s->no)
        send_kept(s, kind, parts, n);
    else
        send_plain(s, parts, n);
}

static void tell_missed(struct carrier_stream *s)
{
    AUTO_BUF struct buf text = { 0 };
    struct span whole;

    missed_tell(&s->missed, &text);
    whole = buf_span(&text);
    if (whole.n)
        send_message(s, SEND_CHATTER, &whole, 1);
}

static void on_room(void *ctx)
{
    struct carrier_stream *s = ctx;

    tell_missed(s);
    if (s->room)
        s->room(s->room_ctx);
}

size_t carrier_stream_unread(const struct carrier_stream *s)
{
    return s->http ? http_unread(s->http) : 0;
}

bool carrier_stream_full(const struct carrier_stream *s) { return s->http && http_full(s->http); }

void carrier_stream_on_room(struct carrier_stream *s, loop_fn *fn, void *ctx)
{
    s->room = fn;
    s->room_ctx = ctx;
}

void carrier_stream_send(struct carrier_stream *s, enum send_kind kind, const struct span *parts,
                         size_t n)
{
    if (s->ended || missed_drop(&s->missed, kind, carrier_stream_full(s)))
        return;
    tell_missed(s); /* at the latest now: the answer ends the stream */
    send_message(s, kind, parts, n);
}

void carrier_stream_prime(struct carrier_stream *s, uint64_t retry_ms)
{
    AUTO_BUF struct buf frame = { 0 };
    char id[EVENT_ID_CHARS + 1];

    event_id(id, s->no, s->seen);
    sse_write_priming(&frame, id, retry_ms);
    write_frame(s, buf_span(&frame));
}

void carrier_stream_event(struct carrier_stream *s, const char *type, struct span data)
{
    AUTO_BUF struct buf frame = { 0 };

    sse_write(&frame, type, NULL, &data, 1);
    write_frame(s, buf_span(&frame));
}

bool carrier_stream_keeps(const struct carrier_stream *s, uint64_t after)
{
    return after <= s->last && after >= s->kept.lost;
}

void carrier_stream_replay(struct carrier_stream *s, uint64_t after)
{
    struct list *pos, *safe;

    LIST_FOREACH(pos, safe, &s->kept.events) {
        struct recall_event *e = CONTAINER_OF(pos, struct recall_event, link);

        if (e->no <= after)
            continue;
        write_frame(s, span_make(e->text, e->n));
        s->seen = e->no;
    }
}

uint64_t carrier_stream_seen(const struct carrier_stream *s) { return s->seen; }

void carrier_stream_end(struct carrier_stream *s)
{
    carrier_stream_detach(s);
    if (!s->no) {
        carrier_stream_free(s);
        return;
    }
    s->ended = true;
    join_finished(s);
}

bool carrier_stream_ended(const struct carrier_stream *s) { return s->ended; }

uint32_t carrier_stream_no(const struct carrier_stream *s) { return s->no; }

static bool read_hex(struct span s, size_t max, uint64_t *out)
{
    *out = 0;
    if (!s.n || s.n > max)
        return false;
    for (size_t i = 0; i < s.n; i++) {
        static const char digits[] = "0123456789abcdef";
        const char *d = s.p[i] ? strchr(digits, s.p[i]) : NULL;

        if (!d)
            return false;
        *out = *out << 4 | (uint64_t)(d - digits);
    }
    return true;
}

bool carrier_stream_parse_id(struct span id, uint32_t *stream, uint64_t *event)
{
    const char *dash = id.n ? memchr(id.p, '-', id.n) : NULL;
    uint64_t no;

    if (!dash || !read_hex(span_make(id.p, (size_t)(dash - id.p)), 8, &no) ||
        !read_hex(span_from(id, (size_t)(dash - id.p) + 1), 16, event))
        return false;
    *stream = (uint32_t)no;
    return true;
}

struct list *carrier_stream_link(struct carrier_stream *s) { return &s->in_owner; }

struct carrier_stream *carrier_stream_of(struct list *link)
{
    return CONTAINER_OF(link, struct carrier_stream, in_owner);
}
