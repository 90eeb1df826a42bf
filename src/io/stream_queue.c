/* stream_queue.c - bytes waiting to be written, in chunks that never move: the front is dropped
 * without copying, and a worker may write from it while the back grows. */
#include "stream_impl.h"

enum { CHUNK_MIN = 16384 };

static struct chunk *room_for(struct stream_queue *q, size_t n)
{
    struct chunk *c = q->tail;

    if (c && c->cap - c->n >= n)
        return c;
    if (c && c->cap - c->n > 0 && c->cap - c->n >= CHUNK_MIN / 4)
        return c;
    c = mem_alloc(sizeof *c + (n > CHUNK_MIN ? n : CHUNK_MIN));
    *c = (struct chunk){ .cap = n > CHUNK_MIN ? n : CHUNK_MIN };
    if (q->tail)
        q->tail->next = c;
    else
        q->head = c;
    q->tail = c;
    return c;
}

/* There is room. */
static void add_to(struct chunk *c, const struct span *parts, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!parts[i].n)
            continue;
        memcpy(c->bytes + c->n, parts[i].p, parts[i].n);
        c->n += parts[i].n;
    }
}

void queue_add(struct stream_queue *q, const struct span *parts, size_t n, size_t skip)
{
    size_t left = 0;

    for (size_t i = 0; i < n; i++)
        left += parts[i].n;
    left -= skip;
    q->bytes += left;
    if (!skip && q->tail &&
        q->tail->cap - q->tail->n >= left) { /* mostly: a line of a few hundred bytes */
        add_to(q->tail, parts, n);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        struct span part = parts[i];
        size_t cut = skip < part.n ? skip : part.n;

        skip -= cut;
        part = span_from(part, cut);
        while (part.n) {
            struct chunk *c = room_for(q, left);
            size_t fit = c->cap - c->n < part.n ? c->cap - c->n : part.n;

            memcpy(c->bytes + c->n, part.p, fit);
            c->n += fit;
            left -= fit;
            part = span_from(part, fit);
        }
    }
}

int queue_peek(const struct stream_queue *q, struct iovec *iov)
{
    int n = 0;

    for (struct chunk *c = q->head; c && n < QUEUE_IOV; c = c->next)
        iov[n++] = (struct iovec){ c->bytes + c->off, c->n - c->off };
    return n;
}

void queue_drop(struct stream_queue *q, size_t n)
{
    q->bytes -= n;
    while (n && q->head) {
        struct chunk *c = q->head;
        size_t cut = c->n - c->off < n ? c->n - c->off : n;

        c->off += cut;
        n -= cut;
        if (c->off < c->n)
            continue;
        q->head = c->next;
        if (!q->head)
            q->tail = NULL;
        free(c);
    }
}

void queue_clear(struct stream_queue *q) { queue_drop(q, q->bytes); }
