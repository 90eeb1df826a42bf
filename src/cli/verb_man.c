#include "cli.h"
#include "hub/spec/spec.h"

/* troff takes a leading dot or quote as a command and a backslash as an escape. Lines that begin
 * with a space stand for themselves; what follows them begins a line, too. */
static void roff(const char *s)
{
    bool apart = false;

    for (bool line_start = true; *s; s++) {
        if (line_start && apart && *s != ' ')
            fputs(".br\n", stdout);
        if (line_start)
            apart = *s == ' ';
        if (line_start && (*s == '.' || *s == '\''))
            fputs("\\&", stdout);
        if (*s == '\\' || *s == '-')
            putchar('\\');
        putchar(*s);
        line_start = *s == '\n';
    }
}

static void man_options(const struct verb *verb)
{
    const struct option_spec *o;

    printf(".RS\n");
    for (int i = 0; (o = cli_option_row(verb, i)); i++) {
        printf(".TP\n");
        if (o->letter)
            printf("\\fB\\-%c\\fR, ", o->letter);
        printf("\\fB\\-\\-");
        roff(o->name);
        printf("\\fR%s\\fI%s\\fR%s\n", o->arg ? " " : "", o->arg ? o->arg : "",
               o->many ? "..." : "");
        roff(o->help);
        printf("\n");
    }
    printf(".RE\n");
}

static void man_verb(const struct verb *verb)
{
    printf(".TP\n\\fB%s\\fR", verb->name);
    if (*verb->usage) {
        printf(" \\fI");
        roff(verb->usage);
        printf("\\fR");
    }
    printf("\n");
    roff(verb->help);
    printf(".\n");
    if (verb->alias)
        printf("\\fBpatchbay %s\\fR is the same.\n", verb->alias);
    if (verb->text) {
        printf(".IP\n");
        roff(verb->text);
        printf("\n");
    }
    man_options(verb);
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

struct term {
    const char *name, *text;
};

static void man_terms(const char *title, const struct term *terms)
{
    printf(".SH %s\n", title);
    for (; terms->name; terms++) {
        printf(".TP\n.B ");
        roff(terms->name);
        printf("\n");
        roff(terms->text);
        printf("\n");
    }
}

static const struct term variables[] = {
    { "PATCHBAY_HOME", "the home directory, instead of $XDG_CONFIG_HOME/patchbay or "
                       "~/.config/patchbay" },
    { "PATCHBAY_TOKEN", "what clients of the daemon must send; --token goes before" },
    { "PATCHBAY_MCP_CLIENTS_CONFIG", "the file that --mcp-clients reads" },
    { "NO_COLOR", "when set: no colours, not even on a terminal" },
    { 0 },
};

static const struct term places[] = {
    { "config.json", "in the home directory: the servers, modes and settings" },
    { ".mcp.json", "in a project: its servers, read there when you trust them, and written with "
                   "--scope project" },
    { "mcp_clients.json", "in the home directory: more servers, for --mcp-clients" },
    { "trusted.json", "in the home directory: what you said about files of projects" },
    { "daemon.log", "in the home directory: what a daemon in the background says" },
    { "token", "in the home directory: what clients of the daemon must send" },
    { "patchbay.sock", "in $XDG_RUNTIME_DIR/patchbay, or with PATCHBAY_HOME in its run directory: "
                       "how the other verbs find the daemon" },
    { 0 },
};

static int run_man(struct cli *cli)
{
    (void)cli;
    printf(".TH PATCHBAY 1 \"\" \"patchbay %s\" \"User Commands\"\n", pb_version());
    printf(".SH NAME\npatchbay \\- plug MCP servers into whatever wants to use them\n");
    printf(".SH SYNOPSIS\n.B patchbay\n.I VERB\n[\\fIOPTION\\fR...]\n");
    printf(".SH DESCRIPTION\nWithout a verb the daemon is started, as with\n.BR serve .\n"
           "Results go to standard output, everything else to standard error.\n.SH VERBS\n");
    for (const struct verb_group *g = cli_groups; g->title; g++) {
        printf(".SS %s\n", g->title);
        for (const struct verb *const *v = g->verbs; *v; v++)
            man_verb(*v);
    }
    man_settings();
    man_terms("ENVIRONMENT", variables);
    man_terms("FILES", places);
    printf(".SH EXIT STATUS\n");
    for (const struct exit_text *e = cli_exits; e->text; e++)
        printf(".TP\n.B %d\n%s\n", e->code, e->text);
    return CLI_OK;
}

const struct verb verb_man = {
    .name = "man",
    .usage = "",
    .help = "Print the manual page (for man -l -)",
    .run = run_man,
};
