#include "reach.h"
#include "show.h"
#include "when.h"

/* ---- those that hold ------------------------------------------------------------------------ */

static void print_grants(struct json answer)
{
    AUTO_ARENA struct arena a = { 0 };
    double now = (double)clock_real()->wall_ms(clock_real()) / 1000, ends = now;
    struct json all = json_get(answer, "auto_approve");
    struct show_table *t = show_table_new(5);

    JSON_FOREACH(g, json_get(answer, "grants")) {
        AUTO_BUF struct buf left = { 0 };
        const char *once = json_bool(json_get(g, "once"), false) ? "once" : "";

        if (json_double(json_get(g, "expires_at"), &ends, NULL) == 0)
            when_span_text(&left, ends - now);
        buf_str(&left, " left");
        show_row(t, SHOW_GREEN,
                 (const char *const[]){ show_member(g, "id", &a),
                                        show_member(g, "conversation", &a),
                                        show_member(g, "operation", &a), buf_cstr(&left), once });
    }
    show_table_print(t);
    JSON_FOREACH(c, all)
        printf("everything is allowed in conversation %s\n", show_printable(json_str(c, &a), &a));
    if (!json_len(all) && !json_len(json_get(answer, "grants")))
        puts("Nothing is granted. 'patchbay answer ID grant' does that, or 'patchbay grants add'.");
}

/* ---- one request ---------------------------------------------------------------------------- */

static int ask(const struct cli *cli, const char *method, struct buf *params,
               void (*print)(struct json answer))
{
    AUTO(reach) struct reach *s = NULL;
    AUTO_JSON struct json_doc doc = { 0 };
    struct pb_result *result = NULL;
    struct pb_error err;
    int status = reach_open(&s, cli, &(struct reach_wants){ .daemon_only = true });

    if (status != CLI_OK)
        return status;
    if (reach_ask(s, method, buf_cstr(params), &result, &doc, &err) < 0)
        status = reach_fail(&err);
    else if (cli_option(cli, "json"))
        show_json(pb_result_json(result, NULL));
    else
        print(json_root(&doc));
    pb_result_free(result);
    return status;
}

static int run_list(const struct cli *cli)
{
    AUTO_BUF struct buf params = { 0 };

    return ask(cli, "patchbay/grants", &params, print_grants);
}

static void print_added(struct json g)
{
    AUTO_ARENA struct arena a = { 0 };
    double made = 0, ends = 0;
    AUTO_BUF struct buf span = { 0 };

    if (json_double(json_get(g, "made_at"), &made, NULL) == 0 &&
        json_double(json_get(g, "expires_at"), &ends, NULL) == 0)
        duration_text(&span, (uint64_t)((ends - made) * 1000 + 0.5));
    printf("%s  %s may use %s for %s%s\n", show_member(g, "id", &a),
           show_member(g, "conversation", &a), show_member(g, "operation", &a), buf_cstr(&span),
           json_bool(json_get(g, "once"), false) ? ", once" : "");
}

/* As people type tools elsewhere; a grant is for "server/tool". */
static void put_operation(struct json_out *o, const char *text)
{
    const char *dot = strchr(text, '/') ? NULL : strchr(text, '.');

    if (dot)
        json_put_fmt(o, "operation", "%.*s/%s", (int)(dot - text), text, dot + 1);
    else
        json_put_str(o, "operation", text);
}

static int run_add(const struct cli *cli)
{
    AUTO_BUF struct buf params = { 0 };
    struct json_out o = json_out(&params);
    uint64_t ms = 0;

    if (when_span_option(cli, "for", &ms) != CLI_OK)
        return CLI_USAGE;
    json_begin_object(&o, NULL);
    json_put_str(&o, "conversation", cli->args[1]);
    put_operation(&o, cli->args[2]);
    if (ms)
        json_put_uint(&o, "ms", ms);
    json_put_bool(&o, "once", cli_option(cli, "once") != NULL);
    json_end(&o);
    return ask(cli, "patchbay/grants-add", &params, print_added);
}

