/* warden.h - no process outlives the program, however it ends.
 *
 * The program becomes a subreaper, so that what its servers leave behind comes to it; and a warden,
 * a small process of its own, holds a socket to it. When that breaks (SIGKILL included) the
 * warden ends every process that carries the program's mark in its environment, in whatever group
 * or session it is, and then itself. */
#pragma once
#include "io/io.h"

struct warden;

/* Before threads are started. The mark is "PATCHBAY_MARK=<id>", put into the environment of every
 * child: it is set in the program's own environment, which children inherit. In a program that was
 * started by another of ours it is "PATCHBAY_MARK=<its id>.<id>", so that the outer warden finds
 * what belongs to the inner one. -PB_E_LIMIT past WARDEN_DEPTH_MAX of them. */
MUST_CHECK int warden_start(struct warden **out, struct pb_error *err);
/* Ends what is left of the children (SIGTERM, WARDEN_STOP_MS, SIGKILL), then the warden, and waits
 * for it. Blocking; after the loop. (A warden that is left alone gives them CHILD_STOP_MS.) */
void warden_stop(struct warden *w);
bool warden_running(void);
/* Was this program started by a server of another of ours? Asked before warden_start(). */
bool warden_is_inner(void);
/* The same in the background, on a worker of the loop: marks that come while one sweep runs are
 * looked for together by the next. */
void warden_sweep_later(struct pb_loop *l, const char *mark);
/* A mark for one server's processes, "PATCHBAY_SERVER=<id>". The id is random, because two programs
 * may have servers of the same name, and each ends its own only. */
enum { WARDEN_SERVER_MARK_CHARS = 16 + ID_CHARS };
void warden_server_mark(char out[static WARDEN_SERVER_MARK_CHARS + 1]);
/* Reaps children that were adopted, each time one ends, until the loop is freed. For one loop of a
 * program at a time. */
MUST_CHECK int warden_reap_on(struct pb_loop *l, struct pb_error *err);
