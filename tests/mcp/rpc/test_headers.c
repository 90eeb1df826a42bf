#include "mcp/rpc/headers.h"
#include "mcp/rpc/rpc.h"
#include "tap.h"

static const char *encoded(const char *value, size_t n, struct arena *arena)
{
    AUTO_BUF struct buf b = { 0 };

    header_encode(&b, span_make(value, n));
    return arena_dup(arena, buf_span(&b));
}

TEST(values_go_plain_when_they_can_and_encoded_when_they_must)
{
    static const struct {
        const char *value, *header;
    } cases[] = {
        { "", "" },
        { "us-west1", "us-west1" },
        { "us west 1", "us west 1" },
        { "~!{}\"", "~!{}\"" },
        { " us", "=?base64?IHVz?=" },
        { "us ", "=?base64?dXMg?=" },
        { "\tus", "=?base64?CXVz?=" },
        { "u\ts", "=?base64?dQlz?=" },
        { "line1\nline2", "=?base64?bGluZTEKbGluZTI=?=" },
        { "line1\r\nline2", "=?base64?bGluZTENCmxpbmUy?=" },
        { "\x7f", "=?base64?fw==?=" },
        { "Hello, \xe4\xb8\x96\xe7\x95\x8c", "=?base64?SGVsbG8sIOS4lueVjA==?=" },
        { "=?base64?YQ==?=", "=?base64?PT9iYXNlNjQ/WVE9PT89?=" },
        { "=?base64?\?=", "=?base64?PT9iYXNlNjQ/Pz0=?=" },
        { "=?base64?", "=?base64?" },
        { "=?BASE64?YQ==?=", "=?BASE64?YQ==?=" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_ARENA struct arena arena = { 0 };
        struct span back;

        CHECK_STR(encoded(cases[i].value, strlen(cases[i].value), &arena), cases[i].header);
        CHECK(header_decode(span_of(cases[i].header), &back, &arena));
        CHECK_SPAN(back, cases[i].value);
    }
}

TEST(a_nul_inside_a_value_survives_the_way_there_and_back)
{
    AUTO_ARENA struct arena arena = { 0 };
    struct span back;

    CHECK(header_decode(span_of(encoded("a\0b", 3, &arena)), &back, &arena));
    CHECK_INT(back.n, 3);
    CHECK(memcmp(back.p, "a\0b", 3) == 0);
}

TEST(encoded_values_that_are_not_canonical_are_refused)
{
    static const char *const bad[] = {
        "=?base64?SGVsbG8?=",     /* no padding */
        "=?base64?SGVs!!!bG8=?=", /* wrong alphabet */
        "=?base64?SGVsbG8==?=",   /* too much padding */
        "=?base64?SGVsbG9=?=",    /* stray bits */
        "=?base64?SGVs bG8=?=",   /* a blank inside */
        "=?base64?_-8=?=",        /* the other alphabet */
        "=?base64?/w==?=",        /* not UTF-8 */
        "=?base64?7aCA?=",        /* a surrogate */
    };

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        AUTO_ARENA struct arena arena = { 0 };
        struct span out;

        if (header_decode(span_of(bad[i]), &out, &arena))
            TAP_FAIL("%s was accepted", bad[i]);
    }
}

TEST(text_without_both_marks_is_taken_as_it_is)
{
    static const char *const plain[] = {
        "SGVsbG8=", "=?base64?SGVsbG8=", "SGVsbG8=?=", "=?b64?YQ==?=", "?=", "=?base64?="
    };

    for (size_t i = 0; i < ARRAY_LEN(plain); i++) {
        AUTO_ARENA struct arena arena = { 0 };
        struct span out;

        CHECK(header_decode(span_of(plain[i]), &out, &arena));
        CHECK_SPAN(out, plain[i]);
    }
}

#define OBJECT(props) "{\"type\":\"object\",\"properties\":{" props "}}"

