/* hello-client - lists the tools of any MCP server, or calls one of them.
 *
 *     hello-client SERVER...                    SERVER is a URL, or a command with its arguments
 *     hello-client --call TOOL JSON SERVER... */
#include <patchbay.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    int at = argc > 4 && strcmp(argv[1], "--call") == 0 ? 4 : 1;
    const char *target = argc > at ? argv[at] : "http://127.0.0.1:7070/mcp";
    struct pb_client_options opts = PB_CLIENT_OPTIONS_INIT;
    struct pb_client *client = NULL;
    struct pb_result *result = NULL;
    struct pb_error err = { 0 };

    *(strstr(target, "://") ? &opts.url : &opts.command) = target;
    opts.args = argc > at ? (const char *const *)argv + at + 1 : NULL;
    if (pb_client_open(&client, &opts, &err) == 0)
        at == 4 ? pb_client_call(client, argv[2], argv[3], NULL, &result, &err)
                : pb_client_list(client, "tools", &result, &err);
    char *text = result && at == 4 ? pb_result_text(result) : NULL;
    puts(text ? text : result ? pb_result_json(result, NULL) : err.msg);
    free(text);
    pb_result_free(result);
    pb_client_free(client);
    return err.code != PB_OK;
}
