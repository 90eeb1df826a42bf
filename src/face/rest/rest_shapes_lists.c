/* rest_shapes_lists.c - tools, resources and prompts in answers: as their servers define them, and
 * in S4's shapes. */
#include "rest_shapes.h"

/* clang-format off */
static REST_WORDS(encodings, "base64")

/* ---- what servers offer ---- */

#define MCP(name_) { name_, .foreign = true, .help = "As the server sent it; what it should be is in MCP's schema" }
static const struct rest_shape mcp_tool = MCP("McpTool"), mcp_resource = MCP("McpResource"),
    mcp_template = MCP("McpResourceTemplate"), mcp_prompt = MCP("McpPrompt"),
    mcp_contents = MCP("McpResourceContents"), mcp_tool_result = MCP("McpToolResult"), mcp_prompt_result = MCP("McpPromptResult");

static const struct rest_shape listed = { "Listed", .fields = FIELDS(
    { "server",  TEXT },
    { "enabled", BOOL, OPT, .help = "false: switched off" }) };

static const struct rest_shape tool = { "Tool", &listed, .fields = FIELDS(
    { "name",       TEXT, .help = "server/tool" },
    { "wire",       TEXT, .help = "as MCP clients see it" },
    { "definition", REST_SHAPE, .shape = &mcp_tool }) };

static const struct rest_shape resource = { "Resource", &listed, .fields = FIELDS(
    { "uri",        TEXT },
    { "definition", REST_SHAPE, .shape = &mcp_resource }) };

static const struct rest_shape template = { "ResourceTemplate", &listed, .fields = FIELDS(
    { "uriTemplate", TEXT },
    { "definition",  REST_SHAPE, .shape = &mcp_template }) };

static const struct rest_shape prompt = { "Prompt", &listed, .fields = FIELDS(
    { "name",       TEXT, .help = "server/prompt" },
    { "wire",       TEXT, .help = "as MCP clients see it" },
    { "definition", REST_SHAPE, .shape = &mcp_prompt }) };

static const struct rest_shape unreached = { "Unreached", .fields = FIELDS(
    { "server",    TEXT },
    { "state",     TEXT, .word = rest_states },
    { "error",     TEXT },
    { "message",   TEXT },
    { "problem",   TEXT, OPT },
    { "next_step", TEXT, OPT }),
    .help = "A server that should be there and is not" };

static const struct rest_shape page = { "Page", .fields = FIELDS(
    { "total",       COUNT, .help = "on all pages" },
    { "next_offset", COUNT, OPT, .help = "where the next page begins" },
    { "failed",      REST_SHAPE, LIST, .shape = &unreached }) };

const struct rest_shape rest_tool_page_shape = { "ToolPage", &page, .fields = ALL("tools", tool) };

const struct rest_shape rest_resource_page_shape = { "ResourcePage", &page, .fields = FIELDS(
    { "resources",         REST_SHAPE, LIST, .shape = &resource },
    { "resourceTemplates", REST_SHAPE, LIST, .shape = &template },
    { "total_templates",   COUNT }) };

const struct rest_shape rest_prompt_page_shape = { "PromptPage", &page, .fields = ALL("prompts", prompt) };

const struct rest_shape rest_tool_result_shape = { "ToolAnswer", .fields = FIELDS(
    { "result", REST_SHAPE, .shape = &mcp_tool_result }) };

const struct rest_shape rest_prompt_result_shape = { "PromptAnswer", .fields = FIELDS(
    { "result", REST_SHAPE, .shape = &mcp_prompt_result }) };

const struct rest_shape rest_resource_read_shape = { "ResourceAnswer", .fields = FIELDS(
    { "content",   TEXT, NIL, .help = "of the first part; null: it has none" },
    { "mime_type", TEXT, NIL },
    { "encoding",  TEXT, OPT, .word = encodings },
    { "contents",  REST_SHAPE, OPT | LIST, .shape = &mcp_contents, .help = "all parts, when there are several" }) };

/* ---- the same in S4's shapes ---- */

static const struct rest_shape client = { "Client", .fields = FIELDS(
    { "status",       TEXT, .word = rest_states },
    { "transport",    TEXT, .word = rest_transports },
    { "tools",        TEXT, LIST },
    { "connected_at", NUM, OPT, .help = SECONDS },
    { "error",        TEXT, OPT }) };

