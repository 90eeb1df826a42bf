#include "daemon.h"
#include "face/host/host.h"
#include "face/listen/listen.h"
#include "talk.h"
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

enum { PUMP_BYTES = 65536 };

static bool write_all(int fd, const char *p, size_t n)
{
    while (n) {
        ssize_t done = write(fd, p, n);

        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return false;
        p += done;
        n -= (size_t)done;
    }
    return true;
}

/* Moves what is there. False: that side has ended. */
static bool pump(int from, int to)
{
    static char bytes[PUMP_BYTES];
    ssize_t n = read(from, bytes, sizeof bytes);

    if (n < 0 && errno == EINTR)
        return true;
    return n > 0 && write_all(to, bytes, (size_t)n);
}

/* Between our own client and the daemon, until the daemon hangs up: after the end of input it
 * still answers what it was asked. */
static int pump_both(int daemon)
{
    struct pollfd p[] = { { .fd = STDIN_FILENO, .events = POLLIN },
                          { .fd = daemon, .events = POLLIN } };

    for (;;) {
        if (poll(p, ARRAY_LEN(p), -1) < 0 && errno != EINTR)
            return CLI_UNREACHABLE;
        if (p[1].revents && !pump(daemon, STDOUT_FILENO))
            return CLI_OK;
        if (p[0].revents && !pump(STDIN_FILENO, daemon)) {
            shutdown(daemon, SHUT_WR);
            p[0].fd = -1;
        }
    }
}

/* Whoever looks at a daemon's records would miss what is called here. */
static void tell_beside(const char *socket, const struct host_scope *scope, const struct project *p)
{
    int fd;

    if (attach_connect(&fd, socket, scope, NULL) < 0)
        return;
    close(fd);
    talk_warn("the servers of %s are run here, beside the daemon that runs: what is called here is "
              "neither in its records nor in its console; --no-project leaves them out and uses "
              "the daemon",
              p->path);
}

static int run_mcp(struct cli *cli)
{
    struct daemon_options o = { .cli = cli,
                                .stdio = true,
                                .record = cli_option(cli, "record") != NULL };
    AUTO_FREE char *path = cli_socket_path(cli);
    AUTO_FREE char *here = getcwd(NULL, 0);
    AUTO(project) struct project *p = NULL;
    struct pb_error err;
    bool needed;
    int fd, rc;

    o.scope = (struct host_scope){ .server = cli_option(cli, "server"),
                                   .mode = cli_option(cli, "mode"),
                                   .directory = here };
    if (o.scope.server && o.scope.mode)
        return cli_usage(cli->verb, "--server and --mode are two different things: give one");
    if (cli_expose(cli, &o.expose, &err) < 0)
        return cli_config_fail(&err);
    o.scope.expose = o.expose;
    o.project = p = project_for(
        cli,
        &(struct project_about){
            .servers = o.scope.server ? (const char *const[]){ o.scope.server, NULL } : NULL },
        &needed);
    if (!needed && !cli_names_config(cli) && !cli_option(cli, "standalone")) {
        rc = attach_connect(&fd, path, &o.scope, &err);
        if (rc == 0)
            return pump_both(fd);
        if (rc != -(int)PB_E_CLOSED)
            return cli_fail(&err);
    }
    if (p && needed && !cli_option(cli, "standalone"))
        tell_beside(path, &(struct host_scope){ 0 }, p);
    return daemon_run(&o);
}

const struct verb verb_mcp = {
    .name = "mcp",
    .usage = "[--server NAME | --mode MODE] [--config FILE]...",
    .help = "Be an MCP server on standard input and output, for all configured servers",
    .text = "This is what an MCP client is given as its command. When a daemon runs, this is a\n"
            "pipe to it; otherwise the servers are started here and end with the client. So are\n"
            "those of a project, of .mcp.json where it is started, when you trust them: see\n"
            "'patchbay help trust'. Nobody is asked here. Calls of a project are not in the\n"
            "records of a daemon that runs, which is told.",
    .max = 0,
    .serves = true,
    .options =
        (const struct option_spec[]){
            { 's', "server", "NAME", "show one server only, under its tools' own names" },
            { 'm', "mode", "MODE", "show what this mode lets through" },
            CLI_EXPOSE_OPTIONS,
            { 0, "record", NULL, "keep what stays of calls, as the daemon does" },
            { 0, "standalone", NULL, "do not use a running daemon" },
            CLI_PROJECT_OPTION,
            CLI_CONFIG_OPTIONS,
            { 0 },
        },
    .run = run_mcp,
};
