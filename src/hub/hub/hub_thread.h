/* hub_thread.h - a hub on a loop with a thread of its own. What is wanted of it is asked on that
 * loop, with loop_wait(). */
#pragma once
#include "io/io.h"

struct hub;
struct hub_options;
struct hub_thread;

/* opts->loop must be NULL. */
MUST_CHECK int hub_thread_start(struct hub_thread **out, const struct hub_options *opts,
                                struct pb_error *err);
/* Stops the servers, ends the loop, joins the thread. Waits that run return -PB_E_CLOSED. A second
 * shutdown does nothing; only hub_thread_free() frees. */
void hub_thread_shutdown(struct hub_thread *t);
void hub_thread_free(struct hub_thread *t);
struct pb_loop *hub_thread_loop(struct hub_thread *t);
struct hub *hub_thread_hub(struct hub_thread *t); /* to be used on its loop */
