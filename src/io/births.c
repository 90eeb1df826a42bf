#include "births.h"
#include "child.h"
#include <errno.h>
#include <pthread.h>
#include <sys/wait.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct map ours; /* pid -> anything */

void births_lock(void) { pthread_mutex_lock(&lock); }

void births_unlock(void) { pthread_mutex_unlock(&lock); }

void births_add(pid_t pid)
{
    uint64_t key = (uint64_t)pid;

    map_put(&ours, map_u64(&key), &ours);
}

static void forget(pid_t pid)
{
    uint64_t key = (uint64_t)pid;

    map_del(&ours, map_u64(&key));
    if (ours.n == 0)
        map_done(&ours);
}

void births_reap(pid_t pid)
{
    siginfo_t info;

    births_lock();
    while (waitid(P_PID, (id_t)pid, &info, WEXITED | __WALL) < 0 && errno == EINTR)
        continue;
    forget(pid);
    births_unlock();
}

void births_forget(pid_t pid)
{
    births_lock();
    forget(pid);
    births_unlock();
}

static int wait_now(idtype_t what, pid_t pid, int flags, siginfo_t *info)
{
    int rc;

    *info = (siginfo_t){ 0 };
    do {
        rc = waitid(what, (id_t)pid, info, WEXITED | WNOHANG | __WALL | flags);
    } while (rc < 0 && errno == EINTR);
    return rc;
}

pid_t child_reap_adopted(void)
{
    siginfo_t info;
    pid_t pid = 0;

    births_lock();
    if (wait_now(P_ALL, 0, WNOWAIT, &info) == 0 && info.si_pid > 0) {
        uint64_t key = (uint64_t)info.si_pid;

        pid = info.si_pid;
        if (map_get(&ours, map_u64(&key)))
            pid = -1;
        else if (wait_now(P_PID, pid, 0, &info) < 0)
            pid = 0;
    }
    births_unlock();
    return pid;
}
