#include "base/base.h"
#include "tap.h"

TEST(ids_are_hex_and_never_the_same)
{
    char a[ID_CHARS + 1], b[ID_CHARS + 1];

    id_new(a);
    id_new(b);
    CHECK_INT(strlen(a), ID_CHARS);
    CHECK_INT(strspn(a, "0123456789abcdef"), ID_CHARS);
    CHECK(strcmp(a, b) != 0);
}

TEST(uuids_say_that_they_are_random)
{
    for (int i = 0; i < 100; i++) {
        char u[UUID_CHARS + 1];

        id_uuid(u);
        CHECK_INT(strlen(u), UUID_CHARS);
        for (int k = 0; k < UUID_CHARS; k++)
            CHECK(k == 8 || k == 13 || k == 18 || k == 23 ? u[k] == '-'
                                                          : strchr("0123456789abcdef", u[k]) != 0);
        CHECK(u[14] == '4');
        CHECK(strchr("89ab", u[19]) != NULL);
    }
}

TEST(base64_gives_the_texts_of_rfc_4648)
{
    static const struct {
        const char *bytes, *text;
    } cases[] = {
        { "", "" },
        { "f", "Zg==" },
        { "fo", "Zm8=" },
        { "foo", "Zm9v" },
        { "foob", "Zm9vYg==" },
        { "fooba", "Zm9vYmE=" },
        { "foobar", "Zm9vYmFy" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_BUF struct buf b = { 0 };
        AUTO_BUF struct buf back = { 0 };

        buf_byte(&b, '>');
        base64_encode(&b, span_of(cases[i].bytes));
        CHECK_STR(buf_cstr(&b) + 1, cases[i].text);
        CHECK(base64_decode(&back, span_of(cases[i].text)));
        CHECK_SPAN(buf_span(&back), cases[i].bytes);
    }
}

TEST(every_length_and_byte_survives_both_alphabets)
{
    uint8_t bytes[256];

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 167 + 5);
    for (size_t n = 0; n <= sizeof bytes; n++) {
        AUTO_BUF struct buf std = { 0 };
        AUTO_BUF struct buf url = { 0 };
        AUTO_BUF struct buf a = { 0 };
        AUTO_BUF struct buf b = { 0 };
        struct span data = span_make((const char *)bytes, n);

        base64_encode(&std, data);
        base64url_encode(&url, data);
        CHECK_INT(strspn(buf_cstr(&url), "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                         "0123456789-_"),
                  url.n);
        CHECK(base64_decode(&a, buf_span(&std)) && span_eq(buf_span(&a), data));
        CHECK(base64url_decode(&b, buf_span(&url)) && span_eq(buf_span(&b), data));
    }
}

TEST(only_the_canonical_spelling_is_decoded)
{
    static const char *const bad[] = {
        "Z",     "Zg",   "Zg=",    "Zg===", "Zh==",     "Zm9=", "====", "=",
        "Zm9v=", "Zm 9", "Zm9v\n", "Zm9v!", "Zg==Zg==", "Z-==", "Z_==", "\xc3\xa4zz",
    };
    static const char *const bad_url[] = { "Z", "Zg==", "Zh", "Zm9", "Zm+v", "Zm/v", "Zm9vY" };

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        AUTO_BUF struct buf b = { 0 };

        buf_str(&b, "kept");
        if (base64_decode(&b, span_of(bad[i])))
            TAP_FAIL("decoded: %s", bad[i]);
        CHECK_SPAN(buf_span(&b), "kept");
    }
    for (size_t i = 0; i < ARRAY_LEN(bad_url); i++) {
        AUTO_BUF struct buf b = { 0 };

        if (base64url_decode(&b, span_of(bad_url[i])))
            TAP_FAIL("decoded: %s", bad_url[i]);
        CHECK_INT(b.n, 0);
    }
}
