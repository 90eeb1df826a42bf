#include "base/base.h"
#include "tap.h"

#define AUTO_TABLE __attribute__((cleanup(table_done)))

TEST(what_is_put_is_found_until_it_is_taken_out)
{
    AUTO_TABLE struct table t = { 0 };
    int a, b;

    CHECK(table_get(&t, 1) == NULL);
    CHECK(table_del(&t, 1) == NULL);
    CHECK(table_any(&t) == NULL);
    table_put(&t, 1, &a);
    table_put(&t, UINT64_MAX, &b);
    CHECK(table_get(&t, 1) == &a);
    CHECK(table_get(&t, UINT64_MAX) == &b);
    CHECK(table_get(&t, 0) == NULL);
    CHECK(table_get(&t, 17) == NULL); /* the same place as 1 */
    CHECK_INT(t.n, 2);
    CHECK(table_del(&t, 1) == &a);
    CHECK(table_del(&t, 1) == NULL);
    CHECK(table_any(&t) == &b);
    CHECK_INT(t.n, 1);
}

/* Numbers that share a place, at the end of the table and around it: whatever goes first, the
 * others are still found. */
TEST(what_stepped_aside_is_found_after_others_went)
{
    static const uint64_t numbers[] = { 15, 31, 47, 16, 63, 1, 79 };
    enum { N = ARRAY_LEN(numbers) };

    for (size_t first = 0; first < N; first++) {
        AUTO_TABLE struct table t = { 0 };

        for (size_t i = 0; i < N; i++)
            table_put(&t, numbers[i], (void *)(uintptr_t)&numbers[i]);
        for (size_t k = 0; k < N; k++) {
            size_t gone = (first + k * 3) % N;

            CHECK(table_del(&t, numbers[gone]) == &numbers[gone]);
            for (size_t j = k + 1; j < N; j++) {
                size_t left = (first + j * 3) % N;

                CHECK(table_get(&t, numbers[left]) == &numbers[left]);
            }
        }
        CHECK_INT(t.n, 0);
    }
}

TEST(numbers_that_count_up_come_and_go_without_an_allocation)
{
    AUTO_TABLE struct table t = { 0 };
    uint64_t before;
    int v;

    for (uint64_t no = 1; no <= 1000; no++)
        table_put(&t, no, &v);
    before = mem_count();
    for (uint64_t no = 1; no <= 100000; no++) {
        CHECK(table_del(&t, no) == &v);
        table_put(&t, no + 1000, &v);
    }
    CHECK_INT(mem_count() - before, 0);
    CHECK_INT(t.n, 1000);
}
