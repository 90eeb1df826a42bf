/* spare.h - memory for small things that come and go by the thousand: requests, calls, messages.
 * What one of them gives back serves the next; the allocator keeps only a few of each size at hand,
 * and a hub has dozens of calls under way. Kept per thread, at most SPARE_BYTES; what is larger
 * than SPARE_MOST comes from the allocator. With SPARE_OFF, which AddressSanitizer means and a
 * build for valgrind says, nothing is kept: a use after the end is seen. */
#pragma once
#include "macros.h"
#include <stddef.h>

/* What is taken is rounded up to this. */
enum { SPARE_STEP = 64 };

/* Not zeroed. Comes from malloc(): who does not give it back may free() or realloc() it. */
void *spare_take(size_t n) __attribute__((returns_nonnull, malloc));
/* n is what it was taken with. Any thread. NULL is fine. */
void spare_give(void *p, size_t n);
