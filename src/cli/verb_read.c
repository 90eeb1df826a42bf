#include "mcp/rpc/rpc.h"
#include "reach.h"
#include "request.h"
#include "saved.h"
#include "show.h"
#include "talk.h"
#include <errno.h>

/* Text as it is; bytes as bytes, but not onto a terminal. */
static int print_content(const struct cli *cli, struct json content)
{
    AUTO_ARENA struct arena a = { 0 };
    AUTO_BUF struct buf bytes = { 0 };
    struct json text = json_get(content, "text"), blob = json_get(content, "blob");

    if (json_is(text, JSON_STRING)) {
        show_text(arena_dup(&a, json_str(text, &a)));
        return CLI_OK;
    }
    if (cli_option(cli, "save") && json_is(blob, JSON_STRING))
        return CLI_OK;
    if (!json_is(blob, JSON_STRING) || !base64_decode(&bytes, json_str(blob, &a)))
        return talk_fail(FAILURE_TOOL, "the server's answer has neither text nor base64 bytes");
    if (isatty(STDOUT_FILENO)) {
        talk_note("%zu bytes of %s, not shown on a terminal; redirect them", bytes.n,
                  show_member(content, "mimeType", &a));
        return CLI_OK;
    }
    fwrite(bytes.p, 1, bytes.n, stdout); /* that it was not written is told in the end */
    return CLI_OK;
}

static int print_contents(const struct cli *cli, const char *json)
{
    AUTO_JSON struct json_doc doc = { 0 };
    struct pb_error err;
    int status = CLI_OK;

    if (json_parse(&doc, span_of(json), &(struct json_opts){ .keep_depth = 3 }, &err) < 0)
        return cli_fail(&err);
    JSON_FOREACH(c, json_get(json_root(&doc), "contents"))
        if (status == CLI_OK)
            status = print_content(cli, c);
    return status;
}

/* The form that the hub always understands: which server, and the URI as that one knows it. One
 * that begins with a percent sign would be taken for an encoded one, so it is encoded. */
static void write_uri(struct buf *out, const char *server, const char *uri)
{
    if (server)
        buf_printf(out, "patchbay://%s/", server);
    if (!server || uri[0] != '%') {
        buf_str(out, uri);
        return;
    }
    for (; *uri; uri++)
        buf_printf(out, "%%%02X", (unsigned char)*uri);
}

static int read_uri(const struct cli *cli, struct pb_client *client, const char *uri,
                    struct json failed)
{
    AUTO_FREE char *params = reach_params("uri", uri);
    struct cli_asked what = { .method = "resources/read", .params = params };
    struct cli_answer answer = { 0 };
    struct pb_error err;
    int status = CLI_OK;

    if (cli_request(client, &what, &answer, &err) < 0) {
        /* There is no parameter but the URI: if they are wrong, it is. */
        bool unknown = err.code == PB_E_REMOTE &&
                       (err.sys == RPC_RESOURCE_NOT_FOUND || err.sys == RPC_INVALID_PARAMS);

        status = unknown
                     ? talk_fail(FAILURE_NOT_FOUND, "%s: %s", cli->args[cli->n_args - 1], err.msg)
                     : cli_fail(&err);
        if (unknown)
            reach_tell_failed(failed); /* one of these may have it */
    } else if (cli_option(cli, "json")) {
        show_json(answer.json);
    } else {
        status = print_contents(cli, answer.json);
    }
    if (status == CLI_OK)
        status = saved_write(cli, answer.json);
    cli_answer_done(&answer);
    return status;
}

static int read_through_hub(const struct cli *cli)
{
    const char *server = cli->n_args == 2 ? cli->args[0] : NULL;
    AUTO(reach) struct reach *s = NULL;
    AUTO_FREE char *params = reach_params("server", server);
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_BUF struct buf uri = { 0 };
    struct pb_result *listed = NULL;
    struct json failed;
    struct pb_error err;
    int status;

    write_uri(&uri, server, cli->args[cli->n_args - 1]);
    status = reach_open(&s, cli, &(struct reach_wants){ .server = server });
    if (status != CLI_OK)
        return status;
    /* Servers know their URIs when they are up: this waits for them. */
    if (reach_ask(s, "patchbay/resources", params, &listed, &doc, &err) < 0) {
        status = reach_fail(&err);
    } else {
        failed = json_get(json_root(&doc), "failed");
        status = server ? reach_tell_failed(failed) : CLI_OK;
        if (status == CLI_OK)
            status = read_uri(cli, reach_client(s), buf_cstr(&uri), failed);
    }
    pb_result_free(listed);
    return status;
}

static int read_directly(const struct cli *cli)
{
    struct pb_client *client = NULL;
    struct pb_error err;
    int status;

    if (cli_connect(cli, &client, &err) < 0)
        return cli_fail(&err);
    status = read_uri(cli, client, cli->args[0], (struct json){ 0 });
    pb_client_free(client);
    return status;
}

static int run_read(struct cli *cli)
{
    if (cli->n_args == 2 && cli_has_server(cli))
        return cli_usage(cli->verb, "a server is named by '%s' or by --url, not by both",
                         cli->args[0]);
    return cli_has_server(cli) ? read_directly(cli) : read_through_hub(cli);
}

const struct verb verb_read = {
    .name = "read",
    .usage = "[SERVER] URI [--json]",
    .help = "Read a resource and print it",
    .text =
        "Text is printed; bytes are written as they are, unless standard output is a terminal.\n"
        "SERVER is needed when two servers have the same URI. With --url or -- COMMAND it is one\n"
        "of a server that is not configured.",
    .min = 1,
    .max = 2,
    .takes_command = true,
    .options =
        (const struct option_spec[]){
            { 0, "json", NULL, "print the contents as JSON" },
            CLI_SAVE_OPTION,
            CLI_SERVER_OPTIONS,
            CLI_HUB_OPTIONS,
            { 0 },
        },
    .run = run_read,
};
