/* ending.h - a running daemon is told to end, and has ended when the verb has: its port and its
 * socket are free then. Or it is told to begin again, and then serves again. */
#pragma once
#include "cli.h"

/* Gives an exit code, after telling on stdout what happened, or on stderr what did not. */
int ending_run(const struct cli *cli);
int ending_run_again(const struct cli *cli);
