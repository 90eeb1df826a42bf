/* request.h - one request whose answer a person waits for: progress is shown, and Ctrl-C cancels it
 * on the server. */
#pragma once
#include "cli.h"

/* Before any thread is started: from here on Ctrl-C is told to cli_request() alone. */
void cli_catch_interrupt(void);

struct cli_answer {
    char *json, *text; /* text: what a person would read of a tool's result */
    bool is_error;
};
void cli_answer_done(struct cli_answer *a);

/* -PB_E_CANCELLED after Ctrl-C. timeout_ms 0: the client's. */
MUST_CHECK int cli_request(struct pb_client *client, const char *method, const char *params,
                           uint32_t timeout_ms, struct cli_answer *out, struct pb_error *err);
