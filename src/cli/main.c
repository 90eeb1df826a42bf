#include "cli.h"
#include "face/caller/caller.h"
#include "request.h"
#include "talk.h"
#include "token.h"
#include <stdarg.h>
#include <string.h>

/* clang-format off */
const struct verb *const cli_verbs[] = {
    &verb_add,
    &verb_add_json,
    &verb_answer,
    &verb_approve,
    &verb_call,
    &verb_calls,
    &verb_cancel,
    &verb_completion,
    &verb_connect,
    &verb_console,
    &verb_describe,
    &verb_disable,
    &verb_disconnect,
    &verb_doctor,
    &verb_enable,
    &verb_explain,
    &verb_get,
    &verb_grants,
    &verb_help,
    &verb_list,
    &verb_logs,
    &verb_man,
    &verb_mcp,
    &verb_mode,
    &verb_object,
    &verb_ping,
    &verb_policy,
    &verb_prompt,
    &verb_prompts,
    &verb_questions,
    &verb_read,
    &verb_reconnect,
    &verb_remove,
    &verb_resources,
    &verb_restart,
    &verb_serve,
    &verb_service,
    &verb_status,
    &verb_stop,
    &verb_token,
    &verb_tools,
    &verb_trust,
    &verb_verify,
    &verb_version,
    NULL,
};
/* clang-format on */

const struct verb *cli_find(const char *name)
{
    for (const struct verb *const *v = cli_verbs; *v; v++)
        if (strcmp((*v)->name, name) == 0 || ((*v)->alias && strcmp((*v)->alias, name) == 0))
            return *v;
    return NULL;
}

const struct exit_text cli_exits[] = {
    { CLI_OK, "all is well" },
    { CLI_USAGE, "the command line or a file of yours is wrong, or names nothing" },
    { CLI_AUTH, "the server wants a login" },
    { CLI_UNREACHABLE, "the server or the daemon cannot be reached" },
    { CLI_TOOL_ERROR, "the tool ran and failed, or a definition is not what was approved" },
    { CLI_INTERRUPTED, "Ctrl-C" },
    { 0 },
};

