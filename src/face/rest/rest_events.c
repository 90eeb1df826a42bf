/* rest_events.c - GET /api/events: everything that happens, as it happens.
 *
 * Each event is written once, into a ring that all streams read from, each at its own place. So a
 * stream costs what its connection costs, an event what it takes to write it, and a client that
 * comes back with Last-Event-ID goes on where it was. What one missed for good, since it came back
 * too late or reads more slowly than things happen, is told by the event "reset" when it comes
 * around: it must look at everything anew.
 *
 * Telling goes in rounds, a few readers at a turn, with pauses between: a thousand pages that are
 * left open must not make a call slow. The more they are, the later they hear, and the more at
 * once.
 */
#include "hub/link/link.h"
#include "hub/view/view.h"
#include "io/http/http.h"
#include "rest_impl.h"
#include <stdio.h>

enum { PARTS = 64, RETRY_MS = 1000, ID_MAX = 64, BOOT_CHARS = 8 };

/* Kinds beside those of the hub. OWN: about the stream itself, such as that a reader has missed
 * something and must read everything again. It goes to every reader, also to one that asked for
 * some kinds only. */
enum { OWN = -1, TOAST = EVENT_KINDS, QUESTION, QUESTION_OVER, KINDS };
_Static_assert(KINDS <= 32, "a reader's choice is a bit for each");
static const char *const more_names[] = { "toast", "question", "question_over" };

static const char *kind_name(int kind)
{
    return kind >= TOAST ? more_names[kind - TOAST] : hub_event_name((enum hub_event_kind)kind);
}

/* One that has happened. */
struct happening {
    struct blob *text; /* as it goes out */
    int kind;          /* enum hub_event_kind, or one of those above */
    char *server;      /* NULL: of none */
};

struct event_reader {
    struct list at;
    struct rest_events *events;
    struct http_request *r;
    uint64_t next;   /* the event that it gets next */
    char *principal; /* who it is */
    char *server;    /* NULL: of all */
    unsigned kinds;  /* which it wants, bits; OWN always */
    unsigned beats;  /* that it was told, or that were before it came */
};

struct rest_events {
    struct pb_loop *loop;
    struct list readers;
    size_t n_readers;
    struct happening ring[REST_EVENTS_MAX];
    uint64_t first, end; /* numbers of those in the ring; end is the next one's */
    uint64_t told;       /* the round began with these ... */
    size_t untold;       /* ... and so many bytes came since */
    size_t left;         /* readers that the round has yet to reach: the first of the list */
    unsigned beats;      /* so far; each reader is told in a round that it lives */
    size_t bytes;
    char boot[BOOT_CHARS + 1]; /* numbers of another run mean nothing in this one */
    struct timer beat, forget, rest;
    bool recording; /* somebody listens, or did a while ago: else it is not worth the while */
    bool telling;   /* a round goes on, or is about to */
    bool beat_due;  /* the next round has to be, whatever happens */
    bool deferred, freed;
};

/* ---- readers ---- */

static void reader_free(struct event_reader *rd)
{
    list_remove(&rd->at);
    rd->events->n_readers--;
    if (!rd->events->n_readers) {
        rd->events->left = 0; /* there is nobody to be told in this round */
        timer_stop(&rd->events->beat);
        timer_start_weak(&rd->events->forget, REST_EVENTS_KEEP_MS);
    }
    free(rd->principal);
    free(rd->server);
    free(rd);
}

static void on_gone(void *ctx) { reader_free(ctx); }

static void reader_end(struct event_reader *rd)
{
    struct http_request *r = rd->r;

    reader_free(rd);
    http_end(r);
}

static bool wants(const struct event_reader *rd, const struct happening *h)
{
    if (h->kind != OWN && !(rd->kinds & 1U << h->kind))
        return false;
    return !rd->server || (h->server && strcmp(rd->server, h->server) == 0);
}

