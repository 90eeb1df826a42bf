#include "arguments.h"
#include "definition.h"
#include "show.h"
#include "talk.h"

static int write_params(const struct cli *cli, struct arguments *words, const char *tool,
                        struct reach *s, struct buf *out)
{
    AUTO_DEFINITION struct definition d = { 0 };
    AUTO_BUF struct buf arguments = { 0 };
    struct json_out o = json_out(out);
    struct pb_error err;

    if (words->first) {
        definition_look(&d, s, "tool", tool); /* of one that is not there the words are texts */
        if (arguments_write(words, d.schema, &arguments, &err) < 0) {
            fail_in(&err, "%s", tool);
            return talk_fail(FAILURE_INVALID, "%s", err.msg);
        }
    }
    json_begin_object(&o, NULL);
    json_put_str(&o, "tool", tool);
    json_put_str_opt(&o, "as", cli_option(cli, "as"));
    json_put_str_opt(&o, "face", cli_option(cli, "face"));
    json_put_str_opt(&o, "mode", cli_option(cli, "mode"));
    json_put_str_opt(&o, "conversation", cli_option(cli, "conversation"));
    json_put_raw(&o, "arguments", buf_span(&arguments));
    json_end(&o);
    return CLI_OK;
}

/* ---- what is told --------------------------------------------------------------------------- */

static const struct outcome {
    const char *word, *text;
    enum show_color color;
    const char *next; /* NULL: the reason says it */
} outcomes[] = {
    { "allow", "A call would be made.", SHOW_GREEN, NULL },
    { "ask", "A call would wait until somebody allows it.", SHOW_YELLOW, "patchbay policy" },
    { "deny", "A call would be refused.", SHOW_RED, "patchbay policy" },
    { "not_found", "There is nothing to call.", SHOW_RED, NULL },
    { "unreachable", "A call would fail: its server is not there.", SHOW_RED, NULL },
};

static const struct outcome *outcome_of(struct json explained)
{
    for (size_t i = 0; i < ARRAY_LEN(outcomes) - 1; i++)
        if (json_str_is(json_get(explained, "outcome"), outcomes[i].word))
            return &outcomes[i];
    return &outcomes[ARRAY_LEN(outcomes) - 1];
}

static void print_step(struct json step, struct arena *a)
{
    static const struct {
        const char *step, *about;
    } rows[] = {
        { "find", "is there such a tool" },    { "resolve", "is it there now" },
        { "mode", "does the mode show it" },   { "definition", "is it what was approved" },
        { "policy", "what do the rules say" }, { "authorisation", "does it stay where it works" },
        { "permission", "was it allowed before" },
    };
    const char *name = show_member(step, "step", a), *says = show_member(step, "says", a);
    const char *about = name, *reason = show_member(step, "reason", a);
    const char *rule = show_member(step, "rule", a);
    enum show_color color = strcmp(says, "pass") == 0  ? SHOW_GREEN
                            : strcmp(says, "ask") == 0 ? SHOW_YELLOW
                                                       : SHOW_RED;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (strcmp(rows[i].step, name) == 0)
            about = rows[i].about;
    printf("  %-24s%s%s%s", about, show_on(color), says, show_off());
    if (strcmp(name, "permission") == 0) /* the question is the same */
        reason = rule = "";
    if (*rule && strcmp(says, "ask") == 0)
        printf("  rule '%s'", rule);
    printf("%s%s\n", *reason ? "  " : "", reason);
}

static void print_explained(struct json answer)
{
    AUTO_ARENA struct arena a = { 0 };
    struct json x = json_get(answer, "explained");
    const struct outcome *o = outcome_of(x);
    const char *as = show_member(answer, "as", &a), *mode = show_member(answer, "mode", &a);

    printf("%s, asked%s%s through %s%s%s\n", show_member(answer, "tool", &a), *as ? " by " : "", as,
           show_member(answer, "face", &a), *mode ? " in mode " : "", mode);
    JSON_FOREACH(step, json_get(x, "steps"))
        print_step(step, &a);
    printf("%s%s%s", show_on(o->color), o->text, show_off());
    if (strcmp(o->word, "allow") == 0)
        printf(json_bool(json_get(x, "recorded"), false) ? " It would be recorded."
                                                         : " It would not be recorded.");
    putchar('\n');
    if (o->next)
        talk_next((const char *const[]){ o->next, NULL });
}

static int explain(const struct cli *cli, struct arguments *words, const char *tool)
{
    AUTO(reach) struct reach *s = NULL;
    AUTO_BUF struct buf params = { 0 };
    AUTO_JSON struct json_doc doc = { 0 };
    struct pb_result *result = NULL;
    struct pb_error err;
    int status = reach_open(&s, cli, &(struct reach_wants){ 0 });

    if (status == CLI_OK)
        status = write_params(cli, words, tool, s, &params);
    if (status != CLI_OK)
        return status;
    if (reach_ask(s, "patchbay/explain", buf_cstr(&params), &result, &doc, &err) < 0)
        status = reach_fail(&err);
    else if (cli_option(cli, "json"))
        show_json(pb_result_json(result, NULL));
    else
        print_explained(json_root(&doc));
    pb_result_free(result);
    return status;
}

static int run_explain(struct cli *cli)
{
    AUTO_ARGUMENTS struct arguments words = { 0 };
    const char *tool;
    struct pb_error err;

    if (arguments_read_call(&words, cli->args[0], &tool, &err) < 0 ||
        arguments_read(&words, cli->args + 1, cli->n_args - 1, false, &err) < 0)
        return cli_config_fail(&err);
    return explain(cli, &words, tool);
}

const struct verb verb_explain = {
    .name = "explain",
    .usage = "SERVER.TOOL [k=value | k:=json | k=@file | {...} | @file | -]...",
    .help = "Tell what would happen to a call, and why, without making it",
    .text =
        "Step by step: is there such a tool, does the mode show it, what do the rules say, was\n"
        "it allowed before. Of one that is not listed it is told why. Arguments are written as\n"
        "for 'call', and matter when a rule is about them.",
    .min = 1,
    .max = -1,
    .options =
        (const struct option_spec[]){
            { 0, "as", "CLIENT", "what the client calls itself, such as \"Cursor 1.0\"" },
            { 0, "face", "FACE", "through what it asks (mcp_server)" },
            { 0, "mode", "MODE", "the mode that it uses" },
            { 0, "conversation", "ID", "whose grants count: 'patchbay grants' shows them" },
            { 0, "json", NULL, "print as JSON" },
            CLI_HUB_OPTIONS,
            { 0 },
        },
    .run = run_explain,
};
