#include "words.h"

static void finish(struct words *w, words_fn *fn, void *ctx)
{
    struct buf *slot = &w->kept[w->count++ % CHILD_STDERR_KEEP];

    if (w->line.n && w->line.p[w->line.n - 1] == '\r')
        w->line.n--;
    slot->n = 0;
    buf_add_span(slot, buf_span(&w->line));
    w->line.n = 0;
    w->cut = false;
    fn(ctx, buf_span(slot));
}

size_t words_feed(struct words *w, struct span all, size_t max_lines, words_fn *fn, void *ctx)
{
    struct span bytes = all;

    while (bytes.n && max_lines) {
        const char *nl = memchr(bytes.p, '\n', bytes.n);
        size_t n = nl ? (size_t)(nl - bytes.p) : bytes.n;
        size_t fit = CHILD_STDERR_LINE_MAX - w->line.n;

        if (!w->cut) {
            buf_add(&w->line, bytes.p, n < fit ? n : fit);
            w->cut = n > fit;
        }
        if (nl) {
            finish(w, fn, ctx);
            max_lines--;
        }
        bytes = span_from(bytes, nl ? n + 1 : n);
    }
    return all.n - bytes.n;
}

void words_end(struct words *w, words_fn *fn, void *ctx)
{
    if (w->line.n)
        finish(w, fn, ctx);
}

void words_join(const struct words *w, struct buf *out)
{
    size_t n = w->count < CHILD_STDERR_KEEP ? w->count : CHILD_STDERR_KEEP;

    for (size_t i = w->count - n; i < w->count; i++) {
        if (i > w->count - n)
            buf_byte(out, '\n');
        buf_add_span(out, buf_span(&w->kept[i % CHILD_STDERR_KEEP]));
    }
}

void words_done(struct words *w)
{
    for (size_t i = 0; i < CHILD_STDERR_KEEP; i++)
        buf_done(&w->kept[i]);
    buf_done(&w->line);
}
