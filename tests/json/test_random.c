/* Generated texts: what we make of them must not depend on how they are read, and must be what
 * another parser makes of them. */
#include "generate.h"
#include "oracle.h"
#include "tap.h"

enum { TEXTS = 4000, MUTATIONS = 12 };

static void make_text(uint64_t seed, bool odd, struct buf *out)
{
    struct gen g = { .state = seed * UINT64_C(0x9E3779B97F4A7C15) + 1, .out = out, .odd = odd };

    out->n = 0;
    gen_text(&g);
}

static void write_value(struct json_out *o, struct span *key, struct json v, struct arena *a);

static void write_children(struct json_out *o, struct json v, struct arena *a)
{
    JSON_FOREACH(child, v) {
        struct span key = json_key_str(child, a);

        write_value(o, json_is(v, JSON_OBJECT) ? &key : NULL, child, a);
    }
}

/* Scalars by what they mean where the writer has a function for it, keys by raw_key. */
static void write_value(struct json_out *o, struct span *key, struct json v, struct arena *a)
{
    AUTO_BUF struct buf inner = { 0 };
    struct json_out in = json_out(&inner);
    double d;

    if (json_is(v, JSON_OBJECT) || json_is(v, JSON_ARRAY)) {
        if (json_is(v, JSON_OBJECT))
            json_begin_object(&in, NULL);
        else
            json_begin_array(&in, NULL);
        write_children(&in, v, a);
        json_end(&in);
    } else if (json_is(v, JSON_STRING)) {
        json_put_span(&in, NULL, json_str(v, a));
    } else if (json_is(v, JSON_TRUE) || json_is(v, JSON_FALSE)) {
        json_put_bool(&in, NULL, json_bool(v, false));
    } else if (json_is(v, JSON_NUMBER) && json_double(v, &d, NULL) == 0 && json_text(v).n < 15) {
        json_put_double(&in, NULL, d);
    } else {
        json_put_raw(&in, NULL, json_text(v));
    }
    if (key)
        json_put_raw_key(o, *key, buf_span(&inner));
    else
        json_put_raw(o, NULL, buf_span(&inner));
}

TEST(a_text_that_is_read_written_and_read_again_means_the_same)
{
    AUTO_BUF struct buf text = { 0 };
    AUTO_BUF struct buf again = { 0 };
    AUTO_JSON struct json_doc a = { 0 };
    AUTO_JSON struct json_doc b = { 0 };

    for (uint64_t seed = 1; seed <= TEXTS; seed++) {
        AUTO_ARENA struct arena arena = { 0 };
        struct json_out o = json_out(&again);

        make_text(seed, false, &text);
        again.n = 0;
        CHECK_INT(json_parse(&a, buf_span(&text), NULL, NULL), 0);
        write_value(&o, NULL, json_root(&a), &arena);
        CHECK_INT(json_parse(&b, buf_span(&again), NULL, NULL), 0);
        if (!json_equal(json_root(&a), json_root(&b)))
            TAP_FAIL("seed %llu: %.*s", (unsigned long long)seed, SPAN_ARG(buf_span(&text)));
    }
}

TEST(the_canonical_form_is_equal_to_its_text_and_its_own_canonical_form)
{
    AUTO_BUF struct buf text = { 0 };
    AUTO_BUF struct buf once = { 0 };
    AUTO_BUF struct buf twice = { 0 };
    AUTO_JSON struct json_doc a = { 0 };
    AUTO_JSON struct json_doc b = { 0 };

    for (uint64_t seed = 1; seed <= TEXTS; seed++) {
        make_text(seed, true, &text);
        once.n = twice.n = 0;
        CHECK_INT(json_parse(&a, buf_span(&text), NULL, NULL), 0);
        json_canonical(&once, json_root(&a));
        CHECK_INT(json_parse(&b, buf_span(&once), NULL, NULL), 0);
        CHECK(json_equal(json_root(&a), json_root(&b)));
        json_canonical(&twice, json_root(&b));
        CHECK(span_eq(buf_span(&once), buf_span(&twice)));
    }
}

