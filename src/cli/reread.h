/* reread.h - files that are read on a worker whenever they change, and taken over on the loop. One
 * reading at a time; what changes meanwhile is read after it. */
#pragma once
#include "io/io.h"

struct reread {
    struct sm state;
    struct pb_loop *loop;
    loop_fn *read;  /* on a worker */
    loop_fn *taken; /* on the loop, once per reading; must call reread_over() */
    void *ctx;
};

void reread_init(struct reread *r, struct pb_loop *loop, loop_fn *read, loop_fn *taken, void *ctx);
/* What is in the files now will be read. -PB_E_BUSY when no worker is free: then it is as before.
 */
MUST_CHECK int reread_start(struct reread *r, struct pb_error *err);
bool reread_runs(const struct reread *r);
/* The reading has come to its end. Whether what it brought is old already: then start again. */
bool reread_over(struct reread *r);
