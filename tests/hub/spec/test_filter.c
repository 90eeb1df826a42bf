#include "hub/spec/filter.h"
#include "hub/spec/spec.h"
#include "tap.h"

static int parse(struct filter **out, const char *text, struct pb_error *err)
{
    AUTO_JSON struct json_doc doc = { 0 };

    CHECK_INT(json_parse(&doc, span_of(text), NULL, err), 0);
    return filter_parse(out, json_root(&doc), err);
}

static struct filter *filter_of(const char *text)
{
    struct filter *f = NULL;
    struct pb_error err;

    if (parse(&f, text, &err) < 0)
        TAP_FAIL("%s: %s", text, err.msg);
    return f;
}

static bool lets(const struct filter *f, const char *server, const char *tool)
{
    return filter_matches(f, &(struct filter_subject){ span_of(server), span_of(tool) });
}

/* Which of these a filter lets through, as a row of their numbers. */
static const struct {
    const char *server, *tool;
} subjects[] = {
    { "a", "read" },       /* 0 */
    { "a", "write" },      /* 1 */
    { "b", "read" },       /* 2 */
    { "b", "read.all" },   /* 3 */
    { "b", "unread/one" }, /* 4 */
    { "", "todo" },        /* 5 */
};

static const char *row(const struct filter *f)
{
    static char out[ARRAY_LEN(subjects) + 1];
    size_t n = 0;

    for (size_t i = 0; i < ARRAY_LEN(subjects); i++)
        if (lets(f, subjects[i].server, subjects[i].tool))
            out[n++] = (char)('0' + i);
    out[n] = '\0';
    return out;
}

