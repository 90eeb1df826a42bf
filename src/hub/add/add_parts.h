/* add_parts.h - what the files of add.h share.
 *
 *   add.c           words to an entry
 *   add_check.c     what is wrong with them
 *   add_line.c      a whole command line
 *   add_name.c      the name that a command or URL gives itself, and its secrets
 *   add_package.c   packages and their runners
 *   add_paste.c     anything that people paste */
#pragma once
#include "hub/spec/spec.h"

/* What a command line runs, as far as its words tell. */
struct add_package {
    enum spec_package kind;
    const char *id;   /* with version or tag, as written */
    const char *hint; /* the program that runs it */
};

/* The words of a line, as a shell would read it without its variables; NULL-ended, in the arena. */
MUST_CHECK int add_split(struct arena *a, const char *text, const char *const **out,
                         struct pb_error *err);

const char *add_base_name(const char *path);
bool add_has_scheme(const char *word);
bool add_is_url(const char *word); /* http: or https: */
/* "@scope/name", with or without a version. */
bool add_is_npm_id(const char *word);

/* Programs that run packages or scripts. */
bool add_is_runner(const char *word);
/* Options of the runner are looked past. `words` is the whole command, NULL-ended. */
void add_find_package(const char *const *words, struct add_package *out);
/* Fills in what a server needs to be run by a package runner: -y, -i, --rm, and the variables that
 * a container is to see. -PB_E_INVALID: the runner is told to run nothing. */
MUST_CHECK int add_complete(struct arena *a, const char *const **words, const char *const *env,
                            struct pb_error *err);

/* A name that a server gives itself; always a good one. */
void add_name_command(struct buf *out, const char *const *words);
void add_name_url(struct buf *out, const char *url);

/* Which kind of login variables and headers mean. `words`: the command, for docker's own -e. */
enum spec_auth add_detect_auth(const char *const *words, const char *const *env,
                               const char *const *headers);
/* The names of those that hold a secret; NULL-ended, in the arena. */
const char *const *add_secret_names(struct arena *a, const char *const *words,
                                    const char *const *env, const char *const *headers);

/* Letters, digits and '_', and no digit first. */
bool add_is_env_name(struct span name);

/* What --transport says, or what goes without saying. `url`: the target is one. */
MUST_CHECK int add_check_transport(const char *transport, bool url, const char *target,
                                   enum spec_transport *out, struct pb_error *err);
/* `url` has a scheme. */
MUST_CHECK int add_check_url(const char *url, struct pb_error *err);
MUST_CHECK int add_check_env(const char *const *env, struct pb_error *err);
/* "Name:value" in the one spelling that a spec has: "Name: value". */
MUST_CHECK int add_read_header(struct arena *a, const char *line, const char **out,
                               struct pb_error *err);
