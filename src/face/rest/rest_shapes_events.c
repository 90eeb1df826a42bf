/* rest_shapes_events.c - the data of each event of GET /api/events. */
#include "rest_shapes.h"

/* clang-format off */
static REST_WORDS(toast_levels, "success", "warning", "error")

static const struct rest_shape event = { "SomeEvent", .fields = FIELDS(
    { "at", NUM, .help = SECONDS }) };

static const struct rest_shape of_server = { "EventOfServer", &event, .fields = FIELDS(
    { "server", TEXT }) };

static const struct rest_shape state = { "EventState", .fields = FIELDS(
    { "state",       TEXT, .word = rest_states },
    { "progress",    TEXT, OPT, .help = "of a login" },
    { "url",         TEXT, OPT, .help = "where a person logs in" },
    { "message",     TEXT, OPT },
    { "retries",     COUNT, OPT },
    { "attempt",     COUNT, OPT },
    { "max_attempts", COUNT, OPT },
    { "next_retry_at", NUM, OPT, .help = SECONDS },
    { "tools",       COUNT, OPT }) };

static const struct rest_shape of_call = { "EventOfCall", &of_server, .fields = FIELDS(
    { "request_id", TEXT },
    { "tool",      TEXT, .help = "or the prompt or resource" },
    { "method",    TEXT }) };

static const struct rest_shape of_client = { "EventOfClient", &of_call, .fields = FIELDS(
    { "client", TEXT, OPT, .help = "who asked" }) };

static const struct rest_shape added = { "ServerAddedEvent", &of_server, .tag = "serverAdded" };
static const struct rest_shape removed = { "ServerRemovedEvent", &of_server, .tag = "serverRemoved" };
static const struct rest_shape catalog = { "CatalogChangedEvent", &of_server, .tag = "catalogChanged" };

static const struct rest_shape pinned = { "PinEvent", &of_server, "pin", FIELDS(
    { "held",    COUNT, .help = "definitions that are held back" },
    { "changed", COUNT, .help = "those that have changed and are let through" },
    { "message", TEXT, OPT, .help = "left out: all is as it was approved" }) };

static const struct rest_shape changed = { "ServerStateEvent", &of_server, "serverStateChanged", FIELDS(
    { "from", REST_SHAPE, .shape = &state },
    { "to",   REST_SHAPE, .shape = &state }) };

static const struct rest_shape logged = { "ServerLogEvent", &of_server, "serverLog", FIELDS(
    { "entry", REST_SHAPE, .shape = &rest_log_entry_shape }) };

static const struct rest_shape started = { "CallStartedEvent", &of_client, .tag = "toolCallStarted" };

static const struct rest_shape progressed = { "CallProgressEvent", &of_call, "toolCallProgress", FIELDS(
    { "progress", NUM },
    { "total",    NUM, OPT },
    { "message",  TEXT, OPT }) };

static const struct rest_shape completed = { "CallCompletedEvent", &of_client, "toolCallCompleted", FIELDS(
    { "duration", NUM, .help = "seconds" },
    { "success",  BOOL }) };

static const struct rest_shape cancelled = { "CallCancelledEvent", &of_client, "toolCallCancelled", FIELDS(
    { "duration", NUM, .help = "seconds" },
    { "reason",   TEXT, .word = rest_reasons },
    { "timeout",  NUM, OPT, .help = "seconds" }) };

static const struct rest_shape toast = { "ToastEvent", &of_server, "toast", FIELDS(
    { "text",      TEXT },
    { "level",     TEXT, .word = toast_levels },
    { "spinner",   BOOL },
    { "dismisses", BOOL, .help = "goes by itself" }) };

static const struct rest_shape question = { "QuestionEvent", &of_server, "question", FIELDS(
    { "question", REST_SHAPE, .shape = &rest_question_shape }) };

static const struct rest_shape question_over = { "QuestionOverEvent", &of_server, "question_over", FIELDS(
    { "id", TEXT, .help = "of the question" }),
    .help = "It was answered, or nobody needs an answer any more" };

static const struct rest_shape alerts = { "AlertsChangedEvent", &event, .tag = "alertsChanged" };
static const struct rest_shape config = { "ConfigChangedEvent", &event, .tag = "configChanged",
    .help = "What GET /api/status tells as config_error has begun, changed or ended" };
static const struct rest_shape modes = { "ModesChangedEvent", &event, .tag = "modesChanged" };
static const struct rest_shape reset = { "ResetEvent", .tag = "reset",
    .help = "Something was missed for good: all is to be read anew" };
/* clang-format on */

const struct rest_shape rest_event_shape = {
    "HubEvent",
    .one_of = (const struct rest_shape *const[]){ &added, &removed, &changed, &logged, &catalog, &pinned,
                                                  &started, &progressed, &completed, &cancelled,
                                                  &toast, &question, &question_over, &alerts,
                                                  &config, &modes, &reset, NULL },
    .help = "The data of one event of the stream",
};
