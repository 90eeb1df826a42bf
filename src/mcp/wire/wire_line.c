#include "wire_line.h"

/* Cancellations and answers are small and let the server go on: they pass for longer. But one that
 * asks and asks and does not read is not answered any more. */
bool wire_queue_full(size_t queued, const struct wire_out *m)
{
    size_t most = MCP_CLIENT_QUEUE_BYTES + (m->request ? 0 : STREAM_QUEUE_HIGH);

    return queued && queued + m->text.n > most;
}

int wire_write_line(struct stream *to, struct span text, struct pb_error *err)
{
    AUTO_BUF struct buf flat = { 0 };
    struct span parts[] = { text, SPAN("\n") };

    if (span_line_end(text)) {
        buf_add_span(&flat, text);
        buf_flatten(&flat, 0);
        parts[0] = buf_span(&flat);
    }
    return stream_write(to, parts, ARRAY_LEN(parts), err);
}

/* ---- reading ---- */

static void resume(void *ctx)
{
    struct line_in *in = ctx;

    in->resuming = false;
    if (in->gone) {
        in->gone(in->gone_ctx);
        return;
    }
    if (in->shut || in->held)
        return;
    in->in_turn = 0;
    lines_resume(&in->lines);
    if (in->shut || in->held || lines_stopped(&in->lines))
        return;
    if (in->ended)
        in->drained(in->wire);
    else
        stream_read(in->from, true);
}

static void resume_later(struct line_in *in)
{
    if (in->resuming)
        return;
    in->resuming = true;
    if (!in->ended)
        stream_read(in->from, false);
    loop_defer(in->wire->loop, resume, in);
}

static bool go_on(struct line_in *in)
{
    if (in->shut || in->held)
        return false;
    if (++in->in_turn < LOOP_LINES_PER_TURN)
        return true;
    resume_later(in);
    return false;
}

static bool on_line(void *ctx, struct span line)
{
    struct line_in *in = ctx;
    AUTO(blob) struct blob *bytes = NULL;

    if (in->shut)
        return false;
    bytes = lines_keep(&in->lines, line);
    in->wire->events->message(in->wire->ctx, bytes, 0, 0);
    return go_on(in);
}

static bool on_oversize(void *ctx, struct span head, uint64_t total)
{
    struct line_in *in = ctx;

    if (in->shut)
        return false;
    in->wire->events->oversize(in->wire->ctx, head, total);
    return go_on(in);
}

void line_in_init(struct line_in *in, struct wire *w, void (*drained)(struct wire *w))
{
    static const struct lines_events events = { on_line, on_oversize };

    *in = (struct line_in){ .wire = w, .drained = drained };
    lines_init(&in->lines, w->opts->max_message_bytes, &events, in);
}

void line_in_feed(struct line_in *in, struct span bytes)
{
    if (in->shut)
        return;
    in->in_turn = 0;
    lines_feed(&in->lines, bytes);
}

char *line_in_room(struct line_in *in, size_t *n)
{
    return in->shut ? NULL : lines_room(&in->lines, n);
}

void line_in_hold(struct line_in *in, bool on)
{
    if (in->held == on || in->shut || in->ended)
        return;
    in->held = on;
    if (on)
        stream_read(in->from, false);
    else
        resume_later(in);
}

void line_in_end(struct line_in *in)
{
    if (in->shut || in->ended)
        return;
    in->ended = true;
    if (in->held)
        resume_later(in);
    in->held = false; /* what is left is no more than was read */
    if (!in->resuming)
        in->drained(in->wire);
}

void line_in_done(struct line_in *in, loop_fn *fn, void *ctx)
{
    lines_done(&in->lines);
    in->shut = true;
    in->gone = fn;
    in->gone_ctx = ctx;
    if (!in->resuming)
        fn(ctx);
}
