/* hub_flags.h - the options of every verb that works on the configured servers. */
#pragma once
#include "cli.h"
#include "face/face.h"

#define CLI_CONFIG_OPTIONS                                                                      \
    { 'c', "config", "FILE", "read servers from FILE instead of config.json", true },           \
        { 0, "mcp-clients", NULL, "also read mcp_clients.json of the home directory" },         \
        { 0, "mcp-clients-config", "FILE", "also read FILE, which must exist" },                \
    {                                                                                           \
        0, "mcp-client", "NAME:VALUE", "also this server: a command line, or a URL (HTTP+SSE)", \
            true                                                                                \
    }

/* Borrows from the command line. */
struct config_request cli_config_request(const struct cli *cli);
/* Was a file or server named, so that a running daemon is not what is meant? */
bool cli_names_config(const struct cli *cli);
/* config_load() with its warnings on stderr. */
MUST_CHECK int cli_load_config(const struct cli *cli, struct config **out, struct pb_error *err);
/* The daemon's socket; owned by the caller. */
char *cli_socket_path(const struct cli *cli);
/* Every spec of the config, borrowed from it; the array is the caller's. */
size_t cli_specs(const struct config *c, struct spec ***out);
