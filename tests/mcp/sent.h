/* sent.h - what a peer gives its transport to send. */
#pragma once
#include "base/base.h"
#include "tap.h"
#include "json/json.h"

/* The parts as one text, which must be JSON without a key that is there twice. The caller frees it.
 */
static inline char *sent_text(const struct span *parts, size_t n)
{
    AUTO_JSON struct json_doc doc = { 0 };
    struct json_opts strict = { .unique_depth = JSON_ALL };
    struct buf text = { 0 };
    struct pb_error err;

    for (size_t i = 0; i < n; i++)
        buf_add_span(&text, parts[i]);
    if (json_parse(&doc, buf_span(&text), &strict, &err) < 0)
        TAP_FAIL("sent no JSON: %s: %s", err.msg, buf_cstr(&text));
    return buf_take(&text);
}
