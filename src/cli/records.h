/* records.h - what was recorded of calls: where it is kept, and reaching it. */
#pragma once
#include "reach.h"
#include "store/store.h"

/* Owned by the caller. */
char *records_dir(const struct cli *cli);
/* store_open() there. Of `o`, `dir` is set. */
MUST_CHECK int records_open(struct store **out, const struct cli *cli, struct store_options *o,
                            struct pb_error *err);
/* Whoever has the records: a daemon that records, else a hub of our own that opens them. *out stays
 * NULL, and that is told, when nothing was recorded yet. An exit code. */
MUST_CHECK int records_reach(struct reach **out, const struct cli *cli);
/* The daemon, if it records: for who wants to hear of what is new. */
MUST_CHECK int records_follow(struct reach **out, const struct cli *cli,
                              void (*notified)(const char *method, const char *params));
