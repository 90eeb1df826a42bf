/* pattern.h - regular expressions, as ECMA-262 has them (schema_pattern.c says how), with a bound
 * on the work of each search, whoever wrote the expression or the text. */
#pragma once
#include "base/base.h"

struct pattern;

/* Copies the text. -PB_E_INVALID tells what is wrong and near which character; -PB_E_LIMIT past
 * JSON_PATTERN_BYTES_MAX of compiled patterns: *bytes grows by what this one takes, so that
 * several can share the bound; NULL: this one alone. */
MUST_CHECK int pattern_new(struct pattern **out, struct span text, size_t *bytes,
                           struct pb_error *err);
void pattern_free(struct pattern *p);
struct span pattern_text(const struct pattern *p);
AUTO_DEFINE(pattern, pattern_free)

/* The memory of a matcher, for one thread. A zeroed one is valid. */
struct pattern_run {
    void *data, *context;
    uint64_t steps; /* what the last search took */
};
void pattern_run_done(struct pattern_run *run);

/* Is there a match anywhere in the subject, which is UTF-8? 1 or 0; -PB_E_LIMIT when
 * JSON_PATTERN_STEPS_MAX did not suffice. */
int pattern_search(const struct pattern *p, struct span subject, struct pattern_run *run);
