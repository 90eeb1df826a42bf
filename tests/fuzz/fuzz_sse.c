/* An event stream whole and cut at random gives the same events; and an event that is written
 * again reads as it was. The first two bytes choose the cuts. */
#include "io/http/http.h"
#include "io/http/sse.h"
#include <assert.h>
#include <stdint.h>

enum { LIMIT = 3000 };

struct seen {
    struct buf log;
    bool again; /* write each event and read that, too */
};

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static void compare(void *ctx, const struct sse_event *e)
{
    const struct sse_event **want = ctx;

    assert(*want && span_eq(e->data, (*want)->data) && span_eq(e->type, (*want)->type));
    *want = NULL;
}

/* Types and ids are ours to choose when we write, and never hold a NUL. */
static void write_again(const struct sse_event *e)
{
    AUTO_BUF struct buf text = { 0 };
    AUTO_FREE char *type = mem_dupn(e->type.p, e->type.n);
    struct span parts[2] = { { e->data.p, e->data.n / 2 },
                             { e->data.p + e->data.n / 2, e->data.n - e->data.n / 2 } };
    struct sse_share all = { SIZE_MAX, SIZE_MAX };
    struct sse_parser p;
    size_t used;

    if (!e->data.n || strlen(type) != e->type.n)
        return;
    sse_write(&text, type, NULL, parts, 2);
    sse_init(&p, LIMIT, compare, &e);
    assert(sse_feed_some(&p, buf_span(&text), &all, &used, NULL) == 0);
    assert(!e);
    sse_done(&p);
}

static void on_event(void *ctx, const struct sse_event *e)
{
    struct seen *s = ctx;

    assert(e->data.n <= LIMIT && e->id.n <= SSE_FIELD_ID_MAX && e->type.n <= SSE_FIELD_ID_MAX);
    assert(!e->data.n || !memchr(e->data.p, '\r', e->data.n));
    buf_printf(&s->log, "%zu %zu %zu %d ", e->type.n, e->data.n, e->id.n, e->has_id);
    buf_add_span(&s->log, e->type);
    buf_add_span(&s->log, e->data);
    buf_add_span(&s->log, e->id);
    if (s->again)
        write_again(e);
}

static void read_all(struct span in, uint32_t seed, struct seen *s)
{
    struct sse_parser p;
    int rc = 0;

    sse_init(&p, LIMIT, on_event, s);
    while (in.n && rc == 0) {
        size_t n = in.n, used;
        struct sse_share share = { SIZE_MAX, SIZE_MAX };
        char *copy;

        if (seed)
            share = (struct sse_share){ 1 + next_random(&seed) % 4, 1 + next_random(&seed) % 9 };
        if (seed)
            n = 1 + next_random(&seed) % (next_random(&seed) % 4 ? 7 : 300);
        n = n < in.n ? n : in.n;
        copy = mem_dupn(in.p, n); /* so that reads past the cut are seen */
        rc = sse_feed_some(&p, span_make(copy, n), &share, &used, NULL);
        free(copy);
        assert(used <= n && (used == n || !share.events || !share.lines));
        in = span_from(in, used);
        assert(p.data.n <= LIMIT + 1 && p.line.n <= SSE_FIELD_ID_MAX + 16);
    }
    buf_printf(&s->log, "%d %llu", rc, (unsigned long long)p.retry_ms);
    sse_done(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct seen whole = { .again = true }, cut = { 0 };
    struct span in;

    if (n < 2)
        return 0;
    in = span_make((const char *)data + 2, n - 2);
    read_all(in, 0, &whole);
    read_all(in, 1u + data[0] + 256u * data[1], &cut);
    assert(span_eq(buf_span(&whole.log), buf_span(&cut.log)));
    buf_done(&whole.log);
    buf_done(&cut.log);
    return 0;
}
