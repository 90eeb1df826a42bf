/* What goes: by age, by number, by size, and what somebody wants to be forgotten. */
#include "store_rig.h"
#include <poll.h>

static const int64_t HOUR_US = INT64_C(3600000000);

static void put_aged(struct rig *rig, unsigned from, unsigned n, int64_t age_us)
{
    for (unsigned i = from; i < from + n; i++) {
        struct record r = rig_call(i);
        char text[64];

        r.queued_us = rig->clock.wall * 1000 - age_us;
        r.started_us = r.ended_us = 0;
        snprintf(text, sizeof text, "{\"only\":\"once%u\"}", i);
        r.arguments = rig_bytes(text);
        store_put(rig->s, &r);
        while (store_is_full(rig->s))
            loop_turn(rig->loop, true);
    }
}

/* It works by and by. */
static void wait_for_calls(struct rig *rig, uint64_t n)
{
    for (int i = 0; i < 5000; i++) {
        if (rig_stats(rig).calls == n)
            return;
        poll(NULL, 0, 1); /* the writing thread has a clock of its own */
    }
    TAP_FAIL("%d calls are left, expected %d", (int)rig_stats(rig).calls, (int)n);
}

TEST(what_is_too_old_goes_with_its_objects)
{
    struct rig rig;

    rig_new(&rig);
    put_aged(&rig, 1, 2000, 3 * HOUR_US);
    put_aged(&rig, 2001, 100, HOUR_US);
    CHECK_INT(rig_stats(&rig).objects, 2101);
    CHECK_INT(rig_find(&rig, (struct call_query){ .text = "once7" })->n, 1);
    rig.o.keep_ms = 2 * 3600000;
    store_tune(rig.s, &rig.o);
    wait_for_calls(&rig, 100);
    CHECK_INT(rig_stats(&rig).objects, 101);
    CHECK_INT(rig_find(&rig, (struct call_query){ .text = "once7" })->n, 0);
    CHECK_INT(rig_find(&rig, (struct call_query){ .text = "once2050" })->n, 1);
    CHECK_INT(rig_find(&rig, (struct call_query){ 0 })->v[0].no, 2100);
    rig_done(&rig);
}

TEST(age_is_looked_at_once_an_hour)
{
    struct rig rig;

    rig_init(&rig)->keep_ms = 2 * 3600000;
    rig_open(&rig);
    put_aged(&rig, 1, 10, HOUR_US);
    CHECK_INT(rig_stats(&rig).calls, 10);
    rig.clock.wall += 2 * 3600000;
    loop_advance(rig.loop, STORE_TIDY_MS);
    wait_for_calls(&rig, 0);
    rig_done(&rig);
}

TEST(of_too_many_the_oldest_go)
{
    struct rig rig;

    rig_new(&rig);
    rig_put(&rig, 1, 20000);
    rig.o.keep_calls = 500;
    store_tune(rig.s, &rig.o);
    wait_for_calls(&rig, 500);
    CHECK_INT(rig_find(&rig, (struct call_query){ .tool = "read", .before = 19502 })->n, 1);
    CHECK_INT(rig_get(&rig, "00000000-0000-4000-8000-000000000001")->n, 0);
    rig_put(&rig, 20001, 10);
    CHECK_INT(rig_find(&rig, (struct call_query){ 0 })->v[0].no, 20010);
    rig_done(&rig);
}

TEST(too_large_a_file_shrinks)
{
    struct rig rig;
    struct stat before, after;

    rig_new(&rig);
    put_aged(&rig, 1, 20000, 0);
    CHECK_INT(rig_find(&rig, (struct call_query){ .text = "once3" })->n, 1);
    rig_close(&rig);
    CHECK_INT(stat(temp_path("records/records.db"), &before), 0);
    rig_open(&rig);
    rig.o.keep_bytes = (uint64_t)before.st_size / 2;
    store_tune(rig.s, &rig.o);
    while (rig_stats(&rig).bytes > rig.o.keep_bytes) /* the harness ends what never ends */
        poll(NULL, 0, 1);
    CHECK(rig_stats(&rig).calls > 1000);
    rig_close(&rig);
    CHECK_INT(stat(temp_path("records/records.db"), &after), 0);
    CHECK((uint64_t)after.st_size <= rig.o.keep_bytes);
    rig_done(&rig);
}

TEST(what_is_to_be_forgotten_is)
{
    struct rig rig;

    rig_new(&rig);
    put_aged(&rig, 1, 17000, 3 * HOUR_US);
    put_aged(&rig, 17001, 10, HOUR_US);
    CHECK_INT(rig_forget(&rig, rig.clock.wall * 1000 - 2 * HOUR_US).code, 0);
    CHECK_INT(rig_stats(&rig).calls, 10);
    CHECK_INT(rig_forget(&rig, 0).code, 0);
    CHECK_INT(rig_stats(&rig).calls, 0);
    CHECK_INT(rig_stats(&rig).objects, 0);
    rig_close(&rig);
    rig_open(&rig);
    rig_put(&rig, 1, 1);
    CHECK_INT(rig_find(&rig, (struct call_query){ .tool = "read" })->v[0].no, 17011);
    rig_done(&rig);
}

