/* bench_store - what records cost, and how long questions take in a large store. One JSON line per
 * case.
 *
 *   bench_store same DIR N       CPU of the writing thread and of the loop per record, for the same
 *   bench_store different DIR N  small call again and again, and for calls that all differ
 *   bench_store fill DIR N       a store of N records: 200 tools, 20 servers, 30 callers, 1 %
 * errors, N / 10 different arguments bench_store ask DIR N        50 times each: lists, filters,
 * words, uuid, object */
#include "store/store.h"
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

enum { RUNS = 50, TOOLS = 200, SERVERS = 20, CALLERS = 30 };

static double seconds(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static struct pb_loop *loop;

static struct store *opened(const char *dir)
{
    struct store_options o = { .loop = loop, .dir = dir };
    struct pb_error err;
    struct store *s;

    if (store_open(&s, &o, &err) < 0) {
        fprintf(stderr, "bench_store: %s\n", err.msg);
        exit(1);
    }
    return s;
}

static void set(void *ctx) { *(bool *)ctx = true; }

static void set_done(void *ctx, const struct pb_error *err)
{
    if (err)
        fprintf(stderr, "bench_store: %s\n", err->msg);
    *(bool *)ctx = true;
}

static void until(const bool *done)
{
    while (!*done)
        loop_turn(loop, true);
}

static void closed(struct store *s)
{
    bool done = false;

    store_close(s, set, &done);
    until(&done);
}

static void uuid_of(uint64_t i, char *out)
{
    uint64_t a = i * UINT64_C(0x9e3779b97f4a7c15), b = (a ^ a >> 29) * UINT64_C(0xbf58476d1ce4e5b9);

    snprintf(out, UUID_CHARS + 1, "%08x-%04x-4%03x-8%03x-%012llx", (unsigned)(a >> 32),
             (unsigned)(a >> 16 & 0xffff), (unsigned)(a & 0xfff), (unsigned)(b & 0xfff),
             (unsigned long long)(b >> 16));
}

static uint64_t mix(uint64_t i)
{
    i = (i ^ i >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    i = (i ^ i >> 27) * UINT64_C(0x94d049bb133111eb);
    return i ^ i >> 31;
}

static void put(struct store *s, const struct record *r)
{
    store_put(s, r);
    while (store_is_full(s))
        loop_turn(loop, true);
}

static void arguments_of(uint64_t which, char *out, size_t n)
{
    snprintf(out, n,
             "{\"path\":\"/srv/project%llu/src/file%llu.c\",\"pattern\":\"needle%llu\","
             "\"common\":true}",
             (unsigned long long)(which % 1000), (unsigned long long)which,
             (unsigned long long)which);
}

/* Of 64 records in a turn, as a hub under load has them. */
static void measure_puts(const char *dir, uint64_t n, bool same)
{
    struct store *s = opened(dir);
    struct rusage before, after;
    char uuid[UUID_CHARS + 1], args[200];
    double wall = seconds(CLOCK_MONOTONIC), mine = 0, all, from;
    bool done = false;

    getrusage(RUSAGE_SELF, &before);
    uuid_of(1, uuid);
    arguments_of(1, args, sizeof args);
    for (uint64_t i = 0; i < n;) {
        for (int k = 0; k < 64; k++, i++) {
            struct record r = { .uuid = uuid,
                                .source = "mcp_client",
                                .face = "mcp_server",
                                .method = "tools/call",
                                .caller = "client",
                                .run = "run",
                                .server = "server",
                                .tool = "tool",
                                .status = "success" };

            uuid_of(i, uuid);
            if (!same)
                arguments_of(i, args, sizeof args);
            r.queued_us = r.started_us = (int64_t)i * 4;
            r.ended_us = r.queued_us + 100;
            r.arguments.bytes = span_of(args);
            r.result.bytes = SPAN("{\"content\":[{\"type\":\"text\",\"text\":\"ok\"}]}");
            from = seconds(CLOCK_THREAD_CPUTIME_ID);
            store_put(s, &r);
            mine += seconds(CLOCK_THREAD_CPUTIME_ID) - from;
        }
        loop_turn(loop, false);
        while (store_is_full(s))
            loop_turn(loop, true);
    }
    store_sync(s, set_done, &done);
    until(&done);
    wall = seconds(CLOCK_MONOTONIC) - wall;
    all = seconds(CLOCK_THREAD_CPUTIME_ID);
    getrusage(RUSAGE_SELF, &after);
    all = (double)(after.ru_utime.tv_sec - before.ru_utime.tv_sec) +
          (double)(after.ru_stime.tv_sec - before.ru_stime.tv_sec) +
          (double)(after.ru_utime.tv_usec - before.ru_utime.tv_usec) / 1e6 +
          (double)(after.ru_stime.tv_usec - before.ru_stime.tv_usec) / 1e6 - all;
    printf("{\"case\":\"put %s\",\"writer_us\":%.2f,\"put_us\":%.3f,\"records_per_s\":%.0f,"
           "\"maxrss_kb\":%ld}\n",
           same ? "the same" : "different", all * 1e6 / (double)n, mine * 1e6 / (double)n,
           (double)n / wall, after.ru_maxrss);
    closed(s);
}

static void fill(const char *dir, uint64_t n)
{
    struct store *s = opened(dir);
    double wall = seconds(CLOCK_MONOTONIC);
    bool done = false;

    for (uint64_t i = 1; i <= n; i++) {
        char uuid[UUID_CHARS + 1], args[200], server[16], tool[16], caller[16];
        uint64_t x = mix(i), t = x % TOOLS;
        struct record r = { .uuid = uuid,
                            .source = "mcp_client",
                            .face = "mcp_server",
                            .method = "tools/call",
                            .caller = caller,
                            .server = server,
                            .tool = tool };

        uuid_of(i, uuid);
        snprintf(server, sizeof server, "server-%d", (int)(t % SERVERS));
        snprintf(tool, sizeof tool, "tool-%d", (int)t);
        snprintf(caller, sizeof caller, "caller-%d", (int)(x / 1000 % CALLERS));
        arguments_of(mix(x) % (n / 10), args, sizeof args);
        r.status = x / 7 % 100 ? "success" : "error";
        r.run = i == n / 2 ? "rare" : "usual";
        r.queued_us = (int64_t)i * 1000;
        r.ended_us = r.queued_us + 300;
        r.arguments.bytes = span_of(args);
        r.result.bytes = SPAN("{\"content\":[{\"type\":\"text\",\"text\":\"ok\"}]}");
        put(s, &r);
    }
    store_sync(s, set_done, &done);
    until(&done);
    printf("{\"case\":\"fill\",\"records\":%llu,\"seconds\":%.1f}\n", (unsigned long long)n,
           seconds(CLOCK_MONOTONIC) - wall);
    closed(s);
}

struct answer {
    bool done;
    size_t n;
    char cid[CID_CHARS + 1];
};

static void on_page(void *ctx, const struct call_page *p, const struct pb_error *err)
{
    struct answer *a = ctx;

    a->done = true;
    a->n = p ? p->n : 0;
    if (err)
        fprintf(stderr, "bench_store: %s\n", err->msg);
    else if (p->n)
        snprintf(a->cid, sizeof a->cid, "%s", p->v[0].arguments_cid);
}

static void on_object(void *ctx, struct span bytes, const struct pb_error *err)
{
    struct answer *a = ctx;

    a->done = true;
    a->n = err ? 0 : bytes.n;
}

static void report(const char *name, double *ms, size_t n)
{
    qsort(ms, RUNS, sizeof *ms, by_value);
    printf("{\"case\":\"%s\",\"median_ms\":%.2f,\"worst_ms\":%.2f,\"found\":%zu}\n", name,
           ms[RUNS / 2], ms[RUNS - 1], n);
    fflush(stdout);
}

static void ask(struct store *s, const char *name, struct call_query q)
{
    struct answer a = { 0 };
    double ms[RUNS];

    for (int i = 0; i < RUNS; i++) {
        double from = seconds(CLOCK_MONOTONIC);

        a.done = false;
        store_find(s, &q, on_page, &a);
        until(&a.done);
        ms[i] = (seconds(CLOCK_MONOTONIC) - from) * 1e3;
    }
    report(name, ms, a.n);
}

static void ask_one(struct store *s, uint64_t n, bool object)
{
    struct answer a = { 0 };
    double ms[RUNS];

    for (uint64_t i = 0; i < RUNS; i++) {
        char uuid[UUID_CHARS + 1];
        double from = seconds(CLOCK_MONOTONIC);

        uuid_of(1 + mix(i) % n, uuid);
        a.done = false;
        store_get(s, uuid, on_page, &a);
        until(&a.done);
        if (object) {
            from = seconds(CLOCK_MONOTONIC);
            a.done = false;
            store_object(s, a.cid, on_object, &a);
            until(&a.done);
        }
        ms[i] = (seconds(CLOCK_MONOTONIC) - from) * 1e3;
    }
    report(object ? "object by cid" : "call by uuid", ms, a.n);
}

static void ask_all(const char *dir, uint64_t n)
{
    struct store *s = opened(dir);
    struct answer a = { 0 };
    char needle[32];
    struct timespec pause = { .tv_sec = 1 };

    /* Until all words are indexed. */
    for (uint64_t left = n; left; left = left > 20000 ? left - 20000 : 0) {
        a.done = false;
        store_find(s, &(struct call_query){ .text = "nothing", .limit = 1 }, on_page, &a);
        until(&a.done);
    }
    nanosleep(&pause, NULL);
    snprintf(needle, sizeof needle, "needle%llu", (unsigned long long)(mix(3) % (n / 10)));
    ask(s, "newest 50", (struct call_query){ 0 });
    ask(s, "from the middle on", (struct call_query){ .before = n / 2 });
    ask(s, "server", (struct call_query){ .server = "server-3" });
    ask(s, "tool", (struct call_query){ .tool = "tool-77" });
    ask(s, "caller", (struct call_query){ .caller = "caller-5" });
    ask(s, "status error", (struct call_query){ .status = "error" });
    ask(s, "a run with one call", (struct call_query){ .run = "rare" });
    ask(s, "server and error", (struct call_query){ .server = "server-3", .status = "error" });
    ask(s, "tool and error", (struct call_query){ .tool = "tool-77", .status = "error" });
    ask(s, "a word nobody said", (struct call_query){ .server = "nobody" });
    ask(s, "two that never meet", (struct call_query){ .server = "server-3", .tool = "tool-4" });
    ask(s, "time",
        (struct call_query){ .since_us = (int64_t)n * 500, .until_us = (int64_t)n * 501 });
    ask(s, "text, rare", (struct call_query){ .text = needle });
    ask(s, "text, common", (struct call_query){ .text = "common" });
    ask(s, "text and error", (struct call_query){ .text = "project7", .status = "error" });
    ask_one(s, n, false);
    ask_one(s, n, true);
    closed(s);
}

int main(int argc, char **argv)
{
    uint64_t n = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;

    if (n < 1000) {
        fprintf(stderr, "usage: bench_store same|different|fill|ask DIR N\n");
        return 2;
    }
    loop = loop_new(NULL);
    loop_hold(loop); /* it waits for the writing thread instead of turning without an end */
    if (strcmp(argv[1], "same") == 0)
        measure_puts(argv[2], n, true);
    else if (strcmp(argv[1], "different") == 0)
        measure_puts(argv[2], n, false);
    else if (strcmp(argv[1], "fill") == 0)
        fill(argv[2], n);
    else
        ask_all(argv[2], n);
    loop_release(loop);
    loop_free(loop);
    return 0;
}
