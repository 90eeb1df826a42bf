/* candidates.h - what can follow on a command line: for the completion of shells. */
#pragma once
#include "cli.h"

/* Prints what the last word could become, one "word<TAB>what it is" a line. `words` (NULL-ended, at
 * least one, without the program's name) are what was typed so far. Nothing: perhaps a file.
 * Servers come from the config files and a project that is trusted, their tools from what the hub
 * remembers of them on the disk: nothing is started and nobody is waited for. */
void candidates_print(char **words);
