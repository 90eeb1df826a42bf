/* request.h - one request whose answer a person waits for: progress is shown, and Ctrl-C cancels it
 * on the server. */
#pragma once
#include "cli.h"

/* From here on Ctrl-C cancels the request that is waited for; while there is none it ends the
 * program with CLI_INTERRUPTED. */
void cli_catch_interrupt(void);

struct cli_answer {
    char *json, *text; /* text: what a person would read of a tool's result */
    bool is_error;
};
void cli_answer_done(struct cli_answer *a);

struct cli_asked {
    const char *method, *params;
    uint32_t timeout_ms; /* 0: the client's */
};
/* -PB_E_CANCELLED after Ctrl-C. */
MUST_CHECK int cli_request(struct pb_client *client, const struct cli_asked *what,
                           struct cli_answer *out, struct pb_error *err);
