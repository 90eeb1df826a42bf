/* texts.h - the words people read about servers and calls: exact, in one place. */
#pragma once
#include "hub/link/link.h"
#include "hub/spec/spec.h"

void status_text(struct buf *out, const struct link_status *s); /* S0-108 */
/* What a person can do about a server that does not answer. */
enum advice {
    ADVICE_NONE,
    ADVICE_WAIT,
    ADVICE_ENABLE,
    ADVICE_CONNECT,
    ADVICE_RECONNECT,
    ADVICE_EXAMINE,
};
enum advice advice_of_state(enum link_state s);
enum advice advice_of_fault(enum fault f); /* of one that is none of a server's: ADVICE_NONE */
const char *advice_verb(enum advice a);    /* of the command line, before the name; or NULL */
const char *advice_rest(enum advice a);    /* with "%s" for the name; NULL: nothing */
/* "; 'patchbay enable NAME' switches it on", behind what is wrong; or nothing. */
void advice_text(struct buf *out, enum advice a, const char *server);
enum badge { BADGE_NONE, BADGE_CONNECTED, BADGE_IDLE, BADGE_ERROR };
/* S1-120..123; *tooltip (may be NULL) gets the error message or NULL. */
enum badge status_badge(const struct link_status *s, const char **tooltip);
const char *badge_text(enum badge b);     /* "Connected", "Idle", "Error", "" */
const char *badge_color(enum badge b);    /* "green", "gray", "red", "" */
const char *dot_color(enum link_state s); /* S0-132 */
/* What the menu of a server's row offers, S0-131. */
enum row_action { ROW_RETRY = 1, ROW_CANCEL = 2, ROW_DISCONNECT = 4, ROW_LOGS = 8 };
unsigned row_actions(enum link_state s);
const char *row_action_text(enum row_action a); /* "Retry", "Cancel", "Disconnect", "View Logs" */
/* "github: Connection refused", under the title "Server Issue". S0-136 */
void alert_text(struct buf *out, const char *server, const char *message);

void delete_confirmation(struct buf *out, const char *display_name); /* S1-125 */
