#include "reach.h"
#include "remembered.h"
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

static void print_table(struct json answer)
{
    AUTO_ARENA struct arena a = { 0 };
    struct show_table *t = show_table_new(4);

    add_rows(t, json_get(answer, "resources"), "uri", &a);
    add_rows(t, json_get(answer, "resourceTemplates"), "uriTemplate", &a);
    show_table_print(t);
}

static int run_resources(struct cli *cli)
{
    AUTO(reach) struct reach *s = NULL;
    AUTO_JSON struct json_doc doc = { 0 };
    const char *server = cli->n_args ? cli->args[0] : NULL;
    AUTO_FREE char *params = remembered_params(cli);
    struct pb_result *result = NULL;
    struct pb_error err;
    int status = reach_open(&s, cli, &(struct reach_wants){ .server = server });

    if (status != CLI_OK)
        return status;
    if (reach_ask(s, "patchbay/resources", params, &result, &doc, &err) < 0) {
        status = reach_fail(&err);
    } else {
        int missing = reach_tell_failed(json_get(json_root(&doc), "failed"));

        remembered_tell(json_get(json_root(&doc), "remembered"));
        if (cli_option(cli, "json"))
            show_json(pb_result_json(result, NULL));
        else
            print_table(json_root(&doc));
        status = server ? missing : CLI_OK;
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
            CLI_REFRESH_OPTION,
            CLI_HUB_OPTIONS,
            { 0 },
        },
    .run = run_resources,
};
