#include "http1.h"
#include <assert.h>
#include <strings.h>

enum {
    FIELDS_MIN = 16,
    BLANKS_MAX = 4,          /* RFC 9112 2.2: an empty line before a request is to be ignored */
    BODY_ROOM_MIN = 16384,   /* reserved on the word of a Content-Length */
    BODY_ROOM_MAX = 1048576, /* for one read */
};

static struct http1 *self(llhttp_t *p) { return CONTAINER_OF(p, struct http1, parser); }

static void refuse(struct http1 *h, int status, const char *why)
{
    h->phase = HTTP1_BAD;
    h->status = (uint16_t)status;
    h->why = why;
}

static int on_url(llhttp_t *p, const char *at, size_t n)
{
    struct http1 *h = self(p);

    if (!h->target_n)
        h->target = (uint16_t)(at - h->head.p);
    h->target_n = (uint16_t)(h->target_n + n);
    return 0;
}

/* Trailers are read over; what they and the chunk extensions cost is bounded like a head. */
static int on_extra(llhttp_t *p, const char *at, size_t n)
{
    struct http1 *h = self(p);

    (void)at;
    h->extra += n;
    if (h->extra <= HTTP_HEAD_BYTES_MAX)
        return 0;
    refuse(h, 431, "The chunk extensions or trailers are too large.");
    return HPE_USER;
}

static struct http1_field *open_field(struct http1 *h)
{
    if (h->n_fields == h->fields_cap) {
        h->fields_cap = (uint16_t)(h->fields_cap ? h->fields_cap * 2 : FIELDS_MIN);
        h->fields = h->fields ? mem_resize(h->fields, h->fields_cap * sizeof *h->fields)
                              : spare_take(FIELDS_MIN * sizeof *h->fields);
    }
    h->fields[h->n_fields] = (struct http1_field){ 0 };
    return &h->fields[h->n_fields++];
}

static int on_name(llhttp_t *p, const char *at, size_t n)
{
    struct http1 *h = self(p);
    struct http1_field *f;

    if (h->head_seen)
        return on_extra(p, at, n);
    if (!h->name_open) {
        if (h->n_fields == HTTP_FIELDS_MAX) {
            refuse(h, 431, "There are too many header fields.");
            return HPE_USER;
        }
        open_field(h)->name = (uint16_t)(at - h->head.p);
        h->name_open = true;
    }
    f = &h->fields[h->n_fields - 1];
    f->name_n = (uint16_t)(f->name_n + n);
    return 0;
}

static int on_name_end(llhttp_t *p)
{
    self(p)->name_open = false;
    return 0;
}

static int on_value(llhttp_t *p, const char *at, size_t n)
{
    struct http1 *h = self(p);
    struct http1_field *f;

    if (h->head_seen)
        return on_extra(p, at, n);
    f = &h->fields[h->n_fields - 1];
    if (!f->value_n)
        f->value = (uint16_t)(at - h->head.p);
    f->value_n = (uint16_t)(f->value_n + n);
    return 0;
}

static int on_head(llhttp_t *p)
{
    self(p)->head_seen = true;
    return HPE_PAUSED;
}

static int on_body(llhttp_t *p, const char *at, size_t n)
{
    struct http1 *h = self(p);

    if (n > h->max_body - h->body.n) {
        refuse(h, 413, "The request body is too large.");
        return HPE_USER;
    }
    buf_add(&h->body, at, n);
    return 0;
}

static int on_end(llhttp_t *p)
{
    self(p)->phase = HTTP1_DONE;
    return HPE_PAUSED;
}

static const llhttp_settings_t settings = {
    .on_url = on_url,
    .on_header_field = on_name,
    .on_header_field_complete = on_name_end,
    .on_header_value = on_value,
    .on_headers_complete = on_head,
    .on_body = on_body,
    .on_message_complete = on_end,
    .on_chunk_extension_name = on_extra,
    .on_chunk_extension_value = on_extra,
};

void http1_init(struct http1 *h, size_t max_body)
{
    *h = (struct http1){ .max_body = max_body };
    llhttp_init(&h->parser, HTTP_REQUEST, &settings);
}

