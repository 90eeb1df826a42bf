#include "cli.h"
#include <string.h>

static void bash(void)
{
    printf("_patchbay() {\n"
           "    local cur=${COMP_WORDS[COMP_CWORD]} verb=${COMP_WORDS[1]}\n"
           "    if [ \"$COMP_CWORD\" = 1 ]; then\n        COMPREPLY=($(compgen -W \"");
    for (const struct verb *const *v = cli_verbs; *v; v++)
        printf("%s%s", v == cli_verbs ? "" : " ", (*v)->name);
    printf("\" -- \"$cur\"))\n        return\n    fi\n    case $verb in\n");
    for (const struct verb *const *v = cli_verbs; *v; v++) {
        printf("    %s) COMPREPLY=($(compgen -W \"", (*v)->name);
        for (const struct option_spec *o = (*v)->options; o && o->name; o++)
            printf("--%s ", o->name);
        printf("\" -- \"$cur\")) ;;\n");
    }
    printf("    esac\n}\ncomplete -o default -F _patchbay patchbay\n");
}

static void zsh(void)
{
    printf("#compdef patchbay\nlocal -a verbs\nverbs=(\n");
    for (const struct verb *const *v = cli_verbs; *v; v++)
        printf("  '%s:%s'\n", (*v)->name, (*v)->help);
    printf(")\nif (( CURRENT == 2 )); then\n  _describe verb verbs\n  return\nfi\n"
           "case $words[2] in\n");
    for (const struct verb *const *v = cli_verbs; *v; v++) {
        if (!(*v)->options)
            continue;
        printf("%s) _arguments", (*v)->name);
        for (const struct option_spec *o = (*v)->options; o->name; o++)
            printf(" '%s--%s[%s]%s%s'", o->many ? "*" : "", o->name, o->help, o->arg ? ":" : "",
                   o->arg ? o->arg : "");
        printf(" '*:argument:_default' ;;\n");
    }
    printf("esac\n");
}

static void fish(void)
{
    for (const struct verb *const *v = cli_verbs; *v; v++) {
        printf("complete -c patchbay -n __fish_use_subcommand -a %s -d '%s'\n", (*v)->name,
               (*v)->help);
        for (const struct option_spec *o = (*v)->options; o && o->name; o++)
            printf("complete -c patchbay -n '__fish_seen_subcommand_from %s' -l %s%s -d '%s'\n",
                   (*v)->name, o->name, o->arg ? " -r" : "", o->help);
    }
}

static int run_completion(struct cli *cli)
{
    static const struct {
        const char *shell;
        void (*print)(void);
    } shells[] = { { "bash", bash }, { "zsh", zsh }, { "fish", fish } };

    for (size_t i = 0; i < ARRAY_LEN(shells); i++)
        if (strcmp(cli->args[0], shells[i].shell) == 0) {
            shells[i].print();
            return CLI_OK;
        }
    return cli_usage(cli->verb, "no completion for '%s': bash, zsh or fish", cli->args[0]);
}

const struct verb verb_completion = {
    .name = "completion",
    .usage = "bash|zsh|fish",
    .help = "Print the completion script of a shell",
    .min = 1,
    .max = 1,
    .run = run_completion,
};
