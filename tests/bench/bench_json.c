/* bench_json - how fast a large tools/call result is checked and cut out of its envelope.
 *
 *     bench_json                 one JSON line per case: megabytes, MB/s of wall and CPU time
 *     bench_json --write DIR     writes the payloads to DIR/text.json and DIR/struct.json first,
 *                                for json_node.mjs, which parses the same bytes */
#include "json/json.h"
#include <stdio.h>
#include <time.h>

enum { PAYLOAD_BYTES = 10 * 1000 * 1000, RUNS = 31 };

static void text_payload(struct buf *b)
{
    static const char *const lines[] = {
        "static int parse_header(struct reader *r, const char *name, size_t n)",
        "{",
        "    if (n == 0 || r->failed)",
        "        return fail(r, \"header '%s' is empty: line %d\\n\", name, r->line);",
        "\tfor (size_t i = 0; i < n; i++) /* f\xc3\xbcr jedes Zeichen \xe2\x80\x94 auch \xe2\x82\xac */",
        "\t\tr->hash = (r->hash ^ (unsigned char)name[i]) * 16777619u;",
        "    log_debug(\"%s: %zu bytes, hash %08x\", name, n, r->hash);",
        "    return 0;",
        "}",
        "",
    };
    AUTO_BUF struct buf source = { 0 };

    for (size_t i = 0; source.n < PAYLOAD_BYTES * 93 / 100; i++) {
        buf_str(&source, lines[i % ARRAY_LEN(lines)]);
        buf_byte(&source, '\n');
    }
    buf_str(b,
            "{\"jsonrpc\":\"2.0\",\"id\":42,\"result\":{\"content\":[{\"type\":\"text\",\"text\":");
    json_quote(b, buf_span(&source));
    buf_str(b, "}],\"isError\":false}}");
}

static void struct_payload(struct buf *b)
{
    static const char *const names[] = { "alpha", "beta-2", "gamma ray", "delta", "epsilon five" };
    struct json_out o = json_out(b);

    json_begin_object(&o, NULL);
    json_put_str(&o, "jsonrpc", "2.0");
    json_put_int(&o, "id", 42);
    json_begin_object(&o, "result");
    json_begin_array(&o, "content");
    json_end(&o);
    json_begin_object(&o, "structuredContent");
    json_begin_array(&o, "items");
    for (uint64_t i = 0; b->n < PAYLOAD_BYTES; i++) {
        uint64_t mixed = i * UINT64_C(6364136223846793005) >> 33;

        json_begin_object(&o, NULL);
        json_put_uint(&o, "id", i);
        json_put_str(&o, "name", names[mixed % ARRAY_LEN(names)]);
        json_put_bool(&o, "active", mixed & 1);
        json_put_double(&o, "score", (double)(mixed % 10000) / 100);
        json_begin_array(&o, "tags");
        for (uint64_t k = 0; k < mixed % 4; k++)
            json_put_str(&o, NULL, names[(mixed >> 8) % ARRAY_LEN(names)]);
        json_end(&o);
        json_put_fmt(&o, "path", "/srv/data/%llx/%llu.json", (unsigned long long)mixed,
                     (unsigned long long)i);
        if (mixed % 3)
            json_put_null(&o, "parent");
        json_end(&o);
    }
    json_end(&o);
    json_end(&o);
    json_put_bool(&o, "isError", false);
    json_end(&o);
    json_end(&o);
}

struct bench {
    const char *name;
    struct json_opts opts;
};

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

/* Wall time is what a caller waits; CPU time is what stays the same on a busy machine. */
struct times {
    double wall[RUNS], cpu[RUNS];
};

static void report(const char *name, const char *payload, size_t bytes, struct times *t)
{
    double mb = (double)bytes / 1e6;

    qsort(t->wall, RUNS, sizeof *t->wall, by_value);
    qsort(t->cpu, RUNS, sizeof *t->cpu, by_value);
    printf("{\"case\":\"%s %s\",\"MB\":%.1f,\"best_MBps\":%.0f,\"median_MBps\":%.0f,"
           "\"best_cpu_MBps\":%.0f,\"median_cpu_MBps\":%.0f}\n",
           name, payload, mb, mb / t->wall[0], mb / t->wall[RUNS / 2], mb / t->cpu[0],
           mb / t->cpu[RUNS / 2]);
    fflush(stdout);
}

/* Parses and takes the span of the result, as a relay does. */
static void run(const struct bench *c, const char *payload, struct span text)
{
    AUTO_JSON struct json_doc doc = { 0 };
    struct times t;
    struct pb_error err;

    for (int i = 0; i < RUNS; i++) {
        double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_THREAD_CPUTIME_ID);

        if (json_parse(&doc, text, &c->opts, &err) < 0 ||
            json_text(json_get(json_root(&doc), "result")).n < text.n / 2) {
            fprintf(stderr, "bench_json: %s %s: %s\n", c->name, payload, err.msg);
            exit(1);
        }
        t.cpu[i] = seconds(CLOCK_THREAD_CPUTIME_ID) - cpu;
        t.wall[i] = seconds(CLOCK_MONOTONIC) - wall;
    }
    report(c->name, payload, text.n, &t);
}

static void write_payload(const char *dir, const char *name, struct span text)
{
    AUTO_BUF struct buf path = { 0 };
    FILE *f;

    buf_printf(&path, "%s/%s.json", dir, name);
    f = fopen(buf_cstr(&path), "w");
    if (!f || fwrite(text.p, 1, text.n, f) != text.n || fclose(f) != 0) {
        fprintf(stderr, "bench_json: cannot write %s\n", buf_cstr(&path));
        exit(1);
    }
}

int main(int argc, char **argv)
{
    static const struct bench benches[] = {
        { "slice", { .keep_depth = 2 } },
        { "slice unique-2", { .keep_depth = 2, .unique_depth = 2 } },
        { "slice unique-all", { .keep_depth = 2, .unique_depth = JSON_ALL } },
        { "tape", { 0 } },
    };
    static const struct {
        const char *name;
        void (*make)(struct buf *b);
    } payloads[] = { { "text", text_payload }, { "struct", struct_payload } };

    for (size_t p = 0; p < ARRAY_LEN(payloads); p++) {
        AUTO_BUF struct buf text = { 0 };

        payloads[p].make(&text);
        if (argc == 3 && !strcmp(argv[1], "--write"))
            write_payload(argv[2], payloads[p].name, buf_span(&text));
        for (size_t i = 0; i < ARRAY_LEN(benches); i++)
            run(&benches[i], payloads[p].name, buf_span(&text));
    }
    return 0;
}