void http1_done(struct http1 *h)
{
    buf_done(&h->head);
    buf_done(&h->body);
    spare_give(h->fields, h->fields_cap * sizeof *h->fields);
    h->fields = NULL;
    h->n_fields = h->fields_cap = 0;
}

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

/* How many of these bytes belong to the head, up to and with its empty line. llhttp joins folded
 * lines, and what it thinks of a bare LF changed between versions: lines are checked here. */
static size_t head_bytes(struct http1 *h, struct span in, bool *end)
{
    size_t at = 0;

    *end = false;
    while (at < in.n) {
        const char *lf = memchr(in.p + at, '\n', in.n - at);
        size_t stop = lf ? (size_t)(lf - in.p) + 1 : in.n;
        size_t n = h->line_n + (stop - at);
        char before;

        if (!h->line_n && h->head.n + at && is_blank(in.p[at])) {
            refuse(h, 400, "A header line begins with white space.");
            return at;
        }
        if (h->head.n + stop > HTTP_HEAD_BYTES_MAX)
            return stop;
        h->line_n = (uint16_t)n;
        if (!lf)
            return in.n;
        before = stop >= 2 ? in.p[stop - 2] : h->head.n ? h->head.p[h->head.n - 1] : '\0';
        if (before != '\r') {
            refuse(h, 400, "A line ends with a bare LF.");
            return at;
        }
        h->line_n = 0;
        at = stop;
        if (n == 2) {
            *end = true;
            break;
        }
    }
    return at;
}

static const struct {
    int error, status;
    const char *why;
} parse_errors[] = {
    /* clang-format off */
    { HPE_INVALID_METHOD,            400, "This is not an HTTP request, or its method is unknown." },
    { HPE_INVALID_VERSION,           505, "Only HTTP/1.1 and HTTP/1.0 are spoken here." },
    { HPE_INVALID_CONTENT_LENGTH,    400, "Content-Length is not a number." },
    { HPE_UNEXPECTED_CONTENT_LENGTH, 400, "There must be one Content-Length, and none beside Transfer-Encoding." },
    { HPE_INVALID_TRANSFER_ENCODING, 400, "The only transfer coding is chunked." },
    { HPE_INVALID_CHUNK_SIZE,        400, "A chunk size is malformed." },
    { HPE_INVALID_URL,               400, "The request target is malformed." },
    { HPE_INVALID_HEADER_TOKEN,      400, "A header field is malformed." },
    /* clang-format on */
};

static void refuse_parse(struct http1 *h, int error)
{
    if (h->phase == HTTP1_BAD)
        return; /* a callback said why */
    for (size_t i = 0; i < ARRAY_LEN(parse_errors); i++)
        if (parse_errors[i].error == error) {
            refuse(h, parse_errors[i].status, parse_errors[i].why);
            return;
        }
    refuse(h, 400, "The request is malformed.");
}

/* "METHOD SP target SP HTTP/1.x CRLF" to the byte: llhttp also takes RTSP, ICE, 0.9 and several
 * spaces. */
static bool request_line_ok(struct http1 *h)
{
    struct span head = buf_span(&h->head), version, target = http1_target(h);
    size_t end = (size_t)h->target + h->target_n;

    if (!h->target_n || http1_method(h).n + 1 != h->target || end >= head.n) {
        refuse(h, 400, "The request line is malformed.");
        return false;
    }
    version = span_from(head, end);
    if (span_starts(version, "  ")) {
        refuse(h, 400, "The request line is malformed.");
        return false;
    }
    if (!span_starts(version, " HTTP/1.1\r\n") && !span_starts(version, " HTTP/1.0\r\n")) {
        refuse(h, 505, "Only HTTP/1.1 and HTTP/1.0 are spoken here.");
        return false;
    }
    if (memchr(target.p, '#', target.n)) {
        refuse(h, 400, "The request target has a fragment.");
        return false;
    }
    return true;
}

/* Of two, one reader takes the first and another the last. Content-Length is llhttp's to count. */
static const struct {
    struct span name;
    const char *why;
} single_fields[] = {
    { SPAN_CONST("Host"), "There is more than one Host field." },
    { SPAN_CONST("Origin"), "There is more than one Origin field." },
    { SPAN_CONST("Authorization"), "There is more than one Authorization field." },
    { SPAN_CONST("Content-Type"), "There is more than one Content-Type field." },
    { SPAN_CONST("Last-Event-ID"), "There is more than one Last-Event-ID field." },
};

