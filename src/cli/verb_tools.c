#include "describe.h"
#include "hub/spec/spec.h"
#include "remembered.h"
#include "show.h"

/* ---- of one server that is named here and now ----------------------------------------------- */

static const char *arguments_of(struct json definition, struct arena *a)
{
    AUTO_BUF struct buf text = { 0 };

    describe_arguments(&text, definition);
    return arena_dup(a, buf_span(&text));
}

static void print_bare(struct json items, bool prompts)
{
    AUTO_ARENA struct arena a = { 0 };
    struct show_table *t = show_table_new(2 + prompts);

    JSON_FOREACH(item, items) {
        const char *cells[3] = { show_member(item, "name", &a) };

        if (prompts)
            cells[1] = arguments_of(item, &a);
        cells[1 + prompts] = show_member(item, "description", &a);
        show_row(t, SHOW_BOLD, cells);
    }
    show_table_print(t);
}

/* As those of a hub are printed, but without what only a hub knows. */
static void print_bare_json(struct json items, bool prompts)
{
    AUTO_BUF struct buf out = { 0 };
    struct json_out o = json_out(&out);

    json_begin_object(&o, NULL);
    json_begin_array(&o, prompts ? "prompts" : "tools");
    JSON_FOREACH(item, items) {
        json_begin_object(&o, NULL);
        json_put_raw(&o, "name", json_text(json_get(item, "name")));
        json_put_raw(&o, "definition", json_text(item));
        json_end(&o);
    }
    json_end(&o);
    remembered_write_none(&o);
    json_end(&o);
    show_json(buf_cstr(&out));
}

static int list_direct(const struct cli *cli, bool prompts)
{
    AUTO_JSON struct json_doc doc = { 0 };
    struct pb_client *client = NULL;
    struct pb_result *items = NULL;
    struct pb_error err;
    int status = CLI_OK;

    if (cli_connect(cli, &client, &err) < 0)
        return cli_fail(&err);
    if (pb_client_list(client, prompts ? "prompts" : "tools", &items, &err) < 0 ||
        json_parse(&doc, span_of(pb_result_json(items, NULL)),
                   &(struct json_opts){ .keep_depth = 2 }, &err) < 0)
        status = cli_fail(&err);
    else if (cli_option(cli, "json"))
        print_bare_json(json_root(&doc), prompts);
    else
        print_bare(json_root(&doc), prompts);
    pb_result_free(items);
    pb_client_free(client);
    return status;
}

/* ---- of the configured servers --------------------------------------------------------------- */

static void print_entries(struct json entries, bool prompts)
{
    AUTO_ARENA struct arena a = { 0 };
    struct show_table *t = show_table_new(2 + prompts);

    JSON_FOREACH(e, entries) {
        bool on = json_bool(json_get(e, "enabled"), true);
        const char *cells[3] = { show_item(e, &a) };

        if (prompts)
            cells[1] = arguments_of(json_get(e, "definition"), &a);
        cells[1 + prompts] =
            on ? show_member(json_get(e, "definition"), "description", &a) : "(disabled)";

        show_row(t, on ? SHOW_BOLD : SHOW_GRAY, cells);
    }
    show_table_print(t);
}

static int list_of_hub(const struct cli *cli, bool prompts)
{
    AUTO(reach) struct reach *s = NULL;
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_FREE char *params = remembered_params(cli);
    struct pb_result *result = NULL;
    struct pb_error err;
    const char *server = cli->n_args ? cli->args[0] : NULL;
    int status = reach_open(&s, cli, &(struct reach_wants){ .server = server });

    if (status != CLI_OK)
        return status;
    if (reach_ask(s, prompts ? "patchbay/prompts" : "patchbay/tools", params, &result, &doc, &err) <
        0) {
        status = reach_fail(&err);
    } else {
        int missing = reach_tell_failed(json_get(json_root(&doc), "failed"));

        remembered_tell(json_get(json_root(&doc), "remembered"));
        if (cli_option(cli, "json"))
            show_json(pb_result_json(result, NULL));
        else
            print_entries(json_get(json_root(&doc), prompts ? "prompts" : "tools"), prompts);
        status = server ? missing : CLI_OK;
    }
    pb_result_free(result);
    return status;
}

/* "server.tool", not a server. */
static bool names_item(const struct cli *cli)
{
    return cli->n_args && item_names_server(span_of(cli->args[0]));
}

static int run_list(struct cli *cli, bool prompts,
                    int (*describe)(const struct cli *cli, const char *item))
{
    cli_take_url(cli);
    if (cli->n_args > 1)
        return cli_usage(cli->verb, "'%s' takes no more than 1 argument; what is '%s'?",
                         cli->verb->name, cli->args[1]);
    if (cli->n_args && (cli_has_server(cli) || names_item(cli)))
        return describe(cli, cli->args[0]);
    return cli_has_server(cli) ? list_direct(cli, prompts) : list_of_hub(cli, prompts);
}

static int run_tools(struct cli *cli) { return run_list(cli, false, describe_tool); }

static int run_prompts(struct cli *cli) { return run_list(cli, true, describe_prompt); }

const struct verb verb_tools = {
    .name = "tools",
    .usage = "[SERVER | SERVER.TOOL | URL] [--mode MODE] [--json]",
    .help = "List the tools of all servers, or of one; or tell all about one tool",
    .text =
        "With a URL, --url or -- COMMAND those of a server that is not configured; a tool after\n"
        "the URL is told all about.",
    .max = 2,
    .takes_command = true,
    .options =
        (const struct option_spec[]){
            { 0, "json", NULL, "print the definitions as JSON" },
            { 'm', "mode", "MODE", "only what this mode lets through" },
            CLI_REFRESH_OPTION,
            CLI_SERVER_OPTIONS,
            CLI_HUB_OPTIONS,
            { 0 },
        },
    .run = run_tools,
};

const struct verb verb_prompts = {
    .name = "prompts",
    .usage = "[SERVER | SERVER.PROMPT | URL] [--json]",
    .help = "List the prompts of all servers, or of one; or tell all about one prompt",
    .text = "With a URL, --url or -- COMMAND those of a server that is not configured.",
    .max = 2,
    .takes_command = true,
    .options =
        (const struct option_spec[]){
            { 0, "json", NULL, "print the definitions as JSON" },
            CLI_REFRESH_OPTION,
            CLI_SERVER_OPTIONS,
            CLI_HUB_OPTIONS,
            { 0 },
        },
    .run = run_prompts,
};
