/* rest_shapes.c - what REST answers, member by member. What is not said here may not be written:
 * every answer in the tests is held against it, and the page's types are made of it. */
#include "rest_shapes.h"
#include "hub/link/link.h"
#include "hub/registries/registries.h"
#include "hub/spec/spec.h"
#include "hub/view/view.h"

/* ---- words ---- */

const char *rest_states(unsigned i)
{
    return i < LINK_COUNT ? link_state_name((enum link_state)i) : NULL;
}

const char *rest_transports(unsigned i)
{
    return i < SPEC_TRANSPORTS ? spec_transport_name((enum spec_transport)i) : NULL;
}

static const char *counted(unsigned i) { return i ? rest_states(i - 1) : "total"; }

static const char *auths(unsigned i)
{
    return i <= SPEC_AUTH_OAUTH ? spec_auth_name((enum spec_auth)i) : NULL;
}

static const char *alert_kinds(unsigned i)
{
    return i <= ALERT_DEFINITION_CHANGED ? alert_kind_name((enum alert_kind)i) : NULL;
}

static const char *row_actions_all(unsigned i)
{
    return 1U << i <= ROW_LOGS ? row_action_text((enum row_action)(1U << i)) : NULL;
}

const char *rest_reasons(unsigned i)
{
    return i <= CALL_SHUTDOWN ? call_cancel_name((enum call_cancel)i) : NULL;
}

/* clang-format off */
static REST_WORDS(ok, "ok")
static REST_WORDS(colors, "green", "yellow", "red", "gray")
static REST_WORDS(log_levels, "debug", "info", "warning", "error")
static REST_WORDS(log_sources, "link", "stderr", "server")
static REST_WORDS(setting_kinds, "boolean", "count", "seconds", "word", "text")
static REST_WORDS(applies, "at_once", "restart")
static REST_WORDS(effects, "at once", "at the next start")

/* ---- failures, and what has nothing to say ---- */

const struct rest_shape rest_failure_shape = { "Failure", .fields = FIELDS(
    { "error",   TEXT, .help = "a stable code" },
    { "code",    TEXT, OPT, .help = "a finer one" },
    { "message", TEXT, OPT, .help = "a sentence for people" },
    { "next",    TEXT, OPT, .help = "what can be done about it" },
    { "rpc",     OBJ,  OPT, .help = "the error of the server, as it sent it" },
    /* What it is about. */
    { "id",      TEXT, OPT },
    { "mode",    TEXT, OPT },
    { "name",    TEXT, OPT },
    { "prompt",  TEXT, OPT },
    { "server",  TEXT, OPT },
    { "tool",    TEXT, OPT },
    { "uri",     TEXT, OPT }),
    .help = "Every failure" };

const struct rest_shape rest_done_shape = { "Done", .fields = FIELDS(
    { "status", TEXT, .word = ok }) };

const struct rest_shape rest_done_server_shape = { "ServerDone", &rest_done_shape, .fields = FIELDS(
    { "name", TEXT }) };

const struct rest_shape rest_pong_shape = { "Pong", &rest_done_server_shape, .fields = FIELDS(
    { "took_ms", COUNT, .help = "from the question to the answer" }) };

const struct rest_shape rest_done_mode_shape = { "ModeDone", &rest_done_shape, .fields = FIELDS(
    { "id", TEXT }) };

const struct rest_shape rest_document_shape = { "OpenApi", .foreign = true, .fields = FIELDS(
    { "openapi", TEXT }) };

/* ---- servers ---- */

static const struct rest_shape badge = { "Badge", .fields = FIELDS(
    { "text",    TEXT },
    { "color",   TEXT, .word = colors },
    { "tooltip", TEXT, OPT }) };