/* Every value of the shallow tape must be the same range in the full one. */
static void check_tapes(struct json shallow, struct json full, int depth, int keep)
{
    CHECK_INT(json_type(shallow), json_type(full));
    CHECK(json_text(shallow).p == json_text(full).p && json_text(shallow).n == json_text(full).n);
    if (depth >= keep)
        return;
    CHECK_INT(json_len(shallow), json_len(full));
    full = json_first(full);
    JSON_FOREACH(child, shallow) {
        CHECK(json_key(child).p == json_key(full).p);
        check_tapes(child, full, depth + 1, keep);
        full = json_next(full);
    }
    CHECK_INT(json_type(full), JSON_NONE);
}

static void check_ways(struct span text)
{
    AUTO_JSON struct json_doc full = { 0 };
    AUTO_JSON struct json_doc other = { 0 };
    struct pb_error err = { 0 }, err2 = { 0 };
    struct json_opts unique = { 0, JSON_ALL };
    int rc = json_parse(&full, text, NULL, &err), rc2;

    for (int keep = 1; keep <= 4; keep++) {
        struct json_opts opts = { keep, 0 };

        if (json_parse(&other, text, &opts, &err2) != rc || strcmp(err.msg, err2.msg) != 0)
            TAP_FAIL("keep %d: '%s', not '%s': %.*s", keep, err2.msg, err.msg, SPAN_ARG(text));
        if (rc == 0)
            check_tapes(json_root(&other), json_root(&full), 0, keep);
    }
    rc2 = json_parse(&full, text, &unique, &err);
    for (int keep = 1; keep <= 4; keep++) {
        struct json_opts opts = { keep, JSON_ALL };

        if (json_parse(&other, text, &opts, &err2) != rc2 || strcmp(err.msg, err2.msg) != 0)
            TAP_FAIL("unique, keep %d: %.*s", keep, SPAN_ARG(text));
    }
    CHECK(rc2 == rc || (rc == 0 && strstr(err.msg, "already has")));
}

TEST(how_much_is_taped_changes_neither_the_verdict_nor_the_values)
{
    AUTO_BUF struct buf text = { 0 };

    for (uint64_t seed = 1; seed <= TEXTS; seed++) {
        struct gen g = { .state = seed };

        make_text(seed, true, &text);
        check_ways(buf_span(&text));
        for (int i = 0; i < MUTATIONS; i++) {
            gen_mutate(&g, &text);
            check_ways(buf_span(&text));
        }
    }
}

#ifdef HAVE_JANSSON

TEST(generated_texts_mean_the_same_to_another_parser)
{
    AUTO_BUF struct buf text = { 0 };
    AUTO_JSON struct json_doc doc = { 0 };

    for (uint64_t seed = 1; seed <= TEXTS; seed++) {
        AUTO_ORACLE json_t *j = NULL;

        make_text(seed, false, &text);
        j = oracle_parse(buf_span(&text));
        CHECK(j != NULL);
        CHECK_INT(json_parse(&doc, buf_span(&text), NULL, NULL), 0);
        if (!oracle_equal(j, json_root(&doc)))
            TAP_FAIL("seed %llu: %.*s", (unsigned long long)seed, SPAN_ARG(buf_span(&text)));
    }
}

TEST(mutated_texts_get_the_verdict_of_another_parser)
{
    AUTO_BUF struct buf text = { 0 };
    AUTO_JSON struct json_doc doc = { 0 };
    int accepted = 0, refused = 0;

    for (uint64_t seed = 1; seed <= TEXTS; seed++) {
        struct gen g = { .state = seed };

        make_text(seed, seed % 2, &text);
        for (int i = 0; i < MUTATIONS; i++) {
            AUTO_ORACLE json_t *j = NULL;
            int rc;

            gen_mutate(&g, &text);
            if (memchr(text.p, '\0', text.n))
                continue; /* see oracle.h */
            j = oracle_parse(buf_span(&text));
            rc = json_parse(&doc, buf_span(&text), NULL, NULL);
            accepted += rc == 0;
            refused += rc != 0;
            if ((rc == 0) != (j != NULL) && !(rc == 0 && oracle_may_refuse(json_root(&doc))))
                TAP_FAIL("we say %d: %.*s", rc, SPAN_ARG(buf_span(&text)));
        }
    }
    printf("# %d accepted, %d refused\n", accepted, refused);
    CHECK(accepted > 500 && refused > 5000);
}

#endif
