#include "reach.h"
#include "request.h"
#include "show.h"
#include <time.h>

static bool as_json;
static const struct cli *asked; /* which servers are wanted; NULL or no arguments: all */

static bool is_wanted(struct json e)
{
    if (!asked || !asked->n_args)
        return true;
    for (int i = 0; i < asked->n_args; i++)
        if (json_str_is(json_get(e, "server"), asked->args[i]))
            return true;
    return false;
}

static void print_entry(struct json e)
{
    AUTO_ARENA struct arena a = { 0 };
    const char *level = show_member(e, "level", &a);
    enum show_color color = strcmp(level, "error") == 0     ? SHOW_RED
                            : strcmp(level, "warning") == 0 ? SHOW_YELLOW
                            : strcmp(level, "debug") == 0   ? SHOW_GRAY
                                                            : SHOW_PLAIN;
    double at = 0;
    time_t seconds;
    struct tm tm;
    char when[32] = "";

    if (!is_wanted(e))
        return;
    if (as_json) {
        show_json(arena_dup(&a, json_text(e)));
        return;
    }
    if (json_double(json_get(e, "timestamp"), &at, NULL) == 0) {
        seconds = (time_t)at;
        if (localtime_r(&seconds, &tm))
            strftime(when, sizeof when, "%H:%M:%S", &tm);
    }
    printf("%s %s%-7s%s %s%s %s\n", when, show_on(color), level, show_off(),
           show_member(e, "server", &a),
           strcmp(show_member(e, "source", &a), "stderr") == 0 ? " |" : ":",
           show_member(e, "message", &a));
}

static void print_all(const char *text)
{
    AUTO_JSON struct json_doc doc = { 0 };

    if (json_parse(&doc, span_of(text), NULL, NULL) < 0)
        return;
    JSON_FOREACH(e, json_get(json_root(&doc), "entries"))
        print_entry(e);
    fflush(stdout);
}

static void notified(const char *method, const char *params)
{
    AUTO_JSON struct json_doc doc = { 0 };

    if (strcmp(method, "notifications/patchbay/logs") == 0)
        print_all(params);
    if (strcmp(method, "notifications/patchbay/log") != 0 ||
        json_parse(&doc, span_of(params), NULL, NULL) < 0)
        return;
    print_entry(json_root(&doc));
    fflush(stdout);
}

static int build_params(const struct cli *cli, struct buf *out)
{
    const char *lines = cli_option(cli, "lines");
    struct json_out o = json_out(out);
    char *end;
    unsigned long n = lines ? strtoul(lines, &end, 10) : 50;

    if (lines && (*end || end == lines))
        return cli_usage(cli->verb, "--lines is a number, not '%s'", lines);
    json_begin_object(&o, NULL);
    json_put_str_opt(&o, "server", cli->n_args == 1 ? cli->args[0] : NULL);
    json_put_uint(&o, "lines", n);
    json_put_bool(&o, "follow", cli_option(cli, "follow") != NULL);
    json_end(&o);
    return CLI_OK;
}

/* Several are chosen here, so that the hub does not know whether they are there. */
static int check_servers(struct reach *s, const struct cli *cli)
{
    for (int i = 0; cli->n_args > 1 && i < cli->n_args; i++) {
        AUTO_FREE char *params = reach_params("server", cli->args[i]);
        struct pb_result *ignored = NULL;
        struct pb_error err;

        if (reach_request(s, "patchbay/server", params, &ignored, &err) < 0)
            return reach_fail(&err);
        pb_result_free(ignored);
    }
    return CLI_OK;
}

static int run_logs(struct cli *cli)
{
    AUTO(reach) struct reach *s = NULL;
    AUTO_BUF struct buf params = { 0 };
    struct cli_answer answer = { 0 };
    struct pb_error err;
    struct cli_asked what = { .method = "patchbay/logs" };
    int status;

    if (build_params(cli, &params) != CLI_OK)
        return CLI_USAGE;
    as_json = cli_option(cli, "json") != NULL;
    asked = cli;
    status =
        reach_open(&s, cli, &(struct reach_wants){ .daemon_only = true, .notified = notified });
    if (status == CLI_OK)
        status = check_servers(s, cli);
    if (status != CLI_OK)
        return status;
    what.params = buf_cstr(&params);
    what.timeout_ms = cli_option(cli, "follow") ? UINT32_MAX : 0;
    if (cli_request(reach_client(s), &what, &answer, &err) == 0)
        print_all(answer.json);
    else if (err.code == PB_E_CANCELLED)
        status = CLI_INTERRUPTED; /* as it was meant to end: nothing is to be told */
    else
        status = reach_fail(&err);
    cli_answer_done(&answer);
    return status;
}

const struct verb verb_logs = {
    .name = "logs",
    .usage = "[SERVER]... [-f] [-n N]",
    .help = "Show what servers wrote to stderr, and what happened to them",
    .text = "The lines of several servers, or of all, are shown in the order of their time.",
    .max = -1,
    .options =
        (const struct option_spec[]){
            { 'f', "follow", NULL, "go on as lines come, until Ctrl-C" },
            { 'n', "lines", "N", "at most this many of each server's last lines (50)" },
            { 0, "json", NULL, "one JSON object a line" },
            { 0 },
        },
    .run = run_logs,
};
