#include "calls.h"

/* What the values of filters are called; those of which there are few, or which are known, can be
 * completed. */
#define VALUE_server       "SERVER"
#define VALUE_tool         "TOOL"
#define VALUE_caller       "CALLER"
#define VALUE_status       "STATUS"
#define VALUE_source       "SOURCE"
#define VALUE_face         "FACE"
#define VALUE_run          "RUN"
#define VALUE_conversation "CONVERSATION"
#define VALUE_parent       "CALL"
#define VALUE_text         "WORDS"

static int run_list(const struct cli *cli)
{
    if (!cli_option(cli, "follow"))
        return calls_list(cli);
    if (cli_option(cli, "all-pages") || cli_option(cli, "before"))
        return cli_usage(cli->verb, "--follow shows the newest, and takes neither --all-pages nor "
                                    "--before");
    return calls_follow(cli);
}

static int run_calls(struct cli *cli)
{
    static const struct {
        const char *name;
        int args;
        int (*run)(const struct cli *cli);
    } deeds[] = { { "show", 2, calls_show }, { "export", 1, calls_export }, { "rm", 1, calls_rm } };

    if (!cli->n_args)
        return run_list(cli);
    for (size_t i = 0; i < ARRAY_LEN(deeds); i++) {
        if (strcmp(cli->args[0], deeds[i].name) != 0)
            continue;
        if (cli->n_args != deeds[i].args)
            return cli_usage(cli->verb,
                             deeds[i].args == 2 ? "give the call's id, or its number"
                                                : "'%s' takes no more words; options choose calls",
                             cli->args[0]);
        return deeds[i].run(cli);
    }
    return cli_usage(cli->verb, "'%s' is none of show, export and rm", cli->args[0]);
}

const struct verb verb_calls = {
    .name = "calls",
    .usage = "[show|export|rm] [ID] [-f] [-n N] [--since WHEN] [--text WORDS] ...",
    .help = "Show recorded calls, follow them, export or delete them",
    .text =
        "    patchbay calls                 the last ones, a line each, the newest last\n"
        "    patchbay calls show ID         all of one: arguments, result, who allowed it\n"
        "    patchbay calls export          for other programs, the newest first\n"
        "    patchbay calls rm              delete all, or those from before a time\n"
        "A line has the number, the time, how it went, who asked whom for what, how long it took\n"
        "and why it failed. ID is that number, the id, or at least six characters of that.\n"
        "WHEN is a time back (10m, 2h, 1d), a date (2026-01-31, 2026-01-31T12:00) or seconds\n"
        "since 1970. Calls are recorded by the daemon, unless it was started with --no-record.",
    .max = 2,
    .options =
        (const struct option_spec[]){
            { 'f', "follow", NULL, "go on as calls and questions come, until Ctrl-C" },
            { 'n', "lines", "N", "at most this many (50)" },
#define X(member, help) { 0, #member, VALUE_##member, help },
            CALL_FILTERS(X)
#undef X
                { 0, "since", "WHEN", "only what was asked for at this time or later" },
            { 0, "until", "WHEN", "only what was asked for at this time or earlier" },
            { 0, "before", "NO", "only those with a smaller number; of rm, WHEN: only older ones" },
            { 0, "all-pages", NULL, "all that there are" },
            { 0, "format", "FORMAT", "of export: jsonl (the default), har or otlp" },
            { 'y', "yes", NULL, "of rm: do not ask" },
            { 0, "json", NULL, "print as JSON; with --follow an object a line" },
            CLI_HUB_OPTIONS,
            { 0 },
        },
    .run = run_calls,
};