TEST(a_clock_that_was_set_back_does_no_damage)
{
    struct rig rig;
    struct rig_page *p;

    rig_new(&rig);
    put_aged(&rig, 1, 1, 0);
    put_aged(&rig, 2, 1, 50 * HOUR_US);
    put_aged(&rig, 3, 1, 0);
    p = rig_find(&rig, (struct call_query){ 0 });
    CHECK_INT(p->n, 3);
    CHECK_INT(p->v[1].no, 2);
    rig.o.keep_ms = 10 * 3600000;
    store_tune(rig.s, &rig.o);
    wait_for_calls(&rig, 2);
    p = rig_find(&rig, (struct call_query){ 0 });
    CHECK_INT(p->v[0].no, 3);
    CHECK_INT(p->v[1].no, 1);
    rig_done(&rig);
}

TEST(what_is_put_after_a_forget_stays)
{
    struct rig_wait w = { 0 };
    struct rig rig;

    rig_new(&rig);
    rig_put(&rig, 1, 10);
    store_forget(rig.s, 0, rig_on_done, &w);
    rig_put(&rig, 11, 1); /* in one batch with the order to forget */
    rig_turn_until(&rig, &w.done);
    CHECK_INT(rig_find(&rig, (struct call_query){ 0 })->n, 1);
    CHECK_INT(rig_find(&rig, (struct call_query){ 0 })->v[0].no, 11);
    rig_done(&rig);
}

/* The group gets its index before the order is carried out. */
TEST(what_is_put_after_a_forget_stays_when_the_group_is_full)
{
    enum { GROUP = 16384, BEFORE = GROUP - 100, AFTER = 200 };
    struct rig_wait w = { 0 };
    struct rig rig;

    rig_new(&rig);
    rig_put(&rig, 1, BEFORE);
    CHECK_INT(rig_sync(&rig).code, 0);
    store_forget(rig.s, 0, rig_on_done, &w);
    rig_put(&rig, BEFORE + 1, AFTER);
    rig_turn_until(&rig, &w.done);
    CHECK_INT(w.err.code, 0);
    CHECK_INT(rig_stats(&rig).calls, AFTER);
    CHECK_INT(rig_find(&rig, (struct call_query){ .tool = "read", .limit = 1000 })->n, AFTER);
    CHECK_INT(rig_forget(&rig, 0).code, 0);
    CHECK_INT(rig_stats(&rig).calls, 0);
    rig_done(&rig);
}

/* ---- names ---- */

enum { NAME_CHARS = 200 };

/* A name that no other call has, of those that are kept once. */
static const char *own_name(char out[static NAME_CHARS + 1], unsigned i)
{
    int n = snprintf(out, NAME_CHARS, "%08x-%u-", i * 2654435761u, i);

    memset(out + n, 'x', (size_t)(NAME_CHARS - n));
    out[NAME_CHARS] = '\0';
    return out;
}

static void put_named(struct rig *rig, unsigned from, unsigned n)
{
    for (unsigned i = from; i < from + n; i++) {
        char caller[NAME_CHARS + 1], rule[NAME_CHARS + 1];
        struct record r = rig_call(i);

        r.caller = own_name(caller, i);
        r.rule = own_name(rule, i + 1000000);
        store_put(rig->s, &r);
        while (store_is_full(rig->s))
            loop_turn(rig->loop, true);
    }
}

/* They are most of the file: calls that are dropped must take theirs along, or all would go. */
TEST(names_of_callers_do_not_drive_out_calls)
{
    enum { CALLS = 6000 };
    char name[NAME_CHARS + 1];
    struct rig_page *p;
    struct rig rig;

    rig_new(&rig);
    put_named(&rig, 1, CALLS);
    rig.o.keep_bytes = rig_stats(&rig).bytes / 2;
    store_tune(rig.s, &rig.o);
    while (rig_stats(&rig).bytes > rig.o.keep_bytes) /* the harness ends what never ends */
        poll(NULL, 0, 1);
    CHECK(rig_stats(&rig).calls > CALLS / 8);
    p = rig_find(&rig, (struct call_query){ .caller = own_name(name, CALLS) });
    CHECK_INT(p->n, 1);
    CHECK_STR(p->v[0].r.rule, own_name(name, CALLS + 1000000));
    CHECK_INT(rig_find(&rig, (struct call_query){ .caller = own_name(name, 1) })->n, 0);
    put_named(&rig, 1, 1); /* a name that went is made again */
    CHECK_INT(rig_find(&rig, (struct call_query){ .caller = own_name(name, 1) })->n, 1);
    rig_done(&rig);
}

TEST(names_of_a_group_go_with_it_and_others_stay)
{
    enum { GROUP = 16384, CALLS = GROUP * 2 + 100, LEFT = GROUP + 50 };
    char name[NAME_CHARS + 1];
    struct store_stats before, after;
    struct rig rig;

    rig_new(&rig);
    put_named(&rig, 1, CALLS);
    before = rig_stats(&rig);
    rig.o.keep_calls = LEFT;
    store_tune(rig.s, &rig.o);
    do
        poll(NULL, 0, 1);
    while ((after = rig_stats(&rig)).bytes > before.bytes * 3 / 4 || after.calls > LEFT);
    CHECK_INT(after.calls, LEFT);
    for (unsigned i = CALLS - LEFT + 1; i <= CALLS; i += 401) {
        struct rig_page *p = rig_find(&rig, (struct call_query){ .caller = own_name(name, i) });

        CHECK_INT(p->n, 1);
        CHECK_INT(p->v[0].no, i);
        CHECK_STR(p->v[0].r.rule, own_name(name, i + 1000000));
        CHECK_STR(p->v[0].r.server, "files");
    }
    rig_done(&rig);
}
