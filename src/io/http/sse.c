#include "sse.h"

enum {
    LINE_KEEP = SSE_FIELD_ID_MAX + 8, /* "event: " and a value of the largest size */
    DATA_KEEP = 65536,                /* memory kept between events */
    RETRY_DIGITS = 18,                /* more would not fit, and clamp the same */
};

static const char bom[] = "\xef\xbb\xbf";

void sse_init(struct sse_parser *p, size_t limit,
              void (*event)(void *ctx, const struct sse_event *e), void *ctx)
{
    *p = (struct sse_parser){ .limit = limit, .event = event, .ctx = ctx };
}

void sse_done(struct sse_parser *p)
{
    buf_done(&p->line);
    buf_done(&p->data);
    buf_done(&p->type);
    buf_done(&p->id);
}

static int dispatch(struct sse_parser *p)
{
    struct sse_event e = {
        .type = p->type.n ? buf_span(&p->type) : SPAN("message"),
        .data = span_make(p->data.p ? p->data.p : "", p->has_data ? p->data.n - 1 : 0),
        .id = span_make(p->id.p ? p->id.p : "", p->id.n),
        .has_id = p->has_id,
    };

    if (p->has_data || p->has_id) {
        p->events++;
        p->event(p->ctx, &e);
    }
    p->data.n = p->type.n = 0;
    p->has_data = p->has_id = false;
    buf_shrink(&p->data, DATA_KEEP);
    return 0;
}

static int add_data(struct sse_parser *p, struct span bytes, struct pb_error *err)
{
    if (bytes.n > p->limit || p->data.n > p->limit - bytes.n)
        return fail(err, PB_E_LIMIT, "an event is larger than the limit of %zu bytes", p->limit);
    buf_add_span(&p->data, bytes);
    return 0;
}

static int end_data(struct sse_parser *p)
{
    buf_byte(&p->data, '\n');
    p->has_data = true;
    return 0;
}

static int set_field(struct buf *to, struct span value, const char *name, struct pb_error *err)
{
    if (value.n > SSE_FIELD_ID_MAX)
        return fail(err, PB_E_LIMIT, "an event's %s is longer than %d bytes", name,
                    SSE_FIELD_ID_MAX);
    to->n = 0;
    buf_add_span(to, value);
    return 0;
}

static int on_data(struct sse_parser *p, struct span value, struct pb_error *err)
{
    int rc = add_data(p, value, err);

    return rc < 0 ? rc : end_data(p);
}

static int on_type(struct sse_parser *p, struct span value, struct pb_error *err)
{
    return set_field(&p->type, value, "type", err);
}

static int on_id(struct sse_parser *p, struct span value, struct pb_error *err)
{
    if (value.n <= SSE_FIELD_ID_MAX && memchr(value.p, '\0', value.n))
        return 0;
    p->has_id = true;
    return set_field(&p->id, value, "id", err);
}

static int on_retry(struct sse_parser *p, struct span value, struct pb_error *err)
{
    uint64_t ms = 0;

    (void)err;
    for (size_t i = 0; i < value.n; i++)
        if (value.p[i] < '0' || value.p[i] > '9')
            return 0;
    if (!value.n)
        return 0;
    while (value.n > 1 && value.p[0] == '0')
        value = span_from(value, 1);
    for (size_t i = 0; i < value.n && i < RETRY_DIGITS; i++)
        ms = ms * 10 + (uint64_t)(value.p[i] - '0');
    if (ms < SSE_RETRY_MIN_MS)
        ms = SSE_RETRY_MIN_MS;
    p->retry_ms = ms > SSE_RETRY_MAX_MS ? SSE_RETRY_MAX_MS : ms;
    return 0;
}

static const struct {
    struct span name;
    int (*set)(struct sse_parser *p, struct span value, struct pb_error *err);
} fields[] = {
    { SPAN_CONST("data"), on_data },
    { SPAN_CONST("event"), on_type },
    { SPAN_CONST("id"), on_id },
    { SPAN_CONST("retry"), on_retry },
};

/* Too long for a field that we know, and not data. */
static int on_long_line(struct span line, struct pb_error *err)
{
    if (span_starts(line, "id:") || span_starts(line, "event:"))
        return fail(err, PB_E_LIMIT, "an event's id or type is longer than %d bytes",
                    SSE_FIELD_ID_MAX);
    return 0;
}

static int on_line(struct sse_parser *p, struct span line, struct pb_error *err)
{
    const char *colon;
    struct span name, value = { "", 0 };

    if (!line.n)
        return dispatch(p);
    if (line.n > LINE_KEEP && !span_starts(line, "data:"))
        return on_long_line(line, err);
    colon = memchr(line.p, ':', line.n);
    name = span_make(line.p, colon ? (size_t)(colon - line.p) : line.n);
    if (colon)
        value = span_from(line, name.n + 1);
    if (value.n && value.p[0] == ' ')
        value = span_from(value, 1);
    for (size_t i = 0; i < ARRAY_LEN(fields); i++)
        if (span_eq(name, fields[i].name))
            return fields[i].set(p, value, err);
    return 0; /* a comment, or a field of the future */
}

/* The line is cut here. What is known about it decides where its rest goes: a data line, which may
 * be very long, directly to the data. */
