/* Real processes. This program is its own helper: started as "helper:NAME ..." it plays a server,
 * or a whole program that is killed. Only processes that a test started are looked at or ended. */
#include "hub/warden/warden.h"
#include "hub/warden/warden_impl.h"
#include "hub/warden/warden_sweep.h"
#include "tap.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>

#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum { GRACE_MS = 300, PATIENCE_MS = 20000, HELPERS_MAX = 16 };

/* ---- helpers: what a child, or a child's child, does ---- */

static void __attribute__((noreturn)) stay(void)
{
    for (;;)
        pause();
}

/* One line on stdout, whole: "NAME PID". */
static void report_pid(const char *name, pid_t pid)
{
    char line[64];
    int n = snprintf(line, sizeof line, "%s %d\n", name, (int)pid);

    if (write(STDOUT_FILENO, line, (size_t)n) != n)
        _exit(3);
}

static void report(const char *name) { report_pid(name, getpid()); }

static void on_term(int signo)
{
    (void)signo;
    if (write(STDOUT_FILENO, "term 0\n", 7) != 7)
        _exit(3);
}

/* Says that it was asked, and stays. */
static void ignore_term(void)
{
    struct sigaction a = { .sa_handler = on_term };

    sigaction(SIGTERM, &a, NULL);
}

static void helper_plain(void) { report("plain"); }

static void helper_setsid(void)
{
    if (fork() == 0) {
        setsid();
        report("setsid");
        stay();
    }
    report("server");
}

static void helper_double(void)
{
    if (fork() == 0) {
        setsid();
        if (fork() == 0) {
            setpgid(0, 0);
            report("double");
            stay();
        }
        _exit(0);
    }
    report("server");
}

static void helper_stubborn(void)
{
    ignore_term();
    report("stubborn");
}

static void helper_stubborn_grandchild(void)
{
    if (fork() == 0) {
        setsid();
        ignore_term();
        report("stubborn");
        stay();
    }
    report("server");
}

static void helper_stopped(void)
{
    report("stopped");
    raise(SIGSTOP);
}

/* Leaves a child behind that ends when it is told by SIGTERM, and ends itself. */
static void helper_leave(void)
{
    if (fork() == 0) {
        setsid();
        report("left");
        stay();
    }
    _exit(0);
}

static void fail_helper(const char *what, const char *why)
{
    fprintf(stderr, "helper: %s: %s\n", what, why);
    _exit(4);
}

static void run_helper(const char *name);

/* Starts `name` as a child of its own, as a server is started. */
static pid_t start_server(const char *name)
{
    pid_t pid = fork();
    char arg[64];

    if (pid != 0)
        return pid;
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    snprintf(arg, sizeof arg, "helper:%s", name);
    execl("/proc/self/exe", "server", arg, NULL);
    _exit(127);
}

/* A whole program: a warden, servers of every kind, and then it waits to be killed. */
static void helper_program(void)
{
    struct warden *w;
    struct pb_error err;

    if (warden_start_with(&w, GRACE_MS, &err) < 0)
        fail_helper("warden", err.msg);
    report_pid("warden", w->pid);
    start_server("plain");
    start_server("setsid");
    start_server("double");
    start_server("stubborn_grandchild");
    report("program");
    stay();
}

/* The same inside another one. */
static void helper_nest(void)
{
    struct warden *w;
    struct pb_error err;

    if (warden_start_with(&w, GRACE_MS, &err) < 0)
        fail_helper("warden", err.msg);
    report_pid("warden", w->pid);
    start_server("program");
    report("nest");
    stay();
}

static const struct {
    const char *name;
    void (*run)(void);
} helpers[] = {
    { "double", helper_double },
    { "leave", helper_leave },
    { "nest", helper_nest },
    { "plain", helper_plain },
    { "program", helper_program },
    { "setsid", helper_setsid },
    { "stopped", helper_stopped },
    { "stubborn", helper_stubborn },
    { "stubborn_grandchild", helper_stubborn_grandchild },
};

static void run_helper(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(helpers); i++) {
        if (strcmp(helpers[i].name, name) == 0) {
            helpers[i].run();
            stay();
        }
    }
    fail_helper(name, "there is no such helper");
}

