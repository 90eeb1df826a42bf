/* warden.h - no process outlives the program, however it ends.
 *
 * The program becomes a subreaper, so that what its servers leave behind comes to it; and a warden,
 * a small process of its own, holds a pipe to it. When the pipe breaks (SIGKILL included) the
 * warden ends every process that carries the program's mark in its environment, in whatever group
 * or session it is, and then itself. */
#pragma once
#include "io/io.h"

struct warden;

/* Before threads are started. The mark is "PATCHBAY_MARK=<id>", put into the environment of every
 * child. */
MUST_CHECK int warden_start(struct warden **out, struct pb_error *err);
const char *warden_mark(const struct warden *w);
/* Ends what is left of the children (SIGTERM, CHILD_STOP_MS, SIGKILL), then the warden, and waits
 * for it. Blocking; after the loop. */
void warden_stop(struct warden *w);
/* Ends leftovers of one server: processes with this mark in their environment. On a worker. */
void warden_sweep(const char *mark);
/* Reaps children that were adopted, each time one ends, until the loop is freed. */
MUST_CHECK int warden_reap_on(struct pb_loop *l, struct pb_error *err);
