/* server_main.c - who we are, where we leave traces, and which way we talk. */
#include "server.h"
#include "server_carry.h"
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

struct self self;

static say_fn *say;
static raw_fn *raw;
static uint64_t state;
static char pid_file[512];

uint32_t chance(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33);
}

void carry_by(say_fn *how, raw_fn *bytes)
{
    say = how;
    raw = bytes;
}

void outlet_say(outlet to, const char *message, size_t n, bool last) { say(to, message, n, last); }

void outlet_raw(outlet to, const char *bytes, size_t n) { raw(to, bytes, n); }

void look_at_clock(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    self.now = (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void path_in(char *out, size_t n, const char *name)
{
    const char *dir = getenv("STRESS_DIR");

    snprintf(out, n, "%s/%s", dir ? dir : ".", name);
}

void violation(const char *fmt, ...)
{
    char path[512], line[1024];
    va_list ap;
    size_t n;
    int fd;

    n = (size_t)snprintf(line, sizeof line, "%s: ", self.name);
    va_start(ap, fmt);
    vsnprintf(line + n, sizeof line - n - 1, fmt, ap);
    va_end(ap);
    n = strlen(line);
    line[n++] = '\n';
    path_in(path, sizeof path, "violations");
    fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, line, n) != (ssize_t)n)
        abort();
    close(fd);
}

static void leave_pid(void)
{
    char name[128];
    int fd;

    snprintf(name, sizeof name, "pids/%s.%d", self.name, getpid());
    path_in(pid_file, sizeof pid_file, name);
    fd = open(pid_file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd >= 0)
        close(fd);
}

static void forget_pid(void) { unlink(pid_file); }

int main(int argc, char **argv)
{
    int rc;

    if (argc < 6)
        return 2;
    self.name = argv[1];
    self.http = strcmp(argv[2], "stdio") != 0;
    self.modern = strcmp(argv[3], "modern") == 0;
    self.kind = kinds;
    for (const struct kind *k = kinds; k->name; k++)
        if (strcmp(argv[4], k->name) == 0)
            self.kind = k;
    state = strtoull(argv[5], NULL, 10) ^ ((uint64_t)getpid() << 32);
    look_at_clock();
    leave_pid();
    atexit(forget_pid);
    if (!self.http)
        return serve_stdio();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    rc = serve_http(argc > 6 ? (int)strtol(argv[6], NULL, 10) : 0, strcmp(argv[2], "sse") == 0);
    return rc;
}
