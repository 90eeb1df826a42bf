/* Bytes that are kept once, by what they are. */
#include "store_rig.h"

static char *text_of_size(size_t n, char seed)
{
    char *p = mem_alloc(n + 1);
    uint32_t x = (uint8_t)seed + 1u;

    for (size_t i = 0; i < n; i++) {
        x = x * 1664525u + 1013904223u;
        p[i] = (char)('a' + (x >> 24) % 26);
    }
    p[n] = '\0';
    return p;
}

TEST(a_cid_is_the_sha512_of_the_bytes)
{
    char cid[CID_CHARS + 1];

    cid_of(SPAN("abc"), cid);
    CHECK_STR(cid, "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
                   "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f");
    CHECK(cid_is(span_of(cid)));
    cid[0] = 'D';
    CHECK(!cid_is(span_of(cid)));
    CHECK(!cid_is(SPAN("")));
    CHECK(!cid_is(span_make(cid, CID_CHARS - 1)));
}

TEST(a_megabyte_that_comes_a_thousand_times_is_kept_once)
{
    const size_t size = 1 << 20;
    struct rig rig;
    AUTO_FREE char *text = text_of_size(size, 1);
    AUTO(blob) struct blob *blob = blob_new(span_make(text, size));
    char cid[CID_CHARS + 1];
    struct store_stats st;

    rig_new(&rig);
    for (unsigned i = 1; i <= 1000; i++) {
        struct record r = rig_call(i);

        r.result = (struct object_bytes){ blob_span(blob), blob };
        store_put(rig.s, &r);
        while (store_is_full(rig.s))
            loop_turn(rig.loop, true);
    }
    CHECK_INT(rig_sync(&rig).code, 0);
    st = rig_stats(&rig);
    CHECK_INT(st.calls, 1000);
    CHECK_INT(st.objects, 2);
    CHECK_INT(st.object_bytes, size + 13);
    CHECK(st.bytes < 3 * size / 2);
    CHECK_INT(st.waiting, 0);
    CHECK_INT(atomic_load(&blob->refs), 1);
    cid_of(span_make(text, size), cid);
    CHECK(span_eq(buf_span(&rig_object(&rig, cid)->bytes), span_make(text, size)));
    rig_done(&rig);
}

TEST(objects_of_every_size_come_back_as_they_were)
{
    static const size_t sizes[] = {
        0, 1, STORE_SMALL_MAX, STORE_SMALL_MAX + 1, STORE_COPY_MAX, STORE_COPY_MAX + 1, 100000
    };
    struct rig rig;

    rig_new(&rig);
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        AUTO_FREE char *text = text_of_size(sizes[i], (char)i);
        struct record r = rig_call((unsigned)i + 1);
        struct rig_page *p;

        r.result = (struct object_bytes){ .bytes = span_make(text, sizes[i]) };
        store_put(rig.s, &r);
        p = rig_find(&rig, (struct call_query){ .limit = 1 });
        CHECK_INT(p->v[0].result_bytes, sizes[i]);
        CHECK(span_eq(buf_span(&rig_object(&rig, p->v[0].result_cid)->bytes),
                      span_make(text, sizes[i])));
    }
    rig_done(&rig);
}

TEST(of_what_is_too_large_the_cid_is_told)
{
    struct rig rig;
    struct record r = rig_call(1);
    char cid[CID_CHARS + 1];
    struct rig_page *p;

    rig_init(&rig)->object_bytes = 10;
    rig_open(&rig);
    r.arguments = rig_bytes("0123456789");
    r.result = rig_bytes("01234567890");
    store_put(rig.s, &r);
    p = rig_find(&rig, (struct call_query){ 0 });
    CHECK_INT(p->v[0].result_bytes, 11);
    cid_of(SPAN("01234567890"), cid);
    CHECK_STR(p->v[0].result_cid, cid);
    CHECK_INT(rig_object(&rig, cid)->err.code, PB_E_LIMIT);
    cid_of(SPAN("0123456789"), cid);
    CHECK_INT(rig_object(&rig, cid)->err.code, 0);
    cid_of(SPAN("nobody put this"), cid);
    CHECK_INT(rig_object(&rig, cid)->err.code, PB_E_NOT_FOUND);
    CHECK_INT(rig_object(&rig, "nonsense")->err.code, PB_E_NOT_FOUND);
    rig_done(&rig);
}

TEST(a_pin_keeps_an_object_until_it_is_removed)
{
    struct rig rig;
    char cid[CID_CHARS + 1];

    rig_new(&rig);
    rig_put(&rig, 1, 3);
    store_pin(rig.s, "definition of read", SPAN("{\"pinned\":true}"));
    store_pin(rig.s, "definition of read", SPAN("{\"pinned\":true}"));
    cid_of(SPAN("{\"pinned\":true}"), cid);
    CHECK_INT(rig_object(&rig, cid)->err.code, 0);
    CHECK_INT(rig_stats(&rig).objects, 3);
    CHECK_INT(rig_forget(&rig, 0).code, 0);
    CHECK_INT(rig_stats(&rig).calls, 0);
    CHECK_INT(rig_stats(&rig).objects, 1);
    CHECK_INT(rig_object(&rig, cid)->err.code, 0);
    store_pin(rig.s, "definition of read", SPAN("other"));
    CHECK_INT(rig_object(&rig, cid)->err.code, PB_E_NOT_FOUND);
    CHECK_INT(rig_stats(&rig).objects, 1);
    store_pin(rig.s, "definition of read", SPAN(""));
    CHECK_INT(rig_stats(&rig).objects, 0);
    CHECK_INT(rig_stats(&rig).object_bytes, 0);
    rig_done(&rig);
}