TEST(annotations_are_found_where_properties_alone_lead)
{
    struct header_params p;

    CHECK_INT(header_params_read(
                  &p,
                  SPAN(OBJECT(
                      "\"region\":{\"type\":\"string\",\"x-mcp-header\":\"Region\"},"
                      "\"n\":{\"type\":\"integer\",\"x-mcp-header\":\"N\"},"
                      "\"deep\":{\"type\":\"object\",\"properties\":{\"er\":{\"type\":\"boolean\","
                      "\"x-mcp-header\":\"Deeper\"}}},"
                      "\"plain\":{\"type\":\"number\"}")),
                  NULL),
              0);
    CHECK_INT(p.n, 3);
    CHECK_SPAN(p.items[0].header, "Region");
    CHECK_INT(p.items[0].type, JSON_STRING);
    CHECK_INT(p.items[0].depth, 1);
    CHECK_SPAN(p.items[0].path[0], "region");
    CHECK_INT(p.items[1].type, JSON_NUMBER);
    CHECK_INT(p.items[2].type, JSON_TRUE);
    CHECK_INT(p.items[2].depth, 2);
    CHECK_SPAN(p.items[2].path[0], "deep");
    CHECK_SPAN(p.items[2].path[1], "er");
    header_params_done(&p);
}

TEST(schemas_whose_annotations_break_the_rules_are_refused_by_name)
{
    static const struct {
        const char *schema, *culprit;
    } cases[] = {
        { OBJECT("\"a\":{\"type\":\"string\",\"x-mcp-header\":\"\"}"), "a: x-mcp-header" },
        { OBJECT("\"a\":{\"type\":\"string\",\"x-mcp-header\":\"My Region\"}"), "a: x-mcp-header" },
        { OBJECT("\"a\":{\"type\":\"string\",\"x-mcp-header\":\"A:B\"}"), "a: x-mcp-header" },
        { OBJECT("\"a\":{\"type\":\"string\",\"x-mcp-header\":\"R\xc3\xa9gion\"}"), "no header" },
        { OBJECT("\"a\":{\"type\":\"string\",\"x-mcp-header\":\"R\\t1\"}"), "no header" },
        { OBJECT("\"a\":{\"type\":\"string\",\"x-mcp-header\":\"R\\u00001\"}"), "no header" },
        { OBJECT("\"a\":{\"type\":\"string\",\"x-mcp-header\":7}"), "no header" },
        { OBJECT("\"a\":{\"type\":\"number\",\"x-mcp-header\":\"A\"}"), "type" },
        { OBJECT("\"a\":{\"type\":\"object\",\"x-mcp-header\":\"A\"}"), "type" },
        { OBJECT("\"a\":{\"type\":\"array\",\"x-mcp-header\":\"A\"}"), "type" },
        { OBJECT("\"a\":{\"type\":\"null\",\"x-mcp-header\":\"A\"}"), "type" },
        { OBJECT("\"a\":{\"type\":[\"string\"],\"x-mcp-header\":\"A\"}"), "type" },
        { OBJECT("\"a\":{\"x-mcp-header\":\"A\"}"), "type" },
        { OBJECT("\"a\":{\"type\":\"string\",\"x-mcp-header\":\"My\"},"
                 "\"b\":{\"type\":\"string\",\"x-mcp-header\":\"mY\"}"),
          "mY is there twice" },
        { "{\"type\":\"object\",\"x-mcp-header\":\"Root\"}", "Root" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct header_params p = { .n = 99 };
        struct pb_error err;

        CHECK_INT(header_params_read(&p, span_of(cases[i].schema), &err), -PB_E_INVALID);
        CHECK_HAS(err.msg, cases[i].culprit);
        CHECK_INT(p.n, 99);
    }
}

TEST(an_annotation_below_any_other_keyword_spoils_the_schema)
{
    static const char *const keywords[] = {
        "\"items\":%s",
        "\"prefixItems\":[%s]",
        "\"contains\":%s",
        "\"additionalProperties\":%s",
        "\"patternProperties\":{\"^x\":%s}",
        "\"propertyNames\":%s",
        "\"oneOf\":[%s]",
        "\"anyOf\":[{},%s]",
        "\"allOf\":[%s]",
        "\"not\":%s",
        "\"if\":%s",
        "\"then\":%s",
        "\"else\":%s",
        "\"$defs\":{\"x\":%s}",
        "\"definitions\":{\"x\":%s}",
        "\"dependentSchemas\":{\"x\":%s}",
        "\"unevaluatedProperties\":%s",
        "\"of-the-future\":{\"x\":[%s]}",
    };

    for (size_t i = 0; i < ARRAY_LEN(keywords); i++) {
        AUTO_BUF struct buf b = { 0 };
        const char *at = strstr(keywords[i], "%s");
        struct header_params p;

        buf_printf(&b, "{\"type\":\"object\",%.*s{\"type\":\"string\",\"x-mcp-header\":\"A\"}%s}",
                   (int)(at - keywords[i]), keywords[i], at + 2);
        if (header_params_read(&p, buf_span(&b), NULL) == 0)
            TAP_FAIL("%s was accepted", buf_cstr(&b));
    }
}

TEST(what_only_looks_like_an_annotation_does_no_harm)
{
    static const char *const good[] = {
        OBJECT("\"x-mcp-header\":{\"type\":\"string\"}"),
        OBJECT("\"a\":{\"type\":\"object\",\"default\":{\"x-mcp-header\":\"A B\"}}"),
        OBJECT("\"a\":{\"enum\":[{\"x-mcp-header\":1}]}"),
        OBJECT("\"a\":{\"const\":{\"x-mcp-header\":1}}"),
        OBJECT("\"a\":{\"examples\":[{\"x-mcp-header\":1}]}"),
        "{\"type\":\"object\",\"$defs\":{\"x-mcp-header\":{\"type\":\"string\"}}}",
        "{\"type\":\"object\",\"required\":[\"x-mcp-header\"]}",
        "true",
        "{}",
    };

    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        struct header_params p;
        struct pb_error err = { 0 };

        if (header_params_read(&p, span_of(good[i]), &err) < 0)
            TAP_FAIL("%s: %s", good[i], err.msg);
        CHECK_INT(p.n, 0);
        header_params_done(&p);
    }
}

