/* near.h - what somebody probably meant by a name that does not exist. */
#pragma once
#include "base/base.h"

/* Appends "; did you mean 'a', 'b' or 'c'?" with the names (NULL-ended) that are most like the
 * word, or nothing. Returns whether there were any. */
bool near_write(struct buf *out, const char *word, const char *const *names);
