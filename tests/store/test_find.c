/* Which calls are found: by words, by time, by text, page by page, across blocks and groups. */
#include "store_rig.h"
#include <pthread.h>

enum { GROUP = 16384 };

/* Every tenth is an error, every third of another server. */
static void put_mixed(struct rig *rig, unsigned n)
{
    for (unsigned i = 1; i <= n; i++) {
        struct record r = rig_call(i);
        char text[64];

        r.status = i % 10 ? "success" : "error";
        r.server = i % 3 ? "files" : "git";
        r.tool = i == 100 ? "rare" : "read";
        if (i == 200)
            r.parent = "00000000-0000-4000-8000-0000000000aa";
        snprintf(text, sizeof text, "{\"n\":\"word%u\"}", i % 1000);
        r.arguments = rig_bytes(text);
        store_put(rig->s, &r);
        while (store_is_full(rig->s))
            loop_turn(rig->loop, true);
    }
}

/* The first page that has any. */
static struct rig_page *find_some(struct rig *rig, struct call_query q)
{
    struct rig_page *p;

    do {
        p = rig_find(rig, q);
        q.before = p->next;
    } while (!p->n && q.before);
    return p;
}

TEST(filters_hold_alone_and_together_across_groups)
{
    const unsigned n = GROUP + 500;
    struct rig rig;
    struct rig_page *p;

    rig_new(&rig);
    put_mixed(&rig, n);
    /* words come after groups: from then on there is an index */
    CHECK_INT(rig_find(&rig, (struct call_query){ .text = "word7", .limit = 1000 })->n, 17);
    p = rig_find(&rig, (struct call_query){ .tool = "rare" });
    CHECK_INT(p->n, 1);
    CHECK_INT(p->v[0].no, 100);
    p = rig_find(&rig, (struct call_query){ .parent = "00000000-0000-4000-8000-0000000000aa" });
    CHECK_INT(p->n, 1);
    CHECK_INT(p->v[0].no, 200);
    p = rig_find(&rig, (struct call_query){ .status = "error", .server = "git", .limit = 500 });
    CHECK_INT(p->n, 500);
    for (size_t i = 0; i < p->n; i++) {
        CHECK_INT(p->v[i].no % 30, 0);
        CHECK(i == 0 || p->v[i].no < p->v[i - 1].no);
    }
    CHECK_INT(rig_find(&rig, (struct call_query){ .server = "git", .tool = "rare" })->n, 0);
    CHECK_INT(rig_find(&rig, (struct call_query){ .server = "never heard of" })->n, 0);
    CHECK_INT(rig_find(&rig, (struct call_query){ .face = "mcp_server", .tool = "rare" })->n, 1);
    CHECK_INT(rig_find(&rig, (struct call_query){ .text = "word100", .tool = "rare" })->n, 1);
    p = find_some(&rig, (struct call_query){ .since_us = 1000050, .until_us = 1000059 });
    CHECK_INT(p->n, 10);
    CHECK_INT(p->v[0].no, 59);
    p = rig_get(&rig, "00000000-0000-4000-8000-00000000000c");
    CHECK_INT(p->n, 1);
    CHECK_INT(p->v[0].no, 12);
    rig_done(&rig);
}

TEST(pages_follow_each_other_without_a_gap)
{
    struct rig rig;
    struct call_query q = { .status = "error", .limit = 37 };
    uint64_t last = UINT64_MAX;
    size_t n = 0;

    rig_new(&rig);
    put_mixed(&rig, GROUP + 300);
    do {
        struct rig_page *p = rig_find(&rig, q);

        for (size_t i = 0; i < p->n; i++) {
            CHECK(p->v[i].no < last);
            last = p->v[i].no;
        }
        n += p->n;
        q.before = p->next;
    } while (q.before);
    CHECK_INT(n, (GROUP + 300) / 10);
    rig_done(&rig);
}

/* Each page ends when it has looked at enough, and the next goes on there. */
TEST(work_has_its_bound_and_pages_together_are_complete)
{
    enum { CALLS = GROUP * 3 + 500, PAGES_MIN = 3 };
    static const struct call_query queries[] = {
        { .server = "git", .status = "error", .limit = 1000 },
        { .server = "git", .status = "error", .text = "n", .limit = 1000 }, /* 1,000 objects */
        { .server = "git", .tool = "rare" },
        { .server = "git", .tool = "rare", .text = "n" },
    };
    struct rig rig;

    rig_new(&rig);
    put_mixed(&rig, CALLS);
    for (size_t k = 0; k < ARRAY_LEN(queries); k++) {
        struct call_query q = queries[k];
        uint64_t last = CALLS + 1;
        unsigned pages = 0, n = 0;

        do {
            struct rig_page *p = rig_find(&rig, q);

            for (size_t i = 0; i < p->n; i++) {
                CHECK_INT(p->v[i].no % 30, 0);
                CHECK(p->v[i].no < last);
                last = p->v[i].no;
            }
            n += (unsigned)p->n;
            CHECK(!p->next || !q.before || p->next < q.before);
            q.before = p->next;
            pages++;
        } while (q.before);
        CHECK_INT(n, q.tool ? 0 : CALLS / 30);
        CHECK(q.tool || pages >= PAGES_MIN);
    }
    rig_done(&rig);
}