/* S0-127 */
TEST(each_filter_lets_through_what_it_says)
{
    static const struct {
        const char *filter, *want;
    } cases[] = {
        { "\"all\"", "012345" },
        { "\"none\"", "" },
        { "{\"servers\":[\"b\",\"c\"]}", "234" },
        { "{\"servers\":[]}", "" },
        { "{\"tools\":[\"read\",\"todo\"]}", "025" },
        { "{\"toolIDs\":[\"a.read\"]}", "0" },
        { "{\"toolIDs\":[\"a/read\",\"b.read.all\"]}", "03" },
        { "{\"toolIDs\":[\"b.unread/one\",\"b/unread/one\"]}", "4" },
        { "{\"toolIDs\":[\"read\",\"todo\"]}", "5" },
        { "{\"pattern\":\"read\"}", "0234" },
        { "{\"pattern\":\"^read\"}", "023" },
        { "{\"pattern\":\"^(read|todo)$\"}", "025" },
        { "{\"pattern\":\"b\"}", "" }, /* the server's name is not looked at */
        { "{\"and\":[{\"servers\":[\"b\"]},{\"pattern\":\"^read\"}]}", "23" },
        { "{\"and\":[]}", "012345" },
        { "{\"or\":[{\"tools\":[\"write\"]},{\"servers\":[\"b\"]}]}", "1234" },
        { "{\"or\":[]}", "" },
        { "{\"not\":{\"servers\":[\"a\",\"b\"]}}", "5" },
        { "{\"not\":\"all\"}", "" },
        { "{\"not\":{\"not\":{\"tools\":[\"todo\"]}}}", "5" },
        { "{\"and\":[{\"not\":{\"pattern\":\"un\"}},{\"or\":[{\"servers\":[\"b\"]},\"none\"]}]}",
          "23" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(filter) struct filter *f = filter_of(cases[i].filter);

        if (strcmp(row(f), cases[i].want) != 0)
            TAP_FAIL("%s lets through %s, not %s", cases[i].filter, row(f), cases[i].want);
    }
}

TEST(what_swift_writes_is_read_too)
{
    static const struct {
        const char *filter, *want;
    } cases[] = {
        { "{\"all\":{}}", "012345" },
        { "{\"none\":{}}", "" },
        { "{\"servers\":{\"_0\":[\"b\"]}}", "234" },
        { "{\"tools\":{\"_0\":[\"read\"]}}", "02" },
        { "{\"toolIDs\":{\"_0\":[\"a.read\"]}}", "0" },
        { "{\"pattern\":{\"_0\":\"^read\"}}", "023" },
        { "{\"not\":{\"_0\":{\"all\":{}}}}", "" },
        { "{\"and\":{\"_0\":[{\"servers\":{\"_0\":[\"b\"]}},{\"not\":{\"_0\":{\"tools\":{\"_0\":"
          "[\"read\"]}}}}]}}",
          "34" },
        { "{\"or\":{\"_0\":[]}}", "" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(filter) struct filter *f = filter_of(cases[i].filter);

        CHECK_STR(row(f), cases[i].want);
    }
}

static const char *written(const struct filter *f)
{
    static struct buf out;
    struct json_out o;

    out.n = 0;
    o = json_out(&out);
    filter_write(&o, NULL, f);
    return buf_cstr(&out);
}

/* S0-127 */
TEST(a_filter_survives_being_written_and_read)
{
    static const char *const same[] = {
        "\"all\"",
        "\"none\"",
        "{\"servers\":[\"z\",\"a\",\"z\"]}",
        "{\"tools\":[]}",
        "{\"toolIDs\":[\"b.x\",\"a/y\",\"\xc3\xa4\\\"\\\\\"]}",
        "{\"pattern\":\"^\\\\d+\\\"$\"}",
        "{\"and\":[{\"or\":[\"all\",{\"not\":{\"pattern\":\"x\"}}]},{\"not\":\"none\"}]}",
    };

    for (size_t i = 0; i < ARRAY_LEN(same); i++) {
        AUTO(filter) struct filter *f = filter_of(same[i]), *again = NULL;

        CHECK_STR(written(f), same[i]);
        again = filter_of(written(f));
        CHECK_STR(row(again), row(f));
        CHECK(memcmp(filter_digest(f), filter_digest(again), SHA256_BYTES) == 0);
    }
    {
        AUTO(filter) struct filter *f = filter_of("{\"not\":{\"_0\":{\"servers\":{\"_0\":[]}}}}");
        AUTO(filter) struct filter *other = filter_of("{\"not\":{\"tools\":[]}}");

        CHECK_STR(written(f), "{\"not\":{\"servers\":[]}}");
        CHECK(memcmp(filter_digest(f), filter_digest(other), SHA256_BYTES) != 0);
    }
    {
        AUTO(filter) struct filter *f = filter_all();

        CHECK_STR(written(f), "\"all\"");
        CHECK_STR(row(f), "012345");
    }
}

TEST(a_bad_filter_is_refused_with_its_place)
{
    static const struct {
        const char *filter, *msg;
    } cases[] = {
        { "7", "expected \"all\" or an object with one member, got a number" },
        { "null", "expected \"all\" or an object with one member, got null" },
        { "[]", "expected \"all\" or an object with one member, got an array" },
        { "{}", "expected an object with one member, got 0" },
        { "{\"all\":{},\"none\":{}}", "expected an object with one member, got 2" },
        { "\"everything\"", "no filter \"everything\"; known are \"all\", \"none\", {servers}" },
        { "\"servers\"", "no filter \"servers\"; known are " },
        { "{\"regex\":\"x\"}", "no filter \"regex\"; known are " },
        { "{\"all\":1}", "all: expected {}, got a number" },
        { "{\"servers\":\"a\"}", "servers: expected an array of strings, got a string" },
        { "{\"tools\":[\"a\",1]}", "tools: expected a string, got a number" },
        { "{\"pattern\":[]}", "pattern: expected a string, got an array" },
        { "{\"pattern\":\"(\"}", "pattern: not a usable pattern: " },
        { "{\"or\":{}}", "or: expected an array of filters, got an object" },
        { "{\"and\":[\"all\",{\"or\":[\"all\",\"x\"]}]}", "and: 1: or: 1: no filter \"x\"" },
        { "{\"not\":[]}", "not: expected \"all\" or an object with one member, got an array" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct filter *f = NULL;
        struct pb_error err;

        CHECK_INT(parse(&f, cases[i].filter, &err), -PB_E_INVALID);
        CHECK(span_starts(span_of(err.msg), cases[i].msg));
        CHECK(!f);
        CHECK_INT(parse(&f, cases[i].filter, NULL), -PB_E_INVALID);
    }
}

/* n filters within each other, the innermost "all". */
static int parse_nested(struct filter **f, size_t n, struct pb_error *err)
{
    AUTO_BUF struct buf b = { 0 };

    for (size_t i = 1; i < n; i++)
        buf_str(&b, "{\"not\":");
    buf_str(&b, "\"all\"");
    for (size_t i = 1; i < n; i++)
        buf_byte(&b, '}');
    return parse(f, buf_cstr(&b), err);
}

TEST(the_depth_of_a_filter_is_bounded)
{
    AUTO(filter) struct filter *f = NULL;
    struct filter *none = NULL;
    struct pb_error err;

    CHECK_INT(parse_nested(&f, FILTER_DEPTH_MAX, &err), 0);
    CHECK_STR(row(f), ""); /* an odd number of negations */
    CHECK_INT(parse_nested(&none, FILTER_DEPTH_MAX + 1, &err), -PB_E_LIMIT);
    CHECK_HAS(err.msg, "at most 32 levels deep");
    CHECK_INT(parse_nested(&none, 100, &err), -PB_E_LIMIT);
}

/* {"or":["all",...]} or {"tools":["x",...]} with so many. */
static int parse_wide(struct filter **f, const char *key, const char *item, size_t n,
                      struct pb_error *err)
{
    AUTO_BUF struct buf b = { 0 };

    buf_printf(&b, "{\"%s\":[", key);
    for (size_t i = 0; i < n; i++)
        buf_printf(&b, "%s%s", i ? "," : "", item);
    buf_str(&b, "]}");
    return parse(f, buf_cstr(&b), err);
}

TEST(the_parts_of_a_filter_are_bounded)
{
    static const struct {
        const char *key, *item;
    } cases[] = { { "or", "\"none\"" }, { "tools", "\"x\"" }, { "toolIDs", "\"a.x\"" } };
    static const size_t past[] = { 0, 1, 100000 };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        for (size_t k = 0; k < ARRAY_LEN(past); k++) {
            AUTO(filter) struct filter *f = NULL;
            struct pb_error err;
            /* the filter itself is a part, too */
            int rc =
                parse_wide(&f, cases[i].key, cases[i].item, FILTER_NODES_MAX - 1 + past[k], &err);

            CHECK_INT(rc, k ? -PB_E_LIMIT : 0);
            if (k)
                CHECK_HAS(err.msg, "a filter has at most 10000 parts");
        }
}

TEST(the_patterns_of_a_filter_are_bounded_together)
{
    struct filter *f = NULL;
    struct pb_error err;

    CHECK_INT(parse_wide(&f, "or", "{\"pattern\":\"(abcdefgh){100}\"}", 4000, &err), -PB_E_LIMIT);
    CHECK_HAS(err.msg, "or: ");
    CHECK_HAS(err.msg, "4194304 bytes");
}

/* ---- Names that a pattern cannot decide -------------------------------------------------- */

static int warnings;

static void on_log(void *ctx, enum pb_log_level level, const char *line)
{
    (void)ctx;
    warnings += level == PB_LOG_WARNING && strstr(line, "takes more than 100000 steps");
}

#define HARD "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"

TEST(a_name_on_which_a_pattern_takes_too_long_is_never_let_through)
{
    static const struct {
        const char *filter;
        bool want;
    } cases[] = {
        { "{\"pattern\":\"^(a+)+$\"}", false },
        { "{\"not\":{\"pattern\":\"^(a+)+$\"}}", false },
        { "{\"not\":{\"not\":{\"pattern\":\"^(a+)+$\"}}}", false },
        { "{\"and\":[\"all\",{\"not\":{\"pattern\":\"^(a+)+$\"}}]}", false },
        { "{\"and\":[{\"not\":{\"pattern\":\"^(a+)+$\"}},\"all\"]}", false },
        { "{\"not\":{\"or\":[{\"pattern\":\"^(a+)+$\"},\"none\"]}}", false },
        /* what is decided without it stays decided */
        { "{\"or\":[{\"pattern\":\"^(a+)+$\"},\"all\"]}", true },
        { "{\"not\":{\"and\":[{\"pattern\":\"^(a+)+$\"},\"none\"]}}", true },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(filter) struct filter *f = filter_of(cases[i].filter);

        warnings = 0;
        pb_log_to(on_log, NULL, PB_LOG_WARNING);
        CHECK_INT(lets(f, "s", HARD), cases[i].want);
        CHECK_INT(lets(f, "s", HARD), cases[i].want);
        CHECK_INT(warnings, 1); /* once, not for each name */
        pb_log_to(NULL, NULL, PB_LOG_WARNING);
    }
}

/* ---- Globs ------------------------------------------------------------------------------- */

TEST(globs_match_whole_names)
{
    static const struct {
        const char *pattern, *name;
        bool want;
    } cases[] = {
        { "", "", true },
        { "", "a", false },
        { "*", "", true },
        { "*", "anything", true },
        { "a", "a", true },
        { "a", "ab", false },
        { "a", "", false },
        { "read*", "read", true },
        { "read*", "read_file", true },
        { "read*", "unread", false },
        { "*file", "read_file", true },
        { "*file", "file_read", false },
        { "r*d*e", "read_file", true },
        { "r*d*x", "read_file", false },
        { "**a**", "bab", true },
        { "?", "a", true },
        { "?", "", false },
        { "?", "ab", false },
        { "?", "\xe2\x82\xac", true },
        { "a?c",
          "a\xc3\xa4"
          "c",
          true },
        { "*?", "", false },
        { "*?b", "aab", true },
        { "[a]", "a", false }, /* no classes */
        { "[a]", "[a]", true },
        { "a\\*", "a*", false }, /* no escapes */
        { "*a*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        if (glob_match(cases[i].pattern, span_of(cases[i].name)) != cases[i].want)
            TAP_FAIL("'%s' and '%s'", cases[i].pattern, cases[i].name);
    CHECK(glob_match("*", (struct span){ 0 }));
}