static void print_removed(struct json answer)
{
    printf("Took back %.*s\n", SPAN_ARG(json_text(json_get(answer, "removed"))));
}

static int run_rm(const struct cli *cli)
{
    AUTO_BUF struct buf params = { 0 };
    struct json_out o = json_out(&params);
    bool all = cli_option(cli, "all") != NULL;

    if (all == (cli->n_args == 2))
        return cli_usage(cli->verb, "give the id of one grant, or --all");
    json_begin_object(&o, NULL);
    json_put_str_opt(&o, "id", all ? NULL : cli->args[1]);
    json_put_bool(&o, "all", all);
    json_end(&o);
    return ask(cli, "patchbay/grants-rm", &params, print_removed);
}

static void print_auto(struct json answer)
{
    AUTO_ARENA struct arena a = { 0 };

    printf(json_bool(json_get(answer, "auto_approve"), false) ? "Everything is allowed in conversation %s\n"
                                                      : "Conversation %s is asked about again\n",
           show_member(answer, "conversation", &a));
}

static int run_auto(const struct cli *cli)
{
    AUTO_BUF struct buf params = { 0 };
    struct json_out o = json_out(&params);
    bool on = strcmp(cli->args[2], "on") == 0;

    if (!on && strcmp(cli->args[2], "off") != 0)
        return cli_usage(cli->verb, "'%s' is neither on nor off", cli->args[2]);
    json_begin_object(&o, NULL);
    json_put_str(&o, "conversation", cli->args[1]);
    json_put_bool(&o, "on", on);
    json_end(&o);
    return ask(cli, "patchbay/grants-auto", &params, print_auto);
}

static int run_grants(struct cli *cli)
{
    static const struct {
        const char *name;
        int min, max;
        int (*run)(const struct cli *cli);
        const char *wants;
    } deeds[] = {
        { "add", 3, 3, run_add, "give a conversation and an operation: SERVER/TOOL" },
        { "auto", 3, 3, run_auto, "give a conversation, and on or off" },
        { "rm", 1, 2, run_rm, "give the id of one grant, or --all" },
    };

    if (!cli->n_args)
        return run_list(cli);
    for (size_t i = 0; i < ARRAY_LEN(deeds); i++) {
        if (strcmp(cli->args[0], deeds[i].name) != 0)
            continue;
        if (cli->n_args < deeds[i].min || cli->n_args > deeds[i].max)
            return cli_usage(cli->verb, "%s", deeds[i].wants);
        return deeds[i].run(cli);
    }
    return cli_usage(cli->verb, "'%s' is none of add, auto and rm", cli->args[0]);
}

const struct verb verb_grants = {
    .name = "grants",
    .usage = "[add|auto|rm] [ID | CONVERSATION] [OPERATION | on|off] [--for 5m] [--once] [--all]",
    .help = "Show what was allowed for a while, allow more, or take it back",
    .text =
        "    patchbay grants                                     those that hold\n"
        "    patchbay grants add CONVERSATION OPERATION          allow a tool, for five minutes\n"
        "    patchbay grants auto CONVERSATION on|off            allow everything, until off\n"
        "    patchbay grants rm ID | --all                       take back\n"
        "A grant answers in advance what a rule would ask; what a rule denies it does not\n"
        "allow. CONVERSATION is whose calls: 'cli' is this command line, and 'patchbay\n"
        "questions' tells those of others. OPERATION is SERVER/TOOL.",
    .max = 3,
    .options =
        (const struct option_spec[]){
            { 0, "for", "TIME", "of add: how long it holds (5m)" },
            { 0, "once", NULL, "of add: for one call" },
            { 0, "all", NULL, "of rm: all of them" },
            { 0, "json", NULL, "print as JSON" },
            { 0 },
        },
    .run = run_grants,
};
