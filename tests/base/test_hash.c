#include "base/base.h"
#include "tap.h"

static const char *hex(const uint8_t *p, size_t n)
{
    static char out[2 * 64 + 1];

    for (size_t i = 0; i < n; i++)
        snprintf(out + 2 * i, 3, "%02x", p[i]);
    return out;
}

TEST(sha_256_gives_the_published_digests)
{
    static const struct {
        const char *text, *want; /* FIPS 180-4 examples */
    } cases[] = {
        { "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
        { "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
        { "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
    };
    uint8_t out[SHA256_BYTES];

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        sha256(span_of(cases[i].text), out);
        CHECK_STR(hex(out, sizeof out), cases[i].want);
    }
    sha256((struct span){ 0 }, out);
    CHECK_STR(hex(out, sizeof out), cases[0].want);
}

TEST(hmac_sha_256_gives_the_digests_of_rfc_4231)
{
    char key[131];
    uint8_t out[SHA256_BYTES];

    memset(key, 0x0b, 20);
    hmac_sha256(span_make(key, 20), SPAN("Hi There"), out);
    CHECK_STR(hex(out, sizeof out),
              "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    hmac_sha256(SPAN("Jefe"), SPAN("what do ya want for nothing?"), out);
    CHECK_STR(hex(out, sizeof out),
              "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    memset(key, 0xaa, sizeof key);
    hmac_sha256(span_make(key, sizeof key),
                SPAN("Test Using Larger Than Block-Size Key - Hash Key First"), out);
    CHECK_STR(hex(out, sizeof out),
              "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(constant_time_comparison_sees_every_byte)
{
    char a[33] = { 0 }, b[33] = { 0 };

    CHECK(bytes_equal_const_time(a, b, sizeof a));
    CHECK(bytes_equal_const_time(a, b, 0));
    for (size_t i = 0; i < sizeof a; i++) {
        b[i] = 1;
        CHECK(!bytes_equal_const_time(a, b, sizeof a));
        b[i] = 0;
    }
}

TEST(the_table_hash_depends_on_every_byte_and_on_the_length)
{
    char text[40];
    uint64_t whole;

    memset(text, 'x', sizeof text);
    for (size_t n = 0; n <= sizeof text; n++) {
        whole = hash_keyed(span_make(text, n));
        CHECK(whole == hash_keyed(span_make(text, n)));
        for (size_t i = 0; i < n; i++) {
            text[i] ^= 1;
            CHECK(hash_keyed(span_make(text, n)) != whole);
            text[i] ^= 1;
        }
        if (n)
            CHECK(hash_keyed(span_make(text, n - 1)) != whole);
    }
}

TEST(the_table_hash_differs_from_process_to_process)
{
    int fds[2];
    uint64_t first, second;

    CHECK_INT(pipe(fds), 0);
    for (int i = 0; i < 2; i++) {
        if (fork() == 0) {
            uint64_t h = hash_keyed(SPAN("same"));

            _exit(write(fds[1], &h, sizeof h) == sizeof h ? 0 : 1);
        }
    }
    CHECK_INT(read(fds[0], &first, sizeof first), sizeof first);
    CHECK_INT(read(fds[0], &second, sizeof second), sizeof second);
    CHECK(first != second);
    while (wait(NULL) > 0)
        ;
    close(fds[0]);
    close(fds[1]);
}

TEST(sha512_agrees_with_the_standard)
{
    static const uint8_t expected[8] = { 0xdd, 0xaf, 0x35, 0xa1, 0x93, 0x61, 0x7a, 0xba };
    uint8_t out[SHA512_BYTES];

    sha512(SPAN("abc"), out);
    CHECK(memcmp(out, expected, sizeof expected) == 0);
    CHECK_INT(out[SHA512_BYTES - 1], 0x9f);
}
