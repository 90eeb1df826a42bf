#include "error.h"
#include <string.h>

_Static_assert(__builtin_strcmp(PB_VERSION, PATCHBAY_BUILD_VERSION) == 0,
               "patchbay.h and meson.build must name the same version");

const char *pb_version(void) { return PB_VERSION; }

const char *pb_code_name(enum pb_code code)
{
    static const char *const names[] = {
        [PB_OK] = "ok",
        [PB_E_INVALID] = "invalid",
        [PB_E_NOT_FOUND] = "not found",
        [PB_E_BUSY] = "busy",
        [PB_E_LIMIT] = "limit",
        [PB_E_CLOSED] = "closed",
        [PB_E_TIMEOUT] = "timeout",
        [PB_E_CANCELLED] = "cancelled",
        [PB_E_SYSTEM] = "system",
        [PB_E_REMOTE] = "remote",
        [PB_E_AUTH] = "authorization",
        [PB_E_UNSUPPORTED] = "unsupported",
        [PB_E_INPUT] = "input",
    };

    return (size_t)code < ARRAY_LEN(names) && names[code] ? names[code] : "unknown";
}
