/* rest_shapes_gate.c - records, questions, grants and rules in answers. */
#include "rest_shapes.h"

static const char *actions(unsigned i)
{
    return i < POLICY_ACTIONS ? policy_action_name((enum policy_action)i) : NULL;
}

static const char *faces(unsigned i)
{
    return i < FACE_COUNT ? order_face_name((enum order_face)i) : NULL;
}

static const char *choices(unsigned i)
{
    return i < CHOICE_COUNT ? question_choice_name((enum question_choice)i) : NULL;
}

static const char *answerers(unsigned i)
{
    return 1U << i < ASK_ANYBODY ? question_by_name((enum question_by)(1U << i)) : NULL;
}

static const char *details(unsigned i)
{
    return i <= RECORD_NONE ? record_detail_name((enum record_detail)i) : NULL;
}

/* clang-format off */
static REST_WORDS(statuses, "success", "error", "failed", "timeout", "cancelled", "denied", "expired", "input_required", "task")
static REST_WORDS(redacted_in, "arguments", "result", "definition")
static REST_WORDS(redacted_why, "value", "name", "pattern")
static REST_WORDS(kinds, "approval")
static REST_WORDS(says, "pass", "stop", "ask")

/* ---- records ---- */

static const struct rest_shape redaction = { "Redaction", .fields = FIELDS(
    { "in",   TEXT, .word = redacted_in },
    { "at",   TEXT, OPT, .help = "a JSON pointer" },
    { "why",  TEXT, OPT, .word = redacted_why, .help = "a secret that is known, what it is called, or how it looks" },
    { "more", COUNT, OPT, .help = "so many more, which are not listed" }),
    .help = "Where something was taken out before anything was written" };

const struct rest_shape rest_call_record_shape = { "CallRecord", .fields = FIELDS(
    { "id",                 TEXT },
    { "no",                 COUNT, .help = "its place in the list of all calls" },
    { "status",             TEXT, OPT, .word = statuses },
    { "note",               TEXT, OPT, .help = "why, when it is no success" },
    { "server",             TEXT, OPT },
    { "tool",               TEXT, OPT, .help = "or the prompt or resource, by its own name" },
    { "name",               TEXT, OPT, .help = "server/tool" },
    { "method",             TEXT, OPT },
    { "caller",             TEXT, OPT, .help = "who asked" },
    { "source",             TEXT, OPT, .help = "what kind of thing answered" },
    { "face",               TEXT, OPT, .word = faces, .help = "through what it was asked" },
    { "run",                TEXT, OPT, .help = "what it belongs to: a client's session, a process" },
    { "conversation",       TEXT, OPT },
    { "parent",             TEXT, OPT, .help = "the call that it continues" },
    { "question",           TEXT, OPT, .help = "what a person was asked about it" },
    { "answered_by",        TEXT, OPT },
    { "rule",               TEXT, OPT },
    { "traceparent",        TEXT, OPT },
    { "queued_at",          NUM, OPT, .help = SECONDS },
    { "started_at",         NUM, OPT, .help = SECONDS },
    { "ended_at",           NUM, OPT, .help = SECONDS },
    { "duration",           NUM, OPT, .help = "seconds, from when it was asked to when it was answered" },
    { "process_pid",        COUNT, OPT, .help = "of the server" },
    { "process_start_time", NUM, OPT, .help = SECONDS },
    { "process_key",        TEXT, OPT },
    { "detail",             TEXT, .word = details, .help = "how much was recorded of it" },
    { "arguments_cid",      TEXT, OPT, .help = "GET /api/objects/{cid} has the bytes" },
    { "arguments_bytes",    COUNT, OPT },
    { "result_cid",         TEXT, OPT },
    { "result_bytes",       COUNT, OPT },
    { "definition_cid",     TEXT, OPT },
    { "redacted",           REST_SHAPE, OPT | LIST, .shape = &redaction }),
    .help = "What stays of a call" };

const struct rest_shape rest_recorded_shape = { "RecordedCall", &rest_call_record_shape, .fields = FIELDS(
    { "arguments",  REST_ANY, OPT, .help = "when they are kept, and not large" },
    { "result",     REST_ANY, OPT, .help = "likewise; of a failed call the error" },
    { "definition", REST_ANY, OPT, .help = "likewise; of the tool, as its server had it" }) };

