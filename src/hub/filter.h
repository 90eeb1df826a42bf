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
    struct span server, tool; /* tool: its own name, not the outward one */
};

MUST_CHECK int filter_parse(struct filter **out, struct json v, struct pb_error *err);
struct filter *filter_all(void);
void filter_write(struct json_out *o, const char *key, const struct filter *f);
bool filter_matches(const struct filter *f, const struct filter_subject *s);
void filter_free(struct filter *f);
AUTO_DEFINE(filter, filter_free)

/* "*" and "?" as in file names; the whole name must match. */
bool glob_match(const char *pattern, struct span name);