TEST(a_page_has_its_bound)
{
    struct rig rig;

    rig_new(&rig);
    rig_put(&rig, 1, STORE_PAGE_MAX + 5);
    CHECK_INT(rig_find(&rig, (struct call_query){ .limit = STORE_PAGE_MAX })->n, STORE_PAGE_MAX);
    CHECK_INT(rig_find(&rig, (struct call_query){ .limit = STORE_PAGE_MAX + 1 })->n,
              STORE_PAGE_MAX);
    CHECK_INT(rig_find(&rig, (struct call_query){ 0 })->n, STORE_PAGE_USUAL);
    rig_done(&rig);
}

TEST(the_borders_of_blocks_and_groups_lose_nothing)
{
    static const unsigned counts[] = { 63, 64, 65, 255, 256, 257, GROUP - 2, GROUP - 1, GROUP };
    struct rig rig;
    unsigned put = 0;

    rig_new(&rig);
    for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
        char uuid[UUID_CHARS + 1];
        struct rig_page *p;

        rig_put(&rig, put + 1, counts[i] - put);
        put = counts[i];
        p = rig_find(&rig, (struct call_query){ .tool = "read", .limit = 2 });
        CHECK_INT(p->n, 2);
        CHECK_INT(p->v[0].no, put);
        CHECK_INT(p->total, put);
        snprintf(uuid, sizeof uuid, "00000000-0000-4000-8000-%012x", put);
        CHECK_INT(rig_get(&rig, uuid)->n, 1);
        CHECK_INT(rig_get(&rig, "00000000-0000-4000-8000-000000000001")->v[0].no, 1);
    }
    rig_done(&rig);
}

TEST(words_are_found_as_people_read_them)
{
    static const struct {
        const char *bytes, *text;
        int n;
    } cases[] = {
        { "{\"a\":\"\\nfoo\"}", "foo", 1 },
        { "{\"a\":\"\\u0062ar\"}", "bar", 1 },
        { "{\"a\":\"the quick brown fox\"}", "\"quick brown\"", 1 },
        { "{\"a\":\"the quick red fox\"}", "\"brown quick\"", 0 },
        { "{\"somekey\":1}", "somekey", 1 },
        { "{\"a\":4711}", "4711", 1 },
        { "plain text of no format", "plain format", 1 },
        { "{\"a\":\"Gr\\u00fc\\u00dfe\"}", "gr\303\274\303\237e", 1 },
        { "\"one\"", "one NOT two", 1 },
        { "[\"left\",\"right\"]", "left OR nothing", 1 },
    };
    struct rig rig;

    rig_new(&rig);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct record r = rig_call((unsigned)i + 1);

        r.result = rig_bytes(cases[i].bytes);
        store_put(rig.s, &r);
        if (rig_find(&rig, (struct call_query){ .text = cases[i].text })->n != (size_t)cases[i].n)
            TAP_FAIL("%s in %s", cases[i].text, cases[i].bytes);
    }
    rig_done(&rig);
}

TEST(what_cannot_be_searched_for_is_said)
{
    static const char *const cases[] = { "\"open", "a AND", "foo:bar", "(((", "*", "NEAR(" };
    char text[STORE_QUERY_MAX + 2];
    struct rig rig;

    rig_new(&rig);
    rig_put(&rig, 1, 1);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct rig_page *p = rig_find(&rig, (struct call_query){ .text = cases[i] });

        CHECK_INT(p->err.code, PB_E_INVALID);
        CHECK_HAS(p->err.msg, "cannot search for");
    }
    memset(text, 'a', sizeof text);
    text[STORE_QUERY_MAX] = '\0';
    CHECK_INT(rig_find(&rig, (struct call_query){ .text = text })->err.code, 0);
    text[STORE_QUERY_MAX] = 'a';
    text[STORE_QUERY_MAX + 1] = '\0';
    CHECK_INT(rig_find(&rig, (struct call_query){ .text = text })->err.code, PB_E_INVALID);
    CHECK_INT(rig_find(&rig, (struct call_query){ .text = "hello" })->n, 1);
    rig_done(&rig);
}

static void never(void *ctx, const struct call_page *p, const struct pb_error *err)
{
    (void)ctx;
    (void)p;
    (void)err;
    TAP_FAIL("a cancelled question was answered");
}

TEST(a_cancelled_question_is_not_answered)
{
    struct call_query q = { .text = "hello" };
    struct rig rig;

    rig_new(&rig);
    rig_put(&rig, 1, 100);
    store_cancel(store_find(rig.s, &q, never, NULL));
    for (int i = 0; i < 20; i++) {
        struct store_read *r = store_find(rig.s, &(struct call_query){ 0 }, never, NULL);

        for (int k = 0; k < i % 4; k++)
            loop_turn(rig.loop, false);
        store_cancel(r);
    }
    CHECK_INT(rig_find(&rig, (struct call_query){ 0 })->n, 50);
    rig_done(&rig);
}

/* ---- no worker is free ---- */