struct lines {
    char text[1024];
};

static void note(void *ctx, const char *line)
{
    struct lines *l = ctx;

    snprintf(l->text + strlen(l->text), sizeof l->text - strlen(l->text), "%s\n", line);
}

static const char all_kinds[] =
    OBJECT("\"s\":{\"type\":\"string\",\"x-mcp-header\":\"S\"},"
           "\"n\":{\"type\":\"integer\",\"x-mcp-header\":\"N\"},"
           "\"b\":{\"type\":\"boolean\",\"x-mcp-header\":\"B\"},"
           "\"o\":{\"type\":\"object\",\"properties\":{\"s\":{\"type\":\"string\","
           "\"x-mcp-header\":\"O-S\"}}}");

TEST(arguments_are_mirrored_as_the_client_must_send_them)
{
    static const struct {
        const char *arguments, *lines;
    } cases[] = {
        { "{}", "" },
        { "{\"s\":null,\"n\":null,\"o\":{\"s\":null}}", "" },
        { "{\"s\":\"x\",\"n\":42,\"b\":false,\"o\":{\"s\":\"deep\"}}",
          "Mcp-Param-S: x\nMcp-Param-N: 42\nMcp-Param-B: false\nMcp-Param-O-S: deep\n" },
        { "{\"s\":\"\"}", "Mcp-Param-S: \n" },
        { "{\"s\":\"\\u00e9\"}", "Mcp-Param-S: =?base64?w6k=?=\n" },
        { "{\"s\":\"a\\r\\nEvil: 1\"}", "Mcp-Param-S: =?base64?YQ0KRXZpbDogMQ==?=\n" },
        { "{\"n\":42.0}", "Mcp-Param-N: 42\n" },
        { "{\"n\":9007199254740991}", "Mcp-Param-N: 9007199254740991\n" },
        { "{\"o\":\"not an object\"}", "" },
        { "{\"s\":{\"no\":\"spelling\"}}", "" },
    };
    struct header_params p;

    CHECK_INT(header_params_read(&p, span_of(all_kinds), NULL), 0);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_JSON struct json_doc doc = { 0 };
        AUTO_ARENA struct arena arena = { 0 };
        struct lines lines = { "" };

        CHECK_INT(json_parse(&doc, span_of(cases[i].arguments), NULL, NULL), 0);
        CHECK_INT(header_params_write(&p, json_root(&doc), &arena, note, &lines, NULL), 0);
        CHECK_STR(lines.text, cases[i].lines);
    }
    header_params_done(&p);
}

