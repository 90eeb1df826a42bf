#include "io/http/http.h"
#include "io/io.h"
#include "tap.h"

/* Everything that was delivered, as text: "type|id|data\n" with LF shown as "\n" and a '+' before
 * an id that the event itself carried. */
struct seen {
    struct buf text;
    size_t events, bytes;
};

static void on_event(void *ctx, const struct sse_event *e)
{
    struct seen *s = ctx;

    s->events++;
    s->bytes += e->data.n;
    buf_add_span(&s->text, e->type);
    buf_str(&s->text, e->has_id ? "|+" : "|");
    buf_add_span(&s->text, e->id);
    buf_str(&s->text, "|");
    for (size_t i = 0; i < e->data.n && s->text.n < 100000; i++) {
        if (e->data.p[i] == '\n')
            buf_str(&s->text, "\\n");
        else if (!e->data.p[i])
            buf_str(&s->text, "\\0");
        else
            buf_byte(&s->text, e->data.p[i]);
    }
    buf_str(&s->text, "\n");
}

static int sse_feed(struct sse_parser *p, struct span chunk, struct pb_error *err)
{
    struct sse_share all = { SIZE_MAX, SIZE_MAX };
    size_t used;

    return sse_feed_some(p, chunk, &all, &used, err);
}

/* Feeds the text in pieces of the given size; 0: whole. Returns what sse_feed() said last. */
static int feed(struct sse_parser *p, struct span text, size_t piece)
{
    struct pb_error err;
    int rc = 0;

    if (!piece)
        return sse_feed(p, text, &err);
    for (size_t at = 0; at < text.n && rc == 0; at += piece) {
        size_t n = text.n - at < piece ? text.n - at : piece;
        AUTO_FREE char *copy = mem_dupn(text.p + at, n); /* so that a sanitizer sees the edges */

        rc = sse_feed(p, span_make(copy, n), &err);
    }
    return rc;
}

