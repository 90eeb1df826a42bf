#include "http_conn.h"
#include <assert.h>

enum { HEAD_CHARS = 256, PARTS_FEW = 24, DIGITS_MAX = 20 };

struct head {
    char text[HEAD_CHARS];
    size_t n;
};

static void put(struct head *h, const char *s, size_t n)
{
    assert(n <= sizeof h->text - h->n);
    memcpy(h->text + h->n, s, n);
    h->n += n;
}

#define PUT(h, lit) put((h), lit, sizeof(lit) - 1)

static void put_number(struct head *h, uint64_t v, unsigned base)
{
    char digits[DIGITS_MAX];
    size_t at = sizeof digits;

    do {
        digits[--at] = "0123456789abcdef"[v % base];
        v /= base;
    } while (v);
    put(h, digits + at, sizeof digits - at);
}

static void put_status(struct head *h, int status)
{
    const char *text = http_status_text(status);

    PUT(h, "HTTP/1.1 ");
    put_number(h, (uint64_t)status, 10);
    PUT(h, " ");
    put(h, text, strlen(text));
    PUT(h, "\r\n");
}

static void put_connection(struct head *h, const struct http_request *r)
{
    if (r->conn->close_after)
        PUT(h, "Connection: close\r\n");
    else if (http1_is_10(&r->in))
        PUT(h, "Connection: keep-alive\r\n");
}

static bool has_no_body(int status) { return status < 200 || status == 204 || status == 304; }

static void check_headers(const char *headers)
{
    size_t n = headers ? strlen(headers) : 0;

    assert((!n || (n >= 2 && !memcmp(headers + n - 2, "\r\n", 2))) && "headers are whole lines");
    (void)n;
}

/* The request is answered: its memory goes, unless its gone callback is on the stack or to come. */
static void answered(struct http_request *r)
{
    struct http_conn *c = r->conn;

    r->answer = ANSWER_DONE;
    if (!r->in_gone)
        http_request_free(r);
    if (!c)
        return;
    c->req = NULL;
    conn_answered(c);
}

/* Head and body in one write, however many parts the body has. */
static void write_all(struct http_conn *c, const struct head *h, const char *headers,
                      const struct span *body, size_t n)
{
    struct span few[PARTS_FEW + 3], *parts = few;
    AUTO_FREE struct span *many = NULL;

    if (n > PARTS_FEW)
        parts = many = mem_alloc((n + 3) * sizeof *parts);
    parts[0] = span_make(h->text, h->n);
    parts[1] = span_of(headers);
    parts[2] = SPAN("\r\n");
    if (n)
        memcpy(parts + 3, body, n * sizeof *parts);
    conn_write(c, parts, n + 3, c->more);
}

void http_reply(struct http_request *r, int status, const char *headers, const struct span *body,
                size_t n)
{
    struct head h = { .n = 0 };
    uint64_t size = 0;

    assert(r->answer == ANSWER_NONE && "a request is answered once");
    check_headers(headers);
    if (!r->conn) {
        answered(r);
        return;
    }
    for (size_t i = 0; i < n; i++)
        size += body[i].n;
    put_status(&h, status);
    if (!has_no_body(status)) {
        PUT(&h, "Content-Length: ");
        put_number(&h, size, 10);
        PUT(&h, "\r\n");
    }
    put_connection(&h, r);
    if (has_no_body(status) || http1_is_head(&r->in))
        n = 0;
    write_all(r->conn, &h, headers, body, n);
    answered(r);
}

void http_begin(struct http_request *r, int status, const char *headers)
{
    struct head h = { .n = 0 };
    struct http_conn *c = r->conn;
    struct span parts[3];

    assert(r->answer == ANSWER_NONE && "a request is answered once");
    check_headers(headers);
    r->answer = ANSWER_STREAM;
    if (!c)
        return;
    r->chunked = !http1_is_10(&r->in) && !has_no_body(status);
    if (!r->chunked)
        c->close_after = true; /* the end of an HTTP/1.0 stream is the end of the connection */
    put_status(&h, status);
    if (r->chunked)
        PUT(&h, "Transfer-Encoding: chunked\r\n");
    put_connection(&h, r);
    parts[0] = span_make(h.text, h.n);
    parts[1] = span_of(headers);
    parts[2] = SPAN("\r\n");
    conn_write(c, parts, ARRAY_LEN(parts), true);
}

/* As one chunk: size, bytes, line end. */
static void write_chunk(struct http_request *r, const struct span *parts, size_t n, size_t size)
{
    struct span few[PARTS_FEW + 2], *all = few;
    AUTO_FREE struct span *many = NULL;
    struct head h = { .n = 0 };

    if (!r->chunked) {
        conn_write(r->conn, parts, n, true);
        return;
    }
    if (n > PARTS_FEW)
        all = many = mem_alloc((n + 2) * sizeof *all);
    put_number(&h, size, 16);
    PUT(&h, "\r\n");
    all[0] = span_make(h.text, h.n);
    memcpy(all + 1, parts, n * sizeof *all);
    all[n + 1] = SPAN("\r\n");
    conn_write(r->conn, all, n + 2, true);
}

bool http_write(struct http_request *r, const struct span *parts, size_t n)
{
    struct http_conn *c = r->conn;
    size_t size = spans_size(parts, n);

    assert(r->answer == ANSWER_STREAM && "http_begin() comes first");
    if (!c || c->broken)
        return false;
    if (conn_queued(c) > (size_t)STREAM_QUEUE_HARD + STREAM_QUEUE_NOTES) {
        log_info("a reader of a stream is too slow; it is cut off");
        c->broken = true;
        conn_later(c);
        return false;
    }
    /* An empty chunk would end the stream. */
    if (size && !http1_is_head(&r->in))
        write_chunk(r, parts, n, size);
    return !c->broken;
}

void http_end(struct http_request *r)
{
    struct span end = SPAN("0\r\n\r\n");
    struct http_conn *c = r->conn;

    assert(r->answer == ANSWER_STREAM && "http_begin() comes first");
    if (c && r->chunked && !http1_is_head(&r->in))
        conn_write(c, &end, 1, c->more);
    else if (c && !c->more)
        conn_flush(c);
    answered(r);
}

void conn_continue(struct http_conn *c)
{
    struct span text = SPAN("HTTP/1.1 100 Continue\r\n\r\n");

    conn_write(c, &text, 1, false);
}

void conn_refuse(struct http_conn *c, int status, const char *why)
{
    struct head h = { .n = 0 };
    AUTO_BUF struct buf body = { 0 };
    struct span parts[2];

    c->close_after = true;
    if (c->server->refusal)
        c->server->refusal(&body, c->req ? http_path(c->req) : SPAN(""), status, why);
    else
        buf_printf(&body, "%s\n", why);
    put_status(&h, status);
    if (c->server->refusal)
        PUT(&h, "Content-Type: application/json\r\n");
    else
        PUT(&h, "Content-Type: text/plain; charset=utf-8\r\n");
    if (status == 503)
        PUT(&h, "Retry-After: 1\r\n");
    PUT(&h, "Connection: close\r\nContent-Length: ");
    put_number(&h, body.n, 10);
    PUT(&h, "\r\n\r\n");
    parts[0] = span_make(h.text, h.n);
    parts[1] = buf_span(&body);
    if (c->req)
        http_request_free(TAKE(c->req));
    conn_write(c, parts, ARRAY_LEN(parts), false);
    conn_answered(c);
}
