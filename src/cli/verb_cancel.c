#include "reach.h"

static int run_cancel(struct cli *cli)
{
    AUTO(reach) struct reach *s = NULL;
    bool uuid = strlen(cli->args[0]) == UUID_CHARS && cli->args[0][8] == '-';
    AUTO_FREE char *params = reach_params(uuid ? "id" : "server", cli->args[0]);
    struct pb_result *result = NULL;
    struct pb_error err;
    int status = CLI_OK;

    if (reach_open(&s, cli, REACH_DAEMON_ONLY, &err) < 0) {
        fprintf(stderr, "patchbay: %s; start one with 'patchbay serve'\n", err.msg);
        return CLI_UNREACHABLE;
    }
    if (reach_request(s, uuid ? "patchbay/cancel" : "patchbay/cancel-connect", params, &result,
                      &err) < 0) {
        cli_fail(&err);
        status = CLI_USAGE;
    } else if (cli_option(cli, "json")) {
        puts(pb_result_json(result, NULL));
    } else {
        fprintf(stderr, "cancelled\n");
    }
    pb_result_free(result);
    return status;
}

const struct verb verb_cancel = {
    .name = "cancel",
    .usage = "CALL-ID | SERVER",
    .help = "Cancel a running call, or a running attempt to connect a server",
    .text = "'patchbay status' shows the calls that run, with their ids.",
    .min = 1,
    .max = 1,
    .options =
        (const struct option_spec[]){
            { 0, "json", NULL, "print the answer as JSON" },
            { 0 },
        },
    .run = run_cancel,
};
