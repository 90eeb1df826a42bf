/* config.h - the files that name servers, modes and settings, and the flags that add to them.
 *
 * One loader for four shapes: {"servers":{}} (strict), {"mcpServers":{}}, {"mcp_servers":{}} and
 * {"mcps":[]}; one file may hold several. Later files win over earlier ones, inline servers over
 * all files. Errors read "FILE:LINE: KEY: what was expected".
 *
 *   config.c          loading: files, shapes, what wins
 *   config_paths.c    where files are
 *   config_inline.c   servers given as flags
 *   watch.c           when a file changes */
#pragma once
#include "watch.h"
#include "hub/spec/spec.h"

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
    struct mode_set *modes;    /* predefined and configured ones */
    struct settings settings;  /* "settings", or what they are by themselves */
    struct config_file *files; /* all that were looked at, for watching */
    size_t n_files;
    char **warnings; /* such as a variable that is not set */
    size_t n_warnings;
};

/* What the command line said. */
struct config_request {
    const char *home;           /* NULL: config_home() */
    const char *const *files;   /* --config, in order, NULL-ended; must exist; may be NULL */
    bool clients;               /* --mcp-clients: the default mcp_clients.json, if it exists */
    const char *clients_file;   /* --mcp-clients-config PATH: must exist; or NULL */
    const char *const *inlines; /* --mcp-client "name:value"; NULL-ended; may be NULL */
    bool no_home;               /* do not read config.json of the home directory */
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
 *     auth_type env_vars keyfile_path oauth config source package
 *
 * null is the same as not there. Unknown ones are warnings. Variables are filled in in command,
 * args, cwd, url and in the values of env and headers; config_no_env() keeps them as they are. */
MUST_CHECK int spec_parse(struct spec **out, const char *name, struct span entry, bool strict,
                          const struct config_request *r, struct pb_error *err);
/* "name:value". S4-33, T86 to T92. */
MUST_CHECK int config_inline(struct spec **out, const char *text, struct pb_error *err);

/* Terminated, owned by the caller. */
char *config_home(const struct config_request *r);         /* C11 */
char *config_clients_path(const struct config_request *r); /* S4-21, T81 to T83, S4-242 */
/* $XDG_RUNTIME_DIR/patchbay and $XDG_CACHE_HOME/patchbay; HOME/run and HOME/cache when these are
 * not set, or when the request or $PATCHBAY_HOME has chosen a home. */
char *config_runtime_dir(const struct config_request *r);
char *config_cache_dir(const struct config_request *r);
char *config_secrets_dir(const struct config_request *r); /* HOME/secrets */

/* The rest of the room. */
#include "config_edit.h"
