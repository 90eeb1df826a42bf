/* result_text.h - what a person or a model reads of a result: S0-47 to S0-51. */
#pragma once
#include "json/json.h"

/* Appends the texts of a tool's content, a resource's contents or a prompt's messages, one per
 * line. Bytes of images and sounds are counted as they are after base64. Without any of these: what
 * is structured, as JSON. */
void result_text(struct buf *out, struct span result);
/* Does the result say that the tool failed? */
bool result_is_error(struct span result);
