#include "spawn.h"
#include "births.h"
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { STACK_BYTES = 65536, FIRST_FREE_FD = 3, EXIT_NOT_STARTED = 127 };

/* The child runs in our memory until it execs (CLONE_VM), so that spawning costs the same however
 * large we are. The sanitizers cannot follow that; for them it gets a copy. We are suspended in
 * both cases. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#    define SHARE_MEMORY 0
#elif defined(__has_feature)
#    if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#        define SHARE_MEMORY 0
#    endif
#endif
#ifndef SHARE_MEMORY
#    define SHARE_MEMORY CLONE_VM
#endif

#ifndef CLONE_PIDFD
#    define CLONE_PIDFD 0x1000
#endif

/* A pointer list that grows in an arena, ended by NULL. */
struct strings {
    struct arena *arena;
    char **v;
    size_t n, cap;
};

/* What the child needs, made ready before it exists: it must not allocate. It lies in memory
 * shared with the child, who leaves its error there. */
struct birth {
    char **argv, **envp, **paths;
    const char *cwd;
    int fd[3];
    pid_t parent;
    int error;
    bool in_cwd;   /* the error is that of chdir */
    bool launched; /* goes on without us */
};

static struct rlimit files_before; /* for children; all zero: ours is theirs */

void child_keep_file_limit(void)
{
    struct rlimit files;

    if (getrlimit(RLIMIT_NOFILE, &files) < 0 || files.rlim_cur >= files.rlim_max)
        return;
    files_before = files;
    files.rlim_cur = files.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &files) < 0)
        files_before = (struct rlimit){ 0 };
}

void child_return_file_limit(void)
{
    if (files_before.rlim_max)
        setrlimit(RLIMIT_NOFILE, &files_before);
}

static void add(struct strings *s, char *text)
{
    if (s->n + 1 >= s->cap) {
        size_t cap = s->cap ? s->cap * 2 : 64;
        char **v = arena_alloc(s->arena, cap * sizeof *v);

        if (s->n)
            memcpy(v, s->v, s->n * sizeof *v);
        s->v = v;
        s->cap = cap;
    }
    s->v[s->n++] = text;
    s->v[s->n] = NULL;
}

static char **make_argv(struct arena *a, const struct child_spec *spec)
{
    struct strings s = { .arena = a };

    add(&s, (char *)spec->command);
    for (size_t i = 0; spec->args && spec->args[i]; i++)
        add(&s, (char *)spec->args[i]);
    return s.v;
}

static size_t name_length(const char *entry)
{
    const char *eq = strchr(entry, '=');

    return eq ? (size_t)(eq - entry) : 0;
}

static void set_variable(struct strings *s, char *entry)
{
    size_t n = name_length(entry) + 1;

    for (size_t i = 0; i < s->n; i++) {
        if (strncmp(s->v[i], entry, n) == 0) {
            s->v[i] = entry;
            return;
        }
    }
    add(s, entry);
}

static int make_env(struct arena *a, const struct child_spec *spec, char ***out,
                    struct pb_error *err)
{
    struct strings s = { .arena = a };

    for (size_t i = 0; !spec->clean_env && environ && environ[i]; i++)
        add(&s, environ[i]);
    for (size_t i = 0; spec->env && spec->env[i]; i++) {
        if (!name_length(spec->env[i]))
            return fail(err, PB_E_INVALID,
                        "Failed to spawn %s: entry %zu of its environment is not NAME=value",
                        spec->command, i + 1);
        set_variable(&s, (char *)spec->env[i]);
    }
    if (!s.v) {
        add(&s, NULL);
        s.n = 0;
    }
    *out = s.v;
    return 0;
}

static const char *find_path(char **envp)
{
    for (; *envp; envp++) {
        if (strncmp(*envp, "PATH=", 5) == 0)
            return *envp + 5;
    }
    return "/usr/bin:/bin";
}

