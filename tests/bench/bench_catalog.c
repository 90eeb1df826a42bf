/* bench_catalog - what a catalog of 10,000 tools costs: taking lists in, rendering, finding,
 * missing; and the memory of 100 servers with 50 tools each. One JSON line per case. */
#include "hub/catalog/catalog.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"
#include <malloc.h>
#include <stdio.h>
#include <time.h>

enum { TOOLS = 10000, RUNS = 31, SERVERS = 100 };

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

/* A tool as servers have them, about 600 bytes. */
static void make_list(struct buf *b, int from, int n)
{
    b->n = 0;
    buf_byte(b, '[');
    for (int i = from + n; i-- > from;)
        buf_printf(
            b,
            "{\"name\":\"search_repository_%d\",\"title\":\"Search a repository\",\"description\":"
            "\"Search the code of a repository for a pattern. Returns file names, line numbers and "
            "the lines around each match, at most 100 per page.\",\"inputSchema\":{\"type\":"
            "\"object\",\"properties\":{\"repository\":{\"type\":\"string\",\"description\":"
            "\"owner/name\"},\"pattern\":{\"type\":\"string\",\"description\":\"A regular "
            "expression\"},\"page\":{\"type\":\"integer\",\"minimum\":1,\"default\":1.0}},"
            "\"required\":[\"repository\",\"pattern\"]},\"annotations\":{\"readOnlyHint\":true}}%s",
            i, i > from ? "," : "");
    buf_byte(b, ']');
}

static void put(struct catalog *c, const char *server, struct span list)
{
    static const char *const none[] = { NULL };
    struct spec spec = { .name = server, .enabled_tools = none, .disabled_tools = none };
    struct pb_error err;
    bool changed;

    if (catalog_set(c, &spec, LIST_TOOLS, list, &changed, &err) < 0) {
        fprintf(stderr, "bench_catalog: %s\n", err.msg);
        exit(1);
    }
}

static void put_many(struct catalog *c, int servers, int tools)
{
    AUTO_BUF struct buf list = { 0 };
    char name[32];

    for (int i = 0; i < servers; i++) {
        make_list(&list, i * tools, tools);
        snprintf(name, sizeof name, "server-%d", i);
        put(c, name, buf_span(&list));
    }
}

struct bench {
    const char *name;
    void (*run)(struct catalog *c, void *ctx);
    void *ctx;
    double per; /* operations of one run */
};

static void measure(const struct bench *b, struct catalog *c)
{
    double wall[RUNS], cpu[RUNS];

    for (int i = 0; i < RUNS; i++) {
        double w = seconds(CLOCK_MONOTONIC), u = seconds(CLOCK_THREAD_CPUTIME_ID);

        b->run(c, b->ctx);
        cpu[i] = seconds(CLOCK_THREAD_CPUTIME_ID) - u;
        wall[i] = seconds(CLOCK_MONOTONIC) - w;
    }
    qsort(wall, RUNS, sizeof *wall, by_value);
    qsort(cpu, RUNS, sizeof *cpu, by_value);
    printf("{\"case\":\"%s\",\"best_us\":%.2f,\"median_us\":%.2f,\"median_cpu_us\":%.2f}\n",
           b->name, wall[0] * 1e6 / b->per, wall[RUNS / 2] * 1e6 / b->per,
           cpu[RUNS / 2] * 1e6 / b->per);
    fflush(stdout);
}

static void run_set(struct catalog *c, void *list)
{
    const struct entry *const *all;

    catalog_drop(c, "server-0");
    put(c, "server-0", *(struct span *)list);
    catalog_all(c, LIST_TOOLS, &all);
}

/* 100 servers come up one after the other, and somebody looks once. */
static void run_hundred(struct catalog *c, void *lists)
{
    struct catalog *fresh = catalog_new();
    const struct entry *const *all;
    char name[32];

    (void)c;
    for (int i = 0; i < SERVERS; i++) {
        snprintf(name, sizeof name, "server-%d", i);
        put(fresh, name, buf_span(&((struct buf *)lists)[i]));
    }
    catalog_all(fresh, LIST_TOOLS, &all);
    catalog_free(fresh);
}

