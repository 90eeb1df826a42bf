/* project.h - the servers of the project that somebody works in: .mcp.json of the current
 * directory, or of one above it up to the one that holds .git. It is read where it lies, and used
 * only if the person has said yes to what is in it (trust.h). The home directory is no project, nor
 * is anything above it.
 *
 * A verb reads it if it has CLI_PROJECT_OPTION, unless a file or server is named on the command
 * line. Programs that a server of ours has started do not: a project that has `patchbay mcp` among
 * its servers would start itself. */
#pragma once
#include "cli.h"
#include "hub/config/config.h"
#include "trust.h"

#define CLI_PROJECT_OPTION                                             \
    {                                                                  \
        0, "no-project", NULL, "do not read .mcp.json of this project" \
    }

struct project {
    char *path; /* absolute */
    struct buf text;
    struct config_project source; /* borrows from these two */
    char sha256[2 * SHA256_BYTES + 1];
    struct config *servers; /* as the file has them: of variables only what they are called */
    struct map variables;   /* these names; the values mean nothing */
    enum trust_said said;
};
void project_free(struct project *p);
AUTO_DEFINE(project, project_free)

/* That of `dir`, and what was said about it. -PB_E_NOT_FOUND: there is
 * none; otherwise why it is not read: it is not the user's alone, or not understood. */
MUST_CHECK int project_find(struct project **out, const char *dir, struct pb_error *err);
/* The path at which a directory's file would be, for the caller to free; also of one that is gone.
 */
char *project_path(const char *dir);
/* Of what is in such a file now. Errors as of project_find(). */
MUST_CHECK int project_digest(const char *path, char out[static 2 * SHA256_BYTES + 1],
                              struct pb_error *err);
/* Could the current directory be a project? */
bool project_counts_here(void);

/* A verb changes the file of the current directory by the person's own word (--scope project): what
 * was trusted stays so, and a file that was not there is. What it wrote is, that is; nothing that
 * anybody else did to the file meanwhile. */
struct project_edit {
    bool follow;
    char was[2 * SHA256_BYTES + 1]; /* "": there was no file */
};
void project_edit_begin(struct project_edit *e, const struct cli *cli);
void project_edit_end(const struct project_edit *e);

/* ---- project_ask.c: whether it is used ---- */

/* What a verb is about: servers by name (NULL-ended), or that of "server.tool"; all NULL: all. */
struct project_about {
    const char *const *servers;
    const char *item;
};
/* The project, if it is to be used; NULL: there is none, or it may not be, which is asked or told
 * when the verb is about its servers. *needed: it is, so that a running daemon is not what is
 * meant. Before warden_start(). */
struct project *project_for(const struct cli *cli, const struct project_about *about, bool *needed);
/* The same for who only wants to know what is there: nobody is asked, nothing is told. */
struct project *project_trusted(const struct cli *cli);
/* Tells which servers of other files are not used because the project has one of that name; `only`:
 * one name, NULL: all. */
void project_tell_hidden(const struct config *c, const char *only);
/* What is in it: names, commands, URLs, and what variables and headers are called. */
void project_show(FILE *to, const struct project *p);
/* Shows and asks, and keeps the answer in p->said and on the disk. Ctrl-D is no answer. */
void project_ask(struct project *p, int tty);
