#include "ending.h"
#include "reach.h"
#include "show.h"
#include <time.h>

static void print_calls(struct json calls, struct arena *a)
{
    struct show_table *t;

    if (!json_len(calls))
        return;
    t = show_table_new(3);
    JSON_FOREACH(c, calls) {
        const char *cells[] = { show_member(c, "id", a), show_member(c, "server", a),
                                show_member(c, "subject", a) };

        show_row(t, SHOW_YELLOW, cells);
    }
    puts("running calls:");
    show_table_print(t);
}

static void print_uptime(struct json status)
{
    double since;
    int64_t s;

    if (json_double(json_get(status, "started_at"), &since, NULL) < 0)
        return;
    s = (int64_t)time(NULL) - (int64_t)since;
    printf("running  for %lld:%02lld:%02lld, pid %.*s\n", (long long)(s / 3600),
           (long long)(s / 60 % 60), (long long)(s % 60),
           SPAN_ARG(json_text(json_get(status, "pid"))));
}

static void print_status(struct json status)
{
    AUTO_ARENA struct arena a = { 0 };
    double memory = 0;

    printf("patchbay %s\n", show_member(status, "version", &a));
    print_uptime(status);
    if (*show_member(status, "url", &a))
        printf("MCP      %s/mcp\n", show_member(status, "url", &a));
    JSON_FOREACH(f, json_get(status, "files"))
        printf("config   %.*s\n", SPAN_ARG(json_str(f, &a)));
    show_config_error("refused  ", status);
    if (json_len(json_get(status, "restart_for"))) {
        printf("restart  needed for settings");
        JSON_FOREACH(name, json_get(status, "restart_for"))
            printf(" %.*s", SPAN_ARG(json_str(name, &a)));
        putchar('\n');
    }
    printf("servers ");
    JSON_FOREACH(n, json_get(status, "servers"))
        printf(" %.*s %.*s", SPAN_ARG(json_text(n)), SPAN_ARG(json_key(n)));
    printf("\ntools    %.*s\n", SPAN_ARG(json_text(json_get(status, "tools"))));
    if (json_double(json_get(status, "memory_bytes"), &memory, NULL) == 0)
        printf("memory   %.1f MB\n", memory / 1e6);
    print_calls(json_get(status, "calls"), &a);
}

/* That it runs is known by whoever was answered. */
static void print_json(const char *object)
{
    AUTO_BUF struct buf out = { 0 };

    buf_printf(&out, "{\"running\":true,%s", object + 1);
    show_json(buf_cstr(&out));
}

static int run_status(struct cli *cli)
{
    AUTO(reach) struct reach *s = NULL;
    AUTO_JSON struct json_doc doc = { 0 };
    struct pb_result *result = NULL;
    struct pb_error err;
    int status;

    if (cli_option(cli, "stop"))
        return ending_run(cli);
    status = reach_open(&s, cli, &(struct reach_wants){ .daemon_only = true });
    if (status != CLI_OK) {
        if (cli_option(cli, "json") && status == CLI_UNREACHABLE)
            puts("{\"running\":false}");
        return status;
    }
    if (reach_ask(s, "patchbay/status", NULL, &result, &doc, &err) < 0)
        status = reach_fail(&err);
    else if (cli_option(cli, "json"))
        print_json(pb_result_json(result, NULL));
    else
        print_status(json_root(&doc));
    pb_result_free(result);
    return status;
}

const struct verb verb_status = {
    .name = "status",
    .usage = "[--json] [--stop]",
    .help = "Tell whether a daemon runs, where it listens, and what it does",
    .max = 0,
    .options =
        (const struct option_spec[]){
            { 0, "json", NULL, "print as JSON" },
            { 0, "stop", NULL, "end the daemon, as 'patchbay stop' does" },
            { 0 },
        },
    .run = run_status,
};
