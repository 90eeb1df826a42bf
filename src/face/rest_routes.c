/* rest_routes.c - the one list of what REST can do. */
#include "rest_impl.h"

/* ---- what they take ---- */

#define NAME_PARAM                                                \
    {                                                             \
        "name", REST_PATH, REST_STRING, true, "the server's name" \
    }
#define ID_PARAM(what)                           \
    {                                            \
        "id", REST_PATH, REST_STRING, true, what \
    }
#define SERVER_QUERY                                                    \
    {                                                                   \
        "server", REST_QUERY, REST_STRING, false, "only of this server" \
    }
#define CALL_ID                                                                                   \
    {                                                                                             \
        "id", REST_BODY, REST_STRING, false, "a UUID for the call; its progress is then told too" \
    }
#define END \
    {       \
        0   \
    }

#define SECRETS_HELP "keys by variable or header, kept apart from config.json; null forgets one"

/* clang-format off */
static const struct rest_param by_name[] = { NAME_PARAM, END };
static const struct rest_param by_alert[] = { ID_PARAM("the alert's id"), END };
static const struct rest_param by_call[] = { ID_PARAM("the call's id"), END };
static const struct rest_param by_mode[] = { ID_PARAM("the mode's id"), END };
static const struct rest_param by_server[] = { SERVER_QUERY, END };

static const struct rest_param connect_params[] = {
    { "name",           REST_BODY, REST_STRING, true,  "letters, digits, '_' and '-'" },
    { "transport",      REST_BODY, REST_STRING, false, "stdio, sse or http; found out when left out" },
    { "command",        REST_BODY, REST_ANY,    false, "the program to run" },
    { "args",           REST_BODY, REST_ANY,    false, "its arguments, a list of strings" },
    { "env",            REST_BODY, REST_OBJECT, false, "variables for it" },
    { "inherit_env",    REST_BODY, REST_ANY,    false, "what it gets of our environment: \"all\", \"safe\" or a list of names" },
    { "cwd",            REST_BODY, REST_STRING, false, "where it runs" },
    { "url",            REST_BODY, REST_STRING, false, "instead of a command" },
    { "headers",        REST_BODY, REST_OBJECT, false, "sent with every request to the URL" },
    { "timeout_s",      REST_BODY, REST_NUMBER, false, "of tool calls; 30" },
    { "auto_reconnect", REST_BODY, REST_BOOL,   false, "try again when it is lost; true" },
    END,
};

static const struct rest_param configure_params[] = {
    NAME_PARAM,
    { "command", REST_BODY, REST_ANY,    false, "and every other member that config.json may have" },
    { "args",    REST_BODY, REST_ANY,    false, "a list of strings; one that is as it was shown stays as it is" },
    { "env",     REST_BODY, REST_OBJECT, false, "a value of \"***\" stays as it is" },
    { "url",     REST_BODY, REST_STRING, false, "instead of a command" },
    { "headers", REST_BODY, REST_OBJECT, false, "a value of \"***\" stays as it is" },
    { "secrets", REST_BODY, REST_OBJECT, false, SECRETS_HELP },
    END,
};

static const struct rest_param add_params[] = {
    { "dry_run", REST_QUERY, REST_BOOL,   false, "only say what would be added" },
    { "text",    REST_BODY,  REST_STRING, false, "a command, package or URL, as 'patchbay add' takes it" },
    { "name",    REST_BODY,  REST_STRING, false, "the server's name; a text names itself" },
    { "entry",   REST_BODY,  REST_OBJECT, false, "instead of text: the entry as it stands in config.json" },
    { "secrets", REST_BODY,  REST_OBJECT, false, SECRETS_HELP },
    { "force",   REST_BODY,  REST_BOOL,   false, "replace a server of that name" },
    END,
};

static const struct rest_param parse_params[] = {
    { "text", REST_BODY, REST_STRING, true, "a command line, a package, a URL, or JSON of any client" },
    END,
};

