#include "io/io.h"
#include "tap.h"

/* Everything the handlers were told, as text: "[line]" and "<head:total>". */
struct log {
    struct lines lines;
    struct buf text;
    int stop_at; /* the handler call that returns false; 0: none */
    int calls;
    bool quiet; /* count only */
    bool end_us;
};

static bool note(struct log *g)
{
    g->calls++;
    if (g->end_us)
        lines_done(&g->lines);
    return g->calls != g->stop_at;
}

static bool on_line(void *ctx, struct span line)
{
    struct log *g = ctx;

    if (!g->quiet)
        buf_printf(&g->text, "[%.*s]", SPAN_ARG(line));
    return note(g);
}

static bool on_oversize(void *ctx, struct span head, uint64_t total)
{
    struct log *g = ctx;

    buf_printf(&g->text, "<%.*s%s:%llu>", (int)(head.n < 8 ? head.n : 8), head.p,
               head.n == REQUEST_ID_PEEK ? "+" : "", (unsigned long long)total);
    return note(g);
}

static const struct lines_events events = { on_line, on_oversize };

static void log_init(struct log *g, size_t limit)
{
    *g = (struct log){ 0 };
    lines_init(&g->lines, limit, &events, g);
}

static void log_done(struct log *g)
{
    lines_done(&g->lines);
    buf_done(&g->text);
}

/* Feeds in pieces of `step` bytes and resumes at once when stopped. */
static void feed(struct log *g, struct span text, size_t step)
{
    for (size_t at = 0; at < text.n; at += step) {
        lines_feed(&g->lines, span_make(text.p + at, text.n - at < step ? text.n - at : step));
        while (lines_stopped(&g->lines) && !g->lines.done)
            lines_resume(&g->lines);
    }
}

