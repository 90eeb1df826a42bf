#include "cli.h"
#include <stdarg.h>
#include <string.h>

const struct verb *const cli_verbs[] = {
    &verb_call, &verb_completion, &verb_help, &verb_man, &verb_tools, &verb_version, NULL,
};

const struct verb *cli_find(const char *name)
{
    for (const struct verb *const *v = cli_verbs; *v; v++)
        if (strcmp((*v)->name, name) == 0)
            return *v;
    return NULL;
}

int cli_fail(const struct pb_error *err)
{
    fprintf(stderr, "patchbay: %s\n", err->msg);
    switch (err->code) {
    case PB_E_AUTH:
        return CLI_AUTH;
    case PB_E_INVALID:
    case PB_E_NOT_FOUND:
        return CLI_USAGE;
    case PB_E_REMOTE:
        return CLI_TOOL_ERROR;
    default:
        return CLI_UNREACHABLE;
    }
}

int cli_usage(const struct verb *verb, const char *fmt, ...)
{
    va_list ap;

    fputs("patchbay: ", stderr);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fprintf(stderr, "\nusage: patchbay %s%s%s\n", verb ? verb->name : "VERB [OPTION...]",
            verb && *verb->usage ? " " : "", verb ? verb->usage : "");
    return CLI_USAGE;
}

const char *cli_option(const struct cli *cli, const char *name)
{
    const struct option_spec *o = cli->verb->options;

    for (int i = 0; o && o[i].name; i++)
        if (strcmp(o[i].name, name) == 0)
            return cli->values[i];
    return NULL;
}

static int find_option(const struct verb *verb, const char *word, const char **value)
{
    const struct option_spec *o = verb->options;
    const char *eq = strchr(word, '=');
    size_t n = eq ? (size_t)(eq - word) : strlen(word);

    *value = eq ? eq + 1 : NULL;
    for (int i = 0; o && o[i].name; i++) {
        if (strncmp(word, "--", 2) == 0 && strlen(o[i].name) == n - 2 &&
            strncmp(o[i].name, word + 2, n - 2) == 0)
            return i;
        if (word[0] == '-' && o[i].letter && word[1] == o[i].letter && !word[2])
            return i;
    }
    return -1;
}

/* Takes the option at argv[*i], moving past its value. */
static int take_option(struct cli *cli, char **argv, int *i)
{
    const char *value;
    int which = find_option(cli->verb, argv[*i], &value);
    const struct option_spec *o;

    if (which < 0)
        return cli_usage(cli->verb, "unknown option '%s'", argv[*i]);
    o = &cli->verb->options[which];
    if (!o->arg && value)
        return cli_usage(cli->verb, "--%s takes no value", o->name);
    if (o->arg && !value) {
        if (!argv[*i + 1])
            return cli_usage(cli->verb, "--%s needs a value: %s", o->name, o->arg);
        value = argv[++*i];
    }
    cli->values[which] = value ? value : "";
    return CLI_OK;
}

static int parse(struct cli *cli, char **argv)
{
    for (int i = 0; argv[i]; i++) {
        if (strcmp(argv[i], "--") == 0 && cli->verb->takes_command) {
            if (!argv[i + 1])
                return cli_usage(cli->verb, "a command must follow \"--\"");
            cli->command = argv + i + 1;
            break;
        }
        if (argv[i][0] == '-' && argv[i][1]) {
            if (take_option(cli, argv, &i) != CLI_OK)
                return CLI_USAGE;
        } else {
            cli->args[cli->n_args++] = argv[i];
        }
    }
    if (cli->n_args < cli->verb->min || (cli->verb->max >= 0 && cli->n_args > cli->verb->max))
        return cli_usage(cli->verb, "'%s' with %d argument%s", cli->verb->name, cli->n_args,
                         cli->n_args == 1 ? "" : "s");
    return CLI_OK;
}

/* The spellings people try first. */
static const char *verb_name(const char *word)
{
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        return "help";
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0)
        return "version";
    return word;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? verb_name(argv[1]) : "help";
    struct cli cli = { .verb = cli_find(name) };
    AUTO_FREE char **args = NULL;

    if (!cli.verb)
        return cli_usage(NULL, "there is no verb '%s'; 'patchbay help' lists them", name);
    if (argc > 2 && (strcmp(argv[2], "--help") == 0 || strcmp(argv[2], "-h") == 0)) {
        cli = (struct cli){ .verb = &verb_help, .args = (char *[]){ argv[1], NULL }, .n_args = 1 };
        return verb_help.run(&cli);
    }
    args = mem_zero(((size_t)argc + 1) * sizeof *args);
    cli.args = args;
    if (argc > 2 && parse(&cli, argv + 2) != CLI_OK)
        return CLI_USAGE;
    if (argc <= 2 && cli.verb->min > 0)
        return cli_usage(cli.verb, "'%s' needs more", cli.verb->name);
    return cli.verb->run(&cli);
}