TEST(an_integer_that_a_double_cannot_hold_is_not_mirrored)
{
    static const char *const bad[] = { "{\"n\":9007199254740992}", "{\"n\":-9007199254740992}" };
    struct header_params p;

    CHECK_INT(header_params_read(&p, span_of(all_kinds), NULL), 0);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        AUTO_JSON struct json_doc doc = { 0 };
        AUTO_ARENA struct arena arena = { 0 };
        struct lines lines = { "" };
        struct pb_error err;

        CHECK_INT(json_parse(&doc, span_of(bad[i]), NULL, NULL), 0);
        CHECK_INT(header_params_write(&p, json_root(&doc), &arena, note, &lines, &err),
                  -PB_E_INVALID);
        CHECK_HAS(err.msg, "Mcp-Param-N");
    }
    header_params_done(&p);
}

struct sent {
    const char *name, *value;
};

static struct span sent_header(void *ctx, const char *name)
{
    for (const struct sent *s = ctx; s->name; s++)
        if (span_is_nocase(span_of(name), s->name))
            return span_of(s->value);
    return (struct span){ 0 };
}

TEST(the_server_holds_headers_against_arguments)
{
    static const struct {
        const char *arguments;
        struct sent sent[3];
        const char *complaint; /* NULL: none */
    } cases[] = {
        { "{}", { { 0 } }, NULL },
        { "{\"s\":\"x\"}", { { "mcp-param-s", "x" } }, NULL },
        { "{\"s\":\"x\"}", { { "Mcp-Param-S", " x\t" } }, NULL },
        { "{\"s\":\"Hello\"}", { { "Mcp-Param-S", "=?base64?SGVsbG8=?=" } }, NULL },
        { "{\"n\":42}", { { "Mcp-Param-N", "42.0" } }, NULL },
        { "{\"n\":42.0}", { { "Mcp-Param-N", "42" } }, NULL },
        { "{\"b\":true}", { { "Mcp-Param-B", "true" } }, NULL },
        { "{\"s\":\"\"}", { { "Mcp-Param-S", "" } }, NULL },
        { "{\"s\":null}", { { 0 } }, NULL },
        { "{\"s\":\"x\"}", { { 0 } }, "Mcp-Param-S is missing" },
        { "{\"s\":\"x\"}", { { "Mcp-Param-S", "X" } }, "Mcp-Param-S differs" },
        { "{}", { { "Mcp-Param-S", "x" } }, "Mcp-Param-S is there" },
        { "{\"s\":\"Hello\"}", { { "Mcp-Param-S", "=?base64?SGVsbG8?=" } }, "Mcp-Param-S is not" },
        { "{\"n\":42}", { { "Mcp-Param-N", "43" } }, "Mcp-Param-N differs" },
        { "{\"n\":42}", { { "Mcp-Param-N", "forty-two" } }, "Mcp-Param-N differs" },
        { "{\"b\":true}", { { "Mcp-Param-B", "True" } }, "Mcp-Param-B differs" },
    };
    struct header_params p;

    CHECK_INT(header_params_read(&p, span_of(all_kinds), NULL), 0);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_JSON struct json_doc doc = { 0 };
        struct pb_error err = { 0 };
        int rc;

        CHECK_INT(json_parse(&doc, span_of(cases[i].arguments), NULL, NULL), 0);
        rc = header_params_check(&p, json_root(&doc), sent_header, (void *)(uintptr_t)cases[i].sent,
                                 &err);
        CHECK_INT(rc, cases[i].complaint ? -PB_E_INVALID : 0);
        if (cases[i].complaint)
            CHECK_HAS(err.msg, cases[i].complaint);
    }
    header_params_done(&p);
}

TEST(a_schema_past_the_limits_is_refused)
{
    AUTO_BUF struct buf deep = { 0 }, large = { 0 };
    struct header_params p;
    struct pb_error err;

    for (int i = 0; i < JSON_DEPTH_MAX; i++)
        buf_str(&deep, "{\"properties\":");
    CHECK(header_params_read(&p, buf_span(&deep), NULL) < 0);
    buf_str(&large, "{\"description\":\"");
    while (large.n < JSON_SCHEMA_BYTES_MAX)
        buf_str(&large, "0123456789abcdef");
    buf_str(&large, "\"}");
    CHECK_INT(header_params_read(&p, buf_span(&large), &err), -PB_E_LIMIT);
}