/* Every time something new: a tool that is put in again changes nothing else. */
static void run_render(struct catalog *c, void *scope)
{
    catalog_add_builtin(c, LIST_TOOLS, 1, SPAN("{\"name\":\"todo\"}"));
    blob_unref(catalog_render(c, scope, LIST_TOOLS));
}

static void run_cached(struct catalog *c, void *scope)
{
    for (int i = 0; i < 1000; i++)
        blob_unref(catalog_render(c, scope, LIST_TOOLS));
}

struct names {
    char name[TOOLS][64];
    bool missing;
};

static void run_find(struct catalog *c, void *ctx)
{
    static const struct scope all;
    struct names *n = ctx;
    struct pb_error err;

    for (int i = 0; i < (n->missing ? 10 : TOOLS); i++)
        if (!catalog_find(c, &all, LIST_TOOLS, span_of(n->name[i]), &err) != n->missing)
            exit(1);
}

static struct names *names_like(const char *fmt_server, const char *separator, bool missing)
{
    struct names *n = NEW(struct names);

    for (int i = 0; i < TOOLS; i++) {
        unsigned k = (unsigned)i * 7919u % TOOLS;

        snprintf(n->name[i], sizeof n->name[i], "%s%ssearch_%srepository_%u", fmt_server, separator,
                 missing ? "the_" : "", k);
    }
    n->missing = missing;
    return n;
}

static void bench_memory(void)
{
    AUTO(catalog) struct catalog *c = catalog_new();
    static const struct scope all;
    AUTO_BUF struct buf list = { 0 };
    size_t before = mallinfo2().uordblks, text;

    put_many(c, SERVERS, 50);
    make_list(&list, 0, 50);
    text = list.n * SERVERS;
    printf("{\"case\":\"memory of 100 servers x 50 tools\",\"text_bytes\":%zu,\"heap_bytes\":%zu,",
           text, mallinfo2().uordblks + mallinfo2().hblkhd - before - list.cap);
    {
        const struct entry *const *entries;
        size_t set = mallinfo2().uordblks + mallinfo2().hblkhd;
        struct blob *b;

        catalog_all(c, LIST_TOOLS, &entries);
        printf("\"order_bytes\":%zu,", mallinfo2().uordblks + mallinfo2().hblkhd - set);
        set = mallinfo2().uordblks + mallinfo2().hblkhd;
        b = catalog_render(c, &all, LIST_TOOLS);
        printf("\"rendered_bytes\":%zu}\n", mallinfo2().uordblks + mallinfo2().hblkhd - set);
        blob_unref(b);
    }
}

int main(void)
{
    struct catalog *c = catalog_new();
    struct buf list = { 0 }, lists[SERVERS] = { { 0 } };
    struct span text;
    struct scope all = { .builtins = 1 }, one = { .server = "server-0" }, filtered = { 0 };
    AUTO_JSON struct json_doc doc = { 0 };
    struct filter *f;

    bench_memory();
    make_list(&list, 0, TOOLS);
    text = buf_span(&list);
    for (int i = 0; i < SERVERS; i++)
        make_list(&lists[i], i * 100, 100);
    if (json_parse(&doc, SPAN("{\"pattern\":\"repository_\\\\d*7$\"}"), NULL, NULL) < 0 ||
        filter_parse(&f, json_root(&doc), NULL) < 0)
        return 1;
    filtered.filter = f;
    printf("{\"case\":\"text of 10,000 tools\",\"MB\":%.1f}\n", (double)text.n / 1e6);

    const struct bench benches[] = {
        { "set and order 10,000 tools of one server", run_set, &text, 1 },
        { "set 100 servers x 100 tools, order once", run_hundred, lists, 1 },
        { "order and render 10,000 tools", run_render, &all, 1 },
        { "order and render 10,000 tools of one server", run_render, &one, 1 },
        { "order and render 10,000 tools by a pattern", run_render, &filtered, 1 },
        { "render again", run_cached, &all, 1000 },
        { "find by outward name", run_find, names_like("server-0", "__", false), TOOLS },
        { "find by id", run_find, names_like("server-0", "/", false), TOOLS },
        { "find by server.tool", run_find, names_like("server-0", ".", false), TOOLS },
        { "miss, and find names like it", run_find, names_like("server-0", "/", true), 10 },
    };
    for (size_t i = 0; i < ARRAY_LEN(benches); i++)
        measure(&benches[i], c);
    return 0;
}