TEST(lines_come_out_the_same_however_the_chunks_are_cut)
{
    static const struct {
        const char *in, *want;
    } cases[] = {
        { "", "" },
        { "\n", "" },
        { "one\n", "[one]" },
        { "one", "[one]" },
        { "one\ntwo\nthree\n", "[one][two][three]" },
        { "one\r\n\r\n  \t \n two \r\n", "[one][two]" },
        { "\n\n\na\n\n\nb\n\n", "[a][b]" },
        { "{\"a\":1}\n{\"b\":\r}\n", "[{\"a\":1}][{\"b\":\r}]" },
        { "1234567\n", "[1234567]" },
        { "12345678\n", "<12345678:9>" },
        { "12345678", "<12345678:8>" },
        { "      7\n", "[7]" },
        { "       8\n", "<       8:9>" },
        { "ok\nmuch too long\nok\nagain too long\n", "[ok]<much too:14>[ok]<again to:15>" },
        { "much too long", "<much too:13>" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        for (size_t step = 1; step <= 40; step++) {
            for (int stop = 0; stop <= 3; stop++) {
                struct log g;

                log_init(&g, 8);
                g.stop_at = stop;
                feed(&g, span_of(cases[i].in), step);
                lines_end(&g.lines);
                CHECK_STR(buf_cstr(&g.text), cases[i].want);
                log_done(&g);
            }
        }
    }
}

TEST(the_limit_counts_the_newline)
{
    static const struct {
        size_t length; /* without the newline */
        bool accepted;
    } cases[] = {
        { 4094, true }, { 4095, true }, { 4096, false }, { 4097, false }, { 100000, false },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        for (size_t step = 1; step < 200000; step = step * 7 + 1) {
            AUTO_BUF struct buf in = { 0 };
            struct log g;

            memset(buf_reserve(&in, cases[i].length), 'x', cases[i].length);
            in.n = cases[i].length;
            buf_str(&in, "\nnext\n");
            log_init(&g, 4096);
            feed(&g, buf_span(&in), step);
            CHECK_INT(g.calls, 2);
            CHECK_INT(buf_cstr(&g.text)[0] == '[', cases[i].accepted);
            CHECK_HAS(buf_cstr(&g.text), "[next]");
            if (!cases[i].accepted) {
                char want[64];

                snprintf(want, sizeof want, "<xxxxxxxx+:%zu>[next]", cases[i].length + 1);
                CHECK_STR(buf_cstr(&g.text), want);
            }
            log_done(&g);
        }
    }
}

TEST(a_line_of_a_gibibyte_is_counted_and_not_kept)
{
    static char chunk[65536];
    struct log g;
    size_t most = 0;

    memset(chunk, 'y', sizeof chunk);
    memcpy(chunk, "{\"id\":7,", 8);
    log_init(&g, REQUEST_BYTES_MAX);
    for (int i = 0; i < 16384; i++) {
        lines_feed(&g.lines, span_make(chunk, sizeof chunk));
        if (i > REQUEST_BYTES_MAX / 65536 && g.lines.held.cap > most)
            most = g.lines.held.cap;
    }
    CHECK(most <= STREAM_READ_BYTES);
    lines_feed(&g.lines, SPAN("\nok\n"));
    CHECK_STR(buf_cstr(&g.text), "<{\"id\":7,+:1073741825>[ok]");
    log_done(&g);
}

TEST(memory_of_a_long_line_is_given_back)
{
    AUTO_BUF struct buf in = { 0 };
    struct log g;

    memset(buf_reserve(&in, 5000000), 'z', 5000000);
    in.n = 5000000;
    buf_byte(&in, '\n');
    log_init(&g, REQUEST_BYTES_MAX);
    g.quiet = true;
    feed(&g, buf_span(&in), 65536);
    CHECK_INT(g.calls, 1);
    CHECK(g.lines.held.cap <= STREAM_READ_BYTES);
    log_done(&g);
}

struct keeper {
    struct lines lines;
    struct blob *kept;
    const char *was; /* where the line lay */
};

static bool keep_line(void *ctx, struct span line)
{
    struct keeper *k = ctx;

    blob_unref(k->kept);
    k->was = line.p;
    k->kept = lines_keep(&k->lines, line);
    return true;
}

/* What is kept is the line in every case; only a long one in pieces brings its memory along. */
TEST(a_long_line_in_pieces_is_kept_without_a_copy)
{
    static const struct {
        size_t size, chunk;
        bool moved;
        const char *before, *after;
    } cases[] = {
        { 1000, 2000, false, "", "" },      { 1000, 10, false, "", "" },
        { 200000, 300000, false, "", "" },  { 200000, 50000, true, "", "" },
        { 200000, 50000, true, "", " \r" }, { 200000, 50000, false, " ", "" },
    };
    static const struct lines_events keeps = { keep_line, NULL };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_BUF struct buf line = { 0 }, text = { 0 };
        struct keeper k = { 0 };

        for (size_t n = 0; n < cases[i].size; n++)
            buf_byte(&line, (char)('a' + n % 26));
        buf_str(&text, cases[i].before);
        buf_add_span(&text, buf_span(&line));
        buf_str(&text, cases[i].after);
        buf_str(&text, "\n");
        lines_init(&k.lines, 1000000, &keeps, &k);
        for (size_t at = 0; at < text.n; at += cases[i].chunk) {
            size_t left = text.n - at;

            lines_feed(&k.lines,
                       span_make(text.p + at, left < cases[i].chunk ? left : cases[i].chunk));
        }
        CHECK(k.kept && span_eq(blob_span(k.kept), buf_span(&line)));
        CHECK(k.kept && (k.kept->p == k.was) == cases[i].moved);
        lines_feed(&k.lines, SPAN("next\n"));
        CHECK(k.kept && span_is(blob_span(k.kept), "next"));
        blob_unref(k.kept);
        lines_done(&k.lines);
    }
}

/* Feeds like a stream that asks where to read to. */
static void feed_in_place(struct lines *l, struct span text, size_t step)
{
    for (size_t at = 0, n; at < text.n; at += n) {
        size_t room;
        char *p = lines_room(l, &room);

        n = text.n - at < step ? text.n - at : step;
        if (p && n > room)
            n = room;
        if (p)
            memcpy(p, text.p + at, n);
        lines_feed(l, span_make(p ? p : text.p + at, n));
        while (lines_stopped(l) && !l->done)
            lines_resume(l);
    }
}

