/* Two C functions as MCP tools: on stdio, or with a port on http://127.0.0.1:PORT/mcp */
#include <patchbay.h>
#include <stdlib.h>

static int greet(struct pb_call *call, void *ctx)
{
    return (void)ctx, pb_reply_text(call, "Hello, %s!", pb_arg_string(call, "name"));
}

static int celsius(struct pb_call *call, void *ctx)
{
    return (void)ctx, pb_reply_text(call, "%g", (pb_arg_double(call, "fahrenheit") - 32) / 1.8);
}

int main(int argc, char **argv)
{
    const struct pb_param name[] = { { "name", PB_STRING, "who to greet" }, { 0 } };
    const struct pb_param deg[] = { { "fahrenheit", PB_DOUBLE }, { 0 } };
    struct pb_server *server = pb_server_new(NULL);
    struct pb_http_options http = PB_HTTP_OPTIONS_INIT;
    int rc;

    pb_server_add_tool(server, &(struct pb_tool){ "greet", .params = name, .run = greet }, NULL);
    pb_server_add_tool(server, &(struct pb_tool){ "celsius", .params = deg, .run = celsius }, NULL);
    http.port = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 0;
    rc = argc > 1 ? pb_server_http(server, &http, NULL) : pb_server_stdio(server, 0, 1, NULL);
    rc = rc < 0 ? rc : pb_server_run(server, NULL);
    pb_server_free(server);
    return rc < 0;
}
