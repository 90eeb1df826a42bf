/* signature.h - a tool in one line: search(query: string, limit?: integer = 10) */
#pragma once
#include "cli.h"

/* `place`: the schema of its arguments; `schema` may be NULL. What servers wrote is made
 * printable. */
void signature_write(struct buf *out, const char *tool, const struct schema *schema,
                     struct json place);
