/* remembered.h - lists that servers do not say now but said once: without a daemon they are not
 * started only to be asked again. */
#pragma once
#include "cli.h"

#define CLI_REFRESH_OPTION                                                                  \
    {                                                                                       \
        0, "refresh", NULL, "start servers that rest, and ask them, instead of remembering" \
    }

/* What a list is asked for with: the server that is the verb's first argument, --mode, --refresh.
 * Owned by the caller. */
char *remembered_params(const struct cli *cli);
/* "failed" and "remembered" of a server that was asked here and now: there is nothing to tell. */
void remembered_write_none(struct json_out *o);
/* Says on standard error how old they are: [{"server","remembered_at"}]. */
void remembered_tell(struct json list);
