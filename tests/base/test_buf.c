#include "base/base.h"
#include "tap.h"

TEST(a_zeroed_buffer_is_empty_and_grows)
{
    AUTO_BUF struct buf b = { 0 };

    CHECK_INT(buf_span(&b).n, 0);
    buf_add(&b, NULL, 0);
    CHECK(b.p == NULL);
    buf_str(&b, "ab");
    buf_byte(&b, 'c');
    buf_add_span(&b, SPAN("de"));
    buf_add_span(&b, (struct span){ 0 });
    CHECK_SPAN(buf_span(&b), "abcde");
    CHECK_STR(buf_cstr(&b), "abcde");
    CHECK_INT(b.n, 5);
}

TEST(bytes_survive_growing)
{
    AUTO_BUF struct buf b = { 0 };

    for (size_t i = 0; i < 100000; i++)
        buf_byte(&b, (char)(i * 7));
    CHECK_INT(b.n, 100000);
    for (size_t i = 0; i < b.n; i++)
        CHECK(b.p[i] == (char)(i * 7));
}

TEST(reserved_room_is_behind_what_is_there)
{
    AUTO_BUF struct buf b = { 0 };
    char *at;

    buf_str(&b, "x");
    at = buf_reserve(&b, 1000);
    CHECK(at == b.p + 1);
    CHECK(b.cap >= 1001);
    CHECK_INT(b.n, 1);
}

TEST(printing_takes_texts_of_any_length)
{
    for (int n = 0; n < 600; n += 59) {
        AUTO_BUF struct buf b = { 0 };

        buf_printf(&b, "<%*s>", n, "");
        buf_printf(&b, "%d", n);
        CHECK(b.n > (size_t)n + 2);
        CHECK(b.p[0] == '<' && b.p[n + 1] == '>');
    }
}

TEST(printing_at_the_edge_of_the_capacity_loses_nothing)
{
    for (size_t fill = 100; fill < 300; fill++) {
        AUTO_BUF struct buf b = { 0 };

        for (size_t i = 0; i < fill; i++)
            buf_byte(&b, 'x');
        buf_printf(&b, "%s", "0123456789");
        CHECK_INT(b.n, fill + 10);
        CHECK(memcmp(b.p + fill, "0123456789", 10) == 0);
    }
}

TEST(consuming_drops_the_first_bytes)
{
    AUTO_BUF struct buf b = { 0 };

    buf_consume(&b, 0);
    buf_str(&b, "abcdef");
    buf_consume(&b, 2);
    CHECK_SPAN(buf_span(&b), "cdef");
    buf_consume(&b, 4);
    CHECK_INT(b.n, 0);
    buf_str(&b, "x");
    buf_consume(&b, 99);
    CHECK_INT(b.n, 0);
}

TEST(shrinking_gives_memory_back_only_when_empty_and_large)
{
    AUTO_BUF struct buf b = { 0 };

    buf_reserve(&b, 5000);
    buf_byte(&b, 'x');
    buf_shrink(&b, 100);
    CHECK(b.cap >= 5000);
    b.n = 0;
    buf_shrink(&b, 1 << 20);
    CHECK(b.cap >= 5000);
    buf_shrink(&b, 100);
    CHECK_INT(b.cap, 0);
    buf_str(&b, "again");
    CHECK_STR(buf_cstr(&b), "again");
}

TEST(taken_bytes_are_terminated_and_leave_an_empty_buffer)
{
    AUTO_BUF struct buf b = { 0 };
    AUTO_FREE char *none = buf_take(&b);
    AUTO_FREE char *some = NULL;

    CHECK_STR(none, "");
    buf_str(&b, "mine");
    some = buf_take(&b);
    CHECK_STR(some, "mine");
    CHECK_INT(b.n, 0);
    CHECK(b.p == NULL);
}

TEST(blobs_are_shared_and_freed_with_the_last_reference)
{
    AUTO_BUF struct buf b = { 0 };
    AUTO(blob) struct blob *copy = blob_new(SPAN("a\0b"));
    AUTO(blob) struct blob *taken = NULL;
    AUTO(blob) struct blob *empty = blob_new((struct span){ 0 });
    struct blob *again = blob_ref(copy);

    CHECK(again == copy);
    blob_unref(again);
    CHECK(span_eq(blob_span(copy), SPAN("a\0b")));
    CHECK(copy->p[3] == '\0');
    buf_str(&b, "bytes");
    taken = blob_take_buf(&b);
    CHECK_SPAN(blob_span(taken), "bytes");
    CHECK(taken->p[5] == '\0');
    CHECK(b.p == NULL);
    CHECK_INT(blob_span(empty).n, 0);
    blob_unref(NULL);
}

TEST(numbers_are_written_in_decimal)
{
    static const struct {
        uint64_t v;
        const char *want;
    } cases[] = {
        { 0, "0" },
        { 9, "9" },
        { 10, "10" },
        { UINT64_MAX, "18446744073709551615" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_BUF struct buf b = { 0 };

        buf_uint(&b, cases[i].v);
        CHECK_STR(buf_cstr(&b), cases[i].want);
    }
}

TEST(line_ends_become_spaces_from_where_it_is_said)
{
    AUTO_BUF struct buf b = { 0 };

    buf_flatten(&b, 0);
    CHECK_INT(b.n, 0);
    buf_str(&b, "a\nb\r\nc\rd\n");
    buf_flatten(&b, 2);
    CHECK_SPAN(buf_span(&b), "a\nb  c d ");
    buf_flatten(&b, 0);
    CHECK_SPAN(buf_span(&b), "a b  c d ");
    buf_flatten(&b, b.n);
}
