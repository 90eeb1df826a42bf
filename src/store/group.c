/* group.c - the index of a group of calls, made when the group is full: for each word of each field
 * a row with a bit for each block in which it occurs; and places, which say the same of uuids,
 * parents and objects, of which there are many: 32 bits of a hash and a block, in GROUP_PLACES rows
 * by the hash's highest bits. All rows of a group lie together, so that writing them touches few
 * pages; reading asks one row per group. */
#include "store_impl.h"
#include <errno.h>
#include <sys/mman.h>

/* 38 bits of a hash, then the block. */
typedef uint64_t group_place;
enum { BLOCK_BITS = 8, HASH_BITS = 32, KEY_BITS = 38 };

struct group_maker {
    struct writer *w;
    int64_t group, since, until;
    struct map words;    /* by key, struct blocks */
    group_place *places; /* mapped, so that it is given back at once */
    size_t n;
};
enum { PLACES_MOST = 4 * GROUP_CALLS, PLACES_BYTES = PLACES_MOST * sizeof(group_place) };
_Static_assert(CALL_RESULT - CALL_ARGUMENTS == 1, "a call has a uuid, a parent and two objects");

/* It stays in the file, so it may not depend on the process. */
uint64_t place_key(enum place_kind kind, uint64_t high, uint64_t low)
{
    uint64_t h = (high ^ ((uint64_t)kind + 1) * UINT64_C(0x9e3779b97f4a7c15));

    h = (h ^ h >> 32) * UINT64_C(0xd6e8feb86659fd93);
    h = (h ^ h >> 29 ^ low) * UINT64_C(0xbf58476d1ce4e5b9);
    h = (h ^ h >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return h ^ h >> 32;
}

uint64_t place_key_uuid(enum place_kind kind, const uint8_t uuid[static UUID_BYTES])
{
    uint64_t half[2];

    memcpy(half, uuid, sizeof half);
    return place_key(kind, half[0], half[1]);
}

static int64_t bucket_of(uint64_t key) { return (int64_t)(key >> 58); }
_Static_assert(GROUP_PLACES == 64, "as many as six bits can say");

static void set_block(struct blocks *b, size_t block)
{
    b->bits[block / 64] |= UINT64_C(1) << block % 64;
}

static void note_word(struct group_maker *g, uint64_t key, size_t block)
{
    struct blocks *b = map_get(&g->words, map_u64(&key));

    if (!b) {
        b = NEW(struct blocks);
        map_put(&g->words, map_u64(&key), b);
    }
    set_block(b, block);
}

static void note_place(struct group_maker *g, uint64_t key, size_t block)
{
    g->places[g->n++] = key >> (64 - KEY_BITS) << BLOCK_BITS | block;
}

static int note_row(void *ctx, const struct call_row *row, struct pb_error *err)
{
    struct group_maker *g = ctx;
    int64_t queued = row->v[CALL_QUEUED];
    size_t block = (size_t)(row->no % GROUP_CALLS) / BLOCK_CALLS;

    (void)err;
    g->since = queued < g->since ? queued : g->since;
    g->until = queued > g->until ? queued : g->until;
    note_place(g, place_key_uuid(PLACE_UUID, row->uuid), block);
    if (row->text[CALL_PARENT].n == UUID_BYTES)
        note_place(g, place_key_uuid(PLACE_PARENT, (const uint8_t *)row->text[CALL_PARENT].p),
                   block);
    for (uint32_t new = row->changed &((UINT32_C(1) << CALL_DEFINITION) - 1); new; new &= new - 1) {
        size_t i = (size_t)__builtin_ctz(new);

        if (i >= CALL_SOURCE && row->v[i] && i <= CALL_RULE)
            note_word(g, (uint64_t)word_key(row->v[i], i - CALL_SOURCE), block);
        else if (i >= CALL_ARGUMENTS && row->v[i])
            note_place(g, place_key(PLACE_OBJECT, (uint64_t)row->v[i], 0), block);
    }
    return 0;
}

static int by_word(const void *a, const void *b)
{
    uint64_t x, y;

    memcpy(&x, (*(struct map_slot *const *)a)->key, sizeof x);
    memcpy(&y, (*(struct map_slot *const *)b)->key, sizeof y);
    return (x > y) - (x < y);
}

static int write_words(struct group_maker *g, struct pb_error *err)
{
    sqlite3_stmt *st = db_statement(&g->w->c, SQL_GROUP_WORD_SET, err);
    AUTO_FREE struct map_slot **sorted = mem_alloc((g->words.n + 1) * sizeof *sorted);
    struct map_slot *slot;
    size_t n = 0;
    int rc = st ? 0 : -PB_E_SYSTEM;

    MAP_FOREACH(slot, &g->words)
        sorted[n++] = slot;
    qsort(sorted, n, sizeof *sorted, by_word);
    for (size_t i = 0; i < n && rc == 0; i++) {
        int64_t word;

        memcpy(&word, sorted[i]->key, sizeof word);
        bind_int(&g->w->c, st, 1, g->group);
        bind_int(&g->w->c, st, 2, word);
        bind_blob(&g->w->c, st, 3, span_make(sorted[i]->value, sizeof(struct blocks)));
        rc = db_run(&g->w->c, st, err);
    }
    return rc;
}

/* ---- in order, without more memory: there are many ---- */

enum { DIGIT_BITS = 10, DIGITS = 1 << DIGIT_BITS, FEW = 64 };

static size_t digit_of(group_place p) { return p >> (BLOCK_BITS + KEY_BITS - DIGIT_BITS); }

static int by_place(const void *a, const void *b)
{
    group_place x = *(const group_place *)a, y = *(const group_place *)b;

    return (x > y) - (x < y);
}

static void sort_few(group_place *v, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        group_place p = v[i];
        size_t at = i;

        for (; at && v[at - 1] > p; at--)
            v[at] = v[at - 1];
        v[at] = p;
    }
}

