/* error.h - filling the one error type. Every failing function ends in one of these, so that a
 * failure is one line: the code to decide on and a text complete enough to show. */
#pragma once
#include "macros.h"
#include "patchbay.h"

/* What the system says of an error number; it lies in `room` or stays for good. */
const char *system_text(int sys, char *room, size_t n);
/* Set *err (err may be NULL) and return -code. */
int fail(struct pb_error *err, enum pb_code code, const char *fmt, ...) PRINTF(3, 4);
/* The same with PB_E_SYSTEM, the errno kept in .sys and its text appended. */
int fail_sys(struct pb_error *err, int sys, const char *fmt, ...) PRINTF(3, 4);
/* Prefixes "what: " to an error already set; returns -err->code. */
int fail_in(struct pb_error *err, const char *fmt, ...) PRINTF(2, 3);
/* Copies an error that was delivered by a callback into the caller's; returns its -code. */
int fail_copy(struct pb_error *err, const struct pb_error *from);