const struct rest_shape rest_store_shape = { "Store", .fields = FIELDS(
    { "recording",    BOOL },
    { "path",         TEXT, OPT },
    { "calls",        COUNT, OPT },
    { "objects",      COUNT, OPT },
    { "bytes",        COUNT, OPT, .help = "of the file" },
    { "object_bytes", COUNT, OPT, .help = "of the objects, each once, before compression" },
    { "waiting",      COUNT, OPT, .help = "bytes to be written" },
    { "lost",         COUNT, OPT, .help = "calls that could not be recorded" },
    { "oldest_at",    NUM, OPT, .help = SECONDS }) };

/* ---- questions and grants ---- */

const struct rest_shape rest_question_shape = { "Question", .fields = FIELDS(
    { "id",         TEXT },
    { "kind",       TEXT, .word = kinds },
    { "text",       TEXT, .help = "one line: who wants what, and why it is asked" },
    { "reason",     TEXT, OPT, .help = "of the rule" },
    { "rule",       TEXT, OPT, .help = "its name, or its number" },
    { "call",       TEXT, .help = "the id of the call" },
    { "server",     TEXT },
    { "tool",       TEXT },
    { "method",     TEXT },
    { "caller",     TEXT },
    { "run",        TEXT, .help = "what a grant would be for" },
    { "face",       TEXT, .word = faces },
    { "arguments",  REST_ANY, .help = "without secrets; a sentence when they are too large" },
    { "digest",     TEXT, .help = "of what exactly was asked" },
    { "choices",    TEXT, LIST, .word = choices },
    { "answer_by",  TEXT, LIST, .word = answerers, .help = "who may" },
    { "asked_at",   NUM, .help = SECONDS },
    { "expires_at", NUM, .help = SECONDS }) };

const struct rest_shape rest_questions_shape = { "QuestionList", .fields = ALL("questions", rest_question_shape) };

const struct rest_shape rest_grant_shape = { "Grant", .fields = FIELDS(
    { "id",           TEXT },
    { "conversation", TEXT, .help = "or the key of a client" },
    { "operation",    TEXT, .help = "server/tool" },
    { "made_at",      NUM, .help = SECONDS },
    { "expires_at",   NUM, .help = SECONDS },
    { "once",         BOOL },
    { "used",         COUNT, .help = "how often" }) };

const struct rest_shape rest_grants_shape = { "GrantList", .fields = FIELDS(
    { "grants",       REST_SHAPE, LIST, .shape = &rest_grant_shape },
    { "auto_approve", TEXT, LIST, .help = "conversations in which nothing is asked" }) };

const struct rest_shape rest_revoked_shape = { "Revoked", &rest_done_shape, .fields = FIELDS(
    { "revoked", COUNT, .help = "how many grants there were" }) };

/* ---- rules ---- */

const struct rest_shape rest_policy_shape = { "Policy", .fields = FIELDS(
    { "version", TEXT, .help = "another when the rules are" },
    { "rules",   REST_ANY, LIST, .help = "as they are written in config.json; the first that applies decides" },
    { "default", OBJ, .help = "what is done when none applies, by face" }) };

static const struct rest_shape example = { "DryRunExample", .fields = FIELDS(
    { "id",     TEXT },
    { "name",   TEXT },
    { "caller", TEXT, OPT },
    { "was",    TEXT, .word = actions, .help = "what the rules in force say" },
    { "now",    TEXT, .word = actions, .help = "what the rules that were sent say" },
    { "rule",   TEXT, .help = "that says so" }) };

const struct rest_shape rest_dry_run_shape = { "DryRun", .fields = FIELDS(
    { "recorded", BOOL, .help = "false: nothing is, so there was nothing to try them on" },
    { "version",  TEXT, .help = "of the rules that were sent" },
    { "calls",    COUNT, .help = "they were tried on" },
    { "allow",    COUNT },
    { "ask",      COUNT },
    { "deny",     COUNT },
    { "changed",  COUNT, .help = "of which they say something else than the rules in force" },
    { "unread",   COUNT, .help = "of which not all that they carried is kept: rules about arguments may say something else" },
    { "examples", REST_SHAPE, LIST, .shape = &example, .help = "the newest of those that changed" }) };

static const struct rest_shape step = { "ExplainedStep", .fields = FIELDS(
    { "step",   TEXT },
    { "says",   TEXT, .word = says },
    { "reason", TEXT, OPT },
    { "rule",   TEXT, OPT }) };

const struct rest_shape rest_explained_shape = { "Explained", .fields = FIELDS(
    { "steps",    REST_SHAPE, LIST, .shape = &step, .help = "on the way of the call, up to where it would stop" },
    { "outcome",  TEXT, .word = actions },
    { "rule",     TEXT, OPT },
    { "reason",   TEXT, OPT },
    { "recorded", BOOL }) };
/* clang-format on */
