/* warden_reap.c - what servers leave behind comes to a subreaper, and dies there. */
#include "warden_impl.h"
#include <signal.h>

/* One for the program: the children of a process are the same for all its loops. */
static struct timer again;

static void reap(void *ctx)
{
    pid_t pid;

    (void)ctx;
    while ((pid = child_reap_adopted()) > 0)
        warden_note_end(pid);
    if (pid < 0 && !timer_running(&again))
        timer_start_weak(&again, CHILD_LINGER_MS);
}

int warden_reap_on(struct pb_loop *l, struct pb_error *err)
{
    int rc = loop_on_signal(l, SIGCHLD, reap, NULL, err);

    if (rc < 0)
        return rc;
    timer_init(&again, l, reap, NULL);
    reap(NULL); /* those that ended before */
    return 0;
}
