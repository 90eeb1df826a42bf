#include "event.h"
#include "mcp/rpc/rpc.h"

static const char *const state_names[] = {
    [LINK_DISABLED] = "disabled",
    [LINK_IDLE] = "idle",
    [LINK_CONNECTING] = "connecting",
    [LINK_AUTHENTICATING] = "authenticating",
    [LINK_CONNECTED] = "connected",
    [LINK_RECONNECTING] = "reconnecting",
    [LINK_DISCONNECTED] = "disconnected",
    [LINK_ERROR] = "error",
    [LINK_FAILED] = "failed",
};
_Static_assert(ARRAY_LEN(state_names) == LINK_COUNT, "every state has a name");

static const char *const auth_texts[] = {
    [AUTH_STARTING] = "Starting authentication...",
    [AUTH_OPENING_BROWSER] = "Opening browser...",
    [AUTH_WAITING] = "Waiting for authorization...",
    [AUTH_EXCHANGING] = "Completing authentication...",
};

static const char *const cancel_names[] = {
    [CALL_BY_USER] = "userRequested",
    [CALL_TIMED_OUT] = "timeout",
    [CALL_DISCONNECTED] = "serverDisconnected",
    [CALL_SHUTDOWN] = "appShutdown",
};

static const char *const source_names[] = {
    [LOG_OF_LINK] = "link",
    [LOG_OF_STDERR] = "stderr",
    [LOG_OF_SERVER] = "server",
};

const char *link_state_name(enum link_state s) { return state_names[s]; }

const char *auth_step_text(enum auth_step s) { return auth_texts[s]; }

const char *call_cancel_name(enum call_cancel why) { return cancel_names[why]; }

/* ---- as JSON ---- */

void link_status_put(struct json_out *o, const struct link_status *s, const char *message)
{
    json_put_str(o, "state", link_state_name(s->state));
    if (s->state == LINK_AUTHENTICATING) {
        json_put_str(o, "progress", auth_step_text(s->auth));
        json_put_str_opt(o, "url", s->auth_url);
    }
    json_put_str_opt(o, "message", message);
    if (s->state == LINK_RECONNECTING) {
        json_put_uint(o, "attempt", s->attempt);
        json_put_uint(o, "max_attempts", s->max_attempts);
        if (s->next_retry_at)
            json_put_seconds(o, "next_retry_at", s->next_retry_at);
    }
}

/* MCP has eight; nobody who reads a log tells notice from info, or alert from emergency. */
static const char *level_name(enum pb_log_level level)
{
    return level <= PB_LOG_DEBUG     ? "debug"
           : level <= PB_LOG_NOTICE  ? "info"
           : level <= PB_LOG_WARNING ? "warning"
                                     : "error";
}

void log_entry_put(struct json_out *o, const char *key, const char *server,
                   const struct log_entry *e)
{
    json_begin_object(o, key);
    json_put_str(o, "id", e->id);
    json_put_str(o, "server", server);
    json_put_seconds(o, "timestamp", e->at);
    json_put_str(o, "level", level_name(e->level));
    json_put_str(o, "source", source_names[e->source]);
    json_put_str(o, "message", e->text);
    json_end(o);
}

static void put_status(struct json_out *o, const char *key, const struct link_status *s)
{
    json_begin_object(o, key);
    link_status_put(o, s, s->message);
    if (link_is_failed(s->state))
        json_put_uint(o, "retries", s->retries);
    if (s->state == LINK_CONNECTED)
        json_put_uint(o, "tools", s->tools);
    json_end(o);
}

static void put_state(struct json_out *o, const struct hub_event *e)
{
    put_status(o, "from", &e->state.from);
    put_status(o, "to", &e->state.to);
}

static void put_log(struct json_out *o, const struct hub_event *e)
{
    log_entry_put(o, "entry", e->server, e->log);
}

static void put_pin(struct json_out *o, const struct hub_event *e)
{
    json_put_uint(o, "held", e->pin.held);
    json_put_uint(o, "changed", e->pin.changed);
    json_put_str_opt(o, "message", e->pin.message);
}

static void put_call(struct json_out *o, const struct hub_event *e)
{
    json_put_str(o, "request_id", e->call.id);
    json_put_span(o, "tool", e->call.tool);
    json_put_str_opt(o, "method", e->call.method);
}

static void put_asked(struct json_out *o, const struct hub_event *e)
{
    put_call(o, e);
    if (e->call.client && *e->call.client)
        json_put_str(o, "client", e->call.client);
}

static void put_progress(struct json_out *o, const struct hub_event *e)
{
    put_call(o, e);
    json_put_double(o, "progress", e->call.progress);
    if (e->call.total > 0)
        json_put_double(o, "total", e->call.total);
    if (e->call.message.n)
        json_put_span(o, "message", e->call.message);
}

static void put_completed(struct json_out *o, const struct hub_event *e)
{
    put_asked(o, e);
    json_put_scaled(o, "duration", (int64_t)(e->call.ms * 1000), 6);
    json_put_bool(o, "success", e->call.success);
}

static void put_cancelled(struct json_out *o, const struct hub_event *e)
{
    put_asked(o, e);
    json_put_scaled(o, "duration", (int64_t)(e->call.ms * 1000), 6);
    json_put_str(o, "reason", call_cancel_name(e->call.why));
    if (e->call.why == CALL_TIMED_OUT)
        json_put_seconds(o, "timeout", (int64_t)e->call.limit_ms);
}

/* clang-format off */
static const struct {
    const char *name;
    void (*put)(struct json_out *o, const struct hub_event *e); /* NULL: the server says it all */
} kinds[] = {
    [EVENT_SERVER_ADDED]   = { "serverAdded",        NULL },
    [EVENT_SERVER_REMOVED] = { "serverRemoved",      NULL },
    [EVENT_STATE]          = { "serverStateChanged", put_state },
    [EVENT_LOG]            = { "serverLog",          put_log },
    [EVENT_CATALOG]        = { "catalogChanged",     NULL },
    [EVENT_PIN]            = { "pin",                put_pin },
    [EVENT_CALL_STARTED]   = { "toolCallStarted",    put_asked },
    [EVENT_CALL_PROGRESS]  = { "toolCallProgress",   put_progress },
    [EVENT_CALL_COMPLETED] = { "toolCallCompleted",  put_completed },
    [EVENT_CALL_CANCELLED] = { "toolCallCancelled",  put_cancelled },
};
/* clang-format on */
_Static_assert(ARRAY_LEN(kinds) == EVENT_KINDS, "every kind has a row");

const char *hub_event_name(enum hub_event_kind k) { return kinds[k].name; }

void hub_event_write(struct buf *out, const struct hub_event *e)
{
    struct json_out o = json_out(out);

    json_begin_object(&o, NULL);
    json_put_str(&o, "type", hub_event_name(e->kind));
    json_put_str(&o, "server", e->server);
    json_put_seconds(&o, "at", e->at);
    if (kinds[e->kind].put)
        kinds[e->kind].put(&o, e);
    json_end(&o);
}
