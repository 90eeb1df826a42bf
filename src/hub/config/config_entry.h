/* config_entry.h - one server's entry while it is read: where it stands, for messages, and the
 * readers of single values. Inside config*.c only.
 *
 *   config_entry.c    what is wrong, and where
 *   config_values.c   single values
 *   config_expand.c   variables in them
 *   config_mcps.c     what is special about "mcps"
 *   config_spec.c     an entry to a spec
 *   config_resolve.c   what an entry means, when all of it has been read */
#pragma once
#include "config.h"
#include "hub/spec/spec.h"

/* A text that is being read. */
struct config_source {
    const char *path; /* for messages; NULL: none */
    struct span text;
    const struct config_request *r; /* may be NULL */
    struct config *config;          /* gets the warnings; NULL: nobody wants them */
    struct pb_error *err;
    size_t counted; /* bytes whose lines have been counted … */
    unsigned line;  /* … up to this one */
};

struct config_entry {
    struct config_source *source;
    const char *where; /* "servers.fs", "mcps[0]" */
    bool strict;       /* S4's shape: transport is required, nothing is guessed */
    bool mcps;         /* S1's shape */
    struct json value;
    struct spec *spec;

    /* What can only be decided when all members have been read. */
    struct json transport, command, url, package, auth, start;
    struct span pair;       /* the name whose value is being read */
    struct map filled_from; /* spec.filled_from, a set */
    bool http_only;         /* httpUrl: no way back to SSE */
    bool said_name;         /* display_name was given */
};

/* Fails with "FILE:LINE: WHERE.KEY: text"; key may be NULL. */
int entry_fail(const struct config_entry *e, struct json v, const char *key, const char *fmt, ...)
    PRINTF(4, 5);
/* "expected WHAT, got a number". */
int entry_fail_type(const struct config_entry *e, struct json v, const char *key, const char *what);
void entry_warn(const struct config_entry *e, struct json v, const char *key, const char *fmt, ...)
    PRINTF(4, 5);
/* The same without an entry; `where` may be NULL. */
int source_fail(struct config_source *s, struct json v, const char *where, enum pb_code code,
                const char *text);
void source_warn(struct config_source *s, struct json v, const char *where, const char *text);
/* The line of a value. Fast for values in the order of the text. */
unsigned source_line(struct config_source *s, struct json v);
/* A path or word from a file or a command line, in a message: printable, not too long, the end of
 * it rather than its beginning. Terminated. */
enum { SHOWN_MAX = 80 };
void show_tail(char out[static SHOWN_MAX + 1], const char *text);
void show_head(char out[static SHOWN_MAX + 1], struct span text, size_t max);

/* Values. All return 0 or what entry_fail() returned, and leave *out alone then. */
MUST_CHECK int value_string(struct config_entry *e, struct json v, const char *key,
                            const char **out);
MUST_CHECK int value_expanded(struct config_entry *e, struct json v, const char *key,
                              const char **out);
/* An array of strings; at most SPEC_WORDS_MAX. */
MUST_CHECK int value_words(struct config_entry *e, struct json v, const char *key, bool expand,
                           const char *const **out);
/* An object of strings as "NAMEseparatorVALUE" each. */
MUST_CHECK int value_pairs(struct config_entry *e, struct json v, const char *key,
                           const char *separator, const char *const **out);
MUST_CHECK int value_bool(struct config_entry *e, struct json v, const char *key, bool *out);
/* A number of seconds, in milliseconds; 0 only if `zero`. */
MUST_CHECK int value_seconds(struct config_entry *e, struct json v, const char *key, bool zero,
                             uint64_t *out_ms);
MUST_CHECK int value_count(struct config_entry *e, struct json v, const char *key, unsigned max,
                           unsigned *out);
MUST_CHECK int value_object_text(struct config_entry *e, struct json v, const char *key,
                                 const char **out);
MUST_CHECK int value_uuid(struct config_entry *e, struct json v, const char *key, const char **out);
struct choice {
    const char *word; /* NULL ends the table */
    unsigned value;
    bool hidden; /* understood, not recommended */
};
MUST_CHECK int value_choice(struct config_entry *e, struct json v, const char *key,
                            const struct choice *choices, unsigned *out);

/* S1's own members, config_mcps.c. */
MUST_CHECK int read_env_vars(struct config_entry *e, struct json v, const char *key);
MUST_CHECK int read_env_var_name(struct config_entry *e, struct json v, const char *key);
MUST_CHECK int read_source(struct config_entry *e, struct json v, const char *key);
MUST_CHECK int read_package(struct config_entry *e, struct json v, const char *key);

/* Reads e->value into e->spec, which is made under `name`. The caller owns e->spec also when this
 * fails. */
MUST_CHECK int entry_read(struct config_entry *e, const char *name);

/* After the members: the transport, the command of a package, what was left unsaid. */
MUST_CHECK int entry_resolve(struct config_entry *e);

/* ${VAR}, ${VAR:-x}, ${env:X}; $$ is not special and bare $VAR is left alone. The default is taken
 * when the variable is not set or empty, and reaches to the first '}'. Each one that is not set
 * stays and is told to `unset` as it is written, each one that was filled in to `used` (may be
 * NULL) by its name, with its value. Stops growing once more than CONFIG_VALUE_MAX bytes were
 * added. */
struct expand_hooks {
    void (*unset)(void *ctx, struct span variable);
    void (*used)(void *ctx, const char *name, const char *value);
    void *ctx;
};
void expand_each(struct buf *out, struct span text, const struct config_request *r,
                 const struct expand_hooks *hooks);
/* A variable, NULL when it is not set. */
const char *config_env(const struct config_request *r, const char *name);
void config_warn(struct config *c, const char *text);
/* Takes the spec, also when it fails: there are too many. */
MUST_CHECK int config_put(struct config *c, struct spec *s, struct pb_error *err);
/* config_project.c: what the request says of one. */
MUST_CHECK int config_take_project(struct config *c, const struct config_project *p,
                                   struct pb_error *err);
