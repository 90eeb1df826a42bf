/* url.h - as much of URLs as a client needs that must not be led astray: whose origin one is, and
 * where a reference found at one leads. Only http and https, only absolute bases. */
#pragma once
#include "base/base.h"

/* Scheme, host and port agree, default ports filled in. False when either is no http(s) URL, or
 * has a user or password in it. */
bool url_same_origin(struct span a, struct span b);

/* The target of `ref` found at `base`, without its fragment: absolute, "//host/path", "/path",
 * "?query" or relative to the last slash of base's path. Dots are left to the server. -PB_E_INVALID
 * when either is unusable. */
MUST_CHECK int url_resolve(struct buf *out, struct span base, struct span ref,
                           struct pb_error *err);
