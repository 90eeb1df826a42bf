/* hub.c - the program under test: its home, its process, and what can be seen of it. */
#include "stress.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { START_MS = 20000, STOP_MS = 30000, STDERR_MAX = 1 << 24, FINDING_LINES = 60, SHOWN_MAX = 5 };

struct hub_process hub;

const char *hub_built(const char *name)
{
    static char path[4][4096];
    static int at;
    const char *dir = getenv("BUILD_DIR");

    at = (at + 1) % 4;
    snprintf(path[at], sizeof path[at], "%s/%s", dir ? dir : "build", name);
    return path[at];
}

static const char *in_dir(const char *name)
{
    static char path[4][256];
    static int at;

    at = (at + 1) % 4;
    snprintf(path[at], sizeof path[at], "%s/%s", hub.dir, name);
    return path[at];
}

void hub_begin(void)
{
    snprintf(hub.dir, sizeof hub.dir, "/tmp/patchbay-stress-XXXXXX");
    if (!mkdtemp(hub.dir))
        broken(LAW_ALIVE, "no directory could be made in /tmp");
    snprintf(hub.home, sizeof hub.home, "%s/home", hub.dir);
    mkdir(hub.home, 0700);
    mkdir(in_dir("pids"), 0700);
    snprintf(hub.mark, sizeof hub.mark, "STRESS_DIR=%s", hub.dir);
    setenv("STRESS_DIR", hub.dir, 1);
    setenv("PATCHBAY_HOME", hub.home, 1);
    unsetenv("PATCHBAY_TOKEN");
}

pid_t hub_spawn(const char *const *argv, int in, int out, int err)
{
    pid_t parent = getpid(), pid;

    fflush(stdout);
    pid = fork();
    if (pid)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(127);
    dup2(in, 0);
    dup2(out, 1);
    dup2(err, 2);
    execv(hub_built(argv[0]), (char *const *)(uintptr_t)argv);
    _exit(127);
}

static char *stderr_text(void)
{
    AUTO_CLOSE int fd = open(in_dir("stderr"), O_RDONLY | O_CLOEXEC);
    char *text = mem_zero(STDERR_MAX + 1);

    if (fd < 0 || read(fd, text, STDERR_MAX) < 0)
        text[0] = '\0';
    return text;
}

/* The port is told before the socket, which comes last. */
static bool is_up(void)
{
    AUTO_FREE char *text = stderr_text();
    const char *at = strstr(text, "http://127.0.0.1:");

    if (!at || !strstr(text, "  socket"))
        return false;
    hub.port = (int)strtol(at + strlen("http://127.0.0.1:"), NULL, 10);
    return true;
}

void hub_start(void)
{
    AUTO_CLOSE int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    AUTO_CLOSE int err = open(in_dir("stderr"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    uint64_t until = now() + patiently(START_MS);

    hub.pid = hub_spawn(
        (const char *const[]){ "patchbay", "serve", "--port", "0", "--token", HUB_TOKEN, NULL },
        null, null, err);
    while (!is_up() && now() < until)
        poll(NULL, 0, 20);
    if (!hub.port)
        broken(LAW_ALIVE, "the hub did not start");
}

bool hub_is_alive(void)
{
    int status;

    if (hub.pid && waitpid(hub.pid, &status, WNOHANG) == hub.pid) {
        hub.pid = 0;
        broken(LAW_ALIVE, "the hub ended by itself: %s %d", WIFEXITED(status) ? "status" : "signal",
               WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
    }
    return hub.pid != 0;
}

int hub_stop(void)
{
    uint64_t until = now() + patiently(STOP_MS);
    int status;

    if (!hub.pid)
        return -1;
    kill(hub.pid, SIGTERM);
    while (waitpid(hub.pid, &status, WNOHANG) != hub.pid) {
        if (now() > until) {
            broken(LAW_ALIVE, "the hub did not end within %d ms of SIGTERM", STOP_MS);
            kill(hub.pid, SIGKILL);
            until = UINT64_MAX;
        }
        poll(NULL, 0, 10);
    }
    hub.pid = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

long hub_rss_kb(void)
{
    char path[64], line[256];
    long kb = 0;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%d/status", hub.pid);
    f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, "VmRSS:", 6) == 0)
            kb = strtol(line + 6, NULL, 10);
    if (f)
        fclose(f);
    return kb;
}

int hub_descriptors(void)
{
    char path[64];
    DIR *d;
    int n = -2; /* . and .. */

    snprintf(path, sizeof path, "/proc/%d/fd", hub.pid);
    d = opendir(path);
    if (!d)
        return 0;
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

static void show_around(const char *text, const char *at, int most)
{
    const char *from = at, *to = at;

    while (from > text && from[-1] != '\n')
        from--;
    for (int lines = 0; *to && lines < most; to++)
        lines += *to == '\n';
    for (const char *p = from; p < to;) {
        size_t n = strcspn(p, "\n");

        printf("# hub: %.*s\n", (int)n, p);
        p += n + (p[n] == '\n');
    }
}

void hub_read_stderr(void)
{
    static const char *const findings[] = { "ERROR: AddressSanitizer", "ERROR: LeakSanitizer",
                                            "runtime error:", "WARNING: ThreadSanitizer" };
    AUTO_FREE char *text = stderr_text();
    int shown = 0;

    for (size_t i = 0; i < ARRAY_LEN(findings); i++) {
        const char *at = strstr(text, findings[i]);

        if (!at)
            continue;
        broken(LAW_CLEAN, "%s", findings[i]);
        show_around(text, at, FINDING_LINES);
    }
    for (const char *at = text; shown < SHOWN_MAX && (at = strstr(at, "held up")); at++, shown++)
        show_around(text, at, 1);
}

static void remove_tree(int at, const char *path)
{
    int fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;

    for (struct dirent *e; d && (e = readdir(d));) {
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
            continue;
        if (unlinkat(fd, e->d_name, 0) < 0)
            remove_tree(fd, e->d_name);
    }
    if (d)
        closedir(d);
    unlinkat(at, path, AT_REMOVEDIR);
}

void hub_end(void)
{
    if (getenv("STRESS_KEEP"))
        printf("# kept: %s\n", hub.dir);
    else
        remove_tree(AT_FDCWD, hub.dir);
}
