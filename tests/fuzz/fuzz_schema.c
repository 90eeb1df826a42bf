/* fuzz_schema.c - a schema and a value, parted by a line feed: whatever both are, checking ends,
 * and the verdict does not depend on how often it is asked for. */
#include "json/json.h"
#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    const char *text = (const char *)data;
    const char *end = n ? memchr(text, '\n', n) : NULL;
    struct span schema = { text, end ? (size_t)(end - text) : n };
    struct span value = end ? span_from(span_make(text, n), schema.n + 1) : SPAN("null");
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO(schema) struct schema *s = NULL;
    struct pb_error err = { 0 }, again = { 0 };
    int rc, twice;

    rc = schema_compile(&s, schema, &err);
    assert(rc == 0 || rc == -PB_E_INVALID || rc == -PB_E_LIMIT);
    assert(rc == 0 || (err.msg[0] && utf8_valid(span_of(err.msg))));
    if (rc < 0 || json_parse(&doc, value, NULL, NULL) < 0)
        return 0;
    rc = schema_check(s, json_root(&doc), &err);
    assert(rc == 0 || rc == -PB_E_INVALID || rc == -PB_E_LIMIT);
    assert(rc == 0 || (err.msg[0] && utf8_valid(span_of(err.msg))));
    twice = schema_check(s, json_root(&doc), &again);
    assert(twice == rc && (rc == 0 || !strcmp(err.msg, again.msg)));
    return 0;
}
