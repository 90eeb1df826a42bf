#include "lines.h"

static struct span first_of(struct span s, size_t n) { return span_make(s.p, s.n < n ? s.n : n); }

void lines_init(struct lines *l, size_t limit, const struct lines_events *events, void *ctx)
{
    *l = (struct lines){ .limit = limit, .events = events, .ctx = ctx };
}

void lines_done(struct lines *l)
{
    buf_done(&l->held);
    l->start = 0;
    l->skipping = 0;
    l->stopped = l->done = true;
}

/* Puts back a buffer that was taken out while handlers ran, unless they ended us. What a long
 * line needed goes back to the allocator: an idle peer costs little. */
static void put_back(struct lines *l, struct buf *b)
{
    buf_shrink(b, STREAM_READ_BYTES);
    if (l->done || l->held.p)
        buf_done(b);
    else
        l->held = *b;
}

static void hand_on(struct lines *l, struct span line)
{
    line = span_trim(line);
    if (line.n && !l->events->line(l->ctx, line))
        l->stopped = true;
}

/* A line that is all that `b` holds. */
static void hand_on_own(struct lines *l, struct buf *b)
{
    l->own = b;
    hand_on(l, buf_span(b));
    l->own = NULL;
    b->n = 0;
}

struct blob *lines_keep(struct lines *l, struct span line)
{
    struct buf *b = l->own;

    /* A short one is copied: the buffer serves the next line. */
    if (!b || b->cap <= STREAM_READ_BYTES || line.p != b->p)
        return blob_new(line);
    l->own = NULL;
    b->n = line.n;
    return blob_take_buf(b);
}

char *lines_room(struct lines *l, size_t *n)
{
    size_t left = l->limit - l->held.n;

    if (l->done || l->ended || l->stopped || l->skipping || l->held.n < STREAM_READ_BYTES)
        return NULL;
    *n = left < STREAM_READ_MAX ? left : STREAM_READ_MAX;
    return buf_reserve(&l->held, *n);
}

/* Was it read to where lines_room() said? */
static bool is_in_place(const struct lines *l, struct span chunk)
{
    return l->held.p && chunk.p == l->held.p + l->held.n;
}

static void hand_on_oversize(struct lines *l, struct span head, uint64_t total)
{
    if (l->events->oversize && !l->events->oversize(l->ctx, head, total))
        l->stopped = true;
}

static void skip(struct lines *l, struct span more)
{
    l->skipping += more.n;
    buf_add_span(&l->held, first_of(more, REQUEST_ID_PEEK - l->held.n));
}

/* The line in `held` has become too long, `more` included: from here on it is only counted. */
static void begin_skipping(struct lines *l, struct span more)
{
    l->skipping = l->held.n;
    if (l->held.n > REQUEST_ID_PEEK)
        l->held.n = REQUEST_ID_PEEK;
    skip(l, more);
    if (l->held.cap > STREAM_READ_BYTES) {
        l->held.p = mem_resize(l->held.p, REQUEST_ID_PEEK);
        l->held.cap = REQUEST_ID_PEEK;
    }
}

static void end_skipping(struct lines *l)
{
    struct buf head = l->held;
    uint64_t total = l->skipping;

    l->held = (struct buf){ 0 };
    l->skipping = 0;
    hand_on_oversize(l, buf_span(&head), total);
    head.n = 0;
    put_back(l, &head);
}

/* Finishes the line that `held` or `skipping` began; returns how much of the chunk that took. */
static size_t finish_line(struct lines *l, struct span chunk)
{
    const char *nl = memchr(chunk.p, '\n', chunk.n);
    struct span more = nl ? span_make(chunk.p, (size_t)(nl - chunk.p)) : chunk;
    struct buf b;

    if (l->skipping)
        skip(l, more);
    else if (l->held.n + more.n >= l->limit)
        begin_skipping(l, more);
    else if (is_in_place(l, chunk))
        l->held.n += more.n;
    else
        buf_add_span(&l->held, more);
    if (!nl)
        return chunk.n;
    if (l->skipping) {
        l->skipping++;
        end_skipping(l);
    } else {
        b = l->held;
        l->held = (struct buf){ 0 };
        hand_on_own(l, &b);
        put_back(l, &b);
    }
    return more.n + 1;
}

/* Hands on the complete lines at the start of `text` until a handler stops us; returns their
 * size. */
static size_t whole_lines(struct lines *l, struct span text)
{
    size_t at = 0;

    while (!l->stopped && at < text.n) {
        struct span rest = span_from(text, at);
        const char *nl = memchr(rest.p, '\n', rest.n);
        size_t size;

        if (!nl)
            break;
        size = (size_t)(nl - rest.p) + 1;
        at += size;
        if (size > l->limit)
            hand_on_oversize(l, first_of(span_make(rest.p, size - 1), REQUEST_ID_PEEK), size);
        else
            hand_on(l, span_make(rest.p, size - 1));
    }
    return at;
}

/* `rest` is an unfinished line, or whatever came after a stop. */
static void hold(struct lines *l, struct span rest)
{
    if (l->done || !rest.n)
        return;
    if (!l->stopped && rest.n >= l->limit)
        begin_skipping(l, rest);
    else
        buf_add_span(&l->held, rest);
}

/* What follows the long line goes out of its buffer, which the line may take along. */
static void feed_in_place(struct lines *l, struct span chunk)
{
    const char *nl = memchr(chunk.p, '\n', chunk.n);
    AUTO_BUF struct buf after = { 0 };

    if (!nl && l->held.n + chunk.n < l->limit) {
        l->held.n += chunk.n;
        return;
    }
    if (nl) {
        buf_add_span(&after, span_from(chunk, (size_t)(nl - chunk.p) + 1));
        chunk.n -= after.n;
    }
    finish_line(l, chunk);
    if (after.n)
        lines_feed(l, buf_span(&after));
}

void lines_feed(struct lines *l, struct span chunk)
{
    if (l->done || l->ended)
        return;
    if (chunk.n && !l->stopped && is_in_place(l, chunk)) {
        feed_in_place(l, chunk);
        return;
    }
    if (!l->stopped && chunk.n && (l->held.n || l->skipping))
        chunk = span_from(chunk, finish_line(l, chunk));
    if (!l->stopped)
        chunk = span_from(chunk, whole_lines(l, chunk));
    hold(l, chunk);
}

static void hand_on_last(struct lines *l)
{
    struct buf b;

    if (l->skipping) {
        end_skipping(l);
        return;
    }
    b = l->held;
    l->held = (struct buf){ 0 };
    hand_on_own(l, &b);
    buf_done(&b);
}

void lines_resume(struct lines *l)
{
    struct buf b;
    size_t at;

    if (l->done || !l->stopped)
        return;
    l->stopped = false;
    b = l->held;
    at = l->start;
    l->held = (struct buf){ 0 };
    l->start = 0;
    at += whole_lines(l, span_from(buf_span(&b), at));
    if (l->done) {
        buf_done(&b);
        return;
    }
    if (l->stopped && at < b.n) {
        l->held = b; /* not moved to the front: stopping often must not copy often */
        l->start = at;
        return;
    }
    buf_consume(&b, at);
    put_back(l, &b);
    if (!l->stopped && l->held.n >= l->limit)
        begin_skipping(l, span_make(NULL, 0));
    if (!l->stopped && l->ended)
        hand_on_last(l);
}

bool lines_stopped(const struct lines *l) { return l->stopped; }

void lines_end(struct lines *l)
{
    if (l->done || l->ended)
        return;
    l->ended = true;
    if (!l->stopped)
        hand_on_last(l);
}
