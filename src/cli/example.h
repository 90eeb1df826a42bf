/* example.h - a call of a tool that can be pasted: made of what its schema says, and tried out on
 * it before it is shown. */
#pragma once
#include "definition.h"

/* "patchbay call server.tool query=text"; false: the schema wants more than can be guessed.
 * `tool`: as it is written before its arguments; `after`: what follows them, may be "". */
MUST_CHECK bool example_write(struct buf *out, const struct definition *d, const char *tool,
                              const char *after);
/* One word of a shell, whatever it holds. */
void example_word(struct buf *out, struct span word);