struct gate_lock {
    pthread_mutex_t mu;
    int ended;
};

static void wait_for_lock(void *ctx)
{
    struct gate_lock *g = ctx;

    pthread_mutex_lock(&g->mu);
    pthread_mutex_unlock(&g->mu);
}

static void count_end(void *ctx) { ((struct gate_lock *)ctx)->ended++; }

struct cancelling {
    struct store_read *others[3];
    int code;
};

static void cancel_others(void *ctx, const struct call_page *p, const struct pb_error *err)
{
    struct cancelling *c = ctx;

    (void)p;
    c->code = err ? (int)err->code : -1;
    for (size_t i = 0; i < ARRAY_LEN(c->others); i++)
        store_cancel(c->others[i]);
}

TEST(who_is_refused_a_worker_may_cancel_other_questions)
{
    struct gate_lock lock = { .mu = PTHREAD_MUTEX_INITIALIZER };
    struct cancelling c = { 0 };
    struct rig rig;
    int jobs = 0;

    rig_new(&rig);
    CHECK_INT(rig_sync(&rig).code, 0);
    pthread_mutex_lock(&lock.mu);
    while (loop_work(rig.loop, wait_for_lock, count_end, &lock, NULL) == 0)
        jobs++;
    CHECK(store_find(rig.s, &(struct call_query){ 0 }, cancel_others, &c));
    for (size_t i = 0; i < ARRAY_LEN(c.others); i++)
        c.others[i] = store_find(rig.s, &(struct call_query){ 0 }, never, NULL);
    while (!c.code)
        loop_turn(rig.loop, true);
    CHECK_INT(c.code, PB_E_BUSY);
    pthread_mutex_unlock(&lock.mu);
    while (lock.ended < jobs)
        loop_turn(rig.loop, true);
    CHECK_INT(rig_find(&rig, (struct call_query){ 0 })->n, 0);
    rig_done(&rig);
}

/* They come faster than they are written. */
TEST(words_are_found_while_calls_come_without_an_end)
{
    static struct rig_page p;
    struct rig rig;
    unsigned i = 0;

    rig_new(&rig);
    rig_put(&rig, 1, 1);
    CHECK_INT(rig_sync(&rig).code, 0);
    CHECK(store_find(rig.s, &(struct call_query){ .text = "hello", .limit = 1 }, rig_on_page, &p));
    while (!p.done) { /* the harness ends what never ends */
        for (unsigned k = 0; k < 100; k++) {
            struct record r = rig_call(2 + i++);

            store_put(rig.s, &r); /* it may be lost: nobody waits */
        }
        loop_turn(rig.loop, false);
    }
    CHECK_INT(p.n, 1);
    arena_done(&p.arena);
    rig_done(&rig);
}

/* ---- closing ---- */

TEST(a_store_that_closes_says_so)
{
    struct rig_wait wait[2] = { 0 };
    struct rig rig;
    bool closed = false;

    rig_new(&rig);
    rig_put(&rig, 1, 10);
    store_close(rig.s, rig_set, &closed);
    store_sync(rig.s, rig_on_done, &wait[0]);
    store_forget(rig.s, 0, rig_on_done, &wait[1]);
    store_forget(rig.s, 0, NULL, NULL);
    CHECK(!wait[0].done && !wait[1].done);
    rig_turn_until(&rig, &closed);
    CHECK_INT(wait[0].err.code, PB_E_CLOSED);
    CHECK_INT(wait[1].err.code, PB_E_CLOSED);
    rig_open(&rig);
    CHECK_INT(rig_find(&rig, (struct call_query){ 0 })->total, 10);
    rig_done(&rig);
}

static void on_closed_page(void *ctx, const struct call_page *p, const struct pb_error *err)
{
    CHECK(!p || !err);
    CHECK(!err || err->code == PB_E_CLOSED);
    ++*(int *)ctx;
}

TEST(closing_answers_every_question_first)
{
    struct rig rig;
    int answered = 0;

    rig_new(&rig);
    rig_put(&rig, 1, 1000);
    for (int i = 0; i < 10; i++)
        CHECK(
            store_find(rig.s, &(struct call_query){ .text = "hello" }, on_closed_page, &answered));
    rig_close(&rig);
    CHECK_INT(answered, 10);
    rig_open(&rig);
    CHECK_INT(rig_find(&rig, (struct call_query){ 0 })->total, 1000);
    rig_done(&rig);
}

static void on_busy_page(void *ctx, const struct call_page *p, const struct pb_error *err)
{
    int *n = ctx;

    (void)p;
    n[err && err->code == PB_E_BUSY]++;
}

TEST(questions_past_their_bound_are_refused)
{
    struct rig rig;
    int n[2] = { 0 };

    rig_new(&rig);
    for (int i = 0; i < STORE_READS_MAX + 3; i++)
        CHECK(store_find(rig.s, &(struct call_query){ 0 }, on_busy_page, n));
    while (n[0] + n[1] < STORE_READS_MAX + 3)
        loop_turn(rig.loop, true);
    CHECK_INT(n[0], STORE_READS_MAX);
    CHECK_INT(n[1], 3);
    rig_done(&rig);
}
