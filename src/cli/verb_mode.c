#include "hub/config/config.h"
#include "hub/spec/spec.h"
#include "reach.h"
#include "show.h"
#include "taken.h"
#include <errno.h>

static void print_modes(struct json modes)
{
    AUTO_ARENA struct arena a = { 0 };
    struct show_table *t = show_table_new(3);

    JSON_FOREACH(m, modes) {
        const char *cells[] = { show_member(m, "id", &a), show_member(m, "name", &a),
                                arena_dup(&a, json_text(json_get(m, "filter"))) };

        show_row(t, SHOW_BOLD, cells);
    }
    show_table_print(t);
}

static int list_modes(const struct cli *cli)
{
    AUTO(reach) struct reach *s = NULL;
    AUTO_JSON struct json_doc doc = { 0 };
    struct pb_result *result = NULL;
    struct pb_error err;
    int status = reach_open(&s, cli, &(struct reach_wants){ .no_servers = true });

    if (status != CLI_OK)
        return status;
    if (reach_ask(s, "patchbay/modes", NULL, &result, &doc, &err) < 0)
        status = reach_fail(&err);
    else if (cli_option(cli, "json"))
        show_json(pb_result_json(result, NULL));
    else
        print_modes(json_get(json_root(&doc), "modes"));
    pb_result_free(result);
    return status;
}

/* A filter is JSON, or a list of servers, which is what people want most. */
static void write_filter(struct json_out *o, const char *text)
{
    struct span rest = span_of(text);

    if (text[0] == '{' || text[0] == '"') {
        json_put_raw(o, "filter", rest);
        return;
    }
    json_begin_object(o, "filter");
    json_begin_array(o, "servers");
    for (bool more = true; more;) {
        const char *comma = memchr(rest.p, ',', rest.n);
        size_t n = comma ? (size_t)(comma - rest.p) : rest.n;

        json_put_span(o, NULL, span_trim(span_make(rest.p, n)));
        more = comma != NULL;
        rest = span_from(rest, more ? n + 1 : n);
    }
    json_end(o);
    json_end(o);
}

static int save_mode(const struct cli *cli, const char *filter)
{
    struct config_request r = cli_config_request(cli);
    AUTO_FREE char *home = config_home(&r);
    AUTO_BUF struct buf path = { 0 };
    AUTO_BUF struct buf mode = { 0 };
    AUTO_JSON struct json_doc doc = { 0 };
    struct json_out o = json_out(&mode);
    struct mode_set *check = mode_set_new();
    struct pb_error err;
    int rc;

    json_begin_object(&o, NULL);
    json_put_str(&o, "name", cli_option(cli, "name") ? cli_option(cli, "name") : cli->args[0]);
    write_filter(&o, filter);
    json_end(&o);
    rc = json_parse(&doc, buf_span(&mode), NULL, &err);
    if (rc == 0)
        rc = mode_set_add(check, span_of(cli->args[0]), json_root(&doc), &err);
    mode_set_unref(check);
    buf_printf(&path, "%s/config.json", home);
    if (rc == 0)
        rc = config_save_mode(buf_cstr(&path), cli->args[0], buf_span(&mode), &err);
    if (rc < 0)
        return cli_config_fail(&err);
    fprintf(stderr, "saved mode '%s' in %s; clients reach it at /mcp/mode/%s\n", cli->args[0],
            buf_cstr(&path), cli->args[0]);
    return taken_over(cli, buf_cstr(&path));
}

static int show_mode(struct cli *cli)
{
    AUTO(reach) struct reach *s = NULL;
    AUTO_FREE char *params = reach_params("mode", cli->args[0]);
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena a = { 0 };
    struct pb_result *result = NULL;
    struct pb_error err;
    int status = reach_open(&s, cli, &(struct reach_wants){ 0 });

    if (status != CLI_OK)
        return status;
    if (reach_ask(s, "patchbay/tools", params, &result, &doc, &err) < 0) {
        status = reach_fail(&err);
    } else {
        if (cli_option(cli, "json"))
            show_json(pb_result_json(result, NULL));
        else
            JSON_FOREACH(e, json_get(json_root(&doc), "tools"))
                puts(show_item(e, &a));
        reach_tell_failed(json_get(json_root(&doc), "failed"));
    }
    pb_result_free(result);
    return status;
}

static int run_mode(struct cli *cli)
{
    const char *filter = cli_option(cli, "filter");

    if (filter && !cli->n_args)
        return cli_usage(cli->verb, "which mode? give its name");
    if (filter)
        return save_mode(cli, filter);
    return cli->n_args ? show_mode(cli) : list_modes(cli);
}

const struct verb verb_mode = {
    .name = "mode",
    .usage = "[MODE] [--filter FILTER]",
    .help = "List the modes, show what one lets through, or save one",
    .text = "A mode is a named choice of tools. FILTER is a list of servers (\"git,files\") or\n"
            "JSON: \"all\", \"none\", {\"servers\":[..]}, {\"tools\":[..]}, {\"toolIDs\":[..]},\n"
            "{\"pattern\":\"..\"}, {\"and\":[..]}, {\"or\":[..]}, {\"not\":..}.",
    .max = 1,
    .options =
        (const struct option_spec[]){
            { 0, "filter", "FILTER", "save the mode with this filter in config.json" },
            { 0, "name", "TEXT", "what people call it" },
            { 0, "json", NULL, "print as JSON" },
            CLI_HUB_OPTIONS,
            { 0 },
        },
    .run = run_mode,
};
