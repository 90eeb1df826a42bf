/* program.h - a program of ours as a child with pipes, and who is left of it afterwards. */
#pragma once
#include "base/base.h"
#include "tap.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

enum { PROGRAM_ARGS_MAX = 32, PROGRAM_WAIT_MS = 60000 };

struct program {
    pid_t pid;
    int in, out;
    struct buf held; /* read and not handed out yet */
};

static inline uint64_t now_ms(void) { return clock_real()->now_ms(clock_real()); }

static inline const char *built(const char *name)
{
    static char path[8][4096];
    static int at;
    const char *dir = getenv("BUILD_DIR");

    CHECK(dir != NULL);
    at = (at + 1) % 8;
    snprintf(path[at], sizeof path[at], "%s/%s", dir, name);
    return path[at];
}

static inline void write_file(const char *path, const char *text)
{
    AUTO_CLOSE int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    size_t n = strlen(text);

    CHECK(fd >= 0 && write(fd, text, n) == (ssize_t)n);
}

/* argv[0] is a program that was built; its environment is ours. stderr goes to `err`, or nowhere.
 */
static inline void program_start(struct program *p, const char *const *argv, const char *err)
{
    int a[2], b[2];

    *p = (struct program){ 0 };
    CHECK(pipe2(a, O_CLOEXEC) == 0 && pipe2(b, O_CLOEXEC) == 0);
    sigaction(SIGPIPE, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL);
    fflush(stdout);
    p->pid = fork();
    if (p->pid == 0) {
        int e = open(err ? err : "/dev/null", O_WRONLY | O_CREAT | O_APPEND, 0600);

        sigaction(SIGPIPE, &(struct sigaction){ .sa_handler = SIG_DFL }, NULL);
        dup2(a[0], 0);
        dup2(b[1], 1);
        dup2(e, 2);
        execv(built(argv[0]), (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    close(a[0]);
    close(b[1]);
    p->in = a[1];
    p->out = b[0];
}

static inline void program_say(struct program *p, const char *text)
{
    size_t n = strlen(text);

    while (n) {
        ssize_t w = write(p->in, text, n);

        CHECK(w > 0);
        text += w;
        n -= (size_t)w;
    }
}

/* The next line in a buffer of its own; NULL: the end of its output. Fails after PROGRAM_WAIT_MS.
 */
static inline char *program_hear(struct program *p)
{
    uint64_t until = now_ms() + PROGRAM_WAIT_MS;

    for (;;) {
        struct pollfd fd = { .fd = p->out, .events = POLLIN };
        char *end = p->held.n ? memchr(p->held.p, '\n', p->held.n) : NULL;
        ssize_t n;

        if (end) {
            size_t len = (size_t)(end - p->held.p);
            char *line = mem_dupn(p->held.p, len);

            buf_consume(&p->held, len + 1);
            return line;
        }
        if (now_ms() > until)
            TAP_FAIL("no line within %d ms", PROGRAM_WAIT_MS);
        if (poll(&fd, 1, 1000) <= 0)
            continue;
        n = read(p->out, buf_reserve(&p->held, 65536), 65536);
        if (n <= 0)
            return NULL;
        p->held.n += (size_t)n;
    }
}

static inline void program_close_input(struct program *p)
{
    if (p->in >= 0)
        close(p->in);
    p->in = -1;
}

/* Waits for its end, at most `ms`; gives the exit status, or -signal. */
static inline int program_end(struct program *p, uint64_t ms)
{
    uint64_t until = now_ms() + ms;
    int status;

    for (;;) {
        pid_t got = waitpid(p->pid, &status, WNOHANG);

        if (got == p->pid)
            break;
        if (now_ms() > until) {
            kill(p->pid, SIGKILL);
            TAP_FAIL("it did not end within %llu ms", (unsigned long long)ms);
        }
        poll(NULL, 0, 5);
    }
    program_close_input(p);
    close(p->out);
    buf_done(&p->held);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* How many processes carry this "NAME=value" in their environment, apart from ourselves; zombies
 * have none. With `sig` they are sent it. */
static inline int marked_processes(const char *mark, int sig)
{
    DIR *proc = opendir("/proc");
    int n = 0;

    CHECK(proc != NULL);
    for (struct dirent *e; (e = readdir(proc));) {
        char path[300], text[65536];
        long pid = strtol(e->d_name, NULL, 10);
        int fd;
        ssize_t got;

        if (pid <= 0 || pid == getpid())
            continue;
        snprintf(path, sizeof path, "/proc/%ld/environ", pid);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        got = fd >= 0 ? read(fd, text, sizeof text) : -1;
        if (fd >= 0)
            close(fd);
        if (got <= 0 || !memmem(text, (size_t)got, mark, strlen(mark)))
            continue;
        n++;
        if (sig)
            kill((pid_t)pid, sig);
    }
    closedir(proc);
    return n;
}

static inline void processes_reach(const char *mark, int wanted, uint64_t ms)
{
    uint64_t until = now_ms() + ms;
    int n;

    while ((n = marked_processes(mark, 0)) < wanted) {
        if (now_ms() > until)
            TAP_FAIL("%d of %d processes run after %llu ms", n, wanted, (unsigned long long)ms);
        poll(NULL, 0, 20);
    }
}

/* Waits until none is left. */
static inline void no_process_left(const char *mark, uint64_t ms)
{
    uint64_t until = now_ms() + ms;
    int n;

    while ((n = marked_processes(mark, 0)) > 0) {
        if (now_ms() > until) {
            marked_processes(mark, SIGKILL);
            TAP_FAIL("%d processes are left after %llu ms", n, (unsigned long long)ms);
        }
        poll(NULL, 0, 20);
    }
}
