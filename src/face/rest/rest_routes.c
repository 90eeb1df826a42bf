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

static const struct rest_param registry_params[] = {
    { "search",   REST_BODY, REST_STRING, true,  "words" },
    { "registry", REST_BODY, REST_STRING, false, "official or smithery; both when left out" },
    END,
};

static const struct rest_param registry_server_params[] = {
    { "name", REST_BODY, REST_STRING, true, "as Smithery lists it" },
    END,
};

static const struct rest_param pins_params[] = {
    { "server", REST_QUERY, REST_STRING, false, "only those of this server" },
    { "kind",   REST_QUERY, REST_STRING, false, "tool, prompt or instructions" },
    { "name",   REST_QUERY, REST_STRING, false, "only this one" },
    END,
};

static const struct rest_param approve_params[] = {
    { "server", REST_BODY, REST_STRING, true,  "whose definitions" },
    { "kind",   REST_BODY, REST_STRING, false, "tool, prompt or instructions; with name, tool when left out" },
    { "name",   REST_BODY, REST_STRING, false, "only this one" },
    { "cid",    REST_BODY, REST_STRING, false, "what was looked at, of one; needed with name" },
    { "version", REST_BODY, REST_STRING, false, "what was looked at, of all of the server: as GET /api/pins?server= says; needed without name" },
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

#define X(member, help) { #member, REST_QUERY, REST_STRING, false, help },
static const struct rest_param calls_params[] = {
    CALL_FILTERS(X)
    { "since",  REST_QUERY, REST_NUMBER, false, "only those asked at this time or later; seconds since 1970" },
    { "until",  REST_QUERY, REST_NUMBER, false, "only those asked up to this time" },
    { "before", REST_QUERY, REST_COUNT,  false, "only those with a smaller number: the next page" },
    { "limit",  REST_QUERY, REST_COUNT,  false, "at most so many that have ended; 50, at most 1000. Of those under way the first 1000 are shown" },
    END,
};
#undef X

static const struct rest_param forget_params[] = {
    { "before", REST_QUERY, REST_NUMBER, true, "those asked before this time; seconds since 1970" },
    END,
};

static const struct rest_param by_object[] = {
    { "cid", REST_PATH, REST_STRING, true, "SHA-512 of the bytes, in hex" },
    END,
};

static const struct rest_param by_grant[] = { ID_PARAM("the grant's id"), END };

static const struct rest_param revoke_params[] = {
    { "conversation", REST_QUERY, REST_STRING, false, "only of this one" },
    END,
};

static const struct rest_param grant_params[] = {
    { "conversation", REST_BODY, REST_STRING, true,  "for whom: the run of a question" },
    { "operation",    REST_BODY, REST_STRING, true,  "server/tool" },
    { "seconds",      REST_BODY, REST_NUMBER, false, "how long; 300" },
    { "duration",     REST_BODY, REST_STRING, false, "the same as people write it: 5m, 1h30m" },
    { "once",         REST_BODY, REST_BOOL,   false, "for one call" },
    END,
};

static const struct rest_param auto_params[] = {
    { "conversation", REST_BODY, REST_STRING, true, "in which nothing is asked" },
    { "on",           REST_BODY, REST_BOOL,   true, "false: any more" },
    END,
};

static const struct rest_param answer_params[] = {
    ID_PARAM("the question's id"),
    { "choice",  REST_BODY, REST_STRING, true,  "approve, grant or deny" },
    { "grant_s", REST_BODY, REST_NUMBER, false, "of a grant: how long; 300" },
    { "once",    REST_BODY, REST_BOOL,   false, "of a grant: for one call more" },
    { "reason",  REST_BODY, REST_STRING, false, "what the caller is told when it is denied" },
    END,
};

static const struct rest_param policy_params[] = {
    { "rules",   REST_BODY, REST_ANY,    false, "a list; the first that applies decides" },
    { "default", REST_BODY, REST_ANY,    false, "what is done when none applies, by face" },
    { "version", REST_BODY, REST_STRING, false, "of the rules that these replace; if those have changed meanwhile, nothing is saved" },
    END,
};

static const struct rest_param dry_run_params[] = {
    { "policy", REST_BODY, REST_OBJECT, true, "rules and default, as PUT /api/policy takes them" },
    END,
};

static const struct rest_param explain_params[] = {
    { "tool",      REST_BODY, REST_STRING, true,  "server/tool" },
    { "client",    REST_BODY, REST_STRING, false, "who would ask, by what it calls itself" },
    { "mode",      REST_BODY, REST_STRING, false, "that it would use" },
    { "face",      REST_BODY, REST_STRING, false, "through what: mcp_server, rest, cli or agent; mcp_server" },
    { "conversation", REST_BODY, REST_STRING, false, "whose grants count; with face rest or cli, those that calls there have" },
    { "arguments", REST_BODY, REST_OBJECT, false, "of the tool; {}" },
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

#define HUB REST_NEEDS_HUB
#define READ REST_READ
#define OPEN (REST_NEEDS_HUB | REST_OPEN_BODY)

const struct rest_route rest_routes[] = {
    { "DELETE", "/api/alerts", rest_alerts_dismiss,
      .answer = &rest_done_shape,
      .help = "Dismiss all alerts" },
    { "GET", "/api/alerts", rest_alerts, .flags = READ,
      .answer = &rest_alerts_shape,
      .help = "What a person should look at" },
    { "DELETE", "/api/alerts/{id}", rest_alert_dismiss, .params = by_alert, .errors = REST_404,
      .answer = &rest_done_shape,
      .help = "Dismiss one alert" },
    { "PUT", "/api/auto-approve", rest_auto_approve, .params = auto_params, .flags = HUB,
      .answer = &rest_done_shape,
      .help = "Allow a conversation everything that would be asked, or not any more" },
    { "DELETE", "/api/calls", rest_calls_forget, .params = forget_params, .flags = HUB, .errors = REST_409 | REST_500,
      .answer = &rest_done_shape,
      .help = "Forget calls, and what they carried" },
    { "GET", "/api/calls", rest_calls, .params = calls_params, .flags = READ | HUB, .errors = REST_409 | REST_500 | REST_504,
      .answer = &rest_calls_shape,
      .help = "Calls under way, and those that have ended, newest first, page by page. A script that sends X-Patchbay-Client is shown by that name" },
    { "GET", "/api/calls/{id}", rest_call, .params = by_call, .flags = READ | HUB, .errors = REST_404 | REST_500 | REST_504,
      .answer = &rest_recorded_shape,
      .help = "One call that has ended, with what it carried" },
    { "POST", "/api/calls/{id}/cancel", rest_calls_cancel, .params = by_call, .flags = HUB, .errors = REST_404,
      .answer = &rest_done_shape,
      .help = "Cancel a call" },
    { "GET", "/api/events", rest_events, .params = event_params, .flags = READ | REST_STREAM,
      .type = "text/event-stream",
      .help = "Everything that happens, as it happens. Last-Event-ID goes on where a stream broke; the event \"reset\" says that this is not possible any more, and that all is to be read anew" },
    { "POST", "/api/explain", rest_explain, .params = explain_params, .flags = HUB, .errors = REST_404,
      .answer = &rest_explained_shape,
      .help = "Whether a call would be made, step by step; nothing is called" },
    { "DELETE", "/api/grants", rest_grants_revoke, .params = revoke_params, .flags = HUB,
      .answer = &rest_revoked_shape,
      .help = "Take back all that was allowed for a while" },
    { "GET", "/api/grants", rest_grants, .flags = READ | HUB,
      .answer = &rest_grants_shape,
      .help = "What is allowed for a while, and the conversations in which nothing is asked" },
    { "POST", "/api/grants", rest_grants_add, .params = grant_params, .flags = HUB, .status = 201,
      .answer = &rest_grant_shape,
      .help = "Allow a conversation an operation for a while" },
    { "DELETE", "/api/grants/{id}", rest_grant_revoke, .params = by_grant, .flags = HUB, .errors = REST_404,
      .answer = &rest_done_shape,
      .help = "Take back one of them" },
    { "GET", "/api/logs", rest_logs, .params = log_params, .flags = READ | HUB,
      .answer = &rest_logs_shape,
      .help = "What was logged about all servers" },
    { "GET", "/api/mcp-clients", rest_clients, .flags = READ | HUB,
      .answer = &rest_clients_shape,
      .help = "All servers and how they are" },
    { "POST", "/api/mcp-clients/connect", rest_clients_connect, .params = connect_params, .flags = OPEN, .errors = REST_409 | REST_502,
      .answer = &rest_client_connected_shape,
      .help = "Add a server until the hub stops, connect it, and wait for the outcome. One that cannot be connected stays in state error" },
    { "POST", "/api/mcp-clients/{name}/disconnect", rest_clients_disconnect, .params = by_name, .flags = HUB, .errors = REST_404,
      .answer = &rest_done_server_shape,
      .help = "Disconnect a server; what is known about it is kept" },
    { "POST", "/api/mcp-clients/{name}/reconnect", rest_clients_reconnect, .params = by_name, .flags = HUB, .errors = REST_404 | REST_502,
      .answer = &rest_client_connected_shape,
      .help = "Connect a server again, and wait for the outcome" },
    { "GET", "/api/mcp-prompts", rest_mcp_prompts, .params = by_server, .flags = READ | HUB,
      .answer = &rest_client_prompts_shape,
      .help = "Prompts of all connected servers" },
    { "POST", "/api/mcp-prompts/get", rest_mcp_prompts_get, .params = prompt_params, .flags = HUB, .errors = REST_404 | REST_409 | REST_502 | REST_503 | REST_504,
      .answer = &rest_prompt_result_shape,
      .help = "Get a prompt" },
    { "GET", "/api/mcp-resources", rest_mcp_resources, .params = by_server, .flags = READ | HUB,
      .answer = &rest_client_resources_shape,
      .help = "Resources of all connected servers" },
    { "POST", "/api/mcp-resources/read", rest_mcp_resources_read, .params = read_params, .flags = HUB, .errors = REST_404 | REST_409 | REST_502 | REST_503 | REST_504,
      .answer = &rest_resource_read_shape,
      .help = "Read a resource" },
    { "GET", "/api/mcp-tools", rest_mcp_tools, .params = by_server, .flags = READ | HUB,
      .answer = &rest_client_tools_shape,
      .help = "Tools of all connected servers" },
    { "POST", "/api/mcp-tools/call", rest_mcp_tools_call, .params = call_params, .flags = HUB, .errors = REST_404 | REST_409 | REST_502 | REST_503 | REST_504,
      .answer = &rest_tool_result_shape,
      .help = "Call a tool, and wait for its result" },
    { "GET", "/api/modes", rest_modes, .flags = READ | HUB,
      .answer = &rest_modes_shape,
      .help = "Modes: named choices of tools" },
    { "POST", "/api/modes/match", rest_modes_match, .params = match_params, .flags = HUB,
      .answer = &rest_mode_match_shape,
      .help = "How many tools a filter lets through, of how many, and the first of them" },
    { "DELETE", "/api/modes/{id}", rest_mode_remove, .params = by_mode, .flags = HUB, .errors = REST_404 | REST_409 | REST_500,
      .answer = &rest_done_mode_shape,
      .help = "Remove a mode from config.json" },
    { "PUT", "/api/modes/{id}", rest_mode_save, .params = mode_params, .flags = HUB, .errors = REST_409 | REST_500,
      .answer = &rest_mode_shape,
      .help = "Save a mode in config.json" },
    { "GET", "/api/objects/{cid}", rest_object, .params = by_object, .flags = READ | HUB | REST_BYTES, .errors = REST_404 | REST_410 | REST_500 | REST_504,
      .type = "application/octet-stream",
      .help = "The bytes that records name, without secrets, checked against their digest" },
    { "GET", "/api/pins", rest_pins, .params = pins_params, .flags = READ | HUB, .errors = REST_404,
      .answer = &rest_pins_shape,
      .help = "What was approved of tools, prompts and instructions, and how those that have changed differ" },
    { "POST", "/api/pins/approve", rest_pins_approve, .params = approve_params, .flags = HUB, .errors = REST_404 | REST_409 | REST_500,
      .answer = &rest_approved_shape,
      .help = "Let in definitions that have changed since they were approved; of a whole server, forget those that it does not list any more" },
    { "GET", "/api/policy", rest_policy, .flags = READ | HUB,
      .answer = &rest_policy_shape,
      .help = "The rules about calls" },
    { "PUT", "/api/policy", rest_policy_save, .params = policy_params, .flags = HUB, .errors = REST_409 | REST_500,
      .answer = &rest_policy_shape,
      .help = "Save other rules in config.json; they count at once" },
    { "POST", "/api/policy/dry-run", rest_policy_dry_run, .params = dry_run_params, .flags = HUB, .errors = REST_500 | REST_504,
      .answer = &rest_dry_run_shape,
      .help = "Try rules on the last 1000 recorded calls" },
    { "GET", "/api/prompts", rest_prompts, .params = page_params, .flags = READ | HUB, .errors = REST_404,
      .answer = &rest_prompt_page_shape,
      .help = "Prompts as their servers define them, page by page" },
    { "GET", "/api/questions", rest_questions, .flags = READ | HUB,
      .answer = &rest_questions_shape,
      .help = "What people are asked before calls go on, oldest first" },
    { "POST", "/api/questions/{id}/answer", rest_question_answer, .params = answer_params, .flags = HUB, .errors = REST_404 | REST_409,
      .answer = &rest_done_shape,
      .help = "Answer one of them; who comes first decides" },
    { "POST", "/api/reconnect-failed", rest_reconnect_failed, .flags = HUB,
      .answer = &rest_servers_shape,
      .help = "Connect every server again that has failed" },
    { "POST", "/api/registry/search", rest_registry, .params = registry_params, .errors = REST_404 | REST_502 | REST_503,
      .answer = &rest_registry_shape,
      .help = "Look for servers in the public registries; each name once, those of the official one first" },
    { "POST", "/api/registry/server", rest_registry_server, .params = registry_server_params, .errors = REST_404 | REST_502 | REST_503,
      .answer = &rest_registry_shape,
      .help = "What Smithery knows about one server" },
    { "POST", "/api/reload", rest_reload, .flags = HUB, .errors = REST_409 | REST_500,
      .answer = &rest_done_shape,
      .help = "Read the config files again, and take them over" },
    { "GET", "/api/resources", rest_resources, .params = page_params, .flags = READ | HUB, .errors = REST_404,
      .answer = &rest_resource_page_shape,
      .help = "Resources and templates as their servers define them, page by page" },
    { "GET", "/api/servers", rest_servers, .flags = READ | HUB,
      .answer = &rest_servers_shape,
      .help = "All servers, with more about each" },
    { "POST", "/api/servers", rest_servers_add, .params = add_params, .flags = HUB, .errors = REST_409 | REST_500, .status = 201,
      .answer = &rest_server_detail_shape, .plan = &rest_plan_shape,
      .help = "Add a server to config.json" },
    { "POST", "/api/servers/parse", rest_servers_parse, .params = parse_params, .flags = HUB,
      .answer = &rest_candidates_shape,
      .help = "What servers a text describes; nothing is kept" },
    { "POST", "/api/servers/test", rest_servers_test, .params = trial_params, .flags = HUB, .errors = REST_503,
      .answer = &rest_trial_shape,
      .help = "Start a server, see what it offers, and stop it again; nothing is kept" },
    { "DELETE", "/api/servers/{name}", rest_server_remove, .params = by_name, .flags = HUB, .errors = REST_404 | REST_409 | REST_500,
      .answer = &rest_done_server_shape,
      .help = "Remove a server: from config.json, or from the hub if it came by connect" },
    { "GET", "/api/servers/{name}", rest_server, .params = by_name, .flags = READ | HUB, .errors = REST_404,
      .answer = &rest_server_detail_shape,
      .help = "One server, with its configuration; secrets are \"***\"" },
    { "PUT", "/api/servers/{name}", rest_server_configure, .params = configure_params, .flags = OPEN, .errors = REST_404 | REST_409 | REST_500,
      .answer = &rest_server_detail_shape,
      .help = "Replace a server's entry in config.json" },
    { "POST", "/api/servers/{name}/cancel", rest_server_cancel, .params = by_name, .flags = HUB, .errors = REST_404 | REST_409,
      .answer = &rest_server_detail_shape,
      .help = "End a running attempt to connect" },
    { "POST", "/api/servers/{name}/connect", rest_server_connect, .params = by_name, .flags = HUB, .errors = REST_404 | REST_502 | REST_503,
      .answer = &rest_server_detail_shape,
      .help = "Connect a server, and wait for the outcome" },
    { "POST", "/api/servers/{name}/disable", rest_server_disable, .params = by_name, .flags = HUB, .errors = REST_404 | REST_409 | REST_500,
      .answer = &rest_server_detail_shape,
      .help = "Switch a server off; kept in config.json if it is defined there" },
    { "POST", "/api/servers/{name}/disconnect", rest_server_disconnect, .params = by_name, .flags = HUB, .errors = REST_404,
      .answer = &rest_server_detail_shape,
      .help = "Disconnect a server" },
    { "POST", "/api/servers/{name}/enable", rest_server_enable, .params = by_name, .flags = HUB, .errors = REST_404 | REST_409 | REST_500,
      .answer = &rest_server_detail_shape,
      .help = "Switch a server on again" },
    { "GET", "/api/servers/{name}/logs", rest_server_logs, .params = server_log_params, .flags = READ | HUB, .errors = REST_404,
      .answer = &rest_logs_shape,
      .help = "What was logged about a server" },
    { "POST", "/api/servers/{name}/ping", rest_server_ping, .params = by_name, .flags = HUB, .errors = REST_404 | REST_409 | REST_502 | REST_503 | REST_504,
      .answer = &rest_pong_shape,
      .help = "Ask a connected server whether it lives, and how long it takes to say so" },
    { "POST", "/api/servers/{name}/reconnect", rest_server_reconnect, .params = by_name, .flags = HUB, .errors = REST_404 | REST_502 | REST_503,
      .answer = &rest_server_detail_shape,
      .help = "Connect a server again unless it is connected, and wait for the outcome" },
    { "POST", "/api/servers/{name}/restart", rest_server_restart, .params = by_name, .flags = HUB, .errors = REST_404 | REST_502 | REST_503,
      .answer = &rest_server_detail_shape,
      .help = "Stop a server and start it again, and wait for the outcome" },
    { "PUT", "/api/servers/{name}/tools/{tool}", rest_server_tool, .params = tool_params, .flags = HUB, .errors = REST_404 | REST_409 | REST_500,
      .answer = &rest_server_detail_shape,
      .help = "Switch one tool on or off, in config.json" },
    { "GET", "/api/settings", rest_settings, .flags = READ | HUB, .errors = REST_409 | REST_500,
      .answer = &rest_settings_shape,
      .help = "Settings, as the config files have them" },
    { "PATCH", "/api/settings", rest_settings_change, .flags = OPEN, .errors = REST_409 | REST_500,
      .answer = &rest_settings_shape,
      .help = "Change settings in config.json: the body has a member for each, null for the default" },
    { "GET", "/api/status", rest_status, .flags = READ | HUB,
      .answer = &rest_status_shape,
      .help = "The daemon itself" },
    { "GET", "/api/store", rest_store, .flags = READ | HUB, .errors = REST_500 | REST_504,
      .answer = &rest_store_shape,
      .help = "What is recorded, and how much" },
    { "GET", "/api/tools", rest_tools, .params = page_params, .flags = READ | HUB, .errors = REST_404,
      .answer = &rest_tool_page_shape,
      .help = "Tools as their servers define them, page by page" },
    { "GET", "/docs", rest_docs, .flags = REST_PUBLIC,
      .type = "text/html",
      .help = "This list, for people" },
    { "GET", "/metrics", rest_metrics, .flags = READ,
      .type = "text/plain",
      .help = "Numbers for Prometheus" },
    { "GET", "/openapi.json", rest_openapi, .flags = REST_PUBLIC,
      .answer = &rest_document_shape,
      .help = "This list, for programs" },
    { 0 },
};
/* clang-format on */
