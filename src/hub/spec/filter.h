/* filter.h - which tools belong to a mode. A small tree, read from JSON and written back:
 *
 *     "all"  "none"  {"servers":["a"]}  {"tools":["read"]}  {"toolIDs":["a.read","a/read"]}
 *     {"pattern":"^read_"}  {"and":[F…]}  {"or":[F…]}  {"not":F}
 *
 * {"all":{}} and the like ({"servers":{"_0":[…]}}, as Swift writes it) are read, too. */
#pragma once
#include "json/json.h"

struct filter;

/* What a filter looks at. */
struct filter_subject {
    struct span server, tool; /* tool: its own name, not the outward one; built-ins: no server */
};

/* `v` is fully taped. -PB_E_INVALID tells where and what is wrong; -PB_E_LIMIT past
 * FILTER_DEPTH_MAX, FILTER_NODES_MAX (filters and words) or the bounds of patterns. */
MUST_CHECK int filter_parse(struct filter **out, struct json v, struct pb_error *err);
struct filter *filter_all(void);
void filter_write(struct json_out *o, const char *key, const struct filter *f);
/* A pattern is searched for in the tool's name. A name on which it takes too long cannot be
 * decided, and does not match, whatever "not" stands around it; said once per pattern in the log.
 * Loop thread. */
bool filter_matches(const struct filter *f, const struct filter_subject *s);
/* Every server that it names, alone or before a tool, in no order and maybe more than once. The id
 * of a built-in names "". */
void filter_each_server(const struct filter *f, void (*fn)(void *ctx, struct span server),
                        void *ctx);
/* SHA256_BYTES that are the same for filters written the same. */
const uint8_t *filter_digest(const struct filter *f);
void filter_free(struct filter *f);
AUTO_DEFINE(filter, filter_free)

/* "*" and "?" as in file names; the whole name must match. */
bool glob_match(const char *pattern, struct span name);
