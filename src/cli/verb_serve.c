#include "background.h"
#include "daemon.h"
#include "face/host/host.h"
#include "token.h"

enum { PORT = 7282 };

static int read_port(const struct cli *cli, int *out)
{
    const char *text = cli_option(cli, "port");
    char *end;
    unsigned long port;

    *out = PORT;
    if (!text)
        return CLI_OK;
    port = strtoul(text, &end, 10);
    if (*end || end == text || port > 65535)
        return cli_usage(cli->verb, "--port is a number up to 65535, not '%s'", text);
    *out = (int)port;
    return CLI_OK;
}

/* False: it goes on elsewhere, or not at all. */
static bool goes_on(const struct cli *cli, struct daemon_options *o, struct buf *log, int *status)
{
    struct config_request r = cli_config_request(cli);
    AUTO_FREE char *home = config_home(&r);

    if (!cli_option(cli, "background"))
        return true;
    buf_printf(log, "%s/daemon.log", home);
    o->log = buf_cstr(log);
    return background_split(o->log, &o->ready, status);
}

static int run_serve(struct cli *cli)
{
    struct daemon_options o = {
        .cli = cli, .http = true, .announce = true, .record = !cli_option(cli, "no-record")
    };
    AUTO_BUF struct buf token = { 0 };
    AUTO_BUF struct buf from = { 0 };
    AUTO_BUF struct buf log = { 0 };
    struct pb_error err;
    int status;

    if (read_port(cli, &o.serve.port) != CLI_OK)
        return CLI_USAGE;
    if (cli_expose(cli, &o.expose, &err) < 0)
        return cli_config_fail(&err);
    if (!cli_option(cli, "no-token")) {
        if (token_find(cli, &token, &from, &err) < 0)
            return cli_config_fail(&err);
        o.serve.token = buf_cstr(&token);
        o.token_from = buf_cstr(&from);
    }
    o.serve.host = cli_option(cli, "host");
    o.serve.allowed_hosts = cli_option(cli, "allowed-hosts");
    o.serve.allowed_origins = cli_option(cli, "allowed-origins");
    /* One that was given its own config is another one than the user's. */
    o.socket = !cli_option(cli, "no-socket") && (!cli_names_config(cli) || getenv("PATCHBAY_HOME"));
    return goes_on(cli, &o, &log, &status) ? daemon_run(&o) : status;
}

const struct verb verb_serve = {
    .name = "serve",
    .usage = "[--port N] [--config FILE]...",
    .help = "Run the daemon: MCP over HTTP, and the socket for the other verbs",
    .text = "MCP clients connect to /mcp (everything), /mcp/SERVER (one server, its own names) or\n"
            "/mcp/mode/MODE; old ones to /sse. They send the token as \"Authorization: Bearer\".\n"
            "It is kept in the home directory and stays the same. The console for people is at /;\n"
            "'patchbay console' prints the link that opens it. REST is at /api, told by /docs.\n"
            "Changes of the config files are\n"
            "taken over at once: only what changed is restarted.\n"
            "It ends with Ctrl-C, with its terminal, or by 'patchbay stop'. With --background it\n"
            "goes on without a terminal: what it says is in daemon.log of the home directory, and\n"
            "SIGHUP makes it read the config files again.",
    .max = 0,
    .serves = true,
    .options =
        (const struct option_spec[]){
            { 'b', "background", NULL, "go on without the terminal, once it listens" },
            { 'p', "port", "N", "listen on this port (7282); 0 takes any free one" },
            { 0, "no-record", NULL, "keep nothing of calls: who asked what, and what came of it" },
            { 0, "host", "ADDRESS", "listen on this address (127.0.0.1); others need a token" },
            { 0, "token", "TEXT", "wanted from clients; PATCHBAY_TOKEN does the same" },
            { 0, "no-token", NULL, "let every local program in" },
            { 0, "allowed-hosts", "LIST", "further names that clients may call us by" },
            { 0, "allowed-origins", "LIST", "origins of web pages that may connect" },
            CLI_EXPOSE_OPTIONS,
            { 0, "no-socket", NULL, "do not listen on the unix socket" },
            { 0, "json", NULL, "print where it listens as JSON, once it does" },
            CLI_CONFIG_OPTIONS,
            { 0 },
        },
    .run = run_serve,
};
