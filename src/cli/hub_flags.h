/* hub_flags.h - the options of every verb that works on the configured servers. */
#pragma once
#include "cli.h"
#include "gate/gate.h"
#include "hub/config/config.h"
#include "hub/hub/hub.h"
#include "hub/spec/spec.h"
#include "project.h"

#define CLI_CONFIG_OPTIONS                                                                      \
    { 'c', "config", "FILE", "read servers from FILE instead of config.json", true },           \
        { 0, "mcp-clients", NULL, "also read mcp_clients.json of the home directory" },         \
        { 0, "mcp-clients-config", "FILE", "also read FILE, which must exist" },                \
    {                                                                                           \
        0, "mcp-client", "NAME:VALUE", "also this server: a command line, or a URL (HTTP+SSE)", \
            true                                                                                \
    }

/* What clients are shown of what there is. */
#define CLI_EXPOSE_OPTIONS                                                                         \
    { 0, "expose", "GROUPS", "what clients see: catalog, external, breakpoint, builtin" },         \
    {                                                                                              \
        0, "builtin", "GROUPS", "show them built-in tools, too: all, or groups as file, terminal", \
            false                                                                                  \
    }
/* A mask for host_options.expose; 0: neither was given. */
MUST_CHECK int cli_expose(const struct cli *cli, unsigned *out, struct pb_error *err);

/* Borrows from the command line. */
struct config_request cli_config_request(const struct cli *cli);
/* Was a file or server named, so that a running daemon is not what is meant? */
bool cli_names_config(const struct cli *cli);
/* config_load() with its warnings on stderr. `p`: whose servers are taken, too; may be NULL. */
MUST_CHECK int cli_load_config(const struct cli *cli, const struct project *p, struct config **out,
                               struct pb_error *err);
/* Trouble with one's own files is not that of a server: tells it, gives CLI_USAGE. */
int cli_config_fail(const struct pb_error *err);
/* The rules of the config; none is an empty policy. Errors say where they stand. */
MUST_CHECK int cli_policy(const struct config *c, struct policy **out, struct pb_error *err);
/* What the settings say about the gate, and about what is kept of calls. */
void cli_gate_options(struct gate_options *o, const struct settings *s);
/* What was approved of servers, read from the lock; what is wrong with it is kept for the gate to
 * tell. Blocking. The options borrow from it. */
struct cli_lock {
    char *path;
    struct lock lock;
    struct pb_error err;
    struct pins_options options;
};
void cli_lock_read(struct cli_lock *l, const struct cli *cli, const struct settings *s);
void cli_lock_done(struct cli_lock *l);
void cli_store_options(struct store_options *o, const struct settings *s);
/* What the config's settings say about the hub. */
void cli_hub_options(struct hub_options *o, const struct settings *s);
/* --timeout SECONDS among the verb's options, or with a unit behind it; *ms stays when it is not
 * given. CLI_USAGE after saying what is wrong. */
#define CLI_TIMEOUT_OPTION(what)      \
    {                                 \
        0, "timeout", "SECONDS", what \
    }
MUST_CHECK int cli_timeout(const struct cli *cli, uint32_t *ms);
/* The daemon's socket; owned by the caller. */
char *cli_socket_path(const struct cli *cli);
/* The error that there is no such server, with the names that are like it. */
int cli_no_server(const struct config *c, const char *item, struct pb_error *err);
/* Every spec of the config, borrowed from it; the array is the caller's. */
size_t cli_specs(const struct config *c, struct spec ***out);