static const struct rest_param trial_params[] = {
    { "name",    REST_BODY, REST_STRING, false, "of the server that is being changed: its masked values are known" },
    { "entry",   REST_BODY, REST_OBJECT, true,  "as it would stand in config.json" },
    { "secrets", REST_BODY, REST_OBJECT, false, "keys by variable or header; they are not kept" },
    END,
};

static const struct rest_param match_params[] = {
    { "filter", REST_BODY, REST_ANY, true, "as in a mode" },
    END,
};

static const struct rest_param tool_params[] = {
    NAME_PARAM,
    { "tool",    REST_PATH, REST_STRING, true, "the tool's own name" },
    { "enabled", REST_BODY, REST_BOOL,   true, "whether clients see it" },
    END,
};

static const struct rest_param server_log_params[] = {
    NAME_PARAM,
    { "lines", REST_QUERY, REST_COUNT,  false, "the last so many" },
    { "since", REST_QUERY, REST_NUMBER, false, "only later ones; seconds since 1970" },
    END,
};

static const struct rest_param log_params[] = {
    { "lines", REST_QUERY, REST_COUNT, false, "the last so many of each server" },
    END,
};

static const struct rest_param page_params[] = {
    SERVER_QUERY,
    { "mode",   REST_QUERY, REST_STRING, false, "only what this mode lets through" },
    { "q",      REST_QUERY, REST_STRING, false, "only with these words in the name or description" },
    { "limit",  REST_QUERY, REST_COUNT,  false, "at most so many; 1000" },
    { "offset", REST_QUERY, REST_COUNT,  false, "without the first so many" },
    END,
};

static const struct rest_param calls_params[] = {
    { "limit", REST_QUERY, REST_COUNT, false, "at most so many that have ended; 1000. Of those under way the first 1000 are shown" },
    END,
};

static const struct rest_param call_params[] = {
    { "tool",      REST_BODY, REST_STRING, true,  "server/tool" },
    { "arguments", REST_BODY, REST_OBJECT, false, "of the tool; {}" },
    { "timeout_s", REST_BODY, REST_NUMBER, false, "instead of the server's" },
    CALL_ID,
    END,
};

static const struct rest_param prompt_params[] = {
    { "prompt",    REST_BODY, REST_STRING, true,  "server/prompt" },
    { "arguments", REST_BODY, REST_OBJECT, false, "of the prompt, strings" },
    { "timeout_s", REST_BODY, REST_NUMBER, false, "instead of the server's" },
    CALL_ID,
    END,
};

static const struct rest_param read_params[] = {
    { "server",    REST_BODY, REST_STRING, true,  "whose resource it is" },
    { "uri",       REST_BODY, REST_STRING, true,  "as the server lists it" },
    { "timeout_s", REST_BODY, REST_NUMBER, false, "instead of the server's" },
    CALL_ID,
    END,
};

static const struct rest_param mode_params[] = {
    ID_PARAM("the mode's id"),
    { "name",   REST_BODY, REST_STRING, false, "what people call it" },
    { "icon",   REST_BODY, REST_STRING, false, "a picture's name" },
    { "filter", REST_BODY, REST_ANY,    true,  "\"all\", {\"servers\":[…]}, {\"tools\":[…]}, {\"pattern\":…}, …" },
    END,
};

static const struct rest_param event_params[] = {
    SERVER_QUERY,
    { "types", REST_QUERY, REST_STRING, false, "only these, separated by commas" },
    END,
};

/* ---- what they answer ---- */

#define SERVER_EXAMPLE "{\"name\":\"git\",\"display_name\":\"git\",\"transport\":\"stdio\",\"target\":\"npx -y server-git\",\"state\":\"connected\",\"status\":\"Connected\",\"tools\":2}"
#define ENTRIES_EXAMPLE "\"total\":1,\"failed\":[]}"
#define OK_EXAMPLE "{\"status\":\"ok\"}"
#define NAMED_EXAMPLE "{\"status\":\"ok\",\"name\":\"git\"}"
#define LOGS_EXAMPLE "{\"entries\":[{\"id\":\"…\",\"server\":\"git\",\"timestamp\":1700000000.5,\"level\":\"info\",\"source\":\"stderr\",\"message\":\"ready\"}]}"
#define MODE_EXAMPLE "{\"id\":\"read\",\"name\":\"Read only\",\"filter\":{\"pattern\":\"^read_\"}}"
#define SETTINGS_EXAMPLE "{\"settings\":[{\"name\":\"timeout_s\",\"value\":30,\"kind\":\"seconds\",\"default\":\"30\",\"min\":0.001,\"max\":86400,\"applies\":\"at_once\",\"pending\":false,\"help\":\"…\"}],\"takes_effect\":\"at once\"}"
#define RESULT_EXAMPLE "{\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"…\"}]}}"