const struct rest_shape rest_clients_shape = { "ClientMap", .fields = FIELDS(
    { "clients", REST_SHAPE, MAP, .shape = &client }) };

const struct rest_shape rest_client_connected_shape = { "ClientConnected", &rest_done_server_shape, .fields = FIELDS(
    { "tools", TEXT, LIST }) };

static const struct rest_shape client_tool = { "ClientTool", .fields = FIELDS(
    { "name",          TEXT },
    { "server",        TEXT },
    { "original_name", TEXT },
    { "description",   TEXT },
    { "input_schema",  REST_ANY }) };

const struct rest_shape rest_client_tools_shape = { "ClientToolList", .fields = ALL("tools", client_tool) };

static const struct rest_shape client_resource = { "ClientResource", .fields = FIELDS(
    { "uri",         TEXT },
    { "server",      TEXT },
    { "name",        TEXT, NIL },
    { "description", TEXT, NIL },
    { "mime_type",   TEXT, NIL }) };

const struct rest_shape rest_client_resources_shape = { "ClientResourceList", .fields = ALL("resources", client_resource) };

static const struct rest_shape client_prompt = { "ClientPrompt", .fields = FIELDS(
    { "name",          TEXT },
    { "server",        TEXT },
    { "original_name", TEXT },
    { "description",   TEXT, NIL },
    { "arguments",     REST_ANY, LIST }) };

const struct rest_shape rest_client_prompts_shape = { "ClientPromptList", .fields = ALL("prompts", client_prompt) };

/* ---- what was approved of them ---- */

static REST_WORDS(pin_kinds, "tool", "prompt", "instructions")
static REST_WORDS(pin_states, "approved", "held", "changed")
static REST_WORDS(diff_lacks, "unsaid", "room")
static REST_WORDS(diff_ops, "same", "del", "add")

static const struct rest_shape diff_segment = { "DiffSegment", .fields = FIELDS(
    { "op",   TEXT, .word = diff_ops },
    { "text", TEXT }),
    .help = "All of same and del is the old text, all of same and add the new one" };

static const struct rest_shape pin = { "Pin", .fields = FIELDS(
    { "server",       TEXT },
    { "kind",         TEXT, .word = pin_kinds },
    { "name",         TEXT, .help = "its own; of instructions empty" },
    { "state",        TEXT, .word = pin_states, .help = "held: in no list, and not called; changed: told only" },
    { "approved_cid", TEXT, .help = "SHA-512 of what was approved" },
    { "cid",          TEXT, .help = "of what it is now" },
    { "approved_at",  NUM, .help = SECONDS },
    { "seen_at",      NUM, OPT, .help = "when its server said it last, since patchbay runs; " SECONDS },
    { "diff",         REST_SHAPE, OPT | LIST, .shape = &diff_segment },
    { "diff_missing", TEXT, OPT, .word = diff_lacks, .help = "why a changed one has no diff; unsaid: its server has not said it since patchbay runs; room: it is one of many, and has one when it is asked for by name" },
    { "diff_cut",     BOOL, OPT, .help = "some of it is left out" },
    { "redacted",     BOOL, OPT, .help = "secrets in it are shown as ***" },
    { "old_missing",  BOOL, OPT, .help = "what was approved is not at hand: all of the new text is shown" }) };

const struct rest_shape rest_pins_shape = { "PinList", .fields = FIELDS(
    { "pins",     REST_SHAPE, LIST, .shape = &pin, .help = "those that are not approved first" },
    { "approved", COUNT, .help = "of all, also of those that are left out" },
    { "held",     COUNT },
    { "changed",  COUNT },
    { "version",  TEXT, .help = "stands for all that has changed of these; POST /api/pins/approve takes that of one server" },
    { "lock",     TEXT, OPT, .help = "the file that says what was approved" },
    { "problem",  TEXT, OPT, .help = "why it is not read or written" }) };

const struct rest_shape rest_approved_shape = { "Approved", &rest_done_shape, .fields = FIELDS(
    { "approved", COUNT, .help = "how many were let in" }) };
/* clang-format on */
