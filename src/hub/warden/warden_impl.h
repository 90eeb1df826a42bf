/* warden_impl.h - what the parts of the warden know of each other.
 *
 *   warden.c         the process: starting it, telling it, stopping it
 *   warden_later.c   sweeping for single servers, many at once
 *   warden_reap.c    what is left behind comes to a subreaper
 *   warden_sweep.c   finding processes by their mark, and ending them */
#pragma once
#include "warden.h"
#include "warden_sweep.h"

struct warden {
    char mark[MARK_MAX];
    int fd; /* our end of a socket pair; its end is what the warden waits for */
    pid_t pid;
    uint64_t grace_ms;
};

/* warden_start() with another time between SIGTERM and SIGKILL. */
MUST_CHECK int warden_start_with(struct warden **out, uint64_t grace_ms, struct pb_error *err);
/* Was this the warden? Says so in the log: from now on nobody cleans up after a SIGKILL. */
bool warden_note_end(pid_t pid);
/* Ends what carries one of the marks, and says so in the log. Blocking. */
void warden_sweep_marks(const struct marks *marks, uint64_t grace_ms);