#define HUB REST_NEEDS_HUB
#define READ REST_READ
#define OPEN (REST_NEEDS_HUB | REST_OPEN_BODY)

const struct rest_route rest_routes[] = {
    { "DELETE", "/api/alerts", rest_alerts_dismiss, NULL, 0, 0, 200, OK_EXAMPLE, NULL,
      "Dismiss all alerts" },
    { "GET", "/api/alerts", rest_alerts, NULL, READ, 0, 200,
      "{\"alerts\":[{\"id\":\"…\",\"server\":\"git\",\"kind\":\"connectionFailed\",\"message\":\"Connection refused\",\"text\":\"git: Connection refused\",\"timestamp\":1700000000.5}]}", NULL,
      "What a person should look at" },
    { "DELETE", "/api/alerts/{id}", rest_alert_dismiss, by_alert, 0, REST_404, 200, OK_EXAMPLE, NULL,
      "Dismiss one alert" },
    { "GET", "/api/calls", rest_calls, calls_params, READ | HUB, 0, 200,
      "{\"calls\":[{\"id\":\"…\",\"server\":\"git\",\"method\":\"tools/call\",\"subject\":\"log\",\"client\":\"Claude Code 2.1\",\"started_at\":1700000000.5,\"progress\":3,\"total\":10,\"message\":\"reading\"}],"
      "\"recent\":[{\"id\":\"…\",\"server\":\"git\",\"method\":\"tools/call\",\"subject\":\"diff\",\"client\":\"console\",\"started_at\":1700000000.5,\"duration\":0.25,\"outcome\":\"cancelled\",\"reason\":\"userRequested\"}]}", NULL,
      "Calls under way, and the last ones that ended, newest first. The outcome is ok, error or cancelled; a script that sends X-Patchbay-Client is shown by that name" },
    { "POST", "/api/calls/{id}/cancel", rest_calls_cancel, by_call, HUB, REST_404, 200, OK_EXAMPLE, NULL,
      "Cancel a call" },
    { "GET", "/api/events", rest_events, event_params, READ | REST_STREAM, 0, 200, NULL, "text/event-stream",
      "Everything that happens, as it happens. Last-Event-ID goes on where a stream broke; the event \"reset\" says that this is not possible any more, and that all is to be read anew" },
    { "GET", "/api/logs", rest_logs, log_params, READ | HUB, 0, 200, LOGS_EXAMPLE, NULL,
      "What was logged about all servers" },
    { "GET", "/api/mcp-clients", rest_clients, NULL, READ | HUB, 0, 200,
      "{\"clients\":{\"git\":{\"status\":\"connected\",\"transport\":\"stdio\",\"tools\":[\"git/log\"],\"connected_at\":1700000000.0},\"db\":{\"status\":\"error\",\"transport\":\"sse\",\"tools\":[],\"error\":\"Connection refused\"}}}", NULL,
      "All servers and how they are" },
    { "POST", "/api/mcp-clients/connect", rest_clients_connect, connect_params, OPEN, REST_409 | REST_502, 200,
      "{\"status\":\"ok\",\"name\":\"git\",\"tools\":[\"git/log\",\"git/diff\"]}", NULL,
      "Add a server until the hub stops, connect it, and wait for the outcome. One that cannot be connected stays in state error" },
    { "POST", "/api/mcp-clients/{name}/disconnect", rest_clients_disconnect, by_name, HUB, REST_404, 200, NAMED_EXAMPLE, NULL,
      "Disconnect a server; what is known about it is kept" },
    { "POST", "/api/mcp-clients/{name}/reconnect", rest_clients_reconnect, by_name, HUB, REST_404 | REST_502, 200,
      "{\"status\":\"ok\",\"name\":\"git\",\"tools\":[\"git/log\"]}", NULL,
      "Connect a server again, and wait for the outcome" },
    { "GET", "/api/mcp-prompts", rest_mcp_prompts, by_server, READ | HUB, 0, 200,
      "{\"prompts\":[{\"name\":\"git/review\",\"server\":\"git\",\"original_name\":\"review\",\"description\":\"…\",\"arguments\":[]}]}", NULL,
      "Prompts of all connected servers" },
    { "POST", "/api/mcp-prompts/get", rest_mcp_prompts_get, prompt_params, HUB, REST_404 | REST_409 | REST_502 | REST_503 | REST_504, 200,
      "{\"result\":{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"…\"}}]}}", NULL,
      "Get a prompt" },
    { "GET", "/api/mcp-resources", rest_mcp_resources, by_server, READ | HUB, 0, 200,
      "{\"resources\":[{\"uri\":\"file:///notes\",\"server\":\"files\",\"name\":\"Notes\",\"description\":\"…\",\"mime_type\":\"text/plain\"}]}", NULL,
      "Resources of all connected servers" },
    { "POST", "/api/mcp-resources/read", rest_mcp_resources_read, read_params, HUB, REST_404 | REST_409 | REST_502 | REST_503 | REST_504, 200,
      "{\"content\":\"…\",\"mime_type\":\"text/plain\"}", NULL,
      "Read a resource" },
    { "GET", "/api/mcp-tools", rest_mcp_tools, by_server, READ | HUB, 0, 200,
      "{\"tools\":[{\"name\":\"git/log\",\"server\":\"git\",\"original_name\":\"log\",\"description\":\"…\",\"input_schema\":{\"type\":\"object\"}}]}", NULL,
      "Tools of all connected servers" },
    { "POST", "/api/mcp-tools/call", rest_mcp_tools_call, call_params, HUB, REST_404 | REST_409 | REST_502 | REST_503 | REST_504, 200, RESULT_EXAMPLE, NULL,
      "Call a tool, and wait for its result" },
    { "GET", "/api/modes", rest_modes, NULL, READ | HUB, 0, 200, "{\"modes\":[" MODE_EXAMPLE "]}", NULL,
      "Modes: named choices of tools" },
    { "POST", "/api/modes/match", rest_modes_match, match_params, HUB, 0, 200,
      "{\"tools\":1,\"total\":12,\"names\":[\"git/log\"]}", NULL,
      "How many tools a filter lets through, of how many, and the first of them" },
    { "DELETE", "/api/modes/{id}", rest_mode_remove, by_mode, HUB, REST_404 | REST_409, 200, "{\"status\":\"ok\",\"id\":\"read\"}", NULL,
      "Remove a mode from config.json" },
    { "PUT", "/api/modes/{id}", rest_mode_save, mode_params, HUB, REST_409, 200, MODE_EXAMPLE, NULL,
      "Save a mode in config.json" },
    { "GET", "/api/prompts", rest_prompts, page_params, READ | HUB, REST_404, 200,
      "{\"prompts\":[{\"name\":\"git/review\",\"wire\":\"git__review\",\"server\":\"git\",\"definition\":{\"name\":\"review\"}}]," ENTRIES_EXAMPLE, NULL,
      "Prompts as their servers define them, page by page" },
    { "POST", "/api/reconnect-failed", rest_reconnect_failed, NULL, HUB, 0, 200, "{\"servers\":[" SERVER_EXAMPLE "]}", NULL,
      "Connect every server again that has failed" },
    { "POST", "/api/reload", rest_reload, NULL, HUB, REST_409, 200, OK_EXAMPLE, NULL,
      "Read the config files again, and take them over" },
    { "GET", "/api/resources", rest_resources, page_params, READ | HUB, REST_404, 200,
      "{\"resources\":[{\"uri\":\"file:///notes\",\"server\":\"files\",\"definition\":{\"uri\":\"file:///notes\",\"name\":\"Notes\"}}],\"resourceTemplates\":[],\"total_templates\":0," ENTRIES_EXAMPLE, NULL,
      "Resources and templates as their servers define them, page by page" },
    { "GET", "/api/servers", rest_servers, NULL, READ | HUB, 0, 200, "{\"servers\":[" SERVER_EXAMPLE "]}", NULL,
      "All servers, with more about each" },
    { "POST", "/api/servers", rest_servers_add, add_params, HUB, REST_409, 201, SERVER_EXAMPLE, NULL,
      "Add a server to config.json" },
    { "POST", "/api/servers/parse", rest_servers_parse, parse_params, HUB, 0, 200,
      "{\"servers\":[{\"name\":\"github-mcp-server\",\"display_name\":\"GitHub MCP Server\",\"transport\":\"stdio\",\"target\":\"npx -y @github/mcp-server\",\"auth\":\"none\",\"exists\":false,\"entry\":{\"command\":\"npx\",\"args\":[\"-y\",\"@github/mcp-server\"]}}]}", NULL,
      "What servers a text describes; nothing is kept" },
    { "POST", "/api/servers/test", rest_servers_test, trial_params, HUB, REST_503, 200,
      "{\"ok\":true,\"took_ms\":412,\"protocol\":\"2025-11-25\",\"server_info\":{\"name\":\"git\"},\"tools\":[\"log\",\"diff\"]}", NULL,
      "Start a server, see what it offers, and stop it again; nothing is kept" },
    { "DELETE", "/api/servers/{name}", rest_server_remove, by_name, HUB, REST_404 | REST_409, 200, NAMED_EXAMPLE, NULL,
      "Remove a server: from config.json, or from the hub if it came by connect" },
    { "GET", "/api/servers/{name}", rest_server, by_name, READ | HUB, REST_404, 200, SERVER_EXAMPLE, NULL,
      "One server, with its configuration; secrets are \"***\"" },
    { "PUT", "/api/servers/{name}", rest_server_configure, configure_params, OPEN, REST_404 | REST_409, 200, SERVER_EXAMPLE, NULL,
      "Replace a server's entry in config.json" },
    { "POST", "/api/servers/{name}/cancel", rest_server_cancel, by_name, HUB, REST_404 | REST_409, 200, SERVER_EXAMPLE, NULL,
      "End a running attempt to connect" },
    { "POST", "/api/servers/{name}/connect", rest_server_connect, by_name, HUB, REST_404 | REST_502 | REST_503, 200, SERVER_EXAMPLE, NULL,
      "Connect a server, and wait for the outcome" },
    { "POST", "/api/servers/{name}/disable", rest_server_disable, by_name, HUB, REST_404 | REST_409, 200, SERVER_EXAMPLE, NULL,
      "Switch a server off; kept in config.json if it is defined there" },
    { "POST", "/api/servers/{name}/disconnect", rest_server_disconnect, by_name, HUB, REST_404, 200, SERVER_EXAMPLE, NULL,
      "Disconnect a server" },
    { "POST", "/api/servers/{name}/enable", rest_server_enable, by_name, HUB, REST_404 | REST_409, 200, SERVER_EXAMPLE, NULL,
      "Switch a server on again" },
    { "GET", "/api/servers/{name}/logs", rest_server_logs, server_log_params, READ | HUB, REST_404, 200, LOGS_EXAMPLE, NULL,
      "What was logged about a server" },
    { "POST", "/api/servers/{name}/reconnect", rest_server_reconnect, by_name, HUB, REST_404 | REST_502 | REST_503, 200, SERVER_EXAMPLE, NULL,
      "Connect a server again unless it is connected, and wait for the outcome" },
    { "POST", "/api/servers/{name}/restart", rest_server_restart, by_name, HUB, REST_404 | REST_502 | REST_503, 200, SERVER_EXAMPLE, NULL,
      "Stop a server and start it again, and wait for the outcome" },
    { "PUT", "/api/servers/{name}/tools/{tool}", rest_server_tool, tool_params, HUB, REST_404 | REST_409, 200, SERVER_EXAMPLE, NULL,
      "Switch one tool on or off, in config.json" },
    { "GET", "/api/settings", rest_settings, NULL, READ | HUB, REST_409, 200, SETTINGS_EXAMPLE, NULL,
      "Settings, as the config files have them" },
    { "PATCH", "/api/settings", rest_settings_change, NULL, OPEN, REST_409, 200, SETTINGS_EXAMPLE, NULL,
      "Change settings in config.json: the body has a member for each, null for the default" },
    { "GET", "/api/status", rest_status, NULL, READ | HUB, 0, 200,
      "{\"version\":\"1.0.0\",\"pid\":4711,\"servers\":{\"total\":1,\"connected\":1},\"tools\":2,\"in_flight\":0,\"memory_bytes\":4194304,\"loop\":{\"over_20ms\":0,\"over_100ms\":0,\"worked_20ms\":0,\"longest_ms\":0},\"calls\":[]}", NULL,
      "The daemon itself" },
    { "GET", "/api/tools", rest_tools, page_params, READ | HUB, REST_404, 200,
      "{\"tools\":[{\"name\":\"git/log\",\"wire\":\"git__log\",\"server\":\"git\",\"definition\":{\"name\":\"log\",\"inputSchema\":{\"type\":\"object\"}}}]," ENTRIES_EXAMPLE, NULL,
      "Tools as their servers define them, page by page" },
    { "GET", "/docs", rest_docs, NULL, REST_PUBLIC, 0, 200, NULL, "text/html",
      "This list, for people" },
    { "GET", "/metrics", rest_metrics, NULL, READ, 0, 200, NULL, "text/plain",
      "Numbers for Prometheus" },
    { "GET", "/openapi.json", rest_openapi, NULL, REST_PUBLIC, 0, 200, "{\"openapi\":\"3.1.0\"}", NULL,
      "This list, for programs" },
    { 0 },
};
/* clang-format on */

