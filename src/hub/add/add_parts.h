/* add_parts.h - what the files of add.h share.
 *
 *   add.c           words to an entry
 *   add_beside.c    options that stand beside what is pasted
 *   add_check.c     what is wrong with them
 *   add_codex.c     how Codex writes down its servers
 *   add_here.c      the directory of relative paths
 *   add_json.c      the JSON of any client
 *   add_line.c      a whole command line
 *   add_link.c      links by which editors install a server
 *   add_login.c     which login it wants
 *   add_name.c      the name that a command or URL gives itself
 *   add_package.c   packages and their runners
 *   add_paste.c     anything that people paste, told apart
 *   add_words.c     a line split into words */
#pragma once
#include "add.h"
#include "hub/config/config.h"
#include "hub/spec/spec.h"

/* What the id of a package is, and so how it makes a name. */
enum add_named_by { ADD_BY_SCRIPT, ADD_BY_IMAGE, ADD_BY_NPM, ADD_BY_PYTHON };

/* What a command line runs, as far as its words tell. */
struct add_package {
    enum spec_package kind;
    const char *id;   /* with version or tag, as written */
    const char *hint; /* the program that runs it */
    const char *dir;  /* that it is told to run in; NULL: not said */
    enum add_named_by named_by;
};

size_t add_count(const char *const *list); /* NULL is an empty one */

/* The words of a line, as a shell would read it without its variables and its comments;
 * NULL-ended, in the arena. What only a shell can do is refused. */
MUST_CHECK int add_split(struct arena *a, const char *text, const char *const **out,
                         struct pb_error *err);

/* Up to the first of `chars`, which is looked for from `from` on. */
struct span add_cut_at(struct span s, const char *chars, size_t from);
bool add_has_scheme(const char *word);
bool add_is_url(const char *word); /* http: or https: */
/* "@scope/name", with or without a version. */
bool add_is_npm_id(const char *word);

/* Programs that run packages or scripts. */
bool add_is_runner(const char *word);
/* One that is followed by what must follow it: "docker run", "uv run". */
bool add_runs(const char *const *words);
/* Options of the runner are looked past. `words` is the whole command, NULL-ended. */
void add_find_package(const char *const *words, struct add_package *out);
/* Fills in what a server needs to be run by a package runner: -y, -i, --rm, and the variables that
 * a container is to see. -PB_E_INVALID: the runner is told to run nothing. */
MUST_CHECK int add_complete(struct arena *a, const char *const **words, const char *const *env,
                            struct pb_error *err);

/* Lets it name itself by what it runs or where it is: the first of its names that is nobody's, or
 * at last one with a number. Always a good one. */
void add_name_itself(struct spec *s, const struct add_request *beside);

/* Which kind of login variables and headers mean. `words`: the command, for docker's own -e. */
enum spec_auth add_detect_auth(const char *const *words, const char *const *env,
                               const char *const *headers);
/* The names of those that hold a secret; NULL-ended, in the arena. */
const char *const *add_secret_names(struct arena *a, const char *const *words,
                                    const char *const *env, const char *const *headers);

/* A name that somebody gave; an error tells one that would do. */
MUST_CHECK int add_check_name(const char *name, struct pb_error *err);
/* Letters, digits and '_', and no digit first. */
bool add_is_env_name(struct span name);
/* "NAME=value". */
bool add_is_assignment(const char *word);
/* How many words stand before a command to set its variables, as a shell takes them: "A=1 B=2 npx",
 * "env A=1 npx". */
size_t add_count_assignments(const char *const *words);
/* Variables, one of each name. */
struct add_env {
    const char **pairs; /* "NAME=value", NULL-ended: its owner gives it the room */
    size_t n;
    struct map places; /* name -> its place in `pairs` */
};
/* In place of one of that name; the pair is borrowed. */
void add_env_put(struct add_env *e, const char *pair);
void add_env_done(struct add_env *e);
/* Keeps the directory that it was added in, if it names a file of that and nobody said where it
 * runs; an entry of a project is for all who have that project, wherever it lies. */
void add_run_here(struct spec *s, const struct add_request *r);

/* What --transport says, or what goes without saying. `url`: the target is one. */
MUST_CHECK int add_check_transport(const char *transport, bool url, const char *target,
                                   enum spec_transport *out, struct pb_error *err);
/* `url` has a scheme. */
MUST_CHECK int add_check_url(const char *url, struct pb_error *err);
/* May be NULL. `url`: it stands beside one. */
MUST_CHECK int add_check_cwd(const char *cwd, bool url, struct pb_error *err);
/* Are the entries such that they are understood when they are read from a file? */
MUST_CHECK int add_check_saved(const struct config *c, struct pb_error *err);
MUST_CHECK int add_check_env(const char *const *env, struct pb_error *err);
/* "Name:value" in the one spelling that a spec has: "Name: value". */
MUST_CHECK int add_read_header(struct arena *a, const char *line, const char **out,
                               struct pb_error *err);

/* Takes s. */
MUST_CHECK int add_put(struct config *c, struct spec *take_s, struct pb_error *err);
/* The servers of `from` to c. */
MUST_CHECK int add_move(struct config *c, const struct config *from, struct pb_error *err);
bool add_is_json(const char *text);

/* The readers of add_paste(): servers are put into c. `beside` may have a name, which goes before
 * what the text says; it is for one server. */
MUST_CHECK int add_read_json(struct config *c, const char *text, const struct add_request *beside,
                             struct pb_error *err);
/* {"mcp_servers":{…}} as it stands in config.toml. */
MUST_CHECK int add_read_codex(struct config *c, struct span json, const struct add_request *beside,
                              struct pb_error *err);
/* A whole line, word by word. */
MUST_CHECK int add_read_line(struct config *c, const char *const *words,
                             const struct add_request *beside, struct pb_error *err);
/* *found: it is a link of that kind. */
MUST_CHECK int add_read_link(struct config *c, struct span text, const struct add_request *beside,
                             bool *found, struct pb_error *err);
/* Do these words begin a line that adds a server here or in another program? */
bool add_begins_line(const char *const *words);
/* The same of a text: without a copy, as a text may have very many lines. */
bool add_begins_text(const char *text);

/* Puts what the options beside a text say into the servers of that text. */
MUST_CHECK int add_take_beside(struct config *c, const struct add_request *beside,
                               struct pb_error *err);
