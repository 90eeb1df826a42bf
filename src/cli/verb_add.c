#include "home.h"
#include "hub/add/add.h"
#include "hub/config/config.h"
#include "hub/spec/spec.h"
#include "taken.h"

static bool ends_options(const struct cli *cli, char *const *rest)
{
    return add_begins_command((const char *const *)cli->args, (size_t)cli->n_args,
                              cli_option(cli, "name") != NULL, (const char *const *)rest);
}

static int check_free(const char *file, const char *name, bool force, struct pb_error *err)
{
    unsigned line;
    int rc = config_find_server(file, name, &line, err);

    if (rc == -(int)PB_E_NOT_FOUND)
        return 0;
    if (rc < 0 || force)
        return rc;
    return fail(err, PB_E_INVALID,
                "there is a server '%s' already, at %s:%u: --force replaces it, --name gives this "
                "one another name",
                name, file, line);
}

/* What the command line tells of a package is in the command that is saved; where it came from need
 * not be kept. */
static void write_entry(struct buf *out, struct spec *s)
{
    s->package = SPEC_PACKAGE_NONE;
    spec_write(out, s);
}

static void print_added(const struct spec *s, const char *file)
{
    AUTO_BUF struct buf what = { 0 };

    spec_describe(&what, s);
    printf("Added %s to %s\n", s->name, file);
    printf("  %-10s %s\n", spec_transport_name(s->transport), buf_cstr(&what));
    home_print_pairs("env", s->env, '=');
    home_print_pairs("headers", s->headers, ':');
    if (s->auth != SPEC_AUTH_NONE)
        printf("  %-10s %s\n", "login", spec_auth_name(s->auth));
}

static void print_next(const struct cli *cli, const struct spec *s)
{
    const char *scope = cli_option(cli, "scope");
    bool project = scope && strcmp(scope, "project") == 0;

    fprintf(stderr, "Next: patchbay tools %s%s\n", s->name, project ? " --config .mcp.json" : "");
}

static int run_add(struct cli *cli)
{
    struct add_request r = {
        .words = (const char *const *)cli->args,
        .command = (const char *const *)cli->command,
        .name = cli_option(cli, "name"),
        .transport = cli_option(cli, "transport"),
        .env = cli_option_list(cli, "env"),
        .headers = cli_option_list(cli, "header"),
        .cwd = cli_option(cli, "cwd"),
        .inherit_env = cli_option(cli, "inherit-env"),
        .lazy = cli_option(cli, "lazy") != NULL,
    };
    AUTO_FREE char *file = home_file(cli);
    AUTO(spec) struct spec *s = NULL;
    AUTO_BUF struct buf entry = { 0 };
    struct pb_error err;
    int status;

    if (!file)
        return CLI_USAGE;
    if (add_parse(&s, &r, &err) < 0)
        return home_fail(cli, NULL, &err);
    write_entry(&entry, s);
    if (check_free(file, s->name, cli_option(cli, "force") != NULL, &err) < 0 ||
        config_save_server(file, s->name, buf_span(&entry), &err) < 0)
        return home_fail(cli, NULL, &err);
    if (cli_option(cli, "json"))
        home_print_json(s, file, 0);
    else
        print_added(s, file);
    status = taken_over(cli, file);
    if (status == CLI_OK && !cli_option(cli, "json"))
        print_next(cli, s);
    return status;
}

const struct verb verb_add = {
    .name = "add",
    .usage = "[OPTION...] NAME -- COMMAND ARG... | NAME URL | URL | @SCOPE/PACKAGE",
    .help = "Add a server to the configuration",
    .text = "As `claude mcp add` does. Without a NAME the server names itself:\n"
            "    patchbay add npx -y @github/mcp-server\n"
            "    patchbay add \"docker run ghcr.io/owner/server\"\n"
            "    patchbay add https://mcp.linear.app/mcp\n"
            "Options stand before the command; what follows its first word is its own.",
    .max = -1,
    .takes_command = true,
    .ends_options = ends_options,
    .options =
        (const struct option_spec[]){
            { 't', "transport", "KIND", "stdio, sse or http; found out when left out" },
            { 'e', "env", "NAME=VALUE", "a variable for the command", true },
            { 'H', "header", "LINE", "a header for the URL, as \"Name: value\"", true },
            CLI_SCOPE_OPTION,
            { 'n', "name", "NAME", "the server's name" },
            { 0, "cwd", "DIR", "where the command runs" },
            { 0, "inherit-env", "NAMES",
              "what it gets of our environment: all, safe, or HOME,PATH" },
            { 0, "lazy", NULL, "start it at its first call, and stop it when it is not used" },
            { 'f', "force", NULL, "replace a server of that name" },
            { 0, "json", NULL, "print what was added as JSON" },
            { 0 },
        },
    .run = run_add,
};
