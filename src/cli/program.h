/* program.h - is the program there that a server is to be started with? */
#pragma once
#include "cli.h"
#include "hub/spec/spec.h"

/* Where it is, for the caller to free; NULL: it is not in `path`, as PATH has it, or not where its
 * command says, and *why is ENOENT, or EACCES when it only may not be run. */
char *program_find(const struct spec *s, const char *path, int *why);
