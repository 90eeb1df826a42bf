#include "reach.h"
#include "show.h"

static const char *number(struct json server, const char *key, const char *unit, struct arena *a)
{
    double v;

    if (json_double(json_get(server, key), &v, NULL) < 0)
        return "-";
    if (*unit && v < 10)
        return arena_printf(a, "%.1f%s", v, unit);
    return arena_printf(a, "%.0f%s", v, unit);
}

/* What it is, or why it is not well. */
static const char *about(struct json server, struct arena *a)
{
    const char *message = show_member(server, "message", a);
    const char *step = show_member(server, "next_step", a);

    if (*message && *step)
        return arena_printf(a, "%s (try: %s)", message, step);
    return *message ? message : show_member(server, "target", a);
}

static void add_row(struct show_table *t, struct json server, struct arena *a)
{
    const char *state = show_member(server, "state", a);
    const char *cells[] = { show_member(server, "name", a), state, number(server, "tools", "", a),
                            number(server, "latency_ms", " ms", a), about(server, a) };

    show_row(t, show_state_color(state), cells);
}

static void print_servers(struct json servers)
{
    static const char *const heads[] = { "NAME", "STATE", "TOOLS", "LATENCY", "WHAT" };
    AUTO_ARENA struct arena a = { 0 };
    struct show_table *t;

    if (!json_len(servers)) {
        puts("No servers yet. Add one: patchbay add NAME -- COMMAND, or patchbay add URL");
        return;
    }
    t = show_table_new(ARRAY_LEN(heads));
    show_row(t, SHOW_BOLD, heads);
    JSON_FOREACH(server, servers)
        add_row(t, server, &a);
    show_table_print(t);
}

static int run_list(struct cli *cli)
{
    AUTO(reach) struct reach *s = NULL;
    AUTO_JSON struct json_doc doc = { 0 };
    struct pb_result *result = NULL;
    struct pb_error err;
    int status = reach_open(&s, cli, &(struct reach_wants){ .start_all = true });

    if (status != CLI_OK)
        return status;
    if (reach_ask(s, reach_is_daemon(s) ? "patchbay/servers" : "patchbay/settled", NULL, &result,
                  &doc, &err) < 0)
        status = reach_fail(&err);
    else if (cli_option(cli, "json"))
        show_json(pb_result_json(result, NULL));
    else
        print_servers(json_get(json_root(&doc), "servers"));
    if (status == CLI_OK)
        show_config_error(stderr, "patchbay: the config is not taken: ", json_root(&doc));
    pb_result_free(result);
    return status;
}

const struct verb verb_list = {
    .name = "list",
    .alias = "ls",
    .usage = "[--json]",
    .help = "List the servers: how they are, and why one is not well",
    .text = "Asks the daemon when one runs. Otherwise every server is started, looked at and\n"
            "stopped again.",
    .max = 0,
    .options =
        (const struct option_spec[]){
            { 0, "json", NULL, "print everything that is known, as JSON" },
            CLI_HUB_OPTIONS,
            { 0 },
        },
    .run = run_list,
};
