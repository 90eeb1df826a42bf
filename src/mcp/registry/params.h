/* params.h - the typed parameters of a tool: what they look like as JSON Schema, and arguments
 * made to fit them.
 *
 * Arguments are normalised in this order: fallbacks are filled in, values are coerced ("3" and 3.0
 * become 3 where an int is wanted, "true" becomes true), and what then does not fit is refused with
 * its path: "user.tags[2]: expected an integer, got a string". null counts as absent where the
 * parameter may be absent. Unknown arguments are refused; unknown members of nested objects stay.
 */
#pragma once
#include "json/json.h"

struct params;

/* Copies the list (NULL: no parameters). -PB_E_INVALID names the parameter that is wrong, by its
 * path; -PB_E_LIMIT past MCP_PARAM_DEPTH_MAX. */
MUST_CHECK int params_new(struct params **out, const struct pb_param *list, struct pb_error *err);
void params_free(struct params *p);
AUTO_DEFINE(params, params_free)

/* Appends the JSON Schema of the arguments. */
void params_schema(const struct params *p, struct buf *out);

/* Are the arguments (an object, or JSON_NONE) what params_normalise() would make of them? Most
 * are, and then nothing needs to be written and read again. */
bool params_conform(const struct params *p, struct json arguments);
/* Appends the normalised arguments as a JSON object. */
MUST_CHECK int params_normalise(const struct params *p, struct json arguments, struct buf *out,
                                struct pb_error *err);
