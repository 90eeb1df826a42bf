#include "show.h"
#include "talk.h"
#include <string.h>

#define VERBS(...) \
    (const struct verb *const[]) { __VA_ARGS__, NULL }

/* clang-format off */
const struct verb_group cli_groups[] = {
    { "Begin here",            VERBS(&verb_add, &verb_list, &verb_tools, &verb_describe, &verb_call, &verb_serve, &verb_console, &verb_mcp) },
    { "Servers",               VERBS(&verb_add_json, &verb_get, &verb_enable, &verb_disable, &verb_remove, &verb_doctor, &verb_mode, &verb_trust, &verb_verify, &verb_approve) },
    { "Resources and prompts", VERBS(&verb_resources, &verb_read, &verb_prompts, &verb_prompt) },
    { "Calls",                 VERBS(&verb_calls, &verb_object, &verb_policy, &verb_explain, &verb_questions, &verb_answer, &verb_grants) },
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
    const struct option_spec *o;
    char left[LEFT_MAX];
    size_t width = 0;

    for (int i = 0; (o = cli_option_row(verb, i)); i++) {
        size_t n = write_left(o, left);

        width = n > width ? n : width;
    }
    for (int i = 0; (o = cli_option_row(verb, i)); i++) {
        write_left(o, left);
        printf("  %-*s  %s\n", (int)width, left, o->help);
    }
}

static void help_verb(const struct verb *verb)
{
    printf("usage: patchbay %s%s%s\n\n%s.\n", verb->name, *verb->usage ? " " : "", verb->usage,
           verb->help);
    if (verb->alias)
        printf("'patchbay %s' is the same.\n", verb->alias);
    if (verb->text)
        printf("\n%s\n", verb->text);
    printf("\nOptions:\n");
    print_options(verb);
}

/* ---- for programs ---------------------------------------------------------------------------- */

static void write_options(struct json_out *o, const struct verb *verb)
{
    const struct option_spec *row;

    json_begin_array(o, "options");
    for (int i = 0; (row = cli_option_row(verb, i)); i++) {
        json_begin_object(o, NULL);
        json_put_str(o, "name", row->name);
        if (row->letter)
            json_put_span(o, "letter", span_make(&row->letter, 1));
        json_put_str_opt(o, "value", row->arg);
        json_put_bool(o, "many", row->many);
        json_put_str(o, "help", row->help);
        json_end(o);
    }
    json_end(o);
}

static void write_verb(struct json_out *o, const struct verb *verb)
{
    json_begin_object(o, NULL);
    json_put_str(o, "name", verb->name);
    json_put_str_opt(o, "alias", verb->alias);
    json_put_str(o, "usage", verb->usage);
    json_put_str(o, "help", verb->help);
    write_options(o, verb);
    json_end(o);
}

static void write_codes(struct json_out *o)
{
    json_begin_array(o, "exit_codes");
    for (const struct exit_text *e = cli_exits; e->text; e++) {
        json_begin_object(o, NULL);
        json_put_int(o, "code", e->code);
        json_put_str(o, "help", e->text);
        json_end(o);
    }
    json_end(o);
    json_begin_array(o, "error_codes");
    for (size_t i = 0; i < FAILURE_COUNT; i++) {
        json_begin_object(o, NULL);
        json_put_str(o, "code", cli_failures[i].word);
        json_put_int(o, "exit", cli_failures[i].exit);
        json_put_str(o, "help", cli_failures[i].help);
        json_end(o);
    }
    json_end(o);
}

/* All verbs, or one. */
static void print_json(const struct verb *only)
{
    AUTO_BUF struct buf out = { 0 };
    struct json_out o = json_out(&out);

    json_begin_object(&o, NULL);
    json_begin_array(&o, "verbs");
    for (const struct verb *const *v = cli_verbs; *v; v++)
        if (!only || *v == only)
            write_verb(&o, *v);
    json_end(&o);
    write_codes(&o);
    json_end(&o);
    show_json(buf_cstr(&out));
}

/* ---- the verb -------------------------------------------------------------------------------- */

static int run_help(struct cli *cli)
{
    const struct verb *verb = cli->n_args ? cli_find(cli->args[0]) : NULL;

    if (cli->n_args && !verb)
        return cli_usage(NULL, "there is no verb '%s'; 'patchbay help' lists them", cli->args[0]);
    if (cli_option(cli, "json")) {
        print_json(verb);
        return CLI_OK;
    }
    if (verb) {
        help_verb(verb);
        return CLI_OK;
    }
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
    .usage = "[VERB] [--json]",
    .help = "Tell what there is, or more about one verb",
    .max = 1,
    .options =
        (const struct option_spec[]){
            { 0, "json", NULL, "print verbs, options, exit codes and error codes as JSON" },
            { 0 },
        },
    .run = run_help,
};
