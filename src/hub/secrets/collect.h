/* collect.h - which texts around a server are secrets. */
#pragma once
#include "hub/spec/spec.h"

/* Borrowed while it runs; at least REDACT_MIN bytes, without white space at its ends. `whole`: a
 * part of it is no secret, or is told by itself: "user:password", "Bearer KEY". */
typedef void secret_fn(void *ctx, struct span secret, bool whole);
struct collector {
    secret_fn *fn;
    void *ctx;
};

/* All of a spec with its keys in it (keys_apply()): what its login names, and what looks like one
 * in variables (also those that a program may inherit), headers, arguments and the URL. */
void collect_from_spec(const struct collector *c, const struct spec *s);
/* Variables of our own environment that look like secrets; `s`, which may be NULL, names more. */
void collect_from_environment(const struct collector *c, const struct spec *s);
/* One that is known to be a secret. */
void collect_value(const struct collector *c, struct span value);
