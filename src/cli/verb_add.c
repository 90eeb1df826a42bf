#include "home.h"
#include "hub/add/add.h"
#include "hub/config/config.h"
#include "hub/spec/spec.h"
#include "hub/view/view.h"
#include "program.h"
#include "project.h"
#include "show.h"
#include "taken.h"
#include "talk.h"
#include <limits.h>

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

/* A server that names itself gets another name rather than that of one that is there, unless it is
 * the same: then it is told that there is one. */
static bool is_taken(void *ctx, const struct spec *s, const char *name)
{
    const struct cli *cli = ctx;
    AUTO(config) struct config *config = NULL;
    AUTO_FREE char *file = home_file(cli);
    const struct spec *other;
    unsigned line;

    if (!file || cli_option(cli, "force") || config_find_server(file, name, &line, NULL) < 0)
        return false;
    return home_find(cli, name, &config, &other, NULL) < 0 || !spec_same_link(other, s);
}

static void print_added(const struct spec *s, const char *file)
{
    AUTO_BUF struct buf what = { 0 };

    spec_describe(&what, s);
    printf("Added %s to %s\n", s->name, file);
    home_print_line(stdout, spec_transport_name(s->transport), buf_cstr(&what));
    home_print_pairs(stdout, "env", s->env, '=');
    home_print_pairs(stdout, "headers", s->headers, ':');
    if (s->cwd)
        home_print_line(stdout, "directory", s->cwd);
    if (s->auth != SPEC_AUTH_NONE)
        home_print_line(stdout, "login", spec_auth_name(s->auth));
}

static void print_all_json(const struct config *all, const char *file)
{
    AUTO_BUF struct buf out = { 0 };
    struct json_out o = json_out(&out);
    struct map_slot *slot;

    json_begin_object(&o, NULL);
    json_begin_array(&o, "added");
    MAP_FOREACH(slot, &all->specs)
        home_write_json(&o, slot->value, file, 0);
    json_end(&o);
    json_end(&o);
    show_json(buf_cstr(&out));
}

static void print_all(const struct cli *cli, const struct config *all, const char *file)
{
    struct map_slot *slot;

    if (cli_option(cli, "json"))
        print_all_json(all, file);
    else
        MAP_FOREACH(slot, &all->specs)
            print_added(slot->value, file);
}

/* The PATH is ours: the daemon's may be another, so that it is no reason to refuse. */
static void warn_of_command(const struct spec *s)
{
    const char *path = getenv("PATH");
    AUTO_FREE char *found = NULL;
    AUTO_BUF struct buf hint = { 0 };
    int why;

    if (s->transport != SPEC_STDIO || strstr(s->command, "${"))
        return;
    for (const char *const *e = s->env; *e; e++)
        if (strncmp(*e, "PATH=", 5) == 0)
            path = *e + 5;
    found = program_find(s, path ? path : "", &why);
    if (found)
        return;
    if (strchr(s->command, '/')) {
        talk_warn("there is no program '%s'; it is saved all the same", s->command);
        return;
    }
    remedy_install(&hint, s->command);
    talk_warn("'%s' is not in PATH; it is saved all the same: %s", s->command, buf_cstr(&hint));
}

static void print_next(const struct cli *cli, const struct config *all)
{
    AUTO_BUF struct buf next = { 0 };
    struct map_slot *slot;

    buf_str(&next, all->specs.n > 1 ? "patchbay list" : "patchbay tools");
    if (all->specs.n == 1)
        MAP_FOREACH(slot, &all->specs)
            buf_printf(&next, " %s", ((struct spec *)slot->value)->name);
    if (home_is_project(cli) && !project_counts_here())
        buf_str(&next, " --config .mcp.json");
    talk_next((const char *const[]){ buf_cstr(&next), NULL });
}

/* All of them or none, as far as names can tell. */
static int save_all(const struct cli *cli, const struct config *all, const char *file,
                    struct pb_error *err)
{
    struct map_slot *slot;
    int rc = 0;

    MAP_FOREACH(slot, &all->specs)
        if (rc == 0)
            rc = check_free(file, ((struct spec *)slot->value)->name,
                            cli_option(cli, "force") != NULL, err);
    MAP_FOREACH(slot, &all->specs) {
        AUTO_BUF struct buf entry = { 0 };
        const struct spec *s = slot->value;

        if (rc < 0)
            break;
        spec_write(&entry, s);
        rc = config_save_server(file, s->name, buf_span(&entry), err);
    }
    return rc;
}

