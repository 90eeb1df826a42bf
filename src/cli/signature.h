/* signature.h - a tool in one line: search(query: string, limit?: integer = 10) */
#pragma once
#include "cli.h"

enum { SIGNATURE_CHOICES = 8 }; /* of an enum that are named */

/* "integer", "string[]", "\"a\" | \"b\"", "number | null". */
void signature_type(struct buf *out, const struct schema *schema, struct json place);
/* ", 1 to 100, format \"date\"": what is more than a type, from each alternative that says it. */
void signature_bounds(struct buf *out, const struct schema *schema, struct json place);
/* `place`: the schema of its arguments; `schema` may be NULL. What servers wrote is made
 * printable. */
void signature_write(struct buf *out, const char *tool, const struct schema *schema,
                     struct json place);
