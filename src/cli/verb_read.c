#include "reach.h"
#include "request.h"
#include "show.h"
#include <errno.h>

/* Text as it is; bytes as bytes, but not onto a terminal. */
static int print_content(struct json content)
{
    AUTO_ARENA struct arena a = { 0 };
    AUTO_BUF struct buf bytes = { 0 };
    struct json text = json_get(content, "text"), blob = json_get(content, "blob");

    if (json_is(text, JSON_STRING)) {
        show_text(arena_dup(&a, json_str(text, &a)));
        return CLI_OK;
    }
    if (!json_is(blob, JSON_STRING) || !base64_decode(&bytes, json_str(blob, &a))) {
        fprintf(stderr, "patchbay: the server's answer has neither text nor base64 bytes\n");
        return CLI_TOOL_ERROR;
    }
    if (isatty(STDOUT_FILENO)) {
        fprintf(stderr, "patchbay: %zu bytes of %s, not shown on a terminal; redirect them\n",
                bytes.n, show_member(content, "mimeType", &a));
        return CLI_OK;
    }
    return fwrite(bytes.p, 1, bytes.n, stdout) == bytes.n ? CLI_OK : CLI_UNREACHABLE;
}

static int print_contents(const char *json)
{
    AUTO_JSON struct json_doc doc = { 0 };
    struct pb_error err;
    int status = CLI_OK;

    if (json_parse(&doc, span_of(json), NULL, &err) < 0)
        return cli_fail(&err);
    JSON_FOREACH(c, json_get(json_root(&doc), "contents"))
        if (status == CLI_OK)
            status = print_content(c);
    return status;
}

/* A server of our own has to be started before it knows its URIs. */
static int wake(struct reach *s, const char *server, struct pb_error *err)
{
    AUTO_FREE char *params = reach_params("server", server);
    struct pb_result *ignored = NULL;
    int rc = 0;

    if (!reach_is_daemon(s))
        rc = reach_request(s, "patchbay/resources", params, &ignored, err);
    pb_result_free(ignored);
    return rc;
}

static void percent(struct buf *out, const char *s)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";

    for (; *s; s++) {
        if (strchr(plain, *s))
            buf_byte(out, *s);
        else
            buf_printf(out, "%%%02X", (unsigned char)*s);
    }
}

static int run_read(struct cli *cli)
{
    AUTO(reach) struct reach *s = NULL;
    const char *server = cli->n_args == 2 ? cli->args[0] : NULL;
    const char *uri = cli->args[cli->n_args - 1];
    AUTO_BUF struct buf full = { 0 };
    AUTO_FREE char *params = NULL;
    struct cli_answer answer = { 0 };
    struct pb_error err;
    int status;

    if (server) {
        buf_printf(&full, "patchbay://%s/", server);
        percent(&full, uri);
        uri = buf_cstr(&full);
    }
    params = reach_params("uri", uri);
    cli_catch_interrupt();
    if (reach_open(&s, cli, 0, &err) < 0 || wake(s, server, &err) < 0)
        return cli_fail(&err);
    if (cli_request(reach_client(s), "resources/read", params, 0, &answer, &err) < 0)
        status = cli_fail(&err);
    else if (cli_option(cli, "json"))
        status = puts(answer.json) < 0 ? CLI_UNREACHABLE : CLI_OK;
    else
        status = print_contents(answer.json);
    cli_answer_done(&answer);
    return status;
}

const struct verb verb_read = {
    .name = "read",
    .usage = "[SERVER] URI [--json]",
    .help = "Read a resource and print it",
    .text = "Text is printed, bytes are written as they are unless standard output is a terminal.",
    .min = 1,
    .max = 2,
    .options =
        (const struct option_spec[]){
            { 0, "json", NULL, "print the contents as JSON" },
            CLI_HUB_OPTIONS,
            { 0 },
        },
    .run = run_read,
};
