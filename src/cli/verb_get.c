#include "home.h"
#include "hub/config/config.h"
#include "hub/spec/spec.h"

static void print_list(const char *label, const char *const *list)
{
    if (!*list)
        return;
    printf("  %-10s", label);
    for (; *list; list++)
        home_print_word(stdout, " ", *list);
    putchar('\n');
}

static void print_spec(const struct spec *s)
{
    AUTO_BUF struct buf what = { 0 };

    spec_describe(&what, s);
    home_print_word(stdout, "", s->name);
    putchar('\n');
    if (strcmp(s->display_name, s->name) != 0)
        home_print_line(stdout, "shown as", s->display_name);
    if (s->file)
        printf("  %-10s %s:%u\n", "defined", s->file, s->line);
    home_print_line(stdout, "state", s->enabled ? "enabled" : "disabled");
    home_print_line(stdout, spec_transport_name(s->transport), buf_cstr(&what));
    home_print_pairs(stdout, "env", s->env, '=');
    home_print_pairs(stdout, "headers", s->headers, ':');
    if (s->inherit_env)
        home_print_line(stdout, "inherits", *s->inherit_env ? s->inherit_env : "nothing");
    if (s->cwd)
        home_print_line(stdout, "directory", s->cwd);
    if (s->auth != SPEC_AUTH_NONE)
        home_print_line(stdout, "login", spec_auth_name(s->auth));
    if (spec_origin_name(s->origin))
        home_print_line(stdout, "came by", spec_origin_name(s->origin));
    home_print_line(stdout, "start",
                    s->start == SPEC_LAZY ? "lazy: at its first call" : "eager: with Patchbay");
    print_list("only tools", s->enabled_tools);
    print_list("not tools", s->disabled_tools);
}

static int run_get(struct cli *cli)
{
    AUTO_FREE char *file = home_file(cli);
    AUTO(config) struct config *config = NULL;
    const struct spec *s;
    struct pb_error err;

    if (!file)
        return CLI_USAGE;
    if (home_find(cli, cli->args[0], &config, &s, &err) < 0)
        return home_fail(cli, cli->args[0], &err);
    if (cli_option(cli, "json"))
        home_print_json(s, s->file, s->line);
    else
        print_spec(s);
    return CLI_OK;
}

const struct verb verb_get = {
    .name = "get",
    .usage = "NAME",
    .help = "Tell what is configured for one server, and where",
    .min = 1,
    .max = 1,
    .options =
        (const struct option_spec[]){
            CLI_SCOPE_OPTION,
            { 0, "json", NULL, "print it as JSON, secrets masked" },
            { 0 },
        },
    .run = run_get,
};
