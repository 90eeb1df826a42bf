/* background.h - the program goes on without the terminal it was started from. */
#pragma once
#include "cli.h"
#include <stdbool.h>

/* Once, while there is one thread. Returns true in the process that goes on: it has a session of
 * its own and no controlling terminal, reads nothing, and what it prints is appended to the file
 * `log`. When it serves it calls background_ready().
 *
 * Returns false in the process that was started, when the other serves or has failed: what it has
 * to say was printed, *status is the exit code. */
bool background_split(const char *log, int *ready, int *status);
/* Lets the first process end well; it prints this text. Closes `ready`. */
void background_ready(int ready, struct span text);
