#include "texts.h"
#include "hub/link/link.h"
#include <inttypes.h>

/* clang-format off */
static const struct {
    const char *text; /* NULL: it depends on more than the state */
    enum badge badge;
    const char *dot;
    unsigned actions;
    enum advice advice;
} states[] = {
    [LINK_DISABLED]       = { "Disabled",      BADGE_NONE,      "gray",   0,              ADVICE_ENABLE },
    [LINK_IDLE]           = { "Not started",   BADGE_IDLE,      "gray",   0,              ADVICE_CONNECT },
    [LINK_CONNECTING]     = { "Connecting...", BADGE_IDLE,      "yellow", ROW_CANCEL,     ADVICE_WAIT },
    [LINK_AUTHENTICATING] = { NULL,            BADGE_IDLE,      "yellow", ROW_CANCEL,     ADVICE_WAIT },
    [LINK_CONNECTED]      = { "Connected",     BADGE_CONNECTED, "green",  ROW_DISCONNECT, ADVICE_NONE },
    [LINK_RECONNECTING]   = { NULL,            BADGE_IDLE,      "yellow", 0,              ADVICE_WAIT },
    [LINK_DISCONNECTED]   = { "Disconnected",  BADGE_IDLE,      "gray",   0,              ADVICE_RECONNECT },
    [LINK_ERROR]          = { NULL,            BADGE_ERROR,     "red",    ROW_RETRY,      ADVICE_EXAMINE },
    [LINK_FAILED]         = { NULL,            BADGE_ERROR,     "red",    ROW_RETRY,      ADVICE_EXAMINE },
};
_Static_assert(ARRAY_LEN(states) == LINK_COUNT, "every state has a row");

static const struct {
    const char *verb, *does; /* of the command line; verb NULL: `does` is for people to do */
    const char *rest;        /* %s: the server */
} advices[] = {
    [ADVICE_NONE]      = { NULL, NULL, NULL },
    [ADVICE_WAIT]      = { NULL, "try again soon", "try again soon; GET /api/servers/%s tells how it is" },
    [ADVICE_ENABLE]    = { "enable", "switches it on", "POST /api/servers/%s/enable switches it on" },
    [ADVICE_CONNECT]   = { "connect", "starts it", "POST /api/servers/%s/connect starts it" },
    [ADVICE_RECONNECT] = { "reconnect", "tries again",
                           "see GET /api/servers/%s/logs, or POST /api/mcp-clients/%s/reconnect" },
    [ADVICE_EXAMINE]   = { "doctor", "looks into it",
                           "see GET /api/servers/%s/logs, then POST /api/mcp-clients/%s/reconnect" },
};

static const struct {
    const char *text, *color;
} badges[] = {
    [BADGE_NONE]      = { "",          "" },
    [BADGE_CONNECTED] = { "Connected", "green" },
    [BADGE_IDLE]      = { "Idle",      "gray" },
    [BADGE_ERROR]     = { "Error",     "red" },
};
/* clang-format on */

void status_text(struct buf *out, const struct link_status *s)
{
    if (states[s->state].text)
        buf_str(out, states[s->state].text);
    else if (s->state == LINK_AUTHENTICATING)
        buf_str(out, auth_step_text(s->auth));
    else if (s->state == LINK_RECONNECTING)
        buf_printf(out, "Reconnecting (%u/%u)...", s->attempt, s->max_attempts);
    else
        buf_str(out, s->message && *s->message ? s->message : "Failed");
}

enum advice advice_of_state(enum link_state s) { return states[s].advice; }

enum advice advice_of_fault(enum fault f)
{
    switch (f) {
    case FAULT_DISABLED:
        return ADVICE_ENABLE;
    case FAULT_NOT_CONNECTED:
        return ADVICE_RECONNECT;
    case FAULT_CONNECT:
        return ADVICE_EXAMINE;
    default:
        return ADVICE_NONE;
    }
}

const char *advice_verb(enum advice a) { return advices[a].verb; }

const char *advice_rest(enum advice a) { return advices[a].rest; }

void advice_text(struct buf *out, enum advice a, const char *server)
{
    if (advices[a].verb)
        buf_printf(out, "; 'patchbay %s %s' %s", advices[a].verb, server, advices[a].does);
    else if (advices[a].does)
        buf_printf(out, "; %s", advices[a].does);
}

enum badge status_badge(const struct link_status *s, const char **tooltip)
{
    if (tooltip)
        *tooltip = states[s->state].badge == BADGE_ERROR ? s->message : NULL;
    return states[s->state].badge;
}

const char *badge_text(enum badge b) { return badges[b].text; }

const char *badge_color(enum badge b) { return badges[b].color; }

const char *dot_color(enum link_state s) { return states[s].dot; }

unsigned row_actions(enum link_state s) { return states[s].actions | ROW_LOGS; }

const char *row_action_text(enum row_action a)
{
    switch (a) {
    case ROW_RETRY:
        return "Retry";
    case ROW_CANCEL:
        return "Cancel";
    case ROW_DISCONNECT:
        return "Disconnect";
    case ROW_LOGS:
        break;
    }
    return "View Logs";
}

void alert_text(struct buf *out, const char *server, const char *message)
{
    buf_printf(out, "%s: %s", server, message);
}

void delete_confirmation(struct buf *out, const char *display_name)
{
    buf_printf(out,
               "Delete \"%s\"?\n\n"
               "This will remove the MCP and its stored credentials.",
               display_name);
}