TEST(the_stream_is_read_as_the_standard_says_wherever_it_is_cut)
{
    static const struct {
        struct span text;
        const char *want;
    } cases[] = {
        /* clang-format off */
        { SPAN_CONST("data: a\n\n"),                              "message||a\n" },
        { SPAN_CONST("data:a\n\n"),                               "message||a\n" },
        { SPAN_CONST("data:  a\n\n"),                             "message|| a\n" },
        { SPAN_CONST("data\n\n"),                                 "message||\n" },
        { SPAN_CONST("data:\n\n"),                                "message||\n" },
        { SPAN_CONST("data: a\r\rdata: b\r\r"),                   "message||a\nmessage||b\n" },
        { SPAN_CONST("data: a\r\n\r\ndata: b\r\n\r\n"),           "message||a\nmessage||b\n" },
        { SPAN_CONST("data: a\r\n\n\r\rdata: b\n\r"),             "message||a\nmessage||b\n" },
        { SPAN_CONST("data: a\ndata: b\ndata:\n\n"),              "message||a\\nb\\n\n" },
        { SPAN_CONST("data\ndata\n\n"),                           "message||\\n\n" },
        { SPAN_CONST("\xef\xbb\xbf" "data: a\n\n"),               "message||a\n" },
        { SPAN_CONST("\xef\xbb\xbf\xef\xbb\xbf" "data: a\n\ndata: b\n\n"), "message||b\n" },
        { SPAN_CONST("\xef\xbb" "data: a\n\ndata: b\n\n"),        "message||b\n" },
        { SPAN_CONST("event: x\ndata: a\n\ndata: b\n\n"),         "x||a\nmessage||b\n" },
        { SPAN_CONST("event: x\n\ndata: b\n\n"),                  "message||b\n" },
        { SPAN_CONST("event: x\nevent: y\ndata: b\n\n"),          "y||b\n" },
        { SPAN_CONST("id: 1\ndata: a\n\ndata: b\n\n"),            "message|+1|a\nmessage|1|b\n" },
        { SPAN_CONST("id: 1\ndata:\n\n"),                         "message|+1|\n" },
        { SPAN_CONST("id: 1\n\n"),                                "message|+1|\n" },
        { SPAN_CONST("id: 1\ndata: a\n\nid\ndata: b\n\n"),        "message|+1|a\nmessage|+|b\n" },
        { SPAN_CONST("id: 1\n\nid: 2\0" "3\ndata: b\n\n"),        "message|+1|\nmessage|1|b\n" },
        { SPAN_CONST(":comment\n: data: x\n\ndata: a\n\n"),       "message||a\n" },
        { SPAN_CONST("DATA: x\ndatax: y\n data: z\nfoo\ndata: a\n\n"), "message||a\n" },
        { SPAN_CONST("data: a: b\n\n"),                           "message||a: b\n" },
        { SPAN_CONST("data: a\n"),                                "" },
        { SPAN_CONST("data: a"),                                  "" },
        { SPAN_CONST("\n\n\r\n\r"),                               "" },
        { SPAN_CONST("data: a\0b\n\n"),                           "message||a\\0b\n" },
        /* clang-format on */
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        for (size_t piece = 0; piece <= cases[i].text.n; piece++) {
            struct seen seen = { 0 };
            struct sse_parser p;

            sse_init(&p, 1000, on_event, &seen);
            CHECK_INT(feed(&p, cases[i].text, piece), 0);
            CHECK_STR(buf_cstr(&seen.text), cases[i].want);
            sse_done(&p);
            buf_done(&seen.text);
        }
}

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

TEST(random_cuts_give_the_same_events_as_no_cuts)
{
    static const char *const pieces[] = {
        "data", ":",    " ",      "\n",    "\r",   "\r\n", "x",    "event",         "id", "retry",
        "42",   "\n\n", "data: ", "id: 7", "\xef", "\xbb", "\xbf", "data: abc\n\n", ":c"
    };
    uint32_t seed = 1;

    for (int round = 0; round < 2000; round++) {
        AUTO_BUF struct buf text = { 0 };
        struct seen whole = { 0 }, cut = { 0 };
        struct sse_parser a, b;
        struct pb_error err;

        for (uint32_t n = next_random(&seed) % 60; n; n--)
            buf_str(&text, pieces[next_random(&seed) % ARRAY_LEN(pieces)]);
        sse_init(&a, 100000, on_event, &whole);
        sse_init(&b, 100000, on_event, &cut);
        CHECK_INT(sse_feed(&a, buf_span(&text), &err), 0);
        for (size_t at = 0; at < text.n;) {
            size_t n = next_random(&seed) % 7;

            if (n > text.n - at)
                n = text.n - at;
            CHECK_INT(sse_feed(&b, span_make(text.p + at, n), &err), 0);
            at += n;
        }
        CHECK_STR(buf_cstr(&cut.text), buf_cstr(&whole.text));
        CHECK_INT(a.retry_ms, b.retry_ms);
        sse_done(&a);
        sse_done(&b);
        buf_done(&whole.text);
        buf_done(&cut.text);
    }
}

TEST(retry_is_clamped_and_nonsense_ignored)
{
    static const struct {
        const char *text;
        uint64_t want;
    } cases[] = {
        { "retry: 3000\n", 3000 },
        { "retry: 0\n", SSE_RETRY_MIN_MS },
        { "retry: 99\n", SSE_RETRY_MIN_MS },
        { "retry: 100\n", 100 },
        { "retry: 60000\n", SSE_RETRY_MAX_MS },
        { "retry: 60001\n", SSE_RETRY_MAX_MS },
        { "retry: 1000000000000\n", SSE_RETRY_MAX_MS },
        { "retry: 99999999999999999999999999999999999\n", SSE_RETRY_MAX_MS },
        { "retry: 0000000000000000000000000000000000500\n", 500 },
        { "retry: 1e12\n", 0 },
        { "retry: -1\n", 0 },
        { "retry: +5\n", 0 },
        { "retry:\n", 0 },
        { "retry\n", 0 },
        { "retry: 5 \n", 0 },
        { "retry: 500\nretry: x\n", 500 },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct seen seen = { 0 };
        struct sse_parser p;

        sse_init(&p, 1000, on_event, &seen);
        CHECK_INT(feed(&p, span_of(cases[i].text), i % 3), 0);
        CHECK_INT(p.retry_ms, cases[i].want);
        sse_done(&p);
    }
}

/* The bound holds while bytes are buffered, not only when an event ends. */
TEST(an_event_past_the_limit_is_refused_before_it_ends)
{
    enum { LIMIT = 5000 };
    AUTO_FREE char *x = mem_alloc(LIMIT * 3);

    memset(x, 'x', LIMIT * 3);
    for (size_t piece = 0; piece < 900; piece += 299)
        for (int extra = -1; extra <= LIMIT; extra += extra < 2 ? 1 : LIMIT - 2) {
            struct seen seen = { 0 };
            struct sse_parser p;
            AUTO_BUF struct buf text = { 0 };
            int rc;

            sse_init(&p, LIMIT, on_event, &seen);
            buf_str(&text, "data: ");
            buf_add(&text, x, (size_t)(LIMIT + extra));
            rc = feed(&p, buf_span(&text), piece);
            CHECK_INT(rc, extra > 0 ? -PB_E_LIMIT : 0);
            CHECK(p.data.cap <= LIMIT * 2 && p.line.cap <= LIMIT);
            if (rc == 0) {
                CHECK_INT(feed(&p, SPAN("\n\n"), 0), 0);
                CHECK_INT(seen.bytes, LIMIT + extra);
                CHECK_INT(seen.events, 1);
            }
            sse_done(&p);
            buf_done(&seen.text);
        }
}

TEST(many_lines_of_one_event_count_together)
{
    struct seen seen = { 0 };
    struct sse_parser p;
    int rc = 0, lines = 0;

    sse_init(&p, 1000, on_event, &seen);
    while (rc == 0 && lines++ < 1000)
        rc = feed(&p, SPAN("data: 123456789\n"), 0);
    CHECK_INT(rc, -PB_E_LIMIT);
    CHECK_INT(lines, 101);
    sse_done(&p);
}

TEST(ids_and_types_have_a_bound_of_their_own_at_it_and_past_it)
{
    static const char *const names[] = { "id: ", "id:", "event: ", "event:" };

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        for (size_t piece = 0; piece < 3; piece++)
            for (size_t n = SSE_FIELD_ID_MAX - 1; n <= SSE_FIELD_ID_MAX + 20; n++) {
                struct seen seen = { 0 };
                struct sse_parser p;
                AUTO_BUF struct buf text = { 0 };

                sse_init(&p, 100000, on_event, &seen);
                buf_str(&text, names[i]);
                for (size_t k = 0; k < n; k++)
                    buf_byte(&text, 'y');
                buf_str(&text, "\ndata: a\n\n");
                CHECK_INT(feed(&p, buf_span(&text), piece * 500),
                          n > SSE_FIELD_ID_MAX ? -PB_E_LIMIT : 0);
                sse_done(&p);
                buf_done(&seen.text);
            }
}

/* At the bound and past it; what is left goes on where it stopped. */
TEST(no_more_is_handed_on_than_the_share)
{
    static const struct {
        struct sse_share share;
        size_t used, events;
    } cases[] = {
        { { 3, 100 }, 33, 3 }, { { 2, 100 }, 22, 2 }, { { 1, 100 }, 11, 1 },
        { { 100, 6 }, 33, 3 }, { { 100, 5 }, 32, 2 }, { { 100, 3 }, 21, 1 },
    };
    const struct span text = SPAN("data: abc\n\ndata: abc\n\ndata: abc\n\n");

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct sse_share share = cases[i].share;
        struct seen seen = { 0 };
        struct sse_parser p;
        struct pb_error err;
        size_t used;

        sse_init(&p, 1000, on_event, &seen);
        CHECK_INT(sse_feed_some(&p, text, &share, &used, &err), 0);
        CHECK_INT(used, cases[i].used);
        CHECK_INT(p.events, cases[i].events);
        CHECK_INT(sse_feed(&p, span_from(text, used), &err), 0);
        CHECK_INT(p.events, 3);
        sse_done(&p);
        buf_done(&seen.text);
    }
}