static const struct rest_shape server = { "Server", .fields = FIELDS(
    { "name",          TEXT },
    { "display_name",  TEXT },
    { "transport",     TEXT, .word = rest_transports },
    { "target",        TEXT, .help = "its command or URL, without secrets" },
    { "state",         TEXT, .word = rest_states },
    { "status",        TEXT, .help = "the state for people" },
    { "progress",      TEXT, OPT, .help = "of a login" },
    { "url",           TEXT, OPT, .help = "where a person logs in" },
    { "message",       TEXT, OPT, .help = "why it is as it is" },
    { "attempt",       COUNT, OPT },
    { "max_attempts",  COUNT, OPT },
    { "next_retry_at", NUM, OPT, .help = SECONDS },
    { "problem",       TEXT, OPT, .help = "what is wrong, in few words" },
    { "next_step",     TEXT, OPT, .help = "what may help: a command, or words" },
    { "color",         TEXT, .word = colors },
    { "badge",         REST_SHAPE, OPT, .shape = &badge },
    { "actions",       TEXT, LIST, .word = row_actions_all },
    { "tools",         COUNT },
    { "resources",     COUNT },
    { "templates",     COUNT },
    { "prompts",       COUNT },
    { "protocol",      TEXT, OPT },
    { "pid",           COUNT, OPT },
    { "latency_ms",    NUM, OPT },
    { "connect_ms",    NUM, OPT },
    { "connected_at",  NUM, OPT, .help = SECONDS },
    { "last_used_at",  NUM, OPT, .help = SECONDS },
    { "calls",         COUNT },
    { "failures",      COUNT },
    { "in_flight",     COUNT },
    { "queued",        COUNT, OPT },
    { "instances",     COUNT, OPT },
    { "reconnects",    COUNT },
    { "restarts",      COUNT },
    { "file",          TEXT, OPT, .help = "which defines it" },
    { "line",          COUNT, OPT }) };

const struct rest_shape rest_server_detail_shape = { "ServerDetail", &server, .fields = FIELDS(
    { "spec",         OBJ, .help = "its entry in the config; secrets are \"***\"" },
    { "server_info",  OBJ, OPT },
    { "capabilities", OBJ, OPT },
    { "instructions", TEXT, OPT }) };

const struct rest_shape rest_servers_shape = { "ServerList", .fields = ALL("servers", server) };

/* ---- adding them ---- */

static const struct rest_shape described = { "Described", .fields = FIELDS(
    { "name",      TEXT },
    { "transport", TEXT, .word = rest_transports },
    { "target",    TEXT },
    { "auth",      TEXT, .word = auths },
    { "exists",    BOOL, .help = "there is a server of this name" },
    { "entry",     OBJ,  .help = "as it would stand in config.json" }) };

static const struct rest_shape candidate = { "Candidate", &described, .fields = FIELDS(
    { "display_name", TEXT }),
    .help = "One server that a text describes" };

const struct rest_shape rest_candidates_shape = { "CandidateList", .fields = ALL("servers", candidate) };

const struct rest_shape rest_plan_shape = { "Plan", &described, .fields = FIELDS(
    { "dry_run", BOOL }) };

const struct rest_shape rest_trial_shape = { "Trial", .fields = FIELDS(
    { "ok",          BOOL },
    { "took_ms",     COUNT },
    { "protocol",    TEXT, OPT },
    { "server_info", OBJ, OPT },
    { "tools",       TEXT, OPT | LIST },
    { "error",       TEXT, OPT },
    { "message",     TEXT, OPT },
    { "next",        TEXT, OPT },
    { "stderr",      TEXT, OPT | LIST, .help = "its last lines" }) };

static const struct rest_shape registry_result = { "RegistryResult", .fields = FIELDS(
    { "name",        TEXT },
    { "source",      TEXT, .word = registry_name },
    { "title",       TEXT, OPT },
    { "description", TEXT, OPT },
    { "add",         TEXT, OPT, .help = "a command line or URL, as 'patchbay add' takes it" }) };

static const struct rest_shape registry_failure = { "RegistryFailure", .fields = FIELDS(
    { "registry", TEXT, .word = registry_name },
    { "message",  TEXT }) };

const struct rest_shape rest_registry_shape = { "RegistryResults", .fields = FIELDS(
    { "results", REST_SHAPE, LIST, .shape = &registry_result },
    { "failed",  REST_SHAPE, LIST, .shape = &registry_failure, .help = "what the others found is there all the same" }) };

/* ---- calls, alerts, logs ---- */

static const struct rest_shape call = { "Call", .fields = FIELDS(
    { "id",         TEXT },
    { "server",     TEXT },
    { "method",     TEXT },
    { "subject",    TEXT, .help = "the tool, prompt or resource" },
    { "client",     TEXT, OPT, .help = "who asked" },
    { "started_at", NUM, .help = SECONDS },
    { "progress",   NUM, OPT },
    { "total",      NUM, OPT },
    { "message",    TEXT, OPT }) };

