/* conformance-server - the server that the official conformance suite is run against.
 *
 *     conformance-server --port 3000        then http://localhost:3000/mcp */
#include "conformance.h"
#include "json/json.h"
#include <stdio.h>

struct pb_server *conformance_server;

/* Steps into `v` by one piece of a path. */
static struct json step(struct json v, struct span key)
{
    return json_is(v, JSON_ARRAY) ? json_item(v, 0) : json_get_span(v, key);
}

void find_text(const char *json, const char *path, char *out, size_t room)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena arena = { 0 };
    struct json v;
    struct span text;

    out[0] = '\0';
    if (json_parse(&doc, span_of(json), NULL, NULL) < 0)
        return;
    v = json_root(&doc);
    while (*path) {
        size_t n = strcspn(path, "/");

        v = step(v, span_make(path, n));
        path += n + (path[n] == '/');
    }
    text = json_is(v, JSON_STRING) ? json_str(v, &arena) : json_text(v);
    snprintf(out, room, "%.*s", SPAN_ARG(text));
}

static int add_tools(struct pb_server *server, struct pb_error *err)
{
    const struct pb_tool *lists[] = { content_tools, legacy_tools, input_tools, task_tools };
    int rc = 0;

    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        for (const struct pb_tool *t = lists[i]; rc == 0 && t->name; t++)
            rc = pb_server_add_tool(server, t, err);
    return rc;
}

static int add_all(struct pb_server *server, struct pb_error *err)
{
    int rc = add_tools(server, err);

    for (const struct pb_resource *r = static_resources; rc == 0 && r->uri; r++)
        rc = pb_server_add_resource(server, r, err);
    for (const struct pb_resource *r = resource_templates; rc == 0 && r->uri; r++)
        rc = pb_server_add_template(server, r, err);
    for (const struct pb_prompt *p = prompts; rc == 0 && p->name; p++)
        rc = pb_server_add_prompt(server, p, err);
    return rc;
}

static int serve_stdio(struct pb_server *server, struct pb_error *err)
{
    if (add_all(server, err) < 0 || pb_server_stdio(server, 0, 1, err) < 0)
        return -(int)err->code;
    return pb_server_run(server, err);
}

static int serve_http(struct pb_server *server, int port, struct pb_error *err)
{
    struct pb_http_options http = PB_HTTP_OPTIONS_INIT;
    int rc = add_all(server, err);

    http.port = port;
    if (rc == 0)
        rc = pb_server_http(server, &http, err);
    if (rc < 0)
        return rc;
    printf("MCP at http://localhost:%d/mcp\n", pb_server_port(server));
    fflush(stdout);
    return pb_server_run(server, err);
}

int main(int argc, char **argv)
{
    struct pb_server_options options = PB_SERVER_OPTIONS_INIT;
    struct pb_error err;
    char *end = NULL;
    long port = argc == 3 && !strcmp(argv[1], "--port") ? strtol(argv[2], &end, 10) : 0;
    bool stdio = argc == 2 && !strcmp(argv[1], "--stdio");
    int rc;

    if (argc != 1 && !stdio && (!end || *end || end == argv[2] || port < 0 || port > 65535)) {
        fputs("usage: conformance-server [--port PORT | --stdio]\n", stderr);
        return EXIT_FAILURE;
    }
    pb_log_to(PB_LOG_STDERR, NULL, PB_LOG_INFO);
    options.name = "Patchbay Conformance Server";
    options.version = PB_VERSION;
    options.instructions = "Offers what the conformance suite asks for.";
    conformance_server = pb_server_new(&options);
    rc = stdio ? serve_stdio(conformance_server, &err)
               : serve_http(conformance_server, (int)port, &err);
    if (rc < 0)
        fprintf(stderr, "conformance-server: %s\n", err.msg);
    pb_server_free(conformance_server);
    return rc < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