TEST(a_million_comments_and_an_endless_one_cost_no_memory)
{
    struct seen seen = { 0 };
    struct sse_parser p;
    AUTO_FREE char *x = mem_alloc(65536);

    memset(x, 'x', 65536);
    sse_init(&p, 1000, on_event, &seen);
    for (int i = 0; i < 1000000; i++)
        CHECK_INT(feed(&p, SPAN(": ping\n\n"), 0), 0);
    CHECK_INT(feed(&p, SPAN(": "), 0), 0);
    for (int i = 0; i < 1000; i++)
        CHECK_INT(feed(&p, span_make(x, 65536), 0), 0);
    CHECK_INT(feed(&p, SPAN("\nunknown: "), 0), 0);
    for (int i = 0; i < 1000; i++)
        CHECK_INT(feed(&p, span_make(x, 65536), 0), 0);
    CHECK(p.line.cap + p.data.cap + p.type.cap + p.id.cap < 8192);
    CHECK_INT(feed(&p, SPAN("\ndata: a\n\n"), 0), 0);
    CHECK_STR(buf_cstr(&seen.text), "message||a\n");
    sse_done(&p);
    buf_done(&seen.text);
}

TEST(a_large_data_line_is_copied_once)
{
    enum { SIZE = 10 * 1024 * 1024, CHUNK = 16384 };
    AUTO_FREE char *x = mem_alloc(CHUNK);
    struct seen seen = { 0 };
    struct sse_parser p;
    uint64_t blocks;

    memset(x, 'x', CHUNK);
    sse_init(&p, SIZE, on_event, &seen);
    blocks = mem_count();
    CHECK_INT(feed(&p, SPAN("data: "), 0), 0);
    for (int i = 0; i < SIZE / CHUNK; i++)
        CHECK_INT(feed(&p, span_make(x, CHUNK), 0), 0);
    CHECK_INT(feed(&p, SPAN("\n"), 0), 0);
    CHECK(p.line.cap < 2048); /* it never went through the line buffer */
    CHECK(mem_count() - blocks < 40);
    CHECK_INT(feed(&p, SPAN("\n"), 0), 0);
    CHECK_INT(seen.bytes, SIZE);
    CHECK(p.data.cap <= 65536); /* and gives the memory back */
    sse_done(&p);
    buf_done(&seen.text);
}

