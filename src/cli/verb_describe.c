#include "describe.h"
#include "remembered.h"

static int run_describe(struct cli *cli) { return describe_tool(cli, cli->args[0]); }

const struct verb verb_describe = {
    .name = "describe",
    .usage = "SERVER.TOOL [--json]",
    .help = "Tell all about one tool: what it does, what it takes, how to call it",
    .text = "The same as 'patchbay tools SERVER.TOOL'; with --url or -- COMMAND a tool of that\n"
            "server, under its own name.",
    .min = 1,
    .max = 1,
    .takes_command = true,
    .options =
        (const struct option_spec[]){
            { 0, "json", NULL, "print the definition as the server wrote it" },
            CLI_REFRESH_OPTION,
            CLI_SERVER_OPTIONS,
            CLI_HUB_OPTIONS,
            { 0 },
        },
    .run = run_describe,
};