static bool hide(void *ctx, struct buf *text, struct json_out *where)
{
    char *at = memmem(text->p, text->n, "s3cret", 6);

    (void)ctx;
    if (!at)
        return false;
    memcpy(at, "******", 6);
    if (where) {
        json_begin_object(where, NULL);
        json_put_str(where, "at", "/key");
        json_put_str(where, "why", "value");
        json_end(where);
    }
    return true;
}

TEST(secrets_are_taken_out_before_anything_is_written)
{
    struct rig rig;
    struct record r = rig_call(1);
    AUTO_FREE char *all = NULL;
    struct rig_page *p;
    FILE *f;
    long size;

    rig_init(&rig)->redact = hide;
    rig_open(&rig);
    for (unsigned i = 1; i <= 3; i++) {
        r = rig_call(i);
        r.arguments = rig_bytes("{\"key\":\"s3cret\"}");
        r.note = "it said s3cret";
        r.caller = "s3cret caller";
        store_put(rig.s, &r);
    }
    p = rig_find(&rig, (struct call_query){ 0 });
    for (unsigned i = 0; i < 3; i++) {
        CHECK_STR(p->v[i].redacted, "[{\"in\":\"arguments\",\"at\":\"/key\",\"why\":\"value\"}]");
        CHECK_STR(p->v[i].r.note, "it said ******");
        CHECK_STR(p->v[i].r.caller, "****** caller");
    }
    CHECK_SPAN(buf_span(&rig_object(&rig, p->v[0].arguments_cid)->bytes), "{\"key\":\"******\"}");
    CHECK_INT(rig_find(&rig, (struct call_query){ .text = "s3cret" })->n, 0);
    rig_done(&rig);
    f = fopen(temp_path("records/records.db"), "rb");
    CHECK(f && fseek(f, 0, SEEK_END) == 0);
    size = ftell(f);
    rewind(f);
    all = mem_alloc((size_t)size);
    CHECK_INT(fread(all, 1, (size_t)size, f), size);
    fclose(f);
    CHECK(!memmem(all, (size_t)size, "s3cret", 6));
}

TEST(past_its_bound_the_queue_asks_to_wait_and_says_when_it_is_over)
{
    struct rig rig;
    unsigned i = 0;

    rig_new(&rig);
    while (!store_is_full(rig.s)) {
        struct record r = rig_call(++i);

        store_put(rig.s, &r);
        CHECK(i < 1000000);
    }
    while (!rig.drains)
        loop_turn(rig.loop, true);
    CHECK(!store_is_full(rig.s));
    CHECK_INT(rig_find(&rig, (struct call_query){ 0 })->total, i);
    CHECK_INT(rig_stats(&rig).lost, 0);
    rig_done(&rig);
}

TEST(an_object_that_is_pinned_and_let_go_at_once_goes)
{
    struct rig rig;

    rig_new(&rig);
    store_pin(rig.s, "a", SPAN("{\"for\":\"a moment\"}"));
    store_pin(rig.s, "a", SPAN(""));
    CHECK_INT(rig_sync(&rig).code, 0);
    CHECK_INT(rig_stats(&rig).objects, 0);
    CHECK_INT(rig_stats(&rig).object_bytes, 0);
    rig_done(&rig);
}

/* Knows nothing at first. */
static bool hide_when_known(void *ctx, struct buf *text, struct json_out *where)
{
    return atomic_load((atomic_int *)ctx) && hide(NULL, text, where);
}

static uint64_t version_known(void *ctx) { return (uint64_t)atomic_load((atomic_int *)ctx); }

TEST(what_becomes_a_secret_is_hidden_in_what_was_said_before)
{
    atomic_int known = 0;
    struct rig_page *p;
    struct rig rig;

    rig_init(&rig)->redact = hide_when_known;
    rig.o.redact_version = version_known;
    rig.o.redact_ctx = &known;
    rig_open(&rig);
    for (unsigned i = 1; i <= 2; i++) {
        struct record r = rig_call(i);

        r.arguments = rig_bytes("{\"key\":\"s3cret\"}");
        r.caller = "s3cret caller";
        store_put(rig.s, &r);
        CHECK_INT(rig_sync(&rig).code, 0);
        atomic_store(&known, 1);
    }
    p = rig_find(&rig, (struct call_query){ 0 });
    CHECK_STR(p->v[0].r.caller, "****** caller");
    CHECK(p->v[0].redacted != NULL);
    CHECK_SPAN(buf_span(&rig_object(&rig, p->v[0].arguments_cid)->bytes), "{\"key\":\"******\"}");
    CHECK_STR(rig_find(&rig, (struct call_query){ 0 })->v[1].r.caller, "s3cret caller");
    rig_done(&rig);
}
