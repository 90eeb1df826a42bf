/* keys.h - what the login of a server adds when it is started: variables of its environment, or
 * headers of the requests to it.
 *
 *     auth_type   stdio                                   http, sse
 *     api_key     each of env_vars: its stored key        each of env_vars: a header of that name;
 *                                                         none, or one that is no header (it has
 *                                                         a '_'): "Authorization: Bearer KEY"
 *     keyfile     the first of env_vars: what the file holds, each time it is started; as above
 *     else        nothing
 *
 * What "env" or "headers" say themselves goes before. A key is wiped when it is freed. */
#pragma once
#include "hub/spec/spec.h"

struct keys;

struct keys *keys_new(void);
void keys_free(struct keys *k);
AUTO_DEFINE(keys, keys_free)

/* Is there anything to be loaded? */
bool keys_wanted(const struct spec *s);
/* From `dir`, the directory of secrets.h; NULL: there is none, and stored keys are somebody else's
 * business. Blocking. -PB_E_AUTH: one is missing, and how to set it. S1-52..55 */
MUST_CHECK int keys_load(struct keys **out, const struct spec *s, const char *dir,
                         struct pb_error *err);
/* One that was just given; "" names the only one. */
MUST_CHECK int keys_add(struct keys *k, const struct spec *s, const char *name, struct span key,
                        struct pb_error *err);
/* Puts them into a spec that is only looked at while both live; the lists lie in the arena. */
void keys_apply(const struct keys *k, struct spec *s, struct arena *a);

/* Keeps a key of the spec, which has a uuid and env_vars; empty: deletes it. Blocking. */
MUST_CHECK int keys_store(const char *dir, const struct spec *s, const char *name, struct span key,
                          struct pb_error *err);