/* The files to try, in order. */
static char **make_paths(struct arena *a, const char *command, char **envp)
{
    struct strings s = { .arena = a };
    const char *at = find_path(envp);

    if (strchr(command, '/')) {
        add(&s, (char *)command);
        return s.v;
    }
    for (;;) {
        size_t n = strcspn(at, ":");

        add(&s, arena_printf(a, "%.*s%s%s", (int)n, at, n ? "/" : "./", command));
        if (!at[n])
            return s.v;
        at += n + 1;
    }
}

/* By the kernel's own call: the library's refuses the signals that it keeps for itself, and whoever
 * was started by posix_spawn() has inherited those as ignored. */
static void default_signals(void)
{
    enum { KERNEL_SET_BYTES = 8 };
    const struct {
        unsigned long handler, flags, restorer;
        uint64_t mask;
    } dfl = { 0 };
    sigset_t none;

    for (int s = 1; s < NSIG; s++)
        syscall(SYS_rt_sigaction, s, &dfl, NULL, KERNEL_SET_BYTES); /* not SIGKILL, SIGSTOP */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static void close_others(void)
{
    if (syscall(SYS_close_range, FIRST_FREE_FD, ~0U, 0) < 0) {
        for (int fd = FIRST_FREE_FD, max = (int)sysconf(_SC_OPEN_MAX); fd < max; fd++)
            close(fd);
    }
}

/* As execvp() does it, but never with a shell for what is no program. */
static int try_paths(const struct birth *b)
{
    int error = ENOENT;

    for (char **p = b->paths; *p; p++) {
        execve(*p, b->argv, b->envp);
        if (errno != ENOENT && errno != ENOTDIR && errno != EACCES)
            return errno;
        if (errno == EACCES)
            error = EACCES;
    }
    return error;
}

static int child_main(void *ctx)
{
    struct birth *b = ctx;

    if (b->launched) {
        setsid();
    } else {
        setpgid(0, 0);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != b->parent) /* it died before we could ask to be told */
            _exit(EXIT_NOT_STARTED);
    }
    for (int i = 0; i < 3; i++) {
        if (dup2(b->fd[i], i) < 0) {
            b->error = errno;
            _exit(EXIT_NOT_STARTED);
        }
    }
    close_others();
    if (files_before.rlim_max)
        setrlimit(RLIMIT_NOFILE, &files_before);
    if (b->cwd && chdir(b->cwd) < 0) {
        b->error = errno;
        b->in_cwd = true;
        _exit(EXIT_NOT_STARTED);
    }
    default_signals();
    b->error = try_paths(b);
    _exit(EXIT_NOT_STARTED);
}

/* Both ends above 2, so that moving them to 0, 1 and 2 overwrites none of them. */
static int make_pipe(int fd[static 2])
{
    if (pipe2(fd, O_CLOEXEC) < 0)
        return -errno;
    for (int i = 0; i < 2; i++) {
        int high;

        if (fd[i] >= FIRST_FREE_FD)
            continue;
        high = fcntl(fd[i], F_DUPFD_CLOEXEC, FIRST_FREE_FD);
        if (high < 0) {
            int error = errno;

            close(fd[0]);
            close(fd[1]);
            return -error;
        }
        close(fd[i]);
        fd[i] = high;
    }
    return 0;
}

