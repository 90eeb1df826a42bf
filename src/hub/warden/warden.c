#include "warden_impl.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define MARK_NAME "PATCHBAY_MARK"
#define PROC_NAME "patchbay-warden" /* 15 characters: all that the kernel keeps */

enum { FIRST_FREE_FD = 3 };
_Static_assert(sizeof MARK_NAME + WARDEN_DEPTH_MAX * (ID_CHARS + 1) == MARK_MAX, "it fits");

/* 0: none runs. Written at the start and the end of the program, when it has one thread. */
static pid_t running;

/* ---- the mark ---- */

/* Ids joined by dots, as we write them; anything else is not ours and is not carried on. */
static bool is_path(const char *s)
{
    for (;; s += ID_CHARS + 1) {
        if (strspn(s, "0123456789abcdef") != ID_CHARS)
            return false;
        if (s[ID_CHARS] != '.')
            return s[ID_CHARS] == '\0';
    }
}

bool warden_is_inner(void)
{
    const char *outer = getenv(MARK_NAME);

    return outer && is_path(outer);
}

static int make_mark(char out[static MARK_MAX], struct pb_error *err)
{
    const char *outer = getenv(MARK_NAME);
    char id[ID_CHARS + 1];
    int n;

    id_new(id);
    if (!outer || !is_path(outer))
        outer = "";
    n = snprintf(out, MARK_MAX, MARK_NAME "=%s%s%s", outer, *outer ? "." : "", id);
    if (n >= MARK_MAX)
        return fail(err, PB_E_LIMIT,
                    "start the warden: %d programs of this kind run inside each other; is one of "
                    "the servers this program itself?",
                    WARDEN_DEPTH_MAX);
    return 0;
}

void warden_server_mark(char out[static WARDEN_SERVER_MARK_CHARS + 1])
{
    char id[ID_CHARS + 1];

    id_new(id);
    snprintf(out, WARDEN_SERVER_MARK_CHARS + 1, "PATCHBAY_SERVER=%s", id);
}

/* ---- in the warden ---- */

/* Where arguments and environment lie in memory: fields 48 to 51 of /proc/self/stat. */
static bool own_words(unsigned long at[static 4])
{
    AUTO_CLOSE int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    char text[2048], *p;
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);

    if (n <= 0)
        return false;
    text[n] = '\0';
    p = strrchr(text, ')'); /* the end of field 2, which may hold anything */
    for (int field = 2; p && field < 48; field++)
        p = strchr(p + 1, ' ');
    for (int i = 0; i < 4; i++) {
        if (!p)
            return false;
        at[i] = strtoul(p, &p, 10);
    }
    return at[0] && at[0] < at[1] && at[1] <= at[2] && at[2] < at[3];
}

/* A warden that carried the mark of an outer program would be ended by the outer warden before its
 * work is done; and what it does not need to know it should not hold. */
static void forget_origin(void)
{
    unsigned long at[4];

    if (own_words(at)) {
        memset((void *)at[2], 0, at[3] - at[2]);
        memset((void *)at[0], 0, at[1] - at[0]);
        /* A longer name runs on into what was the environment; the kernel follows it there. */
        if (at[1] == at[2] && at[3] - at[0] >= sizeof PROC_NAME)
            memcpy((void *)at[0], PROC_NAME, sizeof PROC_NAME);
    }
    prctl(PR_SET_NAME, PROC_NAME);
}

/* Somebody may wait for the end of what we inherited: only the socket is kept, as descriptor 3. */
static bool keep_only(int fd)
{
    int null;

    if (fd != FIRST_FREE_FD && dup2(fd, FIRST_FREE_FD) < 0)
        return false;
    null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int i = 0; i < FIRST_FREE_FD; i++) {
        if (null >= 0 && null != i)
            dup2(null, i);
        else if (null < 0)
            close(i);
    }
    if (syscall(SYS_close_range, FIRST_FREE_FD + 1, ~0U, 0) < 0) {
        for (int i = FIRST_FREE_FD + 1, max = (int)sysconf(_SC_OPEN_MAX); i < max; i++)
            close(i);
    }
    return true;
}