static bool single_ok(struct http1 *h)
{
    for (size_t i = 0; i < ARRAY_LEN(single_fields); i++) {
        size_t n;

        http1_find(h, single_fields[i].name, &n);
        if (n > 1) {
            refuse(h, 400, single_fields[i].why);
            return false;
        }
    }
    return true;
}

/* One bit out of 64, in upper or lower case: a field whose bit is missing is not there, and one
 * whose bit was seen once is there once. The factors keep the usual names apart. */
static uint64_t name_bit(const char *name, size_t n)
{
    unsigned first = (uint8_t)name[0] | 0x20, last = (uint8_t)name[n - 1] | 0x20;

    return UINT64_C(1) << ((n * 7 + first + last * 19) % 64);
}

static bool fields_ok(struct http1 *h)
{
    size_t codings;
    struct span coding;

    for (size_t i = 0; i < h->n_fields; i++) {
        struct http1_field *f = &h->fields[i];
        uint64_t bit;

        if (!f->name_n) {
            refuse(h, 400, "A header field has no name.");
            return false;
        }
        bit = name_bit(h->head.p + f->name, f->name_n);
        h->twice |= h->names & bit;
        h->names |= bit;
        while (f->value_n && is_blank(h->head.p[f->value + f->value_n - 1]))
            f->value_n--;
    }
    if (h->twice && !single_ok(h))
        return false;
    if (!http1_is_10(h) && !http1_find(h, SPAN("Host"), NULL).p) {
        refuse(h, 400, "The Host field is missing.");
        return false;
    }
    coding = http1_find(h, SPAN("Transfer-Encoding"), &codings);
    if (codings && (codings > 1 || !span_is_nocase(coding, "chunked") || http1_is_10(h) ||
                    (h->parser.flags & F_CONTENT_LENGTH))) {
        refuse(h, 400, "The only transfer coding is chunked, without a Content-Length.");
        return false;
    }
    h->chunked = codings;
    return true;
}

static bool upgrade_ok(struct http1 *h)
{
    if (!h->parser.upgrade)
        return true;
    if (h->parser.method == HTTP_CONNECT ||
        !span_is_nocase(http1_find(h, SPAN("Upgrade"), NULL), "h2c")) {
        refuse(h, 400, "Upgrades and tunnels are not offered here.");
        return false;
    }
    h->parser.upgrade = 0; /* or llhttp would stop before the body */
    return true;
}

static bool expect_ok(struct http1 *h)
{
    size_t n;
    struct span expect = http1_find(h, SPAN("Expect"), &n);

    if (!n || http1_is_10(h))
        return true;
    if (n > 1 || !span_is_nocase(expect, "100-continue")) {
        refuse(h, 417, "The only expectation met here is 100-continue.");
        return false;
    }
    h->expects = true;
    return true;
}

static void head_done(struct http1 *h)
{
    h->keep_alive = llhttp_should_keep_alive(&h->parser);
    if (!request_line_ok(h) || !fields_ok(h) || !upgrade_ok(h) || !expect_ok(h))
        return;
    h->left = h->chunked ? 0 : h->parser.content_length;
    h->phase = h->chunked || h->left ? HTTP1_BODY : HTTP1_DONE;
    if (h->chunked)
        llhttp_resume(&h->parser);
    http1_limit_body(h, h->max_body);
}

void http1_limit_body(struct http1 *h, size_t max_body)
{
    if (max_body < h->max_body)
        h->max_body = max_body;
    if (h->left > h->max_body)
        refuse(h, 413, "The request body is too large.");
}

static size_t skip_blank(struct http1 *h, struct span in)
{
    size_t n = 0;

    while (n < in.n && (in.p[n] == '\r' || in.p[n] == '\n')) {
        n++;
        if (++h->blank > BLANKS_MAX) {
            refuse(h, 400, "The request begins with empty lines.");
            break;
        }
    }
    return n;
}

