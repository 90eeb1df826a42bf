/* fault.h - the stable codes of what can go wrong with a server or a call. They travel in
 * pb_error.sys of errors whose code leaves .sys free (not SYSTEM, REMOTE, AUTH). */
#pragma once
#include "base/base.h"

enum fault {
    FAULT_NONE,
    FAULT_NO_SERVER,     /* server_not_found */
    FAULT_NOT_CONNECTED, /* server_not_connected */
    FAULT_NO_TOOL,       /* tool_not_found */
    FAULT_NO_RESOURCE,   /* resource_not_found */
    FAULT_NO_PROMPT,     /* prompt_not_found */
    FAULT_TIMEOUT,       /* call_timeout */
    FAULT_CANCELLED,     /* call_cancelled */
    FAULT_CALL,          /* call_failed */
    FAULT_CONNECT,       /* connect_failed */
    FAULT_DUPLICATE,     /* duplicate_name */
    FAULT_NAME,          /* invalid_name */
    FAULT_DISABLED,      /* server_disabled */
    FAULT_BUSY,          /* too_many_calls */
    FAULT_DENIED,        /* call_denied */
    FAULT_UNRECORDED,    /* call_unrecorded */
    FAULT_HELD,          /* definition_held */
    FAULT_COUNT,
};

/* "server_not_found", ...; "call_failed" for codes without a fault of their own, "auth_required"
 * for PB_E_AUTH. */
const char *fault_name(const struct pb_error *err);
enum fault fault_of(const struct pb_error *err);
/* Sets code, fault and text; returns -code. */
int fault_fail(struct pb_error *err, enum fault fault, const char *fmt, ...) PRINTF(3, 4);
