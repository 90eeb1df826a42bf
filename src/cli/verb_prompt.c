#include "arguments.h"
#include "definition.h"
#include "mcp/rpc/rpc.h"
#include "question.h"
#include "request.h"
#include "saved.h"
#include "show.h"
#include "talk.h"

static void print_message(struct json m)
{
    AUTO_ARENA struct arena a = { 0 };
    struct json content = json_get(m, "content");
    struct json resource = json_get(content, "resource");
    struct json text = json_get(json_is(resource, JSON_OBJECT) ? resource : content, "text");

    printf("%s%s:%s ", show_on(SHOW_BOLD), show_member(m, "role", &a), show_off());
    if (json_is(text, JSON_STRING))
        show_text(arena_dup(&a, json_str(text, &a)));
    else
        printf("[%s%s%s]\n", show_member(content, "type", &a),
               json_is(resource, JSON_OBJECT) ? " " : "", show_member(resource, "uri", &a));
}

static int print_messages(const char *json)
{
    AUTO_JSON struct json_doc doc = { 0 };
    struct pb_error err;

    if (json_parse(&doc, span_of(json), &(struct json_opts){ .keep_depth = 5 }, &err) < 0)
        return cli_fail(&err);
    JSON_FOREACH(m, json_get(json_root(&doc), "messages"))
        print_message(m);
    return CLI_OK;
}

static int get_prompt(const struct cli *cli, struct pb_client *client, const char *params)
{
    struct cli_asked what = { .method = "prompts/get", .params = params };
    struct cli_answer answer = { 0 };
    struct pb_error err;
    int status = CLI_OK;

    /* There is nothing in it but the name and the arguments: if it is wrong, they are. */
    if (cli_request(client, &what, &answer, &err) < 0)
        status = err.code == PB_E_REMOTE && err.sys == RPC_INVALID_PARAMS
                     ? talk_fail(FAILURE_INVALID, "%s: %s", cli->args[0], err.msg)
                     : cli_fail(&err);
    else if (cli_option(cli, "json"))
        show_json(answer.json);
    else
        status = print_messages(answer.json);
    if (status == CLI_OK)
        status = saved_write(cli, answer.json);
    cli_answer_done(&answer);
    return status;
}

static int get_through_hub(const struct cli *cli, const char *params)
{
    AUTO(reach) struct reach *s = NULL;
    AUTO_DEFINITION struct definition found = { 0 };
    AUTO_ARENA struct arena a = { 0 };
    int status = reach_open(&s, cli, &(struct reach_wants){ .item = cli->args[0] });

    if (status == CLI_OK)
        status = definition_find(&found, s, "prompt", cli->args[0]);
    if (status != CLI_OK)
        return status;
    question_from(show_member(found.entry, "server", &a));
    return get_prompt(cli, reach_client(s), params);
}

static int get_directly(const struct cli *cli, const char *params)
{
    struct pb_client *client = NULL;
    struct pb_error err;
    int status;

    if (cli_connect(cli, &client, &err) < 0)
        return cli_fail(&err);
    status = get_prompt(cli, client, params);
    pb_client_free(client);
    return status;
}

static int run_prompt(struct cli *cli)
{
    AUTO_ARGUMENTS struct arguments words = { 0 };
    AUTO_BUF struct buf arguments = { 0 };
    AUTO_BUF struct buf params = { 0 };
    struct json_out o = json_out(&params);
    struct pb_error err;

    if (arguments_read(&words, cli->args + 1, cli->n_args - 1, true, &err) < 0 ||
        arguments_write(&words, NULL, &arguments, &err) < 0)
        return cli_config_fail(&err);
    json_begin_object(&o, NULL);
    json_put_str(&o, "name", cli->args[0]);
    json_put_raw(&o, "arguments", buf_span(&arguments));
    json_end(&o);
    return cli_has_server(cli) ? get_directly(cli, buf_cstr(&params))
                               : get_through_hub(cli, buf_cstr(&params));
}

const struct verb verb_prompt = {
    .name = "prompt",
    .usage = "SERVER.PROMPT [k=text]...",
    .help = "Fill in a prompt and print its messages",
    .text = "With --url or -- COMMAND it is one of a server that is not configured, under its own\n"
            "name.",
    .min = 1,
    .max = -1,
    .takes_command = true,
    .options =
        (const struct option_spec[]){
            { 0, "json", NULL, "print the messages as JSON" },
            CLI_SAVE_OPTION,
            CLI_SERVER_OPTIONS,
            CLI_HUB_OPTIONS,
            { 0 },
        },
    .run = run_prompt,
};
