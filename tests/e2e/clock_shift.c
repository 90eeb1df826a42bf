/* clock_shift.c - preloaded into a program, it moves the wall clock by as many seconds as the file
 * says that $CLOCK_SHIFT names. All other clocks stay. libc only. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* These three are seen by the program that it is preloaded into. */
#define SEEN __attribute__((visibility("default")))

static long shift(void)
{
    const char *path = getenv("CLOCK_SHIFT");
    char text[32] = "";
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;

    if (fd >= 0)
        close(fd);
    return n > 0 ? strtol(text, NULL, 10) : 0;
}

SEEN int clock_gettime(clockid_t id, struct timespec *at)
{
    int rc = (int)syscall(SYS_clock_gettime, id, at);

    if (rc == 0 && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE))
        at->tv_sec += shift();
    return rc;
}

SEEN int gettimeofday(struct timeval *restrict at, void *restrict zone)
{
    struct timespec now;
    int rc = clock_gettime(CLOCK_REALTIME, &now);

    (void)zone;
    if (rc == 0)
        *at = (struct timeval){ now.tv_sec, now.tv_nsec / 1000 };
    return rc;
}

SEEN time_t time(time_t *at)
{
    struct timespec now = { 0 };

    clock_gettime(CLOCK_REALTIME, &now);
    if (at)
        *at = now.tv_sec;
    return now.tv_sec;
}