const struct rest_shape rest_calls_shape = { "CallList", .fields = FIELDS(
    { "calls",    REST_SHAPE, LIST, .shape = &call, .help = "under way" },
    { "recent",   REST_SHAPE, LIST, .shape = &rest_call_record_shape, .help = "ended, newest first" },
    { "next",     COUNT, OPT, .help = "there may be more: ask for those before this number" },
    { "total",    COUNT, .help = "how many are recorded, whatever was asked for" },
    { "recorded", BOOL, .help = "false: nothing is; these are the last that ended, with little about each" }) };

static const struct rest_shape alert = { "Alert", .fields = FIELDS(
    { "id",        TEXT },
    { "server",    TEXT },
    { "kind",      TEXT, .word = alert_kinds },
    { "message",   TEXT },
    { "text",      TEXT, .help = "server: message" },
    { "timestamp", NUM, .help = SECONDS }) };

const struct rest_shape rest_alerts_shape = { "AlertList", .fields = ALL("alerts", alert) };

const struct rest_shape rest_log_entry_shape = { "LogEntry", .fields = FIELDS(
    { "id",        TEXT },
    { "server",    TEXT },
    { "timestamp", NUM, .help = SECONDS },
    { "level",     TEXT, .word = log_levels },
    { "source",    TEXT, .word = log_sources },
    { "message",   TEXT }) };

const struct rest_shape rest_logs_shape = { "LogEntryList", .fields = ALL("entries", rest_log_entry_shape) };

/* ---- modes, settings, the daemon ---- */

const struct rest_shape rest_mode_shape = { "Mode", .fields = FIELDS(
    { "id",     TEXT },
    { "name",   TEXT },
    { "icon",   TEXT },
    { "filter", REST_ANY }) };

const struct rest_shape rest_modes_shape = { "ModeList", .fields = ALL("modes", rest_mode_shape) };

const struct rest_shape rest_mode_match_shape = { "ModeMatch", .fields = FIELDS(
    { "tools", COUNT, .help = "that the filter lets through" },
    { "total", COUNT },
    { "names", TEXT, LIST, .help = "the first of them" }) };

static const struct rest_shape setting = { "Setting", .fields = FIELDS(
    { "name",    TEXT },
    { "value",   REST_SCALAR },
    { "kind",    TEXT, .word = setting_kinds },
    { "default", TEXT },
    { "min",     NUM, OPT },
    { "max",     NUM, OPT },
    { "words",   TEXT, OPT | LIST },
    { "applies", TEXT, .word = applies },
    { "pending", BOOL, .help = "saved, and waiting for the next start" },
    { "help",    TEXT }) };

const struct rest_shape rest_settings_shape = { "SettingList", .fields = FIELDS(
    { "settings",     REST_SHAPE, LIST, .shape = &setting },
    { "takes_effect", TEXT, .word = effects }) };

static const struct rest_shape loop = { "LoopStats", .fields = FIELDS(
    { "over_20ms",   COUNT },
    { "over_100ms",  COUNT },
    { "worked_20ms", COUNT },
    { "longest_ms",  COUNT },
    { "longest",     TEXT, OPT }) };

const struct rest_shape rest_status_shape = { "Status", .fields = FIELDS(
    { "version",      TEXT },
    { "pid",          COUNT },
    { "url",          TEXT, OPT },
    { "token_from",   TEXT, OPT },
    { "socket",       TEXT, OPT },
    { "home",         TEXT, OPT },
    { "files",        TEXT, LIST },
    { "config_error", TEXT, OPT, .help = "why the files as they are now are not taken, with file and line; what was read before goes on" },
    { "restart_for",  TEXT, LIST, .help = "settings that have changed and do not count yet" },
    { "started_at",   NUM, OPT, .help = SECONDS },
    { "servers",      COUNT, MAP, .word = counted },
    { "tools",        COUNT },
    { "in_flight",    COUNT },
    { "memory_bytes", COUNT },
    { "loop",         REST_SHAPE, .shape = &loop },
    { "calls",        REST_SHAPE, LIST, .shape = &call }) };
/* clang-format on */
