#include "arguments.h"
#include "definition.h"
#include "face/relay/relay.h"
#include "question.h"
#include "request.h"
#include "saved.h"
#include "show.h"
#include "signature.h"
#include "talk.h"
#include <unistd.h>

/* What the hub says about a call that went wrong on the way, in the words of a tool: its exit code,
 * or CLI_OK when they are a tool's own. */
static int tell_fault(const char *text)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena a = { 0 };
    enum cli_failure what;

    if (text[0] != '{' || json_parse(&doc, span_of(text), NULL, NULL) < 0 ||
        !json_is(json_get(json_root(&doc), "message"), JSON_STRING))
        return CLI_OK;
    what = reach_failure(json_str(json_get(json_root(&doc), "error"), &a));
    if (what == FAILURE_COUNT)
        return CLI_OK;
    return talk_fail(what, "%s", show_member(json_root(&doc), "message", &a));
}

static int print_answer(const struct cli *cli, const struct cli_answer *a)
{
    int status = a->is_error ? tell_fault(a->text) : CLI_OK;

    if (cli_option(cli, "json"))
        show_json(a->json);
    else if (status == CLI_OK)
        show_text(a->text);
    if (status == CLI_OK)
        status = saved_write(cli, a->json);
    return status != CLI_OK ? status : a->is_error ? CLI_TOOL_ERROR : CLI_OK;
}

/* A call that is being made ready. */
struct calling {
    const struct cli *cli;
    const char *tool; /* as it was named */
    struct arguments words;
    uint32_t timeout_ms;
    bool unlisted; /* the server that is named here and now does not list it */
};

/* Which of the two was waited for is what a person must know: that the server came up, or that the
 * tool did its work. */
static int tell_unanswered(const struct calling *c, struct pb_error *err)
{
    if (c->unlisted && err->code == PB_E_REMOTE)
        return talk_fail(FAILURE_NOT_FOUND, "the server lists no tool '%s', and says: %s", c->tool,
                         err->msg);
    if (err->code == PB_E_TIMEOUT && c->timeout_ms)
        fail(err, PB_E_TIMEOUT, "%s: the tool has not answered within %u ms; the call is cancelled",
             c->tool, c->timeout_ms);
    return cli_fail(err);
}

/* Relative paths in the arguments of built-in tools begin where we are. */
static void put_directory(struct json_out *o)
{
    AUTO_FREE char *here = getcwd(NULL, 0);

    if (!here)
        return;
    json_begin_object(o, "_meta");
    json_put_str(o, RELAY_META_DIRECTORY, here);
    json_end(o);
}

static int send_call(const struct calling *c, struct pb_client *client, struct span arguments)
{
    AUTO_BUF struct buf params = { 0 };
    struct json_out o = json_out(&params);
    struct cli_answer answer = { 0 };
    struct pb_error err;
    int status;

    json_begin_object(&o, NULL);
    json_put_str(&o, "name", c->tool);
    json_put_raw(&o, "arguments", arguments);
    put_directory(&o);
    json_end(&o);
    if (cli_request(client, &(struct cli_asked){ "tools/call", buf_cstr(&params), c->timeout_ms },
                    &answer, &err) < 0)
        status = tell_unanswered(c, &err);
    else
        status = print_answer(c->cli, &answer);
    if (status == CLI_TOOL_ERROR && c->unlisted)
        status = talk_fail(FAILURE_NOT_FOUND, "the server lists no tool '%s'", c->tool);
    cli_answer_done(&answer);
    return status;
}

static const struct schema *schema_of(const struct calling *c, const struct definition *d)
{
    return cli_option(c->cli, "unchecked") ? NULL : d->schema;
}

/* Before anything is sent, and with what would be right. */
static int tell_wrong(const struct calling *c, const struct definition *d, struct pb_error *err)
{
    AUTO_BUF struct buf signature = { 0 };
    int left = TELL_STEPS_MAX;

    fail_in(err, "%s", c->tool);
    if (schema_of(c, d))
        signature_write(&signature, c->tool, (struct wanted_from){ d->schema, &left }, d->input);
    return talk_trouble(&(struct trouble){ .what = FAILURE_INVALID,
                                           .message = err->msg,
                                           .hint = signature.n ? buf_cstr(&signature) : NULL,
                                           .before = "\n  " });
}

