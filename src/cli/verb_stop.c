#include "ending.h"

static int run_stop(struct cli *cli) { return ending_run(cli); }

const struct verb verb_stop = {
    .name = "stop",
    .usage = "[--json]",
    .help = "End the daemon, and wait until it has ended",
    .text = "Its servers are ended first, in order. 'patchbay status --stop' does the same.",
    .max = 0,
    .options =
        (const struct option_spec[]){
            { 0, "json", NULL, "print what was done as JSON" },
            { 0 },
        },
    .run = run_stop,
};
