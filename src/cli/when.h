/* when.h - moments and spans of time as people type them. */
#pragma once
#include "cli.h"

/* An option of the verb: a time back from now ("10m", "2h", "90" seconds), seconds since 1970 (more
 * than a year of them), or a date ("2026-01-31", "2026-01-31 12:00", "2026-01-31T12:00:00Z";
 * without a zone it is ours). *seconds since 1970; stays when the option is not given. CLI_USAGE
 * after saying what is wrong. */
MUST_CHECK int when_option(const struct cli *cli, const char *name, double *seconds);
/* The same for a span of time; a year at most. */
MUST_CHECK int when_span_option(const struct cli *cli, const char *name, uint64_t *ms);
/* "12 s", "3 min", "2 h", "5 d": near enough. */
void when_span_text(struct buf *out, double seconds);
/* "10:17:33"; "2026-11-17 10:17:33" when that is not today. */
void when_text(struct buf *out, double seconds);
