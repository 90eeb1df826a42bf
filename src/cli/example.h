/* example.h - a call of a tool that can be pasted: made of what its schema says, and tried out on
 * it before it is shown. */
#pragma once
#include "definition.h"
#include "wanted.h"

/* "patchbay call server.tool query=text"; false: the schema wants more than can be guessed.
 * `call`: the tool as it is written before its arguments, and what follows them. */
struct example_call {
    const char *tool, *after; /* `after` may be "" */
    int *left;                /* steps, see struct wanted_from */
};
MUST_CHECK bool example_write(struct buf *out, const struct definition *d,
                              const struct example_call *call);
/* One word of a shell, whatever it holds. */
void example_word(struct buf *out, struct span word);