static size_t feed_head(struct http1 *h, struct span in)
{
    size_t from = h->head.n, skipped = from ? 0 : skip_blank(h, in), n;
    bool end;
    int e;

    in = span_from(in, skipped);
    if (!in.n || h->phase == HTTP1_BAD)
        return skipped;
    n = head_bytes(h, in, &end);
    if (h->phase == HTTP1_BAD)
        return skipped + n;
    if (from + n > HTTP_HEAD_BYTES_MAX) {
        if (memchr(h->head.p ? h->head.p : "", '\n', from) || memchr(in.p, '\n', n))
            refuse(h, 431, "The request head is too large.");
        else
            refuse(h, 414, "The request target is too long.");
        return skipped + n;
    }
    buf_add(&h->head, in.p, n);
    e = llhttp_execute(&h->parser, h->head.p + from, n);
    if (e == HPE_PAUSED && h->head_seen && end &&
        llhttp_get_error_pos(&h->parser) == h->head.p + h->head.n)
        head_done(h);
    else if (e != HPE_OK || end)
        refuse_parse(h, e);
    return skipped + n;
}

static size_t feed_length(struct http1 *h, struct span in)
{
    size_t n = in.n < h->left ? in.n : (size_t)h->left;

    if (h->body.p && in.p == h->body.p + h->body.n)
        h->body.n += n; /* it was read to where it belongs: http1_body_room() */
    else {
        if (!h->body.p)
            buf_reserve(&h->body, (h->left < BODY_ROOM_MIN ? (size_t)h->left : n) + 1);
        buf_add(&h->body, in.p, n);
    }
    h->left -= n;
    if (!h->left)
        h->phase = HTTP1_DONE;
    return n;
}

static size_t feed_chunked(struct http1 *h, struct span in)
{
    int e = llhttp_execute(&h->parser, in.p, in.n);

    if (e == HPE_OK)
        return in.n;
    if (e != HPE_PAUSED || h->phase != HTTP1_DONE)
        refuse_parse(h, e);
    return (size_t)(llhttp_get_error_pos(&h->parser) - in.p);
}

size_t http1_feed(struct http1 *h, struct span in)
{
    assert(h->phase == HTTP1_HEAD || h->phase == HTTP1_BODY);
    if (h->phase == HTTP1_HEAD)
        return feed_head(h, in);
    return h->chunked ? feed_chunked(h, in) : feed_length(h, in);
}

char *http1_body_room(struct http1 *h, size_t *room)
{
    size_t n = h->body.n < BODY_ROOM_MIN ? BODY_ROOM_MIN : h->body.n;

    *room = 0;
    if (h->phase != HTTP1_BODY || h->chunked)
        return NULL;
    if (n > BODY_ROOM_MAX)
        n = BODY_ROOM_MAX;
    *room = n < h->left ? n : (size_t)h->left;
    buf_reserve(&h->body, *room + 1); /* and the NUL of a blob */
    return h->body.p + h->body.n;
}

struct span http1_method(const struct http1 *h)
{
    const char *end = h->head.n ? memchr(h->head.p, ' ', h->head.n) : NULL;

    return span_make(h->head.p, end ? (size_t)(end - h->head.p) : 0);
}

struct span http1_target(const struct http1 *h)
{
    return span_make(h->head.p + h->target, h->target_n);
}

struct span http1_name(const struct http1 *h, size_t i)
{
    return span_make(h->head.p + h->fields[i].name, h->fields[i].name_n);
}

struct span http1_value(const struct http1 *h, size_t i)
{
    /* An empty value has no place of its own; p must not be NULL, which means absent. */
    return span_make(h->head.p + h->fields[i].value, h->fields[i].value_n);
}

struct span http1_find(const struct http1 *h, struct span name, size_t *count)
{
    struct span found = { 0 };
    uint64_t bit = name_bit(name.p, name.n);
    size_t n = 0;

    for (size_t i = 0; h->names & bit && i < h->n_fields; i++) {
        const struct http1_field *f = &h->fields[i];

        if (f->name_n != name.n || strncasecmp(h->head.p + f->name, name.p, name.n) != 0)
            continue;
        if (!n++)
            found = http1_value(h, i);
        if (!(h->twice & bit))
            break;
    }
    if (count)
        *count = n;
    return found;
}

bool http1_is_head(const struct http1 *h) { return h->parser.method == HTTP_HEAD; }

bool http1_is_10(const struct http1 *h) { return h->parser.http_minor == 0; }
