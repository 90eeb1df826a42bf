/* Requests out of arbitrary bytes, whole and cut at random: both ways must see the same requests,
 * and what is let through must keep the promises of http1.h. The first two bytes choose the cuts.
 */
#include "io/http/http.h"
#include "io/http/http1.h"
#include <assert.h>
#include <stdint.h>

enum { BODY_MAX = 5000, REQUESTS_MAX = 64 };

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static void check_head(const struct http1 *h)
{
    static const char *const single[] = { "origin", "authorization", "content-type",
                                          "last-event-id" };
    struct span head = buf_span(&h->head);
    size_t hosts, lengths, codings, n;

    assert(head.n <= HTTP_HEAD_BYTES_MAX && h->n_fields <= HTTP_FIELDS_MAX);
    assert(head.n >= 4 && !memcmp(head.p + head.n - 4, "\r\n\r\n", 4));
    for (size_t i = 0; i < head.n; i++) {
        assert(head.p[i] != '\0');
        assert(head.p[i] != '\n' || (i && head.p[i - 1] == '\r'));
        assert(head.p[i] != '\r' || head.p[i + 1] == '\n');
        assert(head.p[i] != '\n' || i + 1 == head.n ||
               (head.p[i + 1] != ' ' && head.p[i + 1] != '\t'));
    }
    for (size_t i = 0; i < h->n_fields; i++) {
        struct span name = http1_name(h, i), value = http1_value(h, i);

        assert(name.n && name.p >= head.p && name.p + name.n < head.p + head.n);
        assert(value.p >= head.p && value.p + value.n < head.p + head.n);
        assert(!memchr(name.p, ' ', name.n) && !memchr(value.p, '\n', value.n));
        assert(!value.n || (value.p[0] != ' ' && value.p[value.n - 1] != ' '));
    }
    http1_find(h, SPAN("host"), &hosts);
    http1_find(h, SPAN("content-length"), &lengths);
    http1_find(h, SPAN("transfer-encoding"), &codings);
    assert(hosts <= 1 && lengths + codings <= 1);
    for (size_t i = 0; i < ARRAY_LEN(single); i++) {
        http1_find(h, span_of(single[i]), &n);
        assert(n <= 1);
    }
    assert(hosts || http1_is_10(h));
    assert(http1_method(h).n && http1_target(h).n);
}

/* What was seen of the requests, to compare. */
static void note(struct buf *log, const struct http1 *h)
{
    check_head(h);
    assert(h->body.n <= BODY_MAX);
    buf_add_span(log, buf_span(&h->head));
    for (size_t i = 0; i < h->n_fields; i++) {
        buf_add_span(log, http1_name(h, i));
        buf_byte(log, '=');
        buf_add_span(log, http1_value(h, i));
        buf_byte(log, ';');
    }
    buf_add_span(log, buf_span(&h->body));
    buf_printf(log, "\n%d %d %zu\n", h->keep_alive, h->chunked, h->body.n);
}

/* Returns whether the bytes were refused. */
static bool read_all(struct span in, uint32_t seed, struct buf *log)
{
    struct http1 h;
    bool bad = false;
    int requests = 0;

    http1_init(&h, BODY_MAX);
    while (in.n && !bad && requests < REQUESTS_MAX) {
        size_t n = in.n;
        char *copy;

        if (seed)
            n = 1 + next_random(&seed) % (next_random(&seed) % 4 ? 7 : 300);
        n = n < in.n ? n : in.n;
        copy = mem_dupn(in.p, n); /* so that reads past the cut are seen */
        n = http1_feed(&h, span_make(copy, n));
        free(copy);
        assert(n || h.phase == HTTP1_BAD);
        in = span_from(in, n);
        if (h.phase == HTTP1_BAD) {
            assert(h.status >= 400 && h.status < 600 && h.why);
            bad = true;
        } else if (h.phase == HTTP1_DONE) {
            note(log, &h);
            requests++;
            http1_done(&h);
            http1_init(&h, BODY_MAX);
        }
    }
    http1_done(&h);
    return bad;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    AUTO_BUF struct buf whole = { 0 }, cut = { 0 };
    struct span in;
    uint32_t seed;
    bool bad;

    if (n < 2)
        return 0;
    seed = 1u + data[0] + 256u * data[1];
    in = span_make((const char *)data + 2, n - 2);
    bad = read_all(in, 0, &whole);
    assert(read_all(in, seed, &cut) == bad);
    assert(span_eq(buf_span(&whole), buf_span(&cut)));
    return 0;
}