static int call(struct calling *c, struct pb_client *client, const struct definition *d)
{
    AUTO_BUF struct buf arguments = { 0 };
    struct pb_error err;

    if (arguments_write(&c->words, schema_of(c, d), &arguments, &err) < 0)
        return tell_wrong(c, d, &err);
    return send_call(c, client, buf_span(&arguments));
}

/* What the server said once may have changed: it does not refuse a call before it was asked. */
static int check_old(struct calling *c, struct reach *s, struct definition *d)
{
    AUTO_BUF struct buf ignored = { 0 };

    if (!definition_is_old(d) || arguments_write(&c->words, schema_of(c, d), &ignored, NULL) == 0)
        return CLI_OK;
    return definition_refresh(d, s, "tool", c->tool);
}

static int call_through_hub(struct calling *c)
{
    AUTO(reach) struct reach *s = NULL;
    AUTO_DEFINITION struct definition d = { 0 };
    int status =
        reach_open(&s, c->cli, &(struct reach_wants){ .item = c->tool, .start_ms = c->timeout_ms });

    if (status == CLI_OK)
        status = definition_find(&d, s, "tool", c->tool);
    if (status == CLI_OK)
        status = check_old(c, s, &d);
    question_from(show_member(d.entry, "server", &c->words.arena));
    return status == CLI_OK ? call(c, reach_client(s), &d) : status;
}

/* A server that does not list what it has may have it all the same. */
static int call_directly(struct calling *c)
{
    AUTO_DEFINITION struct definition d = { 0 };
    struct pb_client *client = NULL;
    struct pb_error err;
    int status;

    if (cli_connect(c->cli, &client, &err) < 0)
        return cli_fail(&err);
    if (definition_ask(&d, client, "tools", c->tool, &err) < 0 && err.code != PB_E_REMOTE) {
        status = cli_fail(&err);
    } else {
        c->unlisted = json_is(d.item, JSON_NONE);
        status = call(c, client, &d);
    }
    pb_client_free(client);
    return status;
}

static int run_call(struct cli *cli)
{
    struct calling c = { .cli = cli };
    struct pb_error err;
    int status;

    if (cli_timeout(cli, &c.timeout_ms) != CLI_OK)
        return CLI_USAGE;
    if (arguments_read_call(&c.words, cli->args[0], &c.tool, &err) < 0 ||
        arguments_read(&c.words, cli->args + 1, cli->n_args - 1, false, &err) < 0) {
        status = cli_config_fail(&err);
    } else {
        status = cli_has_server(cli) ? call_directly(&c) : call_through_hub(&c);
    }
    arguments_done(&c.words);
    return status;
}

const struct verb verb_call = {
    .name = "call",
    .usage = "SERVER.TOOL [k=value | k:=json | k=@file | {...} | @file | -]...",
    .help = "Call one tool and print its result",
    .text = "The tool is one of a configured server, written server.tool, server/tool or\n"
            "server__tool; or with --url or -- COMMAND one of that server, under its own name.\n"
            "\n"
            "k=value becomes what the tool's schema wants: a number, true, null, a string. A key\n"
            "that is repeated makes a list, one with dots reaches into an object (filter.tag=x),\n"
            "k:=json is sent as it is, and k=value goes over what {...} says. The whole can also\n"
            "be written as one word: 'server.tool(k: 1, other: \"x\")'. What is unknown, missing,\n"
            "given twice or of the wrong type is told before anything is sent.\n"
            "\n"
            "Progress goes to standard error, and Ctrl-C cancels the call on the server. The\n"
            "result is printed as a person would read it; with --json as the server sent it.",
    .min = 1,
    .max = -1,
    .takes_command = true,
    .options =
        (const struct option_spec[]){
            { 0, "json", NULL, "print the result as JSON" },
            { 't', "timeout", "SECONDS",
              "give up when the server's start takes so long, or then the tool" },
            CLI_SAVE_OPTION,
            { 0, "unchecked", NULL, "send the arguments whatever the schema says; k=v is text" },
            CLI_SERVER_OPTIONS,
            CLI_HUB_OPTIONS,
            { 0 },
        },
    .run = run_call,
};
