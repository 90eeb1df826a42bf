#include "cli.h"

static int run_version(struct cli *cli)
{
    (void)cli;
    printf("patchbay %s\n", pb_version());
    return CLI_OK;
}

const struct verb verb_version = {
    .name = "version",
    .usage = "",
    .help = "Print the version",
    .run = run_version,
};
