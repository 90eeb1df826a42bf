#include "reach.h"
#include "show.h"

static void add_rows(struct show_table *t, struct json entries, const char *uri, struct arena *a)
{
    JSON_FOREACH(e, entries) {
        struct json definition = json_get(e, "definition");
        const char *cells[] = { show_member(e, uri, a), show_member(e, "server", a),
                                show_member(definition, "mimeType", a),
                                show_member(definition, "name", a) };

        show_row(t, SHOW_BOLD, cells);
    }
}

static int run_resources(struct cli *cli)
{
    AUTO(reach) struct reach *s = NULL;
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena a = { 0 };
    AUTO_FREE char *params = reach_params("server", cli->n_args ? cli->args[0] : NULL);
    struct pb_result *result = NULL;
    struct pb_error err;
    int status = CLI_OK;

    if (reach_open(&s, cli, 0, &err) < 0)
        return cli_fail(&err);
    if (reach_ask(s, "patchbay/resources", params, &result, &doc, &err) < 0) {
        status = cli_fail(&err);
    } else if (cli_option(cli, "json")) {
        puts(pb_result_json(result, NULL));
    } else {
        struct show_table *t = show_table_new(4);

        add_rows(t, json_get(json_root(&doc), "resources"), "uri", &a);
        add_rows(t, json_get(json_root(&doc), "resourceTemplates"), "uriTemplate", &a);
        show_table_print(t);
    }
    pb_result_free(result);
    return status;
}

const struct verb verb_resources = {
    .name = "resources",
    .usage = "[SERVER] [--json]",
    .help = "List the resources and URI templates of all servers, or of one",
    .max = 1,
    .options =
        (const struct option_spec[]){
            { 0, "json", NULL, "print the definitions as JSON" },
            CLI_HUB_OPTIONS,
            { 0 },
        },
    .run = run_resources,
};