static int sort_partial(struct sse_parser *p, struct pb_error *err)
{
    struct span line = buf_span(&p->line);

    if (line.n && line.p[0] == ':')
        p->skip_line = true;
    else if (line.n >= sizeof "data:" && span_starts(line, "data:"))
        p->data_line = true;
    else if (line.n > LINE_KEEP)
        p->skip_line = true;
    else
        return 0;
    p->line.n = 0;
    if (p->skip_line)
        return on_long_line(line, err);
    line = span_from(line, sizeof "data:" - 1);
    return add_data(p, line.p[0] == ' ' ? span_from(line, 1) : line, err);
}

static int on_partial(struct sse_parser *p, struct span part, struct pb_error *err)
{
    while (part.n && !p->skip_line) {
        size_t n = LINE_KEEP + 1 - p->line.n;
        int rc;

        if (p->data_line)
            return add_data(p, part, err);
        n = part.n < n ? part.n : n;
        buf_add(&p->line, part.p, n);
        part = span_from(part, n);
        rc = sort_partial(p, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* The last piece of a line, which may be all of it. */
static int on_line_end(struct sse_parser *p, struct span piece, struct pb_error *err)
{
    int rc = 0;

    if (!p->line.n && !p->data_line && !p->skip_line)
        return on_line(p, piece, err);
    rc = on_partial(p, piece, err);
    if (rc == 0 && p->data_line)
        rc = end_data(p);
    else if (rc == 0 && !p->skip_line)
        rc = on_line(p, buf_span(&p->line), err);
    p->line.n = 0;
    p->data_line = p->skip_line = false;
    return rc;
}

/* One byte order mark may begin the stream. Its first bytes wait in `line`, where they belong if it
 * turns out to be none. */
static size_t skip_bom(struct sse_parser *p, struct span chunk)
{
    size_t n = 0;

    while (!p->started && n < chunk.n) {
        if (chunk.p[n] != bom[p->line.n]) {
            p->started = true;
            break;
        }
        buf_byte(&p->line, chunk.p[n++]);
        if (p->line.n == sizeof bom - 1) {
            p->line.n = 0;
            p->started = true;
        }
    }
    return n;
}

/* Where the next c is, looked for once however many lines there are before it. */
static const char *next(const char **found, const char *at, const char *end, char c)
{
    if (*found < at) {
        *found = memchr(at, c, (size_t)(end - at));
        if (!*found)
            *found = end;
    }
    return *found;
}

int sse_feed_some(struct sse_parser *p, struct span chunk, struct sse_share *share, size_t *used,
                  struct pb_error *err)
{
    const char *at, *end, *lf = NULL, *cr = NULL;

    *used = chunk.n;
    if (!chunk.n)
        return 0;
    at = chunk.p + skip_bom(p, chunk);
    end = chunk.p + chunk.n;
    while (at < end) {
        const char *stop;
        size_t before = p->events;
        int rc;

        if (!share->events || !share->lines) {
            *used = (size_t)(at - chunk.p);
            return 0;
        }
        if (p->cr) {
            p->cr = false;
            if (*at == '\n') {
                at++;
                continue;
            }
        }
        stop = next(&lf, at, end, '\n');
        if (next(&cr, at, end, '\r') < stop)
            stop = cr;
        if (stop == end)
            return on_partial(p, span_make(at, (size_t)(end - at)), err);
        rc = on_line_end(p, span_make(at, (size_t)(stop - at)), err);
        if (rc < 0)
            return rc;
        p->cr = *stop == '\r';
        at = stop + 1;
        share->lines--;
        share->events -= p->events - before;
    }
    return 0;
}

/* One field on one line: a line end inside would begin another field. */
static void put_field(struct buf *out, const char *name, const char *value)
{
    if (!value || !*value)
        return;
    buf_str(out, name);
    buf_str(out, ": ");
    for (; *value; value++)
        if (*value != '\r' && *value != '\n')
            buf_byte(out, *value);
    buf_byte(out, '\n');
}

/* Copies up to the next line end, if there is one; returns how many bytes of s are dealt with. */
static size_t put_line(struct buf *out, struct span s, bool *ended, bool *cr)
{
    const char *end = span_line_end(s);
    size_t n = end ? (size_t)(end - s.p) : s.n;

    buf_add(out, s.p, n);
    *ended = end;
    *cr = end && *end == '\r';
    return *ended ? n + 1 : n;
}

static void put_data(struct buf *out, const struct span *data, size_t n)
{
    bool cr = false;

    buf_str(out, "data: ");
    for (size_t i = 0; i < n; i++) {
        struct span s = data[i];

        while (s.n) {
            bool ended;

            if (cr && s.p[0] == '\n') {
                s = span_from(s, 1);
                cr = false;
                continue;
            }
            s = span_from(s, put_line(out, s, &ended, &cr));
            if (ended)
                buf_str(out, "\ndata: ");
        }
    }
    buf_byte(out, '\n');
}

void sse_write(struct buf *out, const char *type, const char *id, const struct span *data, size_t n)
{
    size_t total = 0;

    for (size_t i = 0; i < n; i++)
        total += data[i].n;
    put_field(out, "event", type);
    put_field(out, "id", id);
    if (total)
        put_data(out, data, n);
    buf_byte(out, '\n');
}

void sse_write_priming(struct buf *out, const char *id, uint64_t retry_ms)
{
    put_field(out, "id", id);
    if (retry_ms)
        buf_printf(out, "retry: %llu\n", (unsigned long long)retry_ms);
    buf_str(out, "data:\n\n");
}
