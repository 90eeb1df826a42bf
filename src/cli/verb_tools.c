#include "cli.h"

/* A tool as one line: its name and the first line of its description. Control characters of a
 * server must not move our reader's cursor. */
static void print_tool(struct json tool)
{
    AUTO_ARENA struct arena arena = { 0 };
    char *name = arena_dup(&arena, json_str(json_get(tool, "name"), &arena));
    char *about = arena_dup(&arena, json_str(json_get(tool, "description"), &arena));
    char *end = strchr(about, '\n');

    if (end)
        *end = '\0';
    text_make_printable(name);
    text_make_printable(about);
    printf("%-28s %s\n", name, about);
}

static int print_tools(const char *text, size_t n)
{
    AUTO_JSON struct json_doc doc = { 0 };
    struct pb_error err;

    if (json_parse(&doc, span_make(text, n), NULL, &err) < 0)
        return cli_fail(&err);
    JSON_FOREACH(tool, json_root(&doc))
        print_tool(tool);
    return CLI_OK;
}

static int run_tools(struct cli *cli)
{
    struct pb_client *client = NULL;
    struct pb_result *tools = NULL;
    struct pb_error err;
    int status;

    if (!cli_has_server(cli))
        return cli_usage(cli->verb, "which server? give --url URL or -- COMMAND");
    if (cli_connect(cli, &client, &err) < 0)
        return cli_fail(&err);
    if (pb_client_list(client, "tools", &tools, &err) < 0) {
        status = cli_fail(&err);
    } else {
        size_t n;
        const char *text = pb_result_json(tools, &n);

        status = cli_option(cli, "json") ? (puts(text), CLI_OK) : print_tools(text, n);
    }
    pb_result_free(tools);
    pb_client_free(client);
    return status;
}

const struct verb verb_tools = {
    .name = "tools",
    .usage = "[--json] --url URL | -- COMMAND ARG...",
    .help = "List the tools of a server",
    .takes_command = true,
    .options =
        (const struct option_spec[]){
            CLI_SERVER_OPTIONS,
            { 0, "json", NULL, "print the definitions as JSON" },
            { 0 },
        },
    .run = run_tools,
};
