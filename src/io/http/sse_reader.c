#include "sse_reader.h"

/* What is left of this turn. It may outlive its reader, until the turn ends. */
struct sse_turn {
    struct sse_reader *reader; /* NULL: gone */
    struct pb_loop *loop;
    struct sse_share share;
    bool began, paused;
};

static const struct sse_share full_share = { SSE_EVENTS_PER_TURN, SSE_LINES_PER_TURN };

void sse_reader_init(struct sse_reader *r, struct pb_loop *l, struct http_call **call, size_t limit,
                     void (*event)(void *ctx, const struct sse_event *e), void *ctx)
{
    sse_init(&r->parser, limit, event, ctx);
    r->call = call;
    r->turn = NEW(struct sse_turn);
    *r->turn = (struct sse_turn){ .reader = r, .loop = l, .share = full_share };
}

void sse_reader_done(struct sse_reader *r)
{
    struct sse_turn *t = TAKE(r->turn);

    sse_done(&r->parser);
    if (t && t->began)
        t->reader = NULL;
    else
        free(t);
}

static void on_turn_end(void *ctx)
{
    struct sse_turn *t = ctx;
    bool paused = t->paused;

    if (!t->reader) {
        free(t);
        return;
    }
    t->began = t->paused = false;
    t->share = full_share;
    if (paused && *t->reader->call)
        http_call_resume(*t->reader->call);
}

int sse_reader_take(struct sse_reader *r, struct span bytes, size_t *taken, struct pb_error *err)
{
    struct sse_turn *t = r->turn;
    int rc;

    if (!t->began) {
        t->began = true;
        loop_defer(t->loop, on_turn_end, t);
    }
    rc = sse_feed_some(&r->parser, bytes, &t->share, taken, err);
    t->paused = *taken < bytes.n;
    return rc;
}
