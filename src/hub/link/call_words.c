/* call_words.c - what is said of a call that was ended before it was answered, whoever ended it:
 * the hub while it waited for its server, or the link that had sent it. */
#include "hub/spec/spec.h"
#include "link.h"

/* What a method asks for, as a person would call it. */
static const char *noun_of(const char *method)
{
    /* clang-format off */
    static const struct {
        const char *method, *noun;
    } nouns[] = {
        { "completion/complete", "Completion of" },
        { "prompts/get",         "Prompt" },
        { "resources/read",      "Resource" },
        { "tools/call",          "Tool" },
    };
    /* clang-format on */

    for (size_t i = 0; i < ARRAY_LEN(nouns); i++)
        if (strcmp(method, nouns[i].method) == 0)
            return nouns[i].noun;
    return method;
}

void call_fail(struct pb_error *err, enum call_cancel why, const struct call_spec *call,
               const char *server, uint64_t limit_ms)
{
    /* clang-format off */
    static const struct {
        enum fault fault;
        const char *on, *what; /* around the server's name */
    } ends[] = {
        [CALL_BY_USER]      = { FAULT_CANCELLED,     "on server",              "was cancelled" },
        [CALL_TIMED_OUT]    = { FAULT_TIMEOUT,       "on server",              "timed out after " },
        [CALL_DISCONNECTED] = { FAULT_NOT_CONNECTED, "did not end: server",    "was disconnected" },
        [CALL_SHUTDOWN]     = { FAULT_CANCELLED,     "on server",              "was cancelled: the program ends" },
    };
    /* clang-format on */
    struct span name = call->subject;
    char limit[32] = "";

    if (name.n > MCP_NAME_SHOWN_MAX)
        name.n = MCP_NAME_SHOWN_MAX;
    if (why == CALL_TIMED_OUT)
        link_duration(limit_ms, limit);
    fault_fail(err, ends[why].fault, "%s '%.*s' %s '%s' %s%s", noun_of(call->method),
               SPAN_ARG(name), ends[why].on, server, ends[why].what, limit);
    text_make_printable(err->msg);
}
