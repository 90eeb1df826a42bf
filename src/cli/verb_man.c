#include "cli.h"
#include "hub/hub.h"

/* troff takes a leading dot or quote as a command and a backslash as an escape. */
static void roff(const char *s)
{
    for (bool line_start = true; *s; s++) {
        if (line_start && (*s == '.' || *s == '\''))
            fputs("\\&", stdout);
        if (*s == '\\' || *s == '-')
            putchar('\\');
        putchar(*s);
        line_start = *s == '\n';
    }
}

static void man_verb(const struct verb *verb)
{
    printf(".TP\n.B %s\n", verb->name);
    if (*verb->usage) {
        printf(".I \"");
        roff(verb->usage);
        printf("\"\n.br\n");
    }
    roff(verb->help);
    printf(".\n");
    if (verb->text) {
        printf(".IP\n");
        roff(verb->text);
        printf("\n");
    }
    for (const struct option_spec *o = verb->options; o && o->name; o++) {
        printf(".RS\n.TP\n.B ");
        if (o->letter)
            printf("\\-%c, ", o->letter);
        printf("\\-\\-%s %s%s\n", o->name, o->arg ? o->arg : "", o->many ? "..." : "");
        roff(o->help);
        printf("\n.RE\n");
    }
}

static void man_settings(void)
{
    printf(
        ".SH SETTINGS\nMembers of \"settings\" in config.json, with what they are by default.\n");
    for (const struct setting *s = settings_table; s->name; s++) {
        printf(".TP\n.B ");
        roff(s->name);
        printf(" (");
        roff(s->fallback);
        printf(")\n");
        roff(s->help);
        printf("\n");
    }
}

static int run_man(struct cli *cli)
{
    (void)cli;
    printf(".TH PATCHBAY 1 \"\" \"patchbay %s\" \"User Commands\"\n", pb_version());
    printf(".SH NAME\npatchbay \\- plug MCP servers into whatever wants to use them\n");
    printf(".SH SYNOPSIS\n.B patchbay\n.I VERB\n[\\fIOPTION\\fR...]\n.SH VERBS\n");
    for (const struct verb *const *v = cli_verbs; *v; v++)
        man_verb(*v);
    man_settings();
    printf(".SH EXIT STATUS\n0 ok, 1 usage, 3 login needed, 4 unreachable, 5 the tool failed.\n");
    return CLI_OK;
}

const struct verb verb_man = {
    .name = "man",
    .usage = "",
    .help = "Print the manual page (for man -l -)",
    .run = run_man,
};