/* The place from which it goes on; `lost`: what was before it is not known. */
static void greet(struct event_reader *rd, bool lost)
{
    AUTO_BUF struct buf text = { 0 };
    struct span data = SPAN("{\"type\":\"reset\"}"), whole;
    char id[ID_MAX];

    snprintf(id, sizeof id, "%s-%llu", rd->events->boot, (unsigned long long)rd->next - 1);
    sse_write_priming(&text, id, RETRY_MS);
    if (lost)
        sse_write(&text, "reset", id, &data, 1);
    whole = buf_span(&text);
    http_write(rd->r, &whole, 1);
}

/* Tells proxies and clients that it is still there. */
static void beat(struct event_reader *rd)
{
    const struct span text = SPAN(": \n\n");

    if (rd->beats == rd->events->beats || http_full(rd->r))
        return;
    rd->beats = rd->events->beats;
    http_write(rd->r, &text, 1);
}

/* Writes what it has not got, as far as there is room. The ring may have passed it. */
static void feed(struct event_reader *rd)
{
    struct rest_events *e = rd->events;

    if (rd->next < e->first && !http_full(rd->r)) {
        rd->next = e->end;
        greet(rd, true);
    }
    while (rd->next < e->end && !http_full(rd->r)) {
        struct span parts[PARTS];
        size_t n = 0;

        for (; rd->next < e->end && n < PARTS; rd->next++) {
            const struct happening *h = &e->ring[rd->next % REST_EVENTS_MAX];

            if (wants(rd, h))
                parts[n++] = blob_span(h->text);
        }
        if (n && !http_write(rd->r, parts, n))
            return; /* its end comes by itself */
    }
}

static void on_drain(void *ctx) { feed(ctx); }

/* ---- the ring ---- */

static void drop_first(struct rest_events *e)
{
    struct happening *h = &e->ring[e->first++ % REST_EVENTS_MAX];

    e->bytes -= h->text->n;
    blob_unref(h->text);
    free(h->server);
    *h = (struct happening){ 0 };
}

/* Who has been told goes to the end of the list. One that leaves meanwhile makes the round reach
 * another twice, which is nothing to it. */
static void tell_some(struct rest_events *e, size_t n)
{
    for (; n && e->left && !list_empty(&e->readers); n--) {
        struct event_reader *rd = CONTAINER_OF(e->readers.next, struct event_reader, at);

        e->left--; /* before it is told, which may be its end */
        list_remove(&rd->at);
        list_append(&e->readers, &rd->at);
        feed(rd);
        beat(rd);
    }
}

static void begin_round(struct rest_events *e)
{
    e->told = e->end;
    e->untold = 0;
    e->beat_due = false;
    e->left = e->n_readers;
}

static void go_on(void *ctx);

static void end_of_turn(void *ctx)
{
    struct rest_events *e = ctx;

    e->deferred = false;
    if (e->freed)
        free(e);
    else
        go_on(e);
}

static void go_on_later(struct rest_events *e)
{
    e->deferred = true;
    loop_defer(e->loop, end_of_turn, e);
}

static void begin_telling(struct rest_events *e)
{
    if (!e->n_readers || e->telling)
        return;
    e->telling = true;
    go_on_later(e);
}

static void go_on(void *ctx)
{
    struct rest_events *e = ctx;

    if (!e->left && e->told == e->end && !e->beat_due) {
        e->telling = false;
        return;
    }
    if (!e->left)
        begin_round(e);
    tell_some(e, REST_READERS_PER_TURN);
    if (e->n_readers > REST_READERS_PER_TURN)
        timer_start_weak(&e->rest, REST_READERS_REST_MS);
    else
        go_on_later(e);
}

static void add(struct rest_events *e, int kind, const char *type, const char *server,
                struct span data)
{
    AUTO_BUF struct buf text = { 0 };
    char id[ID_MAX];

    snprintf(id, sizeof id, "%s-%llu", e->boot, (unsigned long long)e->end);
    sse_write(&text, type, id, &data, 1);
    /* Much at once must not pass those who could have been told; many of them it may: to tell all
     * would take as long as they are many. */
    e->untold += text.n;
    if (e->n_readers <= REST_READERS_PER_TURN &&
        (e->end - e->told >= REST_EVENTS_MAX / 2 || e->untold >= REST_EVENTS_BYTES_MAX / 2)) {
        begin_round(e);
        tell_some(e, REST_READERS_PER_TURN);
    }
    while (e->end - e->first == REST_EVENTS_MAX ||
           (e->end > e->first && e->bytes + text.n > REST_EVENTS_BYTES_MAX))
        drop_first(e);
    e->bytes += text.n;
    e->ring[e->end++ % REST_EVENTS_MAX] =
        (struct happening){ blob_take_buf(&text), kind, mem_dup_opt(server) };
    begin_telling(e);
}

