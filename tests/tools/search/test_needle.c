#include "tap.h"
#include "tools/search/search_impl.h"

static const char *slowly(struct span text, struct span in, bool nocase)
{
    for (size_t i = 0; i + text.n <= in.n; i++) {
        struct span here = span_make(in.p + i, text.n);

        if (nocase ? span_eq_nocase(here, text) : span_eq(here, text))
            return here.p;
    }
    return NULL;
}

/* Few letters, so that there are many that are nearly right. */
TEST(a_needle_is_found_where_a_slow_search_finds_it)
{
    static const char letters[] = "aAbB\n[{@`";
    unsigned seed = 1;

    for (int round = 0; round < 20000; round++) {
        char text[8], in[200];
        size_t n = 1 + (size_t)rand_r(&seed) % sizeof text, m = (size_t)rand_r(&seed) % sizeof in;
        bool nocase = round & 1;
        struct needle needle;

        for (size_t i = 0; i < n; i++)
            text[i] = letters[(size_t)rand_r(&seed) % (sizeof letters - 1)];
        for (size_t i = 0; i < m; i++)
            in[i] = letters[(size_t)rand_r(&seed) % (sizeof letters - 1)];
        for (size_t i = 0; nocase && i < n; i++)
            text[i] = text[i] >= 'A' && text[i] <= 'Z' ? (char)(text[i] | 0x20) : text[i];
        needle = needle_of(span_make(text, n), nocase);
        if (needle_find(&needle, span_make(in, m)) !=
            slowly(span_make(text, n), span_make(in, m), nocase))
            TAP_FAIL("%.*s in %.*s", (int)n, text, (int)m, in);
    }
}

TEST(lines_are_counted)
{
    AUTO_BUF struct buf b = { 0 };
    size_t want = 0;

    for (int i = 0; i < 10000; i++) {
        CHECK_INT(count_lines(buf_span(&b)), want);
        buf_byte(&b, (char)(i % 3 && i % 7 ? i % 251 : '\n'));
        want += b.p[b.n - 1] == '\n';
    }
    for (size_t i = 0; i < b.n; i++)
        b.p[i] = '\n';
    CHECK_INT(count_lines(buf_span(&b)), b.n);
}