/* Each to the others that begin with the same digit, then those among themselves. */
static void sort_places(group_place *v, size_t n)
{
    size_t next[DIGITS] = { 0 }, end[DIGITS], sum = 0;

    for (size_t i = 0; i < n; i++)
        next[digit_of(v[i])]++;
    for (size_t d = 0; d < DIGITS; d++) {
        sum += next[d];
        end[d] = sum;
        next[d] = sum - next[d];
    }
    for (size_t d = 0; d < DIGITS; d++)
        while (next[d] < end[d]) {
            group_place p = v[next[d]];
            size_t to = digit_of(p);

            v[next[d]] = v[next[to]];
            v[next[to]++] = p;
        }
    for (size_t d = 0, from = 0; d < DIGITS; from = end[d++])
        if (end[d] - from <= FEW)
            sort_few(v + from, end[d] - from);
        else
            qsort(v + from, end[d] - from, sizeof *v, by_place);
}

static void add_entry(struct buf *hashes, struct buf *blocks, group_place p)
{
    uint32_t hash = (uint32_t)(p >> BLOCK_BITS);

    buf_add(hashes, &hash, sizeof hash);
    buf_byte(blocks, (char)(uint8_t)p);
}

static int64_t bucket_at(const struct group_maker *g, size_t i)
{
    return (int64_t)(g->places[i] >> (BLOCK_BITS + HASH_BITS));
}

/* A row: all hashes in order, then the block of each. */
static int write_places(struct group_maker *g, struct pb_error *err)
{
    sqlite3_stmt *st = db_statement(&g->w->c, SQL_PLACE_SET, err);
    AUTO_BUF struct buf hashes = { 0 }, blocks = { 0 };
    int rc = st ? 0 : -PB_E_SYSTEM;
    size_t i = 0;

    sort_places(g->places, g->n);
    while (i < g->n && rc == 0) {
        int64_t bucket = bucket_at(g, i);

        hashes.n = blocks.n = 0;
        for (; i < g->n && bucket_at(g, i) == bucket; i++)
            if (!hashes.n || g->places[i] != g->places[i - 1])
                add_entry(&hashes, &blocks, g->places[i]);
        buf_add_span(&hashes, buf_span(&blocks));
        bind_int(&g->w->c, st, 1, g->group * GROUP_PLACES + bucket);
        bind_blob(&g->w->c, st, 2, buf_span(&hashes));
        rc = db_run(&g->w->c, st, err);
    }
    return rc;
}

static int write_group(struct group_maker *g, struct pb_error *err)
{
    sqlite3_stmt *st = db_statement(&g->w->c, SQL_GROUP_SET, err);

    if (!st)
        return -PB_E_SYSTEM;
    bind_int(&g->w->c, st, 1, g->group);
    bind_int(&g->w->c, st, 2, g->since);
    bind_int(&g->w->c, st, 3, g->until);
    return db_run(&g->w->c, st, err);
}

