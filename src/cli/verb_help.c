#include "cli.h"

static void print_options(const struct verb *verb)
{
    for (const struct option_spec *o = verb->options; o && o->name; o++) {
        char left[48];

        snprintf(left, sizeof left, "%s%c%s--%s%s%s%s", o->letter ? "-" : "  ",
                 o->letter ? o->letter : ' ', o->letter ? ", " : " ", o->name, o->arg ? " " : "",
                 o->arg ? o->arg : "", o->many ? "..." : "");
        printf("  %-24s %s\n", left, o->help);
    }
}

static int help_verb(const char *name)
{
    const struct verb *verb = cli_find(name);

    if (!verb)
        return cli_usage(NULL, "there is no verb '%s'; 'patchbay help' lists them", name);
    printf("usage: patchbay %s%s%s\n\n%s.\n", verb->name, *verb->usage ? " " : "", verb->usage,
           verb->help);
    if (verb->text)
        printf("\n%s\n", verb->text);
    if (verb->options) {
        printf("\nOptions:\n");
        print_options(verb);
    }
    return CLI_OK;
}

static int run_help(struct cli *cli)
{
    if (cli->n_args)
        return help_verb(cli->args[0]);
    printf("Patchbay plugs MCP servers into whatever wants to use them.\n\n"
           "usage: patchbay VERB [OPTION...]\n\n");
    for (const struct verb *const *v = cli_verbs; *v; v++)
        printf("  %-12s %s\n", (*v)->name, (*v)->help);
    printf("\n'patchbay help VERB' tells more about one.\n"
           "Exit codes: 0 ok, 1 usage, 3 login needed, 4 unreachable, 5 the tool failed.\n");
    return CLI_OK;
}

const struct verb verb_help = {
    .name = "help",
    .usage = "[VERB]",
    .help = "Tell what there is, or more about one verb",
    .max = 1,
    .run = run_help,
};
