#include "tap.h"
#include "tools/search/search_impl.h"

static void put(struct searches *s, const char *whose, size_t bytes)
{
    struct kept_search k = { .title = mem_dup(whose), .found.bytes = bytes };

    searches_put(s, whose, &k);
}

static void see(const struct kept_search *k, void *ctx) { *(const char **)ctx = k->title; }

static bool has(struct searches *s, const char *whose)
{
    const char *title = NULL;

    return searches_get(s, whose, see, (void *)&title) && title && strcmp(title, whose) == 0;
}

/* S3-66 */
TEST(each_conversation_has_its_last_results_and_the_oldest_go)
{
    enum { THIRD = SEARCH_KEPT_BYTES / 3 - 1000 };
    struct search_state s;

    search_state_init(&s);
    CHECK(!has(s.last, "a"));
    put(s.last, "a", THIRD);
    put(s.last, "b", THIRD);
    put(s.last, "c", THIRD);
    put(s.last, "b", THIRD); /* instead of what it had */
    CHECK(has(s.last, "b") && has(s.last, "c") && has(s.last, "a"));
    put(s.last, "d", THIRD); /* b was looked at longest ago */
    CHECK(!has(s.last, "b") && has(s.last, "a") && has(s.last, "c") && has(s.last, "d"));
    put(s.last, "e", 2 * (size_t)SEARCH_KEPT_BYTES); /* itself it stays */
    CHECK(has(s.last, "e") && !has(s.last, "d"));
    search_state_done(&s);
}
