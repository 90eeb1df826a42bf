#include "base/base.h"
#include "tap.h"

TEST(copies_are_terminated_and_counted)
{
    uint64_t before = mem_count();
    AUTO_FREE char *a = mem_dup("abc");
    AUTO_FREE char *b = mem_dupn("abc", 2);
    AUTO_FREE char *c = mem_dupn(NULL, 0);
    AUTO_FREE char *d = mem_dup_opt("x");
    AUTO_FREE char *none = mem_dup_opt(NULL);

    CHECK_STR(a, "abc");
    CHECK_STR(b, "ab");
    CHECK_STR(c, "");
    CHECK_STR(d, "x");
    CHECK(none == NULL);
    CHECK_INT(mem_count() - before, 4);
}

TEST(memory_of_size_zero_is_still_memory)
{
    AUTO_FREE void *a = mem_alloc(0);
    AUTO_FREE void *b = mem_zero(0);
    AUTO_FREE void *c = mem_resize(NULL, 0);

    CHECK(a && b && c);
}

TEST(taking_leaves_null_behind)
{
    AUTO_FREE char *p = mem_dup("x");
    AUTO_FREE char *q = TAKE(p);

    CHECK(p == NULL);
    CHECK_STR(q, "x");
}

TEST(zeroed_structs_are_zero)
{
    struct pair {
        int a;
        void *b;
    };
    AUTO_FREE struct pair *p = NEW(struct pair);

    CHECK(p->a == 0 && p->b == NULL);
}
