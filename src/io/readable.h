/* readable.h - tells when a descriptor can be read, and reads nothing itself: for sockets that are
 * accepted from, and for the first bytes of a connection that somebody else will take over. */
#pragma once
#include "loop.h"

struct readable;

/* fn runs each turn in which there is something to read. The descriptor stays the caller's and must
 * not be closed before readable_free(). */
MUST_CHECK int readable_new(struct readable **out, struct pb_loop *l, int fd, loop_fn *fn,
                            void *ctx, struct pb_error *err);
/* The descriptor may be closed afterwards; fn does not run any more. */
void readable_free(struct readable *r);
