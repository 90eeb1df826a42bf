/* fuzz_lines.c - the line reader against a plain model of its contract. The first bytes choose the
 * limit, how the input is cut, and which handler calls stop. */
#include "io/io.h"
#include <stdint.h>

enum { HEADER = 4, LIMIT_MAX = 2048 };

struct seen {
    struct lines lines;
    struct buf text;
    unsigned stops, calls;
};

static void note_line(struct buf *b, struct span line)
{
    buf_byte(b, 'L');
    buf_add(b, &line.n, sizeof line.n);
    buf_add_span(b, line);
}

static void note_oversize(struct buf *b, struct span head, uint64_t total)
{
    buf_byte(b, 'O');
    buf_add(b, &total, sizeof total);
    buf_add_span(b, head);
}

static bool may_go_on(struct seen *s) { return !(s->stops >> (s->calls++ % 8) & 1); }

static bool on_line(void *ctx, struct span line)
{
    note_line(&((struct seen *)ctx)->text, line);
    return may_go_on(ctx);
}

static bool on_oversize(void *ctx, struct span head, uint64_t total)
{
    note_oversize(&((struct seen *)ctx)->text, head, total);
    return may_go_on(ctx);
}

static const struct lines_events events = { on_line, on_oversize };

static void model(struct buf *out, struct span text, size_t limit)
{
    while (text.n) {
        const char *nl = memchr(text.p, '\n', text.n);
        size_t n = nl ? (size_t)(nl - text.p) : text.n, size = n + (nl != NULL);
        struct span line = { text.p, n };

        if (n >= limit)
            note_oversize(out, span_make(text.p, n < REQUEST_ID_PEEK ? n : REQUEST_ID_PEEK), size);
        else if (span_trim(line).n)
            note_line(out, span_trim(line));
        text = span_from(text, size);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    AUTO_BUF struct buf want = { 0 };
    struct seen s = { 0 };
    struct span text;
    size_t limit, step, at = 0;
    bool lazy;

    if (n < HEADER)
        return 0;
    limit = 1 + (size_t)(data[0] | data[1] << 8) % LIMIT_MAX;
    step = 1 + data[2];
    s.stops = data[3];
    lazy = data[2] & 1; /* feed on while stopped */
    text = span_make((const char *)data + HEADER, n - HEADER);
    model(&want, text, limit);
    lines_init(&s.lines, limit, &events, &s);
    while (at < text.n) {
        size_t size = 1 + (at * 31 + 7) % step;

        size = size < text.n - at ? size : text.n - at;
        lines_feed(&s.lines, span_make(text.p + at, size));
        at += size;
        while (!lazy && lines_stopped(&s.lines))
            lines_resume(&s.lines);
    }
    lines_end(&s.lines);
    for (size_t i = 0; lines_stopped(&s.lines) && i <= n; i++) {
        s.stops = i > n / 2 ? 0 : s.stops;
        lines_resume(&s.lines);
    }
    if (s.text.n != want.n || (want.n && memcmp(s.text.p, want.p, want.n)))
        abort();
    lines_done(&s.lines);
    buf_done(&s.text);
    return 0;
}
