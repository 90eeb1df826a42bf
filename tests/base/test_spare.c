#include "base/base.h"
#include "tap.h"
#include <pthread.h>

static void take_and_give(size_t n, size_t size)
{
    AUTO_FREE void **many = mem_zero(n * sizeof *many);

    for (size_t i = 0; i < n; i++)
        memset(many[i] = spare_take(size), 0xA5, size);
    for (size_t i = 0; i < n; i++)
        spare_give(many[i], size);
}

/* What a second round of the same costs. */
static uint64_t cost_again(size_t n, size_t size)
{
    uint64_t before;

    take_and_give(n, size);
    before = mem_count();
    take_and_give(n, size);
    return mem_count() - before - 1; /* the list of them is one */
}

TEST(what_was_given_back_serves_the_next)
{
    CHECK_INT(cost_again(1, 1), 0);
    CHECK_INT(cost_again(64, 64), 0);
    CHECK_INT(cost_again(64, 65), 0);
    spare_give(NULL, 64);
}

/* One that is a byte too large comes from the allocator, counted where nothing is kept at all. */
TEST(only_small_things_are_kept)
{
    void *kept = spare_take(SPARE_MOST), *large = spare_take(SPARE_MOST + 1);

    memset(kept, 1, SPARE_MOST);
    memset(large, 2, SPARE_MOST + 1);
    spare_give(kept, SPARE_MOST);
    spare_give(large, SPARE_MOST + 1);
    CHECK_INT(cost_again(1, SPARE_MOST), 0);
}

static void *count_again(void *ctx)
{
    uint64_t *cost = ctx;

    cost[0] = cost_again(SPARE_BYTES / SPARE_MOST, SPARE_MOST);
    cost[1] = cost_again(SPARE_BYTES / SPARE_MOST + 1, SPARE_MOST);
    cost[2] = cost_again(10 * SPARE_BYTES / SPARE_MOST, SPARE_MOST);
    return NULL;
}

/* In a thread of its own, which leaves nothing behind: the sanitizer would tell. */
TEST(only_so_many_bytes_are_kept)
{
    uint64_t cost[3] = { 0 }, most = SPARE_BYTES / SPARE_MOST;
    pthread_t thread;

    CHECK_INT(pthread_create(&thread, NULL, count_again, cost), 0);
    pthread_join(thread, NULL);
    CHECK_INT(cost[0], 0);
    if (cost[1]) { /* it is zero where nothing is kept, as with AddressSanitizer */
        CHECK_INT(cost[1], 1);
        CHECK_INT(cost[2], 9 * most);
    }
}

static void *give(void *ctx)
{
    spare_give(ctx, 100);
    return NULL;
}

TEST(any_thread_may_give_it_back)
{
    pthread_t thread;

    CHECK_INT(pthread_create(&thread, NULL, give, spare_take(100)), 0);
    pthread_join(thread, NULL);
}