int cli_fail(const struct pb_error *err)
{
    static const struct {
        enum pb_code code;
        enum cli_failure what;
    } rows[] = {
        { PB_E_AUTH, FAILURE_AUTH },        { PB_E_CANCELLED, FAILURE_INTERRUPTED },
        { PB_E_INVALID, FAILURE_INVALID },  { PB_E_NOT_FOUND, FAILURE_NOT_FOUND },
        { PB_E_REMOTE, FAILURE_TOOL },      { PB_E_TIMEOUT, FAILURE_TIMEOUT },
        { PB_E_UNSUPPORTED, FAILURE_TOOL },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (rows[i].code == err->code)
            return talk_fail(rows[i].what, "%s", err->msg);
    return talk_fail(FAILURE_UNREACHABLE, "%s", err->msg);
}

int cli_usage(const struct verb *verb, const char *fmt, ...)
{
    AUTO_BUF struct buf text = { 0 }, usage = { 0 };
    va_list ap;

    va_start(ap, fmt);
    buf_vprintf(&text, fmt, ap);
    va_end(ap);
    buf_printf(&usage, "usage: patchbay %s%s%s", verb ? verb->name : "VERB [OPTION...]",
               verb && *verb->usage ? " " : "", verb ? verb->usage : "");
    return talk_trouble(&(struct trouble){ .what = FAILURE_USAGE,
                                           .message = buf_cstr(&text),
                                           .hint = buf_cstr(&usage),
                                           .before = "\n" });
}

/* ---- options --------------------------------------------------------------------------------- */

/* Of every verb. */
static const struct option_spec common_options[] = {
    { 'q', "quiet", NULL, "say nothing on standard error but errors" },
    { 0 },
};

const struct option_spec *cli_option_row(const struct verb *verb, int i)
{
    int own = 0;

    while (verb->options && verb->options[own].name) {
        if (own == i)
            return &verb->options[own];
        own++;
    }
    return i - own < (int)ARRAY_LEN(common_options) - 1 ? &common_options[i - own] : NULL;
}

static int option_place(const struct verb *verb, const char *name)
{
    const struct option_spec *o;

    for (int i = 0; (o = cli_option_row(verb, i)); i++)
        if (strcmp(o->name, name) == 0)
            return i;
    return -1;
}

const char *cli_option(const struct cli *cli, const char *name)
{
    int i = option_place(cli->verb, name);

    return i < 0 ? NULL : cli->values[i];
}

const char *const *cli_option_list(const struct cli *cli, const char *name)
{
    int i = option_place(cli->verb, name);

    return i < 0 ? NULL : cli->lists[i];
}

void cli_set_option(struct cli *cli, const char *name, const char *value)
{
    int i = option_place(cli->verb, name);

    if (i >= 0 && !cli->values[i])
        cli->values[i] = value;
}

/* "--name", "--name=value", "-n", "-nvalue". */
static int find_option(const struct verb *verb, const char *word, const char **value)
{
    const struct option_spec *o;
    const char *eq = strchr(word, '=');
    size_t n = eq ? (size_t)(eq - word) : strlen(word);
    bool is_long = strncmp(word, "--", 2) == 0;

    for (int i = 0; (o = cli_option_row(verb, i)); i++) {
        if (is_long && strlen(o->name) == n - 2 && strncmp(o->name, word + 2, n - 2) == 0) {
            *value = eq ? eq + 1 : NULL;
            return i;
        }
        if (!is_long && o->letter && word[1] == o->letter && (!word[2] || o->arg)) {
            *value = word[2] ? word + 2 : NULL;
            return i;
        }
    }
    return -1;
}

const struct option_spec *cli_option_word(const struct verb *verb, const char *word)
{
    const char *value;
    int i = word[0] == '-' && word[1] ? find_option(verb, word, &value) : -1;

    return i < 0 ? NULL : cli_option_row(verb, i);
}

static int unknown_option(const struct verb *verb, const char *word)
{
    AUTO_BUF struct buf near = { 0 };
    const char *names[CLI_OPTIONS_MAX + 1] = { 0 };

    for (int i = 0; cli_option_row(verb, i); i++)
        names[i] = cli_option_row(verb, i)->name;
    near_write_of(&near, span_of(word + strspn(word, "-")), names);
    /* What stands behind '=' may be a secret. */
    return cli_usage(verb, "unknown option '%.*s'%s", (int)strcspn(word, "="), word,
                     buf_cstr(&near));
}

static void keep_value(struct cli *cli, int which, const char *value, bool many, char *const *rest)
{
    const char **list = cli->lists[which];
    size_t n = 0;

    cli->values[which] = value;
    if (!many)
        return;
    if (!list) {
        while (rest[n])
            n++;
        /* at most every word from here on is one more of these */
        list = cli->lists[which] = arena_alloc(&cli->arena, (n + 2) * sizeof *list);
    }
    while (*list)
        list++;
    *list = value;
}

/* Takes the option at argv[*i], moving past its value. */
static int take_option(struct cli *cli, char **argv, int *i)
{
    const char *value;
    int which = find_option(cli->verb, argv[*i], &value);
    const struct option_spec *o = which < 0 ? NULL : cli_option_row(cli->verb, which);

    if (!o)
        return unknown_option(cli->verb, argv[*i]);
    if (!o->arg && value)
        return cli_usage(cli->verb, "--%s takes no value", o->name);
    if (o->arg && !value) {
        if (!argv[*i + 1])
            return cli_usage(cli->verb, "--%s needs a value: %s", o->name, o->arg);
        value = argv[++*i];
    }
    keep_value(cli, which, value ? value : "", o->many, argv + *i);
    return CLI_OK;
}

static bool is_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

static int wrong_count(const struct cli *cli)
{
    const struct verb *v = cli->verb;

    if (cli->n_args < v->min)
        return cli_usage(v, "'%s' needs %s", v->name, cli->n_args ? "more than that" : "more");
    if (v->max == 0)
        return cli_usage(v, "'%s' takes no arguments; what is '%s'?", v->name, cli->args[0]);
    return cli_usage(v, "'%s' takes no more than %d argument%s; what is '%s'?", v->name, v->max,
                     v->max == 1 ? "" : "s", cli->args[v->max]);
}

int cli_parse(struct cli *cli, char **argv, bool *help)
{
    bool options = true;

    for (int i = 0; argv[i]; i++) {
        if (options && strcmp(argv[i], "--") == 0 && cli->verb->takes_command) {
            if (!argv[i + 1])
                return cli_usage(cli->verb, "a command must follow \"--\"");
            cli->command = argv + i + 1;
            break;
        }
        if (options && is_help(argv[i])) {
            *help = true;
            return CLI_OK;
        }
        if (options && argv[i][0] == '-' && argv[i][1]) {
            if (take_option(cli, argv, &i) != CLI_OK)
                return CLI_USAGE;
            continue;
        }
        cli->args[cli->n_args++] = argv[i];
        if (options && cli->verb->ends_options)
            options = !cli->verb->ends_options(cli, argv + i + 1);
    }
    if (cli->lenient)
        return CLI_OK;
    if (cli->n_args < cli->verb->min || (cli->verb->max >= 0 && cli->n_args > cli->verb->max))
        return wrong_count(cli);
    return CLI_OK;
}

/* The spellings people try first. */
static const char *verb_name(const char *word)
{
    if (is_help(word))
        return "help";
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0)
        return "version";
    return word;
}