/* Looking for LF from every CR anew would take minutes here. */
TEST(many_short_lines_in_one_chunk_take_linear_time)
{
    enum { LINES = 2000000 };
    AUTO_FREE char *x = mem_alloc(LINES);
    struct seen seen = { 0 };
    struct sse_parser p;

    memset(x, '\r', LINES);
    sse_init(&p, 1000, on_event, &seen);
    CHECK_INT(feed(&p, span_make(x, LINES), 0), 0);
    memset(x, '\n', LINES);
    CHECK_INT(feed(&p, span_make(x, LINES), 0), 0);
    sse_done(&p);
    CHECK_INT(seen.events, 0);
}

TEST(what_is_written_reads_back)
{
    static const struct {
        const char *type, *id;
        struct span parts[3];
        const char *want, *text;
    } cases[] = {
        /* clang-format off */
        { NULL, NULL,   { SPAN_CONST("a") },                                    "message||a\n",             "data: a\n\n" },
        { "x",  "7",    { SPAN_CONST("{"), SPAN_CONST("1"), SPAN_CONST("}") },  "x|+7|{1}\n",               "event: x\nid: 7\ndata: {1}\n\n" },
        { NULL, NULL,   { SPAN_CONST("a\nb\r\nc\rd") },                         "message||a\\nb\\nc\\nd\n", "data: a\ndata: b\ndata: c\ndata: d\n\n" },
        { NULL, NULL,   { SPAN_CONST("a\r"), SPAN_CONST("\nb"), SPAN_CONST("\n") }, "message||a\\nb\\n\n",  "data: a\ndata: b\ndata: \n\n" },
        { NULL, NULL,   { SPAN_CONST("\n\n") },                                 "message||\\n\\n\n",        "data: \ndata: \ndata: \n\n" },
        { "a\nb", "1\r\n2", { SPAN_CONST(" x") },                               "ab|+12| x\n",              "event: ab\nid: 12\ndata:  x\n\n" },
        { "x",  "7",    { { 0 } },                                              "x|+7|\n",                  "event: x\nid: 7\n\n" },
        /* clang-format on */
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_BUF struct buf out = { 0 };
        struct seen seen = { 0 };
        struct sse_parser p;

        sse_write(&out, cases[i].type, cases[i].id, cases[i].parts, 3);
        CHECK_STR(buf_cstr(&out), cases[i].text);
        sse_init(&p, 1000, on_event, &seen);
        CHECK_INT(feed(&p, buf_span(&out), 0), 0);
        CHECK_STR(buf_cstr(&seen.text), cases[i].want);
        sse_done(&p);
        buf_done(&seen.text);
    }
}

TEST(priming_is_written_as_the_clients_expect_it)
{
    AUTO_BUF struct buf out = { 0 };

    sse_write_priming(&out, "s1-0", 2000);
    sse_write_priming(&out, "s1-1", 0);
    CHECK_STR(buf_cstr(&out), "id: s1-0\nretry: 2000\ndata:\n\n"
                              "id: s1-1\ndata:\n\n");
}
