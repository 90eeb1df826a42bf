/* Calls as bytes: what goes in comes out, and what is damaged is said to be. */
#include "store/block.h"
#include "tap.h"

static struct call_row row_of(int64_t no)
{
    struct call_row row = { .no = no };

    for (size_t i = 0; i < CALL_NUMBERS; i++)
        row.v[i] = (int64_t)i + 1;
    row.v[CALL_QUEUED] = 1700000000000000 + no * 10;
    row.v[CALL_STARTED] = row.v[CALL_QUEUED] + 5;
    row.v[CALL_ENDED] = row.v[CALL_QUEUED] + 300;
    memset(row.uuid, 0xa5, UUID_BYTES);
    row.uuid[UUID_BYTES - 1] = (uint8_t)no;
    return row;
}

static void check_same(const struct call_row *a, const struct call_row *b)
{
    CHECK_INT(a->no, b->no);
    CHECK(memcmp(a->uuid, b->uuid, UUID_BYTES) == 0);
    for (size_t i = 0; i < CALL_NUMBERS; i++)
        CHECK_INT(a->v[i], b->v[i]);
    for (size_t i = 0; i < CALL_TEXTS; i++)
        CHECK(!a->text[i].p == !b->text[i].p && span_eq(a->text[i], b->text[i]));
}

static void check_block(const struct call_row *rows, size_t n, int64_t id)
{
    struct call_row read[BLOCK_CALLS];
    struct block b = { .id = -1 };
    size_t m;

    block_start(&b, id);
    for (size_t i = 0; i < n; i++)
        block_add(&b, &rows[i]);
    CHECK_INT(block_read(buf_span(&b.data), id, read, &m), 0);
    CHECK_INT(m, n);
    for (size_t i = 0; i < n; i++)
        check_same(&read[i], &rows[i]);
    block_done(&b);
}

TEST(a_full_block_of_like_calls_is_small_and_comes_back)
{
    struct call_row rows[BLOCK_CALLS];
    struct block b = { .id = -1 };

    for (int i = 0; i < BLOCK_CALLS; i++)
        rows[i] = row_of(640 + i);
    check_block(rows, BLOCK_CALLS, 10);
    block_start(&b, 10);
    for (int i = 0; i < BLOCK_CALLS; i++)
        block_add(&b, &rows[i]);
    CHECK(b.data.n < BLOCK_CALLS * 10);
    block_done(&b);
}

TEST(every_number_and_text_may_change_and_vanish)
{
    struct call_row rows[6];

    for (int i = 0; i < 6; i++)
        rows[i] = row_of(i * 3);
    for (size_t i = 0; i < CALL_NUMBERS; i++) {
        rows[1].v[i] = INT64_MAX;
        rows[2].v[i] = INT64_MIN;
        rows[3].v[i] = 0;
        rows[4].v[i] = -1;
    }
    for (size_t i = 0; i < CALL_TEXTS; i++) {
        rows[1].text[i] = SPAN("something");
        rows[2].text[i] = SPAN("something");
        rows[3].text[i] = SPAN("");
        rows[5].text[i] = SPAN("something");
    }
    memset(rows[1].uuid, 0, UUID_BYTES);
    memset(rows[2].uuid, 0xff, UUID_BYTES);
    check_block(rows, 6, 0);
}

TEST(a_block_is_gone_on_with)
{
    struct call_row rows[BLOCK_CALLS], read[BLOCK_CALLS];
    struct block a = { .id = -1 }, b = { .id = -1 };
    size_t n;

    block_start(&a, 1);
    for (int i = 0; i < BLOCK_CALLS; i++) {
        rows[i] = row_of(BLOCK_CALLS + i);
        rows[i].text[CALL_NOTE] = i % 3 ? SPAN("why") : SPAN("why not");
        if (i == 40) {
            CHECK_INT(block_resume(&b, 1, buf_span(&a.data)), 0);
            CHECK_INT(b.n, 40);
        }
        block_add(i < 40 ? &a : &b, &rows[i]);
    }
    CHECK_INT(block_read(buf_span(&b.data), 1, read, &n), 0);
    CHECK_INT(n, BLOCK_CALLS);
    for (int i = 0; i < BLOCK_CALLS; i++)
        check_same(&read[i], &rows[i]);
    block_done(&a);
    block_done(&b);
}

TEST(what_is_cut_or_too_long_is_damaged)
{
    struct call_row row = row_of(65), rows[BLOCK_CALLS];
    struct block b = { .id = -1 };
    struct span data;
    size_t n;

    row.text[CALL_NOTE] = SPAN("a note");
    block_start(&b, 1);
    block_add(&b, &row);
    data = buf_span(&b.data);
    CHECK_INT(block_read(data, 1, rows, &n), 0);
    for (size_t i = 1; i < data.n; i++)
        CHECK_INT(block_read(span_make(data.p, i), 1, rows, &n), -PB_E_INVALID);
    CHECK_INT(block_read(data, -1, rows, &n), -PB_E_INVALID);
    CHECK_INT(block_read(data, INT64_MAX, rows, &n), -PB_E_INVALID);
    block_add(&b, &row); /* the same number again */
    CHECK_INT(block_read(buf_span(&b.data), 1, rows, &n), -PB_E_INVALID);
    block_done(&b);
}
