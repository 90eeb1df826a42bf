/* again.h - the program begins anew in its own place. */
#pragma once
#include "cli.h"

/* Becomes the program that it was started as: the same options, environment, directory, process and
 * terminal, but what is installed now under that name. At the very end: nothing runs any more, no
 * other thread does. Returns only if that failed, with an exit code after telling why. */
int again_become(const struct cli *cli);
