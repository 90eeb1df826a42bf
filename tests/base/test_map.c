#include "base/base.h"
#include "tap.h"

#define AUTO_MAP __attribute__((cleanup(map_done)))

TEST(what_is_put_is_found_until_it_is_deleted)
{
    AUTO_MAP struct map m = { 0 };
    int a, b;

    CHECK(map_get(&m, SPAN("a")) == NULL);
    CHECK(map_del(&m, SPAN("a")) == NULL);
    CHECK(map_put(&m, SPAN("a"), &a) == NULL);
    CHECK(map_get(&m, SPAN("a")) == &a);
    CHECK(map_put(&m, SPAN("a"), &b) == &a);
    CHECK_INT(m.n, 1);
    CHECK(map_del(&m, SPAN("a")) == &b);
    CHECK(map_get(&m, SPAN("a")) == NULL);
    CHECK_INT(m.n, 0);
}

TEST(keys_are_bytes_and_are_copied)
{
    AUTO_MAP struct map m = { 0 };
    char key[] = "k1";
    int a, b, c, d;

    map_put(&m, span_of(key), &a);
    key[1] = '2';
    map_put(&m, span_of(key), &b);
    map_put(&m, SPAN("k\0x"), &c);
    map_put(&m, (struct span){ 0 }, &d);
    CHECK(map_get(&m, SPAN("k1")) == &a);
    CHECK(map_get(&m, SPAN("k2")) == &b);
    CHECK(map_get(&m, SPAN("k\0x")) == &c);
    CHECK(map_get(&m, SPAN("k\0y")) == NULL);
    CHECK(map_get(&m, SPAN("")) == &d);
    CHECK(map_get(&m, (struct span){ 0 }) == &d);
}

TEST(iteration_follows_insertion_and_allows_deleting_the_slot_at_hand)
{
    AUTO_MAP struct map m = { 0 };
    AUTO_BUF struct buf seen = { 0 };
    struct map_slot *s;
    int v;

    for (char c = 'a'; c <= 'z'; c++)
        map_put(&m, span_make(&c, 1), &v);
    MAP_FOREACH(s, &m) {
        buf_add(&seen, s->key, s->key_n);
        if (*s->key % 2)
            map_del(&m, span_make(s->key, s->key_n));
    }
    CHECK_STR(buf_cstr(&seen), "abcdefghijklmnopqrstuvwxyz");
    CHECK_INT(m.n, 13);
    seen.n = 0;
    MAP_FOREACH(s, &m)
        buf_add(&seen, s->key, s->key_n);
    CHECK_STR(buf_cstr(&seen), "bdfhjlnprtvxz");
}

/* The map against a plain array, over many random steps. */
TEST(a_map_agrees_with_an_array_over_a_hundred_thousand_steps)
{
    enum { KEYS = 500 };
    AUTO_MAP struct map m = { 0 };
    static int values[KEYS];
    bool there[KEYS] = { 0 };
    uint64_t state = 42;
    size_t n = 0;

    for (int step = 0; step < 100000; step++) {
        uint64_t key;

        state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
        key = (state >> 33) % KEYS;
        if ((state >> 60) < 8) {
            CHECK(map_put(&m, map_u64(&key), &values[key]) == (there[key] ? &values[key] : NULL));
            n += !there[key];
            there[key] = true;
        } else {
            CHECK(map_del(&m, map_u64(&key)) == (there[key] ? &values[key] : NULL));
            n -= there[key];
            there[key] = false;
        }
        CHECK_INT(m.n, n);
    }
    for (uint64_t key = 0; key < KEYS; key++)
        CHECK(map_get(&m, map_u64(&key)) == (there[key] ? &values[key] : NULL));
    CHECK(m.cap <= 2048); /* deleted slots are used again */
}
