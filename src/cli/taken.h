/* taken.h - what a verb has changed in a config file is taken over by the daemon that runs, before
 * the verb ends: the next one finds it there. */
#pragma once
#include "cli.h"

/* Asks the daemon of this home to read its config again, and waits for that. CLI_OK when it has,
 * when there is no daemon, and when it does not read `file`, which is told; else it was told why it
 * goes on with what it had. */
int taken_over(const struct cli *cli, const char *file);