void rest_events_hub(struct rest_events *e, const struct hub_event *event)
{
    AUTO_BUF struct buf data = { 0 };

    if (!e->recording)
        return;
    hub_event_write(&data, event);
    add(e, (int)event->kind, hub_event_name(event->kind), event->server, buf_span(&data));
}

void rest_events_tell(struct rest_events *e, const char *type)
{
    AUTO_BUF struct buf data = { 0 };
    struct json_out o = json_out(&data);

    if (!e->recording)
        return;
    json_begin_object(&o, NULL);
    json_put_str(&o, "type", type);
    json_put_seconds(&o, "at", loop_wall(e->loop));
    json_end(&o);
    add(e, OWN, type, NULL, buf_span(&data));
}

/* S1-127..129 */
void rest_events_toast(struct rest_events *e, const struct hub_event *event)
{
    static const char *const levels[] = {
        [TOAST_SUCCESS] = "success",
        [TOAST_WARNING] = "warning",
        [TOAST_ERROR] = "error",
    };
    AUTO_BUF struct buf data = { 0 }, text = { 0 };
    struct json_out o = json_out(&data);
    struct toast toast;

    if (!e->recording || event->kind != EVENT_STATE ||
        !view_toast(event, event->spec->display_name, &text, &toast))
        return;
    json_begin_object(&o, NULL);
    json_put_str(&o, "type", kind_name(TOAST));
    json_put_str(&o, "server", event->server);
    json_put_seconds(&o, "at", event->at);
    json_put_span(&o, "text", buf_span(&text));
    json_put_str(&o, "level", levels[toast.level]);
    json_put_bool(&o, "spinner", toast.spinner);
    json_put_bool(&o, "dismisses", toast.dismisses_itself);
    json_end(&o);
    add(e, TOAST, kind_name(TOAST), event->server, buf_span(&data));
}

void rest_events_question(struct rest_events *e, const struct question *q, bool over)
{
    AUTO_BUF struct buf data = { 0 };
    struct json_out o = json_out(&data);
    int kind = over ? QUESTION_OVER : QUESTION;

    if (!e->recording)
        return;
    json_begin_object(&o, NULL);
    json_put_str(&o, "type", kind_name(kind));
    json_put_str(&o, "server", q->server);
    json_put_seconds(&o, "at", loop_wall(e->loop));
    if (over)
        json_put_str(&o, "id", q->id);
    else
        question_write(&o, "question", q);
    json_end(&o);
    add(e, kind, kind_name(kind), q->server, buf_span(&data));
}

size_t rest_events_streams(const struct rest_events *e) { return e->n_readers; }

/* ---- life ---- */

static void on_beat(void *ctx)
{
    struct rest_events *e = ctx;

    e->beats++;
    e->beat_due = true;
    begin_telling(e);
    timer_start_weak(&e->beat, SSE_KEEPALIVE_MS);
}

/* Nobody came back. Who still does has missed something: its number is older than the first. */
static void on_forget(void *ctx)
{
    struct rest_events *e = ctx;

    while (e->first < e->end)
        drop_first(e);
    e->first = e->told = ++e->end;
    e->recording = false;
}

struct rest_events *rest_events_new(struct rest *s)
{
    struct rest_events *e = NEW(struct rest_events);
    char id[ID_CHARS + 1];

    id_new(id);
    memcpy(e->boot, id, BOOT_CHARS);
    e->loop = s->loop;
    e->first = e->end = e->told = 1;
    list_init(&e->readers);
    timer_init(&e->beat, s->loop, on_beat, e);
    timer_init(&e->forget, s->loop, on_forget, e);
    timer_init(&e->rest, s->loop, go_on, e);
    return e;
}