int group_index(struct writer *w, struct pb_error *err)
{
    struct group_maker g = { .w = w, .group = w->now.indexed };
    struct map_slot *slot;
    int rc;

    g.places = mmap(NULL, PLACES_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (g.places == MAP_FAILED)
        return fail_sys(err, errno, "index records");
    g.since = INT64_MAX;
    g.until = INT64_MIN;
    rc =
        rows_each(&w->c, g.group * GROUP_CALLS, (g.group + 1) * GROUP_CALLS - 1, note_row, &g, err);
    /* All of it may be gone already. */
    if (rc == 0 && g.n)
        rc = write_group(&g, err);
    if (rc == 0)
        rc = write_words(&g, err);
    if (rc == 0)
        rc = write_places(&g, err);
    MAP_FOREACH(slot, &g.words)
        free(slot->value);
    map_done(&g.words);
    munmap(g.places, PLACES_BYTES);
    w->now.indexed += rc == 0;
    return rc;
}

int group_drop(struct writer *w, int64_t group, struct pb_error *err)
{
    static const enum sql drops[] = { SQL_GROUP_DROP, SQL_GROUP_WORDS_DROP, SQL_PLACES_DROP };
    int rc = 0;

    for (size_t i = 0; i < ARRAY_LEN(drops) && rc == 0; i++) {
        sqlite3_stmt *st = db_statement(&w->c, drops[i], err);
        bool places = drops[i] == SQL_PLACES_DROP;

        if (!st)
            return -PB_E_SYSTEM;
        bind_int(&w->c, st, 1, places ? group * GROUP_PLACES : group);
        if (places)
            bind_int(&w->c, st, 2, group * GROUP_PLACES + GROUP_PLACES - 1);
        rc = db_run(&w->c, st, err);
    }
    return rc;
}

int blocks_of_word(struct conn *c, int64_t group, int64_t word, struct blocks *out,
                   struct pb_error *err)
{
    sqlite3_stmt *st = db_statement(c, SQL_GROUP_WORD, err);
    int rc;

    if (!st)
        return -PB_E_SYSTEM;
    *out = (struct blocks){ 0 };
    bind_int(c, st, 1, group);
    bind_int(c, st, 2, word);
    rc = db_row(c, st, err);
    if (rc > 0) {
        struct span bits = row_bytes(c, st, 0);

        memcpy(out, bits.p, bits.n < sizeof *out ? bits.n : sizeof *out);
        db_end(c, st);
    }
    return rc < 0 ? rc : 0;
}

/* The first of the hashes that is not smaller. */
static size_t lower_bound(const char *hashes, size_t n, uint32_t hash)
{
    size_t from = 0, to = n;

    while (from < to) {
        size_t mid = (from + to) / 2;
        uint32_t h;

        memcpy(&h, hashes + mid * sizeof h, sizeof h);
        if (h < hash)
            from = mid + 1;
        else
            to = mid;
    }
    return from;
}

static void look_up(struct span row, uint64_t key, struct blocks *out)
{
    size_t n = row.n / (sizeof(uint32_t) + 1);
    uint32_t want = (uint32_t)(key >> (64 - KEY_BITS)), hash;

    for (size_t i = lower_bound(row.p, n, want); i < n; i++) {
        memcpy(&hash, row.p + i * sizeof hash, sizeof hash);
        if (hash != want)
            return;
        set_block(out, (uint8_t)row.p[n * sizeof hash + i]);
    }
}

int blocks_of_places(struct conn *c, int64_t group, const uint64_t *keys, size_t n,
                     struct blocks *out, struct pb_error *err)
{
    sqlite3_stmt *st = db_statement(c, SQL_PLACE, err);
    int rc = 0;

    if (!st)
        return -PB_E_SYSTEM;
    *out = (struct blocks){ 0 };
    for (size_t i = 0; i < n;) {
        int64_t bucket = bucket_of(keys[i]);
        struct span row = { 0 };

        bind_int(c, st, 1, group * GROUP_PLACES + bucket);
        rc = db_row(c, st, err);
        if (rc < 0)
            return rc;
        if (rc > 0)
            row = row_bytes(c, st, 0);
        for (; i < n && bucket_of(keys[i]) == bucket; i++)
            look_up(row, keys[i], out);
        if (rc > 0)
            db_end(c, st);
    }
    return 0;
}
