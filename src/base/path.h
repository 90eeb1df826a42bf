/* path.h - paths as texts. What is really there, behind symbolic links, is up to who opens them. */
#pragma once
#include "buf.h"

/* Appends the absolute path that `path` means in `directory` (absolute), without ".", ".." and
 * empty parts. "~" and "~/x" begin at home (NULL: there is none, "~" is a name). Above "/" there is
 * nothing. */
void path_resolve(struct buf *out, const char *directory, const char *home, const char *path);
/* Is it the directory, or beneath it? Both are absolute and clean. S3-147 */
bool path_is_within(const char *directory, const char *path);
