/* tools.h - the door of the room `tools`: all built-in tools.
 *
 *   tools.c   the table of them, and their groups */
#pragma once
#include "tools/kit/kit.h"

struct tools_options {
    struct gate *gate;
    const char *home;                /* where they keep what they keep */
    const char *directory;           /* of callers that say none; NULL: a directory in home */
    const struct settings *settings; /* those that count at a restart are looked at; may be NULL */
};
/* They are in the catalog of the gate's hub from now on, behind SPEC_OWN, and end with it. */
void tools_new(const struct tools_options *o);

/* Is this what one of them is called: "think", "builtin.think", "file_operations.read_file",
 * "read_file"? */
bool tools_named(struct span name);

/* Groups as people write them. */
unsigned tools_group(struct span name); /* 0: none */
void tools_write_groups(struct buf *out, unsigned groups);
