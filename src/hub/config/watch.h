/* watch.h - tells when one of some files has changed, appeared or gone: editors replace files,
 * so directories are watched, and where symbolic links lead to. A directory that is not there yet
 * is waited for. Several changes within WATCH_QUIET_MS are told once. */
#pragma once
#include "io/io.h"

struct watch;
/* `paths`, NULL-ended, are copied. `changed` runs on the loop, and may free the watch. Keeps the
 * loop alive until watch_free(). */
MUST_CHECK int watch_files(struct watch **out, struct pb_loop *l, const char *const *paths,
                           loop_fn *changed, void *ctx, struct pb_error *err);
/* The files are being read as they are now: what has happened to them so far is not told any more.
 */
void watch_seen(struct watch *w);
void watch_free(struct watch *w);
