#include "arguments.h"
#include "definition.h"
#include "question.h"
#include "request.h"
#include "show.h"

static void print_message(struct json m)
{
    AUTO_ARENA struct arena a = { 0 };
    struct json content = json_get(m, "content");
    struct json text = json_get(content, "text");

    printf("%s%s:%s ", show_on(SHOW_BOLD), show_member(m, "role", &a), show_off());
    if (json_is(text, JSON_STRING))
        show_text(arena_dup(&a, json_str(text, &a)));
    else
        printf("[%s]\n", show_member(content, "type", &a));
}

static int print_messages(const char *json)
{
    AUTO_JSON struct json_doc doc = { 0 };
    struct pb_error err;

    if (json_parse(&doc, span_of(json), &(struct json_opts){ .keep_depth = 4 }, &err) < 0)
        return cli_fail(&err);
    JSON_FOREACH(m, json_get(json_root(&doc), "messages"))
        print_message(m);
    return CLI_OK;
}

static int run_prompt(struct cli *cli)
{
    AUTO(reach) struct reach *s = NULL;
    AUTO_DEFINITION struct definition found = { 0 };
    AUTO_ARGUMENTS struct arguments words = { 0 };
    AUTO_BUF struct buf arguments = { 0 };
    AUTO_BUF struct buf params = { 0 };
    struct json_out o = json_out(&params);
    struct cli_answer answer = { 0 };
    struct cli_asked what = { .method = "prompts/get" };
    struct pb_error err;
    int status;

    if (arguments_read(&words, cli->args + 1, cli->n_args - 1, true, &err) < 0 ||
        arguments_write(&words, NULL, &arguments, &err) < 0)
        return cli_config_fail(&err);
    json_begin_object(&o, NULL);
    json_put_str(&o, "name", cli->args[0]);
    json_put_raw(&o, "arguments", buf_span(&arguments));
    json_end(&o);
    cli_catch_interrupt();
    status = reach_open(&s, cli, &(struct reach_wants){ .item = cli->args[0] });
    if (status == CLI_OK)
        status = definition_find(&found, s, "prompt", cli->args[0]);
    if (status != CLI_OK)
        return status;
    question_from(show_member(found.entry, "server", &words.arena));
    what.params = buf_cstr(&params);
    if (cli_request(reach_client(s), &what, &answer, &err) < 0)
        status = cli_fail(&err);
    else if (cli_option(cli, "json"))
        show_json(answer.json);
    else
        status = print_messages(answer.json);
    cli_answer_done(&answer);
    return status;
}

const struct verb verb_prompt = {
    .name = "prompt",
    .usage = "SERVER.PROMPT [k=text]...",
    .help = "Fill in a prompt and print its messages",
    .min = 1,
    .max = -1,
    .options =
        (const struct option_spec[]){
            { 0, "json", NULL, "print the messages as JSON" },
            CLI_HUB_OPTIONS,
            { 0 },
        },
    .run = run_prompt,
};
