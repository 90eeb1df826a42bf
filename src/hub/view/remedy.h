/* remedy.h - why a server does not come up, and what to do about it: one table, for the doctor, the
 * lists, REST and the console. Pure. */
#pragma once
#include "hub/spec/spec.h"

/* What is known of a server that did not come up. */
struct ailment {
    const struct spec *spec;
    const struct pb_error *err;
    struct span said; /* the last lines of its stderr; may be empty */
};

/* Appends what is wrong and what to do, each one line. False: it is none that is known, and nothing
 * is appended. What a server says is looked at and never repeated. */
bool remedy_find(const struct ailment *a, struct buf *problem, struct buf *next);
/* What people forget to install, by the command that is missing. */
void remedy_install(struct buf *out, const char *command);
