/* cli.h - the program: one table of verbs, one file per verb. Only this room exits or prints to a
 * person: results go to stdout, talk goes to stderr. Help, man page and shell completion are all
 * printed from the table, so that none of them can drift.
 *
 *   main.c         the table of verbs; options; exit codes
 *   again.c        the program begins anew in its own place
 *   arguments.c    a tool's arguments from words or JSON
 *   arguments_call.c   the same from tool(k: value)
 *   arguments_write.c  what they mean, by the tool's schema
 *   background.c   going on without a terminal
 *   calls_list.c   recorded calls, a line each
 *   calls_show.c   all of one
 *   calls_export.c all of them, for other programs, or deleted
 *   candidates.c   what may stand here: for shell completion
 *   daemon.c       the daemon: config, hub, listeners, until it is told to end
 *   daemon_log.c   its warnings, bounded
 *   definition.c   what a server says of a tool or prompt
 *   describe.c     one tool or prompt, with all that is said of it
 *   ending.c       a daemon is told to end, and has
 *   example.c      a call of a tool that can be pasted
 *   exam.c         one server, looked at step by step
 *   home.c         the file in which servers are kept, and reading it
 *   hub_flags.c    options about config and hub, common to many verbs
 *   program.c      is the program of a server there
 *   project.c      the file of a project: where it is, what is in it
 *   project_ask.c  whether its servers are used
 *   question.c     a person answers what a server asks
 *   question_form.c    the same when it is a form
 *   reach.c        a hub: the daemon's, or one in this process
 *   records.c      what was recorded: where it is, who has it
 *   remembered.c   lists that servers said once
 *   request.c      one request, and Ctrl-C
 *   reread.c       what is read again when it changes
 *   saved.c        bytes of an answer as files
 *   server.c       a server that is named by a command or URL, without any hub
 *   show.c         printing: JSON, tables, colours
 *   signature.c    a tool in one line
 *   taken.c        what a verb changed in a file is taken over by the daemon
 *   talk.c         what is said beside the result: errors, warnings, notes
 *   token.c        what HTTP clients must send: where it comes from, who must not see it
 *   trust.c        what a person said about files of projects
 *   waiting.c      a line that moves while servers are waited for
 *   wanted.c       what a schema wants of a value
 *   when.c         moments and spans of time as people type them */
#pragma once
#include "patchbay.h"
#include "json/json.h"
#include <stdio.h>

enum cli_exit {
    CLI_OK = 0,
    CLI_USAGE = 1,
    CLI_AUTH = 3,          /* the server wants a login */
    CLI_UNREACHABLE = 4,   /* cannot be started, dialled or talked to */
    CLI_TOOL_ERROR = 5,    /* the tool ran and failed; a definition is not what was approved */
    CLI_INTERRUPTED = 130, /* Ctrl-C, as shells say it */
};

enum { CLI_OPTIONS_MAX = 32 };

struct option_spec {
    char letter;      /* 0: only the long name */
    const char *name; /* ends the list when NULL */
    const char *arg;  /* what the value is called in the help; NULL: a flag */
    const char *help;
    bool many; /* may be given again and again: cli_option_list() */
};

struct cli;

struct verb {
    const char *name, *usage, *help;
    const char *alias;  /* what people type who know it from elsewhere; may be NULL */
    const char *text;   /* more for the man page; may be NULL */
    int min, max;       /* arguments before "--"; max < 0: any number */
    bool takes_command; /* "-- COMMAND ARG..." names a server to start */
    bool serves;        /* it goes on until it is told to end, and takes signals itself */
    const struct option_spec *options;
    /* Asked after each argument: is what follows (`rest`) no option of ours any more, because it
     * belongs to a command that the arguments name? NULL: options may stand anywhere. */
    bool (*ends_options)(const struct cli *cli, char *const *rest);
    int (*run)(struct cli *cli);
};

struct cli {
    const struct verb *verb;
    char **argv; /* all words as they came, but for --background: see again.h. A copy */
    char **args;
    int n_args;
    char **command;                      /* after "--"; NULL-ended; NULL if there was none */
    const char *values[CLI_OPTIONS_MAX]; /* by cli_option_row(); "" for a flag that is set */
    const char **lists[CLI_OPTIONS_MAX]; /* the same for options that may be repeated */
    struct arena arena;
    bool lenient; /* the command line is not complete yet: any number of arguments will do */
};

/* Sorted by name, ended by NULL. */
extern const struct verb *const cli_verbs[];
extern const struct verb verb_add, verb_add_json, verb_answer, verb_approve, verb_call, verb_calls,
    verb_cancel, verb_completion, verb_connect, verb_console, verb_describe, verb_disable,
    verb_disconnect, verb_doctor, verb_enable, verb_explain, verb_get, verb_grants, verb_help,
    verb_list, verb_logs, verb_man, verb_mcp, verb_mode, verb_object, verb_ping, verb_policy,
    verb_prompt, verb_prompts, verb_questions, verb_read, verb_reconnect, verb_remove,
    verb_resources, verb_restart, verb_serve, verb_service, verb_status, verb_stop, verb_token,
    verb_tools, verb_trust, verb_verify, verb_version;

const struct verb *cli_find(const char *name);
/* The same in the order in which people need them; ended by title NULL. Each verb is in one. */
struct verb_group {
    const char *title;
    const struct verb *const *verbs; /* ended by NULL */
};
extern const struct verb_group cli_groups[];
/* What exit codes mean; ended by text NULL. */
struct exit_text {
    int code;
    const char *text;
};
extern const struct exit_text cli_exits[];

/* The options of a verb, one by one: its own, then those that every verb has; NULL: no more. */
const struct option_spec *cli_option_row(const struct verb *verb, int i);
/* Reads options and arguments of cli->verb. CLI_USAGE after saying what is wrong; *help: it was
 * asked for instead. */
int cli_parse(struct cli *cli, char **argv, bool *help);
/* The option that a word like "--name" or "-n" means; NULL: none. */
const struct option_spec *cli_option_word(const struct verb *verb, const char *word);
/* NULL when not given; the last when given several times. */
const char *cli_option(const struct cli *cli, const char *name);
/* Everything that was given, in order, NULL-ended; NULL when nothing was. */
const char *const *cli_option_list(const struct cli *cli, const char *name);
/* What a pasted line says about an option that was not given. `value` is borrowed. */
void cli_set_option(struct cli *cli, const char *name, const char *value);
/* Tells the error, and gives the exit code that belongs to it. */
int cli_fail(const struct pb_error *err);
int cli_usage(const struct verb *verb, const char *fmt, ...) PRINTF(2, 3);

/* Connects to what --url or "-- COMMAND" names. The options every such verb has: */
#define CLI_SERVER_OPTIONS                                                               \
    { 'u', "url", "URL", "the server to talk to (Streamable HTTP or SSE)" },             \
        { 'H', "header", "LINE", "a header for that server, as \"Name: value\"", true }, \
    {                                                                                    \
        0, "era", "ERA", "legacy or modern; found out by asking when left out"           \
    }
int cli_connect(const struct cli *cli, struct pb_client **out, struct pb_error *err);
bool cli_has_server(const struct cli *cli);
/* For verbs whose first argument is a server: a URL there is the same as with --url, and is taken
 * away from the arguments. */
void cli_take_url(struct cli *cli);
