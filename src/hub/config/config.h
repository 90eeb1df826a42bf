/* config.h - the files that name servers, modes and settings, and the flags that add to them.
 *
 * One loader for four shapes: {"servers":{}} (strict), {"mcpServers":{}}, {"mcp_servers":{}} and
 * {"mcps":[]}; one file may hold several. Later files win over earlier ones, inline servers over
 * all files. Errors read "FILE:LINE: KEY: what was expected".
 *
 *   config.c          loading: files, shapes, what wins
 *   config_paths.c    where files are
 *   config_inline.c   servers given as flags
 *   config_project.c  servers of the file of a project
 *   watch.c           when a file changes */
#pragma once
#include "hub/spec/spec.h"
#include "watch.h"

enum config_shape {
    CONFIG_SERVERS = 1, /* bits: a file may hold several */
    CONFIG_MCP_SERVERS = 2,
    CONFIG_MCP_SERVERS_SNAKE = 4,
    CONFIG_MCPS = 8,
};

struct config_file {
    char *path;
    unsigned shapes;
    bool missing; /* looked for, not there, and that is fine */
};

struct config {
    struct map specs;          /* name -> struct spec; order of first mention */
    struct map hidden;         /* the same of those whose place a project's servers have taken */
    struct mode_set *modes;    /* predefined and configured ones */
    struct settings settings;  /* "settings", or what they are by themselves */
    char *policy;              /* "policy" as it is written, for the gate to read; NULL: none */
    char *policy_at;           /* where it stands, "FILE:LINE: policy" */
    struct config_file *files; /* all that were looked at, for watching */
    size_t n_files;
    char **warnings; /* such as a variable that is not set */
    size_t n_warnings;
};

/* The file of a project, as somebody has read it who knows that it may be used. Only its servers
 * count: modes, settings and rules are the person's own, and are passed over with a warning. They
 * go before servers of the same name, and start in the file's directory unless they say another; a
 * relative "cwd" is one of there. */
struct config_project {
    const char *path; /* absolute */
    struct span text;
};

/* What the command line said. */
struct config_request {
    const char *home;           /* NULL: config_home() */
    const char *const *files;   /* --config, in order, NULL-ended; must exist; may be NULL */
    bool clients;               /* --mcp-clients: the default mcp_clients.json, if it exists */
    const char *clients_file;   /* --mcp-clients-config PATH: must exist; or NULL */
    const char *const *inlines; /* --mcp-client "name:value"; NULL-ended; may be NULL */
    bool no_home;               /* do not read config.json of the home directory */
    /* Taken after the files, before --mcp-client; may be NULL. Its variables are filled in from the
     * process's environment, whatever env() knows beyond that. */
    const struct config_project *project;
    bool servers_only; /* as with a project's file */
    /* Variables are looked up here; NULL: the process's environment. */
    const char *(*env)(void *ctx, const char *name);
    void *env_ctx;
};

/* An env() that knows none, for who wants variables kept as they are written. */
const char *config_no_env(void *ctx, const char *name);

/* Without --config, config.json of the home directory is read if it exists; with --config it is
 * not. Reads files: not on the loop's thread. -PB_E_NOT_FOUND: a file that must exist does not;
 * -PB_E_INVALID: the first thing that is wrong. */
MUST_CHECK int config_load(struct config **out, const struct config_request *r,
                           struct pb_error *err);
void config_free(struct config *c);
AUTO_DEFINE(config, config_free)

/* The servers of a project's file alone. `env` and `env_ctx` as in a request. */
MUST_CHECK int config_read_project(struct config **out, const struct config_project *p,
                                   const char *(*env)(void *ctx, const char *name), void *env_ctx,
                                   struct pb_error *err);
/* Why a file that names programs to run is not the user's alone: who else can write it; NULL: it
 * is. A file of root, and one that the user's own group may write, count as the user's. */
struct stat;
const char *config_writers(const struct stat *st);

/* The server that "server.tool" is of, by item_split(), and the tool; NULL: none. */
struct spec *config_spec_of(const struct config *c, const char *item, struct span *own);

/* One file's text; `path` is for messages, NULL: it is in no file. Adds to c; entries there already
 * are replaced. */
MUST_CHECK int config_parse(struct config *c, const char *path, struct span text,
                            const struct config_request *r, struct pb_error *err);
struct config *config_new(void);
/* One entry {"command":…}; `strict` as in "servers". The members, in every shape:
 *
 *     command args env cwd          stdio; command may be an array unless strict
 *     url headers                   http and sse; also serverUrl, httpUrl (no way back to SSE)
 *     transport or type             "stdio", "sse", "http" and what other programs write for them;
 *                                   without it: command means stdio, url means http
 *     enabled or disabled, display_name, uuid
 *     timeout_s                     of tool calls; "timeout" is read as seconds up to 3600 and as
 *                                   milliseconds above, since programs differ
 *     start                         "eager", "lazy" (default in "mcps")
 *     idle_s                        a lazy server unused for so many seconds is stopped; 0: never
 *     instance max_calls era auto_reconnect enabledTools disabledTools (also enabled_tools …)
 *     record                        "all", "meta", "none", or these by globs of tools
 *     auth_type env_vars keyfile_path oauth config source package
 *     origin                        "registry", "import", "rest"; without it: a person wrote it
 *
 * null is the same as not there. Unknown ones are warnings. Variables are filled in in command,
 * args, cwd, url and in the values of env and headers; config_no_env() keeps them as they are. */
MUST_CHECK int spec_parse(struct spec **out, const char *name, struct span entry, bool strict,
                          const struct config_request *r, struct pb_error *err);
/* "name:value". S4-33, T86 to T92. */
MUST_CHECK int config_inline(struct spec **out, const char *text, struct pb_error *err);

/* Terminated, owned by the caller. */
char *config_home(const struct config_request *r);         /* C11 */
char *config_user_home(const struct config_request *r);    /* $HOME, or what the system says */
char *config_clients_path(const struct config_request *r); /* S4-21, T81 to T83, S4-242 */
/* $XDG_RUNTIME_DIR/patchbay and $XDG_CACHE_HOME/patchbay; HOME/run and HOME/cache when these are
 * not set, or when the request or $PATCHBAY_HOME has chosen a home. */
char *config_runtime_dir(const struct config_request *r);
char *config_cache_dir(const struct config_request *r);
/* Where records are kept: $XDG_STATE_HOME/patchbay/records, or HOME/records. */
char *config_records_dir(const struct config_request *r);
char *config_secrets_dir(const struct config_request *r); /* HOME/secrets */
/* patchbay.lock beside the first of --config, if that is a file, else in HOME. */
char *config_lock_path(const struct config_request *r);

/* The rest of the room. */
#include "config_edit.h"
