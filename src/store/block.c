/* A row is: its place in the block (a byte), a number whose bits say what follows, the uuid, the
 * time it was queued as a difference, then each column that differs. Numbers are written in groups
 * of seven bits, the lowest first; those that may be negative with their sign in the lowest bit. A
 * uuid is mostly a little larger than the one before: then only the difference is written. */
#include "block.h"
#include <endian.h>

enum {
    UUID_WHOLE = 1, /* bit 0; that of a column is one higher than the column */
    NUMBER_MOST = 10,
    ROW_MOST = 1 + NUMBER_MOST + UUID_BYTES + CALL_NUMBERS * NUMBER_MOST + CALL_TEXTS * NUMBER_MOST
};
_Static_assert(CALL_NUMBERS + CALL_TEXTS < 31, "a bit for each");

static uint32_t bit_of(size_t column) { return UINT32_C(2) << column; }

/* Told as the difference to when the call was queued, so never like the row before. */
static bool is_span_of_time(size_t column) { return column <= CALL_ENDED; }
_Static_assert(CALL_STARTED == 0 && CALL_ENDED == 1, "the two that are");

static uint64_t zigzag(uint64_t v) { return v << 1 ^ (0 - (v >> 63)); }
static uint64_t unzigzag(uint64_t v) { return v >> 1 ^ (0 - (v & 1)); }
static uint64_t minus(int64_t a, int64_t b) { return (uint64_t)a - (uint64_t)b; }
static int64_t plus(int64_t a, uint64_t b) { return (int64_t)((uint64_t)a + b); }

/* ---- writing ---- */

static char *put_number(char *at, uint64_t v)
{
    for (; v >= 128; v >>= 7)
        *at++ = (char)(v | 128);
    *at++ = (char)v;
    return at;
}

static char *put_bytes(char *at, const void *p, size_t n)
{
    if (n)
        memcpy(at, p, n);
    return at + n;
}

/* The halves of a uuid as numbers that count as its text does. */
static uint64_t half(const uint8_t *uuid)
{
    uint64_t v;

    memcpy(&v, uuid, sizeof v);
    return be64toh(v);
}

static bool is_near(const uint8_t *a, const uint8_t *b)
{
    return memcmp(a, b, 8) == 0 && zigzag(half(a + 8) - half(b + 8)) < UINT64_C(1) << 49;
}

static struct span last_text(const struct block *b, size_t i)
{
    return b->last.text[i].p ? span_make(b->data.p + b->text_at[i], b->last.text[i].n)
                             : (struct span){ 0 };
}

static bool same_text(struct span a, struct span b) { return !a.p == !b.p && span_eq(a, b); }

static uint32_t differences(const struct block *b, const struct call_row *row)
{
    uint32_t mask = is_near(row->uuid, b->last.uuid) ? 0 : UUID_WHOLE;

    for (size_t i = 0; i < CALL_QUEUED; i++)
        if (is_span_of_time(i) ? row->v[i] != 0 : row->v[i] != b->last.v[i])
            mask |= bit_of(i);
    for (size_t i = 0; i < CALL_TEXTS; i++)
        if (!same_text(row->text[i], last_text(b, i)))
            mask |= bit_of(CALL_NUMBERS + i);
    return mask;
}

static char *put_numbers(char *at, const struct block *b, const struct call_row *row, uint32_t mask)
{
    int64_t queued = row->v[CALL_QUEUED];

    if (mask & UUID_WHOLE)
        at = put_bytes(at, row->uuid, UUID_BYTES);
    else
        at = put_number(at, zigzag(half(row->uuid + 8) - half(b->last.uuid + 8)));
    at = put_number(at, zigzag(minus(queued, b->last.v[CALL_QUEUED])));
    for (size_t i = 0; i < CALL_QUEUED; i++)
        if (mask & bit_of(i))
            at = put_number(
                at, zigzag(is_span_of_time(i) ? minus(row->v[i], queued) : (uint64_t)row->v[i]));
    return at;
}

/* Its length and one; 0: there is none. */
static char *put_text(char *at, struct block *b, size_t i, struct span text)
{
    at = put_number(at, text.p ? text.n + 1 : 0);
    b->text_at[i] = (size_t)(at - b->data.p);
    return put_bytes(at, text.p, text.n);
}

void block_start(struct block *b, int64_t id)
{
    b->id = id;
    b->data.n = b->n = 0;
    b->last = (struct call_row){ 0 };
}

