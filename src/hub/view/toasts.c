/* toasts.c - the short words that pass by. */
#include "hub/link/link.h"
#include "view.h"

/* Lost, and on the way back: told once, not again before each attempt. */
static bool is_loss(enum link_state from, enum link_state to)
{
    return to == LINK_RECONNECTING && (from == LINK_CONNECTED || from == LINK_DISCONNECTED);
}

/* By itself, and it stays away. */
static bool is_end(const struct hub_event *e)
{
    return e->state.to.state == LINK_DISCONNECTED && e->state.to.message && e->spec &&
           !e->spec->auto_reconnect;
}

bool view_toast(const struct hub_event *e, const char *display_name, struct buf *text,
                struct toast *out)
{
    enum link_state from = e->state.from.state, to = e->state.to.state;

    if (e->kind != EVENT_STATE || from == to)
        return false;
    if (is_loss(from, to)) {
        buf_printf(text, "%s MCP disconnected. Reconnecting...", display_name);
        *out = (struct toast){ .level = TOAST_WARNING, .spinner = true };
    } else if (to == LINK_CONNECTED) {
        buf_printf(text, "%s MCP connected.", display_name);
        *out = (struct toast){ .level = TOAST_SUCCESS, .dismisses_itself = true };
    } else if (is_end(e)) {
        buf_printf(text, "%s MCP disconnected.", display_name);
        *out = (struct toast){ .level = TOAST_ERROR };
    } else if (to == LINK_FAILED) {
        buf_printf(text, "%s MCP failed to restart. Check settings.", display_name);
        *out = (struct toast){ .level = TOAST_ERROR };
    } else {
        return false;
    }
    return true;
}