__attribute__((constructor)) static void maybe_helper(int argc, char **argv)
{
    if (argc > 1 && strncmp(argv[1], "helper:", 7) == 0)
        run_helper(argv[1] + 7);
}

/* ---- the tests' side ---- */

struct seen {
    char name[32];
    pid_t pid;
};

struct rig {
    int out; /* what the helpers say */
    struct buf text;
    struct seen seen[HELPERS_MAX];
    size_t n;
    pid_t pid; /* the first helper */
};

/* Bounded, and by events: the descriptor, not the clock. */
static void await_readable(int fd)
{
    struct pollfd p = { .fd = fd, .events = POLLIN };
    int rc;

    do {
        rc = poll(&p, 1, PATIENCE_MS);
    } while (rc < 0 && errno == EINTR);
    if (rc != 1)
        TAP_FAIL("nothing happened for %d ms", PATIENCE_MS);
}

static void take_line(struct rig *r, const char *line, size_t n)
{
    struct seen *s = &r->seen[r->n];
    char *end;
    size_t name = strcspn(line, " ");

    CHECK(r->n < HELPERS_MAX && name < n && name < sizeof s->name);
    memcpy(s->name, line, name);
    s->name[name] = '\0';
    s->pid = (pid_t)strtol(line + name, &end, 10);
    CHECK(*end == '\n');
    r->n++;
}

/* Reads until `count` lines are there. */
static inline void await_lines(struct rig *r, size_t count)
{
    while (r->n < count) {
        char *nl;
        ssize_t got;

        await_readable(r->out);
        got = read(r->out, buf_reserve(&r->text, 4096), 4096);
        CHECK(got > 0);
        r->text.n += (size_t)got;
        while ((nl = memchr(r->text.p, '\n', r->text.n))) {
            take_line(r, r->text.p, (size_t)(nl - r->text.p));
            buf_consume(&r->text, (size_t)(nl - r->text.p) + 1);
        }
    }
}

static inline pid_t pid_of(const struct rig *r, const char *name)
{
    for (size_t i = 0; i < r->n; i++) {
        if (strcmp(r->seen[i].name, name) == 0)
            return r->seen[i].pid;
    }
    TAP_FAIL("no helper said %s", name);
}

/* With `mark` (may be NULL) in its environment. */
static inline void begin(struct rig *r, const char *helper, const char *mark)
{
    int fd[2];
    char arg[64];

    TAP_SKIP_UNDER_VALGRIND("is what /proc/self/exe names");
    *r = (struct rig){ 0 };
    CHECK_INT(pipe2(fd, O_CLOEXEC), 0);
    snprintf(arg, sizeof arg, "helper:%s", helper);
    r->pid = fork();
    if (r->pid == 0) {
        dup2(fd[1], STDOUT_FILENO);
        if (mark)
            putenv((char *)mark);
        execl("/proc/self/exe", "helper", arg, NULL);
        _exit(127);
    }
    close(fd[1]);
    r->out = fd[0];
}

/* The end of what helpers say: every one of them has ended, for each holds the other end. */
static inline void await_all_gone(struct rig *r)
{
    char bytes[256];
    ssize_t n;

    do {
        await_readable(r->out);
        n = read(r->out, bytes, sizeof bytes);
    } while (n > 0);
    CHECK_INT(n, 0);
}

static inline void end(struct rig *r)
{
    close(r->out);
    buf_done(&r->text);
}

static inline void reap(pid_t pid) { CHECK_INT(waitpid(pid, NULL, 0), pid); }

/* Descriptors are closed a moment before a process counts as dead. */
static inline void await_dead(pid_t pid)
{
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);

    if (fd < 0)
        return;
    await_readable(fd);
    close(fd);
}

static inline bool alive(pid_t pid)
{
    char path[64], text[512] = "";
    const char *state;
    int fd;
    ssize_t n;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    n = read(fd, text, sizeof text - 1);
    close(fd);
    state = n > 0 ? strrchr(text, ')') : NULL;
    return state && state[2] != 'Z' && state[2] != 'X';
}

static inline void new_mark(char mark[static WARDEN_SERVER_MARK_CHARS + 1])
{
    warden_server_mark(mark);
    CHECK_INT(strlen(mark), WARDEN_SERVER_MARK_CHARS);
}