void rest_events_end(struct rest_events *e, bool (*stays)(void *ctx, const char *principal),
                     void *ctx)
{
    struct list *pos, *safe;

    LIST_FOREACH(pos, safe, &e->readers) {
        struct event_reader *rd = CONTAINER_OF(pos, struct event_reader, at);

        if (!stays || !stays(ctx, rd->principal))
            reader_end(rd);
    }
}

void rest_events_free(struct rest_events *e)
{
    rest_events_end(e, NULL, NULL);
    timer_stop(&e->forget);
    timer_stop(&e->rest);
    while (e->first < e->end)
        drop_first(e);
    e->freed = true;
    if (!e->deferred)
        free(e);
}

/* ---- the route ---- */

/* "serverLog,serverStateChanged". False: answered. */
static bool read_kinds(struct rest_call *c, unsigned *out)
{
    struct span rest = span_of(rest_text(c, "types"));

    *out = rest.n ? 0 : ~0U;
    while (rest.n) {
        const char *comma = memchr(rest.p, ',', rest.n);
        size_t n = comma ? (size_t)(comma - rest.p) : rest.n;
        int kind = 0;

        while (kind < KINDS && !span_is(span_make(rest.p, n), kind_name(kind)))
            kind++;
        if (kind == KINDS) {
            rest_refuse(c->r, "types: '%.*s' is no event",
                        n < MCP_NAME_SHOWN_MAX ? (int)n : MCP_NAME_SHOWN_MAX, rest.p);
            return false;
        }
        *out |= 1U << kind;
        rest = span_from(rest, comma ? n + 1 : n);
    }
    return true;
}

/* Where a client goes on that got the event with this id last. False: that cannot be told any more.
 */
static bool resume_at(const struct rest_events *e, struct span id, uint64_t *next)
{
    char text[ID_MAX];
    char *end;
    uint64_t no;

    if (id.n >= sizeof text || id.n <= BOOT_CHARS + 1 || memcmp(id.p, e->boot, BOOT_CHARS) != 0)
        return false;
    memcpy(text, id.p, id.n);
    text[id.n] = '\0';
    no = strtoull(text + BOOT_CHARS + 1, &end, 10);
    if (*end || no + 1 < e->first || no >= e->end)
        return false;
    *next = no + 1;
    return true;
}

static const char stream_headers[] =
    "Content-Type: text/event-stream\r\nCache-Control: no-store\r\n"
    "X-Accel-Buffering: no\r\nX-Content-Type-Options: nosniff\r\n";

static void begin(struct rest_call *c, unsigned kinds)
{
    struct rest_events *e = c->rest->events;
    struct span last = http_header(c->r, "Last-Event-ID", NULL);
    struct event_reader *rd = NEW(struct event_reader);
    bool lost = false;

    *rd = (struct event_reader){ .events = e,
                                 .r = c->r,
                                 .next = e->end,
                                 .principal = mem_dup(c->principal),
                                 .server = mem_dup_opt(rest_text(c, "server")),
                                 .kinds = kinds,
                                 .beats = e->beats };
    if (last.n)
        lost = !resume_at(e, last, &rd->next);
    list_append(&e->readers, &rd->at);
    if (e->n_readers++ == 0)
        timer_start_weak(&e->beat, SSE_KEEPALIVE_MS);
    timer_stop(&e->forget);
    e->recording = true;
    http_on_gone(c->r, on_gone, rd);
    http_begin(c->r, 200, stream_headers);
    http_on_drain(c->r, on_drain, rd);
    greet(rd, lost);
    feed(rd);
}

void rest_events(struct rest_call *c)
{
    unsigned kinds;

    if (!read_kinds(c, &kinds))
        return;
    if (span_is(http_method(c->r), "HEAD"))
        http_reply(c->r, 200, stream_headers, NULL, 0);
    else if (c->rest->events->n_readers >= REST_STREAMS_MAX)
        rest_fail(c->r, &(struct rest_failure){ 503, "too_many_streams",
                                                .message = "Too many clients listen already" });
    else
        begin(c, kinds);
}