/* ---- finding one ---- */

static struct span part_of(struct span *rest)
{
    const char *slash = rest->n ? memchr(rest->p, '/', rest->n) : NULL;
    struct span part = span_make(rest->p, slash ? (size_t)(slash - rest->p) : rest->n);

    *rest = span_from(*rest, slash ? part.n + 1 : part.n);
    return part;
}

/* A part in braces fits every part but an empty one. */
static bool fits(const char *template, struct span path)
{
    struct span want = span_of(template);

    if (path.n && path.p[path.n - 1] == '/')
        return false;
    while (want.n && path.n) {
        struct span a = part_of(&want), b = part_of(&path);

        if (a.n && a.p[0] == '{' ? !b.n : !span_eq(a, b))
            return false;
    }
    return !want.n && !path.n;
}

const struct rest_route *rest_find(struct span method, struct span path, struct buf *allow)
{
    bool reads = false;

    for (const struct rest_route *t = rest_routes; t->method; t++) {
        if (!fits(t->path, path))
            continue;
        if (span_is(method, t->method))
            return t;
        buf_printf(allow, "%s%s", allow->n ? ", " : "", t->method);
        reads = reads || strcmp(t->method, "GET") == 0;
    }
    if (allow->n)
        buf_printf(allow, "%s, OPTIONS", reads ? ", HEAD" : "");
    return NULL;
}

enum token_may rest_needs(struct span method, struct span path)
{
    AUTO_BUF struct buf allow = { 0 };
    bool reads = span_is(method, "GET") || span_is(method, "HEAD");
    const struct rest_route *t = rest_find(reads ? SPAN("GET") : method, path, &allow);

    /* What is not there can be told to whoever may read. */
    return (t ? (t->flags & REST_READ) != 0 : reads) ? TOKEN_READ : TOKEN_REST;
}

bool rest_is_public(struct span path)
{
    for (const struct rest_route *t = rest_routes; t->method; t++)
        if (t->flags & REST_PUBLIC && fits(t->path, path))
            return true;
    return false;
}
