#include "hub/config/config.h"
#include "hub/spec/spec.h"
#include "reach.h"
#include "show.h"
#include "taken.h"
#include "talk.h"
#include "token.h"
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

/* ---- changing them -------------------------------------------------------------------------- */

static char *mode_file(const struct cli *cli)
{
    struct config_request r = cli_config_request(cli);
    AUTO_FREE char *home = config_home(&r);
    AUTO_BUF struct buf path = { 0 };

    buf_printf(&path, "%s/config.json", home);
    return buf_take(&path);
}

/* The servers that a filter may name. */
struct mode_naming {
    const struct config *config;
    struct span missing; /* .p: there is one that is none of them */
};

static void note_missing(void *ctx, struct span server)
{
    struct mode_naming *n = ctx;

    if (server.n && !n->missing.p && !map_get(&n->config->specs, server))
        n->missing = server;
}

static int check_servers_in(struct config_request *r, const struct filter *f, struct pb_error *err)
{
    AUTO(config) struct config *config = NULL;
    struct mode_naming naming = { 0 };
    AUTO_FREE char *missing = NULL;
    int rc = config_load(&config, r, err);

    if (rc < 0)
        return rc;
    naming.config = config;
    filter_each_server(f, note_missing, &naming);
    if (!naming.missing.p)
        return 0;
    missing = mem_dupn(naming.missing.p, naming.missing.n);
    return cli_no_server(config, missing, err);
}

/* A mode may be about servers of mcp_clients.json, which are not always read. */
static int check_servers(const struct cli *cli, const struct filter *f, struct pb_error *err)
{
    struct config_request r = cli_config_request(cli);
    int rc = check_servers_in(&r, f, err);

    r.clients = true;
    return rc == -(int)PB_E_NOT_FOUND && check_servers_in(&r, f, NULL) == 0 ? 0 : rc;
}

/* As it will be read. */
static int check_mode(const struct cli *cli, struct span mode, struct pb_error *err)
{
    struct span id = span_of(cli->args[0]);
    AUTO_JSON struct json_doc doc = { 0 };
    struct mode_set *alone = mode_set_new();
    int rc = json_parse(&doc, mode, NULL, err);

    if (rc == 0)
        rc = mode_set_add(alone, id, json_root(&doc), err);
    if (rc == 0)
        rc = check_servers(cli, mode_find(alone, id)->filter, err);
    mode_set_unref(alone);
    return rc;
}

static void print_saved(const struct cli *cli, struct span mode, const char *file)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_BUF struct buf out = { 0 };
    struct json_out o = json_out(&out);

    if (!cli_option(cli, "json") || json_parse(&doc, mode, NULL, NULL) < 0)
        return;
    json_begin_object(&o, NULL);
    json_put_str(&o, "mode", cli->args[0]);
    json_put_raw(&o, "name", json_text(json_get(json_root(&doc), "name")));
    json_put_raw(&o, "filter", json_text(json_get(json_root(&doc), "filter")));
    json_put_str(&o, "file", file);
    json_end(&o);
    show_json(buf_cstr(&out));
}

static int save_mode(const struct cli *cli, const char *filter)
{
    AUTO_FREE char *path = mode_file(cli);
    AUTO_BUF struct buf mode = { 0 };
    struct json_out o = json_out(&mode);
    struct pb_error err;

    json_begin_object(&o, NULL);
    json_put_str(&o, "name", cli_option(cli, "name") ? cli_option(cli, "name") : cli->args[0]);
    write_filter(&o, filter);
    json_end(&o);
    if (check_mode(cli, buf_span(&mode), &err) < 0 ||
        config_save_mode(path, cli->args[0], buf_span(&mode), &err) < 0)
        return cli_config_fail(&err);
    print_saved(cli, buf_span(&mode), path);
    talk_note("saved mode '%s' in %s; clients reach it at /mcp/mode/%s", cli->args[0], path,
              cli->args[0]);
    return taken_over(cli, path);
}

static int no_mode(const struct mode_set *modes, const char *id, const char *file,
                   struct pb_error *err)
{
    AUTO_FREE const char **ids = mem_zero((modes->n + 1) * sizeof *ids);
    AUTO_BUF struct buf near = { 0 };

    for (size_t i = 0; i < modes->n; i++)
        ids[i] = modes->modes[i].id;
    near_write_of(&near, span_of(id), ids);
    return fail(err, PB_E_NOT_FOUND, "there is no mode '%s' in %s%s", id, file, buf_cstr(&near));
}

static int take_mode_out(const char *id, const char *file, struct pb_error *err)
{
    struct config_request r = { .env = token_env };
    AUTO(config) struct config *config = NULL;
    int rc = config_load(&config, &r, err);

    if (rc < 0)
        return rc;
    if (strcmp(config->modes->modes[0].id, id) == 0)
        return fail(err, PB_E_INVALID, "the mode '%s' is always there", id);
    if (!mode_find(config->modes, span_of(id)))
        return no_mode(config->modes, id, file, err);
    return config_save_mode(file, id, (struct span){ 0 }, err);
}

static int remove_mode(const struct cli *cli, const char *id)
{
    AUTO_FREE char *file = mode_file(cli);
    AUTO_BUF struct buf out = { 0 };
    struct json_out o = json_out(&out);
    struct pb_error err;

    if (take_mode_out(id, file, &err) < 0)
        return cli_config_fail(&err);
    if (cli_option(cli, "json")) {
        json_begin_object(&o, NULL);
        json_put_str(&o, "mode", id);
        json_put_str(&o, "file", file);
        json_put_bool(&o, "removed", true);
        json_end(&o);
        show_json(buf_cstr(&out));
    } else {
        printf("Removed mode %s from %s\n", id, file);
    }
    return taken_over(cli, file);
}

/* ---- the verb ------------------------------------------------------------------------------- */

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
    bool rm = cli->n_args && strcmp(cli->args[0], "rm") == 0;

    if ((filter && !cli->n_args) || (rm && cli->n_args == 1))
        return cli_usage(cli->verb, "which mode? give its name");
    if (filter && rm)
        return cli_usage(cli->verb, "'rm' removes a mode and takes no --filter");
    if (!rm && cli->n_args > 1)
        return cli_usage(cli->verb, "'mode' takes one mode; what is '%s'?", cli->args[1]);
    if (rm)
        return remove_mode(cli, cli->args[1]);
    if (filter)
        return save_mode(cli, filter);
    return cli->n_args ? show_mode(cli) : list_modes(cli);
}

const struct verb verb_mode = {
    .name = "mode",
    .usage = "[rm] [MODE] [--filter FILTER]",
    .help = "List the modes, show what one lets through, save or remove one",
    .text = "A mode is a named choice of tools. FILTER is a list of servers (\"git,files\") or\n"
            "JSON: \"all\", \"none\", {\"servers\":[..]}, {\"tools\":[..]}, {\"toolIDs\":[..]},\n"
            "{\"pattern\":\"..\"}, {\"and\":[..]}, {\"or\":[..]}, {\"not\":..}. Servers that it\n"
            "names must be there. 'patchbay mode rm MODE' removes one.",
    .max = 2,
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
