/* json_member.h - looking into an answer. */
#pragma once
#include "tap.h"
#include "json/json.h"

enum { JSON_MEMBER_MAX = 1 << 16 };

/* The text of a member, "tools.0.name", strings without quotes; "" when it is not there. Fails when
 * the text is no JSON. Good until the eighth call after it. */
static inline const char *json_member(const char *json, const char *path)
{
    static char text[8][JSON_MEMBER_MAX];
    static int at;
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena a = { 0 };
    struct pb_error err;
    struct json v;

    at = (at + 1) % 8;
    if (json_parse(&doc, span_of(json), NULL, &err) < 0)
        TAP_FAIL("%s: \"%s\"", err.msg, json);
    v = json_root(&doc);
    while (*path) {
        size_t n = strcspn(path, ".");
        AUTO_FREE char *key = mem_dupn(path, n);

        v = json_is(v, JSON_ARRAY) ? json_item(v, strtoul(key, NULL, 10)) : json_get(v, key);
        path += n + (path[n] == '.');
    }
    snprintf(text[at], sizeof text[at], "%.*s",
             SPAN_ARG(json_is(v, JSON_STRING) ? json_str(v, &a) : json_text(v)));
    return text[at];
}
