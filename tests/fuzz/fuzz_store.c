/* fuzz_store.c - what people may ask a store: text to search for, a cid, a uuid. Whatever is asked,
 * the store answers or says why not, and what it held before is still found. The same bytes are put
 * as a result, too: their words are what a search reads. And they are read as a block of calls,
 * which a damaged file may hold: what can be read can be written, and is the same when it is read
 * again. */
#include "store/block.h"
#include "store/store.h"
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#define MUST(cond)   \
    do {             \
        if (!(cond)) \
            abort(); \
    } while (0)

static struct pb_loop *loop;
static struct store *store;
static char dir[] = "/tmp/patchbay-fuzz-XXXXXX";

static void clean(void)
{
    static const char *const names[] = { "records.db", "records.db-wal", "records.db-shm", "lock" };
    char path[64];

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        unlink(path);
    }
    rmdir(dir);
}

struct answer {
    bool done;
    size_t n;
    enum pb_code code;
};

static void on_page(void *ctx, const struct call_page *p, const struct pb_error *err)
{
    *(struct answer *)ctx = (struct answer){ true, p ? p->n : 0, err ? err->code : 0 };
    MUST(!p == !!err);
}

static void on_object(void *ctx, struct span bytes, const struct pb_error *err)
{
    *(struct answer *)ctx = (struct answer){ true, bytes.n, err ? err->code : 0 };
}

static struct answer until(const struct answer *a)
{
    while (!a->done)
        loop_turn(loop, true);
    return *a;
}

static void open_store(void)
{
    struct store_options o = { .dir = dir, .keep_calls = 1000 };
    struct record r = { .uuid = "00000000-0000-4000-8000-000000000001", .tool = "first" };

    loop = loop_new(NULL);
    loop_hold(loop);
    o.loop = loop;
    MUST(mkdtemp(dir) && atexit(clean) == 0 && store_open(&store, &o, NULL) == 0);
    r.result.bytes = SPAN("{\"text\":\"hello world\"}");
    store_put(store, &r);
}

static bool same_row(const struct call_row *a, const struct call_row *b)
{
    for (size_t i = 0; i < CALL_TEXTS; i++)
        if (!a->text[i].p != !b->text[i].p || !span_eq(a->text[i], b->text[i]))
            return false;
    return a->no == b->no && memcmp(a->uuid, b->uuid, UUID_BYTES) == 0 &&
           memcmp(a->v, b->v, sizeof a->v) == 0;
}

static void read_block(struct span data)
{
    struct call_row rows[BLOCK_CALLS], again[BLOCK_CALLS];
    struct block b = { .id = -1 };
    size_t n, m;

    if (block_read(data, 7, rows, &n) < 0)
        return;
    block_start(&b, 7);
    for (size_t i = 0; i < n; i++)
        block_add(&b, &rows[i]);
    MUST(block_read(buf_span(&b.data), 7, again, &m) == 0 && m == n);
    for (size_t i = 0; i < n; i++)
        MUST(same_row(&rows[i], &again[i]));
    block_done(&b);
    b.id = -1;
    MUST(block_resume(&b, 7, data) == 0 && b.n == n);
    block_done(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_FREE char *text = mem_dupn((const char *)data, size);
    struct record r = { .tool = "fuzzed", .detail = RECORD_ALL };
    struct answer a = { 0 };

    if (!store)
        open_store();
    read_block(span_make((const char *)data, size));
    r.note = text;
    r.result.bytes = span_make((const char *)data, size);
    store_put(store, &r);
    MUST(store_find(store, &(struct call_query){ .text = text, .limit = 5 }, on_page, &a));
    until(&a);
    MUST(a.code == 0 || a.code == PB_E_INVALID);
    a.done = false;
    MUST(store_object(store, text, on_object, &a));
    until(&a);
    MUST(a.code == 0 || a.code == PB_E_NOT_FOUND);
    a.done = false;
    MUST(store_get(store, text, on_page, &a));
    MUST(until(&a).code == 0);
    return 0;
}
