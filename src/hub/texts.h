/* texts.h - the words people read about servers and calls: exact, in one place. */
#pragma once
#include "event.h"

void status_text(struct buf *out, const struct link_status *s); /* S0-108 */
enum badge { BADGE_NONE, BADGE_CONNECTED, BADGE_IDLE, BADGE_ERROR };
/* S1-120..123; *tooltip (may be NULL) gets the error message or NULL. */
enum badge status_badge(const struct link_status *s, const char **tooltip);
const char *badge_text(enum badge b);     /* "Connected", "Idle", "Error", "" */
const char *badge_color(enum badge b);    /* "green", "gray", "red", "" */
const char *dot_color(enum link_state s); /* S0-132 */

/* S1-96..99. */
enum call_display { CALL_IN_PROGRESS, CALL_SUCCESS, CALL_ERROR, CALL_TIMEOUT };
void call_display_text(struct buf *out, enum call_display d, const char *tool, unsigned timeout_s);
void delete_confirmation(struct buf *out, const char *display_name); /* S1-125 */

/* S0-47..51: what a person or a model reads of a result ({"content":[…]}). */
void result_text(struct buf *out, struct span result);

/* S1-100, S1-101. Names and descriptions in parallel. */
void system_prompt_with_tools(struct buf *out, const char *base, const char *const *names,
                              const char *const *descriptions, size_t n);
/* "30s", "100ms", "2m". */
void duration_text(struct buf *out, uint64_t ms);