/* Signals are blocked since before the fork, so that neither the terminal nor a service manager
 * ends it before its work is done. */
static void __attribute__((noreturn)) stand_watch(const char *mark, int fd, uint64_t grace_ms)
{
    ssize_t n;
    char byte;

    setsid();
    if (chdir("/") < 0 || !keep_only(fd))
        _exit(EXIT_FAILURE);
    forget_origin();
    do {
        n = read(FIRST_FREE_FD, &byte, 1);
    } while (n < 0 && errno == EINTR);
    if (n <= 0) /* a byte says that the work is done */
        sweep_marked(&(struct marks){ &mark, 1 }, grace_ms);
    _exit(EXIT_SUCCESS);
}

/* ---- in the program ---- */

/* Never 0, 1 or 2, should one of them be closed: what the program prints would go there. */
static int make_pair(int fd[static 2], struct pb_error *err)
{
    int low[2], error;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, low) < 0)
        return fail_sys(err, errno, "start the warden: make a socket pair");
    fd[0] = fcntl(low[0], F_DUPFD_CLOEXEC, FIRST_FREE_FD);
    fd[1] = fcntl(low[1], F_DUPFD_CLOEXEC, FIRST_FREE_FD);
    error = errno;
    close(low[0]);
    close(low[1]);
    if (fd[0] >= 0 && fd[1] >= 0)
        return 0;
    if (fd[0] >= 0)
        close(fd[0]);
    return fail_sys(err, error, "start the warden: make a socket pair");
}

static int fork_warden(struct warden *w, struct pb_error *err)
{
    sigset_t all, was;
    int fd[2] = { -1, -1 }, error, rc = make_pair(fd, err);

    if (rc < 0)
        return rc;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &was);
    w->pid = fork();
    error = errno;
    if (w->pid == 0) {
        close(fd[1]);
        stand_watch(w->mark, fd[0], w->grace_ms);
    }
    pthread_sigmask(SIG_SETMASK, &was, NULL);
    close(fd[0]);
    if (w->pid < 0) {
        close(fd[1]);
        return fail_sys(err, error, "start the warden");
    }
    w->fd = fd[1];
    return 0;
}

int warden_start_with(struct warden **out, uint64_t grace_ms, struct pb_error *err)
{
    AUTO_FREE struct warden *w = NEW(struct warden);
    int rc;

    w->grace_ms = grace_ms;
    rc = make_mark(w->mark, err);
    if (rc < 0)
        return rc;
    if (access("/proc/self/environ", R_OK) < 0)
        return fail_sys(err, errno, "start the warden: read /proc, which must be mounted");
    if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
        return fail_sys(err, errno, "start the warden: become a subreaper");
    rc = fork_warden(w, err);
    if (rc < 0)
        return rc;
    setenv(MARK_NAME, w->mark + sizeof MARK_NAME, 1);
    running = w->pid;
    *out = TAKE(w);
    return 0;
}

int warden_start(struct warden **out, struct pb_error *err)
{
    return warden_start_with(out, CHILD_STOP_MS, err);
}

bool warden_note_end(pid_t pid)
{
    if (pid != running)
        return false;
    running = 0;
    log_error("The warden (process %d) has ended before its time: if this program is killed, "
              "processes of its servers may stay",
              (int)pid);
    return true;
}

void warden_sweep_marks(const struct marks *marks, uint64_t grace_ms)
{
    size_t n = sweep_marked(marks, grace_ms);

    if (n)
        log_info("Ended processes that servers had left behind (%zu signals)", n);
}

bool warden_running(void) { return running != 0; }

/* Done here: the warden may have been killed. It takes over if this program is killed meanwhile. */
void warden_stop(struct warden *w)
{
    const char *mark;

    if (!w)
        return;
    mark = w->mark;
    warden_sweep_marks(&(struct marks){ &mark, 1 },
                       w->grace_ms < WARDEN_STOP_MS ? w->grace_ms : WARDEN_STOP_MS);
    send(w->fd, "", 1, MSG_NOSIGNAL);
    close(w->fd);
    while (running == w->pid && waitpid(w->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    running = 0;
    while (child_reap_adopted() > 0)
        continue;
    unsetenv(MARK_NAME);
    free(w);
}
