/* verb_connect.c - the verbs that tell the daemon to do something with one server. */
#include "reach.h"
#include "show.h"

static void print_server(struct json server)
{
    AUTO_ARENA struct arena a = { 0 };
    const char *state = show_member(server, "state", &a);

    printf("%s%s%s  %s", show_on(show_state_color(state)), show_member(server, "name", &a),
           show_off(), show_member(server, "status", &a));
    if (strcmp(state, "connected") == 0)
        printf(", %.*s tools", SPAN_ARG(json_text(json_get(server, "tools"))));
    putchar('\n');
}

static void print_pong(struct json pong)
{
    AUTO_ARENA struct arena a = { 0 };

    printf("%s  answered in %.*s ms\n", show_member(pong, "name", &a),
           SPAN_ARG(json_text(json_get(pong, "took_ms"))));
}

static int tell(struct cli *cli, const char *method, void (*print)(struct json answer))
{
    AUTO(reach) struct reach *s = NULL;
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_FREE char *params = reach_params("server", cli->args[0]);
    struct pb_result *result = NULL;
    struct pb_error err;
    int status = reach_open(&s, cli, &(struct reach_wants){ .daemon_only = true });

    if (status != CLI_OK)
        return status;
    if (reach_ask(s, method, params, &result, &doc, &err) < 0)
        status = reach_fail(&err);
    else if (cli_option(cli, "json"))
        show_json(pb_result_json(result, NULL));
    else
        print(json_root(&doc));
    pb_result_free(result);
    return status;
}

static int run_connect(struct cli *cli) { return tell(cli, "patchbay/connect", print_server); }
static int run_disconnect(struct cli *cli)
{
    return tell(cli, "patchbay/disconnect", print_server);
}
static int run_reconnect(struct cli *cli)
{
    return tell(cli, cli_option(cli, "force") ? "patchbay/restart" : "patchbay/reconnect",
                print_server);
}
static int run_ping(struct cli *cli) { return tell(cli, "patchbay/ping", print_pong); }

static const struct option_spec options[] = {
    { 0, "json", NULL, "print the server as JSON" },
    { 0 },
};

const struct verb verb_connect = {
    .name = "connect",
    .usage = "SERVER",
    .help = "Connect a server of the running daemon, and wait for the outcome",
    .min = 1,
    .max = 1,
    .options = options,
    .run = run_connect,
};

const struct verb verb_disconnect = {
    .name = "disconnect",
    .usage = "SERVER",
    .help = "Stop a server of the running daemon; it stays configured",
    .min = 1,
    .max = 1,
    .options = options,
    .run = run_disconnect,
};

const struct verb verb_ping = {
    .name = "ping",
    .usage = "SERVER",
    .help = "Ask a connected server of the running daemon whether it lives",
    .min = 1,
    .max = 1,
    .options =
        (const struct option_spec[]){
            { 0, "json", NULL, "print the answer as JSON" },
            { 0 },
        },
    .run = run_ping,
};

const struct verb verb_reconnect = {
    .name = "reconnect",
    .usage = "SERVER [--force]",
    .help = "Connect a server again unless it is connected; sets its counters to zero",
    .min = 1,
    .max = 1,
    .options =
        (const struct option_spec[]){
            { 0, "json", NULL, "print the server as JSON" },
            { 'f', "force", NULL, "stop it first if it runs" },
            { 0 },
        },
    .run = run_reconnect,
};
