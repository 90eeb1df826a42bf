#include "reach.h"
#include "show.h"

static int run_cancel(struct cli *cli)
{
    AUTO(reach) struct reach *s = NULL;
    bool uuid = strlen(cli->args[0]) == UUID_CHARS && cli->args[0][8] == '-';
    AUTO_FREE char *params = reach_params(uuid ? "id" : "server", cli->args[0]);
    struct pb_result *result = NULL;
    struct pb_error err;
    int status = reach_open(&s, cli, &(struct reach_wants){ .daemon_only = true });

    if (status != CLI_OK)
        return status;
    if (reach_request(s, uuid ? "patchbay/cancel" : "patchbay/cancel-connect", params, &result,
                      &err) < 0) {
        status = reach_fail(&err);
    } else if (cli_option(cli, "json")) {
        show_json(pb_result_json(result, NULL));
    } else {
        puts("cancelled");
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
