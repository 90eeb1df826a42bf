/* fuzz_json - any bytes into the JSON reader. What must hold:
 * the verdict and its text do not depend on how much is taped; what is accepted is accepted again
 * in its canonical form, which is equal to it and canonical; strings decode to UTF-8 and survive
 * writing and reading; jansson gives the same verdict, but for what oracle.h lists. */
#include "json/oracle.h"
#include <stdio.h>

#define MUST(cond, what)                              \
    do {                                              \
        if (!(cond)) {                                \
            fprintf(stderr, "fuzz_json: %s\n", what); \
            abort();                                  \
        }                                             \
    } while (0)

static void check_verdicts(struct span text, int rc, const char *msg)
{
    static const struct json_opts ways[] = { { 1, 0 }, { 2, 0 }, { 3, 0 }, { JSON_ALL, 0 } };
    AUTO_JSON struct json_doc doc = { 0 };

    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        struct pb_error err = { 0 };

        MUST(json_parse(&doc, text, &ways[i], &err) == rc, "the verdict depends on keep_depth");
        MUST(!strcmp(err.msg, msg), "the message depends on keep_depth");
    }
}

static void check_unique(struct span text, int rc)
{
    static const struct json_opts ways[] = { { 0, JSON_ALL }, { 1, JSON_ALL }, { 2, JSON_ALL } };
    AUTO_JSON struct json_doc doc = { 0 };
    struct pb_error first = { 0 };
    int unique = 0;

    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        struct pb_error err = { 0 };
        int got = json_parse(&doc, text, &ways[i], &err);

        if (i == 0) {
            unique = got;
            first = err;
        }
        MUST(got == unique && !strcmp(err.msg, first.msg), "uniqueness depends on keep_depth");
    }
    MUST(unique == rc || strstr(first.msg, "already has"), "uniqueness changes the verdict");
}

static void check_string(struct json v)
{
    AUTO_ARENA struct arena a = { 0 };
    AUTO_BUF struct buf quoted = { 0 };
    AUTO_JSON struct json_doc doc = { 0 };
    struct span s = json_str(v, &a);

    MUST(utf8_valid(s), "a string decodes to what is not UTF-8");
    json_quote(&quoted, s);
    MUST(json_parse(&doc, buf_span(&quoted), NULL, NULL) == 0, "a quoted string is refused");
    MUST(span_eq(json_str(json_root(&doc), &a), s), "a quoted string reads as another");
}

static void check_number(struct json v)
{
    int64_t i = 0;
    uint64_t u = 0;
    double d = 0, back = 0;
    AUTO_BUF struct buf text = { 0 };
    AUTO_JSON struct json_doc doc = { 0 };
    struct json_out o = json_out(&text);

    if (json_int(v, &i, NULL) == 0 && i >= 0)
        MUST(json_uint(v, &u, NULL) == 0 && u == (uint64_t)i, "signed and unsigned differ");
    if (json_double(v, &d, NULL) < 0)
        return;
    json_put_double(&o, NULL, d);
    MUST(json_parse(&doc, buf_span(&text), NULL, NULL) == 0, "a written double is refused");
    MUST(json_double(json_root(&doc), &back, NULL) == 0 && back == d, "a double changes");
}

static void check_values(struct json v)
{
    size_t n = 0;

    if (json_is(v, JSON_STRING))
        check_string(v);
    if (json_is(v, JSON_NUMBER))
        check_number(v);
    JSON_FOREACH(child, v) {
        check_values(child);
        n++;
    }
    MUST(n == json_len(v), "the length is not the number of children");
}

static void check_canonical(struct json v)
{
    AUTO_BUF struct buf once = { 0 };
    AUTO_BUF struct buf twice = { 0 };
    AUTO_JSON struct json_doc doc = { 0 };

    json_canonical(&once, v);
    MUST(json_parse(&doc, buf_span(&once), NULL, NULL) == 0, "the canonical form is refused");
    MUST(json_equal(v, json_root(&doc)), "the canonical form is another value");
    json_canonical(&twice, json_root(&doc));
    MUST(span_eq(buf_span(&once), buf_span(&twice)), "the canonical form is not canonical");
}

#ifdef HAVE_JANSSON
static void check_oracle(struct span text, struct json v, int rc, bool unique)
{
    AUTO_ORACLE json_t *j = NULL;

    if (rc == -PB_E_LIMIT || memchr(text.p, '\0', text.n))
        return; /* jansson nests to 2048, and takes NUL for the end */
    j = oracle_parse(text);
    if (j && rc == 0)
        MUST(!unique || oracle_equal(j, v), "jansson reads another value");
    else if (j)
        MUST(false, "jansson accepts what we refuse");
    else
        MUST(rc < 0 || oracle_may_refuse(v), "jansson refuses what we accept");
}
#else
static void check_oracle(struct span text, struct json v, int rc, bool unique)
{
    (void)text, (void)v, (void)rc, (void)unique;
}
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct span text = span_make((const char *)data, size);
    struct json_opts unique = { 1, JSON_ALL };
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_JSON struct json_doc other = { 0 };
    struct pb_error err = { 0 };
    int rc = json_parse(&doc, text, NULL, &err);

    check_verdicts(text, rc, err.msg);
    check_unique(text, rc);
    check_oracle(text, json_root(&doc), rc, json_parse(&other, text, &unique, NULL) == 0);
    if (rc == 0) {
        check_values(json_root(&doc));
        check_canonical(json_root(&doc));
    }
    return 0;
}