void block_add(struct block *b, const struct call_row *row)
{
    uint32_t mask = differences(b, row);
    char *from = buf_reserve(&b->data, ROW_MOST + spans_size(row->text, CALL_TEXTS)), *at = from;

    *at++ = (char)(row->no - b->id * BLOCK_CALLS);
    at = put_number(at, mask);
    at = put_numbers(at, b, row, mask);
    for (size_t i = 0; i < CALL_TEXTS && mask >> (CALL_NUMBERS + 1); i++)
        if (mask & bit_of(CALL_NUMBERS + i))
            at = put_text(at, b, i, row->text[i]);
    b->data.n += (size_t)(at - from);
    b->last = *row;
    b->n++;
}

void block_done(struct block *b)
{
    buf_done(&b->data);
    *b = (struct block){ .id = -1 };
}

/* ---- reading ---- */

struct cursor {
    const char *at, *end;
    bool damaged;
};

static uint64_t get_number(struct cursor *c)
{
    uint64_t v = 0;

    for (unsigned shift = 0; shift < 64 && c->at < c->end; shift += 7) {
        uint8_t byte = (uint8_t)*c->at++;

        v |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return v;
    }
    c->damaged = true;
    return 0;
}

static const char *get_bytes(struct cursor *c, uint64_t n)
{
    const char *p = c->at;

    if (n > (uint64_t)(c->end - c->at)) {
        c->damaged = true;
        return NULL;
    }
    c->at += n;
    return p;
}

static void get_uuid(struct cursor *c, bool whole, uint8_t uuid[static UUID_BYTES])
{
    const char *p = whole ? get_bytes(c, UUID_BYTES) : NULL;
    uint64_t low;

    if (p)
        memcpy(uuid, p, UUID_BYTES);
    if (whole)
        return;
    low = htobe64(half(uuid + 8) + unzigzag(get_number(c)));
    memcpy(uuid + 8, &low, sizeof low);
}

static struct span get_text(struct cursor *c)
{
    uint64_t n = get_number(c);
    const char *p = n ? get_bytes(c, n - 1) : NULL;

    return p ? span_make(p, (size_t)n - 1) : (struct span){ 0 };
}

/* `row` is the one before it. */
static void get_row(struct cursor *c, int64_t id, struct call_row *row)
{
    int64_t no = id * BLOCK_CALLS + (uint8_t)*c->at++;
    uint64_t mask = get_number(c);

    c->damaged |= no <= row->no || no >= (id + 1) * BLOCK_CALLS;
    row->no = no;
    row->changed = (uint32_t)(mask >> 1);
    get_uuid(c, mask & UUID_WHOLE, row->uuid);
    row->v[CALL_QUEUED] = plus(row->v[CALL_QUEUED], unzigzag(get_number(c)));
    row->v[CALL_STARTED] = row->v[CALL_ENDED] = 0;
    for (uint64_t left = row->changed & (bit_of(CALL_QUEUED) / 2 - 1); left; left &= left - 1) {
        size_t i = (size_t)__builtin_ctzll(left);

        row->v[i] = plus(is_span_of_time(i) ? row->v[CALL_QUEUED] : 0, unzigzag(get_number(c)));
    }
    for (size_t i = 0; i < CALL_TEXTS && mask >> (CALL_NUMBERS + 1); i++)
        if (mask & bit_of(CALL_NUMBERS + i))
            row->text[i] = get_text(c);
}

int block_read(struct span data, int64_t id, struct call_row rows[static BLOCK_CALLS], size_t *n)
{
    struct cursor c = { .at = data.p, .end = span_end(data) };

    *n = 0;
    if (id < 0 || id > INT64_MAX / BLOCK_CALLS - 1)
        return -PB_E_INVALID;
    while (c.at < c.end) {
        if (*n == BLOCK_CALLS)
            return -PB_E_INVALID;
        if (*n)
            rows[*n] = rows[*n - 1];
        else
            rows[0] = (struct call_row){ .no = -1 };
        get_row(&c, id, &rows[*n]);
        if (c.damaged)
            return -PB_E_INVALID;
        ++*n;
    }
    return 0;
}

int block_resume(struct block *b, int64_t id, struct span data)
{
    struct call_row rows[BLOCK_CALLS];
    size_t n;
    int rc = block_read(data, id, rows, &n);

    if (rc < 0)
        return rc;
    block_start(b, id);
    for (size_t i = 0; i < n; i++)
        block_add(b, &rows[i]);
    return 0;
}
