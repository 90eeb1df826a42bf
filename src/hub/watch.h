/* watch.h - tells when one of some files has changed, appeared or gone: editors replace files,
 * so directories are watched. Several changes within WATCH_SETTLE_MS are told once. */
#pragma once
#include "io/io.h"

struct watch;
MUST_CHECK int watch_files(struct watch **out, struct pb_loop *l, const char *const *paths,
                           loop_fn *changed, void *ctx, struct pb_error *err);
void watch_free(struct watch *w);