/* Returns the pid or -errno. */
static pid_t give_birth(struct birth *b, char *stack, int *pidfd)
{
    sigset_t all, was;
    pid_t pid;

    /* None of our handlers may run in the child while it shares our memory. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &was);
    pid = clone(child_main, stack + STACK_BYTES, CLONE_VFORK | CLONE_PIDFD | SHARE_MEMORY | SIGCHLD,
                b, pidfd);
    if (pid < 0)
        pid = -errno;
    pthread_sigmask(SIG_SETMASK, &was, NULL);
    return pid;
}

static int explain(const struct birth *b, const struct child_spec *spec, struct pb_error *err)
{
    if (b->in_cwd)
        return fail_sys(err, b->error, "Failed to spawn %s: enter directory %s", spec->command,
                        spec->cwd);
    return fail_sys(err, b->error, "Failed to spawn %s", spec->command);
}

static int run_birth(struct spawned *out, struct birth *b, char *stack,
                     const struct child_spec *spec, struct pb_error *err)
{
    int pidfd = -1;
    pid_t pid;

    births_lock();
    pid = give_birth(b, stack, &pidfd);
    if (pid > 0)
        births_add(pid);
    births_unlock();
    if (pid < 0)
        return fail_sys(err, -pid, "Failed to spawn %s", spec->command);
    if (b->error) {
        births_reap(pid);
        close(pidfd);
        return explain(b, spec, err);
    }
    out->pid = pid;
    out->pidfd = pidfd;
    return 0;
}

static int open_pipes(int pipes[static 3][2], const char *command, struct pb_error *err)
{
    for (int i = 0; i < 3; i++) {
        int rc = make_pipe(pipes[i]);

        if (rc == 0)
            continue;
        while (i-- > 0) {
            close(pipes[i][0]);
            close(pipes[i][1]);
        }
        return fail_sys(err, -rc, "Failed to spawn %s: make a pipe", command);
    }
    return 0;
}

static size_t birth_bytes(void) { return STACK_BYTES + sizeof(struct birth); }

/* The stack that the child begins on, with all that it needs behind it. */
static int prepare(struct birth **out, struct arena *a, const struct child_spec *spec,
                   struct pb_error *err)
{
    struct birth *b;
    char *stack;
    int rc;

    if (!spec->command || !*spec->command)
        return fail(err, PB_E_INVALID, "Failed to spawn: no command was given");
    stack = mmap(NULL, birth_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED)
        return fail_sys(err, errno, "Failed to spawn %s: memory for its start", spec->command);
    b = (struct birth *)(void *)(stack + STACK_BYTES);
    b->argv = make_argv(a, spec);
    b->cwd = spec->cwd;
    b->parent = getpid();
    rc = make_env(a, spec, &b->envp, err);
    if (rc < 0) {
        munmap(stack, birth_bytes());
        return rc;
    }
    b->paths = make_paths(a, spec->command, b->envp);
    *out = b;
    return 0;
}

static char *stack_of(struct birth *b) { return (char *)b - STACK_BYTES; }

int spawn_process(struct spawned *out, const struct child_spec *spec, struct pb_error *err)
{
    AUTO_ARENA struct arena arena = { 0 };
    struct birth *b;
    int pipes[3][2], rc = prepare(&b, &arena, spec, err);

    if (rc < 0)
        return rc;
    rc = open_pipes(pipes, spec->command, err);
    if (rc == 0) {
        for (int i = 0; i < 3; i++)
            b->fd[i] = pipes[i][i != 0];
        rc = run_birth(out, b, stack_of(b), spec, err);
        for (int i = 0; i < 3; i++) {
            close(b->fd[i]);
            if (rc < 0)
                close(pipes[i][i == 0]);
        }
        out->in = pipes[0][1];
        out->out = pipes[1][0];
        out->err = pipes[2][0];
    }
    munmap(stack_of(b), birth_bytes());
    return rc;
}

/* Above 2, as pipes are. */
static int open_null(const char *command, int *out, struct pb_error *err)
{
    AUTO_CLOSE int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

    *out = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FREE_FD);
    return *out < 0 ? fail_sys(err, errno, "Failed to spawn %s: open /dev/null", command) : 0;
}

int child_launch(const struct child_spec *spec, struct pb_error *err)
{
    AUTO_ARENA struct arena arena = { 0 };
    AUTO_CLOSE int null = -1;
    struct spawned launched;
    struct birth *b = NULL;
    int rc = prepare(&b, &arena, spec, err);

    if (rc < 0)
        return rc;
    rc = open_null(spec->command, &null, err);
    if (rc == 0) {
        b->launched = true;
        for (int i = 0; i < 3; i++)
            b->fd[i] = null;
        rc = run_birth(&launched, b, stack_of(b), spec, err);
    }
    if (rc == 0) {
        births_forget(launched.pid); /* whoever reaps may have it */
        close(launched.pidfd);
    }
    munmap(stack_of(b), birth_bytes());
    return rc;
}
