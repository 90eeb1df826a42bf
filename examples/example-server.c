/* patchbay-example-server - datetime, string, calculator and echo as an MCP server, on stdio or
 * HTTP. Standard output carries the protocol; what there is to say goes to standard error. */
#include "example.h"
#include <getopt.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "usage: patchbay-example-server [--http PORT] [--strict]\n"
    "\n"
    "Serves the tools datetime, string, calculator and echo over MCP.\n"
    "\n"
    "  --http PORT  listen on 127.0.0.1:PORT instead of stdio; 0 takes any free port\n"
    "  --strict     legacy clients must initialize before anything but ping\n"
    "  --help       show this text\n";

struct settings {
    bool http, strict, help;
    int port;
};

void write_json_string(FILE *out, const char *text, size_t n)
{
    putc('"', out);
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text[i];

        if (c == '"' || c == '\\')
            fprintf(out, "\\%c", c);
        else if (c < 0x20)
            fprintf(out, "\\u%04x", c);
        else
            putc(c, out);
    }
    putc('"', out);
}

int reply_result(struct pb_call *call, const char *text, size_t n)
{
    char *json = NULL;
    size_t size;
    FILE *out = open_memstream(&json, &size);

    if (!out)
        return pb_fail(call, "out of memory");
    fputs("{\"result\":", out);
    write_json_string(out, text, n);
    putc('}', out);
    fclose(out);
    pb_reply_bytes(call, text, n);
    pb_reply_structured(call, json);
    free(json);
    return 0;
}

static int echo(struct pb_call *call, void *ctx)
{
    const char *text = pb_arg_string(call, "text");

    (void)ctx;
    return pb_reply_bytes(call, text, strlen(text));
}

static const struct pb_param echo_params[] = {
    { "text", PB_STRING, "comes back as it is" },
    { 0 },
};

const struct pb_tool echo_tool = {
    .name = "echo",
    .title = "Echo",
    .description = "Returns the text that it is given",
    .params = echo_params,
    .flags = PB_READ_ONLY | PB_IDEMPOTENT | PB_CLOSED_WORLD | PB_ON_LOOP,
    .run = echo,
};

static bool parse_port(const char *text, int *out)
{
    char *end;
    long port = strtol(text, &end, 10);

    if (end == text || *end || port < 0 || port > 65535)
        return false;
    *out = (int)port;
    return true;
}

static bool parse_arguments(int argc, char **argv, struct settings *out)
{
    static const struct option options[] = {
        { "http", required_argument, NULL, 'p' },
        { "strict", no_argument, NULL, 's' },
        { "help", no_argument, NULL, 'h' },
        { 0 },
    };
    int c;

    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
        out->help |= c == 'h';
        out->strict |= c == 's';
        out->http |= c == 'p';
        if (c == '?')
            return false;
        if (c == 'p' && !parse_port(optarg, &out->port)) {
            fprintf(stderr, "--http: '%s' is not a port (0..65535)\n", optarg);
            return false;
        }
    }
    return optind == argc;
}

static int serve(struct pb_server *server, const struct settings *s, struct pb_error *err)
{
    struct pb_http_options http = PB_HTTP_OPTIONS_INIT;

    if (!s->http)
        return pb_server_stdio(server, STDIN_FILENO, STDOUT_FILENO, err);
    http.port = s->port;
    if (pb_server_http(server, &http, err) < 0)
        return -1;
    printf("MCP at http://127.0.0.1:%d/mcp\n", pb_server_port(server));
    fflush(stdout);
    return 0;
}

int main(int argc, char **argv)
{
    const struct pb_tool *tools[] = { &datetime_tool, &string_tool, &calculator_tool, &echo_tool };
    struct pb_server_options options = PB_SERVER_OPTIONS_INIT;
    struct settings settings = { 0 };
    struct pb_server *server;
    struct pb_error err;
    int rc = 0;

    if (!parse_arguments(argc, argv, &settings) || settings.help) {
        fputs(usage, settings.help ? stdout : stderr);
        return settings.help ? EXIT_SUCCESS : EXIT_FAILURE;
    }
    setlocale(LC_CTYPE, "C.UTF-8"); /* letters beyond ASCII have upper and lower case, too */
    pb_log_to(PB_LOG_STDERR, NULL, PB_LOG_INFO);
    options.name = "Patchbay Example Server";
    options.version = PB_VERSION;
    options.error_style = PB_ERRORS_AS_RPC;
    options.strict = settings.strict;
    server = pb_server_new(&options);
    for (size_t i = 0; rc == 0 && i < sizeof tools / sizeof tools[0]; i++)
        rc = pb_server_add_tool(server, tools[i], &err);
    if (rc == 0)
        rc = serve(server, &settings, &err);
    if (rc == 0)
        rc = pb_server_run(server, &err);
    if (rc < 0)
        fprintf(stderr, "patchbay-example-server: %s\n", err.msg);
    pb_server_free(server);
    return rc < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
