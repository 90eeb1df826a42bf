#include "cli.h"
#include <inttypes.h>
#include <string.h>

/* Arguments: one JSON object, or words: k=text, k:=json. */
static int build_arguments(const struct cli *cli, struct buf *out, struct pb_error *err)
{
    struct json_out o = json_out(out);

    if (cli->n_args == 2 && cli->args[1][0] == '{') {
        buf_str(out, cli->args[1]);
        return 0;
    }
    json_begin_object(&o, NULL);
    for (int i = 1; i < cli->n_args; i++) {
        const char *word = cli->args[i];
        const char *eq = strchr(word, '=');
        bool json = eq && eq > word && eq[-1] == ':';
        AUTO_JSON struct json_doc doc = { 0 };
        AUTO_BUF struct buf quoted = { 0 };

        if (!eq || eq == word)
            return fail(err, PB_E_INVALID, "'%s' is not k=text, k:=json or a JSON object", word);
        if (json && json_parse(&doc, span_of(eq + 1), NULL, err) < 0)
            return fail_in(err, "the value in '%.*s'", (int)(eq - word + 1), word);
        if (!json)
            json_quote(&quoted, span_of(eq + 1));
        json_put_raw_key(&o, span_make(word, (size_t)(eq - word) - json),
                         json ? span_of(eq + 1) : buf_span(&quoted));
    }
    json_end(&o);
    return 0;
}

static void show_progress(void *ctx, double progress, double total, const char *message)
{
    (void)ctx;
    if (total > 0)
        fprintf(stderr, "%g/%g %s\n", progress, total, message ? message : "");
    else
        fprintf(stderr, "%g %s\n", progress, message ? message : "");
}

/* To a terminal line by line, without what could move its cursor or change its colours; anywhere
 * else the bytes as they are. */
static void print_text(char *text)
{
    if (!isatty(STDOUT_FILENO)) {
        puts(text);
        return;
    }
    for (char *line = text, *end; line; line = end) {
        end = strchr(line, '\n');
        if (end)
            *end++ = '\0';
        text_make_printable(line);
        puts(line);
    }
}

static int print_result(const struct cli *cli, const struct pb_result *result)
{
    if (cli_option(cli, "json")) {
        puts(pb_result_json(result, NULL));
    } else {
        AUTO_FREE char *text = pb_result_text(result);

        print_text(text);
    }
    return pb_result_is_error(result) ? CLI_TOOL_ERROR : CLI_OK;
}

static int run_call(struct cli *cli)
{
    struct pb_request_options request = PB_REQUEST_OPTIONS_INIT;
    const char *timeout = cli_option(cli, "timeout");
    AUTO_BUF struct buf arguments = { 0 };
    struct pb_client *client = NULL;
    struct pb_result *result = NULL;
    struct pb_error err;
    int status;

    if (!cli_has_server(cli))
        return cli_usage(cli->verb, "which server? give --url URL or -- COMMAND");
    if (timeout) {
        char *end;
        uintmax_t ms = strtoumax(timeout, &end, 10);

        if (*end || end == timeout || ms == 0 || ms > UINT32_MAX)
            return cli_usage(cli->verb, "--timeout is a number of milliseconds, not '%s'", timeout);
        request.timeout_ms = (uint32_t)ms;
    }
    if (build_arguments(cli, &arguments, &err) < 0 || cli_connect(cli, &client, &err) < 0)
        return cli_fail(&err);
    request.on_progress = show_progress;
    if (pb_client_call(client, cli->args[0], buf_cstr(&arguments), &request, &result, &err) < 0)
        status = cli_fail(&err);
    else
        status = print_result(cli, result);
    pb_result_free(result);
    pb_client_free(client);
    return status;
}

const struct verb verb_call = {
    .name = "call",
    .usage = "TOOL [k=text | k:=json | {...}]... --url URL | -- COMMAND ARG...",
    .help = "Call one tool of a server and print its result",
    .text = "Progress goes to standard error. The result is printed as a person would read it;\n"
            "with --json as the server sent it.",
    .min = 1,
    .max = -1,
    .takes_command = true,
    .options =
        (const struct option_spec[]){
            CLI_SERVER_OPTIONS,
            { 0, "json", NULL, "print the result as JSON" },
            { 't', "timeout", "MS", "give up after this many milliseconds (30000)" },
            { 0 },
        },
    .run = run_call,
};
