#include "daemon.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

enum { PORT = 7282, TOKEN_FILE_MAX = 1024 };

/* The token stays the same from one start to the next, so that clients need to be told once. */
static int read_token(const char *path, struct buf *out, struct pb_error *err)
{
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
    char text[TOKEN_FILE_MAX];
    struct span token;
    struct stat st;
    ssize_t n;

    if (fd < 0)
        return errno == ENOENT ? 0 : fail_sys(err, errno, "read '%s'", path);
    if (fstat(fd, &st) == 0 && (st.st_mode & 077))
        fprintf(stderr, "patchbay: warning: others may read '%s': chmod 600 it\n", path);
    n = read(fd, text, sizeof text);
    if (n < 0)
        return fail_sys(err, errno, "read '%s'", path);
    token = span_trim(span_make(text, (size_t)n));
    buf_add_span(out, token);
    return 0;
}

static int keep_token(const char *path, struct span token, struct pb_error *err)
{
    AUTO_CLOSE int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    if (fd < 0 || fchmod(fd, 0600) < 0 || write(fd, token.p, token.n) != (ssize_t)token.n)
        return fail_sys(err, errno, "keep the token in '%s'", path);
    return 0;
}

static int make_home(const char *home, struct pb_error *err)
{
    AUTO_FREE char *path = mem_dup(home);

    for (char *p = path + 1;; p++) {
        char was = *p;

        if (was && was != '/')
            continue;
        *p = '\0';
        if (mkdir(path, 0700) < 0 && errno != EEXIST)
            return fail_sys(err, errno, "make the directory '%s'", path);
        *p = was;
        if (!was)
            return 0;
    }
}

/* --token, $PATCHBAY_TOKEN, the file of the home directory, or a new one. *from: which it was. */
static int find_token(const struct cli *cli, struct buf *out, struct buf *from,
                      struct pb_error *err)
{
    struct config_request r = cli_config_request(cli);
    const char *given = cli_option(cli, "token");
    AUTO_FREE char *home = config_home(&r);
    char fresh[ID_CHARS + 1];
    int rc;

    buf_str(from, given ? "--token" : "PATCHBAY_TOKEN");
    if (!given)
        given = getenv("PATCHBAY_TOKEN");
    if (given) {
        buf_str(out, given);
        return 0;
    }
    from->n = 0;
    buf_printf(from, "%s/token", home);
    rc = read_token(buf_cstr(from), out, err);
    if (rc < 0 || out->n)
        return rc;
    id_new(fresh);
    buf_str(out, fresh);
    rc = make_home(home, err);
    return rc < 0 ? rc : keep_token(buf_cstr(from), buf_span(out), err);
}

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

static int run_serve(struct cli *cli)
{
    struct daemon_options o = { .cli = cli, .http = true, .announce = true };
    const char *expose = cli_option(cli, "expose");
    AUTO_BUF struct buf token = { 0 };
    AUTO_BUF struct buf from = { 0 };
    struct pb_error err;

    if (read_port(cli, &o.serve.port) != CLI_OK)
        return CLI_USAGE;
    if (expose && host_parse_expose(expose, &o.expose, &err) < 0)
        return cli_config_fail(&err);
    if (!cli_option(cli, "no-token")) {
        if (find_token(cli, &token, &from, &err) < 0)
            return cli_config_fail(&err);
        o.serve.token = buf_cstr(&token);
        o.token_from = buf_cstr(&from);
    }
    o.serve.host = cli_option(cli, "host");
    o.serve.allowed_hosts = cli_option(cli, "allowed-hosts");
    o.serve.allowed_origins = cli_option(cli, "allowed-origins");
    /* One that was given its own config is another one than the user's. */
    o.socket = !cli_option(cli, "no-socket") && (!cli_names_config(cli) || getenv("PATCHBAY_HOME"));
    return daemon_run(&o);
}

const struct verb verb_serve = {
    .name = "serve",
    .usage = "[--port N] [--config FILE]...",
    .help = "Run the daemon: MCP over HTTP, and the socket for the other verbs",
    .text = "MCP clients connect to /mcp (everything), /mcp/SERVER (one server, its own names) or\n"
            "/mcp/mode/MODE; old ones to /sse. They send the token as \"Authorization: Bearer\".\n"
            "It is kept in the home directory and stays the same. Changes of the config files are\n"
            "taken over at once: only what changed is restarted.",
    .max = 0,
    .options =
        (const struct option_spec[]){
            { 'p', "port", "N", "listen on this port (7282); 0 takes any free one" },
            { 0, "host", "ADDRESS", "listen on this address (127.0.0.1)" },
            { 0, "token", "TEXT", "wanted from clients; PATCHBAY_TOKEN does the same" },
            { 0, "no-token", NULL, "let every local program in" },
            { 0, "allowed-hosts", "LIST", "further names that clients may call us by" },
            { 0, "allowed-origins", "LIST", "origins of web pages that may connect" },
            { 0, "expose", "GROUPS", "what clients see: catalog, external, builtin, breakpoint" },
            { 0, "no-socket", NULL, "do not listen on the unix socket" },
            CLI_CONFIG_OPTIONS,
            { 0 },
        },
    .run = run_serve,
};