TEST(a_long_line_that_is_read_to_where_it_belongs_is_the_same)
{
    static const size_t sizes[] = { 10,     65535,  65536,   65537,  200000,
                                    999998, 999999, 1000000, 1500000 };
    static const size_t steps[] = { 1000, 65536, 70000, 1048576 };

    for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
        for (size_t k = 0; k < ARRAY_LEN(steps); k++)
            for (int stop_at = 0; stop_at < 4; stop_at++) {
                AUTO_BUF struct buf text = { 0 };
                struct log want, got;

                for (int line = 0; line < 2; line++) {
                    for (size_t n = 0; n < sizes[i]; n++)
                        buf_byte(&text, (char)('a' + n % 26));
                    buf_str(&text, "\nshort\n");
                }
                log_init(&want, 1000000);
                log_init(&got, 1000000);
                want.stop_at = got.stop_at = stop_at;
                feed(&want, buf_span(&text), steps[k]);
                feed_in_place(&got.lines, buf_span(&text), steps[k]);
                CHECK_INT(got.calls, 4);
                CHECK(span_eq(buf_span(&got.text), buf_span(&want.text)));
                log_done(&want);
                log_done(&got);
            }
}

TEST(a_complete_line_in_a_chunk_is_not_copied)
{
    struct log g;
    uint64_t before;

    log_init(&g, REQUEST_BYTES_MAX);
    g.quiet = true;
    before = mem_count();
    for (int i = 0; i < 100; i++)
        lines_feed(&g.lines, SPAN("{\"jsonrpc\":\"2.0\"}\n{}\n{}\n"));
    CHECK_INT(g.calls, 300);
    CHECK_INT(mem_count() - before, 0);
    log_done(&g);
}

TEST(a_handler_can_stop_in_the_middle_of_a_chunk)
{
    struct log g;

    log_init(&g, 100);
    g.stop_at = 2;
    lines_feed(&g.lines, SPAN("a\nb\nc\nd"));
    CHECK_STR(buf_cstr(&g.text), "[a][b]");
    CHECK(lines_stopped(&g.lines));
    lines_feed(&g.lines, SPAN("e\nf\n"));
    CHECK_STR(buf_cstr(&g.text), "[a][b]");
    g.stop_at = 3;
    lines_resume(&g.lines);
    CHECK_STR(buf_cstr(&g.text), "[a][b][c]");
    lines_end(&g.lines);
    CHECK_STR(buf_cstr(&g.text), "[a][b][c]");
    lines_resume(&g.lines);
    CHECK_STR(buf_cstr(&g.text), "[a][b][c][de][f]");
    CHECK(!lines_stopped(&g.lines));
    log_done(&g);
}

TEST(a_last_line_waits_for_a_stopped_handler)
{
    struct log g;

    log_init(&g, 100);
    g.stop_at = 1;
    lines_feed(&g.lines, SPAN("a\nrest"));
    lines_end(&g.lines);
    CHECK_STR(buf_cstr(&g.text), "[a]");
    lines_resume(&g.lines);
    CHECK_STR(buf_cstr(&g.text), "[a][rest]");
    lines_feed(&g.lines, SPAN("after the end\n"));
    CHECK_STR(buf_cstr(&g.text), "[a][rest]");
    log_done(&g);
}

TEST(stopping_at_every_line_stays_linear)
{
    enum { LINES = 200000 };
    AUTO_BUF struct buf in = { 0 };
    struct log g;

    for (int i = 0; i < LINES; i++)
        buf_str(&in, "{\"n\":1}\n");
    log_init(&g, 100);
    g.quiet = true;
    g.stop_at = 1;
    lines_feed(&g.lines, buf_span(&in));
    while (lines_stopped(&g.lines)) {
        g.stop_at = g.calls + 1;
        lines_resume(&g.lines);
    }
    /* quadratic would be 160 GB of copying: the time limit of the test */
    CHECK_INT(g.calls, LINES);
    log_done(&g);
}

TEST(one_byte_at_a_time_stays_linear)
{
    struct log g;

    log_init(&g, REQUEST_BYTES_MAX);
    g.quiet = true;
    for (int i = 0; i < 4000000; i++)
        lines_feed(&g.lines, SPAN("x"));
    lines_feed(&g.lines, SPAN("\n"));
    CHECK_INT(g.calls, 1);
    log_done(&g);
}

TEST(a_handler_may_end_the_reader)
{
    static const char *const inputs[] = { "a\nb\nc\n", "a", "much too long for it\nb\n" };

    for (size_t i = 0; i < ARRAY_LEN(inputs); i++) {
        for (size_t step = 1; step < 30; step++) {
            struct log g;

            log_init(&g, 8);
            g.end_us = true;
            feed(&g, span_of(inputs[i]), step);
            lines_end(&g.lines);
            CHECK_INT(g.calls, 1);
            log_done(&g);
        }
    }
}
