/* inherit.h - what of our own environment the process of a server gets. "inherit_env", of a server
 * or in the settings, is "all", or names, a '*' at their end standing for the rest; "safe" is a
 * name for what every program needs. Kept as one text, "safe,HTTPS_PROXY".
 *
 * Never passed on: what is meant for this program alone. Always: what the login of the server
 * names. A variable from which another server has its key is not passed on, unless the server has
 * its own from it, or names it. */
#pragma once
#include "spec.h"

/* A string or an array of strings; the text lies in the arena. */
MUST_CHECK int inherit_read(const char **out, struct json v, struct arena *a, struct pb_error *err);
/* The same of a text: "safe", "HOME, PATH". */
MUST_CHECK int inherit_parse(const char **out, struct span text, struct arena *a,
                             struct pb_error *err);
/* As it stands in a config: a string, or an array of names. */
void inherit_write(struct json_out *o, const char *key, const char *text);
/* What "safe" stands for, as such a text. */
extern const char inherit_safe[];

/* Which variables hold keys of servers, counted. */
struct claims;
struct claims *claims_new(void);
void claims_free(struct claims *c);
/* What a spec's login names, and what its values are filled in from when they are secrets. */
void claims_add(struct claims *c, const struct spec *s);
void claims_drop(struct claims *c, const struct spec *s);

/* The whole environment of the spec's process: what it inherits, and over it what the spec says.
 * `fallback` is for specs that say nothing, NULL: "all"; `c` may be NULL. Lies in the arena, but
 * for the variables themselves. */
const char *const *inherit_environment(struct arena *a, const struct spec *s, const char *fallback,
                                       const struct claims *c);
