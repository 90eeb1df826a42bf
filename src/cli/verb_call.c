#include "arguments.h"
#include "reach.h"
#include "request.h"
#include "show.h"
#include <inttypes.h>

static int read_timeout(const struct cli *cli, uint32_t *ms)
{
    const char *text = cli_option(cli, "timeout");
    uintmax_t v;
    char *end;

    *ms = 0;
    if (!text)
        return CLI_OK;
    v = strtoumax(text, &end, 10);
    if (*end || end == text || v == 0 || v > UINT32_MAX)
        return cli_usage(cli->verb, "--timeout is a number of milliseconds, not '%s'", text);
    *ms = (uint32_t)v;
    return CLI_OK;
}

/* What the hub says about a call that went wrong on the way, in the words of a tool: its exit code,
 * or CLI_OK when they are a tool's own. */
static int tell_fault(const char *text)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena a = { 0 };
    struct json message;
    int status;

    if (text[0] != '{' || json_parse(&doc, span_of(text), NULL, NULL) < 0)
        return CLI_OK;
    message = json_get(json_root(&doc), "message");
    status = reach_fault_exit(json_str(json_get(json_root(&doc), "error"), &a));
    if (status != CLI_OK && json_is(message, JSON_STRING))
        fprintf(stderr, "patchbay: %s\n", show_member(json_root(&doc), "message", &a));
    return json_is(message, JSON_STRING) ? status : CLI_OK;
}

static int print_answer(const struct cli *cli, const struct cli_answer *a)
{
    int status = a->is_error ? tell_fault(a->text) : CLI_OK;

    if (cli_option(cli, "json"))
        show_json(a->json);
    else if (status == CLI_OK)
        show_text(a->text);
    return status != CLI_OK ? status : a->is_error ? CLI_TOOL_ERROR : CLI_OK;
}

static int call(const struct cli *cli, struct pb_client *client, const char *arguments,
                uint32_t timeout_ms)
{
    AUTO_BUF struct buf params = { 0 };
    struct json_out o = json_out(&params);
    struct cli_answer answer = { 0 };
    struct pb_error err;
    int status;

    json_begin_object(&o, NULL);
    json_put_str(&o, "name", cli->args[0]);
    json_put_raw(&o, "arguments", span_of(arguments));
    json_end(&o);
    if (cli_request(client, &(struct cli_asked){ "tools/call", buf_cstr(&params), timeout_ms },
                    &answer, &err) < 0)
        status = cli_fail(&err);
    else
        status = print_answer(cli, &answer);
    cli_answer_done(&answer);
    return status;
}

static int call_through_hub(const struct cli *cli, const char *arguments, uint32_t timeout_ms)
{
    AUTO(reach) struct reach *s = NULL;
    int status = reach_open(&s, cli, &(struct reach_wants){ .item = cli->args[0] });

    if (status == CLI_OK)
        status = reach_find(s, "tool", cli->args[0]);
    return status == CLI_OK ? call(cli, reach_client(s), arguments, timeout_ms) : status;
}

static int run_call(struct cli *cli)
{
    AUTO_BUF struct buf arguments = { 0 };
    struct pb_client *client = NULL;
    uint32_t timeout_ms;
    struct pb_error err;
    int status;

    if (read_timeout(cli, &timeout_ms) != CLI_OK)
        return CLI_USAGE;
    if (arguments_build(cli->args + 1, cli->n_args - 1, false, &arguments, &err) < 0)
        return cli_config_fail(&err);
    cli_catch_interrupt();
    if (!cli_has_server(cli))
        return call_through_hub(cli, buf_cstr(&arguments), timeout_ms);
    if (cli_connect(cli, &client, &err) < 0)
        return cli_fail(&err);
    status = call(cli, client, buf_cstr(&arguments), timeout_ms);
    pb_client_free(client);
    return status;
}

const struct verb verb_call = {
    .name = "call",
    .usage = "SERVER.TOOL [k=text | k:=json | k=@file | {...} | @file | -]...",
    .help = "Call one tool and print its result",
    .text = "The tool is one of a configured server, written server.tool, server/tool or\n"
            "server__tool; or with --url or -- COMMAND one of that server, under its own name.\n"
            "Progress goes to standard error, and Ctrl-C cancels the call on the server. The\n"
            "result is printed as a person would read it; with --json as the server sent it.",
    .min = 1,
    .max = -1,
    .takes_command = true,
    .options =
        (const struct option_spec[]){
            { 0, "json", NULL, "print the result as JSON" },
            { 't', "timeout", "MS", "give up after this many milliseconds" },
            CLI_SERVER_OPTIONS,
            CLI_HUB_OPTIONS,
            { 0 },
        },
    .run = run_call,
};
