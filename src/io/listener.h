/* listener.h - takes connections from a listening socket, HTTP_ACCEPTS_PER_TURN at most in a turn.
 * When the process runs out of descriptors it backs off for HTTP_ACCEPT_RETRY_MS: the kernel would
 * report the same connection over and over. */
#pragma once
#include "loop.h"

struct listener;

/* The new socket is the callee's: non-blocking, closed on exec. It may free the listener. */
typedef void listener_fn(void *ctx, int fd);

/* `fd` stays the caller's, is non-blocking, and must not be closed before listener_free(). */
MUST_CHECK int listener_new(struct listener **out, struct pb_loop *l, int fd, listener_fn *fn,
                            void *ctx, struct pb_error *err);
/* fn does not run any more. */
void listener_free(struct listener *s);
