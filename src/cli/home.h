/* home.h - the file in which the command line keeps servers: config.json of the home directory, or
 * .mcp.json of this project. */
#pragma once
#include "cli.h"
#include "hub/config/config.h"
#include "hub/spec/spec.h"

/* clang-format off */
#define CLI_SCOPE_OPTION { 's', "scope", "SCOPE", "project: .mcp.json here; user, local: config.json (the default)" }
/* clang-format on */

/* The file that --scope means, owned by the caller; NULL after a usage error. */
char *home_file(const struct cli *cli);
/* Is it a project's, which the daemon does not read? */
bool home_is_project(const struct cli *cli);
/* A server of that file, or else of mcp_clients.json, with the config it lies in. */
MUST_CHECK int home_find(const struct cli *cli, const char *name, struct config **config,
                         const struct spec **spec, struct pb_error *err);
/* Tells an error about these files and gives the exit code: trouble with one's own files is not
 * that of a server. When `name` (may be NULL) is in another file, tells which. */
int home_fail(const struct cli *cli, const char *name, const struct pb_error *err);
/* {"name":…,"file":…,"line":…,"server":{…}}, secrets masked. line 0: left out. */
void home_write_json(struct json_out *o, const struct spec *s, const char *file, unsigned line);
/* The same on stdout. */
void home_print_json(const struct spec *s, const char *file, unsigned line);
/* Words of a file or of a pasted text, which are as trustworthy as these: they move no terminal. */
void home_print_word(FILE *to, const char *before, const char *text);
/* "directory  /srv". */
void home_print_line(FILE *to, const char *label, const char *text);
/* "env  A=***, B=***" and "headers  X=***": names only. */
void home_print_pairs(FILE *to, const char *label, const char *const *pairs, char separator);
