#include "base/base.h"
#include "tap.h"

TEST(names_that_are_like_a_word_are_offered_nearest_first)
{
    static const char *const names[] = { "github", "gitlab", "filesystem", "git", "Fetch", NULL };
    static const struct {
        const char *word, *says;
    } cases[] = {
        { "githb", "; did you mean 'github', 'gitlab' or 'git'?" },
        { "gihtub", "; did you mean 'github'?" },
        { "gitub", "; did you mean 'github', 'gitlab' or 'git'?" },
        { "file", "; did you mean 'filesystem'?" },
        { "fetch", "; did you mean 'Fetch'?" },
        { "FETCH", "; did you mean 'Fetch'?" },
        { "fecht", "; did you mean 'Fetch'?" },
        { "gi", "; did you mean 'git', 'github' or 'gitlab'?" },
        { "f", "" },
        { "", "" },
        { "postgres", "" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_BUF struct buf b = { 0 };

        CHECK_INT(near_write_of(&b, span_of(cases[i].word), names), *cases[i].says != '\0');
        CHECK_STR(buf_cstr(&b), cases[i].says);
    }
}

TEST(as_many_slips_as_letters_make_another_word)
{
    static const struct {
        const char *word, *name;
        bool like;
    } cases[] = {
        { "x", "y", false },
        { "x", "X", true },
        { "x", "xy", false },
        { "xy", "x", false },
        { "xy", "xz", true },
        { "xy", "yx", true },
        { "env", "dev", false },
        { "env", "evn", true },
        { "abcd", "abxy", false },
        { "abcde", "abxye", true },
        { "a\xc3\xa4", "a\xc3\xa4z", true },
        { "", "", false },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct near near;

        near_init(&near, span_of(cases[i].word));
        if ((near_unlike(&near, span_of(cases[i].name)) != SIZE_MAX) != cases[i].like)
            TAP_FAIL("%s and %s", cases[i].word, cases[i].name);
    }
}

TEST(only_so_much_of_a_name_is_compared_and_shown)
{
    static const char *const none[] = { NULL };
    const char *names[] = { "x", NULL, NULL };
    char word[200], name[200];
    AUTO_BUF struct buf b = { 0 };
    struct near near;

    CHECK(!near_write_of(&b, SPAN("x"), none));
    memset(word, 'x', sizeof word);
    CHECK(!near_write_of(&b, span_make(word, sizeof word), names));
    memcpy(name, word, sizeof name);
    for (size_t n = NEAR_CHARS_MAX - 1; n <= NEAR_CHARS_MAX + 1; n++) {
        near_init(&near, span_make(word, n));
        name[n - 1] = 'y';
        CHECK_INT(near_unlike(&near, span_make(name, n)), n <= NEAR_CHARS_MAX);
        name[n - 1] = 'x';
    }
    near_keep(&near, span_make(name, sizeof name), 0);
    CHECK(near_write(&near, &b));
    CHECK_INT(b.n, strlen("; did you mean ''?") + NEAR_CHARS_MAX);
}

TEST(so_many_names_are_offered_and_no_more)
{
    static const char *const names[] = { "reader1", "reader2", "read", "reader3", "readers", NULL };
    AUTO_BUF struct buf b = { 0 };

    CHECK(near_write_of(&b, SPAN("reade"), names));
    CHECK_STR(buf_cstr(&b), "; did you mean 'read', 'reader1' or 'reader2'?");
    _Static_assert(NEAR_NAMES_MAX == 3, "as the text says");
}

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* The distance by the book, against the one by bit vectors. */
static size_t by_the_book(struct span a, struct span b)
{
    size_t rows[80][80];

    for (size_t i = 0; i <= a.n; i++)
        for (size_t k = 0; k <= b.n; k++) {
            if (!i || !k) {
                rows[i][k] = i + k;
                continue;
            }
            rows[i][k] = least(rows[i - 1][k - 1] + (a.p[i - 1] != b.p[k - 1]),
                               least(rows[i - 1][k], rows[i][k - 1]) + 1);
            if (i > 1 && k > 1 && a.p[i - 1] == b.p[k - 2] && a.p[i - 2] == b.p[k - 1])
                rows[i][k] = least(rows[i][k], rows[i - 2][k - 2] + 1);
        }
    return rows[a.n][b.n];
}

TEST(a_name_is_like_a_word_exactly_when_their_edit_distance_is_small)
{
    static const struct span name = SPAN_CONST("abcabcabcabc");
    uint32_t state = 7;
    size_t like = 0;

    for (int i = 0; i < 20000; i++) {
        char text[24];
        struct span word = { text, 4 + (size_t)i % 16 };
        size_t limit = 1 + word.n / 5, d, by_bits;
        struct near near;

        for (size_t k = 0; k < word.n; k++) {
            state = state * 1664525u + 1013904223u;
            text[k] = "abc"[state >> 24 & 1 ? (k % 3) : (state >> 28) % 3];
        }
        near_init(&near, word);
        by_bits = near_unlike(&near, name);
        d = by_the_book(word, name);
        if (d > limit)
            d = word.n < name.n && memcmp(text, name.p, word.n) == 0 ? limit + 1 : SIZE_MAX;
        if (by_bits != d)
            TAP_FAIL("%.*s: %zu, not %zu", SPAN_ARG(word), by_bits, d);
        like += d != SIZE_MAX;
    }
    CHECK(like > 100);
}
