/* duration.h - spans of time as people write and read them. */
#pragma once
#include "buf.h"
#include <stdint.h>

/* "30s", "100ms", "2m", "1h"; "1.5s"; always exact. */
void duration_text(struct buf *out, uint64_t ms);
/* "300" and "1.5" are seconds; "300ms", "90s", "5m", "1h30m", "2d". False: it is none of these, or
 * more than a year. */
bool duration_parse(struct span text, uint64_t *ms);
