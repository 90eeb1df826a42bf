/* spec_mask.h - what people may see of a spec: whatever looks like a secret becomes "***". When in
 * doubt it does: a hidden word is a nuisance, a shown key is an incident. */
#pragma once
#include "json/json.h"

#define SPEC_MASKED "***"

/* User and password, query values and long path parts that look like keys, and the fragment. Text
 * that is no URL is added as it is. */
void mask_url(struct buf *out, struct span url);
/* One word of a command line; `before` is the word in front of it, which may be an option that asks
 * for a secret, or NULL. */
void mask_word(struct buf *out, const char *word, const char *before);
/* What these two hide. */
typedef void mask_found_fn(void *ctx, struct span secret);
void mask_find_in_url(struct span url, mask_found_fn *fn, void *ctx);
void mask_find_in_word(const char *word, const char *before, mask_found_fn *fn, void *ctx);
/* Is the value of this name one that nobody may see? */
bool mask_wants(struct span name, struct span value);
/* The same of a value whose name says nothing. */
bool mask_looks_like_key(struct span value);
/* A JSON value; members whose names promise a secret lose their values. */
void mask_json(struct json_out *o, const char *key, struct json v);
