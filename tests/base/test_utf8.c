#include "base/base.h"
#include "tap.h"

/* The definition, slowly: decode by the bit pattern, then refuse what has a shorter form, is a
 * surrogate or lies past U+10FFFF. */
static size_t slow_length(const uint8_t *p, size_t n)
{
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    size_t len = p[0] < 0x80             ? 1
                 : (p[0] & 0xE0) == 0xC0 ? 2
                 : (p[0] & 0xF0) == 0xE0 ? 3
                 : (p[0] & 0xF8) == 0xF0 ? 4
                                         : 0;
    uint32_t c;

    if (len < 2)
        return len;
    if (n < len)
        return 0;
    c = p[0] & (0x7Fu >> len);
    for (size_t i = 1; i < len; i++) {
        if ((p[i] & 0xC0) != 0x80)
            return 0;
        c = c << 6 | (p[i] & 0x3F);
    }
    return c < least[len] || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF) ? 0 : len;
}

TEST(lengths_follow_the_definition_for_every_start)
{
    static const uint8_t tails[] = { 0x00, 0x41, 0x7f, 0x80, 0xbf, 0xc0, 0xff };

    for (unsigned a = 0; a < 256; a++)
        for (unsigned b = 0; b < 256; b++)
            for (size_t c = 0; c < ARRAY_LEN(tails); c++)
                for (size_t d = 0; d < ARRAY_LEN(tails); d++) {
                    uint8_t s[] = { (uint8_t)a, (uint8_t)b, tails[c], tails[d] };

                    for (size_t n = 1; n <= 4; n++)
                        if (utf8_length(s, s + n) != slow_length(s, n))
                            TAP_FAIL("%02x %02x %02x %02x of %zu", s[0], s[1], s[2], s[3], n);
                }
}

TEST(every_code_point_is_written_as_valid_utf_8)
{
    AUTO_BUF struct buf b = { 0 };

    for (uint32_t c = 0; c < 0x110000; c++) {
        bool surrogate = c >= 0xD800 && c <= 0xDFFF;

        b.n = 0;
        utf8_append(&b, c);
        CHECK_INT(b.n, surrogate ? 3 : c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4);
        CHECK_INT(slow_length((const uint8_t *)b.p, b.n), b.n);
        if (surrogate)
            CHECK(memcmp(b.p, "\xef\xbf\xbd", 3) == 0);
    }
    b.n = 0;
    utf8_append(&b, 0x110000);
    utf8_append(&b, UINT32_MAX);
    CHECK_SPAN(buf_span(&b), "\xef\xbf\xbd\xef\xbf\xbd");
}

TEST(texts_are_valid_as_a_whole_or_not_at_all)
{
    CHECK(utf8_valid((struct span){ 0 }));
    CHECK(utf8_valid(SPAN("a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\0z")));
    CHECK(!utf8_valid(SPAN("a\xc3")));
    CHECK(!utf8_valid(SPAN("\xff")));
    CHECK(!utf8_valid(SPAN("\xed\xa0\x80")));
}

TEST(a_cut_leaves_no_half_character)
{
    static const struct {
        const char *text;
        size_t max;
        const char *want;
    } cases[] = {
        { "", 0, "" },       { "abc", 0, "" }, { "abc", 2, "ab" }, { "abc", 3, "abc" },
        { "abc", 4, "abc" }, { "aä", 2, "a" }, { "aä", 3, "aä" },  { "€", 1, "" },
        { "€", 2, "" },      { "€x", 3, "€" }, { "x😀", 4, "x" },   { "x😀y", 5, "x😀" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct span got = utf8_cut(span_of(cases[i].text), cases[i].max);

        CHECK_INT(got.n, strlen(cases[i].want));
        CHECK(span_is(got, cases[i].want));
    }
}

TEST(control_characters_become_question_marks)
{
    char text[] = "a\033[31m\r\n\x7f\t\xc2\x9b"
                  "2J\xc2\xa0\xc3\xa4\xc2";

    text_make_printable(text);
    CHECK_STR(text, "a?[31m??????2J\xc2\xa0\xc3\xa4\xc2");
}

TEST(characters_that_hide_or_turn_text_around_are_made_visible)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        { "a\xe2\x80\xae"
          "b",
          "a???b" },                              /* U+202E, right to left */
        { "\xe2\x80\xaa\xe2\x80\xa8", "??????" }, /* U+202A, U+2028 */
        { "re\xe2\x80\x8b"
          "ad\xe2\x80\x8f",
          "re???ad???" },                           /* U+200B, U+200F */
        { "\xe2\x81\xa0\xe2\x81\xa9x", "??????x" }, /* U+2060, U+2069 */
        { "\xef\xbb\xbf"
          "x",
          "???x" },                                           /* U+FEFF */
        { "\xd8\x9c\xe1\xa0\x8ex\xef\xbf\xb9", "?????x???" }, /* U+061C, U+180E, U+FFF9 */
        { "\xf3\xa0\x81\xa1x\xf3\xa0\x80\x80", "????x????" }, /* U+E0061, U+E0000 */
        { "\xd8\x9b\xd8\x9d\xe1\xa0\x8f\xef\xbf\xbd\xf3\xa0\x82\x80", NULL }, /* beside */
        { "\xe2\x80\x8a\xe2\x80\x90\xe2\x80\xaf\xe2\x81\xaa", NULL },         /* their neighbours */
        { "\xe2\x80\x9cquoted\xe2\x80\x9d \xe2\x80\xa6", NULL },
        { "cut \xe2\x80", NULL },
        { "cut \xe2", NULL },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char text[64];

        snprintf(text, sizeof text, "%s", cases[i].text);
        text_make_printable(text);
        CHECK_STR(text, cases[i].want ? cases[i].want : cases[i].text);
    }
}
