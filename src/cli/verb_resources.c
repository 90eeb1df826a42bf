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

/* ---- of one server that is named here and now ------------------------------------------------ */

static void add_bare(struct show_table *t, struct json items, const char *uri, struct arena *a)
{
    JSON_FOREACH(i, items) {
        struct json definition = json_get(i, "definition");
        const char *cells[] = { show_member(i, uri, a), show_member(definition, "mimeType", a),
                                show_member(definition, "name", a) };

        show_row(t, SHOW_BOLD, cells);
    }
}

static int print_bare(const struct cli *cli, struct span answer, struct pb_error *err)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena a = { 0 };
    struct show_table *t;
    int rc = json_parse(&doc, answer, &(struct json_opts){ .keep_depth = 4 }, err);

    if (rc < 0)
        return rc;
    if (cli_option(cli, "json")) {
        show_json(arena_dup(&a, answer));
        return 0;
    }
    t = show_table_new(3);
    add_bare(t, json_get(json_root(&doc), "resources"), "uri", &a);
    add_bare(t, json_get(json_root(&doc), "resourceTemplates"), "uriTemplate", &a);
    show_table_print(t);
    return 0;
}

/* As those of a hub, but without what only a hub knows. */
static int put_items(struct json_out *o, const char *list, const struct pb_result *items,
                     struct pb_error *err)
{
    const char *key = strcmp(list, "resources") == 0 ? "uri" : "uriTemplate";
    AUTO_JSON struct json_doc doc = { 0 };
    int rc = items ? json_parse(&doc, span_of(pb_result_json(items, NULL)),
                                &(struct json_opts){ .keep_depth = 2 }, err)
                   : 0;

    json_begin_array(o, list);
    if (items && rc == 0)
        JSON_FOREACH(item, json_root(&doc)) {
            json_begin_object(o, NULL);
            json_put_raw(o, key, json_text(json_get(item, key)));
            json_put_raw(o, "definition", json_text(item));
            json_end(o);
        }
    json_end(o);
    return rc;
}

/* A server may have only one of the two, and refuse to be asked for the other. */
static int put_list(struct json_out *o, struct pb_client *client, const char *list,
                    struct pb_error *err)
{
    struct pb_result *items = NULL;
    int rc = pb_client_list(client, list, &items, err);

    if (rc == 0 || rc == -(int)PB_E_REMOTE)
        rc = put_items(o, list, items, err);
    pb_result_free(items);
    return rc;
}

static int list_direct(const struct cli *cli)
{
    AUTO_BUF struct buf answer = { 0 };
    struct json_out o = json_out(&answer);
    struct pb_client *client = NULL;
    struct pb_error err;
    int rc = cli_connect(cli, &client, &err);

    json_begin_object(&o, NULL);
    if (rc == 0)
        rc = put_list(&o, client, "resources", &err);
    if (rc == 0)
        rc = put_list(&o, client, "resourceTemplates", &err);
    remembered_write_none(&o);
    json_end(&o);
    if (rc == 0)
        rc = print_bare(cli, buf_span(&answer), &err);
    pb_client_free(client);
    return rc < 0 ? cli_fail(&err) : CLI_OK;
}

/* ---- of the configured servers --------------------------------------------------------------- */

static int list_of_hub(const struct cli *cli)
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

static int run_resources(struct cli *cli)
{
    cli_take_url(cli);
    if (cli->n_args && cli_has_server(cli))
        return cli_usage(cli->verb, "a server is named by '%s' or by --url, not by both",
                         cli->args[0]);
    return cli_has_server(cli) ? list_direct(cli) : list_of_hub(cli);
}

const struct verb verb_resources = {
    .name = "resources",
    .usage = "[SERVER | URL] [--json]",
    .help = "List the resources and URI templates of all servers, or of one",
    .text = "With a URL, --url or -- COMMAND those of a server that is not configured.",
    .max = 1,
    .takes_command = true,
    .options =
        (const struct option_spec[]){
            { 0, "json", NULL, "print the definitions as JSON" },
            CLI_REFRESH_OPTION,
            CLI_SERVER_OPTIONS,
            CLI_HUB_OPTIONS,
            { 0 },
        },
    .run = run_resources,
};
