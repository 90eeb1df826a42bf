#include "cli.h"
#include <string.h>

#define VERBS(...) \
    (const struct verb *const[]) { __VA_ARGS__, NULL }

/* clang-format off */
const struct verb_group cli_groups[] = {
    { "Begin here",            VERBS(&verb_add, &verb_list, &verb_tools, &verb_describe, &verb_call, &verb_serve, &verb_console, &verb_mcp) },
    { "Servers",               VERBS(&verb_add_json, &verb_get, &verb_enable, &verb_disable, &verb_remove, &verb_doctor, &verb_mode) },
    { "Resources and prompts", VERBS(&verb_resources, &verb_read, &verb_prompts, &verb_prompt) },
    { "The running daemon",    VERBS(&verb_status, &verb_stop, &verb_restart, &verb_service, &verb_logs, &verb_connect, &verb_disconnect, &verb_reconnect, &verb_ping, &verb_cancel, &verb_token) },
    { "Patchbay itself",       VERBS(&verb_help, &verb_version, &verb_completion, &verb_man) },
    { 0 },
};
/* clang-format on */

enum { LEFT_MAX = 64 };

/* "-n, --name VALUE..." */
static size_t write_left(const struct option_spec *o, char left[static LEFT_MAX])
{
    return (size_t)snprintf(left, LEFT_MAX, "%s%c%s--%s%s%s%s", o->letter ? "-" : " ",
                            o->letter ? o->letter : ' ', o->letter ? ", " : "  ", o->name,
                            o->arg ? " " : "", o->arg ? o->arg : "", o->many ? "..." : "");
}

static void print_options(const struct verb *verb)
{
    char left[LEFT_MAX];
    size_t width = 0;

    for (const struct option_spec *o = verb->options; o->name; o++) {
        size_t n = write_left(o, left);

        width = n > width ? n : width;
    }
    for (const struct option_spec *o = verb->options; o->name; o++) {
        write_left(o, left);
        printf("  %-*s  %s\n", (int)width, left, o->help);
    }
}

static int help_verb(const char *name)
{
    const struct verb *verb = cli_find(name);

    if (!verb)
        return cli_usage(NULL, "there is no verb '%s'; 'patchbay help' lists them", name);
    printf("usage: patchbay %s%s%s\n\n%s.\n", verb->name, *verb->usage ? " " : "", verb->usage,
           verb->help);
    if (verb->alias)
        printf("'patchbay %s' is the same.\n", verb->alias);
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
           "usage: patchbay VERB [OPTION...]\n"
           "       patchbay                     the same as 'patchbay serve'\n");
    for (const struct verb_group *g = cli_groups; g->title; g++) {
        printf("\n%s:\n", g->title);
        for (const struct verb *const *v = g->verbs; *v; v++)
            printf("  %-12s %s%s%s%s\n", (*v)->name, (*v)->help, (*v)->alias ? " (or: " : "",
                   (*v)->alias ? (*v)->alias : "", (*v)->alias ? ")" : "");
    }
    printf("\n'patchbay help VERB' tells more about one. Exit codes:\n");
    for (const struct exit_text *e = cli_exits; e->text; e++)
        printf("  %3d  %s\n", e->code, e->text);
    return CLI_OK;
}

const struct verb verb_help = {
    .name = "help",
    .usage = "[VERB]",
    .help = "Tell what there is, or more about one verb",
    .max = 1,
    .run = run_help,
};
