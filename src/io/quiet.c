#include "quiet.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Linux 6.18; older headers do not know the name. */
enum { NO_SIGNAL = 0x100 };

static ssize_t blocked_writev(int fd, const struct iovec *iov, int n)
{
    static const struct timespec now = { 0 };
    sigset_t pipe_only, was, pending;
    bool pending_before = false;
    ssize_t done;
    int saved;

    sigemptyset(&pipe_only);
    sigaddset(&pipe_only, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_only, &was);
    if (sigismember(&was, SIGPIPE)) {
        sigpending(&pending);
        pending_before = sigismember(&pending, SIGPIPE);
    }
    done = writev(fd, iov, n);
    saved = errno;
    if (done < 0 && saved == EPIPE && !pending_before)
        sigtimedwait(&pipe_only, NULL, &now); /* ours: nobody else gets to see it */
    pthread_sigmask(SIG_SETMASK, &was, NULL);
    errno = saved;
    return done;
}

/* At the place where the file is, with a flag. musl has no function for it. */
static ssize_t flagged_writev(int fd, const struct iovec *iov, int n, int flags)
{
#ifdef __GLIBC__
    return pwritev2(fd, iov, n, -1, flags);
#else
    return syscall(SYS_pwritev2, fd, iov, (long)n, -1L, -1L, flags);
#endif
}

static ssize_t pipe_writev(int fd, const struct iovec *iov, int n)
{
    static atomic_bool unknown; /* the kernel has no such flag */

    if (!atomic_load_explicit(&unknown, memory_order_relaxed)) {
        ssize_t done = flagged_writev(fd, iov, n, NO_SIGNAL);

        if (done >= 0 || (errno != EOPNOTSUPP && errno != ENOSYS && errno != EINVAL))
            return done;
        if (errno != EINVAL)
            atomic_store_explicit(&unknown, true, memory_order_relaxed);
    }
    return blocked_writev(fd, iov, n);
}

ssize_t quiet_writev(int fd, bool socket, const struct iovec *iov, int n)
{
    ssize_t done;

    do {
        if (socket) {
            struct msghdr msg;

            memset(&msg, 0, sizeof msg);
            msg.msg_iov = (struct iovec *)iov;
            msg.msg_iovlen = (size_t)n;
            done = sendmsg(fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
        } else {
            done = pipe_writev(fd, iov, n);
        }
    } while (done < 0 && errno == EINTR);
    return done;
}
