#include "ending.h"

static int run_stop(struct cli *cli) { return ending_run(cli); }

static int run_restart(struct cli *cli) { return ending_run_again(cli); }

const struct verb verb_restart = {
    .name = "restart",
    .usage = "[--json]",
    .help = "Start the daemon again, with the same options",
    .text =
        "It ends its servers and becomes what is installed now, where it is: in the same\n"
        "process, terminal, background or service of a service manager, which does not notice.\n"
        "'patchbay reconnect --force' starts one server again.",
    .max = 0,
    .options =
        (const struct option_spec[]){
            { 0, "json", NULL, "print what was done as JSON" },
            { 0 },
        },
    .run = run_restart,
};

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
