#include "base/base.h"
#include "tap.h"
#include <stdalign.h>

TEST(memory_is_zeroed_aligned_and_separate)
{
    AUTO_ARENA struct arena a = { 0 };
    char *last = NULL;

    for (size_t n = 0; n < 3000; n += 7) {
        char *p = arena_alloc(&a, n);

        CHECK_INT((uintptr_t)p % alignof(max_align_t), 0);
        for (size_t i = 0; i < n; i++)
            CHECK(p[i] == 0);
        memset(p, 0xff, n);
        CHECK(p != last);
        last = p;
    }
}

TEST(reused_memory_is_zeroed_again)
{
    AUTO_ARENA struct arena a = { 0 };
    char *p;

    memset(arena_alloc(&a, 100), 0xff, 100);
    arena_reset(&a);
    p = arena_alloc(&a, 100);
    for (int i = 0; i < 100; i++)
        CHECK(p[i] == 0);
}

TEST(large_blocks_are_served_and_given_back_by_a_reset)
{
    AUTO_ARENA struct arena a = { 0 };

    memset(arena_alloc(&a, 1 << 20), 1, 1 << 20);
    arena_reset(&a);
    CHECK(a.head == NULL);
    arena_alloc(&a, 10);
    arena_reset(&a);
    CHECK(a.head != NULL);
    arena_done(&a);
    CHECK(a.head == NULL);
    arena_reset(&a);
}

TEST(copies_and_formatted_texts_are_terminated)
{
    AUTO_ARENA struct arena a = { 0 };

    CHECK_STR(arena_dup(&a, SPAN("abc")), "abc");
    CHECK_STR(arena_dup(&a, (struct span){ 0 }), "");
    CHECK_STR(arena_printf(&a, "%d-%s", 5, "x"), "5-x");
    CHECK_STR(arena_printf(&a, "%s", ""), "");
    CHECK_INT(strlen(arena_printf(&a, "%*s", 10000, "")), 10000);
}
