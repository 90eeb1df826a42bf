/* What has changed in a text, word by word. */
#include "gate/gate.h"
#include "tap.h"

/* "same[-old-]{+new+}" */
static const char *shown(const char *old, const char *fresh, size_t steps)
{
    static char text[65536];
    struct diff d;
    AUTO_BUF struct buf b = { 0 };

    diff_words(&d, span_of(old), span_of(fresh), &steps);
    for (size_t i = 0; i < d.n; i++) {
        buf_str(&b, d.v[i].op == DIFF_SAME ? "" : d.v[i].op == DIFF_DEL ? "[-" : "{+");
        buf_add_span(&b, d.v[i].text);
        buf_str(&b, d.v[i].op == DIFF_SAME ? "" : d.v[i].op == DIFF_DEL ? "-]" : "+}");
    }
    diff_done(&d);
    snprintf(text, sizeof text, "%s", buf_cstr(&b));
    return text;
}

TEST(words_that_differ_are_found)
{
    CHECK_STR(shown("", "", 1000), "");
    CHECK_STR(shown("a b c", "a b c", 1000), "a b c");
    CHECK_STR(shown("", "new", 1000), "{+new+}");
    CHECK_STR(shown("old", "", 1000), "[-old-]");
    CHECK_STR(shown("adds two numbers", "adds three numbers", 1000),
              "adds [-two-]{+three+} numbers");
    CHECK_STR(shown("reads a file", "reads a file, then sends it", 1000),
              "reads a file{+, then sends it+}");
    /* two places, and not all that lies between them */
    CHECK_STR(shown("a b c d e f", "a x c d e y", 1000), "a [-b-]{+x+} c d e [-f-]{+y+}");
    CHECK_STR(shown("größe alt", "größe neu", 1000), "größe [-alt-]{+neu+}");
}

TEST(past_its_bounds_a_difference_is_one_piece)
{
    AUTO_BUF struct buf old = { 0 }, fresh = { 0 };
    struct diff d;
    size_t steps = PIN_DIFF_STEPS_MAX;

    CHECK_STR(shown("a b c d e f", "a x c d e y", 3), "a [-b c d e f-]{+x c d e y+}");
    for (int i = 0; i < PIN_DIFF_WORDS_MAX; i++) {
        buf_str(&old, "w ");
        buf_str(&fresh, "w ");
    }
    buf_str(&fresh, "more");
    diff_words(&d, buf_span(&old), buf_span(&fresh), &steps);
    CHECK_INT(d.n, 2);
    CHECK(d.v[0].op == DIFF_DEL && d.v[1].op == DIFF_ADD);
    diff_done(&d);
    /* more edits than are looked for */
    old.n = fresh.n = 0;
    for (int i = 0; i < PIN_DIFF_EDITS_MAX; i++) {
        buf_printf(&old, "a%d same ", i);
        buf_printf(&fresh, "b%d same ", i);
    }
    steps = PIN_DIFF_STEPS_MAX;
    diff_words(&d, buf_span(&old), buf_span(&fresh), &steps);
    CHECK_INT(d.n, 3); /* the last words are the same */
    diff_done(&d);
}

/* Random edits of random words: the pieces always make both texts. */
TEST(the_pieces_make_the_old_text_and_the_new_one)
{
    static const char *const words[] = {
        "a", "bb", " ", "\n", "{", "\"x\"", "ü", "long_word", ","
    };
    uint32_t seed = 1;

    for (int round = 0; round < 3000; round++) {
        AUTO_BUF struct buf old = { 0 }, fresh = { 0 }, as_old = { 0 }, as_fresh = { 0 };
        size_t steps = round % 7 ? PIN_DIFF_STEPS_MAX : (size_t)round;
        struct diff d;

        for (int i = 0; i < round % 60; i++) {
            uint32_t r = (seed = seed * 1664525 + 1013904223) >> 8;
            const char *w = words[r % ARRAY_LEN(words)];

            if (r % 5 != 0)
                buf_str(&old, w);
            if (r % 7 != 0)
                buf_str(&fresh, r % 11 ? w : "z");
        }
        diff_words(&d, buf_span(&old), buf_span(&fresh), &steps);
        for (size_t i = 0; i < d.n; i++) {
            CHECK(d.v[i].text.n > 0);
            if (d.v[i].op != DIFF_ADD)
                buf_add_span(&as_old, d.v[i].text);
            if (d.v[i].op != DIFF_DEL)
                buf_add_span(&as_fresh, d.v[i].text);
        }
        CHECK(span_eq(buf_span(&old), buf_span(&as_old)));
        CHECK(span_eq(buf_span(&fresh), buf_span(&as_fresh)));
        diff_done(&d);
    }
}

TEST(json_is_written_for_people)
{
    AUTO_BUF struct buf b = { 0 };

    diff_pretty(&b, SPAN("{\"a\":[1,{\"b\\\"\":\"x\"}],\"c\":{},\"d\":[]}"));
    CHECK_STR(buf_cstr(&b), "{\n  \"a\": [\n    1,\n    {\n      \"b\\\"\": \"x\"\n    }\n  ],\n"
                            "  \"c\": {},\n  \"d\": []\n}");
    b.n = 0;
    diff_pretty(&b, SPAN("be nice"));
    CHECK_STR(buf_cstr(&b), "be nice");
}

TEST(what_is_written_of_a_long_one_is_bounded)
{
    AUTO_BUF struct buf text = { 0 }, b = { 0 };
    struct json_out o = json_out(&b);
    size_t steps = PIN_DIFF_STEPS_MAX;
    struct diff d;

    for (int i = 0; i < PIN_DIFF_BYTES_MAX; i++)
        buf_str(&text, "ü");
    diff_words(&d, SPAN(""), buf_span(&text), &steps);
    json_begin_object(&o, NULL);
    CHECK(!diff_write(&o, "diff", &d));
    json_end(&o);
    CHECK(b.n < PIN_DIFF_BYTES_MAX + 100);
    CHECK(utf8_valid(buf_span(&b)));
    diff_done(&d);
}