/* Errors of the command line itself are told as they will be when it is understood. */
static bool is_among(char *const *words, const char *word)
{
    for (; *words && strcmp(*words, "--") != 0; words++)
        if (strcmp(*words, word) == 0)
            return true;
    return false;
}

static int run_verb(struct cli *cli, int argc, char **argv)
{
    bool help = false;

    if (argc > 2 && cli_parse(cli, argv + 2, &help) != CLI_OK)
        return CLI_USAGE;
    talk_set(cli_option(cli, "json") != NULL, cli_option(cli, "quiet") != NULL);
    if (help)
        return verb_help.run(&(struct cli){
            .verb = &verb_help, .args = (char *[]){ (char *)cli->verb->name, NULL }, .n_args = 1 });
    if (argc <= 2 && cli->verb->min > 0)
        return cli_usage(cli->verb, "'%s' needs more", cli->verb->name);
    if (!cli->verb->serves)
        cli_catch_interrupt();
    return cli->verb->run(cli);
}

static int unknown_verb(const char *name)
{
    const char *names[64] = { 0 };
    AUTO_BUF struct buf near = { 0 };

    for (size_t i = 0; cli_verbs[i] && i < ARRAY_LEN(names) - 1; i++)
        names[i] = cli_verbs[i]->name;
    if (!near_write_of(&near, span_of(name), names))
        buf_str(&near, "; 'patchbay help' lists them");
    return cli_usage(NULL, "there is no verb '%s'%s", name, buf_cstr(&near));
}

/* A full disk must not look like success. */
static int check_output(int status)
{
    if ((fflush(stdout) == 0 && !ferror(stdout)) || status != CLI_OK)
        return status;
    return talk_fail(FAILURE_FILE, "the output cannot be written");
}

/* Before anybody blots out a token. What has gone to the background is there. */
static char **copy_words(struct arena *a, int argc, char **argv)
{
    char **words = arena_alloc(a, ((size_t)argc + 1) * sizeof *words), **next = words;

    for (int i = 0; i < argc; i++)
        if (strcmp(argv[i], "--background") != 0 && strcmp(argv[i], "-b") != 0)
            *next++ = arena_dup(a, span_of(argv[i]));
    *next = NULL;
    return words;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? verb_name(argv[1]) : "serve";
    struct cli cli = { .verb = cli_find(name) };
    int status;

    token_hide();
    talk_set(argc > 1 && is_among(argv + 1, "--json"), false);
    if (!cli.verb)
        return unknown_verb(name);
    cli.argv = copy_words(&cli.arena, argc, argv);
    cli.args = arena_alloc(&cli.arena, ((size_t)argc + 1) * sizeof *cli.args);
    status = run_verb(&cli, argc, argv);
    arena_done(&cli.arena);
    return check_output(status);
}
