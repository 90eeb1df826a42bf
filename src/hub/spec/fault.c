#include "fault.h"
#include <stdarg.h>
#include <stdio.h>

static const struct {
    const char *name;
    enum pb_code code;
} faults[] = {
    [FAULT_NONE] = { "call_failed", PB_E_INVALID },
    [FAULT_NO_SERVER] = { "server_not_found", PB_E_NOT_FOUND },
    [FAULT_NOT_CONNECTED] = { "server_not_connected", PB_E_CLOSED },
    [FAULT_NO_TOOL] = { "tool_not_found", PB_E_NOT_FOUND },
    [FAULT_NO_RESOURCE] = { "resource_not_found", PB_E_NOT_FOUND },
    [FAULT_NO_PROMPT] = { "prompt_not_found", PB_E_NOT_FOUND },
    [FAULT_TIMEOUT] = { "call_timeout", PB_E_TIMEOUT },
    [FAULT_CANCELLED] = { "call_cancelled", PB_E_CANCELLED },
    [FAULT_CALL] = { "call_failed", PB_E_REMOTE },
    [FAULT_CONNECT] = { "connect_failed", PB_E_CLOSED },
    [FAULT_DUPLICATE] = { "duplicate_name", PB_E_INVALID },
    [FAULT_NAME] = { "invalid_name", PB_E_INVALID },
    [FAULT_DISABLED] = { "server_disabled", PB_E_CLOSED },
    [FAULT_BUSY] = { "too_many_calls", PB_E_LIMIT },
    [FAULT_DENIED] = { "call_denied", PB_E_INVALID },
    [FAULT_UNRECORDED] = { "call_unrecorded", PB_E_CLOSED },
    [FAULT_HELD] = { "definition_held", PB_E_INVALID },
};
_Static_assert(ARRAY_LEN(faults) == FAULT_COUNT, "every fault has a row");

enum fault fault_of(const struct pb_error *err)
{
    switch (err->code) {
    case PB_E_SYSTEM:
    case PB_E_REMOTE:
    case PB_E_AUTH:
        return FAULT_CALL;
    default:
        return err->sys > FAULT_NONE && err->sys < FAULT_COUNT ? (enum fault)err->sys : FAULT_NONE;
    }
}

const char *fault_name(const struct pb_error *err)
{
    return err->code == PB_E_AUTH ? "auth_required" : faults[fault_of(err)].name;
}

int fault_fail(struct pb_error *err, enum fault fault, const char *fmt, ...)
{
    char text[sizeof err->msg];
    va_list ap;
    int rc;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    rc = fail(err, faults[fault].code, "%s", text);
    if (err)
        err->sys = faults[fault].code == PB_E_REMOTE ? 0 : (int)fault;
    return rc;
}
