/* signature.h - a tool in one line: search(query: string, limit?: integer = 10) */
#pragma once
#include "wanted.h"

enum { SIGNATURE_CHOICES = 8 }; /* of an enum that are named */

/* "integer", "string[]", "\"a\" | \"b\"", "number | null". */
void signature_type(struct buf *out, struct wanted_from from, struct json place);
/* ", 1 to 100, format \"date\"": what is more than a type, from each alternative that says it. */
void signature_bounds(struct buf *out, struct wanted_from from, struct json place);
/* `place`: the schema of its arguments. What servers wrote is made printable. What is not told
 * because no steps are left is "…". */
void signature_write(struct buf *out, const char *tool, struct wanted_from from, struct json place);