static int add_servers(struct cli *cli, struct add_request *r)
{
    char here[PATH_MAX];
    struct add_around around = { getcwd(here, sizeof here), is_taken, cli };
    AUTO(config) struct config *all = NULL;
    AUTO_FREE char *file = NULL;
    const char *scope = cli_option(cli, "scope");
    struct project_edit edit;
    struct map_slot *slot;
    struct pb_error err;
    int status;

    r->around = &around;
    r->scope = &scope;
    file = home_file(cli); /* a wrong --scope is told first */
    if (!file)
        return CLI_USAGE;
    if (add_read(&all, r, &err) < 0)
        return home_fail(cli, NULL, &err);
    if (scope) {
        cli_set_option(cli, "scope", scope);
        free(file);
        file = home_file(cli);
    }
    project_edit_begin(&edit, cli);
    if (save_all(cli, all, file, &err) < 0)
        return home_fail(cli, NULL, &err);
    project_edit_end(&edit);
    print_all(cli, all, file);
    MAP_FOREACH(slot, &all->specs)
        warn_of_command(slot->value);
    status = taken_over(cli, file);
    if (status == CLI_OK)
        print_next(cli, all);
    return status;
}

static struct add_request request_of(const struct cli *cli)
{
    return (struct add_request){
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
}

static int run_add(struct cli *cli)
{
    struct add_request r = request_of(cli);

    return add_servers(cli, &r);
}

static int run_add_json(struct cli *cli)
{
    const char *const words[] = { "patchbay", "add-json", cli->args[0], cli->args[1], NULL };
    struct add_request r = request_of(cli);

    r.words = words;
    return add_servers(cli, &r);
}

/* clang-format off */
#define ADD_OPTIONS                                                                          \
    { 'e', "env", "NAME=VALUE", "a variable for the command", true },                        \
    { 'H', "header", "LINE", "a header for the URL, as \"Name: value\"", true },             \
    CLI_SCOPE_OPTION,                                                                        \
    { 0, "cwd", "DIR", "where the command runs" },                                           \
    { 0, "inherit-env", "NAMES", "what it gets of our environment: all, safe, or HOME,PATH" }, \
    { 0, "lazy", NULL, "start it at its first call, and stop it when it is not used" },      \
    { 'f', "force", NULL, "replace a server of that name" },                                 \
    { 0, "json", NULL, "print what was added as JSON" }
/* clang-format on */

const struct verb verb_add = {
    .name = "add",
    .usage = "[OPTION...] NAME -- COMMAND ARG... | NAME URL | URL | @SCOPE/PACKAGE | TEXT",
    .help = "Add a server to the configuration",
    .text = "As `claude mcp add` does. Without a NAME the server names itself:\n"
            "    patchbay add npx -y @github/mcp-server\n"
            "    patchbay add \"docker run ghcr.io/owner/server\"\n"
            "    patchbay add https://mcp.linear.app/mcp\n"
            "TEXT is what others give to paste, whole: the JSON of any client, tables of Codex's\n"
            "config.toml, a line such as `claude mcp add ...` or `code --add-mcp ...`, or a link\n"
            "that begins with cursor:// or vscode:.\n"
            "Options stand before the command; what follows its first word is its own.",
    .max = -1,
    .takes_command = true,
    .ends_options = ends_options,
    .options =
        (const struct option_spec[]){
            { 't', "transport", "KIND", "stdio, sse or http; found out when left out" },
            { 'n', "name", "NAME", "the server's name" },
            ADD_OPTIONS,
            { 0 },
        },
    .run = run_add,
};

const struct verb verb_add_json = {
    .name = "add-json",
    .usage = "[OPTION...] NAME JSON",
    .help = "Add a server whose entry is JSON, as clients write it",
    .text = "As `claude mcp add-json` does:\n"
            "    patchbay add-json weather '{\"command\":\"npx\",\"args\":[\"-y\",\"weather\"]}'",
    .min = 2,
    .max = 2,
    .options =
        (const struct option_spec[]){
            ADD_OPTIONS,
            { 0 },
        },
    .run = run_add_json,
};
