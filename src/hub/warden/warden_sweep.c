#include "warden_sweep.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

/* As the kernel gives it; the C library's readdir() would allocate. */
struct dir_entry {
    uint64_t ino;
    int64_t off;
    unsigned short reclen;
    unsigned char type;
    char name[];
};

struct sweep {
    const struct marks *marks;
    int proc; /* the directory */
    pid_t self;
    uid_t uid;
    int signo;
    size_t told; /* processes that got the signal in this round */
    struct pollfd ends[WARDEN_WATCHED_MAX];
    nfds_t n_ends;
};

static bool is_mark(const struct mark_search *s, const char *mark)
{
    size_t n = strlen(mark);

    return s->n >= n && memcmp(s->entry, mark, n) == 0 && (s->n == n || s->entry[n] == '.');
}

static void end_entry(struct mark_search *s)
{
    static const char prefix[] = MARK_PREFIX;

    if (!s->too_long && s->n > sizeof prefix && memcmp(s->entry, prefix, sizeof prefix - 1) == 0) {
        for (size_t i = 0; i < s->marks->n && !s->found; i++)
            s->found = is_mark(s, s->marks->v[i]);
    }
    s->n = 0;
    s->too_long = false;
}

void mark_search_feed(struct mark_search *s, const char *p, size_t n)
{
    while (n && !s->found) {
        size_t part = strnlen(p, n), room = sizeof s->entry - s->n;

        memcpy(s->entry + s->n, p, part < room ? part : room);
        s->too_long |= part > room;
        s->n += part < room ? part : room;
        if (part < n) {
            end_entry(s);
            part++;
        }
        p += part;
        n -= part;
    }
}

bool mark_search_end(struct mark_search *s)
{
    if (!s->found)
        end_entry(s);
    return s->found;
}

static uint64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* The environment as it is in the process's memory now; a dead process has none. */
static bool carries(int dir, const struct marks *marks)
{
    AUTO_CLOSE int fd = openat(dir, "environ", O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct mark_search s = { .marks = marks };
    size_t total = 0;
    char bytes[4096];

    if (fd < 0)
        return false;
    while (!s.found && total < WARDEN_ENVIRON_MAX) {
        ssize_t n = read(fd, bytes, sizeof bytes);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        mark_search_feed(&s, bytes, (size_t)n);
        total += (size_t)n;
    }
    return mark_search_end(&s);
}

/* The number may belong to somebody else by now. So: first take hold of whoever has it, then look
 * again whether the mark is there. `dir` stands for the process that was opened, not the number. */
static void tell(struct sweep *s, int dir, pid_t pid)
{
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);

    if (fd < 0)
        return;
    if (!carries(dir, s->marks) || syscall(SYS_pidfd_send_signal, fd, s->signo, NULL, 0) < 0) {
        close(fd);
        return;
    }
    if (s->signo == SIGTERM) /* one that is stopped could not hear it */
        syscall(SYS_pidfd_send_signal, fd, SIGCONT, NULL, 0);
    s->told++;
    if (s->n_ends < WARDEN_WATCHED_MAX)
        s->ends[s->n_ends++] = (struct pollfd){ .fd = fd, .events = POLLIN };
    else
        close(fd);
}

static void look_at(struct sweep *s, const char *name)
{
    AUTO_CLOSE int dir = -1;
    struct stat st;
    long pid = 0;

    for (const char *c = name; *c; c++) {
        if (*c < '0' || *c > '9' || pid > INT32_MAX / 10 - 1)
            return;
        pid = pid * 10 + (*c - '0');
    }
    if (pid <= 1 || pid == s->self)
        return;
    dir = openat(s->proc, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0 || fstat(dir, &st) < 0 || st.st_uid != s->uid)
        return;
    if (carries(dir, s->marks))
        tell(s, dir, (pid_t)pid);
}

/* One look at every process there is. */
static void scan(struct sweep *s)
{
    _Alignas(struct dir_entry) char bytes[8192];
    long n;

    s->told = 0;
    s->n_ends = 0;
    lseek(s->proc, 0, SEEK_SET);
    while ((n = syscall(SYS_getdents64, s->proc, bytes, sizeof bytes)) > 0) {
        for (long at = 0; at < n;) {
            const struct dir_entry *e = (const struct dir_entry *)(const void *)(bytes + at);

            look_at(s, e->name);
            at += e->reclen;
        }
    }
}

/* Until all that were told have ended, or the time has come. */
static void wait_for_ends(struct sweep *s, uint64_t until)
{
    nfds_t left = s->n_ends;

    while (left) {
        uint64_t now = now_ms();

        if (now >= until || (poll(s->ends, s->n_ends, (int)(until - now)) < 0 && errno != EINTR))
            break;
        for (nfds_t i = 0; i < s->n_ends; i++) {
            if (s->ends[i].fd < 0 || !s->ends[i].revents)
                continue;
            close(s->ends[i].fd);
            s->ends[i].fd = -1;
            left--;
        }
    }
    for (nfds_t i = 0; i < s->n_ends; i++) {
        if (s->ends[i].fd >= 0)
            close(s->ends[i].fd);
    }
}

static void pause_ms(int ms) { poll(NULL, 0, ms); }

size_t sweep_marked(const struct marks *marks, uint64_t grace_ms)
{
    struct sweep s = { .marks = marks, .self = getpid(), .uid = geteuid() };
    uint64_t begin = now_ms();
    size_t all = 0;
    int clean = 0;

    s.proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (s.proc < 0)
        return 0;
    for (int kills = 0; kills < WARDEN_KILLS_MAX;) {
        bool late = now_ms() >= begin + grace_ms;

        s.signo = late ? SIGKILL : SIGTERM;
        scan(&s);
        all += s.told;
        /* One look may miss a process that is just being born, or just becoming another program. */
        if (s.told == 0 && ++clean == 2)
            break;
        if (s.told == 0) {
            pause_ms(WARDEN_PAUSE_MS);
            continue;
        }
        clean = 0;
        kills += late;
        wait_for_ends(&s, late ? now_ms() + WARDEN_KILL_MS : begin + grace_ms);
    }
    close(s.proc);
    return all;
}
